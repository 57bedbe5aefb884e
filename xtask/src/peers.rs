//! `cargo xtask peers`: the library and other programs on the same work, in one run.
//!
//! Programs and scripts are in `xtask/peers/`; everything they need and write is in `target/peers/`.

use crate::run::root;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const HELP: &str = "\
cargo xtask peers [--rounds N] [--fresh]

Compares the library with Pinocchio, MuJoCo, OpenSees, Exudyn and code from CasADi on the same robots and states, and its
Python package with Pinocchio's: one table of agreement and time, and what the library has set itself, printed and kept in
target/peers/peers.txt and peers.json.

  --rounds N   measure everything N times, in turn, and keep the best (default 3)
  --fresh      install the other programs again

The others are installed with pip into target/peers/venv, a virtual environment of their own (about 1 GB), and two C++ programs
are compiled against their headers; deleting target/peers undoes all of it. Needs Linux, python3 with venv, gcc, g++ (or what CXX
names), and a network the first time. Takes some ten minutes the first time, half a minute and a minute per round later. Exit code 1 when something is
missing, or when a program that should agree does not.";

/// The versions that were compared when this was written.
const PACKAGES: [&str; 8] = [
    "pin==4.1.0",
    "cmeel-eigen==3.4.1",
    "mujoco==4.0.0",
    "openseespy==3.7.1.2",
    "exudyn==1.13.6",
    "casadi==3.8.2",
    "numpy==2.4.6",
    "scipy==1.17.1",
];

const RIGID: [&str; 2] = ["gough-stewart", "five-bar"];

const CODED: [&str; 4] = ["five-bar", "orthoglide", "delta", "gough-stewart"];

/// The motion that is compared.
const VIBRATION: &str = "1 s of vibration";

/// Of a ratio that was measured before: what other work on the machine changes.
const SAME: f64 = 0.97;

/// What is asked of the library: robot, task, who is slower than whom, and how many times at least.
const BARS: [(&str, &str, &str, &str, f64); 11] = [
    ("gough-stewart", "idm", "Pinocchio, leg by leg", "gough", 8.8 * SAME),
    ("gough-stewart", "idm", "Pinocchio, leg by leg", "gough, batch", 20.0),
    ("five-bar", "idm", "Pinocchio, leg by leg", "gough, batch", 20.0),
    ("gough-stewart", "ddm", "Pinocchio, constraintDynamics", "gough", 23.7 * SAME),
    ("navaro", "lowest 5 frequencies", "OpenSees, LAPACK, from the model", "gough", 127.0 * SAME),
    ("five-bar", "idm", "CasADi, emitted C", "gough, emitted C", 1.0),
    ("orthoglide", "idm", "CasADi, emitted C", "gough, emitted C", 1.0),
    ("delta", "idm", "CasADi, emitted C", "gough, emitted C", 1.0),
    ("gough-stewart", "idm", "CasADi, emitted C", "gough, emitted C", 1.0),
    ("gough-stewart", "idm and its Jacobian", "CasADi, of gough's formulas", "gough, emitted C", 1.0),
    ("dual-emps", VIBRATION, "Exudyn, 40000 steps", "gough", 10.0),
];
/// How far a program may be from the library, relative to the largest number of a state; `None` for soft constraints.
fn allowed(task: &str, by: &str) -> Option<f64> {
    match by {
        _ if by.contains("mj_forward") => None,
        // Regularised closures, 1e-8, as it wants them.
        _ if by.ends_with("lcaba") => Some(1e-5),
        // Frequencies of a motion: geometrically exact cables, and what the steps leave.
        _ if by.starts_with("Exudyn") && by.ends_with("steps") => Some(1e-2),
        // At a tolerance of 1e-6 per step.
        "gough" if task == VIBRATION => Some(1e-4),
        // Another element along the axis: what the mesh leaves.
        _ if by.starts_with("Exudyn") => Some(1e-4),
        _ if by.ends_with("by hand") || by.ends_with("in one call") => Some(1e-12),
        _ => Some(1e-9),
    }
}

