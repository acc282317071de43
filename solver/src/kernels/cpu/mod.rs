//! The stages on the CPU: rayon over slots; the arithmetic of a block in one loop over its cells, which
//! the compiler vectorizes for the processor at hand.

mod accumulate;
mod balance;
pub(crate) mod by_block;
mod cell;
mod census;
mod collide;
mod convert;
mod damp;
mod drag;
mod embedded;
mod exchange;
mod faces;
#[cfg(test)]
pub(crate) mod fixture;
mod forces;
mod halo;
pub(crate) mod heat;
mod hold;
mod indicate;
mod integrate;
mod lift;
mod macroscopic;
mod mass;
mod moments;
mod order;
mod processor;
mod refill;
mod seed;
mod slip;
mod step;
mod stream;
mod tables;
mod topology;
mod transfer;
mod wish;

use super::{
    Between, ExactSum, FieldKernels, FlowKernels, GrainKernels, HaloKernels, HeatKernels,
    HeatLevel, HeldSphere, HoldNumbers, HoldTables, PopulationKernels, RefillSource, Relaxation,
    SUMS, StepKernels, Transfer,
};
use crate::{
    Communicator, F16, Indicator, LatticeFlow, LatticeKind, Plan, SolverError,
    fields::FluidSums,
    heat::tables::{HeatBetween, HeatTables},
    lattice::{D2Q9, D3Q19, Lattice, MOST},
    plan::{self, Starts},
    ranks::Listed,
    run::snapshot::RefinedBlocks,
    sponge::Damped,
    storage::Storage,
    tables::Level,
};
use cutlink_device::{Host, Item, Real};
use rayon::prelude::*;
use std::{any::Any, convert::Infallible, ops::Range, sync::Arc};

pub use census::Census;
pub(crate) use census::{census, inflow};
pub(crate) use embedded::{Fault, fault};
pub(crate) use exchange::arrive_each;
pub(crate) use processor::Processor;
pub(crate) use seed::moments_of;
pub(crate) use tables::cuts as cut_tables;

use order::Order;

#[cfg(not(test))]
use crate::lattice::D3Q27;

/// Most cells of a block.
const BLOCK: usize = 64;

/// Cells of a layer of a block.
pub(crate) const LAYER: usize = 16;

/// Padding before and behind the cells of a row.
pub(crate) const PAD: usize = 16;

/// A population of each cell of a block.
pub(crate) type Row<T> = [T; PAD + BLOCK + PAD];

/// The populations of a block, by velocity.
#[repr(align(64))]
struct Tile<T>([Row<T>; MOST]);

impl<T: Real> Tile<T> {
    fn new() -> Self {
        Self([[T::of(0.0); PAD + BLOCK + PAD]; MOST])
    }
}

/// Transferred moments of a block, by row; six of them in 2D.
pub(crate) type Values<T> = [[T; BLOCK]; 10];

/// A constant that lints do not see through: iterations beyond a lattice's velocities would index out of its tables.
#[cfg_attr(optimized, inline(always))]
fn turn<const N: usize>() -> usize {
    N
}

/// `unrolled!(i < n, { … })` is `for i in 0..n { … }` for a constant n up to 27, with `i` a constant
/// in each turn: the compiler does not unroll long loops by itself, and then looks up tables at run time.
macro_rules! unrolled {
    ($i:ident < $n:expr, $body:block) => {
        unrolled!(@ $i, $n, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26)
    };
    (@ $i:ident, $n:expr, $body:block, $($value:literal)*) => {
        $(
            if $value < $n {
                let $i = $crate::kernels::cpu::turn::<$value>();
                $body
            }
        )*
    };
}
use unrolled;

type Step<const D: usize, S, T> =
    fn(&Level<D, Host>, Relaxation<T>, from: &[S], to: &mut [S], moments: &mut [T]);

