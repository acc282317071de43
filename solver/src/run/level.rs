//! A level of a flow, and the recursion over levels.
//!
//! A step of level ℓ: collision and streaming of ℓ; two steps of ℓ+1; what ℓ+1 has at its interface back
//! to ℓ; ghost cells of ℓ+1 from ℓ. Ghost cells are two cells deep, and each of the two fine steps
//! invalidates one layer, so that the interface never reads an invalid value; they are filled at the end and not
//! at the beginning, so that snapshots and forces do not see one either.

use crate::{
    Collision, Les, Plan, SolverError, Work,
    constants::{OperatorKind, closure, odd},
    kernels::{Arrival, Between, Departure, FlowKernels, Origin, Relaxation, SUMS, exchanged},
    lattice::Lattice,
    plan::tau,
    profile::Point,
    ranks::{Halo, Peers, exchange},
    run::{bodies::Moving, grains::Carried, heat::HeatState, kept::KeptSlots},
    storage::Storage,
    tables::{Built, Level},
    variation::OfTime,
};
use cutlink_amr::dims;
use cutlink_device::{Backend, Memory, Real};
use std::sync::{Mutex, PoisonError};

/// A level's tables and populations.
pub(super) struct State<const D: usize, S: Storage, B: FlowKernels<D>> {
    pub(super) level: Level<D, B>,
    /// Block ids by slot.
    pub(super) blocks: B::Buf<u32>,
    /// Places of profiles whose values change, and the values of all places.
    pub(super) moving: Vec<Point<D>>,
    pub(super) profile: Vec<f64>,
    pub(super) relax: Relaxation<S::Real>,
    pub(super) tau: f64,
    pub(super) half_step: [S::Real; 3],
    pub(super) now: B::Buf<S>,
    pub(super) next: B::Buf<S>,
    pub(super) moments: B::Buf<S::Real>,
    /// Forces by slot with links, and by slot that friction of modelled walls acts on.
    pub(super) parts: B::Buf<f64>,
    /// What is exchanged with other ranks.
    pub(super) halo: Option<Halo<S, B>>,
    /// Its temperatures, in a flow with heat.
    pub(super) heat: Option<HeatState<B>>,
    /// Steps done, of this level's.
    pub(super) steps: u64,
    /// Which slots keep moments; of a rank of several none is told here.
    pub(super) kept: KeptSlots,
}

impl<const D: usize, S: Storage, B: FlowKernels<D>> State<D, S, B> {
    /// A level without populations in `now` and `next`, which [`allocate`](Self::allocate) makes.
    pub(super) fn bare(
        plan: &Plan<'_, D>,
        built: Built<D, B>,
        backend: &B,
    ) -> Result<Self, SolverError> {
        let level = built.level;
        let relax = relaxation::<S::Real, D>(plan, level.index);
        let moments = level.exchanging * exchanged(D) * dims::cells(D);
        let rows = B::len(&level.linked) + level.modeled.groups();
        let parts = SUMS * level.patches * rows;
        Ok(Self {
            relax,
            tau: tau(plan.params.viscosity, level.index),
            half_step: relax.acceleration.map(|g| S::Real::of(0.5) * g),
            now: backend.upload(Vec::new())?,
            next: backend.upload(Vec::new())?,
            moments: backend.alloc("transferred moments", moments, S::Real::of(0.0))?,
            parts: backend.alloc("forces by block", parts, 0.0)?,
            halo: None,
            heat: None,
            steps: 0,
            kept: KeptSlots {
                populated: level.populated,
                order: Vec::new(),
            },
            level,
            blocks: built.blocks,
            moving: built.moving,
            profile: built.profile,
        })
    }

    /// What all slots have: that of the fluid at rest with density 1.
    pub(super) fn allocate<L: Lattice>(&self, backend: &B) -> Result<B::Buf<S>, SolverError> {
        let size = self.level.numbers(L::Q);
        Ok(backend.alloc("populations", size, S::zeroed())?)
    }

    /// Room for the populations of all slots, in the memory of other ones if that will do. They are unspecified.
    pub(super) fn reuse<L: Lattice>(
        &self,
        backend: &B,
        of: Option<B::Buf<S>>,
    ) -> Result<B::Buf<S>, SolverError> {
        let size = self.level.slots * dims::cells(D) * L::Q;
        let of = match of {
            Some(of) => of,
            None => backend.upload(Vec::new())?,
        };
        Ok(backend.renew("populations", of, size, S::zeroed())?)
    }

