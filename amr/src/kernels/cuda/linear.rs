//! The stages of a linear tree on an NVIDIA GPU.

use super::{ancestors, balance, close, convert, emit, faces, leaves};
use crate::{
    Forest, ForestError, LinearKernels,
    kernels::linear::{BuildKernels, CloseKernels},
    linear::{Counted, Faces, Grid, Leaves},
};
use cutlink_device::cuda::{Cuda, CudaBuf};

/// A [`Grid`] as kernels take it: `KeyGrid` of `linear.cuh`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct KeyGrid<const D: usize> {
    end: [u64; D],
    periodic: u32,
    limit: u32,
}

const _: () = assert!(size_of::<KeyGrid<2>>() == 24 && size_of::<KeyGrid<3>>() == 32);

// SAFETY: numbers that may be zero.
unsafe impl<const D: usize> bytemuck::Zeroable for KeyGrid<D> {}
// SAFETY: numbers of any bits; their sizes add up to that of the struct, so there is no padding.
unsafe impl<const D: usize> bytemuck::Pod for KeyGrid<D> {}

impl<const D: usize> KeyGrid<D> {
    pub(super) fn of(grid: &Grid<D>) -> Self {
        let periodic = grid.periodic();
        Self {
            end: grid.end(),
            periodic: (0..D).fold(0, |bits, a| bits | u32::from(periodic[a]) << a),
            limit: grid.limit(),
        }
    }
}

impl<const D: usize> LinearKernels<D> for Cuda {}

impl<const D: usize> BuildKernels<D> for Cuda {
    fn sort_keys(&self, keys: CudaBuf<u64>) -> Result<CudaBuf<u64>, ForestError> {
        Ok(Self::sort_keys(self, &keys, 0..u64::BITS)?)
    }

    fn ancestors(
        &self,
        grid: &Grid<D>,
        keys: &CudaBuf<u64>,
    ) -> Result<Vec<CudaBuf<u64>>, ForestError> {
        ancestors::ancestors(self, grid, keys)
    }

    fn balance(
        &self,
        grid: &Grid<D>,
        level: u32,
        finer: &CudaBuf<u64>,
        coarser: &mut CudaBuf<u64>,
    ) -> Result<(), ForestError> {
        balance::balance(self, grid, level, finer, coarser)
    }

    fn leaves(
        &self,
        grid: &Grid<D>,
        refined: &[CudaBuf<u64>],
    ) -> Result<CudaBuf<u64>, ForestError> {
        leaves::leaves(self, grid, refined)
    }

    fn faces(&self, leaves: &Leaves<D, Self>) -> Result<Faces<D, Self>, ForestError> {
        faces::faces(self, leaves)
    }

    fn leaves_of(
        &self,
        grid: &Grid<D>,
        forest: &Forest<D, Self>,
    ) -> Result<CudaBuf<u64>, ForestError> {
        convert::leaves_of(self, grid, forest)
    }

    fn mark_refined(
        &self,
        grid: &Grid<D>,
        forest: &Forest<D, Self>,
        level: usize,
        refined: &CudaBuf<u64>,
        marks: &mut CudaBuf<u8>,
    ) -> Result<(), ForestError> {
        forest.check_marks(marks);
        convert::mark_refined(self, grid, forest, level, refined, marks)
    }
}

impl<const D: usize> CloseKernels<D> for Cuda {
    fn close_refine(
        &self,
        leaves: &Leaves<D, Self>,
        level: u32,
        marks: &mut CudaBuf<u8>,
    ) -> Result<(), ForestError> {
        leaves.check_marks(marks);
        close::close_refine(self, leaves, level, marks)
    }

    fn close_coarsen(
        &self,
        leaves: &Leaves<D, Self>,
        level: u32,
        marks: &CudaBuf<u8>,
        going: &mut CudaBuf<u8>,
    ) -> Result<(), ForestError> {
        leaves.check_marks(marks);
        leaves.check_marks(going);
        close::close_coarsen(self, leaves, level, marks, going)
    }

    fn close_rest(
        &self,
        leaves: &Leaves<D, Self>,
        going: &CudaBuf<u8>,
        marks: &mut CudaBuf<u8>,
    ) -> Result<(), ForestError> {
        leaves.check_marks(marks);
        leaves.check_marks(going);
        close::close_rest::<D>(self, going, marks)
    }

    fn count(
        &self,
        leaves: &Leaves<D, Self>,
        marks: &CudaBuf<u8>,
    ) -> Result<Counted<Self>, ForestError> {
        leaves.check_marks(marks);
        emit::count(self, leaves, marks)
    }

    unsafe fn emit(
        &self,
        leaves: &Leaves<D, Self>,
        marks: &CudaBuf<u8>,
        counted: &Counted<Self>,
    ) -> Result<CudaBuf<u64>, ForestError> {
        leaves.check_marks(marks);
        emit::emit(self, leaves, marks, counted)
    }
}
