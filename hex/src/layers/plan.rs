//! Which faces get layers, and where their points go.

use super::direction::{Hold, most_normal, unit};
use super::insert::{Boundary, Column, Columns, Edges, Kind, NONE};
use super::{Dropped, LayerRule};
use crate::geometry::{add, dot, face_of, norm, scale};
use crate::snap::{Near, Region};
use crate::{PolyMesh, PolyPatch};
use std::cmp::Reverse;
use std::collections::BTreeMap;

type Point = [f64; 3];

/// Cosine between the direction of a point and the normal of a face without layers beside it, which the layers must not hide.
const LEAST_OVER_KEPT: f64 = 0.5;
/// Cosine between normals of a wall with layers and a face of another patch, above which the patch goes on where the wall
/// ends, and no point slides in it.
const FLAT: f64 = 0.7;
/// Turns of evening out directions, and the share of its smallest cosine that a direction keeps.
const TURNS: usize = 3;
const KEPT_COSINE: f64 = 0.95;
/// Smallest cosine of directions on one side of an edge, and that of normals around a point on a flat part.
const SMOOTH: f64 = 0.85;
const FLAT_COSINE: f64 = 0.9999;
/// Types of patches in whose faces points do not slide.
const STIFF: [&str; 5] = ["cyclic", "cyclicAMI", "empty", "wedge", "processor"];

/// A point of walls with layers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wall {
    pub(super) point: u32,
    /// Unit vector into the mesh.
    direction: Point,
    /// The smallest cosine that faces of layers around it leave.
    cosine: f64,
    hold: Hold,
    /// Thickness of all layers, normal to the wall.
    height: f64,
    /// How far the point goes along its direction.
    reach: f64,
    /// The rule of its column.
    rule: u32,
    /// Whether its faces may have layers.
    can: bool,
}

/// A plan in the numbers of a region.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    rules: &'a [Option<LayerRule>],
    /// First face of the boundary.
    first: usize,
    /// By face of the boundary, those that lead out of the region included.
    pub(super) kinds: Vec<Kind>,
    /// By face: its patch, thickness wanted, and unit normal into the mesh.
    patch: Vec<u32>,
    height: Vec<f64>,
    normal: Vec<Point>,
    /// Why a face lost its layers.
    pub(super) dropped: Vec<Option<Dropped>>,
    /// Faces at each point of walls with layers: all of them, and those of the boundary.
    around: Near,
    at_rim: Near,
    edges: Edges,
    /// Points of walls, ascending, and the number of each point of the region among them.
    pub(super) walls: Vec<Wall>,
    pub(super) number: Vec<u32>,
    /// Cells of which a face lost its layers.
    stripped: Vec<bool>,
    pub(super) hold: Vec<Hold>,
}

fn patch_of(whole: &PolyMesh, face: u32) -> usize {
    let of = |p: &PolyPatch| p.start + p.faces <= face as usize;
    whole.patches.partition_point(of)
}

/// The edge of the cell behind a face of the boundary.
fn cell_size(whole: &PolyMesh, face: u32) -> f64 {
    match &whole.levels {
        Some(levels) => {
            let level = levels.cell[whole.owner[face as usize] as usize];
            levels.edge * 0.5f64.powi(level.into())
        }
        None => norm(face_of(&whole.points, whole.face(face as usize)).area).sqrt(),
    }
}

