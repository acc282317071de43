//! Layers of cells between walls and the points that have moved away from them.
//!
//! A point that has moved keeps its number; its place on the wall is a new point, and so are those between: a *column*. A face
//! of the boundary is of one of three kinds:
//!
//! | kind | its points | side faces of a column at its edge |
//! |---|---|---|
//! | [`Kind::Layer`] | a stack of prisms between both places | between two stacks |
//! | [`Kind::Slide`] | have moved within its plane | faces of its patch |
//! | [`Kind::Keep`] | are where they were | faces of its cell: a step, as high as the stack |
//!
//! Stacks may differ in their numbers of layers: counted from above, their borders are the same, and what is left is one
//! layer at the wall. Faces with an edge on the wall between two faces without layers go down the column to that edge, or, with
//! columns at both of its ends, strips between these close the cells. So cells stay closed wherever layers end, and no cell
//! collapses. Two cells may share several faces there.

use crate::{PolyMesh, PolyPatch};
use rayon::prelude::*;

/// No number.
pub(super) const NONE: u32 = u32::MAX;

/// What becomes of a face of the boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// So many layers.
    Layer(u32),
    Slide,
    Keep,
}

/// A point between layers and mesh.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    /// Its place on the wall.
    pub(super) base: [f64; 3],
    /// Points below it, that on the wall included.
    pub(super) points: u32,
    /// Which of the lists of heights it has.
    pub(super) rule: u32,
}

/// Columns of a mesh.
#[derive(Debug)]
pub(super) struct Columns {
    /// By point; [`NONE`] of others.
    pub(super) of: Vec<u32>,
    pub(super) list: Vec<Column>,
    /// By rule: heights of the points above the wall, as a share of the whole, from 0.
    /// Columns of fewer points have the upper ones.
    pub(super) heights: Vec<Vec<f64>>,
}

/// The heights of so many borders, the wall's included, of those of a rule.
pub(super) fn upper(heights: &[f64], borders: u32) -> impl Iterator<Item = f64> + '_ {
    let first = heights.len() + 1 - borders as usize;
    std::iter::once(0.0).chain(heights[first..].iter().copied())
}

/// Edges of faces of the boundary, ascending: lower point, upper point, face.
#[derive(Debug)]
pub(super) struct Edges(Vec<(u32, u32, u32)>);

impl Edges {
    /// Of the faces of the boundary that have a point of a kind.
    pub(super) fn new(mesh: &PolyMesh, is_of: impl Fn(u32) -> bool) -> Self {
        let faces = (mesh.internal_faces()..mesh.faces())
            .filter(|&face| mesh.face(face).iter().any(|&p| is_of(p)));
        let each = faces.flat_map(|face| {
            let ids = mesh.face(face);
            let next = ids.iter().cycle().skip(1);
            let edges = ids.iter().zip(next);
            edges.map(move |(&p, &q)| (p.min(q), p.max(q), face as u32))
        });
        let mut all: Vec<_> = each.collect();
        all.par_sort_unstable();
        Self(all)
    }

    /// The faces at an edge.
    pub(super) fn at(&self, p: u32, q: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        let (low, high) = (p.min(q), p.max(q));
        let first = self
            .0
            .partition_point(|edge| (edge.0, edge.1) < (low, high));
        let same = self.0[first..]
            .iter()
            .take_while(move |edge| (edge.0, edge.1) == (low, high));
        same.map(|edge| edge.2)
    }
}

/// What is beside a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beyond {
    /// The stack of another face.
    Stack(u32),
    /// A cell whose wall has no layers.
    Cell(u32),
    /// A face whose patch gets the side.
    Patch(u32),
}

/// Kinds of the faces of a boundary.
#[derive(Debug, Clone, Copy)]
pub(super) struct Boundary<'a> {
    pub(super) mesh: &'a PolyMesh,
    /// By face, from the first one of the boundary on.
    pub(super) kinds: &'a [Kind],
    pub(super) edges: &'a Edges,
    /// Whether there is a column, by point.
    pub(super) has_column: &'a [bool],
}

