//! Keeps the fluid that is connected to a seed point, and makes the rest solid.
//!
//! For ducts and vessels with walls of finite thickness, and for engines with several cavities: there the fill rule
//! alone cannot tell the flow from other cavities. Cells are connected by every uncut lattice link, along axes and
//! diagonals, so a wall thinner than a cell still separates. At a level interface a cell is connected to the
//! neighbouring coarser cell.
//!
//! The forest stays as it is. Cost: one pass over the leaves, in sequence; a block without
//! walls and solid cells counts as one cell.

use crate::{Mesh, VoxelError, relink::relink};
use cutlink_amr::{CellRef, NONE, NeighborCell, OUTSIDE, dims};
use cutlink_device::{Backend, DeviceError, ErrorKind, Failure, Host, UnionFind};

/// What was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Fluid leaf cells around the point, boundary cells included.
    pub fluid: u64,
    /// Fluid leaf cells that became solid.
    pub dropped: u64,
}

/// Why no fluid could be kept.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SeedError {
    /// The point is not in the box.
    #[error("the seed {point:?} lies outside the box")]
    Outside {
        /// The point.
        point: Vec<f64>,
    },
    /// The point is not in a fluid cell.
    #[error("the seed {point:?} lies in a solid cell, with its centre at {center:?}")]
    Solid {
        /// The point.
        point: Vec<f64>,
        /// Centre of the leaf cell around it.
        center: Vec<f64>,
    },
    /// The point lies in fluid that the size of closed holes makes part of the walls.
    #[error(
        "the seed's cell, with its centre at {center:?}, lies {distance:.3e} from the surface: to close holes of this \
        size, the seed needs more than {needed:.3e}"
    )]
    Narrow {
        /// Centre of the leaf cell around the point.
        center: Vec<f64>,
        /// Its distance from the surface.
        distance: f64,
        /// The distance it needs.
        needed: f64,
    },
    /// Fluid that should be sheltered reaches a face of the box.
    #[error(
        "the fluid around the seed leaks out to the {face} face of the box; the narrowest place of the widest way there \
        is at {at}, about {width:.3e} wide",
        at = digits(place)
    )]
    Leak {
        /// The face: `lower x`.
        face: String,
        /// The place, in lengths.
        place: Vec<f64>,
        /// Diameter of the largest ball that fits there, about, in lengths.
        width: f64,
        /// A size of holes to close that is certainly large enough for this place.
        size: f64,
    },
    /// No memory for the sets.
    #[error(transparent)]
    Voxel(#[from] VoxelError),
}

impl Failure for SeedError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Voxel(error) => error.kind(),
            _ => ErrorKind::Geometry,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match *self {
            Self::Voxel(ref error) => return error.hint(),
            Self::Leak { size, width, .. } => {
                // Two finest cells more than the width.
                let unresolved = match width < size - width {
                    true => " (a smaller size may do: the cells are too wide to measure the hole)",
                    false => "",
                };
                return Some(format!(
                    "close the hole in the surface, or let --close-holes {} close it{unresolved}; where the fluid may \
                     reach the box, use --flow outside",
                    rounded_up(size)
                ));
            }
            Self::Narrow { .. } => "move --seed to a wider place, or give a smaller --close-holes",
            _ => "give --seed in metres after placement, inside the fluid to keep",
        };
        Some(hint.into())
    }

    fn of_device(&self) -> Option<&DeviceError> {
        match self {
            Self::Voxel(error) => error.of_device(),
            _ => None,
        }
    }
}

/// A length with two digits, not less than it is.
fn rounded_up(length: f64) -> String {
    if !(length.is_finite() && length > 0.0) {
        return length.to_string();
    }
    let tens = length.log10().floor() as i32 - 1;
    let digits = (length / 10f64.powi(tens) * (1.0 - 1e-12)).ceil();
    format!("{digits}e{tens}")
        .parse()
        .map_or_else(|_| length.to_string(), |x: f64| x.to_string())
}

