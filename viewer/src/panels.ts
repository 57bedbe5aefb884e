// Panels beside the picture: each shows a part of what the page knows, and asks for more.

import type { App, Panel } from './app';
import { h, measured, quantity, save, shown, table } from './dom';
import { drawForces } from './forces';
import { shapeOf } from './vibrate';
import type { Assemblies, Coordinate, Efforts, Fault, Frequencies, Loci, Mode, Portrait, Singularities, Standing, Vec3, WorkingModes } from './types';

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
  const body = h('div');
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
    body.replaceChildren(
      table(['joint', 'value', 'range'], rows),
      table(['', ''], [
        ['working mode', standing.working_mode],
        ['closure error', `${shown(standing.residual, 3)} m, rad`],
        ['degrees of freedom', String(portrait.mobility)],
        ['by rank, legs, loops', portrait.mobility_counts.join(', ')],
        ['over-constraint', String(portrait.overconstraint)],
      ]),
    );
  };
  return { element: section('Joints', true, app, body), rebuild: refresh, refresh };
}

export function modePanel(app: App): Panel {
  const [list, note] = [h('div', { class: 'buttons' }), h('p', { class: 'note' })];
  const over = h('input', { type: 'checkbox', id: 'over' });
  over.addEventListener('change', () => settle());
  const settle = (): void => {
    if (!app.library) return;
    const found = app.library.ask<WorkingModes>({ ask: 'modes', at: app.at });
    if ('error' in found) {
      note.textContent = found.error.message;
      return;
    }
    const modes = found.answer.working_modes;
    list.replaceChildren(...modes.map((m) => h('button', {
      'aria-pressed': String(m.working_mode === app.standing?.working_mode),
      onclick: () => app.place(app.at, m.working_mode),
    }, m.working_mode)));
    note.textContent = `${modes.length === 1 ? '1 working mode reaches' : `${modes.length} working modes reach`} this pose${found.answer.complete ? '' : ', perhaps more'}`;
    app.stage?.overlay(over.checked ? framesIn(app, modes.map((m) => [app.at, m.working_mode])) : []);
  };
  const assemblies = h('div', { class: 'buttons' });
  const seek = async (): Promise<void> => {
    if (!app.aside || !app.standing) return;
    assemblies.replaceChildren('looking ...');
    const found = await app.aside.ask<Assemblies>(app.source, { ask: 'assemblies', motors: app.standing.active.q });
    if ('error' in found) assemblies.replaceChildren(found.error.message);
    else assemblies.replaceChildren(...found.answer.assemblies.map((a) => {
      const at = app.coordinatesOf(a.pose);
      return h('button', { onclick: () => app.place(at, a.working_mode) }, at.map((x) => shown(x, 3)).join(', '));
    }));
  };
  return {
    element: section('Modes', true, app, list, note,
      h('label', {}, over, ' all of them in the picture'),
      h('div', { class: 'buttons' }, h('button', { onclick: () => void seek() }, 'Assembly modes of these motors')), assemblies),
    rebuild: () => { assemblies.replaceChildren(); settle(); },
    settle,
  };
}

/** Frames of postures, the robot standing afterwards where it stood. */
function framesIn(app: App, list: [number[], string][]): Float64Array[] {
  const library = app.library;
  if (!library) return [];
  const frames = list.map(([at, mode]) => {
    const found = library.ask<Standing>({ ask: 'place', at, mode });
    return 'error' in found ? null : Float64Array.from(library.frames());
  });
  if (app.standing) library.ask({ ask: 'place', at: app.at, mode: app.standing.working_mode });
  return frames.filter((f) => f !== null);
}

