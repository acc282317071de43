//! A `vtkUnstructuredGrid` (`.vtu`) of the leaf cells: voxels, in 2D pixels.
//!
//! Cells run block by block in level order, in a block x fastest. Points are welded within a
//! level, so that filters which look for shared faces or points (surfaces, gradients, point
//! data) see one grid a level; between levels, where points hang in any case, they are not.
//! A block numbers the points of its 5^D lattice that no block of a smaller id shares:
//! by their place in the lattice (corner, edge, face, inside: one of 3^D groups) the sharing
//! blocks are known, so nothing is sorted or hashed.

use super::VtkError;
use super::appended::{About, Announced, Appended};
use super::cells::{Cells, Field, Run};
use crate::Mesh;
use cutlink_amr::{NONE, OUTSIDE, dims};
use rayon::prelude::*;
use std::io::Write;

/// Points on an edge of a block's lattice.
const SIDE: usize = 5;

/// The leaf cells of a mesh, or of one of its levels, as an unstructured grid.
#[derive(Debug)]
pub struct Vtu<'a, const D: usize> {
    cells: Cells<'a, D>,
    /// Groups of its lattice that a block numbers, one bit a group; by block id.
    owned: Vec<u32>,
    /// Number of its first point; by block id.
    first_point: Vec<u64>,
    points: u64,
    wide: bool,
    groups: Groups<D>,
    text: Announced,
}

impl<'a, const D: usize> Vtu<'a, D> {
    /// Lays the file out, of one `level` or of all.
    pub fn new(
        mesh: &'a Mesh<D>,
        level: Option<usize>,
        fields: &'a [Field<'a>],
    ) -> Result<Self, VtkError> {
        let forest = &mesh.forest;
        let finest = forest.finest();
        let levels = match level {
            None => 0..=finest,
            Some(level) if level <= finest => level..=level,
            Some(level) => return Err(VtkError::NoSuchLevel { level, finest }),
        };
        let runs: Vec<Run> = forest.levels[levels]
            .iter()
            .flatten()
            .filter(|&&id| forest.is_leaf(id))
            .map(|&block| Run {
                block,
                from: 0,
                count: dims::cells(D) as u8,
                deepest: false,
                above: false,
            })
            .collect();
        let order = (0..dims::cells(D) as u8).collect();
        let groups = Groups::new();
        let cells = Cells::new(mesh, fields, runs, order)?;
        let mut vtu = Self {
            owned: Vec::new(),
            first_point: vec![0; forest.capacity()],
            points: 0,
            wide: false,
            groups,
            text: Announced::default(),
            cells,
        };
        vtu.owned = (0..forest.capacity() as u32)
            .into_par_iter()
            .map(|id| vtu.groups_of(id))
            .collect();
        for run in &vtu.cells.runs {
            vtu.first_point[run.block as usize] = vtu.points;
            vtu.points += vtu.groups.points(vtu.owned[run.block as usize]);
        }
        let corners = vtu.cells.count * dims::children(D) as u64;
        vtu.wide = corners.max(vtu.points) > i32::MAX as u64;
        vtu.announce(&About::default());
        Ok(vtu)
    }

    /// Cells of the file.
    pub fn cells(&self) -> u64 {
        self.cells.count
    }

    /// The same with field data.
    #[must_use]
    pub fn about(mut self, about: &About<'_>) -> Self {
        self.announce(about);
        self
    }

    /// The same with `patch`, `q` and `wall_distance` of the nearest cut link of each cell. Call it before
    /// [`about`](Self::about).
    #[must_use]
    pub fn with_links(mut self) -> Self {
        self.cells.add_links();
        self.announce(&About::default());
        self
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.text.file_bytes()
    }

    fn announce(&mut self, about: &About<'_>) {
        let corners = dims::children(D) as u64 * self.cells.count;
        self.text = announced(&self.cells, self.points, corners, self.wide, about);
    }

    /// Writes the file; the bytes written.
    pub fn write(&self, out: &mut impl Write) -> Result<u64, VtkError> {
        let mut out = Appended::new(out, &self.text)?;
        self.cells.write(&mut out)?;
        let runs = &self.cells.runs;
        out.pieces(24 * self.points, runs.len(), |range, bytes| {
            for run in &runs[range] {
                self.put_points(run.block, bytes);
            }
        })?;
        let width = if self.wide { 8 } else { 4 };
        let corners = dims::children(D) as u64 * self.cells.count;
        out.pieces(width * corners, runs.len(), |range, bytes| {
            for run in &runs[range] {
                self.put_corners(run.block, bytes);
            }
        })?;
        out.pieces(width * self.cells.count, runs.len(), |range, bytes| {
            let per_cell = dims::children(D) as u64;
            for cell in range.start * dims::cells(D)..range.end * dims::cells(D) {
                self.put_index((cell as u64 + 1) * per_cell, bytes);
            }
        })?;
        let kind = if D == 3 { VOXEL } else { PIXEL };
        out.pieces(self.cells.count, runs.len(), |range, bytes| {
            bytes.resize(range.len() * dims::cells(D), kind);
        })?;
        Ok(out.finish()?)
    }

    fn put_index(&self, index: u64, bytes: &mut Vec<u8>) {
        if self.wide {
            bytes.extend_from_slice(&index.to_le_bytes());
        } else {
            bytes.extend_from_slice(&(index as u32).to_le_bytes());
        }
    }

    /// The block that numbers the points of a group of a block's lattice: the one of the
    /// smallest id among the leaves of the level that share them; and where it lies.
    fn owner(&self, block: u32, group: usize) -> (u32, usize) {
        let forest = &self.cells.mesh.forest;
        let mut least = (block, dims::center(D));
        for &direction in &self.groups.sharing[group] {
            let other = forest.neighbor(block, direction);
            if other < least.0
                && other != NONE
                && other != OUTSIDE
                && forest.is_leaf(other)
                && forest.is_inside(block, direction)
            {
                least = (other, direction);
            }
        }
        least
    }

    fn groups_of(&self, block: u32) -> u32 {
        let forest = &self.cells.mesh.forest;
        if usize::from(forest.level[block as usize]) > forest.finest() || !forest.is_leaf(block) {
            return 0;
        }
        let own = |&group: &usize| self.owner(block, group).0 == block;
        (0..dims::directions(D))
            .filter(own)
            .fold(0, |mask, group| mask | 1 << group)
    }

    fn put_points(&self, block: u32, bytes: &mut Vec<u8>) {
        let mesh = self.cells.mesh;
        let level = usize::from(mesh.forest.level[block as usize]);
        let dx = mesh.frame.dx_at(level);
        let coord = mesh.forest.coord[block as usize];
        let owned = self.owned[block as usize];
        for (group, points) in self.groups.members.iter().enumerate() {
            if owned >> group & 1 == 0 {
                continue;
            }
            for &point in points {
                let local = dims::unravel::<D>(point, SIDE);
                let mut at = [0.0; 3];
                for a in 0..D {
                    at[a] = mesh.frame.origin[a] + f64::from(4 * coord[a] + local[a]) * dx;
                }
                bytes.extend_from_slice(bytemuck::bytes_of(&at));
            }
        }
    }

    fn put_corners(&self, block: u32, bytes: &mut Vec<u8>) {
        let mut ids = [0u64; SIDE.pow(3)];
        for (group, points) in self.groups.members.iter().enumerate() {
            let (owner, direction) = self.owner(block, group);
            let step = dims::step::<D>(direction);
            let owned = self.owned[owner as usize];
            // The group as the owner sees it; its members are in the same order.
            let there: [i32; D] = std::array::from_fn(|a| dims::step::<D>(group)[a] - 2 * step[a]);
            let before = owned & ((1 << dims::direction(there)) - 1);
            let first = self.first_point[owner as usize] + self.groups.points(before);
            for (&point, id) in points.iter().zip(first..) {
                ids[point] = id;
            }
        }
        for cell in 0..dims::cells(D) {
            let low = dims::unravel::<D>(cell, 4);
            for corner in 0..dims::children(D) {
                let at = std::array::from_fn(|a| low[a] + (corner >> a & 1) as i32);
                self.put_index(ids[dims::ravel::<D>(at, SIDE)], bytes);
            }
        }
    }
}

