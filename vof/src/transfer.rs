//! Fields from one mesh to another that was adapted from it.
//!
//! | field | new cells of a refined one | the cell of coarsened ones |
//! |---|---|---|
//! | volume fraction | the cell's plane, clipped; the same volume to rounding | the mean |
//! | velocity | slopes limited as by van Leer; the same momentum | the mean by mass |
//! | temperature | slopes limited as by van Leer; the same heat | the mean by heat capacity |
//! | pressure, accelerations | the cell's; they start the next solution | the mean |
//! | velocity through faces | below | the means of the fine faces |
//!
//! Faces of a refined cell: outer ones have the coarse face's velocity with its slope along the face, or are those of finer
//! cells beyond; inner ones are the means of the outer ones on both sides, plus the gradient of a potential over the 2^D
//! cells that gives all of them the divergence of the coarse cell (Balsara 2001 in spirit; the potential is found exactly
//! by a Hadamard transform, whose functions are the eigenvectors of the cube's graph). A flow without divergence stays
//! one, without a global projection.

use crate::heat_params::{HeatField, HeatNumbers};
use crate::heat_step::HeatKernels;
use crate::interface::is_mixed;
use crate::kernels::{Scene, TwoPhaseMemory};
use crate::mesh::{FlowMesh, Tile, in_tile};
use crate::running::{Fields, by_axis};
use crate::{TwoPhaseError, heat, normal, plane, restrict, velocity};
use cutlink_amr::{Forest, NONE, dims};
use cutlink_device::{Backend, Host, memory};
use cutlink_elliptic::{Beside, faces};
use rayon::prelude::*;

/// What errors of memory call the arrays of a flow.
pub(crate) const WHAT: &str = "the fields of a two-phase flow";

/// Zeros.
pub(crate) fn array(len: usize) -> Result<Vec<f64>, TwoPhaseError> {
    let mut values = Vec::new();
    memory::grow(WHAT, &mut values, len, 0.0)?;
    Ok(values)
}

/// Fields of zeros.
pub(crate) fn empty<const D: usize, B: Backend>(
    backend: &B,
    mesh: &FlowMesh<D>,
) -> Result<Fields<D, B>, TwoPhaseError> {
    let cells = mesh.blocks.cells();
    let array = |len| backend.alloc(WHAT, len, 0.0);
    Ok(Fields {
        alpha: array(cells)?,
        pressure: array(cells)?,
        flux: array(mesh.blocks.len() * faces::per_block(D))?,
        velocity: by_axis(|_| array(cells))?,
        pull: by_axis(|_| array(cells))?,
        heat: None,
    })
}

/// Where the values of a new mesh's leaf come from.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// A leaf that was there.
    Same(usize),
    /// A block whose children are gone: the first of them.
    Coarsened(usize, usize),
    /// The leaf that it is a child of, and which one.
    Refined(usize, usize),
}

/// A [`Source`] in a backend's memory, `Source` of `transfer.cu`: what it is, and its numbers.
type Packed = [u32; 3];

impl Source {
    fn packed(of: Option<Self>) -> Packed {
        match of {
            None => [0; 3],
            Some(Self::Same(block)) => [1, block as u32, 0],
            Some(Self::Coarsened(block, first)) => [2, block as u32, first as u32],
            Some(Self::Refined(block, child)) => [3, block as u32, child as u32],
        }
    }

    fn unpacked([what, block, other]: Packed) -> Option<Self> {
        let (block, other) = (block as usize, other as usize);
        match what {
            0 => None,
            1 => Some(Self::Same(block)),
            2 => Some(Self::Coarsened(block, other)),
            _ => Some(Self::Refined(block, other)),
        }
    }

