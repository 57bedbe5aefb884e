//! Singularities at a posture, by kind, with how far they are.

use super::Error;
use super::asked::Asked;
use super::posed::{PlatformPose, assumed};
use crate::Robot;
use crate::analysis::grassmann::{Line, variety};
use crate::analysis::singularity::{SingularDirection, Singularity, actuation_wrenches, singularities};
use crate::analysis::{Searched, nearest_while};
use crate::kinematics::{Kind, Posture, WorkingMode, inverse_at_limit_given};
use crate::model::Model;
use crate::spatial::Pose;
use serde::Serialize;
use std::collections::BTreeMap;

/// A question about singularities; [`Robot::singularities`] begins it, [`SingularityQuestion::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct SingularityQuestion<'r> {
    asked: Asked<'r>,
}

/// The singularities of a posture.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Singularities {
    /// The robot.
    pub robot: String,
    /// The platform.
    pub pose: PlatformPose,
    /// Working mode by name.
    pub working_mode: String,
    /// Length that makes translations and rotations comparable, m.
    pub length_scale: f64,
    /// Every kind that can be told there, nearest first.
    pub singularities: Vec<SingularityAnswer>,
    /// Kinds that cannot be told there, because passive joints move by themselves.
    pub undefined: Vec<Kind>,
    /// Rank and class of the lines along which the drives act, when all of them are lines.
    pub lines: Option<LineClass>,
    /// Joints that the pose leaves open and nothing gives, with where they were taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<BTreeMap<String, f64>>,
}

/// A singularity near a posture.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct NearSingularity {
    /// Its kind.
    pub kind: Kind,
    /// The leg, when one is to blame.
    pub leg: Option<String>,
    /// Smallest singular value of what loses rank, scaled.
    pub sigma: f64,
    /// Estimated distance of the platform from it, m; infinite where no motion of the platform comes nearer.
    pub distance: f64,
}

/// One kind of singularity at a posture.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct SingularityAnswer {
    /// Kind, leg, smallest singular value and estimated distance.
    #[serde(flatten)]
    pub near: NearSingularity,
    /// Whether the posture is singular.
    pub singular: bool,
    /// What the robot does, or cannot bear, there.
    #[serde(flatten)]
    pub along: Lost,
    /// What a search for the nearest singular pose found, when asked for.
    #[serde(flatten)]
    pub search: Option<SearchAnswer>,
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

/// What a search for the nearest singular pose found; nothing is searched where the posture is singular or no pose can be.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct SearchAnswer {
    /// The nearest singular pose of those found.
    pub nearest: Option<NearestPose>,
    /// How far the search went.
    pub searched: Option<SearchExtent>,
}

/// A singular pose near a posture.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct NearestPose {
    /// Where it is.
    pub pose: PlatformPose,
    /// How far that is, m, angles at the length scale.
    pub distance: f64,
    /// Smallest singular value there.
    pub sigma: f64,
}

/// How far a search went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct SearchExtent {
    /// Whether it came to its end.
    pub finished: bool,
    /// Poses that it went down from.
    pub starts: usize,
    /// Poses that it wanted to go down from.
    pub of: usize,
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
    /// Singularities at a pose, in the working mode of the file unless told otherwise.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let found = robot.singularities(&robot.pose("x=0.05, y=0.25")?).answer()?;
    /// assert!(found.singularities.iter().all(|s| !s.singular));
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn singularities(&self, pose: &Pose<f64>) -> SingularityQuestion<'_> {
        SingularityQuestion { asked: Asked::new(self, pose) }
    }
}

