//! Parent meshes, made from lists of cells by matching their faces.

#![allow(dead_code, reason = "each test uses its part")]

use cutlink_hex::{PolyMesh, PolyPatch, RefinedMesh};
use std::collections::BTreeMap;

/// A generator of Marsaglia's xorshift family; any seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 11) % n as u64) as usize
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A mesh of cells, each a list of faces that point outward; `patch` names boundary faces by their centres.
pub(crate) fn mesh_of(
    points: Vec<[f64; 3]>,
    cells: &[Vec<Vec<u32>>],
    patch: impl Fn([f64; 3]) -> &'static str,
) -> PolyMesh {
    let mut open: BTreeMap<Vec<u32>, (u32, Vec<u32>)> = BTreeMap::new();
    let mut internal: Vec<(u32, u32, Vec<u32>)> = Vec::new();
    for (cell, faces) in cells.iter().enumerate() {
        for face in faces {
            let mut key = face.clone();
            key.sort_unstable();
            match open.remove(&key) {
                Some((owner, ids)) => internal.push((owner, cell as u32, ids)),
                None => drop(open.insert(key, (cell as u32, face.clone()))),
            }
        }
    }
    internal.sort();
    let mut rims: BTreeMap<&str, Vec<(u32, Vec<u32>)>> = BTreeMap::new();
    for (_, (owner, ids)) in open {
        let sum = ids.iter().fold([0.0; 3], |s, &p| {
            std::array::from_fn(|a| s[a] + points[p as usize][a])
        });
        let center = sum.map(|x: f64| x / ids.len() as f64);
        rims.entry(patch(center)).or_default().push((owner, ids));
    }
    let mut mesh = PolyMesh {
        points,
        cells: cells.len(),
        face_start: vec![0],
        ..PolyMesh::default()
    };
    let put = |mesh: &mut PolyMesh, owner: u32, ids: &[u32]| {
        mesh.face_points.extend(ids);
        mesh.face_start.push(mesh.face_points.len() as u32);
        mesh.owner.push(owner);
    };
    for (owner, neighbour, ids) in internal {
        put(&mut mesh, owner, &ids);
        mesh.neighbour.push(neighbour);
    }
    for (name, mut faces) in rims {
        faces.sort();
        let (name, kind) = (name.to_owned(), "patch".to_owned());
        let (start, count) = (mesh.faces(), faces.len());
        mesh.patches.push(PolyPatch {
            name,
            kind,
            start,
            faces: count,
            entries: Vec::new(),
        });
        faces
            .iter()
            .for_each(|(owner, ids)| put(&mut mesh, *owner, ids));
    }
    mesh
}

/// The outward faces of a hexahedron, bottom then top, both in a loop.
fn hex(p: [u32; 8]) -> Vec<Vec<u32>> {
    [
        [0, 3, 2, 1],
        [4, 5, 6, 7],
        [0, 1, 5, 4],
        [1, 2, 6, 5],
        [2, 3, 7, 6],
        [3, 0, 4, 7],
    ]
    .map(|face| face.map(|i: usize| p[i]).to_vec())
    .into()
}

/// A block of n cells of size 1, mapped.
pub(crate) fn block(n: [usize; 3], map: impl Fn([f64; 3]) -> [f64; 3]) -> PolyMesh {
    let mut mesh = block_with(n, |p| p, |c| if c[2] < 1e-9 { "floor" } else { "rest" });
    mesh.points.iter_mut().for_each(|p| *p = map(*p));
    mesh
}

/// A block of n cells of size 1, whose points may coincide where `at` says so, as at the axis of a wedge. `patch` names
/// boundary faces by their centres.
pub(crate) fn block_with(
    n: [usize; 3],
    at: impl Fn([f64; 3]) -> [f64; 3],
    patch: impl Fn([f64; 3]) -> &'static str,
) -> PolyMesh {
    let mut ids: BTreeMap<[u64; 3], u32> = BTreeMap::new();
    let mut points = Vec::new();
    let mut id = |[x, y, z]: [usize; 3]| {
        let p = at([x as f64, y as f64, z as f64]).map(|c| c + 0.0);
        *ids.entry(p.map(f64::to_bits)).or_insert_with(|| {
            points.push(p);
            points.len() as u32 - 1
        })
    };
    let mut cells = Vec::new();
    for z in 0..=n[2] {
        for y in 0..=n[1] {
            for x in 0..=n[0] {
                id([x, y, z]);
            }
        }
    }
    for z in 0..n[2] {
        for y in 0..n[1] {
            for x in 0..n[0] {
                let corner = [[0, 0], [1, 0], [1, 1], [0, 1]];
                let [low, up] = [z, z + 1].map(|z| corner.map(|c| id([x + c[0], y + c[1], z])));
                let mut faces = hex([low[0], low[1], low[2], low[3], up[0], up[1], up[2], up[3]]);
                for face in &mut faces {
                    face.dedup();
                    if face.len() > 1 && face.first() == face.last() {
                        face.pop();
                    }
                }
                faces.retain(|face| face.len() > 2);
                cells.push(faces);
            }
        }
    }
    mesh_of(points, &cells, patch)
}

