//! From a case to a flow's parameters, in units of the root lattice, every default worked out.
//!
//! In: a [`Case`] and the [`Grid`] it is for. Out: [`Resolved`]: [`Params`], the factors back to the
//! user's units, and the same case with every value written out, which resolves to itself to the
//! bit. With c = Δx / Δt of the root: velocities are over c, an acceleration over c / Δt, angular
//! velocities times Δt, and a gauge pressure p is the density 1 + 3 p / (ρ c²).

use crate::failure::Failure;
use crate::mesh::domain;
use crate::options::Root;
use crate::solve::case::{Case, OutputTable, PhysicsTable, RunTable};
use crate::solve::conditions::{Conditions, Scale, acceleration, conditions};
use crate::solve::initial::{Initial, initial};
use crate::solve::numerics::numerics;
use crate::solve::outputs::{Outputs, outputs};
use crate::solve::recirculation::{self, Line};
use crate::solve::reference::{Group, axes, groups, with_free_stream};
use crate::solve::units::{Bounds, Physics, Units, Unstable};
use crate::solve::value::Value;
use cutlink_solver::{Params, Place, WallScheme, is_driven_by_walls};
use cutlink_voxelizer::{Frame, Mesh};
use std::path::PathBuf;

/// Lattice speed of the reference velocity where the user gives none.
pub const LATTICE_VELOCITY: f64 = 0.05;
/// Places a straight wall halfway, for any viscosity.
pub const MAGIC: f64 = 3.0 / 16.0;
/// More root steps than any run does.
const MAX_STEPS: u64 = 1_000_000_000_000;
/// Times that sound takes along the box in which inflows rise by themselves. The lowest tone between an inlet and an outlet has a period
/// of four of them, and the ramp's spectrum, 15 j₂(a) / a² at a = π T / period, is zero there at a = 5.763.
const RAMP: f64 = 7.34;
/// Root steps from one line of integrals to the next where the user says nothing: a line takes as long as some steps.
const INTEGRALS_EVERY: u64 = 256;
/// Folder where the user names none.
pub const FOLDER: &str = "flow";
/// What a case has to know of its mesh.
#[derive(Debug, Clone, Copy)]
pub struct Grid<'a, const D: usize> {
    /// The box and its root cells.
    pub frame: &'a Frame<D>,
    /// Names of the patches.
    pub patches: &'a [String],
    /// What openings by mass flow deliver at a velocity of 1 m/s, m³/s (in the plane of a metre's depth), once that is known: see
    /// [`Resolved::areas`].
    pub areas: &'a [(Place, f64)],
}

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// After so many root steps.
    Steps(u64),
    /// When the forces have settled.
    Settled {
        /// Largest relative change.
        change: f64,
        /// Root steps at most.
        most: u64,
    },
}

/// A case with nothing left open.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved<const D: usize> {
    /// For the solver.
    pub params: Params<D>,
    /// The flow in the user's units.
    pub physics: Physics,
    /// The way back to them.
    pub units: Units,
    /// Reference area of coefficients; in the plane a length.
    pub area: f64,
    /// Directions of drag, lift and side force.
    pub axes: [[f64; 3]; 3],
    /// Groups of patches, by name and number.
    pub groups: Vec<(String, Vec<usize>)>,
    /// When to stop.
    pub until: Until,
    /// Where to write.
    pub folder: PathBuf,
    /// Root steps from one line of forces to the next; 0 for none.
    pub forces_every: u64,
    /// Root steps from one line of integrals to the next; 0 for none.
    pub integrals_every: u64,
    /// The line on which the length of the recirculation is.
    pub recirculation: Option<Line<D>>,
    /// Root steps from one checkpoint to the next; 0 for none.
    pub checkpoint_every: u64,
    /// Whether there is one at the end.
    pub checkpoint_at_end: bool,
    /// Fields to write.
    pub outputs: Outputs,
    /// How the flow begins.
    pub initial: Initial<D>,
    /// Openings by mass flow, whose velocities are right once their areas are known.
    pub by_mass: Vec<Place>,
    /// What the user should know and did not say.
    pub notes: Vec<String>,
    /// Why the flow may be unstable, where that was allowed.
    pub unstable: Option<Unstable>,
    /// The case with every value written out. `mesh` is as it was given.
    pub case: Case,
}

impl<'a, const D: usize> Grid<'a, D> {
    /// That of a mesh.
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

impl Case {
    /// Checks what can be checked without a mesh: that there is one thing to make it of.
    ///
    /// # Errors
    /// Both `[mesh]` and `[domain]`, or neither; a box that is none.
    pub fn dimensions_of_domain(&self) -> Result<Option<usize>, Failure> {
        match (&self.mesh, &self.domain) {
            (Some(_), None) => Ok(None),
            (None, Some(domain)) => match domain.bounds.len() {
                4 => Ok(Some(2)),
                6 => Ok(Some(3)),
                n => Err(Failure::usage(format!("[domain] box has {n} numbers"))
                    .hint("write [x0, y0, z0, x1, y1, z1], in the plane [x0, y0, x1, y1]")),
            },
            (Some(_), Some(_)) => Err(Failure::usage("there are both [mesh] and [domain]")
                .hint("[domain] is for boxes without a body; [mesh] has its own key `domain`")),
            (None, None) => Err(Failure::usage("there is neither [mesh] nor [domain]")
                .hint("say in [mesh] what to embed, or give a box in [domain]")),
        }
    }

