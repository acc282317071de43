//! The cells that grains are in: their parts, in a fixed order.

use crate::TwoPhaseError;
use crate::mesh::FlowMesh;
use crate::overlap::part_in_ball;
use crate::velocity::next;
use cutlink_amr::{NONE, dims};
use cutlink_device::memory;
use rayon::prelude::*;
use std::f64::consts::PI;

/// A rigid motion: velocity of the centre, m/s, and angular velocity, rad/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RigidMotion {
    pub(crate) u: [f64; 3],
    pub(crate) w: [f64; 3],
}

impl RigidMotion {
    pub(crate) const REST: Self = Self {
        u: [0.0; 3],
        w: [0.0; 3],
    };

    /// The velocity at an arm from the centre.
    #[inline]
    pub(crate) fn at(&self, arm: [f64; 3], axis: usize) -> f64 {
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        self.u[axis] + (self.w[b] * arm[c] - self.w[c] * arm[b])
    }
}

/// A sphere, as the flow sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ball {
    pub(crate) id: u32,
    pub(crate) centre: [f64; 3],
    pub(crate) radius: f64,
    /// kg/m³.
    pub(crate) density: f64,
}

/// Least part of a cell whose fluid has a velocity of its own. It bounds the conductances between cells of grains.
pub(crate) const LEAST_CLEAR: f64 = 1e-3;

/// A cell that a grain is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GrainCell {
    /// Number in arrays.
    pub(crate) cell: u32,
    /// Its block, for faces.
    pub(crate) block: u32,
    /// The part that is in the grain, 0 to 1.
    pub(crate) part: f64,
    /// From the grain's centre to the cell's, m.
    pub(crate) arm: [f64; 3],
    /// By side, the place of the cell beyond among those of the grain, or [`NONE`].
    pub(crate) beside: [u32; 6],
}

impl GrainCell {
    /// Whether the cell has the grain's velocity: hardly any of it is outside.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.part > 1.0 - LEAST_CLEAR
    }
}

/// The cells of all grains.
#[derive(Debug)]
pub(crate) struct GrainCells {
    /// Cells of each grain begin here in `of`; and their number.
    pub(crate) first: Vec<usize>,
    pub(crate) of: Vec<GrainCell>,
    /// By grain, kg/m³.
    pub(crate) density: Vec<f64>,
    /// The volume of a cell, m³.
    pub(crate) volume: f64,
    /// By cell of the mesh: the part that is fluid, 0 to 1.
    pub(crate) clear: Vec<f64>,
    /// By cell of the mesh: mass of grains over the volume, kg/m³.
    pub(crate) mass: Vec<f64>,
    /// Cells with fluid and grains, ascending: their number in arrays, and where their entries end.
    pub(crate) cut: Vec<(u32, usize)>,
    /// Of these cells: grain, and place in `of`.
    pub(crate) entries: Vec<(u32, u32)>,
    /// An acceleration of all faces, m/s².
    pub(crate) drive: [f64; 3],
}

/// What errors of memory call the cells.
const WHAT: &str = "cells of grains";

/// The part of a grain's volume that has to be in cells of fluid.
const LEAST: f64 = 0.5;

impl GrainCells {
    /// The cells of balls. Cost: 20 ns for each cell at a surface; passes over the mesh.
    ///
    /// # Errors
    /// A ball on a coarse level; one that has left the fluid; memory.
    pub(crate) fn new<const D: usize>(
        mesh: &FlowMesh<D>,
        roots: &[u32],
        balls: &[Ball],
    ) -> Result<Self, TwoPhaseError> {
        let found: Result<Vec<Vec<GrainCell>>, TwoPhaseError> = (balls.par_iter())
            .map(|ball| cells_of(mesh, roots, ball))
            .collect();
        let found = found?;
        let total = found.iter().map(Vec::len).sum();
        let mut cells = Self {
            first: memory::with_capacity(WHAT, balls.len() + 1)?,
            of: memory::with_capacity(WHAT, total)?,
            density: balls.iter().map(|ball| ball.density).collect(),
            volume: mesh.width(mesh.blocks.finest()).powi(D as i32),
            clear: Vec::new(),
            mass: Vec::new(),
            cut: Vec::new(),
            entries: Vec::new(),
            drive: [0.0; 3],
        };
        memory::grow(WHAT, &mut cells.clear, mesh.blocks.cells(), 1.0)?;
        memory::grow(WHAT, &mut cells.mass, mesh.blocks.cells(), 0.0)?;
        cells.first.push(0);
        for (of, ball) in found.into_iter().zip(balls) {
            for cell in &of {
                let at = cell.cell as usize;
                cells.clear[at] = (cells.clear[at] - cell.part).max(0.0);
                cells.mass[at] += cell.part * ball.density;
            }
            cells.of.extend(linked(mesh, of));
            cells.first.push(cells.of.len());
        }
        cells.find_cut()?;
        Ok(cells)
    }

