//! What a flow will need, before anything large is allocated.

use crate::{
    Census, F16, FaceCondition, LatticeFlow, LatticeKind, Motion, Params, PatchCondition, Place,
    Precision, RigidBodies, SolverError, WallScheme,
    bodies::{self, Movement},
    constants::balance,
    grains::{self, LatticeGrains, Suspended},
    heat,
    kernels::{FlowKernels, cpu},
    lattice::{D2Q9, D3Q19, D3Q27, Lattice},
    ranks::{Communicator, RankSheet, Ranks},
    run::Run,
    sponge,
    storage::Storage,
    tables::{self, Built},
    validate::subsonic,
    wall_model,
};
use cutlink_amr::dims;
use cutlink_device::{Host, Memory, of_dimension};
use cutlink_voxelizer::Mesh;
use std::{slice, sync::Arc};

/// A level of a flow, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelSheet {
    /// The level, 0 the root.
    pub level: usize,
    /// Blocks with populations: leaves, and refined ones next to leaves.
    pub blocks: usize,
    /// Cells of leaves, solid ones included: what MLUPS count, 2^level times a root step (J25 eq. 25).
    pub cells: u64,
    /// Relaxation time of the viscosity, in steps of the level.
    pub tau: f64,
    /// Bytes of populations and tables.
    pub bytes: u64,
}

/// A flow that could be started.
#[derive(Debug)]
pub struct Plan<'a, const D: usize> {
    /// The mesh.
    pub mesh: &'a Mesh<D>,
    /// The parameters.
    pub params: Params<D>,
    /// By level.
    pub levels: Vec<LevelSheet>,
    /// Audit of its walls.
    pub census: Census,
    pub(crate) tables: Vec<Built<D>>,
    /// Bodies that move, until the flow has them.
    pub(crate) movement: Option<Box<Movement<D>>>,
    /// Whether there are any.
    pub(crate) has_bodies: bool,
    /// Whether all cells are to have populations in any case.
    pub(crate) keeps_populations: bool,
    /// Grains, until the flow has them.
    pub(crate) grains: Option<Box<Suspended>>,
    /// Whether there are any.
    pub(crate) has_grains: bool,
}

impl<'a, const D: usize> Plan<'a, D> {
    /// Checks the parameters against the mesh, and counts.
    ///
    /// # Errors
    /// Parameters out of range, conditions that do not fit together, refinement that differs on two
    /// periodic faces.
    pub fn new(mesh: &'a Mesh<D>, params: Params<D>) -> Result<Self, SolverError> {
        (builds::<D>().new)(mesh, params)
    }

