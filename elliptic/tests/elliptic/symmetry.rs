//! The operator and the cycle are symmetric and positive, for any number of threads of the same bits.

use crate::mesh;
use cutlink_amr::Forest;
use cutlink_device::Host;
use cutlink_elliptic::{EllipticOperator, SolveWork, Stop};

fn operator<const D: usize>(forest: &Forest<D>, ratio: f64) -> EllipticOperator<D> {
    let centre = forest.root.map(|n| 2.0 * f64::from(n));
    let density = |c: mesh::Cell<D>| {
        if mesh::to_sphere(c.centre, centre, 1.3) < 0.0 {
            ratio
        } else {
            1.0
        }
    };
    let coefficient = |a, b: Option<mesh::Cell<D>>, _, _| match b {
        Some(b) => 2.0 / (density(a) + density(b)),
        None => 0.0,
    };
    let (_, conductance) = mesh::conductances(forest, coefficient);
    EllipticOperator::new(&Host, mesh::blocks(forest), conductance, Vec::new())
        .expect("an operator")
}

fn check<const D: usize>(forest: &Forest<D>, ratio: f64) {
    let operator = operator(forest, ratio);
    let n = operator.blocks().cells();
    let mut random = mesh::random(11);
    for _ in 0..4 {
        let [a, b]: [Vec<f64>; 2] = std::array::from_fn(|_| (0..n).map(|_| random()).collect());
        for cycle in [false, true] {
            let (mut pa, mut pb) = (vec![0.0; n], vec![0.0; n]);
            if cycle {
                operator
                    .precondition(&a, &mut pa, &mut SolveWork::default())
                    .expect("a cycle");
                operator
                    .precondition(&b, &mut pb, &mut SolveWork::default())
                    .expect("a cycle");
            } else {
                operator.apply(&a, &mut pa).expect("lengths");
                operator.apply(&b, &mut pb).expect("lengths");
            }
            let (left, right) = (
                operator.dot(&pa, &b).expect("memory"),
                operator.dot(&a, &pb).expect("memory"),
            );
            let scale = (operator.dot(&pa, &a).expect("memory")
                * operator.dot(&pb, &b).expect("memory"))
            .sqrt();
            assert!(scale > 0.0, "positive");
            assert!(
                (left - right).abs() < 1e-12 * scale,
                "cycle {cycle}: {left:e} {right:e} of {scale:e}"
            );
        }
    }
}

#[test]
fn operator_and_cycle_are_symmetric() {
    let ring = |c: [f64; 2], h: f64| mesh::to_sphere(c, [1.5, 1.0], 0.33).abs() < 1.5 * h;
    check(&mesh::forest([3, 2], [false, true], 5, ring), 1e3);
    let shell = |c: [f64; 3], h: f64| mesh::to_sphere(c, [0.5, 0.5, 1.0], 0.33).abs() < 1.8 * h;
    check(&mesh::forest([1, 1, 2], [false; 3], 3, shell), 1e3);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let ring = |c: [f64; 2], h: f64| mesh::to_sphere(c, [1.5, 1.0], 0.33).abs() < 1.5 * h;
    let operator = operator(&mesh::forest([3, 2], [false; 2], 5, ring), 1e3);
    let mut random = mesh::random(3);
    let b: Vec<f64> = (0..operator.blocks().cells()).map(|_| random()).collect();
    let stop = Stop {
        relative: 1e-8,
        absolute: 0.0,
        most: 30,
    };
    let solve = || {
        let mut x = vec![0.0; b.len()];
        operator
            .solve(&b, &mut x, stop, &mut SolveWork::default())
            .expect("a solution");
        x.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
    };
    let reference = solve();
    for threads in [1, 2, 3, 7] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        assert!(pool.install(solve) == reference, "{threads} threads");
    }
}
