//! A body given by a modal analysis: nodal sums, section 2.5.

use super::assemble::{ElasticData, ElasticModel, add_entry, dot, inertia_times};
use super::numbers::ElementNumbers;
use super::plan::{Element, Host, Variable, modal};
use crate::model::Model;
use crate::scalar::Real;
use crate::spatial::{Inertia, Pose, Vec3};

/// Constants of a modal body in the frame of its host.
#[derive(Clone, PartialEq, Debug)]
pub struct ModalBody<S: Real> {
    /// As a rigid body.
    pub rigid: Inertia<S>,
    /// Columns `[s_k; β_k]`: first moment of each mode, and moment of each mode about the origin.
    pub M_re: Vec<[S; 6]>,
    /// `Σ m φ_i·φ_k`, row by row.
    pub M_ee: Vec<S>,
    /// Generalised stiffness of each mode.
    pub stiffness: Vec<S>,
}

impl<S: Real> ModalBody<S> {
    /// `m = Σ m_n`, `s_k = Σ m_n φ_nk`, `β_k = Σ m_n r_n × φ_nk`, `M_ee(i,k) = Σ m_n φ_ni·φ_nk`.
    pub fn new(model: &Model<S>, host: Host, X_HB: Pose<S>) -> Self {
        let values = model.description().definitions.values(&model.numbers().parameters);
        // What the file adds to the nodes, and what the platform carries, hangs on the frame.
        let more = match host {
            Host::Platform => model.description().platform.mass.inertia(&values) + model.payload(),
            Host::Body(b) => model.description().bodies[model.topology().bodies[b].row.0].mass.inertia(&values),
        };
        let mut body = Self { rigid: more.seen_from(&X_HB), M_re: Vec::new(), M_ee: Vec::new(), stiffness: Vec::new() };
        let Some(data) = modal(model, host) else { return body };
        let n = data.modes.len();
        let vector = |v: &[f64; 3]| Vec3::from(v.map(S::lit));
        body.M_re = vec![[S::zero(); 6]; n];
        body.M_ee = vec![S::zero(); n * n];
        body.stiffness = data.modes.iter().map(|m| S::lit(m.stiffness)).collect();
        for (node, (r, m)) in data.nodes.iter().zip(&data.masses).enumerate() {
            let (r, m) = (X_HB * vector(r), S::lit(*m));
            let shape = |k: usize| X_HB.R.apply(vector(&data.modes[k].displacement[node]));
            body.rigid = body.rigid + Inertia::point(m, r);
            for i in 0..n {
                let phi = shape(i) * m;
                let moment = r.cross(&phi);
                for (x, y) in body.M_re[i].iter_mut().zip(phi.iter().chain(moment.iter())) {
                    *x += *y;
                }
                (0..n).for_each(|k| body.M_ee[i * n + k] += phi.dot(&shape(k)));
            }
        }
        body
    }
}

/// Add the stiffness and mass of a modal body to those of its cluster.
pub(super) fn add<S: Real>(elastic: &ElasticModel<S>, element: usize, cluster: usize, data: &mut ElasticData<S>) {
    let plan = elastic.plan();
    let (Element::Modal { host, frame }, ElementNumbers::Modal(body)) =
        (plan.elements[element], &elastic.numbers().elements[element])
    else {
        return;
    };
    let c = &plan.clusters[cluster];
    let modes = body.stiffness.len();
    let slot = |k: usize| c.variables.iter().position(|v| *v == Variable::Mode(host, k)).unwrap_or(0);
    for i in 0..c.independent.len() {
        let eta = |j: usize, k: usize, data: &ElasticData<S>| data.share(plan, cluster, slot(k), j);
        for j in 0..=i {
            let (ti, tj) = (data.columns(frame)[i], data.columns(frame)[j]);
            let mut m = dot(&ti, &inertia_times(&body.rigid, &tj));
            let mut k_sum = S::zero();
            for k in 0..modes {
                let (ei, ej) = (eta(i, k, data), eta(j, k, data));
                m += dot(&ti, &body.M_re[k]) * ej + dot(&tj, &body.M_re[k]) * ei;
                k_sum += ei * body.stiffness[k] * ej;
                for h in 0..modes {
                    m += ei * body.M_ee[k * modes + h] * eta(j, h, data);
                }
            }
            add_entry(plan, cluster, i, j, m, &mut data.M);
            add_entry(plan, cluster, i, j, k_sum, &mut data.K);
        }
    }
}
