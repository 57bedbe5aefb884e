// Robots to try: the shipped ones, an empty file, a file from disk.

import type { App, Panel } from './app';
import { h } from './dom';
import { section } from './panels';

/** What a robot begins with: a slider, which has every part that a file must have. */
const EMPTY = `# A robot of your own: a carriage on a rail. Every change is read at once.
[robot]
name = "mine"
home = { x = 0.2 }

[platform]
coordinates = ["x"]
mass = "1 kg"

[[body]]
name = "1"
on = "base"
joint = "P"
axis = [1, 0, 0]
drive = {}

[[closure]]
joint = "fixed"
a = { body = "1" }
b = { body = "platform" }
`;

const OWN = 'an empty file';

export function robotPanel(app: App): Panel {
  let names: string[] = [];
  const chosen = h('select', { 'aria-label': 'robot' });
  const list = (): void => {
    const found = app.library?.ask({ ask: 'robots' });
    names = found && 'answer' in found ? found.answer : [];
    chosen.replaceChildren(...[OWN, ...names].map((n) => h('option', { value: n }, n)));
  };
  const take = (name: string): void => {
    const answer = name === OWN ? app.load({ name: 'mine', text: EMPTY }) : app.load({ name });
    if (answer && 'error' in answer) return app.say(answer.error.message);
    app.takeSource();
    app.say('');
  };
  chosen.addEventListener('change', () => take(chosen.value));
  const file = h('input', { type: 'file', accept: '.toml', 'aria-label': 'robot file from disk' });
  file.addEventListener('change', () => {
    const own = file.files?.[0];
    if (!own) return;
    void own.text().then((text) => {
      const answer = app.load({ name: own.name, text });
      if (answer && 'error' in answer) app.say(`${own.name}: ${answer.faults?.[0]?.message ?? answer.error.message}`);
      else app.takeSource();
    });
  });
  return {
    element: section('Robot', true, app, h('div', { class: 'buttons' }, chosen, file)),
    rebuild: () => {
      if (names.length === 0) list();
      chosen.value = names.includes(app.source.name) ? app.source.name : OWN;
    },
  };
}
