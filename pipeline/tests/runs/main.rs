//! Cases, through what the library offers its users: read, planned, run, resumed, refused. A program beside the library, so
//! that the library is compiled once: unit tests are for what is private.

mod bodies;
mod cases;
mod estimate;
mod examples;
mod gas;
mod gas_bodies;
mod gas_door;
mod gas_earlier;
mod grains;
mod hostile_values;
mod lattice_heat;
mod lattice_particles;
mod library;
mod pilot;
mod schema;
mod two_phase;
mod two_phase_frame;
mod two_phase_heat;
mod two_phase_particles;
mod two_phase_surfaces;
#[path = "../../../tests/kit/worst.rs"]
mod worst;
