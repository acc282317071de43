//! The bodies of a running flow, on the host: their states, the mesh that they are embedded in, and the tables of its finest level.

use super::{BodyMotion, BodyState, MotionSample, RigidBodies, checks, free::Momentum, refuse};
use crate::{
    Params, SolverError,
    kernels::{BodyKernels, TableKernels},
    tables::{self, Built, Cuts, HaloRanges, Places, Rule, WallSlots},
};
use cutlink_amr::{Forest, dims};
use cutlink_device::{Backend, Host};
use cutlink_mesher::rigid::Pose;
use cutlink_voxelizer::{Frame, Mesh, MovingMesh};
use std::{collections::VecDeque, sync::Arc};

/// See the module.
#[derive(Debug)]
pub(crate) struct Movement<const D: usize> {
    pub(super) bodies: Arc<RigidBodies<D>>,
    pub(super) frame: Frame<D>,
    /// Missing only before the first embedding.
    pub(super) mesh: Option<MovingMesh<D>>,
    /// The finest level: its index, block ids by slot, and tables.
    pub(super) level: usize,
    pub(super) blocks: Vec<u32>,
    pub(super) places: Places<D, Host>,
    pub(super) exchanging: usize,
    /// By patch its body, or the number of bodies.
    pub(super) owner: Vec<u32>,
    /// By body the largest distance of a vertex from the origin of its frame, in root cells.
    pub(super) reach: Vec<f64>,
    pub(super) states: Vec<BodyState<D>>,
    pub(super) momenta: Vec<Momentum>,
    /// The poses of the tables, and the steps of the level since they were made.
    pub(super) placed: Vec<Pose<D>>,
    pub(super) since: u32,
    /// The poses that the blocks were made for, where blocks change.
    pub(super) meshed: Vec<Pose<D>>,
    /// Whether the mesh follows the flow, too.
    pub(super) adapts: bool,
    /// The blocks that bodies which the mesh does not follow need on all of their way.
    pub(super) first: Option<Forest<D>>,
    /// Conditions without those of the bodies.
    pub(super) base: Vec<Rule>,
    /// Force and torque of the fluid by body, about the origin of its frame, where it is.
    pub(super) loads: Option<Vec<[f64; 6]>>,
    /// Forces since the last sample, and steps of the level that they are sums of.
    pub(super) sums: Vec<[f64; 6]>,
    pub(super) summed: u32,
    pub(super) samples: VecDeque<MotionSample<D>>,
    pub(super) epoch: u64,
    /// Updates of leaf cells in a root step.
    updates: u64,
    /// The axes along which the flow is periodic.
    periodic: [bool; D],
}

/// Tables of all levels where blocks are others, and those of the finest level on them.
pub(crate) type Again<const D: usize> = (Option<Vec<Built<D>>>, Followed);

/// Tables of the finest level that follow the bodies.
pub(crate) struct Followed<B: Backend = Host> {
    /// Masks of cells to step, and of solid ones.
    pub(crate) stepped: B::Buf<u64>,
    pub(crate) solid: B::Buf<u64>,
    pub(crate) cuts: Cuts<B>,
    pub(crate) walls: WallSlots<B>,
    /// Cells that are fluid and were solid, 4^D times the slot plus the cell.
    pub(crate) fresh: Vec<u32>,
}

impl Followed {
    /// The tables in a backend's memory.
    pub(crate) fn upload<B: Backend>(self, backend: &B) -> Result<Followed<B>, SolverError> {
        let (cuts, walls) = (self.cuts, self.walls);
        Ok(Followed {
            stepped: backend.upload(self.stepped)?,
            solid: backend.upload(self.solid)?,
            cuts: Cuts {
                boundary: backend.upload(cuts.boundary)?,
                cell_start: backend.upload(cuts.cell_start)?,
                cells: backend.upload(cuts.cells)?,
                q: backend.upload(cuts.q)?,
                patch: backend.upload(cuts.patch)?,
            },
            walls: WallSlots {
                linked: backend.upload(walls.linked)?,
                walled: backend.upload(walls.walled)?,
                faced: backend.upload(walls.faced)?,
                bounded: backend.upload(walls.bounded)?,
                cut: backend.upload(walls.cut)?,
                open: backend.upload(walls.open)?,
            },
            fresh: self.fresh,
        })
    }
}

