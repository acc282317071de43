//! Sets of discrete velocities, as tables that Rust and CUDA share (`build.rs` writes them out).
//!
//! Velocity 0 rests; 2k+1 and 2k+2 are opposite. Weights and speeds of sound (1/√3): Qian,
//! d'Humières & Lallemand 1992.

/// A set of discrete velocities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatticeKind {
    /// 2D, nine velocities.
    D2Q9,
    /// 3D, nineteen velocities.
    D3Q19,
    /// 3D, twenty-seven velocities.
    D3Q27,
}

impl LatticeKind {
    /// Dimensions.
    pub const fn dimensions(self) -> usize {
        match self {
            Self::D2Q9 => 2,
            Self::D3Q19 | Self::D3Q27 => 3,
        }
    }

    /// Velocities.
    pub fn velocities(self) -> usize {
        match self {
            Self::D2Q9 => 9,
            Self::D3Q19 => 19,
            Self::D3Q27 => 27,
        }
    }
}

/// Most velocities of any set.
pub const MOST: usize = 27;

/// One set of velocities.
pub trait Lattice: Copy + Default + std::fmt::Debug + Send + Sync + 'static {
    /// Which one.
    const KIND: LatticeKind;
    /// Velocities.
    const Q: usize;
    /// Their components; in 2D the third is 0.
    const C: &'static [[i32; 3]];
    /// Their weights.
    const W: &'static [f64];
    /// Third-order Hermite modes of the recursive regularization, as sums of the polynomials xxy, xxz, xyy,
    /// yyz, xzz, yzz, xyz: each row is a mode's share of each polynomial, and its factor.
    const MODES: &'static [([f64; 7], f64)];
}

