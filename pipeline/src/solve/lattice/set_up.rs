//! The set-up of a run: the device, the mesh of the case, the plan and its forecast, the flow, and the files it begins.

use super::{
    mesh_file,
    start::{Inputs, SetUp, Surfaces, solve},
};
use crate::solve::outcome::Outcome;
use crate::solve::{
    case::{Case, DomainTable, PatchKind, PatchTable},
    earlier::{self},
    laws::{self},
    motion::Maker,
    recirculation, reference,
    resolve::CaseGrid,
};
use cutlink_common::{
    Error, Observer,
    device::{DeviceOption, DeviceReport, Opened, first_gpu, on},
    pool,
};
use cutlink_device::{LinkChoice, Selected, select};
use cutlink_flow::{RunOptions, RunPlan, RunSummary};
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    intersect::Meet,
    read::is_stream,
    silhouette,
};
use cutlink_meshing::{
    mesh::{
        build::{AnyPlaced, Builder, Placed, bare_periodic},
        resolve as job, sides,
    },
    options::{FlowSide, MeshOptions},
};
use cutlink_voxelizer::{AnyMesh, EmbedParams, Mesh};
use std::{path::Path, time::Instant};

impl Case {
    /// Runs the case with the default options.
    ///
    /// # Errors
    /// As [`Case::run_with`].
    pub fn run(&self, observer: &mut dyn Observer) -> Result<RunSummary, Error> {
        self.run_with(&RunOptions::default(), observer)
    }

