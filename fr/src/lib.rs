//! Compressible flow by flux reconstruction on linear trees.
//!
//! In: the [leaves](cutlink_amr::linear::Leaves) of a 2:1-balanced tree, a box that they divide, and
//! [parameters](EulerParams). Out: the state at the points of the elements, and integrals of it.
//!
//! | | |
//! |---|---|
//! | element | a leaf; p + 1 Gauss points an axis, p = 1 to 4; x, y, z of any length, the same ratio for all elements |
//! | scheme | flux reconstruction (Huynh 2007) with the Radau functions that recover the discontinuous Galerkin method |
//! | common flux | Rusanov's |
//! | viscosity | constant, by the local discontinuous Galerkin method (Cockburn & Shu 1998) |
//! | hanging faces | mortars at the fine side's points (Kopriva 1996): conservative, exact for polynomials |
//! | faces of the box | periodic, walls, or a far field that enters through the common flux |
//! | bodies | boxes of elements, which are taken out; their surface is a [wall](GasWall) |
//! | time | SSP Runge–Kutta of third order with 3 or 4 stages |
//! | new meshes | interpolation to children, L2 projection to parents: exact for polynomials, conservative |
//!
//! The mesh may [follow the flow](ElementAdaptation). There is no shock capturing. The methods are those
//! of Wang, Witherden & Jameson, *J. Comput. Phys.* 502 (2024) 112823 \[W24\].
//!
//! Conforming faces have no list: both elements compute the same common flux from both traces, low side first. The coarse
//! side of a hanging face gathers the fluxes of its sub-faces in their order. So there are no atomics, and states are the
//! same bits for any number of threads.
//!
//! ```
//! use cutlink_amr::linear::{Grid, Leaves};
//! use cutlink_device::Host;
//! use cutlink_fr::{EulerFlow, EulerParams, GasWalls, IsentropicVortex, RungeKutta, TimeStep};
//!
//! let vortex = IsentropicVortex::w24(25.0);
//! let leaves = Leaves::<2>::new(&Host, Grid::new([32, 32], [true; 2])?)?;
//! let params = EulerParams {
//!     order: 3,
//!     gamma: vortex.gamma,
//!     runge_kutta: RungeKutta::Rk33,
//!     time_step: TimeStep::Courant(0.5),
//!     far_field: None,
//!     viscosity: None,
//!     walls: GasWalls::default(),
//! };
//! let mut flow = EulerFlow::<2>::new(&leaves, [-12.5; 2], [12.5; 2], params)?;
//! flow.set(|x| vortex.at(0.0, x));
//! flow.advance_to(0.25)?;
//! let error = flow.density_error(|x| vortex.at(flow.time(), x).density);
//! assert!(error < 1e-3, "{error}");
//! # Ok::<(), cutlink_fr::FrError>(())
//! ```

mod adapt;
mod basis;
mod compiled;
mod constants;
mod devices;
mod elements;
mod embedded;
mod error;
pub mod kernels;
mod loads;
mod params;
mod resolution;
mod run;
mod sensor;
mod state;
mod steps;
mod vortex;
mod walls;

pub use adapt::{ElementAdaptation, ElementChanges, ElementLook, LevelsInBox};
pub use basis::{Basis, MAX_ORDER};
pub use embedded::{BodyGeometry, EmbeddedBodies};
pub use error::FrError;
pub use loads::WallLoad;
pub use params::{EulerParams, Primitive, RungeKutta, TimeStep, Viscosity};
pub use resolution::Unresolved;
pub use run::{Energies, EulerFlow, Totals};
pub use sensor::Sensor;
pub use vortex::IsentropicVortex;
pub use walls::{GasBody, GasWall, GasWalls, WallTable};
