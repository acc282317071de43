//! Refinement of meshes of one cell's thickness: between patches of type `empty`, and between wedges.

use super::kit::{
    Random, block, block_with, cell_volumes, join, many, of_kind, rim_of_prisms, some_mesh, sums,
};
use super::worst;
use cutlink_hex::refine::{CellPlace, map_fluxes};
use cutlink_hex::{PolyMesh, PolyMeshFormat, RefinedMesh};

/// A plate of n x m cells whose faces below and above are of type `empty`, mapped in its plane.
fn plate(n: [usize; 2], map: impl Fn([f64; 2]) -> [f64; 2]) -> PolyMesh {
    let mut mesh = block_with(
        [n[0], n[1], 1],
        |p| p,
        |c| match c {
            _ if c[2] < 1e-9 || c[2] > 1.0 - 1e-9 => "both",
            _ if c[0] < 1e-9 => "left",
            _ if c[0] > n[0] as f64 - 1e-9 => "right",
            _ => "walls",
        },
    );
    of_kind(&mut mesh, "both", "empty");
    for p in &mut mesh.points {
        let [x, y] = map([p[0], p[1]]);
        *p = [x, y, p[2]];
    }
    mesh
}

/// A wedge of n cells along the axis and m across, of half an angle of 2.5 degrees.
fn wedge(n: [usize; 2], length: f64, radius: f64) -> PolyMesh {
    let angle = 2.5f64.to_radians();
    let (n_x, n_r) = (n[0] as f64, n[1] as f64);
    let mut mesh = block_with(
        [n[0], n[1], 1],
        |[x, y, z]| {
            let (x, r) = (length * x / n_x, radius * y / n_r);
            let side = if z == 0.0 { -1.0 } else { 1.0 };
            [x, r * angle.cos(), side * r * angle.sin()]
        },
        |c| match c {
            _ if (c[2] / c[1] + angle.tan()).abs() < 1e-9 => "back",
            _ if (c[2] / c[1] - angle.tan()).abs() < 1e-9 => "front",
            _ => "rest",
        },
    );
    of_kind(&mut mesh, "back", "wedge");
    of_kind(&mut mesh, "front", "wedge");
    mesh
}

