//! The stages of heat on the CPU: functions of `heat` and `transfer`.

use crate::TwoPhaseError;
use crate::heat::{self, CellPatch, HeatCrossing, HeatSums, HeatSystem};
use crate::heat_params::{HeatField, HeatNumbers};
use crate::heat_step::HeatKernels;
use crate::kernels::Scene;
use crate::transfer::Passage;
use cutlink_device::Host;

type Made<T> = Result<T, TwoPhaseError>;

impl<const D: usize> HeatKernels<D> for Host {
    fn heat_fluxes(
        at: &Scene<'_, D, Self>,
        of: &HeatCrossing<'_, D, Self>,
        temperature: &Vec<f64>,
        out: &mut Vec<f64>,
    ) -> Made<()> {
        heat::heat_fluxes(at.mesh, of, temperature, out);
        Ok(())
    }

    fn heat_crossed(
        _: &Scene<'_, D, Self>,
        of: &HeatCrossing<'_, D, Self>,
        crossing: &Vec<f64>,
        list: &Vec<CellPatch>,
    ) -> Made<Vec<[f64; 2]>> {
        Ok(heat::heat_crossed(of, crossing, list))
    }

    fn heat_update(
        at: &Scene<'_, D, Self>,
        of: &HeatCrossing<'_, D, Self>,
        crossing_and_before: [&Vec<f64>; 2],
        full: &Vec<u8>,
        temperature: &mut Vec<f64>,
    ) -> Made<()> {
        let arrays = crossing_and_before.map(|values| &values[..]);
        heat::heat_update(at.mesh, of, arrays, full, temperature);
        Ok(())
    }

    fn conductivity(
        at: &Scene<'_, D, Self>,
        numbers: &HeatNumbers,
        alpha: &Vec<f64>,
        out: &mut Vec<f64>,
    ) -> Made<()> {
        heat::conductivity(at.mesh, at.params, numbers, alpha, out);
        Ok(())
    }

    fn heat_equation(
        at: &Scene<'_, D, Self>,
        of: &HeatSystem<'_, Self>,
        diagonal: &mut Vec<f64>,
        b: &mut Vec<f64>,
    ) -> Made<()> {
        heat::heat_equation(at.mesh, of, diagonal, b);
        Ok(())
    }

    fn wall_heat(at: &Scene<'_, D, Self>, of: &HeatSystem<'_, Self>) -> Made<Vec<f64>> {
        Ok(heat::wall_heat(at.mesh, of))
    }

    fn heat_sums(
        at: &Scene<'_, D, Self>,
        numbers: &HeatNumbers,
        alpha: &Vec<f64>,
        temperature: &Vec<f64>,
    ) -> Made<HeatSums> {
        Ok(heat::heat_sums(at.mesh, numbers, alpha, temperature))
    }

    fn warm(at: &Scene<'_, D, Self>, by: f64, temperature: &mut Vec<f64>) -> Made<()> {
        heat::warm(at.mesh, by, temperature);
        Ok(())
    }

    fn buoyancy(
        at: &Scene<'_, D, Self>,
        numbers: &HeatNumbers,
        alpha: &Vec<f64>,
        temperature: &Vec<f64>,
        out: &mut Vec<f64>,
    ) -> Made<()> {
        heat::buoyancy(at.mesh, at.params, numbers, (alpha, temperature), out);
        Ok(())
    }

    fn move_temperature(
        of: &Passage<'_, D, Self>,
        from: &HeatField<D, Self>,
        alpha: &Vec<f64>,
        to: &mut Vec<f64>,
    ) -> Made<()> {
        of.temperatures(from, to);
        of.keep_heat(from, alpha, to);
        Ok(())
    }
}
