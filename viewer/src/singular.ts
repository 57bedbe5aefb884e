// Singularities of the posture with the motion that is lost, and their curves and aspects in a plane.

import type { App, Panel } from './app';
import { LEGS, REFUSED } from './colours';
import { Sheet, h, say, shown } from './dom';
import { planeCorners } from './map';
import { section } from './panels';
import type { Loci, Portrait, Vec3 } from './types';

/** Nodes along each coordinate of the plane. */
const NODES = 61;
const COLOURS: Record<string, number> = { type1: 0x333333, type2: REFUSED, lajts: 0x8c510a, lpjts: 0x7a6fac, constraint: 0xcc79a7, range: 0xe69f00, open: 0x999999 };
const WORDS: Record<string, string> = { type1: 'Type 1 or end of reach', type2: 'Type 2', lajts: 'LAJTS', lpjts: 'LPJTS', constraint: 'constraint', range: 'end of a range', open: 'other ends' };

const hex = (colour: number): string => `#${colour.toString(16).padStart(6, '0')}`;

export function singularityPanel(app: App): Panel {
  const [list, more] = [new Sheet(['kind', 'sigma', 'distance, m', '']), h('p', { class: 'note' })];
  let twists: (readonly number[])[] = [];
  const refresh = (): void => {
    const found = app.library?.ask({ ask: 'singularities' });
    if (!found) return;
    if ('error' in found) {
      list.fill([]);
      return say(more, found.error.message);
    }
    twists = found.answer.singularities.map((s) => s.twist ?? []);
    const rows = found.answer.singularities.map((s, k) => [
      `${s.kind}${s.leg === null ? '' : `, leg ${s.leg}`}${s.singular ? ': SINGULAR' : ''}`,
      shown(s.sigma, 4), shown(s.distance),
      s.twist ? h('button', { 'aria-label': `show the motion of ${s.kind}, ${k + 1}`, onclick: () => sway(app, twists[k] ?? []) }, 'move') : '',
    ]);
    list.fill(rows);
    say(more, found.answer.undefined.length ? `not defined here: ${found.answer.undefined.join(', ')}` : '');
  };
  const [told, key] = [h('p', { class: 'note', role: 'status' }), h('p', { class: 'note' })];
  const helper = app.helper();
  const clear = (): void => {
    helper?.stop();
    app.stage?.showCurves([]);
    app.stage?.showPlane(null);
    key.replaceChildren();
  };
  const trace = async (): Promise<void> => {
    const { portrait, standing } = app;
    const axes = plane(portrait);
    if (!helper || !portrait || !standing) return;
    if (!axes) { told.textContent = 'curves are drawn over two lengths, which this platform has not'; return; }
    clear();
    told.textContent = '0 %';
    const [a, b] = axes.map((k) => portrait.coordinates[k]);
    if (!a || !b) return;
    const ends = app.plane(a, b);
    const over = [a, b].map((c, k) => [c.name, ...(ends[k] ?? []), NODES]);
    const found = await helper.ask(app.source, { ask: 'loci', at: app.at, over, mode: standing.working_mode }, (share) => {
      told.textContent = `${Math.round(100 * Math.min(share, 0.99))} %`;
    });
    if (app.portrait !== portrait) return;
    if ('error' in found) { told.textContent = found.error.message; return; }
    const n = found.answer.aspects.length;
    told.textContent = `${found.answer.curves.length} curves; ${n} aspect${n === 1 ? '' : 's'}, ${shown(found.answer.reachable_area, 4)} m² reached, in mode ${standing.working_mode}, over ${[a, b].map((c, k) => `${c.name} = ${ends[k]?.join(' to ') ?? ''}`).join(', ')}`;
    draw(app, axes, found.answer);
    const kinds = [...new Set(found.answer.curves.map((c) => c.kind))];
    key.replaceChildren(...kinds.map((kind) => {
      const word = h('span', {}, `${WORDS[kind] ?? kind} `);
      word.style.color = hex(COLOURS[kind] ?? REFUSED);
      return word;
    }), n > 0 ? 'aspects as tinted areas' : '');
  };
  return {
    element: section('Singularities', true, app, list.element, more, h('div', { class: 'buttons' }, h('button', { onclick: () => void trace() }, 'Trace the curves in this plane'),
      h('button', { onclick: () => { clear(); told.textContent = ''; } }, 'Stop, clear')), told, key),
    rebuild: () => { clear(); told.textContent = ''; refresh(); },
    refresh,
  };
}

/** The first two coordinates that are lengths. */
function plane(portrait: Portrait | null): [number, number] | null {
  const lengths = (portrait?.coordinates ?? []).map((c, k) => [c, k] as const).filter(([c]) => !c.angle).map(([, k]) => k);
  const [a, b] = lengths;
  return a === undefined || b === undefined ? null : [a, b];
}

/** Curves in the plane where the platform is, the aspects under them. */
function draw(app: App, [a, b]: [number, number], found: Loci): void {
  const { portrait, standing, stage } = app;
  const [across, upwards] = found.axes;
  if (!portrait || !standing || !stage || !across || !upwards) return;
  const index = (k: number): number => ['x', 'y', 'z'].indexOf(portrait.coordinates[k]?.name ?? '');
  const at = (u: number, v: number): Vec3 => {
    const p: Vec3 = [...standing.pose.p];
    p[index(a)] = u;
    p[index(b)] = v;
    return p;
  };
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [across.count, upwards.count];
  const pen = canvas.getContext('2d');
  if (pen) {
    found.aspect_of_node.forEach((aspect, node) => {
      if (aspect === null) return;
      const colour = LEGS[aspect % LEGS.length] ?? 0;
      pen.fillStyle = `${hex(colour)}66`;
      pen.fillRect(node % across.count, upwards.count - 1 - Math.floor(node / across.count), 1, 1);
    });
    stage.showPlane(canvas, planeCorners(across, upwards, at));
  }
  stage.showCurves(found.curves.map((c) => ({ points: c.points.map(([u, v]) => at(u, v)), colour: COLOURS[c.kind] ?? REFUSED })));
}

/** Move the robot to and fro along a twist of its platform, for three seconds. */
function sway(app: App, twist: readonly number[]): void {
  const { portrait, stage, library } = app;
  if (!portrait || !stage || !library) return;
  const [from, at] = [[...app.at], [...app.at]];
  const slope = portrait.coordinates.map((c) => twist[['x', 'y', 'z', 'roll', 'pitch', 'yaw', 'phi'].indexOf(c.name === 'phi' ? 'yaw' : c.name)] ?? 0);
  const most = Math.max(...slope.map((s, k) => Math.abs(s) * (portrait.coordinates[k]?.angle ? portrait.length_scale : 1)), 1e-12);
  const reach = (0.05 * portrait.scene.size) / most;
  let began: number | null = null;
  stage.animate = (t) => {
    began ??= t;
    const on = t - began < 3;
    const a = on ? reach * Math.sin(2 * Math.PI * (t - began)) : 0;
    for (let k = 0; k < at.length; k++) at[k] = (from[k] ?? 0) + a * (slope[k] ?? 0);
    if (library.place(at) === null) stage.pose(library.frames());
    if (!on) app.go(from);
    return on;
  };
  stage.draw();
}
