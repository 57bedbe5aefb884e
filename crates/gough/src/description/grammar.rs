//! The robot-file format as data: the reader checks against it, and the JSON Schema and the book's reference page
//! are printed from it, so that the three cannot disagree.

use super::units::{PURE, Powers};

/// A table of the file.
#[derive(Debug)]
pub struct Section {
    /// How the table is called in messages and headings.
    pub title: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
    /// What any other key may hold, when names are free.
    pub free: Option<&'static KeyKind>,
}

/// A key of a [`Section`].
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Key {
    pub name: &'static str,
    pub kind: KeyKind,
    pub required: bool,
    pub doc: &'static str,
}

/// What a key may hold.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum KeyKind {
    Text,
    /// One text or a list of texts.
    Texts,
    Flag,
    Count,
    Number(Unit),
    /// That many numbers.
    Numbers(Unit, usize),
    /// Three numbers, or the name of a point of a modal body.
    Point,
    OneOf(&'static [&'static str]),
    Table(&'static Section),
    /// A list of tables.
    Rows(&'static Section),
}

/// What a number measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Unit {
    Any,
    Pure,
    Angle,
    Length,
    Mass,
    FirstMoment,
    Inertia,
    Density,
    Pressure,
    Area,
    SecondMoment,
    Acceleration,
    /// Coordinate of a joint: an angle, or a length for P.
    Position,
    Speed,
    Effort,
    Viscous,
    Stiffness,
    RotorInertia,
    /// Inverse of a speed.
    Decay,
    LinearCompliance,
    AngularCompliance,
}

impl Unit {
    /// Its dimension; joint quantities depend on whether the joint slides. `None`: anything.
    pub fn powers(self, slides: bool) -> Option<Powers> {
        let by_joint = |revolute: Powers, prismatic: Powers| Some(if slides { prismatic } else { revolute });
        match self {
            Unit::Any => None,
            Unit::Pure | Unit::Angle => Some(PURE),
            Unit::Length => Some([1, 0, 0]),
            Unit::Mass => Some([0, 1, 0]),
            Unit::FirstMoment => Some([1, 1, 0]),
            Unit::Inertia => Some([2, 1, 0]),
            Unit::Density => Some([-3, 1, 0]),
            Unit::Pressure => Some([-1, 1, -2]),
            Unit::Area => Some([2, 0, 0]),
            Unit::SecondMoment => Some([4, 0, 0]),
            Unit::Acceleration => Some([1, 0, -2]),
            Unit::Position => by_joint(PURE, [1, 0, 0]),
            Unit::Speed => by_joint([0, 0, -1], [1, 0, -1]),
            Unit::Effort => by_joint([2, 1, -2], [1, 1, -2]),
            Unit::Viscous => by_joint([2, 1, -1], [0, 1, -1]),
            Unit::Stiffness => by_joint([2, 1, -2], [0, 1, -2]),
            Unit::RotorInertia => by_joint([2, 1, 0], [0, 1, 0]),
            Unit::Decay => by_joint([0, 0, 1], [-1, 0, 1]),
            Unit::LinearCompliance => Some([0, -1, 2]),
            Unit::AngularCompliance => Some([-2, -1, 2]),
        }
    }

    /// The SI unit, for people.
    pub fn si(self) -> &'static str {
        match self {
            Unit::Any => "",
            Unit::Pure => "1",
            Unit::Angle => "rad",
            Unit::Length => "m",
            Unit::Mass => "kg",
            Unit::FirstMoment => "kg m",
            Unit::Inertia => "kg m^2",
            Unit::Density => "kg/m^3",
            Unit::Pressure => "Pa",
            Unit::Area => "m^2",
            Unit::SecondMoment => "m^4",
            Unit::Acceleration => "m/s^2",
            Unit::Position => "rad or m",
            Unit::Speed => "rad/s or m/s",
            Unit::Effort => "N m or N",
            Unit::Viscous => "N m s/rad or N s/m",
            Unit::Stiffness => "N m/rad or N/m",
            Unit::RotorInertia => "kg m^2 or kg",
            Unit::Decay => "s/rad or s/m",
            Unit::LinearCompliance => "m/N",
            Unit::AngularCompliance => "rad/(N m)",
        }
    }
}

