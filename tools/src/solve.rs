//! `cutlink solve`: the plan of a case, its run, an example case, or the schema of cases.

use crate::cli::{EstimateArgs, SolveArgs};
use crate::console::{self, Console};
use crate::signals;
use cutlink::solve::example;
use cutlink::{AnyCase, Case, Error, EstimateOptions, MeshOptions, RunOptions, output};
use cutlink_mpi::World;
use std::{path::Path, sync::Arc};

/// Runs the command, with the other processes that an MPI launcher has started.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &SolveArgs, world: Option<&Arc<World>>) -> Result<(), Error> {
    if let Some(name) = &args.example {
        return write_example(name, args);
    }
    if args.schema {
        return console::print(&format!("{:#}\n", cutlink::solve::schema::of_cases()));
    }
    let mut options = RunOptions {
        resume: args.resume,
        replace: args.force,
        steps: args.steps,
        device: args.device,
        threads: args.threads,
        ranks: args.ranks.iter().map(|&ranks| ranks.into()).collect(),
        gpus: args.gpus.map_or(0, usize::from),
        stop: signals::stop_token(),
        ..RunOptions::default()
    };
    let mut console = Console::new(args.output);
    let mut case = match AnyCase::read(args.file())? {
        AnyCase::LatticeBoltzmann(case) => case,
        other => {
            options.world = world.cloned();
            return in_box(&other, args, &options, &mut console);
        }
    };
    if let Some(file) = &args.mesh {
        case.take_mesh_file(file);
    }
    if args.dry_run {
        let plan = case.plan(&options, &mut console)?;
        return console.object(&plan.json);
    }
    options.world = world.cloned();
    if world.is_some_and(|world| world.rank() != 0) {
        return case.serve(&options);
    }
    let summary = case.run_with(&options, &mut console)?;
    console.object(&summary.json)
}

/// Runs a flow of a kind whose case has the box, or shows its plan.
fn in_box(
    case: &AnyCase,
    args: &SolveArgs,
    options: &RunOptions,
    console: &mut Console,
) -> Result<(), Error> {
    if args.mesh.is_some() {
        return Err(
            Error::input("--mesh is for flows of kind \"lattice-boltzmann\"")
                .hint("the box of this case is [domain]"),
        );
    }
    if args.dry_run {
        let plan = case.plan(options, console)?;
        return console.object(&plan.json);
    }
    let summary = case.run_with(options, console)?;
    console.object(&summary.json)
}

/// Writes an example to a file, or to stdout (also for `-`).
fn write_example(name: &str, args: &SolveArgs) -> Result<(), Error> {
    let text = example::text(name)?;
    let path = args.case.as_deref();
    let Some(path) = path.filter(|path| *path != Path::new("-")) else {
        return console::print(text);
    };
    output::check(path, args.force, None)?;
    output::write_text(path, args.force, text)?;
    let path = path.display();
    Console::new(args.output).show(&format!(
        "written to {path}; run it: cutlink solve {path}\n"
    ))
}

/// Runs `cutlink estimate` of a case.
///
/// # Errors
/// No case, or options of meshes beside it; any failure to read or to resolve it.
pub fn estimate(args: &EstimateArgs, path: Option<&Path>) -> Result<(), Error> {
    let Some(path) = path else {
        return Err(Error::input("--re and --y-plus are for flows")
            .hint("give a case: cutlink estimate case.toml"));
    };
    let given = MeshOptions {
        file: None,
        device: None,
        threads: None,
        ..args.options.clone()
    };
    if given != MeshOptions::default() || args.mem.is_some() || args.config.is_some() {
        return Err(Error::input("a case has options of its own for the mesh")
            .hint("besides the case give --device, --threads, --re, --y-plus or --json only; change [mesh] in the case"));
    }
    let mut options = EstimateOptions::default();
    options.re = args.flow.re;
    options.y_plus = args.flow.y_plus;
    options.device = args.options.device;
    options.threads = args.options.threads.unwrap_or(0);
    let made = Case::read(path)?.estimate(&options)?;
    let console = Console::new(args.output);
    console.show(&made.text)?;
    console.object(&made.json)
}
