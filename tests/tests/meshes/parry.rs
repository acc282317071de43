//! The bunny against `parry3d`: another library's inside test, projection and ray cast, in floating point; and the nearest
//! points of [`NearestTree`].

use cutlink_amr::{CellRef, NeighborCell, dims};
use cutlink_mesher::{
    Surface,
    nearest::NearestTree,
    snap::{Snapped, snap},
};
use cutlink_tests::{
    bodies::{levels, mesh, unit_frame},
    scans, worst,
};
use cutlink_voxelizer::Mesh;
use parry3d_f64::{
    math::Vector,
    query::{PointQuery, Ray, RayCast},
    shape::{TriMesh, TriMeshFlags},
};
use rayon::prelude::*;

const ROOT: u32 = 32;
const DEPTH: usize = 3;

fn trimesh(surface: &Surface<3>) -> TriMesh {
    let vertices = surface.vertices.iter().map(|&p| Vector::from(p)).collect();
    TriMesh::with_flags(vertices, surface.facets.clone(), TriMeshFlags::ORIENTED)
        .expect("parry should take the bunny")
}

struct Bunny {
    /// As in the file.
    file: Surface<3>,
    snapped: Snapped<3>,
    mesh: Mesh<3>,
}

fn bunny(depth: usize) -> Bunny {
    let file = scans::read("bunny_unit.stl");
    let snapped = snap(&file, unit_frame(ROOT).lattice(depth)).expect("it is in the box");
    let mesh = mesh(&snapped, unit_frame(ROOT), &levels(depth));
    Bunny {
        file,
        snapped,
        mesh,
    }
}

