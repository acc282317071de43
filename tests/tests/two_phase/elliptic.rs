//! Elliptic equations.

use cutlink_amr::{Forest, Mark, checksum::mix, dims};
use cutlink_device::Host;
use cutlink_elliptic::{
    Blocks, EllipticError, EllipticKernels, EllipticOperator, SolveWork, Solved, Stop, faces,
};
use cutlink_tests::backend_test;
use std::sync::Arc;

backend_test!(
    on_gpu:
    closed_boxes,
    boxes_with_values_and_diagonals,
    many_regions,
    other_coefficients,
    what_is_wrong_is_told,
);

/// A backend with the kernels for 2D and 3D.
trait AnyElliptic: EllipticKernels<2> + EllipticKernels<3> {}
impl<K: EllipticKernels<2> + EllipticKernels<3>> AnyElliptic for K {}

/// A number in 0..1, of a word.
fn unit(word: u64) -> f64 {
    (mix(word) >> 11) as f64 / (1u64 << 53) as f64
}

/// A forest with about a third of its blocks refined, so often.
fn forest<const D: usize>(
    root: [u32; D],
    periodic: [bool; D],
    levels: u64,
    seed: u64,
) -> Arc<Blocks<D>> {
    let mut forest = Forest::new(&Host, root)
        .expect("a root grid")
        .with_periodic(periodic);
    for level in 0..levels - 1 {
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        for id in forest.leaves() {
            if unit(mix(seed ^ level << 32) ^ u64::from(id)) < 0.35 {
                marks[id as usize] = Mark::Refine as u8;
            }
        }
        forest.adapt(&Host, &mut marks).expect("memory");
    }
    let keep = vec![Mark::Keep as u8; forest.capacity()];
    let same = forest.refined_after(&Host, &keep).expect("memory");
    let (canonical, _) = forest.rebuilt(&Host, &same).expect("memory");
    Arc::new(Blocks::new(&canonical).expect("contiguous ids"))
}

/// What of an equation's faces is closed.
#[derive(Clone, Copy, PartialEq)]
enum Closed {
    Nothing,
    /// A tenth, at random.
    Some,
    /// Those between root blocks.
    Roots,
}

/// An equation: conductances over an order of magnitude; values on the upper end of the last axis where `held`; a diagonal.
struct Equation<const D: usize> {
    blocks: Arc<Blocks<D>>,
    conductance: Vec<f64>,
    diagonal: Vec<f64>,
    b: Vec<f64>,
    guess: Vec<f64>,
}

impl<const D: usize> Equation<D> {
    fn new(blocks: Arc<Blocks<D>>, closed: Closed, held: bool, diagonal: bool, seed: u64) -> Self {
        let per = faces::per_block(D);
        let mut conductance = vec![0.0; blocks.len() * per];
        // A face that two blocks have gets the same value in both: by its place.
        let place = |block: usize, side: usize, cell: usize| {
            let at: [i32; D] = dims::unravel(cell, 4);
            let (axis, coord) = (side / 2, blocks.coord(block));
            let n = blocks.root().map(|n| (4 * n as i32) << blocks.level(block));
            let mut word = mix(seed ^ (blocks.level(block) * D + axis) as u64);
            for a in 0..D {
                let step = i32::from(a == axis && side % 2 == 1);
                let c = (4 * coord[a] + at[a] + step)
                    % if blocks.periodic()[a] { n[a] } else { i32::MAX };
                word = mix(word ^ c as u64);
            }
            word
        };
        let between_roots = |block: usize, side: usize, cell: usize| {
            let c = 4 * blocks.coord(block)[side / 2] + dims::unravel::<D>(cell, 4)[side / 2];
            (c + (side % 2) as i32) % (4 << blocks.level(block)) == 0
        };
        for block in 0..blocks.len() {
            for cell in 0..dims::cells(D) {
                for side in 0..2 * D {
                    let at: [i32; D] = dims::unravel(cell, 4);
                    let edge = if side % 2 == 0 { 0 } else { 3 };
                    let is_end = at[side / 2] == edge
                        && blocks.beside(block, side) == cutlink_elliptic::Beside::Outside;
                    let word = place(block, side, cell);
                    let open = match is_end {
                        true => held && side == 2 * D - 1,
                        false if closed == Closed::Roots => !between_roots(block, side, cell),
                        false => closed == Closed::Nothing || unit(word) >= 0.1,
                    };
                    let t = 10f64.powf(unit(mix(word)) - 0.5);
                    conductance[block * per + faces::of_side(D, side, cell)] =
                        if open { t } else { 0.0 };
                }
            }
        }
        let values = |word: u64, low: f64| {
            let of = |i: usize| unit(mix(seed ^ word) ^ i as u64) - low;
            (0..blocks.cells()).map(of).collect::<Vec<_>>()
        };
        Self {
            diagonal: if diagonal { values(1, 0.0) } else { Vec::new() },
            b: values(2, 0.5),
            guess: values(3, 0.5),
            conductance,
            blocks,
        }
    }

