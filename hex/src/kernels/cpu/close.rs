//! Marks under 2:1. Levels around a point are gathered by face: a face has those of its cells, a cell those of its faces.

use super::group::collected;
use super::view::View;
use crate::kernels::{ClosedMarks, Corners, NONE};
use crate::refine::{CellPath, RefineError, images};
use cutlink_device::shared;
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn close(
    view: View<'_>,
    paths: &[CellPath],
    corners: &[Corners],
    marks: &mut [u8],
) -> Result<ClosedMarks, RefineError> {
    // Levels that cells may have: one beyond the least around each of their points.
    let limit = |(level, corners): (&u8, &Corners)| level + u8::from(corners[0] != NONE);
    let each = view.cell_levels.par_iter().zip(corners);
    let mut most = collected("levels of cells", each.map(limit))?;
    let mut scratch = Scratch {
        at_point: Vec::new(),
        of_face: Vec::new(),
    };
    while !is_even(&most) && scratch.lower(view, &mut most) {}
    let target = |((&level, &mark), &most): ((&u8, &u8), &u8)| {
        (level + u8::from(mark != 0)).min(most).max(level)
    };
    let each = view.cell_levels.par_iter().zip(&*marks).zip(&most);
    let mut target = collected("levels of cells", each.map(target))?;
    while !is_even(&target) && scratch.raise(view, &mut target) {}
    let each = marks.par_iter_mut().zip(&target).zip(view.cell_levels);
    each.for_each(|((mark, target), level)| *mark = u8::from(target > level));
    let each = marks.par_iter().zip(paths).filter(|(mark, _)| **mark != 0);
    let (count, deepest) = each
        .map(|(_, path)| (1, u32::from(path.level())))
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1.max(b.1)));
    Ok(ClosedMarks { count, deepest })
}

/// Levels around points and around the points of faces.
struct Scratch {
    at_point: Vec<u8>,
    of_face: Vec<u8>,
}

impl Scratch {
    /// Lowers the levels of cells to one beyond the least around their points. Whether any changed.
    fn lower(&mut self, view: View<'_>, levels: &mut [u8]) -> bool {
        self.fill(view, u8::MAX);
        let at = shared::bytes(&mut self.at_point);
        (0..view.owner.len()).into_par_iter().for_each(|face| {
            let level = ends(view, levels, face, u8::min);
            for &p in view.face(face as u32) {
                if at[p as usize].load(Relaxed) > level {
                    at[p as usize].fetch_min(level, Relaxed);
                }
            }
        });
        self.join(view, u8::min);
        self.gather(view, u8::MAX, u8::min);
        self.apply(view, levels, |level, faces| {
            let least = faces.fold(u8::MAX, u8::min);
            level.min(least.saturating_add(1))
        })
    }

    /// Raises the levels of cells to one below the most around their points. Whether any changed.
    fn raise(&mut self, view: View<'_>, levels: &mut [u8]) -> bool {
        self.fill(view, 0);
        let at = shared::bytes(&mut self.at_point);
        (0..view.owner.len()).into_par_iter().for_each(|face| {
            let level = ends(view, levels, face, u8::max);
            for &p in view.face(face as u32) {
                if at[p as usize].load(Relaxed) < level {
                    at[p as usize].fetch_max(level, Relaxed);
                }
            }
        });
        self.join(view, u8::max);
        self.gather(view, 0, u8::max);
        self.apply(view, levels, |level, faces| {
            let most = faces.fold(0, u8::max);
            level.max(most.saturating_sub(1))
        })
    }

    fn fill(&mut self, view: View<'_>, level: u8) {
        self.at_point.clear();
        self.at_point.resize(view.points.len(), level);
        self.of_face.resize(view.owner.len(), level);
    }

    /// Joined points have the same level; one of several couples may reach others through them.
    fn join(&mut self, view: View<'_>, join: impl Fn(u8, u8) -> u8) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for [a, b] in view.mates() {
                for (p, q) in images(a, b) {
                    let ends = [p, q].map(|p| self.at_point[p as usize]);
                    let level = join(ends[0], ends[1]);
                    changed |= ends != [level; 2];
                    self.at_point[p as usize] = level;
                    self.at_point[q as usize] = level;
                }
            }
        }
    }

    fn gather(&mut self, view: View<'_>, none: u8, join: impl Fn(u8, u8) -> u8 + Sync) {
        let at = &self.at_point;
        let each = self.of_face.par_iter_mut().enumerate();
        each.for_each(|(face, of)| {
            let points = view.face(face as u32).iter();
            *of = points.map(|&p| at[p as usize]).fold(none, &join);
        });
    }

    fn apply(
        &self,
        view: View<'_>,
        levels: &mut [u8],
        new: impl Fn(u8, &mut dyn Iterator<Item = u8>) -> u8 + Sync,
    ) -> bool {
        let change = |(cell, level): (usize, &mut u8)| {
            let faces = view.faces_of(cell).iter();
            let before = *level;
            *level = new(before, &mut faces.map(|&face| self.of_face[face as usize]));
            *level != before
        };
        let each = levels.par_iter_mut().enumerate();
        each.map(change).reduce(|| false, |a, b| a | b)
    }
}

/// Whether no two levels differ by more than one: then nothing spreads.
fn is_even(levels: &[u8]) -> bool {
    let pieces = levels.par_chunks(1 << 14).map(|levels| {
        let least = levels.iter().fold(u8::MAX, |a, &b| a.min(b));
        let most = levels.iter().fold(0, |a, &b| a.max(b));
        (least, most)
    });
    let (least, most) = pieces.reduce(|| (u8::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    most.saturating_sub(least) <= 1
}

/// What the cells of a face have together.
fn ends(view: View<'_>, levels: &[u8], face: usize, join: impl Fn(u8, u8) -> u8) -> u8 {
    let owner = levels[view.owner[face] as usize];
    match view.neighbour.get(face) {
        Some(&neighbour) => join(owner, levels[neighbour as usize]),
        None => owner,
    }
}