/// A point with six digits.
fn digits(point: &[f64]) -> String {
    let rounded = point
        .iter()
        .map(|x| format!("{x:.5e}").parse::<f64>().unwrap_or(*x));
    format!("{:?}", rounded.collect::<Vec<_>>())
}

/// Makes every fluid cell solid that is not joined to the one around `point` (in lengths).
///
/// # Errors
/// A point outside the box or in a solid cell; too little memory. The mesh is then unchanged.
pub fn keep_connected<const D: usize>(
    mesh: &mut Mesh<D>,
    point: [f64; D],
) -> Result<Kept, SeedError> {
    let seed = seed_cell(mesh, point)?;
    let mut parts = Parts::of_fluid(mesh)?;
    let root = parts.root(seed);
    let kept = drop_others(mesh, |at| parts.root(at) == root);
    relink(mesh, &[])?;
    Ok(kept)
}

/// The fluid leaf cell around a point.
pub(crate) fn seed_cell<const D: usize>(
    mesh: &Mesh<D>,
    point: [f64; D],
) -> Result<CellRef, SeedError> {
    let of_box = |a: usize| (point[a] - mesh.frame.origin[a]) / mesh.frame.dx;
    let seed = mesh.forest.leaf_at(std::array::from_fn(of_box));
    let seed = seed.ok_or_else(|| SeedError::Outside {
        point: point.to_vec(),
    })?;
    if mesh.classes.solid[seed.block as usize] >> seed.cell & 1 == 1 {
        let level = usize::from(mesh.forest.level[seed.block as usize]);
        let center = mesh.frame.center(level, mesh.forest.cell_coord(seed));
        return Err(SeedError::Solid {
            point: point.to_vec(),
            center: center.to_vec(),
        });
    }
    Ok(seed)
}

/// Connected components: one node for a block without walls and solid cells, one per cell for others.
pub(crate) struct Parts {
    /// First node of each block.
    first: Vec<u32>,
    sets: UnionFind,
}

fn is_plain<const D: usize>(mesh: &Mesh<D>, block: u32) -> bool {
    mesh.classes.solid[block as usize] == 0 && mesh.classes.boundary[block as usize] == 0
}

impl Parts {
    /// The components of a mesh's fluid.
    ///
    /// # Errors
    /// Too little memory; more cells near walls than 32 bits can number.
    pub(crate) fn of_fluid<const D: usize>(mesh: &Mesh<D>) -> Result<Self, VoxelError> {
        let mut parts = Self::new(mesh)?;
        for &block in mesh.forest.levels.iter().flatten() {
            if mesh.forest.is_leaf(block) {
                parts.join_block(mesh, block);
            }
        }
        Ok(parts)
    }

    /// The number of a fluid cell's component.
    pub(crate) fn root(&mut self, at: CellRef) -> u32 {
        let node = self.node(at);
        self.sets.root(node)
    }

    fn new<const D: usize>(mesh: &Mesh<D>) -> Result<Self, VoxelError> {
        let blocks = mesh.forest.capacity();
        let mut first = Host.alloc("fluid parts", blocks + 1, 0u32)?;
        let mut next = 0u64;
        for block in 0..blocks as u32 {
            first[block as usize] = next as u32;
            next += match mesh.forest.is_leaf(block) {
                false => 0,
                true if is_plain(mesh, block) => 1,
                true => dims::cells(D) as u64,
            };
        }
        if next > u64::from(u32::MAX) {
            let table = "table of fluid parts";
            return Err(VoxelError::TooLarge { table });
        }
        first[blocks] = next as u32;
        let sets = UnionFind::try_new("fluid parts", next as usize)?;
        Ok(Self { first, sets })
    }

    fn node(&self, at: CellRef) -> u32 {
        let first = self.first[at.block as usize];
        let single = self.first[at.block as usize + 1] - first <= 1;
        if single { first } else { first + at.cell }
    }

    fn join(&mut self, a: CellRef, b: CellRef) {
        let (a, b) = (self.node(a), self.node(b));
        self.sets.join(a, b);
    }

