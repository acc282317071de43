//! A look at the flow, and the change of the mesh that follows from it: see [`crate::adapt`].

use super::{Run, level::State};
use crate::{
    Adaptation, AdaptationLook, Flow, InitialState, SolverError,
    adapt::{
        transfer::Before,
        wish::{self, Wishes},
    },
    kernels::{FlowKernels, Transfer},
    lattice::Lattice,
    real::Real,
    tables,
};
use cutlink_amr::{Mark, NONE, dims};
use cutlink_device::{Host, memory};
use cutlink_voxelizer::{AdaptedForest, Mesh, follow};
use std::{io, time::Instant};

/// Steps of a factor 2^(1/4) by which thresholds may be raised to keep a budget: up to 2^16.
const MOST_RAISED: u32 = 64;

/// A mesh that changes.
pub(super) struct OwnMesh<const D: usize> {
    pub(super) mesh: Mesh<D>,
    /// By block id, 1 for blocks that the plan's mesh has refined.
    held: Vec<u8>,
}

impl<const D: usize> OwnMesh<D> {
    fn of(mesh: &Mesh<D>) -> Result<Self, SolverError> {
        let mesh = mesh.download(&Host)?;
        let held = (0..mesh.forest.capacity() as u32).map(|id| u8::from(!mesh.forest.is_leaf(id)));
        Ok(Self {
            held: held.collect(),
            mesh,
        })
    }

    /// Takes an adapted forest, and returns by new block id the old one.
    fn take(&mut self, adapted: AdaptedForest<D>) -> Result<Vec<u32>, SolverError> {
        let old_of = self.mesh.take(adapted)?;
        self.held = follow(&self.held, &old_of, 0);
        Ok(old_of)
    }
}

/// Whether a point, in root cells, lies in a box.
fn contains<const D: usize>([lower, upper]: &[[f64; D]; 2], at: [f64; D]) -> bool {
    (0..D).all(|a| at[a] >= lower[a] && at[a] <= upper[a])
}

