//! Legs to a point in closed form, in any scalar: joints, efforts and the force on the platform from the motion of the point.
//!
//! With as many joints as the room has dimensions, the rates of the joints are the velocity of the point in a basis of its
//! own, (5.5), whose dual is the force in the point that each unit effort gives. No matrix is factored.

use super::newton_euler::{Sign, needed};
use super::reduction::EffortData;
use crate::kinematics::{JointPosition, WorkingMode};
use crate::model::{Chain, Elbow, Flat, Hold, Model, Numbers, POOR, PointLeg, PointStrut, Swing};
use crate::scalar::Real;
use crate::spatial::{Accel, Inertia, Pose, Rotation, Turn, Twist, Vec3, Wrench, cross, dot, vec3};

/// Motion of the platform.
#[derive(Clone, Copy, Debug)]
pub struct PlatformMotion<S: Real> {
    /// Pose.
    pub X: Pose<S>,
    /// Twist.
    pub V: Twist<S>,
    /// Acceleration.
    pub A: Accel<S>,
}

impl<S: Real> PlatformMotion<S> {
    /// Its numbers in another scalar, number by number.
    #[inline(always)]
    pub fn map<T: Real>(&self, mut f: impl FnMut(S) -> T) -> PlatformMotion<T> {
        PlatformMotion { X: self.X.map(&mut f), V: self.V.map(&mut f), A: self.A.map(&mut f) }
    }
}

/// What a leg does to the platform.
#[derive(Clone, Copy, Debug)]
pub struct OnPlatform<S: Real> {
    /// What it asks of the platform to move as it does, at the platform's origin.
    pub h: Wrench<S>,
    /// What a unit effort of each joint gives; its power on the motion of the platform is the joint's rate.
    pub rows: [Wrench<S>; 3],
    /// Inertia on the joints, rotors included; the lower half is not read.
    pub mass: [[S; 3]; 3],
    /// Rates of the joints.
    pub rates: [S; 3],
    /// Accelerations of the joints.
    pub accels: [S; 3],
    /// Not negative where the leg reaches its point, inside the ranges of its joints and far from its singularities.
    pub margin: S,
}

impl<S: Real> OnPlatform<S> {
    /// Adds the inertia of the leg, `Jᵀ M J` of (8.162), to the upper half of the platform's; `present` is zero in lanes that
    /// are not to count.
    #[inline(always)]
    pub fn add_inertia(&self, planar: bool, present: S, sum: &mut [S; 36]) {
        if planar {
            self.add_inertia_on::<2, 3>([0, 1, 5], present, sum);
        } else {
            self.add_inertia_on::<3, 6>([0, 1, 2, 3, 4, 5], present, sum);
        }
    }

    /// Add the inertia of `D` joints on `N` components of the platform.
    #[inline(always)]
    fn add_inertia_on<const D: usize, const N: usize>(&self, components: [usize; N], present: S, sum: &mut [S; 36]) {
        let rows: [[S; N]; D] = std::array::from_fn(|j| {
            let row = self.rows[j].to_array();
            components.map(|c| row[c])
        });
        for j in 0..D {
            let mass: [S; D] = std::array::from_fn(|i| self.mass[i.min(j)][i.max(j)] * present);
            let column: [S; N] =
                std::array::from_fn(|c| (1..D).fold(mass[0] * rows[0][c], |sum, i| mass[i].mul_add(rows[i][c], sum)));
            for a in 0..N {
                for b in a..N {
                    let at = components[a] * 6 + components[b];
                    sum[at] = rows[j][a].mul_add(column[b], sum[at]);
                }
            }
        }
    }
}

/// Motion of a point in `D` dimensions, and gravity, seen from the base of a leg.
#[derive(Clone, Copy)]
struct PointMotion<S, const D: usize> {
    p: [S; D],
    v: [S; D],
    a: [S; D],
    g: [S; D],
}

