// A natural mode, drawn: every piece as a curve between the motions of its ends, coloured by the energy in its body.

import * as THREE from 'three';
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
import { LineSegments2 } from 'three/examples/jsm/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/examples/jsm/lines/LineSegmentsGeometry.js';
import { viridis } from './colours';
import { worldOf } from './stage';
import type { Mode, PlaceMotion, Scene, Vec3 } from './types';

const PARTS = 8;
const P = new THREE.Vector3();
const C = new THREE.Color();

export interface Shape { object: THREE.Object3D; swing: (phase: number) => void; largest: number }

/** Place of a body that is nearest to a point. */
function nearest(places: PlaceMotion[], name: string, at: Vec3): PlaceMotion | null {
  const own = places.filter((p) => p.of === name || p.of.startsWith(`${name}[`));
  const far = (p: PlaceMotion): number => Math.hypot(p.position[0] - at[0], p.position[1] - at[1], p.position[2] - at[2]);
  return (own.length ? own : places).reduce<PlaceMotion | null>((best, p) => (best && far(best) <= far(p) ? best : p), null);
}

/** How a point that hangs on a place moves. */
function carried(p: PlaceMotion, at: Vec3): Vec3 {
  const [x, y, z] = [at[0] - p.position[0], at[1] - p.position[1], at[2] - p.position[2]];
  const [vx, vy, vz, wx, wy, wz] = p.motion;
  return [vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x];
}

const cross = (w: Vec3, d: Vec3): Vec3 => [w[1] * d[2] - w[2] * d[1], w[2] * d[0] - w[0] * d[2], w[0] * d[1] - w[1] * d[0]];

/** The curves of a mode at a posture; the largest swing is `reach`. */
export function shapeOf(scene: Scene, frames: ArrayLike<number>, mode: Mode, reach: number): Shape | null {
  const places = mode.shape ?? [];
  if (places.length === 0) return null;
  const [still, moved, colours]: [number[], number[], number[]] = [[], [], []];
  const share = new Map<string, number>();
  mode.elastic_energy.forEach((e) => share.set(e.of, (share.get(e.of) ?? 0) + e.share));
  const most = Math.max(1e-12, ...share.values());
  for (const piece of scene.pieces) {
    const ends = [0, 1].map((k) => worldOf(frames, piece.on[k] ?? 0, piece.ends[k] ?? [0, 0, 0], P).toArray() as Vec3) as [Vec3, Vec3];
    const name = scene.nodes[piece.on[1]]?.name ?? '';
    const at = ends.map((e, k) => nearest(places, scene.nodes[piece.on[k] ?? 0]?.name ?? '', e));
    const [a, b] = at;
    if (!a || !b) continue;
    const d: Vec3 = [ends[1][0] - ends[0][0], ends[1][1] - ends[0][1], ends[1][2] - ends[0][2]];
    const [u0, u1] = [carried(a, ends[0]), carried(b, ends[1])];
    const [s0, s1] = [cross(a.motion.slice(3) as Vec3, d), cross(b.motion.slice(3) as Vec3, d)];
    const point = (s: number): [Vec3, Vec3] => {
      const [h0, h1] = [(1 + 2 * s) * (1 - s) ** 2, s * s * (3 - 2 * s)];
      const [g0, g1] = [s * (1 - s) ** 2, s * s * (s - 1)];
      const u = (k: 0 | 1 | 2): number => h0 * u0[k] + h1 * u1[k] + g0 * s0[k] + g1 * s1[k];
      return [[ends[0][0] + s * d[0], ends[0][1] + s * d[1], ends[0][2] + s * d[2]], [u(0), u(1), u(2)]];
    };
    const [red, green, blue] = viridis((share.get(name) ?? 0) / most);
    const colour = C.setRGB(red / 255, green / 255, blue / 255, THREE.SRGBColorSpace).toArray();
    for (let i = 0; i < PARTS; i++) {
      for (const s of [i / PARTS, (i + 1) / PARTS]) {
        const [x, u] = point(s);
        still.push(...x);
        moved.push(...u);
        colours.push(...colour);
      }
    }
  }
  let largest = 1e-300;
  for (let i = 0; i < moved.length; i += 3) largest = Math.max(largest, Math.hypot(moved[i] ?? 0, moved[i + 1] ?? 0, moved[i + 2] ?? 0));
  const scale = reach / largest;
  const geometry = new LineSegmentsGeometry();
  geometry.setPositions(still);
  geometry.setColors(colours);
  const object = new LineSegments2(geometry, new LineMaterial({ vertexColors: true, linewidth: 5 }));
  object.frustumCulled = false;
  const [from, by] = [Float32Array.from(still), Float32Array.from(moved)];
  // The ends of the lines lie in one buffer, in the order in which they were given: it is written over, and nothing is allocated.
  const ends = geometry.getAttribute('instanceStart') as THREE.InterleavedBufferAttribute;
  const array = ends.data.array as Float32Array;
  const swing = (phase: number): void => {
    const a = scale * Math.sin(phase);
    for (let i = 0; i < array.length; i++) array[i] = (from[i] ?? 0) + a * (by[i] ?? 0);
    ends.data.needsUpdate = true;
  };
  swing(0);
  return { object, swing, largest: reach };
}
