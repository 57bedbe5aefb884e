//! Platform coordinates that follow from the closures: found from home, or from many starts, and numbered.

use super::error::SolveError;
use super::geometry::solve_legs;
use super::inverse::{Posture, at_pose, check_closed, inverse, working_modes_given};
use super::modes::WorkingMode;
use super::newton::{self, CLOSED, Unknowns};
use super::platform::{coordinates, home_pose, pose_with};
use super::positions::{JointPosition, Positions};
use super::ways::{SEED, Standing, grain, scatter, start_near};
use crate::description::Coordinate;
use crate::linalg::dense::{Matrix, null_space};
use crate::linalg::small::Dense;
use crate::model::Model;
use crate::spatial::orientation::wrap;
use crate::spatial::{Mat3, Pose, Turn};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Coordinates of the platform that follow: led from home when the legs stand in the mode there, else looked up.
pub(super) fn follow(model: &Model<f64>, mode: &WorkingMode, pos: &mut Positions<f64>) -> Result<(), SolveError> {
    if mode.follows == 1 && from_home(model, mode, pos) {
        return Ok(());
    }
    let given: Vec<_> = model.topology().plan.given.iter().map(|c| (*c, pos.q(model.topology(), *c))).collect();
    let found = working_modes_given(model, &pos.X_WE, &given)?;
    let Some(posture) = found.iter().find(|p| p.mode == *mode) else {
        let name = |mode: &WorkingMode| mode.name(model.topology());
        return Err(SolveError::NotInMode { mode: name(mode), others: found.iter().map(|p| name(&p.mode)).collect() });
    };
    pos.clone_from(&posture.positions);
    Ok(())
}

/// Where the coordinates that follow lead from home, the legs being in a mode; whether the robot then stands in it.
fn from_home(model: &Model<f64>, mode: &WorkingMode, pos: &mut Positions<f64>) -> bool {
    let Some(mut trial) = led_from_home(model, &mode.signs, pos) else { return false };
    let stands = at_pose(model, mode, &mut trial).is_ok();
    if stands {
        pos.clone_from(&trial);
    }
    stands
}

/// Newton on all closures from the home values of the coordinates that follow and the legs as near as they come.
fn led_from_home(model: &Model<f64>, signs: &[f64], pos: &Positions<f64>) -> Option<Positions<f64>> {
    let mut trial = pos.clone();
    let home = coordinates(model, &home_pose(model));
    let values: Vec<_> = model.topology().platform.dependent.iter().map(|c| (*c, home[c.index()])).collect();
    trial.X_WE = pose_with(model, &pos.X_WE, &values);
    approach(model, signs, &mut trial);
    close_following(model, &mut trial).then_some(trial)
}

/// The posture nearest to home for coordinates that follow, in any mode that leads there from home.
pub(crate) fn nearest_to_home(model: &Model<f64>, pose: &Pose<f64>) -> Option<Posture> {
    let mut pos = Positions::new(model);
    pos.X_WE = *pose;
    let mut starts = following(model, &pos);
    if open_following(model, &starts).is_some() {
        return None;
    }
    starts.sort_by_cached_key(|start| place(model, &start.X_WE));
    let postures = starts.iter().find_map(|start| {
        let mut standing = Standing::new(model, &|_, _| true);
        standing.stand(start);
        (!standing.found.is_empty()).then_some(standing.found)
    })?;
    let led = |p: &Posture| inverse(model, pose, &p.mode).ok().filter(|q| same_pose(model, p.pose(), q.pose()));
    let mut postures = postures;
    postures.sort_by_cached_key(|p| p.mode.name(model.topology()));
    postures.iter().find_map(led)
}

/// Where a pose stands among others: how far it is from home, in sizes and turns, then how it stands as seen from there.
fn place(model: &Model<f64>, pose: &Pose<f64>) -> Vec<i64> {
    let seen = home_pose(model).inverse() * *pose;
    let (p, R) = (seen.p / model.size(), seen.R.0);
    let far = p.norm() + (R - Mat3::identity()).norm();
    [far].iter().chain(p.iter()).chain(R.iter()).copied().map(grain).collect()
}

/// The legs as near as their closed forms come to the pose in `pos`.
pub(super) fn approach(model: &Model<f64>, signs: &[f64], pos: &mut Positions<f64>) {
    solve_legs(model, signs, pos);
    for (c, coord) in model.topology().coords.iter() {
        let joint = &mut pos.joints[c];
        let broken = !(joint.value.is_finite() && joint.turn.cos.is_finite() && joint.turn.sin.is_finite());
        if broken {
            *joint = JointPosition::zero();
        } else if !coord.slides {
            let n = joint.turn.cos.hypot(joint.turn.sin);
            joint.turn =
                if n > 1e-6 { Turn { cos: joint.turn.cos / n, sin: joint.turn.sin / n } } else { Turn::identity() };
        }
    }
}

/// Close all loops from the posture in `pos`, the coordinates that follow being free.
fn close_following(model: &Model<f64>, pos: &mut Positions<f64>) -> bool {
    let asked = coordinates(model, &pos.X_WE);
    let unknowns = Unknowns::inverse(model, &model.topology().plan.given);
    let closed = newton::assemble(model, &unknowns, pos).residual <= CLOSED && check_closed(model, pos).is_ok();
    // Roll and pitch turned by half a turn each are another yaw: not what was asked.
    let found = coordinates(model, &pos.X_WE);
    let kept = |c: &Coordinate| wrap(found[c.index()] - asked[c.index()]).abs() < 1e-6;
    let upright = asked[4].abs() < 1.57;
    closed && (!upright || model.topology().platform.independent.iter().all(kept))
}

