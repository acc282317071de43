//! Where a surface bends: its ridges, which are the edges of facets (2D: vertices), and the cells in which it turns.
//!
//! The curvature of a surface of facets sits in its ridges. The sum of angle times length times e ⊗ e over the ridges in a
//! cell of width h, e their directions, is the integral of the curvature tensor over the surface there (Cohen-Steiner &
//! Morvan 2003, without the pieces that ridges cut). So its largest eigenvalue, divided by h, is the angle by which the
//! surface turns within the cell: about h / R on a cylinder or a sphere of radius R, once each ridge is weighted with the slope
//! of the surface, which has more area in a cell that it passes aslant. In 2D it is the sum of the angles. Angles of
//! outward and inward bends have opposite signs: what is rough below the width of a cell cancels.

use super::found::{Cells, Scene, along, clipped, length, reserve};
use cutlink_common::Error;
use cutlink_device::{Backend as _, Host};
use cutlink_mesher::{Surface, surface::unit_normal};
use rayon::prelude::*;
use std::f64::consts::PI;

/// An edge of facets, in 2D a vertex.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ridge<const D: usize> {
    /// Its ends; in 2D twice the same.
    pub(super) ends: [[f64; D]; 2],
    /// By how much the surface turns there, in degrees: positive where it bends outward; 0 where it is not between two facets.
    pub(super) angle: f64,
    /// The largest component of the normal there: a plane has the area h² over it in a cell that it passes.
    slope: f64,
    /// Whether it borders one facet or more than two, or two patches.
    pub(super) is_border: bool,
    /// The patches of two of its facets.
    pub(super) patches: [u16; 2],
}

/// A facet at a ridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    vertices: [u32; 2],
    facet: u32,
    forward: bool,
}

/// All ridges, by vertices. Facets without area have none.
///
/// # Errors
/// Memory that is not there.
pub(super) fn ridges<const D: usize>(surface: &Surface<D>) -> Result<Vec<Ridge<D>>, Error> {
    let count = (D * surface.facets.len()) as u64;
    let each = size_of::<Use>() + size_of::<Ridge<D>>() + 8 * (D + 4);
    Host.reserve("edges of facets", count * each as u64)?;
    let mut welded = surface.clone();
    welded.weld();
    let surface = &welded;
    let normals: Vec<Option<[f64; D]>> = (0..surface.facets.len())
        .into_par_iter()
        .map(|facet| unit_normal(surface.corners(facet)))
        .collect();
    let of_facet = |facet: usize| {
        let corners = surface.facets[facet];
        let is_there = normals[facet].is_some();
        (0..if is_there { D } else { 0 }).map(move |k| {
            let (a, b) = match D {
                2 => (corners[k], corners[k]),
                _ => (corners[k], corners[(k + 1) % D]),
            };
            Use {
                vertices: [a.min(b), a.max(b)],
                facet: facet as u32,
                forward: if D == 2 { k == 0 } else { a < b },
            }
        })
    };
    let uses = (0..surface.facets.len()).into_par_iter();
    let mut uses: Vec<Use> = uses.flat_map_iter(of_facet).collect();
    uses.par_sort_unstable();
    let same: Vec<&[Use]> = uses.chunk_by(|a, b| a.vertices == b.vertices).collect();
    let ridge = |uses: &&[Use]| {
        let (first, second) = (uses[0], uses[uses.len() - 1]);
        let patches = [first, second].map(|of| surface.patch_of(of.facet as usize));
        let (angle, slope) = match uses {
            [_, _] => turn(surface, &normals, first, second),
            _ => (0.0, 1.0),
        };
        Ridge {
            ends: first.vertices.map(|v| surface.vertices[v as usize]),
            angle,
            slope,
            is_border: uses.len() != 2 || patches[0] != patches[1],
            patches,
        }
    };
    Ok(same.par_iter().map(ridge).collect())
}

