//! What a flow with heat is set up with, its temperature, and the account of its heat.

use crate::params::{BoxFace, FlowParams};
use crate::{TwoPhaseError, check};
use cutlink_device::{Backend, Host};
use std::sync::Arc;

/// Most bodies with a temperature or a flux of heat.
pub(crate) const MOST_BODIES: usize = 200;

/// Heat at a face of the box, or at a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WallHeat {
    /// None is conducted.
    Insulated,
    /// A temperature at the wall; at an opening, that of what flows in.
    Temperature(f64),
    /// Heat into the fluid, W/m².
    Flux(f64),
}

/// Heat of a flow. Of both fluids: liquid first, gas second.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatParams<const D: usize> {
    /// Heat capacity, J/(kg K).
    pub capacity: [f64; 2],
    /// Thermal conductivity, W/(m K).
    pub conductivity: [f64; 2],
    /// Thermal expansion, 1/K: in the weight alone (Boussinesq).
    pub expansion: [f64; 2],
    /// The temperature of the fluids' densities.
    pub reference: f64,
    /// By side, lower and upper; of periodic axes ignored.
    pub faces: [[WallHeat; 2]; D],
    /// By the number of a body, as of [`FlowMesh::with_bodies`](crate::FlowMesh::with_bodies).
    pub bodies: Vec<WallHeat>,
}

impl<const D: usize> HeatParams<D> {
    pub(crate) fn face(&self, side: usize) -> WallHeat {
        self.faces[side / 2][side % 2]
    }

    /// Sides and bodies, which heat may come from.
    pub(crate) fn patches(&self) -> usize {
        2 * D + self.bodies.len()
    }

    /// What is at a side, or a body.
    pub(crate) fn patch(&self, patch: usize) -> WallHeat {
        match patch.checked_sub(2 * D) {
            Some(body) => (self.bodies.get(body))
                .copied()
                .unwrap_or(WallHeat::Insulated),
            None => self.face(patch),
        }
    }

    pub(crate) fn has_buoyancy(&self) -> bool {
        self.expansion != [0.0; 2]
    }

    /// # Errors
    /// Parameters out of their range, a side that cannot have what is given.
    pub(crate) fn check(&self, flow: &FlowParams<D>) -> Result<(), TwoPhaseError> {
        for c in self.capacity {
            let is_sound = c > 0.0 && c.is_finite();
            check("a heat capacity", c, is_sound, "positive, in J/(kg K)")?;
        }
        for k in self.conductivity {
            let is_sound = k > 0.0 && k.is_finite();
            check(
                "a thermal conductivity",
                k,
                is_sound,
                "positive, in W/(m K)",
            )?;
        }
        for beta in self.expansion {
            check(
                "a thermal expansion",
                beta,
                beta.is_finite(),
                "finite, in 1/K",
            )?;
        }
        let of = self.reference;
        check("the reference temperature", of, of.is_finite(), "finite")?;
        let bodies = self.bodies.len();
        check(
            "the number of bodies",
            bodies as f64,
            bodies <= MOST_BODIES,
            "at most 200 in a flow with heat",
        )?;
        for patch in 0..self.patches() {
            if let WallHeat::Temperature(x) | WallHeat::Flux(x) = self.patch(patch) {
                check("heat at a wall", x, x.is_finite(), "finite")?;
            }
        }
        (0..2 * D).try_for_each(|side| self.check_side(flow, side))?;
        check_turning(self, flow)
    }

    fn check_side(&self, flow: &FlowParams<D>, side: usize) -> Result<(), TwoPhaseError> {
        let is_held = matches!(self.face(side), WallHeat::Temperature(_));
        let is_flux = matches!(self.face(side), WallHeat::Flux(_));
        match flow.face(side) {
            BoxFace::Slip | BoxFace::NoSlip => Ok(()),
            BoxFace::Inflow { velocity, .. } => match inward(&velocity, side) {
                u if u > 0.0 => check(
                    "an inflow without its temperature, of a velocity that",
                    u,
                    is_held,
                    "given with the temperature of what flows in",
                ),
                u => check(
                    "heat at an outflow, of a velocity that",
                    u,
                    u == 0.0 || self.face(side) == WallHeat::Insulated,
                    "given without a temperature and a flux of heat",
                ),
            },
            BoxFace::Pressure { value, .. } => check(
                "a flux of heat at a face of given pressure, which",
                value,
                !is_flux,
                "given with the temperature of what flows in, or without",
            ),
        }
    }
}

