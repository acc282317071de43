//! Meshes in windows: what they own is the whole mesh, bit for bit.

use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
    snap::Snapped,
};
use cutlink_tests::{
    arrays::same_mesh,
    backend_test,
    backends::{AnyKernels, random_cases},
    bodies::{frame_around, levels, unit_frame},
    chains::{Bodies, Case, Chains, Sizes, cases},
    rules::{Rules, rules},
    scans,
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, OwnBlocks, Reach, Region, RegionShape, WallRule, Window, embed,
    embed_window, join, kernels::MeshKernels, prepare, validate,
};
use proptest::prelude::*;

backend_test!(
    planes_at_random,
    spaces_at_random,
    a_circle,
    a_sphere_with_rules_in_a_periodic_box,
    more_windows_than_blocks,
    the_bunny if has_scans,
    the_dragon if has_scans,
    the_motorbike if has_scans,
);

/// Makes a mesh whole and in windows; the most blocks that a window has, as a share of the whole.
fn check<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Snapped<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    windows: usize,
) -> Result<f64, String> {
    let whole = embed(kernels, surface, frame, params, &mut ()).map_err(|e| e.to_string())?;
    let whole = whole.download(kernels).map_err(|e| e.to_string())?;
    let windows = Window::cut(kernels, surface, frame, params, windows);
    let mut parts = Vec::new();
    let mut most = 0;
    for window in windows.map_err(|e| e.to_string())? {
        let mesh = embed_window(kernels, surface, frame, params, &window, &mut ());
        let mesh = mesh.map_err(|e| e.to_string())?;
        let mesh = mesh.download(kernels).map_err(|e| e.to_string())?;
        // Where the window ends, the body's surface may pass from a level to another one.
        let forest = mesh.forest.validate();
        forest.map_err(|violation| format!("a window: {violation}"))?;
        parts.push(OwnBlocks::of(&mesh, &window).to_bytes());
        most = most.max(mesh.forest.blocks());
    }
    let parts: Option<Vec<_>> = parts
        .iter()
        .map(|part| OwnBlocks::from_bytes(part))
        .collect();
    let parts = parts.ok_or("parts are not what they were as bytes")?;
    let joined = join(surface, frame, params, &parts).map_err(|e| e.to_string())?;
    same_mesh(&joined, &whole).map_err(|d| format!("not the whole mesh: {d}"))?;
    validate(&joined).map_err(|violation| violation.to_string())?;
    if joined.checksum() != whole.checksum() {
        return Err("another checksum".into());
    }
    Ok(most as f64 / whole.forest.blocks() as f64)
}

fn at_random<const D: usize, K: MeshKernels<D>>(kernels: &K, count: u32, sizes: Sizes)
where
    Facet<D>: Exact<D>,
    Bodies: Chains<D>,
{
    let each = |(case, rules, windows, by_rules): (Case<D>, Rules, usize, bool)| {
        let params = match by_rules {
            true => rules.params(&case),
            false => case.params.clone(),
        };
        check(kernels, &case.surface, case.frame, &params, windows)
            .map(|_| ())
            .map_err(TestCaseError::fail)
    };
    random_cases(
        count,
        &(cases(sizes), rules(), 1..9usize, any::<bool>()),
        each,
    );
}

fn planes_at_random<K: AnyKernels>(kernels: &K) {
    let sizes = Sizes {
        levels: (1, 6),
        bodies: 4,
        far: false,
    };
    at_random::<2, K>(kernels, 300, sizes);
}

fn spaces_at_random<K: AnyKernels>(kernels: &K) {
    let sizes = Sizes {
        levels: (2, 4),
        bodies: 3,
        far: true,
    };
    at_random::<3, K>(kernels, 40, sizes);
}

/// Embeds a surface in so many windows each time; the shares of the largest ones.
fn shares<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Surface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    windows: &[usize],
) -> Vec<f64> {
    let (snapped, _) = prepare(kernels, surface, &frame, params).expect("in range");
    let share = |&windows: &usize| match check(kernels, &snapped, frame, params, windows) {
        Ok(share) => share,
        Err(text) => panic!("{windows} windows: {text}"),
    };
    windows.iter().map(share).collect()
}

fn a_circle<K: AnyKernels>(kernels: &K) {
    let circle = Shape2::Circle { radius: 0.3 }.surface(1e-4);
    let mut circle = circle.expect("a circle");
    circle
        .vertices
        .iter_mut()
        .flatten()
        .for_each(|c| *c += 0.51);
    let near = EmbedParams::new(7, 0.01, Fill::NonZero);
    let shares = shares(
        kernels,
        &circle,
        unit_frame(64),
        &near,
        &[1, 2, 3, 7, 16, 61],
    );
    // All of the mesh, and then less and less of it.
    assert_eq!(shares[0], 1.0);
    assert!(shares.is_sorted_by(|a, b| a > b), "{shares:?}");
    assert!(shares[1] < 0.6 && shares[5] < 0.1, "{shares:?}");
}

fn a_sphere_with_rules_in_a_periodic_box<K: AnyKernels>(kernels: &K) {
    let sphere = Shape3::Sphere { radius: 0.2 }.surface(1e-3);
    let mut sphere = sphere.expect("a sphere");
    sphere.vertices.iter_mut().for_each(|v| v[0] += 0.1);
    sphere.vertices.iter_mut().flatten().for_each(|c| *c += 0.4);
    let ball = RegionShape::Ball {
        center: [0.95, 0.5, 0.1],
        radius: 0.12,
    };
    let far = WallRule {
        patches: None,
        levels: 3,
        reach: Reach::Within(0.15),
    };
    let mut params = EmbedParams {
        regions: vec![Region {
            shape: ball,
            levels: 4,
        }],
        periodic: [true, false, true],
        ..levels(4)
    };
    params.walls = params.wall_rules().iter().cloned().chain([far]).collect();
    shares(kernels, &sphere, unit_frame(32), &params, &[2, 5, 12]);
}

/// Some own nothing.
fn more_windows_than_blocks<K: AnyKernels>(kernels: &K) {
    let square = Shape2::Circle { radius: 0.2 }.surface(1e-2);
    let mut circle = square.expect("a circle");
    circle.vertices.iter_mut().flatten().for_each(|c| *c += 0.5);
    shares(kernels, &circle, unit_frame(8), &levels(2), &[30]);
    shares(kernels, &circle, unit_frame(8), &levels(1), &[3]);
}

fn the_bunny<K: AnyKernels>(kernels: &K) {
    let params = EmbedParams::new(4, 0.05, Fill::NonZero);
    let bunny = scans::read("bunny_unit.stl");
    let shares = shares(kernels, &bunny, unit_frame(32), &params, &[2, 8, 27]);
    assert!(shares[0] < 0.85 && shares[1] < 0.5, "{shares:?}");
}

fn the_dragon<K: AnyKernels>(kernels: &K) {
    let dragon = scans::read("dragon_unit.ply");
    shares(kernels, &dragon, unit_frame(32), &levels(4), &[7]);
}

/// Many patches, holes that are closed by caps.
fn the_motorbike<K: AnyKernels>(kernels: &K) {
    let bike = scans::read("motorBike.stl");
    let params = EmbedParams {
        robust: true,
        ..levels(3)
    };
    let frame = frame_around(&bike, 32);
    shares(kernels, &bike, frame, &params, &[2, 5]);
}
