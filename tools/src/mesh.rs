//! `cutlink mesh` and `cutlink estimate`: from options to a report and files.

use crate::cli::{EstimateArgs, MeshArgs};
use crate::console::{self, Console};
use cutlink::device::DeviceReport;
use cutlink::device::{Opening, on};
use cutlink::inspect::meshed_page;
use cutlink::mesh::build::{AnyPlaced, Builder, Placed, ms};
use cutlink::mesh::product;
use cutlink::mesh::report::{MeshReport, Times};
use cutlink::mesh::resolve::{self, Job, Source};
use cutlink::{Error, Observer, config, estimate, output, pool};
use cutlink_device::memory;
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_mesher::intersect::Meet;
use cutlink_mesher::primitives::SHAPES;
use cutlink_mesher::read::is_stream;
use cutlink_mpi::World;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Runs `cutlink mesh`, with the other processes that an MPI launcher has started.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &MeshArgs, world: Option<&Arc<World>>) -> Result<(), Error> {
    if args.options.shape.as_deref() == Some("help") {
        let list: Vec<String> = SHAPES
            .iter()
            .map(|(name, grammar)| format!("{name:<10} {grammar}\n"))
            .collect();
        return console::print(&list.concat());
    }
    run(args, Goal::Mesh, world)
}

/// Runs `cutlink estimate`.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn estimate(args: &EstimateArgs) -> Result<(), Error> {
    #[cfg(feature = "flows")]
    if case_of(args).is_some() || args.flow.is_given() {
        return crate::solve::estimate(args, case_of(args));
    }
    #[cfg(not(feature = "flows"))]
    if case_of(args).is_some() {
        return Err(crate::without_flows());
    }
    let mesh = MeshArgs {
        options: args.options.clone(),
        config: args.config.clone(),
        write_config: None,
        report: None,
        force: true,
        dry_run: true,
        output: args.output,
    };
    run(&mesh, Goal::Estimate { memory: args.mem }, None)
}

/// The case that an estimate is of, if its only file is one.
fn case_of(args: &EstimateArgs) -> Option<&Path> {
    let [path] = args.options.file.as_deref()? else {
        return None;
    };
    let is_case = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    is_case.then_some(path)
}

/// The goal of a run.
#[derive(Debug, Clone, Copy)]
enum Goal {
    /// A mesh.
    Mesh,
    /// The estimate of a mesh, or of the finest that fits into `memory` bytes.
    Estimate {
        /// The bytes.
        memory: Option<u64>,
    },
}

/// A run in progress.
struct Run<'a> {
    work: Builder<'a>,
    opening: &'a Opening,
    /// For output besides the notes and progress of the builder.
    console: &'a Console,
    args: &'a MeshArgs,
    /// Whether this is the first of several processes, or the only one.
    is_first: bool,
    goal: Goal,
    began: Instant,
}

