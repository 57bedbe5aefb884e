//! From a formula to machine code: every value gets a register; where there is none left, the value that is needed last waits in memory.

use crate::AtOnce;
use crate::encode::{
    ADD, ALWAYS, AND, AT_LEAST, BLEND, BROADCAST, Base, Bytes, COMPARE, COPY, DIV, EQUAL, EXTRACT_HALF, INSERT_HALF,
    LOAD, LOAD_HIGH, LOAD_LOW, MUL, Place, SIGNS, SQRT, STORE, STORE_HIGH, STORE_LOW, SUB, Vector, XOR, Ymm, fused,
};
use crate::formula::{Binary, Formula, Fused, Op, Value};

/// The register that says which rows are good so far; the ones before it hold values.
const GOOD: Ymm = 15;
/// Bytes of four numbers.
const FOUR: i32 = 32;
/// Slots of the arguments of functions, and the one of [`GOOD`] while one is called.
const ARGUMENTS: [u32; 2] = [0, 1];
const GOOD_SLOT: u32 = 2;
/// More operations, or wider rows, are not compiled.
const MOST: usize = 1 << 20;

/// Machine code with what it needs: numbers, and bytes of memory to compute in.
pub(crate) struct Written {
    pub bytes: Vec<u8>,
    pub numbers: Vec<f64>,
    pub room: usize,
}

/// No further use.
const NEVER: u32 = u32::MAX;

/// Where a value is now.
#[derive(Clone, Copy, Default)]
struct Kept {
    register: Option<Ymm>,
    slot: Option<u32>,
    /// Where it is in any case, and whether it is a number of the table there.
    home: Option<Place>,
    is_number: bool,
}

struct Writer {
    out: Bytes,
    kept: Vec<Kept>,
    /// The operation that reads a value next.
    next: Vec<u32>,
    /// Values in the registers.
    held: [Option<u32>; GOOD as usize],
    /// Slots that are free again, and how many there are.
    free: Vec<u32>,
    /// Slots that the operation at work may still read.
    freed: Vec<u32>,
    slots: u32,
    zero: i32,
    /// Address of what calls a function with the arguments.
    through: usize,
    widths: [usize; 2],
    at_once: AtOnce,
}

/// The code of a formula, for rows one by one or in packs; `through` is the address of what calls a function with its arguments. None when it reads what is not there or is too long.
pub(crate) fn write(formula: &Formula, at_once: AtOnce, through: usize) -> Option<Written> {
    let Formula { ops, numbers, widths, .. } = formula;
    if ops.len() > MOST || widths.iter().any(|w| *w > MOST) {
        return None;
    }
    let has_result =
        |v: Value| matches!(ops.get(v.0 as usize), Some(op) if !matches!(op, Op::Require(_) | Op::Give(..)));
    let fits = |(i, op): (usize, &Op)| {
        let (list, count) = op.reads();
        list[..count].iter().all(|v| (v.0 as usize) < i && has_result(*v))
    };
    if !ops.iter().enumerate().all(fits) {
        return None;
    }
    let mut numbers = numbers.clone();
    numbers.push(0.0);
    let (needed, following) = uses(ops);
    let mut writer = Writer {
        out: Bytes::default(),
        kept: vec![Kept::default(); ops.len()],
        next: needed,
        held: [None; GOOD as usize],
        free: Vec::new(),
        freed: Vec::new(),
        slots: GOOD_SLOT + 1,
        zero: at_once.bytes() * i32::try_from(numbers.len() - 1).ok()?,
        through,
        widths: *widths,
        at_once,
    };
    writer.begin();
    let start = writer.out.0.len();
    writer.emit_with(COMPARE, GOOD, GOOD, Place::Register(GOOD), ALWAYS);
    for (i, op) in ops.iter().enumerate() {
        writer.op(i, op, following[i]);
    }
    writer.end(start)?;
    let room = usize::try_from(writer.offset(writer.slots)).ok()?;
    Some(Written { bytes: writer.out.0, numbers, room })
}

