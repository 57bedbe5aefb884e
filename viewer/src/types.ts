// The documents that the library answers with, as far as the page reads them.

export type Vec3 = [number, number, number];

export interface SceneNode { name: string; leg: number | null; line: number; mass: number; centre: Vec3 | null }
export interface ScenePiece {
  kind: 'link' | 'beam' | 'slide' | 'platform';
  on: [number, number];
  ends: [Vec3, Vec3];
  radius: number | null;
}
export interface SceneJoint {
  name: string;
  kind: 'R' | 'P' | 'U' | 'S' | 'C' | 'fixed';
  on: number;
  to: number;
  at: Vec3;
  at_other: Vec3;
  axis: Vec3;
  active: boolean;
  closure: boolean;
}
export interface Scene {
  size: number;
  gravity: Vec3;
  legs: string[];
  nodes: SceneNode[];
  pieces: ScenePiece[];
  joints: SceneJoint[];
}

export interface Coordinate { name: string; angle: boolean; home: number; reach: [number, number] }
export interface Joint { name: string; slides: boolean; range: [number, number] | null; node: number }
export interface Fault {
  code: string;
  message: string;
  suggestion: string | null;
  line: number;
  column: number;
  length: number;
}
export interface Portrait {
  robot: string;
  name: string;
  summary: string;
  coordinates: Coordinate[];
  components: string[];
  active: Joint[];
  passive: Joint[];
  drives: { effort: number | null; speed: number | null }[];
  working_mode: string;
  mobility: number;
  mobility_counts: [number, number, number];
  overconstraint: number;
  length_scale: number;
  flexible: boolean;
  point: boolean;
  parameters: [string, number][];
  remarks: Fault[];
  scene: Scene;
}

export interface Refused { kind: string; message: string; leg?: string; by?: number; joint?: string }
export type Answer<T> = { answer: T } | { error: Refused; faults?: Fault[] };

export interface Pose { p: Vec3; R: [Vec3, Vec3, Vec3]; phi?: number }
export interface Standing {
  pose: Pose;
  active: { q: number[] };
  passive: { q: number[] };
  working_mode: string;
  residual: number;
  coordinates?: number[];
}
export interface WorkingModes { working_modes: Standing[]; complete: boolean }
export interface Assemblies {
  assemblies: { pose: Pose; residual: number; working_mode: string }[];
  complete: boolean;
}
export interface Singularity {
  kind: string;
  leg: string | null;
  sigma: number;
  distance: number | null;
  singular: boolean;
  twist?: number[];
}
export interface Singularities { singularities: Singularity[]; undefined: string[]; length_scale: number }
export interface EnergyShare { of: string; kind?: string; share: number }
export interface PlaceMotion { of: string; position: Vec3; motion: [number, number, number, number, number, number] }
export interface Mode {
  frequency_hz: number;
  kind: string;
  elastic_energy: EnergyShare[];
  shape?: PlaceMotion[];
}
export interface Sensitivity { parameter: string; percent_per_percent: number[] }
export interface Frequencies { frequencies_hz: number[]; modes: Mode[]; sensitivities?: Sensitivity[] }
export interface Efforts {
  efforts: number[];
  potential_energy: number;
  ground_wrench_on_robot: number[];
  condition: number;
}
export interface Reactions {
  reactions: {
    /** Of the joint on which each body stands, on that body, in world axes. */
    joints: { body: string; wrench: number[] }[];
    closures: { closure: string; point: Vec3; wrench: number[] }[];
    determined: boolean;
  };
}
export interface MapRow { values: (number | null)[]; unit: string }
export interface MapAnswer {
  quantity: string;
  unit: string;
  working_mode: string;
  axes: { name: string; values: number[] }[];
  /** The first coordinate outermost. */
  values: (number | null)[][];
}
export interface Loci { curves: { what?: unknown; points: [number, number][] }[]; reachable_area: number; aspects: { area: number }[] }
export interface Simulation {
  states: { t: number; pose: Pose; twist: number[]; acceleration: number[]; active: { q: number[]; qd: number[] }; efforts: number[] }[];
  stop: { kind: string; message: string; t: number };
}

/** Something on the time line of a motion. */
export interface FilmMark { kind: 'limit' | 'singularity' | 'no-answer'; from: number; to: number; what: string }
/** A motion that the page plays. */
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

/** What a robot is made of. */
export interface Source {
  name: string;
  text?: string;
  files?: Record<string, string>;
  set?: [string, string][];
  actuation?: string | null;
}

/** What the command line puts into the page. */
export interface Given {
  source: Source;
  portrait?: Portrait;
  faults?: Fault[];
  postures?: { name: string; at: number[]; frames: number[]; standing: Standing }[];
  at?: number[];
  mode?: string;
  /** A page in which robots are tried: any shipped one, or a text of one's own. */
  playground?: boolean;
  motion?: Film;
  map?: MapAnswer;
}
