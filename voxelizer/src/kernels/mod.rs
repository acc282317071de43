//! The stages of an embedding, for a backend to implement.
//!
//! | stage | contract | files in `cpu/` and `cuda/` |
//! |---|---|---|
//! | [`seed_roots`](MeshKernels::seed_roots) | winding number at the first cell of every root block | `seed` |
//! | [`classify`](MeshKernels::classify) | winding numbers of a level's cells, as solid masks | `classify` |
//! | [`mark`](MeshKernels::mark) | blocks to refine, by layers around the surface | `mark` |
//! | [`restrict`](MeshKernels::restrict) | of these, the ones that a window needs | `mark` |
//! | [`interfaces`](AdaptKernels::interfaces) | ghost and interface cells | `mark` |
//! | [`cut_links`](MeshKernels::cut_links) | the cut-link table of a level's leaves | `cut_links`, `pass` |
//! | [`hold`](AdaptKernels::hold), [`withdraw`](AdaptKernels::withdraw) | marks that a mesh with a body can meet | `adapt` |
//! | [`name_rows`](AdaptKernels::name_rows) | the blocks of the cut-link table's rows after an adaptation | `adapt` |
//! | [`tally`](AdaptKernels::tally) | sums for reports: cells by class, the checksum, thin parts | `tally` |
//!
//! On a GPU what gaps need of `classify` and `cut_links` is in `gaps` and `bridge`.
//!
//! All integer results are exact and the same on every backend. The one floating-point
//! result is q: the quotient of two exact integers, each rounded to f64, divided in f64 and
//! rounded to f32. Near gaps, classes depend on an angle in f64, which is computed by the same
//! operations in the same order everywhere, and so has the same bits too.

pub(crate) mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod lengths;
#[cfg(any(feature = "cuda", test))]
mod small;

use crate::{Fill, LinkTable, Mesh, VoxelError, refine::LevelMarks};
use cutlink_amr::{Forest, ForestKernels};
use cutlink_device::Backend;
use cutlink_mesher::{
    kernels::{BinKernels, Bins, FacetSet},
    robust::CapTree,
};

/// One level of the forest under construction: its blocks have consecutive ids.
#[derive(Debug, Clone, Copy)]
pub struct LevelView {
    /// The level.
    pub level: usize,
    /// Id of its first block: row 0 of the level's bins.
    pub first: usize,
    /// Number of its blocks.
    pub count: usize,
    /// Cell spacing in lattice units, a power of two.
    pub spacing: i32,
    /// Whether no finer level comes after it.
    pub last: bool,
}

/// Periodic images of the surface: facets shifted by the box's extent (see
/// `periodic.rs`), used by links across periodic faces alone.
#[derive(Debug)]
pub struct Images<'a, const D: usize, B: Backend> {
    /// The images, in the order of the directions in which they lie from the box.
    pub set: &'a FacetSet<D, B>,
    /// The level's lists of them, by row.
    pub bins: &'a Bins<B>,
    /// The first image by direction, and their number.
    pub starts: [u32; 28],
}

/// What the stages of a level read.
#[derive(Debug)]
pub struct LevelData<'a, const D: usize, B: Backend> {
    /// The surface.
    pub set: &'a FacetSet<D, B>,
    /// The forest.
    pub forest: &'a Forest<D, B>,
    /// The level's facet lists, by row.
    pub bins: &'a Bins<B>,
    /// For cut links in a periodic box.
    pub images: Option<Images<'a, D, B>>,
    /// The level.
    pub view: LevelView,
}

impl<const D: usize> LevelData<'_, D, cutlink_device::Host> {
    /// The walls in a row's list: all of it but the caps.
    #[inline]
    pub fn walls(&self, row: usize) -> impl Iterator<Item = u32> {
        let walls = self.set.walls;
        self.bins
            .of(row)
            .iter()
            .copied()
            .take_while(move |&f| f < walls)
    }

    /// Patches of the walls in a row's list, with repetitions.
    pub fn patches(&self, row: usize) -> impl Iterator<Item = usize> {
        let patch = |f: u32| self.set.patch.get(f as usize).copied().unwrap_or(0);
        self.walls(row).map(move |f| usize::from(patch(f)))
    }
}

impl<const D: usize, B: Backend> Images<'_, D, B> {
    /// The direction in which an image lies from the box.
    #[inline]
    pub fn direction(&self, image: u32) -> usize {
        self.starts.partition_point(|&start| start <= image) - 1
    }
}

