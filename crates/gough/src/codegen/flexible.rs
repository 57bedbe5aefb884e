//! A flexible robot in motion as a program: accelerations of the independent coordinates and efforts of the drives from the closed
//! state of all coordinates, (10.122)-(10.124).

use super::checked::{TESTED, TestVectors, difference};
use super::models::{Group, Outputs, model_with, parameter_group, postures, solve_symmetric};
use super::plan::sparse_order;
use super::{CodeOptions, CodegenError, ModelKind, Solve};
use crate::Robot;
use crate::dynamics::Sign;
use crate::elastodynamics::ElasticError;
use crate::elastodynamics::motion::{
    Dependence, FlexibleModel, FlexiblePlan, FlexiblePositions, FlexibleRobot, FlexibleState, MotionCoordinate,
    ReducedEquations, ScaledCholesky, Wanted, is_flexible,
};
use crate::kinematics::platform::home_pose;
use crate::kinematics::{Posture, WorkingMode, inverse};
use crate::linalg::small::{Dense, PivotOrder};
use crate::model::Model;
use crate::scalar::{Expr, Real};
use crate::spatial::orientation::{from_rpy, to_rpy};
use crate::spatial::{Mat3, Pose, Rotation, vec3};

/// Energy in each elastic coordinate of the states that code is tried on, joules.
const TRIED_ENERGY: f64 = 1e-3;

/// Frequency of their rates, radians per second.
const TRIED_FREQUENCY: f64 = 30.0;

/// Largest difference between code and library, by the largest number.
const AGREED: f64 = 1e-6;

/// Rounding of numbers that a solution grows from.
const ROUNDED: f64 = 1e-15;

/// Independent coordinates of a system that is still written out.
const MOST_WRITTEN_OUT: usize = 60;

/// Everything that is known of a flexible robot before a model of its motion is written down.
pub(super) struct FlexibleSubject<'a> {
    robot: &'a Robot,
    friction: bool,
    solve: Solve,
    symbolic: Vec<usize>,
    kind: ModelKind,
    plan: FlexiblePlan,
    /// Rows of the loops and the coordinates that depend, in the order in which they are solved for.
    order: PivotOrder,
    /// Places of the independent coordinates: active joints first where efforts are asked for.
    independent: Vec<usize>,
    /// Places of the active joints.
    active: Vec<usize>,
    /// Names of all coordinates, as identifiers.
    names: Vec<String>,
    /// Places of the platform, none where it is a body of a leg.
    platform: Vec<usize>,
    /// Smallest pivot of the loops around home.
    smallest_pivot: f64,
    /// Closed states around home, with the posture of the rigid robot that they are next to.
    states: Vec<(Posture, FlexibleState)>,
}

/// Inputs by what they are.
struct FlexibleInputs<S: Real> {
    q: Vec<S>,
    pose: Vec<S>,
    rates: Vec<S>,
    /// Accelerations of the active joints, or efforts.
    driven: Vec<S>,
    parameters: Vec<S>,
}

