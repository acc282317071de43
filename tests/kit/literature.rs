//! Flows whose answer is known: formulas, and tables that others have printed.
//!
//! Formulas are exact solutions of the incompressible Navier-Stokes equations, in any consistent
//! units; viscosities are kinematic unless named dynamic. Tables carry the source they were read
//! from; [`CIRCLE`] and [`SQUARE`] are as J26 (Jaber, Essel & Sullivan, *GPU-native embedding of
//! complex geometries in adaptive octree grids applied to the lattice Boltzmann method*, 2026)
//! prints them, not as the works that it cites do.

use std::f64::consts::PI;

/// Velocity at `y` between plates at rest at 0 and `height`, driven by `force` per unit mass (or
/// minus the gradient of the kinematic pressure).
#[must_use]
pub fn poiseuille(y: f64, height: f64, force: f64, viscosity: f64) -> f64 {
    force / (2.0 * viscosity) * y * (height - y)
}

/// Velocity at `y` between a plate at rest at 0 and one of `speed` at `height`.
#[must_use]
pub fn couette(y: f64, height: f64, speed: f64) -> f64 {
    speed * y / height
}

/// Two coaxial cylinders, each turning at its own rate, with fluid between them.
///
/// Landau & Lifshitz, *Fluid Mechanics*, 2nd ed. (1987), section 18.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CircularCouette {
    /// Radii of the inner and the outer cylinder.
    pub radii: [f64; 2],
    /// Their angular speeds.
    pub speeds: [f64; 2],
}

impl CircularCouette {
    /// Azimuthal velocity at a distance from the axis between the radii.
    #[must_use]
    pub fn velocity(&self, radius: f64) -> f64 {
        let [inner, outer] = self.radii.map(|r| r * r);
        let gap = outer - inner;
        let solid = (self.speeds[1] * outer - self.speeds[0] * inner) / gap;
        let vortex = (self.speeds[0] - self.speeds[1]) * inner * outer / gap;
        solid * radius + vortex / radius
    }

    /// Torque of the fluid on the inner cylinder, per unit of its length; that on the outer one is
    /// its opposite.
    #[must_use]
    pub fn torque(&self, dynamic_viscosity: f64) -> f64 {
        let [inner, outer] = self.radii.map(|r| r * r);
        let slip = self.speeds[1] - self.speeds[0];
        4.0 * PI * dynamic_viscosity * slip * inner * outer / (outer - inner)
    }
}

/// Decaying vortices in a periodic square: Taylor & Green, Proc. R. Soc. A 158 (1937) 499, in two
/// dimensions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaylorGreen {
    /// Highest speed at time 0.
    pub speed: f64,
    /// Wave number along x and along y: 2 pi over the side of the square.
    pub wave_number: f64,
    /// Kinematic viscosity.
    pub viscosity: f64,
}

impl TaylorGreen {
    /// Velocity at a point and a time.
    #[must_use]
    pub fn velocity(&self, [x, y]: [f64; 2], time: f64) -> [f64; 2] {
        let (k, now) = (self.wave_number, self.speed * self.decay(time));
        [
            -now * (k * x).cos() * (k * y).sin(),
            now * (k * x).sin() * (k * y).cos(),
        ]
    }

    /// Pressure over density about its mean.
    #[must_use]
    pub fn pressure(&self, [x, y]: [f64; 2], time: f64) -> f64 {
        let (k, now) = (self.wave_number, self.speed * self.decay(time));
        -0.25 * now * now * ((2.0 * k * x).cos() + (2.0 * k * y).cos())
    }

    /// Factor of all velocities since time 0; that of the kinetic energy is its square.
    #[must_use]
    pub fn decay(&self, time: f64) -> f64 {
        (-2.0 * self.viscosity * self.wave_number.powi(2) * time).exp()
    }
}

/// Forces on a cylinder that sheds vortices: coefficients by its diameter or side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shedding {
    /// Who found them.
    pub source: &'static str,
    /// Mean of the drag coefficient.
    pub drag: f64,
    /// Amplitude of the drag coefficient, where it is told.
    pub drag_amplitude: Option<f64>,
    /// Amplitude of the lift coefficient, where it is told.
    pub lift_amplitude: Option<f64>,
    /// Strouhal number.
    pub strouhal: f64,
}

