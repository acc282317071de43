//! Cases of kind `flux-reconstruction`: compressible flows on meshes of elements, with the outputs, checkpoints and summary
//! of all flows.
//!
//! | file | what |
//! |---|---|
//! | `adapt` | how the mesh follows the flow |
//! | `bodies` | bodies of any shape, as solid cells |
//! | `case` | the tables, as written |
//! | `earlier` | the flow of another run as initial state |
//! | `flow` | the running flow behind the door of every physics ([`cutlink_flow`]) |
//! | `forces` | samples of the forces on walls |
//! | `kinds` | which solver a file is for; keys of the other one |
//! | `outline` | the forecast of a large flow, and its memory, without its state |
//! | `resolution` | what elements do not resolve |
//! | `resolve` | from tables to parameters, with all defaults |
//! | `run` | from a case to a run, and its plan |
//! | `scene` | the flow as cells of blocks, for outputs |
//! | `state` | the flow at the start: initial, or saved |
//! | `walls` | walls, bodies and reference values |

mod adapt;
mod bodies;
pub mod case;
mod earlier;
mod flow;
mod forces;
mod kinds;
mod outline;
mod resolution;
mod resolve;
mod run;
mod scene;
mod state;
mod walls;

pub use case::FluxCase;
pub use kinds::{AnyCase, SolverKind, SolverTable};
pub(super) use kinds::{parse, read};
