//! Gradients, vorticity and Q of velocities that are known everywhere.

#[path = "../../voxelizer/tests/files_kit/mod.rs"]
mod files_kit;
#[path = "../../tests/kit/worst.rs"]
mod worst;

use cutlink_amr::{CellRef, OUTSIDE, dims};
use cutlink_solver::Snapshot;
use cutlink_solver::fields::{
    Around, around, blocks_at, derive, gradient, gradients, q_criterion, velocity_at, vorticity,
};
use cutlink_voxelizer::Mesh;
use files_kit::{Random, ball_mesh, random_mesh};
use worst::worst;

/// Of every leaf cell the value at its centre, in root cells; of refined ones the means of their
/// fluid children.
fn snapshot<const D: usize>(mesh: &Mesh<D>, at: impl Fn([f64; D]) -> [f64; D]) -> Snapshot<D> {
    let cells = dims::cells(D);
    let count = mesh.forest.capacity() * cells;
    let mut velocity: [Vec<f32>; D] = std::array::from_fn(|_| vec![0.0; count]);
    for ids in mesh.forest.levels.iter().rev() {
        for (block, cell) in ids
            .iter()
            .flat_map(|&b| (0..cells as u32).map(move |c| (b, c)))
        {
            let here = CellRef { block, cell };
            if solid(mesh, here) {
                continue;
            }
            let value = if mesh.forest.is_leaf(block) {
                at(centre(mesh, here))
            } else {
                mean(mesh, &velocity, here)
            };
            for a in 0..D {
                velocity[a][block as usize * cells + cell as usize] = value[a] as f32;
            }
        }
    }
    Snapshot {
        step: 0,
        density: vec![1.0; count],
        velocity,
    }
}

fn mean<const D: usize>(mesh: &Mesh<D>, velocity: &[Vec<f32>; D], at: CellRef) -> [f64; D] {
    let local = dims::unravel::<D>(at.cell as usize, 4);
    let first = mesh.forest.first_child[at.block as usize];
    let child = first + dims::ravel(local.map(|c| c / 2), 2) as u32;
    let (mut sum, mut n) = ([0.0; D], 0.0);
    for corner in 0..dims::children(D) {
        let to = std::array::from_fn(|a| local[a] % 2 * 2 + (corner >> a & 1) as i32);
        let to = CellRef {
            block: child,
            cell: dims::ravel::<D>(to, 4) as u32,
        };
        if !solid(mesh, to) {
            n += 1.0;
            for a in 0..D {
                sum[a] +=
                    f64::from(velocity[a][to.block as usize * dims::cells(D) + to.cell as usize]);
            }
        }
    }
    sum.map(|s| if n > 0.0 { s / n } else { 0.0 })
}

fn solid<const D: usize>(mesh: &Mesh<D>, at: CellRef) -> bool {
    mesh.classes.solid[at.block as usize] >> at.cell & 1 == 1
}

fn centre<const D: usize>(mesh: &Mesh<D>, at: CellRef) -> [f64; D] {
    let dx = 1.0 / f64::from(1u32 << mesh.forest.level[at.block as usize]);
    mesh.forest
        .cell_coord(at)
        .map(|c| (f64::from(c) + 0.5) * dx)
}

/// The mesh without its body.
fn emptied<const D: usize>(mut mesh: Mesh<D>) -> Mesh<D> {
    mesh.classes.solid.fill(0);
    mesh.classes.boundary.fill(0);
    mesh
}

fn fluid_leaves<const D: usize>(mesh: &Mesh<D>) -> impl Iterator<Item = CellRef> + '_ {
    let cells = move |block| (0..dims::cells(D) as u32).map(move |cell| CellRef { block, cell });
    mesh.forest
        .leaves()
        .flat_map(cells)
        .filter(|&at| !solid(mesh, at))
}

fn linear<const D: usize>(slope: [[f64; D]; D], x: [f64; D]) -> [f64; D] {
    std::array::from_fn(|i| 0.01 * i as f64 + (0..D).map(|j| slope[i][j] * x[j]).sum::<f64>())
}

fn slopes<const D: usize>() -> [[f64; D]; D] {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| 0.001 * (1.0 + (3 * i + j) as f64) * [1.0, -1.0][(i + j) % 2])
    })
}

