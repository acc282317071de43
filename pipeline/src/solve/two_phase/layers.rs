//! Thermal layers at walls, and temperatures that change with time.

use super::heat::CaseHeat;
use cutlink_amr::dims;
use cutlink_device::larger_or_nan;
use cutlink_vof::{BoxFace, TwoPhaseFlow, WallHeat};

/// Thermal layers, and the error of temperatures that change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeatLayers {
    /// Of sides that hold a temperature: the number of the side, its area, and the width of its widest cell.
    sides: Vec<(usize, [f64; 2])>,
    /// The larger conductivity.
    conductivity: f64,
    /// The time in which conduction evens out the box, s.
    slowest: f64,
    /// The longest edge of the box over π.
    edge: f64,
    /// What came in by each side, at the last line.
    through: Vec<f64>,
    /// The time of the last line, and the rms difference of temperatures then.
    last: [f64; 2],
    /// The error of temperatures by steps and cells, and the largest width of cells over a layer.
    found: [f64; 2],
}

impl HeatLayers {
    pub(super) fn new<const D: usize>(
        flow: &TwoPhaseFlow<D>,
        heat: &CaseHeat<D>,
        slowest: f64,
    ) -> Self {
        let mesh = flow.mesh();
        let [low, high] = mesh.corners();
        let of_side = |side: usize| {
            let axis = side / 2;
            let others = (0..D).filter(|&a| a != axis);
            let area: f64 = others.map(|a| high[a] - low[a]).product();
            [area, widest_at(flow, axis, [low, high][side % 2][axis])]
        };
        let holds = |side: &usize| {
            let (axis, upper) = (side / 2, side % 2);
            let face = &flow.params().faces[axis][upper];
            let is_wall = matches!(face, BoxFace::Slip | BoxFace::NoSlip);
            is_wall && matches!(heat.params.faces[axis][upper], WallHeat::Temperature(_))
        };
        let sides = (0..2 * D).filter(holds).map(|side| (side, of_side(side)));
        let edges = (0..D).map(|a| high[a] - low[a]);
        Self {
            sides: sides.collect(),
            conductivity: heat.params.conductivity[0].max(heat.params.conductivity[1]),
            slowest,
            edge: edges.fold(0.0, f64::max) / std::f64::consts::PI,
            through: vec![0.0; 2 * D],
            last: [0.0, difference(flow)],
            found: [0.0; 2],
        }
    }

    /// Adds a line, at this time, after so many substeps since the last one.
    pub(super) fn line<const D: usize>(
        &mut self,
        flow: &TwoPhaseFlow<D>,
        time: f64,
        substeps: u64,
    ) {
        let (Some(now), [then, before]) = (flow.heat_account(), self.last) else {
            return;
        };
        let (over, differences) = (time - then, difference(flow));
        if over > 0.0 && substeps > 0 {
            let h = flow.mesh().width(flow.mesh().blocks().finest());
            let most = before.max(differences).max(f64::MIN_POSITIVE);
            let rate = (differences - before).abs() / most / over;
            // (1 + r dt)^(-t/dt) is off by r² dt t / 2 of it, and differences of a wave by (k h)² / 12, where r = α k².
            let steps = substeps as f64;
            let step = 0.5 * over / steps;
            let of_cells = (h / self.edge).powi(2) * self.slowest / 12.0;
            let error = rate * rate * over * (step + of_cells) * most;
            // Steps of first order damp what is left less than time does.
            let damping = (1.0 + over / steps / self.slowest).powf(-steps);
            self.found[0] = (self.found[0] + error) * damping;
            let range = now.extremes[1] - now.extremes[0];
            let of_side = |&(side, [area, width]): &(usize, [f64; 2])| {
                let flux = (now.through[side] - self.through[side]).abs() / over / area;
                // Without a difference of temperatures there is no layer.
                if range == 0.0 {
                    0.0
                } else {
                    width * flux / (self.conductivity * range)
                }
            };
            self.found[1] = self.sides.iter().map(of_side).fold(0.0, larger_or_nan);
        }
        self.through.copy_from_slice(&now.through[..2 * D]);
        self.last = [time, differences];
    }

    /// Its numbers that change.
    pub(super) fn words(&mut self) -> impl Iterator<Item = &mut f64> {
        let found = self.last.iter_mut().chain(&mut self.found);
        found.chain(&mut self.through)
    }

    /// The error of temperatures that change, over their rms difference.
    pub(super) fn of_steps(&self) -> f64 {
        self.found[0] / self.last[1].max(f64::MIN_POSITIVE)
    }

    /// The largest width of cells over the thickness of a layer.
    pub(super) fn layer(&self) -> f64 {
        self.found[1]
    }
}

/// The rms difference of temperatures from their mean.
fn difference<const D: usize>(flow: &TwoPhaseFlow<D>) -> f64 {
    let both = flow.heat_spread().zip(flow.heat_account());
    both.map_or(0.0, |(spread, now)| (spread / now.capacity).sqrt())
}

/// The widest cells at a place along an axis.
fn widest_at<const D: usize>(flow: &TwoPhaseFlow<D>, axis: usize, place: f64) -> f64 {
    let (mesh, last) = (flow.mesh(), dims::cells(D) - 1);
    let leaves = (0..mesh.blocks().len()).filter(|&block| mesh.blocks().is_leaf(block));
    let at = leaves.filter(|&block| {
        let ends = [0, last].map(|cell| (mesh.centre(block, cell)[axis] - place).abs());
        ends[0].min(ends[1]) < 0.6 * mesh.width_of(block)
    });
    at.map(|block| mesh.width_of(block)).fold(0.0, f64::max)
}
