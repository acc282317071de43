//! Flows against analytic answers, on every backend.
//!
//! | module | what |
//! |---|---|
//! | `periodic` | Taylor-Green vortices: order, refinement, conservation |
//! | `walls` | Poiseuille, Couette, circular Couette: order at cut links, torque |
//! | `running` | same bits for threads and after a restart; divergence; refusals |

mod periodic;
mod running;
mod walls;
