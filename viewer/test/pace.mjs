// How fast the page is: `node test/pace.mjs GOUGH FOLDER [ROBOT ..]`; pages go to FOLDER. For every robot, 1200 x 800, drawn in
// software, all read-outs open: size, from opening to the first picture, from input to the finished frame over 100 moves, the time
// of the processor that a move takes on the page's own thread (which does not count what else the machine does), the longest
// stretch on that thread, and what a mode and a motion allocate per picture. A measurement, no test. Pictures are not held back to
// sixty per second, and a frame has ended when a pixel of it can be read.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { givenIn, launched, program, shipped } from './chromium.mjs';

const [gough, folder, ...chosen] = process.argv.slice(2);
const READ_OUTS = ['Pose', 'Joints', 'Singularities', 'Efforts at rest', 'Vibration', 'Motors', 'Modes', 'Body'];
/** A picture of sixty per second. */
const PICTURES = 180;

mkdirSync(folder, { recursive: true });
const call = program(gough);
const browser = await launched('--enable-precise-memory-info', '--js-flags=--expose-gc', '--disable-frame-rate-limit', '--disable-gpu-vsync');

/** Watch for stretches of the page's own thread that are longer than 50 ms. */
function watch() {
  globalThis.stretches = [];
  new PerformanceObserver((list) => list.getEntries().forEach((e) => globalThis.stretches.push(e.duration))).observe({ type: 'longtask' });
}

/** A hundred moves; whether a pixel is read after each, which waits for the frame. */
async function moves(reads) {
  const bar = document.querySelector('.row input[type=range]');
  const [low, high, from] = [Number(bar.min), Number(bar.max), Number(bar.value)];
  const [solved, whole] = [[], []];
  const [gl, pixel] = [document.getElementById('stage').getContext('webgl2'), new Uint8Array(4)];
  const drawn = (done) => {
    if (reads) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    const channel = new MessageChannel();
    channel.port1.onmessage = done;
    channel.port2.postMessage(0);
  };
  for (let k = 0; k < 100; k++) {
    await new Promise((done) => setTimeout(done, 5));
    bar.value = String(from + 0.1 * (high - low) * Math.sin(0.2 * k));
    const t = performance.now();
    bar.dispatchEvent(new Event('input'));
    solved.push(performance.now() - t);
    await new Promise((done) => requestAnimationFrame(() => drawn(done)));
    whole.push(performance.now() - t);
  }
  const told = (list) => { list.sort((a, b) => a - b); return [list[50], list[99]]; };
  return { solved: told(solved), whole: told(whole) };
}

/** Bytes per picture while something moves by itself. */
async function allocated(pictures) {
  const next = () => new Promise((done) => requestAnimationFrame(done));
  for (let k = 0; k < 30; k++) await next();
  globalThis.gc();
  const before = performance.memory.usedJSHeapSize;
  for (let k = 0; k < pictures; k++) await next();
  return Math.round((performance.memory.usedJSHeapSize - before) / pictures);
}

/** Seconds of the processor that the page's own thread has taken. */
async function busy(page) {
  page.asked ??= await page.context().newCDPSession(page).then(async (asked) => { await asked.send('Performance.enable', { timeDomain: 'threadTicks' }); return asked; });
  const { metrics } = await page.asked.send('Performance.getMetrics');
  return metrics.find((m) => m.name === 'TaskDuration').value;
}

const names = chosen.length ? chosen : shipped(call);
const COLUMNS = ['size', 'packed', 'ready', 'solved', 'thread', 'whole', 'largest', 'longest', 'mode', 'motion'];
const line = (name, cells) => console.log(name.padEnd(24) + cells.map((c) => String(c).padStart(9)).join(''));
line('robot', COLUMNS);
for (const name of names) {
  const path = join(folder, `${name}-pace.html`);
  call('view', name, '-o', path, '--no-open');
  const html = readFileSync(path);
  const [size, packed] = [html.length, gzipSync(html, { level: 9 }).length];
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  await page.addInitScript(watch);
  const began = Date.now();
  await page.goto(`file://${resolve(path)}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes', null, { timeout: 60_000 });
  const ready = Date.now() - began;
  await page.evaluate((open) => {
    document.querySelectorAll('details').forEach((d) => { d.open = open.includes(d.querySelector('summary').textContent); });
    const body = document.querySelector('select[aria-label=body]');
    body.selectedIndex = 1;
    body.dispatchEvent(new Event('change'));
  }, READ_OUTS);
  await page.waitForTimeout(600);
  const times = await page.evaluate(moves, true);
  await page.evaluate(() => { globalThis.stretches.length = 0; });
  const before = await busy(page);
  await page.evaluate(moves, false);
  const thread = (1000 * (await busy(page) - before)) / 100;
  await page.waitForTimeout(400);
  let [mode, motion] = ['-', '-'];
  if (await page.locator('summary', { hasText: 'Vibration' }).isVisible()) {
    await page.getByRole('button', { name: 'animate mode 1', exact: true }).click();
    mode = String(await page.evaluate(allocated, PICTURES));
    await page.getByRole('button', { name: 'animate mode 1', exact: true }).click();
  }
  const longest = await page.evaluate(() => Math.max(0, ...globalThis.stretches));
  await page.close();
  // A motion of six seconds along the first coordinate.
  const coordinates = givenIn(path).portrait.coordinates;
  const table = join(folder, `${name}-pace.csv`);
  const row = (k) => [k / 100, ...coordinates.map((c, i) => c.home + (i === 0 ? 0.05 * (c.reach[1] - c.reach[0]) * Math.sin(0.01 * k) ** 2 : 0))].join();
  writeFileSync(table, [['t', ...coordinates.map((c) => c.name)].join(), ...Array.from({ length: 601 }, (_, k) => row(k))].join('\n'));
  try {
    call('view', name, '--trajectory', table, '-o', path, '--no-open');
    const moving = await browser.newPage({ viewport: { width: 1200, height: 800 } });
    await moving.goto(`file://${resolve(path)}`);
    await moving.waitForFunction(() => document.documentElement.dataset.ready === 'yes', null, { timeout: 60_000 });
    await moving.waitForTimeout(1500);
    await moving.getByRole('button', { name: 'Play', exact: true }).click();
    motion = String(await moving.evaluate(allocated, PICTURES));
    await moving.close();
  } catch (e) {
    motion = e.message.split('\n')[0].slice(0, 60);
  }
  const ms = (x) => x.toFixed(1);
  line(name, [ms(size / 1e6), (packed / 1e6).toFixed(3), ready, ms(times.solved[0]), ms(thread), ms(times.whole[0]), ms(times.whole[1]), Math.round(longest), mode, motion]);
}
await browser.close();
console.log('size, packed: MB; ready, solved and whole (medians), thread, largest, longest stretch above 50 (0: none): ms; mode, motion: bytes per picture');
