//! The mesh of a flow: blocks, lengths, solid cells, and cells around a cell.

use crate::TwoPhaseError;
use crate::compiled::compiled;
use crate::constants::MARGIN;
use crate::velocity::next;
use cutlink_amr::{Forest, NONE, OUTSIDE, dims};
use cutlink_elliptic::{Beside, Blocks, faces};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Cells of a tile along an axis.
pub(crate) const WIDE: usize = 4 + 2 * MARGIN;

/// Steps of a tile along each axis.
pub(crate) const STEP: [usize; 3] = [1, WIDE, WIDE * WIDE];

/// A block's values and those of four cells around.
pub(crate) type Tile = Vec<f64>;

/// Blocks of a contiguous forest in space. Memory: 4 · 3^D + 8 bytes a block beside [`Blocks`].
#[derive(Debug, Clone)]
pub struct FlowMesh<const D: usize> {
    pub(crate) blocks: Arc<Blocks<D>>,
    /// By block and direction: the block there, of the same level or coarser; [`OUTSIDE`] beyond the box.
    around: Vec<u32>,
    /// By block: bits of solid cells.
    solid: Vec<u64>,
    /// Of solid cells, by cell: the number of their body plus 1; empty where nobody asks.
    pub(crate) bodies: Vec<u8>,
    origin: [f64; D],
    /// Width of a cell of the root level, m.
    root_width: f64,
    ghosts: Vec<GhostCell>,
    /// How many ghosts there are up to each layer.
    layers: [usize; MARGIN],
}

/// A cell near another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Near<const D: usize> {
    /// From the other cell.
    pub(crate) step: [i32; D],
    pub(crate) block: usize,
    pub(crate) cell: usize,
    /// Else the cell is beyond the box, and `block` and `cell` are of its mirror image.
    pub(crate) is_inside: bool,
}

/// A solid cell near a wall, and the cells beside it whose fractions it takes the mean of.
#[derive(Debug, Clone)]
pub(crate) struct GhostCell {
    pub(crate) cell: u32,
    pub(crate) beside: [u32; 6],
    pub(crate) count: u8,
}

impl<const D: usize> FlowMesh<D> {
    /// The mesh of a forest whose box begins at `origin`, with root cells of a width, m. `solid` has a mask for each
    /// block, or is empty.
    ///
    /// # Errors
    /// Where ids are not contiguous, the width is not positive, or memory is short.
    ///
    /// # Panics
    /// Where there is not one mask for each block.
    pub fn new(
        forest: &Forest<D>,
        origin: [f64; D],
        root_width: f64,
        solid: Vec<u64>,
    ) -> Result<Self, TwoPhaseError> {
        (compiled::<D>().mesh)(forest, origin, root_width, solid)
    }

    pub(crate) fn make(
        forest: &Forest<D>,
        origin: [f64; D],
        root_width: f64,
        solid: Vec<u64>,
    ) -> Result<Self, TwoPhaseError> {
        crate::check(
            "the width of a root cell",
            root_width,
            root_width > 0.0,
            "positive",
        )?;
        let made = Blocks::new(forest);
        let blocks = Arc::new(made.map_err(|source| TwoPhaseError::Elliptic {
            what: "mesh",
            source,
        })?);
        let count = dims::directions(D);
        let mut around = Vec::new();
        let len = blocks.len() * count;
        cutlink_device::memory::grow("neighbours", &mut around, len, NONE)?;
        let of_block = |(id, around): (usize, &mut [u32])| {
            for (direction, around) in around.iter_mut().enumerate() {
                *around = match forest.neighbor(id as u32, direction) {
                    NONE => forest.coarser_neighbor(id as u32, direction),
                    other => other,
                };
            }
        };
        around.par_chunks_mut(count).enumerate().for_each(of_block);
        let solid = if solid.is_empty() {
            vec![0; blocks.len()]
        } else {
            solid
        };
        assert_eq!(solid.len(), blocks.len(), "a mask for each block");
        let mut mesh = Self {
            blocks,
            around,
            solid,
            bodies: Vec::new(),
            origin,
            root_width,
            ghosts: Vec::new(),
            layers: [0; MARGIN],
        };
        (mesh.ghosts, mesh.layers) = mesh.ghost_cells();
        Ok(mesh)
    }

