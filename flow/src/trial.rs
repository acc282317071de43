//! How long a run will take, by its first steps: the flow itself goes through the run loop for about a second, without files.
//!
//! A speed of cells alone does not tell: small flows wait for threads or launches, bodies that move are embedded again, meshes follow
//! the flow, and values are summed at looks. Of runs of a second or two the report at the end takes as long as the steps: it is made
//! once, too.

use crate::{
    Flow, FlowState, RunOptions, RunPlan, RunSetting, Seen, Until,
    fields::{FieldWriter, Start},
    history::History,
    page::{begin_page, frames},
    steps::{is_watched, to_next_check},
};
use cutlink_common::{Error, Observer};
use cutlink_device::memory;
use cutlink_report::ReportPage;
use cutlink_solver::ForceSample;
use std::{
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

/// Wall time of the steps that are measured.
const BUDGET: Duration = Duration::from_secs(1);

/// Bytes up to which a flow is made to be tried, if the memory has four times as many.
const MOST: u64 = 1 << 30;

/// Whether a flow of so many bytes is small enough to be made for a forecast.
pub fn is_tried(bytes: u64) -> bool {
    bytes <= MOST.min(memory::available() / 4)
}

/// What was measured.
struct Pace {
    steps: u64,
    stepping: Duration,
    looks: u32,
    looking: Duration,
    /// Steps between two looks.
    between: f64,
}

impl Pace {
    /// Seconds of so many steps with their looks.
    fn seconds(&self, steps: u64) -> f64 {
        let step = self.stepping.as_secs_f64() / self.steps.max(1) as f64;
        let look = self.looking.as_secs_f64() / f64::from(self.looks.max(1));
        steps as f64 * (step + look / self.between)
    }
}

impl RunPlan {
    /// Adds how long the run will take, after a trial of the flow, which is in its initial state: about a second. Writes nothing.
    ///
    /// # Errors
    /// Those of a step: a device that fails, too little memory. A flow that diverges is none here.
    pub fn tried<const D: usize>(
        mut self,
        flow: &mut dyn Flow<D>,
        mut setting: RunSetting<D>,
        options: &RunOptions,
        observer: &mut dyn Observer,
    ) -> Result<Self, Error> {
        let steps = setting.most(options.steps);
        let most = match setting.until {
            Until::Steps(_) => "",
            Until::Settled { .. } => "at most ",
        };
        let name = setting.step_name;
        let outputs = if setting.specs.is_empty() {
            ""
        } else {
            ", without [[output.write]]"
        };
        let history = std::mem::replace(&mut setting.history, History::of_patches(&[], &[]));
        let mut trial = Trial::new(flow.steps(), history, setting.has_forces);
        let pace = trial.pace(flow, steps)?;
        let of_steps = pace.seconds(steps) * flow.slows(steps).max(1.0);
        let of_results = trial.results(flow, &setting, steps)?;
        let seconds = of_steps + of_results;
        let results = match of_results > 0.05 * seconds {
            true => format!(", {} of it for the report", duration(of_results)),
            false => String::new(),
        };
        let text = format!(
            "time: {most}{steps} {name}s, about {} by {} of them{results}{outputs}\n",
            duration(seconds),
            pace.steps
        );
        observer.summary(&text)?;
        self.text += &text;
        self.json["seconds"] = seconds.into();
        Ok(self)
    }
}

/// A flow that goes through its first steps as in the run loop.
struct Trial<const D: usize> {
    start: u64,
    history: History<D>,
    has_forces: bool,
    last: Option<ForceSample>,
    now: FlowState<D>,
}

impl<const D: usize> Trial<D> {
    fn new(start: u64, history: History<D>, has_forces: bool) -> Self {
        Self {
            start,
            history,
            has_forces,
            last: None,
            now: FlowState::default(),
        }
    }

    fn seen(&self, step: u64) -> Seen<'_, D> {
        Seen {
            step,
            last: self.last.as_ref(),
            has_forces: self.has_forces,
            wants_details: false,
            is_start: step == self.start,
            is_watched: is_watched(step, self.start),
            history: &self.history,
            body: None,
        }
    }

    fn look(&mut self, flow: &mut dyn Flow<D>) -> Result<(), Error> {
        let mut samples = flow.take_loads()?;
        self.history.add(&samples);
        self.last = samples.pop().or(self.last.take());
        let mut now = std::mem::take(&mut self.now);
        flow.look(&self.seen(flow.steps()), &mut now)?;
        self.now = now;
        Ok(())
    }

    /// Takes the flow through its first steps, of so many.
    fn pace(&mut self, flow: &mut dyn Flow<D>, steps: u64) -> Result<Pace, Error> {
        flow.begin()?;
        self.look(flow)?;
        // The first steps make what later ones have.
        flow.advance(1)?;
        flow.wait()?;
        let mut pace = Pace {
            steps: 0,
            stepping: Duration::ZERO,
            looks: 0,
            looking: Duration::ZERO,
            between: 1.0,
        };
        let (mut epoch, mut chunks, mut planned) = (flow.epoch(), 0u32, 0u64);
        while pace.stepping + pace.looking < BUDGET && (flow.steps() < steps || pace.looks == 0) {
            let due = to_next_check(flow, []);
            (chunks, planned) = (chunks + 1, planned + due);
            let mut left = due.min(steps.saturating_sub(flow.steps()));
            while left > 0 && pace.stepping + pace.looking < BUDGET {
                // As many as take a tenth of the budget, by those so far.
                let each = pace.stepping.as_secs_f64() / pace.steps.max(1) as f64;
                let fits = (0.1 * BUDGET.as_secs_f64() / each.max(1e-9)) as u64;
                let some = if pace.steps == 0 { 1 } else { fits.max(1) }.min(left);
                let began = Instant::now();
                flow.advance(some)?;
                flow.wait()?;
                if flow.epoch() != epoch {
                    epoch = flow.epoch();
                    flow.follow()?;
                }
                pace.stepping += began.elapsed();
                (pace.steps, left) = (pace.steps + some, left - some);
            }
            let began = Instant::now();
            if flow.check().is_err() {
                break;
            }
            drop(flow.take_looks());
            self.look(flow)?;
            pace.looking += began.elapsed();
            pace.looks += 1;
        }
        pace.between = planned as f64 / f64::from(chunks.max(1));
        Ok(pace)
    }

    /// Seconds of the report of a run of so many steps: frames and fields of its page, and what the flow says at its end.
    fn results(
        &mut self,
        flow: &mut dyn Flow<D>,
        setting: &RunSetting<D>,
        steps: u64,
    ) -> Result<f64, Error> {
        let began = Instant::now();
        let mut now = std::mem::take(&mut self.now);
        flow.report(&self.seen(flow.steps()), &mut now)?;
        self.now = now;
        if !setting.report {
            return Ok(began.elapsed().as_secs_f64());
        }
        let (start, units) = (Start::Fresh { force: true }, setting.units.clone());
        let mut fields = FieldWriter::new(Path::new(""), &[], units, flow.mesh()?, start)?;
        begin_page(&mut fields, flow, setting)?;
        flow.show_body(&mut fields, true)?;
        let frame = Instant::now();
        fields.take_frame(flow, true)?;
        let frame = frame.elapsed().as_secs_f64();
        let page = ReportPage {
            surface: fields.paged_body(flow)?,
            slices: fields.paged_slices(flow)?,
            ..ReportPage::default()
        };
        black_box(page.html());
        let once = began.elapsed().as_secs_f64();
        Ok(once + frame * (frames(steps) - 1) as f64)
    }
}

