//! One flexible body that moves: generalised Newton-Euler equations in its own frame, (10.61)-(10.67).

use crate::elastodynamics::beam::{BeamData, ClampedBeam};
use crate::elastodynamics::modal::ModalBody;
use crate::elastodynamics::numbers::{modal_frame, shape_rule};
use crate::elastodynamics::plan::{Host, modal};
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::{Accel, Inertia, Mat3, Twist, Vec3, Wrench, cross};

/// Constants of a flexible body with its elastic coordinates, in its frame: everything follows from its rigid inertia and the two families
/// of integrals `∫ r₀ Φ_kᵀ dm` and `∫ Φ_i Φ_kᵀ dm`, (10.54)-(10.60).
#[derive(Clone, Debug)]
pub struct FlexibleBody<S: Real> {
    /// As a rigid body, undeformed.
    pub rigid: Inertia<S>,
    /// `MS_de`: first moments of the shapes.
    pub MS_de: Vec<Vec3<S>>,
    /// `β_k = ∫ r₀ × Φ_k dm`.
    pub beta: Vec<Vec3<S>>,
    /// `M_ee`, row by row.
    pub M_ee: Vec<S>,
    /// `K_ee`, row by row.
    pub K_ee: Vec<S>,
    /// `D_ee`, row by row.
    pub D_ee: Vec<S>,
    /// `J_re,k = ∫ r₀ Φ_kᵀ dm`.
    J_re: Vec<Mat3<S>>,
    /// `J_ee,ik = ∫ Φ_i Φ_kᵀ dm`, row by row.
    J_ee: Vec<Mat3<S>>,
}

/// What depends on the deformation, in memory that is used again and again.
#[derive(Clone, Debug)]
pub struct Deformed<S: Real> {
    /// Inertia of the deformed body.
    pub inertia: Inertia<S>,
    /// Columns `[MS_de; MS_re(q_e)]`.
    pub M_re: Vec<[S; 6]>,
    /// Inertial wrench of the rates, `[f_in; c_in]`.
    pub wrench: Wrench<S>,
    /// Inertial generalised forces of the rates, `s_in`.
    pub forces: Vec<S>,
    /// `G_k = ∫ r Φ_kᵀ dm` of the deformed body.
    G: Vec<Mat3<S>>,
}

/// `∫ b × a dm` of `∫ a bᵀ dm`.
fn axial<S: Real>(J: &Mat3<S>) -> Vec3<S> {
    Vec3::new(J[(2, 1)] - J[(1, 2)], J[(0, 2)] - J[(2, 0)], J[(1, 0)] - J[(0, 1)])
}

/// `∫ âᵀ b̂ dm = tr(J) 1 - Jᵀ` of `J = ∫ a bᵀ dm`, (10.57), (10.59).
fn second_moment<S: Real>(J: &Mat3<S>) -> Mat3<S> {
    Mat3::identity() * (J[(0, 0)] + J[(1, 1)] + J[(2, 2)]) - J.transpose()
}

impl<S: Real> FlexibleBody<S> {
    /// Number of elastic coordinates.
    pub fn size(&self) -> usize {
        self.MS_de.len()
    }

    /// A body without elastic coordinates.
    pub fn without_shapes(rigid: Inertia<S>) -> Self {
        let (vectors, numbers) = (Vec::new, Vec::new);
        Self {
            rigid,
            MS_de: vectors(),
            beta: vectors(),
            M_ee: numbers(),
            K_ee: numbers(),
            D_ee: numbers(),
            J_re: Vec::new(),
            J_ee: Vec::new(),
        }
    }

