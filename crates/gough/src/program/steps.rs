//! What a block program does, step by step: one accumulator, registers, numbers.

/// Number of a register.
pub(super) type Register = u16;
/// Place of a number in the table of a program.
pub(super) type Place = u16;

/// One step, over all states of a block. `a` is the accumulator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Step<R = Register> {
    /// `a = r`.
    Load(R),
    /// `a = k`.
    Set(Place),
    /// `r = a`.
    Store(R),
    /// The output of this number is `a`; a state where it is not finite is not answered.
    Out(u16),
    /// `a = -a`.
    Neg,
    /// `a = a + r`.
    Add(R),
    /// `a = a - r`.
    Sub(R),
    /// `a = r - a`.
    From(R),
    /// `a = a + k`.
    AddNumber(Place),
    /// `a = k - a`.
    FromNumber(Place),
    /// `a = a r`.
    Mul(R),
    /// `a = a k`.
    MulNumber(Place),
    /// `a = r s`.
    Times(R, R),
    /// `a = k r`.
    TimesNumber(R, Place),
    /// `a = a + r s`.
    AddTimes(R, R),
    /// `a = a - r s`.
    SubTimes(R, R),
    /// `a = r s - a`.
    FromTimes(R, R),
    /// `a = a + k r`.
    AddTimesNumber(R, Place),
    /// `a = k r - a`.
    FromTimesNumber(R, Place),
    /// `a = √a`.
    Sqrt,
    /// `a = 1/a`.
    Reciprocal,
    /// `r, s = sin a, cos a`.
    SinCos(R, R),
    /// `a = atan2(a, r)`.
    Atan2(R),
    /// `a = exp a`.
    Exp,
    /// `a = sign a`.
    Sign,
    /// `a = r` where `a` is not negative, else `s`.
    Select(R, R),
    /// A state where `a` is negative is not answered.
    NotNegative,
    /// A state where `|a|` is below `k` is not answered.
    AtLeast(Place),
    /// A state where `|a|` is above `k` is not answered.
    AtMost(Place),
}

impl<R: Copy> Step<R> {
    /// Registers that are read.
    pub fn reads(&self) -> impl Iterator<Item = R> + use<R> {
        let (r, s) = match *self {
            Step::Load(r) | Step::Add(r) | Step::Sub(r) | Step::From(r) | Step::Mul(r) | Step::Atan2(r) => {
                (Some(r), None)
            }
            Step::TimesNumber(r, _) | Step::AddTimesNumber(r, _) | Step::FromTimesNumber(r, _) => (Some(r), None),
            Step::Times(r, s)
            | Step::AddTimes(r, s)
            | Step::SubTimes(r, s)
            | Step::FromTimes(r, s)
            | Step::Select(r, s) => (Some(r), Some(s)),
            _ => (None, None),
        };
        r.into_iter().chain(s)
    }

    /// Registers that are written.
    pub fn writes(&self) -> impl Iterator<Item = R> + use<R> {
        let (r, s) = match *self {
            Step::Store(r) => (Some(r), None),
            Step::SinCos(r, s) => (Some(r), Some(s)),
            _ => (None, None),
        };
        r.into_iter().chain(s)
    }

    /// Whether the accumulator stays as it was.
    pub fn keeps(&self) -> bool {
        matches!(
            self,
            Step::Store(_)
                | Step::Out(_)
                | Step::SinCos(..)
                | Step::NotNegative
                | Step::AtLeast(_)
                | Step::AtMost(_)
        )
    }

    /// The step on other registers.
    pub fn renamed<Q>(self, mut name: impl FnMut(R) -> Q) -> Step<Q> {
        match self {
            Step::Load(r) => Step::Load(name(r)),
            Step::Set(k) => Step::Set(k),
            Step::Store(r) => Step::Store(name(r)),
            Step::Out(j) => Step::Out(j),
            Step::Neg => Step::Neg,
            Step::Add(r) => Step::Add(name(r)),
            Step::Sub(r) => Step::Sub(name(r)),
            Step::From(r) => Step::From(name(r)),
            Step::AddNumber(k) => Step::AddNumber(k),
            Step::FromNumber(k) => Step::FromNumber(k),
            Step::Mul(r) => Step::Mul(name(r)),
            Step::MulNumber(k) => Step::MulNumber(k),
            Step::Times(r, s) => Step::Times(name(r), name(s)),
            Step::TimesNumber(r, k) => Step::TimesNumber(name(r), k),
            Step::AddTimes(r, s) => Step::AddTimes(name(r), name(s)),
            Step::SubTimes(r, s) => Step::SubTimes(name(r), name(s)),
            Step::FromTimes(r, s) => Step::FromTimes(name(r), name(s)),
            Step::AddTimesNumber(r, k) => Step::AddTimesNumber(name(r), k),
            Step::FromTimesNumber(r, k) => Step::FromTimesNumber(name(r), k),
            Step::Sqrt => Step::Sqrt,
            Step::Reciprocal => Step::Reciprocal,
            Step::SinCos(r, s) => Step::SinCos(name(r), name(s)),
            Step::Atan2(r) => Step::Atan2(name(r)),
            Step::Exp => Step::Exp,
            Step::Sign => Step::Sign,
            Step::Select(r, s) => Step::Select(name(r), name(s)),
            Step::NotNegative => Step::NotNegative,
            Step::AtLeast(k) => Step::AtLeast(k),
            Step::AtMost(k) => Step::AtMost(k),
        }
    }
}
