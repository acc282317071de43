//! Cases of flows that walls move, and of bodies and walls by their cut links.

use crate::{
    answers,
    draw::{Drawn, Numerics, PERIODIC, Read, WALLS, middles, probes},
    random::Random,
};
use std::{f64::consts::PI, fmt::Write as _};

/// A closed polyline along a circle, counter-clockwise where `sign` is 1.
pub(crate) fn circle(radius: f64, sign: f64) -> String {
    const PARTS: u32 = 720;
    let mut text = String::new();
    for k in 0..=PARTS {
        let angle = sign * 2.0 * PI * f64::from(k % PARTS) / f64::from(PARTS);
        let _ = writeln!(
            text,
            "{:?} {:?}",
            radius * angle.cos(),
            radius * angle.sin()
        );
    }
    text
}

/// Fluid between two circles, one of which turns; `n` cells across the gap, and the torque on either.
pub(crate) fn rings(numerics: &Numerics, random: &mut Random, n: u32, re: f64) -> Drawn {
    let ratio = random.of(&[0.3, 0.5, 0.8]);
    let levels = random.of(&[1, 1, 2, 3]);
    let (turns, radius) = random.of(&[("inner", ratio), ("outer", 1.0)]);
    let column = random.of(&["C_Mz inner", "C_Mz outer"]);
    let gap = 1.0 - ratio;
    // The finest cells are the smallest ones that the walls have.
    let dx = gap / f64::from(n) * f64::from(1 << (levels - 1));
    let half = 4.0 * ((1.0 + 3.0 * dx) / dx / 4.0).ceil();
    let edge = half * dx;
    // The slowest mode decays in gap² / (π² ν).
    let time = (1.2 * gap * gap * re + 2.0 * gap) * random.of(&[1.0, 1.0, 6.0]);
    let omega = 1.0 / radius;
    let torque = 4.0 * PI / re * omega * ratio * ratio / (1.0 - ratio * ratio);
    let cells = (2.0 * half).powi(2) * f64::from(levels * levels);
    Drawn {
        kind: "rings",
        name: format!(
            "rings, {ratio}, {turns} turns, N {n}, {levels} levels, Re {re:.3}, {column}"
        ),
        case: format!(
            "[mesh]\nfile = [\"FOLDER/outer.dat\", \"FOLDER/inner.dat\"]\nflow = \"inside\"\n\
             domain = [-{edge}, -{edge}, {edge}, {edge}]\nroot = {}\nlevels = {levels}\nno-picture = true\n{}\
             [boundary]\n\"x-\" = \"no-slip\"\n\"x+\" = \"no-slip\"\n{WALLS}\
             [patches.{turns}]\ntype = \"rotating\"\ncenter = [0, 0]\nomega = {omega}\n\
             [run]\nseconds = {time:e}\n[output]\ncheckpoint_at_end = false\n",
            2.0 * half,
            numerics.tables(re, "area = 1\n"),
        ),
        files: vec![
            ("outer.dat", circle(1.0, 1.0)),
            ("inner.dat", circle(ratio, -1.0)),
        ],
        dimensions: 2,
        read: Read::Coefficient(column, 2.0),
        exact: torque,
        cells,
        steps: numerics.steps(time, 1.0 / dx, re, 0.0),
    }
}