impl<'a> FlexibleSubject<'a> {
    /// Plans for a robot around home.
    pub fn new(
        robot: &'a Robot,
        mode: &WorkingMode,
        symbolic: Vec<usize>,
        options: &CodeOptions,
    ) -> Result<Self, CodegenError> {
        let model = robot.model();
        let kind = options.model;
        if !is_flexible(model) {
            return Err(CodegenError::NothingFlexible);
        }
        let inverse_by_routine = kind == ModelKind::FlexibleIdm && options.solve == Solve::Routine;
        if inverse_by_routine {
            return Err(CodegenError::RoutineOfInverse);
        }
        let home = inverse(model, robot.home().pose(), mode).map_err(CodegenError::Home)?;
        let plan = FlexiblePlan::new(model, home.positions()).map_err(CodegenError::Elastic)?;
        let mut flexible = FlexibleRobot::new(model, &home).map_err(CodegenError::Elastic)?;
        if let Some(slider) = flexible.flexible().sliders().first() {
            return Err(CodegenError::Elastic(ElasticError::slides(model, slider)));
        }
        let (independent, active) = (flexible.independent().to_vec(), flexible.active());
        let mut ordered = independent.clone();
        if kind == ModelKind::FlexibleIdm {
            let free = active.iter().filter(|k| independent.contains(k)).count();
            if free < active.len() {
                let why = ElasticError::RedundantDrives { drives: active.len(), wanted: free };
                return Err(CodegenError::Elastic(why));
            }
            ordered.retain(|k| !active.contains(k));
            ordered.splice(0..0, active.iter().copied());
        }
        if ordered.len() > MOST_WRITTEN_OUT && options.solve == Solve::Unrolled {
            return Err(CodegenError::TooManyCoordinates { count: ordered.len(), most: MOST_WRITTEN_OUT });
        }
        let states = closed_states(robot, mode, &mut flexible)?;
        let mut subject = Self {
            robot,
            friction: options.friction,
            solve: options.solve,
            symbolic,
            kind,
            plan,
            order: PivotOrder::default(),
            independent: ordered,
            active,
            names: names(model, flexible.flexible()),
            platform: flexible.flexible().platform(),
            smallest_pivot: f64::INFINITY,
            states,
        };
        subject.order_loops(&flexible)?;
        Ok(subject)
    }

    /// Solve the loops for the dependent coordinates with few operations, by pivots that are good at all states.
    fn order_loops(&mut self, flexible: &FlexibleRobot<'_>) -> Result<(), CodegenError> {
        let own = flexible.flexible();
        let dependent: Vec<usize> = (0..self.names.len()).filter(|k| !self.independent.contains(k)).collect();
        let scale = self.robot.model().length().recip();
        let lengths = own.row_is_length();
        let of = |state: &FlexibleState| {
            let (mut data, mut loops) = (own.data(), own.loop_equations());
            own.place_frames(&state.at, &mut data);
            own.close(&data, &mut loops);
            let mut J = Dense::zeros(loops.J.rows, dependent.len());
            for (i, is_length) in lengths.iter().enumerate() {
                let scale = if *is_length { scale } else { 1.0 };
                dependent.iter().enumerate().for_each(|(j, k)| *J.at_mut(i, j) = loops.J.at(i, *k) * scale);
            }
            J
        };
        let (order, smallest) = sparse_order(self.states.iter().map(|(_, s)| of(s)).collect());
        if order.cols.len() < dependent.len() {
            return Err(CodegenError::Singular);
        }
        self.order = PivotOrder { rows: order.rows, cols: order.cols.iter().map(|j| dependent[*j]).collect() };
        self.smallest_pivot = smallest;
        Ok(())
    }

    /// Names of some coordinates.
    fn named(&self, prefix: &str, slots: &[usize]) -> Vec<String> {
        slots.iter().map(|k| format!("{prefix}_{}", self.names[*k])).collect()
    }

    /// Coordinates other than those of the platform.
    fn slots(&self) -> Vec<usize> {
        (0..self.names.len()).filter(|k| !self.platform.contains(k)).collect()
    }

    fn driven_names(&self, prefix: &str) -> Vec<String> {
        let t = self.robot.model().topology();
        t.active.iter().map(|c| format!("{prefix}_{}", identifier_part(&t.coords[*c].name))).collect()
    }

    /// Independent coordinates whose accelerations are answered.
    fn answered(&self) -> &[usize] {
        if self.kind == ModelKind::FlexibleIdm { &self.independent[self.active.len()..] } else { &self.independent }
    }

