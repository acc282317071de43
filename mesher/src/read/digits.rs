//! Whether f32 coordinates have digits enough for the body they describe.

use rayon::prelude::*;

/// Spacing of f32 numbers over the body's longest side, above which a note is due:
/// 8,192 steps along the body are about what a mesh of six levels resolves.
const COARSEST: f64 = 1.0 / 8192.0;

/// A note where the body is so far from the origin that its f32 coordinates are coarse.
pub(super) fn far_away(vertices: &[[f64; 3]]) -> Option<String> {
    let empty = || ([f64::MAX; 3], [f64::MIN; 3]);
    let join = |a: ([f64; 3], [f64; 3]), b: ([f64; 3], [f64; 3])| {
        let low = std::array::from_fn(|k| a.0[k].min(b.0[k]));
        (low, std::array::from_fn(|k| a.1[k].max(b.1[k])))
    };
    let (low, high) = vertices
        .par_iter()
        .with_min_len(1 << 14)
        .fold(empty, |bounds, &p| join(bounds, (p, p)))
        .reduce(empty, join);
    let sides = (0..3).map(|k| high[k] - low[k]);
    let longest = sides.fold(0.0, f64::max);
    let farthest = low
        .iter()
        .chain(&high)
        .fold(0.0, |far: f64, x| far.max(x.abs()));
    let spacing = f64::from((farthest as f32).next_up()) - f64::from(farthest as f32);
    (spacing > COARSEST * longest).then(|| {
        format!(
            "the body is {longest:.6} long and up to {farthest:.6e} away from the origin, where 32-bit \
             coordinates are {spacing:.2e} apart: read as they are, but details were lost when the file \
             was written; export it near the origin, or as text or PLY with 'double'"
        )
    })
}