/// Gives a patch a type.
pub(crate) fn of_kind(mesh: &mut PolyMesh, name: &str, kind: &str) {
    let mut patches = mesh.patches.iter_mut();
    let patch = patches.find(|patch| patch.name == name);
    patch.expect("a patch of that name").kind = kind.into();
}

/// Joins two patches, the second one by so much beside the first: faces in the same order, and points against one another
/// from the same one on, as OpenFOAM has them.
pub(crate) fn join(mesh: &mut PolyMesh, names: [&str; 2], shift: [f64; 3]) {
    let of = |mesh: &PolyMesh, name: &str| {
        let mut patches = mesh.patches.iter();
        patches.position(|p| p.name == name).expect("a patch")
    };
    let [first, second] = names.map(|name| of(mesh, name));
    let ([a, b], count) = (
        [first, second].map(|i| mesh.patches[i].start),
        mesh.patches[first].faces,
    );
    let near = |p: u32, q: u32| {
        let [p, q] = [p, q].map(|p| mesh.points[p as usize]);
        (0..3).all(|i| (p[i] + shift[i] - q[i]).abs() < 1e-6)
    };
    let mut faces: Vec<(u32, Vec<u32>)> = Vec::new();
    for i in 0..count {
        let ids = mesh.face(a + i);
        let is_it = |&j: &usize| {
            let other = mesh.face(b + j);
            ids.iter().all(|&p| other.iter().any(|&q| near(p, q)))
        };
        let j = b + (0..count).find(is_it).expect("an image of each face");
        let mut other = mesh.face(j).to_vec();
        let from = other.iter().position(|&q| near(ids[0], q));
        other.rotate_left(from.expect("an image of the first point"));
        faces.push((mesh.owner[j], other));
    }
    for (i, (owner, ids)) in faces.into_iter().enumerate() {
        mesh.owner[b + i] = owner;
        let start = mesh.face_start[b + i] as usize;
        mesh.face_points[start..start + ids.len()].copy_from_slice(&ids);
    }
    for (at, other) in [(first, names[1]), (second, names[0])] {
        mesh.patches[at].kind = "cyclic".into();
        let entry = ("neighbourPatch".to_owned(), other.to_owned());
        mesh.patches[at].entries = vec![entry];
    }
}

/// Extrudes quads and triangles of a plane, counter-clockwise, by some layers.
fn extrude(plane: &[[f64; 2]], polygons: &[Vec<u32>], layers: usize) -> PolyMesh {
    let count = plane.len() as u32;
    let points = (0..=layers)
        .flat_map(|z| plane.iter().map(move |p| [p[0], p[1], z as f64 * 0.5]))
        .collect();
    let mut cells = Vec::new();
    for z in 0..layers as u32 {
        for polygon in polygons {
            let low: Vec<u32> = polygon.iter().map(|p| p + z * count).collect();
            let up: Vec<u32> = low.iter().map(|p| p + count).collect();
            let mut faces = vec![low.iter().rev().copied().collect(), up.clone()];
            for i in 0..low.len() {
                let j = (i + 1) % low.len();
                faces.push(vec![low[i], low[j], up[j], up[i]]);
            }
            cells.push(faces);
        }
    }
    mesh_of(
        points,
        &cells,
        |c| if c[2] < 1e-9 { "floor" } else { "rest" },
    )
}

