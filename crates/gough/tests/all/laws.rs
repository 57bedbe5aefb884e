//! What holds for any robot at any state, asked of robots that are drawn at random ([`super::draw`]): loops close, the
//! geometry goes there and back, efforts and energies are those of first principles ([`super::plain`]), accelerations follow
//! from efforts, every road gives one answer, generated code too, and how a robot is written down changes nothing.
#![allow(dead_code)]

use super::draw::{Chance, Frame, Sketch, Style, apply};
use super::plain::{Plain, Stand};
use gough::Robot;
use gough::analysis::singularity::singularities;
use gough::codegen::{self, Language, ModelKind};
use gough::description::{Coordinate, ReadOptions};
use gough::dynamics::{Dynamics, InverseDynamics, direct_dynamics, inverse_dynamics};
use gough::kinematics::platform::{coordinates, pose_with};
use gough::kinematics::{Posture, SolveError, forward, inverse, working_modes};
use gough::spatial::{Pose, Vec3};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A law that does not hold.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Which.
    pub law: &'static str,
    /// What was found.
    pub what: String,
    /// The robot file it was found with.
    pub text: String,
}

/// What was asked and what became of it.
#[derive(Clone, Default, Debug)]
pub struct Tally {
    pub drawn: usize,
    pub built: usize,
    /// Robots that the library refused, by the first fault.
    pub refused: BTreeMap<String, usize>,
    /// States at which efforts were compared.
    pub states: usize,
    /// States without an answer, by the kind of refusal.
    pub unanswered: BTreeMap<String, usize>,
    /// How often each law was asked.
    pub asked: BTreeMap<&'static str, usize>,
    /// Longest time of one state, and its robot.
    pub slowest: (Duration, u64),
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list =
            |map: &BTreeMap<String, usize>| map.iter().map(|(k, n)| format!("{k} {n}")).collect::<Vec<_>>().join(", ");
        let asked = self.asked.iter().map(|(k, n)| format!("{k} {n}")).collect::<Vec<_>>().join(", ");
        writeln!(f, "{} robots drawn, {} built; refused: {}", self.drawn, self.built, list(&self.refused))?;
        writeln!(f, "{} states; no answer at: {}", self.states, list(&self.unanswered))?;
        writeln!(f, "laws asked: {asked}")?;
        write!(f, "slowest state {:.3} s, seed {}", self.slowest.0.as_secs_f64(), self.slowest.1)
    }
}

/// Longest time for the questions about one state.
const LONGEST: Duration = Duration::from_mins(1);

/// Where the plain computation has pivots between these, the library may call the posture singular or not.
const SURELY_SINGULAR: f64 = 1e-9;
const SURELY_REGULAR: f64 = 1e-4;
/// Inertia goes with the square of the pivots: farther from a singularity than this, accelerations have the three digits without
/// which they are refused.
const NEARLY_SINGULAR: f64 = 3e-2;
/// Slides that have run out by so many sizes of the robot make lever arms at which the plain computation loses ranks.
const FAR: f64 = 1e3;

/// Draws a robot and asks every law of it.
pub fn check(seed: u64, states: usize, tally: &mut Tally) -> Result<(), Broken> {
    let sketch = Sketch::draw(seed);
    let text = sketch.write(&sketch.plainly());
    tally.drawn += 1;
    let robot = match Robot::from_toml("drawn", &text, &ReadOptions::default(), None) {
        Ok(robot) => robot,
        Err(bad) => {
            let fault = bad.faults.first().map_or_else(String::new, |d| format!("{:?}", d.what));
            let word = fault.split([' ', '(']).next().unwrap_or_default().to_owned();
            *tally.refused.entry(word).or_default() += 1;
            return Ok(());
        }
    };
    tally.built += 1;
    let mut asked = Asked { robot: &robot, tally, chance: Chance::new(seed ^ 0xABCD), seed };
    asked.all(&sketch, states).map_err(|(law, what)| {
        // What is invariant breaks in the other style.
        let other = || sketch.write(&sketch.restyled(&mut Chance::new(seed ^ 0xABCD)).1);
        let text = if law == "invariance" { other() } else { text };
        Broken { law, what: format!("{}: {what}", sketch.words()), text }
    })
}

