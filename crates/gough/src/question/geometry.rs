//! Joints from the pose of the platform, the platform from its motors, rates and accelerations of the joints.

use super::Error;
use super::asked::{Asked, state_methods};
use super::posed::{JointMotion, PlatformPose, PostureAnswer, assumed, rows};
use crate::Robot;
use crate::analysis::named_end_of_reach;
use crate::kinematics::error::BEYOND;
use crate::kinematics::jacobians::{Redundancy, StateMatrices, matrices_at};
use crate::kinematics::motion::{Motion, move_from};
use crate::kinematics::{
    Assemblies, Posture, SolveError, WorkingMode, assemblies, inverse_given, lists_all_modes, postures,
    working_modes_given,
};
use crate::model::Model;
use crate::spatial::Pose;
use serde::ser::{SerializeMap as _, SerializeStruct as _};
use serde::{Serialize, Serializer};

/// A question about joints at a pose; [`Robot::kinematics`] begins it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer` or `all_modes`"]
pub struct Kinematics<'r> {
    asked: Asked<'r>,
    acceleration: Option<Vec<f64>>,
    matrices: bool,
}

/// Working modes in which a pose can be reached. The document tells the first of them at its top, too.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct WorkingModes {
    /// The postures, that of the file's mode first.
    pub working_modes: Vec<PostureAnswer>,
    /// Whether it is known that there are no others.
    pub complete: bool,
}

impl WorkingModes {
    /// One posture of those there are.
    #[doc(hidden)]
    pub fn of_one(robot: &Robot, posture: PostureAnswer) -> Self {
        Self { working_modes: vec![posture], complete: lists_all_modes(robot.model(), 1) }
    }
}

impl Serialize for WorkingModes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct NamedPosture<'a> {
            name: &'a str,
            #[serde(flatten)]
            posture: &'a PostureAnswer,
        }
        #[derive(Serialize)]
        struct Document<'a> {
            #[serde(flatten)]
            first: Option<PostureAnswer>,
            working_modes: Vec<NamedPosture<'a>>,
            complete: bool,
        }
        Document {
            first: self.working_modes.first().map(|first| PostureAnswer { matrices: None, ..first.clone() }),
            working_modes: self
                .working_modes
                .iter()
                .map(|posture| NamedPosture { name: &posture.working_mode, posture })
                .collect(),
            complete: self.complete,
        }
        .serialize(serializer)
    }
}

/// Every place where the platform can be for given motors.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct AssemblyModes {
    /// The motors.
    pub active: JointMotion,
    /// The places.
    pub assemblies: Vec<Assembly>,
    /// Whether it is known that there are no others.
    pub complete: bool,
    /// Largest difference between the given motors and those of the answers, rad or sizes of the robot: least squares where
    /// motors are redundant.
    pub misfit: f64,
}

/// A place where the platform can be for given motors.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Assembly {
    /// The platform.
    pub pose: PlatformPose,
    /// Passive joints.
    pub passive: JointMotion,
    /// Largest remaining gap of the loops, m or rad.
    pub residual: f64,
    /// Largest remaining gaps of the loops: m, rad.
    #[serde(skip)]
    pub gaps: [f64; 2],
    /// Working mode by name.
    pub working_mode: String,
}

/// The matrices of first and second order at a posture, by name; those that do not exist there are missing. What they mean is
/// in [`KinematicMatrices::equation`].
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct KinematicMatrices {
    /// Matrices: rows of numbers.
    pub matrices: Vec<(&'static str, Option<Vec<Vec<f64>>>)>,
    /// Biases, where the question has a motion.
    pub biases: Vec<(&'static str, Option<Vec<f64>>)>,
    /// `none`, `actuation` or `kinematic`.
    pub redundancy: &'static str,
    /// The passive joints that the matrices are about.
    pub passive_of_matrices: Vec<String>,
}

/// Names of matrices and the equations they stand in.
const EQUATIONS: [(&str, &str); 18] = [
    ("A", "A t_p + B qd_a = 0"),
    ("B", "A t_p + B qd_a = 0"),
    ("W_c", "constraint wrenches: W_c t_p = 0"),
    ("Psi_t", "t_p = Psi_t t_r"),
    ("A_r", "A_r t_r + B qd_a = 0"),
    ("J", "t_r = J qd_a"),
    ("J_inv", "qd_a = J_inv t_r"),
    ("J_t", "J_td qd_d = J_t t_r - J_ta qd_a"),
    ("J_ta", "J_td qd_d = J_t t_r - J_ta qd_a"),
    ("J_td", "J_td qd_d = J_t t_r - J_ta qd_a"),
    ("J_d", "qd_d = J_d qd_a"),
    ("b_prime", "A td_p + B qdd_a = b_prime"),
    ("b", "A_r td_r + B qdd_a = b"),
    ("Psi_t_dot_t_r", "td_p = Psi_t td_r + Psi_t_dot_t_r"),
    ("a_t", "td_r = J qdd_a + a_t"),
    ("a_q", "qdd_a = J_inv td_r + a_q"),
    ("d_c", "J_td qdd_d = J_t td_r - J_ta qdd_a + d_c"),
    ("a_d", "qdd_d = J_d qdd_a + a_d"),
];

impl Serialize for KinematicMatrices {
    /// Matrices and biases under one key, as equations have them side by side.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Both<'a>(&'a KinematicMatrices);
        impl Serialize for Both<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(Some(self.0.matrices.len() + self.0.biases.len()))?;
                self.0.matrices.iter().try_for_each(|(name, rows)| map.serialize_entry(name, rows))?;
                self.0.biases.iter().try_for_each(|(name, list)| map.serialize_entry(name, list))?;
                map.end()
            }
        }
        let mut document = serializer.serialize_struct("KinematicMatrices", 3)?;
        document.serialize_field("matrices", &Both(self))?;
        document.serialize_field("redundancy", self.redundancy)?;
        document.serialize_field("passive_of_matrices", &self.passive_of_matrices)?;
        document.end()
    }
}

