// Curves over time in a panel: one line per drive, limits dashed, a mark at the present instant.

import { LEGS } from './colours';
import { h, shown } from './dom';

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT] = [360, 110];

function element(tag: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

export const colourOf = (k: number): string => `#${(LEGS[k % LEGS.length] ?? 0).toString(16).padStart(6, '0')}`;

export interface Chart { element: HTMLElement; at: (k: number) => void }

/** A chart of `rows[instant][drive]`; `limits` of drives count in both directions. */
export function chart(title: string, t: readonly number[], rows: readonly number[][], names: readonly string[], limits: readonly (number | null)[]): Chart {
  const values = rows.flat().filter(Number.isFinite);
  let [low, high] = values.reduce<[number, number]>(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [0, 0]);
  // Limits that the curves come near to are in the picture.
  const near = limits.filter((x): x is number => x !== null && x < 3 * Math.max(Math.abs(low), Math.abs(high)));
  [low, high] = [Math.min(low, ...near.map((x) => -x)), Math.max(high, ...near)];
  if (high === low) [low, high] = [low - 1, high + 1];
  const [first, last] = [t[0] ?? 0, t[t.length - 1] ?? 1];
  const x = (time: number): number => ((time - first) / Math.max(last - first, 1e-12)) * WIDTH;
  const y = (v: number): number => HEIGHT - ((v - low) / (high - low)) * HEIGHT;
  const picture = element('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'chart', preserveAspectRatio: 'none', role: 'img' });
  picture.setAttribute('aria-label', `${title}, ${shown(low, 4)} to ${shown(high, 4)}`);
  picture.append(element('line', { x1: 0, x2: WIDTH, y1: y(0), y2: y(0), class: 'zero' }));
  // One point per half pixel is all that is seen.
  const every = Math.max(1, Math.floor(t.length / (2 * WIDTH)));
  names.forEach((_, k) => {
    const points: string[] = [];
    for (let i = 0; i < t.length; i += every) points.push(`${x(t[i] ?? 0).toFixed(1)},${y(rows[i]?.[k] ?? 0).toFixed(1)}`);
    picture.append(element('polyline', { points: points.join(' '), stroke: colourOf(k), class: 'curve' }));
    const limit = limits[k];
    if (limit !== null && limit !== undefined && near.includes(limit)) {
      for (const v of [limit, -limit]) picture.append(element('line', { x1: 0, x2: WIDTH, y1: y(v), y2: y(v), stroke: colourOf(k), class: 'bound' }));
    }
  });
  const now = element('line', { x1: 0, x2: 0, y1: 0, y2: HEIGHT, class: 'now' });
  picture.append(now);
  const key = h('p', { class: 'note' }, `${title}: ${shown(low, 4)} to ${shown(high, 4)}; `, ...names.map((n, k) => {
    const word = h('span', {}, `${n} `);
    word.style.color = colourOf(k);
    return word;
  }));
  const box = h('div', {}, key);
  box.append(picture);
  return {
    element: box,
    at: (k) => {
      const place = x(t[k] ?? 0).toFixed(1);
      now.setAttribute('x1', place);
      now.setAttribute('x2', place);
    },
  };
}
