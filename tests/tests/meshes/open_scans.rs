//! Scans that are not closed, with `robust`: sound, and what a person would call solid is.
#![cfg_attr(not(has_scans), allow(dead_code, reason = "every test is ignored"))]

use cutlink_device::Host;
use cutlink_mesher::robust::RobustReport;
use cutlink_tests::{
    bodies::{frame_around, levels, mesh, six_volumes},
    scans,
};
use cutlink_voxelizer::{EmbedParams, Frame, Mesh, prepare, thin};

/// Embeds a scan; its frame, the volume of the surface with its caps, what closing it took.
fn robust(name: &str, depth: usize) -> (Mesh<3>, Frame<3>, f64, RobustReport) {
    let surface = scans::read(name);
    let params = EmbedParams {
        robust: true,
        ..levels(depth)
    };
    let frame = frame_around(&surface, 32);
    let (snapped, report) = prepare(&Host, &surface, &frame, &params).expect("in range");
    let unit = frame.lattice(depth).unit;
    let volume = six_volumes(&snapped) as f64 / 6.0 * unit.powi(3);
    let mesh = mesh(&snapped, frame, &params);
    (mesh, frame, volume, report.expect("asked for"))
}

fn is_solid(mesh: &Mesh<3>, point: [f64; 3]) -> bool {
    let frame = &mesh.frame;
    let at = std::array::from_fn(|a| (point[a] - frame.origin[a]) / frame.dx);
    let at = mesh.forest.leaf_at(at).expect("in the box");
    mesh.classes.solid[at.block as usize] >> at.cell & 1 == 1
}

/// The holes of the bunny's base are nearly plane: caps and film enclose the same to 1 %.
#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn the_bunny_as_it_was_scanned() {
    let (mesh, frame, volume, report) = robust("bunny_open.stl", 3);
    assert_eq!((report.open_edges, report.loops), (223, 5), "its holes");
    assert_eq!(report.turned_facets, 0, "it was consistent");
    let solid = mesh.solid_at(2) as f64 * frame.dx_at(2).powi(3);
    assert!((solid / volume - 1.0).abs() < 0.01, "{solid} for {volume}");
    let gaps = mesh.patch_links()[1];
    assert!(
        gaps > 1000 && gaps * 10 < mesh.links.len() as u64,
        "{gaps} links at gaps"
    );
}

/// Tyres, rider and tank are solid; the air in the fairing and in the wheels is not. Points in the
/// file's frame, read off a drawing of the mid-plane.
#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn the_motorbike() {
    let (mesh, _, _, report) = robust("motorBike.stl", 4);
    assert_eq!(report.open_edges, 49, "its holes");
    let solid = [
        ("front tyre", [-0.235, 0.0, 0.29]),
        ("rear tyre", [1.68, 0.0, 0.29]),
        ("rider's back", [0.85, 0.0, 1.15]),
        ("helmet", [0.5, 0.0, 1.2]),
        ("tank", [0.7, 0.0, 0.85]),
    ];
    for (what, at) in solid {
        assert!(is_solid(&mesh, at), "{what} should be solid");
    }
    let fluid = [
        ("within the fairing", [0.42, 0.0, 0.25]),
        ("beside a front spoke", [-0.09, 0.0, 0.24]),
        ("before the helmet", [0.25, 0.0, 1.2]),
        ("under the seat", [1.25, 0.0, 0.75]),
    ];
    for (what, at) in fluid {
        assert!(!is_solid(&mesh, at), "{what} should be fluid");
    }
    let thin = thin(&mesh);
    assert!(
        thin.cells > 10_000,
        "fairing and mudguards are sheets: {}",
        thin.cells
    );
}
