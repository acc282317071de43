//! Populations of a level whose blocks have changed, from those before (`adapt::transfer`).

use super::{
    BLOCK, Tile, Values,
    exchange::{Around, Places, Ways, arrive, planes},
    order::Order,
    processor::{Processor, Work, dispatch},
};
use crate::{
    constants::source,
    kernels::{Departure, Origin, Transfer, exchanged, pairs},
    lattice::Lattice,
    storage::Storage,
    tables::bits,
};
use cutlink_amr::{NONE, dims};
use cutlink_device::{Host, Real};
use rayon::prelude::*;
use std::marker::PhantomData;

/// [`moments_of`] a cell of a slot.
fn values_of<const D: usize, L: Lattice, T: Real, S: Storage<Real = T>>(
    f: &[S],
    slot: usize,
    cell: usize,
    from: &Departure<T>,
) -> [T; 10] {
    let block = &f[slot * L::Q * dims::cells(D)..][..L::Q * dims::cells(D)];
    moments_of::<D, L, T>(|q| block[Order::<L>::of(q, cell)].load(), from)
}

/// The values of a cell that pass between levels, of its populations after collision: density less 1, momentum, and stress if
/// collision has left enough of it.
pub(crate) fn moments_of<const D: usize, L: Lattice, T: Real>(
    population: impl Fn(usize) -> T,
    from: &Departure<T>,
) -> [T; 10] {
    let mut values = [T::of(0.0); 10];
    for q in 0..L::Q {
        let f = population(q);
        values[0] += f;
        for a in 0..D {
            values[1 + a] += T::of(f64::from(L::C[q][a])) * f;
        }
        for (n, a, b) in pairs::<D>() {
            values[n] += T::of(f64::from(L::C[q][a] * L::C[q][b])) * f;
        }
    }
    let density = T::of(1.0) + values[0];
    let half = from.half_step;
    // After collision half a step of the acceleration too much is in the momentum.
    let u: [T; D] = std::array::from_fn(|a| values[1 + a] / density - half[a]);
    for (n, a, b) in pairs::<D>() {
        let third = if a == b {
            T::of(1.0 / 3.0) * values[0]
        } else {
            T::of(0.0)
        };
        let push = u[a] * half[b] + half[a] * u[b];
        let stress = values[n] - third - density * (u[a] * u[b] + push);
        values[n] = if from.keep == T::of(0.0) {
            T::of(0.0)
        } else {
            stress / from.keep
        };
    }
    for a in 0..D {
        values[1 + a] = density * u[a];
    }
    values
}

/// The stress of 4^D cells that lie side by side by the differences of their velocities, -2 ρ τ S / 3; one-sided at the
/// edge and beside cells that are not fluid.
fn stress_by_gradient<const D: usize, T: Real>(values: &mut Values<T>, fluid: u64, tau: T) {
    let u = |values: &Values<T>, a: usize, cell: usize| {
        values[1 + a][cell] / (T::of(1.0) + values[0][cell])
    };
    for cell in bits(fluid) {
        let at = dims::unravel::<D>(cell, 4);
        let beside = |axis: usize, by: i32| {
            let mut to = at;
            to[axis] += by;
            let is_near = (0..4).contains(&to[axis]);
            let cell = is_near.then(|| dims::ravel(to, 4));
            cell.filter(|cell| fluid >> cell & 1 == 1)
        };
        let slope = |a: usize, axis: usize| {
            let (low, high) = (beside(axis, -1), beside(axis, 1));
            let [from, to] = [low.unwrap_or(cell), high.unwrap_or(cell)];
            let share = if low.is_some() && high.is_some() {
                0.5
            } else {
                1.0
            };
            T::of(share) * (u(values, a, to) - u(values, a, from))
        };
        let scale = -(T::of(1.0 / 3.0) * (T::of(1.0) + values[0][cell]) * tau);
        let mut stress = [T::of(0.0); 10];
        for (n, a, b) in pairs::<D>() {
            stress[n] = scale * (slope(a, b) + slope(b, a));
        }
        for (n, ..) in pairs::<D>() {
            values[n][cell] = stress[n];
        }
    }
}