    /// A piece of a beam with these components of the displacement of its far node; `viscous` are the factors of mass and stiffness in
    /// its damping.
    pub fn beam(data: &BeamData<S>, components: &[usize], viscous: [S; 2]) -> Self {
        let clamped = ClampedBeam::new(&BeamData { shear: None, ..*data });
        let element = crate::elastodynamics::beam::BeamElement::new(data);
        let n = components.len();
        let pick = |f: &dyn Fn(usize, usize) -> S| -> Vec<S> {
            components.iter().flat_map(|i| components.iter().map(move |k| (*i, *k))).map(|(i, k)| f(i, k)).collect()
        };
        let M_ee = pick(&|i, k| element.M[1][1][i][k]);
        let K_ee = pick(&|i, k| element.K[1][1][i][k]);
        let D_ee = M_ee.iter().zip(&K_ee).map(|(m, k)| viscous[0] * *m + viscous[1] * *k).collect();
        // What the far node moves with the frame: M_re = M_12 + T̄ᵀ M_22.
        let (M12, M22, l) = (&element.M[0][1], &element.M[1][1], data.l);
        let carried = |i: usize, k: usize| match i {
            4 => -l * M22[2][k],
            5 => l * M22[1][k],
            _ => S::zero(),
        };
        let M_re = |i: usize, k: usize| M12[i][k] + M22[i][k] + carried(i, k);
        let vector = |first: usize, k: usize| Vec3::new(M_re(first, k), M_re(first + 1, k), M_re(first + 2, k));
        let zero = Mat3::zeros();
        let mut body = Self {
            rigid: clamped.rigid,
            MS_de: components.iter().map(|k| vector(0, *k)).collect(),
            beta: components.iter().map(|k| vector(3, *k)).collect(),
            M_ee,
            K_ee,
            D_ee,
            J_re: vec![zero; n],
            J_ee: vec![zero; n * n],
        };
        body.integrate(data, components);
        body
    }

    /// The two families of integrals of a beam: points `r₀ = (x, y, z)` move by `a(x) + b(x) × (0, y, z)`, (F.2).
    fn integrate(&mut self, data: &BeamData<S>, components: &[usize]) {
        let n = components.len();
        for (xi, weight) in shape_rule() {
            let dx = data.l * S::lit(weight);
            let (m, Iz, Iy) = (data.rhoA * dx, data.rhoIz * dx, data.rhoIy * dx);
            let shapes: Vec<(Vec3<S>, Vec3<S>)> = components.iter().map(|k| beam_shape(data.l, xi, *k)).collect();
            let sides = |b: Vec3<S>| [cross(b, Vec3::y()), cross(b, Vec3::z())];
            let x = Vec3::new(data.l * S::lit(xi), S::zero(), S::zero());
            for (i, (a, b)) in shapes.iter().enumerate() {
                let [by, bz] = sides(*b);
                self.J_re[i] += x * a.transpose() * m;
                self.J_re[i] += Vec3::y() * by.transpose() * Iz + Vec3::z() * bz.transpose() * Iy;
                for (k, (c, d)) in shapes.iter().enumerate() {
                    let [dy, dz] = sides(*d);
                    self.J_ee[i * n + k] += a * c.transpose() * m + by * dy.transpose() * Iz + bz * dz.transpose() * Iy;
                }
            }
        }
    }

    /// A modal body: nodal sums.
    pub fn modal(model: &Model<S>, host: Host) -> Self {
        let X = modal_frame(model, host);
        let sums = ModalBody::new(model, host, X);
        let n = sums.stiffness.len();
        let (mut J_re, mut J_ee) = (vec![Mat3::zeros(); n], vec![Mat3::zeros(); n * n]);
        let (mut K_ee, mut D_ee) = (vec![S::zero(); n * n], vec![S::zero(); n * n]);
        if let Some(data) = modal(model, host) {
            for (node, (r, m)) in data.nodes.iter().zip(&data.masses).enumerate() {
                let r = X * Vec3::from(r.map(S::lit));
                let shape = |k: usize| X.R.apply(Vec3::from(data.modes[k].displacement[node].map(S::lit)));
                let shapes: Vec<Vec3<S>> = (0..n).map(shape).collect();
                for i in 0..n {
                    let weighted = shapes[i].transpose() * S::lit(*m);
                    J_re[i] += r * weighted;
                    (0..n).for_each(|k| J_ee[k * n + i] += shapes[k] * weighted);
                }
            }
            for (k, mode) in data.modes.iter().enumerate() {
                K_ee[k * n + k] = S::lit(mode.stiffness);
                D_ee[k * n + k] =
                    S::lit(2.0 * mode.damping_ratio) * (S::lit(mode.stiffness) * sums.M_ee[k * n + k]).sqrt();
            }
        }
        let part = |c: &[S; 6], k: usize| Vec3::new(c[k], c[k + 1], c[k + 2]);
        Self {
            rigid: sums.rigid,
            MS_de: sums.M_re.iter().map(|c| part(c, 0)).collect(),
            beta: sums.M_re.iter().map(|c| part(c, 3)).collect(),
            M_ee: sums.M_ee,
            K_ee,
            D_ee,
            J_re,
            J_ee,
        }
    }

