//! The answers of the Cartesian method as documents: everything at a posture, and next to the full method.

use super::driver::{Cartesian, PartShare, PlatformModes, RodBending};
use super::plan::Choices;
use crate::description::{RodInertia, VirtualTwists};
use crate::elastodynamics::beam::Mat6;
use crate::elastodynamics::error::ElasticError;
use crate::elastodynamics::plan::{Host, Place};
use crate::elastodynamics::vibration::{SAME_FREQUENCY, Vibration};
use crate::linalg::dense::{Matrix, svd};
use crate::spatial::{Twist, Wrench, vec3};

/// Everything the Cartesian method says of a posture.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct CartesianReport {
    /// `cartesian`.
    pub method: &'static str,
    /// What the drives do.
    pub actuators: &'static str,
    /// Inertia of the rods of parallelograms: `exact` or `lumped`.
    pub rods: &'static str,
    /// Motions against the constraints: `attached`, `null` or `pure`.
    #[serde(rename = "virtual")]
    pub virtual_twists: &'static str,
    /// Frequencies of the robot with rigid links, Hz.
    pub rigid_hz: Vec<f64>,
    /// Twists of the platform that belong to them.
    pub rigid_eigentwists: Vec<[f64; 6]>,
    /// Frequencies with everything that gives way, and with the load where there is one, Hz.
    pub frequencies_hz: Vec<f64>,
    /// ω² of them.
    pub omega2: Vec<f64>,
    /// Twists of the platform that belong to them, the entry of largest size being one.
    pub eigentwists: Vec<[f64; 6]>,
    /// Inertia.
    #[serde(rename = "M")]
    pub M: Mat6<f64>,
    /// Stiffness of the drives alone.
    #[serde(rename = "K_R")]
    pub K_R: Mat6<f64>,
    /// Stiffness of drives, joints and links; of motions that nothing gives way to, only the part that does.
    #[serde(rename = "K_F")]
    pub K_F: Mat6<f64>,
    /// Stiffness of the load.
    #[serde(rename = "K_G")]
    pub K_G: Mat6<f64>,
    /// Number of motions of the platform that something gives way to.
    pub freedoms: usize,
    /// What every part contributes.
    pub parts: Vec<PartShare>,
    /// Links that bend on their own, lowest first.
    pub bending: Vec<RodBending>,
    /// Those that do so below the highest frequency above.
    pub warnings: Vec<String>,
}

impl CartesianReport {
    /// At the posture taken, the lowest `count` modes.
    #[doc(hidden)]
    pub fn new(c: &Cartesian<'_>, load: Option<Wrench<f64>>, count: usize) -> Result<Self, ElasticError> {
        let rigid = c.rigid()?;
        let K_G = load.map(|w| c.loaded(w)).transpose()?;
        let mut modes = c.flexible(K_G.as_ref())?;
        modes.truncate(count);
        let bending = c.bending();
        let Choices { actuators, rods, virtual_twists } = c.plan().choices;
        Ok(Self {
            method: "cartesian",
            actuators: actuators.word(),
            rods: if rods == RodInertia::Exact { "exact" } else { "lumped" },
            virtual_twists: match virtual_twists {
                VirtualTwists::Attached => "attached",
                VirtualTwists::Null => "null",
                VirtualTwists::Pure => "pure",
            },
            rigid_hz: rigid.hz,
            rigid_eigentwists: rigid.twists,
            parts: c.parts(&modes.twists)?,
            warnings: warnings(&modes, &bending),
            frequencies_hz: modes.hz,
            omega2: modes.omega2,
            eigentwists: modes.twists,
            M: c.data().M,
            K_R: c.data().K_R,
            K_F: c.data().K_F,
            K_G: K_G.unwrap_or([[0.0; 6]; 6]),
            freedoms: c.data().B.cols,
            bending,
        })
    }
}

impl PlatformModes {
    /// Only the lowest.
    fn truncate(&mut self, count: usize) {
        self.hz.truncate(count);
        self.omega2.truncate(count);
        self.twists.truncate(count);
    }
}

/// Modes above the bending of a link mix with it in the full method.
fn warnings(modes: &PlatformModes, bending: &[RodBending]) -> Vec<String> {
    let Some(lowest) = bending.first() else { return Vec::new() };
    let above = modes.hz.iter().filter(|f| **f > lowest.hz).count();
    if above == 0 {
        return Vec::new();
    }
    let alike: Vec<&str> = bending.iter().filter(|b| b.hz < lowest.hz * (1.0 + 1e-9)).map(|b| b.of.as_str()).collect();
    vec![format!(
        "{} bends on its own from {:.1} Hz: the {above} mode{} above are not to be relied on; ask --method full",
        alike.join(", "),
        lowest.hz,
        if above == 1 { "" } else { "s" }
    )]
}

