//! Machine code that can be run.
#![allow(unsafe_code)]

use crate::allocate::write;
use crate::formula::{Formula, Function};
use crate::{AtOnce, Four, PACK};
use memmap2::{Mmap, MmapMut};
use std::fmt;

/// Four numbers where the processor reads them best.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug)]
struct Aligned(Four);

/// What code is called as: rows, answers, slots, numbers, which rows are good, how often.
type Entry = unsafe extern "sysv64" fn(*const f64, *mut f64, *mut Aligned, *const Aligned, *mut u8, usize);

/// Calls a function for the code: its arguments are in the first two slots.
#[expect(improper_ctypes_definitions, reason = "the address of a function is handed through, and called here alone")]
extern "sysv64" fn call(arguments: &mut [Four; 2], f: Function) {
    f(arguments);
}

/// Machine code of a formula.
pub struct Code {
    memory: Mmap,
    numbers: Vec<Aligned>,
    /// How many times four numbers of memory it computes in.
    slots: usize,
    widths: [usize; 2],
    at_once: AtOnce,
}

/// Memory that code computes in.
#[derive(Clone, Debug)]
pub struct Scratch(Vec<Aligned>);

impl Formula {
    /// Machine code of the formula; none where the processor has no AVX2 or FMA, memory cannot be made executable, an operation reads
    /// a value that is not there, or operations or numbers of a row are more than a million. (A value of another formula may be taken
    /// for one of this.)
    pub fn compile(&self, at_once: AtOnce) -> Option<Code> {
        if !(std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")) {
            return None;
        }
        let written = write(self, at_once, call as *const () as usize)?;
        let mut memory = MmapMut::map_anon(written.bytes.len()).ok()?;
        memory.copy_from_slice(&written.bytes);
        let together = |list: &[f64]| Aligned(std::array::from_fn(|i| list.get(i).copied().unwrap_or(0.0)));
        let numbers = written.numbers.iter();
        Some(Code {
            memory: memory.make_exec().ok()?,
            numbers: match at_once {
                AtOnce::One => written.numbers.chunks(PACK).map(together).collect(),
                AtOnce::Four => numbers.map(|x| Aligned([*x; PACK])).collect(),
            },
            slots: written.room.div_ceil(size_of::<Aligned>()),
            widths: self.widths,
            at_once,
        })
    }
}

impl Code {
    /// Memory to compute in, for one thread at a time.
    pub fn scratch(&self) -> Scratch {
        Scratch(vec![Aligned([0.0; PACK]); self.slots])
    }

    /// Bytes of machine code.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Whether there is no code; never.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// Compute as many rows, or packs of four rows, as `good` has entries. Bit `i` of an entry is set where row `i` of the pack is
    /// good; answers of the other rows are written and mean nothing. Nothing is done, and no is the answer, when rows, answers or scratch
    /// memory are too small.
    #[must_use]
    pub fn run(&self, rows: &[f64], answers: &mut [f64], good: &mut [u8], scratch: &mut Scratch) -> bool {
        let packs = good.len();
        let fits =
            |len: usize, width: usize| packs.checked_mul(self.at_once.rows() * width).is_some_and(|need| need <= len);
        if !(fits(rows.len(), self.widths[0]) && fits(answers.len(), self.widths[1]) && scratch.0.len() >= self.slots) {
            return false;
        }
        if packs == 0 {
            return true;
        }
        // SAFETY: the memory holds a whole function of this type, written by `write`, and is executable since `make_exec`.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(self.memory.as_ptr()) };
        // SAFETY: the function reads `packs` times one or four rows and writes as many answers and one byte per pack, all of which are
        // there; it uses slots and numbers by places below the counts that it was written with, and keeps no pointer.
        unsafe {
            entry(
                rows.as_ptr(),
                answers.as_mut_ptr(),
                scratch.0.as_mut_ptr(),
                self.numbers.as_ptr(),
                good.as_mut_ptr(),
                packs,
            );
        }
        true
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Code of {} bytes, {} numbers, {} slots", self.memory.len(), self.numbers.len(), self.slots)
    }
}