const fn key(name: &'static str, kind: KeyKind, doc: &'static str) -> Key {
    Key { name, kind, required: false, doc }
}

const fn must(name: &'static str, kind: KeyKind, doc: &'static str) -> Key {
    Key { name, kind, required: true, doc }
}

/// Joints of the tree.
pub const JOINTS: &[&str] = &["R", "P", "U", "S", "C", "H", "Pi", "fixed"];
/// Joints of a closure.
pub const CLOSURE_JOINTS: &[&str] = &["fixed", "R", "P", "U", "S", "C"];
/// Names of platform coordinates.
pub const COORDINATES: &[&str] = &["x", "y", "z", "rx", "ry", "rz"];
/// Words for the usual sets of platform coordinates.
pub const COORDINATE_SETS: &[&str] = &["spatial", "planar", "translation", "point"];

static ANY: KeyKind = KeyKind::Number(Unit::Any);
static POSITION: KeyKind = KeyKind::Number(Unit::Position);
static TEXTS: KeyKind = KeyKind::Texts;
static TEMPLATE_KIND: KeyKind = KeyKind::Table(&TEMPLATE);
static LEG_KIND: KeyKind = KeyKind::Table(&LEG);
static MATERIAL_KIND: KeyKind = KeyKind::Table(&MATERIAL);
static SECTION_KIND: KeyKind = KeyKind::Table(&SECTION);

/// The whole file.
pub static ROOT: Section = Section {
    title: "the file",
    doc: "A robot: what it is called, its named numbers, its base, platform and legs.",
    keys: &[
        key("robot", KeyKind::Table(&ROBOT), "Name, sources, gravity, home pose, working mode."),
        key("parameters", KeyKind::Table(&PARAMETERS), "Named numbers; they stay alive in the model."),
        key("base", KeyKind::Table(&BASE), "Where the base frame stands in the world."),
        must("platform", KeyKind::Table(&PLATFORM), "What moves: its coordinates and body data."),
        key("body", KeyKind::Rows(&BODY), "Bodies that no template writes."),
        key("closure", KeyKind::Rows(&CLOSURE), "Closures that no template writes."),
        key("coupling", KeyKind::Rows(&COUPLING), "Couplings that no template writes."),
        key("template", KeyKind::Table(&TEMPLATES), "Leg templates by name."),
        key("legs", KeyKind::Table(&LEGS), "Instances of templates, in the order of the legs."),
        key("actuation", KeyKind::Table(&ACTUATION), "Named sets of driven joints; the first is the default."),
        key("material", KeyKind::Table(&MATERIALS), "Materials by name."),
        key("section", KeyKind::Table(&SECTIONS), "Beam sections by name."),
        key("elastic", KeyKind::Table(&ELASTIC), "What elastic models of the robot hold and keep."),
    ],
    free: None,
};

/// A file that changes another one.
pub static OVERLAY: Section = Section {
    title: "an overlay",
    doc: "A file that changes values of another robot file and is used in its place: a second specimen, another tool, identified parameters.",
    keys: &[
        must(
            "extends",
            KeyKind::Text,
            "The robot file that is changed: a shipped robot, or a file in the folder of the overlay or below.",
        ),
        key("robot", KeyKind::Table(&ROBOT), "Keys that take the place of those of the file."),
        key("parameters", KeyKind::Table(&PARAMETERS), "New values of parameters that the file has."),
        key("platform", KeyKind::Table(&CHANGED_BODY), "Mass data of the platform or of the tool."),
        key("body", KeyKind::Table(&CHANGED_BODIES), "Mass data of bodies by name."),
        key("drive", KeyKind::Table(&CHANGED_DRIVES), "Drives by the joint they drive, `q11` or `11`."),
        key(
            "joint",
            KeyKind::Table(&CHANGED_JOINTS),
            "Joints by name, `q12` or `12`; closures too, by what they join, `(12-22)`, when they have no name.",
        ),
    ],
    free: None,
};