impl SingularityQuestion<'_> {
    /// Working mode; that of the file unless given.
    pub fn mode(mut self, mode: &WorkingMode) -> Self {
        self.asked.set_mode(mode);
        self
    }

    /// A joint that the pose of a redundant robot leaves open: where it is.
    pub fn joint(mut self, name: &str, q: f64) -> Self {
        self.asked.open(name, [Some(q), None, None]);
        self
    }

    /// The singularities, or why there is no such posture.
    pub fn answer(&self) -> Result<Singularities, Error> {
        self.found(None)
    }

    /// The singularities with the nearest singular pose of each kind, searched as long as `goes_on` says so. It is asked before
    /// every posture, with the share of the whole search that may be over when the present kind ends.
    pub fn answer_with_nearest(&self, goes_on: &(dyn Fn(f64) -> bool + Sync)) -> Result<Singularities, Error> {
        self.found(Some(goes_on))
    }

    fn found(&self, goes_on: Option<&(dyn Fn(f64) -> bool + Sync)>) -> Result<Singularities, Error> {
        let asked = self.asked.checked()?;
        let model = asked.model();
        let posture =
            inverse_at_limit_given(model, asked.pose(), asked.mode(), asked.robot().home().pose(), &asked.given)?;
        let report = singularities(model, &posture);
        let wanted = report.list.iter().filter(|s| is_searched(s)).count().max(1) as f64;
        let mut done = 0.0;
        let mut told = Vec::new();
        for s in &report.list {
            let mut answer = SingularityAnswer::new(s);
            if let Some(goes_on) = goes_on {
                let share = (done + 1.0) / wanted;
                let searched = is_searched(s).then(|| nearest_while(model, &posture, s, &|| goes_on(share)));
                done += f64::from(u8::from(searched.is_some()));
                answer.search = Some(SearchAnswer::new(model, searched));
            }
            told.push(answer);
        }
        Ok(Singularities {
            robot: model.topology().name.clone(),
            pose: PlatformPose::new(model, posture.pose()),
            working_mode: posture.mode().name(model.topology()),
            length_scale: report.length,
            singularities: told,
            undefined: report.undefined,
            lines: class_of_lines(model, &posture),
            assumed: assumed(model, &asked.given),
        })
    }
}

/// Whether the nearest pose of a kind is worth a search: Type 1 and 2 also where the first order says that they are far.
fn is_searched(s: &Singularity) -> bool {
    let near = s.distance.is_finite() || matches!(s.kind, Kind::Type1 | Kind::Type2);
    !s.singular && s.kind != Kind::Type3 && near
}

/// Rank and class of the lines along which the drives act, when all of them are lines.
fn class_of_lines(model: &Model<f64>, posture: &Posture) -> Option<LineClass> {
    let wrenches = actuation_wrenches(model, posture)?;
    let lines: Option<Vec<Line>> = wrenches.into_iter().map(|w| Line::of_wrench(w, model.length())).collect();
    let found = variety(&lines?, model.length());
    Some(LineClass { rank: found.rank, class: found.class.code().to_owned(), description: found.class.description() })
}

impl NearSingularity {
    pub(super) fn new(s: &Singularity) -> Self {
        Self { kind: s.kind, leg: s.leg.clone(), sigma: s.sigma, distance: s.distance }
    }
}

impl SingularityAnswer {
    fn new(s: &Singularity) -> Self {
        let along = match &s.along {
            SingularDirection::Twist(t) => Lost::Twist(t.to_array()),
            SingularDirection::Wrench(w) => Lost::Wrench(w.to_array()),
            SingularDirection::Joints(list) => Lost::Joints(list.clone()),
        };
        Self { near: NearSingularity::new(s), singular: s.singular, along, search: None }
    }
}

impl SearchAnswer {
    fn new(model: &Model<f64>, found: Option<Searched>) -> Self {
        let searched =
            found.as_ref().map(|s| SearchExtent { finished: s.finished, starts: s.starts.0, of: s.starts.1 });
        let nearest = found.and_then(|s| s.nearest).map(|n| NearestPose {
            pose: PlatformPose::new(model, n.posture.pose()),
            distance: n.distance,
            sigma: n.singularity.sigma,
        });
        Self { nearest, searched }
    }
}