/// The first operation that reads each value; for every operation, what reads its operands after it.
/// Operations whose results nothing uses read nothing.
fn uses(ops: &[Op]) -> (Vec<u32>, Vec<[u32; 3]>) {
    let (mut next, mut following) = (vec![NEVER; ops.len()], vec![[NEVER; 3]; ops.len()]);
    for (i, op) in ops.iter().enumerate().rev() {
        let second_is_read = matches!(op, Op::Call(..)) && next.get(i + 1).is_some_and(|n| *n != NEVER);
        if next[i] == NEVER && !second_is_read && !matches!(op, Op::Require(_) | Op::Give(..)) {
            continue;
        }
        let (list, count) = op.reads();
        let own = &list[..count];
        own.iter().enumerate().for_each(|(k, v)| following[i][k] = next[v.0 as usize]);
        own.iter().for_each(|v| next[v.0 as usize] = u32::try_from(i).unwrap_or(NEVER));
    }
    (next, following)
}

impl AtOnce {
    /// Bytes of one number in as many rows.
    fn bytes(self) -> i32 {
        match self {
            AtOnce::One => 8,
            AtOnce::Four => FOUR,
        }
    }
}

impl Writer {
    /// Keep what the caller needs, and the six arguments: rows, answers, slots, numbers, which are good, how many packs.
    fn begin(&mut self) {
        // push rbx, rbp, r12, r13, r14, r15; sub rsp, 8
        self.out.raw(&[0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x48, 0x83, 0xEC, 0x08]);
        // mov rbp, rdi; mov r13, rsi; mov rbx, rdx; mov r15, rcx; mov r14, r8; mov r12, r9
        self.out.raw(&[0x48, 0x89, 0xFD, 0x49, 0x89, 0xF5, 0x48, 0x89, 0xD3]);
        self.out.raw(&[0x49, 0x89, 0xCF, 0x4D, 0x89, 0xC6, 0x4D, 0x89, 0xCC]);
    }

    /// Tell which rows are good, go on with the next pack, and leave after the last.
    fn end(&mut self, start: usize) -> Option<()> {
        let [rows, answers] = self.widths.map(|w| i32::try_from(self.at_once.rows() * 8 * w).unwrap_or(i32::MAX));
        self.emit(SIGNS, 0, 0, Place::Register(GOOD));
        if self.at_once == AtOnce::One {
            // and eax, 1
            self.out.raw(&[0x83, 0xE0, 0x01]);
        }
        // mov [r14], al; inc r14; add rbp, rows; add r13, answers; dec r12; jnz start
        self.out.raw(&[0x41, 0x88, 0x06, 0x49, 0xFF, 0xC6, 0x48, 0x81, 0xC5]);
        self.out.raw(&rows.to_le_bytes());
        self.out.raw(&[0x49, 0x81, 0xC5]);
        self.out.raw(&answers.to_le_bytes());
        self.out.raw(&[0x49, 0xFF, 0xCC, 0x0F, 0x85]);
        let back = i32::try_from(self.out.0.len() + 4 - start).ok()?;
        self.out.raw(&(-back).to_le_bytes());
        // vzeroupper; add rsp, 8; pop r15, r14, r13, r12, rbp, rbx; ret
        self.out.raw(&[0xC5, 0xF8, 0x77, 0x48, 0x83, 0xC4, 0x08]);
        self.out.raw(&[0x41, 0x5F, 0x41, 0x5E, 0x41, 0x5D, 0x41, 0x5C, 0x5D, 0x5B, 0xC3]);
        Some(())
    }

    fn op(&mut self, i: usize, op: &Op, following: [u32; 3]) {
        let is_read = self.next[i] != NEVER;
        self.free.append(&mut self.freed);
        match *op {
            Op::Number(place) => {
                let at = self.at_once.bytes() * i32::try_from(place).unwrap_or(0);
                (self.kept[i].home, self.kept[i].is_number) = (Some(Place::Memory(Base::Numbers, at)), true);
            }
            Op::Require(a) => self.require(a, following[0]),
            Op::Give(a, place) => self.give(a, place, following[0]),
            Op::Call(f, arguments) => {
                if is_read || self.next.get(i + 1).is_some_and(|n| *n != NEVER) {
                    self.call(f as usize, arguments, following);
                    self.take_result(i, ARGUMENTS[0]);
                }
            }
            _ if !is_read => {}
            Op::Second => self.take_result(i, ARGUMENTS[1]),
            Op::Input(place) => self.input(i, place),
            Op::Two(kind, a, b) => self.two(i, kind, [a, b], following),
            Op::Fused(kind, list) => self.fused(i, kind, list, following),
            Op::Sqrt(a) => {
                let from = self.place(a);
                self.done_with(&[a], following);
                let to = self.result(i);
                let beside = match (self.at_once, from) {
                    (AtOnce::Four, _) => 0,
                    (AtOnce::One, Place::Register(r)) => r,
                    (AtOnce::One, Place::Memory(..)) => to,
                };
                self.emit(SQRT, to, beside, from);
            }
            Op::Select(list) => self.select(i, list, following),
        }
    }

