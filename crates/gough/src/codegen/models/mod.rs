//! The models that can be generated, each a function of any scalar.

mod cartesian;
mod ddm;
mod fgm;
mod idm;
mod igm;
mod inertia;
mod jacobian;
mod kinematics;
mod mass_stiffness;
mod regressor;

use cartesian::PlatformMatrices;
pub(super) use ddm::{symmetric, units};
use mass_stiffness::MassStiffness;
pub(super) use mass_stiffness::coordinates;

use super::legs::{Columns, Inertias, Legs, Loads, PlatformRates};
use super::plan::{LegsPlan, joins_points, sparse_order};
use super::regroup::{Regrouping, cleaned};
use super::rod_legs::LegAxes;
use super::rods::RodLegs;
use super::sight::Alike;
use super::{CodegenError, FurtherInput, ModelKind, Solve};
use crate::Robot;
use crate::description::{Coordinate, Coordinates};
use crate::dynamics::regressor::StandardSet;
use crate::elastodynamics::Actuators;
use crate::kinematics::geometry::solve_one_leg;
use crate::kinematics::platform::home_pose;
use crate::kinematics::{Positions, WorkingMode, newton, pose_leg};
use crate::linalg::small::{Dense, PivotOrder, lu, lu_solve};
use crate::model::{BlockPlan, BodyId, CoordId, Model, Node};
use crate::scalar::Real;
use crate::spatial::orientation::{from_rpy, to_quaternion};
use crate::spatial::{Accel, Inertia, Mat3, Pose, Rotation, Turn, Twist, Vec3, Wrench, hat, vec3};

/// A named list of numbers that goes into or comes out of a generated function.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Its name in the code.
    pub name: String,
    /// What it holds, in one line.
    pub about: String,
    /// One name per number.
    pub entries: Vec<String>,
}

impl Group {
    pub(super) fn new(name: &str, about: impl Into<String>, entries: Vec<String>) -> Self {
        Self { name: name.to_owned(), about: about.into(), entries }
    }
}

/// Everything that is known of a robot before a model of it is written down.
pub(super) struct Subject<'a> {
    pub robot: &'a Robot,
    pub mode: WorkingMode,
    /// Friction of all joints is part of the efforts.
    pub friction: bool,
    pub solve: Solve,
    /// Named parameters that stay inputs.
    pub symbolic: Vec<usize>,
    /// Dynamic parameters that the efforts are written on.
    pub columns: Option<StandardSet>,
    /// The numbers that the pose is given by.
    pub pose_as: PoseNumbers,
    /// Inputs besides the state.
    pub further: Vec<FurtherInput>,
    pub plan: LegsPlan,
    regrouping: Regrouping,
    /// How the platform is balanced, and in which order the drives are solved for.
    pub balance: Balance,
    pub order: PivotOrder,
    /// Legs that are written by their rods, where that is tried.
    pub rods: Option<RodLegs>,
    /// Smallest pivots met around home: of the legs, and of the drives.
    pub smallest_pivots: [f64; 2],
    /// Postures that the plans are made for.
    postures: Vec<Positions<f64>>,
    /// Mass and stiffness, where they are asked for.
    matrices: Option<MassStiffness>,
    /// Those of the platform, where they are asked for.
    platform_matrices: Option<PlatformMatrices>,
}

/// The numbers of a pose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PoseNumbers {
    /// The coordinates of the platform.
    Coordinates,
    /// Position, then the rotation matrix row by row, whatever the coordinates of the platform are.
    Matrix,
    /// Position, then a quaternion.
    Quaternion,
}

/// What the platform meets from outside, in numbers that are inputs.
pub(super) struct Outside<S: Real> {
    /// At the platform's origin, in world axes.
    pub wrench: Wrench<S>,
    /// What the platform carries, seen from its frame E; from the body that has the tool point, where there is one.
    pub payload: Inertia<S>,
}

/// How the balance of the platform is written: any choice gives the same efforts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Balance {
    /// Moments are taken about the joint of this body on the base; about the platform origin when there is none.
    about: Option<BodyId>,
    /// This component of the force of every drive is one.
    unit: Option<usize>,
}

/// Balance of the platform: `C x = h`, and the efforts are `scale · x`.
pub(super) struct System<S> {
    pub C: Dense<S>,
    pub h: Vec<S>,
    pub scale: Vec<S>,
}

/// Inputs of a model in the scalar that it is evaluated in.
#[derive(Clone)]
pub(super) struct Inputs<S> {
    pub parameters: Vec<S>,
    pub pose: Vec<S>,
    pub twist: Vec<S>,
    pub acceleration: Vec<S>,
    pub efforts: Vec<S>,
    /// Active joints.
    pub joints: Vec<S>,
    /// Dynamic parameters.
    pub chi: Vec<S>,
    pub wrench: Vec<S>,
    pub payload: Vec<S>,
}

