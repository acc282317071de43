//! From the tables of a case to parameters, with all defaults.

use super::adapt::{AdaptSetting, adapt};
use super::case::{
    FluxCase, FluxInitialTable, FluxNumericsTable, FluxPreset, GasTable, RungeKuttaName,
};
use super::kinds::{SolverKind, SolverTable};
use super::walls::{Reference, Surroundings};
use crate::solve::{
    reference::{axes, groups},
    value,
};
use cutlink_amr::linear::Grid;
use cutlink_common::Error;
use cutlink_flow::history::Group;
use cutlink_fr::{
    ElementAdaptation, EulerParams, IsentropicVortex, Primitive, RungeKutta, TimeStep, Viscosity,
    kernels::sizes,
};
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_meshing::{mesh::build::bare_periodic, options::Root};
use cutlink_prescribed::expression::{Expression, Scope};
use cutlink_solver::Precision;
use cutlink_voxelizer::Mesh;
use std::path::PathBuf;

/// Defaults; the numbers of the sensor and the vortex are those of [W24].
pub(super) const ORDER: usize = 3;
const GAMMA: f64 = 1.4;
const CFL: f64 = 0.5;
const MACH: f64 = 0.5;
const STRENGTH: f64 = 5.0;
const DECAY: f64 = 0.5;
/// Of air.
const PRANDTL: f64 = 0.71;
const TAYLOR_GREEN_MACH: f64 = 0.1;

/// Share of the free memory that elements may take by default.
const SHARE_OF_MEMORY: f64 = 0.8;

/// The initial state.
#[derive(Debug, Clone)]
pub(super) enum FluxInitial<const D: usize> {
    /// The flow of another run: a checkpoint, or a folder that has one.
    Earlier(PathBuf),
    Vortex(IsentropicVortex),
    TaylorGreen(TaylorGreen<D>),
    Fields {
        density: Expression,
        velocity: [Expression; D],
        pressure: Expression,
    },
}

/// Taylor & Green's vortices in a periodic box: velocity scale and mean density 1, temperature the same everywhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaylorGreen<const D: usize> {
    /// The pressure of the mean, `1 / (γ Ma²)`.
    pressure: f64,
    lower: [f64; D],
    /// 2 π over the edges of the box.
    wave: [f64; D],
}

impl<const D: usize> TaylorGreen<D> {
    /// The initial state.
    pub(super) fn at(&self, x: [f64; D]) -> Primitive<D> {
        let phase: [f64; D] = std::array::from_fn(|a| self.wave[a] * (x[a] - self.lower[a]));
        let along = phase.get(2).map_or(1.0, |z| z.cos());
        let (x, y) = (phase[0], phase[1]);
        let mut velocity = [0.0; D];
        velocity[0] = x.sin() * y.cos() * along;
        velocity[1] = -x.cos() * y.sin() * along;
        let twice = (2.0 * x).cos() + (2.0 * y).cos();
        let swing = match phase.get(2) {
            Some(z) => twice * ((2.0 * z).cos() + 2.0) / 16.0,
            None => twice / 4.0,
        };
        let pressure = self.pressure + swing;
        Primitive {
            density: pressure / self.pressure,
            velocity,
            pressure,
        }
    }
}

/// A case with all defaults but for the length of steps.
#[derive(Debug)]
pub(super) struct FluxSetting<const D: usize> {
    /// The resolved tables.
    pub(super) case: FluxCase,
    pub(super) precision: Precision,
    /// The box as a mesh of the coarsest elements.
    pub(super) mesh: Mesh<D>,
    pub(super) grid: Grid<D>,
    pub(super) bounds: [[f64; D]; 2],
    pub(super) params: EulerParams<D>,
    pub(super) adaptation: Option<ElementAdaptation>,
    pub(super) initial: FluxInitial<D>,
    /// By patch with a wall, its number and name.
    pub(super) patches: Vec<(usize, String)>,
    /// What coefficients of forces are made with.
    pub(super) reference: Option<Reference<D>>,
    /// Groups of these: name and indices.
    pub(super) groups: Vec<Group>,
    /// The time of a flow-through, s: the box along x at the speed of the far field; not a number without one.
    pub(super) through: f64,
    /// The time before which a flow cannot have settled, s: sound has crossed the box twice, and the flow has passed the
    /// reference length.
    pub(super) patience: f64,
    /// What the user should know of bodies.
    pub(super) notes: Vec<String>,
}

