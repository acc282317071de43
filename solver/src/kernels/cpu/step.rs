//! Streaming and collision: gather a block's populations from the blocks around it, collide, store.

use super::{
    BLOCK, PAD, Tile,
    cell::View,
    collide,
    moments::Moments,
    order::Toward,
    processor::{Processor, Work, dispatch},
    stream,
};
use crate::{
    constants::balance,
    kernels::{Relaxation, exchanged},
    lattice::{Lattice, MOST, opposite},
    storage::Storage,
    tables::{At, Level, bits, locate},
};
use bytemuck::Zeroable;
use cutlink_amr::{OUTSIDE, dims};
use cutlink_device::{Host, Real};
use rayon::prelude::*;
use std::marker::PhantomData;

/// Slots a task.
const CHUNK: usize = 32;

/// Bytes of populations above which caches do not keep them until the next step.
const LARGE: usize = 8 << 20;

/// Prefetch distance in blocks. Shorter: data arrives late. Longer: it is evicted before use.
const AHEAD: usize = 2;

/// What all blocks of a step have in common.
struct Step<'a, const D: usize, L, S: Storage> {
    view: View<'a, D, L, S>,
    relax: Relaxation<S::Real>,
    is_large: bool,
}

/// What a task needs for its blocks.
struct Scratch<const D: usize, S: Storage> {
    tile: Tile<S::Real>,
    gathered: S::Gathered,
    moments: Moments<D, S::Real>,
}

impl<const D: usize, S: Storage> Scratch<D, S> {
    fn new() -> Self {
        Self {
            tile: Tile::new(),
            gathered: S::Gathered::zeroed(),
            moments: Moments::new(),
        }
    }
}

/// Some slots from the first one on; `moments` of those that exchange.
struct Slots<'a, const D: usize, L, S: Storage> {
    step: &'a Step<'a, D, L, S>,
    first: usize,
    to: &'a mut [S],
    moments: Option<&'a mut [S::Real]>,
}

impl<const D: usize, L: Lattice, S: Storage> Work for Slots<'_, D, L, S> {
    #[cfg_attr(optimized, inline(always))]
    fn run<P: Processor>(mut self, processor: P) {
        let mut scratch = Scratch::new();
        let size = L::Q * dims::cells(D);
        let row = exchanged(D) * dims::cells(D);
        for (n, to) in self.to.chunks_exact_mut(size).enumerate() {
            let slot = self.first + n;
            if slot < self.step.view.level.special {
                let moments = self.moments.as_deref_mut();
                let moments = moments.map(|all| &mut all[n * row..][..row]);
                self.step
                    .special(processor, slot, to, moments, &mut scratch);
            } else {
                self.step.plain(processor, slot, to, &mut scratch);
            }
        }
        stream::fence();
    }
}

pub(super) fn step<const D: usize, L: Lattice, S: Storage>(
    level: &Level<D, Host>,
    relax: Relaxation<S::Real>,
    from: &[S],
    to: &mut [S],
    moments: &mut [S::Real],
) {
    let size = L::Q * dims::cells(D);
    let row = exchanged(D) * dims::cells(D);
    let (exchanging, rest) = to.split_at_mut(level.exchanging * size);
    let with = |relax| Step {
        view: View::<D, L, S> {
            level,
            from,
            lattice: PhantomData,
        },
        relax,
        is_large: size_of_val(from) > LARGE,
    };
    let step = with(relax);
    let between = with(relax.between_levels());
    exchanging
        .par_chunks_mut(CHUNK * size)
        .zip(moments.par_chunks_mut(CHUNK * row))
        .enumerate()
        .for_each(|(chunk, (to, moments))| {
            dispatch(Slots {
                step: &between,
                first: CHUNK * chunk,
                to,
                moments: Some(moments),
            });
        });
    let own_end = level.halo.own_end() - level.exchanging;
    rest[..own_end * size]
        .par_chunks_mut(CHUNK * size)
        .enumerate()
        .for_each(|(chunk, to)| {
            dispatch(Slots {
                step: &step,
                first: level.exchanging + CHUNK * chunk,
                to,
                moments: None,
            });
        });
}