/// Joints of a leg.
struct Joints<S, const D: usize> {
    rates: [S; D],
    accels: [S; D],
    /// Efforts that the bodies need.
    efforts: [S; D],
    /// Force in the point for a unit effort of each joint; its power on the velocity of the point is the joint's rate.
    forces: [[S; D]; D],
    /// Inertia of the bodies on the joints; the lower half is not read.
    mass: [[S; D]; D],
    /// Not negative where the leg reaches and is regular.
    margin: S,
}

/// A chain in closed form.
trait ClosedChain<S: Real, const D: usize> {
    /// What is known of a posture.
    type Posture;
    /// The posture, the motion and the efforts.
    fn joints(&self, point: &PointMotion<S, D>, sign: S) -> (Joints<S, D>, Self::Posture);
    /// Where a joint stands.
    fn position(&self, posture: &Self::Posture, joint: usize) -> JointPosition<S>;
}

impl<S: Real> PointLeg<S> {
    /// What the leg does to a platform that moves so; `sign` is that of its square root in the working mode.
    #[inline(always)]
    pub fn reduce(&self, platform: &PlatformMotion<S>, sign: S, friction: Option<Sign>) -> OnPlatform<S> {
        match &self.chain {
            Chain::Elbow(c) => self.reduce_chain(c, platform, sign, friction),
            Chain::Swing(c) => self.reduce_chain(c, platform, sign, friction),
            Chain::Strut(c) => self.reduce_chain(c, platform, sign, friction),
        }
    }

    #[inline(always)]
    fn reduce_chain<const D: usize, C: ClosedChain<S, D>>(
        &self,
        chain: &C,
        platform: &PlatformMotion<S>,
        sign: S,
        friction: Option<Sign>,
    ) -> OnPlatform<S> {
        let r: [S; D] = turned(&platform.X.R, &[self.point.x, self.point.y, self.point.z]);
        let (joints, posture) = chain.joints(&self.seen_from_base(platform, r), sign);
        let numbers = &self.joints[..D];
        let mut force = [S::zero(); D];
        for (k, joint) in numbers.iter().enumerate() {
            let mut effort = joint.rotor.mul_add(joints.accels[k], joints.efforts[k]);
            if let Some(sign) = friction {
                effort += joint.friction(joints.rates[k], sign);
            }
            force = std::array::from_fn(|i| joints.forces[k][i].mul_add(effort, force[i]));
        }
        let act = |f: &[S; D]| wrench(r, turned(&self.base.R, f));
        let mut margin = joints.margin;
        for (k, hold) in self.holds[..D].iter().enumerate() {
            margin = hold.tighten(margin, || chain.position(&posture, k));
        }
        let o = S::zero();
        let mut on = OnPlatform {
            h: act(&force),
            rows: [Wrench::zero(); 3],
            mass: [[o; 3]; 3],
            rates: [o; 3],
            accels: [o; 3],
            margin,
        };
        for (k, joint) in numbers.iter().enumerate() {
            on.rows[k] = act(&joints.forces[k]);
            on.rates[k] = joints.rates[k];
            on.accels[k] = joints.accels[k];
            on.mass[k][..D].copy_from_slice(&joints.mass[k]);
            on.mass[k][k] += joint.rotor;
        }
        on
    }

    /// The motion of the point `r` from the platform's origin, in the axes of the base, (3.2), (3.24).
    #[inline(always)]
    fn seen_from_base<const D: usize>(&self, platform: &PlatformMotion<S>, r: [S; D]) -> PointMotion<S, D> {
        let PlatformMotion { X, V, A } = platform;
        let (v, a): ([S; D], [S; D]) = if D == 2 {
            let (w, alpha) = (V.w.z, A.alpha.z);
            let w2 = w * w;
            let v = [(-r[1]).mul_add(w, V.v.x), r[0].mul_add(w, V.v.y)];
            let a =
                [(-r[0]).mul_add(w2, (-r[1]).mul_add(alpha, A.a.x)), (-r[1]).mul_add(w2, r[0].mul_add(alpha, A.a.y))];
            (std::array::from_fn(|i| v[i]), std::array::from_fn(|i| a[i]))
        } else {
            let r = vec3(r[0], r[1], r[2]);
            let (v, a) = (V.at(r).v, A.at(r, V.w).a);
            (first(v), first(a))
        };
        let o = &self.base.p;
        let p = std::array::from_fn(|i| X.p[i] + r[i] - o[i]);
        let R = &self.base.R;
        PointMotion { p: seen(R, &p), v: seen(R, &v), a: seen(R, &a), g: first(self.gravity) }
    }
}

