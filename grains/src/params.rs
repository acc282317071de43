//! Materials, contacts, the box: what the user gives, and its checks.

use crate::GrainError;
use crate::law::PairLaw;

/// An elastic material.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Material {
    /// Young's modulus, in Pa.
    pub young: f64,
    /// Poisson's ratio, above -1 and at most 0.5.
    pub poisson: f64,
    /// Density, in kg/m³; not used for walls.
    pub density: f64,
}

/// What two materials in contact have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
    /// Restitution of a normal impact: speed after over speed before; above 0, at most 1.
    pub restitution: f64,
    /// Coulomb's friction coefficient, static and sliding.
    pub friction: f64,
    /// Rolling friction: largest rolling torque over normal force and effective radius.
    pub rolling: f64,
}

/// Materials and the laws of their contacts, by index.
#[derive(Debug, Clone, PartialEq)]
pub struct Materials {
    list: Vec<Material>,
    /// n × n, symmetric.
    laws: Vec<PairLaw>,
}

/// Most materials.
pub const MAX_MATERIALS: usize = 256;

fn check(
    what: &'static str,
    value: f64,
    good: bool,
    range: &'static str,
) -> Result<(), GrainError> {
    match good && value.is_finite() {
        true => Ok(()),
        false => Err(GrainError::Value { what, value, range }),
    }
}

const POSITIVE: &str = "positive and finite";
const NOT_NEGATIVE: &str = "finite and not negative";

impl Materials {
    /// Materials whose contacts are all alike.
    ///
    /// # Errors
    /// As [`Materials::new`].
    pub fn alike(list: &[Material], touch: Touch) -> Result<Self, GrainError> {
        Self::new(list, |_, _| touch)
    }

    /// Materials, and their contacts by two indices, the lower one first.
    ///
    /// # Errors
    /// No material, more than [`MAX_MATERIALS`], or a number that is not in its range: zero stiffness among them.
    pub fn new(
        list: &[Material],
        touch: impl Fn(usize, usize) -> Touch,
    ) -> Result<Self, GrainError> {
        let n = list.len();
        if n == 0 || n > MAX_MATERIALS {
            let what = "number of materials";
            return Err(GrainError::Value {
                what,
                value: n as f64,
                range: "1 to 256",
            });
        }
        for m in list {
            check("Young's modulus", m.young, m.young > 0.0, POSITIVE)?;
            let good = m.poisson > -1.0 && m.poisson <= 0.5;
            check(
                "Poisson's ratio",
                m.poisson,
                good,
                "above -1 and at most 0.5",
            )?;
            check("density", m.density, m.density > 0.0, POSITIVE)?;
        }
        let mut laws = Vec::with_capacity(n * n);
        for a in 0..n {
            for b in 0..n {
                let touch = touch(a.min(b), a.max(b));
                let e = touch.restitution;
                check(
                    "restitution",
                    e,
                    e > 0.0 && e <= 1.0,
                    "above 0 and at most 1",
                )?;
                check(
                    "friction",
                    touch.friction,
                    touch.friction >= 0.0,
                    NOT_NEGATIVE,
                )?;
                check(
                    "rolling friction",
                    touch.rolling,
                    touch.rolling >= 0.0,
                    NOT_NEGATIVE,
                )?;
                laws.push(PairLaw::new(&list[a], &list[b], &touch));
            }
        }
        Ok(Self {
            list: list.to_vec(),
            laws,
        })
    }

    /// The materials, in order.
    pub fn list(&self) -> &[Material] {
        &self.list
    }

    /// The law of two materials.
    ///
    /// # Panics
    /// Where an index is beyond the list.
    #[inline]
    pub fn law(&self, a: u8, b: u8) -> &PairLaw {
        &self.laws[usize::from(a) * self.list.len() + usize::from(b)]
    }

    /// Whether any contact has rolling friction.
    pub fn has_rolling(&self) -> bool {
        self.laws.iter().any(|law| law.rolling > 0.0)
    }
}

