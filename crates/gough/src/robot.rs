//! A robot ready to be asked: its file read, its model compiled, its home posture closed and its claims checked.

use crate::description::{
    BadRobot, ClosureJoint, Coordinate, Coordinates, Description, Diagnostic, Fault, Options, Span, read,
};
use crate::kinematics::newton::{self, CLOSED, PlatformMotion, Unknowns};
use crate::kinematics::platform::home_pose;
use crate::kinematics::{
    JointPosition, Positions, Posture, SolveError, WorkingMode, assemblies, closure, inverse, nearest_to_home,
    working_modes,
};
use crate::linalg::dense::{Matrix, Svd, svd};
use crate::linalg::small::Dense;
use crate::model::{CoordId, LegId, LegPivots, Model};
use crate::spatial::Inertia;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A compiled robot.
#[derive(Clone, Debug)]
pub struct Robot {
    model: Model<f64>,
    home: Posture,
    mobility: Mobility,
    remarks: Vec<Diagnostic>,
    name: String,
    text: String,
}

/// What the closures leave of a robot, counted by rank at a closed posture.
#[derive(Clone, PartialEq, Debug)]
pub struct Mobility {
    /// Scalar closure equations.
    pub rows: usize,
    /// How many of them are independent.
    pub rank: usize,
    /// Degrees of freedom of the robot, idle ones included.
    pub degrees: usize,
    /// Degrees of freedom of the platform.
    pub platform: usize,
    /// Equations beyond the independent ones.
    pub overconstraint: usize,
    /// Freedoms that move neither platform nor motors: the joints that take part in each.
    pub idle: Vec<Vec<String>>,
    /// Freedoms that remain when the motors are held, idle ones not counted.
    pub not_actuated: usize,
}

impl Robot {
    /// Read and compile a robot file. `name` is how the file is called in messages.
    pub fn from_toml(name: &str, text: &str, options: &Options<'_>, actuation: Option<&str>) -> Result<Self, BadRobot> {
        let bad = |faults| BadRobot { name: name.to_owned(), text: text.to_owned(), faults };
        let (description, mut remarks) = read(text, options).map_err(bad)?;
        let model = Model::new(description, actuation).map_err(bad)?;
        let compiled = compile(model).map_err(bad)?;
        let (model, home, mobility) = compiled;
        remarks.extend(mobility_remarks(&model, &mobility));
        Ok(Self { model, home, mobility, remarks, name: name.to_owned(), text: text.to_owned() })
    }

    /// The model.
    pub fn model(&self) -> &Model<f64> {
        &self.model
    }

    /// The same robot with a payload on its platform, see [`Model::carrying`].
    pub fn carrying(mut self, payload: Inertia<f64>) -> Self {
        self.model = self.model.carrying(payload);
        self
    }

    /// The home posture, in the working mode of the file.
    pub fn home(&self) -> &Posture {
        &self.home
    }

    /// The working mode of the file, or the one nearest to its `near` joints, or the first that reaches the home pose.
    pub fn mode(&self) -> &WorkingMode {
        self.home.mode()
    }

    /// Degrees of freedom by rank.
    pub fn mobility(&self) -> &Mobility {
        &self.mobility
    }

    /// What is worth knowing and no fault.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }

    /// Name of the file or shipped robot.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }
}

type Compiled = (Model<f64>, Posture, Mobility);

fn compile(model: Model<f64>) -> Result<Compiled, Vec<Diagnostic>> {
    check_attached(&model)?;
    let model = match assembled(&model) {
        Some((pos, free, idle)) => {
            let determined = determined(&model, &pos, free);
            let given = &model.topology().plan.given;
            let wrong = given.iter().any(|c| determined.contains(c));
            let model = if idle.is_empty() && !wrong { model } else { model.replanned(&idle, &determined) };
            with_pivots(model, &pos)
        }
        None => model,
    };
    let home = home_posture(&model).map_err(|d| vec![d])?;
    if !newton::closes(&model, home.positions()) {
        return Err(vec![turned_home(&model)]);
    }
    let model = if reaching_closes(&model, &home) { model } else { model.made_careful() };
    let postures = newton::postures_near(&model, home.positions());
    let (mobility, generic) = mobility(&model, &postures);
    check_claim(&model, &postures, &generic, &mobility).map_err(|d| vec![d])?;
    let model = with_leg_pivots(model, &postures);
    let matrices = crate::kinematics::matrices::plan(&model, &postures);
    let model = model.with_matrix_plan(matrices);
    Ok((model, home, mobility))
}