/// Around a centre point of `sectors` edges (3 and 5 are singular), two rings of quads.
pub(crate) fn o_grid(sectors: usize, layers: usize) -> PolyMesh {
    let turns = 2 * sectors;
    let mut plane = vec![[0.0, 0.0]];
    for ring in 1..=2 {
        for i in 0..turns {
            let angle = std::f64::consts::TAU * i as f64 / turns as f64;
            // Corners of the inner quads lie farther out.
            let radius = f64::from(ring) * if i % 2 == 0 { 0.8 } else { 1.0 };
            plane.push([radius * angle.cos(), radius * angle.sin()]);
        }
    }
    let at = |ring: usize, i: usize| (1 + (ring - 1) * turns + i % turns) as u32;
    let mut quads = Vec::new();
    for sector in 0..sectors {
        quads.push(vec![
            0,
            at(1, 2 * sector),
            at(1, 2 * sector + 1),
            at(1, 2 * sector + 2),
        ]);
    }
    for i in 0..turns {
        quads.push(vec![at(1, i), at(2, i), at(2, i + 1), at(1, i + 1)]);
    }
    extrude(&plane, &quads, layers)
}

/// A row of eight quads between triangles, extruded: hexahedra with a rim of prisms.
pub(crate) fn rim_of_prisms(layers: usize) -> PolyMesh {
    let n = 8;
    let mut plane: Vec<[f64; 2]> = Vec::new();
    for y in 0..=n {
        for x in 0..=n {
            plane.push([x as f64, y as f64]);
        }
    }
    let id = |x: usize, y: usize| (x + (n + 1) * y) as u32;
    let mut polygons = Vec::new();
    for y in 0..n {
        for x in 0..n {
            let quad = vec![id(x, y), id(x + 1, y), id(x + 1, y + 1), id(x, y + 1)];
            if x == 0 {
                polygons.push(vec![quad[0], quad[1], quad[2]]);
                polygons.push(vec![quad[0], quad[2], quad[3]]);
            } else {
                polygons.push(quad);
            }
        }
    }
    extrude(&plane, &polygons, layers)
}

/// The outward faces of a tetrahedron whose first three corners are counter-clockwise seen from the fourth.
fn tet(p: [u32; 4]) -> Vec<Vec<u32>> {
    [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
        .map(|face| face.map(|i: usize| p[i]).to_vec())
        .into()
}

/// A mesh of tetrahedra: corners in either order.
pub(crate) fn tets(points: Vec<[f64; 3]>, cells: &[[u32; 4]]) -> PolyMesh {
    let turned = |&[a, b, c, d]: &[u32; 4]| match six_volumes([a, b, c, d], &points) > 0.0 {
        true => tet([a, b, c, d]),
        false => tet([b, a, c, d]),
    };
    let cells: Vec<Vec<Vec<u32>>> = cells.iter().map(turned).collect();
    mesh_of(
        points,
        &cells,
        |c| if c[2] < 1e-9 { "floor" } else { "rest" },
    )
}

/// Six times the volume between four points.
pub(crate) fn six_volumes(cell: [u32; 4], points: &[[f64; 3]]) -> f64 {
    let [a, b, c, d] = cell.map(|p| points[p as usize]);
    let [u, v, w]: [[f64; 3]; 3] = [b, c, d].map(|p| std::array::from_fn(|i| p[i] - a[i]));
    u[0] * (v[1] * w[2] - v[2] * w[1])
        + u[1] * (v[2] * w[0] - v[0] * w[2])
        + u[2] * (v[0] * w[1] - v[1] * w[0])
}

/// A block of n cubes of size 1, six tetrahedra each, mapped.
pub(crate) fn block_of_tets(n: [usize; 3], map: impl Fn([f64; 3]) -> [f64; 3]) -> PolyMesh {
    const SIX: [[usize; 4]; 6] = [
        [0, 1, 3, 7],
        [0, 1, 5, 7],
        [0, 2, 3, 7],
        [0, 2, 6, 7],
        [0, 4, 5, 7],
        [0, 4, 6, 7],
    ];
    let id = |x: usize, y: usize, z: usize| (x + (n[0] + 1) * (y + (n[1] + 1) * z)) as u32;
    let (mut points, mut cells) = (Vec::new(), Vec::new());
    for z in 0..=n[2] {
        for y in 0..=n[1] {
            for x in 0..=n[0] {
                points.push(map([x as f64, y as f64, z as f64]));
                if x < n[0] && y < n[1] && z < n[2] {
                    let corner = |i: usize| id(x + (i & 1), y + (i >> 1 & 1), z + (i >> 2));
                    cells.extend(SIX.map(|four| four.map(corner)));
                }
            }
        }
    }
    tets(points, &cells)
}

/// The mesh of [Y25] Fig. 15: 8 points, 5 tetrahedra, 16 faces.
pub(crate) fn five_tets() -> PolyMesh {
    let points = (0..8)
        .map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from))
        .collect();
    tets(
        points,
        &[
            [0, 3, 5, 6],
            [1, 0, 3, 5],
            [2, 0, 3, 6],
            [4, 0, 5, 6],
            [7, 3, 5, 6],
        ],
    )
}

