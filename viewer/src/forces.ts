// Forces in the joints as arrows: what every joint passes on to the body that it carries, and what the ground holds.

import type { App } from './app';
import * as THREE from 'three';
import { worldOf } from './stage';
import type { Vec3 } from './types';

const AT = new THREE.Vector3();

export interface ForceArrow { from: Vec3; force: Vec3; ground: boolean }

/** Draw the forces of a state, the present posture at rest unless one is given; a refusal draws none. */
export function drawForces(app: App, state: Record<string, unknown> = {}, posture?: ArrayLike<number>): void {
  const { portrait, stage, library } = app;
  if (!portrait || !stage || !library) return;
  const found = library.ask({ ask: 'idm', reactions: true, ...app.loaded, ...state });
  if ('error' in found || !found.answer.reactions) return stage.showForces([]);
  const frames = posture ?? app.posture;
  const arrows: ForceArrow[] = [];
  for (const { body, wrench } of found.answer.reactions.joints) {
    const joint = portrait.scene.joints.find((j) => !j.closure && portrait.scene.nodes[j.to]?.name === body);
    if (!joint) continue;
    const from = worldOf(frames, joint.on, joint.at, AT).toArray() as Vec3;
    arrows.push({ from, force: wrench.slice(0, 3) as Vec3, ground: joint.on === 0 });
  }
  for (const { point, wrench } of found.answer.reactions.closures) arrows.push({ from: point, force: wrench.slice(0, 3) as Vec3, ground: false });
  stage.showForces(arrows);
}
