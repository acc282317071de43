//! Winding numbers of the cells of a block, from the facets in its bin alone.
//!
//! The winding number of a cell is that of a neighbour on a line, less the sign of N·d of
//! every facet crossed on the way. Start at the parent's cell around the first cell, go
//! down the diagonal to the first cell, from there along z, from that column along y, from
//! that plane along x: 1 + 1 + 4 + 16 lines for 64 cells, no propagation between blocks
//! and so no order among them. (Jaber et al. 2026, §3.4.1-2, propagate flags along x through
//! the whole grid instead.)

use super::{
    super::{Classified, LevelData, Seeds, SolidRule},
    local::{Local, first_center},
};
use crate::{
    VoxelError,
    constants::{BAND, HALF},
};
use cutlink_amr::dims;
use cutlink_device::{Backend, Host};
use cutlink_mesher::{
    exact::{Exact, Facet, Plane},
    robust::CapTree,
};
use rayon::prelude::*;

pub(super) fn classify<const D: usize>(
    data: &LevelData<'_, D, Host>,
    seeds: &Seeds<'_, Host>,
    rule: SolidRule<'_, D>,
    solid: &mut [u64],
) -> Result<Classified<Host>, VoxelError>
where
    Facet<D>: Exact<D>,
{
    let view = data.view;
    let group = dims::children(D);
    let mut anchors = Host.alloc("winding numbers", view.count * group, 0)?;
    let rows = solid[view.first..view.first + view.count]
        .par_iter_mut()
        .zip(anchors.par_chunks_mut(group))
        .enumerate()
        .with_min_len(64);
    let Some(gaps) = rule.gaps else {
        rows.for_each(|(row, (mask, anchors))| {
            let block = Block::new(data, seeds, row);
            *mask = match block.windings(data, row) {
                None => block.plain(rule.fill.is_solid(block.start), anchors),
                Some(windings) => windings.finish(anchors, |_, w| rule.fill.is_solid(w)),
            };
        });
        let uncertain = Vec::new();
        return Ok(Classified { anchors, uncertain });
    };
    let mut uncertain = Host.alloc("uncertain blocks", view.count, 0)?;
    rows.zip(&mut uncertain)
        .for_each(|((row, (mask, anchors)), uncertain)| {
            let block = Block::new(data, seeds, row);
            let windings = block.windings(data, row);
            let steady = block.steady(gaps, view.spacing);
            let mut near_half = false;
            let is_solid = |winding: i32, g: f64| {
                let inside = (f64::from(winding) - g).abs() >= HALF;
                rule.fill.is_solid(i32::from(inside))
            };
            *mask = match (steady, windings) {
                (Some(g), None) => block.plain(is_solid(block.start, g), anchors),
                (Some(g), Some(windings)) => windings.finish(anchors, |_, w| is_solid(w, g)),
                (None, windings) => {
                    let solid = |cell: usize, winding: i32| {
                        let at = dims::unravel::<D>(cell, 4);
                        let p = std::array::from_fn(|a| block.first[a] + at[a] * view.spacing);
                        let g = gaps.angle(p);
                        near_half |= ((f64::from(winding) - g).abs() - 0.5).abs() < BAND;
                        is_solid(winding, g)
                    };
                    let windings = windings.unwrap_or_else(|| Lines::new(block.start));
                    windings.finish(anchors, solid)
                }
            };
            // Where one g decides for all cells, walls alone make the difference.
            let mixed = steady.is_none() && *mask != 0 && *mask != dims::full_mask(D);
            *uncertain = u8::from(block.may_be_uncertain && (near_half || mixed));
        });
    Ok(Classified { anchors, uncertain })
}

/// A block and where its winding numbers start.
struct Block<const D: usize> {
    /// Centre of the first cell.
    first: [i32; D],
    start: i32,
    from_parent: bool,
    may_be_uncertain: bool,
}