export function singularityPanel(app: App): Panel {
  const body = h('div');
  const refresh = (): void => {
    const found = app.library?.ask<Singularities>({ ask: 'singularities' });
    if (!found) return;
    if ('error' in found) return body.replaceChildren(h('p', { class: 'note' }, found.error.message));
    const rows = found.answer.singularities.map((s) => [
      `${s.kind}${s.leg === null || s.leg === undefined ? '' : `, leg ${s.leg}`}${s.singular ? ': SINGULAR' : ''}`,
      shown(s.sigma, 4), shown(s.distance),
      s.twist ? h('button', { 'aria-label': `show the motion of ${s.kind}`, onclick: () => sway(app, s.twist ?? []) }, 'move') : '',
    ]);
    body.replaceChildren(table(['kind', 'sigma', 'distance, m', ''], rows),
      found.answer.undefined.length ? h('p', { class: 'note' }, `not defined here: ${found.answer.undefined.join(', ')}`) : '');
  };
  const loci = h('p', { class: 'note' });
  const trace = async (): Promise<void> => {
    const axes = plane(app.portrait);
    if (!app.aside || !app.portrait || !axes) return;
    loci.textContent = 'tracing ...';
    const spans = axes.map((k) => {
      const c = app.portrait?.coordinates[k];
      return c ? [c.name, ...wider(c), 41] : [];
    });
    const found = await app.aside.ask<Loci>(app.source, { ask: 'loci', at: app.at, over: spans, ...(app.standing ? { mode: app.standing.working_mode } : {}) });
    if ('error' in found) loci.textContent = found.error.message;
    else {
      const n = found.answer.aspects.length;
      loci.textContent = `${found.answer.curves.length} curves; ${n} aspect${n === 1 ? '' : 's'}, ${shown(found.answer.reachable_area, 4)} m² reached`;
      curves(app, axes, found.answer);
    }
  };
  return {
    element: section('Singularities', true, app, body, h('div', { class: 'buttons' }, h('button', { onclick: () => void trace() }, 'Trace the curves in this plane'),
      h('button', { onclick: () => { app.aside?.stop(); app.stage?.overlay([]); loci.textContent = ''; } }, 'Stop, clear')), loci),
    rebuild: refresh, refresh,
  };
}

/** The first two coordinates that are lengths. */
function plane(portrait: Portrait | null): [number, number] | null {
  const lengths = (portrait?.coordinates ?? []).map((c, k) => [c, k] as const).filter(([c]) => !c.angle).map(([, k]) => k);
  const [a, b] = lengths;
  return a === undefined || b === undefined ? null : [a, b];
}

export function wider(c: Coordinate): [number, number] {
  const air = 0.6 * (c.reach[1] - c.reach[0]) || 0.1;
  return [c.reach[0] - air, c.reach[1] + air];
}

/** Curves in the plane where the platform is, as postures without a robot: lines of points. */
function curves(app: App, [a, b]: [number, number], found: Loci): void {
  const { portrait, standing, stage } = app;
  if (!portrait || !standing || !stage) return;
  const index = (k: number): number => ['x', 'y', 'z'].indexOf(portrait.coordinates[k]?.name ?? '');
  void import('three').then((THREE) => {
    stage.overlay([]);
    for (const c of found.curves) {
      const points = c.points.map((q) => {
        const p = [...standing.pose.p] as Vec3;
        p[index(a)] = q[0];
        p[index(b)] = q[1];
        return new THREE.Vector3(...p);
      });
      stage.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial({ color: 0xd62d20 })));
    }
    stage.draw();
  });
}

/** Move the robot to and fro along a twist of its platform, for three seconds. */
function sway(app: App, twist: number[]): void {
  const { portrait, stage } = app;
  if (!portrait || !stage) return;
  const from = [...app.at];
  const slope = portrait.coordinates.map((c) => twist[['x', 'y', 'z', 'roll', 'pitch', 'yaw', 'phi'].indexOf(c.name === 'phi' ? 'yaw' : c.name)] ?? 0);
  const most = Math.max(...slope.map((s, k) => Math.abs(s) * (portrait.coordinates[k]?.angle ? portrait.length_scale : 1)), 1e-12);
  const reach = (0.05 * portrait.scene.size) / most;
  let began: number | null = null;
  stage.animate = (t) => {
    began ??= t;
    const on = t - began < 3;
    const a = on ? reach * Math.sin(2 * Math.PI * (t - began)) : 0;
    const at = from.map((x, k) => x + a * (slope[k] ?? 0));
    if (app.library?.place(at) === null) stage.pose(app.library.frames());
    if (!on) app.go(from);
    return on;
  };
  stage.draw();
}

