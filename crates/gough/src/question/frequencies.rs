//! Natural frequencies of a flexible robot at a posture.

use super::Error;
use super::posed::PlatformPose;
use crate::Robot;
use crate::description::{Concern, LeftOut};
use crate::elastodynamics::vibration::summed;
use crate::elastodynamics::{Actuators, DriveUse, Frequency, Sensitivity, Shares, Vibration, drive_uses};
use crate::kinematics::{Posture, WorkingMode, inverse};
use crate::linalg::arrow::ModeKind;
use crate::spatial::Pose;
use serde::Serialize;

/// A question about natural frequencies; [`Robot::frequencies`] begins it, [`Frequencies::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct Frequencies<'r> {
    pub(super) robot: &'r Robot,
    pub(super) pose: Pose<f64>,
    pub(super) mode: Option<WorkingMode>,
    pub(super) count: usize,
    pub(super) actuators: Actuators,
    shapes: bool,
    pub(super) sensitivities: bool,
    reduce: Option<usize>,
}

/// Natural frequencies at a posture, from the lowest.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct FrequencyAnswer {
    /// The robot.
    pub robot: String,
    /// What the file has and the answer leaves out.
    pub left_out: Vec<LeftOut>,
    /// The platform.
    pub pose: PlatformPose,
    /// Working mode by name.
    pub working_mode: String,
    /// `full`: beams and modal bodies with all their motions.
    pub method: &'static str,
    /// What the drives do: `locked`, `elastic` or `free`.
    pub actuators: &'static str,
    /// Motions with mass.
    pub dof: usize,
    /// Motions without mass, which are condensed.
    pub massless: Vec<String>,
    /// How every drive was taken.
    pub drives: Vec<DriveUse>,
    /// Sliders on flexible beams, where they stand: the node of the beam is there.
    pub sliders: Vec<SliderPlace>,
    /// Beams that carry something off their axis by a rigid arm, and how long it is, m.
    #[serde(skip)]
    pub arms: Vec<(String, f64)>,
    /// The frequencies, Hz.
    pub frequencies_hz: Vec<f64>,
    /// What vibrates in each.
    pub modes: Vec<ModeAnswer>,
    /// How they depend on the parameters of the file, when asked for, largest effect first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivities: Option<Vec<FrequencySensitivity>>,
    /// What legs reduced to a few modes give, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduced: Option<ReducedAnswer>,
}

/// A natural mode.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct ModeAnswer {
    /// Its frequency, Hz.
    pub frequency_hz: f64,
    /// Square of its angular frequency; negative where the posture is unstable.
    pub omega2: f64,
    /// `vibration`, `free` or `unstable`.
    pub kind: &'static str,
    /// How many modes share this frequency; any mixture of their shapes is a mode, and the energies are means.
    pub multiplicity: usize,
    /// Share of the elastic energy of every body, joint and drive, with how it is stored.
    pub elastic_energy: Vec<EnergyShare>,
    /// Share of the kinetic energy of every body.
    pub kinetic_energy: Vec<EnergyShare>,
    /// How every place moves, when asked for, one unit of modal mass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<PlaceMotion>>,
}

/// How a place of the robot moves in a mode, in world axes.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct PlaceMotion {
    /// The place.
    pub of: String,
    /// Where it is, m.
    pub position: [f64; 3],
    /// Displacement, then rotation.
    pub motion: [f64; 6],
}

/// Share of an energy.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct EnergyShare {
    /// Whose.
    pub of: String,
    /// How it is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The share.
    pub share: f64,
}

/// A slider on a flexible beam.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct SliderPlace {
    /// The body whose joint slides, or the closure.
    pub joint: String,
    /// The beam.
    pub beam: String,
    /// How far along the beam it stands, m; before the start or beyond the end a rigid arm carries it.
    pub along: f64,
    /// Length of the beam, m.
    pub length: f64,
}

