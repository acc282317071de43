//! Iterations by levels and ratios, and the order of the error at level jumps.

use crate::mesh;
use cutlink_amr::Forest;
use cutlink_device::Host;
use cutlink_elliptic::{EllipticOperator, SolveWork, Stop};
use std::f64::consts::PI;

const STOP: Stop = Stop {
    relative: 1e-6,
    absolute: 0.0,
    most: 60,
};

type IsClosed<const D: usize> = fn([f64; D], [f64; D]) -> bool;

/// Iterations to 1e-6, the most of a random right side and a hydrostatic one, in a closed box.
fn iterations<const D: usize>(
    forest: &Forest<D>,
    drops: &[([f64; D], f64)],
    ratio: f64,
    closed: IsClosed<D>,
) -> usize {
    let density = |c: mesh::Cell<D>| {
        let to_drop =
            |(centre, radius): &([f64; D], f64)| mesh::to_sphere(c.centre, *centre, *radius);
        let distance = drops.iter().map(to_drop).fold(f64::INFINITY, f64::min);
        1.0 + (ratio - 1.0) * (0.5 - distance / c.width).clamp(0.0, 1.0)
    };
    let coefficient = |a: mesh::Cell<D>, b: Option<mesh::Cell<D>>, _: usize, _: usize| match b {
        Some(b) if !closed(a.centre, b.centre) => 2.0 / (density(a) + density(b)),
        _ => 0.0,
    };
    let (_, conductance) = mesh::conductances(forest, coefficient);
    let operator = EllipticOperator::new(&Host, mesh::blocks(forest), conductance, Vec::new())
        .expect("an operator");
    let mut random = mesh::random(99);
    let top = 4.0 * f64::from(forest.root[1]);
    let (mut noise, mut weight) = (
        vec![0.0; operator.blocks().cells()],
        vec![0.0; operator.blocks().cells()],
    );
    let mut ends = vec![0.0; noise.len()];
    for c in mesh::cells(forest) {
        noise[c.number] = random() * c.width.powi(D as i32);
        weight[c.number] = 1.0;
        let area = c.width.powi(D as i32 - 1);
        if c.centre[1] < c.width {
            ends[c.number] = area;
        } else if c.centre[1] > top - c.width {
            ends[c.number] = -area;
        }
    }
    let count = |b: &Vec<f64>| {
        let mut x = vec![0.0; b.len()];
        operator
            .solve(b, &mut x, STOP, &mut SolveWork::default())
            .expect("a solution")
            .iterations
    };
    count(&noise).max(count(&ends))
}

fn around<const D: usize>(drops: &[([f64; D], f64)], root: u32, levels: usize) -> Forest<D> {
    let finest = 1.0 / f64::from(1u32 << (levels - 1));
    let wanted = |c: [f64; D], half: f64| {
        let near = |(centre, radius): &([f64; D], f64)| {
            let to = mesh::to_sphere(c, centre.map(|x| 0.25 * x), 0.25 * radius).abs();
            to < half * (D as f64).sqrt() + finest
        };
        drops.iter().any(near)
    };
    mesh::forest([root; D], [false; D], levels, wanted)
}

fn many(root: f64) -> Vec<([f64; 2], f64)> {
    let mut random = mesh::random(12345);
    let mut next = || random() + 0.5;
    let drop = |_| {
        let centre = [0.05 + 0.9 * next(), 0.05 + 0.9 * next()].map(|x| 4.0 * root * x);
        (centre, 4.0 * root * (0.01 + 0.04 * next()))
    };
    (0..40).map(drop).collect()
}

const OPEN: IsClosed<2> = |_, _| false;

#[test]
fn eight_iterations_whatever_the_levels_and_the_ratio() {
    for levels in [2, 4, 6] {
        for (drops, levels) in [
            (vec![([4.0, 4.0], 1.6)], levels),
            (many(2.0), levels.max(3)),
        ] {
            let forest = around(&drops, 2, levels);
            for ratio in [1.0, 1e3, 1e5] {
                let found = iterations(&forest, &drops, ratio, OPEN);
                // Drops of a few cells and less, at random: two more.
                let most = if drops.len() == 1 { 6 } else { 10 };
                assert!(
                    found <= most,
                    "{levels} levels, {} drops, {ratio}: {found}",
                    drops.len()
                );
            }
        }
    }
    let drops = [([4.0, 4.0, 4.0], 1.6)];
    let forest = around(&drops, 2, 3);
    for ratio in [1.0, 1e3] {
        let found = iterations(&forest, &drops, ratio, |_, _| false);
        assert!(found <= 6, "3D, {ratio}: {found}");
    }
}