/// The time of a flow-through, and that before which a flow cannot have settled.
fn times<const D: usize>(
    params: &EulerParams<D>,
    reference: Option<&Reference<D>>,
    bounds: &[[f64; D]; 2],
) -> [f64; 2] {
    let edges = std::array::from_fn::<f64, D, _>(|a| bounds[1][a] - bounds[0][a]);
    let longest = edges.into_iter().fold(0.0, f64::max);
    let Some(state) = &params.far_field else {
        let past = reference.map_or(0.0, |of| of.length / of.velocity);
        return [f64::NAN, past];
    };
    let speed = state.velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
    let sound = (params.gamma * state.pressure / state.density).sqrt();
    let through = if speed > 0.0 {
        edges[0] / speed
    } else {
        f64::NAN
    };
    let past = reference.map_or(0.0, |of| of.length / of.velocity);
    [through, 2.0 * longest / sound + past]
}

pub(super) fn positive(what: &str, value: f64) -> Result<f64, Error> {
    match value > 0.0 && value.is_finite() {
        true => Ok(value),
        false => {
            Err(Error::input(format!("{what} is {value}")).hint("it should be positive and finite"))
        }
    }
}

/// Numbers of a vector.
pub(super) fn vector<const N: usize>(what: &str, given: &[f64]) -> Result<[f64; N], Error> {
    given.try_into().map_err(|_| {
        Error::input(format!(
            "{what} has {} numbers, {N} are needed",
            given.len()
        ))
    })
}

impl FluxCase {
    /// Dimensions of the box.
    ///
    /// # Errors
    /// A box with another number of values.
    pub(super) fn dimensions(&self) -> Result<usize, Error> {
        match (self.domain.bounds.len(), self.domain.elements.len()) {
            (4, 2) => Ok(2),
            (6, 3) => Ok(3),
            (numbers, axes) => Err(Error::input(format!(
                "[domain] box has {numbers} numbers and elements has {axes}"
            ))
            .hint("in 2D 4 and 2, in 3D 6 and 3: lower corner, then upper corner; elements on each axis")),
        }
    }

    /// Checks that what asks for forces has walls and a reference.
    fn check_forces(&self, has_walls: bool, has_reference: bool) -> Result<(), Error> {
        let every = self.output.forces_every;
        if !has_walls && (self.reference.is_some() || every.is_some()) {
            return Err(Error::input(
                "[reference] and [output] forces_every are for walls, and there are none",
            ));
        }
        if !has_reference && every.is_some_and(|every| every > 0) {
            return Err(Error::input(
                "[output] forces_every is given, and no [reference] velocity",
            )
            .hint("give it: coefficients of forces need one"));
        }
        Ok(())
    }

