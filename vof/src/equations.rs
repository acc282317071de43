//! The equations of a step that are solved, of the pressure, the viscosity and the temperature: their operators and arrays.

use crate::heat_step::HeatWork;
use crate::kernels::{Scene, TwoPhaseKernels};
use crate::running::{by_axis, copied};
use crate::{TwoPhaseError, transfer};
use cutlink_elliptic::{EllipticError, EllipticOperator, SolveWork, Stop, faces};
use std::sync::Arc;
use std::time::Instant;

/// Operators, which are kept from step to step, and arrays of all equations.
#[derive(Debug)]
pub(crate) struct Equations<const D: usize, B: TwoPhaseKernels<D>> {
    pressure: Option<EllipticOperator<D, B>>,
    viscosity: Option<EllipticOperator<D, B>>,
    conduction: Option<EllipticOperator<D, B>>,
    work: SolveWork<B>,
    /// Wall time of making operators since it was asked for, s.
    setup: f64,
    /// Of the equation at hand, by face; no diagonal.
    pub(crate) conductance: B::Buf<f64>,
    none: B::Buf<f64>,
    /// The right side.
    pub(crate) b: B::Buf<f64>,
    /// Stresses, or accelerations before the pressure's.
    pub(crate) faces: B::Buf<f64>,
    pub(crate) viscous: Option<Viscous<D, B>>,
    /// Of conduction, once there was a step of it.
    pub(crate) heat: Option<HeatWork<B>>,
}

/// Arrays of the viscous equations.
#[derive(Debug)]
pub(crate) struct Viscous<const D: usize, B: TwoPhaseKernels<D>> {
    pub(crate) diagonal: B::Buf<f64>,
    /// Forces that couple the components.
    pub(crate) forces: [B::Buf<f64>; D],
}

fn of_pressure(source: EllipticError) -> TwoPhaseError {
    TwoPhaseError::Elliptic {
        what: "pressure",
        source,
    }
}

fn of_viscosity(source: EllipticError) -> TwoPhaseError {
    TwoPhaseError::Elliptic {
        what: "viscosity",
        source,
    }
}

fn of_heat(source: EllipticError) -> TwoPhaseError {
    TwoPhaseError::Elliptic {
        what: "conduction of heat",
        source,
    }
}

/// Takes conductances and a diagonal into an operator, which is made at the first time.
fn prepare<const D: usize, B: TwoPhaseKernels<D>>(
    (operator, setup): (&mut Option<EllipticOperator<D, B>>, &mut f64),
    at: &Scene<'_, D, B>,
    conductance: &B::Buf<f64>,
    diagonal: &B::Buf<f64>,
    wrap: fn(EllipticError) -> TwoPhaseError,
) -> Result<(), TwoPhaseError> {
    if let Some(operator) = operator {
        return operator.update(conductance, diagonal).map_err(wrap);
    }
    // What a device still does is not of the operator.
    let before = at.backend.stamp()?;
    at.backend.seconds(&before, &before)?;
    let begin = Instant::now();
    let blocks = Arc::clone(&at.mesh.blocks);
    let conductance = copied(at.backend, conductance)?;
    let diagonal = copied(at.backend, diagonal)?;
    let made = EllipticOperator::new(at.backend, blocks, conductance, diagonal);
    *operator = Some(made.map_err(wrap)?);
    *setup += begin.elapsed().as_secs_f64();
    Ok(())
}

impl<const D: usize, B: TwoPhaseKernels<D>> Equations<D, B> {
    /// # Errors
    /// Memory.
    pub(crate) fn new(at: &Scene<'_, D, B>) -> Result<Self, TwoPhaseError> {
        let (cells, len) = (
            at.mesh.blocks.cells(),
            at.mesh.blocks.len() * faces::per_block(D),
        );
        let array = |len| at.backend.alloc(transfer::WHAT, len, 0.0);
        let is_viscous = at.params.phases.viscosity != [0.0; 2];
        let viscous = || {
            Ok::<_, TwoPhaseError>(Viscous {
                diagonal: array(cells)?,
                forces: by_axis(|_| array(cells))?,
            })
        };
        Ok(Self {
            pressure: None,
            viscosity: None,
            conduction: None,
            work: SolveWork::default(),
            setup: 0.0,
            conductance: array(len)?,
            none: array(0)?,
            b: array(cells)?,
            faces: array(len)?,
            viscous: is_viscous.then(viscous).transpose()?,
            heat: None,
        })
    }

    /// Takes the conductances into the operator of the pressure.
    pub(crate) fn prepare_pressure(&mut self, at: &Scene<'_, D, B>) -> Result<(), TwoPhaseError> {
        let (operator, none) = ((&mut self.pressure, &mut self.setup), &self.none);
        prepare(operator, at, &self.conductance, none, of_pressure)
    }

    /// Wall time of making operators since the last call, s.
    pub(crate) fn take_setup(&mut self) -> f64 {
        std::mem::take(&mut self.setup)
    }

    /// Closed regions of the pressure.
    pub(crate) fn closed_regions(&self) -> usize {
        self.pressure.as_ref().map_or(0, |of| of.closed_regions())
    }

    /// Solves for the pressure; returns iterations.
    pub(crate) fn solve_pressure(
        &mut self,
        x: &mut B::Buf<f64>,
        stop: Stop,
    ) -> Result<usize, TwoPhaseError> {
        let operator = self.pressure.as_ref().expect("it was prepared");
        let solved = operator.solve(&self.b, x, stop, &mut self.work);
        Ok(solved.map_err(of_pressure)?.iterations)
    }

    /// Takes the diagonal into the operator of the viscosity, with the first component the conductances too, and solves for a
    /// component of the velocity; returns iterations.
    pub(crate) fn solve_viscosity(
        &mut self,
        at: &Scene<'_, D, B>,
        component: usize,
        u: &mut B::Buf<f64>,
        stop: Stop,
    ) -> Result<usize, TwoPhaseError> {
        let diagonal = self.viscous.as_ref().map_or(&self.none, |v| &v.diagonal);
        match &mut self.viscosity {
            Some(operator) if component > 0 => {
                operator.update_diagonal(diagonal).map_err(of_viscosity)?;
            }
            operator => prepare(
                (operator, &mut self.setup),
                at,
                &self.conductance,
                diagonal,
                of_viscosity,
            )?,
        }
        let operator = self.viscosity.as_ref().expect("it was prepared");
        let solved = operator.solve(&self.b, u, stop, &mut self.work);
        Ok(solved.map_err(of_viscosity)?.iterations)
    }

    /// Takes the conductances and a diagonal into the operator of the temperature, and solves for it; returns iterations.
    pub(crate) fn solve_heat(
        &mut self,
        at: &Scene<'_, D, B>,
        diagonal: &B::Buf<f64>,
        temperature: &mut B::Buf<f64>,
        stop: Stop,
    ) -> Result<usize, TwoPhaseError> {
        let operator = (&mut self.conduction, &mut self.setup);
        prepare(operator, at, &self.conductance, diagonal, of_heat)?;
        let operator = self.conduction.as_ref().expect("it was prepared");
        let solved = operator.solve(&self.b, temperature, stop, &mut self.work);
        Ok(solved.map_err(of_heat)?.iterations)
    }
}
