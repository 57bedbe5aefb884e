//! What a robot is: bodies, legs, closures, how they are solved, freedoms by three counts, drives, home.

use super::posed::{JointMotion, PlatformPose};
use crate::Robot;
use crate::analysis::mobility::{Counts, LegCount, LoopCount, Motions, mobility};
use crate::analysis::singularity::{Singularity, singularities};
use crate::description::{Coordinate, Coordinates, FaultDocument};
use crate::elastodynamics::DriveElasticity;
use crate::elastodynamics::motion::{FlexibleRobot, is_flexible};
use crate::model::{BlockMethod, CoordKind, JointKind, LegId, Topology};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// Below this singular value a posture is called near a singularity.
const NEAR: f64 = 1e-3;

/// What a robot is.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct CheckAnswer {
    /// The robot.
    pub robot: String,
    /// Its bodies.
    pub bodies: Vec<CheckedBody>,
    /// Its legs.
    pub legs: Vec<CheckedLeg>,
    /// Its closures.
    pub closures: Vec<CheckedClosure>,
    /// Driven joints.
    pub active: Vec<String>,
    /// Other joints.
    pub passive: Vec<String>,
    /// Coordinates of the platform that are free.
    pub platform: Vec<&'static str>,
    /// Coordinates of the platform that follow from those.
    pub follows: Vec<&'static str>,
    /// The body on which the platform is a point.
    pub point_on: Option<String>,
    /// Elastic coordinates of the robot in motion, in the order of states and answers.
    pub elastic: Vec<String>,
    /// Drives that give way.
    pub elastic_drives: Vec<ElasticDrives>,
    /// Joints that a pose leaves open.
    pub given: Vec<String>,
    /// Equations of the closures.
    pub rows: usize,
    /// Their rank.
    pub rank: usize,
    /// Degrees of freedom.
    pub mobility: usize,
    /// Degrees of freedom counted in three ways.
    pub mobility_counts: Counts,
    /// Equations that the others imply.
    pub overconstraint: usize,
    /// Length that makes translations and rotations comparable, m.
    pub length_scale: f64,
    /// Working mode of the file.
    pub working_mode: String,
    /// Parameters of the file.
    pub parameters: Vec<CheckedParameter>,
    /// The home posture.
    pub home: CheckedHome,
    /// None: a robot with faults is no robot.
    pub faults: [(); 0],
    /// What is worth knowing and no fault.
    pub remarks: Vec<FaultDocument>,
}

/// A body of a robot.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct CheckedBody {
    /// Its name.
    pub name: String,
    /// What it stands on.
    pub on: String,
    /// Its joint: R, P or fixed.
    pub joint: &'static str,
    /// Its leg.
    pub leg: String,
}

/// A leg of a robot.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct CheckedLeg {
    /// Its name.
    pub name: String,
    /// Its joints: driven ones with an asterisk, cut ones in parentheses.
    pub chain: String,
    /// How its joints follow from the platform.
    pub solved: &'static str,
    /// Its bodies.
    pub bodies: Vec<String>,
}

/// A closure of a robot.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct CheckedClosure {
    /// Its name.
    pub name: String,
    /// Its joint.
    pub joint: &'static str,
    /// What it ties to each other.
    pub between: [String; 2],
    /// Equations that it imposes.
    pub rows: usize,
}

/// Drives that give way alike.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct ElasticDrives {
    /// Their joints.
    pub joints: String,
    /// What gives way in them.
    pub gives: &'static str,
}

/// A parameter of the file.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct CheckedParameter {
    /// Its name.
    pub name: String,
    /// Its value, in SI units.
    pub value: f64,
}

/// The home posture.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct CheckedHome {
    /// Where the platform is.
    pub pose: PlatformPose,
    /// Driven joints.
    pub active: JointMotion,
    /// Other joints.
    pub passive: JointMotion,
    /// Singularities there, or so near that answers around home are poor.
    pub singularities: Vec<HomeSingularity>,
}

/// A singularity at home or near it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct HomeSingularity {
    /// Its kind, as programs know it.
    pub kind: &'static str,
    /// The leg, where it is of one.
    pub leg: Option<String>,
    /// Whether home is singular, not only near it.
    pub singular: bool,
    /// Its kind in words.
    #[serde(skip)]
    pub title: &'static str,
}

