//! The cut links of a mesh, one after the other.

use crate::{Mesh, pack_cell, unpack_cell};
use cutlink_amr::{
    CellRef,
    dims::{self, EDGE},
};

/// A link from a fluid cell that the surface cuts.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CutLink<const D: usize> {
    /// The fluid cell that the link leaves.
    pub cell: CellRef,
    /// The cell's level, 0 the root.
    pub level: usize,
    /// The cell's centre, in metres.
    pub center: [f64; D],
    /// Where the link leads: -1, 0 or 1 cell along each axis.
    pub step: [i32; D],
    /// Fraction of the link from the centre to the surface, in (0, 1].
    pub q: f32,
    /// Index of the patch that is cut, in [`Mesh::patches`].
    pub patch: u16,
    /// The level's cell spacing, in metres.
    pub dx: f64,
}

impl<const D: usize> CutLink<D> {
    /// Distance from the centre to the cut, in metres: at least that to the surface.
    pub fn distance(&self) -> f64 {
        let length = self
            .step
            .iter()
            .map(|s| f64::from(s * s))
            .sum::<f64>()
            .sqrt();
        f64::from(self.q) * length * self.dx
    }

    /// Where the surface is cut, in metres.
    pub fn point(&self) -> [f64; D] {
        let along = f64::from(self.q) * self.dx;
        std::array::from_fn(|a| self.center[a] + along * f64::from(self.step[a]))
    }
}

impl<const D: usize> Mesh<D> {
    /// All cut links: by level, block, cell and direction. Cost: one pass over the table.
    ///
    /// The directions of a cell are those of [`dims::step`], in ascending order.
    pub fn links(&self) -> impl Iterator<Item = CutLink<D>> {
        let table = &self.links;
        let rows = table.blocks.iter().zip(table.cell_start.windows(2));
        rows.flat_map(move |(&block, span)| {
            let boundary = self.classes.boundary[block as usize];
            let entries = &table.cells[span[0] as usize..span[1] as usize];
            let cells = ones(boundary).zip(entries);
            cells.flat_map(move |(cell, &entry)| self.links_of(CellRef { block, cell }, entry))
        })
    }

    /// The link of a cell that is cut at the smallest distance from the centre; `None` for a cell without cut links. Of
    /// several, the one of the lowest direction.
    pub fn nearest_cut(&self, cell: CellRef) -> Option<CutLink<D>> {
        let boundary = self.classes.boundary[cell.block as usize];
        let (directions, first) = self.links.cell(cell.block, boundary, cell.cell)?;
        let links = self.links_of(cell, pack_cell(directions, first));
        links.reduce(|least, link| {
            if link.distance() < least.distance() {
                link
            } else {
                least
            }
        })
    }

    fn links_of(&self, cell: CellRef, entry: u64) -> impl Iterator<Item = CutLink<D>> {
        let (directions, first) = unpack_cell(entry);
        let at = cell.block as usize;
        let level = usize::from(self.forest.level[at]);
        let within = dims::unravel::<D>(cell.cell as usize, EDGE as usize);
        let place = std::array::from_fn(|a| EDGE * self.forest.coord[at][a] + within[a]);
        let (center, dx) = (self.frame.center(level, place), self.frame.dx_at(level));
        ones(directions.into())
            .zip(first as usize..)
            .map(move |(direction, link)| CutLink {
                cell,
                level,
                center,
                step: dims::step(direction as usize),
                q: self.links.q[link],
                patch: self.links.patch.get(link).copied().unwrap_or(0),
                dx,
            })
    }
}

/// The positions of the bits that are set, in ascending order.
pub(crate) fn ones(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let at = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (at < 64).then_some(at)
    })
}
