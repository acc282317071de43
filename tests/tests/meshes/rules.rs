//! Levels by patch and region: exact as ever, balanced, and as fine as was asked.

use cutlink_amr::{CellRef, dims};
use cutlink_device::Host;
use cutlink_mesher::{
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
};
use cutlink_tests::{
    bodies::{levels, mesh_of},
    chains::{Bodies, Case, Chains, Sizes, cases},
    compare::against_oracle,
    oracle::{Determinants, Oracle, Space},
    rules::{Rules, rules},
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Mesh, Reach, Region, RegionShape, WallRule, embed, validate,
};
use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestRunner},
};

/// Every leaf cell outside the body, with its level and centre.
fn fluid_cells<const D: usize>(mesh: &Mesh<D>) -> Vec<(usize, [f64; D], CellRef)> {
    let mut all = Vec::new();
    for id in mesh.forest.ids().filter(|&id| mesh.forest.is_leaf(id)) {
        let level = usize::from(mesh.forest.level[id as usize]);
        for cell in 0..dims::cells(D) as u32 {
            if mesh.classes.solid[id as usize] >> cell & 1 == 0 {
                let at = CellRef { block: id, cell };
                let center = mesh.frame.center(level, mesh.forest.cell_coord(at));
                all.push((level, center, at));
            }
        }
    }
    all
}

/// Whether a point lies in a region, by its definition.
fn holds<const D: usize>(shape: &RegionShape, p: [f64; D]) -> bool {
    let minus = |q: [f64; 3]| -> [f64; D] { std::array::from_fn(|a| p[a] - q[a]) };
    let square = |v: [f64; D]| v.iter().map(|x| x * x).sum::<f64>();
    match *shape {
        RegionShape::Box { lower, upper } => (0..D).all(|a| lower[a] <= p[a] && p[a] <= upper[a]),
        RegionShape::Ball { center, radius } => square(minus(center)) <= radius * radius,
        RegionShape::Cylinder { from, to, radius } => {
            let axis: [f64; D] = std::array::from_fn(|a| to[a] - from[a]);
            let arm = minus(from);
            let along = (0..D).map(|a| arm[a] * axis[a]).sum::<f64>() / square(axis);
            let off: [f64; D] = std::array::from_fn(|a| arm[a] - along * axis[a]);
            (0.0..=1.0).contains(&along) && square(off) <= radius * radius
        }
    }
}

/// What a mesh leaves coarser than was asked.
fn too_coarse<const D: usize>(mesh: &Mesh<D>, params: &EmbedParams) -> Option<String> {
    for (level, center, at) in fluid_cells(mesh) {
        for region in &params.regions {
            if level + 1 < region.levels && holds(&region.shape, center) {
                return Some(format!("level {level} at {center:?} in {region:?}"));
            }
        }
        if params.spots.holds(level, mesh.forest.cell_coord(at)) {
            return Some(format!("level {level} at {center:?}, a spot"));
        }
        for direction in 0..dims::directions(D) {
            let Some(link) = mesh.link(at, direction) else {
                continue;
            };
            for rule in params.wall_rules() {
                let named = rule.patches.as_ref();
                let is_named = named.is_none_or(|of| of.contains(&link.patch));
                if is_named && level + 1 < rule.levels {
                    return Some(format!("level {level} at {center:?}, {rule:?}"));
                }
            }
        }
    }
    None
}

fn check<const D: usize>(case: &Case<D>, params: &EmbedParams) -> Result<(bool, u64), String>
where
    Facet<D>: Exact<D>,
    Space: Determinants<D>,
{
    let mesh = embed(&Host, &case.surface, case.frame, params, &mut ())
        .map_err(|e| format!("embed: {e}"))?;
    validate(&mesh).map_err(|v| format!("validate: {v}"))?;
    let oracle = Oracle::new(&case.surface, case.ray);
    let seen =
        against_oracle(&mesh, params.levels, &oracle).map_err(|m| format!("oracle: {m:?}"))?;
    if let Some(what) = too_coarse(&mesh, params) {
        return Err(what);
    }
    // Links of leaves above the finest level: what rules are there for.
    let coarse = mesh.links.blocks.iter();
    let coarse = coarse
        .filter(|&&b| usize::from(mesh.forest.level[b as usize]) + 1 < params.levels)
        .count();
    Ok((mesh.graded, if seen.links > 0 { coarse as u64 } else { 0 }))
}

