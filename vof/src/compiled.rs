//! What callers use, compiled here once for 2D and once for 3D: see [`of_dimension`].

use crate::running::Shown;
use crate::{
    Coarseness, FlowMesh, FlowParams, FluidLoad, InterfaceLook, LiquidShape, PhaseIntegrals,
    StepDone, TwoPhaseError, TwoPhaseFlow,
};
use cutlink_amr::Forest;
use cutlink_device::of_dimension;

type Made<T> = Result<T, TwoPhaseError>;

pub(crate) struct Compiled<const D: usize> {
    pub(crate) mesh: fn(&Forest<D>, [f64; D], f64, Vec<u64>) -> Made<FlowMesh<D>>,
    pub(crate) make: fn(FlowMesh<D>, FlowParams<D>, &[LiquidShape<D>]) -> Made<TwoPhaseFlow<D>>,
    pub(crate) step: fn(&mut TwoPhaseFlow<D>, f64) -> Made<StepDone>,
    pub(crate) after: fn(&mut TwoPhaseFlow<D>) -> Made<Shown>,
    pub(crate) adapt: fn(&mut TwoPhaseFlow<D>) -> Made<InterfaceLook>,
    pub(crate) divergence: fn(&TwoPhaseFlow<D>) -> f64,
    pub(crate) integrals: fn(&TwoPhaseFlow<D>) -> PhaseIntegrals<D>,
    pub(crate) coarseness: fn(&TwoPhaseFlow<D>) -> Coarseness,
    pub(crate) area: fn(&TwoPhaseFlow<D>) -> f64,
    pub(crate) loads: fn(&TwoPhaseFlow<D>, [f64; D]) -> Vec<FluidLoad<D>>,
}

impl<const D: usize> Compiled<D> {
    const fn new() -> Self {
        Self {
            mesh: FlowMesh::make,
            make: TwoPhaseFlow::make,
            step: TwoPhaseFlow::step_here,
            after: TwoPhaseFlow::after_here,
            adapt: TwoPhaseFlow::adapt_here,
            divergence: TwoPhaseFlow::largest_divergence,
            integrals: TwoPhaseFlow::sums,
            coarseness: TwoPhaseFlow::coarseness_here,
            area: TwoPhaseFlow::area_here,
            loads: TwoPhaseFlow::loads_here,
        }
    }
}

static TWO: Compiled<2> = Compiled::new();
static THREE: Compiled<3> = Compiled::new();

/// The functions of a dimension.
pub(crate) fn compiled<const D: usize>() -> &'static Compiled<D> {
    of_dimension::<D, _>(&TWO, &THREE)
}
