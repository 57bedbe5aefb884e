// The robot file beside the picture, its faults underlined as they are told.

import type { App, Panel } from './app';
import { h, save } from './dom';
import { section } from './panels';
import type { Fault } from './types';

export interface FilePanel extends Panel {
  /** Open the file at a line. */
  toLine: (line: number) => void;
  /** Show faults; the file opens when there are some. */
  mark: (faults: readonly Fault[]) => void;
}

export function filePanel(app: App): FilePanel {
  const back = h('pre', { 'aria-hidden': 'true' });
  const text = h('textarea', { spellcheck: 'false', 'aria-label': 'robot file' });
  const list = h('ul', { class: 'faults' });
  let timer = 0;
  const mark = (faults: readonly Fault[]): void => {
    const lines = text.value.split('\n');
    const parts: (Node | string)[] = [];
    lines.forEach((line, i) => {
      let from = 0;
      const letters = [...line];
      for (const f of faults.filter((x) => x.line === i + 1).sort((a, b) => a.column - b.column)) {
        const start = Math.max(from, Math.min(f.column - 1, letters.length));
        const end = Math.min(letters.length, start + f.length);
        parts.push(letters.slice(from, start).join(''), h('mark', {}, letters.slice(start, end).join('') || ' '));
        from = end;
      }
      parts.push(`${letters.slice(from).join('')}\n`);
    });
    back.replaceChildren(...parts);
    list.replaceChildren(...faults.map((f) => h('li', {}, h('button', { onclick: () => {
      choose(lines.slice(0, f.line - 1).reduce((n, l) => n + l.length + 1, 0) + f.column - 1, f.length);
    } }, `${f.line}:${f.column} ${f.message}${f.suggestion ? ` (${f.suggestion})` : ''}`))));
  };
  const choose = (start: number, length: number): void => {
    text.focus();
    text.setSelectionRange(start, start + length);
    text.scrollTop = (text.value.slice(0, start).split('\n').length - 4) * (parseFloat(getComputedStyle(text).lineHeight) || 17);
  };
  /** Open the file at a line and choose it. */
  const toLine = (line: number): void => {
    element.open = true;
    element.scrollIntoView();
    const lines = text.value.split('\n');
    choose(lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0), lines[line - 1]?.length ?? 0);
  };
  const read = (): void => {
    const found = app.load({ ...app.source, text: text.value });
    if (!found) return;
    if ('error' in found) { mark(found.faults ?? []); app.say(`${found.faults?.length ?? 0} faults; the picture shows the robot before`); }
    else { mark(found.answer.remarks); app.say(''); }
  };
  text.addEventListener('input', () => { mark([]); clearTimeout(timer); timer = setTimeout(read, 100) as unknown as number; });
  text.addEventListener('scroll', () => { back.scrollTop = text.scrollTop; back.scrollLeft = text.scrollLeft; });
  text.value = app.given.source.text ?? '';
  mark(app.given.faults ?? []);
  const element = section('File', app.given.playground === true || (app.given.faults?.length ?? 0) > 0, app, h('div', { class: 'editor' }, back, text), list,
    h('div', { class: 'buttons' }, h('button', { onclick: () => save(`${(app.portrait?.robot ?? 'robot').replace(/[^\w-]+/g, '-')}.toml`, new Blob([text.value], { type: 'text/plain' })) }, 'Save the file')));
  return {
    element,
    toLine,
    mark: (faults) => { if (faults.length > 0) element.open = true; mark(faults); },
    rebuild: () => {
      const own = app.source.text;
      if (own === undefined || own === text.value || document.activeElement === text) return;
      text.value = own;
      mark(app.portrait?.remarks ?? []);
    },
  };
}
