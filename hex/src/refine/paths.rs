//! Where a cell lies in its parent cell, and fields between two meshes of one parent.

use rayon::prelude::*;

/// A cell of a refined mesh: its parent cell, and the child taken on each level, x fastest.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    bytemuck::Pod,
    bytemuck::Zeroable,
)]
#[repr(C)]
pub struct CellPath {
    parent: u32,
    /// Three bits a level, the first level in the highest ones of 30.
    code: u32,
    level: u32,
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
            level: u32::from(level),
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
        self.level as u8
    }

    pub(crate) fn child(self, child: u32) -> Self {
        let level = self.level + 1;
        let code = self.code | child << (30 - 3 * level);
        Self {
            code,
            level,
            ..self
        }
    }

    /// By which cells are sorted; a cell and its first child have the same.
    pub(crate) fn key(self) -> (u32, u32) {
        (self.parent, self.code)
    }

    /// Whether one of two cells is or holds the other.
    pub fn overlaps(self, other: Self) -> bool {
        self.holds(other) || other.holds(self)
    }

    /// Whether a cell is this one or lies in it.
    pub(crate) fn holds(self, other: Self) -> bool {
        let shift = 30 - 3 * self.level;
        self.parent == other.parent
            && self.level <= other.level
            && self.code >> shift == other.code >> shift
    }
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
        Self::collect(to.len(), |i, out| sources(from.len(), old, to[i], out))
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
        Self::collect(to.len(), |i, out| {
            let (face, path) = to[i];
            let [first, end] =
                [face, face + 1].map(|face| sorted.partition_point(|old| old.0 < face));
            let of_face = &sorted[first..end];
            let old = |i: usize| (of_face[i].1, of_face[i].2, of_face[i].3);
            sources(of_face.len(), old, path, out);
        })
    }

    /// The map of elements whose sources `put` adds to a list.
    fn collect(len: usize, put: impl Fn(usize, &mut Vec<(u32, f64)>) + Sync + Send) -> Self {
        const PIECE: usize = 4096;
        // Of each element the end of its sources.
        let piece = |number: usize| {
            let (mut start, mut from) = (Vec::with_capacity(PIECE), Vec::with_capacity(PIECE));
            for element in number * PIECE..len.min((number + 1) * PIECE) {
                put(element, &mut from);
                start.push(from.len());
            }
            Self { start, from }
        };
        let pieces = (0..len.div_ceil(PIECE)).into_par_iter().map(piece);
        let pieces: Vec<Self> = pieces.collect();
        let mut map = Self {
            start: Vec::with_capacity(len + 1),
            from: Vec::with_capacity(pieces.iter().map(|piece| piece.from.len()).sum()),
        };
        map.start.push(0);
        for piece in pieces {
            let base = map.from.len();
            map.start
                .extend(piece.start.into_iter().map(|end| base + end));
            map.from.extend(piece.from);
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

/// Adds the elements among sorted ones that hold a cell or lie in it.
fn sources(
    len: usize,
    old: impl Fn(usize) -> (CellPath, u32, f64),
    path: CellPath,
    out: &mut Vec<(u32, f64)>,
) {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low.midpoint(high);
        match old(middle).0.key() < path.key() {
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
            return out.push((old(i).1, 1.0));
        }
    }
    let first = out.len();
    let within = (low..len).map(old).take_while(|other| path.holds(other.0));
    out.extend(within.map(|(_, at, size)| (at, size)));
    let found = &mut out[first..];
    let sum: f64 = found.iter().map(|f| f.1).sum();
    found.iter_mut().for_each(|f| f.1 /= sum);
}
