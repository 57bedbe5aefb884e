// Documents of the library. Written by its tests (crates/gough/tests/all/documents.rs) from what it serialises, and held equal by
// them; `GOUGH_WRITE_DOCUMENTS=1 cargo test --test all documents` writes it again. Fields that are not in every document have a `?`.

/** What each question is answered with. */
export interface Answers {
  assemblies: AssemblyModes;
  drive: Stood;
  extent: [[number, number], [number, number]];
  frequencies: FrequencyAnswer;
  idm: Efforts;
  kinematics: PostureAnswer;
  loci: LociTraced;
  map: MapAnswer;
  modes: WorkingModes;
  place: Stood;
  robot: Portrait;
  robots: string[];
  simulate: SimulationAnswer;
  singularities: Singularities;
  source: Source;
  standing: Stood;
}

export interface Aspect {
  area: number;
}

export interface Assembly {
  pose: PlatformPose;
  passive: JointMotion;
  residual: number;
  working_mode: string;
}

export interface AssemblyModes {
  active: JointMotion;
  assemblies: Assembly[];
  complete: boolean;
  misfit: number;
}

export interface BodyForce {
  body: string;
  wrench: [number, number, number, number, number, number];
}

export interface ClosureForce {
  closure: string;
  leg: string;
  point: [number, number, number];
  wrench: [number, number, number, number, number, number];
  multipliers: number[];
}

export interface CoordinatePortrait {
  name: string;
  angle: boolean;
  home: number;
  reach: [number, number];
}

export interface Curve {
  kind: string;
  leg: string | null;
  points: [number, number][];
}

export interface DriveMotion {
  q: number[];
  qd: number[];
  qdd: number[];
}

export interface DrivePortrait {
  effort: number | null;
  speed: number | null;
}

export interface DriveUse {
  joint: string;
  gives: string;
  rotor: string;
}

export interface Efforts {
  pose: PlatformPose;
  active: JointMotion;
  passive: JointMotion;
  efforts: number[];
  efforts_with_friction: number[];
  kinetic_energy: number;
  kinetic_energy_rotors: number;
  potential_energy: number;
  ground_wrench_on_robot: [number, number, number, number, number, number];
  condition: number;
  near_singularities: unknown[];
  internal_load: number[] | null;
  null_space: number[][] | null;
  working_mode: string;
  twist: number[];
  acceleration: number[];
  reactions?: JointForces;
}

export interface Ended {
  kind: string;
  message: string;
  t: number;
}

export interface EnergyShare {
  of: string;
  kind?: string;
  share: number;
}

export interface FaultDocument {
  code: string;
  message: string;
  line: number;
  column: number;
  length: number;
  suggestion: string | null;
}

export interface Film {
  working_mode: string;
  t: number[];
  at: number[][];
  twists: number[][];
  accelerations: number[][];
  rates: number[][];
  efforts: number[][];
  marks: FilmMark[];
  frames?: number[][];
}

export interface FilmMark {
  kind: string;
  from: number;
  to: number;
  what: string;
}

export interface FrequencyAnswer {
  robot: string;
  left_out: unknown[];
  pose: PlatformPose;
  working_mode: string;
  method: string;
  actuators: string;
  dof: number;
  massless: string[];
  drives: DriveUse[];
  sliders: unknown[];
  frequencies_hz: number[];
  modes: ModeAnswer[];
  sensitivities?: FrequencySensitivity[];
}

export interface FrequencySensitivity {
  parameter: string;
  value: number;
  hz_per_unit: number[];
  percent_per_percent: number[];
}

export interface GivenPosture {
  name: string;
  at: number[];
  frames: number[];
  standing: PostureAnswer;
}

export interface InertiaEllipsoid {
  moments: [number, number, number];
  radii: [number, number, number];
  axes: [[number, number, number], [number, number, number], [number, number, number]];
}

export interface JointForces {
  joints: BodyForce[];
  closures: ClosureForce[];
  determined: boolean;
}

export interface JointMotion {
  q: number[];
  qd?: number[];
  qdd?: number[];
}

export interface JointPortrait {
  name: string;
  slides: boolean;
  range: [number, number] | null;
  node: number;
}

export interface LineClass {
  rank: number;
  class: string;
  description: string;
}

export interface LociTraced {
  robot: string;
  working_mode: string;
  axes: SpannedAxis[];
  accuracy: number;
  curves: Curve[];
  aspects: Aspect[];
  reachable_area: number;
  complete: boolean;
  left: number;
  everywhere: string[];
  aspect_of_node: (number | null)[];
}

