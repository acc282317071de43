//! A mesh that follows the interface.
//!
//! A *look* decides for each block of a level whether it is to have children: where both phases are in it or within a
//! margin around it, where an opening lets in the other phase, where the vorticity asks for it, or where the mesh is
//! refined for good (its *floor*). The decision is the same for a leaf and for a refined block, so that a second look
//! changes nothing. Then the forest is closed under 2:1, ids become canonical, and the fields go along (`transfer`).
//!
//! Looks are due where the interface is within two cells of the finest level of a leaf that could be refined: one for the
//! step to come, which moves it into the next cell at most, and one for what a new plane may reach. So mixed cells are on
//! the finest level at all times. Each step tells whether that is so (`survey`), so that gas that is faster than the
//! interface asks for no looks. They are due after 16 cells of the fastest fluid as well, for what the interface has left.
//! Where vorticity refines, or grains, which no step looks for, the sum of the Courant numbers since the last look stays two
//! cells below the margin. Cost of a look: a pass over the blocks; with a change, that of setting up a flow.

use crate::compiled::compiled;
use crate::constants::NEAR;
use crate::flow::TwoPhaseFlow;
use crate::interface::Kind;
use crate::mesh::FlowMesh;
use crate::params::{BoxFace, FlowParams};
use crate::running::{Fields, Running};
use crate::{TwoPhaseError, survey, transfer, velocity};
use cutlink_amr::{ChangeKernels, Forest, Mark, OUTSIDE, Refined, dims};
use cutlink_device::{Host, memory};
use cutlink_elliptic::Beside;
use rayon::prelude::*;
use std::time::Instant;

/// Cells between the interface and the end of the margin when the mesh has to follow at the latest.
const RESERVE: f64 = 2.0;

/// Cells that the fastest fluid may move until the mesh has to be coarsened where the interface has left.
const LEFT: f64 = 16.0;

/// Factor by which thresholds rise where the budget asks for it, and how often at most.
const RAISE: f64 = 1.25;
const RAISES: usize = 60;

/// How a mesh follows the interface.
#[derive(Debug, Clone, PartialEq)]
pub struct InterfaceAdaptation {
    /// Most levels, the root included; the interface is on the finest.
    pub levels: usize,
    /// Cells of the finest level around the interface that are on this level too: 3 to 8.
    pub margin: u32,
    /// Vorticity times the cell's width above which a block is refined, m/s; none: the interface alone counts.
    pub vorticity: Option<f64>,
    /// Share of `vorticity` below which children are taken again.
    pub coarsen: f64,
    /// Most cells of leaves; the vorticity's threshold rises where it asks for more.
    pub max_cells: u64,
}

impl InterfaceAdaptation {
    pub(crate) fn check(&self) -> Result<(), TwoPhaseError> {
        let levels = self.levels as f64;
        crate::check(
            "the levels of the adaptation",
            levels,
            (1.0..=16.0).contains(&levels),
            "1 to 16",
        )?;
        let margin = f64::from(self.margin);
        crate::check(
            "the margin of the adaptation",
            margin,
            (3.0..=8.0).contains(&margin),
            "3 to 8 cells",
        )?;
        let refine = self.vorticity.unwrap_or(1.0);
        crate::check(
            "the vorticity of the adaptation",
            refine,
            refine > 0.0 && refine.is_finite(),
            "positive, in m/s",
        )?;
        let share = self.coarsen;
        crate::check(
            "the coarsening share of the adaptation",
            share,
            share > 0.0 && share < 1.0,
            "between 0 and 1",
        )
    }
}

/// A look at a flow whose mesh follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct InterfaceLook {
    /// Leaves by level, after it.
    pub leaves: Vec<u64>,
    /// Leaves that were given children.
    pub refined: u64,
    /// Blocks whose children were taken.
    pub coarsened: u64,
    /// Leaves that the vorticity wanted finer, and the budget did not let be.
    pub withheld: u64,
    /// Factor of the vorticity's threshold, above 1 where the budget required it.
    pub raised: f64,
    /// Wall time, s.
    pub seconds: f64,
    /// What it was spent on.
    pub parts: LookParts,
}

