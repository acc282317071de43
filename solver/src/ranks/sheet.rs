//! What ranks would do, before anything is started.

use super::{
    check,
    part::{Outline, outlines, received, tables_of},
    partition::Partition,
};
use crate::{
    F16, LatticeKind, Plan, Precision, SolverError,
    lattice::{D2Q9, D3Q19, D3Q27},
    tables::Built,
};

/// Bytes of a place in a list of what crosses.
const PLACE: u64 = 8;

/// A rank of a flow, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct RankSheet {
    /// Blocks that it steps.
    pub blocks: u64,
    /// Blocks of other ranks that it has beside them.
    pub halo_blocks: u64,
    /// Its share of the work of all ranks, by an estimate of what special and plain blocks cost.
    pub work: f64,
    /// Bytes of populations and tables, of the lists of what crosses, and of messages.
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
            let parts = (0..).zip(&outlines).zip(&tables);
            let numbers: Vec<_> = parts
                .clone()
                .map(|((level, outline), _)| self.received(outline, partition.owners(level), ranks))
                .collect();
            let sheet = self.sheet(parts, &numbers, work as f64 / all.max(1) as f64);
            Ok((sheet, numbers))
        };
        let made = work.iter().enumerate().map(of_rank);
        let made = made.collect::<Result<Vec<_>, SolverError>>()?;
        let (mut sheets, numbers): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        for (rank, levels) in numbers.iter().enumerate() {
            let of_level = |level: &Vec<[u64; 2]>| level.clone().into_iter().enumerate();
            for (from, numbers) in levels.iter().flat_map(of_level) {
                let [here, there] = self.message_bytes(numbers);
                sheets[rank].bytes += here;
                sheets[from].bytes += there;
            }
        }
        Ok(sheets)
    }

    /// Bytes of a population and of a moment.
    fn number_bytes(&self) -> [u64; 2] {
        match self.params.precision {
            Precision::F16 => [2, 4],
            Precision::F32 => [4, 4],
            Precision::F64 => [8, 8],
        }
    }

    /// Bytes that lists and messages of so many numbers take in the rank that receives them, where a device has room for two of them,
    /// and in the one that sends them.
    fn message_bytes(&self, numbers: [u64; 2]) -> [u64; 2] {
        let of = |times: u64| -> u64 {
            let each = self.number_bytes().map(|bytes| PLACE + times * bytes);
            each[0] * numbers[0] + each[1] * numbers[1]
        };
        [of(2), of(1)]
    }

    fn received(&self, outline: &Outline, owners: &[u32], ranks: usize) -> Vec<[u64; 2]> {
        match self.params.lattice {
            LatticeKind::D2Q9 => received::<D, D2Q9>(outline, owners, ranks),
            LatticeKind::D3Q19 => received::<D, D3Q19>(outline, owners, ranks),
            LatticeKind::D3Q27 => received::<D, D3Q27>(outline, owners, ranks),
        }
    }

    fn sheet<'a>(
        &self,
        parts: impl Iterator<Item = ((usize, &'a Outline), &'a Built<D>)>,
        numbers: &[Vec<[u64; 2]>],
        work: f64,
    ) -> RankSheet {
        let q = self.params.lattice.velocities();
        let [population, moment] = self.number_bytes();
        let mut sheet = RankSheet {
            blocks: 0,
            halo_blocks: 0,
            work,
            bytes: 0,
            received: 0,
        };
        for ((level, outline), built) in parts {
            let halo: usize = outline.halo.0.iter().map(ExactSizeIterator::len).sum();
            sheet.halo_blocks += halo as u64;
            sheet.blocks += (outline.slots.len() - halo) as u64;
            sheet.bytes += match self.params.precision {
                Precision::F16 => built.level.bytes::<F16>(q),
                Precision::F32 => built.level.bytes::<f32>(q),
                Precision::F64 => built.level.bytes::<f64>(q),
            };
            let sum = |i: usize| numbers[level].iter().map(|of_rank| of_rank[i]).sum::<u64>();
            // The finest level has no ghost cells to make.
            let moments = if level + 1 == numbers.len() {
                0
            } else {
                sum(1)
            };
            sheet.received += (sum(0) * population + moments * moment) << level;
        }
        sheet
    }
}