    /// Where a value is: its register if it has one.
    fn place(&self, v: Value) -> Place {
        let Kept { register, slot, home, .. } = self.kept[v.0 as usize];
        register.map(Place::Register).or(home).unwrap_or_else(|| self.slot(slot.unwrap_or(GOOD_SLOT)))
    }

    /// Bytes before a slot: those of arguments are of four numbers always, as functions read them.
    fn offset(&self, slot: u32) -> i32 {
        let arguments = u32::try_from(ARGUMENTS.len()).unwrap_or(0).min(slot);
        FOUR * i32::try_from(arguments).unwrap_or(0)
            + self.at_once.bytes() * i32::try_from(slot - arguments).unwrap_or(0)
    }

    fn slot(&self, slot: u32) -> Place {
        Place::Memory(Base::Slots, self.offset(slot))
    }

    /// An instruction on as many numbers as are computed at once.
    fn emit(&mut self, op: Vector, to: u8, first: Ymm, second: Place) {
        let op = if self.at_once == AtOnce::One { op.single() } else { op };
        self.out.vector(op, to, first, second);
    }

    fn emit_with(&mut self, op: Vector, to: u8, first: Ymm, second: Place, byte: u8) {
        self.emit(op, to, first, second);
        self.out.raw(&[byte]);
    }

    fn copy(&mut self, to: Ymm, from: Place) {
        let op = if matches!(from, Place::Register(_)) { COPY } else { LOAD };
        self.emit(op, to, 0, from);
    }

    /// A register for something new, `pinned` ones aside: a free one, or the one whose value is needed last.
    fn register(&mut self, pinned: u16) -> Ymm {
        let registers = || (0..GOOD).filter(|r| pinned >> r & 1 == 0);
        if let Some(r) = registers().find(|r| self.held[usize::from(*r)].is_none()) {
            return r;
        }
        let when = |r: &Ymm| self.held[usize::from(*r)].map_or(NEVER, |v| self.next[v as usize]);
        let r = registers().max_by_key(when).unwrap_or(0);
        self.put_away(r);
        r
    }

    /// Let the value in a register wait in memory.
    fn put_away(&mut self, r: Ymm) {
        let Some(v) = self.held[usize::from(r)].take() else { return };
        self.kept[v as usize].register = None;
        let Kept { slot, home, .. } = self.kept[v as usize];
        if slot.is_none() && home.is_none() && self.next[v as usize] != NEVER {
            let slot = self.free.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
            self.kept[v as usize].slot = Some(slot);
            self.emit(STORE, r, 0, self.slot(slot));
        }
    }

    fn hold(&mut self, v: u32, r: Ymm) {
        self.held[usize::from(r)] = Some(v);
        self.kept[v as usize].register = Some(r);
    }

    /// A register with a value; a number is there for this operation alone.
    fn load(&mut self, v: Value, pinned: u16) -> Ymm {
        let from = self.place(v);
        if let Place::Register(r) = from {
            return r;
        }
        let r = self.register(pinned);
        self.copy(r, from);
        if !self.kept[v.0 as usize].is_number {
            self.hold(v.0, r);
        }
        r
    }

    /// A value that is read again is better kept in a register, where one is free.
    fn near(&mut self, v: Value, again: bool, pinned: u16) -> Place {
        let is_number = self.kept[v.0 as usize].is_number;
        let has_room = (0..GOOD).any(|r| pinned >> r & 1 == 0 && self.held[usize::from(r)].is_none());
        if again && !is_number && has_room {
            return Place::Register(self.load(v, pinned));
        }
        self.place(v)
    }

    /// The operands of an operation are read: those that nothing reads later make room.
    fn done_with(&mut self, list: &[Value], following: [u32; 3]) {
        for (v, next) in list.iter().zip(following) {
            let v = v.0 as usize;
            self.next[v] = next;
            if next == NEVER {
                if let Some(r) = self.kept[v].register.take() {
                    self.held[usize::from(r)] = None;
                }
                self.freed.extend(self.kept[v].slot.take());
            }
        }
    }