/// Largest error of a gradient, over the fluid leaf cells that `counts`; and how many those are.
fn error<const D: usize>(
    mesh: &Mesh<D>,
    velocity: &[Vec<f32>; D],
    exact: impl Fn([f64; D]) -> [[f64; D]; D],
    counts: impl Fn(CellRef) -> bool,
) -> (f64, usize) {
    let (mut most, mut n) = (0.0, 0);
    for at in fluid_leaves(mesh).filter(|&at| counts(at)) {
        let (found, exact) = (gradient(mesh, velocity, at), exact(centre(mesh, at)));
        for (f, e) in found.iter().flatten().zip(exact.iter().flatten()) {
            most = worst([most, (f - e).abs()]);
        }
        n += 1;
    }
    (most, n)
}

/// Single precision of values below one, over the smallest spacing.
const ROUNDING: f64 = 4.0 * 1.2e-7 * 8.0;

fn linear_is_exact<const D: usize>(mesh: &Mesh<D>) {
    let s = snapshot(mesh, |x| linear(slopes(), x));
    let (most, n) = error(mesh, &s.velocity, |_| slopes(), |_| true);
    assert!(n > 100, "{n} cells");
    assert!(most < ROUNDING, "off by {most}");
}

#[test]
fn linear_fields_are_exact_across_levels_and_at_the_walls_of_the_box() {
    linear_is_exact(&emptied(random_mesh(3, [3, 2, 2], 4)));
    linear_is_exact(&emptied(ball_mesh([4, 3], 4)));
    linear_is_exact(&emptied(ball_mesh([2, 2, 2], 1)));
}

#[test]
fn linear_fields_are_exact_beside_a_body() {
    linear_is_exact(&ball_mesh([3, 3, 3], 1));
    linear_is_exact(&ball_mesh([4, 4], 1));
    // Refined around its surface: no refined cell that the surface divides is beside a leaf.
    linear_is_exact(&ball_mesh([5, 5], 4));
    linear_is_exact(&ball_mesh([4, 4, 4], 3));
}

/// Counts the blocks, and those without anything near.
fn blocks_are_their_cells<const D: usize>(mesh: &Mesh<D>) -> [usize; 2] {
    let cells = dims::cells(D);
    let mut random = Random::new(7);
    let count = mesh.forest.capacity() * cells;
    let mut value = || random.below(1 << 24) as f32 / (1 << 24) as f32;
    let velocity = [(); D].map(|()| (0..count).map(|_| value()).collect());
    let mut of_block = vec![[[f64::NAN; D]; D]; cells];
    let mut counts = [0; 2];
    for block in mesh.forest.ids() {
        gradients(mesh, &velocity, block, &mut of_block);
        for (cell, found) in (0..).zip(&of_block) {
            let one = gradient(mesh, &velocity, CellRef { block, cell });
            assert_eq!(*found, one, "block {block}, cell {cell}");
        }
        let near = mesh.forest.neighbors_of(block);
        let clear = |id| id < OUTSIDE && mesh.classes.solid[id as usize] == 0;
        counts[0] += 1;
        counts[1] += usize::from(near.into_iter().all(clear));
    }
    counts
}

#[test]
fn gradients_of_a_block_are_those_of_its_cells() {
    let mut all = [0; 2];
    for counts in [
        blocks_are_their_cells(&random_mesh(3, [3, 2, 2], 4)),
        blocks_are_their_cells(&ball_mesh([5, 5], 4)),
        blocks_are_their_cells(&ball_mesh([4, 4, 4], 3)),
        blocks_are_their_cells(&emptied(ball_mesh([4, 3], 4))),
    ] {
        all = [all[0] + counts[0], all[1] + counts[1]];
    }
    assert!(
        all[1] > 100 && all[0] > 2 * all[1],
        "too few of a kind: {all:?}"
    );
}

#[test]
fn a_level_a_quarter_of_a_cell_aside_is_noticed() {
    // A negative control: the finest level a quarter of its cell aside, as if an offset had been forgotten.
    let mesh = emptied(ball_mesh([4, 3], 4));
    let nearest = |x: [f64; 2]| {
        let at = mesh.forest.leaf_at(x).expect("in the box");
        let level = mesh.forest.level[at.block as usize];
        let shift = if level == 3 { 0.03 } else { 0.0 };
        linear(slopes(), [x[0], x[1] + shift])
    };
    let s = snapshot(&mesh, nearest);
    let (most, _) = error(&mesh, &s.velocity, |_| slopes(), |_| true);
    assert!(
        most > 50.0 * ROUNDING,
        "a quarter of a fine cell goes unnoticed: {most}"
    );
}

