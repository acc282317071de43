//! A mesh that follows the flow: wishes of a sensor to marks, marks to a new tree, and the state with it.
//!
//! 1. Wishes ([`Sensor`], `elements.rs`). Those to refine are in order: the strongest first, then coarse elements before fine ones, then
//!    the order of leaves.
//! 2. As many of them as the budget of elements lets be granted are, found by bisection with the tree closed each time.
//! 3. Elements beside granted ones, so many rings of them, are granted too unless they are finer, and none of them is
//!    coarsened (the buffer).
//! 4. Levels are kept, at bodies and by place as well, marks are closed under 2:1, and the tree is adapted ([`Leaves::adapt`]).
//! 5. The state goes along: copied, interpolated or projected ([`transfer`](crate::kernels::transfer)).

use crate::{
    EulerFlow, EulerParams, FrError, Primitive, Sensor,
    kernels::{Kernels, Moves, sizes},
    walls::WallsOf,
};
use cutlink_amr::linear::{Faces, Leaves};
use cutlink_device::{Backend, Host};

/// When and how a mesh follows the flow.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementAdaptation {
    /// Steps between adaptations.
    pub every: u64,
    /// What elements are refined and coarsened by.
    pub sensor: Sensor,
    /// The coarsest and the finest level; elements beyond them are refined or coarsened whatever the sensor says.
    pub levels: [u32; 2],
    /// Rings of elements around refined ones that are refined too.
    pub buffer: u32,
    /// Elements that refinement may lead to. A mesh that has more is not refined, but stays.
    pub most_elements: usize,
    /// The coarsest level of elements that touch a body from outside.
    pub at_bodies: u32,
    /// Levels by place.
    pub places: Vec<LevelsInBox>,
}

/// A place with levels of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelsInBox {
    /// The lower corner of a box; in 2D z counts for nothing.
    pub lower: [f64; 3],
    /// Its upper corner.
    pub upper: [f64; 3],
    /// The coarsest level of elements that share volume with the box, and the finest level that elements in it are
    /// refined to by the sensor. The finest of the flow bounds both.
    pub levels: [u32; 2],
}

/// What an adaptation did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ElementChanges {
    /// Elements that became 2^D each.
    pub refined: u64,
    /// Groups of 2^D elements that became one.
    pub coarsened: u64,
    /// Elements that the sensor wanted finer, and the budget did not let be.
    pub refused: u64,
}

/// An adaptation of a running flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElementLook {
    /// Steps done.
    pub step: u64,
    /// Elements afterwards.
    pub elements: u64,
    /// What it did.
    pub changes: ElementChanges,
    /// Wall time, s.
    pub seconds: f64,
}

/// Numbers in the arrays of a flow on a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lengths {
    pub(crate) state: usize,
    pub(crate) traces: usize,
    pub(crate) mortars: usize,
    pub(crate) states: usize,
    pub(crate) viscous: usize,
    pub(crate) rates: usize,
    pub(crate) wall_viscous: usize,
    pub(crate) walls: usize,
}

impl Lengths {
    /// For so many leaves, hanging faces and faces with walls.
    pub(crate) fn of<const D: usize>(
        params: &EulerParams<D>,
        leaves: usize,
        hanging: usize,
        walls: usize,
    ) -> Self {
        let q = params.order + 1;
        let if_viscous = |len| if params.viscosity.is_some() { len } else { 0 };
        Self {
            state: leaves * sizes::element(D, q),
            traces: 2 * D * leaves * sizes::trace(D, q),
            mortars: hanging * sizes::slot(D, q),
            states: if_viscous(hanging * sizes::common_slot(D, q)),
            viscous: if_viscous(leaves * sizes::viscous(D, q)),
            rates: if_viscous(leaves * sizes::rates(D, q)),
            wall_viscous: if_viscous(walls * sizes::gradient_trace(D, q)),
            walls: walls * sizes::wall(D, q),
        }
    }
}

impl ElementChanges {
    /// Whether the mesh is another one.
    pub fn is_any(&self) -> bool {
        self.refined > 0 || self.coarsened > 0
    }
}

impl ElementAdaptation {
    /// # Errors
    /// Where a number makes no sense, or keys cannot name elements of the finest level.
    pub(crate) fn validate(&self, limit: u32) -> Result<(), FrError> {
        self.sensor.validate()?;
        if self.every == 0 {
            return Err(FrError::NoInterval);
        }
        let [coarsest, finest] = self.levels;
        if self.at_bodies > finest || self.places.iter().any(|p| p.levels[0] > p.levels[1]) {
            return Err(FrError::Places);
        }
        if coarsest > finest || finest > limit {
            return Err(FrError::Levels {
                levels: self.levels,
                limit,
            });
        }
        Ok(())
    }
}

impl<const D: usize, T: Kernels<D>> EulerFlow<D, T> {
    /// From now on the mesh follows the flow, or with `None` stays: each time the number of steps is a multiple of
    /// [`every`](ElementAdaptation::every).
    ///
    /// # Errors
    /// Where a number makes no sense, or keys cannot name elements of the finest level.
    pub fn follow(&mut self, adaptation: Option<ElementAdaptation>) -> Result<(), FrError> {
        if let Some(adaptation) = &adaptation {
            adaptation.validate(self.leaves().grid().limit())?;
        }
        self.adaptation = adaptation;
        Ok(())
    }

    /// Sets the state as [`set`](Self::set) does, on a mesh that is adapted to it: so often that the finest level can be
    /// reached from the coarsest one, or until nothing changes.
    ///
    /// # Errors
    /// As [`adapt`](Self::adapt).
    pub fn set_adapted(
        &mut self,
        state: impl Fn([f64; D]) -> Primitive<D> + Sync,
    ) -> Result<(), FrError> {
        (T::host_functions().set_adapted)(self, &state)
    }