    /// A register for the result of an operation, whose operands may lose theirs with it.
    fn result(&mut self, i: usize) -> Ymm {
        let r = self.register(0);
        self.hold(u32::try_from(i).unwrap_or(0), r);
        r
    }

    fn input(&mut self, i: usize, place: u32) {
        let at = |lane: usize| {
            let numbers = lane * self.widths[0] + place as usize;
            Place::Memory(Base::Rows, i32::try_from(8 * numbers).unwrap_or(0))
        };
        if self.at_once == AtOnce::One {
            // It stays where it is until something reads it.
            let home = at(0);
            self.kept[i].home = Some(home);
            return;
        }
        let four = [0, 1, 2, 3].map(at);
        let to = self.result(i);
        let high = self.register(pin(to));
        for (r, [low, up]) in [(to, [four[0], four[1]]), (high, [four[2], four[3]])] {
            self.out.vector(LOAD_LOW, r, 0, low);
            self.out.vector(LOAD_HIGH, r, r, up);
        }
        self.out.vector_with(INSERT_HALF, to, to, Place::Register(high), 1);
    }

    fn two(&mut self, i: usize, kind: Binary, [mut a, mut b]: [Value; 2], [mut f, mut g, _]: [u32; 3]) {
        let turns = !matches!(kind, Binary::Sub | Binary::Div);
        if turns && !self.is_in_register(a) && self.is_in_register(b) {
            ((a, b), (f, g)) = ((b, a), (g, f));
        }
        let first = self.load(a, self.pinned(b));
        let second = match kind {
            Binary::And | Binary::Xor => self.whole(b, pin(first)),
            _ => self.near(b, g != NEVER, pin(first)),
        };
        self.done_with(&[a, b], [f, g, NEVER]);
        let to = self.result(i);
        let op = match kind {
            Binary::Add => ADD,
            Binary::Sub => SUB,
            Binary::Mul => MUL,
            Binary::Div => DIV,
            Binary::And => AND,
            Binary::Xor => XOR,
        };
        self.emit(op, to, first, second);
    }

    /// An operand of an instruction that reads more than one number, even where one is computed at a time.
    fn whole(&mut self, v: Value, pinned: u16) -> Place {
        if self.at_once == AtOnce::One { Place::Register(self.load(v, pinned)) } else { self.place(v) }
    }

    fn is_in_register(&self, v: Value) -> bool {
        self.kept[v.0 as usize].register.is_some()
    }

    fn pinned(&self, v: Value) -> u16 {
        self.kept[v.0 as usize].register.map_or(0, pin)
    }

    /// One of three operands makes room for the result: one that nothing reads later, or a copy.
    fn fused(&mut self, i: usize, kind: Fused, list: [Value; 3], following: [u32; 3]) {
        let dies = |w: &Self, k: usize| following[k] == NEVER && w.is_in_register(list[k]);
        // The sum first: what is added up is rarely needed again.
        let target = [2, 0, 1]
            .into_iter()
            .find(|k| dies(self, *k))
            .or_else(|| [2, 0, 1].into_iter().find(|k| !self.is_in_register(list[*k])))
            .unwrap_or(2);
        let is_sum = target == 2;
        let (other, last) = if is_sum { (list[0], list[1]) } else { (list[1 - target], list[2]) };
        // Of the other two one may stay in memory.
        let (mut stays, mut comes) = (last, other);
        let swaps = !self.is_in_register(comes) && self.is_in_register(stays);
        if swaps {
            (stays, comes) = (comes, stays);
        }
        let all = list.iter().fold(0, |pins, v| pins | self.pinned(*v));
        let comes_in = self.load(comes, all);
        let pins = all | pin(comes_in);
        let again = following[list.iter().position(|v| *v == stays).unwrap_or(0)] != NEVER;
        let stays_at = self.near(stays, again, pins);
        let pins = pins | if let Place::Register(r) = stays_at { pin(r) } else { 0 };
        let own = self.place(list[target]);
        let reused = dies(self, target);
        self.done_with(&list, following);
        let to = match own {
            Place::Register(r) if reused => {
                self.put_away(r);
                r
            }
            _ => {
                let r = self.register(pins);
                self.copy(r, own);
                r
            }
        };
        self.hold(u32::try_from(i).unwrap_or(0), to);
        // In the order 132 the result is `to · second + first`, in 213 `first · to + second`, in 231 `first · second + to`.
        let order = if is_sum {
            0x20
        } else if swaps {
            // The factor is in memory, the sum in a register.
            0x00
        } else {
            0x10
        };
        let number = match kind {
            Fused::MulAdd => 0x98,
            Fused::MulSub => 0x9A,
            Fused::NegMulAdd => 0x9C,
        };
        self.emit(fused(number + order), to, comes_in, stays_at);
    }

