//! Cases of two-phase flow.

use crate::{
    answers,
    draw::{Drawn, PERIODIC, Read, middles, probes},
    random::Random,
};
use std::{f64::consts::PI, fmt::Write as _};

/// Numerics that a user may give, and fluids.
struct Setting {
    /// Cells along an edge of 1.
    n: u32,
    /// Density of the liquid; that of the gas is 1.
    ratio: f64,
    /// The given length of steps, over the one that the flow asks for.
    dt: Option<f64>,
    text: String,
}

impl Setting {
    fn draw(random: &mut Random) -> Self {
        let mut text = String::new();
        if random.chance(0.2) {
            let cfl = random.of(&[0.1, 0.25, 0.5]);
            let _ = writeln!(text, "cfl = {cfl}");
        }
        if random.chance(0.2) {
            let tolerance = random.power(-8.0, -3.0);
            let _ = writeln!(text, "tolerance = {tolerance:.1e}");
        }
        Self {
            n: random.of(&[8, 12, 16, 20, 24, 32]),
            ratio: random.power(0.0, 3.5),
            dt: random.chance(0.5).then(|| random.power(-1.0, 1.5)),
            text,
        }
    }

    /// `[numerics]`, with steps in units of this one, but not above `most`, if it is given; else where the case does not tell
    /// how long they may be.
    fn numerics(&self, step: f64, most: f64, is_needed: bool) -> String {
        let dt = self.dt.or_else(|| is_needed.then_some(1.0));
        let dt = dt.map_or(String::new(), |dt| {
            format!("dt = {:e}\n", (dt * step).min(most))
        });
        format!("[numerics]\n{dt}{}", self.text)
    }

    /// The width of a cell.
    fn h(&self) -> f64 {
        1.0 / f64::from(self.n)
    }

    /// The liquid, of this viscosity.
    fn liquid(&self, viscosity: f64) -> [f64; 2] {
        [self.ratio, viscosity]
    }
}

/// Fluids by density and viscosity, the liquid first, and surface tension.
fn phases(of: [[f64; 2]; 2], tension: f64) -> String {
    let [liquid, gas] = of.map(|[density, viscosity]| {
        format!("{{ density = {density:e}, viscosity = {viscosity:e} }}")
    });
    format!(
        "[phases]\nliquid = {liquid}\ngas = {gas}\n[interface]\nsurface_tension = {tension:e}\n"
    )
}

/// The case of a box from the origin, of tables in the middle, for a time.
fn case(upper: &[f64], setting: &Setting, middle: &[&str], time: f64, output: &str) -> String {
    let n = f64::from(setting.n);
    let root: Vec<String> = upper.iter().map(|x| format!("{:.0}", x * n)).collect();
    let bounds = [vec![0.0; upper.len()], upper.to_vec()].concat();
    format!(
        "[solver]\nkind = \"two-phase\"\n[domain]\nbox = {bounds:?}\nroot = \"{}\"\n{}[run]\nseconds = {time:e}\n{output}",
        root.join("x"),
        middle.concat()
    )
}

/// Probes at the end, and a line of integrals at each step.
fn ending(points: impl Iterator<Item = Vec<f64>>) -> String {
    probes(points, "every_steps = 1").replacen("[[", "integrals_every = 1\n[[", 1)
}

const LINES: &str = "[output]\ncheckpoint_at_end = false\nintegrals_every = 1\n";