    /// Builds the mesh of the case, runs the flow and writes the output folder. Notes and progress go to `observer`.
    ///
    /// # Errors
    /// An invalid or unstable case, a mesh or flow that does not fit into memory, existing files, a full disk;
    /// [`Diverged`](cutlink_common::ErrorKind::Diverged) and [`Stopped`](cutlink_common::ErrorKind::Stopped), both of which keep the files
    /// written so far; [`Untrusted`](cutlink_common::ErrorKind::Untrusted) after all files are written.
    pub fn run_with(
        &self,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<RunSummary, Error> {
        self.begin(options, false, observer).map(Outcome::ran)
    }

    /// Does everything up to the first step, and forecasts memory and time of the run. Writes nothing.
    ///
    /// # Errors
    /// Those of [`Case::run_with`] that occur before the first step.
    pub fn plan(
        &self,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<RunPlan, Error> {
        self.begin(options, true, observer).map(Outcome::planned)
    }

    /// The mesh of a box without a body. One that changes has the periodic faces of the flow.
    pub(in crate::solve) fn box_of<const D: usize>(
        &self,
        domain: &DomainTable,
    ) -> Result<Mesh<D>, Error>
    where
        Facet<D>: Exact<D>,
    {
        let periodic = match self.adapt {
            Some(_) => self.boundary.periodic().0,
            None => [false; 3],
        };
        bare_periodic(&domain.bounds, &domain.root, periodic)
    }

    /// Does what the first of several processes orders, until its flow ends: for all processes but that one. Writes nothing.
    ///
    /// # Errors
    /// As [`Case::run_with`], but for those of outputs.
    pub fn serve(&self, options: &RunOptions) -> Result<(), Error> {
        let _running = options.stop.running();
        self.begin(options, false, &mut ()).map(drop)
    }

    fn begin(
        &self,
        options: &RunOptions,
        only_plan: bool,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        check_ranks(options, only_plan)?;
        let dimensions = self.dimensions_of_domain()?;
        let choice = options.device.or(self.mesh.as_ref().and_then(|m| m.device));
        let mut choice = choice.unwrap_or_default();
        if options.gpus > 1 {
            choice.0 = first_gpu(choice.0, options.gpus)?;
        }
        if options.world.is_some() {
            choice.0 = choice.0.of_process(cutlink_mpi::local_rank());
        }
        let began = Instant::now();
        let mut selected = select(choice.0)?;
        pool::install(options.threads, || {
            let on = On {
                opened: Opened::open(choice.0, &mut selected)?,
                open: began.elapsed().as_secs_f64(),
                opened_at: Instant::now(),
                choice,
                selected,
                options,
                only_plan,
            };
            let named = |error: Error| error.within(&self.name());
            if self.domain.is_some() {
                check_no_motion(self).map_err(named)?;
            }
            match (dimensions, &self.domain) {
                (Some(2), Some(domain)) => {
                    let mesh = self.box_of::<2>(domain).map_err(named)?;
                    on.solve(self, &mesh, Surfaces::NONE, observer)
                }
                (Some(_), Some(domain)) => {
                    let mesh = self.box_of::<3>(domain).map_err(named)?;
                    on.solve(self, &mesh, Surfaces::NONE, observer)
                }
                _ => on.embedded(self, observer),
            }
        })
    }
}

/// The device and the options of a run.
struct On<'a> {
    opened: Opened,
    /// Seconds that opening the device took, and when it was done.
    open: f64,
    opened_at: Instant,
    choice: DeviceOption,
    selected: Selected,
    options: &'a RunOptions,
    only_plan: bool,
}

/// Checks that the surface of a case is no pipe: a flow that resumes reads it again.
fn check_rereadable(options: &MeshOptions) -> Result<(), Error> {
    let files = options.file.as_deref().unwrap_or_default();
    match files.iter().find(|file| is_stream(file)) {
        None => Ok(()),
        Some(file) => Err(Error::input(format!(
            "[mesh] file = \"{}\" is standard input or a pipe, which `--resume` could not read again",
            file.display()
        ))
        .hint("save the surface as a file")),
    }
}

/// Checks that bodies move only where there is a surface to move.
fn check_no_motion(case: &Case) -> Result<(), Error> {
    match case.motion.keys().next() {
        None => Ok(()),
        Some(name) => Err(Error::input(format!(
            "[motion.{name}] moves a surface, and this case has none: a box or a mesh file"
        ))
        .hint("give the surface by `file` or `shape` in [mesh], or leave the motion out")),
    }
}

impl On<'_> {
    /// Builds the mesh of the case, and runs.
    fn embedded(&self, case: &Case, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        let mut options = case.mesh.clone().unwrap_or_default();
        check_rereadable(&options)?;
        let read = mesh_file::of(&options, case, observer);
        if let Some(mesh) = read.map_err(|error| error.within(&case.name()))? {
            check_no_motion(case)?;
            return match mesh {
                AnyMesh::D2(mesh) => self.solve(case, &mesh, Surfaces::NONE, observer),
                AnyMesh::D3(mesh) => self.solve(case, &mesh, Surfaces::NONE, observer),
            };
        }
        options.device = Some(self.choice);
        if options.periodic.is_none() {
            options.periodic = Some(case.boundary.periodic());
        }
        let job = job::resolve(&options)?;
        let mut silent = ();
        let mut builder = Builder::new(&job, &self.opened, &mut silent);
        match builder.place()? {
            AnyPlaced::D2(placed) => self.embedded_in(case, builder, placed, observer),
            AnyPlaced::D3(placed) => self.embedded_in(case, builder, placed, observer),
        }
    }

