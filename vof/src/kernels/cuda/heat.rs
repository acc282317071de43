//! The stages of heat: one thread a cell, a face, or a face of a list.

use super::{DeviceMesh, DeviceParams, HEAT, LANES, THREADS};
use crate::TwoPhaseError;
use crate::heat::{CellPatch, HeatCrossing, HeatSums, HeatSystem};
use crate::heat_params::{HeatField, HeatNumbers, HeatParams, WallHeat};
use crate::heat_step::HeatKernels;
use crate::kernels::Scene;
use crate::transfer::Passage;
use bytemuck::{Pod, Zeroable};
use cutlink_device::cuda::{Cuda, CudaBuf, Launch, LaunchGrid};
use cutlink_device::{Backend, DeviceError};

type Made<T> = Result<T, TwoPhaseError>;
type Buf = CudaBuf<f64>;

/// A value for kernels: `Heat` of `heat.cuh`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub(super) struct DeviceHeat<const D: usize> {
    capacity: [f64; 2],
    conductivity: [f64; 2],
    expansion: [f64; 2],
    reference: f64,
    held: [[[f64; 2]; 2]; D],
}

// SAFETY: numbers that may be zero.
unsafe impl<const D: usize> Zeroable for DeviceHeat<D> {}
// SAFETY: numbers of any bits, all of 8 bytes.
unsafe impl<const D: usize> Pod for DeviceHeat<D> {}

impl<const D: usize> DeviceHeat<D> {
    /// Of kernels that ask for no side.
    fn of_fluids(numbers: &HeatNumbers) -> Self {
        Self {
            capacity: numbers.capacity,
            conductivity: numbers.conductivity,
            expansion: numbers.expansion,
            reference: numbers.reference,
            held: [[[0.0; 2]; 2]; D],
        }
    }

    pub(super) fn new(numbers: &HeatNumbers, params: &HeatParams<D>) -> Self {
        let held = |of: WallHeat| match of {
            WallHeat::Temperature(held) => [1.0, held],
            WallHeat::Insulated | WallHeat::Flux(_) => [0.0; 2],
        };
        Self {
            held: params.faces.map(|pair| pair.map(held)),
            ..Self::of_fluids(numbers)
        }
    }
}

/// A launch that begins with the mesh and the fluids.
fn launch_on_mesh<'a, const D: usize>(
    at: &Scene<'a, D, Cuda>,
    kernel: &'static str,
    heat: DeviceHeat<D>,
) -> Launch<'a> {
    let launch = at.backend.launch(&HEAT, D, kernel);
    launch.val(at.tables.addresses()).val(heat)
}

/// Adds what a sweep moves heat with.
fn with_crossing<'a, const D: usize>(
    launch: Launch<'a>,
    mesh: &DeviceMesh<D>,
    of: &'a HeatCrossing<'_, D, Cuda>,
) -> Launch<'a> {
    mesh.check(&[of.alpha.len()], &[of.liquid.len(), of.flux.len()]);
    launch
        .buf(of.alpha)
        .buf(of.liquid)
        .buf(of.flux)
        .val(of.dt)
        .val(of.axis as i32)
}

/// The least or the largest value of all, by its key.
fn of_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 {
        key & !(1 << 63)
    } else {
        !key
    })
}

impl<const D: usize> HeatKernels<D> for Cuda {
    fn heat_fluxes(
        at: &Scene<'_, D, Self>,
        of: &HeatCrossing<'_, D, Self>,
        temperature: &Buf,
        out: &mut Buf,
    ) -> Made<()> {
        at.tables.check(&[temperature.len()], &[out.len()]);
        let heat = DeviceHeat::new(&of.numbers, of.params);
        let launch = with_crossing(launch_on_mesh(at, "heat_fluxes", heat), at.tables, of);
        let launch = launch.buf(temperature).out(out);
        // SAFETY: arrays of the mesh, here and below; a thread writes its own faces.
        unsafe { launch.run(at.tables.over_cells())? };
        Ok(())
    }