/// Random starts of the search for coordinates that follow, and most solutions kept: more are a continuum.
const FOLLOWING_STARTS: usize = 60;
const MOST_FOLLOWING: usize = 24;

/// Coordinates that should follow and take any value instead: as many solutions as are looked for, and each can be left along
/// a motion that the closures do not resist.
pub(super) fn open_following(model: &Model<f64>, found: &[Positions<f64>]) -> Option<SolveError> {
    let unknowns = Unknowns::inverse(model, &model.topology().plan.given);
    let first = unknowns.coords.len();
    let n = first + unknowns.platform.len();
    let open = |pos: &Positions<f64>| -> Vec<Coordinate> {
        let mut a = Dense::zeros(newton::row_count(model, &unknowns), n + 1);
        newton::jacobian(model, &unknowns, model.length(), pos, &mut a);
        let free = null_space(&Matrix::from_fn(a.rows, n, |i, j| a.at(i, j))).1;
        let moves = |j: usize| (0..free.ncols()).any(|k| free[(j, k)].abs() > 1e-6);
        let all = model.topology().platform.dependent.iter().enumerate();
        all.filter(|(j, _)| moves(first + j)).map(|(_, c)| *c).collect()
    };
    let all: Vec<Vec<Coordinate>> = found.iter().filter(|_| found.len() >= MOST_FOLLOWING).map(open).collect();
    let coordinates = all.first()?.clone();
    all.iter().all(|c| !c.is_empty()).then_some(SolveError::OpenFollowing { coordinates })
}

/// All solutions found for the platform coordinates that follow, those in `pos` being given.
pub(super) fn following(model: &Model<f64>, pos: &Positions<f64>) -> Vec<Positions<f64>> {
    let topology = model.topology();
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let home = coordinates(model, &home_pose(model));
    let mut found: Vec<Positions<f64>> = Vec::new();
    for k in 0..FOLLOWING_STARTS {
        let mut trial = pos.clone();
        let value = |c: &Coordinate| {
            let spread = match c {
                Coordinate::Ry => std::f64::consts::FRAC_PI_2,
                c if c.is_angle() => std::f64::consts::PI,
                _ => model.size(),
            };
            // Every other start is at home, where coordinates that follow often stay, with any joints.
            (*c, home[c.index()] + if k % 2 == 0 { 0.0 } else { random.random_range(-spread..spread) })
        };
        let values: Vec<_> = topology.platform.dependent.iter().map(value).collect();
        trial.X_WE = pose_with(model, &pos.X_WE, &values);
        let signs = topology.legs.values().map(|l| l.roots.len()).sum();
        let signs: Vec<f64> = (0..signs).map(|_| if random.random_bool(0.5) { 1.0 } else { -1.0 }).collect();
        approach(model, &signs, &mut trial);
        if k % 2 == 0 {
            let all = Unknowns::inverse(model, &topology.plan.given).coords;
            scatter(model, &all, &mut random, &mut trial);
            if k == 0 {
                start_near(model, &all, &mut trial);
            }
        }
        let closed = close_following(model, &mut trial);
        if closed && found.len() < MOST_FOLLOWING && !found.iter().any(|f| same_pose(model, &f.X_WE, &trial.X_WE)) {
            found.push(trial);
        }
    }
    found
}

/// Whether two poses are one.
pub(super) fn same_pose(model: &Model<f64>, a: &Pose<f64>, b: &Pose<f64>) -> bool {
    (a.p - b.p).norm() < 1e-6 * model.size() && (a.R.0 - b.R.0).norm() < 1e-6
}

/// Number postures that differ in the coordinates that follow only: first the one led from home, then by distance.
pub(super) fn number_following(model: &Model<f64>, pos: &Positions<f64>, postures: &mut [Posture]) {
    postures.sort_by_cached_key(|p| place(model, p.pose()));
    let mut leads: Vec<(Vec<f64>, Option<Pose<f64>>)> = Vec::new();
    let mut done: Vec<WorkingMode> = Vec::new();
    for i in 0..postures.len() {
        let mode = postures[i].mode.following(1);
        if done.contains(&mode) {
            continue;
        }
        let known = leads.iter().find(|(signs, _)| *signs == mode.signs).map(|(_, pose)| *pose);
        let led = known.unwrap_or_else(|| led_from_home(model, &mode.signs, pos).map(|led| led.X_WE));
        leads.push((mode.signs.clone(), led));
        let is_led = |p: &Posture| led.is_some_and(|pose| same_pose(model, &pose, p.pose()));
        let any = postures.iter().any(|p| p.mode.is_like(&mode) && is_led(p));
        let mut next = 1 + usize::from(any);
        for posture in postures.iter_mut().filter(|p| p.mode.is_like(&mode)) {
            if is_led(posture) {
                posture.mode.follows = 1;
            } else {
                posture.mode.follows = next;
                next += 1;
            }
        }
        done.push(mode);
    }
}
