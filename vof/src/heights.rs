//! Heights of the interface over columns of cells, and curvature from them (Cummins, François, Kothe 2005; Popinet 2009).
//!
//! A column reaches four cells to each side. It has a height where it ends in a full cell on the liquid's side and in an
//! empty one on the other. Where columns are missing, a parabola is fitted to the positions that heights of the cells
//! around give, in the frame of the normal; never to centres of planes, which does not converge.

use crate::constants::{END, MARGIN, STEEPEST};
use crate::mesh::STEP;
use crate::normal::shifted;
use crate::vector::{cross, in_3d, length};

/// The height of the liquid in a column from the lower end of the fourth cell on the liquid's side, in cells: through a
/// cell along an axis, `sign` towards the empty side. `None` where an end is missing.
pub(crate) fn column(tile: &[f64], at: usize, axis: usize, sign: i32) -> Option<f64> {
    let go = |t: usize, sign: i32| {
        let step = (t * STEP[axis]) as isize * sign as isize;
        tile[(at as isize + step) as usize]
    };
    let mut sum = tile[at];
    let mut full = false;
    for t in 1..=MARGIN {
        let value = go(t, -sign);
        sum += value;
        if value >= 1.0 - END {
            sum += (MARGIN - t) as f64;
            full = true;
            break;
        }
    }
    let mut empty = false;
    for t in 1..=MARGIN {
        let value = go(t, sign);
        sum += value;
        if value <= END {
            empty = true;
            break;
        }
    }
    (full && empty).then_some(sum)
}

/// Where the interface is in a cell's own columns: along each axis from the centre, in cells; NaN without a height, where
/// it is outside of the cell, or where the normal's component is less than [`STEEPEST`] of the largest one.
pub(crate) fn positions<const D: usize>(tile: &[f64], at: usize, n: [f64; D]) -> [f64; D] {
    let largest = n.iter().map(|n| n.abs()).fold(0.0, f64::max);
    std::array::from_fn(|axis| {
        let sign = if n[axis] > 0.0 { 1 } else { -1 };
        if n[axis].abs() < STEEPEST * largest {
            return f64::NAN;
        }
        let height = column(tile, at, axis, sign).unwrap_or(f64::NAN);
        let from_centre = height - MARGIN as f64 - 0.5;
        if from_centre.abs() <= 0.5 {
            f64::from(sign) * from_centre
        } else {
            f64::NAN
        }
    })
}

/// The direction of columns: their axis, and 1 where their empty side is the upper one, else −1.
pub(crate) type Direction = (usize, i32);

/// Axes by the size of a normal's component, the largest first, with the sides that the normal points to.
pub(crate) fn directions<const D: usize>(n: [f64; D]) -> [Direction; D] {
    let mut axes: [usize; D] = std::array::from_fn(|a| a);
    axes.sort_by(|&a, &b| n[b].abs().total_cmp(&n[a].abs()));
    axes.map(|axis| (axis, if n[axis] > 0.0 { 1 } else { -1 }))
}

/// The sum of the principal curvatures times the cell's width, positive for a drop, from heights along the normal's
/// largest component, else along the next one; and the direction of these columns.
pub(crate) fn curvature<const D: usize>(
    tile: &[f64],
    at: usize,
    n: [f64; D],
) -> Option<(f64, Direction)> {
    let along = |of: Direction| Some((along::<D>(tile, at, of.0, of.1)?, of));
    directions(n).into_iter().find_map(along)
}

fn along<const D: usize>(tile: &[f64], at: usize, axis: usize, sign: i32) -> Option<f64> {
    let height = |step: [i32; D]| column(tile, shifted(at, step), axis, sign);
    let middle = height([0; D])?;
    let mut others = (0..D).filter(|&b| b != axis);
    let first = others.next()?;
    let ends = |b: usize| -> Option<[f64; 2]> {
        let mut step = [0; D];
        step[b] = -1;
        let low = height(step)?;
        step[b] = 1;
        Some([low, height(step)?])
    };
    let [low, high] = ends(first)?;
    let (hx, hxx) = (0.5 * (high - low), high - 2.0 * middle + low);
    let Some(second) = others.next() else {
        return Some(-hxx / power(1.0 + hx * hx));
    };
    let [low, high] = ends(second)?;
    let (hy, hyy) = (0.5 * (high - low), high - 2.0 * middle + low);
    let corner = |i: i32, j: i32| {
        let mut step = [0; D];
        (step[first], step[second]) = (i, j);
        height(step)
    };
    let hxy = 0.25 * (corner(1, 1)? - corner(1, -1)? - corner(-1, 1)? + corner(-1, -1)?);
    Some(of_surface([hx, hy], [hxx, hyy, hxy]))
}

