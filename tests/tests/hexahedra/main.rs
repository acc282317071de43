//! Refinement of hexahedra and of tetrahedra on every backend: bit for bit that of the host, coordinates too. (The host's is tested by
//! `hex/tests`, against exact boxes, hand calculation and every invariant.)

#[path = "../../../hex/tests/kit/mod.rs"]
mod kit;

use cutlink_device::Host;
use cutlink_hex::kernels::RefineKernels;
use cutlink_hex::refine::{CellPlace, CellRanges, map_fluxes, map_fluxes_on};
use cutlink_hex::{HexMesh, PolyMesh, RefineError, RefinedMesh};
use cutlink_tests::backend_test;
use kit::{Random, block, block_of_tets, many, parent, parent_of_tets, random_marks, sums};

backend_test!(
    random_marks_on_20_parents,
    parents_with_hanging_points,
    all_cells_of_a_box_three_times,
    a_large_mesh_with_a_refined_wave,
    nothing_marked_and_a_single_cell,
    fields_and_volumes_of_adapted_meshes,
    fluxes_of_adapted_meshes,
    meshes_built_by_place,
    tetrahedra_with_random_marks,
    tetrahedra_of_a_large_mesh,
    fluxes_of_tetrahedra,
    wrong_levels_give_the_same_error,
    tetrahedra_that_were_moved_give_the_same_error,
    a_difference_is_told,
);

fn bits(points: &[[f64; 3]]) -> impl Iterator<Item = u64> {
    points.as_flattened().iter().map(|x| x.to_bits())
}

/// The first array that differs.
fn same(a: &RefinedMesh, b: &RefinedMesh) -> Result<(), &'static str> {
    let levels = |m: &RefinedMesh| m.mesh.levels.clone().unwrap_or_default();
    let (of_a, of_b) = (levels(a), levels(b));
    let arrays = [
        ("face_start", a.mesh.face_start == b.mesh.face_start),
        ("owner", a.mesh.owner == b.mesh.owner),
        ("neighbour", a.mesh.neighbour == b.mesh.neighbour),
        ("face_points", a.mesh.face_points == b.mesh.face_points),
        ("points", bits(&a.mesh.points).eq(bits(&b.mesh.points))),
        ("levels of cells", of_a.cell == of_b.cell),
        ("levels of points", of_a.point == of_b.point),
        ("paths", a.paths == b.paths),
        ("rims", a.rims == b.rims),
        ("patches", a.mesh.patches == b.mesh.patches),
        ("polyhedra", a.polyhedra == b.polyhedra),
        ("cells", a.mesh.cells == b.mesh.cells),
    ];
    match arrays.iter().find(|array| !array.1) {
        Some((name, _)) => Err(name),
        None => Ok(()),
    }
}

/// A mesh on a backend, and the same on the host.
struct Twins<'a, K: RefineKernels> {
    kernels: &'a K,
    there: HexMesh<K>,
    here: HexMesh<Host>,
}

impl<'a, K: RefineKernels> Twins<'a, K> {
    fn new(kernels: &'a K, parent: &PolyMesh) -> Self {
        let parent = RefinedMesh::new(parent).expect("a parent");
        Self {
            kernels,
            there: HexMesh::upload(kernels, &parent).expect("memory"),
            here: HexMesh::of(parent),
        }
    }

    fn on_host(&self) -> RefinedMesh {
        self.here.download(&Host).expect("memory")
    }

    /// Refines both; the marks after, the map and all arrays are the same.
    fn refine(&mut self, marks: Vec<u8>) -> usize {
        let launches = self.kernels.launches();
        let mut there = self.kernels.upload(marks.clone()).expect("memory");
        let split = self.there.refine(self.kernels, &mut there);
        assert!(
            launches.is_none() || self.kernels.launches() > launches,
            "nothing was launched on the device"
        );
        let mut here = marks;
        let expected = self.here.refine(&Host, &mut here).expect("a mesh");
        let there = self.kernels.download(&there).expect("memory");
        assert_eq!(there, here, "closed marks");
        let split = split.expect("a mesh");
        match (&split, &expected) {
            (Some(split), Some(expected)) => {
                let first = self.kernels.download(&split.first).expect("memory");
                let from = self.kernels.download(&split.from).expect("memory");
                assert_eq!(split.refined, expected.refined, "split cells");
                assert!(first == expected.first, "the map of cells");
                assert!(from == expected.from, "origins of faces");
            }
            (split, expected) => assert!(
                split.is_none() && expected.is_none(),
                "refined on one backend alone"
            ),
        }
        self.compare();
        expected.map_or(0, |split| split.refined)
    }

