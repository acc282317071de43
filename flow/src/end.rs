//! The end of a run: the final outputs, `summary.json` and the printed summary.

use super::{Flow, Report, RunSummary, Until, page::Standing, steps::Run};
use crate::fields::Moment;
use crate::{means::Statistics, verdict::Verdict, watch::Growth};
use cutlink_common::{Error, ErrorKind, output};
use serde_json::{Map, Value, json};

impl<const D: usize> Run<'_, D> {
    /// Writes the final outputs; an error if something in the flow grows without bound, or the verdict is *wrong*.
    pub(super) fn finish(
        &mut self,
        flow: &mut dyn Flow<D>,
        settled: bool,
        growth: Option<Growth>,
    ) -> Result<RunSummary, Error> {
        self.write_fields(flow, Moment::End)?;
        if self.fields.averages().is_some_and(|a| a.samples() == 0) {
            self.observer.note(
                "the run ended before its averages began; see [output.averages] for the first sample",
            );
        }
        let is_sound = growth.is_none();
        if is_sound && self.setting.checkpoint_at_end && self.saved != Some(flow.steps()) {
            self.save(flow)?;
        }
        let mut now = std::mem::take(&mut self.now);
        let seen = self.seen(flow.steps());
        let report = flow.report(&seen, &mut now)?;
        drop(now);
        let mut statistics = Statistics::new(&self.setting.history);
        let checks = flow.judge(&seen, &statistics);
        let verdict = Verdict::new(checks, &self.setting.accept);
        if verdict.is_wrong("sound") {
            statistics.is_locked();
        }
        self.plot(&statistics)?;
        let settles = matches!(self.setting.until, Until::Settled { .. });
        let settled_or_not = settles.then_some(settled);
        let seconds = self.began.elapsed().as_secs_f64();
        let folder = &self.setting.folder;
        let mut summary = json!({
            "schema": cutlink_common::JSON_SCHEMA,
            "cutlink": env!("CARGO_PKG_VERSION"),
            "command": "solve",
            "device": self.setting.device,
            "folder": folder,
            "steps": flow.steps(),
            "time": flow.time(),
            "settled": settled_or_not,
            "diverging": growth.map(|growth| growth.to_string()),
            "seconds": seconds,
            "output_seconds": self.aside.as_secs_f64(),
            "patches": statistics.summary(),
            "stationary": statistics.stationary(),
            "strouhal": statistics.strouhal(),
            "adapt": self.adapted.as_ref().map(|(looks, _)| looks.summary(seconds)),
            "verdict": verdict.to_json(),
        });
        summary[self.speed_key()] = self.speed().into();
        add(&mut summary, &report.json);
        self.write("summary.json", &format!("{summary:#}\n"))?;
        let text = self.text(&report, &statistics, &verdict, seconds);
        self.write_page(flow, &Standing::Ended(&summary))?;
        if settles && !settled {
            let most = self.setting.most(self.options.steps);
            let name = self.setting.step_name;
            let note = format!("the flow has not settled within {most} {name}s");
            self.observer.note(&note);
        }
        if let Some(growth) = growth {
            let (name, step) = (self.setting.step_name, flow.steps());
            let failure = Error::new(
                ErrorKind::Diverged,
                format!("the flow diverged at {name} {step}: {growth}"),
            );
            return Err(match growth.advice().or_else(|| flow.advice(self.saved)) {
                Some(advice) => failure.hint(advice),
                None => failure,
            });
        }
        self.observer.summary(&text)?;
        if let Some(error) = verdict.error(&self.setting.folder, &summary) {
            return Err(error);
        }
        Ok(RunSummary {
            folder: self.setting.folder.clone(),
            steps: flow.steps(),
            time: flow.time(),
            settled: settled_or_not,
            json: summary,
        })
    }

    /// Writes the plot of the forces.
    fn plot(&self, statistics: &Statistics<'_, D>) -> Result<(), Error> {
        let Some(plot) = statistics.plot() else {
            return Ok(());
        };
        let path = self.setting.folder.join("forces.png");
        output::write(&path, true, |out| {
            plot.write_png(out).map_err(|e| output::failed(&path, &e))
        })?;
        Ok(())
    }

    /// The printed summary.
    fn text(
        &self,
        report: &Report<D>,
        statistics: &Statistics<'_, D>,
        verdict: &Verdict,
        seconds: f64,
    ) -> String {
        let [above, below] = &report.lines;
        let adapted = self.adapted.as_ref();
        let adapted = adapted.map(|(looks, _)| looks.text(seconds));
        format!(
            "{above}{}{below}{}{} without outputs; written to {}\n{}",
            statistics.table(report.parts.as_ref(), &report.torques),
            adapted.unwrap_or_default(),
            self.speed_text(),
            self.setting.folder.display(),
            verdict.text("verdict", self.observer.wants_details()),
        )
    }
}

/// Adds keys to an object.
fn add(to: &mut Value, keys: &Map<String, Value>) {
    for (key, value) in keys {
        to[key] = value.clone();
    }
}