/// A sequence of 64-bit numbers (SplitMix).
fn random(seed: u64) -> u64 {
    cutlink_amr::checksum::mix(seed)
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn a_hundred_thousand_random_cells() {
    const CELLS: u64 = 100_000;
    let Bunny {
        file,
        snapped,
        mesh,
    } = bunny(4);
    let oracle = trimesh(&file);
    let [low, high] = file.bounds().expect("the bunny has facets");
    let dx = mesh.frame.dx_at(3);
    let apart: Vec<f64> = (0..CELLS)
        .into_par_iter()
        .filter_map(|i| {
            // A finest cell of the bunny's box.
            let cell: [i32; 3] = std::array::from_fn(|a| {
                let (from, to) = (low[a] / dx, high[a] / dx);
                (from + (to - from) * (random(3 * i + a as u64) as f64 / u64::MAX as f64)) as i32
            });
            let center = mesh.frame.center(3, cell);
            let at = mesh
                .forest
                .leaf_at(center.map(|x| x / mesh.frame.dx))
                .expect("in the box");
            let solid = mesh.classes.solid[at.block as usize] >> at.cell & 1 == 1;
            let point = Vector::from(center);
            let inside = oracle.contains_local_point(point);
            (solid != inside).then(|| oracle.distance_to_local_point(point, false))
        })
        .collect();
    let moved = snapped.report.max_displacement;
    assert!(moved <= 0.5 * 3f64.sqrt() * snapped.lattice.unit, "{moved}");
    // The only disagreements: centres between the file's surface and the snapped one. Those
    // within the largest displacement of the surface are twice that times the area, in the
    // bunny's box.
    let farthest = worst(apart.iter().copied());
    assert!(
        farthest <= moved,
        "{farthest} > {moved}, {} cells",
        apart.len()
    );
    let extent: f64 = (0..3).map(|a| high[a] - low[a]).product();
    let area = cutlink_mesher::health::check(&file).area;
    let expected = CELLS as f64 * 2.0 * moved * area / extent;
    assert!(
        (apart.len() as f64) < expected,
        "{} of {expected}",
        apart.len()
    );
}

/// Calls with every link: its cell centre, its vector, q.
fn for_each_link<T: Send>(
    mesh: &Mesh<3>,
    depth: usize,
    each: impl Fn(Vector, Vector, f64) -> Option<T> + Sync,
) -> Vec<T> {
    let blocks = mesh.links.blocks.par_iter();
    blocks
        .flat_map_iter(|&block| {
            let mut found = Vec::new();
            for cell in 0..64 {
                let at = CellRef { block, cell };
                let center = mesh.frame.center(depth - 1, mesh.forest.cell_coord(at));
                for direction in 0..27 {
                    if let Some(link) = mesh.link(at, direction) {
                        let step = dims::step::<3>(direction);
                        let dx = mesh.frame.dx_at(depth - 1);
                        let along = step.map(|s| f64::from(s) * dx);
                        found.extend(each(center.into(), along.into(), f64::from(link.q)));
                    }
                }
            }
            found
        })
        .collect()
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn every_link_by_ray_cast_on_the_snapped_surface() {
    let Bunny { snapped, mesh, .. } = bunny(DEPTH);
    let oracle = trimesh(&snapped.to_surface());
    let wrong = for_each_link(&mesh, DEPTH, |center, along, q| {
        // In units of the link: the ray's parameter is q.
        let hit = oracle.cast_local_ray(&Ray::new(center, along), 2.0, false);
        let near = hit.is_some_and(|t| (t - q).abs() <= 1e-6);
        (!near).then_some((center, along, q, hit))
    });
    // A ray through an edge may slip between two triangles in floating point.
    assert!(
        wrong.len() <= 3,
        "{} of {} links: {wrong:?}",
        wrong.len(),
        mesh.links.len()
    );
    for (center, along, q, _) in wrong {
        let off = oracle.distance_to_local_point(center + along * q, false);
        assert!(
            off <= 1e-7 * along.length(),
            "the cut is {off} off the surface"
        );
    }
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn every_link_by_projection_on_the_file_s_surface() {
    let Bunny {
        file,
        snapped,
        mesh,
    } = bunny(DEPTH);
    let oracle = trimesh(&file);
    // f32 holds q to 2^-24.
    let tolerance = snapped.report.max_displacement + 1e-7 * mesh.frame.dx_at(DEPTH - 1);
    let off = for_each_link(&mesh, DEPTH, |center, along, q| {
        Some(oracle.distance_to_local_point(center + along * q, false))
    });
    let farthest = worst(off.iter().copied());
    assert!(off.len() > 100_000, "{} links", off.len());
    assert!(
        farthest <= tolerance,
        "a cut lies {farthest} off the surface, {tolerance} allowed"
    );
    // A tenth of the tolerance must be too little, or nothing was compared.
    assert!(farthest > 0.1 * tolerance, "{farthest} of {tolerance}");
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn every_link_that_is_not_cut_by_ray_cast() {
    let Bunny { snapped, mesh, .. } = bunny(DEPTH);
    let oracle = trimesh(&snapped.to_surface());
    // Boundary cells again: links to fluid neighbours that the table does not have.
    let counts: Vec<(usize, usize)> = mesh
        .links
        .blocks
        .par_iter()
        .map(|&block| {
            let (mut free, mut hits) = (0, 0);
            for cell in 0..64 {
                let at = CellRef { block, cell };
                if mesh.classes.boundary[block as usize] >> cell & 1 == 0 {
                    continue;
                }
                let center = Vector::from(mesh.frame.center(DEPTH - 1, mesh.forest.cell_coord(at)));
                for direction in (0..27).filter(|&d| d != dims::center(3)) {
                    let same = matches!(
                        mesh.forest.neighbor_cell(at, direction),
                        NeighborCell::Same(_)
                    );
                    if !same || mesh.link(at, direction).is_some() {
                        continue;
                    }
                    let step = dims::step::<3>(direction);
                    let along =
                        Vector::from(step.map(|s| f64::from(s) * mesh.frame.dx_at(DEPTH - 1)));
                    free += 1;
                    let hit = oracle.cast_local_ray(&Ray::new(center, along), 1.0, false);
                    hits += usize::from(hit.is_some());
                }
            }
            (free, hits)
        })
        .collect();
    let (free, hits) = counts.iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!(free > 100_000, "{free} links");
    // A graze of a ridge, exact to the last bit, may be told either way in floating point.
    assert!(hits <= 3, "{hits} of {free} links meet the surface");
}

#[test]
#[cfg_attr(not(has_scans), ignore = "needs ../shared/meshes")]
fn nearest_points_of_the_tree_are_at_parrys_distances() {
    let file = scans::read("bunny_unit.stl");
    let oracle = trimesh(&file);
    let corners = (0..file.facets.len()).map(|facet| file.corners(facet));
    let tree = NearestTree::new(corners).expect("memory");
    let [low, high] = file.bounds().expect("the bunny has facets");
    let apart = |shift: f64| {
        let each = (0..20_000u64).into_par_iter().map(|i| {
            // In a box of thrice the edge, so that points are near and far.
            let share = |a: usize| 3.0 * random(3 * i + a as u64) as f64 / u64::MAX as f64 - 1.0;
            let at: [f64; 3] = std::array::from_fn(|a| low[a] + share(a) * (high[a] - low[a]));
            let near = tree.nearest(at, f64::INFINITY).expect("a facet");
            let at = Vector::from(at);
            let theirs = oracle.project_local_point(at, false).point;
            let on = Vector::from(near.point) - at;
            [
                (near.distance + shift - (theirs - at).length()).abs(),
                (on.length() - near.distance).abs(),
            ]
        });
        worst(each.collect::<Vec<_>>().into_iter().flatten())
    };
    let found = apart(0.0);
    assert!(found < 1e-12, "{found}");
    assert!(apart(1e-9) > 1e-10, "a wrong distance is seen");
}