/// The head of a file of so many points and corners, which `wide` ones have numbers of 64 bits for.
pub(super) fn announced<const D: usize>(
    cells: &Cells<'_, D>,
    points: u64,
    corners: u64,
    wide: bool,
    about: &About<'_>,
) -> Announced {
    let count = cells.count;
    let mut text = Announced::new("UnstructuredGrid", "1.0");
    text.line("<UnstructuredGrid>");
    text.about(about);
    text.line(&format!(
        "<Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{count}\">"
    ));
    cells.announce(&mut text);
    text.line("<Points>");
    text.array("Float64", "Points", 3, points, 24 * points);
    text.line("</Points>\n<Cells>");
    let (kind, width) = if wide { ("Int64", 8) } else { ("Int32", 4) };
    text.array(kind, "connectivity", 1, corners, width * corners);
    text.array(kind, "offsets", 1, count, width * count);
    text.array("UInt8", "types", 1, count, count);
    text.line("</Cells>\n</Piece>\n</UnstructuredGrid>");
    text.end();
    text
}

pub(super) const PIXEL: u8 = 8;
pub(super) const VOXEL: u8 = 11;

/// The 3^D groups of points of a block's lattice, numbered as directions: on each axis the
/// first point, the three inner ones, or the last.
#[derive(Debug)]
struct Groups<const D: usize> {
    /// Points of each group, x fastest.
    members: Vec<Vec<usize>>,
    /// Directions of the blocks that share the points of each group, the block's own left out.
    sharing: Vec<Vec<usize>>,
}

impl<const D: usize> Groups<D> {
    fn new() -> Self {
        let count = dims::directions(D);
        let mut members = vec![Vec::new(); count];
        for point in 0..SIDE.pow(D as u32) {
            let side = dims::unravel::<D>(point, SIDE).map(|c| (c == 4) as i32 - (c == 0) as i32);
            members[dims::direction(side)].push(point);
        }
        let shares = |group: usize, direction: usize| {
            let (side, step) = (dims::step::<D>(group), dims::step::<D>(direction));
            direction != dims::center(D) && (0..D).all(|a| step[a] == 0 || step[a] == side[a])
        };
        let sharing = (0..count)
            .map(|group| (0..count).filter(|&d| shares(group, d)).collect())
            .collect();
        Self { members, sharing }
    }

    /// Points of all groups of a mask.
    fn points(&self, mask: u32) -> u64 {
        let members = self.members.iter().enumerate();
        members
            .filter(|(group, _)| mask >> group & 1 == 1)
            .map(|(_, points)| points.len() as u64)
            .sum()
    }
}
