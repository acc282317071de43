//! Points near walls follow them, and all move back where cells would become bad.

use super::recover::recover;
use super::walls::{Aims, Bond};
use super::{Near, REACH, Region, SnapCounts};
use crate::geometry::{add, cell_of, face_of, scale, sub};
use crate::quality::Shape;
use crate::{CellGeometry, FaceGeometry, QualityLimits};
use rayon::prelude::*;

/// Jacobi steps of the displacements around the walls.
const STEPS: usize = 12;
/// Weight of points nearer to the wall if there are sharp edges, so that faces beside edges of chains that turn do so with them.
const PULL: f64 = 2.0;
/// What is left of a displacement after a round that shrinks it, and number of such rounds; later ones undo it.
const LESS: f64 = 0.7;
const SHRINKS: u64 = 8;
/// Rounds that move points of bad faces only; later ones move those of the cells beside them too.
const NARROW: u64 = 6;

/// Points whose displacement is given, and what the others may do.
pub(crate) struct Given<'a> {
    /// Points of the region and their displacements.
    pub(crate) moves: Vec<(u32, [f64; 3])>,
    /// Weight of points nearer to the wall in the mean that a point follows; others have 1.
    pub(crate) pull: f64,
    /// The part of a displacement that a point may follow.
    pub(crate) hold: &'a (dyn Fn(usize, [f64; 3]) -> [f64; 3] + Sync),
    /// Share of its volume that each cell keeps at least.
    pub(crate) least_volume: f64,
    /// Limits of what is beyond the others from the start; without them it may only not turn inside out.
    pub(crate) hard: Option<QualityLimits>,
}

/// Displacements of all points of the region.
fn displacements(region: &Region, given: &Given<'_>) -> Vec<[f64; 3]> {
    let points = &region.mesh.points;
    let mut moves = vec![[0.0; 3]; points.len()];
    let mut fixed: Vec<bool> = region.layer.iter().map(|&l| l >= REACH).collect();
    for &(p, to) in &given.moves {
        moves[p as usize] = to;
        fixed[p as usize] = true;
    }
    let mean = |moves: &[[f64; 3]], p: usize, counts: &dyn Fn(usize) -> bool| {
        let near = region
            .near
            .at(p)
            .iter()
            .map(|&q| q as usize)
            .filter(|&q| counts(q));
        let (sum, weights) = near.fold(([0.0; 3], 0.0), |(sum, weights), q| {
            let is_inward = region.layer[q] < region.layer[p];
            let weight = if is_inward { given.pull } else { 1.0 };
            (add(sum, scale(moves[q], weight)), weights + weight)
        });
        (given.hold)(p, scale(sum, 1.0 / f64::max(weights, 1.0)))
    };
    // A start: layer by layer outwards, fading.
    for layer in 0..REACH {
        let fade = 1.0 - 1.0 / f64::from(REACH + 1 - layer);
        let made: Vec<(usize, [f64; 3])> = (0..points.len())
            .into_par_iter()
            .filter(|&p| region.layer[p] == layer && !fixed[p])
            .map(|p| {
                let inward = |q: usize| region.layer[q] < layer || fixed[q] && region.layer[q] == 0;
                (p, scale(mean(&moves, p, &inward), fade))
            })
            .collect();
        made.into_iter().for_each(|(p, to)| moves[p] = to);
    }
    for _ in 0..STEPS {
        moves = (0..points.len())
            .into_par_iter()
            .map(|p| match fixed[p] {
                true => moves[p],
                false => mean(&moves, p, &|_| true),
            })
            .collect();
    }
    moves
}

/// The geometry of the region while its points move.
pub(crate) struct State<'a> {
    pub(crate) region: &'a mut Region,
    start: Vec<u32>,
    of_cell: Vec<u32>,
    faces: Vec<FaceGeometry>,
    cells: Vec<CellGeometry>,
    /// Cells at each point.
    at_point: Near,
    /// Places of points before, their displacements, and the shares of these that they have moved.
    pub(crate) origin: Vec<[f64; 3]>,
    moves: Vec<[f64; 3]>,
    pub(crate) share: Vec<f64>,
    /// Volumes that cells keep.
    least: Vec<f64>,
    limits: &'a QualityLimits,
    hard: Option<QualityLimits>,
    excused: Excused,
}

