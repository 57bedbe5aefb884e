//! A few samples of a block that stand for all of it: what is smooth goes through them as a polynomial.

use std::f64::consts::PI;

/// Nodes of a block: positions are filtered to less than half a wave in it, and regressors have a few times that.
const NODES: usize = 5;

/// Samples of a block, and what each counts in the mean of something smooth over all of its samples.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    /// Numbers of the samples, rising; the middle one is the middle of the block.
    pub at: Vec<usize>,
    /// What is smooth has at a sample the sum of its values at the nodes times these; a list per sample.
    parts: Vec<Vec<f64>>,
    /// What each node counts in the mean.
    pub weights: Vec<f64>,
}

impl Nodes {
    /// Nodes of a block of so many samples: all where they are few, those nearest to the zeros of a Chebyshev polynomial else.
    pub fn new(samples: usize) -> Self {
        let count = samples.clamp(1, NODES);
        let half = 0.5 * samples as f64;
        let zero = |k: usize| half - 0.5 - half * (PI * (2 * k + 1) as f64 / (2 * count) as f64).cos();
        // Between zero and the number of samples.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let nearest = |k: usize| zero(k).round().max(0.0) as usize;
        let at: Vec<usize> = (0..count).map(|k| if count == samples { k } else { nearest(k) }).collect();
        let parts: Vec<Vec<f64>> = (0..samples.max(1)).map(|s| lagrange(&at, s)).collect();
        let weights = (0..count).map(|n| parts.iter().map(|p| p[n]).sum::<f64>() / parts.len() as f64).collect();
        Self { at, parts, weights }
    }

    /// The node in the middle.
    pub fn middle(&self) -> usize {
        self.at.len() / 2
    }

    /// Values at all samples of something smooth, from those at the nodes.
    pub fn spread(&self, values: &[f64]) -> Vec<f64> {
        self.parts.iter().map(|p| p.iter().zip(values).map(|(p, x)| p * x).sum()).collect()
    }

    /// What something that is not smooth amounts to at a node, given its values at all samples: times anything smooth, the mean
    /// over the samples is the mean over the nodes.
    pub fn gathered(&self, node: usize, values: impl Iterator<Item = f64>) -> f64 {
        let sum: f64 = self.parts.iter().zip(values).map(|(p, x)| p[node] * x).sum();
        sum / (self.weights[node] * self.parts.len() as f64)
    }
}

/// Lagrange's polynomials of the nodes at a sample.
fn lagrange(at: &[usize], sample: usize) -> Vec<f64> {
    let factor = |n: usize, m: usize| (sample as f64 - at[m] as f64) / (at[n] as f64 - at[m] as f64);
    (0..at.len()).map(|n| (0..at.len()).filter(|m| *m != n).map(|m| factor(n, m)).product()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of a step times a polynomial comes out of the nodes alone.
    #[test]
    fn steps_times_polynomials_have_their_means() {
        for samples in [1, 2, 3, 4, 5, 6, 8, 25, 100] {
            let nodes = Nodes::new(samples);
            assert!(nodes.at.windows(2).all(|w| w[0] < w[1]) && nodes.at.iter().all(|k| *k < samples), "{nodes:?}");
            assert!(nodes.weights.iter().all(|w| *w > 0.0), "{nodes:?}");
            let degree = i32::try_from(nodes.at.len()).unwrap() - 1;
            let smooth = |k: usize| (0.3 + k as f64 / samples as f64).powi(degree);
            let step = |k: usize| if 3 * k < samples { -1.0 } else { 1.0 };
            let wanted = (0..samples).map(|k| step(k) * smooth(k)).sum::<f64>() / samples as f64;
            let one =
                |(n, k): (usize, &usize)| nodes.weights[n] * nodes.gathered(n, (0..samples).map(step)) * smooth(*k);
            let found: f64 = nodes.at.iter().enumerate().map(one).sum();
            assert!((found - wanted).abs() < 1e-12, "{samples}: {found} {wanted}");
            let spread = nodes.spread(&nodes.at.iter().map(|k| smooth(*k)).collect::<Vec<f64>>());
            assert!((0..samples).all(|k| (spread[k] - smooth(k)).abs() < 1e-12));
        }
    }
}
