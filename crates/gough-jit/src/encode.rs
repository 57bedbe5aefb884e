//! Bytes of the few instructions that formulas need: AVX, AVX2 and FMA on sixteen registers of four numbers.

/// A register of four numbers, 0 to 15.
pub(crate) type Ymm = u8;

/// What addresses are counted from; each has its general register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    /// Memory to compute in: rbx.
    Slots = 3,
    /// Rows that are read: rbp.
    Rows = 5,
    /// Answers: r13.
    Answers = 13,
    /// Numbers: r15.
    Numbers = 15,
}

/// The operand of an instruction that may be in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Register(Ymm),
    /// So many bytes after a base.
    Memory(Base, i32),
}

/// An instruction of the vector unit: which table it stands in, its prefix, the wide bit, the length, its number; prefix and
/// number of the same for one number.
#[derive(Clone, Copy)]
pub(crate) struct Vector {
    table: u8,
    prefix: u8,
    wide: bool,
    long: bool,
    number: u8,
    single: [u8; 2],
}

impl Vector {
    /// The instruction for the lowest number of a register, whatever it does to the others.
    pub const fn single(self) -> Self {
        Self { prefix: self.single[0], number: self.single[1], long: false, ..self }
    }
}

const fn plain(number: u8) -> Vector {
    Vector { table: 1, prefix: 1, wide: false, long: true, number, single: [3, number] }
}

/// Bit by bit, so that one number is as good as two.
const fn bits(number: u8) -> Vector {
    Vector { single: [1, number], ..plain(number) }
}

const fn short(prefix: u8, number: u8) -> Vector {
    Vector { prefix, long: false, single: [prefix, number], ..plain(number) }
}

const fn with_byte(number: u8) -> Vector {
    Vector { table: 3, ..bits(number) }
}

/// A fused multiplication, by its number in the order 132 of the one that adds.
pub(crate) const fn fused(number: u8) -> Vector {
    Vector { table: 2, wide: true, single: [1, number + 1], ..plain(number) }
}

pub(crate) const ADD: Vector = plain(0x58);
pub(crate) const MUL: Vector = plain(0x59);
pub(crate) const SUB: Vector = plain(0x5C);
pub(crate) const DIV: Vector = plain(0x5E);
pub(crate) const SQRT: Vector = plain(0x51);
pub(crate) const AND: Vector = bits(0x54);
pub(crate) const XOR: Vector = bits(0x57);
/// Register from memory; of one number the others become zero.
pub(crate) const LOAD: Vector = plain(0x10);
/// Register from a register, all of it.
pub(crate) const COPY: Vector = bits(0x28);
pub(crate) const STORE: Vector = plain(0x11);
pub(crate) const COMPARE: Vector = plain(0xC2);
/// Signs of four numbers as bits of a general register.
pub(crate) const SIGNS: Vector = bits(0x50);
/// The low number of a register from memory, zero beside it.
pub(crate) const LOAD_LOW: Vector = short(3, 0x10);
/// The high number of the lower half from memory.
pub(crate) const LOAD_HIGH: Vector = short(1, 0x16);
pub(crate) const STORE_LOW: Vector = short(1, 0x13);
pub(crate) const STORE_HIGH: Vector = short(1, 0x17);
/// The upper half from the lower half of another register.
pub(crate) const INSERT_HALF: Vector = with_byte(0x18);
pub(crate) const EXTRACT_HALF: Vector = with_byte(0x19);
/// Four times the lowest number of a register.
pub(crate) const BROADCAST: Vector = Vector { table: 2, ..bits(0x19) };
pub(crate) const BLEND: Vector = with_byte(0x4B);

/// Conditions of [`COMPARE`]; what is no number meets none of them but the last.
pub(crate) const EQUAL: u8 = 0x00;
pub(crate) const AT_LEAST: u8 = 0x1D;
pub(crate) const ALWAYS: u8 = 0x0F;

/// Machine code as it is written.
#[derive(Default)]
pub(crate) struct Bytes(pub Vec<u8>);

impl Bytes {
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// `to = op(first, second)`; `first` is not read by instructions of one operand, and must then be zero.
    pub fn vector(&mut self, op: Vector, to: u8, first: Ymm, second: Place) {
        let low = match second {
            Place::Register(r) => r,
            Place::Memory(base, _) => base as u8,
        };
        let bit = |set: bool, place: u8| u8::from(set) << place;
        let tail = (!first & 15) << 3 | bit(op.long, 2) | op.prefix;
        if op.table == 1 && !op.wide && low < 8 {
            self.raw(&[0xC5, bit(to < 8, 7) | tail]);
        } else {
            self.raw(&[0xC4, bit(to < 8, 7) | 1 << 6 | bit(low < 8, 5) | op.table, bit(op.wide, 7) | tail]);
        }
        self.0.push(op.number);
        let (to, low) = ((to & 7) << 3, low & 7);
        match second {
            Place::Register(_) => self.0.push(0xC0 | to | low),
            Place::Memory(_, at) => {
                if let Ok(at) = i8::try_from(at) {
                    self.raw(&[0x40 | to | low, at.to_le_bytes()[0]]);
                } else {
                    self.0.push(0x80 | to | low);
                    self.raw(&at.to_le_bytes());
                }
            }
        }
    }

    /// An instruction that a byte belongs to.
    pub fn vector_with(&mut self, op: Vector, to: Ymm, first: Ymm, second: Place, byte: u8) {
        self.vector(op, to, first, second);
        self.0.push(byte);
    }
}
