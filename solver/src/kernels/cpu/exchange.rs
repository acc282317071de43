//! Values between levels: density, momentum and non-equilibrium stress, interpolated to ghost cells and averaged back.
//!
//! Populations are made anew from these as collision leaves them, and the collision of cells that exchange
//! leaves nothing else of odd order. The stress is rescaled before collision (Dupuis & Chopard 2003),
//! so that nothing depends on how far from 1 the relaxation time is, and ten moments travel in place of 19 or
//! 27. Values are the means of their cells: a coarse cell's is the mean of its children, exactly, and interpolation
//! makes children whose mean is the coarse cell's.

use super::{
    BLOCK, LAYER, PAD, Tile, Values,
    collide::{self, layers},
    processor::{Processor, Work, dispatch},
    stream::{put, store_some},
};
use crate::{
    kernels::{Arrival, Between, exchanged},
    lattice::Lattice,
    storage::Storage,
    tables::{Level, bits, locate},
};
use cutlink_amr::{NONE, dims};
use cutlink_device::{Host, Real};
use rayon::prelude::*;
use std::marker::PhantomData;

/// Slots a task of averaging.
const CHUNK: usize = 32;

/// Weights of the cells at -2..=2 for the half of the middle one that lies up, by what there is, so
/// that the mean of both halves is the cell's value: the parabola that has the means of three cells, else the
/// line that has those of two.
fn weights(cubic: bool, there: [bool; 5]) -> [f64; 5] {
    match (cubic, there) {
        (true, [_, true, _, true, _]) => [0.0, -0.125, 1.0, 0.125, 0.0],
        (true, [_, false, _, true, true]) => [0.0, 0.0, 0.625, 0.5, -0.125],
        (true, [true, true, _, false, _]) => [0.125, -0.5, 1.375, 0.0, 0.0],
        (_, [.., true, _]) => [0.0, 0.0, 0.75, 0.25, 0.0],
        (_, [_, true, ..]) => [0.0, -0.25, 1.25, 0.0, 0.0],
        _ => [0.0, 0.0, 1.0, 0.0, 0.0],
    }
}

/// Along an axis: what a child's cell (first index) takes of the four coarse cells around the child (second).
type Axis<T> = [[T; 4]; 4];

/// Weights along an axis for the child's side of it, 0 or 1; the outermost of the coarse cells, those beyond
/// the overlap block, may not be there.
fn axis<T: Real>(cubic: bool, child: i32, is_there: bool) -> Axis<T> {
    let missing = if child == 0 { 0 } else { 3 };
    let there = |cell: i32| (0..4).contains(&cell) && (is_there || cell != missing);
    std::array::from_fn(|fine| {
        // The child's cells are the two in the middle.
        let (middle, side) = (1 + (fine as i32 >> 1), 2 * (fine as i32 & 1) - 1);
        let line = weights(
            cubic,
            std::array::from_fn(|n| there(middle + (n as i32 - 2) * side)),
        );
        std::array::from_fn(|cell| {
            let n = (cell as i32 - middle) * side + 2;
            T::of(usize::try_from(n).map_or(0.0, |n| line.get(n).copied().unwrap_or(0.0)))
        })
    })
}

/// The nearest cell and the one behind it, whether they are there or not.
fn nearest<T: Real>() -> Axis<T> {
    std::array::from_fn(|fine| {
        let middle = 1 + (fine >> 1);
        let other = if fine & 1 == 1 {
            middle + 1
        } else {
            middle - 1
        };
        let mut line = [T::of(0.0); 4];
        line[middle] = T::of(0.75);
        line[other] = T::of(0.25);
        line
    })
}

/// The cells of a block of 4^D that lie at some of the four places along an axis.
pub(super) fn planes(axis: usize, places: impl Iterator<Item = usize>) -> u64 {
    let first: u64 = [0x1111_1111_1111_1111, 0x000f_000f_000f_000f, 0xffff][axis];
    places.fold(0, |mask, place| mask | first << (place << (2 * axis)))
}

