//! The operator and the solve against a dense matrix of the same faces, made without the operator's arrays.

use crate::mesh::{self, Link};
use crate::worst::worst;
use cutlink_amr::Forest;
use cutlink_device::Host;
use cutlink_elliptic::{EllipticOperator, SolveWork, Stop};

/// Gaussian elimination with pivots.
fn eliminate(mut m: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs()))
            .expect("rows");
        m.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let f = m[i][k] / m[k][k];
            if f != 0.0 {
                let (upper, lower) = m.split_at_mut(i);
                for (x, y) in lower[0][k..].iter_mut().zip(&upper[k][k..]) {
                    *x -= f * y;
                }
                b[i] -= f * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| m[k][j] * b[j]).sum();
        b[k] = (b[k] - sum) / m[k][k];
    }
    b
}

fn matrix(links: &[Link], numbers: &[usize], size: usize, diagonal: &[f64]) -> Vec<Vec<f64>> {
    let mut place = vec![usize::MAX; size];
    for (i, &n) in numbers.iter().enumerate() {
        place[n] = i;
    }
    let mut m = vec![vec![0.0; numbers.len()]; numbers.len()];
    for link in links {
        let a = place[link.a];
        m[a][a] += link.t;
        if let Some(b) = link.b {
            let b = place[b];
            m[b][b] += link.t;
            m[a][b] -= link.t;
            m[b][a] -= link.t;
        }
    }
    for (i, &n) in numbers.iter().enumerate() {
        m[i][i] += diagonal.get(n).copied().unwrap_or(0.0);
    }
    m
}

/// `open` multiplies the coefficient of a face of the box; 0 closes it.
fn compare<const D: usize>(forest: &Forest<D>, ratio: f64, held: bool, diagonal_size: f64) {
    let centre = forest.root.map(|n| 1.9 * f64::from(n));
    let density = |at: [f64; D]| {
        if mesh::to_sphere(at, centre, 1.6) < 0.0 {
            ratio
        } else {
            1.0
        }
    };
    let coefficient =
        |a: mesh::Cell<D>, b: Option<mesh::Cell<D>>, axis: usize, upper: usize| match b {
            Some(b) => 2.0 / (density(a.centre) + density(b.centre)),
            None if held && axis == 0 && upper == 1 => 1.0 / density(a.centre),
            None => 0.0,
        };
    let (links, conductance) = mesh::conductances(forest, coefficient);
    let blocks = mesh::blocks(forest);
    let mut random = mesh::random(5);
    let mut diagonal = Vec::new();
    if diagonal_size > 0.0 {
        diagonal = (0..blocks.cells())
            .map(|_| diagonal_size * (random() + 0.51))
            .collect();
    }
    let operator =
        EllipticOperator::new(&Host, blocks, conductance, diagonal.clone()).expect("an operator");
    let is_closed = !held && diagonal_size == 0.0;
    assert_eq!(
        operator.closed_regions(),
        usize::from(is_closed),
        "one region, closed or held"
    );
    let cells = mesh::cells(forest);
    let numbers: Vec<usize> = cells.iter().map(|c| c.number).collect();
    let mut m = matrix(&links, &numbers, operator.blocks().cells(), &diagonal);

    let mut x = vec![0.0; operator.blocks().cells()];
    for &n in &numbers {
        x[n] = random();
    }
    let mut ax = vec![f64::NAN; x.len()];
    operator.apply(&x, &mut ax).expect("lengths");
    let scale = worst(m.iter().flatten().map(|v| v.abs()));
    let row = |i: usize| -> f64 { numbers.iter().zip(&m[i]).map(|(&n, m)| m * x[n]).sum() };
    let difference = worst((0..numbers.len()).map(|i| (row(i) - ax[numbers[i]]).abs()));
    assert!(
        difference < 1e-13 * scale,
        "apply: {difference:e} of {scale:e}"
    );

    let mut b = vec![0.0; x.len()];
    for &n in &numbers {
        b[n] = random();
    }
    if is_closed {
        // The compatible part, and one more equation for the mean of the solution.
        let volume = |i: usize| cells[i].width.powi(D as i32);
        let all: f64 = (0..cells.len()).map(volume).sum();
        let mean = numbers.iter().map(|&n| b[n]).sum::<f64>() / all;
        for (i, &n) in numbers.iter().enumerate() {
            b[n] -= mean * volume(i);
        }
        for row in &mut m {
            for (j, v) in row.iter_mut().enumerate() {
                *v += volume(j);
            }
        }
    }
    let oracle = eliminate(m, numbers.iter().map(|&n| b[n]).collect());
    let mut x = vec![0.0; b.len()];
    let stop = Stop {
        relative: 1e-13,
        absolute: 0.0,
        most: 40,
    };
    let solved = operator
        .solve(&b, &mut x, stop, &mut SolveWork::default())
        .expect("a solution");
    let scale = worst(oracle.iter().map(|v| v.abs()));
    let difference = worst(numbers.iter().zip(&oracle).map(|(&n, o)| (x[n] - o).abs()));
    assert!(
        difference < 1e-9 * scale,
        "{difference:e} of {scale:e} after {solved:?}"
    );
}

