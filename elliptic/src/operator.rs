//! The operator, and how it is applied to blocks.

use crate::regions::Regions;
use crate::{Beside, Blocks, EllipticError, box_grid::BoxGrid, faces};
use cutlink_amr::dims;
use cutlink_device::memory;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Leaves beside finer ones: their cells there are smoothed with the finer level.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    /// The leaves, by level.
    pub block: Vec<u32>,
    /// Bits of the cells.
    pub cells: Vec<u64>,
    /// By level of the finer blocks: places.
    pub range: Vec<Range<usize>>,
    /// By level of the finer blocks: leaves whose residual such cells change.
    pub touched: Vec<Vec<u32>>,
}

/// A symmetric operator on the leaves of a forest, with the grids of its multigrid.
///
/// Memory in bytes a cell: 8 · 1.25 D for faces, 16 for the diagonal and its inverse; a solve takes 56 more.
#[derive(Debug)]
pub struct EllipticOperator<const D: usize> {
    pub(crate) blocks: Arc<Blocks<D>>,
    pub(crate) conductance: Vec<f64>,
    /// Empty where there is none.
    pub(crate) diagonal: Vec<f64>,
    /// One over the sum of all that multiplies a cell's value, on its own level; 0 for cells that are no unknowns.
    pub(crate) inverse: Vec<f64>,
    pub(crate) layers: Layers,
    /// As `inverse`, of layers, with the finer faces.
    pub(crate) layer_inverse: Vec<f64>,
    pub(crate) coarse: BoxGrid<D>,
    pub(crate) regions: Regions,
}

/// A block's values and the ring of cells around it, 6^D, without edges and corners.
pub(crate) type Tile = [f64; 216];

/// Steps of a tile along each axis.
pub(crate) const TILE: [usize; 3] = [1, 6, 36];

/// The place of a cell in a tile.
#[inline]
pub(crate) fn in_tile<const D: usize>(cell: usize) -> usize {
    let at = dims::unravel::<D>(cell, 4);
    (0..D).map(|a| (at[a] as usize + 1) * TILE[a]).sum()
}

impl<const D: usize> EllipticOperator<D> {
    /// An operator of conductances of faces, and what multiplies each cell's own value beside them (an empty array:
    /// nothing). Values of refined blocks are ignored.
    ///
    /// # Errors
    /// Where an array has another length, a value is negative, infinite or NaN, or memory is short.
    pub fn new(
        blocks: Arc<Blocks<D>>,
        conductance: Vec<f64>,
        diagonal: Vec<f64>,
    ) -> Result<Self, EllipticError> {
        let layers = Layers::new(&blocks);
        let mut inverse = Vec::new();
        memory::grow("the inverse diagonal", &mut inverse, blocks.cells(), 0.0)?;
        let mut layer_inverse = Vec::new();
        let cells = layers.block.len() * dims::cells(D);
        memory::grow(
            "the inverse diagonal at jumps",
            &mut layer_inverse,
            cells,
            0.0,
        )?;
        check_length(
            "the conductances",
            &conductance,
            blocks.len() * faces::per_block(D),
        )?;
        let regions = Regions::new(&blocks, &conductance, &diagonal)?;
        let coarse = BoxGrid::new(&blocks)?;
        let mut operator = Self {
            blocks,
            conductance,
            diagonal,
            inverse,
            layers,
            layer_inverse,
            coarse,
            regions,
        };
        operator.prepare()?;
        Ok(operator)
    }

