//! From a case to the parameters of a flow, in units of the root lattice, with all defaults resolved.
//!
//! In: a [`Case`] and the [`CaseGrid`] it is for. Out: [`Resolved`]: [`Params`], the factors back to the user's units, and
//! the same case with all values resolved, which resolves to itself bit for bit. With c = Δx / Δt of the root level:
//! velocities are divided by c, an acceleration by c / Δt, angular velocities multiplied by Δt, and a gauge pressure p
//! is the density 1 + 3 p / (ρ c²).

use crate::solve::adapt::{AdaptScale, adaptation};
use crate::solve::case::{Case, FaceTable, PhysicsTable};
use crate::solve::conditions::{Scale, acceleration, conditions};
use crate::solve::heat::lattice::{self as heat, CaseTemperature, HeatScale};
use crate::solve::initial::{Initial, initial};
use crate::solve::numerics::{Kind, numerics};
use crate::solve::outputs::{Outputs, outputs};
use crate::solve::recirculation::{self, Line};
use crate::solve::reference::{axes, groups, with_free_stream};
use crate::solve::units::{Physics, Units};
use crate::solve::value::{self, Value};
use cutlink_common::Error;
use cutlink_flow::{
    RunTimes, Until,
    fields::{FieldName, FieldUnit, FieldUnits},
    history::Group,
    setting::{FOLDER, positive},
    tables::{OutputTable, RecirculationTable, RunTable},
    until,
};
use cutlink_meshing::{mesh::domain, options::Root};
use cutlink_solver::{Params, Place, WallScheme, stability::Unstable};
use cutlink_voxelizer::{Frame, Mesh};
use std::path::PathBuf;

/// Default lattice velocity of the reference velocity.
pub const LATTICE_VELOCITY: f64 = 0.05;
/// Default ramp of inflows, in acoustic transit times of the box. The lowest acoustic mode between an inlet and an
/// outlet has a period of four transit times, and the spectrum of the ramp, 15 j₂(a) / a² at a = π T / period, is zero
/// there at a = 5.763.
const RAMP: f64 = 7.34;
/// Default number of root steps between two lines of integrals; a line costs as much as several steps.
const INTEGRALS_EVERY: u64 = 256;
/// The properties of a mesh that a case needs.
#[derive(Debug, Clone, Copy)]
pub struct CaseGrid<'a, const D: usize> {
    /// The box and its root cells.
    pub frame: &'a Frame<D>,
    /// Names of the patches.
    pub patches: &'a [String],
    /// Volume flux of mass-flow boundaries at a velocity of 1 m/s, m³/s (in 2D per metre of depth), once known: see
    /// [`Resolved::areas`].
    pub areas: &'a [(Place, f64)],
}

/// A resolved case.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved<const D: usize> {
    /// Parameters of the solver.
    pub params: Params<D>,
    /// The flow in the user's units.
    pub physics: Physics,
    /// Factors from lattice units to the user's units.
    pub units: Units,
    /// Reference area of coefficients; in 2D a length.
    pub area: f64,
    /// Directions of drag, lift and side force.
    pub axes: [[f64; 3]; 3],
    /// Groups of patches: name and patch indices.
    pub groups: Vec<(String, Vec<usize>)>,
    /// When to stop.
    pub until: Until,
    /// Output folder.
    pub folder: PathBuf,
    /// Root steps between two lines of forces; 0 for none.
    pub forces_every: u64,
    /// Root steps between two lines of integrals; 0 for none.
    pub integrals_every: u64,
    /// The line of the recirculation length.
    pub recirculation: Option<Line<D>>,
    /// Root steps between two checkpoints, 0 for none; `None` for a period of wall time.
    pub checkpoint_every: Option<u64>,
    /// Whether there is one at the end.
    pub checkpoint_at_end: bool,
    /// Whether there is a `report.html`.
    pub report: bool,
    /// Fields to write.
    pub outputs: Outputs,
    /// The initial state.
    pub initial: Initial<D>,
    /// Heat, if the flow has some.
    pub heat: Option<CaseTemperature>,
    /// The largest prescribed velocity, m/s.
    pub fastest: f64,
    /// Whether the flow has a state to begin with, or boundaries or an acceleration that change in time other than by a ramp.
    pub is_unsteady: bool,
    /// Mass-flow boundaries, whose velocities are correct once their areas are known.
    pub by_mass: Vec<Place>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The violated stability limit, if `allow_unstable` is set.
    pub unstable: Option<Unstable>,
    /// The case with all values resolved; `mesh` is as given.
    pub case: Case,
}