impl<const D: usize, L: Lattice, T: Real, B: FlowKernels<D>> Run<'_, D, L, T, B> {
    pub(super) fn adapt_if_due(&mut self) -> Result<(), SolverError> {
        let Some(adaptation) = &self.plan.params.adaptation else {
            return Ok(());
        };
        if !self.steps.is_multiple_of(adaptation.every) {
            return Ok(());
        }
        let clock = self.clock.take();
        let done = self.look(true);
        self.clock = clock;
        done.map(|_| ())
    }

    /// Goes back to the mesh of the plan, for another initial state.
    pub(super) fn forget_mesh(&mut self) -> Result<(), SolverError> {
        self.looks.clear();
        if self.own.take().is_none() {
            return Ok(());
        }
        self.epoch += 1;
        self.change_levels(None)
    }

    /// Fits the mesh to the initial state, which is set again on each mesh.
    pub(super) fn adapt_to_initial(&mut self, at: &InitialState<'_, D>) -> Result<(), SolverError> {
        let levels = self.plan.params.adaptation.as_ref().map_or(0, |a| a.levels);
        for _ in 0..levels {
            if !self.look(false)? {
                break;
            }
            self.set_fields(at)?;
        }
        Ok(())
    }

    /// Looks at the flow and adapts the mesh; whether it changed. Populations follow if they are to be kept.
    fn look(&mut self, keeps_flow: bool) -> Result<bool, SolverError> {
        let begin = Instant::now();
        let Some(adaptation) = self.plan.params.adaptation.clone() else {
            return Ok(false);
        };
        if self.own.is_none() {
            self.own = Some(OwnMesh::of(self.plan.mesh)?);
        }
        let wishes = self.wishes(&adaptation)?;
        let own = self.own.as_ref().expect("the mesh was copied above");
        let Fitted {
            adapted,
            leaves,
            raised,
        } = within_budget(own, &wishes, &adaptation)?;
        let mut look = AdaptationLook {
            step: self.steps,
            leaves,
            refined: adapted.refined as u64,
            coarsened: adapted.coarsened as u64,
            withheld: adapted.withheld as u64,
            raised,
            seconds: 0.0,
        };
        let is_change = adapted.is_change();
        if is_change {
            self.change(adapted, keeps_flow)?;
            self.epoch += 1;
        }
        look.seconds = begin.elapsed().as_secs_f64();
        self.looks.push(look);
        Ok(is_change)
    }

    /// Values of the leaves by the criteria.
    fn wishes(&self, adaptation: &Adaptation<D>) -> Result<Wishes, SolverError> {
        let own = self.own.as_ref().expect("a mesh that may change");
        let forest = &own.mesh.forest;
        let center = |id: u32| {
            let edge = 4.0 / f64::from(1u32 << forest.level[id as usize]);
            forest.coord[id as usize].map(|c| edge * (f64::from(c) + 0.5))
        };
        let most = |id: u32| {
            let limits = adaptation.limits.iter();
            let here = limits.filter(|limit| contains(&limit.within, center(id)));
            let least = here.map(|limit| limit.levels).min();
            least.map_or(adaptation.levels, |least| least.min(adaptation.levels)) as u8
        };
        let blocks = forest.capacity();
        let mut wishes = Wishes {
            hot: vec![0.0; blocks],
            cold: vec![0.0; blocks],
            levels: (0..blocks as u32).map(most).collect(),
        };
        for (state, table) in self.levels.iter().zip(&self.plan.tables) {
            let fields =
                self.backend
                    .macroscopic::<L, T>(&state.level, state.half_step, &state.now)?;
            for criterion in &adaptation.criteria {
                if self.steps < criterion.from_step {
                    continue;
                }
                let what = criterion.indicator;
                let values = self.backend.indicate(&state.level, what, &fields)?;
                let values = self.backend.download(&values)?;
                for (&id, value) in table.blocks.iter().zip(values) {
                    let is_outside = |within| !contains(within, center(id));
                    if !forest.is_leaf(id) || criterion.within.as_ref().is_some_and(is_outside) {
                        continue;
                    }
                    #[allow(clippy::cast_possible_truncation, reason = "values are f32")]
                    let [refine, coarsen] = [
                        criterion.refine as f32,
                        (criterion.refine * criterion.coarsen) as f32,
                    ];
                    let at = id as usize;
                    wishes.hot[at] = wishes.hot[at].max(value / refine);
                    wishes.cold[at] = wishes.cold[at].max(value * what.one_up() / coarsen);
                }
            }
        }
        Ok(wishes)
    }

    /// Gives the flow the adapted mesh.
    fn change(&mut self, adapted: AdaptedForest<D>, keeps_flow: bool) -> Result<(), SolverError> {
        let own = self.own.as_mut().expect("a mesh that may change");
        let before = Before::new(&own.mesh.forest, &self.plan.tables);
        let old_of = own.take(adapted)?;
        self.change_levels(keeps_flow.then_some((&before, &old_of)))
    }

    /// Makes the levels anew for the mesh as it is, with populations from those of the old ones if these are given.
    fn change_levels(&mut self, from: Option<(&Before, &[u32])>) -> Result<(), SolverError> {
        self.plan.tables = tables::build(self.mesh(), &self.plan.params)?;
        self.forget_graphs();
        // Between root steps these hold nothing that is read again: their memory is wanted for the new levels.
        for state in &mut self.levels {
            state.next = self.backend.upload(Vec::new())?;
            state.moments = self.backend.upload(Vec::new())?;
        }
        let mut fresh = Vec::new();
        for host in &self.plan.tables {
            fresh.push(State::<D, T, B>::bare(&self.plan, host, &self.backend)?);
        }
        for (level, state) in fresh.iter_mut().enumerate() {
            // What varies in time is as it was.
            if let Some(old) = self.levels.get(level) {
                (state.relax, state.half_step) = (old.relax, old.half_step);
            }
            state.now = state.allocate::<L>(&self.backend)?;
        }
        if let Some((before, old_of)) = from {
            self.seed(before, old_of, &mut fresh)?;
        }
        self.levels = fresh;
        for state in &mut self.levels {
            state.next = state.allocate::<L>(&self.backend)?;
        }
        self.rules.clear();
        self.set_clocks()
    }

    /// Populations of the new levels, from those of the old ones.
    fn seed(
        &self,
        before: &Before,
        old_of: &[u32],
        fresh: &mut [State<D, T, B>],
    ) -> Result<(), SolverError> {
        let forest = &self
            .own
            .as_ref()
            .expect("a mesh that may change")
            .mesh
            .forest;
        for level in 0..fresh.len() {
            let blocks = &self.plan.tables[level].blocks;
            let (sources, groups) = before.sources(forest, blocks, old_of);
            let (sources, groups) = (self.backend.upload(sources)?, self.backend.upload(groups)?);
            let target = &fresh[level];
            let coarser = level
                .checked_sub(1)
                .and_then(|above| self.levels.get(above));
            let transfer = Transfer {
                sources: &sources,
                groups: &groups,
                same: self.levels.get(level).map(|old| &old.now),
                coarser: coarser.map(|old| target.origin(old, 0.5)),
                finer: self
                    .levels
                    .get(level + 1)
                    .map(|old| target.origin(old, 2.0)),
            };
            let mut to = self.backend.upload(Vec::new())?;
            std::mem::swap(&mut to, &mut fresh[level].now);
            self.backend.seed::<L, T>(&transfer, &mut to)?;
            fresh[level].now = to;
        }
        Ok(())
    }

    /// The number of blocks, and a bit for each that is refined, in the order of the canonical ids.
    pub(super) fn topology(&self) -> Vec<u8> {
        let first_child = &self.mesh().forest.first_child;
        let mut bytes = (first_child.len() as u64).to_le_bytes().to_vec();
        let bits = first_child.chunks(8).map(|of| {
            let bit = |(n, &first): (usize, &u32)| u8::from(first != NONE) << n;
            of.iter().enumerate().map(bit).sum::<u8>()
        });
        bytes.extend(bits);
        bytes
    }

    /// Gives the flow the mesh of a topology that was written; populations are unspecified then.
    pub(super) fn read_topology(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let refuse = || SolverError::State {
            reason: "its blocks are not a refinement of this mesh".into(),
        };
        let mut word = [0; 8];
        from.read_exact(&mut word)?;
        let blocks = usize::try_from(u64::from_le_bytes(word)).map_err(|_| refuse())?;
        if blocks > u32::MAX as usize {
            return Err(refuse());
        }
        let mut bits = memory::with_capacity("refined blocks", blocks.div_ceil(8))?;
        bits.resize(blocks.div_ceil(8), 0u8);
        from.read_exact(&mut bits)?;
        let is_refined = |id: usize| {
            bits.get(id / 8)
                .is_some_and(|byte| byte >> (id % 8) & 1 == 1)
        };
        let mut own = OwnMesh::of(self.plan.mesh)?;
        // Ids are canonical, so those of a level follow from what is refined on the coarser ones.
        for level in 0.. {
            let forest = &own.mesh.forest;
            let Some(ids) = forest.levels.get(level) else {
                break;
            };
            let mut marks = vec![Mark::Keep as u8; forest.capacity()];
            for &id in ids {
                match (is_refined(id as usize), forest.is_leaf(id)) {
                    (true, true) => marks[id as usize] = Mark::Refine as u8,
                    (false, false) => return Err(refuse()),
                    _ => {}
                }
            }
            let adapted = own.mesh.adapted(marks, &own.held)?;
            if adapted.withheld > 0 {
                return Err(refuse());
            }
            if adapted.is_change() {
                own.take(adapted)?;
            }
        }
        if own.mesh.forest.capacity() != blocks {
            return Err(refuse());
        }
        self.own = Some(own);
        self.epoch += 1;
        self.change_levels(None)
    }
}

