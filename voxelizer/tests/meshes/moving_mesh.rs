//! Bodies that move at random over given blocks, step after step: all arrays of a [`MovingMesh`] against those of embedding each pose
//! on all blocks.

use super::moving::{body, joined, scratch};
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
    rigid::{Pose, Quaternion},
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Mesh, MovingMesh, MovingSurface, Region, RegionShape, unpack_cell,
};

/// The first array that differs between two meshes.
fn difference<const D: usize>(a: &Mesh<D>, b: &Mesh<D>) -> Option<&'static str> {
    let bits = |mesh: &Mesh<D>| -> Vec<u32> { mesh.links.q.iter().map(|q| q.to_bits()).collect() };
    let same = [
        ("solid", a.classes.solid == b.classes.solid),
        ("boundary", a.classes.boundary == b.classes.boundary),
        ("ghost", a.classes.ghost == b.classes.ghost),
        ("interface", a.classes.interface == b.classes.interface),
        ("blocks", a.links.blocks == b.links.blocks),
        ("row_of", a.links.row_of == b.links.row_of),
        ("cell_start", a.links.cell_start == b.links.cell_start),
        ("cells", a.links.cells == b.links.cells),
        ("q", bits(a) == bits(b)),
        ("patch", a.links.patch == b.links.patch),
        (
            "rest",
            a.patches == b.patches && a.fill == b.fill && a.graded == b.graded,
        ),
        ("forest", a.forest.checksum() == b.forest.checksum()),
    ];
    same.into_iter()
        .find(|(_, same)| !same)
        .map(|(name, _)| name)
}

/// What a mesh has of each block: masks, and its links by cell, direction mask, cut and patch.
fn of_blocks<const D: usize>(mesh: &Mesh<D>) -> Vec<(u64, u64, Vec<u64>)> {
    let mut all: Vec<_> = (mesh.classes.solid.iter().zip(&mesh.classes.boundary))
        .map(|(&solid, &boundary)| (solid, boundary, Vec::new()))
        .collect();
    let table = &mesh.links;
    for (row, &block) in table.blocks.iter().enumerate() {
        let facts = &mut all[block as usize].2;
        for cell in table.cell_start[row]..table.cell_start[row + 1] {
            let (directions, first) = unpack_cell(table.cells[cell as usize]);
            facts.push(u64::from(directions));
            for at in first as usize..first as usize + directions.count_ones() as usize {
                let patch = table.patch.get(at).copied().unwrap_or(0);
                facts.push(u64::from(table.q[at].to_bits()) << 16 | u64::from(patch));
            }
        }
    }
    all
}

/// Numbers in 0..1 from a seed (Knuth's MMIX generator, upper bits).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn within(&mut self, size: f64) -> f64 {
        size * (2.0 * self.next() - 1.0)
    }
}

/// How far a body goes: mostly less than a cell, at times some cells, seldom anywhere, and at times it rests.
fn moved<const D: usize>(random: &mut Random, from: &Pose<D>, dx: f64) -> Pose<D> {
    let kind = random.next();
    if kind < 0.1 {
        return *from;
    }
    let turn = |random: &mut Random, size: f64| {
        let axis: [f64; 3] = std::array::from_fn(|_| random.within(size));
        let axis = if D == 2 { [0.0, 0.0, axis[2]] } else { axis };
        Quaternion::from_vector(axis).after(from.rotation)
    };
    let near = |random: &mut Random, cells: f64| {
        let to = from.center.map(|x| x + random.within(cells * dx));
        // Most of the box, and beyond some of its faces.
        to.map(|x| x.clamp(-0.52, 0.45))
    };
    match kind {
        k if k < 0.7 => Pose {
            center: near(random, 0.5),
            rotation: turn(random, 0.02),
        },
        k if k < 0.9 => Pose {
            center: near(random, 6.0),
            rotation: turn(random, 0.3),
        },
        _ => Pose {
            center: std::array::from_fn(|_| random.within(0.45)),
            rotation: turn(random, 2.0),
        },
    }
}

struct Scene<const D: usize> {
    surface: MovingSurface<D>,
    frame: Frame<D>,
    levels: usize,
    starts: Vec<Pose<D>>,
}

