//! Facet lists: of the root boxes from all facets, of children from their parents' lists.
//!
//! Both go over their input once, in parallel chunks that keep the order. Cost: one exact
//! overlap test for each facet and box whose bounds touch.

use super::super::{BinArrays, Bins, ChildBoxes, FacetSet, checked_entries, grid_boxes};
use crate::exact::{Exact, Facet};
use cutlink_device::{Backend, DeviceError, Host, memory};
use rayon::prelude::*;

/// Counts to the sums before them, and `total` behind the last. No sum overflows, because all of them together
/// are `total`.
fn scan(counts: &mut [u32], total: u32) {
    let mut sum = 0;
    for count in counts {
        (*count, sum) = (sum, sum + *count);
    }
    assert_eq!(sum, total, "the sum of the lists' lengths");
}

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
    let count = grid_boxes(boxes, edge);
    let chunks: Vec<Vec<(u32, u32)>> = (0..set.corners.len() as u32)
        .into_par_iter()
        .with_min_len(1 << 12)
        .fold(Vec::new, |mut pairs, f| {
            push_boxes(&set.facet(f), f, boxes, edge, &mut pairs);
            pairs
        })
        .collect();

    let total: u64 = chunks.iter().map(|c| c.len() as u64).sum();
    let entries = checked_entries(&Host, total)?;
    Host.reserve("facet lists", total * 4)?;
    let mut starts = Vec::new();
    memory::grow("facet lists", &mut starts, count + 1, 0u32)?;
    for &(at, _) in chunks.iter().flatten() {
        starts[at as usize] += 1;
    }
    scan(&mut starts, entries);
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
        arrays: BinArrays {
            starts,
            facets,
            rows,
        },
        set_len: set.corners.len(),
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
    boxes.check(set, parents);
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
    let entries = checked_entries(&Host, total)?;
    Host.reserve("facet lists", total * 4 + boxes.count as u64 * 4)?;
    let mut starts = Vec::with_capacity(boxes.count + 1);
    let mut facets = Vec::with_capacity(total as usize);
    for part in parts {
        starts.extend_from_slice(&part.lengths);
        facets.extend_from_slice(&part.facets);
    }
    starts.push(0);
    scan(&mut starts, entries);
    let rows = rows_of(&starts);
    Ok(Bins {
        arrays: BinArrays {
            starts,
            facets,
            rows,
        },
        set_len: set.corners.len(),
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

#[cfg(test)]
mod tests {
    use super::scan;

    #[test]
    fn lengths_become_first_entries_up_to_the_last_of_32_bits() {
        let mut counts = [2, 0, u32::MAX - 3, 1, 0];
        scan(&mut counts, u32::MAX);
        assert_eq!(counts, [0, 2, 2, u32::MAX - 1, u32::MAX]);
        let one_off = || scan(&mut [1, 2, 0], 4);
        assert!(std::panic::catch_unwind(one_off).is_err(), "another total");
    }
}