/// A lid-driven cavity: the least velocity along the middle.
pub(crate) fn lid(numerics: &Numerics, random: &mut Random, n: u32, dimensions: usize) -> Drawn {
    let [re, least] = random.of(&answers::LIDS);
    let n = if dimensions == 2 { 2 * n } else { n };
    let time = 0.2 * re;
    // In 3D four cells between periodic faces.
    let [depth, more, sides, zero] = match dimensions {
        2 => [const { String::new() }; 4],
        _ => [
            format!(", {}", 4.0 / f64::from(n)),
            "x4".into(),
            "\"z-\" = \"periodic\"\n\"z+\" = \"periodic\"\n".into(),
            ", 0".into(),
        ],
    };
    let points = middles(n, 1.0).map(|y| match dimensions {
        2 => vec![0.5, y],
        _ => vec![0.5, y, 2.0 / f64::from(n)],
    });
    Drawn {
        kind: "lid",
        name: format!("lid in {dimensions}D, N {n}, Re {re}"),
        case: format!(
            "[domain]\nbox = [0, 0{zero}, 1, 1{depth}]\nroot = \"{n}x{n}{more}\"\n{}[boundary]\n\"x-\" = \"no-slip\"\n\"x+\" = \"no-slip\"\n\
             \"y-\" = \"no-slip\"\n\"y+\" = {{ type = \"velocity\", velocity = [1, 0{zero}] }}\n{sides}[run]\nseconds = {time:e}\n{}",
            numerics.tables(re, ""),
            probes(points, &format!("every_seconds = {time:e}"))
        ),
        files: Vec::new(),
        dimensions,
        read: Read::Least,
        exact: least,
        cells: 0.2 * f64::from(n * n) * [1.0, 8.0][dimensions - 2],
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

/// A cylinder in a channel, Re 20: its drag.
pub(crate) fn body_in_channel(numerics: &Numerics, random: &mut Random) -> Drawn {
    let (across, levels) = random.of(&[(8, 3), (8, 4), (16, 3)]);
    let dx = 4.1 / f64::from(across);
    let along = 4 * (22.0 / dx / 4.0).round() as u32;
    let outlet = random.of(&["\"pressure\"", "\"outflow\""]);
    let time = 40.0;
    Drawn {
        kind: "cylinder in a channel",
        name: format!("cylinder in a channel, {across} root cells, {levels} levels"),
        case: format!(
            "[mesh]\nshape = \"circle:r=0.5\"\ntranslate = [2, 2]\ndomain = [0, 0, {}, 4.1]\nroot = \"{along}x{across}\"\n\
             levels = {levels}\nno-picture = true\nwall-distance = 0.5\n{}[boundary]\n\
             \"x-\" = {{ type = \"velocity\", velocity = [\"6*y*(4.1-y)/4.1^2\", 0] }}\n\"x+\" = {outlet}\n{WALLS}\
             [run]\nseconds = {time:e}\n[output]\ncheckpoint_at_end = false\n",
            f64::from(along) * dx,
            numerics.tables(20.0, ""),
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Coefficient("C_D circle", 1.0),
        exact: answers::BODY_IN_CHANNEL,
        cells: 2.0 * f64::from(along * across),
        steps: numerics.steps(time, 1.0 / dx, 20.0, 1.5),
    }
}

/// A round pipe by its surface, which a force drives: velocities of cells around its axis.
pub(crate) fn pipe(numerics: &Numerics, random: &mut Random, n: u32, re: f64) -> Drawn {
    let dx = 1.0 / f64::from(n);
    let (half, time) = (0.5 + 2.0 * dx, 0.5 * re);
    let at = random.between(-0.4, 0.4) * dx;
    let radii = [0.5, 1.5, 2.5].map(|cells| cells * dx);
    let points = radii.map(|r| vec![2.0 * dx, at + r, at]);
    let exact = radii.map(|r| 2.0 * (1.0 - 4.0 * r * r));
    Drawn {
        kind: "pipe",
        name: format!("pipe, N {n}, Re {re:.3}"),
        case: format!(
            "[mesh]\nshape = \"cylinder:r=0.5,h={}\"\nrotate = [\"y:90\"]\ntranslate = [{}, {at:.9}, {at:.9}]\nflow = \"inside\"\n\
             domain = [0, -{half}, -{half}, {}, {half}, {half}]\nroot = \"4x{m}x{m}\"\nlevels = 1\nperiodic = \"x\"\n\
             no-picture = true\n{}[boundary]\n{PERIODIC}{WALLS}\"z-\" = \"no-slip\"\n\"z+\" = \"no-slip\"\n\
             [run]\nseconds = {time:e}\n{}",
            24.0 * dx,
            2.0 * dx,
            4.0 * dx,
            numerics.tables(re, &format!("acceleration = [{:e}, 0, 0]\n", 32.0 / re)),
            probes(points.into_iter(), &format!("every_seconds = {time:e}")),
            m = n + 4,
        ),
        files: Vec::new(),
        dimensions: 3,
        read: Read::Mean,
        exact: exact.iter().sum::<f64>() / 3.0,
        cells: 5.0 * f64::from(4 * n * n),
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}

/// A channel whose lower wall moves to and fro: the largest velocity in the middle.
pub(crate) fn shaken(numerics: &Numerics, n: u32, re: f64) -> Drawn {
    let period = 0.5 * re;
    let (omega, time) = (2.0 * PI / period, 4.0 * period);
    let width = 4.0 / f64::from(n);
    let y = 0.5 - 0.5 / f64::from(n);
    Drawn {
        kind: "channel, shaken",
        name: format!("channel, shaken, N {n}, Re {re:.3}"),
        case: format!(
            "[domain]\nbox = [0, 0, {width}, 1]\nroot = \"4x{n}\"\n{}[boundary]\n{PERIODIC}\"y+\" = \"no-slip\"\n\
             \"y-\" = {{ type = \"velocity\", velocity = [\"cos({omega:e}*t)\", 0], ramp = 0 }}\n[run]\nseconds = {time:e}\n{}",
            numerics.tables(re, ""),
            probes(
                std::iter::once(vec![0.5 * width, y]),
                &format!("every_seconds = {:e}", period / 64.0)
            )
        ),
        files: Vec::new(),
        dimensions: 2,
        read: Read::Largest,
        exact: answers::shaken(omega, 1.0 / re, y),
        cells: 4.0 * f64::from(n),
        steps: numerics.steps(time, f64::from(n), re, 0.0),
    }
}
