//! Every invariant of an embedded mesh, beyond those of its forest.

use crate::{LinkViolation, Mesh};
use cutlink_amr::{CellRef, NONE, NeighborCell, OUTSIDE, dims};
use rayon::prelude::*;

/// The first invariant found broken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshViolation {
    /// The forest is not sound.
    #[error(transparent)]
    Forest(#[from] cutlink_amr::ForestViolation),
    /// Arrays of lengths that do not fit one another.
    #[error("array {array} has {len} elements, {expected} expected")]
    Length {
        /// The array.
        array: &'static str,
        /// Its length.
        len: usize,
        /// The length that fits.
        expected: usize,
    },
    /// Class masks that contradict one another or their block.
    #[error("block {block}: the {mask} mask {value:#x} is not possible: {reason}")]
    Mask {
        /// The block.
        block: u32,
        /// Which mask.
        mask: &'static str,
        /// Its value.
        value: u64,
        /// What it contradicts.
        reason: &'static str,
    },
    /// The link table is not sound.
    #[error("the link table: {0}")]
    Links(#[from] LinkViolation),
    /// A fluid cell beside a solid one without a cut between them.
    #[error(
        "block {block} cell {cell}: the link in direction {direction} leads into the body but is not cut"
    )]
    MissingLink {
        /// The block.
        block: u32,
        /// The fluid cell.
        cell: u32,
        /// The direction of the solid cell.
        direction: usize,
    },
    /// A cut link that leads out of the box, or whose other end does not see the cut.
    #[error(
        "block {block} cell {cell}: the cut in direction {direction} is missing from its other end"
    )]
    LoneLink {
        /// The block.
        block: u32,
        /// The cell.
        cell: u32,
        /// The direction.
        direction: usize,
    },
    /// Fluid and solid cells meet at a level interface.
    #[error(
        "block {block} cell {cell}: the body's surface lies between two levels in direction {direction}"
    )]
    SurfaceBetweenLevels {
        /// The block.
        block: u32,
        /// The cell.
        cell: u32,
        /// The direction.
        direction: usize,
    },
}

/// Checks the forest, the masks and the link table; names the first violation.
/// Cost: the forest's check, and 3^D lookups for each cell of a block near the surface.
pub fn validate<const D: usize>(mesh: &Mesh<D>) -> Result<(), MeshViolation> {
    mesh.forest.validate()?;
    check_lengths(mesh)?;
    let links = &mesh.links;
    links.check::<D>(&mesh.classes.boundary, mesh.patches.len())?;
    let first = mesh
        .forest
        .levels
        .par_iter()
        .flatten()
        .find_map_first(|&id| {
            let checked = check_masks(mesh, id).and_then(|()| check_surface(mesh, id));
            checked.err()
        });
    first.map_or(Ok(()), Err)
}

fn check_lengths<const D: usize>(mesh: &Mesh<D>) -> Result<(), MeshViolation> {
    let blocks = mesh.forest.capacity();
    let patches = if mesh.patches.len() > 1 {
        mesh.links.len()
    } else {
        0
    };
    let lengths = [
        ("solid", mesh.classes.solid.len(), blocks),
        ("boundary", mesh.classes.boundary.len(), blocks),
        ("ghost", mesh.classes.ghost.len(), blocks),
        ("interface", mesh.classes.interface.len(), blocks),
        ("patch", mesh.links.patch.len(), patches),
    ];
    for (array, len, expected) in lengths {
        if len != expected {
            return Err(MeshViolation::Length {
                array,
                len,
                expected,
            });
        }
    }
    Ok(())
}

fn check_masks<const D: usize>(mesh: &Mesh<D>, block: u32) -> Result<(), MeshViolation> {
    let at = block as usize;
    let masks = &mesh.classes;
    let wrong = |mask, value, reason| {
        Err(MeshViolation::Mask {
            block,
            mask,
            value,
            reason,
        })
    };
    let (solid, boundary) = (masks.solid[at], masks.boundary[at]);
    let (ghost, interface) = (masks.ghost[at], masks.interface[at]);
    if (solid | boundary | ghost | interface) & !dims::full_mask(D) != 0 {
        return wrong(
            "class",
            solid | boundary | ghost | interface,
            "it names cells beyond the block",
        );
    }
    if solid & boundary != 0 {
        return wrong("boundary", boundary, "boundary cells are fluid");
    }
    if boundary != 0 && !mesh.forest.is_leaf(block) {
        return wrong(
            "boundary",
            boundary,
            "a refined block has no boundary cells",
        );
    }
    if (boundary != 0) != (mesh.links.row_of[at] != NONE) {
        return wrong(
            "boundary",
            boundary,
            "boundary cells and link rows come together",
        );
    }
    let (near, beyond) = expected_rim(mesh, block);
    if ghost != near {
        return wrong(
            "ghost",
            ghost,
            "ghosts are the cells within two of the level's end",
        );
    }
    if interface != beyond {
        return wrong("interface", interface, "interface cells are the next two");
    }
    Ok(())
}