    /// Resolves it for a mesh; `name` is the case's own, for messages.
    ///
    /// # Errors
    /// Values that are missing, twice there, out of range or of another dimension; faces and patches
    /// that are not there; a flow that cannot be stable, unless that is allowed. Each names its table
    /// and key.
    pub fn resolve<const D: usize>(
        &self,
        name: &str,
        grid: Grid<'_, D>,
    ) -> Result<Resolved<D>, Failure> {
        resolve(self, grid).map_err(|failure| failure.within(name))
    }
}

fn resolve<const D: usize>(case: &Case, grid: Grid<'_, D>) -> Result<Resolved<D>, Failure> {
    case.dimensions_of_domain()?;
    let case = &with_free_stream::<D>(case)?;
    let groups = groups(&case.groups, grid.patches)?;
    let (physics, area, table) = physics(&case.physics, &grid)?;
    let units = physics.units(grid.frame.dx);
    let through = grid.longest() / physics.velocity;
    let (until, run) = until(&case.run, &units, through)?;
    let most = match until {
        Until::Steps(steps) => steps,
        Until::Settled { most, .. } => most,
    };
    let is_sudden = case.mesh.is_none() || case.initial.is_some();
    let scale = Scale {
        frame: grid.frame,
        units,
        density: physics.density,
        physics,
        end: most as f64 * units.time,
        ramp: if is_sudden {
            0.0
        } else {
            usual_ramp(&grid, &units)
        },
        areas: grid.areas,
    };
    positive("[physics] a root step in seconds", units.time)?;
    let viscosity = physics.lattice_viscosity(grid.frame.dx);
    positive("[physics] viscosity on the root lattice", viscosity)?;
    let (acceleration, pull) = acceleration(table.acceleration.as_ref(), &scale)?;
    let moment_center = scale.point("[physics] moment_center", &table.moment_center)?;
    let wall = case.numerics.wall.unwrap_or(WallScheme::Linear);
    let Conditions {
        faces,
        patches,
        mut variations,
        sponges,
        face_tables,
        patch_tables,
        fastest,
        start,
        stream,
        by_mass,
        slow,
    } = conditions(case, &scale, grid.patches, wall)?;
    variations.extend(pull);
    let (initial, initial_table) = initial(case.initial.as_ref(), [start, stream], &scale)?;
    let coarse = physics.grid_reynolds(grid.frame.dx, 0) > Bounds::REGULARIZED_D3Q19.grid_reynolds;
    // Where there is a free stream, two relaxation times may be unstable in the coarse cells far from the body.
    let stirred = is_driven_by_walls(&faces, &patches);
    let mut numerics = numerics::<D>(&case.numerics, wall, [stirred, coarse])?;
    numerics.bound(&faces, &patches);
    let (outputs, output) = outputs(&case.output, grid.frame, &physics, &units, through)?;
    let axes = axes::<D>(case.free_stream.as_ref())?;
    let recirculation = match &case.output.recirculation {
        Some(given) => Some(recirculation::line(given, grid.frame, &axes)?),
        None => None,
    };
    let (line, recirculation) = recirculation.unzip();
    let forces_every = case.output.forces_every.unwrap_or(1);
    let params = Params {
        lattice: numerics.lattice,
        collision: numerics.collision,
        precision: numerics.precision,
        viscosity,
        acceleration,
        faces,
        patches,
        interpolation: numerics.interpolation,
        moment_center,
        forces: forces_every > 0,
        variations,
        sponges,
    };
    let bare = case.domain.is_some();
    if matches!(until, Until::Settled { .. }) && !params.forces && !bare {
        return Err(Failure::usage(
            "[run] settle goes by the forces, and [output] forces_every is 0",
        )
        .hint("leave forces_every out"));
    }
    let fastest = fastest * units.velocity();
    let unstable = physics.check(grid.frame.dx, fastest, numerics.bounds).err();
    if let Some(why) = unstable.filter(|_| !numerics.allow_unstable) {
        return Err(Failure::usage(why.to_string())
            .hint("or set [numerics] allow_unstable = true and see what comes of it"));
    }
    let folder = case.output.folder.clone().unwrap_or_else(|| FOLDER.into());
    let integrals_every = case.output.integrals_every.unwrap_or(INTEGRALS_EVERY);
    let checkpoint_every = case.output.checkpoint_every.unwrap_or(0);
    let checkpoint_at_end = case.output.checkpoint_at_end.unwrap_or(true);
    let named = |(name, of): &Group| {
        let patches = of.iter().map(|&n| grid.patches[n].clone());
        (name.clone(), patches.collect())
    };
    let mut written = Case {
        mesh: case.mesh.clone(),
        domain: case.domain.clone(),
        physics: table,
        numerics: numerics.table(),
        initial: initial_table,
        patches: patch_tables.into_iter().collect(),
        free_stream: case.free_stream,
        groups: groups.iter().map(named).collect(),
        run,
        output: OutputTable {
            folder: Some(folder.clone()),
            forces_every: Some(forces_every),
            integrals_every: Some(integrals_every),
            recirculation,
            checkpoint_every: Some(checkpoint_every),
            checkpoint_at_end: Some(checkpoint_at_end),
            ..output
        },
        ..Case::default()
    };
    for (to, from) in written.boundary.faces_mut().into_iter().zip(face_tables) {
        for (to, from) in to.into_iter().zip(from) {
            *to = Some(from);
        }
    }
    if let Some(domain) = &mut written.domain {
        let chosen = domain::of_case::<D>(&domain.bounds, &domain.root)?;
        domain.bounds = chosen.bounds.as_flattened().to_vec();
        domain.root = Root::Cells(chosen.frame.root_cells.to_vec());
    }
    Ok(Resolved {
        params,
        physics,
        units,
        area,
        axes,
        groups,
        until,
        folder,
        forces_every,
        integrals_every,
        recirculation: line,
        checkpoint_every,
        checkpoint_at_end,
        outputs,
        initial,
        by_mass,
        notes: notes(&slow, &scale, &written),
        unstable,
        case: written,
    })
}

/// Seconds in which profiles and patches rise where the user says nothing: [`RAMP`] times that sound takes along the box.
fn usual_ramp<const D: usize>(grid: &Grid<'_, D>, units: &Units) -> f64 {
    RAMP * grid.longest() * 3f64.sqrt() / units.velocity()
}

/// What the user should know of conditions and did not say.
fn notes<const D: usize>(slow: &[String], scale: &Scale<'_, D>, case: &Case) -> Vec<String> {
    let mut notes: Vec<String> = slow
        .iter()
        .map(|what| {
            format!(
                "{what} is no product of a part in space and one in time: it is evaluated at all its places in each root step, which \
                 takes time; write it as one where that is possible"
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
            "the flow starts from rest within {:.4} s, a ramp against sound in the box; ramp = 0 starts it at once",
            scale.ramp
        ));
    }
    notes
}

pub(super) fn positive(what: &str, value: f64) -> Result<f64, Failure> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(Failure::usage(format!("{what} is {value}"))
        .hint("a finite number of more than 0 is needed"))
}

