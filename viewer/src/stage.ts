// The robot in three dimensions. What hangs on a node moves with its frame; slides are stretched between two nodes.

import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { TransformControls } from 'three/examples/jsm/controls/TransformControls.js';
import { GROUND, LEGS, LOOP, MOTOR, PASSIVE, PLATFORM, REFUSED } from './colours';
import type { ForceArrow } from './forces';
import type { Coordinate, Scene, SceneJoint, SceneNode, ScenePiece, Vec3 } from './types';
import { WrenchHandle } from './wrench';

const UP = new THREE.Vector3(0, 1, 0);
const [A, B, D] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];

interface Slide { piece: ScenePiece; mesh: THREE.Mesh }
/** An outline that is further away, in sizes of the robot, is not drawn: nobody sees it. */
const FAR = 1e3;
/** Opacity of what is seen through. */
const SOFT = 0.35;

/** What of a wrench is pulled. */
export type Pull = 'force' | 'moment';
interface Label { at: THREE.Object3D; place: THREE.Vector3; box: HTMLElement }

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(35, 1, 0.01, 100);
  readonly renderer: THREE.WebGLRenderer;
  readonly handle = new THREE.Object3D();
  private readonly orbit: OrbitControls;
  private readonly transform: TransformControls;
  private robot = new THREE.Group();
  private nodes: THREE.Group[] = [];
  private slides: Slide[] = [];
  private materials = new Map<number, THREE.MeshLambertMaterial>();
  private ghost: THREE.LineSegments | null = null;
  private labels: Label[] = [];
  private plane: THREE.Mesh | null = null;
  private overlays = new THREE.Group();
  private path: THREE.Line | null = null;
  private forces = new THREE.Group();
  private curves = new THREE.Group();
  private ellipsoid: THREE.Mesh | null = null;
  private readonly wrench: WrenchHandle;
  private readonly handles = new THREE.Group();
  private gravity: THREE.ArrowHelper | null = null;
  /** Two things that are drawn side by side, each in its half of the picture. */
  private sides: readonly THREE.Object3D[] = [];
  private seesGravity = false;
  private seesLoops = false;
  private seesFrames = false;
  private drawing: Scene | null = null;
  private thin = 0.01;
  private hasHandle = true;
  private stale = true;
  private moving = false;
  /** Called before every picture while something moves by itself; false when it has ended. */
  animate: ((t: number) => boolean) | null = null;

  constructor(private readonly canvas: HTMLCanvasElement, private readonly names: HTMLElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true, alpha: true });
    this.camera.up.set(0, 0, 1);
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.addEventListener('change', () => this.draw());
    this.transform = new TransformControls(this.camera, canvas);
    this.transform.addEventListener('change', () => this.draw());
    this.transform.addEventListener('axis-changed', () => { canvas.style.cursor = this.transform.axis ? 'grab' : ''; });
    this.transform.addEventListener('dragging-changed', (e) => { this.orbit.enabled = !e.value; });
    const sky = new THREE.HemisphereLight(0xffffff, 0x8890a0, 2.2);
    sky.position.set(0, 0, 1);
    const sun = new THREE.DirectionalLight(0xffffff, 1.6);
    sun.position.set(1, -2, 3);
    this.wrench = new WrenchHandle(this.camera, canvas, () => this.draw(), (drags) => { this.orbit.enabled = !drags; });
    this.scene.add(sky, sun, this.robot, this.overlays, this.forces, this.curves, this.handle, this.handles, this.wrench.group);
    this.handles.add(this.transform.getHelper(), this.wrench.helper);
    this.transform.attach(this.handle);
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement ?? canvas);

  }

  /** A page without the library has nothing to drag. */
  withoutHandle(): void {
    this.hasHandle = false;
    this.transform.detach();
  }

  /** Told when the picture is lost, and when it is there again. */
  onLost(told: (lost: boolean) => void): void {
    this.canvas.addEventListener('webglcontextlost', (e) => { e.preventDefault(); told(true); });
    this.canvas.addEventListener('webglcontextrestored', () => { told(false); this.draw(); });
  }

  /** Whether the graphics context is there. */
  get isLost(): boolean {
    return this.renderer.getContext().isContextLost();
  }

  /** Offer a handle for the force or the moment on the platform in place of the one that moves it. */
  offerWrench(kind: Pull | null, coordinates: Coordinate[]): void {
    const spatial = coordinates.some((c) => ['z', 'roll', 'pitch'].includes(c.name));
    this.wrench.offer(kind, spatial);
    if (kind) this.transform.detach();
    else if (this.hasHandle) this.transform.attach(this.handle);
    this.draw();
  }

  /** Draw the wrench at the platform: lengths of its force and its moment per newton and per newton metre. */
  showWrench(at: Vec3, wrench: readonly number[], scales: readonly [number, number]): void {
    this.wrench.show(at, wrench, scales);
    this.draw();
  }

  onPull(pulled: (kind: Pull, arrow: Vec3) => void): void {
    this.wrench.pulled = pulled;
  }

  /** Listen to the handle. */
  onHandle(moved: () => void): void {
    this.transform.addEventListener('objectChange', moved);
  }

  private material(leg: number | null, colour: number, soft = false): THREE.MeshLambertMaterial {
    const key = (leg ?? -1) * 0x2000000 + colour * 2 + (soft ? 1 : 0);
    let found = this.materials.get(key);
    if (!found) {
      // All of them can fade: one that became transparent would need another program, which takes longer than a picture.
      found = new THREE.MeshLambertMaterial({ color: colour, transparent: true, opacity: soft ? SOFT : 1 });
      found.userData = { leg, colour, soft };
      this.materials.set(key, found);
    }
    return found;
  }

  /** Draw a robot; look at all of it when it is another one. */
  build(scene: Scene, coordinates: Coordinate[], frames: ArrayLike<number>, isOther: boolean): void {
    this.robot.traverse((o) => { if (o instanceof THREE.Mesh) (o.geometry as THREE.BufferGeometry).dispose(); });
    this.robot.clear();
    this.materials.clear();
    this.slides = [];
    this.labels.forEach((l) => l.box.remove());
    this.labels = [];
    this.showPlane(null);
    this.showGhost(null);
    emptied(this.overlays);
    this.showForces([]);
    this.showCurves([]);
    this.showEllipsoid(0, null);
    this.sides = [];
    this.drawing = scene;
    // A robot that stands close together is drawn thin, whatever size its file speaks of.
    this.thin = 0.028 * Math.min(scene.size, 2.5 * this.box(frames).radius || scene.size);
    const thin = this.thin;
    this.nodes = scene.nodes.map((node, i) => {
      const group = new THREE.Group();
      group.name = node.name;
      group.matrixAutoUpdate = false;
      group.userData = { node: i };
      this.robot.add(group);
      return group;
    });
    scene.pieces.forEach((p) => this.addPiece(scene, p, thin));
    scene.joints.forEach((j) => this.addJoint(scene, j, thin));
    this.addPlatform(scene, thin);
    this.addAxes(thin);
    this.addGravity(scene, frames);
    this.wrench.thin = thin;
    this.showLoops(this.seesLoops);
    this.offer(coordinates);
    this.transform.setSize(0.9);
    this.pose(frames);
    if (isOther || this.lost(frames)) this.look(coordinates, frames);
    this.draw();
  }

  private addPiece(scene: Scene, p: ScenePiece, thin: number): void {
    const leg = scene.nodes[p.on[1]]?.leg ?? null;
    const colour = p.kind === 'platform' ? PLATFORM : LEGS[(leg ?? 0) % LEGS.length] ?? PASSIVE;
    const radius = p.kind === 'slide' ? 0.55 * thin : Math.min(2 * thin, Math.max(0.6 * thin, p.radius ?? thin));
    const mesh = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, 1, 16), this.material(leg, colour));
    mesh.name = p.kind;
    mesh.userData = { node: p.on[1] };
    mesh.matrixAutoUpdate = false;
    const same = p.on[0] === p.on[1];
    (same ? this.nodes[p.on[0]] : this.robot)?.add(mesh);
    if (same) stretch(mesh, A.fromArray(p.ends[0]), B.fromArray(p.ends[1]));
    else this.slides.push({ piece: p, mesh });
  }

  private addJoint(scene: Scene, j: SceneJoint, thin: number): void {
    const group = this.nodes[j.on];
    if (!group) return;
    if (j.kind === 'fixed' && !j.closure) return;
    const leg = scene.nodes[j.to]?.leg ?? scene.nodes[j.on]?.leg ?? null;
    const mesh = new THREE.Mesh(glyph(j, thin), this.material(null, j.active ? MOTOR : PASSIVE));
    mesh.name = `joint ${j.name}`;
    mesh.userData = { node: j.closure ? j.on : j.to, leg, closure: j.closure };
    mesh.position.fromArray(j.at);
    mesh.quaternion.setFromUnitVectors(UP, D.fromArray(j.axis).normalize());
    group.add(mesh);
    if (j.on === 0) this.addGround(j, thin);
    if (!j.closure && j.kind !== 'fixed') this.addLabel(group, j);
  }

  private addGround(j: SceneJoint, thin: number): void {
    const foot = new THREE.Mesh(new THREE.BoxGeometry(3.2 * thin, 3.2 * thin, 0.8 * thin), this.material(null, 0x9aa0a6, true));
    foot.name = 'ground';
    foot.userData = { node: 0 };
    foot.position.fromArray(j.at);
    foot.position.z -= 1.6 * thin;
    this.nodes[0]?.add(foot);
  }

  private addLabel(at: THREE.Object3D, j: SceneJoint): void {
    const box = document.createElement('span');
    box.textContent = `q${j.name}`;
    this.names.append(box);
    this.labels.push({ at, place: new THREE.Vector3().fromArray(j.at), box });
  }

  /** A plate over the attachments of the platform, and its frame. */
  private addPlatform(scene: Scene, thin: number): void {
    const group = this.nodes[this.nodes.length - 1];
    if (!group) return;
    const corners = scene.pieces.filter((p) => p.kind === 'platform').map((p) => p.ends[0]);
    if (corners.length > 2) {
      const shape = new THREE.BufferGeometry();
      const middle = corners.reduce<Vec3>((m, c) => [m[0] + c[0] / corners.length, m[1] + c[1] / corners.length, m[2] + c[2] / corners.length], [0, 0, 0]);
      const faces = corners.flatMap((c, i) => [...middle, ...c, ...(corners[(i + 1) % corners.length] ?? c)]);
      shape.setAttribute('position', new THREE.Float32BufferAttribute(faces, 3));
      shape.computeVertexNormals();
      const plate = this.material(null, PLATFORM, true).clone();
      plate.side = THREE.DoubleSide;
      const mesh = new THREE.Mesh(shape, plate);
      mesh.name = 'plate';
      mesh.userData = { node: scene.nodes.length - 1 };
      group.add(mesh);
    }
    const ball = new THREE.Mesh(new THREE.SphereGeometry(1.1 * thin, 20, 12), this.material(null, PLATFORM));
    ball.name = 'platform';
    ball.userData = { node: scene.nodes.length - 1 };
    group.add(ball);
    const axes = new THREE.AxesHelper(7 * thin);
    axes.name = 'axes';
    group.add(axes);
  }

  /** The handle offers the motions that the platform has. */
  private offer(coordinates: Coordinate[]): void {
    const has = (name: string): boolean => coordinates.some((c) => c.name === name);
    const turning = this.transform.mode === 'rotate' && coordinates.some((c) => c.angle);
    this.transform.setMode(turning ? 'rotate' : 'translate');
    this.transform.setSpace(turning ? 'local' : 'world');
    this.transform.showX = turning ? has('roll') : has('x');
    this.transform.showY = turning ? has('pitch') : has('y');
    this.transform.showZ = turning ? has('yaw') || has('phi') : has('z');
  }

  /** Whether the handle turns or shifts. */
  turnHandle(turns: boolean, coordinates: Coordinate[]): void {
    this.transform.setMode(turns ? 'rotate' : 'translate');
    this.offer(coordinates);
    this.draw();
  }

  /** Take the frames of a posture. Nothing is allocated. */
  pose(frames: ArrayLike<number>, first = 0): void {
    for (let i = 0; i < this.nodes.length; i++) {
      const group = this.nodes[i];
      if (group) setFrame(group.matrix, frames, i, first);
    }
    for (const { piece, mesh } of this.slides) {
      stretch(mesh, worldOf(frames, piece.on[0], piece.ends[0], A, first), worldOf(frames, piece.on[1], piece.ends[1], B, first));
    }
    this.robot.updateMatrixWorld(true);
    this.draw();
  }

  /** Put the handle where the platform is asked to be. */
  aim(p: Vec3, R: readonly [Vec3, Vec3, Vec3]): void {
    this.handle.position.fromArray(p);
    const m = new THREE.Matrix4().set(R[0][0], R[0][1], R[0][2], 0, R[1][0], R[1][1], R[1][2], 0, R[2][0], R[2][1], R[2][2], 0, 0, 0, 0, 1);
    this.handle.quaternion.setFromRotationMatrix(m);
    this.draw();
  }

  /** Colour the leg that cannot follow; null takes the colour away. */
  blame(leg: number | null): void {
    for (const m of this.materials.values()) {
      const { leg: own, colour } = m.userData as { leg: number | null; colour: number };
      m.color.setHex(leg !== null && own === leg ? REFUSED : colour);
    }
    this.draw();
  }

  /** The platform where it cannot be, as an outline. */
  showGhost(at: { p: Vec3; R: readonly [Vec3, Vec3, Vec3] } | null): void {
    if (this.ghost) {
      this.scene.remove(this.ghost);
      this.ghost.geometry.dispose();
      this.ghost = null;
    }
    const far = at && this.drawing ? Math.hypot(...at.p) / this.drawing.size : Infinity;
    if (at && this.drawing && far < FAR) {
      const own = this.drawing.pieces.filter((p) => p.kind === 'platform').flatMap((p) => p.ends);
      const r = 2.5 * this.thin;
      const cross: Vec3[] = [[-r, 0, 0], [r, 0, 0], [0, -r, 0], [0, r, 0], [0, 0, -r], [0, 0, r]];
      const turn = (v: Vec3): number[] => at.R.map((row, i) => (at.p[i] ?? 0) + row[0] * v[0] + row[1] * v[1] + row[2] * v[2]);
      this.ghost = lines([...own, ...cross].flatMap(turn), REFUSED);
      this.scene.add(this.ghost);
    }
    this.draw();
  }

  /** Other postures laid over the robot: lines from joint to joint. */
  overlay(list: ArrayLike<number>[]): void {
    emptied(this.overlays);
    const scene = this.drawing;
    if (scene) {
      list.forEach((frames, k) => {
        const points = scene.pieces.flatMap((p) => [worldOf(frames, p.on[0], p.ends[0], A).toArray(), worldOf(frames, p.on[1], p.ends[1], B).toArray()].flat());
        this.overlays.add(lines(points, LEGS[k % LEGS.length] ?? PASSIVE));
      });
    }
    this.draw();
  }

  /** Shapes of modes in place of the robot, which fades: one, or two side by side; none brings it back. */
  animateShapes(list: readonly THREE.Object3D[], swing: (t: number) => void): void {
    emptied(this.overlays);
    list.forEach((o) => this.overlays.add(o));
    this.sides = list.length === 2 ? list : [];
    this.camera.zoom = this.sides.length === 2 ? 0.6 : 1;
    this.fade(list.length > 0);
    this.resize();
    this.animate = list.length > 0 ? (t) => { swing(t); return true; } : null;
    this.draw();
  }

  /** Lines through points of the world, each in a colour. */
  showCurves(list: readonly { points: readonly Vec3[]; colour: number }[]): void {
    emptied(this.curves);
    for (const { points, colour } of list) {
      const shape = new THREE.BufferGeometry();
      shape.setAttribute('position', new THREE.Float32BufferAttribute(points.flat(), 3));
      this.curves.add(new THREE.Line(shape, new THREE.LineBasicMaterial({ color: colour })));
    }
    this.draw();
  }

  /** The ellipsoid of a body's inertia; none takes it away. */
  showEllipsoid(node: number, of: SceneNode | null): void {
    this.ellipsoid?.removeFromParent();
    this.ellipsoid?.geometry.dispose();
    this.ellipsoid = null;
    if (of?.ellipsoid && of.centre) {
      const { radii, axes } = of.ellipsoid;
      const least = 1e-3 * this.thin;
      const [a, b, c] = axes.map((axis) => new THREE.Vector3(...axis)) as [THREE.Vector3, THREE.Vector3, THREE.Vector3];
      this.ellipsoid = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 20), new THREE.MeshLambertMaterial({ color: MOTOR, transparent: true, opacity: 0.45, depthWrite: false }));
      this.ellipsoid.name = 'ellipsoid';
      this.ellipsoid.matrixAutoUpdate = false;
      this.ellipsoid.matrix.makeBasis(a, b, c).scale(A.set(Math.max(radii[0], least), Math.max(radii[1], least), Math.max(radii[2], least))).setPosition(...of.centre);
      this.nodes[node]?.add(this.ellipsoid);
      this.robot.updateMatrixWorld(true);
    }
    this.draw();
  }

  /** The way of the platform; nothing for less than two points. */
  showPath(points: readonly Vec3[]): void {
    if (this.path) {
      this.scene.remove(this.path);
      this.path.geometry.dispose();
      this.path = null;
    }
    if (points.length > 1) {
      const shape = new THREE.BufferGeometry();
      shape.setAttribute('position', new THREE.Float32BufferAttribute(points.flat(), 3));
      this.path = new THREE.Line(shape, new THREE.LineBasicMaterial({ color: PLATFORM }));
      this.path.frustumCulled = false;
      this.scene.add(this.path);
    }
    this.draw();
  }

  /** Forces as arrows, the largest a fifth of the robot long. */
  showForces(list: readonly ForceArrow[]): void {
    this.forces.children.forEach((a) => { if (a instanceof THREE.ArrowHelper) a.dispose(); });
    this.forces.clear();
    const sizes = list.map((a) => Math.hypot(...a.force));
    const most = Math.max(0, ...sizes);
    const long = 7 * this.thin;
    list.forEach((a, k) => {
      const length = ((sizes[k] ?? 0) / most) * long;
      if (!(length > 0.02 * long)) return;
      const arrow = new THREE.ArrowHelper(D.fromArray(a.force).normalize().clone(), A.fromArray(a.from).clone(), length, a.ground ? GROUND : REFUSED, 0.3 * length, 0.18 * length);
      this.forces.add(arrow);
    });
    this.draw();
  }

  /** Let the robot fade while something is laid over it. */
  fade(faded: boolean): void {
    for (const m of this.materials.values()) {
      m.opacity = (m.userData['soft'] === true ? SOFT : 1) * (faded ? 0.12 : 1);
    }
    this.draw();
  }

  /** A coloured plane: its picture and corners (first, along the first coordinate, along the second). */
  showPlane(picture: HTMLCanvasElement | null, corners?: [Vec3, Vec3, Vec3]): void {
    if (this.plane) {
      this.scene.remove(this.plane);
      this.plane.geometry.dispose();
      this.plane = null;
    }
    if (picture && corners) {
      const [o, a, b] = corners.map((c) => new THREE.Vector3().fromArray(c)) as [THREE.Vector3, THREE.Vector3, THREE.Vector3];
      const c = a.clone().add(b).sub(o);
      const shape = new THREE.BufferGeometry();
      shape.setAttribute('position', new THREE.Float32BufferAttribute([o, a, c, b].flatMap((v) => v.toArray()), 3));
      shape.setAttribute('uv', new THREE.Float32BufferAttribute([0, 0, 1, 0, 1, 1, 0, 1], 2));
      shape.setIndex([0, 1, 2, 0, 2, 3]);
      const texture = new THREE.CanvasTexture(picture);
      texture.colorSpace = THREE.SRGBColorSpace;
      texture.magFilter = THREE.NearestFilter;
      this.plane = new THREE.Mesh(shape, new THREE.MeshBasicMaterial({ map: texture, side: THREE.DoubleSide, transparent: true, opacity: 0.8, depthWrite: false }));
      this.plane.renderOrder = 1; // after the robot, so that it covers what lies behind it
      this.scene.add(this.plane);
    }
    this.draw();
  }

  /** The node under a point of the window. */
  pick(x: number, y: number): number | null {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    const hit = ray.intersectObjects(this.robot.children, true).find((i) => i.object instanceof THREE.Mesh);
    const node: unknown = hit?.object.userData['node'];
    return typeof node === 'number' ? node : null;
  }

  showNames(on: boolean): void {
    this.names.hidden = !on;
    this.draw();
  }

  /** Frames of all bodies. */
  showAxes(on: boolean): void {
    this.seesFrames = on;
    this.robot.traverse((o) => { if (o.name === 'axes' && o.parent !== this.nodes[this.nodes.length - 1]) o.visible = on; });
    this.draw();
  }

  /** The joints that close loops, in a colour of their own. */
  showLoops(on: boolean): void {
    this.seesLoops = on;
    const passive = this.material(null, PASSIVE);
    const loop = this.material(null, LOOP);
    this.robot.traverse((o) => { if (o instanceof THREE.Mesh && o.userData['closure'] === true) o.material = on ? loop : passive; });
    this.draw();
  }

  /** Which way things fall. */
  showGravity(on: boolean): void {
    this.seesGravity = on;
    if (this.gravity) this.gravity.visible = on;
    this.draw();
  }

  private addAxes(thin: number): void {
    for (const node of this.nodes.slice(0, -1)) {
      const axes = new THREE.AxesHelper(4 * thin);
      axes.name = 'axes';
      axes.visible = this.seesFrames;
      node.add(axes);
    }
  }

  private addGravity(scene: Scene, frames: ArrayLike<number>): void {
    this.gravity?.removeFromParent();
    this.gravity?.dispose();
    this.gravity = null;
    const way = new THREE.Vector3(...scene.gravity);
    if (way.lengthSq() === 0) return;
    const { center, radius } = this.box(frames);
    const from = center.clone().add(new THREE.Vector3(-radius, 0, 0.5 * radius));
    this.gravity = new THREE.ArrowHelper(way.normalize(), from, 0.5 * radius, PLATFORM, 0.12 * radius, 0.07 * radius);
    this.gravity.visible = this.seesGravity;
    this.scene.add(this.gravity);
  }

  /** Which way the camera looks. */
  get direction(): THREE.Vector3 {
    return this.orbit.target.clone().sub(this.camera.position);
  }

  private box(frames: ArrayLike<number>): THREE.Sphere {
    const scene = this.drawing;
    const points = scene ? scene.pieces.flatMap((p) => [worldOf(frames, p.on[0], p.ends[0], A).clone(), worldOf(frames, p.on[1], p.ends[1], B).clone()]) : [];
    if (scene) scene.joints.forEach((j) => points.push(worldOf(frames, j.on, j.at, A).clone()));
    return new THREE.Box3().setFromPoints(points).getBoundingSphere(new THREE.Sphere());
  }

  /** Whether the camera no longer sees the robot. */
  private lost(frames: ArrayLike<number>): boolean {
    const { center, radius } = this.box(frames);
    const far = this.camera.position.distanceTo(center);
    return far > 12 * radius || far < 0.5 * radius;
  }

  /** Look at the whole robot: planar ones from above. */
  look(coordinates: Coordinate[], frames: ArrayLike<number>): void {
    const { center, radius } = this.box(frames);
    const planar = !coordinates.some((c) => ['z', 'roll', 'pitch'].includes(c.name));
    const way = planar ? new THREE.Vector3(0, -0.45, 1) : new THREE.Vector3(0.6, -1, 0.45);
    const narrow = Math.min(1, this.camera.aspect);
    this.camera.position.copy(center).addScaledVector(way.normalize(), (3.9 * radius) / narrow);
    this.camera.near = 0.02 * radius;
    this.camera.far = 60 * radius;
    this.camera.updateProjectionMatrix();
    this.orbit.target.copy(center);
    this.orbit.update();
  }

  /** Where the camera is, for a link. */
  get eye(): number[] {
    return [...this.camera.position.toArray(), ...this.orbit.target.toArray()];
  }

  set eye(list: number[]) {
    if (list.length !== 6 || !list.every(Number.isFinite)) return;
    this.camera.position.fromArray(list, 0);
    this.orbit.target.fromArray(list, 3);
    this.orbit.update();
  }

  resize(): void {
    const box = (this.canvas.parentElement ?? this.canvas).getBoundingClientRect();
    if (box.width < 1 || box.height < 1) return;
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.renderer.setSize(box.width, box.height, false);
    this.camera.aspect = box.width / box.height / (this.sides.length === 2 ? 2 : 1);
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  /** Draw before the next picture; again and again while something is animated. */
  draw(): void {
    this.stale = true;
    if (this.moving) return;
    this.moving = true;
    requestAnimationFrame((t) => this.frame(t));
  }

  private frame(t: number): void {
    this.moving = false;
    if (this.animate && !this.animate(t / 1000)) this.animate = null;
    // Handles make new lists for every picture: what moves by itself is drawn without them.
    if (this.animate && this.handles.parent) this.scene.remove(this.handles);
    else if (!this.animate && !this.handles.parent) this.scene.add(this.handles);
    if (this.stale || this.animate) {
      this.stale = false;
      if (this.sides.length === 2) this.drawSides();
      else this.renderer.render(this.scene, this.camera);
      if (!this.names.hidden) this.placeNames();
    }
    if (this.animate) this.draw();
  }

  /** Each of two things in its half. */
  private drawSides(): void {
    const [w, hgt] = [this.canvas.clientWidth, this.canvas.clientHeight];
    this.renderer.setScissorTest(true);
    for (let k = 0; k < 2; k++) {
      for (let i = 0; i < this.sides.length; i++) {
        const side = this.sides[i];
        if (side) side.visible = i === k;
      }
      this.renderer.setViewport((k * w) / 2, 0, w / 2, hgt);
      this.renderer.setScissor((k * w) / 2, 0, w / 2, hgt);
      this.renderer.render(this.scene, this.camera);
    }
    this.renderer.setScissorTest(false);
    this.renderer.setViewport(0, 0, w, hgt);
  }

  /** Names beside their joints; one that would lie over another is left out. */
  private placeNames(): void {
    const box = this.canvas.getBoundingClientRect();
    const taken: [number, number, number][] = [];
    for (const { at, place, box: label } of this.labels) {
      A.copy(place).applyMatrix4(at.matrixWorld).project(this.camera);
      const [x, y] = [((A.x + 1) / 2) * box.width, ((1 - A.y) / 2) * box.height];
      label.hidden = false;
      const wide = label.offsetWidth + 2;
      const apart = ([a, b, w]: [number, number, number]): boolean => a > x + wide || x > a + w || Math.abs(b - y) > 19;
      const inside = x + wide + 6 < box.width && x > 0 && y > 10 && y < box.height - 10;
      label.hidden = !(A.z < 1 && inside && taken.every(apart));
      if (label.hidden) continue;
      taken.push([x, y, wide]);
      label.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
  }

  /** A picture of this many pixels across. */
  async picture(width: number): Promise<Blob> {
    const [w, ratio] = [this.canvas.clientWidth, this.renderer.getPixelRatio()];
    const helper = this.transform.getHelper();
    helper.visible = false;
    this.renderer.setPixelRatio(width / Math.max(1, w));
    this.renderer.render(this.scene, this.camera);
    const done = new Promise<Blob>((yes, no) => this.canvas.toBlob((b) => (b ? yes(b) : no(new Error('no picture'))), 'image/png'));
    const blob = await done;
    helper.visible = true;
    this.renderer.setPixelRatio(ratio);
    this.draw();
    return blob;
  }

  /** What is seen as lines: pieces from end to end, joints as circles, the nearest last; the path of the platform too. */
  lines(): string {
    const [w, hgt] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const seen = (v: THREE.Vector3): [number, number, number] => {
      v.project(this.camera);
      return [((v.x + 1) / 2) * w, ((1 - v.y) / 2) * hgt, v.z];
    };
    const number = (x: number): string => x.toFixed(2);
    const colour = (hex: number): string => `#${hex.toString(16).padStart(6, '0')}`;
    const marks: { depth: number; text: string }[] = [];
    this.robot.traverse((o) => {
      if (!(o instanceof THREE.Mesh) || !o.visible) return;
      const ink = colour((o.material as THREE.MeshLambertMaterial).color.getHex());
      if (['link', 'beam', 'slide', 'platform'].includes(o.name.split(' ')[0] ?? '') && o.geometry instanceof THREE.CylinderGeometry) {
        const [a, b] = [seen(A.set(0, -0.5, 0).applyMatrix4(o.matrixWorld)), seen(B.set(0, 0.5, 0).applyMatrix4(o.matrixWorld))];
        marks.push({ depth: Math.max(a[2], b[2]), text: `<line x1="${number(a[0])}" y1="${number(a[1])}" x2="${number(b[0])}" y2="${number(b[1])}" stroke="${ink}" stroke-width="4"/>` });
      } else if (o.name.startsWith('joint')) {
        const [x, y, depth] = seen(A.set(0, 0, 0).applyMatrix4(o.matrixWorld));
        marks.push({ depth: depth - 1e-6, text: `<circle cx="${number(x)}" cy="${number(y)}" r="5" fill="#ffffff" stroke="${ink}" stroke-width="2.5"/>` });
      }
    });
    marks.sort((a, b) => b.depth - a.depth);
    const path = this.path?.geometry.getAttribute('position');
    const points: string[] = [];
    for (let k = 0; path && k < path.count; k++) {
      const [x, y] = seen(A.fromBufferAttribute(path, k));
      points.push(`${number(x)},${number(y)}`);
    }
    const way = points.length ? `<polyline points="${points.join(' ')}" fill="none" stroke="${colour(PLATFORM)}" stroke-width="1"/>\n` : '';
    const body = marks.map((m) => m.text).join('\n');
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${hgt}" width="${w}" height="${hgt}">\n<g stroke-linecap="round">\n${way}${body}\n</g>\n</svg>\n`;
  }

  /** The posture as glTF, with a motion where one is given. */
  async model(motion: readonly { t: number; frames: ArrayLike<number> }[] = []): Promise<Blob> {
    const { GLTFExporter } = await import('three/examples/jsm/exporters/GLTFExporter.js');
    const clip = motion.length > 1 ? [this.clip(motion)] : [];
    const copy = this.robot.clone(true);
    const axes: THREE.Object3D[] = [];
    copy.traverse((o) => {
      if (o.name === 'axes') axes.push(o);
      if (o instanceof THREE.Mesh) o.material = forFiles(o.material as THREE.MeshLambertMaterial);
    });
    axes.forEach((o) => o.removeFromParent());
    copy.rotation.x = -Math.PI / 2;
    copy.traverse((o) => { if (!o.matrixAutoUpdate) o.matrix.decompose(o.position, o.quaternion, o.scale); });
    const found = await new GLTFExporter().parseAsync(copy, { binary: false, trs: clip.length > 0, animations: clip });
    return new Blob([JSON.stringify(found)], { type: 'model/gltf+json' });
  }

  /** What moves in a motion: every node, and the slides between them. Things are found by name. */
  private clip(motion: readonly { t: number; frames: ArrayLike<number> }[]): THREE.AnimationClip {
    const first = motion[0]?.t ?? 0;
    const times = motion.map((m) => m.t - first);
    const moving: [THREE.Object3D, (frames: ArrayLike<number>) => void][] = [
      ...this.nodes.map((g, i): [THREE.Object3D, (f: ArrayLike<number>) => void] => [g, (f) => { setFrame(g.matrix, f, i); g.matrix.decompose(g.position, g.quaternion, g.scale); }]),
      ...this.slides.map(({ piece, mesh }, k): [THREE.Object3D, (f: ArrayLike<number>) => void] => {
        mesh.name = `slide ${k + 1}`;
        return [mesh, (f) => stretch(mesh, worldOf(f, piece.on[0], piece.ends[0], A), worldOf(f, piece.on[1], piece.ends[1], B))];
      }),
    ];
    const tracks = moving.flatMap(([object, set]) => {
      const [p, q, s]: [number[], number[], number[]] = [[], [], []];
      for (const { frames } of motion) {
        set(frames);
        p.push(...object.position.toArray());
        q.push(object.quaternion.x, object.quaternion.y, object.quaternion.z, object.quaternion.w);
        s.push(...object.scale.toArray());
      }
      const name = THREE.PropertyBinding.sanitizeNodeName(object.name);
      object.name = name;
      return [
        new THREE.VectorKeyframeTrack(`${name}.position`, times, p),
        new THREE.QuaternionKeyframeTrack(`${name}.quaternion`, times, q),
        new THREE.VectorKeyframeTrack(`${name}.scale`, times, s),
      ];
    });
    return new THREE.AnimationClip('motion', -1, tracks);
  }
}

/** The material that glTF knows, of the same colour. */
function forFiles(own: THREE.MeshLambertMaterial): THREE.MeshStandardMaterial {
  const { color, opacity, side } = own;
  return new THREE.MeshStandardMaterial({ color, opacity, transparent: opacity < 1, side, roughness: 0.6, metalness: 0.1 });
}

/** Take away what is drawn for a while, its memory too. */
function emptied(group: THREE.Group): void {
  group.traverse((o) => {
    if (!(o instanceof THREE.Line || o instanceof THREE.Mesh)) return;
    (o.geometry as THREE.BufferGeometry).dispose();
    (o.material as THREE.Material).dispose();
  });
  group.clear();
}

/** A cylinder of length one along y between two points. */
function stretch(mesh: THREE.Mesh, from: THREE.Vector3, to: THREE.Vector3): void {
  D.subVectors(to, from);
  const length = Math.max(D.length(), 1e-9);
  mesh.position.copy(from).addScaledVector(D, 0.5);
  mesh.quaternion.setFromUnitVectors(UP, D.divideScalar(length));
  mesh.scale.set(1, length, 1);
  mesh.updateMatrix();
}

/** A point of a node in the world. */
export function worldOf(f: ArrayLike<number>, node: number, p: readonly [number, number, number], to: THREE.Vector3, first = 0): THREE.Vector3 {
  const o = first + 12 * node;
  const x = (f[o] ?? 0) * p[0] + (f[o + 3] ?? 0) * p[1] + (f[o + 6] ?? 0) * p[2] + (f[o + 9] ?? 0);
  const y = (f[o + 1] ?? 0) * p[0] + (f[o + 4] ?? 0) * p[1] + (f[o + 7] ?? 0) * p[2] + (f[o + 10] ?? 0);
  const z = (f[o + 2] ?? 0) * p[0] + (f[o + 5] ?? 0) * p[1] + (f[o + 8] ?? 0) * p[2] + (f[o + 11] ?? 0);
  return to.set(x, y, z);
}

function setFrame(m: THREE.Matrix4, f: ArrayLike<number>, node: number, first = 0): void {
  const o = first + 12 * node;
  const e = m.elements;
  for (let c = 0; c < 4; c++) for (let r = 0; r < 3; r++) e[4 * c + r] = f[o + 3 * c + r] ?? 0;
}

function glyph(j: SceneJoint, thin: number): THREE.BufferGeometry {
  const r = (j.active ? 1.9 : 1.35) * thin;
  switch (j.kind) {
    case 'S': return new THREE.SphereGeometry(1.25 * r, 20, 12);
    case 'P': return new THREE.BoxGeometry(2 * r, 3.2 * r, 2 * r);
    case 'U': return new THREE.OctahedronGeometry(1.4 * r);
    case 'C': return new THREE.CylinderGeometry(r, r, 4 * r, 20);
    case 'fixed': return new THREE.BoxGeometry(1.2 * r, 1.2 * r, 1.2 * r);
    default: return new THREE.CylinderGeometry(r, r, 2.4 * r, 24);
  }
}

function lines(points: number[], colour: number): THREE.LineSegments {
  const shape = new THREE.BufferGeometry();
  shape.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
  return new THREE.LineSegments(shape, new THREE.LineBasicMaterial({ color: colour }));
}