    fn embedded_in<const D: usize>(
        &self,
        case: &Case,
        mut builder: Builder<'_>,
        placed: Placed<D>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error>
    where
        Facet<D>: Meet<D> + Exact<D>,
    {
        let mut case = Case {
            mesh: Some(placed.options(builder.job).of_the_mesh_alone()),
            ..case.clone()
        };
        // A duct has no frontal area.
        if case.physics.area.is_none() && builder.job.flow == FlowSide::Outside {
            let [along, ..] = reference::axes::<D>(case.free_stream.as_ref())?;
            let along = std::array::from_fn(|a| along[a]);
            case.physics.area = Some(silhouette::frontal(&placed.placed, along));
        }
        let name = case.name();
        if let Some(table) = &mut case.output.recirculation {
            let stream = case.free_stream.as_ref();
            *table = recirculation::with_body(table, stream, &placed.placed)
                .map_err(|failure| failure.within(&name))?;
        }
        let may_pass =
            |patch: &PatchTable| matches!(patch.kind, PatchKind::MassFlow | PatchKind::Velocity);
        let is_moving = !case.motion.is_empty();
        let is_needed =
            is_moving || !case.particles.is_empty() || case.patches.values().any(may_pass);
        let mut placed_surface = is_needed.then(|| placed.placed.clone());
        let mut prepared = builder.prepare(placed)?;
        let mut mesh = builder.build(&prepared)?;
        builder.check_for_flow(&prepared, &mesh)?;
        if let Some(placed) = placed_surface.as_ref().filter(|_| is_moving) {
            mesh = mesh_of_paths(&case, &mesh, placed, &prepared.params)
                .map_err(|error| error.within(&name))?;
        }
        for note in &builder.notes {
            observer.note(note);
        }
        if mesh.fill.is_sheets() {
            sides::turn_snapped(&mesh, &mut prepared.snapped);
            if let Some(surface) = &mut placed_surface {
                sides::turn_surface(&mesh, surface);
            }
        }
        let surfaces = Surfaces {
            snapped: Some(&prepared.snapped),
            placed: placed_surface.as_ref(),
            embedding: Some(&prepared.params),
        };
        self.solve(&case, &mesh, surfaces, observer)
    }

    fn solve<const D: usize>(
        &self,
        case: &Case,
        mesh: &Mesh<D>,
        surfaces: Surfaces<'_, D>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error>
    where
        Facet<D>: Meet<D> + Exact<D>,
    {
        let device = DeviceReport::new(&self.selected, &self.opened);
        let load = |path: &Path| earlier::load::<D>(path, &self.opened);
        let inputs = Inputs {
            mesh,
            surfaces,
            load: &load,
            options: self.options,
            only_plan: self.only_plan,
            device,
            set_up: SetUp {
                open: self.open,
                mesh: self.opened_at.elapsed().as_secs_f64(),
                ..SetUp::default()
            },
        };
        on!(&self.opened, backend => solve(case, inputs, backend, observer))
    }
}

/// The mesh of a case whose bodies move at the start: its blocks hold their paths, or the bodies where they are. The first mesh tells
/// the time step.
fn mesh_of_paths<const D: usize>(
    case: &Case,
    mesh: &Mesh<D>,
    placed: &Surface<D>,
    embedding: &EmbedParams,
) -> Result<Mesh<D>, Error>
where
    Facet<D>: Exact<D>,
{
    let first = laws::choose(case, &case.name(), CaseGrid::of(mesh), mesh, 0)?;
    let maker = Maker {
        frame: mesh.frame,
        physics: first.physics,
        units: first.units,
        placed,
        embedding,
    };
    let bodies = maker.bodies(&case.motion, first.until.most())?;
    Ok(bodies.first_mesh(mesh.frame)?)
}

/// Refuses numbers of ranks that are none of this run.
fn check_ranks(options: &RunOptions, only_plan: bool) -> Result<(), Error> {
    if options.world.is_some() || options.gpus > 1 || !options.ranks.is_empty() {
        LinkChoice::of_environment()?;
    }
    if options.ranks.len() > 1 && !only_plan {
        let message = "--ranks takes one number, and several with --dry-run alone";
        return Err(Error::input(message));
    }
    if options.gpus > 1 && options.ranks.iter().any(|&ranks| ranks != 1) {
        return Err(Error::input("--gpus and --ranks exclude each other")
            .hint("with --gpus each GPU is a rank: leave --ranks out"));
    }
    if options.gpus > 1 && options.world.is_some() {
        return Err(Error::input(
            "--gpus is for one process, and several were started, each of which takes a GPU",
        )
        .hint("leave --gpus out"));
    }
    match (&options.world, &options.ranks[..]) {
        (Some(world), [ranks]) if *ranks != world.size() => Err(Error::input(format!(
            "--ranks is {ranks}, and {} processes were started, each of which is a rank",
            world.size()
        ))
        .hint("leave --ranks out")),
        _ => Ok(()),
    }
}
