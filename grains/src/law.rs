//! The contact law: Hertz, Mindlin with history, Coulomb, rolling friction. One function for pairs and for walls.
//!
//! | part | equation | source |
//! |---|---|---|
//! | normal | F = 4/3 E* √R* δ^(3/2) + γ_n v_n | Hertz 1882 |
//! | damping | γ = 2 √(5/6) β √(S m*), S_n = 2 E* √(R* δ), S_t = 8 G* √(R* δ) | Tsuji, Tanaka, Ishida 1992; Antypov, Elliott 2011 |
//! | β | −ln e / √(π² + ln² e): restitution e at any speed | Antypov, Elliott 2011, eq. 17 |
//! | tangential | F = −S_t ξ − γ_t v_t, at most μ F_n | Mindlin, Deresiewicz 1953, without micro-slip |
//! | rolling | M = −S_t R*² θ − c ω_r, at most μ_r R* F_n | Iwashita, Oda 1998; Ai et al. 2011, type C |
//!
//! ξ and θ, the histories, are the integrals of the tangential velocity and of the rolling angular velocity over the
//! contact, kept in the tangential plane, and shortened to where the spring is at Coulomb's or the rolling limit. The normal force
//! may pull in the last moments of an impact: only so is the restitution exact. Limits of friction take no pulling force.

use crate::params::{Material, Touch};
use crate::vec3::{Vec3, across, along, dot, scale};
use std::f64::consts::PI;

/// Coefficients of the contacts of two materials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairLaw {
    /// Effective Young's modulus E*, in Pa: 1/E* = (1−ν₁²)/E₁ + (1−ν₂²)/E₂.
    pub young: f64,
    /// Effective shear modulus G*, in Pa: 1/G* = (2−ν₁)/G₁ + (2−ν₂)/G₂.
    pub shear: f64,
    /// Damping β of the restitution.
    pub damping: f64,
    /// √(S_t / S_n), by which the tangential damping is larger than the normal one.
    pub ratio: f64,
    /// Coulomb's friction coefficient.
    pub friction: f64,
    /// Rolling friction.
    pub rolling: f64,
}

impl PairLaw {
    pub(crate) fn new(a: &Material, b: &Material, touch: &Touch) -> Self {
        let young = |m: &Material| (1.0 - m.poisson * m.poisson) / m.young;
        let shear = |m: &Material| (2.0 - m.poisson) * 2.0 * (1.0 + m.poisson) / m.young;
        let log = touch.restitution.ln();
        let (young, shear) = (1.0 / (young(a) + young(b)), 1.0 / (shear(a) + shear(b)));
        Self {
            young,
            shear,
            ratio: 2.0 * (shear / young).sqrt(),
            damping: -log / (PI * PI + log * log).sqrt(),
            friction: touch.friction,
            rolling: touch.rolling,
        }
    }
}

/// A contact of a first body with a second one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meeting {
    /// Unit vector from the first to the second.
    pub(crate) normal: Vec3,
    /// Overlap, in m.
    pub(crate) overlap: f64,
    /// Effective radius R* = r₁ r₂ / (r₁ + r₂); at a wall the radius.
    pub(crate) radius: f64,
    /// Effective mass m* = m₁ m₂ / (m₁ + m₂); at a wall the mass.
    pub(crate) mass: f64,
    /// Velocity of the first against the second at the contact.
    pub(crate) velocity: Vec3,
    /// Angular velocity of the first less that of the second.
    pub(crate) spin: Vec3,
}

/// What a contact remembers: the tangential displacement ξ, in m, and the rolling angle θ, both half a step ahead, so that
/// the integrals follow the trapezoidal rule.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Memory {
    pub(crate) slide: Vec3,
    pub(crate) roll: Vec3,
}

/// Force and rolling torque on the first body; the opposite ones act on the second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Push {
    pub(crate) force: Vec3,
    pub(crate) roll: Vec3,
}

/// √(5/6).
const ROOT: f64 = 0.912_870_929_175_276_9;

