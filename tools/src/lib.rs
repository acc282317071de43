//! The command line program `cutlink`, as a library for its `main` and its tests. The crate [`cutlink`] does the work;
//! this crate has the command line, the console, reports and benches.
//!
//! | module | content |
//! |---|---|
//! | [`cli`] | the command line and its help texts |
//! | [`mesh`] | `cutlink mesh` and `cutlink estimate` |
//! | [`refine`] | `cutlink refine` |
//! | [`pack`] | `cutlink pack`: beds of grains |
//! | [`solve`] | `cutlink solve` |
//! | [`inspect`] | `cutlink inspect`: content, checks and exports of a mesh file; health of a surface |
//! | [`bench`](mod@bench) | `cutlink bench`: the speed of meshing and flows on this machine |
//! | [`view`] | `cutlink view`: pages for a browser, and a server that follows a run |
//! | [`demo`] | `cutlink demo`: a real scan, meshed with the defaults |
//! | [`manual`] | completions and manual pages |
//! | [`console`] | stdout, stderr, progress |
//! | [`exit`] | exit codes and error texts |
//! | [`signals`] | Ctrl-C: a checkpoint of a running flow, removal of temporary files |
//! | [`allocator`] | running out of memory ends with a message |

pub mod allocator;
pub mod bench;
pub mod cli;
pub mod console;
pub mod demo;
pub mod exit;
pub mod inspect;
pub mod manual;
pub mod mesh;
pub mod pack;
mod processes;
pub mod refine;
pub mod signals;
pub mod solve;
pub mod view;

use cli::{Cli, Command};
use cutlink::{Error, pool};
use cutlink_mpi::World;
use std::sync::Arc;

/// Parses the command line of this process. Where memory runs out meanwhile, the error is JSON if `--json` is among the
/// arguments.
pub fn parse() -> Cli {
    let json = std::env::args_os().any(|argument| argument == "--json");
    allocator::JSON.store(json, std::sync::atomic::Ordering::Relaxed);
    <Cli as clap::Parser>::parse()
}

/// Runs a command line; returns the exit code.
pub fn run(cli: &Cli) -> u8 {
    let json = match &cli.command {
        Command::Mesh(args) => args.output.json,
        Command::Estimate(args) => args.output.json,
        Command::Inspect(args) => args.output.json,
        Command::Refine(args) => args.output.json,
        Command::Pack(args) => args.report.json,
        Command::Solve(args) => args.output.json,
        Command::View(args) => args.report.json,
        Command::Bench(cli::BenchCommand::Mesh(args)) => args.run.output.json,
        Command::Bench(cli::BenchCommand::Solve(args)) => args.run.output.json,
        Command::Bench(cli::BenchCommand::Move(args)) => args.run.output.json,
        Command::Bench(cli::BenchCommand::Adapt(args)) => args.run.output.json,
        Command::Bench(cli::BenchCommand::Flux(args)) => args.run.output.json,
        Command::Bench(cli::BenchCommand::Hex(args)) => args.run.output.json,
        Command::Bench(cli::BenchCommand::Grains(args)) => args.output.json,
        _ => false,
    };
    allocator::JSON.store(json, std::sync::atomic::Ordering::Relaxed);
    let joined = processes::join(cli);
    let world = joined.as_ref().ok().and_then(Option::as_ref);
    let done = match &joined {
        Ok(_) => dispatch(cli, world),
        Err(_) => Ok(()),
    };
    let is_first = world.is_none_or(|world| world.rank() == 0);
    let failure = joined.as_ref().err().or(done.as_ref().err());
    if let Some(failure) = failure.filter(|_| is_first) {
        report(failure, json);
    }
    if let Some(world) = world {
        processes::end(world, failure);
    }
    failure.map_or(0, |failure| exit::code(failure.kind))
}

fn report(failure: &Error, json: bool) {
    if json {
        // An I/O error of stdout cannot be reported there; the exit code stays that of the failure.
        let _ = console::print(&format!("{:#}\n", exit::to_json(failure)));
    }
    console::tell(&exit::text(failure));
}

fn dispatch(cli: &Cli, world: Option<&Arc<World>>) -> Result<(), Error> {
    pool::check_memory(1)?;
    signals::install();
    match &cli.command {
        Command::Mesh(args) => mesh::command(args, world),
        Command::Estimate(args) => mesh::estimate(args),
        Command::Inspect(args) => inspect::command(args),
        Command::Refine(args) => refine::command(args),
        Command::Pack(args) => pack::command(args),
        Command::Solve(args) => solve::command(args, world),
        Command::View(args) => view::command(args),
        Command::Bench(cli::BenchCommand::Mesh(args)) => bench::mesh(args),
        Command::Bench(cli::BenchCommand::Solve(args)) => bench::solve::command(args),
        Command::Bench(cli::BenchCommand::Move(args)) => bench::solve::moving::command(args),
        Command::Bench(cli::BenchCommand::Adapt(args)) => bench::adapt::command(args),
        Command::Bench(cli::BenchCommand::Flux(args)) => bench::flux::command(args),
        Command::Bench(cli::BenchCommand::Hex(args)) => bench::hex::command(args),
        Command::Bench(cli::BenchCommand::Grains(args)) => bench::grains::command(args),
        Command::Demo { force } => demo::command(*force),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { dir } => manual::man(dir.as_deref()),
    }
}
