//! Records: what a robot did and what its drives gave, over time; what can be wrong with them.

use crate::kinematics::SolveError;
use crate::model::Model;
use std::fmt;

/// Where positions were measured, one list over time per channel.
#[derive(Clone, PartialEq, Debug)]
pub enum Measured {
    /// Active joints, in the order of [`crate::model::Topology::active`].
    Joints(Vec<Vec<f64>>),
    /// x, y, z, roll, pitch, yaw of the platform.
    Platform(Vec<Vec<f64>>),
}

impl Measured {
    pub(super) fn channels(&self) -> &[Vec<f64>] {
        match self {
            Measured::Joints(list) | Measured::Platform(list) => list,
        }
    }
}

/// Positions and efforts over time.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// How it is called in messages: its file.
    pub name: String,
    /// Times.
    pub times: Vec<f64>,
    /// Positions.
    pub measured: Measured,
    /// Efforts of the drives, one list over time each.
    pub efforts: Vec<Vec<f64>>,
}

/// Why a record gives no parameters.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// A list is not as long as that of the times, or lists are missing.
    Uneven,
    /// A number that is not finite.
    NotFinite {
        /// Its channel.
        channel: String,
        /// Its time.
        t: f64,
    },
    /// Fewer samples than are needed.
    TooShort {
        /// Seconds that there are.
        seconds: f64,
        /// Seconds that are needed.
        needed: f64,
    },
    /// Samples are not equally far apart.
    TimeJump {
        /// Time before the jump.
        t: f64,
        /// Time to the next sample.
        step: f64,
        /// The usual time between samples.
        usual: f64,
    },
    /// Samples are too far apart for any motion that shows inertias.
    Slow {
        /// Time between samples.
        step: f64,
    },
    /// A cutoff that the rate of samples does not carry.
    Cutoff {
        /// In Hz.
        cutoff: f64,
        /// The highest that this rate allows, in Hz.
        most: f64,
    },
    /// Efforts of another size than those of the file's parameters.
    Scale {
        /// How many times as large they are.
        times: f64,
    },
    /// An angle that no joint takes.
    Degrees {
        /// The channel.
        channel: String,
        /// Its largest value.
        value: f64,
    },
    /// A length far beyond the robot.
    Millimetres {
        /// The channel.
        channel: String,
        /// Its largest value.
        value: f64,
    },
    /// Nothing moves.
    NoMotion,
    /// A drive that gives nothing, or always the same.
    NoEffort {
        /// The drive.
        drive: String,
    },
    /// There is no posture for a sample.
    Posture {
        /// Its time.
        t: f64,
        /// Why.
        why: SolveError,
    },
    /// The motion does not tell some parameters from each other.
    NotExciting {
        /// The parameter that the others explain.
        parameter: String,
    },
    /// Efforts that the model explains, and that are far nearer to the file's when drives change places or signs.
    UnlikeFile {
        /// The record.
        record: String,
        /// What is changed.
        hypothesis: String,
        /// How many times nearer.
        gain: f64,
    },
    /// Efforts fit much better when drives change places or signs.
    Swapped {
        /// The record.
        record: String,
        /// What would fit.
        hypothesis: String,
        /// How many times smaller the residual would be.
        gain: f64,
    },
    /// A drive whose friction or inertia comes out negative.
    WrongSign {
        /// The parameter.
        parameter: String,
        /// Its estimate.
        value: f64,
    },
    /// Efforts that have little to do with the motion.
    Unexplained {
        /// The drive.
        drive: String,
        /// Share of its effort that the model does not explain.
        share: f64,
    },
    /// Joints that the pose leaves open.
    Open,
    /// Base parameters could not be told.
    Parameters(super::ParameterError),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uneven => f.write_str("positions, efforts and times are not equally long"),
            Self::NotFinite { channel, t } => write!(f, "{channel} is not a number at t = {t} s"),
            Self::TooShort { seconds, needed } => {
                write!(
                    f,
                    "the record lasts {seconds:.3} s; at least {needed:.3} s are needed: record longer, or raise --cutoff"
                )
            }
            Self::TimeJump { t, step, usual } => write!(
                f,
                "time jumps after t = {t} s: {step:.6} s to the next sample instead of {usual:.6} s; cut the record there"
            ),
            Self::Slow { step } => {
                write!(f, "samples are {step} s apart, too far for motions that show inertias; is the time in seconds?")
            }
            Self::Cutoff { cutoff, most } => write!(
                f,
                "a cutoff of {cutoff} Hz is too high for the rate of these samples; give at most {most:.1} Hz, or leave it out"
            ),
            Self::Scale { times } => write!(
                f,
                "efforts are {times:.2e} times those that the file gives for this motion; check their units (N m, N) and --gains"
            ),
            Self::Degrees { channel, value } => {
                write!(f, "{channel} reaches {value:.3} rad; are angles in degrees? They must be radians")
            }
            Self::Millimetres { channel, value } => {
                write!(
                    f,
                    "{channel} reaches {value:.3} m, far beyond the robot; are lengths in millimetres? They must be metres"
                )
            }
            Self::NoMotion => {
                f.write_str("nothing moves in the record; parameters need motion, see `gough identify --excite`")
            }
            Self::NoEffort { drive } => write!(f, "the effort of {drive} is always the same; is its column filled?"),
            Self::Posture { t, why } => write!(
                f,
                "no posture at t = {t} s: {why}; check units (rad, m), order and signs of the joints, jumps in their positions, and the working mode"
            ),
            Self::NotExciting { parameter } => write!(
                f,
                "the motion does not tell {parameter} from the others; move more, see `gough identify --excite`"
            ),
            Self::Swapped { record, hypothesis, gain } => write!(
                f,
                "efforts of {record} fit {gain:.1} times better when {hypothesis}; check order and signs of its columns"
            ),
            Self::UnlikeFile { record, hypothesis, gain } => write!(
                f,
                "efforts of {record} are {gain:.1} times nearer to those of the file's parameters when {hypothesis}; check order and signs of its columns"
            ),
            Self::WrongSign { parameter, value } => write!(
                f,
                "{parameter} comes out as {value:.4}, which no robot has; check sign and order of the effort columns"
            ),
            Self::Unexplained { drive, share } => write!(
                f,
                "the model leaves {:.0} % of the effort of {drive} unexplained; check units, gains and order of the effort columns",
                100.0 * share
            ),
            Self::Open => f.write_str("the pose leaves joints open; such robots are not identified"),
            Self::Parameters(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for RecordError {}

impl RecordError {
    /// A short name that programs can rely on.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Uneven => "uneven",
            Self::NotFinite { .. } => "not-finite",
            Self::TooShort { .. } => "too-short",
            Self::TimeJump { .. } => "time-jump",
            Self::Slow { .. } => "slow",
            Self::Cutoff { .. } => "cutoff",
            Self::Scale { .. } => "scale",
            Self::Degrees { .. } => "degrees",
            Self::Millimetres { .. } => "millimetres",
            Self::NoMotion => "no-motion",
            Self::NoEffort { .. } => "no-effort",
            Self::Posture { .. } => "posture",
            Self::NotExciting { .. } => "not-exciting",
            Self::Swapped { .. } => "swapped",
            Self::UnlikeFile { .. } => "unlike-file",
            Self::WrongSign { .. } => "wrong-sign",
            Self::Unexplained { .. } => "unexplained",
            Self::Open => "open-joints",
            Self::Parameters(_) => "parameters",
        }
    }
}