#[test]
fn small_matrices_in_2d() {
    let sphere = |c: [f64; 2], h: f64| mesh::to_sphere(c, [0.95, 0.475], 0.4).abs() < h + 0.05;
    for (periodic, levels) in [([false, false], 3), ([true, false], 2), ([true, true], 1)] {
        let forest = mesh::forest([2, 1], periodic, levels, sphere);
        for ratio in [1.0, 1e3] {
            for (held, diagonal) in [(false, 0.0), (true, 0.0), (false, 0.01), (false, 1e4)] {
                compare(
                    &forest,
                    ratio,
                    held && !periodic[0],
                    if held && periodic[0] { 0.01 } else { diagonal },
                );
            }
        }
    }
}

#[test]
fn small_matrices_in_3d() {
    let corner = |c: [f64; 3], _: f64| c.iter().all(|&c| c < 0.6);
    for periodic in [[false; 3], [false, true, false]] {
        let forest = mesh::forest([2, 1, 1], periodic, 2, corner);
        compare(&forest, 1e3, false, 0.0);
        compare(&forest, 1e3, true, 0.0);
        compare(&forest, 1.0, false, 0.01);
        compare(&forest, 1e3, false, 1e4);
    }
}

#[test]
fn an_updated_diagonal_is_that_of_a_new_operator() {
    let corner = |c: [f64; 2], _: f64| c.iter().all(|&c| c < 0.6);
    let forest = mesh::forest([2, 1], [false; 2], 3, corner);
    let (_, conductance) =
        mesh::conductances(&forest, |_, b, _, _| f64::from(u8::from(b.is_some())));
    let blocks = mesh::blocks(&forest);
    let mut random = mesh::random(9);
    let mut values = |size: f64| -> Vec<f64> {
        (0..blocks.cells())
            .map(|_| size * (random() + 0.51))
            .collect()
    };
    // From one that is small to one that is dominant, and back.
    let (small, large, b) = (values(0.1), values(1e4), values(1.0));
    let new = |diagonal: &Vec<f64>| {
        let of = (conductance.clone(), diagonal.clone());
        EllipticOperator::new(&Host, blocks.clone(), of.0, of.1).expect("an operator")
    };
    let stop = Stop {
        relative: 1e-12,
        absolute: 0.0,
        most: 40,
    };
    let solve = |operator: &EllipticOperator<2>| {
        let mut x = vec![0.0; b.len()];
        let solved = operator.solve(&b, &mut x, stop, &mut SolveWork::default());
        (x, solved.expect("a solution"))
    };
    let mut operator = new(&small);
    for diagonal in [&large, &small] {
        operator.update_diagonal(diagonal).expect("a diagonal");
        assert_eq!(solve(&operator), solve(&new(diagonal)));
    }
}
