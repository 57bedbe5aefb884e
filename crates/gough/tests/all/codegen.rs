//! Generated code compiled and run: equal to the library at random states, in every language.
// Drivers are put together line by line.
#![allow(clippy::format_push_string)]

use crate::common::{random, random_pose, regular_posture, robot, typical_margins};
use gough::Robot;
use gough::codegen::{
    CodeOptions, CodegenError, ElasticCoordinates, Generated, Group, Language, ModelKind, Solve, Symbolic, generate,
    published,
};
use gough::description::Coordinates;
use gough::dynamics::regressor::{StandardSet, regressor};
use gough::dynamics::{Conditions, Sign, direct_dynamics, inverse_dynamics, platform_model};
use gough::elastodynamics::cartesian::{Cartesian, Choices};
use gough::elastodynamics::motion::{FlexibleRobot, Given, Wanted};
use gough::elastodynamics::relative::{RelativePlan, relative_matrices};
use gough::elastodynamics::{Actuators, Vibration};
use gough::identification::base_parameters;
use gough::kinematics::jacobians::matrices_at;
use gough::kinematics::platform::{coordinates, independent, pose_with};
use gough::kinematics::{Posture, inverse};
use gough::spatial::orientation::from_rpy;
use gough::spatial::{Pose, vec3};
use rand::RngExt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One function at work: its code, states to try it on, and what the library says.
struct Case {
    code: Generated,
    states: Vec<(Vec<f64>, Vec<f64>)>,
    /// What each result is compared to, when not to the largest of all.
    scales: Option<Vec<f64>>,
}

impl Case {
    fn new(robot: &Robot, model: ModelKind, language: Language) -> Self {
        let columns = (model == ModelKind::Regressor).then(|| base_columns(robot));
        let options = CodeOptions { columns, ..CodeOptions::new(model, language) };
        let code = generate(robot, &options).unwrap_or_else(|e| panic!("{}: {e}", robot.name()));
        if matches!(model, ModelKind::FlexibleIdm | ModelKind::FlexibleDdm) {
            let states = flexible_states(robot, model, &code, 8);
            return Self { code, states, scales: None };
        }
        let states = states(robot, model, 8);
        if !matches!(model, ModelKind::MassStiffness | ModelKind::CartesianFrequencies) {
            return Self { code, states, scales: None };
        }
        let places = places(&code);
        let scales = Some(geometric_means(&places, &states[0].1));
        let picked = |(x, whole): (Vec<f64>, Vec<f64>)| (x, picked(&places, &whole));
        Self { code, states: states.into_iter().map(picked).collect(), scales }
    }
}

/// Group, row and column of each entry of mass and stiffness, by its name.
fn places(code: &Generated) -> Vec<(usize, usize, usize)> {
    let place = |g: usize, name: &str| {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let (i, j) = digits.split_once('_').unwrap();
        (g, i.parse::<usize>().unwrap() - 1, j.parse::<usize>().unwrap() - 1)
    };
    code.outputs.iter().enumerate().flat_map(|(g, group)| group.entries.iter().map(move |e| place(g, e))).collect()
}

/// Mass and stiffness, whole and row by row, one after the other.
fn matrix_sizes(places: &[(usize, usize, usize)]) -> usize {
    1 + places.iter().map(|p| p.2).max().unwrap()
}

fn picked(places: &[(usize, usize, usize)], whole: &[f64]) -> Vec<f64> {
    let n = matrix_sizes(places);
    assert_eq!(whole.len() % (n * n), 0);
    // What is not named is zero.
    let scales = |g: usize, i: usize| own_size(whole, n, g, i);
    for (k, x) in whole.iter().enumerate() {
        let (g, i, j) = (k / (n * n), k / n % n, k % n);
        let named = places.contains(&(g, i.min(j), i.max(j)));
        assert!(named || x.abs() <= 1e-10 * (scales(g, i) * scales(g, j)).sqrt(), "{g} {i} {j}: {x}");
    }
    places.iter().map(|(g, i, j)| whole[(g * n + i) * n + j]).collect()
}

/// Size of a diagonal entry; of a direction that has nothing, a trace of the largest.
fn own_size(whole: &[f64], n: usize, g: usize, i: usize) -> f64 {
    let largest = whole[g * n * n..(g + 1) * n * n].iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    whole[(g * n + i) * n + i].abs().max(1e-9 * largest)
}

fn geometric_means(places: &[(usize, usize, usize)], whole: &[f64]) -> Vec<f64> {
    let n = matrix_sizes(places);
    let own = |g: usize, i: usize| own_size(whole, n, g, i);
    places.iter().map(|(g, i, j)| (own(*g, *i) * own(*g, *j)).sqrt()).collect()
}

/// Groups of dynamic parameters, friction among them.
fn base_columns(robot: &Robot) -> StandardSet {
    base_parameters(robot, true, 1).unwrap().columns(robot)
}

/// Models that every robot has.
const RIGID: [ModelKind; 5] =
    [ModelKind::Igm, ModelKind::Kinematics, ModelKind::Jacobian, ModelKind::Idm, ModelKind::Ddm];
/// Robots with flexible bodies.
const FLEXIBLE: [&str; 4] = ["navaro", "navaro-refined", "five-bar-flexible", "dual-emps"];

/// Every robot with one model and every model with two robots; with `GOUGH_FULL` set, every robot with every model.
fn table() -> Vec<(&'static str, ModelKind)> {
    let full = std::env::var_os("GOUGH_FULL").is_some();
    let mut list = Vec::new();
    for (i, name) in gough::robots::names().enumerate() {
        for (k, model) in RIGID.into_iter().enumerate() {
            if full || ["five-bar", "gough-stewart"].contains(&name) || k == i % RIGID.len() {
                list.push((name, model));
            }
        }
    }
    list.extend(FLEXIBLE.map(|name| (name, ModelKind::MassStiffness)));
    list.extend(["heli4", "five-bar-flexible"].map(|name| (name, ModelKind::CartesianFrequencies)));
    list.extend(["five-bar", "dualv"].map(|name| (name, ModelKind::Regressor)));
    list.extend(["five-bar", "dualv", "gough-stewart", "3-rpr"].map(|name| (name, ModelKind::Fgm)));
    list.extend(["orthoglide", "gough-stewart"].map(|name| (name, ModelKind::Inertia)));
    list.extend([ModelKind::FlexibleIdm, ModelKind::FlexibleDdm].map(|model| ("dual-emps", model)));
    // Legs written by their rods.
    for model in [ModelKind::Idm, ModelKind::Ddm] {
        list.extend(["orthoglide", "delta", "dualv"].map(|name| (name, model)));
    }
    list.sort_by_key(|(name, model)| (*name, model.name()));
    list.dedup();
    list
}

