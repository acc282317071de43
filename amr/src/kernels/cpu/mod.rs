//! The stages on the CPU, with rayon.

mod children;
mod connect;
mod marks;

use crate::{Forest, ForestError, ForestKernels};
use cutlink_device::{Host, of_dimension};

/// The stages of a dimension; see [`of_dimension`].
struct Stages<const D: usize> {
    ripple: fn(&Forest<D>, usize, &mut [u8]),
    select_refine: fn(&Forest<D>, usize, &[u8]) -> Vec<u32>,
    select_coarsen: fn(&Forest<D>, usize, &[u8]) -> Vec<u32>,
    insert: Insert<D>,
    remove: fn(&mut Forest<D>, usize, &[u32]),
    connect: fn(&mut Forest<D>, usize),
}

type Insert<const D: usize> =
    fn(&mut Forest<D>, usize, &[u32], &mut Vec<u8>) -> Result<(), ForestError>;

impl<const D: usize> Stages<D> {
    const NEW: Self = Self {
        ripple: marks::ripple,
        select_refine: marks::select_refine,
        select_coarsen: marks::select_coarsen,
        insert: children::insert,
        remove: children::remove,
        connect: connect::connect,
    };
}

static IN_2D: Stages<2> = Stages::NEW;
static IN_3D: Stages<3> = Stages::NEW;

fn stages<const D: usize>() -> &'static Stages<D> {
    of_dimension::<D, _>(&IN_2D, &IN_3D)
}

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
        (stages().ripple)(forest, level, marks);
        Ok(())
    }

    fn select_refine(
        &self,
        forest: &Forest<D>,
        level: usize,
        marks: &Vec<u8>,
    ) -> Result<Vec<u32>, ForestError> {
        forest.check_marks(marks);
        Ok((stages().select_refine)(forest, level, marks))
    }

    fn select_coarsen(
        &self,
        forest: &Forest<D>,
        level: usize,
        marks: &Vec<u8>,
    ) -> Result<Vec<u32>, ForestError> {
        forest.check_marks(marks);
        Ok((stages().select_coarsen)(forest, level, marks))
    }

    unsafe fn insert_children(
        &self,
        forest: &mut Forest<D>,
        level: usize,
        parents: &Vec<u32>,
        marks: &mut Vec<u8>,
    ) -> Result<(), ForestError> {
        forest.check_marks(marks);
        (stages().insert)(forest, level, parents, marks)
    }

    unsafe fn remove_children(
        &self,
        forest: &mut Forest<D>,
        level: usize,
        parents: &Vec<u32>,
    ) -> Result<(), ForestError> {
        (stages().remove)(forest, level, parents);
        Ok(())
    }

    fn connect(&self, forest: &mut Forest<D>, level: usize) -> Result<(), ForestError> {
        forest.check_has_parents(level);
        (stages().connect)(forest, level);
        Ok(())
    }
}
