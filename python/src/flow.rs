//! A flow in lattice units, driven step by step. It lives on a thread of its own, which holds the mesh and serves jobs.

use crate::device_array::DeviceArray;
use crate::errors::OrRaise;
use crate::flow_table::{FlowTable, Functions, vector};
use crate::mesh::NativeMesh;
use crate::work::{self, Outcome};
use cutlink::device::DeviceOption;
use cutlink::device::{OpenedDevice, on};
use cutlink::flow::checkpoint;
use cutlink::{AnyMesh, Error, ErrorKind, Mesh, StopToken, pool};
use cutlink_device::memory::with_capacity;
use cutlink_solver::{
    DeviceFields, ForceSample, LatticeFlow, MAX_FORCE_SAMPLES, Plan, Snapshot, fields::velocity_at,
};
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

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
    /// Checksum of the mesh.
    fn mesh(&self) -> u64;
    fn save(&self, out: &mut dyn Write) -> Result<(), Error>;
    fn restore(&mut self, from: &mut dyn Read) -> Result<(), Error>;
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

    fn mesh(&self) -> u64 {
        self.1.checksum()
    }

    fn save(&self, out: &mut dyn Write) -> Result<(), Error> {
        Ok(self.0.save(out)?)
    }

    fn restore(&mut self, from: &mut dyn Read) -> Result<(), Error> {
        Ok(self.0.restore(from)?)
    }
}

/// Work for the thread of a flow.
type Task = Box<dyn FnOnce(&mut dyn AnyFlow) + Send>;

/// Starts a flow and serves its tasks until nobody has any more; `started` learns whether it has started.
fn serve(
    mesh: &AnyMesh,
    table: &(FlowTable, Functions),
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
    (table, functions): &(FlowTable, Functions),
    device: DeviceOption,
    started: &Sender<Outcome<String>>,
    tasks: &Receiver<Task>,
) -> Result<(), Error> {
    let device = OpenedDevice::new(device.0)?;
    let plan = Plan::new(mesh, table.params(mesh, functions)?)?;
    if let Some(why) = plan.unstable().filter(|_| !table.allow_unstable) {
        return Err(
            Error::input(why.to_string()).hint("or set allow_unstable=True to run it anyway")
        );
    }
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
    /// The parameters as TOML, as a saved flow has them.
    parameters: String,
    functions: Functions,
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

    /// Kind of the device.
    fn kind(&self) -> &str {
        self.device.split(':').next().unwrap_or_default()
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
    /// Starts a flow at rest on a mesh; `parameters` is a JSON object, `functions` are those of [`Functions`].
    #[new]
    fn new(
        py: Python<'_>,
        mesh: &NativeMesh,
        parameters: &str,
        device: &str,
        threads: usize,
        functions: BTreeMap<String, Py<PyAny>>,
    ) -> PyResult<Self> {
        let table: FlowTable = crate::table("flow", parameters).or_raise(py)?;
        let mut written = crate::toml_table("flow", parameters).or_raise(py)?;
        if !functions.is_empty() {
            let places: Vec<toml::Value> = functions
                .keys()
                .map(|place| place.as_str().into())
                .collect();
            written.insert("functions".to_owned(), places.into());
        }
        let written = written.to_string();
        let functions = Functions::new(functions);
        let device: DeviceOption = device.parse().or_raise(py)?;
        let every = table.forces_every.unwrap_or(1);
        let table = (table, functions.clone());
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
            let name = functions.blame(work::ask(py, &send, &stop, |answer| answer))?;
            (made, name)
        };
        Ok(Self {
            mesh,
            every,
            device: name,
            parameters: written,
            functions,
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
        let samples = self.ask(py, &stop, move |flow| flow.advance(steps, every, &asked));
        let samples = self.functions.blame(samples)?;
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
    /// Writes all that [`restore`](Self::restore) needs into a folder, as a checkpoint; returns its path.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
        let (case, device) = (self.parameters.clone(), self.kind().to_owned());
        self.ask(py, &StopToken::new(), move |flow| {
            let header = checkpoint::Header {
                version: checkpoint::VERSION,
                cutlink: env!("CARGO_PKG_VERSION").to_owned(),
                case,
                mesh: flow.mesh(),
                device,
                step: flow.steps(),
                notes: serde_json::Map::new(),
            };
            checkpoint::write(&folder, &header, |out| flow.save(out))
        })
    }

    /// Takes the place of a flow that was saved, on the same mesh with the same parameters.
    fn restore(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let parameters = self.parameters.clone();
        self.ask(py, &StopToken::new(), move |flow| {
            let mesh = flow.mesh();
            let read = checkpoint::read(&path, &parameters, mesh, |from| flow.restore(from));
            read.map(drop).map_err(of_a_flow)
        })
    }
}

/// The parameters of a saved flow as a JSON object.
///
/// # Errors
/// A file that cannot be read, is damaged, or has the flow of a case.
#[pyfunction]
pub(crate) fn saved_parameters(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let read = || {
        let header = checkpoint::header(&path).map_err(of_a_flow)?;
        let table = header.case.parse::<toml::Table>().ok();
        let table = table
            .filter(|table| table.contains_key("viscosity"))
            .ok_or_else(|| {
                let text = format!("{} is the checkpoint of a case", path.display());
                Error::input(text).hint("cutlink.solve(case, resume=True) continues it")
            })?;
        crate::json(&table)
    };
    py.detach(read).or_raise(py)
}

/// Errors of checkpoints with the way out of a flow in lattice units.
fn of_a_flow(error: Error) -> Error {
    match error.kind {
        ErrorKind::Input => {
            error.hint("give the file of Flow.save, and the mesh and the parameters of the flow that was saved")
        }
        _ => error,
    }
}