/// The platform, every leg and every drive must be tied to something that moves with them.
fn check_attached(model: &Model<f64>) -> Result<(), Vec<Diagnostic>> {
    let topology = model.topology();
    let unattached = |body: &str, at: Span| Diagnostic::new(Fault::Unattached { body: body.to_owned() }, at);
    if !newton::platform_is_attached(model) {
        return Err(vec![unattached("platform", topology.platform.span)]);
    }
    let mut moving: Vec<CoordId> = Vec::new();
    for side in topology.closures.values().flat_map(|c| c.sides) {
        closure::movers(model, side, None, &mut |c, _, _| moving.push(c));
    }
    let loose = |c: &CoordId| !moving.contains(c);
    let legs = topology.legs.values().filter(|l| !l.coords.is_empty() && l.coords.iter().all(|c| loose(&c)));
    let first_of_legs = legs.filter_map(|l| l.coords.iter().next());
    let drives = topology.active.iter().copied().filter(loose);
    let mut faults: Vec<CoordId> = drives.chain(first_of_legs).collect();
    faults.sort_unstable();
    faults.dedup();
    let fault = |c: &CoordId| {
        let name = &topology.coords[*c].name;
        unattached(name, span_of_joint(model.description(), name))
    };
    if faults.is_empty() { Ok(()) } else { Err(faults.iter().map(fault).collect()) }
}

/// A closed posture, how many idle freedoms it has, and the coordinates of those that the robot has everywhere: of each leg the
/// fewest at several postures, since a loop may be folded so that it turns freely.
fn assembled(model: &Model<f64>) -> Option<(Positions<f64>, usize, Vec<CoordId>)> {
    let mut found: Vec<(Positions<f64>, Vec<CoordId>)> = Vec::new();
    for seed in 0..6 {
        let Some(pos) = assemble_somewhere(model, seed) else { break };
        let idle = idle_coords(model, &pos);
        let none = idle.is_empty();
        found.push((pos, idle));
        if none {
            break;
        }
    }
    // Home is rarely folded, where closed forms can tell.
    let closed_form = model.topology().plan.inverse.iter().all(|b| b.newton_coords().is_empty());
    if closed_form
        && found.iter().all(|(_, idle)| !idle.is_empty())
        && let Ok(home) = home_posture(model)
        && newton::closes(model, home.positions())
    {
        let pos = home.positions().clone();
        let idle = idle_coords(model, &pos);
        found.push((pos, idle));
    }
    let of_leg = |idle: &[CoordId], leg: LegId| -> Vec<CoordId> {
        idle.iter().copied().filter(|c| model.topology().coords[*c].leg == leg).collect()
    };
    let fewest = |leg: LegId| found.iter().map(|(_, idle)| of_leg(idle, leg)).min_by_key(Vec::len).unwrap_or_default();
    let everywhere = model.topology().legs.ids().flat_map(fewest).collect();
    let (pos, idle) = found.into_iter().min_by_key(|(_, idle)| idle.len())?;
    Some((pos, idle.len(), everywhere))
}

/// Active coordinates that do not move while the platform is held, at some posture around a closed one.
fn determined(model: &Model<f64>, pos: &Positions<f64>, idle: usize) -> Vec<CoordId> {
    let unknowns = Unknowns { platform: Vec::new(), ..Unknowns::all(model) };
    let n = unknowns.coords.len();
    let open_at = |pos: &Positions<f64>| svd(&closure_columns(model, &unknowns, pos)).null_space();
    let spaces = newton::postures_near(model, pos).into_iter().map(|pos| open_at(&pos));
    let Some(open) = spaces.min_by_key(Matrix::ncols) else { return Vec::new() };
    let moves = |j: usize| open.ncols() > idle && (0..open.ncols()).any(|k| open[(j, k)].abs() > 1e-6);
    let is_active = |c: &CoordId| model.topology().active.contains(c);
    (0..n).filter(|j| !moves(*j)).map(|j| unknowns.coords[j]).filter(is_active).collect()
}