    /// Takes other conductances, of the same open faces, and another diagonal.
    ///
    /// # Errors
    /// As [`new`](Self::new), and where a face was opened or closed, or a diagonal became zero.
    pub fn update(&mut self, conductance: &[f64], diagonal: &[f64]) -> Result<(), EllipticError> {
        check_length("the conductances", conductance, self.conductance.len())?;
        check_length("the diagonal", diagonal, self.diagonal.len())?;
        let per = faces::per_block(D);
        let blocks = &self.blocks;
        let is_open = |values: &[f64], block: usize, face: usize| values[block * per + face] > 0.0;
        let changed = (0..blocks.len()).into_par_iter().find_first(|&b| {
            // Faces beside finer blocks follow from those.
            let finer: [bool; 6] =
                std::array::from_fn(|side| side < 2 * D && blocks.is_finer(b, side));
            let other = |cell: usize, side: usize| {
                let edge = if side.is_multiple_of(2) { 0 } else { 3 };
                let at_edge = dims::unravel::<D>(cell, 4)[side / 2] == edge;
                let face = faces::of_side(D, side, cell);
                let same = is_open(&self.conductance, b, face) == is_open(conductance, b, face);
                !(same || at_edge && finer[side])
            };
            blocks.is_leaf(b)
                && (0..dims::cells(D)).any(|cell| (0..2 * D).any(|side| other(cell, side)))
        });
        if let Some(block) = changed {
            return Err(EllipticError::Opened { block });
        }
        self.conductance.copy_from_slice(conductance);
        self.diagonal.copy_from_slice(diagonal);
        self.prepare()
    }

    /// The blocks it is for.
    pub fn blocks(&self) -> &Arc<Blocks<D>> {
        &self.blocks
    }

    /// Regions of cells that are joined by open faces, without a value on the box or a diagonal: their solution is
    /// known but for a constant, and has the mean 0.
    pub fn closed_regions(&self) -> usize {
        self.regions.count()
    }

    fn prepare(&mut self) -> Result<(), EllipticError> {
        let cells = dims::cells(D);
        check_values(
            &self.blocks,
            "a conductance",
            &self.conductance,
            faces::per_block(D),
        )?;
        if !self.diagonal.is_empty() {
            check_length("the diagonal", &self.diagonal, self.blocks.cells())?;
            check_values(&self.blocks, "the diagonal", &self.diagonal, cells)?;
            restrict_cells(&self.blocks, &mut self.diagonal);
        }
        faces::restrict(&self.blocks, &mut self.conductance, [0.5, 0.75]);
        let (conductance, diagonal) = (&self.conductance, &self.diagonal);
        let per = faces::per_block(D);
        let own = |block: usize, cell: usize, out: &mut f64| {
            let t = &conductance[block * per..(block + 1) * per];
            let sum: f64 = (0..2 * D)
                .map(|side| t[faces::of_side(D, side, cell)])
                .sum();
            let all = sum + diagonal.get(block * cells + cell).copied().unwrap_or(0.0);
            *out = if all > 0.0 { 1.0 / all } else { 0.0 };
        };
        self.inverse
            .par_chunks_mut(cells)
            .enumerate()
            .for_each(|(block, out)| {
                for (cell, out) in out.iter_mut().enumerate() {
                    own(block, cell, out);
                }
            });
        let (layers, blocks) = (&self.layers, &self.blocks);
        self.layer_inverse
            .par_chunks_mut(cells)
            .enumerate()
            .for_each(|(i, out)| {
                let block = layers.block[i] as usize;
                for (cell, out) in out.iter_mut().enumerate() {
                    let mut sum = diagonal.get(block * cells + cell).copied().unwrap_or(0.0);
                    for side in 0..2 * D {
                        sum += side_conductance(blocks, conductance, block, side, cell);
                    }
                    *out = if sum > 0.0 { 1.0 / sum } else { 0.0 };
                }
            });
        self.coarse
            .fill(&self.blocks, &self.conductance, &self.diagonal);
        Ok(())
    }

    /// Fills a tile with a block's values and those beside its faces: of the same level, or the coarser leaf's; zero
    /// beyond the box.
    #[inline]
    pub(crate) fn tile(&self, x: &[f64], block: usize, tile: &mut Tile) {
        let cells = dims::cells(D);
        let own = &x[block * cells..(block + 1) * cells];
        for (cell, &value) in own.iter().enumerate() {
            tile[in_tile::<D>(cell)] = value;
        }
        for side in 0..2 * D {
            let (axis, upper) = (side / 2, side % 2);
            let step = TILE[axis];
            let beside = self.blocks.beside(block, side);
            for cell in faces::layer::<D>(side) {
                let at = in_tile::<D>(cell);
                let there = if upper == 0 { at - step } else { at + step };
                tile[there] = match beside {
                    Beside::Outside => 0.0,
                    Beside::Same(other) => {
                        let across = 3 * faces::stride(axis);
                        let cell = if upper == 0 {
                            cell + across
                        } else {
                            cell - across
                        };
                        x[other * cells + cell]
                    }
                    Beside::Coarser(other) => {
                        let at = dims::unravel::<D>(cell, 4);
                        x[other * cells + self.blocks.coarser_cell(block, side, at)]
                    }
                };
            }
        }
    }

