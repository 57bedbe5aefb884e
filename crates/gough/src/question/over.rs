//! Questions about a region of the workspace: maps of a quantity, and curves of singularity.

use super::Error;
use super::words::{PosePart, hint};
use crate::Robot;
use crate::analysis::loci::{Curve, trace_loci_while};
use crate::analysis::map::{Map, Quantity, drive_stiffness, frequency_number, map_of, map_on_device, quantities};
use crate::analysis::singularity::singularities;
use crate::analysis::{CoordinateSpan, NodeValue, PlatformOf, PlatformValue, Region, coordinate_name};
use crate::description::{Concern, Coordinate, LeftOut, RodInertia, VirtualTwists};
use crate::elastodynamics::cartesian::{Cartesian, Choices};
use crate::elastodynamics::motion::is_flexible;
use crate::elastodynamics::{Actuators, Vibration};
use crate::kinematics::{Kind, WorkingMode, inverse};
use crate::model::{Model, Topology};
use crate::spatial::{Pose, Wrench};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use std::ops::Deref;

/// The region that a question is about.
#[derive(Clone)]
struct RegionAsked<'r> {
    robot: &'r Robot,
    at: Pose<f64>,
    spans: Vec<CoordinateSpan>,
    mode: Option<WorkingMode>,
    region: Option<Region>,
    fault: Option<String>,
}

impl<'r> RegionAsked<'r> {
    fn new(robot: &'r Robot) -> Self {
        Self { robot, at: *robot.home().pose(), spans: Vec::new(), mode: None, region: None, fault: None }
    }

    fn span(&mut self, coordinate: &str, low: f64, high: f64, count: usize) {
        if let Some(coordinate) = Coordinate::named(coordinate) {
            self.spans.push(CoordinateSpan { coordinate, low, high, count });
        } else {
            let why = hint(coordinate, &PosePart::NAMES[..7]);
            self.fault.get_or_insert(format!("no platform coordinate `{coordinate}`; {why}"));
        }
    }

    fn mode(&self) -> &WorkingMode {
        self.mode.as_ref().unwrap_or(self.robot.mode())
    }

    fn checked(&self) -> Result<Region, Error> {
        match (&self.fault, &self.region) {
            (Some(fault), _) => Err(Error::Question(fault.clone())),
            (None, Some(region)) => Ok(region.clone()),
            (None, None) => Ok(Region::new(self.robot.model(), self.spans.clone(), &self.at)?),
        }
    }
}

/// Methods of every question about a region.
macro_rules! region_methods {
    () => {
        /// Span a coordinate of the platform from one value to another in so many nodes.
        pub fn over(mut self, coordinate: &str, from: f64, to: f64, nodes: usize) -> Self {
            self.plane.span(coordinate, from, to, nodes);
            self
        }

        /// Where the coordinates are that are not spanned; home unless given.
        pub fn at(mut self, pose: &Pose<f64>) -> Self {
            self.plane.at = *pose;
            self
        }

        /// Working mode; that of the file unless given.
        pub fn mode(mut self, mode: &WorkingMode) -> Self {
            self.plane.mode = Some(mode.clone());
            self
        }

        /// A region that is made already, in place of spans.
        #[doc(hidden)]
        pub fn in_region(mut self, region: &Region) -> Self {
            self.plane.region = Some(region.clone());
            self
        }
    };
}

/// A map over a region of the workspace; [`Robot::map`] begins it, [`MapQuestion::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct MapQuestion<'r> {
    plane: RegionAsked<'r>,
    quantity: String,
    wrench: Option<Wrench<f64>>,
    stiffness: Option<f64>,
    followed: Option<bool>,
    cartesian: bool,
    choices: Choices,
    on_device: bool,
}

