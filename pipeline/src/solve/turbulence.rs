//! Turbulence at a velocity face of the box: a frozen field of Fourier modes that the mean velocity carries through the
//! face. It keeps no state: its velocity is a function of place, time and seed, so that restarts, adaptation and the
//! backend change nothing.

use crate::solve::{
    case::TurbulenceTable,
    conditions::{FACES, Scale},
    inflow::{BoundaryVelocity, Opening, norm},
};
use cutlink_common::Error;
use cutlink_flow::setting::positive;
use cutlink_prescribed::{
    expression::ramp,
    waves::{TurbulenceRequest, TurbulenceWaves, WaveBands},
};
use cutlink_solver::{AtTime, Place, Space, Values, Variation};
use cutlink_voxelizer::Mesh;
use std::sync::Arc;

/// Cells of the inlet in the shortest wave.
const CELLS: f64 = 4.0;
/// Root mean squares that a component stays below.
const MOST: f64 = 4.0;
/// Integral lengths across a face below which its largest eddies do not fit.
const WIDTHS: f64 = 8.0;

/// Adds the turbulence of a table to a velocity that rises within `length` seconds.
///
/// # Errors
/// A plane mesh, values out of range, a mean velocity that does not enter, an integral length below the shortest wave.
pub(super) fn add<const D: usize>(
    opening: &Opening<'_, D>,
    table: &TurbulenceTable,
    length: f64,
    mean: BoundaryVelocity<D>,
) -> Result<BoundaryVelocity<D>, Error> {
    let (what, scale) = (format!("{} turbulence", opening.what), opening.scale);
    let Place::Face(axis, side) = opening.place else {
        unreachable!("turbulence is a key of faces");
    };
    if D == 2 {
        return Err(Error::input(format!("{what} is for 3D meshes")).hint(
            "two-dimensional turbulence has another spectrum and no vortex stretching; remove it, or make the mesh 3D",
        ));
    }
    let to_lattice = scale.units.velocity();
    let inward = if side == 0 { 1.0 } else { -1.0 };
    if inward * mean.own[axis] <= 0.0 {
        return Err(Error::input(format!(
            "{what}: the mean velocity of the face does not enter the box"
        ))
        .hint("turbulence is for inlets"));
    }
    let intensity = positive(&format!("{what} intensity"), table.intensity)?;
    if intensity > 1.0 {
        return Err(Error::input(format!("{what} intensity is {intensity}"))
            .hint("give the root mean square of one component, as a share of the mean speed, such as 0.05"));
    }
    let shortest = match table.shortest {
        None => CELLS * scale.frame.dx,
        Some(given) => positive(&format!("{what} shortest"), given)?,
    };
    let integral = positive(&format!("{what} length"), table.length)?;
    let bands = Some(integral)
        .filter(|&integral| integral >= shortest)
        .and_then(|integral| WaveBands::new(integral, shortest));
    let bands = bands.ok_or_else(|| {
        Error::input(format!(
            "{what} length is {integral} m, below the shortest wave of {shortest} m"
        ))
        .hint("the shortest wave is four root cells: use smaller root cells, or refine the inlet and set shortest to four of its cells, m")
    })?;
    let rms = intensity * norm(&mean.own);
    let request = request(
        opening,
        [axis, side],
        [rms * to_lattice, integral, shortest],
        table.seed,
        &mean.own,
    );
    let notes = notes(&what, &request, &bands);
    let waves = Arc::new(TurbulenceWaves::new(&request, &bands));
    let table = TurbulenceTable {
        spectrum: Some(table.spectrum.unwrap_or_default()),
        shortest: Some(shortest),
        ..table.clone()
    };
    let base = mean.variation.clone();
    let key = match &base {
        Some(base) => format!("{} with {table:?}", base.key),
        None => format!("{table:?}"),
    };
    Ok(BoundaryVelocity {
        fastest: mean.fastest + MOST * rms,
        variation: Some(Variation {
            place: opening.place,
            name: format!("{} velocity", opening.what),
            key,
            space: moving(scale, mean.own, base, waves, length),
            time: None,
        }),
        turbulence: Some(table),
        notes,
        ..mean
    })
}

fn request<const D: usize>(
    opening: &Opening<'_, D>,
    [axis, side]: [usize; 2],
    [rms, length, shortest]: [f64; 3],
    seed: u32,
    stream: &[f64; D],
) -> TurbulenceRequest {
    let frame = opening.scale.frame;
    let to_lattice = opening.scale.units.velocity();
    let (mut face, mut carried) = ([[0.0; 2]; 3], [0.0; 3]);
    for a in 0..D {
        let low = frame.origin[a];
        let high = low + frame.dx * f64::from(frame.root_cells[a]);
        face[a] = [low, high];
        carried[a] = stream[a] * to_lattice;
    }
    face[axis] = [face[axis][side]; 2];
    TurbulenceRequest {
        rms,
        length,
        shortest,
        axis,
        face,
        periodic: opening.periodic.0,
        stream: carried,
        seed: u64::from(seed),
    }
}

