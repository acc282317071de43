//! Windows: a mesh in parts, each made by itself.
//!
//! A window *owns* the blocks of a run of a curve: root blocks x fastest, Morton order inside of them. A mesh file has the blocks
//! of each level in this order. What the stages make of a block depends on its ancestors, and
//!
//! - for its links and its cells at level boundaries: on the blocks beside it, of its level;
//! - for its mark: on blocks within k + s layers, k those of [`LevelMarks`](crate::refine::LevelMarks), s = [`SOLID_LAYERS`].
//!
//! So a window has, on level ℓ, all blocks of the mesh within M_ℓ layers of its own ones, where M is 2 on the finest level, and
//! M_ℓ = N_ℓ + k_ℓ + s + 1 above it: the blocks within N_ℓ = ⌈M_{ℓ+1} / 2⌉ have to be refined as in the whole mesh. Marks
//! farther away are withdrawn, so that no more is made. A block that has another mark there than in the whole mesh is of no
//! window that owns it.
//!
//! Distances are measured in blocks of a *cut level*, which is the finest one whose whole grid has at most [`PLACES`] blocks, on
//! finer levels, and in blocks of the level on coarser ones.

use crate::{
    EmbedParams, Frame, Mesh, StageObserver, VoxelError,
    embed::{Scope, embed_scope},
    kernels::{MeshKernels, WindowPlaces},
    refine::{self, SOLID_LAYERS},
};
use cutlink_amr::Forest;
use cutlink_device::{Backend, Host};
use cutlink_mesher::snap::Snapped;
use std::ops::Range;

/// Places of the cut level at most, if the root level has no more.
const PLACES: u64 = 1 << 21;
/// Layers around the own blocks on the finest level: links and the cells at level boundaries need one.
const RINGS: u64 = 2;
/// Levels that are not made to find where to cut.
const UNSEEN: usize = 2;

/// A part of a mesh to be made by [`embed_window`]; [`Window::cut`] makes all windows of a mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window<const D: usize> {
    curve: Curve<D>,
    keys: Range<u64>,
    /// Layers around the own blocks in which blocks may be refined, by level but the finest.
    radii: Vec<u64>,
    periodic: [bool; D],
}

/// The curve on which windows are runs: the blocks of the cut level, were they all there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Curve<const D: usize> {
    root: [u32; D],
    level: usize,
}

impl<const D: usize> Curve<D> {
    fn new(root: [u32; D], levels: usize) -> Self {
        let blocks = |level: &usize| {
            let along = root.map(|n| u64::from(n) << level);
            along.iter().product::<u64>()
        };
        let level = (0..levels).rev().find(|level| blocks(level) <= PLACES);
        let level = level.unwrap_or(0);
        Self { root, level }
    }

    /// Blocks on each axis.
    fn extent(&self, level: usize) -> [u32; D] {
        self.root.map(|n| n << level)
    }

    fn keys(&self) -> u64 {
        let along = self.extent(self.level).map(u64::from);
        along.iter().product()
    }

    /// The place of a block, or of its first descendant on the cut level.
    fn key(&self, level: usize, coord: [i32; D]) -> u64 {
        let at = coord.map(|c| match level < self.level {
            true => c << (self.level - level),
            false => c >> (level - self.level),
        });
        let root = place(at.map(|c| c >> self.level), self.root) as u64;
        (0..self.level).rev().fold(root, |key, bit| {
            (0..D).rfold(key, |key, a| key << 1 | (at[a] >> bit & 1) as u64)
        })
    }

    /// The block of the cut level with a key.
    fn coord(&self, key: u64) -> [i32; D] {
        let mut root = key >> (D * self.level);
        let mut at = self.root.map(|n| {
            let c = root % u64::from(n);
            root /= u64::from(n);
            (c as i32) << self.level
        });
        for (bit, a) in (0..self.level).flat_map(|bit| (0..D).map(move |a| (bit, a))) {
            at[a] |= ((key >> (D * bit + a) & 1) as i32) << bit;
        }
        at
    }
}

impl<const D: usize> Window<D> {
    /// Cuts a mesh into so many windows, in the order of the curve, of about as much work each. Work is estimated from the mesh
    /// without its two finest levels, which is made for that. With more windows than blocks in that mesh, some own nothing.
    ///
    /// # Errors
    /// As [`crate::embed`].
    ///
    /// # Panics
    /// For no windows.
    pub fn cut<K: MeshKernels<D>>(
        kernels: &K,
        surface: &Snapped<D>,
        frame: Frame<D>,
        params: &EmbedParams,
        windows: usize,
    ) -> Result<Vec<Self>, VoxelError> {
        assert!(windows > 0, "a mesh should be cut into one window at least");
        params.validate()?;
        let curve = Curve::new(frame.root_blocks(), params.levels);
        let mut from = 0;
        let ends = match windows {
            1 => vec![curve.keys()],
            _ => {
                let seen = (params.levels - 1).saturating_sub(UNSEEN).max(1);
                let scope = Scope::Coarse(seen.min(params.levels - 1));
                let coarse = embed_scope(kernels, surface, frame, params, scope, None, &mut ())?;
                let coarse = coarse.forest.download(kernels)?;
                curve.ends(&curve.work(&coarse, params.levels), windows)
            }
        };
        let radii = radii(params, &frame, surface)?;
        let window = |end: u64| {
            let keys = from..end;
            from = end;
            Self {
                curve,
                keys,
                radii: radii.clone(),
                periodic: params.periodic_axes(),
            }
        };
        Ok(ends.into_iter().map(window).collect())
    }

