//! The cells that grains are in: their parts, in a fixed order.

use crate::TwoPhaseError;
use crate::constants::{GRAIN_LANES, LEAST_CLEAR};
use crate::mesh::FlowMesh;
use crate::overlap::part_in_ball;
use cutlink_amr::{NONE, dims};
use cutlink_device::memory;
use cutlink_elliptic::Beside;
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

/// A cell that a grain is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GrainCell {
    /// Number in arrays.
    pub(crate) cell: u32,
    pub(crate) grain: u32,
    /// The same cell of a later grain, as its place among all; or [`NONE`].
    pub(crate) after: u32,
    /// Which of the grain's periodic images is there: 13 is itself, see [`image_shift`].
    pub(crate) image: u8,
    /// The part that is in the grain, 0 to 1.
    pub(crate) part: f64,
    /// From the grain's centre to the cell's, m.
    pub(crate) arm: [f64; 3],
}

impl GrainCell {
    /// Whether the cell has the grain's velocity: hardly any of it is outside.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.part > 1.0 - LEAST_CLEAR
    }
}

/// The cells of all grains, lists alone: what a backend makes its [`GrainFields`] of.
#[derive(Debug)]
pub(crate) struct GrainCells {
    /// Cells of each grain begin here in `of`; and their number.
    pub(crate) first: Vec<usize>,
    pub(crate) of: Vec<GrainCell>,
    /// By grain, m.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "of GPUs"))]
    pub(crate) centre: Vec<[f64; 3]>,
    /// By grain, kg/m³.
    pub(crate) density: Vec<f64>,
    /// The volume of a cell, m³.
    pub(crate) volume: f64,
    /// An acceleration of all faces, m/s².
    pub(crate) drive: [f64; 3],
}

/// What errors of memory call the cells.
pub(crate) const WHAT: &str = "cells of grains";

/// The part of a grain's volume that has to be in cells of fluid.
const LEAST: f64 = 0.5;

impl GrainCells {
    /// The cells of balls. Cost: 20 ns for each cell at a surface, and a pass over the mesh. Memory: 48 bytes a cell of a grain, twice
    /// meanwhile, and 4 bytes a cell of the mesh.
    ///
    /// # Errors
    /// A ball on a coarse level; one that has left the fluid; memory.
    pub(crate) fn new<const D: usize>(
        mesh: &FlowMesh<D>,
        roots: &[u32],
        balls: &[Ball],
    ) -> Result<Self, TwoPhaseError> {
        let found: Result<Vec<Vec<GrainCell>>, TwoPhaseError> = (balls.par_iter().enumerate())
            .map(|(grain, ball)| cells_of(mesh, roots, (grain, ball)))
            .collect();
        let found = found?;
        let total = found.iter().map(Vec::len).sum();
        let mut cells = Self {
            first: memory::with_capacity(WHAT, balls.len() + 1)?,
            of: memory::with_capacity(WHAT, total)?,
            centre: balls.iter().map(|ball| ball.centre).collect(),
            density: balls.iter().map(|ball| ball.density).collect(),
            volume: mesh.width(mesh.blocks.finest()).powi(D as i32),
            drive: [0.0; 3],
        };
        cells.first.push(0);
        for of in found {
            cells.of.extend(of);
            cells.first.push(cells.of.len());
        }
        let mut last = Vec::new();
        memory::grow(WHAT, &mut last, mesh.blocks.cells(), NONE)?;
        for at in 0..cells.of.len() {
            let before = std::mem::replace(&mut last[cells.of[at].cell as usize], at as u32);
            if before != NONE {
                cells.of[before as usize].after = at as u32;
            }
        }
        Ok(cells)
    }

    /// Grains.
    pub(crate) fn len(&self) -> usize {
        self.density.len()
    }

    /// The places of a grain's cells.
    pub(crate) fn range(&self, grain: usize) -> std::ops::Range<usize> {
        self.first[grain]..self.first[grain + 1]
    }

    /// Sums over the cells of each grain of what `of` gives for a cell: a vector, and its moment about the centre. In an order that suits
    /// a GPU: lane `l` of [`GRAIN_LANES`] adds every 256th cell from the `l`-th on, and a tree adds the lanes, the upper half to the
    /// lower one, and so on.
    pub(crate) fn sums(&self, of: impl Fn(&GrainCell) -> [f64; 3] + Sync) -> Vec<[[f64; 3]; 2]> {
        let each = |grain: usize| {
            let mut lanes = [[[0.0; 3]; 2]; GRAIN_LANES];
            for row in self.of[self.range(grain)].chunks(GRAIN_LANES) {
                for (sum, cell) in lanes.iter_mut().zip(row) {
                    let (f, r) = (of(cell), cell.arm);
                    for a in 0..3 {
                        let (b, c) = ((a + 1) % 3, (a + 2) % 3);
                        sum[0][a] += f[a];
                        sum[1][a] += r[b] * f[c] - r[c] * f[b];
                    }
                }
            }
            let mut half = GRAIN_LANES / 2;
            while half > 0 {
                let (low, high) = lanes.split_at_mut(half);
                for (low, high) in low.as_flattened_mut().iter_mut().zip(high.as_flattened()) {
                    for (low, high) in low.iter_mut().zip(high) {
                        *low += high;
                    }
                }
                half /= 2;
            }
            lanes[0]
        };
        (0..self.len()).into_par_iter().map(each).collect()
    }
}

