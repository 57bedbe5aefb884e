// A Chromium that draws without a graphics card, and the program that writes pages.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { chromium } from 'playwright-core';

const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser that CHROMIUM names, or where systems keep them; ends the program with 3 where there is none. */
export async function launched(...more) {
  const executablePath = places.find((p) => p && existsSync(p));
  if (!executablePath) {
    console.log('SKIPPED: there is no Chromium; install one (Debian: chromium) or name it in CHROMIUM');
    process.exit(3);
  }
  const args = ['--headless=new', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', ...more];
  return chromium.launch({ executablePath, args });
}

/** A function that runs the program and gives what it prints; `environment` is what it sees. */
export function program(path) {
  const call = (...words) => {
    const done = spawnSync(path, words, { encoding: 'utf8', maxBuffer: 1 << 28, env: call.environment });
    if (done.status !== 0) throw new Error(`gough ${words.join(' ')}: ${done.stderr}`);
    return done.stdout;
  };
  return call;
}

export const shipped = (call) => JSON.parse(call('robots', '--json')).robots.map((r) => r.name);

export function must(holds, what) {
  if (!holds) throw new Error(what);
}

/** A page from disk, once it is ready; `said` is what the console says. `prepare` runs in it before its program does. */
export async function opened(browser, path, { size = { width: 1200, height: 800 }, link = '', prepare } = {}) {
  const context = await browser.newContext({ viewport: size, acceptDownloads: true });
  const page = await context.newPage();
  if (prepare) await page.addInitScript(prepare);
  const said = [];
  page.on('console', (m) => said.push(`${m.type()}: ${m.text()}`));
  page.on('pageerror', (e) => said.push(e.message));
  page.on('dialog', () => said.push('a dialog opened'));
  page.on('request', (r) => { if (!/^(file|blob|data):/.test(r.url())) said.push(`asked for ${r.url()}`); });
  const began = Date.now();
  await page.goto(`file://${resolve(path)}${link}`);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'yes', null, { timeout: 30_000 });
  return { page, said, ready: Date.now() - began };
}

/** A panel by its title. */
export const panel = (page, title) => page.locator('details').filter({ has: page.locator('summary').getByText(title, { exact: true }) });

/** The rows of a panel, by its title. */
export const rows = (page, title) => panel(page, title).evaluate((d) => [...d.querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.textContent)));

export const open = (page, title) => panel(page, title).evaluate((d) => { d.open = true; });

export const button = (page, name) => page.getByRole('button', { name, exact: true });

export async function download(page, name, path) {
  const [file] = await Promise.all([page.waitForEvent('download'), button(page, name).click()]);
  await file.saveAs(path);
  return readFileSync(path);
}

/** What the command line put into a page. */
export function givenIn(path) {
  const [, rest] = readFileSync(path, 'utf8').split('id="given">');
  return JSON.parse(rest.split('</script>')[0]);
}
