//! Boxes whose blocks a flow chooses.

use cutlink_amr::{Forest, NONE};
use cutlink_common::Error;
use cutlink_device::Host;
use cutlink_voxelizer::{Classes, LinkTable, Mesh, kernels::AdaptKernels};

/// A box with another forest and masks of solid cells by block; without links.
///
/// # Errors
/// Where memory is short.
pub(super) fn with_forest<const D: usize>(
    base: &Mesh<D>,
    forest: Forest<D>,
    solid: Vec<u64>,
) -> Result<Mesh<D>, Error>
where
    Host: AdaptKernels<D>,
{
    let rim = Host.interfaces(&forest)?;
    let blocks = forest.capacity();
    Ok(Mesh {
        frame: base.frame,
        classes: Classes {
            solid,
            boundary: vec![0; blocks],
            ghost: rim.ghost,
            interface: rim.interface,
        },
        links: LinkTable {
            blocks: base.links.blocks.clone(),
            row_of: vec![NONE; blocks],
            cell_start: base.links.cell_start.clone(),
            cells: base.links.cells.clone(),
            q: base.links.q.clone(),
            patch: base.links.patch.clone(),
        },
        patches: base.patches.clone(),
        fill: base.fill,
        graded: base.graded,
        forest,
    })
}
