//! Faults of a robot file: each is told with its line and what to try.

use gough::Robot;
use gough::description::{BadRobot, Diagnostic, ReadOptions, line_column};

const GOOD: &str = r#"
[robot]
name = "sample"
home = { x = 0.02, y = 0.3 }
mode = "+-"

[parameters]
l1 = "200 mm"
l2 = "250 mm"
half = "l1/2"

[material]
alu = { E = "70 GPa", nu = 0.3, density = "2700 kg/m^3" }

[section]
flat = { rectangle = ["4 mm", "20 mm"] }

[platform]
coordinates = "point"
body = "22"
point = ["l2", 0, 0]
mass = "1 kg"

[template.arm]
needs = ["x0"]
body = [
  { name = "{leg}1", on = "base", joint = "R", frame = { xyz = ["x0", 0, 0] }, drive = { rotor_inertia = 0.01, effort = "20 N*m" }, friction = { viscous = 0.1 }, mass = 0.5, com = ["half", 0, 0], inertia = { at = "com", xx = 1e-4, yy = 2e-3, zz = 2e-3 } },
  { name = "{leg}2", on = "{leg}1", joint = "R", point = ["l1", 0, 0], range = [-3, 3], shape = { box = ["l2", "20 mm", "10 mm"], density = "2.7 g/cm^3" } },
]

[legs]
1 = { template = "arm", x0 = "-150 mm" }
2 = { template = "arm", x0 = "150 mm" }

[[closure]]
joint = "R"
a = { body = "12", point = ["l2", 0, 0] }
b = { body = "22", point = ["l2", 0, 0] }
"#;

fn read(text: &str) -> Result<Robot, BadRobot> {
    Robot::from_toml("sample.toml", text, &ReadOptions::default(), None)
}

/// One change to the good file and what must be said of it.
struct Case {
    from: &'static str,
    to: &'static str,
    code: &'static str,
    /// Text that stands on the line of the fault.
    on: &'static str,
    /// Part of the message.
    says: &'static str,
    /// Part of the suggestion; empty when there is none to make.
    help: &'static str,
}