/// Results of a model, and what a routine is left to solve.
pub(super) struct Outputs<S> {
    pub values: Vec<S>,
    /// Matrix, row by row, and right-hand side of a system whose solution is the first output, when it is not unrolled.
    pub system: Option<(Dense<S>, Vec<S>)>,
}

/// What has no closed form.
pub(super) fn no_closed_form(model: &Model<f64>) -> CodegenError {
    let topology = model.topology();
    let searched = topology.plan.inverse.iter().flat_map(BlockPlan::newton_coords);
    let joints = searched.map(|c| format!("q{}", topology.coords[*c].name)).collect();
    let word = |c: &Coordinate| ["x", "y", "z", "roll", "pitch", "yaw"][c.index()].to_owned();
    let follow = topology.platform.dependent.iter().map(word).collect();
    CodegenError::NoClosedForm { joints, follow }
}

impl<'a> Subject<'a> {
    /// Plans for a robot.
    pub fn new(
        robot: &'a Robot,
        mode: &WorkingMode,
        symbolic: Vec<usize>,
        friction: bool,
        solve: Solve,
        kind: ModelKind,
    ) -> Result<Self, CodegenError> {
        let model = robot.model();
        let plan = &model.topology().plan;
        if plan.solve_platform || plan.inverse.iter().any(|b| !b.newton_coords().is_empty()) {
            return Err(no_closed_form(model));
        }
        if !plan.given.is_empty() {
            let names = plan.given.iter().map(|c| format!("q{}", model.topology().coords[*c].name)).collect();
            return Err(CodegenError::OpenJoints { joints: names });
        }
        let slides = |c: &&crate::model::Closure| !joins_points(c.joint);
        let moves = !matches!(kind, ModelKind::Igm | ModelKind::MassStiffness);
        if let Some(closure) = model.topology().closures.values().find(slides).filter(|_| moves) {
            return Err(CodegenError::SlidingClosure { closure: closure.name.clone() });
        }
        let postures = postures(robot, mode)?;
        let legs = LegsPlan::new(model, &postures);
        let leg_pivot = legs.smallest_pivot;
        let mut subject = Self {
            robot,
            mode: mode.clone(),
            friction,
            solve,
            symbolic,
            columns: None,
            pose_as: if model.topology().platform.coordinates == Coordinates::Spatial {
                PoseNumbers::Matrix
            } else {
                PoseNumbers::Coordinates
            },
            further: Vec::new(),
            plan: legs,
            regrouping: Regrouping::new(model),
            balance: Balance::default(),
            order: PivotOrder::default(),
            rods: None,
            smallest_pivots: [leg_pivot, f64::INFINITY],
            postures,
            matrices: None,
            platform_matrices: None,
        };
        // Only efforts need drives that hold the platform.
        if !subject.plan_drives() && matches!(kind, ModelKind::Idm | ModelKind::Regressor | ModelKind::Fgm) {
            let [drives, freedoms] = [model.topology().active.len(), model.topology().platform.independent.len()];
            let few = drives < freedoms;
            return Err(if few { CodegenError::TooFewDrives { drives, freedoms } } else { CodegenError::Singular });
        }
        Ok(subject)
    }

    /// Plan mass and stiffness.
    pub fn plan_matrices(
        &mut self,
        coordinates: super::ElasticCoordinates,
        actuators: Actuators,
    ) -> Result<(), CodegenError> {
        let model = self.robot.model();
        // With other parameters what is parallel here may not be.
        let alike = if self.symbolic.is_empty() { Alike::new(model, &self.postures) } else { Alike::none(model) };
        self.matrices = Some(MassStiffness::new(self.robot, coordinates, actuators, &self.postures, alike)?);
        Ok(())
    }

    /// Plan inertia and stiffness of the platform.
    pub fn plan_platform_matrices(&mut self, actuators: Actuators) -> Result<(), CodegenError> {
        self.platform_matrices = Some(PlatformMatrices::new(self.robot.model(), actuators, &self.postures)?);
        Ok(())
    }

    fn platform_matrices(&self) -> &PlatformMatrices {
        self.platform_matrices.as_ref().expect("matrices of the platform are planned before they are asked for")
    }

    fn matrices(&self) -> &MassStiffness {
        self.matrices.as_ref().expect("mass and stiffness are planned before they are asked for")
    }

