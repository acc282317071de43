//! Facets in an order in which neighbours in space are neighbours in memory (Morton 1966).

use super::super::{FacetArrays, FacetSet, Repeats, check_snapped, repeats::Places};
use crate::{
    exact::{Exact, Facet},
    snap::Snapped,
};
use cutlink_device::{Backend, DeviceError, Host};
use rayon::prelude::*;

pub(super) fn facet_set<const D: usize>(
    surface: &Snapped<D>,
    repeats: Repeats,
) -> Result<FacetSet<D>, DeviceError>
where
    Facet<D>: Exact<D>,
{
    check_snapped(surface);
    let bytes = surface.facets.len() * (4 * D * D + 2 + 16 + 8);
    Host.reserve("the surface", bytes as u64)?;
    let places = Places::new(surface, repeats);
    let (count, walls) = (places.facets.len(), places.walls);
    let corners = |f: u32| places.facets[f as usize].map(|v| surface.vertices[v as usize]);
    let mut order: Vec<(u64, u32)> = (0..count as u32)
        .into_par_iter()
        .map(|f| (morton(Facet(corners(f)).bounds()[0]), f))
        .collect();
    order[..walls].par_sort_unstable();
    let extent = |f: u32| {
        let [low, high] = Facet(corners(f)).bounds();
        (0..D).map(|a| high[a] - low[a]).fold(0, i32::max)
    };
    let extent = (0..count as u32).into_par_iter().map(extent);
    let patch = match surface.patches.len() {
        1 => Vec::new(),
        _ => {
            let of = |f: u32| places.patch.get(f as usize).copied().unwrap_or(0);
            order.iter().map(|&(_, f)| of(f)).collect()
        }
    };
    Ok(FacetSet(FacetArrays {
        corners: order.par_iter().map(|&(_, f)| corners(f)).collect(),
        patch,
        times: match places.times.len() {
            0 => Vec::new(),
            _ => order
                .iter()
                .map(|&(_, f)| places.times[f as usize])
                .collect(),
        },
        patches: surface.patches.len().max(1),
        walls: walls as u32,
        extent: extent.reduce(|| 0, i32::max),
    }))
}

/// The upper bits of the coordinates, interleaved from the highest down.
fn morton<const D: usize>(p: [i32; D]) -> u64 {
    let bits = if D == 2 { 30 } else { 21 };
    let mut key = 0;
    for (a, &c) in p.iter().enumerate() {
        // Within ±2^28, so that 2^29 makes it positive and below 2^30.
        let c = (i64::from(c) + (1 << 29)) as u64 >> (30 - bits);
        for bit in 0..bits {
            key |= (c >> bit & 1) << (bit as usize * D + a);
        }
    }
    key
}