impl KinematicMatrices {
    /// The equation that a matrix stands in.
    pub fn equation(name: &str) -> Option<&'static str> {
        EQUATIONS.iter().find(|e| e.0 == name).map(|e| e.1)
    }

    fn new(model: &Model<f64>, s: &StateMatrices, moves: bool) -> Self {
        let (m, j) = (&s.matrices, &s.jacobians);
        let matrices = [
            ("A", Some(&m.A)),
            ("B", Some(&m.B)),
            ("W_c", Some(&m.W_c)),
            ("Psi_t", Some(&m.Psi_t)),
            ("A_r", Some(&m.A_r)),
            ("J", j.J.as_ref()),
            ("J_inv", j.J_inv.as_ref()),
            ("J_t", Some(&m.J_t)),
            ("J_ta", Some(&m.J_ta)),
            ("J_td", Some(&m.J_td)),
            ("J_d", j.J_d.as_ref()),
        ];
        let biases = [
            ("b_prime", Some(&m.b_prime)),
            ("b", Some(&m.b)),
            ("Psi_t_dot_t_r", Some(&m.Psi_t_dot_t_r)),
            ("a_t", j.a_t.as_ref()),
            ("a_q", j.a_q.as_ref()),
            ("d_c", Some(&m.d_c)),
            ("a_d", j.a_d.as_ref()),
        ];
        let biases = biases.into_iter().filter(|_| moves);
        Self {
            matrices: matrices.into_iter().map(|(name, m)| (name, m.map(rows))).collect(),
            biases: biases.map(|(name, x)| (name, x.cloned())).collect(),
            redundancy: match s.redundancy {
                Redundancy::None => "none",
                Redundancy::Actuation => "actuation",
                Redundancy::Kinematic => "kinematic",
            },
            passive_of_matrices: s.passive.iter().map(|c| model.topology().coords[*c].name.clone()).collect(),
        }
    }
}

impl Robot {
    /// Joints for a pose of the platform: positions, and rates and accelerations when the platform is given a twist.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let pose = robot.pose("x=0.05, y=0.25")?;
    /// let found = robot.kinematics(&pose).twist(&[0.3, 0.0]).answer()?;
    /// assert!((found.active.q[0] - 1.5431057639).abs() < 1e-9);
    /// assert_eq!(robot.kinematics(&pose).all_modes()?.working_modes.len(), 4);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn kinematics(&self, pose: &Pose<f64>) -> Kinematics<'_> {
        Kinematics { asked: Asked::new(self, pose), acceleration: None, matrices: false }
    }

    /// Joints for a pose of the platform, in the working mode of the file.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("delta")?;
    /// let found = robot.inverse_geometry(robot.home().pose())?;
    /// assert!(found.residual < 1e-12);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn inverse_geometry(&self, pose: &Pose<f64>) -> Result<PostureAnswer, Error> {
        self.kinematics(pose).answer()
    }

    /// Every place where the platform can be for given motors, in the order of [`Robot::active_joints`]; in the working mode of
    /// the file where it has it there.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("3-rpr")?;
    /// let q = robot.inverse_geometry(robot.home().pose())?.active.q;
    /// let found = robot.forward_geometry(&q)?;
    /// assert!(found.complete && !found.assemblies.is_empty());
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn forward_geometry(&self, active: &[f64]) -> Result<AssemblyModes, Error> {
        self.check_motors(active)?;
        Ok(AssemblyModes::new(self.model(), active, &assemblies(self.model(), active, self.mode())?))
    }

    /// Every posture in a working mode for given motors, in the order of [`Robot::active_joints`].
    pub fn forward_geometry_in(&self, active: &[f64], mode: &WorkingMode) -> Result<AssemblyModes, Error> {
        self.check_motors(active)?;
        let found = postures(self.model(), active, mode)?.in_mode(self.model(), mode)?;
        Ok(AssemblyModes::new(self.model(), active, &found))
    }

    /// Every posture for given motors, in every working mode.
    #[doc(hidden)]
    pub fn forward_geometry_of_all_modes(&self, active: &[f64]) -> Result<AssemblyModes, Error> {
        self.check_motors(active)?;
        Ok(AssemblyModes::new(self.model(), active, &postures(self.model(), active, self.mode())?))
    }

    fn check_motors(&self, active: &[f64]) -> Result<(), Error> {
        let names = self.active_joints();
        if active.len() == names.len() && active.iter().all(|x| x.is_finite()) {
            return Ok(());
        }
        Err(Error::Question(format!("the motors are not {} finite numbers ({})", names.len(), names.join(", "))))
    }
}

