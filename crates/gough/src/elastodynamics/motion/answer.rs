//! Questions about a flexible robot in motion and their answers.

use super::reduce::ReducedEquations;
use super::solve::{FlexibleRobot, FlexibleState, ScaledCholesky};
use crate::dynamics::Sign;
use crate::elastodynamics::error::ElasticError;
use crate::elastodynamics::plan::Sliding;
use crate::kinematics::{Posture, forward, inverse};
use crate::linalg::small::Dense;
use crate::spatial::{Pose, Twist};

/// What a state gives; the rest is solved.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// Positions and rates of the active joints.
    Active {
        /// Positions.
        q: Vec<f64>,
        /// Rates.
        qd: Vec<f64>,
    },
    /// The platform: of a robot whose platform is a body of its own.
    Platform {
        /// Its pose; of a modal platform that of its floating frame.
        pose: Pose<f64>,
        /// Its twist in world axes.
        twist: Twist<f64>,
    },
}

/// Positions, rates and accelerations of some coordinates.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize)]
pub struct CoordinateMotion {
    /// Positions.
    pub q: Vec<f64>,
    /// Rates.
    pub qd: Vec<f64>,
    /// Accelerations.
    pub qdd: Vec<f64>,
}

/// How a flexible robot moves under its drives.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct FlexibleAnswer {
    /// Efforts of the drives.
    pub efforts: Vec<f64>,
    /// Active joints; rotors where transmissions are elastic.
    pub active: CoordinateMotion,
    /// Passive joints.
    pub passive: CoordinateMotion,
    /// Elastic coordinates.
    pub elastic: CoordinateMotion,
    /// Position of the platform, or of the tool point.
    pub position: [f64; 3],
    /// Twist of the platform in world axes.
    pub twist: [f64; 6],
    /// Acceleration of the platform in world axes.
    pub acceleration: [f64; 6],
    /// Accelerations of the active joints.
    pub active_qdd: Vec<f64>,
    /// Accelerations of the passive joints.
    pub passive_qdd: Vec<f64>,
    /// Accelerations of the elastic coordinates.
    pub elastic_qdd: Vec<f64>,
    /// Kinetic energy of bodies and platform.
    pub kinetic_energy: f64,
    /// Kinetic energy of the rotors.
    pub kinetic_energy_rotors: f64,
    /// Potential energy of gravity, zero at the world origin.
    pub potential_energy: f64,
    /// Energy of deformation, springs and transmissions.
    pub elastic_energy: f64,
    /// Power that the damping of bodies takes.
    pub damping_power: f64,
    /// Pose of the platform, or of the tool point.
    #[serde(skip)]
    pub pose: Pose<f64>,
}

/// What is told to accelerate in the inverse problem.
#[derive(Clone, PartialEq, Debug)]
pub enum Wanted {
    /// The active joints.
    Active(Vec<f64>),
    /// The platform, `[v̇; ω̇]` in world axes: one component per independent coordinate of its twist, the others zero.
    Platform([f64; 6]),
}

/// A slider has not left its place on a beam that is this many times as long.
const SAME_PLACE: f64 = 1e-6;

