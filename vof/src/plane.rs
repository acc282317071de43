//! Volumes of the unit cell below a plane, and the plane of a volume (Scardovelli, Zaleski 2000, J. Comput. Phys. 164).
//!
//! The plane is `n·x = constant` in the cell, whose lower corner is the origin; liquid is where `n·x` is less. Components
//! of `n` are made positive by reflection, and their sum is 1. In 2D the third component is 0.

use crate::constants::FLAT;

/// Sorted components of a plane, their sum 1, and the products that the volume needs.
#[derive(Debug, Clone, Copy)]
struct Sorted {
    m: [f64; 3],
    scale: f64,
}

impl Sorted {
    fn new<const D: usize>(n: [f64; D]) -> Self {
        let mut m = [0.0; 3];
        for (m, n) in m.iter_mut().zip(n) {
            *m = n.abs();
        }
        m.sort_by(f64::total_cmp);
        let scale = m.iter().sum::<f64>();
        let mut m = m.map(|m| m / scale);
        for i in 0..2 {
            if m[i] < FLAT {
                m[i] = 0.0;
            }
        }
        m[2] = 1.0 - m[0] - m[1];
        Self { m, scale }
    }

    /// A constant to begin with, for a volume of at most 1/2. It is right to rounding where it is between the two smaller
    /// components, or above their sum.
    fn start(&self, volume: f64) -> f64 {
        let [m1, m2, m3] = self.m;
        let cube = 6.0 * m1 * m2 * m3 * volume;
        if cube < m1 * m1 * m1 {
            // Its power 5/16, which is above the cube root.
            let fourth = cube.sqrt().sqrt();
            return (fourth * fourth.sqrt().sqrt()).min(m1);
        }
        let c = 0.5 * m1 + (2.0 * m2 * m3 * volume - m1 * m1 / 12.0).max(0.0).sqrt();
        // Never below the constant, since the largest section is 1/m3.
        if c < m2 {
            c
        } else {
            0.5 * (m1 + m2) + m3 * volume
        }
    }

    /// Volume and its derivative for a constant of at most 1/2.
    fn lower_half(&self, c: f64) -> (f64, f64) {
        let [m1, m2, m3] = self.m;
        let m12 = m1 + m2;
        if c < m1 {
            let f = 1.0 / (6.0 * m1 * m2 * m3);
            (c * c * c * f, 3.0 * c * c * f)
        } else if c < m2 {
            let f = 1.0 / (2.0 * m2 * m3);
            (c * (c - m1) * f + m1 * m1 * f / 3.0, (2.0 * c - m1) * f)
        } else if c < m12.min(m3) {
            let f = 1.0 / (6.0 * m1 * m2 * m3);
            let v = c * c * (3.0 * m12 - c) + m1 * m1 * (m1 - 3.0 * c) + m2 * m2 * (m2 - 3.0 * c);
            (v * f, 3.0 * (c * (2.0 * m12 - c) - m1 * m1 - m2 * m2) * f)
        } else if m12 <= m3 {
            ((2.0 * c - m12) / (2.0 * m3), 1.0 / m3)
        } else {
            let f = 1.0 / (6.0 * m1 * m2 * m3);
            let v = c * c * (3.0 - 2.0 * c)
                + m1 * m1 * (m1 - 3.0 * c)
                + m2 * m2 * (m2 - 3.0 * c)
                + m3 * m3 * (m3 - 3.0 * c);
            let square = m1 * m1 + m2 * m2 + m3 * m3;
            (v * f, 3.0 * (2.0 * c * (1.0 - c) - square) * f)
        }
    }
}

/// The part of the unit cell where `|n|·x` is below a constant; 0 to 1.
pub fn volume<const D: usize>(n: [f64; D], constant: f64) -> f64 {
    let sorted = Sorted::new(n);
    let c = constant / sorted.scale;
    if c <= 0.0 {
        0.0
    } else if c >= 1.0 {
        1.0
    } else if c <= 0.5 {
        sorted.lower_half(c).0.clamp(0.0, 1.0)
    } else {
        (1.0 - sorted.lower_half(1.0 - c).0).clamp(0.0, 1.0)
    }
}

/// The constant of the plane with the normal `|n|` that has a volume below, to rounding.
pub fn constant<const D: usize>(n: [f64; D], volume: f64) -> f64 {
    let sorted = Sorted::new(n);
    let wanted = volume.min(1.0 - volume).max(0.0);
    let [mut low, mut high] = [0.0, 0.5];
    let mut c = sorted.start(wanted);
    for _ in 0..60 {
        let (v, slope) = sorted.lower_half(c);
        if v < wanted {
            low = c;
        } else {
            high = c;
        }
        let newton = c - (v - wanted) / slope;
        if (newton - c).abs() <= f64::EPSILON {
            break;
        }
        c = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
    }
    sorted.scale * if volume > 0.5 { 1.0 - c } else { c }
}