const fn shedding(
    source: &'static str,
    drag: f64,
    drag_amplitude: Option<f64>,
    lift_amplitude: Option<f64>,
    strouhal: f64,
) -> Shedding {
    Shedding {
        source,
        drag,
        drag_amplitude,
        lift_amplitude,
        strouhal,
    }
}

/// The circular cylinder in a plane stream at Re 100: J26, table 8(a).
pub const CIRCLE: [Shedding; 5] = [
    shedding("Russell & Wang 2003", 1.34, Some(0.007), Some(0.276), 0.165),
    shedding("Calhoun 2002", 1.33, Some(0.014), Some(0.298), 0.175),
    shedding(
        "Liu, Zheng & Sung 1998",
        1.35,
        Some(0.012),
        Some(0.339),
        0.165,
    ),
    shedding("Choi et al. 2007", 1.34, Some(0.011), Some(0.315), 0.164),
    shedding("Kim, Kim & Choi 2001", 1.33, None, Some(0.320), 0.165),
];

/// The square cylinder in a plane stream at Re 100: J26, table 9(a). J26 writes nu = u D / Re, D the diameter of its
/// circle, and gives the square the side 2 D: which length Re has there is not said. Lift amplitudes are J26's
/// conversions of the RMS values that the works print.
pub const SQUARE: [Shedding; 5] = [
    shedding("Fakhari & Lee 2014", 1.51, None, Some(0.277), 0.149),
    shedding("Saha et al. 2000", 1.51, None, None, 0.159),
    shedding("Singh et al. 2009", 1.52, None, Some(0.228), 0.150),
    shedding("Pavlov et al. 2000", 1.51, None, Some(0.194), 0.150),
    shedding("Jaber et al. 2025", 1.51, None, None, 0.147),
];

/// What J26 found with so many levels: [simple bounce-back, interpolated bounce-back].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refined {
    /// Levels of the grid, the root grid's included.
    pub levels: u32,
    /// Mean of the drag coefficient.
    pub drag: [f64; 2],
    /// Amplitude of the lift coefficient.
    pub lift_amplitude: [f64; 2],
    /// Strouhal number.
    pub strouhal: [f64; 2],
}

const fn refined(levels: u32, drag: [f64; 2], lift: [f64; 2], strouhal: [f64; 2]) -> Refined {
    Refined {
        levels,
        drag,
        lift_amplitude: lift,
        strouhal,
    }
}

/// The circular cylinder at Re 100 in J26, table 8(b).
pub const CIRCLE_J26: [Refined; 4] = [
    refined(2, [1.39, 1.36], [0.345, 0.314], [0.161, 0.162]),
    refined(3, [1.36, 1.35], [0.340, 0.328], [0.164, 0.164]),
    refined(4, [1.35, 1.34], [0.334, 0.328], [0.164, 0.165]),
    refined(5, [1.34, 1.34], [0.330, 0.327], [0.165, 0.165]),
];

/// The square cylinder at Re 100 in J26, table 9(b).
pub const SQUARE_J26: [Refined; 4] = [
    refined(2, [1.45, 1.46], [0.262, 0.262], [0.143, 0.143]),
    refined(3, [1.44, 1.46], [0.255, 0.262], [0.144, 0.142]),
    refined(4, [1.44, 1.45], [0.255, 0.256], [0.143, 0.143]),
    refined(5, [1.44, 1.44], [0.252, 0.252], [0.143, 0.143]),
];

/// Velocities on the centre lines of a square cavity of side 1 whose upper lid moves along x with
/// speed 1: Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982) 387, tables I and II.
///
/// Not read from the print but from public transcriptions, each value as most of them have it. They
/// disagree at Re 1000 only: one in the velocity along x at 0.9531 and 0.9609, one in that along y
/// at 0.8047 (-0.31996).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cavity {
    /// Reynolds number by the side and the speed of the lid.
    pub reynolds: f64,
    /// Pairs of y and the velocity along x at x = 1/2.
    pub along_x: [[f64; 2]; 17],
    /// Pairs of x and the velocity along y at y = 1/2.
    pub along_y: [[f64; 2]; 17],
}

