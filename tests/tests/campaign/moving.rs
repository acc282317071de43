//! Cases of bodies that move: circles in circular holes, and bodies in boxes without walls.

use crate::{
    answers,
    draw::{Drawn, Numerics, Obstacle, PERIODIC, Read, WALLS},
    judge::frequency,
    random::Random,
    walls::circle,
};
use std::f64::consts::PI;

/// A circle in the middle of a round hole of radius 1, whose wall is at rest.
struct Hole {
    /// Radius of the circle.
    radius: f64,
    /// Width of a root cell.
    dx: f64,
    levels: u32,
    /// Root cells along an edge of the box.
    root: f64,
}

impl Hole {
    /// With `n` cells from wall to wall.
    fn draw(random: &mut Random, n: u32) -> Self {
        let radius = random.of(&[0.3, 0.5, 0.7]);
        let levels = random.of(&[1, 1, 2, 3]);
        let dx = (1.0 - radius) / f64::from(n) * f64::from(1 << (levels - 1));
        let root = 8.0 * ((1.0 + dx) / dx / 4.0).ceil();
        Self {
            radius,
            dx,
            levels,
            root,
        }
    }

    fn gap(&self) -> f64 {
        1.0 - self.radius
    }

    fn drawn(
        &self,
        kind: &'static str,
        numerics: &Numerics,
        re: f64,
        time: f64,
        motion: &str,
    ) -> Drawn {
        let Self {
            radius,
            dx,
            levels,
            root,
        } = *self;
        let edge = 0.5 * root * dx;
        Drawn {
            kind,
            name: format!(
                "{kind}, radius {radius}, {:.0} cells, {levels} levels, Re {re:.3}, {motion:?}",
                self.gap() / dx * f64::from(1 << (levels - 1))
            ),
            case: format!(
                "[mesh]\nfile = [\"FOLDER/rim.dat\", \"FOLDER/hole.dat\", \"FOLDER/body.dat\"]\n\
                 domain = [-{edge}, -{edge}, {edge}, {edge}]\nroot = {root}\nlevels = {levels}\nno-picture = true\n{}\
                 [boundary]\n\"x-\" = \"no-slip\"\n\"x+\" = \"no-slip\"\n{WALLS}[motion.body]\n{motion}\n\
                 [run]\nseconds = {time:e}\n[output]\ncheckpoint_at_end = false\n",
                numerics.tables(re, "area = 1\n"),
            ),
            files: vec![
                // All around the hole is solid.
                ("rim.dat", "-9 -9\n9 -9\n9 9\n-9 9\n-9 -9\n".into()),
                ("hole.dat", circle(1.0, -1.0)),
                ("body.dat", circle(radius, 1.0)),
            ],
            dimensions: 2,
            read: Read::Mean,
            exact: f64::NAN,
            cells: root * root * f64::from(levels * levels),
            steps: numerics.steps(time, 1.0 / dx, re, 0.0),
        }
    }
}

/// A circle that turns, with the numerics of the program: there is no force, which both ways of counting it need not agree about.
pub(crate) fn plain_turning() -> Drawn {
    let hole = Hole {
        radius: 0.5,
        dx: 0.5 / 12.0,
        levels: 1,
        root: 56.0,
    };
    Drawn {
        read: Read::Late("motion.csv", "body mz", 0.1),
        exact: -4.0 * PI / 5.0 * 0.5 / 0.75,
        ..hole.drawn(
            "circle that turns",
            &Numerics::plain(),
            5.0,
            2.5,
            "angle = \"2*t\"",
        )
    }
}

/// A circle that turns along a path: its torque, or that of the hole.
pub(crate) fn turning(numerics: &Numerics, random: &mut Random, n: u32, re: f64) -> Drawn {
    let hole = Hole::draw(random, n);
    let (gap, r) = (hole.gap(), hole.radius);
    let time = 1.2 * gap * gap * re + 2.0 * gap;
    let torque = -4.0 * PI / re * r / (1.0 - r * r);
    let (read, exact) = random.of(&[(0, torque), (1, torque), (2, -torque)]);
    Drawn {
        read: match read {
            0 => Read::Late("motion.csv", "body mz", 0.1),
            1 => Read::Coefficient("C_Mz body", 2.0),
            _ => Read::Coefficient("C_Mz hole", 2.0),
        },
        exact: if read == 0 { exact } else { exact.abs() },
        ..hole.drawn(
            "circle that turns",
            numerics,
            re,
            time,
            &format!("angle = \"{}*t\"", 1.0 / r),
        )
    }
}