    /// Resolves all defaults; `free` bytes of memory are there for elements.
    ///
    /// # Errors
    /// Values that make no sense, or not together.
    pub(super) fn setting<const D: usize>(&self, free: u64) -> Result<FluxSetting<D>, Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
    {
        let gamma = positive("[physics] gamma", self.physics.gamma.unwrap_or(GAMMA))?;
        let viscosity = self.viscosity()?;
        let Surroundings {
            periodic,
            has_far_field,
            walls,
            patches,
        } = self.surroundings::<D>()?;
        let (mesh, grid, bounds) = self.domain::<D>(periodic)?;
        let numerics = self.numerics()?;
        let (initial, initial_table) = self.initial(gamma, bounds, periodic)?;
        let precision = numerics.precision.unwrap_or(Precision::F64);
        let order = numerics.order.unwrap_or(ORDER);
        let mut params = EulerParams {
            order,
            gamma,
            runge_kutta: match numerics.runge_kutta {
                Some(RungeKuttaName::Rk33) => RungeKutta::Rk33,
                _ => RungeKutta::Rk43,
            },
            time_step: match (numerics.dt, numerics.cfl) {
                (Some(dt), _) => TimeStep::Fixed(dt),
                (None, cfl) => TimeStep::Courant(cfl.unwrap_or(CFL)),
            },
            far_field: self.far_field(has_far_field)?,
            viscosity,
            walls,
        };
        let levels = self.adapt.as_ref().and_then(|adapt| adapt.levels);
        let shaped = self.shaped::<D>(levels.unwrap_or(1).max(1))?;
        if shaped.is_none() && self.numerics.relaxation.is_some() {
            return Err(Error::input(
                "[numerics] relaxation is given, and no body with a file or shape",
            ));
        }
        let around = shaped.as_ref().map(|shaped| shaped.bounds);
        let reference = match patches.is_empty() {
            true => None,
            false => self.reference(params.far_field.as_ref(), &bounds, around.as_ref())?,
        };
        self.check_forces(!patches.is_empty(), reference.is_some())?;
        let (reference, reference_table) = reference.unzip();
        let names: Vec<String> = patches.iter().map(|(_, name)| name.clone()).collect();
        let groups = groups(&self.groups, &names)?;
        let [through, patience] = times(&params, reference.as_ref(), &bounds);
        let one = bytes_of_element::<D>(order, precision, viscosity.is_some());
        let room = (free as f64 * SHARE_OF_MEMORY) as u64 / one;
        let setting = AdaptSetting {
            order,
            precision,
            bounds,
            room,
            has_bodies: !self.bodies.is_empty(),
        };
        let adapted = self.adapt.as_ref().map(|table| adapt(table, &setting));
        let (adaptation, adapt_table) = adapted.transpose()?.unzip();
        let mut notes = Vec::new();
        if let Some(shaped) = shaped {
            params.walls.embedded = Some(shaped.embedded);
            notes = shaped.notes;
        }
        let case = Self {
            solver: Some(SolverTable {
                kind: SolverKind::FluxReconstruction,
            }),
            physics: GasTable {
                gamma: Some(gamma),
                dynamic_viscosity: viscosity.map(|viscosity| viscosity.dynamic),
                prandtl: viscosity.map(|viscosity| viscosity.prandtl),
            },
            numerics,
            initial: initial_table,
            adapt: adapt_table,
            reference: reference_table,
            ..self.clone()
        };
        Ok(FluxSetting {
            case,
            precision,
            mesh,
            grid,
            bounds,
            params,
            adaptation,
            initial,
            patches,
            reference,
            groups,
            through,
            patience,
            notes,
        })
    }

    /// Viscosity and heat conduction, if there are any.
    fn viscosity(&self) -> Result<Option<Viscosity>, Error> {
        let given = &self.physics;
        let Some(dynamic) = given.dynamic_viscosity else {
            return match given.prandtl {
                None => Ok(None),
                Some(_) => Err(Error::input("[physics] prandtl is given, and no viscosity")
                    .hint("give dynamic_viscosity, or remove it")),
            };
        };
        Ok(Some(Viscosity {
            dynamic: positive("[physics] dynamic_viscosity", dynamic)?,
            prandtl: positive("[physics] prandtl", given.prandtl.unwrap_or(PRANDTL))?,
        }))
    }

    /// The box, its root grid, and its corners.
    fn domain<const D: usize>(
        &self,
        periodic: [bool; D],
    ) -> Result<(Mesh<D>, Grid<D>, [[f64; D]; 2]), Error>
    where
        Facet<D>: Exact<D>,
    {
        let elements: [u32; D] = std::array::from_fn(|a| self.domain.elements[a]);
        if elements.contains(&0) || elements.iter().any(|&n| n > 1 << 17) {
            return Err(Error::input(format!("[domain] elements is {elements:?}"))
                .hint("1 to 131072 on each axis"));
        }
        let grid = Grid::new(elements, periodic).map_err(failed)?;
        let numbers = &self.domain.bounds;
        let bounds: [[f64; D]; 2] =
            std::array::from_fn(|upper| std::array::from_fn(|a| numbers[upper * D + a]));
        let edge = |a: usize| (bounds[1][a] - bounds[0][a]) / f64::from(elements[a]);
        if !(0..D).all(|a| edge(a).is_finite() && edge(a) > 0.0) {
            return Err(Error::input(format!("[domain] box {numbers:?} is empty"))
                .hint("write the lower corner first"));
        }
        if !(1..D).all(|a| (edge(a) / edge(0) - 1.0).abs() < 1e-9) {
            let edges: Vec<f64> = (0..D).map(edge).collect();
            return Err(Error::input(format!(
                "[domain] elements have edges of {edges:?}, they should be squares or cubes"
            ))
            .hint("choose elements on each axis in the ratio of the box' edges"));
        }
        let cells = Root::Cells(elements.iter().map(|n| 4 * n).collect());
        let around = std::array::from_fn(|a| a < D && periodic[a]);
        Ok((bare_periodic(numbers, &cells, around)?, grid, bounds))
    }