impl Boundary<'_> {
    pub(super) fn kind(&self, face: u32) -> Kind {
        self.kinds[face as usize - self.mesh.internal_faces()]
    }

    /// Whether faces that end at an edge go down to the wall there.
    pub(super) fn goes_down(&self, p: u32, q: u32) -> bool {
        self.is_bare(p, q) && !self.has_columns(p, q)
    }

    pub(super) fn has_columns(&self, p: u32, q: u32) -> bool {
        self.has_column[p as usize] && self.has_column[q as usize]
    }

    /// Whether an edge is one of a face that keeps its points, and of none with layers.
    fn is_bare(&self, p: u32, q: u32) -> bool {
        let mut kinds = self.edges.at(p, q).map(|face| self.kind(face));
        let is_layer = |kind: Kind| matches!(kind, Kind::Layer(_));
        kinds.clone().any(|kind| kind == Kind::Keep) && !kinds.any(is_layer)
    }

    /// Across an edge with a strip: the face there and its cell, [`NONE`] where the strip is of its patch.
    pub(super) fn strip(&self, face: u32, p: u32, q: u32) -> Option<(u32, u32)> {
        if !self.has_columns(p, q) || !self.is_bare(p, q) {
            return None;
        }
        let other = self.edges.at(p, q).find(|&other| other != face)?;
        let (own, beyond) = (
            self.mesh.owner[face as usize],
            self.mesh.owner[other as usize],
        );
        match self.kind(other) {
            Kind::Slide => Some((other, NONE)),
            _ => (own != beyond).then_some((other, beyond)),
        }
    }

    /// What is beside a face's stack, with the first edge and the number of edges; none if it is no disc, or meets something
    /// twice.
    pub(super) fn sides(&self, face: u32) -> Option<Vec<(Beyond, usize, usize)>> {
        let ids = self.mesh.face(face as usize);
        let n = ids.len();
        let beyond = |at: usize| {
            let mut others = self.edges.at(ids[at], ids[(at + 1) % n]);
            let other = others.find(|&other| other != face)?;
            Some(match self.kind(other) {
                Kind::Layer(_) => Beyond::Stack(other),
                Kind::Keep => Beyond::Cell(self.mesh.owner[other as usize]),
                Kind::Slide => Beyond::Patch(other),
            })
        };
        let all: Option<Vec<Beyond>> = (0..n).map(beyond).collect();
        let all = all?;
        let first = (0..n).find(|&at| all[at] != all[(at + n - 1) % n])?;
        let mut sides: Vec<(Beyond, usize, usize)> = Vec::with_capacity(n);
        for at in (first..first + n).map(|at| at % n) {
            match sides.last_mut() {
                Some(last) if last.0 == all[at] => last.2 += 1,
                _ => sides.push((all[at], at, 1)),
            }
        }
        let is_twice = |i: usize| sides[..i].iter().any(|side| side.0 == sides[i].0);
        let own = Beyond::Cell(self.mesh.owner[face as usize]);
        let is_bad = |i: usize| is_twice(i) || sides[i].0 == own;
        (!(0..sides.len()).any(is_bad)).then_some(sides)
    }
}

/// A mesh with layers.
#[derive(Debug)]
pub(super) struct Inserted {
    pub(super) mesh: PolyMesh,
    /// The face before that each face stands for, [`NONE`] of new ones.
    pub(super) from: Vec<u32>,
    /// The point before of the column of each new point.
    pub(super) column: Vec<u32>,
    /// The cell before, under which each new cell lies.
    pub(super) parent: Vec<u32>,
    /// The face before, on which each new cell lies.
    pub(super) stack: Vec<u32>,
    /// Cells before with a step or another face that has changed, by cell.
    pub(super) stepped: Vec<bool>,
}

/// A face of the mesh in the making.
#[derive(Debug, Clone, Copy)]
struct NewFace {
    owner: u32,
    other: u32,
    start: u32,
    points: u32,
    from: u32,
}