    /// Choose the order in which the drives are solved for; whether there is one.
    fn plan_drives(&mut self) -> bool {
        let model = self.robot.model();
        let still = PlatformRates { V: Twist::zero(), A: Accel::zero() };
        let columns = self.postures.iter().map(|pos| {
            let mut C = self.drives_alone(&Legs::new(model, &self.plan, pos, still)).C;
            scale_rows(model, &mut C);
            C
        });
        let mut matrices: Vec<Dense<f64>> = columns.collect();
        if self.balance.unit.is_some() && !matrices.iter().flat_map(|C| &C.data).all(|x| x.abs() < LARGE) {
            return false;
        }
        if self.balance.unit.is_none() {
            matrices.iter_mut().for_each(unit_columns);
        }
        let (order, smallest) = sparse_order(matrices);
        let n = model.topology().platform.independent.len();
        let holds = order.rows.len() == n && smallest > SMALL;
        if n == model.topology().active.len() {
            (self.order, self.smallest_pivots[1]) = (order, smallest);
        }
        holds
    }

    /// Other ways to balance the platform that its freedoms allow: moments about a foot of a leg, a component of the drives'
    /// forces being one. Columns then have constant rows where the feet are in a plane.
    pub fn other_balances(&self) -> Vec<Balance> {
        let topology = self.robot.model().topology();
        let platform = &topology.platform;
        let shifts = matches!(platform.coordinates, Coordinates::Spatial | Coordinates::Planar);
        let first = topology.bodies.iter().find(|(_, b)| b.parent == Node::World).map(|(b, _)| b);
        if !shifts || topology.active.len() != platform.independent.len() || first.is_none() {
            return Vec::new();
        }
        let slides = platform.independent.iter().filter(|c| !c.is_angle()).map(|c| Some(c.index()));
        std::iter::once(None).chain(slides).map(|unit| Balance { about: first, unit }).collect()
    }

    /// The subject with another balance of the platform, when the drives can be solved for in it.
    pub fn balanced(&self, balance: Balance) -> Option<Self> {
        let mut other = Self {
            robot: self.robot,
            mode: self.mode.clone(),
            friction: self.friction,
            solve: self.solve,
            symbolic: self.symbolic.clone(),
            columns: self.columns.clone(),
            pose_as: self.pose_as,
            further: self.further.clone(),
            plan: self.plan.clone(),
            regrouping: self.regrouping.clone(),
            balance,
            order: PivotOrder::default(),
            rods: None,
            smallest_pivots: self.smallest_pivots,
            postures: self.postures.clone(),
            matrices: self.matrices.clone(),
            platform_matrices: self.platform_matrices.clone(),
        };
        other.plan_drives().then_some(other)
    }

    /// The subject with its legs written by their rods, in other axes each time, where they are such legs and the answers agree.
    pub fn by_rods(&self, kind: ModelKind) -> Vec<Self> {
        let square = self.order.rows.len() == self.robot.model().topology().active.len();
        let asked = match kind {
            ModelKind::Idm => square && self.columns.is_none() && self.solve == Solve::Unrolled,
            ModelKind::Ddm | ModelKind::Inertia => true,
            _ => false,
        };
        // A payload on a tool point belongs to a body of a leg.
        let hung =
            self.further.contains(&FurtherInput::Payload) && self.robot.model().topology().platform.tool.is_some();
        // Friction needs the rates of passive joints, and symbols may be lengths of rods.
        if hung || !asked || self.friction || !self.symbolic.is_empty() {
            return Vec::new();
        }
        let model = self.robot.model();
        let rods = |axes: LegAxes| RodLegs::new(model, &self.plan, &self.postures, axes);
        let own = rods(LegAxes::Joint);
        let world = if own.as_ref().is_some_and(RodLegs::stand_square) { None } else { rods(LegAxes::World) };
        let with = |rods: RodLegs| {
            let plain = self.balanced(Balance::default())?;
            Some(Self { rods: Some(rods), ..plain }).filter(|other| self.agrees(other, kind))
        };
        own.into_iter().chain(world).filter_map(with).collect()
    }

