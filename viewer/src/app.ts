// What the page knows, in one place. Panels and picture are drawn from it, and everything that changes it goes through here.

import { part } from './dom';
import { Aside, type Library } from './library';
import type { Stage } from './stage';
import type { Answer, Coordinate, Given, Pose, Portrait, Refused, Source, Standing, Stood, Vec3 } from './types';

export interface Panel {
  element: HTMLElement;
  /** Another robot. */
  rebuild?: () => void;
  /** Another posture; cheap. */
  refresh?: () => void;
  /** The posture has stayed for a moment; may take longer. */
  settle?: () => void;
}

const SETTLED_MS = 140;

export class App {
  portrait: Portrait | null = null;
  standing: Standing | null = null;
  /** Where the robot stands, and where it was asked to be. */
  at: number[] = [];
  wanted: number[] = [];
  refusal: Refused | null = null;
  wrench = [0, 0, 0, 0, 0, 0];
  source: Source;
  panels: Panel[] = [];
  private frames: Float64Array = new Float64Array(0);
  private timer = 0;

  constructor(readonly given: Given, readonly library: Library | null, readonly stage: Stage | null) {
    this.source = given.source;
  }

  /** Somebody who answers long questions; null in a page without the library. */
  helper(): Aside | null {
    return this.library && new Aside(part('program').textContent ?? '', this.library);
  }

  /** The wrench on the platform, where there is one. */
  get loaded(): { wrench?: number[] } {
    return this.wrench.some((x) => x !== 0) ? { wrench: this.wrench } : {};
  }

  /** Make a robot; its faults when it has some. The posture is kept where the new robot reaches it. */
  load(source: Source): Answer<Portrait> | null {
    if (!this.library) return null;
    const found = this.library.load(source);
    if ('error' in found) return found;
    const kept = this.portrait && sameCoordinates(this.portrait, found.answer) ? this.at : null;
    const mode = this.standing?.working_mode;
    this.source = source;
    this.show(found.answer, this.library.frames());
    if (kept) this.place(kept, mode);
    return found;
  }

  /** Take up the text of the robot that the library has, which was loaded by its name. */
  takeSource(): void {
    const found = this.library?.ask({ ask: 'source' });
    if (!found || 'error' in found) return;
    this.source = found.answer;
    this.panels.forEach((p) => p.rebuild?.());
  }

  /** Show a robot at home. */
  show(portrait: Portrait, frames: ArrayLike<number>): void {
    const isOther = this.portrait?.robot !== portrait.robot;
    this.portrait = portrait;
    this.frames = Float64Array.from(frames);
    this.at = portrait.coordinates.map((c) => c.home);
    this.wanted = [...this.at];
    this.refusal = null;
    part('title').textContent = portrait.robot;
    part('summary').textContent = portrait.summary;
    document.title = `${portrait.robot} - Gough`;
    this.stage?.build(portrait.scene, portrait.coordinates, this.frames, isOther);
    this.read();
    if (this.standing) this.stage?.aim(this.standing.pose.p, this.standing.pose.R);
    this.panels.forEach((p) => p.rebuild?.());
    this.changed();
  }

  /** Move the platform in the present working mode; where it cannot go it stays, and the refusal is told. */
  go(at: number[]): void {
    this.wanted = at;
    if (!this.library) return;
    this.refusal = at.every(Number.isFinite) ? this.library.place(at) : { kind: 'usage', message: 'a pose is finite numbers' };
    this.moved(this.refusal === null ? this.read() : null);
  }

  /** Move the platform into a working mode. */
  place(at: number[], mode?: string): void {
    if (!this.library) return;
    this.wanted = [...at];
    const found = this.library.ask(mode === undefined ? { ask: 'place', at } : { ask: 'place', at, mode });
    this.refusal = 'error' in found ? found.error : null;
    this.moved('answer' in found ? found.answer : null, true);
  }

  /** Ends of two coordinates between which the robot reaches, with air around; of each alone in a page without the library. */
  plane(a: Coordinate, b: Coordinate): [[number, number], [number, number]] {
    const found = this.library?.ask({ ask: 'extent', of: [a.name, b.name] });
    const alone = ({ reach: [low, high] }: Coordinate): [number, number] => {
      const air = 0.6 * (high - low) || 0.1;
      return [low - air, high + air];
    };
    // As many digits as one would type.
    const short = ([low, high]: [number, number]): [number, number] => [Number(low.toPrecision(4)), Number(high.toPrecision(4))];
    const [one, other] = found && 'answer' in found ? found.answer : [alone(a), alone(b)];
    return [short(one), short(other)];
  }