impl<const D: usize> Block<D>
where
    Facet<D>: Exact<D>,
{
    fn new(data: &LevelData<'_, D, Host>, seeds: &Seeds<'_, Host>, row: usize) -> Self {
        let LevelData { forest, view, .. } = data;
        let id = view.first + row;
        let coord = forest.coord[id];
        let (start, from_parent, may_be_uncertain) = match seeds {
            Seeds::Blocks(windings) => (windings[row], false, true),
            Seeds::Parents {
                anchors,
                first,
                uncertain,
            } => {
                let child = dims::ravel(coord.map(|c| c & 1), 2);
                let parent = forest.parent[id] as usize - first;
                let start = anchors[parent * dims::children(D) + child];
                (start, true, uncertain.get(parent) != Some(&0))
            }
        };
        Self {
            first: first_center(coord, view.spacing),
            start,
            from_parent,
            may_be_uncertain,
        }
    }

    /// Sums of crossings, where there are any.
    fn windings(&self, data: &LevelData<'_, D, Host>, row: usize) -> Option<Lines<D>> {
        let facets = data.bins.of(row);
        if facets.is_empty() {
            return None;
        }
        let spacing = data.view.spacing;
        let mut lines = Lines::new(self.start);
        for &f in facets {
            let local = Local::new(&data.set.facet(f), self.first, spacing);
            let diagonal = self.from_parent && reaches_diagonal(&local);
            let rows: [_; D] = std::array::from_fn(|axis| lines_along(&local, axis));
            if !diagonal && rows.iter().all(Option::is_none) {
                continue;
            }
            let plane = local.plane(spacing);
            if diagonal {
                lines.cross_diagonal(&local.facet, &plane, spacing);
            }
            for (axis, row) in rows.into_iter().enumerate() {
                if let Some((from, to)) = row {
                    lines.cross_axis(&local.facet, &plane, spacing, axis, from, to);
                }
            }
        }
        Some(lines)
    }

    /// The mask and anchors of a block whose cells have one winding number and class.
    fn plain(&self, solid: bool, anchors: &mut [i32]) -> u64 {
        anchors.fill(self.start);
        if solid { dims::full_mask(D) } else { 0 }
    }

    /// A value of g that decides for all cells of the block: all of them are on one side of
    /// |W - g| = 1/2, and out of the band around it, whatever W.
    fn steady(&self, gaps: &CapTree<D>, spacing: i32) -> Option<f64> {
        let center = self.first.map(|c| c + spacing / 2 * 3);
        let reach = 1.5 * f64::from(spacing) * (D as f64).sqrt();
        let enough = 0.5 - BAND;
        if gaps.bound(center.map(f64::from), reach, enough) < enough {
            return Some(0.0);
        }
        let change = gaps.variation(center.map(f64::from), reach, enough);
        if change >= enough {
            return None;
        }
        let g = gaps.angle(center);
        let from_half = (g - g.floor() - 0.5).abs();
        (from_half > BAND + change).then_some(g)
    }
}

/// Whether a facet's bounds reach the stretch from the parent's centre to the first cell:
/// cell 0 and at most half a spacing above, below cell 1.
#[inline]
fn reaches_diagonal<const D: usize>(local: &Local<D>) -> bool {
    (0..D).all(|a| local.low[a] <= 1 && local.high[a] >= 0)
}

/// First and last of the block's lines along an axis that a facet's bounds meet.
#[inline]
fn lines_along<const D: usize>(local: &Local<D>, axis: usize) -> Option<([i32; D], [i32; D])> {
    // Nothing is between the first and the last cell of the lines.
    let mut empty = local.low[axis] > 3 || local.high[axis] < 0;
    let (mut from, mut to) = ([0; D], [0; D]);
    for a in (0..D).filter(|&a| a != axis) {
        let last = if a < axis { 0 } else { 3 };
        from[a] = local.low[a].max(0);
        to[a] = local.high[a].min(last);
        empty |= from[a] > to[a];
    }
    (!empty).then_some((from, to))
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
    fn cross_diagonal(&mut self, facet: &Facet<D>, plane: &Plane<D>, spacing: i32) {
        let down = [-1; D];
        let along = plane.along(down);
        let (from, to) = ([spacing / 2; D], [0; D]);
        if along != 0 && facet.line_forms(down).hit(to) {
            let outer = |p| plane.outer(plane.value(p));
            if outer(from) != outer(to) {
                self.start -= along.signum() as i32;
            }
        }
    }

    fn cross_axis(
        &mut self,
        facet: &Facet<D>,
        plane: &Plane<D>,
        spacing: i32,
        axis: usize,
        from: [i32; D],
        to: [i32; D],
    ) {
        let step: [i32; D] = std::array::from_fn(|a| i32::from(a == axis));
        let along = plane.along(step);
        if along == 0 {
            return;
        }
        let forms = facet.line_forms(step);
        let rise = i128::from(along) * i128::from(spacing);
        let stride = 1 << (2 * axis);
        let mut at = from;
        'lines: loop {
            let p = at.map(|c| c * spacing);
            if forms.hit(p) {
                let base = dims::ravel(at, 4);
                let mut value = plane.value(p);
                let before = plane.outer(value);
                for i in 1..4 {
                    value += rise;
                    if plane.outer(value) != before {
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
    fn finish(&self, anchors: &mut [i32], mut solid: impl FnMut(usize, i32) -> bool) -> u64 {
        let mut mask = 0;
        for cell in 0..dims::cells(D) {
            let mut winding = self.start;
            for (axis, sums) in self.sums.iter().enumerate() {
                winding += sums[cell >> (2 * axis) << (2 * axis)];
            }
            mask |= u64::from(solid(cell, winding)) << cell;
            let at = dims::unravel::<D>(cell, 4);
            if at.iter().all(|c| c & 1 == 0) {
                anchors[dims::ravel(at.map(|c| c >> 1), 2)] = winding;
            }
        }
        mask
    }
}
