// Elements without markup: text is always text, whatever a robot file calls its bodies.

type Child = Node | string | null;
type Props = Record<string, string | number | boolean | ((e: Event) => void)>;

/** An element with attributes, listeners (`onclick`) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(key.slice(2), value);
    else if (typeof value === 'boolean') element.toggleAttribute(key, value);
    else element.setAttribute(key, String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null));
  return element;
}

/** An element of the page by its id. */
export function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found;
}

/** A table: a head and rows of text. */
export function table(head: string[], rows: Child[][], caption = ''): HTMLTableElement {
  const cell = (tag: 'th' | 'td') => (c: Child) => h(tag, {}, c);
  return h('table', {}, caption ? h('caption', {}, caption) : null,
    h('thead', {}, h('tr', {}, ...head.map(cell('th')))),
    h('tbody', {}, ...rows.map((row) => h('tr', {}, ...row.map(cell('td'))))));
}

/** A table that is filled again and again: a cell changes when its text does, and an element stays while its label is the same. */
export class Sheet {
  readonly element: HTMLTableElement;
  private readonly body = h('tbody');
  private cells: HTMLTableCellElement[][] = [];

  constructor(head: string[]) {
    this.element = h('table', {}, h('thead', {}, h('tr', {}, ...head.map((c) => h('th', {}, c)))), this.body);
  }

  fill(rows: readonly (readonly (string | HTMLElement)[])[]): void {
    if (rows.length !== this.cells.length || rows.some((row, i) => row.length !== this.cells[i]?.length)) {
      this.cells = rows.map((row) => row.map(() => h('td')));
      this.body.replaceChildren(...this.cells.map((row) => h('tr', {}, ...row)));
    }
    rows.forEach((row, i) => row.forEach((content, j) => {
      const cell = this.cells[i]?.[j];
      if (!cell) return;
      if (typeof content === 'string') {
        const old = cell.firstChild;
        if (old instanceof Text && cell.childNodes.length === 1) { if (old.data !== content) old.data = content; }
        else if (old || content !== '') cell.replaceChildren(content);
      } else if (cell.firstElementChild?.getAttribute('aria-label') !== content.getAttribute('aria-label')) {
        cell.replaceChildren(content);
      }
    }));
  }
}

/** Set a text where it is another one. */
export function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A number as the page shows it: six significant digits. */
export function shown(x: number | null | undefined, digits = 6): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return '-';
  if (x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e7)) return x.toExponential(digits - 2);
  return String(Number(x.toPrecision(digits)));
}

const DEGREE = Math.PI / 180;
const UNITS: Record<string, [number, boolean]> = {
  m: [1, false], mm: [1e-3, false], cm: [1e-2, false], um: [1e-6, false], in: [0.0254, false],
  rad: [1, true], deg: [DEGREE, true], '°': [DEGREE, true], mrad: [1e-3, true],
};

/** `50 mm`, `30 deg` or a number (metres, degrees) in SI units; null when it is none of these. */
export function quantity(text: string, angle: boolean): number | null {
  const found = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)\s*$/.exec(text);
  if (!found) return null;
  const unit = UNITS[found[2] || (angle ? 'deg' : 'm')];
  const value = unit && unit[1] === angle ? Number(found[1]) * unit[0] : NaN;
  return Number.isFinite(value) ? value : null;
}

/** A length in metres or an angle in degrees. */
export function measured(x: number, angle: boolean): string {
  return shown(Math.abs(x) < 1e-12 ? 0 : angle ? x / DEGREE : x);
}

/** Offer a file to keep. */
export function save(name: string, data: Blob): void {
  const url = URL.createObjectURL(data);
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
