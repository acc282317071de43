//! Surfaces without an inside: the fluid that a seed reaches between sheets.
//!
//! A mesh by [`Fill::Sheets`] has no solid cell: every facet is a wall of no thickness with fluid on both sides,
//! whatever its direction, and the surface may end anywhere. [`keep_sheltered`] keeps what a seed reaches along uncut
//! links, past holes smaller than a size if one is given (`closing`), and makes the rest solid. By [`Fill::Sheltered`]
//! the fluid may not reach a face of the box: where it does, the error names the place (`leak`).
//!
//! Links from kept into solid cells that no facet cuts close the holes. They are cut halfway, and each hole is a patch
//! behind those of the surface (`gaps`).
//!
//! Everything here goes by the mesh alone and is the same for any number of threads; the mesh is the same on all
//! devices.

mod beside;
mod clearance;
mod closing;
mod gaps;
mod grow;
mod leak;
mod nodes;

pub use gaps::Gap;

use crate::{
    Fill, Kept, Mesh, SeedError,
    relink::relink,
    seed::{Parts, drop_others, seed_cell},
};
use clearance::Clearance;
use closing::{Closing, Size};
use cutlink_amr::CellRef;

/// What was kept, and the holes that were closed.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheltered {
    /// The fluid.
    pub kept: Kept,
    /// The holes, in descending order of area.
    pub gaps: Vec<Gap>,
}

/// Distance from the surface up to which all cells should be of the finest level, so that holes up to `size` are
/// closed between cells of one level. `finest_dx` is the spacing there.
pub fn finest_reach(size: f64, finest_dx: f64) -> f64 {
    0.5 * size + 4.0 * finest_dx
}

/// Keeps the fluid that is connected to `point` (in lengths), and makes the rest solid. `close_holes`: holes up to this
/// size, in lengths, count as closed; one that is five finest cells wider does not. The size of a hole is the diameter
/// of the largest ball that passes.
///
/// Where a hole is closed between cells of different levels, the mesh is [`graded`](Mesh::graded) afterwards.
///
/// # Errors
/// A point outside the box, in a solid cell, or nearer to the surface than half the size; fluid that leaks out; too
/// little memory. The mesh is then unchanged, but where memory is short at the very end.
pub fn keep_sheltered<const D: usize>(
    mesh: &mut Mesh<D>,
    point: [f64; D],
    close_holes: Option<f64>,
) -> Result<Sheltered, SeedError> {
    let seed = seed_cell(mesh, point)?;
    let Some(length) = close_holes else {
        let mut parts = Parts::of_fluid(mesh)?;
        let root = parts.root(seed);
        return keep(mesh, seed, |at| parts.root(at) == root);
    };
    let size = Size::new(mesh, length);
    let clearance = Clearance::new(mesh, size.reach())?;
    let closing = Closing::new(mesh, &clearance, seed, size)?;
    keep(mesh, seed, |at| closing.keeps(at))
}

fn keep<const D: usize>(
    mesh: &mut Mesh<D>,
    seed: CellRef,
    mut keeps: impl FnMut(CellRef) -> bool,
) -> Result<Sheltered, SeedError> {
    if mesh.fill == Fill::Sheltered && leak::reaches_box(mesh, &mut keeps) {
        let found = leak::narrowest(mesh, seed)?;
        let (axis, up) = found.face;
        let side = if up { "upper" } else { "lower" };
        return Err(SeedError::Leak {
            face: format!("{side} {}", ["x", "y", "z"][axis]),
            place: found.place.to_vec(),
            width: found.width,
            size: found.width + 2.0 * mesh.frame.dx_at(mesh.forest.finest()),
        });
    }
    let kept = drop_others(mesh, keeps);
    let open = gaps::open_links(mesh);
    mesh.graded |= open.between_levels;
    let (gaps, added) = gaps::name(mesh, &open.links)?;
    relink(mesh, &added)?;
    Ok(Sheltered { kept, gaps })
}
