//! Random wanted blocks and random marks.

use super::{Random, oracle::*, seeds};
use cutlink_amr::{
    Mark,
    linear::{Grid, Leaves},
};
use cutlink_device::Host;
use std::collections::HashMap;

/// Wanted blocks: near one another or not, of one level or of several.
fn wanted<const D: usize>(random: &mut Random, grid: &Grid<D>) -> Vec<Block<D>> {
    let finest = 1 + random.below(if D == 2 { 6 } else { 4 }) as u32;
    let is_mixed = random.below(2) == 0;
    let count = [0, 1, 2, 5, 12][random.below(5) as usize];
    let spread = [1, 3, 1 << 20][random.below(3) as usize];
    let center: [u64; D] = std::array::from_fn(|_| random.below(1 << 20));
    (0..count)
        .map(|_| {
            let level = if is_mixed {
                random.below(u64::from(finest) + 1) as u32
            } else {
                finest
            };
            let at = std::array::from_fn(|a| {
                let blocks = u64::from(grid.root()[a]) << level;
                ((center[a] + random.below(spread)) % blocks) as i32
            });
            (level, at)
        })
        .collect()
}

fn build<const D: usize>(random: &mut Random) -> (Leaves<D>, Model<D>) {
    let grid = random.grid::<D>();
    let wanted = wanted(random, &grid);
    let mut model = Model::new(grid);
    wanted.iter().for_each(|&block| model.want(block));
    model.balance();
    let keys = wanted
        .iter()
        .map(|&(level, at)| grid.key(level, at).expect("inside"));
    let leaves = Leaves::build(&Host, grid, keys.collect()).expect("memory");
    (leaves, model)
}

fn check<const D: usize>(leaves: &Leaves<D>, model: &Model<D>, seed: u64) {
    let faces = leaves.faces(&Host).expect("memory");
    let same = same_leaves(leaves, model).and_then(|()| same_faces(&faces, model));
    if let Err(difference) = same {
        panic!("seed {seed}, {:?}: {difference}", leaves.grid());
    }
    assert_eq!(leaves.validate(), Ok(()), "seed {seed}");
    for (id, &(level, at)) in model.sorted().iter().enumerate() {
        assert_eq!(leaves.find(level, at), Some(id as u32), "the leaf itself");
        if level == leaves.grid().limit() {
            continue;
        }
        let inside = at.map(|c| 2 * c + 1);
        assert_eq!(
            leaves.find(level + 1, inside),
            Some(id as u32),
            "a block in it"
        );
    }
}

/// Marks by leaf, in order, and the same for the model.
fn marks<const D: usize>(
    random: &mut Random,
    model: &Model<D>,
) -> (Vec<u8>, HashMap<Block<D>, Mark>) {
    let weights =
        [[12, 2, 1], [1, 0, 9], [2, 1, 1], [0, 0, 1], [0, 1, 15]][random.below(5) as usize];
    let finest = if D == 2 { 6 } else { 3 };
    let mark = |block: &Block<D>| {
        let at = random.below(weights.iter().sum());
        match at {
            _ if at < weights[0] => Mark::Keep,
            _ if at < weights[0] + weights[1] && block.0 < finest => Mark::Refine,
            _ if at < weights[0] + weights[1] => Mark::Keep,
            _ => Mark::Coarsen,
        }
    };
    let sorted = model.sorted();
    let marks: Vec<Mark> = sorted.iter().map(mark).collect();
    let by_leaf = marks.iter().map(|&mark| mark as u8).collect();
    (by_leaf, sorted.into_iter().zip(marks).collect())
}

/// The closed marks and the map to new leaves, from what became of each leaf.
fn expected<const D: usize>(old: &Model<D>, new: &Model<D>) -> (Vec<u8>, Vec<u32>) {
    let sorted = new.sorted();
    let ids: HashMap<Block<D>, u32> = sorted.iter().copied().zip(0..).collect();
    let became = |(level, at): Block<D>| {
        let child = (level + 1, at.map(|c| 2 * c));
        if let Some(&id) = ids.get(&(level, at)) {
            (Mark::Keep as u8, id)
        } else if let Some(&id) = ids.get(&child) {
            (Mark::Refine as u8, id)
        } else {
            (Mark::Coarsen as u8, ids[&(level - 1, at.map(|c| c >> 1))])
        }
    };
    let (marks, mut first): (Vec<u8>, Vec<u32>) = old.sorted().into_iter().map(became).unzip();
    first.push(sorted.len() as u32);
    (marks, first)
}

fn adapt<const D: usize>(
    random: &mut Random,
    leaves: &mut Leaves<D>,
    model: &mut Model<D>,
    seed: u64,
) -> [u64; 2] {
    let (mut by_leaf, of_model) = marks(random, model);
    let old = model.clone();
    model.adapt(&of_model);
    let done = leaves.adapt(&Host, &mut by_leaf).expect("memory");
    let (closed, first) = expected(&old, model);
    assert_eq!(by_leaf, closed, "closed marks of seed {seed}");
    assert_eq!(done.first, first, "the map of seed {seed}");
    let count = |mark: Mark| closed.iter().filter(|&&m| m == mark as u8).count() as u64;
    assert_eq!(done.refined, count(Mark::Refine), "seed {seed}");
    assert_eq!(done.coarsened << D, count(Mark::Coarsen), "seed {seed}");
    check(leaves, model, seed);
    [done.refined, done.coarsened]
}