    /// Whether another way to write a model gives the same numbers around home.
    fn agrees(&self, other: &Self, kind: ModelKind) -> bool {
        let (inputs, _) = self.signature(kind);
        states(self, &inputs).iter().all(|(x, _)| {
            let of = |subject: &Self| {
                let Outputs { values, system } = subject.evaluate(kind, &super::split(&inputs, x));
                values.into_iter().chain(system.into_iter().flat_map(|(A, b)| A.data.into_iter().chain(b))).collect()
            };
            let (a, b): (Vec<f64>, Vec<f64>) = (of(self), of(other));
            let size = a.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= AGREED * size)
        })
    }

    /// Coordinates of the pose that a generated function takes.
    pub fn pose_group(&self) -> Group {
        let platform = &self.robot.model().topology().platform;
        let position = ["x", "y", "z"].map(str::to_owned).into_iter();
        match self.pose_as {
            PoseNumbers::Matrix => {
                let R = (0..9).map(|k| format!("R{}{}", k / 3 + 1, k % 3 + 1));
                let about = "position of the platform, then its rotation matrix row by row";
                Group::new("pose", about, position.chain(R).collect())
            }
            PoseNumbers::Quaternion => {
                let q = ["qw", "qx", "qy", "qz"].map(str::to_owned);
                let about = "position of the platform, then its quaternion, scalar first, of any length";
                Group::new("pose", about, position.chain(q).collect())
            }
            PoseNumbers::Coordinates => {
                let names = platform.independent.iter().map(|c| coordinate_name(*c, platform.independent.len()));
                Group::new("pose", "coordinates of the platform", names.collect())
            }
        }
    }

    fn component_group(&self, name: &str, about: &str, suffix: &str) -> Group {
        let platform = &self.robot.model().topology().platform;
        let names = platform.independent.iter().map(|c| match (c.is_angle(), &platform.coordinates) {
            (true, Coordinates::Spatial) => format!("w{}{suffix}", ["x", "y", "z"][c.index() - 3]),
            _ => format!("{}{suffix}d", coordinate_name(*c, platform.independent.len())),
        });
        Group::new(name, about, names.collect())
    }

    pub fn twist_group(&self) -> Group {
        self.component_group("twist", "velocity of the platform, angular part in world axes", "")
    }

    pub fn acceleration_group(&self) -> Group {
        self.component_group("acceleration", "acceleration of the platform, angular part in world axes", "d")
    }

    /// Further inputs, in the order in which they are asked for.
    fn further_groups(&self) -> Vec<Group> {
        let independent = &self.robot.model().topology().platform.independent;
        let group = |further: &FurtherInput| match further {
            FurtherInput::Wrench => {
                let names = independent.iter().map(|c| ["fx", "fy", "fz", "mx", "my", "mz"][c.index()].to_owned());
                let about =
                    "wrench from outside on the platform, at its origin, in world axes, as far as it moves that way";
                Group::new(further.name(), about, names.collect())
            }
            FurtherInput::Payload => {
                let names = ["mass", "cx", "cy", "cz", "ixx", "iyy", "izz", "ixy", "ixz", "iyz"];
                let about =
                    "body that the platform carries, in its frame: mass, centre of mass, inertia about that centre";
                Group::new(further.name(), about, names.map(str::to_owned).to_vec())
            }
        };
        self.further.iter().map(group).collect()
    }

    /// What the further inputs are.
    pub fn outside<S: Real>(&self, model: &Model<S>, inputs: &Inputs<S>) -> Outside<S> {
        let Twist { v: f, w: m } = self.scatter(&inputs.wrench);
        let payload = payload_of(&inputs.payload).seen_from(&model.numbers().carried);
        Outside { wrench: Wrench { f, m }, payload }
    }

    /// Inertias with a payload: that on a tool point goes with the body that has the point.
    pub fn carrying<S: Real>(&self, inertias: Inertias<S>, payload: &Inertia<S>) -> Inertias<S> {
        let mut all = inertias;
        match self.robot.model().topology().platform.tool {
            Some(b) => all.bodies[b] = all.bodies[b] + *payload,
            None => all.platform = all.platform + *payload,
        }
        all
    }

    /// The wrench from outside takes its part of what the platform needs.
    pub fn relieved<S: Real>(&self, legs: &Legs<'_, S>, h: &mut [S], wrench: &Wrench<S>) {
        let moved = match self.balance.about {
            Some(b) => wrench.at(legs.model.numbers().bodies[b].X_PF.p - legs.place().p),
            None => *wrench,
        };
        h.iter_mut().zip(self.component(&vec![moved], 0)).for_each(|(h, x)| *h -= x);
    }

    fn joint_group(&self, name: &str, about: &str, coords: &[CoordId], prefix: &str, suffix: &str) -> Group {
        let topology = self.robot.model().topology();
        let names = coords.iter().map(|c| format!("{prefix}{}{suffix}", topology.coords[*c].name));
        Group::new(name, about, names.collect())
    }

    pub fn effort_group(&self) -> Group {
        let about = if self.friction { "efforts of the drives, friction included" } else { "efforts of the drives" };
        self.joint_group("efforts", about, &self.robot.model().topology().active, "tau_", "")
    }

    /// Parameters that stay inputs.
    pub fn parameter_group(&self) -> Group {
        parameter_group(self.robot, &self.symbolic)
    }

    /// The model in the scalar of its inputs.
    pub fn model<S: Real>(&self, parameters: &[S]) -> Model<S> {
        model_with(self.robot, &self.symbolic, parameters)
    }

    /// The inertias of a model, regrouped; on numbers alone when no parameter is symbolic.
    pub fn inertias<S: Real>(&self, model: &Model<S>) -> Inertias<S> {
        if !self.symbolic.is_empty() {
            return self.regrouping.apply(model);
        }
        let all = cleaned(&self.regrouping.apply(self.robot.model()));
        let lit = |i: &crate::spatial::Inertia<f64>| i.map(&mut S::lit);
        Inertias { bodies: all.bodies.map(|_, i| lit(i)), platform: lit(&all.platform) }
    }

    /// The pose that numbers of its group stand for.
    pub fn pose<S: Real>(&self, model: &Model<S>, x: &[S]) -> Pose<S> {
        match self.pose_as {
            PoseNumbers::Matrix => pose_in(model, pose_by_matrix(x)),
            PoseNumbers::Quaternion => pose_in(model, pose_by_quaternion(x)),
            PoseNumbers::Coordinates => pose_of(model, x),
        }
    }

    /// The posture of a pose, closed form by closed form.
    pub fn close<S: Real>(&self, model: &Model<S>, pose: &[S]) -> Positions<S> {
        let topology = model.topology();
        let mut pos = Positions::new(model);
        pos.X_WE = self.pose(model, pose);
        for &leg in &topology.order {
            solve_one_leg(model, leg, &self.mode.signs()[topology.legs[leg].roots.clone()], &mut pos);
            let hung = topology.platform.tool.filter(|b| topology.bodies[*b].leg == leg);
            if let Some(b) = hung {
                // The tool point is where the platform is: said so that what hangs there need not go round by the leg.
                pose_leg(model, leg, &mut pos);
                let tool = topology.closures.iter().find(|(_, c)| c.tool);
                let (c, side) = tool.map(|(c, t)| (c, usize::from(t.sides[1] == Node::Body(b)))).expect("it is tied");
                let [own, other] = [side, 1 - side].map(|s| model.numbers().closures[c][s].p);
                pos.X_WB[b].p = pos.X_WE * other - pos.X_WB[b].R.apply(own);
            }
        }
        pos
    }

    /// Independent components in their places.
    fn scatter<S: Real>(&self, x: &[S]) -> Twist<S> {
        let mut all = [S::zero(); 6];
        for (c, x) in self.robot.model().topology().platform.independent.iter().zip(x) {
            all[c.index()] = *x;
        }
        Twist::from_array(all)
    }

    /// Motion of the platform from its independent components.
    pub fn motion<S: Real>(&self, twist: &[S], acceleration: &[S]) -> PlatformRates<S> {
        let A = self.scatter(acceleration);
        PlatformRates { V: self.scatter(twist), A: Accel { a: A.v, alpha: A.w } }
    }

    /// What motion and gravity need on the independent components of the platform, and what each drive gives.
    pub fn platform_system<S: Real>(
        &self,
        legs: &Legs<'_, S>,
        inertias: &Inertias<S>,
        gravity: Vec3<S>,
        loads: &Loads<S>,
    ) -> System<S> {
        let about = self.balance.about.map(|b| legs.model.numbers().bodies[b].X_PF.p);
        let columns = legs.platform_wrenches(inertias, gravity, loads, about);
        let n = self.robot.model().topology().platform.independent.len();
        let active = &self.robot.model().topology().active;
        let mut C = Dense::zeros(n, active.len());
        let mut scale: Vec<S> = active.iter().map(|c| legs.unit_effort(*c)).collect();
        for (k, scale) in scale.iter_mut().enumerate() {
            let mut column: Vec<S> = self.component(&columns, k + 1).into_iter().map(|x| -x).collect();
            if let Some(unit) = self.balance.unit {
                let place = self.robot.model().topology().platform.independent.iter().position(|c| c.index() == unit);
                let r = place.map_or_else(S::one, |i| column[i].recip());
                *scale *= r;
                column.iter_mut().enumerate().for_each(|(i, x)| *x = if Some(i) == place { S::one() } else { *x * r });
            }
            column.into_iter().enumerate().for_each(|(i, x)| *C.at_mut(i, k) = x);
        }
        System { C, h: self.component(&columns, 0), scale }
    }

    pub fn component<S: Real>(&self, columns: &Columns<S>, k: usize) -> Vec<S> {
        let all = columns[k].to_array();
        self.robot.model().topology().platform.independent.iter().map(|c| all[c.index()]).collect()
    }

    /// What the drives give, nothing having a mass.
    pub fn drives_alone<S: Real>(&self, legs: &Legs<'_, S>) -> System<S> {
        let none = crate::spatial::Inertia::zero();
        let massless = Inertias { bodies: self.robot.model().topology().bodies.map(|_, _| none), platform: none };
        self.platform_system(legs, &massless, Vec3::zeros(), &legs.loads(false))
    }

    /// The efforts, in the planned order; with more drives than freedoms the shortest, erratum D20.
    pub fn solve_drives<S: Real>(&self, System { C, h, scale }: &System<S>) -> Vec<S> {
        if C.rows == C.cols {
            let x = solve(C, &self.order, h);
            return x.iter().zip(scale).map(|(x, k)| *x * *k).collect();
        }
        let mut Ct = C.transposed();
        for (k, scale) in scale.iter().enumerate() {
            let r = scale.recip();
            (0..Ct.cols).for_each(|j| *Ct.at_mut(k, j) *= r);
        }
        let normal = Ct.transposed().times(&Ct);
        Ct.apply(&solve_symmetric(&normal, h))
    }

    /// Inputs and outputs of a model.
    pub fn signature(&self, kind: ModelKind) -> (Vec<Group>, Vec<Group>) {
        let (mut inputs, outputs) = match kind {
            ModelKind::Igm => igm::signature(self),
            ModelKind::Kinematics => kinematics::signature(self),
            ModelKind::Jacobian => jacobian::signature(self),
            ModelKind::Idm => idm::signature(self),
            ModelKind::Ddm => ddm::signature(self),
            ModelKind::Fgm => fgm::signature(self),
            ModelKind::Inertia => inertia::signature(self),
            ModelKind::MassStiffness => mass_stiffness::signature(self),
            ModelKind::CartesianFrequencies => cartesian::signature(self),
            ModelKind::Regressor => regressor::signature(self),
            ModelKind::FlexibleIdm | ModelKind::FlexibleDdm => unreachable!("written by a subject of its own"),
        };
        inputs.extend(self.further_groups());
        if !self.symbolic.is_empty() {
            inputs.push(self.parameter_group());
        }
        (inputs, outputs)
    }

    /// The model itself.
    pub fn evaluate<S: Real>(&self, kind: ModelKind, inputs: &Inputs<S>) -> Outputs<S> {
        match kind {
            ModelKind::Igm => igm::evaluate(self, inputs),
            ModelKind::Kinematics => kinematics::evaluate(self, inputs),
            ModelKind::Jacobian => jacobian::evaluate(self, inputs),
            ModelKind::Idm => idm::evaluate(self, inputs),
            ModelKind::Ddm => ddm::evaluate(self, inputs),
            ModelKind::Fgm => fgm::evaluate(self, inputs),
            ModelKind::Inertia => inertia::evaluate(self, inputs),
            ModelKind::MassStiffness => mass_stiffness::evaluate(self, inputs),
            ModelKind::CartesianFrequencies => cartesian::evaluate(self, inputs),
            ModelKind::Regressor => regressor::evaluate(self, inputs),
            ModelKind::FlexibleIdm | ModelKind::FlexibleDdm => unreachable!("written by a subject of its own"),
        }
    }
}

