// Natural frequencies of the posture, one mode in motion or two side by side, and what changes a frequency most.

import type { App, Panel } from './app';
import { h, shown, table } from './dom';
import { section } from './panels';
import { shapeOf } from './vibrate';
import type { Mode } from './types';

const COUNT = 6;
const SWINGS_PER_SECOND = 0.8;
const WORDS: Record<string, string> = { actuator: 'drive', shape: 'mode of a body' };

/** Where the energy of a mode is: by kind, largest first. */
function kinds(m: Mode): string {
  const sums = new Map<string, number>();
  m.elastic_energy.forEach((e) => sums.set(e.kind ?? e.of, (sums.get(e.kind ?? e.of) ?? 0) + e.share));
  return [...sums].filter(([, s]) => s >= 0.005).sort((a, b) => b[1] - a[1]).map(([name, s]) => `${WORDS[name] ?? name} ${Math.round(100 * s)} %`).join(', ');
}

export function frequencyPanel(app: App): Panel {
  const [body, told, best] = [h('div'), h('div', { class: 'note', role: 'status' }), h('p', { class: 'note', role: 'status' })];
  const helper = app.helper();
  let playing: number[] = [];
  const stop = (): void => {
    if (playing.length === 0) return;
    playing = [];
    told.replaceChildren();
    app.stage?.animateShapes([], () => undefined);
  };
  /** Play these modes, at most two. */
  const play = (list: number[]): void => {
    const found = app.library?.ask({ ask: 'frequencies', shapes: true, count: COUNT });
    const [stage, portrait] = [app.stage, app.portrait];
    if (!found || 'error' in found || !stage || !portrait) return;
    stop();
    const modes = list.flatMap((k) => {
      const mode = found.answer.modes[k];
      const shape = mode && shapeOf(portrait.scene, app.posture, mode, 0.12 * portrait.scene.size);
      return mode && shape ? [{ k, mode, shape }] : [];
    });
    if (modes.length === 0) return;
    playing = modes.map((m) => m.k);
    stage.animateShapes(modes.map((m) => m.shape.object), (t) => modes.forEach((m) => m.shape.swing(2 * Math.PI * SWINGS_PER_SECOND * t)));
    const side = (i: number): string => (modes.length === 2 ? (i === 0 ? 'left: ' : 'right: ') : '');
    told.replaceChildren(
      ...modes.map((m, i) => h('p', {}, `${side(i)}mode ${m.k + 1}, ${shown(m.mode.frequency_hz)} Hz: largest swing drawn ${shown(m.shape.largest * 1000, 3)} mm (a shape has no size of its own); ${kinds(m.mode)}`)),
      h('div', { class: 'scale' }), h('div', { class: 'ends' }, h('span', {}, 'no elastic energy'), h('span', {}, 'most of all bodies')));
  };
  const settle = (): void => {
    if (!app.library || !app.portrait?.flexible) return;
    const found = app.library.ask({ ask: 'frequencies', count: COUNT });
    if ('error' in found) return body.replaceChildren(h('p', { class: 'note' }, found.error.message));
    body.replaceChildren(table(['mode', 'Hz', 'energy', ''], found.answer.modes.map((m, k) => {
      const on = playing.includes(k);
      const button = (words: string, name: string, list: number[]): HTMLButtonElement =>
        h('button', { 'aria-label': name, 'aria-pressed': String(on), onclick: () => { if (list.length) play(list); else stop(); settle(); } }, words);
      const beside = !on && playing.length === 1 ? button('beside', `mode ${k + 1} beside`, [...playing, k]) : null;
      return [String(k + 1), shown(m.frequency_hz), kinds(m),
        h('span', {}, button(on ? 'stop' : 'play', `animate mode ${k + 1}`, on ? playing.filter((x) => x !== k) : [k]), beside)];
    })));
  };
  const seek = async (): Promise<void> => {
    if (!helper || !app.standing) return;
    best.textContent = 'computing ...';
    const found = await helper.ask(app.source, { ask: 'frequencies', count: COUNT, sensitivities: true, at: app.at, mode: app.standing.working_mode });
    if ('error' in found) { best.textContent = found.error.message; return; }
    const k = playing[0] ?? 0;
    const list = (found.answer.sensitivities ?? []).map((s) => [s.parameter, s.percent_per_percent[k] ?? 0] as const)
      .filter(([, x]) => Math.abs(x) > 1e-6).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 3);
    best.textContent = list.length ? `frequency ${k + 1} changes most with ${list.map(([name, x]) => `${name} (${shown(x, 3)} % per %)`).join(', ')}` : 'no parameter of the file changes it';
  };
  const element = section('Vibration', false, app, body, h('div', { class: 'buttons' }, h('button', { onclick: () => void seek() }, 'What changes it most')), best, told);
  return {
    element,
    rebuild: () => { stop(); helper?.stop(); best.textContent = ''; element.hidden = !app.portrait?.flexible; settle(); },
    refresh: stop,
    settle,
  };
}
