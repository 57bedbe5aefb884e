// One page out of its parts: `node build.mjs OUT [MODULE.wasm]`.

import { build } from 'esbuild';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const [out = join(here, '../target/viewer'), module] = process.argv.slice(2);

const bundled = await build({
  entryPoints: [join(here, 'src/main.ts')], bundle: true, minify: true, format: 'iife', target: 'es2022',
  write: false, legalComments: 'none', logLevel: 'warning',
});
// A program inside a page must not end it.
const program = bundled.outputFiles[0].text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const packed = module ? gzipSync(await readFile(module), { level: 9 }).toString('base64') : '';
const licence = (await readFile(join(here, 'node_modules/three/LICENSE'), 'utf8')).replaceAll('*/', '* /');
const parts = {
  STYLE: await readFile(join(here, 'style.css'), 'utf8'),
  MODULE: packed,
  PROGRAM: `/* three.js:\n${licence}*/\n${program}`,
};
let page = await readFile(join(here, 'page.html'), 'utf8');
for (const [name, text] of Object.entries(parts)) page = page.replace(`/*${name}*/`, () => text);
await mkdir(out, { recursive: true });
await writeFile(join(out, 'page.html'), page);
const size = (n) => `${(n / 1e6).toFixed(2)} MB`;
console.log(`${join(out, 'page.html')}: ${size(page.length)}${packed ? `, ${size(packed.length)} of it the library` : ', without the library'}`);
