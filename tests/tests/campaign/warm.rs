//! Cases of lattice Boltzmann flows with heat.

use crate::{
    answers,
    draw::{Drawn, Numerics, PERIODIC, Read, WALLS},
    random::Random,
    walls::circle,
};
use std::f64::consts::PI;

const LINES: &str = "[output]\ncheckpoint_at_end = false\nintegrals_every = 1\n";

/// `[physics]` and `[numerics]`, with a Prandtl number.
fn tables(numerics: &Numerics, re: f64, prandtl: f64, more: &str) -> String {
    numerics.tables(
        re,
        &format!("prandtl = {prandtl:e}\nheat_capacity = 1\n{more}"),
    )
}

/// A channel between a hot and a cold wall, at rest or driven by a force along it: the heat through it is conducted alone.
fn slab(numerics: &Numerics, random: &mut Random, n: u32) -> Drawn {
    let (re, prandtl) = (random.power(-1.0, 2.0), random.power(-1.0, 1.0));
    let h = 1.0 / f64::from(n);
    let time = 0.8 * re * prandtl.max(1.0);
    let force = random.of(&[0.0, 12.0 / re]);
    Drawn {
        kind: "heat, slab",
        name: format!("slab, N {n}, Re {re:.2}, Prandtl {prandtl:.2}, force {force:.2}"),
        case: format!(
            "[domain]\nbox = [0, 0, {}, 1]\nroot = \"4x{n}\"\n{}[heat]\ntemperature = 0\n[boundary]\n{PERIODIC}\
             \"y-\" = {{ type = \"no-slip\", temperature = 1 }}\n\"y+\" = {{ type = \"no-slip\", temperature = 0 }}\n\
             [run]\nseconds = {time:e}\n{LINES}",
            4.0 * h,
            tables(
                numerics,
                re,
                prandtl,
                &format!("acceleration = [{force:e}, 0]\n")
            ),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Last("heat.csv", "y- power"),
        exact: 4.0 * h / (re * prandtl),
        cells: 4.0 * f64::from(n),
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

/// A round hole around a hot circle, at rest or turning, which carries no heat across.
fn ring(numerics: &Numerics, random: &mut Random, n: u32) -> Drawn {
    let (re, prandtl) = (random.power(-0.5, 1.5), random.power(-0.7, 0.7));
    let radius = random.of(&[0.3, 0.5, 0.8]);
    let levels = random.of(&[1, 1, 2]);
    let gap = 1.0 - radius;
    let dx = gap / f64::from(n) * f64::from(levels);
    let half = 4.0 * ((1.0 + 3.0 * dx) / dx / 4.0).ceil();
    let edge = half * dx;
    let time = 1.0 * gap * gap * re * prandtl.max(1.0);
    let turns = random.of(&["", "type = \"rotating\"\ncenter = [0, 0]\nomega = 1\n"]);
    let (patch, sign) = random.of(&[("inner", 1.0), ("outer", -1.0)]);
    Drawn {
        kind: "heat, ring",
        name: format!(
            "hot circle of {radius} in a hole, N {n}, {levels} levels, Re {re:.2}, Prandtl {prandtl:.2}, {patch}"
        ),
        case: format!(
            "[mesh]\nfile = [\"FOLDER/outer.dat\", \"FOLDER/inner.dat\"]\nflow = \"inside\"\n\
             domain = [-{edge}, -{edge}, {edge}, {edge}]\nroot = {}\nlevels = {levels}\nno-picture = true\n{}\
             [heat]\ntemperature = 0\n[boundary]\n\"x-\" = \"no-slip\"\n\"x+\" = \"no-slip\"\n{WALLS}\
             [patches.inner]\ntemperature = 1\n{turns}[patches.outer]\ntemperature = 0\n[run]\nseconds = {time:e}\n{LINES}",
            2.0 * half,
            tables(numerics, re, prandtl, ""),
        ),
        files: vec![
            ("outer.dat", circle(1.0, 1.0)),
            ("inner.dat", circle(radius, -1.0)),
        ],
        dimensions: 2,
        read: Read::Last(
            "heat.csv",
            if patch == "inner" {
                "inner power"
            } else {
                "outer power"
            },
        ),
        exact: sign * 2.0 * PI / (re * prandtl) / (1.0 / radius).ln(),
        cells: (2.0 * half).powi(2) * f64::from(levels * levels),
        steps: numerics.steps(time, 1.0 / dx, re, 0.0),
    }
}

/// A wave of temperature that decays in fluid at rest.
fn wave(numerics: &Numerics, random: &mut Random, n: u32) -> Drawn {
    let (re, prandtl) = (random.power(0.0, 2.0), random.power(-1.0, 1.0));
    let rate = 4.0 * PI * PI / (re * prandtl);
    let time = random.between(0.3, 2.0) / rate;
    let h = 1.0 / f64::from(n);
    Drawn {
        kind: "heat, a wave",
        name: format!("wave of temperature, N {n}, Re {re:.2}, Prandtl {prandtl:.2}"),
        case: format!(
            "[domain]\nbox = [0, 0, 1, {}]\nroot = \"{n}x4\"\n{}[heat]\ntemperature = \"cos(2*pi*x)\"\n\
             [boundary]\n{PERIODIC}\"y-\" = \"periodic\"\n\"y+\" = \"periodic\"\n[run]\nseconds = {time:e}\n{LINES}",
            4.0 * h,
            tables(numerics, re, prandtl, ""),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Left("heat.csv", "highest temperature", [0.0, rate]),
        exact: 1.0,
        cells: 4.0 * f64::from(n),
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

/// Natural convection in a square; velocities in units of √(g β ΔT L).
fn convection(numerics: &Numerics, random: &mut Random, n: u32) -> Drawn {
    let [rayleigh, nusselt] = random.of(&answers::CONVECTION);
    let (prandtl, n) = (0.71, 2 * n);
    let re = (rayleigh / prandtl).sqrt();
    // The slowest of both: diffusion, and waves between the layers.
    let time = (0.5 * re * prandtl).clamp(20.0, 100.0);
    Drawn {
        kind: "heat, convection",
        name: format!("convection, Rayleigh {rayleigh:e}, N {n}"),
        case: format!(
            "[domain]\nbox = [0, 0, 1, 1]\nroot = {n}\n{}[gravity]\nacceleration = [0, -10]\n[heat]\ntemperature = 0.5\n\
             reference = 0.5\n[boundary]\n\"x-\" = {{ type = \"no-slip\", temperature = 1 }}\n\
             \"x+\" = {{ type = \"no-slip\", temperature = 0 }}\n{WALLS}[run]\nseconds = {time:e}\n{LINES}",
            tables(numerics, re, prandtl, "expansion = 0.1\n"),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Last("heat.csv", "x- power"),
        exact: nusselt / (re * prandtl),
        cells: f64::from(n * n),
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

impl Drawn {
    /// A lattice Boltzmann flow with heat.
    pub(crate) fn warm(random: &mut Random) -> Self {
        let kind = random.of(&[0, 1, 1, 2, 2, 3]);
        let numerics = Numerics::of_heat(random, kind == 1);
        let n = random.of(&[8, 12, 16, 20, 24]);
        match kind {
            0 => slab(&numerics, random, n),
            1 => ring(&numerics, random, n),
            2 => wave(&numerics, random, n),
            _ => convection(&numerics, random, n),
        }
    }
}
