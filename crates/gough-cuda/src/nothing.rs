//! Builds without kernels.

use crate::Trouble;

/// A graphics processor: none can be opened in this build.
#[derive(Clone, Debug)]
pub struct Device(());

/// A kernel: there is none in this build.
#[derive(Debug)]
pub struct Kernel(());

impl Device {
    /// The first device; never there.
    pub fn open() -> Result<Self, Trouble> {
        Err(Trouble::NotBuilt)
    }

    /// Its name.
    pub fn name(&self) -> String {
        String::new()
    }

    /// A kernel; never there.
    pub fn kernel(&self, _: &str) -> Result<Kernel, Trouble> {
        Err(Trouble::NotBuilt)
    }
}

impl Kernel {
    /// Compute places: none is computed.
    pub fn over(
        &self,
        _: usize,
        _: usize,
        _: &[f64],
        _: &mut dyn FnMut(usize, &[f64]) -> bool,
    ) -> Result<f64, Trouble> {
        Err(Trouble::NotBuilt)
    }
}
