//! Dynamics from first principles, slowly: every body has six velocities, every joint is a handful of equations between
//! two bodies, what the equations leave is found by numerical elimination, and virtual work does the rest. Nothing is shared
//! with the library but the reader of robot files and the joint values of a posture, so an error of the library's legs,
//! plans, recursions or matrices has no twin here.
#![allow(dead_code)]

mod assemble;

use assemble::Assembly;
use gough::description::Description;
use gough::kinematics::Posture;
use gough::model::Model;
use gough::spatial::{Inertia, Mat3, Pose};
use std::collections::HashMap;

type V3 = gough::spatial::Vec3<f64>;
type M3 = Mat3<f64>;

/// What is read from the library: which joints there are, and where they stand.
pub struct Stand {
    /// Value of every joint coordinate, by name.
    pub joints: HashMap<String, f64>,
    /// Driven joints, in order.
    pub active: Vec<String>,
    /// Joints that are held at zero since nothing depends on them.
    pub held: Vec<String>,
    /// Joints that the pose leaves open; they stand still.
    pub given: Vec<String>,
    /// The platform's independent components among the six.
    pub independent: Vec<usize>,
    /// The platform.
    pub pose: (M3, V3),
}

impl Stand {
    pub fn of(model: &Model<f64>, posture: &Posture) -> Self {
        let t = model.topology();
        let name = |c: &gough::model::CoordId| t.coords[*c].name.clone();
        let value = |c| posture.joints(model, &[c])[0];
        let held = t.bodies.values().filter(|b| b.held).filter_map(|b| b.coord);
        Self {
            joints: t.coords.ids().map(|c| (name(&c), value(c))).collect(),
            active: t.active.iter().map(name).collect(),
            held: held.map(|c| name(&c)).collect(),
            given: t.plan.given.iter().map(name).collect(),
            independent: t.platform.independent.iter().map(|c| c.index()).collect(),
            pose: (posture.pose().R.0, posture.pose().p),
        }
    }
}

/// A frame in the world.
#[derive(Clone, Copy)]
struct At {
    R: M3,
    p: V3,
}

impl At {
    fn from(X: &Pose<f64>) -> Self {
        At { R: X.R.0, p: X.p }
    }
    fn then(self, b: At) -> At {
        At { R: self.R * b.R, p: self.p + self.R * b.p }
    }
    fn shifted(self, p: V3) -> At {
        At { p: self.p + self.R * p, ..self }
    }
    fn turned(self, axis: V3, angle: f64) -> At {
        At { R: self.R * turn(axis, angle), ..self }
    }
    fn inverse(self) -> At {
        At { R: self.R.transpose(), p: -(self.R.transpose() * self.p) }
    }
}

