//! What the host decides on after a step: the fastest face, the largest divergence, whether all values are in bounds, and
//! whether the interface is near coarse cells.

use crate::constants::BOUND;
use crate::interface::Kind;
use crate::mesh::FlowMesh;
use crate::running::Fields;
use cutlink_amr::dims;
use cutlink_device::larger_or_nan;
use cutlink_elliptic::faces;
use rayon::prelude::*;

/// Of leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Survey {
    /// The largest velocity through a face over the width of its cells, 1/s.
    pub(crate) fastest: f64,
    /// The largest divergence of a cell, 1/s.
    pub(crate) divergence: f64,
    /// Whether a cell [`is_bad`].
    pub(crate) is_bad: bool,
    /// Whether the interface [`is_at_edge`].
    pub(crate) is_at_edge: bool,
}

/// One pass over a state. The mesh may have so many levels where it follows the interface; none where it stays.
pub(crate) fn survey<const D: usize>(
    mesh: &FlowMesh<D>,
    fields: &Fields<D>,
    levels: usize,
) -> Survey {
    let cells = dims::cells(D);
    let of_block = |block: usize| {
        let is_bad = |cell: usize| is_bad(fields, block * cells + cell);
        (
            fastest_of(mesh, &fields.flux, block),
            divergence_of(mesh, &fields.flux, block),
            [
                (0..cells).any(is_bad),
                is_edge_of(mesh, &fields.alpha, levels, block),
            ],
        )
    };
    let leaf = |block: &usize| mesh.blocks.is_leaf(*block);
    let blocks = (0..mesh.blocks.len()).into_par_iter().filter(leaf);
    let both = |a: (f64, f64, [bool; 2]), b: (f64, f64, [bool; 2])| {
        let flags = std::array::from_fn(|i| a.2[i] || b.2[i]);
        (larger_or_nan(a.0, b.0), larger_or_nan(a.1, b.1), flags)
    };
    let found = blocks.map(of_block).reduce(|| (0.0, 0.0, [false; 2]), both);
    let (fastest, divergence, [is_bad, is_at_edge]) = found;
    Survey {
        fastest,
        divergence,
        is_bad,
        is_at_edge,
    }
}

/// Whether a leaf that the mesh could refine, up to so many levels, has another fluid than its own in a cell beside it, of
/// its own width, corners included. Then the interface is in that leaf or within two cells of the next finer level of it.
pub(crate) fn is_at_edge<const D: usize>(mesh: &FlowMesh<D>, alpha: &[f64], levels: usize) -> bool {
    let leaf = |block: &usize| mesh.blocks.is_leaf(*block);
    let blocks = (0..mesh.blocks.len()).into_par_iter().filter(leaf);
    blocks.any(|block| is_edge_of(mesh, alpha, levels, block))
}

fn is_edge_of<const D: usize>(
    mesh: &FlowMesh<D>,
    alpha: &[f64],
    levels: usize,
    block: usize,
) -> bool {
    if mesh.blocks.level(block) + 1 >= levels {
        return false;
    }
    let cells = dims::cells(D);
    let kind = |at: usize| Kind::of(&alpha[at..=at]);
    let own = kind(block * cells);
    let is_other = |to: [i32; D]| {
        let (other, cell) = mesh.cell_at(block, to);
        kind(other * cells + cell) != own
    };
    own == Kind::Both
        || (0..6usize.pow(D as u32)).any(|i| is_other(dims::unravel::<D>(i, 6).map(|c| c - 1)))
}

/// The largest velocity through a face over the width of its cells, 1/s.
pub(crate) fn fastest<const D: usize>(mesh: &FlowMesh<D>, flux: &[f64]) -> f64 {
    largest(mesh, |block| fastest_of(mesh, flux, block))
}

/// The largest divergence of a cell, 1/s.
pub(crate) fn divergence<const D: usize>(mesh: &FlowMesh<D>, flux: &[f64]) -> f64 {
    largest(mesh, |block| divergence_of(mesh, flux, block))
}

fn largest<const D: usize>(
    mesh: &FlowMesh<D>,
    of_block: impl Fn(usize) -> f64 + Sync + Send,
) -> f64 {
    let leaf = |block: &usize| mesh.blocks.is_leaf(*block);
    let blocks = (0..mesh.blocks.len()).into_par_iter().filter(leaf);
    blocks.map(of_block).reduce(|| 0.0, larger_or_nan)
}

fn fastest_of<const D: usize>(mesh: &FlowMesh<D>, flux: &[f64], block: usize) -> f64 {
    let (h, per) = (mesh.width_of(block), faces::per_block(D));
    let of = &flux[block * per..(block + 1) * per];
    of.iter().map(|q| q.abs() / h).fold(0.0, larger_or_nan)
}

fn divergence_of<const D: usize>(mesh: &FlowMesh<D>, flux: &[f64], block: usize) -> f64 {
    let (h, per) = (mesh.width_of(block), faces::per_block(D));
    let of = |cell: usize| {
        let each = |axis: usize| {
            let face = block * per + faces::lower(D, axis, cell);
            flux[face + faces::stride(axis)] - flux[face]
        };
        (0..D).map(each).sum::<f64>().abs() / h
    };
    (0..dims::cells(D)).map(of).fold(0.0, larger_or_nan)
}

/// Whether the values of a cell are not finite, or its fraction is not in 0 to 1.
pub(crate) fn is_bad<const D: usize>(fields: &Fields<D>, own: usize) -> bool {
    let c = fields.alpha[own];
    let u = fields.velocity.iter().all(|u| u[own].is_finite());
    let t = (fields.heat.as_ref()).is_none_or(|of| of.temperature[own].is_finite());
    !((-BOUND..=1.0 + BOUND).contains(&c) && u && t && fields.pressure[own].is_finite())
}
