//! Heat in a step of a flow, on any backend. The stages are functions of `heat` on the CPU, kernels of the same names on a
//! GPU:
//!
//! | stage | contract |
//! |---|---|
//! | `heat_fluxes` | heat through the faces along an axis |
//! | `heat_crossed` | heat and heat capacity that crossed the faces of a list |
//! | `heat_update` | what crossed is added to the temperature of cells |
//! | `conductivity` | conductances of faces for the temperature |
//! | `heat_equation` | diagonal and right side of the temperature, with walls |
//! | `wall_heat` | heat that each face of a wall gives |
//! | `heat_sums` | heat, heat capacity and extremes over the fluid |
//! | `warm` | all temperatures rise by so much |
//! | `buoyancy` | accelerations of faces by thermal expansion are added |
//! | `move_temperature` | the temperature on an adapted mesh, with the same heat |

use crate::equations::Equations;
use crate::heat::{self, CellPatch, HeatCrossing, HeatSums, HeatSystem, HeatWalls};
use crate::heat_params::{HeatAccount, HeatField, HeatNumbers, WallHeat};
use crate::kernels::{Scene, TwoPhaseKernels};
use crate::sweep::SweepWork;
use crate::transfer::{self, Passage};
use crate::{TwoPhaseError, restrict};
use cutlink_device::Backend;
use cutlink_elliptic::{Stop, faces};

type Made<T> = Result<T, TwoPhaseError>;

/// Of the temperature's equation. Its right side is that of the temperature itself, whose differences are what counts.
const STOP: Stop = Stop {
    relative: 1e-12,
    absolute: f64::MIN_POSITIVE,
    most: 100,
};

