// A quantity over two coordinates, computed here or by the command line.

import type { App, Panel } from './app';
import { h, shown } from './dom';
import { fieldOf, lowest, mapped, paint, planeCorners, under, type Axis, type Field } from './map';
import { section } from './panels';
import type { Vec3 } from './types';

/** Nodes along each coordinate. */
const NODES = 61;
const QUANTITIES = ['conditioning', 'distance', 'amplification', 'manipulability', 'determinant', 'modes', 'reachable', 'f1', 'f2'];

export function mapPanel(app: App): Panel {
  const pick = (): HTMLSelectElement => h('select');
  const [quantities, first, second] = [pick(), pick(), pick()];
  quantities.setAttribute('aria-label', 'quantity');
  first.setAttribute('aria-label', 'across');
  second.setAttribute('aria-label', 'upwards');
  const canvas = h('canvas', { class: 'map', tabindex: 0, role: 'img', 'aria-label': 'the map' });
  const [told, ends] = [h('p', { class: 'note', role: 'status' }), h('div', { class: 'ends' })];
  let field: Field | null = null;
  const helper = app.helper();
  const axes = (): [Axis, Axis] | null => {
    const list = app.portrait?.coordinates ?? [];
    const [i, j] = [first, second].map((from) => list.findIndex((c) => c.name === from.value)) as [number, number];
    const [a, b] = [list[i], list[j]];
    if (!a || !b || i === j) return null;
    const [one, other] = app.plane(a, b);
    return [{ name: a.name, index: i, low: one[0], high: one[1] }, { name: b.name, index: j, low: other[0], high: other[1] }];
  };
  const compute = async (): Promise<void> => {
    if (!helper || !app.standing) return;
    const plane = axes();
    if (!plane) { told.textContent = 'take two different coordinates'; return; }
    const { portrait } = app;
    told.textContent = '0 %';
    const found = await mapped(helper, app.source, quantities.value, plane, NODES, app.at, app.standing.working_mode, (share) => {
      told.textContent = `${Math.round(100 * share)} %`;
    });
    if (portrait !== app.portrait) return;
    if ('message' in found) { told.textContent = found.message; return; }
    show(found.field);
    if (!found.complete) told.textContent = `stopped half way; ${told.textContent ?? ''}`;
  };
  const show = (found: Field): void => {
    const [a, b] = found.axes;
    field = found;
    paint(found, canvas);
    ends.replaceChildren(h('span', {}, shown(found.range[0], 4)), h('span', {}, found.unit), h('span', {}, shown(found.range[1], 4)));
    told.textContent = `${found.quantity} over ${a.name} and ${b.name}; click to go there`;
    lay(app, found, canvas);
  };
  const spot = (e: MouseEvent): ReturnType<typeof under> | null => {
    const box = canvas.getBoundingClientRect();
    return field && under(field, (e.clientX - box.left) / box.width, (e.clientY - box.top) / box.height);
  };
  const goTo = (at: [number, number]): void => {
    if (!field) return;
    const pose = [...app.at];
    pose[field.axes[0].index] = at[0];
    pose[field.axes[1].index] = at[1];
    app.place(pose);
  };
  canvas.addEventListener('pointermove', (e) => {
    const found = spot(e);
    if (found && field) told.textContent = `${field.axes[0].name} = ${shown(found.at[0], 4)}, ${field.axes[1].name} = ${shown(found.at[1], 4)}: ${found.value === null ? 'no answer there' : `${shown(found.value)} ${field.unit}`}`;
  });
  canvas.addEventListener('click', (e) => { const found = spot(e); if (found) goTo(found.at); });
  const put = app.given.map ?? null;
  let robot = '';
  return {
    element: section('Map', put !== null, app,
      h('div', { class: 'buttons' }, quantities, first, second, h('button', { onclick: () => void compute() }, 'Compute'),
        h('button', { onclick: () => helper?.stop() }, 'Stop'),
        h('button', { onclick: () => { const best = field && lowest(field); if (best) goTo(best.at); } }, 'Go to the lowest'),
        h('button', { onclick: () => app.stage?.showPlane(null) }, 'Hide')),
      canvas, h('div', { class: 'scale' }), ends, told),
    rebuild: () => {
      field = null;
      helper?.stop();
      const names = (app.portrait?.coordinates ?? []).map((c) => c.name);
      const fill = (to: HTMLSelectElement, list: string[], k: number): void => {
        to.replaceChildren(...list.map((n) => h('option', { value: n }, n)));
        to.selectedIndex = Math.min(k, list.length - 1);
      };
      fill(quantities, QUANTITIES.filter((q) => app.portrait?.flexible || !/^f\d/.test(q)), 0);
      fill(first, names, 0);
      fill(second, names, 1);
      const isFirst = robot === '';
      robot = app.portrait?.robot ?? '';
      // What the command line computed belongs to the robot that it put in.
      const given = isFirst && put ? fieldOf(put, app.portrait?.coordinates ?? []) : null;
      if (given) show(given);
    },
  };
}

/** Lay a map of two lengths into the scene, where the platform is. */
function lay(app: App, field: Field, canvas: HTMLCanvasElement): void {
  const [a, b] = field.axes;
  const [i, j] = [a, b].map((x) => ['x', 'y', 'z'].indexOf(x.name)) as [number, number];
  if (i < 0 || j < 0 || !app.standing) return;
  const corner = (u: number, v: number): Vec3 => {
    const p = [...(app.standing?.pose.p ?? [0, 0, 0])] as Vec3;
    p[i] = u;
    p[j] = v;
    return p;
  };
  const [across, upwards] = field.nodes;
  app.stage?.showPlane(canvas, planeCorners({ ...a, count: across }, { ...b, count: upwards }, corner));
}
