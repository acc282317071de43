//! Refinement: checks of every mesh, exact geometry on boxes, round trips, threads.

use super::kit::{
    Random, block, cell_volumes, many, o_grid, parent, rim_of_prisms, some_mesh, sums,
};
use cutlink_device::Host;
use cutlink_hex::refine::{CellPlace, MeanMap, map_fluxes};
use cutlink_hex::{CellPath, HexMesh, PolyMesh, PolyMeshFormat, PolyViolation, RefinedMesh};

fn volume(mesh: &PolyMesh) -> f64 {
    let cells = mesh.cell_geometry(&mesh.face_geometry());
    cells.iter().map(|c| c.volume).sum()
}

fn sound(refined: &RefinedMesh) {
    assert_eq!(refined.mesh.validate(), Ok(()), "every invariant");
    assert_eq!(
        refined.paths.len(),
        refined.mesh.cells,
        "a path for each cell"
    );
    assert!(refined.paths.is_sorted(), "paths in order");
    let mut places: Vec<[u64; 3]> = refined
        .mesh
        .points
        .iter()
        .map(|p| p.map(f64::to_bits))
        .collect();
    places.sort_unstable();
    let all = places.len();
    places.dedup();
    assert_eq!(places.len(), all, "points are shared");
    let levels = refined.mesh.levels.as_ref().expect("levels");
    let mut at_point = vec![[u8::MAX, 0]; refined.mesh.points.len()];
    let (start, faces) = refined.mesh.cell_faces();
    for cell in 0..refined.mesh.cells {
        for &f in &faces[start[cell] as usize..start[cell + 1] as usize] {
            for &p in refined.mesh.face(f as usize) {
                let [least, most] = &mut at_point[p as usize];
                (*least, *most) = (
                    (*least).min(levels.cell[cell]),
                    (*most).max(levels.cell[cell]),
                );
            }
        }
    }
    assert!(
        at_point.iter().all(|[least, most]| most - least <= 1),
        "2:1 over points"
    );
}

#[test]
fn children_of_distorted_cells_are_found_to_be_turned() {
    let moved = |by: f64| {
        block([3, 3, 3], |p| match p {
            [1.0, 1.0, 1.0] => [1.0 + by; 3],
            p => p,
        })
    };
    let refined = |parent: &PolyMesh| RefinedMesh::build(parent, |_| 1).expect("a mesh").mesh;
    // A point in the way of the middle of its cell turns the child between them; the cell itself is turned from 0.9 on.
    assert_eq!(refined(&moved(0.4)).turned_faces(), []);
    let parent = moved(0.6);
    assert_eq!(parent.validate(), Ok(()), "the parent is sound");
    assert_eq!(parent.turned_faces(), []);
    let mesh = refined(&parent);
    let turned = mesh.turned_faces();
    let Err(PolyViolation::Orientation { face, .. }) = mesh.validate() else {
        panic!("{:?} of {turned:?}", mesh.validate());
    };
    assert_eq!((turned.first(), turned.len()), (Some(&face), 3));
}

#[test]
fn all_cells_of_a_box_give_the_finer_box() {
    let parent = block([2, 3, 1], |p| p);
    for times in 1..=3u8 {
        let refined = RefinedMesh::build(&parent, |_| times).expect("a mesh");
        sound(&refined);
        let n = [2, 3, 1].map(|n| n << times);
        let finer = block(n, |p| p);
        let counts = |m: &PolyMesh| [m.cells, m.faces(), m.internal_faces(), m.points.len()];
        assert_eq!(counts(&refined.mesh), counts(&finer), "{times} times");
        assert!(
            (volume(&refined.mesh) - 6.0).abs() < 1e-12,
            "volume of the box"
        );
        let sizes = |m: &PolyMesh| {
            m.patches
                .iter()
                .map(|p| (p.name.clone(), p.faces))
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes(&refined.mesh), sizes(&finer), "patches");
        let mut ours = refined.mesh.points.clone();
        let mut theirs: Vec<[f64; 3]> = finer
            .points
            .iter()
            .map(|p| p.map(|x| x / f64::from(1 << times)))
            .collect();
        let by = |a: &[f64; 3], b: &[f64; 3]| a.partial_cmp(b).expect("numbers");
        ours.sort_by(by);
        theirs.sort_by(by);
        assert_eq!(ours, theirs, "points");
    }
}

