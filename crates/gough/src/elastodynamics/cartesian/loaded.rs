//! Stiffness of a dead load on the platform, the second term of (13): how the wrenches of the legs turn while the platform moves
//! and what they carry stays the same. Joint efforts `τ` belong to the joints that give way and to the virtual joints; a leg
//! displaced by a platform twist follows with all its joints, the virtual ones last, and
//! `K_G = Σ d(J⁻ᵀ τ)/dx`, the derivative taken by dual numbers.

use super::driver::Cartesian;
use super::kernel::{LimbData, displaced_rows, on_basis, product};
use super::numbers::CartesianModel;
use super::plan::Limb;
use crate::elastodynamics::beam::Mat6;
use crate::elastodynamics::error::ElasticError;
use crate::elastodynamics::numbers::Vec6;
use crate::kinematics::{Positions, pose_bodies};
use crate::linalg::dense::{Matrix, svd};
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::scalar::Dual;
use crate::spatial::{Pose, Rotation, Turn, Twist, Vec3, Wrench, cross, vec3};

/// The stiffness of a load at the posture taken.
pub(super) fn geometric(c: &Cartesian<'_>, load: Wrench<f64>) -> Result<Mat6<f64>, ElasticError> {
    let forces = carried(c, load.to_array())?;
    let dual: Model<Dual> = c.model().cast();
    let cartesian = CartesianModel::new(&dual, c.plan());
    let mut K = [[0.0; 6]; 6];
    for (i, limb) in c.plan().limbs.iter().enumerate() {
        let at = &c.data().limbs[i];
        let rows = effort_rows(limb, at);
        let efforts = efforts(&rows, &forces[i]);
        for k in 0..6 {
            let mut data = cartesian.data().limbs.swap_remove(i);
            let turned = displaced(&dual, limb, c.positions(), at, k, &mut data);
            for (row, tau) in turned.iter().zip(&efforts) {
                K.iter_mut().zip(row).for_each(|(of, x)| of[k] += x.eps * tau);
            }
        }
    }
    Ok(K)
}

/// What every limb carries of a load: by the stiffness of what gives way, and where nothing does, the shortest list.
fn carried(c: &Cartesian<'_>, load: Vec6<f64>) -> Result<Vec<Vec6<f64>>, ElasticError> {
    let data = c.data();
    let B = &data.B;
    let right = Dense { rows: B.cols, cols: 1, data: B.transposed().apply(&load) };
    let loose = || ElasticError::Loose { what: "the platform".to_owned() };
    let y = on_basis(&data.K_F, B).solve(&right).ok_or_else(loose)?;
    let x: Vec6<f64> = B.apply(&y.data).try_into().unwrap_or_default();
    let left: Vec<f64> = (0..6).map(|i| load[i] - product(&data.K_F[i], &x)).collect();
    let rigid: Vec<Vec6<f64>> = c
        .plan()
        .limbs
        .iter()
        .zip(&data.limbs)
        .flat_map(|(limb, own)| limb.stiff.iter().map(|i| own.forces[*i]))
        .collect();
    let mut shares = if rigid.is_empty() {
        Vec::new()
    } else {
        svd(&Matrix::from_fn(6, rigid.len(), |i, j| rigid[j][i])).least_squares(&left)
    }
    .into_iter();
    let of_limb = |(limb, own): (&Limb, &LimbData<f64>)| {
        let (n, free) = (limb.coords.len(), limb.counts[0]);
        let mut f = [0.0; 6];
        for i in &limb.soft {
            let force = product(&own.forces[*i], &x);
            (0..6).for_each(|k| f[k] += own.a.at(free + i, n + k) * force);
        }
        for i in &limb.stiff {
            let force = shares.next().unwrap_or(0.0);
            (0..6).for_each(|k| f[k] += own.forces[*i][k] * force);
        }
        f
    };
    Ok(c.plan().limbs.iter().zip(&data.limbs).map(of_limb).collect())
}

/// Rows of the joints that give way and of the virtual joints, per unit of platform twist.
fn effort_rows<S: crate::scalar::Real>(limb: &Limb, data: &LimbData<S>) -> Vec<Vec6<S>> {
    limb.springs.iter().map(|(column, _)| data.J[*column]).chain(data.virtual_rates.iter().copied()).collect()
}

/// Efforts with which those rows make a wrench.
fn efforts(rows: &[Vec6<f64>], force: &Vec6<f64>) -> Vec<f64> {
    if rows.is_empty() {
        return Vec::new();
    }
    svd(&Matrix::from_fn(6, rows.len(), |i, j| rows[j][i])).least_squares(force)
}

/// The rows once more, at the platform origin, the platform displaced by a unit twist: derivatives in the dual parts.
fn displaced(
    model: &Model<Dual>,
    limb: &Limb,
    from: &Positions<f64>,
    at: &LimbData<f64>,
    k: usize,
    data: &mut LimbData<Dual>,
) -> Vec<Vec6<Dual>> {
    let mut whole = [0.0; 6];
    whole[k] = 1.0;
    // What the leg itself follows: the rest is done by the virtual joints, which come last.
    let mut followed = whole;
    for (twist, rate) in at.virtual_twists.iter().zip(&at.virtual_rates) {
        (0..6).for_each(|c| followed[c] -= twist[c] * rate[k]);
    }
    let mut pos = Positions::seeded(model, from);
    for (j, c) in limb.coords.iter().enumerate() {
        let joint = &mut pos.joints[*c];
        let rate = at.J[j][k];
        joint.value.eps += rate;
        let Turn { cos, sin } = joint.turn;
        joint.turn = Turn { cos: Dual::new(cos.re, -sin.re * rate), sin: Dual::new(sin.re, cos.re * rate) };
    }
    let V = Twist::from_array(followed);
    pos.X_WE = moved(&from.X_WE, V);
    pose_bodies(model, &mut pos);
    let twists: Vec<Vec6<Dual>> = at.virtual_twists.iter().map(|t| carried_along(t, V)).collect();
    displaced_rows(model, limb, &pos, &twists, data);
    let beyond = Twist::from_array(whole).v - V.v;
    let r = vec3(beyond.x, beyond.y, beyond.z).map(|x| Dual::new(0.0, x));
    effort_rows(limb, data).into_iter().map(|row| Wrench::from_array(row).at(r).to_array()).collect()
}

/// A pose displaced by a twist, in dual parts.
fn moved(X: &Pose<f64>, V: Twist<f64>) -> Pose<Dual> {
    let column = |k: usize| {
        let (a, d) = (X.R.column(k), cross(V.w, X.R.column(k)));
        dual(a, d)
    };
    Pose { R: Rotation::from_columns(column(0), column(1), column(2)), p: dual(X.p, V.v) }
}

fn dual(a: Vec3<f64>, d: Vec3<f64>) -> Vec3<Dual> {
    vec3(Dual::new(a.x, d.x), Dual::new(a.y, d.y), Dual::new(a.z, d.z))
}

/// A motion carried along by another, at the origin that moves along too.
fn carried_along(t: &Vec6<f64>, V: Twist<f64>) -> Vec6<Dual> {
    let t = Twist::from_array(*t);
    Twist { v: dual(t.v, cross(V.w, t.v)), w: dual(t.w, cross(V.w, t.w)) }.to_array()
}