/// Where the coarse cells around a child are: direction of the block, as seen from the overlap block, and cell there.
pub(super) struct Places<const D: usize>;

impl<const D: usize> Places<D> {
    pub(super) const ALL: [[(u8, u8); BLOCK]; 8] = {
        let mut all = [[(0, 0); BLOCK]; 8];
        let mut child = 0;
        while child < dims::children(D) {
            let mut cell = 0;
            while cell < dims::cells(D) {
                let (mut at, mut a) = (dims::unravel::<D>(cell, 4), 0);
                while a < D {
                    at[a] += 2 * (child >> a & 1) as i32 - 1;
                    a += 1;
                }
                let (toward, inner) = locate(at);
                all[child][cell] = (toward as u8, dims::ravel(inner, 4) as u8);
                cell += 1;
            }
            child += 1;
        }
        all
    };
}

/// What the coarse cells around a child exchange: its 2^D and those next to them.
pub(super) struct Around<T> {
    pub(super) values: Values<T>,
    /// Which of them have values, and are fluid.
    pub(super) fluid: u64,
}

impl<T: Real> Around<T> {
    pub(super) fn new() -> Self {
        Self {
            values: [[T::of(0.0); BLOCK]; 10],
            fluid: 0,
        }
    }

    #[cfg_attr(optimized, inline(always))]
    fn load<const D: usize>(
        &mut self,
        level: &Level<D, Host>,
        moments: &[T],
        overlap: usize,
        child: usize,
    ) {
        let cells = dims::cells(D);
        let mut at = [0; BLOCK];
        self.fluid = 0;
        for cell in 0..cells {
            let (toward, inner) = Places::<D>::ALL[child][cell];
            let slot =
                level.neighbors[overlap * dims::directions(D) + usize::from(toward)] as usize;
            let is_there = slot < level.exchanging;
            let slot = if is_there { slot } else { overlap };
            at[cell] = slot * exchanged(D) * cells + usize::from(inner);
            self.fluid |= u64::from(is_there && level.solid[slot] >> inner & 1 == 0) << cell;
        }
        for n in 0..exchanged(D) {
            for cell in 0..cells {
                self.values[n][cell] = moments[at[cell] + n * cells];
            }
        }
    }

    /// The product of the axes' weights in layers of 16 that have targets.
    #[cfg_attr(optimized, inline(always))]
    fn product<const D: usize>(&self, axes: &[Axis<T>; D], targets: u64, to: &mut Values<T>) {
        let none = T::of(0.0);
        for layer in layers::<D>(targets) {
            for n in 0..exchanged(D) {
                let (mut plane, mut rows, mut all) = ([none; LAYER], [none; LAYER], [none; LAYER]);
                if D == 3 {
                    for k in 0..4 {
                        for i in 0..LAYER {
                            plane[i] += axes[D - 1][layer][k] * self.values[n][LAYER * k + i];
                        }
                    }
                } else {
                    plane.copy_from_slice(&self.values[n][..LAYER]);
                }
                for k in 0..4 {
                    for y in 0..4 {
                        for x in 0..4 {
                            rows[4 * y + x] += axes[1][y][k] * plane[4 * k + x];
                        }
                    }
                }
                for k in 0..4 {
                    for y in 0..4 {
                        for x in 0..4 {
                            all[4 * y + x] += axes[0][x][k] * rows[4 * y + k];
                        }
                    }
                }
                to[n][LAYER * layer..][..LAYER].copy_from_slice(&all);
            }
        }
    }

