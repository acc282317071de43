//! Tetrahedra, 1 to 8: counts by hand, volumes, similarity classes, random marks, fluxes.

use super::kit::{
    Random, block_of_tets, cell_volumes, cube_and_tet, five_tets, parent_of_tets, sums, tets,
};
use cutlink_hex::refine::{MeanMap, map_fluxes};
use cutlink_hex::{PolyMesh, RefinedMesh};
use std::collections::BTreeSet;

/// Every invariant; shared points; 2:1; each cell the exact part of its parent's volume.
fn sound(refined: &RefinedMesh, parent: &PolyMesh) {
    let mesh = &refined.mesh;
    assert_eq!(mesh.validate(), Ok(()), "every invariant");
    assert!(refined.paths.is_sorted(), "paths in order");
    assert_eq!(refined.polyhedra, 0, "every cell can be refined");
    let mut places: Vec<[u64; 3]> = mesh.points.iter().map(|p| p.map(f64::to_bits)).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), mesh.points.len(), "points are shared");
    let (old, new) = (cell_volumes(parent), cell_volumes(mesh));
    for (cell, path) in refined.paths.iter().enumerate() {
        let share = old[path.parent() as usize] / f64::from(1u32 << (3 * path.level()));
        assert!(
            (new[cell] / share - 1.0).abs() < 1e-9,
            "{cell}: {} of {share}",
            new[cell]
        );
    }
    let levels = mesh.levels.as_ref().expect("levels");
    let mut at_point = vec![[u8::MAX, 0]; mesh.points.len()];
    let (start, faces) = mesh.cell_faces();
    for cell in 0..mesh.cells {
        for &f in &faces[start[cell] as usize..start[cell + 1] as usize] {
            for &p in mesh.face(f as usize) {
                let [least, most] = &mut at_point[p as usize];
                *least = (*least).min(levels.cell[cell]);
                *most = (*most).max(levels.cell[cell]);
            }
        }
    }
    assert!(
        at_point.iter().all(|[least, most]| most - least <= 1),
        "2:1 over points"
    );
}

#[test]
fn one_cell_of_five_has_the_counts_of_a_hand_calculation() {
    let parent = five_tets();
    assert_eq!(
        (parent.points.len(), parent.cells, parent.faces()),
        (8, 5, 16),
        "as in the paper"
    );
    let mut refined = RefinedMesh::new(&parent).expect("a parent");
    assert_eq!(
        refined.refine(vec![1, 0, 0, 0, 0]).expect("a mesh"),
        1,
        "one cell"
    );
    sound(&refined, &parent);
    let mesh = &refined.mesh;
    // Its four faces become four each; eight more are inside; six edges have a midpoint.
    assert_eq!(
        (mesh.points.len(), mesh.cells, mesh.faces()),
        (14, 12, 12 + 16 + 8),
        "by hand"
    );
    assert_eq!(mesh.internal_faces(), 16 + 8, "internal faces");
    // Each face of the other cells at the cube's sides has the midpoint of its diagonal.
    let boundary = mesh.internal_faces()..mesh.faces();
    assert!(
        boundary.clone().all(|f| mesh.face(f).len() == 4),
        "hanging points"
    );
    // All cells: neighbours' halves agree, no hanging point is left.
    refined
        .refine(vec![0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
        .expect("a mesh");
    sound(&refined, &parent);
    assert_eq!(refined.mesh.cells, 40, "eight a cell");
    assert!(
        (0..refined.mesh.faces()).all(|f| refined.mesh.face(f).len() == 3),
        "triangles"
    );
    let at_once = RefinedMesh::build(&parent, |_| 1).expect("a mesh");
    let size = |m: &RefinedMesh| (m.mesh.points.len(), m.mesh.faces(), m.mesh.internal_faces());
    assert_eq!(size(&at_once), size(&refined), "as at once");
    assert_eq!(at_once.paths, refined.paths, "the same places");
}

fn some_mesh(parent: &PolyMesh, random: &mut Random, steps: usize) -> RefinedMesh {
    let mut refined = RefinedMesh::new(parent).expect("a parent");
    for _ in 0..steps {
        let cells = refined.mesh.cells;
        let marks = (0..cells)
            .map(|_| u8::from(cells < 4000 && random.below(6) == 0))
            .collect();
        refined.refine(marks).expect("a mesh");
    }
    refined
}

fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().expect("a pool").install(run)
}

#[test]
fn random_marks_give_sound_meshes_for_any_number_of_threads() {
    let mut deepest = 0;
    for seed in 0..24 {
        let parent = parent_of_tets(seed, &mut Random::new(seed as u64));
        assert_eq!(parent.validate(), Ok(()), "a sound parent");
        let build = || {
            some_mesh(
                &parent,
                &mut Random::new(seed as u64 + 500),
                1 + seed / 4 % 4,
            )
        };
        let refined = on_threads(1, build);
        sound(&refined, &parent);
        for threads in [2, 7] {
            assert_eq!(on_threads(threads, build), refined, "{threads} threads");
        }
        deepest = deepest.max(refined.paths.iter().map(|p| p.level()).max().unwrap_or(0));
        // Values: integrals there and back.
        let coarse = RefinedMesh::new(&parent).expect("a parent");
        let (v0, v1) = (cell_volumes(&parent), cell_volumes(&refined.mesh));
        let values: Vec<f64> = (0..parent.cells).map(|i| i as f64).collect();
        let there = MeanMap::of_cells(&coarse.paths, &v0, &refined.paths).apply(&values, 1);
        let back = MeanMap::of_cells(&refined.paths, &v1, &coarse.paths).apply(&there, 1);
        assert!(
            values.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12),
            "there and back"
        );
        let again = RefinedMesh::build(&parent, |_| 0).expect("a mesh");
        assert_eq!(
            again.mesh.checksum(),
            coarse.mesh.checksum(),
            "the parent again"
        );
    }
    assert_eq!(deepest, 4, "four levels");
}

