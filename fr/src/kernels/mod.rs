//! The stages of a step. A backend implements [`StageKernels`] and [`EulerKernels`]; the files here are the CPU's, those in
//! `cuda/` their twins.
//!
//! | stage | contract | file |
//! |---|---|---|
//! | `common_states` | common velocities and temperatures of hanging faces; of viscous flows | `viscous` |
//! | `viscous_rates` | viscous fluxes: the rates of change inside elements, and the traces on their lower faces and at walls | `viscous` |
//! | `mortars` | common fluxes of hanging faces at the points of their fine sides, and gathered on the coarse side | `mortar` |
//! | `walls` | fluxes through walls | `walls` |
//! | `advance` | common fluxes of all other faces, the corrected flux, the update, new traces: one pass over the state | `advance` |
//! | `traces` | the traces of a new state | `advance` |
//! | `penalize` | what bodies that cut elements take at the end of a step | `penalty` |
//! | `wave_rate` | the fastest wave | `stages.rs`, `cuda/advance` |
//! | `transfer` | the state of an adapted tree | `transfer`, `cuda/adapt.rs` |
//!
//! | array | order |
//! |---|---|
//! | state | leaf, unknown (ρ, ρ v, ρ E), point with x first |
//! | traces | leaf, face, unknown, point of the face with the lower axis first |
//! | mortars | slot of the hanging face, sub-face and then the whole face, unknown, point |
//! | common states | the same with velocity and p / ρ in place of unknowns |
//! | viscous traces | leaf, axis, unknown without ρ, point of the lower face |
//! | viscous rates | leaf, unknown without ρ, point |
//! | viscous fluxes at walls | slot of the wall, stress by axis and then conducted heat, point |
//! | fluxes through walls | slot, unknown and then the pressure on the wall, point |
//! | losses | element with points in bodies, momentum and then energy, point |
//!
//! Each number is the result of the same operations in the same order, of + - × ÷ √, comparison and `mul_add` alone, so
//! states are the same bits for any number of threads, on every processor and on a GPU.

mod advance;
#[cfg(feature = "cuda")]
mod cuda;
pub mod mortar;
mod operators;
mod penalty;
mod riemann;
mod stages;
pub mod transfer;
mod viscous;
mod walls;

use crate::{
    Basis,
    compiled::{FlowFunctions, HostFunctions},
    walls::WallTable,
};
use cutlink_amr::linear::{Faces, Leaves};
use cutlink_device::{Backend, Host, Real};
pub(crate) use operators::numbers as operator_numbers;
pub use operators::{Matrix, Operators};
pub use penalty::{MaskTable, Penalty};
use rayon::prelude::*;
pub use riemann::rusanov;
pub use stages::{EulerKernels, StageKernels, Waves};
pub use transfer::Moves;

/// Lengths of what an element has, by dimension and points on an axis.
pub mod sizes {
    /// Unknowns: density, momentum, energy.
    pub const fn unknowns(d: usize) -> usize {
        d + 2
    }

    /// Points of an element.
    pub const fn nodes(d: usize, q: usize) -> usize {
        q.pow(d as u32)
    }

    /// Points of a face.
    pub const fn face(d: usize, q: usize) -> usize {
        q.pow(d as u32 - 1)
    }

    /// Numbers of an element.
    pub const fn element(d: usize, q: usize) -> usize {
        unknowns(d) * nodes(d, q)
    }

    /// Numbers of a trace.
    pub const fn trace(d: usize, q: usize) -> usize {
        unknowns(d) * face(d, q)
    }

    /// Bytes of an element in a flow that is adapted: two states, two sets of traces, the tree, and of a viscous flow
    /// its viscous traces and rates.
    pub const fn bytes<T>(d: usize, q: usize, is_viscous: bool) -> u64 {
        let viscous = if is_viscous {
            viscous(d, q) + rates(d, q)
        } else {
            0
        };
        let numbers = 2 * element(d, q) + 4 * d * trace(d, q) + viscous;
        (size_of::<T>() * numbers + 64) as u64
    }

    /// Variables whose gradients the viscous fluxes depend on: velocity and temperature. Also the unknowns that have
    /// viscous fluxes: momentum and energy.
    pub const fn gradients(d: usize) -> usize {
        d + 1
    }

    /// Numbers of a trace of these variables, or of a viscous flux.
    pub const fn gradient_trace(d: usize, q: usize) -> usize {
        gradients(d) * face(d, q)
    }

    /// Numbers of an element's viscous traces, which it has on the lower face of each axis.
    pub const fn viscous(d: usize, q: usize) -> usize {
        d * gradient_trace(d, q)
    }

    /// Numbers of an element's rates of change by viscous fluxes.
    pub const fn rates(d: usize, q: usize) -> usize {
        gradients(d) * nodes(d, q)
    }

    /// Numbers of a hanging face's common velocities and temperatures: of its sub-faces, and of the whole.
    pub const fn common_slot(d: usize, q: usize) -> usize {
        (parts(d) + 1) * gradient_trace(d, q)
    }

