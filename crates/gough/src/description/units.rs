//! Units: they live in the robot file and end there; inside, everything is SI and radians.

/// Powers of length, mass and time. Angles are pure numbers.
pub type Powers = [i32; 3];

/// What is known of the dimension of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    /// A bare number, or something computed from one: it fits everywhere.
    Any,
    /// Given by units.
    Known(Powers),
}

/// A pure number or an angle.
pub const PURE: Powers = [0, 0, 0];

/// Name, factor to SI, dimension.
const UNITS: [(&str, f64, Powers); 28] = [
    ("m", 1.0, [1, 0, 0]),
    ("mm", 1e-3, [1, 0, 0]),
    ("cm", 1e-2, [1, 0, 0]),
    ("um", 1e-6, [1, 0, 0]),
    ("inch", 0.0254, [1, 0, 0]),
    ("kg", 1.0, [0, 1, 0]),
    ("g", 1e-3, [0, 1, 0]),
    ("s", 1.0, [0, 0, 1]),
    ("ms", 1e-3, [0, 0, 1]),
    ("us", 1e-6, [0, 0, 1]),
    ("rad", 1.0, PURE),
    ("mrad", 1e-3, PURE),
    ("deg", std::f64::consts::PI / 180.0, PURE),
    ("rev", 2.0 * std::f64::consts::PI, PURE),
    ("rpm", std::f64::consts::PI / 30.0, [0, 0, -1]),
    ("Hz", 1.0, [0, 0, -1]),
    ("N", 1.0, [1, 1, -2]),
    ("kN", 1e3, [1, 1, -2]),
    ("mN", 1e-3, [1, 1, -2]),
    ("Nm", 1.0, [2, 1, -2]),
    ("Nmm", 1e-3, [2, 1, -2]),
    ("mNm", 1e-3, [2, 1, -2]),
    ("kNm", 1e3, [2, 1, -2]),
    ("Pa", 1.0, [-1, 1, -2]),
    ("kPa", 1e3, [-1, 1, -2]),
    ("MPa", 1e6, [-1, 1, -2]),
    ("GPa", 1e9, [-1, 1, -2]),
    ("percent", 0.01, PURE),
];

/// Factor and dimension of a unit.
pub fn unit(name: &str) -> Option<(f64, Powers)> {
    UNITS.iter().find(|(n, ..)| *n == name).map(|&(_, factor, powers)| (factor, powers))
}

/// All unit names.
pub fn names() -> impl Iterator<Item = &'static str> {
    UNITS.iter().map(|(n, ..)| *n)
}

impl Dimension {
    /// Of a product with `powers` of `other`.
    pub fn times(self, other: Self, sign: i32) -> Self {
        match (self, other) {
            (Dimension::Known(a), Dimension::Known(b)) => {
                Dimension::Known([0, 1, 2].map(|i| a[i].saturating_add(b[i].saturating_mul(sign))))
            }
            _ => Dimension::Any,
        }
    }

    /// Of a power, given in halves; `None` when it has no whole exponents.
    pub fn power(self, halves: i32) -> Option<Self> {
        match self {
            Dimension::Any => Some(Dimension::Any),
            Dimension::Known(p) => {
                let doubled = p.map(|x| x.saturating_mul(halves));
                doubled.iter().all(|x| x % 2 == 0).then(|| Dimension::Known(doubled.map(|x| x / 2)))
            }
        }
    }

    /// Of a sum: both must agree where both are known.
    pub fn plus(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Dimension::Any, d) | (d, Dimension::Any) => Some(d),
            (a, b) => (a == b).then_some(a),
        }
    }

    /// Whether a value of this dimension may stand where `expected` is asked for.
    pub fn fits(self, expected: Powers) -> bool {
        self == Dimension::Any || self == Dimension::Known(expected)
    }
}

/// The dimension in words: by its common name, else in base units.
pub fn describe(powers: Powers) -> String {
    let common = [
        (PURE, "a pure number or an angle"),
        ([1, 0, 0], "a length"),
        ([2, 0, 0], "an area"),
        ([4, 0, 0], "a second moment of area"),
        ([0, 1, 0], "a mass"),
        ([1, 1, 0], "a first moment (mass times length)"),
        ([2, 1, 0], "an inertia (mass times length squared)"),
        ([-3, 1, 0], "a density"),
        ([0, 0, 1], "a time"),
        ([0, 0, -1], "a rate (1/s)"),
        ([1, 0, -1], "a speed"),
        ([1, 0, -2], "an acceleration"),
        ([1, 1, -2], "a force"),
        ([2, 1, -2], "a torque"),
        ([-1, 1, -2], "a pressure"),
        ([0, 1, -2], "a stiffness (N/m)"),
        ([0, -1, 2], "a compliance (m/N)"),
        ([-2, -1, 2], "a compliance (rad/(N m))"),
        ([0, 1, -1], "a viscous friction (N s/m)"),
        ([2, 1, -1], "a viscous friction (N m s/rad)"),
    ];
    if let Some((_, words)) = common.iter().find(|(p, _)| *p == powers) {
        return (*words).to_owned();
    }
    let parts: Vec<String> = [("m", powers[0]), ("kg", powers[1]), ("s", powers[2])]
        .into_iter()
        .filter(|(_, p)| *p != 0)
        .map(|(u, p)| if p == 1 { u.to_owned() } else { format!("{u}^{p}") })
        .collect();
    parts.join(" ")
}
