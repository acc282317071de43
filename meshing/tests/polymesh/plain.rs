//! Oracles: counts and volumes of the mesh, the staircase surface of its body, the checks of `cutlink_hex`.

use crate::files_kit::{ball_mesh, random_mesh};
use cutlink_amr::CellRef;
use cutlink_hex::{PolyMesh, PolyMeshFormat, PolyViolation};
use cutlink_meshing::polymesh::*;
use cutlink_pictures::solid_stl::solid_surface;
use cutlink_voxelizer::Mesh;
use std::{fs, path::Path};

/// Volume of the fluid of the mesh file, in cells of the finest level: exact.
fn fluid(mesh: &Mesh<3>) -> u64 {
    let finest = mesh.forest.finest();
    let each = mesh.level_counts().into_iter();
    each.map(|c| (c.fluid + c.boundary) << (3 * (finest - c.level)))
        .sum()
}

/// Volume of the cells, in cells of the finest level.
fn volume(mesh: &Mesh<3>, made: &PolyMesh) -> f64 {
    let cells = made.cell_geometry(&made.face_geometry());
    let unit = mesh.frame.dx_at(mesh.forest.finest()).powi(3);
    cells.iter().map(|cell| cell.volume / unit).sum()
}

fn sound(mesh: &Mesh<3>) -> Castellated {
    let made = castellate(mesh, &PolyLabels::default()).expect("a mesh with fluid");
    assert_eq!(made.mesh.validate(), Ok(()), "every check of the arrays");
    made
}

/// Area of a patch, in faces of the finest level.
fn area(mesh: &Mesh<3>, made: &PolyMesh, patch: &str) -> f64 {
    let unit = mesh.frame.dx_at(mesh.forest.finest()).powi(2);
    let patch = made
        .patches
        .iter()
        .find(|p| p.name == patch)
        .expect("the patch");
    let faces = made.face_geometry();
    let faces = &faces[patch.start..patch.start + patch.faces];
    faces
        .iter()
        .map(|f| f.area.iter().map(|x| x.abs()).sum::<f64>() / unit)
        .sum()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}

#[test]
fn volume_and_walls_of_a_ball_are_those_of_its_cells() {
    for levels in 1..=3 {
        let mesh = ball_mesh([4, 4, 4], levels);
        let made = sound(&mesh);
        let counts = mesh.level_counts();
        let cells: u64 = counts.iter().map(|c| c.fluid + c.boundary).sum();
        assert_eq!(made.mesh.cells as u64, cells, "every fluid cell is kept");
        assert!(
            near(volume(&mesh, &made.mesh), fluid(&mesh) as f64),
            "volume"
        );
        let surface = solid_surface(&mesh, levels - 1).expect("the finest level");
        let squares = surface.facets.len() as f64 / 2.0;
        assert!(
            near(area(&mesh, &made.mesh, "ball"), squares),
            "wetted area"
        );
        let side = f64::from(16u32 << (levels - 1));
        for patch in BOX_PATCHES {
            assert!(near(area(&mesh, &made.mesh, patch), side * side), "{patch}");
        }
        let found = (made.baffles, made.guessed, made.pockets, made.regions);
        assert_eq!(found, (0, 0, 0, 1), "a sound body in one fluid");
    }
}

#[test]
fn levels_are_those_of_the_forest() {
    let mesh = ball_mesh([4, 4, 4], 3);
    let made = sound(&mesh).mesh;
    let levels = made.levels.as_ref().expect("levels");
    for counts in mesh.level_counts() {
        let here = levels
            .cell
            .iter()
            .filter(|&&l| usize::from(l) == counts.level);
        assert_eq!(
            here.count() as u64,
            counts.fluid + counts.boundary,
            "level {}",
            counts.level
        );
    }
    // A cell has eight points of its level or coarser: its corners, none of the hanging ones.
    let (start, faces) = made.cell_faces();
    for cell in (0..made.cells).step_by(97) {
        let of_cell = &faces[start[cell] as usize..start[cell + 1] as usize];
        let mut corners: Vec<u32> = of_cell
            .iter()
            .flat_map(|&f| made.face(f as usize))
            .copied()
            .filter(|&p| levels.point[p as usize] <= levels.cell[cell])
            .collect();
        corners.sort_unstable();
        corners.dedup();
        assert_eq!(corners.len(), 8, "corners of cell {cell}");
    }
}

