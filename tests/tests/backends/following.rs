//! Meshes with bodies whose fluid is refined and coarsened: the same on all backends, and the bodies stay.

use cutlink_amr::{Mark, checksum};
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
};
use cutlink_tests::{
    arrays::same_mesh,
    backend_test,
    backends::{AnyKernels, same_counts},
    bodies,
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Mesh, MeshViolation, held_by, kernels::MeshKernels, validate,
};

backend_test!(
    a_mesh_around_a_circle_follows_marks,
    a_mesh_around_a_sphere_follows_marks
);

/// Marks by a hash of places, with siblings coarsened together or they would hardly ever go.
fn marks<const D: usize>(mesh: &Mesh<D>, round: u64, levels: u8) -> Vec<u8> {
    let forest = &mesh.forest;
    let mark = |id: usize| {
        let level = forest.level[id];
        let key = checksum::mix(checksum::block_key(level, forest.coord[id]) ^ round);
        let group = checksum::block_key(level, forest.coord[id].map(|c| c >> 1));
        match (key % 4, checksum::mix(group ^ round) % 2) {
            (0, _) if level + 1 < levels => Mark::Refine as u8,
            (_, 1) => Mark::Coarsen as u8,
            _ => Mark::Keep as u8,
        }
    };
    (0..forest.capacity()).map(mark).collect()
}

fn follows<const D: usize, K: MeshKernels<D>>(kernels: &K, surface: &Surface<D>, periodic: bool)
where
    Facet<D>: Exact<D>,
{
    let frame = bodies::frame_around(surface, 40);
    let params = EmbedParams {
        periodic: [false, periodic, periodic],
        ..EmbedParams::new(3, 0.0, Fill::NonZero)
    };
    let first = bodies::mesh_of(surface, frame, &params);
    let mut here = first.upload(&Host).expect("a copy");
    let mut there = here.upload(kernels).expect("a copy");
    let mut held = held_by(&Host, &here.forest).expect("flags");
    let mut held_there = held_by(kernels, &there.forest).expect("flags");
    let (mut refined, mut coarsened, mut withheld) = (0, 0, 0);
    // The host is compared with itself.
    let rounds = if kernels.launches().is_some() { 6 } else { 4 };
    for round in 0..rounds {
        let mut of = marks(&here, round, 4);
        let mut of_there = kernels.upload(of.clone()).expect("memory");
        let adapted = here.adapted(&Host, &mut of, &held).expect("blocks");
        let adapted_there = there
            .adapted(kernels, &mut of_there, &held_there)
            .expect("blocks");
        assert_eq!(
            kernels.download(&of_there).expect("memory"),
            of,
            "closed marks"
        );
        assert_eq!(adapted_there.leaves, adapted.leaves);
        assert_eq!(adapted_there.withheld, adapted.withheld);
        refined += adapted.refined;
        coarsened += adapted.coarsened;
        withheld += adapted.withheld;

        let former = here.take(&Host, &adapted).expect("a mesh");
        let former_there = there.take(kernels, &adapted_there).expect("a mesh");
        held = follow::<D, _>(&Host, &held, &former.ids);
        held_there = follow::<D, _>(kernels, &held_there, &former_there.ids);
        let copy = there.download(kernels).expect("a copy");
        if let Err(difference) = same_mesh(&copy, &here) {
            panic!("round {round}, not the host's: {difference}");
        }
        validate(&copy).expect("a mesh");
        assert_eq!(copy.checksum(), here.checksum());
        same_counts(kernels, &there, &here).expect("the same, with recycled ids");
        assert_eq!(copy.links.q, first.links.q, "the body's links");
        assert_eq!(
            kernels.download(&held_there).expect("memory"),
            held,
            "held blocks"
        );
    }
    assert!(
        refined > 20 && coarsened > 20 && withheld > 0,
        "{refined} {coarsened} {withheld}"
    );
    // A row that names a block without links is seen.
    here.links.blocks.swap(0, 1);
    let violation = validate(&here).expect_err("rows that were exchanged");
    assert!(matches!(violation, MeshViolation::Links(_)), "{violation}");
}

fn follow<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    flags: &K::Buf<u8>,
    former: &cutlink_amr::FormerIds<K>,
) -> K::Buf<u8> {
    kernels.follow(flags, former, 0).expect("memory")
}

fn a_mesh_around_a_circle_follows_marks<K: AnyKernels>(kernels: &K) {
    let circle: Surface<2> = Shape2::Circle { radius: 0.31 }
        .surface(1e-3)
        .expect("a circle");
    follows(kernels, &circle, false);
    follows(kernels, &circle, true);
}

fn a_mesh_around_a_sphere_follows_marks<K: AnyKernels>(kernels: &K) {
    let sphere: Surface<3> = Shape3::Sphere { radius: 0.31 }
        .surface(1e-2)
        .expect("a sphere");
    follows(kernels, &sphere, false);
}
