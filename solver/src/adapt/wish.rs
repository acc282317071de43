//! Values of leaves in, marks out. Knows nothing of flows.

use crate::{SolverError, kernels::FlowKernels};
use cutlink_amr::Forest;
use cutlink_device::Backend;

/// Values of the leaves, as multiples of their thresholds. By block id; those of refined blocks are not read.
#[derive(Debug)]
pub struct Wishes<B: Backend> {
    /// The largest multiple of any criterion: above 1, the leaf is to be refined.
    pub hot: B::Buf<f32>,
    /// The same on the next coarser level, as a multiple of what coarsening allows: below 1, the leaf may go.
    pub cold: B::Buf<f32>,
    /// Most levels at each leaf, the root included.
    pub levels: B::Buf<u8>,
}

/// How the values of a criterion count.
#[derive(Debug, Clone, Copy)]
pub struct Weight<const D: usize> {
    /// Lower and upper corner of a box in root cells; leaves whose centres lie outside are not compared.
    pub within: Option<[[f64; D]; 2]>,
    /// Above it a leaf is refined.
    pub refine: f32,
    /// What values on the next coarser level have to be below.
    pub coarsen: f32,
    /// Factor of a value on the next coarser level.
    pub one_up: f32,
}

/// Marks of all blocks for thresholds that are `raised` by a factor.
///
/// From the finest level to the root: a block is *wanted refined* if it is a leaf above its threshold, or has a child that is
/// above it or wanted refined. What is wanted spreads over `buffer` layers of blocks of its level. Wanted leaves are marked
/// to be refined, and leaves below whose parent is not wanted refined to be coarsened, if they may.
///
/// # Errors
/// Where memory is short or the device fails.
pub(crate) fn marks<const D: usize, B: FlowKernels<D>>(
    backend: &B,
    forest: &Forest<D, B>,
    wishes: &Wishes<B>,
    buffer: u8,
    raised: f32,
) -> Result<B::Buf<u8>, SolverError> {
    // 1 where a block is wanted, one more for each layer that it is away from such a block.
    let mut wanted = backend.alloc("wanted blocks", forest.capacity(), 0)?;
    for level in (0..forest.levels.len()).rev() {
        backend.want(forest, level, wishes, raised, &mut wanted)?;
        for layer in 1..=buffer {
            backend.spread(forest, level, layer, &mut wanted)?;
        }
    }
    backend.mark_wanted(forest, wishes, raised, &wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_amr::Mark;
    use cutlink_device::Host;

    /// A plane of 16² root blocks in which one leaf is hot.
    fn with_hot(buffer: u8, value: f32, cold: f32) -> (Forest<2>, Vec<u8>) {
        let forest = Forest::<2>::new(&Host, [16, 16]).expect("a root grid");
        let mut wishes = Wishes::<Host> {
            hot: vec![0.0; 256],
            cold: vec![cold; 256],
            levels: vec![3; 256],
        };
        wishes.hot[16 * 8 + 8] = value;
        let marks = marks(&Host, &forest, &wishes, buffer, 1.0).expect("marks");
        (forest, marks)
    }

    #[test]
    fn wanted_leaves_spread_by_layers() {
        for buffer in 0..4 {
            let (forest, marks) = with_hot(buffer, 1.5, 0.0);
            for (id, &mark) in marks.iter().enumerate() {
                let away = forest.coord[id].map(|c| c.abs_diff(8));
                let expected = away.iter().all(|&a| a <= u32::from(buffer));
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
        let mut wishes = Wishes::<Host> {
            hot: vec![0.0; blocks],
            cold: vec![0.5; blocks],
            levels: vec![2; blocks],
        };
        let child = forest.first_child[5] as usize + 3;
        let count = |wishes: &Wishes<Host>, raised: f32| {
            let marks = marks(&Host, &forest, wishes, 1, raised).expect("marks");
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
