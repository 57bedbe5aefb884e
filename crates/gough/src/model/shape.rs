//! Legs whose make the compiler knows: a chain of a few joints from the base to one point of the platform.
//!
//! Everything that a leg does is written once, over [`Shape`]. Where the shape is [`Any`], joints, parents and closures are
//! looked up; where it is a named chain they are constants, loops over bodies unroll and choices between joints fold away.

use super::plan::LegPivots;
use super::topology::{Anchor, JointKind, LegStructure};
use crate::description::ClosureJoint;

/// What is known of a leg when the program is compiled.
pub trait Shape {
    /// Its joints, base to tip, each on the body before; none when nothing is known. The last body meets the platform at a
    /// point, whose position gives as many closure rows as there are joints.
    const JOINTS: &'static [JointKind];
}

/// A leg of which nothing is known.
#[derive(Clone, Copy, Debug)]
pub struct Any;

impl Shape for Any {
    const JOINTS: &'static [JointKind] = &[];
}

/// A list with one entry per joint, or per pair of them, as long as the compiler knows it to be.
#[inline(always)]
pub fn as_known<H: Shape, T>(list: &mut [T], pairs: bool) -> &mut [T] {
    match H::JOINTS.len() {
        0 => list,
        n if pairs => &mut list[..n * n],
        n => &mut list[..n],
    }
}

macro_rules! chains {
    ($($(#[$doc:meta])* $name:ident = $($joint:ident)+;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl Shape for $name {
                const JOINTS: &'static [JointKind] = &[$(JointKind::$joint),+];
            }
        )+

        /// The shape of a leg as a value.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        #[allow(missing_docs)]
        pub enum ShapeName {
            #[default]
            Any,
            $($name),+
        }

        impl ShapeName {
            fn of_joints(joints: &[JointKind]) -> Self {
                $(
                    if joints == $name::JOINTS {
                        return Self::$name;
                    }
                )+
                Self::Any
            }

            /// Calls `with` with the shape as a type.
            #[inline(always)]
            pub fn apply<W: WithShape>(self, with: W) {
                match self {
                    Self::Any => with.call::<Any>(),
                    $(Self::$name => with.call::<$name>()),+
                }
            }
        }
    };
}

chains! {
    /// Elbow, such as a leg of a five-bar robot.
    Rr = Revolute Revolute;
    /// Planar strut.
    Rp = Revolute Prismatic;
    /// Slider and link.
    Pr = Prismatic Revolute;
    /// Strut in space: the leg of a Gough-Stewart platform.
    Rrp = Revolute Revolute Prismatic;
}

/// Something to do with a shape that is known when the program is compiled.
pub trait WithShape {
    /// Do it.
    fn call<H: Shape>(self);
}

impl ShapeName {
    /// The shape of a leg whose closure rows are chosen.
    pub fn of(leg: LegStructure<'_>, pivots: &LegPivots) -> Self {
        let joints: Vec<JointKind> = leg.bodies.iter().map(|b| b.joint).collect();
        let n = joints.len();
        let in_line = leg.bodies.iter().enumerate().all(|(b, body)| {
            let below = if b == 0 { Anchor::World } else { Anchor::Body(b - 1) };
            body.anchor == below && body.coord.map(|c| leg.local(c)) == Some(b)
        });
        let [closure] = leg.closures else { return Self::Any };
        let [a, b] = &closure.paths;
        let to_platform = a.bodies.len() == n && a.root == Anchor::World && b.anchor == Anchor::Platform;
        let slides = matches!(closure.joint, ClosureJoint::Prismatic | ClosureJoint::Cylindrical);
        let points = !slides && pivots.rows.iter().all(|(_, row)| *row < 3);
        let square = pivots.cols.len() == n && leg.coords.len() == n;
        if in_line && to_platform && points && square { Self::of_joints(&joints) } else { Self::Any }
    }
}