    /// Cells with fluid and grains.
    fn find_cut(&mut self) -> Result<(), TwoPhaseError> {
        let mut all: Vec<(u32, u32, u32)> = memory::with_capacity(WHAT, self.of.len())?;
        for grain in 0..self.len() {
            for at in self.range(grain) {
                let cell = &self.of[at];
                if self.clear[cell.cell as usize] > 0.0 {
                    all.push((cell.cell, grain as u32, at as u32));
                }
            }
        }
        all.sort_unstable();
        self.entries = memory::with_capacity(WHAT, all.len())?;
        for (cell, grain, at) in all {
            self.entries.push((grain, at));
            let end = self.entries.len();
            match self.cut.last_mut() {
                Some(last) if last.0 == cell => last.1 = end,
                _ => self.cut.push((cell, end)),
            }
        }
        Ok(())
    }

    /// Grains.
    pub(crate) fn len(&self) -> usize {
        self.density.len()
    }

    /// The places of a grain's cells.
    pub(crate) fn range(&self, grain: usize) -> std::ops::Range<usize> {
        self.first[grain]..self.first[grain + 1]
    }

    /// Cut cells with their entries.
    pub(crate) fn cut(&self) -> impl Iterator<Item = (usize, &[(u32, u32)])> {
        let mut begin = 0;
        self.cut.iter().map(move |&(cell, end)| {
            let entries = &self.entries[begin..end];
            begin = end;
            (cell as usize, entries)
        })
    }

    /// Sums over the cells of each grain, in their order: of what `of` gives for a grain and its cell.
    pub(crate) fn sums(
        &self,
        of: impl Fn(usize, &GrainCell) -> [f64; 3] + Sync,
    ) -> Vec<[[f64; 3]; 2]> {
        let each = |grain: usize| {
            let mut sum = [[0.0; 3]; 2];
            for cell in &self.of[self.range(grain)] {
                let (f, r) = (of(grain, cell), cell.arm);
                for a in 0..3 {
                    let (b, c) = ((a + 1) % 3, (a + 2) % 3);
                    sum[0][a] += f[a];
                    sum[1][a] += r[b] * f[c] - r[c] * f[b];
                }
            }
            sum
        };
        (0..self.len()).into_par_iter().map(each).collect()
    }
}

/// Cells that know those beside them; ids begin at the first one.
fn linked<const D: usize>(mesh: &FlowMesh<D>, mut of: Vec<GrainCell>) -> Vec<GrainCell> {
    let mut places: Vec<(u32, u32)> = (of.iter().zip(0..)).map(|(c, i)| (c.cell, i)).collect();
    places.sort_unstable();
    let count = dims::cells(D);
    for cell in &mut of {
        let (block, own) = (cell.block as usize, cell.cell as usize % count);
        for side in 0..2 * D {
            let Some((b, c)) = next(mesh, block, own, side) else {
                continue;
            };
            let number = (b * count + c) as u32;
            if let Ok(found) = places.binary_search_by_key(&number, |place| place.0) {
                cell.beside[side] = places[found].1;
            }
        }
    }
    of
}

/// Root blocks by their place in the grid of roots, x fastest.
pub(crate) fn root_table<const D: usize>(mesh: &FlowMesh<D>) -> Vec<u32> {
    let root = mesh.blocks.root();
    let count: u32 = root.iter().product();
    let mut table = vec![0; count as usize];
    for block in mesh.blocks.range(0) {
        let at = mesh.blocks.coord(block);
        let place = (0..D)
            .rev()
            .fold(0, |n, a| n * root[a] as usize + at[a] as usize);
        table[place] = block as u32;
    }
    table
}

