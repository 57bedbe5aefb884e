//! Partial rates: what a unit of each speed of the robot gives to its joints and bodies, (7.64), (7.95), leg by leg.

use crate::dynamics::reduction::{closure_effort, slot, to_roots};
use crate::kinematics::Positions;
use crate::kinematics::leg::{LegAt, LegMotion, screw};
use crate::kinematics::motion::{Motion, with_factored_legs};
use crate::model::{Anchor, BodyId, CoordId, Id, Leg, LegId, Model, Node, Topology};
use crate::scalar::Real;
use crate::spatial::{Twist, Vec3, Wrench};

/// Rates of all joints, and twists of all bodies, for a unit of each speed. The speeds are the six components of the platform
/// twist, whether they are free or not, and then the rates of the drives that the platform does not feel.
#[derive(Clone, Debug)]
pub struct PartialRates<S: Real> {
    /// Drives that the platform does not feel (kinematic redundancy): their rates are speeds of their own.
    pub open: Vec<CoordId>,
    rates: Vec<S>,
    twists: Vec<Twist<S>>,
    mu: Vec<S>,
    roots: Vec<Wrench<S>>,
}

impl<S: Real> PartialRates<S> {
    /// Memory for a model.
    pub fn new(model: &Model<S>) -> Self {
        let topology = model.topology();
        let open = open_drives(topology);
        let speeds = 6 + open.len();
        let most = |f: &dyn Fn(&Leg) -> usize| topology.legs.values().map(f).max().unwrap_or(0);
        Self {
            rates: vec![S::zero(); speeds * topology.coords.len()],
            twists: vec![Twist::zero(); speeds * topology.bodies.len()],
            mu: vec![S::zero(); most(&|l| l.coords.len())],
            roots: vec![Wrench::zero(); 1 + most(&|l| l.outside.len())],
            open,
        }
    }

    /// How many speeds there are.
    pub fn speeds(&self) -> usize {
        6 + self.open.len()
    }

    /// Rate of a joint coordinate for a unit of each speed.
    pub fn of_coord(&self, c: CoordId) -> &[S] {
        let n = self.speeds();
        &self.rates[c.index() * n..(c.index() + 1) * n]
    }

    /// Twist of a body, at the origin of frame M and in world axes, for a unit of each speed.
    pub fn of_body(&self, b: BodyId) -> &[Twist<S>] {
        let n = self.speeds();
        &self.twists[b.index() * n..(b.index() + 1) * n]
    }

    /// Twist of the base, the platform or a body at a point `r` from its origin, for a unit of one speed.
    pub fn of_node(&self, node: Node, speed: usize, r: Vec3<S>) -> Twist<S> {
        match node {
            Node::World => Twist::zero(),
            Node::Platform => of_platform(speed).at(r),
            Node::Body(b) => self.of_body(b)[speed].at(r),
        }
    }

    /// Power of a wrench at the origin of the base, the platform or a body, in world axes, for a unit of one speed.
    pub(super) fn power(&self, node: Node, speed: usize, F: Wrench<S>) -> S {
        match node {
            Node::World => S::zero(),
            Node::Platform => F.to_array().get(speed).copied().unwrap_or(S::zero()),
            Node::Body(b) => self.of_body(b)[speed].power(F),
        }
    }

