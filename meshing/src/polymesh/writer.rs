//! Ids of the points of faces, face by face.

use super::cells::{Block, CellFace};
use super::points::{self, Points};
use cutlink_amr::dims;

/// Writes outlines as point ids, each looked up once a block.
pub(super) struct Writer<'a> {
    points: &'a Points,
    /// Id and one of the points of a block that are known, 0 of others.
    table: Vec<u64>,
    outline: Vec<[u8; 3]>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(points: &'a Points) -> Self {
        Self {
            points,
            table: vec![0; points::SIDE.pow(3)],
            outline: Vec::new(),
        }
    }

    /// Forgets the points of the block before.
    pub(super) fn begin_block(&mut self) {
        self.table.fill(0);
    }

    /// Writes the ids of a face's points; returns how many.
    pub(super) fn put(
        &mut self,
        block: &Block<'_, '_>,
        cell: u32,
        face: CellFace,
        ids: &mut [u32],
    ) -> usize {
        if face.quarter.is_none() && !block.has_finer() {
            let first = points::place(dims::unravel::<3>(cell as usize, 4).map(|c| 2 * c as u8));
            let corners = CORNERS[usize::from(face.side.0)];
            for (id, corner) in ids.iter_mut().zip(corners) {
                *id = self.id(block, first + corner);
            }
            return corners.len();
        }
        let mut outline = std::mem::take(&mut self.outline);
        block.outline(cell, face, &mut outline);
        for (id, &at) in ids.iter_mut().zip(&outline) {
            *id = self.id(block, points::place(at));
        }
        self.outline = outline;
        self.outline.len()
    }

    fn id(&mut self, block: &Block<'_, '_>, place: usize) -> u32 {
        let known = &mut self.table[place];
        if *known == 0 {
            *known = u64::from(self.points.id(block, points::at(place))) + 1;
        }
        (*known - 1) as u32
    }
}

/// By side, how far the corners of a face without hanging points are from the place of the cell's lowest corner, in the order
/// of [`Block::outline`].
const CORNERS: [[usize; 4]; 6] = {
    /// A cell has a length of two half cells.
    const ALONG: [usize; 3] = [2, 2 * points::SIDE, 2 * points::SIDE * points::SIDE];
    let mut all = [[0; 4]; 6];
    let mut axis = 0;
    while axis < 3 {
        let (u, v, up) = (ALONG[(axis + 1) % 3], ALONG[(axis + 2) % 3], ALONG[axis]);
        all[2 * axis] = [0, v, u + v, u];
        all[2 * axis + 1] = [up, up + u, up + u + v, up + v];
        axis += 1;
    }
    all
};