/// Wall times of the parts of a look, s.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LookParts {
    /// The pass over the blocks, with what a GPU still had to do before.
    pub seen: f64,
    /// Marks, and their balance.
    pub marks: f64,
    /// The forest.
    pub forest: f64,
    /// The mesh of the flow.
    pub mesh: f64,
    /// Its tables on a GPU, and the fields.
    pub fields: f64,
}

impl LookParts {
    /// The same with those of another look.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self {
            seen: self.seen + other.seen,
            marks: self.marks + other.marks,
            forest: self.forest + other.forest,
            mesh: self.mesh + other.mesh,
            fields: self.fields + other.fields,
        }
    }
}

/// Seconds since the last call.
fn lap(since: &mut Instant) -> f64 {
    let now = Instant::now();
    let seconds = (now - *since).as_secs_f64();
    *since = now;
    seconds
}

/// What a flow keeps whose mesh follows it.
#[derive(Debug)]
pub(crate) struct Following<const D: usize> {
    pub(crate) forest: Forest<D>,
    floor: Forest<D>,
    adaptation: InterfaceAdaptation,
    /// Cells that the fluid may have moved since the last look.
    pub(crate) path: f64,
}

/// Whether a forest has children at a block of another one.
fn is_refined_in<const D: usize>(forest: &Forest<D>, level: usize, at: [i32; D]) -> bool {
    let found = forest.find(level, at);
    found.is_some_and(|id| usize::from(forest.level[id as usize]) == level && !forest.is_leaf(id))
}

impl<const D: usize> TwoPhaseFlow<D> {
    /// From now on the mesh follows the interface: `forest` is that of the flow's mesh, and blocks that have children in
    /// `floor` keep them.
    ///
    /// # Errors
    /// Parameters out of their range.
    ///
    /// # Panics
    /// Where the forest is another one than that of the mesh.
    pub fn follow(
        &mut self,
        forest: Forest<D>,
        floor: Forest<D>,
        adaptation: InterfaceAdaptation,
    ) -> Result<(), TwoPhaseError> {
        adaptation.check()?;
        let same = forest.capacity() == self.mesh.blocks().len() && forest.root == floor.root;
        assert!(same, "the forest of the flow");
        self.following = Some(Following {
            forest,
            floor,
            adaptation,
            path: f64::INFINITY,
        });
        Ok(())
    }

    /// The forest of a mesh that follows the interface.
    pub fn forest(&self) -> Option<&Forest<D>> {
        self.following.as_ref().map(|f| &f.forest)
    }

    /// Looks at the flow and adapts its mesh if the next step could take the interface out of the margin.
    ///
    /// # Errors
    /// More cells at the interface than the budget has, too little memory; the flow is as it was then.
    pub fn adapt_if_due(&mut self) -> Result<Option<InterfaceLook>, TwoPhaseError> {
        match self.look_if_due() {
            Ok(None) => Ok(None),
            looked => self.end(looked),
        }
    }

    pub(crate) fn look_if_due(&mut self) -> Result<Option<InterfaceLook>, TwoPhaseError> {
        match self.is_look_due() {
            true => self.look().map(Some),
            false => Ok(None),
        }
    }

    fn is_look_due(&mut self) -> bool {
        let Some(following) = &self.following else {
            return false;
        };
        let next = self.params.courant + self.cells_behind();
        let levels = self.levels_by_edge();
        if levels == 0 {
            let most = f64::from(following.adaptation.margin) - RESERVE;
            return following.path + next > most;
        }
        // In two parts of a step, of at most half a cell each, the interface comes two cells further.
        if following.path + next > LEFT || next > 1.0 {
            return true;
        }
        let find = || survey::is_at_edge(&self.mesh, &self.host.fields.alpha, levels);
        *self.is_at_edge.get_or_insert_with(find)
    }

    /// The levels of a mesh that follows the interface alone, whose looks are due by where that is; else none.
    pub(crate) fn levels_by_edge(&self) -> usize {
        let interface_alone =
            |f: &&Following<D>| f.adaptation.vorticity.is_none() && self.grains.is_none();
        let following = self.following.as_ref().filter(interface_alone);
        following.map_or(0, |f| f.adaptation.levels)
    }