/// What is at the two faces of the box along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoxAxis {
    /// What leaves at one face enters at the other.
    Periodic,
    /// A wall of this material at the lower and the upper face; `None`: open, grains may leave.
    Walls([Option<u8>; 2]),
}

/// The box of the grains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrainBox {
    /// Lower corner, in m.
    pub lower: [f64; 3],
    /// Upper corner, in m.
    pub upper: [f64; 3],
    /// What is at its faces.
    pub axes: [BoxAxis; 3],
}

/// Names of axes.
pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];

impl GrainBox {
    /// A box with walls of one material at all faces.
    pub fn closed(lower: [f64; 3], upper: [f64; 3], material: u8) -> Self {
        Self {
            lower,
            upper,
            axes: [BoxAxis::Walls([Some(material); 2]); 3],
        }
    }

    /// Length along an axis.
    pub fn length(&self, axis: usize) -> f64 {
        self.upper[axis] - self.lower[axis]
    }

    pub(crate) fn is_periodic(&self, axis: usize) -> bool {
        self.axes[axis] == BoxAxis::Periodic
    }

    /// Period, and half of it, by axis; 0 and infinity along axes that are not periodic.
    pub(crate) fn periods(&self) -> [[f64; 2]; 3] {
        std::array::from_fn(|a| match self.is_periodic(a) {
            true => [self.length(a), 0.5 * self.length(a)],
            false => [0.0, f64::INFINITY],
        })
    }

    pub(crate) fn check(&self, materials: usize) -> Result<(), GrainError> {
        let corners = self.lower.iter().chain(&self.upper);
        let finite = corners.clone().all(|x| x.is_finite());
        if !finite || (0..3).any(|a| !(self.length(a) > 0.0 && self.length(a).is_finite())) {
            return Err(GrainError::Box {
                lower: self.lower,
                upper: self.upper,
            });
        }
        for axis in self.axes {
            if let BoxAxis::Walls(walls) = axis {
                for material in walls.into_iter().flatten() {
                    check_material("material of a face", material, materials)?;
                }
            }
        }
        Ok(())
    }
}

pub(crate) fn check_material(
    what: &'static str,
    material: u8,
    materials: usize,
) -> Result<(), GrainError> {
    let got = usize::from(material);
    match got < materials {
        true => Ok(()),
        false => Err(GrainError::Length {
            what,
            got,
            expected: materials - 1,
        }),
    }
}

/// The parameters of a bed.
#[derive(Debug, Clone, PartialEq)]
pub struct GrainParams {
    /// Materials of grains and walls.
    pub materials: Materials,
    /// The box.
    pub domain: GrainBox,
    /// Acceleration of gravity, in m/s².
    pub gravity: [f64; 3],
    /// Time step, in s; see [`crate::rayleigh_time`] and [`crate::hertz_time`].
    pub dt: f64,
    /// Largest overlap of a pair at the start, as a share of the smaller radius; also that of a grain with a wall.
    pub max_overlap: f64,
    /// Distance up to which pairs are candidates before they touch, as a share of the mean radius.
    pub skin: f64,
}

/// [`GrainParams::skin`] that was fastest for beds at rest and while settling.
pub const SKIN: f64 = 0.25;

impl GrainParams {
    /// Parameters without gravity, with the default skin and 1 % of overlap at the start.
    pub fn new(materials: Materials, domain: GrainBox, dt: f64) -> Self {
        Self {
            materials,
            domain,
            gravity: [0.0; 3],
            dt,
            max_overlap: 0.01,
            skin: SKIN,
        }
    }

    pub(crate) fn check(&self) -> Result<(), GrainError> {
        self.domain.check(self.materials.list.len())?;
        for g in self.gravity {
            check("gravity", g, true, "finite")?;
        }
        check("time step", self.dt, self.dt > 0.0, POSITIVE)?;
        let good = self.max_overlap >= 0.0 && self.max_overlap < 1.0;
        check(
            "largest overlap",
            self.max_overlap,
            good,
            "from 0 to below 1",
        )?;
        let good = self.skin > 0.0 && self.skin <= 10.0;
        check("skin", self.skin, good, "above 0 and at most 10")
    }
}
