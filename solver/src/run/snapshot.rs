//! Density and velocity of all cells.

use super::Run;
use crate::{
    DeviceFields, LatticeFlow, Snapshot, SolverError,
    kernels::{FlowKernels, cpu::by_block},
    lattice::Lattice,
    storage::Storage,
};
use cutlink_amr::{NONE, dims};
use cutlink_device::{Backend, Host};
use cutlink_voxelizer::Mesh;
use std::ops::Range;

/// Slots whose density and velocity a snapshot copies at once: 8 MiB in 3D. The allocator reuses buffers of this size; it maps
/// larger ones anew, page by page.
pub(crate) const SLOTS_AT_ONCE: usize = 1 << 13;

/// Blocks of a mesh: all, or those of a mask by id.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Blocks<'a> {
    All,
    Of(&'a [bool]),
}

impl Blocks<'_> {
    fn has(self, id: u32) -> bool {
        match self {
            Self::All => true,
            Self::Of(wanted) => wanted[id as usize],
        }
    }
}

/// Fills in some blocks of a snapshot of a mesh with so many levels, from the finest on. `write` puts the values of a level's slots
/// into rows of density and of each velocity, by block id and cell.
pub(crate) fn fill<const D: usize>(
    mesh: &Mesh<D>,
    levels: usize,
    blocks: Blocks<'_>,
    snapshot: &mut Snapshot<D>,
    write: impl Fn(usize, &mut [&mut [f32]]) -> Result<(), SolverError>,
) -> Result<(), SolverError> {
    let len = mesh.forest.capacity() * dims::cells(D);
    let is_new = snapshot.density.len() != len;
    if is_new {
        // Zeros that are not written until they are needed.
        snapshot.density = vec![0.0; len];
        snapshot.velocity = std::array::from_fn(|_| vec![0.0; len]);
    }
    if let Blocks::All = blocks {
        snapshot.density.fill(1.0);
        if !is_new {
            snapshot.velocity.iter_mut().for_each(|of| of.fill(0.0));
        }
    }
    let mut rows: Vec<&mut [f32]> = vec![&mut snapshot.density];
    rows.extend(snapshot.velocity.iter_mut().map(Vec::as_mut_slice));
    fill_rows(mesh, levels, blocks, &mut rows, 1.0, write)
}

/// As [`fill`], in rows whose solid cells stay as they are; refined blocks in solid have `empty` in the first row and 0 in the others.
pub(crate) fn fill_rows<const D: usize>(
    mesh: &Mesh<D>,
    levels: usize,
    blocks: Blocks<'_>,
    rows: &mut [&mut [f32]],
    empty: f32,
    write: impl Fn(usize, &mut [&mut [f32]]) -> Result<(), SolverError>,
) -> Result<(), SolverError> {
    for level in (0..levels).rev() {
        write(level, rows)?;
        let refined = RefinedBlocks::new(&Host, mesh, level, blocks)?;
        by_block::fill_refined::<D>(&refined, rows, empty);
    }
    Ok(())
}

/// Refined blocks of a level, for the means of their children.
#[derive(Debug)]
pub struct RefinedBlocks<B: Backend> {
    pub(crate) ids: B::Buf<u32>,
    pub(crate) first_child: B::Buf<u32>,
    /// Masks of the children, 2^D a block.
    pub(crate) solid: B::Buf<u64>,
}

impl<B: Backend> RefinedBlocks<B> {
    fn new<const D: usize>(
        backend: &B,
        mesh: &Mesh<D>,
        level: usize,
        blocks: Blocks<'_>,
    ) -> Result<Self, SolverError> {
        let first = |id: &u32| mesh.forest.first_child[*id as usize];
        let is_refined = |id: &&u32| blocks.has(**id) && first(id) != NONE;
        let of_level = mesh.forest.levels[level].iter();
        let ids: Vec<u32> = of_level.filter(is_refined).copied().collect();
        let first_child: Vec<u32> = ids.iter().map(first).collect();
        let family = |&first: &u32| &mesh.classes.solid[first as usize..][..dims::children(D)];
        let solid: Vec<u64> = first_child.iter().flat_map(family).copied().collect();
        Ok(Self {
            ids: backend.upload(ids)?,
            first_child: backend.upload(first_child)?,
            solid: backend.upload(solid)?,
        })
    }
}