static CHANGED_BODIES: Section = Section {
    title: "changed bodies",
    doc: "Bodies by name, those that templates write too.",
    keys: &[],
    free: Some(&CHANGED_BODY_KIND),
};
static CHANGED_DRIVES: Section =
    Section { title: "changed drives", doc: "Drives by joint.", keys: &[], free: Some(&DRIVE_KIND) };
static CHANGED_JOINTS: Section =
    Section { title: "changed joints", doc: "Joints by name.", keys: &[], free: Some(&CHANGED_JOINT_KIND) };
static CHANGED_BODY_KIND: KeyKind = KeyKind::Table(&CHANGED_BODY);
static DRIVE_KIND: KeyKind = KeyKind::Table(&DRIVE);
static CHANGED_JOINT_KIND: KeyKind = KeyKind::Table(&CHANGED_JOINT);

static CHANGED_BODY: Section = Section {
    title: "a changed body",
    doc: "Mass data that take the place of those of the file, key by key.",
    keys: &[
        key("mass", KeyKind::Number(Unit::Mass), "Mass."),
        key("com", KeyKind::Numbers(Unit::Length, 3), "Centre of mass, in place of a first moment too."),
        key(
            "first_moment",
            KeyKind::Numbers(Unit::FirstMoment, 3),
            "Mass times centre of mass, in place of `com` too.",
        ),
        key("inertia", KeyKind::Table(&INERTIA), "Rotational inertia."),
        key("shape", KeyKind::Table(&SHAPE), "A simple solid."),
        key("lumped", KeyKind::Rows(&LUMPED), "Point masses."),
        key("grouped", KeyKind::Flag, "Grouped parameters."),
    ],
    free: None,
};

static CHANGED_JOINT: Section = Section {
    title: "a changed joint",
    doc: "What takes the place of the file's, friction key by key.",
    keys: &[
        key("friction", KeyKind::Table(&FRICTION), "Friction of the joint."),
        key("stiffness", KeyKind::Number(Unit::Stiffness), "Spring of the joint."),
        key("range", KeyKind::Numbers(Unit::Position, 2), "Lowest and highest coordinate."),
    ],
    free: None,
};

static ROBOT: Section = Section {
    title: "[robot]",
    doc: "The robot as a whole.",
    keys: &[
        key("name", KeyKind::Text, "Name of the robot; that of the file unless given."),
        key("summary", KeyKind::Text, "One line on what it is."),
        key("source", KeyKind::Texts, "Where the data come from."),
        key("gravity", KeyKind::Numbers(Unit::Acceleration, 3), "Gravity in world axes; [0, 0, -9.81] unless given."),
        key("home", KeyKind::Table(&HOME), "A platform pose that the robot can take."),
        key("mode", KeyKind::Texts, "Working mode: signs per leg, as one text or one per leg."),
        key("near", KeyKind::Table(&NEAR), "Joints near which the working mode is chosen."),
        key(
            "length",
            KeyKind::Number(Unit::Length),
            "Length that makes rotations comparable with translations in ranks and distances; by default the root mean square distance of the leg attachments from the platform origin when the platform turns, else that between neighbouring joints.",
        ),
    ],
    free: None,
};

static HOME: Section = Section {
    title: "home",
    doc: "Platform coordinates by name; those not given are zero.",
    keys: &[
        key("x", KeyKind::Number(Unit::Length), "Position."),
        key("y", KeyKind::Number(Unit::Length), "Position."),
        key("z", KeyKind::Number(Unit::Length), "Position."),
        key("phi", KeyKind::Number(Unit::Angle), "Planar angle, about z."),
        key("theta", KeyKind::Number(Unit::Angle), "Another name of phi."),
        key("roll", KeyKind::Number(Unit::Angle), "Angle about x, applied first."),
        key("pitch", KeyKind::Number(Unit::Angle), "Angle about y."),
        key("yaw", KeyKind::Number(Unit::Angle), "Angle about z, applied last."),
        key("rx", KeyKind::Number(Unit::Angle), "Another name of roll."),
        key("ry", KeyKind::Number(Unit::Angle), "Another name of pitch."),
        key("rz", KeyKind::Number(Unit::Angle), "Another name of yaw."),
    ],
    free: None,
};

static NEAR: Section =
    Section { title: "near", doc: "Joints by name and their approximate positions.", keys: &[], free: Some(&POSITION) };