    /// Another level before the mesh changed, whose steps are `1 / ratio` as long as this one's, as an origin of this one's
    /// populations. Where collision has left less than an eighth of the stress, rounding would be amplified too much.
    pub(super) fn origin<'a>(&self, old: &'a Self, ratio: f64) -> Origin<'a, D, S, B> {
        let Departure {
            tau,
            keep,
            half_step,
        } = old.departure();
        Origin {
            level: &old.level,
            populations: &old.now,
            departure: Departure {
                tau: S::Real::of(tau),
                keep: S::Real::of(keep),
                half_step: half_step.map(S::Real::of),
            },
            arrival: self.arrival(old, ratio),
        }
    }

    /// How values leave the level.
    pub(super) fn departure(&self) -> Departure<f64> {
        // With an eddy viscosity, how much collision has left is not known from what it has left.
        let keep = match self.relax.closure {
            closure::NONE => 1.0 - 1.0 / self.tau,
            _ => 0.0,
        };
        Departure {
            tau: self.tau,
            keep: if keep.abs() < 0.125 { 0.0 } else { keep },
            half_step: self.half_step.map(Real::wide),
        }
    }

    /// How moments from another level arrive, whose steps are `1 / ratio` as long as this one's.
    fn arrival(&self, from: &Self, ratio: f64) -> Arrival<S::Real> {
        self.arrival_scaled(ratio * self.tau / from.tau)
    }

    /// How moments arrive whose stress is so many times this level's.
    pub(super) fn arrival_scaled(&self, scale: f64) -> Arrival<S::Real> {
        Arrival {
            scale: S::Real::of(scale),
            keep: S::Real::of(1.0 - 1.0 / self.tau),
            relax: self.relax.between_levels(),
        }
    }
}

pub(crate) fn relaxation<T: Real, const D: usize>(
    plan: &Plan<'_, D>,
    level: usize,
) -> Relaxation<T> {
    let even = tau(plan.params.viscosity, level);
    let (operator, odd_by) = match plan.params.collision {
        Collision::Bgk => (OperatorKind::Trt, odd::AS_EVEN),
        Collision::Trt { .. } => (OperatorKind::Trt, odd::MAGIC),
        Collision::Regularized => (OperatorKind::Regularized, odd::AS_EVEN),
        Collision::Cumulant { .. } => (OperatorKind::Cumulant, odd::FIXED),
        Collision::Kbc => (OperatorKind::Kbc, odd::FIXED),
    };
    let (odd, parameter) = match plan.params.collision {
        Collision::Bgk | Collision::Regularized => (1.0 / even, 0.0),
        Collision::Trt { magic } => (1.0 / (0.5 + magic / (even - 0.5)), magic),
        Collision::Cumulant { limiter } => (0.0, limiter),
        Collision::Kbc => (0.0, 0.0),
    };
    let (closure, eddy) = match plan.params.les {
        Les::None => (closure::NONE, 0.0),
        Les::Smagorinsky { constant } => {
            let square = constant * constant;
            (closure::SMAGORINSKY, std::f64::consts::SQRT_2 * square)
        }
        Les::Qr { constant } => (closure::QR, constant),
    };
    let shrunk = 1.0 / f64::from(1u32 << level);
    let acceleration =
        std::array::from_fn(|a| T::of(plan.params.acceleration.get(a).map_or(0.0, |g| g * shrunk)));
    Relaxation {
        even: T::of(1.0 / even),
        odd: T::of(odd),
        acceleration,
        tau: T::of(even),
        eddy: T::of(eddy),
        parameter: T::of(parameter),
        operator: operator as u32,
        closure,
        odd_by,
        bulk: u32::from(match plan.params.collision {
            Collision::Regularized | Collision::Cumulant { .. } | Collision::Kbc => true,
            // What interpolation between levels adds to sound has to be damped.
            Collision::Bgk => {
                let most = plan.params.adaptation.as_ref().map_or(1, |a| a.levels);
                plan.levels.len().max(most) > 1
            }
            // With odd parts that relax as slowly as they may here, this would be unstable.
            Collision::Trt { .. } => false,
        }),
        conserves: plan.balance(),
        dithers: u32::from(plan.params.is_driven_slowly()),
    }
}

