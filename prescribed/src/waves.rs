//! Frozen turbulence as a sum of Fourier modes (Kraichnan, Phys. Fluids 13 (1970) 22).
//!
//! u'(x, t) = Σ A cos θ + B sin θ, θ = 2π (κ·(x - U t) + φ). A and B are perpendicular to the wave vector, which makes
//! each mode free of divergence, and to one another, equally long. The mean of u'² along the time is then
//! Σ (A² + B²) / 2 to the bit of rounding, and that of one component a third of it, because the wave vectors are spread
//! evenly.
//!
//! - **Wave numbers** are log-spaced, from `LONGEST` times that of the peak to that of the shortest wave. The energy of
//!   a mode is the von Kármán spectrum's in its band (von Kármán, Proc. Natl. Acad. Sci. 34 (1948) 530), scaled so that
//!   the modes carry the whole intensity. The wave number of the spectrum is chosen so that the modes have the integral
//!   length L = 3π/4 ∫E/k / ∫E (Pope, Turbulent Flows, 2000, eq. 6.260).
//! - **Directions** follow a golden-ratio (Kronecker) sequence with a random offset: independent random directions would
//!   miss isotropy by 5 % and the integral length by 20 % with as many modes.
//! - **Bits**: offsets, phases and signs come from the seed by integer arithmetic (Steele, Lea & Flood 2014, SplitMix64).
//!   [`turn`] uses additions and multiplications only, and sums have a fixed order.

#[cfg(test)]
mod tests;

/// Modes, a multiple of `LANES`.
pub const MODES: usize = 152;
/// Modes that are evaluated together.
const LANES: usize = 4;
/// The lowest wave number as a share of the spectrum's, below which it has 0.15 % of its energy.
const LONGEST: f64 = 0.4;
/// ∫ x⁴ (1 + x²)^(-17/6) dx from 0 to ∞, B(5/2, 1/3) / 2.
const WHOLE: f64 = 1.032_515_913_921_471_2;

/// The requested turbulence. Lengths in m.
#[derive(Debug, Clone, PartialEq)]
pub struct TurbulenceRequest {
    /// Root mean square of one component, m/s.
    pub rms: f64,
    /// Longitudinal integral length.
    pub length: f64,
    /// Shortest wave.
    pub shortest: f64,
    /// The axis that the face is normal to.
    pub axis: usize,
    /// Corners of the face; along its axis both are the same.
    pub face: [[f64; 2]; 3],
    /// Axes along which the waves fit into the face.
    pub periodic: [bool; 3],
    /// The velocity that carries the turbulence, m/s.
    pub stream: [f64; 3],
    /// The seed of directions, phases and signs.
    pub seed: u64,
}

/// Log-spaced bands of wave numbers.
#[derive(Debug)]
pub struct WaveBands {
    /// Wave number of each mode, rad/m, and its share of the energy.
    pub modes: Vec<[f64; 2]>,
    /// Longest wave, m.
    pub longest: f64,
    /// Share of the whole spectrum that the bands hold.
    pub share: f64,
}

impl WaveBands {
    /// The bands whose integral length is requested; `None` if no spectrum has it because the shortest wave is too long.
    pub fn new(length: f64, shortest: f64) -> Option<Self> {
        let last = std::f64::consts::TAU / shortest;
        let (mut low, mut high) = (1e-2 / length, 0.5 * last / LONGEST);
        if Self::with(high, last).length() > length {
            return None;
        }
        // The integral length falls with the wave number of the spectrum.
        for _ in 0..100 {
            let middle = (low * high).sqrt();
            match Self::with(middle, last).length() > length {
                true => low = middle,
                false => high = middle,
            }
        }
        Some(Self::with(high, last))
    }

    fn with(peak: f64, last: f64) -> Self {
        let first = LONGEST * peak;
        let ratio = ((last / first).ln() / MODES as f64).exp();
        let energy = |k: f64| {
            let square = (k / peak).powi(2);
            square * square / (1.0 + square).powf(17.0 / 6.0)
        };
        let (mut modes, mut from, mut sum) = (Vec::with_capacity(MODES), first, 0.0);
        for _ in 0..MODES {
            let to = from * ratio;
            let middle = 0.5 * (from + to);
            // Simpson's rule.
            let held = (to - from) / 6.0 * (energy(from) + 4.0 * energy(middle) + energy(to));
            modes.push([(from * to).sqrt(), held]);
            sum += held;
            from = to;
        }
        modes.iter_mut().for_each(|mode| mode[1] /= sum);
        Self {
            modes,
            longest: std::f64::consts::TAU / first,
            share: sum / (WHOLE * peak),
        }
    }

