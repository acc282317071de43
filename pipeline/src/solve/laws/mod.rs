//! Laws of the error: what a flow will be wrong by, known before its first step.
//!
//! With h = 3 ν Δt / Δx² on the level of the walls (τ - 1/2 there), Λ the product of τ⁺ - 1/2 and τ⁻ - 1/2 (the *magic parameter*),
//! N the cells across a passage, D and g those across a body and its gap, c = Δx / Δt, and Δp the pressure variation:
//!
//! | law | relative error | source |
//! |---|---|---|
//! | straight walls | (16 Λ - 3) / (2 N²) of the flow rate, exactly | Ginzburg & d'Humières 2003; measured within 1 / (2 N²) of itself |
//! | curved walls | 12 (Λ - 3/16) / g²; TRT with `linear` or `quadratic` 0.26 h / D | measured, arrays of spheres and cylinders |
//! | compressibility | a share of δ = 3 Δp / (ρ c²): 0.1 Re H / L of the drop of ducts, 1/2 of the velocity between pressures, 0.4 of drags | measured |
//! | sound of bodies that move | (ω L / c_s)², ω their rms acceleration over their rms velocity, L the inverse wave number of a closed box or half the body | a resonator; measured, a circle that swings in a hole |
//! | TRT in 3D between walls | 0.1 (u Δx / ν / 17)² | measured, square ducts |
//! | changes in time | 0.03 (16 h / N)² of their rates | measured, decaying vortices |
//! | short waves | 1.9 (1 + U / u') / λ², λ the cells along one, U the mean flow that carries it | measured, decaying vortices |
//! | coarse passages | 3 / N² with openings or between cut links, 2 / N² of cumulants in 3D | bounds of 101,000 small flows |
//! | coarse bodies in a stream | √Re / (2 D²) of the drag, D the mean of its extents, Re at most 100 | measured, a cylinder at Re 1 to 40 |
//! | coarse gaps between bodies that a force drives fluid past | 2.5 / g² | bound, arrays of spheres and cylinders |
//! | coarse pores of a bed | 1 / g² of the resistance, g = 4 V / S the cells across a pore | measured, a bed of spheres |
//! | coarse cavities below a lid | 0.12 Re / N² of the velocity, 0.03 of KBC | measured, Re 100 to 1000 |
//! | coarse vessels whose cut walls turn the fluid | 6 / N² of the torque | bound, rings |
//! | Smagorinsky's model in laminar flows | 6 C² Re / N² beside walls, 9 C² Re / N² of vortices, C² Re^(3/2) / D² around bodies | channels: Re 200, N 16, C 0.1: 4.7 %, measured 3.4 |
//! | steps of `bounce-back` | 4 s / N, s the mean distance of the walls from halfway in cells | bound, circles |
//! | rounding | none above 8 ν Δt / H² = 1e-5 in f32, 6e-6 in f16, whose cells then have a noise of 0.8 % | measured |
//!
//! Λ is h² of BGK, h / 2 of regularized collision and KBC, whose odd moments relax at a rate of 1, 3 h / 4 of cumulants, and a
//! constant of TRT. [`choice`] turns the laws round: the time step and the collision that keep each below a per cent.
//! Decision 049 has the measurements.

mod bodies;
mod choice;
mod coarse;
mod drive;
mod geometry;
mod known;
mod numbers;
#[cfg(test)]
mod tests;

pub(crate) use bodies::rate;
pub(crate) use choice::{Bound, Choice, Given, choose, first, without_bounds};
pub(crate) use geometry::beside;

use crate::solve::units::Physics;
use bodies::Sway;
use cutlink_common::Error;
use cutlink_flow::verdict::{Check, Grade};
use cutlink_solver::{Collision, Les, Precision, WallScheme};
pub(crate) use numbers::{percent, two_digits};

/// Bars of a relative error.
pub(crate) const BARS: [f64; 2] = [0.01, 0.03];
/// h from which on flows take their time, and beyond which they are lost.
const SLOW: [f64; 2] = [4.0, 10.0];
/// Relaxation times of h steps each that a run needs at least.
const SETTLES: f64 = 10.0;
/// h above which TRT is refused: from about 100 on it diverges.
const GROWS: f64 = 50.0;

/// What moves the fluid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drive {
    /// A velocity at an opening.
    Inlet,
    /// Different pressures at openings.
    Pressure,
    /// An acceleration.
    Force,
    /// Moving walls of a closed box, or bodies that move.
    Walls,
    /// Nothing but the initial state.
    Nothing,
}

