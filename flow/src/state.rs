//! Values of all cells of a flow.

use crate::particles::ParticleState;
use cutlink_solver::{Snapshot, fields::scalar_at};
use cutlink_voxelizer::Mesh;

/// Values by block id and cell, 4^D a block, in the units of the flow.
#[derive(Debug, Clone, Default)]
pub struct FlowState<const D: usize> {
    /// Density and velocity.
    pub snapshot: Snapshot<D>,
    /// The pressure. None where it follows from the density as on a lattice, (ρ - 1) / 3.
    pub pressure: Option<Vec<f32>>,
    /// The scalars of [`FieldUnits::scalars`](crate::fields::FieldUnits), in their order.
    pub scalars: Vec<Vec<f32>>,
    /// The spheres of a flow that has them, of which [`FieldUnits::particles`](crate::fields::FieldUnits) tells.
    pub particles: Option<ParticleState>,
}

impl<const D: usize> FlowState<D> {
    /// The pressure at a place in root cells from the lower corner; `density` is the one there.
    pub(super) fn pressure_at(&self, mesh: &Mesh<D>, at: [f64; D], density: f64) -> Option<f64> {
        match &self.pressure {
            None => Some(pressure_of(density)),
            Some(values) => scalar_at(mesh, values, at),
        }
    }
}

impl<const D: usize> From<Snapshot<D>> for FlowState<D> {
    fn from(snapshot: Snapshot<D>) -> Self {
        Self {
            snapshot,
            ..Self::default()
        }
    }
}

/// The gauge pressure of a lattice density; the squared speed of sound is 1/3.
pub(crate) fn pressure_of(density: f64) -> f64 {
    (density - 1.0) / 3.0
}

/// Points in root cells from the lower corner of the box.
pub fn places<const D: usize>(mesh: &Mesh<D>, points: &[[f64; D]]) -> Vec<[f64; D]> {
    let frame = &mesh.frame;
    let place = |x: &[f64; D]| std::array::from_fn(|a| (x[a] - frame.origin[a]) / frame.dx);
    points.iter().map(place).collect()
}