/// A mean velocity and the fluctuations that rise with it.
fn moving<const D: usize>(
    scale: &Scale<'_, D>,
    own: [f64; D],
    base: Option<Variation<D>>,
    waves: Arc<TurbulenceWaves>,
    length: f64,
) -> Space<D> {
    let (to_place, second, to_lattice) =
        (scale.to_place(), scale.units.time, scale.units.velocity());
    let base = Arc::new(base);
    Space::Moving(Arc::new(move |t| {
        let mean = mean_at(own, &base, t);
        let seconds = t * second;
        let share = match length > 0.0 {
            true => ramp(seconds, length),
            false => 1.0,
        };
        let (waves, field) = (waves.clone(), waves.at(seconds));
        let size = share / to_lattice;
        Box::new(move |x| {
            let mut u = mean(x)?;
            let mut place = [0.0; 3];
            place[..D].copy_from_slice(&to_place(x));
            let more = waves.velocity(&field, place);
            (0..D).for_each(|a| u[a] += size * more[a]);
            Ok(u)
        }) as AtTime<D>
    }))
}

/// The velocity of a variation at a time; `own` where there is none.
fn mean_at<const D: usize>(own: [f64; D], base: &Arc<Option<Variation<D>>>, t: f64) -> AtTime<D> {
    let Some(variation) = &**base else {
        return Box::new(move |_| Ok(own));
    };
    let time: Values<D> = variation.time.as_ref().map_or(Ok([1.0; D]), |of| of(t));
    let space: AtTime<D> = match &variation.space {
        Space::Uniform => Box::new(|_| Ok([1.0; D])),
        Space::Steady(of) => {
            let of = of.clone();
            Box::new(move |x| of(x))
        }
        Space::Moving(of) => of(t),
    };
    Box::new(move |x| {
        let (mut u, time) = (space(x)?, time.clone()?);
        (0..D).for_each(|a| u[a] *= time[a]);
        Ok(u)
    })
}

fn notes(what: &str, request: &TurbulenceRequest, bands: &WaveBands) -> Vec<String> {
    let mut notes = vec![format!(
        "{what}: waves from {:.4} to {:.4} m, which hold {:.0} % of the energy of a complete spectrum, carry the whole \
         intensity; they are evaluated at each cell of the face in each root step",
        request.shortest,
        bands.longest,
        100.0 * bands.share
    )];
    let widths = (0..3)
        .filter(|&a| a != request.axis)
        .map(|a| (request.face[a][1] - request.face[a][0]) / request.length);
    let narrow = widths.fold(f64::INFINITY, f64::min);
    if narrow < WIDTHS {
        notes.push(format!(
            "{what}: the face is {narrow:.1} integral lengths wide; its largest eddies need {WIDTHS:.0}"
        ));
    }
    notes
}

/// Checks that the shortest waves of turbulence have four cells on all of their face.
///
/// # Errors
/// A face with larger cells: their size, and the length to set.
pub(super) fn check<const D: usize>(
    case: &crate::solve::case::Case,
    mesh: &Mesh<D>,
) -> Result<(), Error> {
    let faces = case.boundary.faces();
    for axis in 0..D {
        for side in 0..2 {
            let table = faces[axis][side]
                .as_ref()
                .and_then(|face| face.turbulence.as_ref());
            let Some(shortest) = table.and_then(|table| table.shortest) else {
                continue;
            };
            let cell = largest_cell(mesh, axis, side);
            if shortest < CELLS * cell * (1.0 - 1e-9) {
                return Err(Error::input(format!(
                    "[boundary] \"{}\" turbulence shortest is {shortest} m, but the face has cells of {cell} m",
                    FACES[axis][side]
                ))
                .hint(format!("give at least {} m, four of them, or refine all of the face", CELLS * cell)));
            }
        }
    }
    Ok(())
}

/// The size of the largest cells at a face.
fn largest_cell<const D: usize>(mesh: &Mesh<D>, axis: usize, side: usize) -> f64 {
    let forest = &mesh.forest;
    let is_there = |&id: &u32| {
        let (level, at) = (forest.level[id as usize], forest.coord[id as usize][axis]);
        let last = (forest.root[axis] << level) as i32 - 1;
        at == if side == 0 { 0 } else { last }
    };
    let levels = forest.leaves().filter(is_there);
    let coarsest = levels.map(|id| forest.level[id as usize]).min();
    mesh.frame.dx / f64::from(1u32 << coarsest.unwrap_or(0))
}