/// Parents of tetrahedra, by number: cubes, sheared ones, with moved points, five.
pub(crate) fn parent_of_tets(kind: usize, random: &mut Random) -> PolyMesh {
    match kind % 4 {
        0 => block_of_tets([2, 2, 2], |p| p),
        1 => block_of_tets([3, 2, 1], |[x, y, z]| {
            [x + 0.4 * y, 0.3 * y, 2.0 * z - 0.2 * x]
        }),
        2 => {
            let mut jitter = || 0.1 * (random.unit() - 0.5);
            let moved: Vec<f64> = (0..3 * 36).map(|_| jitter()).collect();
            let at = std::cell::Cell::new(0);
            block_of_tets([3, 2, 2], |p| {
                let i = at.replace(at.get() + 3);
                std::array::from_fn(|a| p[a] + moved[i + a])
            })
        }
        _ => five_tets(),
    }
}

/// A cube, and a tetrahedron beside it.
pub(crate) fn cube_and_tet() -> PolyMesh {
    let corner = |i: u32| [i & 1, i >> 1 & 1, i >> 2].map(f64::from);
    let mut points: Vec<[f64; 3]> = (0..8).map(corner).collect();
    points.extend([
        [3.0, 0.0, 0.0],
        [4.0, 0.0, 0.0],
        [3.0, 1.0, 0.0],
        [3.0, 0.0, 1.0],
    ]);
    let cells = [hex([0, 1, 3, 2, 4, 5, 7, 6]), tet([8, 9, 10, 11])];
    mesh_of(points, &cells, |_| "rest")
}

/// Parents of all kinds, by number: planar, graded, twisted, around 3- to 5-valent edges, with a rim of prisms.
pub(crate) fn parent(kind: usize) -> PolyMesh {
    let mut random = Random::new(kind as u64);
    let bend = [random.unit(), random.unit(), random.unit()];
    match kind % 5 {
        0 => block([3, 2, 3], |p| p),
        1 => block([4, 3, 2], |[x, y, z]| [x.powf(1.3), y * (1.0 + 0.2 * x), z]),
        2 => block([3, 3, 3], move |[x, y, z]| {
            let (s, c) = (0.3 * z * bend[0]).sin_cos();
            [
                c * x - s * y,
                s * x + c * y,
                z + 0.1 * bend[1] * (x * y).sin(),
            ]
        }),
        3 => o_grid(3 + random.below(3), 2),
        _ => rim_of_prisms(3),
    }
}

/// One to six of eight cells.
pub(crate) fn random_marks(random: &mut Random, cells: usize) -> Vec<u8> {
    let share = 1 + random.below(6);
    (0..cells)
        .map(|_| u8::from(random.below(8) < share))
        .collect()
}

/// The sum of the fluxes out of each cell.
pub(crate) fn sums(mesh: &PolyMesh, fluxes: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; mesh.cells];
    for (face, flux) in fluxes.iter().enumerate() {
        sums[mesh.owner[face] as usize] += flux;
        if let Some(&neighbour) = mesh.neighbour.get(face) {
            sums[neighbour as usize] -= flux;
        }
    }
    sums
}

/// The volume of each cell.
pub(crate) fn cell_volumes(mesh: &PolyMesh) -> Vec<f64> {
    let cells = mesh.cell_geometry(&mesh.face_geometry());
    cells.iter().map(|c| c.volume).collect()
}

/// A mesh of a parent after some steps with random marks, of some 3,000 cells at most before the last one.
pub(crate) fn some_mesh(parent: &PolyMesh, random: &mut Random, steps: usize) -> RefinedMesh {
    let mut refined = RefinedMesh::new(parent).expect("a parent");
    for _ in 0..steps {
        let marks = match refined.mesh.cells < 3000 {
            true => random_marks(random, refined.mesh.cells),
            false => vec![0; refined.mesh.cells],
        };
        refined.refine(marks).expect("a mesh");
    }
    refined
}

/// Marks, or corruptions, of a test: twice as many with `CUTLINK_SLOW_TESTS`, any number by `CUTLINK_DRAWS`.
pub(crate) fn many(few: u64) -> u64 {
    let is_set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    match is_set("CUTLINK_DRAWS") {
        Some(draws) => draws.parse().expect("CUTLINK_DRAWS should be a number"),
        None if is_set("CUTLINK_SLOW_TESTS").is_some() => 2 * few,
        None => few,
    }
}
