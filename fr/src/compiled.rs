//! What callers use of a flow, compiled in this crate once for each dimension, precision and backend.
//!
//! A generic function is compiled again in every crate that calls it. These are reached through a table, which
//! [`Kernels`] and [`EulerKernels`] have.

use crate::{
    Basis, ElementChanges, Energies, EulerFlow, EulerParams, FrError, Primitive, Totals,
    Unresolved, WallLoad,
    kernels::{EulerKernels, Kernels},
};
use cutlink_amr::linear::Leaves;
use std::ops::Range;

/// A state by place.
type State<'a, const D: usize> = &'a (dyn Fn([f64; D]) -> Primitive<D> + Sync);

type Made<T> = Result<T, FrError>;

/// Functions of a flow on the host.
#[derive(Debug)]
#[expect(
    clippy::type_complexity,
    reason = "signatures as the methods have them"
)]
pub struct HostFunctions<const D: usize, T: Kernels<D>> {
    pub(crate) make: Makes<D, T>,
    pub(crate) set: fn(&mut EulerFlow<D, T>, State<'_, D>),
    pub(crate) set_adapted: fn(&mut EulerFlow<D, T>, State<'_, D>) -> Made<()>,
    pub(crate) restore: fn(&mut EulerFlow<D, T>, Leaves<D>, &[T], f64, u64) -> Made<()>,
    pub(crate) adapt: fn(&mut EulerFlow<D, T>) -> Made<ElementChanges>,
    pub(crate) adapt_to: fn(&mut EulerFlow<D, T>, &mut Vec<u8>) -> Made<ElementChanges>,
    pub(crate) cells: fn(&EulerFlow<D, T>) -> Vec<Primitive<D>>,
    pub(crate) state_at: fn(&EulerFlow<D, T>, [f64; D]) -> Option<Primitive<D>>,
    pub(crate) solid_cells: fn(&EulerFlow<D, T>, u32) -> u64,
    pub(crate) decays: fn(&EulerFlow<D, T>, f64) -> Vec<[f64; D]>,
    pub(crate) totals: fn(&EulerFlow<D, T>) -> Totals<D>,
    pub(crate) energies: fn(&EulerFlow<D, T>) -> Energies,
    pub(crate) unresolved: fn(&EulerFlow<D, T>) -> Unresolved,
    pub(crate) density_error: fn(&EulerFlow<D, T>, &(dyn Fn([f64; D]) -> f64 + Sync)) -> f64,
}

type Makes<const D: usize, T> =
    fn(&Leaves<D>, [[f64; D]; 2], EulerParams<D>, Basis) -> Made<EulerFlow<D, T>>;

impl<const D: usize, T: Kernels<D>> HostFunctions<D, T> {
    pub(crate) const fn new() -> Self {
        Self {
            make: EulerFlow::make,
            set: |flow, state| flow.set_here(state),
            set_adapted: |flow, state| flow.set_adapted_here(state),
            restore: EulerFlow::restore_here,
            adapt: EulerFlow::adapt_here,
            adapt_to: EulerFlow::adapt_to_here,
            cells: EulerFlow::cells_here,
            state_at: EulerFlow::state_here,
            solid_cells: EulerFlow::solid_cells_here,
            decays: EulerFlow::decays_here,
            totals: EulerFlow::totals_here,
            energies: EulerFlow::energies_here,
            unresolved: EulerFlow::unresolved_here,
            density_error: |flow, exact| flow.density_error_here(exact),
        }
    }
}

/// Functions of a flow on a backend.
#[derive(Debug)]
#[expect(
    clippy::type_complexity,
    reason = "signatures as the methods have them"
)]
pub struct FlowFunctions<const D: usize, T: Kernels<D>, B: EulerKernels<D>> {
    pub(crate) on: fn(EulerFlow<D, T>, &B) -> Made<EulerFlow<D, T, B>>,
    pub(crate) to_host: fn(&EulerFlow<D, T, B>) -> Made<EulerFlow<D, T>>,
    pub(crate) advance: fn(&mut EulerFlow<D, T, B>, u64) -> Made<()>,
    pub(crate) advance_to: fn(&mut EulerFlow<D, T, B>, f64) -> Made<()>,
    pub(crate) wave_rate: fn(&EulerFlow<D, T, B>, u32) -> Made<f64>,
    pub(crate) wall_loads: fn(&mut EulerFlow<D, T, B>, [f64; D]) -> Made<Vec<WallLoad>>,
    pub(crate) cells_of: Cells<D, T, B>,
}

type Cells<const D: usize, T, B> = fn(&EulerFlow<D, T, B>, Range<usize>) -> Made<Vec<Primitive<D>>>;

impl<const D: usize, T: Kernels<D>, B: EulerKernels<D>> FlowFunctions<D, T, B> {
    pub(crate) const fn new() -> Self {
        Self {
            on: EulerFlow::on_here,
            to_host: EulerFlow::to_host_here,
            advance: EulerFlow::advance_here,
            advance_to: EulerFlow::advance_to_here,
            wave_rate: EulerFlow::wave_rate_here,
            wall_loads: EulerFlow::wall_loads_here,
            cells_of: EulerFlow::cells_of_here,
        }
    }
}
