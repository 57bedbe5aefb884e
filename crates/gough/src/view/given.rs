//! What is put into a page when it is written: the robot, and what is computed beforehand.

use super::film::Film;
use super::portrait::Portrait;
use super::session::Session;
use crate::kinematics::WorkingMode;
use crate::question::{Error, MapAnswer, PostureAnswer};
use crate::robot::{Robot, Source};
use serde::Serialize;

/// What a page is given.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct PageContent {
    /// What the robot is made of.
    pub source: Source,
    /// What a page without the library shows of it.
    pub portrait: Portrait,
    /// How it stands, the one to begin with first.
    pub postures: Vec<GivenPosture>,
    /// Coordinates of the platform to begin with; home unless given.
    pub at: Option<Vec<f64>>,
    /// Working mode to begin with.
    pub mode: String,
    /// A motion to play.
    pub motion: Option<Film>,
    /// A map to show.
    pub map: Option<MapAnswer>,
}

/// A posture that is put into a page.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct GivenPosture {
    /// What it is called.
    pub name: &'static str,
    /// Coordinates of the platform.
    pub at: Vec<f64>,
    /// Frames of the nodes of the scene, twelve numbers each.
    pub frames: Vec<f64>,
    /// Joints, platform, working mode.
    pub standing: PostureAnswer,
}

impl PageContent {
    /// A robot at home, and where it is asked to be.
    pub fn new(robot: &Robot, at: Option<&[f64]>, mode: Option<&WorkingMode>) -> Result<Self, Error> {
        let mut session = Session::new(robot.clone());
        let home = session.coordinates();
        let mut postures = vec![posture(&session, "home")];
        let mode = mode.unwrap_or(robot.mode());
        if at.is_some() || mode != robot.mode() {
            session.place_in(at.unwrap_or(&home), mode)?;
            postures.insert(0, posture(&session, "as asked"));
        }
        Ok(Self {
            source: robot.source().clone(),
            portrait: Portrait::new(robot),
            postures,
            at: at.map(<[f64]>::to_vec),
            mode: mode.name(robot.model().topology()),
            motion: None,
            map: None,
        })
    }
}

fn posture(session: &Session, name: &'static str) -> GivenPosture {
    let mut frames = Vec::new();
    session.frames(&mut frames);
    GivenPosture { name, at: session.coordinates(), frames, standing: session.standing() }
}