impl AssemblyModes {
    fn new(model: &Model<f64>, active: &[f64], found: &Assemblies) -> Self {
        let t = model.topology();
        let one = |p: &Posture| {
            let (gap_m, gap_rad) = p.gap(model);
            Assembly {
                pose: PlatformPose::new(model, p.pose()),
                passive: JointMotion::new(model, p, None, &t.passive),
                residual: gap_m.max(gap_rad),
                gaps: [gap_m, gap_rad],
                working_mode: p.mode().name(t),
            }
        };
        Self {
            active: JointMotion { q: active.to_vec(), qd: None, qdd: None },
            assemblies: found.postures.iter().map(one).collect(),
            complete: found.complete,
            misfit: found.misfit,
        }
    }
}

impl Kinematics<'_> {
    state_methods!();

    /// Acceleration of the platform in its own components.
    pub fn acceleration(mut self, acceleration: &[f64]) -> Self {
        self.acceleration = Some(acceleration.to_vec());
        self
    }

    /// Ask for the matrices of first order too, and for those of second order where the question has a motion.
    pub fn matrices(mut self) -> Self {
        self.matrices = true;
        self
    }

    /// The posture in one working mode, in motion when the question has one.
    pub fn answer(&self) -> Result<PostureAnswer, Error> {
        let asked = self.asked.checked()?;
        let (model, home) = (asked.model(), asked.robot().home().pose());
        let found = inverse_given(model, asked.pose(), asked.mode(), &asked.given);
        let posture = found.map_err(|e| named_end_of_reach(model, asked.mode(), asked.pose(), home, e))?;
        self.told(&asked, &posture)
    }

    /// Every working mode in which the pose can be reached, that of the file first.
    pub fn all_modes(&self) -> Result<WorkingModes, Error> {
        let asked = self.asked.checked()?;
        let model = asked.model();
        let mut found = working_modes_given(model, asked.pose(), &asked.given)?;
        found.sort_by_key(|p| p.mode() != asked.robot().mode());
        Ok(WorkingModes {
            complete: lists_all_modes(model, found.len()),
            working_modes: found.iter().map(|p| self.told(&asked, p)).collect::<Result<_, _>>()?,
        })
    }

    fn told(&self, asked: &Asked<'_>, posture: &Posture) -> Result<PostureAnswer, Error> {
        let model = asked.model();
        let named = |e| named_end_of_reach(model, posture.mode(), asked.pose(), asked.robot().home().pose(), e);
        let moves = self.asked.has_twist() || self.acceleration.is_some();
        let mut motion = None;
        if moves {
            let acceleration = asked.components(self.acceleration.as_deref(), "acceleration")?;
            let (mut pos, mut found) = (posture.positions().clone(), Motion::new(model));
            move_from(model, asked.twist(), &acceleration, &mut pos, &mut found).map_err(named)?;
            if !found.rates.iter().chain(found.accels.iter()).all(|(_, x)| x.abs() < BEYOND) {
                return Err(SolveError::not_finite().into());
            }
            motion = Some(found);
        }
        let mut answer = PostureAnswer::new(model, posture, motion.as_ref());
        answer.assumed = assumed(model, &asked.given);
        answer.twist = self.asked.has_twist().then(|| asked.twist().to_vec());
        answer.acceleration.clone_from(&self.acceleration);
        if self.matrices {
            let found = matrices_at(model, posture, moves.then_some(asked.twist())).map_err(named)?;
            answer.matrices = Some(KinematicMatrices::new(model, &found, moves));
        }
        Ok(answer)
    }
}
