//! What every surface that a reader returns has to keep.

use std::path::Path;

use cutlink_mesher::Surface;
use cutlink_mesher::health;
use cutlink_mesher::read::{AnySurface, parse_any};

/// Any bytes end in an error that names the file, or in a surface that keeps its promises.
pub fn keep(bytes: &[u8]) {
    match parse_any(Path::new("fuzzed"), bytes) {
        Ok(AnySurface::D2(loaded)) => promises(loaded.surface),
        Ok(AnySurface::D3(loaded)) => promises(loaded.surface),
        Err(error) => assert!(error.to_string().contains("fuzzed"), "{error}"),
    }
}

fn promises<const D: usize>(mut surface: Surface<D>) {
    assert!(!surface.facets.is_empty(), "a surface has facets");
    let vertices = surface.vertices.len();
    assert!(surface.vertices.iter().flatten().all(|x| x.is_finite()));
    assert!(
        surface
            .facets
            .iter()
            .flatten()
            .all(|&v| (v as usize) < vertices)
    );
    assert!(!surface.patches.is_empty());
    if !surface.facet_patch.is_empty() {
        assert_eq!(surface.facet_patch.len(), surface.facets.len());
        let patches = surface.patches.len();
        assert!(surface.facet_patch.iter().all(|&p| (p as usize) < patches));
    }
    let before = health::check(&surface).facets;
    surface.weld();
    assert_eq!(health::check(&surface).facets, before);
}
