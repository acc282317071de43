//! New faces: whole ones, pieces, and those inside split cells. Each is made twice, to count its points and to write
//! them.

use super::cut::Cut;
use super::group::filled;
use super::shape::{Shape, WHOLE};
use crate::kernels::{FaceOutlines, NONE, NewFaces};
use crate::refine::{RefineError, unfit};
use cutlink_device::scan::exclusive_scan;
use cutlink_device::{Host, shared};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub(super) fn outlines<S: Shape>(
    cut: Cut<'_>,
    places: &[u32],
) -> Result<FaceOutlines<Host>, RefineError> {
    let counts = &cut.numbers.counts;
    let mut owner = filled("owners", counts.new_faces())?;
    let mut neighbour = filled("neighbours", counts.new_internal())?;
    let mut count = filled("corners of faces", counts.new_faces())?;
    let out = [&mut owner, &mut neighbour, &mut count].map(|list| shared::words(list));
    let put = |slot: usize, ends: [u32; 2], outline: &[u32]| {
        let mut count = 0;
        cut.outline(outline, |_| count += 1);
        out[0][slot].store(ends[0], Relaxed);
        if slot < out[1].len() {
            out[1][slot].store(ends[1], Relaxed);
        }
        out[2][slot].store(count, Relaxed);
    };
    (0..counts.faces).into_par_iter().for_each(|face| {
        let (owner, neighbour) = (cut.view.owner[face], cut.view.neighbour.get(face));
        let ends = |piece| {
            let of = |cell| cut.behind::<S>(cell, face, piece);
            [of(owner), neighbour.map_or(NONE, |&cell| of(cell))]
        };
        let slot = cut.slot(face);
        if !cut.is_split(face) {
            return put(slot, ends(WHOLE), cut.view.face(face as u32));
        }
        let (pieces, count) = S::pieces(cut, face);
        for (i, (piece, outline)) in pieces[..count].iter().enumerate() {
            put(slot + i, ends(*piece), outline.as_ref());
        }
    });
    let each = places.par_chunks(S::PLACES).enumerate();
    each.for_each(|(i, places)| {
        let first = cut.numbers.first[cut.numbers.marked[i] as usize];
        for face in 0..S::INNER {
            let (outline, ends) = S::inner(places, face);
            let slot = counts.inner_slot() + S::INNER * i + face;
            put(slot, ends.map(|child| first + child), outline.as_ref());
        }
    });
    Ok(FaceOutlines {
        owner,
        neighbour,
        count,
    })
}

pub(super) fn emit<S: Shape>(
    cut: Cut<'_>,
    places: &[u32],
    rims: &[u32],
    outlines: FaceOutlines<Host>,
    order: &[u32],
) -> Result<NewFaces<Host>, RefineError> {
    let counts = &cut.numbers.counts;
    let (internal, faces) = (counts.new_internal(), counts.new_faces());
    let slot_of = |face: usize| order.get(face).map_or(face, |&slot| slot as usize);
    let mut face_start = filled("faces", faces + 1)?;
    let gather = |(face, start): (usize, &mut u32)| *start = outlines.count[slot_of(face)];
    face_start[..faces]
        .par_iter_mut()
        .enumerate()
        .for_each(gather);
    let corners = exclusive_scan(&mut face_start).filter(|&n| n < u32::MAX);
    let corners = corners.ok_or_else(|| too_many_corners(&outlines.count))?;
    let mut owner = outlines.count;
    let gather = |(face, owner): (usize, &mut u32)| *owner = outlines.owner[slot_of(face)];
    owner.par_iter_mut().enumerate().for_each(gather);
    let mut neighbour = filled("neighbours", internal)?;
    let gather = |(face, to): (usize, &mut u32)| *to = outlines.neighbour[slot_of(face)];
    neighbour.par_iter_mut().enumerate().for_each(gather);
    drop(outlines.neighbour);
    // From slots to faces.
    let mut place = outlines.owner;
    let at = shared::words(&mut place);
    (0..faces)
        .into_par_iter()
        .for_each(|face| at[slot_of(face)].store(face as u32, Relaxed));
    let mut face_points = filled("face corners", corners as usize)?;
    let mut from = filled("origins of faces", faces)?;
    let mut new_rims = filled("parent faces", faces - internal)?;
    let out = [&mut face_points, &mut from, &mut new_rims].map(|list| shared::words(list));
    let bad = AtomicU32::new(NONE);
    let put = |slot: usize, of: u32, outline: &[u32]| {
        let face = place[slot] as usize;
        let [start, end] = [face, face + 1].map(|face| face_start[face] as usize);
        let mut at = start;
        let mut write = |point: u32| {
            out[0][at].store(point, Relaxed);
            at += 1;
            if point == NONE {
                bad.fetch_min(face as u32, Relaxed);
            }
        };
        // A face of as many points as its outline has no midpoints.
        match end - start == outline.len() {
            true => outline.iter().for_each(|&point| write(point)),
            false => cut.outline(outline, write),
        }
        out[1][face].store(of, Relaxed);
        if face >= internal {
            out[2][face - internal].store(rims[of as usize - counts.internal], Relaxed);
        }
    };
    (0..counts.faces).into_par_iter().for_each(|face| {
        let slot = cut.slot(face);
        if !cut.is_split(face) {
            return put(slot, face as u32, cut.view.face(face as u32));
        }
        let (pieces, count) = S::pieces(cut, face);
        for (i, (_, outline)) in pieces[..count].iter().enumerate() {
            put(slot + i, face as u32, outline.as_ref());
        }
    });
    let each = places.par_chunks(S::PLACES).enumerate();
    each.for_each(|(i, places)| {
        for face in 0..S::INNER {
            let slot = counts.inner_slot() + S::INNER * i + face;
            put(slot, NONE, S::inner(places, face).0.as_ref());
        }
    });
    match bad.into_inner() {
        NONE => Ok(NewFaces {
            face_start,
            face_points,
            owner,
            neighbour,
            from,
            rims: new_rims,
        }),
        face => Err(unfit(face as usize)),
    }
}

fn too_many_corners(counts: &[u32]) -> RefineError {
    let count = counts.iter().map(|&n| u64::from(n)).sum();
    let what = "corners of faces";
    RefineError::TooLarge { what, count }
}