pub fn run(words: &[&str]) -> Result<(), String> {
    let mut rounds = 3;
    let mut fresh = false;
    let mut rest = words;
    while let [word, more @ ..] = rest {
        rest = more;
        match (*word, more) {
            ("--help" | "-h", _) => {
                println!("{HELP}");
                return Ok(());
            }
            ("--fresh", _) => fresh = true,
            ("--rounds", [n, more @ ..]) => {
                rounds =
                    n.parse().ok().filter(|n| (1..=100).contains(n)).ok_or("--rounds wants a number from 1 to 100")?;
                rest = more;
            }
            _ => return Err(HELP.to_owned()),
        }
    }
    if !cfg!(target_os = "linux") {
        return Err("cargo xtask peers runs on Linux only: that is where all programs can be installed".to_owned());
    }
    let place = Place::new(fresh)?;
    let runs = place.prepare()?;
    let wanted = place.wanted();
    let mut table = Table::default();
    for round in 1..=rounds {
        println!("== round {round} of {rounds}");
        for run in &runs {
            if let Err(words) = run.rows().and_then(|rows| table.add(&rows, &wanted))
                && !table.failures.contains(&words)
            {
                table.failures.push(words);
            }
        }
    }
    let text = table.text();
    println!("\n{text}");
    write(&place.folder.join("peers.txt"), &text)?;
    write(&place.folder.join("peers.json"), &format!("{:#}\n", table.json()))?;
    table.verdict()
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// A program that prints rows as JSON.
struct Run {
    name: &'static str,
    command: PathBuf,
    arguments: Vec<PathBuf>,
    environment: Vec<(&'static str, PathBuf)>,
}

impl Run {
    fn rows(&self) -> Result<Vec<Value>, String> {
        let mut command = Command::new(&self.command);
        // One core for everybody.
        command.env("OMP_NUM_THREADS", "1").env("OPENBLAS_NUM_THREADS", "1");
        command.args(&self.arguments).envs(self.environment.iter().map(|(k, v)| (k, v)));
        let out = command.output().map_err(|e| format!("{}: {e}", self.name))?;
        let rows = serde_json::from_slice::<Vec<Value>>(&out.stdout).ok().filter(|_| out.status.success());
        rows.ok_or_else(|| format!("{} did not answer:\n{}", self.name, tail(&String::from_utf8_lossy(&out.stderr))))
    }
}

/// The last lines of what a program said.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

/// Where the others live.
struct Place {
    folder: PathBuf,
    scripts: PathBuf,
    python: PathBuf,
    packages: PathBuf,
}

impl Place {
    /// The virtual environment, made when it is not there.
    fn new(fresh: bool) -> Result<Self, String> {
        let folder = root().join("target/peers");
        let venv = folder.join("venv");
        let stamp = venv.join("installed");
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let done = std::fs::read_to_string(&stamp).is_ok_and(|list| list == PACKAGES.join("\n"));
        let python = venv.join("bin/python");
        if fresh || !done {
            println!("installing {} into {}; this takes minutes", PACKAGES.join(" "), venv.display());
            tell(
                "python3",
                &["-m", "venv", "--clear", &text(&venv)?],
                "python3 with its venv module is needed (Debian: apt install python3-venv)",
            )?;
            let install = [&["-m", "pip", "install", "--disable-pip-version-check", "--quiet"], &PACKAGES[..]].concat();
            tell(
                &text(&python)?,
                &install,
                "pip could not install the other programs: is there a network, and is this Python 3.11 to 3.13?",
            )?;
            write(&stamp, &PACKAGES.join("\n"))?;
        }
        let asked =
            Command::new(&python).args(["-c", "import sysconfig; print(sysconfig.get_path('platlib'))"]).output();
        let packages = asked.map_err(|e| format!("{}: {e}", python.display()))?.stdout;
        let packages = PathBuf::from(String::from_utf8_lossy(&packages).trim());
        Ok(Self { folder, scripts: root().join("xtask/peers"), python, packages })
    }

    /// Everything built and exported: what to run.
    fn prepare(&self) -> Result<Vec<Run>, String> {
        let gough = self.gough()?;
        let rigid: Vec<PathBuf> = RIGID.iter().map(|name| self.folder.join(format!("{name}.json"))).collect();
        let prefix = self.packages.join("cmeel.prefix/include");
        let headers = vec![prefix.join("eigen3"), prefix];
        let pinocchio = self.compile("pinocchio", &headers, None)?;
        let mujoco = self.packages.join("mujoco");
        let with_mujoco = [headers, vec![mujoco.join("include")]].concat();
        let mujoco = self.compile("mujoco", &with_mujoco, Some(&library(&mujoco, "libmujoco.so")?))?;
        let run = |name, command: &Path, arguments: Vec<PathBuf>| Run {
            name,
            command: command.to_path_buf(),
            arguments,
            environment: Vec::new(),
        };
        let script = |file: &str, cases: Vec<PathBuf>| [vec![self.scripts.join(file)], cases].concat();
        let mut opensees =
            run("OpenSees", &self.python, script("opensees.py", self.cases(&["navaro", "five-bar-flexible"])));
        // The wheel brings the BLAS and LAPACK that it needs, where the loader does not look.
        opensees.environment.push(("LD_LIBRARY_PATH", self.packages.join("openseespylinux/lib")));
        println!("building the Python package; this takes minutes");
        crate::python::install_for(&self.python)?;
        let from_python = script("from_python.py", vec![self.folder.join("gough-stewart.json")]);
        let exudyn = run("Exudyn", &self.python, script("exudyn_frame.py", self.cases(&["five-bar-flexible"])));
        Ok(vec![
            run("gough", &gough, vec!["time".into()]),
            run("The Python package", &self.python, from_python),
            run("Pinocchio", &pinocchio, rigid.clone()),
            run("MuJoCo", &mujoco, rigid),
            opensees,
            exudyn,
            run("Exudyn in motion", &self.python, script("exudyn_motion.py", self.cases(&["dual-emps"]))),
            run("CasADi", &self.python, script("casadi_code.py", self.cases(&CODED))),
        ])
    }

    /// The library's program, and the robots and states it writes for the others.
    fn gough(&self) -> Result<PathBuf, String> {
        crate::run::cargo(&["build", "--release", "-p", "gough-bench", "--bin", "peers"])?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        let gough = target.join("release/peers");
        for name in ["navaro", "five-bar-flexible"] {
            // An old frame must not be taken for a new one.
            let _ = std::fs::remove_file(self.folder.join(format!("{name}.json")));
        }
        tell(&text(&gough)?, &["export", &text(&self.folder)?], "the robots could not be written")?;
        Ok(gough)
    }

    /// Robots that were written.
    fn cases(&self, names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(|n| self.folder.join(format!("{n}.json"))).filter(|p| p.exists()).collect()
    }

    /// Frequencies that the others should find, by robot.
    fn wanted(&self) -> BTreeMap<String, Vec<f64>> {
        let read = |path: PathBuf| -> Option<(String, Vec<f64>)> {
            let data: Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
            let list = data["frequencies_hz"].as_array()?.iter().filter_map(Value::as_f64).collect();
            Some((data["robot"].as_str()?.to_owned(), list))
        };
        self.cases(&["navaro", "five-bar-flexible"]).into_iter().filter_map(read).collect()
    }

    /// A program of `xtask/peers`, compiled when it is older than its sources.
    fn compile(&self, name: &str, headers: &[PathBuf], library: Option<&Path>) -> Result<PathBuf, String> {
        let (source, program) = (self.scripts.join(format!("{name}.cpp")), self.folder.join(name));
        let age = |path: &Path| std::fs::metadata(path).and_then(|m| m.modified()).ok();
        let sources = [&source, &self.scripts.join("measure.hpp"), &self.folder.join("venv/installed")];
        if age(&program).is_some_and(|made| sources.iter().all(|s| age(s).is_some_and(|changed| changed < made))) {
            return Ok(program);
        }
        let mut words = ["-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w", "-o"].map(str::to_owned).to_vec();
        words.extend([text(&program)?, text(&source)?]);
        for folder in headers {
            words.extend(["-isystem".to_owned(), text(folder)?]);
        }
        if let Some(library) = library {
            let folder = library.parent().unwrap_or(Path::new("."));
            words.extend([text(library)?, format!("-Wl,-rpath,{}", text(folder)?)]);
        }
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned());
        println!("compiling {name}.cpp; this takes minutes");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        tell(&compiler, &words, "a C++ compiler is needed: install g++, or name another in CXX")?;
        Ok(program)
    }
}

fn text(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| "the path of the repository is not UTF-8".to_owned())
}