    /// Inputs and outputs.
    pub fn signature(&self) -> (Vec<Group>, Vec<Group>) {
        let all: Vec<usize> = (0..self.names.len()).collect();
        let mut inputs = vec![Group::new(
            "q",
            "coordinates of the closed robot: joints, then deflections, displacements and modes",
            self.named("q", &self.slots()),
        )];
        if !self.platform.is_empty() {
            let (about, entries): (_, Vec<String>) = if self.is_planar() {
                ("coordinates of the platform", ["x", "y", "phi"].map(str::to_owned).to_vec())
            } else {
                let R = (0..9).map(|k| format!("R{}{}", k / 3 + 1, k % 3 + 1));
                let entries = ["x", "y", "z"].map(str::to_owned).into_iter().chain(R).collect();
                ("position of the platform, then its rotation matrix row by row", entries)
            };
            inputs.push(Group::new("pose", about, entries));
        }
        let about = "rates of all coordinates; of the platform its twist in world axes";
        inputs.push(Group::new("qd", about, self.named("qd", &all)));
        let qdd = Group::new("qdd", "accelerations of the independent coordinates", self.named("qdd", self.answered()));
        let outputs = if self.kind == ModelKind::FlexibleIdm {
            let entries = self.driven_names("qdd");
            inputs.push(Group::new("active_qdd", "accelerations of the active joints", entries));
            let about = "accelerations of the other independent coordinates";
            let efforts = Group::new("efforts", "efforts of the drives", self.driven_names("tau"));
            let others = Group { about: about.to_owned(), ..qdd };
            // A robot of springs in its driven joints has no others.
            [efforts, others].into_iter().filter(|g| !g.entries.is_empty()).collect()
        } else {
            inputs.push(Group::new("efforts", "efforts of the drives", self.driven_names("tau")));
            vec![qdd]
        };
        if !self.symbolic.is_empty() {
            inputs.push(parameter_group(self.robot, &self.symbolic));
        }
        (inputs, outputs)
    }

    fn is_planar(&self) -> bool {
        self.platform.len() == 3
    }

    /// Inputs by name.
    fn split<S: Real>(inputs: &[Group], x: &[S]) -> FlexibleInputs<S> {
        let mut state = FlexibleInputs {
            q: Vec::new(),
            pose: Vec::new(),
            rates: Vec::new(),
            driven: Vec::new(),
            parameters: Vec::new(),
        };
        let mut rest = x;
        for group in inputs {
            let (own, later) = rest.split_at(group.entries.len());
            rest = later;
            let list = match group.name.as_str() {
                "q" => &mut state.q,
                "pose" => &mut state.pose,
                "qd" => &mut state.rates,
                "parameters" => &mut state.parameters,
                _ => &mut state.driven,
            };
            *list = own.to_vec();
        }
        state
    }

    /// Where everything is.
    fn positions<S: Real>(&self, model: &Model<S>, x: &FlexibleInputs<S>) -> FlexiblePositions<S> {
        let mut q = vec![S::zero(); self.names.len()];
        self.slots().iter().zip(&x.q).for_each(|(k, x)| q[*k] = *x);
        let p = &x.pose;
        let X_WE = match p.len() {
            3 => {
                let home = &model.numbers().home;
                Pose { R: from_rpy(home[3], home[4], p[2]), p: vec3(p[0], p[1], home_pose(model).p.z) }
            }
            12 => Pose { R: Rotation(Mat3::from_fn(|i, j| p[3 + 3 * i + j])), p: vec3(p[0], p[1], p[2]) },
            _ => Pose::identity(),
        };
        FlexiblePositions { q, X_WE }
    }

    /// The model, (10.124).
    fn evaluate<S: Real>(&self, x: &FlexibleInputs<S>) -> Outputs<S> {
        let model = model_with(self.robot, &self.symbolic, &x.parameters);
        let own = FlexibleModel::new(&model, &self.plan);
        let at = self.positions(&model, x);
        let (mut data, mut loops) = (own.data(), own.loop_equations());
        own.place_frames(&at, &mut data);
        own.close(&data, &mut loops);
        own.move_frames(&at, &x.rates, &mut data);
        own.drift(&data, &mut loops);
        own.cut_forces(&at, &x.rates, None, &mut data);
        own.cut_inertia(&at, &mut data);
        if self.friction {
            own.add_friction(&model, &x.rates, Sign::Sharp, &mut data);
        }
        let (depends, mut factors) = (self.depends(), Vec::new());
        depends.factor(&loops, &mut factors);
        let closed = depends.equations(&depends.matrix(&loops, &factors), &data, &loops, &factors);
        if self.kind == ModelKind::FlexibleIdm { self.inverse(&closed, &x.driven) } else { self.direct(closed, x) }
    }

