//! Fluxes and zones of refined meshes: divergence, uniform flow, integrals; the parent's zones.

use super::kit::{Random, block, cell_volumes, o_grid, parent, some_mesh, sums};
use cutlink_hex::polymesh::{FoamZone, read_zones, write_zones};
use cutlink_hex::refine::map_fluxes;
use cutlink_hex::{CellPath, PolyMesh, RefinedMesh};

#[test]
fn fluxes_keep_the_divergence_of_each_cell() {
    for seed in 0..15 {
        let mut random = Random::new(seed + 77);
        let parent = parent(seed as usize % 20);
        let (from, to) = (
            some_mesh(&parent, &mut random, 2),
            some_mesh(&parent, &mut random, 2),
        );
        let fluxes: Vec<f64> = (0..from.mesh.faces())
            .map(|_| random.unit() - 0.5)
            .collect();
        let mapped = map_fluxes(&from, &to, vec![fluxes.clone()]).expect("the same parent");
        assert_eq!(mapped[0].len(), to.mesh.faces(), "a flux for each face");
        let (old, new) = (sums(&from.mesh, &fluxes), sums(&to.mesh, &mapped[0]));
        // Cells of one mesh in each cell of the other: sums are equal where one holds the other.
        let within = |coarse: &RefinedMesh, fine: &RefinedMesh, sums: &[f64]| -> Vec<Option<f64>> {
            let of = |path: &CellPath| {
                let first = fine
                    .paths
                    .partition_point(|p| !p.overlaps(*path) && p < path);
                let all = fine.paths[first..].iter().take_while(|p| p.overlaps(*path));
                let parts: Vec<u8> = all.map(|p| p.level()).collect();
                let is_held = parts[0] < path.level();
                (!is_held).then(|| sums[first..first + parts.len()].iter().sum())
            };
            coarse.paths.iter().map(of).collect()
        };
        let mut compared = [0; 2];
        for (cell, sum) in within(&to, &from, &old).into_iter().enumerate() {
            let Some(sum) = sum else { continue };
            assert!(
                (sum - new[cell]).abs() < 1e-13,
                "coarser {cell}: {sum} {}",
                new[cell]
            );
            compared[0] += 1;
        }
        for (cell, sum) in within(&from, &to, &new).into_iter().enumerate() {
            let Some(sum) = sum else { continue };
            assert!(
                (sum - old[cell]).abs() < 1e-13,
                "finer {cell}: {sum} {}",
                old[cell]
            );
            compared[1] += 1;
        }
        assert!(compared[0] > 0 && compared[1] > 0, "{compared:?}");
        // There and back to the coarse mesh.
        let coarse = RefinedMesh::new(&parent).expect("a parent");
        let first: Vec<f64> = (0..parent.faces()).map(|_| random.unit() - 0.5).collect();
        let there = map_fluxes(&coarse, &to, vec![first.clone()]).expect("mapped");
        let back = map_fluxes(&to, &coarse, there).expect("mapped");
        let same = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-14;
        assert!(back[0].iter().zip(&first).all(same), "the parent's fluxes");
        let kept = map_fluxes(&from, &from, vec![fluxes.clone()]).expect("mapped");
        assert_eq!(kept[0], fluxes, "of the same mesh");
    }
}

#[test]
fn children_share_the_divergence_and_uniform_flow_stays_uniform() {
    let shear = |[x, y, z]: [f64; 3]| [x + 0.3 * y, 0.5 * y - 0.1 * z, 2.0 * z + 0.2 * x];
    let parent = block([3, 3, 2], shear);
    let mut random = Random::new(3);
    let to = some_mesh(&parent, &mut random, 3);
    let coarse = RefinedMesh::new(&parent).expect("a parent");
    let u = [0.3, -1.1, 0.7];
    let through = |m: &PolyMesh| -> Vec<f64> {
        let dot = |a: [f64; 3]| a[0] * u[0] + a[1] * u[1] + a[2] * u[2];
        m.face_geometry().iter().map(|f| dot(f.area)).collect()
    };
    let random_flux: Vec<f64> = (0..parent.faces()).map(|_| random.unit() - 0.5).collect();
    let mapped = map_fluxes(&coarse, &to, vec![through(&parent), random_flux.clone()]);
    let mapped = mapped.expect("the same parent");
    let exact = through(&to.mesh);
    assert!(
        to.mesh.cells > 200 && to.paths.iter().any(|p| p.level() == 3),
        "levels"
    );
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-14;
    assert!(mapped[0].iter().zip(&exact).all(near), "uniform flow");
    let (old, new) = (sums(&parent, &random_flux), sums(&to.mesh, &mapped[1]));
    let (v0, v1) = (cell_volumes(&parent), cell_volumes(&to.mesh));
    for (cell, path) in to.paths.iter().enumerate() {
        let parent = path.parent() as usize;
        let share = old[parent] * v1[cell] / v0[parent];
        assert!(
            (new[cell] - share).abs() < 1e-13,
            "{cell}: {} for {share}",
            new[cell]
        );
    }
    // The comparison notices a flux that is not the mapped one.
    let mut wrong = mapped[1].clone();
    wrong[0] += 1e-9;
    assert_ne!(sums(&to.mesh, &wrong), new, "a comparison that can fail");
    let other = RefinedMesh::new(&block([2, 2, 2], |p| p)).expect("a parent");
    map_fluxes(&coarse, &other, vec![random_flux]).expect_err("another parent");
}

