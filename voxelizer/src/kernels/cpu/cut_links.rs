//! Cut links: for each facet in a block's bin and each pair of opposite directions, the lines
//! of cell centres that meet the facet, and on each the two neighbouring centres on either
//! side of it. The crossing is recorded for the end, or both, that is a fluid cell of the
//! block; the other end may lie one cell outside. Work goes with the area of the facets in
//! cells, not with the volume of their bounds.

use super::{
    super::LevelData,
    local::{Local, first_center},
};
use crate::{LinkTable, VoxelError, pack_cell};
use cutlink_amr::{NONE, dims};
use cutlink_device::{Backend, Host, memory};
use cutlink_mesher::exact::{Exact, Facet};
use rayon::prelude::*;

/// Bytes of table a block with facets comes to, by experience with scans: about 9 boundary
/// cells of 8 bytes with 9 links of 6 bytes each, doubled.
const TYPICAL_BYTES: u64 = 1200;

/// The links of consecutive blocks.
#[derive(Default)]
struct Part {
    /// Row of the level and boundary mask, for blocks that have boundary cells.
    blocks: Vec<(u32, u64)>,
    /// Directions of each boundary cell.
    directions: Vec<u32>,
    q: Vec<f32>,
    patch: Vec<u16>,
}

pub(super) fn cut_links<const D: usize>(
    data: &LevelData<'_, D, Host>,
    solid: &[u64],
    boundary: &mut [u64],
    table: &mut LinkTable,
) -> Result<(), VoxelError>
where
    Facet<D>: Exact<D>,
{
    let LevelData {
        set,
        forest,
        bins,
        view,
    } = data;
    let has_links = |id: usize| forest.is_leaf(id as u32) && !bins.of(id - view.first).is_empty();
    let ids = view.first..view.first + view.count;
    let leaves = ids
        .clone()
        .into_par_iter()
        .filter(|&id| has_links(id))
        .count();
    if leaves == 0 {
        return Ok(());
    }
    Host.reserve("cut links", leaves as u64 * TYPICAL_BYTES)?;
    let parts: Vec<Part> = ids
        .into_par_iter()
        .with_min_len(256)
        .fold(
            || (Part::default(), Cuts::<D>::new()),
            |(mut part, mut cuts), id| {
                if has_links(id) {
                    let coord = forest.coord[id];
                    cuts.begin(
                        coord,
                        forest.root.map(|n| (n as i32) << view.level),
                        !solid[id],
                    );
                    let first = first_center(coord, view.spacing);
                    for &f in bins.of(id - view.first) {
                        let local = Local::new(&set.facet(f), first, view.spacing);
                        let patch = set.patch.get(f as usize).copied().unwrap_or(0);
                        cuts.cut(&local, view.spacing, patch);
                    }
                    cuts.append_to(&mut part, id as u32, !set.patch.is_empty());
                }
                (part, cuts)
            },
        )
        .map(|(part, _)| part)
        .collect();
    append(parts, forest.capacity(), boundary, table)
}

/// Puts the parts behind one another, in order.
fn append(
    parts: Vec<Part>,
    capacity: usize,
    boundary: &mut [u64],
    table: &mut LinkTable,
) -> Result<(), VoxelError> {
    let links: usize = parts.iter().map(|p| p.q.len()).sum();
    let cells: usize = parts.iter().map(|p| p.directions.len()).sum();
    Host.reserve("cut links", cells as u64 * 8)?;
    table.q.reserve_exact(links);
    table.cells.reserve_exact(cells);
    memory::grow("cut links", &mut table.row_of, capacity, NONE)?;
    for part in parts {
        let mut directions = part.directions.iter();
        let mut link = table.q.len() as u64;
        for (id, mask) in part.blocks {
            boundary[id as usize] = mask;
            table.row_of[id as usize] = table.blocks.len() as u32;
            table.blocks.push(id);
            for &d in directions.by_ref().take(mask.count_ones() as usize) {
                table.cells.push(pack_cell(d, link));
                link += u64::from(d.count_ones());
            }
            let end = u32::try_from(table.cells.len());
            table.cell_start.push(end.map_err(|_| VoxelError::TooLarge {
                table: "boundary cell table",
            })?);
        }
        table.q.extend_from_slice(&part.q);
        table.patch.extend_from_slice(&part.patch);
    }
    Ok(())
}

/// The cuts of one block, reused from block to block.
struct Cuts<const D: usize> {
    /// Fluid cells of the block.
    fluid: u64,
    /// Cell coordinates, relative to the block's first cell, of the first and last cell in the box.
    low: [i32; D],
    high: [i32; D],
    /// Directions cut so far, per cell.
    directions: [u32; 64],
    /// Distance and patch of each cut, 27 a cell; valid where the direction's bit is set.
    nearest: Vec<(f32, u16)>,
}