static PARAMETERS: Section = Section {
    title: "[parameters]",
    doc: "Any name that is not a unit, a function or `pi`. A parameter may be an expression of others.",
    keys: &[],
    free: Some(&ANY),
};

static BASE: Section = Section {
    title: "[base]",
    doc: "The base, fixed to the world. Bodies stand on it with `on = \"base\"`.",
    keys: &[key("frame", KeyKind::Table(&FRAME), "Base frame in the world.")],
    free: None,
};

static FRAME: Section = Section {
    title: "frame",
    doc: "A frame: position and orientation `Rz(yaw) Ry(pitch) Rx(roll)`.",
    keys: &[
        key("xyz", KeyKind::Numbers(Unit::Length, 3), "Origin."),
        key("rpy", KeyKind::Numbers(Unit::Angle, 3), "Roll, pitch, yaw."),
    ],
    free: None,
};

static PLATFORM: Section = Section {
    title: "[platform]",
    doc: "The body that is driven, or a tool point on a body of a leg. `coordinates` is a claim about the mechanism and is checked.",
    keys: &[
        must(
            "coordinates",
            KeyKind::Texts,
            "`spatial`, `planar`, `translation`, `point`, or a list of x, y, z, rx, ry, rz; the others follow from the closures.",
        ),
        key(
            "frame",
            KeyKind::Table(&FRAME),
            "Frame on the platform whose pose the coordinates give; its own unless given.",
        ),
        key("body", KeyKind::Text, "`point`: the body that carries the tool point."),
        key("point", KeyKind::Numbers(Unit::Length, 3), "`point`: the tool point in that body's frame."),
        key("mass", KeyKind::Number(Unit::Mass), "Mass."),
        key("com", KeyKind::Numbers(Unit::Length, 3), "Centre of mass."),
        key("first_moment", KeyKind::Numbers(Unit::FirstMoment, 3), "Mass times centre of mass, in place of `com`."),
        key("inertia", KeyKind::Table(&INERTIA), "Rotational inertia."),
        key("shape", KeyKind::Table(&SHAPE), "A simple solid, in place of mass, com and inertia."),
        key("lumped", KeyKind::Rows(&LUMPED), "Point masses."),
        key(
            "grouped",
            KeyKind::Flag,
            "The parameters are grouped (base) parameters: no check that a body can have them.",
        ),
        key("modal", KeyKind::Table(&MODAL), "A flexible platform from a modal analysis."),
    ],
    free: None,
};

static BODY: Section = Section {
    title: "body",
    doc: "A body and the joint that carries it. Body, joint and frame have one name; the coordinate is that name with a `q`.",
    keys: &[
        must("name", KeyKind::Text, "Name; `{leg}` is the key of the leg."),
        must("on", KeyKind::Text, "Body it stands on: `base`, `platform` or another body."),
        must(
            "joint",
            KeyKind::OneOf(JOINTS),
            "R revolute, P prismatic, U universal, S spherical, C cylindrical, H screw, Pi parallelogram, fixed.",
        ),
        key("mdh", KeyKind::Table(&MDH), "Modified Denavit-Hartenberg placement; the joint axis is z."),
        key("frame", KeyKind::Table(&FRAME), "Placement by a frame on the parent."),
        key("point", KeyKind::Point, "Origin, in `frame`; or the name of a point of a modal parent."),
        key("axis", KeyKind::Numbers(Unit::Pure, 3), "Joint axis in the body's frame; z unless given."),
        key("axis2", KeyKind::Numbers(Unit::Pure, 3), "Second axis of a U joint."),
        key("bar", KeyKind::Table(&BAR), "Pi: the bar of the parallelogram."),
        key("pitch", KeyKind::Number(Unit::Length), "H: advance per radian."),
        key(
            "range",
            KeyKind::Numbers(Unit::Position, 2),
            "Lowest and highest coordinate. Solutions outside are refused.",
        ),
        key("friction", KeyKind::Table(&FRICTION), "Friction of the joint."),
        key(
            "stiffness",
            KeyKind::Number(Unit::Stiffness),
            "Spring of the joint about its zero, for natural frequencies; efforts and motion of the rigid robot leave it out.",
        ),
        key("drive", KeyKind::Table(&DRIVE), "Its presence makes the joint active."),
        key("mass", KeyKind::Number(Unit::Mass), "Mass; zero unless given."),
        key("com", KeyKind::Numbers(Unit::Length, 3), "Centre of mass."),
        key("first_moment", KeyKind::Numbers(Unit::FirstMoment, 3), "Mass times centre of mass, in place of `com`."),
        key("inertia", KeyKind::Table(&INERTIA), "Rotational inertia."),
        key("shape", KeyKind::Table(&SHAPE), "A simple solid, in place of mass, com and inertia."),
        key("lumped", KeyKind::Rows(&LUMPED), "Point masses."),
        key(
            "grouped",
            KeyKind::Flag,
            "The parameters are grouped (base) parameters: no check that a body can have them.",
        ),
        key("beam", KeyKind::Table(&BEAM), "A flexible beam; its mass comes from section and material."),
        key("modal", KeyKind::Table(&MODAL), "A flexible body from a modal analysis."),
        key("compliance", KeyKind::Table(&COMPLIANCE), "By how much the body gives way, in the Cartesian method only."),
    ],
    free: None,
};

