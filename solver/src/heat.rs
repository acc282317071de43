//! Heat in lattice Boltzmann flows (decision 071): a temperature that is carried and conducted, and acts on the flow by weight.
//!
//! | file | what |
//! |---|---|
//! | `heat.rs` | parameters, what is refused, sums |
//! | `heat/tables.rs` | faces that pass heat, walls, and what levels share |
//! | `run/heat.rs` | temperatures of a running flow: set, read, saved |
//! | `kernels/heat.rs` | the stages; bodies in `cpu/heat.rs` and `cpu/lift.rs` |
//!
//! ∂T/∂t + ∇·(j T) = a ∇²T with the momentum j of the populations, by finite volumes on the cells of the flow: Lax and Wendroff's
//! scheme with its mixed derivatives (1960; LeVeque, *Finite Volume Methods*, 2002, §20.2) and central differences for conduction.
//! A step of a level moves its temperature by the velocity of that time, then adds T · `lift` to the velocity, then steps
//! the flow: temperatures live half a step before velocities, which makes the coupling of second order. What passes a face
//! leaves one cell and enters another, between levels too, so that heat is kept.
//!
//! A wall that holds a temperature, at q of the link to the cell behind it, gives a (T wall - T) / q: second order on curved walls
//! (Gibou, Fedkiw, Cheng & Kang, *J. Comput. Phys.* 176 (2002) 205). It counts with the temperature after the step, so that
//! no distance is too small.

pub(crate) mod tables;

use crate::{
    Les, Motion, Params, PatchCondition, Place, Precision, SolverError, tables::Level,
    validate::positive,
};
use cutlink_amr::dims;
use cutlink_device::Host;
use tables::HeatFace;

/// Most of 2 D times the diffusivity, in units of the finest level: beyond 1 conduction is unstable.
pub const MOST_CONDUCTION: f64 = 0.95;

/// Heat at a face of the box or at a patch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HeatCondition {
    /// None is conducted. What flows in at an opening has the temperature inside.
    Insulated,
    /// A temperature; at an opening that of what flows in.
    Temperature(f64),
    /// Heat into the fluid, in units of temperature times root cells a root step; at a face of the box that is a wall.
    Flux(f64),
}

/// Heat of a flow, in units of the root lattice and any unit of temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct LatticeHeat<const D: usize> {
    /// Thermal diffusivity, root cells squared a root step.
    pub diffusivity: f64,
    /// The temperature without weight, from which others are counted: errors of the velocity's divergence are multiplied by what is
    /// beyond it.
    pub reference: f64,
    /// Acceleration of fluid that is a unit of temperature warmer, a root step: -β g (Boussinesq); 0 for a passive temperature.
    pub lift: [f64; D],
    /// By axis, lower and upper; of periodic axes ignored.
    pub faces: [[HeatCondition; 2]; D],
    /// By patch of the mesh.
    pub patches: Vec<HeatCondition>,
}

/// Sums over the temperature of a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatSums {
    /// Root steps done.
    pub step: u64,
    /// Volume of the fluid, root cells.
    pub volume: f64,
    /// Volume times temperature beyond the reference.
    pub heat: f64,
    /// What has come through each face of the box (2 axis + side), then each patch, since the start; likewise.
    pub through: Vec<f64>,
    /// Lowest and highest temperature.
    pub extremes: [f64; 2],
    /// Volume times the square of the temperature beyond the reference.
    pub square: f64,
}

fn refuse(reason: &str) -> Result<(), SolverError> {
    Err(SolverError::Value {
        name: "heat".into(),
        reason: reason.into(),
    })
}

impl<const D: usize> LatticeHeat<D> {
    /// A passive temperature with insulated walls, for so many patches.
    pub fn new(diffusivity: f64, patches: usize) -> Self {
        Self {
            diffusivity,
            reference: 0.0,
            lift: [0.0; D],
            faces: [[HeatCondition::Insulated; 2]; D],
            patches: vec![HeatCondition::Insulated; patches],
        }
    }

    /// The diffusivity in units of a level.
    pub(crate) fn on_level(&self, level: usize) -> f64 {
        self.diffusivity * f64::from(1u32 << level)
    }

    /// What is given at faces (2 axis + side), then patches.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &HeatCondition> {
        self.faces.iter().flatten().chain(&self.patches)
    }
}

/// Whether fluid may pass a face.
pub(crate) fn is_open<const D: usize>(params: &Params<D>, axis: usize, side: usize) -> bool {
    let varies = |of: &crate::Variation<D>| of.place == Place::Face(axis, side);
    params.faces[axis][side].passes(axis) || params.variations.iter().any(varies)
}

