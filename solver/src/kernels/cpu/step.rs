//! Streaming and collision: gather a block's populations from the blocks around it, collide, store.

use super::{
    BLOCK, PAD, Tile,
    cell::{At, View},
    collide, stream,
};
use crate::{
    kernels::{Relaxation, exchanged},
    lattice::Lattice,
    real::Real,
    tables::Level,
};
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;
use std::marker::PhantomData;

/// Slots a task.
const CHUNK: usize = 32;

/// Bytes of populations that caches will not keep until the next step.
const LARGE: usize = 8 << 20;

/// What all blocks of a step have in common.
struct Step<'a, const D: usize, L, T> {
    view: View<'a, D, L, T>,
    relax: Relaxation<T>,
    is_large: bool,
}

/// Some slots that exchange, from the first one on. These are no closures, for a closure becomes a function of its own,
/// which is then compiled for the least of processors.
struct Exchanging<'a, const D: usize, L, T> {
    step: &'a Step<'a, D, L, T>,
    first: usize,
    to: &'a mut [T],
    moments: &'a mut [T],
}

impl<const D: usize, L: Lattice, T: Real> pulp::NullaryFnOnce for Exchanging<'_, D, L, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let mut tile = Tile::new();
        let size = L::Q * dims::cells(D);
        let row = exchanged(D) * dims::cells(D);
        let slots = self.to.chunks_exact_mut(size);
        for (n, (to, moments)) in slots.zip(self.moments.chunks_exact_mut(row)).enumerate() {
            self.step
                .special(self.first + n, to, Some(moments), &mut tile);
        }
        stream::fence();
    }
}

/// Some of the other slots.
struct Others<'a, const D: usize, L, T> {
    step: &'a Step<'a, D, L, T>,
    first: usize,
    to: &'a mut [T],
}

impl<const D: usize, L: Lattice, T: Real> pulp::NullaryFnOnce for Others<'_, D, L, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let mut tile = Tile::new();
        let size = L::Q * dims::cells(D);
        for (n, to) in self.to.chunks_exact_mut(size).enumerate() {
            let slot = self.first + n;
            if slot < self.step.view.level.special {
                self.step.special(slot, to, None, &mut tile);
            } else {
                self.step.plain(slot, to, &mut tile);
            }
        }
        stream::fence();
    }
}

pub(super) fn step<const D: usize, L: Lattice, T: Real>(
    level: &Level<D, Host>,
    relax: Relaxation<T>,
    from: &[T],
    to: &mut [T],
    moments: &mut [T],
) {
    let size = L::Q * dims::cells(D);
    let row = exchanged(D) * dims::cells(D);
    let (exchanging, rest) = to.split_at_mut(level.exchanging * size);
    let with = |relax| Step {
        view: View::<D, L, T> {
            level,
            from,
            lattice: PhantomData,
        },
        relax,
        is_large: size_of_val(from) > LARGE,
    };
    let step = with(relax);
    // What levels exchange has no odd non-equilibrium, so that there had better be none to lose.
    let between = with(Relaxation {
        odd: T::of(1.0),
        ..relax
    });
    exchanging
        .par_chunks_mut(CHUNK * size)
        .zip(moments.par_chunks_mut(CHUNK * row))
        .enumerate()
        .for_each(|(chunk, (to, moments))| {
            pulp::Arch::new().dispatch(Exchanging {
                step: &between,
                first: CHUNK * chunk,
                to,
                moments,
            });
        });
    rest.par_chunks_mut(CHUNK * size)
        .enumerate()
        .for_each(|(chunk, to)| {
            pulp::Arch::new().dispatch(Others {
                step: &step,
                first: level.exchanging + CHUNK * chunk,
                to,
            });
        });
}