#[test]
fn one_cell_of_two_has_the_counts_of_a_hand_calculation() {
    let refined = RefinedMesh::build(&block([2, 1, 1], |p| p), |place| {
        u8::from(place.path.parent() == 0)
    })
    .expect("a mesh");
    sound(&refined);
    let mesh = &refined.mesh;
    // 8 children and a cell with 4 + 5 faces; 12 + 4 internal faces; 5 x 4 + 5 at the boundary; 12 + 19 points.
    let found = [
        mesh.cells,
        mesh.internal_faces(),
        mesh.faces(),
        mesh.points.len(),
    ];
    assert_eq!(found, [9, 16, 41, 31]);
    let with_hanging = (0..mesh.faces())
        .filter(|&f| mesh.face(f).len() == 5)
        .count();
    assert_eq!(
        with_hanging, 4,
        "faces of the coarse cell beside split edges"
    );
}

fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().expect("a pool").install(run)
}

/// Twenty parents of five kinds, one to four levels.
#[test]
fn random_marks_on_20_parents_give_sound_meshes_for_any_number_of_threads() {
    let mut finer = 0;
    for seed in 0..many(20) {
        let kind = seed % 20;
        let parent = parent(kind as usize);
        assert_eq!(parent.validate(), Ok(()), "a sound parent");
        let build = || {
            some_mesh(
                &parent,
                &mut Random::new(seed + 1000),
                1 + (seed / 5 % 4) as usize,
            )
        };
        let refined = on_threads(1, build);
        sound(&refined);
        finer += u64::from(refined.mesh.cells > parent.cells);
        for threads in [2, 7] {
            assert_eq!(on_threads(threads, build), refined, "{threads} threads");
        }
        let coarse = RefinedMesh::new(&parent).expect("a parent");
        keeps_fields(&coarse, &refined, kind % 5 == 2, &mut Random::new(seed));
        let [there, from] = [&refined, &coarse].map(|mesh| HexMesh::of(mesh.clone()));
        let again = |wanted: Vec<u8>| there.adapt(&Host, &from, &wanted).expect("a mesh");
        let parent = again(vec![0; refined.mesh.cells]).into_refined();
        assert_eq!(parent.mesh, coarse.mesh, "the parent again");
        let levels = refined.paths.iter().map(|path| path.level()).collect();
        assert_eq!(
            again(levels).into_refined().paths,
            refined.paths,
            "the cells again"
        );
    }
    // Small parents may have no mark.
    assert!(10 * finer >= 9 * many(20), "{finer} have finer cells");
}

