// What the page calls the documents of the library, and what it adds to them.

import type {
  CoordinatePortrait, FaultDocument, FilmMark, FrequencyAnswer, GivenPosture, LociTraced, MapAnswer, ModeAnswer, PageContent, Portrait, PostureAnswer,
  RefusalDocument, Source as SourceDocument, Stood,
} from './documents';

export type { EnergyShare, InertiaEllipsoid, PlaceMotion, Scene, SceneJoint, SceneNode, ScenePiece, SimulationAnswer as Simulation } from './documents';
export type { FilmMark, GivenPosture, MapAnswer, Portrait, Stood };
export type Vec3 = [number, number, number];
export type Coordinate = CoordinatePortrait;
export type Fault = FaultDocument;
export type Refused = RefusalDocument;
export type Standing = PostureAnswer;
export type Pose = PostureAnswer['pose'];
export type Mode = ModeAnswer;
export type Frequencies = FrequencyAnswer;
export type Loci = LociTraced;

export type Answer<T> = { answer: T } | { error: Refused; faults?: Fault[] };

/** A motion that the page plays; frames where it cannot compute them. */
export type Film = NonNullable<PageContent['motion']>;

/** What a robot is made of; a shipped one by its name. */
export type Source = Pick<SourceDocument, 'name'> & Partial<SourceDocument>;

/** What the command line puts into the page; nothing into a page in which robots are tried. */
export type Given = Partial<Omit<PageContent, 'source'>> & { source: Source; playground?: boolean; faults?: Fault[] };