type Outcome = Result<(), (&'static str, String)>;

struct Asked<'a> {
    robot: &'a Robot,
    tally: &'a mut Tally,
    chance: Chance,
    seed: u64,
}

/// A posture and a motion with what they take.
struct State {
    posture: Posture,
    t: Vec<f64>,
    td: Vec<f64>,
    found: InverseDynamics,
    /// Accelerations under the efforts that were found, by the plain computation.
    under: Vec<f64>,
    /// How well posed it is: the smallest pivot of the plain computation.
    pivot: f64,
}

fn differ(found: &[f64], wanted: &[f64], tolerance: f64, least: f64) -> bool {
    let scale = wanted.iter().fold(least, |m, x| m.max(x.abs()));
    found.len() != wanted.len() || found.iter().zip(wanted).any(|(a, b)| !((a - b).abs() <= tolerance * scale))
}

impl Asked<'_> {
    fn all(&mut self, sketch: &Sketch, states: usize) -> Outcome {
        let style = sketch.restyled(&mut self.chance);
        let other = Robot::from_toml("drawn", &sketch.write(&style.1), &ReadOptions::default(), None);
        if let Err(bad) = &other {
            let what = bad.faults.first().map_or_else(String::new, |d| d.what.to_string());
            return Err(("invariance", format!("in another {} the robot is refused: {what}", style.0)));
        }
        let mut told = Vec::new();
        for k in 0..states {
            let began = Instant::now();
            if let Some(state) = self.state(k)? {
                self.is_like(sketch, &style.1, style.0, other.as_ref().ok(), &state)?;
                self.roads(&state)?;
                if k < 2 {
                    self.balance(&state)?;
                    self.there_and_back(&state)?;
                    self.power(&state)?;
                    self.singularity_is_one(&state.posture, None)?;
                }
                told.push(state);
            }
            let took = began.elapsed();
            if took > self.tally.slowest.0 {
                self.tally.slowest = (took, self.seed);
            }
            if took > LONGEST {
                return Err(("time", format!("{:.1} s for one state", took.as_secs_f64())));
            }
        }
        self.code(&told)?;
        self.program(&told)?;
        self.home_is_the_drawn_one()
    }

    fn ask(&mut self, law: &'static str) {
        *self.tally.asked.entry(law).or_default() += 1;
    }

    /// Home stands where it was drawn: at the `near` joints.
    fn home_is_the_drawn_one(&mut self) -> Outcome {
        self.ask("home");
        let model = self.robot.model();
        for (name, wanted) in &model.description().near {
            let Some(c) = model.topology().coord(&name.text) else { continue };
            let leg = &model.topology().legs[model.topology().coords[c].leg];
            let idle = model.topology().bodies.slice(leg.bodies).iter().any(|b| b.held);
            // Angles of a U or S have two values for one place, and idle freedoms stand at zero.
            if idle || name.text.contains('.') {
                continue;
            }
            let q = self.robot.home().joints(model, &[c])[0];
            let off = q - wanted.value;
            let off = if model.topology().coords[c].slides { off / model.size() } else { (off * 0.5).sin() };
            if off.abs() > 1e-6 {
                return Err(("home", format!("{} is at {q}, drawn at {}", name.text, wanted.value)));
            }
        }
        Ok(())
    }

    /// A state around home, held against first principles; home itself is the first.
    fn state(&mut self, k: usize) -> Result<Option<State>, (&'static str, String)> {
        let (robot, model) = (self.robot, self.robot.model());
        let posture = if k == 0 {
            robot.home().clone()
        } else {
            let pose = self.pose_near_home();
            match inverse(model, &pose, robot.mode()) {
                Ok(posture) => posture,
                Err(e) => {
                    *self.tally.unanswered.entry(e.kind().to_owned()).or_default() += 1;
                    return Ok(None);
                }
            }
        };
        let slid = |c: &gough::model::CoordId| {
            model.topology().coords[*c].slides && posture.joints(model, &[*c])[0].abs() > FAR * model.size()
        };
        if model.topology().coords.ids().any(|c| slid(&c)) {
            *self.tally.unanswered.entry("far away".to_owned()).or_default() += 1;
            return Ok(None);
        }
        self.ask("closure");
        let plain = Plain::new(model.description(), &Stand::of(model, &posture));
        if !(plain.gap < 1e-8 * model.size().max(1.0)) {
            return Err(("closure", format!("open by {:e}", plain.gap)));
        }
        let mut any = |c: &Coordinate| self.chance.between(-1.0, 1.0) * if c.is_angle() { 1.0 } else { model.size() };
        let own = &model.topology().platform.independent;
        let (t, td): (Vec<f64>, Vec<f64>) = (own.iter().map(&mut any).collect(), own.iter().map(&mut any).collect());
        let wanted = plain.inverse(&t, &td);
        let pivot = wanted.pivots.into_iter().fold(1.0, f64::min);
        let found = match inverse_dynamics(model, &posture, &t, &td) {
            Ok(found) => found,
            Err(e) => {
                self.singularity_is_one(&posture, Some(wanted.pivots))?;
                let efforts: Vec<f64> =
                    model.topology().active.iter().map(|_| self.chance.between(-1.0, 1.0)).collect();
                let moves = wanted.pivots[0].min(wanted.pivots[1]);
                if moves > SURELY_REGULAR {
                    self.accelerations(&plain, &posture, (&t, &efforts), [moves, wanted.inertia_pivot])?;
                }
                *self.tally.unanswered.entry(e.kind().to_owned()).or_default() += 1;
                if pivot > SURELY_REGULAR {
                    let at = robot.coordinates_of(posture.pose());
                    let what = format!("refused ({e}) where pivots are {:?}, at {at:?}", wanted.pivots);
                    return Err(("first principles", what));
                }
                return Ok(None);
            }
        };
        self.ask("first principles");
        if wanted.pivots[1].min(wanted.pivots[2]) < SURELY_SINGULAR {
            return Err(("first principles", format!("answered where pivots are {:?}", wanted.pivots)));
        }
        let tolerance = 1e-10 / pivot.powi(2);
        let report = |what: &str, a: &[f64], b: &[f64]| {
            Err(("first principles", format!("{what} {a:?}, wanted {b:?}, pivots {:?}", wanted.pivots)))
        };
        // Rates are compared first: efforts follow from them.
        let fastest = wanted.rates.values().fold(pivot.recip(), |most, rate| most.max(rate[0].abs()));
        for (c, coord) in model.topology().coords.iter() {
            let (a, b) = ([found.motion.rates[c], found.motion.accels[c]], wanted.rates[&coord.name]);
            // Rates grow with a small pivot, what changes them with the squares of all rates, and a pivot divides that again.
            let tolerances = [tolerance, tolerance.max(1e-13 * fastest.powi(2) / pivot)];
            if (0..2).any(|k| differ(&a[k..=k], &b[k..=k], tolerances[k], 1.0)) {
                return report(&coord.name, &a, &b);
            }
        }
        let unit = wanted.energies.iter().map(|x| x.abs()).sum::<f64>() / model.size().max(1.0);
        if differ(&found.efforts, &wanted.efforts, tolerance, unit) {
            return report("efforts", &found.efforts, &wanted.efforts);
        }
        let energies = [found.kinetic_energy, found.kinetic_energy_rotors, found.potential_energy];
        if differ(&energies, &wanted.energies, tolerance, 1e-9) {
            return report("energies", &energies, &wanted.energies);
        }
        let other: Vec<f64> = wanted.efforts.iter().map(|x| 0.7 * x + unit).collect();
        self.accelerations(&plain, &posture, (&t, &other), [pivot, wanted.inertia_pivot])?;
        self.tally.states += 1;
        let under = plain.direct(&t, &found.efforts);
        Ok(Some(State { posture, t, td, found, under, pivot }))
    }

    /// Accelerations under any efforts, whether the drives hold the robot or not.
    fn accelerations(
        &mut self,
        plain: &Plain,
        posture: &Posture,
        (t, efforts): (&[f64], &[f64]),
        [pivot, inertia_pivot]: [f64; 2],
    ) -> Outcome {
        if inertia_pivot <= 1e-5 {
            return Ok(());
        }
        self.ask("accelerations");
        let wanted = plain.direct(t, efforts);
        let at = format!("inertia {inertia_pivot:e}, pivot {pivot:e}");
        match direct_dynamics(self.robot.model(), posture, t, efforts) {
            Ok((found, _)) if !differ(&found, &wanted, 1e-10 / pivot.powi(2) / inertia_pivot, 1.0) => Ok(()),
            Ok((found, _)) => Err(("first principles", format!("accelerations {found:?}, wanted {wanted:?}, {at}"))),
            Err(SolveError::HardlyMoves { .. }) if pivot < NEARLY_SINGULAR => {
                *self.tally.unanswered.entry("ddm near-singular".to_owned()).or_default() += 1;
                Ok(())
            }
            Err(e) => Err(("first principles", format!("ddm refused ({e}), {at}"))),
        }
    }

    fn pose_near_home(&mut self) -> Pose<f64> {
        let (robot, model) = (self.robot, self.robot.model());
        let at = coordinates(model, robot.home().pose());
        let mut change = |c: &Coordinate| {
            let spread = if c.is_angle() { 0.1 } else { 0.05 * model.size() };
            (*c, at[c.index()] + self.chance.between(-spread, spread))
        };
        let given: Vec<(Coordinate, f64)> = model.topology().platform.independent.iter().map(&mut change).collect();
        pose_with(model, robot.home().pose(), &given)
    }

    /// The road without allocation and the one with everything; accelerations back from efforts.
    fn roads(&mut self, state: &State) -> Outcome {
        self.ask("roads");
        let (model, posture) = (self.robot.model(), &state.posture);
        if !model.topology().plan.given.is_empty() {
            return Ok(());
        }
        let tolerance = 1e-10 / state.pivot.powi(2);
        let mut memory = Dynamics::new(model);
        match memory.inverse(model, posture.pose(), posture.mode(), &state.t, &state.td, None) {
            Ok(fast) if differ(fast, &state.found.efforts, tolerance, 1e-6) => {
                return Err(("roads", format!("fast {fast:?}, long {:?}", state.found.efforts)));
            }
            Ok(_) => {}
            Err(e) => return Err(("roads", format!("the fast road refuses: {e}"))),
        }
        let efforts = &state.found.efforts;
        let fast = memory.direct(model, posture.pose(), posture.mode(), &state.t, efforts, None).map(<[f64]>::to_vec);
        let long = direct_dynamics(model, posture, &state.t, efforts).map(|(td, _)| td);
        let digits = (1e-8 / state.pivot.powi(2)).max(1e-2);
        for (road, found) in [("fast", fast), ("long", long)] {
            match found {
                Ok(td) if state.pivot > NEARLY_SINGULAR && differ(&td, &state.td, 1e-6 / state.pivot.powi(2), 1.0) => {
                    let at = format!("wanted {:?}, pivot {:e}", state.td, state.pivot);
                    return Err(("there and back", format!("accelerations, {road} road: {td:?}, {at}")));
                }
                // Efforts near a singularity have lost digits, and what they do is far from the motion; an answer to these very
                // efforts has two digits at least, or there is none; the plain computation loses its own with the square of the pivot.
                Ok(td) if differ(&td, &state.under, (1e-6 / state.pivot.powi(2)).min(digits), 1.0) => {
                    let at = format!("wanted {:?}, pivot {:e}", state.under, state.pivot);
                    return Err(("first principles", format!("accelerations, {road} road: {td:?}, {at}")));
                }
                Ok(_) | Err(SolveError::NoInertia { .. }) => {}
                Err(SolveError::HardlyMoves { .. }) if state.pivot < NEARLY_SINGULAR => {}
                Err(e) => {
                    let at = format!("pivot {:e}, moved with {:?} at {:?}", state.pivot, state.td, posture.pose());
                    return Err(("there and back", format!("ddm, {road} road, refuses what idm answers: {e}; {at}")));
                }
            }
        }
        Ok(())
    }

    /// Efforts that hold the platform at rest leave it at rest: accelerations that are nothing are an answer too.
    fn balance(&mut self, state: &State) -> Outcome {
        let (model, posture) = (self.robot.model(), &state.posture);
        if !model.topology().plan.given.is_empty() || state.pivot < NEARLY_SINGULAR {
            return Ok(());
        }
        self.ask("balance");
        let none = vec![0.0; state.t.len()];
        let held = match inverse_dynamics(model, posture, &none, &none) {
            Ok(held) => held.efforts,
            Err(e) => return Err(("balance", format!("idm refuses at rest what it answers in motion: {e}"))),
        };
        let mut memory = Dynamics::new(model);
        let fast = memory.direct(model, posture.pose(), posture.mode(), &none, &held, None).map(<[f64]>::to_vec);
        let long = direct_dynamics(model, posture, &none, &held).map(|(td, _)| td);
        for (road, found) in [("fast", fast), ("long", long)] {
            match found {
                Ok(td) if differ(&td, &none, 1e-6 / state.pivot.powi(2), 1.0) => {
                    return Err(("balance", format!("{road} road: {td:?}, pivot {:e}", state.pivot)));
                }
                Ok(_) | Err(SolveError::NoInertia { .. }) => {}
                Err(e) => return Err(("balance", format!("{road} road refuses: {e}; pivot {:e}", state.pivot))),
            }
        }
        Ok(())
    }

    /// Every branch of the pose closes, and its drives lead back to the pose.
    fn there_and_back(&mut self, state: &State) -> Outcome {
        let model = self.robot.model();
        if !model.topology().plan.given.is_empty() {
            return Ok(());
        }
        self.ask("branches");
        let all = match working_modes(model, state.posture.pose()) {
            Ok(all) => all,
            Err(e) => return Err(("branches", format!("no mode at all: {e}"))),
        };
        let single = |c: &gough::model::CoordId| !model.topology().coords[*c].name.contains('.');
        let stands = |p: &Posture| {
            model.topology().coords.ids().filter(single).all(|c| {
                let (a, b) = (p.joints(model, &[c])[0], state.posture.joints(model, &[c])[0]);
                let slides = model.topology().coords[c].slides;
                (if slides { (a - b) / model.size() } else { ((a - b) * 0.5).sin() }).abs() < 1e-5
            })
        };
        if all.len() < 60 && !all.iter().any(stands) {
            return Err(("branches", "the posture is not among the modes of its pose".to_owned()));
        }
        for posture in all.iter().take(8) {
            let (m, rad) = posture.gap(model);
            if !(m < 1e-8 * model.size().max(1.0) && rad < 1e-8) {
                return Err(("branches", format!("mode {} is open by {m:e}", posture.mode().name(model.topology()))));
            }
            let active = posture.joints(model, &model.topology().active);
            let Ok(back) = forward(model, &active, posture) else { continue };
            let off = (back.pose().p - posture.pose().p).norm() / model.size();
            let turned = (back.pose().R.0 - posture.pose().R.0).norm();
            if off + turned > 1e-6 {
                return Err(("branches", format!("the drives of a mode lead {off:e}, {turned:e} away")));
            }
        }
        Ok(())
    }

    /// What the drives give is what the energy gains, by differences along the motion.
    fn power(&mut self, state: &State) -> Outcome {
        let model = self.robot.model();
        if state.pivot < 1e-2 || !model.topology().plan.given.is_empty() {
            return Ok(());
        }
        self.ask("power");
        let h = 1e-5;
        let (V, A) = (state.found.motion.V_WE, state.found.motion.A_WE);
        let energy = |s: f64| {
            let mut X = *state.posture.pose();
            X.p += V.v * s + A.a * (0.5 * s * s);
            let w: Vec3<f64> = V.w * s + A.alpha * (0.5 * s * s);
            let angle = w.norm();
            if angle > 0.0 {
                X.R = gough::spatial::orientation::from_axis_angle(w / angle, angle) * X.R;
            }
            let later: Vec<f64> = state.t.iter().zip(&state.td).map(|(v, a)| v + a * s).collect();
            let posture = inverse(model, &X, state.posture.mode()).ok()?;
            let e = inverse_dynamics(model, &posture, &later, &state.td).ok()?;
            Some(e.kinetic_energy + e.kinetic_energy_rotors + e.potential_energy)
        };
        let gains = |h: f64| Some(((energy(h)? - energy(-h)?) / (2.0 * h), energy(h)?));
        let (Some((far, a)), Some((near, _))) = (gains(h), gains(0.5 * h)) else { return Ok(()) };
        let gained = (4.0 * near - far) / 3.0;
        let drives = model.topology().active.iter().zip(&state.found.efforts);
        let parts: Vec<f64> = drives.map(|(c, tau)| state.found.motion.rates[*c] * tau).collect();
        let scale = parts.iter().map(|x| x.abs()).sum::<f64>() + a.abs();
        let power: f64 = parts.iter().sum();
        // Differences that do not agree among themselves tell nothing: the energy bends too much.
        let bent = (near - far).abs() > 1e-3 * scale;
        if !bent && (gained - power).abs() > 1e-4 * scale / state.pivot {
            return Err(("power", format!("drives give {power}, the energy gains {gained}")));
        }
        Ok(())
    }

    /// The questions about singularity have one answer.
    fn singularity_is_one(&mut self, posture: &Posture, refused: Option<[f64; 3]>) -> Outcome {
        self.ask("singularity");
        let report = singularities(self.robot.model(), posture);
        if report.list.iter().any(|s| s.sigma.is_nan() || s.distance.is_nan()) {
            return Err(("singularity", "a sigma or distance is no number".to_owned()));
        }
        let least = report.list.iter().map(|s| s.sigma).fold(f64::INFINITY, f64::min);
        match refused {
            Some(pivots)
                if !report.is_singular()
                    && report.undefined.is_empty()
                    && pivots.iter().any(|p| *p < SURELY_SINGULAR) =>
            {
                Err((
                    "singularity",
                    format!("idm refuses, `singularities` says regular ({least:e}); pivots {pivots:?}"),
                ))
            }
            None if report.list.iter().any(|s| s.singular && s.kind == gough::kinematics::Kind::Type2) => {
                Err(("singularity", "idm answers, `singularities` says Type 2".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The same robot written otherwise answers the same.
    fn is_like(&mut self, sketch: &Sketch, style: &Style, what: &str, other: Option<&Robot>, state: &State) -> Outcome {
        let Some(other) = other else { return Ok(()) };
        self.ask("invariance");
        let (here, there) = (self.robot.model(), other.model());
        let _ = sketch;
        let pose = moved(state.posture.pose(), style);
        let rotated = |v: Vec3<f64>| Vec3::from(apply(style.world.R, v.into()));
        let (V, A) = (state.found.motion.V_WE, state.found.motion.A_WE);
        let s = style.scale;
        let six = |v: Vec3<f64>, w: Vec3<f64>| -> Vec<f64> {
            (rotated(v) * s).iter().chain(rotated(w).iter()).copied().collect()
        };
        let (v6, a6) = (six(V.v, V.w), six(A.a, A.alpha));
        let pick =
            |all: &[f64]| there.topology().platform.independent.iter().map(|c| all[c.index()]).collect::<Vec<f64>>();
        let fail = |text: String| Err(("invariance", format!("in another {what}: {text}")));
        let posture = match inverse(there, &pose, other.mode()) {
            Ok(posture) => posture,
            Err(e) => return fail(format!("no posture: {e}")),
        };
        let found = match inverse_dynamics(there, &posture, &pick(&v6), &pick(&a6)) {
            Ok(found) => found,
            Err(e) => return fail(format!("no efforts: {e}")),
        };
        let name = |model: &gough::model::Model<f64>, c| model.topology().coords[c].name.clone();
        let mut wanted = Vec::new();
        for &c in &there.topology().active {
            let own = name(there, c).replacen(style.prefix, "b", 1);
            let Some(k) = here.topology().active.iter().position(|h| name(here, *h) == own) else {
                return fail(format!("drive {own} is missing"));
            };
            let slides = there.topology().coords[c].slides;
            wanted.push(state.found.efforts[k] * if slides { s } else { s * s });
        }
        let tolerance = 1e-9 / state.pivot.powi(2);
        let redundant = wanted.len() > there.topology().platform.independent.len();
        let differs = if redundant && s != 1.0 {
            // The shortest of many efforts depends on the unit of length where forces and torques share; what they give not.
            let power = |model: &gough::model::Model<f64>, of: &InverseDynamics| -> f64 {
                model.topology().active.iter().zip(&of.efforts).map(|(c, tau)| tau * of.motion.rates[*c]).sum()
            };
            differ(&[power(there, &found)], &[power(here, &state.found) * s * s], tolerance, s * s)
        } else {
            differ(&found.efforts, &wanted, tolerance, 1e-6 * s)
        };
        if differs {
            return fail(format!("efforts {:?}, wanted {wanted:?}, pivot {:e}", found.efforts, state.pivot));
        }
        Ok(())
    }

    /// Programs, as machine code and over blocks of states, against the general road: efforts, and accelerations back from them.
    fn program(&mut self, states: &[State]) -> Outcome {
        if states.is_empty() {
            return Ok(());
        }
        self.ask("program");
        for kind in [ModelKind::Idm, ModelKind::Ddm] {
            let program = match self.robot.program_by_matrix(kind, states[0].posture.mode(), false) {
                Ok(program) => program,
                Err(e) if e.kind() == "disagrees" => return Err(("program", e.to_string())),
                Err(e) => {
                    *self.tally.unanswered.entry(format!("program {}", e.kind())).or_default() += 1;
                    return Ok(());
                }
            };
            for state in states.iter().filter(|s| s.posture.mode() == states[0].posture.mode()) {
                let pose = state.posture.pose();
                let other = if kind == ModelKind::Idm { &state.td } else { &state.found.efforts };
                let R = pose.R.0.transpose();
                let row: Vec<f64> = pose.p.iter().chain(R.iter()).chain(&state.t).chain(other).copied().collect();
                let (fast, long) = (program.answers(&row, |_| true), program.general(&row));
                let tolerance = 1e-11 / state.pivot.powi(2);
                let name = kind.name();
                match (fast, long) {
                    (Ok(fast), Ok(long)) if fast.refused.is_empty() => {
                        let mut blocks = vec![0.0; long.len()];
                        let mut left = false;
                        program.run_in_blocks(1, |_, x| x.copy_from_slice(&row), &mut blocks, |_| left = true);
                        let differs = |x: &[f64]| differ(x, &long, tolerance, 1e-3);
                        if program.one_by_one().answer(&row) != Ok(&fast.values[..]) {
                            return Err(("program", format!("{name}: a state alone is not what it is among others")));
                        }
                        if differs(&fast.values) || (!left && differs(&blocks)) {
                            let at = format!("pivot {:e}, moved with {:?}, row {row:?}", state.pivot, state.td);
                            let what =
                                format!("{name}: {:?}, in blocks {blocks:?}, long road {long:?}, {at}", fast.values);
                            return Err(("program", what));
                        }
                    }
                    (Ok(fast), Err(long)) if fast.refused.len() == 1 && fast.refused[0].why.kind() == long.kind() => {}
                    (fast, long) => return Err(("program", format!("{name}: {fast:?}, long road {long:?}"))),
                }
            }
        }
        Ok(())
    }

    /// Generated code at the states.
    fn code(&mut self, states: &[State]) -> Outcome {
        if !self.seed.is_multiple_of(4) || states.is_empty() {
            return Ok(());
        }
        self.ask("code");
        match codegen::generate(self.robot, &codegen::CodeOptions::new(ModelKind::Idm, Language::C)) {
            Ok(code) => {
                if code.vectors.iter().flat_map(|(x, y)| x.iter().chain(y)).any(|x| !x.is_finite()) {
                    return Err(("code", "a number of the emitted test is not finite".to_owned()));
                }
                Ok(())
            }
            Err(e) if e.kind() == "disagrees" => Err(("code", e.to_string())),
            Err(e) => {
                *self.tally.unanswered.entry(format!("code {}", e.kind())).or_default() += 1;
                Ok(())
            }
        }
    }
}

/// A pose in another style.
fn moved(X: &Pose<f64>, style: &Style) -> Pose<f64> {
    let R = X.R.0;
    let at = Frame { R: [0, 1, 2].map(|i| [0, 1, 2].map(|j| R[(i, j)])), p: X.p.into() };
    let at = style.world.then(at);
    let R = gough::spatial::Mat3::from_fn(|i, j| at.R[i][j]);
    Pose { R: gough::spatial::Rotation(R), p: Vec3::from(at.p) * style.scale }
}
