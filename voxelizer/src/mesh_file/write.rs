//! A mesh to bytes.

use super::error::FileError;
use super::header::{About, Header, RESERVED, Sizes};
use super::stream::Sink;
use crate::Mesh;
use bytemuck::NoUninit;
use cutlink_amr::NONE;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes a mesh; the bytes written. `extra` goes to the string map as it is (what was
/// read, how it was placed, the configuration); its keys must not be the format's own.
///
/// The caller gives a file under a temporary name and renames it, so that no half file is
/// left behind.
pub fn write<const D: usize>(
    mesh: &Mesh<D>,
    extra: &BTreeMap<String, String>,
    out: &mut (impl Write + Send),
) -> Result<u64, FileError> {
    let plan = Plan::of(mesh)?;
    let mut sink = Sink::new(out);
    sink.put(&plan.header(mesh, extra, mesh.checksum())?)?;
    let classes = &mesh.classes;
    for mask in [
        &classes.solid,
        &classes.boundary,
        &classes.ghost,
        &classes.interface,
    ] {
        plan.put_by_block(&mut sink, |old| mask[old as usize])?;
    }
    let links = &mesh.links;
    sink.put(bytemuck::cast_slice(&links.cells))?;
    plan.put_by_block(&mut sink, |old| mesh.forest.coord[old as usize])?;
    plan.put_by_block(&mut sink, |old| {
        plan.renumbered(mesh.forest.first_child[old as usize])
    })?;
    sink.put(bytemuck::cast_slice(&plan.level_start))?;
    let rows: Vec<u32> = links
        .blocks
        .iter()
        .map(|&old| plan.renumbered(old))
        .collect();
    sink.put(bytemuck::cast_slice(&rows))?;
    sink.put(bytemuck::cast_slice(&links.cell_start))?;
    sink.put(bytemuck::cast_slice(&links.q))?;
    sink.put(bytemuck::cast_slice(&links.patch))?;
    Ok(sink.finish()?)
}

/// Bytes that [`write()`] would write.
pub fn size<const D: usize>(
    mesh: &Mesh<D>,
    extra: &BTreeMap<String, String>,
) -> Result<u64, FileError> {
    let plan = Plan::of(mesh)?;
    // Its length does not depend on the checksum.
    let header = plan.header(mesh, extra, 0)?.len() as u64;
    Ok(header + plan.sizes.entries().1)
}

/// The canonical order of the blocks and the sizes of all arrays.
pub(super) struct Plan {
    /// Old id of each new one, or empty where they are the same.
    order: Vec<u32>,
    /// New id of each old one, or empty where they are the same.
    new_id: Vec<u32>,
    pub(super) level_start: Vec<u32>,
    pub(super) sizes: Sizes,
}

impl Plan {
    pub(super) fn of<const D: usize>(mesh: &Mesh<D>) -> Result<Self, FileError> {
        let forest = &mesh.forest;
        let blocks = forest.blocks();
        let mut level_start = vec![0];
        for ids in &forest.levels {
            level_start.push(level_start.last().map_or(0, |n| n + ids.len() as u32));
        }
        let in_place = |(ids, &first): (&Vec<u32>, &u32)| {
            let expected = ids.par_iter().enumerate();
            expected.all(|(i, &id)| id as usize == first as usize + i)
        };
        let canonical =
            blocks == forest.capacity() && forest.levels.iter().zip(&level_start).all(in_place);
        let (mut order, mut new_id) = (Vec::new(), Vec::new());
        if !canonical {
            order.extend(forest.ids());
            new_id.resize(forest.capacity(), NONE);
            for (&old, new) in order.iter().zip(0u32..) {
                new_id[old as usize] = new;
            }
        }
        let links = &mesh.links;
        let sizes = Sizes {
            dimension: D as u64,
            levels: forest.levels.len() as u64,
            blocks: blocks as u64,
            rows: links.blocks.len() as u64,
            cells: links.cells.len() as u64,
            links: links.q.len() as u64,
            patches: links.patch.len() as u64,
        };
        let plan = Self {
            order,
            new_id,
            level_start,
            sizes,
        };
        plan.check(mesh)?;
        Ok(plan)
    }

    /// What would make a file that cannot be read back.
    fn check<const D: usize>(&self, mesh: &Mesh<D>) -> Result<(), FileError> {
        let bad = |reason: &str| {
            Err(FileError::BadMesh {
                reason: reason.into(),
            })
        };
        let capacity = mesh.forest.capacity();
        let classes = &mesh.classes;
        let masks = [
            &classes.solid,
            &classes.boundary,
            &classes.ghost,
            &classes.interface,
        ];
        if masks.iter().any(|m| m.len() != capacity) {
            return bad("a class mask and the forest differ in length");
        }
        let links = &mesh.links;
        if links.cell_start.len() != links.blocks.len() + 1 {
            return bad("the link table should have one more cell start than it has rows");
        }
        if !links.patch.is_empty() && links.patch.len() != links.q.len() {
            return bad("the link table should have a patch for each link or none at all");
        }
        if links.blocks.par_iter().any(|&id| id as usize >= capacity) {
            return bad("the link table names a block that is not there");
        }
        let ascend = |pair: &[u32]| self.new_id(pair[0]) < self.new_id(pair[1]);
        if !links.blocks.par_windows(2).all(ascend) {
            return bad("the rows of the link table should be in level order");
        }
        Ok(())
    }

    fn new_id(&self, old: u32) -> u32 {
        self.new_id.get(old as usize).copied().unwrap_or(old)
    }

    /// The new id, or [`NONE`] for `NONE`.
    pub(super) fn renumbered(&self, old: u32) -> u32 {
        match old {
            NONE => NONE,
            old => self.new_id(old),
        }
    }

    pub(super) fn old_id(&self, new: u32) -> u32 {
        self.order.get(new as usize).copied().unwrap_or(new)
    }

    /// Whether old and new ids are the same.
    pub(super) fn is_canonical(&self) -> bool {
        self.order.is_empty()
    }

    pub(super) fn blocks(&self) -> usize {
        self.sizes.blocks as usize
    }

    /// Length, JSON, and spaces up to a multiple of 8; `checksum` is that of the mesh.
    pub(super) fn header<const D: usize>(
        &self,
        mesh: &Mesh<D>,
        extra: &BTreeMap<String, String>,
        checksum: u64,
    ) -> Result<Vec<u8>, FileError> {
        if let Some(key) = RESERVED.iter().find(|&&k| extra.contains_key(k)) {
            return Err(FileError::BadMesh {
                reason: format!("{key:?} is a key of the format and cannot be one of the caller's"),
            });
        }
        let about = About {
            frame: mesh.frame,
            fill: mesh.fill,
            graded: mesh.graded,
            patches: mesh.patches.clone(),
            checksum,
            periodic: mesh.forest.periodic,
        };
        let mut metadata = about.to_map(mesh.forest.levels.len());
        metadata.extend(extra.clone());
        let header = Header {
            metadata,
            arrays: self.sizes.entries().0,
        };
        let mut json = serde_json::to_vec(&header).map_err(io::Error::from)?;
        json.resize(json.len().next_multiple_of(8), b' ');
        let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
        bytes.append(&mut json);
        Ok(bytes)
    }

    /// Writes one item a block, in the new order.
    fn put_by_block<T: NoUninit + Send>(
        &self,
        sink: &mut Sink<impl Write + Send>,
        item: impl Fn(u32) -> T + Sync,
    ) -> io::Result<()> {
        const AT_ONCE: u32 = 1 << 17;
        let blocks = self.sizes.blocks as u32;
        let mut from = 0;
        let mut items = Vec::new();
        while from < blocks {
            let to = blocks.min(from.saturating_add(AT_ONCE));
            (from..to)
                .into_par_iter()
                .with_min_len(1 << 14)
                .map(|new| item(self.old_id(new)))
                .collect_into_vec(&mut items);
            sink.put(bytemuck::cast_slice(&items))?;
            from = to;
        }
        Ok(())
    }
}
