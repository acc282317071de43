//! The command line tool `cutlink`, as a library that its thin `main` and its tests call. The work is done by the crate
//! [`cutlink`]; here are the command line, the console, reports and benches.
//!
//! | module | what |
//! |---|---|
//! | [`cli`] | what a user may type, and the help texts |
//! | [`mesh`] | `cutlink mesh` and `cutlink estimate` |
//! | [`solve`] | `cutlink solve` |
//! | [`inspect`] | `cutlink inspect`: what is in a mesh file, checks, exports; a surface's health |
//! | [`bench`](mod@bench) | `cutlink bench`: how fast this machine is |
//! | [`demo`] | `cutlink demo`: a real scan, meshed with the defaults |
//! | [`manual`] | completions and manual pages |
//! | [`console`] | stdout, stderr, progress |
//! | [`exit`] | exit codes, and how errors print |
//! | [`signals`] | Ctrl-C: a checkpoint where a flow runs, no temporary files left |
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
pub mod signals;
pub mod solve;

use cli::{Cli, Command};
use cutlink::{Error, pool};
use std::process::ExitCode;

/// Runs a command line; the exit code.
pub fn run(cli: &Cli) -> ExitCode {
    let json = match &cli.command {
        Command::Mesh(args) => args.output.json,
        Command::Estimate(args) => args.output.json,
        Command::Inspect(args) => args.output.json,
        Command::Solve(args) => args.output.json,
        Command::Bench(cli::BenchCommand::Mesh(args)) => args.run.output.json,
        Command::Bench(cli::BenchCommand::Solve(args)) => args.run.output.json,
        _ => false,
    };
    allocator::JSON.store(json, std::sync::atomic::Ordering::Relaxed);
    let Err(failure) = dispatch(cli) else {
        return ExitCode::SUCCESS;
    };
    if json {
        // A fault of stdout cannot be told there; the exit code stays that of the failure.
        let _ = console::print(&format!("{:#}\n", exit::to_json(&failure)));
    }
    console::tell(&exit::text(&failure));
    ExitCode::from(exit::code(failure.kind))
}

fn dispatch(cli: &Cli) -> Result<(), Error> {
    pool::check_memory(1)?;
    signals::install();
    match &cli.command {
        Command::Mesh(args) => mesh::command(args),
        Command::Estimate(args) => mesh::estimate(args),
        Command::Inspect(args) => inspect::command(args),
        Command::Solve(args) => solve::command(args),
        Command::Bench(cli::BenchCommand::Mesh(args)) => bench::mesh(args),
        Command::Bench(cli::BenchCommand::Solve(args)) => bench::solve::command(args),
        Command::Demo { force } => demo::command(*force),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { dir } => manual::man(dir.as_deref()),
    }
}
