//! `phases.csv`, `loads.csv` and `gauges.csv`.

use super::case::{GaugeTable, TwoPhaseCase};
use super::resolve::{AXES, numbers, side_name};
use cutlink_common::Error;
use cutlink_flow::{Lines, Table};
use cutlink_vof::{BoxFace, TwoPhaseFlow};

/// A gauge, resolved.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Gauge<const D: usize> {
    name: String,
    through: [f64; D],
    axis: usize,
    /// 1 up the axis, -1 down it.
    up: f64,
}

/// What is measured beside the phases.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured<const D: usize> {
    gauges: Vec<Gauge<D>>,
    /// The point that moments are about.
    about: [f64; D],
    /// Walls with loads: their number in [`TwoPhaseFlow::loads`], and their name.
    walls: Vec<(usize, String)>,
}

impl<const D: usize> Measured<D> {
    pub(super) fn new(
        gauges: Vec<Gauge<D>>,
        about: [f64; D],
        faces: &[[BoxFace<D>; 2]; D],
        periodic: [bool; 3],
        has_bodies: bool,
    ) -> Self {
        let is_wall = |side: &usize| {
            let face = faces[side / 2][side % 2];
            !periodic[side / 2] && matches!(face, BoxFace::Slip | BoxFace::NoSlip)
        };
        let mut walls: Vec<(usize, String)> = (0..2 * D)
            .filter(is_wall)
            .map(|side| (side, side_name(side)))
            .collect();
        walls.extend(has_bodies.then(|| (2 * D, "bodies".to_owned())));
        Self {
            gauges,
            about,
            walls,
        }
    }
}

/// The tables of a run.
pub(super) struct Tables<const D: usize> {
    pub(super) phases: Lines,
    loads: Lines,
    gauges: Lines,
    measured: Measured<D>,
    has_loads: bool,
}

impl<const D: usize> Tables<D> {
    /// Empty tables of a flow with steps of so many seconds; `of_spheres`: columns of their forces on walls.
    pub(super) fn new(
        mut measured: Measured<D>,
        flow: &TwoPhaseFlow<D>,
        dt: f64,
        of_spheres: Vec<String>,
    ) -> Self {
        let loads = flow.loads(measured.about);
        measured.walls.retain(|(wall, _)| loads[*wall].area > 0.0);
        let lines = |file, names: Vec<String>| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Lines::new(file, &names, dt)
        };
        let gauges = measured.gauges.iter();
        let gauges = gauges.flat_map(|g| ["length", "top"].map(|of| format!("{} {of}", g.name)));
        let mut loads = columns_of_loads(&measured);
        loads.extend(of_spheres);
        Self {
            phases: lines("phases.csv", columns(D)),
            has_loads: !loads.is_empty(),
            loads: lines("loads.csv", loads),
            gauges: lines("gauges.csv", gauges.collect()),
            measured,
        }
    }

    /// Those that have columns.
    pub(super) fn all(&mut self) -> Vec<&mut dyn Table> {
        let mut tables: Vec<&mut dyn Table> = vec![&mut self.phases];
        if self.has_loads {
            tables.push(&mut self.loads);
        }
        if !self.measured.gauges.is_empty() {
            tables.push(&mut self.gauges);
        }
        tables
    }

    /// Adds lines of loads, which there are after the first step, and of gauges; `of_spheres`: their forces on walls.
    pub(super) fn measure(&mut self, step: u64, flow: &TwoPhaseFlow<D>, of_spheres: Vec<f64>) {
        let measured = &self.measured;
        if self.has_loads && step > 0 {
            let loads = flow.loads(measured.about);
            let moments = if D == 2 { 2..3 } else { 0..3 };
            let of = |(wall, _): &(usize, String)| {
                let load = &loads[*wall];
                let mut line = load.pressure.to_vec();
                line.extend(load.friction);
                line.extend(&load.moment[moments.clone()]);
                line
            };
            let mut line: Vec<f64> = measured.walls.iter().flat_map(of).collect();
            line.extend(of_spheres);
            self.loads.add(step, line);
        }
        if !measured.gauges.is_empty() {
            let of = |g: &Gauge<D>| flow.along(g.through, g.axis, g.up);
            let line = measured.gauges.iter().flat_map(of).collect();
            self.gauges.add(step, line);
        }
    }
}