impl<const D: usize, L: Lattice, T: Real> Step<'_, D, L, T> {
    fn neighbors(&self, slot: usize) -> &[u32] {
        let directions = dims::directions(D);
        &self.view.level.neighbors[slot * directions..][..directions]
    }

    /// A block with nothing but fluid of its level around it.
    #[inline(always)]
    fn plain(&self, slot: usize, to: &mut [T], tile: &mut Tile<T>) {
        let (cells, from) = (dims::cells(D), self.view.from);
        stream::stream::<D, L, T>(from, self.neighbors(slot), tile);
        let last = self.view.level.slots - 1;
        let (next, after) = ((slot + 1).min(last), (slot + 2).min(last));
        let around = self.neighbors(next);
        collide::collide::<L, T>(
            tile,
            cells,
            &self.relax,
            #[inline(always)]
            |part| stream::ahead::<D, L, T>(from, after, around, part),
        );
        stream::store::<L, T>(tile, cells, to, self.is_large);
    }

    /// Any block: cells that are not stepped keep what `to` has.
    #[inline(always)]
    fn special(&self, slot: usize, to: &mut [T], moments: Option<&mut [T]>, tile: &mut Tile<T>) {
        let cells = dims::cells(D);
        let stepped = self.view.level.stepped[slot];
        if stepped == 0 {
            return;
        }
        let (around, odd) = self.odd_cells(slot);
        stream::stream::<D, L, T>(self.view.from, &around[..dims::directions(D)], tile);
        self.pull(slot, odd & stepped, tile);
        let mut fresh = [[T::of(0.0); BLOCK]; 10];
        if moments.is_some() {
            collide::exchange::<D, L, T>(tile, &self.relax, &mut fresh);
        }
        collide::collide::<L, T>(tile, cells, &self.relax, |_| {});
        if stepped == dims::full_mask(D) {
            stream::store::<L, T>(tile, cells, to, self.is_large);
        } else {
            for q in 0..L::Q {
                for cell in bits(stepped) {
                    to[q * cells + cell] = tile.0[q][PAD + cell];
                }
            }
        }
        let Some(moments) = moments else { return };
        for (to, from) in moments.chunks_exact_mut(cells).zip(&fresh) {
            for cell in bits(stepped) {
                to[cell] = from[cell];
            }
        }
    }

    /// The blocks around one, itself in place of those that are missing; and the cells that may get
    /// something from a wall, a face or a missing block.
    fn odd_cells(&self, slot: usize) -> ([u32; 27], u64) {
        let level = self.view.level;
        let mut odd = level.boundary[slot] | reach(level.solid[slot]);
        let mut around = [slot as u32; 27];
        let last = dims::directions(D) - 1;
        for (direction, &next) in self.neighbors(slot).iter().enumerate() {
            let is_there = (next as usize) < level.slots;
            if is_there {
                around[direction] = next;
            }
            if !is_there || level.solid[next as usize] & side::<D>(last - direction) != 0 {
                odd |= side::<D>(direction);
            }
        }
        (around, odd)
    }

    /// Pulls the populations of some cells, whatever they come from.
    fn pull(&self, slot: usize, which: u64, tile: &mut Tile<T>) {
        for cell in bits(which) {
            let at = At::<D>::new(slot, cell);
            let links = self.view.links(at);
            for q in 0..L::Q {
                tile.0[q][PAD + cell] = self.view.pull(at, q, links);
            }
        }
    }
}

/// The places of the bits that are set.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

/// First cells of a block along x, y and z, and the last ones.
const ENDS: [[u64; 2]; 3] = [
    [0x1111_1111_1111_1111, 0x8888_8888_8888_8888],
    [0x000f_000f_000f_000f, 0xf000_f000_f000_f000],
    [0x0000_0000_0000_ffff, 0xffff_0000_0000_0000],
];

/// The cells of a block that touch the one in a direction; those of its middle touch all.
fn side<const D: usize>(direction: usize) -> u64 {
    let step = dims::step::<D>(direction);
    (0..D).fold(dims::full_mask(D), |mask, a| match step[a] {
        -1 => mask & ENDS[a][0],
        1 => mask & ENDS[a][1],
        _ => mask,
    })
}

