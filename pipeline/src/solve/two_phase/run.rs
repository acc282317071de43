//! A run: from a case to histories, fields, checkpoints and a summary.

use super::{
    case::TwoPhaseCase,
    coarse::CoarseRecord,
    flow::TwoPhase,
    heat,
    resolve::TwoPhaseSetting,
    spheres::{Spheres, told},
    tables::Tables,
};
use crate::solve::{
    grains::running::RunningSpheres,
    outcome::{Outcome, case_runs, check_alone},
};
use cutlink_common::{
    Error, Observer,
    device::{DeviceReport, Opened},
    pool,
};
use cutlink_device::{Host, select};
use cutlink_flow::{
    RunOptions, RunPlan, RunSetting,
    fields::{FieldName, FieldUnit, FieldUnits},
    is_tried,
    looks::Looks,
};
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_prescribed::expression::Expression;
use cutlink_vof::{BoxFace, FlowParams, TwoPhaseFlow, step_of_bed};
use cutlink_voxelizer::{VoxelError, kernels::AdaptKernels};
use serde_json::{Value, json};
use std::sync::OnceLock;

/// Steps between two lines of `phases.csv`, by default.
const LINES_EVERY: u64 = 4;

case_runs!(TwoPhaseCase);

impl TwoPhaseCase {
    fn start(
        &self,
        options: &RunOptions,
        only_plan: bool,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        check_alone(options, "two-phase flow")?;
        let choice = options.device.unwrap_or_default().0;
        let mut selected = select(choice)?;
        let work = || {
            let opened = Opened::open(choice, &mut selected)?;
            let begun = Begun {
                options,
                only_plan,
                device: DeviceReport::new(&selected, &opened),
                opened,
                observer,
            };
            match self.dimensions().map_err(|e| e.within(&self.name()))? {
                2 => self.in_dimension::<2>(begun),
                _ => self.in_dimension::<3>(begun),
            }
        };
        pool::install(options.threads, work)
    }

    fn in_dimension<const D: usize>(&self, begun: Begun<'_>) -> Result<Outcome, Error>
    where
        Facet<D>: Exact<D> + Meet<D>,
        Host: AdaptKernels<D>,
    {
        let Begun {
            options,
            only_plan,
            opened,
            device,
            observer,
        } = begun;
        let named = |error: Error| error.within(&self.name());
        let setting = self.setting::<D>(free_bytes(&opened)).map_err(named)?;
        setting.notes.iter().for_each(|note| observer.note(note));
        let more = [setting.spheres.is_some(), setting.heat.is_some()];
        let units = units_of(setting.mesh.frame.dx, setting.dt, more)?;
        let text = self.to_toml()?;
        let run = RunSetting::new(&text, &self.run, &self.output, &setting.mesh, units.clone());
        let mut run = run.map_err(named)?;
        run.file.clone_from(&self.file);
        run.device = device.clone();
        let following = setting.following.as_ref();
        run.looks = following.map(|(_, of)| Looks::of_levels::<D>(of.levels, setting.dt));
        let steps = options.steps.unwrap_or_else(|| run.until.most());
        let plan = plan(&setting, steps, &device);
        if only_plan || observer.wants_summary() {
            observer.summary(&plan.text)?;
        }
        if only_plan && !is_tried(setting.bytes) {
            return Ok(Outcome::Planned(plan));
        }
        let TwoPhaseSetting {
            mesh,
            flow_mesh,
            following,
            params,
            liquid,
            frame,
            velocity,
            measured,
            spheres,
            heat,
            dt,
            ..
        } = setting;
        let is_opening = |face: &BoxFace<D>| !matches!(face, BoxFace::Slip | BoxFace::NoSlip);
        let is_closed = !params.faces.iter().flatten().any(is_opening);
        let mut flow =
            TwoPhaseFlow::new(flow_mesh, params, &liquid).map_err(|error| named(error.into()))?;
        let mut running = None;
        if let Some(spheres) = spheres {
            let coupling = spheres.coupling;
            let (of, bed) = RunningSpheres::new(spheres.of, dt);
            let with = flow.with_grains(bed, coupling);
            flow = with.map_err(|error| named(told(error, &of.ends)))?;
            running = Some(of);
        }
        if let Some(heat) = &heat {
            flow = heat.give(flow).map_err(named)?;
        }
        if let Some((floor, adaptation)) = following {
            let forest = mesh.forest.download(&Host).map_err(VoxelError::from)?;
            flow.follow(forest, floor, adaptation)
                .map_err(|error| named(error.into()))?;
        }
        match velocity {
            Some(velocity) => set_velocity(&mut flow, &velocity).map_err(named)?,
            // What flows in does from the first step on, which its velocity bounds.
            None if flows_in(flow.params()) => {
                flow.set_velocity(|_| [0.0; D])
                    .map_err(|error| named(error.into()))?;
            }
            None => {}
        }
        let flow = on_device(flow, &opened);
        let every = self.output.integrals_every.unwrap_or(LINES_EVERY);
        let of_spheres = running.as_ref().map(RunningSpheres::columns);
        let tables = Tables::new(measured, &flow, dt, of_spheres.unwrap_or_default());
        let record = heat.as_ref().and_then(|of| heat::record(of, &flow, dt));
        let coarse = CoarseRecord::new(
            &flow,
            heat.as_ref().map(|of| (of, heat::slowest(of, &flow))),
        );
        let watched = (tables, frame, running, record, coarse);
        let mut flow = TwoPhase::new(flow, mesh, dt, units, every, is_closed, watched);
        flow.look().map_err(named)?;
        if only_plan {
            let tried = plan.tried(&mut flow, run, options, observer);
            return tried.map(Outcome::Planned).map_err(named);
        }
        cutlink_flow::run(&mut flow, run, options, observer).map(Outcome::Ran)
    }
}

/// Whether a face has a velocity through it.
fn flows_in<const D: usize>(params: &FlowParams<D>) -> bool {
    let through = |axis: usize, face: &BoxFace<D>| matches!(face, BoxFace::Inflow { velocity, .. } if velocity[axis] != 0.0);
    (0..D).any(|axis| params.faces[axis].iter().any(|face| through(axis, face)))
}

/// What a run begins with.
struct Begun<'a> {
    options: &'a RunOptions,
    only_plan: bool,
    opened: Opened,
    device: DeviceReport,
    observer: &'a mut dyn Observer,
}