#[test]
fn bodies_and_plates() {
    let drops = [([4.0, 4.0], 1.6)];
    let body: IsClosed<2> = |a, b| {
        let is_in =
            |x: [f64; 2]| mesh::to_sphere(x, [2.5, 3.0], 0.8) < 0.0 || (x[0] > 4.8 && x[1] < 3.2);
        is_in(a) || is_in(b)
    };
    // A wall without thickness from the floor, with a gap above, off the coarse grids.
    let plate: IsClosed<2> = |a, b| (a[0] < 4.19) != (b[0] < 4.19) && a[1] < 7.2;
    for levels in [2, 4, 6] {
        let forest = around(&drops, 2, levels);
        let found = iterations(&forest, &drops, 1e3, body);
        assert!(found <= 8, "bodies, {levels} levels: {found}");
        let found = iterations(&forest, &drops, 1e3, plate);
        assert!(found <= 18, "plate, {levels} levels: {found}");
    }
}

/// The error of a solution in the 2-norm, where the cells' width is `1 / n` of a box of 1.
fn error<const D: usize>(n: u32, held: bool, corrected: bool) -> f64 {
    let middle = f64::from(n) * 0.5;
    let fine = |c: [f64; D], _: f64| c.iter().all(|x| (x - middle).abs() < 0.25 * f64::from(n));
    let forest = mesh::forest([n; D], [false; D], 2, fine);
    let unit = 1.0 / (4.0 * f64::from(n));
    let beta = |x: [f64; D]| 1.0 + 0.5 * (2.0 * x[0]).sin() * x[1];
    let coefficient = |a: mesh::Cell<D>, b: Option<mesh::Cell<D>>, axis: usize, upper: usize| {
        let mut at = a.centre;
        match b {
            // The centre of the finer cell's face.
            Some(b) => {
                let finer = if a.width < b.width { a } else { b };
                at = finer.centre;
                at[axis] = if a.width <= b.width {
                    a.centre[axis] + 0.5 * a.width
                } else {
                    b.centre[axis] - 0.5 * b.width
                };
            }
            None if held => at[axis] += if upper == 1 { 0.5 } else { -0.5 } * a.width,
            None => return 0.0,
        }
        beta(at.map(|x| x * unit))
    };
    let (_, conductance) = mesh::conductances(&forest, coefficient);
    let operator = EllipticOperator::new(&Host, mesh::blocks(&forest), conductance, Vec::new())
        .expect("an operator");
    let wave = |x: f64| if held { (PI * x).sin() } else { (PI * x).cos() };
    let exact = |x: [f64; D]| x.iter().map(|&x| wave(x)).product::<f64>();
    // -div(beta grad p) by hand: D π² β p − β_x p_x − β_y p_y.
    let source = |x: [f64; D]| {
        let slope = |x: f64| {
            if held {
                PI * (PI * x).cos()
            } else {
                -PI * (PI * x).sin()
            }
        };
        let gradient = |a: usize| {
            (0..D)
                .map(|b| if a == b { slope(x[b]) } else { wave(x[b]) })
                .product::<f64>()
        };
        let (bx, by) = ((2.0 * x[0]).cos() * x[1], 0.5 * (2.0 * x[0]).sin());
        D as f64 * PI * PI * beta(x) * exact(x) - bx * gradient(0) - by * gradient(1)
    };
    let mut b = vec![0.0; operator.blocks().cells()];
    let cells = mesh::cells(&forest);
    for c in &cells {
        // Lengths in root cells: the Laplacian has the unit squared.
        b[c.number] = source(c.centre.map(|x| x * unit)) * c.width.powi(D as i32) * unit * unit;
    }
    let mut x = vec![0.0; b.len()];
    let stop = Stop {
        relative: 1e-10,
        ..STOP
    };
    let solved = if corrected {
        operator.solve_corrected(&b, &mut x, stop, &mut SolveWork::default())
    } else {
        operator.solve(&b, &mut x, stop, &mut SolveWork::default())
    };
    solved.expect("a solution");
    let volume = |c: &mesh::Cell<D>| (c.width * unit).powi(D as i32);
    let mean: f64 = cells
        .iter()
        .map(|c| volume(c) * exact(c.centre.map(|x| x * unit)))
        .sum();
    let offset = if held { 0.0 } else { mean };
    let square = |c: &mesh::Cell<D>| {
        volume(c) * (x[c.number] - exact(c.centre.map(|x| x * unit)) + offset).powi(2)
    };
    cells.iter().map(square).sum::<f64>().sqrt()
}

#[test]
fn second_order_across_level_jumps() {
    for held in [false, true] {
        let errors = [4, 8, 16].map(|n| error::<2>(n, held, true));
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!(
                (1.9..2.1).contains(&order),
                "held {held}: order {order:.2} of {errors:?}"
            );
        }
    }
    let errors = [4, 8].map(|n| error::<3>(n, true, true));
    let order = (errors[0] / errors[1]).log2();
    assert!(
        (1.8..2.2).contains(&order),
        "3D: order {order:.2} of {errors:?}"
    );
}

#[test]
fn two_points_alone_are_of_first_order() {
    let errors = [4, 8].map(|n| error::<2>(n, true, false));
    let order = (errors[0] / errors[1]).log2();
    assert!(
        (0.8..1.3).contains(&order),
        "order {order:.2} of {errors:?}"
    );
}
