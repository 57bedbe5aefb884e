//! What sensors would have seen of a motion: encoders with steps, noisy efforts.

use super::record::{Measured, Record};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Imperfections of sensors.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sensors {
    /// Standard deviation of the noise of efforts, N m or N.
    pub effort: f64,
    /// Noise as a share of the root mean square of each drive's effort, added to it.
    pub effort_share: f64,
    /// Step of the encoders, rad or m; zero for none.
    pub step: f64,
    /// The same seed gives the same noise.
    pub seed: u64,
}

impl Sensors {
    /// The record as these sensors see it.
    #[must_use]
    pub fn seen(&self, mut record: Record) -> Record {
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        // Box and Muller: one of two independent normal numbers.
        let mut normal = || {
            let (radius, turn): (f64, f64) = (random.random(), random.random());
            (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
        };
        for tau in &mut record.efforts {
            let rms = (tau.iter().map(|x| x * x).sum::<f64>() / tau.len().max(1) as f64).sqrt();
            let deviation = self.effort + self.effort_share * rms;
            if deviation > 0.0 {
                tau.iter_mut().for_each(|x| *x += deviation * normal());
            }
        }
        if let (Measured::Joints(list), true) = (&mut record.measured, self.step > 0.0) {
            list.iter_mut().flatten().for_each(|q| *q = (*q / self.step).round() * self.step);
        }
        record
    }
}
