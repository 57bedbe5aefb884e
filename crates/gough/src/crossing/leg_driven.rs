//! A robot whose platform moves as one of its legs says: equations of motion in the coordinates of that leg, which are regular
//! where its passive joints move by themselves (LPJTS), (9.12)-(9.15).
//!
//! A motion of the leg moves the platform, and this the other legs. Virtual power on the leg's coordinates gives `A τ = f`:
//! `f` is what the joints of the cut leg need, and what platform and other legs need carried to them; `A` is what the drives
//! give. At an LPJTS singularity a motion of passive joints alone moves nothing else, so that `A` loses rank along it, and
//! efforts exist when `f` vanishes along it: the criterion `q̇_dˢᵀ τ_td = 0`.

use super::degeneracy::{Degeneracy, DriveBalance};
use super::refusal::PlanError;
use crate::description::Coordinates;
use crate::dynamics::newton_euler::{LegEfforts, Sign, leg_wrenches};
use crate::dynamics::reduction::{EffortData, reduce_legs, resistance};
use crate::kinematics::closure::{closure_at, gap};
use crate::kinematics::geometry::solve_one_leg;
use crate::kinematics::motion::{Motion, body_jacobian, leg_pivots_at, with_factored_legs, with_leg};
use crate::kinematics::{JointPosition, Kind, Positions, SolveError, WorkingMode, pose_bodies, pose_leg};
use crate::linalg::small::Dense;
use crate::model::{BodyId, ClosureId, CoordId, Id, LegId, LegPivots, Model, Node, PerLeg};
use crate::scalar::{Dual, Real};
use crate::spatial::{Accel, Pose, Twist, Vec3, Wrench, null};
use crate::trajectory::Jerky;

/// A robot whose platform moves as one of its legs says.
#[derive(Clone, Debug)]
pub struct LegDriven<'a> {
    model: &'a Model<f64>,
    dual: Model<Dual>,
    mode: &'a WorkingMode,
    leg: LegId,
    closure: ClosureId,
    /// The last body of the leg, and the side of the closure it is on.
    tip: (BodyId, usize),
}

/// `A τ = f` on the coordinates of the leg.
struct Equations<S> {
    /// One row per coordinate, one column per drive.
    A: Vec<Vec<S>>,
    f: Vec<S>,
}

impl<'a> LegDriven<'a> {
    /// The leg must hang between base and platform alone, with as many coordinates as the platform has freedoms and one
    /// closure, and the platform must keep its orientation.
    pub fn new(model: &'a Model<f64>, mode: &'a WorkingMode, leg: LegId) -> Result<Self, PlanError> {
        let t = model.topology();
        let own = &t.legs[leg];
        let still = t.platform.coordinates == Coordinates::Translation;
        let alone = own.outside.is_empty() && own.closures.len() == 1;
        let square = own.coords.len() == t.platform.independent.len();
        let found = own.closures.iter().next().and_then(|closure| match t.closures[closure].sides {
            [Node::Body(b), Node::Platform] => Some((closure, (b, 0))),
            [Node::Platform, Node::Body(b)] => Some((closure, (b, 1))),
            _ => None,
        });
        match found {
            Some((closure, tip)) if still && alone && square => {
                Ok(Self { dual: model.cast(), model, mode, leg, closure, tip })
            }
            _ => Err(PlanError::LegDoesNotLead { leg: own.name.clone() }),
        }
    }

    /// Coordinates of the leg.
    pub fn coordinates(&self) -> Vec<CoordId> {
        self.model.topology().legs[self.leg].coords.iter().collect()
    }

    /// Name of the leg.
    pub fn name(&self) -> &str {
        &self.model.topology().legs[self.leg].name
    }

    /// Where the leg's tip is for joints in `pos`, and the platform with it.
    fn place<S: Real>(&self, model: &Model<S>, pos: &mut Positions<S>) -> Vec3<S> {
        let R = self.model.numbers().home_pose.R;
        pos.X_WE = Pose { R: R.map(&mut S::lit), p: null() };
        pose_leg(model, self.leg, pos);
        let at = closure_at(model, self.closure, pos);
        let (tip, platform) = if self.tip.1 == 0 { (at.A.p, at.B.p) } else { (at.B.p, at.A.p) };
        pos.X_WE.p = tip - platform;
        tip
    }

