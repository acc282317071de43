//! New cells: children in the place of their cell.

use crate::refine::CellPath;
use rayon::prelude::*;

/// Cells that a thread takes at once.
const PIECE: usize = 4096;

pub(super) fn cells(levels: &[u8], paths: &[CellPath], marks: &[u8]) -> (Vec<u8>, Vec<CellPath>) {
    let each = levels.par_chunks(PIECE).zip(paths.par_chunks(PIECE));
    let each = each.zip(marks.par_chunks(PIECE));
    let pieces: Vec<(Vec<u8>, Vec<CellPath>)> = each
        .map(|((levels, paths), marks)| {
            let new = marks.iter().map(|&m| if m == 0 { 1 } else { 8 }).sum();
            let mut piece = (Vec::with_capacity(new), Vec::with_capacity(new));
            for ((&level, &path), &mark) in levels.iter().zip(paths).zip(marks) {
                match mark {
                    0 => {
                        piece.0.push(level);
                        piece.1.push(path);
                    }
                    _ => {
                        piece.0.extend([level + 1; 8]);
                        piece.1.extend((0..8).map(|child| path.child(child)));
                    }
                }
            }
            piece
        })
        .collect();
    let new = pieces.iter().map(|piece| piece.0.len()).sum();
    let mut all = (Vec::with_capacity(new), Vec::with_capacity(new));
    for piece in pieces {
        all.0.extend(piece.0);
        all.1.extend(piece.1);
    }
    all
}