type Interpolate<const D: usize, S, T> = fn(&Between<'_, D, T, Host>, moments: &[T], to: &mut [S]);

type Average<const D: usize, S, T> =
    fn(&Between<'_, D, T, Host>, fine_moments: &[T], to: &mut [S], moments: &mut [T]);

/// The stages that take most of the time: see [`step::step`], [`exchange::interpolate`], [`exchange::average`], [`seed::seed`].
#[derive(Debug)]
struct Stages<const D: usize, S: Storage> {
    step: Step<D, S, S::Real>,
    interpolate: Interpolate<D, S, S::Real>,
    average: Average<D, S, S::Real>,
    seed: fn(&Transfer<'_, D, S, Host>, to: &mut [S]),
}

impl<const D: usize, S: Storage> Stages<D, S> {
    const fn of<L: Lattice>() -> Self {
        Self {
            step: step::step::<D, L, S>,
            interpolate: exchange::interpolate::<D, L, S>,
            average: exchange::average::<D, L, S>,
            seed: seed::seed::<D, L, S>,
        }
    }
}

/// The stages of all lattices, monomorphized in statics, so that downstream crates do not instantiate them again (about a minute
/// of compile time).
#[derive(Debug)]
pub struct AllStages<S: Storage> {
    d2q9: Stages<2, S>,
    d3q19: Stages<3, S>,
    // Unit tests run no flow on it; the programs in `tests/` do.
    #[cfg(not(test))]
    d3q27: Stages<3, S>,
}

impl<S: Storage> AllStages<S> {
    const NEW: Self = Self {
        d2q9: Stages::of::<D2Q9>(),
        d3q19: Stages::of::<D3Q19>(),
        #[cfg(not(test))]
        d3q27: Stages::of::<D3Q27>(),
    };
}

/// A type of populations that the stages are compiled for.
pub trait Compiled: Sized {
    /// The table of stages compiled for this type.
    fn all() -> &'static AllStages<Self>
    where
        Self: Storage;
}

macro_rules! compiled {
    ($type:ty) => {
        impl Compiled for $type {
            fn all() -> &'static AllStages<Self> {
                static ALL: AllStages<$type> = AllStages::NEW;
                &ALL
            }
        }
    };
}
compiled!(f64);

// The unit tests of this crate run in f64: without the others, they compile in a third of the time.
#[cfg(not(test))]
compiled!(f32);
#[cfg(not(test))]
compiled!(F16);

#[cfg(test)]
macro_rules! not_in_tests {
    ($type:ty) => {
        impl Compiled for $type {
            fn all() -> &'static AllStages<Self> {
                unreachable!("unit tests should run in f64")
            }
        }
    };
}
#[cfg(test)]
not_in_tests!(f32);
#[cfg(test)]
not_in_tests!(F16);

fn stages<const D: usize, L: Lattice, S: Storage>() -> &'static Stages<D, S> {
    let all = S::all();
    let stages: &dyn Any = match L::KIND {
        LatticeKind::D2Q9 => &all.d2q9,
        LatticeKind::D3Q19 => &all.d3q19,
        #[cfg(not(test))]
        LatticeKind::D3Q27 => &all.d3q27,
        #[cfg(test)]
        LatticeKind::D3Q27 => unreachable!("unit tests should run no flow on D3Q27"),
    };
    stages
        .downcast_ref()
        .expect("a plan should have a lattice of the mesh's dimensions")
}

static STARTS_2D: Starts<2, Host> = Starts::IN_2D;
static STARTS_3D: Starts<3, Host> = Starts::IN_3D;

impl<const D: usize> FlowKernels<D> for Host {
    fn start<'a>(
        ranks: &[Self],
        link: Option<Arc<dyn Communicator>>,
        plan: Plan<'a, D>,
    ) -> Result<Option<Box<dyn LatticeFlow<D> + 'a>>, SolverError> {
        plan::start(ranks, link, plan, &STARTS_2D, &STARTS_3D)
    }
}

impl<const D: usize> StepKernels<D> for Host {
    fn slip<L: Lattice, S: Storage>(
        &self,
        level: &mut Level<D, Self>,
        from: &Vec<S>,
    ) -> Result<(), SolverError> {
        slip::slip::<D, L, S>(level, from);
        Ok(())
    }

    fn friction<L: Lattice, S: Storage>(
        &self,
        level: &mut Level<D, Self>,
        from: &Vec<S>,
    ) -> Result<(), SolverError> {
        drag::friction::<D, L, S>(level, from);
        Ok(())
    }

