//! What the host decides on after a step: the fastest face, the largest divergence, and whether all values are in bounds.

use crate::mesh::FlowMesh;
use crate::running::Fields;
use cutlink_amr::dims;
use cutlink_elliptic::faces;
use rayon::prelude::*;

/// How far fractions may leave 0 to 1.
pub(crate) const BOUND: f64 = 1e-3;

/// Of leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Survey {
    /// The largest velocity through a face over the width of its cells, 1/s.
    pub(crate) fastest: f64,
    /// The largest divergence of a cell, 1/s.
    pub(crate) divergence: f64,
    /// Whether a cell [`is_bad`].
    pub(crate) is_bad: bool,
}

/// One pass over a state.
pub(crate) fn survey<const D: usize>(mesh: &FlowMesh<D>, fields: &Fields<D>) -> Survey {
    let cells = dims::cells(D);
    let of_block = |block: usize| {
        let is_bad = |cell: usize| is_bad(fields, block * cells + cell);
        (
            fastest_of(mesh, &fields.flux, block),
            divergence_of(mesh, &fields.flux, block),
            (0..cells).any(is_bad),
        )
    };
    let leaf = |block: &usize| mesh.blocks.is_leaf(*block);
    let blocks = (0..mesh.blocks.len()).into_par_iter().filter(leaf);
    let both =
        |a: (f64, f64, bool), b: (f64, f64, bool)| (larger(a.0, b.0), larger(a.1, b.1), a.2 || b.2);
    let (fastest, divergence, is_bad) = blocks.map(of_block).reduce(|| (0.0, 0.0, false), both);
    Survey {
        fastest,
        divergence,
        is_bad,
    }
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
    blocks.map(of_block).reduce(|| 0.0, larger)
}

fn fastest_of<const D: usize>(mesh: &FlowMesh<D>, flux: &[f64], block: usize) -> f64 {
    let (h, per) = (mesh.width_of(block), faces::per_block(D));
    let of = &flux[block * per..(block + 1) * per];
    of.iter().map(|q| q.abs() / h).fold(0.0, larger)
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
    (0..dims::cells(D)).map(of).fold(0.0, larger)
}

/// Whether the values of a cell are not finite, or its fraction is not in 0 to 1.
pub(crate) fn is_bad<const D: usize>(fields: &Fields<D>, own: usize) -> bool {
    let c = fields.alpha[own];
    let u = fields.velocity.iter().all(|u| u[own].is_finite());
    !((-BOUND..=1.0 + BOUND).contains(&c) && u && fields.pressure[own].is_finite())
}

/// The larger value; NaN if one is.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
