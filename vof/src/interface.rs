//! What is known of the interface: planes in mixed cells, and which blocks have both fluids.

use crate::constants::{MARGIN, PURE, TRACE};
use crate::contact::Contact;
use crate::mesh::{FlowMesh, Tile, in_tile};
use crate::params::FlowParams;
use crate::{TwoPhaseError, normal, plane};
use cutlink_amr::dims;
use cutlink_elliptic::Beside;
use rayon::prelude::*;

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