impl<'a> Plan<'a> {
    pub(super) fn new(whole: &PolyMesh, region: &Region, rules: &'a [Option<LayerRule>]) -> Self {
        let mesh = &region.mesh;
        let first = mesh.internal_faces();
        let faces = mesh.faces() - first;
        let mut kinds = vec![Kind::Slide; faces];
        let (mut patch, mut height) = (vec![NONE; faces], vec![0.0; faces]);
        let mut normal = vec![[0.0; 3]; faces];
        for (at, &face) in region.rim.iter().enumerate() {
            let of = patch_of(whole, face);
            patch[at] = of as u32;
            let area = face_of(&mesh.points, mesh.face(first + at)).area;
            normal[at] = unit(scale(area, -1.0)).unwrap_or([0.0; 3]);
            kinds[at] = match &rules[of] {
                Some(rule) => {
                    height[at] = rule.total(cell_size(whole, face));
                    Kind::Layer(rule.layers)
                }
                None if STIFF.contains(&whole.patches[of].kind.as_str()) => Kind::Keep,
                None => Kind::Slide,
            };
        }
        let is_wall = |p: u32| region.is_wall(p as usize);
        let walls = (0..mesh.points.len() as u32).filter(|&p| is_wall(p));
        let walls: Vec<u32> = walls.collect();
        let mut number = vec![NONE; mesh.points.len()];
        for (at, &p) in walls.iter().enumerate() {
            number[p as usize] = at as u32;
        }
        let touches = |face: &u32| mesh.face(*face as usize).iter().any(|&p| is_wall(p));
        let near: Vec<u32> = (0..mesh.faces() as u32).filter(touches).collect();
        let rim: Vec<u32> = near
            .iter()
            .copied()
            .filter(|&face| face as usize >= first)
            .collect();
        let mut plan = Self {
            rules,
            first,
            kinds,
            patch,
            height,
            normal,
            dropped: vec![None; faces],
            around: Near::faces(mesh, &near),
            at_rim: Near::faces(mesh, &rim),
            edges: Edges::new(mesh, is_wall),
            walls: Vec::new(),
            number,
            stripped: vec![false; mesh.cells],
            hold: Vec::new(),
        };
        plan.find_kept(mesh);
        plan.hold = plan.holds(mesh);
        plan.walls = walls.iter().map(|&p| plan.wall(mesh, p)).collect();
        plan.even_out(mesh);
        plan.prune(mesh);
        plan
    }