#[test]
fn random_forests_are_closed_and_the_same_for_any_number_of_threads() {
    for seed in 0..5 {
        let mesh = random_mesh(seed, [2, 3, 2], 3);
        let made = sound(&mesh);
        let kept = volume(&mesh, &made.mesh);
        let all = fluid(&mesh) as f64;
        assert!(kept <= all * (1.0 + 1e-9), "volume");
        assert_eq!(
            near(kept, all),
            made.pocket_cells == 0,
            "only pockets are left out"
        );
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let again = pool
                .expect("a pool")
                .install(|| castellate(&mesh, &PolyLabels::default()))
                .expect("a mesh");
            assert_eq!(again, made, "{threads} threads, seed {seed}");
        }
    }
}

#[test]
fn points_are_shared_and_all_used() {
    let made = sound(&random_mesh(3, [2, 2, 2], 3)).mesh;
    let mut places: Vec<[u64; 3]> = made.points.iter().map(|p| p.map(f64::to_bits)).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), made.points.len(), "no place twice");
    let mut used = vec![false; made.points.len()];
    made.face_points
        .iter()
        .for_each(|&p| used[p as usize] = true);
    assert!(used.iter().all(|&u| u), "no point without a face");
}

/// Makes cells in the middle of the ball fluid: a pocket.
fn with_pocket(size: i32) -> Mesh<3> {
    let mut mesh = ball_mesh([4, 4, 4], 1);
    for x in 0..size {
        let block = mesh.forest.find(0, [2, 2, 2]).expect("in the box");
        let at = CellRef {
            block,
            cell: x as u32,
        };
        assert!(mesh.forest.is_leaf(block), "a block inside the ball");
        mesh.classes.solid[at.block as usize] &= !(1 << at.cell);
    }
    mesh
}

#[test]
fn a_pocket_is_left_out_and_counted() {
    let mesh = with_pocket(3);
    let (made, plain) = (sound(&mesh), sound(&ball_mesh([4, 4, 4], 1)));
    assert_eq!(
        (made.pockets, made.pocket_cells, made.regions),
        (1, 3, 1),
        "one pocket"
    );
    assert_eq!(made.mesh, plain.mesh, "as if it were not there");
    assert!(
        made.notes()[0].contains("1 pocket of fluid"),
        "{:?}",
        made.notes()
    );
}

#[test]
fn a_cut_between_fluid_cells_is_a_baffle() {
    // Cuts every link along x between two layers of cells, as a plate would that lies between their centres.
    let mut mesh = ball_mesh([2, 2, 2], 1);
    mesh.classes.solid.fill(0);
    mesh.classes.boundary.fill(0);
    let table = &mut mesh.links;
    *table = cutlink_voxelizer::LinkTable {
        blocks: Vec::new(),
        row_of: vec![cutlink_amr::NONE; 8],
        cell_start: vec![0],
        cells: Vec::new(),
        q: Vec::new(),
        patch: Vec::new(),
    };
    for block in 0..8u32 {
        // The plate is at x = 2 cells: in the blocks of the lower half.
        let upper = block & 1 == 1;
        if upper {
            continue;
        }
        table.row_of[block as usize] = table.blocks.len() as u32;
        table.blocks.push(block);
        for cell in 0..64u32 {
            let direction = match cell & 3 {
                1 => 14,
                2 => 12,
                _ => continue,
            };
            mesh.classes.boundary[block as usize] |= 1 << cell;
            let link = table.q.len() as u64;
            table
                .cells
                .push(cutlink_voxelizer::pack_cell(1 << direction, link));
            table.q.push(0.5);
        }
        table.cell_start.push(table.cells.len() as u32);
    }
    let made = sound(&mesh);
    assert_eq!(
        (made.baffles, made.regions),
        (64, 2),
        "8 x 8 faces divide the box"
    );
    assert_eq!(
        area(&mesh, &made.mesh, "ball"),
        128.0,
        "a wall on either side"
    );
    let patch = &made.mesh.patches[0];
    let mut sets: Vec<Vec<u32>> = (patch.start..patch.start + patch.faces)
        .map(|f| {
            let mut ids = made.mesh.face(f).to_vec();
            ids.sort_unstable();
            ids
        })
        .collect();
    sets.sort();
    assert!(
        sets.chunks(2).all(|pair| pair[0] == pair[1]),
        "both sides have the same points"
    );
}

