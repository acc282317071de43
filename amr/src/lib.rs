//! A forest of octrees.