    fn operator<K: EllipticKernels<D>>(&self, kernels: &K) -> EllipticOperator<D, K> {
        let up = |values: &Vec<f64>| kernels.upload(values.clone()).expect("memory");
        let blocks = Arc::clone(&self.blocks);
        let made =
            EllipticOperator::new(kernels, blocks, up(&self.conductance), up(&self.diagonal));
        made.expect("an operator")
    }
}

/// What all functions of an operator give.
#[derive(Debug, PartialEq)]
struct Found {
    apply: Vec<u64>,
    dot: u64,
    cycle: Vec<u64>,
    solution: Vec<u64>,
    solved: Solved,
    again: Solved,
    regions: usize,
}

const STOP: Stop = Stop {
    relative: 1e-9,
    absolute: 0.0,
    most: 200,
};

fn bits(values: Vec<f64>) -> Vec<u64> {
    values.into_iter().map(f64::to_bits).collect()
}

/// Of leaves: the rest is not told.
fn of_leaves<const D: usize>(blocks: &Blocks<D>, values: Vec<f64>) -> Vec<u64> {
    let of = |(block, values): (usize, &[f64])| blocks.is_leaf(block).then(|| values.to_vec());
    let leaves = values.chunks(dims::cells(D)).enumerate().filter_map(of);
    bits(leaves.flatten().collect())
}

fn find<const D: usize, K: EllipticKernels<D>>(
    kernels: &K,
    operator: &EllipticOperator<D, K>,
    of: &Equation<D>,
) -> Found {
    let blocks = &of.blocks;
    let up = |values: &Vec<f64>| kernels.upload(values.clone()).expect("memory");
    let down = |values: &K::Buf<f64>| kernels.download(values).expect("a copy");
    let mut work = SolveWork::default();
    let (b, guess) = (up(&of.b), up(&of.guess));
    let mut out = kernels
        .alloc("values", blocks.cells(), 0.0)
        .expect("memory");
    operator.apply(&guess, &mut out).expect("values");
    let apply = bits(down(&out));
    let dot = operator.dot(&guess, &b).expect("a sum").to_bits();
    operator
        .precondition(&b, &mut out, &mut work)
        .expect("a cycle");
    let cycle = of_leaves(blocks, down(&out));
    let mut x = up(&of.guess);
    let solved = operator
        .solve(&b, &mut x, STOP, &mut work)
        .expect("a solution");
    let solution = of_leaves(blocks, down(&x));
    // With what was recorded, from another guess.
    let mut x = kernels
        .alloc("values", blocks.cells(), 0.0)
        .expect("memory");
    let again = operator
        .solve(&b, &mut x, STOP, &mut work)
        .expect("a solution");
    Found {
        apply,
        dot,
        cycle,
        solution,
        solved,
        again,
        regions: operator.closed_regions(),
    }
}

fn compare<const D: usize, K: EllipticKernels<D>>(kernels: &K, of: &Equation<D>) -> Found {
    let expected = find(&Host, &of.operator(&Host), of);
    let found = find(kernels, &of.operator(kernels), of);
    assert_same(&found, &expected);
    found
}

#[track_caller]
fn assert_same(found: &Found, expected: &Found) {
    for (what, found, expected) in [
        ("apply", &found.apply, &expected.apply),
        ("the cycle", &found.cycle, &expected.cycle),
        ("the solution", &found.solution, &expected.solution),
    ] {
        let first = found.iter().zip(expected).position(|(f, e)| f != e);
        let of = |i: usize| (f64::from_bits(found[i]), f64::from_bits(expected[i]));
        assert_eq!(
            first,
            None,
            "{what}: {:?} of {}",
            first.map(of),
            found.len()
        );
    }
    assert_eq!(found, expected);
}

fn closed_boxes<K: AnyElliptic>(kernels: &K) {
    for (levels, seed) in [(1, 1), (3, 2), (4, 3)] {
        for periodic in [[false; 2], [true, false]] {
            let blocks = forest([3, 2], periodic, levels, seed);
            let found = compare(
                kernels,
                &Equation::new(blocks, Closed::Nothing, false, false, seed),
            );
            assert_eq!(found.regions, 1);
        }
    }
    for (root, levels, seed) in [([2, 1, 3], 3, 5), ([6, 5, 4], 2, 6), ([1; 3], 1, 7)] {
        let blocks = forest(root, [false, true, false], levels, seed);
        compare(
            kernels,
            &Equation::new(blocks, Closed::Nothing, false, false, seed),
        );
    }
    // Grids that more than one thread block cycles.
    let blocks = forest([40, 30], [false; 2], 2, 8);
    compare(
        kernels,
        &Equation::new(blocks, Closed::Nothing, false, false, 8),
    );
}

