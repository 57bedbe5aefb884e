// Small pictures of postures: lines from joint to joint, seen from where the camera stands, on a plain canvas.

import * as THREE from 'three';
import { LEGS, PLATFORM } from './colours';
import { worldOf } from './stage';
import type { Scene } from './types';

const [WIDTH, HEIGHT, MARGIN] = [104, 78, 7];
const [P, RIGHT, UPWARDS] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];

/** Draw a posture as it is seen along a direction; `frames` are twelve numbers per node. */
export function sketch(scene: Scene, frames: ArrayLike<number>, seen: THREE.Vector3): HTMLCanvasElement {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [WIDTH * ratio, HEIGHT * ratio];
  canvas.setAttribute('aria-hidden', 'true');
  const pen = canvas.getContext('2d');
  if (!pen || scene.pieces.length === 0) return canvas;
  RIGHT.copy(seen).cross(P.set(0, 0, 1));
  if (RIGHT.lengthSq() < 1e-6 * seen.lengthSq()) RIGHT.set(1, 0, 0);
  RIGHT.normalize();
  UPWARDS.copy(seen).negate().cross(RIGHT).normalize();
  const flat = (node: number, p: readonly [number, number, number]): [number, number] => {
    worldOf(frames, node, p, P);
    return [P.dot(RIGHT), P.dot(UPWARDS)];
  };
  const lines = scene.pieces.map((p) => ({ a: flat(p.on[0], p.ends[0]), b: flat(p.on[1], p.ends[1]), p }));
  const xs = lines.flatMap((l) => [l.a[0], l.b[0]]);
  const ys = lines.flatMap((l) => [l.a[1], l.b[1]]);
  const [low, high] = [[Math.min(...xs), Math.min(...ys)], [Math.max(...xs), Math.max(...ys)]] as [[number, number], [number, number]];
  const scale = Math.min((WIDTH - 2 * MARGIN) / Math.max(high[0] - low[0], 1e-12), (HEIGHT - 2 * MARGIN) / Math.max(high[1] - low[1], 1e-12));
  const at = ([x, y]: [number, number]): [number, number] => [
    WIDTH / 2 + scale * (x - (low[0] + high[0]) / 2), HEIGHT / 2 - scale * (y - (low[1] + high[1]) / 2),
  ];
  pen.scale(ratio, ratio);
  pen.lineCap = 'round';
  for (const { a, b, p } of lines) {
    const leg = scene.nodes[p.on[1]]?.leg ?? 0;
    const colour = p.kind === 'platform' ? PLATFORM : LEGS[leg % LEGS.length] ?? PLATFORM;
    pen.strokeStyle = `#${colour.toString(16).padStart(6, '0')}`;
    pen.lineWidth = p.kind === 'platform' ? 2.5 : 1.8;
    pen.beginPath();
    pen.moveTo(...at(a));
    pen.lineTo(...at(b));
    pen.stroke();
  }
  return canvas;
}