    /// Which blocks of a level may be refined.
    pub(crate) fn places<K: Backend>(
        &self,
        kernels: &K,
        level: usize,
    ) -> Result<WindowPlaces<D, K>, VoxelError> {
        let of = level.min(self.curve.level);
        let (extent, shift) = (self.curve.extent(of), level - of);
        let count = extent.iter().map(|&n| n as usize).product();
        let mut wanted = Host.alloc("places of a window", count, 0u8)?;
        for key in self.keys.clone() {
            let at = self.curve.coord(key).map(|c| c >> (self.curve.level - of));
            wanted[place(at, extent)] = 1;
        }
        for (a, &periodic) in self.periodic.iter().enumerate() {
            let radius = self.radii[level].div_ceil(1 << shift);
            dilate(&mut wanted, extent, a, radius, periodic);
        }
        Ok(WindowPlaces {
            extent,
            shift: shift as u32,
            wanted: kernels.upload(wanted)?,
        })
    }

    /// Ids of the own blocks of a level of the window's mesh.
    pub(crate) fn own(&self, forest: &Forest<D>, level: usize) -> Range<usize> {
        let ids = &forest.levels[level];
        let before = |end: u64| {
            ids.partition_point(|&id| self.curve.key(level, forest.coord[id as usize]) < end)
        };
        let first = ids.first().map_or(0, |&id| id as usize);
        first + before(self.keys.start)..first + before(self.keys.end)
    }
}

/// Embeds what a window needs: its own blocks as they are in the whole mesh, and those around them. See [`crate::embed`].
///
/// Cost: that of the blocks that it has; a part of 1/8 of a mesh has about 1.5 times its share.
///
/// # Errors
/// As [`crate::embed`].
///
/// # Panics
/// Where the window is of a mesh with another box or other levels.
pub fn embed_window<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Snapped<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    window: &Window<D>,
    observer: &mut dyn StageObserver,
) -> Result<Mesh<D, K>, VoxelError> {
    assert!(
        window.curve.root == frame.root_blocks() && window.radii.len() + 1 == params.levels,
        "the window should be of this mesh"
    );
    let scope = Scope::Window(window);
    embed_scope(kernels, surface, frame, params, scope, None, observer)
}

/// Layers of blocks around the own ones that are refined as in the whole mesh, by level but the finest: N of the module's text.
fn radii<const D: usize>(
    params: &EmbedParams,
    frame: &Frame<D>,
    surface: &Snapped<D>,
) -> Result<Vec<u64>, VoxelError> {
    let plan = refine::plan(params, frame, surface.patches.len(), surface.caps > 0)?;
    let mut here = RINGS;
    let mut radii: Vec<u64> = Vec::new();
    for marks in plan.iter().rev() {
        let refined = here.div_ceil(2);
        radii.push(refined);
        let layers = marks.walls.iter().map(|walls| walls.layers).max();
        here = refined + u64::from(layers.unwrap_or(0) + SOLID_LAYERS) + 1;
    }
    radii.reverse();
    Ok(radii)
}

/// The place of coordinates in a grid, x fastest.
pub(crate) fn place<const D: usize>(at: [i32; D], extent: [u32; D]) -> usize {
    (0..D).rfold(0, |place, a| place * extent[a] as usize + at[a] as usize)
}

/// Sets all places within `radius` of a set one along an axis.
fn dilate<const D: usize>(
    places: &mut [u8],
    extent: [u32; D],
    axis: usize,
    radius: u64,
    periodic: bool,
) {
    let n = extent[axis] as usize;
    let radius = radius.min(n as u64) as usize;
    let stride: usize = extent[..axis].iter().map(|&n| n as usize).product();
    // Set places before each one, of three lines in a row if the axis is periodic.
    let mut before = vec![0u32; 3 * n + 1];
    let firsts = (0..places.len()).filter(|i| (i / stride).is_multiple_of(n));
    for first in firsts.collect::<Vec<_>>() {
        let at = |i: usize| first + (i % n) * stride;
        for i in 0..3 * n {
            let is_there = periodic || i / n == 1;
            before[i + 1] = before[i] + u32::from(is_there && places[at(i)] == 1);
        }
        for i in n..2 * n {
            let near = before[i + radius + 1] - before[i - radius];
            places[at(i)] = u8::from(near > 0);
        }
    }
}

