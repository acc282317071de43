//! Flows against analytic answers.
//!
//! | module | what |
//! |---|---|
//! | `periodic` | Taylor-Green vortices: order, refinement, conservation |
//! | `walls` | Poiseuille, Couette, circular Couette: order at cut links, torque |
//! | `running` | same bits for threads and after a restart; divergence; refusals |
//! | `twins` | every lattice, collision, precision and wall scheme against f64 on one thread of the host |

mod periodic;
mod running;
mod twins;
mod walls;
