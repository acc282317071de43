//! What is known of the interface: planes in mixed cells, and curvature.

use crate::contact::Contact;
use crate::heights::Direction;
use crate::mesh::{FlowMesh, MARGIN, Tile, in_tile};
use crate::params::FlowParams;
use crate::{TwoPhaseError, heights, normal, plane};
use cutlink_amr::dims;
use cutlink_elliptic::Beside;
use rayon::prelude::*;

/// Fractions closer than this to 0 and 1 are pure: no plane.
pub(crate) const PURE: f64 = 1e-12;

/// Fractions closer than this to 0 and 1 do not make an interface of a coarse cell, and have no curvature.
const TRACE: f64 = 1e-9;

const NOWHERE: u32 = u32::MAX;

/// A cell's plane: its normal, and the constant of [`plane`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellPlane<const D: usize> {
    pub(crate) n: [f64; D],
    pub(crate) constant: f64,
}

/// Planes of the mixed cells, in blocks of the finest level that have some.
#[derive(Debug, Default)]
pub(crate) struct Planes<const D: usize> {
    place: Vec<u32>,
    planes: Vec<Vec<CellPlane<D>>>,
}

pub(crate) fn is_mixed(c: f64) -> bool {
    c > PURE && c < 1.0 - PURE
}

/// Whether a cell has more than traces of both fluids.
pub(crate) fn is_at_interface(c: f64) -> bool {
    c > TRACE && c < 1.0 - TRACE
}

impl<const D: usize> Planes<D> {
    /// Reconstructs the interface.
    ///
    /// # Errors
    /// Where a mixed cell is not on the finest level.
    pub(crate) fn new(
        mesh: &FlowMesh<D>,
        params: &FlowParams<D>,
        alpha: &[f64],
    ) -> Result<Self, TwoPhaseError> {
        let cells = dims::cells(D);
        check_level(mesh, alpha)?;
        let (alpha, contact) = (&*mesh.with_ghosts(alpha), Contact::new(params));
        let finest = mesh.blocks.range(mesh.blocks.finest());
        let of = |block: usize| &alpha[block * cells..(block + 1) * cells];
        let mixed: Vec<usize> = finest
            .filter(|&b| of(b).iter().any(|&c| is_mixed(c)))
            .collect();
        let planes: Vec<Vec<CellPlane<D>>> = mixed
            .par_iter()
            .map_init(Vec::new, |tile: &mut Tile, &block| {
                mesh.tile(alpha, block, tile);
                contact.fill(mesh, block, tile);
                let plane_of = |cell: usize| {
                    let at = in_tile::<D>(cell);
                    if !is_mixed(tile[at]) {
                        return CellPlane {
                            n: [0.0; D],
                            constant: 0.0,
                        };
                    }
                    let n = normal::normal::<D>(tile, at);
                    let constant = plane::constant(n, tile[at]);
                    CellPlane { n, constant }
                };
                (0..cells).map(plane_of).collect()
            })
            .collect();
        let mut place = vec![NOWHERE; mesh.blocks.len()];
        for (i, &block) in mixed.iter().enumerate() {
            place[block] = i as u32;
        }
        Ok(Self { place, planes })
    }

    /// Turns planes to the mean normal of the mixed cells around, with the same volumes. Cells that see walls are left out of the
    /// means: fractions beyond walls are mirrored, which makes a right angle that weight does not know.
    pub(crate) fn smooth(&mut self, mesh: &FlowMesh<D>, alpha: &[f64]) {
        let cells = dims::cells(D);
        let with_planes: Vec<usize> = (0..self.place.len())
            .filter(|&block| self.place[block] != NOWHERE)
            .collect();
        // Normals that count, none elsewhere.
        let inner: Vec<Vec<[f64; D]>> = with_planes
            .par_iter()
            .map(|&block| {
                let of = |cell: usize| {
                    let counts = is_mixed(alpha[block * cells + cell])
                        && !mesh.is_solid(block, cell)
                        && !mesh.sees_wall(block, cell);
                    let plane = self.get(block, cell).filter(|_| counts);
                    plane.map_or([0.0; D], |plane| plane.n)
                };
                (0..cells).map(of).collect()
            })
            .collect();
        let turned: Vec<Vec<CellPlane<D>>> = with_planes
            .par_iter()
            .map(|&block| {
                let of = |(cell, plane): (usize, &CellPlane<D>)| {
                    let c = alpha[block * cells + cell];
                    if !is_mixed(c) {
                        return *plane;
                    }
                    let n = self.mean_normal(mesh, &inner, (block, cell), plane.n);
                    n.map_or(*plane, |n| CellPlane {
                        n,
                        constant: plane::constant(n, c),
                    })
                };
                let planes = &self.planes[self.place[block] as usize];
                planes.iter().enumerate().map(of).collect()
            })
            .collect();
        self.planes = turned;
    }