/// Free memory of a device that is not the host.
fn free_bytes(opened: &Opened) -> Option<u64> {
    match opened {
        Opened::Cpu => None,
        #[cfg(feature = "cuda")]
        Opened::Cuda(cuda) => Some(cutlink_device::Backend::free_bytes(cuda)),
    }
}

/// The flow, whose steps are made on the device.
fn on_device<const D: usize>(flow: TwoPhaseFlow<D>, opened: &Opened) -> TwoPhaseFlow<D> {
    match opened {
        Opened::Cpu => flow,
        #[cfg(feature = "cuda")]
        Opened::Cuda(cuda) => flow.on(cuda),
    }
}

/// Sets the velocity at the start.
fn set_velocity<const D: usize>(
    flow: &mut TwoPhaseFlow<D>,
    velocity: &[Expression; D],
) -> Result<(), Error> {
    let failed = OnceLock::new();
    flow.set_velocity(|x| {
        std::array::from_fn(|a| match velocity[a].at(&x, 0.0) {
            Ok(u) => u,
            Err(reason) => {
                let _ = failed.set(reason);
                0.0
            }
        })
    })?;
    match failed.into_inner() {
        None => Ok(()),
        Some(reason) => Err(Error::input(format!("[initial] velocity: {reason}"))),
    }
}

/// Values are in SI units; what is derived on the mesh is by its root cells.
fn units_of(dx: f64, dt: f64, [particles, heat]: [bool; 2]) -> Result<FieldUnits, Error> {
    let one = |unit: &str| FieldUnit::new(1.0, unit);
    let scalar = |name: &str, unit: &str| {
        let field = FieldName::new(name);
        let field = field.ok_or_else(|| Error::input(format!("{name} is no name of a field")))?;
        Ok::<_, Error>((field, one(unit)))
    };
    let mut scalars = vec![scalar("alpha", "1")?];
    if particles {
        scalars.push(scalar("solid-fraction", "1")?);
    }
    if heat {
        scalars.push(scalar("temperature", "K")?);
    }
    Ok(FieldUnits {
        time: FieldUnit::new(dt, "s"),
        velocity: one("m/s"),
        pressure: one("Pa"),
        density: one("kg/m^3"),
        vorticity: FieldUnit::new(1.0 / dx, "1/s"),
        q: FieldUnit::new(1.0 / (dx * dx), "1/s^2"),
        scalars,
        particles,
    })
}

/// The forecast.
fn plan<const D: usize>(
    setting: &TwoPhaseSetting<D>,
    steps: u64,
    device: &DeviceReport,
) -> RunPlan {
    let TwoPhaseSetting {
        mesh,
        params,
        dt,
        cells,
        bytes,
        following,
        spheres,
        heat,
        ..
    } = setting;
    let follows = match following {
        Some((_, of)) => format!(
            "; the mesh follows the interface{}, up to {} cells",
            if spheres.is_some() {
                " and the spheres"
            } else {
                ""
            },
            of.max_cells
        ),
        None => String::new(),
    };
    let levels = mesh.forest.levels.len();
    let h = mesh.frame.dx / f64::from(1u32 << (levels - 1));
    let time = steps as f64 * dt;
    let [liquid, gas] = params.phases.density;
    let (of_spheres, said) = match spheres {
        Some(of) => forecast(of, params, h, *dt),
        None => (Value::Null, String::new()),
    };
    let with_heat = heat.as_ref().map_or("", |_| " with heat");
    let text = format!(
        "device  {}\ntwo-phase flow in {D}D, densities {liquid} and {gas} kg/m³\n{cells} cells on {levels} level{}, {:.1} MB{with_heat}; \
         the finest are {h:.4e} m wide{follows}\n{steps} steps of {dt:.4e} s: {time:.6} s; each is divided where the Courant number, \
         capillary waves or gravity ask for it\n{said}",
        device.text(),
        if levels == 1 { "" } else { "s" },
        *bytes as f64 / 1e6,
    );
    let json = json!({
        "schema": cutlink_common::JSON_SCHEMA,
        "cutlink": env!("CARGO_PKG_VERSION"),
        "command": "solve",
        "kind": "two-phase",
        "device": device,
        "cells": cells,
        "levels": levels,
        "max_cells": following.as_ref().map(|(_, of)| of.max_cells),
        "bytes": { "flow": bytes },
        "steps": steps,
        "dt": dt,
        "time": time,
        "particles": of_spheres,
        "heat": heat.is_some(),
    });
    RunPlan::new(text, json)
}

/// The forecast of spheres: keys, and lines of text.
fn forecast<const D: usize>(
    of: &Spheres,
    params: &FlowParams<D>,
    h: f64,
    dt: f64,
) -> (Value, String) {
    let allowed = step_of_bed(&of.of.bed, &of.coupling, params, h).min(dt);
    let (mut json, text) = of.of.forecast(h, (!of.coupling.held).then_some(allowed));
    json["dt"] = json!(allowed);
    (json, text)
}