/// Every invariant, and what makes OpenFOAM's `empty` and `wedge` work: each cell has one face on each side.
fn sound(refined: &RefinedMesh, sides: &[&str]) {
    let mesh = &refined.mesh;
    assert_eq!(mesh.validate(), Ok(()), "every invariant");
    assert!(refined.paths.is_sorted(), "paths in order");
    let mut faces = vec![0; mesh.cells];
    for patch in mesh
        .patches
        .iter()
        .filter(|patch| sides.contains(&patch.name.as_str()))
    {
        for face in patch.start..patch.start + patch.faces {
            faces[mesh.owner[face] as usize] += 1;
        }
    }
    assert!(faces.iter().all(|&faces| faces == 2), "{faces:?}");
    let levels = mesh.levels.as_ref().expect("levels");
    let mut at_point = vec![[u8::MAX, 0]; mesh.points.len()];
    for face in 0..mesh.faces() {
        let cells = std::iter::once(mesh.owner[face]).chain(mesh.neighbour.get(face).copied());
        for level in cells.map(|cell| levels.cell[cell as usize]) {
            for &p in mesh.face(face) {
                let [least, most] = &mut at_point[p as usize];
                (*least, *most) = ((*least).min(level), (*most).max(level));
            }
        }
    }
    assert!(
        at_point.iter().all(|[least, most]| most - least <= 1),
        "2:1 over points"
    );
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn same(a: &PolyMesh, b: &PolyMesh) -> f64 {
    let [a, b] = [a, b].map(|mesh| sorted(cell_volumes(mesh)));
    assert_eq!(a.len(), b.len(), "cells");
    worst(a.iter().zip(&b).map(|(a, b)| (a / b - 1.0).abs()))
}

#[test]
fn all_cells_give_the_finer_mesh() {
    for times in 1..=3u8 {
        let more = 1 << times;
        let refined = RefinedMesh::build(&plate([3, 2], |p| p), |_| times).expect("a mesh");
        sound(&refined, &["both"]);
        let fine = plate([3 * more, 2 * more], |[x, y]| {
            [x / more as f64, y / more as f64]
        });
        assert!(same(&refined.mesh, &fine) < 1e-12, "plate");
        assert_eq!(refined.mesh.points.len(), fine.points.len());
        assert_eq!(refined.mesh.faces(), fine.faces());
        let refined = RefinedMesh::build(&wedge([2, 3], 1.3, 0.7), |_| times).expect("a mesh");
        sound(&refined, &["front", "back"]);
        let fine = wedge([2 * more, 3 * more], 1.3, 0.7);
        assert!(same(&refined.mesh, &fine) < 1e-12, "wedge");
        assert_eq!(refined.mesh.points.len(), fine.points.len());
        assert_eq!(refined.mesh.faces(), fine.faces());
    }
}

#[test]
fn random_marks_leave_one_cell_across() {
    let bent = |[x, y]: [f64; 2]| [x + 0.1 * (2.0 * y).sin(), y * (1.0 + 0.2 * x)];
    for seed in 0..many(8) {
        let mut random = Random::new(seed + 31);
        let parent = plate([4, 3], bent);
        let refined = some_mesh(&parent, &mut random, 4);
        sound(&refined, &["both"]);
        assert_eq!(refined.polyhedra, 0, "all are divided");
        let [old, new] =
            [&parent, &refined.mesh].map(|mesh| cell_volumes(mesh).iter().sum::<f64>());
        assert!(
            (new / old - 1.0).abs() < 1e-13,
            "the volume stays: {old} {new}"
        );
        let thick = |p: &[f64; 3]| p[2].abs() < 1e-14 || (p[2] - 1.0).abs() < 1e-14;
        assert!(
            refined.mesh.points.iter().all(thick),
            "no point between both sides"
        );
        let refined = some_mesh(&wedge([3, 4], 2.0, 1.0), &mut random, 3);
        sound(&refined, &["front", "back"]);
        assert_eq!(refined.polyhedra, 0, "those at the axis too");
    }
}

#[test]
fn a_plate_may_be_joined_with_itself() {
    let n = [3, 2];
    for seed in 0..6 {
        let mut parent = plate(n, |p| p);
        join(&mut parent, ["left", "right"], [3.0, 0.0, 0.0]);
        let refined = some_mesh(&parent, &mut Random::new(seed), 4);
        sound(&refined, &["both"]);
        let [a, b] = ["left", "right"].map(|name| {
            let mut patches = refined.mesh.patches.iter();
            patches.find(|patch| patch.name == name).expect("a patch")
        });
        assert_eq!(a.faces, b.faces, "seed {seed}");
        let error = worst((0..a.faces).map(|i| {
            let [f, g] = [a, b].map(|patch| refined.mesh.face(patch.start + i));
            assert_eq!(f.len(), g.len(), "points of joined faces");
            let n = f.len();
            worst((0..n).map(|k| {
                let [p, q] = [f[k], g[(n - k) % n]].map(|p| refined.mesh.points[p as usize]);
                (p[0] + 3.0 - q[0]).abs() + (p[1] - q[1]).abs() + (p[2] - q[2]).abs()
            }))
        }));
        assert!(error < 1e-12, "seed {seed}: {error}");
    }
}

#[test]
fn fluxes_keep_their_sums() {
    for (kind, parent) in [plate([4, 3], |p| p), wedge([3, 3], 1.0, 1.0)]
        .iter()
        .enumerate()
    {
        let mut random = Random::new(kind as u64 + 5);
        let coarse = RefinedMesh::new(parent).expect("a parent");
        let to = some_mesh(parent, &mut random, 3);
        let flux: Vec<f64> = (0..parent.faces()).map(|_| random.unit() - 0.5).collect();
        let there = map_fluxes(&coarse, &to, vec![flux.clone()]).expect("mapped");
        let (old, new) = (sums(parent, &flux), sums(&to.mesh, &there[0]));
        let (v0, v1) = (cell_volumes(parent), cell_volumes(&to.mesh));
        let error = worst(to.paths.iter().enumerate().map(|(cell, path)| {
            let of = path.parent() as usize;
            (new[cell] - old[of] * v1[cell] / v0[of]).abs()
        }));
        assert!(error < 1e-13, "shares of the divergence: {error}");
        let back = map_fluxes(&to, &coarse, there).expect("mapped");
        let error = worst(back[0].iter().zip(&flux).map(|(a, b)| (a - b).abs()));
        assert!(error < 1e-14, "there and back: {error}");
    }
    let through = |m: &PolyMesh| -> Vec<f64> {
        let faces = m.face_geometry();
        faces
            .iter()
            .map(|f| 0.3 * f.area[0] - 1.1 * f.area[1])
            .collect()
    };
    let parent = plate([4, 3], |[x, y]| [x + 0.3 * y, 0.5 * y]);
    let coarse = RefinedMesh::new(&parent).expect("a parent");
    let to = some_mesh(&parent, &mut Random::new(2), 3);
    let mapped = map_fluxes(&coarse, &to, vec![through(&parent)]).expect("mapped");
    let exact = through(&to.mesh);
    let error = worst(mapped[0].iter().zip(&exact).map(|(a, b)| (a - b).abs()));
    assert!(error < 1e-14, "uniform flow stays uniform: {error}");
}

#[test]
fn a_mesh_that_was_read_is_refined_in_its_plane_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let parent = plate([4, 4], |p| p);
    let near = |x: f64| move |place: CellPlace| if place.center[0] < x { 2 } else { 0 };
    let refined = RefinedMesh::build(&parent, near(1.0)).expect("a mesh");
    parent
        .write(folder.path(), PolyMeshFormat::Ascii)
        .expect("written");
    let again = PolyMesh::read(folder.path()).expect("read");
    assert_eq!(
        RefinedMesh::build(&again, near(1.0)).expect("a mesh").mesh,
        refined.mesh
    );
}