impl<const D: usize> Scene<D>
where
    Facet<D>: Exact<D>,
{
    /// Moves the bodies so many times, and compares all arrays each time. How many blocks were embedded of how many, and links compared.
    fn compare(&self, fill: Fill, periodic: bool, steps: usize, seed: u64) -> [usize; 3] {
        let shape = RegionShape::Box {
            lower: [-0.3; 3],
            upper: [0.3; 3],
        };
        let levels = self.levels;
        let params = EmbedParams {
            regions: vec![Region { shape, levels }],
            periodic: std::array::from_fn(|a| periodic && a + 1 == D),
            ..EmbedParams::new(levels, 0.02, fill)
        };
        let frame = self.frame;
        let first = scratch(&self.surface.at(&self.starts), frame, &params);
        let mesh = MovingMesh::new(&self.surface, first.forest, frame, &params, &self.starts);
        let mut mesh = mesh.expect("a mesh");
        let mut random = Random(seed);
        let (mut poses, mut counts) = (self.starts.clone(), [0; 3]);
        for step in 0..steps {
            let before = of_blocks(mesh.mesh());
            for pose in &mut poses {
                *pose = moved(&mut random, pose, frame.dx_at(levels - 1));
            }
            mesh.move_to(&self.surface, &poses).expect("a mesh");
            let forest = mesh.mesh().forest.download(&Host).expect("memory");
            let expected = self.surface.embed_on(&Host, forest, frame, &params, &poses);
            let expected = expected.expect("a mesh");
            let found = difference(mesh.mesh(), &expected);
            assert_eq!(
                found, None,
                "step {step} of seed {seed}, {fill:?}, at {poses:?}"
            );
            let changed = mesh.changed();
            assert!(changed.is_sorted_by(|a, b| a < b), "ascending");
            let after = of_blocks(mesh.mesh());
            let differ = (0..before.len()).filter(|&id| before[id] != after[id]);
            for id in differ {
                let is_named = changed.binary_search(&(id as u32)).is_ok();
                assert!(
                    is_named,
                    "step {step} of seed {seed}: block {id} changed {:?} {:?}",
                    before[id], after[id]
                );
            }
            counts[0] += changed.len();
            counts[1] += before.len();
            counts[2] += expected.links.len();
        }
        counts
    }
}

/// Two bodies, an ellipse and a circle, and a circle at rest that they may overlap.
fn plane() -> Scene<2> {
    let circle = |radius: f64| {
        let circle = Shape2::Circle { radius }.surface(1e-4);
        circle.expect("a circle")
    };
    let mut ellipse = circle(0.1);
    for x in &mut ellipse.vertices {
        *x = [1.3 * x[0], 0.5 * x[1]];
    }
    let both = joined(&ellipse, [0.0, 0.31], &circle(0.07));
    let all = third(&both, [0.2, 0.1], &circle(0.05));
    let bodies = vec![body("e", 0, [0.0; 2]), body("c", 1, [0.0, 0.31])];
    Scene {
        surface: MovingSurface::new(&all, bodies).expect("closed"),
        frame: Frame::new([-0.5; 2], 1.0 / 16.0, [16, 16]).expect("a box"),
        levels: 4,
        starts: vec![Pose::at([0.0; 2]), Pose::at([0.0, 0.31])],
    }
}

/// The same of an ellipsoid, a sphere and a sphere at rest.
fn space() -> Scene<3> {
    let ellipsoid = |radii: [f64; 3]| {
        let made = Shape3::Ellipsoid { radii }.surface(2e-3);
        made.expect("an ellipsoid")
    };
    let (one, other) = (ellipsoid([0.17, 0.08, 0.12]), ellipsoid([0.08; 3]));
    let both = joined(&one, [0.0, 0.0, 0.26], &other);
    let all = third(&both, [0.2, 0.15, -0.1], &ellipsoid([0.06; 3]));
    let bodies = vec![body("e", 0, [0.0; 3]), body("s", 1, [0.0, 0.0, 0.26])];
    Scene {
        surface: MovingSurface::new(&all, bodies).expect("closed"),
        frame: Frame::new([-0.5; 3], 1.0 / 12.0, [12; 3]).expect("a box"),
        levels: 3,
        starts: vec![Pose::at([0.0; 3]), Pose::at([0.0, 0.0, 0.26])],
    }
}

/// A third patch.
fn third<const D: usize>(two: &Surface<D>, at: [f64; D], other: &Surface<D>) -> Surface<D> {
    let mut all = joined(two, at, other);
    let facets = two.facets.len();
    all.facet_patch[..facets].copy_from_slice(&two.facet_patch);
    all.facet_patch[facets..].fill(2);
    all.patches.push("third".into());
    all
}