/// Values and fluxes from a parent to a refined mesh and back.
fn keeps_fields(
    coarse: &RefinedMesh,
    refined: &RefinedMesh,
    is_twisted: bool,
    random: &mut Random,
) {
    let volumes = [coarse, refined].map(|m| cell_volumes(&m.mesh));
    let [before, after] = volumes.each_ref().map(|v| v.iter().sum::<f64>());
    // The boundaries of twisted cells become finer, and so do their volumes.
    let near = if is_twisted { 0.02 } else { 1e-13 };
    assert!(
        (after / before - 1.0).abs() < near,
        "volume {before} {after}"
    );
    let values: Vec<f64> = volumes[0].iter().map(|_| 1.0 + random.unit()).collect();
    let there = MeanMap::of_cells(&coarse.paths, &volumes[0], &refined.paths).apply(&values, 1);
    let integral = |v: &[f64], f: &[f64]| v.iter().zip(f).map(|(v, f)| v * f).sum::<f64>();
    let [old, new] = [
        integral(&volumes[0], &values),
        integral(&volumes[1], &there),
    ];
    assert!((new / old - 1.0).abs() < near, "integral {old} {new}");
    let back = MeanMap::of_cells(&refined.paths, &volumes[1], &coarse.paths).apply(&there, 1);
    let is_same = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-13;
    assert!(
        back.iter().zip(&values).all(is_same),
        "values there and back"
    );
    let fluxes: Vec<f64> = (0..coarse.mesh.faces())
        .map(|_| random.unit() - 0.5)
        .collect();
    let there = map_fluxes(coarse, refined, vec![fluxes.clone()]).expect("mapped");
    let [old, new] = [sums(&coarse.mesh, &fluxes), sums(&refined.mesh, &there[0])];
    let mut of_parents = vec![0.0; old.len()];
    for (path, sum) in refined.paths.iter().zip(&new) {
        of_parents[path.parent() as usize] += sum;
    }
    assert!(
        of_parents.iter().zip(&old).all(is_same),
        "divergence of each parent"
    );
    let back = map_fluxes(refined, coarse, there).expect("mapped");
    assert!(
        back[0].iter().zip(&fluxes).all(is_same),
        "fluxes there and back"
    );
}

/// One entry of one array changed: never a sound mesh, and never a panic.
#[test]
fn corrupted_meshes_are_rejected() {
    let mut found = std::collections::BTreeSet::new();
    for seed in 0..many(120) {
        let mut random = Random::new(seed);
        let parent = parent(seed as usize % 20);
        let mut mesh = some_mesh(&parent, &mut random, 1).mesh;
        let other = |random: &mut Random, id: u32, count: usize| {
            (id + 1 + random.below(count - 1) as u32) % count as u32
        };
        let (cells, points, kind) = (mesh.cells, mesh.points.len(), seed % 8);
        match kind {
            0 => {
                let at = random.below(mesh.owner.len());
                mesh.owner[at] = other(&mut random, mesh.owner[at], cells);
            }
            1 => {
                let at = random.below(mesh.neighbour.len());
                mesh.neighbour[at] = other(&mut random, mesh.neighbour[at], cells);
            }
            2 => {
                let at = random.below(mesh.face_points.len());
                mesh.face_points[at] = other(&mut random, mesh.face_points[at], points);
            }
            3 => {
                let at = random.below(mesh.face_points.len());
                mesh.face_points[at] += points as u32;
            }
            4 => {
                let at = random.below(mesh.face_start.len());
                mesh.face_start[at] = mesh.face_start[at].wrapping_sub(1);
            }
            5 => mesh.points[random.below(points)][random.below(3)] = f64::NAN,
            6 => {
                let at = random.below(mesh.patches.len());
                mesh.patches[at].start += 1;
            }
            _ => {
                let (at, corner) = (random.below(mesh.faces()), random.below(3));
                let start = mesh.face_start[at] as usize;
                mesh.face_points
                    .swap(start + corner, start + (corner + 1) % 3);
            }
        }
        let violation = mesh.validate().expect_err("a corrupted mesh");
        found.insert(
            format!("{violation:?}")
                .split([' ', '('])
                .next()
                .map(str::to_owned),
        );
        if kind != 7 {
            RefinedMesh::build(&mesh, |_| 2).expect_err("nothing to refine");
        }
    }
    assert!(found.len() >= 5, "{found:?}");
    // Wrong levels: an error, or fewer hexahedra, but no panic and no broken mesh.
    for seed in 0..many(60) {
        let mut random = Random::new(seed);
        let parent = parent(seed as usize % 20);
        let mut mesh = some_mesh(&parent, &mut random, 1).mesh;
        let levels = mesh.levels.as_mut().expect("levels");
        match seed % 2 {
            0 => levels.cell[random.below(mesh.cells)] ^= 1,
            _ => levels.point[random.below(mesh.points.len())] ^= 1,
        }
        if let Ok(refined) = RefinedMesh::build(&mesh, |_| 2) {
            let is_closed = match refined.mesh.validate() {
                Ok(()) => true,
                Err(violation) => matches!(
                    violation,
                    PolyViolation::Volume { .. } | PolyViolation::Orientation { .. }
                ),
            };
            assert!(is_closed, "{seed}: {:?}", refined.mesh.validate());
        }
    }
}