fn case(
    from: &'static str,
    to: &'static str,
    code: &'static str,
    on: &'static str,
    says: &'static str,
    help: &'static str,
) -> Case {
    Case { from, to, code, on, says, help }
}

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    vec![
        // text and structure
        case("name = \"sample\"", "name = sample", "syntax", "name = sample", "not TOML", "quotes"),
        case("name = \"sample\"", "name = \"sample\"\nname = \"other\"", "syntax", "name = \"other\"", "duplicate key", "remove or rename"),
        case("mode = \"+-\"", "modus = \"+-\"", "unknown-key", "modus", "unknown key `modus` in [robot]", "did you mean `mode`?"),
        case("[section]", "[sections]", "unknown-key", "[sections]", "unknown key `sections`", "did you mean `section`?"),
        case("coordinates = \"point\"\n", "", "missing-key", "[platform]", "[platform] has no `coordinates`", "add `coordinates"),
        case("joint = \"R\", frame", "frame", "missing-key", "{leg}1\", on = \"base\"", "has no `joint`", "add `joint"),
        case("mass = \"1 kg\"", "mass = [1]", "wrong-type", "mass = [1]", "`mass` is a list", ""),
        case("joint = \"R\", point", "joint = \"Q\", point", "wrong-type", "joint = \"Q\"", "one of R, P, U, S, C, H, Pi, fixed", ""),
        case("point = [\"l2\", 0, 0]\nmass", "point = [\"l2\", 0]\nmass", "wrong-type", "point = [\"l2\", 0]", "a list of 3 numbers", ""),
        case("half = \"l1/2\"", "half = nan", "wrong-type", "half = nan", "finite number", ""),
        // names
        case("\"{leg}2\", on", "\"{leg}2 b\", on", "bad-name", "{leg}2 b", "other characters", "letters, digits"),
        case("\"{leg}2\", on", "\"{leg}1\", on", "duplicate", "\"{leg}1\", on = \"{leg}1\"", "two bodies are called `11`", "own name"),
        case("\"{leg}2\", on", "\"{foot}2\", on", "unknown-placeholder", "{foot}2", "unknown placeholder `{foot}`", "only {leg}"),
        // expressions and units
        case("half = \"l1/2\"", "half = \"l1//2\"", "bad-expression", "l1//2", "found `/`", "expressions know"),
        case("half = \"l1/2\"", "half = \"(l1/2\"", "bad-expression", "(l1/2", "`)`", ""),
        case("half = \"l1/2\"", "half = \"l1^l2\"", "bad-exponent", "l1^l2", "exponent", "whole or half"),
        case("l1 = \"200 mm\"", "l1 = \"200 mn\"", "unknown-unit", "200 mn", "unknown unit `mn`", "did you mean"),
        case("half = \"l1/2\"", "half = \"ll/2\"", "unknown-name", "ll/2", "nothing is called `ll`", "did you mean `l1`?"),
        case("half = \"l1/2\"", "half = \"sin(l1, l2)\"", "wrong-arity", "sin(l1, l2)", "takes 1", ""),
        case("half = \"l1/2\"", "half = \"l1 + 3 kg\"", "sum-of-dimensions", "l1 + 3 kg", "a length and a mass", "units of both"),
        case("mass = \"1 kg\"", "mass = \"1 m\"", "wrong-dimension", "mass = \"1 m\"", "`mass` is a length", "give a mass"),
        case("effort = \"20 N*m\"", "effort = \"20 N\"", "wrong-dimension", "20 N\"", "`effort` is a force", "give a torque"),
        case("half = \"l1/2\"", "half = \"cos(l1)\"", "angle-expected", "cos(l1)", "`cos` of a length", "divide by a length"),
        case("half = \"l1/2\"", "half = \"1/(l1 - l1)\"", "not-finite", "1/(l1 - l1)", "the value is inf", "division by zero"),
        case("x0 = \"-150 mm\"", "x0 = \"-1e9 m\"", "absurd", "frame = { xyz", "beyond any robot", "check the unit"),
        case("half = \"l1/2\"", "half = \"l1/2\"\nmm = 3", "reserved-name", "mm = 3", "`mm` is a unit", "another name"),
        case("l1 = \"200 mm\"", "l1 = \"2*half\"", "cycle", "l1 = \"2*half\"", "l1 -> half -> l1", "value of its own"),
        // templates
        case("1 = { template = \"arm\"", "1 = { template = \"arms\"", "unknown-template", "\"arms\"", "no template named `arms`", "did you mean `arm`?"),
        case("2 = { template = \"arm\", x0 = \"150 mm\" }", "2 = { template = \"arm\" }", "missing-argument", "2 = { template = \"arm\" }", "needs `x0`", "add `x0"),
        case("x0 = \"150 mm\" }", "x0 = \"150 mm\", y0 = 0 }", "extra-argument", "y0 = 0", "no use for `y0`", "did you mean `x0`?"),
        // bodies and joints
        case("on = \"{leg}1\"", "on = \"{leg}9\"", "unknown-body", "on = \"{leg}9\"", "no body named `19`", "did you mean `11`?"),
        case("on = \"base\"", "on = \"{leg}2\"", "parent-cycle", "on = \"{leg}2\"", "stand on each other", "stand `on` the base"),
        case("on = \"{leg}1\"", "on = \"{leg}2\"", "parent-cycle", "on = \"{leg}2\"", "`12` stands on itself", "let it stand"),
        case("frame = { xyz", "mdh = {}, frame = { xyz", "two-placements", "mdh = {}", "both by `mdh`", "place a body by"),
        case("joint = \"R\", point", "joint = \"U\", point", "needs-key", "joint = \"U\"", "a U joint has two axes", "add `axis2`"),
        case("joint = \"R\", point", "joint = \"R\", axis2 = [1, 0, 0], point", "useless-key", "axis2 = [1, 0, 0]", "belongs to U joints", "remove `axis2`"),
        case("joint = \"R\", point", "joint = \"R\", axis = [0, 0, 0], point", "zero-vector", "axis = [0, 0, 0]", "has no direction", "give a direction"),
        case("joint = \"R\", point = [\"l1\", 0, 0], range = [-3, 3]", "joint = \"U\", axis2 = [0, 0, 2]", "parallel-axes", "axis2 = [0, 0, 2]", "parallel", "perpendicular"),
        case("range = [-3, 3]", "range = [3, -3]", "bad-range", "range = [3, -3]", "is empty", "[lowest, highest]"),
        case("viscous = 0.1", "viscous = -0.1", "negative", "viscous = -0.1", "`viscous` is negative", "zero or a positive"),
        case("\"20 mm\", \"10 mm\"]", "0, \"10 mm\"]", "not-positive", "0, \"10 mm\"]", "not positive", "positive number"),
        case("com = [\"half\", 0, 0]", "com = [\"half\", 0, 0], first_moment = [0, 0, 0]", "two-centres", "first_moment = [0", "both `com` and `first_moment`", "keep"),
        case("shape = { box", "mass = 1, shape = { box", "two-inertias", "mass = 1, shape", "given twice", "point masses"),
        case("zz = 2e-3", "zz = 2e-2", "non-physical-inertia", "zz = 2e-2", "no body has the inertia of `11`", "grouped = true"),
        case("drive = { rotor_inertia = 0.01, effort = \"20 N*m\" }, ", "", "no-drive", "coordinates = \"point\"", "no joint has a drive", "drive = {}"),
        // closures
        case("b = { body = \"22\", point", "b = { body = \"12\", point", "closure-on-itself", "[[closure]]", "joins `12` to itself", "two different bodies"),
        case("joint = \"R\"\na", "joint = \"R\"\nfriction = { viscous = 1 }\na", "closure-needs-name", "[[closure]]", "needs a name", "add `name"),
        case("[[closure]]", "[[coupling]]\n12 = 1\n22 = 0\n\n[[closure]]", "bad-coupling", "22 = 0", "coefficient zero", ""),
        case("[[closure]]", "[[coupling]]\n12 = 1\n23 = 1\n\n[[closure]]", "unknown-joint", "23 = 1", "no joint named `23`", "did you mean"),
        // actuation, modes, coordinates
        case("[[closure]]", "[actuation]\nfirst = [\"12\"]\n\n[[closure]]", "not-driven", "first = [\"12\"]", "joint `12` has no drive", "give the joint a `drive`"),
        case("coordinates = \"point\"", "coordinates = \"pointy\"", "unknown-coordinate", "pointy", "no platform coordinate `pointy`", "did you mean `point`?"),
        case("coordinates = \"point\"", "coordinates = [\"x\", \"x\"]", "bad-coordinates", "[\"x\", \"x\"]", "stands twice", ""),
        case("coordinates = \"point\"", "coordinates = [\"x\", \"rz\"]", "bad-coordinates", "\"rz\"]", "no orientation", ""),
        case("mode = \"+-\"", "mode = \"+*\"", "bad-mode", "mode = \"+*\"", "no working mode", ""),
        case("mode = \"+-\"", "mode = \"+-+\"", "bad-mode", "mode = \"+-+\"", "3 legs, the robot has 2", ""),
        // elasticity
        case("range = [-3, 3], shape = { box = [\"l2\", \"20 mm\", \"10 mm\"], density = \"2.7 g/cm^3\" }", "beam = { to = [\"l2\", 0, 0], section = \"flat\", material = \"alum\" }", "unknown-material", "\"alum\"", "no material named `alum`", "did you mean `alu`?"),
        case("range = [-3, 3], shape = { box = [\"l2\", \"20 mm\", \"10 mm\"], density = \"2.7 g/cm^3\" }", "beam = { to = [\"l2\", 0, 0], section = \"flot\", material = \"alu\" }", "unknown-section", "\"flot\"", "no section named `flot`", "did you mean `flat`?"),
        case("range = [-3, 3], shape = { box = [\"l2\", \"20 mm\", \"10 mm\"], density = \"2.7 g/cm^3\" }", "beam = { to = [\"l2\", 0, 0], section = \"flat\", material = \"alu\", elements = 1000 }", "too-many", "elements = 1000", "1000 elements per segment", ""),
        case("rectangle = [\"4 mm\", \"20 mm\"]", "A = 1e-4", "bad-section", "A = 1e-4", "A, Iy, Iz and J", ""),
        case("range = [-3, 3], shape = { box = [\"l2\", \"20 mm\", \"10 mm\"], density = \"2.7 g/cm^3\" }", "modal = { file = \"plate.json\" }", "bad-file", "plate.json", "`plate.json` cannot be used", "relative to the robot file"),
        case("b = { body = \"22\", point = [\"l2\", 0, 0] }", "b = { body = \"22\", point = \"tip\" }", "unknown-point", "\"tip\"", "no point `tip`", ""),
        // the model compiler
        case("home = { x = 0.02, y = 0.3 }", "home = { x = 2, y = 0.3 }", "loop-not-closed", "home = { x = 2", "does not close", "reachable pose"),
        case("coordinates = \"point\"", "coordinates = [\"x\", \"y\", \"z\"]", "false-claim", "coordinates = [\"x\"", "the closures do not let it move in z", "change `coordinates`"),
    ]
}

