//! Sheets, and what is known of them.

use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
};
use cutlink_tests::bodies::mesh_of;
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, LevelCounts, Mesh, SeedError, Sheltered, keep_sheltered, validate,
};

/// A rectangle with corners p, p + u, p + u + v, p + v, as two triangles.
pub(crate) fn sheet(p: [f64; 3], u: [f64; 3], v: [f64; 3]) -> Surface<3> {
    let at = |s: f64, t: f64| std::array::from_fn(|a| p[a] + s * u[a] + t * v[a]);
    let vertices = vec![at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)];
    Surface::single_patch(vertices, vec![[0, 1, 2], [0, 2, 3]], "sheet")
}

/// The faces of a box without common vertices: x-, x+, y-, y+, z-, z+.
pub(crate) fn faces(lower: [f64; 3], upper: [f64; 3]) -> Vec<Surface<3>> {
    let edge = |a: usize| {
        let mut edge = [0.0; 3];
        edge[a] = upper[a] - lower[a];
        edge
    };
    let of = |a: usize, up: bool| {
        let mut corner = lower;
        if up {
            corner[a] = upper[a];
        }
        sheet(corner, edge((a + 1) % 3), edge((a + 2) % 3))
    };
    (0..3).flat_map(|a| [of(a, false), of(a, true)]).collect()
}

/// One surface, each part a patch.
pub(crate) fn join<const D: usize>(parts: Vec<(&str, Vec<Surface<D>>)>) -> Surface<D> {
    let mut all = Surface::single_patch(Vec::new(), Vec::new(), "");
    all.patches.clear();
    for (patch, (name, sheets)) in parts.into_iter().enumerate() {
        for sheet in sheets {
            let first = all.vertices.len() as u32;
            all.vertices.extend(sheet.vertices);
            let facets = sheet.facets.iter().map(|f| f.map(|v| v + first));
            all.facets.extend(facets);
        }
        all.facet_patch.resize(all.facets.len(), patch as u16);
        all.patches.push(name.into());
    }
    if all.patches.len() == 1 {
        all.facet_patch.clear();
    }
    all
}

/// Every facet in one of both directions, by a generator with a seed.
pub(crate) fn flipped<const D: usize>(surface: &Surface<D>, mut state: u64) -> Surface<D> {
    let mut surface = surface.clone();
    for facet in &mut surface.facets {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        if state >> 63 == 1 {
            facet.swap(0, 1);
        }
    }
    surface
}

pub(crate) fn sheltered(levels: usize) -> EmbedParams {
    EmbedParams::new(levels, 0.0, Fill::Sheltered)
}

/// The mesh around a seed, validated before and after.
pub(crate) fn around<const D: usize>(
    surface: &Surface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    seed: [f64; D],
    close_holes: Option<f64>,
) -> Result<(Mesh<D>, Sheltered), SeedError>
where
    Facet<D>: Exact<D>,
{
    let mut mesh = mesh_of(surface, frame, params);
    let kept = keep_sheltered(&mut mesh, seed, close_holes)?;
    if let Err(violation) = validate(&mesh) {
        panic!("after the seed: {violation}");
    }
    let cells: u64 = mesh
        .level_counts()
        .iter()
        .map(|c| c.fluid + c.boundary)
        .sum();
    assert_eq!(kept.kept.fluid, cells, "as reported");
    Ok((mesh, kept))
}

/// Fluid leaf cells, in cells of level `finest`.
pub(crate) fn fluid<const D: usize>(mesh: &Mesh<D>, finest: usize) -> u64 {
    let of = |c: &LevelCounts| (c.fluid + c.boundary) << (D * (finest - c.level));
    mesh.level_counts().iter().map(of).sum()
}

/// Centres (i + 1/2) / n between two places.
pub(crate) fn centers(n: u64, from: f64, to: f64) -> u64 {
    let center = |i: u64| (i as f64 + 0.5) / n as f64;
    (0..n)
        .filter(|&i| from < center(i) && center(i) < to)
        .count() as u64
}

pub(crate) fn distance<const D: usize>(a: [f64; D], b: &[f64]) -> f64 {
    (0..D).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}
