//! Values of leaves in, marks out. Knows nothing of flows.

use cutlink_amr::{Forest, Mark, NONE, OUTSIDE};
use rayon::prelude::*;

/// Values of the leaves, as multiples of their thresholds. By block id; those of refined blocks are not read.
#[derive(Debug)]
pub(crate) struct Wishes {
    /// The largest multiple of any criterion: above 1, the leaf is to be refined.
    pub(crate) hot: Vec<f32>,
    /// The same on the next coarser level, as a multiple of what coarsening allows: below 1, the leaf may go.
    pub(crate) cold: Vec<f32>,
    /// Most levels at each leaf, the root included.
    pub(crate) levels: Vec<u8>,
}

/// Marks of all blocks for thresholds that are `raised` by a factor.
///
/// From the finest level to the root: a block is *wanted refined* if it is a leaf above its threshold, or has a child that is
/// above it or wanted refined. What is wanted spreads over `buffer` layers of blocks of its level. Wanted leaves are marked
/// to be refined, and leaves below whose parent is not wanted refined to be coarsened, if they may.
pub(crate) fn marks<const D: usize>(
    forest: &Forest<D>,
    wishes: &Wishes,
    buffer: u32,
    raised: f32,
) -> Vec<u8> {
    let is_hot = |id: u32| wishes.hot[id as usize] > raised;
    let mut wanted = vec![0u8; forest.capacity()];
    for (level, ids) in forest.levels.iter().enumerate().rev() {
        let wants = |&&id: &&u32| {
            if forest.is_leaf(id) {
                return is_hot(id) && level + 1 < usize::from(wishes.levels[id as usize]);
            }
            let first = forest.first_child[id as usize];
            (first..first + (1 << D))
                .any(|child| wanted[child as usize] == 1 || forest.is_leaf(child) && is_hot(child))
        };
        let mut front: Vec<u32> = ids.par_iter().filter(wants).copied().collect();
        front.iter().for_each(|&id| wanted[id as usize] = 1);
        for _ in 0..buffer {
            let mut next = Vec::new();
            for &id in &front {
                for near in forest
                    .neighbors_of(id)
                    .filter(|&n| n != NONE && n != OUTSIDE)
                {
                    let reached = &mut wanted[near as usize];
                    if *reached == 0 {
                        *reached = 1;
                        next.push(near);
                    }
                }
            }
            front = next;
        }
    }
    let mark = |id: usize| {
        let level = forest.level[id];
        if level == cutlink_amr::FREE || forest.first_child[id] != NONE {
            return Mark::Keep as u8;
        }
        let may_grow = level + 1 < wishes.levels[id];
        let parent = forest.parent[id];
        match wanted[id] == 1 {
            true if may_grow => Mark::Refine as u8,
            false if parent != NONE && wanted[parent as usize] == 0 && wishes.cold[id] < raised => {
                Mark::Coarsen as u8
            }
            _ => Mark::Keep as u8,
        }
    };
    (0..forest.capacity()).into_par_iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_device::Host;

    /// A plane of 16² root blocks in which one leaf is hot.
    fn with_hot(buffer: u32, value: f32, cold: f32) -> (Forest<2>, Vec<u8>) {
        let forest = Forest::<2>::new(&Host, [16, 16]).expect("a root grid");
        let mut wishes = Wishes {
            hot: vec![0.0; 256],
            cold: vec![cold; 256],
            levels: vec![3; 256],
        };
        wishes.hot[16 * 8 + 8] = value;
        let marks = marks(&forest, &wishes, buffer, 1.0);
        (forest, marks)
    }

    #[test]
    fn wanted_leaves_spread_by_layers() {
        for buffer in 0..4 {
            let (forest, marks) = with_hot(buffer, 1.5, 0.0);
            for (id, &mark) in marks.iter().enumerate() {
                let away = forest.coord[id].map(|c| c.abs_diff(8));
                let expected = away.iter().all(|&a| a <= buffer);
                assert_eq!(mark == Mark::Refine as u8, expected, "{buffer} {id}");
            }
        }
        let (_, marks) = with_hot(2, 0.9, 0.0);
        assert!(
            marks.iter().all(|&mark| mark == Mark::Keep as u8),
            "roots cannot go"
        );
    }

    #[test]
    fn a_group_goes_where_it_is_not_wanted_and_cold() {
        let mut forest = Forest::<2>::new(&Host, [4, 4]).expect("a root grid");
        let mut all = vec![Mark::Refine as u8; 16];
        forest.adapt(&Host, &mut all).expect("children");
        let blocks = forest.capacity();
        let mut wishes = Wishes {
            hot: vec![0.0; blocks],
            cold: vec![0.5; blocks],
            levels: vec![2; blocks],
        };
        let child = forest.first_child[5] as usize + 3;
        let count = |wishes: &Wishes, raised: f32| {
            let marks = marks(&forest, wishes, 1, raised);
            let coarsen = marks.iter().filter(|&&m| m == Mark::Coarsen as u8);
            coarsen.count()
        };
        assert_eq!(count(&wishes, 1.0), 64);
        wishes.cold[child] = 2.0;
        assert_eq!(count(&wishes, 1.0), 63);
        // A hot child holds its own group and those around: 9 of the 16 roots.
        wishes.hot[child] = 1.5;
        assert_eq!(count(&wishes, 1.0), 28);
        assert_eq!(count(&wishes, 2.1), 64, "raised above both");
    }
}
