//! New cells: children in the place of their cell.

use super::group::filled_with;
use crate::kernels::{NewCells, SplitNumbers};
use crate::refine::{CellPath, RefineError};
use cutlink_device::Host;
use rayon::prelude::*;

/// Cells that a thread takes at once.
const PIECE: usize = 4096;

pub(super) fn cells(
    levels: &[u8],
    paths: &[CellPath],
    marks: &[u8],
    numbers: &SplitNumbers<Host>,
) -> Result<NewCells<Host>, RefineError> {
    let new = numbers.counts.cells;
    let mut new_levels = filled_with("cell levels", new, 0)?;
    let mut new_paths = filled_with("paths of cells", new, CellPath::default())?;
    let mut pieces = Vec::with_capacity(levels.len() / PIECE + 1);
    let mut rest = (&mut new_levels[..], &mut new_paths[..]);
    for first in (0..levels.len()).step_by(PIECE) {
        let cells = first..levels.len().min(first + PIECE);
        let len = (numbers.first[cells.end] - numbers.first[first]) as usize;
        let (of_levels, behind_levels) = rest.0.split_at_mut(len);
        let (of_paths, behind_paths) = rest.1.split_at_mut(len);
        pieces.push((cells, of_levels, of_paths));
        rest = (behind_levels, behind_paths);
    }
    pieces
        .into_par_iter()
        .for_each(|(cells, to_levels, to_paths)| {
            let mut at = 0;
            for cell in cells {
                let (level, path) = (levels[cell], paths[cell]);
                if marks[cell] == 0 {
                    (to_levels[at], to_paths[at]) = (level, path);
                    at += 1;
                    continue;
                }
                let children = at..at + numbers.counts.shape.children() as usize;
                to_levels[children.clone()].fill(level + 1);
                for (child, to) in to_paths[children.clone()].iter_mut().enumerate() {
                    *to = path.child(child as u32);
                }
                at = children.end;
            }
        });
    Ok(NewCells {
        levels: new_levels,
        paths: new_paths,
    })
}
