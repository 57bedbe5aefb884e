//! Points of bodies that move and deform: which frame carries them, and their motion.

use super::body::beam_shape;
use super::plan::{FlexibleModel, FrameStep, MotionCoordinate, ReachedBy};
use super::recursion::FrameMotion;
use super::solve::{FlexibleRobot, FlexibleState};
use crate::elastodynamics::error::ElasticError;
use crate::elastodynamics::numbers::{ElasticNumbers, modal_frame, mode_twist};
use crate::elastodynamics::plan::{Element, Host, Place, modal};
use crate::model::{BodyId, BodyPoint, Node};
use crate::spatial::{Accel, Pose, Twist, Vec3, vec3};

/// Points this near to each other, over the size of their body, are the same.
const SAME_POINT: f64 = 1e-6;

/// A point of a flexible robot: a frame that the material carries there, and the point on it.
#[derive(Clone, Debug)]
pub struct MaterialPoint {
    step: FrameStep<f64>,
    X: Pose<f64>,
    /// Whether it is known how the material turns there; of mesh nodes only displacements are.
    turns: bool,
}

impl MaterialPoint {
    /// Whether it is known how the material turns there.
    pub fn turns(&self) -> bool {
        self.turns
    }
}

impl FlexibleRobot<'_> {
    /// Where a point of a body is carried, or why it is none.
    pub fn material_point(&self, point: &BodyPoint) -> Result<MaterialPoint, ElasticError> {
        let numbers = ElasticNumbers::new(self.model, &self.plan.nodal);
        let at = point.at.unwrap_or_else(Vec3::zeros);
        let fixed = |(from, X): (Option<usize>, Pose<f64>)| {
            let step = self.step_from(from, ReachedBy::tip(X * Pose::translation(at), Vec::new()));
            MaterialPoint { step, X: Pose::identity(), turns: true }
        };
        let host = match point.node {
            Node::World => return Ok(fixed((None, Pose::identity()))),
            Node::Platform if self.model.topology().platform.tool.is_some() => return Ok(fixed(self.flexible.tool)),
            Node::Platform => Host::Platform,
            Node::Body(b) => Host::Body(b),
        };
        let whole = self.plan.nodal.frames.iter().position(|f| f.place == Place::Whole(host));
        let whole = whole.and_then(|f| self.flexible.steps[f]);
        match (host, modal(self.model, host), point.at) {
            (_, Some(_), Some(at)) => self.mesh_point(host, at, whole),
            (Host::Body(b), None, Some(at)) if self.model.numbers().beams[b].is_some() => {
                self.beam_point(b, at, &numbers)
            }
            (Host::Body(b), None, _) => Ok(fixed(self.flexible.origins[b])),
            _ => Ok(fixed((whole, Pose::identity()))),
        }
    }

    fn step_from(&self, from: Option<usize>, step: ReachedBy<f64>) -> FrameStep<f64> {
        let mut path = from.map_or_else(Vec::new, |f| self.flexible.frames[f].path.clone());
        if let ReachedBy::Tip { shapes, .. } = &step {
            path.extend(shapes.iter().map(|s| s.0));
        }
        FrameStep { from, step, path }
    }

    /// A point of a section of a beam: the section moves and turns as the shapes of its piece say.
    fn beam_point(
        &self,
        body: BodyId,
        at: Vec3<f64>,
        numbers: &ElasticNumbers<f64>,
    ) -> Result<MaterialPoint, ElasticError> {
        let name = || self.model.topology().bodies[body].name.clone();
        let Some(beam) = &self.model.numbers().beams[body] else {
            return Err(ElasticError::OffBeam { body: name(), along: 0.0, length: 0.0 });
        };
        let p = beam.X_MN.apply_inv(at);
        let along = |f: usize| beam.X_MN.apply_inv(numbers.X_HF[f].p).x;
        let near = SAME_POINT * beam.length;
        let piece = self.plan.nodal.elements.iter().find_map(|e| match e {
            Element::Beam { body: b, ends } if *b == body => {
                let [start, end] = ends.map(along);
                (p.x > start - near && p.x < end + near).then_some((ends[0], start, end))
            }
            _ => None,
        });
        let Some((first, start, end)) = piece else {
            return Err(ElasticError::OffBeam { body: name(), along: p.x, length: beam.length });
        };
        let Place::Node(_, number) = self.plan.nodal.frames[first].place else {
            return Err(ElasticError::OffBeam { body: name(), along: p.x, length: beam.length });
        };
        let l = end - start;
        let xi = ((p.x - start) / l).clamp(0.0, 1.0);
        let shape = |k: usize| {
            let (v, w) = beam_shape(l, xi, k);
            Some((self.flexible.slot(MotionCoordinate::Beam(body, number, k))?, Twist { v, w }))
        };
        let step = ReachedBy::tip(Pose::translation(vec3(l * xi, 0.0, 0.0)), (0..6).filter_map(shape).collect());
        let X = Pose::translation(vec3(0.0, p.y, p.z));
        Ok(MaterialPoint { step: self.step_from(self.flexible.steps[first], step), X, turns: true })
    }

    /// A node of the mesh of a modal body, or a named point of it: what the modes do elsewhere nobody has said.
    fn mesh_point(&self, host: Host, at: Vec3<f64>, whole: Option<usize>) -> Result<MaterialPoint, ElasticError> {
        let X_HB = modal_frame(self.model, host);
        let r = X_HB.inverse() * at;
        let Some(data) = modal(self.model, host) else { return Err(ElasticError::NothingMoves) };
        let gap = |p: &[f64; 3]| (Vec3::from(*p) - r).norm();
        let size = data.nodes.iter().map(|p| Vec3::from(*p).norm()).fold(0.0, f64::max);
        let slot = |k: usize| self.flexible.slot(MotionCoordinate::Mode(host, k));
        let modes = 0..data.modes.len();
        let named = data.points.iter().position(|p| gap(&p.position) <= SAME_POINT * size);
        let nearest = (0..data.nodes.len()).min_by(|i, j| gap(&data.nodes[*i]).total_cmp(&gap(&data.nodes[*j])));
        let node = nearest.filter(|n| gap(&data.nodes[*n]) <= SAME_POINT * size);
        let shapes: Vec<(usize, Twist<f64>)> = match (named, node) {
            (Some(point), _) => {
                modes.filter_map(|k| Some((slot(k)?, mode_twist(self.model, host, point, k)))).collect()
            }
            (None, Some(n)) => {
                let moved = |k: usize| Twist { v: Vec3::from(data.modes[k].displacement[n]), w: Vec3::zeros() };
                modes.filter_map(|k| Some((slot(k)?, moved(k)))).collect()
            }
            (None, None) => {
                let body = self.model.topology().node_name(host.node()).to_owned();
                let nearest = nearest.map(|n| X_HB * Vec3::from(data.nodes[n])).map(|p| [p.x, p.y, p.z]);
                return Err(ElasticError::NoMeshNode { body, nearest });
            }
        };
        let step = ReachedBy::tip(X_HB * Pose::translation(r), shapes);
        Ok(MaterialPoint { step: self.step_from(whole, step), X: Pose::identity(), turns: named.is_some() })
    }

    /// Pose, twist and acceleration of a point in world axes, for accelerations of all coordinates at the state that
    /// [`equations`](Self::equations) was asked of last.
    pub fn point_motion(
        &self,
        point: &MaterialPoint,
        state: &FlexibleState,
        accelerations: &[f64],
    ) -> (Pose<f64>, Twist<f64>, Accel<f64>) {
        let mut frame = FrameMotion::still(point.step.path.len());
        self.flexible.place_frame(&point.step, &self.data.frames, &state.at, &mut frame);
        FlexibleModel::move_frame(&point.step, &self.data.frames, &state.at, &state.rates, &mut frame);
        frame.seen_in_world(&point.step.path, &point.X, accelerations)
    }
}
