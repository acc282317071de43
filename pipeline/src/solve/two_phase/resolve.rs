//! From tables to a mesh, parameters and the length of a step.

use super::case::{LiquidTable, TwoPhaseCase, TwoPhaseFaceKind, TwoPhaseFaceTable};
use super::frame::{self, FrameMotion};
use super::heat::{CaseHeat, bytes_of_heat};
use super::mesh::{CaseMeshes, leaf_masks};
use super::spheres::Spheres;
use super::surface::SurfaceKeys;
use super::tables::Measured;
use crate::solve::{resolve::missing, value};
use cutlink_amr::{Forest, dims};
use cutlink_common::{Error, ErrorKind};
use cutlink_device::{Backend, Host};
use cutlink_flow::setting::positive;
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_prescribed::expression::Expression;
use cutlink_vof::{
    BoxFace, FlowMesh, FlowParams, InterfaceAdaptation, LiquidShape, Phases, step_of_bed,
};
use cutlink_voxelizer::{Mesh, kernels::AdaptKernels};
use std::f64::consts::{FRAC_PI_2, PI};

/// Bytes of a cell in a step, with those of outputs: see `docs/limits.md`.
pub(super) const fn bytes_of_cell(d: u64) -> u64 {
    260 + 150 * d
}

/// What a mesh that follows the interface may take of the free memory.
const SHARE_OF_MEMORY: f64 = 0.8;

/// A case with nothing left open.
pub(super) struct TwoPhaseSetting<const D: usize> {
    pub(super) mesh: Mesh<D>,
    pub(super) flow_mesh: FlowMesh<D>,
    /// Of a mesh that follows the interface: what stays refined, and how it follows.
    pub(super) following: Option<(Forest<D>, InterfaceAdaptation)>,
    pub(super) params: FlowParams<D>,
    pub(super) liquid: Vec<LiquidShape<D>>,
    /// What the user should know of it.
    pub(super) notes: Vec<String>,
    /// How the box moves.
    pub(super) frame: Option<FrameMotion<D>>,
    /// The velocity at the start.
    pub(super) velocity: Option<[Expression; D]>,
    pub(super) measured: Measured<D>,
    /// Spheres in the flow.
    pub(super) spheres: Option<Spheres>,
    pub(super) heat: Option<CaseHeat<D>>,
    /// The length of a step, s.
    pub(super) dt: f64,
    /// Cells of leaves.
    pub(super) cells: usize,
    /// Bytes that the flow needs.
    pub(super) bytes: u64,
}

pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

/// The name of a side: `2 · axis`, plus 1 for the upper one.
pub(in crate::solve) fn side_name(side: usize) -> String {
    format!("{}{}", AXES[side / 2], ["-", "+"][side % 2])
}

/// Numbers as a vector and the rest.
pub(super) fn numbers<const N: usize>(what: &str, given: &[f64]) -> Result<[f64; N], Error> {
    given
        .try_into()
        .ok()
        .filter(|of: &[f64; N]| of.iter().all(|x| x.is_finite()))
        .ok_or_else(|| {
            Error::input(format!("{what} has {} numbers", given.len()))
                .hint(format!("it takes {N} finite ones"))
        })
}

/// The corners of a box.
pub(super) fn corners<const D: usize>(what: &str, given: &[f64]) -> Result<[[f64; D]; 2], Error> {
    if given.len() != 2 * D {
        return Err(
            Error::input(format!("{what} has {} numbers", given.len())).hint(format!(
                "in {D}D it takes {}: the lower and the upper corner",
                2 * D
            )),
        );
    }
    let [low, high] = [
        numbers::<D>(what, &given[..D])?,
        numbers::<D>(what, &given[D..])?,
    ];
    match (0..D).all(|a| low[a] < high[a]) {
        true => Ok([low, high]),
        false => {
            Err(Error::input(format!("{what} is {given:?}")).hint("the lower corner comes first"))
        }
    }
}

/// The free bytes, of the host and of a device, if so many fit.
///
/// # Errors
/// Cells that do not.
fn check_memory(cells: usize, bytes: u64, on_device: Option<u64>) -> Result<u64, Error> {
    let free = Host.free_bytes().min(on_device.unwrap_or(u64::MAX));
    if bytes <= free {
        return Ok(free);
    }
    let place = match on_device {
        Some(on_device) if on_device == free => " on the GPU",
        _ => "",
    };
    let text = format!("{cells} cells need {bytes} bytes of memory, and {free} are free{place}");
    Err(Error::new(ErrorKind::Memory, text)
        .hint("fewer [domain] root cells or levels, or smaller [[refine]] boxes"))
}