    /// The sum of some cells with the axes' weights for a child's cell, and the sum of these.
    fn sum<const D: usize>(
        &self,
        axes: &[Axis<T>; D],
        local: [i32; D],
        cells: u64,
    ) -> ([T; 10], T) {
        let (mut values, mut sum) = ([T::of(0.0); 10], T::of(0.0));
        for cell in bits(cells) {
            let at = dims::unravel::<D>(cell, 4);
            let weight = (0..D).fold(T::of(1.0), |weight, a| {
                weight * axes[a][local[a] as usize][at[a] as usize]
            });
            for n in 0..exchanged(D) {
                values[n] += weight * self.values[n][cell];
            }
            sum += weight;
        }
        (values, sum)
    }
}

/// Ways to interpolate, the best one first: by four cells an axis if that is wanted, by two, by those of two that are
/// fluid.
pub(super) struct Ways<const D: usize, T> {
    axes: [[Axis<T>; D]; 3],
}

impl<const D: usize, T: Real> Ways<D, T> {
    /// For a child of a block; along each axis, whether the outermost of the cells around it are there.
    pub(super) fn new(cubic: bool, child: [i32; D], is_there: [bool; D]) -> Self {
        let by = |cubic| std::array::from_fn(|a| axis(cubic, child[a], is_there[a]));
        Self {
            axes: [by(cubic), by(false), [nearest(); D]],
        }
    }

    /// The values of a child's cells.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn interpolate(&self, around: &Around<T>, targets: u64, to: &mut Values<T>) {
        around.product(&self.axes[0], targets, to);
        if around.fluid == dims::full_mask(D) {
            return;
        }
        for cell in bits(targets) {
            let local = dims::unravel::<D>(cell, 4);
            if self.cells(0, local) & !around.fluid != 0 {
                let instead = self.instead(around, local);
                (0..exchanged(D)).for_each(|n| to[n][cell] = instead[n]);
            }
        }
    }

    /// The coarse cells that a child's cell takes values of.
    fn cells(&self, way: usize, local: [i32; D]) -> u64 {
        (0..D).fold(dims::full_mask(D), |mask, a| {
            let line = self.axes[way][a][local[a] as usize];
            mask & planes(a, (0..4).filter(|&place| line[place] != T::of(0.0)))
        })
    }

    /// The next best values of a cell, where not all cells that the best way takes are fluid.
    fn instead(&self, around: &Around<T>, local: [i32; D]) -> [T; 10] {
        let cells = self.cells(1, local);
        if cells & !around.fluid == 0 {
            return around.sum(&self.axes[1], local, cells).0;
        }
        let cells = self.cells(2, local) & around.fluid;
        let (values, sum) = around.sum(&self.axes[2], local, cells);
        if sum > T::of(0.0) {
            values.map(|value| value / sum)
        } else {
            values
        }
    }
}

/// A level's values as another one's, and the populations they make.
#[cfg_attr(optimized, inline(always))]
pub(super) fn arrive<const D: usize, L: Lattice, S: Storage, P: Processor>(
    processor: P,
    values: &mut Values<S::Real>,
    arrival: &Arrival<S::Real>,
    targets: u64,
    tile: &mut Tile<S::Real>,
    to: &mut [S],
) {
    for row in &mut values[1 + D..exchanged(D)] {
        for stress in row {
            *stress = *stress * arrival.scale;
        }
    }
    collide::arrive::<D, L, S::Real>(values, arrival, targets, tile);
    store_some::<L, S, P>(processor, tile, dims::cells(D), targets, to, false);
}

/// Populations of a block's cells from their moments, one after the other, for the order of any backend.
pub(crate) fn arrive_each<const D: usize, L: Lattice, T: Real>(
    values: &Values<T>,
    arrival: &Arrival<T>,
    targets: u64,
    mut put: impl FnMut(usize, usize, T),
) {
    let mut tile = Tile::new();
    collide::arrive::<D, L, T>(values, arrival, targets, &mut tile);
    for q in 0..L::Q {
        bits(targets).for_each(|cell| put(q, cell, tile.0[q][PAD + cell]));
    }
}

