//! The fields of cells, for a sequence of runs of cells.

use super::VtkError;
use super::appended::{Announced, Appended};
use crate::{Classes, CutLink, Mesh};
use cutlink_amr::{CellRef, dims};
use std::io::{self, Write};

/// A field of the caller's: `values[(block * 4^D + cell) * components + component]`, for all
/// block ids; of a [`Part`](super::Part) for its cells, in their order.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    /// Its name in the file.
    pub name: &'a str,
    /// Numbers a cell: 1 for a scalar, 3 for a vector.
    pub components: usize,
    /// The values.
    pub values: &'a [f32],
}

/// Cells of one block that follow one another in the writer's order of a block's cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) block: u32,
    pub(super) from: u8,
    pub(super) count: u8,
    /// Whether the run is of the deepest level of its tree; only for trees.
    pub(super) deepest: bool,
    /// Whether it stands for nodes above the cells; only for trees.
    pub(super) above: bool,
}

/// A sequence of cells of a mesh, and what is told about each.
#[derive(Debug)]
pub(super) struct Cells<'a, const D: usize> {
    pub(super) mesh: &'a Mesh<D>,
    pub(super) fields: &'a [Field<'a>],
    /// Whether values of fields are in the order of the cells, not by block id.
    listed: bool,
    pub(super) runs: Vec<Run>,
    /// Cells in a block (`x + 4 y + 16 z`) in the writer's order.
    pub(super) order: Vec<u8>,
    /// Cells of all runs.
    pub(super) count: u64,
    /// Whether `block` is written.
    with_blocks: bool,
    /// Whether `patch`, `q` and `wall_distance` are written.
    with_links: bool,
}