/// The cells of all grains, and what they make of the mesh's cells, in the host's memory. 20 bytes a cell of the mesh.
#[derive(Debug)]
pub(crate) struct GrainFields {
    pub(crate) cells: GrainCells,
    /// By cell of the mesh: the part that is fluid, 0 to 1.
    pub(crate) clear: Vec<f64>,
    /// By cell of the mesh: mass of grains over the volume, kg/m³.
    pub(crate) mass: Vec<f64>,
    /// By cell of the mesh: its place among the cells of the first grain that is in it, or [`NONE`].
    place: Vec<u32>,
    /// By block: whether a grain is in a cell of it, or of a block beside it.
    pub(crate) is_near: Vec<bool>,
}

impl GrainFields {
    /// # Errors
    /// Memory.
    pub(crate) fn new<const D: usize>(
        mesh: &FlowMesh<D>,
        cells: GrainCells,
    ) -> Result<Self, TwoPhaseError> {
        let mut fields = Self {
            cells,
            clear: Vec::new(),
            mass: Vec::new(),
            place: Vec::new(),
            is_near: Vec::new(),
        };
        let all = mesh.blocks.cells();
        memory::grow(WHAT, &mut fields.clear, all, 1.0)?;
        memory::grow(WHAT, &mut fields.mass, all, 0.0)?;
        memory::grow(WHAT, &mut fields.place, all, NONE)?;
        fields.is_near = vec![false; mesh.blocks.len()];
        let mut last = usize::MAX;
        for (of, at) in fields.cells.of.iter().zip(0..) {
            let cell = of.cell as usize;
            fields.clear[cell] = (fields.clear[cell] - of.part).max(0.0);
            fields.mass[cell] += of.part * fields.cells.density[of.grain as usize];
            if fields.place[cell] == NONE {
                fields.place[cell] = at;
            }
            let block = cell / dims::cells(D);
            if block == last {
                continue;
            }
            last = block;
            fields.is_near[block] = true;
            for side in 0..2 * D {
                if let Beside::Same(beside) = mesh.blocks.beside(block, side) {
                    fields.is_near[beside] = true;
                }
            }
        }
        Ok(fields)
    }

    /// What grains have of a cell of the mesh, in their order.
    #[inline]
    pub(crate) fn in_cell(&self, cell: usize) -> impl Iterator<Item = &GrainCell> {
        let of = |place: u32| self.cells.of.get(place as usize);
        std::iter::successors(of(self.place[cell]), move |cell| of(cell.after))
    }

    /// Whether a grain is in a cell of the mesh.
    #[inline]
    pub(crate) fn has(&self, cell: usize) -> bool {
        self.place[cell] != NONE
    }

    /// Cells of the mesh that grains are in, each once, with their place in the order of all.
    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, usize)> {
        let places = self.cells.of.iter().map(|of| of.cell as usize).enumerate();
        places.filter(|&(at, cell)| self.place[cell] as usize == at)
    }

    /// As [`each`](Self::each), those that have fluid too.
    pub(crate) fn cut(&self) -> impl Iterator<Item = (usize, usize)> {
        self.each().filter(|&(_, cell)| self.clear[cell] > 0.0)
    }
}

/// How many periods an image of a grain is shifted by along each axis: -1 to 1.
pub(crate) fn image_shift(image: u8) -> [f64; 3] {
    [image % 3, image / 3 % 3, image / 9].map(|s| f64::from(s) - 1.0)
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
    (grain, ball): (usize, &Ball),
) -> Result<Vec<GrainCell>, TwoPhaseError> {
    let ([low, high], periodic) = (mesh.corners(), mesh.blocks.periodic());
    let mut found = Vec::new();
    for image in 0..27 {
        let shift = image_shift(image);
        let is_one = (0..3).all(|a| shift[a] == 0.0 || (a < D && periodic[a]));
        if !is_one {
            continue;
        }
        let mut centre = ball.centre;
        for a in 0..D {
            centre[a] += shift[a] * (high[a] - low[a]);
        }
        let first = found.len();
        gather(mesh, roots, centre, ball.radius, &mut found)?;
        for cell in &mut found[first..] {
            (cell.grain, cell.image) = (grain as u32, image);
        }
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
            grain: NONE,
            after: NONE,
            image: u8::MAX,
            part,
            arm,
        });
    }
    Ok(())
}