impl Drive {
    /// Whether it keeps a flow up whose pressures the laws know.
    pub(crate) fn passes(self) -> bool {
        matches!(self, Self::Inlet | Self::Pressure | Self::Force)
    }
}

/// A flow as the laws see it; lengths in m, velocities in m/s.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Laws {
    pub(crate) drive: Drive,
    pub(crate) dimensions: usize,
    physics: Physics,
    collision: Collision,
    les: Les,
    wall: WallScheme,
    precision: Precision,
    /// Spacing of the root cells, and of the finest ones beside a wall.
    root: f64,
    finest: f64,
    /// Cells across the narrowest passage, of flows along walls.
    passage: Option<f64>,
    /// Mean distance of walls by cut links from halfway, in cells; none without such walls.
    offset: Option<f64>,
    /// Cells along the shortest edge of a cavity whose lid drives the flow.
    cavity: Option<f64>,
    /// Cells along the shortest edge of a box without walls.
    edge: Option<f64>,
    /// Distance of walls over which a force or a moving wall drives a parallel flow.
    width: Option<f64>,
    /// Cells across a body, and across the gap beside it.
    body: Option<[f64; 2]>,
    /// The share of fluid in a bed of bodies, whose grains and pores are `body`.
    bed: Option<f64>,
    /// Cells of the geometric mean of its extents.
    extent: Option<f64>,
    /// Hydraulic diameter 4 V / S and length along the flow, of flows between walls.
    hydraulic: Option<[f64; 2]>,
    /// Mean and largest prescribed velocity.
    mean: f64,
    fastest: f64,
    /// Mean velocity in the narrowest plane behind an inlet, by continuity, 0 where it is not known; and how much more the way resists
    /// than one of its mean width.
    throat: f64,
    resistance: f64,
    /// Width of that plane over the mean one.
    narrowing: f64,
    /// Largest |acceleration|, m/s².
    pull: f64,
    /// Edge of the box along it.
    along: f64,
    /// Pressure difference of openings over the density, m²/s².
    head: f64,
    /// How bodies with a path move, and the length that sound has to pass around them, m.
    sway: Sway,
    reach: Option<f64>,
    /// Thermal diffusivity on the finest level over the largest one that is stable, at this lattice velocity.
    conduction: Option<f64>,
    /// Spheres that move with the flow.
    spheres: Option<SphereLaws>,
    /// Whether there are bodies that move.
    moves: bool,
    /// Whether the flow has a state to begin with, or boundaries that change in time.
    is_unsteady: bool,
    /// Root steps of the run.
    steps: f64,
    /// What takes the place of expectations.
    piloted: Option<Piloted>,
}

/// Spheres as the laws see them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SphereLaws {
    /// The kinematic viscosity, in finest cells squared a step of theirs.
    viscosity: f64,
    /// The diameter of the smallest sphere in such cells, and the share of the volume around spheres that is in others, once they are
    /// known.
    known: Option<[f64; 2]>,
}

/// What the pilot of a run has measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Piloted {
    /// Pressure variation over the density, m²/s².
    pub(crate) head: f64,
    /// The largest speed, m/s.
    pub(crate) fastest: f64,
}

/// What a run has measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// (Largest - smallest pressure) / (ρ c²).
    pub(crate) compression: f64,
    /// Root steps done.
    pub(crate) steps: u64,
    /// 2 π √(mean u² / mean ω²) in root cells; in a box without walls u is the velocity beyond its mean.
    pub(crate) wavelength: Option<f64>,
    /// There the mean velocity over the rms of what is beyond it.
    pub(crate) carried: f64,
    /// Rms acceleration over rms velocity of bodies that move, 1/s.
    pub(crate) rate: Option<f64>,
}

impl Laws {
    /// With what a pilot has measured in place of what is expected.
    pub(crate) fn piloted(&self, piloted: Piloted) -> Self {
        Self {
            piloted: Some(piloted),
            ..self.clone()
        }
    }

    /// c = Δx / Δt, m/s.
    fn speed(&self) -> f64 {
        self.physics.velocity / self.physics.lattice_velocity
    }

    /// h of the finest cells beside walls.
    pub(crate) fn relaxation(&self) -> f64 {
        3.0 * self.physics.viscosity / (self.speed() * self.finest)
    }

