//! What ranks would do, before anything is started.

use super::{
    check,
    part::{Outline, count, outlines, received, tables_of},
    partition::Partition,
};
use crate::{
    CellStorage, F16, LatticeKind, Plan, Precision, SolverError,
    lattice::{D2Q9, D3Q19, D3Q27},
    plan::builds,
    tables::{self, Built},
};
use cutlink_device::Memory;

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
    /// Exchanges of messages in a root step, each of which waits for the one before; the same for all ranks.
    pub exchanges: u64,
}

/// Exchanges in a root step, by whether any rank receives populations and moments on a level: after each step of the finest level, of
/// the levels whose steps end with it; of moments first, where finer levels follow.
fn exchanges(receive: &[[bool; 2]]) -> u64 {
    let finest = receive.len() - 1;
    let after = |step: u64| {
        let first = finest - step.trailing_zeros() as usize;
        let any = |list: usize| u64::from(receive[first..].iter().any(|level| level[list]));
        any(0) + any(1)
    };
    (1..=1 << finest).map(after).sum()
}

impl<const D: usize> Plan<'_, D> {
    /// How the flow would be shared among so many ranks in this kind of memory. Cost: the tables of all ranks, one after the
    /// other; where cells keep moments, those of the whole flow again.
    ///
    /// # Errors
    /// As [`start_ranks`](Self::start_ranks), but for memory.
    pub fn ranks(&self, ranks: usize, memory: Memory) -> Result<Vec<RankSheet>, SolverError> {
        (builds::<D>().ranks)(self, ranks, memory)
    }

    pub(crate) fn rank_sheets(
        &self,
        ranks: usize,
        memory: Memory,
    ) -> Result<Vec<RankSheet>, SolverError> {
        if ranks > 1 {
            self.check_ranks()?;
        }
        check(self, ranks)?;
        let mut partition = Partition::new(&self.tables, ranks, self.step_costs(memory));
        let own;
        let tables = match self.cell_storage(memory) {
            CellStorage::Populations => &self.tables,
            CellStorage::Moments => {
                let mut made = tables::build_checked(self.mesh, &self.params)?;
                partition.reorder(&self.keep_moments(memory, &mut made));
                own = made;
                &own
            }
        };
        let work = partition.work(tables);
        let all: u64 = work.iter().sum();
        let of_rank = |(rank, &work): (usize, &u64)| {
            let outlines = outlines(tables, &partition, rank);
            let tables = tables_of(tables, &partition, &outlines, &self.params)?;
            let parts = (0..).zip(&outlines).zip(&tables);
            let numbers: Vec<_> = parts
                .clone()
                .map(|((level, outline), _)| self.received(outline, partition.owners(level), ranks))
                .collect();
            let sheet = self.sheet(parts, &numbers, work as f64 / all.max(1) as f64);
            let receives: Vec<_> = outlines.iter().map(Outline::receives).collect();
            Ok((sheet, numbers, receives))
        };
        let made = work.iter().enumerate().map(of_rank);
        let made = made.collect::<Result<Vec<_>, SolverError>>()?;
        let (mut sheets, mut numbers) = (Vec::new(), Vec::new());
        let mut receive = vec![[false; 2]; self.tables.len()];
        for (sheet, of_rank, receives) in made {
            sheets.push(sheet);
            numbers.push(of_rank);
            for (all, of_level) in receive.iter_mut().zip(receives) {
                (0..2).for_each(|list| all[list] |= of_level[list]);
            }
        }
        let exchanges = exchanges(&receive);
        for sheet in &mut sheets {
            sheet.exchanges = exchanges;
        }
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
            exchanges: 0,
        };
        for ((level, outline), built) in parts {
            let halo = count(&outline.halo.0);
            sheet.halo_blocks += halo as u64;
            sheet.blocks += (outline.slots.len() - halo) as u64;
            sheet.bytes += match self.params.precision {
                Precision::F16 => built.level.bytes::<F16>(q),
                Precision::F32 => built.level.bytes::<f32>(q),
                Precision::F64 => built.level.bytes::<f64>(q),
            };
            let sum = |i: usize| numbers[level].iter().map(|of_rank| of_rank[i]).sum::<u64>();
            sheet.received += (sum(0) * population + sum(1) * moment) << level;
        }
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::exchanges;

    /// Of a level whose finer one is shared, of the finest one that is shared, and of one that is not.
    const BOTH: [bool; 2] = [true, true];
    const LAST: [bool; 2] = [true, false];
    const NONE: [bool; 2] = [false, false];

    #[test]
    fn levels_that_meet_share_their_exchanges() {
        // 1.5 · 2^(L-1), and one of populations alone where there is one level.
        let of = |levels: usize| exchanges(&[vec![BOTH; levels - 1], vec![LAST]].concat());
        assert_eq!([1, 2, 4, 5, 6].map(of), [1, 3, 12, 24, 48]);
    }

    #[test]
    fn levels_of_one_rank_take_no_exchanges() {
        assert_eq!(exchanges(&[LAST, NONE, NONE, NONE]), 1);
        assert_eq!(exchanges(&[BOTH, LAST, NONE, NONE]), 3);
        assert_eq!(exchanges(&[BOTH, BOTH, LAST, NONE]), 6);
        assert_eq!(exchanges(&[BOTH, NONE]), 2);
        assert_eq!(exchanges(&[NONE, NONE, NONE]), 0);
    }
}