#[test]
fn polyhedra_stay_and_limit_their_neighbours() {
    let parent = rim_of_prisms(3);
    let refined = RefinedMesh::build(&parent, |_| 3).expect("a mesh");
    sound(&refined);
    assert!(refined.polyhedra > 0, "there are prisms");
    let levels = refined.mesh.levels.as_ref().expect("levels");
    let kept = levels.cell.iter().filter(|&&level| level == 0).count();
    assert_eq!(kept, refined.polyhedra, "the prisms are as they were");
    assert!(
        levels.cell.iter().any(|&level| level >= 2),
        "away from them cells are finer"
    );
}

#[test]
fn fields_keep_their_integrals_and_constants_there_and_back() {
    let parent = block([3, 4, 2], |[x, y, z]| [x.powf(1.2), y, z * z]);
    let coarse = RefinedMesh::new(&parent).expect("a parent");
    let wanted = |a: f64| {
        move |CellPlace { center: c, .. }: CellPlace| {
            if (c[0] - a).abs() < 0.6 {
                2
            } else {
                u8::from(c[1] > 2.0)
            }
        }
    };
    let [one, two] = [0.5, 2.5].map(|a| RefinedMesh::build(&parent, wanted(a)).expect("a mesh"));
    let volumes = |m: &RefinedMesh| -> Vec<f64> {
        let cells = m.mesh.cell_geometry(&m.mesh.face_geometry());
        cells.iter().map(|c| c.volume).collect()
    };
    let mut random = Random::new(5);
    let values: Vec<f64> = one
        .paths
        .iter()
        .flat_map(|_| [random.unit(), 3.0])
        .collect();
    let integral = |v: &[f64], f: &[f64]| {
        v.iter()
            .zip(f.chunks(2))
            .map(|(v, f)| v * f[0])
            .sum::<f64>()
    };
    let (v1, v2, v0) = (volumes(&one), volumes(&two), volumes(&coarse));
    let map = |from: &RefinedMesh, v: &[f64], to: &RefinedMesh, f: &[f64]| {
        MeanMap::of_cells(&from.paths, v, &to.paths).apply(f, 2)
    };
    let on_two = map(&one, &v1, &two, &values);
    let on_parent = map(&two, &v2, &coarse, &on_two);
    let sum = integral(&v1, &values);
    assert!(
        (integral(&v2, &on_two) / sum - 1.0).abs() < 1e-13,
        "refined and coarsened"
    );
    assert!(
        (integral(&v0, &on_parent) / sum - 1.0).abs() < 1e-13,
        "on the parent"
    );
    let is_constant = |f: &[f64]| f.chunks(2).all(|f| (f[1] - 3.0).abs() < 1e-14);
    assert!(
        is_constant(&on_two) && is_constant(&on_parent),
        "constants stay"
    );
    let again = map(&coarse, &v0, &two, &on_parent);
    let back = map(&two, &v2, &coarse, &again);
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-14;
    assert!(back.iter().zip(&on_parent).all(near), "there and back");
    faces_keep_their_integrals(&one, &two);
    let none = RefinedMesh::build(&parent, |_| 0).expect("a mesh");
    assert_eq!(
        none.mesh.checksum(),
        coarse.mesh.checksum(),
        "nothing marked is the parent"
    );
}