static MDH: Section = Section {
    title: "mdh",
    doc: "`Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)`; the constant part of theta (R) or r (P) is the joint's zero.",
    keys: &[
        key("gamma", KeyKind::Number(Unit::Angle), "About the parent's z."),
        key("b", KeyKind::Number(Unit::Length), "Along the parent's z."),
        key("alpha", KeyKind::Number(Unit::Angle), "About the new x."),
        key("d", KeyKind::Number(Unit::Length), "Along the new x."),
        key("theta", KeyKind::Number(Unit::Angle), "About the joint axis z."),
        key("r", KeyKind::Number(Unit::Length), "Along the joint axis z."),
    ],
    free: None,
};

static BAR: Section = Section {
    title: "bar",
    doc: "The bar of an ideal parallelogram: it turns by q about `axis`, and the body at its end turns back by q.",
    keys: &[
        must("vector", KeyKind::Numbers(Unit::Length, 3), "From the joint to the end of the bar, at q = 0."),
        key("mass", KeyKind::Number(Unit::Mass), "Mass of the bars together."),
        key("com", KeyKind::Numbers(Unit::Length, 3), "Centre of mass."),
        key("first_moment", KeyKind::Numbers(Unit::FirstMoment, 3), "Mass times centre of mass."),
        key("inertia", KeyKind::Table(&INERTIA), "Rotational inertia."),
        key("shape", KeyKind::Table(&SHAPE), "A simple solid."),
        key("lumped", KeyKind::Rows(&LUMPED), "Point masses."),
        key("grouped", KeyKind::Flag, "Grouped parameters."),
        key(
            "beam",
            KeyKind::Table(&RODS),
            "The bars as two rods that bend; their mass is that of the bar, where it has one.",
        ),
    ],
    free: None,
};

static RODS: Section = Section {
    title: "beam of a bar",
    doc: "The two rods of a parallelogram as beams. Without mass keys of the bar they are slender and have the mass of section and material.",
    keys: &[
        must("section", KeyKind::Text, "Name of a section."),
        must("material", KeyKind::Text, "Name of a material."),
        must(
            "width",
            KeyKind::Number(Unit::Length),
            "Distance between the rods, along the short side of the parallelogram.",
        ),
        key(
            "ends",
            KeyKind::OneOf(&["pinned", "clamped"]),
            "`pinned` unless given; `clamped`: the short sides bend the rods when they turn.",
        ),
        key("elements", KeyKind::Count, "Elements per rod in the full model; 1 unless given."),
    ],
    free: None,
};

