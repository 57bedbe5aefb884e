//! `cargo xtask python`: one wheel, installed in fresh environments of the oldest and the newest interpreter there is, and tested
//! there: pytest, doctests, examples; stubs and types with the newest.

use crate::run::{program, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the tests need besides the wheel: `tests` of its extras.
const EXTRA: &str = "tests";
/// What tests of executors on several machines need, where there is a build of it for the interpreter: `clusters` of its extras.
const CLUSTERS: &str = "clusters";
const MATURIN: &str = "maturin>=1.9,<2";
/// The oldest interpreter that the wheel is for.
const OLDEST: (u32, u32) = (3, 10);

/// An interpreter: its version and where it is.
type Interpreter = ((u32, u32), PathBuf);

/// The wheel is built with little optimisation, `full` as it is released. What was not tested, in words.
pub fn run(full: bool) -> Result<Option<String>, String> {
    let found = interpreters();
    let (Some(first), Some(last)) = (found.first(), found.last()) else {
        return Ok(Some("THE PYTHON PACKAGE WAS NOT TESTED: there is no Python 3.10 or later on the path".to_owned()));
    };
    let tools = folder("tools");
    if environment(&last.1, &tools, false).and_then(|()| pip(&tools, &[MATURIN])).is_err() {
        let why = "maturin cannot be installed, so that there is no wheel; is there a network?";
        return Ok(Some(format!("THE PYTHON PACKAGE WAS NOT TESTED: {why}")));
    }
    let (wheel, mut notes) = wheel(&tools, full)?;
    let mut tested = Vec::new();
    for ((major, minor), python) in if first.0 == last.0 { vec![last] } else { vec![first, last] } {
        let place = folder(&format!("{major}.{minor}"));
        environment(python, &place, true)?;
        if pip(&place, &[&format!("{}[{EXTRA}]", text(&wheel)?)]).is_err() {
            let why = "pytest and the like cannot be installed; is there a network?";
            return Ok(Some(format!("THE PYTHON PACKAGE WAS BUILT BUT NOT TESTED: {why}")));
        }
        if pip(&place, &[&format!("{}[{CLUSTERS}]", text(&wheel)?)]).is_err() {
            notes.push(format!(
                "DASK AND RAY WERE NOT TESTED with Python {major}.{minor}: they cannot be installed for it"
            ));
        }
        test(&place)?;
        tested.push(format!("{major}.{minor}"));
    }
    types(&folder(tested.last().map_or("", String::as_str)))?;
    let size = std::fs::metadata(&wheel).map_err(|e| e.to_string())?.len() as f64 / 1e6;
    println!("the wheel {} ({size:.1} MB) was tested with Python {}", wheel.display(), tested.join(" and "));
    Ok((!notes.is_empty()).then(|| notes.join("\n")))
}

fn folder(name: &str) -> PathBuf {
    root().join("target/python").join(name)
}

fn text(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| "the path of the repository is not UTF-8".to_owned())
}

/// Interpreters on the path and of pyenv that the wheel is for, oldest first, one of each version.
fn interpreters() -> Vec<Interpreter> {
    let home = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".pyenv")));
    let versions = home.map(|h| h.join("versions")).and_then(|v| std::fs::read_dir(v).ok());
    let own = versions.into_iter().flatten().flatten().map(|e| e.path().join("bin/python3"));
    let named = (OLDEST.1..30).map(|minor| PathBuf::from(format!("python3.{minor}")));
    let all = [PathBuf::from("python3")].into_iter().chain(named).chain(own);
    let mut found: Vec<Interpreter> = all.filter_map(|p| Some((version(&p)?, p))).filter(|p| p.0 >= OLDEST).collect();
    found.sort();
    found.dedup_by_key(|p| p.0);
    found
}

