//! Linear trees on every backend: bit for bit those of the host, and with the leaves of a forest that is adapted to the same
//! marks. (The host's are tested against brute force in `amr/tests/linear`.)

use cutlink_amr::{
    Forest, LinearKernels, Mark,
    checksum::mix,
    linear::{AdaptedLeaves, Faces, Grid, Leaves},
};
use cutlink_device::Host;
use cutlink_tests::{arrays::same_forest, backend_test, backends::random_cases};
use proptest::prelude::*;

backend_test!(
    any_points_and_marks_in_the_plane,
    any_points_and_marks_in_space,
    conversion_of_trees_and_forests,
    many_leaves_and_all_coarsened_back,
    a_corner_as_fine_as_keys_allow,
    strange_words_are_refused,
    a_difference_is_told,
);

/// A backend with the stages of linear trees for 2D and 3D.
trait AnyLinear: LinearKernels<2> + LinearKernels<3> {}
impl<K: LinearKernels<2> + LinearKernels<3>> AnyLinear for K {}

/// A tree on a backend, the same on the host, and a forest of the same leaves.
struct Twins<'a, const D: usize, K: LinearKernels<D>> {
    kernels: &'a K,
    there: Leaves<D, K>,
    here: Leaves<D>,
    forest: Forest<D>,
}

/// The first array of faces that differs.
fn same_faces<const D: usize>(a: &Faces<D>, b: &Faces<D>) -> Result<(), &'static str> {
    if a.codes != b.codes {
        return Err("codes");
    }
    if a.slots != b.slots {
        return Err("slots");
    }
    if a.hanging != b.hanging {
        return Err("hanging");
    }
    Ok(())
}

fn same_leaves<const D: usize>(a: &Leaves<D>, b: &Leaves<D>) -> Result<(), &'static str> {
    if a.keys() != b.keys() {
        return Err("keys");
    }
    if (a.finest(), a.grid()) != (b.finest(), b.grid()) {
        return Err("levels");
    }
    Ok(())
}

impl<'a, const D: usize, K: LinearKernels<D>> Twins<'a, D, K> {
    fn build(kernels: &'a K, grid: Grid<D>, wanted: Vec<u64>) -> Self {
        let there = kernels.upload(wanted.clone()).expect("memory");
        let here = Leaves::build(&Host, grid, wanted).expect("memory");
        let twins = Self {
            kernels,
            there: Leaves::build(kernels, grid, there).expect("memory"),
            forest: Forest::of(&Host, &here).expect("memory"),
            here,
        };
        twins.compare();
        twins
    }

    fn compare(&self) {
        let there = self.there.download(self.kernels).expect("memory");
        assert_eq!(same_leaves(&there, &self.here), Ok(()), "not the host's");
        assert_eq!(there.checksum(), self.forest.checksum(), "not the forest's");
        if let Err(violation) = there.validate() {
            panic!("{violation}");
        }
        let faces = self.there.faces(self.kernels).expect("memory");
        let faces = faces.download(self.kernels).expect("memory");
        let expected = self.here.faces(&Host).expect("memory");
        assert_eq!(same_faces(&faces, &expected), Ok(()), "not the host's");
    }

    /// Adapts all three, and compares the trees, the closed marks, the maps and the counts.
    fn adapt(&mut self, marks: Vec<u8>) -> AdaptedLeaves<Host> {
        let mut of_forest = vec![Mark::Keep as u8; self.forest.capacity()];
        for (leaf, &mark) in marks.iter().enumerate() {
            let level = self.here.level(leaf as u32) as usize;
            let id = self.forest.find(level, self.here.coord(leaf as u32));
            of_forest[id.expect("inside") as usize] = mark;
        }
        let done = self.forest.adapt(&Host, &mut of_forest).expect("memory");
        let mut there = self.kernels.upload(marks.clone()).expect("memory");
        let mut here = marks;
        let expected = self.here.adapt(&Host, &mut here).expect("memory");
        let found = self.there.adapt(self.kernels, &mut there).expect("memory");
        let counts = [expected.refined, expected.coarsened];
        assert_eq!([found.refined, found.coarsened], counts, "counts");
        assert_eq!(counts, [done.refined, done.coarsened].map(|n| n as u64));
        let there = self.kernels.download(&there).expect("memory");
        assert_eq!(there, here, "closed marks");
        let first = self.kernels.download(&found.first).expect("memory");
        assert_eq!(first, expected.first, "map");
        self.compare();
        expected
    }