/// All legs of a robot in closed form, one after the other, in any scalar.
#[derive(Clone, Debug)]
pub struct AtPoints<S: Real> {
    planar: bool,
    zz: S,
    legs: Vec<PointLeg<S>>,
    /// Where the sign of each leg stands in a working mode, when it has one.
    signs: Vec<Option<usize>>,
    /// Drives of each leg: joint, and place among those of the robot.
    drives: Vec<Vec<(usize, usize)>>,
}

impl<S: Real> AtPoints<S> {
    /// The legs of a robot, its numbers being constants; none when closed forms do not know them all.
    pub fn new(model: &Model<f64>) -> Option<Self> {
        let (topology, legs) = (model.topology(), model.point_legs()?);
        Some(Self {
            planar: legs.planar,
            zz: S::lit(legs.zz),
            legs: legs.legs.iter().map(|l| l.map(&mut S::lit)).collect(),
            signs: topology.legs.values().map(|l| (!l.roots.is_empty()).then_some(l.roots.start)).collect(),
            drives: topology.legs.ids().map(|id| topology.drives_of(id)).collect(),
        })
    }

    /// `h` and `J_inv` of a motion of the platform, loads on it included; the margin, which is negative where a leg does not
    /// reach, is out of range or near a singularity.
    #[inline(always)]
    pub fn reduce(
        &self,
        numbers: &Numbers<S>,
        platform: &PlatformMotion<S>,
        mode: &WorkingMode,
        friction: Option<Sign>,
        efforts: &mut EffortData<S>,
    ) -> S {
        let mut h = platform_needs(numbers, self.planar.then_some(self.zz), platform);
        let mut margin = S::one();
        for ((leg, sign), drives) in self.legs.iter().zip(&self.signs).zip(&self.drives) {
            let sign = S::lit(sign.map_or(1.0, |k| mode.signs()[k]));
            let on = leg.reduce(platform, sign, friction);
            margin = on.margin.where_nonneg(margin, S::lit(-1.0));
            h = h + on.h;
            for (joint, drive) in drives {
                efforts.J_inv[*drive] = on.rows[*joint];
            }
        }
        efforts.h = h - efforts.load;
        margin
    }
}

/// Wrench that the platform itself needs to move so; `zz` is its moment about the normal of the plane where all legs lie in one.
#[inline(always)]
pub fn platform_needs<S: Real>(numbers: &Numbers<S>, zz: Option<S>, platform: &PlatformMotion<S>) -> Wrench<S> {
    match zz {
        Some(zz) => needed_in_plane(&numbers.platform, zz, platform, numbers.gravity),
        None => needed(&numbers.platform, &platform.X, platform.V.w, platform.A, numbers.gravity),
    }
}

/// [`needed`] in the plane, (6.35)-(6.36).
#[inline(always)]
fn needed_in_plane<S: Real>(inertia: &Inertia<S>, zz: S, platform: &PlatformMotion<S>, gravity: Vec3<S>) -> Wrench<S> {
    let PlatformMotion { X, V, A } = platform;
    let ms: [S; 2] = turned(&X.R, &[inertia.ms.x, inertia.ms.y, inertia.ms.z]);
    let a = [A.a.x - gravity.x, A.a.y - gravity.y];
    let (w, alpha) = (V.w.z, A.alpha.z);
    let f = along2(along2(scale2(a, inertia.m), across(ms), alpha), ms, -(w * w));
    let o = S::zero();
    Wrench { f: in_space(f), m: vec3(o, o, zz.mul_add(alpha, cross2(ms, a))) }
}

