//! The stages on an NVIDIA GPU.

#![expect(unsafe_code, reason = "kernels are launched with addresses")]

mod children;
mod connect;
mod marks;

use crate::{Forest, ForestError, ForestKernels};
use cutlink_device::cuda::{Cuda, CudaBuf, Module};

/// Threads of a block where nothing asks for another number.
const THREADS: u32 = 256;

static MARKS: [Module; 2] = cutlink_device::cuda_modules!("marks");
static CHILDREN: [Module; 2] = cutlink_device::cuda_modules!("children");
static CONNECT: [Module; 2] = cutlink_device::cuda_modules!("connect");

impl<const D: usize> ForestKernels<D> for Cuda {
    fn ripple(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        marks: &mut CudaBuf<u8>,
    ) -> Result<(), ForestError> {
        forest.check_has_parents(level);
        forest.check_marks(marks);
        marks::ripple(self, forest, level, marks)
    }

    fn select_refine(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        marks: &CudaBuf<u8>,
    ) -> Result<CudaBuf<u32>, ForestError> {
        forest.check_marks(marks);
        marks::select_refine(self, forest, level, marks)
    }

    fn select_coarsen(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        marks: &CudaBuf<u8>,
    ) -> Result<CudaBuf<u32>, ForestError> {
        forest.check_marks(marks);
        marks::select_coarsen(self, forest, level, marks)
    }

    unsafe fn insert_children(
        &self,
        forest: &mut Forest<D, Self>,
        level: usize,
        parents: &CudaBuf<u32>,
        marks: &mut CudaBuf<u8>,
    ) -> Result<(), ForestError> {
        forest.check_marks(marks);
        children::insert(self, forest, level, parents, marks)
    }

    unsafe fn remove_children(
        &self,
        forest: &mut Forest<D, Self>,
        level: usize,
        parents: &CudaBuf<u32>,
    ) -> Result<(), ForestError> {
        children::remove(self, forest, level, parents)
    }

    fn connect(&self, forest: &mut Forest<D, Self>, level: usize) -> Result<(), ForestError> {
        forest.check_has_parents(level);
        connect::connect(self, forest, level)
    }
}