struct Maker<'a> {
    old: Boundary<'a>,
    columns: &'a Columns,
    /// First new point of each column.
    first: Vec<u32>,
    /// First new cell of each face of the boundary with layers.
    cells: Vec<u32>,
    ids: Vec<u32>,
    internal: Vec<NewFace>,
    /// By patch: the faces before, then sides.
    rims: Vec<[Vec<NewFace>; 2]>,
    stepped: Vec<bool>,
}

/// Inserts layers. The mesh has no patches, or those of its boundary.
pub(super) fn insert(old: Boundary<'_>, columns: &Columns) -> Inserted {
    let mesh = old.mesh;
    let mut points = mesh.points.len() as u32;
    let first = columns.list.iter().map(|column| {
        points += column.points;
        points - column.points
    });
    let first = first.collect();
    let mut count = mesh.cells as u32;
    let cells = old.kinds.iter().map(|&kind| {
        let layers = if let Kind::Layer(n) = kind { n } else { 0 };
        count += layers;
        count - layers
    });
    let cells = cells.collect();
    let mut maker = Maker {
        old,
        columns,
        first,
        cells,
        ids: Vec::with_capacity(2 * mesh.face_points.len()),
        internal: Vec::with_capacity(2 * mesh.faces()),
        rims: vec![[Vec::new(), Vec::new()]; mesh.patches.len().max(1)],
        stepped: vec![false; mesh.cells],
    };
    for face in 0..mesh.faces() as u32 {
        maker.put_old(face);
        if (face as usize) < mesh.internal_faces() {
            continue;
        }
        match old.kind(face) {
            Kind::Layer(layers) => maker.put_stack(face, layers),
            Kind::Keep => maker.put_strips(face),
            Kind::Slide => {}
        }
    }
    maker.finish(count)
}

