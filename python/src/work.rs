//! Long calls: the work runs on a thread of its own without the GIL, while the calling thread waits, passes reports on
//! to Python, and looks for Ctrl-C.

use crate::errors::{OrRaise, raise_panic};
use cutlink::{Error, ErrorKind, FlowLook, Observer, StopToken};
use cutlink_voxelizer::Stage;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Longest time between two looks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// Asks something of the flow of a run that waits for it.
pub(crate) type Question = Box<dyn FnOnce(&dyn FlowLook) + Send>;

/// What a run says about its flow; it waits until `questions` is dropped.
pub(crate) struct Look {
    pub(crate) steps: u64,
    pub(crate) time: f64,
    pub(crate) coefficients: Option<[f64; 3]>,
    pub(crate) questions: Sender<Question>,
}

/// A report of the work.
pub(crate) enum Report {
    /// Steps done, of so many, and what is done now.
    Progress(u64, u64, String),
    /// A note for the user.
    Note(String),
    /// The flow of a run.
    Look(Look),
}

/// The end of the work where it reports and is asked to stop.
pub(crate) struct Port {
    reports: Sender<Report>,
    stop: StopToken,
    total: u64,
    done: u64,
    /// Root steps between two looks at the flow; 0 for none.
    every: u64,
    /// Whether a request to stop ends the work at its next report. A run of a flow looks for it itself.
    unwinds: bool,
}

/// What a thread unwinds with that was asked to stop.
struct Interrupted;

impl Port {
    /// Looks at the flow of a run every so many root steps.
    pub(crate) fn look_every(&mut self, every: u64) {
        self.every = every;
        self.unwinds = false;
    }

    fn tell(&self, report: Report) {
        // Without a receiver nobody wants to know.
        let _ = self.reports.send(report);
        if self.unwinds && self.stop.is_stopped() {
            resume_unwind(Box::new(Interrupted));
        }
    }
}

impl Observer for Port {
    fn note(&mut self, note: &str) {
        self.tell(Report::Note(note.to_owned()));
    }

    fn begin(&mut self, steps: u64) {
        (self.total, self.done) = (steps, 0);
    }

    fn advance(&mut self, steps: u64, status: &str) {
        self.done += steps;
        self.tell(Report::Progress(self.done, self.total, status.to_owned()));
    }

    fn look(&mut self, flow: &dyn FlowLook) -> Result<(), Error> {
        if self.every == 0 || !flow.steps().is_multiple_of(self.every) {
            return Ok(());
        }
        let (questions, asked) = channel();
        self.tell(Report::Look(Look {
            steps: flow.steps(),
            time: flow.time(),
            coefficients: flow.coefficients(),
            questions,
        }));
        asked.iter().for_each(|question: Question| question(flow));
        Ok(())
    }

    fn stage(&mut self, _stage: Stage, _level: usize, _seconds: f64) {
        if self.unwinds && self.stop.is_stopped() {
            resume_unwind(Box::new(Interrupted));
        }
    }
}

/// What the thread of some work returns.
pub(crate) type Outcome<T> = Result<Result<T, Error>, Box<dyn Any + Send>>;

/// Waits for a message without the GIL; `None` if its senders are gone. Ctrl-C calls `interrupt` and is kept in
/// `raised`; later ones change nothing, because the work ends soon.
fn next<T: Send>(
    py: Python<'_>,
    from: &mut Receiver<T>,
    raised: &mut Option<PyErr>,
    interrupt: &StopToken,
) -> Option<T> {
    loop {
        let receiver = &mut *from;
        let message = py.detach(move || receiver.recv_timeout(PATIENCE));
        if raised.is_none()
            && let Err(error) = py.check_signals()
        {
            interrupt.stop();
            *raised = Some(error);
        }
        match message {
            Ok(message) => return Some(message),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Does some work on a thread of its own and passes its reports to `on`. A signal handler or `on` that raises ends the
/// work, and the call raises the same.
///
/// # Errors
/// Those of the work as exceptions of the module.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    stop: &StopToken,
    mut on: impl FnMut(Report) -> PyResult<()>,
    work: impl FnOnce(&mut Port) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let (reports, mut receiver) = channel();
    let mut port = Port {
        reports,
        stop: stop.clone(),
        total: 0,
        done: 0,
        every: 0,
        unwinds: true,
    };
    // The port goes with the closure, and its end tells the receiver.
    let work = move || catch_unwind(AssertUnwindSafe(|| work(&mut port)));
    let thread = thread::Builder::new().name("cutlink".into()).spawn(work);
    let thread = thread
        .map_err(|e| Error::new(ErrorKind::Runtime, "cannot start a thread").because(&e))
        .or_raise(py)?;
    let mut raised = None;
    while let Some(report) = next(py, &mut receiver, &mut raised, stop) {
        if raised.is_none()
            && let Err(error) = on(report)
        {
            stop.stop();
            raised = Some(error);
        }
    }
    let outcome = py.detach(|| thread.join().unwrap_or_else(Err));
    match raised {
        Some(error) => Err(error),
        None => finish(py, outcome),
    }
}

/// Sends a question to a thread that works, and waits for its answer.
///
/// # Errors
/// A thread that is gone, its errors and panics, Ctrl-C once it has answered.
pub(crate) fn ask<T: Send + 'static, Q>(
    py: Python<'_>,
    thread: &Sender<Q>,
    stop: &StopToken,
    question: impl FnOnce(Sender<Outcome<T>>) -> Q,
) -> PyResult<T> {
    let (answer, mut answered) = channel();
    let gone = || Error::new(ErrorKind::Runtime, "the flow has ended");
    thread
        .send(question(answer))
        .map_err(|_| gone())
        .or_raise(py)?;
    let mut raised = None;
    let outcome = next(py, &mut answered, &mut raised, stop);
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Some(outcome)) => finish(py, outcome),
        (None, None) => Err(gone()).or_raise(py),
    }
}

/// Calls and catches a panic, which is returned like an error.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Error>) -> Outcome<T> {
    catch_unwind(AssertUnwindSafe(work))
}

fn finish<T>(py: Python<'_>, outcome: Outcome<T>) -> PyResult<T> {
    match outcome {
        Ok(result) => result.or_raise(py),
        Err(panic) => Err(raise_panic(py, &*panic)),
    }
}
