//! Rest and small motions around a state: static deflection, and inertia, damping and stiffness of the closed robot.

use super::answer::{Given, Wanted};
use super::solve::{FlexibleRobot, FlexibleState};
use crate::elastodynamics::error::ElasticError;
use crate::kinematics::Posture;
use crate::linalg::small::Dense;
use crate::spatial::Vec3;

/// Steps of the differences: fractions of a radian or of the length of the robot.
const STEP: f64 = 1e-6;

/// Most steps towards rest.
const MOST_STEPS: usize = 40;

/// Small motions around a state, `M q̈ + D q̇ + K q = f` in some of the independent coordinates.
#[derive(Clone, Debug)]
pub struct Linearised {
    /// Places of the coordinates.
    pub slots: Vec<usize>,
    /// Inertia.
    pub M: Dense<f64>,
    /// Damping, and what rates do to forces around a state that moves.
    pub D: Dense<f64>,
    /// Stiffness, with what weight and deformation add to it.
    pub K: Dense<f64>,
}

impl FlexibleRobot<'_> {
    /// Independent coordinates; those of the drives left out where they are held.
    pub fn free(&self, drives_held: bool) -> Vec<usize> {
        let active = self.active();
        self.independent().iter().copied().filter(|k| !(drives_held && active.contains(k))).collect()
    }

    /// Forces on the independent coordinates at rest, or at the rates of the state.
    fn forces(&mut self, state: &FlexibleState) -> Result<Vec<f64>, ElasticError> {
        let mut state = state.clone();
        self.complete(&mut state)?;
        Ok(self.equations(&state, None).h)
    }

    /// Columns of derivatives of the forces on `slots` by positions, or by rates, of `slots`: central differences.
    fn slopes(&mut self, state: &FlexibleState, slots: &[usize], by_rates: bool) -> Result<Dense<f64>, ElasticError> {
        let rows: Vec<usize> = slots.iter().filter_map(|s| self.independent().iter().position(|k| k == s)).collect();
        let mut out = Dense::zeros(rows.len(), slots.len());
        for (j, slot) in slots.iter().enumerate() {
            let mut at = |h: f64| {
                let mut moved = state.clone();
                if by_rates {
                    moved.rates[*slot] += h;
                } else {
                    self.advance(&mut moved.at, [(*slot, h)]);
                }
                self.forces(&moved)
            };
            let h = if by_rates { 1e-4 } else { STEP };
            let (up, down) = (at(h)?, at(-h)?);
            rows.iter().enumerate().for_each(|(i, r)| *out.at_mut(i, j) = (up[*r] - down[*r]) / (2.0 * h));
        }
        Ok(out)
    }

    /// Inertia, damping and stiffness of small motions around a state.
    pub fn linearise(&mut self, state: &FlexibleState, drives_held: bool) -> Result<Linearised, ElasticError> {
        let slots = self.free(drives_held);
        let all = self.equations(state, None);
        let place = |s: &usize| self.independent().iter().position(|k| k == s).unwrap_or(0);
        let rows: Vec<usize> = slots.iter().map(place).collect();
        let mut M = Dense::zeros(rows.len(), rows.len());
        for (i, r) in rows.iter().enumerate() {
            rows.iter().enumerate().for_each(|(j, c)| *M.at_mut(i, j) = all.M.at(*r, *c));
        }
        let (K, D) = (self.slopes(state, &slots, false)?, self.slopes(state, &slots, true)?);
        Ok(Linearised { slots, M, D, K })
    }

    /// The state in which the robot rests under gravity and loads while its drives stand where they are.
    pub fn deflected(&mut self, state: &FlexibleState) -> Result<FlexibleState, ElasticError> {
        let slots = self.free(true);
        let mut state = state.clone();
        state.rates.fill(0.0);
        self.complete(&mut state)?;
        let rows: Vec<usize> = slots.iter().filter_map(|s| self.independent().iter().position(|k| k == s)).collect();
        let mut before = f64::INFINITY;
        // The stiffness of the bodies leads there, unless weight or forces in the loops add much to it.
        let [.., all] = self.matrices(&state);
        let mut K = Dense::zeros(rows.len(), rows.len());
        for (i, r) in rows.iter().enumerate() {
            rows.iter().enumerate().for_each(|(j, c)| *K.at_mut(i, j) = all.at(*r, *c));
        }
        for _ in 0..MOST_STEPS {
            let h = self.forces(&state)?;
            let step =
                scaled_solve(&K, &rows.iter().map(|r| -h[*r]).collect::<Vec<_>>()).ok_or(ElasticError::NotAtRest)?;
            // Long steps are cut: far from rest the stiffness changes.
            let size = step.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let cut = if size > 0.1 { 0.1 / size } else { 1.0 };
            self.advance(&mut state.at, slots.iter().copied().zip(step.iter().map(|x| x * cut)));
            self.complete(&mut state)?;
            if size < 1e-13 || (size < 1e-9 && size > 0.5 * before) {
                return Ok(state);
            }
            if size > 0.1 * before || cut < 1.0 {
                K = self.slopes(&state, &slots, false)?;
            }
            before = size;
        }
        Err(ElasticError::NotAtRest)
    }

    /// How far gravity and loads move the tool point while the drives stand where they are at a posture, in world axes.
    pub fn deflection(&mut self, posture: &Posture) -> Result<Vec3<f64>, ElasticError> {
        let active = &self.model.topology().active;
        let given = Given::Active { q: posture.joints(self.model, active), qd: vec![0.0; active.len()] };
        let straight = self.state(posture, &given, &[], &[])?;
        let bent = self.deflected(&straight)?;
        let mut at = |state: &FlexibleState| {
            self.equations(state, None);
            self.flexible.tool(&vec![0.0; state.rates.len()], &self.data).0.p
        };
        let from = at(&straight);
        Ok(at(&bent) - from)
    }

    /// Elastic coordinates with which a platform that bends rests at its pose under gravity and loads, whatever its drives must give.
    pub fn deflected_at_pose(&mut self, near: &Posture, given: &Given) -> Result<Vec<f64>, ElasticError> {
        let n = self.flexible.elastic().len();
        let mut q = vec![0.0; n];
        let rest = |this: &mut Self, q: &[f64]| -> Result<Vec<f64>, ElasticError> {
            let mut state = this.state(near, given, q, &[])?;
            state.rates.fill(0.0);
            Ok(this.inverse(&state, &Wanted::Platform([0.0; 6]), None)?.elastic_qdd)
        };
        for _ in 0..MOST_STEPS {
            let a = rest(self, &q)?;
            let mut slopes = Dense::zeros(n, n);
            for j in 0..n {
                let mut moved = q.clone();
                moved[j] += STEP;
                let b = rest(self, &moved)?;
                (0..n).for_each(|i| *slopes.at_mut(i, j) = (b[i] - a[i]) / STEP);
            }
            let step =
                scaled_solve(&slopes, &a.iter().map(|x| -x).collect::<Vec<_>>()).ok_or(ElasticError::NotAtRest)?;
            q.iter_mut().zip(&step).for_each(|(q, s)| *q += s);
            if step.iter().all(|s| s.abs() < 1e-11) {
                return Ok(q);
            }
        }
        Err(ElasticError::NotAtRest)
    }
}

/// Solution of a square system whose rows and columns have different units: scaled to a unit diagonal where there is one.
pub(super) fn scaled_solve(A: &Dense<f64>, b: &[f64]) -> Option<Vec<f64>> {
    let n = A.rows;
    let scale = |i: usize| if A.at(i, i) == 0.0 { 1.0 } else { A.at(i, i).abs().sqrt().recip() };
    let (mut S, mut r) = (Dense::zeros(n, n), Dense::zeros(n, 1));
    for (i, b) in b.iter().enumerate() {
        (0..n).for_each(|j| *S.at_mut(i, j) = scale(i) * A.at(i, j) * scale(j));
        *r.at_mut(i, 0) = scale(i) * b;
    }
    let order = crate::linalg::small::PivotOrder::of(&S, n, 1e-14);
    if order.cols.len() < n {
        return None;
    }
    let x = S.inverse_times(&order, &r);
    Some((0..n).map(|i| x.at(i, 0) * scale(i)).collect())
}