static COMPLIANCE: Section = Section {
    title: "compliance",
    doc: "By how much a frame gives way, for `frequencies --method cartesian`: as a diagonal, as a 6x6 matrix, or as a tapered cantilever.",
    keys: &[
        key("frame", KeyKind::Table(&FRAME), "The frame, on the body; of a closure on the body of its side `b`."),
        key("x", KeyKind::Number(Unit::LinearCompliance), "Along x; zero, that is rigid, unless given."),
        key("y", KeyKind::Number(Unit::LinearCompliance), "Along y."),
        key("z", KeyKind::Number(Unit::LinearCompliance), "Along z."),
        key("rx", KeyKind::Number(Unit::AngularCompliance), "About x."),
        key("ry", KeyKind::Number(Unit::AngularCompliance), "About y."),
        key("rz", KeyKind::Number(Unit::AngularCompliance), "About z."),
        key(
            "matrix",
            KeyKind::Numbers(Unit::Any, 36),
            "Row by row in SI units: motion x, y, z, rotation x, y, z by force and moment; symmetric, not negative.",
        ),
        key(
            "tapered",
            KeyKind::Texts,
            "Names of two sections: a cantilever along x that ends at the frame, from the first section to the second, A, I and J linear between.",
        ),
        key("material", KeyKind::Text, "`tapered`: name of its material."),
        key("length", KeyKind::Number(Unit::Length), "`tapered`: its length."),
    ],
    free: None,
};

static INERTIA: Section = Section {
    title: "inertia",
    doc: "Entries of the inertia matrix; off-diagonal entries carry the minus sign (xy = -∫ x y dm).",
    keys: &[
        must(
            "at",
            KeyKind::OneOf(&["origin", "com"]),
            "Taken at the origin of the body frame or at the centre of mass.",
        ),
        key("xx", KeyKind::Number(Unit::Inertia), "Entry xx."),
        key("yy", KeyKind::Number(Unit::Inertia), "Entry yy."),
        key("zz", KeyKind::Number(Unit::Inertia), "Entry zz."),
        key("xy", KeyKind::Number(Unit::Inertia), "Entry xy."),
        key("xz", KeyKind::Number(Unit::Inertia), "Entry xz."),
        key("yz", KeyKind::Number(Unit::Inertia), "Entry yz."),
    ],
    free: None,
};

static SHAPE: Section = Section {
    title: "shape",
    doc: "A solid that runs along x from the frame origin (a sphere has its centre there), of uniform density.",
    keys: &[
        key("box", KeyKind::Numbers(Unit::Length, 3), "Length along x, width along y, height along z."),
        key("cylinder", KeyKind::Numbers(Unit::Length, 2), "Length along x, diameter."),
        key("tube", KeyKind::Numbers(Unit::Length, 3), "Length along x, outer and inner diameter."),
        key("sphere", KeyKind::Number(Unit::Length), "Diameter."),
        key("density", KeyKind::Number(Unit::Density), "Density; or give the `mass` of the body."),
        key("frame", KeyKind::Table(&FRAME), "Where the solid starts, if not at the frame origin."),
    ],
    free: None,
};

static LUMPED: Section = Section {
    title: "lumped",
    doc: "A point mass on the body.",
    keys: &[
        key("point", KeyKind::Numbers(Unit::Length, 3), "Where; the frame origin unless given."),
        must("mass", KeyKind::Number(Unit::Mass), "How much."),
    ],
    free: None,
};

static FRICTION: Section = Section {
    title: "friction",
    doc: "`viscous q̇ + coulomb sign(q̇)`, and with `static` the Stribeck term `(static - coulomb) sign(q̇) exp(-decay |q̇|)`.",
    keys: &[
        key("viscous", KeyKind::Number(Unit::Viscous), "Viscous coefficient."),
        key("coulomb", KeyKind::Number(Unit::Effort), "Coulomb level."),
        key("static", KeyKind::Number(Unit::Effort), "Break-away level."),
        key("decay", KeyKind::Number(Unit::Decay), "Decay of the Stribeck term."),
    ],
    free: None,
};

static DRIVE: Section = Section {
    title: "drive",
    doc: "What drives a joint. An empty table is enough.",
    keys: &[
        key("kind", KeyKind::OneOf(&["motor", "clutch"]), "A motor unless given; a clutch drives or holds."),
        key("rotor_inertia", KeyKind::Number(Unit::RotorInertia), "Inertia of the rotor seen by the joint, N² I_m."),
        key("friction", KeyKind::Table(&FRICTION), "Friction on the motor side."),
        key(
            "stiffness",
            KeyKind::Number(Unit::Stiffness),
            "Stiffness of the transmission, a spring between rotor and joint; rigid unless given.",
        ),
        key(
            "servo",
            KeyKind::Number(Unit::Stiffness),
            "Stiffness of the servo loop, a spring between rotor and command, seen by the joint; rigid unless given.",
        ),
        key("effort", KeyKind::Number(Unit::Effort), "Largest effort."),
        key("speed", KeyKind::Number(Unit::Speed), "Largest speed."),
    ],
    free: None,
};

