//! Several processes of the program, as an MPI launcher starts them.

#[cfg(feature = "flows")]
use crate::cli::FlowCommand;
use crate::cli::{Cli, Command};
use crate::{console, exit};
use cutlink::{Error, ErrorKind};
use cutlink_mpi::{MpiError, World, launched};
use std::{sync::Arc, thread, time::Duration};

/// Time that other processes wait before they report a failure. Meanwhile the first process reports one that all processes have,
/// and ends them.
const PATIENCE: Duration = Duration::from_secs(3);

/// Joins the other processes, if the command shares its work with them.
///
/// # Errors
/// There is no MPI library; a launcher has started several processes of a command that is for one.
pub(crate) fn join(cli: &Cli) -> Result<Option<Arc<World>>, Error> {
    let Some(processes) = launched() else {
        return Ok(None);
    };
    match &cli.command {
        #[cfg(feature = "flows")]
        Command::Flows(FlowCommand::Solve(args))
            if !args.dry_run && !args.schema && args.example.is_none() => {}
        Command::Mesh(args) if !args.dry_run && args.write_config.is_none() => {}
        _ => {
            let message = format!(
                "{processes} processes were started, and only `cutlink solve` and `cutlink mesh` share their work among them"
            );
            return Err(Error::input(message).hint("start one process"));
        }
    }
    let failed = |error: MpiError| {
        let hint = "name the library of the launcher: CUTLINK_MPI=/path/to/libmpi.so";
        Error::new(ErrorKind::Runtime, error.to_string()).hint(hint)
    };
    Ok(World::join().map_err(failed)?.map(Arc::new))
}

/// Ends the processes with this one's exit code, where others might wait for it. Tells of a failure that the first process does not
/// know of.
pub(crate) fn end(world: &World, failure: Option<&Error>) {
    let Some(failure) = failure else {
        return;
    };
    if world.rank() != 0 {
        thread::sleep(PATIENCE);
        console::tell(&format!("rank {}: {}", world.rank(), exit::text(failure)));
    } else if world.is_released() {
        return;
    }
    world.abort(exit::code(failure.kind));
}
