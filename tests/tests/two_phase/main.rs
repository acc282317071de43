//! Two-phase flow on a GPU, bit for bit that of the host. (The host's is tested against exact solutions, dense
//! elimination and published values in `elliptic/tests` and `vof/tests`.)
//!
//! | module | what |
//! |---|---|
//! | `elliptic` | operators, cycles and solutions on random forests |
//! | `flows` | steps of flows, on meshes that stay or follow the interface |
//! | `grains` | the same with spheres |
//! | `heat` | the same with heat |

#[allow(dead_code, reason = "those of `vof/tests`, which use more of them")]
#[path = "../../../vof/tests/vof/beds.rs"]
mod beds;
mod elliptic;
mod flows;
mod grains;
mod heat;
#[allow(dead_code, reason = "those of `vof/tests`, which use more of them")]
#[path = "../../../vof/tests/vof/mesh.rs"]
mod mesh;