impl<const D: usize, L: Lattice, T: Real, S: Storage<Real = T>> Step<'_, D, L, S> {
    fn neighbors(&self, slot: usize) -> &[u32] {
        let directions = dims::directions(D);
        &self.view.level.neighbors[slot * directions..][..directions]
    }

    #[cfg_attr(optimized, inline(always))]
    fn dithers(&self) -> bool {
        self.relax.dithers != 0
    }

    /// Collides a block that has been streamed, and prefetches what a later one will read.
    #[cfg_attr(optimized, inline(always))]
    fn collide(&self, slot: usize, tile: &mut Tile<T>) {
        let next = (slot + AHEAD).min(self.view.level.slots - 1);
        let (from, around) = (self.view.from, self.neighbors(next));
        let ahead = |part: usize| stream::ahead::<D, L, S>(from, next, around, part);
        collide::collide::<D, L, T>(tile, &self.relax, &ahead);
    }

    /// A block with nothing but fluid of its level around it.
    #[cfg_attr(optimized, inline(always))]
    fn plain<P: Processor>(
        &self,
        processor: P,
        slot: usize,
        to: &mut [S],
        scratch: &mut Scratch<D, S>,
    ) {
        let (cells, from) = (dims::cells(D), self.view.from);
        let Scratch { tile, gathered, .. } = scratch;
        stream::stream::<D, L, S>(from, self.neighbors(slot), tile, gathered);
        self.collide(slot, tile);
        stream::store::<L, S, P>(processor, tile, cells, to, self.is_large, self.dithers());
    }

    /// Any block: cells that are not stepped keep what `to` has.
    #[cfg_attr(optimized, inline(always))]
    fn special<P: Processor>(
        &self,
        processor: P,
        slot: usize,
        to: &mut [S],
        moments: Option<&mut [T]>,
        scratch: &mut Scratch<D, S>,
    ) {
        let cells = dims::cells(D);
        let stepped = self.view.level.stepped[slot];
        if stepped == 0 {
            return;
        }
        let around = self.around(slot);
        let tile = &mut scratch.tile;
        let next = &around[..dims::directions(D)];
        stream::stream::<D, L, S>(self.view.from, next, tile, &mut scratch.gathered);
        self.mend(processor, slot, stepped, tile, &mut scratch.moments);
        if self.relax.conserves != balance::NONE {
            self.balance(slot, stepped, tile);
        }
        let mut fresh = [[T::of(0.0); BLOCK]; 10];
        if moments.is_some() {
            collide::exchange::<D, L, T>(tile, &self.relax, &mut fresh);
        }
        self.collide(slot, tile);
        if stepped == dims::full_mask(D) {
            stream::store::<L, S, P>(processor, tile, cells, to, self.is_large, self.dithers());
        } else {
            stream::store_some::<L, S, P>(processor, tile, cells, stepped, to, self.dithers());
        }
        let Some(moments) = moments else { return };
        for (to, from) in moments.chunks_exact_mut(cells).zip(&fresh) {
            stream::put(&from[..cells], stepped, to);
        }
    }

    /// The blocks around one, itself in place of those that are missing.
    fn around(&self, slot: usize) -> [u32; 27] {
        let mut around = [slot as u32; 27];
        let next = self.neighbors(slot);
        for direction in 0..dims::directions(D) {
            if (next[direction] as usize) < self.view.level.slots {
                around[direction] = next[direction];
            }
        }
        around
    }

    /// Returns what walls have put into cells, and should not have, to their populations at rest.
    fn balance(&self, slot: usize, which: u64, tile: &mut Tile<T>) {
        let beside = self.view.level.boundary[slot] | self.at_edges(slot);
        for cell in bits(which & beside) {
            let at = At::<D>::new(slot, cell);
            let arrived = |q: usize| tile.0[q][PAD + cell];
            let surplus = self.view.surplus(at, self.relax.conserves, arrived);
            tile.0[0][PAD + cell] -= T::of(surplus);
        }
    }

    /// Cells beside more than one end of the box.
    fn at_edges(&self, slot: usize) -> u64 {
        let is_at_edge = |cell: &usize| self.view.ends_beside(At::<D>::new(slot, *cell)) > 1;
        let ends = self.neighbors(slot).iter().filter(|&&next| next == OUTSIDE);
        match ends.count() {
            0 | 1 => 0,
            _ => (0..dims::cells(D))
                .filter(is_at_edge)
                .fold(0, |all, cell| all | 1 << cell),
        }
    }

    /// Puts the populations right that come from elsewhere than a fluid cell of the level.
    #[cfg_attr(optimized, inline(always))]
    fn mend<P: Processor>(
        &self,
        processor: P,
        slot: usize,
        which: u64,
        tile: &mut Tile<T>,
        moments: &mut Moments<D, T>,
    ) {
        moments.clear();
        let (own, singles) = self.exceptions(slot);
        let size = L::Q * dims::cells(D);
        let block = &self.view.from[slot * size..][..size];
        for q in 1..L::Q {
            if own[q] & which != 0 {
                stream::keep::<L, S, P>(processor, block, q, own[q], tile);
            }
            for cell in bits(singles[q] & which) {
                let at = At::<D>::new(slot, cell);
                let pulled = self.view.pull(at, q, self.view.links(at), moments);
                // Rounded as on a GPU, which puts these into memory.
                let stored = match self.dithers() {
                    true => S::store_dithered(pulled, BLOCK * q + cell),
                    false => S::store(pulled),
                };
                tile.0[q][PAD + cell] = stored.load();
            }
        }
    }

    /// By population, the cells that keep their own, as the level ends where it would come from, and those
    /// that get it from a wall or a face.
    fn exceptions(&self, slot: usize) -> ([u64; MOST], [u64; MOST]) {
        let level = self.view.level;
        let (mut own, mut singles) = ([0; MOST], [0; MOST]);
        for (sources, &next) in Sources::<D, L>::ALL.iter().zip(self.neighbors(slot)) {
            let (to, blocked) = match next {
                OUTSIDE => (&mut singles, u64::MAX),
                next if (next as usize) < level.slots => (&mut singles, level.solid[next as usize]),
                _ => (&mut own, u64::MAX),
            };
            if blocked != 0 {
                for (to, source) in to.iter_mut().zip(sources).skip(1) {
                    *to |= source.cells_of(blocked);
                }
            }
        }
        for cell in bits(level.boundary[slot]) {
            let links = self.view.links(At::<D>::new(slot, cell)).directions;
            for q in 1..L::Q {
                let back = Toward::<L>::DIRECTION[opposite(q)];
                singles[q] |= u64::from(links >> back & 1) << cell;
            }
        }
        (own, singles)
    }
}

