//! Closed forms of chains: one file each, which says how joints are recognised, what is decided once on `f64`, which
//! constants the form needs, and how the joints follow from where the chain must end.
//!
//! A chain ends in joints that turn about a centre fixed on the end body. The forms before the centre bring it to its place,
//! one after the other, each taking the next joints; those from the centre on follow from the rotation. A new form is a file
//! that implements [`ClosedForm`] and [`FormLimits`], and a line of the list below; forms are tried in the order of the list.

mod chain_numbers;
mod view;
mod walk;

pub(crate) use chain_numbers::ChainNumbers;
pub(super) use chain_numbers::centre_point;
pub(crate) use view::View;
pub(super) use view::{HingedBar, Recognised};
pub use walk::{ChainWalk, JointPosition, Slot};

use super::chain::Edge;
use super::plan::Root;
use crate::scalar::Real;
use crate::spatial::Vec3;

/// A form with constants in a scalar.
pub(crate) trait ClosedForm<S: Real>: Sized {
    /// How many joints it takes.
    const TAKES: usize;
    /// Whether it turns the end body and leaves the centre where it is.
    const ORIENTS: bool = false;

    /// The signs of a working mode that it needs, in the order in which they are taken.
    fn roots(_recipe: &Recipe) -> Vec<Root> {
        Vec::new()
    }

    /// Whether it solves the joints from `at` on, before the centre.
    fn recognise(_view: &View<'_>, _at: usize) -> Option<Recipe> {
        None
    }

    /// Its constants.
    fn new(chain: &ChainNumbers<'_, S>, recipe: &Recipe) -> Self;

    /// Solve its joints and step behind them. Square roots leave their discriminants in the margins; nothing is compared.
    fn reach(&self, walk: &mut ChainWalk<'_, S>);
}

/// What a form on `f64` tells about its limits. A form without a square root has none.
pub(crate) trait FormLimits {
    /// What its discriminant is small beside.
    fn scale(&self, _size: f64) -> f64 {
        0.0
    }

    /// By how many metres a target, seen from its first joint, is too far or too near.
    fn missing(&self, _target: Vec3<f64>) -> f64 {
        0.0
    }

    /// What it leaves of the platform with its motor held, when that is known; `point` is the target on the platform.
    fn locked(&self, _held: &Held<'_>, _point: Vec3<f64>) -> Option<Locked> {
        None
    }
}

/// What a leg with held motors leaves of the platform.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Locked {
    /// The platform point keeps its distance from a fixed point.
    Rod {
        /// The fixed point, in the world.
        centre: Vec3<f64>,
        /// The point on the platform.
        point: Vec3<f64>,
        /// The distance.
        length: f64,
    },
    /// The platform point stays in a plane.
    Plane {
        /// Normal, in the world.
        normal: Vec3<f64>,
        /// Its distance from the world origin along the normal.
        offset: f64,
        /// The point on the platform.
        point: Vec3<f64>,
    },
}

/// Joints of a leg whose motors are held.
pub(crate) struct Held<'a> {
    /// Positions of its coordinates.
    pub(crate) joints: &'a [JointPosition<f64>],
    /// Which of its coordinates have a motor.
    pub(crate) is_active: &'a dyn Fn(usize) -> bool,
}

impl Held<'_> {
    /// Turn of a joint whose motor is held.
    fn turn(&self, slot: &Slot) -> Option<crate::spatial::Turn<f64>> {
        let c = slot.coord.filter(|c| (self.is_active)(*c))?;
        let turn = self.joints[c].turn;
        Some(if slot.sign > 0.0 { turn } else { turn.inverse() })
    }

    /// Slide of a joint whose motor is held.
    fn slide(&self, slot: &Slot) -> Option<f64> {
        let c = slot.coord.filter(|c| (self.is_active)(*c))?;
        Some(self.joints[c].value * slot.sign)
    }
}

/// A form chosen for joints of a chain, with what was decided about it once, on `f64`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Recipe {
    /// The form.
    pub form: Form,
    /// First joint it takes.
    pub at: usize,
    /// The side of its foot that a slide stands on, where that is no working mode.
    pub sign: Option<f64>,
    /// Which of two ways to point is meant.
    pub flip: f64,
    /// Whether the other way to point is a posture of its own, and so a working mode.
    pub mode: bool,
    /// The hinge that joins the opposite bar of a parallelogram to the end body.
    pub hinge: Option<Edge>,
}

impl Recipe {
    /// A form that leaves nothing to be decided.
    pub(super) fn of(form: Form, at: usize) -> Self {
        Self { form, at, sign: None, flip: 1.0, mode: false, hinge: None }
    }
}