    fn depends(&self) -> Dependence<'_> {
        Dependence { order: &self.order, independent: &self.independent }
    }

    /// `q̈_c = -M_cc⁻¹ (M_ca q̈_a + h_c)`, `τ = M_aa q̈_a + M_ac q̈_c + h_a`.
    fn inverse<S: Real>(&self, closed: &ReducedEquations<S>, qdd: &[S]) -> Outputs<S> {
        let (n, a, M) = (self.independent.len(), self.active.len(), &closed.M);
        let mut M_cc = Dense::zeros(n - a, n - a);
        (a..n).for_each(|i| (a..n).for_each(|j| *M_cc.at_mut(i - a, j - a) = M.at(i, j)));
        let driven = |i: usize| (0..a).fold(closed.h[i], |s, j| s + M.at(i, j) * qdd[j]);
        let right: Vec<S> = (a..n).map(|i| -driven(i)).collect();
        let others = solve_symmetric(&M_cc, &right);
        let effort = |i: usize| (a..n).fold(driven(i), |s, j| s + M.at(i, j) * others[j - a]);
        Outputs { values: (0..a).map(effort).chain(others.iter().copied()).collect(), system: None }
    }

    /// `M q̈ = G τ - h`.
    fn direct<S: Real>(&self, closed: ReducedEquations<S>, x: &FlexibleInputs<S>) -> Outputs<S> {
        let mut right: Vec<S> = closed.h.iter().map(|h| -*h).collect();
        for (slot, effort) in self.active.iter().zip(&x.driven) {
            right.iter_mut().enumerate().for_each(|(i, r)| *r += closed.J.at(*slot, i) * *effort);
        }
        if self.solve == Solve::Routine {
            return Outputs { values: vec![S::one(); right.len()], system: Some((closed.M, right)) };
        }
        Outputs { values: solve_symmetric(&closed.M, &right), system: None }
    }

    /// The model on symbols.
    pub fn written(&self, inputs: &[Group], x: &[Expr]) -> Outputs<Expr> {
        self.evaluate(&Self::split(inputs, x))
    }

    /// What closes the loops: the Newton step of the dependent coordinates, and the rates that they have by the independent ones.
    pub fn closing<S: Real>(&self, inputs: &[Group], x: &[S]) -> Vec<S> {
        let x = Self::split(inputs, x);
        let model = model_with(self.robot, &self.symbolic, &x.parameters);
        let own = FlexibleModel::new(&model, &self.plan);
        let (mut data, mut loops) = (own.data(), own.loop_equations());
        own.place_frames(&self.positions(&model, &x), &mut data);
        own.close(&data, &mut loops);
        let (depends, mut factors) = (self.depends(), Vec::new());
        depends.factor(&loops, &mut factors);
        let mut all = depends.answering(&factors, |i| loops.gap[i]);
        let opened = |i: usize| depends.opened(&loops, i, |k| x.rates[self.independent[k]]);
        all.extend(depends.answering(&factors, opened));
        all
    }

    /// The group of [`closing`](Self::closing).
    pub fn closing_group(&self) -> Group {
        let [steps, rates] = ["step", "qd"].map(|prefix| self.named(prefix, &self.order.cols));
        let about = "what closes the loops: steps to add to dependent coordinates (of the platform a small twist), then their rates";
        Group::new("closing", about, steps.into_iter().chain(rates).collect())
    }

    /// Named parameters that stay inputs.
    pub fn symbolic(&self) -> &[usize] {
        &self.symbolic
    }

    /// What the model includes, its coordinates, and the pivots it relies on.
    pub fn lines(&self, solve: &str) -> Vec<String> {
        let friction = if self.friction { "included" } else { "left out" };
        let list = |slots: &[usize]| slots.iter().map(|k| self.names[*k].clone()).collect::<Vec<_>>().join(", ");
        vec![
            format!("friction {friction}; systems {solve}"),
            format!("independent coordinates: {}", list(&self.independent)),
            format!("dependent, solved from the loops: {}", list(&self.order.cols)),
            format!("smallest pivot of the loops around home, without unit, {:.2e}", self.smallest_pivot),
        ]
    }

    /// Inputs and the library's outputs at states around home; a refusal where the code says otherwise.
    pub fn vectors(&self, inputs: &[Group], code: impl Fn(&[f64]) -> Vec<f64>) -> Result<TestVectors, CodegenError> {
        let model = self.robot.model();
        let (mut list, mut poor, mut worst) = (Vec::new(), Vec::new(), 0.0_f64);
        let mut tolerance = TESTED;
        for (s, (posture, state)) in self.states.iter().enumerate() {
            let Ok(mut flexible) = FlexibleRobot::new(model, posture) else { continue };
            let driven: Vec<f64> = (0..self.active.len()).map(|k| 0.9 * ((3 * s + 2 * k) as f64 + 0.7).sin()).collect();
            let friction = self.friction.then(Sign::default);
            let found = if self.kind == ModelKind::FlexibleIdm {
                flexible.inverse(state, &Wanted::Active(driven.clone()), friction)
            } else {
                flexible.direct(state, &driven, friction)
            };
            // Where the library refuses the code is not tried.
            let Ok(found) = found else { continue };
            let Some((qdd, condition)) = self.accelerations(&mut flexible, state, &found.efforts) else { continue };
            // A round number, for a reader.
            tolerance = f64::max(tolerance, 10f64.powf((ROUNDED * condition).log10().ceil()));
            let mut wanted = if self.kind == ModelKind::FlexibleIdm { found.efforts.clone() } else { Vec::new() };
            wanted.extend(self.answered().iter().map(|k| qdd[*k]));
            let x = self.numbers(inputs, state, &driven);
            let mut y = code(&x);
            let by = difference(&y, &wanted, f64::MIN_POSITIVE);
            if !(by <= AGREED) {
                return Err(CodegenError::Disagrees { by });
            }
            let off = y.iter().zip(&wanted).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max);
            let exact = off <= 0.1 * tolerance;
            worst = worst.max(off);
            y[..wanted.len()].copy_from_slice(&wanted);
            if y.iter().all(|v| v.is_finite()) {
                if exact { list.push((x, y)) } else { poor.push((x, y)) }
            }
        }
        // States at which small numbers come of large ones make no good test, unless there are no others.
        if list.is_empty() {
            list = poor;
            tolerance = tolerance.max(10f64.powf((10.0 * worst).log10().ceil()));
        }
        if list.is_empty() { Err(CodegenError::NotFinite) } else { Ok(TestVectors { list, tolerance }) }
    }

    /// Accelerations of all coordinates under efforts, by the library, and by how much rounding grows in them.
    fn accelerations(
        &self,
        flexible: &mut FlexibleRobot<'_>,
        state: &FlexibleState,
        efforts: &[f64],
    ) -> Option<(Vec<f64>, f64)> {
        let equations = flexible.equations(state, self.friction.then(Sign::default));
        let own = flexible.accelerations(&equations, efforts).ok()?;
        Some((equations.all_accelerations(&own), ScaledCholesky::new(&equations.M).ok()?.condition()))
    }

    /// The inputs of a state.
    fn numbers(&self, inputs: &[Group], state: &FlexibleState, driven: &[f64]) -> Vec<f64> {
        let model = self.robot.model();
        let X = &state.at.X_WE;
        inputs
            .iter()
            .flat_map(|group| match group.name.as_str() {
                "q" => self.slots().iter().map(|k| state.at.q[*k]).collect(),
                "pose" if self.is_planar() => vec![X.p.x, X.p.y, to_rpy(&X.R)[2]],
                "pose" => X.p.iter().chain(X.R.0.transpose().iter()).copied().collect(),
                "qd" => state.rates.clone(),
                "parameters" => self.symbolic.iter().map(|k| model.numbers().parameters[*k]).collect(),
                _ => driven.to_vec(),
            })
            .collect()
    }
}

