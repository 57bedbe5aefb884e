// Efforts that hold the robot where it stands, under gravity and a wrench that is typed or pulled by a handle.

import type { App, Panel } from './app';
import { Sheet, h, say, shown } from './dom';
import { drawForces } from './forces';
import { section } from './panels';
import type { Pull } from './stage';

const NAMES = ['fx', 'fy', 'fz', 'mx', 'my', 'mz'];
const GRAVITY = 9.81;

export function effortPanel(app: App): Panel {
  const [list, note] = [new Sheet(['drive', 'effort', 'limit']), h('p', { class: 'note' })];
  const arrows = h('input', { type: 'checkbox' });
  arrows.addEventListener('change', () => { if (arrows.checked) drawForces(app); else app.stage?.showForces([]); });
  const fields = NAMES.map((name, k) => {
    const field = h('input', { type: 'text', value: '0', 'aria-label': `${name} on the platform`, style: 'width: 5em' });
    field.addEventListener('change', () => {
      const x = Number(field.value);
      field.classList.toggle('bad', !Number.isFinite(x));
      if (Number.isFinite(x)) { app.wrench[k] = x; refresh(); }
    });
    return field;
  });
  let pulls: Pull | null = null;
  const buttons = (['force', 'moment'] as const).map((kind) => h('button', { 'aria-pressed': 'false', onclick: () => pull(pulls === kind ? null : kind) }, `Drag the ${kind}`));
  const pull = (kind: Pull | null): void => {
    pulls = kind;
    buttons.forEach((b, k) => b.setAttribute('aria-pressed', String(kind === (k === 0 ? 'force' : 'moment'))));
    app.stage?.offerWrench(kind, app.portrait?.coordinates ?? []);
    aim();
  };
  /** An arrow four fifths of the robot long is the weight of all bodies, or ten newtons where that is less. */
  const scales = (): [number, number] => {
    const scene = app.portrait?.scene;
    const [size, mass] = [scene?.size ?? 1, (scene?.nodes ?? []).reduce((m, n) => m + n.mass, 0)];
    const force = (0.8 * size) / Math.max(10, GRAVITY * mass);
    return [force, force / (app.portrait?.length_scale ?? 1)];
  };
  const aim = (): void => {
    if (app.standing) app.stage?.showWrench(app.standing.pose.p, app.wrench, scales());
  };
  app.stage?.onPull((kind, arrow) => {
    const [scale, first] = kind === 'force' ? [scales()[0], 0] : [scales()[1], 3];
    arrow.forEach((x, k) => {
      // Four digits: nobody drags more.
      app.wrench[first + k] = Number((x / scale).toPrecision(4));
      const field = fields[first + k];
      if (field) field.value = String(app.wrench[first + k]);
    });
    refresh();
  });
  const refresh = (): void => {
    aim();
    const found = app.library?.ask({ ask: 'idm', ...app.loaded });
    if (!found) return;
    note.classList.toggle('bad', 'error' in found);
    if ('error' in found) {
      list.fill([]);
      return say(note, found.error.message);
    }
    const { efforts, condition, ground_wrench_on_robot: ground } = found.answer;
    const rows = (app.portrait?.active ?? []).map((j, k) => {
      const [e, most] = [efforts[k] ?? NaN, app.portrait?.drives[k]?.effort ?? null];
      const over = most !== null && Math.abs(e) > most;
      return [`q${j.name}`, `${shown(e)} ${j.slides ? 'N' : 'N m'}${over ? ' beyond its limit' : ''}`, most === null ? '' : shown(most)];
    });
    list.fill(rows);
    say(note, `condition ${shown(condition, 4)}; ground holds ${ground.slice(0, 3).map((x) => shown(x, 4)).join(', ')} N${app.portrait?.flexible === true ? '; beams, springs and shapes are taken as rigid' : ''}`);
    if (arrows.checked) drawForces(app);
  };
  const none = (): void => {
    app.wrench.fill(0);
    fields.forEach((f) => { f.value = '0'; f.classList.remove('bad'); });
    pull(null);
    refresh();
  };
  return {
    element: section('Efforts at rest', true, app, list.element, note, h('label', {}, arrows, ' forces in the joints as arrows, of the ground in green'),
      h('p', { class: 'note' }, 'Wrench on the platform, N and N m:'), h('div', { class: 'buttons' }, ...fields.map((f, k) => h('label', {}, `${NAMES[k] ?? ''} `, f))),
      h('div', { class: 'buttons' }, ...(app.stage ? buttons : []), h('button', { onclick: none }, 'No wrench'))),
    rebuild: none,
    refresh,
  };
}