fn boxes_with_values_and_diagonals<K: AnyElliptic>(kernels: &K) {
    for (held, diagonal) in [(true, false), (false, true), (true, true)] {
        let blocks = forest([2, 3], [false; 2], 4, 11);
        let found = compare(
            kernels,
            &Equation::new(blocks, Closed::Some, held, diagonal, 11),
        );
        assert!(
            diagonal == (found.regions == 0) || held,
            "{}",
            found.regions
        );
        let blocks = forest([2, 2, 1], [false; 3], 3, 12);
        compare(
            kernels,
            &Equation::new(blocks, Closed::Some, held, diagonal, 12),
        );
    }
}

fn many_regions<K: AnyElliptic>(kernels: &K) {
    let blocks = forest([4, 4], [false; 2], 3, 21);
    let found = compare(
        kernels,
        &Equation::new(blocks, Closed::Roots, false, false, 21),
    );
    assert_eq!(found.regions, 16);
    let blocks = forest([2, 2, 2], [false; 3], 2, 22);
    let found = compare(
        kernels,
        &Equation::new(blocks, Closed::Roots, false, false, 22),
    );
    assert_eq!(found.regions, 8);
}

/// An operator with updated coefficients equals one that is made from them.
fn other_coefficients<K: AnyElliptic>(kernels: &K) {
    let blocks = forest([2, 3, 2], [true, false, false], 3, 31);
    let first = Equation::new(Arc::clone(&blocks), Closed::Some, true, true, 31);
    let mut second = Equation::new(blocks, Closed::Some, true, true, 31);
    for (i, t) in second.conductance.iter_mut().enumerate() {
        *t *= 1.0 + unit(i as u64);
    }
    second.diagonal.iter_mut().for_each(|d| *d *= 3.0);
    let mut operator = first.operator(kernels);
    find(kernels, &operator, &first);
    let up = |values: &Vec<f64>| kernels.upload(values.clone()).expect("memory");
    let updated = operator.update(&up(&second.conductance), &up(&second.diagonal));
    updated.expect("the same open faces");
    let expected = find(&Host, &second.operator(&Host), &second);
    assert_same(&find(kernels, &operator, &second), &expected);
    second.diagonal = first.diagonal;
    operator
        .update_diagonal(&up(&second.diagonal))
        .expect("a diagonal");
    let expected = find(&Host, &second.operator(&Host), &second);
    assert_same(&find(kernels, &operator, &second), &expected);
}

fn what_is_wrong_is_told<K: AnyElliptic>(kernels: &K) {
    let blocks = forest([2, 2], [false; 2], 3, 41);
    let leaf = (0..blocks.len())
        .rev()
        .find(|&b| blocks.is_leaf(b))
        .expect("a leaf");
    let of = Equation::new(Arc::clone(&blocks), Closed::Nothing, false, false, 41);
    let up = |values: &Vec<f64>| kernels.upload(values.clone()).expect("memory");
    let per = faces::per_block(2);
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        let mut conductance = of.conductance.clone();
        conductance[leaf * per + 7] = wrong;
        let made = EllipticOperator::new(
            kernels,
            Arc::clone(&blocks),
            up(&conductance),
            up(&Vec::new()),
        );
        let is_told = matches!(made.expect_err("a bad value"),
            EllipticError::Coefficient { block, value, .. } if block == leaf && value.to_bits() == wrong.to_bits());
        assert!(is_told, "{wrong}");
    }
    let mut operator = of.operator(kernels);
    let mut conductance = of.conductance.clone();
    conductance[leaf * per + 7] = 0.0;
    let error = operator
        .update(&up(&conductance), &up(&Vec::new()))
        .expect_err("a closed face");
    assert!(
        matches!(error, EllipticError::Opened { block } if block == leaf),
        "{error}"
    );
    for (what, is_guess) in [("right side", false), ("first guess", true)] {
        let (mut b, mut x) = (of.b.clone(), of.guess.clone());
        (if is_guess { &mut x } else { &mut b })[leaf * 16 + 3] = f64::NAN;
        let solved = operator.solve(&up(&b), &mut up(&x), STOP, &mut SolveWork::default());
        let error = solved.expect_err("NaN");
        let found = matches!(error, EllipticError::NotFinite { what: found, .. } if found == what);
        assert!(found, "{error}");
    }
    let stop = Stop { most: 2, ..STOP };
    let error = operator.solve(
        &up(&of.b),
        &mut up(&of.guess),
        stop,
        &mut SolveWork::default(),
    );
    assert!(
        matches!(
            error,
            Err(EllipticError::NotConverged { iterations: 2, .. })
        ),
        "{error:?}"
    );
}
