//! A flow in lattice units, driven step by step. It lives on a thread of its own, which holds the mesh and serves jobs.

use crate::device_array::DeviceArray;
use crate::errors::OrRaise;
use crate::mesh::NativeMesh;
use crate::work::{self, Outcome};
use cutlink::device::DeviceOption;
use cutlink::device::{OpenedDevice, on};
use cutlink::{AnyMesh, Error, ErrorKind, Mesh, StopToken, pool};
use cutlink_device::memory::with_capacity;
use cutlink_solver::{
    Collision, DeviceFields, FaceCondition, ForceSample, LatticeFlow, Les, MAX_FORCE_SAMPLES,
    Motion, Params, PatchCondition, Plan, Precision, Snapshot, WallScheme, fields::velocity_at,
};
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A condition at a face, in lattice units.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Face {
    Periodic,
    NoSlip,
    FreeSlip,
    Outflow,
    Velocity(Vec<f64>),
    Density(f64),
    FarField { velocity: Vec<f64>, density: f64 },
}

/// A condition at a patch, in lattice units.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Patch {
    Wall,
    Velocity(Vec<f64>),
    Rotation { center: Vec<f64>, omega: [f64; 3] },
    Density(f64),
}

/// The parameters of a flow, all in units of the root lattice.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowTable {
    viscosity: f64,
    lattice: Option<String>,
    collision: Option<String>,
    magic: Option<f64>,
    les: Option<String>,
    les_constant: Option<f64>,
    precision: Option<String>,
    interpolation: Option<String>,
    wall: Option<String>,
    #[serde(default)]
    wall_model: Vec<String>,
    acceleration: Option<Vec<f64>>,
    moment_center: Option<Vec<f64>>,
    forces_every: Option<u64>,
    #[serde(default)]
    faces: BTreeMap<String, Face>,
    #[serde(default)]
    patches: BTreeMap<String, Patch>,
}

const FACES: [&str; 6] = ["x-", "x+", "y-", "y+", "z-", "z+"];

fn vector<const D: usize>(what: &str, numbers: &[f64]) -> Result<[f64; D], Error> {
    numbers.try_into().map_err(|_| {
        Error::input(format!(
            "{what} has {} numbers, the mesh is {D}D",
            numbers.len()
        ))
    })
}

impl FlowTable {
    fn collision(&self) -> Result<Collision, Error> {
        let name = self.collision.as_deref();
        match (name, self.magic) {
            (Some("trt") | None, Some(magic)) => Ok(Collision::Trt { magic }),
            (Some(_), Some(_)) => Err(Error::input("magic is a parameter of the collision trt")),
            (Some(name), None) => Ok(name.parse()?),
            (None, None) => Ok(Collision::Regularized),
        }
    }

    fn les(&self) -> Result<Les, Error> {
        let les = self.les.as_deref().unwrap_or("none").parse()?;
        Ok(match (les, self.les_constant) {
            (les, None) => les,
            (Les::Smagorinsky { .. }, Some(constant)) => Les::Smagorinsky { constant },
            (Les::Qr { .. }, Some(constant)) => Les::Qr { constant },
            (Les::None, Some(_)) => {
                return Err(Error::input("les_constant needs les: smagorinsky or qr"));
            }
        })
    }

    fn face<const D: usize>(name: &str, face: &Face) -> Result<FaceCondition<D>, Error> {
        Ok(match face {
            Face::Periodic => FaceCondition::Periodic,
            Face::NoSlip => FaceCondition::Velocity([0.0; D]),
            Face::FreeSlip => FaceCondition::FreeSlip,
            Face::Outflow => FaceCondition::Outflow,
            Face::Velocity(velocity) => FaceCondition::Velocity(vector(name, velocity)?),
            Face::Density(density) => FaceCondition::Pressure(*density),
            Face::FarField { velocity, density } => FaceCondition::FarField {
                velocity: vector(name, velocity)?,
                density: *density,
            },
        })
    }

    fn patch<const D: usize>(
        name: &str,
        patch: &Patch,
        scheme: WallScheme,
    ) -> Result<PatchCondition<D>, Error> {
        let motion = match patch {
            Patch::Wall => Motion::Uniform([0.0; D]),
            Patch::Velocity(velocity) => Motion::Uniform(vector(name, velocity)?),
            Patch::Rotation { center, omega } => Motion::Rotation {
                center: vector(name, center)?,
                omega: *omega,
            },
            Patch::Density(density) => return Ok(PatchCondition::Pressure(*density)),
        };
        Ok(PatchCondition::Wall { scheme, motion })
    }

