//! Marks that a mesh with a body can meet, and its rows after an adaptation.

use crate::Mesh;
use cutlink_amr::{Forest, Mark, NONE};
use cutlink_device::shared;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub(super) fn hold<const D: usize>(forest: &Forest<D>, held: &[u8], marks: &mut [u8]) {
    marks.par_iter_mut().enumerate().for_each(|(id, mark)| {
        let parent = forest.parent[id];
        if *mark == Mark::Coarsen as u8 && (parent == NONE || held[parent as usize] != 0) {
            *mark = Mark::Keep as u8;
        }
    });
}

/// Reads marks of the coarser level and writes those of this one, so the order of the blocks does not matter.
pub(super) fn withdraw<const D: usize>(
    mesh: &Mesh<D>,
    level: usize,
    marks: &mut [u8],
    withheld: &mut u32,
) {
    let (forest, refine) = (&mesh.forest, Mark::Refine as u8);
    let (marks, count) = (shared::bytes(marks), AtomicU32::new(0));
    let is_marked = |id: u32| marks[id as usize].load(Relaxed) == refine;
    forest.levels[level].par_iter().for_each(|&id| {
        if !is_marked(id) || !forest.is_leaf(id) {
            return;
        }
        let is_met = |(direction, near): (usize, u32)| {
            near != NONE || is_marked(forest.coarser_neighbor(id, direction))
        };
        if !mesh.is_refinable(id) || !forest.neighbors_of(id).enumerate().all(is_met) {
            marks[id as usize].store(Mark::Keep as u8, Relaxed);
            count.fetch_add(1, Relaxed);
        }
    });
    *withheld += count.into_inner();
}

pub(super) fn name_rows(row_of: &[u32], blocks: &mut [u32]) {
    let blocks = shared::words(blocks);
    row_of.par_iter().enumerate().for_each(|(id, &row)| {
        if row != NONE {
            blocks[row as usize].store(id as u32, Relaxed);
        }
    });
}
