//! Where cutlink runs.