/// The part of a slab of a cell that is below its plane: between two coordinates along an axis, as a part of the slab.
pub fn slab<const D: usize>(n: [f64; D], constant: f64, axis: usize, from: f64, to: f64) -> f64 {
    let low = if n[axis] < 0.0 { 1.0 - to } else { from };
    let mut part = n;
    part[axis] *= to - from;
    volume(part, constant - n[axis].abs() * low)
}

/// The part of a smaller cell that is below a cell's plane: a cube of some width in it, by its lower corner.
pub fn part<const D: usize>(n: [f64; D], constant: f64, low: [f64; D], width: f64) -> f64 {
    let from = |a: usize| {
        if n[a] < 0.0 {
            1.0 - low[a] - width
        } else {
            low[a]
        }
    };
    let below: f64 = (0..D).map(|a| n[a].abs() * from(a)).sum();
    volume(n, (constant - below) / width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume by adding slices along the last axis: areas of 2D by clipping the triangle.
    fn by_slices(m: [f64; 3], c: f64) -> f64 {
        let area = |c: f64| {
            // The unit square below m0 x + m1 y = c.
            let width = |y: f64| ((c - m[1] * y) / m[0]).clamp(0.0, 1.0);
            let n = 400;
            (0..n)
                .map(|i| width((f64::from(i) + 0.5) / f64::from(n)))
                .sum::<f64>()
                / f64::from(n)
        };
        let n = 400;
        (0..n)
            .map(|i| area(c - m[2] * (f64::from(i) + 0.5) / f64::from(n)))
            .sum::<f64>()
            / f64::from(n)
    }

    #[test]
    fn volumes_are_those_of_slices() {
        for m in [
            [0.2, 0.3, 0.5],
            [0.1, 0.1, 0.8],
            [1.0, 1.0, 1.0],
            [0.05, 0.5, 0.45],
            [2.0, 0.3, 0.01],
        ] {
            let sum: f64 = m.iter().sum();
            for i in 1..20 {
                let c = sum * f64::from(i) / 20.0;
                let (found, expected) = (volume(m, c), by_slices(m, c));
                assert!(
                    (found - expected).abs() < 2e-5,
                    "{m:?} {c}: {found} {expected}"
                );
            }
        }
        assert!(
            (volume([0.3, 0.7], 0.5) - 0.5).abs() < 1e-15,
            "2D, the middle"
        );
        assert!(
            (volume([0.5, 0.5], 0.25) - 0.125).abs() < 1e-15,
            "2D, a triangle"
        );
        assert!((volume([0.0, 0.0, -2.0], 0.5) - 0.25).abs() < 1e-15, "flat");
    }

    #[test]
    fn the_constant_is_the_inverse() {
        let mut state = 7u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        for i in 0..20_000 {
            let flat = [1.0, 1e-3, 1e-6, 1e-9][i % 4];
            let n = [random() - 0.5, flat * (random() - 0.5), random() - 0.5];
            let v = if i % 3 == 0 {
                random() * 1e-6
            } else {
                random()
            };
            let found = volume(n, constant(n, v));
            // Beside the derivative's inverse, which is large for a small volume at a corner.
            assert!((found - v).abs() < 1e-9, "{n:?}: {found} {v}");
            let two = [n[0], n[2]];
            let found = volume(two, constant(two, v));
            assert!((found - v).abs() < 1e-13, "{two:?}: {found} {v}");
        }
    }

    #[test]
    fn parts_are_those_of_slices_and_add_up() {
        let n = [0.3, -0.5, 0.2];
        let c = constant(n, 0.37);
        let mut sum = 0.0;
        for i in 0..8 {
            let low = [i & 1, i >> 1 & 1, i >> 2].map(|b| 0.5 * f64::from(b));
            let found = part(n, c, low, 0.5);
            // Points of the part, by the plane that liquid is below: y runs from the other end.
            let m = 40;
            let point = |k: i32, a: usize| low[a] + 0.5 * (f64::from(k) + 0.5) / f64::from(m);
            let inside = (0..m * m * m).filter(|k| {
                let [x, y, z] = [point(k % m, 0), point(k / m % m, 1), point(k / m / m, 2)];
                0.3 * x + 0.5 * (1.0 - y) + 0.2 * z < c
            });
            let expected = inside.count() as f64 / f64::from(m * m * m);
            assert!((found - expected).abs() < 4e-3, "{i}: {found} {expected}");
            sum += found / 8.0;
        }
        assert!((sum - 0.37).abs() < 1e-14, "{sum}");
    }

    #[test]
    fn slabs_add_up_to_the_cell() {
        let n = [0.3, -0.5, 0.2];
        let c = constant(n, 0.37);
        for axis in 0..3 {
            let parts = [0.0, 0.13, 0.5, 1.0]
                .windows(2)
                .map(|w| slab(n, c, axis, w[0], w[1]) * (w[1] - w[0]))
                .sum::<f64>();
            assert!((parts - 0.37).abs() < 1e-14, "axis {axis}: {parts}");
        }
        // Liquid is where n x is less: with a negative component, at the upper end.
        assert!(slab(n, c, 1, 0.9, 1.0) > slab(n, c, 1, 0.0, 0.1));
    }
}