impl Maker<'_> {
    fn column(&self, point: u32) -> Option<(u32, Column)> {
        let id = self.columns.of[point as usize];
        (id != NONE).then(|| (self.first[id as usize], self.columns.list[id as usize]))
    }

    /// The point of a column at a height, counted from the wall.
    fn at(&self, point: u32, height: u32) -> u32 {
        match self.column(point) {
            Some((first, column)) if height < column.points => first + height,
            _ => point,
        }
    }

    /// Where a stack of some layers has its border above so many of them.
    fn height(&self, point: u32, border: u32, layers: u32) -> u32 {
        match border {
            0 => 0,
            _ => self.column(point).map_or(0, |(_, column)| column.points) + border - layers,
        }
    }

    fn patch(&self, face: u32) -> usize {
        let patches = &self.old.mesh.patches;
        let of = |p: &PolyPatch| p.start + p.faces <= face as usize;
        patches.partition_point(of).min(self.rims.len() - 1)
    }

    fn begin(&self, owner: u32, other: u32, from: u32) -> NewFace {
        let start = self.ids.len() as u32;
        NewFace {
            owner,
            other,
            start,
            points: 0,
            from,
        }
    }

    fn end(&self, face: NewFace) -> NewFace {
        let points = self.ids.len() as u32 - face.start;
        NewFace { points, ..face }
    }

    /// A face of the mesh before, with the points that it has now.
    fn put_old(&mut self, face: u32) {
        let mesh = self.old.mesh;
        let internal = mesh.internal_faces();
        let is_internal = (face as usize) < internal;
        let kind = match is_internal {
            true => Kind::Slide,
            false => self.old.kind(face),
        };
        let owner = mesh.owner[face as usize];
        let other = mesh.neighbour.get(face as usize).copied().unwrap_or(NONE);
        let mut made = self.begin(owner, other, face);
        let ids = mesh.face(face as usize);
        let n = ids.len();
        let mut has_changed = false;
        for (at, &p) in ids.iter().enumerate() {
            let Some((first, column)) = self.column(p) else {
                self.ids.push(p);
                continue;
            };
            if kind != Kind::Slide {
                self.ids.push(first);
                has_changed = true;
                continue;
            }
            let before = self.old.goes_down(ids[(at + n - 1) % n], p);
            let after = self.old.goes_down(p, ids[(at + 1) % n]);
            has_changed |= before || after;
            match (before, after) {
                (false, false) => self.ids.push(p),
                (true, true) => self.ids.push(first),
                (true, false) => {
                    self.ids.extend(first..first + column.points);
                    self.ids.push(p);
                }
                (false, true) => {
                    self.ids.push(p);
                    self.ids.extend((first..first + column.points).rev());
                }
            }
        }
        made = self.end(made);
        if has_changed && !matches!(kind, Kind::Layer(_)) {
            self.stepped[owner as usize] = true;
            if is_internal {
                self.stepped[other as usize] = true;
            }
        }
        match (is_internal, kind) {
            (true, _) => self.internal.push(made),
            (false, Kind::Layer(layers)) => {
                // The wall of the lowest prism.
                made.owner = self.cells[face as usize - internal] + layers - 1;
                made.from = NONE;
                let patch = self.patch(face);
                self.rims[patch][0].push(made);
            }
            _ => {
                let patch = self.patch(face);
                self.rims[patch][0].push(made);
            }
        }
    }

    /// The faces of a stack, but for its wall.
    fn put_stack(&mut self, face: u32, layers: u32) {
        let mesh = self.old.mesh;
        let base = self.cells[face as usize - mesh.internal_faces()];
        let ids = mesh.face(face as usize);
        for border in (1..=layers).rev() {
            let (above, below) = match border == layers {
                true => (mesh.owner[face as usize], base),
                false => (base + layers - 1 - border, base + layers - border),
            };
            let made = self.begin(above, below, NONE);
            for &p in ids {
                let id = self.at(p, self.height(p, border, layers));
                self.ids.push(id);
            }
            let made = self.end(made);
            self.internal.push(made);
        }
        // Plans have none that is no disc.
        for (beyond, first, count) in self.old.sides(face).unwrap_or_default() {
            let path: Vec<u32> = (first..=first + count)
                .map(|at| ids[at % ids.len()])
                .collect();
            self.put_side(face, layers, beyond, &path);
        }
    }

    /// The sides of a stack along a path of its outline.
    fn put_side(&mut self, face: u32, layers: u32, beyond: Beyond, path: &[u32]) {
        let internal = self.old.mesh.internal_faces();
        let height = |&p: &u32| self.column(p).map_or(0, |(_, column)| column.points);
        let steps = path.iter().map(height).min().unwrap_or(0);
        let mut others = None;
        match beyond {
            Beyond::Stack(other) => {
                if other < face {
                    return;
                }
                if let Kind::Layer(n) = self.old.kind(other) {
                    others = Some((self.cells[other as usize - internal], n));
                }
            }
            Beyond::Cell(cell) => self.stepped[cell as usize] = true,
            Beyond::Patch(_) => {}
        }
        // Of a step, from the wall.
        let cell = |base: u32, layers: u32, step: u32| {
            base + layers - 1 - (step + layers).saturating_sub(steps)
        };
        let base = self.cells[face as usize - internal];
        for step in 0..steps {
            let own = cell(base, layers, step);
            let other = match (beyond, others) {
                (Beyond::Cell(cell), _) => cell,
                (_, Some((base, n))) => cell(base, n, step),
                _ => NONE,
            };
            let made = self.begin(own.min(other), own.max(other), NONE);
            self.put_outline(path, steps, step);
            let made = self.end(made);
            if other < own {
                self.ids[made.start as usize..].reverse();
            }
            match beyond {
                Beyond::Patch(of) => {
                    let patch = self.patch(of);
                    self.rims[patch][1].push(made);
                }
                _ => self.internal.push(made),
            }
        }
    }

    /// Strips at the edges of a face that keeps its points, between its cell and that of another such face.
    fn put_strips(&mut self, face: u32) {
        let mesh = self.old.mesh;
        let own = mesh.owner[face as usize];
        let ids = mesh.face(face as usize);
        for (at, &p) in ids.iter().enumerate() {
            let q = ids[(at + 1) % ids.len()];
            let Some((beyond, other)) = self.old.strip(face, p, q) else {
                continue;
            };
            if self.old.kind(beyond) == Kind::Keep && beyond < face {
                continue;
            }
            let height = |p: u32| self.column(p).map_or(0, |(_, column)| column.points);
            let steps = height(p).min(height(q));
            for step in 0..steps {
                let made = self.begin(own.min(other), own.max(other), NONE);
                self.put_outline(&[p, q], steps, step);
                let made = self.end(made);
                if other < own {
                    self.ids[made.start as usize..].reverse();
                }
                self.stepped[own as usize] = true;
                match other {
                    NONE => {
                        let patch = self.patch(beyond);
                        self.rims[patch][1].push(made);
                    }
                    _ => {
                        self.stepped[other as usize] = true;
                        self.internal.push(made);
                    }
                }
            }
        }
    }

    /// The outline of a side, seen from outside the stack: down along the path, and back above.
    fn put_outline(&mut self, path: &[u32], steps: u32, step: u32) {
        let low = |maker: &Self, p: u32| maker.height(p, step, steps);
        let high = |maker: &Self, p: u32| maker.height(p, step + 1, steps);
        let (from, to) = (path[0], path[path.len() - 1]);
        for &p in path.iter().rev() {
            let id = self.at(p, low(self, p));
            self.ids.push(id);
        }
        for height in low(self, from) + 1..high(self, from) {
            let id = self.at(from, height);
            self.ids.push(id);
        }
        for &p in path {
            let id = self.at(p, high(self, p));
            self.ids.push(id);
        }
        for height in (low(self, to) + 1..high(self, to)).rev() {
            let id = self.at(to, height);
            self.ids.push(id);
        }
    }

    fn finish(self, cells: u32) -> Inserted {
        let old = self.old.mesh;
        let mut points = old.points.clone();
        let mut column = Vec::new();
        for (p, &id) in self.columns.of.iter().enumerate() {
            if id == NONE {
                continue;
            }
            let Column {
                base,
                points: n,
                rule,
            } = self.columns.list[id as usize];
            let top = old.points[p];
            let heights = &self.columns.heights[rule as usize];
            column.extend((0..n).map(|_| p as u32));
            points.extend(upper(heights, n).map(|share| -> [f64; 3] {
                std::array::from_fn(|a| base[a] + share * (top[a] - base[a]))
            }));
        }
        let mut parent = Vec::with_capacity(cells as usize - old.cells);
        let mut stack = Vec::with_capacity(parent.capacity());
        for (at, &kind) in self.old.kinds.iter().enumerate() {
            if let Kind::Layer(layers) = kind {
                let face = old.internal_faces() + at;
                parent.extend((0..layers).map(|_| old.owner[face]));
                stack.extend((0..layers).map(|_| face as u32));
            }
        }
        let mut internal = self.internal;
        internal.par_sort_unstable_by_key(|face| (face.owner, face.other, face.start));
        let mut mesh = PolyMesh {
            points,
            neighbour: internal.iter().map(|face| face.other).collect(),
            cells: cells as usize,
            patches: old.patches.clone(),
            ..PolyMesh::default()
        };
        let mut all = internal;
        for (at, [before, sides]) in self.rims.into_iter().enumerate() {
            if let Some(patch) = mesh.patches.get_mut(at) {
                patch.start = all.len();
                patch.faces = before.len() + sides.len();
            }
            all.extend(before);
            all.extend(sides);
        }
        mesh.face_start.push(0);
        for face in &all {
            let range = face.start as usize..(face.start + face.points) as usize;
            mesh.face_points.extend_from_slice(&self.ids[range]);
            mesh.face_start.push(mesh.face_points.len() as u32);
        }
        mesh.owner = all.iter().map(|face| face.owner).collect();
        Inserted {
            from: all.iter().map(|face| face.from).collect(),
            mesh,
            column,
            parent,
            stack,
            stepped: self.stepped,
        }
    }
}