    /// The operator on the cells of a block, as on a mesh whose finest level is the block's.
    #[inline]
    pub(crate) fn apply_on_level(&self, x: &[f64], block: usize, out: &mut [f64]) {
        let mut tile = [0.0; 216];
        self.tile(x, block, &mut tile);
        self.apply_tile(&tile, block, out);
    }

    #[inline]
    fn apply_tile(&self, tile: &Tile, block: usize, out: &mut [f64]) {
        let (cells, per) = (dims::cells(D), faces::per_block(D));
        let t = &self.conductance[block * per..(block + 1) * per];
        let diagonal = self.diagonal.get(block * cells..(block + 1) * cells);
        for (cell, out) in out.iter_mut().enumerate() {
            let at = in_tile::<D>(cell);
            let x = tile[at];
            let mut sum = diagonal.map_or(0.0, |d| d[cell] * x);
            for axis in 0..D {
                let face = faces::lower(D, axis, cell);
                sum += t[face] * (x - tile[at - TILE[axis]]);
                sum += t[face + faces::stride(axis)] * (x - tile[at + TILE[axis]]);
            }
            *out = sum;
        }
    }

    /// The operator on the cells of a leaf, with the finer cells beside it.
    pub(crate) fn apply_leaf(&self, x: &[f64], block: usize, out: &mut [f64]) {
        let mut tile = [0.0; 216];
        self.tile(x, block, &mut tile);
        let finer = |side: usize| self.blocks.is_finer(block, side);
        for side in (0..2 * D).filter(|&side| finer(side)) {
            let step = TILE[side / 2];
            for cell in faces::layer::<D>(side) {
                // No flux by the coarse face: the fine faces below have it.
                let at = in_tile::<D>(cell);
                let there = if side.is_multiple_of(2) {
                    at - step
                } else {
                    at + step
                };
                tile[there] = tile[at];
            }
        }
        self.apply_tile(&tile, block, out);
        let (cells, per) = (dims::cells(D), faces::per_block(D));
        for side in (0..2 * D).filter(|&side| finer(side)) {
            let Beside::Same(other) = self.blocks.beside(block, side) else {
                continue;
            };
            for cell in faces::layer::<D>(side) {
                let at = dims::unravel::<D>(cell, 4);
                for (b, c) in self.blocks.finer_cells(other, side, at) {
                    let t = self.conductance[b * per + faces::of_side(D, side ^ 1, c)];
                    out[cell] += t * (x[block * cells + cell] - x[b * cells + c]);
                }
            }
        }
    }

    /// The operator applied to values of cells: `out` on leaves, zero on refined blocks.
    ///
    /// # Errors
    /// Where an array has another length.
    pub fn apply(&self, x: &[f64], out: &mut [f64]) -> Result<(), EllipticError> {
        check_length("the values", x, self.blocks.cells())?;
        check_length("the result", out, self.blocks.cells())?;
        self.apply_all(x, out);
        Ok(())
    }

    pub(crate) fn apply_all(&self, x: &[f64], out: &mut [f64]) {
        let cells = dims::cells(D);
        out.par_chunks_mut(cells)
            .enumerate()
            .for_each(|(block, out)| {
                if self.blocks.is_leaf(block) {
                    self.apply_leaf(x, block, out);
                } else {
                    out.fill(0.0);
                }
            });
    }
}