/// Named parameters that stay inputs.
pub(super) fn parameter_group(robot: &Robot, symbolic: &[usize]) -> Group {
    let all = robot.model().parameters();
    let names = symbolic.iter().map(|k| all[*k].name.clone()).collect();
    Group::new("parameters", "named parameters of the robot file, SI", names)
}

/// The model of a robot with these of its named parameters in another scalar.
pub(super) fn model_with<S: Real>(robot: &Robot, symbolic: &[usize], parameters: &[S]) -> Model<S> {
    let model = robot.model();
    let mut values: Vec<S> = model.numbers().parameters.iter().map(|x| S::lit(*x)).collect();
    for (k, value) in symbolic.iter().zip(parameters) {
        values[*k] = *value;
    }
    model.with_parameters(&values)
}

/// The pose in twelve numbers: position, then rotation matrix row by row.
pub(in crate::codegen) fn pose_by_matrix<S: Real>(x: &[S]) -> Pose<S> {
    Pose { R: Rotation(Mat3::from_fn(|i, j| x[3 + 3 * i + j])), p: vec3(x[0], x[1], x[2]) }
}

/// The pose in seven numbers: position, then a quaternion, which is divided by its length.
fn pose_by_quaternion<S: Real>(x: &[S]) -> Pose<S> {
    let v = vec3(x[4], x[5], x[6]);
    let (w, vv) = (x[3], v.dot(&v));
    // (w² - v·v) 1 + 2 v vᵀ + 2 w v̂, by the square of the length.
    let square = w * w + vv;
    let by = S::lit(2.0) * square.recip();
    let (own, wv) = (S::one() - by * vv, v * (w * by));
    let cross = hat(wv);
    Pose {
        R: Rotation(Mat3::from_fn(|i, j| v[i] * v[j] * by + cross[(i, j)] + if i == j { own } else { S::zero() })),
        p: vec3(x[0], x[1], x[2]),
    }
}

