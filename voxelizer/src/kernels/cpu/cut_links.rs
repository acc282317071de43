//! Cut links: for each facet in a block's bin and each pair of opposite directions, the lines
//! of cell centres that meet the facet, and on each the two neighbouring centres on either
//! side of it. The crossing is recorded for the end, or both, that is a fluid cell of the
//! block; the other end may lie one cell outside. Work is proportional to the area of the facets in
//! cells, not to the volume of their bounds.

use super::{
    super::{LevelData, LinkRule},
    classify::windings,
    local::{Local, first_center},
    pass::{Around, Crossing, changes, cut_of},
};
use crate::{LinkTable, VoxelError, constants::CERTAIN, pack_cell};
use cutlink_amr::{Forest, NONE, OUTSIDE, dims};
use cutlink_device::{Backend, Host, memory};
use cutlink_mesher::exact::{AxisForms, Exact, Facet, Int, LineCursor, LineForms, Passes, Plane};
use rayon::prelude::*;
use std::cmp::Ordering;

/// Bytes of table for each block with facets, measured on scans: about 9 boundary
/// cells of 8 bytes with 9 links of 6 bytes each, doubled.
const TYPICAL_BYTES: u64 = 1200;

/// Blocks of a task: few, because blocks near a body alone are all with links.
const LEAST_BLOCKS: usize = 32;

/// The links of consecutive blocks.
#[derive(Default)]
struct Part {
    /// Row of the level and boundary mask, for blocks that have boundary cells.
    blocks: Vec<(u32, u64)>,
    /// Links that pass facets between two winding numbers and are not cut.
    passed: u64,
    /// Directions of each boundary cell.
    directions: Vec<u32>,
    q: Vec<f32>,
    patch: Vec<u16>,
}

pub(super) fn cut_links<const D: usize>(
    data: &LevelData<'_, D, Host>,
    solid: &[u64],
    rule: &LinkRule<'_, Host>,
    boundary: &mut [u64],
    table: &mut LinkTable,
) -> Result<u64, VoxelError>
where
    Facet<D>: Exact<D>,
{
    let LevelData {
        set, forest, view, ..
    } = data;
    let has_images = |row: usize| {
        let images = data.images.as_ref();
        images.is_some_and(|images| !images.bins.of(row).is_empty())
    };
    let has_walls = |id: usize| {
        let row = id - view.first;
        data.walls(row).next().is_some() || has_images(row)
    };
    let at_gap = |id: usize| rule.gap.filter(|_| meets_other_class(forest, solid, id));
    let has_links =
        |id: usize| forest.is_leaf(id as u32) && (has_walls(id) || at_gap(id).is_some());
    let ids = view.first..view.first + view.count;
    let leaves = ids
        .clone()
        .into_par_iter()
        .filter(|&id| has_links(id))
        .count();
    if leaves == 0 {
        return Ok(0);
    }
    Host.reserve("cut links", leaves as u64 * TYPICAL_BYTES)?;
    let parts: Vec<Part> = ids
        .into_par_iter()
        .with_min_len(LEAST_BLOCKS)
        .fold(
            || (Part::default(), Cuts::<D>::new()),
            |(mut part, mut cuts), id| {
                if has_links(id) {
                    cuts.begin(forest, solid[id], id as u32);
                    cuts.cut_all(data, id);
                    if cuts.settle() {
                        cuts.cut_all(data, id);
                    }
                    if rule.fill.passes_facets() && cuts.is_cut() {
                        let around = Around::new(forest, solid, id as u32);
                        if cuts.gather(&around, data, rule, id) {
                            cuts.cut_all(data, id);
                            part.passed += cuts.pass(data, rule, id);
                        }
                    }
                    if let Some(patch) = at_gap(id) {
                        cuts.bridge(&Around::new(forest, solid, id as u32), patch);
                    }
                    cuts.append_to(&mut part, id as u32, !set.patch.is_empty());
                }
                (part, cuts)
            },
        )
        .map(|(part, _)| part)
        .collect();
    let passed = parts.iter().map(|part| part.passed).sum();
    append(parts, forest.capacity(), boundary, table)?;
    Ok(passed)
}

