//! The stages of a linear tree, for a backend to implement.
//!
//! | stage | contract | instead of W24's | files in `cpu/` and `cuda/` |
//! |---|---|---|---|
//! | [`sort_keys`](BuildKernels::sort_keys) | keys ascending | | `ancestors` |
//! | [`ancestors`](BuildKernels::ancestors) | all proper ancestors of sorted keys, by level | Alg. 2: completion of pairs | `ancestors` |
//! | [`balance`](BuildKernels::balance) | the blocks that 2:1 needs refined on the next coarser level | Alg. 4 | `balance` |
//! | [`leaves`](BuildKernels::leaves) | children that are not refined, sorted | Alg. 3: linearization | `leaves` |
//! | [`faces`](BuildKernels::faces) | what lies beyond each face, hanging faces from both sides | Alg. 5: from the fine side | `faces` |
//! | [`close_refine`](CloseKernels::close_refine), [`close_coarsen`](CloseKernels::close_coarsen), [`close_rest`](CloseKernels::close_rest) | marks under 2:1 | Alg. 6, then balance | `close` |
//! | [`count`](CloseKernels::count), [`emit`](CloseKernels::emit) | the new leaves in order, and the map to them | Alg. 6 and 7 | `emit` |
//! | [`leaves_of`](BuildKernels::leaves_of), [`mark_refined`](BuildKernels::mark_refined) | from and to a forest | | `convert` |
//!
//! All are exact: every backend gives the same arrays, order included.

use crate::{
    Forest, ForestError, ForestKernels,
    linear::{Counted, Faces, Grid, Leaves},
};

/// The stages of [`Leaves`], in groups; see the module's table.
pub trait LinearKernels<const D: usize>: BuildKernels<D> + CloseKernels<D> {}

/// The leaves of wanted blocks, of a forest, and what lies beyond their faces.
pub trait BuildKernels<const D: usize>: ForestKernels<D> {
    /// The keys, sorted.
    fn sort_keys(&self, keys: Self::Buf<u64>) -> Result<Self::Buf<u64>, ForestError>;

    /// The proper ancestors of blocks whose keys are sorted, by level, each level sorted and without repetition. No more
    /// levels than have any.
    ///
    /// # Errors
    /// [`ForestError::NoBlocks`] where words are not keys of blocks of the grid.
    fn ancestors(
        &self,
        grid: &Grid<D>,
        keys: &Self::Buf<u64>,
    ) -> Result<Vec<Self::Buf<u64>>, ForestError>;

    /// Adds to the sorted refined blocks of `level - 1` the parents of all blocks of `level` that touch one of `finer`,
    /// the sorted refined blocks of `level`.
    fn balance(
        &self,
        grid: &Grid<D>,
        level: u32,
        finer: &Self::Buf<u64>,
        coarser: &mut Self::Buf<u64>,
    ) -> Result<(), ForestError>;

    /// The root blocks and the children of refined blocks that are not refined, sorted. Refined blocks are sorted, by
    /// level, and the parents of those of each level are refined.
    fn leaves(
        &self,
        grid: &Grid<D>,
        refined: &[Self::Buf<u64>],
    ) -> Result<Self::Buf<u64>, ForestError>;

    /// The codes and the hanging table of [`Faces`].
    fn faces(&self, leaves: &Leaves<D, Self>) -> Result<Faces<D, Self>, ForestError>;

    /// The keys of a forest's leaves, sorted.
    fn leaves_of(
        &self,
        grid: &Grid<D>,
        forest: &Forest<D, Self>,
    ) -> Result<Self::Buf<u64>, ForestError>;

    /// Marks the blocks of a level of a forest to be refined whose keys are among the sorted `refined`.
    fn mark_refined(
        &self,
        grid: &Grid<D>,
        forest: &Forest<D, Self>,
        level: usize,
        refined: &Self::Buf<u64>,
        marks: &mut Self::Buf<u8>,
    ) -> Result<(), ForestError>;
}

/// The leaves that marks ask for.
#[expect(
    unsafe_code,
    reason = "a stage writes to places that another one counted"
)]
pub trait CloseKernels<const D: usize>: ForestKernels<D> {
    /// Every leaf of `level` (at least 1) that is marked to refine marks the coarser leaves that touch it.
    fn close_refine(
        &self,
        leaves: &Leaves<D, Self>,
        level: u32,
        marks: &mut Self::Buf<u8>,
    ) -> Result<(), ForestError>;

    /// Sets to 1 the entries in `going` of the groups of siblings of `level` (at least 1) that are all marked to coarsen
    /// and touch no block of their level that is refined after the adaptation. Groups of finer levels are done.
    fn close_coarsen(
        &self,
        leaves: &Leaves<D, Self>,
        level: u32,
        marks: &Self::Buf<u8>,
        going: &mut Self::Buf<u8>,
    ) -> Result<(), ForestError>;

    /// Keeps marks to refine, marks to coarsen what is going, and to keep all others.
    fn close_rest(
        &self,
        leaves: &Leaves<D, Self>,
        going: &Self::Buf<u8>,
        marks: &mut Self::Buf<u8>,
    ) -> Result<(), ForestError>;

    /// How many new leaves there are by closed marks, and where each old leaf's begin.
    fn count(
        &self,
        leaves: &Leaves<D, Self>,
        marks: &Self::Buf<u8>,
    ) -> Result<Counted<Self>, ForestError>;

    /// The keys of the new leaves.
    ///
    /// # Safety
    /// The marks are closed; `counted` is what [`count`](Self::count) returned for them.
    unsafe fn emit(
        &self,
        leaves: &Leaves<D, Self>,
        marks: &Self::Buf<u8>,
        counted: &Counted<Self>,
    ) -> Result<Self::Buf<u64>, ForestError>;
}
