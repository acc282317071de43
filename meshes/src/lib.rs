//! Sample geometry: real scans, fetched by package name with the package clients a machine
//! has, and checked against a checksum. No foreign data is part of this project.
//!
//! | scan | package | state | facets |
//! |---|---|---|---|
//! | Stanford bunny | `stl-models` 0.12.0 (npm, MIT) | open underneath, capped here | 69,451 + 223 |
//! | the same, another triangulation | `pymeshfix` 0.18.1 (PyPI) | open, capped here | 99,785 + 485 |
//!
//! The bunny was scanned at the Stanford University Computer Graphics Laboratory (Stanford
//! 3D Scanning Repository).

mod cap;
mod fetch;

pub use cap::{Capped, cap};
pub use fetch::{FetchError, Sample, bunny};
