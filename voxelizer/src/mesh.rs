//! The embedded mesh: a forest, the class of every cell, and the cut-link table.

use crate::constants::fill;
use crate::kernels::{AdaptKernels, cpu::tally};
#[cfg(doc)]
use crate::thin;
use crate::{Frame, Link, LinkTable, Thin, VoxelError};
use cutlink_amr::{CellRef, Forest, NONE, checksum, dims};
use cutlink_device::{Backend, Host};
use rayon::prelude::*;

/// Which winding numbers are solid: two fill rules for flows around bodies, and their
/// complements for flows inside what the surface encloses; or none, for surfaces without a side that is solid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum Fill {
    /// Any but zero: overlapping and nested bodies, inside-out ones too.
    #[default]
    NonZero = fill::NON_ZERO,
    /// Odd ones: a body within a body is a cavity.
    EvenOdd = fill::EVEN_ODD,
    /// Zero: the fluid is inside by `NonZero`.
    Zero = fill::ZERO,
    /// Even ones: the fluid is inside by `EvenOdd`.
    Even = fill::EVEN,
    /// None: every facet is a wall with fluid on both sides, and [`crate::keep_sheltered`] makes solid what a seed does
    /// not reach. That may reach the faces of the box.
    Sheets = fill::SHEETS,
    /// The same, where the fluid around the seed may not reach the faces of the box.
    Sheltered = fill::SHELTERED,
}

impl Fill {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::NonZero,
        Self::EvenOdd,
        Self::Zero,
        Self::Even,
        Self::Sheets,
        Self::Sheltered,
    ];

    /// The name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::NonZero => "nonzero",
            Self::EvenOdd => "evenodd",
            Self::Zero => "zero",
            Self::Even => "even",
            Self::Sheets => "sheets",
            Self::Sheltered => "sheltered",
        }
    }

    /// Whether a point of this winding number is solid.
    pub fn is_solid(self, winding: i32) -> bool {
        match self {
            Self::NonZero => winding != 0,
            Self::EvenOdd => winding & 1 != 0,
            Self::Zero => winding == 0,
            Self::Even => winding & 1 == 0,
            Self::Sheets | Self::Sheltered => false,
        }
    }

    /// The rule that separates inside from outside: `nonzero` or `evenodd`; `sheets` where none does.
    pub fn rule(self) -> &'static str {
        match self {
            Self::NonZero | Self::Zero => "nonzero",
            Self::EvenOdd | Self::Even => "evenodd",
            Self::Sheets | Self::Sheltered => "sheets",
        }
    }

    /// Where the fluid is: `outside` or `inside` of what the surface encloses.
    pub fn flow(self) -> &'static str {
        match self {
            Self::NonZero | Self::EvenOdd | Self::Sheets => "outside",
            Self::Zero | Self::Even | Self::Sheltered => "inside",
        }
    }

    /// The flow inside instead of around, and back: solid and fluid exchanged.
    pub fn complement(self) -> Self {
        match self {
            Self::NonZero => Self::Zero,
            Self::EvenOdd => Self::Even,
            Self::Zero => Self::NonZero,
            Self::Even => Self::EvenOdd,
            Self::Sheets => Self::Sheltered,
            Self::Sheltered => Self::Sheets,
        }
    }

    /// Whether a facet may have fluid on both sides without being a wall, so that links pass it: where the fluid is
    /// inside, bodies that overlap, are nested or share faces are open to one another. From outside, whatever a link
    /// meets first is a wall, be it without thickness.
    pub fn passes_facets(self) -> bool {
        matches!(self, Self::Zero | Self::Even)
    }

    /// Whether facets are walls with fluid on both sides, whatever their directions, so that nothing need be closed.
    pub fn is_sheets(self) -> bool {
        matches!(self, Self::Sheets | Self::Sheltered)
    }

    /// Whether only the parity of winding numbers counts, so that facets may point either way.
    pub fn by_parity(self) -> bool {
        matches!(self, Self::EvenOdd | Self::Even)
    }
}

