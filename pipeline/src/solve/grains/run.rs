//! A run: from a case to histories, spheres, fields, checkpoints and a summary.

use super::{case::GrainsCase, flow::GrainsFlow, resolve::GrainsSetting};
use crate::solve::outcome::{Outcome, case_runs, check_alone};
use cutlink_common::{Error, Observer, device::DeviceReport, pool};
use cutlink_device::DeviceChoice;
use cutlink_flow::{
    RunOptions, RunPlan, RunSetting,
    fields::{FieldName, FieldUnit, FieldUnits},
    is_tried,
    tables::{FieldUnitsName, OutputTable},
};
use serde_json::json;

/// Steps between two lines of the tables, by default.
const LINES_EVERY: u64 = 256;

case_runs!(GrainsCase);

impl GrainsCase {
    fn start(
        &self,
        options: &RunOptions,
        only_plan: bool,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        check_alone(options, "a bed of grains")?;
        if let DeviceChoice::Cuda(_) = options.device.unwrap_or_default().0 {
            return Err(Error::input("a bed of grains does not run on a GPU")
                .hint("leave --device out, or choose cpu"));
        }
        pool::install(options.threads, || self.go(options, only_plan, observer))
    }

    fn go(
        &self,
        options: &RunOptions,
        only_plan: bool,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let named = |error: Error| error.within(&self.name());
        check_outputs(&self.output).map_err(named)?;
        let setting = self.setting().map_err(named)?;
        setting.notes.iter().for_each(|note| observer.note(note));
        let every = match self.output.integrals_every {
            Some(0) => {
                return Err(named(Error::input("[output] integrals_every is 0"))
                    .hint("tables are what the verdict is made from: it must be at least 1"));
            }
            every => every.unwrap_or(LINES_EVERY),
        };
        let units = units_of(setting.mesh.frame.dx, setting.bed.params().dt)?;
        let text = self.to_toml()?;
        let run = RunSetting::new(&text, &self.run, &self.output, &setting.mesh, units.clone());
        let mut run = run.map_err(named)?;
        run.file.clone_from(&self.file);
        let steps = options.steps.unwrap_or_else(|| run.until.most());
        let plan = plan(&setting, steps);
        if only_plan || observer.wants_summary() {
            observer.summary(&plan.text)?;
        }
        if only_plan && !is_tried(setting.bytes) {
            return Ok(Outcome::Planned(plan));
        }
        let mut flow = GrainsFlow::new(setting, units, every);
        if only_plan {
            let tried = plan.tried(&mut flow, run, options, observer);
            return tried.map(Outcome::Planned).map_err(named);
        }
        cutlink_flow::run(&mut flow, run, options, observer).map(Outcome::Ran)
    }
}

/// Refuses keys of outputs that are those of lattices and of bodies in a fluid.
fn check_outputs(given: &OutputTable) -> Result<(), Error> {
    let unused = [
        (
            "units",
            given.units.is_some_and(|units| units != FieldUnitsName::Si),
        ),
        ("forces_every", given.forces_every.is_some()),
        ("recirculation", given.recirculation.is_some()),
    ];
    match unused.into_iter().find(|(_, unused)| *unused) {
        None => Ok(()),
        Some((key, _)) => Err(
            Error::input(format!("[output] {key} is not for grains")).hint(
                "remove it: values are in SI units, and loads.csv has forces every integrals_every steps",
            ),
        ),
    }
}

/// Values are in SI units; what is derived on the cells is by their edge.
fn units_of(dx: f64, dt: f64) -> Result<FieldUnits, Error> {
    let name = FieldName::new("solid-fraction")
        .ok_or_else(|| Error::input("solid-fraction is no name of a field"))?;
    Ok(FieldUnits {
        vorticity: FieldUnit::new(1.0 / dx, "1/s"),
        q: FieldUnit::new(1.0 / (dx * dx), "1/s^2"),
        scalars: vec![(name, FieldUnit::new(1.0, "1"))],
        particles: true,
        ..FieldUnits::si(dt, dt, 1.0)
    })
}

/// The forecast.
fn plan(setting: &GrainsSetting, steps: u64) -> RunPlan {
    let GrainsSetting {
        bed,
        walls,
        mesh,
        materials,
        limit,
        speed,
        bytes,
        ..
    } = setting;
    let (count, dt) = (bed.len(), bed.params().dt);
    let radii = bed.grains().into_iter().map(|grain| grain.radius);
    let [least, most] = radii.fold([f64::INFINITY, 0.0], |[l, m], r| [l.min(r), m.max(r)]);
    let facets: usize = walls.each.iter().map(|(_, wall)| wall.facets()).sum();
    let surfaces = match walls.each.len() {
        0 => String::new(),
        1 => format!("; a surface of {facets} facets"),
        n => format!("; {n} surfaces of {facets} facets"),
    };
    let radius = match least == most {
        true => format!("radius {least:.4e} m"),
        false => format!("radii {least:.4e} to {most:.4e} m"),
    };
    let time = steps as f64 * dt;
    let device = DeviceReport::cpu();
    let text = format!(
        "device  {}\n{count} sphere{}, {radius}, of {}{surfaces}; {:.1} MB\n{steps} steps of {dt:.4e} s: {time:.6} s; the {} \
         limit is {:.4e} s, up to {speed:.3} m/s\nfields on cells of {:.4e} m\n",
        device.text(),
        if count == 1 { "" } else { "s" },
        materials.join(", "),
        *bytes as f64 / 1e6,
        limit.rule,
        limit.limit,
        mesh.frame.dx,
    );
    let json = json!({
        "schema": cutlink_common::JSON_SCHEMA,
        "cutlink": env!("CARGO_PKG_VERSION"),
        "command": "solve",
        "kind": "grains",
        "device": device,
        "spheres": count,
        "facets": facets,
        "bytes": { "flow": bytes },
        "steps": steps,
        "dt": dt,
        "time": time,
        "limit": { "rule": limit.rule, "dt": limit.limit, "speed": speed },
        "cell": mesh.frame.dx,
    });
    RunPlan::new(text, json)
}
