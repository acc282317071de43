//! Cases of grains.

use crate::{
    draw::{Drawn, Read},
    random::Random,
};
use std::f64::consts::PI;

/// What spheres are made of.
struct Glass {
    youngs_modulus: f64,
    restitution: f64,
    friction: f64,
}

const DENSITY: f64 = 2500.0;

impl Glass {
    fn draw(random: &mut Random) -> Self {
        Self {
            youngs_modulus: random.power(5.5, 8.5),
            // Below, normal forces pull for a part of the impact, and friction takes up to a tenth more than Coulomb says.
            restitution: random.between(0.4, 0.95),
            friction: random.between(0.05, 0.8),
        }
    }

    /// A case in a box of these edges, with gravity, spheres (centre, radius, velocity) and a time.
    fn case(
        &self,
        edges: [f64; 3],
        gravity: [f64; 3],
        spheres: &[([f64; 3], f64, [f64; 3])],
        time: f64,
    ) -> String {
        let Self {
            youngs_modulus,
            restitution,
            friction,
        } = *self;
        let spheres = spheres.iter().map(|(centre, radius, velocity)| {
            format!(
                "[[particles]]\ncenter = {centre:?}\nradius = {radius}\nvelocity = {velocity:?}\n"
            )
        });
        format!(
            "[solver]\nkind = \"grains\"\n[domain]\nbox = [0, 0, 0, {}, {}, {}]\n[gravity]\nacceleration = {gravity:?}\n\
             [materials.glass]\nyoungs_modulus = {youngs_modulus:e}\ndensity = {DENSITY}\nrestitution = {restitution}\n\
             friction = {friction}\n{}[run]\nseconds = {time:e}\n[output]\nintegrals_every = 1\ncheckpoint_at_end = false\nreport = false\n",
            edges[0],
            edges[1],
            edges[2],
            spheres.collect::<String>()
        )
    }

    /// How deep a sphere sinks into the floor, with Poisson's ratio 0.25 (Hertz).
    fn sag(&self, radius: f64) -> f64 {
        let young = self.youngs_modulus / (2.0 * (1.0 - 0.25 * 0.25));
        (0.75 * mass(radius) * 9.81 / (young * radius.sqrt())).powf(2.0 / 3.0)
    }

    fn drawn(&self, kind: &'static str, name: String, case: String, energy: f64) -> Drawn {
        Drawn {
            kind,
            name: format!(
                "{kind}, {name}, E {:.1e}, e {:.3}, friction {:.3}",
                self.youngs_modulus, self.restitution, self.friction
            ),
            case,
            files: Vec::new(),
            dimensions: 3,
            // As velocities.
            read: Read::Root("particles.csv", "kinetic energy"),
            exact: energy.sqrt(),
            cells: 1.0,
            steps: 1e4,
        }
    }
}

fn mass(radius: f64) -> f64 {
    DENSITY * 4.0 / 3.0 * PI * radius.powi(3)
}

/// Two spheres meet head on: the kinetic energy of their relative velocity falls by the square of the restitution.
fn head_on(random: &mut Random) -> Drawn {
    let glass = Glass::draw(random);
    let [r, s] = [random.between(0.004, 0.015), random.between(0.004, 0.015)];
    let speed = random.power(-1.5, 0.5);
    let share = random.between(-0.3, 0.3);
    let [v, w] = [(0.5 + share) * speed, (share - 0.5) * speed];
    let gap = random.between(0.002, 0.01);
    let [m, n] = [mass(r), mass(s)];
    let shared = (m * v + n * w).powi(2) / (m + n) / 2.0;
    let energy = 0.5 * (m * v * v + n * w * w);
    let spheres = [
        ([0.09 - r, 0.1, 0.1], r, [v, 0.0, 0.0]),
        ([0.09 + gap + s, 0.1, 0.1], s, [w, 0.0, 0.0]),
    ];
    let time = 3.0 * gap / speed;
    glass.drawn(
        "grains, head on",
        format!("radii {r:.4}, {s:.4}, speed {speed:.3}"),
        glass.case([0.2; 3], [0.0; 3], &spheres, time),
        shared + glass.restitution.powi(2) * (energy - shared),
    )
}

/// A sphere hits a wall at such an angle that it slides all the time: Coulomb's friction takes μ (1 + e) of the normal velocity from the
/// tangential one.
fn oblique(random: &mut Random) -> Drawn {
    let glass = Glass::draw(random);
    let r = random.between(0.004, 0.015);
    let normal = random.power(-1.5, 0.3);
    let taken = glass.friction * (1.0 + glass.restitution) * normal;
    let along = taken * random.between(4.5, 9.0);
    let gap = random.between(0.002, 0.008);
    let time = 3.0 * gap / normal;
    let length = 2.0 * r + 1.2 * along * time + 0.05;
    let spheres = [([r + 0.01, 0.5 * length, r + gap], r, [along, 0.0, -normal])];
    let energy = (along - taken).powi(2) + (glass.restitution * normal).powi(2);
    glass.drawn(
        "grains, oblique impact",
        format!("radius {r:.4}, speeds {along:.3}, {normal:.3}"),
        glass.case([length + 0.1; 3], [0.0; 3], &spheres, time),
        0.5 * mass(r) * energy,
    )
}

/// A sphere slides on a floor until it rolls, at 5/7 of its speed.
fn slides(random: &mut Random) -> Drawn {
    let glass = Glass::draw(random);
    let r = random.between(0.004, 0.015);
    let speed = random.power(-1.0, 0.0);
    // Contacts that have begun to stick swing for a while.
    let stiffness = 1.5 * mass(r) * 9.81 / glass.sag(r);
    let swing = 2.0 * PI * (mass(r) / stiffness).sqrt();
    let time = 2.0 * 2.0 * speed / (7.0 * glass.friction * 9.81) + 30.0 * swing;
    let length = speed * time + 4.0 * r + 0.02;
    let spheres = [([r + 0.01, 0.05, r], r, [speed, 0.0, 0.0])];
    glass.drawn(
        "grains, sliding",
        format!("radius {r:.4}, speed {speed:.3}"),
        glass.case([length, 0.1, 0.1], [0.0, 0.0, -9.81], &spheres, time),
        0.5 * mass(r) * (5.0 / 7.0 * speed).powi(2),
    )
}

/// A sphere rolls down a slope, with 5/7 of the weight along it.
fn rolls(random: &mut Random) -> Drawn {
    let glass = Glass::draw(random);
    let r = random.between(0.004, 0.015);
    // Well below what friction can hold.
    let slope = 0.7 * 3.5 * glass.friction * random.between(0.3, 1.0);
    let (sin, cos) = slope.atan().sin_cos();
    let time = random.between(0.15, 0.4);
    let speed = 5.0 / 7.0 * 9.81 * sin * time;
    let length = 0.5 * speed * time + 4.0 * r + 0.03;
    let spheres = [([r + 0.01, 0.05, r], r, [0.0; 3])];
    glass.drawn(
        "grains, rolling",
        format!("radius {r:.4}, slope {slope:.3}"),
        glass.case(
            [length, 0.1, 0.1],
            [9.81 * sin, 0.0, -9.81 * cos],
            &spheres,
            time,
        ),
        0.5 * mass(r) * speed * speed,
    )
}

impl Drawn {
    /// Grains.
    pub(crate) fn grains(random: &mut Random) -> Self {
        match random.of(&[0, 1, 2, 3]) {
            0 => head_on(random),
            1 => oblique(random),
            2 => slides(random),
            _ => rolls(random),
        }
    }
}