/// The stages of heat.
pub(crate) trait HeatKernels<const D: usize>: TwoPhaseKernels<D> {
    fn heat_fluxes(
        at: &Scene<'_, D, Self>,
        of: &HeatCrossing<'_, D, Self>,
        temperature: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn heat_crossed(
        at: &Scene<'_, D, Self>,
        of: &HeatCrossing<'_, D, Self>,
        crossing: &Self::Buf<f64>,
        list: &Self::Buf<CellPatch>,
    ) -> Made<Vec<[f64; 2]>>;

    fn heat_update(
        at: &Scene<'_, D, Self>,
        of: &HeatCrossing<'_, D, Self>,
        crossing_and_before: [&Self::Buf<f64>; 2],
        full: &Self::Buf<u8>,
        temperature: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn conductivity(
        at: &Scene<'_, D, Self>,
        numbers: &HeatNumbers,
        alpha: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn heat_equation(
        at: &Scene<'_, D, Self>,
        of: &HeatSystem<'_, Self>,
        diagonal: &mut Self::Buf<f64>,
        b: &mut Self::Buf<f64>,
    ) -> Made<()>;

    fn wall_heat(at: &Scene<'_, D, Self>, of: &HeatSystem<'_, Self>) -> Made<Vec<f64>>;

    fn heat_sums(
        at: &Scene<'_, D, Self>,
        numbers: &HeatNumbers,
        alpha: &Self::Buf<f64>,
        temperature: &Self::Buf<f64>,
    ) -> Made<HeatSums>;

    fn warm(at: &Scene<'_, D, Self>, by: f64, temperature: &mut Self::Buf<f64>) -> Made<()>;

    fn buoyancy(
        at: &Scene<'_, D, Self>,
        numbers: &HeatNumbers,
        alpha: &Self::Buf<f64>,
        temperature: &Self::Buf<f64>,
        out: &mut Self::Buf<f64>,
    ) -> Made<()>;

    /// `alpha` is that of the new mesh.
    fn move_temperature(
        of: &Passage<'_, D, Self>,
        from: &HeatField<D, Self>,
        alpha: &Self::Buf<f64>,
        to: &mut Self::Buf<f64>,
    ) -> Made<()>;
}

/// Arrays of the sweeps for heat, and what came in through openings.
#[derive(Debug)]
pub(crate) struct HeatSweep<const D: usize, B: Backend> {
    /// Heat that crosses faces, over the area and the time.
    crossing: B::Buf<f64>,
    /// Temperatures when the step began.
    before: B::Buf<f64>,
    /// Faces at openings of each axis.
    openings: [(Vec<CellPatch>, B::Buf<CellPatch>); D],
    came: Came,
}

/// What came in through openings.
#[derive(Debug, Clone, PartialEq)]
struct Came {
    /// Heat by side, J.
    heat: Vec<f64>,
    /// Heat capacity, J/K; none where there is no opening.
    capacity: Option<f64>,
}

impl Came {
    fn none(sides: usize, has_openings: bool) -> Self {
        Self {
            heat: vec![0.0; sides],
            capacity: has_openings.then_some(0.0),
        }
    }
}

impl<const D: usize, B: HeatKernels<D>> HeatSweep<D, B> {
    /// # Errors
    /// Memory.
    pub(crate) fn new(at: &Scene<'_, D, B>) -> Made<Self> {
        let array = |len| at.backend.alloc(transfer::WHAT, len, 0.0);
        let mut has_openings = false;
        let openings = crate::running::by_axis(|axis| {
            let list = heat::open_faces(at.mesh, at.params, axis);
            has_openings |= !list.is_empty();
            let there = at.backend.upload(list.clone())?;
            Ok::<_, TwoPhaseError>((list, there))
        })?;
        Ok(Self {
            crossing: array(at.mesh.blocks.len() * faces::per_block(D))?,
            before: array(at.mesh.blocks.cells())?,
            openings,
            came: Came::none(2 * D, has_openings),
        })
    }

    /// A part of a way begins.
    pub(crate) fn begin(&mut self, at: &Scene<'_, D, B>, field: &HeatField<D, B>) -> Made<()> {
        Ok(at.backend.copy(&field.temperature, &mut self.before)?)
    }

    fn take(&mut self) -> Came {
        let none = Came::none(self.came.heat.len(), self.came.capacity.is_some());
        std::mem::replace(&mut self.came, none)
    }
}

/// Moves heat along an axis, with the liquid that is known to cross faces; `alpha` is that before.
pub(crate) fn sweep<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
    field: &mut HeatField<D, B>,
    (alpha, flux): (&B::Buf<f64>, &B::Buf<f64>),
    (dt, axis): (f64, usize),
    w: &mut SweepWork<D, B>,
) -> Made<()> {
    let Some(heat) = &mut w.heat else {
        return Ok(());
    };
    restrict::cells(at, &mut field.temperature)?;
    let of = HeatCrossing {
        numbers: HeatNumbers::new(at.params, &field.params),
        params: &field.params,
        alpha,
        liquid: &w.liquid,
        flux,
        dt,
        axis,
    };
    B::heat_fluxes(at, &of, &field.temperature, &mut heat.crossing)?;
    restrict::faces(at, &mut heat.crossing)?;
    let (list, there) = &heat.openings[axis];
    if let Some(capacity) = heat.came.capacity.as_mut().filter(|_| !list.is_empty()) {
        let crossed = B::heat_crossed(at, &of, &heat.crossing, there)?;
        for ([cell, side], [h, c]) in list.iter().zip(crossed) {
            let block = *cell as usize / cutlink_amr::dims::cells(D);
            let into = dt * crate::project::area(at.mesh, block);
            let into = if side % 2 == 0 { into } else { -into };
            heat.came.heat[*side as usize] += into * h;
            *capacity += into * c;
        }
    }
    let arrays = [&heat.crossing, &heat.before];
    B::heat_update(at, &of, arrays, &w.full, &mut field.temperature)
}

/// What conduction needs beside the arrays of other equations.
#[derive(Debug)]
pub(crate) struct HeatWork<B: Backend> {
    pub(crate) diagonal: B::Buf<f64>,
    list: Vec<CellPatch>,
    walls: HeatWalls<B>,
}

impl<B: Backend> HeatWork<B> {
    /// # Errors
    /// Memory.
    pub(crate) fn new<const D: usize>(at: &Scene<'_, D, B>, field: &HeatField<D, B>) -> Made<Self>
    where
        B: HeatKernels<D>,
    {
        let params = &field.params;
        let list = heat::wall_faces(at.mesh, at.params, params);
        let value = |patch| match params.patch(patch) {
            WallHeat::Insulated => [0.0; 2],
            WallHeat::Temperature(held) => [1.0, held],
            WallHeat::Flux(flux) => [0.0, flux],
        };
        let values = (0..params.patches()).map(value).collect();
        let diagonal = at.mesh.blocks.cells();
        Ok(Self {
            diagonal: at.backend.alloc(transfer::WHAT, diagonal, 0.0)?,
            walls: HeatWalls {
                faces: at.backend.upload(list.clone())?,
                values: at.backend.upload(values)?,
            },
            list,
        })
    }
}

/// Conducts heat over a step, and closes the account of all that moved in it. Returns iterations.
///
/// # Errors
/// A solve that fails, memory.
pub(crate) fn conduct<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
    field: &mut HeatField<D, B>,
    alpha: &B::Buf<f64>,
    (equations, sweeps): (&mut Equations<D, B>, &mut SweepWork<D, B>),
    dt: f64,
) -> Made<usize> {
    let (numbers, patches) = (
        HeatNumbers::new(at.params, &field.params),
        field.params.patches(),
    );
    let mut work = match equations.heat.take() {
        Some(work) => work,
        None => HeatWork::new(at, field)?,
    };
    B::conductivity(at, &numbers, alpha, &mut equations.conductance)?;
    let HeatWork {
        diagonal,
        list,
        walls,
    } = &mut work;
    let system = HeatSystem {
        numbers,
        dt,
        alpha,
        temperature: &field.temperature,
        walls,
    };
    B::heat_equation(at, &system, diagonal, &mut equations.b)?;
    let iterations = equations.solve_heat(at, diagonal, &mut field.temperature, STOP)?;
    let mut conducted = vec![0.0; patches];
    if !list.is_empty() {
        let system = HeatSystem {
            numbers,
            dt,
            alpha,
            temperature: &field.temperature,
            walls,
        };
        let given = B::wall_heat(at, &system)?;
        for ([_, patch], watts) in list.iter().zip(given) {
            conducted[*patch as usize] += dt * watts;
        }
    }
    equations.heat = Some(work);
    settle(at, field, alpha, sweeps, &conducted)?;
    Ok(iterations)
}

/// Closes the account after heat has moved: what solvers leave is shared out evenly over the fluid.
///
/// # Errors
/// What the backend reports.
pub(crate) fn settle<const D: usize, B: HeatKernels<D>>(
    at: &Scene<'_, D, B>,
    field: &mut HeatField<D, B>,
    alpha: &B::Buf<f64>,
    sweeps: &mut SweepWork<D, B>,
    conducted: &[f64],
) -> Made<()> {
    let numbers = HeatNumbers::new(at.params, &field.params);
    let sums = B::heat_sums(at, &numbers, alpha, &field.temperature)?;
    let came = sweeps.heat.as_mut().map(HeatSweep::take);
    let HeatAccount {
        heat,
        capacity,
        through,
        defect,
        extremes,
    } = &mut field.account;
    let before = *heat;
    for (to, joule) in through.iter_mut().zip(conducted) {
        *to += joule;
        *heat += joule;
    }
    if let Some(Came {
        heat: joules,
        capacity: Some(entered),
    }) = came
    {
        for (to, joule) in through.iter_mut().zip(joules) {
            *to += joule;
            *heat += joule;
        }
        // Fluid that the divergence left over has, or lacks, the mean temperature: a uniform one stays.
        let lacking = entered - (sums.capacity - *capacity);
        *heat -= sums.heat / sums.capacity * lacking;
    }
    let made = sums.heat - *heat;
    if !made.is_finite() {
        (*heat, *extremes) = (before, [f64::NAN; 2]);
        return Ok(());
    }
    let by = -made / sums.capacity;
    B::warm(at, by, &mut field.temperature)?;
    *defect += made;
    *capacity = sums.capacity;
    // Of zeros of both signs, either may be the extreme one: the sum has that of the positive one.
    *extremes = [sums.least, sums.most].map(|of| of + by + 0.0);
    Ok(())
}
