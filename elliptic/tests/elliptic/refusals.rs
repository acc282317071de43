//! What is refused, and that nothing is changed silently.

use crate::mesh;
use cutlink_amr::{Forest, Mark};
use cutlink_device::Host;
use cutlink_elliptic::{Blocks, EllipticError, EllipticOperator, SolveWork, Stop, faces};

const STOP: Stop = Stop {
    relative: 1e-8,
    absolute: 0.0,
    most: 30,
};

fn unit() -> (Forest<2>, Vec<f64>) {
    let forest = mesh::forest([2, 2], [false; 2], 2, |c, _| c[0] < 1.0);
    let (_, conductance) =
        mesh::conductances(&forest, |_, b, _, _| f64::from(u8::from(b.is_some())));
    (forest, conductance)
}

#[test]
fn what_is_not_finite_is_an_error_with_its_block() {
    let (forest, conductance) = unit();
    let operator = EllipticOperator::new(&Host, mesh::blocks(&forest), conductance, Vec::new())
        .expect("an operator");
    let n = operator.blocks().cells();
    for bad in [f64::NAN, f64::INFINITY] {
        let mut b = vec![0.0; n];
        b[5 * 16 + 3] = bad;
        let error = operator
            .solve(&b, &mut vec![0.0; n], STOP, &mut SolveWork::default())
            .expect_err("not finite");
        assert!(
            matches!(
                error,
                EllipticError::NotFinite {
                    what: "right side",
                    ..
                }
            ),
            "{error}"
        );
        let mut x = vec![0.0; n];
        x[5 * 16 + 3] = bad;
        let error = operator
            .solve(&vec![0.0; n], &mut x, STOP, &mut SolveWork::default())
            .expect_err("not finite");
        assert!(
            matches!(
                error,
                EllipticError::NotFinite {
                    what: "first guess",
                    ..
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn coefficients_and_lengths() {
    let (forest, conductance) = unit();
    let blocks = mesh::blocks(&forest);
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let mut conductance = conductance.clone();
        let leaf = (0..blocks.len())
            .rev()
            .find(|&b| blocks.is_leaf(b))
            .expect("a leaf");
        conductance[leaf * faces::per_block(2) + 7] = bad;
        let error = EllipticOperator::new(&Host, blocks.clone(), conductance, Vec::new())
            .expect_err("a coefficient");
        assert!(
            matches!(error, EllipticError::Coefficient { block, .. } if block == leaf),
            "{error}"
        );
    }
    let error = EllipticOperator::new(&Host, blocks.clone(), vec![1.0; 3], Vec::new())
        .expect_err("a length");
    assert!(
        matches!(error, EllipticError::Length { found: 3, .. }),
        "{error}"
    );
    let mut operator =
        EllipticOperator::new(&Host, blocks, conductance.clone(), Vec::new()).expect("an operator");
    let doubled: Vec<f64> = conductance.iter().map(|t| 2.0 * t).collect();
    operator
        .update(&doubled, &Vec::new())
        .expect("the same faces are open");
    let last = operator.blocks().len() - 1;
    let mut closed = conductance;
    closed[last * faces::per_block(2) + 7] = 0.0;
    let error = operator
        .update(&closed, &Vec::new())
        .expect_err("another region");
    assert!(
        matches!(error, EllipticError::Opened { block } if block == last),
        "{error}"
    );
}

#[test]
fn too_few_iterations_are_an_error() {
    let (forest, conductance) = unit();
    let operator = EllipticOperator::new(&Host, mesh::blocks(&forest), conductance, Vec::new())
        .expect("an operator");
    let mut random = mesh::random(1);
    let b: Vec<f64> = (0..operator.blocks().cells()).map(|_| random()).collect();
    let stop = Stop { most: 2, ..STOP };
    let error = operator
        .solve(&b, &mut vec![0.0; b.len()], stop, &mut SolveWork::default())
        .expect_err("two iterations");
    assert!(
        matches!(error, EllipticError::NotConverged { iterations: 2, .. }),
        "{error}"
    );
}

#[test]
fn ids_of_a_history_are_refused() {
    let mut forest = mesh::forest([2, 2], [false; 2], 2, |c, _| c[0] < 1.0);
    let mut marks = vec![Mark::Keep as u8; forest.capacity()];
    for id in 4..8 {
        marks[id] = Mark::Coarsen as u8;
    }
    forest.adapt(&Host, &mut marks).expect("memory");
    let error = Blocks::new(&forest).expect_err("a gap");
    assert_eq!(error, EllipticError::NotContiguous);
}

#[test]
fn regions_between_walls_are_solved_each_for_itself() {
    let forest = mesh::forest([3, 1], [false; 2], 2, |c, _| c[0] < 1.0);
    let closed = |a: f64, b: f64| (a < 6.0) != (b < 6.0);
    let (_, conductance) = mesh::conductances(&forest, |a, b, _, _| match b {
        Some(b) if !closed(a.centre[0], b.centre[0]) => 1.0,
        _ => 0.0,
    });
    let operator = EllipticOperator::new(&Host, mesh::blocks(&forest), conductance, Vec::new())
        .expect("an operator");
    assert_eq!(operator.closed_regions(), 2);
    let mut random = mesh::random(8);
    let b: Vec<f64> = (0..operator.blocks().cells()).map(|_| random()).collect();
    let mut x = vec![0.0; b.len()];
    operator
        .solve(&b, &mut x, STOP, &mut SolveWork::default())
        .expect("a solution");
    for left in [true, false] {
        let of = |c: &&mesh::Cell<2>| (c.centre[0] < 6.0) == left;
        let mean: f64 = mesh::cells(&forest)
            .iter()
            .filter(of)
            .map(|c| x[c.number] * c.width * c.width)
            .sum();
        assert!(mean.abs() < 1e-9, "mean {mean:e}");
    }
}
