//! `mesher` on the scans of `../shared/meshes`, judged by what others measured on them.

mod health;
mod intersect;
mod read;
