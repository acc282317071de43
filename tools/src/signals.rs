//! What Ctrl-C does, and SIGTERM and SIGHUP with it: batch systems and containers end their jobs by these.

use cutlink::{StopToken, output};
use std::sync::LazyLock;

/// Stops the flow that runs, if one does.
static STOP: LazyLock<StopToken> = LazyLock::new(StopToken::new);

/// The token that the signals set.
pub fn stop_token() -> StopToken {
    STOP.clone()
}

/// From now on the signals end a running flow with a checkpoint. A second signal, or the first where no flow runs, removes
/// temporary files and ends the process with exit code 130.
pub fn install() {
    // The handler may not be the first to touch it.
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
