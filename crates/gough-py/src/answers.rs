//! What goes in and out of the methods of a robot: arrays, names, conditions, answers.

use crate::errors::{Refused, refused};
use crate::rows::Rows;
use gough::dynamics::Sign;
use gough::elastodynamics::Actuators;
use gough::kinematics::{Positions, joint_value};
use gough::model::{CoordId, Model};
use gough::question::{Efforts, words};
use gough::{Error, Inertia, Wrench};
use numpy::{PyArray1, PyArrayMethods as _, PyReadonlyArray2, PyReadwriteArray2};
use pyo3::prelude::*;
use std::collections::BTreeMap;

pub type Array2<'py> = PyReadonlyArray2<'py, f64>;
pub type Out2<'py> = Vec<PyReadwriteArray2<'py, f64>>;
/// Poses, twists, and accelerations or efforts.
pub type States<'py> = (Array2<'py>, Array2<'py>, Array2<'py>);
/// Name, text, files, parameters that were set, drives.
pub type Parts = (String, String, BTreeMap<String, String>, Vec<(String, String)>, Option<String>);
/// Name, value, powers of metre, kilogram and second where the file has units.
pub type Parameter = (String, f64, Option<[i32; 3]>);
/// Two ends, and the number of the leg.
pub type Line = ([f64; 3], [f64; 3], Option<usize>);
/// Every posture that was found, and whether there are no others.
pub type Found<A> = Result2<(Vec<A>, bool)>;
/// Pose of the platform, passive joints, gap, working mode.
pub type Place = (Vec<f64>, Vec<f64>, f64, String);
/// Active and passive joints, gap, working mode.
pub type Standing = (Vec<f64>, Vec<f64>, f64, String);

/// An answer, or a refusal.
pub type Result2<A> = (Option<A>, Option<Refused>);

pub fn result<A>(place: usize, found: Result<A, Error>) -> Result2<A> {
    match found {
        Ok(answer) => (Some(answer), None),
        Err(why) => (None, Some(refused(place, &why))),
    }
}

/// Conditions of a question about forces, in words.
pub struct Loads {
    pub payload: Option<Inertia<f64>>,
    pub wrench: Option<Wrench<f64>>,
    pub friction: Option<Sign>,
}

impl Loads {
    pub fn read(payload: Option<&str>, wrench: Option<&str>, width: Option<f64>) -> Result<Self, Error> {
        let told = |option: &'static str| move |why: String| Error::Question(format!("{option}: {why}"));
        let friction = match width {
            Some(width) if !(width > 0.0 && width.is_finite()) => {
                return Err(Error::Question(format!("friction_width is {width}, not a positive rate")));
            }
            width => width.map(Sign::Smooth),
        };
        Ok(Self {
            payload: payload.map(words::payload).transpose().map_err(told("payload"))?,
            wrench: wrench.map(words::wrench).transpose().map_err(told("wrench"))?,
            friction,
        })
    }
}

pub fn rows<'a>(states: &'a States<'_>, count: usize) -> PyResult<[Rows<'a>; 3]> {
    Ok([Rows::new(&states.0, count)?, Rows::new(&states.1, count)?, Rows::new(&states.2, count)?])
}

pub fn put(model: &Model<f64>, pos: &Positions<f64>, joints: &[CoordId], out: &mut [f64]) {
    out.iter_mut().zip(joints).for_each(|(x, c)| *x = joint_value(model, pos, *c));
}

/// Part `i` of a list of rows of so many numbers.
pub fn part(list: &mut [f64], i: usize, width: usize) -> &mut [f64] {
    &mut list[i * width..][..width]
}

pub fn actuators_named(name: &str) -> Result<Actuators, Error> {
    match name {
        "elastic" => Ok(Actuators::Elastic),
        "locked" => Ok(Actuators::Locked),
        "free" => Ok(Actuators::Free),
        _ => Err(Error::Question(format!("actuators: `{name}` is none of elastic, locked, free"))),
    }
}

/// An answer into row `i` of its arrays.
pub fn write(found: &Efforts, i: usize, out: &mut [&mut [f64]]) {
    let energies = [found.kinetic_energy, found.kinetic_energy_rotors, found.potential_energy, found.condition];
    let none = Vec::new();
    let mut lists: Vec<&[f64]> =
        vec![&found.efforts, &found.efforts_with_friction, &energies, &found.ground_wrench_on_robot];
    for joints in [&found.active, &found.passive] {
        lists.push(&joints.q);
        lists.push(joints.qd.as_ref().unwrap_or(&none));
        lists.push(joints.qdd.as_ref().unwrap_or(&none));
    }
    for (list, out) in lists.into_iter().zip(out) {
        part(out, i, list.len()).copy_from_slice(list);
    }
}

/// A few numbers, copied out of an array.
pub struct Few<const N: usize> {
    all: [f64; N],
    count: usize,
}

impl<const N: usize> Few<N> {
    pub fn numbers(&self) -> &[f64] {
        &self.all[..self.count]
    }
}

/// The numbers of an array with one axis of float64 that lie side by side, at most so many.
pub fn few<const N: usize>(thing: &Bound<'_, PyAny>) -> Option<Few<N>> {
    let array = thing.cast_exact::<PyArray1<f64>>().ok()?;
    // SAFETY: the numbers are copied at once, nothing of Python runs meanwhile, and no reference is kept.
    let numbers = unsafe { array.as_slice() }.ok()?;
    let mut all = [0.0; N];
    all.get_mut(..numbers.len())?.copy_from_slice(numbers);
    Some(Few { all, count: numbers.len() })
}
