// The wrench on the platform: arrows for its force and its moment, and a handle at the tip of the one that is pulled.

import * as THREE from 'three';
import { TransformControls } from 'three/examples/jsm/controls/TransformControls.js';
import { GROUND, REFUSED } from './colours';
import type { Pull } from './stage';
import type { Vec3 } from './types';

const D = new THREE.Vector3();
const UP = new THREE.Vector3(0, 1, 0);

/** A round arrow. */
class Arrow extends THREE.Group {
  private readonly shaft: THREE.Mesh;
  private readonly head: THREE.Mesh;

  constructor(colour: number) {
    super();
    const skin = new THREE.MeshLambertMaterial({ color: colour });
    this.shaft = new THREE.Mesh(new THREE.CylinderGeometry(1, 1, 1, 12), skin);
    this.head = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 16), skin);
    this.add(this.shaft, this.head);
    this.visible = false;
  }

  /** From a point along `D`, which is left as it is. */
  show(from: THREE.Vector3, thin: number): void {
    const length = D.length();
    this.visible = length > 0;
    if (length === 0) return;
    const head = Math.min(0.4 * length, 1.8 * thin);
    this.position.copy(from);
    this.quaternion.setFromUnitVectors(UP, D.divideScalar(length));
    D.multiplyScalar(length);
    this.shaft.position.set(0, (length - head) / 2, 0);
    this.shaft.scale.set(0.25 * thin, length - head, 0.25 * thin);
    this.head.position.set(0, length - head / 2, 0);
    this.head.scale.set(0.38 * head, head, 0.38 * head);
  }
}

export class WrenchHandle {
  readonly group = new THREE.Group();
  /** Told how the tip lies from the platform while it is pulled. */
  pulled: (kind: Pull, arrow: Vec3) => void = () => undefined;
  thin = 0.01;
  private readonly controls: TransformControls;
  private readonly tip = new THREE.Object3D();
  private readonly from = new THREE.Vector3();
  private readonly arrows: Record<Pull, Arrow> = { force: new Arrow(REFUSED), moment: new Arrow(GROUND) };
  private kind: Pull | null = null;

  constructor(camera: THREE.Camera, canvas: HTMLElement, draw: () => void, drags: (on: boolean) => void) {
    this.controls = new TransformControls(camera, canvas);
    this.controls.setSize(0.6);
    this.controls.addEventListener('change', draw);
    this.controls.addEventListener('axis-changed', () => { canvas.style.cursor = this.controls.axis ? 'grab' : ''; });
    this.controls.addEventListener('dragging-changed', (e) => drags(e.value === true));
    this.controls.addEventListener('objectChange', () => {
      if (this.kind) this.pulled(this.kind, D.copy(this.tip.position).sub(this.from).toArray());
    });
    this.group.add(this.tip, this.arrows.force, this.arrows.moment);
  }

  /** What is seen of the handle. */
  get helper(): THREE.Object3D {
    return this.controls.getHelper();
  }

  /** Offer the tip of the force or of the moment; a planar robot has a force in its plane and a moment about its normal. */
  offer(kind: Pull | null, spatial: boolean): void {
    this.kind = kind;
    this.controls.detach();
    if (!kind) return;
    this.controls.showX = this.controls.showY = spatial || kind === 'force';
    this.controls.showZ = spatial || kind === 'moment';
    this.controls.attach(this.tip);
  }

  show(at: Vec3, wrench: readonly number[], [force, moment]: readonly [number, number]): void {
    this.from.fromArray(at);
    this.point(this.arrows.force, wrench, 0, force);
    if (this.kind === 'force' && !this.controls.dragging) this.tip.position.copy(this.from).add(D);
    this.point(this.arrows.moment, wrench, 3, moment);
    if (this.kind === 'moment' && !this.controls.dragging) this.tip.position.copy(this.from).add(D);
  }

  /** Let an arrow show three components; they are in `D` afterwards. */
  private point(arrow: Arrow, wrench: readonly number[], first: number, scale: number): void {
    D.set(wrench[first] ?? 0, wrench[first + 1] ?? 0, wrench[first + 2] ?? 0).multiplyScalar(scale);
    arrow.show(this.from, this.thin);
  }
}
