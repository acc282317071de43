//! Cases of flux reconstruction. The speed of sound is 1 at density 1, but for the program's own vortices.

use crate::{
    answers,
    draw::{Drawn, Field, Read, middles, probes},
    random::Random,
};
use std::{f64::consts::PI, fmt::Write as _, sync::Arc};

const GAMMA: f64 = 1.4;
const TAU: f64 = 2.0 * PI;

/// Numerics that a user may give, and elements.
pub(crate) struct Setting {
    order: u32,
    /// Elements along an edge of 1.
    n: u32,
    cfl: Option<f64>,
    text: String,
}

impl Setting {
    fn draw(random: &mut Random) -> Self {
        let order = random.of(&[1, 2, 3, 3, 4]);
        let mut text = format!("order = {order}\n");
        if random.chance(0.3) {
            let scheme = random.of(&["rk33", "rk43"]);
            let _ = writeln!(text, "runge_kutta = \"{scheme}\"");
        }
        if random.chance(0.3) {
            let precision = random.of(&["f64", "f32"]);
            let _ = writeln!(text, "precision = \"{precision}\"");
        }
        let cfl = random.chance(0.4).then(|| random.power(-1.5, 0.3));
        if let Some(cfl) = cfl {
            let _ = writeln!(text, "cfl = {cfl:.3}");
        }
        Self {
            order,
            n: random.of(&[2, 3, 4, 6, 8, 12, 16]),
            cfl,
            text,
        }
    }

    /// Steps of a time, with elements of this edge, velocity and sound of this speed, and viscosity.
    fn steps(&self, time: f64, edge: f64, speed: f64, viscosity: f64) -> f64 {
        let p = f64::from(self.order);
        let points = 2.0 * p + 1.0;
        let rate = points * 2.0 * speed / edge
            + points * points * (p * p + p + 6.0) / 2.0 * 2.0 * viscosity / (edge * edge);
        time * rate / self.cfl.unwrap_or(0.5)
    }

    /// Work of so many elements in a step, in updates of cells of a lattice flow.
    fn cells(&self, elements: f64) -> f64 {
        elements * f64::from(self.order + 1).powi(2) * 4.0
    }
}

/// The case of a box, of so many elements, with tables in the middle, for a time.
fn case(
    bounds: [f64; 4],
    elements: [u32; 2],
    setting: &Setting,
    middle: &[&str],
    time: f64,
    output: &str,
) -> String {
    format!(
        "[solver]\nkind = \"flux-reconstruction\"\n[domain]\nbox = {bounds:?}\nelements = {elements:?}\n[numerics]\n{}{}\
         [run]\nseconds = {time:e}\n{output}",
        setting.text,
        middle.concat()
    )
}

/// An initial state, of expressions.
fn initial(density: &str, velocity: [&str; 2], pressure: &str) -> String {
    format!(
        "[initial]\ndensity = \"{density}\"\nvelocity = [\"{}\", \"{}\"]\npressure = \"{pressure}\"\n",
        velocity[0], velocity[1]
    )
}

fn gas(viscosity: f64) -> String {
    format!("[physics]\ndynamic_viscosity = {viscosity:e}\n")
}

/// Faces of an axis.
fn faces(axis: &str, kind: &str) -> String {
    format!("\"{axis}-\" = \"{kind}\"\n\"{axis}+\" = \"{kind}\"\n")
}

fn periodic() -> String {
    [
        "[boundary]\n".into(),
        faces("x", "periodic"),
        faces("y", "periodic"),
    ]
    .concat()
}

const LINES: &str = "[output]\ncheckpoint_at_end = false\nintegrals_every = 8\n";

/// Probes at the end.
fn ending(points: impl Iterator<Item = Vec<f64>>) -> String {
    probes(points, "every_steps = 1")
}

/// Middles of the cells that outputs show along an edge of these elements.
fn shown(elements: u32, edge: f64) -> impl Iterator<Item = f64> + Clone {
    middles(4 * elements, edge)
}