/// The angle between two facets at a ridge, in degrees, and the slope.
fn turn<const D: usize>(
    surface: &Surface<D>,
    normals: &[Option<[f64; D]>],
    first: Use,
    second: Use,
) -> (f64, f64) {
    let at = |of: Use| normals[of.facet as usize].unwrap_or([0.0; D]);
    // Facets on both sides of a ridge pass it in opposite directions, if they face the same way.
    let flip = if first.forward == second.forward {
        -1.0
    } else {
        1.0
    };
    let (m, n) = (at(first), at(second).map(|x| flip * x));
    let apart: f64 = (0..D).map(|a| (m[a] - n[a]).powi(2)).sum();
    let angle = 2.0 * (0.5 * apart.sqrt()).min(1.0).asin();
    let middle = |of: Use, a: usize| {
        let corners = surface.corners(of.facet as usize);
        corners.iter().map(|corner| corner[a]).sum::<f64>() / D as f64
    };
    let above: f64 = (0..D)
        .map(|a| (middle(second, a) - middle(first, a)) * m[a])
        .sum();
    let mean: [f64; D] = std::array::from_fn(|a| (m[a] + n[a]).abs());
    let size = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
    let widest = mean.into_iter().max_by(f64::total_cmp).unwrap_or_default();
    let slope = if size > 0.0 { widest / size } else { 1.0 };
    (
        angle.to_degrees() * if above > 0.0 { -1.0 } else { 1.0 },
        slope,
    )
}

/// A sum of angle, in radians, times length times e ⊗ e: xx, yy, zz, xy, xz, yz; in 2D of angles, first.
type Tensor = [f64; 6];

/// The cells of levels up to `finest` in which the surface turns by more than an angle in degrees: at a ridge of that angle, in
/// the cell, or on average over the cells around.
///
/// # Errors
/// Memory that is not there.
pub(super) fn cells<const D: usize>(
    scene: &Scene<'_, D>,
    ridges: &[Ridge<D>],
    finest: usize,
    most: f64,
) -> Result<Cells<D>, Error> {
    let dx = scene.frame.dx_at(finest);
    let inside = |ridge: &Ridge<D>| Some((*ridge, clipped(scene, ridge.ends, dx)?));
    let ridges: Vec<_> = ridges.par_iter().filter_map(inside).collect();
    let pieces = ridges
        .iter()
        .map(|(_, ends)| 1.0 + 2.0 * length(*ends) / dx);
    reserve(
        "cells where the surface bends",
        8.0 * pieces.sum::<f64>(),
        D,
    )?;
    let mut found = vec![Vec::new(); finest + 1];
    let (sharp, smooth): (Vec<_>, Vec<_>) = ridges
        .into_iter()
        .partition(|(ridge, _)| ridge.angle.abs() > most);
    let passed = sharp
        .par_iter()
        .flat_map_iter(|(_, ends)| along(scene.frame, finest, *ends));
    found[finest] = passed.collect();
    let parts = smooth.par_iter().flat_map_iter(|(ridge, ends)| {
        let count = (2.0 * length(*ends) / dx).ceil().max(1.0);
        let [from, to] = *ends;
        let weight = tensor(ridge.slope * ridge.angle.to_radians() / count, *ends);
        (0..count as usize).map(move |i| {
            let t = (i as f64 + 0.5) / count;
            let at = |a: usize| from[a] + t * (to[a] - from[a]) - scene.frame.origin[a];
            (std::array::from_fn(|a| (at(a) / dx).floor() as i32), weight)
        })
    });
    let mut sums: Vec<([i32; D], Tensor)> = summed(parts.collect());
    for level in (0..=finest).rev() {
        let width = scene.frame.dx_at(level);
        let turning = |(cell, own): &([i32; D], Tensor)| {
            let limit = most.to_radians() * if D == 2 { 1.0 } else { width };
            let turns = largest::<D>(own) > limit || {
                let around = around(&sums, *cell);
                largest::<D>(&around) > limit * 3f64.powi(D as i32 - 1)
            };
            turns.then_some(*cell)
        };
        found[level].par_extend(sums.par_iter().filter_map(turning));
        let above = sums.iter().map(|(cell, own)| (cell.map(|c| c >> 1), *own));
        sums = summed(above.collect());
    }
    Ok(found)
}

