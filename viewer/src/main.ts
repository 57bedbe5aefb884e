// The page: what the command line gave, the library when it travels along, and the robot that they show.

import { App, type Panel } from './app';
import { h, part, save } from './dom';
import { Aside, Library, answerAside, unpack } from './library';
import { mapPanel } from './map_panel';
import { motionPanel } from './motion';
import { bodyPanel, effortPanel, filePanel, frequencyPanel, jointPanel, modePanel, motorPanel, parameterPanel, posePanel, posturePanel, singularityPanel } from './panels';
import { robotPanel } from './playground';
import { Stage } from './stage';
import * as THREE from 'three';
import type { Given } from './types';

function given(): Given {
  const text = part('given').textContent ?? '';
  try {
    return JSON.parse(text) as Given;
  } catch {
    // Nothing was put into the page: robots are tried in it.
    const name = new URLSearchParams(location.hash.slice(1)).get('robot') ?? 'five-bar';
    return { source: { name }, playground: true };
  }
}

function stage(): Stage | null {
  try {
    return new Stage(part('stage') as HTMLCanvasElement, part('names'));
  } catch {
    part('told').textContent = 'This browser draws nothing in three dimensions (no WebGL); questions and answers work all the same.';
    return null;
  }
}

async function start(): Promise<void> {
  const data = given();
  const module = await unpack((part('module').textContent ?? '').trim()).catch(() => null);
  const library = module ? new Library(module) : null;
  const aside = library ? new Aside(part('program').textContent ?? '', library) : null;
  const picture = stage();
  const app = new App(data, library, aside, picture);
  const bodies = bodyPanel(app);
  const panels: Panel[] = library
    ? [posePanel(app), modePanel(app), jointPanel(app), singularityPanel(app), effortPanel(app), frequencyPanel(app), motorPanel(app), mapPanel(app), motionPanel(app), bodies, parameterPanel(app, (why) => app.say(why)), filePanel(app)]
    : [posturePanel(app), motionPanel(app), mapPanel(app), jointPanel(app), bodies, filePanel(app)];
  if (library && data.playground) panels.unshift(robotPanel(app));
  app.panels = panels;
  part('panels').append(...panels.map((p) => p.element));
  if (picture) tools(app, picture);
  if (!library) picture?.withoutHandle();
  if (picture) listen(app, picture, (node) => { (bodies.element as HTMLDetailsElement).open = true; bodies.show(node); });
  begin(app);
  document.documentElement.dataset['ready'] = 'yes';
}

/** The robot, where the command line or the link wants it. */
function begin(app: App): void {
  const { given: data, library } = app;
  if (library) {
    let found = app.load(data.source);
    if (data.playground && found && 'error' in found) {
      app.say(found.error.message);
      found = app.load({ name: 'five-bar' });
    }
    if (data.playground) app.takeSource();
    if (found && 'error' in found) {
      part('title').textContent = data.source.name;
      app.say(found.faults ? `${found.faults.length} fault${found.faults.length === 1 ? '' : 's'} in the file` : found.error.message);
      return;
    }
    const link = new URLSearchParams(location.hash.slice(1));
    const at = link.get('at')?.split(',').map(Number) ?? data.at;
    const mode = link.get('mode') ?? data.mode;
    if (at && at.length === app.at.length) app.place(at, mode);
    else if (mode !== undefined) app.place(app.at, mode);
    if (app.stage) app.stage.eye = link.get('eye')?.split(',').map(Number) ?? [];
    return;
  }
  const first = data.postures?.[0];
  if (data.portrait && first) {
    app.standing = first.standing;
    app.show(data.portrait, first.frames);
    app.fixed(0);
    app.say('The library is not in this page: it shows what the command line computed.');
  } else {
    app.say('There is no robot in this page.');
  }
}

function toggle(text: string, on: boolean, act: (on: boolean) => void): HTMLButtonElement {
  const button = h('button', { 'aria-pressed': String(on) }, text);
  button.addEventListener('click', () => {
    const now = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(now));
    act(now);
  });
  return button;
}

function tools(app: App, stage: Stage): void {
  const name = (): string => app.portrait?.robot.replace(/[^\w-]+/g, '-') ?? 'robot';
  const link = (): void => {
    const mode = app.standing?.working_mode ?? '';
    const robot: Record<string, string> = app.given.playground ? { robot: app.source.name } : {};
    location.hash = new URLSearchParams({ ...robot, at: app.at.join(), mode, eye: stage.eye.map((x) => x.toPrecision(6)).join() }).toString();
    void navigator.clipboard?.writeText(location.href).catch(() => undefined);
    app.say('The address of this page now holds pose, mode and camera.');
  };
  part('tools').append(
    toggle('Turn', false, (on) => stage.turnHandle(on, app.portrait?.coordinates ?? [])),
    toggle('Names', false, (on) => stage.showNames(on)),
    toggle('Frame', true, (on) => stage.showAxes(on)),
    h('button', { onclick: () => app.portrait && stage.look(app.portrait.coordinates, app.posture) }, 'Whole'),
    h('button', { onclick: () => void stage.picture(2400).then((b) => save(`${name()}.png`, b)) }, 'PNG'),
    h('button', { onclick: () => save(`${name()}.svg`, new Blob([stage.lines()], { type: 'image/svg+xml' })) }, 'SVG'),
    h('button', { onclick: () => void stage.model().then((b) => save(`${name()}.gltf`, b)) }, 'glTF'),
    h('button', { onclick: link }, 'Link'),
  );
}

const STEPS: Record<string, [number, number]> = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1], PageDown: [2, -1], PageUp: [2, 1],
};

/** Handle, keys and clicks. */
function listen(app: App, stage: Stage, show: (node: number) => void): void {
  const euler = new THREE.Euler();
  stage.onHandle(() => {
    euler.setFromQuaternion(stage.handle.quaternion, 'ZYX');
    const value = (name: string, old: number): number => {
      const p = stage.handle.position;
      const found: Record<string, number> = { x: p.x, y: p.y, z: p.z, roll: euler.x, pitch: euler.y, yaw: euler.z, phi: euler.z };
      return found[name] ?? old;
    };
    app.go((app.portrait?.coordinates ?? []).map((c, k) => value(c.name, app.wanted[k] ?? 0)));
  });
  const canvas = part('stage');
  canvas.addEventListener('keydown', (e) => {
    const [k, sign] = STEPS[e.key] ?? [-1, 0];
    const c = app.portrait?.coordinates[k];
    if (!c) return;
    e.preventDefault();
    const at = [...app.wanted];
    at[k] = (at[k] ?? 0) + sign * (e.shiftKey ? 10 : 1) * (c.angle ? Math.PI / 180 : 0.005 * (app.portrait?.scene.size ?? 1));
    app.place(at);
  });
  let down: [number, number] = [0, 0];
  canvas.addEventListener('pointerdown', (e) => { down = [e.clientX, e.clientY]; });
  canvas.addEventListener('click', (e) => {
    if (Math.hypot(e.clientX - down[0], e.clientY - down[1]) > 4) return;
    const node = stage.pick(e.clientX, e.clientY);
    if (node !== null) show(node);
  });
}

if (typeof document === 'undefined') answerAside();
else void start();