/// A quantity over a region: one value per node.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct MapAnswer {
    /// The robot.
    pub robot: String,
    /// What was mapped.
    pub quantity: String,
    /// Its unit.
    pub unit: &'static str,
    /// Working mode by name.
    pub working_mode: String,
    /// Length that makes translations and rotations comparable, m.
    pub length_scale: f64,
    /// The coordinates that were spanned.
    pub axes: Vec<MapAxis>,
    /// The values, the first coordinate running fastest.
    pub values: NodeValues,
    /// How many nodes have no answer, by kind of refusal.
    pub refused: Vec<RefusedNodes>,
    /// Whether every node was looked at.
    pub complete: bool,
    /// What the file has and the answer leaves out.
    pub left_out: Vec<LeftOut>,
    /// What belongs to natural frequencies.
    #[serde(flatten)]
    pub frequencies: Option<FrequencyMapNotes>,
    /// What belongs to reach and aspects.
    #[serde(flatten)]
    pub reach: Option<ReachNotes>,
}

/// A coordinate that is spanned.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct MapAxis {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub values: Vec<f64>,
}

/// Values over the nodes of a region, the first coordinate running fastest; missing where there is no answer. As a document
/// they are lists in lists, the first coordinate outermost.
#[derive(Clone, PartialEq, Debug)]
pub struct NodeValues {
    counts: Vec<usize>,
    values: Vec<NodeValue>,
}

/// How many nodes were refused for one kind of reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct RefusedNodes {
    /// The kind, a short name.
    pub kind: &'static str,
    /// How many.
    pub count: usize,
}

/// What a map of a natural frequency knows beyond its values.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct FrequencyMapNotes {
    /// Whether a mode was followed by its shape.
    pub followed: bool,
    /// The lowest frequency of all modes at any node.
    pub lowest: Option<LowestFrequency>,
    /// Nodes at which no mode was like that of the neighbour.
    pub uncertain: usize,
}

/// The lowest frequency of a map.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct LowestFrequency {
    /// The frequency.
    pub frequency_hz: f64,
    /// Coordinates of its node.
    pub at: Vec<f64>,
}

/// How much can be reached.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct ReachNotes {
    /// Length, area or volume that can be reached.
    pub reachable: f64,
    /// That of each aspect, largest first.
    pub aspects: Vec<f64>,
}

/// Curves of singularity over a region of two coordinates; [`Robot::loci`] begins it, [`LociQuestion::answer`] ends it.
#[derive(Clone)]
#[must_use = "a question is answered by `answer`"]
pub struct LociQuestion<'r> {
    plane: RegionAsked<'r>,
    accuracy: f64,
}

/// Curves of singularity, and the aspects between them.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct LociAnswer {
    /// The robot.
    pub robot: String,
    /// Working mode by name.
    pub working_mode: String,
    /// The two coordinates.
    pub axes: Vec<SpannedAxis>,
    /// To which points lie on their curve, and chords beside it.
    pub accuracy: f64,
    /// The curves.
    pub curves: Vec<Curve>,
    /// The aspects, largest first.
    pub aspects: Vec<Aspect>,
    /// Area that can be reached.
    pub reachable_area: f64,
    /// Whether everything was looked at.
    pub complete: bool,
    /// Nodes, cells and pieces of curves that were not looked at because the search was ended.
    pub left: usize,
    /// Kinds of singularity that every posture looked at has, so that no curve tells them.
    pub everywhere: Vec<Kind>,
    /// Number of the aspect of each node from 0, the first coordinate running fastest.
    #[serde(skip)]
    pub aspect_of_node: Vec<Option<usize>>,
}

/// Postures that are asked whether a region is singular everywhere.
const SPREAD: usize = 12;

/// Kinds of singularity that postures spread over the reachable nodes of a region all have.
fn singular_everywhere(
    model: &Model<f64>,
    mode: &WorkingMode,
    region: &Region,
    aspects: &[Option<usize>],
) -> Vec<Kind> {
    let reached: Vec<usize> = (0..aspects.len()).filter(|n| aspects[*n].is_some()).collect();
    let spread = reached.iter().step_by(reached.len().div_ceil(SPREAD).max(1));
    let mut common: Option<Vec<Kind>> = None;
    for node in spread {
        let Ok(posture) = inverse(model, &region.pose(&region.point(*node)), mode) else { continue };
        let found = singularities(model, &posture).list;
        let here = |k: &Kind| found.iter().any(|s| s.singular && s.kind == *k);
        let kinds = common.unwrap_or_else(|| found.iter().map(|s| s.kind).collect());
        let kept: Vec<Kind> = kinds.into_iter().filter(here).collect();
        if kept.is_empty() {
            return kept;
        }
        common = Some(kept);
    }
    let mut kinds = common.unwrap_or_default();
    kinds.dedup();
    kinds
}

