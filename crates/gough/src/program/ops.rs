//! What a block program is made of: operations on registers and numbers.

/// Number of a register.
pub(super) type Register = u16;
/// Place of a number in the table of a program.
pub(super) type NumberPlace = u16;

/// What an operation computes from registers `r s t u v` and numbers `k l`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Opcode {
    /// `k`.
    Set,
    /// `-r`.
    Neg,
    /// `r + s`.
    Add,
    /// `r - s`.
    Sub,
    /// `r + k`.
    AddNumber,
    /// `k - r`.
    FromNumber,
    /// `r s`.
    Mul,
    /// `r s t`.
    Mul3,
    /// `k r`.
    MulNumber,
    /// `k r s`.
    MulsNumber,
    /// `k r + l`.
    Affine,
    /// `t + r s`.
    Fma,
    /// `t - r s`.
    Fnma,
    /// `r s - t`.
    Fms,
    /// `s + k r`.
    FmaNumber,
    /// `k r - s`.
    FmsNumber,
    /// `k r + l s`.
    Lin,
    /// `t + k r + l s`.
    LinAdd,
    /// `r s + t u`.
    Dot,
    /// `r s - t u`.
    Det,
    /// `v + r s + t u`.
    DotAdd,
    /// `v + r s - t u`.
    DetAdd,
    /// `v - r s - t u`.
    DotFrom,
    /// `√r`.
    Sqrt,
    /// `1/r`; a state where `|r|` is below `k` is not answered.
    Reciprocal,
    /// `sin r` and `cos r`; a state where `|r|` is above `k` is not answered.
    SinCos,
    /// `atan2(r, s)`.
    Atan2,
    /// `exp r`.
    Exp,
    /// `sign r`.
    Sign,
    /// `s` where `r` is not negative, else `t`.
    Select,
    /// A state where `r` is negative is not answered.
    NotNegative,
    /// A state where `r` is positive is not answered.
    NotPositive,
}

impl Opcode {
    /// How many registers are read.
    pub fn reads(self) -> usize {
        use Opcode::{Add, Atan2, FmaNumber, FmsNumber, Lin, Mul, MulsNumber, Sub};
        match self {
            Opcode::Set => 0,
            Add | Sub | Mul | MulsNumber | FmaNumber | FmsNumber | Lin | Atan2 => 2,
            Opcode::Mul3 | Opcode::Fma | Opcode::Fnma | Opcode::Fms | Opcode::LinAdd | Opcode::Select => 3,
            Opcode::Dot | Opcode::Det => 4,
            Opcode::DotAdd | Opcode::DetAdd | Opcode::DotFrom => 5,
            _ => 1,
        }
    }

    /// How many registers are written.
    pub fn writes(self) -> usize {
        match self {
            Opcode::NotNegative | Opcode::NotPositive => 0,
            Opcode::SinCos => 2,
            _ => 1,
        }
    }
}

/// An operation: registers that it reads, numbers, registers that it writes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Instruction<R = Register> {
    pub kind: Opcode,
    pub from: [R; 5],
    pub numbers: [NumberPlace; 2],
    pub to: [R; 2],
}

impl<R: Copy> Instruction<R> {
    /// Registers that are read.
    pub fn reads(&self) -> &[R] {
        &self.from[..self.kind.reads()]
    }

    /// Registers that are written.
    pub fn writes(&self) -> &[R] {
        &self.to[..self.kind.writes()]
    }
}