/// Samples that are farther apart, in seconds, show no motion of a robot.
const SLOWEST: f64 = 0.1;

const COORDINATES: [&str; 6] = ["x", "y", "z", "roll", "pitch", "yaw"];

impl Record {
    /// The first part of the record, and the rest from this share of its samples on.
    pub fn split(&self, share: f64) -> (Self, Self) {
        // A share of a count is a count.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let at = ((self.times.len() as f64 * share.clamp(0.0, 1.0)) as usize).min(self.times.len());
        let cut = |list: &[Vec<f64>], first: bool| -> Vec<Vec<f64>> {
            list.iter()
                .map(|l| if first { l[..at.min(l.len())].to_vec() } else { l[at.min(l.len())..].to_vec() })
                .collect()
        };
        let part = |first: bool| Self {
            name: self.name.clone(),
            times: if first { self.times[..at].to_vec() } else { self.times[at..].to_vec() },
            measured: match &self.measured {
                Measured::Joints(list) => Measured::Joints(cut(list, first)),
                Measured::Platform(list) => Measured::Platform(cut(list, first)),
            },
            efforts: cut(&self.efforts, first),
        };
        (part(true), part(false))
    }

    /// Time between samples, once everything that can be told beforehand is right.
    pub(super) fn checked(&self, model: &Model<f64>, cutoff: f64) -> Result<f64, RecordError> {
        let n = self.times.len();
        let lists = || self.measured.channels().iter().chain(&self.efforts);
        let drives = model.topology().active.len();
        let channels = if matches!(self.measured, Measured::Joints(_)) { drives } else { 6 };
        let counted = self.measured.channels().len() == channels && self.efforts.len() == drives;
        if !counted || lists().any(|l| l.len() != n) {
            return Err(RecordError::Uneven);
        }
        let names = self.names(model);
        for (list, name) in lists().chain([&self.times]).zip(names.iter().map(String::as_str).chain(["t"])) {
            if let Some(i) = list.iter().position(|x| !x.is_finite()) {
                return Err(RecordError::NotFinite { channel: name.to_owned(), t: self.times[i] });
            }
        }
        let needed = 12.0 / cutoff;
        let seconds = if n > 1 { self.times[n - 1] - self.times[0] } else { 0.0 };
        if n < 50 || seconds < needed {
            return Err(RecordError::TooShort { seconds, needed });
        }
        let dt = self.regular()?;
        if dt > SLOWEST {
            return Err(RecordError::Slow { step: dt });
        }
        self.check_values(model, &names)?;
        Ok(dt)
    }

