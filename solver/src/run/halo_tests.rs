//! Halos as tests count and spoil them.

use super::{Run, level::State};
use crate::{
    kernels::{FlowKernels, exchanged},
    lattice::Lattice,
    ranks::HaloLists,
};
use cutlink_amr::dims;
use cutlink_device::Host;

/// The places that are received, in ascending order.
fn received_by(lists: &Option<HaloLists<f64, Host>>) -> Vec<usize> {
    let places = lists.iter().flat_map(|lists| &lists.receive.places);
    let mut places: Vec<usize> = places.map(|&place| place as usize).collect();
    places.sort_unstable();
    places
}

impl<const D: usize, L: Lattice> Run<'_, D, L, f64, Host>
where
    Host: FlowKernels<D>,
{
    /// Makes all populations and moments of the halo no numbers, but for those that were received. Says how many.
    pub(crate) fn poison_halo(&mut self) -> usize {
        let mut count = 0;
        for state in &mut self.levels {
            let halo = state.halo.as_ref().expect("a halo");
            let row = L::Q * dims::cells(D);
            let slots = state.level.halo.0.iter().cloned().flatten();
            let places = slots.flat_map(|s| s * row..(s + 1) * row);
            let received = received_by(&halo.populations);
            for place in places.filter(|place| received.binary_search(place).is_err()) {
                (state.now[place], state.next[place]) = (f64::NAN, f64::NAN);
                count += 1;
            }
            received
                .iter()
                .for_each(|&place| state.next[place] = f64::NAN);
            // Of moments those too that are received, before they are read.
            let row = exchanged(D) * dims::cells(D);
            for slot in state.level.halo.0[0].clone() {
                state.moments[slot * row..][..row].fill(f64::NAN);
            }
        }
        count
    }

    /// Slots of a level that the rank steps.
    pub(crate) fn own_slots(&self, level: usize) -> usize {
        let own = self.levels[level].level.halo.own();
        own.into_iter().map(|range| range.len()).sum()
    }

    /// Bytes that are received in a root step.
    pub(crate) fn received(&self) -> u64 {
        let of_level = |(level, state): (usize, &State<D, f64, Host>)| {
            let halo = state.halo.as_ref().expect("a halo");
            let numbers = received_by(&halo.populations).len() + received_by(&halo.moments).len();
            (numbers * size_of::<f64>()) as u64 * (1 << level)
        };
        self.levels.iter().enumerate().map(of_level).sum()
    }

    /// Has two numbers of a level's messages go to one another's places.
    pub(crate) fn swap_received(&mut self, level: usize) {
        let halo = self.levels[level].halo.as_mut().expect("a halo");
        let lists = halo.populations.as_mut().expect("populations to receive");
        let (_, range) = lists.receive.shares[0].clone();
        let places = &mut lists.receive.places;
        places.swap(range.start, range.end - 1);
    }
}
