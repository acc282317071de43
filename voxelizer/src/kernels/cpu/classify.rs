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
    constants::{
        BAND, BEYOND, CERTAIN, FAR, FINE, HALF, MOST_NEAR, NEAR, REFERENCE, ROUNDING, SURE,
        UNCERTAIN, UNPROVEN,
    },
};
use cutlink_amr::dims;
use cutlink_device::{Backend, Host};
use cutlink_mesher::{
    exact::{Exact, Facet, Plane},
    robust::{Angle, CapTree, CapView, between},
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
            *mask = block.closed(data, data.bins.of(row), |w| rule.fill.is_solid(w), anchors);
        });
        let uncertain = Vec::new();
        return Ok(Classified { anchors, uncertain });
    };
    let mut uncertain = Host.alloc("uncertain blocks", view.count, 0)?;
    rows.zip(&mut uncertain)
        .for_each(|((row, (mask, anchors)), uncertain)| {
            let block = Block::new(data, seeds, row);
            let facets = data.bins.of(row);
            let walls = &facets[..facets.partition_point(|&f| f < data.set.walls)];
            let gaps = Gaps {
                tree: gaps,
                spacing: view.spacing,
                first: block.first,
            };
            let is_solid = |n| rule.fill.is_solid(n);
            (*mask, *uncertain) = if block.is_certain {
                (block.closed(data, walls, is_solid, anchors), CERTAIN)
            } else {
                block.near_gaps(data, [facets, walls], &gaps, is_solid, anchors)
            };
        });
    Ok(Classified { anchors, uncertain })
}

/// Winding numbers of the cells of a row's block, by its walls and the number of its first cell.
pub(super) fn windings<const D: usize>(
    data: &LevelData<'_, D, Host>,
    row: usize,
    at_first: i32,
) -> Lines<D>
where
    Facet<D>: Exact<D>,
{
    let block = Block {
        first: first_center(data.forest.coord[data.view.first + row], data.view.spacing),
        start: at_first,
        from_parent: false,
        is_certain: true,
        below_uncertain: false,
    };
    let walls: Vec<u32> = data.walls(row).collect();
    let lines = block.crossings(data, &walls);
    lines.unwrap_or_else(|| Lines::new(at_first))
}

/// A block and where its winding numbers start.
struct Block<const D: usize> {
    /// Centre of the first cell.
    first: [i32; D],
    start: i32,
    from_parent: bool,
    /// Whether `start` is W - g rounded, and changes at walls alone: see [`MeshKernels::classify`].
    is_certain: bool,
    /// Whether the parent is uncertain.
    below_uncertain: bool,
}