#[test]
fn cells_that_are_not_between_both_sides_stay() {
    // Two layers between the patches; prisms of triangles.
    let mut two = block([2, 2, 2], |p| p);
    of_kind(&mut two, "floor", "empty");
    let refined = RefinedMesh::build(&two, |_| 1).expect("a mesh");
    assert_eq!((refined.mesh.cells, refined.polyhedra), (8, 8));
    let mut prisms = rim_of_prisms(1);
    let mut rest = prisms.clone();
    let is_level = |mesh: &PolyMesh, face: usize| {
        let mut z = mesh.face(face).iter().map(|&p| mesh.points[p as usize][2]);
        let first = z.next().expect("points");
        z.all(|z| z == first)
    };
    // The faces above become a patch of their own.
    let patch = prisms
        .patches
        .iter()
        .find(|p| p.name == "rest")
        .expect("a patch")
        .clone();
    let all = patch.start..patch.start + patch.faces;
    let (top, side): (Vec<usize>, Vec<usize>) = all.partition(|&face| is_level(&prisms, face));
    rest.face_points
        .truncate(rest.face_start[patch.start] as usize);
    rest.face_start.truncate(patch.start + 1);
    rest.owner.truncate(patch.start);
    for &face in top.iter().chain(&side) {
        rest.face_points.extend(prisms.face(face));
        rest.face_start.push(rest.face_points.len() as u32);
        rest.owner.push(prisms.owner[face]);
    }
    let at = rest
        .patches
        .iter()
        .position(|p| p.name == "rest")
        .expect("a patch");
    rest.patches[at].faces = top.len();
    let mut walls = patch.clone();
    (walls.name, walls.start, walls.faces) = ("walls".into(), patch.start + top.len(), side.len());
    rest.patches.insert(at + 1, walls);
    prisms = rest;
    of_kind(&mut prisms, "floor", "empty");
    of_kind(&mut prisms, "rest", "empty");
    let refined = RefinedMesh::build(&prisms, |_| 1).expect("a mesh");
    assert_eq!(refined.mesh.validate(), Ok(()));
    assert_eq!(refined.polyhedra, 16, "triangles between both sides");
    assert!(
        refined.mesh.cells > prisms.cells,
        "quadrilaterals are divided"
    );
}
