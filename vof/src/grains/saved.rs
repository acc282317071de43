//! The state of grains in a flow as bytes, to the bit.

use crate::TwoPhaseError;
use crate::flow::TwoPhaseFlow;
use crate::grain_cells::RigidMotion;
use crate::penalty::GrainSum;
use cutlink_grains::Bed;

/// Two vectors of a grain.
fn sum_of(numbers: &[f64], grain: usize) -> GrainSum {
    [0, 1].map(|i| std::array::from_fn(|a| numbers[6 * grain + 3 * i + a]))
}

/// Magic of a saved coupling.
const MAGIC: &[u8; 8] = b"CUTCOUPL";

/// Bytes a grain: place; contact force and torque; motion; momentum of the displaced fluid.
const SAVED: usize = 8 * 21;

impl<const D: usize> TwoPhaseFlow<D> {
    /// The state of the grains as bytes, beside [`save`](Self::save); empty without a bed.
    ///
    /// # Errors
    /// Memory.
    pub fn save_grains(&self) -> Result<Vec<u8>, TwoPhaseError> {
        let Some(of) = &self.grains else {
            return Ok(Vec::new());
        };
        let bed = of.bed.save()?;
        // Not a number before the first step.
        let none = || vec![[[f64::NAN; 3]; 2]; of.places.len()];
        let interior = of.interior.clone().unwrap_or_else(none);
        let mut bytes = cutlink_device::memory::with_capacity(
            "a saved state of grains",
            MAGIC.len() + SAVED * of.places.len() + bed.len(),
        )?;
        bytes.extend_from_slice(MAGIC);
        let numbers = (of.places.as_flattened().iter())
            .chain(of.contact.as_flattened().as_flattened())
            .chain(of.held_at.iter().flat_map(|m| m.u.iter().chain(&m.w)))
            .chain(interior.as_flattened().as_flattened());
        for x in numbers {
            bytes.extend_from_slice(&x.to_le_bytes());
        }
        bytes.extend_from_slice(&bed);
        Ok(bytes)
    }

    /// Goes on from grains of [`save_grains`](Self::save_grains), after [`restore`](Self::restore), with the same bits. The flow
    /// has a bed of the same parameters and as many grains.
    ///
    /// # Errors
    /// Bytes that are none of such a bed.
    pub fn restore_grains(&mut self, bytes: &[u8]) -> Result<(), TwoPhaseError> {
        let Some(of) = &mut self.grains else {
            return match bytes.is_empty() {
                true => Ok(()),
                false => Err(TwoPhaseError::SavedGrains),
            };
        };
        let n = of.places.len();
        let (head, bed) = bytes
            .strip_prefix(MAGIC)
            .and_then(|rest| rest.split_at_checked(SAVED * n))
            .ok_or(TwoPhaseError::SavedGrains)?;
        let numbers: Vec<f64> = (head.as_chunks::<8>().0.iter())
            .map(|x| f64::from_le_bytes(*x))
            .collect();
        let (places, rest) = numbers.split_at(3 * n);
        let (contact, rest) = rest.split_at(6 * n);
        let (held, interior) = rest.split_at(6 * n);
        let bed = Bed::restore(of.bed.params().clone(), of.bed.surface().cloned(), bed)?;
        let same = bed.len() == n && bed.masses() == of.masses;
        let is_known = interior.iter().all(|x| x.is_finite());
        let is_sound = numbers[..15 * n].iter().all(|x| x.is_finite());
        if !same || !is_sound || !(is_known || interior.iter().all(|x| x.is_nan())) {
            return Err(TwoPhaseError::SavedGrains);
        }
        for (k, place) in of.places.iter_mut().enumerate() {
            *place = std::array::from_fn(|a| places[3 * k + a]);
        }
        for (k, sum) in of.contact.iter_mut().enumerate() {
            *sum = sum_of(contact, k);
        }
        for (k, motion) in of.held_at.iter_mut().enumerate() {
            let [u, w] = sum_of(held, k);
            *motion = RigidMotion { u, w };
        }
        of.bed = bed;
        of.interior = is_known.then(|| (0..n).map(|k| sum_of(interior, k)).collect());
        Ok(())
    }
}