/// The conductance from a leaf's cell through a side: of its face, or the sum of the finer ones.
fn side_conductance<const D: usize>(
    blocks: &Blocks<D>,
    conductance: &[f64],
    block: usize,
    side: usize,
    cell: usize,
) -> f64 {
    let per = faces::per_block(D);
    let at = dims::unravel::<D>(cell, 4);
    let edge = if side.is_multiple_of(2) { 0 } else { 3 };
    if at[side / 2] == edge
        && let Beside::Same(other) = blocks.beside(block, side)
        && !blocks.is_leaf(other)
    {
        let fine = blocks.finer_cells(other, side, at);
        return fine
            .map(|(b, c)| conductance[b * per + faces::of_side(D, side ^ 1, c)])
            .sum();
    }
    conductance[block * per + faces::of_side(D, side, cell)]
}

/// Sums over children, from fine to coarse.
fn restrict_cells<const D: usize>(blocks: &Blocks<D>, values: &mut [f64]) {
    let cells = dims::cells(D);
    for level in (0..blocks.finest()).rev() {
        let range = blocks.range(level);
        let (coarse, fine) = values.split_at_mut(range.end * cells);
        let (first, offset) = (range.start, range.end * cells);
        (coarse[first * cells..].par_chunks_mut(cells).enumerate()).for_each(|(i, out)| {
            if let Some(child) = blocks.first_child(first + i) {
                sum_children::<D>(&fine[child * cells - offset..], out);
            }
        });
    }
}

/// The sums of the cells of 2^D blocks, as cells of their parent.
#[inline]
pub(crate) fn sum_children<const D: usize>(children: &[f64], out: &mut [f64]) {
    let cells = dims::cells(D);
    out.fill(0.0);
    for child in 0..dims::children(D) {
        let half = dims::unravel::<D>(child, 2);
        for cell in 0..cells {
            let up = dims::above(half, dims::unravel::<D>(cell, 4));
            out[dims::ravel(up, 4)] += children[child * cells + cell];
        }
    }
}

pub(crate) fn check_length(
    what: &'static str,
    values: &[f64],
    expected: usize,
) -> Result<(), EllipticError> {
    let found = values.len();
    if found == expected {
        return Ok(());
    }
    Err(EllipticError::Length {
        what,
        expected,
        found,
    })
}

fn check_values<const D: usize>(
    blocks: &Blocks<D>,
    what: &'static str,
    values: &[f64],
    per: usize,
) -> Result<(), EllipticError> {
    let bad = |v: &f64| !(v.is_finite() && *v >= 0.0);
    let of = |block: usize| &values[block * per..(block + 1) * per];
    let found = (0..blocks.len())
        .into_par_iter()
        .filter(|&block| blocks.is_leaf(block))
        .find_first(|&block| of(block).iter().any(bad));
    found.map_or(Ok(()), |block| {
        let value = of(block)
            .iter()
            .copied()
            .find(|v| bad(v))
            .unwrap_or(f64::NAN);
        Err(EllipticError::Coefficient { what, block, value })
    })
}

impl Layers {
    fn new<const D: usize>(blocks: &Blocks<D>) -> Self {
        let mut layers = Self {
            range: vec![0..0; blocks.finest() + 1],
            touched: vec![Vec::new(); blocks.finest() + 1],
            ..Self::default()
        };
        for level in 1..=blocks.finest() {
            let first = layers.block.len();
            for block in blocks.range(level - 1).filter(|&b| blocks.is_leaf(b)) {
                let sides = (0..2 * D).filter(|&side| blocks.is_finer(block, side));
                let bits = sides
                    .flat_map(faces::layer::<D>)
                    .fold(0u64, |bits, cell| bits | 1 << cell);
                if bits != 0 {
                    layers.block.push(block as u32);
                    layers.cells.push(bits);
                    layers.touched[level].push(block as u32);
                    for side in 0..2 * D {
                        if let Beside::Same(other) = blocks.beside(block, side)
                            && blocks.is_leaf(other)
                        {
                            layers.touched[level].push(other as u32);
                        }
                    }
                }
            }
            layers.touched[level].sort_unstable();
            layers.touched[level].dedup();
            layers.range[level] = first..layers.block.len();
        }
        layers
    }
}