fn pose_inputs(robot: &Robot, posture: &Posture) -> Vec<f64> {
    let X = posture.pose();
    if robot.model().topology().platform.coordinates == Coordinates::Spatial {
        return X.p.iter().copied().chain((0..9).map(|k| X.R.0[(k / 3, k % 3)])).collect();
    }
    independent(robot.model(), X)
}

/// A pose a little aside of a posture, as of an instant before.
fn pose_with_all(model: &gough::model::Model<f64>, posture: &Posture, aside: f64) -> Pose<f64> {
    let all = coordinates(model, posture.pose());
    let independent = &model.topology().platform.independent;
    let given: Vec<_> = independent.iter().map(|c| (*c, all[c.index()] + aside)).collect();
    pose_with(model, posture.pose(), &given)
}

/// Inputs and results of the library's own road at random states.
fn states(robot: &Robot, model: ModelKind, count: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut random = random(61);
    let typical = typical_margins(robot);
    let (m, t) = (robot.model(), robot.model().topology());
    let n = t.platform.independent.len();
    let mut list = Vec::new();
    for _ in 0..4000 {
        let pose = random_pose(robot, &mut random, 0.15, 0.25);
        let Some(posture) = regular_posture(robot, &pose, robot.mode(), &typical) else { continue };
        let mut some = |n: usize, size: f64| (0..n).map(|_| random.random_range(-size..size)).collect::<Vec<f64>>();
        let (twist, acceleration, efforts) = (some(n, 1.0), some(n, 5.0), some(t.active.len(), 20.0));
        let mut x = pose_inputs(robot, &posture);
        let all = || t.active.iter().chain(&t.passive);
        let y = match model {
            ModelKind::Igm => all().map(|c| posture.joints(m, &[*c])[0]).collect(),
            ModelKind::Kinematics => {
                x.extend(twist.iter().chain(&acceleration));
                let motion = inverse_dynamics(m, &posture, &twist, &acceleration).unwrap().motion;
                all().map(|c| motion.rates[*c]).chain(all().map(|c| motion.accels[*c])).collect()
            }
            ModelKind::Jacobian => matrices_at(m, &posture, None).unwrap().jacobians.J_inv.unwrap().data,
            ModelKind::Idm => {
                x.extend(twist.iter().chain(&acceleration));
                inverse_dynamics(m, &posture, &twist, &acceleration).unwrap().efforts
            }
            ModelKind::Ddm => {
                x.extend(twist.iter().chain(&efforts));
                // Bodies without inertia are refused; other models are tried on such robots.
                match direct_dynamics(m, &posture, &twist, &efforts) {
                    Ok((acceleration, _)) => acceleration,
                    Err(_) => continue,
                }
            }
            ModelKind::MassStiffness => {
                let mut v = Vibration::new(m, robot.home(), Actuators::Elastic).unwrap();
                v.take_posture(&posture).unwrap();
                let (K, M) = v.matrices();
                [M.dense().data, K.dense().data].concat()
            }
            ModelKind::Regressor => {
                x.extend(twist.iter().chain(&acceleration));
                let set = base_columns(robot);
                let motion = (twist.as_slice(), acceleration.as_slice());
                let at = regressor(m, &set, &posture, motion, Sign::Sharp, &Conditions::default()).unwrap();
                at.of_efforts().unwrap().data
            }
            ModelKind::Fgm => {
                let was = pose_with_all(m, &posture, 1e-4 * m.length());
                let last = inverse(m, &was, robot.mode()).unwrap();
                let y = x;
                x = posture.joints(m, &t.active);
                x.extend(pose_inputs(robot, &last));
                y
            }
            ModelKind::Inertia => {
                x.extend(&twist);
                let at = platform_model(m, &posture, &twist, &Conditions::default()).unwrap();
                at.M.data.into_iter().chain(at.c).collect()
            }
            ModelKind::CartesianFrequencies => {
                let mut c = Cartesian::new(m, robot.home(), Choices::of(m)).unwrap();
                c.take_posture(&posture).unwrap();
                [c.data().M, c.data().K_R, c.data().K_F].concat().concat()
            }
            ModelKind::FlexibleIdm | ModelKind::FlexibleDdm => unreachable!("they have states of their own"),
        };
        list.push((x, y));
        if list.len() == count {
            return list;
        }
    }
    panic!("{}: only {} states", robot.name(), list.len());
}