static CLOSURE: Section = Section {
    title: "closure",
    doc: "A joint that closes a loop: it is cut and never becomes a coordinate, unless it has friction, stiffness or a range.",
    keys: &[
        key("name", KeyKind::Text, "Name of the joint; needed when it becomes a coordinate."),
        must("joint", KeyKind::OneOf(CLOSURE_JOINTS), "fixed, R, P, U, S or C."),
        must("a", KeyKind::Table(&SIDE), "One side."),
        must("b", KeyKind::Table(&SIDE), "The other side."),
        key("range", KeyKind::Numbers(Unit::Position, 2), "Lowest and highest coordinate (R and P)."),
        key("friction", KeyKind::Table(&FRICTION), "Friction of the joint."),
        key("stiffness", KeyKind::Number(Unit::Stiffness), "Spring of the joint, likewise."),
        key(
            "compliance",
            KeyKind::Table(&COMPLIANCE),
            "By how much what side `b` is on gives way to this leg, in the Cartesian method only.",
        ),
    ],
    free: None,
};

static SIDE: Section = Section {
    title: "a side of a closure",
    doc: "A frame on a body: at `point` of `frame`, with the joint axis `axis`.",
    keys: &[
        must("body", KeyKind::Text, "Body: `base`, `platform` or another."),
        key("frame", KeyKind::Table(&FRAME), "Frame on the body."),
        key("point", KeyKind::Point, "Origin in that frame, or the name of a point of a modal body."),
        key("axis", KeyKind::Numbers(Unit::Pure, 3), "Axis of the joint on this side; z unless given."),
    ],
    free: None,
};

static COUPLING: Section = Section {
    title: "coupling",
    doc: "A linear relation between joints: `{ \"14\" = 1, \"13\" = 1 }` means q14 + q13 = 0; an offset goes into the placement of a joint.",
    keys: &[],
    free: Some(&ANY),
};

static TEMPLATES: Section =
    Section { title: "[template]", doc: "Templates by name.", keys: &[], free: Some(&TEMPLATE_KIND) };

static TEMPLATE: Section = Section {
    title: "a template",
    doc: "Rows written once and used for several legs.",
    keys: &[
        key("needs", KeyKind::Texts, "Names of the numbers each leg gives."),
        key("let", KeyKind::Table(&LET), "Numbers derived from them."),
        key("body", KeyKind::Rows(&BODY), "Bodies of the leg."),
        key("closure", KeyKind::Rows(&CLOSURE), "Closures of the leg."),
        key("coupling", KeyKind::Rows(&COUPLING), "Couplings of the leg."),
        key("near", KeyKind::Table(&NEAR), "Joints near which the working mode is chosen."),
    ],
    free: None,
};

static LET: Section = Section { title: "let", doc: "Derived numbers by name.", keys: &[], free: Some(&ANY) };

static LEGS: Section = Section {
    title: "[legs]",
    doc: "Legs by key. The key is the leg's name and replaces `{leg}`.",
    keys: &[],
    free: Some(&LEG_KIND),
};

static LEG: Section = Section {
    title: "a leg",
    doc: "An instance of a template, with the numbers it needs.",
    keys: &[must("template", KeyKind::Text, "Name of the template.")],
    free: Some(&ANY),
};

static ACTUATION: Section = Section {
    title: "[actuation]",
    doc: "Sets of driven joints by name, when not all drives work at once.",
    keys: &[],
    free: Some(&TEXTS),
};

static MATERIALS: Section =
    Section { title: "[material]", doc: "Materials by name.", keys: &[], free: Some(&MATERIAL_KIND) };

