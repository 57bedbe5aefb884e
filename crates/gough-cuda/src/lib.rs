//! Answers of many places, computed on a graphics processor of NVIDIA by a kernel that is compiled at run time.
//!
//! Driver and compiler (NVRTC) are loaded when a [`Device`] is opened: a program that contains this crate runs everywhere, and where
//! there is no driver, no device or no compiler it is told so ([`Trouble`]). Places are done piece by piece: while the device computes
//! one piece, the piece before is copied back and taken by the caller.
//!
//! A kernel is text in CUDA C with one function, [`ENTRY`]:
//!
//! ```cuda
//! extern "C" __global__ void gough(long long first, int count, const double *table, double *answers);
//! ```
//!
//! Thread `i` of `count` computes the answers of place `first + i` and writes them to `answers[i*width ..]`; `table` is what the caller
//! gives to all places. A kernel that reaches beyond these is ended by the device and reported; it has no memory of this program in its
//! reach but the pieces.
//!
//! This crate is where kernels are launched; what is unsafe about that stays here. Without the feature `launch` it contains nothing that
//! could be unsafe, and no device opens.

use std::fmt;

#[cfg(feature = "launch")]
mod compiler;
#[cfg(feature = "launch")]
mod launch;
#[cfg(feature = "launch")]
pub use launch::{Device, Kernel};
#[cfg(not(feature = "launch"))]
mod nothing;
#[cfg(not(feature = "launch"))]
pub use nothing::{Device, Kernel};

/// Name of the function of every kernel.
pub const ENTRY: &str = "gough";

/// Places of a piece.
pub const PIECE: usize = 1 << 22;

/// Why nothing is computed on a device.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Trouble {
    /// The program was built without kernels.
    NotBuilt,
    /// There is no driver.
    NoDriver,
    /// The driver has no device that can be used.
    NoDevice(String),
    /// There is no compiler.
    NoCompiler,
    /// The compiler refuses a kernel.
    NotCompiled(String),
    /// The device stopped in the middle.
    Stopped(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NotBuilt => f.write_str(
                "this program was built without graphics processors; build it with `--features cuda`, or leave the device out",
            ),
            Trouble::NoDriver => f.write_str(
                "no driver of NVIDIA is on this machine (libcuda is not found); leave the device out to compute on the processor",
            ),
            Trouble::NoDevice(why) => {
                write!(f, "the driver of NVIDIA has no device for this program ({why}); leave the device out to compute on the processor")
            }
            Trouble::NoCompiler => f.write_str(
                "CUDA's run-time compiler (libnvrtc) is not found; install it with CUDA 12 or later, and name its folder in CUDA_PATH or \
                 LD_LIBRARY_PATH",
            ),
            Trouble::NotCompiled(why) => write!(f, "CUDA's run-time compiler refuses the kernel: {why}"),
            Trouble::Stopped(why) => write!(f, "the device stopped: {why}; leave the device out to compute on the processor"),
        }
    }
}

impl std::error::Error for Trouble {}