fn faults(text: &str) -> (Vec<Diagnostic>, String) {
    match read(text) {
        Ok(robot) => (robot.remarks().to_vec(), text.to_owned()),
        Err(bad) => (bad.faults, bad.text),
    }
}

#[test]
fn the_good_file_is_good() {
    let robot = read(GOOD).unwrap_or_else(|e| panic!("{e}"));
    assert!(robot.remarks().is_empty(), "{:?}", robot.remarks());
    assert_eq!(robot.mode().name(robot.model().topology()), "+-");
}

#[test]
fn every_fault_is_told_with_its_line_and_a_suggestion() {
    let mut codes = std::collections::BTreeSet::new();
    for c in cases() {
        assert!(GOOD.contains(c.from), "{}: `{}` is not in the file", c.code, c.from);
        let text = GOOD.replacen(c.from, c.to, 1);
        let (found, text) = faults(&text);
        let Some(d) = found.iter().find(|d| d.what.code() == c.code) else {
            panic!(
                "{} for `{}`: told {:?}",
                c.code,
                c.to,
                found.iter().map(|d| d.what.to_string()).collect::<Vec<_>>()
            );
        };
        let message = d.what.to_string();
        assert!(message.contains(c.says), "{}: {message}", c.code);
        let help = d.what.help().unwrap_or_default();
        assert!(help.contains(c.help), "{}: {help}", c.code);
        let line = line_column(&text, d.at.start).0;
        let written = text.lines().nth(line - 1).unwrap_or_default();
        assert!(written.contains(c.on), "{}: line {line} is `{written}`", c.code);
        // Nothing else is told, except that a body whose name was changed is not found under the old one.
        let renamed = ["bad-name", "duplicate", "unknown-placeholder"].contains(&c.code);
        let other = |d: &&Diagnostic| d.what.code() != c.code && !(renamed && d.what.code() == "unknown-body");
        assert_eq!(found.iter().find(other), None, "{}", c.code);
        codes.insert((c.code, c.says));
    }
    assert!(codes.len() >= 40, "{} distinct faults", codes.len());
}