    fn params<const D: usize>(&self, mesh: &Mesh<D>) -> Result<Params<D>, Error> {
        let lattice = match &self.lattice {
            Some(name) => name.parse()?,
            None if D == 2 => cutlink_solver::LatticeKind::D2Q9,
            None if matches!(self.collision.as_deref(), Some("cumulant" | "kbc")) => {
                cutlink_solver::LatticeKind::D3Q27
            }
            None => cutlink_solver::LatticeKind::D3Q19,
        };
        let mut params = Params::new(lattice, self.viscosity);
        params.collision = self.collision()?;
        params.les = self.les()?;
        if let Some(name) = &self.precision {
            params.precision = name.parse::<Precision>()?;
        }
        if let Some(name) = &self.interpolation {
            params.interpolation = name.parse()?;
        }
        if let Some(numbers) = &self.acceleration {
            params.acceleration = vector("acceleration", numbers)?;
        }
        if let Some(numbers) = &self.moment_center {
            params.moment_center = vector("moment_center", numbers)?;
        }
        for (name, face) in &self.faces {
            let Some(n) = FACES[..2 * D].iter().position(|known| known == name) else {
                return Err(
                    Error::input(format!("a box in {D}D has no face \"{name}\""))
                        .hint(format!("faces: {}", FACES[..2 * D].join(", "))),
                );
            };
            params.faces[n / 2][n % 2] = Self::face(name, face)?;
        }
        let scheme = match &self.wall {
            Some(name) => name.parse()?,
            None => WallScheme::Linear,
        };
        let named = self.patches.keys().chain(&self.wall_model);
        if let Some(name) = named.into_iter().find(|name| !mesh.patches.contains(name)) {
            return Err(Error::input(format!("the mesh has no patch \"{name}\""))
                .hint(format!("patches: {}", mesh.patches.join(", "))));
        }
        for name in &mesh.patches {
            let given = self.patches.get(name).unwrap_or(&Patch::Wall);
            if self.wall_model.contains(name) {
                params.modeled.push(params.patches.len());
            }
            params.patches.push(Self::patch(name, given, scheme)?);
        }
        params.forces = self.forces_every != Some(0) && !mesh.links.is_empty();
        Ok(params)
    }
}

/// Density and velocity of every cell: (n 4^D), (D n 4^D).
struct Fields {
    step: u64,
    density: Vec<f32>,
    velocity: Vec<f32>,
}

/// A flow of either dimension.
trait AnyFlow {
    fn steps(&self) -> u64;
    /// Advances; returns the samples of forces at multiples of `every` and at the last step. Ends early if stopped.
    fn advance(
        &mut self,
        steps: u64,
        every: u64,
        stop: &StopToken,
    ) -> Result<Vec<ForceSample>, Error>;
    fn fields(&self) -> Result<Fields, Error>;
    fn device_fields(&self) -> Result<DeviceFields, Error>;
    fn check(&self) -> Result<(), Error>;
    fn set(&mut self, density: f64, velocity: &[f64]) -> Result<(), Error>;
    /// Sets the state of each cell: density (n 4^D) and velocity (D n 4^D).
    fn set_fields(&mut self, density: Vec<f32>, velocity: &[f32]) -> Result<(), Error>;
}

struct Of<'a, 'm, const D: usize>(&'a mut (dyn LatticeFlow<D> + 'm), &'m Mesh<D>);

/// Wall time between two looks for a stop.
const LOOK: Duration = Duration::from_millis(50);

impl<const D: usize> AnyFlow for Of<'_, '_, D> {
    fn steps(&self) -> u64 {
        self.0.steps()
    }

    fn advance(
        &mut self,
        steps: u64,
        every: u64,
        stop: &StopToken,
    ) -> Result<Vec<ForceSample>, Error> {
        let end = self.0.steps() + steps;
        let mut samples = Vec::new();
        let mut chunk = 1;
        while self.0.steps() < end && !stop.is_stopped() {
            let begin = Instant::now();
            self.0.advance(chunk.min(end - self.0.steps()))?;
            // On a GPU this waits for the steps.
            let fresh = self.0.take_forces()?;
            // A chunk ends with a sample of its own.
            let wanted =
                |s: &ForceSample| every > 0 && (s.step.is_multiple_of(every) || s.step == end);
            samples.extend(fresh.into_iter().filter(wanted));
            if begin.elapsed() < LOOK {
                chunk = (2 * chunk).min(MAX_FORCE_SAMPLES / 2);
            }
        }
        self.0.wait()?;
        Ok(samples)
    }

