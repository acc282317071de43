//! Running means and variances of density and velocity, in the memory of any backend.

use crate::{Snapshot, SolverError, kernels::FlowKernels};
use cutlink_device::{Backend, DeviceError, Host, Memory};
use rayon::prelude::*;
use std::{any::Any, borrow::Cow, fmt::Debug, ops::Range};

/// Values that are copied to the host at once: 16 MiB.
const VALUES_AT_ONCE: usize = 1 << 20;

/// Means and sums of squared deviations of density and velocity over the samples of a flow: see
/// [`LatticeFlow::sample`](crate::LatticeFlow::sample). By block id and cell of one mesh; once that has changed, its user makes new ones of
/// [`into_values`](Self::into_values).
///
/// Welford, Technometrics 4 (1962) 419, in double precision. The same bits on every backend and for any number of ranks.
#[derive(Debug)]
pub struct RunningMeans<const D: usize> {
    /// Cells of the mesh, solid ones and those of refined blocks included.
    cells: usize,
    samples: u64,
    /// None before the first sample, when all values are 0.
    held: Option<Box<dyn Held>>,
}

impl<const D: usize> RunningMeans<D> {
    /// Bytes of a cell of the mesh, refined blocks included, where the means are: their values, and density and velocity now.
    pub const BYTES: u64 = Self::VALUE_BYTES + 4 * (D as u64 + 1);

    /// Of these, those of the values.
    pub const VALUE_BYTES: u64 = 16 * (D as u64 + 1);

    /// Without samples, of a mesh with so many cells in its blocks. Takes no memory until there is a sample.
    pub fn new(cells: usize) -> Self {
        Self {
            cells,
            samples: 0,
            held: None,
        }
    }

    /// After so many samples: means and sums of squared deviations of density, then of each velocity, by block id and cell.
    ///
    /// # Panics
    /// Where 1 + D does not divide the number of values.
    pub fn of_values(samples: u64, values: Vec<[f64; 2]>) -> Self {
        assert!(values.len().is_multiple_of(1 + D), "1 + D values a cell");
        Self {
            cells: values.len() / (1 + D),
            samples,
            held: Some(Box::new(Place::of(&Host, values))),
        }
    }

