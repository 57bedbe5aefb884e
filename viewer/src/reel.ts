// Frames of a motion in one flat array, so that a picture of it asks nothing and makes nothing.

import type { App } from './app';
import type { Film, Vec3 } from './types';

/** Longest stretch of work between two pictures. */
const SLICE_MS = 8;
/** Instants that are asked for at once. */
const AT_ONCE = 16;

export class Reel {
  /** Frames of the instants that are known, one after the other. */
  readonly frames: Float32Array;
  /** Where the platform is at every instant. */
  readonly places: Float64Array;
  private readonly step: number;
  private readonly known: Uint8Array;
  private readonly refusals = new Map<number, string>();
  private from = 0;
  private readonly most: number;
  private readonly portrait: App['portrait'];

  constructor(private readonly app: App, private readonly film: Film, places: readonly Vec3[]) {
    this.step = app.posture.length;
    this.portrait = app.portrait;
    this.most = film.t.length;
    this.frames = new Float32Array(this.most * this.step);
    this.places = Float64Array.from(places.flat());
    this.known = new Uint8Array(this.most);
    (film.frames ?? []).forEach((frames, k) => this.put(frames, 0, k));
    if (app.library) this.goOn();
  }

  private put(frames: ArrayLike<number>, first: number, k: number): void {
    for (let i = 0; i < this.step; i++) this.frames[k * this.step + i] = frames[first + i] ?? 0;
    this.known[k] = 1;
  }

  /** Fill what is left between the pictures of the page. */
  private goOn(): void {
    if (this.app.portrait !== this.portrait) return;
    const until = performance.now() + SLICE_MS;
    while (this.from < this.most && performance.now() < until) this.next();
    if (this.from < this.most) setTimeout(() => this.goOn());
  }

  /** Fill everything now. */
  fill(): void {
    while (this.app.library && this.from < this.most) this.next();
  }

  /** The next instants. */
  private next(): void {
    this.from += this.ask(this.from, AT_ONCE);
  }

  /** Ask for so many instants; how many are known now. One that is not reached is known not to be. */
  private ask(from: number, count: number): number {
    const library = this.app.library;
    if (!library || this.app.portrait !== this.portrait) return count;
    const at = this.film.at.slice(from, from + count);
    const found = library.filmed(at, this.film.working_mode);
    const many = found.length / this.step;
    for (let k = 0; k < many; k++) this.put(found, k * this.step, from + k);
    if (many === at.length) return count;
    const refused = library.ask({ ask: 'kinematics', at: at[many] ?? [], mode: this.film.working_mode });
    this.refusals.set(from + many, 'error' in refused ? refused.error.message : 'no answer there');
    return many + 1;
  }

  /** Whether there is a posture at an instant; asked for where it is not known yet. */
  has(k: number): boolean {
    if (this.known[k] === 0 && !this.refusals.has(k)) this.ask(k, 1);
    return this.known[k] === 1;
  }

  /** Where the frames of an instant begin. */
  start(k: number): number {
    return k * this.step;
  }

  postureOf(k: number): Float32Array {
    return this.frames.subarray(k * this.step, (k + 1) * this.step);
  }

  /** Why the robot has no posture at an instant. */
  why(k: number): string | null {
    return this.refusals.get(k) ?? null;
  }
}