/// Two layers between walls, of which one moves.
fn layers(setting: &Setting, random: &mut Random) -> Drawn {
    let (height, mu) = (random.between(0.2, 0.8), random.power(-1.0, 1.5));
    let viscosity = random.power(-1.0, 2.0);
    let h = setting.h();
    let speeds = answers::layers(height, viscosity);
    let exact = middles(setting.n, 1.0).map(speeds).sum::<f64>() * h;
    let [slow, fast] = [
        setting.ratio * height.powi(2) / viscosity,
        (1.0 - height).powi(2),
    ];
    // Each layer diffuses in its time, and gives momentum to the other.
    let time = (slow + fast + setting.ratio * height * (1.0 - height)) / mu;
    let liquid = format!("[[liquid]]\nhalf_space = [0, 1, {height}]\n");
    let points = middles(setting.n, 1.0).map(|y| vec![2.0 * h, y]);
    Drawn {
        kind: "layers, Couette",
        name: format!(
            "layers to {height:.3}, viscosity {mu:.2e} * {viscosity:.2e}, {}",
            setting.ratio
        ),
        case: case(
            &[4.0 * h, 1.0],
            setting,
            &[
                &phases([setting.liquid(mu * viscosity), [1.0, mu]], 0.0),
                &liquid,
                "[boundary]\n",
                PERIODIC,
                "\"y+\" = { type = \"velocity\", velocity = [1, 0] }\n",
                &setting.numerics(0.4 * h, 0.25 * time, true),
            ],
            time,
            &ending(points),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Mean,
        exact,
        cells: 4.0 / h,
        steps: time / (0.4 * h) * 5.0,
    }
}

/// Half a standing wave, of gravity and surface tension.
fn wave(setting: &Setting, random: &mut Random) -> Drawn {
    let depth = random.between(0.25, 0.75);
    let amplitude = random.power(-2.5, -1.5);
    let [gravity, tension] = random.of(&[[1.0, 0.0], [0.0, 1.0], [0.5, 0.05]]);
    let tension = tension * setting.ratio;
    let levels = random.of(&[1, 1, 2]);
    let omega = answers::wave(PI, depth, setting.ratio, [gravity, tension]);
    let time = 5.2 * PI / omega;
    let (h, n) = (setting.h(), f64::from(setting.n));
    let adapt = match levels {
        1 => String::new(),
        _ => format!("[adapt]\nlevels = {levels}\n"),
    };
    let finest = h / f64::from(levels);
    let step = match tension > 0.0 {
        true => ((setting.ratio + 1.0) * finest.powi(3) / (4.0 * PI * tension)).sqrt(),
        false => (0.8 * finest / gravity).sqrt(),
    };
    let liquid = format!("[[liquid]]\nlevel = \"{depth}+{amplitude}*cos(pi*x)\"\n");
    let weight = format!("[gravity]\nacceleration = [0, {}]\n", -gravity);
    Drawn {
        kind: "standing wave",
        name: format!(
            "wave, depth {depth:.3}, amplitude {amplitude:.2e}, gravity {gravity}, tension {tension:.2e}, {levels} levels"
        ),
        case: case(
            &[1.0, 1.0],
            setting,
            &[
                &adapt,
                &phases([setting.liquid(0.0), [1.0, 0.0]], tension),
                &liquid,
                &weight,
                &setting.numerics(step, 0.01 * time, false),
            ],
            time,
            LINES,
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Frequency("phases.csv", "liquid centre x", 0.5),
        exact: omega / (2.0 * PI),
        cells: n * n * f64::from(levels),
        steps: time / step * 5.0,
    }
}

/// A drop at rest.
fn drop(setting: &Setting, random: &mut Random, dimensions: usize) -> Drawn {
    let radius = random.between(0.12, 0.35);
    let tension = random.power(-2.0, 2.0);
    let viscosity = random.of(&[0.0, 0.01, 1.0]);
    let h = setting.h();
    let centre: Vec<f64> = (0..dimensions)
        .map(|_| 0.5 + h * random.between(-0.5, 0.5))
        .collect();
    let ball = [centre.clone(), vec![radius]].concat();
    let step = ((setting.ratio + 1.0) * h.powi(3) / (4.0 * PI * tension)).sqrt();
    let time = 30.0 * step;
    let points = [centre, vec![h; dimensions]].into_iter();
    Drawn {
        kind: "drop at rest",
        name: format!(
            "drop in {dimensions}D, radius {radius:.3}, tension {tension:.2e}, viscosity {viscosity}"
        ),
        case: case(
            &vec![1.0; dimensions],
            setting,
            &[
                &phases([setting.liquid(viscosity), [1.0, viscosity]], tension),
                &format!("[[liquid]]\nball = {ball:?}\n"),
                &setting.numerics(step, 0.01 * time, false),
            ],
            time,
            &ending(points),
        ),
        files: Vec::new(),
        dimensions,
        read: Read::Jump,
        exact: tension / radius * (dimensions - 1) as f64,
        cells: h.powi(-(dimensions as i32)),
        steps: 250.0,
    }
}

/// A drop that swings, seen along the line through its middle.
fn swinging(setting: &Setting, random: &mut Random) -> Drawn {
    let (radius, tension) = (random.between(0.12, 0.2), random.power(-2.0, 2.0));
    let ratio = setting.ratio.max(20.0);
    let stretch = 1.0 + random.between(0.03, 0.08);
    let h = setting.h();
    let omega = (6.0 * tension / ((ratio + 1.0) * radius.powi(3))).sqrt();
    let time = 4.2 * PI / omega;
    let step = ((ratio + 1.0) * h.powi(3) / (4.0 * PI * tension)).sqrt();
    let liquid = format!(
        "[[liquid]]\nshape = \"ellipse:r={:.9}x{:.9}\"\ntranslate = [0.5, 0.5]\n",
        radius * stretch,
        radius / stretch
    );
    let setting = Setting {
        ratio,
        text: setting.text.clone(),
        ..*setting
    };
    Drawn {
        kind: "drop that swings",
        name: format!(
            "swinging drop, radius {radius:.3}, tension {tension:.2e}, stretch {stretch:.3}"
        ),
        case: case(
            &[1.0, 1.0],
            &setting,
            &[
                &phases([setting.liquid(0.0), [1.0, 0.0]], tension),
                &liquid,
                "[[gauge]]\nname = \"1\"\nat = [0.5, 0.5]\naxis = \"x+\"\n",
                &setting.numerics(step, 0.01 * time, false),
            ],
            time,
            LINES,
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Frequency("gauges.csv", "1 length", 2.0 * radius),
        exact: omega / (2.0 * PI),
        cells: h.powi(-2),
        steps: time / step * 5.0,
    }
}

/// A drop that falls through light gas, or that moves along without weight.
fn moving(setting: &Setting, random: &mut Random, falls: bool) -> Drawn {
    let radius = random.between(0.1, 0.2);
    let ratio = match falls {
        true => random.power(3.0, 5.0),
        false => setting.ratio,
    };
    let tension = random.of(&[0.0, 0.0, 0.01, 0.1]) * ratio;
    let setting = Setting {
        ratio,
        text: setting.text.clone(),
        ..*setting
    };
    let h = setting.h();
    let (kind, column, [speed, acceleration], more) = match falls {
        true => (
            "drop that falls",
            "liquid centre y",
            [0.0, -1.0],
            "[gravity]\nacceleration = [0, -1]\n[boundary]\n\"y+\" = \"pressure\"\n".to_owned(),
        ),
        false => (
            "drop that moves along",
            "liquid centre x",
            [1.0, 0.0],
            format!(
                "[initial]\nvelocity = [1, 0]\n[boundary]\n{PERIODIC}\"y-\" = \"free-slip\"\n\"y+\" = \"free-slip\"\n"
            ),
        ),
    };
    let (from, time) = if falls {
        ([0.5, 0.7], 0.8)
    } else {
        ([0.3, 0.5], 0.4)
    };
    let step = if falls { (0.8 * h).sqrt() } else { 0.4 * h };
    Drawn {
        kind,
        name: format!("{kind}, radius {radius:.3}, tension {tension:.2e}"),
        case: case(
            &[1.0, 1.0],
            &setting,
            &[
                &phases([setting.liquid(0.0), [1.0, 0.0]], tension),
                &format!("[[liquid]]\nball = [{}, {}, {radius}]\n", from[0], from[1]),
                &more,
                &setting.numerics(step, 0.05 * time, true),
            ],
            time,
            LINES,
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Way(column, [speed, acceleration]),
        exact: 1.0,
        cells: h.powi(-2),
        steps: (time / (0.4 * h))
            .max(time * (4.0 * PI * tension / (ratio + 1.0) / h.powi(3)).sqrt())
            * 5.0,
    }
}

/// A tank that is filled, and one at rest.
fn tank(setting: &Setting, random: &mut Random, fills: bool) -> Drawn {
    let (level, gravity) = (random.between(0.1, 0.5), random.of(&[0.1, 1.0, 10.0]));
    let (h, speed) = (setting.h(), random.power(-1.0, 0.0));
    let (kind, time) = match fills {
        true => ("tank that is filled", 0.3 / speed),
        false => ("tank at rest", 10.0 * (0.8 * h / gravity).sqrt()),
    };
    let inflow = match fills {
        true => {
            format!("\"y-\" = {{ type = \"velocity\", velocity = [0, {speed}], liquid = true }}\n")
        }
        false => String::new(),
    };
    let points = [vec![0.3, 0.5 * h], vec![0.3, 1.0 - 0.5 * h]].into_iter();
    let weight = format!("[gravity]\nacceleration = [0, {}]\n", -gravity);
    let heads = setting.ratio * (level - 0.5 * h).max(0.0) + (1.0 - level - 0.5 * h);
    Drawn {
        kind,
        name: format!("{kind}, level {level:.3}, gravity {gravity}"),
        case: case(
            &[1.0, 1.0],
            setting,
            &[
                &phases([setting.liquid(0.0), [1.0, 0.0]], 0.0),
                &format!("[[liquid]]\nhalf_space = [0, 1, {level}]\n"),
                &weight,
                "[boundary]\n\"y+\" = \"pressure\"\n",
                &inflow,
                &setting.numerics((0.8 * h / gravity).sqrt(), 0.05 * time, false),
            ],
            time,
            &ending(points),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: match fills {
            true => Read::Way("liquid volume", [speed, 0.0]),
            false => Read::Jump,
        },
        exact: if fills { 1.0 } else { gravity * heads },
        cells: h.powi(-2),
        steps: (time / (0.4 * h)).max(time / (0.8 * h / gravity).sqrt()) * 5.0,
    }
}

/// Vortices of one fluid, which decay.
fn vortices(setting: &Setting, random: &mut Random) -> Drawn {
    let (re, along) = (random.power(-1.0, 2.3), random.of(&[0.0, 0.0, 0.5, 1.0]));
    let tau = 2.0 * PI;
    let h = setting.h();
    let velocity = format!(
        "[initial]\nvelocity = [\"{along}+cos({tau}*x)*sin({tau}*y)\", \"-sin({tau}*x)*cos({tau}*y)\"]\n"
    );
    let time = 0.02 * re;
    Drawn {
        kind: "vortices",
        name: format!("vortices at {along}, Re {re:.2e}"),
        case: case(
            &[1.0, 1.0],
            setting,
            &[
                &phases([[1.0, 1.0 / re]; 2], 0.0),
                &velocity,
                "[boundary]\n",
                PERIODIC,
                "\"y-\" = \"periodic\"\n\"y+\" = \"periodic\"\n",
                &setting.numerics(0.4 * h, 0.25 * time, true),
            ],
            time,
            LINES,
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Left(
            "phases.csv",
            "kinetic energy",
            [0.5 * along * along, 4.0 * tau * tau / re],
        ),
        exact: 1.0,
        cells: h.powi(-2),
        steps: (time / (0.4 * h)).max(1.0) * 5.0,
    }
}

/// A channel of one fluid, which enters with a uniform velocity.
fn channel(setting: &Setting, random: &mut Random) -> Drawn {
    let re = random.power(-1.0, 1.3);
    let (h, time) = (setting.h(), 6.0);
    let points = [2.0, 3.2]
        .into_iter()
        .flat_map(|x| middles(setting.n, 1.0).map(move |y| vec![x, y]));
    Drawn {
        kind: "channel",
        name: format!("channel, Re {re:.2e}"),
        case: case(
            &[4.0, 1.0],
            setting,
            &[
                &phases([[1.0, 1.0 / re]; 2], 0.0),
                "[boundary]\n\"x-\" = { type = \"velocity\", velocity = [1, 0] }\n\"x+\" = \"pressure\"\n",
                &setting.numerics(0.4 * h, 0.25 * time, false),
            ],
            time,
            &ending(points),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Gradient(1.2),
        exact: 12.0 / re,
        cells: 4.0 * h.powi(-2),
        steps: time / (0.4 * h) * 7.0,
    }
}

/// A tank that is filled, with the numerics of the program.
pub(crate) fn plain_tank() -> Drawn {
    let setting = Setting {
        n: 8,
        ratio: 100.0,
        dt: None,
        text: String::new(),
    };
    tank(&setting, &mut Random::new(1), true)
}

impl Drawn {
    /// A two-phase flow of any kind.
    pub(crate) fn two_phase(random: &mut Random) -> Self {
        let setting = Setting::draw(random);
        let kind = random.of(&[0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
        let drawn = match kind {
            0 => layers(&setting, random),
            1 => wave(&setting, random),
            2 => drop(&setting, random, 2),
            3 => drop(&setting, random, 3),
            4 => swinging(&setting, random),
            5 | 6 => moving(&setting, random, kind == 5),
            7 | 8 => tank(&setting, random, kind == 7),
            9 => vortices(&setting, random),
            10 => channel(&setting, random),
            11 => slabs(&setting, random),
            12 => warm_wave(&setting, random),
            _ => convection(&setting, random),
        };
        let ratio = setting.ratio;
        let more = format!(", N {}, {ratio:.2e} : 1, steps {:?}", setting.n, setting.dt);
        Self {
            name: drawn.name + &more,
            ..drawn
        }
    }
}

/// Fluids of a heat capacity of 1 and these conductivities, without viscosity.
fn warm(density: f64, conductivity: [f64; 2]) -> String {
    let [liquid, gas] = [density, 1.0]
        .into_iter()
        .zip(conductivity)
        .map(|(density, k)| {
            format!("{{ density = {density:e}, heat_capacity = 1, conductivity = {k:e} }}")
        })
        .collect::<Vec<_>>()
        .try_into()
        .expect("two fluids");
    format!("[phases]\nliquid = {liquid}\ngas = {gas}\n")
}

/// Two layers at rest that conduct heat.
fn slabs(setting: &Setting, random: &mut Random) -> Drawn {
    let (height, k) = (random.between(0.2, 0.8), random.power(-2.0, 2.0));
    let h = setting.h();
    let [below, above] = [setting.ratio * height / k, 1.0 - height];
    let time = 1.2 * (below * height + above * above + setting.ratio * height * above);
    let steps = random.of(&[20.0, 100.0, 400.0]);
    Drawn {
        kind: "heat, two slabs",
        name: format!("slabs to {height:.3}, conductivity {k:.2e}"),
        case: case(
            &[4.0 * h, 1.0],
            setting,
            &[
                &warm(setting.ratio, [k, 1.0]),
                &format!("[[liquid]]\nhalf_space = [0, 1, {height}]\n"),
                "[heat]\ntemperature = 0\n[boundary]\n",
                "\"y-\" = { type = \"free-slip\", temperature = 1 }\n\"y+\" = { type = \"free-slip\", temperature = 0 }\n",
                &setting.numerics(time / steps, time, true),
            ],
            time,
            LINES,
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Last("heat.csv", "y- power"),
        exact: 4.0 * h / (height / k + 1.0 - height),
        cells: 4.0 / h,
        steps: steps * 10.0,
    }
}

/// A wave of temperature in an insulated box at rest, which decays.
fn warm_wave(setting: &Setting, random: &mut Random) -> Drawn {
    let (k, h) = (random.power(-3.0, 1.0), setting.h());
    let rate = PI * PI * k;
    let time = random.between(0.5, 2.0) / rate;
    let step = 0.1 / rate;
    Drawn {
        kind: "heat, a wave",
        name: format!("wave of temperature, conductivity {k:.2e}"),
        case: case(
            &[1.0, 4.0 * h],
            setting,
            &[
                &warm(1.0, [k, k]),
                "[heat]\ntemperature = \"cos(pi*x)\"\n",
                &setting.numerics(step, 0.5 * time, true),
            ],
            time,
            LINES,
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Left("heat.csv", "highest temperature", [0.0, rate]),
        exact: 1.0,
        cells: 4.0 / h,
        steps: time / step * 10.0,
    }
}

/// Natural convection in a square.
fn convection(setting: &Setting, random: &mut Random) -> Drawn {
    let [rayleigh, nusselt] = random.of(&answers::CONVECTION);
    let fluid = "{ density = 1, viscosity = 0.71e-3, heat_capacity = 1, conductivity = 1e-3, expansion = 0.1 }";
    let weight = 0.71e-5 * rayleigh;
    let time = 400.0;
    Drawn {
        kind: "heat, convection",
        name: format!("convection, Rayleigh {rayleigh:e}"),
        case: case(
            &[1.0, 1.0],
            setting,
            &[
                &format!("[phases]\nliquid = {fluid}\ngas = {fluid}\n"),
                "[heat]\ntemperature = 0.5\nreference = 0.5\n",
                &format!("[gravity]\nacceleration = [0, {}]\n", -weight),
                "[boundary]\n\"x-\" = { type = \"no-slip\", temperature = 1 }\n\"x+\" = { type = \"no-slip\", temperature = 0 }\n",
                &setting.numerics(1.0, 0.1 * time, true),
            ],
            time,
            LINES,
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Last("heat.csv", "x- power"),
        exact: 1e-3 * nusselt,
        cells: setting.h().powi(-2),
        steps: 400.0 * 10.0,
    }
}
