//! What a flow is set up with, as kernels have it.

use crate::contact::Contact;
use crate::params::{BoxFace, FlowParams};
use bytemuck::{Pod, Zeroable};

/// What is at a side of the box: `BoxFace` of `params.cuh`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
struct DeviceFace<const D: usize> {
    velocity: [f64; D],
    value: f64,
    liquid: f64,
    kind: u32,
    pad: u32,
}

/// A value for kernels: `Params` of `params.cuh`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub(crate) struct DeviceParams<const D: usize> {
    density: [f64; 2],
    viscosity: [f64; 2],
    surface_tension: f64,
    gravity: [f64; D],
    center: [f64; D],
    spin: [f64; 3],
    rate: [f64; 3],
    fixed_curvature: f64,
    slopes: [[f64; 2]; D],
    faces: [[DeviceFace<D>; 2]; D],
    turns: u32,
    has_fixed_curvature: u32,
}

// SAFETY: numbers that may be zero.
unsafe impl<const D: usize> Zeroable for DeviceParams<D> {}
// SAFETY: numbers of any bits, without padding: two of 4 bytes follow one another, here and in each face.
unsafe impl<const D: usize> Pod for DeviceParams<D> {}

impl<const D: usize> DeviceParams<D> {
    pub(crate) fn new(params: &FlowParams<D>) -> Self {
        let turning = params.turning.as_ref();
        Self {
            density: params.phases.density,
            viscosity: params.phases.viscosity,
            surface_tension: params.phases.surface_tension,
            gravity: params.gravity,
            center: turning.map_or([0.0; D], |of| of.center),
            spin: turning.map_or([0.0; 3], |of| of.spin),
            rate: turning.map_or([0.0; 3], |of| of.rate),
            fixed_curvature: params.fixed_curvature.unwrap_or(0.0),
            slopes: Contact::new(params).slopes,
            faces: params.faces.map(|pair| pair.map(DeviceFace::of)),
            turns: u32::from(turning.is_some()),
            has_fixed_curvature: u32::from(params.fixed_curvature.is_some()),
        }
    }
}

impl<const D: usize> DeviceParams<D> {
    /// Whether curvature is found, and not given.
    pub(super) fn finds_curvature(&self) -> bool {
        self.surface_tension > 0.0 && self.has_fixed_curvature == 0
    }

    /// Whether lines between cells tell of weight: see [`Lines`](crate::lines::Lines).
    pub(super) fn has_lines(&self) -> bool {
        let has_head = self.turns != 0 || self.gravity.iter().any(|&g| g != 0.0);
        has_head && self.density[0] != self.density[1]
    }
}

impl<const D: usize> DeviceFace<D> {
    fn of(face: BoxFace<D>) -> Self {
        let mut out = Self {
            velocity: [0.0; D],
            value: 0.0,
            liquid: 0.0,
            kind: 0,
            pad: 0,
        };
        match face {
            BoxFace::Slip => {}
            BoxFace::NoSlip => out.kind = 1,
            BoxFace::Inflow { velocity, liquid } => {
                (out.kind, out.velocity, out.liquid) = (2, velocity, liquid);
            }
            BoxFace::Pressure { value, liquid } => {
                (out.kind, out.value, out.liquid) = (3, value, liquid);
            }
        }
        out
    }
}