/// Cells of a block that get a population from one of the blocks around it, and how much further on in
/// that block the cells are that it comes from.
#[derive(Clone, Copy)]
struct Source {
    cells: u64,
    ahead: i32,
}

impl Source {
    /// Those that get it from some cells of that block.
    #[cfg_attr(optimized, inline(always))]
    fn cells_of(self, there: u64) -> u64 {
        let here = if self.ahead < 0 {
            there << -self.ahead
        } else {
            there >> self.ahead
        };
        here & self.cells
    }
}

/// By direction of the block and by population.
struct Sources<const D: usize, L>(PhantomData<L>);

impl<const D: usize, L: Lattice> Sources<D, L> {
    const ALL: [[Source; MOST]; 27] = {
        let mut all = [[Source { cells: 0, ahead: 0 }; MOST]; 27];
        let mut q = 0;
        while q < L::Q {
            let mut cell = 0;
            while cell < dims::cells(D) {
                let (mut at, mut a) = (dims::unravel::<D>(cell, 4), 0);
                while a < D {
                    at[a] -= L::C[q][a];
                    a += 1;
                }
                let (toward, there) = locate(at);
                let source = &mut all[toward][q];
                source.cells |= 1 << cell;
                source.ahead = dims::ravel(there, 4) as i32 - cell as i32;
                cell += 1;
            }
            q += 1;
        }
        all
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        FaceCondition, LatticeKind,
        kernels::cpu::{fixture, processor::AnyProcessor},
        lattice::{D2Q9, D3Q19, D3Q27},
    };
    use cutlink_mesher::{
        Surface,
        exact::{Exact, Facet},
        primitives::{Shape2, Shape3},
    };

    /// Cells whose populations differ from those that are pulled one by one, on all levels of a body in a box.
    fn compare<const D: usize, L: Lattice>(surface: &Surface<D>) -> (usize, usize)
    where
        Facet<D>: Exact<D>,
    {
        let mut faces = [[FaceCondition::FreeSlip; 2]; D];
        faces[0] = [FaceCondition::Velocity([0.03; D]), FaceCondition::Outflow];
        faces[D - 1] = [FaceCondition::Periodic; 2];
        let (mut differing, mut compared) = (0, 0);
        for level in fixture::levels::<D, L>(surface, 8, 3, faces) {
            let level = &level.level;
            let values = level.slots * L::Q * dims::cells(D);
            let from: Vec<f64> = (0..values).map(|i| (i as f64).sin()).collect();
            let step = Step::<D, L, f64> {
                view: View {
                    level,
                    from: &from,
                    lattice: PhantomData,
                },
                relax: Zeroable::zeroed(),
                is_large: false,
            };
            let mut whole = Tile::new();
            let (mut moments, mut alone) = (Moments::new(), Moments::new());
            for slot in 0..level.special {
                let around = step.around(slot);
                let around = &around[..dims::directions(D)];
                stream::stream::<D, L, f64>(&from, around, &mut whole, &mut ());
                step.mend(
                    AnyProcessor,
                    slot,
                    level.stepped[slot],
                    &mut whole,
                    &mut moments,
                );
                for cell in bits(level.stepped[slot]) {
                    let at = At::<D>::new(slot, cell);
                    let links = step.view.links(at);
                    let differs = (0..L::Q).any(|q| {
                        alone.clear();
                        let single = step.view.pull(at, q, links, &mut alone);
                        whole.0[q][PAD + cell].to_bits() != single.to_bits()
                    });
                    differing += usize::from(differs);
                    compared += 1;
                }
            }
        }
        (differing, compared)
    }

    #[test]
    fn whole_blocks_stream_as_cells_do() {
        let ball = Shape3::Sphere { radius: 3.0 }.surface(1e-2);
        let ball = ball.expect("a sphere");
        let disc = Shape2::Circle { radius: 3.0 }.surface(1e-2);
        let disc = disc.expect("a circle");
        for (differing, compared) in [
            compare::<3, D3Q19>(&ball),
            compare::<3, D3Q27>(&ball),
            compare::<2, D2Q9>(&disc),
        ] {
            assert_eq!(differing, 0, "of {compared}");
            assert!(compared > 1000, "{compared} cells");
        }
        assert_eq!(LatticeKind::D3Q27, D3Q27::KIND);
    }
}
