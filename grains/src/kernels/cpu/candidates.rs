//! Candidate pairs, each once, and what they remember from before.

use super::sort::Grid;
use crate::arrays::{GrainArrays, PairArrays, PairForce, TouchArrays};
use crate::kernels::{APART, BLOCK};
use crate::vec3::dot;
use crate::{GrainError, kernels::cpu::pairs::apart};
use cutlink_device::memory;
use rayon::prelude::*;

/// Pairs nearer than their radii and the skin, from `grains.x_sorted`. No memory of contacts.
pub(crate) fn find(
    grains: &GrainArrays,
    grid: &Grid,
    periods: &[[f64; 2]; 3],
    skin: f64,
) -> Result<PairArrays, GrainError> {
    let n = grains.x_sorted.len();
    let cells = grid.count.iter().product::<usize>();
    let mut start = Vec::new();
    memory::grow("cells of grains", &mut start, cells, [0u32; 2])?;
    for (i, &x) in grains.x_sorted.iter().enumerate() {
        let range = &mut start[grid.number(grid.cell(x))];
        if range[1] == 0 {
            range[0] = i as u32;
        }
        range[1] = i as u32 + 1;
    }
    let blocks = n.div_ceil(BLOCK);
    let found: Vec<(Vec<u32>, Vec<u32>)> = (0..blocks)
        .into_par_iter()
        .map(|b| {
            let rows = b * BLOCK..n.min((b + 1) * BLOCK);
            let (mut counts, mut list) = (Vec::with_capacity(rows.len()), Vec::new());
            for i in rows {
                let from = list.len();
                row(grains, grid, periods, skin, (i, &start), &mut list);
                list[from..].sort_unstable();
                counts.push((list.len() - from) as u32);
            }
            (counts, list)
        })
        .collect();
    let total: usize = found.iter().map(|(_, list)| list.len()).sum();
    if total >= APART as usize {
        return Err(GrainError::TooMany {
            what: "candidate pairs",
            count: total,
            most: APART as usize - 1,
        });
    }
    let mut pairs = PairArrays {
        first: memory::with_capacity("first pairs", n + 1)?,
        other: memory::with_capacity("pairs", total)?,
        ..PairArrays::default()
    };
    pairs.first.push(0);
    for (counts, list) in &found {
        for count in counts {
            let last = pairs.first[pairs.first.len() - 1];
            pairs.first.push(last + count);
        }
        pairs.other.extend_from_slice(list);
    }
    drop(found);
    memory::grow("histories of pairs", &mut pairs.slide, total, [0.0; 3])?;
    memory::grow("places of pairs", &mut pairs.place, total, APART)?;
    backwards(&mut pairs, n)?;
    Ok(pairs)
}

/// The partners j > i of a grain, cell by cell.
#[inline]
fn row(
    grains: &GrainArrays,
    grid: &Grid,
    periods: &[[f64; 2]; 3],
    skin: f64,
    (i, start): (usize, &[[u32; 2]]),
    list: &mut Vec<u32>,
) {
    let (x, r) = (grains.x_sorted[i], grains.r[i]);
    let cell = grid.cell(x);
    let around: [([usize; 3], usize); 3] = std::array::from_fn(|a| neighbors(grid, a, cell[a]));
    let [(xs, nx), (ys, ny), (zs, nz)] = around;
    for &k in &zs[..nz] {
        for &j in &ys[..ny] {
            for &l in &xs[..nx] {
                let [from, to] = start[grid.number([l, j, k])];
                for other in from.max(i as u32 + 1)..to {
                    let o = other as usize;
                    let d = apart(x, grains.x_sorted[o], periods);
                    let reach = r + grains.r[o] + skin;
                    if dot(d, d) < reach * reach {
                        list.push(other);
                    }
                }
            }
        }
    }
}

/// The cells beside a cell along an axis, and itself.
fn neighbors(grid: &Grid, axis: usize, cell: usize) -> ([usize; 3], usize) {
    let (count, mut cells, mut len) = (grid.count[axis], [0; 3], 0);
    for shift in 0..3 {
        let at = cell + shift;
        let at = match grid.is_periodic[axis] {
            true => (at + count - 1) % count,
            false if at == 0 || at > count => continue,
            false => at - 1,
        };
        cells[len] = at;
        len += 1;
    }
    (cells, len)
}

/// The pairs by their higher grain.
fn backwards(pairs: &mut PairArrays, n: usize) -> Result<(), GrainError> {
    let total = pairs.other.len();
    memory::grow("rows by the higher grain", &mut pairs.back_first, n + 1, 0)?;
    memory::grow("pairs by the higher grain", &mut pairs.back, total, 0)?;
    for &j in &pairs.other {
        pairs.back_first[j as usize + 1] += 1;
    }
    for i in 0..n {
        pairs.back_first[i + 1] += pairs.back_first[i];
    }
    let mut next = pairs.back_first.clone();
    for (q, &j) in pairs.other.iter().enumerate() {
        let at = &mut next[j as usize];
        pairs.back[*at as usize] = q as u32;
        *at += 1;
    }
    Ok(())
}

/// Room for the forces of touching pairs.
pub(crate) fn room(touch: &mut TouchArrays, grains: usize, pairs: usize) -> Result<(), GrainError> {
    if touch.force.len() < pairs {
        // Some more, as the next candidates may be more.
        let len = pairs + pairs / 16;
        touch.force = memory::with_capacity("forces of pairs", len)?;
        let nothing = PairForce {
            force: [0.0; 3],
            torque: [0.0; 3],
            back_torque: [0.0; 3],
        };
        touch.force.resize(len, nothing);
    }
    for array in [&mut touch.first, &mut touch.count] {
        memory::grow("rows of touching pairs", array, grains, 0)?;
    }
    Ok(())
}

/// Copies what touching pairs remember from the candidates before a sort. `order` has the old index by the new one.
pub(crate) fn remember(before: &PairArrays, order: &[u32], pairs: &mut PairArrays) {
    let (first, other) = (&pairs.first, &pairs.other);
    let has_roll = !pairs.roll.is_empty();
    let old = |i: usize, q: usize| -> Option<(usize, f32)> {
        let (a, b) = (order[i], order[other[q] as usize]);
        let (low, high, sign) = if a < b { (a, b, 1.0) } else { (b, a, -1.0) };
        let row = before.first[low as usize] as usize..before.first[low as usize + 1] as usize;
        let at = before.other[row.clone()].binary_search(&high).ok()? + row.start;
        (before.place[at] != APART).then_some((at, sign))
    };
    let rows: Vec<usize> = (0..order.len())
        .flat_map(|i| std::iter::repeat_n(i, (first[i + 1] - first[i]) as usize))
        .collect();
    let signed = |value: [f32; 3], sign: f32| value.map(|x| sign * x);
    let found: Vec<Option<(usize, f32)>> = rows
        .par_iter()
        .enumerate()
        .map(|(q, &i)| old(i, q))
        .collect();
    for (q, found) in found.into_iter().enumerate() {
        let Some((at, sign)) = found else { continue };
        pairs.slide[q] = signed(before.slide[at], sign);
        if has_roll {
            pairs.roll[q] = signed(before.roll[at], sign);
        }
        // Touched at the last step; the next one gives the place.
        pairs.place[q] = 0;
    }
}