    /// Looks at the flow and adapts its mesh.
    ///
    /// # Errors
    /// As [`adapt_if_due`](Self::adapt_if_due).
    ///
    /// # Panics
    /// Where the mesh is to stay.
    pub fn adapt(&mut self) -> Result<InterfaceLook, TwoPhaseError> {
        let look = self.look();
        self.end(look)
    }

    fn look(&mut self) -> Result<InterfaceLook, TwoPhaseError> {
        let begin = Instant::now();
        let mut look = (compiled::<D>().adapt)(self)?;
        self.prepare()?;
        look.seconds = begin.elapsed().as_secs_f64();
        Ok(look)
    }

    pub(crate) fn adapt_here(&mut self) -> Result<InterfaceLook, TwoPhaseError> {
        let (mut begin, mut parts) = (Instant::now(), LookParts::default());
        let sight = Sight::of(self.following.as_ref().expect("a mesh that follows"));
        let seen = self.seen(&sight)?;
        parts.seen = lap(&mut begin);
        let following = self.following.as_ref().expect("as above");
        let decision = self.decide(following, &seen)?;
        parts.marks = lap(&mut begin);
        let refined = &decision.refined;
        let roots = following.forest.roots();
        let mut look = InterfaceLook {
            leaves: refined.leaves(D, roots),
            refined: refined.refined,
            coarsened: refined.coarsened,
            withheld: decision.withheld,
            raised: decision.raised,
            seconds: 0.0,
            parts,
        };
        if look.refined + look.coarsened > 0 {
            let (forest, former) = following.forest.rebuilt(&Host, refined)?;
            look.parts.forest = lap(&mut begin);
            let mesh = self.mesh_of(&forest, former.ids())?;
            look.parts.mesh = lap(&mut begin);
            self.adapt_to(mesh, former.ids())?;
            look.parts.fields = lap(&mut begin);
            self.following.as_mut().expect("as above").forest = forest;
        }
        self.following.as_mut().expect("as above").path = 0.0;
        // The margin is wider than what is asked for.
        self.is_at_edge = Some(false);
        Ok(look)
    }

    /// The mesh of an adapted forest: of its blocks, the former ids, [`NONE`](cutlink_amr::NONE) where they are new.
    fn mesh_of(&self, forest: &Forest<D>, old_of: &[u32]) -> Result<FlowMesh<D>, TwoPhaseError> {
        let solid = transfer::solid(&self.mesh, forest, old_of)?;
        let made = FlowMesh::make(forest, self.mesh.origin(), self.mesh.width(0), solid)?;
        Ok(self.mesh.give_bodies(made))
    }

    /// Which blocks are to have children, within the budget.
    fn decide(
        &self,
        following: &Following<D>,
        seen: &SeenBlocks,
    ) -> Result<Decision, TwoPhaseError> {
        let adaptation = &following.adaptation;
        let forest = &following.forest;
        let most = adaptation.max_cells;
        let (mut raised, mut first) = (1.0, 0);
        for raise in 0..=RAISES {
            let threshold = adaptation.vorticity.map(|v| v * raised);
            let wanted = self.wanted(following, seen, threshold);
            let count = wanted.iter().filter(|&&w| w).count() as u64;
            if raise == 0 {
                first = count;
            }
            let mut marks = self.marks(&wanted)?;
            for level in (1..forest.levels.len()).rev() {
                Host.ripple(forest, level, &mut marks)?;
            }
            let refined = forest.refined_after(&Host, &marks)?;
            let leaves: u64 = refined.leaves(D, forest.roots()).iter().sum();
            let cells = leaves * dims::cells(D) as u64;
            if cells <= most {
                return Ok(Decision {
                    refined,
                    withheld: first - count,
                    raised,
                });
            }
            if adaptation.vorticity.is_none() || raise == RAISES {
                return Err(TwoPhaseError::Budget { cells, most });
            }
            raised *= RAISE;
        }
        unreachable!("the last round returns")
    }

    /// Marks of blocks by what is wanted.
    fn marks(&self, wanted: &[bool]) -> Result<Vec<u8>, TwoPhaseError> {
        let blocks = self.mesh.blocks();
        let mut marks = memory::with_capacity("marks", blocks.len())?;
        marks.extend((0..blocks.len()).map(|block| {
            let may_go = |parent: usize| !wanted[parent];
            let mark = if !blocks.is_leaf(block) {
                Mark::Keep
            } else if wanted[block] {
                Mark::Refine
            } else if blocks.parent(block).is_some_and(may_go) {
                Mark::Coarsen
            } else {
                Mark::Keep
            };
            mark as u8
        }));
        Ok(marks)
    }

