//! Sheets: open surfaces whose facets point anywhere, without a solid cell.

use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
};
use cutlink_tests::{
    backend_test,
    backends::{AnyKernels, conform},
    bodies::frame_around,
};
use cutlink_voxelizer::{EmbedParams, Fill, kernels::MeshKernels, prepare};

backend_test!(a_bowl_and_an_arc_in_any_directions);

/// The embedding is that of the host, and has no solid cell.
fn check<const D: usize, K: MeshKernels<D>>(kernels: &K, mut surface: Surface<D>)
where
    Facet<D>: Exact<D>,
{
    for (f, facet) in surface.facets.iter_mut().enumerate() {
        if f % 3 == 0 {
            facet.swap(0, 1);
        }
    }
    let frame = frame_around(&surface, 32);
    for (levels, fill) in [(1, Fill::Sheets), (3, Fill::Sheltered), (4, Fill::Sheets)] {
        let params = EmbedParams::new(levels, 0.02, fill);
        let (snapped, _) = prepare(&Host, &surface, &frame, &params).expect("in range");
        let mesh = conform(kernels, &snapped, frame, &params).expect("as on the host");
        assert_eq!(mesh.solid_at(levels - 1), 0, "nothing is solid");
        assert!(!mesh.links.is_empty(), "walls");
    }
}

fn a_bowl_and_an_arc_in_any_directions<K: AnyKernels>(kernels: &K) {
    let mut bowl = Shape3::Sphere { radius: 0.6 }
        .surface(0.01)
        .expect("a sphere");
    let corner = |v: u32| bowl.vertices[v as usize];
    let below = |f: &[u32; 3]| f.iter().all(|&v| corner(v)[2] < 0.2);
    bowl.facets = bowl.facets.iter().copied().filter(below).collect();
    check(kernels, bowl);
    let mut arc = Shape2::Circle { radius: 0.6 }
        .surface(0.001)
        .expect("a circle");
    arc.facets.truncate(arc.facets.len() - 5);
    check(kernels, arc);
}