impl<const D: usize, L: Lattice, S: Storage, B: FlowKernels<D>> Run<'_, D, L, S, B> {
    /// Density and velocity of some slots of a level, on the host.
    pub(super) fn macroscopic(
        &self,
        level: usize,
        slots: Range<usize>,
    ) -> Result<Vec<f32>, SolverError> {
        let state = &self.levels[level];
        let values =
            self.backend
                .macroscopic::<L, S>(&state.level, slots, state.half_step, &state.now)?;
        Ok(self.backend.download(&values)?)
    }

    /// Writes density and velocity of a level's own slots to rows by block id and cell, or of those of some blocks.
    pub(crate) fn write_fields(
        &self,
        level: usize,
        wanted: Blocks<'_>,
        rows: &mut [&mut [f32]],
    ) -> Result<(), SolverError> {
        let (backend, state) = (&self.backend, &self.levels[level]);
        let blocks = backend.download(&state.blocks)?;
        if let Blocks::All = wanted {
            for slots in self.own_pieces(level) {
                let values = self.macroscopic(level, slots.clone())?;
                by_block::put_by_block::<D>(&values, &blocks[slots], rows);
            }
            return Ok(());
        }
        let own = state.level.halo.own().into_iter().flatten();
        let some = own.filter(|&slot| wanted.has(blocks[slot]));
        let some: Vec<u32> = some.map(|slot| slot as u32).collect();
        for slots in some.chunks(SLOTS_AT_ONCE) {
            let ids: Vec<u32> = slots.iter().map(|&slot| blocks[slot as usize]).collect();
            let slots = backend.upload(slots.to_vec())?;
            let (level, now) = (&state.level, &state.now);
            let values = backend.macroscopic_of::<L, S>(level, &slots, state.half_step, now)?;
            by_block::put_by_block::<D>(&backend.download(&values)?, &ids, rows);
        }
        Ok(())
    }

    /// Brings a snapshot up to date: all of it, or some blocks.
    pub(super) fn update_fields(
        &self,
        blocks: Option<&[u32]>,
        snapshot: &mut Snapshot<D>,
    ) -> Result<(), SolverError> {
        let mesh = self.mesh()?;
        let mut mask = Vec::new();
        let wanted = match blocks {
            None => Blocks::All,
            Some(ids) => {
                mask.resize(mesh.forest.capacity(), false);
                ids.iter().for_each(|&id| mask[id as usize] = true);
                Blocks::Of(&mask)
            }
        };
        snapshot.step = self.steps;
        let write = |level: usize, rows: &mut [&mut [f32]]| self.write_fields(level, wanted, rows);
        fill(mesh, self.levels.len(), wanted, snapshot, write)
    }

    /// Density and velocity of all cells, in the memory of the device.
    pub(super) fn fields_of_device(&self) -> Result<DeviceFields, SolverError> {
        let backend = &self.backend;
        let cells = self.mesh()?.forest.capacity() * dims::cells(D);
        let mut density = backend.alloc("densities by block", cells, 1.0)?;
        let mut velocity = backend.alloc("velocities by block", D * cells, 0.0)?;
        self.put_fields(&mut density, &mut velocity)?;
        Ok(DeviceFields {
            step: self.steps,
            density: backend.export(density)?,
            velocity: backend.export(velocity)?,
        })
    }

    /// Writes density and velocity of all cells but those of solid leaves, by block id and cell.
    pub(super) fn put_fields(
        &self,
        density: &mut B::Buf<f32>,
        velocity: &mut B::Buf<f32>,
    ) -> Result<(), SolverError> {
        let (backend, mesh) = (&self.backend, self.mesh()?);
        for (level, state) in self.levels.iter().enumerate().rev() {
            for slots in self.own_pieces(level) {
                let (level, now) = (&state.level, &state.now);
                let values =
                    backend.macroscopic::<L, S>(level, slots.clone(), state.half_step, now)?;
                backend.put_by_block(&values, &state.blocks, slots, density, velocity)?;
            }
            let refined = RefinedBlocks::new(backend, mesh, level, Blocks::All)?;
            backend.fill_refined(&refined, density, velocity)?;
        }
        Ok(())
    }

    /// Density and velocity of a level's own slots, in their order.
    pub(crate) fn own_fields(&self, level: usize) -> Result<Vec<f32>, SolverError> {
        let mut values = Vec::new();
        for slots in self.own_pieces(level) {
            values.extend(self.macroscopic(level, slots)?);
        }
        Ok(values)
    }

    /// A level's own slots, some at a time.
    fn own_pieces(&self, level: usize) -> impl Iterator<Item = Range<usize>> {
        let ranges = self.levels[level].level.halo.own().into_iter();
        ranges.flat_map(|range| {
            let end = range.end;
            range
                .step_by(SLOTS_AT_ONCE)
                .map(move |first| first..end.min(first + SLOTS_AT_ONCE))
        })
    }
}