    /// By block, whether it is to have children.
    fn wanted(
        &self,
        following: &Following<D>,
        seen: &SeenBlocks,
        vorticity: Option<f64>,
    ) -> Vec<bool> {
        let (mesh, adaptation) = (&self.mesh, &following.adaptation);
        let blocks = mesh.blocks();
        let of = |block: usize| {
            let level = blocks.level(block);
            if is_refined_in(&following.floor, level, blocks.coord(block)) {
                return true;
            }
            if level + 1 >= adaptation.levels {
                return false;
            }
            let limit = vorticity.map(|v| match blocks.is_leaf(block) {
                true => v,
                false => v * adaptation.coarsen,
            });
            let fluids = seen.fluids[block];
            fluids & NEAR != 0
                || self.is_grain_near(block, adaptation)
                || self.lets_in_other(fluids, block)
                || limit.is_some_and(|limit| seen.squares[block] > limit * limit)
        };
        (0..blocks.len()).into_par_iter().map(of).collect()
    }

    /// Whether a grain is in a block or within the margin around it.
    fn is_grain_near(&self, block: usize, adaptation: &InterfaceAdaptation) -> bool {
        let Some(grains) = &self.grains else {
            return false;
        };
        let (mesh, h) = (&self.mesh, self.mesh.width_of(block));
        let finest = mesh.width(adaptation.levels - 1);
        let margin = f64::from(adaptation.margin) * finest;
        let low = mesh.centre(block, 0).map(|x| x - 0.5 * h - margin);
        let high = low.map(|x| x + 4.0 * h + 2.0 * margin);
        let ([from, to], periodic) = (mesh.corners(), mesh.blocks().periodic());
        let period = |a: usize| if periodic[a] { to[a] - from[a] } else { 0.0 };
        grains.is_near([low, high], std::array::from_fn(period))
    }

    /// Whether a block lies at an opening from which the other phase may come.
    fn lets_in_other(&self, fluids: u8, block: usize) -> bool {
        (0..2 * D).any(|side| {
            let is_outside = self.mesh.blocks().beside(block, side) == Beside::Outside;
            match self.params.face(side) {
                BoxFace::Inflow { liquid, .. } | BoxFace::Pressure { liquid, .. } => {
                    is_outside && Kind::of(&[liquid]) as u8 != fluids & !NEAR
                }
                BoxFace::Slip | BoxFace::NoSlip => false,
            }
        })
    }

    /// The mesh of a saved state, whose blocks with children have a 1.
    ///
    /// # Errors
    /// Where they are those of no balanced forest.
    pub(crate) fn restore_mesh(&mut self, refined: &[u8]) -> Result<(), TwoPhaseError> {
        let Some(following) = &self.following else {
            return Ok(());
        };
        let now = &following.forest;
        let mut forest = Forest::new(&Host, now.root)?.with_periodic(now.periodic);
        for level in 0..cutlink_amr::MAX_LEVELS {
            let mut marks = memory::with_capacity("marks", forest.capacity())?;
            for id in 0..forest.capacity() {
                let has = *refined.get(id).ok_or(TwoPhaseError::SavedMesh)? == 1;
                let is_of_level = usize::from(forest.level[id]) == level;
                marks.push(match has && is_of_level {
                    true => Mark::Refine as u8,
                    false => Mark::Keep as u8,
                });
            }
            if forest.refine(&Host, level, &mut marks)? == 0 {
                break;
            }
        }
        let is_sound = forest.capacity() == refined.len() && forest.validate().is_ok();
        if !is_sound {
            return Err(TwoPhaseError::SavedMesh);
        }
        let solid = transfer::solid_at(&self.mesh, now, &forest)?;
        let mesh = FlowMesh::make(&forest, self.mesh.origin(), self.mesh.width(0), solid)?;
        let mesh = self.mesh.give_bodies(mesh);
        let mut fields = transfer::empty(&Host, &mesh)?;
        if let Some(heat) = &self.host.fields.heat {
            let temperature = transfer::array(mesh.blocks.cells())?;
            fields.heat = Some(heat.with::<Host>(temperature));
        }
        let host = Running::new(Host, &mesh, fields)?;
        self.take_mesh(mesh, host)?;
        self.following.as_mut().expect("as above").forest = forest;
        Ok(())
    }
}