/// One coordinate for every freedom that moves neither platform nor motors at any posture around a closed one, such as the
/// spin of a rod: those that take part most, so that the others still reach everywhere.
fn idle_coords(model: &Model<f64>, pos: &Positions<f64>) -> Vec<CoordId> {
    let topology = model.topology();
    let passive: Vec<CoordId> = topology.passive.clone();
    let unknowns =
        Unknowns { coords: passive.clone(), closures: topology.closures.ids().collect(), ..Unknowns::default() };
    let idle_at = |pos: &Positions<f64>| svd(&closure_columns(model, &unknowns, pos)).null_space();
    let spaces = newton::postures_near(model, pos).into_iter().map(|pos| idle_at(&pos));
    let Some(idle) = spaces.min_by_key(Matrix::ncols) else { return Vec::new() };
    let mut rows = Dense::zeros(idle.ncols(), passive.len());
    (0..idle.ncols()).for_each(|i| (0..passive.len()).for_each(|j| *rows.at_mut(i, j) = idle[(j, i)]));
    let order = crate::linalg::small::PivotOrder::of(&rows, passive.len(), crate::linalg::RANK_TOLERANCE);
    order.cols.iter().map(|j| passive[*j]).collect()
}

/// Pivots of every leg at the posture where they are best; legs of one make share one order where it serves all of them.
fn with_leg_pivots(model: Model<f64>, postures: &[Positions<f64>]) -> Model<f64> {
    let worst = |pivots: &LegPivots, leg: LegId, pos: &Positions<f64>| newton::smallest_pivot(&model, leg, pivots, pos);
    let topology = model.topology();
    let mut chosen: Vec<LegPivots> = Vec::new();
    for leg in topology.legs.ids() {
        let best = postures
            .iter()
            .map(|pos| {
                let own = newton::leg_pivots(&model, leg, pos);
                (own.cols.len(), worst(&own, leg, pos), pos, own)
            })
            .max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let Some((_, size, pos, own)) = best else { continue };
        // An order that an earlier leg has, when it is nearly as good here.
        let same_size = |p: &&LegPivots| p.cols.len() == own.cols.len() && p.place.len() == own.place.len();
        let shared = chosen.iter().filter(same_size).find(|p| worst(p, leg, pos) > 0.1 * size).cloned();
        chosen.push(shared.unwrap_or(own));
    }
    let chosen = chosen.into_iter().collect();
    model.with_leg_pivots(chosen)
}

/// Whether, at poses around home, legs that reach also close every loop; then the loops need no look of their own.
fn reaching_closes(model: &Model<f64>, home: &Posture) -> bool {
    let mut random = Pcg64Mcg::seed_from_u64(4);
    let at = crate::kinematics::platform::coordinates(home.pose());
    (0..20).all(|_| {
        let change = |c: &Coordinate| {
            let spread = if c.is_angle() { 0.3 } else { 0.3 * model.size() };
            (*c, at[c.index()] + random.random_range(-spread..spread))
        };
        let given: Vec<(Coordinate, f64)> = model.topology().platform.independent.iter().map(change).collect();
        let pose = crate::kinematics::platform::pose_with(home.pose(), &given);
        inverse(model, &pose, home.mode()).map_or(true, |p| newton::closes(model, p.positions()))
    })
}

/// Pivot orders of legs without closed form, from a posture that closes.
fn with_pivots(model: Model<f64>, pos: &Positions<f64>) -> Model<f64> {
    let plan = &model.topology().plan;
    let whole = newton::pivot_order(&model, &Unknowns::inverse(&model, &plan.given), pos);
    let pivots = plan
        .inverse
        .iter()
        .map(|block| match &block.method {
            crate::model::Method::Newton { coords } => {
                newton::pivot_order(&model, &Unknowns::of_leg(&model, block.leg, coords), pos)
            }
            crate::model::Method::Chain { .. } => crate::linalg::small::PivotOrder::default(),
        })
        .collect();
    model.with_pivots(pivots, whole)
}