    /// The same mesh with other parameters, and without grains and bodies that move. Cost: a pass over the links where the flow is periodic along
    /// the same axes, since the tables of blocks and links are kept then.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn with_params(self, params: Params<D>) -> Result<Self, SolverError> {
        (builds::<D>().with_params)(self, params)
    }

    fn build(mesh: &'a Mesh<D>, params: Params<D>) -> Result<Self, SolverError> {
        check(mesh, &params)?;
        let tables = tables::build_checked(mesh, &params)?;
        Self::of_tables(mesh, params, tables)
    }

    fn build_again(mut self, params: Params<D>) -> Result<Self, SolverError> {
        if self.has_bodies
            || self.has_grains
            || tables::periodic_axes(&params) != tables::periodic_axes(&self.params)
        {
            return Self::build(self.mesh, params);
        }
        check(self.mesh, &params)?;
        let rules = tables::rules(&params, None)?;
        for built in &mut self.tables {
            built.take(&Host, &params, &rules)?;
        }
        Self::of_tables(self.mesh, params, self.tables)
    }

    fn of_tables(
        mesh: &'a Mesh<D>,
        params: Params<D>,
        tables: Vec<Built<D>>,
    ) -> Result<Self, SolverError> {
        let census = census(&params, &tables);
        subsonic("the speed of a wall", &[census.speed])?;
        if !params.has_opening() {
            check_closed(&census)?;
        }
        Ok(Self {
            levels: sheets(mesh, &params, &tables),
            mesh,
            params,
            census,
            tables,
            movement: None,
            has_bodies: false,
            keeps_populations: false,
            grains: None,
            has_grains: false,
        })
    }

    /// The same flow with bodies that move. They are embedded at their first poses, on the blocks of the mesh. Where such a flow goes,
    /// [`LatticeFlow::mesh`] has the bodies as they are; it runs on one rank.
    ///
    /// # Errors
    /// [`SolverError::Body`] with what is not possible and the way out.
    pub fn with_bodies(self, bodies: Arc<RigidBodies<D>>) -> Result<Self, SolverError> {
        (builds::<D>().with_bodies)(self, bodies)
    }

    fn build_with_bodies(self, bodies: Arc<RigidBodies<D>>) -> Result<Self, SolverError> {
        if self.params.heat.is_some() {
            return Err(heat::with_bodies());
        }
        let (movement, tables) = Movement::new(self.mesh, &self.params, bodies)?;
        let census = census(&self.params, &tables);
        Ok(Self {
            levels: sheets(movement.mesh()?, &self.params, &tables),
            census,
            tables,
            movement: Some(Box::new(movement)),
            has_bodies: true,
            ..self
        })
    }

    /// The same flow with grains. They have to stay in blocks of the finest level whose neighbours are on it too, with a
    /// cell and a half around each. It runs on one rank.
    ///
    /// # Errors
    /// [`SolverError::Grains`] with what is not possible and the way out.
    pub fn with_grains(self, grains: LatticeGrains) -> Result<Self, SolverError> {
        if self.has_bodies {
            return Err(SolverError::Grains {
                reason:
                    "there are bodies that move, which do not meet grains: leave one of both out"
                        .into(),
            });
        }
        let root = self.mesh.frame.root_cells;
        grains::check(&self.params, (self.levels.len(), root), &grains)?;
        let mut levels = self.levels;
        if let Some(level) = levels.last_mut() {
            level.bytes += grains::bytes(&grains, self.tables.len());
        }
        let blocks = self
            .tables
            .last()
            .map(|finest| grains::Blocks::of(&finest.level, tables::periodic_axes(&self.params)));
        let count = levels.len();
        let mut suspended = Suspended::new(grains, count, blocks.unwrap_or_default());
        let spheres = suspended.spheres();
        suspended.follow(&spheres)?;
        Ok(Self {
            levels,
            keeps_populations: true,
            grains: Some(Box::new(suspended)),
            has_grains: true,
            ..self
        })
    }

    /// Updates of leaf cells in a root step (J25 eq. 25).
    pub fn updates(&self) -> u64 {
        self.levels.iter().map(|l| l.cells << l.level).sum()
    }

    /// What a step of each level costs in this kind of memory: in updates of cells of blocks without a wall, a face of the box, a solid
    /// cell or another level beside them or within, stored as [`cell_storage`](Self::cell_storage) says. Cost: a pass over all blocks.
    pub fn level_work(&self, memory: Memory) -> Vec<u64> {
        let costs = self.step_costs(memory);
        let of_level = |built: &Built<D>| built.work(costs).iter().sum();
        self.tables.iter().map(of_level).collect()
    }

    /// What a root step costs, see [`level_work`](Self::level_work). On a GPU a level's step takes some 4 µs, however small the level is.
    pub fn work(&self, memory: Memory) -> u64 {
        let least = self.step_costs(memory).least;
        let levels = self.level_work(memory).into_iter().enumerate();
        levels.map(|(level, work)| (least + work) << level).sum()
    }

    /// Bytes beside the flow's, in the backend's memory, that density and velocity take for a while: of all slots of the
    /// largest level where a mesh follows the flow, else of those that a snapshot copies at once.
    pub fn snapshot_bytes(&self) -> u64 {
        let blocks = self.levels.iter().map(|level| level.blocks).max();
        let slots = match self.params.adaptation {
            Some(_) => blocks.unwrap_or(0),
            None => blocks.unwrap_or(0).min(crate::run::snapshot::SLOTS_AT_ONCE),
        };
        (slots * dims::cells(D) * (1 + D) * size_of::<f32>()) as u64
    }

    /// Whether the mean density is held at 1, every [`HOLD_EVERY`](crate::HOLD_EVERY) root steps: in a closed box
    /// with moving or modelled walls. Interpolated bounce-back from a moving wall does not conserve mass exactly.
    pub fn holds_density(&self) -> bool {
        let moves = self.census.fastest > 0.0 || !self.params.modeled.is_empty() || self.has_bodies;
        !self.params.has_opening() && moves
    }

    /// Walls whose cells keep their mass, one of [`balance`]: all of a closed box whose density moving walls would change, else those
    /// that turn with bounce-back. Not where a wall of cut links is interpolated, whose shear would suffer (decision 046); nor beside cut
    /// walls that move straight on, nor with slip of modelled walls, which is not the motion of a body.
    pub(crate) fn balance(&self) -> u32 {
        let is_interpolated = |patch: &PatchCondition<D>| matches!(patch, PatchCondition::Wall { scheme, .. } if *scheme != WallScheme::BounceBack);
        let goes_on = |patch: &PatchCondition<D>| match patch {
            PatchCondition::Wall {
                motion: Motion::Uniform(v),
                ..
            } => *v != [0.0; D],
            _ => false,
        };
        let patches = &self.params.patches;
        let has_links = !self.mesh.links.is_empty();
        let is_plain = self.params.modeled.is_empty()
            && !patches.iter().any(goes_on)
            && !(has_links && patches.iter().any(is_interpolated));
        if self.has_bodies {
            // Their walls go on.
            balance::NONE
        } else if self.holds_density() && is_plain {
            balance::ALL
        } else if self.census.turning > 0.0 {
            balance::TURNING
        } else {
            balance::NONE
        }
    }

    /// What a face or patch with a velocity drives into the box a root step, in volumes of root cells at density 1, by the links that
    /// cross it; 0 of anything else. Variations count without their share of time.
    pub fn inflow(&self, place: Place) -> f64 {
        let rule = match place {
            Place::Face(axis, side) => 2 * axis + side,
            Place::Patch(patch) => 2 * D + patch,
            Place::Acceleration => return 0.0,
        };
        let of_level = |table: &Built<D>| match self.params.lattice {
            LatticeKind::D2Q9 => cpu::inflow::<D, D2Q9>(&table.level, rule),
            LatticeKind::D3Q19 => cpu::inflow::<D, D3Q19>(&table.level, rule),
            LatticeKind::D3Q27 => cpu::inflow::<D, D3Q27>(&table.level, rule),
        };
        self.tables.iter().map(of_level).sum()
    }

    /// Starts the flow at rest, with density 1.
    ///
    /// # Errors
    /// The backend has too little memory.
    pub fn start<B: FlowKernels<D>>(
        self,
        backend: &B,
    ) -> Result<Box<dyn LatticeFlow<D> + 'a>, SolverError> {
        let flow: u64 = self.level_bytes(B::MEMORY).iter().sum();
        backend.reserve("the flow and its snapshots", flow + self.snapshot_bytes())?;
        alone(B::start(slice::from_ref(backend), None, self)?)
    }

    /// Starts the flow at rest, with density 1, on one rank a backend: each steps a part of the mesh on a thread of its own, on the
    /// CPU with an equal share of the current thread pool. Populations, forces and all that follows from them are the same bits for
    /// any number of ranks.
    ///
    /// # Errors
    /// There are more ranks than blocks, or none; a backend has too little memory.
    pub fn start_ranks<B: FlowKernels<D>>(
        self,
        ranks: &[B],
    ) -> Result<Box<dyn LatticeFlow<D> + 'a>, SolverError> {
        match ranks {
            [one] => self.start(one),
            _ => {
                self.check_ranks()?;
                alone(B::start(ranks, None, self)?)
            }
        }
    }

    /// Whether the flow can run on several ranks.
    ///
    /// # Errors
    /// Heat, bodies that move.
    pub(crate) fn check_ranks(&self) -> Result<(), SolverError> {
        if self.params.heat.is_some() {
            return Err(heat::on_ranks());
        }
        if self.has_bodies {
            return Err(bodies::on_ranks());
        }
        if self.has_grains {
            return Err(grains::on_ranks());
        }
        Ok(())
    }

    /// Starts the flow at rest, with density 1, on several processes with the same plan, each of which is a rank. Returns the flow on
    /// the first one; on others nothing, once the flow of the first one is dropped.
    ///
    /// # Errors
    /// As [`start_ranks`](Self::start_ranks); [`SolverError::Communication`].
    pub fn start_linked<B: FlowKernels<D>>(
        self,
        backend: &B,
        link: Arc<dyn Communicator>,
    ) -> Result<Option<Box<dyn LatticeFlow<D> + 'a>>, SolverError> {
        self.check_ranks()?;
        B::start(slice::from_ref(backend), Some(link), self)
    }

    /// The same plan without tables.
    pub(crate) fn without_tables(&self) -> Self {
        Self {
            mesh: self.mesh,
            params: self.params.clone(),
            levels: self.levels.clone(),
            census: self.census,
            tables: Vec::new(),
            movement: None,
            has_bodies: self.has_bodies,
            keeps_populations: self.keeps_populations,
            grains: None,
            has_grains: self.has_grains,
        }
    }

    fn with<L: Lattice, B: FlowKernels<D>>(self, ranks: &[B], link: Processes) -> Started<'a, D> {
        match self.params.precision {
            #[cfg(not(test))]
            Precision::F16 => self.of::<L, F16, B>(ranks, link),
            #[cfg(not(test))]
            Precision::F32 => self.of::<L, f32, B>(ranks, link),
            #[cfg(test)]
            Precision::F16 | Precision::F32 => unreachable!("unit tests should run in f64"),
            Precision::F64 => self.of::<L, f64, B>(ranks, link),
        }
    }

    fn of<L: Lattice, S: Storage, B: FlowKernels<D>>(
        self,
        ranks: &[B],
        link: Processes,
    ) -> Started<'a, D> {
        if let Some(link) = link {
            let flow = Ranks::<D, L, S, B>::linked(self, &ranks[0], link)?;
            return Ok(flow.map(|flow| Box::new(flow) as Box<dyn LatticeFlow<D>>));
        }
        let [backend] = ranks else {
            return Ok(Some(Box::new(Ranks::<D, L, S, B>::new(self, ranks)?)));
        };
        let mut run = Run::<D, L, S, B>::new(self, backend)?;
        run.set_same(1.0, [0.0; D])?;
        Ok(Some(Box::new(run)))
    }
}