fn hat(a: V3) -> M3 {
    M3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// Rodrigues' formula.
fn turn(axis: V3, angle: f64) -> M3 {
    let K = hat(axis);
    M3::identity() + K * angle.sin() + K * K * (1.0 - angle.cos())
}

/// A body: where its frame is, and its mass in world axes about the frame's origin.
struct Body {
    at: At,
    m: f64,
    ms: V3,
    I: M3,
}

impl Body {
    fn new(at: At, mass: &Inertia<f64>) -> Self {
        Body { at, m: mass.m, ms: at.R * mass.ms, I: at.R * mass.I_o * at.R.transpose() }
    }
}

/// A number that the velocities of two bodies give: along `e`, the velocity of `b` against `a` at a point of `b`, or its rate
/// of turning.
#[derive(Clone)]
struct Rate {
    a: Option<usize>,
    b: Option<usize>,
    point: V3,
    e: V3,
    turns: bool,
    /// The direction is the cross product of a vector of `a` and one of `b`; else it is a vector of `a`.
    cross: Option<(V3, V3)>,
}

/// Sums of rates, each with a factor.
type Sum = Vec<(f64, Rate)>;

/// Velocities (or accelerations) of all bodies: `[v, L w]` each.
type Motion = Vec<f64>;

/// The robot at a posture.
pub struct Plain {
    bodies: Vec<Body>,
    /// All must vanish.
    constraints: Vec<Sum>,
    joint_rates: HashMap<String, Sum>,
    rotors: Vec<(f64, String)>,
    tasks: Vec<Sum>,
    active: Vec<Sum>,
    gravity: V3,
    /// Angles times this are lengths.
    length: f64,
    /// Metres and radians by which loops are open.
    pub gap: f64,
    /// Orthonormal motions that the constraints leave, and what is known of the elimination.
    free: Vec<Motion>,
    held: Solved,
    /// The platform's components on those motions.
    task: Solved,
}

/// The answers of the plain computation.
pub struct PlainAnswer {
    pub efforts: Vec<f64>,
    /// Kinetic, of rotors, potential.
    pub energies: [f64; 3],
    /// Smallest pivots: of the constraints that count, of the platform on the freedoms, of the drives on the freedoms.
    pub pivots: [f64; 3],
    /// Rates and accelerations of joints, by name.
    pub rates: HashMap<String, [f64; 2]>,
    /// Inertia on the freedoms, and its smallest over its largest pivot.
    pub inertia_pivot: f64,
}

/// Rows made orthonormal, largest first.
#[derive(Default)]
struct Solved {
    basis: Vec<Vec<f64>>,
    /// How each came about: which row, what of the earlier ones was taken from it, and the length that was left.
    steps: Vec<(usize, Vec<f64>, f64)>,
    /// Lengths that were left, by the longest row.
    pivots: Vec<f64>,
}

/// Below this a row is nothing but rounding.
const NOTHING: f64 = 1e-8;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn subtract(from: &mut [f64], k: f64, what: &[f64]) {
    from.iter_mut().zip(what).for_each(|(x, y)| *x -= k * y);
}

impl Solved {
    /// Gram and Schmidt's method with the longest row next; a row is made orthogonal once more when its turn comes.
    fn of(rows: &[Vec<f64>], nothing: f64) -> Self {
        let mut done = Solved::default();
        let mut left: Vec<(usize, Vec<f64>, Vec<f64>)> =
            rows.iter().enumerate().map(|(i, r)| (i, r.clone(), Vec::new())).collect();
        let size = |row: &[f64]| dot(row, row).sqrt();
        let longest = rows.iter().map(|r| size(r)).fold(0.0, f64::max);
        while !left.is_empty() {
            let at = |k: &usize| size(&left[*k].1);
            let next = (0..left.len()).max_by(|a, b| at(a).total_cmp(&at(b))).unwrap_or(0);
            let (i, mut row, mut taken) = left.swap_remove(next);
            for (q, sum) in done.basis.iter().zip(&mut taken) {
                let k = dot(&row, q);
                subtract(&mut row, k, q);
                *sum += k;
            }
            let length = size(&row);
            if length <= nothing * longest {
                break;
            }
            row.iter_mut().for_each(|x| *x /= length);
            for (_, other, taken) in &mut left {
                let k = dot(other, &row);
                subtract(other, k, &row);
                taken.push(k);
            }
            done.basis.push(row);
            done.steps.push((i, taken, length));
            done.pivots.push(length / longest);
        }
        done
    }

    /// The shortest list whose products with the rows are `right`.
    fn shortest(&self, right: &[f64], n: usize) -> Vec<f64> {
        let (mut x, mut values) = (vec![0.0; n], Vec::new());
        for ((i, taken, length), q) in self.steps.iter().zip(&self.basis) {
            let value = (right[*i] - dot(taken, &values)) / length;
            subtract(&mut x, -value, q);
            values.push(value);
        }
        x
    }

    /// What is orthogonal to all rows: lists of no special direction, less what the rows have of them.
    fn complement(&self, n: usize) -> Vec<Vec<f64>> {
        let any = |k: usize| (0..n).map(|j| ((k * n + j) as f64 * 12.9898).sin() * 43_758.545_3 % 1.0).collect();
        let mut space: Vec<Vec<f64>> = Vec::new();
        for k in 0..n - self.basis.len() {
            let mut list: Vec<f64> = any(k);
            for q in self.basis.iter().chain(&space).chain(&self.basis).chain(&space) {
                let k = dot(&list, q);
                subtract(&mut list, k, q);
            }
            let length = dot(&list, &list).sqrt();
            space.push(list.iter().map(|x| x / length).collect());
        }
        space
    }

    fn smallest(&self) -> f64 {
        self.pivots.last().copied().unwrap_or(1.0)
    }
}

impl Plain {
    pub fn new(d: &Description, stand: &Stand) -> Self {
        let values = d.definitions.values(&d.definitions.defaults());
        let none = HashMap::new();
        Assembly { d, values, stand, nodes: none, bodies: Vec::new(), rates: HashMap::new(), rows: Vec::new() }.build()
    }

    /// Freedoms of the whole robot.
    pub fn degrees(&self) -> usize {
        self.free.len()
    }

    /// Scalar constraints beyond the independent ones.
    pub fn overconstraint(&self) -> usize {
        self.constraints.len() - self.held.basis.len()
    }

    /// Motions that drives do not hold.
    pub fn not_driven(&self) -> usize {
        self.free.len() - self.driving(true).basis.len()
    }

    fn row(&self, sum: &Sum) -> Vec<f64> {
        let mut row = vec![0.0; 6 * self.bodies.len()];
        for (k, rate) in sum {
            for (side, sign) in [(rate.b, *k), (rate.a, -*k)] {
                let Some(i) = side else { continue };
                let arm = rate.point - self.bodies[i].at.p;
                let w = if rate.turns { rate.e } else { arm.cross(&rate.e) } / self.length;
                for j in 0..3 {
                    row[6 * i + j] += if rate.turns { 0.0 } else { sign * rate.e[j] };
                    row[6 * i + 3 + j] += sign * w[j];
                }
            }
        }
        row
    }

    fn velocity(&self, V: &[f64], body: Option<usize>, point: V3) -> (V3, V3) {
        let Some(i) = body else { return (V3::zeros(), V3::zeros()) };
        let v = V3::new(V[6 * i], V[6 * i + 1], V[6 * i + 2]);
        let w = V3::new(V[6 * i + 3], V[6 * i + 4], V[6 * i + 5]) / self.length;
        (v + w.cross(&(point - self.bodies[i].at.p)), w)
    }

    /// The derivative of a rate when nothing accelerates.
    fn drift(&self, sum: &Sum, V: &[f64]) -> f64 {
        let one = |r: &Rate| {
            let ((va, wa), (vb, wb)) = (self.velocity(V, r.a, r.point), self.velocity(V, r.b, r.point));
            let change = match r.cross {
                Some((a, b)) => wa.cross(&a).cross(&b) + a.cross(&wb.cross(&b)),
                None => wa.cross(&r.e),
            };
            if r.turns {
                return change.dot(&(wb - wa));
            }
            let arm = |side: Option<usize>| r.point - side.map_or(r.point, |i| self.bodies[i].at.p);
            // The point belongs to b: on a it moves.
            let a = wb.cross(&wb.cross(&arm(r.b))) - wa.cross(&wa.cross(&arm(r.a))) - wa.cross(&(vb - va));
            r.e.dot(&a) + change.dot(&(vb - va))
        };
        sum.iter().map(|(k, r)| k * one(r)).sum()
    }

    /// Rows of rates on the freedoms.
    fn on_freedoms(&self, sums: &[Sum]) -> Vec<Vec<f64>> {
        sums.iter().map(|s| self.row(s)).map(|row| self.free.iter().map(|n| dot(&row, n)).collect()).collect()
    }

    /// Drives against the freedoms, one row per freedom; of length one where only ranks count.
    fn driving(&self, scaled: bool) -> Solved {
        let mut drives = self.on_freedoms(&self.active);
        if scaled {
            let size = |r: &[f64]| dot(r, r).sqrt();
            let longest = drives.iter().map(|r| size(r)).fold(0.0, f64::max);
            drives.iter_mut().for_each(|r| {
                // A drive that cannot move is not one that moves in the direction of its rounding.
                let by = Some(size(r)).filter(|s| *s > NOTHING * longest).map_or(0.0, f64::recip);
                r.iter_mut().for_each(|x| *x *= by);
            });
        }
        Solved::of(&across(&drives, self.free.len()), if scaled { NOTHING } else { 1e-12 })
    }

    fn combine(&self, z: &[f64]) -> Motion {
        let mut V = vec![0.0; 6 * self.bodies.len()];
        self.free.iter().zip(z).for_each(|(n, z)| subtract(&mut V, -z, n));
        V
    }

    /// An acceleration that the constraints allow.
    fn some_acceleration(&self, V: &[f64]) -> Motion {
        let right: Vec<f64> = self.constraints.iter().map(|s| -self.drift(s, V)).collect();
        self.held.shortest(&right, V.len())
    }

    /// Forces and moments that a motion of the bodies takes, gravity included, and those of rotors on their joints.
    fn inertial(&self, V: &[f64], A: &[f64]) -> Vec<f64> {
        let mut F = vec![0.0; V.len()];
        for (i, body) in self.bodies.iter().enumerate() {
            let w = self.velocity(V, Some(i), body.at.p).1;
            let (a, alpha) = self.velocity(A, Some(i), body.at.p);
            let a = a - self.gravity;
            let f = a * body.m + alpha.cross(&body.ms) + w.cross(&w.cross(&body.ms));
            let n = body.I * alpha + w.cross(&(body.I * w)) + body.ms.cross(&a);
            for j in 0..3 {
                F[6 * i + j] += f[j];
                F[6 * i + 3 + j] += n[j] / self.length;
            }
        }
        for (inertia, joint) in &self.rotors {
            let sum = &self.joint_rates[joint];
            let row = self.row(sum);
            let acceleration = dot(&row, A) + self.drift(sum, V);
            subtract(&mut F, -inertia * acceleration, &row);
        }
        F
    }

    fn on_each(&self, F: &[f64]) -> Vec<f64> {
        self.free.iter().map(|n| dot(n, F)).collect()
    }

    /// The motion of all bodies for rates of the platform (and of open joints, which stand still).
    fn moved(&self, t_r: &[f64]) -> Motion {
        let mut right = t_r.to_vec();
        right.resize(self.tasks.len(), 0.0);
        self.combine(&self.task.shortest(&right, self.free.len()))
    }

    fn accelerated(&self, V: &[f64], td_r: &[f64]) -> Motion {
        let mut A = self.some_acceleration(V);
        let mut wanted = td_r.to_vec();
        wanted.resize(self.tasks.len(), 0.0);
        let beyond = |(s, x): (&Sum, &f64)| x - self.drift(s, V) - dot(&self.row(s), &A);
        let right: Vec<f64> = self.tasks.iter().zip(&wanted).map(beyond).collect();
        let more = self.combine(&self.task.shortest(&right, self.free.len()));
        subtract(&mut A, -1.0, &more);
        A
    }

    fn inertia(&self) -> Vec<Vec<f64>> {
        let still = vec![0.0; 6 * self.bodies.len()];
        let weight = self.inertial(&still, &still);
        let column = |n: &Motion| {
            let mut F = self.inertial(&still, n);
            subtract(&mut F, 1.0, &weight);
            self.on_each(&F)
        };
        self.free.iter().map(column).collect()
    }

    /// Efforts, shortest where drives are redundant, for a twist and an acceleration of the platform.
    pub fn inverse(&self, t_r: &[f64], td_r: &[f64]) -> PlainAnswer {
        let V = self.moved(t_r);
        let A = self.accelerated(&V, td_r);
        let needed = self.on_each(&self.inertial(&V, &A));
        let weakest = |s: &Solved| if s.basis.len() < self.free.len() { 0.0 } else { s.smallest() };
        let rate = |s: &Sum| [dot(&self.row(s), &V), dot(&self.row(s), &A) + self.drift(s, &V)];
        PlainAnswer {
            efforts: self.driving(false).shortest(&needed, self.active.len()),
            energies: self.energies(&V),
            pivots: [self.held.smallest(), weakest(&self.task), weakest(&self.driving(true))],
            rates: self.joint_rates.iter().map(|(name, s)| (name.clone(), rate(s))).collect(),
            inertia_pivot: weakest(&Solved::of(&self.inertia(), 0.0)),
        }
    }

    /// Acceleration of the platform's independent components under efforts.
    pub fn direct(&self, t_r: &[f64], efforts: &[f64]) -> Vec<f64> {
        let V = self.moved(t_r);
        let mut A = self.some_acceleration(&V);
        let mut F = self.inertial(&V, &A);
        for (sum, tau) in self.active.iter().zip(efforts) {
            subtract(&mut F, *tau, &self.row(sum));
        }
        let right: Vec<f64> = self.on_each(&F).iter().map(|x| -x).collect();
        let more = self.combine(&Solved::of(&self.inertia(), 1e-14).shortest(&right, self.free.len()));
        subtract(&mut A, -1.0, &more);
        self.tasks[..t_r.len()].iter().map(|s| dot(&self.row(s), &A) + self.drift(s, &V)).collect()
    }

    fn energies(&self, V: &[f64]) -> [f64; 3] {
        let mut E = [0.0; 3];
        for (i, b) in self.bodies.iter().enumerate() {
            let (v, w) = self.velocity(V, Some(i), b.at.p);
            E[0] += 0.5 * (b.m * v.dot(&v) + w.dot(&(b.I * w))) + v.dot(&w.cross(&b.ms));
            E[2] -= self.gravity.dot(&(b.at.p * b.m + b.ms));
        }
        for (inertia, joint) in &self.rotors {
            E[1] += 0.5 * inertia * dot(&self.row(&self.joint_rates[joint]), V).powi(2);
        }
        E
    }
}

/// Columns as rows.
fn across(rows: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
    (0..columns).map(|k| rows.iter().map(|r| r[k]).collect()).collect()
}