    /// The expected pressure variation over the density, m²/s², without sound.
    fn expected(&self) -> f64 {
        if let Some(Piloted { head, .. }) = self.piloted {
            return head;
        }
        let nu = self.physics.viscosity;
        let fastest = self.mean.max(self.fastest);
        let duct = |mean: f64| match self.hydraulic {
            Some([diameter, length]) => {
                48.0 * self.resistance * nu * length * mean / (diameter * diameter)
            }
            None => 0.0,
        };
        match self.drive {
            Drive::Inlet => {
                // 1.2 ρ u² between stagnation and suction, 10 μ u / D of Stokes' pressure.
                let beside = self
                    .body
                    .map_or(0.0, |[body, _]| 10.0 * nu * fastest / (body * self.finest));
                let own = match (self.hydraulic, self.body) {
                    (None, None) => 0.0,
                    (None, Some(_)) => 1.2 * fastest * fastest,
                    (Some(_), None) => 1.5 * self.mean * self.mean,
                    (Some(_), Some(_)) => 1.5 * fastest * fastest,
                };
                // What a jet loses behind the narrowest place: a parabola, a fifth narrower than the place behind sharp edges.
                let jet = 1.6 * (self.throat * self.throat - self.mean * self.mean);
                own.max(jet) + beside + duct(self.mean)
            }
            Drive::Pressure => self.head,
            // Along a plain channel there is none.
            Drive::Force if self.body.is_some() => self.pull * self.along,
            Drive::Force | Drive::Walls | Drive::Nothing => 0.0,
        }
    }

    /// The share of δ that is an error of what users read. Beside bodies it falls with the Reynolds number: 0.4 up to 10, 0.2 at
    /// 40, 0.14 at 100.
    fn sensitivity(&self) -> (f64, &'static str) {
        match (self.drive, self.hydraulic.filter(|_| self.body.is_none())) {
            // An inlet prescribes the mass flow, so that slow flows have the drop that they should.
            (Drive::Inlet, Some([_, length])) => {
                let width = self.passage.unwrap_or(0.0) * self.finest / self.narrowing;
                let inertia = self.mean * width * width / (self.physics.viscosity * length);
                ((0.1 * inertia).clamp(0.1, 1.0), "of the pressure drop")
            }
            (Drive::Inlet, None) => {
                let re = self.physics.reynolds().max(10.0);
                ((0.4 * (10.0 / re).powf(0.45)).max(0.14), "of the drag")
            }
            (Drive::Pressure, _) => (0.5, "of the velocity"),
            // The largest pressures are where a lid meets a wall.
            (Drive::Walls, _) => (0.02, "of the velocity"),
            _ => (0.1, "of the flow rate"),
        }
    }

    /// The expected pressure variation over ρ c².
    pub(crate) fn expected_compression(&self) -> f64 {
        3.0 * self.expected() / self.speed().powi(2)
    }

    /// The error by a pressure variation over ρ c².
    pub(crate) fn error_of_compression(&self, delta: f64) -> f64 {
        self.sensitivity().0 * delta
    }

    fn compressibility(&self, delta: f64, when: &str) -> Check {
        let (share, of) = self.sensitivity();
        let value = share * delta;
        // δ falls with the square of the lattice velocity.
        let remedy = self.slower(value);
        Check {
            name: "compressibility",
            value,
            bars: BARS,
            what: format!(
                "{when} pressure variation of {} of rho c^2, hence an error {of} of about {}",
                percent(delta),
                percent(value)
            ),
            remedy,
        }
    }

    /// The error by the walls with this collision and wall scheme at h.
    fn wall_error(&self, collision: Collision, wall: WallScheme, h: f64) -> f64 {
        let magic = collision.magic_at(h);
        let mut error: f64 = 0.0;
        if let Some(passage) = self.passage {
            let own = (16.0 * magic - 3.0).abs() / (2.0 * passage * passage);
            // In square ducts the lower end is flatter.
            error = error.max(match self.dimensions == 3 && magic < 3.0 / 16.0 {
                true => 0.4 * own,
                false => own,
            });
        }
        if let Some([body, gap]) = self.body {
            error = error.max(12.0 * (magic - 3.0 / 16.0).max(0.0) / (gap * gap));
            let grows = matches!(wall, WallScheme::Linear | WallScheme::Quadratic);
            if grows && matches!(collision, Collision::Trt { .. }) {
                error = error.max(0.26 * h / body);
            }
        }
        error
    }