#[test]
fn solid_cells_and_walls_do_not_count() {
    let mesh = ball_mesh([3, 3, 3], 1);
    let mut s = snapshot(&mesh, |x| linear(slopes(), x));
    for block in mesh.forest.ids() {
        for cell in (0..64).filter(|&cell| solid(&mesh, CellRef { block, cell })) {
            for a in 0..3 {
                s.velocity[a][block as usize * 64 + cell as usize] = 1e6;
            }
        }
    }
    let (most, _) = error(&mesh, &s.velocity, |_| slopes(), |_| true);
    assert!(most < ROUNDING, "solid cells count: {most}");
}

/// Taylor and Green's vortices, one wave a box of `n` root cells, and their gradient.
fn vortices(n: f64, x: [f64; 2]) -> ([f64; 2], [[f64; 2]; 2]) {
    let k = std::f64::consts::TAU / n;
    let ([s, t], [c, d]) = (x.map(|x| (k * x).sin()), x.map(|x| (k * x).cos()));
    (
        [-0.1 * c * t, 0.1 * s * d],
        [
            [0.1 * k * s * t, -0.1 * k * c * d],
            [0.1 * k * c * d, -0.1 * k * s * t],
        ],
    )
}

/// Largest relative error, of the cells away from the box and of all.
fn vortices_error(mesh: &Mesh<2>) -> (f64, f64) {
    let n = f64::from(mesh.frame.root_cells[0]);
    let s = snapshot(mesh, |x| vortices(n, x).0);
    let scale = 0.1 * std::f64::consts::TAU / n;
    let inside = |at: CellRef| centre(mesh, at).iter().all(|&x| x > 1.0 && x < n - 1.0);
    let off = |counts: &dyn Fn(CellRef) -> bool| {
        error(mesh, &s.velocity, |x| vortices(n, x).1, counts).0 / scale
    };
    (off(&inside), off(&|_| true))
}

#[test]
fn vortices_converge_in_second_order_in_first_at_walls_and_ends_of_levels() {
    let uniform = |blocks: u32| vortices_error(&emptied(ball_mesh([blocks; 2], 1)));
    let ((a, a_wall), (b, b_wall)) = (uniform(8), uniform(16));
    assert!((3.8..4.2).contains(&(a / b)), "second order: {a} to {b}");
    assert!(
        (1.7..2.3).contains(&(a_wall / b_wall)),
        "first order: {a_wall} to {b_wall}"
    );
    let refined = |blocks: u32| vortices_error(&emptied(ball_mesh([blocks; 2], 3))).0;
    let (a, b) = (refined(8), refined(16));
    assert!(
        (1.7..4.5).contains(&(a / b)),
        "at least first order: {a} to {b}"
    );
}

#[test]
fn a_rotating_field_has_twice_its_rate_as_vorticity_and_its_square_as_q() {
    let mesh = emptied(random_mesh(9, [2, 2, 2], 3));
    let omega = [0.003, -0.002, 0.005];
    let rotating = |x: [f64; 3]| {
        let r = x.map(|x| x - 4.0);
        [
            omega[1] * r[2] - omega[2] * r[1],
            omega[2] * r[0] - omega[0] * r[2],
            omega[0] * r[1] - omega[1] * r[0],
        ]
    };
    let s = snapshot(&mesh, rotating);
    let derived = derive(&mesh, &s);
    let q: f64 = omega.iter().map(|w| w * w).sum();
    for at in fluid_leaves(&mesh) {
        let i = at.block as usize * 64 + at.cell as usize;
        for a in 0..3 {
            let off = f64::from(derived.vorticity[3 * i + a]) - 2.0 * omega[a];
            assert!(
                off.abs() < 2.0 * ROUNDING,
                "vorticity of {at:?}: off by {off}"
            );
        }
        let off = f64::from(derived.q[i]) - q;
        assert!(off.abs() < 0.02 * ROUNDING, "Q of {at:?}: off by {off}");
    }
    let flat = emptied(random_mesh(9, [2, 2], 3));
    let s = snapshot(&flat, |x| [-0.004 * x[1], 0.004 * x[0]]);
    let derived = derive(&flat, &s);
    assert_eq!(
        derived.vorticity.len(),
        flat.forest.capacity() * 16,
        "one component"
    );
    for at in fluid_leaves(&flat) {
        let i = at.block as usize * 16 + at.cell as usize;
        assert!((derived.vorticity[i] - 0.008).abs() < 1e-5, "vorticity");
        assert!((derived.q[i] - 1.6e-5).abs() < 1e-7, "Q");
    }
}