    /// The longitudinal integral length of isotropic turbulence with these energies.
    fn length(&self) -> f64 {
        let sum: f64 = self.modes.iter().map(|[k, share]| share / k).sum();
        0.75 * std::f64::consts::PI * sum
    }
}

/// Some modes; the arrays within are by mode.
#[derive(Debug, Clone, Copy, Default)]
struct Four {
    /// Wave vector, turns/m.
    wave: [[f64; LANES]; 3],
    cosine: [[f64; LANES]; 3],
    sine: [[f64; LANES]; 3],
    /// Phase at the middle of the face, turns.
    phase: [f64; LANES],
    /// Turns/s at a fixed place, backwards.
    drift: [f64; LANES],
    /// The mean over the face, as a share of the value in its middle.
    mean: [f64; LANES],
}

/// The modes.
#[derive(Debug)]
pub struct TurbulenceWaves {
    modes: Vec<Four>,
    middle: [f64; 3],
    axis: usize,
}

impl TurbulenceWaves {
    /// The modes of a request; the same bits for the same seed.
    pub fn new(request: &TurbulenceRequest, bands: &WaveBands) -> Self {
        let mut modes = vec![Four::default(); MODES / LANES];
        for (n, &[k, share]) in bands.modes.iter().enumerate() {
            let mode = Mode::new(request, n as u64, k, request.rms * (3.0 * share).sqrt());
            let (four, lane) = (&mut modes[n / LANES], n % LANES);
            for a in 0..3 {
                four.wave[a][lane] = mode.wave[a];
                four.cosine[a][lane] = mode.cosine[a];
                four.sine[a][lane] = mode.sine[a];
            }
            four.phase[lane] = mode.phase;
            four.drift[lane] = dot(mode.wave, request.stream);
            four.mean[lane] = mode.mean(&request.face);
        }
        Self {
            modes,
            middle: request.face.map(|[low, high]| 0.5 * (low + high)),
            axis: request.axis,
        }
    }

    /// The field at a time, s.
    pub fn at(&self, time: f64) -> WaveField {
        let (mut phases, mut net) = (Vec::with_capacity(self.modes.len()), 0.0);
        for four in &self.modes {
            let phase: [f64; LANES] =
                std::array::from_fn(|n| four.phase[n] - (four.drift[n] * time).fract());
            for (n, &phase) in phase.iter().enumerate() {
                let [cos, sin] = turn(phase);
                let along = four.cosine[self.axis][n] * cos + four.sine[self.axis][n] * sin;
                net += four.mean[n] * along;
            }
            phases.push(phase);
        }
        WaveField { phases, net }
    }

    /// The velocity at a place, m and m/s; less the mean over the face along its normal.
    pub fn velocity(&self, field: &WaveField, x: [f64; 3]) -> [f64; 3] {
        let x: [f64; 3] = std::array::from_fn(|a| x[a] - self.middle[a]);
        let mut sum = [[0.0; LANES]; 3];
        for (four, phase) in self.modes.iter().zip(&field.phases) {
            for n in 0..LANES {
                let [k, l, m] = [four.wave[0][n], four.wave[1][n], four.wave[2][n]];
                let [cos, sin] = turn(k * x[0] + l * x[1] + m * x[2] + phase[n]);
                for a in 0..3 {
                    sum[a][n] += four.cosine[a][n] * cos + four.sine[a][n] * sin;
                }
            }
        }
        let mut u = sum.map(|[a, b, c, d]| (a + b) + (c + d));
        u[self.axis] -= field.net;
        u
    }
}

/// The phases at one time.
#[derive(Debug)]
pub struct WaveField {
    phases: Vec<[f64; LANES]>,
    /// What all of them drive through the face, a mean velocity along its normal.
    net: f64,
}

/// One mode.
struct Mode {
    wave: [f64; 3],
    cosine: [f64; 3],
    sine: [f64; 3],
    phase: f64,
}

