//! Bodies that move over given blocks, against embedding each pose from scratch.

use cutlink_amr::{CellRef, dims};
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    primitives::{Shape2, Shape3},
    rigid::{Pose, Quaternion},
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Mesh, MovingMesh, MovingPatches, MovingSurface, Region, RegionShape,
    VoxelError, embed, prepare, validate,
};
use std::collections::BTreeMap;

/// Solid cells and links of the finest leaves, by coordinates, links with the bits of their cut and the patch; and the volume of
/// solid cells of all leaves, in finest cells.
#[derive(Debug, PartialEq)]
struct Facts<const D: usize> {
    solid: BTreeMap<[i32; D], u64>,
    links: BTreeMap<([i32; D], u32, usize), (u32, u16)>,
    volume: u64,
}

fn facts<const D: usize>(mesh: &Mesh<D>, levels: usize) -> Facts<D> {
    let (mut solid, mut links) = (BTreeMap::new(), BTreeMap::new());
    for id in mesh.forest.leaves() {
        let at = id as usize;
        if usize::from(mesh.forest.level[at]) + 1 < levels {
            assert_eq!(mesh.classes.boundary[at], 0, "a coarse leaf has links");
            continue;
        }
        let coord = mesh.forest.coord[at];
        // Blocks without a wall may be coarser in one of two meshes.
        let mask = mesh.classes.solid[at];
        if mask != 0 && mask != dims::full_mask(D) {
            solid.insert(coord, mask);
        }
        for cell in 0..dims::cells(D) as u32 {
            for direction in 0..dims::directions(D) {
                if let Some(link) = mesh.link(CellRef { block: id, cell }, direction) {
                    links.insert((coord, cell, direction), (link.q.to_bits(), link.patch));
                }
            }
        }
    }
    Facts {
        solid,
        links,
        volume: mesh.solid_at(levels - 1),
    }
}

fn params<const D: usize>(levels: usize, region: [[f64; 3]; 2]) -> EmbedParams {
    let [lower, upper] = region;
    let shape = RegionShape::Box { lower, upper };
    EmbedParams {
        regions: vec![Region { shape, levels }],
        periodic: std::array::from_fn(|a| a + 1 == D),
        ..EmbedParams::new(levels, 0.02, Fill::NonZero)
    }
}

pub(super) fn scratch<const D: usize>(
    surface: &Surface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
) -> Mesh<D>
where
    cutlink_mesher::exact::Facet<D>: cutlink_mesher::exact::Exact<D>,
{
    let (snapped, _) = prepare(&Host, surface, &frame, params).expect("near");
    embed(&Host, &snapped, frame, params, &mut ()).expect("a mesh")
}

/// The surface at these poses on the blocks of a mesh.
fn on<const D: usize>(
    moving: &MovingSurface<D>,
    mesh: Mesh<D>,
    params: &EmbedParams,
    poses: &[Pose<D>],
) -> Mesh<D>
where
    cutlink_mesher::exact::Facet<D>: cutlink_mesher::exact::Exact<D>,
{
    let made = moving.embed_on(&Host, mesh.forest, mesh.frame, params, poses);
    made.expect("a mesh")
}

/// Moves a body by steps over the blocks of a mesh, and compares each pose with embedding it from scratch. Returns how many links
/// and how many solid masks were compared.
fn compare<const D: usize>(
    moving: &MovingSurface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    poses: &[Vec<Pose<D>>],
) -> [usize; 2]
where
    cutlink_mesher::exact::Facet<D>: cutlink_mesher::exact::Exact<D>,
{
    let levels = params.levels;
    let forest = scratch(&moving.at(&poses[0]), frame, params).forest;
    let checksum = forest.checksum();
    let mesh = MovingMesh::new(moving, forest, frame, params, &poses[0]);
    let mut mesh = mesh.expect("a mesh");
    let mut counts = [0; 2];
    for poses in poses {
        mesh.move_to(moving, poses).expect("a mesh");
        validate(mesh.mesh()).expect("sound");
        assert_eq!(mesh.mesh().forest.checksum(), checksum, "blocks stay");
        let from_scratch = scratch(&moving.at(poses), frame, params);
        let [found, expected] = [mesh.mesh(), &from_scratch].map(|mesh| facts(mesh, levels));
        assert!(found == expected, "{poses:?}: masks, links or cuts differ");
        counts[0] += found.links.len();
        counts[1] += found.solid.len();
        // On the very blocks of the mesh from scratch, all arrays are the same.
        let sums = [from_scratch.checksum(), from_scratch.links.len() as u64];
        let table = from_scratch.links.q.clone();
        let solid = from_scratch.classes.solid.clone();
        let again = moving.embed_on(&Host, from_scratch.forest, frame, params, poses);
        let again = again.expect("a mesh");
        assert_eq!([again.checksum(), again.links.len() as u64], sums);
        assert!(again.links.q == table && again.classes.solid == solid);
    }
    counts
}