impl<const D: usize> Cuts<D>
where
    Facet<D>: Exact<D>,
{
    fn new() -> Self {
        Self {
            fluid: 0,
            low: [0; D],
            high: [0; D],
            directions: [0; 64],
            nearest: vec![(0.0, 0); 64 * dims::directions(D)],
        }
    }

    fn begin(&mut self, coord: [i32; D], blocks: [i32; D], fluid: u64) {
        self.fluid = fluid & dims::full_mask(D);
        self.low = coord.map(|c| -4 * c);
        self.high = std::array::from_fn(|a| 4 * (blocks[a] - coord[a]) - 1);
        self.directions = [0; 64];
    }

    /// Adds the cuts of one facet.
    fn cut(&mut self, local: &Local<D>, spacing: i32, patch: u16) {
        for direction in dims::center(D) + 1..dims::directions(D) {
            let step = dims::step::<D>(direction);
            let along = local.plane.along(step);
            if along != 0 {
                self.cut_direction(
                    local,
                    spacing,
                    patch,
                    Ray {
                        direction,
                        step,
                        along,
                    },
                );
            }
        }
    }

    /// Goes over the lines along a direction that meet the block and the facet's bounds.
    /// A line is named by its cell in the plane `at[axis] = 0`, the axis being the highest
    /// one that the direction steps along (upward, for directions beyond the middle).
    fn cut_direction(&mut self, local: &Local<D>, spacing: i32, patch: u16, ray: Ray<D>) {
        let axis = ray.axis();
        // Cell `i` of the line may be the block's, or one beyond it on either side.
        if local.low[axis] > 4 || local.high[axis] < -1 {
            return;
        }
        let shift = spacing.trailing_zeros();
        let (mut from, mut to) = ([0; D], [0; D]);
        for a in (0..D).filter(|&a| a != axis) {
            let sheared = local.facet.0.map(|v| v[a] - ray.step[a] * v[axis]);
            let low = sheared
                .iter()
                .min()
                .map_or(0, |&c| (c + (spacing - 1)) >> shift);
            let high = sheared.iter().max().map_or(0, |&c| c >> shift);
            // Cells 0 to 3 of the block, followed back from up to four cells along the line.
            from[a] = low.max(-4 * ray.step[a].max(0) + ray.step[a].min(0));
            to[a] = high.min(3 - 4 * ray.step[a].min(0) + ray.step[a].max(0));
            if from[a] > to[a] {
                return;
            }
        }
        let forms = local.facet.line_forms(ray.step);
        let inner = usize::from(axis == 0);
        let mut at = from;
        'rows: loop {
            let mut line = forms.at(at.map(|c| c * spacing), spacing);
            for c in from[inner]..=to[inner] {
                if line.hit() {
                    at[inner] = c;
                    self.cut_line(local, spacing, patch, ray, at);
                }
                line.advance(inner);
            }
            at[inner] = from[inner];
            for a in (0..D).filter(|&a| a != axis && a != inner) {
                if at[a] < to[a] {
                    at[a] += 1;
                    continue 'rows;
                }
                at[a] = from[a];
            }
            return;
        }
    }

    /// Records the one crossing of a line that meets the facet.
    fn cut_line(&mut self, local: &Local<D>, spacing: i32, patch: u16, ray: Ray<D>, at: [i32; D]) {
        let p = at.map(|c| c * spacing);
        let crossing = local.plane.crossing(p, ray.along, spacing);
        if !(0..=4).contains(&crossing.first) {
            return;
        }
        let head: [i32; D] = std::array::from_fn(|a| at[a] + crossing.first * ray.step[a]);
        let tail: [i32; D] = std::array::from_fn(|a| head[a] - ray.step[a]);
        let in_box = |c: [i32; D]| (0..D).all(|a| self.low[a] <= c[a] && c[a] <= self.high[a]);
        if in_box(head) && in_box(tail) {
            let opposite = dims::directions(D) - 1 - ray.direction;
            self.record(tail, ray.direction, crossing.from_before, patch);
            self.record(head, opposite, crossing.from_after, patch);
        }
    }

    fn record(&mut self, at: [i32; D], direction: usize, q: f32, patch: u16) {
        if at.iter().any(|c| !(0..4).contains(c)) {
            return;
        }
        let cell = dims::ravel(at, 4);
        if self.fluid >> cell & 1 == 0 {
            return;
        }
        // A centre on the surface is at the smallest distance there is.
        let q = q.max(f32::MIN_POSITIVE);
        let slot = &mut self.nearest[cell * dims::directions(D) + direction];
        let seen = self.directions[cell] >> direction & 1 == 1;
        if !seen || (q, patch) < *slot {
            *slot = (q, patch);
        }
        self.directions[cell] |= 1 << direction;
    }

    fn append_to(&self, part: &mut Part, id: u32, patches: bool) {
        let mut mask = 0u64;
        for (cell, &directions) in self.directions.iter().enumerate() {
            if directions == 0 {
                continue;
            }
            mask |= 1 << cell;
            part.directions.push(directions);
            let row = &self.nearest[cell * dims::directions(D)..];
            let mut rest = directions;
            while rest != 0 {
                let (q, patch) = row[rest.trailing_zeros() as usize];
                rest &= rest - 1;
                part.q.push(q);
                if patches {
                    part.patch.push(patch);
                }
            }
        }
        if mask != 0 {
            part.blocks.push((id, mask));
        }
    }
}

/// One of a pair of opposite directions, seen by a facet.
#[derive(Clone, Copy)]
struct Ray<const D: usize> {
    direction: usize,
    step: [i32; D],
    /// N·step, not zero.
    along: i64,
}

impl<const D: usize> Ray<D> {
    /// The highest axis that the direction steps along.
    fn axis(&self) -> usize {
        (0..D).rev().find(|&a| self.step[a] != 0).unwrap_or(0)
    }
}