    fn drag<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        populations: &mut Vec<S>,
        moments: &mut Vec<S::Real>,
    ) -> Result<(), SolverError> {
        drag::drag::<D, L, S>(level, populations, moments);
        Ok(())
    }

    fn step<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        relax: Relaxation<S::Real>,
        from: &Vec<S>,
        to: &mut Vec<S>,
        moments: &mut Vec<S::Real>,
    ) -> Result<(), SolverError> {
        (stages::<D, L, S>().step)(level, relax, from, to, moments);
        Ok(())
    }

    fn damp<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        damped: &Damped<Self>,
        half_step: [S::Real; 3],
        populations: &mut Vec<S>,
        moments: &mut Vec<S::Real>,
    ) -> Result<(), SolverError> {
        damp::damp::<D, L, S>(level, damped, half_step, populations, moments);
        Ok(())
    }

    fn interpolate<L: Lattice, S: Storage>(
        &self,
        between: &Between<'_, D, S::Real, Self>,
        moments: &Vec<S::Real>,
        to: &mut Vec<S>,
    ) -> Result<(), SolverError> {
        (stages::<D, L, S>().interpolate)(between, moments, to);
        Ok(())
    }

    fn average<L: Lattice, S: Storage>(
        &self,
        between: &Between<'_, D, S::Real, Self>,
        fine_moments: &Vec<S::Real>,
        to: &mut Vec<S>,
        moments: &mut Vec<S::Real>,
    ) -> Result<(), SolverError> {
        (stages::<D, L, S>().average)(between, fine_moments, to, moments);
        Ok(())
    }

    fn forces<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        from: &Vec<S>,
        parts: &mut Vec<f64>,
        at: usize,
        fresh: bool,
        sums: &mut Vec<ExactSum>,
    ) -> Result<(), SolverError> {
        let sums = &mut sums[at..at + SUMS * level.patches];
        if fresh {
            sums.fill(ExactSum::default());
        }
        forces::forces::<D, L, S>(level, from, parts, sums);
        Ok(())
    }
}

impl<const D: usize> PopulationKernels<D> for Host {
    fn place<L: Lattice>(q: usize, cell: usize) -> usize {
        Order::<L>::of(q, cell)
    }

    fn narrow(&self, values: &Vec<f32>) -> Result<Vec<F16>, SolverError> {
        Ok(convert::narrow(values))
    }

    fn widen(&self, populations: &Vec<F16>) -> Result<Vec<f32>, SolverError> {
        Ok(convert::widen(populations))
    }

    fn seed<L: Lattice, S: Storage>(
        &self,
        transfer: &Transfer<'_, D, S, Self>,
        to: &mut Vec<S>,
    ) -> Result<(), SolverError> {
        (stages::<D, L, S>().seed)(transfer, to);
        Ok(())
    }

    fn refill<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        half_step: [f64; 3],
        waiting: &[u32],
        source: RefillSource,
        populations: &mut Vec<S>,
    ) -> Result<Vec<u32>, SolverError> {
        let (refill, view) = (refill::refill::<D, L, S>, (level, half_step));
        Ok(refill(view, waiting, source, populations))
    }

    fn mass<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        from: &Vec<S>,
    ) -> Result<Vec<f64>, SolverError> {
        Ok(mass::mass::<D, L, S>(level, from))
    }

    fn rescale<L: Lattice, S: Storage>(
        &self,
        _level: &Level<D, Self>,
        factor: f64,
        populations: &mut Vec<S>,
    ) -> Result<(), SolverError> {
        mass::rescale::<D, L, S>(factor, populations);
        Ok(())
    }
}

impl<const D: usize> FieldKernels<D> for Host {
    fn macroscopic<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        slots: Range<usize>,
        half_step: [S::Real; 3],
        from: &Vec<S>,
    ) -> Result<Vec<f32>, SolverError> {
        let slots = slots.into_par_iter();
        Ok(macroscopic::macroscopic::<D, L, S>(
            level, slots, half_step, from,
        ))
    }

    fn macroscopic_of<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        slots: &Vec<u32>,
        half_step: [S::Real; 3],
        from: &Vec<S>,
    ) -> Result<Vec<f32>, SolverError> {
        let slots = slots.par_iter().map(|&slot| slot as usize);
        Ok(macroscopic::macroscopic::<D, L, S>(
            level, slots, half_step, from,
        ))
    }

    fn put_by_block(
        &self,
        values: &Vec<f32>,
        blocks: &Vec<u32>,
        slots: Range<usize>,
        density: &mut Vec<f32>,
        velocity: &mut Vec<f32>,
    ) -> Result<(), SolverError> {
        let rows = &mut by_block::rows(density, velocity);
        by_block::put_by_block::<D>(values, &blocks[slots], rows);
        Ok(())
    }

    fn fill_refined(
        &self,
        refined: &RefinedBlocks<Self>,
        density: &mut Vec<f32>,
        velocity: &mut Vec<f32>,
    ) -> Result<(), SolverError> {
        by_block::fill_refined::<D>(refined, &mut by_block::rows(density, velocity), 1.0);
        Ok(())
    }

    fn accumulate(
        &self,
        density: &Vec<f32>,
        velocity: &Vec<f32>,
        share: f64,
        values: &mut Vec<[f64; 2]>,
    ) -> Result<(), SolverError> {
        accumulate::accumulate(density, velocity, share, values);
        Ok(())
    }

    fn fastest<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        from: &Vec<S>,
    ) -> Result<Vec<f32>, SolverError> {
        Ok(macroscopic::fastest::<D, L, S>(level, from))
    }

    fn indicate(
        &self,
        level: &Level<D, Self>,
        what: Indicator,
        fields: &Vec<f32>,
    ) -> Result<Vec<f32>, SolverError> {
        Ok(indicate::indicate(level, what, fields))
    }

    fn integrate<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        slots: &Vec<u32>,
        half_step: [S::Real; 3],
        from: &Vec<S>,
    ) -> Result<FluidSums, SolverError> {
        Ok(integrate::integrate::<D, L, S>(
            level, slots, half_step, from,
        ))
    }
}

