//! Checks of the verdict of lattice flows: before the first step, at the openings ([`openings`]) while the flow runs, and of
//! its histories at the end ([`rows`]). The earliest end of a flow that settles is in [`patience`], sound between the sides of
//! the box in [`sound`].

pub(crate) mod openings;
pub(crate) mod patience;
pub(crate) mod rows;
pub(crate) mod sound;