/// Inputs and results of the library at random states of a flexible robot in motion, its loops closed on deformed bodies.
fn flexible_states(robot: &Robot, model: ModelKind, code: &Generated, count: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut random = random(67);
    let typical = typical_margins(robot);
    let (m, t) = (robot.model(), robot.model().topology());
    let mut flexible = FlexibleRobot::new(m, robot.home()).unwrap();
    let platform = flexible.flexible().platform();
    let group = |list: &[Group], name: &str| list.iter().find(|g| g.name == name).unwrap().entries.clone();
    let rates = group(&code.inputs, "qd");
    let slots: Vec<usize> = group(&code.outputs, "qdd")
        .iter()
        .map(|e| rates.iter().position(|r| r[2..] == e[3..]).expect("a coordinate of the robot"))
        .collect();
    let mut list = Vec::new();
    for _ in 0..4000 {
        let pose = random_pose(robot, &mut random, 0.1, 0.2);
        let Some(posture) = regular_posture(robot, &pose, robot.mode(), &typical) else { continue };
        let mut some = |n: usize, size: f64| (0..n).map(|_| random.random_range(-size..size)).collect::<Vec<f64>>();
        let n = flexible.flexible().elastic().len();
        let given = Given::Active { q: posture.joints(m, &t.active), qd: some(t.active.len(), 1.0) };
        let Ok(state) = flexible.state(&posture, &given, &some(n, 1e-4), &some(n, 1e-2)) else { continue };
        let driven = some(t.active.len(), 5.0);
        let answer = if model == ModelKind::FlexibleIdm {
            flexible.inverse(&state, &Wanted::Active(driven.clone()), None).unwrap()
        } else {
            flexible.direct(&state, &driven, None).unwrap()
        };
        let all = flexible.all_accelerations(&state, &answer.efforts).unwrap();
        let mut x: Vec<f64> = (0..all.len()).filter(|k| !platform.contains(k)).map(|k| state.at.q[k]).collect();
        if !platform.is_empty() {
            let X = &state.at.X_WE;
            x.extend(X.p.iter().copied().chain((0..9).map(|k| X.R.0[(k / 3, k % 3)])));
        }
        x.extend(state.rates.iter().chain(&driven));
        let mut y = if model == ModelKind::FlexibleIdm { answer.efforts } else { Vec::new() };
        y.extend(slots.iter().map(|k| all[*k]));
        list.push((x, y));
        if list.len() == count {
            return list;
        }
    }
    panic!("{}: only {} states", robot.name(), list.len());
}

fn cases(language: Language) -> Vec<Case> {
    let case = |(name, model): (&str, ModelKind)| {
        let robot = robot(name);
        Case::new(&robot, model, language)
    };
    table().into_iter().map(case).collect()
}

pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

pub fn write(folder: &Path, code: &Generated) -> Vec<PathBuf> {
    let put = |f: &gough::codegen::File| {
        let path = folder.join(&f.name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &f.text).unwrap();
        path
    };
    code.files.iter().map(put).collect()
}

pub fn run(command: &mut Command) -> String {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{command:?}\n{text}{}", String::from_utf8_lossy(&out.stderr));
    text
}

/// Feeds a program one state per line, `function inputs..`, and compares the lines it answers.
fn compare(program: &mut Command, cases: &[Case]) {
    let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    for (i, case) in cases.iter().enumerate() {
        for (x, _) in &case.states {
            let numbers: Vec<String> = x.iter().map(|x| format!("{x:e}")).collect();
            text += &format!("{i} {}\n", numbers.join(" "));
        }
    }
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(out.status.success(), "{out:?}");
    let answer = String::from_utf8(out.stdout).unwrap();
    let mut lines = answer.lines();
    for case in cases {
        for (x, wanted) in &case.states {
            let line = lines.next().expect("one line per state");
            let found: Vec<f64> = line.split_whitespace().map(|w| w.parse().unwrap()).collect();
            assert_eq!(found.len(), wanted.len(), "{}", case.code.function);
            let largest = wanted.iter().fold(0.0_f64, |m, y| m.max(y.abs())) + 1e-3;
            let angles = case.code.function.ends_with("_igm");
            for (k, (a, b)) in found.iter().zip(wanted).enumerate() {
                let scale = case.scales.as_ref().map_or(largest, |s| s[k]);
                let off = if angles { ((a - b) * 0.5).sin().abs().min((a - b).abs()) } else { (a - b).abs() };
                assert!(off <= 1e-10 * scale, "{}: {a} {b} at {x:?}", case.code.function);
            }
        }
    }
}

/// A program in C that reads states and calls the functions.
fn c_driver(cases: &[Case]) -> String {
    let mut out = String::from("#include <stdio.h>\n");
    for case in cases {
        out += &format!("#include \"{}.h\"\n", case.code.function);
    }
    out += "static double x[100], y[2000];\nint main(void) {\n    int f;\n    while (scanf(\"%d\", &f) == 1) {\n        int n = 0, m = 0;\n";
    for (i, case) in cases.iter().enumerate() {
        out += &format!("        if (f == {i}) n = {}, m = {};\n", case.states[0].0.len(), case.states[0].1.len());
    }
    out += "        for (int k = 0; k < n; k++)\n            if (scanf(\"%lf\", x + k) != 1) return 1;\n";
    for (i, case) in cases.iter().enumerate() {
        out += &format!(
            "        if (f == {i}) {}({});\n",
            case.code.function,
            pieces(&case.code, "x + ", "y + ").join(", ")
        );
    }
    out + "        for (int k = 0; k < m; k++) printf(\"%.17g \", y[k]);\n        printf(\"\\n\");\n    }\n    return 0;\n}\n"
}

fn pieces(code: &Generated, input: &str, output: &str) -> Vec<String> {
    let mut list = Vec::new();
    for (groups, name) in [(&code.inputs, input), (&code.outputs, output)] {
        let mut first = 0;
        for g in groups {
            list.push(format!("{name}{first}"));
            first += g.entries.len();
        }
    }
    list
}

pub const STRICT: [&str; 6] = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"];

#[test]
fn c_equals_the_library() {
    let folder = folder("c");
    let cases = cases(Language::C);
    let mut sources = vec![folder.join("driver.c")];
    std::fs::write(&sources[0], c_driver(&cases)).unwrap();
    for case in &cases {
        let files = write(&folder, &case.code);
        sources.push(files[1].clone());
        let test = folder.join("test");
        run(Command::new("cc").args(STRICT).args(&files[1..]).arg("-o").arg(&test).arg("-lm"));
        assert!(run(&mut Command::new(&test)).contains("5 states"));
    }
    let program = folder.join("driver");
    run(Command::new("cc").args(STRICT).args(&sources).arg("-o").arg(&program).arg("-lm"));
    compare(&mut Command::new(&program), &cases);
}

