//! The command line program `cutlink`, as a library for its `main` and its tests. The crate [`cutlink`] does the work;
//! this crate has the command line, the console, reports and benches. Without the feature `flows`, on by default, there are
//! no solvers: `pack`, `solve` and `bench` are refused.
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
#[cfg(feature = "flows")]
pub mod bench;
pub mod cli;
pub mod console;
pub mod demo;
pub mod exit;
pub mod inspect;
pub mod manual;
pub mod mesh;
#[cfg(feature = "flows")]
pub mod pack;
mod processes;
pub mod refine;
pub mod signals;
#[cfg(feature = "flows")]
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
    let json = cli.command.output().is_some_and(|output| output.json);
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

/// What a program without the feature `flows` says to their commands and cases.
#[cfg(not(feature = "flows"))]
fn without_flows() -> Error {
    Error::input("this program was built without flows: it makes meshes only")
        .hint("build all of it: cargo build --release")
}

fn dispatch(cli: &Cli, world: Option<&Arc<World>>) -> Result<(), Error> {
    pool::check_memory(1)?;
    signals::install();
    match &cli.command {
        Command::Mesh(args) => mesh::command(args, world),
        Command::Estimate(args) => mesh::estimate(args),
        Command::Inspect(args) => inspect::command(args),
        Command::Refine(args) => refine::command(args),
        Command::View(args) => view::command(args),
        #[cfg(feature = "flows")]
        Command::Flows(command) => command.run(world),
        #[cfg(not(feature = "flows"))]
        Command::NotBuilt { .. } => Err(without_flows()),
        Command::Demo { force } => demo::command(*force),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { dir } => manual::man(dir.as_deref()),
    }
}