fn tensor<const D: usize>(angle: f64, ends: [[f64; D]; 2]) -> Tensor {
    if D == 2 {
        return [angle, 0.0, 0.0, 0.0, 0.0, 0.0];
    }
    let long = length(ends);
    let e: [f64; 3] = std::array::from_fn(|a| match a < D && long > 0.0 {
        true => (ends[1][a] - ends[0][a]) / long,
        false => 0.0,
    });
    let product = [
        e[0] * e[0],
        e[1] * e[1],
        e[2] * e[2],
        e[0] * e[1],
        e[0] * e[2],
        e[1] * e[2],
    ];
    product.map(|x| angle * long * x)
}

fn plus(a: Tensor, b: &Tensor) -> Tensor {
    std::array::from_fn(|i| a[i] + b[i])
}

/// One sum a cell, by cell; added in the given order.
fn summed<const D: usize>(mut parts: Vec<([i32; D], Tensor)>) -> Vec<([i32; D], Tensor)> {
    parts.par_sort_by_key(|(cell, _)| *cell);
    let cells: Vec<_> = parts.chunk_by(|a, b| a.0 == b.0).collect();
    let sum = |of: &&[([i32; D], Tensor)]| {
        let sum = of.iter().fold([0.0; 6], |sum, (_, part)| plus(sum, part));
        (of[0].0, sum)
    };
    cells.par_iter().map(sum).collect()
}

/// The sum over a cell and those around it.
fn around<const D: usize>(sums: &[([i32; D], Tensor)], cell: [i32; D]) -> Tensor {
    (0..3usize.pow(D as u32)).fold([0.0; 6], |sum, i| {
        let at: [i32; D] =
            std::array::from_fn(|a| cell[a] + (i / 3usize.pow(a as u32) % 3) as i32 - 1);
        match sums.binary_search_by_key(&at, |(cell, _)| *cell) {
            Ok(found) => plus(sum, &sums[found].1),
            Err(_) => sum,
        }
    })
}

/// The eigenvalue of largest magnitude of a symmetric tensor (Smith 1961).
fn largest<const D: usize>(t: &Tensor) -> f64 {
    if D == 2 {
        return t[0].abs();
    }
    let [xx, yy, zz, xy, xz, yz] = *t;
    let mean = (xx + yy + zz) / 3.0;
    let off = xy * xy + xz * xz + yz * yz;
    let square = (xx - mean).powi(2) + (yy - mean).powi(2) + (zz - mean).powi(2) + 2.0 * off;
    let p = (square / 6.0).sqrt();
    if p == 0.0 {
        return mean.abs();
    }
    let (a, b, c) = ((xx - mean) / p, (yy - mean) / p, (zz - mean) / p);
    let (d, e, f) = (xy / p, xz / p, yz / p);
    let determinant = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e);
    let phi = (0.5 * determinant).clamp(-1.0, 1.0).acos() / 3.0;
    let high = mean + 2.0 * p * phi.cos();
    let low = mean + 2.0 * p * (phi + 2.0 * PI / 3.0).cos();
    high.abs().max(low.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_eigenvalue_is_that_of_a_turned_tensor() {
        // 3, -5 and 1 along (1, 2, 2)/3, (2, 1, -2)/3 and (2, -2, 1)/3.
        let axes = [[1.0, 2.0, 2.0], [2.0, 1.0, -2.0], [2.0, -2.0, 1.0]];
        let entry = |i: usize, j: usize| {
            let each = [3.0, -5.0, 1.0].iter().zip(&axes);
            each.map(|(value, axis)| value * axis[i] * axis[j] / 9.0)
                .sum::<f64>()
        };
        let t = [
            entry(0, 0),
            entry(1, 1),
            entry(2, 2),
            entry(0, 1),
            entry(0, 2),
            entry(1, 2),
        ];
        assert!((largest::<3>(&t) - 5.0).abs() < 1e-12);
        assert!((largest::<3>(&[2.0, 2.0, 2.0, 0.0, 0.0, 0.0]) - 2.0).abs() < 1e-12);
        assert_eq!(largest::<3>(&[0.0; 6]), 0.0);
    }
}
