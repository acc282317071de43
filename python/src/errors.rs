//! Errors of the library as exceptions of the module `cutlink`; the classes are in `cutlink/_errors.py`.

use cutlink::{Error, ErrorKind};
use cutlink_device::DeviceError;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Name of the class for an error.
fn class(error: &Error) -> &'static str {
    // A name that stands for no device is a mistake of the caller.
    let of_device = error
        .of_device()
        .is_some_and(|e| !matches!(e, DeviceError::UnknownDevice { .. }));
    match error.kind {
        ErrorKind::Memory => "OutOfMemoryError",
        ErrorKind::Geometry => "GeometryError",
        ErrorKind::Diverged => "Diverged",
        ErrorKind::Untrusted => "Untrusted",
        ErrorKind::Stopped => "Stopped",
        ErrorKind::Runtime | ErrorKind::Input if of_device => "DeviceError",
        ErrorKind::Input => "UsageError",
        // Kinds to come are failures at run time until they have a class.
        _ => "RunError",
    }
}

/// The exception for an error of the library.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let details = error.details.as_ref().map(ToString::to_string);
    let made = py
        .import("cutlink._errors")
        .and_then(|module| module.getattr("make"))
        .and_then(|make| {
            make.call1((
                class(error),
                &error.message,
                error.causes.clone(),
                error.hint.clone(),
                details,
            ))
        });
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The exception for a panic, which is a defect of cutlink.
pub(crate) fn raise_panic(py: Python<'_>, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let error = Error::new(ErrorKind::Runtime, "internal error").hint(format!(
        "please report it: {}",
        text.unwrap_or("no message")
    ));
    raise(py, &error)
}

/// Extension of results of the library.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception for the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Error>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raise(py, &error.into()))
    }
}

/// A JSON value as a Python object.
pub(crate) fn from_json<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?
        .call_method1("loads", (PyString::new(py, text),))
}