    fn convert(&self) {
        let kernels = self.kernels;
        let forest = Forest::of(kernels, &self.there).expect("memory");
        let converted = forest.download(kernels).expect("memory");
        let expected = Forest::of(&Host, &self.here).expect("memory");
        if let Err(difference) = same_forest(&converted, &expected) {
            panic!("not the host's: {difference}");
        }
        let back = Leaves::of(kernels, &forest).expect("memory");
        let back = back.download(kernels).expect("memory");
        assert_eq!(same_leaves(&back, &self.here), Ok(()), "there and back");
        // Ids of a history, with free ones among them.
        let forest = self.forest.upload(kernels).expect("memory");
        let leaves = Leaves::of(kernels, &forest).expect("memory");
        let leaves = leaves.download(kernels).expect("memory");
        assert_eq!(same_leaves(&leaves, &self.here), Ok(()), "of the forest");
        let again = self.here.upload(kernels).expect("memory");
        let again = again.download(kernels).expect("memory");
        assert_eq!(same_leaves(&again, &self.here), Ok(()), "copied");
    }
}

/// A box, wanted blocks, and rounds of marks.
type Case<const D: usize> = ([u32; D], [bool; D], Vec<(u32, [u32; D])>, Vec<Vec<u8>>);

fn cases<const D: usize>(edge: u32, finest: u32) -> impl Strategy<Value = Case<D>> {
    let sparse = proptest::collection::vec(
        prop_oneof![12 => Just(0u8), 2 => Just(1u8), 1 => Just(2u8)],
        1..40,
    );
    let coarsening = proptest::collection::vec(prop_oneof![1 => Just(0u8), 9 => Just(2u8)], 1..40);
    // Groups that would go beside leaves that are refined.
    let both = proptest::collection::vec(prop_oneof![1 => Just(1u8), 15 => Just(2u8)], 1..80);
    let any = prop_oneof![2 => sparse, 2 => coarsening, 1 => both];
    let rounds = proptest::collection::vec(any, 0..5);
    let root = proptest::array::uniform(1..=edge);
    let periodic = proptest::array::uniform(proptest::bool::ANY);
    let at = proptest::array::uniform(0u32..1 << 16);
    let wanted = proptest::collection::vec((0..=finest, at), 0..12);
    (root, periodic, wanted, rounds)
}

fn run<const D: usize, K: LinearKernels<D>>(kernels: &K, case: Case<D>, finest: u32) {
    let (root, periodic, wanted, rounds) = case;
    let grid = Grid::new(root, periodic).expect("a root grid");
    let key = |(level, at): (u32, [u32; D])| {
        let coord = std::array::from_fn(|a| (at[a] % (root[a] << level)) as i32);
        grid.key(level, coord).expect("inside")
    };
    let mut twins = Twins::build(kernels, grid, wanted.into_iter().map(key).collect());
    for marks in rounds {
        let of_leaf = |leaf: usize| match marks[leaf % marks.len()] {
            1 if twins.here.level(leaf as u32) >= finest => Mark::Keep as u8,
            mark => mark,
        };
        let marks = (0..twins.here.len()).map(of_leaf).collect();
        twins.adapt(marks);
    }
    twins.convert();
}

fn any_points_and_marks_in_the_plane<K: AnyLinear>(kernels: &K) {
    random_cases(300, &cases::<2>(5, 6), |case| {
        run(kernels, case, 6);
        Ok(())
    });
}

fn any_points_and_marks_in_space<K: AnyLinear>(kernels: &K) {
    // The host is compared with itself, and with the forest.
    let count = if kernels.launches().is_some() {
        150
    } else {
        60
    };
    random_cases(count, &cases::<3>(3, 4), |case| {
        run(kernels, case, 4);
        Ok(())
    });
}

fn conversion_of_trees_and_forests<K: AnyLinear>(kernels: &K) {
    let grid = Grid::<3>::new([3, 1, 2], [false, true, false]).expect("a root grid");
    // A corner of a root block, so that 2:1 needs more.
    let key = grid.key(4, [16, 15, 16]).expect("inside");
    let mut twins = Twins::build(kernels, grid, vec![key]);
    for round in 0..8u64 {
        let mark = |leaf: u64| match mix(leaf ^ round << 40) % 8 {
            0 if round % 2 == 0 && round < 6 => Mark::Refine as u8,
            1..8 if round % 2 == 1 => Mark::Coarsen as u8,
            _ => Mark::Keep as u8,
        };
        twins.adapt((0..twins.here.len() as u64).map(mark).collect());
        twins.convert();
    }
    assert!(!twins.forest.is_contiguous(), "ids of a history");
}