impl<const D: usize> Block<D>
where
    Facet<D>: Exact<D>,
{
    fn new(data: &LevelData<'_, D, Host>, seeds: &Seeds<'_, Host>, row: usize) -> Self {
        let LevelData { forest, view, .. } = data;
        let id = view.first + row;
        let coord = forest.coord[id];
        let (start, from_parent, above) = match seeds {
            Seeds::Blocks(windings) => (windings[row], false, Some(&UNCERTAIN)),
            Seeds::Parents {
                anchors,
                first,
                uncertain,
            } => {
                let child = dims::ravel(coord.map(|c| c & 1), 2);
                let parent = forest.parent[id] as usize - first;
                let start = anchors[parent * dims::children(D) + child];
                (start, true, uncertain.get(parent))
            }
        };
        Self {
            first: first_center(coord, view.spacing),
            start,
            from_parent,
            is_certain: above == Some(&CERTAIN),
            below_uncertain: above == Some(&UNCERTAIN),
        }
    }

    /// The mask and anchors by the numbers that result from the crossings of `facets`.
    fn closed(
        &self,
        data: &LevelData<'_, D, Host>,
        facets: &[u32],
        is_solid: impl Fn(i32) -> bool,
        anchors: &mut [i32],
    ) -> u64 {
        if let Some(windings) = self.crossings(data, facets) {
            return windings.finish(anchors, |_, n| (is_solid(n), n));
        }
        anchors.fill(self.start);
        if is_solid(self.start) {
            dims::full_mask(D)
        } else {
            0
        }
    }

    /// The same by |W - g|, and whether the block is uncertain. `facets` are all and those that are walls.
    fn near_gaps(
        &self,
        data: &LevelData<'_, D, Host>,
        facets: [&[u32]; 2],
        gaps: &Gaps<'_, D>,
        is_solid: impl Fn(i32) -> bool,
        anchors: &mut [i32],
    ) -> (u64, u8) {
        if gaps.are_negligible() {
            return (self.closed(data, facets[0], is_solid, anchors), CERTAIN);
        }
        let [all, walls] = facets.map(|facets| {
            let lines = self.crossings(data, facets);
            lines.unwrap_or_else(|| Lines::new(self.start))
        });
        // Through caps W - g changes continuously: it jumps by the crossings of walls alone.
        let smooth = |cell: usize, g: f64| f64::from(all.at(cell) - walls.at(cell)) - g;
        let by_walls = |nearest: i32, anchors: &mut [i32]| {
            walls.finish(anchors, |_, across| {
                let n = nearest + across;
                (is_solid(n), n)
            })
        };
        if let Some(nearest) = gaps.nearest(smooth) {
            return (by_walls(nearest, anchors), CERTAIN);
        }
        let view = gaps.view(FAR, MOST_NEAR);
        let known = gaps.interpolation(view.as_ref(), smooth);
        if let Some(nearest) = known.as_ref().and_then(Interpolation::nearest) {
            return (by_walls(nearest, anchors), CERTAIN);
        }
        // |W - g| where the interpolation decides.
        let decided = |cell: usize| {
            let known = known.as_ref()?;
            let size = (f64::from(walls.at(cell)) + known.at(cell)).abs();
            ((size - HALF).abs() > known.errors[0]).then_some(size)
        };
        let sizes: [Option<f64>; 64] = std::array::from_fn(decided);
        let rough = gaps.angles(view.as_ref(), |cell| sizes[cell].is_none());
        let open = |cell: usize| {
            sizes[cell].is_none() && rough[cell].decides(all.at(cell), HALF).is_none()
        };
        let fine = (0..dims::cells(D))
            .any(open)
            .then(|| gaps.view(SURE, usize::MAX));
        let fine = fine.map(|view| gaps.angles(view.as_ref(), open));
        let mut is_near = false;
        let mask = all.finish(anchors, |cell, winding| {
            let (size, inside) = match sizes[cell] {
                Some(size) => (size, size >= HALF),
                None => {
                    let g = rough[cell];
                    let size = (f64::from(winding) - g.value).abs();
                    let g = fine
                        .as_ref()
                        .filter(|_| open(cell))
                        .map_or(g, |fine| fine[cell]);
                    (
                        size,
                        gaps.tree.is_inside(gaps.center(cell), winding, HALF, g),
                    )
                }
            };
            is_near |= (size - 0.5).abs() < BAND;
            (is_solid(i32::from(inside)), winding)
        });
        let mixed = mask != 0 && mask != dims::full_mask(D);
        let refined = self.below_uncertain && (is_near || mixed);
        (mask, if refined { UNCERTAIN } else { UNPROVEN })
    }

    /// Sums of crossings, where there are any.
    fn crossings(&self, data: &LevelData<'_, D, Host>, facets: &[u32]) -> Option<Lines<D>> {
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
            let times = data.set.times(f);
            if diagonal {
                lines.cross_diagonal(&local.facet, &plane, times, spacing);
            }
            for (axis, row) in rows.into_iter().enumerate() {
                if let Some(row) = row {
                    lines.cross_axis(&local.facet, &plane, times, spacing, axis, row);
                }
            }
        }
        Some(lines)
    }
}

/// The caps, seen from a block.
struct Gaps<'a, const D: usize> {
    tree: &'a CapTree<D>,
    spacing: i32,
    /// Centre of the first cell.
    first: [i32; D],
}

impl<const D: usize> Gaps<'_, D>
where
    Facet<D>: Exact<D>,
{
    fn center(&self, cell: usize) -> [i32; D] {
        let at = dims::unravel::<D>(cell, 4);
        std::array::from_fn(|a| self.first[a] + at[a] * self.spacing)
    }

    fn middle(&self) -> [f64; D] {
        self.first.map(|c| f64::from(c + self.spacing / 2 * 3))
    }

    fn diagonal(&self) -> f64 {
        f64::from(self.spacing) * (D as f64).sqrt()
    }

    /// Whether |g| is below a half in all of the block.
    fn are_negligible(&self) -> bool {
        self.tree.bound(self.middle(), 2.0 * self.diagonal(), HALF) < HALF
    }

    /// What W - g without the crossings of walls is rounded to, where that is the same in all of the block: by its value
    /// at the cell of reference and its gradient. `smooth` has it for a cell and g there.
    fn nearest(&self, smooth: impl Fn(usize, f64) -> f64) -> Option<i32> {
        // No point of the block is further away.
        let most = 2.5 * self.diagonal();
        let change = most
            * self
                .tree
                .gradient(self.middle(), 2.0 * self.diagonal(), 0.5 / most);
        if change >= 0.5 {
            return None;
        }
        let g = self.tree.angle(self.center(REFERENCE[D]), NEAR);
        let value = smooth(REFERENCE[D], g.value);
        let nearest = (value + 0.5).floor();
        ((value - nearest).abs() + change + g.error + ROUNDING < 0.5).then_some(nearest as i32)
    }

    /// The caps as the block's cells see them, unless more than `most` are near.
    fn view(&self, tolerance: f64, most: usize) -> Option<CapView<D>> {
        self.tree
            .view(self.first, 3 * self.spacing, tolerance, most)
    }

    /// g in the cells that need it, to the accuracy of the view.
    fn angles(&self, view: Option<&CapView<D>>, needed: impl Fn(usize) -> bool) -> [Angle; 64] {
        let mut angles = [Angle::default(); 64];
        let mut cells = (0..dims::cells(D)).filter(|&cell| needed(cell));
        while let Some(first) = cells.next() {
            let mut some = [first; 8];
            for (slot, cell) in some[1..].iter_mut().zip(&mut cells) {
                *slot = cell;
            }
            let points = some.map(|cell| self.center(cell));
            let found = match view {
                Some(view) => view.angles(&points),
                None => self.tree.angles(&points, NEAR),
            };
            for (cell, angle) in some.into_iter().zip(found) {
                angles[cell] = angle;
            }
        }
        angles
    }

    /// W - g without the crossings of walls, by its values in the corner cells; `None` near the rim.
    fn interpolation(
        &self,
        view: Option<&CapView<D>>,
        smooth: impl Fn(usize, f64) -> f64,
    ) -> Option<Interpolation<D>> {
        // Linear along an axis over a length h, the remainder is at most h²/8 times the second derivative, and less
        // up to h/6 beyond; an error there counts `BEYOND` times on the next axis.
        let square = f64::from(3 * self.spacing) * f64::from(3 * self.spacing);
        let enough = 0.5 / (D as f64 * square / 8.0);
        let curvature = self
            .tree
            .curvature(self.middle(), 2.0 * self.diagonal(), enough);
        if curvature >= enough {
            return None;
        }
        let corner = |corner: usize| {
            let at = dims::unravel::<D>(corner, 2);
            dims::ravel(at.map(|c| 3 * c), 4)
        };
        let (mut corners, error) = match view {
            Some(view) => view.in_corners(),
            None => {
                // In 2D each twice.
                let points = std::array::from_fn(|at| self.center(corner(at % (1 << D))));
                let found = self.tree.angles(&points, FINE);
                let error = found.iter().fold(0.0, |most: f64, g| most.max(g.error));
                (found.map(|g| g.value), error)
            }
        };
        for (at, value) in corners.iter_mut().enumerate().take(dims::children(D)) {
            *value = smooth(corner(at), *value);
        }
        let remainder = square / 8.0 * curvature;
        let mut errors = [error + ROUNDING; 2];
        for _ in 0..D {
            errors[0] += remainder;
            errors[1] = errors[1] * BEYOND + remainder;
        }
        Some(Interpolation { corners, errors })
    }
}