/// The forces of a contact after a step of `dt`, whose memory is brought up to date.
#[inline(always)]
pub(crate) fn push(law: &PairLaw, meeting: &Meeting, dt: f64, memory: &mut Memory) -> Push {
    let n = meeting.normal;
    let root = (meeting.radius * meeting.overlap).sqrt();
    let (stiff_n, stiff_t) = (2.0 * law.young * root, 8.0 * law.shear * root);
    let damp_n = 2.0 * ROOT * law.damping * (stiff_n * meeting.mass).sqrt();
    let speed = dot(meeting.velocity, n);
    let normal = 2.0 / 3.0 * stiff_n * meeting.overlap + damp_n * speed;
    let mut force = scale(-normal, n);
    let pressed = normal.max(0.0);
    if law.friction > 0.0 {
        let sliding = along(meeting.velocity, -speed, n);
        let damp_t = law.ratio * damp_n;
        let slide = along(across(memory.slide, n), 0.5 * dt, sliding);
        let trial = along(scale(-stiff_t, slide), -damp_t, sliding);
        let (length, limit) = (dot(trial, trial), law.friction * pressed);
        let held = match length > limit * limit {
            true => scale(limit / length.sqrt(), trial),
            false => trial,
        };
        // The spring alone is kept within the limit: with the damping, the displacement would be far off while the
        // overlap is small, where the damping is the larger part.
        let spring = stiff_t * stiff_t * dot(slide, slide);
        let slide = match spring > limit * limit {
            true => scale(limit / spring.sqrt(), slide),
            false => slide,
        };
        memory.slide = along(slide, 0.5 * dt, sliding);
        force = along(force, 1.0, held);
    }
    let mut torque = [0.0; 3];
    if law.rolling > 0.0 {
        let stiff_r = stiff_t * meeting.radius * meeting.radius;
        // The inertia that rolls about the contact: 7/5 m* R*² for spheres on a wall, as an estimate for pairs.
        let inertia = 1.4 * meeting.mass * meeting.radius * meeting.radius;
        let damp_r = 2.0 * law.damping * (inertia * stiff_r).sqrt();
        let rolling = across(meeting.spin, n);
        let angle = along(across(memory.roll, n), 0.5 * dt, rolling);
        let spring = scale(-stiff_r, angle);
        let (length, limit) = (dot(spring, spring), law.rolling * meeting.radius * pressed);
        let angle = if length > limit * limit {
            torque = scale(limit / length.sqrt(), spring);
            scale(-1.0 / stiff_r, torque)
        } else {
            torque = along(spring, -damp_r, rolling);
            angle
        };
        memory.roll = along(angle, 0.5 * dt, rolling);
    }
    Push {
        force,
        roll: torque,
    }
}

/// Time that a Rayleigh wave needs for half the circumference of a grain, in s: Li, Xu, Thornton 2005. Explicit steps
/// resolve contacts up to a fifth of it.
pub fn rayleigh_time(radius: f64, material: &Material) -> f64 {
    let shear = material.young / (2.0 * (1.0 + material.poisson));
    PI * radius * (material.density / shear).sqrt() / (0.1631 * material.poisson + 0.8766)
}

/// Duration of the elastic impact of two bodies at this speed, in s: Hertz 1882; Johnson 1985, §11.4.
pub fn hertz_time(law: &PairLaw, radius: f64, mass: f64, speed: f64) -> f64 {
    let depth = (15.0 * mass * speed * speed / (16.0 * law.young * radius.sqrt())).powf(0.4);
    2.943_275_5 * depth / speed
}

/// Elastic energy of a normal overlap, in J: 8/15 E* √R* δ^(5/2).
pub(crate) fn stored_energy(law: &PairLaw, radius: f64, overlap: f64) -> f64 {
    8.0 / 15.0 * law.young * radius.sqrt() * overlap * overlap * overlap.sqrt()
}

/// The whole mass of a sphere.
pub(crate) fn sphere_mass(radius: f64, density: f64) -> f64 {
    4.0 / 3.0 * PI * radius * radius * radius * density
}