#[test]
fn every_step_is_that_of_embedding_all_blocks() {
    for (threads, seed) in [(1, 1), (3, 2), (7, 3)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("threads");
        pool.install(|| {
            let (plane, space) = (plane(), space());
            for (fill, periodic) in [
                (Fill::NonZero, false),
                (Fill::NonZero, true),
                (Fill::EvenOdd, false),
            ] {
                let [near, all, links] = plane.compare(fill, periodic, 40, seed);
                assert!(links > 10_000, "{links} links");
                // With a face in reach all blocks are embedded.
                let most = if periodic { all } else { all / 2 };
                assert!(near < most, "{near} of {all} blocks, {fill:?}");
            }
            let [near, all, links] = space.compare(Fill::NonZero, seed == 2, 12, seed);
            assert!(links > 20_000 && near < all, "{links}, {near} of {all}");
        });
    }
    // Links that pass facets need what is around a block.
    plane().compare(Fill::Zero, false, 5, 4);
}

#[test]
fn a_surface_without_anything_at_rest_and_of_one_patch() {
    let sphere = Shape3::Sphere { radius: 0.12 }.surface(2e-3);
    let scene = Scene {
        surface: MovingSurface::new(&sphere.expect("a sphere"), vec![body("s", 0, [0.0; 3])])
            .expect("closed"),
        frame: Frame::new([-0.5; 3], 1.0 / 12.0, [12; 3]).expect("a box"),
        levels: 3,
        starts: vec![Pose::at([0.0; 3])],
    };
    let [_, _, links] = scene.compare(Fill::NonZero, false, 12, 5);
    assert!(links > 5_000, "{links} links");
}

#[test]
fn a_step_is_of_the_blocks_near_the_body() {
    let scene = plane();
    let (frame, dx) = (scene.frame, scene.frame.dx_at(3));
    let params = EmbedParams::new(4, 0.02, Fill::NonZero);
    let first = scratch(&scene.surface.at(&scene.starts), frame, &params);
    let mut poses = scene.starts.clone();
    let mesh = MovingMesh::new(&scene.surface, first.forest, frame, &params, &poses);
    let mut mesh = mesh.expect("a mesh");
    assert_eq!(
        mesh.changed().len(),
        mesh.mesh().forest.blocks(),
        "all at first"
    );
    for _ in 0..3 {
        poses[1].center[0] += 0.3 * dx;
        mesh.move_to(&scene.surface, &poses).expect("a mesh");
    }
    // Of one body alone: the ellipse has facets in its blocks too, and these are embedded again.
    let forest = &mesh.mesh().forest;
    for &id in mesh.changed() {
        let edge = 4.0 * frame.dx_at(usize::from(forest.level[id as usize]));
        let coord = forest.coord[id as usize].map(f64::from);
        let middle: [f64; 2] = std::array::from_fn(|a| frame.origin[a] + edge * (coord[a] + 0.5));
        let away = |center: [f64; 2]| {
            let d: [f64; 2] = std::array::from_fn(|a| middle[a] - center[a]);
            d[0].hypot(d[1])
        };
        // Half a cell around the block, by which lists are grown, and some cells of path.
        let reach = 0.75 * edge + 2.0 * dx;
        let [ellipse, circle] = [away(poses[0].center), away(poses[1].center)];
        assert!(
            ellipse < 0.13 + 1.5 * reach || (circle - 0.07).abs() < 1.5 * reach,
            "{middle:?}: {ellipse} {circle}"
        );
    }
}

#[test]
fn each_array_is_compared() {
    let scene = plane();
    let params = EmbedParams::new(4, 0.02, Fill::NonZero);
    let made = || scratch(&scene.surface.at(&scene.starts), scene.frame, &params);
    let sound = made();
    assert_eq!(difference(&sound, &made()), None);
    let differs = |name: &str, change: &dyn Fn(&mut Mesh<2>)| {
        let mut other = made();
        change(&mut other);
        assert_eq!(difference(&sound, &other), Some(name));
    };
    differs("solid", &|mesh| mesh.classes.solid[7] ^= 1);
    differs("boundary", &|mesh| mesh.classes.boundary[7] ^= 1);
    differs("ghost", &|mesh| mesh.classes.ghost[7] ^= 1);
    differs("interface", &|mesh| mesh.classes.interface[7] ^= 1);
    differs("blocks", &|mesh| mesh.links.blocks.swap(0, 1));
    differs("row_of", &|mesh| mesh.links.row_of[0] ^= 1);
    differs("cell_start", &|mesh| mesh.links.cell_start[1] += 1);
    differs("cells", &|mesh| mesh.links.cells[3] ^= 1);
    differs("q", &|mesh| mesh.links.q[3] = f32::NAN);
    differs("patch", &|mesh| mesh.links.patch[3] ^= 1);
}
