//! Real scans, and the same embedding again and again.

use cutlink_mesher::snap::snap;
use cutlink_tests::{
    arrays::same_mesh,
    backend_test,
    backends::{AnyKernels, conform},
    bodies::{levels, map_lattice, split_in_four, unit_frame},
    compare::cell_against_oracle,
    oracle::Oracle,
    scans,
};
use cutlink_voxelizer::{EmbedParams, Fill, Mesh, embed};

backend_test!(
    the_bunny if has_scans,
    the_bunny_split_in_four if has_scans,
    the_dragon if has_scans,
    twenty_times_the_same if has_scans,
);

/// Embeds a scan of the unit box; the mesh, like the host's.
fn scan<K: AnyKernels>(kernels: &K, name: &str, root: u32, params: &EmbedParams) -> Mesh<3> {
    let frame = unit_frame(root);
    let surface = snap(&scans::read(name), frame.lattice(params.levels)).expect("in the box");
    let mesh = conform(kernels, &surface, frame, params).unwrap_or_else(|text| panic!("{text}"));
    spot_checks(
        &mesh,
        params.levels,
        &Oracle::new(&surface, [211, -97, 389]),
    );
    mesh
}

/// Some boundary cells against brute force over all facets.
fn spot_checks(mesh: &Mesh<3>, depth: usize, oracle: &Oracle<3>) {
    let rows = mesh.links.blocks.len();
    let mut links = 0;
    for row in (0..rows).step_by(rows / 11 + 1) {
        let block = mesh.links.blocks[row];
        let cell = mesh.classes.boundary[block as usize].trailing_zeros();
        let at = cutlink_amr::CellRef { block, cell };
        let level = usize::from(mesh.forest.level[block as usize]);
        let place = (level, mesh.forest.cell_coord(at));
        let seen = cell_against_oracle(mesh, depth, oracle, place);
        links += seen.unwrap_or_else(|m| panic!("{m:?}")).links;
    }
    assert!(links > 20, "{links} links checked");
}

fn the_bunny<K: AnyKernels>(kernels: &K) {
    let near = EmbedParams::new(3, 0.05, Fill::NonZero);
    let mesh = scan(kernels, "bunny_unit.stl", 32, &near);
    assert!(mesh.links.len() > 100_000, "{} links", mesh.links.len());
    scan(kernels, "bunny_unit.stl", 32, &levels(4));
    let inside = EmbedParams::new(4, 0.0, Fill::Zero);
    scan(kernels, "bunny_unit.stl", 16, &inside);
}

/// The same surface from four times as many facets: the same cells and links.
fn the_bunny_split_in_four<K: AnyKernels>(kernels: &K) {
    let (frame, params) = (unit_frame(32), levels(4));
    let surface = snap(&scans::read("bunny_unit.stl"), frame.lattice(4)).expect("in the box");
    let even = map_lattice(&surface, |p| p.map(|c| c & !1));
    let split = split_in_four(&even);
    let count = split.facets.len();
    assert!(count > 4 * 69_000, "{count} facets");
    let [whole, split] = [even, split].map(|surface| {
        conform(kernels, &surface, frame, &params).unwrap_or_else(|text| panic!("{text}"))
    });
    assert_eq!(whole.classes.solid, split.classes.solid, "masks");
    assert_eq!(whole.links.cells, split.links.cells, "links");
}

fn the_dragon<K: AnyKernels>(kernels: &K) {
    let mesh = scan(kernels, "dragon_unit.ply", 32, &levels(4));
    assert!(mesh.links.len() > 200_000, "{} links", mesh.links.len());
}

/// Every array, and the checksum.
fn twenty_times_the_same<K: AnyKernels>(kernels: &K) {
    let frame = unit_frame(32);
    let params = EmbedParams::new(3, 0.05, Fill::NonZero);
    let surface = snap(&scans::read("bunny_unit.stl"), frame.lattice(3)).expect("in the box");
    let first = conform(kernels, &surface, frame, &params).unwrap_or_else(|text| panic!("{text}"));
    for time in 1..20 {
        let again = embed(kernels, &surface, frame, &params, &mut ()).expect("as before");
        let again = again.download(kernels).expect("memory");
        if let Err(difference) = same_mesh(&first, &again) {
            panic!("run {time}: {difference}");
        }
        assert_eq!(again.checksum(), first.checksum(), "run {time}");
    }
}
