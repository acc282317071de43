//! The run loop: from a flow to forces, fields, checkpoints and a summary.
//!
//! Writes into the case's folder: the resolved `case.toml`; `forces.csv`, `adapt.csv` and the flow's own tables as the run
//! goes; fields ([`crate::fields`]); checkpoints; and at the end `forces.png` and `summary.json`. All files except these
//! tables are written atomically.

use super::{
    Flow, FlowState, RunOptions, RunSetting, RunSummary, Seen, StepWork, Until,
    begin::{self, Begun},
    look::Look,
    page::{PageClock, begin_page},
};
use crate::fields::{FieldWriter, Moment};
use crate::{
    checkpoint::{self, Header},
    history::Growing,
    looks::Looks,
    watch::{self, Growth},
};
use cutlink_common::{Error, ErrorKind, Observer, lock::FolderLock, output};
use cutlink_device::of_dimension;
use cutlink_solver::ForceSample;
use std::{
    fs,
    time::{Duration, Instant},
};

/// Steps between two checks of the flow, at multiples of it, so that a resumed run checks at the same steps.
pub const CHUNK: u64 = 64;

/// Default wall time between checkpoints if the case gives no number of steps, and at least [`SAVE_SHARE`] times the
/// duration of the last checkpoint.
const SAVE_INTERVAL: Duration = Duration::from_secs(600);
const SAVE_SHARE: u32 = 20;

/// Wall time after which a request to stop is seen, unless a step takes longer.
const PATIENCE: Duration = Duration::from_millis(200);

/// Minimum number of steps between two checks of what may grow without bound: they cost as much as several steps.
const WHOLE: u64 = 256;

/// A run and its outputs.
pub(super) struct Run<'a, const D: usize> {
    pub(super) options: &'a RunOptions,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) setting: RunSetting<D>,
    header: Header,
    /// The forces of the last step at which they were summed.
    pub(super) last: Option<ForceSample>,
    /// `forces.csv`.
    forces: Option<Growing>,
    /// The flow's tables, in its order.
    tables: Vec<Growing>,
    /// How the mesh has followed the flow, and `adapt.csv`.
    pub(super) adapted: Option<(Looks, Growing)>,
    pub(super) fields: FieldWriter<D>,
    /// [`Flow::epoch`] of the mesh that the outputs are of.
    epoch: u64,
    /// Work of a step on that mesh, and of all steps so far.
    work: StepWork,
    done: f64,
    /// Duration of a step, of the last ones.
    step_time: Option<Duration>,
    /// Step of the last checkpoint.
    pub(super) saved: Option<u64>,
    pub(super) began: Instant,
    begun_at: u64,
    /// Wall time of outputs and checkpoints so far.
    pub(super) aside: Duration,
    /// Time of the last checkpoint, and its duration.
    last_save: Instant,
    save_time: Duration,
    /// The blocks around probes, and all blocks or those that the flow's look needs, each at the last time that they were
    /// needed.
    probed: FlowState<D>,
    pub(super) now: FlowState<D>,
    pub(super) page_clock: PageClock,
    _lock: FolderLock,
}