impl<T: Real> Around<T> {
    /// Restricts the cells around a child to a box, all of which is there: its parent's, and along each axis those beyond, if
    /// all that the axes before have taken are there too. So the product of one-sided weights needs no cell that is missing,
    /// keeps the mean, and is exact for linear fields, also where only blocks beyond an edge or a corner are missing.
    fn restrict<const D: usize>(&mut self, child: [i32; D]) -> [bool; D] {
        let outer: [usize; D] = child.map(|side| if side == 0 { 0 } else { 3 });
        let inner = |a: usize| planes(a, (0..4).filter(|&place| place != outer[a]));
        let mut ranges: [u64; D] = std::array::from_fn(inner);
        let is_there = std::array::from_fn(|a| {
            let beyond = planes(a, std::iter::once(outer[a]));
            let others = (0..D).filter(|&b| b != a);
            let slab = others.fold(beyond & dims::full_mask(D), |slab, b| slab & ranges[b]);
            let is_there = slab & !self.fluid == 0;
            if is_there {
                ranges[a] |= beyond;
            }
            is_there
        });
        self.fluid = ranges
            .iter()
            .fold(dims::full_mask(D), |all, range| all & range);
        is_there
    }
}

/// Some slots of a level.
struct Seeding<'a, 'b, const D: usize, L, S: Storage> {
    transfer: &'a Transfer<'b, D, S, Host>,
    first: usize,
    to: &'a mut [S],
    lattice: PhantomData<L>,
}

impl<const D: usize, L: Lattice, T: Real, S: Storage<Real = T>> Seeding<'_, '_, D, L, S> {
    /// The cells around a child of a block of the coarser level.
    #[cfg_attr(optimized, inline(always))]
    fn load(around: &mut Around<T>, from: &Origin<'_, D, S, Host>, block: usize, child: usize) {
        let level = from.level;
        around.fluid = 0;
        for (cell, &(toward, inner)) in Places::<D>::ALL[child][..dims::cells(D)].iter().enumerate()
        {
            let slot = level.neighbors[block * dims::directions(D) + usize::from(toward)] as usize;
            if slot >= level.slots || level.solid[slot] >> inner & 1 == 1 {
                continue;
            }
            around.fluid |= 1 << cell;
            let values = values_of::<D, L, T, S>(
                from.populations,
                slot,
                usize::from(inner),
                &from.departure,
            );
            for (row, value) in around.values.iter_mut().zip(values) {
                row[cell] = value;
            }
        }
        if from.departure.keep == T::of(0.0) {
            stress_by_gradient::<D, T>(&mut around.values, around.fluid, from.departure.tau);
        }
    }

    /// A child of a block of the coarser level.
    #[cfg_attr(optimized, inline(always))]
    fn from_parent<P: Processor>(
        processor: P,
        from: &Origin<'_, D, S, Host>,
        block: usize,
        child: usize,
        tile: &mut Tile<T>,
        to: &mut [S],
    ) {
        let (mut around, mut values) = (Around::new(), [[T::of(0.0); BLOCK]; 10]);
        Self::load(&mut around, from, block, child);
        let child = dims::unravel::<D>(child, 2);
        let ways = Ways::new(true, child, around.restrict(child));
        let all = dims::full_mask(D);
        ways.interpolate(&around, all, &mut values);
        arrive::<D, L, S, P>(processor, &mut values, &from.arrival, all, tile, to);
    }