impl<'a, const D: usize> CaseGrid<'a, D> {
    /// The properties of a mesh.
    pub fn of(mesh: &'a Mesh<D>) -> Self {
        Self {
            frame: &mesh.frame,
            patches: &mesh.patches,
            areas: &[],
        }
    }

    fn longest(&self) -> f64 {
        let cells = self.frame.root_cells.iter().max().copied().unwrap_or(0);
        self.frame.dx * f64::from(cells)
    }
}

impl<const D: usize> Resolved<D> {
    /// Whether the user runs it despite its limits.
    pub fn allows_unstable(&self) -> bool {
        self.case.numerics.allow_unstable == Some(true)
    }
}

impl Case {
    /// Checks without a mesh that the case has either `[mesh]` or `[domain]`; returns the dimension of a domain.
    ///
    /// # Errors
    /// Both `[mesh]` and `[domain]`, or neither; an invalid box.
    pub fn dimensions_of_domain(&self) -> Result<Option<usize>, Error> {
        match (&self.mesh, &self.domain) {
            (Some(_), None) => Ok(None),
            (None, Some(domain)) => match domain.bounds.len() {
                4 => Ok(Some(2)),
                6 => Ok(Some(3)),
                n => Err(Error::input(format!("[domain] box has {n} numbers"))
                    .hint("write [x0, y0, z0, x1, y1, z1], in 2D [x0, y0, x1, y1]")),
            },
            (Some(_), Some(_)) => Err(Error::input("there are both [mesh] and [domain]").hint(
                "[domain] is for a box without a body; with a body, use the key `domain` of [mesh]",
            )),
            (None, None) => Err(Error::input("there is neither [mesh] nor [domain]")
                .hint("add [mesh] with a surface, or [domain] with a box")),
        }
    }

    /// Resolves the case for a mesh; `name` is the name of the case in messages.
    ///
    /// # Errors
    /// Values that are missing, duplicate, out of range or of another dimension; unknown faces and patches; an unstable
    /// flow, unless allowed. Each error names its table and key.
    pub fn resolve<const D: usize>(
        &self,
        name: &str,
        grid: CaseGrid<'_, D>,
    ) -> Result<Resolved<D>, Error> {
        resolve(self, grid).map_err(|failure| failure.within(name))
    }
}

/// How often what is written, and what at the end.
struct Every {
    forces: u64,
    integrals: u64,
    checkpoint: Option<u64>,
    checkpoint_at_end: bool,
    report: bool,
}

impl Every {
    fn of(given: &OutputTable) -> Self {
        Self {
            forces: given.forces_every.unwrap_or(1),
            integrals: given.integrals_every.unwrap_or(INTEGRALS_EVERY),
            checkpoint: given.checkpoint_every,
            checkpoint_at_end: given.checkpoint_at_end.unwrap_or(true),
            report: given.report.unwrap_or(true),
        }
    }

    /// With all keys given.
    fn table(&self, of: OutputTable) -> OutputTable {
        OutputTable {
            forces_every: Some(self.forces),
            integrals_every: Some(self.integrals),
            checkpoint_every: self.checkpoint,
            checkpoint_at_end: Some(self.checkpoint_at_end),
            report: Some(self.report),
            ..of
        }
    }
}

