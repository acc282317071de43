//! The handler of Ctrl-C, SIGTERM and SIGHUP; batch systems and containers end their jobs by the latter two. SIGXFSZ is
//! ignored.

use cutlink::{StopToken, output};
use std::sync::LazyLock;

/// Stops the running flow, if there is one.
static STOP: LazyLock<StopToken> = LazyLock::new(StopToken::new);

/// The token set by the signals.
pub fn stop_token() -> StopToken {
    STOP.clone()
}

/// Ignores the signal of the limit on file size (`ulimit -f`): writing fails then, with a message and exit code 1.
#[cfg(unix)]
fn ignore_file_size_signal() {
    #[expect(unsafe_code, reason = "the disposition of a signal is a system call")]
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Installs the handler: a signal ends a running flow with a checkpoint. A second signal, or the first without a running
/// flow, removes temporary files and ends the process with exit code 130.
pub fn install() {
    #[cfg(unix)]
    ignore_file_size_signal();
    // The handler must not be the first to initialize it.
    LazyLock::force(&STOP);
    let set = ctrlc::set_handler(|| {
        if STOP.stop() {
            return;
        }
        output::discard_pending();
        std::process::exit(130);
    });
    // A second handler is refused; the first one does the same. Without memory for its thread
    // Ctrl-C ends the process all the same, and only the temporary file stays.
    drop(set);
}