pub(super) fn body<const D: usize>(name: &str, patch: usize, center: [f64; D]) -> MovingPatches<D> {
    MovingPatches {
        name: name.into(),
        patches: vec![patch],
        center,
    }
}

/// Two surfaces as one, of a patch each.
pub(super) fn joined<const D: usize>(
    one: &Surface<D>,
    at: [f64; D],
    other: &Surface<D>,
) -> Surface<D> {
    let shift = one.vertices.len() as u32;
    let mut all = one.clone();
    let there = |x: &[f64; D]| std::array::from_fn(|a| x[a] + at[a]);
    all.vertices.extend(other.vertices.iter().map(there));
    let facets = other.facets.iter().map(|f| f.map(|v| v + shift));
    all.facets.extend(facets);
    all.facet_patch = vec![0; one.facets.len()];
    all.facet_patch.resize(all.facets.len(), 1);
    all.patches = vec!["first".into(), "second".into()];
    all
}

fn plane_case() -> (MovingSurface<2>, Frame<2>, EmbedParams, Vec<Vec<Pose<2>>>) {
    let ellipse = Shape2::Circle { radius: 0.1 }
        .surface(1e-4)
        .expect("a circle");
    let stretch = |x: &[f64; 2]| [1.3 * x[0], 0.5 * x[1]];
    let vertices = ellipse.vertices.iter().map(stretch).collect();
    let ellipse = Surface {
        vertices,
        ..ellipse
    };
    let circle = Shape2::Circle { radius: 0.07 }
        .surface(1e-4)
        .expect("a circle");
    let both = joined(&ellipse, [0.0, 0.31], &circle);
    let frame = Frame::new([-0.5; 2], 1.0 / 16.0, [16, 16]).expect("a box");
    let params = params::<2>(4, [[-0.45, -0.45, 0.0], [0.45, 0.45, 0.0]]);
    let bodies = vec![body("e", 0, [0.0; 2]), body("c", 1, [0.0, 0.31])];
    let moving = MovingSurface::new(&both, bodies).expect("closed");
    let dx = frame.dx_at(3);
    let poses = [0, 1, 2, 5, 9, 20, 33].map(|n| {
        let step = f64::from(n);
        let ellipse = Pose {
            center: [0.23 * dx * step, -0.11 * dx * step],
            rotation: Quaternion::about_z(0.07 * step),
        };
        vec![ellipse, Pose::at([0.0, 0.31 - 0.03 * dx * step])]
    });
    (moving, frame, params, poses.to_vec())
}

fn space_case() -> (MovingSurface<3>, Frame<3>, EmbedParams, Vec<Vec<Pose<3>>>) {
    let radii = [0.17, 0.1, 0.13];
    let body3 = Shape3::Ellipsoid { radii }.surface(1e-3);
    let center = [0.02, -0.03, 0.01];
    let mut surface = body3.expect("an ellipsoid");
    for x in &mut surface.vertices {
        *x = std::array::from_fn(|a| x[a] + center[a]);
    }
    let frame = Frame::new([-0.5; 3], 1.0 / 16.0, [16, 16, 16]).expect("a box");
    let params = params::<3>(3, [[-0.4; 3], [0.4; 3]]);
    let moving = MovingSurface::new(&surface, vec![body("e", 0, center)]).expect("closed");
    let dx = frame.dx_at(2);
    let poses = [0, 1, 3, 8].map(|n| {
        let step = f64::from(n);
        let to = [0.21 * dx * step, 0.07 * dx * step, -0.13 * dx * step];
        vec![Pose {
            center: std::array::from_fn(|a| center[a] + to[a]),
            rotation: Quaternion::from_vector([0.02 * step, 0.09 * step, -0.05 * step]),
        }]
    });
    (moving, frame, params, poses.to_vec())
}

#[test]
fn every_pose_is_that_from_scratch() {
    for threads in [1, 3, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("threads");
        let (plane, space, count) = pool.install(|| {
            let (moving, frame, params, poses) = plane_case();
            let plane = compare(&moving, frame, &params, &poses);
            let (moving, frame, params, poses) = space_case();
            let poses = if threads == 1 {
                &poses[..]
            } else {
                &poses[2..]
            };
            let space = compare(&moving, frame, &params, poses);
            (plane, space, poses.len())
        });
        assert!(plane[0] > 2_500 && plane[1] > 200, "{plane:?}");
        assert!(
            space[0] > 5_000 && space[1] > 50 * count,
            "{space:?} of {count} poses"
        );
    }
}