/// Any closed posture near the home pose and the `near` joints, every joint and the platform's own freedoms being free.
/// Seed 0 starts there, others aside.
fn assemble_somewhere(model: &Model<f64>, seed: u64) -> Option<Positions<f64>> {
    let mut random = Pcg64Mcg::seed_from_u64(1 + seed);
    let mut start = Positions::new(model);
    start.X_WE = home_pose(model);
    for (c, value) in near(model) {
        start.joints[c] = JointPosition::of(value);
    }
    for k in 0..80 {
        let mut pos = start.clone();
        if k > 0 || seed > 0 {
            let spread = f64::from((k + 5).min(20)) * 0.1;
            for (c, coord) in model.topology().coords.iter() {
                let scale = if coord.slides { model.size() } else { 1.0 };
                let at = if coord.slides { pos.joints[c].value } else { pos.joints[c].turn.angle() };
                pos.joints[c] = JointPosition::of(at + scale * random.random_range(-spread..spread));
            }
        }
        let mut unknowns = Unknowns::forward(model);
        unknowns.coords = model.topology().coords.ids().collect();
        let outcome = newton::assemble(model, &unknowns, &mut pos);
        if outcome.residual <= CLOSED && newton::closes(model, &pos) {
            return Some(pos);
        }
    }
    None
}

/// The `near` joints of the file.
fn near(model: &Model<f64>) -> Vec<(CoordId, f64)> {
    let list = &model.description().near;
    list.iter().filter_map(|(name, value)| Some((model.topology().coord(&name.text)?, value.value))).collect()
}

/// The home posture: at the pose of the file, or wherever the robot assembles near its `near` joints.
fn home_posture(model: &Model<f64>) -> Result<Posture, Diagnostic> {
    let d = model.description();
    let (pose, span) = match &d.home {
        Some((_, span)) => (home_pose(model), *span),
        None => match assemble_at_near(model).or_else(|| assemble_somewhere(model, 0).map(|pos| pos.X_WE)) {
            Some(pose) => (pose, d.platform.span),
            None => return Err(open_loop(model, None)),
        },
    };
    if let Some((texts, at)) = &d.mode {
        let mode = WorkingMode::parse(model.topology(), texts).map_err(|e| {
            let what = Fault::BadMode { mode: texts.join(","), reason: e.to_string() };
            Diagnostic::new(what, *at)
        })?;
        return inverse(model, &pose, &mode).map_err(|e| unreachable_home(model, &e, span));
    }
    let wanted = near(model);
    if model.topology().plan.solve_platform
        && wanted.is_empty()
        && let Some(posture) = nearest_to_home(model, &pose)
    {
        return Ok(posture);
    }
    let postures = working_modes(model, &pose).map_err(|e| unreachable_home(model, &e, span))?;
    let distance = |p: &Posture| -> f64 {
        let off = |(c, value): &(CoordId, f64)| {
            let q = p.joints(model, &[*c])[0];
            let slides = model.topology().coords[*c].slides;
            let d = if slides { (q - value) / model.size() } else { crate::spatial::orientation::wrap(q - value) };
            d * d
        };
        // Coordinates that follow are as near to home as the joints allow.
        let aside = (p.pose().p - pose.p).norm() / model.size() + (p.pose().R.0 - pose.R.0).norm();
        wanted.iter().map(off).sum::<f64>() + 1e-6 * aside
    };
    let best = postures.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    best.ok_or_else(|| open_loop(model, Some(span)))
}

/// The pose of the first assembly mode when `near` gives every active joint.
fn assemble_at_near(model: &Model<f64>) -> Option<crate::spatial::Pose<f64>> {
    let near = near(model);
    let active: Option<Vec<f64>> =
        model.topology().active.iter().map(|c| near.iter().find(|(n, _)| n == c).map(|(_, v)| *v)).collect();
    let found = assemblies(model, &active?, &WorkingMode::first(model.topology())).ok()?;
    found.postures.first().map(|p| *p.pose())
}

/// Why the home pose of the file cannot be taken.
fn unreachable_home(model: &Model<f64>, error: &SolveError, span: Span) -> Diagnostic {
    if let SolveError::OutOfRange { joint, value, range } = error {
        let what = Fault::HomeOutOfRange { joint: joint.clone(), value: *value, range: *range };
        return Diagnostic::new(what, span_of_joint(model.description(), joint));
    }
    if let SolveError::NotClosed { .. } = error {
        return turned_home(model);
    }
    let open = open_loop(model, Some(span));
    match open.what {
        Fault::LoopNotClosed { gap_m, gap_rad, .. } if gap_m < 1e-9 * model.size().max(1.0) && gap_rad < 1e-9 => {
            Diagnostic::new(Fault::BadHome { reason: error.to_string() }, span)
        }
        _ => open,
    }
}