    fn select(&mut self, i: usize, [which, a, b]: [Value; 3], following: [u32; 3]) {
        let all = [which, a, b].iter().fold(0, |pins, v| pins | self.pinned(*v));
        let sign = self.load(which, all);
        let other = self.load(b, all | pin(sign));
        let mask = self.register(all | pin(sign) | pin(other));
        self.compare(mask, sign, AT_LEAST);
        let own = self.whole(a, all | pin(sign) | pin(other) | pin(mask));
        self.done_with(&[which, a, b], following);
        let to = self.register(pin(mask) | pin(other) | if let Place::Register(r) = own { pin(r) } else { 0 });
        self.hold(u32::try_from(i).unwrap_or(0), to);
        self.emit_with(BLEND, to, other, own, mask << 4);
    }

    /// `to` = which of four numbers compare so with zero.
    fn compare(&mut self, to: Ymm, from: Ymm, how: u8) {
        self.emit_with(COMPARE, to, from, Place::Memory(Base::Numbers, self.zero), how);
    }

    fn require(&mut self, a: Value, following: u32) {
        let from = self.load(a, 0);
        self.done_with(&[a], [following, NEVER, NEVER]);
        let mask = self.register(pin(from));
        self.compare(mask, from, AT_LEAST);
        self.emit(AND, GOOD, GOOD, Place::Register(mask));
    }

    fn give(&mut self, a: Value, place: u32, following: u32) {
        let from = self.load(a, 0);
        self.done_with(&[a], [following, NEVER, NEVER]);
        let other = self.register(pin(from));
        // Infinity times zero is no number.
        self.emit(MUL, other, from, Place::Memory(Base::Numbers, self.zero));
        self.compare(other, other, EQUAL);
        self.emit(AND, GOOD, GOOD, Place::Register(other));
        let width = self.widths[1];
        let at =
            |lane: usize| Place::Memory(Base::Answers, i32::try_from(8 * (lane * width + place as usize)).unwrap_or(0));
        if self.at_once == AtOnce::One {
            return self.emit(STORE, from, 0, at(0));
        }
        self.out.vector(STORE_LOW, from, 0, at(0));
        self.out.vector(STORE_HIGH, from, 0, at(1));
        self.out.vector_with(EXTRACT_HALF, from, 0, Place::Register(other), 1);
        self.out.vector(STORE_LOW, other, 0, at(2));
        self.out.vector(STORE_HIGH, other, 0, at(3));
    }

    /// Call a function: nothing stays in registers.
    fn call(&mut self, f: usize, arguments: [Value; 2], following: [u32; 3]) {
        for (v, slot) in arguments.into_iter().zip(ARGUMENTS) {
            let r = self.load(v, 0);
            if self.at_once == AtOnce::One {
                self.out.vector(BROADCAST, r, 0, Place::Register(r));
            }
            self.out.vector(STORE, r, 0, self.slot(slot));
        }
        self.done_with(&arguments, following);
        (0..GOOD).for_each(|r| self.put_away(r));
        self.emit(STORE, GOOD, 0, self.slot(GOOD_SLOT));
        // mov rdi, rbx; mov rsi, f; mov rax, through; vzeroupper; call rax
        self.out.raw(&[0x48, 0x89, 0xDF, 0x48, 0xBE]);
        self.out.raw(&(f as u64).to_le_bytes());
        self.out.raw(&[0x48, 0xB8]);
        self.out.raw(&(self.through as u64).to_le_bytes());
        self.out.raw(&[0xC5, 0xF8, 0x77, 0xFF, 0xD0]);
        self.emit(LOAD, GOOD, 0, self.slot(GOOD_SLOT));
    }

    fn take_result(&mut self, i: usize, slot: u32) {
        if self.next[i] == NEVER {
            return;
        }
        let r = self.result(i);
        self.emit(LOAD, r, 0, self.slot(slot));
    }
}

fn pin(r: Ymm) -> u16 {
    1 << r
}