fn resolve<const D: usize>(case: &Case, grid: CaseGrid<'_, D>) -> Result<Resolved<D>, Error> {
    case.dimensions_of_domain()?;
    let case = &with_free_stream::<D>(case)?;
    let groups = groups(&case.groups, grid.patches)?;
    let (physics, area, table) = physics(&case.physics, &grid)?;
    let units = physics.units(grid.frame.dx);
    let through = grid.longest() / physics.velocity;
    let (until, run) = end_of(case, &units, through)?;
    let scale = scale_of(case, &grid, physics, until.most());
    let viscosity = lattice_viscosity(&physics, &units, grid.frame.dx)?;
    let (acceleration, pull) = acceleration(table.acceleration.as_ref(), &scale)?;
    let moment_center = scale.point("[physics] moment_center", &table.moment_center)?;
    let wall = case.numerics.wall.unwrap_or(WallScheme::Linear);
    let mut found = conditions(case, &scale, grid.patches, wall)?;
    found.variations.extend(pull);
    let (initial, initial_table) =
        initial(case.initial.as_ref(), [found.start, found.stream], &scale)?;
    let reynolds = physics.grid_reynolds(grid.frame.dx, 0);
    let kind = Kind::of(reynolds, &found.faces, &found.patches);
    let numerics = numerics::<D>(&case.numerics, wall, kind)?;
    let of_heat = HeatScale::of(&grid, &physics, &units, &found.faces);
    let warm = heat::with_heat(case, table, &of_heat)?;
    let (mut outputs, output) = outputs(&case.output, grid.frame, &physics, &units, through)?;
    let axes = axes::<D>(case.free_stream.as_ref())?;
    let (line, recirculation) = line_of(case, grid.frame, &axes)?;
    let every = Every::of(&case.output);
    let adapt_scale = AdaptScale {
        frame: grid.frame,
        units: &units,
        physics: &physics,
        precision: numerics.precision,
    };
    let adapted = case.adapt.as_ref().map(|of| adaptation(of, &adapt_scale));
    let (adaptation, adapt) = adapted.transpose()?.unzip();
    let params = Params {
        lattice: numerics.lattice,
        collision: numerics.collision,
        les: numerics.les,
        precision: numerics.precision,
        viscosity,
        acceleration,
        faces: found.faces,
        patches: found.patches,
        modeled: found.modeled,
        interpolation: numerics.interpolation,
        moment_center,
        forces: every.forces > 0,
        variations: found.variations,
        sponges: found.sponges,
        adaptation,
        heat: warm.of_flow,
    };
    add_fields(&mut outputs.units, warm.field, case);
    check_settles(case, until, params.forces)?;
    let fastest = found.fastest * units.velocity();
    let unstable = physics.check(grid.frame.dx, fastest, params.stability_bounds());
    let unstable = allowed(unstable.err(), numerics.allow_unstable)?;
    let folder = case.output.folder.clone().unwrap_or_else(|| FOLDER.into());
    let resolved = Case {
        physics: warm.physics,
        numerics: numerics.table(&case.numerics),
        heat: warm.table,
        initial: initial_table,
        patches: found.patch_tables.into_iter().collect(),
        adapt,
        run,
        output: OutputTable {
            folder: Some(folder.clone()),
            recirculation,
            ..every.table(output)
        },
        ..Case::default()
    };
    let written = written::<D>(case, resolved, found.face_tables, (&groups, grid.patches))?;
    Ok(Resolved {
        params,
        physics,
        units,
        area,
        axes,
        groups,
        until,
        folder,
        forces_every: every.forces,
        integrals_every: every.integrals,
        recirculation: line,
        checkpoint_every: every.checkpoint,
        checkpoint_at_end: every.checkpoint_at_end,
        report: every.report,
        outputs,
        initial,
        heat: warm.temperature,
        fastest,
        is_unsteady: is_unsteady::<D>(case, &physics),
        by_mass: found.by_mass,
        notes: [found.notes, notes(&found.slow, &scale, &written)].concat(),
        unstable,
        case: written,
    })
}

/// Adds the fields of a flow with heat, or spheres, to those of all.
fn add_fields(units: &mut FieldUnits, scalar: Option<(FieldName, FieldUnit)>, case: &Case) {
    units.scalars.extend(scalar);
    units.particles = !case.particles.is_empty();
}

/// # Errors
/// A step or a viscosity that is zero, or no number.
fn lattice_viscosity(physics: &Physics, units: &Units, dx: f64) -> Result<f64, Error> {
    positive("[physics] duration of a root step, s,", units.time)?;
    let viscosity = physics.lattice_viscosity(dx);
    positive("[physics] viscosity on the root lattice", viscosity)?;
    Ok(viscosity)
}

/// When a run ends, and the table with all values. `through`: the time that the flow takes through the box, s.
fn end_of(case: &Case, units: &Units, through: f64) -> Result<(Until, RunTable), Error> {
    let times = RunTimes {
        step: units.time,
        through,
        steps: |steps| steps.round().max(1.0) as u64,
    };
    until(&case.run, &times)
}

/// # Errors
/// A violated limit that is not allowed.
fn allowed(unstable: Option<Unstable>, is_allowed: bool) -> Result<Option<Unstable>, Error> {
    match unstable {
        Some(why) if !is_allowed => Err(refused(why)),
        unstable => Ok(unstable),
    }
}

