// Pictures of robots are compared with those that are kept in test/pictures: `GOUGH_WRITE_PICTURES=1` writes them again.
//
// What is compared is the drawing alone, without words, eight times smaller: every pixel of the small picture is the mean of a
// square of the large one, so that antialiasing, which moves an edge by less than a pixel, changes it by less than an eighth. A
// pixel differs when a channel is more than 40 of 255 off; a picture differs when more than one pixel in two hundred does. A leg
// that is missing, a joint that is elsewhere or another colour is more than that.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { must } from './chromium.mjs';

const places = join(dirname(fileURLToPath(import.meta.url)), 'pictures');
const SMALLER = 8;
const OFF = 40;
const SHARE = 1 / 200;

/** The drawing, small, on white; how it differs from the kept one as the share of its pixels. */
function compare([before, smaller, off]) {
  const stage = document.getElementById('stage');
  const small = document.createElement('canvas');
  [small.width, small.height] = [Math.round(stage.width / smaller), Math.round(stage.height / smaller)];
  // Halved three times, each pixel is the mean of four.
  let from = stage;
  for (let k = 2; k <= smaller; k *= 2) {
    const to = k === smaller ? small : document.createElement('canvas');
    if (to !== small) [to.width, to.height] = [Math.ceil(stage.width / k), Math.ceil(stage.height / k)];
    const pen = to.getContext('2d', { willReadFrequently: true });
    pen.fillStyle = '#fff';
    pen.fillRect(0, 0, to.width, to.height);
    pen.drawImage(from, 0, 0, to.width, to.height);
    from = to;
  }
  const pixels = (canvas) => canvas.getContext('2d', { willReadFrequently: true }).getImageData(0, 0, canvas.width, canvas.height).data;
  const picture = small.toDataURL('image/png');
  if (!before) return { picture, share: null };
  return new Promise((done, failed) => {
    const image = new Image();
    image.onerror = () => failed(new Error('the kept picture is none'));
    image.onload = () => {
      if (image.width !== small.width || image.height !== small.height) return done({ picture, share: 1 });
      const other = document.createElement('canvas');
      [other.width, other.height] = [small.width, small.height];
      other.getContext('2d', { willReadFrequently: true }).drawImage(image, 0, 0);
      const [a, b] = [pixels(small), pixels(other)];
      let differ = 0;
      for (let i = 0; i < a.length; i += 4) if ([0, 1, 2].some((c) => Math.abs(a[i + c] - b[i + c]) > off)) differ++;
      done({ picture, share: (4 * differ) / a.length });
    };
    image.src = before;
  });
}

/** The drawing of a page is the one that is kept; the one that is not is left in the folder. */
export async function kept(page, name, folder) {
  const path = join(places, `${name}.png`);
  const writes = process.env.GOUGH_WRITE_PICTURES !== undefined;
  const before = existsSync(path) && !writes ? `data:image/png;base64,${readFileSync(path).toString('base64')}` : null;
  const { picture, share } = await page.evaluate(compare, [before, SMALLER, OFF]);
  const bytes = Buffer.from(picture.split(',')[1], 'base64');
  if (writes) {
    mkdirSync(places, { recursive: true });
    writeFileSync(path, bytes);
    return;
  }
  const found = join(folder, `${name}-small.png`);
  writeFileSync(found, bytes);
  must(before !== null, `no picture of ${name} is kept in test/pictures; look at ${found}, then GOUGH_WRITE_PICTURES=1 keeps it`);
  must(share <= SHARE, `the picture of ${name} differs in ${(100 * share).toFixed(2)} % of its pixels; compare ${found} with ${path}`);
}