/// A free circle that turns, with a spring or without one: what is left of its speed, or its frequency.
pub(crate) fn spun(numerics: &Numerics, random: &mut Random, n: u32, re: f64) -> Drawn {
    let hole = Hole::draw(random, n);
    let (gap, r) = (hole.gap(), hole.radius);
    let density = random.power(0.06, 1.3);
    let (share, swings) = (random.between(0.2, 0.8), random.power(-0.5, 1.0));
    let has_spring = random.chance(0.5);
    let inertia = 0.5 * density * PI * r.powi(4);
    let stiffness = match has_spring {
        // Periods in the time that the fluid takes to follow.
        true => inertia * (2.0 * PI * swings / (gap * gap * re)).powi(2),
        false => 0.0,
    };
    let locked = random.of(&["", "locked = [\"x\", \"y\"]\n"]);
    let motion = format!(
        "kind = \"free\"\ndensity = {density}\nomega = {}\n{locked}{}",
        1.0 / r,
        match has_spring {
            true => format!("springs = {{ rz = {stiffness:e} }}"),
            false => String::new(),
        }
    );
    let fall = answers::SpinDown {
        radius: r,
        viscosity: 1.0 / re,
        inertia,
        stiffness,
    };
    let longest = match has_spring {
        true => 4.0 * 2.0 * PI * (inertia / stiffness).sqrt(),
        false => 100.0 * density * re,
    };
    let speeds = fall.speeds(1.0 / r, longest, if has_spring { 0.0 } else { share });
    let time = speeds.last().expect("a start").0;
    let (kind, read, exact) = match has_spring {
        true => (
            "circle on a spring",
            Read::Frequency("motion.csv", "body omega", 0.0),
            frequency(&speeds, 0.0),
        ),
        false => (
            "circle that slows down",
            Read::Last("motion.csv", "body omega"),
            speeds.last().expect("a start").1,
        ),
    };
    Drawn {
        read,
        exact,
        ..hole.drawn(kind, numerics, re, time, &motion)
    }
}

/// A circle that swings by a small part of the gap: amplitude and phase of its force.
pub(crate) fn swinging(numerics: &Numerics, random: &mut Random, n: u32) -> Drawn {
    let hole = Hole::draw(random, n);
    let (gap, r) = (hole.gap(), hole.radius);
    let (part, beta) = (random.power(-2.0, -1.2), random.power(0.0, 2.0));
    // The largest velocity is 1.
    let omega = 1.0 / (part * gap);
    let re = beta * part / gap;
    let periods = 3.0 + (beta / 20.0).ceil();
    let time = periods * 2.0 * PI / omega;
    let force = answers::swinging(r, omega, 1.0 / re);
    Drawn {
        read: Read::Swing("motion.csv", "body fx", omega, force),
        exact: 1.0,
        ..hole.drawn(
            "circle that swings",
            numerics,
            re,
            time,
            &format!(
                "translation = [\"{:e}*(1-cos({omega:e}*t))\", 0]",
                part * gap
            ),
        )
    }
}

