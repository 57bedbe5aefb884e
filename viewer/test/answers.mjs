// The module answers as the library does: `node test/answers.mjs MODULE.wasm NATIVE`, where NATIVE is a program that reads
// questions and writes answers (`cargo build -p gough-wasm --example answers`).

import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [wasm, native] = process.argv.slice(2);
const robots = join(dirname(fileURLToPath(import.meta.url)), '../../robots');
const names = readdirSync(robots).filter((n) => !n.includes('.')).sort();
const TOLERANCE = 1e-12;
/** Eigenvalues are known to the rounding of the largest, which is a million times the first. */
const OF_FREQUENCIES = 1e-9;
/** What rounding decides: residuals; directions that have no sign, or any mixture of two; shares of modes that have equals. */
const LEFT_OUT = new Set(['residual', 'twist', 'wrench', 'joints', 'modes', 'null_space', 'lines']);

/** Coordinates of a pose given as matrices or by name. */
function coordinate(name, pose) {
  if (name in pose) return pose[name];
  const { p, R } = pose;
  switch (name) {
    case 'x': return p?.[0];
    case 'y': return p?.[1];
    case 'z': return p?.[2];
    case 'roll': return R && Math.atan2(R[2][1], R[2][2]);
    case 'pitch': return R && Math.asin(-R[2][0]);
    default: return R && Math.atan2(R[1][0], R[0][0]);
  }
}

/** Questions about a robot: at its published states, at home, and at poses inside its reach. */
function questions(name, portrait) {
  const data = JSON.parse(readFileSync(join(robots, name, 'reference.json'), 'utf8'));
  const published = [...(data.states ?? []), ...(data.poses ?? [])].filter((s) => s.pose);
  const at = published.map((s) => portrait.coordinates.map((c) => coordinate(c.name, s.pose)));
  const home = portrait.coordinates.map((c) => c.home);
  at.push(home);
  for (let k = 1; k <= 4; k++) {
    at.push(portrait.coordinates.map((c, i) => c.home + 0.35 * Math.sin(1.7 * k + 2.3 * i) * (Math.sin(1.7 * k + 2.3 * i) > 0 ? c.reach[1] - c.home : c.home - c.reach[0])));
  }
  const list = [];
  for (const pose of at.filter((p) => p.every(Number.isFinite))) {
    list.push({ ask: 'place', at: pose }, { ask: 'modes' }, { ask: 'singularities' }, { ask: 'idm' });
    list.push({ ask: 'idm', wrench: [3, -2, 1, 0, 0, 0] });
    if (portrait.flexible) list.push({ ask: 'frequencies', count: 5 });
  }
  const [a] = portrait.coordinates;
  list.push({ ask: 'map', quantity: 'conditioning', over: [[a.name, a.reach[0], a.reach[1], 9]] });
  return list;
}

function library(bytes) {
  const to = new WebAssembly.Instance(new WebAssembly.Module(bytes), { page: { progress: () => undefined } }).exports;
  const call = (text, act) => {
    const data = new TextEncoder().encode(text);
    const at = to.gough_text(data.length);
    new Uint8Array(to.memory.buffer, at, data.length).set(data);
    const length = act();
    return JSON.parse(new TextDecoder().decode(new Uint8Array(to.memory.buffer, to.gough_answer(), length)));
  };
  return { load: (text) => call(text, to.gough_load), ask: (text) => call(text, to.gough_ask) };
}

/** Kinds that are equally near stand in any order: by kind and leg. */
function byName(list) {
  const name = (s) => `${s.kind} ${s.leg}`;
  return [...list].sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

let compared = 0;
let worst = 0;
let undecided = 0;

/** Numbers are compared with the largest beside them: a component that is zero but for rounding has no digits of its own. */
function compare(a, b, where, scale = 0) {
  if (typeof a === 'number' && typeof b === 'number') {
    compared++;
    const off = Math.abs(a - b) / Math.max(1, scale, Math.abs(b));
    const frequency = where.includes('frequencies_hz');
    if (!frequency) worst = Math.max(worst, off);
    if (off > (frequency ? OF_FREQUENCIES : TOLERANCE)) throw new Error(`${where}: ${a} in the module, ${b} in the library`);
  } else if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) throw new Error(`${where}: ${a.length} and ${b.length} entries`);
    [a, b] = [a, b].map((list) => (where.endsWith('.singularities') ? byName(list) : list));
    const largest = Math.max(scale, ...b.filter((x) => typeof x === 'number').map(Math.abs));
    a.forEach((x, i) => compare(x, b[i], `${where}[${i}]`, largest));
  } else if (a && b && typeof a === 'object' && typeof b === 'object') {
    const keys = Object.keys(b);
    if (keys.join() !== Object.keys(a).join()) throw new Error(`${where}: ${Object.keys(a)} and ${keys}`);
    keys.filter((k) => !LEFT_OUT.has(k) || where.endsWith('robot')).forEach((k) => compare(a[k], b[k], `${where}.${k}`));
  } else if (where.endsWith('.distance') && (a === null || b === null) && a !== b) {
    undecided++; // a singular value that comes twice has no slope: rounding says which of the two is followed
  } else if (a !== b) throw new Error(`${where}: ${JSON.stringify(a)} and ${JSON.stringify(b)}`);
}

let failed = 0;
for (const name of names) {
  const inside = library(readFileSync(wasm));
  const loaded = inside.load(JSON.stringify({ name }));
  if (loaded.error) { console.log(`${name}: ${loaded.error.message}`); failed++; continue; }
  const list = questions(name, loaded.answer);
  const lines = [JSON.stringify({ name }), ...list.map((q) => JSON.stringify(q))];
  const done = spawnSync(native, { input: `${lines.join('\n')}\n`, maxBuffer: 1 << 28, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${native}: ${done.stderr}`);
  const expected = done.stdout.trimEnd().split('\n').map((l) => JSON.parse(l));
  let bad = 0;
  list.forEach((q, i) => {
    try {
      compare(inside.ask(JSON.stringify(q)), expected[i + 1], `${name} ${i} ${q.ask}`);
    } catch (e) {
      if (bad++ < 4) console.log(e.message);
    }
  });
  failed += bad;
  console.log(`${name}: ${list.length} questions, ${bad} differ`);
}
console.log(`${compared} numbers compared, largest difference ${worst.toExponential(1)}; ${undecided} distances of double singular values undecided`);
if (undecided > 2) failed++;
process.exit(failed ? 1 : 0);