impl<const D: usize> Curve<D> {
    /// Work by key, from a mesh of the first levels: a block each, and on the finest level there the blocks that it becomes, of
    /// which a surface meets 2^(D - 1) on each further level.
    fn work(&self, coarse: &Forest<D>, levels: usize) -> Vec<u64> {
        let mut work = vec![0u64; self.keys() as usize];
        for (level, ids) in coarse.levels.iter().enumerate() {
            let unseen = match level == coarse.finest() {
                true => levels - 1 - level,
                false => 0,
            };
            let each = (0..=unseen).map(|n| 1 << ((D - 1) * n)).sum::<u64>();
            for &id in ids {
                let key = self.key(level, coarse.coord[id as usize]);
                work[key as usize] += each;
            }
        }
        work
    }

    /// Where runs of equal work end.
    fn ends(&self, work: &[u64], windows: usize) -> Vec<u64> {
        let all: u64 = work.iter().sum();
        let mut ends = vec![self.keys(); windows];
        let (mut before, mut window) = (0u64, 0);
        for (key, &work) in (0..).zip(work) {
            let middle = u128::from(2 * before + work) * windows as u128;
            let of = (middle / (2 * u128::from(all))) as usize;
            if work > 0 && of > window {
                ends[window..of].fill(key);
                window = of;
            }
            before += work;
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fill, OwnBlocks, embed, join, prepare};
    use cutlink_mesher::primitives::Shape2;

    #[test]
    fn keys_ascend_by_root_blocks_and_inside_of_them_by_morton() {
        let curve = Curve::<2> {
            root: [3, 2],
            level: 2,
        };
        assert_eq!(curve.keys(), 96);
        for key in 0..96 {
            let coord = curve.coord(key);
            assert_eq!(curve.key(2, coord), key);
            assert_eq!(curve.key(4, coord.map(|c| 4 * c + 3)), key);
        }
        // The second root block of the second row; in it the upper right quarter, and there the lower right one.
        assert_eq!(curve.key(0, [1, 1]), 4 * 16);
        assert_eq!(curve.key(1, [3, 3]), 4 * 16 + 12);
        assert_eq!(curve.key(2, [7, 6]), 4 * 16 + 13);
    }

    #[test]
    fn the_cut_level_is_the_finest_one_with_few_places() {
        assert_eq!(Curve::<3>::new([16; 3], 9).level, 3);
        assert_eq!(Curve::<3>::new([16; 3], 3).level, 2);
        assert_eq!(Curve::<3>::new([200; 3], 5).level, 0);
    }

    #[test]
    fn places_grow_along_an_axis() {
        let extent = [5, 2];
        let grown = |axis, radius, periodic| {
            let mut places = vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            dilate(&mut places, extent, axis, radius, periodic);
            places
        };
        assert_eq!(grown(0, 2, false), [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(grown(0, 1, true), [1, 1, 0, 0, 1, 0, 0, 0, 0, 0]);
        assert_eq!(grown(1, 7, false), [1, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn runs_have_equal_work() {
        let curve = Curve::<2> {
            root: [8, 1],
            level: 0,
        };
        assert_eq!(curve.ends(&[1; 8], 4), [2, 4, 6, 8]);
        assert_eq!(curve.ends(&[9, 1, 1, 1, 0, 0, 0, 0], 2), [1, 8]);
        assert_eq!(curve.ends(&[0, 0, 0, 5, 0, 0, 0, 0], 3), [3, 8, 8]);
    }

    /// Radii by the proof, and smaller ones: then marks are missing beside the own blocks.
    #[test]
    fn with_smaller_margins_it_is_another_mesh() {
        let circle = Shape2::Circle { radius: 0.3 }.surface(1e-3);
        let circle = circle.expect("a circle");
        let frame = Frame::new([-0.5; 2], 1.0 / 32.0, [32; 2]).expect("a box");
        let params = EmbedParams::new(5, 0.05, Fill::NonZero);
        let (surface, _) = prepare(&Host, &circle, &frame, &params).expect("in range");
        let whole = embed(&Host, &surface, frame, &params, &mut ()).expect("a mesh");
        let windows = Window::cut(&Host, &surface, frame, &params, 4).expect("windows");
        let radii = radii(&params, &frame, &surface).expect("radii");
        let joined = |less: u64| {
            let radii: Vec<u64> = radii.iter().map(|r| r.saturating_sub(less)).collect();
            let part = |window: &Window<2>| {
                let window = Window {
                    radii: radii.clone(),
                    ..window.clone()
                };
                let mesh = embed_window(&Host, &surface, frame, &params, &window, &mut ());
                OwnBlocks::of(&mesh.expect("a mesh"), &window)
            };
            let parts: Vec<_> = windows.iter().map(part).collect();
            join(&surface, frame, &params, &parts).map(|mesh| mesh.checksum())
        };
        assert_eq!(joined(0), Ok(whole.checksum()));
        assert_ne!(joined(100), Ok(whole.checksum()));
    }
}