    fn walls(&self, steps: f64) -> Option<Check> {
        let has_walls = self.passage.is_some() || self.body.is_some() || self.hydraulic.is_some();
        if !has_walls {
            return None;
        }
        let h = self.relaxation();
        let mut error = self.wall_error(self.collision, self.wall, h);
        let mut what = format!(
            "tau - 1/2 is {} in the finest cells at walls, hence an error of about {}",
            two_digits(h),
            percent(error)
        );
        if let Some(passage) = self.passage {
            what += &format!(" with {passage:.0} cells across the narrowest passage");
        }
        // Beyond these the modes of the collision live for long, whatever the law of steady flows says.
        if h > SLOW[1] {
            error = error.max(1.0);
            what += "; above 10 no flow is right";
        } else if h > SLOW[0] {
            error = error.max(1.5 * BARS[0]);
            what += "; above 4 flows settle slowly";
        }
        let needed = SETTLES * h;
        if h > 1.0 && steps > 0.0 && steps * self.root / self.finest < needed {
            error = error.max(1.0);
            what += &format!("; {needed:.0} steps are needed to forget the start");
        }
        Some(Check {
            name: "walls",
            value: error,
            bars: BARS,
            what,
            remedy: (error > BARS[0]).then(|| self.wall_remedy(h)),
        })
    }

    /// What makes the error by the walls small, in this case.
    fn wall_remedy(&self, h: f64) -> String {
        let best = self.most_relaxation(self.collision, self.wall);
        if h <= best {
            return "more cells across the narrowest passage".into();
        }
        let lower = two_digits(self.physics.lattice_velocity * best / h);
        let same = format!("lattice_velocity = {lower}");
        let trt = self.most_relaxation(choice::TRT, WallScheme::Local);
        if !choice::takes_trt(self) || trt <= best {
            return same;
        }
        let velocity = self.physics.lattice_velocity * (trt / h).min(1.0);
        let other = "collision = \"trt\" with wall = \"local\"";
        match velocity < self.physics.lattice_velocity {
            true => format!(
                "{same}, or {other} and lattice_velocity = {}",
                two_digits(velocity)
            ),
            false => format!("{same}, or {other}"),
        }
    }

    /// The lattice velocity at which an error that grows with its square is small enough, where it is not.
    fn slower(&self, value: f64) -> Option<String> {
        (value > BARS[0]).then(|| {
            let lower = self.physics.lattice_velocity * (0.7 * BARS[0] / value).sqrt();
            format!("lattice_velocity = {}", two_digits(lower))
        })
    }

    /// What relaxation lags behind a flow that changes in time, with so many cells across or along a wave.
    fn lag(&self, cells: Option<f64>) -> Option<Check> {
        let cells = cells.or(self.passage).or(self.edge)?;
        if !self.is_unsteady {
            return None;
        }
        let h = self.relaxation();
        let value = 0.03 * (16.0 * h / cells).powi(2);
        Some(Check {
            name: "time step",
            value,
            bars: BARS,
            what: format!(
                "tau - 1/2 is {} where {} cells resolve a flow that changes in time, hence an error of its rates of about {}",
                two_digits(h),
                two_digits(cells),
                percent(value)
            ),
            remedy: self.slower(value),
        })
    }

    /// The error of decay by the cells along the mean wave.
    fn resolution(&self, wavelength: Option<f64>, carried: f64) -> Option<Check> {
        let edge = self.edge.filter(|_| self.drive == Drive::Nothing)?;
        let cells = wavelength?.min(edge);
        // Waves that are carried along disperse.
        let value = 1.9 * (1.0 + carried) / (cells * cells);
        Some(Check {
            name: "resolution",
            value,
            bars: [BARS[0], f64::INFINITY],
            what: format!(
                "{} cells along a mean wave, hence an error of its decay of about {}",
                two_digits(cells),
                percent(value)
            ),
            remedy: (value > BARS[0])
                .then(|| "more cells, or les for what they do not resolve".into()),
        })
    }

    /// Whether the flow is in a box without walls and openings.
    pub(crate) fn is_without_walls(&self) -> bool {
        self.edge.is_some() && self.drive == Drive::Nothing
    }

    /// TRT between walls in 3D.
    fn between_walls(&self) -> Option<Check> {
        let is_trt = matches!(self.collision, Collision::Trt { .. });
        if !is_trt || self.dimensions != 3 || self.passage.is_none() {
            return None;
        }
        let cell = self.mean.max(self.fastest).max(self.physics.velocity) * self.finest;
        let reynolds = cell / self.physics.viscosity;
        let value = 0.1 * (reynolds / 17.0).powi(2);
        Some(Check {
            name: "trt in 3D",
            value,
            bars: BARS,
            what: format!(
                "u dx / nu is {} in the finest cells at walls, where collision = \"trt\" is off by about {}",
                two_digits(reynolds),
                percent(value)
            ),
            remedy: (value > BARS[0]).then(|| "collision = \"regularized\"".into()),
        })
    }