impl TwoPhaseCase {
    /// The number of dimensions.
    ///
    /// # Errors
    /// A box with another number of values.
    pub(super) fn dimensions(&self) -> Result<usize, Error> {
        match self.domain.bounds.len() {
            4 => Ok(2),
            6 => Ok(3),
            n => Err(Error::input(format!("[domain] box has {n} numbers"))
                .hint("it takes 4 in 2D, 6 in 3D: the lower and the upper corner, m")),
        }
    }

    /// Resolves a case for a device with so many free bytes; none: the host itself.
    ///
    /// # Errors
    /// Keys that are missing or make no sense, too little memory.
    pub(super) fn setting<const D: usize>(
        &self,
        on_device: Option<u64>,
    ) -> Result<TwoPhaseSetting<D>, Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
        Host: AdaptKernels<D>,
    {
        let phases = self.phases()?;
        let faces = self.faces::<D>(&phases)?;
        let adaptation = self.adaptation()?;
        let levels = self.all_levels(adaptation.as_ref())?;
        let liquid = self.shapes::<D>(levels)?;
        let bodies = self.solid_bodies::<D>(levels)?;
        let gravity = match &self.gravity {
            None => [0.0; D],
            Some(table) => numbers::<D>("[gravity] acceleration", &table.acceleration)?,
        };
        let heat = self.heat::<D>(&faces)?;
        let spheres = self.spheres(&faces, gravity, phases.viscosity)?;
        let meshes = self.meshes(
            &faces,
            (&liquid, spheres.as_ref()),
            &bodies,
            adaptation.as_ref(),
        )?;
        let CaseMeshes { mut mesh, floor } = meshes;
        let frame = mesh.frame;
        let cells = mesh.forest.leaves().count() * dims::cells(D);
        let h = frame.dx / f64::from(1u32 << (mesh.forest.levels.len() - 1));
        let of_spheres = spheres.as_ref().map_or(0, |of| of.bytes(cells, h));
        let of_heat = heat.as_ref().map_or(0, |_| bytes_of_heat(D as u64));
        let of_cell = bytes_of_cell(D as u64) + of_heat;
        let bytes = cells as u64 * of_cell + of_spheres;
        let free = check_memory(cells, bytes, on_device)?;
        mesh.classes.solid = bodies.solid(&mesh);
        let is_full =
            |id: u32| mesh.classes.solid[id as usize].count_ones() as usize == dims::cells(D);
        if mesh.forest.leaves().all(is_full) {
            return Err(Error::input("all cells are in a [[body]]")
                .hint("flow = \"inside\" of a body keeps the fluid inside of its surface"));
        }
        let flow_mesh = FlowMesh::new(&mesh.forest, frame.origin, frame.dx, leaf_masks(&mesh))?;
        let flow_mesh = match heat.as_ref().is_some_and(CaseHeat::has_bodies) {
            true => flow_mesh.with_bodies(bodies.numbers(&mesh)),
            false => flow_mesh,
        };
        if let Some(spheres) = &spheres {
            spheres.check(&flow_mesh, h)?;
        }
        let frame = self.motion(gravity)?;
        let measured = Measured::new(
            self.lines(gravity)?,
            frame.as_ref().map_or([0.0; D], |frame| frame.center),
            &faces,
            self.periodic()?,
            !self.bodies.is_empty(),
        );
        let velocity = self.start_velocity()?;
        let mut params = FlowParams {
            phases,
            gravity,
            turning: None,
            faces,
            courant: self.numerics.cfl.unwrap_or(0.4),
            longest_step: 1.0,
            tolerance: self.numerics.tolerance.unwrap_or(1e-9),
            contact_angles: self.contact_angles()?,
            fixed_curvature: None,
        };
        let dt = self.step(
            &params,
            flow_mesh.width(mesh.forest.finest()),
            spheres.as_ref(),
        )?;
        params.longest_step = dt;
        let following = adaptation.map(|mut adaptation| {
            let room = (free as f64 * SHARE_OF_MEMORY) as u64 / of_cell;
            adaptation.max_cells = adaptation.max_cells.min(room);
            (floor, adaptation)
        });
        Ok(TwoPhaseSetting {
            mesh,
            following,
            flow_mesh,
            params,
            liquid,
            notes: bodies.notes,
            frame,
            velocity,
            measured,
            spheres,
            heat,
            dt,
            cells,
            bytes,
        })
    }