impl FlexibleRobot<'_> {
    /// Names of the elastic coordinates, in the order of states and answers.
    pub fn elastic_names(&self) -> Vec<String> {
        self.flexible.elastic().iter().map(|k| self.flexible.coordinate_name(self.model, *k)).collect()
    }

    /// A closed state from what is given. Passive joints, and the platform or the active joints, are solved near a posture of the rigid
    /// robot; elastic coordinates are kept unless the loops cannot be closed with them.
    pub fn state(
        &mut self,
        near: &Posture,
        given: &Given,
        elastic: &[f64],
        elastic_rates: &[f64],
    ) -> Result<FlexibleState, ElasticError> {
        let slots = self.flexible.elastic();
        for (what, list) in [("elastic.q", elastic), ("elastic.qd", elastic_rates)] {
            if !list.is_empty() && list.len() != slots.len() {
                return Err(ElasticError::Count { what, given: list.len(), wanted: slots.len() });
            }
        }
        let (active, platform) = (self.active(), self.flexible.platform());
        let (mut state, mut unknown) = match given {
            Given::Active { q, qd } => {
                for (what, list) in [("active.q", q), ("active.qd", qd)] {
                    if list.len() != active.len() {
                        return Err(ElasticError::Count { what, given: list.len(), wanted: active.len() });
                    }
                }
                let guess = forward(self.model, q, near);
                let mut state = FlexibleState::rest(self, guess.as_ref().unwrap_or(near));
                active.iter().zip(q).for_each(|(k, x)| state.at.q[*k] = *x);
                active.iter().zip(qd).for_each(|(k, x)| state.rates[*k] = *x);
                (state, platform)
            }
            Given::Platform { pose, twist } => {
                if platform.is_empty() {
                    return Err(ElasticError::NoPlatform);
                }
                let guess = inverse(self.model, pose, near.mode());
                let mut state = FlexibleState::rest(self, guess.as_ref().unwrap_or(near));
                state.at.X_WE = *pose;
                let twist = twist.to_array();
                for slot in platform {
                    if let super::plan::MotionCoordinate::Platform(k) = self.flexible.coordinates()[slot] {
                        state.rates[slot] = twist[k];
                    }
                }
                (state, active)
            }
        };
        slots.iter().zip(elastic).for_each(|(k, x)| state.at.q[*k] = *x);
        slots.iter().zip(elastic_rates).for_each(|(k, x)| state.rates[*k] = *x);
        unknown.extend(self.passive());
        let mut all = unknown.clone();
        all.extend(&slots);
        let start = state.clone();
        if self.close_by(&mut state, &unknown).is_err() {
            state = start;
            self.close_by(&mut state, &all)?;
        }
        let rates = state.rates.clone();
        if self.follow_by(&mut state, &unknown).is_err() {
            // Elastic rates give way by the least that keeps the loops closed.
            state.rates = rates;
            self.correct_rates(&mut state, &all)?;
        }
        self.stands_on_beams(&state)?;
        Ok(state)
    }

    /// Sliders on beams stand still, where the plan has them.
    fn stands_on_beams(&self, state: &FlexibleState) -> Result<(), ElasticError> {
        for slider in self.flexible.sliders() {
            let numbers = self.model.numbers();
            let Some(beam) = &numbers.beams[slider.beam] else { continue };
            // Where a closure has slid to, no coordinate of the motion tells.
            let Sliding::Body(body) = slider.what else { return Err(ElasticError::slides(self.model, slider)) };
            let coord = self.model.topology().bodies[body].coord;
            let Some(slot) = self.flexible.joints(coord.as_slice()).first().copied() else { continue };
            let X = numbers.bodies[body].X_PF.slid(state.at.q[slot]);
            let shift = beam.X_MN.apply_inv(X.p).x - slider.along;
            if shift.abs() > SAME_PLACE * beam.length || state.rates[slot] != 0.0 {
                return Err(ElasticError::slides(self.model, slider));
            }
        }
        Ok(())
    }

    /// Add the shortest change of the rates of these coordinates that keeps the loops closed.
    fn correct_rates(&mut self, state: &mut FlexibleState, slots: &[usize]) -> Result<(), ElasticError> {
        let kept = state.rates.clone();
        self.follow_by(state, slots)?;
        let fixed: Vec<f64> = state.rates.clone();
        // The particular solution, moved along the motions that the loops allow towards the rates that were asked.
        let wanted: Vec<f64> = kept.iter().zip(&fixed).map(|(a, b)| a - b).collect();
        let mut free = FlexibleState { at: state.at.clone(), rates: vec![0.0; wanted.len()] };
        let own = self.independent().to_vec();
        own.iter().filter(|k| slots.contains(k)).for_each(|k| free.rates[*k] = wanted[*k]);
        self.complete(&mut free)?;
        state.rates.iter_mut().zip(&free.rates).for_each(|(x, y)| *x += y);
        Ok(())
    }

    /// Direct problem: accelerations under efforts, (10.124).
    pub fn direct(
        &mut self,
        state: &FlexibleState,
        efforts: &[f64],
        friction: Option<Sign>,
    ) -> Result<FlexibleAnswer, ElasticError> {
        let wanted = self.active().len();
        if efforts.len() != wanted {
            return Err(ElasticError::Count { what: "efforts", given: efforts.len(), wanted });
        }
        let equations = self.equations(state, friction);
        let own = self.accelerations(&equations, efforts)?;
        Ok(self.answered(state, &equations, &own, efforts.to_vec()))
    }

    /// Inverse problem: efforts, and accelerations of everything else, for accelerations of the active joints or of the platform, (10.124).
    pub fn inverse(
        &mut self,
        state: &FlexibleState,
        wanted: &Wanted,
        friction: Option<Sign>,
    ) -> Result<FlexibleAnswer, ElasticError> {
        let equations = self.equations(state, friction);
        let factor = ScaledCholesky::new(&equations.M).map_err(|at| self.massless(at))?;
        let (A, right) = self.asked(&equations, wanted)?;
        // A q̈ = a with q̈ = M⁻¹(G τ - h).
        let drives = self.drives(&equations);
        let solved: Vec<Vec<f64>> = drives
            .iter()
            .map(|g| {
                let mut x = g.clone();
                factor.solve(&mut x);
                x
            })
            .collect();
        let mut free: Vec<f64> = equations.h.iter().map(|h| -h).collect();
        factor.solve(&mut free);
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
        let n = A.len();
        if n != drives.len() {
            return Err(ElasticError::RedundantDrives { drives: drives.len(), wanted: n });
        }
        let (mut S, mut r) = (Dense::zeros(n, n), Dense::zeros(n, 1));
        for i in 0..n {
            let scale = (0..n).map(|j| dot(&A[i], &solved[j]).abs()).fold(0.0, f64::max).recip();
            (0..n).for_each(|j| *S.at_mut(i, j) = dot(&A[i], &solved[j]) * scale);
            *r.at_mut(i, 0) = (right[i] - dot(&A[i], &free)) * scale;
        }
        let tau = S.solve(&r).ok_or(ElasticError::NotDrivable)?;
        let efforts: Vec<f64> = (0..n).map(|i| tau.at(i, 0)).collect();
        let own: Vec<f64> =
            (0..free.len()).map(|k| free[k] + (0..n).map(|j| solved[j][k] * efforts[j]).sum::<f64>()).collect();
        Ok(self.answered(state, &equations, &own, efforts))
    }

    /// Rows of what is told to accelerate, and what they must be.
    fn asked(&self, equations: &ReducedEquations, wanted: &Wanted) -> Result<(Vec<Vec<f64>>, Vec<f64>), ElasticError> {
        let row = |slot: usize| -> Vec<f64> { (0..equations.J.cols).map(|k| equations.J.at(slot, k)).collect() };
        match wanted {
            Wanted::Active(a) => {
                let slots = self.active();
                if a.len() != slots.len() {
                    return Err(ElasticError::Count { what: "active.qdd", given: a.len(), wanted: slots.len() });
                }
                let right = slots.iter().zip(a).map(|(s, a)| a - equations.b[*s]).collect();
                Ok((slots.iter().map(|s| row(*s)).collect(), right))
            }
            Wanted::Platform(a) => {
                let n = equations.J.cols;
                // The tool's acceleration is linear in the independent ones: column by column.
                let at = |own: &[f64]| {
                    let all = equations.all_accelerations(own);
                    let A = self.flexible.tool(&all, &self.data).2;
                    Twist { v: A.a, w: A.alpha }.to_array()
                };
                let base = at(&vec![0.0; n]);
                let columns: Vec<[f64; 6]> = (0..n)
                    .map(|k| {
                        let mut unit = vec![0.0; n];
                        unit[k] = 1.0;
                        at(&unit)
                    })
                    .collect();
                let places = &self.model.topology().platform.independent;
                let rows = places.iter().map(|c| c.index());
                let list: Vec<usize> = rows.collect();
                let A = list.iter().map(|i| columns.iter().map(|c| c[*i] - base[*i]).collect()).collect();
                Ok((A, list.iter().map(|i| a[*i] - base[*i]).collect()))
            }
        }
    }

    /// Everything about a state whose independent accelerations are known.
    pub fn answered(
        &self,
        state: &FlexibleState,
        equations: &ReducedEquations,
        own: &[f64],
        efforts: Vec<f64>,
    ) -> FlexibleAnswer {
        let all = equations.all_accelerations(own);
        let motion = |slots: &[usize]| CoordinateMotion {
            q: slots.iter().map(|k| state.at.q[*k]).collect(),
            qd: slots.iter().map(|k| state.rates[*k]).collect(),
            qdd: slots.iter().map(|k| all[*k]).collect(),
        };
        let (active, passive) = (motion(&self.active()), motion(&self.passive()));
        let elastic = motion(&self.flexible.elastic());
        let (pose, V, A) = self.flexible.tool(&all, &self.data);
        let [kinetic_energy, kinetic_energy_rotors, potential_energy, elastic_energy, damping_power] =
            self.flexible.energies(&state.at, &state.rates, &self.data);
        FlexibleAnswer {
            efforts,
            active_qdd: active.qdd.clone(),
            passive_qdd: passive.qdd.clone(),
            elastic_qdd: elastic.qdd.clone(),
            active,
            passive,
            elastic,
            position: [pose.p.x, pose.p.y, pose.p.z],
            twist: V.to_array(),
            acceleration: Twist { v: A.a, w: A.alpha }.to_array(),
            kinetic_energy,
            kinetic_energy_rotors,
            potential_energy,
            elastic_energy,
            damping_power,
            pose,
        }
    }
}
