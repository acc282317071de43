//! The interface's normal in a cell from the fractions around: heights where all columns reach from full to empty cells,
//! else ELVIRA in 2D (Pilliod, Puckett 2004) and the mixed Youngs-centred normal in 3D (Aulisa et al. 2007).
//!
//! Normals point out of the liquid; their components' absolute values add up to 1.

use crate::heights::column;
use crate::mesh::STEP;
use crate::plane;

/// Components scaled so that their absolute values add up to 1.
fn scaled<const D: usize>(n: [f64; D]) -> [f64; D] {
    let sum: f64 = n.iter().map(|n| n.abs()).sum();
    n.map(|n| n / sum)
}

/// Minus the gradient of the fractions, from all 3^D cells (Youngs 1984, as Parker and Youngs 1992); `None` where it is
/// zero.
fn youngs<const D: usize>(tile: &[f64], at: usize) -> Option<[f64; D]> {
    let n = gradient::<D>(tile, at);
    let sum: f64 = n.iter().map(|n| n.abs()).sum();
    (sum > 1e-12).then(|| n.map(|n| n / sum))
}

/// The size of the gradient, in one over the width of a cell.
pub(crate) fn rise<const D: usize>(tile: &[f64], at: usize) -> f64 {
    let n = gradient::<D>(tile, at);
    n.iter().map(|n| n * n).sum::<f64>().sqrt() / (2 * 4usize.pow(D as u32 - 1)) as f64
}

/// Minus the gradient, in one over the width of a cell times 2 · 4^(D-1).
fn gradient<const D: usize>(tile: &[f64], at: usize) -> [f64; D] {
    let mut n = [0.0; D];
    for k in 0..3usize.pow(D as u32) {
        let step: [i32; D] = cutlink_amr::dims::step(k);
        let value = tile[shifted(at, step)];
        for a in 0..D {
            let others = (0..D).filter(|&b| b != a && step[b] == 0).count();
            n[a] -= f64::from(step[a]) * f64::from(1u32 << others) * value;
        }
    }
    n
}

/// A place in a tile, some cells away.
#[inline]
pub(crate) fn shifted<const D: usize>(at: usize, step: [i32; D]) -> usize {
    let there = (0..D).fold(at as isize, |i, a| i + step[a] as isize * STEP[a] as isize);
    there as usize
}

fn largest<const D: usize>(n: [f64; D]) -> usize {
    (1..D).fold(0, |a, b| if n[b].abs() > n[a].abs() { b } else { a })
}

/// The normal in a mixed cell; the first axis where there is no gradient at all.
pub(crate) fn normal<const D: usize>(tile: &[f64], at: usize) -> [f64; D] {
    let Some(young) = youngs::<D>(tile, at) else {
        let mut n = [0.0; D];
        n[0] = 1.0;
        return n;
    };
    from_heights(tile, at, young).unwrap_or_else(|| {
        if D == 2 {
            elvira(tile, at, young)
        } else {
            mixed(tile, at, young)
        }
    })
}

/// The mixed Youngs-centred normal alone, which tells the axis that heights are best taken along.
pub(crate) fn coarse<const D: usize>(tile: &[f64], at: usize) -> [f64; D] {
    let mut first = [0.0; D];
    first[0] = 1.0;
    youngs::<D>(tile, at).map_or(first, |young| mixed(tile, at, young))
}

fn from_heights<const D: usize>(tile: &[f64], at: usize, young: [f64; D]) -> Option<[f64; D]> {
    let axis = largest(young);
    let sign = if young[axis] > 0.0 { 1 } else { -1 };
    let mut n = [0.0; D];
    n[axis] = f64::from(sign);
    for b in (0..D).filter(|&b| b != axis) {
        let [low, high] = [-1, 1].map(|k| {
            let mut step = [0; D];
            step[b] = k;
            column(tile, shifted(at, step), axis, sign)
        });
        n[b] = -0.5 * (high? - low?);
    }
    column(tile, at, axis, sign)?;
    Some(scaled(n))
}

/// The sum of three cells along an axis.
fn three(tile: &[f64], at: usize, axis: usize) -> f64 {
    tile[at - STEP[axis]] + tile[at] + tile[at + STEP[axis]]
}

/// Of the normals of one-sided and centred differences of columns of three cells, and of Youngs', the one whose line
/// gives the fractions around best.
fn elvira<const D: usize>(tile: &[f64], at: usize, young: [f64; D]) -> [f64; D] {
    let mut best = (f64::INFINITY, young);
    let mut consider = |n: [f64; D]| {
        let n = scaled(n);
        let constant = plane::constant(n, tile[at]);
        let mut error = 0.0;
        for k in 0..3usize.pow(D as u32) {
            let step: [i32; D] = cutlink_amr::dims::step(k);
            let moved: f64 = (0..D).map(|a| n[a] * f64::from(step[a])).sum();
            error += (plane::volume(n, constant - moved) - tile[shifted(at, step)]).powi(2);
        }
        if error < best.0 {
            best = (error, n);
        }
    };
    consider(young);
    for axis in 0..2 {
        let other = 1 - axis;
        let sum = |k: isize| {
            three(
                tile,
                (at as isize + k * STEP[other] as isize) as usize,
                axis,
            )
        };
        let (low, own, high) = (sum(-1), sum(0), sum(1));
        let across = |k: isize| {
            three(
                tile,
                (at as isize + k * STEP[axis] as isize) as usize,
                other,
            )
        };
        let sign = if across(-1) >= across(1) { 1.0 } else { -1.0 };
        for slope in [low - own, 0.5 * (low - high), own - high] {
            let mut n = [0.0; D];
            n[axis] = sign;
            n[other] = slope;
            consider(n);
        }
    }
    best.1
}

/// Centred columns along the axis of Youngs' largest component; Youngs' normal where that is the steeper one.
fn mixed<const D: usize>(tile: &[f64], at: usize, young: [f64; D]) -> [f64; D] {
    let mut centred = (0.0, young);
    for axis in 0..D {
        let mut n = [0.0; D];
        n[axis] = if young[axis] >= 0.0 { 1.0 } else { -1.0 };
        for b in (0..D).filter(|&b| b != axis) {
            let [low, high] = [at - STEP[b], at + STEP[b]].map(|at| three(tile, at, axis));
            n[b] = 0.5 * (low - high);
        }
        let n = scaled(n);
        if n[axis].abs() > centred.0 {
            centred = (n[axis].abs(), n);
        }
    }
    let axis = largest(centred.1);
    if centred.1[axis].abs() < young[axis].abs() {
        centred.1
    } else {
        young
    }
}
