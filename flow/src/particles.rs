//! Spheres that a flow has, for outputs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Spheres by id, in SI units.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParticleState {
    /// Centres, in m.
    pub center: Vec<[f64; 3]>,
    /// Velocities, in m/s.
    pub velocity: Vec<[f64; 3]>,
    /// Angular velocities, in rad/s.
    pub spin: Vec<[f64; 3]>,
    /// Radii, in m.
    pub radius: Vec<f64>,
    /// Indices of materials.
    pub material: Vec<u8>,
    /// Contacts of each, walls included.
    pub contacts: Vec<u32>,
    /// Walls that pictures show with them.
    pub walls: Arc<ShownWalls>,
}

impl ParticleState {
    /// Spheres.
    pub fn len(&self) -> usize {
        self.center.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.center.is_empty()
    }

    /// Removes all spheres; memory is kept.
    pub fn clear(&mut self) {
        self.center.clear();
        self.velocity.clear();
        self.spin.clear();
        self.radius.clear();
        self.material.clear();
        self.contacts.clear();
    }
}

/// Surfaces beside spheres, as pictures show them, in m.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShownWalls {
    /// Facets that are drawn where they face away from the eye: those of containers with outward normals, of bodies with inward
    /// ones.
    pub facets: Vec<[[f64; 3]; 3]>,
    /// Edges: of sharp corners and of openings.
    pub edges: Vec<[[f64; 3]; 2]>,
}

/// What colours spheres in a render.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParticleColour {
    /// Magnitude of the velocity, m/s.
    #[default]
    Speed,
    /// Magnitude of the angular velocity, rad/s.
    Spin,
    /// The radius, m.
    Radius,
    /// The number of contacts.
    Contacts,
    /// The index of the material.
    Material,
}
