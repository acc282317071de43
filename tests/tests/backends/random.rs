//! Random closed chains that hurt, by `cutlink_tests::chains`: ties on cell centres, coordinates up to the
//! limit of the lattice, thin walls, all fill rules, several patches.

use cutlink_mesher::{
    exact::{Exact, Facet},
    snap::Snapped,
};
use cutlink_tests::{
    backend_test,
    backends::{AnyKernels, conform, random_cases},
    chains::{Bodies, Case, Chains, Sizes, cases},
    compare::{Seen, against_oracle, solid_finest},
    oracle::{Determinants, Oracle, Space},
    rules::{Rules, rules},
};
use cutlink_voxelizer::{EmbedParams, embed, kernels::MeshKernels};
use proptest::prelude::*;
use std::cell::Cell;

backend_test!(
    space_one_level,
    space_one_level_to_the_limit_of_the_lattice,
    space_two_to_four_levels,
    space_rules,
    plane_one_level,
    plane_one_to_four_levels_to_the_limit_of_the_lattice,
    plane_rules,
    space_copies,
    plane_copies,
);

/// What all cases of a test came to.
#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    seen: Seen,
    /// Cases in which the surface lies in leaves of several levels.
    graded: u64,
}

fn check<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    case: &Case<D>,
    params: &EmbedParams,
    sum: &Cell<Sum>,
) -> Result<(), TestCaseError>
where
    Facet<D>: Exact<D>,
    Space: Determinants<D>,
{
    let fail = |text: String| TestCaseError::fail(text);
    let mesh = conform(kernels, &case.surface, case.frame, params).map_err(fail)?;
    let oracle = Oracle::new(&case.surface, case.ray);
    let levels = params.levels;
    let seen =
        against_oracle(&mesh, levels, &oracle).map_err(|m| fail(format!("oracle: {m:?}")))?;
    if levels <= 2 && !mesh.graded {
        solid_finest(&mesh, levels, &oracle).map_err(|m| fail(format!("count: {m:?}")))?;
    }
    let so_far = sum.get();
    sum.set(Sum {
        seen: so_far.seen + seen,
        graded: so_far.graded + u64::from(mesh.graded),
    });
    Ok(())
}

/// Runs so many random cases, the same every time; what they contained.
fn run<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    count: u32,
    sizes: Sizes,
    by_rules: bool,
) -> Sum
where
    Facet<D>: Exact<D>,
    Space: Determinants<D>,
    Bodies: Chains<D>,
{
    let sum = Cell::new(Sum::default());
    let each = |(case, rules): (Case<D>, Rules)| {
        let params = if by_rules {
            rules.params(&case)
        } else {
            case.params.clone()
        };
        check(kernels, &case, &params, &sum)
    };
    random_cases(count, &(cases(sizes), rules()), each);
    sum.get()
}

/// The cases must contain what they are for.
fn assert_hurts(sum: Sum, cases: u64) {
    let Seen {
        solid,
        links,
        on_surface,
        several,
        ..
    } = sum.seen;
    let enough =
        solid > 2 * cases && links > 10 * cases && on_surface > cases && several > 2 * cases;
    assert!(enough, "{cases} cases with too little in them: {sum:?}");
}

const NEAR: Sizes = Sizes {
    levels: (1, 1),
    bodies: 3,
    far: false,
};
const FAR: Sizes = Sizes { far: true, ..NEAR };

fn space_one_level<K: AnyKernels>(kernels: &K) {
    assert_hurts(run::<3, K>(kernels, 1500, NEAR, false), 1500);
}

fn space_one_level_to_the_limit_of_the_lattice<K: AnyKernels>(kernels: &K) {
    assert_hurts(run::<3, K>(kernels, 1500, FAR, false), 1500);
}

fn space_two_to_four_levels<K: AnyKernels>(kernels: &K) {
    let deep = Sizes {
        levels: (2, 4),
        bodies: 4,
        far: true,
    };
    assert_hurts(run::<3, K>(kernels, 40, deep, false), 40);
}

fn space_rules<K: AnyKernels>(kernels: &K) {
    let sizes = Sizes {
        levels: (2, 3),
        ..NEAR
    };
    let sum = run::<3, K>(kernels, 200, sizes, true);
    assert!(sum.graded > 40, "{sum:?}");
}

fn plane_one_level<K: AnyKernels>(kernels: &K) {
    assert_hurts(run::<2, K>(kernels, 4000, NEAR, false), 4000);
}

fn plane_one_to_four_levels_to_the_limit_of_the_lattice<K: AnyKernels>(kernels: &K) {
    let deep = Sizes {
        levels: (1, 4),
        bodies: 4,
        far: true,
    };
    assert_hurts(run::<2, K>(kernels, 1000, deep, false), 1000);
}

fn plane_rules<K: AnyKernels>(kernels: &K) {
    let sizes = Sizes {
        levels: (2, 5),
        bodies: 4,
        far: false,
    };
    let sum = run::<2, K>(kernels, 500, sizes, true);
    assert!(sum.graded > 100, "{sum:?}");
}

/// Every facet so many times, and a pair that face each other more on those in `pairs`, of another patch.
fn with_copies<const D: usize>(surface: &Snapped<D>, times: usize, pairs: u64) -> Snapped<D> {
    let mut copies = surface.clone();
    let count = surface.facets.len();
    copies.facet_patch.resize(count, 0);
    copies.facets = copies.facets.repeat(times);
    copies.facet_patch = copies.facet_patch.repeat(times);
    for (f, facet) in surface.facets.iter().enumerate() {
        if pairs >> (f % 64) & 1 == 1 {
            let mut reversed = *facet;
            reversed.swap(0, D - 1);
            copies.facets.extend([*facet, reversed]);
            let patch = (f % surface.patches.len()) as u16;
            copies.facet_patch.extend([patch; 2]);
        }
    }
    copies
}

/// Runs random cases with copies; in how many a copy that faces inward makes a difference.
fn run_copies<const D: usize, K: MeshKernels<D>>(kernels: &K, count: u32, sizes: Sizes) -> u32
where
    Facet<D>: Exact<D>,
    Space: Determinants<D>,
    Bodies: Chains<D>,
{
    let (sum, wrong) = (Cell::new(Sum::default()), Cell::new(0));
    let each = |(mut case, times, pairs): (Case<D>, usize, u64)| {
        case.surface = with_copies(&case.surface, times, pairs);
        check(kernels, &case, &case.params, &sum)?;
        // The control: without the last copy, the mesh is not that of the oracle, if the facet is near centres.
        let oracle = Oracle::new(&case.surface, case.ray);
        case.surface.facets.pop();
        case.surface.facet_patch.pop();
        if let Ok(mesh) = embed(kernels, &case.surface, case.frame, &case.params, &mut ()) {
            let mesh = mesh.download(kernels).expect("a copy on the host");
            let differs = against_oracle(&mesh, case.params.levels, &oracle).is_err();
            wrong.set(wrong.get() + u32::from(differs));
        }
        Ok(())
    };
    random_cases(count, &(cases(sizes), 1..4usize, any::<u64>()), each);
    wrong.get()
}

fn space_copies<K: AnyKernels>(kernels: &K) {
    let wrong = run_copies::<3, K>(kernels, 500, NEAR);
    assert!(wrong > 50, "{wrong} controls");
}

fn plane_copies<K: AnyKernels>(kernels: &K) {
    let wrong = run_copies::<2, K>(kernels, 1000, NEAR);
    assert!(wrong > 100, "{wrong} controls");
}