/// More leaves than threads of a block, many blocks, many levels.
fn many_leaves_and_all_coarsened_back<K: AnyLinear>(kernels: &K) {
    let grid = Grid::<3>::new([7, 5, 3], [false, false, true]).expect("a root grid");
    let place = |i: u64, a: u64| (mix(mix(i) ^ a) >> 40) as i32;
    let near = |i: u64| {
        let level = (place(i, 3) % 3) as u32 + 3;
        let at = [0, 1, 2].map(|a| place(i, a as u64) % ((grid.root()[a] << level) as i32));
        grid.key(level, at).expect("inside")
    };
    let mut twins = Twins::build(kernels, grid, (0..1500).map(near).collect());
    assert!(twins.here.len() > 30_000, "{} leaves", twins.here.len());
    let third = (0..twins.here.len()).map(|leaf| u8::from(leaf % 97 == 0));
    let done = twins.adapt(third.collect());
    assert!(done.refined > 300, "{} refined", done.refined);
    twins.convert();
    for _ in 0..=6 {
        twins.adapt(vec![Mark::Coarsen as u8; twins.here.len()]);
    }
    assert_eq!(twins.there.len(), 105, "back at the root grid");
    assert_eq!(twins.there.finest(), 0, "back at the root grid");
}

fn a_corner_as_fine_as_keys_allow<K: AnyLinear>(kernels: &K) {
    let grid = Grid::<3>::new([1, 3, 2], [false; 3]).expect("a root grid");
    let (level, at) = (grid.limit(), [(1 << 17) - 1, 1 << 17, (1 << 17) - 1]);
    let key = grid.key(level, at).expect("inside");
    let mut twins = Twins::build(kernels, grid, vec![key]);
    assert_eq!(twins.there.finest(), 17, "levels");
    let mut marks = vec![Mark::Keep as u8; twins.here.len()];
    marks[twins.here.find(level, at).expect("inside") as usize] = Mark::Refine as u8;
    let mut there = kernels.upload(marks).expect("memory");
    let error = twins.there.adapt(kernels, &mut there);
    let error = error.expect_err("too fine").to_string();
    assert!(error.contains("level 18"), "{error}");
    twins.compare();
}

fn strange_words_are_refused<K: AnyLinear>(kernels: &K) {
    let grid = Grid::<2>::new([3, 2], [false; 2]).expect("a root grid");
    let good = grid.key(2, [11, 7]).expect("inside");
    for strange in [good | 31, good | 1 << 5, good | 1 << 63, u64::MAX] {
        let wanted = kernels.upload(vec![good, strange, good]).expect("memory");
        let error = Leaves::build(kernels, grid, wanted).expect_err("a strange word");
        assert!(error.to_string().starts_with("1 of"), "{error}");
    }
    let wanted = kernels.upload(vec![u64::MAX; 1000]).expect("memory");
    let error = Leaves::build(kernels, grid, wanted).expect_err("strange words");
    assert!(error.to_string().starts_with("1000 of"), "{error}");
}

/// The comparators of this file fail where they should.
fn a_difference_is_told<K: AnyLinear>(kernels: &K) {
    let grid = Grid::<3>::new([2, 1, 1], [false; 3]).expect("a root grid");
    let key = grid.key(2, [3, 0, 0]).expect("inside");
    let twins = Twins::<3, K>::build(kernels, grid, vec![key]);
    let faces = || {
        let faces = twins.there.faces(kernels).expect("memory");
        faces.download(kernels).expect("memory")
    };
    let mut other = faces();
    *other.codes.last_mut().expect("a face") ^= 1;
    assert_eq!(same_faces(&other, &faces()), Err("codes"));
    other = faces();
    other.slots[0] += 1;
    assert_eq!(same_faces(&other, &faces()), Err("slots"));
    other = faces();
    other.hanging.swap(0, 1);
    assert_eq!(same_faces(&other, &faces()), Err("hanging"));
    let mut changed = twins.there.download(kernels).expect("memory");
    changed.keys_mut()[0] ^= 1 << 40;
    assert_eq!(same_leaves(&changed, &twins.here), Err("keys"));
}