/// A mode of the Cartesian method and the mode of the full method that is most like it.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct ModePair {
    /// Number of the mode of the Cartesian method, from 1.
    pub mode: usize,
    /// Its frequency.
    pub cartesian_hz: f64,
    /// Number of the mode of the full method.
    pub full_mode: usize,
    /// Its frequency.
    pub full_hz: f64,
    /// Cartesian over full, less one.
    pub difference: f64,
    /// How alike the motions of the platform are: 1 equal, 0 at right angles; rotations at the length scale of the robot. Modes of
    /// one frequency count together.
    pub mac: f64,
    /// Share of the kinetic energy of the full mode that is this motion of the platform, as the Cartesian method weighs it.
    pub share: f64,
}

/// Share of a mode of the full method from which on it is taken for a motion of the platform.
const GOOD_PART: f64 = 0.3;

/// Most modes of the full method that are looked at.
const MOST_FULL: usize = 120;

/// Both methods side by side: each mode of the Cartesian method and that of the full method whose motion of the platform it is
/// most.
pub fn compare(c: &Cartesian<'_>, modes: &[([f64; 6], f64)], v: &mut Vibration) -> Result<Vec<ModePair>, ElasticError> {
    let full = v.lowest_groups(v.modes().min(MOST_FULL))?.to_vec();
    let moved: Vec<[f64; 6]> = (0..full.len()).map(|k| platform_motion(c, v, k)).collect();
    let M = &c.data().M;
    let form = |a: &[f64; 6], b: &[f64; 6]| -> f64 {
        (0..6).map(|i| a[i] * (0..6).map(|j| M[i][j] * b[j]).sum::<f64>()).sum()
    };
    let l2 = c.model().length().powi(2);
    let plain =
        |a: &[f64; 6], b: &[f64; 6]| -> f64 { (0..6).map(|i| a[i] * b[i] * if i < 3 { 1.0 } else { l2 }).sum() };
    let share = |a: &[f64; 6], b: &[f64; 6]| if form(a, a) > 0.0 { form(a, b).powi(2) / form(a, a) } else { 0.0 };
    // Any mixture of modes of one frequency is a mode: such modes count together.
    let same = |j: usize, k: usize| (full[j].hz - full[k].hz).abs() <= SAME_FREQUENCY * full[k].hz;
    let equal = |k: usize| (0..full.len()).filter(|j| same(*j, k)).collect::<Vec<_>>();
    // High modes of links drag the platform along too: of those that are this motion for a good part, the nearest counts.
    let best = |t: &[f64; 6], hz: f64| {
        let far = |k: usize| if full[k].hz > 0.0 && hz > 0.0 { (full[k].hz / hz).ln().abs() } else { f64::INFINITY };
        let good = (0..full.len()).filter(|k| share(t, &moved[*k]) > GOOD_PART);
        let most = || (0..full.len()).max_by(|a, b| share(t, &moved[*a]).total_cmp(&share(t, &moved[*b])));
        good.min_by(|a, b| far(*a).total_cmp(&far(*b))).or_else(most)
    };
    let pair = |(k, (twist, hz)): (usize, &([f64; 6], f64))| {
        let other = best(twist, *hz)?;
        Some(ModePair {
            mode: k + 1,
            cartesian_hz: *hz,
            full_mode: other + 1,
            full_hz: full[other].hz,
            difference: if full[other].hz > 0.0 { hz / full[other].hz - 1.0 } else { 0.0 },
            mac: likeness(&plain, twist, &equal(other).iter().map(|j| moved[*j]).collect::<Vec<_>>()),
            share: equal(other).iter().map(|j| share(twist, &moved[*j])).sum(),
        })
    };
    Ok(modes.iter().enumerate().filter_map(pair).collect())
}

/// How much of a motion some motions can make up: the square of its projection on them over its own square.
fn likeness(product: &dyn Fn(&[f64; 6], &[f64; 6]) -> f64, t: &[f64; 6], others: &[[f64; 6]]) -> f64 {
    let n = others.len();
    let gram = Matrix::from_fn(n, n, |i, j| product(&others[i], &others[j]));
    let along: Vec<f64> = others.iter().map(|o| product(t, o)).collect();
    let whole = product(t, t);
    let part: f64 = svd(&gram).least_squares(&along).iter().zip(&along).map(|(x, y)| x * y).sum();
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Motion of the platform origin in a mode of the full method, one unit of modal mass: of the platform, or of the node nearest
/// to the tool point.
fn platform_motion(c: &Cartesian<'_>, v: &mut Vibration, mode: usize) -> [f64; 6] {
    let E = c.positions().X_WE.p;
    let shape = v.shape(mode);
    let distance = |p: &[f64; 3]| (vec3(p[0], p[1], p[2]) - E).norm();
    let platform = shape.iter().find(|(place, ..)| *place == Place::Whole(Host::Platform));
    let nearest = || shape.iter().min_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)));
    let Some((_, p, u)) = platform.or_else(nearest) else { return [0.0; 6] };
    Twist::from_array(*u).at(E - vec3(p[0], p[1], p[2])).to_array()
}