#[test]
fn shear_has_vorticity_and_no_q_strain_no_vorticity_and_negative_q() {
    let shear = [[0.0, 0.5, 0.0], [0.0; 3], [0.0; 3]];
    assert_eq!(vorticity(&shear), [0.0, 0.0, -0.5], "shear");
    assert_eq!(q_criterion(&shear), 0.0, "as much strain as rotation");
    let strain = [[1.0, 0.0], [0.0, -1.0]];
    assert_eq!(vorticity(&strain), [0.0; 3], "strain");
    assert_eq!(q_criterion(&strain), -1.0, "(0 - 2) / 2");
    // The definition with its two parts, of any gradient.
    let a = slopes::<3>();
    let part = |sign: f64| -> f64 {
        let of = |i: usize, j: usize| ((a[i][j] + sign * a[j][i]) / 2.0).powi(2);
        (0..9).map(|k| of(k / 3, k % 3)).sum()
    };
    let q = (part(-1.0) - part(1.0)) / 2.0;
    assert!((q_criterion(&a) - q).abs() < 1e-15, "by its parts");
}

#[test]
fn values_between_centres_are_exact_for_linear_fields() {
    let mesh = ball_mesh([4, 4, 4], 3);
    let s = snapshot(&mesh, |x| linear(slopes(), x));
    let mut random = Random::new(4);
    let (mut between, mut carried, mut inside) = (0, 0, 0);
    for _ in 0..4000 {
        let x = std::array::from_fn(|_| random.below(1 << 20) as f64 / 65536.0);
        match around(&mesh, x) {
            None => inside += 1,
            Some(Around::Cells(cells)) => {
                let sum: f64 = cells.iter().map(|c| c.1).sum();
                assert!((sum - 1.0).abs() < 1e-12, "weights at {x:?}");
                between += 1;
            }
            Some(Around::Cell(..)) => carried += 1,
        }
        let Some((density, found)) = velocity_at(&mesh, &s, x) else {
            continue;
        };
        assert!((density - 1.0).abs() < 1e-12, "density");
        for (f, e) in found.into_iter().zip(linear(slopes(), x)) {
            assert!((f - e).abs() < ROUNDING, "{f}, not {e}, at {x:?}");
        }
    }
    assert!(
        between > 500 && carried > 400 && inside > 100,
        "{between} {carried} {inside}"
    );
    assert!(
        velocity_at(&mesh, &s, [-0.1, 1.0, 1.0]).is_none(),
        "outside the box"
    );
}

#[test]
fn numbers_do_not_depend_on_threads() {
    let mesh = ball_mesh([3, 3, 3], 3);
    let s = snapshot(&mesh, |x| x.map(|x| (0.3 * x).sin()));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| derive(&mesh, &s))
    };
    let (one, three) = (with(1), with(3));
    assert!(
        one.q == three.q && one.vorticity == three.vorticity,
        "one thread and three"
    );
}

/// All leaves at each face of the box, counted one by one, are those that are found by descent.
fn leaves_are_at_faces<const D: usize>(mesh: &Mesh<D>) {
    for face in 0..2 * D {
        let (axis, upper) = (face / 2, face % 2 == 1);
        let at_face = |&block: &u32| {
            let level = mesh.forest.level[block as usize];
            let last = (mesh.forest.root[axis] << level) as i32 - 1;
            mesh.forest.coord[block as usize][axis] == if upper { last } else { 0 }
        };
        let mut wanted: Vec<u32> = mesh.forest.leaves().filter(at_face).collect();
        let mut found = blocks_at(mesh, axis, upper);
        assert!(
            found.len() < mesh.forest.leaves().count(),
            "some are elsewhere"
        );
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, wanted, "axis {axis}, upper {upper}");
    }
}

#[test]
fn blocks_at_a_face_are_all_of_its_leaves() {
    leaves_are_at_faces(&ball_mesh([5, 4], 3));
    leaves_are_at_faces(&random_mesh::<2>(5, [5, 4], 4));
    leaves_are_at_faces(&ball_mesh([3, 4, 5], 2));
    leaves_are_at_faces(&random_mesh::<3>(7, [4, 3, 3], 3));
}
