// What the page offers, tried: every answer that can be asked of the command line is asked there, too.

import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { button, download, givenIn, must, open, opened, panel, rows } from './chromium.mjs';

const NAMES = ['fx', 'fy', 'fz', 'mx', 'my', 'mz'];
const near = (a, b, digits = 1e-5) => Math.abs(a - b) <= digits * Math.max(1e-3, Math.abs(b));

const boxOf = (page) => page.locator('#stage').boundingBox();

export function features({ browser, folder, call }) {
  const page = (name, ...words) => {
    const path = join(folder, `${name}-feature.html`);
    call('view', name, ...words, '-o', path, '--no-open');
    return opened(browser, path).then((found) => ({ ...found, path }));
  };
  const quiet = async ({ page: p, said }) => {
    must(said.length === 0, `the console says: ${said.join('; ')}`);
    await p.context().close();
  };

  /** The handle of the force is dragged with the mouse; the efforts are those of the command line under the wrench that is shown. */
  async function wrench() {
    const found = await page('gough-stewart');
    const p = found.page;
    await open(p, 'Efforts at rest');
    const before = await rows(p, 'Efforts at rest');
    await button(p, 'Drag the force').click();
    await p.getByLabel('fz on the platform').fill('150');
    await p.getByLabel('fz on the platform').press('Enter');
    await p.waitForTimeout(200);
    const box = await boxOf(p);
    // The tip stands straight above the platform: its handle is the first thing under the pointer that changes the fields.
    const wrenchNow = () => p.evaluate(() => ['fx', 'fy', 'fz', 'mx', 'my', 'mz'].map((n) => Number(document.querySelector(`[aria-label="${n} on the platform"]`).value)));
    const first = await wrenchNow();
    let moved = false;
    for (let y = box.y + 0.1 * box.height; y < box.y + 0.6 * box.height && !moved; y += 14) {
      for (let x = box.x + 0.35 * box.width; x < box.x + 0.7 * box.width && !moved; x += 14) {
        await p.mouse.move(x, y);
        if (await p.evaluate(() => document.getElementById('stage').style.cursor) !== 'grab') continue;
        await p.mouse.down();
        await p.mouse.move(x + 30, y - 40, { steps: 4 });
        await p.mouse.up();
        moved = (await wrenchNow()).join() !== first.join();
      }
    }
    must(moved, 'no handle pulls the force');
    const now = await wrenchNow();
    const shown = await rows(p, 'Efforts at rest');
    must(JSON.stringify(shown) !== JSON.stringify(before), 'the efforts do not follow the force');
    const pose = givenIn(found.path).portrait.coordinates.map((c) => `${c.name}=${c.home}`).join();
    const told = JSON.parse(call('idm', 'gough-stewart', `--pose=${pose}`, `--wrench=${NAMES.map((n, k) => `${n}=${now[k]}`).join()}`, '--json'));
    told.efforts.forEach((e, k) => must(near(parseFloat(shown[k][1]), e), `${shown[k][0]} shows ${shown[k][1]}, the command line says ${e}`));
    await p.screenshot({ path: join(folder, 'wrench.png') });
    await quiet(found);
  }

  /** Every working mode has a small picture, and no two are the same; assembly modes too. */
  async function modes() {
    const found = await page('five-bar');
    const p = found.page;
    const pictures = () => panel(p, 'Modes').locator('.modes').evaluateAll((lists) => lists.map((l) => [...l.querySelectorAll('canvas')].map((c) => c.toDataURL())));
    await p.waitForTimeout(300);
    const [own] = await pictures();
    must(own.length === 4 && new Set(own).size === 4, `${own.length} pictures of the working modes, ${new Set(own).size} of them different`);
    await button(p, 'Assembly modes of these motors').click();
    await p.waitForFunction(() => document.querySelectorAll('.modes')[1].querySelectorAll('canvas').length > 1, null, { timeout: 15_000 });
    const [, other] = await pictures();
    must(new Set(other).size === other.length, 'pictures of assembly modes are the same');
    await panel(p, 'Modes').locator('.modes').nth(1).locator('button').last().click();
    must(await p.textContent('#told') === '', 'an assembly mode is not taken');
    await quiet(found);
  }

  /** Two modes side by side, the parameter that changes the first most, colours with their key. */
  async function vibration() {
    const found = await page('navaro');
    const p = found.page;
    await open(p, 'Vibration');
    await button(p, 'animate mode 1').click();
    await button(p, 'mode 2 beside').click();
    await p.waitForTimeout(500);
    await p.screenshot({ path: join(folder, 'two-modes.png') });
    const text = await panel(p, 'Vibration').textContent();
    must(text.includes('left: mode 1') && text.includes('right: mode 2') && (text.match(/largest swing drawn/g) ?? []).length === 2, 'two modes are not told');
    must(text.includes('most of all bodies'), 'colours have no key');
    const told = JSON.parse(call('frequencies', 'navaro', '--count', '6', '--sensitivity', '--json'));
    const shown = await rows(p, 'Vibration');
    told.frequencies_hz.slice(0, 6).forEach((f, k) => must(near(parseFloat(shown[k][1]), f), `mode ${k + 1} shows ${shown[k][1]}, the command line says ${f}`));
    await button(p, 'What changes it most').click();
    await panel(p, 'Vibration').getByText('changes most with').waitFor({ timeout: 30_000 });
    const most = [...told.sensitivities].sort((a, b) => Math.abs(b.percent_per_percent[0]) - Math.abs(a.percent_per_percent[0]))[0];
    must((await panel(p, 'Vibration').textContent()).includes(`changes most with ${most.parameter} `), `not ${most.parameter} changes it most`);
    await button(p, 'animate mode 1').click();
    await button(p, 'animate mode 2').click();
    await quiet(found);
  }

  /** Curves and aspects of a plane, with progress; as many as the command line finds. */
  async function loci() {
    const found = await page('five-bar');
    const p = found.page;
    await p.evaluate(() => {
      globalThis.told = [];
      new MutationObserver(() => globalThis.told.push(document.querySelector('[role=status].note').textContent))
        .observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    await button(p, 'Trace the curves in this plane').click();
    await panel(p, 'Singularities').getByText(/ curves; /).waitFor({ timeout: 60_000 });
    must((await p.evaluate(() => globalThis.told)).filter((t) => / %$/.test(t)).length > 1, 'no progress is shown');
    const text = await panel(p, 'Singularities').textContent();
    const spans = [...text.matchAll(/([xy]) = (\S+) to ([-\d.]+)/g)].map(([, name, low, high]) => `${name}=${low}:${high}:61`);
    const told = JSON.parse(call('singularities', 'five-bar', '--region', spans.join(), '--accuracy', '1e-4', '--json'));
    must(text.includes(`${told.curves.length} curves; ${told.aspects.length} aspect`), `the command line finds ${told.curves.length} curves and ${told.aspects.length} aspects`);
    await p.waitForTimeout(200);
    await p.screenshot({ path: join(folder, 'loci.png') });
    await button(p, 'Stop, clear').click();
    await quiet(found);
  }

  /** The posture of the lowest value is one click away; a map that is stopped half way says so and keeps what is done. */
  async function map() {
    const found = await page('gough-stewart-flexible');
    const p = found.page;
    await open(p, 'Map');
    const own = panel(p, 'Map');
    await own.getByLabel('quantity').selectOption('f1');
    await button(p, 'Compute').click();
    await own.getByText(/^[1-9]\d* %$/).waitFor({ timeout: 60_000 });
    await own.getByRole('button', { name: 'Stop', exact: true }).click();
    await own.getByText(/^stopped half way/).waitFor({ timeout: 10_000 });
    const painted = await p.evaluate(() => {
      const canvas = document.querySelector('canvas.map');
      const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      const rowHas = (j) => Array.from({ length: canvas.width }, (_, i) => data[4 * (j * canvas.width + i) + 3]).some((a) => a > 0);
      return { rows: canvas.height, top: rowHas(0), any: Array.from({ length: canvas.height }, (_, j) => rowHas(j)).filter(Boolean).length };
    });
    must(!painted.top && painted.any < painted.rows, 'a map that was stopped looks whole');
    await own.getByLabel('quantity').selectOption('conditioning');
    await button(p, 'Compute').click();
    await own.getByText('click to go there').waitFor({ timeout: 60_000 });
    await button(p, 'Go to the lowest').click();
    must(await p.textContent('#told') === '', 'the lowest value is at a pose that is refused');
    await quiet(found);
  }

  /** The link holds pose, mode and camera. */
  async function link() {
    const found = await page('five-bar');
    const p = found.page;
    const field = p.locator('.row input[type=text]').first();
    await field.fill('40 mm');
    await field.press('Enter');
    await p.waitForTimeout(300);
    await panel(p, 'Modes').locator('.modes').first().locator('button', { hasText: '-+' }).click();
    const box = await boxOf(p);
    await p.mouse.move(box.x + 40, box.y + box.height - 60);
    await p.mouse.down();
    await p.mouse.move(box.x + 160, box.y + box.height - 120, { steps: 4 });
    await p.mouse.up();
    await p.waitForTimeout(200);
    await button(p, 'Link').click();
    const hash = await p.evaluate(() => location.hash);
    const seen = async (page, name) => (await download(page, 'SVG', join(folder, name))).toString();
    const before = await seen(p, 'link-before.svg');
    await quiet(found);
    const again = await opened(browser, found.path, { link: hash });
    await again.page.waitForTimeout(300);
    must((await rows(again.page, 'Joints')).some((r) => r[0] === 'working mode' && r[1] === '-+'), 'the link does not hold the mode');
    // Lines that are equally far may come in any order.
    const points = (svg) => [...svg.matchAll(/(?:x1|y1|x2|y2|cx|cy)="([^"]+)"/g)].map((m) => Number(m[1])).sort((x, y) => x - y);
    const [a, b] = [points(before), points(await seen(again.page, 'link-after.svg'))];
    must(a.length === b.length && a.every((x, k) => Math.abs(x - b[k]) < 0.1), 'the link shows another picture');
    await quiet(again);
  }

  /** A body: mass, centre, ellipsoid, joint, and its row of the file. */
  async function body() {
    const found = await page('delta');
    const p = found.page;
    const { nodes } = givenIn(found.path).portrait.scene;
    await open(p, 'Body');
    const k = nodes.findIndex((n) => n.ellipsoid && n.line > 0);
    must(k > 0, 'no body has an ellipsoid');
    await p.getByLabel('body', { exact: true }).selectOption({ index: k });
    const shown = new Map((await rows(p, 'Body')).map(([a, b]) => [a, b]));
    must(near(parseFloat(shown.get('mass')), nodes[k].mass), 'the mass is another one');
    nodes[k].ellipsoid.radii.forEach((r, i) => must(near(parseFloat(shown.get('half axes of the ellipsoid').split(', ')[i]), r, 1e-3), 'the ellipsoid is another one'));
    await button(p, `line ${nodes[k].line}`).click();
    const chosen = await p.evaluate(() => { const t = document.querySelector('textarea'); return t.value.slice(t.selectionStart, t.selectionEnd); });
    must(/name\s*=/.test(chosen), `the line of the file is \`${chosen}\``);
    await p.waitForTimeout(200);
    await p.screenshot({ path: join(folder, 'body.png') });
    const kept = (await download(p, 'Save the file', join(folder, 'saved.toml'))).toString();
    must(kept === readFileSync(new URL('../../robots/delta/robot.toml', import.meta.url), 'utf8'), 'the saved file is another one');
    await quiet(found);
  }

  return Object.entries({ wrench, modes, vibration, loci, map, link, body });
}
