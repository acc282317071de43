//! A run on a mesh that changes: its budget, `adapt.csv`, and what else is of the mesh.

use super::Run;
use crate::{
    error::Error,
    fields::Body,
    solve::{adapt::Looks, history::Growing},
};
use cutlink_solver::{Flow, Params};
use std::fs;

impl<const D: usize> Run<'_, D> {
    /// Follows a mesh that changes, after so many root steps.
    pub(super) fn follow(&mut self, flow: &mut dyn Flow<D>, steps: u64) -> Result<(), Error> {
        let Some((looks, file)) = &mut self.adapted else {
            return Ok(());
        };
        let raised = looks.raised();
        file.append(&looks.add(&flow.take_looks()))?;
        if let (None, Some(factor)) = (raised, looks.raised()) {
            self.observer.note(&format!(
                "the flow asks for more cells than [adapt] max_cells: thresholds are raised, now by {factor:.2}; see adapt.csv"
            ));
        }
        if flow.epoch() == self.epoch {
            self.updates += steps as f64 * self.each as f64;
            return Ok(());
        }
        self.epoch = flow.epoch();
        self.each = flow.updates();
        self.updates += steps as f64 * self.each as f64;
        self.open = self.integrals.blocks(flow.mesh()?);
        if let Some(surface) = self.surface.filter(|_| self.fields.needs_body()) {
            let body = Body::new(flow.mesh()?, surface, &self.resolved.params);
            self.fields.set_body(body);
        }
        Ok(())
    }

    /// Begins `adapt.csv`, with the looks at the initial state, or continues that of a resumed run.
    pub(super) fn begin_looks(&mut self, flow: &mut dyn Flow<D>) -> Result<(), Error> {
        let Some(adaptation) = &self.resolved.params.adaptation else {
            return Ok(());
        };
        let levels = flow.mesh()?.forest.levels.len();
        let mut looks = Looks::new(adaptation, levels, self.resolved.units.time);
        let path = self.resolved.folder.join("adapt.csv");
        let mut text = looks.head();
        let fresh = flow.take_looks();
        // A resumed run has looked at its initial state in vain.
        let looked = match self.options.resume {
            true => looks.read(
                &fs::read_to_string(&path).unwrap_or_default(),
                self.begun_at,
            ),
            false => fresh,
        };
        text.push_str(&looks.add(&looked));
        self.adapted = Some((looks, Growing::new(path, &text)?));
        Ok(())
    }
}

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