/// The list of forms, in the order in which they are tried.
macro_rules! forms {
    ($($file:ident: $name:ident, $what:literal;)*) => {
        $(mod $file;)*
        $(pub use $file::$name;)*

        /// A closed form, by name.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Form {
            $(#[doc = $what] $name,)*
        }

        /// Every form, in the order in which they are tried.
        const FORMS: &[Form] = &[$(Form::$name),*];

        /// A form with its constants.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Step<S: Real> {
            $(#[doc = $what] $name($name<S>),)*
        }

        impl Form {
            /// Whether it solves the joints from `at` on, before the centre.
            fn recognise(self, view: &View<'_>, at: usize) -> Option<Recipe> {
                match self { $(Form::$name => <$name<f64> as ClosedForm<f64>>::recognise(view, at),)* }
            }

            /// Whether it turns the end body and leaves the centre where it is.
            pub(super) fn orients(self) -> bool {
                match self { $(Form::$name => <$name<f64> as ClosedForm<f64>>::ORIENTS,)* }
            }
        }

        impl Recipe {
            /// How many joints it takes.
            pub fn takes(&self) -> usize {
                match self.form { $(Form::$name => <$name<f64> as ClosedForm<f64>>::TAKES,)* }
            }

            /// The signs of a working mode that it needs, in the order in which they are taken.
            pub fn roots(&self) -> Vec<Root> {
                match self.form { $(Form::$name => <$name<f64> as ClosedForm<f64>>::roots(self),)* }
            }

            /// The form with its constants in a chain.
            pub(super) fn step<S: Real>(&self, chain: &ChainNumbers<'_, S>) -> Step<S> {
                match self.form { $(Form::$name => Step::$name(<$name<S> as ClosedForm<S>>::new(chain, self)),)* }
            }
        }

        impl<S: Real> Step<S> {
            /// Its constants in another scalar, number by number, always in the same order.
            pub fn map<T: Real>(&self, f: &mut dyn FnMut(S) -> T) -> Step<T> {
                match self { $(Step::$name(form) => Step::$name(form.map(f)),)* }
            }

            /// Solve its joints and step behind them.
            #[inline(always)]
            pub fn reach(&self, walk: &mut ChainWalk<'_, S>) {
                match self { $(Step::$name(form) => form.reach(walk),)* }
            }
        }

        impl Step<f64> {
            /// Below this the discriminant is zero to rounding: two solutions meet, or a joint turns freely.
            pub fn least_margin(&self, size: f64) -> f64 {
                1e-14 * match self { $(Step::$name(form) => form.scale(size),)* }
            }

            /// By how many metres a target, seen from its first joint, is too far or too near.
            pub(crate) fn missing(&self, target: Vec3<f64>) -> f64 {
                match self { $(Step::$name(form) => form.missing(target),)* }
            }

            /// What it leaves of the platform with its motor held, when that is known.
            pub(crate) fn locked(&self, held: &Held<'_>, point: Vec3<f64>) -> Option<Locked> {
                match self { $(Step::$name(form) => form.locked(held, point),)* }
            }
        }
    };
}

forms! {
    pass: Pass, "A joint whose coordinate is known.";
    aim: Aim, "R: a point onto a point.";
    slide: Slide, "P: along its axis.";
    reach_parallel: ReachParallel, "R R of a dyad that completes a parallelogram.";
    reach_rr: ReachRR, "R R with parallel axes: two circles.";
    reach_rp: ReachRP, "R P: a strut in the plane.";
    reach_pr: ReachPR, "P R: a slider with a link in the plane.";
    reach_pp: ReachPP, "P P: two slides in the plane.";
    point: Point, "R R with crossing axes: a vector onto a vector.";
    strut: Strut, "R R with crossing axes and a P: a strut in space.";
    rod_p: RodP, "P that brings the first ball of a rod to the rod's length from the second.";
    rod_r: RodR, "R that brings the first ball of a rod to the rod's length from the second.";
    orient1: Orient1, "R from a rotation.";
    orient2: Orient2, "R R from a rotation.";
    orient3: Orient3, "R R R from a rotation.";
}

/// Square of the part across z.
fn planar<S: Real>(v: Vec3<S>) -> S {
    v.x * v.x + v.y * v.y
}

/// By how much a distance is outside of what two links reach.
fn outside(r: f64, l1: f64, l2: f64) -> f64 {
    (r - (l1 + l2)).max((l1 - l2).abs() - r).max(0.0)
}
