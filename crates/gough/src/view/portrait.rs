//! Everything about a robot that does not change with its posture, as one document.

use super::extent::{extents, turns};
use super::scene::Scene;
use crate::analysis::mobility::mobility;
use crate::description::FaultDocument;
use crate::elastodynamics::motion::is_flexible;
use crate::model::CoordId;
use crate::robot::Robot;
use crate::trajectory::drive_limits;
use serde::Serialize;

/// What a page knows about a robot before it asks anything.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Portrait {
    /// Name of the robot.
    pub robot: String,
    /// Name of the file or shipped robot.
    pub name: String,
    /// One sentence about it.
    pub summary: String,
    /// Coordinates of the platform.
    pub coordinates: Vec<CoordinatePortrait>,
    /// Names of the components of twists.
    pub components: Vec<&'static str>,
    /// Driven joints.
    pub active: Vec<JointPortrait>,
    /// Other joints.
    pub passive: Vec<JointPortrait>,
    /// Drives, in the order of driven joints.
    pub drives: Vec<DrivePortrait>,
    /// Working mode of the file.
    pub working_mode: String,
    /// Degrees of freedom by rank.
    pub mobility: usize,
    /// Degrees of freedom counted by rank, by legs and by loops.
    pub mobility_counts: (usize, usize, isize),
    /// Equations that the others imply.
    pub overconstraint: usize,
    /// Length that makes translations and rotations comparable, m.
    pub length_scale: f64,
    /// Whether something bends or gives way.
    pub flexible: bool,
    /// Whether the platform is a point on a body.
    pub point: bool,
    /// Parameters of the file: name and value in SI units.
    pub parameters: Vec<(String, f64)>,
    /// What is worth knowing and no fault.
    pub remarks: Vec<FaultDocument>,
    /// The drawing.
    pub scene: Scene,
}

/// A coordinate of the platform.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct CoordinatePortrait {
    /// Its name.
    pub name: &'static str,
    /// Whether it is an angle.
    pub angle: bool,
    /// Where home is.
    pub home: f64,
    /// Lowest and highest value reached from home while the others stay.
    pub reach: [f64; 2],
}

/// A joint.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct JointPortrait {
    /// Its name.
    pub name: String,
    /// Whether it slides.
    pub slides: bool,
    /// Lowest and highest value the file allows.
    pub range: Option<[f64; 2]>,
    /// Its node of the scene.
    pub node: usize,
}

/// A drive.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct DrivePortrait {
    /// Largest effort the file allows, N m or N.
    pub effort: Option<f64>,
    /// Largest speed the file allows.
    pub speed: Option<f64>,
}

impl Portrait {
    /// The portrait of a robot.
    pub fn new(robot: &Robot) -> Self {
        let (model, t) = (robot.model(), robot.model().topology());
        let counts = mobility(model, robot.home().positions());
        let drive = |l: &crate::trajectory::DriveLimits| DrivePortrait { effort: l.effort, speed: l.speed };
        Self {
            robot: t.name.clone(),
            name: robot.name().to_owned(),
            summary: model.description().summary.clone(),
            coordinates: coordinates(robot),
            components: robot.components(),
            active: t.active.iter().map(|c| joint(robot, *c)).collect(),
            passive: t.passive.iter().map(|c| joint(robot, *c)).collect(),
            drives: drive_limits(model).iter().map(drive).collect(),
            working_mode: robot.mode().name(t),
            mobility: robot.mobility().degrees,
            mobility_counts: (counts.by_rank, counts.by_legs, counts.by_loops),
            overconstraint: robot.mobility().overconstraint,
            length_scale: model.length(),
            flexible: is_flexible(model),
            point: t.platform.tool.is_some(),
            parameters: parameters(robot),
            remarks: FaultDocument::list(robot.text(), robot.remarks()),
            scene: Scene::new(robot),
        }
    }
}

fn parameters(robot: &Robot) -> Vec<(String, f64)> {
    robot.model().parameters().iter().map(|p| (p.name.clone(), p.value)).collect()
}

fn coordinates(robot: &Robot) -> Vec<CoordinatePortrait> {
    let home = robot.coordinates_of(robot.home().pose());
    let list = robot.coordinates().into_iter().zip(home).zip(extents(robot)).enumerate();
    list.map(|(k, ((name, home), reach))| CoordinatePortrait { name, angle: turns(robot, k), home, reach }).collect()
}

fn joint(robot: &Robot, c: CoordId) -> JointPortrait {
    use crate::model::Id as _;
    let coord = &robot.model().topology().coords[c];
    JointPortrait {
        name: coord.name.clone(),
        slides: coord.slides,
        range: coord.range.map(|r| r.limits()),
        node: 1 + coord.body.index(),
    }
}