    /// The mean of the normals around a cell that are not opposite to its own: of 5^D cells, of more where there are none.
    fn mean_normal(
        &self,
        mesh: &FlowMesh<D>,
        inner: &[Vec<[f64; D]>],
        (block, cell): (usize, usize),
        own: [f64; D],
    ) -> Option<[f64; D]> {
        for reach in 2..=MARGIN {
            let mut sum = [0.0; D];
            for near in mesh.near(block, cell, reach) {
                if !near.is_inside || self.place[near.block] == NOWHERE {
                    continue;
                }
                let n = inner[self.place[near.block] as usize][near.cell];
                if (0..D).map(|a| n[a] * own[a]).sum::<f64>() > 0.0 {
                    (0..D).for_each(|a| sum[a] += n[a]);
                }
            }
            let size: f64 = sum.iter().map(|n| n.abs()).sum();
            if size > 0.0 {
                return Some(sum.map(|n| n / size));
            }
        }
        None
    }

    /// The plane of a mixed cell.
    pub(crate) fn get(&self, block: usize, cell: usize) -> Option<CellPlane<D>> {
        let place = self.place[block];
        (place != NOWHERE).then(|| self.planes[place as usize][cell])
    }

    /// The part that is liquid of what leaves a cell in a step through a side: `courant` is its width in cells.
    pub(crate) fn leaving(
        &self,
        c: f64,
        block: usize,
        cell: usize,
        side: usize,
        courant: f64,
    ) -> f64 {
        if !is_mixed(c) {
            return if c > 0.5 { 1.0 } else { 0.0 };
        }
        let Some(CellPlane { n, constant }) = self.get(block, cell) else {
            return c;
        };
        let (from, to) = if side % 2 == 1 {
            (1.0 - courant, 1.0)
        } else {
            (0.0, courant)
        };
        plane::slab(n, constant, side / 2, from, to)
    }
}

/// Checks that the interface is on the finest level.
///
/// # Errors
/// The first mixed cell of a coarser one.
pub(crate) fn check_level<const D: usize>(
    mesh: &FlowMesh<D>,
    alpha: &[f64],
) -> Result<(), TwoPhaseError> {
    let cells = dims::cells(D);
    let finest = mesh.blocks.finest();
    let coarse = 0..mesh.blocks.range(finest).start;
    let found = coarse.into_par_iter().find_first(|&block| {
        mesh.blocks.is_leaf(block)
            && alpha[block * cells..(block + 1) * cells]
                .iter()
                .any(|&c| is_at_interface(c))
    });
    found.map_or(Ok(()), |block| {
        let cell = (0..cells)
            .find(|&cell| is_at_interface(alpha[block * cells + cell]))
            .unwrap_or(0);
        Err(TwoPhaseError::CoarseInterface {
            level: mesh.blocks.level(block),
            finest,
            at: mesh.centre(block, cell).to_vec(),
        })
    })
}

/// What is in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Gas,
    Liquid,
    Both,
}

impl Kind {
    /// By block.
    pub(crate) fn of_blocks<const D: usize>(alpha: &[f64]) -> Vec<Self> {
        alpha.par_chunks(dims::cells(D)).map(Self::of).collect()
    }

    pub(crate) fn of(alpha: &[f64]) -> Self {
        if alpha.iter().all(|&c| c >= 1.0 - TRACE) {
            Self::Liquid
        } else if alpha.iter().all(|&c| c <= TRACE) {
            Self::Gas
        } else {
            Self::Both
        }
    }
}

/// Whether a block and those beside it are in one fluid.
pub(crate) fn is_in_one<const D: usize>(mesh: &FlowMesh<D>, kinds: &[Kind], block: usize) -> bool {
    let own = kinds[block];
    let is_own = |side| match mesh.blocks.beside(block, side) {
        Beside::Same(other) | Beside::Coarser(other) => kinds[other] == own,
        Beside::Outside => true,
    };
    own != Kind::Both && (0..2 * D).all(is_own)
}

/// Curvature by cell, 1/m; NaN where there is none. And how many cells have one from heights, and from a fit.
#[derive(Debug)]
pub(crate) struct Curvature {
    pub(crate) of: Vec<f64>,
    pub(crate) by_heights: usize,
    pub(crate) by_fit: usize,
}

/// Of a cell at the interface: its number in the block, normal, curvature by heights with their direction, and positions
/// in its own columns.
type Found<const D: usize> = (usize, [f64; D], Option<(f64, Direction)>, [f64; D]);