/// Run a program; an error ends with what to do about it.
fn tell(name: &str, arguments: &[&str], hint: &str) -> Result<(), String> {
    let out = Command::new(name).args(arguments).output().map_err(|e| format!("{name}: {e}\n{hint}"))?;
    let said = || tail(&String::from_utf8_lossy(&out.stderr));
    if out.status.success() { Ok(()) } else { Err(format!("{}\n{name} failed; {hint}", said())) }
}

/// A shared library by the beginning of its name.
fn library(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut found = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(name)));
    found.next().ok_or_else(|| format!("no {name} in {}: run again with --fresh", folder.display()))
}

/// One line: somebody at a task.
struct Row {
    robot: String,
    task: String,
    by: String,
    best_ns: f64,
    medians_ns: Vec<f64>,
    error: Option<f64>,
}

impl Row {
    fn median_ns(&self) -> f64 {
        let mut sorted = self.medians_ns.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }
}

/// How far a row is from the library; its own words, or its frequencies against those wanted.
fn apart(row: &Value, robot: &str, wanted: &BTreeMap<String, Vec<f64>>) -> Option<f64> {
    let Some(found) = row["frequencies_hz"].as_array() else { return row["error"].as_f64() };
    let found: Vec<f64> = found.iter().filter_map(Value::as_f64).collect();
    let wanted = wanted.get(robot)?;
    if row["task"] == "all frequencies" && found.len() != wanted.len() {
        return Some(f64::INFINITY);
    }
    let between = |f: f64, w: f64| (f - w).abs() / w;
    // Those of a plane are some of all.
    let nearest = |f: f64| wanted.iter().map(|w| between(f, *w)).fold(f64::INFINITY, f64::min);
    let in_plane = row["in_plane"].as_bool() == Some(true);
    let each = found
        .iter()
        .enumerate()
        .map(|(k, f)| if in_plane { nearest(*f) } else { wanted.get(k).map_or(f64::INFINITY, |w| between(*f, *w)) });
    Some(each.fold(0.0, f64::max))
}