/// How frequencies depend on a parameter of the file, the pose staying the same.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct FrequencySensitivity {
    /// Name of the parameter.
    pub parameter: String,
    /// Its value.
    pub value: f64,
    /// Derivative of each frequency. Equal frequencies part: theirs are the slopes of the branches, in ascending order.
    pub hz_per_unit: Vec<f64>,
    /// Per cent of each frequency per per cent of the parameter.
    pub percent_per_percent: Vec<f64>,
}

/// Frequencies of a robot whose legs are reduced to their static behaviour and a few modes each.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct ReducedAnswer {
    /// Motions that are left.
    pub dof: usize,
    /// Their frequencies, Hz.
    pub frequencies_hz: Vec<f64>,
    /// Their errors, of the full model's.
    pub relative_errors: Vec<f64>,
}

impl Robot {
    /// Natural frequencies at a pose: the ten lowest unless told otherwise, drives elastic where the file gives a stiffness.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("navaro")?;
    /// let found = robot.frequencies(robot.home().pose()).count(5).answer()?;
    /// assert_eq!(found.frequencies_hz.len(), 5);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn frequencies(&self, pose: &Pose<f64>) -> Frequencies<'_> {
        let (actuators, shapes, sensitivities) = (Actuators::default(), false, false);
        Frequencies { robot: self, pose: *pose, mode: None, count: 10, actuators, shapes, sensitivities, reduce: None }
    }
}

impl Frequencies<'_> {
    /// How many, from the lowest; all there are where that is fewer.
    pub fn count(mut self, count: usize) -> Self {
        self.count = count;
        self
    }

    /// Working mode; that of the file unless given.
    pub fn mode(mut self, mode: &WorkingMode) -> Self {
        self.mode = Some(mode.clone());
        self
    }

    /// What the drives do while the robot vibrates.
    pub fn actuators(mut self, actuators: Actuators) -> Self {
        self.actuators = actuators;
        self
    }

    /// Ask for the shapes of the modes too.
    pub fn shapes(mut self) -> Self {
        self.shapes = true;
        self
    }

    /// Ask how the frequencies depend on every parameter of the file too.
    pub fn sensitivities(mut self) -> Self {
        self.sensitivities = true;
        self
    }

    /// Ask too what the frequencies are when every leg is reduced to its static behaviour and this many of its own modes.
    pub fn reduced(mut self, modes: usize) -> Self {
        self.reduce = Some(modes);
        self
    }

    /// The posture that is asked about.
    pub(super) fn posture(&self) -> Result<Posture, Error> {
        if self.count == 0 {
            return Err(Error::Question("no frequency is asked for; ask for one or more".to_owned()));
        }
        Ok(inverse(self.robot.model(), &self.pose, self.mode.as_ref().unwrap_or(self.robot.mode()))?)
    }

    /// The frequencies, or why there are none.
    pub fn answer(&self) -> Result<FrequencyAnswer, Error> {
        let (robot, model) = (self.robot, self.robot.model());
        let posture = self.posture()?;
        let mut v = Vibration::new(model, robot.home(), self.actuators)?;
        v.take_posture(&posture)?;
        let count = self.count.min(v.modes());
        let reduced = self.reduce.map(|n| v.reduced(n, count)).transpose()?;
        // Beyond the last one asked for, as long as it has equals: energies and slopes are those of whole groups.
        let mut found = v.lowest_groups(count)?.to_vec();
        let (groups, shares) = (v.groups(), v.shares());
        found.truncate(count);
        let alike = |k: usize| groups.iter().find(|(first, n)| (*first..first + n).contains(&k)).map_or(1, |g| g.1);
        let told = (0..found.len()).map(|k| ModeAnswer {
            shape: self.shapes.then(|| shape(&mut v, k)),
            ..ModeAnswer::new(&found[k], &shares[k], alike(k))
        });
        let modes: Vec<ModeAnswer> = told.collect();
        let hz: Vec<f64> = found.iter().map(|f| f.hz).collect();
        let t = v.elastic_model().topology();
        let massless = v.massless();
        Ok(FrequencyAnswer {
            robot: model.topology().name.clone(),
            left_out: model.description().left_out(Concern::Vibration),
            pose: PlatformPose::new(model, posture.pose()),
            working_mode: posture.mode().name(model.topology()),
            method: "full",
            actuators: self.actuators.word(),
            dof: v.plan().coordinates() - massless.len(),
            drives: drive_uses(v.elastic_model(), v.plan()),
            sliders: slider_places(&v),
            arms: v.plan().arms.iter().map(|(b, d)| (t.bodies[*b].name.clone(), *d)).collect(),
            massless,
            modes,
            sensitivities: self.sensitivities.then(|| by_effect(v.sensitivities(posture.mode()), &hz)),
            reduced: reduced.map(|r| ReducedAnswer {
                dof: r.coordinates,
                frequencies_hz: r.hz,
                relative_errors: r.errors,
            }),
            frequencies_hz: hz,
        })
    }
}

