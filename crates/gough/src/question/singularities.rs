//! Singularities at a posture, by kind, with how far they are.

use super::Error;
use super::idm::NearSingularity;
use super::posed::PlatformPose;
use crate::Robot;
use crate::analysis::grassmann::{Line, variety};
use crate::analysis::singularity::{Along, actuation_wrenches, singularities};
use crate::kinematics::{WorkingMode, inverse_at_limit};
use crate::spatial::Pose;
use serde::Serialize;

/// The singularities of a posture.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Singularities {
    /// The platform.
    pub pose: PlatformPose,
    /// Working mode by name.
    pub working_mode: String,
    /// Length that makes translations and rotations comparable, m.
    pub length_scale: f64,
    /// Every kind that can be told there.
    pub singularities: Vec<SingularityAnswer>,
    /// Kinds that cannot be told there, in a word each.
    pub undefined: Vec<&'static str>,
    /// Rank and class of the lines along which the drives act, when all of them are lines.
    pub lines: Option<LineClass>,
}

/// One kind of singularity at a posture.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct SingularityAnswer {
    /// Kind, leg, smallest singular value; distance where it is finite.
    #[serde(flatten)]
    pub near: NearSingularity,
    /// Whether the posture is singular.
    pub singular: bool,
    /// What the robot does, or cannot bear, there.
    #[serde(flatten)]
    pub along: Lost,
}

/// What a singularity loses or frees.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Lost {
    /// A twist of the platform: velocity, then angular velocity.
    Twist([f64; 6]),
    /// A wrench on the platform: force, then moment.
    Wrench([f64; 6]),
    /// Rates of joints.
    #[serde(serialize_with = "joints")]
    Joints(Vec<(String, f64)>),
}

fn joints<S: serde::Serializer>(list: &[(String, f64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(list.iter().map(|(name, x)| (name, x)))
}

/// Class of lines by Grassmann's geometry.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct LineClass {
    /// Rank.
    pub rank: usize,
    /// Class.
    pub class: String,
    /// What the class is.
    pub description: &'static str,
}

impl Robot {
    /// Singularities at a pose, in the working mode of the file.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let found = robot.singularities(&robot.pose("x=0.05, y=0.25")?)?;
    /// assert!(found.singularities.iter().all(|s| !s.singular));
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn singularities(&self, pose: &Pose<f64>) -> Result<Singularities, Error> {
        self.singularities_in(pose, self.mode())
    }

    /// Singularities at a pose in a working mode.
    pub fn singularities_in(&self, pose: &Pose<f64>, mode: &WorkingMode) -> Result<Singularities, Error> {
        let model = self.model();
        let posture = inverse_at_limit(model, pose, mode, self.home().pose())?;
        let report = singularities(model, &posture);
        let told = |s: &crate::analysis::singularity::Singularity| SingularityAnswer {
            near: NearSingularity { kind: s.kind.word(), leg: s.leg.clone(), sigma: s.sigma, distance: s.distance },
            singular: s.singular,
            along: match &s.along {
                Along::Twist(t) => Lost::Twist(t.to_array()),
                Along::Wrench(w) => Lost::Wrench(w.to_array()),
                Along::Joints(list) => Lost::Joints(list.clone()),
            },
        };
        let lines = actuation_wrenches(model, &posture);
        let lines = lines.and_then(|l| l.into_iter().map(|w| Line::of_wrench(w, model.length())).collect());
        let class = |lines: Vec<Line>| {
            let found = variety(&lines, model.length());
            let (class, description) = (found.class.code().to_owned(), found.class.description());
            LineClass { rank: found.rank, class, description }
        };
        Ok(Singularities {
            pose: PlatformPose::new(model, posture.pose()),
            working_mode: posture.mode().name(model.topology()),
            length_scale: report.length,
            singularities: report.list.iter().map(told).collect(),
            undefined: report.undefined.iter().map(|k| k.word()).collect(),
            lines: lines.map(class),
        })
    }
}
