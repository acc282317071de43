//! The command line tool `cutlink`, as a library that its thin `main` and its tests call.
//!
//! | module | what |
//! |---|---|
//! | [`cli`] | what a user may type, and the help texts |
//! | [`options`], [`config`] | the options of a mesh, typed or from TOML; every TOML file |
//! | [`mesh`] | `cutlink mesh`: from a surface to a mesh file, a picture and a report |
//! | [`estimate`] | `cutlink estimate`, and whether a mesh will fit |
//! | [`inspect`] | `cutlink inspect`: what is in a mesh file, checks, exports; a surface's health |
//! | [`bench`](mod@bench) | `cutlink bench`: how fast this machine is |
//! | [`demo`] | `cutlink demo`: a real scan, meshed with the defaults |
//! | [`manual`] | completions and manual pages |
//! | [`solve`] | flows: cases, units, what can be stable, checkpoints |
//! | [`console`] | stdout, stderr, progress |
//! | `device` | the device a run was given |
//! | [`picture`] | slices as PNG |
//! | [`fields`] | what a flow writes: series, slices, probes, frames |
//! | [`solid_stl`] | the voxel surface |
//! | [`output`] | files that are whole or not there |
//! | [`allocator`] | running out of memory ends with a message |
//! | [`failure`] | the one error type of the edge: message, causes, hint, exit code |

pub mod allocator;
pub mod bench;
pub mod cli;
pub mod config;
pub mod console;
pub mod demo;
pub(crate) mod device;
pub mod estimate;
pub mod failure;
pub mod fields;
pub mod inspect;
pub mod manual;
pub mod mesh;
pub mod options;
pub mod output;
pub mod picture;
pub mod refine;
pub mod solid_stl;
pub mod solve;

use cli::{Cli, Command};
use failure::{Failure, Kind};
use std::process::ExitCode;

/// Version of what `--json` prints; it changes when a key changes its meaning or goes.
pub const JSON_SCHEMA: u32 = 1;

/// More threads than any machine has cores, fewer than would exhaust its memory.
const MAX_THREADS: usize = 4096;

/// Stack of a worker thread, in bytes.
const STACK: usize = 2 << 20;

/// What a thread needs beside its stack: signal stack, guard pages, its share of the heap.
const BESIDE_STACK: u64 = 1 << 18;

/// Address space that a thread's heap may reserve, in bytes.
const ARENA: u64 = 128 << 20;

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
        let _ = console::print(&format!("{:#}\n", failure.to_json()));
    }
    console::tell(&failure.to_string());
    ExitCode::from(failure.kind.exit_code())
}

fn dispatch(cli: &Cli) -> Result<(), Failure> {
    room_for_threads(1)?;
    output::clean_up_on_interrupt();
    match &cli.command {
        Command::Mesh(args) => mesh::command(args),
        Command::Estimate(args) => estimate::command(args),
        Command::Inspect(args) => inspect::command(args),
        Command::Solve(args) => solve::run::command(args),
        Command::Bench(cli::BenchCommand::Mesh(args)) => bench::mesh(args),
        Command::Bench(cli::BenchCommand::Solve(args)) => bench::solve::command(args),
        Command::Demo { force } => demo::command(*force),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man { dir } => manual::man(dir.as_deref()),
    }
}

/// Refuses threads whose stacks will not fit. A thread that finds too little memory on its way
/// into life ends the process, and the pool cannot tell.
fn room_for_threads(threads: usize) -> Result<(), Failure> {
    let needed = threads as u64 * (STACK as u64 + BESIDE_STACK) + (1 << 20);
    let free = cutlink_device::memory::available();
    if needed <= free {
        return Ok(());
    }
    let s = if threads == 1 { "" } else { "s" };
    Err(Failure::new(
        Kind::Memory,
        format!(
            "not enough memory for {threads} thread{s}: {needed} bytes needed, {free} bytes free"
        ),
    )
    .hint("allow more memory (ulimit -v), or give fewer --threads"))
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
    let count = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    room_for_threads(count)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK)
        .build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(e) => {
            // Where address space is scarce, the heap of the first thread (up to `ARENA`, most
            // of it given back at once) may leave too little for the stack of the next.
            let wanted = count as u64 * (STACK as u64 + ARENA);
            let free = cutlink_device::memory::available();
            let kind = if free < wanted {
                Kind::Memory
            } else {
                Kind::Runtime
            };
            let message = format!("cannot start {count} threads");
            Err(Failure::new(kind, message).because(&e).hint(format!(
                "give --threads a smaller number: {count} may take up to {wanted} bytes of \
                 address space at first, {free} bytes are free"
            )))
        }
    }
}
