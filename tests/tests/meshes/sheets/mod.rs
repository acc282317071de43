//! Surfaces without an inside: the fluid that a seed reaches between sheets, holes that are closed, leaks. Counts, areas
//! and places known beforehand.

mod holes;
mod kit;
mod walls;