impl<const D: usize, S: Storage, B: FlowKernels<D>> State<D, S, B> {
    pub(super) fn swap(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// Brings slip velocities and friction of modelled walls to those of the current populations.
    pub(super) fn model_walls<L: Lattice>(&mut self, backend: &B) -> Result<(), SolverError> {
        if B::len(&self.level.modeled.cells) > 0 {
            backend.slip::<L, S>(&mut self.level, &self.now)?;
        }
        match self.level.modeled.groups() {
            0 => Ok(()),
            _ => backend.friction::<L, S>(&mut self.level, &self.now),
        }
    }

    /// Adds the friction of modelled walls.
    fn drag<L: Lattice>(&mut self, backend: &B) -> Result<(), SolverError> {
        match self.level.modeled.groups() {
            0 => Ok(()),
            _ => backend.drag::<L, S>(&self.level, &mut self.now, &mut self.moments),
        }
    }

    /// Relaxes the populations in sponges towards their targets.
    fn damp<L: Lattice>(&mut self, backend: &B) -> Result<(), SolverError> {
        for damped in &self.level.sponges {
            backend.damp::<L, S>(
                &self.level,
                damped,
                self.half_step,
                &mut self.now,
                &mut self.moments,
            )?;
        }
        Ok(())
    }

    /// Takes the acceleration at the end of so many steps of the level.
    pub(super) fn accelerate(&mut self, pull: &OfTime<D>, steps: u64) -> Result<(), SolverError> {
        let dt = 1.0 / f64::from(1u32 << self.level.index);
        let values = pull(steps as f64 * dt).map_err(|reason| SolverError::Value {
            name: "the acceleration".into(),
            reason,
        })?;
        self.relax.acceleration =
            std::array::from_fn(|a| S::Real::of(values.get(a).map_or(0.0, |g| g * dt)));
        self.half_step = self.relax.acceleration.map(|g| S::Real::of(0.5) * g);
        Ok(())
    }
}

/// A piece of work between two stamps.
pub(super) type Timed<B> = (Work, usize, <B as Backend>::Stamp, <B as Backend>::Stamp);

/// Stamps of pieces of work, if they are wanted.
pub(super) type Clock<B> = Option<Mutex<Vec<Timed<B>>>>;

/// Does a piece of work, with a clock at it if that is wanted.
pub(super) fn timed<B: Backend>(
    backend: &B,
    clock: &Clock<B>,
    work: Work,
    level: usize,
    run: impl FnOnce() -> Result<(), SolverError>,
) -> Result<(), SolverError> {
    let Some(clock) = clock else { return run() };
    let begin = backend.stamp()?;
    run()?;
    let end = backend.stamp()?;
    let mut stamps = clock.lock().unwrap_or_else(PoisonError::into_inner);
    stamps.push((work, level, begin, end));
    Ok(())
}

/// What the steps of all levels have in common.
pub(super) struct Steps<'a, const D: usize, B: FlowKernels<D>> {
    pub(super) clock: &'a Clock<B>,
    /// Whether ghost cells are interpolated by cubic polynomials.
    pub(super) cubic: bool,
    /// An acceleration that varies.
    pub(super) pull: Option<&'a OfTime<D>>,
    /// Other ranks.
    pub(super) peers: Option<&'a Peers<B>>,
    /// Bodies that move.
    pub(super) moving: Option<&'a Mutex<Moving<D, B>>>,
    /// Grains.
    pub(super) grains: Option<&'a Mutex<Box<Carried<B>>>>,
    /// Reference point of torques.
    pub(super) moment_center: [f64; D],
}

impl<const D: usize, B: FlowKernels<D>> Steps<'_, D, B> {
    /// With other ranks, ends the steps of some levels that end together: moments of the halo, ghost cells, populations of the
    /// halo. Ranks wait for one another twice, however many levels there are.
    pub(super) fn meet<L: Lattice, S: Storage>(
        &self,
        backend: &B,
        levels: &mut [State<D, S, B>],
    ) -> Result<(), SolverError> {
        let (Some(peers), Some(first)) = (self.peers, levels.first()) else {
            return Ok(());
        };
        let (first, finest) = (first.level.index, levels.len() - 1);
        if finest > 0 {
            timed(backend, self.clock, Work::Exchange, first, || {
                let coarser = levels[..finest].iter_mut();
                let moments = coarser.filter_map(|state| {
                    let lists = state.halo.as_mut()?.moments.as_mut()?;
                    Some((lists, &mut state.moments))
                });
                exchange(backend, peers, &mut moments.collect::<Vec<_>>())
            })?;
        }
        for n in 0..finest {
            let (coarser, finer) = levels.split_at_mut(n + 1);
            self.interpolate::<L, S>(backend, &coarser[n], &mut finer[0])?;
        }
        timed(backend, self.clock, Work::Exchange, first, || {
            let populations = levels.iter_mut().filter_map(|state| {
                let lists = state.halo.as_mut()?.populations.as_mut()?;
                Some((lists, &mut state.now))
            });
            exchange(backend, peers, &mut populations.collect::<Vec<_>>())
        })
    }

    /// Ghost cells of a level from the coarser one.
    fn interpolate<L: Lattice, S: Storage>(
        &self,
        backend: &B,
        coarse: &State<D, S, B>,
        fine: &mut State<D, S, B>,
    ) -> Result<(), SolverError> {
        let down = fine.arrival(coarse, 0.5);
        let index = fine.level.index;
        timed(backend, self.clock, Work::Interpolate, index, || {
            let between = between(&coarse.level, &fine.level, self.cubic, down);
            backend.interpolate::<L, S>(&between, &coarse.moments, &mut fine.now)
        })
    }
}

