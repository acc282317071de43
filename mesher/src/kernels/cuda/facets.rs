//! Vertices and corner numbers in, facets in Morton order out.

use super::{FACETS, THREADS};
use crate::{
    kernels::{FacetArrays, FacetSet, Repeats, check_snapped, repeats::Places},
    snap::Snapped,
};
use cutlink_device::{
    Backend, DeviceError,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn facet_set<const D: usize>(
    cuda: &Cuda,
    surface: &Snapped<D>,
    repeats: Repeats,
) -> Result<FacetSet<D, Cuda>, DeviceError> {
    check_snapped(surface);
    let places = Places::new(surface, repeats);
    let (count, walls) = (places.facets.len(), places.walls);
    let bytes = 4 * D * (D * count + count + surface.vertices.len()) + 24 * walls;
    cuda.reserve("the surface", bytes as u64)?;
    let vertices = cuda.upload_slice("vertices", &surface.vertices)?;
    let facets = cuda.upload_slice("facets", &places.facets)?;
    let order = order(cuda, &vertices, &facets, walls)?;
    let patched = surface.patches.len() != 1;
    let of_facet = if patched {
        let mut of_facet = places.patch.to_vec();
        of_facet.resize(count, 0);
        of_facet
    } else {
        Vec::new()
    };
    let of_facet = cuda.upload_slice("patches", &of_facet)?;
    let mut corners = cuda.uninit("facets", count)?;
    let mut patch = cuda.uninit("patches", of_facet.len())?;
    let times_of = cuda.upload_slice("multiplicities", &places.times)?;
    let mut times = cuda.uninit("multiplicities", times_of.len())?;
    let mut extent = cuda.alloc("an extent", 1, 0i32)?;
    let launch = cuda
        .launch(&FACETS, D, "gather")
        .buf(&vertices)
        .buf(&facets)
        .buf(&order)
        .val(walls as u32)
        .val(count as u32)
        .buf(&of_facet)
        .val(u32::from(patched))
        .buf(&times_of)
        .val(u32::from(!times_of.is_empty()))
        .out(&mut corners)
        .out(&mut patch)
        .out(&mut times)
        .out(&mut extent);
    // SAFETY: corner numbers are below the vertices', as checked; the order is one of the walls; corners,
    // and patches and multiplicities where there are any, have an entry a facet.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(FacetSet(FacetArrays {
        corners,
        patch,
        times,
        patches: surface.patches.len().max(1),
        walls: walls as u32,
        extent: extent.read(0)?,
    }))
}

fn order<const D: usize>(
    cuda: &Cuda,
    vertices: &CudaBuf<[i32; D]>,
    facets: &CudaBuf<[u32; D]>,
    walls: usize,
) -> Result<CudaBuf<u32>, DeviceError> {
    let mut keys = cuda.uninit("keys of facets", walls)?;
    let mut numbers = cuda.uninit("numbers of facets", walls)?;
    let launch = cuda
        .launch(&FACETS, D, "keys")
        .buf(vertices)
        .buf(facets)
        .val(walls as u32)
        .out(&mut keys)
        .out(&mut numbers);
    // SAFETY: corner numbers are below the vertices', as checked by the caller; a key and a number a wall.
    unsafe { launch.run(LaunchGrid::over(walls, THREADS))? };
    let bits = if D == 2 { 60 } else { 63 };
    cuda.sort64(&keys, &numbers, bits)
}
