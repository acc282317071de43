//! The test kit: oracles with arithmetic of their own, comparators that name the first
//! difference, random closed surfaces, bodies and scans.
//!
//! | module | what |
//! |---|---|
//! | [`analytic`] | bodies of known distance and volume |
//! | [`oracle`] | brute force: winding numbers and cuts of links from the definition |
//! | [`compare`] | a mesh against the oracle, a mesh against a mesh by places |
//! | [`arrays`] | a mesh against a mesh, array by array |
//! | [`backends`] | one list of tests for all backends; a backend's mesh against the host's |
//! | [`chains`] | random closed chains of facets on the lattice, for proptest |
//! | [`flows`] | flows with known answers |
//! | [`literature`] | flows whose answer is known: formulas, printed tables |
//! | [`rules`] | random rules for refining, for proptest |
//! | [`bodies`] | surfaces to frames to meshes, rotations, splitting, shapes of known volume |
//! | [`scans`] | the files of `../shared/meshes` |

pub mod analytic;
pub mod arrays;
pub mod backends;
pub mod bodies;
pub mod chains;
pub mod compare;
pub mod flows;
pub mod literature;
pub mod oracle;
pub mod rules;
pub mod scans;
pub mod spectrum;
