//! Checks of cells that are too coarse for the heat of a lattice Boltzmann flow, by laws of the error (decision 049).

use super::HeatRecord;
use crate::solve::{laws::beside, resolve::Resolved};
use cutlink_flow::Check;
use cutlink_solver::HeatCondition;
use cutlink_vof::HeatAccount;
use cutlink_voxelizer::Mesh;

/// Error over the square of the width of cells over the thickness of thermal layers: of the heat through walls, a bound.
const OF_LAYERS: f64 = 3.0;
/// Bars of what is doubtful: of thermal layers, and of temperatures that decay.
const BARS: [f64; 2] = [0.03, 0.01];

/// What the checks need to know.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeatCells {
    /// Of faces that hold a temperature: the number among what heat comes through, the area, m² (in 2D m), and the width of the finest cells there, m.
    faces: Vec<(usize, [f64; 2])>,
    /// Conductivity, W/(m K), and diffusivity, m²/s.
    conductivity: f64,
    diffusivity: f64,
    /// The width of the widest cells, m, and a root step, s.
    width: f64,
    step: f64,
    /// How unevenly heat was spread at the start, J K.
    spread: f64,
}

impl HeatCells {
    /// Of a flow on a mesh, with the heat capacity, J/(m³ K), and the diffusivity, m²/s.
    pub(super) fn of<const D: usize>(
        resolved: &Resolved<D>,
        mesh: &Mesh<D>,
        [capacity, diffusivity]: [f64; 2],
        spread: f64,
    ) -> Self {
        let dx = resolved.units.length;
        let heat = resolved.params.heat.as_ref();
        let of_side = |side: usize| {
            let (axis, upper) = (side / 2, side % 2);
            let held = heat.map(|of| of.faces[axis][upper]);
            let (area, level) = beside(mesh, axis, upper == 1);
            let width = dx / 2f64.powi(level? as i32);
            let area = area * dx.powi(D as i32 - 1);
            matches!(held, Some(HeatCondition::Temperature(_))).then_some((side, [area, width]))
        };
        let leaves = mesh.forest.leaves();
        let coarsest = leaves.map(|id| mesh.forest.level[id as usize]).min();
        Self {
            faces: (0..2 * D).filter_map(of_side).collect(),
            conductivity: capacity * diffusivity,
            diffusivity,
            width: dx / 2f64.powi(i32::from(coarsest.unwrap_or(0))),
            step: resolved.units.time,
            spread,
        }
    }

    /// The checks at the end.
    pub(super) fn checks(&self, record: &HeatRecord, now: &HeatAccount) -> Vec<Check> {
        [self.layers(record, now), self.decay(record)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Of the thermal layer that has the fewest cells.
    fn layers(&self, record: &HeatRecord, now: &HeatAccount) -> Option<Check> {
        let range = now.extremes[1] - now.extremes[0];
        let thin = self.faces.iter().filter_map(|&(side, [area, width])| {
            let power = record.power(side)?;
            Some(width * power.abs() / area / (self.conductivity * range))
        });
        let thinnest = thin.max_by(f64::total_cmp).filter(|_| range > 0.0)?;
        Some(Check {
            name: "resolution",
            value: OF_LAYERS * thinnest * thinnest,
            bars: [BARS[0], f64::INFINITY],
            what: format!(
                "thermal layers of {:.1} cells, hence an error of the heat through walls of up to this",
                thinnest.recip()
            ),
            remedy: Some("finer cells at walls that hold a temperature".into()),
        })
    }

    /// Of temperatures that decay at a rate r: differences of a wave are off by (k h)² / 12, where r = α k², and steps by r Δt / 2, each of what
    /// has decayed.
    fn decay(&self, record: &HeatRecord) -> Option<Check> {
        let [spread, evened] = record.evened();
        let rate = -0.5 * evened / spread;
        let decayed = 0.5 * (self.spread / spread).ln();
        let of_cells = self.width * self.width / (12.0 * self.diffusivity);
        let value = rate * decayed * (0.5 * self.step + of_cells);
        // Differences that grow, from walls, are none of these.
        (rate > 0.0 && decayed > 0.0).then(|| Check {
            name: "resolution",
            value,
            bars: [BARS[1], f64::INFINITY],
            what: "error of temperatures that decay, by few cells".into(),
            remedy: Some("more root cells".into()),
        })
    }
}