/// A step of the first of some levels and of all finer ones. With several ranks, [`Steps::meet`] has to follow. Finer levels read
/// only what the coarser level held before its step, so both run concurrently.
pub(super) fn step<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>>(
    backend: &B,
    of_all: &Steps<'_, D, B>,
    levels: &mut [State<D, S, B>],
) -> Result<(), SolverError> {
    let &Steps {
        clock,
        cubic,
        pull,
        peers,
        moving,
        grains,
        moment_center,
    } = of_all;
    let Some((coarse, finer)) = levels.split_first_mut() else {
        return Ok(());
    };
    let index = coarse.level.index;
    let collide = |backend: &B, coarse: &mut State<D, S, B>| {
        if let Some(pull) = pull {
            coarse.accelerate(pull, coarse.steps + 1)?;
        }
        coarse.steps += 1;
        timed(backend, clock, Work::Step, index, || {
            coarse.model_walls::<L>(backend)?;
            coarse.convect::<L>(backend)?;
            backend.step::<L, S>(
                &coarse.level,
                coarse.relax,
                &coarse.now,
                &mut coarse.next,
                &mut coarse.moments,
            )?;
            coarse.swap();
            coarse.drag::<L>(backend)?;
            coarse.damp::<L>(backend)
        })
    };
    if finer.is_empty() {
        if let Some(grains) = grains {
            let mut grains = grains.lock().unwrap_or_else(PoisonError::into_inner);
            timed(backend, clock, Work::Grains, index, || {
                coarse.exchange_with::<L>(backend, &mut grains)
            })?;
        }
        collide(backend, coarse)?;
        let Some(moving) = moving else {
            return Ok(());
        };
        let mut moving = moving.lock().unwrap_or_else(PoisonError::into_inner);
        return coarse.move_bodies::<L>(backend, clock, &mut moving, moment_center);
    }
    let mut twice = |backend: &B| {
        step::<D, L, S, B>(backend, of_all, finer)?;
        of_all.meet::<L, S>(backend, finer)?;
        step::<D, L, S, B>(backend, of_all, finer)
    };
    // Messages through host memory and tables of bodies are copies in the main stream of a device, for which other streams do not
    // wait.
    let is_staged = peers.is_some_and(|peers| !peers.are_linked())
        || (moving.is_some() || grains.is_some()) && B::MEMORY == Memory::Device;
    if is_staged && B::MEMORY == Memory::Host && clock.is_none() {
        // While finer levels wait for other ranks, this one does its step.
        let (finer, own) = rayon::join(|| twice(backend), || collide(backend, coarse));
        finer.and(own)?;
    } else if is_staged || clock.is_some() {
        // With a clock one after the other, so that each has a time of its own.
        twice(backend)?;
        collide(backend, coarse)?;
    } else {
        backend.both(twice, |backend| collide(backend, coarse))?;
    }
    let fine = &mut finer[0];
    let up = coarse.arrival(fine, 2.0);
    timed(backend, clock, Work::Average, index + 1, || {
        backend.average::<L, S>(
            &between(&coarse.level, &fine.level, cubic, up),
            &fine.moments,
            &mut coarse.now,
            &mut coarse.moments,
        )
    })?;
    coarse.share_heat(fine, backend)?;
    match peers {
        None => of_all.interpolate::<L, S>(backend, coarse, fine),
        // When all levels meet whose steps end now.
        Some(_) => Ok(()),
    }
}

fn between<'a, const D: usize, T: Real, B: Backend>(
    coarse: &'a Level<D, B>,
    fine: &'a Level<D, B>,
    cubic: bool,
    to: Arrival<T>,
) -> Between<'a, D, T, B> {
    Between {
        coarse,
        fine,
        cubic,
        to,
    }
}