/// Its first components.
#[inline(always)]
fn first<S: Real, const D: usize>(v: Vec3<S>) -> [S; D] {
    std::array::from_fn(|i| v[i])
}

/// The first components of `R x`, of a vector whose other components are zero.
#[inline(always)]
fn turned<S: Real, const D: usize, const N: usize>(R: &Rotation<S>, x: &[S; N]) -> [S; D] {
    std::array::from_fn(|i| (1..N).fold(R.0[(i, 0)] * x[0], |sum, j| R.0[(i, j)].mul_add(x[j], sum)))
}

/// The first components of `Rᵀ x`, likewise.
#[inline(always)]
fn seen<S: Real, const D: usize>(R: &Rotation<S>, x: &[S; D]) -> [S; D] {
    std::array::from_fn(|i| (1..D).fold(R.0[(0, i)] * x[0], |sum, j| R.0[(j, i)].mul_add(x[j], sum)))
}

/// A force at `r`, taken at the origin.
#[inline(always)]
fn wrench<S: Real, const D: usize>(r: [S; D], f: [S; D]) -> Wrench<S> {
    let o = S::zero();
    if D == 2 {
        Wrench { f: vec3(f[0], f[1], o), m: vec3(o, o, r[0].mul_add(f[1], -(r[1] * f[0]))) }
    } else {
        let f = vec3(f[0], f[1], f[2]);
        Wrench { f, m: cross(vec3(r[0], r[1], r[2]), f) }
    }
}

impl<S: Real> Hold<S> {
    /// A margin, or what is left of the range of a joint where that is negative.
    #[inline(always)]
    fn tighten(&self, margin: S, position: impl FnOnce() -> JointPosition<S>) -> S {
        match self {
            Hold::Free => margin,
            Hold::Turn { middle, least } => {
                let turn = position().turn;
                let inside = turn.cos.mul_add(middle.cos, turn.sin.mul_add(middle.sin, -*least));
                inside.where_nonneg(margin, S::lit(-1.0))
            }
            Hold::Slide { low, high } => {
                let value = position().value;
                let inside = (value - *low).where_nonneg(margin, S::lit(-1.0));
                (*high - value).where_nonneg(inside, S::lit(-1.0))
            }
        }
    }
}

/// `a · b` in the plane.
#[inline(always)]
fn dot2<S: Real>(a: [S; 2], b: [S; 2]) -> S {
    a[0].mul_add(b[0], a[1] * b[1])
}

/// `a × b` in the plane.
#[inline(always)]
fn cross2<S: Real>(a: [S; 2], b: [S; 2]) -> S {
    a[0].mul_add(b[1], -(a[1] * b[0]))
}

/// A quarter turn.
#[inline(always)]
fn across<S: Real>(a: [S; 2]) -> [S; 2] {
    [-a[1], a[0]]
}

/// `a + b k` in the plane.
#[inline(always)]
fn along2<S: Real>(a: [S; 2], b: [S; 2], k: S) -> [S; 2] {
    [b[0].mul_add(k, a[0]), b[1].mul_add(k, a[1])]
}

#[inline(always)]
fn scale2<S: Real>(a: [S; 2], k: S) -> [S; 2] {
    [a[0] * k, a[1] * k]
}

/// First moment in the plane of a link along `e`.
#[inline(always)]
fn moment<S: Real>(link: &Flat<S>, e: [S; 2]) -> [S; 2] {
    along2(scale2(e, link.ms[0]), across(e), link.ms[1])
}

#[inline(always)]
fn in_space<S: Real>(a: [S; 2]) -> Vec3<S> {
    vec3(a[0], a[1], S::zero())
}

