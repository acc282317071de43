//! Discrete elements: spheres that collide, slide, roll and rest on one another, in a box and at a surface. The crate
//! knows no fluid.
//!
//! | item | shape, order | unit, frame |
//! |---|---|---|
//! | in: [`Grain`]s | n, in the user's order, which gives their ids | m, s, kg; any frame |
//! | in: [`GrainParams`], [`SurfaceWall`] | materials, box, gravity, step; at most one surface | the same |
//! | out: [`Bed`] | grains by id, contacts, energy, momentum | the same |
//!
//! The [contact law](PairLaw) is Hertz's and Mindlin's with history, with Coulomb and rolling friction. Each pair is
//! computed once, and its forces are added in a fixed order without atomics: results have the same bits for any number of
//! threads and from run to run. [`Bed::save`] and [`Bed::restore`] keep every bit.
//!
//! [`pack`] makes beds at rest: of given sizes and shares, in a box or a closed surface.
//!
//! **Cost.** A step of a bed at rest takes 0.3 µs a grain on a busy core, and 1,100 bytes a grain with those of sorting; see
//! `docs/performance-log.md`. **Sources** are with the contact law; the design of pairs is decision 053.

mod arrays;
mod bed;
mod error;
mod kernels;
mod law;
pub mod pack;
mod params;
mod saved;
mod surface;
mod validate;
mod vec3;
mod walls;

pub use bed::{Bed, BedEnergy, BedWall, Grain, GrainLoad, StepLimit, WallContact};
pub use error::GrainError;
pub use law::{PairLaw, hertz_time, rayleigh_time};
pub use params::{BoxAxis, GrainBox, GrainParams, MAX_MATERIALS, Material, Materials, SKIN, Touch};
pub use surface::{GrainSide, SurfaceWall};
pub use validate::BedViolation;