#[test]
fn names_become_words_once_each() {
    let mut mesh = random_mesh(1, [2, 2, 2], 2);
    mesh.patches = vec!["xMin".into(), "tail \"1\"".into()];
    let made = castellate(&mesh, &PolyLabels::default()).expect("a mesh");
    let names: Vec<&str> = made.mesh.patches.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names[..3], ["xMin_2", "tail__1_", "xMin"], "{names:?}");
    assert_eq!(made.renamed.len(), 2, "{:?}", made.renamed);
}

#[test]
fn the_checks_notice_a_wrong_mesh() {
    let sound = sound(&ball_mesh([4, 4, 4], 2)).mesh;
    let broken = |change: &dyn Fn(&mut PolyMesh)| {
        let mut mesh = sound.clone();
        change(&mut mesh);
        mesh.validate().expect_err("a violation")
    };
    let error = broken(&|mesh| mesh.neighbour.swap(0, 1));
    assert!(matches!(error, PolyViolation::Order { .. }), "{error}");
    // The first hanging point in a face of five points.
    let hanging = |mesh: &PolyMesh| {
        (0..mesh.faces())
            .find(|&f| mesh.face(f).len() > 4)
            .expect("one")
    };
    let error = broken(&|mesh| {
        let face = hanging(mesh);
        mesh.face_points.remove(mesh.face_start[face] as usize + 1);
        mesh.face_start[face + 1..]
            .iter_mut()
            .for_each(|start| *start -= 1);
    });
    assert!(matches!(error, PolyViolation::OpenCell { .. }), "{error}");
    let error = broken(&|mesh| mesh.patches[0].faces -= 1);
    assert!(matches!(error, PolyViolation::Patch { .. }), "{error}");
}

#[test]
fn a_mesh_without_fluid_is_refused() {
    let mut mesh = ball_mesh([2, 2, 2], 1);
    mesh.classes.solid.fill(u64::MAX);
    mesh.classes.boundary.fill(0);
    let error = castellate(&mesh, &PolyLabels::default()).expect_err("nothing to export");
    assert!(error.to_string().contains("no fluid cells"), "{error}");
}

#[test]
fn a_case_keeps_what_it_had() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = folder.path().join("new/case");
    let made = sound(&ball_mesh([2, 2, 2], 1)).mesh;
    let put = |force| {
        write(
            &made,
            &PolyZones::default(),
            &case,
            PolyMeshFormat::Ascii,
            force,
        )
    };
    let bytes = put(false).expect("a new case");
    let polymesh = case.join("constant/polyMesh");
    let sum: u64 = fs::read_dir(&polymesh)
        .expect("the mesh")
        .map(|e| e.and_then(|e| e.metadata()).expect("a file").len())
        .sum();
    assert_eq!(sum, bytes, "all bytes");
    let control = case.join("system/controlDict");
    fs::write(&control, "mine").expect("a dictionary");
    assert!(put(false).is_err(), "an earlier mesh is not replaced");
    assert!(check(&case, false).is_err(), "which is known beforehand");
    fs::write(polymesh.join("cellZones"), "old").expect("a file");
    put(true).expect("replaced");
    assert!(
        !polymesh.join("cellZones").exists(),
        "zones of the old mesh are gone"
    );
    assert_eq!(
        fs::read_to_string(&control).expect("it"),
        "mine",
        "left as it was"
    );
    fs::write(polymesh.join("notes.txt"), "mine").expect("a file");
    let error = put(true).expect_err("a file that is not of a mesh");
    assert!(error.to_string().contains("notes.txt"), "{error}");
    assert!(polymesh.join("notes.txt").exists(), "still there");
    let names = |path: &Path| fs::read_dir(path).expect("a folder").count();
    assert_eq!(names(&case.join("constant")), 1, "no temporary folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("a file");
    assert!(check(&file, true).is_err(), "a file is not a case");
}
