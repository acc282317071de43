//! Cases: reading, planning, running.

use crate::errors::{OrRaise, from_json};
use crate::work::{self, Look, Outcome, Question, Report};
use cutlink::device::DeviceOption;
use cutlink::solve::{example, schema};
use cutlink::{AnyCase, Error, ErrorKind, RunOptions, StopToken};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

/// A case: the path of a file, or a JSON object with its tables.
#[derive(FromPyObject)]
pub(crate) enum CaseSource {
    #[pyo3(transparent)]
    Json(String),
    #[pyo3(transparent)]
    File(PathBuf),
}

impl CaseSource {
    fn read(&self) -> Result<AnyCase, Error> {
        match self {
            Self::File(path) => AnyCase::read(path),
            Self::Json(text) => AnyCase::from_table("case", crate::toml_table("case", text)?),
        }
    }
}

/// Options of a run: output folder, root steps, resume, replace, device, threads, ranks, GPUs.
type Given = (
    Option<PathBuf>,
    Option<u64>,
    bool,
    bool,
    Option<String>,
    usize,
    Vec<usize>,
    usize,
);

fn with_options(
    source: &CaseSource,
    given: Given,
    stop: &StopToken,
) -> Result<(AnyCase, RunOptions), Error> {
    let (folder, steps, resume, replace, device, threads, ranks, gpus) = given;
    let mut case = source.read()?;
    if folder.is_some() {
        *case.folder() = folder;
    }
    let device: Option<DeviceOption> = device.map(|name| name.parse()).transpose()?;
    let mut options = RunOptions::default();
    (options.steps, options.resume, options.replace) = (steps, resume, replace);
    (options.device, options.threads, options.ranks) = (device, threads, ranks);
    (options.gpus, options.stop) = (gpus, stop.clone());
    Ok((case, options))
}

/// The flow of a run, usable while the callback runs that it was given to.
#[pyclass(frozen, module = "cutlink._native")]
pub(crate) struct RunningFlow {
    #[pyo3(get)]
    steps: u64,
    #[pyo3(get)]
    time: f64,
    #[pyo3(get)]
    coefficients: Option<[f64; 3]>,
    questions: Mutex<Option<Sender<Question>>>,
}

impl RunningFlow {
    fn of(look: Look) -> Self {
        Self {
            steps: look.steps,
            time: look.time,
            coefficients: look.coefficients,
            questions: Mutex::new(Some(look.questions)),
        }
    }

    fn questions(&self) -> std::sync::MutexGuard<'_, Option<Sender<Question>>> {
        self.questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the run go on.
    fn release(&self) {
        self.questions().take();
    }
}

#[pymethods]
impl RunningFlow {
    /// Pressure and velocity at points (m, D): (m, D + 1).
    fn sample<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let count = points.shape()[0];
        let columns = points.shape()[1] + 1;
        let points: Vec<f64> = points.as_array().iter().copied().collect();
        let Some(thread) = self.questions().clone() else {
            let error = Error::input("the flow is there during the callback only")
                .hint("copy what is needed later");
            return Err(error).or_raise(py);
        };
        let values = work::ask(
            py,
            &thread,
            &StopToken::new(),
            |answer: Sender<Outcome<_>>| {
                let question: Question = Box::new(move |flow| {
                    // The asker waits for it.
                    let _ = answer.send(work::caught(|| flow.sample(&points)));
                });
                question
            },
        )?;
        drop(thread);
        values.into_pyarray(py).reshape([count, columns])
    }
}

/// Runs a case. `on_report` is called as that of `build`; `callback` every `every` root steps, if given, with a
/// `RunningFlow`, and stops the run by returning False.
///
/// Returns the summary as JSON (None if stopped) and the output folder.
#[pyfunction]
#[pyo3(signature = (case, options, every, callback, on_report))]
pub(crate) fn run_case(
    py: Python<'_>,
    case: CaseSource,
    options: Given,
    every: u64,
    callback: Option<Bound<'_, PyAny>>,
    on_report: &Bound<'_, PyAny>,
) -> PyResult<(Option<String>, PathBuf)> {
    let stop = StopToken::new();
    let (mut case, options) = with_options(&case, options, &stop).or_raise(py)?;
    let folder = case.folder().clone();
    let every = if callback.is_some() { every } else { 0 };
    let asked = stop.clone();
    let mut halted = false;
    let on = |report| match (report, &callback) {
        (Report::Look(look), Some(callback)) => {
            let flow = Bound::new(py, RunningFlow::of(look))?;
            let answer = callback.call1((&flow,));
            let goes_on = answer.map(|answer| !answer.is(pyo3::types::PyBool::new(py, false)));
            if let Ok(false) = goes_on {
                halted = true;
                asked.stop();
            }
            flow.get().release();
            goes_on.map(drop)
        }
        (report, _) => crate::report(on_report, report),
    };
    let ended = work::run(py, &stop, on, move |port| {
        port.look_every(every);
        match case.run_with(&options, port) {
            Ok(summary) => Ok((Some(summary.json.to_string()), summary.folder)),
            Err(error) if error.kind == ErrorKind::Stopped => Ok((None, PathBuf::new())),
            Err(error) => Err(error),
        }
    })?;
    match ended {
        (None, _) if halted => Ok((None, folder.unwrap_or_else(|| "flow".into()))),
        ended => Ok(ended),
    }
}

/// The object of `cutlink solve --dry-run --json`.
#[pyfunction]
pub(crate) fn plan_case(
    py: Python<'_>,
    case: CaseSource,
    options: Given,
) -> PyResult<Bound<'_, PyAny>> {
    let stop = StopToken::new();
    let (case, options) = with_options(&case, options, &stop).or_raise(py)?;
    let plan = work::run(
        py,
        &stop,
        |_| Ok(()),
        move |port| Ok(case.plan(&options, port)?.json.to_string()),
    )?;
    from_json(py, &plan)
}

/// The tables of a case, checked, as an object; the keys that are not given are None.
#[pyfunction]
pub(crate) fn read_case(py: Python<'_>, case: CaseSource) -> PyResult<Bound<'_, PyAny>> {
    let case = case.read().or_raise(py)?;
    from_json(py, &crate::json(&case).or_raise(py)?)
}

/// The case as TOML.
#[pyfunction]
pub(crate) fn case_toml(py: Python<'_>, case: CaseSource) -> PyResult<String> {
    case.read().and_then(|case| case.to_toml()).or_raise(py)
}

/// The JSON schema of cases, as an object.
#[pyfunction]
pub(crate) fn case_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    from_json(py, &schema::of_cases().to_string())
}

/// The text of an example case.
#[pyfunction]
pub(crate) fn example_case(py: Python<'_>, name: &str) -> PyResult<&'static str> {
    example::text(name).or_raise(py)
}