export interface MapAnswer {
  robot: string;
  quantity: string;
  unit: string;
  working_mode: string;
  length_scale: number;
  axes: MapAxis[];
  values: (number | (number | null)[] | null)[];
  refused: RefusedNodes[];
  complete: boolean;
  left_out: unknown[];
}

export interface MapAxis {
  name: string;
  values: number[];
}

export interface ModeAnswer {
  frequency_hz: number;
  omega2: number;
  kind: string;
  multiplicity: number;
  elastic_energy: EnergyShare[];
  kinetic_energy: EnergyShare[];
  shape?: PlaceMotion[];
}

export interface MovingState {
  t: number;
  pose: PlatformPose;
  twist: number[];
  acceleration: number[];
  active: DriveMotion;
  efforts: number[];
  kinetic_energy: number;
  kinetic_energy_rotors: number;
  potential_energy: number;
  work: number;
  losses: number;
  work_of_load: number;
}

export interface NamedPosture {
  name: string;
  pose: PlatformPose;
  active: JointMotion;
  passive: JointMotion;
  working_mode: string;
  residual: number;
}

export interface PageContent {
  source: Source;
  portrait: Portrait;
  postures: GivenPosture[];
  at: number[] | null;
  mode: string;
  motion: Film | null;
  map: MapAnswer | null;
}

export interface PlaceMotion {
  of: string;
  position: [number, number, number];
  motion: [number, number, number, number, number, number];
}

export interface PlatformPose {
  p: [number, number, number];
  R: [[number, number, number], [number, number, number], [number, number, number]];
  phi?: number;
}

export interface Portrait {
  robot: string;
  name: string;
  summary: string;
  coordinates: CoordinatePortrait[];
  components: string[];
  active: JointPortrait[];
  passive: JointPortrait[];
  drives: DrivePortrait[];
  working_mode: string;
  mobility: number;
  mobility_counts: [number, number, number];
  overconstraint: number;
  length_scale: number;
  flexible: boolean;
  point: boolean;
  parameters: [string, number][];
  remarks: FaultDocument[];
  scene: Scene;
}

export interface PostureAnswer {
  pose: PlatformPose;
  active: JointMotion;
  passive: JointMotion;
  working_mode: string;
  residual: number;
}

export interface RefusalDocument {
  kind: string;
  message: string;
  leg?: string;
  by?: number;
  joint?: string;
}

export interface RefusedNodes {
  kind: string;
  count: number;
}

export interface Scene {
  size: number;
  gravity: [number, number, number];
  legs: string[];
  nodes: SceneNode[];
  pieces: ScenePiece[];
  joints: SceneJoint[];
}

export interface SceneJoint {
  name: string;
  kind: string;
  on: number;
  to: number;
  at: [number, number, number];
  at_other: [number, number, number];
  axis: [number, number, number];
  active: boolean;
  closure: boolean;
}

export interface SceneNode {
  name: string;
  leg: number | null;
  line: number;
  mass: number;
  centre: [number, number, number] | null;
  ellipsoid: InertiaEllipsoid | null;
}

export interface ScenePiece {
  kind: string;
  on: [number, number];
  ends: [[number, number, number], [number, number, number]];
  radius: number | null;
}

export interface SimulationAnswer {
  robot: string;
  left_out: unknown[];
  working_mode: string;
  active_joints: string[];
  stop: Ended;
  steps: number;
  rejected: number;
  largest_gap_m: number;
  largest_gap_rad: number;
  energy_error: number;
  energy_scale: number;
  time_at_effort_limit: number[];
  states: MovingState[];
}

export interface Singularities {
  robot: string;
  pose: PlatformPose;
  working_mode: string;
  length_scale: number;
  singularities: SingularityAnswer[];
  undefined: string[];
  lines: LineClass | null;
}

export interface SingularityAnswer {
  kind: string;
  leg: string | null;
  sigma: number;
  distance: number | null;
  singular: boolean;
  wrench?: [number, number, number, number, number, number];
  twist?: [number, number, number, number, number, number];
  joints?: Record<string, number>;
}

export interface Source {
  name: string;
  text: string;
  files: Record<string, string>;
  set: [string, string][];
  actuation: string | null;
}

export interface SpannedAxis {
  name: string;
  low: number;
  high: number;
  count: number;
}

export interface Stood {
  pose: PlatformPose;
  active: JointMotion;
  passive: JointMotion;
  working_mode: string;
  residual: number;
  coordinates: number[];
}

export interface WorkingModes {
  pose: PlatformPose;
  active: JointMotion;
  passive: JointMotion;
  working_mode: string;
  residual: number;
  working_modes: NamedPosture[];
  complete: boolean;
}
