// A quantity over two coordinates: computed line by line beside the page, so that it goes on and what is done stays when it is stopped.

import { viridis } from './colours';
import type { Aside, Question } from './library';
import type { Coordinate, MapAnswer, Refused, Source, Vec3 } from './types';

export interface Axis { name: string; index: number; low: number; high: number }
export interface Field {
  quantity: string;
  unit: string;
  axes: [Axis, Axis];
  /** How many across and how many upwards. */
  nodes: [number, number];
  /** The first coordinate runs fastest. */
  values: (number | null)[];
  range: [number, number];
}

function rangeOf(values: readonly (number | null)[]): [number, number] {
  const finite = values.filter((v): v is number => v !== null && Number.isFinite(v));
  return finite.length ? [finite.reduce((a, b) => Math.min(a, b)), finite.reduce((a, b) => Math.max(a, b))] : [0, 0];
}

/** The field of a map that the command line put into the page; null where its coordinates are not those of the robot. */
export function fieldOf(given: MapAnswer, coordinates: readonly Coordinate[]): Field | null {
  const axes = given.axes.map(({ name, values }): Axis => {
    const index = coordinates.findIndex((c) => c.name === name);
    return { name, index, low: values[0] ?? 0, high: values[values.length - 1] ?? 0 };
  });
  const [a, b] = axes;
  if (!a || !b || a.index < 0 || b.index < 0) return null;
  const nodes: [number, number] = [given.axes[0]?.values.length ?? 0, given.axes[1]?.values.length ?? 0];
  const values: (number | null)[] = [];
  for (let j = 0; j < nodes[1]; j++) for (let i = 0; i < nodes[0]; i++) values.push(numberIn(given.values[i], j));
  return { quantity: given.quantity, unit: given.unit, axes: [a, b], nodes, values, range: rangeOf(values) };
}

/** An entry of a list of values. */
function numberIn(list: unknown, k: number): number | null {
  const value: unknown = Array.isArray(list) ? list[k] : null;
  return typeof value === 'number' ? value : null;
}

/** Ask line by line; `more` is told the share that is done. Lines that were not asked when it was stopped have no values. */
export async function mapped(
  helper: Aside, source: Source, quantity: string, axes: [Axis, Axis], nodes: number, at: readonly number[], mode: string, more: (share: number) => void,
): Promise<{ field: Field; complete: boolean } | Refused> {
  const questions = Array.from({ length: nodes }, (_, j): Question<'map'> => {
    const pose = [...at];
    pose[axes[1].index] = axes[1].low + ((axes[1].high - axes[1].low) * j) / (nodes - 1);
    return { ask: 'map', quantity, at: pose, mode, over: [[axes[0].name, axes[0].low, axes[0].high, nodes]] };
  });
  const values: (number | null)[] = [];
  let [unit, refused]: [string, Refused | null] = ['', null];
  const complete = await helper.each(source, questions, (found) => {
    if ('error' in found) {
      refused ??= found.error;
      helper.stop();
      return;
    }
    for (let i = 0; i < nodes; i++) values.push(numberIn(found.answer.values, i));
    unit = found.answer.unit;
  }, more);
  if (refused) return refused;
  while (values.length < nodes * nodes) values.push(null);
  return { field: { quantity, unit, axes, nodes: [nodes, nodes], values, range: rangeOf(values) }, complete };
}

/** Corners of a picture whose pixels are nodes of a plane: half a pixel of it lies outside. */
export function planeCorners(a: { low: number; high: number; count: number }, b: { low: number; high: number; count: number }, at: (u: number, v: number) => Vec3): [Vec3, Vec3, Vec3] {
  const half = (s: { low: number; high: number; count: number }): number => (s.high - s.low) / Math.max(1, s.count - 1) / 2;
  const [u, v] = [half(a), half(b)];
  return [at(a.low - u, b.low - v), at(a.high + u, b.low - v), at(a.low - u, b.high + v)];
}

/** Paint a field, one pixel per node, the second coordinate upwards. */
export function paint(field: Field, canvas: HTMLCanvasElement): void {
  const [n, m] = field.nodes;
  canvas.width = n;
  canvas.height = m;
  const pen = canvas.getContext('2d');
  if (!pen) return;
  const image = pen.createImageData(n, m);
  const [low, high] = field.range;
  field.values.forEach((v, k) => {
    const [i, j] = [k % n, Math.floor(k / n)];
    const o = 4 * ((m - 1 - j) * n + i);
    if (v === null) return;
    const [r, g, b] = viridis(high > low ? (v - low) / (high - low) : 0.5);
    image.data.set([r, g, b, 255], o);
  });
  pen.putImageData(image, 0, 0);
}

/** Coordinates and value at a share of the picture, from its left and from its top. */
export function under(field: Field, x: number, y: number): { at: [number, number]; value: number | null } {
  const [n, m] = field.nodes;
  const [i, j] = [Math.min(n - 1, Math.floor(x * n)), Math.min(m - 1, Math.floor((1 - y) * m))];
  const along = (axis: Axis, k: number, count: number): number => axis.low + ((axis.high - axis.low) * k) / Math.max(1, count - 1);
  return { at: [along(field.axes[0], i, n), along(field.axes[1], j, m)], value: field.values[j * n + i] ?? null };
}

/** The node with the lowest value. */
export function lowest(field: Field): { at: [number, number]; value: number } | null {
  let best = -1;
  field.values.forEach((v, k) => { if (v !== null && (best < 0 || v < (field.values[best] ?? Infinity))) best = k; });
  if (best < 0) return null;
  const [n, m] = field.nodes;
  const found = under(field, (best % n + 0.5) / n, 1 - (Math.floor(best / n) + 0.5) / m);
  return { at: found.at, value: found.value ?? NaN };
}