/// Known winding numbers from which those of a level are computed.
#[derive(Debug)]
pub enum Seeds<'a, B: Backend> {
    /// At the first cell of each block.
    Blocks(B::Buf<i32>),
    /// At the anchors of the parents: see [`MeshKernels::classify`].
    Parents {
        /// 2^D numbers a parent.
        anchors: &'a B::Buf<i32>,
        /// Id of the parent that row 0 belongs to.
        first: usize,
        /// Which parents were uncertain: see [`Classified`].
        uncertain: &'a B::Buf<u8>,
    },
}

/// Which cells are solid.
#[derive(Debug, Clone, Copy)]
pub struct SolidRule<'a, const D: usize> {
    /// By winding number.
    pub fill: Fill,
    /// Contribution g of the caps of a surface that is not closed, to be subtracted from winding numbers; `None` for a
    /// closed one. With it, a cell is inside where |W - g| is at least a half
    /// (see [`cutlink_mesher::robust`]).
    pub gaps: Option<&'a CapTree<D>>,
}

/// Where links are cut.
#[derive(Debug)]
pub struct LinkRule<'a, B: Backend> {
    /// Which winding numbers are solid.
    pub fill: Fill,
    /// Patch of the links through gaps; `None` for a closed surface.
    pub gap: Option<u16>,
    /// Winding numbers and marks of the level's blocks.
    pub classified: &'a Classified<B>,
}

/// What a level's classification leaves for the next level, for the marks and for the links.
#[derive(Debug)]
pub struct Classified<B: Backend> {
    /// Winding numbers W: 2^D per block; unspecified on the finest level, unless links pass facets
    /// ([`Fill::passes_facets`]). Of a surface with gaps, in certain blocks W - g rounded.
    pub anchors: B::Buf<i32>,
    /// A mark of each block; empty for a closed surface. 0, certain: in all of the block, up to its sides, W - g rounded
    /// changes at walls alone, which decide its children's cells too. 1, uncertain: not certain, with |W - g| near a
    /// half or cells of both classes, and so is its parent; it is refined as one with walls. 2: neither.
    pub uncertain: B::Buf<u8>,
}

/// Which blocks of a level may be refined: see [`MeshKernels::restrict`].
#[derive(Debug)]
pub struct WindowPlaces<const D: usize, B: Backend> {
    /// Places on each axis.
    pub extent: [u32; D],
    /// A place holds 2^shift blocks of the level on each axis.
    pub shift: u32,
    /// By place, x fastest: 1 where its blocks may be refined, else 0.
    pub wanted: B::Buf<u8>,
}

/// Ghost and interface masks by block id.
#[derive(Debug)]
pub struct Rim<B: Backend> {
    /// Cells within two cells of the level's boundary.
    pub ghost: B::Buf<u64>,
    /// The next two.
    pub interface: B::Buf<u64>,
}

/// Sums over a mesh: see [`AdaptKernels::tally`].
#[derive(Debug, Clone, PartialEq)]
pub struct Tally<const D: usize> {
    /// Of each level: leaf blocks, and their boundary and solid cells.
    pub leaves: Vec<[u64; 3]>,
    /// The part of [`Mesh::checksum`] that sums over leaves.
    pub checksum: u64,
    /// Links with fluid at both ends, each counted from both.
    pub thin_links: u64,
    /// Blocks with cells of thin places, in the order of the table's rows.
    pub thin: Vec<ThinBlock<D>>,
}

/// A block with cells of thin places: see [`Thin`](crate::Thin).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThinBlock<const D: usize> {
    /// Its id.
    pub block: u32,
    /// Its level.
    pub level: u8,
    /// Its coordinates at its level.
    pub coord: [i32; D],
    /// The cells, a bit each.
    pub cells: u64,
}

/// The stages of [`Mesh::adapted`], [`Mesh::take`] and [`Mesh::counts`], which need no facets. Sealed, as [`ForestKernels`] is.
///
/// Stages end in errors where memory runs out or the device fails, and panic where arrays that belong together differ in length.
pub trait AdaptKernels<const D: usize>: ForestKernels<D> {
    /// Ghost and interface masks of all blocks.
    fn interfaces(&self, forest: &Forest<D, Self>) -> Result<Rim<Self>, VoxelError>;

    /// Withdraws marks to coarsen from root blocks, and from children of blocks whose flag in `held` is not 0.
    fn hold(
        &self,
        forest: &Forest<D, Self>,
        held: &Self::Buf<u8>,
        marks: &mut Self::Buf<u8>,
    ) -> Result<(), VoxelError>;