    /// Solid cells of the finest level within [`MARGIN`] cells of fluid, layer by layer, and how many there are up to each
    /// layer. Those of a layer depend on earlier layers alone.
    fn ghost_cells(&self) -> (Vec<GhostCell>, [usize; MARGIN]) {
        let cells = dims::cells(D);
        let finest = self.blocks.range(self.blocks.finest());
        let with_solid = finest.clone().into_par_iter();
        let with_solid = with_solid.filter(|&block| self.solid[block] != 0);
        let mut left: Vec<(usize, usize)> = with_solid
            .flat_map_iter(|block| self.beside_fluid(block))
            .collect();
        let (mut ghosts, mut layers) = (Vec::new(), [0; MARGIN]);
        if left.is_empty() {
            return (ghosts, layers);
        }
        let mut is_known = vec![false; self.blocks.cells()];
        for layer in &mut layers {
            let first = ghosts.len();
            let ghost_of = |&(block, cell): &(usize, usize)| {
                let mut ghost = GhostCell {
                    cell: (block * cells + cell) as u32,
                    beside: [0; 6],
                    count: 0,
                };
                for (b, c) in (0..2 * D).filter_map(|side| next(self, block, cell, side)) {
                    let other = b * cells + c;
                    if !self.is_solid(b, c) || is_known[other] {
                        ghost.beside[usize::from(ghost.count)] = other as u32;
                        ghost.count += 1;
                    }
                }
                ghost
            };
            let found = left.par_iter().map(ghost_of);
            let found: Vec<GhostCell> = found.filter(|ghost| ghost.count > 0).collect();
            ghosts.extend(found);
            for ghost in &ghosts[first..] {
                is_known[ghost.cell as usize] = true;
            }
            *layer = ghosts.len();
            // The next layer is beside this one.
            left.clear();
            for ghost in &ghosts[first..] {
                let (block, cell) = (ghost.cell as usize / cells, ghost.cell as usize % cells);
                let around = (0..2 * D).filter_map(|side| next(self, block, cell, side));
                left.extend(around.filter(|&(b, c)| {
                    finest.contains(&b) && self.is_solid(b, c) && !is_known[b * cells + c]
                }));
            }
            left.par_sort_unstable();
            left.dedup();
        }
        (ghosts, layers)
    }

    /// Solid cells of a block that may be beside fluid: all of a block that has some, else those at sides whose block is not
    /// all solid.
    fn beside_fluid(&self, block: usize) -> impl Iterator<Item = (usize, usize)> {
        let all = u64::MAX >> (64 - dims::cells(D));
        let is_full = |block: usize| self.solid[block] == all;
        let is_inner = |side: usize| match self.blocks.beside(block, side) {
            Beside::Same(other) => is_full(other),
            Beside::Coarser(_) => false,
            Beside::Outside => true,
        };
        let mut cells = self.solid[block];
        if is_full(block) {
            let sides = (0..2 * D).filter(|&side| !is_inner(side));
            cells = sides
                .flat_map(faces::layer::<D>)
                .fold(0, |bits, cell| bits | 1 << cell);
        }
        (0..dims::cells(D))
            .filter(move |cell| cells >> cell & 1 == 1)
            .map(move |cell| (block, cell))
    }

    /// The ghost cells, and how many there are up to each layer.
    #[cfg(feature = "cuda")]
    pub(crate) fn ghosts(&self) -> (&[GhostCell], [usize; MARGIN]) {
        (&self.ghosts, self.layers)
    }

    /// By block and direction: the block there, of the same level or coarser; [`OUTSIDE`] beyond the box.
    #[cfg(feature = "cuda")]
    pub(crate) fn all_around(&self) -> &[u32] {
        &self.around
    }