#[test]
fn zones_are_those_of_the_parent() {
    let parent = o_grid(5, 2);
    let coarse = RefinedMesh::new(&parent).expect("a parent");
    let to = some_mesh(&parent, &mut Random::new(8), 3);
    let zone = |ids: Vec<u32>, flips: Vec<bool>| FoamZone {
        name: "z".into(),
        ids,
        flips,
        entries: vec![("type".into(), "faceZone".into())],
    };
    let cells = zone(vec![1, 4, 7], Vec::new());
    let of_cells = &to.cell_zones(&parent, std::slice::from_ref(&cells))[0];
    let sum = |m: &RefinedMesh, zone: &FoamZone| -> f64 {
        let volumes = cell_volumes(&m.mesh);
        zone.ids.iter().map(|&id| volumes[id as usize]).sum()
    };
    let ratio = sum(&to, of_cells) / sum(&coarse, &cells);
    assert!(
        (ratio - 1.0).abs() < 1e-12,
        "planar sides: the same volume, {ratio}"
    );
    assert!(of_cells.ids.len() > 3, "refined");
    // Faces of the zone: their area vectors sum up to the parent's, flipped ones too.
    let count = parent.faces() as u32;
    let ids: Vec<u32> = (0..count).filter(|f| f % 3 == 1).collect();
    let flips: Vec<bool> = ids.iter().map(|f| f % 2 == 0).collect();
    let faces = zone(ids, flips);
    let of_faces = &to.face_zones(&parent, std::slice::from_ref(&faces))[0];
    let area = |m: &PolyMesh, zone: &FoamZone| {
        let geometry = m.face_geometry();
        let mut sum = [0.0; 4];
        for (&id, &flip) in zone.ids.iter().zip(&zone.flips) {
            let area = geometry[id as usize].area;
            (0..3).for_each(|a| sum[a] += if flip { -area[a] } else { area[a] });
            sum[3] += area.iter().map(|x| x * x).sum::<f64>().sqrt();
        }
        sum
    };
    let (a, b) = (area(&to.mesh, of_faces), area(&parent, &faces));
    assert!((0..4).all(|i| (a[i] - b[i]).abs() < 1e-12), "{a:?} {b:?}");
    assert!(of_faces.ids.len() > faces.ids.len(), "refined");
    assert_eq!(
        coarse.face_zones(&parent, std::slice::from_ref(&faces))[0],
        faces,
        "the parent's own"
    );
    let folder = tempfile::tempdir().expect("a folder");
    write_zones(folder.path(), "faceZones", std::slice::from_ref(of_faces)).expect("written");
    let path = folder.path().join("faceZones");
    let read = read_zones(&path, to.mesh.faces())
        .expect("read")
        .expect("a file");
    assert_eq!(&read, std::slice::from_ref(of_faces), "read back");
    read_zones(&path, 5).expect_err("faces that do not exist");
    assert_eq!(
        read_zones(&folder.path().join("cellZones"), 5).expect("read"),
        None
    );
    let text = std::fs::read_to_string(&path).expect("text");
    for (what, with) in [
        ("List<bool>", "List<word>"),
        (")\n;", ")\n"),
        ("flipMap List<bool>\n", "flipMap List<bool>\n9"),
    ] {
        std::fs::write(&path, text.replacen(what, with, 1)).expect("written");
        read_zones(&path, to.mesh.faces()).expect_err(with);
    }
}