impl<const D: usize> Movement<D> {
    /// Puts the bodies at their first poses into the blocks of a mesh: the movement, and the tables of all levels.
    pub(crate) fn new(
        mesh: &Mesh<D>,
        params: &Params<D>,
        bodies: Arc<RigidBodies<D>>,
    ) -> Result<(Self, Vec<Built<D>>), SolverError> {
        let owner = checks::check(mesh, params, &bodies)?;
        let level = bodies.embedding.levels - 1;
        let reach = |body: usize| {
            let square = |x: &[f64; D]| x.iter().map(|x| x * x).sum::<f64>();
            let far = bodies.surface.vertices(body).iter().map(square);
            far.fold(0.0, f64::max).sqrt() / mesh.frame.dx
        };
        let (states, momenta) = checks::first(&bodies)?;
        let mut movement = Self {
            reach: (0..states.len()).map(reach).collect(),
            placed: states.iter().map(|state| state.pose).collect(),
            meshed: states.iter().map(|state| state.pose).collect(),
            sums: vec![[0.0; 6]; states.len()],
            adapts: params.adaptation.is_some(),
            first: match bodies.is_followed() {
                true => None,
                false => Some(mesh.forest.download(&Host)?),
            },
            frame: mesh.frame,
            mesh: None,
            level,
            blocks: Vec::new(),
            places: Places {
                coord: Vec::new(),
                neighbors: Vec::new(),
                stepped: Vec::new(),
                solid: Vec::new(),
                ghost: Vec::new(),
            },
            exchanging: 0,
            owner,
            states,
            momenta,
            since: 0,
            base: tables::rules(params, Some(0.5))?,
            loads: None,
            summed: 0,
            samples: VecDeque::new(),
            epoch: 0,
            updates: 0,
            periodic: tables::periodic_axes(params),
            bodies,
        };
        movement.check_states(0.0)?;
        let built = movement.rebuild(None, params)?;
        Ok((movement, built))
    }

    /// The tables of all levels with the bodies where they were embedded last.
    pub(super) fn build(&mut self, params: &Params<D>) -> Result<Vec<Built<D>>, SolverError> {
        let forest = &self.mesh()?.forest;
        let cells = |id: u32| (dims::cells(D) as u64) << forest.level[id as usize];
        self.updates = forest.leaves().map(cells).sum();
        let mut built = tables::build_checked(self.mesh()?, params)?;
        let finest = built.get_mut(self.level);
        self.open(finest.ok_or_else(|| self.leaves([0.0; D]))?)?;
        Ok(built)
    }

    /// Makes all slots of the finest level special, so that bodies may come there, and takes what does not change.
    fn open(&mut self, built: &mut Built<D>) -> Result<(), SolverError> {
        let level = &mut built.level;
        self.blocks.clone_from(&built.blocks);
        self.exchanging = level.exchanging;
        self.places = Places {
            coord: level.coord.clone(),
            neighbors: level.neighbors.clone(),
            stepped: level.stepped.clone(),
            solid: level.solid.clone(),
            ghost: level.ghost.clone(),
        };
        level.special = level.slots;
        level.halo = HaloRanges::none(level.exchanging, level.special, level.slots);
        let Followed { cuts, walls, .. } = self.tables()?;
        (level.boundary, level.cell_start) = (cuts.boundary, cuts.cell_start);
        (level.cells, level.q, level.patch) = (cuts.cells, cuts.q, cuts.patch);
        (level.linked, level.walled) = (walls.linked, walls.walled);
        (level.faced, level.bounded) = (walls.faced, walls.bounded);
        (level.cut, level.open) = (walls.cut, walls.open);
        Ok(())
    }