impl<'a> State<'a> {
    pub(crate) fn new(
        region: &'a mut Region,
        given: &Given<'_>,
        limits: &'a QualityLimits,
    ) -> Self {
        let moves = displacements(region, given);
        // Nothing asks for neighbours from here on.
        region.near = Near::default();
        let origin = region.mesh.points.clone();
        let (start, of_cell) = region.mesh.cell_faces();
        let none = [0.0; 3];
        let mut state = Self {
            faces: vec![
                FaceGeometry {
                    center: none,
                    area: none
                };
                region.mesh.faces()
            ],
            cells: vec![
                CellGeometry {
                    center: none,
                    volume: 0.0
                };
                region.mesh.cells
            ],
            at_point: Near::cells(&region.mesh),
            share: vec![1.0; origin.len()],
            least: Vec::new(),
            hard: given.hard,
            excused: Excused::default(),
            region,
            start,
            of_cell,
            origin,
            moves,
            limits,
        };
        let all: Vec<u32> = (0..state.cells.len() as u32).collect();
        state.update(&all);
        let least = |cell: &CellGeometry| given.least_volume * cell.volume.max(0.0);
        state.least = state.cells.iter().map(least).collect();
        let [faces, cells] = state.bad(&all);
        state.excused = Excused { faces, cells };
        state
    }

    /// Points of the region.
    pub(super) fn points(&self) -> usize {
        self.origin.len()
    }

    /// Whether a point has somewhere to go.
    pub(crate) fn moves(&self, point: u32) -> bool {
        self.moves[point as usize] != [0.0; 3]
    }

    /// Puts points where their shares say. Returns the faces and cells that are bad then, of those around them.
    pub(super) fn place(&mut self, points: &[u32]) -> [Vec<u32>; 2] {
        for &p in points {
            let p = p as usize;
            self.region.mesh.points[p] = add(self.origin[p], scale(self.moves[p], self.share[p]));
        }
        let cells = points.iter().flat_map(|&p| self.at_point.at(p as usize));
        let cells = sorted(cells.copied().collect());
        self.update(&cells);
        self.bad(&cells)
    }

    fn shape(&self) -> Shape<'_> {
        Shape {
            mesh: &self.region.mesh,
            faces: &self.faces,
            cells: &self.cells,
            start: &self.start,
            of_cell: &self.of_cell,
        }
    }

    fn faces_of(&self, cell: usize) -> &[u32] {
        &self.of_cell[self.start[cell] as usize..self.start[cell + 1] as usize]
    }

    /// Brings the geometry of some cells and of their faces up to date.
    fn update(&mut self, cells: &[u32]) {
        let mesh = &self.region.mesh;
        let mut of_cells: Vec<u32> = cells
            .par_iter()
            .flat_map_iter(|&cell| self.faces_of(cell as usize).iter().copied())
            .collect();
        of_cells.par_sort_unstable();
        of_cells.dedup();
        let faces: Vec<FaceGeometry> = of_cells
            .par_iter()
            .map(|&face| face_of(&mesh.points, mesh.face(face as usize)))
            .collect();
        for (&face, made) in of_cells.iter().zip(faces) {
            self.faces[face as usize] = made;
        }
        let made: Vec<CellGeometry> = cells
            .par_iter()
            .map(|&cell| {
                let owns = |f: u32| mesh.owner[f as usize] == cell;
                cell_of(
                    |f| self.faces[f as usize],
                    self.faces_of(cell as usize),
                    owns,
                )
            })
            .collect();
        for (&cell, made) in cells.iter().zip(made) {
            self.cells[cell as usize] = made;
        }
    }

    /// Bad faces, and bad cells, among some cells and their faces; of excused ones only those that are inside out.
    fn bad(&self, cells: &[u32]) -> [Vec<u32>; 2] {
        let (shape, limits, excused) = (self.shape(), self.limits, &self.excused);
        let cosine = limits.non_orthogonality.to_radians().cos();
        let mut faces: Vec<u32> = cells
            .par_iter()
            .flat_map_iter(|&cell| self.faces_of(cell as usize).iter().copied())
            .filter(|&face| (face as usize) < self.region.cut)
            .filter(|&face| self.hard.is_some() || !self.is_excused(face))
            .collect();
        faces.par_sort_unstable();
        faces.dedup();
        let faces = faces
            .into_par_iter()
            .filter(|&face| {
                let (limits, cosine) = match &self.hard {
                    Some(hard) if self.is_excused(face) => {
                        (hard, hard.non_orthogonality.to_radians().cos())
                    }
                    _ => (limits, cosine),
                };
                !shape.is_good_face(face as usize, limits, cosine)
            })
            .collect();
        let internal = self.region.mesh.internal_faces();
        let inner = |face: usize| face < internal || face >= self.region.cut;
        let bad = |&cell: &u32| {
            let of_cell = self.faces_of(cell as usize);
            self.cells[cell as usize].volume <= self.least[cell as usize]
                || of_cell.iter().any(|&f| !points_out(&shape, f, cell))
                || excused.cells.binary_search(&cell).is_err()
                    && shape.determinant(cell as usize, inner) < limits.determinant
        };
        [faces, cells.par_iter().copied().filter(bad).collect()]
    }

    /// Whether a face was beyond the limits from the start.
    pub(crate) fn is_excused(&self, face: u32) -> bool {
        self.excused.faces.binary_search(&face).is_ok()
    }

    /// The points of bad faces and cells; of the cells beside bad faces too, if `wide`.
    pub(super) fn points_of(&self, [faces, cells]: &[Vec<u32>; 2], wide: bool) -> Vec<u32> {
        let mesh = &self.region.mesh;
        let mut cells = cells.clone();
        let mut of_faces = Vec::new();
        for &face in faces {
            of_faces.push(face);
            if wide {
                cells.push(mesh.owner[face as usize]);
                cells.extend(mesh.neighbour.get(face as usize));
            }
        }
        let of_cells = cells.iter().flat_map(|&cell| self.faces_of(cell as usize));
        of_faces.extend(of_cells);
        let points = of_faces.iter().flat_map(|&face| mesh.face(face as usize));
        sorted(points.copied().collect())
    }
}

