// The page in a browser: `node test/page.mjs GOUGH FOLDER [ROBOT ..]`, where GOUGH is the program, and pictures go to FOLDER. The
// browser is the one that CHROMIUM names, or Chromium or Chrome where systems keep them.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { download, launched, must, open, opened as openedIn, panel, program, rows, shipped } from './chromium.mjs';
import { features } from './features.mjs';
import { kept } from './pictures.mjs';
import { troubles } from './troubles.mjs';

const [gough, folder, ...chosen] = process.argv.slice(2);
/** Where the page is built, beside the folder of the program. */
const built = join(dirname(dirname(resolve(gough))), 'viewer');
const browser = await launched();
mkdirSync(folder, { recursive: true });
const call = program(gough);
const opened = (path, options) => openedIn(browser, path, options);
const names = chosen.length ? chosen : shipped(call);
let failed = 0;

/** Read-outs are what the command line answers, to the digits shown. */
async function readOuts(page, name, pose) {
  const found = JSON.parse(call('kinematics', name, `--pose=${pose}`, '--json'));
  const q = (found.working_modes ? found.working_modes[0] : found).active.q;
  const shown = await rows(page, 'Joints');
  q.forEach((x, k) => {
    const text = shown[k][1];
    const value = parseFloat(text) * (text.includes('°') ? Math.PI / 180 : 1);
    must(Math.abs(value - x) <= 1e-5 * Math.max(1e-3, Math.abs(x)), `${shown[k][0]} shows ${text}, the command line says ${x}`);
  });
}

async function tour(name) {
  const path = join(folder, `${name}.html`);
  call('view', name, '-o', path, '--no-open');
  const { page, said, ready } = await opened(path);
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await kept(page, name, folder);
  must(await page.textContent('#title') === name, 'the title is not the name');
  const portrait = JSON.parse(await page.evaluate(() => document.getElementById('given').textContent)).portrait;

  // Names lie beside each other, in windows of two sizes.
  await page.getByRole('button', { name: 'Names', exact: true }).click();
  for (const size of [{ width: 700, height: 520 }, { width: 1200, height: 800 }]) {
    await page.setViewportSize(size);
    await page.waitForTimeout(150);
    const over = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll('#names span:not([hidden])')].map((s) => s.getBoundingClientRect());
      const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      return { shown: boxes.length, meet: boxes.some((a, i) => boxes.slice(i + 1).some((b) => meet(a, b))) };
    });
    must(over.shown > 0 && !over.meet, `names lie over each other in a window of ${size.width}`);
  }
  await page.getByRole('button', { name: 'Names', exact: true }).click();

  // A number with a unit, then the same pose on the command line.
  const c = portrait.coordinates[0];
  const x = c.home + 0.2 * (c.reach[1] - c.home);
  const field = page.locator('.row input[type=text]').first();
  await field.fill(c.angle ? `${x} rad` : `${1000 * x} mm`);
  await field.press('Enter');
  must(await page.textContent('#told') === '', `a pose inside the reach is refused: ${await page.textContent('#told')}`);
  await readOuts(page, name, portrait.coordinates.map((d, k) => `${d.name}=${k === 0 ? (c.angle ? x : (1000 * x) / 1000) : d.home}`).join());
  await field.fill('3 kg');
  await field.press('Enter');
  must(await field.evaluate((f) => f.classList.contains('bad')), 'a mass is taken for a coordinate');

  // Keys move the platform.
  await page.locator('#stage').focus();
  const before = await rows(page, 'Joints');
  await page.keyboard.press('ArrowRight');
  must(JSON.stringify(before) !== JSON.stringify(await rows(page, 'Joints')), 'the arrow key moves nothing');

  // Working modes: take the last one and come back.
  await page.waitForTimeout(300);
  const modes = panel(page, 'Modes').locator('.modes').first().locator('button');
  const n = await modes.count();
  must(n > 0, 'no working mode is listed');
  if (n > 1) {
    const wanted = await modes.nth(n - 1).textContent();
    await modes.nth(n - 1).click();
    must((await rows(page, 'Joints')).some((r) => r[0] === 'working mode' && r[1] === wanted), `mode ${wanted} is not taken`);
  }
  await page.getByRole('button', { name: 'Home', exact: true }).click();

  // A pose far away is refused in words, and the robot stays.
  await field.fill(c.angle ? '0' : '100 m');
  await field.press('Enter');
  if (!c.angle) {
    must((await page.textContent('#told')).length > 10, 'a pose out of reach is not refused');
    must(await page.evaluate(() => document.getElementById('told').classList.contains('bad')), 'a refusal is not marked');
  }
  await page.getByRole('button', { name: 'Home', exact: true }).click();
  must(await page.textContent('#told') === '', 'the refusal stays');

  // Take it along.
  const png = await download(page, 'PNG', join(folder, `${name}-export.png`));
  must(png.subarray(1, 4).toString() === 'PNG' && png.length > 5000, 'the picture is none');
  const svg = (await download(page, 'SVG', join(folder, `${name}-export.svg`))).toString();
  const strokes = (svg.match(/<line /g) ?? []).length;
  must(strokes >= portrait.scene.pieces.length && !/NaN|Infinity/.test(svg), `the drawing has ${strokes} lines for ${portrait.scene.pieces.length} pieces`);
  const gltf = JSON.parse(await download(page, 'glTF', join(folder, `${name}.gltf`)));
  must(gltf.asset?.version === '2.0' && gltf.meshes.length > 3, 'the glTF is none');

  if (portrait.flexible) {
    await open(page, 'Vibration');
    await page.getByRole('button', { name: 'animate mode 1', exact: true }).click({ timeout: 8000 });
    await page.waitForTimeout(400);
    await page.screenshot({ path: join(folder, `${name}-mode.png`) });
    must((await panel(page, 'Vibration').textContent()).includes('largest swing'), 'the mode does not say how large it is drawn');
    await page.getByRole('button', { name: 'animate mode 1', exact: true }).click();
  }
  if (portrait.coordinates.length > 1) {
    await open(page, 'Map');
    await page.getByRole('button', { name: 'Compute', exact: true }).click();
    await panel(page, 'Map').getByText('click to go there').waitFor({ timeout: 30_000 });
    await page.screenshot({ path: join(folder, `${name}-map.png`) });
  }
  must(said.length === 0, `the console says: ${said.join('; ')}`);
  await page.context().close();
  return ready;
}