/// Ends of a coordinate that is spanned.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct SpannedAxis {
    /// Its name.
    pub name: &'static str,
    /// From.
    pub low: f64,
    /// To.
    pub high: f64,
    /// In so many nodes.
    pub count: usize,
}

/// An area without singularities.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Aspect {
    /// Its size, from the nodes.
    pub area: f64,
}

impl Robot {
    /// A quantity over a region of the workspace, by its name in `gough map --quantity`; other coordinates are those of home.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let found = robot.map("conditioning").over("x", -0.1, 0.1, 11).over("y", 0.2, 0.3, 6).answer()?;
    /// assert_eq!(found.values.len(), 66);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn map(&self, quantity: &str) -> MapQuestion<'_> {
        MapQuestion {
            plane: RegionAsked::new(self),
            quantity: quantity.to_owned(),
            wrench: None,
            stiffness: None,
            followed: None,
            cartesian: false,
            choices: Choices::of(self.model()),
            on_device: false,
        }
    }

    /// Singular curves over two coordinates of the platform, and the aspects between them; other coordinates are those of home.
    ///
    /// ```
    /// let robot = gough::Robot::shipped("five-bar")?;
    /// let found = robot.loci().over("x", -0.2, 0.2, 41).over("y", 0.0, 0.4, 41).answer()?;
    /// assert!(!found.curves.is_empty() && found.complete);
    /// # Ok::<(), gough::Error>(())
    /// ```
    pub fn loci(&self) -> LociQuestion<'_> {
        LociQuestion { plane: RegionAsked::new(self), accuracy: 1e-6 }
    }
}