    fn numerics(&self) -> Result<FluxNumericsTable, Error> {
        let given = &self.numerics;
        let order = given.order.unwrap_or(ORDER);
        if !(1..=cutlink_fr::MAX_ORDER).contains(&order) {
            return Err(Error::input(format!("[numerics] order is {order}"))
                .hint(format!("1 to {}", cutlink_fr::MAX_ORDER)));
        }
        if given.dt.is_some() && given.cfl.is_some() {
            return Err(Error::input("[numerics] has both dt and cfl").hint("remove one of them"));
        }
        if let Some(dt) = given.dt {
            positive("[numerics] dt", dt)?;
        }
        let cfl = given.cfl.unwrap_or(CFL);
        positive("[numerics] cfl", cfl)?;
        if given.precision == Some(Precision::F16) {
            return Err(Error::input("[numerics] precision is \"f16\"")
                .hint("flux reconstruction has \"f32\" and \"f64\""));
        }
        Ok(FluxNumericsTable {
            order: Some(order),
            runge_kutta: Some(given.runge_kutta.unwrap_or(RungeKuttaName::Rk43)),
            dt: given.dt,
            cfl: given.dt.is_none().then_some(cfl),
            relaxation: (given.relaxation)
                .map(|time| positive("[numerics] relaxation", time))
                .transpose()?,
            precision: Some(given.precision.unwrap_or(Precision::F64)),
        })
    }

    fn far_field<const D: usize>(&self, is_needed: bool) -> Result<Option<Primitive<D>>, Error> {
        let keys = "density, velocity and pressure";
        let Some(table) = &self.far_field else {
            return match is_needed {
                false => Ok(None),
                true => Err(
                    Error::input("[far_field] is missing, and faces are of its type")
                        .hint(format!("give it {keys}")),
                ),
            };
        };
        if !is_needed {
            return Err(Error::input(
                "[far_field] is given, and no face is of its type",
            ));
        }
        let stream = self.free_stream.as_ref();
        let speed = stream.and_then(|stream| stream.speed);
        let velocity = match (&table.velocity, speed) {
            (None, Some(speed)) => {
                let [along, ..] = axes::<D>(stream)?;
                let speed = positive("[free_stream] speed", speed)?;
                Some(along[..D].iter().map(|x| speed * x).collect())
            }
            (given, _) => given.clone(),
        };
        let (Some(density), Some(velocity), Some(pressure)) =
            (table.density, &velocity, table.pressure)
        else {
            return Err(Error::input(format!("[far_field] needs {keys}")));
        };
        Ok(Some(Primitive {
            density: positive("[far_field] density", density)?,
            velocity: vector("[far_field] velocity", velocity)?,
            pressure: positive("[far_field] pressure", pressure)?,
        }))
    }

    fn initial<const D: usize>(
        &self,
        gamma: f64,
        bounds: [[f64; D]; 2],
        periodic: [bool; D],
    ) -> Result<(FluxInitial<D>, FluxInitialTable), Error> {
        let given = &self.initial;
        let fields = (&given.density, &given.velocity, &given.pressure);
        if let Some(path) = &given.from {
            let alone = FluxInitialTable {
                from: given.from.clone(),
                ..FluxInitialTable::default()
            };
            if *given != alone {
                return Err(Error::input("[initial] from excludes the other keys")
                    .hint("the initial state is that of the other run: remove them, or from"));
            }
            return Ok((FluxInitial::Earlier(path.clone()), alone));
        }
        if let Some(preset) = given.preset {
            if fields != (&None, &None, &None) {
                return Err(Error::input("[initial] has a preset and fields")
                    .hint("remove one or the other"));
            }
            return match preset {
                FluxPreset::IsentropicVortex => vortex(given, gamma, bounds, periodic),
                FluxPreset::TaylorGreen => taylor_green(given, gamma, bounds, periodic),
            };
        }
        let of_vortex = [given.mach, given.strength, given.decay];
        if of_vortex.iter().any(Option::is_some) {
            return Err(Error::input("[initial] has keys of a preset, and none")
                .hint("mach is for presets, strength and decay are for preset = \"isentropic-vortex\""));
        }
        let (Some(density), Some(velocity), Some(pressure)) = fields else {
            return Err(
                Error::input("[initial] needs density, velocity and pressure")
                    .hint("numbers or expressions of x, y, z; or preset = \"isentropic-vortex\" or \"taylor-green\"; or from = another run"),
            );
        };
        let scope = Scope {
            coordinates: D,
            time: false,
            constants: vec![("pi", std::f64::consts::PI), ("gamma", gamma)],
        };
        let initial = FluxInitial::Fields {
            density: density.expression("[initial] density", &scope)?,
            velocity: value::vector("[initial] velocity", velocity, &scope)?,
            pressure: pressure.expression("[initial] pressure", &scope)?,
        };
        Ok((initial, given.clone()))
    }
}