impl Mode {
    /// Mode `n` of wave number `k`, rad/m, and amplitude `size`.
    fn new(request: &TurbulenceRequest, n: u64, k: f64, size: f64) -> Self {
        // The fractional parts of the golden ratio and of √2, 64 bits each.
        const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
        const ROOT: u64 = 0x6A09_E667_F3BC_C908;
        let random = |which| mix(request.seed, which);
        let along = share(random(0).wrapping_add(GOLDEN.wrapping_mul(n + 1)));
        let around = share(random(1).wrapping_add(ROOT.wrapping_mul(n + 1)));
        let [cos, sin] = turn(around);
        let across = (1.0 - along * along).sqrt();
        let mut wave = [0.0; 3];
        wave[request.axis] = along;
        wave[(request.axis + 1) % 3] = across * cos;
        wave[(request.axis + 2) % 3] = across * sin;
        let wave = fit(wave.map(|e| e * k / std::f64::consts::TAU), request);
        let length = dot(wave, wave).sqrt();
        let unit = wave.map(|e| e / length);
        // Perpendicular to the wave vector and to the axis that it is least along.
        let least = (0..3).fold(0, |least, a| {
            if unit[a].abs() < unit[least].abs() {
                a
            } else {
                least
            }
        });
        let mut other = [0.0; 3];
        other[least] = 1.0;
        let first = cross(unit, other);
        let scale = size / dot(first, first).sqrt();
        let cosine = first.map(|e| e * scale);
        let sign = if random(2 * n + 2) >> 63 == 1 {
            -1.0
        } else {
            1.0
        };
        Self {
            wave,
            cosine,
            sine: cross(unit, cosine).map(|e| sign * e),
            phase: share(random(2 * n + 3)),
        }
    }

    /// The mean over a face, as a share of the value in its middle.
    fn mean(&self, face: &[[f64; 2]; 3]) -> f64 {
        let share = |a: usize| {
            let half = std::f64::consts::PI * self.wave[a] * (face[a][1] - face[a][0]);
            if half == 0.0 { 1.0 } else { half.sin() / half }
        };
        share(0) * share(1) * share(2)
    }
}

/// The wave vector, turns/m, whose waves fit into a face along its periodic axes.
fn fit(wave: [f64; 3], request: &TurbulenceRequest) -> [f64; 3] {
    let mut fitted = wave;
    let along: Vec<usize> = (0..3)
        .filter(|&a| a != request.axis && request.periodic[a])
        .collect();
    let width = |a: usize| request.face[a][1] - request.face[a][0];
    for &a in &along {
        fitted[a] = (wave[a] * width(a)).round() / width(a);
    }
    // A wave longer than the face must not become a uniform stream.
    if 4.0 * dot(fitted, fitted) < dot(wave, wave) {
        let most = along
            .into_iter()
            .fold(None, |most: Option<usize>, a| match most {
                Some(most) if wave[most].abs() >= wave[a].abs() => Some(most),
                _ => Some(a),
            });
        if let Some(a) = most {
            fitted[a] = wave[a].signum() / width(a);
        }
    }
    fitted
}

/// A random number of a seed (SplitMix64).
fn mix(seed: u64, which: u64) -> u64 {
    let mut z = (seed ^ 0x5851_F42D_4C95_7F2D)
        .wrapping_mul(0xD134_2543_DE82_EF95)
        .wrapping_add(which.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number in [0, 1).
fn share(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|n| {
        let (m, o) = ((n + 1) % 3, (n + 2) % 3);
        a[m] * b[o] - a[o] * b[m]
    })
}

/// Cosine and sine of an angle in turns, below 2^50: error below 1e-15 plus that of the argument. Without branches, so
/// that several are computed at once; by Taylor's series at half the angle, at most π/2.
#[inline(always)]
pub fn turn(turns: f64) -> [f64; 2] {
    // Adding it rounds to integers.
    const ROUND: f64 = 1.5 * (1u64 << 52) as f64;
    let h = std::f64::consts::PI * (turns - ((turns + ROUND) - ROUND));
    let square = h * h;
    let [mut sine, mut cosine] = [SINE[10], COSINE[10]];
    for n in (0..10).rev() {
        sine = sine * square + SINE[n];
        cosine = cosine * square + COSINE[n];
    }
    sine *= h;
    [1.0 - 2.0 * sine * sine, 2.0 * sine * cosine]
}

/// Taylor's coefficients (-1)^n / (2n + first)!.
const fn series(first: u64) -> [f64; 11] {
    let (mut series, mut factorial, mut n) = ([0.0; 11], 1.0, 0);
    while n < 11 {
        series[n] = 1.0 / factorial;
        let next = (2 * n as u64 + first + 1) as f64;
        factorial *= -next * (next + 1.0);
        n += 1;
    }
    series
}
const SINE: [f64; 11] = series(1);
const COSINE: [f64; 11] = series(0);
