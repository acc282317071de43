//! Codes of faces and the table of hanging ones: each face searches for the block beside it.

use super::search::holder;
use crate::{
    ForestError,
    constants::{FACE_COARSER, FACE_FINER, FACE_ID_BITS, FACE_OUTSIDE},
    dims,
    linear::{Faces, Leaves, level, morton, sub_face},
};
use cutlink_device::{memory, shared};
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

const CHUNK: usize = 1 << 12;

const FINER: u32 = FACE_FINER << FACE_ID_BITS;
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
    let (grid, keys) = (leaves.grid(), leaves.keys());
    let mut hanging = 0;
    // By face, where the last search beyond the parent ended.
    let mut near = [first; 6];
    for (leaf, codes) in (first..).zip(codes.chunks_exact_mut(2 * D)) {
        let (at, own) = (morton(keys[leaf]), level(keys[leaf]));
        let child = grid.child_number(at, own);
        for (face, code) in codes.iter_mut().enumerate() {
            let (axis, up) = (face / 2, face % 2 == 1);
            let Some(beside) = grid.beside(at, own, axis, up) else {
                *code = FACE_OUTSIDE << FACE_ID_BITS;
                continue;
            };
            let is_sibling = own > 0 && (child >> axis & 1 == 1) != up;
            let from = if is_sibling { leaf } else { near[face] };
            let other = holder(keys, beside, from);
            if !is_sibling {
                near[face] = other;
            }
            let there = level(keys[other]);
            *code = match own.cmp(&there) {
                std::cmp::Ordering::Equal => other as u32,
                std::cmp::Ordering::Less => FINER,
                std::cmp::Ordering::Greater => {
                    let kind = FACE_COARSER + sub_face(child, axis) as u32;
                    kind << FACE_ID_BITS | other as u32
                }
            };
            hanging += u32::from(*code == FINER);
        }
    }
    hanging
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