/// The ghost cells of the children of an overlap block.
struct Interpolation<'a, 'b, const D: usize, L, S: Storage> {
    between: &'a Between<'b, D, S::Real, Host>,
    moments: &'a [S::Real],
    /// Its place among the overlap blocks.
    family: usize,
    to: &'a mut [S],
    lattice: PhantomData<L>,
}

impl<const D: usize, L: Lattice, S: Storage> Work for Interpolation<'_, '_, D, L, S> {
    #[cfg_attr(optimized, inline(always))]
    fn run<P: Processor>(self, processor: P) {
        let Between {
            coarse,
            fine,
            cubic,
            ..
        } = *self.between;
        let size = L::Q * dims::cells(D);
        let overlap = coarse.overlaps[self.family] as usize;
        let (mut around, mut tile) = (Around::new(), Tile::new());
        let mut values = [[S::Real::of(0.0); BLOCK]; 10];
        for (child, to) in self.to.chunks_exact_mut(size).enumerate() {
            let slot = self.family * dims::children(D) + child;
            let targets = fine.ghost[slot] & fine.stepped[slot];
            if targets == 0 {
                continue;
            }
            around.load(coarse, self.moments, overlap, child);
            let child = dims::unravel::<D>(child, 2);
            let is_there = std::array::from_fn(|a| {
                let mut step = [0; D];
                step[a] = 2 * child[a] - 1;
                let next = overlap * dims::directions(D) + dims::direction(step);
                (coarse.neighbors[next] as usize) < coarse.exchanging
            });
            let ways = Ways::new(cubic, child, is_there);
            ways.interpolate(&around, targets, &mut values);
            arrive::<D, L, S, P>(
                processor,
                &mut values,
                &self.between.to,
                targets,
                &mut tile,
                to,
            );
        }
    }
}

pub(super) fn interpolate<const D: usize, L: Lattice, S: Storage>(
    between: &Between<'_, D, S::Real, Host>,
    moments: &[S::Real],
    to: &mut [S],
) {
    let family = dims::children(D) * L::Q * dims::cells(D);
    to[..between.coarse.overlaps.len() * family]
        .par_chunks_mut(family)
        .enumerate()
        .for_each(|(family, to)| {
            dispatch(Interpolation::<D, L, S> {
                between,
                moments,
                family,
                to,
                lattice: PhantomData,
            });
        });
}

/// Sums over the 2^D cells of a child block that lie in one coarse cell, for the 2^D such.
#[cfg_attr(optimized, inline(always))]
fn sums<const D: usize, T: Real>(row: &[T; BLOCK]) -> [T; 8] {
    let mut sums = [T::of(0.0); 8];
    for z in 0..if D == 3 { 2 } else { 1 } {
        let mut plane = [T::of(0.0); LAYER];
        for i in 0..LAYER {
            plane[i] = row[2 * LAYER * z + i];
            if D == 3 {
                plane[i] += row[LAYER * (2 * z + 1) + i];
            }
        }
        for y in 0..2 {
            for x in 0..2 {
                let i = 8 * y + 2 * x;
                sums[4 * z + 2 * y + x] = plane[i] + plane[i + 1] + (plane[i + 4] + plane[i + 5]);
            }
        }
    }
    sums
}

/// Means of the children of an overlap block; the cells that have any.
#[cfg_attr(optimized, inline(always))]
fn means<const D: usize, T: Real>(
    fine: &Level<D, Host>,
    moments: &[T],
    overlap: usize,
    targets: u64,
    values: &mut Values<T>,
) -> u64 {
    let (cells, children) = (dims::cells(D), dims::children(D));
    let mut found = 0;
    for child in 0..children {
        let at = Over::<D>::ALL[child];
        let at = &at[..children];
        if at.iter().all(|cell| targets >> cell & 1 == 0) {
            continue;
        }
        let slot = overlap * children + child;
        let solid = fine.solid[slot];
        let mut counts = [children as f64; 8];
        if solid != 0 {
            let fluid = std::array::from_fn(|cell| f64::from(u8::from(solid >> cell & 1 == 0)));
            counts = sums::<D, f64>(&fluid);
        }
        for n in 0..exchanged(D) {
            let mut row = [T::of(0.0); BLOCK];
            row[..cells].copy_from_slice(&moments[(slot * exchanged(D) + n) * cells..][..cells]);
            bits(solid).for_each(|cell| row[cell] = T::of(0.0));
            let sums = sums::<D, T>(&row);
            for (corner, &cell) in at.iter().enumerate() {
                values[n][usize::from(cell)] = sums[corner] * T::of(1.0 / counts[corner].max(1.0));
            }
        }
        for (&cell, &count) in at.iter().zip(&counts) {
            found |= u64::from(count > 0.0) << cell;
        }
    }
    found & targets
}