/// Ghost and interface cells by distance: for every place around the block where descent
/// from the root finds no block of its level, cells within 2 and within 4 of that place.
fn expected_rim<const D: usize>(mesh: &Mesh<D>, block: u32) -> (u64, u64) {
    let forest = &mesh.forest;
    let level = forest.level[block as usize];
    let (mut near, mut within) = (0u64, 0u64);
    for direction in 0..dims::directions(D) {
        let step = dims::step::<D>(direction);
        let coord = forest.coord[block as usize];
        let place: [i32; D] = std::array::from_fn(|a| coord[a] + step[a]);
        let found = forest.find(usize::from(level), forest.wrap(usize::from(level), place));
        if found.is_none_or(|other| forest.level[other as usize] == level) {
            continue;
        }
        for cell in 0..dims::cells(D) {
            let at = dims::unravel::<D>(cell, 4);
            // The place spans cells 4 s .. 4 s + 3 on each axis, seen from the block.
            let distance = (0..D)
                .map(|a| (4 * step[a] - at[a]).max(at[a] - 4 * step[a] - 3))
                .max()
                .unwrap_or(0);
            near |= u64::from(distance <= 2) << cell;
            within |= u64::from(distance <= 4) << cell;
        }
    }
    (near, within & !near)
}

fn check_surface<const D: usize>(mesh: &Mesh<D>, block: u32) -> Result<(), MeshViolation> {
    let solid = mesh.classes.solid[block as usize];
    let plain = |mask: u64| {
        let boundary = mesh.classes.boundary[block as usize];
        let same = |n: u32| n == OUTSIDE || n != NONE && mesh.classes.solid[n as usize] == mask;
        solid == mask && boundary == 0 && mesh.forest.neighbors_of(block).all(same)
    };
    if !mesh.forest.is_leaf(block) || plain(0) || plain(dims::full_mask(D)) {
        return Ok(());
    }
    for cell in 0..dims::cells(D) as u32 {
        for direction in 0..dims::directions(D) {
            if direction != dims::center(D) {
                check_pair(mesh, CellRef { block, cell }, direction)?;
            }
        }
    }
    Ok(())
}

/// One cell and its neighbour in one direction.
fn check_pair<const D: usize>(
    mesh: &Mesh<D>,
    at: CellRef,
    direction: usize,
) -> Result<(), MeshViolation> {
    let CellRef { block, cell } = at;
    let is_solid = |c: CellRef| mesh.classes.solid[c.block as usize] >> c.cell & 1 == 1;
    let lone = MeshViolation::LoneLink {
        block,
        cell,
        direction,
    };
    let cut = mesh.link(at, direction).is_some();
    match mesh.forest.neighbor_cell(at, direction) {
        NeighborCell::Outside if cut => Err(lone),
        NeighborCell::Outside => Ok(()),
        NeighborCell::Refined(n) if mesh.graded && !cut && is_solid(n) && !is_solid(at) => {
            Err(MeshViolation::MissingLink {
                block,
                cell,
                direction,
            })
        }
        NeighborCell::Coarser(_) | NeighborCell::Refined(_) if mesh.graded => Ok(()),
        NeighborCell::Coarser(n) | NeighborCell::Refined(n) => {
            if cut || is_solid(n) != is_solid(at) {
                return Err(MeshViolation::SurfaceBetweenLevels {
                    block,
                    cell,
                    direction,
                });
            }
            Ok(())
        }
        NeighborCell::Same(n) => {
            let opposite = dims::directions(D) - 1 - direction;
            match (is_solid(at), is_solid(n)) {
                (false, true) if !cut => Err(MeshViolation::MissingLink {
                    block,
                    cell,
                    direction,
                }),
                (false, false) if cut != mesh.link(n, opposite).is_some() => Err(lone),
                _ => Ok(()),
            }
        }
    }
}
