//! The stages of a linear tree on the CPU, with rayon.

use super::{ancestors, balance, close, convert, emit, faces, leaves};
use crate::{
    Forest, ForestError, LinearKernels,
    kernels::linear::{BuildKernels, CloseKernels},
    linear::{Counted, Faces, Grid, Leaves},
};
use cutlink_device::{Host, of_dimension};

/// The stages of a dimension; see [`of_dimension`].
struct Stages<const D: usize> {
    ancestors: Ancestors<D>,
    balance: fn(&Grid<D>, u32, &[u64], &mut Vec<u64>),
    leaves: fn(&Grid<D>, &[Vec<u64>]) -> Vec<u64>,
    faces: fn(&Leaves<D>) -> Result<Faces<D>, ForestError>,
    close_refine: fn(&Leaves<D>, u32, &mut [u8]),
    close_coarsen: fn(&Leaves<D>, u32, &[u8], &mut [u8]),
    count: fn(&Leaves<D>, &[u8]) -> Result<Counted<Host>, ForestError>,
    emit: Emit<D>,
    leaves_of: fn(&Grid<D>, &Forest<D>) -> Vec<u64>,
    mark_refined: fn(&Grid<D>, &Forest<D>, usize, &[u64], &mut [u8]),
}

type Ancestors<const D: usize> = fn(&Grid<D>, &[u64]) -> Result<Vec<Vec<u64>>, ForestError>;
type Emit<const D: usize> = fn(&Leaves<D>, &[u8], &Counted<Host>) -> Result<Vec<u64>, ForestError>;

impl<const D: usize> Stages<D> {
    const NEW: Self = Self {
        ancestors: ancestors::ancestors,
        balance: balance::balance,
        leaves: leaves::leaves,
        faces: faces::faces,
        close_refine: close::close_refine,
        close_coarsen: close::close_coarsen,
        count: emit::count,
        emit: emit::emit,
        leaves_of: convert::leaves_of,
        mark_refined: convert::mark_refined,
    };
}

static IN_2D: Stages<2> = Stages::NEW;
static IN_3D: Stages<3> = Stages::NEW;

fn stages<const D: usize>() -> &'static Stages<D> {
    of_dimension::<D, _>(&IN_2D, &IN_3D)
}

impl<const D: usize> LinearKernels<D> for Host {}

impl<const D: usize> BuildKernels<D> for Host {
    fn sort_keys(&self, keys: Vec<u64>) -> Result<Vec<u64>, ForestError> {
        Ok(ancestors::sort(keys))
    }

    fn ancestors(&self, grid: &Grid<D>, keys: &Vec<u64>) -> Result<Vec<Vec<u64>>, ForestError> {
        (stages().ancestors)(grid, keys)
    }

    fn balance(
        &self,
        grid: &Grid<D>,
        level: u32,
        finer: &Vec<u64>,
        coarser: &mut Vec<u64>,
    ) -> Result<(), ForestError> {
        (stages().balance)(grid, level, finer, coarser);
        Ok(())
    }

    fn leaves(&self, grid: &Grid<D>, refined: &[Vec<u64>]) -> Result<Vec<u64>, ForestError> {
        Ok((stages().leaves)(grid, refined))
    }

    fn faces(&self, leaves: &Leaves<D>) -> Result<Faces<D>, ForestError> {
        (stages().faces)(leaves)
    }

    fn leaves_of(&self, grid: &Grid<D>, forest: &Forest<D>) -> Result<Vec<u64>, ForestError> {
        Ok((stages().leaves_of)(grid, forest))
    }

    fn mark_refined(
        &self,
        grid: &Grid<D>,
        forest: &Forest<D>,
        level: usize,
        refined: &Vec<u64>,
        marks: &mut Vec<u8>,
    ) -> Result<(), ForestError> {
        forest.check_marks(marks);
        (stages().mark_refined)(grid, forest, level, refined, marks);
        Ok(())
    }
}

#[expect(unsafe_code, reason = "as declared")]
impl<const D: usize> CloseKernels<D> for Host {
    fn close_refine(
        &self,
        leaves: &Leaves<D>,
        level: u32,
        marks: &mut Vec<u8>,
    ) -> Result<(), ForestError> {
        leaves.check_marks(marks);
        (stages().close_refine)(leaves, level, marks);
        Ok(())
    }

    fn close_coarsen(
        &self,
        leaves: &Leaves<D>,
        level: u32,
        marks: &Vec<u8>,
        going: &mut Vec<u8>,
    ) -> Result<(), ForestError> {
        leaves.check_marks(marks);
        leaves.check_marks(going);
        (stages().close_coarsen)(leaves, level, marks, going);
        Ok(())
    }

    fn close_rest(
        &self,
        leaves: &Leaves<D>,
        going: &Vec<u8>,
        marks: &mut Vec<u8>,
    ) -> Result<(), ForestError> {
        leaves.check_marks(marks);
        leaves.check_marks(going);
        close::close_rest(going, marks);
        Ok(())
    }

    fn count(&self, leaves: &Leaves<D>, marks: &Vec<u8>) -> Result<Counted<Self>, ForestError> {
        leaves.check_marks(marks);
        (stages().count)(leaves, marks)
    }

    unsafe fn emit(
        &self,
        leaves: &Leaves<D>,
        marks: &Vec<u8>,
        counted: &Counted<Self>,
    ) -> Result<Vec<u64>, ForestError> {
        leaves.check_marks(marks);
        (stages().emit)(leaves, marks, counted)
    }
}
