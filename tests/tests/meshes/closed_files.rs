//! Every closed surface of the shared folder embeds without a missing link.

use cutlink_mesher::{health, read::read_surface, snap::snap};
use cutlink_tests::{
    bodies::{frame_around, levels, mesh, six_volumes},
    scans,
};
use std::path::Path;

const DEPTH: usize = 3;

/// Embeds a file where it is closed; its facets, links and report.
fn embed(path: &Path) -> Option<String> {
    let surface = read_surface(path).ok()?.surface;
    let health = health::check(&surface);
    if !health.closed() {
        return None;
    }
    let frame = frame_around(&surface, 32);
    let snapped = snap(&surface, frame.lattice(DEPTH)).expect("the frame holds the surface");
    let mesh = mesh(&snapped, frame, &levels(DEPTH));
    let dx = frame.dx_at(DEPTH - 1);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let volume = mesh.solid_at(DEPTH - 1) as f64 * dx.powi(3);
    let exact = six_volumes(&snapped) as f64 / 6.0 * frame.lattice(DEPTH).unit.powi(3);
    // Snapping moves the surface by less than a hundredth of a cell.
    let moved = health.area * snapped.report.max_displacement + 1e-9 * exact.abs();
    assert!(
        (exact - health.volume).abs() <= 1.5 * moved,
        "{name}: volume {} and snapped {exact}",
        health.volume
    );
    // A cell is of the wrong volume only where the surface passes within half its diagonal.
    let cut = health.area * dx * 3f64.sqrt() / 2.0;
    if health.components == 1 && health.nonmanifold_edges == 0 {
        assert!(
            (volume - exact.abs()).abs() <= cut,
            "{name}: solid cells {volume}, surface {exact}"
        );
    }
    if health.area > 0.0 {
        assert!(!mesh.links.is_empty(), "{name}: a surface without cuts");
    }
    let error = (volume - exact.abs()) / cut;
    Some(format!(
        "{name}: {} facets, {} links, {} solid, error {error:.4} of the bound",
        surface.facets.len(),
        mesh.links.len(),
        mesh.solid_at(DEPTH - 1),
    ))
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn all_closed_files() {
    let done: Vec<String> = scans::meshes()
        .iter()
        .filter_map(|path| embed(path))
        .collect();
    let list = done.join("\n");
    for name in ["bunny_unit", "dragon_unit", "DTC-hull", "ahmed_body"] {
        assert!(
            done.iter().any(|line| line.starts_with(name)),
            "{name} in\n{list}"
        );
    }
    assert!(done.len() > 40, "{} closed files:\n{list}", done.len());
    assert!(
        done.iter().all(|line| !line.starts_with("bunny_open")),
        "an open surface in\n{list}"
    );
}