/// The line of the recirculation length, and its table.
fn line_of<const D: usize>(
    case: &Case,
    frame: &Frame<D>,
    axes: &[[f64; 3]; 3],
) -> Result<(Option<Line<D>>, Option<RecirculationTable>), Error> {
    let given = case.output.recirculation.as_ref();
    let found = given.map(|of| recirculation::line(of, frame, axes));
    Ok(found.transpose()?.unzip())
}

/// # Errors
/// A run that ends when forces settle, of a flow around a body, without forces.
fn check_settles(case: &Case, until: Until, has_forces: bool) -> Result<(), Error> {
    if matches!(until, Until::Settled { .. }) && !has_forces && case.domain.is_none() {
        return Err(
            Error::input("[run] settle needs forces, but [output] forces_every is 0")
                .hint("remove forces_every"),
        );
    }
    Ok(())
}

/// What values of a case are converted with, in a run of so many steps. Flows around a body that nothing begins with a
/// state of its own have a ramp.
fn scale_of<'a, const D: usize>(
    case: &Case,
    grid: &CaseGrid<'a, D>,
    physics: Physics,
    steps: u64,
) -> Scale<'a, D> {
    let units = physics.units(grid.frame.dx);
    let is_sudden = case.mesh.is_none() || case.initial.is_some();
    Scale {
        frame: grid.frame,
        units,
        density: physics.density,
        physics,
        end: steps as f64 * units.time,
        ramp: match is_sudden {
            true => 0.0,
            false => usual_ramp(grid, &units),
        },
        areas: grid.areas,
    }
}

/// The error of a flow beyond a bound of stability.
pub(super) fn refused(why: impl std::fmt::Display) -> Error {
    Error::input(why.to_string()).hint("or set [numerics] allow_unstable = true to run it anyway")
}

/// The case with all values resolved: faces, groups and the box beside the tables of `resolved`.
fn written<const D: usize>(
    case: &Case,
    resolved: Case,
    faces: Vec<[FaceTable; 2]>,
    (groups, patches): (&[Group], &[String]),
) -> Result<Case, Error> {
    let named = |(name, of): &Group| {
        let patches = of.iter().map(|&n| patches[n].clone());
        (name.clone(), patches.collect())
    };
    let mut written = Case {
        mesh: case.mesh.clone(),
        domain: case.domain.clone(),
        free_stream: case.free_stream,
        gravity: case.gravity.clone(),
        motion: case.motion.clone(),
        materials: case.materials.clone(),
        contacts: case.contacts.clone(),
        particles: case.particles.clone(),
        walls: case.walls.clone(),
        coupling: case.coupling.clone(),
        groups: groups.iter().map(named).collect(),
        ..resolved
    };
    for (to, from) in written.boundary.faces_mut().into_iter().zip(faces) {
        for (to, from) in to.into_iter().zip(from) {
            *to = Some(from);
        }
    }
    if let Some(domain) = &mut written.domain {
        let chosen = domain::of_case::<D>(&domain.bounds, &domain.root)?;
        domain.bounds = chosen.bounds.as_flattened().to_vec();
        domain.root = Root::Cells(chosen.frame.root_cells.to_vec());
    }
    Ok(written)
}

/// Whether a case has an initial state of its own, a body that moves, or a value that changes in time.
fn is_unsteady<const D: usize>(case: &Case, physics: &Physics) -> bool {
    let faces = case.boundary.faces();
    let faces = faces.as_flattened().iter().filter_map(|face| face.as_ref());
    let has_turbulence = faces.clone().any(|face| face.turbulence.is_some());
    let of_faces = faces.map(|face| (&face.velocity, &face.pressure));
    let of_patches = case.patches.values().map(|of| (&of.velocity, &of.pressure));
    let of_boundary = of_faces
        .chain(of_patches)
        .flat_map(|(velocity, pressure)| velocity.iter().flatten().chain(pressure));
    let pull = case.physics.acceleration.iter().flatten();
    let scope = value::scope(D, true, physics);
    let changes = |value: &Value| {
        let expression = value.expression("", &scope);
        expression.is_ok_and(|expression| expression.depends_on_time())
    };
    let begins = case.initial.as_ref().is_some_and(|of| of.from.is_none());
    begins || has_turbulence || !case.motion.is_empty() || of_boundary.chain(pull).any(changes)
}

