//! A `vtkUnstructuredGrid` (`.vtu`) of some leaf cells: voxels, in 2D pixels; or of the pixels
//! that a plane cuts out of voxels.
//!
//! Cells are in the caller's order. Points are welded wherever corners of cells coincide, across
//! levels too, and numbered as the cells come. Cost: a look-up a corner, on one thread;
//! memory: 24 bytes a point and 8 a corner, beside the look-up table.

use super::VtkError;
use super::appended::{About, Announced, Appended};
use super::cells::{Cells, Field};
use super::vtu::{PIXEL, VOXEL, announced};
use crate::Mesh;
use cutlink_amr::{CellRef, dims};
use std::collections::HashMap;
use std::io::Write;

/// Some cells of a mesh as an unstructured grid.
#[derive(Debug)]
pub struct Part<'a, const D: usize> {
    cells: Cells<'a, D>,
    points: Vec<[f64; 3]>,
    corners: Vec<u64>,
    corners_per_cell: usize,
    text: Announced,
}

impl<'a, const D: usize> Part<'a, D> {
    /// Lays the file out. With a `plane`, an axis and a coordinate on it in lengths, the cells (which
    /// it should cut) have no thickness on that axis; only in 3D.
    pub fn new(
        mesh: &'a Mesh<D>,
        cells: &[CellRef],
        plane: Option<(usize, f64)>,
        fields: &'a [Field<'a>],
    ) -> Result<Self, VtkError> {
        if let Some((axis, _)) = plane.filter(|&(axis, _)| D < 3 || axis >= D) {
            return Err(VtkError::NoSuchAxis {
                axis,
                dimensions: D,
            });
        }
        let axes: Vec<usize> = (0..D)
            .filter(|&a| plane.is_none_or(|(axis, _)| a != axis))
            .collect();
        let mut part = Self {
            cells: Cells::listed(mesh, fields, cells)?,
            points: Vec::new(),
            corners: Vec::new(),
            corners_per_cell: 1 << axes.len(),
            text: Announced::default(),
        };
        part.weld(cells, &axes, plane);
        part.announce(&About::default());
        Ok(part)
    }

    /// The same with field data.
    #[must_use]
    pub fn about(mut self, about: &About<'_>) -> Self {
        self.announce(about);
        self
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.text.file_bytes()
    }

    fn weld(&mut self, cells: &[CellRef], axes: &[usize], plane: Option<(usize, f64)>) {
        let mesh = self.cells.mesh;
        let finest = mesh.forest.finest();
        let dx = mesh.frame.dx_at(finest);
        let mut numbers: HashMap<[u32; 3], u64> = HashMap::new();
        for &at in cells {
            let up = finest - usize::from(mesh.forest.level[at.block as usize]);
            let low = mesh.forest.cell_coord(at);
            for corner in 0..self.corners_per_cell {
                // In finest cells from the lower corner of the box.
                let mut key = [0u32; 3];
                for (i, &a) in axes.iter().enumerate() {
                    key[a] = ((low[a] + (corner >> i & 1) as i32) as u32) << up;
                }
                let next = numbers.len() as u64;
                let number = *numbers.entry(key).or_insert(next);
                if number == next {
                    let mut point = [0.0; 3];
                    for a in 0..D {
                        point[a] = mesh.frame.origin[a] + f64::from(key[a]) * dx;
                    }
                    if let Some((axis, at)) = plane {
                        point[axis] = at;
                    }
                    self.points.push(point);
                }
                self.corners.push(number);
            }
        }
    }

    fn announce(&mut self, about: &About<'_>) {
        let (points, corners) = (self.points.len() as u64, self.corners.len() as u64);
        self.text = announced(&self.cells, points, corners, true, about);
    }

    /// Writes the file; the bytes written.
    pub fn write(&self, out: &mut impl Write) -> Result<u64, VtkError> {
        let mut out = Appended::new(out, &self.text)?;
        self.cells.write(&mut out)?;
        out.array(bytemuck::cast_slice(&self.points))?;
        out.array(bytemuck::cast_slice(&self.corners))?;
        let offsets: Vec<u64> = (1..=self.cells.count)
            .map(|cell| cell * self.corners_per_cell as u64)
            .collect();
        out.array(bytemuck::cast_slice(&offsets))?;
        let kind = if self.corners_per_cell == dims::children(3) {
            VOXEL
        } else {
            PIXEL
        };
        out.array(&vec![kind; self.cells.count as usize])?;
        Ok(out.finish()?)
    }
}