    fn names(&self, model: &Model<f64>) -> Vec<String> {
        let drives = model.topology().active_names();
        let places: Vec<String> = match &self.measured {
            Measured::Joints(_) => drives.iter().map(|n| format!("q{n}")).collect(),
            Measured::Platform(_) => COORDINATES.map(str::to_owned).to_vec(),
        };
        places.into_iter().chain(drives.iter().map(|n| format!("tau_{n}"))).collect()
    }

    /// The time between samples, which must be nearly the same everywhere.
    fn regular(&self) -> Result<f64, RecordError> {
        let mut steps: Vec<f64> = self.times.windows(2).map(|w| w[1] - w[0]).collect();
        let jump = |usual: f64| steps.iter().position(|s| (s - usual).abs() > 0.2 * usual);
        let mean = (self.times[self.times.len() - 1] - self.times[0]) / steps.len() as f64;
        let mut sorted = steps.clone();
        sorted.sort_by(f64::total_cmp);
        let usual = sorted[sorted.len() / 2];
        match jump(usual) {
            Some(i) => Err(RecordError::TimeJump { t: self.times[i], step: steps.swap_remove(i), usual }),
            None => Ok(mean),
        }
    }

    fn check_values(&self, model: &Model<f64>, names: &[String]) -> Result<(), RecordError> {
        let t = model.topology();
        let slides: Vec<bool> = match &self.measured {
            Measured::Joints(_) => t.active.iter().map(|c| t.coords[*c].slides).collect(),
            Measured::Platform(_) => vec![true, true, true, false, false, false],
        };
        let counted = |k: usize| matches!(self.measured, Measured::Joints(_)) && t.coords[t.active[k]].counted;
        let mut moves = false;
        for (k, list) in self.measured.channels().iter().enumerate() {
            let value = list.iter().fold(0.0_f64, |m, x| if x.abs() > m.abs() { *x } else { m });
            let channel = names[k].clone();
            if !slides[k] && !counted(k) && value.abs() > 2.1 * std::f64::consts::PI {
                return Err(RecordError::Degrees { channel, value });
            }
            if slides[k] && value.abs() > 50.0 * model.size() + model.numbers().home_pose.p.norm() {
                return Err(RecordError::Millimetres { channel, value });
            }
            let (low, high) = list.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
            moves |= high - low > 1e-4 * if slides[k] { model.size() } else { 1.0 };
        }
        if !moves {
            return Err(RecordError::NoMotion);
        }
        for (k, list) in self.efforts.iter().enumerate() {
            if list.iter().all(|x| *x == list[0]) {
                return Err(RecordError::NoEffort { drive: format!("q{}", t.active_names()[k]) });
            }
        }
        Ok(())
    }
}