    fn compare(&self) {
        let there = self.there.download(self.kernels).expect("memory");
        let counts = [self.there.cells(), self.there.faces(), self.there.points()];
        let mesh = &there.mesh;
        assert_eq!(counts, [mesh.cells, mesh.faces(), mesh.points.len()]);
        assert_eq!(same(&there, &self.on_host()), Ok(()), "not the host's");
        assert_eq!(mesh.validate(), Ok(()), "every invariant");
    }
}

fn random_marks_on_20_parents<K: RefineKernels>(kernels: &K) {
    let mut refined = 0;
    for seed in 0..many(60) {
        let mut random = Random::new(seed + 1000);
        let mut twins = Twins::new(kernels, &parent(seed as usize % 20));
        for _ in 0..=seed / 5 % 4 {
            let cells = twins.here.cells();
            if cells < 3000 {
                refined += twins.refine(random_marks(&mut random, cells));
            }
        }
    }
    assert!(refined > 1000, "only {refined} cells were refined");
}

fn parents_with_hanging_points<K: RefineKernels>(kernels: &K) {
    for kind in 0..10 {
        let mut random = Random::new(kind + 50);
        let mut first = RefinedMesh::new(&parent(kind as usize)).expect("a parent");
        first
            .refine(random_marks(&mut random, first.mesh.cells))
            .expect("a mesh");
        let mut twins = Twins::new(kernels, &first.mesh);
        twins.refine(random_marks(&mut random, first.mesh.cells));
        // Without levels, cells with hanging points are polyhedra.
        first.mesh.levels = None;
        let mut twins = Twins::new(kernels, &first.mesh);
        twins.refine(random_marks(&mut random, first.mesh.cells));
    }
}

fn all_cells_of_a_box_three_times<K: RefineKernels>(kernels: &K) {
    let mut twins = Twins::new(kernels, &block([2, 3, 1], |p| p));
    for times in 1..=3 {
        let cells = twins.here.cells();
        assert_eq!(twins.refine(vec![1; cells]), cells, "all cells");
        assert_eq!(twins.there.cells(), 6 << (3 * times), "{times} times");
    }
}

fn a_large_mesh_with_a_refined_wave<K: RefineKernels>(kernels: &K) {
    let n = [48, 40, 36];
    let mut twins = Twins::new(kernels, &block(n, |[x, y, z]| [x, y + 0.01 * x * z, z]));
    for width in [4.0, 1.0] {
        let mesh = twins.on_host().mesh;
        let cells = mesh.cell_geometry(&mesh.face_geometry());
        let is_near =
            |[x, y, z]: [f64; 3]| (y - 15.0 - 6.0 * (0.2 * x + 0.1 * z).sin()).abs() < width;
        let marks = cells.iter().map(|c| u8::from(is_near(c.center))).collect();
        assert!(twins.refine(marks) > 10_000, "many cells");
    }
}

fn nothing_marked_and_a_single_cell<K: RefineKernels>(kernels: &K) {
    let mut twins = Twins::new(kernels, &block([1, 1, 1], |p| p));
    assert_eq!(twins.refine(vec![0]), 0, "no mark");
    assert_eq!(twins.refine(vec![1]), 1, "one cell");
    let mut marks = vec![0; 8];
    marks[5] = 7;
    assert_eq!(twins.refine(marks), 1, "any mark that is not 0");
}