impl<const D: usize> HaloKernels<D> for Host {
    fn gather<T: Item>(
        &self,
        places: &Vec<u64>,
        range: Range<usize>,
        from: &Vec<T>,
        to: &mut Vec<T>,
    ) -> Result<(), SolverError> {
        halo::gather(&places[range], from, to);
        Ok(())
    }

    fn scatter<T: Item>(
        &self,
        places: &Vec<u64>,
        range: Range<usize>,
        from: &Vec<T>,
        to: &mut Vec<T>,
    ) -> Result<(), SolverError> {
        halo::scatter(&places[range], from, to);
        Ok(())
    }

    fn exchange<T: Item>(
        &self,
        link: &Infallible,
        _: &mut [Listed<'_, T, Self>],
    ) -> Result<(), SolverError> {
        match *link {}
    }
}

impl<const D: usize> HeatKernels<D> for Host {
    fn momentum<L: Lattice, S: Storage>(
        &self,
        _level: &Level<D, Self>,
        half_step: [S::Real; 3],
        from: &Vec<S>,
        to: &mut Vec<f64>,
    ) -> Result<(), SolverError> {
        lift::momentum::<D, L, S>(half_step, from, to);
        Ok(())
    }

    fn carry(
        &self,
        heat: &HeatLevel<'_, D, Self>,
        from: &Vec<f64>,
        to: &mut Vec<f64>,
        given: &mut Vec<f64>,
    ) -> Result<(), SolverError> {
        heat::carry(heat, from, to, given);
        Ok(())
    }

    fn lift<L: Lattice, S: Storage>(
        &self,
        _level: &Level<D, Self>,
        tables: &HeatTables<Self>,
        lift: [f64; 3],
        temperature: &Vec<f64>,
        populations: &mut Vec<S>,
    ) -> Result<(), SolverError> {
        lift::lift::<D, L, S>(tables, lift, temperature, populations);
        Ok(())
    }

    fn restrict(
        &self,
        shared: &HeatBetween<Self>,
        fine: &Vec<f64>,
        given: &mut Vec<f64>,
        coarse: &mut Vec<f64>,
    ) -> Result<(), SolverError> {
        heat::restrict::<D>(shared, fine, given, coarse);
        Ok(())
    }

    fn prolong(
        &self,
        shared: &HeatBetween<Self>,
        coarse: &Vec<f64>,
        fine: &mut Vec<f64>,
    ) -> Result<(), SolverError> {
        heat::prolong::<D>(shared, coarse, fine);
        Ok(())
    }
}

impl<const D: usize> GrainKernels<D> for Host {
    fn hold_cells<L: Lattice, S: Storage>(
        &self,
        level: &Level<D, Self>,
        tables: &HoldTables<Self>,
        spheres: &Vec<HeldSphere>,
        numbers: HoldNumbers,
        half_step: [S::Real; 3],
        populations: &mut Vec<S>,
        given: &mut Vec<f64>,
    ) -> Result<(), SolverError> {
        let of = (&spheres[..], &numbers);
        hold::hold_cells::<D, L, S>(level, tables, of, half_step, populations, given);
        Ok(())
    }

    fn sum_given(
        &self,
        tables: &HoldTables<Self>,
        given: &Vec<f64>,
        sums: &mut Vec<f64>,
    ) -> Result<(), SolverError> {
        hold::sum_given(tables, given, sums);
        Ok(())
    }
}