    /// Numbers of the flux through a wall's face, and of the pressure on it.
    pub const fn wall(d: usize, q: usize) -> usize {
        trace(d, q) + face(d, q)
    }

    /// Sub-faces of a hanging face.
    pub const fn parts(d: usize) -> usize {
        1 << (d - 1)
    }

    /// Numbers of a hanging face: the fluxes of its sub-faces, and of the whole as its coarse side has it.
    pub const fn slot(d: usize, q: usize) -> usize {
        (parts(d) + 1) * trace(d, q)
    }
}

/// What a stage reads.
#[derive(Debug)]
pub struct Task<'a, const D: usize, T: Real, B: Backend = Host> {
    /// The basis.
    pub basis: &'a Basis,
    /// Its matrices in the backend's memory.
    pub matrices: &'a B::Buf<T>,
    /// The ratio of specific heats.
    pub gamma: T,
    /// The leaves.
    pub leaves: &'a Leaves<D, B>,
    /// The level of each leaf, on the host.
    pub levels: &'a [u8],
    /// What lies beyond the faces of leaves.
    pub faces: &'a Faces<D, B>,
    /// The time of the stage.
    pub time: T,
    /// By axis: 2 / h of root elements times the time of the stage.
    pub rates: [T; D],
    /// How much of the state at the start of the step the stage takes back.
    pub keep: T,
    /// Whether this is the first stage of a step, which saves the state.
    pub is_first: bool,
    /// The state's traces.
    pub traces: &'a B::Buf<T>,
    /// The trace of the far field; empty where the box is periodic.
    pub far_field: &'a B::Buf<T>,
    /// Coefficients of viscous fluxes; `None` for the Euler equations.
    pub viscosity: Option<Coefficients<D, T>>,
    /// Walls.
    pub walls: &'a WallTable<T, B>,
    /// The penalty of viscous fluxes at walls, over 2 / h.
    pub penalty: T,
}

/// Coefficients of viscous fluxes.
#[derive(Debug, Clone, Copy)]
pub struct Coefficients<const D: usize, T> {
    /// Dynamic viscosity.
    pub viscosity: T,
    /// Heat conductivity over the gas constant.
    pub conductivity: T,
    /// By axis: 2 / h of root elements.
    pub slopes: [T; D],
}

/// What `advance` has from the stages before it. Of Euler flows `viscous` and `rates` are empty.
#[derive(Debug)]
pub struct Fluxes<'a, T: Real, B: Backend = Host> {
    /// The fluxes of hanging faces.
    pub mortars: &'a B::Buf<T>,
    /// The viscous traces.
    pub viscous: &'a B::Buf<T>,
    /// The viscous rates.
    pub rates: &'a B::Buf<T>,
    /// The fluxes through walls.
    pub walls: &'a B::Buf<T>,
}

/// The stages on the CPU, in a precision.
pub trait PrecisionKernels<const D: usize>: Real {
    /// The traces of a state.
    fn traces(basis: &Basis, u: &[Self], traces: &mut [Self]);