    fn fields(&self) -> Result<Fields, Error> {
        let Snapshot {
            step,
            density,
            velocity,
        } = self.0.snapshot()?;
        let mut all = with_capacity("velocities", D * density.len())?;
        velocity
            .iter()
            .for_each(|component| all.extend_from_slice(component));
        Ok(Fields {
            step,
            density,
            velocity: all,
        })
    }

    fn device_fields(&self) -> Result<DeviceFields, Error> {
        Ok(self.0.device_fields()?)
    }

    fn check(&self) -> Result<(), Error> {
        Ok(self.0.check()?)
    }

    fn set(&mut self, density: f64, velocity: &[f64]) -> Result<(), Error> {
        let velocity = vector("velocity", velocity)?;
        Ok(self.0.set_uniform(density, velocity)?)
    }

    fn set_fields(&mut self, density: Vec<f32>, velocity: &[f32]) -> Result<(), Error> {
        let cells = density.len();
        let state = Snapshot {
            step: 0,
            density,
            velocity: std::array::from_fn(|a| velocity[a * cells..][..cells].to_vec()),
        };
        let (flow, mesh) = (&mut *self.0, self.1);
        // Solid cells have no state.
        let at = |x: [f64; D]| velocity_at(mesh, &state, x).unwrap_or((1.0, [0.0; D]));
        Ok(flow.set(&at)?)
    }
}

/// Work for the thread of a flow.
type Task = Box<dyn FnOnce(&mut dyn AnyFlow) + Send>;

/// Starts a flow and serves its tasks until nobody has any more; `started` learns whether it has started.
fn serve(
    mesh: &AnyMesh,
    table: &FlowTable,
    device: DeviceOption,
    started: &Sender<Outcome<String>>,
    tasks: &Receiver<Task>,
) -> Result<(), Error> {
    match mesh {
        AnyMesh::D2(mesh) => serve_in(mesh, table, device, started, tasks),
        AnyMesh::D3(mesh) => serve_in(mesh, table, device, started, tasks),
    }
}

fn serve_in<const D: usize>(
    mesh: &Mesh<D>,
    table: &FlowTable,
    device: DeviceOption,
    started: &Sender<Outcome<String>>,
    tasks: &Receiver<Task>,
) -> Result<(), Error> {
    let device = OpenedDevice::new(device.0)?;
    let plan = Plan::new(mesh, table.params(mesh)?)?;
    let mut flow = on!(&device.opened, backend => plan.start(backend))?;
    flow.sample_forces_every(table.forces_every.unwrap_or(1).max(1));
    // Whoever started it waits for this.
    let _ = started.send(Ok(Ok(device.selected.name)));
    for task in tasks {
        task(&mut Of(&mut *flow, mesh));
    }
    Ok(())
}

/// A running flow.
#[pyclass(frozen, name = "Flow", module = "cutlink._native")]
pub(crate) struct NativeFlow {
    mesh: Arc<AnyMesh>,
    every: u64,
    device: String,
    tasks: Mutex<Option<Sender<Task>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl NativeFlow {
    /// Dimensions, and cells of a block.
    fn shape(&self) -> (usize, usize) {
        match &*self.mesh {
            AnyMesh::D2(_) => (2, 16),
            AnyMesh::D3(_) => (3, 64),
        }
    }

    /// Has the flow's thread do something, and waits for it.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        stop: &StopToken,
        work: impl FnOnce(&mut dyn AnyFlow) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let tasks = self
            .tasks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let tasks = tasks
            .ok_or_else(|| Error::new(ErrorKind::Runtime, "the flow has ended"))
            .or_raise(py)?;
        work::ask(py, &tasks, stop, |answer: Sender<Outcome<T>>| {
            let task: Task = Box::new(move |flow| {
                // The asker waits for it.
                let _ = answer.send(work::caught(|| work(flow)));
            });
            task
        })
    }
}

impl Drop for NativeFlow {
    /// Waits for the thread, so that its memory is free afterwards.
    fn drop(&mut self) {
        let tasks = self.tasks.get_mut().unwrap_or_else(PoisonError::into_inner);
        tasks.take();
        let thread = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // Its panics were answers.
            let _ = thread.join();
        }
    }
}

