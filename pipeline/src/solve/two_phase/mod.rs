//! Cases of kind `two-phase`: a liquid and a gas with a sharp interface, with the outputs, checkpoints and summary of all
//! flows.
//!
//! | file | what |
//! |---|---|
//! | `case` | the tables, as written |
//! | `spheres` | `[[particles]]`: from tables to a bed in the flow's box |
//! | `mesh` | from tables to the mesh at the start, and what of it stays refined |
//! | `surface` | liquid and bodies from surfaces |
//! | `resolve` | from tables to parameters and the length of a step |
//! | `frame` | boxes that move |
//! | `heat` | heat: parameters, `heat.csv`, its balance |
//! | `tables` | `phases.csv`, `loads.csv`, `gauges.csv` |
//! | `run` | from a case to a run, and its plan |
//! | `energy` | whether a flow gains energy that nothing gives |
//! | `coarse`, `layers` | whether cells and steps are too coarse |
//! | `since` | what steps did |
//! | `flow` | the running flow behind the door of every physics ([`cutlink_flow`]) |

pub mod case;
mod coarse;
mod energy;
mod flow;
mod frame;
mod heat;
mod layers;
mod mesh;
mod resolve;
mod run;
mod since;
mod spheres;
mod surface;
mod tables;

pub use case::TwoPhaseCase;
pub(super) use resolve::side_name;