fn fields_and_volumes_of_adapted_meshes<K: RefineKernels>(kernels: &K) {
    for kind in 0..10 {
        let mut random = Random::new(kind + 7);
        let parent = Twins::new(kernels, &parent(kind as usize));
        let mut old = Twins {
            kernels,
            there: parent.there.copy(kernels).expect("memory"),
            here: parent.here.copy(&Host).expect("memory"),
        };
        for _ in 0..2 {
            let marks = random_marks(&mut random, old.here.cells());
            old.refine(marks);
        }
        let wanted: Vec<u8> = (0..old.here.cells())
            .map(|_| random.below(4) as u8)
            .collect();
        let there = kernels.upload(wanted.clone()).expect("memory");
        let new = Twins {
            kernels,
            there: old
                .there
                .adapt(kernels, &parent.there, &there)
                .expect("a mesh"),
            here: old
                .here
                .adapt(&Host, &parent.here, &wanted)
                .expect("a mesh"),
        };
        new.compare();
        let volumes = old.there.volumes(kernels).expect("volumes");
        let expected = old.here.volumes(&Host).expect("volumes");
        let downloaded = kernels.download(&volumes).expect("memory");
        assert!(is_same(&downloaded, &expected), "volumes");
        let values: Vec<f64> = expected.iter().map(|_| random.unit() - 0.5).collect();
        let ranges = CellRanges::new(kernels, &old.there, &new.there).expect("ranges");
        let there = kernels.upload(values.clone()).expect("memory");
        let mapped = ranges.map(kernels, &volumes, &there).expect("a field");
        let mapped = kernels.download(&mapped).expect("memory");
        let ranges = CellRanges::new(&Host, &old.here, &new.here).expect("ranges");
        let of_host = ranges.map(&Host, &expected, &values).expect("a field");
        assert!(is_same(&mapped, &of_host), "a mapped field");
        let planar = kind % 5 != 2;
        let integral = |v: &[f64], f: &[f64]| v.iter().zip(f).map(|(v, f)| v * f).sum::<f64>();
        let all = |v: &[f64]| v.iter().sum::<f64>();
        let after = new.here.volumes(&Host).expect("volumes");
        let change = integral(&after, &of_host) - integral(&expected, &values);
        assert!(
            !planar || change.abs() < 1e-12 * all(&after),
            "the integral of a field changed by {change}"
        );
    }
}

/// Fluxes to a mesh that is finer in some places and coarser in others: the host's bits, and the divergence of each cell
/// that both meshes have.
fn fluxes_of_adapted_meshes<K: RefineKernels>(kernels: &K) {
    let mut kept = 0;
    for seed in 0..40 {
        let mut random = Random::new(seed + 400);
        let parent = RefinedMesh::new(&parent(seed as usize % 20)).expect("a parent");
        let mut random_mesh = || {
            let mut mesh = parent.clone();
            for _ in 0..=seed / 10 % 2 {
                let marks = random_marks(&mut random, mesh.mesh.cells);
                mesh.refine(marks).expect("a mesh");
            }
            mesh
        };
        let (from, to) = (random_mesh(), random_mesh());
        let field = |random: &mut Random| {
            (0..from.mesh.faces())
                .map(|_| random.unit() - 0.5)
                .collect()
        };
        let fluxes: Vec<Vec<f64>> = (0..2).map(|_| field(&mut random)).collect();
        let launches = kernels.launches();
        let there = map_fluxes_on(kernels, &from, &to, fluxes.clone()).expect("fluxes");
        assert!(
            launches.is_none() || kernels.launches() > launches,
            "nothing was launched on the device"
        );
        let here = map_fluxes(&from, &to, fluxes.clone()).expect("fluxes");
        for ((there, here), flux) in there.iter().zip(&here).zip(&fluxes) {
            assert!(is_same(there, here), "{seed}: a flux");
            let (before, after) = (sums(&from.mesh, flux), sums(&to.mesh, there));
            for (cell, path) in to.paths.iter().enumerate() {
                if let Ok(old) = from.paths.binary_search(path) {
                    kept += 1;
                    let change = after[cell] - before[old];
                    assert!(change.abs() < 1e-13, "{seed}: {change} in cell {cell}");
                }
            }
        }
    }
    assert!(kept > 1000, "only {kept} cells are in both meshes");
    let parents = [0, 3].map(|kind| RefinedMesh::new(&parent(kind)).expect("a parent"));
    let flux = vec![vec![1.0; parents[0].mesh.faces()]];
    let error = map_fluxes_on(kernels, &parents[0], &parents[1], flux);
    assert!(matches!(error, Err(RefineError::Invalid(_))), "{error:?}");
}

/// Cells are chosen by their centres and radii, as `cutlink refine` does.
fn meshes_built_by_place<K: RefineKernels>(kernels: &K) {
    for kind in 0..10 {
        let parent = parent(kind);
        let wanted = |place: CellPlace| {
            let [x, y, z] = place.center.map(|x| x - 1.0);
            let away = (x * x + y * y + z * z).sqrt();
            u8::from(away < 1.2) + 2 * u8::from(away < place.radius)
        };
        let launches = kernels.launches();
        let there = RefinedMesh::build_on(kernels, &parent, wanted).expect("a mesh");
        assert!(
            launches.is_none() || kernels.launches() > launches,
            "nothing was launched on the device"
        );
        let here = RefinedMesh::build(&parent, wanted).expect("a mesh");
        assert_eq!(same(&there, &here), Ok(()), "{kind}");
        assert!(here.mesh.cells > parent.cells, "{kind}: nothing is refined");
        let times: Vec<u8> = here
            .paths
            .iter()
            .map(|path| 2 - path.level().min(2))
            .collect();
        let there = here.refined_on(kernels, &times).expect("a mesh");
        let here = here.refined_on(&Host, &times).expect("a mesh");
        assert_eq!(same(&there, &here), Ok(()), "{kind}, some times more");
    }
}

