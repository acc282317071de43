//! Refinement across joined patches: both sides have the same faces, and cells are those of a mesh that goes on.

use super::kit::{
    Random, block_of_tets, block_with, join, mesh_of, of_kind, random_marks, some_mesh, sums,
};
use super::worst;
use cutlink_hex::refine::{CellPlace, map_fluxes, only_on_host};
use cutlink_hex::{PolyMesh, PolyPatch, PolyViolation, RefineError, RefinedMesh};

const NAMES: [[&str; 2]; 3] = [["x0", "x1"], ["y0", "y1"], ["z0", "z1"]];

fn side(c: [f64; 3], n: [usize; 3]) -> &'static str {
    for axis in 0..3 {
        if c[axis] < 1e-9 {
            return NAMES[axis][0];
        }
        if c[axis] > n[axis] as f64 - 1e-9 {
            return NAMES[axis][1];
        }
    }
    "inside"
}

fn shift(n: [usize; 3], axis: usize) -> [f64; 3] {
    std::array::from_fn(|a| if a == axis { n[a] as f64 } else { 0.0 })
}

/// A block that goes on along some axes, bent so that it still does.
pub(crate) fn periodic(n: [usize; 3], axes: &[usize], bend: f64) -> PolyMesh {
    let mut mesh = block_with(n, |p| p, |c| side(c, n));
    for &axis in axes {
        join(&mut mesh, NAMES[axis], shift(n, axis));
    }
    let turns = |p: [f64; 3], a: usize| (std::f64::consts::TAU * p[a] / n[a] as f64).sin();
    for p in &mut mesh.points {
        let old = *p;
        *p = std::array::from_fn(|a| {
            old[a] + bend * turns(old, (a + 1) % 3) * turns(old, (a + 2) % 3)
        });
    }
    mesh
}

/// The largest distance between a point of a first patch, moved, and the one that should be there: what OpenFOAM compares.
/// Infinite where the faces have other numbers of points.
fn mismatch(mesh: &PolyMesh, names: [&str; 2], shift: [f64; 3]) -> f64 {
    let [a, b] = names.map(|name| {
        let mut patches = mesh.patches.iter();
        patches.find(|patch| patch.name == name).expect("a patch")
    });
    if a.faces != b.faces {
        return f64::INFINITY;
    }
    worst((0..a.faces).map(|i| {
        let [f, g] = [a, b].map(|patch| mesh.face(patch.start + i));
        let n = f.len();
        if n != g.len() {
            return f64::INFINITY;
        }
        worst((0..n).map(|k| {
            let [p, q] = [f[k], g[(n - k) % n]].map(|p| mesh.points[p as usize]);
            worst((0..3).map(|i| (p[i] + shift[i] - q[i]).abs()))
        }))
    }))
}

#[test]
fn both_sides_have_the_same_faces() {
    let mut refined_at_both = 0;
    for seed in 0..24 {
        let mut random = Random::new(seed + 500);
        let n = [2, 3, 4].map(|n| n - random.below(2));
        let axes: &[usize] = [&[0][..], &[2, 0], &[1, 2], &[0, 1, 2]][seed as usize % 4];
        let parent = periodic(n, axes, 0.05);
        let refined = some_mesh(&parent, &mut random, 3);
        assert_eq!(refined.mesh.validate(), Ok(()), "seed {seed}");
        for &axis in axes {
            let found = mismatch(&refined.mesh, NAMES[axis], shift(n, axis));
            assert!(found < 1e-12, "seed {seed}, axis {axis}: {found}");
            let patches = refined.mesh.patches.iter();
            let patch = patches.clone().find(|patch| patch.name == NAMES[axis][1]);
            let level = |i: usize| {
                let start = patch.expect("a patch").start;
                refined.paths[refined.mesh.owner[start + i] as usize].level()
            };
            let levels: Vec<u8> = (0..patch.expect("a patch").faces).map(level).collect();
            refined_at_both += usize::from(levels.iter().min() != levels.iter().max());
        }
    }
    assert!(
        refined_at_both > 20,
        "levels differ along the patches: {refined_at_both}"
    );
}