    fn boundary<'b>(&'b self, mesh: &'b PolyMesh, has_column: &'b [bool]) -> Boundary<'b> {
        Boundary {
            has_column,
            mesh,
            kinds: &self.kinds,
            edges: &self.edges,
        }
    }

    fn is_layer(&self, face: u32) -> bool {
        matches!(self.kinds[face as usize - self.first], Kind::Layer(_))
    }

    fn normals(&self, point: u32, of: impl Fn(u32) -> bool) -> Vec<Point> {
        let faces = self.at_rim.at(point as usize).iter();
        let faces = faces.filter(|&&face| of(face));
        faces
            .map(|&face| self.normal[face as usize - self.first])
            .collect()
    }

    /// Faces of other patches that go on where a wall with layers ends keep their points.
    fn find_kept(&mut self, mesh: &PolyMesh) {
        let goes_on = |at: usize| {
            mesh.face(self.first + at).iter().any(|&p| {
                let around = self.normals(p, |face| self.is_layer(face));
                around.iter().any(|&n| dot(n, self.normal[at]) > FLAT)
            })
        };
        let kept: Vec<usize> = (0..self.kinds.len())
            .filter(|&at| self.kinds[at] == Kind::Slide && self.patch[at] != NONE && goes_on(at))
            .collect();
        kept.into_iter().for_each(|at| self.kinds[at] = Kind::Keep);
    }

    /// What faces of other patches leave to each point of the region.
    fn holds(&self, mesh: &PolyMesh) -> Vec<Hold> {
        let mut hold = vec![Hold::Free; mesh.points.len()];
        for (at, kind) in self.kinds.iter().enumerate() {
            if matches!(kind, Kind::Layer(_)) || self.patch[at] == NONE {
                continue;
            }
            for &p in mesh.face(self.first + at) {
                let of = &mut hold[p as usize];
                *of = match kind {
                    Kind::Keep => Hold::Fixed,
                    _ => of.within(self.normal[at]),
                };
            }
        }
        hold
    }

    fn wall(&self, mesh: &PolyMesh, point: u32) -> Wall {
        let layers = self.normals(point, |face| self.is_layer(face));
        let of_slide = |face: u32| self.kinds[face as usize - self.first] == Kind::Slide;
        let slides = self.normals(point, of_slide);
        let hold = slides.iter().fold(Hold::Free, |hold, &n| hold.within(n));
        let found = most_normal(&layers, hold);
        let (direction, cosine) = found.unwrap_or(([0.0; 3], -1.0));
        let (mut height, mut rule, mut angle) = (f64::INFINITY, NONE, 180.0f64);
        for &face in self.at_rim.at(point as usize) {
            let at = face as usize - self.first;
            let of = self.patch[at];
            let Some(Some(given)) = self.rules.get(of as usize) else {
                continue;
            };
            height = height.min(self.height[at]);
            angle = angle.min(given.angle);
            let most = self.rules.get(rule as usize).and_then(Option::as_ref);
            if most.is_none_or(|most| most.layers < given.layers) {
                rule = of;
            }
        }
        let mean = layers.iter().map(|&n| dot(n, direction)).sum::<f64>() / layers.len() as f64;
        Wall {
            point,
            direction,
            cosine,
            hold,
            height,
            reach: height / mean,
            rule,
            can: self.is_fan(mesh, point) && cosine > (0.5 * angle).to_radians().cos().max(0.05),
        }
    }

    /// Whether the faces of the boundary around a point are one fan.
    fn is_fan(&self, mesh: &PolyMesh, point: u32) -> bool {
        let faces = self.at_rim.at(point as usize);
        let ends = |face: u32| {
            let ids = mesh.face(face as usize);
            let n = ids.len();
            let at = ids.iter().position(|&p| p == point).unwrap_or(0);
            [ids[(at + n - 1) % n], ids[(at + 1) % n]]
        };
        // Across each edge there is one other face.
        let across = |face: u32, end: u32| {
            let mut others = self.edges.at(point, end).filter(|&other| other != face);
            let other = others.next()?;
            others.next().is_none().then_some(other)
        };
        let Some(&start) = faces.first() else {
            return false;
        };
        let (mut face, mut end, mut count) = (start, ends(start)[1], 0);
        loop {
            count += 1;
            let Some(next) = across(face, end) else {
                return false;
            };
            let [a, b] = ends(next);
            (face, end) = (next, if a == end { b } else { a });
            if face == start || count > faces.len() {
                return face == start && count == faces.len();
            }
        }
    }

    /// Directions become like those of the neighbours on the wall, but for flat parts and across edges, as far as faces are seen as well.
    fn even_out(&mut self, mesh: &PolyMesh) {
        for _ in 0..TURNS {
            let turn = |wall: &Wall| {
                let layers = self.normals(wall.point, |face| self.is_layer(face));
                let mut sum = wall.direction;
                for &face in self.at_rim.at(wall.point as usize) {
                    for &p in mesh.face(face as usize) {
                        let n = self.number[p as usize];
                        let Some(other) = self.walls.get(n as usize) else {
                            continue;
                        };
                        if p != wall.point
                            && other.can
                            && dot(other.direction, wall.direction) > SMOOTH
                        {
                            sum = add(sum, scale(other.direction, 0.5));
                        }
                    }
                }
                let Some(direction) = unit(wall.hold.allow(sum)) else {
                    return *wall;
                };
                let least = layers
                    .iter()
                    .map(|&n| dot(n, direction))
                    .fold(1.0, f64::min);
                if !wall.can || wall.cosine > FLAT_COSINE || least < KEPT_COSINE * wall.cosine {
                    return *wall;
                }
                let mean = layers.iter().map(|&n| dot(n, direction)).sum::<f64>();
                let reach = wall.height * layers.len() as f64 / mean;
                Wall {
                    direction,
                    reach,
                    ..*wall
                }
            };
            self.walls = self.walls.iter().map(turn).collect();
        }
    }

    /// Takes layers from a face.
    pub(super) fn strip(&mut self, mesh: &PolyMesh, face: u32, why: Dropped) {
        let at = face as usize - self.first;
        if matches!(self.kinds[at], Kind::Layer(_)) {
            self.kinds[at] = Kind::Keep;
            self.dropped[at] = Some(why);
            self.stripped[mesh.owner[face as usize] as usize] = true;
        }
    }

    /// Gives a face half as many layers of the same thickness.
    pub(super) fn halve(&mut self, mesh: &PolyMesh, face: u32) {
        let at = face as usize - self.first;
        match self.kinds[at] {
            Kind::Layer(layers) if layers > 1 => self.kinds[at] = Kind::Layer(layers / 2),
            _ => self.strip(mesh, face, Dropped::Quality),
        }
    }

    /// Takes layers from all faces around a point.
    pub(super) fn strip_around(&mut self, mesh: &PolyMesh, point: u32, why: Dropped) {
        let faces = self.at_rim.at(point as usize).to_vec();
        faces
            .into_iter()
            .for_each(|face| self.strip(mesh, face, why));
    }

    /// Takes layers from faces until all that is left can have them.
    pub(super) fn prune(&mut self, mesh: &PolyMesh) {
        loop {
            let layers = (self.first..mesh.faces()).map(|face| face as u32);
            let layers: Vec<u32> = layers.filter(|&face| self.is_layer(face)).collect();
            let why = |&face: &u32| {
                let ids = mesh.face(face as usize);
                let can = |&p: &u32| self.walls[self.number[p as usize] as usize].can;
                if !ids.iter().all(can) {
                    return Some(Dropped::Shape);
                }
                let is_good = !self.stripped[mesh.owner[face as usize] as usize]
                    && ids.iter().all(|&p| self.is_clear(p))
                    && self.boundary(mesh, &[]).sides(face).is_some();
                (!is_good).then_some(Dropped::Beside)
            };
            let bad: Vec<(u32, Dropped)> = layers
                .iter()
                .filter_map(|face| Some((*face, why(face)?)))
                .collect();
            for &(face, why) in &bad {
                self.strip(mesh, face, why);
            }
            if !bad.is_empty() {
                continue;
            }
            let torn = self.torn(mesh);
            if torn.is_empty() {
                return;
            }
            for p in torn {
                self.strip_around(mesh, p, Dropped::Beside);
            }
        }
    }

    /// Whether no face without layers at a point is behind its column.
    fn is_clear(&self, point: u32) -> bool {
        let kept = |face: u32| self.kinds[face as usize - self.first] == Kind::Keep;
        let direction = self.walls[self.number[point as usize] as usize].direction;
        let kept = self.normals(point, kept);
        kept.iter().all(|&n| dot(n, direction) >= LEAST_OVER_KEPT)
    }

    /// Points at whose column a cell would pass more than once.
    fn torn(&self, mesh: &PolyMesh) -> Vec<u32> {
        let mut has_column = vec![false; mesh.points.len()];
        for wall in &self.walls {
            has_column[wall.point as usize] = self.has_column(wall);
        }
        let boundary = self.boundary(mesh, &has_column);
        let mut torn = Vec::new();
        for wall in &self.walls {
            let p = wall.point;
            let rim = self.at_rim.at(p as usize);
            let has_layer = rim.iter().any(|&face| self.is_layer(face));
            let is_kept = |&face: &u32| boundary.kind(face) == Kind::Keep;
            if !has_layer || !rim.iter().any(is_kept) {
                continue;
            }
            let mut passes: BTreeMap<u32, u32> = BTreeMap::new();
            for &face in self.around.at(p as usize) {
                let ids = mesh.face(face as usize);
                let n = ids.len();
                let at = ids.iter().position(|&q| q == p).unwrap_or(0);
                let ends = [ids[(at + n - 1) % n], ids[(at + 1) % n]];
                let is_rim = face as usize >= self.first;
                let kind = if is_rim {
                    boundary.kind(face)
                } else {
                    Kind::Slide
                };
                match kind {
                    Kind::Slide => {
                        if boundary.goes_down(ends[0], p) != boundary.goes_down(p, ends[1]) {
                            let other = mesh.neighbour.get(face as usize);
                            for &cell in std::iter::once(&mesh.owner[face as usize]).chain(other) {
                                *passes.entry(cell).or_default() += 1;
                            }
                        }
                    }
                    Kind::Keep => {
                        let beside = |end: &u32| {
                            let mut others = self.edges.at(p, *end);
                            others.any(|other| other != face && self.is_layer(other))
                                || boundary.strip(face, p, *end).is_some()
                        };
                        let count = ends.iter().filter(|end| beside(end)).count();
                        *passes.entry(mesh.owner[face as usize]).or_default() += count as u32;
                    }
                    Kind::Layer(_) => {}
                }
            }
            if passes.values().any(|&count| count > 2) {
                torn.push(p);
            }
        }
        torn
    }

    /// Whether a point has a column.
    pub(super) fn has_column(&self, wall: &Wall) -> bool {
        let faces = self.at_rim.at(wall.point as usize);
        faces.iter().any(|&face| self.is_layer(face))
    }

    /// Points of walls and how far they go.
    pub(super) fn moves(&self) -> Vec<(u32, Point)> {
        let to = |wall: &Wall| match self.has_column(wall) {
            true => scale(wall.direction, wall.reach),
            false => [0.0; 3],
        };
        self.walls
            .iter()
            .map(|wall| (wall.point, to(wall)))
            .collect()
    }

    /// The least share of its way that a point may go.
    pub(super) fn least(&self, wall: &Wall) -> f64 {
        let rule = self.rules.get(wall.rule as usize).and_then(Option::as_ref);
        rule.map_or(0.0, |rule| rule.least)
    }

    /// Columns, by the places of points before they moved; `id` gives the numbers of points in the mesh that they are for.
    pub(super) fn columns(
        &self,
        before: &[Point],
        points: usize,
        id: impl Fn(u32) -> u32,
    ) -> Columns {
        let mut columns = Columns {
            of: vec![NONE; points],
            list: Vec::new(),
            heights: self
                .rules
                .iter()
                .map(|rule| rule.as_ref().map_or(Vec::new(), LayerRule::heights))
                .collect(),
        };
        for wall in &self.walls {
            let faces = self.at_rim.at(wall.point as usize).iter();
            // That of most layers.
            let best = faces
                .filter_map(|&face| {
                    let at = face as usize - self.first;
                    match self.kinds[at] {
                        Kind::Layer(layers) => Some((layers, Reverse(self.patch[at]))),
                        _ => None,
                    }
                })
                .max();
            let Some((layers, Reverse(rule))) = best else {
                continue;
            };
            columns.of[id(wall.point) as usize] = columns.list.len() as u32;
            columns.list.push(Column {
                base: before[wall.point as usize],
                points: layers,
                rule,
            });
        }
        columns
    }

    /// The layers of a face of a patch, and their thickness, in m and relative to that wanted, by the shares that points have
    /// moved.
    pub(super) fn got(&self, mesh: &PolyMesh, at: usize, share: &[f64]) -> Option<(u32, [f64; 2])> {
        let Kind::Layer(layers) = self.kinds[at] else {
            return None;
        };
        let ids = mesh.face(self.first + at);
        let each = ids.iter().map(|&p| {
            let wall = &self.walls[self.number[p as usize] as usize];
            share[p as usize] * wall.height
        });
        let mean = each.sum::<f64>() / ids.len() as f64;
        Some((layers, [mean, mean / self.height[at]]))
    }

    pub(super) fn patch(&self, at: usize) -> usize {
        self.patch[at] as usize
    }
}
