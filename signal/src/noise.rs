//! Noise for the tests: SplitMix64 (Steele, Lea & Flood 2014) and Box & Muller 1958.

/// A stream of independent normal deviates.
pub(super) struct Noise(u64);

impl Noise {
    /// The stream of a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xD1B5_4A32_D192_ED03) ^ 0x5851_F42D_4C95_7F2D)
    }

    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The next deviate of mean 0 and variance 1.
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// `n` samples of x' = phi x + e, e normal of variance 1, from the stationary distribution.
    pub(super) fn autoregressive(&mut self, n: usize, phi: f64) -> Vec<f64> {
        let mut x = self.normal() / (1.0 - phi * phi).sqrt();
        (0..n)
            .map(|_| {
                x = phi * x + self.normal();
                x
            })
            .collect()
    }

    /// `n` samples of a sine of `cycles` cycles in total, with noise of standard deviation `sigma`.
    pub(super) fn sine(&mut self, n: usize, cycles: f64, phase: f64, sigma: f64) -> Vec<f64> {
        let step = std::f64::consts::TAU * cycles / n as f64;
        (0..n)
            .map(|i| (step * i as f64 + phase).sin() + sigma * self.normal())
            .collect()
    }
}