/// A body by mass, centre and inertia about that; none where nothing is given.
pub(super) fn payload_of<S: Real>(x: &[S]) -> Inertia<S> {
    let &[m, cx, cy, cz, xx, yy, zz, xy, xz, yz] = x else { return Inertia::zero() };
    Inertia::at_com(m, vec3(cx, cy, cz), Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz))
}

/// A pose with what the coordinates of the platform do not move as at home.
fn pose_in<S: Real>(model: &Model<S>, given: Pose<S>) -> Pose<S> {
    let platform = &model.topology().platform;
    let mut pose = home_pose(model);
    if platform.coordinates == Coordinates::Spatial {
        return given;
    }
    platform.independent.iter().filter(|c| !c.is_angle()).for_each(|c| pose.p[c.index()] = given.p[c.index()]);
    match turns(model) {
        Turns::None => {}
        Turns::AboutZ => pose.R = Rotation::about_z(Turn { cos: given.R.0[(0, 0)], sin: given.R.0[(1, 0)] }),
        Turns::Any => pose.R = given.R,
    }
    pose
}

/// How a platform turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::codegen) enum Turns {
    /// Not at all.
    None,
    /// About the vertical, from the axes of the world.
    AboutZ,
    /// Otherwise.
    Any,
}

/// How the platform of a robot turns by its coordinates.
pub(in crate::codegen) fn turns<S: Real>(model: &Model<S>) -> Turns {
    let angles = model.topology().platform.independent.iter().copied().filter(|c| c.is_angle());
    let level = model.numbers().home[3].is_zero() && model.numbers().home[4].is_zero();
    match angles.collect::<Vec<Coordinate>>().as_slice() {
        [] => Turns::None,
        [Coordinate::Rz] if level => Turns::AboutZ,
        _ => Turns::Any,
    }
}

