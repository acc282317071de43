//! Meshes of bodies, made here and scanned, against what is known of them.
//!
//! One program for all these tests: each would compile the same stages of the mesher again.

mod analytic;
mod assemblies;
mod bunny;
mod closed_files;
mod connected;
mod negative_controls;
mod open_scans;
mod oracle;
mod oracle_by_hand;
mod parry;
mod placement_of_box;
mod poses;
mod robust;
mod rules;
mod sheets;
mod silhouette;
mod surfaces;