/// Default ramp of profiles and patches, s: [`RAMP`] acoustic transit times of the box.
fn usual_ramp<const D: usize>(grid: &CaseGrid<'_, D>, units: &Units) -> f64 {
    RAMP * grid.longest() * 3f64.sqrt() / units.velocity()
}

/// Notes on boundary conditions.
fn notes<const D: usize>(slow: &[String], scale: &Scale<'_, D>, case: &Case) -> Vec<String> {
    let mut notes: Vec<String> = slow
        .iter()
        .map(|what| {
            format!(
                "{what} is not a product of a function of space and a function of time: it is evaluated at all its \
                 points in each root step, which is slow; write it as such a product if possible"
            )
        })
        .collect();
    let faces = case.boundary.faces();
    let faces = faces
        .as_flattened()
        .iter()
        .filter_map(|face| face.as_ref()?.ramp);
    let patches = case.patches.values().filter_map(|patch| patch.ramp);
    if scale.ramp > 0.0 && faces.chain(patches).any(|ramp| ramp == scale.ramp) {
        notes.push(format!(
            "the flow starts from rest with a ramp of {:.4} s, which avoids acoustic resonance; ramp = 0 starts it \
             impulsively",
            scale.ramp
        ));
    }
    notes
}

pub(super) fn missing(what: &str) -> Error {
    Error::input(format!("{what} is missing"))
}

/// Checks that at most one of two keys is given.
fn one_of(table: &str, given: [(&str, bool); 2]) -> Result<(), Error> {
    let [(a, has_a), (b, has_b)] = given;
    if has_a && has_b {
        return Err(Error::input(format!("{table} has both {a} and {b}"))
            .hint("remove one of them: it follows from the other"));
    }
    Ok(())
}

/// The physics, the reference area, and the resolved table.
pub(super) fn physics<const D: usize>(
    given: &PhysicsTable,
    grid: &CaseGrid<'_, D>,
) -> Result<(Physics, f64, PhysicsTable), Error> {
    let number = |key: &str, value: Option<f64>| {
        value
            .map(|x| positive(&format!("[physics] {key}"), x))
            .transpose()
    };
    one_of(
        "[physics]",
        [
            ("re", given.re.is_some()),
            ("viscosity", given.viscosity.is_some()),
        ],
    )?;
    one_of(
        "[physics]",
        [
            ("lattice_velocity", given.lattice_velocity.is_some()),
            ("mach", given.mach.is_some()),
        ],
    )?;
    let velocity = number("velocity", given.velocity)?.ok_or_else(|| {
        missing("[physics] velocity")
            .hint("a characteristic velocity: of the inlet, the lid or the mean flow")
    })?;
    let length = number("length", given.length)?;
    let (viscosity, length) = match (
        number("re", given.re)?,
        number("viscosity", given.viscosity)?,
    ) {
        (Some(re), _) => {
            let length = length.ok_or_else(|| {
                missing("[physics] length").hint("re is velocity * length / viscosity")
            })?;
            (velocity * length / re, length)
        }
        (None, Some(viscosity)) => (viscosity, length.unwrap_or_else(|| grid.longest())),
        (None, None) => {
            return Err(missing("[physics] re").hint("give re and length, or viscosity"));
        }
    };
    let mach = number("mach", given.mach)?.map(|mach| mach / 3f64.sqrt());
    let lattice_velocity = number("lattice_velocity", given.lattice_velocity)?
        .or(mach)
        .unwrap_or(LATTICE_VELOCITY);
    let area = number("area", given.area)?.unwrap_or_else(|| length.powi(D as i32 - 1));
    let density = number("density", given.density)?.unwrap_or(1.0);
    let zeros = || vec![0.0; D];
    let none = || vec![Value::Number(0.0); D];
    let table = PhysicsTable {
        re: None,
        length: Some(length),
        velocity: Some(velocity),
        viscosity: Some(viscosity),
        density: Some(density),
        lattice_velocity: Some(lattice_velocity),
        mach: None,
        area: Some(area),
        acceleration: given.acceleration.clone().or_else(|| Some(none())),
        moment_center: given.moment_center.clone().or_else(|| Some(zeros())),
        conductivity: None,
        prandtl: None,
        ..given.clone()
    };
    let physics = Physics {
        length,
        velocity,
        viscosity,
        density,
        lattice_velocity,
    };
    Ok((physics, area, table))
}
