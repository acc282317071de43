//! Where a cell lies in its parent cell, and fields between two meshes of one parent.

use rayon::prelude::*;

/// A cell of a refined mesh: its parent cell, and the child taken on each level, x fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellPath {
    parent: u32,
    /// Three bits a level, the first level in the highest ones of 30.
    code: u32,
    level: u8,
}

impl CellPath {
    /// A cell of the parent.
    pub fn root(parent: u32) -> Self {
        Self {
            parent,
            code: 0,
            level: 0,
        }
    }

    /// From the three labels that a file has; `None` where they are no path.
    pub fn new(parent: u32, code: u32, level: u8) -> Option<Self> {
        let is_path = level <= super::MAX_REFINEMENTS && u64::from(code) < 1 << 30;
        let below = is_path && u64::from(code) % (1 << (30 - 3 * u32::from(level))) == 0;
        below.then_some(Self {
            parent,
            code,
            level,
        })
    }

    /// The cell of the parent.
    pub fn parent(self) -> u32 {
        self.parent
    }

    /// Children taken, three bits a level.
    pub fn code(self) -> u32 {
        self.code
    }

    /// Levels below the parent.
    pub fn level(self) -> u8 {
        self.level
    }

    fn child(self, child: u32) -> Self {
        let level = self.level + 1;
        let code = self.code | child << (30 - 3 * u32::from(level));
        Self {
            code,
            level,
            ..self
        }
    }

    /// Whether a cell is this one or lies in it.
    fn holds(self, other: Self) -> bool {
        let shift = 30 - 3 * u32::from(self.level);
        self.parent == other.parent
            && self.level <= other.level
            && self.code >> shift == other.code >> shift
    }
}

/// Paths after the marked cells have been split: children in the place of their cell.
pub(super) fn split(paths: &[CellPath], marks: &[u8]) -> Vec<CellPath> {
    let each = paths.par_iter().zip(marks).flat_map_iter(|(&path, &mark)| {
        let children = if mark == 0 { 0..0 } else { 0..8 };
        let itself = (mark == 0).then_some(path);
        itself
            .into_iter()
            .chain(children.map(move |child| path.child(child)))
    });
    each.collect()
}

/// Values of a field on another mesh of the same parent: those of the cell that is the same or holds the new one; where
/// there are finer cells, their mean by volume, which keeps the integral over them. Both lists of paths are sorted, as
/// those of [`RefinedMesh`](super::RefinedMesh) are. Cost: a binary search a cell.
pub fn map_means<const N: usize>(
    from: &[CellPath],
    volumes: &[f64],
    values: &[[f64; N]],
    to: &[CellPath],
) -> Vec<[f64; N]> {
    let value = |path: &CellPath| {
        let at =
            from.partition_point(|other| (other.parent, other.code) < (path.parent, path.code));
        let covers = |i: usize| from.get(i).is_some_and(|other| other.holds(*path));
        // The cell that holds the new one begins with it or before.
        if let Some(i) = [Some(at), at.checked_sub(1)]
            .into_iter()
            .flatten()
            .find(|&i| covers(i))
        {
            return values[i];
        }
        let (mut sum, mut volume) = ([0.0; N], 0.0);
        for i in (at..from.len()).take_while(|&i| path.holds(from[i])) {
            volume += volumes[i];
            (0..N).for_each(|n| sum[n] += volumes[i] * values[i][n]);
        }
        sum.map(|x| x / volume)
    };
    to.par_iter().map(value).collect()
}