impl MapQuestion<'_> {
    region_methods!();

    /// The wrench that the drives balance, for `effort`, and that acts beside gravity, for `deflection`.
    pub fn wrench(mut self, wrench: Wrench<f64>) -> Self {
        self.wrench = Some(wrench);
        self
    }

    /// Stiffness of every drive, for `stiffness`, where the file gives none.
    pub fn stiffness(mut self, stiffness: f64) -> Self {
        self.stiffness = Some(stiffness);
        self
    }

    /// What the drives do while a natural frequency is mapped; elastic unless given.
    pub fn actuators(mut self, actuators: Actuators) -> Self {
        self.choices.actuators = actuators;
        self
    }

    /// Whether the mode that is `f1`, `f2`, .. at the first node is followed by its shape. Unless told, it is along one
    /// coordinate and not over areas, where that has no unique outcome: around a double frequency two modes change places.
    pub fn followed(mut self, followed: bool) -> Self {
        self.followed = Some(followed);
        self
    }

    /// Natural frequencies by the Cartesian method.
    pub fn cartesian(mut self) -> Self {
        self.cartesian = true;
        self
    }

    /// Cartesian method: inertia of the rods of parallelograms; that of the file unless given.
    pub fn rods(mut self, rods: RodInertia) -> Self {
        self.choices.rods = rods;
        self
    }

    /// Cartesian method: motions against the constraints of a leg; those of the file unless given.
    pub fn virtual_twists(mut self, twists: VirtualTwists) -> Self {
        self.choices.virtual_twists = twists;
        self
    }

    /// Compute it on a graphics processor of NVIDIA (feature `cuda`); nodes that need more care than a program takes are computed
    /// here. Quantities that follow from the Jacobian, and `holding`.
    pub fn on_device(mut self) -> Self {
        self.on_device = true;
        self
    }

    /// The map.
    pub fn answer(&self) -> Result<MapAnswer, Error> {
        self.answer_while(&|_| true)
    }

    /// The map; now and then `go_on` is told how many nodes are done, and may stop it.
    pub fn answer_while(&self, go_on: &(dyn Fn(usize) -> bool + Sync)) -> Result<MapAnswer, Error> {
        let mode = self.plane.mode();
        let region = self.plane.checked()?;
        let quantity = self.wanted(&region)?;
        let robot = self.plane.robot;
        let found = if self.on_device {
            map_on_device(robot, mode, &region, &quantity, go_on)?
        } else {
            map_of(robot, mode, &region, &quantity, go_on)
        };
        Ok(self.told(&region, found, self.follows(&region)))
    }

    fn follows(&self, region: &Region) -> bool {
        self.followed.unwrap_or(region.spans().len() == 1)
    }

    /// The quantity with its choices, once the robot is known to have it.
    fn wanted(&self, region: &Region) -> Result<Quantity, Error> {
        let (robot, model) = (self.plane.robot, self.plane.robot.model());
        if let Some(k) = self.stiffness.filter(|k| !(*k > 0.0 && k.is_finite())) {
            return Err(Error::Question(format!("the stiffness of the drives is {k}, not a positive number")));
        }
        let own = |w: Wrench<f64>| {
            let all = w.to_array();
            model.topology().platform.independent.iter().map(|c| all[c.index()]).collect()
        };
        let mut quantity =
            Quantity::named(&self.quantity, drive_stiffness(model, self.stiffness), self.wrench.map(own))?;
        if let (true, Quantity::Frequency(of)) = (self.cartesian, &quantity) {
            quantity =
                Quantity::Platform(PlatformOf { value: PlatformValue::Frequency(of.number), choices: self.choices });
        }
        match &mut quantity {
            Quantity::Platform(of) => {
                of.choices = self.choices;
                let most = Cartesian::new(model, robot.home(), self.choices)?.data().B.cols;
                if matches!(of.value, PlatformValue::Frequency(n) if n > most) {
                    let why = format!("{}: the Cartesian method gives {most} frequencies", self.quantity);
                    return Err(Error::Question(why));
                }
            }
            Quantity::Frequency(of) => {
                (of.actuators, of.followed) = (self.choices.actuators, self.follows(region));
                let most = Vibration::new(model, robot.home(), of.actuators)?.modes();
                if of.number > most {
                    return Err(Error::Question(format!("f{}: the robot has {most} natural frequencies", of.number)));
                }
            }
            Quantity::Deflection(load) => {
                *load = self.wrench.unwrap_or(Wrench::zero());
                let why = if !is_flexible(model) {
                    "nothing of this robot gives way: `deflection` is of beams, modal bodies, springs and transmissions"
                } else if model.topology().platform.tool.is_some() && load.m.norm() > 0.0 {
                    "the platform is a point, on which no moment acts"
                } else if self.followed.is_some() {
                    "deflection has no modes to follow; that goes with natural frequencies"
                } else {
                    return Ok(quantity);
                };
                return Err(Error::Question(why.to_owned()));
            }
            Quantity::Holding if is_flexible(model) => {
                let why =
                    "`holding` is of robots that do not give way; `idm --deflected` gives the efforts at one pose";
                return Err(Error::Question(why.to_owned()));
            }
            _ if self.followed.is_some() => {
                let why = format!("{} has no modes to follow; that goes with natural frequencies", self.quantity);
                return Err(Error::Question(why));
            }
            _ => {}
        }
        Ok(quantity)
    }

    fn told(&self, region: &Region, found: Map, followed: bool) -> MapAnswer {
        let (model, t) = (self.plane.robot.model(), self.plane.robot.model().topology());
        let frequency = frequency_number(&self.quantity).is_some();
        let axis = |s: &CoordinateSpan| MapAxis { name: axis_name(t, s.coordinate), values: s.values() };
        let lowest = |(frequency_hz, node): (f64, usize)| LowestFrequency { frequency_hz, at: region.point(node) };
        let notes = found.frequencies.map(|notes| FrequencyMapNotes {
            followed,
            lowest: notes.lowest.map(lowest),
            uncertain: notes.uncertain,
        });
        let aspects = found.aspects;
        MapAnswer {
            robot: t.name.clone(),
            quantity: self.quantity.clone(),
            unit: unit(t, &self.quantity),
            working_mode: self.plane.mode().name(t),
            length_scale: model.length(),
            axes: region.spans().iter().map(axis).collect(),
            values: NodeValues { counts: region.spans().iter().map(|s| s.count).collect(), values: found.values },
            refused: found.refused.into_iter().map(|(kind, count)| RefusedNodes { kind, count }).collect(),
            complete: found.complete,
            left_out: if frequency { model.description().left_out(Concern::Vibration) } else { Vec::new() },
            frequencies: notes,
            reach: found.reachable.map(|reachable| ReachNotes { reachable, aspects }),
        }
    }
}