impl<S: Real> ClosedChain<S, 2> for Elbow<S> {
    /// From the base to the elbow, and from there to the point.
    type Posture = [[S; 2]; 2];

    /// Two circles, (7.15); `v = ω₁ B⊥ + ω₂ E⊥`, whose determinant is minus the root of the circles.
    #[inline(always)]
    fn joints(&self, point: &PointMotion<S, 2>, sign: S) -> (Joints<S, 2>, Self::Posture) {
        let PointMotion { p, v, a, g } = *point;
        let [l1_sq, l2_sq] = self.squares;
        let half = S::lit(0.5);
        let r2 = dot2(p, p);
        let k = (r2 + l1_sq - l2_sq) * half;
        let root = l1_sq.mul_add(r2, -(k * k)).sqrt();
        let h = root * sign;
        // One reciprocal for two: r² and h.
        let both = (r2 * h).recip();
        let (s, d) = (both * h, -(both * r2));
        let B = scale2(along2(scale2(p, k), across(p), h), s);
        let E = [p[0] - B[0], p[1] - B[1]];
        let (w1, w2) = (dot2(v, E) * d, -(dot2(v, B) * d));
        let turning = scale2(B, w1 * w1);
        let rest = along2([a[0] + turning[0], a[1] + turning[1]], E, w2 * w2);
        let (alpha1, alpha2) = (dot2(rest, E) * d, -(dot2(rest, B) * d));
        // What the elbow feels of its own acceleration and of gravity.
        let felt = along2([-turning[0] - g[0], -turning[1] - g[1]], across(B), alpha1);
        let [first, second] = &self.links;
        let (ms1, ms2) = (moment(first, B), moment(second, E));
        let f2 = along2(along2(scale2(felt, second.m), across(ms2), alpha2), ms2, -(w2 * w2));
        let n2 = second.zz.mul_add(alpha2, cross2(ms2, felt));
        let n1 = first.zz.mul_add(alpha1, cross2(B, f2)) - cross2(ms1, g) + n2;
        let between = dot2(B, ms2);
        let coupled = (between + second.zz) * self.same;
        let joints = Joints {
            rates: [w1, (w2 - w1) * self.same],
            accels: [alpha1, (alpha2 - alpha1) * self.same],
            efforts: [n1, n2 * self.same],
            forces: [scale2(E, d), scale2(p, -(d * self.same))],
            mass: [[second.m.mul_add(l1_sq, first.zz) + between + between + second.zz, coupled], [coupled, second.zz]],
            margin: root - self.least,
        };
        (joints, [B, E])
    }

    fn position(&self, [B, E]: &[[S; 2]; 2], joint: usize) -> JointPosition<S> {
        let first = Turn::between(self.elbow, in_space(*B), self.squares[0]);
        if joint == 0 {
            return JointPosition::turned(first);
        }
        let to_tip = self.axes.apply_inv(first.apply_inv(in_space(*E)));
        JointPosition::turned(Turn::between(self.tip, to_tip, self.squares[1]))
    }
}

impl<S: Real> ClosedChain<S, 2> for Swing<S> {
    /// Distance of the point along the slide, and the direction of the slide.
    type Posture = (S, [S; 2]);