/// The flow of a process that shares it with no other one.
fn alone<'a, const D: usize>(
    flow: Option<Box<dyn LatticeFlow<D> + 'a>>,
) -> Result<Box<dyn LatticeFlow<D> + 'a>, SolverError> {
    flow.ok_or_else(|| SolverError::Communication {
        reason: "a flow that no other process shares has no process to serve".into(),
    })
}

/// How plans of a dimension are made; see [`of_dimension`].
pub(crate) struct Builds<const D: usize> {
    new: for<'a> fn(&'a Mesh<D>, Params<D>) -> Result<Plan<'a, D>, SolverError>,
    with_params: for<'a> fn(Plan<'a, D>, Params<D>) -> Result<Plan<'a, D>, SolverError>,
    with_bodies: for<'a> fn(Plan<'a, D>, Arc<RigidBodies<D>>) -> Result<Plan<'a, D>, SolverError>,
    pub(crate) ranks: fn(&Plan<'_, D>, usize, Memory) -> Result<Vec<RankSheet>, SolverError>,
}

impl<const D: usize> Builds<D> {
    const fn new() -> Self {
        Self {
            new: |mesh, params| Plan::build(mesh, params),
            with_params: |plan, params| plan.build_again(params),
            with_bodies: |plan, bodies| plan.build_with_bodies(bodies),
            ranks: |plan, ranks, memory| plan.rank_sheets(ranks, memory),
        }
    }
}