#[derive(Default)]
struct Table {
    rows: Vec<Row>,
    /// Programs that did not answer.
    failures: Vec<String>,
}

impl Table {
    /// Rows of one run: the best time of all rounds, the worst error.
    fn add(&mut self, rows: &[Value], wanted: &BTreeMap<String, Vec<f64>>) -> Result<(), String> {
        for row in rows {
            let word =
                |key: &str| row[key].as_str().map(str::to_owned).ok_or_else(|| format!("a row without {key}: {row}"));
            let number = |key: &str| row[key].as_f64().ok_or_else(|| format!("a row without {key}: {row}"));
            let (robot, task, by) = (word("robot")?, word("task")?, word("by")?);
            let error = apart(row, &robot, wanted);
            let (best, median) = (number("best_ns")?, number("median_ns")?);
            if let Some(old) = self.rows.iter_mut().find(|r| r.robot == robot && r.task == task && r.by == by) {
                old.best_ns = old.best_ns.min(best);
                old.medians_ns.push(median);
                old.error = error.map(|e| e.max(old.error.unwrap_or(0.0)));
            } else {
                self.rows.push(Row { robot, task, by, best_ns: best, medians_ns: vec![median], error });
            }
        }
        Ok(())
    }

    /// How many times longer than the library, on its general road where that does the task.
    fn ratio(&self, row: &Row) -> Option<f64> {
        let same = || self.rows.iter().filter(|r| r.robot == row.robot && r.task == row.task);
        let own = same().find(|r| r.by == "gough").or_else(|| same().find(|r| r.by.starts_with("gough")))?;
        Some(row.best_ns / own.best_ns)
    }

    /// What is asked of the library, and what is.
    fn bars(&self) -> Vec<(String, f64, f64)> {
        let best = |robot: &str, task: &str, by: &str| {
            self.rows.iter().find(|r| r.robot == robot && r.task == task && r.by == by).map(|r| r.best_ns)
        };
        let all = BARS.iter().filter_map(|(robot, task, slow, fast, bar)| {
            let ratio = best(robot, task, slow)? / best(robot, task, fast)?;
            Some((format!("{robot}, {task}: {slow}, over {fast}"), ratio, *bar))
        });
        all.collect()
    }