fn vortex<const D: usize>(
    given: &FluxInitialTable,
    gamma: f64,
    bounds: [[f64; D]; 2],
    periodic: [bool; D],
) -> Result<(FluxInitial<D>, FluxInitialTable), Error> {
    let edge = |a: usize| bounds[1][a] - bounds[0][a];
    let is_square = (edge(0) / edge(1) - 1.0).abs() < 1e-9;
    if periodic.contains(&false) || !is_square {
        return Err(Error::input(
            "[initial] preset = \"isentropic-vortex\" needs a periodic box that is square on x and y",
        ));
    }
    let vortex = IsentropicVortex {
        gamma,
        mach: positive("[initial] mach", given.mach.unwrap_or(MACH))?,
        decay: positive("[initial] decay", given.decay.unwrap_or(DECAY))?,
        strength: given.strength.unwrap_or(STRENGTH),
        middle: [0, 1].map(|a: usize| 0.5 * (bounds[0][a] + bounds[1][a])),
        period: edge(0),
    };
    let pressure = vortex.at::<2>(0.0, vortex.middle).pressure;
    if !(pressure > 0.0 && vortex.strength.is_finite()) {
        return Err(Error::input(format!(
            "[initial] strength is {}: there is no pressure left in the middle",
            vortex.strength
        ))
        .hint("choose a weaker vortex, or a smaller mach"));
    }
    let table = FluxInitialTable {
        preset: Some(FluxPreset::IsentropicVortex),
        mach: Some(vortex.mach),
        strength: Some(vortex.strength),
        decay: Some(vortex.decay),
        ..FluxInitialTable::default()
    };
    Ok((FluxInitial::Vortex(vortex), table))
}

fn taylor_green<const D: usize>(
    given: &FluxInitialTable,
    gamma: f64,
    bounds: [[f64; D]; 2],
    periodic: [bool; D],
) -> Result<(FluxInitial<D>, FluxInitialTable), Error> {
    let preset = "[initial] preset = \"taylor-green\"";
    let edges: [f64; D] = std::array::from_fn(|a| bounds[1][a] - bounds[0][a]);
    let is_cube = edges.iter().all(|e| (e / edges[0] - 1.0).abs() < 1e-9);
    if periodic.contains(&false) || !is_cube {
        return Err(Error::input(format!(
            "{preset} needs a periodic box that is a square or a cube"
        )));
    }
    if given.strength.is_some() || given.decay.is_some() {
        return Err(
            Error::input(format!("{preset} has neither strength nor decay"))
                .hint("they are for preset = \"isentropic-vortex\""),
        );
    }
    let mach = positive("[initial] mach", given.mach.unwrap_or(TAYLOR_GREEN_MACH))?;
    let state = TaylorGreen {
        pressure: 1.0 / (gamma * mach * mach),
        lower: bounds[0],
        wave: edges.map(|edge| std::f64::consts::TAU / edge),
    };
    // The least pressure is 3/8 below the mean in 3D, 1/2 in 2D.
    let below = if D == 3 { 0.375 } else { 0.5 };
    if state.pressure <= below {
        return Err(Error::input(format!(
            "[initial] mach is {mach}: there is no pressure left between the vortices"
        ))
        .hint("choose a smaller one, 0.1 for nearly incompressible flow"));
    }
    let table = FluxInitialTable {
        preset: Some(FluxPreset::TaylorGreen),
        mach: Some(mach),
        ..FluxInitialTable::default()
    };
    Ok((FluxInitial::TaylorGreen(state), table))
}

/// Bytes of an element of a flow.
pub(super) fn bytes_of_element<const D: usize>(
    order: usize,
    precision: Precision,
    is_viscous: bool,
) -> u64 {
    match precision {
        Precision::F32 => sizes::bytes::<f32>(D, order + 1, is_viscous),
        _ => sizes::bytes::<f64>(D, order + 1, is_viscous),
    }
}

/// The error for one of a flow.
pub(super) fn failed(error: impl Into<cutlink_fr::FrError>) -> Error {
    Error::from(error.into())
}