impl Robot {
    /// What the robot is: bodies, legs and how they are solved, closures, freedoms by three counts, drives, home, remarks.
    ///
    /// ```
    /// let found = gough::Robot::shipped("tripteron")?.check();
    /// assert_eq!((found.mobility, found.overconstraint), (3, 3));
    /// assert_eq!(found.legs[0].chain, "P* R R (R)");
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn check(&self) -> CheckAnswer {
        let (model, mobility) = (self.model(), self.mobility());
        let t = model.topology();
        let own = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<String>>();
        CheckAnswer {
            robot: t.name.clone(),
            bodies: bodies(t),
            legs: t.legs.ids().map(|leg| checked_leg(t, leg)).collect(),
            closures: closures(t),
            active: own(t.active_names()),
            passive: own(t.passive_names()),
            platform: t.platform.independent.iter().map(|c| coordinate(t, *c)).collect(),
            follows: t.platform.dependent.iter().map(|c| coordinate(t, *c)).collect(),
            point_on: t.platform.tool.map(|b| t.bodies[b].name.clone()),
            elastic: elastic_coordinates(self),
            elastic_drives: elastic_drives(self),
            given: t.plan.given.iter().map(|c| t.coords[*c].name.clone()).collect(),
            rows: mobility.rows,
            rank: mobility.rank,
            mobility: mobility.degrees,
            mobility_counts: counts(self),
            overconstraint: mobility.overconstraint,
            length_scale: model.length(),
            working_mode: self.mode().name(t),
            parameters: self.checked_parameters(),
            home: home(self),
            faults: [],
            remarks: FaultDocument::list(self.text(), self.remarks()),
        }
    }

    fn checked_parameters(&self) -> Vec<CheckedParameter> {
        let list = self.model().parameters().iter();
        list.map(|p| CheckedParameter { name: p.name.clone(), value: p.value }).collect()
    }
}

fn counts(robot: &Robot) -> Counts {
    mobility(robot.model(), robot.home().positions())
}

fn bodies(t: &Topology) -> Vec<CheckedBody> {
    let one = |b: &crate::model::Body| CheckedBody {
        name: b.name.clone(),
        on: t.node_name(b.parent).to_owned(),
        joint: joint_letter(b.joint),
        leg: t.legs[b.leg].name.clone(),
    };
    t.bodies.values().map(one).collect()
}

fn joint_letter(joint: JointKind) -> &'static str {
    match joint {
        JointKind::Revolute => "R",
        JointKind::Prismatic => "P",
        JointKind::Fixed => "fixed",
    }
}

fn closures(t: &Topology) -> Vec<CheckedClosure> {
    let one = |c: &crate::model::Closure| CheckedClosure {
        name: c.name.clone(),
        joint: c.joint.word(),
        between: c.sides.map(|node| t.node_name(node).to_owned()),
        rows: c.joint.rows(),
    };
    t.closures.values().filter(|c| !c.tool).map(one).collect()
}

fn checked_leg(t: &Topology, leg: LegId) -> CheckedLeg {
    let newton = t.plan.inverse.iter().any(|b| b.leg == leg && matches!(b.method, BlockMethod::Newton { .. }));
    CheckedLeg {
        name: t.legs[leg].name.clone(),
        chain: chain(t, leg),
        solved: if newton { "solved by Newton" } else { "solved in closed form" },
        bodies: t.legs[leg].bodies.iter().map(|b| t.bodies[b].name.clone()).collect(),
    }
}

fn chain(t: &Topology, leg: LegId) -> String {
    let mut parts: Vec<String> = Vec::new();
    for b in t.legs[leg].bodies.iter() {
        let body = &t.bodies[b];
        if body.joint == JointKind::Fixed {
            continue;
        }
        let driven = body.coord.is_some_and(|c| t.coords[c].kind == CoordKind::Active);
        parts.push(format!("{}{}", joint_letter(body.joint), if driven { "*" } else { "" }));
    }
    for c in t.legs[leg].closures.iter().filter(|c| !t.closures[*c].tool) {
        parts.push(format!("({})", t.closures[c].joint.word()));
    }
    parts.join(" ")
}