#[test]
fn ten_faults_in_one_file_are_all_told() {
    let mut text = GOOD.to_owned();
    let changes = [
        ("mode = \"+-\"", "modus = \"+-\""),
        ("l1 = \"200 mm\"", "l1 = \"200 mn\""),
        ("rectangle = [\"4 mm\", \"20 mm\"]", "A = 1e-4"),
        ("mass = \"1 kg\"", "mass = \"1 m\""),
        ("viscous = 0.1", "viscous = -0.1"),
        ("range = [-3, 3]", "range = [3, -3]"),
        ("on = \"{leg}1\"", "on = \"{leg}9\""),
        ("x0 = \"150 mm\" }", "x0 = \"150 mm\", y0 = 0 }"),
        ("effort = \"20 N*m\"", "effort = \"20 N\""),
        ("a = { body = \"12\"", "a = { body = \"13\""),
    ];
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let (found, text) = faults(&text);
    let mut codes: Vec<&str> = found.iter().map(|d| d.what.code()).collect();
    codes.sort_unstable();
    let mut expected = vec![
        "unknown-key",
        "unknown-unit",
        "bad-section",
        "wrong-dimension",
        "negative",
        "bad-range",
        "unknown-body",
        "extra-argument",
        "wrong-dimension",
        "unknown-body",
    ];
    expected.sort_unstable();
    assert_eq!(codes, expected, "{found:?}");
    let lines: Vec<usize> = found.iter().map(|d| line_column(&text, d.at.start).0).collect();
    assert!(lines.windows(2).all(|w| w[0] <= w[1]), "in file order: {lines:?}");
}

#[test]
fn a_syntax_fault_does_not_hide_the_others() {
    let text = GOOD.replacen("name = \"sample\"", "name = sample", 1).replacen("viscous = 0.1", "viscous = -0.1", 1);
    let (found, _) = faults(&text);
    let codes: Vec<&str> = found.iter().map(|d| d.what.code()).collect();
    assert_eq!(codes, ["syntax", "negative"]);
}