export function frequencyPanel(app: App): Panel {
  const [body, told] = [h('div'), h('p', { class: 'note', role: 'status' })];
  let playing = -1;
  const stop = (): void => {
    playing = -1;
    told.textContent = '';
    if (app.stage) { app.stage.animate = null; app.stage.overlay([]); app.stage.fade(false); }
  };
  const play = (k: number): void => {
    if (playing === k) return stop();
    const found = app.library?.ask<Frequencies>({ ask: 'frequencies', shapes: true, count: 6 });
    const [stage, portrait] = [app.stage, app.portrait];
    if (!found || 'error' in found || !stage || !portrait) return;
    const mode: Mode | undefined = found.answer.modes[k];
    const shape = mode && shapeOf(portrait.scene, app.posture, mode, 0.12 * portrait.scene.size);
    if (!mode || !shape) return;
    stop();
    playing = k;
    stage.add(shape.object);
    stage.fade(true);
    stage.animate = (t) => { shape.swing(2 * Math.PI * 0.8 * t); return playing === k; };
    stage.draw();
    told.textContent = `mode ${k + 1}, ${shown(mode.frequency_hz)} Hz: largest swing drawn ${shown(shape.largest * 1000, 3)} mm (a shape has no size of its own); yellow where most elastic energy is`;
  };
  const settle = (): void => {
    if (!app.library || !app.portrait?.flexible) return;
    const found = app.library.ask<Frequencies>({ ask: 'frequencies', count: 6 });
    if ('error' in found) return body.replaceChildren(h('p', { class: 'note' }, found.error.message));
    const most = (m: Mode): string => {
      const sums = new Map<string, number>();
      m.elastic_energy.forEach((e) => sums.set(e.kind ?? e.of, (sums.get(e.kind ?? e.of) ?? 0) + e.share));
      return [...sums].sort((a, b) => b[1] - a[1]).slice(0, 2).map(([name, s]) => `${name} ${Math.round(100 * s)} %`).join(', ');
    };
    body.replaceChildren(table(['mode', 'Hz', 'energy', ''], found.answer.modes.map((m, k) => [
      String(k + 1), shown(m.frequency_hz), most(m),
      h('button', { 'aria-label': `animate mode ${k + 1}`, 'aria-pressed': String(k === playing), onclick: () => { play(k); settle(); } }, k === playing ? 'stop' : 'play'),
    ])));
  };
  const best = (): void => {
    const found = app.library?.ask<Frequencies>({ ask: 'frequencies', count: 1, sensitivities: true });
    if (!found || 'error' in found) return;
    const list = (found.answer.sensitivities ?? []).slice(0, 3).map((s) => `${s.parameter} (${shown(s.percent_per_percent[0], 3)} % per %)`);
    told.textContent = list.length ? `the first frequency changes most with ${list.join(', ')}` : 'no parameter of the file changes it';
  };
  const element = section('Vibration', false, app, body, h('div', { class: 'buttons' }, h('button', { onclick: best }, 'What changes it most')), told);
  return {
    element,
    rebuild: () => { stop(); element.hidden = !app.portrait?.flexible; settle(); },
    refresh: () => { if (playing >= 0) stop(); },
    settle,
  };
}

