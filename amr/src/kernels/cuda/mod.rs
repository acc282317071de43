//! The stages on an NVIDIA GPU.

#![expect(unsafe_code, reason = "kernels are launched with addresses")]

mod ancestors;
mod balance;
mod children;
mod close;
mod connect;
mod convert;
mod emit;
mod faces;
mod leaves;
mod linear;
mod marks;
mod rebuild;

use crate::{ChangeKernels, Forest, ForestError, ForestKernels, FormerIds, RebuildKernels};
use cutlink_device::{
    Item,
    cuda::{Cuda, CudaBuf, Module},
};

/// Threads of a block where nothing asks for another number.
const THREADS: u32 = 256;

static MARKS: [Module; 2] = cutlink_device::cuda_modules!("marks");
static CHILDREN: [Module; 2] = cutlink_device::cuda_modules!("children");
static REBUILD: [Module; 2] = cutlink_device::cuda_modules!("rebuild");
static CONNECT: [Module; 2] = cutlink_device::cuda_modules!("connect");
static ANCESTORS: [Module; 2] = cutlink_device::cuda_modules!("ancestors");
static BALANCE: [Module; 2] = cutlink_device::cuda_modules!("balance");
static LEAVES: [Module; 2] = cutlink_device::cuda_modules!("leaves");
static FACES: [Module; 2] = cutlink_device::cuda_modules!("faces");
static CLOSE: [Module; 2] = cutlink_device::cuda_modules!("close");
static EMIT: [Module; 2] = cutlink_device::cuda_modules!("emit");
static CONVERT: [Module; 2] = cutlink_device::cuda_modules!("convert");

impl<const D: usize> ForestKernels<D> for Cuda {}

impl<const D: usize> ChangeKernels<D> for Cuda {
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

impl<const D: usize> RebuildKernels<D> for Cuda {
    fn flag_refined(
        &self,
        forest: &Forest<D, Self>,
        marks: &CudaBuf<u8>,
    ) -> Result<CudaBuf<u8>, ForestError> {
        forest.check_marks(marks);
        rebuild::flag_refined(self, forest, marks)
    }

    fn clear_coarsened(
        &self,
        forest: &Forest<D, Self>,
        level: usize,
        marks: &CudaBuf<u8>,
        flags: &mut CudaBuf<u8>,
    ) -> Result<(), ForestError> {
        forest.check_marks(marks);
        forest.check_marks(flags);
        rebuild::clear_coarsened(self, forest, level, marks, flags)
    }

    fn count_refined(
        &self,
        forest: &Forest<D, Self>,
        flags: &CudaBuf<u8>,
    ) -> Result<Vec<u64>, ForestError> {
        forest.check_marks(flags);
        rebuild::count_refined(self, forest, flags)
    }

    unsafe fn follow_marks(
        &self,
        fresh: &Forest<D, Self>,
        level: usize,
        old_of: &CudaBuf<u32>,
        flags: &CudaBuf<u8>,
        marks: &mut CudaBuf<u8>,
    ) -> Result<(), ForestError> {
        fresh.check_marks(marks);
        rebuild::follow_marks(self, fresh, level, old_of, flags, marks)
    }

    unsafe fn follow_children(
        &self,
        old: &Forest<D, Self>,
        fresh: &Forest<D, Self>,
        level: usize,
        old_of: &mut CudaBuf<u32>,
    ) -> Result<(), ForestError> {
        rebuild::follow_children(self, old, fresh, level, old_of)
    }

    fn follow<T: Item>(
        &self,
        values: &CudaBuf<T>,
        former: &FormerIds<Self>,
        none: T,
    ) -> Result<CudaBuf<T>, ForestError> {
        former.check(values.len());
        rebuild::follow::<D, T>(self, values, former, none)
    }
}
