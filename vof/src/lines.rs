//! Weight at an interface that is at an angle to the cells.
//!
//! Between the centres of two cells the pressure of a fluid rises by `ρ (g − a)` times their distance, with the density ρ of
//! the line between them. Faces have the mean density of both cells, as momentum has. Where the interface crosses the line, that
//! is another density, and a level surface would not be at rest. The difference of both densities, times `g − a`, is added
//! as a force. The acceleration `a` is that of the heavier fluid around the face, in the last step: a liquid at rest feels all
//! of the weight there, and a drop that falls freely none. The sum of the forces along a row of cells is zero where the interface is
//! plane.

use crate::TwoPhaseError;
use crate::interface::{CellPlane, Planes, is_mixed};
use crate::mesh::FlowMesh;
use crate::params::{FlowParams, Phases};
use crate::running::Fields;
use cutlink_amr::dims;

/// Lines between centres of cells at the interface.
pub(crate) struct Lines<'a, const D: usize> {
    mesh: &'a FlowMesh<D>,
    phases: &'a Phases,
    fields: &'a Fields<D>,
    planes: Planes<D>,
}

impl<'a, const D: usize> Lines<'a, D> {
    /// None without weight, or without a jump of the density.
    ///
    /// # Errors
    /// An interface on a coarse level.
    pub(crate) fn new(
        mesh: &'a FlowMesh<D>,
        params: &'a FlowParams<D>,
        fields: &'a Fields<D>,
    ) -> Result<Option<Self>, TwoPhaseError> {
        let phases = &params.phases;
        if !params.has_head() || phases.density[0] == phases.density[1] {
            return Ok(None);
        }
        let mut planes = Planes::new(mesh, params, &fields.alpha)?;
        planes.smooth(mesh, &fields.alpha);
        Ok(Some(Self {
            mesh,
            phases,
            fields,
            planes,
        }))
    }

    /// The density of the line between the centres of two cells, in the order of the axis, kg/m³.
    pub(crate) fn density(&self, a: (usize, usize), b: (usize, usize), axis: usize) -> f64 {
        let liquid = self.liquid(a, axis, 0.5) + self.liquid(b, axis, -0.5);
        self.phases.rho(0.5 * liquid)
    }

    /// The part that is liquid of the line from a cell's centre along an axis, by so many widths.
    fn liquid(&self, (block, cell): (usize, usize), axis: usize, step: f64) -> f64 {
        let c = self.fields.alpha[block * dims::cells(D) + cell];
        let plane = self.planes.get(block, cell).filter(|_| is_mixed(c));
        let Some(CellPlane { n, constant }) = plane else {
            return c;
        };
        // Distances from the plane, negative in the liquid; the constant is that of the normal `|n|`.
        let centre = 0.5 * n.iter().map(|n| n.abs()).sum::<f64>() - constant;
        let end = centre + step * n[axis];
        match (centre < 0.0, end < 0.0) {
            (true, true) => 1.0,
            (false, false) => 0.0,
            (true, false) => centre / (centre - end),
            (false, true) => end / (end - centre),
        }
    }

    /// The acceleration of the heavier fluid around two cells by pressure, tension and weight, along an axis, in the last
    /// step, m/s². Cells with much of it count most.
    pub(crate) fn pull(&self, cells: [(usize, usize); 2], axis: usize) -> f64 {
        let most = self.phases.density[0].max(self.phases.density[1]);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (block, cell) in cells {
            for near in self.mesh.near(block, cell, 1) {
                if !near.is_inside || self.mesh.is_solid(near.block, near.cell) {
                    continue;
                }
                let own = near.block * dims::cells(D) + near.cell;
                let weight = (self.phases.rho(self.fields.alpha[own]) / most).powi(4);
                sum += weight * self.fields.pull[axis][own];
                weights += weight;
            }
        }
        sum / weights
    }
}