/// One bit a cell and class, one word a block id (cells in the order of the forest's
/// blocks; in 2D the low 16 bits). Refined blocks have masks too: of their own cells.
#[derive(Debug)]
pub struct Classes<B: Backend = Host> {
    /// The centre is solid by the fill rule: inside the body, or outside the duct.
    pub solid: B::Buf<u64>,
    /// Fluid, and the surface cuts at least one link of the cell.
    pub boundary: B::Buf<u64>,
    /// Within two cells of the boundary of the level (J25 §4.1).
    pub ghost: B::Buf<u64>,
    /// The next two cells.
    pub interface: B::Buf<u64>,
}

/// What [`crate::embed`] makes and the mesh file holds.
#[derive(Debug)]
pub struct Mesh<const D: usize, B: Backend = Host> {
    /// The box and its cells.
    pub frame: Frame<D>,
    /// The blocks; ids ascend with the level.
    pub forest: Forest<D, B>,
    /// The class of every cell.
    pub classes: Classes<B>,
    /// Where the surface cuts the links.
    pub links: LinkTable<B>,
    /// Names of the surface's patches.
    pub patches: Vec<String>,
    /// The fill rule that separates solid from fluid.
    pub fill: Fill,
    /// Whether the surface may lie in leaves of several levels, and cross from one to another.
    pub graded: bool,
}

/// Cells of the leaves of one level, by class; `fluid + boundary + solid` is 4^D `leaf_blocks`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelCounts {
    /// The level, 0 the root.
    pub level: usize,
    /// Its cell spacing.
    pub dx: f64,
    /// Blocks, refined ones included.
    pub blocks: usize,
    /// Blocks without children.
    pub leaf_blocks: usize,
    /// Leaf cells outside the body that no cut link leaves.
    pub fluid: u64,
    /// Leaf cells outside the body with a cut link.
    pub boundary: u64,
    /// Leaf cells inside the body.
    pub solid: u64,
}

/// What a report says about a mesh: see [`Mesh::counts`].
#[derive(Debug, Clone, PartialEq)]
pub struct MeshCounts<const D: usize> {
    /// Cells of each level's leaves, by class.
    pub levels: Vec<LevelCounts>,
    /// Parts of the body thinner than a cell.
    pub thin: Thin<D>,
    /// [`Mesh::checksum`].
    pub checksum: u64,
}

impl<const D: usize, B: Backend> Mesh<D, B> {
    /// A copy on the host.
    pub fn download(&self, backend: &B) -> Result<Mesh<D>, VoxelError> {
        Ok(Mesh {
            frame: self.frame,
            forest: self.forest.download(backend)?,
            classes: Classes {
                solid: backend.download(&self.classes.solid)?,
                boundary: backend.download(&self.classes.boundary)?,
                ghost: backend.download(&self.classes.ghost)?,
                interface: backend.download(&self.classes.interface)?,
            },
            links: self.links.download(backend)?,
            patches: self.patches.clone(),
            fill: self.fill,
            graded: self.graded,
        })
    }

    /// Counts by class, from leaf blocks, boundary cells and solid cells of each level.
    fn level_counts_of(&self, leaves: &[[u64; 3]]) -> Vec<LevelCounts> {
        let count = |(level, &[leaf_blocks, boundary, solid]): (usize, &[u64; 3])| LevelCounts {
            level,
            dx: self.frame.dx_at(level),
            blocks: B::len(&self.forest.levels[level]),
            leaf_blocks: leaf_blocks as usize,
            fluid: leaf_blocks * dims::cells(D) as u64 - boundary - solid,
            boundary,
            solid,
        };
        leaves.iter().enumerate().map(count).collect()
    }

    /// The checksum, from the part that sums over leaves.
    fn checksum_of(&self, leaves: u64) -> u64 {
        let sum = leaves.wrapping_add(checksum::mix_all(self.forest.root.map(u64::from)));
        match self.forest.periodic {
            all if all == [false; D] => sum,
            some => sum.wrapping_add(checksum::mix_all(some.map(|p| u64::from(p) + 2))),
        }
    }
}