/// Runs so many cases; of how many the surface crosses levels, and their coarse link blocks.
fn run<const D: usize>(count: u32, sizes: Sizes) -> (u64, u64)
where
    Facet<D>: Exact<D>,
    Space: Determinants<D>,
    Bodies: Chains<D>,
{
    let total = std::cell::Cell::new((0, 0));
    let mut runner = TestRunner::new(Config {
        cases: count,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        max_shrink_iters: 5_000,
        ..Config::default()
    });
    let each = |(case, rules): (Case<D>, Rules)| {
        let (graded, coarse) = check(&case, &rules.params(&case)).map_err(TestCaseError::fail)?;
        let (g, c) = total.get();
        total.set((g + u64::from(graded), c + coarse));
        Ok(())
    };
    if let Err(error) = runner.run(&(cases(sizes), rules()), each) {
        panic!("{error}");
    }
    total.get()
}

#[test]
fn plane_random_rules_against_the_oracle() {
    let sizes = Sizes {
        levels: (2, 5),
        bodies: 4,
        far: false,
    };
    let (graded, coarse) = run::<2>(1500, sizes);
    assert!(
        graded > 300 && coarse > 1000,
        "{graded} graded, {coarse} coarse"
    );
}

#[test]
fn space_random_rules_against_the_oracle() {
    let sizes = Sizes {
        levels: (2, 3),
        bodies: 3,
        far: false,
    };
    let (graded, coarse) = run::<3>(300, sizes);
    assert!(
        graded > 60 && coarse > 60,
        "{graded} graded, {coarse} coarse"
    );
}

/// A sphere and a wake box behind it, many levels: nothing is too coarse, and of what is outside
/// of sphere, box and their margins, all is coarse.
#[test]
fn a_wake_is_as_fine_as_asked_and_no_finer_far_away() {
    let sphere = Shape3::Sphere { radius: 0.1 }
        .surface(1e-3)
        .expect("a sphere");
    let frame = Frame::new([-0.5, -0.5, -0.5], 1.0 / 16.0, [32, 16, 16]).expect("a box");
    let wake = RegionShape::Box {
        lower: [0.0, -0.12, -0.12],
        upper: [1.0, 0.12, 0.12],
    };
    let params = EmbedParams {
        regions: vec![Region {
            shape: wake,
            levels: 3,
        }],
        ..levels(4)
    };
    let mesh = mesh_of(&sphere, frame, &params);
    assert!(!mesh.graded, "the sphere is in the finest level");
    assert_eq!(too_coarse(&mesh, &params), None);
    let plain = mesh_of(&sphere, frame, &levels(4));
    assert!(
        too_coarse(&plain, &params).is_some(),
        "not without the rule"
    );
    for (level, center, _) in fluid_cells(&mesh) {
        // A margin of two root blocks.
        let far = center[1].abs().max(center[2].abs()) > 0.12 + 0.5 / 2.0 + 0.01;
        assert!(!far || level < 2, "level {level} at {center:?}");
    }
}

/// Levels within a distance of a circle, by the distance itself.
#[test]
fn near_a_circle_cells_are_fine_within_the_distance() {
    let circle = Shape2::Circle { radius: 0.25 }
        .surface(1e-5)
        .expect("a circle");
    let frame = Frame::new([-1.0, -1.0], 1.0 / 32.0, [64, 64]).expect("a box");
    for distance in [0.0, 0.05, 0.2, 0.4] {
        let rule = |levels, reach| WallRule {
            patches: None,
            levels,
            reach,
        };
        let params = EmbedParams {
            walls: vec![
                rule(5, Reach::Near(0.0)),
                rule(4, Reach::Within(distance)),
                rule(3, Reach::Within(2.0 * distance)),
            ],
            ..EmbedParams::new(5, 0.0, Fill::NonZero)
        };
        let mesh = mesh_of(&circle, frame, &params);
        for (level, [x, y], _) in fluid_cells(&mesh) {
            let away = x.hypot(y) - 0.25;
            assert!(away > distance || level >= 3, "level {level}, {away} away");
            assert!(
                away > 2.0 * distance || level >= 2,
                "level {level}, {away} away"
            );
            // Over a diagonal layers reach further: √2, and two blocks for balance.
            let most = 1.5 * 2.0 * distance + 0.6;
            assert!(away < most || level < 2, "level {level}, {away} away");
        }
    }
}