    /// All joints for those of the leg; the other legs stand in their working mode.
    fn posture<S: Real>(&self, model: &Model<S>, q: &[S]) -> (Positions<S>, Vec3<S>) {
        let mut pos = Positions::new(model);
        self.coordinates().iter().zip(q).for_each(|(c, q)| pos.joints[*c] = JointPosition::of(*q));
        let tip = self.place(model, &mut pos);
        for (id, leg) in model.topology().legs.iter().filter(|(id, _)| *id != self.leg) {
            solve_one_leg(model, id, &self.mode.signs()[leg.roots.clone()], &mut pos);
        }
        pose_bodies(model, &mut pos);
        (pos, tip)
    }

    /// The posture on `f64`, closed, with orders of elimination for the other legs.
    fn closed(&self, q: &[f64]) -> Result<PerLeg<LegPivots>, SolveError> {
        let (pos, _) = self.posture(self.model, q);
        let (gap_m, gap_rad) = gap(self.model, &pos);
        if gap_m < 1e-8 * self.model.size().max(1.0) && gap_rad < 1e-8 {
            Ok(leg_pivots_at(self.model, &pos))
        } else {
            Err(SolveError::NotClosed { gap_m, gap_rad })
        }
    }

    /// Motion of all bodies, and the wrench-free part of the leg's own equations: the other legs are factored.
    fn moved<S: Real>(
        &self,
        model: &Model<S>,
        pivots: &PerLeg<LegPivots>,
        [q, v, a]: [&[S]; 3],
    ) -> (Positions<S>, Motion<S>, Vec3<S>) {
        let (mut pos, tip) = self.posture(model, q);
        let mut motion = Motion::new(model);
        motion.factor_in(pivots.clone());
        with_leg(model, self.leg, &pivots[self.leg], &mut pos, &mut motion, |at, motion| {
            motion.rates.copy_from_slice(v);
            motion.accels.copy_from_slice(a);
            at.move_as_given(motion);
        });
        let r = tip - pos.X_WB[self.tip.0].p;
        let (V, A) = (motion.V_WB[self.tip.0], motion.A_WB[self.tip.0]);
        motion.V_WE = Twist { v: V.at(r).v, w: null() };
        motion.A_WE = Accel { a: A.at(r, V.w).a, alpha: null() };
        with_factored_legs(model, self.others(), &mut pos, &mut motion, |_, at, motion| {
            at.factor(motion);
            at.rates(motion);
            at.accelerations(motion);
            at.body_accelerations(motion);
        });
        (pos, motion, tip)
    }

    fn others(&self) -> impl Iterator<Item = LegId> {
        let leg = self.leg;
        self.model.topology().order.iter().copied().filter(move |id| *id != leg)
    }

    /// The equations in any scalar.
    fn equations<S: Real>(
        &self,
        model: &Model<S>,
        pivots: &PerLeg<LegPivots>,
        friction: Option<Sign>,
        motion: [&[S]; 3],
    ) -> Equations<S> {
        let n = motion[0].len();
        let (mut pos, mut motion, tip) = self.moved(model, pivots, motion);
        let mut efforts = EffortData::new(model);
        reduce_legs(model, friction, self.others(), &mut pos, &mut motion, &mut efforts);
        let mut own = vec![S::zero(); n];
        let bodies = model.topology().legs[self.leg].bodies.len();
        let gravity = model.numbers().gravity;
        with_leg(model, self.leg, &pivots[self.leg], &mut pos, &mut motion, |at, motion| {
            resistance(at, motion, friction, &mut own);
            let mut F_WB = vec![Wrench::zero(); bodies];
            leg_wrenches(at, motion, gravity, &mut LegEfforts { F_WB: &mut F_WB, efforts: &mut own }, |_, _| {});
        });
        let (J, _) = body_jacobian(model, &pos, self.tip.0, tip);
        let coords = self.coordinates();
        let active = &model.topology().active;
        let power = |c: CoordId, F: Wrench<S>| {
            let v = |i: usize| J.at(i, c.index());
            v(0) * F.f.x + v(1) * F.f.y + v(2) * F.f.z
        };
        let one = |same: bool| if same { S::one() } else { S::zero() };
        let row =
            |c: &CoordId| active.iter().zip(&efforts.J_inv).map(|(drive, F)| one(drive == c) + power(*c, *F)).collect();
        let f = coords.iter().zip(own).map(|(c, own)| own + power(*c, efforts.h)).collect();
        Equations { A: coords.iter().map(row).collect(), f }
    }

