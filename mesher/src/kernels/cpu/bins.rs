//! Facet lists: of the root boxes from all facets, of children from their parents' lists.
//!
//! Both go over their input once, in parallel chunks that keep the order. Cost: one exact
//! overlap test for each facet and box whose bounds touch.

use super::super::{Bins, ChildBoxes, FacetSet};
use crate::exact::{Exact, Facet};
use cutlink_device::{Backend, DeviceError, Host, memory};
use rayon::prelude::*;

/// The boxes with entries.
fn rows_of(starts: &[u32]) -> Vec<u32> {
    let filled = |&row: &u32| starts[row as usize + 1] > starts[row as usize];
    let boxes = starts.len() as u32 - 1;
    (0..boxes).into_par_iter().filter(filled).collect()
}

/// How far a box of this edge is grown on each side: half a cell.
fn margin(edge: i32) -> i32 {
    edge / 8
}

pub(super) fn root<const D: usize>(
    set: &FacetSet<D>,
    boxes: [u32; D],
    edge: i32,
) -> Result<Bins, DeviceError>
where
    Facet<D>: Exact<D>,
{
    let chunks: Vec<Vec<(u32, u32)>> = (0..set.corners.len() as u32)
        .into_par_iter()
        .with_min_len(1 << 12)
        .fold(Vec::new, |mut pairs, f| {
            push_boxes(&set.facet(f), f, boxes, edge, &mut pairs);
            pairs
        })
        .collect();

    let count: usize = boxes.iter().map(|&n| n as usize).product();
    let total: u64 = chunks.iter().map(|c| c.len() as u64).sum();
    Host.reserve("facet lists", total * 4)?;
    let mut starts = Vec::new();
    memory::grow("facet lists", &mut starts, count + 1, 0u32)?;
    for &(at, _) in chunks.iter().flatten() {
        starts[at as usize + 1] += 1;
    }
    for i in 0..count {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut facets = Vec::new();
    memory::grow("facet lists", &mut facets, total as usize, 0u32)?;
    for &(at, f) in chunks.iter().flatten() {
        let slot = &mut next[at as usize];
        facets[*slot as usize] = f;
        *slot += 1;
    }
    let rows = rows_of(&starts);
    Ok(Bins {
        starts,
        facets,
        rows,
    })
}

/// Appends (box, facet) for every box of the grid that the facet meets.
fn push_boxes<const D: usize>(
    facet: &Facet<D>,
    f: u32,
    boxes: [u32; D],
    edge: i32,
    pairs: &mut Vec<(u32, u32)>,
) where
    Facet<D>: Exact<D>,
{
    let grown = margin(edge);
    let [low, high] = facet.bounds();
    let (mut from, mut to) = ([0; D], [0; D]);
    for a in 0..D {
        // The boxes whose grown interval touches the facet's.
        from[a] = ((low[a] - grown + edge - 1).div_euclid(edge) - 1).max(0);
        to[a] = (high[a] + grown).div_euclid(edge).min(boxes[a] as i32 - 1);
        if from[a] > to[a] {
            return;
        }
    }
    let mut at = from;
    'boxes: loop {
        let center = at.map(|c| c * edge + edge / 2);
        if facet.overlaps(center, edge / 2 + grown) {
            let id = (0..D).rev().fold(0, |id, a| id * boxes[a] + at[a] as u32);
            pairs.push((id, f));
        }
        for a in 0..D {
            if at[a] < to[a] {
                at[a] += 1;
                continue 'boxes;
            }
            at[a] = from[a];
        }
        return;
    }
}

/// What one chunk of sibling groups comes to: lengths of its lists, and their entries.
#[derive(Default)]
struct Part {
    lengths: Vec<u32>,
    facets: Vec<u32>,
}

pub(super) fn children<const D: usize>(
    set: &FacetSet<D>,
    parents: &Bins,
    boxes: ChildBoxes<'_, D, Host>,
) -> Result<Bins, DeviceError>
where
    Facet<D>: Exact<D>,
{
    let group = 1 << D;
    let parts: Vec<Part> = (0..boxes.count / group)
        .into_par_iter()
        .with_min_len(64)
        .fold(
            || (Part::default(), vec![Vec::new(); group]),
            |(mut part, mut lists), g| {
                let id = boxes.first + g * group;
                let parent = boxes.parent[id] as usize - boxes.first_parent;
                let corner = boxes.coord[id].map(|c| c * boxes.edge);
                split(set, parents.of(parent), corner, boxes.edge, &mut lists);
                for list in &mut lists {
                    part.lengths.push(list.len() as u32);
                    part.facets.append(list);
                }
                (part, lists)
            },
        )
        .map(|(part, _)| part)
        .collect();

    let total: u64 = parts.iter().map(|p| p.facets.len() as u64).sum();
    Host.reserve("facet lists", total * 4 + boxes.count as u64 * 4)?;
    let mut starts = Vec::with_capacity(boxes.count + 1);
    let mut facets = Vec::with_capacity(total as usize);
    let mut next = 0u32;
    for part in parts {
        for length in part.lengths {
            starts.push(next);
            next += length;
        }
        facets.extend_from_slice(&part.facets);
    }
    starts.push(next);
    let rows = rows_of(&starts);
    Ok(Bins {
        starts,
        facets,
        rows,
    })
}

/// Sorts the facets of a parent into the lists of its children; `corner` is the parent's
/// lower corner, `edge` a child's.
fn split<const D: usize>(
    set: &FacetSet<D>,
    facets: &[u32],
    corner: [i32; D],
    edge: i32,
    lists: &mut [Vec<u32>],
) where
    Facet<D>: Exact<D>,
{
    let grown = margin(edge);
    for &f in facets {
        let facet = set.facet(f);
        let [low, high] = facet.bounds();
        // Per axis, which of the two halves the bounds touch: bit 0 the lower, bit 1 the upper.
        let mut halves = [0u32; D];
        for a in 0..D {
            let (low, high) = (low[a] - corner[a], high[a] - corner[a]);
            let lower = low <= edge + grown && high >= -grown;
            let upper = low <= 2 * edge + grown && high >= edge - grown;
            halves[a] = u32::from(lower) | u32::from(upper) << 1;
        }
        let mut touched = (0..D).fold(u32::MAX >> (32 - (1 << D)), |touched, a| {
            // Bits of the children in the lower half of each axis.
            const LOWER: [u32; 3] = [0x55, 0x33, 0x0f];
            let lower = if halves[a] & 1 == 1 { LOWER[a] } else { 0 };
            let upper = if halves[a] & 2 == 2 { !LOWER[a] } else { 0 };
            touched & (lower | upper)
        });
        while touched != 0 {
            let child = touched.trailing_zeros() as usize;
            touched &= touched - 1;
            let center =
                std::array::from_fn(|a| corner[a] + (child >> a & 1) as i32 * edge + edge / 2);
            if facet.overlaps(center, edge / 2 + grown) {
                lists[child].push(f);
            }
        }
    }
}