/// The cavity at Re 100.
pub const CAVITY_100: Cavity = Cavity {
    reynolds: 100.0,
    along_x: [
        [0.0000, 0.00000],
        [0.0547, -0.03717],
        [0.0625, -0.04192],
        [0.0703, -0.04775],
        [0.1016, -0.06434],
        [0.1719, -0.10150],
        [0.2813, -0.15662],
        [0.4531, -0.21090],
        [0.5000, -0.20581],
        [0.6172, -0.13641],
        [0.7344, 0.00332],
        [0.8516, 0.23151],
        [0.9531, 0.68717],
        [0.9609, 0.73722],
        [0.9688, 0.78871],
        [0.9766, 0.84123],
        [1.0000, 1.00000],
    ],
    along_y: [
        [0.0000, 0.00000],
        [0.0625, 0.09233],
        [0.0703, 0.10091],
        [0.0781, 0.10890],
        [0.0938, 0.12317],
        [0.1563, 0.16077],
        [0.2266, 0.17507],
        [0.2344, 0.17527],
        [0.5000, 0.05454],
        [0.8047, -0.24533],
        [0.8594, -0.22445],
        [0.9063, -0.16914],
        [0.9453, -0.10313],
        [0.9531, -0.08864],
        [0.9609, -0.07391],
        [0.9688, -0.05906],
        [1.0000, 0.00000],
    ],
};