pub(super) fn missing(what: &str) -> Failure {
    Failure::usage(format!("{what} is missing"))
}

/// One of two keys at most.
fn one_of(table: &str, given: [(&str, bool); 2]) -> Result<(), Failure> {
    let [(a, has_a), (b, has_b)] = given;
    if has_a && has_b {
        return Err(Failure::usage(format!("{table} has both {a} and {b}"))
            .hint("leave one of them out: it follows from the other"));
    }
    Ok(())
}

/// The flow, the reference area, and the table with both written out.
fn physics<const D: usize>(
    given: &PhysicsTable,
    grid: &Grid<'_, D>,
) -> Result<(Physics, f64, PhysicsTable), Failure> {
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
        missing("[physics] velocity").hint("the flow's own: of the inlet, the lid or the mean")
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

/// When to stop, and the table that says so; `through` is the time of one flow-through.
fn until(given: &RunTable, units: &Units, through: f64) -> Result<(Until, RunTable), Failure> {
    const WAYS: &str = "give one of steps, seconds, flow_through, or settle with most";
    let ways = [
        given.steps.is_some(),
        given.seconds.is_some(),
        given.flow_through.is_some(),
        given.settle.is_some(),
    ];
    let count = ways.into_iter().filter(|&given| given).count();
    if count != 1 {
        let message = match count {
            0 => "[run] does not say how long",
            _ => "[run] says more than once how long",
        };
        return Err(Failure::usage(message).hint(WAYS));
    }
    if given.settle.is_some() != given.most.is_some() {
        return Err(Failure::usage("[run] settle and most go together").hint(WAYS));
    }
    if given.steps == Some(0) || given.most == Some(0) {
        return Err(Failure::usage("[run] has no steps").hint("at least 1 is needed"));
    }
    let seconds = match (given.seconds, given.flow_through) {
        (Some(seconds), _) => Some(positive("[run] seconds", seconds)?),
        (_, Some(times)) => Some(positive("[run] flow_through", times)? * through),
        _ => None,
    };
    let steps = seconds.map(|seconds| units.steps(seconds)).or(given.steps);
    let longest = steps.into_iter().chain(given.most).max();
    if let Some(steps) = longest.filter(|&n| n > MAX_STEPS) {
        return Err(
            Failure::usage(format!("[run] comes to {steps} root steps")).hint(format!(
                "at most {MAX_STEPS} are possible; are the units right?"
            )),
        );
    }
    let table = RunTable {
        steps,
        settle: given.settle,
        most: given.most,
        ..RunTable::default()
    };
    let until = match (steps, given.settle, given.most) {
        (None, Some(change), Some(most)) => Until::Settled {
            change: positive("[run] settle", change)?,
            most,
        },
        _ => Until::Steps(steps.unwrap_or(1)),
    };
    Ok((until, table))
}
