//! Inertia of the robot on the platform, leg by leg, (6.17), (8.162), in any scalar.

use crate::kinematics::Positions;
use crate::kinematics::leg::{LegAt, screw};
use crate::kinematics::motion::{Motion, with_factored_legs};
use crate::model::{Anchor, LegPivots, Model};
use crate::scalar::Real;
use crate::spatial::{Inertia, Pose, Twist, Wrench};

/// Memory for the inertia of one leg.
#[derive(Clone, Debug)]
pub struct LegInertia<S: Real> {
    /// Inertia matrix over the leg's coordinates, rotors included.
    M: Vec<S>,
    /// Rates of the pivots per unit component of the platform twist.
    pub J: Vec<S>,
    /// Twists and momenta of one body per joint on its path.
    columns: Vec<(usize, Twist<S>, Wrench<S>)>,
}

impl<S: Real> LegInertia<S> {
    /// Memory for legs of up to so many coordinates and bodies.
    pub fn new(coords: usize, bodies: usize) -> Self {
        Self {
            M: vec![S::zero(); coords * coords],
            J: vec![S::zero(); 6 * coords],
            columns: Vec::with_capacity(bodies),
        }
    }

    /// `M = Σ_b J_bᵀ I_b J_b` over the coordinates of a leg that stands on the base, (6.17).
    #[inline(always)]
    fn of_coords(&mut self, at: &LegAt<'_, S>) {
        let n = at.numbers.joints.len();
        self.M[..n * n].fill(S::zero());
        for (c, joint) in at.numbers.joints.iter().enumerate() {
            self.M[c * n + c] = joint.rotor;
        }
        (0..at.leg.bodies.len()).for_each(|b| self.add_body(at, b));
    }

    /// What one body adds to `M`: for every joint below it, the power of its unit motion on the momenta of the others.
    #[inline(always)]
    fn add_body(&mut self, at: &LegAt<'_, S>, b: usize) {
        let X = at.X_WB(b);
        let inertia = &at.numbers.bodies[b].inertia;
        self.columns.clear();
        let mut anchor = Anchor::Body(b);
        while let Anchor::Body(j) = anchor {
            let V = screw(at.leg.bodies[j].joint, at.X_WB(j), X.p);
            let V = Twist { v: X.R.apply_inv(V.v), w: X.R.apply_inv(V.w) };
            self.columns.push((j, V, inertia.momentum(V)));
            anchor = at.leg.bodies[j].anchor;
        }
        for (i, (body_i, V, _)) in self.columns.iter().enumerate() {
            for (k, (body_k, _, P)) in self.columns.iter().enumerate().skip(i) {
                let m = V.power(*P);
                enter(at, &mut self.M, *body_i, *body_k, m);
                if i != k {
                    enter(at, &mut self.M, *body_k, *body_i, m);
                }
            }
        }
    }

    /// What a leg on base and platform alone adds to the inertia on the platform, `Jᵀ M J`, to the upper triangle of 6 × 6.
    #[inline(always)]
    pub fn add_to_platform(&mut self, at: &LegAt<'_, S>, factors: &[S], weight: S, platform: &mut [S; 36]) {
        self.of_coords(at);
        let (n, coords) = (at.rank(), at.numbers.joints.len());
        at.platform_rates(factors, &mut self.J[..6 * n]);
        for k in 0..6 {
            let rates = &self.J[k * n..(k + 1) * n];
            for i in 0..=k {
                let other = &self.J[i * n..(i + 1) * n];
                let mut sum = S::zero();
                for (a, &c) in at.pivots.cols[..n].iter().enumerate() {
                    let row = &self.M[c * coords..(c + 1) * coords];
                    let p =
                        at.pivots.cols[..n].iter().zip(rates).fold(S::zero(), |sum, (&d, x)| row[d].mul_add(*x, sum));
                    sum = other[a].mul_add(p, sum);
                }
                platform[i * 6 + k] = sum.mul_add(weight, platform[i * 6 + k]);
            }
        }
    }
}

/// Adds an entry of the inertia matrix for the joints of two bodies, to the coordinates that move them.
#[inline(always)]
fn enter<S: Real>(at: &LegAt<'_, S>, M: &mut [S], body_i: usize, body_k: usize, m: S) {
    let n = at.numbers.joints.len();
    match at.leg.coord(body_i) {
        Some(c) => at.add_effort(body_k, m, &mut M[c * n..(c + 1) * n]),
        None => {
            for (c, f) in &at.numbers.bodies[body_i].coupling {
                let c = at.leg.local(*c);
                at.add_effort(body_k, m * *f, &mut M[c * n..(c + 1) * n]);
            }
        }
    }
}

/// Accelerations of the joints for an acceleration of the platform, from those for none: `q̈ = J ṫ_p + a`.
#[inline(always)]
pub fn add_accelerations<S: Real>(pivots: &LegPivots, J: &[S], td_p: &[S; 6], accels: &mut [S]) {
    let n = pivots.cols.len();
    for (i, &c) in pivots.cols.iter().enumerate() {
        accels[c] = (0..6).fold(accels[c], |sum, k| J[k * n + i].mul_add(td_p[k], sum));
    }
}

/// Whether every leg stands on the base and hangs on the platform alone, so that [`on_platform`] holds.
pub fn legs_are_simple<S: Real>(model: &Model<S>) -> bool {
    let topology = model.topology();
    let simple = |root: Anchor| matches!(root, Anchor::World | Anchor::Body(_));
    topology.legs.iter().all(|(id, leg)| {
        leg.outside.is_empty()
            && topology.plan.pivots_of_leg[id].free.is_empty()
            && topology.structure(leg).bodies.iter().all(|b| simple(b.anchor))
    })
}

/// Inertia of the whole robot on all six components of the platform, upper triangle, for simple legs that are factored.
pub fn on_platform<S: Real>(
    model: &Model<S>,
    pos: &mut Positions<S>,
    motion: &mut Motion<S>,
    leg: &mut LegInertia<S>,
) -> [S; 36] {
    let mut M = of_platform(&model.numbers().platform, &pos.X_WE);
    let order = model.topology().order.iter().copied();
    with_factored_legs(model, order, pos, motion, |_, at, motion| {
        leg.add_to_platform(at, motion.factors, S::one(), &mut M);
    });
    M
}

/// Inertia of the platform body in world axes, upper triangle of 6 × 6.
pub fn of_platform<S: Real>(inertia: &Inertia<S>, X: &Pose<S>) -> [S; 36] {
    let I = inertia.seen_from(&Pose::rotation(X.R));
    let mut M = [S::zero(); 36];
    for k in 0..6 {
        let mut unit = [S::zero(); 6];
        unit[k] = S::one();
        let column = I.momentum(Twist::from_array(unit)).to_array();
        for i in 0..=k {
            M[i * 6 + k] = column[i];
        }
    }
    M
}
