//! Bodies that move, as written.

use crate::solve::value::Value;
use cutlink_meshing::options::Numbers;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a body moves, by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MotionKind {
    /// Along a given path.
    #[default]
    Prescribed,
    /// By the forces of the fluid, its weight, springs and dampers.
    Free,
}

/// Where the finest level is for a body that moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MotionRefinement {
    /// Along the whole path of the run.
    Path,
    /// Around the body: the mesh changes as it moves.
    Follow,
    /// Where the regions of the mesh say.
    Fixed,
}

/// A body that moves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MotionTable {
    /// `prescribed`: along a path; `free`: by the forces of the fluid and others. Default: `prescribed`.
    pub kind: MotionKind,
    /// Patches of the body, which together are closed: names or patterns such as `wing*`. Default: the name of the
    /// table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<String>,
    /// Where the finest level is: `path` (along the whole path of the run, of `prescribed` alone), `follow` (around the body: the mesh
    /// follows it) or `fixed` (where `refine` of `[mesh]` says). Default: `path` of `prescribed`, `follow` of `free`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refinement: Option<MotionRefinement>,
    /// Of `prescribed`: the point that `translation` moves and `angle` turns about, m, at its place in the surface.
    /// Default: the centre of mass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center: Option<Vec<f64>>,
    /// Of `prescribed`: displacement from the place in the surface, m; numbers or expressions in `t`. Default: zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translation: Option<Vec<Value>>,
    /// Of `prescribed`: angle from the place in the surface, rad; a number or an expression in `t`. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angle: Option<Value>,
    /// Of `prescribed`: axis of `angle`; required with it in 3D.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<Vec<f64>>,
    /// Of `free`: density of the body, kg/m³; this or `mass` is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Of `free`: mass, kg, in 2D per metre of depth, distributed evenly over the volume. Default:
    /// from `density`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Of `free`: acceleration of gravity, m/s²; the weight less the buoyancy acts on the body. Default: zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gravity: Option<Vec<f64>>,
    /// Of `free`: what stays: of `x`, `y`, `z`, and turns `rx`, `ry`, `rz`. Default: nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locked: Vec<String>,
    /// Of `free`: stiffness of springs to the first place, by `x`, `y`, `z`, N/m, and `rx`, `ry`, `rz`, N m/rad; in 2D
    /// per metre of depth. Default: none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub springs: BTreeMap<String, f64>,
    /// Of `free`: dampers by the same names, N s/m and N m s/rad. Default: none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dampers: BTreeMap<String, f64>,
    /// Of `free`: velocity at the start, m/s. Default: zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub velocity: Option<Vec<f64>>,
    /// Of `free`: angular velocity at the start, rad/s; in 2D one number. Default: zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omega: Option<Numbers>,
}
