//! The end of a run: the final outputs, `summary.json` and the printed summary.

use super::{Run, RunSummary, judge::End};
use crate::{
    error::{Error, ErrorKind},
    fields::{Body, Moment},
    output,
    solve::{bulk::Bulk, means::Statistics, parts::Parts, resolve::Until, watch::Growth},
};
use cutlink_solver::{Flow, Les, Motion, PatchCondition};
use cutlink_voxelizer::Fill;
use serde_json::json;

impl<const D: usize> Run<'_, D> {
    /// Pressure and friction forces of a body whose momentum exchange is known at this root step.
    fn parts(&mut self, flow: &dyn Flow<D>) -> Result<Option<Parts<D>>, Error> {
        let sample = self.last.as_ref().filter(|s| s.step == flow.steps());
        let (Some(sample), Some(surface)) = (sample, self.surface) else {
            return Ok(None);
        };
        flow.update(None, &mut self.now)?;
        let (mesh, params, now) = (flow.mesh()?, &self.resolved.params, &self.now);
        let walls = match self.fields.body() {
            Some(body) => body.forces(mesh, now),
            None => Body::new(mesh, surface, params).forces(mesh, now),
        };
        let parts = Parts::new(&self.history, &params.patches, &walls, sample);
        Ok(Some(parts))
    }

    /// The torque coefficients to show: those about the axes of patches that turn.
    fn torques(&self) -> Vec<usize> {
        let turns = |axis: &usize| {
            let about = |patch: &PatchCondition<D>| match patch {
                PatchCondition::Wall {
                    motion: Motion::Rotation { omega, .. },
                    ..
                } => omega[*axis] != 0.0,
                _ => false,
            };
            self.resolved.params.patches.iter().any(about)
        };
        (0..3).filter(turns).map(|axis| 3 + axis).collect()
    }

    /// Writes the final outputs; an error if something in the flow grows without bound, or the verdict is *wrong*.
    pub(super) fn finish(
        &mut self,
        flow: &dyn Flow<D>,
        settled: bool,
        growth: Option<Growth>,
    ) -> Result<RunSummary, Error> {
        self.write_fields(flow, Moment::End)?;
        if self.fields.averages().is_some_and(|a| a.samples() == 0) {
            self.observer.note(
                "the run ended before its averages began; see [output.averages] for the first sample",
            );
        }
        let sound = growth.is_none();
        if sound && self.resolved.checkpoint_at_end && self.saved != Some(flow.steps()) {
            self.save(flow)?;
        }
        let (step, mesh) = (flow.steps(), flow.mesh()?);
        let means = flow.integrals(&self.open, &mut self.now)?;
        let bulk = Bulk::new(step, &means);
        let last = self.last.as_ref();
        let integrals = self.integrals.sample(mesh, &means, &self.now, last);
        let faces = self.openings.look(mesh, &self.now, step);
        let late = self.integrals.late(step, &integrals);
        let imbalance = self.integrals.imbalance(&late);
        let through = self.integrals.through_patches(&late);
        let parts = self.parts(flow)?;
        let mut statistics = Statistics::new(&self.history);
        let square = means.enstrophy / means.kinetic_energy;
        let is_resolved =
            self.resolved.params.les == Les::None && square.is_finite() && square > 0.0;
        let end = End {
            step,
            bulk,
            faces,
            reset: flow.mass_reset(),
            wavelength: is_resolved.then(|| std::f64::consts::TAU / square.sqrt()),
            imbalance,
            through,
            // Walls of a duct are open at its ends: their forces by both ways need not agree.
            parts: parts
                .as_ref()
                .filter(|_| mesh.fill == Fill::NonZero || mesh.fill == Fill::EvenOdd),
        };
        let verdict = self.judge(&end, &statistics);
        if verdict.is_wrong("sound") {
            statistics.is_locked();
        }
        let folder = &self.resolved.folder;
        if let Some(plot) = statistics.plot() {
            let path = folder.join("forces.png");
            output::write(&path, true, |out| {
                plot.write_png(out).map_err(|e| output::failed(&path, &e))
            })?;
        }
        let seconds = self.began.elapsed().as_secs_f64();
        let summary = json!({
            "schema": crate::JSON_SCHEMA,
            "cutlink": env!("CARGO_PKG_VERSION"),
            "command": "solve",
            "device": self.device,
            "folder": folder,
            "steps": flow.steps(),
            "time": flow.steps() as f64 * self.resolved.units.time,
            "settled": matches!(self.resolved.until, Until::Settled { .. }).then_some(settled),
            "reynolds": self.resolved.physics.reynolds(),
            "mach": self.resolved.physics.mach(),
            "area": self.resolved.area,
            "axes": { "drag": self.resolved.axes[0], "lift": self.resolved.axes[1], "side": self.resolved.axes[2] },
            "diverging": growth.map(|growth| growth.to_string()),
            "compressibility": { "mach": bulk.mach(), "pressure_variation": bulk.compression() },
            "mean_density": bulk.density,
            "integrals": self.integrals.summary(&integrals),
            "mlups": self.mlups(flow.steps()),
            "seconds": seconds,
            "output_seconds": self.aside.as_secs_f64(),
            "set_up": self.set_up,
            "bytes": { "flow": self.sheet.flow, "output": self.sheet.output },
            "ranks": self.shares.as_ref().map(|s| s.to_json(None)),
            "walls": self.sheet.walls(),
            "patches": statistics.summary(),
            "parts": parts.as_ref().map(Parts::summary),
            "stationary": statistics.stationary(),
            "strouhal": statistics.strouhal(),
            "adapt": self.adapted.as_ref().map(|(looks, _)| looks.summary(seconds)),
            "verdict": verdict.to_json(),
        });
        self.write("summary.json", &format!("{summary:#}\n"))?;
        if let Until::Settled { most, .. } = self.resolved.until
            && !settled
        {
            self.observer.note(&format!(
                "the flow has not settled within {most} root steps"
            ));
        }
        if let Some(growth) = growth {
            return Err(Error::new(
                ErrorKind::Diverged,
                format!("the flow diverged at root step {}: {growth}", flow.steps()),
            )
            .hint(growth.advice().unwrap_or_else(|| self.advice())));
        }
        let all = self.observer.wants_details();
        self.observer.summary(&format!(
            "{}{}largest Mach number {:.3}, pressure variation {:.2e} of rho c^2\n{}{:.1} MLUPS without outputs; written to {}\n{}",
            statistics.table(parts.as_ref(), &self.torques()),
            self.integrals.text(&integrals, all),
            bulk.mach(),
            bulk.compression(),
            self.adapted
                .as_ref()
                .map(|(looks, _)| looks.text(seconds))
                .unwrap_or_default(),
            self.mlups(flow.steps()),
            folder.display(),
            verdict.text("verdict", all),
        ))?;
        if let Some(error) = verdict.error(folder, &summary) {
            return Err(error);
        }
        Ok(RunSummary {
            folder: folder.clone(),
            steps: flow.steps(),
            time: flow.steps() as f64 * self.resolved.units.time,
            settled: matches!(self.resolved.until, Until::Settled { .. }).then_some(settled),
            json: summary,
        })
    }
}