impl<const D: usize, B: AdaptKernels<D>> Mesh<D, B> {
    /// What a report says about a mesh, counted where the mesh is. The same as [`Mesh::level_counts`], [`thin()`] and
    /// [`Mesh::checksum`]. Cost: a pass over the blocks and one over the links.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub fn counts(&self, kernels: &B) -> Result<MeshCounts<D>, VoxelError> {
        let tally = kernels.tally(self)?;
        Ok(MeshCounts {
            levels: self.level_counts_of(&tally.leaves),
            thin: self.thin_of(tally.thin_links, tally.thin),
            checksum: self.checksum_of(tally.checksum),
        })
    }
}

impl<const D: usize> Mesh<D> {
    /// A copy in a backend's memory.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    ///
    /// # Panics
    /// Where the arrays were changed so that they do not fit together ([`crate::validate`] says how).
    pub fn upload<B: Backend>(&self, backend: &B) -> Result<Mesh<D, B>, VoxelError> {
        let classes = &self.classes;
        let masks = [
            &classes.solid,
            &classes.boundary,
            &classes.ghost,
            &classes.interface,
        ];
        let blocks = self.forest.capacity();
        assert_eq!(masks.map(Vec::len), [blocks; 4], "a mask for each block id");
        let table = &self.links;
        if let Err(violation) = table.check::<D>(&classes.boundary, self.patches.len()) {
            panic!("a table of cut links should be sound: {violation}");
        }
        let is_row = |&row: &u32| row == NONE || (row as usize) < table.blocks.len();
        assert!(table.row_of.par_iter().all(is_row), "rows should exist");
        let upload = |mask: &Vec<u64>| backend.upload(mask.clone());
        Ok(Mesh {
            frame: self.frame,
            forest: self.forest.upload(backend)?,
            classes: Classes {
                solid: upload(&classes.solid)?,
                boundary: upload(&classes.boundary)?,
                ghost: upload(&classes.ghost)?,
                interface: upload(&classes.interface)?,
            },
            links: LinkTable {
                blocks: backend.upload(table.blocks.clone())?,
                row_of: backend.upload(table.row_of.clone())?,
                cell_start: backend.upload(table.cell_start.clone())?,
                cells: backend.upload(table.cells.clone())?,
                q: backend.upload(table.q.clone())?,
                patch: backend.upload(table.patch.clone())?,
            },
            patches: self.patches.clone(),
            fill: self.fill,
            graded: self.graded,
        })
    }

    /// The cut of the link that leaves `cell` in `direction`; `None` where the surface does
    /// not cut it, the cell is solid, or it is not of a leaf.
    pub fn link(&self, cell: CellRef, direction: usize) -> Option<Link> {
        let boundary = self.classes.boundary[cell.block as usize];
        self.links.link(cell.block, boundary, cell.cell, direction)
    }

    /// Cells of each level's leaves, by class.
    pub fn level_counts(&self) -> Vec<LevelCounts> {
        let levels = 0..self.forest.levels.len();
        let leaves: Vec<_> = levels.map(|level| tally::leaves(self, level)).collect();
        self.level_counts_of(&leaves)
    }

    /// Links of each patch.
    pub fn patch_links(&self) -> Vec<u64> {
        let mut counts = vec![0; self.patches.len()];
        if self.links.patch.is_empty() {
            counts[0] = self.links.len() as u64;
        }
        for &patch in &self.links.patch {
            counts[usize::from(patch)] += 1;
        }
        counts
    }

    /// Cell centres of level `finest` inside the body, counted through the leaves: a solid
    /// leaf cell of a coarser level stands for all the finer cells in it.
    pub fn solid_at(&self, finest: usize) -> u64 {
        self.level_counts()
            .iter()
            .map(|c| c.solid << (D * (finest - c.level)))
            .sum()
    }

    /// A checksum of leaves, classes, cut distances and patches that does not depend on
    /// block ids or order.
    pub fn checksum(&self) -> u64 {
        self.checksum_of(tally::checksum_of_leaves(self))
    }
}
