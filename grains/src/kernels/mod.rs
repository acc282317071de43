//! The stages of a step, on CPU threads.
//!
//! | stage | contract | file in `cpu/` |
//! |---|---|---|
//! | `sort` | grains in Morton order of their cells, ids break ties; positions wrapped into the period | `sort` |
//! | `candidates` | each pair nearer than radii and skin once, i < j, rows ascending; the rows by j | `candidates` |
//! | `meet` | touching pairs of a block of rows, compacted (*distance*); their forces (*law*) | `pairs` |
//! | `touch_walls` | contacts of a block of grains with box and surface, their forces | `walls` |
//! | `gather` | forces of a grain: its row, then the rows it is in, then walls | `gather` |
//! | `drift`, `kick` | half a step each of the velocity Verlet method | `integrate` |
//!
//! A block is [`BLOCK`] grains; blocks run in parallel and write to places of their own, without atomics. No result
//! depends on the number of threads.

pub(crate) mod cpu;

/// Grains of a block.
pub(crate) const BLOCK: usize = 256;

/// No place in the list of touching pairs.
pub(crate) const APART: u32 = u32::MAX;