    /// Polar coordinates, (7.20)-(7.21).
    #[inline(always)]
    fn joints(&self, point: &PointMotion<S, 2>, _: S) -> (Joints<S, 2>, Self::Posture) {
        let PointMotion { p, v, a, g } = *point;
        let distance = dot2(p, p).sqrt();
        let l = distance * self.ahead;
        let s = l.recip();
        let u = scale2(p, s);
        let u_across = across(u);
        let two = S::lit(2.0);
        let (rate, w) = (dot2(u, v), dot2(u_across, v) * s);
        let coriolis = two * rate * w;
        let alpha = (dot2(u_across, a) - coriolis) * s;
        let accel = (w * w).mul_add(l, dot2(u, a));
        let [turns, slides] = &self.links;
        let g = [dot2(u, g), dot2(u_across, g)];
        let sliding = slides.m.mul_add(l, slides.ms[0]);
        let zz = (sliding + slides.ms[0]).mul_add(l, turns.zz + slides.zz);
        let pulled = cross2([turns.ms[0] + sliding, turns.ms[1] + slides.ms[1]], g);
        let torque = zz.mul_add(alpha, sliding.mul_add(coriolis, -(slides.ms[1] * accel))) - pulled;
        let push = slides.m.mul_add(accel - g[0], -(slides.ms[1].mul_add(alpha, w * w * sliding)));
        let joints = Joints {
            rates: [w, rate],
            accels: [alpha, accel],
            efforts: [torque, push],
            forces: [scale2(u_across, s), u],
            mass: [[zz, -slides.ms[1]], [-slides.ms[1], slides.m]],
            margin: distance - self.least,
        };
        (joints, (l, u))
    }

    fn position(&self, (l, u): &(S, [S; 2]), joint: usize) -> JointPosition<S> {
        if joint == 0 {
            JointPosition::turned(Turn::between(self.along, in_space(*u), S::one()))
        } else {
            JointPosition::slid(*l - self.reach)
        }
    }
}

/// A posture of a [`PointStrut`]: its length, its direction seen from the base, and the sine of its angle from the first axis.
pub struct StrutPosture<S: Real> {
    length: S,
    e: Vec3<S>,
    sine: S,
}

impl<S: Real> ClosedChain<S, 3> for PointStrut<S> {
    type Posture = StrutPosture<S>;

    /// Spherical coordinates: in the axes x of the second joint, y across, z from the base to the point, the first axis is
    /// `(0, s, c)`.
    #[inline(always)]
    fn joints(&self, point: &PointMotion<S, 3>, _: S) -> (Joints<S, 3>, Self::Posture) {
        let [p, v, a, g] = [point.p, point.v, point.a, point.g].map(|x| vec3(x[0], x[1], x[2]));
        let level = p.x.mul_add(p.x, p.y * p.y);
        let (length, radius) = (p.z.mul_add(p.z, level).sqrt(), level.sqrt() * self.side);
        let both = (length * radius).recip();
        let (by_length, by_radius) = (both * radius, both * length);
        let z = p * by_length;
        let x = [-(p.y * by_radius), p.x * by_radius];
        let y = vec3(-(z.z * x[1]), z.z * x[0], radius * by_length);
        let (s, c, by_s) = (y.z, z.z, by_radius * length);
        let axes = |u: Vec3<S>| vec3(x[0].mul_add(u.x, x[1] * u.y), dot(y, u), dot(z, u));
        let (v, a, g) = (axes(v), axes(a), axes(g));
        // Rates: v = (ℓ ω_y, -ℓ ω_x, ℓ̇), ω = q̇₁ (0, s, c) + q̇₂ (1, 0, 0).
        let (w_x, w_y, rate) = (-(v.y * by_length), v.x * by_length, v.z);
        let q1 = w_y * by_s;
        let w = vec3(w_x, w_y, q1 * c);
        let two = S::lit(2.0);
        let twice = rate + rate;
        let alpha_x = w.y.mul_add(w.z, -(twice.mul_add(w.x, a.y) * by_length));
        let alpha_y = (a.x - twice * w.y).mul_add(by_length, -(w.x * w.z));
        let swept = w.x.mul_add(w.x, w.y * w.y);
        let accel = length.mul_add(swept, a.z);
        let both_rates = q1 * w.x;
        let q1_accel = (alpha_y - both_rates * c) * by_s;
        let alpha = vec3(alpha_x, alpha_y, q1_accel.mul_add(c, -(both_rates * s)));
        // Newton-Euler about the crossing, which rests.
        let I = slid(&self.slides, length);
        let pushed = vec3(twice * w.y, -(twice * w.x), accel);
        let all = Inertia { m: I.m, ms: I.ms + self.turns.ms, I_o: I.I_o + self.turns.I_o };
        let moment = symmetric(&all, alpha) + cross(w, symmetric(&all, w)) + cross(I.ms, pushed) - cross(all.ms, g);
        let ms = I.ms;
        let along = alpha.x.mul_add(ms.y, -(alpha.y * ms.x)) + w.z * w.x.mul_add(ms.x, w.y * ms.y) - ms.z * swept;
        let push = I.m.mul_add(accel - g.z, along);
        // The first body turns about an axis that rests: gravity along (x, 0) and across it.
        let g1 = [g.x, c.mul_add(g.y, -(s * g.z))];
        let first = self.first.zz.mul_add(q1_accel, cross2(g1, self.first.ms));
        let I_o = &all.I_o;
        let turning = s.mul_add(I_o[(1, 1)], two * c * I_o[(1, 2)]) * s + c * c * I_o[(2, 2)] + self.first.zz;
        let [swing, lift] = [-(s * ms.x) * self.ahead, ms.y * self.ahead];
        let tilt = s.mul_add(I_o[(0, 1)], c * I_o[(0, 2)]);
        let back = |k: S| vec3(x[0] * k, x[1] * k, S::zero());
        let joints = Joints {
            rates: [q1, w.x, rate * self.ahead],
            accels: [q1_accel, alpha.x, accel * self.ahead],
            efforts: [s.mul_add(moment.y, c * moment.z) + first, moment.x, push * self.ahead],
            mass: [[turning, tilt, swing], [tilt, I_o[(0, 0)], lift], [swing, lift, I.m]],
            forces: [back(by_radius), y * -by_length, z * self.ahead].map(|f| [f.x, f.y, f.z]),
            margin: (length - self.least).where_nonneg(s * self.side - S::lit(POOR), S::lit(-1.0)),
        };
        (joints, StrutPosture { length, e: z, sine: s })
    }

