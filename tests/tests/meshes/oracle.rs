//! The embedding against the brute-force oracle, on random closed chains that hurt.

use cutlink_device::Host;
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_tests::{
    chains::{Bodies, Case, Chains, Sizes, cases},
    compare::{Seen, against_oracle, solid_finest},
    oracle::{Determinants, Oracle, Space},
};
use cutlink_voxelizer::{embed, validate};
use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed, TestCaseResult, TestRunner},
};
use std::cell::Cell;

fn check<const D: usize>(case: &Case<D>) -> Result<Seen, TestCaseError>
where
    Facet<D>: Exact<D>,
    Space: Determinants<D>,
{
    let fail = |text: String| TestCaseError::fail(text);
    let mesh = embed(&Host, &case.surface, case.frame, &case.params, &mut ())
        .map_err(|e| fail(format!("embed: {e}")))?;
    validate(&mesh).map_err(|v| fail(format!("validate: {v}")))?;
    let oracle = Oracle::new(&case.surface, case.ray);
    let levels = case.params.levels;
    let seen =
        against_oracle(&mesh, levels, &oracle).map_err(|m| fail(format!("oracle: {m:?}")))?;
    if levels <= 2 {
        solid_finest(&mesh, levels, &oracle).map_err(|m| fail(format!("count: {m:?}")))?;
    }
    Ok(seen)
}

/// Runs so many random cases; what they contained in all.
fn run<const D: usize>(count: u32, sizes: Sizes) -> Seen
where
    Facet<D>: Exact<D>,
    Space: Determinants<D>,
    Bodies: Chains<D>,
{
    let total = Cell::new(Seen::default());
    // The same cases every time, unless PROPTEST_CASES and PROPTEST_RNG_SEED ask for others.
    let asked = Config::default();
    let mut runner = TestRunner::new(Config {
        cases: match std::env::var_os("PROPTEST_CASES") {
            Some(_) => asked.cases,
            None => count,
        },
        rng_seed: match asked.rng_seed {
            RngSeed::Random => RngSeed::Fixed(26),
            fixed => fixed,
        },
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..asked
    });
    let each = |case: Case<D>| -> TestCaseResult {
        let seen = check(&case)?;
        total.set(total.get() + seen);
        Ok(())
    };
    if let Err(error) = runner.run(&cases(sizes), each) {
        panic!("{error}");
    }
    total.get()
}

/// The cases must contain what they are for.
fn assert_hurts(seen: Seen, cases: u64) {
    let enough = seen.solid > 2 * cases
        && seen.links > 10 * cases
        && seen.on_surface > cases
        && seen.several > 2 * cases;
    assert!(enough, "{cases} cases with too little in them: {seen:?}");
}

const NEAR: Sizes = Sizes {
    levels: (1, 1),
    bodies: 3,
    far: false,
};

#[test]
fn space_one_level() {
    assert_hurts(run::<3>(4000, NEAR), 4000);
}

#[test]
fn space_one_level_to_the_limit_of_the_lattice() {
    let far = Sizes { far: true, ..NEAR };
    assert_hurts(run::<3>(3000, far), 3000);
}

#[test]
fn space_two_and_three_levels() {
    let deep = Sizes {
        levels: (2, 3),
        bodies: 4,
        far: true,
    };
    assert_hurts(run::<3>(200, deep), 200);
}

#[test]
fn plane_one_level() {
    assert_hurts(run::<2>(12_000, NEAR), 12_000);
}

#[test]
fn plane_one_to_four_levels_to_the_limit_of_the_lattice() {
    let deep = Sizes {
        levels: (1, 4),
        bodies: 4,
        far: true,
    };
    assert_hurts(run::<2>(2000, deep), 2000);
}
