//! Tables made of a lattice's velocities: the order of populations in a block, and directions.

use super::LAYER;
use crate::lattice::{Lattice, MOST};
use cutlink_amr::dims;
use std::marker::PhantomData;

/// The order of populations in a block: layer by layer of 16 cells, and in each by velocity, so that what
/// one of the blocks around takes lies together, whichever that is. What it takes is then a few runs of cache lines and not
/// many single ones, which the memory serves at less than half the speed.
pub(super) struct Order<L>(PhantomData<L>);

impl<L: Lattice> Order<L> {
    /// The velocities in that order: by the block above or below that takes them, then by the one before
    /// or behind.
    pub(super) const VELOCITIES: [usize; MOST] = {
        let (mut velocities, mut q) = ([0; MOST], 0);
        while q < L::Q {
            let (mut place, mut p) = (0, 0);
            while p < L::Q {
                let (this, other) = (Self::key(q), Self::key(p));
                place += (other < this || other == this && p < q) as usize;
                p += 1;
            }
            velocities[place] = q;
            q += 1;
        }
        velocities
    };

    /// The place of each velocity.
    const PLACES: [usize; MOST] = {
        let (mut places, mut place) = ([0; MOST], 0);
        while place < L::Q {
            places[Self::VELOCITIES[place]] = place;
            place += 1;
        }
        places
    };

    const fn key(q: usize) -> i32 {
        let [_, y, z] = L::C[q];
        // Boustrophedon order: the sign of y alternates, so that runs continue across z groups.
        3 * z + if z == 0 { y } else { -y }
    }

    /// Where in a block a layer of a population begins.
    #[cfg_attr(optimized, inline(always))]
    pub(super) const fn row(q: usize, layer: usize) -> usize {
        (layer * L::Q + Self::PLACES[q]) * LAYER
    }

    /// Where in a block the population of a cell is.
    #[cfg_attr(optimized, inline(always))]
    pub(super) const fn of(q: usize, cell: usize) -> usize {
        Self::row(q, cell / LAYER) + cell % LAYER
    }
}

/// Velocities and directions ([`dims::direction`]), one as the other.
pub(super) struct Toward<L>(PhantomData<L>);

impl<L: Lattice> Toward<L> {
    /// The direction of each velocity.
    pub(super) const DIRECTION: [usize; MOST] = {
        let (mut all, mut q) = ([0; MOST], 0);
        while q < L::Q {
            let [x, y, z] = L::C[q];
            all[q] = match L::KIND.dimensions() {
                2 => dims::direction([x, y]),
                _ => dims::direction([x, y, z]),
            };
            q += 1;
        }
        all
    };

    /// The velocity of each direction; [`MOST`] where there is none.
    pub(super) const VELOCITY: [usize; 27] = {
        let (mut all, mut q) = ([MOST; 27], 0);
        while q < L::Q {
            all[Self::DIRECTION[q]] = q;
            q += 1;
        }
        all
    };
}