impl ModeAnswer {
    fn new(f: &Frequency, s: &Shares, multiplicity: usize) -> Self {
        let share = |of: &str, kind, share| EnergyShare { of: of.to_owned(), kind, share };
        Self {
            frequency_hz: f.hz,
            omega2: f.omega2,
            kind: match f.kind {
                ModeKind::Vibration => "vibration",
                ModeKind::Free => "free",
                ModeKind::Unstable => "unstable",
            },
            multiplicity,
            elastic_energy: s.elastic.iter().map(|(of, kind, x)| share(of, Some(kind.word()), *x)).collect(),
            kinetic_energy: s.kinetic.iter().map(|(of, x)| share(of, None, *x)).collect(),
            shape: None,
        }
    }

    /// Elastic energy by how it is stored, largest share first.
    pub fn by_kind(&self) -> Vec<(String, f64)> {
        summed(self.elastic_energy.iter().map(|e| (e.kind.unwrap_or_default().to_owned(), e.share)))
    }

    /// Elastic energy by body, joint and drive, largest share first.
    pub fn by_body(&self) -> Vec<(String, f64)> {
        summed(self.elastic_energy.iter().map(|e| (e.of.clone(), e.share)))
    }
}

fn shape(v: &mut Vibration, mode: usize) -> Vec<PlaceMotion> {
    let shape = v.shape(mode);
    shape
        .into_iter()
        .map(|(place, position, motion)| PlaceMotion { of: v.place_name(place), position, motion })
        .collect()
}

/// Sliders on flexible beams.
fn slider_places(v: &Vibration) -> Vec<SliderPlace> {
    let model = v.elastic_model();
    let told = v.plan().sliders.iter().map(|s| SliderPlace {
        joint: s.name(model),
        beam: model.topology().bodies[s.beam].name.clone(),
        along: s.along,
        length: model.numbers().beams[s.beam].as_ref().map_or(0.0, |b| b.length),
    });
    told.collect()
}

/// How these frequencies depend on parameters, largest effect first.
pub(super) fn by_effect(list: Vec<Sensitivity>, hz: &[f64]) -> Vec<FrequencySensitivity> {
    let told = list.into_iter().map(|s| {
        let slopes = &s.slopes[..hz.len().min(s.slopes.len())];
        let effect = |(slope, f): (&f64, &f64)| if *f > 0.0 { slope * s.value / f } else { 0.0 };
        FrequencySensitivity {
            percent_per_percent: slopes.iter().zip(hz).map(effect).collect(),
            hz_per_unit: slopes.to_vec(),
            parameter: s.parameter,
            value: s.value,
        }
    });
    let most = |s: &FrequencySensitivity| s.percent_per_percent.iter().fold(0.0_f64, |most, e| most.max(e.abs()));
    let mut told: Vec<FrequencySensitivity> = told.collect();
    told.sort_by(|a, b| most(b).total_cmp(&most(a)));
    told
}