  /** Move the motors; the platform follows. */
  drive(motors: number[]): void {
    if (!this.library) return;
    this.refusal = this.library.drive(motors);
    const stood = this.read();
    if (stood) this.wanted = [...stood.coordinates];
    this.moved(this.refusal === null ? stood : null, true);
  }

  /** A posture that the command line put into the page. */
  fixed(k: number): void {
    const posture = this.given.postures?.[k];
    if (!posture) return;
    this.standing = posture.standing;
    this.at = [...posture.at];
    this.wanted = [...posture.at];
    this.frames = Float64Array.from(posture.frames);
    this.stage?.pose(this.frames);
    this.stage?.aim(posture.standing.pose.p, posture.standing.pose.R);
    this.changed();
  }

  private read(): Stood | null {
    const found = this.library?.ask({ ask: 'standing' });
    if (!found || 'error' in found) return null;
    this.standing = found.answer;
    return found.answer;
  }

  private moved(stood: Stood | null, aim = false): void {
    if (stood) {
      this.at = stood.coordinates;
      this.standing = stood;
      this.keepFrames();
      this.stage?.pose(this.frames);
      if (aim && this.standing) this.stage?.aim(this.standing.pose.p, this.standing.pose.R);
    }
    this.changed();
  }

  private keepFrames(): void {
    const now = this.library?.frames();
    if (!now) return;
    if (now.length !== this.frames.length) this.frames = new Float64Array(now.length);
    this.frames.set(now);
  }

  /** Frames of the posture. */
  get posture(): Float64Array {
    return this.frames;
  }

  private changed(): void {
    this.tellRefusal();
    this.panels.forEach((p) => { if (isOpen(p)) p.refresh?.(); });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.panels.forEach((p) => { if (isOpen(p)) p.settle?.(); }), SETTLED_MS) as unknown as number;
  }

  private tellRefusal(): void {
    const told = part('told');
    const r = this.refusal;
    told.classList.toggle('bad', r !== null);
    told.textContent = r ? r.message : '';
    this.stage?.blame(r && this.portrait ? legOf(this.portrait, r) : null);
    this.stage?.showGhost(r && this.portrait ? poseOf(this.portrait, this.wanted, this.standing) : null);
  }

  /** Say something that is no refusal. */
  say(text: string): void {
    const told = part('told');
    told.classList.remove('bad');
    told.textContent = text;
  }

  /** Coordinates of a pose. */
  coordinatesOf(pose: Pose): number[] {
    return (this.portrait?.coordinates ?? []).map((c) => coordinate(c.name, pose));
  }
}

/** The leg that a refusal is about: named, or that of the joint that would leave its range. */
function legOf(portrait: Portrait, r: Refused): number | null {
  const named = portrait.scene.legs.indexOf(r.leg ?? '');
  if (named >= 0) return named;
  const joint = [...portrait.active, ...portrait.passive].find((j) => j.name === r.joint);
  return joint ? portrait.scene.nodes[joint.node]?.leg ?? null : null;
}

function isOpen(p: Panel): boolean {
  return !(p.element instanceof HTMLDetailsElement) || p.element.open;
}

function sameCoordinates(a: Portrait, b: Portrait): boolean {
  const names = (p: Portrait): string => p.coordinates.map((c) => c.name).join();
  return a.robot === b.robot && names(a) === names(b);
}

/** `Rz(yaw) Ry(pitch) Rx(roll)` taken apart. */
function coordinate(name: string, { p, R }: Pose): number {
  switch (name) {
    case 'x': return p[0];
    case 'y': return p[1];
    case 'z': return p[2];
    case 'roll': return Math.atan2(R[2][1], R[2][2]);
    case 'pitch': return Math.asin(Math.max(-1, Math.min(1, -R[2][0])));
    default: return Math.atan2(R[1][0], R[0][0]);
  }
}

/** The pose with these coordinates; those that the platform has not are as it stands. */
export function poseOf(portrait: Portrait, at: number[], standing: Standing | null): { p: Vec3; R: [Vec3, Vec3, Vec3] } {
  const value = (name: string, other: number): number => {
    const k = portrait.coordinates.findIndex((c) => c.name === name);
    return k < 0 ? other : at[k] ?? other;
  };
  const own = (name: string): number => (standing ? coordinate(name, standing.pose) : 0);
  const p: Vec3 = [value('x', own('x')), value('y', own('y')), value('z', own('z'))];
  const [a, b] = [value('roll', own('roll')), value('pitch', own('pitch'))];
  const c = value('yaw', value('phi', own('yaw')));
  const [ca, sa, cb, sb, cc, sc] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b), Math.cos(c), Math.sin(c)];
  return { p, R: [
    [cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa],
    [sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa],
    [-sb, cb * sa, cb * ca],
  ] };
}