/// A wave of shear that viscosity damps, in a stream; on one mesh, with a finer half, or followed.
fn shear(setting: &Setting, random: &mut Random) -> Drawn {
    let [u, v] = [random.of(&[0.0, 0.2]), random.of(&[0.0, 0.1, 0.4])];
    let (amplitude, re) = (random.power(-3.0, -1.0), random.power(0.0, 3.0));
    let viscosity = amplitude / re;
    let (n, rate) = (setting.n, 2.0 * TAU * TAU * viscosity);
    let time = (0.5 / rate).min(random.between(1.0, 20.0));
    let adapt = random.of(&[
        "",
        "",
        "[adapt]\nlevels = 2\nsensor = \"places\"\n[[adapt.place]]\nbox = [0, 0, 1, 0.5]\nlevels = [2, 2]\n",
        "[adapt]\nlevels = 2\nmomentum = 1\n",
    ]);
    let levels: f64 = if adapt.is_empty() { 1.0 } else { 2.0 };
    let wave = format!("{u}+{amplitude}*sin({TAU}*y)");
    Drawn {
        kind: "shear, viscous",
        name: format!("shear {amplitude:.2e} in [{u}, {v}], Re {re:.2e}, {adapt:?}"),
        case: case(
            [0.0, 0.0, 1.0, 1.0],
            [n, n],
            setting,
            &[
                &gas(viscosity),
                &periodic(),
                &initial("1", [&wave, &v.to_string()], "1/gamma"),
                adapt,
            ],
            time,
            LINES,
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Left(
            "integrals.csv",
            "kinetic_energy",
            [0.5 * (u * u + v * v), rate],
        ),
        exact: 1.0,
        cells: setting.cells(f64::from(n * n) * levels.powi(2)),
        steps: setting.steps(time, 1.0 / f64::from(n) / levels, 1.3, viscosity),
    }
}

/// A wave of sound, or of shear that a stream carries along.
fn carried(setting: &Setting, random: &mut Random, is_sound: bool) -> Drawn {
    let (n, time) = (setting.n, random.between(0.3, 4.0));
    let speed = if is_sound {
        1.0
    } else {
        random.of(&[0.1, 0.5, 2.0])
    };
    let amplitude = if is_sound {
        1e-4
    } else {
        random.power(-3.0, 0.0)
    };
    let wave = format!("sin({TAU}*x)");
    let state = match is_sound {
        true => initial(
            &format!("1+{amplitude}*{wave}"),
            [&format!("{amplitude}*{wave}"), "0"],
            &format!("1/gamma+{amplitude}*{wave}"),
        ),
        false => initial(
            "1",
            [&speed.to_string(), &format!("{amplitude}*{wave}")],
            "1/gamma",
        ),
    };
    let edge = 1.0 / f64::from(n);
    let xs = shown(n, 1.0);
    let points = xs.clone().map(|x| vec![x, 0.375 * edge]);
    let exact = move |time: f64| {
        let at = |x: f64| amplitude * (TAU * (x - speed * time)).sin();
        xs.clone().map(at).collect()
    };
    let kind = if is_sound { "sound" } else { "shear, carried" };
    Drawn {
        kind,
        name: format!("{kind} at {speed}, amplitude {amplitude:.2e}, {time:.2}"),
        case: case(
            [0.0, 0.0, 1.0, 2.0 * edge],
            [n, 2],
            setting,
            &[&periodic(), &state],
            time,
            &ending(points),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Field(
            usize::from(!is_sound),
            Field(Arc::new(exact)),
            amplitude * 0.5f64.sqrt(),
        ),
        exact: 1.0,
        cells: setting.cells(f64::from(2 * n)),
        steps: setting.steps(time, edge, 1.0 + 0.5 * speed, 0.0),
    }
}

/// An isentropic vortex in a stream, in a box of ten of its radii (W24, eq. 12).
fn vortex(setting: &Setting, random: &mut Random) -> Drawn {
    let (n, mach) = (2 * setting.n, random.of(&[0.1, 0.3, 0.5]));
    let (strength, time) = (random.of(&[0.5, 2.0, 5.0]), random.between(0.5, 10.0));
    let places = move || {
        let xs = shown(n, 10.0).map(|x| x - 5.0);
        xs.clone()
            .flat_map(move |x| xs.clone().map(move |y| [x, y]))
    };
    let wrapped = |x: f64| x - 10.0 * (x / 10.0).round();
    let swirl = move |time: f64, [x, y]: [f64; 2]| {
        let [x, y] = [wrapped(x - time), wrapped(y - time)];
        -y * strength / TAU * (0.5 * (1.0 - x * x - y * y)).exp()
    };
    let values: Vec<f64> = places().map(|at| swirl(0.0, at)).collect();
    let scale = (values.iter().map(|u| u * u).sum::<f64>() / values.len() as f64).sqrt();
    let exact = move |time: f64| places().map(|at| 1.0 + swirl(time, at)).collect();
    let edge = 10.0 / f64::from(n);
    Drawn {
        kind: "vortex",
        name: format!("vortex, Mach {mach}, strength {strength}, {time:.2}"),
        case: case(
            [-5.0, -5.0, 5.0, 5.0],
            [n, n],
            setting,
            &[
                &periodic(),
                &format!(
                    "[initial]\npreset = \"isentropic-vortex\"\nmach = {mach}\nstrength = {strength}\n"
                ),
            ],
            time,
            &ending(places().map(|at| at.to_vec())),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Field(0, Field(Arc::new(exact)), scale),
        exact: 1.0,
        cells: setting.cells(f64::from(n * n)),
        steps: setting.steps(time, edge, 1.0 + 2f64.sqrt() / mach, 0.0),
    }
}

/// Taylor & Green's vortices, which decay.
fn vortices(setting: &Setting, random: &mut Random) -> Drawn {
    let (n, mach) = (setting.n, random.of(&[0.03, 0.1, 0.1]));
    let re = random.power(-0.5, 2.5);
    let viscosity = 1.0 / TAU / re;
    let rate = 4.0 * TAU * TAU * viscosity;
    let time = (1.0 / rate).min(1.0);
    Drawn {
        kind: "vortices",
        name: format!("vortices, Mach {mach}, Re {re:.2e}"),
        case: case(
            [0.0, 0.0, 1.0, 1.0],
            [n, n],
            setting,
            &[
                &gas(viscosity),
                &periodic(),
                &format!("[initial]\npreset = \"taylor-green\"\nmach = {mach}\n"),
            ],
            time,
            LINES,
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Left("integrals.csv", "kinetic_energy", [0.0, rate]),
        exact: 1.0,
        cells: setting.cells(f64::from(n * n)),
        steps: setting.steps(time, 1.0 / f64::from(n), 1.0 / mach, viscosity),
    }
}

/// Gas between two walls, of which one begins to move along.
fn started(setting: &Setting, random: &mut Random) -> Drawn {
    let (n, mach) = (setting.n, random.of(&[0.02, 0.1]));
    let (re, share) = (random.power(0.0, 2.0), random.power(-1.7, -0.2));
    let viscosity = mach / re;
    let time = share / viscosity;
    let edge = 1.0 / f64::from(n);
    let ys = shown(n, 1.0);
    let points = ys.clone().map(|y| vec![0.375 * edge, y]);
    let exact = move |time: f64| {
        let at = |y: f64| mach * answers::started(time * viscosity, y);
        ys.clone().map(at).collect()
    };
    Drawn {
        kind: "Couette, started",
        name: format!("Couette flow, Mach {mach}, Re {re:.2e}, after {share:.3}"),
        case: case(
            [0.0, 0.0, 2.0 * edge, 1.0],
            [2, n],
            setting,
            &[
                &gas(viscosity),
                "[boundary]\n",
                &faces("x", "periodic"),
                "\"y-\" = \"no-slip\"\n",
                &format!("\"y+\" = {{ type = \"no-slip\", velocity = [{mach}, 0] }}\n"),
                &initial("1", ["0", "0"], "1/gamma"),
            ],
            time,
            &ending(points),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Field(0, Field(Arc::new(exact)), 0.5 * mach),
        exact: 1.0,
        cells: setting.cells(f64::from(2 * n)),
        steps: setting.steps(time, edge, 1.0, viscosity),
    }
}

/// A shock tube: the velocity between the contact and where it began.
fn tube(setting: &Setting, random: &mut Random) -> Drawn {
    let (n, pressure) = (4 * setting.n, random.power(0.01, 0.7));
    let density = random.of(&[1.0, pressure.powf(1.0 / GAMMA), pressure]);
    let [velocity, _] = answers::tube([pressure, density], GAMMA);
    let time = 0.15;
    let edge = 1.0 / f64::from(n);
    let is_between = move |x: &f64| *x > 0.5 && *x < 0.5 + (0.5 + velocity) * time;
    let points = shown(n, 1.0)
        .filter(is_between)
        .map(|x| vec![x, 0.375 * edge]);
    let count = points.clone().count();
    let field = |left: f64| format!("{left:e}+(1-{left:e})*step(x-0.5)");
    Drawn {
        kind: "shock tube",
        name: format!("shock tube, pressure {pressure:.3}, density {density:.3}"),
        case: case(
            [0.0, 0.0, 1.0, 2.0 * edge],
            [n, 2],
            setting,
            &[
                "[boundary]\n",
                &faces("x", "free-slip"),
                &faces("y", "periodic"),
                &initial(&field(density), ["0", "0"], &field(pressure)),
            ],
            time,
            &ending(points),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Field(0, Field(Arc::new(move |_| vec![velocity; count])), velocity),
        exact: 1.0,
        cells: setting.cells(f64::from(2 * n)),
        steps: setting.steps(time, edge, 1.7, 0.0),
    }
}

/// A wave of sound, with the numerics of the program.
pub(crate) fn plain_sound() -> Drawn {
    let setting = Setting {
        order: 3,
        n: 6,
        cfl: None,
        text: String::new(),
    };
    carried(&setting, &mut Random::new(1), true)
}

impl Drawn {
    /// A flow by flux reconstruction of any kind.
    pub(crate) fn flux(random: &mut Random) -> Self {
        let setting = Setting::draw(random);
        let kind = random.of(&[0, 0, 1, 2, 3, 4, 5, 6]);
        let drawn = match kind {
            0 => shear(&setting, random),
            1 | 2 => carried(&setting, random, kind == 1),
            3 => vortex(&setting, random),
            4 => vortices(&setting, random),
            5 => started(&setting, random),
            _ => tube(&setting, random),
        };
        let more = format!(", {} elements, {:?}", setting.n, setting.text);
        Self {
            name: drawn.name + &more,
            ..drawn
        }
    }
}
