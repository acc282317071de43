//! The cells that a mesh which follows the flow may have.

use cutlink_common::Error;
use cutlink_solver::Params;

/// Leaf cells whose populations, tables and transferred moments fit into 80 % of some bytes, if six in ten of the blocks
/// exchange with another level; `more` are further bytes of each cell.
pub(super) fn room_for_cells<const D: usize>(bytes: u64, params: &Params<D>, more: u64) -> u64 {
    let moments = if D == 2 { 4 } else { 6 } * params.precision.real_bytes();
    // Populations get room for an eighth more.
    let populations = 2 * params.lattice.velocities() as u64 * 9 / 8;
    let populations = populations * params.precision.stored_bytes();
    let tables = if D == 2 { 8 } else { 4 };
    bytes / 5 * 4 / (populations + moments + tables + more)
}

/// Most leaf cells: those of the case, but no more than there is room for, and no fewer than the mesh has.
///
/// # Errors
/// Fewer cells given than the mesh has.
pub(super) fn budget(given: Option<u64>, least: u64, room: u64) -> Result<u64, Error> {
    match given {
        Some(given) if given < least => Err(Error::input(format!(
            "[adapt] max_cells is {given}, but the mesh of the case has {least} cells"
        ))
        .hint("increase max_cells, or make the mesh coarser")),
        _ => Ok(given.unwrap_or(room).min(room).max(least)),
    }
}