/** Names with markup, and a file that is edited until it has faults. */
async function hostile() {
  const name = '<img src=x onerror=alert(1)>';
  const path = join(folder, 'hostile.toml');
  const text = call('robots', '--json') && readFileSync(new URL('../../robots/five-bar/robot.toml', import.meta.url), 'utf8');
  writeFileSync(path, text.replace(/summary = ".*"/, `summary = "${name}</script><script>alert(2)</script>"`));
  const html = join(folder, 'hostile.html');
  call('view', path, '-o', html, '--no-open');
  const { page, said } = await opened(html);
  must((await page.textContent('#summary')).includes(name), 'the summary is not shown as it is');
  must(await page.locator('img').count() === 0, 'a name became an element');
  await open(page, 'File');
  const area = page.locator('textarea');
  await area.fill((await area.inputValue()).replace('[platform]', '[plattform]\nx = "<b>"'));
  await page.waitForFunction(() => document.querySelectorAll('.faults li').length > 0, null, { timeout: 3000 });
  must(await page.locator('.editor mark').count() > 0, 'faults are not marked in the text');
  must(said.length === 0, `the console says: ${said.join('; ')}`);
  await page.screenshot({ path: join(folder, 'faults.png') });
  await page.context().close();
}

/** A page without the library shows what the command line put into it. */
async function bare() {
  const path = join(folder, 'bare.html');
  call('view', 'delta', '--pose=x=0.05', '-o', path, '--no-open');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/(id="module">)[^<]*/, '$1'));
  const { page, said } = await opened(path);
  must((await page.textContent('#notice')).includes('not in this page'), 'a page without the library does not say so');
  const before = await rows(page, 'Joints');
  await page.getByRole('button', { name: 'home', exact: true }).click();
  must(JSON.stringify(before) !== JSON.stringify(await rows(page, 'Joints')), 'the other posture is not shown');
  await page.screenshot({ path: join(folder, 'bare.png') });
  must(said.length === 0, `the console says: ${said.join('; ')}`);
  await page.context().close();
}

