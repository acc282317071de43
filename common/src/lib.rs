//! What the jobs of cutlink share, whether they make a mesh or run a flow.
//!
//! | module | what |
//! |---|---|
//! | [`Error`], [`ErrorKind`] | a kind to match on, a message, causes, a hint |
//! | [`Observer`], [`StopToken`] | notes, summaries and progress; a request to stop |
//! | [`config`], [`schema`] | TOML whose mistakes are named; its JSON schema |
//! | [`output`], [`lock`] | atomic file output: complete files or none; one job at a time in a folder |
//! | [`device`], [`pool`] | the device and the thread pool of a job |

pub mod config;
pub mod device;
mod error;
pub mod lock;
mod observer;
pub mod output;
pub mod pool;
pub mod schema;

pub use error::{Error, ErrorKind};
pub use observer::{FlowLook, Observer, Running, StopToken};

/// Version of the JSON objects; it changes when a key is removed or changes its meaning.
pub const JSON_SCHEMA: u32 = 1;
