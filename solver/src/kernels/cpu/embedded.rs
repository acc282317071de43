//! What follows from embedding bodies anew on the blocks of a flow: uncovered cells, and whether they may be there.

use crate::{
    constants::NEAREST_BODIES,
    tables::{Cuts, bits},
};
use cutlink_amr::dims;
use cutlink_device::Host;
use cutlink_voxelizer::unpack_cell;

/// Why bodies may not be where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A link of one is in a slot that exchanges with a coarser level.
    Border(usize),
    /// A body is too near to another one, or to what is at rest: their numbers, the smaller first; what is at rest has the number of
    /// bodies.
    Meets([u32; 2]),
}

/// Cells that were solid and are not: 4^D times the slot plus the cell, ascending.
pub(super) fn uncovered<const D: usize>(before: &[u64], now: &[u64]) -> Vec<u32> {
    let masks = before.iter().zip(now).enumerate();
    let cells = masks.flat_map(|(slot, (before, now))| {
        bits(before & !now).map(move |cell| (dims::cells(D) * slot + cell) as u32)
    });
    cells.collect()
}

/// The first slot's reason why bodies may not be where their links are. `owner`: by patch its body, or the number of bodies.
pub(crate) fn fault<const D: usize>(
    cuts: &Cuts<Host>,
    exchanging: usize,
    owner: &[u32],
    bodies: u32,
) -> Option<Fault> {
    let body = |link: usize| owner[usize::from(cuts.patch.get(link).copied().unwrap_or(0))];
    let of_slot = |slot: usize| {
        let first = cuts.cell_start[slot] as usize;
        let cells = bits(cuts.boundary[slot]).count();
        cuts.cells[first..first + cells].iter().find_map(|&cell| {
            let (directions, first) = unpack_cell(cell);
            let links: Vec<(usize, usize)> =
                bits(u64::from(directions)).zip(first as usize..).collect();
            if slot < exchanging && links.iter().any(|link| body(link.1) < bodies) {
                return Some(Fault::Border(slot));
            }
            meets::<D>(&links, &cuts.q, &body)
        })
    };
    (0..cuts.boundary.len()).find_map(of_slot)
}

/// Whether the links of a cell to both sides along an axis end at two bodies that meet, or at a body and what is at rest.
fn meets<const D: usize>(
    links: &[(usize, usize)],
    q: &[f32],
    body: &impl Fn(usize) -> u32,
) -> Option<Fault> {
    let middle = dims::directions(D) / 2;
    links.iter().find_map(|&(direction, link)| {
        let step = dims::step::<D>(direction);
        if direction >= middle || step.iter().filter(|&&c| c != 0).count() != 1 {
            return None;
        }
        let opposite = 2 * middle - direction;
        let other = links.iter().find(|other| other.0 == opposite)?.1;
        let [one, two] = [body(link), body(other)];
        let meet = one != two && q[link] + q[other] < NEAREST_BODIES;
        meet.then(|| Fault::Meets([one.min(two), one.max(two)]))
    })
}