impl Run<'_> {
    /// Runs the job on the current thread pool.
    fn go(mut self) -> Result<(), Error> {
        match self.work.place()? {
            AnyPlaced::D2(placed) => self.mesh(placed),
            AnyPlaced::D3(placed) => self.mesh(placed),
        }
    }

    fn mesh<const D: usize>(mut self, placed: Placed<D>) -> Result<(), Error>
    where
        Facet<D>: Meet<D> + Exact<D>,
    {
        let job = self.work.job;
        if let Some(path) = &self.args.write_config {
            let options = placed.options(job);
            return write_config(path, &cutlink::options::write(&options)?, self.args.force);
        }
        if let Goal::Estimate { memory } = self.goal {
            return self.estimate(&placed, memory);
        }
        let prepared = self.work.prepare(placed)?;
        if !self.is_first {
            return self.work.serve(&prepared);
        }
        let device = self.opening.get()?;
        let device = DeviceReport::new(&device.selected, &device.opened);
        let mut report = product::plan(job, &prepared, device);
        self.console.show(&report.plan())?;
        if !self.args.dry_run {
            let (mesh, counts) = self.work.build_counted(&prepared)?;
            let (work, report) = (&mut self.work, &mut report);
            work.deliver(report, &prepared, &mesh, counts)?;
            if let Some(path) = &self.args.report {
                let page = meshed_page(&mesh, &prepared.snapped, Path::new(&job.name()));
                output::write_text(path, self.args.force, &page.html())?;
            }
        }
        self.finish(report)
    }

    fn estimate<const D: usize>(self, placed: &Placed<D>, memory: Option<u64>) -> Result<(), Error>
    where
        Facet<D>: Exact<D>,
    {
        let job = self.work.job;
        let request = estimate::Request {
            name: job.name(),
            input_bytes: placed.read.as_ref().map_or(0, |r| r.bytes),
            levels: job.levels,
            memory,
            max_cells: job.max_cells,
        };
        let params = self.work.params(placed)?;
        let device = self.opening.get()?;
        let opened = &device.opened;
        let device = DeviceReport::new(&device.selected, opened);
        let (surface, frame) = (&placed.placed, placed.domain.frame);
        let estimated = on!(opened, kernels => {
            estimate::estimate(kernels, request, surface, frame, params)
        })?;
        self.console.show(&estimated.text())?;
        let mut object = estimated.to_json();
        object["device"] =
            json!({ "name": device.name, "reason": device.reason, "model": device.model });
        let parameters = &mut object["parameters"];
        parameters["flow"] = json!(job.solid_rule().flow());
        parameters["robust"] = json!(job.robust);
        parameters["periodic"] = json!(job.periodic.to_string());
        parameters["refine"] = job.refine.iter().map(ToString::to_string).collect();
        parameters["seed"] = json!(job.seed);
        parameters["close_holes"] = json!(job.close_holes);
        self.console.object(&object)
    }

    fn finish(self, mut report: MeshReport) -> Result<(), Error> {
        report.times_ms = Times {
            total: ms(self.began),
            ..self.work.times
        };
        report.dry_run = self.args.dry_run;
        report.peak_rss_bytes = memory::peak_resident();
        report.device.peak_bytes = self.opening.get()?.opened.peak_bytes();
        report.notes = self.work.notes;
        self.console.show(&report.result())?;
        self.console.object(&report)
    }
}

fn run(args: &MeshArgs, goal: Goal, world: Option<&Arc<World>>) -> Result<(), Error> {
    let began = Instant::now();
    let options = match &args.config {
        Some(path) => args.options.clone().or(config::read(path)?),
        None => args.options.clone(),
    };
    let mut job = resolve::resolve(&options)?;
    job.targets.force = args.force;
    let is_first = world.is_none_or(|world| world.rank() == 0);
    if let Some(world) = world {
        check_shared(&job, world.size())?;
        job.device.0 = job.device.0.of_process(cutlink_mpi::local_rank());
    }
    if is_first && !args.dry_run && args.write_config.is_none() {
        job.check_targets()?;
        if let Some(path) = &args.report {
            output::check(path, args.force, None)?;
        }
    }
    // It opens while the surface is read, checked and snapped.
    let opening = Opening::begin(job.device.0)?;
    let console = Console::new(args.output);
    let mut told = console.clone();
    let observer: &mut dyn Observer = match is_first {
        true => &mut told,
        false => &mut (),
    };
    pool::install(job.threads, || {
        let mut work = Builder::opening(&job, &opening, observer);
        work.share(world.cloned());
        Run {
            work,
            opening: &opening,
            console: &console,
            args,
            is_first,
            goal,
            began,
        }
        .go()
    })
}

/// Checks that so many processes can share a job.
fn check_shared(job: &Job, processes: usize) -> Result<(), Error> {
    if job.parts.count() > 1 {
        let message =
            format!("--ranks and --gpus are for one process, and {processes} were started");
        return Err(Error::input(message)
            .hint("leave them out: each process makes a part, on a GPU of its own if it has one"));
    }
    match &job.source {
        Source::Files(paths) if paths.iter().any(|path| is_stream(path)) => {
            let message =
                "standard input goes to the first process alone, and each one reads the surface";
            Err(Error::input(message).hint("name a file that all processes can read"))
        }
        _ => Ok(()),
    }
}

fn write_config(path: &Path, text: &str, force: bool) -> Result<(), Error> {
    if path == Path::new("-") {
        return console::print(text);
    }
    output::check(path, force, None)?;
    output::write_text(path, force, text)
}
