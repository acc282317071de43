//! Small facets: those that GPU kernels process in 32-bit coordinates and in f64, exactly.

/// Bits of an integer that f64 holds exactly.
const EXACT_BITS: u32 = 53;

/// The largest extent along an axis, in lattice units, of a small facet in a list of a block with cells of `spacing`; 0
/// where none is small. A power of two.
///
/// A facet in a list has a point in common with its block, grown by half a cell. With an extent E, its normal is within
/// E² on each axis, and its plane's values at points up to a few cells around the block are within 3 E² (E + 15
/// spacings), integers that f64 should hold. Sheared edges are within 2 E, and their steps from line to line, 2 E
/// spacings, should fit 32 bits with their sign, as should sheared coordinates within 2 E + 16 spacings.
pub(super) fn small_extent(spacing: i32) -> i32 {
    let fits = |extent: &i32| {
        let (e, s) = (i128::from(*extent), i128::from(spacing));
        let value = 3 * e * e * (e + 15 * s);
        value < 1 << EXACT_BITS && 2 * e * s <= 1 << 30 && 2 * e + 16 * s < 1 << 31
    };
    (1..=20).rev().map(|bits| 1 << bits).find(fits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worst of many facets of extent E at the far ends of where they can lie: no value of their plane, and no step
    /// of their edge functions, is larger than the type that holds it.
    #[test]
    fn the_worst_small_facets_fit() {
        let mut seed = 7u64;
        let mut random = move |below: i128| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            i128::from(seed >> 33) % below
        };
        for bits in 8..=20 {
            let s = 1i128 << bits;
            let e = i128::from(small_extent(1 << bits));
            assert!(e > 0, "spacing {s}");
            let (mut value, mut step, mut coordinate) = (0, 0, 0);
            for _ in 0..4000 {
                // Its box touches the block, grown by half a cell; corners are corners of its box.
                let low: [i128; 3] = std::array::from_fn(|_| match random(2) {
                    0 => -s / 2 - e,
                    _ => 3 * s + s / 2,
                });
                let f: [[i128; 3]; 3] =
                    std::array::from_fn(|_| std::array::from_fn(|a| low[a] + e * random(2)));
                let edge = |k: usize| -> [i128; 3] { std::array::from_fn(|a| f[k][a] - f[0][a]) };
                let (p, q) = (edge(1), edge(2));
                let n: [i128; 3] = std::array::from_fn(|a| {
                    let (b, c) = ((a + 1) % 3, (a + 2) % 3);
                    p[b] * q[c] - p[c] * q[b]
                });
                // Lines of all shears through the block, and cells up to one beyond it.
                let at: [i128; 3] = std::array::from_fn(|_| s * (random(6) - 1));
                let of_plane: i128 = (0..3).map(|a| n[a] * (at[a] - f[0][a])).sum();
                value = value.max(of_plane.abs());
                for (du, dv) in [(-1, -1), (-1, 1), (1, 1), (0, 0)] {
                    for k in 0..3 {
                        let l = (k + 1) % 3;
                        let u = |k: usize| f[k][0] - du * f[k][2];
                        let v = |k: usize| f[k][1] - dv * f[k][2];
                        step = step.max(s * (u(l) - u(k)).abs().max((v(l) - v(k)).abs()));
                        coordinate = coordinate.max(u(k).abs().max(v(k).abs()));
                    }
                }
            }
            assert!(
                value < 1 << 53 && step < 1 << 31,
                "spacing {s}: {value}, {step}"
            );
            assert!(coordinate < 1 << 31, "spacing {s}: {coordinate}");
            // They come near a bound, too.
            let near = value > 1 << 46 || step > 1 << 26 || coordinate > 1 << 26;
            assert!(near, "spacing {s}: {value}, {step}, {coordinate}");
        }
    }

    #[test]
    fn the_extent_is_a_power_of_two_that_falls_with_the_spacing() {
        let of = [8, 10, 12, 13, 14, 15, 16].map(|bits| small_extent(1 << bits));
        assert_eq!(of, [17, 17, 16, 16, 15, 14, 13].map(|bits| 1 << bits));
        assert_eq!(small_extent(1 << 30), 0, "none");
    }
}
