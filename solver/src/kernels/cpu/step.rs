//! Streaming and collision: gather a block's populations from the blocks around it, collide, store.

use super::{
    LANES, Tile,
    cell::{At, View},
    collide,
};
use crate::{
    kernels::{Relaxation, exchanged},
    lattice::{Lattice, MOST},
    real::Real,
    tables::Level,
};
use cutlink_amr::dims;
use cutlink_device::Host;
use rayon::prelude::*;
use std::marker::PhantomData;

/// Slots a task.
const CHUNK: usize = 32;

pub(super) fn step<const D: usize, L: Lattice, T: Real>(
    level: &Level<D, Host>,
    relax: Relaxation<T>,
    from: &[T],
    to: &mut [T],
    moments: &mut [T],
) {
    let size = L::Q * dims::cells(D);
    let row = exchanged(D) * dims::cells(D);
    // What levels exchange has no odd non-equilibrium, so that there had better be none to lose.
    let between = Relaxation {
        odd: T::of(1.0),
        ..relax
    };
    let (exchanging, rest) = to.split_at_mut(level.exchanging * size);
    let view = View::<D, L, T> {
        level,
        from,
        lattice: PhantomData,
    };
    exchanging
        .par_chunks_mut(CHUNK * size)
        .zip(moments.par_chunks_mut(CHUNK * row))
        .enumerate()
        .for_each(|(chunk, (to, moments))| {
            pulp::Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (n, (to, moments)) in to
                        .chunks_exact_mut(size)
                        .zip(moments.chunks_exact_mut(row))
                        .enumerate()
                    {
                        special(&view, &between, CHUNK * chunk + n, to, Some(moments));
                    }
                },
            );
        });
    rest.par_chunks_mut(CHUNK * size)
        .enumerate()
        .for_each(|(chunk, to)| {
            pulp::Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (n, to) in to.chunks_exact_mut(size).enumerate() {
                        let slot = level.exchanging + CHUNK * chunk + n;
                        if slot < level.special {
                            special(&view, &relax, slot, to, None);
                        } else {
                            plain(&view, &relax, slot, to);
                        }
                    }
                },
            );
        });
}

fn tile<T: Real>() -> Tile<T> {
    [[[T::of(0.0); LANES]; 4]; MOST]
}

#[inline(always)]
fn store<L: Lattice, T: Real>(tile: &Tile<T>, cells: usize, to: &mut [T]) {
    for q in 0..L::Q {
        for group in 0..cells / LANES {
            to[q * cells + group * LANES..][..LANES].copy_from_slice(&tile[q][group]);
        }
    }
}

/// A block with nothing but fluid of its level around it.
#[inline(always)]
fn plain<const D: usize, L: Lattice, T: Real>(
    view: &View<'_, D, L, T>,
    relax: &Relaxation<T>,
    slot: usize,
    to: &mut [T],
) {
    let cells = dims::cells(D);
    let mut tile = tile::<T>();
    let directions = dims::directions(D);
    let next = &view.level.neighbors[slot * directions..][..directions];
    let block = |toward: usize, q: usize| -> &[T] {
        &view.from[(next[toward] as usize * L::Q + q) * cells..][..cells]
    };
    for q in 0..L::Q {
        let [cx, cy, cz] = L::C[q];
        let layers = if D == 3 { 4 } else { 1 };
        for z in 0..layers {
            for y in 0..4i32 {
                let (sy, sz) = (y - cy, z - cz);
                let toward = ((sy >> 2) + 1) as usize * 3
                    + if D == 3 {
                        ((sz >> 2) + 1) as usize * 9
                    } else {
                        0
                    };
                let row = ((sy & 3) * 4 + if D == 3 { (sz & 3) * 16 } else { 0 }) as usize;
                let own = &block(toward + 1, q)[row..row + 4];
                let out = &mut tile[q][z as usize][y as usize * 4..][..4];
                match cx {
                    0 => out.copy_from_slice(own),
                    1 => {
                        out[0] = block(toward, q)[row + 3];
                        out[1..].copy_from_slice(&own[..3]);
                    }
                    _ => {
                        out[..3].copy_from_slice(&own[1..]);
                        out[3] = block(toward + 2, q)[row];
                    }
                }
            }
        }
    }
    for group in 0..cells / LANES {
        collide::collide::<L, T>(&mut tile, group, relax);
    }
    store::<L, T>(&tile, cells, to);
}

/// Any block: cells that are not stepped keep what `to` has.
#[inline(always)]
fn special<const D: usize, L: Lattice, T: Real>(
    view: &View<'_, D, L, T>,
    relax: &Relaxation<T>,
    slot: usize,
    to: &mut [T],
    moments: Option<&mut [T]>,
) {
    let cells = dims::cells(D);
    let stepped = view.level.stepped[slot];
    let mut tile = tile::<T>();
    gather(view, slot, stepped, &mut tile);
    let mut fresh = [T::of(0.0); 10 * 64];
    for group in 0..cells / LANES {
        if moments.is_some() {
            collide::exchange::<D, L, T>(&tile, group, relax, cells, &mut fresh);
        }
        collide::collide::<L, T>(&mut tile, group, relax);
    }
    let is_stepped = |cell: usize| stepped >> cell & 1 == 1;
    if stepped == dims::full_mask(D) {
        store::<L, T>(&tile, cells, to);
    } else {
        for q in 0..L::Q {
            for cell in (0..cells).filter(|&cell| is_stepped(cell)) {
                to[q * cells + cell] = tile[q][cell / LANES][cell % LANES];
            }
        }
    }
    let Some(moments) = moments else { return };
    for (at, (to, from)) in moments.iter_mut().zip(&fresh).enumerate() {
        if is_stepped(at % cells) {
            *to = *from;
        }
    }
}

fn gather<const D: usize, L: Lattice, T: Real>(
    view: &View<'_, D, L, T>,
    slot: usize,
    stepped: u64,
    tile: &mut Tile<T>,
) {
    for cell in (0..dims::cells(D)).filter(|&cell| stepped >> cell & 1 == 1) {
        let at = At::<D>::new(slot, cell);
        let links = view.links(at);
        for q in 0..L::Q {
            tile[q][cell / LANES][cell % LANES] = view.pull(at, q, links);
        }
    }
}
