// A body that was clicked: where it stands in the file, its mass and how that is spread, its joint.

import type { App, Panel } from './app';
import { h, measured, shown, table } from './dom';
import { section } from './panels';

export interface BodyPanel extends Panel { show: (node: number) => void }

export function bodyPanel(app: App, toLine: (line: number) => void): BodyPanel {
  const body = h('div', {}, h('p', { class: 'note' }, 'Click a body in the picture.'));
  const chosen = h('select', { 'aria-label': 'body' });
  let now = -1;
  const list = (x: readonly number[], digits = 4): string => x.map((v) => shown(v, digits)).join(', ');
  const joint = (k: number): string[][] => {
    const { portrait, standing } = app;
    const own = portrait?.scene.joints.find((j) => !j.closure && j.to === k);
    if (!portrait || !own) return [];
    const rows = [['joint', `${own.kind}${own.active ? ', driven' : ''}`]];
    const [a, p] = [portrait.active, portrait.passive].map((all) => all.findIndex((j) => j.node === k)) as [number, number];
    const [found, value] = a >= 0 ? [portrait.active[a], standing?.active.q[a]] : [portrait.passive[p], standing?.passive.q[p]];
    if (!found) return rows;
    const unit = found.slides ? 'm' : '°';
    rows.push([`q${found.name}`, `${value === undefined ? '-' : measured(value, !found.slides)} ${unit}`]);
    rows.push(['range', found.range ? `${found.range.map((x) => measured(x, !found.slides)).join(' to ')} ${unit}` : 'none in the file']);
    return rows;
  };
  const refresh = (): void => {
    const [scene, node] = [app.portrait?.scene, app.portrait?.scene.nodes[now]];
    if (!scene || !node) return;
    const rows: (string | HTMLElement)[][] = [['name', node.name]];
    if (node.leg !== null) rows.push(['leg', scene.legs[node.leg] ?? '']);
    if (node.line > 0) rows.push(['row of the file', h('button', { onclick: () => toLine(node.line) }, `line ${node.line}`)]);
    rows.push(['mass', `${shown(node.mass)} kg`]);
    if (node.centre) rows.push(['centre of mass', `${list(node.centre)} m`]);
    if (node.ellipsoid) {
      rows.push(['principal moments', `${list(node.ellipsoid.moments)} kg m²`], ['half axes of the ellipsoid', `${list(node.ellipsoid.radii)} m`]);
    } else if (node.mass > 0) rows.push(['ellipsoid', 'none: grouped numbers, or a mass without size']);
    body.replaceChildren(table(['', ''], [...rows, ...joint(now)]));
  };
  const show = (k: number): void => {
    now = k;
    chosen.selectedIndex = k;
    refresh();
    app.stage?.showEllipsoid(k, app.portrait?.scene.nodes[k] ?? null);
  };
  chosen.addEventListener('change', () => show(chosen.selectedIndex));
  return {
    element: section('Body', false, app, chosen, body),
    rebuild: () => {
      now = -1;
      body.replaceChildren(h('p', { class: 'note' }, 'Click a body in the picture.'));
      chosen.replaceChildren(...(app.portrait?.scene.nodes ?? []).map((n) => h('option', {}, n.name)));
    },
    refresh,
    show,
  };
}
