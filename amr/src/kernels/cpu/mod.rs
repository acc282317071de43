//! The stages on the CPU, with rayon.

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
mod search;

use crate::{ChangeKernels, Forest, ForestError, ForestKernels, FormerIds, RebuildKernels};
use cutlink_device::{Host, Item, of_dimension};
use rayon::prelude::*;

/// The stages of a dimension; see [`of_dimension`].
struct Stages<const D: usize> {
    ripple: fn(&Forest<D>, usize, &mut [u8]),
    select_refine: fn(&Forest<D>, usize, &[u8]) -> Vec<u32>,
    select_coarsen: fn(&Forest<D>, usize, &[u8]) -> Vec<u32>,
    insert: Insert<D>,
    remove: fn(&mut Forest<D>, usize, &[u32]),
    connect: fn(&mut Forest<D>, usize),
    flag_refined: fn(&Forest<D>, &[u8]) -> Vec<u8>,
    clear_coarsened: fn(&Forest<D>, usize, &[u8], &mut [u8]),
    count_refined: fn(&Forest<D>, &[u8]) -> Vec<u64>,
    follow_marks: fn(&Forest<D>, usize, &[u32], &[u8], &mut [u8]),
    follow_children: fn(&Forest<D>, &Forest<D>, usize, &mut [u32]),
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
        flag_refined: rebuild::flag_refined,
        clear_coarsened: rebuild::clear_coarsened,
        count_refined: rebuild::count_refined,
        follow_marks: rebuild::follow_marks,
        follow_children: rebuild::follow_children,
    };
}

static IN_2D: Stages<2> = Stages::NEW;
static IN_3D: Stages<3> = Stages::NEW;

fn stages<const D: usize>() -> &'static Stages<D> {
    of_dimension::<D, _>(&IN_2D, &IN_3D)
}

impl<const D: usize> ForestKernels<D> for Host {}

#[expect(unsafe_code, reason = "as declared")]
impl<const D: usize> ChangeKernels<D> for Host {
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

#[expect(unsafe_code, reason = "as declared")]
impl<const D: usize> RebuildKernels<D> for Host {
    fn flag_refined(&self, forest: &Forest<D>, marks: &Vec<u8>) -> Result<Vec<u8>, ForestError> {
        forest.check_marks(marks);
        Ok((stages().flag_refined)(forest, marks))
    }

    fn clear_coarsened(
        &self,
        forest: &Forest<D>,
        level: usize,
        marks: &Vec<u8>,
        flags: &mut Vec<u8>,
    ) -> Result<(), ForestError> {
        forest.check_marks(marks);
        forest.check_marks(flags);
        (stages().clear_coarsened)(forest, level, marks, flags);
        Ok(())
    }

    fn count_refined(&self, forest: &Forest<D>, flags: &Vec<u8>) -> Result<Vec<u64>, ForestError> {
        forest.check_marks(flags);
        Ok((stages().count_refined)(forest, flags))
    }

    unsafe fn follow_marks(
        &self,
        fresh: &Forest<D>,
        level: usize,
        old_of: &Vec<u32>,
        flags: &Vec<u8>,
        marks: &mut Vec<u8>,
    ) -> Result<(), ForestError> {
        fresh.check_marks(marks);
        (stages().follow_marks)(fresh, level, old_of, flags, marks);
        Ok(())
    }

    unsafe fn follow_children(
        &self,
        old: &Forest<D>,
        fresh: &Forest<D>,
        level: usize,
        old_of: &mut Vec<u32>,
    ) -> Result<(), ForestError> {
        (stages().follow_children)(old, fresh, level, old_of);
        Ok(())
    }

    fn follow<T: Item>(
        &self,
        values: &Vec<T>,
        former: &FormerIds<Self>,
        none: T,
    ) -> Result<Vec<T>, ForestError> {
        former.check(values.len());
        let value = |&old: &u32| values.get(old as usize).copied().unwrap_or(none);
        Ok(former.ids().par_iter().map(value).collect())
    }
}