    /// The common velocities and temperatures of hanging faces, and their projections to the coarse sides.
    fn common_states(task: &Task<'_, D, Self>, out: &mut [Self]);

    /// The viscous traces and rates of a state, and the viscous fluxes at walls, with the `common_states` of hanging faces.
    fn viscous_rates(task: &Task<'_, D, Self>, states: &[Self], u: &[Self], out: [&mut [Self]; 3]);

    /// The fluxes through walls, with the viscous ones there.
    fn walls(task: &Task<'_, D, Self>, viscous: &[Self], out: &mut [Self]);

    /// The common fluxes of hanging faces, and their projections to the coarse sides.
    fn mortars(task: &Task<'_, D, Self>, viscous: &[Self], out: &mut [Self]);

    /// A stage of all elements: the new state, which takes the place of `u`, and its traces. In the first stage of a step
    /// it takes the place of `start` instead, and `u` is then the state at the start.
    fn advance(
        task: &Task<'_, D, Self>,
        fluxes: &Fluxes<'_, Self>,
        u: &mut [Self],
        start: &mut [Self],
        traces: &mut [Self],
    );

    /// What bodies take from the points inside of them at the end of a step, and the traces without it.
    fn penalize(
        penalty: &Penalty<'_, Self>,
        u: &mut [Self],
        traces: &mut [Self],
        losses: &mut [Self],
    );

    /// The state of the leaves after an adaptation, from that of the leaves before.
    fn transfer(basis: &Basis, moves: &Moves<'_>, from: &[Self], to: &mut [Self]);
}

/// A precision of flows: the stages on the CPU, and tables of functions that callers have.
pub trait Kernels<const D: usize>: PrecisionKernels<D> {
    /// Functions of flows on the host, compiled in this crate.
    fn host_functions() -> &'static HostFunctions<D, Self>;

    /// The same of [`EulerKernels::functions`] for the host.
    fn flow_functions() -> &'static FlowFunctions<D, Self, Host>;

    /// The same for CUDA.
    #[cfg(feature = "cuda")]
    fn cuda_functions() -> &'static FlowFunctions<D, Self, cutlink_device::cuda::Cuda>;
}

/// A call of a function for the points of an order.
macro_rules! by_order {
    ($basis:expr, $function:path, $d:literal, ($($argument:expr),*)) => {{
        use $function as function;
        match $basis.order() {
            1 => function::<$d, 2, _>($($argument),*),
            2 => function::<$d, 3, _>($($argument),*),
            3 => function::<$d, 4, _>($($argument),*),
            _ => function::<$d, 5, _>($($argument),*),
        }
    }};
}

/// The stages of a dimension and precision, compiled in this crate for each order.
macro_rules! kernels {
    ($d:literal, $type:ty) => {
        impl PrecisionKernels<$d> for $type {
            fn traces(basis: &Basis, u: &[Self], traces: &mut [Self]) {
                by_order!(basis, advance::traces, $d, (basis, u, traces));
            }

            fn common_states(task: &Task<'_, $d, Self>, out: &mut [Self]) {
                by_order!(task.basis, viscous::common_states, $d, (task, out));
            }

            fn viscous_rates(
                task: &Task<'_, $d, Self>,
                states: &[Self],
                u: &[Self],
                out: [&mut [Self]; 3],
            ) {
                by_order!(task.basis, viscous::rates, $d, (task, states, u, out));
            }

            fn walls(task: &Task<'_, $d, Self>, viscous: &[Self], out: &mut [Self]) {
                by_order!(task.basis, walls::walls, $d, (task, viscous, out));
            }

            fn mortars(task: &Task<'_, $d, Self>, viscous: &[Self], out: &mut [Self]) {
                by_order!(task.basis, mortar::mortars, $d, (task, viscous, out));
            }

            fn advance(
                task: &Task<'_, $d, Self>,
                fluxes: &Fluxes<'_, Self>,
                u: &mut [Self],
                start: &mut [Self],
                traces: &mut [Self],
            ) {
                by_order!(
                    task.basis,
                    advance::advance,
                    $d,
                    (task, fluxes, u, start, traces)
                );
            }

            fn penalize(
                penalty: &Penalty<'_, Self>,
                u: &mut [Self],
                traces: &mut [Self],
                losses: &mut [Self],
            ) {
                by_order!(
                    penalty.basis,
                    penalty::penalize,
                    $d,
                    (penalty, u, traces, losses)
                );
            }

            fn transfer(basis: &Basis, moves: &Moves<'_>, from: &[Self], to: &mut [Self]) {
                by_order!(basis, transfer::transfer, $d, (basis, moves, from, to));
            }
        }

        impl Kernels<$d> for $type {
            fn host_functions() -> &'static HostFunctions<$d, Self> {
                static FUNCTIONS: HostFunctions<$d, $type> = HostFunctions::new();
                &FUNCTIONS
            }

            fn flow_functions() -> &'static FlowFunctions<$d, Self, Host> {
                static FUNCTIONS: FlowFunctions<$d, $type, Host> = FlowFunctions::new();
                &FUNCTIONS
            }

            #[cfg(feature = "cuda")]
            fn cuda_functions() -> &'static FlowFunctions<$d, Self, cutlink_device::cuda::Cuda> {
                static FUNCTIONS: FlowFunctions<$d, $type, cutlink_device::cuda::Cuda> =
                    FlowFunctions::new();
                &FUNCTIONS
            }
        }
    };
}

kernels!(2, f32);
kernels!(2, f64);
kernels!(3, f32);
kernels!(3, f64);

/// The traces of both sides of a leaf's face, that of lower coordinates first.
#[inline(always)]
fn low_first<'a, T>(face: usize, own: &'a [T], beyond: &'a [T]) -> (&'a [T], &'a [T]) {
    if face % 2 == 1 {
        (own, beyond)
    } else {
        (beyond, own)
    }
}

/// Items that a thread takes at once.
const CHUNK: usize = 16;

/// Work on chunks of items of `one` numbers each: the number of the first, and their numbers.
#[inline(always)]
fn for_chunks<T: Real>(out: &mut [T], one: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    out.par_chunks_mut(CHUNK * one)
        .enumerate()
        .for_each(|(chunk, out)| {
            vectorized(
                #[inline(always)]
                || work(chunk * CHUNK, out),
            );
        });
}

/// Asks for numbers that are needed soon; nothing where the processor has no such instruction.
#[inline(always)]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "the instruction is an intrinsic")
)]
fn prefetch<T>(soon: &[T]) {
    /// Bytes of a line of the cache.
    const LINE: usize = 64;
    for one in soon.chunks(LINE / size_of::<T>()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every processor of the architecture has it, and it reads nothing.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(one.as_ptr().cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = one;
    }
}

/// Runs work as it is compiled for processors with AVX2 and fused multiplication, where this is one. The results are the
/// same: elsewhere a fused operation is a call. (With AVX-512 the compiler gathers what lies apart.)
#[inline(always)]
fn vectorized(work: impl FnOnce()) {
    #[cfg(target_arch = "x86_64")]
    if let Some(processor) = pulp::x86::V3::try_new() {
        return processor.vectorize(work);
    }
    work();
}