/** A motion and a map of the command line: played, plotted, marked, taken along; the same in a page without the library. */
async function motion() {
  const table = join(folder, 'motion.csv');
  const row = (k) => [k / 100, 0.06 * Math.sin(0.0628 * k), 0.3 + 0.03 * Math.sin(0.1256 * k)].join();
  writeFileSync(table, ['t,x,y', ...Array.from({ length: 101 }, (_, k) => row(k))].join('\n'));
  const robot = join(folder, 'limited.toml');
  const text = readFileSync(new URL('../../robots/five-bar/robot.toml', import.meta.url), 'utf8');
  writeFileSync(robot, text.replaceAll('drive = {', 'drive = { effort = 0.05,'));
  const along = JSON.parse(call('idm', robot, '--trajectory', table, '--json'));
  for (const computes of [true, false]) {
    const path = join(folder, computes ? 'motion.html' : 'motion-bare.html');
    const words = ['view', robot, '--trajectory', table, '--map', 'conditioning,x=-0.1:0.1:31,y=0.25:0.35:21', '-o', path, '--no-open'];
    if (!computes) {
      const bare = join(folder, 'without');
      mkdirSync(bare, { recursive: true });
      const template = readFileSync(join(built, 'page.html'), 'utf8');
      writeFileSync(join(bare, 'page.html'), template.replace(/(id="module">)[^<]*/, '$1'));
      call.environment = { ...process.env, GOUGH_VIEWER: bare };
    }
    call(...words);
    call.environment = undefined;
    const { page, said } = await opened(path);
    const line = page.getByLabel('time', { exact: true });
    must(await line.getAttribute('max') === '100', 'the time line has not every instant');
    must(await page.locator('.chart .curve').count() === 4, 'efforts and rates of two drives are not drawn');
    must(await page.locator('.chart .bound').count() >= 4, 'the limits of the drives are not drawn');
    must(await page.locator('.marks li').count() === along.violations.length, 'limits that are left are not listed');
    must(await page.evaluate(() => document.querySelector('canvas.map').width === 31), 'the map of the command line is not shown');
    await page.getByRole('button', { name: 'Play', exact: true }).click();
    await page.waitForFunction(() => Number(document.querySelector('.time').value) > 20, null, { timeout: 8000 });
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await line.fill('50');
    if (computes) {
      must((await page.textContent('.line + p')).startsWith('t = 0.5 s'), 'the instant is not told');
      // The motion keeps its working mode when the robot is left in another one.
      const svg = async () => (await download(page, 'SVG', join(folder, 'motion.svg'))).toString();
      const seen = [await svg()];
      const modes = panel(page, 'Modes').locator('.modes').first().locator('button');
      await modes.nth((await modes.count()) - 1).click();
      await line.fill('49');
      await line.fill('50');
      seen.push(await svg());
      must(seen[0] === seen[1], 'the motion is shown in another working mode');
      await page.getByLabel('forces', { exact: true }).check();
    }
    await page.waitForTimeout(200);
    await page.screenshot({ path: join(folder, computes ? 'motion.png' : 'motion-bare.png') });
    const gltf = JSON.parse(await download(page, 'glTF of the motion', join(folder, 'motion.gltf')));
    const channels = gltf.animations?.[0]?.channels ?? [];
    must(channels.length >= 12 && channels.every((c) => gltf.nodes[c.target.node]), 'the glTF does not move');
    must(said.length === 0, `the console says: ${said.join('; ')}`);
    await page.context().close();
  }
}

/** The page with no robot put in: shipped ones by link and by choice, an empty file, a file with ten faults. */
async function playground() {
  const { page, said } = await opened(join(built, 'page.html'), { link: '#robot=delta' });
  const title = () => page.textContent('#title');
  must(await title() === 'delta', 'the link does not choose the robot');
  const chosen = page.getByLabel('robot', { exact: true });
  await chosen.selectOption('gough-stewart-flexible');
  must(await title() === 'gough-stewart-flexible', 'a robot with a file of its own is not taken');
  const area = page.locator('textarea');
  must((await area.inputValue()).includes('hexagon-plate'), 'the text of the robot is not shown');
  await chosen.selectOption('an empty file');
  must(await title() === 'mine', 'an empty file is no robot');
  const faulty = [...Array(10).keys()].map((k) => `[[body]]\nname = "b${k}"\non = "base"\njoint = "X${k}"\n`).join('');
  const text = await area.inputValue();
  const began = Date.now();
  await area.fill(text + faulty);
  await page.waitForFunction(() => document.querySelectorAll('.faults li').length >= 10, null, { timeout: 5000, polling: 10 });
  const took = Date.now() - began;
  must(await page.locator('.editor mark').count() >= 10, 'not every fault has its place');
  must(await title() === 'mine', 'the robot before does not stay');
  await area.fill(text.replace('x = 0.2', 'x = 0.3'));
  await page.waitForFunction(() => document.getElementById('told').textContent === '', null, { timeout: 5000 });
  await page.screenshot({ path: join(folder, 'playground.png') });
  must(said.length === 0, `the console says: ${said.join('; ')}`);
  await page.context().close();
  console.log(`ten faults are shown ${took} ms after the last key`);
}

/** A phone: the picture above, the panels below, nothing beside the window. */
async function narrow() {
  const path = join(folder, `${names[0]}.html`);
  const { page, said } = await opened(path, { size: { width: 380, height: 700 } });
  must(await page.evaluate(() => document.documentElement.scrollWidth <= 380), 'the page is wider than a phone');
  await page.screenshot({ path: join(folder, 'narrow.png') });
  must(said.length === 0, `the console says: ${said.join('; ')}`);
  await page.context().close();
}

const own = { browser, folder, call, built };
const tours = names.map((n) => [n, () => tour(n)]);
const others = [['hostile', hostile], ['bare', bare], ['motion', motion], ['playground', playground], ['narrow', narrow]];
for (const [what, act] of [...tours, ...others, ...features(own), ...troubles(own)]) {
  const began = Date.now();
  try {
    const ready = await act();
    console.log(`${what}: ${ready ? `ready after ${ready} ms, ` : ''}${Date.now() - began} ms`);
  } catch (e) {
    failed++;
    console.log(`${what}: FAILED: ${e.message}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