/// Trees from wanted blocks, then some adaptations of each.
fn follows_the_model<const D: usize>(count: u64) {
    let (mut sum, mut hanging) = ([0; 2], 0);
    for seed in seeds(count) {
        let mut random = Random::new(seed);
        let (mut leaves, mut model) = build::<D>(&mut random);
        check(&leaves, &model, seed);
        for _ in 0..random.below(4) {
            let done = adapt(&mut random, &mut leaves, &mut model, seed);
            sum = [sum[0] + done[0], sum[1] + done[1]];
        }
        hanging += leaves.faces(&Host).expect("memory").slots.len();
    }
    let [refined, coarsened] = sum;
    assert!(
        refined > 1000 && coarsened > 100 && hanging > 1000,
        "{sum:?} {hanging}"
    );
}

#[test]
fn any_points_and_marks_in_the_plane() {
    follows_the_model::<2>(800);
}

#[test]
fn any_points_and_marks_in_space() {
    follows_the_model::<3>(250);
}

/// Children of the blocks above level `finest` that a sphere around the middle of the box passes through.
fn sphere(grid: &Grid<3>, finest: u32) -> Vec<u64> {
    let mut keys = Vec::new();
    for level in 0..finest {
        let blocks = grid.root().map(|n| (n << level) as i32);
        let near = |at: &[i32; 3]| {
            let x = |a: usize| (f64::from(at[a]) + 0.5) / f64::from(blocks[a]) - 0.5;
            let distance = (0..3).map(|a| x(a) * x(a)).sum::<f64>().sqrt() - 0.3;
            distance.abs() < 1.0 / f64::from(blocks[0])
        };
        let plane = |z| (0..blocks[1]).flat_map(move |y| (0..blocks[0]).map(move |x| [x, y, z]));
        let found = (0..blocks[2]).flat_map(plane).filter(near);
        keys.extend(found.filter_map(|at| grid.key(level + 1, at.map(|c| 2 * c))));
    }
    keys
}

#[test]
fn any_number_of_threads_gives_the_same_arrays() {
    let grid = Grid::new([5, 4, 4], [true, false, false]).expect("a root grid");
    let run = || {
        let mut leaves = Leaves::build(&Host, grid, sphere(&grid, 4)).expect("memory");
        let mark = |i: usize| (i.is_multiple_of(7)).into();
        let mut marks: Vec<u8> = (0..leaves.len()).map(mark).collect();
        marks[3000..9000].fill(Mark::Coarsen as u8);
        let done = leaves.adapt(&Host, &mut marks).expect("memory");
        assert!(done.refined > 1000 && done.coarsened > 100, "{done:?}");
        let faces = leaves.faces(&Host).expect("memory");
        (
            leaves,
            marks,
            done.first,
            faces.codes,
            faces.hanging,
            faces.slots,
        )
    };
    let pool = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(run)
    };
    let reference = pool(1);
    assert!(reference.0.len() > 40_000, "{} leaves", reference.0.len());
    assert_eq!(reference.0.validate(), Ok(()));
    for threads in [2, 3, 7] {
        let found = pool(threads);
        assert_eq!(
            found.0.keys(),
            reference.0.keys(),
            "{threads} threads: keys"
        );
        assert_eq!(found.1, reference.1, "{threads} threads: marks");
        assert_eq!(found.2, reference.2, "{threads} threads: map");
        assert_eq!(found.3, reference.3, "{threads} threads: codes");
        assert_eq!(found.4, reference.4, "{threads} threads: hanging faces");
        assert_eq!(found.5, reference.5, "{threads} threads: slots");
    }
}

/// The hardest case for 2:1, to the finest level that keys can name.
#[test]
fn a_corner_as_fine_as_keys_allow() {
    let grid = Grid::new([1, 3, 2], [false; 3]).expect("a root grid");
    let (level, at) = (grid.limit(), [(1 << 17) - 1, 1 << 17, (1 << 17) - 1]);
    let key = grid.key(level, at).expect("inside");
    let leaves = Leaves::build(&Host, grid, vec![key, key]).expect("memory");
    let mut model = Model::new(grid);
    model.want((level, at));
    model.balance();
    check(&leaves, &model, 0);
    assert_eq!(leaves.finest(), 17, "levels");
    let mut marks = vec![Mark::Keep as u8; leaves.len()];
    marks[leaves.find(level, at).expect("inside") as usize] = Mark::Refine as u8;
    let mut adapted = leaves.clone();
    let error = adapted.adapt(&Host, &mut marks).expect_err("too fine");
    assert!(error.to_string().contains("level 18"), "{error}");
    assert_eq!(adapted.keys(), leaves.keys(), "the old tree");
}