    /// Inertia of the deformed body, and columns `[MS_de; MS_re(q_e)]`, (10.40)-(10.46).
    pub fn deform_inertia(&self, q: &[S], out: &mut Deformed<S>) {
        let n = self.size();
        out.G.clear();
        out.G.extend((0..n).map(|k| (0..n).fold(self.J_re[k], |sum, i| sum + self.J_ee[i * n + k] * q[i])));
        out.inertia = self.rigid;
        for (k, q) in q.iter().enumerate() {
            out.inertia.ms += self.MS_de[k] * *q;
            out.inertia.I_o += (second_moment(&self.J_re[k]).transpose() + second_moment(&out.G[k])) * *q;
        }
        let column = |(k, G): (usize, &Mat3<S>)| {
            let MS_re = self.beta[k] + axial(&(G - self.J_re[k]).transpose());
            Twist { v: self.MS_de[k], w: MS_re }.to_array()
        };
        out.M_re.clear();
        out.M_re.extend(out.G.iter().enumerate().map(column));
    }

    /// Inertia of the deformed body and what its rates do, for its twist in its own axes, (10.40)-(10.46), (10.62)-(10.64).
    pub fn deform(&self, V: Twist<S>, q: &[S], qd: &[S], out: &mut Deformed<S>) {
        let n = self.size();
        let (w, two) = (V.w, S::lit(2.0));
        self.deform_inertia(q, out);
        let (mut drift, mut coriolis) = (Vec3::zeros(), Vec3::zeros());
        for (k, qd) in qd.iter().enumerate() {
            drift += self.MS_de[k] * (two * *qd);
            coriolis += second_moment(&out.G[k]) * w * (two * *qd);
        }
        let gyroscopic = out.inertia.gyroscopic(w);
        let forces = (0..n).map(|i| {
            let turning = (0..n).fold(Mat3::zeros(), |sum, k| sum + self.J_ee[i * n + k] * qd[k]);
            two * axial(&turning).dot(&w) - w.dot(&(second_moment(&out.G[i]) * w))
        });
        out.forces.clear();
        out.forces.extend(forces);
        out.wrench = Wrench { f: gyroscopic.f + cross(w, drift), m: gyroscopic.m + coriolis };
    }

    /// `K_ee q + D_ee q̇`.
    pub fn elastic_force(&self, q: &[S], qd: &[S], i: usize) -> S {
        let n = self.size();
        (0..n).fold(S::zero(), |sum, k| sum + self.K_ee[i * n + k] * q[k] + self.D_ee[i * n + k] * qd[k])
    }

    /// `½ qᵀ A q` for a matrix of the elastic coordinates.
    pub fn half_form(A: &[S], q: &[S]) -> S {
        let n = q.len();
        let row = |i: usize| (0..n).fold(S::zero(), |sum, k| sum + A[i * n + k] * q[k]);
        (0..n).fold(S::zero(), |sum, i| sum + q[i] * row(i)) * S::lit(0.5)
    }
}

impl<S: Real> Default for Deformed<S> {
    fn default() -> Self {
        let (M_re, forces, G) = (Vec::new(), Vec::new(), Vec::new());
        Self { inertia: Inertia::zero(), M_re, wrench: Wrench::zero(), forces, G }
    }
}

impl<S: Real> Deformed<S> {
    /// `[Σf; Σm]` for an acceleration of the frame while the elastic rates do not change.
    pub fn wrench_at(&self, A: Accel<S>) -> Wrench<S> {
        self.inertia.apply(A) + self.wrench
    }
}

/// Displacement of the axis and rotation of the section at ξ per unit of a component of the far node's displacement, (F.1).
pub(super) fn beam_shape<S: Real>(l: S, xi: f64, component: usize) -> (Vec3<S>, Vec3<S>) {
    let lit = S::lit;
    let (zero, along) = (S::zero(), lit(xi));
    let (cubic, slope) = (lit(3.0 * xi * xi - 2.0 * xi.powi(3)), lit(6.0 * (xi - xi * xi)) / l);
    let (lever, turned) = (l * lit(xi.powi(3) - xi * xi), lit(3.0 * xi * xi - 2.0 * xi));
    let of = Vec3::new;
    match component {
        0 => (of(along, zero, zero), Vec3::zeros()),
        1 => (of(zero, cubic, zero), of(zero, zero, slope)),
        2 => (of(zero, zero, cubic), of(zero, -slope, zero)),
        3 => (Vec3::zeros(), of(along, zero, zero)),
        4 => (of(zero, zero, -lever), of(zero, turned, zero)),
        _ => (of(zero, lever, zero), of(zero, zero, turned)),
    }
}