/// The cavity at Re 1000.
pub const CAVITY_1000: Cavity = Cavity {
    reynolds: 1000.0,
    along_x: [
        [0.0000, 0.00000],
        [0.0547, -0.18109],
        [0.0625, -0.20196],
        [0.0703, -0.22220],
        [0.1016, -0.29730],
        [0.1719, -0.38289],
        [0.2813, -0.27805],
        [0.4531, -0.10648],
        [0.5000, -0.06080],
        [0.6172, 0.05702],
        [0.7344, 0.18719],
        [0.8516, 0.33304],
        [0.9531, 0.46604],
        [0.9609, 0.51117],
        [0.9688, 0.57492],
        [0.9766, 0.65928],
        [1.0000, 1.00000],
    ],
    along_y: [
        [0.0000, 0.00000],
        [0.0625, 0.27485],
        [0.0703, 0.29012],
        [0.0781, 0.30353],
        [0.0938, 0.32627],
        [0.1563, 0.37095],
        [0.2266, 0.33075],
        [0.2344, 0.32235],
        [0.5000, 0.02526],
        [0.8047, -0.31966],
        [0.8594, -0.42665],
        [0.9063, -0.51550],
        [0.9453, -0.39188],
        [0.9531, -0.33714],
        [0.9609, -0.27669],
        [0.9688, -0.21388],
        [1.0000, 0.00000],
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worst::worst;

    const H: f64 = 1e-3;

    /// First and second derivative by central differences.
    fn derivatives(f: impl Fn(f64) -> f64, x: f64) -> [f64; 2] {
        let (low, mid, high) = (f(x - H), f(x), f(x + H));
        [(high - low) / (2.0 * H), (high - 2.0 * mid + low) / (H * H)]
    }

    #[test]
    fn plane_flows_balance_forces_and_stick_to_walls() {
        let (height, force, viscosity) = (3.0, 0.7, 0.2);
        let flow = |y| poiseuille(y, height, force, viscosity);
        for y in [0.3, 1.0, 2.9] {
            assert!((viscosity * derivatives(flow, y)[1] + force).abs() < 1e-8);
            assert!(derivatives(|y| couette(y, height, 2.0), y)[1].abs() < 1e-8);
        }
        assert_eq!([flow(0.0), flow(height)], [0.0, 0.0]);
        assert_eq!([couette(0.0, 3.0, 2.0), couette(3.0, 3.0, 2.0)], [0.0, 2.0]);
    }

    #[test]
    fn torque_is_that_of_the_shear_at_every_radius() {
        let flow = CircularCouette {
            radii: [1.0, 2.5],
            speeds: [0.3, -0.8],
        };
        for k in 0..2 {
            let wall = flow.velocity(flow.radii[k]);
            assert!((wall - flow.speeds[k] * flow.radii[k]).abs() < 1e-14);
        }
        for r in [1.0, 1.3, 2.5] {
            // Shear of the velocity less rigid rotation: r d(v/r)/dr, acting outward to inward.
            let shear = r * derivatives(|r| flow.velocity(r) / r, r)[0];
            let torque = 0.1 * shear * 2.0 * PI * r * r;
            assert!((flow.torque(0.1) - torque).abs() < 1e-5, "{r} {torque}");
        }
        // A resting inner cylinder is dragged along with the outer.
        let dragged = CircularCouette {
            radii: [1.0, 2.0],
            speeds: [0.0, 1.0],
        };
        assert!(dragged.torque(1.0) > 0.0);
    }

    #[test]
    fn vortices_obey_the_navier_stokes_equations() {
        let flow = TaylorGreen {
            speed: 0.9,
            wave_number: 1.7,
            viscosity: 0.05,
        };
        let (x, y, t) = (0.4, 1.1, 0.8);
        let [u, v] = flow.velocity([x, y], t);
        let mut divergence = 0.0;
        for axis in 0..2 {
            let along_x = derivatives(|x| flow.velocity([x, y], t)[axis], x);
            let along_y = derivatives(|y| flow.velocity([x, y], t)[axis], y);
            let rate = derivatives(|t| flow.velocity([x, y], t)[axis], t)[0];
            let push = [
                derivatives(|x| flow.pressure([x, y], t), x)[0],
                derivatives(|y| flow.pressure([x, y], t), y)[0],
            ][axis];
            let viscous = flow.viscosity * (along_x[1] + along_y[1]);
            let rest = rate + u * along_x[0] + v * along_y[0] + push - viscous;
            assert!(rest.abs() < 1e-5, "{axis} {rest}");
            divergence += [along_x[0], along_y[0]][axis];
        }
        assert!(divergence.abs() < 1e-5);
    }

    /// The integral of a table by parabolas: through each interval the mean of the two that also
    /// pass through a neighbour.
    fn integral(table: &[[f64; 2]]) -> f64 {
        let parabola = |p: [[f64; 2]; 3], x: f64| {
            (0..3)
                .map(|i| {
                    let others = (0..3).filter(|&j| j != i);
                    others.fold(p[i][1], |f, j| f * (x - p[j][0]) / (p[i][0] - p[j][0]))
                })
                .sum::<f64>()
        };
        let mut sum = 0.0;
        for k in 0..table.len() - 1 {
            let (a, b) = (table[k][0], table[k + 1][0]);
            let starts = [k.wrapping_sub(1), k];
            let through: Vec<[[f64; 2]; 3]> = starts
                .iter()
                .filter_map(|&s| table.get(s..s.checked_add(3)?)?.try_into().ok())
                .collect();
            for p in &through {
                let simpson = parabola(*p, a) + 4.0 * parabola(*p, 0.5 * (a + b)) + parabola(*p, b);
                sum += (b - a) / 6.0 * simpson / through.len() as f64;
            }
        }
        sum
    }

    #[test]
    fn nothing_flows_through_the_centre_lines_of_the_cavity() {
        for cavity in [CAVITY_100, CAVITY_1000] {
            for table in [cavity.along_x, cavity.along_y] {
                assert!(table.windows(2).all(|w| w[0][0] < w[1][0]));
                let flow = integral(&table);
                assert!(flow.abs() < 0.01, "Re {}: {flow}", cavity.reynolds);
                // A wrong sign shows.
                let mut wrong = table;
                wrong[6][1] = -wrong[6][1];
                assert!(integral(&wrong).abs() > 0.01, "Re {}", cavity.reynolds);
            }
        }
    }

    #[test]
    fn tables_say_what_the_text_beside_them_says() {
        // J26, section 4.3.2: lift amplitudes of both schemes differ by 0.031 at two levels, by
        // 0.003 at five; section 4.3.3: Strouhal numbers of 0.142 to 0.144, drag of 1.44 to 1.46,
        // lift amplitudes of the literature of 0.194 to 0.277.
        let differ = |r: Refined| r.lift_amplitude[0] - r.lift_amplitude[1];
        assert!((differ(CIRCLE_J26[0]) - 0.031).abs() < 1e-12);
        assert!((differ(CIRCLE_J26[3]) - 0.003).abs() < 1e-12);
        for square in SQUARE_J26 {
            assert!(square.strouhal.iter().all(|s| (0.142..=0.144).contains(s)));
            assert!(square.drag.iter().all(|d| (1.44..=1.46).contains(d)));
        }
        let lifts = SQUARE.iter().filter_map(|s| s.lift_amplitude);
        assert_eq!(lifts.clone().fold(f64::INFINITY, f64::min), 0.194);
        assert_eq!(worst(lifts), 0.277);
        for (levels, row) in (2..).zip(CIRCLE_J26.iter().zip(SQUARE_J26)) {
            assert_eq!([row.0.levels, row.1.levels], [levels; 2]);
        }
        assert!(CIRCLE.iter().all(|c| (1.33..=1.35).contains(&c.drag)));
    }
}