    fn heat_crossed(
        at: &Scene<'_, D, Self>,
        of: &HeatCrossing<'_, D, Self>,
        crossing: &Buf,
        list: &CudaBuf<CellPatch>,
    ) -> Made<Vec<[f64; 2]>> {
        at.tables
            .check(&[], &[of.liquid, of.flux, crossing].map(CudaBuf::len));
        let mut out = at
            .backend
            .uninit::<f64>("heat at openings", 2 * list.len())?;
        let launch = at.backend.launch(&HEAT, D, "heat_crossed");
        let launch = launch
            .val(DeviceHeat::<D>::of_fluids(&of.numbers))
            .buf(of.liquid)
            .buf(of.flux)
            .buf(crossing)
            .buf(list)
            .val(list.len() as u64)
            .out(&mut out);
        // SAFETY: the list has cells of the mesh, and two numbers each.
        unsafe { launch.run(LaunchGrid::over(list.len(), THREADS))? };
        let numbers = at.backend.download(&out)?;
        Ok(numbers.as_chunks::<2>().0.to_vec())
    }

    fn heat_update(
        at: &Scene<'_, D, Self>,
        of: &HeatCrossing<'_, D, Self>,
        [crossing, before]: [&Buf; 2],
        full: &CudaBuf<u8>,
        temperature: &mut Buf,
    ) -> Made<()> {
        at.tables.check(
            &[before.len(), full.len(), temperature.len()],
            &[crossing.len()],
        );
        let heat = DeviceHeat::new(&of.numbers, of.params);
        let launch = with_crossing(launch_on_mesh(at, "heat_update", heat), at.tables, of);
        let launch = launch.buf(crossing).buf(before).buf(full).out(temperature);
        // SAFETY: as above; a thread reads and writes its own cell.
        unsafe { launch.run(at.tables.over_cells())? };
        Ok(())
    }

    fn conductivity(
        at: &Scene<'_, D, Self>,
        numbers: &HeatNumbers,
        alpha: &Buf,
        out: &mut Buf,
    ) -> Made<()> {
        at.tables.check(&[alpha.len()], &[out.len()]);
        let launch = at
            .backend
            .launch(&HEAT, D, "conductivity")
            .val(at.tables.addresses())
            .val(DeviceParams::new(at.params))
            .val(DeviceHeat::<D>::of_fluids(numbers))
            .buf(alpha)
            .out(out);
        // SAFETY: as above.
        unsafe { launch.run(at.tables.over_faces())? };
        Ok(())
    }

    fn heat_equation(
        at: &Scene<'_, D, Self>,
        of: &HeatSystem<'_, Self>,
        diagonal: &mut Buf,
        b: &mut Buf,
    ) -> Made<()> {
        let arrays = [of.alpha, of.temperature, &*diagonal, &*b];
        at.tables.check(&arrays.map(CudaBuf::len), &[]);
        let heat = DeviceHeat::of_fluids(&of.numbers);
        let launch = launch_on_mesh(at, "heat_equation", heat)
            .val(of.dt)
            .buf(of.alpha)
            .buf(of.temperature)
            .out(diagonal)
            .out(b);
        // SAFETY: as above.
        unsafe { launch.run(at.tables.over_cells())? };
        let count = of.walls.faces.len();
        if count == 0 {
            return Ok(());
        }
        let launch = launch_on_mesh(at, "heat_at_walls", heat)
            .buf(of.alpha)
            .buf(&of.walls.faces)
            .buf(&of.walls.values)
            .val(count as u64)
            .out(diagonal)
            .out(b);
        // SAFETY: the list has cells of the mesh, and patches that have values.
        unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
        Ok(())
    }

