//! Whether what a stage is given belongs together: kernels on a device follow ids without bounds checks, so every
//! entry checks the lengths first, on all backends alike. Ids themselves are sound by construction: forests, facet
//! sets and lists in a device's memory change by their own crates' stages alone.

use super::{LevelData, LevelView, LinkRule, Seeds, WindowPlaces};
use crate::refine::LevelMarks;
use cutlink_amr::{Forest, dims};
use cutlink_device::Backend;
use cutlink_mesher::kernels::{Bins, FacetSet};

impl<const D: usize, B: Backend> LevelData<'_, D, B> {
    /// # Panics
    /// Where the level, its lists or one of the arrays by block id are not those of the forest.
    pub(crate) fn check(&self, by_id: &[(&str, usize)]) {
        let Self {
            set,
            forest,
            bins,
            images,
            view,
        } = self;
        assert!(
            forest.is_contiguous(),
            "the forest's ids should ascend from level to level"
        );
        let (first, count) = level_ids(forest, view.level);
        assert_eq!(
            (view.first, view.count),
            (first, count),
            "first id and number of the blocks of level {}",
            view.level
        );
        assert!(view.spacing > 0, "the spacing should be positive");
        check_lists("facet lists", set, bins, count);
        if let Some(images) = images {
            check_lists("lists of images", images.set, images.bins, count);
            let last = images.starts[images.starts.len() - 1];
            assert!(
                images.starts.is_sorted() && last as usize == B::len(&images.set.corners),
                "first images by direction should ascend to their number"
            );
            assert!(
                B::len(&set.patch) == 0 || B::len(&images.set.patch) == B::len(&images.set.corners),
                "images should have patches where facets have"
            );
        }
        for &(what, len) in by_id {
            assert_eq!(
                len,
                forest.capacity(),
                "{what}: one entry for each block id"
            );
        }
    }

    /// # Panics
    /// Where the seeds are not those of the level; `gaps`: whether parents may be uncertain.
    pub(crate) fn check_seeds(&self, seeds: &Seeds<'_, B>, gaps: bool) {
        match seeds {
            Seeds::Blocks(numbers) => {
                assert_eq!(B::len(numbers), self.view.count, "one seed for each block");
            }
            Seeds::Parents {
                anchors,
                first,
                uncertain,
            } => {
                let level = self.view.level;
                assert!(level > 0, "root blocks should have no parents");
                let (first_parent, parents) = level_ids(self.forest, level - 1);
                assert_eq!(*first, first_parent, "first id of the parents");
                assert_eq!(
                    B::len(*anchors),
                    parents * dims::children(D),
                    "2^D anchors for each parent"
                );
                assert!(
                    !gaps || B::len(*uncertain) == parents,
                    "one uncertainty for each of {parents} parents"
                );
            }
        }
    }

    /// # Panics
    /// Where links pass facets, and there are not 2^D winding numbers for each block, or not one mark or none.
    pub(crate) fn check_rule(&self, rule: &LinkRule<'_, B>) {
        let (numbers, marks) = (&rule.classified.anchors, &rule.classified.uncertain);
        let count = self.view.count;
        assert!(
            !rule.fill.passes_facets() || B::len(numbers) == count * dims::children(D),
            "2^D winding numbers for each block"
        );
        let len = B::len(marks);
        assert!(
            len == 0 || len == count,
            "{len} uncertainties for {count} blocks"
        );
    }

    /// # Panics
    /// Where marks name patches that are not there, or there is not one uncertainty for each block, or none.
    pub(crate) fn check_marks(&self, uncertain: &B::Buf<u8>, marks: &LevelMarks<D>) {
        let (len, count) = (B::len(uncertain), self.view.count);
        assert!(
            len == 0 || len == count,
            "{len} uncertainties for {count} blocks"
        );
        let named = marks.walls.iter().flat_map(|walls| &walls.patches);
        for named in named {
            assert!(
                B::len(&self.set.corners) == 0 || named.len() >= self.set.patches,
                "{} named patches of {}",
                named.len(),
                self.set.patches
            );
        }
    }
}

impl<const D: usize, B: Backend> WindowPlaces<D, B> {
    /// # Panics
    /// Where the places do not cover the box, or the level or the marks are not those of the forest.
    pub(crate) fn check(&self, forest: &Forest<D, B>, view: LevelView, marks: usize) {
        let ids = level_ids(forest, view.level);
        assert_eq!((view.first, view.count), ids, "ids of level {}", view.level);
        assert_eq!(marks, forest.capacity(), "one mark for each block id");
        let covered = self.extent.map(|n| u64::from(n) << self.shift);
        let extent = forest.root.map(|n| u64::from(n) << view.level);
        assert_eq!(covered, extent, "places should cover the box");
        let places: u64 = self.extent.iter().map(|&n| u64::from(n)).product();
        assert_eq!(
            B::len(&self.wanted) as u64,
            places,
            "one byte for each place"
        );
    }
}

/// First id and number of the blocks of a level of a forest whose ids ascend.
///
/// # Panics
/// Where there is no such level.
fn level_ids<const D: usize, B: Backend>(forest: &Forest<D, B>, level: usize) -> (usize, usize) {
    let (before, of) = forest.levels.split_at(level);
    let of = of.first().expect("the level should be one of the forest");
    (before.iter().map(B::len).sum(), B::len(of))
}

fn check_lists<const D: usize, B: Backend>(
    what: &str,
    set: &FacetSet<D, B>,
    bins: &Bins<B>,
    count: usize,
) {
    assert_eq!(
        (bins.boxes(), bins.set_len()),
        (count, B::len(&set.corners)),
        "{what}: blocks and facets that they are of"
    );
}