/// Takes a flow through a run and writes its folder. The flow is in its initial state; with
/// [`resume`](RunOptions::resume) it is restored from the last checkpoint.
///
/// # Errors
/// Existing files, a full disk; [`Diverged`](ErrorKind::Diverged) and [`Stopped`](ErrorKind::Stopped), both of which keep
/// the files written so far; [`Untrusted`](ErrorKind::Untrusted) after all files are written. A flow that
/// [hands over](Flow::hands_over).
pub fn run<const D: usize>(
    flow: &mut dyn Flow<D>,
    setting: RunSetting<D>,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<RunSummary, Error> {
    let ended = run_or_hand_over(flow, setting, options, observer)?;
    ended.ok_or_else(|| Error::input("the flow hands over, and no other flow goes on from it"))
}

/// As [`run`]; none where the flow [hands over](Flow::hands_over): its folder then has what was written so far, which the run
/// of the next flow replaces.
///
/// # Errors
/// As [`run`].
pub fn run_or_hand_over<const D: usize>(
    flow: &mut dyn Flow<D>,
    setting: RunSetting<D>,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<Option<RunSummary>, Error> {
    let loops = of_dimension::<D, Loop<D>>(&LOOP_2D, &LOOP_3D);
    (loops.0)(flow, setting, options, observer)
}

type TakeThrough<const D: usize> = fn(
    &mut dyn Flow<D>,
    RunSetting<D>,
    &RunOptions,
    &mut dyn Observer,
) -> Result<Option<RunSummary>, Error>;

/// The loop of a dimension, compiled here; see [`of_dimension`].
struct Loop<const D: usize>(TakeThrough<D>);

static LOOP_2D: Loop<2> = Loop(take_through);
static LOOP_3D: Loop<3> = Loop(take_through);

fn take_through<const D: usize>(
    flow: &mut dyn Flow<D>,
    mut setting: RunSetting<D>,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<Option<RunSummary>, Error> {
    // From the first output on, a request to stop ends in a checkpoint.
    let _running = options.stop.running();
    let Begun {
        mut fields,
        header,
        lock,
    } = begin::open(&mut setting, flow, options, observer)?;
    begin_page(&mut fields, flow, &setting)?;
    flow.show_body(&mut fields, true)?;
    flow.begin()?;
    let mut run = Run {
        options,
        observer,
        header,
        last: None,
        forces: None,
        tables: Vec::new(),
        adapted: None,
        fields,
        epoch: flow.epoch(),
        work: flow.work(),
        done: 0.0,
        step_time: None,
        saved: options.resume.then(|| flow.steps()),
        began: Instant::now(),
        begun_at: flow.steps(),
        aside: Duration::ZERO,
        last_save: Instant::now(),
        save_time: Duration::ZERO,
        probed: FlowState::default(),
        now: FlowState::default(),
        page_clock: PageClock::default(),
        setting,
        _lock: lock,
    };
    run.write("case.toml", &run.setting.case)?;
    run.begin_histories(flow)?;
    run.begin_looks(flow)?;
    let ended = run.go(flow);
    run.observer.end();
    if let Err(error) = &ended {
        run.break_off(flow, error);
    }
    ended
}

impl<const D: usize> Run<'_, D> {
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        output::write_text(&self.setting.folder.join(name), true, text)
    }

    /// Steps to the next check of the flow.
    fn to_next_look(&self, flow: &dyn Flow<D>) -> u64 {
        let step = flow.steps();
        let every = self.setting.checkpoint_every.filter(|&every| every > 0);
        let periods = every.map(|every| step + every - step % every);
        to_next_check(flow, self.fields.next_due(step).into_iter().chain(periods))
    }

    fn go(&mut self, flow: &mut dyn Flow<D>) -> Result<Option<RunSummary>, Error> {
        let most = self.setting.most(self.options.steps);
        self.observer.begin(most.saturating_sub(self.begun_at));
        self.take_loads(flow)?;
        self.look(flow)?;
        self.write_histories(flow)?;
        self.write_fields(flow, Moment::Running)?;
        self.look_at_page(flow)?;
        let every = self.setting.checkpoint_every;
        let mut settled = false;
        while flow.steps() < most && !settled {
            let steps = self.to_next_look(flow).min(most - flow.steps());
            let advanced = self.advance(flow, steps);
            let sound = advanced.and_then(|steps| flow.check().map(|()| steps));
            let loads = self.take_loads(flow);
            let steps = match sound {
                Ok(steps) => steps,
                Err(error) => {
                    self.write_histories(flow)?;
                    return Err(self.diverged(flow, error));
                }
            };
            loads?;
            let growth = self.look(flow)?;
            self.write_histories(flow)?;
            if let Some(growth) = growth {
                return self.finish(flow, false, Some(growth)).map(Some);
            }
            if flow.hands_over() {
                return Ok(None);
            }
            self.write_fields(flow, Moment::Running)?;
            self.look_at_page(flow)?;
            match every {
                Some(0) => {}
                Some(every) if flow.steps().is_multiple_of(every) => self.save(flow)?,
                Some(_) => {}
                None => self.save_by_time(flow),
            }
            self.look_by_observer(flow)?;
            let status = self.progress(flow);
            self.observer.advance(steps, &status);
            if self.options.stop.is_stopped() {
                return Err(self.stopped(flow)?);
            }
            if let Until::Settled { change, .. } = self.setting.until {
                settled = self.is_settled(flow, change);
            }
        }
        let growth = self.watch(flow);
        self.finish(flow, settled, growth).map(Some)
    }

    /// Ends a run on request, with a checkpoint; the error that says so.
    fn stopped(&mut self, flow: &dyn Flow<D>) -> Result<Error, Error> {
        self.save(flow)?;
        let (name, step) = (self.setting.step_name, flow.steps());
        let message = format!("stopped at {name} {step}, with a checkpoint");
        Ok(Error::new(ErrorKind::Stopped, message).hint("continue with --resume"))
    }

    /// Advances by so many steps, or to a request to stop, which is looked for every [`PATIENCE`]; returns the steps done.
    fn advance(&mut self, flow: &mut dyn Flow<D>, steps: u64) -> Result<u64, Error> {
        let from = flow.steps();
        while flow.steps() < from + steps && !self.options.stop.is_stopped() {
            let (at, began) = (flow.steps(), Instant::now());
            let left = from + steps - at;
            let slice = self.step_time.map_or(1, |each| {
                let fits = PATIENCE.as_nanos() / each.as_nanos().max(1);
                u64::try_from(fits).unwrap_or(u64::MAX).max(1)
            });
            flow.advance(slice.min(left))?;
            if self.step_time.is_none() || slice < left {
                // Waits for a device; what is wrong shows at the end of all steps.
                flow.wait()?;
            }
            let each = began.elapsed() / u32::try_from(flow.steps() - at).unwrap_or(u32::MAX);
            self.step_time = Some(each);
        }
        let done = flow.steps() - from;
        self.follow(flow, done)?;
        Ok(done)
    }

    /// Adds the forces since the last time to the history.
    fn take_loads(&mut self, flow: &mut dyn Flow<D>) -> Result<(), Error> {
        let mut samples = flow.take_loads()?;
        self.setting.history.add(&samples);
        self.last = samples.pop().or(self.last.take());
        Ok(())
    }

    /// What the flow sees of the run.
    pub(super) fn seen(&self, step: u64) -> Seen<'_, D> {
        Seen {
            step,
            last: self.last.as_ref(),
            has_forces: self.setting.has_forces,
            wants_details: self.observer.wants_details(),
            is_start: step == self.begun_at,
            is_watched: is_watched(step, self.begun_at),
            history: &self.setting.history,
            body: self.fields.body(),
        }
    }

    /// The flow's own look; returns what grows without bound, if anything.
    fn look(&mut self, flow: &mut dyn Flow<D>) -> Result<Option<Growth>, Error> {
        let mut now = std::mem::take(&mut self.now);
        let seen = self.seen(flow.steps());
        let is_watched = seen.is_watched;
        let looked = flow.look(&seen, &mut now);
        self.now = now;
        looked?;
        Ok(if is_watched { self.watch(flow) } else { None })
    }

    /// What grows without bound, unless the case asks not to look.
    fn watch(&self, flow: &dyn Flow<D>) -> Option<Growth> {
        if !self.setting.watch {
            return None;
        }
        let history = &self.setting.history;
        let [drag, lift, side, ..] = &history.total;
        let convective = history.convective_time / history.time;
        let of_forces = || watch::forces(&history.steps, [drag, lift, side], convective);
        flow.growth().or_else(of_forces)
    }

    /// The error for a diverged flow.
    fn diverged(&self, flow: &dyn Flow<D>, error: Error) -> Error {
        let is_diverged = error.kind == ErrorKind::Diverged;
        match flow.advice(self.saved).filter(|_| is_diverged) {
            Some(advice) => error.hint(advice),
            None => error,
        }
    }

    /// Whether the run has settled; checked at sparse steps only, and not before what changes the flow could reach all of it.
    fn is_settled(&self, flow: &dyn Flow<D>, change: f64) -> bool {
        let step = flow.steps();
        step >= self.setting.earliest
            && step.is_multiple_of(CHUNK.max(sparse(step, 32)))
            && flow
                .is_settled(change)
                .unwrap_or_else(|| self.setting.history.is_settled(change))
    }

    pub(super) fn write_fields(&mut self, flow: &dyn Flow<D>, moment: Moment) -> Result<(), Error> {
        let (step, begin) = (flow.steps(), Instant::now());
        self.fields.sample(flow)?;
        if self.fields.is_due(step, moment) {
            let mesh = flow.mesh()?;
            match self.fields.blocks_due(mesh, step, moment) {
                Some(blocks) => {
                    self.probed.snapshot.step = step;
                    if !blocks.is_empty() {
                        flow.update(Some(&blocks), &mut self.probed)?;
                    }
                    self.fields.write(mesh, &self.probed, moment)?;
                }
                None => {
                    flow.update(None, &mut self.now)?;
                    self.fields.write(mesh, &self.now, moment)?;
                }
            }
        }
        self.aside += begin.elapsed();
        Ok(())
    }

    /// Work a second so far, in the units of its name, without the time of outputs and checkpoints.
    pub(super) fn speed(&self) -> f64 {
        let stepped = self.began.elapsed().saturating_sub(self.aside);
        self.done / stepped.as_secs_f64().max(1e-9) / self.work.scale
    }

    /// The speed as text.
    pub(super) fn speed_text(&self) -> String {
        let StepWork { unit, digits, .. } = self.work;
        format!("{:.digits$} {unit}", self.speed())
    }

    /// The key of the speed in `summary.json`.
    pub(super) fn speed_key(&self) -> &'static str {
        self.work.key
    }

    fn progress(&self, flow: &dyn Flow<D>) -> String {
        let steps = flow.steps();
        // On a mesh that changes, the steps to come are taken to be like those so far.
        let each = self.done / (steps - self.begun_at).max(1) as f64;
        let left = (self.setting.most(self.options.steps) - steps) as f64;
        let left = left * each / self.work.scale / self.speed().max(1e-9);
        let drag = self.setting.history.last_drag();
        let drag = drag.map_or(String::new(), |c| format!(", C_D {c:.4}"));
        let cells = self.adapted.as_ref().map(|(looks, _)| looks.progress());
        format!(
            "{}, {left:.0} s left{drag}{}{}",
            self.speed_text(),
            cells.unwrap_or_default(),
            flow.progress(),
        )
    }

    fn look_by_observer(&mut self, flow: &dyn Flow<D>) -> Result<(), Error> {
        self.observer.look(&Look {
            flow,
            coefficients: self.setting.history.last_forces(),
        })
    }

    /// Writes the histories so far to their files.
    fn begin_histories(&mut self, flow: &mut dyn Flow<D>) -> Result<(), Error> {
        let folder = &self.setting.folder;
        if self.setting.has_forces {
            let text = self.setting.history.whole_csv();
            self.forces = Some(Growing::new(folder.join("forces.csv"), &text)?);
        }
        for table in flow.tables() {
            let path = folder.join(table.file());
            self.tables.push(Growing::new(path, &table.whole())?);
        }
        Ok(())
    }

    /// Appends new samples of the histories to their files.
    fn write_histories(&mut self, flow: &mut dyn Flow<D>) -> Result<(), Error> {
        if let Some(file) = &mut self.forces {
            file.append(&self.setting.history.fresh())?;
        }
        for (file, table) in self.tables.iter_mut().zip(flow.tables()) {
            file.append(&table.fresh())?;
        }
        Ok(())
    }

    /// Follows a mesh that changes, after so many steps.
    fn follow(&mut self, flow: &mut dyn Flow<D>, steps: u64) -> Result<(), Error> {
        if let Some((looks, file)) = &mut self.adapted {
            let raised = looks.raised();
            file.append(&looks.add(&flow.take_looks()))?;
            if let (None, Some(factor)) = (raised, looks.raised()) {
                self.observer.note(&format!(
                    "the flow asks for more cells than [adapt] max_cells: thresholds are raised, now by {factor:.2}; see adapt.csv"
                ));
            }
        }
        if flow.epoch() != self.epoch {
            self.epoch = flow.epoch();
            flow.follow()?;
            flow.show_body(&mut self.fields, false)?;
        }
        self.work = flow.work();
        self.done += steps as f64 * self.work.amount;
        Ok(())
    }

    /// Begins `adapt.csv`, with the looks at the initial state, or continues that of a resumed run.
    fn begin_looks(&mut self, flow: &mut dyn Flow<D>) -> Result<(), Error> {
        let Some(mut looks) = self.setting.looks.take() else {
            return Ok(());
        };
        let path = self.setting.folder.join("adapt.csv");
        let mut text = looks.head();
        let fresh = flow.take_looks();
        // A resumed run has looked at its initial state in vain.
        let looked = match self.options.resume {
            true => looks.read(
                &fs::read_to_string(&path).unwrap_or_default(),
                self.begun_at,
            ),
            false => fresh,
        };
        text.push_str(&looks.add(&looked));
        self.adapted = Some((looks, Growing::new(path, &text)?));
        Ok(())
    }

    /// Writes a checkpoint by wall time if the last one is old. A failure is noted and does not end the run.
    fn save_by_time(&mut self, flow: &dyn Flow<D>) {
        if self.last_save.elapsed() < SAVE_INTERVAL.max(SAVE_SHARE * self.save_time) {
            return;
        }
        if let Err(error) = self.save(flow) {
            self.last_save = Instant::now();
            let (name, step) = (self.setting.step_name, flow.steps());
            self.observer.note(&format!(
                "cannot write a checkpoint at {name} {step}, the run continues: {error}"
            ));
        }
    }

    pub(super) fn save(&mut self, flow: &dyn Flow<D>) -> Result<(), Error> {
        let begin = Instant::now();
        let header = Header {
            step: flow.steps(),
            notes: flow.notes(),
            ..self.header.clone()
        };
        if let Some(averages) = self.fields.averages_mut() {
            averages.follow(flow.mesh()?)?;
        }
        let folder = &self.setting.folder;
        for file in self.forces.iter().chain(&self.tables) {
            file.sync()?;
        }
        checkpoint::write(folder, &header, |out| {
            flow.save(out)?;
            match self.fields.averages() {
                Some(averages) => averages.save(out).map_err(|e| output::failed(folder, &e)),
                None => Ok(()),
            }
        })?;
        self.saved = Some(header.step);
        (self.last_save, self.save_time) = (Instant::now(), begin.elapsed());
        self.aside += self.save_time;
        Ok(())
    }
}

/// Steps from now to the next check of a flow: at multiples of [`CHUNK`], where its look is due, and at the steps `due`.
pub(super) fn to_next_check<const D: usize>(
    flow: &dyn Flow<D>,
    due: impl IntoIterator<Item = u64>,
) -> u64 {
    let step = flow.steps();
    let due = due.into_iter().chain(flow.next_due(step));
    due.map(|due| due - step)
        .fold(CHUNK - step % CHUNK, u64::min)
}

/// Whether what may grow without bound is looked at, in a run that has begun at a step.
pub(super) fn is_watched(step: u64, begun_at: u64) -> bool {
    step > begun_at && step.is_multiple_of(WHOLE.max(sparse(step, 16)))
}

/// Each check scans the whole history, so checks are spaced in proportion to the steps so far (O(n) in total). They are
/// at multiples of a power of two, so that a resumed run checks at the same steps.
fn sparse(step: u64, share: u64) -> u64 {
    (step / share).checked_ilog2().map_or(1, |power| 1 << power)
}
