// Panels beside the picture: each shows a part of what the page knows, and asks for more. Here those of pose, motors, joints, parameters.

import type { App, Panel } from './app';
import { Sheet, h, measured, quantity, shown } from './dom';
import type { Coordinate } from './types';

export function section(title: string, open: boolean, app: App, ...children: HTMLElement[]): HTMLDetailsElement {
  const element = h('details', { open }, h('summary', {}, title), ...children);
  element.addEventListener('toggle', () => {
    const own = app.panels.find((p) => p.element === element);
    if (element.open) { own?.refresh?.(); own?.settle?.(); }
  });
  return element;
}

/** A slider and a field with a unit for one number. */
function slider(name: string, angle: boolean, range: [number, number], moved: (x: number) => void): { row: HTMLElement; set: (x: number) => void } {
  const [low, high] = range;
  const step = Math.max((high - low) / 500, 1e-9);
  const bar = h('input', { type: 'range', min: low, max: high, step, 'aria-label': name });
  const field = h('input', { type: 'text', 'aria-label': `${name}, ${angle ? 'degrees' : 'metres'} or with a unit` });
  bar.addEventListener('input', () => moved(Number(bar.value)));
  field.addEventListener('change', () => {
    const x = quantity(field.value, angle);
    field.classList.toggle('bad', x === null);
    field.toggleAttribute('aria-invalid', x === null);
    if (x !== null) moved(x);
  });
  const row = h('div', { class: 'row' }, h('span', {}, name), bar, field, h('span', {}, angle ? '°' : 'm'));
  const set = (x: number): void => {
    bar.value = String(x);
    field.classList.remove('bad');
    if (document.activeElement !== field) field.value = measured(x, angle);
  };
  return { row, set };
}

export function posePanel(app: App): Panel {
  const rows = h('div');
  const home = h('button', { onclick: () => app.portrait && app.place(app.portrait.coordinates.map((c) => c.home), app.portrait.working_mode) }, 'Home');
  let sliders: ((x: number) => void)[] = [];
  const wide = (c: Coordinate): [number, number] => {
    const air = 0.25 * (c.reach[1] - c.reach[0]) || 0.1;
    return [c.reach[0] - air, c.reach[1] + air];
  };
  return {
    element: section('Pose', true, app, rows, h('div', { class: 'buttons' }, home)),
    rebuild: () => {
      const list = (app.portrait?.coordinates ?? []).map((c, k) => slider(c.name, c.angle, wide(c), (x) => {
        const at = [...app.wanted];
        at[k] = x;
        app.place(at);
      }));
      rows.replaceChildren(...list.map((s) => s.row));
      sliders = list.map((s) => s.set);
    },
    refresh: () => sliders.forEach((set, k) => set(app.wanted[k] ?? 0)),
  };
}

export function motorPanel(app: App): Panel {
  const rows = h('div');
  let sliders: ((x: number) => void)[] = [];
  return {
    element: section('Motors', false, app, rows, h('p', { class: 'note' }, 'The platform follows in its assembly mode.')),
    rebuild: () => {
      const size = app.portrait?.scene.size ?? 1;
      const list = (app.portrait?.active ?? []).map((j, k) => {
        const now = app.standing?.active.q[k] ?? 0;
        const range = j.range ?? (j.slides ? [now - size, now + size] as [number, number] : [now - Math.PI / 2, now + Math.PI / 2] as [number, number]);
        return slider(`q${j.name}`, !j.slides, range, (x) => {
          const motors = [...(app.standing?.active.q ?? [])];
          motors[k] = x;
          app.drive(motors);
        });
      });
      rows.replaceChildren(...list.map((s) => s.row));
      sliders = list.map((s) => s.set);
    },
    refresh: () => sliders.forEach((set, k) => set(app.standing?.active.q[k] ?? 0)),
  };
}

export function jointPanel(app: App): Panel {
  const [joints, more] = [new Sheet(['joint', 'value', 'range']), new Sheet(['', ''])];
  const refresh = (): void => {
    const { portrait, standing } = app;
    if (!portrait || !standing) return;
    const row = (active: boolean) => (_: unknown, k: number): string[] => {
      const joint = (active ? portrait.active : portrait.passive)[k];
      const q = (active ? standing.active : standing.passive).q[k] ?? NaN;
      if (!joint) return [];
      const range = joint.range ? joint.range.map((x) => measured(x, !joint.slides)).join(' to ') : '';
      return [`q${joint.name}${active ? ' (motor)' : ''}`, `${measured(q, !joint.slides)} ${joint.slides ? 'm' : '°'}`, range];
    };
    const rows = [...portrait.active.map(row(true)), ...portrait.passive.map(row(false))];
    joints.fill(rows);
    more.fill([
      ['working mode', standing.working_mode],
      ['closure error', `${shown(standing.residual, 3)} m, rad`],
      ['degrees of freedom', String(portrait.mobility)],
      ['by rank, legs, loops', portrait.mobility_counts.join(', ')],
      ['over-constraint', String(portrait.overconstraint)],
    ]);
  };
  return { element: section('Joints', true, app, joints.element, more.element), rebuild: refresh, refresh };
}

export function parameterPanel(app: App, edited: (why: string) => void): Panel {
  const rows = h('div');
  let robot = '';
  return {
    element: section('Parameters', false, app, rows),
    rebuild: () => {
      const { portrait } = app;
      if (!portrait || portrait.robot === robot) return;
      robot = portrait.robot;
      rows.replaceChildren(...portrait.parameters.map(([name, value]) => {
        const wide = Math.abs(value) || 1;
        const bar = h('input', { type: 'range', min: value - 0.5 * wide, max: value + 0.5 * wide, step: wide / 200, value, 'aria-label': name });
        const now = h('span', {}, shown(value));
        bar.addEventListener('input', () => {
          now.textContent = shown(Number(bar.value));
          const set = (app.source.set ?? []).filter(([n]) => n !== name);
          const found = app.load({ ...app.source, set: [...set, [name, bar.value]] });
          edited(found && 'error' in found ? `${name} = ${shown(Number(bar.value))}: ${found.faults?.[0]?.message ?? found.error.message}` : '');
        });
        return h('div', { class: 'row' }, h('span', {}, name), bar, now, h('span'));
      }));
    },
  };
}

export function posturePanel(app: App): Panel {
  const list = (app.given.postures ?? []).map((p, k) => h('button', { onclick: () => app.fixed(k) }, p.name));
  return { element: section('Postures from the command line', true, app, h('div', { class: 'buttons' }, ...list)) };
}