/// The pose with these coordinates; others are those of home.
fn pose_of<S: Real>(model: &Model<S>, x: &[S]) -> Pose<S> {
    let platform = &model.topology().platform;
    let mut pose = home_pose(model);
    let mut angles = model.numbers().home[3..].to_vec();
    for (c, x) in platform.independent.iter().zip(x) {
        if c.is_angle() { angles[c.index() - 3] = *x } else { pose.p[c.index()] = *x }
    }
    match turns(model) {
        Turns::None => {}
        Turns::AboutZ => pose.R = Rotation::about_z(Turn::of(angles[2])),
        Turns::Any => pose.R = from_rpy(angles[0], angles[1], angles[2]),
    }
    pose
}

/// Name of a platform coordinate in code: the only angle is called phi.
fn coordinate_name(c: Coordinate, count: usize) -> String {
    let name = ["x", "y", "z", "roll", "pitch", "yaw"][c.index()];
    if c == Coordinate::Rz && count <= 3 { "phi".to_owned() } else { name.to_owned() }
}

/// Two ways to write a model differ by less, by the largest number.
const AGREED: f64 = 1e-8;
/// A pivot of the drives smaller than this, without unit, is no pivot.
const SMALL: f64 = 1e-6;
/// An entry larger than this comes from a force whose unit component vanishes somewhere around home.
const LARGE: f64 = 20.0;

/// Moments are divided by the length scale.
fn scale_rows(model: &Model<f64>, C: &mut Dense<f64>) {
    for (i, c) in model.topology().platform.independent.iter().enumerate() {
        let row = if c.is_angle() { 1.0 / model.length() } else { 1.0 };
        for (j, a) in model.topology().active.iter().enumerate() {
            let col = if model.topology().coords[*a].slides { 1.0 } else { model.length() };
            *C.at_mut(i, j) *= row * col;
        }
    }
}

/// Columns of length one.
fn unit_columns(C: &mut Dense<f64>) {
    for j in 0..C.cols {
        let length = (0..C.rows).map(|i| C.at(i, j).powi(2)).sum::<f64>().sqrt();
        if length > 0.0 {
            (0..C.rows).for_each(|i| *C.at_mut(i, j) /= length);
        }
    }
}

/// Postures of a mode around home that the plans are made for.
pub(super) fn postures(robot: &Robot, mode: &WorkingMode) -> Result<Vec<Positions<f64>>, CodegenError> {
    let model = robot.model();
    let home = crate::kinematics::inverse(model, robot.home().pose(), mode).map_err(CodegenError::Home)?;
    let near = newton::postures_near(model, home.positions());
    let poses = near.iter().map(|pos| pos.X_WE);
    let found = poses.filter_map(|pose| crate::kinematics::inverse(model, &pose, mode).ok());
    let found: Vec<Positions<f64>> = found.map(|p| p.positions().clone()).collect();
    Ok(if found.is_empty() { vec![home.positions().clone()] } else { found })
}

/// Factors of a symmetric definite matrix: `A = L D Lᵀ`, down the diagonal.
pub(super) fn solve_symmetric<S: Real>(A: &Dense<S>, b: &[S]) -> Vec<S> {
    eliminated(A, b).0
}