/// A function in a block, linear along each axis.
struct Interpolation<const D: usize> {
    /// In the corner cells.
    corners: [f64; 8],
    /// Bounds on what it is off in the cells, and in all of the block.
    errors: [f64; 2],
}

impl<const D: usize> Interpolation<D> {
    /// At a point, in lengths between the corner cells.
    fn by(&self, t: [f64; D]) -> f64 {
        between(self.corners, t)
    }

    fn at(&self, cell: usize) -> f64 {
        self.by(dims::unravel::<D>(cell, 4).map(|c| f64::from(c) / 3.0))
    }

    /// What it is rounded to, where that is the same in all of the block.
    fn nearest(&self) -> Option<i32> {
        let nearest = (self.corners[0] + 0.5).floor();
        let is_near = |corner: usize| {
            // Half a cell beyond the centres.
            let at = dims::unravel::<D>(corner, 2);
            let value = self.by(at.map(|c| if c == 0 { -1.0 / 6.0 } else { 7.0 / 6.0 }));
            (value - nearest).abs() + self.errors[1] < 0.5
        };
        (0..dims::children(D))
            .all(is_near)
            .then_some(nearest as i32)
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
pub(super) struct Lines<const D: usize> {
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
    fn cross_diagonal(&mut self, facet: &Facet<D>, plane: &Plane<D>, times: i32, spacing: i32) {
        let down = [-1; D];
        let along = plane.along(down);
        let (from, to) = ([spacing / 2; D], [0; D]);
        if along != 0 && facet.line_forms(down).hit(to) {
            let outer = |p| plane.outer(plane.value(p));
            if outer(from) != outer(to) {
                self.start -= along.signum() as i32 * times;
            }
        }
    }

    fn cross_axis(
        &mut self,
        facet: &Facet<D>,
        plane: &Plane<D>,
        times: i32,
        spacing: i32,
        axis: usize,
        (from, to): ([i32; D], [i32; D]),
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
                        self.sums[axis][base + i * stride] -= along.signum() as i32 * times;
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

    /// The winding number of a cell.
    #[inline]
    pub(super) fn at(&self, cell: usize) -> i32 {
        let lines = self.sums.iter().enumerate();
        lines.fold(self.start, |winding, (axis, sums)| {
            winding + sums[cell >> (2 * axis) << (2 * axis)]
        })
    }

    /// The solid mask, and the anchors: `of` has both of a cell by its winding number.
    fn finish(&self, anchors: &mut [i32], mut of: impl FnMut(usize, i32) -> (bool, i32)) -> u64 {
        let mut mask = 0;
        for cell in 0..dims::cells(D) {
            let (is_solid, anchor) = of(cell, self.at(cell));
            mask |= u64::from(is_solid) << cell;
            let at = dims::unravel::<D>(cell, 4);
            if at.iter().all(|c| c & 1 == 0) {
                anchors[dims::ravel(at.map(|c| c >> 1), 2)] = anchor;
            }
        }
        mask
    }
}