/// A free body in a box without walls: carried along by fluid with its own velocity, or it shares its momentum with fluid at
/// rest.
pub(crate) fn afloat(numerics: &Numerics, random: &mut Random, n: u32, dimensions: usize) -> Drawn {
    let is_plane = dimensions == 2;
    let Obstacle {
        fraction,
        radius,
        drag,
        shape,
    } = Obstacle::draw(random, dimensions);
    let is_carried = random.chance(0.4);
    let density = random.power(0.06, 1.0);
    let levels = random.of(&[1, 1, 2]);
    let [body, fluid] = [density * fraction, 1.0 - fraction];
    // Bodies stay in the box: from its middle they have this way, less a margin.
    let way = 0.5 - radius - 2.5 / f64::from(n);
    // The body slows down in this time, at a Reynolds number of 1.
    let slow = body * fluid / (body + fluid) / drag;
    let most = way / (slow + body / (body + fluid) * (8.0 * slow + 0.1));
    let re = match is_carried {
        true => random.power(-1.0, 2.0),
        false => most * random.power(-1.5, 0.0),
    };
    // Coarse meshes leave no way.
    let exact_if = if way > 0.0 { 1.0 } else { f64::NAN };
    let time = match is_carried {
        true => way * random.between(0.3, 1.0),
        false => (8.0 * slow + 0.1) * re,
    };
    let direction = random.of(&[[1.0, 0.0, 0.0], [1.0, 0.37, 0.21]]);
    let velocity = &direction[..dimensions];
    let turns = if is_plane {
        "\"rz\""
    } else {
        "\"rx\", \"ry\", \"rz\""
    };
    let locked = match random.chance(0.5) {
        true => format!("locked = [{turns}]\n"),
        false => String::new(),
    };
    let middle = vec!["0.5"; dimensions].join(",");
    let corners = [vec!["0"; dimensions], vec!["1"; dimensions]]
        .concat()
        .join(",");
    let faces = match is_plane {
        true => "\"y-\" = \"periodic\"\n\"y+\" = \"periodic\"\n",
        false => {
            "\"y-\" = \"periodic\"\n\"y+\" = \"periodic\"\n\"z-\" = \"periodic\"\n\"z+\" = \"periodic\"\n"
        }
    };
    let (kind, initial, read, exact) = match is_carried {
        true => (
            "body carried along",
            format!("[initial]\nvelocity = {velocity:?}\n"),
            Read::Rate("motion.csv", "x"),
            1.0,
        ),
        false => (
            "body that shares its momentum",
            String::new(),
            Read::Last("motion.csv", "u"),
            body / (body + fluid),
        ),
    };
    Drawn {
        kind,
        name: format!(
            "{kind}, {dimensions}D, fraction {fraction}, density {density:.2}, N {n}, {levels} levels, Re {re:.3}"
        ),
        case: format!(
            "[mesh]\nshape = \"{shape}:r={radius:.9}\"\ntranslate = [{middle}]\ndomain = [{corners}]\nroot = {n}\nlevels = {levels}\n\
             periodic = \"{}\"\nno-picture = true\nwall-distance = 0\n{}[boundary]\n{PERIODIC}{faces}{initial}\
             [motion.{shape}]\nkind = \"free\"\ndensity = {density}\nvelocity = {velocity:?}\n{locked}\
             [run]\nseconds = {time:e}\n[output]\ncheckpoint_at_end = false\n",
            &"xyz"[..dimensions],
            numerics.tables(re, ""),
        ),
        files: Vec::new(),
        dimensions,
        read,
        exact: exact * exact_if,
        cells: f64::from(n).powi(dimensions as i32)
            * f64::from(levels * levels)
            * 5f64.powi(dimensions as i32 - 2),
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

impl Drawn {
    /// A flow with a body that moves.
    pub(crate) fn moving(random: &mut Random) -> Self {
        let kind = random.of(&[0, 1, 1, 2, 2, 3, 3, 4]);
        let dimensions = if kind == 4 { 3 } else { 2 };
        let numerics = Numerics::draw(random, dimensions, true);
        let n = random.of(&[8, 12, 16, 20, 24]);
        let re = random.power(-1.5, 2.3);
        loop {
            let drawn = match kind {
                0 => turning(&numerics, random, n, re),
                1 => spun(&numerics, random, n, re),
                2 => swinging(&numerics, random, n),
                3 => afloat(&numerics, random, 2 * n, 2),
                _ => afloat(&numerics, random, n.max(24), 3),
            };
            // A spring in thick oil does not swing.
            if drawn.exact.is_finite() {
                return drawn;
            }
        }
    }
}