/// Columns of `phases.csv` behind step and time, of axes by name.
fn columns(d: usize) -> Vec<String> {
    let axes = &AXES[..d];
    let mut names: Vec<String> = [
        "liquid volume",
        "gas volume",
        "kinetic energy",
        "potential energy",
    ]
    .map(str::to_owned)
    .into();
    names.extend(axes.iter().map(|a| format!("liquid centre {a}")));
    names.extend(axes.iter().map(|a| format!("liquid velocity {a}")));
    for end in ["lower", "upper"] {
        names.extend(axes.iter().map(|a| format!("liquid {end} {a}")));
    }
    names.extend(
        [
            "interface area",
            "largest velocity",
            "substeps",
            "iterations",
            "Courant",
            "divergence",
            "fitted curvatures",
        ]
        .map(str::to_owned),
    );
    names
}

fn columns_of_loads<const D: usize>(measured: &Measured<D>) -> Vec<String> {
    let of = |(_, wall): &(usize, String)| {
        let mut names = Vec::new();
        for what in ["pressure", "friction"] {
            names.extend(AXES[..D].iter().map(|a| format!("{wall} {what} {a}")));
        }
        let moments = if D == 2 { &AXES[2..] } else { &AXES[..] };
        names.extend(moments.iter().map(|a| format!("{wall} moment {a}")));
        names
    };
    measured.walls.iter().flat_map(of).collect()
}

impl TwoPhaseCase {
    /// The gauges.
    ///
    /// # Errors
    /// Keys that are missing or make no sense.
    pub(super) fn lines<const D: usize>(&self, gravity: [f64; D]) -> Result<Vec<Gauge<D>>, Error> {
        let mut gauges: Vec<Gauge<D>> = Vec::new();
        for table in &self.gauges {
            let gauge = self.gauge(table, gravity)?;
            if gauges.iter().any(|other| other.name == gauge.name) {
                return Err(
                    Error::input(format!("two [[gauge]] are named {:?}", gauge.name))
                        .hint("names are columns of gauges.csv"),
                );
            }
            gauges.push(gauge);
        }
        Ok(gauges)
    }

    fn gauge<const D: usize>(
        &self,
        table: &GaugeTable,
        gravity: [f64; D],
    ) -> Result<Gauge<D>, Error> {
        let name = &table.name;
        if name.is_empty() || name.contains([',', '"', '\n', '\r']) {
            return Err(Error::input(format!("[[gauge]] name is {name:?}"))
                .hint("a name without commas and quotes, which is a column of gauges.csv"));
        }
        let wrong = |what: String, hint: &str| {
            Err(Error::input(format!("[[gauge]] {name}: {what}")).hint(hint.to_owned()))
        };
        let (axis, up) = match &table.axis {
            Some(given) => {
                let Some(side) = (0..2 * D).find(|&side| side_name(side) == *given) else {
                    return wrong(
                        format!("axis is {given:?}"),
                        "an axis and the direction that is up, such as \"z+\"",
                    );
                };
                (side / 2, if side % 2 == 1 { 1.0 } else { -1.0 })
            }
            None => {
                let largest = (0..D).fold(0, |most, a| {
                    if gravity[a].abs() > gravity[most].abs() {
                        a
                    } else {
                        most
                    }
                });
                if gravity[largest] == 0.0 {
                    return wrong("there is no gravity".into(), "give axis, such as \"z+\"");
                }
                (largest, -gravity[largest].signum())
            }
        };
        let through: [f64; D] = numbers(&format!("[[gauge]] {name}: at"), &table.at)?;
        let bounds = &self.domain.bounds;
        let outside = |&a: &usize| !(through[a] >= bounds[a] && through[a] <= bounds[D + a]);
        if let Some(a) = (0..D).filter(|&a| a != axis).find(outside) {
            return wrong(
                format!("its line is outside of the box along {}", AXES[a]),
                "the line goes through at, parallel to axis",
            );
        }
        Ok(Gauge {
            name: name.clone(),
            through,
            axis,
            up,
        })
    }
}
