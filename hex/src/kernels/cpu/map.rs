//! Cells of two meshes of one parent, by a search in their paths, and what is mapped by it.

use super::group::{collected, filled};
use crate::refine::{CellPath, CellRanges, RefineError};
use cutlink_device::Host;
use rayon::prelude::*;

/// Cells that a thread takes at once.
const PIECE: usize = 4096;

/// First source and number of sources of each cell. Both lists are sorted: each piece begins with a search and goes on
/// with steps.
pub(super) fn ranges(from: &[CellPath], to: &[CellPath]) -> Result<CellRanges, RefineError> {
    let mut first = filled("sources of cells", to.len())?;
    let mut count = filled("sources of cells", to.len())?;
    let each = first.par_chunks_mut(PIECE).zip(count.par_chunks_mut(PIECE));
    each.zip(to.par_chunks(PIECE))
        .for_each(|((first, count), to)| {
            let mut low = from.partition_point(|other| other.key() < to[0].key());
            for (i, path) in to.iter().enumerate() {
                while from.get(low).is_some_and(|other| other.key() < path.key()) {
                    low += 1;
                }
                (first[i], count[i]) = range(from, low, *path);
            }
        });
    Ok(CellRanges {
        first,
        count,
        sources: from.len(),
    })
}

/// The sources of a cell, with the first cell that is not before it.
fn range(from: &[CellPath], low: usize, path: CellPath) -> (u32, u32) {
    // The cell that holds the new one begins with it or before.
    for at in [low, low.wrapping_sub(1)] {
        if from.get(at).is_some_and(|other| other.holds(path)) {
            return (at as u32, 1);
        }
    }
    let within = from[low..].iter().take_while(|other| path.holds(**other));
    (low as u32, within.count() as u32)
}

pub(super) fn map(
    ranges: &CellRanges<Host>,
    volumes: &[f64],
    values: &[f64],
) -> Result<Vec<f64>, RefineError> {
    let of = |(&first, &count): (&u32, &u32)| {
        let cells = first as usize..(first + count) as usize;
        if count == 1 {
            return values[cells.start];
        }
        let sum = volumes[cells.clone()].iter().fold(0.0, |sum, v| sum + v);
        cells.fold(0.0, |mean, cell| mean + volumes[cell] / sum * values[cell])
    };
    let each = ranges.first.par_iter().zip(&ranges.count);
    collected("mapped values", each.map(of))
}

pub(super) fn project(
    ranges: &CellRanges<Host>,
    wanted: &[u8],
    paths: &[CellPath],
) -> Result<(Vec<u8>, usize), RefineError> {
    let of = |((&first, &count), path): ((&u32, &u32), &CellPath)| {
        let sources = &wanted[first as usize..(first + count) as usize];
        u8::from(sources.iter().any(|&wanted| wanted > path.level()))
    };
    let each = ranges.first.par_iter().zip(&ranges.count).zip(paths);
    let marks = collected("marks", each.map(of))?;
    let count = marks.par_iter().map(|&mark| usize::from(mark)).sum();
    Ok((marks, count))
}