/// Cells by level and rounded centre.
fn cells_in(mesh: &RefinedMesh, low: f64, high: f64, moved: f64) -> Vec<(u8, [i64; 3])> {
    let geometry = mesh.mesh.cell_geometry(&mesh.mesh.face_geometry());
    let mut cells: Vec<(u8, [i64; 3])> = geometry
        .iter()
        .zip(&mesh.paths)
        .filter(|(cell, _)| (low..high).contains(&cell.center[0]))
        .map(|(cell, path)| {
            let [x, y, z] = cell.center;
            let round = |x: f64| (x * 4096.0).round() as i64;
            (path.level(), [round(x - moved), round(y), round(z)])
        })
        .collect();
    cells.sort_unstable();
    cells
}

#[test]
fn cells_are_those_of_a_block_that_goes_on() {
    let (n, tiles) = ([6, 3, 2], 3.0);
    for seed in 0..6 {
        let mut random = Random::new(seed);
        // Levels asked for around some places, at the joined faces and elsewhere.
        let places: Vec<([f64; 3], u8)> = (0..3)
            .map(|i| {
                let x = if i == 0 { 5.9 } else { 6.0 * random.unit() };
                ([x, 3.0 * random.unit(), 2.0 * random.unit()], 3)
            })
            .collect();
        let wanted = |place: CellPlace| {
            let [x, y, z] = place.center;
            let x = x.rem_euclid(6.0);
            let is_near = |(p, _): &&([f64; 3], u8)| {
                (x - p[0]).abs() < 0.3 && (y - p[1]).abs() < 0.3 && (z - p[2]).abs() < 0.3
            };
            // The cell that holds the place, whatever its size.
            let half = 0.5 / f64::from(1 << place.path.level());
            let holds = |(p, _): &&([f64; 3], u8)| {
                (x - p[0]).abs() <= half && (y - p[1]).abs() <= half && (z - p[2]).abs() <= half
            };
            let mut found = places.iter();
            found.find(|p| is_near(p) || holds(p)).map_or(0, |p| p.1)
        };
        let joined = RefinedMesh::build(&periodic(n, &[0], 0.0), wanted).expect("a mesh");
        let long = [n[0] * tiles as usize, n[1], n[2]];
        let row = block_with(long, |p| p, |c| side(c, long));
        let row = RefinedMesh::build(&row, wanted).expect("a mesh");
        let (found, expected) = (
            cells_in(&joined, 0.0, 6.0, 0.0),
            cells_in(&row, 6.0, 12.0, 6.0),
        );
        assert!(expected.iter().any(|cell| cell.0 == 3), "three levels");
        assert_eq!(found, expected, "seed {seed}");
        // Without the joint, cells at the other end are coarser.
        let apart = block_with(n, |p| p, |c| side(c, n));
        let apart = RefinedMesh::build(&apart, wanted).expect("a mesh");
        assert_ne!(
            cells_in(&apart, 0.0, 6.0, 0.0),
            expected,
            "a comparison that can fail"
        );
    }
}

#[test]
fn tetrahedra_are_joined_too() {
    let n = [2, 2, 2];
    let cells = block_of_tets(n, |p| p);
    // The same cells with the sides as patches.
    let (start, of_cell) = cells.cell_faces();
    let outward = |cell: usize, face: u32| {
        let mut ids = cells.face(face as usize).to_vec();
        if cells.owner[face as usize] as usize != cell {
            ids.reverse();
        }
        ids
    };
    let lists: Vec<Vec<Vec<u32>>> = (0..cells.cells)
        .map(|cell| {
            let faces = &of_cell[start[cell] as usize..start[cell + 1] as usize];
            faces.iter().map(|&face| outward(cell, face)).collect()
        })
        .collect();
    let mut parent = mesh_of(cells.points.clone(), &lists, |c| side(c, n));
    join(&mut parent, NAMES[0], shift(n, 0));
    join(&mut parent, NAMES[1], shift(n, 1));
    for seed in 0..8 {
        let refined = some_mesh(&parent, &mut Random::new(seed), 3);
        assert_eq!(refined.mesh.validate(), Ok(()), "seed {seed}");
        for axis in 0..2 {
            let found = mismatch(&refined.mesh, NAMES[axis], shift(n, axis));
            assert!(found < 1e-12, "seed {seed}, axis {axis}: {found}");
        }
    }
}