static BUILDS_2D: Builds<2> = Builds::new();
static BUILDS_3D: Builds<3> = Builds::new();

pub(crate) fn builds<const D: usize>() -> &'static Builds<D> {
    of_dimension::<D, _>(&BUILDS_2D, &BUILDS_3D)
}

/// A flow that was started, or nothing where a process has served it to its end; or why it was not.
pub(crate) type Started<'a, const D: usize> =
    Result<Option<Box<dyn LatticeFlow<D> + 'a>>, SolverError>;

/// The processes that share a flow, if it is not one alone.
pub(crate) type Processes = Option<Arc<dyn Communicator>>;

/// How a backend starts flows of a dimension; see [`of_dimension`].
pub(crate) struct Starts<const D: usize, B>(
    for<'a> fn(Plan<'a, D>, &[B], Processes) -> Started<'a, D>,
);

impl<B: FlowKernels<2>> Starts<2, B> {
    pub(crate) const IN_2D: Self = Self(|plan, ranks, link| plan.with::<D2Q9, B>(ranks, link));
}

impl<B: FlowKernels<3>> Starts<3, B> {
    pub(crate) const IN_3D: Self = Self(|plan, ranks, link| match plan.params.lattice {
        #[cfg(not(test))]
        LatticeKind::D3Q27 => plan.with::<D3Q27, B>(ranks, link),
        #[cfg(test)]
        LatticeKind::D3Q27 => unreachable!("unit tests should run no flow on D3Q27"),
        _ => plan.with::<D3Q19, B>(ranks, link),
    });
}

