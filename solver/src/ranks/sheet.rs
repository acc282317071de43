//! What ranks would do, before anything is started.

use super::{
    check,
    part::{Outline, outlines, streamed, tables_of},
    partition::Partition,
};
use crate::{
    F16, LatticeKind, Plan, Precision, SolverError,
    kernels::exchanged,
    lattice::{D2Q9, D3Q19, D3Q27},
    tables::Built,
};
use cutlink_amr::dims;

/// A rank of a flow, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct RankSheet {
    /// Blocks that it steps.
    pub blocks: u64,
    /// Blocks of other ranks that it has beside them.
    pub halo_blocks: u64,
    /// Its share of the work of all ranks, by an estimate of what special and plain blocks cost.
    pub work: f64,
    /// Bytes of populations and tables.
    pub bytes: u64,
    /// Bytes that it receives in a root step.
    pub received: u64,
}

impl<const D: usize> Plan<'_, D> {
    /// How the flow would be shared among so many ranks. Cost: the tables of all ranks, one after the other.
    ///
    /// # Errors
    /// As [`start_ranks`](Self::start_ranks), but for memory.
    pub fn ranks(&self, ranks: usize) -> Result<Vec<RankSheet>, SolverError> {
        check(self, ranks)?;
        let partition = Partition::new(&self.tables, ranks);
        let work = partition.work(&self.tables);
        let all: u64 = work.iter().sum();
        let of_rank = |(rank, &work): (usize, &u64)| {
            let outlines = outlines(&self.tables, &partition, rank);
            let tables = tables_of(&self.tables, &partition, &outlines, &self.params)?;
            let parts: Vec<_> = outlines.iter().zip(&tables).collect();
            Ok(self.sheet(&parts, work as f64 / all.max(1) as f64))
        };
        work.iter().enumerate().map(of_rank).collect()
    }

    fn sheet(&self, parts: &[(&Outline, &Built<D>)], work: f64) -> RankSheet {
        let q = self.params.lattice.velocities();
        let (population, moment) = match self.params.precision {
            Precision::F16 => (2, 4),
            Precision::F32 => (4, 4),
            Precision::F64 => (8, 8),
        };
        let count = |of: fn(&Outline) -> usize| {
            parts
                .iter()
                .map(|(outline, _)| of(outline) as u64)
                .sum::<u64>()
        };
        let halo = count(|outline| outline.halo.0.iter().map(ExactSizeIterator::len).sum());
        let received = |&(outline, built): &(&Outline, &Built<D>)| {
            let populations = match self.params.lattice {
                LatticeKind::D2Q9 => streamed::<D, D2Q9>(outline),
                LatticeKind::D3Q19 => streamed::<D, D3Q19>(outline),
                LatticeKind::D3Q27 => streamed::<D, D3Q27>(outline),
            };
            let moments = outline.halo.0[0].len() * exchanged(D) * dims::cells(D);
            // The finest level has no ghost cells to make.
            let is_finest = built.level.index + 1 == parts.len();
            let moments = if is_finest { 0 } else { moments };
            ((populations * population + moments * moment) as u64) << built.level.index
        };
        let bytes = |(_, built): &(&Outline, &Built<D>)| match self.params.precision {
            Precision::F16 => built.level.bytes::<F16>(q),
            Precision::F32 => built.level.bytes::<f32>(q),
            Precision::F64 => built.level.bytes::<f64>(q),
        };
        RankSheet {
            blocks: count(|outline| outline.slots.len()) - halo,
            halo_blocks: halo,
            work,
            bytes: parts.iter().map(bytes).sum(),
            received: parts.iter().map(received).sum(),
        }
    }
}