    fn wall_heat(at: &Scene<'_, D, Self>, of: &HeatSystem<'_, Self>) -> Made<Vec<f64>> {
        at.tables
            .check(&[of.alpha, of.temperature].map(CudaBuf::len), &[]);
        let count = of.walls.faces.len();
        let mut out = at.backend.uninit::<f64>("heat at walls", count)?;
        let launch = launch_on_mesh(at, "wall_heat", DeviceHeat::of_fluids(&of.numbers))
            .buf(of.alpha)
            .buf(of.temperature)
            .buf(&of.walls.faces)
            .buf(&of.walls.values)
            .val(count as u64)
            .out(&mut out);
        // SAFETY: as above, and a number for each face.
        unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
        Ok(at.backend.download(&out)?)
    }

    fn heat_sums(
        at: &Scene<'_, D, Self>,
        numbers: &HeatNumbers,
        alpha: &Buf,
        temperature: &Buf,
    ) -> Made<HeatSums> {
        at.tables.check(&[alpha.len(), temperature.len()], &[]);
        let (cuda, blocks) = (at.backend, at.tables.len());
        let mut heats = cuda.uninit::<f64>("sums of blocks", blocks)?;
        let mut capacities = cuda.uninit::<f64>("sums of blocks", blocks)?;
        let mut extremes = cuda.upload(vec![u64::MAX, 0])?;
        let launch = launch_on_mesh(at, "heat_sums", DeviceHeat::of_fluids(numbers))
            .buf(alpha)
            .buf(temperature)
            .out(&mut heats)
            .out(&mut capacities)
            .out(&mut extremes);
        // SAFETY: as above, a sum for each block, and two keys.
        unsafe { launch.run(at.tables.over_cells())? };
        let mut totals = cuda.uninit::<f64>("sums over blocks", 2)?;
        let launch = cuda
            .launch(&HEAT, D, "heat_totals")
            .buf(&heats)
            .buf(&capacities)
            .val(blocks as u32)
            .out(&mut totals);
        // SAFETY: a sum for each block, and two numbers.
        unsafe { launch.run(LaunchGrid::blocks(1, LANES))? };
        let (totals, extremes) = (cuda.download(&totals)?, cuda.download(&extremes)?);
        Ok(HeatSums {
            heat: totals[0],
            capacity: totals[1],
            least: of_key(extremes[0]),
            most: of_key(extremes[1]),
        })
    }

    fn warm(at: &Scene<'_, D, Self>, by: f64, temperature: &mut Buf) -> Made<()> {
        at.tables.check(&[temperature.len()], &[]);
        let launch = at
            .backend
            .launch(&HEAT, D, "warm")
            .val(at.tables.addresses())
            .val(by)
            .out(temperature);
        // SAFETY: as above.
        unsafe { launch.run(at.tables.over_cells())? };
        Ok(())
    }

    fn buoyancy(
        at: &Scene<'_, D, Self>,
        numbers: &HeatNumbers,
        alpha: &Buf,
        temperature: &Buf,
        out: &mut Buf,
    ) -> Made<()> {
        at.tables
            .check(&[alpha.len(), temperature.len()], &[out.len()]);
        let launch = at
            .backend
            .launch(&HEAT, D, "buoyancy")
            .val(at.tables.addresses())
            .val(DeviceParams::new(at.params))
            .val(DeviceHeat::<D>::of_fluids(numbers))
            .buf(alpha)
            .buf(temperature)
            .out(out);
        // SAFETY: as above; a thread reads and writes its own face.
        unsafe { launch.run(at.tables.over_faces())? };
        Ok(())
    }

    fn move_temperature(
        of: &Passage<'_, D, Self>,
        from: &HeatField<D, Self>,
        alpha: &Buf,
        to: &mut Buf,
    ) -> Made<()> {
        let numbers = HeatNumbers::new(of.old.params, &from.params);
        let heat = DeviceHeat::new(&numbers, &from.params);
        let moved: Result<(), DeviceError> =
            super::transfer::temperature(of, heat, &from.temperature, alpha, to);
        Ok(moved?)
    }
}