    /// The velocity at the start, if it is given.
    fn start_velocity<const D: usize>(&self) -> Result<Option<[Expression; D]>, Error> {
        let Some(table) = &self.initial else {
            return Ok(None);
        };
        let scope = frame::scope(D, false);
        value::vector("[initial] velocity", &table.velocity, &scope).map(Some)
    }

    fn phases(&self) -> Result<Phases, Error> {
        let of = [("liquid", &self.phases.liquid), ("gas", &self.phases.gas)];
        let mut density = [0.0; 2];
        for (to, (name, table)) in density.iter_mut().zip(&of) {
            let what = format!("[phases.{name}] density");
            *to = positive(&what, table.density.ok_or_else(|| missing(&what))?)?;
        }
        let viscosity = of.map(|(_, table)| table.viscosity.unwrap_or(0.0));
        if (viscosity[0] > 0.0) != (viscosity[1] > 0.0) {
            return Err(Error::input(
                "one of [phases.liquid] and [phases.gas] has a viscosity, and the other has none",
            )
            .hint("give viscosity to both, or to none"));
        }
        Ok(Phases {
            density,
            viscosity,
            surface_tension: self.interface.surface_tension.unwrap_or(0.0),
        })
    }

    fn faces<const D: usize>(&self, phases: &Phases) -> Result<[[BoxFace<D>; 2]; D], Error> {
        let wall = if phases.viscosity[0] > 0.0 {
            BoxFace::NoSlip
        } else {
            BoxFace::Slip
        };
        let mut faces = [[wall; 2]; D];
        for (axis, pair) in self.boundary.faces().into_iter().enumerate() {
            for (upper, given) in pair.into_iter().enumerate() {
                let name = format!("[boundary] {}", side_name(2 * axis + upper));
                let Some(table) = given else { continue };
                if axis >= D {
                    return Err(Error::input(format!(
                        "{name} is given, and the box is in {D}D"
                    )));
                }
                faces[axis][upper] = face::<D>(&name, table)?;
            }
        }
        Ok(faces)
    }

    /// By side, rad.
    fn contact_angles<const D: usize>(&self) -> Result<[[f64; 2]; D], Error> {
        let mut angles = [[FRAC_PI_2; 2]; D];
        for (axis, pair) in self.boundary.faces().into_iter().enumerate().take(D) {
            for (upper, given) in pair.into_iter().enumerate() {
                let Some(angle) = given.as_ref().and_then(|face| face.contact_angle) else {
                    continue;
                };
                let name = format!("[boundary] {}: contact_angle", side_name(2 * axis + upper));
                if !(30.0..=150.0).contains(&angle) {
                    return Err(Error::input(format!("{name} is {angle}"))
                        .hint("angles of 30 to 150 degrees are tested"));
                }
                if self.interface.surface_tension.unwrap_or(0.0) <= 0.0 {
                    return Err(Error::input(format!("{name} without surface tension"))
                        .hint("give [interface] surface_tension in N/m"));
                }
                angles[axis][upper] = angle.to_radians();
            }
        }
        Ok(angles)
    }

    /// Periodic axes.
    pub(super) fn periodic(&self) -> Result<[bool; 3], Error> {
        let mut periodic = [false; 3];
        for (axis, pair) in self.boundary.faces().into_iter().enumerate() {
            let is = pair.map(|face| {
                face.as_ref()
                    .is_some_and(|f| f.kind == TwoPhaseFaceKind::Periodic)
            });
            if is[0] != is[1] {
                let name = AXES[axis];
                return Err(Error::input(format!(
                    "[boundary] one of {name}- and {name}+ is periodic"
                ))
                .hint("both faces of an axis have to be"));
            }
            periodic[axis] = is[0];
        }
        Ok(periodic)
    }