    /// The tables of all levels as they should be now.
    pub(crate) fn expected(
        &self,
        mesh: &Mesh<D>,
        params: &Params<D>,
    ) -> Result<Vec<Built<D>>, SolverError> {
        // Slots are in the order of the poses that the blocks were made for.
        let (mut again, mut built) = Self::new(mesh, params, self.bodies.clone())?;
        if self.changes_blocks() {
            again.meshed.clone_from(&self.meshed);
            // Blocks that follow bodies alone follow from their poses.
            let forest = match self.adapts {
                true => Some(self.mesh()?.forest.download(&Host)?),
                false => None,
            };
            built = again.rebuild(forest, params)?;
        }
        again.placed.clone_from(&self.placed);
        again.embed_in(again.mesh()?.forest.download(&Host)?)?;
        let finest = &mut built[self.level];
        let followed = again.tables()?;
        (finest.level.stepped, finest.level.solid) = (followed.stepped, followed.solid);
        again.open(finest)?;
        Ok(built)
    }

    /// The mesh with the bodies in it.
    pub(crate) fn mesh(&self) -> Result<&Mesh<D>, SolverError> {
        let missing = || refuse("all", "they were not embedded before");
        let mesh = self.mesh.as_ref().map(MovingMesh::mesh);
        mesh.ok_or_else(missing)
    }

    /// Whether the mesh is periodic where the flow is.
    pub(super) fn is_periodic_alike(&self) -> Result<bool, SolverError> {
        Ok(self.mesh()?.forest.periodic == self.periodic)
    }

    /// Embeddings so far.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Updates of leaf cells in a root step.
    pub(crate) fn updates(&self) -> u64 {
        self.updates
    }

    /// States of the bodies.
    pub(crate) fn states(&self) -> &[BodyState<D>] {
        &self.states
    }

    /// The index of the finest level.
    pub(crate) fn level(&self) -> usize {
        self.level
    }

    /// Takes other conditions of what is no body.
    pub(crate) fn set_base(&mut self, rules: Vec<Rule>) {
        self.base = rules;
    }

    /// Back to the first poses, embedded there; tables of all levels where blocks change.
    pub(crate) fn restart(&mut self, params: &Params<D>) -> Result<Again<D>, SolverError> {
        (self.states, self.momenta) = checks::first(&self.bodies)?;
        self.clear();
        self.loads = None;
        if !self.changes_blocks() {
            return Ok((None, self.follow()?));
        }
        self.meshed = self.states.iter().map(|state| state.pose).collect();
        Ok((Some(self.rebuild(None, params)?), self.follow()?))
    }

    /// Forgets samples.
    pub(super) fn clear(&mut self) {
        self.samples.clear();
        self.sums.fill([0.0; 6]);
        self.summed = 0;
    }

    /// Keeps where the bodies are after a root step, and the mean of their loads since the last time.
    pub(crate) fn sample(&mut self, step: u64) {
        let share = 1.0 / f64::from(self.summed.max(1));
        let forces = self.sums.iter().map(|sum| sum.map(|x| share * x));
        if self.samples.len() as u64 == crate::MAX_FORCE_SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back(MotionSample {
            step,
            bodies: self.states.clone(),
            forces: forces.collect(),
        });
        self.sums.fill([0.0; 6]);
        self.summed = 0;
    }

    /// The samples that were not taken yet, oldest first.
    pub(crate) fn take_samples(&mut self) -> Vec<MotionSample<D>> {
        self.samples.drain(..).collect()
    }

    /// The conditions now.
    pub(crate) fn rules(&self) -> Vec<Rule> {
        let mut rules = self.base.clone();
        for (patch, &body) in self.owner.iter().enumerate() {
            let Some(state) = self.states.get(body as usize) else {
                continue;
            };
            let rule = &mut rules[2 * D + patch];
            let at_origin = state.velocity_at([0.0; D]);
            rule.velocity = std::array::from_fn(|a| at_origin.get(a).copied().unwrap_or(0.0));
            rule.omega = if D == 2 {
                [0.0, 0.0, state.spin[2]]
            } else {
                state.spin
            };
        }
        rules
    }