impl LociQuestion<'_> {
    region_methods!();

    /// To how many metres or radians curves are traced; 1e-6 unless given.
    pub fn accuracy(mut self, accuracy: f64) -> Self {
        self.accuracy = accuracy;
        self
    }

    /// The curves.
    pub fn answer(&self) -> Result<LociAnswer, Error> {
        self.answer_while(&|| true)
    }

    /// The curves, traced as long as `goes_on` says so; [`LociAnswer::left`] counts what was not looked at.
    pub fn answer_while(&self, goes_on: &(dyn Fn() -> bool + Sync)) -> Result<LociAnswer, Error> {
        let region = self.plane.checked()?;
        if region.spans().len() != 2 {
            return Err(Error::Question("curves are traced over two coordinates".to_owned()));
        }
        if !(self.accuracy > 1e-12 && self.accuracy < 1.0) {
            let why = format!("curves are traced to metres between 1e-12 and 1, not {}", self.accuracy);
            return Err(Error::Question(why));
        }
        let (model, t) = (self.plane.robot.model(), self.plane.robot.model().topology());
        let found = trace_loci_while(model, self.plane.mode(), &region, self.accuracy, goes_on);
        let axis = |s: &CoordinateSpan| SpannedAxis {
            name: axis_name(t, s.coordinate),
            low: s.low,
            high: s.high,
            count: s.count,
        };
        Ok(LociAnswer {
            robot: t.name.clone(),
            working_mode: self.plane.mode().name(t),
            axes: region.spans().iter().map(axis).collect(),
            accuracy: found.accuracy,
            curves: found.curves,
            reachable_area: found.areas.iter().fold(0.0, |sum, area| sum + area),
            aspects: found.areas.into_iter().map(|area| Aspect { area }).collect(),
            complete: found.left == 0,
            left: found.left,
            everywhere: singular_everywhere(model, self.plane.mode(), &region, &found.aspects),
            aspect_of_node: found.aspects,
        })
    }
}

/// How a coordinate is called: the angle of a planar platform is phi.
#[doc(hidden)]
pub fn axis_name(t: &Topology, c: Coordinate) -> &'static str {
    let planar = t.platform.independent.iter().filter(|c| c.is_angle()).count() == 1;
    if planar && c == Coordinate::Rz { "phi" } else { coordinate_name(c) }
}

/// The unit of a quantity; that of efforts depends on what the drives move.
fn unit(t: &Topology, name: &str) -> &'static str {
    let slides = t.active.iter().filter(|c| t.coords[**c].slides).count();
    match name {
        "effort" | "holding" if slides == t.active.len() => "N",
        "effort" | "holding" if slides == 0 => "N*m",
        "amplification" if slides == t.active.len() => "N/N",
        "amplification" if slides == 0 => "N*m/N",
        name if frequency_number(name).is_some() => "Hz",
        _ => quantities().find(|q| q.0 == name).map_or("", |q| q.1),
    }
}

impl Deref for NodeValues {
    type Target = [NodeValue];

    fn deref(&self) -> &[NodeValue] {
        &self.values
    }
}

impl Serialize for NodeValues {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Nested { of: self, first: 0, step: 1, depth: 0 }.serialize(to)
    }
}

/// Values of the nodes whose first coordinates are fixed, as a list over the next one.
struct Nested<'v> {
    of: &'v NodeValues,
    first: usize,
    step: usize,
    depth: usize,
}

impl Serialize for Nested<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Some(count) = self.of.counts.get(self.depth) else { return self.of.values[self.first].serialize(to) };
        let mut list = to.serialize_seq(Some(*count))?;
        for i in 0..*count {
            let first = self.first + i * self.step;
            list.serialize_element(&Nested { of: self.of, first, step: self.step * count, depth: self.depth + 1 })?;
        }
        list.end()
    }
}