    fn shapes<const D: usize>(&self, levels: usize) -> Result<Vec<LiquidShape<D>>, Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
    {
        let one = |(i, table): (usize, &LiquidTable)| {
            let about = |error: Error| error.about(&format!("[[liquid]] {}", i + 1));
            let (bounds, ball, half) = (&table.bounds, &table.ball, &table.half_space);
            let plain = [bounds, ball, half].into_iter().flatten().count();
            let others = [table.level.is_some(), table.has_surface()];
            let count = plain + others.into_iter().filter(|of| *of).count();
            match (bounds, ball, half, &table.level) {
                _ if count != 1 => {}
                (Some(bounds), ..) => {
                    return corners::<D>("[[liquid]] box", bounds).map(LiquidShape::Box);
                }
                (_, Some(ball), ..) if ball.len() == D + 1 => {
                    return Ok(LiquidShape::Ball {
                        centre: numbers::<D>("[[liquid]] ball", &ball[..D])?,
                        radius: positive("[[liquid]] ball: the radius", ball[D])?,
                    });
                }
                (_, _, Some(half), _) if half.len() == D + 1 => {
                    return Ok(LiquidShape::HalfSpace {
                        normal: numbers::<D>("[[liquid]] half_space", &half[..D])?,
                        offset: half[D],
                    });
                }
                (.., Some(level)) => {
                    let what = format!("[[liquid]] {} level", i + 1);
                    return self.below::<D>((&what, level), self.root()?, levels);
                }
                (None, None, None, None) => {
                    return self
                        .liquid_surface::<D>(table, self.root()?, levels)
                        .map_err(about);
                }
                _ => {}
            }
            Err(Error::input("a [[liquid]] is no shape").hint(format!(
                "give one of box, with {} numbers, ball and half_space, with {}, level, and file or shape with its keys",
                2 * D,
                D + 1
            )))
        };
        self.liquid.iter().enumerate().map(one).collect()
    }

    /// The length of a step: as given, or what is known before the first one allows.
    fn step<const D: usize>(
        &self,
        params: &FlowParams<D>,
        h: f64,
        spheres: Option<&Spheres>,
    ) -> Result<f64, Error> {
        if let Some(dt) = self.numerics.dt {
            return positive("[numerics] dt", dt);
        }
        let mut dt = f64::INFINITY;
        let g = params.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
        if g > 0.0 {
            dt = dt.min((2.0 * params.courant * h / g).sqrt());
        }
        let phases = &params.phases;
        if phases.surface_tension > 0.0 {
            let sum = phases.density[0] + phases.density[1];
            dt = dt.min((sum * h.powi(3) / (4.0 * PI * phases.surface_tension)).sqrt());
        }
        for face in params.faces.iter().flatten() {
            if let BoxFace::Inflow { velocity, .. } = face {
                let speed = velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
                dt = dt.min(params.courant * h / speed);
            }
        }
        if let Some(Spheres { of, coupling }) = spheres {
            let bed = &of.bed;
            let drive = coupling.drive.iter().map(|x| x * x).sum::<f64>().sqrt();
            dt = dt.min((2.0 * params.courant * h / drive).sqrt());
            dt = dt.min(step_of_bed(bed, coupling, params, h));
        }
        match dt.is_finite() && dt > 0.0 {
            true => Ok(dt),
            false => Err(
                Error::input("nothing in the case tells how long a step may be")
                    .hint("give [numerics] dt, in s, or gravity, surface tension or an inflow"),
            ),
        }
    }
}

fn face<const D: usize>(name: &str, table: &TwoPhaseFaceTable) -> Result<BoxFace<D>, Error> {
    let kind = table.kind;
    let opening = matches!(
        kind,
        TwoPhaseFaceKind::Velocity | TwoPhaseFaceKind::Pressure
    );
    let unused = [
        (
            "velocity",
            table.velocity.is_some() && kind != TwoPhaseFaceKind::Velocity,
        ),
        (
            "pressure",
            table.pressure.is_some() && kind != TwoPhaseFaceKind::Pressure,
        ),
        ("liquid", table.liquid.is_some() && !opening),
        (
            "contact_angle",
            table.contact_angle.is_some() && (opening || kind == TwoPhaseFaceKind::Periodic),
        ),
    ];
    if let Some((key, _)) = unused.into_iter().find(|(_, unused)| *unused) {
        return Err(Error::input(format!(
            "{name}: {key} is no key of this type of face"
        )));
    }
    let liquid = f64::from(u8::from(table.liquid == Some(true)));
    Ok(match kind {
        TwoPhaseFaceKind::NoSlip => BoxFace::NoSlip,
        // Of a periodic axis no face is asked for.
        TwoPhaseFaceKind::FreeSlip | TwoPhaseFaceKind::Periodic => BoxFace::Slip,
        TwoPhaseFaceKind::Velocity => {
            let what = format!("{name} velocity");
            let given = table.velocity.as_ref().ok_or_else(|| missing(&what))?;
            BoxFace::Inflow {
                velocity: numbers::<D>(&what, given)?,
                liquid,
            }
        }
        TwoPhaseFaceKind::Pressure => BoxFace::Pressure {
            value: table.pressure.unwrap_or(0.0),
            liquid,
        },
    })
}

#[cfg(test)]
mod tests;