static MATERIAL: Section = Section {
    title: "a material",
    doc: "Isotropic and linear.",
    keys: &[
        must("E", KeyKind::Number(Unit::Pressure), "Young's modulus."),
        key("G", KeyKind::Number(Unit::Pressure), "Shear modulus; or give `nu`."),
        key("nu", KeyKind::Number(Unit::Pure), "Poisson's ratio, in place of `G`: G = E/(2(1 + nu))."),
        must("density", KeyKind::Number(Unit::Density), "Density."),
        key("mass_damping", KeyKind::Number(Unit::Any), "Damping of beams by their mass, in 1/s: D = a M + b K."),
        key("stiffness_damping", KeyKind::Number(Unit::Any), "Damping of beams by their stiffness, in s."),
    ],
    free: None,
};

static SECTIONS: Section =
    Section { title: "[section]", doc: "Sections by name.", keys: &[], free: Some(&SECTION_KIND) };

static SECTION: Section = Section {
    title: "a section",
    doc: "Beam section with principal axes y and z: `Iy = ∫ z² dA`, `Iz = ∫ y² dA`.",
    keys: &[
        key("A", KeyKind::Number(Unit::Area), "Area."),
        key("Iy", KeyKind::Number(Unit::SecondMoment), "Second moment about y."),
        key("Iz", KeyKind::Number(Unit::SecondMoment), "Second moment about z."),
        key("J", KeyKind::Number(Unit::SecondMoment), "Torsion constant."),
        key("Ip", KeyKind::Number(Unit::SecondMoment), "Polar moment; Iy + Iz unless given."),
        key(
            "rectangle",
            KeyKind::Numbers(Unit::Length, 2),
            "Width along y and height along z, in place of the numbers.",
        ),
        key("tube", KeyKind::Numbers(Unit::Length, 2), "Outer and inner diameter, in place of the numbers."),
        key("circle", KeyKind::Number(Unit::Length), "Diameter, in place of the numbers."),
    ],
    free: None,
};

static ELASTIC: Section = Section {
    title: "[elastic]",
    doc: "Choices for the elastic models.",
    keys: &[
        key("dimension", KeyKind::Count, "3, or 2 for planar beams (three coordinates per element)."),
        key("damping", KeyKind::Number(Unit::Pure), "Damping ratio of every mode."),
        key("hold", KeyKind::Texts, "Joints held when frequencies are computed; the driven ones unless given."),
        key(
            "dependent",
            KeyKind::Texts,
            "Beams whose displacement closes the loops in relative coordinates; the last before each closure unless given.",
        ),
        key(
            "rods",
            KeyKind::OneOf(&["exact", "lumped"]),
            "Inertia of the rods of parallelograms in the Cartesian method: `exact` unless given; `lumped`: all of it with the body at their end.",
        ),
        key(
            "virtual",
            KeyKind::OneOf(&["attached", "null", "pure"]),
            "Motions against the constraints of a leg in the Cartesian method: its constraint wrenches read as motions where it holds the platform (`attached`, unless given) or at the platform origin in SI units (`null`); `pure`: such that the wrench of its last joint is a pure force.",
        ),
    ],
    free: None,
};

static BEAM: Section = Section {
    title: "beam",
    doc: "A straight beam from the body's origin. Attachments between its ends become nodes.",
    keys: &[
        must("to", KeyKind::Numbers(Unit::Length, 3), "Far end in the body's frame."),
        must("section", KeyKind::Text, "Name of a section."),
        must("material", KeyKind::Text, "Name of a material."),
        key("elements", KeyKind::Count, "Elements per segment between attachments; 1 unless given."),
        key(
            "up",
            KeyKind::Numbers(Unit::Pure, 3),
            "Direction of the section's z axis; the body's z unless given, or its x where a round beam runs along z.",
        ),
        key("shear", KeyKind::Flag, "Timoshenko shear; off unless given."),
        key("rotary_inertia", KeyKind::Flag, "Rotary inertia of the section in bending; on unless given."),
    ],
    free: None,
};

static MODAL: Section = Section {
    title: "modal",
    doc: "A body given by the results of a modal analysis: nodes, masses, modes and named points, in a JSON file.",
    keys: &[must("file", KeyKind::Text, "Path of the file, relative to the robot file.")],
    free: None,
};