/// Checks the heat of a flow with so many levels.
///
/// # Errors
/// Values out of range; what flows with heat cannot have, with the way out.
pub(crate) fn check<const D: usize>(params: &Params<D>, levels: usize) -> Result<(), SolverError> {
    let Some(heat) = &params.heat else {
        return Ok(());
    };
    positive("the thermal diffusivity", heat.diffusivity)?;
    let most = MOST_CONDUCTION / (2 * D) as f64;
    let finest = heat.on_level(levels - 1);
    if finest > most {
        return Err(SolverError::Parameter {
            name: "the thermal diffusivity on the finest level".into(),
            value: finest,
            expected: format!(
                "at most {most:.4} cells squared a step is stable: a time step of {:.3} times this one, by a smaller lattice velocity",
                most / finest
            ),
        });
    }
    let numbers = heat.conditions().filter_map(|of| match of {
        HeatCondition::Insulated => None,
        HeatCondition::Temperature(x) | HeatCondition::Flux(x) => Some(*x),
    });
    let others = heat.lift.into_iter().chain([heat.reference]);
    if let Some(value) = numbers.chain(others).find(|x| !x.is_finite()) {
        return Err(SolverError::Parameter {
            name: "a temperature, flux or weight".into(),
            value,
            expected: "finite numbers are needed".into(),
        });
    }
    if heat.patches.len() != params.patches.len() {
        return refuse("it has another number of patches than the flow");
    }
    check_flow(params)?;
    check_faces(params, heat)?;
    params
        .patches
        .iter()
        .zip(&heat.patches)
        .enumerate()
        .try_for_each(|(n, (flow, of))| check_patch(params, n, flow, of))
}

/// What the flow may not have besides.
fn check_flow<const D: usize>(params: &Params<D>) -> Result<(), SolverError> {
    if params.precision == Precision::F16 {
        return refuse("populations of 16 bits would lose its weight: choose f32 or f64");
    }
    if params.les != Les::None {
        return refuse("an eddy viscosity would need an eddy diffusivity: choose none");
    }
    if !params.modeled.is_empty() {
        return refuse("a wall model has none: leave the model or the heat out");
    }
    if params.adaptation.is_some() {
        return refuse("the mesh is to follow the flow: leave the adaptation or the heat out");
    }
    Ok(())
}

fn check_faces<const D: usize>(
    params: &Params<D>,
    heat: &LatticeHeat<D>,
) -> Result<(), SolverError> {
    for (axis, pair) in heat.faces.iter().enumerate() {
        for (side, of) in pair.iter().enumerate() {
            if matches!(of, HeatCondition::Flux(_)) && is_open(params, axis, side) {
                return refuse(
                    "a face that fluid passes has a flux of heat: give the temperature of what flows in",
                );
            }
        }
    }
    Ok(())
}

fn check_patch<const D: usize>(
    params: &Params<D>,
    number: usize,
    flow: &PatchCondition<D>,
    of: &HeatCondition,
) -> Result<(), SolverError> {
    if matches!(of, HeatCondition::Flux(_)) {
        return refuse(
            "a patch has a flux of heat, and its cells have more area than it: give a temperature",
        );
    }
    let goes_on =
        matches!(flow, PatchCondition::Wall { motion: Motion::Uniform(v), .. } if *v != [0.0; D]);
    let varies = params
        .variations
        .iter()
        .any(|of| of.place == Place::Patch(number));
    match flow {
        PatchCondition::Pressure(_) => {
            refuse("a patch is an opening: let fluid pass faces of the box")
        }
        PatchCondition::Wall { .. } if goes_on || varies => refuse(
            "a patch has a velocity: let fluid pass faces of the box, or the wall turn or rest",
        ),
        PatchCondition::Wall { .. } => Ok(()),
    }
}

/// Refuses bodies that move.
pub(crate) fn with_bodies() -> SolverError {
    SolverError::Body {
        body: "of a flow with heat".into(),
        reason: "cells that it uncovers would need a temperature: leave the motion or the heat out"
            .into(),
    }
}

/// Refuses to tell of heat.
pub(crate) fn without() -> SolverError {
    SolverError::State {
        reason: "the flow has no heat".into(),
    }
}

/// Refuses several ranks.
pub(crate) fn on_ranks() -> SolverError {
    SolverError::Value {
        name: "heat".into(),
        reason: "it runs on one rank alone: leave the number of ranks or GPUs at 1".into(),
    }
}

/// Bytes of a level's temperatures and tables, and of what it shares with the finer one.
pub(crate) fn bytes<const D: usize>(level: &Level<D, Host>) -> u64 {
    let (cells, family) = (dims::cells(D), dims::children(D));
    let of_slots = level.slots * (cells * 8 * (2 + D) + 8 * (1 + 2 * D));
    // Two numbers and a table's entry a face; of the links of a cut cell about a third are along an axis.
    let of_faces =
        (level.q.len() / 3 + level.walled.len() * cells / 4) * (size_of::<HeatFace>() + 8);
    let between = level.overlaps.len() * cells * 4 * (dims::directions(D) + family);
    (of_slots + of_faces + between) as u64
}
