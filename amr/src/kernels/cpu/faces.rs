//! Codes of faces and the table of hanging ones.
//!
//! Each pair of leaves is found once, by a search from the lower one for what is beyond its upper face, and the codes of
//! both are written. Siblings that are all leaves search together: they know one another, and what lies beyond a face of
//! their parent is one block.

use super::search::{holder, is_group};
use crate::{
    ForestError,
    constants::{FACE_COARSER, FACE_FINER, FACE_ID_BITS, FACE_OUTSIDE},
    dims,
    linear::{Faces, Grid, Leaves, level, morton, sub_face},
};
use cutlink_device::{memory, shared};
use rayon::prelude::*;
use std::{
    cmp::Ordering,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

const CHUNK: usize = 1 << 12;

const FINER: u32 = FACE_FINER << FACE_ID_BITS;
const OUTSIDE: u32 = FACE_OUTSIDE << FACE_ID_BITS;
const ID: u32 = (1 << FACE_ID_BITS) - 1;

pub(super) fn faces<const D: usize>(leaves: &Leaves<D>) -> Result<Faces<D>, ForestError> {
    let count = leaves.len() * 2 * D;
    let mut codes = memory::with_capacity("codes of faces", count)?;
    codes.resize(count, 0);
    let shared = shared::words(&mut codes);
    let chunks = (0..leaves.len().div_ceil(CHUNK)).into_par_iter();
    chunks.for_each(|chunk| {
        let first = chunk * CHUNK;
        fill(leaves, first..leaves.len().min(first + CHUNK), shared);
    });
    let slots = number(&mut codes, CHUNK * 2 * D)?;
    let parts = dims::children(D) / 2;
    let mut table = memory::with_capacity("hanging faces", slots.len() * parts)?;
    table.resize(slots.len() * parts, 0);
    list_finer::<D>(&codes, &mut table);
    Ok(Faces {
        codes,
        hanging: table,
        slots,
    })
}

/// Writes the codes of the faces between leaves of a range and what is above them, on both sides, and of their faces on
/// the box. Hanging faces have no slot yet.
fn fill<const D: usize>(leaves: &Leaves<D>, range: std::ops::Range<usize>, codes: &[AtomicU32]) {
    let mut pairs = Pairs {
        grid: leaves.grid(),
        keys: leaves.keys(),
        codes,
        near: [range.start; D],
    };
    let group = dims::children(D);
    let mut leaf = range.start;
    while leaf < range.end {
        let is_whole = leaf + group <= range.end && is_group(pairs.grid, pairs.keys, leaf);
        for axis in 0..D {
            if is_whole {
                pairs.of_group(leaf, axis);
            } else {
                pairs.of_leaf(leaf, axis);
            }
        }
        leaf += if is_whole { group } else { 1 };
    }
}

struct Pairs<'a, const D: usize> {
    grid: &'a Grid<D>,
    keys: &'a [u64],
    codes: &'a [AtomicU32],
    /// By axis, where the last search beyond a parent ended.
    near: [usize; D],
}

