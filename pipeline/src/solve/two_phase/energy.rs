//! Whether a flow gains energy where nothing gives it any: kinetic, potential and of the interface together can only fall.

use cutlink_flow::Check;
use cutlink_vof::{BoxFace, FlowParams, PhaseIntegrals};
use std::f64::consts::FRAC_PI_2;

/// Share of the interface's energy that a gain is at least compared with: its area is right to 1 %.
const OF_INTERFACE: f64 = 0.05;

/// The same of the potential energy at the start, for fluids at rest.
const OF_POTENTIAL: f64 = 1e-4;

/// And of what the potential energy is uncertain by: liquid counts at centres of cells, which the interface is off by up to half a
/// width.
const OF_CELLS: f64 = 20.0;

/// Energies of a run so far, J; in 2D per metre of depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EnergyRecord {
    /// The least sum.
    least: f64,
    /// The largest rise above a least sum before.
    gain: f64,
    /// The largest kinetic energy.
    kinetic: f64,
    /// The least and the largest potential energy.
    potential: [f64; 2],
    /// What a gain is at least compared with.
    floor: f64,
}

impl EnergyRecord {
    /// Words of a saved state.
    pub(super) const WORDS: usize = 6;

    pub(super) fn new() -> Self {
        Self {
            least: f64::INFINITY,
            gain: 0.0,
            kinetic: 0.0,
            potential: [f64::INFINITY, f64::NEG_INFINITY],
            floor: f64::NAN,
        }
    }

    /// Takes the energies of a time: kinetic, potential, of the interface, and what the potential one is uncertain by.
    pub(super) fn add(&mut self, [kinetic, potential, interface, uncertain]: [f64; 4]) {
        if self.floor.is_nan() {
            let floors = [OF_INTERFACE * interface, OF_POTENTIAL * potential];
            self.floor = floors.into_iter().fold(OF_CELLS * uncertain, f64::max);
        }
        let sum = kinetic + potential + interface;
        self.gain = self.gain.max(sum - self.least);
        self.least = self.least.min(sum);
        self.kinetic = self.kinetic.max(kinetic);
        let [low, high] = self.potential;
        self.potential = [low.min(potential), high.max(potential)];
    }

    pub(super) fn save(&self) -> [f64; Self::WORDS] {
        let [low, high] = self.potential;
        [self.least, self.gain, self.kinetic, low, high, self.floor]
    }

    pub(super) fn restored([least, gain, kinetic, low, high, floor]: [f64; 6]) -> Self {
        Self {
            least,
            gain,
            kinetic,
            potential: [low, high],
            floor,
        }
    }

    /// The check of a run; none where there is no energy yet.
    pub(super) fn judge(&self) -> Option<Check> {
        let [low, high] = self.potential;
        let most = self.kinetic.max(high - low).max(self.floor);
        (most > 0.0).then(|| Check {
            name: "energy",
            value: self.gain / most,
            bars: [0.05, 0.2],
            what: "largest gain of energy, which can only be lost, over the largest change of a part of it".into(),
            remedy: Some("finer cells, or a viscosity; surface tension where there is some".into()),
        })
    }
}

/// What the potential energy is uncertain by, J: liquid counts at centres of cells of the finest width, the interface's by up to half of it.
pub(super) fn uncertain<const D: usize>(params: &FlowParams<D>, width: f64, area: f64) -> f64 {
    let [liquid, gas] = params.phases.density;
    let gravity = params.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
    (liquid - gas).abs() * gravity * width * width / 8.0 * area
}

/// The potential energy from the lowest corner of a box up, J: what leaves the box takes some with it, wherever the origin is.
pub(super) fn from_the_bottom<const D: usize>(
    params: &FlowParams<D>,
    corners: [[f64; D]; 2],
    now: &PhaseIntegrals<D>,
) -> f64 {
    let [low, high] = corners;
    let head: f64 = (0..D)
        .map(|a| (params.gravity[a] * low[a]).max(params.gravity[a] * high[a]))
        .sum();
    let [liquid, gas] = params.phases.density;
    now.potential + head * (liquid * now.volume[0] + gas * now.volume[1])
}

/// Whether walls and openings can give no energy: walls at rest at right contact angles, openings of one pressure that let gas
/// in alone.
pub(super) fn is_conserving<const D: usize>(params: &FlowParams<D>) -> bool {
    let mut pressures = Vec::new();
    let gives_none = |face: &BoxFace<D>| match *face {
        BoxFace::Slip | BoxFace::NoSlip => true,
        BoxFace::Inflow { .. } => false,
        BoxFace::Pressure { value, liquid } => {
            pressures.push(value);
            liquid == 0.0
        }
    };
    let faces = params.faces.iter().flatten().all(gives_none);
    let angles = params.contact_angles.iter().flatten();
    let is_right = |angle: &f64| (angle - FRAC_PI_2).abs() < 1e-6;
    let is_dry = params.phases.surface_tension == 0.0 || angles.into_iter().all(is_right);
    faces && is_dry && pressures.windows(2).all(|two| two[0] == two[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(of: &[(f64, f64, f64)]) -> f64 {
        let mut record = EnergyRecord::new();
        for &(kinetic, potential, interface) in of {
            record.add([kinetic, potential, interface, 0.0]);
        }
        let again = EnergyRecord::restored(record.save());
        assert_eq!(again, record);
        record.judge().map_or(f64::NAN, |check| check.value)
    }

    #[test]
    fn what_falls_is_no_gain_and_what_rises_is() {
        // A pendulum that loses some.
        assert_eq!(
            value(&[(0.0, 1.0, 0.0), (0.9, 0.0, 0.0), (0.1, 0.7, 0.0)]),
            0.0
        );
        // It has lost 0.3, and gains 0.2 of 1.
        let found = value(&[(0.0, 1.0, 0.0), (0.7, 0.0, 0.0), (0.9, 0.0, 0.0)]);
        assert!((found - 0.2).abs() < 1e-12, "{found}");
        // A drop at rest whose area is off by a thousandth.
        let found = value(&[(0.0, 0.0, 1.0), (1e-9, 0.0, 1.001)]);
        assert!((found - 0.02).abs() < 1e-3, "{found}");
        assert!(
            value(&[(0.0, 0.0, 0.0)]).is_nan(),
            "nothing to compare with"
        );
    }
}
