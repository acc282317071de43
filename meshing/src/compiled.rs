//! What callers use, compiled here once for 2D and once for 3D: see [`of_dimension`].

use crate::estimate;
use crate::mesh::{
    build::{self, Builder, Placed, Prepared},
    domain::{self, Domain},
    product,
    report::MeshReport,
    resolve::Job,
    sides,
};
use crate::options::Root;
use crate::vtk::{self, VtkFormat};
use cutlink_common::{Error, device::DeviceReport};
use cutlink_device::of_dimension;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    intersect::Meet,
    snap::Snapped,
};
use cutlink_voxelizer::{EmbedParams, EstimateError, Forecast, Frame, Mesh, MeshCounts};
use std::path::Path;

/// A mesh, and its counts if they were made where it was built.
pub(crate) type Counted<const D: usize> = (Mesh<D>, Option<MeshCounts<D>>);

type Made<T> = Result<T, Error>;

pub(crate) struct Compiled<const D: usize> {
    pub(crate) place_surface: fn(&mut Builder<'_>, Surface<D>) -> Made<Placed<D>>,
    pub(crate) params: fn(&Builder<'_>, &Placed<D>) -> Made<EmbedParams>,
    pub(crate) prepare: fn(&mut Builder<'_>, Placed<D>) -> Made<Prepared<D>>,
    pub(crate) make: fn(&mut Builder<'_>, &Prepared<D>, bool) -> Made<Counted<D>>,
    pub(crate) serve: fn(&mut Builder<'_>, &Prepared<D>) -> Made<()>,
    pub(crate) check_for_flow: fn(&mut Builder<'_>, &Prepared<D>, &Mesh<D>) -> Made<()>,
    pub(crate) count: Reports<D>,
    pub(crate) deliver: Reports<D>,
    pub(crate) plan: fn(&Job, &Prepared<D>, DeviceReport) -> MeshReport,
    pub(crate) bare: fn(&[f64], &Root, [bool; 3]) -> Made<Mesh<D>>,
    pub(crate) embedded: Embeds<D>,
    pub(crate) turn_surface: fn(&Mesh<D>, &mut Surface<D>),
    pub(crate) turn_snapped: fn(&Mesh<D>, &mut Snapped<D>),
    pub(crate) domain_of_case: fn(&[f64], &Root) -> Made<Domain<D>>,
    pub(crate) forecast: Forecasts<D>,
    pub(crate) write_vtk: fn(&Mesh<D>, VtkFormat, Option<usize>, &Path, bool) -> Made<u64>,
}

type Reports<const D: usize> = fn(
    &mut Builder<'_>,
    &mut MeshReport,
    &Prepared<D>,
    &Mesh<D>,
    Option<MeshCounts<D>>,
) -> Made<()>;

type Embeds<const D: usize> =
    fn(&Surface<D>, Frame<D>, &EmbedParams) -> Made<(Mesh<D>, Snapped<D>)>;

type Forecasts<const D: usize> =
    fn(&Surface<D>, Frame<D>, &EmbedParams, u64) -> Result<Forecast<D>, EstimateError>;

impl<const D: usize> Compiled<D>
where
    Facet<D>: Exact<D> + Meet<D>,
{
    const fn new() -> Self {
        Self {
            place_surface: |builder, surface| builder.place_surface_here(surface),
            params: |builder, placed| builder.params_here(placed),
            prepare: |builder, placed| builder.prepare_here(placed),
            make: |builder, prepared, count| builder.make(prepared, count),
            serve: |builder, prepared| builder.serve_here(prepared),
            check_for_flow: |builder, prepared, mesh| builder.check_for_flow_here(prepared, mesh),
            count: |builder, report, prepared, mesh, counts| {
                builder.count_here(report, prepared, mesh, counts)
            },
            deliver: |builder, report, prepared, mesh, counts| {
                builder.deliver_here(report, prepared, mesh, counts)
            },
            plan: product::plan_here,
            bare: build::bare_here,
            embedded: build::embedded_here,
            turn_surface: sides::turn_surface_here,
            turn_snapped: sides::turn_snapped_here,
            domain_of_case: domain::of_case_here,
            forecast: estimate::forecast_here,
            write_vtk: vtk::write_here,
        }
    }
}

static TWO: Compiled<2> = Compiled::new();
static THREE: Compiled<3> = Compiled::new();

/// The functions of a dimension.
pub(crate) fn compiled<const D: usize>() -> &'static Compiled<D> {
    of_dimension::<D, _>(&TWO, &THREE)
}
