//! The command line tool `cutlink`, as a library that its thin `main` and its tests call.
//!
//! | module | what |
//! |---|---|
//! | [`cli`] | what a user may type, and the help texts |
//! | [`options`], [`config`] | the options of a mesh, typed or from TOML |
//! | [`mesh`] | `cutlink mesh`: from a surface to a mesh file, a picture and a report |
//! | [`estimate`] | `cutlink estimate`, and whether a mesh will fit |
//! | [`inspect`] | `cutlink inspect`: what is in a mesh file, checks, exports; a surface's health |
//! | [`demo`] | `cutlink demo`: a real scan, meshed with the defaults |
//! | [`manual`] | completions and manual pages |
//! | [`console`] | stdout, stderr, progress |
//! | [`picture`] | slices as PNG |
//! | [`solid_stl`] | the voxel surface |
//! | [`output`] | files that are whole or not there |
//! | [`failure`] | the one error type of the edge: message, causes, hint, exit code |

pub mod cli;
pub mod config;
pub mod console;
pub mod demo;
pub mod estimate;
pub mod failure;
pub mod inspect;
pub mod manual;
pub mod mesh;
pub mod options;
pub mod output;
pub mod picture;
pub mod refine;
pub mod solid_stl;

use cli::{Cli, Command};
use failure::{Failure, Kind};
use std::process::ExitCode;

/// Version of what `--json` prints; it changes when a key changes its meaning or goes.
pub const JSON_SCHEMA: u32 = 1;

/// More threads than any machine has cores, fewer than would exhaust its memory.
const MAX_THREADS: usize = 4096;

/// Runs a command line; the exit code.
pub fn run(cli: &Cli) -> ExitCode {
    output::clean_up_on_interrupt();
    let (json, result) = match &cli.command {
        Command::Mesh(args) => (args.output.json, mesh::command(args)),
        Command::Estimate(args) => (args.output.json, estimate::command(args)),
        Command::Inspect(args) => (args.output.json, inspect::command(args)),
        Command::Demo { force } => (false, demo::command(*force)),
        Command::Completions { shell } => (false, manual::completions(*shell)),
        Command::Man { dir } => (false, manual::man(dir.as_deref())),
    };
    let Err(failure) = result else {
        return ExitCode::SUCCESS;
    };
    if json {
        // A fault of stdout cannot be told there; the exit code stays that of the failure.
        let _ = console::print(&format!("{:#}\n", failure.to_json()));
    }
    console::tell(&failure.to_string());
    ExitCode::from(failure.kind.exit_code())
}

/// Runs `work` on a thread pool of `threads` workers, 0 for one a core.
fn in_pool<R: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<R, Failure> + Send,
) -> Result<R, Failure> {
    if threads > MAX_THREADS {
        return Err(Failure::usage(format!(
            "--threads is {threads}: at most {MAX_THREADS} are possible"
        )));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(e) => Err(
            Failure::new(Kind::Runtime, format!("cannot start {threads} threads"))
                .because(&e)
                .hint("give --threads a smaller number"),
        ),
    }
}