impl<'a, const D: usize> Cells<'a, D> {
    pub(super) fn new(
        mesh: &'a Mesh<D>,
        fields: &'a [Field<'a>],
        runs: Vec<Run>,
        order: Vec<u8>,
    ) -> Result<Self, VtkError> {
        check(fields, mesh.forest.capacity() * dims::cells(D))?;
        Ok(Self::of(mesh, fields, runs, order, false))
    }

    /// Single cells, with fields of theirs only.
    pub(super) fn listed(
        mesh: &'a Mesh<D>,
        fields: &'a [Field<'a>],
        cells: &[CellRef],
    ) -> Result<Self, VtkError> {
        check(fields, cells.len())?;
        let run = |at: &CellRef| Run {
            block: at.block,
            from: at.cell as u8,
            count: 1,
            deepest: false,
            above: false,
        };
        let runs = cells.iter().map(run).collect();
        let order = (0..dims::cells(D) as u8).collect();
        Ok(Self::of(mesh, fields, runs, order, true))
    }

    fn of(
        mesh: &'a Mesh<D>,
        fields: &'a [Field<'a>],
        runs: Vec<Run>,
        order: Vec<u8>,
        listed: bool,
    ) -> Self {
        let count = runs.iter().map(|run| u64::from(run.count)).sum();
        Self {
            mesh,
            fields,
            listed,
            runs,
            order,
            count,
            with_blocks: true,
            with_links: false,
        }
    }

    /// The same without the ids of blocks.
    pub(super) fn without_blocks(self) -> Self {
        Self {
            with_blocks: false,
            ..self
        }
    }

    /// Adds values of the cut links.
    pub(super) fn add_links(&mut self) {
        self.with_links = true;
    }

    pub(super) fn announce(&self, text: &mut Announced) {
        text.line("<CellData Scalars=\"class\">");
        for name in ["level", "class", "zone"] {
            text.array("UInt8", name, 1, self.count, self.count);
        }
        if self.with_blocks {
            text.array("UInt32", "block", 1, self.count, 4 * self.count);
        }
        if self.with_links {
            text.array("Int32", "patch", 1, self.count, 4 * self.count);
            text.array("Float32", "q", 1, self.count, 4 * self.count);
            text.array("Float32", "wall_distance", 1, self.count, 4 * self.count);
        }
        for f in self.fields {
            let bytes = 4 * f.components as u64 * self.count;
            text.array("Float32", f.name, f.components, self.count, bytes);
        }
        text.line("</CellData>");
    }

    pub(super) fn write(&self, out: &mut Appended<impl Write>) -> io::Result<()> {
        let level = &self.mesh.forest.level;
        let Classes {
            solid,
            boundary,
            ghost,
            interface,
        } = &self.mesh.classes;
        self.put(out, 1, |run, bytes| {
            bytes.resize(bytes.len() + run.count as usize, level[run.block as usize]);
        })?;
        self.put(out, 1, |run, bytes| {
            self.put_codes(run, boundary, solid, bytes)
        })?;
        self.put(out, 1, |run, bytes| {
            self.put_codes(run, ghost, interface, bytes)
        })?;
        if self.with_blocks {
            self.put(out, 4, |run, bytes| {
                for _ in 0..run.count {
                    bytes.extend_from_slice(&run.block.to_le_bytes());
                }
            })?;
        }
        if self.with_links {
            self.put_links(out, -1i32, |link| i32::from(link.patch))?;
            self.put_links(out, f32::NAN, |link| link.q)?;
            self.put_links(out, f32::NAN, |link| link.distance() as f32)?;
        }
        for f in self.fields {
            if self.listed {
                out.array(bytemuck::cast_slice(f.values))?;
                continue;
            }
            self.put(out, 4 * f.components as u64, |run, bytes| {
                let at = run.block as usize * dims::cells(D);
                for &cell in self.cells_of(run) {
                    let at = (at + usize::from(cell)) * f.components;
                    let values = &f.values[at..at + f.components];
                    bytes.extend_from_slice(bytemuck::cast_slice(values));
                }
            })?;
        }
        Ok(())
    }

    fn put(
        &self,
        out: &mut Appended<impl Write>,
        bytes_per_cell: u64,
        fill: impl Fn(Run, &mut Vec<u8>) + Sync,
    ) -> io::Result<()> {
        out.pieces(
            bytes_per_cell * self.count,
            self.runs.len(),
            |range, bytes| {
                for &run in &self.runs[range] {
                    fill(run, bytes);
                }
            },
        )
    }

    /// A value of the nearest cut of each cell; `none` for cells without one.
    fn put_links<T: bytemuck::Pod + Sync>(
        &self,
        out: &mut Appended<impl Write>,
        none: T,
        value: impl Fn(CutLink<D>) -> T + Sync,
    ) -> io::Result<()> {
        self.put(out, size_of::<T>() as u64, |run, bytes| {
            for &cell in self.cells_of(run) {
                let at = CellRef {
                    block: run.block,
                    cell: cell.into(),
                };
                let nearest = self.mesh.nearest_cut(at);
                bytes.extend_from_slice(bytemuck::bytes_of(&nearest.map_or(none, &value)));
            }
        })
    }

    /// 1 where the first mask has the cell, 2 where the second has it.
    fn put_codes(&self, run: Run, one: &[u64], two: &[u64], bytes: &mut Vec<u8>) {
        let (one, two) = (one[run.block as usize], two[run.block as usize]);
        if one | two == 0 {
            bytes.resize(bytes.len() + run.count as usize, 0);
            return;
        }
        let code = |&cell: &u8| (one >> cell & 1) as u8 | ((two >> cell & 1) as u8) << 1;
        bytes.extend(self.cells_of(run).iter().map(code));
    }

    fn cells_of(&self, run: Run) -> &[u8] {
        &self.order[run.from as usize..][..run.count as usize]
    }
}

/// Refuses fields without a value for each of `cells` cells.
fn check(fields: &[Field<'_>], cells: usize) -> Result<(), VtkError> {
    for field in fields {
        let expected = cells * field.components;
        if field.values.len() != expected {
            return Err(VtkError::FieldLength {
                name: field.name.into(),
                len: field.values.len(),
                expected,
            });
        }
    }
    Ok(())
}