#[test]
fn c_for_four_states_equals_the_library() {
    let folder = folder("c4");
    for (name, model) in table() {
        let code = generate(&robot(name), &CodeOptions::new(model, Language::C4)).unwrap();
        let files = write(&folder, &code);
        let test = folder.join("test");
        let native = ["-march=x86-64-v3", "-Wall", "-Wextra", "-Werror", "-O1"];
        run(Command::new("cc").args(native).args(&files[1..]).arg("-o").arg(&test).arg("-lm"));
        run(&mut Command::new(&test));
    }
}

#[test]
fn rust_equals_the_library() {
    let folder = folder("rust");
    let cases = cases(Language::Rust);
    let rustc = |file: &Path| {
        let mut command = Command::new("rustc");
        command.args(["--edition", "2024", "-Dwarnings", "-O", "--out-dir"]).arg(&folder).arg("-L").arg(&folder);
        command.arg(file);
        command
    };
    let mut main = String::from(
        "use std::io::BufRead;\n#[allow(clippy::all)]\nfn main() {\n    for line in std::io::stdin().lock().lines() {\n        let line = line.unwrap();\n        let mut words = line.split_whitespace();\n        let f: usize = words.next().unwrap().parse().unwrap();\n        let x: Vec<f64> = words.map(|w| w.parse().unwrap()).collect();\n        let mut y: Vec<f64> = Vec::new();\n",
    );
    for (i, case) in cases.iter().enumerate() {
        let own = folder.join(&case.code.function);
        let files = write(&own, &case.code);
        let name = &case.code.function;
        run(rustc(&files[1]).args(["--crate-type", "rlib", "--crate-name", name, "--cfg", "feature=\"std\""]));
        // Brackets in the documentation are no links.
        let mut rustdoc = Command::new("rustdoc");
        rustdoc.args(["--edition", "2024", "-Dwarnings", "--crate-name", name, "--cfg", "feature=\"std\"", "-o"]);
        run(rustdoc.arg(folder.join("doc")).arg(&files[1]));
        let mut first = 0;
        let arguments: Vec<String> = case
            .code
            .inputs
            .iter()
            .map(|g| {
                first += g.entries.len();
                format!("x[{}..{first}].try_into().unwrap()", first - g.entries.len())
            })
            .collect();
        main += &format!("        if f == {i} {{\n            let r = {name}::{name}({});\n", arguments.join(", "));
        let one = case.code.outputs.len() == 1;
        for k in 0..case.code.outputs.len() {
            main += &format!("            y.extend(r{});\n", if one { String::new() } else { format!(".{k}") });
        }
        main += "        }\n";
    }
    main +=
        "        println!(\"{}\", y.iter().map(|v| format!(\"{v:e}\")).collect::<Vec<_>>().join(\" \"));\n    }\n}\n";
    let path = folder.join("driver.rs");
    std::fs::write(&path, main).unwrap();
    let mut command = rustc(&path);
    for case in &cases {
        command.arg("--extern").arg(&case.code.function);
    }
    run(&mut command);
    compare(&mut Command::new(folder.join("driver")), &cases);
    // The tests that come with one of them, without the standard library in the crate's own code.
    let own = folder.join(&cases[0].code.function);
    run(rustc(&own.join("tests/vectors.rs")).args(["--test", "--extern", &cases[0].code.function]));
    assert!(run(&mut Command::new(folder.join("vectors"))).contains("1 passed"));
    clippy(&own.join("src/lib.rs"), &folder);
}

/// `clippy-driver`, where it is installed, finds nothing.
fn clippy(file: &Path, folder: &Path) {
    let sysroot = run(Command::new("rustc").args(["--print", "sysroot"])).trim().to_owned();
    let driver = Path::new(&sysroot).join("bin/clippy-driver");
    if !driver.exists() {
        return;
    }
    let mut command = Command::new(driver);
    command.env("LD_LIBRARY_PATH", Path::new(&sysroot).join("lib")).args(["--edition", "2024", "-Dwarnings"]);
    command.args(["--crate-type", "rlib", "--emit", "metadata", "--cfg", "feature=\"std\"", "--out-dir"]).arg(folder);
    run(command.arg(file));
}