    /// The values, as [`of_values`](Self::of_values) takes them; copied from a device. None where there are no samples yet.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub fn into_values(self) -> Result<Option<Vec<[f64; 2]>>, SolverError> {
        Ok(self.held.map(|held| held.unload()).transpose()?)
    }

    /// Number of samples so far.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Adds a sample that is on the host, where the means move.
    ///
    /// # Errors
    /// As [`LatticeFlow::sample`](crate::LatticeFlow::sample).
    pub fn add(&mut self, snapshot: &Snapshot<D>) -> Result<(), SolverError> {
        let len = snapshot.density.len();
        self.add_fields(&Host, len, |density, velocity: &mut Vec<f32>| {
            density.copy_from_slice(&snapshot.density);
            let rows = velocity.chunks_mut(len.max(1)).zip(&snapshot.velocity);
            rows.for_each(|(to, from)| to.copy_from_slice(from));
            Ok(())
        })
    }

    /// Adds a sample of so many cells, which `put` writes: densities, and velocities by axis. Solid cells may stay as they are.
    pub(crate) fn add_fields<B: FlowKernels<D>>(
        &mut self,
        backend: &B,
        cells: usize,
        put: impl FnOnce(&mut B::Buf<f32>, &mut B::Buf<f32>) -> Result<(), SolverError>,
    ) -> Result<(), SolverError> {
        if cells != self.cells {
            let reason = format!(
                "running means are of {} cells and the mesh has {cells}",
                self.cells
            );
            return Err(SolverError::State { reason });
        }
        let samples = self.samples + 1;
        let place = self.place(backend)?;
        let (mut density, mut velocity) = match place.now.take() {
            Some(now) => now,
            None => (
                backend.alloc("densities by block", cells, 1.0)?,
                backend.alloc("velocities by block", D * cells, 0.0)?,
            ),
        };
        put(&mut density, &mut velocity)?;
        let share = 1.0 / samples as f64;
        backend.accumulate(&density, &velocity, share, &mut place.values)?;
        place.now = Some((density, velocity));
        self.samples = samples;
        Ok(())
    }

    /// The values in the memory of a backend, where they move if they are elsewhere.
    fn place<B: Backend>(&mut self, backend: &B) -> Result<&mut Place<B>, SolverError> {
        let is_there = |held: &dyn Held| {
            let place = held.as_any().downcast_ref::<Place<B>>();
            place.is_some_and(|place| place.is_of(backend))
        };
        if !self.held.as_deref().is_some_and(is_there) {
            let values = match self.held.take() {
                Some(held) => backend.upload(held.unload()?)?,
                None => backend.alloc("averages", (1 + D) * self.cells, [0.0; 2])?,
            };
            self.held = Some(Box::new(Place::of(backend, values)));
        }
        let held = self.held.as_deref_mut().expect("it was put there above");
        let place = held.as_any_mut().downcast_mut();
        Ok(place.expect("it is of this backend"))
    }

    /// Calls with the values of some cells at a time, in order: of density, then of each velocity.
    ///
    /// # Errors
    /// Those of `each`, and as [`into_values`](Self::into_values).
    pub fn each_piece<E: From<SolverError>>(
        &self,
        mut each: impl FnMut(&[[f64; 2]]) -> Result<(), E>,
    ) -> Result<(), E> {
        (0..=D).try_for_each(|row| self.each_piece_of(row, &mut each))
    }

    /// Of density, or of a velocity.
    fn each_piece_of<E: From<SolverError>>(
        &self,
        row: usize,
        mut each: impl FnMut(&[[f64; 2]]) -> Result<(), E>,
    ) -> Result<(), E> {
        let end = (1 + row) * self.cells;
        for first in (row * self.cells..end).step_by(VALUES_AT_ONCE) {
            let range = first..end.min(first + VALUES_AT_ONCE);
            match &self.held {
                Some(held) => each(&held.part(range).map_err(SolverError::from)?)?,
                None => each(&vec![[0.0; 2]; range.len()])?,
            }
        }
        Ok(())
    }

    /// The means so far, as a snapshot of a step, on the host.
    ///
    /// # Errors
    /// As [`into_values`](Self::into_values).
    pub fn mean(&mut self, step: u64) -> Result<Snapshot<D>, SolverError> {
        self.snapshot(step, |[mean, _]| *mean)
    }

    /// The rms fluctuations about the means, likewise.
    ///
    /// # Errors
    /// As [`into_values`](Self::into_values).
    pub fn rms(&mut self, step: u64) -> Result<Snapshot<D>, SolverError> {
        let samples = self.samples.max(1) as f64;
        self.snapshot(step, |[_, squares]| (squares / samples).sqrt())
    }

    #[allow(clippy::cast_possible_truncation, reason = "snapshots are f32")]
    fn snapshot(
        &mut self,
        step: u64,
        of: impl Fn(&[f64; 2]) -> f64 + Sync,
    ) -> Result<Snapshot<D>, SolverError> {
        // On the host, the snapshot takes this memory.
        self.held.iter_mut().for_each(|held| held.free());
        let field = |row: usize| -> Result<Vec<f32>, SolverError> {
            let mut field = vec![0.0f32; self.cells];
            let mut rest = &mut field[..];
            self.each_piece_of::<SolverError>(row, |piece| {
                let (now, later) = std::mem::take(&mut rest).split_at_mut(piece.len());
                let values = now.par_iter_mut().zip(piece).with_min_len(1024);
                values.for_each(|(to, value)| *to = of(value) as f32);
                rest = later;
                Ok(())
            })?;
            Ok(field)
        };
        let density = field(0)?;
        let mut velocity = [const { Vec::new() }; D];
        for (a, of_axis) in velocity.iter_mut().enumerate() {
            *of_axis = field(1 + a)?;
        }
        Ok(Snapshot {
            step,
            density,
            velocity,
        })
    }
}

/// Values in the memory of a backend.
#[derive(Debug)]
struct Place<B: Backend> {
    backend: B,
    values: B::Buf<[f64; 2]>,
    /// Densities and velocities of the last sample, for the next one to take their memory.
    now: Option<(B::Buf<f32>, B::Buf<f32>)>,
}

impl<B: Backend> Place<B> {
    fn of(backend: &B, values: B::Buf<[f64; 2]>) -> Self {
        Self {
            backend: backend.clone(),
            values,
            now: None,
        }
    }

    fn is_of(&self, backend: &B) -> bool {
        B::MEMORY == Memory::Host || self.backend.shares_streams(backend)
    }
}

/// [`Place`] of any backend.
trait Held: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// The values on the host.
    fn unload(self: Box<Self>) -> Result<Vec<[f64; 2]>, DeviceError>;
    /// Some of them.
    fn part(&self, range: Range<usize>) -> Result<Cow<'_, [[f64; 2]]>, DeviceError>;
    /// Gives back all memory but that of the values.
    fn free(&mut self);
}

impl<B: Backend> Held for Place<B> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn unload(self: Box<Self>) -> Result<Vec<[f64; 2]>, DeviceError> {
        let Self {
            backend,
            values,
            now,
        } = *self;
        drop(now);
        backend.unload(values)
    }

    fn part(&self, range: Range<usize>) -> Result<Cow<'_, [[f64; 2]]>, DeviceError> {
        let here: &dyn Any = &self.values;
        match here.downcast_ref::<Vec<[f64; 2]>>() {
            Some(values) => Ok(Cow::Borrowed(&values[range])),
            None => Ok(Cow::Owned(self.backend.download_part(&self.values, range)?)),
        }
    }

    fn free(&mut self) {
        self.now = None;
    }
}
