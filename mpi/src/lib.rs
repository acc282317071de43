//! Messages between the processes that an MPI launcher has started.
//!
//! The MPI library is opened at run time: the same program runs without one, and with Open MPI, with MPICH and what shares its binary
//! interface (Intel MPI, Cray MPICH, MVAPICH), or with any library of the standard's own (MPI 5.0, chapter 20). In: bytes for a
//! rank. Out: the bytes that a rank has sent, in order.
//!
//! | what | where |
//! |---|---|
//! | [`launched`], [`local_rank`]: what the launcher says | `launcher.rs` |
//! | the functions and handles of a library | `library.rs` |
//! | [`World`]: the processes | `world.rs` |

mod launcher;
mod library;
mod world;

pub use launcher::{launched, local_rank};
pub use world::World;

/// Why processes do not reach one another.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MpiError {
    /// No MPI library was found.
    #[error("an MPI launcher has started {processes} processes, and there is no MPI library: looked for {}", tried.join(", "))]
    NotFound {
        /// Processes, as the launcher says.
        processes: usize,
        /// What was looked for.
        tried: Vec<String>,
    },
    /// A library that lacks a function.
    #[error("{path} is no MPI library that can be used: {reason}")]
    Library {
        /// The library.
        path: String,
        /// What is missing.
        reason: String,
    },
    /// A function that failed.
    #[error("{function} failed with code {code}")]
    Failed {
        /// The function.
        function: &'static str,
        /// Its code.
        code: i32,
    },
}