#[test]
fn remarks_do_not_refuse_a_robot() {
    let unused = format!("{GOOD}\n[template.spare]\nneeds = []\n");
    let robot = read(&unused).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(robot.remarks()[0].what.code(), "unused-template");
    // A driven joint less: the tool can move with the motor held.
    let one = GOOD.replace("[[closure]]", "[actuation]\none = [\"11\"]\n\n[[closure]]");
    let robot = read(&one).unwrap_or_else(|e| panic!("{e}"));
    let remark = &robot.remarks()[0].what;
    assert_eq!(
        (remark.code(), remark.to_string().contains("2 degrees of freedom but 1 drives")),
        ("not-actuated", true)
    );
}

#[test]
fn absurd_sizes_are_refused_at_once() {
    let long = "#".repeat(10 << 20);
    assert_eq!(faults(&long).0[0].what.code(), "too-large");
    let nested = GOOD.replace("half = \"l1/2\"", &format!("half = \"{}\"", "(".repeat(200)));
    assert_eq!(faults(&nested).0[0].what.code(), "expression-too-deep");
    let wide = GOOD.replace("half = \"l1/2\"", &format!("half = \"{}1\"", "1+".repeat(400)));
    assert_eq!(faults(&wide).0[0].what.code(), "expression-too-long");
    let deep = format!("a = {}1{}", "[".repeat(5000), "]".repeat(5000));
    assert!(!faults(&deep).0.is_empty());
    let many: String = (0..100).map(|i| format!("l{i} = {{ template = \"arm\", x0 = {i} }}\n")).collect();
    let legs = GOOD.replace(
        "2 = { template = \"arm\", x0 = \"150 mm\" }",
        &format!("2 = {{ template = \"arm\", x0 = \"150 mm\" }}\n{many}"),
    );
    assert_eq!(faults(&legs).0[0].what.code(), "too-many");
    // Derived numbers that double forty times are computed once each.
    let lets: Vec<String> = (1..40).map(|i| format!("a{i} = \"a{} + a{}\"", i - 1, i - 1)).collect();
    let doubling = GOOD
        .replace("needs = [\"x0\"]", &format!("needs = [\"x0\"]\nlet = {{ a0 = \"x0*1e-12\", {} }}", lets.join(", ")));
    assert!(read(&doubling).is_ok());
}

#[test]
fn idle_freedoms_are_reported_with_the_joint_to_write() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../robots/delta-parallelogram/robot.toml"))
            .unwrap();
    let text = text.replace(
        "joint = \"U\", point = [\"l1\", \"w/2\", 0], axis = [0, 1, 0], axis2 = [0, 0, 1]",
        "joint = \"S\", point = [\"l1\", \"w/2\", 0]",
    );
    let robot = read(&text).unwrap_or_else(|e| panic!("{e}"));
    let idle: Vec<String> =
        robot.remarks().iter().filter(|d| d.what.code() == "idle-freedom").map(|d| d.what.to_string()).collect();
    assert_eq!(idle.len(), 3, "{idle:?}");
    assert!(idle[0].contains("write U in place of one S"), "{idle:?}");
}

#[test]
fn a_claim_the_closures_do_not_enforce_is_refused() {
    // One rod per leg: the platform of the Delta can turn.
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../robots/delta-parallelogram/robot.toml"))
            .unwrap();
    let text: String = text.lines().filter(|l| !l.contains("{leg}b")).map(|l| format!("{l}\n")).collect();
    let (found, _) = faults(&text);
    assert_eq!(found[0].what.code(), "false-claim");
    assert!(found[0].what.to_string().contains("also let it move in rotation about x"), "{}", found[0].what);
}

#[test]
fn parameters_can_be_set_from_outside() {
    let options = ReadOptions { set: vec![("l1".into(), "0.21".into())], ..ReadOptions::default() };
    let robot = Robot::from_toml("sample", GOOD, &options, None).unwrap();
    assert!((robot.model().numbers().parameters[0] - 0.21).abs() < 1e-15);
    let options = ReadOptions { set: vec![("l3".into(), "0.21".into())], ..ReadOptions::default() };
    let bad = Robot::from_toml("sample", GOOD, &options, None).unwrap_err();
    assert_eq!(bad.faults[0].what.code(), "unknown-parameter");
    assert_eq!(bad.faults[0].what.help().as_deref(), Some("did you mean `l1`?"));
}
