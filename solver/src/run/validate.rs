//! Whether a flow's tables are those of its mesh.

use super::{Run, level::State};
use crate::{
    LatticeFlow, SolverError,
    kernels::FlowKernels,
    lattice::Lattice,
    storage::Storage,
    tables::{self, Built},
};
use cutlink_device::Item;

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Compares the tables of all levels with those that the host makes of the mesh.
    pub(super) fn check_tables(&self) -> Result<(), SolverError> {
        let mut expected = match &self.movement {
            Some(movement) => movement.expected(self.plan.mesh, &self.plan.params)?,
            None => tables::build_checked(self.mesh()?, &self.plan.params)?,
        };
        for (built, state) in expected.iter_mut().zip(&self.levels) {
            if state.level.keeps_moments {
                built.keep_moments(L::Q);
            }
        }
        self.compare_tables(&expected.iter().collect::<Vec<_>>())
    }

    /// Compares the tables of all levels with these.
    pub(crate) fn compare_tables(&self, expected: &[&Built<D>]) -> Result<(), SolverError> {
        if expected.len() != self.levels.len() {
            let (levels, found) = (expected.len(), self.levels.len());
            let reason = format!("there are {found} levels, {levels} expected");
            return Err(SolverError::Tables { level: 0, reason });
        }
        let mut all = expected.iter().zip(&self.levels);
        all.try_for_each(|(expected, state)| self.compare(expected, state))
    }

    fn compare(&self, expected: &Built<D>, state: &State<D, S, B>) -> Result<(), SolverError> {
        let (table, found) = (&expected.level, &state.level);
        let broken = |reason: String| {
            let level = table.index;
            SolverError::Tables { level, reason }
        };
        let numbers = [
            ("slots", table.slots, found.slots),
            ("exchanging slots", table.exchanging, found.exchanging),
            ("special slots", table.special, found.special),
            ("slots with populations", table.populated, found.populated),
        ];
        for (what, expected, found) in numbers {
            if expected != found {
                return Err(broken(format!("{found} {what}, {expected} expected")));
            }
        }
        let differs = |what: &str| Err(broken(format!("{what} are not those of the mesh")));
        macro_rules! compare {
            ($($array:ident),+) => {
                $(
                    if !self.is_same(&table.$array, &found.$array)? {
                        return differs(stringify!($array));
                    }
                )+
            };
        }
        if !self.is_same(&expected.blocks, &state.blocks)? {
            return differs("blocks");
        }
        compare!(
            tiles, coord, neighbors, stepped, solid, ghost, overlaps, overlap_of
        );
        compare!(
            boundary, linked, walled, faced, bounded, cut, open, cell_start, cells, q, patch
        );
        compare!(profile_face, profile_link);
        Ok(())
    }

    fn is_same<V: Item>(&self, expected: &Vec<V>, found: &B::Buf<V>) -> Result<bool, SolverError> {
        Ok(*expected == self.backend.download(found)?)
    }
}
