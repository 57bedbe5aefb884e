// Working modes of a pose and assembly modes of motors, as small pictures side by side or laid over each other.

import type { App, Panel } from './app';
import { h, shown } from './dom';
import { section } from './panels';
import { sketch } from './sketch';
import * as THREE from 'three';

/** Pictures that are drawn; the modes after them have names alone. */
const DRAWN = 64;
/** Longest stretch of work between two pictures of the page. */
const SLICE_MS = 8;
const FROM_ABOVE = new THREE.Vector3(0, 0.45, -1);

export function modePanel(app: App): Panel {
  const [list, note] = [h('div', { class: 'modes' }), h('p', { class: 'note' })];
  const over = h('input', { type: 'checkbox', id: 'over' });
  const assemblies = h('div', { class: 'modes' });
  const helper = app.helper();
  const picture = (at: number[], mode: string): HTMLCanvasElement | null => {
    const scene = app.portrait?.scene;
    const frames = app.library?.filmed([at], mode);
    return scene && frames && frames.length > 0 ? sketch(scene, frames, app.stage?.direction ?? FROM_ABOVE) : null;
  };
  /** Put pictures on buttons, a few at a time so that the page goes on. */
  const draw = (buttons: readonly { button: HTMLElement; at: number[]; mode: string }[]): void => {
    const { portrait } = app;
    let k = 0;
    const go = (): void => {
      const until = performance.now() + SLICE_MS;
      while (k < Math.min(buttons.length, DRAWN) && performance.now() < until) {
        const own = buttons[k++];
        const seen = own?.button.isConnected && app.portrait === portrait ? picture(own.at, own.mode) : null;
        if (seen) own?.button.prepend(seen);
      }
      if (k < Math.min(buttons.length, DRAWN) && buttons[k]?.button.isConnected) setTimeout(go);
    };
    go();
  };
  const settle = (): void => {
    if (!app.library) return;
    const found = app.library.ask({ ask: 'modes', at: app.at });
    if ('error' in found) {
      note.textContent = found.error.message;
      return;
    }
    const modes = found.answer.working_modes.map((m) => m.working_mode);
    const buttons = modes.map((mode) => ({ mode, at: app.at, button: h('button', {
      'aria-pressed': String(mode === app.standing?.working_mode),
      onclick: () => app.place(app.at, mode),
    }, mode) }));
    list.replaceChildren(...buttons.map((b) => b.button));
    draw(buttons);
    note.textContent = `${modes.length === 1 ? '1 working mode reaches' : `${modes.length} working modes reach`} this pose${found.answer.complete ? '' : ', perhaps more'}`;
    if (over.checked) lay(modes);
  };
  const lay = (modes: string[]): void => {
    app.stage?.overlay(modes.map((mode) => Float64Array.from(app.library?.filmed([app.at], mode) ?? [])).filter((frames) => frames.length > 0));
  };
  over.addEventListener('change', () => { if (over.checked) settle(); else app.stage?.overlay([]); });
  const seek = async (): Promise<void> => {
    if (!helper || !app.standing) return;
    assemblies.replaceChildren('looking ...');
    const found = await helper.ask(app.source, { ask: 'assemblies', motors: app.standing.active.q });
    if ('error' in found) return assemblies.replaceChildren(found.error.message);
    const buttons = found.answer.assemblies.map((a) => {
      const at = app.coordinatesOf(a.pose);
      return { mode: a.working_mode, at, button: h('button', { onclick: () => app.place(at, a.working_mode) }, at.map((x) => shown(x, 3)).join(', ')) };
    });
    assemblies.replaceChildren(...buttons.map((b) => b.button));
    draw(buttons);
  };
  return {
    element: section('Modes', true, app, list, note,
      h('label', {}, over, ' all of them in the picture'),
      h('div', { class: 'buttons' }, h('button', { onclick: () => void seek() }, 'Assembly modes of these motors')), assemblies),
    rebuild: () => { helper?.stop(); assemblies.replaceChildren(); settle(); },
    settle,
  };
}