macro_rules! lattice {
    ($(#[$doc:meta])* $name:ident, $c:expr, $w:expr, $modes:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $name;
        impl Lattice for $name {
            const KIND: LatticeKind = LatticeKind::$name;
            const Q: usize = Self::C.len();
            const C: &'static [[i32; 3]] = &$c;
            const W: &'static [f64] = &$w;
            const MODES: &'static [([f64; 7], f64)] = &$modes;
        }
    };
}

const S9: f64 = 1.0 / 9.0;
const E9: f64 = 1.0 / 36.0;
lattice!(
    /// Nine velocities in 2D.
    D2Q9,
    [[0, 0, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [1, 1, 0], [-1, -1, 0], [1, -1, 0], [-1, 1, 0]],
    [4.0 / 9.0, S9, S9, S9, S9, E9, E9, E9, E9],
    [([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 13.5), ([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 13.5)]
);

const S19: f64 = 1.0 / 18.0;
const E19: f64 = 1.0 / 36.0;
lattice!(
    /// Nineteen velocities in 3D. Its third-order modes are the sums and differences that it can
    /// tell apart (Jacob, Malaspinas & Sagaut 2018, eq. 8).
    D3Q19,
    [
        [0, 0, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1],
        [1, 1, 0], [-1, -1, 0], [1, -1, 0], [-1, 1, 0], [1, 0, 1], [-1, 0, -1], [1, 0, -1], [-1, 0, 1],
        [0, 1, 1], [0, -1, -1], [0, 1, -1], [0, -1, 1]
    ],
    [1.0 / 3.0, S19, S19, S19, S19, S19, S19, E19, E19, E19, E19, E19, E19, E19, E19, E19, E19, E19, E19],
    [
        ([1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], 13.5), ([1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0], 4.5),
        ([0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0], 13.5), ([0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0], 4.5),
        ([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0], 13.5), ([0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0], 4.5)
    ]
);

const S27: f64 = 2.0 / 27.0;
const E27: f64 = 1.0 / 54.0;
const V27: f64 = 1.0 / 216.0;
lattice!(
    /// Twenty-seven velocities in 3D.
    D3Q27,
    [
        [0, 0, 0], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1],
        [1, 1, 0], [-1, -1, 0], [1, -1, 0], [-1, 1, 0], [1, 0, 1], [-1, 0, -1], [1, 0, -1], [-1, 0, 1],
        [0, 1, 1], [0, -1, -1], [0, 1, -1], [0, -1, 1],
        [1, 1, 1], [-1, -1, -1], [1, 1, -1], [-1, -1, 1], [1, -1, 1], [-1, 1, -1], [-1, 1, 1], [1, -1, -1]
    ],
    [
        8.0 / 27.0, S27, S27, S27, S27, S27, S27, E27, E27, E27, E27, E27, E27, E27, E27, E27, E27, E27, E27,
        V27, V27, V27, V27, V27, V27, V27, V27
    ],
    [
        ([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 13.5), ([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 13.5),
        ([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 13.5), ([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], 13.5),
        ([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], 13.5), ([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], 13.5),
        ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 27.0)
    ]
);

/// The velocity opposite to `q`.
pub const fn opposite(q: usize) -> usize {
    match q {
        0 => 0,
        _ => ((q - 1) ^ 1) + 1,
    }
}

/// The third-order Hermite polynomials of a velocity, as in [`Lattice::MODES`].
pub const fn cubic_polynomials(c: [i32; 3]) -> [f64; 7] {
    let [x, y, z] = [c[0] as f64, c[1] as f64, c[2] as f64];
    const T: f64 = 1.0 / 3.0;
    [
        (x * x - T) * y,
        (x * x - T) * z,
        x * (y * y - T),
        (y * y - T) * z,
        x * (z * z - T),
        y * (z * z - T),
        x * y * z,
    ]
}

/// What a velocity gets of each third-order coefficient, its weight apart: so that the odd part is
/// `w Σ K[n] A[n]` over the seven polynomials.
pub const fn cubic_shares<L: Lattice>(q: usize) -> [f64; 7] {
    let h = cubic_polynomials(L::C[q]);
    let mut shares = [0.0; 7];
    let mut m = 0;
    while m < L::MODES.len() {
        let (mode, factor) = L::MODES[m];
        let (mut along, mut n) = (0.0, 0);
        while n < 7 {
            along += mode[n] * h[n];
            n += 1;
        }
        n = 0;
        while n < 7 {
            shares[n] += factor * along * mode[n];
            n += 1;
        }
        m += 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments<L: Lattice>() {
        let d = L::KIND.dimensions();
        let delta = |a: usize, b: usize| f64::from(u8::from(a == b));
        let sum = |of: &dyn Fn(usize) -> f64| (0..L::Q).map(|q| L::W[q] * of(q)).sum::<f64>();
        let near = |got: f64, want: f64| assert!((got - want).abs() < 1e-14, "{got} {want}");
        near(sum(&|_| 1.0), 1.0);
        for q in 0..L::Q {
            assert_eq!(L::C[opposite(q)], L::C[q].map(|c| -c), "opposite of {q}");
        }
        let c = |q: usize, a: usize| f64::from(L::C[q][a]);
        for a in 0..d {
            near(sum(&|q| c(q, a)), 0.0);
            for b in 0..d {
                near(sum(&|q| c(q, a) * c(q, b)), delta(a, b) / 3.0);
                for e in 0..d {
                    near(sum(&|q| c(q, a) * c(q, b) * c(q, e)), 0.0);
                    for g in 0..d {
                        let pairs = delta(a, b) * delta(e, g)
                            + delta(a, e) * delta(b, g)
                            + delta(a, g) * delta(b, e);
                        near(sum(&|q| c(q, a) * c(q, b) * c(q, e) * c(q, g)), pairs / 9.0);
                    }
                }
            }
        }
        // Modes are orthogonal to momentum and to one another, and their factor is one over their norm.
        for (i, (mode, factor)) in L::MODES.iter().enumerate() {
            let along = |mode: &[f64; 7], q: usize| -> f64 {
                let h = cubic_polynomials(L::C[q]);
                (0..7).map(|n| mode[n] * h[n]).sum()
            };
            for a in 0..d {
                near(sum(&|q| along(mode, q) * c(q, a)), 0.0);
            }
            for (k, (other, _)) in L::MODES.iter().enumerate() {
                let product = sum(&|q| along(mode, q) * along(other, q));
                near(product * factor, f64::from(u8::from(i == k)));
            }
        }
    }

    #[test]
    fn moments_are_those_of_the_maxwellian() {
        moments::<D2Q9>();
        moments::<D3Q19>();
        moments::<D3Q27>();
    }
}
