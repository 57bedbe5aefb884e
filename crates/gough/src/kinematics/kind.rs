//! Kinds of singularity, and from where on a matrix counts as singular.

/// A matrix whose smallest singular value or pivot, without units, is below this is singular. A stretched leg is only known
/// to the square root of the rounding, about 1e-8.
pub const SINGULAR: f64 = 1e-6;

/// The kinds of singularity, sections 7.5.1-7.5.3.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// B loses rank: the platform loses a motion, drives move without it.
    Type1,
    /// A_r loses rank: the platform moves while the drives are locked.
    Type2,
    /// Both.
    Type3,
    /// The active joints of a leg move without moving its tip.
    Lajts,
    /// The passive joints of a leg move while platform and drives are locked.
    Lpjts,
    /// The constraint wrenches of the legs lose rank: the platform gains a kind of motion.
    Constraint,
}

impl serde::Serialize for Kind {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.word())
    }
}

impl Kind {
    /// All kinds that are measured.
    #[doc(hidden)]
    pub const MEASURED: [Kind; 5] = [Kind::Type1, Kind::Type2, Kind::Lajts, Kind::Lpjts, Kind::Constraint];

    /// A short name that programs can rely on.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Type1 => "type1",
            Kind::Type2 => "type2",
            Kind::Type3 => "type3",
            Kind::Lajts => "lajts",
            Kind::Lpjts => "lpjts",
            Kind::Constraint => "constraint",
        }
    }

    /// The name in sentences.
    #[doc(hidden)]
    pub fn title(self) -> &'static str {
        match self {
            Kind::Type1 => "Type 1",
            Kind::Type2 => "Type 2",
            Kind::Type3 => "Type 3",
            Kind::Lajts => "LAJTS",
            Kind::Lpjts => "LPJTS",
            Kind::Constraint => "constraint",
        }
    }
}