/// The version of an interpreter that works and can make environments.
fn version(python: &Path) -> Option<(u32, u32)> {
    let ask = "import sys, venv, ensurepip; print(*sys.version_info[:2])";
    let said = Command::new(python).args(["-c", ask]).output().ok().filter(|done| done.status.success())?;
    let said = String::from_utf8(said.stdout).ok()?;
    let mut numbers = said.split_whitespace().filter_map(|n| n.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

fn environment(python: &Path, place: &Path, fresh: bool) -> Result<(), String> {
    if !fresh && place.join("bin/python").exists() {
        return Ok(());
    }
    program(&text(python)?, &["-m", "venv", "--clear", &text(place)?], &[])
}

fn pip(place: &Path, what: &[&str]) -> Result<(), String> {
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    program(&text(&place.join("bin/python"))?, &[&quiet, what].concat(), &[])
}

/// The module for processors without AVX2, beside the package, so that the wheel has both.
const BASELINE: &str = "crates/gough-py/python/gough/_native_baseline.abi3.so";

/// Builds the module for any x86-64 processor.
fn baseline() -> Result<(), String> {
    let place = text(&root().join("target/baseline"))?;
    let environment = [("RUSTFLAGS", "-C target-cpu=x86-64"), ("PYO3_BUILD_EXTENSION_MODULE", "1")];
    program("cargo", &["build", "--release", "-p", "gough-py", "--target-dir", &place], &environment)?;
    let built = root().join("target/baseline/release/libgough_py.so");
    std::fs::copy(&built, root().join(BASELINE)).map(|_| ()).map_err(|e| format!("{}: {e}", built.display()))
}

/// The page of the viewer beside the package, so that the wheel has it.
const PAGE: &str = "crates/gough-py/python/gough/viewer";

/// Builds the page that `view` fills.
fn page() -> Result<(), String> {
    crate::viewer::page()?;
    let at = |e: std::io::Error| format!("{PAGE}: {e}");
    std::fs::create_dir_all(root().join(PAGE)).map_err(at)?;
    std::fs::copy(root().join("target/viewer/page.html"), root().join(PAGE).join("page.html")).map(|_| ()).map_err(at)
}

/// The wheel, and what it lacks; as it is released, with a module for processors without AVX2 and the page of the viewer too.
fn wheel(tools: &Path, full: bool) -> Result<(PathBuf, Vec<String>), String> {
    let mut notes = Vec::new();
    if full {
        notes.extend(page().err().map(|why| format!("THE WHEEL IS WITHOUT THE PAGE OF THE VIEWER: {why}")));
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            baseline()?;
        }
    }
    let made = built(tools, full);
    let _ = std::fs::remove_file(root().join(BASELINE));
    let _ = std::fs::remove_dir_all(root().join(PAGE));
    Ok((made?, notes))
}

fn built(tools: &Path, full: bool) -> Result<PathBuf, String> {
    let place = folder("wheels");
    let _ = std::fs::remove_dir_all(&place);
    let profile: &[&str] = if full { &["--release", "--compression-level", "9"] } else { &["--profile", "dev"] };
    let python = text(&tools.join("bin/python"))?;
    let out = text(&place)?;
    let common = ["-m", "maturin", "build", "--quiet", "-m", "crates/gough-py/Cargo.toml", "-o", &out, "-i", &python];
    // As in the tests of the library: computing without any optimisation takes longer than a little of it.
    program(&python, &[&common, profile].concat(), &[("CARGO_PROFILE_DEV_OPT_LEVEL", "1")])?;
    let wheels = std::fs::read_dir(&place).map_err(|e| e.to_string())?.flatten().map(|e| e.path());
    wheels
        .into_iter()
        .find(|p| p.extension().is_some_and(|e| e == "whl"))
        .ok_or_else(|| "no wheel was built".to_owned())
}

/// The package as it is released, for processors with AVX2, installed for an interpreter that has numpy.
pub fn install_for(python: &Path) -> Result<(), String> {
    let tools = folder("tools");
    environment(python, &tools, false).and_then(|()| pip(&tools, &[MATURIN]))?;
    let wheel = text(&built(&tools, true)?)?;
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"];
    program(&text(python)?, &[&quiet, &[wheel.as_str()][..]].concat(), &[])
}

fn test(place: &Path) -> Result<(), String> {
    let python = text(&place.join("bin/python"))?;
    let tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "crates/gough-py/tests"];
    program(&python, &tests, &[("PYTHONDONTWRITEBYTECODE", "1")])?;
    program(&python, &["-m", "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", "--pyargs", "gough"], &[])
}

/// Stubs, and types of the package and the examples.
fn types(place: &Path) -> Result<(), String> {
    let python = text(&place.join("bin/python"))?;
    let list = text(&root().join("crates/gough-py/tests/stubtest.txt"))?;
    program(&python, &["-m", "mypy.stubtest", "gough", "gough_command", "--allowlist", &list], &[])?;
    let config = "crates/gough-py/pyproject.toml";
    program(&python, &["-m", "mypy", "--config-file", config, "-p", "gough", "-p", "gough_command"], &[])?;
    let examples = "crates/gough-py/examples";
    program(&python, &["-m", "mypy", "--config-file", config, "--scripts-are-modules", examples], &[])?;
    let paths = ["crates/gough-py/python/gough", "crates/gough-py/python/gough_command", examples];
    // It brings a program of its own from the network when it is asked for the first time.
    if program(&python, &["-m", "pyright", "--version"], &[]).is_err() {
        println!("pyright cannot start: the types were checked by mypy alone");
        return Ok(());
    }
    program(&python, &[&["-m", "pyright", "--pythonpath", &python], &paths[..]].concat(), &[])
}
