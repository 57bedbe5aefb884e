// The page: what the command line gave, the library when it travels along, and the robot that they show.

import { App, type Panel } from './app';
import { bodyPanel } from './body';
import { h, part, save } from './dom';
import { effortPanel } from './effort';
import { filePanel, type FilePanel } from './file';
import { Library, answerAside, unpack } from './library';
import { mapPanel } from './map_panel';
import { modePanel } from './modes';
import { motionPanel } from './motion';
import { jointPanel, motorPanel, parameterPanel, posePanel, posturePanel } from './panels';
import { robotPanel } from './playground';
import { singularityPanel } from './singular';
import { frequencyPanel } from './vibrate_panel';
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
    part('notice').textContent = 'This browser draws nothing in three dimensions (no WebGL); questions and answers work all the same.';
    return null;
  }
}

async function start(): Promise<void> {
  const data = given();
  const packed = (part('module').textContent ?? '').trim();
  const module = await unpack(packed).catch(() => null);
  const library = module ? new Library(module) : null;
  const picture = stage();
  const app = new App(data, library, picture);
  const file = filePanel(app);
  const bodies = bodyPanel(app, file.toLine);
  const panels: Panel[] = library
    ? [posePanel(app), modePanel(app), jointPanel(app), singularityPanel(app), effortPanel(app), frequencyPanel(app), motorPanel(app), mapPanel(app), motionPanel(app), bodies, parameterPanel(app, (why) => app.say(why)), file]
    : [posturePanel(app), motionPanel(app), mapPanel(app), jointPanel(app), bodies, file];
  if (library && data.playground) panels.unshift(robotPanel(app));
  app.panels = panels;
  part('panels').append(...panels.map((p) => p.element));
  if (picture) tools(app, picture);
  if (!library) picture?.withoutHandle();
  if (picture) listen(app, picture, (node) => { (bodies.element as HTMLDetailsElement).open = true; bodies.show(node); });
  begin(app, file);
  const withoutLibrary = packed.length === 0
    ? 'The library is not in this page: it shows what the command line computed.'
    : 'This browser runs no WebAssembly, so the library cannot work in it: the page shows what the command line computed.';
  if (!library) notice(data.portrait ? withoutLibrary : `${withoutLibrary} There is no robot in it.`);
  const lost = 'The picture is lost: the graphics of this browser gave up. It comes back by itself, or when the page is loaded again; read-outs go on.';
  picture?.onLost((isLost) => { part('notice').textContent = isLost ? lost : ''; });
  document.documentElement.dataset['ready'] = 'yes';
}

/** Something that stays true. */
function notice(text: string): void {
  part('notice').textContent = [part('notice').textContent ?? '', text].filter((t) => t !== '').join(' ');
}

/** The robot, where the command line or the link wants it. */
function begin(app: App, file: FilePanel): void {
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
      file.mark(found.faults ?? []);
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
    toggle('Frames', false, (on) => stage.showAxes(on)),
    toggle('Loops', false, (on) => stage.showLoops(on)),
    toggle('Gravity', false, (on) => stage.showGravity(on)),
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