#[test]
fn fluxes_are_the_same_on_both_sides() {
    let n = [3, 2, 3];
    let parent = periodic(n, &[0, 2], 0.0);
    for seed in 0..6 {
        let mut random = Random::new(seed + 9);
        let [from, to] = [0, 1].map(|_| some_mesh(&parent, &mut random, 2));
        let u = [0.3, -1.1, 0.7];
        let through = |m: &PolyMesh| -> Vec<f64> {
            let dot = |a: [f64; 3]| a[0] * u[0] + a[1] * u[1] + a[2] * u[2];
            m.face_geometry().iter().map(|f| dot(f.area)).collect()
        };
        let mut other: Vec<f64> = (0..from.mesh.faces())
            .map(|_| random.unit() - 0.5)
            .collect();
        let pairs = |mesh: &PolyMesh| -> Vec<[usize; 2]> {
            let start = |name: &str| {
                let patch = mesh.patches.iter().find(|patch| patch.name == name);
                patch
                    .map(|patch| (patch.start, patch.faces))
                    .expect("a patch")
            };
            let joined = [NAMES[0], NAMES[2]].into_iter().flat_map(|[a, b]| {
                let ((a, count), (b, _)) = (start(a), start(b));
                (0..count).map(move |i| [a + i, b + i])
            });
            joined.collect()
        };
        for [a, b] in pairs(&from.mesh) {
            other[b] = -other[a];
        }
        let mapped = map_fluxes(&from, &to, vec![through(&from.mesh), other.clone()]);
        let mapped = mapped.expect("the same parent");
        let exact = through(&to.mesh);
        let error = worst(mapped[0].iter().zip(&exact).map(|(a, b)| (a - b).abs()));
        assert!(error < 1e-14, "uniform flow: {error}");
        let joined = pairs(&to.mesh);
        let error = worst(
            joined
                .iter()
                .map(|&[a, b]| (mapped[1][a] + mapped[1][b]).abs()),
        );
        assert!(error < 1e-14, "what leaves comes in: {error}");
        let [before, after] = [sums(&from.mesh, &other), sums(&to.mesh, &mapped[1])];
        let [before, after]: [f64; 2] = [before, after].map(|sums| sums.iter().sum());
        assert!((before - after).abs() < 1e-12, "{before} {after}");
    }
}

#[test]
fn a_cell_may_be_joined_with_itself() {
    let n = [1, 2, 1];
    let parent = periodic(n, &[0, 1, 2], 0.0);
    let mut refined = RefinedMesh::new(&parent).expect("a parent");
    for step in 0..3 {
        let marks = random_marks(&mut Random::new(step), refined.mesh.cells);
        refined.refine(marks).expect("a mesh");
        assert_eq!(refined.mesh.validate(), Ok(()), "step {step}");
        for axis in 0..3 {
            let found = mismatch(&refined.mesh, NAMES[axis], shift(n, axis));
            assert!(found < 1e-12, "step {step}, axis {axis}: {found}");
        }
    }
}

#[test]
fn patches_that_do_not_fit_are_refused() {
    let n = [2, 2, 2];
    let good = periodic(n, &[0], 0.0);
    let refused = |change: &dyn Fn(&mut PolyMesh)| {
        let mut mesh = good.clone();
        change(&mut mesh);
        match RefinedMesh::new(&mesh) {
            Err(RefineError::Invalid(PolyViolation::Coupled { reason, .. })) => reason,
            other => panic!("{other:?}"),
        }
    };
    let patch = |mesh: &mut PolyMesh, name: &str| -> usize {
        let mut patches = mesh.patches.iter();
        patches
            .position(|p: &PolyPatch| p.name == name)
            .expect("a patch")
    };
    RefinedMesh::new(&good).expect("patches that fit");
    let missing = refused(&|mesh| {
        let at = patch(mesh, "x0");
        mesh.patches[at].entries.clear();
    });
    assert!(missing.contains("does not exist"), "{missing}");
    let turned = refused(&|mesh| {
        let at = patch(mesh, "x1");
        let start = mesh.face_start[mesh.patches[at].start] as usize;
        mesh.face_points[start..start + 4].rotate_left(1);
    });
    assert!(turned.contains("createPatch"), "{turned}");
    let one_sided = refused(&|mesh| {
        let at = patch(mesh, "x1");
        mesh.patches[at].entries[0].1 = "y0".into();
    });
    assert!(one_sided.contains("another one"), "{one_sided}");
    let part = refused(&|mesh| of_kind(mesh, "y0", "processor"));
    assert!(part.contains("reconstructParMesh"), "{part}");
    assert_eq!(
        only_on_host(&good.patches).map(|p| p.name.as_str()),
        Some("x0")
    );
}