    /// By block of a new mesh; none of refined blocks.
    fn all<const D: usize>(old: &FlowMesh<D>, new: &FlowMesh<D>, old_of: &[u32]) -> Vec<Packed> {
        let blocks = &new.blocks;
        let source = |block: usize| {
            if !blocks.is_leaf(block) {
                return None;
            }
            let former = old_of[block];
            if former != NONE {
                let former = former as usize;
                return Some(match old.blocks.first_child(former) {
                    None => Self::Same(former),
                    Some(child) => Self::Coarsened(former, child),
                });
            }
            let parent = blocks.parent(block).expect("root blocks stay");
            let child = block - blocks.first_child(parent).expect("a parent has children");
            Some(Self::Refined(old_of[parent] as usize, child))
        };
        let blocks = (0..blocks.len()).into_par_iter();
        blocks.map(|block| Self::packed(source(block))).collect()
    }
}

/// From one mesh to another: what the stages have.
pub(crate) struct Passage<'a, const D: usize, B: TwoPhaseMemory<D>> {
    pub(crate) old: &'a Scene<'a, D, B>,
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "for GPUs"))]
    pub(crate) new: &'a Scene<'a, D, B>,
    /// The fields on the old mesh.
    pub(crate) from: &'a Fields<D, B>,
    /// By block of the new mesh.
    pub(crate) sources: B::Buf<Packed>,
}

/// The fields on another mesh: of its blocks, `old_of` has the former ids, [`NONE`] where they are new.
pub(crate) fn fields<const D: usize, B: HeatKernels<D>>(
    old: &Scene<'_, D, B>,
    new: &Scene<'_, D, B>,
    from: &Fields<D, B>,
    old_of: &[u32],
) -> Result<Fields<D, B>, TwoPhaseError> {
    let mut to = empty(new.backend, new.mesh)?;
    let sources = new
        .backend
        .upload(Source::all(old.mesh, new.mesh, old_of))?;
    let of = Passage {
        old,
        new,
        from,
        sources,
    };
    B::move_fractions(&of, &mut to.alpha)?;
    for k in 0..D {
        B::move_velocity(&of, k, &mut to.velocity[k])?;
        B::keep_momentum(&of, k, &to.alpha, &mut to.velocity[k])?;
    }
    if let Some(field) = &from.heat {
        let mut temperature = new.backend.alloc(WHAT, new.mesh.blocks.cells(), 0.0)?;
        B::move_temperature(&of, field, &to.alpha, &mut temperature)?;
        restrict::cells(new, &mut temperature)?;
        to.heat = Some(field.with::<B>(temperature));
    }
    B::move_starts(&of, &from.pressure, &mut to.pressure)?;
    for (from, to) in from.pull.iter().zip(&mut to.pull) {
        B::move_starts(&of, from, to)?;
    }
    B::move_faces(&of, &mut to.flux)?;
    restrict::faces(new, &mut to.flux)?;
    let cells = [&mut to.alpha, &mut to.pressure];
    cells
        .into_iter()
        .chain(&mut to.velocity)
        .try_for_each(|values| restrict::cells(new, values))?;
    Ok(to)
}

/// The coarse cell that a cell of a child lies in, and which of its 2^D parts.
fn over<const D: usize>(child: usize, cell: usize) -> (usize, usize) {
    let fine = dims::unravel::<D>(cell, 4);
    let up = dims::above(dims::unravel::<D>(child, 2), fine);
    (dims::ravel(up, 4), dims::ravel(fine.map(|c| c & 1), 2))
}

/// The fine cells in a cell of a block whose first child is given, as numbers in arrays.
fn under<const D: usize>(first: usize, cell: usize) -> impl Iterator<Item = usize> {
    let at = dims::unravel::<D>(cell, 4);
    (0..dims::children(D)).map(move |k| {
        let (child, fine) = dims::below(at, dims::unravel::<D>(k, 2));
        (first + child) * dims::cells(D) + dims::ravel(fine, 4)
    })
}

/// Whether a part of a cell is its upper one along an axis, as a factor.
fn sign(part: usize, axis: usize) -> f64 {
    if part >> axis & 1 == 1 { 1.0 } else { -1.0 }
}

