//! Curvature of cells at the interface of the finest level, in two passes.

use crate::contact::Contact;
use crate::heights::{self, Direction};
use crate::interface::{Kind, is_at_interface, is_in_one};
use crate::mesh::{FlowMesh, STEP, Tile, in_tile};
use crate::normal;
use crate::params::FlowParams;
use cutlink_amr::dims;
use rayon::prelude::*;

/// Curvature by cell, 1/m; NaN where there is none. And how many cells have one from heights, and from a fit.
#[derive(Debug)]
pub(crate) struct Curvature {
    pub(crate) of: Vec<f64>,
    /// By cell: whether it is by heights of the cell's own columns, away from walls.
    pub(crate) is_sure: Vec<bool>,
    pub(crate) by_heights: usize,
    pub(crate) by_fit: usize,
    /// Cells at the interface without one.
    pub(crate) missing: usize,
}

/// A cell at the interface.
struct Found<const D: usize> {
    /// Its number in the block.
    cell: usize,
    normal: [f64; D],
    /// Curvature by heights, and their direction.
    by_heights: Option<(f64, Direction)>,
    /// In its own columns.
    positions: [f64; D],
}

/// What the first pass finds: heights, and positions for the fits.
struct Heights<'a, const D: usize> {
    mesh: &'a FlowMesh<D>,
    contact: Contact<D>,
    /// The first block of the finest level.
    first: usize,
    /// By block of that level.
    found: Vec<Vec<Found<D>>>,
}

/// Curvature of cells at the interface of the finest level: mixed ones, and pure ones beside one of the other kind.
pub(crate) fn curvature<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    alpha: &[f64],
) -> Curvature {
    let heights = Heights::new(mesh, params, &mesh.with_ghosts(alpha));
    let second = |(i, list): (usize, &Vec<Found<D>>)| {
        let block = heights.first + i;
        let of = |found: &Found<D>| {
            let by_heights = found.by_heights.map(|(value, _)| value);
            let by_heights = by_heights.or_else(|| heights.of_column(block, found));
            let value = by_heights.or_else(|| heights.fit(block, found));
            let is_sure = found.by_heights.is_some() && !mesh.sees_wall(block, found.cell);
            (found.cell, value, [by_heights.is_some(), is_sure])
        };
        list.iter().map(of).collect::<Vec<_>>()
    };
    let values: Vec<Vec<_>> = heights.found.par_iter().enumerate().map(second).collect();
    let mut result = Curvature {
        of: vec![f64::NAN; alpha.len()],
        is_sure: vec![false; alpha.len()],
        by_heights: 0,
        by_fit: 0,
        missing: 0,
    };
    let h = mesh.width(mesh.blocks.finest());
    for (i, list) in values.iter().enumerate() {
        for &(cell, value, [by_heights, is_sure]) in list {
            if let Some(value) = value {
                let own = (heights.first + i) * dims::cells(D) + cell;
                result.of[own] = value / h;
                result.is_sure[own] = is_sure;
                result.by_heights += usize::from(by_heights);
                result.by_fit += usize::from(!by_heights);
            } else {
                result.missing += 1;
            }
        }
    }
    result
}

/// Whether a cell is mixed, or beside one of the other kind.
fn is_at<const D: usize>(tile: &[f64], at: usize) -> bool {
    let c = tile[at];
    let other = |a: usize| {
        let step = STEP[a];
        (tile[at - step] > 0.5) != (c > 0.5) || (tile[at + step] > 0.5) != (c > 0.5)
    };
    is_at_interface(c) || (0..D).any(other)
}

impl<'a, const D: usize> Heights<'a, D> {
    /// Of fractions with ghosts.
    fn new(mesh: &'a FlowMesh<D>, params: &FlowParams<D>, alpha: &[f64]) -> Self {
        let contact = Contact::new(params);
        let finest = mesh.blocks.range(mesh.blocks.finest());
        let first = finest.start;
        let kinds = Kind::of_blocks::<D>(alpha);
        let each = |tile: &mut Tile, block: usize| {
            if is_in_one(mesh, &kinds, block) {
                return Vec::new();
            }
            mesh.tile(alpha, block, tile);
            contact.fill(mesh, block, tile);
            let found = |cell: usize| {
                let at = in_tile::<D>(cell);
                if !is_at::<D>(tile, at) {
                    return None;
                }
                let normal = normal::normal::<D>(tile, at);
                let along = normal::coarse::<D>(tile, at);
                Some(Found {
                    cell,
                    normal,
                    by_heights: heights::curvature(tile, at, along),
                    positions: heights::positions(tile, at, normal),
                })
            };
            (0..dims::cells(D)).filter_map(found).collect()
        };
        let found = finest.into_par_iter().map_init(Vec::new, each).collect();
        Self {
            mesh,
            contact,
            first,
            found,
        }
    }

    fn get(&self, block: usize, cell: usize) -> Option<&Found<D>> {
        let list = block
            .checked_sub(self.first)
            .and_then(|b| self.found.get(b))?;
        list.iter().find(|found| found.cell == cell)
    }

    /// A curvature by heights is that of a column: all of its cells have it, also one that is too far from the ends of the
    /// columns beside it.
    fn of_column(&self, block: usize, of: &Found<D>) -> Option<f64> {
        let in_direction = |direction: Direction| {
            [-1, 1].into_iter().find_map(|k| {
                let mut step = [0; D];
                step[direction.0] = k;
                let near = self.mesh.near_at(block, of.cell, step);
                let found = self.get(near.block, near.cell)?;
                let (value, along) = found.by_heights.filter(|_| near.is_inside)?;
                (along == direction).then_some(value)
            })
        };
        heights::directions(of.normal)
            .into_iter()
            .find_map(in_direction)
    }

    /// A fit, where heights are missing.
    fn fit(&self, block: usize, of: &Found<D>) -> Option<f64> {
        let n = of.normal;
        let mut points = Vec::new();
        for near in self.mesh.near(block, of.cell, 2) {
            // Mirrored cells would meet the wall at a right angle.
            if !self.contact.is_right() && !near.is_inside {
                continue;
            }
            let Some(found) = self.get(near.block, near.cell) else {
                continue;
            };
            if (0..D).map(|a| n[a] * found.normal[a]).sum::<f64>() <= 0.0 {
                continue;
            }
            let heights = found.positions.into_iter().enumerate();
            for (axis, height) in heights.filter(|h| !h.1.is_nan()) {
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
    }
}