/// The cells over a child block, in the order of their places in it.
struct Over<const D: usize>;

impl<const D: usize> Over<D> {
    const ALL: [[u8; 8]; 8] = {
        let mut all = [[0; 8]; 8];
        let mut child = 0;
        while child < dims::children(D) {
            let mut corner = 0;
            while corner < dims::children(D) {
                let (mut at, mut a) = (dims::unravel::<D>(corner, 2), 0);
                while a < D {
                    at[a] += 2 * (child >> a & 1) as i32;
                    a += 1;
                }
                all[child][corner] = dims::ravel(at, 4) as u8;
                corner += 1;
            }
            child += 1;
        }
        all
    };
}

/// Cells of refined blocks that are no ghosts' parents, among some slots from the first one on.
struct Averaging<'a, 'b, const D: usize, L, S: Storage> {
    between: &'a Between<'b, D, S::Real, Host>,
    fine_moments: &'a [S::Real],
    first: usize,
    to: &'a mut [S],
    moments: &'a mut [S::Real],
    lattice: PhantomData<L>,
}

impl<const D: usize, L: Lattice, S: Storage> Work for Averaging<'_, '_, D, L, S> {
    #[cfg_attr(optimized, inline(always))]
    fn run<P: Processor>(self, processor: P) {
        let Between { coarse, fine, .. } = *self.between;
        let cells = dims::cells(D);
        let (size, row) = (L::Q * cells, exchanged(D) * cells);
        let (mut values, mut tile) = ([[S::Real::of(0.0); BLOCK]; 10], Tile::new());
        let slots = self
            .to
            .chunks_exact_mut(size)
            .zip(self.moments.chunks_exact_mut(row));
        for (slot, (to, moments)) in (self.first..).zip(slots) {
            let overlap = coarse.overlap_of[slot];
            if overlap == NONE {
                continue;
            }
            let targets = !(coarse.stepped[slot] | coarse.solid[slot]) & dims::full_mask(D);
            let found = means::<D, S::Real>(
                fine,
                self.fine_moments,
                overlap as usize,
                targets,
                &mut values,
            );
            arrive::<D, L, S, P>(
                processor,
                &mut values,
                &self.between.to,
                found,
                &mut tile,
                to,
            );
            for (from, to) in values.iter().zip(moments.chunks_exact_mut(cells)) {
                put(&from[..cells], found, to);
            }
        }
    }
}

pub(super) fn average<const D: usize, L: Lattice, S: Storage>(
    between: &Between<'_, D, S::Real, Host>,
    fine_moments: &[S::Real],
    to: &mut [S],
    moments: &mut [S::Real],
) {
    let (size, row) = (L::Q * dims::cells(D), exchanged(D) * dims::cells(D));
    to[..between.coarse.exchanging * size]
        .par_chunks_mut(CHUNK * size)
        .zip(moments.par_chunks_mut(CHUNK * row))
        .enumerate()
        .for_each(|(chunk, (to, moments))| {
            dispatch(Averaging::<D, L, S> {
                between,
                fine_moments,
                first: CHUNK * chunk,
                to,
                moments,
                lattice: PhantomData,
            });
        });
}

#[cfg(test)]
mod tests;