/// The name of a coordinate of the platform.
fn coordinate(t: &Topology, c: Coordinate) -> &'static str {
    let yaw = if t.platform.coordinates == Coordinates::Planar { "phi" } else { "rz" };
    ["x", "y", "z", "rx", "ry", yaw][c.index()]
}

/// Elastic coordinates of the robot in motion, in the order of states and answers; none where nothing gives way.
fn elastic_coordinates(robot: &Robot) -> Vec<String> {
    if !is_flexible(robot.model()) {
        return Vec::new();
    }
    FlexibleRobot::new(robot.model(), robot.home()).map_or_else(|_| Vec::new(), |f| f.elastic_names())
}

/// Drives that give way, those alike together, and what gives way in them.
fn elastic_drives(robot: &Robot) -> Vec<ElasticDrives> {
    let (model, t) = (robot.model(), robot.model().topology());
    let mut list: Vec<(DriveElasticity, Vec<String>)> = Vec::new();
    for c in t.coords.ids() {
        let kind = DriveElasticity::of(model, c);
        let name = format!("q{}", t.coords[c].name);
        match list.iter_mut().find(|(k, _)| *k == kind) {
            _ if kind == DriveElasticity::Rigid => {}
            Some((_, joints)) => joints.push(name),
            None => list.push((kind, vec![name])),
        }
    }
    list.into_iter().map(|(kind, joints)| ElasticDrives { joints: joints.join(" "), gives: kind.words() }).collect()
}

fn home(robot: &Robot) -> CheckedHome {
    let (model, home) = (robot.model(), robot.home());
    let t = model.topology();
    let joints = |list| JointMotion { q: home.joints(model, list), ..JointMotion::default() };
    CheckedHome {
        pose: PlatformPose::new(model, home.pose()),
        active: joints(&t.active),
        passive: joints(&t.passive),
        singularities: home_singularities(robot),
    }
}

fn home_singularities(robot: &Robot) -> Vec<HomeSingularity> {
    if robot.model().topology().active.len() < robot.mobility().degrees {
        return Vec::new(); // the drives do not hold such a robot anywhere
    }
    let report = singularities(robot.model(), robot.home());
    let poor = |s: &&Singularity| s.singular || s.sigma < NEAR;
    let told = |s: &Singularity| HomeSingularity {
        kind: s.kind.word(),
        leg: s.leg.clone(),
        singular: s.singular,
        title: s.kind.title(),
    };
    report.list.iter().filter(poor).map(told).collect()
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut counts = to.serialize_struct("Counts", 9)?;
        counts.serialize_field("joints", &self.joints)?;
        counts.serialize_field("constraints", &self.constraints)?;
        counts.serialize_field("by_rank", &self.by_rank)?;
        counts.serialize_field("by_legs", &self.by_legs)?;
        counts.serialize_field("by_loops", &self.by_loops)?;
        counts.serialize_field("platform", &self.platform)?;
        counts.serialize_field("legs", &self.legs)?;
        counts.serialize_field("loops", &self.loops)?;
        counts.serialize_field("by_loops_is_wrong_because", &self.explanation())?;
        counts.end()
    }
}

impl Serialize for Motions {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut motions = to.serialize_struct("Motions", 2)?;
        motions.serialize_field("dimension", &self.dimension)?;
        motions.serialize_field("axes", &self.text)?;
        motions.end()
    }
}

impl Serialize for LegCount {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut leg = to.serialize_struct("LegCount", 5)?;
        leg.serialize_field("name", &self.name)?;
        leg.serialize_field("joints", &self.joints)?;
        leg.serialize_field("inner_constraints", &self.inner)?;
        leg.serialize_field("redundant", &self.redundant)?;
        leg.serialize_field("motions", &self.motions)?;
        leg.end()
    }
}

impl Serialize for LoopCount {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut one = to.serialize_struct("LoopCount", 4)?;
        one.serialize_field("name", &self.name)?;
        one.serialize_field("alone", &self.alone)?;
        one.serialize_field("new", &self.new)?;
        one.serialize_field("shared", &self.shared)?;
        one.end()
    }
}