/// The cells of a ball, those of its periodic images among them.
fn cells_of<const D: usize>(
    mesh: &FlowMesh<D>,
    roots: &[u32],
    ball: &Ball,
) -> Result<Vec<GrainCell>, TwoPhaseError> {
    let ([low, high], periodic) = (mesh.corners(), mesh.blocks.periodic());
    let mut found = Vec::new();
    for image in 0..27usize {
        let shift = [image % 3, image / 3 % 3, image / 9].map(|s| s as f64 - 1.0);
        let is_one = (0..3).all(|a| shift[a] == 0.0 || (a < D && periodic[a]));
        if !is_one {
            continue;
        }
        let mut centre = ball.centre;
        for a in 0..D {
            centre[a] += shift[a] * (high[a] - low[a]);
        }
        gather(mesh, roots, centre, ball.radius, &mut found)?;
    }
    let volume = mesh.width(mesh.blocks.finest()).powi(D as i32);
    let inside: f64 = found.iter().map(|cell| cell.part * volume).sum();
    if inside < LEAST * (4.0 / 3.0 * PI * ball.radius.powi(3)) {
        return Err(TwoPhaseError::GrainOutside {
            id: ball.id,
            at: ball.centre,
        });
    }
    Ok(found)
}

/// The cells of a ball that are in the box.
fn gather<const D: usize>(
    mesh: &FlowMesh<D>,
    roots: &[u32],
    centre: [f64; 3],
    radius: f64,
    found: &mut Vec<GrainCell>,
) -> Result<(), TwoPhaseError> {
    let (blocks, [low, _]) = (&mesh.blocks, mesh.corners());
    let (root, wide) = (blocks.root(), 4.0 * mesh.width(0));
    // Roots that the ball's box reaches.
    let mut range = [[0i64; 2]; D];
    for a in 0..D {
        let place = |x: f64| {
            ((x - low[a]) / wide)
                .floor()
                .clamp(-1.0, f64::from(root[a])) as i64
        };
        let last = i64::from(root[a]) - 1;
        range[a] = [
            place(centre[a] - radius).max(0),
            place(centre[a] + radius).min(last),
        ];
    }
    if range.iter().any(|[from, to]| from > to) {
        return Ok(());
    }
    let counts: [i64; D] = std::array::from_fn(|a| range[a][1] - range[a][0] + 1);
    for k in 0..counts.iter().product() {
        let (mut rest, mut place, mut stride) = (k, 0usize, 1usize);
        for a in 0..D {
            place += (range[a][0] + rest % counts[a]) as usize * stride;
            rest /= counts[a];
            stride *= root[a] as usize;
        }
        descend(mesh, roots[place] as usize, centre, radius, found)?;
    }
    Ok(())
}

fn descend<const D: usize>(
    mesh: &FlowMesh<D>,
    block: usize,
    centre: [f64; 3],
    radius: f64,
    found: &mut Vec<GrainCell>,
) -> Result<(), TwoPhaseError> {
    let (blocks, h) = (&mesh.blocks, mesh.width_of(block));
    let corner = mesh.centre(block, 0).map(|x| x - 0.5 * h);
    let is_away = (0..D)
        .any(|a| centre[a] + radius <= corner[a] || centre[a] - radius >= corner[a] + 4.0 * h);
    if is_away {
        return Ok(());
    }
    if let Some(first) = blocks.first_child(block) {
        return (0..dims::children(D))
            .try_for_each(|child| descend(mesh, first + child, centre, radius, found));
    }
    for cell in 0..dims::cells(D) {
        let at = mesh.centre(block, cell);
        let mut arm = [0.0; 3];
        for a in 0..D {
            arm[a] = at[a] - centre[a];
        }
        let part = part_in_ball(arm.map(|x| x - 0.5 * h), h, radius);
        if part == 0.0 || mesh.is_solid(block, cell) {
            continue;
        }
        if blocks.level(block) != blocks.finest() {
            return Err(TwoPhaseError::CoarseGrain {
                level: blocks.level(block),
                finest: blocks.finest(),
                at: at.to_vec(),
            });
        }
        found.push(GrainCell {
            cell: (block * dims::cells(D) + cell) as u32,
            block: block as u32,
            part,
            arm,
            beside: [NONE; 6],
        });
    }
    Ok(())
}