/// The legs reach their places at home but do not close the loops: usually the platform is turned the wrong way.
fn turned_home(model: &Model<f64>) -> Diagnostic {
    let span = model.description().home.as_ref().map_or(model.topology().platform.span, |(_, span)| *span);
    let mut start = Positions::new(model);
    start.X_WE = home_pose(model);
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let turning = Unknowns { platform: (3..6).map(PlatformMotion::Axis).collect(), ..Unknowns::all(model) };
    let turned = (0..20).find_map(|_| {
        let mut pos = start.clone();
        for (c, coord) in model.topology().coords.iter() {
            let scale = if coord.slides { model.size() } else { 1.0 };
            pos.joints[c] = JointPosition::of(scale * random.random_range(-2.0..2.0));
        }
        let closed = newton::assemble(model, &turning, &mut pos).residual <= CLOSED && newton::closes(model, &pos);
        closed.then(|| crate::spatial::orientation::to_rpy(&pos.X_WE.R).map(f64::to_degrees))
    });
    let near = match turned {
        Some([roll, pitch, yaw]) => format!("they would with roll {roll:.3}, pitch {pitch:.3}, yaw {yaw:.3} deg"),
        None => "the platform may be turned the wrong way, or out of the plane of its legs".to_owned(),
    };
    let reason = format!("the legs reach, but the loops do not close with this orientation; {near}");
    Diagnostic::new(Fault::BadHome { reason }, span)
}

/// The loop that stays open the most, when the platform is held at home and everything else may move.
fn open_loop(model: &Model<f64>, at: Option<Span>) -> Diagnostic {
    let mut pos = Positions::new(model);
    pos.X_WE = home_pose(model);
    for (c, value) in near(model) {
        pos.joints[c] = JointPosition::of(value);
    }
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let unknowns = if at.is_some() { Unknowns::inverse(model, &[]) } else { Unknowns::all(model) };
    let mut best: Option<(f64, Positions<f64>)> = None;
    for k in 0..20 {
        let mut trial = pos.clone();
        if k > 0 {
            for (c, coord) in model.topology().coords.iter() {
                let scale = if coord.slides { model.size() } else { 1.0 };
                trial.joints[c] = JointPosition::of(scale * random.random_range(-2.0..2.0));
            }
        }
        let outcome = newton::assemble(model, &unknowns, &mut trial);
        if best.as_ref().is_none_or(|(r, _)| outcome.residual < *r) {
            best = Some((outcome.residual, trial));
        }
    }
    let pos = best.map_or(pos, |(_, p)| p);
    let worst = model
        .topology()
        .closures
        .iter()
        .map(|(id, c)| (closure::closure_gap(model, id, &pos), c))
        .max_by(|a, b| (a.0.0 / model.size() + a.0.1).total_cmp(&(b.0.0 / model.size() + b.0.1)));
    let ((gap_m, gap_rad), closure) = worst.map_or(((0.0, 0.0), None), |(g, c)| (g, Some(c)));
    let name = closure.map_or_else(|| "the platform".to_owned(), |c| c.name.clone());
    let span = at.or_else(|| closure.map(|c| c.span)).unwrap_or_default();
    Diagnostic::new(Fault::LoopNotClosed { closure: name, gap_m, gap_rad }, span)
}

/// Closure Jacobian over some unknowns, scaled.
fn closure_columns(model: &Model<f64>, unknowns: &Unknowns, pos: &Positions<f64>) -> Matrix {
    let n = unknowns.coords.len() + unknowns.platform.len();
    let mut a = Dense::zeros(newton::row_count(model, unknowns), n + 1);
    newton::jacobian(model, unknowns, model.length(), pos, &mut a);
    Matrix::from_fn(a.rows, n, |i, j| a.at(i, j))
}

/// The same over all joints and all motions of the platform.
fn full_jacobian(model: &Model<f64>, pos: &Positions<f64>) -> (Matrix, Unknowns) {
    let unknowns = Unknowns::all(model);
    (closure_columns(model, &unknowns, pos), unknowns)
}