/// Faces and cells beyond the limits from the start, ascending.
#[derive(Debug, Default)]
struct Excused {
    faces: Vec<u32>,
    cells: Vec<u32>,
}

fn sorted(mut ids: Vec<u32>) -> Vec<u32> {
    ids.par_sort_unstable();
    ids.dedup();
    ids
}

/// Whether a face points out of a cell that owns it, and into one that does not.
fn points_out(shape: &Shape<'_>, face: u32, cell: u32) -> bool {
    let FaceGeometry { center, area } = shape.faces[face as usize];
    let out = crate::geometry::dot(sub(center, shape.cells[cell as usize].center), area);
    (out > 0.0) == (shape.mesh.owner[face as usize] == cell)
}

/// Moves the points of the region as far as cells keep the limits.
pub(super) fn relax(
    region: &mut Region,
    aims: &Aims,
    limits: &QualityLimits,
    counts: &mut SnapCounts,
) {
    let held = region.held.clone();
    let hold = |p: usize, to: [f64; 3]| {
        std::array::from_fn(|a| if held[p] >> a & 1 == 1 { 0.0 } else { to[a] })
    };
    let bound = aims.points.iter().enumerate();
    let bound = bound.filter(|&(i, _)| aims.bond[i] != Bond::None);
    let from = |p: u32| region.mesh.points[p as usize];
    let has_edges = aims
        .bond
        .iter()
        .any(|b| matches!(b, Bond::Edge | Bond::Corner));
    let given = Given {
        moves: bound
            .map(|(i, &p)| (p, sub(aims.place[i], from(p))))
            .collect(),
        hold: &hold,
        pull: if has_edges { PULL } else { 1.0 },
        least_volume: 0.0,
        hard: None,
    };
    let mut state = State::new(region, &given, limits);
    let Excused { faces, cells } = &state.excused;
    counts.beyond_limits = (faces.len() + cells.len()) as u64;
    let all = (0..state.points() as u32).collect();
    counts.rounds = state.settle(all);
    recover(&mut state);
}

impl State<'_> {
    /// Puts points where their shares say, then moves points back, round by round, until the region keeps the limits. Returns the
    /// number of rounds.
    pub(crate) fn settle(&mut self, mut changed: Vec<u32>) -> u64 {
        let mut rounds = 0;
        while !changed.is_empty() {
            let bad = self.place(&changed);
            let can_move = |p: &u32| self.share[*p as usize] > 0.0 && self.moves(*p);
            changed = self.points_of(&bad, rounds >= NARROW);
            changed.retain(can_move);
            if changed.is_empty() {
                // Points that cannot move back may belong to a bad face: then those around it.
                changed = self.points_of(&bad, true);
                changed.retain(can_move);
            }
            rounds += u64::from(!changed.is_empty());
            for &p in &changed {
                let share = &mut self.share[p as usize];
                *share = if rounds <= SHRINKS {
                    LESS * *share
                } else {
                    0.0
                };
            }
        }
        rounds
    }
}