/// Whether a block and those around it on its level hold both fluid and solid cells.
fn meets_other_class<const D: usize>(forest: &Forest<D>, solid: &[u64], id: usize) -> bool {
    let mask = solid[id];
    if mask != 0 && mask != dims::full_mask(D) {
        return true;
    }
    let other = |n: u32| n != NONE && n != OUTSIDE && solid[n as usize] != mask;
    forest.neighbors_of(id as u32).any(other)
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
    /// Axes along which the box is periodic.
    periodic: [bool; D],
    /// Direction in which the facets being cut lie from the box: the middle one for the surface itself, others
    /// for its images.
    beyond: usize,
    /// By link, 3^D a cell: crossings on the face through which it leaves the box, with their signs. Zeros but in
    /// the second round of a block.
    on_face: Vec<i32>,
    /// Whether any was counted; whether they are known.
    any_on_face: bool,
    settled: bool,
    /// Directions cut so far, per cell; those that facets cross in more than one place, or twice in one.
    directions: [u32; 64],
    several: [u32; 64],
    /// Directions whose crossings are gathered, per cell, once all links are cut, and these crossings.
    gathered: [u32; 64],
    gathers: bool,
    crossings: Vec<Crossing>,
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
            periodic: [false; D],
            beyond: dims::center(D),
            on_face: vec![0; 64 * dims::directions(D)],
            any_on_face: false,
            settled: false,
            directions: [0; 64],
            several: [0; 64],
            gathered: [0; 64],
            gathers: false,
            crossings: Vec::new(),
            nearest: vec![(0.0, 0); 64 * dims::directions(D)],
        }
    }

    fn begin(&mut self, forest: &Forest<D>, solid: u64, block: u32) {
        let coord = forest.coord[block as usize];
        let blocks = |a: usize| (forest.root[a] as i32) << forest.level[block as usize];
        self.fluid = !solid & dims::full_mask(D);
        self.low = coord.map(|c| -4 * c);
        self.high = std::array::from_fn(|a| 4 * (blocks(a) - coord[a]) - 1);
        self.periodic = forest.periodic;
        (self.directions, self.several) = ([0; 64], [0; 64]);
        self.gathers = false;
        if self.any_on_face {
            self.on_face.fill(0);
        }
        (self.any_on_face, self.settled) = (false, false);
    }

    /// Cuts the block's links by all facets of its lists, or gathers their crossings.
    fn cut_all(&mut self, data: &LevelData<'_, D, Host>, id: usize) {
        let LevelData {
            set, forest, view, ..
        } = data;
        let first = first_center(forest.coord[id], view.spacing);
        self.beyond = dims::center(D);
        for f in data.walls(id - view.first) {
            let local = Local::new(&set.facet(f), first, view.spacing);
            let patch = set.patch.get(f as usize).copied().unwrap_or(0);
            self.cut(&local, view.spacing, patch, set.times(f));
        }
        let Some(images) = &data.images else {
            return;
        };
        for &f in images.bins.of(id - view.first) {
            self.beyond = images.direction(f);
            let local = Local::new(&images.set.facet(f), first, view.spacing);
            let patch = images.set.patch.get(f as usize).copied().unwrap_or(0);
            self.cut(&local, view.spacing, patch, images.set.times(f));
        }
    }

    /// Whether any link is cut.
    fn is_cut(&self) -> bool {
        self.directions.iter().any(|&cut| cut != 0)
    }

    /// After all facets of a block: whether crossings on faces were found, so that the facets have to be gone over
    /// once more for those that do not cancel.
    fn settle(&mut self) -> bool {
        self.settled = true;
        if self.any_on_face {
            (self.directions, self.several) = ([0; 64], [0; 64]);
        }
        self.any_on_face
    }

    /// Chooses the links whose nearest crossing may not be where the kind changes, those that are crossed more than
    /// once or end in no solid cell, to gather their crossings. Whether there are any.
    fn gather(
        &mut self,
        around: &Around<D>,
        data: &LevelData<'_, D, Host>,
        rule: &LinkRule<'_, Host>,
        id: usize,
    ) -> bool {
        let marks = &rule.classified.uncertain;
        let is_certain = |n: u32| {
            let row = (n as usize).wrapping_sub(data.view.first);
            marks.get(row).is_none_or(|&mark| mark == CERTAIN)
        };
        self.gathered = [0; 64];
        if !is_certain(id as u32) {
            return false;
        }
        let mut any = false;
        for cell in 0..dims::cells(D) {
            let mut rest = self.directions[cell];
            while rest != 0 {
                let direction = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let is_doubtful = self.several[cell] >> direction & 1 == 1
                    || around.ends[direction] >> cell & 1 == 0;
                if is_doubtful && is_certain(around.end(cell, direction)) {
                    self.gathered[cell] |= 1 << direction;
                    any = true;
                }
            }
        }
        self.gathers = any;
        self.crossings.clear();
        any
    }

    /// Cuts the links whose crossings were gathered where the kind changes, or not at all; returns on how many of
    /// these the winding number changes.
    fn pass(&mut self, data: &LevelData<'_, D, Host>, rule: &LinkRule<'_, Host>, id: usize) -> u64 {
        let row = id - data.view.first;
        let at_first = rule.classified.anchors[row * dims::children(D)];
        let winding = windings(data, row, at_first);
        let mut passed = 0;
        self.crossings.sort_unstable_by(Crossing::order);
        for link in self.crossings.chunk_by(|a, b| a.slot == b.slot) {
            let slot = link[0].slot as usize;
            let (cell, direction) = (slot / dims::directions(D), slot % dims::directions(D));
            match cut_of(link, winding.at(cell), rule.fill) {
                Some(cut) => self.nearest[slot] = cut,
                None => {
                    self.directions[cell] &= !(1 << direction);
                    passed += u64::from(changes(link));
                }
            }
        }
        passed
    }

    /// Cuts the links into the body that no facet has cut halfway.
    fn bridge(&mut self, around: &Around<D>, patch: u16) {
        for direction in (0..dims::directions(D)).filter(|&d| d != dims::center(D)) {
            let mut ends = self.fluid & around.ends[direction];
            while ends != 0 {
                let cell = ends.trailing_zeros() as usize;
                ends &= ends - 1;
                if self.directions[cell] >> direction & 1 == 0 {
                    self.record(cell, direction, 0.5, patch);
                }
            }
        }
    }

    /// Adds the cuts of one facet.
    fn cut(&mut self, local: &Local<D>, spacing: i32, patch: u16, times: i32) {
        let plane = local.plane(spacing);
        let setup = Setup {
            low: local.low,
            high: local.high,
            sheared: sheared_bounds(&local.facet, spacing),
            plane: &plane,
            forms: AxisForms::new(&local.facet),
            spacing,
            patch,
            times,
        };
        if plane.is_narrow() {
            self.cut_in::<i64>(&setup);
        } else {
            self.cut_in::<i128>(&setup);
        }
    }

    fn cut_in<T: Int>(&mut self, setup: &Setup<'_, D>) {
        // Each direction is a function of its own, whose steps are constants.
        macro_rules! along {
            ($($direction:literal)*) => {
                $( self.cut_along::<T, $direction>(setup); )*
            };
        }
        if D == 2 {
            along!(5 6 7 8);
        } else {
            along!(14 15 16 17 18 19 20 21 22 23 24 25 26);
        }
    }

    #[inline(always)]
    fn cut_along<T: Int, const DIRECTION: usize>(&mut self, setup: &Setup<'_, D>) {
        let step = const { dims::step::<D>(DIRECTION) };
        let axis = const { upper_axis(dims::step::<D>(DIRECTION)) };
        // Most facets lie between the lines.
        let Some((from, to)) = setup.lines_in_reach(step, axis) else {
            return;
        };
        let along = setup.plane.along(step);
        if along == 0 {
            return;
        }
        let ray = Ray {
            direction: DIRECTION,
            step,
            axis,
            patch: setup.patch,
            drop: along.signum() as i32 * setup.times,
        };
        let forms = setup.forms.along(step);
        let passes = setup.plane.passes::<T>(along, setup.spacing);
        self.cut_lines(setup.spacing, ray, &forms, &passes, from, to);
    }

    /// Goes over the lines along a direction, row by row, and records the crossing of each
    /// line that meets the facet between cells -1 and 4.
    #[inline(always)]
    fn cut_lines<T: Int>(
        &mut self,
        spacing: i32,
        ray: Ray<D>,
        forms: &LineForms<D>,
        passes: &Passes<D, T>,
        from: [i32; D],
        to: [i32; D],
    ) {
        let last = passes.rise * T::from(4);
        let inner = usize::from(ray.axis == 0);
        // In 2D there is one row: its outer axis is the line's own, from 0 to 0.
        let outer = (inner + 1..D).find(|&a| a != ray.axis).unwrap_or(ray.axis);
        let mut row = (
            forms.at(from.map(|c| c * spacing), spacing),
            passes.at(from),
        );
        let mut at = from;
        for r in from[outer]..=to[outer] {
            at[outer] = r;
            if T::NARROW {
                let mut first = 0;
                while from[inner] + first <= to[inner] {
                    let mut hits = row_hits(&row.0, row.1, passes, inner, first);
                    // Not beyond the row's end.
                    hits &= 0xf >> (first + 3 - (to[inner] - from[inner])).max(0);
                    while hits != 0 {
                        let c = first + hits.trailing_zeros() as i32;
                        hits &= hits - 1;
                        at[inner] = from[inner] + c;
                        let value = row.1 + T::from(i64::from(c)) * passes.step[inner];
                        self.cut_line(ray, at, passes, value);
                    }
                    first += 4;
                }
            } else {
                let (mut line, mut value) = row;
                for c in from[inner]..=to[inner] {
                    if (value < passes.rise) & (value + last >= T::from(0)) & line.hit() {
                        at[inner] = c;
                        self.cut_line(ray, at, passes, value);
                    }
                    line.advance(inner);
                    value = value + passes.step[inner];
                }
            }
            row.0.advance(outer);
            row.1 = row.1 + passes.step[outer];
        }
    }

    /// Records the crossing of a line at one of its cells 0 to 4, the first one beyond.
    #[inline]
    fn cut_line<T: Int>(&mut self, ray: Ray<D>, at: [i32; D], passes: &Passes<D, T>, value: T) {
        let mut beyond = value;
        let mut first = 0;
        for _ in 0..4 {
            let before = beyond < T::from(0);
            first += i32::from(before);
            beyond = if before { beyond + passes.rise } else { beyond };
        }
        let head: [i32; D] = std::array::from_fn(|a| at[a] + first * ray.step[a]);
        let tail: [i32; D] = std::array::from_fn(|a| head[a] - ray.step[a]);
        let (head_cell, tail_cell) = (self.fluid_cell(head), self.fluid_cell(tail));
        if head_cell.or(tail_cell).is_none() {
            return;
        }
        // One end is in the block; how near the crossing is to it, if the other one is beyond the box.
        let near = passes.side(beyond);
        let opposite = dims::directions(D) - 1 - ray.direction;
        let counts = match (tail_cell, head_cell) {
            (Some(cell), _) => self.counts(cell, ray.direction, head, near, ray.drop),
            (_, Some(cell)) => self.counts(cell, opposite, tail, near.reverse(), -ray.drop),
            _ => false,
        };
        if !counts {
            return;
        }
        if self.gathers {
            let rise = passes.rise.wide();
            if let Some(cell) = tail_cell {
                let far = (passes.before(beyond).wide(), rise);
                let q = passes.from_before(beyond);
                self.note(cell, ray.direction, far, q, (-ray.drop, ray.patch));
            }
            if let Some(cell) = head_cell {
                let far = (passes.beyond(beyond).wide(), rise);
                let q = passes.from_beyond(beyond);
                self.note(cell, opposite, far, q, (ray.drop, ray.patch));
            }
            return;
        }
        if let Some(cell) = tail_cell {
            self.record(cell, ray.direction, passes.from_before(beyond), ray.patch);
        }
        if let Some(cell) = head_cell {
            self.record(cell, opposite, passes.from_beyond(beyond), ray.patch);
        }
    }

    /// Whether a crossing counts on a link from a cell to `other`, given whether it is nearer to the cell
    /// (less) or to the other end, and the sign of what winding numbers change by.
    #[inline]
    fn counts(
        &mut self,
        cell: usize,
        direction: usize,
        other: [i32; D],
        near: Ordering,
        sign: i32,
    ) -> bool {
        let toward: [i32; D] = std::array::from_fn(|a| {
            i32::from(other[a] > self.high[a]) - i32::from(other[a] < self.low[a])
        });
        let of_surface = self.beyond == dims::center(D);
        if toward == [0; D] {
            return of_surface;
        }
        let leaves = (0..D).any(|a| toward[a] != 0 && !self.periodic[a]);
        let of_image = self.beyond == dims::direction(toward);
        match near {
            _ if leaves || !(of_surface || of_image) => false,
            Ordering::Less => of_surface,
            Ordering::Greater => of_image,
            Ordering::Equal => {
                let sum = &mut self.on_face[cell * dims::directions(D) + direction];
                if !self.settled {
                    *sum += sign;
                    self.any_on_face = true;
                }
                self.settled && *sum != 0
            }
        }
    }

    /// The index of a cell, if it is a fluid cell of the block.
    #[inline]
    fn fluid_cell(&self, at: [i32; D]) -> Option<usize> {
        // Coordinates outside 0..4 have a bit above the lowest two.
        let inside = at.iter().fold(0, |bits, c| bits | c) & !3 == 0;
        let cell = (0..D).fold(0, |cell, a| cell | (at[a] & 3) << (2 * a));
        (inside & (self.fluid >> cell & 1 == 1)).then_some(cell as usize)
    }

    /// Keeps a crossing of a link whose crossings are gathered: how far it is, what the winding number changes by, and
    /// the patch.
    #[cold]
    fn note(
        &mut self,
        cell: usize,
        direction: usize,
        far: (i128, i128),
        q: f32,
        (change, patch): (i32, u16),
    ) {
        if self.gathered[cell] >> direction & 1 == 1 {
            self.crossings.push(Crossing {
                slot: (cell * dims::directions(D) + direction) as u32,
                far,
                q: q.max(f32::MIN_POSITIVE),
                change,
                patch,
                is_image: self.beyond != dims::center(D),
            });
        }
    }

    #[inline]
    fn record(&mut self, cell: usize, direction: usize, q: f32, patch: u16) {
        // A centre on the surface is at the smallest distance there is.
        let q = q.max(f32::MIN_POSITIVE);
        let slot = &mut self.nearest[cell * dims::directions(D) + direction];
        let seen = self.directions[cell] >> direction & 1 == 1;
        if !seen || (q, patch) < *slot {
            *slot = (q, patch);
        }
        self.several[cell] |= u32::from(seen) << direction;
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

/// Which of four lines in a row meet the facet between cells -1 and 4, one bit each. All tests
/// are of signs, so four go together; none is predictable alone.
#[inline(always)]
fn row_hits<const D: usize, T: Int>(
    line: &LineCursor<D>,
    value: T,
    passes: &Passes<D, T>,
    inner: usize,
    first: i32,
) -> u32 {
    let hits = line.hits(inner, i64::from(first));
    let (rise, step) = (passes.rise.low(), passes.step[inner].low());
    let base = value
        .low()
        .wrapping_add(i64::from(first).wrapping_mul(step));
    let mut bits = 0;
    for lane in 0..4 {
        let value = base.wrapping_add((lane as i64).wrapping_mul(step));
        let near = value.wrapping_sub(rise) & !value.wrapping_add(rise.wrapping_mul(4));
        bits |= u32::from(hits[lane] & near < 0) << lane;
    }
    bits
}

/// One of a pair of opposite directions, and whose cuts are looked for.
#[derive(Clone, Copy)]
struct Ray<const D: usize> {
    direction: usize,
    step: [i32; D],
    /// The highest axis that the direction steps along; upward, for directions beyond the
    /// middle. A line is named by its cell in the plane `at[axis] = 0`.
    axis: usize,
    patch: u16,
    /// What winding numbers fall by across the facet.
    drop: i32,
}

/// The highest axis that a direction steps along.
const fn upper_axis<const D: usize>(step: [i32; D]) -> usize {
    let mut axis = D - 1;
    while axis > 0 && step[axis] == 0 {
        axis -= 1;
    }
    axis
}

/// Bounds in cells, as those of [`Local`], of a facet's coordinates less, and plus, a higher one: of x by y, x by z and y by z.
#[inline]
fn sheared_bounds<const D: usize>(facet: &Facet<D>, spacing: i32) -> [[[i32; 2]; 2]; 3] {
    let shift = spacing.trailing_zeros();
    let mut bounds = [[[0; 2]; 2]; 3];
    for axis in 1..D {
        for a in 0..axis {
            for (sign, bounds) in [1, -1].into_iter().zip(&mut bounds[a + axis - 1]) {
                let (mut low, mut high) = (i32::MAX, i32::MIN);
                for v in &facet.0 {
                    let sheared = v[a] - sign * v[axis];
                    low = low.min(sheared);
                    high = high.max(sheared);
                }
                *bounds = [(low + (spacing - 1)) >> shift, high >> shift];
            }
        }
    }
    bounds
}

/// A facet and what all directions share.
struct Setup<'a, const D: usize> {
    low: [i32; D],
    high: [i32; D],
    /// See [`sheared_bounds`].
    sheared: [[[i32; 2]; 2]; 3],
    plane: &'a Plane<D>,
    forms: AxisForms<D>,
    spacing: i32,
    patch: u16,
    times: i32,
}

impl<const D: usize> Setup<'_, D> {
    /// First and last line along a direction that meets the facet's bounds, and the block or a
    /// cell beside it.
    #[inline(always)]
    fn lines_in_reach(&self, step: [i32; D], axis: usize) -> Option<([i32; D], [i32; D])> {
        if self.low[axis] > 4 || self.high[axis] < -1 {
            return None;
        }
        let (mut from, mut to) = ([0; D], [0; D]);
        for a in (0..D).filter(|&a| a != axis) {
            // The direction steps up along its highest axis, and not at all along those above.
            let [low, high] = match step[a] {
                0 => [self.low[a], self.high[a]],
                1 => self.sheared[a + axis - 1][0],
                _ => self.sheared[a + axis - 1][1],
            };
            // The end in the block is one of the cells 0 to 3 of the line.
            let (up, down) = (step[a].max(0), step[a].min(0));
            from[a] = low.max(-3 * up);
            to[a] = high.min(3 - 3 * down);
            if from[a] > to[a] {
                return None;
            }
        }
        Some((from, to))
    }
}