/// A Python with numpy: `GOUGH_PYTHON`, or the system's.
fn python() -> Option<String> {
    let name = std::env::var("GOUGH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has = Command::new(&name).args(["-c", "import numpy"]).stderr(Stdio::null()).status();
    has.is_ok_and(|s| s.success()).then_some(name)
}

#[test]
fn python_equals_the_library() {
    let Some(python) = python() else {
        assert!(std::env::var_os("GOUGH_PYTHON").is_none(), "GOUGH_PYTHON has no numpy");
        eprintln!("no Python with numpy: not tried");
        return;
    };
    let folder = folder("python");
    let cases = cases(Language::Python);
    let mut driver = String::from("import sys\nimport numpy as np\n");
    let mut checked = Vec::new();
    for case in &cases {
        checked.extend(write(&folder, &case.code));
        driver += &format!("from {0} import {0}\n", case.code.function);
    }
    driver += "table = [\n";
    for case in &cases {
        let sizes: Vec<String> = case.code.inputs.iter().map(|g| g.entries.len().to_string()).collect();
        driver += &format!("    ({}, [{}]),\n", case.code.function, sizes.join(", "));
    }
    driver += "]\nfor line in sys.stdin:\n    words = line.split()\n    f, sizes = table[int(words[0])]\n    x = np.array([float(w) for w in words[1:]])\n    parts = np.split(x, np.cumsum(sizes)[:-1])\n    y = f(*parts)\n    y = np.concatenate(y) if isinstance(y, tuple) else y\n    print(*[repr(float(v)) for v in y])\n";
    let path = folder.join("driver.py");
    std::fs::write(&path, driver).unwrap();
    compare(Command::new(&python).arg(&path).current_dir(&folder), &cases);
    for case in &cases {
        assert!(
            run(Command::new(&python).arg(format!("test_{}.py", case.code.function)).current_dir(&folder))
                .contains("ok")
        );
    }
    let has_mypy =
        Command::new(&python).args(["-m", "mypy", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if has_mypy.is_ok_and(|s| s.success()) {
        run(Command::new(&python).args(["-m", "mypy", "--strict"]).args(&checked).current_dir(&folder));
    }
}

/// `GOUGH_OCTAVE`, or one on the path.
fn octave() -> Option<String> {
    if let Ok(name) = std::env::var("GOUGH_OCTAVE") {
        return Some(name);
    }
    let answers = |name: &&str| {
        let asked = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|s| s.success())
    };
    ["octave-cli", "octave"].into_iter().find(answers).map(str::to_owned)
}

#[test]
fn matlab_code_runs_in_octave() {
    let Some(octave) = octave() else {
        eprintln!("no Octave: not tried");
        return;
    };
    let folder = folder("matlab");
    let cases = cases(Language::Matlab);
    cases.iter().for_each(|case| drop(write(&folder, &case.code)));
    std::fs::write(folder.join("driver.m"), matlab_driver(&cases)).unwrap();
    let mut script = Command::new(&octave);
    script.args(["--no-gui", "--quiet", "--norc", "--no-history", "driver.m"]).current_dir(&folder);
    compare(&mut script, &cases);
    // The tests that come with them.
    let calls: String = cases.iter().map(|case| format!("{}_test(); ", case.code.function)).collect();
    let told = run(Command::new(&octave)
        .args(["--no-gui", "--quiet", "--norc", "--no-history", "--eval", &calls])
        .current_dir(&folder));
    assert_eq!(told.matches("largest relative difference").count(), cases.len(), "{told}");
}

/// A script that reads states and calls the functions.
fn matlab_driver(cases: &[Case]) -> String {
    let mut out = String::from("line = fgetl(stdin);\nwhile ischar(line)\n  x = sscanf(line, '%f');\n  switch x(1)\n");
    for (i, case) in cases.iter().enumerate() {
        let mut first = 2;
        let input = |group: &gough::codegen::Group| {
            first += group.entries.len();
            format!("x({}:{})", first - group.entries.len(), first - 1)
        };
        let inputs: Vec<String> = case.code.inputs.iter().map(input).collect();
        let outputs: Vec<String> = (0..case.code.outputs.len()).map(|k| format!("y{k}")).collect();
        let (names, all) = (outputs.join(", "), outputs.join("; "));
        let call = format!("{}({})", case.code.function, inputs.join(", "));
        out += &format!("    case {i}\n      [{names}] = {call};\n      y = [{all}];\n");
    }
    out + "  end\n  printf('%.17g ', y);\n  printf(\"\\n\");\n  line = fgetl(stdin);\nend\n"
}

/// What makes a CUDA kernel a C++ function, one thread after the other.
const SHIM: &str = "
#define __global__
#define __device__
struct gough_index { unsigned x; };
static gough_index blockIdx, blockDim, threadIdx;
";

#[test]
fn the_cuda_kernel_runs_on_the_processor() {
    let folder = folder("cuda");
    for (name, model) in
        [("gough-stewart", ModelKind::Idm), ("five-bar", ModelKind::Ddm), ("delta", ModelKind::Kinematics)]
    {
        let robot = robot(name);
        let code = generate(&robot, &CodeOptions::new(model, Language::Cuda)).unwrap();
        let files = write(&folder, &code);
        let case = Case { states: states(&robot, model, 8), code, scales: None };
        let n = case.states.len();
        let (inputs, outputs) = (case.states[0].0.len(), case.states[0].1.len());
        let places = |groups: &[gough::codegen::Group], list: &str| {
            let mut first = 0;
            let place = |g: &gough::codegen::Group| {
                first += g.entries.len();
                format!("{list} + {} * count", first - g.entries.len())
            };
            groups.iter().map(place).collect::<Vec<_>>()
        };
        let arguments = [places(&case.code.inputs, "x"), places(&case.code.outputs, "y")].concat().join(", ");
        let driver = format!(
            "{SHIM}#include \"{0}\"\n#include <stdio.h>\nint main() {{\n    const long long count = {n};\n    static double x[{inputs} * {n}], y[{outputs} * {n}];\n    int f;\n    for (int s = 0; s < {n}; s++) {{\n        if (scanf(\"%d\", &f) != 1) return 1;\n        for (int k = 0; k < {inputs}; k++)\n            if (scanf(\"%lf\", x + k * count + s) != 1) return 1;\n    }}\n    blockDim.x = 3;\n    for (blockIdx.x = 0; blockIdx.x < {n}; blockIdx.x++)\n        for (threadIdx.x = 0; threadIdx.x < 3; threadIdx.x++) {1}(count, {arguments});\n    for (int s = 0; s < {n}; s++) {{\n        for (int k = 0; k < {outputs}; k++) printf(\"%.17g \", y[k * count + s]);\n        printf(\"\\n\");\n    }}\n}}\n",
            files[0].file_name().unwrap().to_str().unwrap(),
            case.code.function
        );
        let path = folder.join("driver.cpp");
        std::fs::write(&path, driver).unwrap();
        let program = folder.join("driver");
        run(Command::new("c++").args(["-Wall", "-Wextra", "-Werror", "-O1"]).arg(&path).arg("-o").arg(&program));
        compare(&mut Command::new(&program), &[case]);
    }
}

/// Compile one generated file in C and run the test that comes with it.
fn c_test(folder: &Path, code: &Generated) {
    let files = write(folder, code);
    let test = folder.join("test");
    run(Command::new("cc").args(STRICT).args(&files[1..]).arg("-o").arg(&test).arg("-lm"));
    run(&mut Command::new(&test));
}

#[test]
fn symbolic_parameters_are_inputs_and_change_the_answer() {
    let folder = folder("symbolic");
    for name in ["five-bar", "gough-stewart", "delta"] {
        let robot = robot(name);
        let options = CodeOptions { symbolic: Symbolic::All, ..CodeOptions::new(ModelKind::Idm, Language::C) };
        let code = generate(&robot, &options).unwrap();
        let group = code.inputs.last().unwrap();
        assert_eq!((group.name.as_str(), group.entries.len()), ("parameters", robot.model().parameters().len()));
        c_test(&folder, &code);
        // The vectors are those of the folded model: same numbers, other road.
        let folded = generate(&robot, &CodeOptions::new(ModelKind::Idm, Language::C)).unwrap();
        for (a, b) in code.vectors.iter().zip(&folded.vectors) {
            for (x, y) in a.1.iter().zip(&b.1) {
                assert!((x - y).abs() < 1e-10 * (1.0 + y.abs()), "{name}: {x} {y}");
            }
        }
    }
}

#[test]
fn derivatives_are_those_of_differences() {
    let folder = folder("derivatives");
    let robot = robot("five-bar");
    let options = CodeOptions {
        derivatives: vec!["pose".to_owned(), "xdd".to_owned()],
        ..CodeOptions::new(ModelKind::Idm, Language::C)
    };
    let code = generate(&robot, &options).unwrap();
    c_test(&folder, &code);
    assert_eq!(
        code.outputs[1].entries,
        ["dtau_11_dx", "dtau_11_dy", "dtau_11_dxdd", "dtau_21_dx", "dtau_21_dy", "dtau_21_dxdd"]
    );
    let efforts = |x: &[f64]| {
        let pose = gough::spatial::Pose::translation(gough::spatial::vec3(x[0], x[1], 0.0));
        let posture = gough::kinematics::inverse(robot.model(), &pose, robot.mode()).unwrap();
        inverse_dynamics(robot.model(), &posture, &x[2..4], &x[4..6]).unwrap().efforts
    };
    let (x, y) = &code.vectors[1];
    for (column, k) in [0, 1, 4].into_iter().enumerate() {
        let h = 1e-6;
        let moved = |sign: f64| {
            let mut x = x.clone();
            x[k] += sign * h;
            efforts(&x)
        };
        let (a, b) = (moved(1.0), moved(-1.0));
        for row in 0..2 {
            let difference = (a[row] - b[row]) / (2.0 * h);
            let found = y[2 + 3 * row + column];
            assert!(
                (found - difference).abs() < 1e-7 * (1.0 + difference.abs()) && found != 0.0,
                "{found} {difference}"
            );
        }
    }
}

#[test]
fn the_whole_jacobian_of_the_efforts_is_short() {
    let robot = robot("gough-stewart");
    let all = ["pose", "twist", "acceleration"].map(str::to_owned).to_vec();
    let code =
        generate(&robot, &CodeOptions { derivatives: all, ..CodeOptions::new(ModelKind::Idm, Language::C) }).unwrap();
    // CasADi's jacobian of the same formulas has 14615.
    assert!(code.count.operations() <= 14600, "{}", code.count.operations());
    assert_eq!(code.outputs[1].entries.len(), 6 * 24);
    // By the acceleration the efforts are linear, and the code says so exactly.
    let (x, y) = &code.vectors[0];
    let (before, after) = (&code.vectors[0].1[..6], |k: usize| (0..6).map(move |row| y[6 + row * 24 + 18 + k]));
    let mut moved = x.clone();
    moved[18] += 0.5;
    let turned = gough::spatial::Rotation(nalgebra::Matrix3::from_fn(|i, j| x[3 + 3 * i + j]));
    let pose = Pose { R: turned, p: vec3(x[0], x[1], x[2]) };
    let posture = inverse(robot.model(), &pose, robot.mode()).unwrap();
    let efforts = inverse_dynamics(robot.model(), &posture, &moved[12..18], &moved[18..]).unwrap().efforts;
    for ((found, slope), before) in efforts.iter().zip(after(0)).zip(before) {
        assert!((before + 0.5 * slope - found).abs() < 1e-10 * (1.0 + found.abs()), "{before} {slope} {found}");
    }
}

#[test]
fn options_compile_and_agree() {
    let folder = folder("options");
    let robot = robot("gough-stewart");
    let plain = generate(&robot, &CodeOptions::new(ModelKind::Idm, Language::C)).unwrap();
    let routine = CodeOptions { solve: Solve::Routine, ..CodeOptions::new(ModelKind::Idm, Language::C) };
    let margins = CodeOptions { margins: true, ..CodeOptions::new(ModelKind::Idm, Language::C) };
    for options in [&routine, &margins] {
        let code = generate(&robot, options).unwrap();
        c_test(&folder, &code);
        for (a, b) in code.vectors.iter().zip(&plain.vectors) {
            for (x, y) in a.1.iter().zip(&b.1) {
                assert!((x - y).abs() < 1e-9 * (1.0 + y.abs()), "{x} {y}");
            }
        }
    }
    assert_eq!(generate(&robot, &margins).unwrap().count, plain.count, "margins are not counted");
    for model in [ModelKind::Idm, ModelKind::Ddm] {
        c_test(&folder, &generate(&robot, &CodeOptions { model, ..routine.clone() }).unwrap());
    }
    let friction = CodeOptions { friction: true, ..CodeOptions::new(ModelKind::Idm, Language::C) };
    let code = generate(&crate::common::robot("five-bar"), &friction).unwrap();
    c_test(&folder, &code);
    let robot = crate::common::robot("five-bar");
    for (x, y) in &code.vectors {
        let pose = gough::spatial::Pose::translation(gough::spatial::vec3(x[0], x[1], 0.0));
        let posture = gough::kinematics::inverse(robot.model(), &pose, robot.mode()).unwrap();
        let wanted = inverse_dynamics(robot.model(), &posture, &x[2..4], &x[4..6]).unwrap().efforts_with_friction;
        assert!(y.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-10 * (1.0 + b.abs())), "{y:?} {wanted:?}");
    }
}

#[test]
fn every_mode_has_code_of_its_own() {
    let folder = folder("modes");
    let robot = robot("five-bar");
    for mode in robot.mode().combinations() {
        let options = CodeOptions { mode: Some(mode.clone()), ..CodeOptions::new(ModelKind::Igm, Language::C) };
        let code = generate(&robot, &options).unwrap();
        c_test(&folder, &code);
        let (x, y) = &code.vectors[0];
        let pose = gough::spatial::Pose::translation(gough::spatial::vec3(x[0], x[1], 0.0));
        let posture = gough::kinematics::inverse(robot.model(), &pose, &mode).unwrap();
        let q = posture.joints(robot.model(), &robot.model().topology().active);
        assert!(y.iter().zip(&q).all(|(a, b)| (a - b).abs() < 1e-12), "{y:?} {q:?}");
    }
}

/// Additions and multiplications together that must not be exceeded.
const MOST: [(&str, ModelKind, ElasticCoordinates, usize); 9] = [
    ("navaro", ModelKind::MassStiffness, ElasticCoordinates::Nodal, 1000),
    ("navaro", ModelKind::MassStiffness, ElasticCoordinates::Relative, 4200),
    ("five-bar", ModelKind::Idm, ElasticCoordinates::Nodal, 140),
    ("five-bar", ModelKind::Ddm, ElasticCoordinates::Nodal, 170),
    ("dual-emps", ModelKind::Idm, ElasticCoordinates::Nodal, 177),
    ("3-rpr", ModelKind::Idm, ElasticCoordinates::Nodal, 420),
    ("orthoglide", ModelKind::Idm, ElasticCoordinates::Nodal, 220),
    ("gough-stewart", ModelKind::Idm, ElasticCoordinates::Nodal, 1330),
    ("gough-stewart", ModelKind::Ddm, ElasticCoordinates::Nodal, 2100),
];

/// Every model of every robot: growth is noticed here. `cargo xtask book` writes the table again.
#[test]
fn operations_are_those_of_the_book() {
    let book = include_str!("../../../../docs/src/reference/operation-counts.md");
    for name in gough::robots::names() {
        let robot = robot(name);
        let row = book.lines().find(|l| l.starts_with(&format!("| {name} |"))).expect("a row per robot");
        let cells: Vec<&str> = row.split('|').map(str::trim).skip(2).collect();
        let models = ModelKind::COUNTED.map(|model| CodeOptions::new(model, Language::C));
        for (cell, options) in cells.iter().zip(models.into_iter().chain([relative()])) {
            let (model, coordinates) = (options.model, options.coordinates);
            let c = match generate(&robot, &options) {
                Ok(code) => code.count,
                Err(e) => {
                    assert_eq!((e.kind(), *cell), ("nothing-flexible", "-"), "{name} {model:?}");
                    continue;
                }
            };
            let found = format!("{} + {} = {} ({}, {})", c.add, c.mul, c.operations(), c.sqrt, c.trig);
            assert_eq!(&found, cell, "{name} {model:?} {coordinates:?}");
            for (_, _, _, most) in MOST.iter().filter(|m| (m.0, m.1, m.2) == (name, model, coordinates)) {
                assert!(c.operations() <= *most, "{name} {model:?}: {}", c.operations());
            }
        }
    }
}

/// Flexible robots in motion: fewer operations than are printed, and not more than there were.
#[test]
fn flexible_motion_takes_few_operations() {
    let robot = robot("dual-emps");
    for (model, most) in [(ModelKind::FlexibleIdm, 1717), (ModelKind::FlexibleDdm, 1938)] {
        let c = generate(&robot, &CodeOptions::new(model, Language::C)).unwrap().count;
        let printed = published("dual-emps", model).unwrap();
        assert!(c.operations() <= most, "{model:?}: {}", c.operations());
        assert!(c.add < printed.add && c.mul < printed.mul && c.variables < printed.variables);
    }
}

/// Parameters that stay inputs, friction and the routine change no answer; what cannot be written is told.
#[test]
fn flexible_motion_is_written_with_every_choice() {
    let bare = robot("dual-emps");
    let of = |robot: &Robot, options: CodeOptions| generate(robot, &options);
    let plain = CodeOptions::new(ModelKind::FlexibleDdm, Language::C);
    // Code is held against the library before it is given out.
    let symbolic = of(&bare, CodeOptions { symbolic: Symbolic::All, ..plain.clone() }).unwrap();
    assert!(symbolic.inputs.iter().any(|g| g.name == "parameters") && symbolic.vectors.len() >= 3);
    let routine = of(&bare, CodeOptions { solve: Solve::Routine, ..plain.clone() }).unwrap();
    assert!(routine.vectors.len() >= 3);
    let rubbed = of(&bare, CodeOptions { friction: true, ..plain.clone() }).unwrap();
    let free = of(&bare, plain.clone()).unwrap();
    assert_ne!(rubbed.vectors[0].1, free.vectors[0].1);
    let margins = of(&bare, CodeOptions { margins: true, ..plain.clone() }).unwrap();
    assert_eq!((margins.count, margins.outputs.last().unwrap().name.as_str()), (free.count, "closing"));
    let by = CodeOptions { derivatives: vec!["efforts".to_owned()], ..plain.clone() };
    assert_eq!(of(&bare, by).unwrap().outputs[1].entries.len(), 2 * free.outputs[0].entries.len());
    let kind = |robot: &Robot, options: CodeOptions| of(robot, options).unwrap_err().kind();
    let inverse = CodeOptions::new(ModelKind::FlexibleIdm, Language::C);
    assert_eq!(kind(&bare, CodeOptions { solve: Solve::Routine, ..inverse.clone() }), "usage");
    assert_eq!(kind(&robot("five-bar"), inverse.clone()), "nothing-flexible");
    assert_eq!(kind(&robot("navaro"), inverse.clone()), "too-large");
    // A platform of its own is given by position and rotation matrix.
    let plate = of(&robot("gough-stewart-flexible"), inverse).unwrap();
    assert_eq!((plate.inputs[1].name.as_str(), plate.inputs[1].entries.len()), ("pose", 12));
}

/// Mass and stiffness in the coordinates of the literature.
fn relative() -> CodeOptions {
    CodeOptions { coordinates: ElasticCoordinates::Relative, ..CodeOptions::new(ModelKind::MassStiffness, Language::C) }
}

#[test]
fn the_same_question_gives_the_same_files() {
    for name in ["gough-stewart", "navaro"] {
        let options = CodeOptions::new(ModelKind::Ddm, Language::Rust);
        let (a, b) = (generate(&robot(name), &options).unwrap(), generate(&robot(name), &options).unwrap());
        assert!(a.files == b.files, "{name}");
    }
}

#[test]
fn what_cannot_be_generated_is_refused() {
    let refused = |robot: &Robot, options: &CodeOptions| generate(robot, options).unwrap_err();
    let plain = CodeOptions::new(ModelKind::Idm, Language::C);
    for (name, kind) in [("3-prs", "no-closed-form"), ("bent-leg", "no-closed-form"), ("redundant", "open-joints")] {
        let robot = crate::common::compile(name, &crate::common::text(name));
        assert_eq!(refused(&robot, &plain).kind(), kind, "{name}");
    }
    let weightless = |line: &&str| !["mass", "first_moment", "inertia"].iter().any(|key| line.starts_with(key));
    let lines = include_str!("../../../../robots/five-bar/robot.toml").lines().filter(weightless);
    let text: Vec<&str> = lines.map(|l| if l.starts_with("drive") { "drive = {}" } else { l }).collect();
    let weightless = crate::common::compile("weightless", &text.join("\n"));
    let nothing = refused(&weightless, &CodeOptions::new(ModelKind::Ddm, Language::C));
    assert!(nothing.kind() == "not-finite" && nothing.to_string().contains("masses"), "{nothing}");
    let robot = robot("five-bar");
    let rigid = refused(&robot, &CodeOptions::new(ModelKind::MassStiffness, Language::C));
    assert!(rigid.kind() == "nothing-flexible" && rigid.to_string().contains("`beam`"), "{rigid}");
    let wrong = CodeOptions { symbolic: Symbolic::Some(vec!["d99".to_owned()]), ..plain.clone() };
    assert!(refused(&robot, &wrong).to_string().contains("d11"));
    let wrong = CodeOptions { derivatives: vec!["nothing".to_owned()], ..plain.clone() };
    assert!(refused(&robot, &wrong).to_string().contains("pose"));
    let wrong = CodeOptions { derivatives: vec!["pose".to_owned()], solve: Solve::Routine, ..plain.clone() };
    assert_eq!(refused(&robot, &wrong).kind(), "usage");
    let wrong = CodeOptions { solve: Solve::Routine, language: Language::C4, ..plain };
    assert_eq!(refused(&robot, &wrong).kind(), "usage");
}

/// Relative coordinates are other matrices of the same robot: the same frequencies, and those of the library's second road.
#[test]
fn relative_coordinates_give_the_matrices_of_the_second_road() {
    let folder = folder("relative");
    for name in ["five-bar-flexible", "navaro"] {
        let robot = robot(name);
        let code = generate(&robot, &relative()).unwrap();
        c_test(&folder, &code);
        let plan = RelativePlan::new(robot.model(), Actuators::Elastic, robot.home().positions()).unwrap();
        let places = places(&code);
        for (x, y) in &code.vectors {
            let turn = from_rpy(0.0, 0.0, x.get(2).copied().unwrap_or(0.0));
            let pose = Pose { R: turn, p: vec3(x[0], x[1], 0.0) };
            let posture = gough::kinematics::inverse(robot.model(), &pose, robot.mode()).unwrap();
            let both = relative_matrices(robot.model(), &plan, posture.positions());
            let whole = [both.M.data, both.K.data].concat();
            let wanted = picked(&places, &whole);
            for ((a, b), scale) in y.iter().zip(&wanted).zip(geometric_means(&places, &whole)) {
                assert!((a - b).abs() <= 1e-10 * scale, "{name}: {a} {b}");
            }
        }
    }
}

/// Parameters that stay inputs change the matrices as the robot file with that parameter does.
#[test]
fn mass_and_stiffness_follow_symbolic_parameters() {
    let robot = robot("navaro");
    let options = CodeOptions {
        symbolic: Symbolic::Some(vec!["rp".to_owned(), "young".to_owned(), "arm_A".to_owned()]),
        ..CodeOptions::new(ModelKind::MassStiffness, Language::C)
    };
    let symbolic = generate(&robot, &options).unwrap();
    let folded = generate(&robot, &CodeOptions::new(ModelKind::MassStiffness, Language::C)).unwrap();
    assert_eq!(symbolic.outputs, folded.outputs);
    let places = places(&folded);
    let n = matrix_sizes(&places);
    for (a, b) in symbolic.vectors.iter().zip(&folded.vectors) {
        let mut whole = vec![0.0; 2 * n * n];
        places.iter().zip(&b.1).for_each(|((g, i, j), x)| whole[(g * n + i) * n + j] = *x);
        for ((x, y), scale) in a.1.iter().zip(&b.1).zip(geometric_means(&places, &whole)) {
            assert!((x - y).abs() <= 1e-10 * scale, "{x} {y}");
        }
    }
    c_test(&folder("symbolic-matrices"), &symbolic);
}

/// Inverse dynamics on base parameters as inputs: with those of the file it is inverse dynamics, and it takes fewer operations
/// than the regressor. Code is held against the library's regressor before it is given out.
#[test]
fn inverse_dynamics_is_written_on_base_parameters() {
    for name in ["five-bar", "dualv"] {
        let robot = robot(name);
        let columns = base_columns(&robot);
        let of = |model: ModelKind| {
            let options = CodeOptions { columns: Some(columns.clone()), ..CodeOptions::new(model, Language::C) };
            generate(&robot, &options).unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let (idm, matrix) = (of(ModelKind::Idm), of(ModelKind::Regressor));
        let chi = idm.inputs.iter().find(|g| g.name == "chi").unwrap();
        assert_eq!(chi.entries.len(), columns.parameters.len());
        assert_eq!(matrix.outputs[0].entries.len(), columns.parameters.len() * robot.model().topology().active.len());
        assert!(idm.count.operations() < matrix.count.operations(), "{name}");
    }
    let robot = robot("five-bar");
    let options = CodeOptions { columns: Some(base_columns(&robot)), ..CodeOptions::new(ModelKind::Ddm, Language::C) };
    assert_eq!(generate(&robot, &options).unwrap_err(), CodegenError::NoColumns);
}
