//! On the CPU.

mod apply;
mod boxes;
mod prepare;
mod smooth;
mod transfer;
mod vectors;

pub(crate) use apply::{TILE, Tile, in_tile, tile};
pub(crate) use transfer::sum_children;
pub use vectors::{block_sum, ordered_sum};

use super::{CycleKernels, EllipticKernels, EllipticTables, PrepareKernels, VectorKernels};
use crate::cg::Arrays;
use crate::layers::CoarseLayers;
use crate::regions::OpenFaces;
use crate::{Blocks, EllipticError, EllipticOperator, faces};
use cutlink_device::Host;

type Done = Result<(), EllipticError>;

impl<const D: usize> EllipticKernels<D> for Host {}

impl<const D: usize> EllipticTables<D> for Host {
    type Tables = ();
    type Lists = ();

    fn tables(&self, _: &Blocks<D>) -> Done {
        Ok(())
    }

    fn lists(&self, _: &CoarseLayers) -> Done {
        Ok(())
    }
}

impl<const D: usize> PrepareKernels<D> for Host {
    fn restrict_faces(
        &self,
        blocks: &Blocks<D>,
        (): &(),
        values: &mut Vec<f64>,
        factor: [f64; 2],
    ) -> Done {
        faces::restrict(blocks, values, factor);
        Ok(())
    }

    fn restrict_cells(
        &self,
        blocks: &Blocks<D>,
        (): &(),
        values: &mut Vec<f64>,
        share: f64,
    ) -> Done {
        transfer::restrict_cells(blocks, values, share);
        Ok(())
    }

    fn open_faces(
        &self,
        blocks: &Blocks<D>,
        conductance: &Vec<f64>,
        diagonal: &Vec<f64>,
    ) -> Result<Vec<OpenFaces>, EllipticError> {
        prepare::open_faces(blocks, conductance, diagonal)
    }

    fn first_bad(
        &self,
        blocks: &Blocks<D>,
        (): &(),
        values: &Vec<f64>,
        per: usize,
    ) -> Result<Option<usize>, EllipticError> {
        Ok(prepare::first_bad(blocks, values, per))
    }

    fn first_opened(
        &self,
        op: &EllipticOperator<D>,
        conductance: &Vec<f64>,
    ) -> Result<Option<usize>, EllipticError> {
        Ok(prepare::first_opened(op, conductance))
    }

    fn inverses(&self, op: &mut EllipticOperator<D>) -> Done {
        prepare::inverses(op);
        Ok(())
    }

    fn least_share(&self, op: &EllipticOperator<D>) -> Result<f64, EllipticError> {
        Ok(prepare::least_share(op))
    }

    fn fill_boxes(&self, op: &mut EllipticOperator<D>) -> Done {
        boxes::fill(op);
        Ok(())
    }
}

impl<const D: usize> CycleKernels<D> for Host {
    fn begin_cycle(&self, op: &EllipticOperator<D>, w: &mut Arrays<Self>) -> Done {
        transfer::begin_cycle(op, w);
        Ok(())
    }

    fn save_layers(&self, op: &EllipticOperator<D>, level: usize, w: &mut Arrays<Self>) -> Done {
        transfer::save_layers(op, level, &w.b, &mut w.layer[0]);
        Ok(())
    }

    fn smooth(
        &self,
        op: &EllipticOperator<D>,
        level: usize,
        w: &mut Arrays<Self>,
        from_zero: bool,
    ) -> Done {
        smooth::smooth(op, level, w, from_zero);
        Ok(())
    }

    fn go_down(&self, op: &EllipticOperator<D>, level: usize, w: &mut Arrays<Self>) -> Done {
        transfer::go_down(op, level, w);
        Ok(())
    }

    fn go_up(&self, op: &EllipticOperator<D>, level: usize, w: &mut Arrays<Self>) -> Done {
        transfer::go_up(op, level, w);
        Ok(())
    }

    fn correct_root(&self, op: &EllipticOperator<D>, w: &mut Arrays<Self>) -> Done {
        boxes::correct_root(op, w);
        Ok(())
    }
}

impl<const D: usize> VectorKernels<D> for Host {
    fn apply(&self, op: &EllipticOperator<D>, x: &Vec<f64>, out: &mut Vec<f64>) -> Done {
        apply::apply(op, x, out);
        Ok(())
    }

    fn over_diagonal(&self, op: &EllipticOperator<D>, w: &mut Arrays<Self>) -> Done {
        vectors::over_diagonal(op, w);
        Ok(())
    }

    fn start(
        &self,
        op: &EllipticOperator<D>,
        b: &Vec<f64>,
        x: &Vec<f64>,
        w: &mut Arrays<Self>,
    ) -> Done {
        vectors::start(op, b, x, w);
        Ok(())
    }

    fn subtract(&self, op: &EllipticOperator<D>, w: &mut Arrays<Self>) -> Done {
        vectors::subtract(op, w);
        Ok(())
    }

    fn turn(&self, op: &EllipticOperator<D>, w: &mut Arrays<Self>) -> Done {
        vectors::turn(op, w);
        Ok(())
    }

    fn advance(&self, op: &EllipticOperator<D>, w: &mut Arrays<Self>) -> Done {
        vectors::advance(op, w);
        Ok(())
    }

    fn dot(
        &self,
        op: &EllipticOperator<D>,
        [a, b]: [&Vec<f64>; 2],
        sums: &mut Vec<f64>,
        (scalars, place): (&mut Vec<f64>, usize),
    ) -> Done {
        scalars[place] = vectors::dot(op, a, b, sums);
        Ok(())
    }

    fn remove_mean(
        &self,
        op: &EllipticOperator<D>,
        values: &mut Vec<f64>,
        sums: &mut Vec<f64>,
        integrated: bool,
    ) -> Done {
        vectors::remove_mean(op, values, sums, integrated);
        Ok(())
    }
}
