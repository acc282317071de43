//! Where the populations of slots come from after the mesh has changed (`adapt::transfer`).

use crate::{
    adapt::transfer::{Before, SlotSource},
    constants::source,
    tables::Level,
};
use cutlink_amr::{Forest, FormerIds, NONE};
use cutlink_device::{Host, shared};
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn own_slots<const D: usize>(
    forest: &Forest<D>,
    level: &Level<D, Host>,
    blocks: &[u32],
    slot_of: &mut [u32],
) {
    let slot_of = shared::words(slot_of);
    blocks.par_iter().enumerate().for_each(|(slot, &id)| {
        // Children of overlap blocks have slots always; those that are refined and beside no leaf hold nothing.
        let is_overlap = (level.overlap_of.get(slot)).is_some_and(|&at| at != NONE);
        if is_overlap || forest.is_leaf(id) {
            slot_of[id as usize].store(slot as u32, Relaxed);
        }
    });
}

pub(super) fn sources<const D: usize>(
    forest: &Forest<D>,
    blocks: &[u32],
    former: &FormerIds<Host>,
    before: &Before<Host>,
) -> Vec<SlotSource> {
    let old_of = former.ids();
    let source = |&id: &u32| {
        let old = old_of[id as usize];
        if old == NONE {
            let parent = forest.parent[id as usize];
            let first = forest.first_child[parent as usize];
            return SlotSource {
                kind: source::PARENT + (id - first),
                at: before.slot_of[old_of[parent as usize] as usize],
            };
        }
        match before.slot_of[old as usize] {
            NONE => SlotSource {
                kind: source::CHILD_BLOCKS,
                at: before.first_child[old as usize],
            },
            at => SlotSource {
                kind: source::SAME,
                at,
            },
        }
    };
    blocks.par_iter().map(source).collect()
}
