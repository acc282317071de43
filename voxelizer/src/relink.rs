//! The cut-link table after cells have become solid.

use crate::{LinkTable, Mesh, VoxelError, pack_cell};
use cutlink_amr::{CellRef, NONE};
use cutlink_device::{Backend, Host, memory};

/// A link that no facet cuts, from a fluid cell into a solid one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddedLink {
    pub(crate) at: CellRef,
    pub(crate) direction: usize,
    pub(crate) patch: u16,
}

/// Cut distance of added links: nothing is known but that the wall lies between the centres.
const HALFWAY: f32 = 0.5;

/// Removes the links of cells that became solid from the table, and adds some, which are in order of block, cell and
/// direction and not in the table.
///
/// # Errors
/// Too little memory.
pub(crate) fn relink<const D: usize>(
    mesh: &mut Mesh<D>,
    added: &[AddedLink],
) -> Result<(), VoxelError> {
    let row_of = Host.alloc("link rows", mesh.forest.capacity(), NONE)?;
    let old = std::mem::replace(
        &mut mesh.links,
        LinkTable {
            blocks: Vec::new(),
            row_of,
            cell_start: vec![0],
            cells: Vec::new(),
            q: Vec::new(),
            patch: Vec::new(),
        },
    );
    let named = mesh.patches.len() > 1;
    let table = &mut mesh.links;
    let most = old.q.len() + added.len();
    table.cells = memory::with_capacity("cut links", old.cells.len() + added.len())?;
    table.q = memory::with_capacity("cut links", most)?;
    table.patch = memory::with_capacity("cut links", if named { most } else { 0 })?;
    let mut added = added.iter().copied().peekable();
    // Ids ascend with the level, and so do the rows.
    let mut blocks: Vec<u32> = old.blocks.clone();
    blocks.extend(added.clone().map(|link| link.at.block));
    blocks.sort_unstable();
    blocks.dedup();
    for block in blocks {
        let id = block as usize;
        let (before, solid) = (mesh.classes.boundary[id], mesh.classes.solid[id]);
        let mut boundary = 0;
        for cell in 0..64 {
            let mut links = [(0.0f32, 0u16); 27];
            let mut directions = 0;
            if let Some((cut, first)) = old
                .cell(block, before, cell)
                .filter(|_| solid >> cell & 1 == 0)
            {
                directions = cut;
                let mut rest = cut;
                for at in first as usize.. {
                    if rest == 0 {
                        break;
                    }
                    let patch = old.patch.get(at).copied().unwrap_or(0);
                    links[rest.trailing_zeros() as usize] = (old.q[at], patch);
                    rest &= rest - 1;
                }
            }
            let own = CellRef { block, cell };
            while let Some(link) = added.next_if(|link| link.at == own) {
                directions |= 1 << link.direction;
                links[link.direction] = (HALFWAY, link.patch);
            }
            if directions == 0 {
                continue;
            }
            boundary |= 1 << cell;
            table
                .cells
                .push(pack_cell(directions, table.q.len() as u64));
            for (q, patch) in (0..27)
                .filter(|d| directions >> d & 1 == 1)
                .map(|d| links[d])
            {
                table.q.push(q);
                table.patch.extend(named.then_some(patch));
            }
        }
        mesh.classes.boundary[id] = boundary;
        if boundary != 0 {
            table.row_of[id] = table.blocks.len() as u32;
            table.blocks.push(block);
            table.cell_start.push(table.cells.len() as u32);
        }
    }
    Ok(())
}