/// Some cells of a block and those within one step of them.
fn reach(mask: u64) -> u64 {
    (0..3).fold(mask, |mask, a| {
        let by = 1 << (2 * a);
        mask | (mask & !ENDS[a][1]) << by | (mask & !ENDS[a][0]) >> by
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Collision, FaceCondition, Interpolation, LatticeKind, Params, PatchCondition, Precision,
        WallScheme,
        lattice::{D2Q9, D3Q19, D3Q27},
        tables,
    };
    use cutlink_mesher::{
        Surface,
        exact::{Exact, Facet},
        primitives::{Shape2, Shape3},
    };
    use cutlink_voxelizer::{EmbedParams, Fill, Frame, embed, prepare};

    /// Cells whose populations differ from those that are pulled one by one, on all levels of a body in a box.
    fn compare<const D: usize, L: Lattice>(surface: &Surface<D>) -> (usize, usize)
    where
        Facet<D>: Exact<D>,
    {
        let frame = Frame::new([-8.0; D], 1.0, [16; D]).expect("a box");
        let embedding = EmbedParams::new(3, 1.0, Fill::NonZero);
        let (snapped, _) = prepare(&Host, surface, &frame, &embedding).expect("a surface");
        let mesh = embed(&Host, &snapped, frame, &embedding, &mut ()).expect("a mesh");
        let mut faces = [[FaceCondition::FreeSlip; 2]; D];
        faces[0] = [FaceCondition::Velocity([0.03; D]), FaceCondition::Outflow];
        faces[D - 1] = [FaceCondition::Periodic; 2];
        let params = Params {
            lattice: L::KIND,
            collision: Collision::Bgk,
            precision: Precision::F64,
            viscosity: 0.1,
            acceleration: [0.0; D],
            faces,
            patches: vec![PatchCondition::wall(WallScheme::Quadratic)],
            interpolation: Interpolation::Cubic,
            moment_center: [0.0; D],
            forces: false,
        };
        let (mut differing, mut compared) = (0, 0);
        for level in tables::build(&mesh, &params).expect("tables") {
            let level = &level.level;
            let numbers = level.slots * L::Q * dims::cells(D);
            let from: Vec<f64> = (0..numbers).map(|i| (i as f64).sin()).collect();
            let step = Step::<D, L, f64> {
                view: View {
                    level,
                    from: &from,
                    lattice: PhantomData,
                },
                relax: Relaxation {
                    even: 1.0,
                    odd: 1.0,
                    acceleration: [0.0; 3],
                    regularized: 0,
                    pad: 0,
                },
                is_large: false,
            };
            let (mut whole, mut single) = (Tile::new(), Tile::new());
            for slot in 0..level.special {
                let (around, odd) = step.odd_cells(slot);
                let around = &around[..dims::directions(D)];
                stream::stream::<D, L, f64>(&from, around, &mut whole);
                step.pull(slot, odd & level.stepped[slot], &mut whole);
                step.pull(slot, level.stepped[slot], &mut single);
                for cell in bits(level.stepped[slot]) {
                    let differs = (0..L::Q).any(|q| {
                        whole.0[q][PAD + cell].to_bits() != single.0[q][PAD + cell].to_bits()
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

    #[test]
    fn cells_within_reach_are_those_one_step_away() {
        for cell in 0..64 {
            let at = dims::unravel::<3>(cell, 4);
            let near = (0..64).filter(|&other| {
                let there = dims::unravel::<3>(other, 4);
                (0..3).all(|a| (at[a] - there[a]).abs() <= 1)
            });
            let near = near.fold(0u64, |mask, other| mask | 1 << other);
            assert_eq!(reach(1 << cell), near, "cell {cell}");
        }
    }
}
