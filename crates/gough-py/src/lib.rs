//! The native part of the Python package `gough`: arrays in, one call of the library, arrays out. Everything pleasant is Python.
#![allow(non_snake_case)]
// What Python gives is given away.
#![allow(clippy::needless_pass_by_value)]

mod answers;
mod errors;
mod poses;
mod robot;
mod rows;
mod threads;

use pyo3::prelude::*;
use std::ffi::OsString;

/// Native part of the package `gough`.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::robot::PyRobot;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("version", env!("CARGO_PKG_VERSION"))?;
        module.add("lanes", if cfg!(target_feature = "avx2") { "avx2" } else { "baseline" })?;
        module.add_function(wrap_pyfunction!(crate::run, module)?)?;
        module.add_function(wrap_pyfunction!(crate::ask, module)?)?;
        module.add_function(wrap_pyfunction!(crate::shipped, module)?)?;
        module.add_function(wrap_pyfunction!(crate::read, module)?)
    }
}

/// The program `gough` on the streams of the process: its exit status.
#[pyfunction]
fn run(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| gough_cli::run(&arguments))
}

/// What the program says where no robot is there yet.
#[pyfunction]
fn ask(py: Python<'_>, words: Vec<String>) -> PyResult<(u8, String, String)> {
    threads::waited(py, None, move |stop| {
        let said = gough_cli::ask(None, &words, stop);
        (said.status, said.out, said.err)
    })
}

/// Names and texts of the robots that come with the package.
#[pyfunction]
fn shipped() -> Vec<(&'static str, &'static str)> {
    gough::robots::names().map(|name| (name, gough::robots::text(name).unwrap_or_default())).collect()
}

/// Text of a robot file, and the files that it names.
#[pyfunction]
fn read(py: Python<'_>, path: std::path::PathBuf) -> PyResult<(String, std::collections::BTreeMap<String, String>)> {
    let source = gough::Source::read(path).map_err(|e| errors::raised(py, &e))?;
    Ok((source.text, source.files))
}