    /// Robot by robot and task by task, in the order they came.
    fn sorted(&self) -> Vec<&Row> {
        let first = |row: &Row| self.rows.iter().position(|r| r.robot == row.robot && r.task == row.task);
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| first(row));
        rows
    }

    fn text(&self) -> String {
        let mut lines = vec![format!(
            "{:<18} {:<21} {:<36} {:>10} {:>10} {:>8} {:>9}",
            "robot", "task", "by", "best", "median", "ratio", "apart"
        )];
        for row in self.sorted() {
            let ratio = self.ratio(row).map_or_else(|| "-".to_owned(), |r| format!("{r:.2}"));
            let error = match row.error {
                _ if row.by == "gough" && row.task != VIBRATION => String::new(),
                Some(error) => format!("{error:.1e}"),
                None => "-".to_owned(),
            };
            lines.push(format!(
                "{:<18} {:<21} {:<36} {:>10} {:>10} {ratio:>8} {error:>9}",
                row.robot,
                row.task,
                row.by,
                time(row.best_ns),
                time(row.median_ns()),
            ));
        }
        lines.push(
            "\nratio: best time over that of the library; apart: largest relative difference from the library, of frequencies from\nthe reference file of the robot, of a motion from its frequencies (of the library from itself at a closer tolerance)"
                .to_owned(),
        );
        lines.push("\nasked of the library:".to_owned());
        for (what, ratio, bar) in self.bars() {
            let word = if ratio >= bar { "met" } else { "not met" };
            lines.push(format!("{what:<104} {ratio:>7.2}, at least {bar:.2}: {word}"));
        }
        lines.push(String::new());
        lines.push(format!("machine: {}", machine()));
        lines.push(format!("others:  {}", PACKAGES.join("  ")));
        lines.join("\n") + "\n"
    }

    fn json(&self) -> Value {
        let row = |r: &&Row| {
            json!({
                "robot": r.robot, "task": r.task, "by": r.by, "best_ns": r.best_ns, "median_ns": r.median_ns(),
                "ratio": self.ratio(r), "apart": r.error, "allowed": allowed(&r.task, &r.by),
            })
        };
        json!({ "machine": machine(), "others": PACKAGES,
            "bars": self.bars().iter().map(|(what, ratio, bar)| json!({ "what": what, "ratio": ratio, "bar": bar })).collect::<Vec<_>>(), "rows": self.sorted().iter().map(row).collect::<Vec<_>>() })
    }

    fn verdict(&self) -> Result<(), String> {
        let bad =
            |row: &&Row| allowed(&row.task, &row.by).zip(row.error).is_some_and(|(allowed, error)| !(error <= allowed));
        let words = |row: &Row| format!("{}, {}: {} does not agree with the library", row.robot, row.task, row.by);
        let wrong = self.rows.iter().filter(bad).map(words);
        let all: Vec<String> = self.failures.iter().cloned().chain(wrong).collect();
        if all.is_empty() { Ok(()) } else { Err(all.join("\n")) }
    }
}

fn time(ns: f64) -> String {
    match ns {
        _ if ns < 1e3 => format!("{ns:.0} ns"),
        _ if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        _ => format!("{:.2} ms", ns / 1e6),
    }
}

fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name.to_owned()));
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    format!("{}, {cores} cores, programs on one", model.unwrap_or_else(|| std::env::consts::ARCH.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(by: &str, error: f64) -> Value {
        json!({ "robot": "r", "task": "idm", "by": by, "best_ns": 2.0, "median_ns": 3.0, "error": error })
    }

    fn table(rows: &[Value]) -> Table {
        let mut table = Table::default();
        table.add(rows, &BTreeMap::from([("r".to_owned(), vec![10.0, 20.0, 40.0])])).unwrap();
        table
    }

    #[test]
    fn who_should_agree_and_does_not_is_named() {
        assert!(table(&[row("Pinocchio, leg by leg", 1e-12), row("MuJoCo, mj_forward", 0.5)]).verdict().is_ok());
        let words = table(&[row("gough", 0.0), row("Pinocchio, leg by leg", 1e-6)]).verdict().unwrap_err();
        assert!(words.contains("Pinocchio, leg by leg does not agree"), "{words}");
    }

    #[test]
    fn of_all_rounds_the_best_time_and_the_worst_error_count() {
        let mut table = table(&[row("gough", 0.0), row("A", 1e-12)]);
        let mut second = row("A", 1e-10);
        second["best_ns"] = json!(1.0);
        table.add(&[second], &BTreeMap::new()).unwrap();
        assert_eq!((table.rows[1].best_ns, table.rows[1].error), (1.0, Some(1e-10)));
        assert_eq!(table.ratio(&table.rows[1]), Some(0.5));
    }

    #[test]
    fn frequencies_are_compared_in_order_and_none_may_be_missing() {
        let wanted = BTreeMap::from([("r".to_owned(), vec![10.0, 20.0, 40.0])]);
        let found = |task: &str, list: &[f64], in_plane: bool| {
            apart(&json!({ "task": task, "frequencies_hz": list, "in_plane": in_plane }), "r", &wanted).unwrap()
        };
        assert_eq!(found("all frequencies", &[10.0, 20.0, 40.0], false), 0.0);
        assert_eq!(found("all frequencies", &[10.0, 20.0], false), f64::INFINITY);
        assert_eq!(found("lowest 5 frequencies", &[10.0, 22.0], false), 0.1);
        assert_eq!(found("lowest 5 frequencies", &[20.0, 40.0], true), 0.0);
    }
}