/// The stages on the CPU.
impl<const D: usize> Passage<'_, D, Host> {
    fn each_leaf(&self, to: &mut [f64], of: impl Fn(Source, &mut [f64]) + Sync) {
        let blocks = to.par_chunks_mut(dims::cells(D)).zip(&self.sources);
        blocks.for_each(|(out, source)| {
            if let Some(source) = Source::unpacked(*source) {
                of(source, out);
            }
        });
    }

    pub(crate) fn fractions(&self, to: &mut [f64]) {
        let (alpha, cells) = (&self.from.alpha, dims::cells(D));
        self.each_leaf(to, |source, out| match source {
            Source::Same(block) => out.copy_from_slice(&alpha[block * cells..(block + 1) * cells]),
            Source::Coarsened(_, first) => {
                for (cell, c) in out.iter_mut().enumerate() {
                    let sum: f64 = under::<D>(first, cell).map(|i| alpha[i]).sum();
                    *c = sum / dims::children(D) as f64;
                }
            }
            Source::Refined(block, child) => {
                let mut tile = None;
                for (cell, c) in out.iter_mut().enumerate() {
                    let (up, part) = over::<D>(child, cell);
                    let whole = alpha[block * cells + up];
                    *c = whole;
                    if is_mixed(whole) {
                        let tile = tile.get_or_insert_with(|| {
                            let mut tile = Tile::new();
                            self.old.mesh.tile(alpha, block, &mut tile);
                            tile
                        });
                        *c = clipped::<D>(tile, in_tile::<D>(up), whole)[part];
                    }
                }
            }
        });
    }

    /// The slopes of a velocity component times the offset of a part.
    fn offset(&self, values: &[f64], k: usize, at: (usize, usize), part: usize) -> f64 {
        let along = |axis: usize| {
            let slope = velocity::slope(self.old.mesh, self.old.params, values, k, at, axis);
            0.25 * sign(part, axis) * slope
        };
        (0..D).map(along).sum()
    }

    pub(crate) fn velocities(&self, k: usize, to: &mut [f64]) {
        let (u, was, cells) = (&self.from.velocity[k], &self.from.alpha, dims::cells(D));
        let rho = |c: f64| self.old.params.phases.rho(c);
        self.each_leaf(to, |source, out| match source {
            Source::Same(block) => out.copy_from_slice(&u[block * cells..(block + 1) * cells]),
            Source::Coarsened(_, first) => {
                for (cell, out) in out.iter_mut().enumerate() {
                    let mass: f64 = under::<D>(first, cell).map(|i| rho(was[i])).sum();
                    let momentum = under::<D>(first, cell).map(|i| rho(was[i]) * u[i]);
                    *out = momentum.sum::<f64>() / mass;
                }
            }
            Source::Refined(block, child) => {
                for (cell, out) in out.iter_mut().enumerate() {
                    let (up, part) = over::<D>(child, cell);
                    let at = (block, up);
                    *out = match self.old.mesh.is_solid(block, up) {
                        true => 0.0,
                        false => u[block * cells + up] + self.offset(u, k, at, part),
                    };
                }
            }
        });
    }

    /// Cells of different densities in a refined one: shifted together, so that their momentum is the coarse cell's.
    pub(crate) fn keep_momentum(&self, k: usize, alpha: &[f64], to: &mut [f64]) {
        let rho = |c: f64| self.old.params.phases.rho(c);
        self.keep(&self.from.velocity[k], rho, alpha, to);
    }

    /// Temperatures; solid cells keep theirs.
    pub(crate) fn temperatures(&self, from: &HeatField<D>, to: &mut [f64]) {
        let (was, cells) = (&self.from.alpha, dims::cells(D));
        let (t, mesh) = (&from.temperature, self.old.mesh);
        let numbers = HeatNumbers::new(self.old.params, &from.params);
        self.each_leaf(to, |source, out| match source {
            Source::Same(block) => out.copy_from_slice(&t[block * cells..(block + 1) * cells]),
            Source::Coarsened(_, first) => {
                for (cell, out) in out.iter_mut().enumerate() {
                    let weight = |i: usize| match mesh.is_solid(i / cells, i % cells) {
                        true => 0.0,
                        false => numbers.capacity(was[i]),
                    };
                    let all: f64 = under::<D>(first, cell).map(weight).sum();
                    let heat: f64 = under::<D>(first, cell).map(|i| weight(i) * t[i]).sum();
                    *out = match all > 0.0 {
                        true => heat / all,
                        false => t[under::<D>(first, cell).next().expect("a fine cell")],
                    };
                }
            }
            Source::Refined(block, child) => {
                for (cell, out) in out.iter_mut().enumerate() {
                    let (up, part) = over::<D>(child, cell);
                    let own = t[block * cells + up];
                    let along = |axis: usize| {
                        let slope = heat::slope(mesh, &from.params, (was, t), (block, up), axis);
                        0.25 * sign(part, axis) * slope
                    };
                    *out = match mesh.is_solid(block, up) {
                        true => own,
                        false => own + (0..D).map(along).sum::<f64>(),
                    };
                }
            }
        });
    }

    /// As [`keep_momentum`](Self::keep_momentum), of heat.
    pub(crate) fn keep_heat(&self, from: &HeatField<D>, alpha: &[f64], to: &mut [f64]) {
        let numbers = HeatNumbers::new(self.old.params, &from.params);
        self.keep(&from.temperature, |c| numbers.capacity(c), alpha, to);
    }

    /// Values of different weights in a refined cell: shifted together, so that their mean is the coarse cell's.
    fn keep(&self, u: &[f64], weight: impl Fn(f64) -> f64 + Sync, alpha: &[f64], to: &mut [f64]) {
        let (cells, parts) = (dims::cells(D), dims::children(D));
        let (was, rho) = (&self.from.alpha, weight);
        let blocks = (to.par_chunks_mut(cells).zip(alpha.par_chunks(cells))).zip(&self.sources);
        blocks.for_each(|((to, alpha), source)| {
            let Some(Source::Refined(parent, child)) = Source::unpacked(*source) else {
                return;
            };
            for cell in 0..cells {
                let (up, part) = over::<D>(child, cell);
                let whole = was[parent * cells + up];
                if part != 0 || !is_mixed(whole) {
                    continue;
                }
                let at = dims::unravel::<D>(cell, 4);
                let of = |p: usize| {
                    let fine: [i32; D] = dims::unravel::<D>(p, 2);
                    dims::ravel::<D>(std::array::from_fn(|a| at[a] + fine[a]), 4)
                };
                let found: f64 = (0..parts).map(|p| rho(alpha[of(p)]) * to[of(p)]).sum();
                let mass: f64 = (0..parts).map(|p| rho(alpha[of(p)])).sum();
                let wanted = mass * u[parent * cells + up];
                let shift = (wanted - found) / mass;
                (0..parts).for_each(|p| to[of(p)] += shift);
            }
        });
    }

    /// Values that only start the next solution.
    pub(crate) fn starts(&self, from: &[f64], to: &mut [f64]) {
        let cells = dims::cells(D);
        self.each_leaf(to, |source, out| match source {
            Source::Same(block) => out.copy_from_slice(&from[block * cells..(block + 1) * cells]),
            Source::Coarsened(_, first) => {
                for (cell, out) in out.iter_mut().enumerate() {
                    let sum: f64 = under::<D>(first, cell).map(|i| from[i]).sum();
                    *out = sum / dims::children(D) as f64;
                }
            }
            Source::Refined(block, child) => {
                for (cell, out) in out.iter_mut().enumerate() {
                    *out = from[block * cells + over::<D>(child, cell).0];
                }
            }
        });
    }

    pub(crate) fn fluxes(&self, to: &mut [f64]) {
        let per = faces::per_block(D);
        let flux = &self.from.flux;
        let blocks = to.par_chunks_mut(per).zip(&self.sources);
        blocks.for_each(|(out, source)| match Source::unpacked(*source) {
            None => {}
            Some(Source::Same(block) | Source::Coarsened(block, _)) => {
                out.copy_from_slice(&flux[block * per..(block + 1) * per]);
            }
            Some(Source::Refined(block, child)) => {
                for cell in 0..dims::cells(D) {
                    let (up, part) = over::<D>(child, cell);
                    let parts = self.parts(block, up);
                    for side in 0..2 * D {
                        out[faces::of_side(D, side, cell)] = parts[part][side];
                    }
                }
            }
        });
    }

    /// Velocities through the faces of the parts of a leaf's cell, by part and side.
    fn parts(&self, block: usize, cell: usize) -> [[f64; 6]; 8] {
        let count = dims::children(D);
        let mut parts = [[0.0; 6]; 8];
        for side in 0..2 * D {
            for (part, of) in parts.iter_mut().enumerate().take(count) {
                if part >> (side / 2) & 1 == side % 2 {
                    of[side] = self.outer(block, cell, side, part);
                }
            }
        }
        for axis in 0..D {
            let (low, high) = (2 * axis, 2 * axis + 1);
            for part in (0..count).filter(|p| p >> axis & 1 == 0) {
                let other = part | 1 << axis;
                let mean = 0.5 * (parts[part][low] + parts[other][high]);
                (parts[part][high], parts[other][low]) = (mean, mean);
            }
        }
        let potential = potential::<D>(&parts);
        for axis in 0..D {
            for part in (0..count).filter(|p| p >> axis & 1 == 0) {
                let other = part | 1 << axis;
                let more = potential[other] - potential[part];
                parts[part][2 * axis + 1] += more;
                parts[other][2 * axis] = parts[part][2 * axis + 1];
            }
        }
        parts
    }

    /// The velocity through a part of a coarse face: the same from both sides of it.
    fn outer(&self, block: usize, cell: usize, side: usize, part: usize) -> f64 {
        let (blocks, per) = (&self.old.mesh.blocks, faces::per_block(D));
        let flux = &self.from.flux;
        let (axis, at) = (side / 2, dims::unravel::<D>(cell, 4));
        let edge = if side.is_multiple_of(2) { 0 } else { 3 };
        if at[axis] == edge
            && let Beside::Same(other) = blocks.beside(block, side)
            && !blocks.is_leaf(other)
        {
            // The number of the part among those of the face.
            let low = part & ((1 << axis) - 1);
            let number = low | (part >> (axis + 1)) << axis;
            let mut fine = blocks.finer_cells(other, side, at);
            let (b, c) = fine.nth(number).expect("a cell beside each part");
            return flux[b * per + faces::of_side(D, side ^ 1, c)];
        }
        let face = |c: usize| flux[block * per + faces::of_side(D, side, c)];
        let own = face(cell);
        let mut value = own;
        for t in (0..D).filter(|&t| t != axis) {
            let step = faces::stride(t);
            let low = (at[t] > 0).then(|| own - face(cell - step));
            let high = (at[t] < 3).then(|| face(cell + step) - own);
            let slope = match (low, high) {
                (Some(low), Some(high)) if low * high > 0.0 => {
                    let mean = 0.5 * (low + high);
                    mean.signum() * mean.abs().min(2.0 * low.abs()).min(2.0 * high.abs())
                }
                (Some(one), None) | (None, Some(one)) => one,
                _ => 0.0,
            };
            value += 0.25 * sign(part, t) * slope;
        }
        value
    }
}