    pub(crate) fn set_adapted_here(
        &mut self,
        state: impl Fn([f64; D]) -> Primitive<D> + Sync,
    ) -> Result<(), FrError> {
        self.set_here(&state);
        let rounds = self.adaptation.as_ref().map_or(0, |a| a.levels[1] + 1);
        for _ in 0..rounds {
            if !self.adapt_here()?.is_any() {
                break;
            }
            self.set_here(&state);
        }
        Ok(())
    }

    /// Adapts the mesh to the state once, by one level at most. Does nothing where the mesh is to stay.
    ///
    /// # Errors
    /// Where memory is short, or elements are too many; the flow is as it was then.
    pub fn adapt(&mut self) -> Result<ElementChanges, FrError> {
        (T::host_functions().adapt)(self)
    }

    pub(crate) fn adapt_here(&mut self) -> Result<ElementChanges, FrError> {
        let Some(adaptation) = self.adaptation.clone() else {
            return Ok(ElementChanges::default());
        };
        let elements = self.seen(&self.leaves, &self.faces);
        let wishes = elements.wishes(&adaptation.sensor, |momentum| Ok(self.decays(momentum)))?;
        let (mut marks, refused) = elements.marks(&adaptation, &wishes)?;
        let changes = self.adapt_to_here(&mut marks)?;
        Ok(ElementChanges { refused, ..changes })
    }

    /// Adapts the mesh to marks, one [`Mark`](cutlink_amr::Mark) as u8 for each leaf, which are closed in place; the state goes
    /// along.
    /// Mass, momentum and energy stay to rounding.
    ///
    /// # Errors
    /// Where memory is short, or elements are too fine or too many; the flow is as it was then.
    ///
    /// # Panics
    /// Where `marks` has another length.
    pub fn adapt_to(&mut self, marks: &mut Vec<u8>) -> Result<ElementChanges, FrError> {
        (T::host_functions().adapt_to)(self, marks)
    }

    pub(crate) fn adapt_to_here(&mut self, marks: &mut Vec<u8>) -> Result<ElementChanges, FrError> {
        let mut leaves = self.leaves.clone();
        let adapted = leaves.adapt(&Host, marks)?;
        let changes = ElementChanges {
            refined: adapted.refined,
            coarsened: adapted.coarsened,
            refused: 0,
        };
        if !changes.is_any() {
            return Ok(changes);
        }
        let mut faces = leaves.faces(&Host)?;
        let walls = WallsOf::new(&self.params, &leaves, &mut faces, self.lower, self.edges)?;
        let mut masks = self.masks_of(&leaves)?;
        masks.keep_losses(&Host, &self.masks)?;
        let lengths = self.reserve(&leaves, &faces, walls.faces.len())?;
        self.start.resize(lengths.state, T::ZERO);
        let moves = Moves {
            marks,
            first: &adapted.first,
        };
        T::transfer(&self.basis, &moves, &self.u, &mut self.start);
        std::mem::swap(&mut self.u, &mut self.start);
        self.start.resize(lengths.state, T::ZERO);
        self.resize_rest(&lengths);
        self.take_mesh(leaves, faces, walls, masks);
        T::traces(&self.basis, &self.u, &mut self.traces);
        Ok(changes)
    }

    /// Makes room for the arrays of a tree, which keep their lengths and numbers.
    ///
    /// # Errors
    /// Where memory is short.
    pub(crate) fn reserve(
        &mut self,
        leaves: &Leaves<D>,
        faces: &Faces<D>,
        walls: usize,
    ) -> Result<Lengths, FrError> {
        let lengths = Lengths::of(&self.params, leaves.len(), faces.slots.len(), walls);
        let buffers = [
            ("the state", &mut self.u, lengths.state),
            (
                "the state at a step's start",
                &mut self.start,
                lengths.state,
            ),
            ("traces", &mut self.traces, lengths.traces),
            ("new traces", &mut self.next_traces, lengths.traces),
            (
                "fluxes of hanging faces",
                &mut self.mortars,
                lengths.mortars,
            ),
            ("common states", &mut self.states, lengths.states),
            ("viscous traces", &mut self.viscous, lengths.viscous),
            ("viscous rates", &mut self.viscous_rates, lengths.rates),
            (
                "viscous fluxes at walls",
                &mut self.wall_viscous,
                lengths.wall_viscous,
            ),
            ("fluxes through walls", &mut self.wall_fluxes, lengths.walls),
        ];
        for (what, buffer, len) in buffers {
            let before = buffer.len();
            Host.resize(what, buffer, len.max(before), T::ZERO)?;
            buffer.truncate(before);
        }
        Ok(lengths)
    }

    /// Gives all but the state the lengths of a tree, for which there is room.
    pub(crate) fn resize_rest(&mut self, lengths: &Lengths) {
        self.traces.resize(lengths.traces, T::ZERO);
        self.next_traces.resize(lengths.traces, T::ZERO);
        self.mortars.resize(lengths.mortars, T::ZERO);
        self.states.resize(lengths.states, T::ZERO);
        self.viscous.resize(lengths.viscous, T::ZERO);
        self.viscous_rates.resize(lengths.rates, T::ZERO);
        self.wall_viscous.resize(lengths.wall_viscous, T::ZERO);
        self.wall_fluxes.resize(lengths.walls, T::ZERO);
    }

    /// The tree.
    pub fn leaves(&self) -> &Leaves<D> {
        &self.leaves
    }
}