/// Mobility at the posture of the highest rank; freedoms that motors do not hold only count when no posture holds them.
fn mobility(model: &Model<f64>, postures: &[Positions<f64>]) -> (Mobility, Positions<f64>) {
    let mut best: Option<(Mobility, Positions<f64>)> = None;
    let mut not_actuated = usize::MAX;
    for pos in postures {
        let found = mobility_at(model, pos);
        not_actuated = not_actuated.min(found.not_actuated);
        if best
            .as_ref()
            .is_none_or(|(b, _)| found.rank > b.rank || (found.rank == b.rank && found.idle.len() < b.idle.len()))
        {
            best = Some((found, pos.clone()));
        }
    }
    let (mut mobility, pos) = best.expect("there is a home posture");
    mobility.not_actuated = not_actuated;
    (mobility, pos)
}

fn mobility_at(model: &Model<f64>, pos: &Positions<f64>) -> Mobility {
    let (a, unknowns) = full_jacobian(model, pos);
    let f = svd(&a);
    let (rows, rank) = (a.nrows(), f.rank());
    let degrees = a.ncols() - rank;
    let platform = svd(&platform_motions(&f, unknowns.coords.len())).rank();
    // Motors held: their columns leave. Platform held too: what still moves is idle.
    let topology = model.topology();
    let passive: Vec<usize> =
        (0..unknowns.coords.len()).filter(|j| !topology.active.contains(&unknowns.coords[*j])).collect();
    let held: Vec<usize> = passive.iter().copied().chain(unknowns.coords.len()..a.ncols()).collect();
    let pick = |columns: &[usize]| svd(&Matrix::from_fn(rows, columns.len(), |i, j| a[(i, columns[j])]));
    let (inner, locked) = (pick(&passive), pick(&held));
    let idle_space = inner.null_space();
    let idle = (0..idle_space.ncols())
        .map(|k| {
            let size = |j: usize| idle_space[(j, k)].abs();
            let largest = (0..passive.len()).map(size).fold(0.0, f64::max);
            let moving = (0..passive.len()).filter(|j| size(*j) > 1e-6 * largest);
            moving.map(|j| topology.coords[unknowns.coords[passive[j]]].name.clone()).collect()
        })
        .collect::<Vec<Vec<String>>>();
    let not_actuated = (held.len() - locked.rank()).saturating_sub(idle.len());
    Mobility { rows, rank, degrees, platform, overconstraint: rows - rank, idle, not_actuated }
}

/// Platform rows of the null space of the closures: how the platform can move.
fn platform_motions(f: &Svd, coords: usize) -> Matrix {
    let n = f.null_space();
    Matrix::from_fn(n.nrows() - coords, n.ncols(), |i, j| n[(coords + i, j)])
}

/// The platform must move as the file claims, no more and no less.
fn check_claim(
    model: &Model<f64>,
    postures: &[Positions<f64>],
    generic: &Positions<f64>,
    mobility: &Mobility,
) -> Result<(), Diagnostic> {
    let platform = &model.topology().platform;
    let claimed = describe_coordinates(&platform.coordinates);
    let fail =
        |found: String| Err(Diagnostic::new(Fault::FalseClaim { claimed: claimed.clone(), found }, platform.span));
    let motions_at = |pos: &Positions<f64>| {
        let (a, unknowns) = full_jacobian(model, pos);
        platform_motions(&svd(&a), unknowns.coords.len())
    };
    let dependent = matches!(platform.coordinates, Coordinates::Some(_));
    // Small motions that follow from others (x and y of a 3-PRS) count where coordinates may follow.
    let looked_at = if dependent { postures } else { std::slice::from_ref(generic) };
    let seen: Vec<Matrix> = looked_at.iter().map(motions_at).collect();
    let moves = |i: usize| seen.iter().any(|m| (0..m.ncols()).any(|j| m[(i, j)].abs() > 1e-6));
    let claims = |i: usize| platform.independent.iter().any(|c| c.index() == i);
    let names = ["x", "y", "z", "rotation about x", "rotation about y", "rotation about z"];
    let named = |which: &dyn Fn(usize) -> bool| -> Vec<&str> {
        (0..seen[0].nrows()).filter(|i| which(*i)).map(|i| names[i]).collect()
    };
    let (all, missing) = (named(&moves), named(&|i| claims(i) && !moves(i)));
    let extra = if dependent { Vec::new() } else { named(&|i| moves(i) && !claims(i)) };
    let (found, wanted) = (mobility.platform, platform.independent.len());
    let mut says = Vec::new();
    if !missing.is_empty() {
        says.push(format!("the closures do not let it move in {}", list(&missing)));
    }
    if !extra.is_empty() {
        says.push(format!("the closures also let it move in {}", list(&extra)));
    }
    if says.is_empty() && found != wanted {
        says.push(format!("the closures leave it {found} freedoms, not {wanted} (it moves in: {})", list(&all)));
    }
    if !says.is_empty() {
        return fail(says.join("; "));
    }
    // The listed coordinates must be able to change independently of each other, at some posture around home.
    let rank_at = |pos: &Positions<f64>| {
        let motions = motions_at(pos);
        let rates = Matrix::from_fn(wanted, motions.ncols(), |i, j| {
            coordinate_rate(&platform.independent, i, pos, &motions, j)
        });
        svd(&rates).s.iter().filter(|s| **s > 1e-6).count()
    };
    let rank = postures.iter().map(rank_at).max().unwrap_or(0);
    if rank < wanted {
        return fail(format!(
            "only {rank} of these {wanted} coordinates can change independently (it moves in: {})",
            list(&all)
        ));
    }
    Ok(())
}

