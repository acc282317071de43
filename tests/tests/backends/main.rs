//! Every backend against oracles outside of it, and bit for bit against one thread of the host.
//!
//! | module | what |
//! |---|---|
//! | `adapt` | refinement and coarsening of the forest against a model of leaves |
//! | `averages` | running means of a flow against its snapshots |
//! | `following` | meshes with bodies whose fluid is refined and coarsened |
//! | `linear` | linear trees, and conversion from and to forests |
//! | `buffers` | moving, filling, growing and refusing memory |
//! | `random` | random closed chains, with and without rules, against brute force |
//! | `robust` | open surfaces |
//! | `scans` | real scans; repeated runs |
//! | `shapes` | primitives, and surfaces and boxes of extreme sizes |
//! | `sheets` | open surfaces in any directions, without a solid cell |
//! | `stages` | kernels on their own: facets, lists, winding numbers of root blocks |
//! | `windows` | meshes made in parts |

mod adapt;
mod averages;
mod buffers;
mod following;
mod linear;
mod periodic;
mod random;
mod robust;
mod scans;
mod shapes;
mod sheets;
mod stages;
mod windows;
