//! The stages on the CPU, with rayon.

mod children;
mod connect;
mod marks;

use crate::{Forest, ForestError, ForestKernels};
use cutlink_device::Host;

#[expect(unsafe_code, reason = "as declared")]
impl<const D: usize> ForestKernels<D> for Host {
    fn ripple(
        &self,
        forest: &Forest<D>,
        level: usize,
        marks: &mut Vec<u8>,
    ) -> Result<(), ForestError> {
        forest.check_has_parents(level);
        forest.check_marks(marks);
        marks::ripple(forest, level, marks);
        Ok(())
    }

    fn select_refine(
        &self,
        forest: &Forest<D>,
        level: usize,
        marks: &Vec<u8>,
    ) -> Result<Vec<u32>, ForestError> {
        forest.check_marks(marks);
        Ok(marks::select_refine(forest, level, marks))
    }

    fn select_coarsen(
        &self,
        forest: &Forest<D>,
        level: usize,
        marks: &Vec<u8>,
    ) -> Result<Vec<u32>, ForestError> {
        forest.check_marks(marks);
        Ok(marks::select_coarsen(forest, level, marks))
    }

    unsafe fn insert_children(
        &self,
        forest: &mut Forest<D>,
        level: usize,
        parents: &Vec<u32>,
        marks: &mut Vec<u8>,
    ) -> Result<(), ForestError> {
        forest.check_marks(marks);
        children::insert(forest, level, parents, marks)
    }

    unsafe fn remove_children(
        &self,
        forest: &mut Forest<D>,
        level: usize,
        parents: &Vec<u32>,
    ) -> Result<(), ForestError> {
        children::remove(forest, level, parents);
        Ok(())
    }

    fn connect(&self, forest: &mut Forest<D>, level: usize) -> Result<(), ForestError> {
        forest.check_has_parents(level);
        connect::connect(forest, level);
        Ok(())
    }
}