/// # Errors
/// A box that turns, where the fluids expand.
pub(crate) fn check_turning<const D: usize>(
    heat: &HeatParams<D>,
    flow: &FlowParams<D>,
) -> Result<(), TwoPhaseError> {
    let turning = flow.turning.as_ref();
    let spin: f64 = turning.map_or(0.0, |of| {
        of.spin.iter().chain(&of.rate).map(|x| x.abs()).sum()
    });
    check(
        "the turning of a box whose fluids expand",
        spin,
        turning.is_none() || !heat.has_buoyancy(),
        "none: such a box may only be shifted",
    )
}

/// The part of a velocity that leads into the box through a side, m/s.
pub(crate) fn inward<const D: usize>(velocity: &[f64; D], side: usize) -> f64 {
    let along = velocity[side / 2];
    if side.is_multiple_of(2) {
        along
    } else {
        -along
    }
}

/// Numbers of both fluids, as stages have them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HeatNumbers {
    /// By volume, J/(m³ K).
    pub(crate) capacity: [f64; 2],
    pub(crate) conductivity: [f64; 2],
    /// Density that is lost by kelvin, kg/(m³ K).
    pub(crate) expansion: [f64; 2],
    pub(crate) reference: f64,
}

impl HeatNumbers {
    pub(crate) fn new<const D: usize>(flow: &FlowParams<D>, heat: &HeatParams<D>) -> Self {
        let density = flow.phases.density;
        Self {
            capacity: std::array::from_fn(|i| density[i] * heat.capacity[i]),
            conductivity: heat.conductivity,
            expansion: std::array::from_fn(|i| density[i] * heat.expansion[i]),
            reference: heat.reference,
        }
    }

    /// Heat capacity of a mixture, by the volume fraction of the liquid, as it is: fractions may leave 0 to 1 by rounding,
    /// and what is added to them is added to this.
    #[inline]
    pub(crate) fn capacity(&self, c: f64) -> f64 {
        self.capacity[1] + (self.capacity[0] - self.capacity[1]) * c
    }

    /// One over the conductivity of a mixture: its fluids as layers one behind the other.
    #[inline]
    pub(crate) fn resistivity(&self, c: f64) -> f64 {
        let c = c.clamp(0.0, 1.0);
        c / self.conductivity[0] + (1.0 - c) / self.conductivity[1]
    }

    /// What a mixture's weight has more of density than at the reference temperature, kg/m³.
    #[inline]
    pub(crate) fn excess(&self, c: f64, temperature: f64) -> f64 {
        let lost = self.expansion[1] + (self.expansion[0] - self.expansion[1]) * c.clamp(0.0, 1.0);
        lost * (self.reference - temperature)
    }
}

/// The heat of a flow, in a backend's memory.
#[derive(Debug)]
pub(crate) struct HeatField<const D: usize, B: Backend = Host> {
    /// Of cells. Solid ones keep that of the start, or have their body's.
    pub(crate) temperature: B::Buf<f64>,
    pub(crate) params: Arc<HeatParams<D>>,
    pub(crate) account: HeatAccount,
}

impl<const D: usize, B: Backend> HeatField<D, B> {
    /// The same account with other temperatures.
    pub(crate) fn with<C: Backend>(&self, temperature: C::Buf<f64>) -> HeatField<D, C> {
        HeatField {
            temperature,
            params: Arc::clone(&self.params),
            account: self.account.clone(),
        }
    }

    /// Whether a temperature is not finite.
    pub(crate) fn is_bad(&self) -> bool {
        self.account.extremes[0].is_nan()
    }
}

/// The heat of a flow and where it came from. Per metre of depth in 2D.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatAccount {
    /// Heat in the box, of 0 in the unit of temperature, J.
    pub heat: f64,
    /// Heat capacity of all fluid, J/K.
    pub capacity: f64,
    /// Heat that came in since the start by side, lower and upper of each axis, and by body, J.
    pub through: Vec<f64>,
    /// Heat that steps made by what solvers leave, J: it was taken from all fluid again.
    pub defect: f64,
    /// The lowest and the highest temperature of a cell.
    pub extremes: [f64; 2],
}

impl HeatAccount {
    /// Numbers of a saved account beside those of its patches.
    const WORDS: usize = 5;

    /// Numbers of a saved account.
    pub(crate) fn words(patches: usize) -> usize {
        Self::WORDS + patches
    }

    pub(crate) fn save(&self) -> impl Iterator<Item = f64> {
        let [low, high] = self.extremes;
        let own = [self.heat, self.capacity, self.defect, low, high];
        own.into_iter().chain(self.through.iter().copied())
    }

    /// An account of saved numbers.
    pub(crate) fn restored(words: &[f64]) -> Self {
        let (own, through) = words.split_at(Self::WORDS);
        Self {
            heat: own[0],
            capacity: own[1],
            defect: own[2],
            extremes: [own[3], own[4]],
            through: through.to_vec(),
        }
    }
}