export function effortPanel(app: App): Panel {
  const body = h('div');
  const arrows = h('input', { type: 'checkbox' });
  arrows.addEventListener('change', () => { if (arrows.checked) drawForces(app); else app.stage?.showForces([]); });
  const fields = ['fx', 'fy', 'fz', 'mx', 'my', 'mz'].map((name, k) => {
    const field = h('input', { type: 'text', value: '0', 'aria-label': `${name} on the platform`, style: 'width: 5em' });
    field.addEventListener('change', () => {
      const x = Number(field.value);
      field.classList.toggle('bad', !Number.isFinite(x));
      if (Number.isFinite(x)) { app.wrench[k] = x; refresh(); }
    });
    return h('label', {}, `${name} `, field);
  });
  const refresh = (): void => {
    const loaded = app.wrench.some((x) => x !== 0);
    const found = app.library?.ask<Efforts>({ ask: 'idm', ...(loaded ? { wrench: app.wrench } : {}) });
    if (!found) return;
    if ('error' in found) return body.replaceChildren(h('p', { class: 'bad' }, found.error.message));
    const { efforts, condition, ground_wrench_on_robot: ground } = found.answer;
    const rows = (app.portrait?.active ?? []).map((j, k) => {
      const [e, most] = [efforts[k] ?? NaN, app.portrait?.drives[k]?.effort ?? null];
      const over = most !== null && Math.abs(e) > most;
      return [`q${j.name}`, `${shown(e)} ${j.slides ? 'N' : 'N m'}${over ? ' beyond its limit' : ''}`, most === null ? '' : shown(most)];
    });
    body.replaceChildren(table(['drive', 'effort', 'limit'], rows), h('p', { class: 'note' }, `condition ${shown(condition, 4)}; ground holds ${ground.slice(0, 3).map((x) => shown(x, 4)).join(', ')} N${app.portrait?.flexible === true ? '; beams, springs and shapes are taken as rigid' : ''}`));
    if (arrows.checked) drawForces(app);
  };
  return { element: section('Efforts at rest', true, app, body, h('label', {}, arrows, ' forces in the joints as arrows, of the ground in green'), h('p', { class: 'note' }, 'Wrench on the platform, N and N m:'), h('div', { class: 'buttons' }, ...fields)), rebuild: refresh, refresh };
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

export function filePanel(app: App): Panel {
  const back = h('pre', { 'aria-hidden': 'true' });
  const text = h('textarea', { spellcheck: 'false', 'aria-label': 'robot file' });
  const list = h('ul', { class: 'faults' });
  let timer = 0;
  const mark = (faults: Fault[]): void => {
    const lines = text.value.split('\n');
    const parts: (Node | string)[] = [];
    lines.forEach((line, i) => {
      let from = 0;
      const letters = [...line];
      for (const f of faults.filter((x) => x.line === i + 1).sort((a, b) => a.column - b.column)) {
        const start = Math.max(from, Math.min(f.column - 1, letters.length));
        const end = Math.min(letters.length, start + f.length);
        parts.push(letters.slice(from, start).join(''), h('mark', {}, letters.slice(start, end).join('') || ' '));
        from = end;
      }
      parts.push(`${letters.slice(from).join('')}\n`);
    });
    back.replaceChildren(...parts);
    list.replaceChildren(...faults.map((f) => h('li', {}, h('button', { onclick: () => {
      const start = lines.slice(0, f.line - 1).reduce((n, l) => n + l.length + 1, 0) + f.column - 1;
      text.focus();
      text.setSelectionRange(start, start + f.length);
    } }, `${f.line}:${f.column} ${f.message}${f.suggestion ? ` (${f.suggestion})` : ''}`))));
  };
  const read = (): void => {
    const found = app.load({ ...app.source, text: text.value });
    if (!found) return;
    if ('error' in found) { mark(found.faults ?? []); app.say(`${found.faults?.length ?? 0} faults; the picture shows the robot before`); }
    else { mark(found.answer.remarks); app.say(''); }
  };
  text.addEventListener('input', () => { mark([]); clearTimeout(timer); timer = setTimeout(read, 100) as unknown as number; });
  text.addEventListener('scroll', () => { back.scrollTop = text.scrollTop; back.scrollLeft = text.scrollLeft; });
  text.value = app.given.source.text ?? '';
  mark(app.given.faults ?? []);
  return {
    rebuild: () => {
      const own = app.source.text;
      if (own === undefined || own === text.value || document.activeElement === text) return;
      text.value = own;
      mark(app.portrait?.remarks ?? []);
    },
    element: section('File', app.given.playground === true || (app.given.faults?.length ?? 0) > 0, app, h('div', { class: 'editor' }, back, text), list,
      h('div', { class: 'buttons' }, h('button', { onclick: () => save('robot.toml', new Blob([text.value], { type: 'text/plain' })) }, 'Save the file'))),
  };
}

export function bodyPanel(app: App): Panel & { show: (node: number) => void } {
  const body = h('div', {}, h('p', { class: 'note' }, 'Click a body in the picture.'));
  const chosen = h('select', { 'aria-label': 'body' });
  const show = (k: number): void => {
    const [scene, node] = [app.portrait?.scene, app.portrait?.scene.nodes[k]];
    if (!scene || !node) return;
    chosen.selectedIndex = k;
    const joint = scene.joints.find((j) => !j.closure && j.to === k);
    const rows: string[][] = [['name', node.name]];
    if (node.leg !== null) rows.push(['leg', scene.legs[node.leg] ?? '']);
    if (node.line > 0) rows.push(['line of the file', String(node.line)]);
    rows.push(['mass', `${shown(node.mass)} kg`]);
    if (node.centre) rows.push(['centre of mass', `${node.centre.map((x) => shown(x, 4)).join(', ')} m`]);
    if (joint) rows.push(['joint', `${joint.kind}${joint.active ? ', driven' : ''}`]);
    body.replaceChildren(table(['', ''], rows));
  };
  chosen.addEventListener('change', () => show(chosen.selectedIndex));
  return {
    element: section('Body', false, app, chosen, body),
    rebuild: () => chosen.replaceChildren(...(app.portrait?.scene.nodes ?? []).map((n) => h('option', {}, n.name))),
    show,
  };
}

export function posturePanel(app: App): Panel {
  const list = (app.given.postures ?? []).map((p, k) => h('button', { onclick: () => app.fixed(k) }, p.name));
  return { element: section('Postures from the command line', true, app, h('div', { class: 'buttons' }, ...list)) };
}