/// What a look wants to know of blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sight {
    pub(crate) levels: usize,
    /// Cells of the finest level.
    pub(crate) margin: u32,
    pub(crate) has_vorticity: bool,
}

impl Sight {
    fn of<const D: usize>(following: &Following<D>) -> Self {
        let of = &following.adaptation;
        Self {
            levels: of.levels,
            margin: of.margin,
            has_vorticity: of.vorticity.is_some(),
        }
    }
}

/// What a look sees of blocks, leaves and refined ones.
#[derive(Debug, PartialEq)]
pub(crate) struct SeenBlocks {
    /// The [`Kind`], and [`NEAR`] where a block that may have children has both fluids or another one is within the margin.
    pub(crate) fluids: Vec<u8>,
    /// The largest square of the vorticity times the width of a cell, (m/s)², of blocks that may have children and are not
    /// `NEAR`; not where a fluid slips along walls. Empty where nobody asks.
    pub(crate) squares: Vec<f64>,
}

/// One pass over the blocks.
pub(crate) fn seen<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    fields: &Fields<D>,
    of: &Sight,
) -> SeenBlocks {
    let kinds = Kind::of_blocks::<D>(&fields.alpha);
    let may_refine = |block: usize| mesh.blocks.level(block) + 1 < of.levels;
    let fluids_of = |block: usize| {
        let finer = (of.levels - 1).saturating_sub(mesh.blocks.level(block));
        let margin = of.margin.div_ceil(1 << finer.min(31)) as i32;
        let is_near = may_refine(block) && is_near(mesh, &fields.alpha, &kinds, block, margin);
        kinds[block] as u8 | if is_near { NEAR } else { 0 }
    };
    let blocks = || (0..kinds.len()).into_par_iter();
    let fluids: Vec<u8> = blocks().map(fluids_of).collect();
    let square_of = |block: usize| match may_refine(block) && fluids[block] & NEAR == 0 {
        true => square_of(mesh, params, &fields.velocity, block),
        false => 0.0,
    };
    let squares = match of.has_vorticity {
        true => blocks().map(square_of).collect(),
        false => Vec::new(),
    };
    SeenBlocks { fluids, squares }
}

/// Whether both phases are in a block and so many cells around it.
fn is_near<const D: usize>(
    mesh: &FlowMesh<D>,
    alpha: &[f64],
    kinds: &[Kind],
    block: usize,
    margin: i32,
) -> bool {
    let (own, cells) = (kinds[block], dims::cells(D));
    let around = mesh.around(block);
    if own == Kind::Both {
        return true;
    }
    if around
        .iter()
        .all(|&other| other == OUTSIDE || kinds[other as usize] == own)
    {
        return false;
    }
    let wide = (4 + 2 * margin) as usize;
    (0..wide.pow(D as u32)).any(|i| {
        let to = dims::unravel::<D>(i, wide).map(|c| c - margin);
        let (other, cell) = mesh.cell_at(block, to);
        let at = other * cells + cell;
        Kind::of(&alpha[at..=at]) != own
    })
}

/// The largest square of the vorticity times the width of a block's cells; NaN counts as none.
fn square_of<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    u: &[Vec<f64>; D],
    block: usize,
) -> f64 {
    // The difference of a component over a cell along an axis.
    let rise = |cell: usize, k: usize, axis: usize| {
        let at = |side| velocity::beyond(mesh, params, &u[k], k, (block, cell), side);
        0.5 * (at(2 * axis + 1) - at(2 * axis))
    };
    let of_cell = |cell: usize| {
        let mut square = 0.0;
        for a in 0..D {
            for b in a + 1..D {
                square += (rise(cell, b, a) - rise(cell, a, b)).powi(2);
            }
        }
        square
    };
    (0..dims::cells(D)).map(of_cell).fold(0.0, f64::max)
}

/// What a look decided.
struct Decision {
    refined: Refined<Host>,
    withheld: u64,
    raised: f64,
}