    /// By body the force and the torque about the origin of its frame, from those of the patches about a point.
    pub(crate) fn loads(&self, patches: &[[f64; 6]], about: [f64; D]) -> Vec<[f64; 6]> {
        let mut loads = vec![[0.0; 6]; self.states.len()];
        for (patch, &body) in patches.iter().zip(&self.owner) {
            if let Some(load) = loads.get_mut(body as usize) {
                load.iter_mut().zip(patch).for_each(|(to, of)| *to += of);
            }
        }
        for (load, state) in loads.iter_mut().zip(&self.states) {
            let arm: [f64; 3] = std::array::from_fn(|a| match a < D {
                true => state.pose.center[a] - about[a],
                false => 0.0,
            });
            let force = [load[0], load[1], load[2]];
            for a in 0..3 {
                let (b, c) = ((a + 1) % 3, (a + 2) % 3);
                load[3 + a] -= arm[b] * force[c] - arm[c] * force[b];
            }
        }
        loads
    }

    /// Whether there are loads, as there are after the first step.
    pub(crate) fn has_loads(&self) -> bool {
        self.loads.is_some()
    }

    /// Takes the loads of the fluid on the bodies where they are.
    pub(crate) fn take_loads(&mut self, loads: Vec<[f64; 6]>) {
        self.loads = Some(loads);
    }

    /// Brings the bodies to a time, a step of the finest level after they were last, under the loads that were taken; whether they are
    /// to be embedded.
    pub(crate) fn advance(&mut self, time: f64) -> Result<bool, SolverError> {
        let dt = 1.0 / f64::from(1u32 << self.level);
        let bodies = self.bodies.clone();
        let loads = match &self.loads {
            Some(loads) => loads.clone(),
            None => vec![[0.0; 6]; self.states.len()],
        };
        for (n, motion) in bodies.motions.iter().enumerate() {
            self.states[n] = match motion {
                BodyMotion::Prescribed(path) => {
                    path(time).map_err(|reason| self.fault(n, time, reason))?
                }
                BodyMotion::Free(free) => {
                    free.advance(&self.states[n], &mut self.momenta[n], loads[n], dt)
                }
            };
        }
        for (sum, load) in self.sums.iter_mut().zip(&loads) {
            sum.iter_mut().zip(load).for_each(|(sum, x)| *sum += x);
        }
        self.summed += 1;
        self.since += 1;
        self.check_states(time)?;
        Ok(self.since >= self.bodies.rebin)
    }

    /// Embeds the bodies where they are, and makes the tables of the finest level.
    pub(crate) fn follow(&mut self) -> Result<Followed, SolverError> {
        self.embed()?;
        self.tables()
    }

    /// Places the bodies where they are, to be embedded there.
    pub(crate) fn place(&mut self) {
        self.since = 0;
        self.placed = self.states.iter().map(|state| state.pose).collect();
        self.epoch += 1;
    }

    /// Embeds the bodies where they are; the [`tables`](Self::tables) have to follow.
    pub(crate) fn embed(&mut self) -> Result<(), SolverError> {
        self.place();
        if let Some(mesh) = &mut self.mesh {
            self.bodies.move_to(mesh, &self.placed)?;
        }
        self.check_levels(self.mesh()?)
    }

    /// Embeds the bodies where they are placed, on these blocks.
    pub(super) fn embed_in(&mut self, forest: Forest<D>) -> Result<(), SolverError> {
        self.mesh = Some(self.bodies.embed_on(forest, self.frame, &self.placed)?);
        self.epoch += 1;
        self.check_levels(self.mesh()?)
    }

    /// The tables of the finest level with the mesh as it is.
    pub(crate) fn tables(&mut self) -> Result<Followed, SolverError> {
        let mesh = self.mesh()?;
        let [stepped, solid] = Host.masks(mesh, &self.blocks)?;
        let fresh = BodyKernels::<D>::uncovered(&Host, &self.places.solid, &solid)?;
        let cuts = Host.cuts(mesh, &self.blocks, self.blocks.len())?;
        self.places.stepped.clone_from(&stepped);
        self.places.solid.clone_from(&solid);
        self.check_links(&cuts)?;
        let (neighbors, exchanging) = (&self.places.neighbors, self.exchanging);
        let walls = TableKernels::<D>::walls(&Host, &cuts.boundary, neighbors, &solid, exchanging)?;
        Ok(Followed {
            stepped,
            solid,
            cuts,
            walls,
            fresh,
        })
    }
}
