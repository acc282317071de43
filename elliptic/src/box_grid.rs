//! Grids below the root level: the root grid's cells, joined by two on each axis again and again.

use crate::{Blocks, EllipticError};
use cutlink_device::Backend;

/// A box of cells. Where an axis has an odd number of cells, its last one is narrower.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoxShape<const D: usize> {
    pub(crate) n: [usize; D],
    pub(crate) periodic: [bool; D],
    /// Its first cell in arrays of cells.
    pub(crate) first: usize,
    /// By axis, its first face in arrays of faces.
    pub(crate) first_face: [usize; D],
    /// By axis, its first ratio.
    pub(crate) first_ratio: [usize; D],
}

impl<const D: usize> BoxShape<D> {
    pub(crate) fn cells(&self) -> usize {
        self.n.iter().product()
    }

    /// Faces along an axis: the lower ones of cells, and after them those at the upper end of the box.
    pub(crate) fn faces(&self, axis: usize) -> usize {
        self.cells() + self.cells() / self.n[axis]
    }

    #[inline]
    pub(crate) fn at(&self, mut cell: usize) -> [usize; D] {
        self.n.map(|n| {
            let c = cell % n;
            cell /= n;
            c
        })
    }

    #[inline]
    pub(crate) fn cell(&self, at: [usize; D]) -> usize {
        (0..D).rev().fold(0, |i, a| i * self.n[a] + at[a])
    }

    /// The place of a cell's face among those along an axis.
    #[inline]
    pub(crate) fn face(&self, axis: usize, at: [usize; D], upper: usize) -> usize {
        if at[axis] + upper < self.n[axis] {
            let mut at = at;
            at[axis] += upper;
            return self.cell(at);
        }
        let others = (0..D).rev().filter(|&a| a != axis);
        self.cells() + others.fold(0, |i, a| i * self.n[a] + at[a])
    }

    /// The cell beyond a face, if there is one.
    #[inline]
    pub(crate) fn beside(&self, axis: usize, at: [usize; D], upper: usize) -> Option<usize> {
        let mut to = at;
        let n = self.n[axis];
        let (end, start) = if upper == 1 { (n - 1, 0) } else { (0, n - 1) };
        if at[axis] == end {
            if !self.periodic[axis] {
                return None;
            }
            to[axis] = start;
        } else if upper == 1 {
            to[axis] += 1;
        } else {
            to[axis] -= 1;
        }
        Some(self.cell(to))
    }
}

/// All grids below the root level, from fine to coarse, with conductances of their faces. Arrays hold one grid after
/// another.
#[derive(Debug)]
pub(crate) struct BoxGrid<const D: usize, B: Backend> {
    pub(crate) levels: Vec<BoxShape<D>>,
    /// By axis and face coordinate of a grid: what the distance of centres is multiplied by from the next finer grid.
    pub(crate) ratio: [B::Buf<f64>; D],
    /// By axis, conductances.
    pub(crate) t: [B::Buf<f64>; D],
    pub(crate) diagonal: B::Buf<f64>,
    pub(crate) inverse: B::Buf<f64>,
    /// What the coarsest grid's solution is by its right side, row by row.
    pub(crate) matrix: B::Buf<f64>,
}

/// The distance between the centres on both sides of a face; from centre to wall at the end of the box.
fn distance(w: &[f64], periodic: bool, at: usize, upper: usize) -> f64 {
    let n = w.len();
    let other = match (at, upper) {
        (0, 0) if periodic => w[n - 1],
        (0, 0) => 0.0,
        (at, 0) => w[at - 1],
        (at, _) if at + 1 < n => w[at + 1],
        _ if periodic => w[0],
        _ => 0.0,
    };
    0.5 * (w[at] + other)
}

impl<const D: usize, B: Backend> BoxGrid<D, B> {
    pub(crate) fn new(backend: &B, blocks: &Blocks<D>) -> Result<Self, EllipticError> {
        let periodic = blocks.periodic();
        // By axis: widths in cells of the root level.
        let mut width: [Vec<f64>; D] = blocks.root().map(|n| vec![2.0; 2 * n as usize]);
        let mut ratio: [Vec<f64>; D] = std::array::from_fn(|_| Vec::new());
        let mut levels: Vec<BoxShape<D>> = Vec::new();
        loop {
            let n: [usize; D] = std::array::from_fn(|a| width[a].len());
            let end = |last: &BoxShape<D>| BoxShape {
                n,
                periodic,
                first: last.first + last.cells(),
                first_face: std::array::from_fn(|a| last.first_face[a] + last.faces(a)),
                first_ratio: [0; D],
            };
            let first = BoxShape {
                n,
                periodic,
                first: 0,
                first_face: [0; D],
                first_ratio: [0; D],
            };
            levels.push(levels.last().map_or(first, end));
            if n.iter().all(|&n| n <= 2) {
                break;
            }
            let wider: [Vec<f64>; D] =
                std::array::from_fn(|a| width[a].chunks(2).map(|pair| pair.iter().sum()).collect());
            for a in 0..D {
                let (fine, coarse) = (&width[a], &wider[a]);
                let of = |up: usize| {
                    // The last face is the upper one of the last cells.
                    let (at, to, upper) = match up < coarse.len() {
                        true => (2 * up, up, 0),
                        false => (fine.len() - 1, up - 1, 1),
                    };
                    distance(fine, periodic[a], at, upper)
                        / distance(coarse, periodic[a], to, upper)
                };
                ratio[a].extend((0..=coarse.len()).map(of));
            }
            width = wider;
        }
        // Ratios of a grid are those from the next finer one: the first grid has none.
        let mut at = [0; D];
        for level in levels.iter_mut().skip(1) {
            level.first_ratio = at;
            (0..D).for_each(|a| at[a] += level.n[a] + 1);
        }
        let cells: usize = levels.iter().map(BoxShape::cells).sum();
        let faces = |a: usize| levels.iter().map(|level| level.faces(a)).sum::<usize>();
        let coarsest = levels[levels.len() - 1].cells();
        let zeros = |len: usize| backend.alloc("grids below the root level", len, 0.0);
        Ok(Self {
            ratio: each_axis(|a| Ok(backend.upload(std::mem::take(&mut ratio[a]))?))?,
            t: each_axis(|a| Ok(zeros(faces(a))?))?,
            diagonal: zeros(cells)?,
            inverse: zeros(cells)?,
            matrix: zeros(coarsest * coarsest)?,
            levels,
        })
    }

    /// Cells of all grids.
    pub(crate) fn cells(&self) -> usize {
        let last = &self.levels[self.levels.len() - 1];
        last.first + last.cells()
    }

    /// The cell of the first grid that a root block's cell is in.
    #[inline]
    pub(crate) fn of_root(&self, coord: [i32; D], at: [i32; D]) -> usize {
        self.levels[0].cell(std::array::from_fn(|a| {
            (2 * coord[a] + (at[a] >> 1)) as usize
        }))
    }
}

fn each_axis<const D: usize, T: std::fmt::Debug>(
    mut of: impl FnMut(usize) -> Result<T, EllipticError>,
) -> Result<[T; D], EllipticError> {
    let made: Vec<T> = (0..D).map(&mut of).collect::<Result<_, _>>()?;
    Ok(made.try_into().expect("one for each axis"))
}
