//! Parts of meshes: each is a mesh of its own, and both sides of faces between parts fit one another.

use super::joined::periodic;
use super::kit::{Random, cell_volumes, parent, some_mesh};
use super::worst;
use cutlink_hex::polymesh::FoamZone;
use cutlink_hex::{MeshPart, PolyMesh};
use std::collections::BTreeMap;

/// Points of a face of a part, as points of the mesh.
fn points_of(part: &MeshPart, face: usize) -> Vec<u32> {
    let ids = part.mesh.face(face).iter();
    ids.map(|&p| part.points[p as usize]).collect()
}

/// The faces of each patch between parts: those of the mesh, and their loops.
type Between = BTreeMap<String, Vec<(u32, Vec<u32>)>>;

fn between(part: &MeshPart) -> Between {
    let patches = part.mesh.patches.iter().zip(&part.patches);
    let patches = patches.filter(|(_, of)| of.is_none()).map(|(patch, _)| {
        let faces = patch.start..patch.start + patch.faces;
        let list = faces.map(|face| (part.faces[face], points_of(part, face)));
        (patch.name.clone(), list.collect())
    });
    patches.collect()
}

fn sound(mesh: &PolyMesh, parts: &[MeshPart]) {
    let volumes = cell_volumes(mesh);
    let mut seen = vec![0; mesh.cells];
    for (n, part) in parts.iter().enumerate() {
        assert_eq!(part.mesh.validate(), Ok(()), "part {n}");
        let own = cell_volumes(&part.mesh);
        let error = worst(part.cells.iter().zip(&own).map(|(&cell, volume)| {
            seen[cell as usize] += 1;
            (volume / volumes[cell as usize] - 1.0).abs()
        }));
        assert!(error < 1e-13, "the cells of the mesh: {error}");
        for (face, (&of, &is_turned)) in part.faces.iter().zip(&part.turned).enumerate() {
            let mut ids = points_of(part, face);
            if is_turned {
                ids[1..].reverse();
            }
            assert_eq!(ids, mesh.face(of as usize), "face {face} of part {n}");
        }
        let patches = part.mesh.patches.iter().zip(&part.patches);
        for (patch, of) in patches.filter_map(|(patch, of)| Some((patch, (*of)?))) {
            assert_eq!(
                (&patch.name, &patch.kind),
                (&mesh.patches[of].name, &mesh.patches[of].kind)
            );
        }
    }
    assert!(
        seen.iter().all(|&times| times == 1),
        "each cell in one part"
    );
    let all: Vec<Between> = parts.iter().map(between).collect();
    for (n, patches) in all.iter().enumerate() {
        for (name, faces) in patches {
            let (ends, through) = match name["procBoundary".len()..].split_once("through") {
                Some((ends, through)) => (ends, Some(through)),
                None => (&name["procBoundary".len()..], None),
            };
            let (own, other) = ends.split_once("to").expect("two parts");
            assert_eq!(own, n.to_string());
            let beyond: usize = other.parse().expect("a part");
            let Some(through) = through else {
                let opposite = &all[beyond][&format!("procBoundary{other}to{own}")];
                assert_eq!(faces.len(), opposite.len());
                for (a, b) in faces.iter().zip(opposite) {
                    assert_eq!(a.0, b.0, "the same face of the mesh");
                    let mut turned = b.1.clone();
                    turned[1..].reverse();
                    assert_eq!(a.1, turned, "from the same point, the other way round");
                }
                continue;
            };
            // Faces of a joined patch, opposite their mates.
            let patch = |name: &str| {
                mesh.patches
                    .iter()
                    .find(|p| p.name == name)
                    .expect("a patch")
            };
            let own_patch = patch(through);
            let mate = patch(&own_patch.entries[0].1);
            let back = format!("procBoundary{other}to{own}through{}", mate.name);
            let opposite = &all[beyond][&back];
            let place = |face: u32, patch: &cutlink_hex::PolyPatch| face as usize - patch.start;
            let a: Vec<usize> = faces.iter().map(|f| place(f.0, own_patch)).collect();
            let b: Vec<usize> = opposite.iter().map(|f| place(f.0, mate)).collect();
            assert_eq!(a, b, "mates in the same order");
        }
    }
}

#[test]
fn random_parts_of_random_meshes_fit_one_another() {
    let mut through = 0;
    for seed in 0..12 {
        let mut random = Random::new(seed + 60);
        let of = match seed % 3 {
            0 => periodic([3, 2, 3], &[0, 2], 0.05),
            kind => parent(seed as usize / 3 + kind as usize),
        };
        let mesh = some_mesh(&of, &mut random, 2).mesh;
        let count = 1 + random.below(5) as u32;
        let part_of: Vec<u32> = (0..mesh.cells)
            .map(|cell| match seed % 2 {
                0 => (cell * count as usize / mesh.cells) as u32,
                _ => random.below(count as usize) as u32,
            })
            .collect();
        let parts = mesh.decompose(&part_of, count);
        sound(&mesh, &parts);
        let patches = parts.iter().flat_map(|part| &part.mesh.patches);
        through += patches
            .filter(|patch| patch.kind == "processorCyclic")
            .count();
    }
    assert!(through > 10, "joined patches in several parts: {through}");
}

#[test]
fn zones_are_divided_and_turned_faces_flipped() {
    let mesh = parent(0);
    let part_of: Vec<u32> = (0..mesh.cells as u32).map(|cell| cell % 2).collect();
    let parts = mesh.decompose(&part_of, 2);
    let face = (0..mesh.internal_faces() as u32)
        .find(|&face| {
            let ends = [mesh.owner[face as usize], mesh.neighbour[face as usize]];
            ends.map(|cell| part_of[cell as usize]) == [0, 1]
        })
        .expect("a face between parts");
    let zone = |ids: Vec<u32>, flips: Vec<bool>| FoamZone {
        name: "z".into(),
        ids,
        flips,
        ..FoamZone::default()
    };
    let faces = [zone(vec![face], vec![true])];
    let [a, b] = [&parts[0], &parts[1]].map(|part| part.face_zones(&faces).remove(0));
    assert_eq!(parts[0].faces[a.ids[0] as usize], face);
    assert_eq!(parts[1].faces[b.ids[0] as usize], face);
    assert_eq!(
        (a.flips, b.flips),
        (vec![true], vec![false]),
        "from the other side"
    );
    let cells = [zone(vec![1, 2, 5], Vec::new())];
    let of = |part: &MeshPart| -> Vec<u32> {
        let ids = part.cell_zones(&cells).remove(0).ids;
        ids.iter().map(|&cell| part.cells[cell as usize]).collect()
    };
    assert_eq!([of(&parts[0]), of(&parts[1])], [vec![2], vec![1, 5]]);
}