/// Letters, digits and underscores.
fn identifier_part(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Names of the coordinates, each its own.
fn names(model: &Model<f64>, flexible: &FlexibleModel<f64>) -> Vec<String> {
    let t = model.topology();
    let mut list: Vec<String> = Vec::new();
    for (k, coordinate) in flexible.coordinates().iter().enumerate() {
        let name = if let MotionCoordinate::Joint(c) = *coordinate {
            identifier_part(&t.coords[c].name)
        } else {
            let words = identifier_part(&flexible.coordinate_name(model, k));
            words.split('_').filter(|w| !w.is_empty()).collect::<Vec<_>>().join("_")
        };
        list.push(if list.contains(&name) { format!("{name}_{}", k + 1) } else { name });
    }
    list
}

/// Closed states in motion around home, every elastic coordinate away from zero.
fn closed_states(
    robot: &Robot,
    mode: &WorkingMode,
    flexible: &mut FlexibleRobot<'_>,
) -> Result<Vec<(Posture, FlexibleState)>, CodegenError> {
    let model = robot.model();
    let [_, K] = flexible.flexible().elastic_matrices();
    let elastic = flexible.flexible().elastic();
    let own = flexible.independent().to_vec();
    let mut list = Vec::new();
    for (s, pos) in postures(robot, mode)?.iter().take(5).enumerate() {
        let Ok(posture) = inverse(model, &pos.X_WE, mode) else { continue };
        let mut state = FlexibleState::rest(flexible, &posture);
        for k in &own {
            // Numbers without a pattern that code could get right by chance.
            let some = ((3 * s + 5 * k) as f64 + 0.7).sin();
            let is_elastic = elastic.contains(k);
            let amplitude = if K.at(*k, *k) > 0.0 { (2.0 * TRIED_ENERGY / K.at(*k, *k)).sqrt() } else { 1e-3 };
            if is_elastic {
                state.at.q[*k] = amplitude * some;
            }
            state.rates[*k] = if is_elastic { amplitude * TRIED_FREQUENCY } else { 0.9 } * (some + 0.3).sin();
        }
        if flexible.complete(&mut state).is_ok() {
            list.push((posture, state));
        }
    }
    if list.is_empty() { Err(CodegenError::NotFinite) } else { Ok(list) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::Language;

    /// A Newton step of the loops makes what is left of a gap quadratically smaller.
    #[test]
    fn steps_close_loops_that_are_open() {
        for name in ["dual-emps", "five-bar-flexible", "gough-stewart-flexible"] {
            let robot = crate::Robot::shipped(name).unwrap();
            let options = CodeOptions::new(ModelKind::FlexibleDdm, Language::C);
            let subject = FlexibleSubject::new(&robot, robot.mode(), Vec::new(), &options).unwrap();
            let (inputs, _) = subject.signature();
            let state = &subject.states[1].1;
            let x = subject.numbers(&inputs, state, &vec![0.0; subject.active.len()]);
            let r = subject.order.cols.len();
            let closed = subject.closing(&inputs, &x);
            let size = |steps: &[f64]| steps.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            assert!(size(&closed[..r]) < 1e-11, "{name}");
            for (slot, rate) in subject.order.cols.iter().zip(&closed[r..]) {
                assert!((state.rates[*slot] - rate).abs() < 1e-9 * (1.0 + rate.abs()), "{name}");
            }
            let (mut opened, slots) = (x.clone(), subject.slots());
            let moves = |k: &usize| slots.iter().position(|s| s == k);
            let some: Vec<(usize, usize)> =
                subject.order.cols.iter().enumerate().filter_map(|(i, k)| Some((i, moves(k)?))).collect();
            some.iter().for_each(|(_, place)| opened[*place] += 1e-4);
            let step = subject.closing(&inputs, &opened);
            // The platform, where it is free, stands where it did.
            if some.len() == r {
                some.iter().for_each(|(i, place)| opened[*place] += step[*i]);
                let left = size(&subject.closing(&inputs, &opened)[..r]);
                assert!(left < 1e-6 && left < 1e-2 * size(&step[..r]), "{name}: {left:e}");
            } else {
                assert!(size(&step[..r]) > 1e-6, "{name}");
            }
        }
    }
}
