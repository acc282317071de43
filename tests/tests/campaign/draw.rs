//! A case, and how to read its answer: channels, ducts, arrays, vortices. Flows that walls move, and bodies in channels, are in
//! [`walls`](crate::walls).

use crate::{answers, random::Random, walls};
use std::{
    f64::consts::PI,
    fmt::{self, Write as _},
    sync::Arc,
};

/// The exact values of one component of all probes, at a time.
#[derive(Clone)]
pub(crate) struct Field(pub(crate) Arc<dyn Fn(f64) -> Vec<f64>>);

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Field")
    }
}

/// What is compared with the exact value.
#[derive(Debug, Clone)]
pub(crate) enum Read {
    /// The mean velocity along x of all probes at the last time.
    Mean,
    /// -dp/dx between two columns of probes this far apart.
    Gradient(f64),
    /// The largest velocity along x of the first probe, of all times.
    Largest,
    /// The rate of decay of the kinetic energy, of which this is that of a mean flow.
    Decay(f64),
    /// The least velocity along x of a row of probes at the last time, by a parabola.
    Least,
    /// The size of a coefficient of `forces.csv` in its last line, over this factor.
    Coefficient(&'static str, f64),
    /// 1, and the rms distance of a component of all probes at the last time from the exact field, over this scale.
    Field(usize, Field, f64),
    /// The pressure of the first probe less that of the second one.
    Jump,
    /// The last value of a column of a table.
    Last(&'static str, &'static str),
    /// How often a column of a table passes this value, over twice the time between the first and the last passage.
    Frequency(&'static str, &'static str, f64),
    /// What is left of a column of a table above its end, over what is left by a decay of this rate.
    Left(&'static str, &'static str, [f64; 2]),
    /// The root of the last value of a column of a table.
    Root(&'static str, &'static str),
    /// The mean of a column of a table over this last share of its lines.
    Late(&'static str, &'static str, f64),
    /// The mean rate of change of a column of a table.
    Rate(&'static str, &'static str),
    /// 1, and the distance of the last period of a column of a table from `a cos ω t + b sin ω t`, over its size.
    Swing(&'static str, &'static str, f64, [f64; 2]),
    /// The way of a column of `phases.csv` since the start, over that at a constant speed and acceleration.
    Way(&'static str, [f64; 2]),
}

/// A flow with a known answer.
#[derive(Debug, Clone)]
pub(crate) struct Drawn {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    /// `FOLDER` stands for where the files are.
    pub(crate) case: String,
    /// Names and texts.
    pub(crate) files: Vec<(&'static str, String)>,
    pub(crate) dimensions: usize,
    pub(crate) read: Read,
    pub(crate) exact: f64,
    /// Roughly: cells, each as often as it steps in a root step, and root steps.
    pub(crate) cells: f64,
    pub(crate) steps: f64,
}

/// Numerics that a user may give.
pub(crate) struct Numerics {
    lattice_velocity: Option<f64>,
    text: String,
}

impl Numerics {
    /// None.
    pub(crate) fn plain() -> Self {
        Self {
            lattice_velocity: None,
            text: String::new(),
        }
    }

    pub(crate) fn draw(random: &mut Random, dimensions: usize, has_body: bool) -> Self {
        let mut text = String::new();
        if random.chance(0.5) {
            let two = ["regularized", "trt", "bgk", "kbc"];
            let three = ["regularized", "trt", "bgk", "cumulant"];
            let collision = random.of(if dimensions == 2 { &two } else { &three });
            let _ = writeln!(text, "collision = \"{collision}\"");
        }
        if has_body && random.chance(0.5) {
            let wall = random.of(&["linear", "local", "bounce-back", "quadratic"]);
            let _ = writeln!(text, "wall = \"{wall}\"");
        }
        if random.chance(0.1) {
            text += "les = \"smagorinsky\"\n";
        }
        if random.chance(0.3) {
            let precision = random.of(&["f64", "f32", "f16"]);
            let _ = writeln!(text, "precision = \"{precision}\"");
        }
        let lattice_velocity = random.chance(0.5).then(|| random.power(-3.5, -1.0));
        Self {
            lattice_velocity,
            text,
        }
    }

    /// Those that flows with heat allow.
    pub(crate) fn of_heat(random: &mut Random, has_body: bool) -> Self {
        loop {
            let drawn = Self::draw(random, 2, has_body);
            if !(drawn.text.contains("les") || drawn.text.contains("f16")) {
                return drawn;
            }
        }
    }

    /// The tables `[physics]` and `[numerics]` at a Reynolds number of height or edge 1.
    pub(crate) fn tables(&self, re: f64, more: &str) -> String {
        let velocity = self
            .lattice_velocity
            .map_or(String::new(), |u| format!("lattice_velocity = {u:.3e}\n"));
        format!(
            "[physics]\nvelocity = 1\nlength = 1\nre = {re:e}\n{velocity}{more}[numerics]\n{}",
            self.text
        )
    }

    /// Root steps of a time with `n` cells: of a chosen time step at most about so many.
    pub(crate) fn steps(&self, time: f64, n: f64, re: f64, variation: f64) -> f64 {
        let chosen = 0.05f64
            .min((0.005 / 3.0 / variation.max(1e-9)).sqrt())
            .min(0.125 * re / n);
        time * n / self.lattice_velocity.unwrap_or(chosen)
    }
}

pub(crate) const PERIODIC: &str = "\"x-\" = \"periodic\"\n\"x+\" = \"periodic\"\n";
pub(crate) const WALLS: &str = "\"y-\" = \"no-slip\"\n\"y+\" = \"no-slip\"\n";

const HALF: &str = "\"y-\" = \"no-slip\"\n\"y+\" = \"free-slip\"\n";

/// Middles of cells along an edge.
pub(crate) fn middles(n: u32, edge: f64) -> impl Iterator<Item = f64> + Clone {
    (0..n).map(move |i| edge * (f64::from(i) + 0.5) / f64::from(n))
}

pub(crate) fn probes(points: impl Iterator<Item = Vec<f64>>, every: &str) -> String {
    let points: Vec<String> = points.map(|point| format!("{point:?}")).collect();
    format!(
        "[output]\ncheckpoint_at_end = false\n[[output.write]]\nkind = \"probes\"\n{every}\npoints = [{}]\n",
        points.join(",")
    )
}

/// A channel that a force drives, with the numerics of the program.
pub(crate) fn plain_channel(n: u32, re: f64) -> Drawn {
    channel(&Numerics::plain(), n, re, false)
}

/// A channel that a force drives, or the half of one of twice the height below a plane of symmetry.
fn channel(numerics: &Numerics, n: u32, re: f64, is_half: bool) -> Drawn {
    let heights = if is_half { 2.0 } else { 1.0 };
    let (width, time) = (4.0 / f64::from(n), 1.2 * re * heights * heights);
    let force = format!(
        "acceleration = [{:e}, 0]\n",
        12.0 / re / (heights * heights)
    );
    let points = middles(n, 1.0).map(|y| vec![0.5 * width, y]);
    Drawn {
        kind: if is_half {
            "half channel"
        } else {
            "channel, force"
        },
        name: format!("channel, force, N {n}, Re {re:.3}, half: {is_half}"),
        case: format!(
            "[domain]\nbox = [0, 0, {width}, 1]\nroot = \"4x{n}\"\n{}[boundary]\n{PERIODIC}{}[run]\nseconds = {time:e}\n{}",
            numerics.tables(re, &force),
            if is_half { HALF } else { WALLS },
            probes(points, &format!("every_seconds = {time:e}"))
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Mean,
        // The mean of the parabola at the middles of cells.
        exact: 1.0 + 0.5 / (heights * f64::from(n)).powi(2),
        cells: 4.0 * f64::from(n),
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

fn couette(numerics: &Numerics, n: u32, re: f64) -> Drawn {
    let width = 4.0 / f64::from(n);
    let time = 1.2 * re;
    let points = middles(n, 1.0).map(|y| vec![0.5 * width, y]);
    Drawn {
        kind: "Couette",
        name: format!("Couette, N {n}, Re {re:.3}"),
        case: format!(
            "[domain]\nbox = [0, 0, {width}, 1]\nroot = \"4x{n}\"\n{}[boundary]\n{PERIODIC}\"y-\" = \"no-slip\"\n\
             \"y+\" = {{ type = \"velocity\", velocity = [1, 0] }}\n[run]\nseconds = {time:e}\n{}",
            numerics.tables(re, ""),
            probes(points, &format!("every_seconds = {time:e}"))
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Mean,
        exact: 0.5,
        cells: 4.0 * f64::from(n),
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

fn pulsating(numerics: &Numerics, n: u32, re: f64) -> Drawn {
    // Four periods: the start decays as exp(-π² t / Re), and the second half is read.
    let period = 0.5 * re;
    let (omega, time) = (2.0 * PI / period, 4.0 * period);
    let width = 4.0 / f64::from(n);
    let y = 0.5 - 0.5 / f64::from(n);
    let amplitude = omega / answers::womersley(omega, 1.0 / re, y);
    let force = format!("acceleration = [\"{amplitude:e}*cos({omega:e}*t)\", 0]\n");
    let every = format!("every_seconds = {:e}", period / 64.0);
    Drawn {
        kind: "channel, pulsating",
        name: format!("channel, pulsating, N {n}, Re {re:.3}"),
        case: format!(
            "[domain]\nbox = [0, 0, {width}, 1]\nroot = \"4x{n}\"\n{}[boundary]\n{PERIODIC}{WALLS}[run]\nseconds = {time:e}\n{}",
            numerics.tables(re, &force),
            probes(std::iter::once(vec![0.5 * width, y]), &every)
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Largest,
        exact: 1.0,
        cells: 4.0 * f64::from(n),
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

fn duct(numerics: &Numerics, n: u32, re: f64, times: u32) -> Drawn {
    let (width, depth, time) = (4.0 / f64::from(n), f64::from(times), re);
    let force = 1.0 / re / answers::duct(1.0, depth);
    let points = middles(n, 1.0)
        .flat_map(|y| middles(n * times, depth).map(move |z| vec![0.5 * width, y, z]));
    Drawn {
        kind: "duct, force",
        name: format!("duct 1:{times}, force, N {n}, Re {re:.3}"),
        case: format!(
            "[domain]\nbox = [0, 0, 0, {width}, 1, {depth}]\nroot = \"4x{n}x{}\"\n{}[boundary]\n{PERIODIC}{WALLS}\
             \"z-\" = \"no-slip\"\n\"z+\" = \"no-slip\"\n[run]\nseconds = {time:e}\n{}",
            n * times,
            numerics.tables(re, &format!("acceleration = [{force:e}, 0, 0]\n")),
            probes(points, &format!("every_seconds = {time:e}"))
        ),
        files: Vec::new(),
        dimensions: 3,
        read: Read::Mean,
        exact: 1.0,
        cells: 5.0 * f64::from(4 * n * n * times),
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

/// A channel with openings: the pressure gradient, or between two pressures the velocity.
fn opened(numerics: &Numerics, random: &mut Random, n: u32, re: f64, length: u32) -> Drawn {
    let drop = 12.0 / re * f64::from(length);
    let time = (0.5 * re).clamp(3.0, 30.0) + f64::from(length);
    let (kind, inlet) = random.of(&[
        (
            "channel, parabola",
            "{ type = \"velocity\", velocity = [\"6*y*(1-y)\", 0] }",
        ),
        (
            "channel, uniform inlet",
            "{ type = \"velocity\", velocity = [1, 0] }",
        ),
        ("channel, pressures", ""),
    ]);
    // A uniform inlet becomes a parabola within 0.05 Re heights.
    let re = if kind == "channel, uniform inlet" {
        re.min(30.0)
    } else {
        re
    };
    let outlet = match kind {
        "channel, pressures" => "\"pressure\"",
        _ => random.of(&["\"pressure\"", "\"outflow\""]),
    };
    let own = format!("{{ type = \"pressure\", pressure = {drop:e} }}");
    let inlet = if inlet.is_empty() { &own } else { inlet };
    let [from, to] = [0.5, 0.8].map(|share| share * f64::from(length));
    let columns: &[f64] = if kind == "channel, pressures" {
        &[from]
    } else {
        &[from, to]
    };
    let points = columns
        .iter()
        .flat_map(|&x| middles(n, 1.0).map(move |y| vec![x, y]));
    Drawn {
        kind,
        name: format!("{kind}, N {n}, Re {re:.3}, L {length}"),
        case: format!(
            "[domain]\nbox = [0, 0, {length}, 1]\nroot = \"{}x{n}\"\n{}[boundary]\n\"x-\" = {inlet}\n\"x+\" = {outlet}\n{WALLS}\
             [run]\nseconds = {time:e}\n{}",
            length * n,
            numerics.tables(re, ""),
            probes(points, &format!("every_seconds = {time:e}"))
        ),
        files: Vec::new(),
        dimensions: 2,
        read: match kind {
            "channel, pressures" => Read::Mean,
            _ => Read::Gradient(to - from),
        },
        exact: match kind {
            "channel, pressures" => 1.0,
            _ => 12.0 / re,
        },
        cells: f64::from(length * n * n),
        steps: numerics.steps(time, f64::from(n), re, drop + 1.5),
    }
}

/// A sphere or a circle in a box of edge 1 that is periodic along all axes.
pub(crate) struct Obstacle {
    /// Its share of the box.
    pub(crate) fraction: f64,
    pub(crate) radius: f64,
    /// Its drag over μ U in slow flow.
    pub(crate) drag: f64,
    pub(crate) shape: &'static str,
}

impl Obstacle {
    pub(crate) fn draw(random: &mut Random, dimensions: usize) -> Self {
        let (table, shape) = match dimensions {
            2 => (&answers::CYLINDERS[..], "circle"),
            _ => (&answers::SPHERES[..], "sphere"),
        };
        let [fraction, factor] = random.of(table);
        let (radius, unit) = match dimensions {
            2 => ((fraction / PI).sqrt(), 1.0),
            _ => {
                let radius = (0.75 * fraction / PI).cbrt();
                (radius, 6.0 * PI * radius)
            }
        };
        Self {
            fraction,
            radius,
            drag: unit * factor,
            shape,
        }
    }
}

/// Spheres or cylinders that a force drives slow fluid past.
fn array(numerics: &Numerics, random: &mut Random, n: u32, re: f64, dimensions: usize) -> Drawn {
    let is_plane = dimensions == 2;
    let Obstacle {
        fraction,
        radius,
        drag,
        shape,
    } = Obstacle::draw(random, dimensions);
    let time = if is_plane { 0.5 * re } else { 0.6 * re };
    let middle = vec!["0.5"; dimensions].join(",");
    let corners = [vec!["0"; dimensions], vec!["1"; dimensions]]
        .concat()
        .join(",");
    let axes = &["x", "y", "z"][..dimensions];
    let faces: String = axes
        .iter()
        .flat_map(|a| ["-", "+"].map(|side| format!("\"{a}{side}\" = \"periodic\"\n")))
        .collect();
    let zeros = ", 0".repeat(dimensions - 1);
    let levels = random.of(&[1, 1, 2]);
    let x = 0.5 / f64::from(n);
    let points: Vec<Vec<f64>> = match is_plane {
        true => middles(n, 1.0).map(|y| vec![x, y]).collect(),
        false => middles(n, 1.0)
            .flat_map(|y| middles(n, 1.0).map(move |z| vec![x, y, z]))
            .collect(),
    };
    let cells = f64::from(n).powi(dimensions as i32) * f64::from(levels * levels);
    Drawn {
        kind: if is_plane { "cylinders" } else { "spheres" },
        name: format!("{shape}s, fraction {fraction}, N {n}, {levels} levels, Re {re:.2e}"),
        case: format!(
            "[mesh]\nshape = \"{shape}:r={radius:.9}\"\ntranslate = [{middle}]\ndomain = [{corners}]\nroot = {n}\nlevels = {levels}\n\
             periodic = \"{}\"\nno-picture = true\nwall-distance = 0\n{}[boundary]\n{faces}[run]\nseconds = {time:e}\n{}",
            axes.concat(),
            numerics.tables(re, &format!("acceleration = [{:e}{zeros}]\n", drag / re)),
            probes(points.into_iter(), &format!("every_seconds = {time:e}"))
        ),
        files: Vec::new(),
        dimensions,
        read: Read::Mean,
        exact: 1.0,
        cells: cells * 5.0f64.powi(dimensions as i32 - 2),
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

/// Decaying vortices, at rest or carried along.
fn vortices(numerics: &Numerics, random: &mut Random, n: u32, re: f64) -> Drawn {
    let along = if random.chance(0.5) {
        0.0
    } else {
        random.between(0.2, 1.0)
    };
    let time = 0.02 * re;
    let tau = 2.0 * PI;
    let (u, v) = (
        format!("{along:.3}+cos({tau}*x)*sin({tau}*y)"),
        format!("-sin({tau}*x)*cos({tau}*y)"),
    );
    let follows = random.chance(0.25);
    let adapt = match follows {
        true => "[adapt]\nlevels = 2\n[[adapt.by]]\nwhat = \"vorticity\"\nrefine = 0.1\n",
        false => "",
    };
    let cells = f64::from(n * n) * if follows { 6.0 } else { 1.0 };
    let pressure = format!("-0.25*(cos({twice}*x)+cos({twice}*y))", twice = 2.0 * tau);
    Drawn {
        kind: if follows {
            "vortices, followed"
        } else {
            "vortices"
        },
        name: format!("vortices at {along:.3}, N {n}, Re {re:.3}, followed: {follows}"),
        case: format!(
            "[domain]\nbox = [0, 0, 1, 1]\nroot = {n}\n{}[boundary]\n{PERIODIC}\"y-\" = \"periodic\"\n\"y+\" = \"periodic\"\n\
             [initial]\nvelocity = [\"{u}\", \"{v}\"]\npressure = \"{pressure}\"\n[run]\nseconds = {time:e}\n\
             {adapt}[output]\ncheckpoint_at_end = false\nintegrals_every = 4\n",
            numerics.tables(re, ""),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Decay(0.5 * along * along),
        // Energy falls as exp(-2 ν k² t) with k² = 2 (2 π)².
        exact: 4.0 * tau * tau / re,
        cells,
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

impl Drawn {
    /// A flow of any kind.
    pub(crate) fn new(random: &mut Random) -> Self {
        let kind = random.of(&[0, 1, 2, 3, 4, 4, 4, 5, 6, 7, 7, 8, 8, 9, 10, 11, 12]);
        let dimensions = match kind {
            3 | 6 | 11 => 3,
            9 => random.of(&[2, 3]),
            _ => 2,
        };
        let has_body = matches!(kind, 5 | 6 | 8 | 10 | 11);
        let numerics = Numerics::draw(random, dimensions, has_body);
        let n = random.of(&[8, 12, 16, 20, 24]);
        let re = random.power(-2.5, 2.3);
        let slow = random.power(-3.0, -0.3);
        let length = random.of(&[4, 6, 8]);
        let times = random.of(&[1, 2]);
        let drawn = match kind {
            0 => channel(&numerics, n, re, times == 2),
            1 => couette(&numerics, n, re),
            2 => pulsating(&numerics, n, re),
            3 => duct(&numerics, n, re, times),
            4 => opened(&numerics, random, n, re, length),
            5 => array(&numerics, random, 2 * n, slow, 2),
            6 => array(&numerics, random, n, slow, 3),
            7 => vortices(&numerics, random, n, re),
            8 => walls::rings(&numerics, random, n, re),
            9 => walls::lid(&numerics, random, n, dimensions),
            10 => walls::body_in_channel(&numerics, random),
            11 => walls::pipe(&numerics, random, n, re),
            _ => walls::shaken(&numerics, n, re),
        };
        match random.chance(0.25) {
            true => drawn.settling(random),
            false => drawn,
        }
    }

    /// Updates of cells.
    pub(crate) fn work(&self) -> f64 {
        self.cells * self.steps
    }

    /// The same until it has settled, if it is steady in the end.
    fn settling(mut self, random: &mut Random) -> Self {
        let is_steady = !matches!(self.read, Read::Largest | Read::Decay(_));
        let run = self.case.split_once("[run]\nseconds = ");
        let Some((before, after)) = run.filter(|_| is_steady) else {
            return self;
        };
        let (_, rest) = after.split_once('\n').expect("a line");
        // Probes in time would end before the run does.
        let lines = rest
            .lines()
            .map(|line| match line.starts_with("every_seconds") {
                true => "every_steps = 64\n".to_owned(),
                false => format!("{line}\n"),
            });
        let rest: String = lines.collect();
        let bar = random.power(-6.0, -3.0);
        self.name += &format!(", settle {bar:.1e}");
        self.steps *= 2.0;
        let most = self.steps.ceil();
        self.case = format!("{before}[run]\nsettle = {bar:e}\nmost = {most}\n{rest}");
        self
    }
}
