//! Halos as tests count and spoil them.

use super::{Run, level::State};
use crate::{kernels::FlowKernels, lattice::Lattice, ranks::HaloLists};
use cutlink_amr::dims;
use cutlink_device::Host;

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
            let mut places: Vec<usize> = slots.flat_map(|s| s * row..(s + 1) * row).collect();
            let mut received = halo.populations.receive.places.clone();
            received.sort_unstable();
            places.retain(|&place| received.binary_search(&(place as u64)).is_err());
            for place in places {
                (state.now[place], state.next[place]) = (f64::NAN, f64::NAN);
                count += 1;
            }
            for &place in &halo.populations.receive.places {
                state.next[place as usize] = f64::NAN;
            }
            for &place in &halo.moments.receive.places {
                state.moments[place as usize] = f64::NAN;
            }
        }
        count
    }

    /// Bytes that are received in a root step.
    pub(crate) fn received(&self) -> u64 {
        let count = |lists: &HaloLists<f64, Host>| lists.receive.places.len();
        let of_level = |(level, state): (usize, &State<D, f64, Host>)| {
            let halo = state.halo.as_ref().expect("a halo");
            let is_finest = level + 1 == self.levels.len();
            let moments = if is_finest { 0 } else { count(&halo.moments) };
            ((count(&halo.populations) + moments) * size_of::<f64>()) as u64 * (1 << level)
        };
        self.levels.iter().enumerate().map(of_level).sum()
    }

    /// Has two numbers of a level's messages go to one another's places.
    pub(crate) fn swap_received(&mut self, level: usize) {
        let halo = self.levels[level].halo.as_mut().expect("a halo");
        let (_, range) = halo.populations.receive.shares[0].clone();
        let places = &mut halo.populations.receive.places;
        places.swap(range.start, range.end - 1);
    }
}
