//! Self-intersections of scans and of files from the wild, against counts of MeshLab 2025.7's
//! `compute_selection_by_self_intersections_per_face` (vertices merged before).

use cutlink_mesher::intersect::{Intersections, find};
use cutlink_mesher::read::read_surface;
use cutlink_mesher::snap::{SnapLattice, snap};
use cutlink_mesher::{Surface, health};
use cutlink_tests::{scans, worst};

fn look(name: &str) -> (Surface<3>, Intersections) {
    let loaded = read_surface(&scans::folder().join(name));
    let mut surface = loaded.unwrap_or_else(|e| panic!("{e}")).surface;
    surface.weld();
    let [lower, upper] = surface.bounds().expect("facets");
    let longest = worst((0..3).map(|k| upper[k] - lower[k]));
    let lattice = SnapLattice {
        origin: lower,
        unit: longest / f64::from(1 << 26),
    };
    let found = find(&snap(&surface, lattice).expect("in range"));
    assert!(found.complete, "{name}");
    (surface, found)
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn scans_are_clean() {
    for name in ["bunny_unit.stl", "dragon_unit.ply", "bunny_open.stl"] {
        let (_, found) = look(name);
        assert_eq!(found.pair_count, 0, "{name}: {:?}", found.pairs);
    }
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn files_from_the_wild_agree_with_meshlab() {
    let cases = [
        ("broken/assimp__3DSMaxExport.STL", 298),
        ("broken/assimp__Spider_binary.stl", 297),
        ("broken/gpytoolbox__mesh-indices.ply", 847),
        ("broken/trimesh__teapot.stl", 51),
        ("motorBike.stl", 134_652),
    ];
    for (name, facets) in cases {
        let (_, found) = look(name);
        assert_eq!(found.facets.len(), facets, "{name}");
    }
}

/// Every facet of the motorbike that offends is a duplicate: the health report counts them
/// another way.
#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn duplicates_are_those_of_the_health_report() {
    let (surface, found) = look("motorBike.stl");
    assert_eq!(found.pair_count, health::check(&surface).duplicate_facets);
}
