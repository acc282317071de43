//! Flows with bodies that move. One program for all: each would compile the same code again.
//!
//! | module | what |
//! |---|---|
//! | `frames` | a circle at rest in a stream, and the same circle moving in fluid at rest: drag, noise |
//! | `follows` | a mesh that follows a body: drag, blocks, restarts |
//! | `scenes` | levels, closed boxes, turns, free bodies, restarts, refusals |

mod adapts;
mod follows;
mod frames;
mod scenes;
#[path = "../../../tests/kit/threads.rs"]
mod threads;
#[path = "../../../tests/kit/worst.rs"]
mod worst;

use threads::on_one_thread;
use worst::worst;
