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

    /// Whether one of two cells is or holds the other.
    pub fn overlaps(self, other: Self) -> bool {
        self.holds(other) || other.holds(self)
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

/// Where values of a mesh come from on another mesh of the same parent: for each element, other elements and weights
/// that sum up to one.
///
/// The cell that is the same or holds the new one gives its value; finer cells give their mean by volume, which keeps the
/// integral over them. Faces of the boundary likewise, by area.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeanMap {
    start: Vec<usize>,
    from: Vec<(u32, f64)>,
}

impl MeanMap {
    /// Of cells. Both lists of paths are sorted, as those of [`RefinedMesh`](super::RefinedMesh) are. Cost: a binary
    /// search a cell.
    pub fn of_cells(from: &[CellPath], volumes: &[f64], to: &[CellPath]) -> Self {
        let old = |i: usize| (from[i], i as u32, volumes[i]);
        Self::collect(to.len(), |i| sources(from.len(), old, to[i]))
    }

    /// Of boundary faces, each given by its face of the parent and the cell behind it; those of the old mesh with their
    /// areas.
    pub fn of_faces(from: &[(u32, CellPath, f64)], to: &[(u32, CellPath)]) -> Self {
        let mut sorted: Vec<(u32, CellPath, u32, f64)> = Vec::with_capacity(from.len());
        sorted.extend(
            from.iter()
                .zip(0..)
                .map(|(&(face, path, area), i)| (face, path, i, area)),
        );
        sorted.par_sort_unstable_by_key(|&(face, path, ..)| (face, path));
        Self::collect(to.len(), |i| {
            let (face, path) = to[i];
            let [first, end] =
                [face, face + 1].map(|face| sorted.partition_point(|old| old.0 < face));
            let of_face = &sorted[first..end];
            sources(
                of_face.len(),
                |i| (of_face[i].1, of_face[i].2, of_face[i].3),
                path,
            )
        })
    }

    fn collect(len: usize, of: impl Fn(usize) -> Vec<(u32, f64)> + Sync + Send) -> Self {
        let each: Vec<Vec<(u32, f64)>> = (0..len).into_par_iter().map(of).collect();
        let mut map = Self {
            start: vec![0],
            from: Vec::new(),
        };
        for from in each {
            map.from.extend(from);
            map.start.push(map.from.len());
        }
        map
    }

    /// Elements of the new mesh.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements that a new one takes its value from, with their weights.
    pub fn sources(&self, element: usize) -> &[(u32, f64)] {
        &self.from[self.start[element]..self.start[element + 1]]
    }

    /// Values on the new mesh, of `components` numbers each.
    pub fn apply(&self, values: &[f64], components: usize) -> Vec<f64> {
        let value = |i: usize| match self.sources(i / components) {
            &[(from, _)] => values[from as usize * components + i % components],
            all => all
                .iter()
                .map(|&(from, weight)| weight * values[from as usize * components + i % components])
                .sum(),
        };
        (0..self.len() * components)
            .into_par_iter()
            .map(value)
            .collect()
    }
}

/// The elements among sorted ones that hold a cell or lie in it.
fn sources(
    len: usize,
    old: impl Fn(usize) -> (CellPath, u32, f64),
    path: CellPath,
) -> Vec<(u32, f64)> {
    let key = |path: CellPath| (path.parent, path.code);
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low.midpoint(high);
        match key(old(middle).0) < key(path) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    // The cell that holds the new one begins with it or before.
    let before = low.checked_sub(1);
    for i in [Some(low), before]
        .into_iter()
        .flatten()
        .filter(|&i| i < len)
    {
        if old(i).0.holds(path) {
            return vec![(old(i).1, 1.0)];
        }
    }
    let within = (low..len).map(old).take_while(|other| path.holds(other.0));
    let mut found: Vec<(u32, f64)> = within.map(|(_, at, size)| (at, size)).collect();
    let sum: f64 = found.iter().map(|f| f.1).sum();
    found.iter_mut().for_each(|f| f.1 /= sum);
    found
}