/// The potential over the parts of a cell whose differences give all parts the same divergence.
fn potential<const D: usize>(parts: &[[f64; 6]; 8]) -> [f64; 8] {
    let count = dims::children(D);
    let mut of = [0.0; 8];
    for (of, part) in of.iter_mut().zip(parts).take(count) {
        *of = -(0..D).map(|a| part[2 * a + 1] - part[2 * a]).sum::<f64>();
    }
    hadamard::<D>(&mut of);
    of[0] = 0.0;
    for (s, of) in of.iter_mut().enumerate().skip(1) {
        // Forth and back are 2^D times the identity; the eigenvalue is -2 a set bit.
        *of /= -2.0 * f64::from(s.count_ones()) * count as f64;
    }
    hadamard::<D>(&mut of);
    of
}

fn hadamard<const D: usize>(of: &mut [f64; 8]) {
    for axis in 0..D {
        for part in (0..dims::children(D)).filter(|p| p >> axis & 1 == 0) {
            let other = part | 1 << axis;
            (of[part], of[other]) = (of[part] + of[other], of[part] - of[other]);
        }
    }
}

/// The fractions of the parts of a mixed cell, by its plane; their mean is the cell's to rounding.
fn clipped<const D: usize>(tile: &Tile, at: usize, whole: f64) -> [f64; 8] {
    let n = normal::normal::<D>(tile, at);
    let constant = plane::constant(n, whole);
    let count = dims::children(D);
    let mut parts = [0.0; 8];
    for (part, c) in parts.iter_mut().enumerate().take(count) {
        let low = std::array::from_fn(|a| 0.5 * f64::from((part >> a & 1) as u32));
        *c = plane::part(n, constant, low, 0.5);
    }
    let lacks = whole - parts[..count].iter().sum::<f64>() / count as f64;
    let room = |c: f64| c * (1.0 - c);
    let all: f64 = parts[..count].iter().map(|&c| room(c)).sum();
    for c in &mut parts[..count] {
        let share = if all > 1e-6 {
            room(*c) / all
        } else {
            1.0 / count as f64
        };
        *c += lacks * count as f64 * share;
    }
    parts
}