/// Starts a flow by the table of its dimension.
pub(crate) fn start<'a, const D: usize, B: FlowKernels<D> + 'static>(
    ranks: &[B],
    link: Processes,
    plan: Plan<'a, D>,
    two: &'static Starts<2, B>,
    three: &'static Starts<3, B>,
) -> Started<'a, D> {
    (of_dimension::<D, Starts<D, B>>(two, three).0)(plan, ranks, link)
}

/// The relaxation time on a level: τ - 1/2 doubles with each, for Δt and Δx halve together.
pub(crate) fn tau(viscosity: f64, level: usize) -> f64 {
    0.5 + 3.0 * viscosity * f64::from(1u32 << level)
}

/// What there is to say of the levels of a mesh.
fn sheets<const D: usize>(
    mesh: &Mesh<D>,
    params: &Params<D>,
    tables: &[Built<D>],
) -> Vec<LevelSheet> {
    let q = params.lattice.velocities();
    let counts = mesh.level_counts();
    let levels = tables.iter().zip(&counts).map(|(table, count)| LevelSheet {
        level: count.level,
        blocks: table.blocks.len(),
        cells: count.leaf_blocks as u64 * dims::cells(D) as u64,
        tau: tau(params.viscosity, count.level),
        bytes: heat_bytes(params, table)
            + match params.precision {
                Precision::F16 => table.level.bytes::<F16>(q),
                Precision::F32 => table.level.bytes::<f32>(q),
                Precision::F64 => table.level.bytes::<f64>(q),
            },
    });
    levels.collect()
}

fn heat_bytes<const D: usize>(params: &Params<D>, table: &Built<D>) -> u64 {
    match params.heat {
        Some(_) => heat::bytes(&table.level),
        None => 0,
    }
}

fn census<const D: usize>(params: &Params<D>, tables: &[Built<D>]) -> Census {
    match params.lattice {
        LatticeKind::D2Q9 => walls::<D, D2Q9>(tables),
        LatticeKind::D3Q19 => walls::<D, D3Q19>(tables),
        LatticeKind::D3Q27 => walls::<D, D3Q27>(tables),
    }
}

fn walls<const D: usize, L: Lattice>(tables: &[Built<D>]) -> Census {
    let of_level = |table: &Built<D>| cpu::census::<D, L>(&table.level);
    tables.iter().map(of_level).sum()
}

/// Walls of a closed box must not fill or empty it; a link more in one corner of a lid than in the other is
/// no matter.
fn check_closed(census: &Census) -> Result<(), SolverError> {
    if census.inflow.abs() <= 0.5 * census.exchanged {
        return Ok(());
    }
    let way = ["into", "out of"][usize::from(census.inflow < 0.0)];
    let reason = format!(
        "moving walls drive fluid {way} a box that has no open boundary: give a face or patch a pressure, or a face an outflow"
    );
    Err(SolverError::Mesh { reason })
}

/// Checks the parameters against the mesh.
fn check<const D: usize>(mesh: &Mesh<D>, params: &Params<D>) -> Result<(), SolverError> {
    params.validate()?;
    if params.patches.len() != mesh.patches.len() {
        let reason = format!(
            "it has {} patches ({}), and there are conditions for {}",
            mesh.patches.len(),
            mesh.patches.join(", "),
            params.patches.len()
        );
        return Err(SolverError::Mesh { reason });
    }
    if params.adaptation.is_some() {
        check_adaptable(mesh, params)?;
    }
    wall_model::check(params)?;
    heat::check(params, mesh.forest.levels.len())?;
    sponge::check(params, mesh.frame.root_cells)
}

/// Whether the mesh may change: blocks on two periodic faces have to know one another.
fn check_adaptable<const D: usize>(mesh: &Mesh<D>, params: &Params<D>) -> Result<(), SolverError> {
    for a in 0..D {
        let is_periodic = params.faces[a].contains(&FaceCondition::Periodic);
        if is_periodic != mesh.forest.periodic[a] {
            let axis = ["x", "y", "z"][a];
            let reason = format!(
                "it is to be adapted, and the faces {axis}- and {axis}+ are periodic in the flow and not in the mesh: make the mesh periodic along {axis}"
            );
            return Err(SolverError::Mesh { reason });
        }
    }
    Ok(())
}
