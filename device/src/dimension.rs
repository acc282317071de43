//! Tables of functions that are compiled once for 2D and once for 3D, in the crate that defines them.
//!
//! A generic function is compiled again in every crate that calls it. Reached through a static table, it is compiled in
//! its own crate alone, which saves minutes of each build above.

use std::any::Any;

/// The table of dimension `D`: `two` for 2D, `three` for 3D.
///
/// # Panics
/// `T` is the type of neither.
pub fn of_dimension<const D: usize, T: 'static>(
    two: &'static dyn Any,
    three: &'static dyn Any,
) -> &'static T {
    let table = if D == 2 { two } else { three };
    table
        .downcast_ref()
        .expect("there should be a table for each dimension")
}