    /// Fractions with those that make the interface meet walls of solid cells at a right angle: a solid cell has the mean
    /// of the cells beside it, from the wall inwards.
    pub(crate) fn with_ghosts<'a>(&self, alpha: &'a [f64]) -> Cow<'a, [f64]> {
        if self.ghosts.is_empty() {
            return Cow::Borrowed(alpha);
        }
        let mut alpha = alpha.to_vec();
        for ghost in &self.ghosts {
            let of = &ghost.beside[..usize::from(ghost.count)];
            let sum: f64 = of.iter().map(|&c| alpha[c as usize]).sum();
            alpha[ghost.cell as usize] = sum / f64::from(ghost.count);
        }
        Cow::Owned(alpha)
    }

    /// The blocks.
    pub fn blocks(&self) -> &Blocks<D> {
        &self.blocks
    }

    /// By direction, the block around a block: of the same level or coarser; [`OUTSIDE`] beyond the box.
    pub(crate) fn around(&self, block: usize) -> &[u32] {
        let count = dims::directions(D);
        &self.around[block * count..(block + 1) * count]
    }

    pub(crate) fn origin(&self) -> [f64; D] {
        self.origin
    }

    /// By block, bits of solid cells; none of refined blocks.
    pub fn solid(&self) -> &[u64] {
        &self.solid
    }

    /// The width of a level's cells, m.
    pub fn width(&self, level: usize) -> f64 {
        width(self.root_width, level)
    }

    /// The width of a block's cells, m.
    pub fn width_of(&self, block: usize) -> f64 {
        self.width(self.blocks.level(block))
    }

    /// The volume of a block's cells, m^D.
    pub fn volume_of(&self, block: usize) -> f64 {
        self.width_of(block).powi(D as i32)
    }

    /// The centre of a cell, m.
    pub fn centre(&self, block: usize, cell: usize) -> [f64; D] {
        centre(&self.blocks, self.origin, self.root_width, block, cell)
    }

    /// Tells solid cells by the body that they are of: by cell the number of the body plus 1.
    ///
    /// # Panics
    /// Where there is not one number for each cell.
    #[must_use]
    pub fn with_bodies(mut self, numbers: Vec<u8>) -> Self {
        assert_eq!(numbers.len(), self.blocks.cells(), "a number for each cell");
        self.bodies = numbers;
        self
    }

    /// The number of the body that a solid cell is of.
    pub(crate) fn body_of(&self, block: usize, cell: usize) -> Option<usize> {
        let body = self.bodies.get(block * dims::cells(D) + cell);
        let body = body.filter(|_| self.is_solid(block, cell));
        body.and_then(|&of| usize::from(of).checked_sub(1))
    }

    /// A mesh of the same box whose solid cells have the bodies of this one.
    pub(crate) fn give_bodies(&self, to: Self) -> Self {
        if self.bodies.is_empty() {
            return to;
        }
        let cells = dims::cells(D);
        let roots = self.blocks.range(0).map(|b| (self.blocks.coord(b), b));
        let roots: HashMap<[i32; D], usize> = roots.collect();
        let mut numbers = vec![0; to.blocks.cells()];
        let blocks = numbers.par_chunks_mut(cells).enumerate();
        blocks.for_each(|(block, numbers)| {
            for (cell, number) in numbers.iter_mut().enumerate() {
                if to.is_solid(block, cell) {
                    let (b, c) = self.below(|at| roots.get(&at).copied(), to.centre(block, cell));
                    *number = self.bodies[b * cells + c];
                }
            }
        });
        to.with_bodies(numbers)
    }

    /// Whether a cell is solid.
    pub fn is_solid(&self, block: usize, cell: usize) -> bool {
        self.solid[block] >> cell & 1 == 1
    }

    /// The lower and the upper corner of the box, m.
    pub fn corners(&self) -> [[f64; D]; 2] {
        corners(&self.blocks, self.origin, self.root_width)
    }

    /// Fills a tile with a block's values and those around it: coarser leaves' where there is no block of its level;
    /// mirrored at faces of the box. Refined blocks hold what the caller put there.
    pub(crate) fn tile(&self, values: &[f64], block: usize, tile: &mut Tile) {
        let cells = dims::cells(D);
        tile.resize(WIDE.pow(D as u32), 0.0);
        let count = dims::directions(D);
        for direction in 0..count {
            let step = dims::step::<D>(direction);
            let other = self.around[block * count + direction];
            let plain =
                other != OUTSIDE && self.blocks.level(other as usize) == self.blocks.level(block);
            let base: usize = (0..D).map(|a| 4 * (step[a] + 1) as usize * STEP[a]).sum();
            for cell in 0..cells {
                let local = dims::unravel::<D>(cell, 4);
                let at: usize = (0..D).map(|a| local[a] as usize * STEP[a]).sum();
                tile[base + at] = if plain {
                    values[other as usize * cells + cell]
                } else {
                    let to = std::array::from_fn(|a| 4 * step[a] + local[a]);
                    let (other, cell) = self.cell_at(block, to);
                    values[other * cells + cell]
                };
            }
        }
    }

    /// The block and cell at coordinates of -4 to 7 relative to a block: coarser where there is no finer one, mirrored
    /// beyond the box.
    pub(crate) fn cell_at(&self, block: usize, mut to: [i32; D]) -> (usize, usize) {
        let step = |to: &[i32; D]| dims::direction::<D>(to.map(|c| c.div_euclid(4)));
        let count = dims::directions(D);
        let mut direction = step(&to);
        if self.around[block * count + direction] == OUTSIDE {
            for a in 0..D {
                let side = if to[a] < 0 { 2 * a } else { 2 * a + 1 };
                if !(0..4).contains(&to[a]) && self.blocks.beside(block, side) == Beside::Outside {
                    to[a] = if to[a] < 0 { -1 - to[a] } else { 7 - to[a] };
                }
            }
            direction = step(&to);
        }
        let other = self.around[block * count + direction] as usize;
        let local = to.map(|c| c.rem_euclid(4));
        if self.blocks.level(other) == self.blocks.level(block) {
            return (other, dims::ravel(local, 4));
        }
        // The cell of the coarser leaf that covers the place.
        let at = self.blocks.coord(block);
        let up: [i32; D] = std::array::from_fn(|a| ((4 * at[a] + to[a]) >> 1).rem_euclid(4));
        (other, dims::ravel(up, 4))
    }

    /// Whether coordinates relative to a block, as of [`cell_at`](Self::cell_at), are in the box.
    fn is_inside(&self, block: usize, to: [i32; D]) -> bool {
        (0..D).all(|a| {
            let side = if to[a] < 0 { 2 * a } else { 2 * a + 1 };
            (0..4).contains(&to[a]) || self.blocks.beside(block, side) != Beside::Outside
        })
    }

    /// The cells up to `reach` away from a cell along each axis, at most [`MARGIN`], and the cell itself.
    pub(crate) fn near(
        &self,
        block: usize,
        cell: usize,
        reach: usize,
    ) -> impl Iterator<Item = Near<D>> {
        let wide = 2 * reach + 1;
        (0..wide.pow(D as u32)).map(move |k| {
            let step = dims::unravel::<D>(k, wide).map(|c| c - reach as i32);
            self.near_at(block, cell, step)
        })
    }

    /// The cell some steps away from a cell, at most [`MARGIN`] along each axis.
    pub(crate) fn near_at(&self, block: usize, cell: usize, step: [i32; D]) -> Near<D> {
        let at = dims::unravel::<D>(cell, 4);
        let to = std::array::from_fn(|a| at[a] + step[a]);
        let (there, cell) = self.cell_at(block, to);
        Near {
            step,
            block: there,
            cell,
            is_inside: self.is_inside(block, to),
        }
    }

    /// Whether one of the cells around a cell, corners included, is solid or beyond the box.
    pub(crate) fn sees_wall(&self, block: usize, cell: usize) -> bool {
        let mut around = self.near(block, cell, 1);
        around.any(|near| !near.is_inside || self.is_solid(near.block, near.cell))
    }

    /// The leaf and cell that hold a point; of a point outside of the box those nearest to it.
    pub(crate) fn holding(&self, at: [f64; D]) -> (usize, usize) {
        let find = |at| self.blocks.range(0).find(|&b| self.blocks.coord(b) == at);
        self.below(find, at)
    }

    /// The same by what finds the root block at a place.
    fn below(&self, find: impl Fn([i32; D]) -> Option<usize>, at: [f64; D]) -> (usize, usize) {
        let root = self.blocks.root();
        // In units of root cells.
        let x: [f64; D] = std::array::from_fn(|a| {
            let x = (at[a] - self.origin[a]) / self.width(0);
            x.clamp(0.0, f64::from(4 * root[a]) * (1.0 - f64::EPSILON))
        });
        let in_cells = |level: usize| x.map(|x| (x * f64::from(1u32 << level)) as i32);
        let at = in_cells(0).map(|c| c / 4);
        let mut block = find(at).expect("roots fill the box");
        let mut cell = in_cells(0).map(|c| c & 3);
        while let Some(first) = self.blocks.first_child(block) {
            let corner = in_cells(self.blocks.level(block) + 1).map(|c| c & 1);
            let (child, fine) = dims::below(cell, corner);
            (block, cell) = (first + child, fine);
        }
        (block, dims::ravel(cell, 4))
    }
}