/// One to four levels, and meshes with hanging points as parents.
fn tetrahedra_with_random_marks<K: RefineKernels>(kernels: &K) {
    let (mut refined, mut deepest) = (0, 0);
    for seed in 0..many(40) {
        let mut random = Random::new(seed + 900);
        let parent = parent_of_tets(seed as usize, &mut random);
        let mut twins = Twins::new(kernels, &parent);
        for step in 0..=seed / 4 % 4 {
            let cells = twins.here.cells();
            if step == 1 && seed % 3 == 0 {
                twins = Twins::new(kernels, &twins.on_host().mesh);
            }
            let marks = (0..cells).map(|_| u8::from(cells < 4000 && random.below(6) == 0));
            refined += twins.refine(marks.collect());
        }
        let paths = twins.on_host().paths;
        deepest = deepest.max(paths.iter().map(|path| path.level()).max().unwrap_or(0));
    }
    assert!(refined > 1000, "only {refined} cells were refined");
    assert_eq!(deepest, 4, "four levels");
}

/// Chosen by place, twice; and fields there and back.
fn tetrahedra_of_a_large_mesh<K: RefineKernels>(kernels: &K) {
    let parent = block_of_tets([20, 18, 16], |[x, y, z]| [x, y + 0.01 * x * z, z]);
    let wanted = |place: CellPlace| {
        let [x, y, z] = place.center;
        let away = (y - 8.0 - 3.0 * (0.3 * x + 0.2 * z).sin()).abs();
        u8::from(away < 2.0) + u8::from(away < place.radius)
    };
    let launches = kernels.launches();
    let there = RefinedMesh::build_on(kernels, &parent, wanted).expect("a mesh");
    assert!(
        launches.is_none() || kernels.launches() > launches,
        "nothing was launched on the device"
    );
    let here = RefinedMesh::build(&parent, wanted).expect("a mesh");
    assert_eq!(same(&there, &here), Ok(()), "by place");
    assert!(here.mesh.cells > 4 * parent.cells, "{}", here.mesh.cells);
    let coarse = Twins::new(kernels, &parent);
    let (fine, fine_here) = (
        HexMesh::upload(kernels, &here).expect("memory"),
        HexMesh::of(here),
    );
    let volumes = fine.volumes(kernels).expect("volumes");
    let expected = fine_here.volumes(&Host).expect("volumes");
    let downloaded = kernels.download(&volumes).expect("memory");
    assert!(is_same(&downloaded, &expected), "volumes");
    let values: Vec<f64> = (0..expected.len()).map(|i| (i as f64).sin()).collect();
    let field = kernels.upload(values.clone()).expect("memory");
    let ranges = CellRanges::new(kernels, &fine, &coarse.there).expect("ranges");
    let mapped = ranges.map(kernels, &volumes, &field).expect("a field");
    let mapped = kernels.download(&mapped).expect("memory");
    let ranges = CellRanges::new(&Host, &fine_here, &coarse.here).expect("ranges");
    let of_host = ranges.map(&Host, &expected, &values).expect("a field");
    assert!(is_same(&mapped, &of_host), "a mapped field");
}

fn fluxes_of_tetrahedra<K: RefineKernels>(kernels: &K) {
    for seed in 0..8 {
        let mut random = Random::new(seed + 70);
        let parent = parent_of_tets(seed as usize, &mut random);
        let parent = RefinedMesh::new(&parent).expect("a parent");
        let mut random_mesh = || {
            let mut mesh = parent.clone();
            for _ in 0..2 {
                let marks = random_marks(&mut random, mesh.mesh.cells);
                mesh.refine(marks).expect("a mesh");
            }
            mesh
        };
        let (from, to) = (random_mesh(), random_mesh());
        let faces = 0..from.mesh.faces();
        let fluxes = vec![faces.map(|_| random.unit() - 0.5).collect()];
        let there = map_fluxes_on(kernels, &from, &to, fluxes.clone()).expect("fluxes");
        let here = map_fluxes(&from, &to, fluxes).expect("fluxes");
        assert!(is_same(&there[0], &here[0]), "{seed}: a flux");
        assert!(here[0].iter().any(|&flux| flux != 0.0), "{seed}: no flux");
    }
}