    /// Withdraws the marks to refine of those leaves of a level that have solid cells or cut links, or that touch a coarser
    /// leaf without such a mark, and adds their number to `withheld`.
    fn withdraw(
        &self,
        mesh: &Mesh<D, Self>,
        level: usize,
        marks: &mut Self::Buf<u8>,
        withheld: &mut Self::Buf<u32>,
    ) -> Result<(), VoxelError>;

    /// Writes the block of each row of a cut-link table, from the row of each block.
    fn name_rows(
        &self,
        row_of: &Self::Buf<u32>,
        blocks: &mut Self::Buf<u32>,
    ) -> Result<(), VoxelError>;

    /// Sums over the leaves and the cut links.
    fn tally(&self, mesh: &Mesh<D, Self>) -> Result<Tally<D>, VoxelError>;
}

/// The stages of [`crate::embed`]; see the module's table. Sealed, as [`ForestKernels`] and [`BinKernels`] are.
///
/// Stages end in errors where memory runs out, a table is too large or the device fails. They panic where arrays that
/// belong together differ in length, and where the forest's ids do not ascend
/// ([`Forest::is_contiguous`]).
pub trait MeshKernels<const D: usize>: AdaptKernels<D> + BinKernels<D> {
    /// Winding number at the centre of the first cell of every root block, by rays along x
    /// from outside through all facets, inside the box or not.
    fn seed_roots(
        &self,
        set: &FacetSet<D, Self>,
        forest: &Forest<D, Self>,
        spacing: i32,
    ) -> Result<Self::Buf<i32>, VoxelError>;

    /// Writes the solid masks of a level's blocks and returns their anchors: the winding
    /// numbers of the 2^D cells whose coordinates are 0 or 2 on each axis, the cells in
    /// which the first cells of the children lie. A child's first centre is a quarter
    /// of the parent's spacing below the anchor's on each axis.
    fn classify(
        &self,
        data: &LevelData<'_, D, Self>,
        seeds: Seeds<'_, Self>,
        rule: SolidRule<'_, D>,
        solid: &mut Self::Buf<u64>,
    ) -> Result<Classified<Self>, VoxelError>;

    /// Marks the blocks of the level to refine: see [`crate::refine`]. Sources are the blocks
    /// with a wall in their bins, and the `uncertain` ones.
    fn mark(
        &self,
        data: &LevelData<'_, D, Self>,
        solid: &Self::Buf<u64>,
        uncertain: &Self::Buf<u8>,
        marks: &LevelMarks<D>,
    ) -> Result<Self::Buf<u8>, VoxelError>;

    /// Withdraws the marks of the level's blocks at places that are not wanted.
    fn restrict(
        &self,
        forest: &Forest<D, Self>,
        view: LevelView,
        places: &WindowPlaces<D, Self>,
        marks: &mut Self::Buf<u8>,
    ) -> Result<(), VoxelError>;

    /// Appends the cut links of the level's leaves to the table, in order of blocks, cells
    /// and directions, and writes the boundary masks of its blocks. Of several crossings of one
    /// link the nearest is the cut; of equal ones, the lowest patch. With a `gap`, links into the body
    /// that no facet cuts are cut halfway, and belong to that patch.
    ///
    /// Where links pass facets ([`Fill::passes_facets`]), the cut is the nearest place where the kind changes by the
    /// sum of all crossings there; a link without one is not cut. Returns the number of links that are not cut though
    /// their winding number changes, each counted from both ends. Near gaps, in blocks that are not certain, all facets are walls.
    ///
    /// A link across periodic faces passes them halfway: crossings up to there are those with the surface, from there
    /// on those with its images in the direction that the link leaves the box. Those
    /// exactly on the face count only if their signs do not cancel.
    fn cut_links(
        &self,
        data: &LevelData<'_, D, Self>,
        solid: &Self::Buf<u64>,
        rule: LinkRule<'_, Self>,
        boundary: &mut Self::Buf<u64>,
        table: &mut LinkTable<Self>,
    ) -> Result<u64, VoxelError>;
}

/// # Panics
/// Where an array has not one entry for each block id.
fn check_len<const N: usize>(blocks: usize, lengths: [usize; N]) {
    for len in lengths {
        assert!(
            len == blocks,
            "an array should have one entry for each of {blocks} block ids, not {len}"
        );
    }
}