#[pymethods]
impl NativeFlow {
    /// Starts a flow at rest on a mesh; `parameters` is a JSON object.
    #[new]
    fn new(
        py: Python<'_>,
        mesh: &NativeMesh,
        parameters: &str,
        device: &str,
        threads: usize,
    ) -> PyResult<Self> {
        let table: FlowTable = crate::table("flow", parameters).or_raise(py)?;
        let device: DeviceOption = device.parse().or_raise(py)?;
        let every = table.forces_every.unwrap_or(1);
        let mesh = Arc::clone(&mesh.mesh);
        let (tasks, receiver) = channel();
        let stop = StopToken::new();
        let (made, name) = {
            let (send, thread) = channel::<Sender<Outcome<String>>>();
            let mesh = Arc::clone(&mesh);
            let body = move || {
                let Ok(started) = thread.recv() else { return };
                let first = started.clone();
                let served = work::caught(|| {
                    pool::install(threads, move || {
                        serve(&mesh, &table, device, &first, &receiver)
                    })
                });
                match served {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => drop(started.send(Ok(Err(error)))),
                    Err(panic) => drop(started.send(Err(panic))),
                }
            };
            let made = thread::Builder::new()
                .name("cutlink flow".into())
                .spawn(body);
            let made = made
                .map_err(|e| Error::new(ErrorKind::Runtime, "cannot start a thread").because(&e))
                .or_raise(py)?;
            let name = work::ask(py, &send, &stop, |answer| answer)?;
            (made, name)
        };
        Ok(Self {
            mesh,
            every,
            device: name,
            tasks: Mutex::new(Some(tasks)),
            thread: Mutex::new(Some(made)),
        })
    }

    /// The device that it runs on.
    #[getter]
    fn device(&self) -> &str {
        &self.device
    }

    /// Root steps done.
    fn steps(&self, py: Python<'_>) -> PyResult<u64> {
        self.ask(py, &StopToken::new(), |flow| Ok(flow.steps()))
    }

    /// Advances; returns steps (s), forces (s, patches, 6) and inflow (s, patches) of the samples.
    fn advance<'py>(&self, py: Python<'py>, steps: u64) -> PyResult<Bound<'py, PyAny>> {
        let stop = StopToken::new();
        let (every, asked) = (self.every, stop.clone());
        let samples = self.ask(py, &stop, move |flow| flow.advance(steps, every, &asked))?;
        let (count, patches) = match &*self.mesh {
            AnyMesh::D2(mesh) => (samples.len(), mesh.patches.len()),
            AnyMesh::D3(mesh) => (samples.len(), mesh.patches.len()),
        };
        let at: Vec<u64> = samples.iter().map(|s| s.step).collect();
        let forces: Vec<f64> = samples
            .iter()
            .flat_map(|s| s.patches.as_flattened())
            .copied()
            .collect();
        let inflow: Vec<f64> = samples.iter().flat_map(|s| &s.inflow).copied().collect();
        let arrays = (
            at.into_pyarray(py),
            forces.into_pyarray(py).reshape([count, patches, 6])?,
            inflow.into_pyarray(py).reshape([count, patches])?,
        );
        Ok(arrays.into_pyobject(py)?.into_any())
    }

    /// Step, density (n, 4^D) and velocity (D, n, 4^D).
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let fields = self.ask(py, &StopToken::new(), |flow| flow.fields())?;
        let (dimensions, cells) = self.shape();
        let blocks = fields.density.len() / cells;
        let arrays = (
            fields.step,
            fields.density.into_pyarray(py).reshape([blocks, cells])?,
            fields
                .velocity
                .into_pyarray(py)
                .reshape([dimensions, blocks, cells])?,
        );
        Ok(arrays.into_pyobject(py)?.into_any())
    }

    /// As `fields`, in the memory of the device.
    fn device_fields(&self, py: Python<'_>) -> PyResult<(u64, DeviceArray, DeviceArray)> {
        let fields = self.ask(py, &StopToken::new(), |flow| flow.device_fields())?;
        let (dimensions, cells) = self.shape();
        let blocks = fields.density.len() / cells;
        Ok((
            fields.step,
            DeviceArray::new(fields.density, vec![blocks, cells]),
            DeviceArray::new(fields.velocity, vec![dimensions, blocks, cells]),
        ))
    }

    /// Raises if the flow diverged.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.ask(py, &StopToken::new(), |flow| flow.check())
    }

    /// Sets a uniform density and velocity, and the time to zero.
    fn set(&self, py: Python<'_>, density: f64, velocity: Vec<f64>) -> PyResult<()> {
        self.ask(py, &StopToken::new(), move |flow| {
            flow.set(density, &velocity)
        })
    }

    /// Sets density (n 4^D) and velocity (D n 4^D) of each cell, and the time to zero.
    fn set_fields(
        &self,
        py: Python<'_>,
        density: PyReadonlyArray1<'_, f32>,
        velocity: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<()> {
        let (density, velocity) = (density.as_slice()?.to_vec(), velocity.as_slice()?.to_vec());
        self.ask(py, &StopToken::new(), move |flow| {
            flow.set_fields(density, &velocity)
        })
    }
}