#[test]
fn wrong_meshes_are_refused() {
    let mut mesh = block([2, 1, 1], |p| p);
    mesh.face_points[0] = 99;
    RefinedMesh::build(&mesh, |_| 1).expect_err("a point that does not exist");
    let deep = RefinedMesh::build(
        &block([1, 1, 1], |p| p),
        |CellPlace { center: c, .. }| {
            if c[0].max(c[1]).max(c[2]) < 1e-3 {
                99
            } else {
                0
            }
        },
    );
    assert!(deep.is_ok(), "levels stop at the most");
}

/// A field on the boundary, by area.
fn faces_keep_their_integrals(one: &RefinedMesh, two: &RefinedMesh) {
    let rims = |m: &RefinedMesh| -> Vec<(u32, CellPath, f64)> {
        let geometry = m.mesh.face_geometry();
        let faces = m.mesh.internal_faces()..m.mesh.faces();
        let area = |f: usize| geometry[f].area.iter().map(|x| x * x).sum::<f64>().sqrt();
        faces
            .zip(&m.rims)
            .map(|(f, &rim)| (rim, m.paths[m.mesh.owner[f] as usize], area(f)))
            .collect()
    };
    let (from, to) = (rims(one), rims(two));
    let places: Vec<_> = to.iter().map(|&(rim, path, _)| (rim, path)).collect();
    let mut random = Random::new(9);
    let values: Vec<f64> = from.iter().map(|_| random.unit()).collect();
    let mapped = MeanMap::of_faces(&from, &places).apply(&values, 1);
    let integral = |of: &[(u32, CellPath, f64)], f: &[f64]| {
        of.iter().zip(f).map(|(r, f)| r.2 * f).sum::<f64>()
    };
    let (a, b) = (integral(&from, &values), integral(&to, &mapped));
    assert!((a / b - 1.0).abs() < 1e-13, "{a} {b}");
}

#[test]
fn a_mesh_with_hanging_points_is_a_parent_if_its_levels_are_known() {
    let first = RefinedMesh::build(
        &block([3, 3, 2], |p| p),
        |CellPlace { center: c, .. }| u8::from(c[0] > 1.5) * 2,
    )
    .expect("a mesh");
    let again = RefinedMesh::build(&first.mesh, |CellPlace { center: c, .. }| {
        u8::from(c[1] < 1.5)
    })
    .expect("a mesh");
    sound(&again);
    assert_eq!(again.polyhedra, 0, "all cells are hexahedra");
    assert!(again.mesh.cells > first.mesh.cells, "refined further");
    let mut without = first.mesh.clone();
    without.levels = None;
    let some = RefinedMesh::build(&without, |CellPlace { center: c, .. }| u8::from(c[1] < 1.5))
        .expect("a mesh");
    assert!(
        some.polyhedra > 0,
        "without levels, cells with hanging points are polyhedra"
    );
    assert_eq!(some.mesh.validate(), Ok(()), "and the mesh is sound");
}

#[test]
fn a_refined_mesh_is_read_with_its_parent() {
    let parent = o_grid(5, 2);
    let refined = RefinedMesh::build(&parent, |CellPlace { center: c, .. }| {
        u8::from(c[0] > 0.0) + u8::from(c[1] > 0.5)
    })
    .expect("a mesh");
    for format in [PolyMeshFormat::Ascii, PolyMeshFormat::Binary] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("parent")).expect("a folder");
        parent
            .write(&folder.path().join("parent"), format)
            .expect("written");
        refined.write(folder.path(), format).expect("written");
        let (read, of) = RefinedMesh::read(folder.path()).expect("read");
        assert_eq!(
            (&read.mesh, &read.paths, &read.rims),
            (&refined.mesh, &refined.paths, &refined.rims)
        );
        assert_eq!(of, parent, "its parent");
        let list = folder.path().join("parentPath");
        std::fs::copy(folder.path().join("parentCell"), list).expect("copied");
        RefinedMesh::read(folder.path()).expect_err("paths that are none");
    }
}