/// The width of a level's cells.
fn width(of_root: f64, level: usize) -> f64 {
    of_root / f64::from(1u32 << level)
}

/// The lower and the upper corner of a box of blocks, m.
pub(crate) fn corners<const D: usize>(
    blocks: &Blocks<D>,
    origin: [f64; D],
    of_root: f64,
) -> [[f64; D]; 2] {
    let size = blocks.root().map(|n| f64::from(4 * n) * of_root);
    [origin, std::array::from_fn(|a| origin[a] + size[a])]
}

/// The centre of a cell in a box that begins at `origin`, whose root cells have a width.
pub(crate) fn centre<const D: usize>(
    blocks: &Blocks<D>,
    origin: [f64; D],
    of_root: f64,
    block: usize,
    cell: usize,
) -> [f64; D] {
    let (h, at, local) = (
        width(of_root, blocks.level(block)),
        blocks.coord(block),
        dims::unravel::<D>(cell, 4),
    );
    std::array::from_fn(|a| origin[a] + (f64::from(4 * at[a] + local[a]) + 0.5) * h)
}

/// The place in a tile of one of the block's cells.
#[inline]
pub(crate) fn in_tile<const D: usize>(cell: usize) -> usize {
    let at = dims::unravel::<D>(cell, 4);
    (0..D).map(|a| (at[a] as usize + MARGIN) * STEP[a]).sum()
}