    /// What a unit effort of each pivot joint of a leg does to the speeds: by power, the row of its rates.
    fn enter_rates(&mut self, id: LegId, leg: &Leg, topology: &Topology, at: &LegAt<'_, S>, factors: &[S]) {
        let (n, speeds) = (at.rank(), self.speeds());
        for (i, &c) in at.pivots.cols[..n].iter().enumerate() {
            self.mu.fill(S::zero());
            self.mu[i] = S::one();
            self.roots.fill(Wrench::zero());
            let roots = &mut self.roots;
            to_roots(at, factors, &mut self.mu[..n], |_, root, F| roots[slot(root)] = roots[slot(root)] + F);
            let first = (leg.coords.range().start + c) * speeds;
            let mut row = vec![S::zero(); speeds];
            row[..6].copy_from_slice(&self.roots[0].to_array());
            for (f, open) in self.open.iter().enumerate().filter(|(_, o)| topology.coords[**o].leg == id) {
                row[6 + f] = closure_effort(at, &self.mu, at.leg.local(*open));
            }
            for (b, F) in leg.outside.iter().zip(&self.roots[1..]) {
                row.iter_mut().zip(self.of_body(*b)).for_each(|(x, V)| *x += V.power(*F));
            }
            self.rates[first..first + speeds].copy_from_slice(&row);
        }
        for (f, open) in self.open.iter().enumerate().filter(|(_, o)| topology.coords[**o].leg == id) {
            self.rates[open.index() * speeds + 6 + f] = S::one();
        }
    }

    /// Twists of the bodies of a leg, base to tip, (5.20).
    fn enter_twists(&mut self, leg: &Leg, at: &LegAt<'_, S>) {
        let speeds = self.speeds();
        for (b, id) in leg.bodies.iter().enumerate() {
            let X = at.X_WB(b);
            for k in 0..speeds {
                let below = match at.leg.bodies[b].anchor {
                    Anchor::World => Twist::zero(),
                    Anchor::Platform => of_platform(k).at(X.p - at.roots.frames.X_WE.p),
                    Anchor::Body(p) => {
                        let parent = BodyId::new(leg.bodies.range().start + p);
                        self.of_body(parent)[k].at(X.p - at.X_WB(p).p)
                    }
                    Anchor::Outside(o) => self.of_body(leg.outside[o])[k].at(X.p - at.roots.frames.outside[o].p),
                };
                let rate = self.joint_rate(leg, at, b, k);
                self.twists[id.index() * speeds + k] = below + screw(at.leg.bodies[b].joint, X, X.p).scale(rate);
            }
        }
    }

    /// Rate of a body's joint for a unit of a speed.
    fn joint_rate(&self, leg: &Leg, at: &LegAt<'_, S>, b: usize, speed: usize) -> S {
        if let Some(c) = at.leg.coord(b) {
            return self.rates[(leg.coords.range().start + c) * self.speeds() + speed];
        }
        let coupling = at.numbers.bodies[b].coupling.iter();
        coupling.fold(S::zero(), |sum, (c, k)| sum + *k * self.of_coord(*c)[speed])
    }
}

/// Drives that the platform does not feel.
fn open_drives(topology: &Topology) -> Vec<CoordId> {
    let plan = topology.plan.pivots_of_leg.as_slice();
    let open = |c: &CoordId| {
        let leg = topology.coords[*c].leg;
        let place = topology.legs[leg].coords.local(*c);
        place.zip(plan.get(leg.index())).is_some_and(|(c, pivots)| pivots.place[c].is_none())
    };
    topology.active.iter().copied().filter(open).collect()
}

/// A unit of one speed as a twist of the platform.
fn of_platform<S: Real>(speed: usize) -> Twist<S> {
    let mut unit = [S::zero(); 6];
    if let Some(x) = unit.get_mut(speed) {
        *x = S::one();
    }
    Twist::from_array(unit)
}

/// Fills the partial rates at a posture whose legs are factored in `motion`; legs that carry others come first.
pub fn partial_rates<S: Real>(
    model: &Model<S>,
    pos: &mut Positions<S>,
    motion: &mut Motion<S>,
    out: &mut PartialRates<S>,
) {
    let topology = model.topology();
    let step = |id: LegId, at: &LegAt<'_, S>, motion: &mut LegMotion<'_, S>| {
        let leg = &topology.legs[id];
        out.enter_rates(id, leg, topology, at, motion.factors);
        out.enter_twists(leg, at);
    };
    with_factored_legs(model, topology.order.iter().copied(), pos, motion, step);
}