/// The solution, and the pivots that it divides by.
pub(super) fn eliminated<S: Real>(A: &Dense<S>, b: &[S]) -> (Vec<S>, Vec<S>) {
    let n = b.len();
    let (mut L, mut x) = (A.clone(), b.to_vec());
    let mut reciprocals = Vec::with_capacity(n);
    for k in 0..n {
        let r = L.at(k, k).recip();
        reciprocals.push(r);
        for i in k + 1..n {
            let l = L.at(k, i) * r;
            for j in i..n {
                let y = L.at(k, j);
                *L.at_mut(i, j) -= l * y;
            }
            let y = x[k];
            x[i] -= l * y;
        }
    }
    for k in (0..n).rev() {
        let rest = (k + 1..n).fold(x[k], |sum, j| sum - L.at(k, j) * x[j]);
        x[k] = rest * reciprocals[k];
    }
    (x, (0..n).map(|k| L.at(k, k)).collect())
}

/// Unrolled elimination in a fixed order.
pub(super) fn solve<S: Real>(A: &Dense<S>, order: &PivotOrder, b: &[S]) -> Vec<S> {
    let n = b.len();
    let mut factors: Vec<S> = order.rows.iter().flat_map(|i| order.cols.iter().map(|j| A.at(*i, *j))).collect();
    let mut rhs: Vec<S> = order.rows.iter().map(|i| b[*i]).collect();
    lu(&mut factors, n);
    lu_solve(&factors, n, &mut rhs);
    let mut x = vec![S::zero(); n];
    order.cols.iter().zip(&rhs).for_each(|(j, y)| x[*j] = *y);
    x
}

/// A pose in numbers.
pub(super) fn pose_numbers(model: &Model<f64>, X_WE: &Pose<f64>, form: PoseNumbers) -> Vec<f64> {
    match form {
        PoseNumbers::Matrix => X_WE.p.iter().chain(X_WE.R.0.transpose().iter()).copied().collect(),
        PoseNumbers::Quaternion => X_WE.p.iter().copied().chain(to_quaternion(&X_WE.R)).collect(),
        PoseNumbers::Coordinates => crate::kinematics::platform::independent(model, X_WE),
    }
}

/// A pose a little aside of one, as of an instant before.
fn pose_before(model: &Model<f64>, X_WE: &Pose<f64>, form: PoseNumbers) -> Vec<f64> {
    let aside = |k: usize| 2e-4 * ((3 * k) as f64 + 0.4).sin();
    if form != PoseNumbers::Coordinates {
        let p = X_WE.p + vec3(aside(0), aside(1), aside(2)) * model.length();
        return pose_numbers(model, &Pose { R: from_rpy(aside(3), aside(4), aside(5)) * X_WE.R, p }, form);
    }
    let scale = |k: usize| if model.topology().platform.independent[k].is_angle() { 1.0 } else { model.length() };
    let all = crate::kinematics::platform::independent(model, X_WE);
    all.into_iter().enumerate().map(|(k, x)| x + aside(k) * scale(k)).collect()
}

/// Some body that a platform may carry, of the size of the robot.
fn payload_around(model: &Model<f64>, s: usize) -> [f64; 10] {
    let (m, l) = (0.4 + 0.3 * s as f64, 0.1 * model.length());
    let i = m * l * l;
    [m, 0.3 * l, -0.2 * l, 0.5 * l, 1.1 * i, 0.9 * i, 1.3 * i, 0.1 * i, -0.2 * i, 0.05 * i]
}

/// States around home that generated code is tried on: the inputs, and the pose they are of.
pub(super) fn states(subject: &Subject<'_>, inputs: &[Group]) -> Vec<(Vec<f64>, Pose<f64>)> {
    let robot = subject.robot;
    let near = postures(robot, &subject.mode).unwrap_or_default();
    let parameters = &robot.model().numbers().parameters;
    let state = |(s, pos): (usize, &Positions<f64>)| {
        let mut x = Vec::new();
        for group in inputs {
            // Numbers without a pattern that code could get right by chance.
            let some = |k: usize| 0.9 * ((3 * s + 2 * k) as f64 + 0.7).sin();
            let last = inputs[0].name == "joints";
            let topology = robot.model().topology();
            match group.name.as_str() {
                "joints" => x.extend(topology.active.iter().map(|c| pos.q(topology, *c))),
                "pose" if last => x.extend(pose_before(robot.model(), &pos.X_WE, subject.pose_as)),
                "pose" => x.extend(pose_numbers(robot.model(), &pos.X_WE, subject.pose_as)),
                "payload" => x.extend(payload_around(robot.model(), s)),
                "parameters" => x.extend(subject.symbolic.iter().map(|k| parameters[*k])),
                _ => x.extend((0..group.entries.len()).map(some)),
            }
        }
        (x, pos.X_WE)
    };
    near.iter().take(5).enumerate().map(state).collect()
}