/// Classes of similar tetrahedra: lengths of edges, sorted, relative to the sum of their squares. Mirror images count as one.
fn classes(mesh: &PolyMesh) -> usize {
    let (start, faces) = mesh.cell_faces();
    let of = |cell: usize| {
        let of_cell = &faces[start[cell] as usize..start[cell + 1] as usize];
        let points = of_cell.iter().flat_map(|&f| mesh.face(f as usize));
        let points: BTreeSet<u32> = points.copied().collect();
        let points: Vec<u32> = points.into_iter().collect();
        assert_eq!(points.len(), 4, "no hanging points");
        let mut squares = Vec::new();
        for i in 0..4 {
            for j in 0..i {
                let [a, b] = [points[i], points[j]].map(|p| mesh.points[p as usize]);
                squares.push((0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>());
            }
        }
        let sum: f64 = squares.iter().sum();
        let mut parts: Vec<i64> = squares
            .iter()
            .map(|s| (s / sum * 1e9).round() as i64)
            .collect();
        parts.sort_unstable();
        parts
    };
    let mut all: Vec<Vec<i64>> = (0..mesh.cells).map(of).collect();
    all.sort();
    // Rounding may part a class in two.
    all.dedup_by(|a, b| a.iter().zip(b.iter()).all(|(a, b)| (*a - *b).abs() <= 2));
    all.len()
}

/// Bey (1995), theorem on the regular refinement: at most three classes, for any tetrahedron and number of levels.
#[test]
fn descendants_of_a_tetrahedron_are_of_three_classes_at_most() {
    let mut random = Random::new(5);
    let mut most = 0;
    for _ in 0..10 {
        let points: Vec<[f64; 3]> = (0..4)
            .map(|_| std::array::from_fn(|_| random.unit()))
            .collect();
        let parent = tets(points, &[[0, 1, 2, 3]]);
        for level in 1..=4 {
            let refined = RefinedMesh::build(&parent, |_| level).expect("a mesh");
            assert_eq!(refined.mesh.cells, 1 << (3 * level), "eight a cell");
            sound(&refined, &parent);
            let found = classes(&refined.mesh);
            assert!(found <= 3, "{found} classes after {level} levels");
            most = most.max(found);
        }
    }
    assert_eq!(most, 3, "three classes in general");
    // The count notices other shapes.
    let parent = block_of_tets([1, 1, 1], |[x, y, z]| [x + 0.1 * y * z, y - 0.2 * z * x, z]);
    assert!(
        classes(&parent) > 3,
        "{} classes of six cells",
        classes(&parent)
    );
}

/// The first diagonal is the shortest of the three.
#[test]
fn the_first_diagonal_is_the_shortest() {
    let mut random = Random::new(9);
    for _ in 0..50 {
        let points: Vec<[f64; 3]> = (0..4)
            .map(|_| std::array::from_fn(|_| random.unit()))
            .collect();
        let refined =
            RefinedMesh::build(&tets(points.clone(), &[[0, 1, 2, 3]]), |_| 1).expect("a mesh");
        let mesh = &refined.mesh;
        let middle = |i: usize, j: usize| -> [f64; 3] {
            std::array::from_fn(|k| (points[i][k] + points[j][k]) * 0.5)
        };
        let length = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>();
        let pairs = [
            (middle(0, 1), middle(2, 3)),
            (middle(0, 2), middle(1, 3)),
            (middle(0, 3), middle(1, 2)),
        ];
        let has = |(a, b): ([f64; 3], [f64; 3])| {
            (0..mesh.faces()).any(|f| {
                let at: Vec<[f64; 3]> = mesh
                    .face(f)
                    .iter()
                    .map(|&p| mesh.points[p as usize])
                    .collect();
                at.contains(&a) && at.contains(&b)
            })
        };
        let used: Vec<_> = pairs.into_iter().filter(|&pair| has(pair)).collect();
        let [(a, b)] = used[..] else {
            panic!("{} diagonals", used.len())
        };
        let least = pairs
            .iter()
            .map(|&(a, b)| length(a, b))
            .fold(f64::INFINITY, f64::min);
        assert_eq!(length(a, b), least, "the shortest");
    }
}

#[test]
fn children_share_the_divergence_and_uniform_flow_stays_uniform() {
    for seed in 0..8 {
        let mut random = Random::new(seed + 3);
        let parent = parent_of_tets(seed as usize, &mut random);
        let to = some_mesh(&parent, &mut random, 3);
        let coarse = RefinedMesh::new(&parent).expect("a parent");
        let u = [0.3, -1.1, 0.7];
        let through = |m: &PolyMesh| -> Vec<f64> {
            let dot = |a: [f64; 3]| a[0] * u[0] + a[1] * u[1] + a[2] * u[2];
            m.face_geometry().iter().map(|f| dot(f.area)).collect()
        };
        let flux: Vec<f64> = (0..parent.faces()).map(|_| random.unit() - 0.5).collect();
        let mapped =
            map_fluxes(&coarse, &to, vec![through(&parent), flux.clone()]).expect("mapped");
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-13;
        assert!(
            mapped[0].iter().zip(&through(&to.mesh)).all(near),
            "uniform flow"
        );
        let (old, new) = (sums(&parent, &flux), sums(&to.mesh, &mapped[1]));
        for (cell, path) in to.paths.iter().enumerate() {
            let share = old[path.parent() as usize] / f64::from(1u32 << (3 * path.level()));
            assert!(
                (new[cell] - share).abs() < 1e-13,
                "{cell}: {} for {share}",
                new[cell]
            );
        }
        let back = map_fluxes(&to, &coarse, vec![mapped[1].clone()]).expect("mapped");
        assert!(back[0].iter().zip(&flux).all(near), "the parent's fluxes");
        let mut wrong = mapped[1].clone();
        wrong[0] += 1e-9;
        assert_ne!(sums(&to.mesh, &wrong), new, "a comparison that can fail");
    }
}

#[test]
fn tetrahedra_beside_hexahedra_stay() {
    let parent = cube_and_tet();
    assert_eq!(parent.validate(), Ok(()), "a sound parent");
    let refined = RefinedMesh::build(&parent, |_| 1).expect("a mesh");
    assert_eq!(
        (refined.mesh.cells, refined.polyhedra),
        (9, 1),
        "the cube alone"
    );
}

#[test]
fn wrong_levels_are_refused() {
    let parent = block_of_tets([2, 1, 1], |p| p);
    let mut refined = RefinedMesh::new(&parent).expect("a parent");
    refined
        .refine((0..parent.cells).map(|i| u8::from(i == 0)).collect())
        .expect("a mesh");
    // A corner of a child is not where its parent's edges have it.
    let at = parent.points.len();
    refined.mesh.points[at][0] += 0.01;
    let marks = vec![1; refined.mesh.cells];
    let error = refined
        .refine(marks)
        .expect_err("a moved point")
        .to_string();
    assert!(
        error.contains("its corners are not those that its place in its parent has"),
        "{error}"
    );
}
