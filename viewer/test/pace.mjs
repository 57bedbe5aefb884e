// How long the page takes from input to picture: `node test/pace.mjs PAGE.html ..`, median and largest of 100 moves of the first
// slider, all read-outs open, 1200 x 800, drawn in software. A measurement, no test.

import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { chromium } from 'playwright-core';

const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].find((p) => p && existsSync(p));
const browser = await chromium.launch({ executablePath, args: ['--headless=new', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] });
for (const path of process.argv.slice(2)) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  const began = Date.now();
  await page.goto(`file://${resolve(path)}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes', null, { timeout: 60_000 });
  const ready = Date.now() - began;
  const times = await page.evaluate(async () => {
    document.querySelectorAll('details').forEach((d) => { d.open = ['Pose', 'Joints', 'Singularities', 'Efforts at rest', 'Vibration', 'Motors', 'Modes'].includes(d.querySelector('summary').textContent); });
    const bar = document.querySelector('.row input[type=range]');
    const [low, high] = [Number(bar.min), Number(bar.max)];
    const [solved, whole] = [[], []];
    const from = Number(bar.value);
    for (let k = 0; k < 100; k++) {
      await new Promise((done) => setTimeout(done, 5));
      bar.value = String(from + 0.1 * (high - low) * Math.sin(0.2 * k));
      const t = performance.now();
      bar.dispatchEvent(new Event('input'));
      solved.push(performance.now() - t);
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      whole.push(performance.now() - t);
    }
    const told = (list) => { list.sort((a, b) => a - b); return [list[50], list[99]]; };
    return { solved: told(solved), whole: told(whole) };
  });
  const ms = (list) => list.map((x) => x.toFixed(1)).join(' / ');
  console.log(`${basename(path)}: ready ${ready} ms; solve and read-outs ${ms(times.solved)} ms; to the end of the frame ${ms(times.whole)} ms (median / largest)`);
  await page.close();
}
await browser.close();