/// Of a surface over a plane, by its first derivatives, and xx, yy, xy.
fn of_surface([hx, hy]: [f64; 2], [hxx, hyy, hxy]: [f64; 3]) -> f64 {
    let above = hxx * (1.0 + hy * hy) + hyy * (1.0 + hx * hx) - 2.0 * hx * hy * hxy;
    -above / power(1.0 + hx * hx + hy * hy)
}

/// To the power 3/2, with the same bits everywhere.
fn power(x: f64) -> f64 {
    x * x.sqrt()
}

/// About exp(−r²), by operations that have the same bits everywhere; r² below 16.
fn weight(square: f64) -> f64 {
    let mut weight = 1.0 - square / 16.0;
    for _ in 0..4 {
        weight *= weight;
    }
    weight
}

/// The same from a parabola through positions around a cell, in cells from its centre: in 3D where the normal through the
/// centre meets it, in 2D at the position that is nearest to the centre.
///
/// Weights (1 − r²/16)^16, r in cells along the interface, fall to a third within a cell. With equal ones, the second derivative
/// of waves shorter than 2.6 cells has the wrong sign, and surface tension makes them grow. In 3D it has so too at the nearest
/// position, often that of the next cell; in 2D, where fits are few, the error is smaller there.
pub(crate) fn fitted<const D: usize>(points: &[[f64; D]], n: [f64; D]) -> Option<f64> {
    const MOST: usize = 6;
    let unknowns = if D == 2 { 3 } else { MOST };
    let square = |p: &[f64; D]| p.iter().map(|x| x * x).sum::<f64>();
    let origin = *points
        .iter()
        .min_by(|p, q| square(p).total_cmp(&square(q)))?;
    let length = square(&n).sqrt();
    let n = n.map(|n| n / length);
    let tangents = tangents(n);
    let foot = if D == 2 { origin } else { [0.0; D] };
    let (mut m, mut count) = ([[0.0; MOST + 1]; MOST], 0);
    for point in points {
        let along = |t: &[f64; D]| (0..D).map(|a| t[a] * (point[a] - foot[a])).sum::<f64>();
        let height: f64 = (0..D).map(|a| n[a] * (point[a] - origin[a])).sum();
        let s = along(&tangents[0]);
        let t = if D == 2 { 0.0 } else { along(&tangents[1]) };
        // Beyond, the surface is another one, or no graph over the tangents.
        if s.abs() > 2.5 || t.abs() > 2.5 || height.abs() > 2.0 {
            continue;
        }
        count += 1;
        let terms = [1.0, s, s * s, t, t * t, s * t];
        let weight = weight(s * s + t * t);
        for i in 0..unknowns {
            for j in 0..unknowns {
                m[i][j] += weight * terms[i] * terms[j];
            }
            m[i][MOST] += weight * terms[i] * height;
        }
    }
    if count < unknowns {
        return None;
    }
    let c = solve(m, unknowns)?;
    if D == 2 {
        return Some(-2.0 * c[2] / power(1.0 + c[1] * c[1]));
    }
    Some(of_surface([c[1], c[3]], [2.0 * c[2], 2.0 * c[4], c[5]]))
}

fn tangents<const D: usize>(n: [f64; D]) -> [[f64; D]; 2] {
    let mut first = [0.0; D];
    if D == 2 {
        (first[0], first[1]) = (-n[1], n[0]);
        return [first, [0.0; D]];
    }
    // Across the axis of the smallest component.
    let least = (1..D).fold(0, |a, b| if n[b].abs() < n[a].abs() { b } else { a });
    let mut across = [0.0; 3];
    across[least] = 1.0;
    let n3 = in_3d(n);
    let s = cross(n3, across);
    let size = length(s);
    let s = s.map(|x| x / size);
    let t = cross(n3, s);
    [std::array::from_fn(|a| s[a]), std::array::from_fn(|a| t[a])]
}

/// Elimination with pivots of a small symmetric system; `None` where it is singular.
fn solve(mut m: [[f64; 7]; 6], size: usize) -> Option<[f64; 6]> {
    for k in 0..size {
        let pivot = (k..size).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs()))?;
        if m[pivot][k].abs() < 1e-10 {
            return None;
        }
        m.swap(k, pivot);
        for i in k + 1..size {
            let f = m[i][k] / m[k][k];
            for j in k..7 {
                m[i][j] -= f * m[k][j];
            }
        }
    }
    let mut x = [0.0; 6];
    for k in (0..size).rev() {
        let sum: f64 = (k + 1..size).map(|j| m[k][j] * x[j]).sum();
        x[k] = (m[k][6] - sum) / m[k][k];
    }
    Some(x)
}