impl<const D: usize> Pairs<'_, D> {
    fn set(&self, leaf: usize, face: usize, code: u32) {
        self.codes[leaf * 2 * D + face].store(code, Relaxed);
    }

    fn of_leaf(&mut self, leaf: usize, axis: usize) {
        let (at, own) = (morton(self.keys[leaf]), level(self.keys[leaf]));
        if self.grid.beside(at, own, axis, false).is_none() {
            self.set(leaf, 2 * axis, OUTSIDE);
        }
        let Some(above) = self.grid.beside(at, own, axis, true) else {
            self.set(leaf, 2 * axis + 1, OUTSIDE);
            return;
        };
        let child = self.grid.child_number(at, own);
        let is_sibling = own > 0 && child >> axis & 1 == 0;
        let near = if is_sibling { leaf } else { self.near[axis] };
        let other = holder(self.keys, above, near);
        if !is_sibling {
            self.near[axis] = other;
        }
        self.join(leaf, child, axis, above, other);
    }

    /// The faces of all siblings, of which `leaf` is the first: one search for what is above the parent.
    fn of_group(&mut self, leaf: usize, axis: usize) {
        let (at, own) = (morton(self.keys[leaf]), level(self.keys[leaf]));
        let is_below = self.grid.beside(at, own - 1, axis, false).is_some();
        let lower = (0..dims::children(D)).filter(|child| child >> axis & 1 == 0);
        for child in lower.clone() {
            let (low, up) = (leaf + child, leaf + (child | 1 << axis));
            self.set(low, 2 * axis + 1, up as u32);
            self.set(up, 2 * axis, low as u32);
            if !is_below {
                self.set(low, 2 * axis, OUTSIDE);
            }
        }
        let upper = lower.map(|child| child | 1 << axis);
        let Some(above) = self.grid.beside(at, own - 1, axis, true) else {
            upper.for_each(|child| self.set(leaf + child, 2 * axis + 1, OUTSIDE));
            return;
        };
        // Above a lower child lies its sibling.
        let parent = self
            .grid
            .child_number(self.grid.cover(at, own - 1), own - 1);
        let is_sibling = own > 1 && parent >> axis & 1 == 0;
        let near = match is_sibling {
            true => leaf + dims::children(D),
            false => self.near[axis],
        };
        let other = holder(self.keys, above, near);
        if !is_sibling {
            self.near[axis] = other;
        }
        let there = level(self.keys[other]);
        let is_whole = there == own && is_group(self.grid, self.keys, other);
        for child in upper {
            let place = self.grid.child(above, own - 1, child ^ 1 << axis);
            let other = match () {
                () if is_whole => other + (child ^ 1 << axis),
                () if there < own => other,
                () => holder(self.keys, place, other),
            };
            self.join(leaf + child, child, axis, place, other);
        }
    }

    /// Writes both sides of the upper face of a leaf, with the block `above` of its level there, whose holder is `other`.
    fn join(&self, leaf: usize, child: usize, axis: usize, above: u64, other: usize) {
        let own = level(self.keys[leaf]);
        let coarser = |leaf: usize, child: usize| {
            let kind = FACE_COARSER + sub_face(child, axis) as u32;
            kind << FACE_ID_BITS | leaf as u32
        };
        match own.cmp(&level(self.keys[other])) {
            Ordering::Equal => {
                self.set(leaf, 2 * axis + 1, other as u32);
                self.set(other, 2 * axis, leaf as u32);
            }
            Ordering::Greater => {
                self.set(leaf, 2 * axis + 1, coarser(other, child));
                self.set(other, 2 * axis, FINER);
            }
            Ordering::Less => {
                self.set(leaf, 2 * axis + 1, FINER);
                let is_whole = is_group(self.grid, self.keys, other);
                for part in (0..dims::children(D)).filter(|part| part >> axis & 1 == 0) {
                    let finer = match is_whole {
                        true => other + part,
                        false => holder(self.keys, self.grid.child(above, own, part), other),
                    };
                    self.set(finer, 2 * axis, coarser(leaf, part));
                }
            }
        }
    }
}

/// Numbers the hanging faces in order, and returns which they are.
fn number(codes: &mut [u32], chunk: usize) -> Result<Vec<u32>, ForestError> {
    let of_chunk = |codes: &[u32]| codes.iter().filter(|&&code| code == FINER).count();
    let hanging: Vec<usize> = codes.par_chunks(chunk).map(of_chunk).collect();
    let total = hanging.iter().sum();
    let mut slots = memory::with_capacity("hanging faces", total)?;
    slots.resize(total, 0);
    let mut rest = slots.as_mut_slice();
    let mut jobs = Vec::with_capacity(hanging.len());
    let mut start = 0;
    for (i, (codes, &count)) in codes.chunks_mut(chunk).zip(&hanging).enumerate() {
        let (own, others) = rest.split_at_mut(count);
        rest = others;
        jobs.push((i * chunk, codes, own, start));
        start += count as u32;
    }
    jobs.into_par_iter()
        .for_each(|(first, codes, slots, start)| {
            let finer = codes.iter_mut().enumerate().filter(|code| *code.1 == FINER);
            for ((slot, to), (face, code)) in (start..).zip(slots).zip(finer) {
                *code = FINER | slot;
                *to = (first + face) as u32;
            }
        });
    Ok(slots)
}

/// Writes each leaf with a coarser one beside it to its place in the table.
fn list_finer<const D: usize>(codes: &[u32], table: &mut [u32]) {
    let (parts, table) = (dims::children(D) as u32 / 2, shared::words(table));
    let leaves = codes
        .par_chunks_exact(2 * D)
        .with_min_len(CHUNK)
        .enumerate();
    leaves.for_each(|(leaf, own)| {
        for (face, code) in own.iter().enumerate() {
            let kind = code >> FACE_ID_BITS;
            if kind >= FACE_COARSER {
                let slot = codes[(code & ID) as usize * 2 * D + (face ^ 1)] & ID;
                let place = slot * parts + (kind - FACE_COARSER);
                table[place as usize].store(leaf as u32, Relaxed);
            }
        }
    });
}
