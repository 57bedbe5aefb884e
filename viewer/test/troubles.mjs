// What can go wrong is told in words, and nothing hangs.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { button, must, open, opened, rows } from './chromium.mjs';

export function troubles({ browser, folder, call }) {
  const path = join(folder, 'trouble.html');
  const written = (name, ...words) => call('view', name, ...words, '-o', path, '--no-open');
  const quiet = async ({ page, said }, known = () => false) => {
    const left = said.filter((s) => !known(s));
    must(left.length === 0, `the console says: ${left.join('; ')}`);
    await page.context().close();
  };

  /** No WebGL: read-outs go on. */
  async function noWebGL() {
    written('five-bar');
    const found = await opened(browser, path, { prepare: () => {
      const own = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return kind.startsWith('webgl') ? null : own.call(this, kind, ...rest); };
    } });
    const p = found.page;
    must((await p.textContent('#notice')).includes('no WebGL'), 'it is not told');
    const before = await rows(p, 'Joints');
    const field = p.locator('.row input[type=text]').first();
    await field.fill('50 mm');
    await field.press('Enter');
    must(JSON.stringify(before) !== JSON.stringify(await rows(p, 'Joints')), 'read-outs do not follow');
    await quiet(found, (s) => s.includes('WebGL'));
  }

  /** No WebAssembly: the page shows what the command line put into it. */
  async function noWebAssembly() {
    written('delta');
    const found = await opened(browser, path, { prepare: () => { delete globalThis.WebAssembly; } });
    must((await found.page.textContent('#notice')).includes('WebAssembly'), 'it is not told');
    must((await rows(found.page, 'Joints')).length > 3, 'joints are not shown');
    await quiet(found);
  }

  /** A window of 200 pixels: nothing is wider than it, and everything is there. */
  async function small() {
    written('gough-stewart');
    const found = await opened(browser, path, { size: { width: 200, height: 200 } });
    const p = found.page;
    must(await p.evaluate(() => document.documentElement.scrollWidth <= 200), 'the page is wider than the window');
    const low = await p.evaluate(() => document.querySelector('#stage').getBoundingClientRect().height);
    must(low > 80, `the picture is ${low} pixels high`);
    await button(p, 'Home').scrollIntoViewIfNeeded();
    await button(p, 'Home').click();
    await p.evaluate(() => scrollTo(0, 0));
    await p.screenshot({ path: join(folder, 'small.png') });
    await quiet(found);
  }

  /** A lost graphics context is told, and comes back. */
  async function lost() {
    written('five-bar');
    const found = await opened(browser, path);
    const p = found.page;
    await p.waitForTimeout(200);
    await p.evaluate(() => {
      const gl = document.getElementById('stage').getContext('webgl2');
      globalThis.loser = gl.getExtension('WEBGL_lose_context');
      globalThis.loser.loseContext();
    });
    await p.getByText('The picture is lost').waitFor({ timeout: 5000 });
    const field = p.locator('.row input[type=text]').first();
    await field.fill('30 mm');
    await field.press('Enter');
    await p.evaluate(() => globalThis.loser.restoreContext());
    await p.waitForFunction(() => !document.getElementById('notice').textContent.includes('lost'), null, { timeout: 5000 });
    await p.waitForTimeout(300);
    const coloured = await p.evaluate(() => {
      const [stage, copy] = [document.getElementById('stage'), document.createElement('canvas')];
      [copy.width, copy.height] = [stage.width, stage.height];
      const pen = copy.getContext('2d');
      pen.drawImage(stage, 0, 0);
      return pen.getImageData(0, 0, copy.width, copy.height).data.filter((x, i) => i % 4 === 3 && x > 0).length;
    });
    must(coloured > 1000, 'nothing is drawn when the picture comes back');
    await quiet(found, (s) => /CONTEXT_LOST|Context (Lost|Restored)/i.test(s));
  }

  /** Numbers that are not finite are refused in words, and the robot stays. */
  async function notFinite() {
    written('five-bar');
    const found = await opened(browser, path);
    const p = found.page;
    const before = await rows(p, 'Joints');
    const field = p.locator('.row input[type=text]').first();
    for (const text of ['1e999', '-1e999 mm', 'NaN', 'Infinity', '1e308 in']) {
      await field.fill(text);
      await field.press('Enter');
      const isBad = await field.evaluate((f) => f.classList.contains('bad'));
      must(isBad || await p.locator('#told.bad').count() === 1, `${text} is neither marked nor refused`);
      must(!/NaN|Infinity|null/.test(await p.locator('main').innerText()), `${text} is shown`);
    }
    await open(p, 'Efforts at rest');
    await p.getByLabel('fx on the platform').fill('1e999');
    await p.getByLabel('fx on the platform').press('Enter');
    must(await p.getByLabel('fx on the platform').evaluate((f) => f.classList.contains('bad')), 'a force without end is taken');
    await button(p, 'Home').click();
    must(JSON.stringify(before) === JSON.stringify(await rows(p, 'Joints')), 'the robot did not stay');
    await quiet(found);
  }

  /** Markup in names of the robot, of bodies, of legs and of parameters. */
  async function markup() {
    const name = '<img src=x onerror=alert(1)>';
    const text = readFileSync(new URL('../../robots/five-bar/robot.toml', import.meta.url), 'utf8');
    const robot = join(folder, 'markup.toml');
    const hostile = text.replace(/^name = "five-bar"/m, `name = ${JSON.stringify(name)}`).replace(/^summary = .*/m, 'summary = "<script>alert(2)</script>"');
    writeFileSync(robot, hostile);
    let refused = false;
    try {
      written(robot);
    } catch (e) {
      refused = /name/.test(e.message);
      if (!refused) throw e;
    }
    // A name that the reader refuses is tried in the page itself, as a file that is typed.
    if (refused) written('five-bar');
    const found = await opened(browser, path);
    const p = found.page;
    await open(p, 'File');
    await p.locator('textarea').fill(hostile.replaceAll('"12"', '"<b>12</b>"').replaceAll('"22"', '"</script><i>22"'));
    await p.waitForTimeout(600);
    await p.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
    await p.waitForTimeout(400);
    must(await p.locator('main img, main b, main i, main script').count() === 0, 'a name became an element');
    await quiet(found);
  }

  /** A file with faults opens with its text and faults; one without a reachable home is told what is missing. */
  async function faulty() {
    written('five-bar');
    const html = readFileSync(path, 'utf8');
    writeFileSync(path, html.replace('[platform]', '[plattform]'));
    const found = await opened(browser, path);
    must((await found.page.textContent('#told')).includes('fault'), 'faults are not told');
    must(await found.page.locator('.faults li').count() > 0, 'faults are not listed');
    must((await found.page.locator('textarea').inputValue()).includes('[plattform]'), 'the text is not shown');
    await found.page.screenshot({ path: join(folder, 'faulty.png') });
    await quiet(found);
  }

  return Object.entries({ noWebGL, noWebAssembly, small, lost, notFinite, markup, faulty });
}