/// Solid cells of an adapted forest, by block; no cell of refined blocks.
pub(crate) fn solid<const D: usize>(
    old: &FlowMesh<D>,
    forest: &Forest<D>,
    old_of: &[u32],
) -> Result<Vec<u64>, TwoPhaseError> {
    let mut solid = Vec::new();
    memory::grow("solid cells", &mut solid, forest.capacity(), 0u64)?;
    if old.solid().par_iter().all(|&mask| mask == 0) {
        return Ok(solid);
    }
    solid.par_iter_mut().enumerate().for_each(|(block, mask)| {
        if !forest.is_leaf(block as u32) {
            return;
        }
        *mask = match old_of[block] {
            NONE => masked(
                old,
                old_of[forest.parent[block] as usize] as usize,
                forest,
                block,
            ),
            former if old.blocks.is_leaf(former as usize) => old.solid()[former as usize],
            former => masked(old, former as usize, forest, block),
        };
    });
    Ok(solid)
}

/// As [`solid`], of a forest that may differ by several levels.
pub(crate) fn solid_at<const D: usize>(
    old: &FlowMesh<D>,
    now: &Forest<D>,
    forest: &Forest<D>,
) -> Result<Vec<u64>, TwoPhaseError> {
    let mut solid = Vec::new();
    memory::grow("solid cells", &mut solid, forest.capacity(), 0u64)?;
    for (block, mask) in solid.iter_mut().enumerate() {
        if forest.is_leaf(block as u32) {
            let level = usize::from(forest.level[block]);
            let found = now.find(level, forest.coord[block]);
            let found = found.expect("both forests have the same root grid");
            *mask = masked(old, found as usize, forest, block);
        }
    }
    Ok(solid)
}

/// The solid cells of a block, from a block of the old mesh that is the same, or above it.
fn masked<const D: usize>(old: &FlowMesh<D>, from: usize, forest: &Forest<D>, block: usize) -> u64 {
    let up = usize::from(forest.level[block]) - old.blocks.level(from);
    let at = forest.coord[block];
    let mut mask = 0;
    for cell in 0..dims::cells(D) {
        let local = dims::unravel::<D>(cell, 4);
        let above: [i32; D] = std::array::from_fn(|a| ((4 * at[a] + local[a]) >> up) & 3);
        mask |= u64::from(is_solid(old, from, dims::ravel(above, 4))) << cell;
    }
    mask
}

/// Whether a cell is solid; of a refined block, whether all cells below it are.
fn is_solid<const D: usize>(mesh: &FlowMesh<D>, block: usize, cell: usize) -> bool {
    match mesh.blocks.first_child(block) {
        None => mesh.is_solid(block, cell),
        Some(first) => under::<D>(first, cell).all(|i| {
            let cells = dims::cells(D);
            is_solid(mesh, i / cells, i % cells)
        }),
    }
}
