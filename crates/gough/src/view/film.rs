//! A motion for a page: where the platform is at every instant, what the drives do, and what happens on the way.

use crate::kinematics::WorkingMode;
use crate::question::AlongAnswer;
use crate::robot::Robot;
use crate::trajectory::Trajectory;
use serde::Serialize;

use super::session::Session;

/// A motion that a page plays.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Film {
    /// The working mode by name.
    pub working_mode: String,
    /// Instants, s.
    pub t: Vec<f64>,
    /// Coordinates of the platform at every instant.
    pub at: Vec<Vec<f64>>,
    /// Twists of the platform at every instant, in its independent components.
    pub twists: Vec<Vec<f64>>,
    /// Accelerations of the platform at every instant, in its independent components.
    pub accelerations: Vec<Vec<f64>>,
    /// Rates of the drives at every instant.
    pub rates: Vec<Vec<f64>>,
    /// Efforts of the drives at every instant, friction included.
    pub efforts: Vec<Vec<f64>>,
    /// What happens on the way, in the order of time.
    pub marks: Vec<FilmMark>,
    /// Frames of the nodes of the scene at every instant, for a page without the library.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Vec<f64>>,
}

/// Something on the time line of a motion.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct FilmMark {
    /// `limit`, `singularity` or `no-answer`.
    pub kind: &'static str,
    /// When it begins, s.
    pub from: f64,
    /// When it ends, s; an instant where both are equal.
    pub to: f64,
    /// What it is, in words.
    pub what: String,
}

impl Film {
    /// The motion that an answer is about. Digits beyond what a picture needs are left out.
    pub fn new(robot: &Robot, trajectory: &Trajectory, found: &AlongAnswer) -> Self {
        let rounded = |list: &[f64]| list.iter().map(|x| shorter(*x)).collect::<Vec<f64>>();
        let n = robot.components().len();
        let (mut twists, mut accelerations) = (Vec::new(), Vec::new());
        for row in &found.states {
            let (mut t_r, mut td_r) = (vec![0.0; n], vec![0.0; n]);
            trajectory.at(row.t).components(robot.model(), &mut t_r, &mut td_r);
            twists.push(rounded(&t_r));
            accelerations.push(rounded(&td_r));
        }
        Self {
            working_mode: found.working_mode.clone(),
            t: found.states.iter().map(|row| shorter(row.t)).collect(),
            at: found.states.iter().map(|row| rounded(&robot.coordinates_of(&trajectory.at(row.t).pose))).collect(),
            twists,
            accelerations,
            rates: found.states.iter().map(|row| rounded(&row.qd)).collect(),
            efforts: found.states.iter().map(|row| rounded(&row.with_friction)).collect(),
            marks: marks(found),
            frames: Vec::new(),
        }
    }

    /// The motion with frames of at most so many instants and those instants alone: for a page that cannot compute postures.
    pub fn drawn(mut self, robot: &Robot, mode: &WorkingMode, most: usize) -> Self {
        let every = self.t.len().div_ceil(most.max(1)).max(1);
        let mut session = Session::new(robot.clone());
        let mut frames = Vec::new();
        let kept: Vec<usize> = (0..self.t.len())
            .step_by(every)
            .filter(|k| {
                let stands = session.place_in(&self.at[*k], mode).is_ok();
                if stands {
                    let mut one = Vec::new();
                    session.frames(&mut one);
                    frames.push(one.into_iter().map(shorter).collect());
                }
                stands
            })
            .collect();
        let only = |list: &[Vec<f64>]| kept.iter().map(|k| list[*k].clone()).collect();
        for list in [&mut self.at, &mut self.twists, &mut self.accelerations, &mut self.rates, &mut self.efforts] {
            *list = only(list);
        }
        self.t = kept.iter().map(|k| self.t[*k]).collect();
        self.frames = frames;
        self
    }
}

/// Limits that are left, singularities that are met, times without an answer.
fn marks(found: &AlongAnswer) -> Vec<FilmMark> {
    let limits = found.violations.iter().map(|v| FilmMark {
        kind: "limit",
        from: v.from,
        to: v.to,
        what: format!("{} of q{}: {:.6} at {:.6} s, limit {:.6}", v.bound.word(), v.joint, v.value, v.at, v.limit),
    });
    let met = found.crossings.iter().map(|c| FilmMark { kind: "singularity", from: c.t, to: c.t, what: c.title() });
    let refused =
        found.refused.iter().map(|r| FilmMark { kind: "no-answer", from: r.from, to: r.to, what: r.why.to_string() });
    let mut all: Vec<FilmMark> = limits.chain(met).chain(refused).collect();
    all.sort_by(|a, b| a.from.total_cmp(&b.from));
    all
}

/// A number of seven digits: what a picture and a plot need.
fn shorter(x: f64) -> f64 {
    format!("{x:.6e}").parse().unwrap_or(x)
}