/// An adapted forest.
struct Fitted<const D: usize> {
    adapted: AdaptedForest<D>,
    /// By level.
    leaves: Vec<u64>,
    /// The factor by which thresholds were raised.
    raised: f64,
}

/// The forest adapted to wishes, with thresholds raised by the least power of 2^(1/4) with which the leaf cells stay within
/// the budget.
fn within_budget<const D: usize>(
    own: &OwnMesh<D>,
    wishes: &Wishes,
    adaptation: &Adaptation<D>,
) -> Result<Fitted<D>, SolverError> {
    let attempt = |quarters: u32| {
        let raised = (f64::from(quarters) / 4.0).exp2();
        #[allow(clippy::cast_possible_truncation, reason = "values are f32")]
        let marks = wish::marks(&own.mesh.forest, wishes, adaptation.buffer, raised as f32);
        let adapted = own.mesh.adapted(marks, &own.held)?;
        let leaves = adapted.leaves();
        Ok::<_, SolverError>(Fitted {
            adapted,
            leaves,
            raised,
        })
    };
    let fits = |found: &Fitted<D>| {
        found.leaves.iter().sum::<u64>() * dims::cells(D) as u64 <= adaptation.max_cells
    };
    let found = attempt(0)?;
    if fits(&found) {
        return Ok(found);
    }
    // The number of cells falls as thresholds rise.
    let (mut low, mut high, mut best) = (0, MOST_RAISED, None);
    while high - low > 1 {
        let middle = (low + high) / 2;
        let found = attempt(middle)?;
        if fits(&found) {
            (high, best) = (middle, Some(found));
        } else {
            low = middle;
        }
    }
    best.map_or_else(|| attempt(high), Ok)
}

#[cfg(test)]
mod tests;