    /// As the step of the inverse geometry that solves a strut.
    fn position(&self, at: &StrutPosture<S>, joint: usize) -> JointPosition<S> {
        if joint == 2 {
            return JointPosition::slid(at.length * self.ahead - self.reach);
        }
        let (row, d) = (|k: usize| self.axes.0[(2, k)], self.along);
        let (A, B) = (row(0) * d.x + row(1) * d.y, row(1) * d.x - row(0) * d.y);
        let (c, s) = (at.e.z, at.sine);
        let second = Turn { cos: A * c - B * s, sin: B * c + A * s };
        if joint == 1 {
            return JointPosition::turned(second);
        }
        JointPosition::turned(Turn::between(self.axes.apply(second.apply(d)), at.e, s * s))
    }
}

/// `I u` for the rotational inertia, of which the upper half is enough.
#[inline(always)]
fn symmetric<S: Real>(I: &Inertia<S>, u: Vec3<S>) -> Vec3<S> {
    let at = |i: usize, j: usize| I.I_o[(i, j)];
    let row = |a: S, b: S, c: S| a.mul_add(u.x, b.mul_add(u.y, c * u.z));
    vec3(row(at(0, 0), at(0, 1), at(0, 2)), row(at(0, 1), at(1, 1), at(1, 2)), row(at(0, 2), at(1, 2), at(2, 2)))
}

/// An inertia slid by `l` along z, (8.41)-(8.43); only the upper half of the rotational inertia is right.
#[inline(always)]
fn slid<S: Real>(I: &Inertia<S>, l: S) -> Inertia<S> {
    let ms = vec3(I.ms.x, I.ms.y, I.m.mul_add(l, I.ms.z));
    let mut I_o = I.I_o;
    let more = (ms.z + I.ms.z) * l;
    I_o[(0, 0)] += more;
    I_o[(1, 1)] += more;
    I_o[(0, 2)] = (-I.ms.x).mul_add(l, I_o[(0, 2)]);
    I_o[(1, 2)] = (-I.ms.y).mul_add(l, I_o[(1, 2)]);
    Inertia { m: I.m, ms, I_o }
}
