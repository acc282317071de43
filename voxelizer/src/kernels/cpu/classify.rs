//! Winding numbers of the cells of a block, from the facets in its bin alone.
//!
//! The winding number of a cell is that of a neighbour on a line, less the sign of N·d of
//! every facet crossed on the way. Start at the parent's cell around the first cell, go
//! down the diagonal to the first cell, from there along z, from that column along y, from
//! that plane along x: 1 + 1 + 4 + 16 lines for 64 cells, no propagation between blocks
//! and so no order among them. (Jaber et al. 2026, §3.4.1-2, propagate flags along x through
//! the whole grid instead.)

use super::{
    super::{LevelData, Seeds},
    local::{Local, first_center},
};
use crate::{Fill, VoxelError};
use cutlink_amr::dims;
use cutlink_device::{Backend, Host};
use cutlink_mesher::exact::{Exact, Facet};
use rayon::prelude::*;

pub(super) fn classify<const D: usize>(
    data: &LevelData<'_, D, Host>,
    seeds: &Seeds<'_, Host>,
    fill: Fill,
    solid: &mut [u64],
) -> Result<Vec<i32>, VoxelError>
where
    Facet<D>: Exact<D>,
{
    let LevelData {
        set,
        forest,
        bins,
        view,
    } = data;
    let group = dims::children(D);
    let mut anchors = Host.alloc("winding numbers", view.count * group, 0)?;
    solid[view.first..view.first + view.count]
        .par_iter_mut()
        .zip(anchors.par_chunks_mut(group))
        .enumerate()
        .with_min_len(64)
        .for_each(|(row, (mask, anchors))| {
            let id = view.first + row;
            let facets = bins.of(row);
            let coord = forest.coord[id];
            let (start, from_parent) = match seeds {
                Seeds::Blocks(windings) => (windings[row], false),
                Seeds::Parents { anchors, first } => {
                    let child = dims::ravel(coord.map(|c| c & 1), 2);
                    let parent = forest.parent[id] as usize - first;
                    (anchors[parent * group + child], true)
                }
            };
            if facets.is_empty() {
                *mask = if fill.is_solid(start) {
                    dims::full_mask(D)
                } else {
                    0
                };
                anchors.fill(start);
            } else {
                let mut lines = Lines::<D>::new(start);
                let first = first_center(coord, view.spacing);
                for &f in facets {
                    let local = Local::new(&set.facet(f), first, view.spacing);
                    if from_parent {
                        lines.cross_diagonal(&local, view.spacing);
                    }
                    lines.cross_rows(&local, view.spacing);
                }
                *mask = lines.finish(fill, anchors);
            }
        });
    Ok(anchors)
}

/// Sums of crossings along the lines of one block.
struct Lines<const D: usize> {
    start: i32,
    /// Per axis: for each cell of the axis' lines, the sum from the line's first cell to it.
    /// Lines along axis a run through the cells whose coordinates on the axes below a are 0.
    sums: [[i32; 64]; D],
}

impl<const D: usize> Lines<D>
where
    Facet<D>: Exact<D>,
{
    fn new(start: i32) -> Self {
        Self {
            start,
            sums: [[0; 64]; D],
        }
    }

    /// From the parent's centre, half a spacing above the first centre on each axis.
    fn cross_diagonal(&mut self, local: &Local<D>, spacing: i32) {
        // Cell 0 and at most half a spacing above: the bounds must reach below cell 1.
        if local.low.iter().any(|&l| l > 1) || local.high.iter().any(|&h| h < 0) {
            return;
        }
        let down = [-1; D];
        let along = local.plane.along(down);
        let (from, to) = ([spacing / 2; D], [0; D]);
        if along != 0 && local.facet.line_forms(down).hit(to) {
            let outer = |p| local.plane.outer(local.plane.value(p));
            if outer(from) != outer(to) {
                self.start -= along.signum() as i32;
            }
        }
    }

    /// Along every line of the block that the facet meets.
    fn cross_rows(&mut self, local: &Local<D>, spacing: i32) {
        for axis in 0..D {
            // Nothing is between the first and the last cell of the lines.
            if local.low[axis] > 3 || local.high[axis] < 0 {
                continue;
            }
            let (mut from, mut to) = ([0; D], [0; D]);
            let mut empty = false;
            for a in 0..D {
                if a != axis {
                    let last = if a < axis { 0 } else { 3 };
                    from[a] = local.low[a].max(0);
                    to[a] = local.high[a].min(last);
                    empty |= from[a] > to[a];
                }
            }
            if !empty {
                self.cross_axis(local, spacing, axis, from, to);
            }
        }
    }

    fn cross_axis(
        &mut self,
        local: &Local<D>,
        spacing: i32,
        axis: usize,
        from: [i32; D],
        to: [i32; D],
    ) {
        let step: [i32; D] = std::array::from_fn(|a| i32::from(a == axis));
        let along = local.plane.along(step);
        if along == 0 {
            return;
        }
        let forms = local.facet.line_forms(step);
        let rise = i128::from(along) * i128::from(spacing);
        let stride = 1 << (2 * axis);
        let mut at = from;
        'lines: loop {
            let p = at.map(|c| c * spacing);
            if forms.hit(p) {
                let base = dims::ravel(at, 4);
                let mut value = local.plane.value(p);
                let before = local.plane.outer(value);
                for i in 1..4 {
                    value += rise;
                    if local.plane.outer(value) != before {
                        self.sums[axis][base + i * stride] -= along.signum() as i32;
                    }
                }
            }
            for a in 0..D {
                if at[a] < to[a] {
                    at[a] += 1;
                    continue 'lines;
                }
                at[a] = from[a];
            }
            return;
        }
    }

    /// The solid mask, and the anchors.
    fn finish(&self, fill: Fill, anchors: &mut [i32]) -> u64 {
        let mut mask = 0;
        for cell in 0..dims::cells(D) {
            let mut winding = self.start;
            for (axis, sums) in self.sums.iter().enumerate() {
                winding += sums[cell >> (2 * axis) << (2 * axis)];
            }
            mask |= u64::from(fill.is_solid(winding)) << cell;
            let at = dims::unravel::<D>(cell, 4);
            if at.iter().all(|c| c & 1 == 0) {
                anchors[dims::ravel(at.map(|c| c >> 1), 2)] = winding;
            }
        }
        mask
    }
}
