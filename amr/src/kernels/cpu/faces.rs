//! Codes of faces and the table of hanging ones. Siblings that are all leaves search together: they know one another, and
//! what lies beyond a face of their parent is one block.

use super::search::{holder, is_group};
use crate::{
    ForestError,
    constants::{FACE_COARSER, FACE_FINER, FACE_ID_BITS, FACE_OUTSIDE},
    dims,
    linear::{Faces, Grid, Leaves, level, morton, sub_face},
};
use cutlink_device::{memory, shared};
use rayon::prelude::*;
use std::{cmp::Ordering, sync::atomic::Ordering::Relaxed};

const CHUNK: usize = 1 << 12;

const FINER: u32 = FACE_FINER << FACE_ID_BITS;
const OUTSIDE: u32 = FACE_OUTSIDE << FACE_ID_BITS;
const ID: u32 = (1 << FACE_ID_BITS) - 1;

pub(super) fn faces<const D: usize>(leaves: &Leaves<D>) -> Result<Faces<D>, ForestError> {
    let count = leaves.len() * 2 * D;
    let mut codes = memory::with_capacity("codes of faces", count)?;
    codes.resize(count, 0);
    let hanging: Vec<u32> = codes
        .par_chunks_mut(CHUNK * 2 * D)
        .enumerate()
        .map(|(chunk, codes)| fill(leaves, chunk * CHUNK, codes))
        .collect();
    let slots = number(&mut codes, CHUNK * 2 * D, &hanging)?;
    let parts = dims::children(D) / 2;
    let mut table = memory::with_capacity("hanging faces", slots.len() * parts)?;
    table.resize(slots.len() * parts, 0);
    list_finer(leaves, &codes, &mut table);
    Ok(Faces {
        codes,
        hanging: table,
        slots,
    })
}

/// Writes the codes of leaves from `first` on; those with finer leaves beyond have no slot yet. Returns how many these are.
fn fill<const D: usize>(leaves: &Leaves<D>, first: usize, codes: &mut [u32]) -> u32 {
    let (count, group) = (codes.len() / (2 * D), dims::children(D));
    let mut search = Search {
        grid: leaves.grid(),
        keys: leaves.keys(),
        near: [first; 6],
        hanging: 0,
    };
    let mut done = 0;
    while done < count {
        let leaf = first + done;
        let is_whole = done + group <= count && is_group(search.grid, search.keys, leaf);
        let next = done + if is_whole { group } else { 1 };
        let codes = &mut codes[done * 2 * D..next * 2 * D];
        for face in 0..2 * D {
            if is_whole {
                search.group(leaf, face, codes);
            } else {
                codes[face] = search.one(leaf, face);
            }
        }
        done = next;
    }
    search.hanging
}

struct Search<'a, const D: usize> {
    grid: &'a Grid<D>,
    keys: &'a [u64],
    /// By face, where the last search beyond a parent ended.
    near: [usize; 6],
    hanging: u32,
}

impl<const D: usize> Search<'_, D> {
    fn one(&mut self, leaf: usize, face: usize) -> u32 {
        let (axis, up) = (face / 2, face % 2 == 1);
        let (at, own) = (morton(self.keys[leaf]), level(self.keys[leaf]));
        let Some(beside) = self.grid.beside(at, own, axis, up) else {
            return OUTSIDE;
        };
        let child = self.grid.child_number(at, own);
        if own > 0 && (child >> axis & 1 == 1) != up {
            // The parent's other side.
            let other = holder(self.keys, beside, leaf);
            return self.code(own, child, axis, other);
        }
        let other = holder(self.keys, beside, self.near[face]);
        self.near[face] = other;
        self.code(own, child, axis, other)
    }

    /// The codes of one face of all siblings, of which `leaf` is the first: one search for what is beside the parent.
    fn group(&mut self, leaf: usize, face: usize, codes: &mut [u32]) {
        let (axis, up) = (face / 2, face % 2 == 1);
        let (at, own) = (morton(self.keys[leaf]), level(self.keys[leaf]));
        let is_outer = |child: usize| (child >> axis & 1 == 1) == up;
        let across = |child: usize| child ^ 1 << axis;
        for child in (0..dims::children(D)).filter(|&child| !is_outer(child)) {
            codes[child * 2 * D + face] = (leaf + across(child)) as u32;
        }
        let outer = (0..dims::children(D)).filter(|&child| is_outer(child));
        let Some(beside) = self.grid.beside(at, own - 1, axis, up) else {
            outer.for_each(|child| codes[child * 2 * D + face] = OUTSIDE);
            return;
        };
        let other = holder(self.keys, beside, self.near[face]);
        self.near[face] = other;
        let there = level(self.keys[other]);
        let is_whole = there == own && is_group(self.grid, self.keys, other);
        for child in outer {
            codes[child * 2 * D + face] = if is_whole {
                (other + across(child)) as u32
            } else if there < own {
                self.code(own, child, axis, other)
            } else {
                let place = self.grid.child(beside, own - 1, across(child));
                self.code(own, child, axis, holder(self.keys, place, other))
            };
        }
    }

    /// The code of a face of a leaf of level `own` with the leaf `other` beyond, or with the first of those beyond.
    fn code(&mut self, own: u32, child: usize, axis: usize, other: usize) -> u32 {
        match own.cmp(&level(self.keys[other])) {
            Ordering::Equal => other as u32,
            Ordering::Less => {
                self.hanging += 1;
                FINER
            }
            Ordering::Greater => {
                let kind = FACE_COARSER + sub_face(child, axis) as u32;
                kind << FACE_ID_BITS | other as u32
            }
        }
    }
}

/// Numbers the hanging faces in order, and returns which they are; `hanging` has their number by chunk of codes.
fn number(codes: &mut [u32], chunk: usize, hanging: &[u32]) -> Result<Vec<u32>, ForestError> {
    let total = hanging.iter().map(|&n| n as usize).sum();
    let mut slots = memory::with_capacity("hanging faces", total)?;
    slots.resize(total, 0);
    let mut rest = slots.as_mut_slice();
    let mut jobs = Vec::with_capacity(hanging.len());
    let mut start = 0;
    for (i, (codes, &count)) in codes.chunks_mut(chunk).zip(hanging).enumerate() {
        let (own, others) = rest.split_at_mut(count as usize);
        rest = others;
        jobs.push((i * chunk, codes, own, start));
        start += count;
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
fn list_finer<const D: usize>(leaves: &Leaves<D>, codes: &[u32], table: &mut [u32]) {
    if table.is_empty() {
        return;
    }
    let (parts, table) = (dims::children(D) as u32 / 2, shared::words(table));
    let count = leaves.len();
    codes
        .par_chunks(CHUNK * 2 * D)
        .enumerate()
        .for_each(|(chunk, part)| {
            for (i, &code) in part.iter().enumerate() {
                let kind = code >> FACE_ID_BITS;
                if kind < FACE_COARSER {
                    continue;
                }
                let (leaf, face) = (chunk * CHUNK + i / (2 * D), i % (2 * D));
                debug_assert!(leaf < count, "a leaf for each group of codes");
                let slot = codes[(code & ID) as usize * 2 * D + (face ^ 1)] & ID;
                let place = slot * parts + (kind - FACE_COARSER);
                table[place as usize].store(leaf as u32, Relaxed);
            }
        });
}
