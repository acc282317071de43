//! Interface and flow against exact shapes, balances and published values.

#[path = "../../../tests/kit/worst.rs"]
mod worst;

// The unit tests of these files, without a second library.
#[allow(
    dead_code,
    unreachable_pub,
    reason = "of the crate, for the files below"
)]
#[path = "../../src/constants.rs"]
mod constants;
#[allow(dead_code, unreachable_pub, reason = "only their tests are used here")]
#[path = "../../src/overlap.rs"]
mod overlap;
#[allow(dead_code, unreachable_pub, reason = "only their tests are used here")]
#[path = "../../src/plane.rs"]
mod plane;
#[allow(dead_code, unreachable_pub, reason = "only their tests are used here")]
#[path = "../../src/shape.rs"]
mod shape;
#[allow(dead_code, unreachable_pub, reason = "only their tests are used here")]
#[path = "../../src/surface.rs"]
mod surface;

mod adaptation;
mod advection;
mod area;
mod beds;
mod contact;
mod curvature;
mod flow;
mod grains;
mod heat;
mod loads;
mod mesh;
mod refusals;
mod tension;
mod turning;