fn tetrahedra_that_were_moved_give_the_same_error<K: RefineKernels>(kernels: &K) {
    let (mut errors, mut meshes) = (0, 0);
    for seed in 0..30 {
        let mut random = Random::new(seed + 11);
        let parent = parent_of_tets(seed as usize, &mut random);
        let mut first = RefinedMesh::new(&parent).expect("a parent");
        let marks = random_marks(&mut random, parent.cells);
        first.refine(marks).expect("a mesh");
        // A point of the parent or of a child.
        let at = random.below(first.mesh.points.len());
        first.mesh.points[at][1] += 0.01;
        let mut there = HexMesh::upload(kernels, &first).expect("memory");
        let mut here = HexMesh::of(first);
        let mut marks = random_marks(&mut random, here.cells());
        let mut on_device = kernels.upload(marks.clone()).expect("memory");
        let result = there.refine(kernels, &mut on_device).map(|_| ());
        let expected = here.refine(&Host, &mut marks).map(|_| ());
        assert_eq!(result, expected, "{seed}");
        match expected {
            Ok(()) => meshes += 1,
            Err(RefineError::Invalid(_)) => errors += 1,
            Err(error) => panic!("{error}"),
        }
        let there = there.download(kernels).expect("memory");
        let here = here.download(&Host).expect("memory");
        assert_eq!(same(&there, &here), Ok(()), "{seed}");
    }
    assert!(errors > 10, "{errors} errors, {meshes} meshes");
}

fn is_same(a: &[f64], b: &[f64]) -> bool {
    a.iter()
        .map(|x| x.to_bits())
        .eq(b.iter().map(|x| x.to_bits()))
}

fn wrong_levels_give_the_same_error<K: RefineKernels>(kernels: &K) {
    let (mut errors, mut meshes) = (0, 0);
    for seed in 0..40 {
        let mut random = Random::new(seed + 3);
        let mut first = RefinedMesh::new(&parent(seed as usize)).expect("a parent");
        first
            .refine(random_marks(&mut random, first.mesh.cells))
            .expect("a mesh");
        let levels = first.mesh.levels.as_mut().expect("levels");
        for _ in 0..3 {
            let (cell, point) = (
                random.below(levels.cell.len()),
                random.below(levels.point.len()),
            );
            levels.cell[cell] ^= 1;
            levels.point[point] ^= 1;
        }
        let marks = random_marks(&mut random, first.mesh.cells);
        let mut twins = Twins::new(kernels, &first.mesh);
        let mut there = kernels.upload(marks.clone()).expect("memory");
        let mut here = marks;
        let result = twins.there.refine(kernels, &mut there).map(|_| ());
        let expected = twins.here.refine(&Host, &mut here).map(|_| ());
        assert_eq!(result, expected, "{seed}");
        match expected {
            Ok(()) => meshes += 1,
            Err(RefineError::Invalid(_)) => errors += 1,
            Err(error) => panic!("{error}"),
        }
        let there = twins.there.download(kernels).expect("memory");
        assert_eq!(same(&there, &twins.on_host()), Ok(()), "{seed}");
    }
    assert!(errors > 3 && meshes > 3, "{errors} errors, {meshes} meshes");
}

fn a_difference_is_told<K: RefineKernels>(kernels: &K) {
    let mut twins = Twins::new(kernels, &parent(3));
    let cells = twins.here.cells();
    twins.refine((0..cells).map(|cell| u8::from(cell % 3 == 0)).collect());
    let there = twins.there.download(kernels).expect("memory");
    let told = |change: &dyn Fn(&mut RefinedMesh)| {
        let mut other = there.clone();
        change(&mut other);
        same(&there, &other)
    };
    assert_eq!(told(&|_| ()), Ok(()));
    assert_eq!(told(&|m| m.mesh.points[5][1] += 1e-16), Err("points"));
    assert_eq!(told(&|m| m.mesh.owner.swap(0, 40)), Err("owner"));
    assert_eq!(told(&|m| m.mesh.face_points[9] += 1), Err("face_points"));
    assert_eq!(told(&|m| m.rims[2] += 1), Err("rims"));
    assert_eq!(told(&|m| m.paths.swap(0, 1)), Err("paths"));
}
