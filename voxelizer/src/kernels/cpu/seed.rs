//! Winding numbers at the first cell of every root block: each facet adds its crossing to
//! the first block beyond it on every ray along x that meets it, then prefix sums along x.

use cutlink_mesher::{
    exact::{Exact, Facet, Plane},
    kernels::FacetSet,
};
use rayon::prelude::*;

pub(super) fn roots<const D: usize>(set: &FacetSet<D>, root: [u32; D], spacing: i32) -> Vec<i32>
where
    Facet<D>: Exact<D>,
{
    let blocks: usize = root.iter().map(|&n| n as usize).product();
    let mut winding = (0..set.corners.len() as u32)
        .into_par_iter()
        .with_min_len(1 << 14)
        .fold(
            || vec![0; blocks],
            |mut sums, f| {
                add_crossings(&set.facet(f), set.times(f), root, spacing, &mut sums);
                sums
            },
        )
        .reduce(
            || vec![0; blocks],
            |mut a, b| {
                for (x, y) in a.iter_mut().zip(b) {
                    *x += y;
                }
                a
            },
        );
    for row in winding.chunks_mut(root[0] as usize) {
        let mut sum = 0;
        for w in row {
            sum += *w;
            *w = sum;
        }
    }
    winding
}

/// Adds the crossings of one facet, `times` over, with the rays through the first cells of the blocks.
fn add_crossings<const D: usize>(
    facet: &Facet<D>,
    times: i32,
    root: [u32; D],
    spacing: i32,
    sums: &mut [i32],
) where
    Facet<D>: Exact<D>,
{
    let (edge, half) = (4 * spacing, spacing / 2);
    let [low, high] = facet.bounds();
    let (mut from, mut to) = ([0; D], [0; D]);
    for a in 1..D {
        from[a] = (low[a] - half + edge - 1).div_euclid(edge).max(0);
        to[a] = (high[a] - half).div_euclid(edge).min(root[a] as i32 - 1);
        if from[a] > to[a] {
            return;
        }
    }
    let along_x: [i32; D] = std::array::from_fn(|a| i32::from(a == 0));
    let plane = Plane::new(facet, i32::MAX);
    let sign = plane.along(along_x).signum() as i32;
    if sign == 0 {
        return;
    }
    let forms = facet.line_forms(along_x);
    let center = |at: [i32; D]| at.map(|c| c * edge + half);
    let mut at = from;
    'rays: loop {
        at[0] = 0;
        if forms.hit(center(at)) {
            // The blocks beyond the crossing are a suffix of the row: bisect for its start.
            let (mut before, mut beyond) = (-1, root[0] as i32);
            while beyond - before > 1 {
                at[0] = before + (beyond - before) / 2;
                let outer = plane.outer(plane.value(center(at)));
                if outer == (sign > 0) {
                    beyond = at[0];
                } else {
                    before = at[0];
                }
            }
            if beyond < root[0] as i32 {
                at[0] = beyond;
                let id = (0..D)
                    .rev()
                    .fold(0, |id, a| id * root[a] as usize + at[a] as usize);
                sums[id] -= sign * times;
            }
        }
        for a in 1..D {
            if at[a] < to[a] {
                at[a] += 1;
                continue 'rays;
            }
            at[a] = from[a];
        }
        return;
    }
}