/// Curvature of cells at the interface of the finest level: mixed ones, and pure ones beside one of the other kind.
pub(crate) fn curvature<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    alpha: &[f64],
) -> Curvature {
    let (alpha, contact) = (&*mesh.with_ghosts(alpha), Contact::new(params));
    let cells = dims::cells(D);
    let level = mesh.blocks.finest();
    let (finest, h) = (mesh.blocks.range(level), mesh.width(level));
    let first = finest.start;
    // First pass: heights, and positions for the fits.
    let each = |tile: &mut Tile, block: usize| {
        mesh.tile(alpha, block, tile);
        contact.fill(mesh, block, tile);
        let is_at = |cell: usize| {
            let at = in_tile::<D>(cell);
            let c = tile[at];
            let other = |a: usize| {
                let step = crate::mesh::STEP[a];
                (tile[at - step] > 0.5) != (c > 0.5) || (tile[at + step] > 0.5) != (c > 0.5)
            };
            is_at_interface(c) || (0..D).any(other)
        };
        let found = |cell: usize| {
            let at = in_tile::<D>(cell);
            let n = normal::normal::<D>(tile, at);
            let position = heights::positions(tile, at, n);
            let along = normal::coarse::<D>(tile, at);
            (cell, n, heights::curvature(tile, at, along), position)
        };
        (0..cells)
            .filter(|&cell| is_at(cell))
            .map(found)
            .collect::<Vec<_>>()
    };
    let kinds = Kind::of_blocks::<D>(alpha);
    let each = |tile: &mut Tile, block: usize| match is_in_one(mesh, &kinds, block) {
        true => Vec::new(),
        false => each(tile, block),
    };
    let passes: Vec<Vec<_>> = finest.into_par_iter().map_init(Vec::new, each).collect();
    let lookup = |block: usize, cell: usize| {
        let list = block.checked_sub(first).and_then(|b| passes.get(b))?;
        list.iter().find(|found| found.0 == cell)
    };
    // Second pass. A curvature by heights is that of a column: all of its cells have it, also one that is too far from
    // the ends of the columns beside it.
    let of_column = |block: usize, cell: usize, n: [f64; D]| {
        heights::directions(n).into_iter().find_map(|direction| {
            [-1, 1].into_iter().find_map(|k| {
                let mut step = [0; D];
                step[direction.0] = k;
                let near = mesh.near_at(block, cell, step);
                let &(_, _, by_heights, _) = lookup(near.block, near.cell)?;
                let (value, of) = by_heights.filter(|_| near.is_inside)?;
                (of == direction).then_some(value)
            })
        })
    };
    // Fits where heights are missing.
    let fit = |block: usize, cell: usize, n: [f64; D]| {
        let mut points = Vec::new();
        for near in mesh.near(block, cell, 2) {
            // Mirrored cells would meet the wall at a right angle.
            if !contact.is_right() && !near.is_inside {
                continue;
            }
            let Some(&(_, m, _, heights)) = lookup(near.block, near.cell) else {
                continue;
            };
            if (0..D).map(|a| n[a] * m[a]).sum::<f64>() <= 0.0 {
                continue;
            }
            for (axis, height) in heights.into_iter().enumerate().filter(|h| !h.1.is_nan()) {
                let mut point = near.step.map(f64::from);
                point[axis] += height;
                let apart =
                    |p: &[f64; D]| (0..D).map(|a| (p[a] - point[a]).abs()).sum::<f64>() > 0.1;
                if points.iter().all(apart) {
                    points.push(point);
                }
            }
        }
        heights::fitted(&points, n).map(|k| k.clamp(-1.0, 1.0))
    };
    let second = |(i, list): (usize, &Vec<Found<D>>)| {
        let of = |found: &Found<D>| {
            let (cell, n, by_heights, _) = *found;
            let by_heights = by_heights.map(|(value, _)| value);
            let by_heights = by_heights.or_else(|| of_column(first + i, cell, n));
            let value = by_heights.or_else(|| fit(first + i, cell, n));
            (cell, value, by_heights.is_some())
        };
        list.iter().map(of).collect::<Vec<_>>()
    };
    let values: Vec<Vec<(usize, Option<f64>, bool)>> =
        passes.par_iter().enumerate().map(second).collect();
    let mut result = Curvature {
        of: vec![f64::NAN; alpha.len()],
        by_heights: 0,
        by_fit: 0,
    };
    for (i, list) in values.iter().enumerate() {
        for &(cell, value, by_heights) in list {
            if let Some(value) = value {
                result.of[(first + i) * cells + cell] = value / h;
                result.by_heights += usize::from(by_heights);
                result.by_fit += usize::from(!by_heights);
            }
        }
    }
    result
}
