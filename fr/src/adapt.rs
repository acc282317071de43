//! A mesh that follows the flow: wishes of a sensor to marks, marks to a new tree, and the state with it.
//!
//! 1. Wishes ([`Sensor`]). Those to refine are in order: the strongest first, then coarse elements before fine ones, then
//!    the order of leaves.
//! 2. As many of them as the budget of elements lets be granted are, found by bisection with the tree closed each time.
//! 3. Elements beside granted ones, so many rings of them, are granted too unless they are finer, and none of them is
//!    coarsened (the buffer).
//! 4. Levels are kept, marks are closed under 2:1, and the tree is adapted ([`Leaves::adapt`]).
//! 5. The state goes along: copied, interpolated or projected ([`transfer`](crate::kernels::transfer)).

use crate::{
    EulerFlow, FrError, Primitive, Sensor,
    kernels::{Kernels, Moves, sizes},
};
use cutlink_amr::{
    Mark,
    linear::{Face, Faces, Leaves},
};
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

/// Numbers in the arrays of a flow on a tree.
pub(crate) struct Lengths {
    pub(crate) state: usize,
    traces: usize,
    mortars: usize,
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
        self.set(&state);
        let rounds = self.adaptation.as_ref().map_or(0, |a| a.levels[1] + 1);
        for _ in 0..rounds {
            if !self.adapt()?.is_any() {
                break;
            }
            self.set(&state);
        }
        Ok(())
    }

    /// Adapts the mesh to the state once, by one level at most. Does nothing where the mesh is to stay.
    ///
    /// # Errors
    /// Where memory is short, or elements are too many; the flow is as it was then.
    pub fn adapt(&mut self) -> Result<ElementChanges, FrError> {
        let Some(adaptation) = self.adaptation.clone() else {
            return Ok(ElementChanges::default());
        };
        let (mut marks, refused) = self.marks(&adaptation)?;
        let changes = self.adapt_to(&mut marks)?;
        Ok(ElementChanges { refused, ..changes })
    }

    /// The marks of an adaptation, closed, and how many wishes the budget did not let be granted.
    pub(crate) fn marks(&self, adaptation: &ElementAdaptation) -> Result<(Vec<u8>, u64), FrError> {
        let wishes = self.wishes(&adaptation.sensor);
        let mut seeds: Vec<u32> = (0..wishes.len() as u32)
            .filter(|&leaf| wishes[leaf as usize] > 0.0)
            .collect();
        let strength = |leaf: &u32| wishes[*leaf as usize];
        seeds.sort_by(|a, b| {
            strength(b)
                .total_cmp(&strength(a))
                .then(self.leaves().level(*a).cmp(&self.leaves().level(*b)))
                .then(a.cmp(b))
        });
        let all = self.closed(adaptation, &wishes, &seeds)?;
        if self.len_with(&all) <= adaptation.most_elements {
            return Ok((all, 0));
        }
        // More wishes never give fewer elements. The first `few` fit (or none does), the first `many` do not.
        let (mut few, mut many) = (0, seeds.len());
        let mut marks = self.closed(adaptation, &wishes, &[])?;
        while many - few > 1 {
            let middle = few + (many - few) / 2;
            let more = self.closed(adaptation, &wishes, &seeds[..middle])?;
            if self.len_with(&more) <= adaptation.most_elements {
                (few, marks) = (middle, more);
            } else {
                many = middle;
            }
        }
        Ok((marks, (seeds.len() - few) as u64))
    }

    /// Closed marks, with the wishes of `seeds` granted.
    fn closed(
        &self,
        adaptation: &ElementAdaptation,
        wishes: &[f64],
        seeds: &[u32],
    ) -> Result<Vec<u8>, FrError> {
        let granted = self.with_rings(seeds, adaptation.buffer);
        let [coarsest, finest] = adaptation.levels;
        let mark = |leaf: usize| {
            let level = self.leaves().level(leaf as u32);
            if level < coarsest || granted[leaf] && level < finest {
                Mark::Refine
            } else if level > finest || wishes[leaf] < 0.0 && !granted[leaf] && level > coarsest {
                Mark::Coarsen
            } else {
                Mark::Keep
            }
        };
        let mut marks: Vec<u8> = (0..wishes.len()).map(|leaf| mark(leaf) as u8).collect();
        self.leaves().close(&Host, &mut marks)?;
        Ok(marks)
    }

    /// Elements after an adaptation to closed marks.
    fn len_with(&self, marks: &[u8]) -> usize {
        let count = |mark: Mark| marks.iter().filter(|&&m| m == mark as u8).count();
        let (refined, going) = (count(Mark::Refine), count(Mark::Coarsen));
        let more = (1 << D) - 1;
        marks.len() + more * refined - going / (1 << D) * more
    }

    /// By element, whether it is one of these, or in one of so many rings around them with no finer element between.
    fn with_rings(&self, seeds: &[u32], rings: u32) -> Vec<bool> {
        let mut granted = vec![false; self.leaves().len()];
        seeds.iter().for_each(|&leaf| granted[leaf as usize] = true);
        let mut outermost = seeds.to_vec();
        for _ in 0..rings {
            let mut next = Vec::new();
            for face in outermost.iter().flat_map(|&leaf| self.faces_of(leaf)) {
                let (Face::Same(beside) | Face::Coarser { leaf: beside, .. }) = face else {
                    continue;
                };
                if !std::mem::replace(&mut granted[beside as usize], true) {
                    next.push(beside);
                }
            }
            outermost = next;
        }
        granted
    }

    /// What lies beyond the faces of an element.
    fn faces_of(&self, leaf: u32) -> impl Iterator<Item = Face> {
        (0..2 * D).map(move |face| self.faces.at(leaf, face))
    }

    /// Adapts the mesh to marks, one [`Mark`] as u8 for each leaf, which are closed in place; the state goes along.
    /// Mass, momentum and energy stay to rounding.
    ///
    /// # Errors
    /// Where memory is short, or elements are too fine or too many; the flow is as it was then.
    ///
    /// # Panics
    /// Where `marks` has another length.
    pub fn adapt_to(&mut self, marks: &mut Vec<u8>) -> Result<ElementChanges, FrError> {
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
        let faces = leaves.faces(&Host)?;
        let lengths = self.reserve(&leaves, &faces)?;
        self.start.resize(lengths.state, T::ZERO);
        let moves = Moves {
            marks,
            first: &adapted.first,
        };
        T::transfer(&self.basis, &moves, &self.u, &mut self.start);
        std::mem::swap(&mut self.u, &mut self.start);
        self.start.resize(lengths.state, T::ZERO);
        self.resize_rest(&lengths);
        self.take_mesh(leaves, faces);
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
    ) -> Result<Lengths, FrError> {
        let q = self.params.order + 1;
        let lengths = Lengths {
            state: leaves.len() * sizes::element(D, q),
            traces: 2 * D * leaves.len() * sizes::trace(D, q),
            mortars: faces.slots.len() * sizes::slot(D, q),
        };
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
        ];
        for (what, buffer, len) in buffers {
            let before = buffer.len();
            Host.resize(what, buffer, len.max(before), T::ZERO)?;
            buffer.truncate(before);
        }
        Ok(lengths)
    }

    /// Gives traces and mortars the lengths of a tree, for which there is room.
    pub(crate) fn resize_rest(&mut self, lengths: &Lengths) {
        self.traces.resize(lengths.traces, T::ZERO);
        self.next_traces.resize(lengths.traces, T::ZERO);
        self.mortars.resize(lengths.mortars, T::ZERO);
    }

    /// The tree.
    pub fn leaves(&self) -> &Leaves<D> {
        &self.leaves
    }
}