#[test]
fn blocks_of_a_path_hold_each_pose() {
    let (moving, frame, params, poses) = plane_case();
    let params = EmbedParams {
        regions: Vec::new(),
        ..params
    };
    // Every fourth cell of the path or so, and all of it is in the finest level: outside of the first pose, and where its inside was.
    let ends = [poses[6][0], Pose::at([0.3, 0.25])];
    let of_body = |end: &Pose<2>| -> Vec<Pose<2>> {
        (0..16).map(|n| moved(end, f64::from(n) / 15.0)).collect()
    };
    let path = ends.each_ref().map(of_body);
    let all = scratch(&moving.swept(&path), frame, &params);
    let first = scratch(&moving.at(&poses[0]), frame, &params);
    let mut mesh = all;
    for share in [0.0, 0.03, 0.33, 0.7, 0.97, 1.0] {
        let at = ends.each_ref().map(|end| moved(end, share));
        mesh = on(&moving, mesh, &params, &at);
        validate(&mesh).expect("sound");
        assert_eq!(mesh.coarse_link_of(&[true, true]), None, "share {share}");
    }
    let mesh = on(&moving, first, &params, &ends);
    assert!(
        mesh.coarse_link_of(&[false, true]).is_some(),
        "the first blocks do not hold it"
    );
    let none = moving.swept(&[Vec::new(), vec![poses[0][1]]]);
    assert_eq!(
        none.bounds().expect("facets")[0][0],
        -0.07,
        "one body alone"
    );
}

/// A share of the way from the first place of a body to a pose.
fn moved(to: &Pose<2>, share: f64) -> Pose<2> {
    let from = if to.rotation == Quaternion::IDENTITY {
        [0.0, 0.31]
    } else {
        [0.0; 2]
    };
    Pose {
        center: std::array::from_fn(|a| from[a] + share * (to.center[a] - from[a])),
        rotation: Quaternion::about_z(share * to.angle()),
    }
}

#[test]
fn another_pose_is_seen() {
    // A lattice unit of path, a 256th of a cell, and a 256th of a cell at the rim of a turn.
    let (moving, frame, params, poses) = plane_case();
    let mesh = scratch(&moving.at(&poses[0]), frame, &params);
    let mesh = on(&moving, mesh, &params, &poses[0]);
    let before = facts(&mesh, 4);
    let mut off = poses[0].clone();
    off[1].center[0] += frame.dx_at(3) / 256.0;
    let mesh = on(&moving, mesh, &params, &off);
    let after = facts(&mesh, 4);
    assert!(before.links != after.links, "cuts differ");
    assert!(before != after);
}

#[test]
fn a_body_that_leaves_its_blocks_is_seen() {
    let (moving, frame, params, poses) = plane_case();
    let params = EmbedParams {
        regions: Vec::new(),
        ..params
    };
    let mesh = scratch(&moving.at(&poses[0]), frame, &params);
    assert_eq!(mesh.coarse_link_of(&[true, true]), None);
    let far = vec![poses[0][0], Pose::at([0.36, -0.36])];
    let mesh = on(&moving, mesh, &params, &far);
    let at = mesh.coarse_link_of(&[false, true]).expect("a coarse leaf");
    assert!(at[0] > 0.2 && at[1] < -0.25, "{at:?}");
    assert_eq!(mesh.coarse_link_of(&[true, false]), None, "the other stays");
}

#[test]
fn what_cannot_move_is_refused() {
    let (moving, frame, params, poses) = plane_case();
    let surface = moving.at(&poses[0]);
    let refused = |surface: &Surface<2>, bodies: Vec<MovingPatches<2>>| match MovingSurface::new(
        surface, bodies,
    ) {
        Err(VoxelError::Body { body, reason }) => format!("{body}: {reason}"),
        other => panic!("{other:?}"),
    };
    let of = |name: &str, patches: &[usize]| MovingPatches {
        name: name.into(),
        patches: patches.to_vec(),
        center: [0.0; 2],
    };
    assert!(refused(&surface, vec![of("a", &[])]).contains("no patch"));
    assert!(refused(&surface, vec![of("a", &[2])]).contains("there is no patch 2"));
    assert!(refused(&surface, vec![of("a", &[0]), of("b", &[1, 0])]).contains("named twice"));
    let mut open = surface.clone();
    open.facets.remove(3);
    open.facet_patch.remove(3);
    assert!(refused(&open, vec![of("a", &[0])]).contains("open at 2 edges"));
    // Half of a body.
    let mut halves = surface.clone();
    halves.patches.push("half".into());
    halves.facet_patch[..10].fill(2);
    assert!(refused(&halves, vec![of("a", &[0])]).contains("name all patches"));
    MovingSurface::new(&halves, vec![of("a", &[0, 2])]).expect("both halves are closed");
    // Blocks of another box.
    let other = Frame::new([-0.5; 2], 1.0 / 8.0, [8, 8]).expect("a box");
    let mesh = Mesh {
        frame: other,
        ..scratch(&surface, frame, &params)
    };
    let found = MovingMesh::new(&moving, mesh.forest, mesh.frame, &params, &poses[0]);
    assert!(matches!(found, Err(VoxelError::Blocks { .. })), "{found:?}");
}