/// Rate of an independent coordinate for a motion of the platform: angles are roll, pitch, yaw.
fn coordinate_rate(independent: &[Coordinate], i: usize, pos: &Positions<f64>, motions: &Matrix, j: usize) -> f64 {
    let c = independent[i];
    if !c.is_angle() || motions.nrows() < 6 {
        return motions[(c.index().min(motions.nrows() - 1), j)];
    }
    let [roll, pitch, yaw] = crate::spatial::orientation::to_rpy(&pos.X_WE.R);
    let D = crate::spatial::orientation::Sequence::ZYX.rates([yaw, pitch, roll]);
    let w = nalgebra::Vector3::new(motions[(3, j)], motions[(4, j)], motions[(5, j)]);
    let rates = D.try_inverse().map_or(w, |inv| inv * w); // yaw, pitch, roll
    rates[5 - c.index()]
}

fn describe_coordinates(c: &Coordinates) -> String {
    let names = |list: &[Coordinate]| {
        let word = |c: &Coordinate| ["x", "y", "z", "rx", "ry", "rz"][c.index()];
        list.iter().map(word).collect::<Vec<_>>().join(", ")
    };
    match c {
        Coordinates::Spatial => "all six coordinates".to_owned(),
        Coordinates::Planar => "x, y and the angle about z only".to_owned(),
        Coordinates::Translation => "x, y, z without turning".to_owned(),
        Coordinates::Point(l) | Coordinates::Some(l) => format!("the independent coordinates {}", names(l)),
    }
}

fn list(words: &[&str]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

fn mobility_remarks(model: &Model<f64>, mobility: &Mobility) -> Vec<Diagnostic> {
    let span = |joint: &str| span_of_joint(model.description(), joint);
    let mut remarks: Vec<Diagnostic> = mobility
        .idle
        .iter()
        .map(|joints| {
            let at = joints.first().map_or_else(Span::default, |j| span(j));
            let joint = format!("a freedom of joints {}", joints.join(", "));
            let instead = instead(model, joints);
            Diagnostic::new(Fault::IdleFreedom { joint, instead }, at)
        })
        .collect();
    if mobility.not_actuated > 0 {
        let drives = model.topology().active.len();
        let degrees = mobility.degrees - mobility.idle.len();
        let singular = Fault::SingularArchitecture { degrees, drives };
        let what = if drives < degrees { Fault::NotActuated { degrees, drives } } else { singular };
        remarks.push(Diagnostic::new(what, model.topology().platform.span));
    }
    remarks
}

/// What to write in place of joints that leave an idle freedom.
fn instead(model: &Model<f64>, joints: &[String]) -> String {
    let spherical = model.topology().closures.values().any(|c| c.joint == ClosureJoint::Spherical);
    let three = joints.iter().any(|j| j.ends_with(".3"));
    if spherical && three {
        "write U in place of one S joint of that rod".to_owned()
    } else {
        "take one of these joints away, or write it as fixed".to_owned()
    }
}

fn span_of_joint(d: &Description, joint: &str) -> Span {
    let name = joint.split('.').next().unwrap_or(joint);
    d.bodies.iter().find(|b| b.name.text == name).map_or_else(Span::default, |b| b.name.span)
}