    /// The equations on `f64`, at a posture that closes.
    fn equations_at(&self, motion: [&[f64]; 3], friction: Option<Sign>) -> Result<Equations<f64>, SolveError> {
        Ok(self.equations(self.model, &self.closed(motion[0])?, friction, motion))
    }

    /// The platform for a motion of the leg: position, velocity and acceleration.
    pub fn platform(&self, jets: &[Jerky]) -> [[f64; 3]; 3] {
        let [q, v, a, _] = columns(jets);
        let pivots = leg_pivots_at(self.model, &self.posture(self.model, &q).0);
        let (pos, motion, _) = self.moved(self.model, &pivots, [&q, &v, &a]);
        [pos.X_WE.p.into(), motion.V_WE.v.into(), motion.A_WE.a.into()]
    }

    /// Efforts of the drives for a motion of the leg; refused at the singularity itself.
    pub fn efforts(&self, jets: &[Jerky], friction: Option<Sign>) -> Result<Vec<f64>, SolveError> {
        let [q, v, a, _] = columns(jets);
        let Equations { A, f } = self.equations_at([&q, &v, &a], friction)?;
        let singular = || SolveError::Singular { leg: Some(self.name().to_owned()), kind: Kind::Lpjts };
        solved(&A, &f, 1e-10).ok_or_else(singular)
    }

    /// Accelerations of the leg's coordinates under efforts of the drives: `f` is affine in them, one evaluation per column.
    pub fn accelerations(
        &self,
        q: &[f64],
        v: &[f64],
        efforts: &[f64],
        friction: Option<Sign>,
    ) -> Result<Vec<f64>, SolveError> {
        let pivots = self.closed(q)?;
        let n = q.len();
        let f = |a: &[f64]| self.equations(self.model, &pivots, friction, [q, v, a]);
        let Equations { A, f: rest } = f(&vec![0.0; n]);
        let mut M = vec![vec![0.0; n]; n];
        for k in 0..n {
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            f(&unit).f.iter().enumerate().for_each(|(i, x)| M[i][k] = x - rest[i]);
        }
        let given: Vec<f64> = A.iter().zip(&rest).map(|(row, c)| dot(row, efforts) - c).collect();
        solved(&M, &given, 1e-14).ok_or(SolveError::NoInertia { motion: None })
    }

    /// A function of the leg's posture that changes its sign at its singularities: the determinant of `A`.
    pub fn sign(&self, q: &[f64]) -> Result<f64, SolveError> {
        let rest = vec![0.0; q.len()];
        let A = self.equations_at([q, &rest, &rest], None)?.A;
        let n = q.len();
        Ok(nalgebra::DMatrix::from_fn(n, n, |i, j| A[i][j]).determinant())
    }

    /// What the singularity does to the efforts of a motion of the leg through it, from the equations and their rates; motions
    /// that are lost are rates of the leg's coordinates.
    pub fn degeneracy(&self, jets: &[Jerky], friction: Option<Sign>) -> Result<Degeneracy, SolveError> {
        let [q, v, a, j] = columns(jets);
        let pivots = self.closed(&q)?;
        let pair = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| Dual::new(*x, *y)).collect::<Vec<_>>();
        let motion = [pair(&q, &v), pair(&v, &a), pair(&a, &j)];
        let Equations { A, f } = self.equations(&self.dual, &pivots, friction, [&motion[0], &motion[1], &motion[2]]);
        let slides = |c: CoordId| self.model.topology().coords[c].slides;
        let scales = self.coordinates().into_iter().map(|c| if slides(c) { 1.0 } else { self.model.length().recip() });
        Ok(DriveBalance::of(&A, &f, scales.collect())?.degeneracy())
    }
}

/// Values, rates, accelerations and jerks of all coordinates.
fn columns(jets: &[Jerky]) -> [Vec<f64>; 4] {
    [0, 1, 2, 3].map(|k| jets.iter().map(|jet| jet[k]).collect())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The solution of a square system whose rank is full.
fn solved(A: &[Vec<f64>], b: &[f64], tolerance: f64) -> Option<Vec<f64>> {
    let n = b.len();
    let A = Dense { rows: n, cols: n, data: A.concat() };
    let order = crate::linalg::small::PivotOrder::of(&A, n, tolerance);
    let x =
        (order.cols.len() == n).then(|| A.inverse_times(&order, &Dense { rows: n, cols: 1, data: b.to_vec() }).data)?;
    x.iter().all(|x| x.is_finite()).then_some(x)
}
