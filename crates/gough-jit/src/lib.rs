//! Straight-line formulas compiled to machine code in memory, for one row of numbers or four at once.
//!
//! A [`Formula`] reads numbers of a row, computes without branches, and gives numbers of another row. Compiled it becomes a loop over
//! rows, or over packs of four, with AVX and FMA: one instruction for most operations, numbers as operands in memory, results in fifteen
//! registers of which the one that is needed last makes room (the sixteenth says which rows are good). What a formula requires ([`Formula::require`]) is told row by row.
//!
//! Where the processor has no AVX2, memory cannot be made executable, or the feature `run` is off, there is no code, and the caller computes
//! otherwise. This
//! crate is where machine code is run; what is unsafe about that stays here.
//!
//! ```
//! use gough_jit::{AtOnce, Formula};
//! let mut f = Formula::new(2);
//! let (x, y) = (f.input(0), f.input(1));
//! let square = f.mul(x, x);
//! let sum = f.mul_add(y, y, square);
//! let length = f.sqrt(sum);
//! f.give(length);
//! if let Some(code) = f.compile(AtOnce::Four) {
//!     let rows = [3.0, 4.0, 5.0, 12.0, 8.0, 15.0, 0.0, 1.0];
//!     let (mut answers, mut good) = ([0.0; 4], [0]);
//!     assert!(code.run(&rows, &mut answers, &mut good, &mut code.scratch()));
//!     assert_eq!((answers, good), ([5.0, 13.0, 17.0, 1.0], [0b1111]));
//! }
//! ```

mod formula;

pub use formula::{Formula, Function, Value};

#[cfg(all(target_arch = "x86_64", feature = "run"))]
mod allocate;
#[cfg(all(target_arch = "x86_64", feature = "run"))]
mod code;
#[cfg(all(target_arch = "x86_64", feature = "run"))]
mod encode;
#[cfg(all(target_arch = "x86_64", feature = "run"))]
pub use code::{Code, Scratch};
#[cfg(not(all(target_arch = "x86_64", feature = "run")))]
mod nothing;
#[cfg(not(all(target_arch = "x86_64", feature = "run")))]
pub use nothing::{Code, Scratch};

/// Rows of a pack.
pub const PACK: usize = 4;

/// How many rows code computes at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtOnce {
    /// One row: the quickest answer to one question.
    One,
    /// Four rows, [`PACK`]: the most answers per second.
    Four,
}

impl AtOnce {
    /// Rows that are computed at once.
    pub const fn rows(self) -> usize {
        match self {
            AtOnce::One => 1,
            AtOnce::Four => PACK,
        }
    }
}

/// Four numbers, one per row.
pub type Four = [f64; PACK];