/// A duration in a readable unit.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "a second".into(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StepWork;
    use cutlink_voxelizer::Mesh;
    use std::io::{Read, Write};
    use std::thread::sleep;

    /// Sleeps a millisecond a step, and five where its look is due, every eight steps.
    #[derive(Default)]
    struct Sleeping {
        steps: u64,
        looked: Vec<u64>,
    }

    impl Flow<2> for Sleeping {
        fn steps(&self) -> u64 {
            self.steps
        }

        fn time(&self) -> f64 {
            0.0
        }

        fn advance(&mut self, steps: u64) -> Result<(), Error> {
            sleep(Duration::from_millis(steps));
            self.steps += steps;
            Ok(())
        }

        fn check(&self) -> Result<(), Error> {
            Ok(())
        }

        fn next_due(&self, step: u64) -> Option<u64> {
            Some(step + 8 - step % 8)
        }

        fn look(&mut self, seen: &Seen<'_, 2>, _: &mut FlowState<2>) -> Result<(), Error> {
            sleep(Duration::from_millis(5));
            self.looked.push(seen.step);
            Ok(())
        }

        fn mesh(&self) -> Result<&Mesh<2>, Error> {
            Err(Error::input("there is no mesh"))
        }

        fn update(&self, _: Option<&[u32]>, _: &mut FlowState<2>) -> Result<(), Error> {
            Ok(())
        }

        fn save(&self, _: &mut dyn Write) -> Result<(), Error> {
            Ok(())
        }

        fn restore(&mut self, _: &mut dyn Read) -> Result<(), Error> {
            Ok(())
        }

        fn work(&self) -> StepWork {
            StepWork::cells(1)
        }
    }

    #[test]
    fn a_trial_counts_steps_and_looks() {
        let tried = |steps| {
            let mut flow = Sleeping::default();
            let history = History::of_patches(&[], &[]);
            let mut trial = Trial::new(0, history, false);
            let pace = trial.pace(&mut flow, steps).expect("a pace");
            (flow, pace)
        };
        let (flow, pace) = tried(100_000);
        let seconds = pace.seconds(100_000);
        // It sleeps 100 s, and 62.5 s at looks; a busy machine adds to it.
        assert!(seconds >= 162.0 && seconds.is_finite(), "{seconds}");
        assert!(flow.steps < 1100, "a second, not {} steps", flow.steps);
        assert!(
            flow.looked
                .iter()
                .all(|step| step % 8 == 0 || *step == flow.steps)
        );
        let (flow, pace) = tried(16);
        assert_eq!(
            (flow.steps, pace.steps),
            (16, 15),
            "the first one is not measured"
        );
        assert_eq!(flow.looked, [0, 8, 16]);
    }

    #[test]
    fn durations_have_readable_units() {
        for (seconds, text) in [
            (0.2, "a second"),
            (59.0, "59 s"),
            (600.0, "10 min"),
            (9000.0, "2.5 h"),
            (864_000.0, "10.0 days"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }
}
