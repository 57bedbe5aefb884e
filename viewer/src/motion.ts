// Motion: one that the command line put into the page, or a fall computed here, on a time line.

import type { App, Panel } from './app';
import { chart, type Chart } from './chart';
import { h, save, shown } from './dom';
import { drawForces } from './forces';
import { section } from './panels';
import { Reel } from './reel';
import type { Film, FilmMark, Simulation, Vec3 } from './types';

const SECONDS = 2;
const EVERY = 0.01;
/** Instants of a motion in a file for other programs. */
const KEPT = 600;
/** While it plays, words follow that often: a text for every picture would be a thousand strings for nobody to read. */
const TOLD_MS = 200;

export function motionPanel(app: App): Panel {
  const line = h('input', { type: 'range', min: 0, max: 0, step: 1, value: 0, 'aria-label': 'time', class: 'time' });
  const [told, strip, marks, charts] = [h('p', { class: 'note', role: 'status' }), h('div', { class: 'strip', 'aria-hidden': 'true' }), h('ul', { class: 'marks' }), h('div')];
  const forces = h('input', { type: 'checkbox' });
  const path = h('input', { type: 'checkbox', checked: true });
  let film: Film | null = null;
  let reel: Reel | null = null;
  let toldAt = 0;
  const helper = app.helper();
  let title = '';
  let drawn: Chart[] = [];

  /** Show an instant; its words too, unless it is one of a motion that plays. */
  const at = (k: number, plays = false): void => {
    if (!film || !reel) return;
    const stage = app.stage;
    if (reel.has(k)) stage?.pose(reel.frames, reel.start(k));
    stage?.handle.position.fromArray(reel.places, 3 * k);
    for (const c of drawn) c.at(k);
    const now = performance.now();
    if (plays && now - toldAt < TOLD_MS) return;
    toldAt = now;
    if (!plays) line.value = String(k);
    const time = `t = ${shown(film.t[k], 4)} s of ${shown(film.t[film.t.length - 1], 4)} s; ${title}`;
    const why = reel.why(k);
    told.textContent = why === null ? time : `${time}: ${why}`;
    if (forces.checked) drawForces(app, { at: film.at[k] ?? [], mode: film.working_mode, twist: film.twists[k] ?? [], acceleration: film.accelerations[k] ?? [] }, reel.postureOf(k));
  };
  const nearest = (time: number): number => {
    const t = film?.t ?? [];
    let best = 0;
    t.forEach((x, k) => { if (Math.abs(x - time) < Math.abs((t[best] ?? 0) - time)) best = k; });
    return best;
  };
  const go = (k: number): void => at(k);
  const list = (all: FilmMark[]): void => {
    const [first, last] = [film?.t[0] ?? 0, film?.t[film.t.length - 1] ?? 1];
    const share = (t: number): number => (100 * (t - first)) / Math.max(last - first, 1e-12);
    strip.replaceChildren(...all.map((m) => h('span', { class: m.kind, style: `left: ${share(m.from).toFixed(2)}%; width: max(2px, ${(share(m.to) - share(m.from)).toFixed(2)}%)` })));
    marks.replaceChildren(...all.map((m) => h('li', {}, h('button', { onclick: () => { stop(); go(nearest(m.from)); } }, `${shown(m.from, 5)} s: ${m.what}`))));
  };
  const show = (found: Film, words: string): void => {
    film = found;
    reel = new Reel(app, found, found.at.map((p) => pointOf(app, p)));
    title = words;
    line.max = String(found.t.length - 1);
    const names = (app.portrait?.active ?? []).map((j) => `q${j.name}`);
    const drives = app.portrait?.drives ?? [];
    const unit = (slide: string, turn: string): string => {
      const slides = (app.portrait?.active ?? []).map((j) => j.slides);
      return slides.every((s) => s) ? slide : slides.some((s) => s) ? `${slide} or ${turn}` : turn;
    };
    drawn = [
      chart(`efforts, ${unit('N', 'N m')}`, found.t, found.efforts, names, drives.map((d) => d.effort)),
      chart(`rates, ${unit('m/s', 'rad/s')}`, found.t, found.rates, names, drives.map((d) => d.speed)),
    ];
    charts.replaceChildren(...drawn.map((c) => c.element));
    list(found.marks);
    trace();
    go(0);
  };
  const trace = (): void => {
    const points = film && path.checked ? film.at.map((p) => pointOf(app, p)) : [];
    app.stage?.showPath(points);
  };
  path.addEventListener('change', trace);
  forces.addEventListener('change', () => { if (forces.checked) at(Number(line.value)); else app.stage?.showForces([]); });
  line.addEventListener('input', () => { stop(); at(Number(line.value)); });

  const stop = (): void => { if (app.stage) app.stage.animate = null; };
  const play = (): void => {
    const [stage, motion] = [app.stage, film];
    if (!stage || !motion || motion.t.length < 2) return;
    const from = motion.t[Number(line.value) >= motion.t.length - 1 ? 0 : Number(line.value)] ?? 0;
    let [began, k]: [number | null, number] = [null, 0];
    stage.animate = (t) => {
      began ??= t;
      const now = from + t - began;
      k = Math.min(k, motion.t.length - 1);
      while (k < motion.t.length - 1 && (motion.t[k + 1] ?? Infinity) <= now) k++;
      const goesOn = k < motion.t.length - 1;
      at(k, goesOn);
      line.valueAsNumber = k;
      return goesOn;
    };
    stage.draw();
  };
  const release = async (): Promise<void> => {
    if (!helper || !app.standing) return;
    told.textContent = '0 %';
    const mode = app.standing.working_mode;
    const answer = await helper.ask(app.source, { ask: 'simulate', at: app.at, mode, seconds: SECONDS, every: EVERY }, (share) => {
      told.textContent = `${Math.round(100 * share)} %`;
    });
    if ('error' in answer) { told.textContent = answer.error.message; return; }
    show(ofFall(app, answer.answer, mode), answer.answer.stop.message);
    play();
  };
  const back = (): void => {
    helper?.stop();
    stop();
    app.stage?.showPath([]);
    app.stage?.showForces([]);
    if (app.library) app.place(app.at, app.standing?.working_mode);
    else app.fixed(0);
  };
  const keep = async (): Promise<void> => {
    const [stage, motion, own] = [app.stage, film, reel];
    if (!stage || !motion || !own) return;
    const every = Math.ceil(motion.t.length / KEPT);
    own.fill();
    const frames = motion.t.flatMap((t, k) => (k % every === 0 && own.has(k) ? [{ t, frames: own.postureOf(k) }] : []));
    if (frames.length === 0) return;
    save(`${app.portrait?.robot ?? 'robot'}-motion.gltf`, await stage.model(frames));
    at(Number(line.value));
  };
  const given = app.given.motion ?? null;
  let robot = '';
  const buttons = [
    app.library ? h('button', { onclick: () => void release() }, 'Let go') : null,
    h('button', { onclick: play }, 'Play'), h('button', { onclick: stop }, 'Pause'), h('button', { onclick: back }, 'Back'),
    h('button', { onclick: () => void keep() }, 'glTF of the motion'),
  ];
  return {
    element: section('Motion', given !== null, app,
      h('p', { class: 'note' }, app.library ? `Let go: the drives hold nothing, and the robot moves under gravity for ${SECONDS} seconds.` : 'Instants that the command line computed.'),
      h('div', { class: 'buttons' }, ...buttons),
      h('div', { class: 'line' }, line, strip), told,
      h('div', { class: 'buttons' }, h('label', {}, path, ' path'), app.library ? h('label', {}, forces, ' forces') : null),
      charts, marks),
    rebuild: () => {
      const isFirst = robot === '';
      robot = app.portrait?.robot ?? '';
      film = null;
      reel = null;
      helper?.stop();
      line.max = '0';
      told.textContent = '';
      strip.replaceChildren();
      marks.replaceChildren();
      charts.replaceChildren();
      app.stage?.showPath([]);
      if (isFirst && given && given.t.length > 0) show(given, 'the motion of the command line');
    },
  };
}

/** A fall as a motion; nothing is held, so no limit is met. */
function ofFall(app: App, found: Simulation, mode: string): Film {
  return {
    working_mode: mode,
    t: found.states.map((s) => s.t),
    at: found.states.map((s) => app.coordinatesOf(s.pose)),
    twists: found.states.map((s) => s.twist),
    accelerations: found.states.map((s) => s.acceleration),
    rates: found.states.map((s) => s.active.qd),
    efforts: found.states.map((s) => s.efforts),
    marks: [],
  };
}

/** Where the platform is. */
function pointOf(app: App, at: number[]): Vec3 {
  const own = app.standing?.pose.p ?? [0, 0, 0];
  const value = (name: string, k: 0 | 1 | 2): number => {
    const i = app.portrait?.coordinates.findIndex((c) => c.name === name) ?? -1;
    return i < 0 ? own[k] : at[i] ?? own[k];
  };
  return [value('x', 0), value('y', 1), value('z', 2)];
}
