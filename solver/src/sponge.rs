//! Layers before faces of the box that damp what would come back from there (decision 017).

use crate::{FaceCondition, Params, Place, SolverError, tables::Level};
use cutlink_amr::dims;
use cutlink_device::{Backend, Host};

/// Speed of sound on the lattice.
const SOUND: f64 = 0.577_350_269_189_625_8;

/// The rate of damping rises with this power of the depth in the layer.
const POWER: i32 = 2;

/// A layer before a face.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sponge {
    /// Axis of the face.
    pub axis: usize,
    /// 0 for the lower face, 1 for the upper one.
    pub side: usize,
    /// How far it reaches into the box, in root cells.
    pub length: f64,
    /// What it takes off sound at normal incidence on its way there and back, as the natural logarithm of the amplitude.
    pub strength: f64,
    /// The face whose velocity it draws the flow to: its axis and side. The density is that of the sponge's own face, 1 where
    /// it has none.
    pub stream: [usize; 2],
}

/// A sponge on a level, as kernels read it.
#[derive(Debug)]
pub struct Damped<B: Backend> {
    /// The rule whose density it draws the flow to.
    pub density: usize,
    /// That of the velocity.
    pub velocity: usize,
    /// Slots that it reaches, in ascending order.
    pub slots: B::Buf<u32>,
    /// By those and cell the share of the difference that a step of the level takes.
    pub rate: B::Buf<f32>,
}

impl Sponge {
    /// The rate of damping, a root step, so far from the face (root cells).
    fn rate(&self, distance: f64) -> f64 {
        let depth = (1.0 - distance / self.length).max(0.0);
        let mean = 0.5 * SOUND * self.strength / self.length;
        f64::from(POWER + 1) * mean * depth.powi(POWER)
    }

    /// Its slots and rates on a level.
    pub(crate) fn on<const D: usize>(&self, level: &Level<D, Host>) -> Damped<Host> {
        let cells = dims::cells(D);
        let dx = 1.0 / f64::from(1u32 << level.index);
        let extent = f64::from(level.extent[self.axis]);
        let (mut slots, mut rate) = (Vec::new(), Vec::new());
        for slot in level.halo.own().into_iter().flatten() {
            let of_cell = |cell: usize| {
                let local = dims::unravel::<D>(cell, 4)[self.axis];
                let at = f64::from(4 * level.coord[slot][self.axis] + local) + 0.5;
                let distance = dx * if self.side == 0 { at } else { extent - at };
                match level.stepped[slot] >> cell & 1 {
                    // The same in a unit of time on each level, and less than all.
                    1 => -(-dx * self.rate(distance)).exp_m1(),
                    _ => 0.0,
                }
            };
            #[allow(clippy::cast_possible_truncation, reason = "a rate")]
            let row: Vec<f32> = (0..cells).map(|cell| of_cell(cell) as f32).collect();
            if row.iter().any(|&rate| rate > 0.0) {
                slots.push(slot as u32);
                rate.extend(row);
            }
        }
        Damped {
            density: 2 * self.axis + self.side,
            velocity: 2 * self.stream[0] + self.stream[1],
            slots,
            rate,
        }
    }
}

impl Damped<Host> {
    /// The same in a backend's memory.
    pub(crate) fn upload<B: Backend>(&self, backend: &B) -> Result<Damped<B>, SolverError> {
        Ok(Damped {
            density: self.density,
            velocity: self.velocity,
            slots: backend.upload(self.slots.clone())?,
            rate: backend.upload(self.rate.clone())?,
        })
    }
}

/// The sponges of a flow on a level, those that reach nothing there left out.
pub(crate) fn on<const D: usize>(params: &Params<D>, level: &Level<D, Host>) -> Vec<Damped<Host>> {
    let sponges = params.sponges.iter().map(|sponge| sponge.on(level));
    sponges.filter(|damped| !damped.slots.is_empty()).collect()
}

/// Checks the sponges of a flow in a box of so many root cells.
pub(crate) fn check<const D: usize>(
    params: &Params<D>,
    root_cells: [u32; D],
) -> Result<(), SolverError> {
    let has_profile = |axis: usize, side: usize| {
        let mut of_face = params.variations.iter();
        of_face.any(|v| v.place == Place::Face(axis, side) && v.has_profile())
    };
    let mut lengths = [[0.0; 2]; D];
    for sponge in &params.sponges {
        let Sponge {
            axis,
            side,
            length,
            strength,
            stream: [a, b],
        } = *sponge;
        let refuse = |name: &str, value: f64, expected: &str| {
            let name = format!("{name} of a sponge");
            let expected = expected.into();
            Err(SolverError::Parameter {
                name,
                value,
                expected,
            })
        };
        if axis.max(a) >= D || side.max(b) > 1 {
            let axis = axis.max(a) as f64;
            return refuse("the axis", axis, "a face of the box is needed");
        }
        if !(length.is_finite() && length > 0.0) {
            return refuse("the length", length, "a positive number is needed");
        }
        if !(strength.is_finite() && strength > 0.0) {
            return refuse("the strength", strength, "a positive number is needed");
        }
        if lengths[axis][side] > 0.0 {
            return refuse("the face", side as f64, "a face has one sponge at most");
        }
        lengths[axis][side] = length;
        if lengths[axis][0] + lengths[axis][1] > f64::from(root_cells[axis]) {
            return refuse("the length", length, "sponges have to fit into the box");
        }
        let own = params.faces[axis][side];
        if own == FaceCondition::Periodic || own == FaceCondition::Velocity([0.0; D]) {
            let reason = "a sponge lies before a periodic face or a wall at rest: it is for faces that let the flow pass or slip";
            return Err(SolverError::Mesh {
                reason: reason.into(),
            });
        }
        let is_stream = match params.faces[a][b] {
            FaceCondition::Velocity(v) => v != [0.0; D],
            FaceCondition::FarField { .. } => true,
            _ => false,
        };
        let varies = matches!(own, FaceCondition::Pressure(_)) && has_profile(axis, side);
        if !is_stream || has_profile(a, b) || varies || !params.has_opening() {
            let reason = "a sponge draws the flow to one density and one velocity: it needs a face with a velocity that is the same everywhere, a face of its own \
                with one density, and a box with an opening";
            return Err(SolverError::Mesh {
                reason: reason.into(),
            });
        }
    }
    Ok(())
}
