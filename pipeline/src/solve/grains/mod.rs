//! Cases of kind `grains`: spheres in contact with one another, with the faces of a box and with surfaces, with the outputs,
//! checkpoints and summary of all flows.
//!
//! | file | what |
//! |---|---|
//! | `case` | the tables, as written |
//! | `materials` | materials and their contacts |
//! | `resolve` | from tables to spheres in a box, and the length of a step |
//! | `walls` | surfaces as walls, and how pictures show them |
//! | `cells` | fields on cells: sums over spheres and contacts |
//! | `run` | from a case to a run, and its plan |
//! | `flow` | the running bed behind the door of every physics ([`cutlink_flow`]) |
//! | `in_flow` | the bed of a flow of another kind that has spheres |
//! | `running` | what a run of such a flow has of them |
//! | `history` | `particles.csv`, `loads.csv`, and what the verdict needs |

pub mod case;
mod cells;
pub(in crate::solve) mod flow;
pub(in crate::solve) mod history;
pub(in crate::solve) mod in_flow;
pub(in crate::solve) mod materials;
pub(in crate::solve) mod resolve;
mod run;
pub(in crate::solve) mod running;
pub(in crate::solve) mod walls;

pub use case::GrainsCase;