    /// A block of which the children are known.
    #[cfg_attr(optimized, inline(always))]
    fn from_children<P: Processor>(
        processor: P,
        from: &Origin<'_, D, S, Host>,
        group: &[u32],
        tile: &mut Tile<T>,
        to: &mut [S],
    ) {
        let mut values = [[T::of(0.0); BLOCK]; 10];
        let mut found = 0u64;
        for (child, &slot) in group.iter().enumerate() {
            if slot == NONE {
                continue;
            }
            let slot = slot as usize;
            let fluid = dims::full_mask(D) & !from.level.solid[slot];
            let mut fine = [[T::of(0.0); BLOCK]; 10];
            for cell in bits(fluid) {
                let of = values_of::<D, L, T, S>(from.populations, slot, cell, &from.departure);
                for (row, value) in fine.iter_mut().zip(of) {
                    row[cell] = value;
                }
            }
            if from.departure.keep == T::of(0.0) {
                stress_by_gradient::<D, T>(&mut fine, fluid, from.departure.tau);
            }
            for corner in 0..dims::children(D) {
                let low = dims::unravel::<D>(corner, 2).map(|c| 2 * c);
                let inside = |n: usize| {
                    let step = dims::unravel::<D>(n, 2);
                    let at: [i32; D] = std::array::from_fn(|a| low[a] + step[a]);
                    dims::ravel(at, 4)
                };
                let cells = (0..dims::children(D)).map(inside);
                let cells = cells.filter(|cell| fluid >> cell & 1 == 1);
                let count = cells.clone().count();
                if count == 0 {
                    continue;
                }
                let above = dims::unravel::<D>(child, 2);
                let above: [i32; D] = std::array::from_fn(|a| 2 * above[a] + low[a] / 2);
                let above = dims::ravel(above, 4);
                found |= 1 << above;
                let share = T::of(1.0 / count as f64);
                for n in 0..exchanged(D) {
                    let mut sum = T::of(0.0);
                    cells.clone().for_each(|cell| sum += fine[n][cell]);
                    values[n][above] = sum * share;
                }
            }
        }
        to.fill(S::zeroed());
        arrive::<D, L, S, P>(processor, &mut values, &from.arrival, found, tile, to);
    }
}

impl<const D: usize, L: Lattice, S: Storage> Work for Seeding<'_, '_, D, L, S> {
    #[cfg_attr(optimized, inline(always))]
    fn run<P: Processor>(self, processor: P) {
        let (size, family) = (L::Q * dims::cells(D), dims::children(D));
        let mut tile = Tile::new();
        for (n, to) in self.to.chunks_exact_mut(size).enumerate() {
            let source = self.transfer.sources[self.first + n];
            let at = source.at as usize;
            match source.kind {
                source::SAME => {
                    let same = self
                        .transfer
                        .same
                        .expect("the level should have been there");
                    to.copy_from_slice(&same[at * size..][..size]);
                }
                source::CHILD_BLOCKS => {
                    let finer = self.transfer.finer.as_ref();
                    let finer = finer.expect("a refined block should have a finer level");
                    let group = &self.transfer.slot_of[at..at + family];
                    Self::from_children(processor, finer, group, &mut tile, to);
                }
                source::OTHER_RANK => {}
                parent => {
                    let coarser = self.transfer.coarser.as_ref();
                    let coarser = coarser.expect("a child should have a coarser level");
                    let child = (parent - source::PARENT) as usize;
                    Self::from_parent(processor, coarser, at, child, &mut tile, to);
                }
            }
        }
    }
}

/// Slots a task.
const CHUNK: usize = 16;

pub(super) fn seed<const D: usize, L: Lattice, S: Storage>(
    transfer: &Transfer<'_, D, S, Host>,
    to: &mut [S],
) {
    let size = CHUNK * L::Q * dims::cells(D);
    to.par_chunks_mut(size).enumerate().for_each(|(chunk, to)| {
        dispatch(Seeding::<D, L, S> {
            transfer,
            first: CHUNK * chunk,
            to,
            lattice: PhantomData,
        });
    });
}