    /// Whether a step changes populations by more than their rounding.
    fn precision(&self) -> Option<Check> {
        // Beside bodies that move populations are rounded to nearest.
        let is_slow = matches!(self.drive, Drive::Force | Drive::Walls) && !self.moves;
        if self.precision == Precision::F16 && !is_slow {
            return Some(self.halves());
        }
        let width = self.width?;
        // What is unsteady is not driven by the viscosity alone.
        if self.is_unsteady && self.precision != Precision::F16 {
            return None;
        }
        let step = self.root / self.speed();
        let share = 8.0 * self.physics.viscosity * step / (width * width);
        let bars = match self.precision {
            // Slow flows are rounded by chance (decision 025): measured down to 6e-6.
            Precision::F16 => [6e-6, 1e-6],
            Precision::F32 => [1e-5, 1e-6],
            Precision::F64 => [1e-14, 1e-15],
        };
        Some(Check {
            name: "precision",
            value: share,
            bars,
            what: format!(
                "a step changes the flow by {share:.1e} of itself; {} is right from {:.0e} on",
                self.precision, bars[0]
            ),
            remedy: (share < bars[0]).then(|| match self.precision {
                Precision::F64 => "fewer cells across, or a larger lattice_velocity".into(),
                _ => "precision = \"f64\"".into(),
            }),
        })
    }

    /// Of populations in 16 bits that are rounded to nearest: they keep 2^-16 of the lattice's units, so that slow flows fade.
    fn halves(&self) -> Check {
        Check {
            name: "precision",
            value: self.physics.lattice_velocity,
            bars: [0.01, 0.001],
            what: "lattice velocity, of which f16 keeps no more than 2^-16".into(),
            remedy: (self.physics.lattice_velocity < 0.01).then(|| "precision = \"f32\"".into()),
        }
    }

    /// The checks that are known before the first step.
    pub(crate) fn forecast(&self) -> Vec<Check> {
        let delta = self.expected_compression();
        let mut checks = Vec::new();
        if delta > 0.0 {
            checks.push(self.compressibility(delta, "expected"));
        }
        checks.extend(self.walls(self.steps));
        checks.extend(self.sound_of_bodies(self.sway.rate));
        checks.extend(self.lag(None));
        checks.extend(self.coarseness());
        checks.extend(self.eddies());
        checks.extend(self.between_walls());
        checks.extend(self.precision());
        checks
    }

    /// Of the forecast, what its user should know before the flow runs.
    pub(crate) fn notes(&self) -> Vec<String> {
        let forecast = self.forecast();
        let matters = forecast.iter().filter(|check| check.grade() > Grade::Ok);
        matters
            .map(|check| match &check.remedy {
                Some(remedy) => format!("{}: {}; use {remedy}", check.name, check.what),
                None => format!("{}: {}", check.name, check.what),
            })
            .collect()
    }

    /// Refuses a flow that cannot become right, unless allowed.
    ///
    /// # Errors
    /// TRT whose relaxation time is so large that its modes grow.
    pub(crate) fn check(&self, is_allowed: bool) -> Result<(), Error> {
        let h = self.relaxation();
        let grows = matches!(self.collision, Collision::Trt { .. }) && h > GROWS;
        if !grows || is_allowed {
            return Ok(());
        }
        let lower = self.physics.lattice_velocity * choice::TRT_RANGE[0] / h;
        Err(Error::input(format!(
            "tau - 1/2 is {} in the finest cells; collision = \"trt\" is unstable above {GROWS}",
            two_digits(h)
        ))
        .hint(format!("use lattice_velocity = {}", two_digits(lower))))
    }

    /// The same after a run, with what it has measured.
    pub(crate) fn after(&self, measured: &Measured) -> Vec<Check> {
        let mut checks = vec![self.compressibility(measured.compression, "a")];
        checks.extend(self.walls(measured.steps as f64));
        let rate = measured.rate.unwrap_or(self.sway.rate);
        checks.extend(self.sound_of_bodies(rate));
        checks.extend(self.lag(measured.wavelength));
        checks.extend(self.resolution(measured.wavelength, measured.carried));
        checks.extend(self.coarseness());
        checks.extend(self.eddies());
        checks.extend(self.between_walls());
        checks.extend(self.precision());
        checks
    }
}
