//! Solid voxelization.