    fn join_block<const D: usize>(&mut self, mesh: &Mesh<D>, block: u32) {
        if !is_plain(mesh, block) {
            for cell in 0..dims::cells(D) as u32 {
                self.join_cell(mesh, CellRef { block, cell }, |_| true);
            }
            return;
        }
        let mut ends = 0u32;
        for (direction, n) in mesh.forest.neighbors_of(block).enumerate() {
            if n == NONE {
                ends |= 1 << direction;
            } else if n != OUTSIDE && mesh.forest.is_leaf(n) && is_plain(mesh, n) {
                self.join(CellRef { block, cell: 0 }, CellRef { block: n, cell: 0 });
            }
        }
        if ends != 0 {
            // Coarser leaves may have walls: go cell by cell.
            for cell in 0..dims::cells(D) as u32 {
                let at = CellRef { block, cell };
                self.join_cell(mesh, at, |n| matches!(n, NeighborCell::Coarser(_)));
            }
        }
    }

    fn join_cell<const D: usize>(
        &mut self,
        mesh: &Mesh<D>,
        at: CellRef,
        wanted: impl Fn(NeighborCell) -> bool,
    ) {
        let is_solid = |c: CellRef| mesh.classes.solid[c.block as usize] >> c.cell & 1 == 1;
        if is_solid(at) {
            return;
        }
        let boundary = mesh.classes.boundary[at.block as usize];
        let cut = mesh.links.cell(at.block, boundary, at.cell);
        let cut = cut.map_or(0, |(directions, _)| directions);
        for direction in (0..dims::directions(D)).filter(|d| cut >> d & 1 == 0) {
            let there = mesh.forest.neighbor_cell(at, direction);
            if let NeighborCell::Same(n) | NeighborCell::Coarser(n) = there
                && wanted(there)
                && !is_solid(n)
            {
                self.join(at, n);
            }
        }
    }
}

/// Makes the fluid cells solid that are not kept. Updates the solid masks, of the leaves first, then of the blocks above them: a fluid cell of
/// a refined block becomes solid where all the cells in its place are.
pub(crate) fn drop_others<const D: usize>(
    mesh: &mut Mesh<D>,
    mut keeps: impl FnMut(CellRef) -> bool,
) -> Kept {
    let mut kept = Kept {
        fluid: 0,
        dropped: 0,
    };
    for level in (0..mesh.forest.levels.len()).rev() {
        for &block in &mesh.forest.levels[level] {
            let mut solid = mesh.classes.solid[block as usize];
            let children = mesh.forest.first_child[block as usize];
            let fluid = !solid;
            for cell in (0..dims::cells(D) as u32).filter(|c| fluid >> c & 1 == 1) {
                let stays = if children == NONE {
                    keeps(CellRef { block, cell })
                } else {
                    !mesh.classes.solid_below::<D>(children, cell)
                };
                solid |= u64::from(!stays) << cell;
                if children == NONE {
                    kept.fluid += u64::from(stays);
                    kept.dropped += u64::from(!stays);
                }
            }
            mesh.classes.solid[block as usize] = solid;
        }
    }
    kept
}

impl crate::Classes {
    /// Whether the 2^D cells in the place of a refined block's cell are all solid.
    fn solid_below<const D: usize>(&self, first_child: u32, cell: u32) -> bool {
        let at = dims::unravel::<D>(cell as usize, 4);
        (0..dims::children(D)).all(|i| {
            let (child, fine) = dims::below(at, dims::unravel::<D>(i, 2));
            self.solid[first_child as usize + child] >> dims::ravel::<D>(fine, 4) & 1 == 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_rounded_up() {
        let cases = [
            (0.0123, "0.013"),
            (0.012, "0.012"),
            (9.91, "10"),
            (123.0, "130"),
            (2.5e-7, "0.00000025"),
        ];
        for (length, want) in cases {
            assert_eq!(rounded_up(length), want);
        }
    }
}
