//! Answers of many states as tables, and tables as states.

use crate::common::{document, file, json, run};
use serde_json::Value;
use std::path::Path;

const MOVING: &str = "x,y,z,roll,pitch,yaw,xd,yd,zd,wx,wy,wz,xdd,ydd,zdd,wxd,wyd,wzd\n\
    0.1,0.2,1,0.05,0,-0.1,0.3,-0.2,0.1,0.2,0,0.1,1,2,-1,0.5,0.1,0.3\n\
    0.1 m,200 mm,1,0.05,0 deg,-0.1,0.3 m/s,-0.2,0.1,0.2,0,0.1,1,2,-1,0.5,0.1,0.3\n\
    9,0.2,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n\
    0,0.1,1.1,0,0.1,0,0,0,0,0,0,0,0,0,1,0,0,0\n";

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Rows of a CSV file without its header, and the header.
fn csv(text: &str) -> (String, Vec<Vec<Option<f64>>>) {
    let mut lines = text.lines();
    let head = lines.next().unwrap().to_owned();
    (head, lines.map(|l| l.split(',').map(|c| c.parse().ok()).collect()).collect())
}

/// The numbers of a two-dimensional array of NumPy, and its shape.
fn npy(bytes: &[u8]) -> (String, Vec<f64>) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let begin = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!(begin.is_multiple_of(64));
    let header = String::from_utf8(bytes[10..begin].to_vec()).unwrap();
    (header, bytes[begin..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect())
}

fn array(rows: usize, width: usize, numbers: &[f64]) -> Vec<u8> {
    let mut text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {width}), }}");
    text.push_str(&" ".repeat((10 + text.len() + 1).next_multiple_of(64) - 10 - text.len() - 1));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

#[test]
fn tables_have_the_numbers_of_the_documents() {
    let folder = tempfile::tempdir().unwrap();
    let states = file(folder.path(), "in.csv", MOVING);
    let question = ["idm", "gough-stewart", "--states", &states];
    let answers = json(&[&question[..], &["--json"]].concat());
    let wanted: Vec<Option<Vec<f64>>> =
        answers["states"].as_array().unwrap().iter().map(|s| s.get("efforts").map(numbers)).collect();
    assert!(wanted[2].is_none() && wanted.iter().flatten().count() == 3);
    let same = |found: &[Option<f64>], wanted: &Option<Vec<f64>>| match wanted {
        None => assert!(found.iter().all(Option::is_none)),
        Some(wanted) => {
            let scale = wanted.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
            assert_eq!(found.len(), wanted.len());
            assert!(
                found.iter().zip(wanted).all(|(a, b)| (a.unwrap() - b).abs() <= 1e-9 * scale),
                "{found:?} {wanted:?}"
            );
        }
    };
    // Four states at a time, and one by one beside other columns.
    for (columns, from) in [("efforts", 0), ("pose,efforts", 6), ("efforts_with_friction,efforts", 6)] {
        let (out, err, status) = run(&[&question[..], &["--columns", columns]].concat());
        assert_eq!(status, 0, "{err}");
        assert!(err.contains("1 of 4 states have no answer") && err.contains("state 3: "), "{err}");
        let (head, rows) = csv(&out);
        assert!(head.split(',').skip(from).all(|n| n.starts_with("tau_")), "{head}");
        assert_eq!(rows.len(), 4);
        rows.iter().zip(&wanted).for_each(|(row, wanted)| same(&row[from..], wanted));
    }
    let (out, ..) = run(&[&question[..], &["--columns", "pose"]].concat());
    let (head, rows) = csv(&out);
    assert_eq!(head, "x,y,z,roll,pitch,yaw");
    let pose: Vec<f64> = rows[1].iter().map(|x| x.unwrap()).collect();
    assert!(pose.iter().zip([0.1, 0.2, 1.0, 0.05, 0.0, -0.1]).all(|(a, b)| (a - b).abs() < 1e-12), "{pose:?}");

    let table = path(folder.path(), "out.npy");
    let (out, _, status) = run(&[&question[..], &["-o", &table]].concat());
    assert_eq!((out.as_str(), status), ("", 0));
    let (header, found) = npy(&std::fs::read(&table).unwrap());
    assert!(header.contains("'shape': (4, 6)"), "{header}");
    let cells: Vec<Option<f64>> = found.iter().map(|x| Some(*x).filter(|x| !x.is_nan())).collect();
    cells.chunks(6).zip(&wanted).for_each(|(row, wanted)| same(row, wanted));

    let lines = path(folder.path(), "out.jsonl");
    run(&[&question[..], &["-o", &lines, "--columns", "efforts,active.q"]].concat());
    let text = std::fs::read_to_string(&lines).unwrap();
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[2]["error"]["kind"], "out-of-range");
    for (line, state) in lines.iter().zip(answers["states"].as_array().unwrap()) {
        assert_eq!(line["efforts"], state["efforts"]);
        assert_eq!(line["active.q"], state["active"]["q"]);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "nothing temporary is left");
}

#[test]
fn arrays_are_states() {
    let folder = tempfile::tempdir().unwrap();
    let csv_file = file(folder.path(), "in.csv", MOVING);
    let rows: Vec<f64> = MOVING
        .lines()
        .skip(1)
        .filter(|l| !l.contains("mm"))
        .flat_map(|l| l.split(',').map(|c| c.parse::<f64>().unwrap()).collect::<Vec<_>>())
        .collect();
    let npy_file = path(folder.path(), "in.npy");
    std::fs::write(&npy_file, array(3, 18, &rows)).unwrap();
    let ask = |states: &str, to: &str| {
        let to = path(folder.path(), to);
        let (_, err, status) = run(&["idm", "gough-stewart", "--states", states, "-o", &to]);
        assert_eq!(status, 0, "{err}");
        std::fs::read(to).unwrap()
    };
    let (_, from_npy) = npy(&ask(&npy_file, "a.npy"));
    let (_, from_csv) = npy(&ask(&csv_file, "b.npy"));
    let pick = |k: usize| &from_csv[6 * k..6 * k + 6];
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&from_npy), bits(&[pick(0), pick(2), pick(3)].concat()));
    // What is written as an archive, columns by their names, can be asked again.
    let all = path(folder.path(), "all.npz");
    let question =
        ["idm", "gough-stewart", "--states", &npy_file, "--columns", "pose,twist,acceleration,condition,active.q"];
    run(&[&question[..], &["-o", &all]].concat());
    let again = run(&["idm", "gough-stewart", "--states", &all, "-o", &path(folder.path(), "c.npy")]);
    assert_eq!(again.2, 0, "{}", again.1);
    let (_, found) = npy(&std::fs::read(path(folder.path(), "c.npy")).unwrap());
    assert_eq!(found.len(), from_npy.len());
    for (a, b) in found.iter().zip(&from_npy) {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0) || a.is_nan() && b.is_nan(), "{a} {b}");
    }
}

#[test]
fn arrays_that_are_no_states_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = array(3, 18, &[0.0; 54]);
    for (name, bytes, says) in [
        ("a.npy", array(2, 5, &[0.0; 10]), "5 numbers per state; give 6 (x, y, z, roll, pitch, yaw), 12"),
        ("a.npy", array(0, 6, &[]), "no states"),
        ("a.npy", b"x,y\n".to_vec(), "not an array of NumPy"),
        ("a.npz", whole.clone(), "not a zip archive"),
        ("a.npz", b"PK".to_vec(), "not a zip archive"),
    ] {
        let states = path(folder.path(), name);
        std::fs::write(&states, bytes).unwrap();
        let (out, err, status) = run(&["idm", "gough-stewart", "--states", &states]);
        assert!(status == 2 && out.is_empty() && err.contains(says), "{err}");
    }
    let states = path(folder.path(), "cut.npy");
    std::fs::write(&states, &whole[..whole.len() - 8]).unwrap();
    let (answer, _) = document(&["idm", "gough-stewart", "--states", &states, "--json"]);
    let message = answer["states"].as_array().unwrap().last().unwrap()["error"]["message"].as_str().unwrap();
    assert!(message.contains("shorter than its header says"), "{message}");
    let states = file(folder.path(), "in.csv", MOVING);
    for (columns, says) in [
        ("effort", "there is no `effort`; did you mean `efforts`?"),
        ("efforts,efforts", "`efforts` is there twice"),
        ("", "there is no ``"),
    ] {
        let (_, err, status) = run(&["idm", "gough-stewart", "--states", &states, "--columns", columns]);
        assert!(status == 2 && err.contains(says), "{err}");
    }
    let (_, err, status) = run(&["idm", "gough-stewart", "--states", &states, "--columns", "efforts", "--json"]);
    assert!(status == 2 && err.contains("--json"), "{err}");
}

/// An answer is a state again: efforts give back the acceleration that asked for them.
#[test]
fn answers_can_be_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let states = file(folder.path(), "in.csv", MOVING);
    let saved = |command: &str, from: &str, name: &str| {
        let to = path(folder.path(), name);
        let (_, err, _) = run(&[command, "gough-stewart", "--states", from, "--json", "-o", &to]);
        (serde_json::from_str::<Value>(&std::fs::read_to_string(&to).unwrap()).unwrap(), to, err)
    };
    let (inverse, file_of_inverse, _) = saved("idm", &states, "idm.json");
    let (direct, file_of_direct, _) = saved("ddm", &file_of_inverse, "ddm.json");
    let (again, ..) = saved("idm", &file_of_direct, "again.json");
    let (joints, file_of_joints, _) = saved("kinematics", &file_of_inverse, "kinematics.json");
    let (last, ..) = saved("idm", &file_of_joints, "last.json");
    for k in [0, 1, 3] {
        for (what, one, other) in [
            ("acceleration", &inverse, &direct),
            ("efforts", &inverse, &again),
            ("efforts", &inverse, &last),
            ("twist", &inverse, &joints),
        ] {
            let (a, b) = (numbers(&one["states"][k][what]), numbers(&other["states"][k][what]));
            let scale = a.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            assert!(a.len() == 6 && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9 * scale), "{what}: {a:?} {b:?}");
        }
    }
    // A simulation under constant efforts: inverse dynamics of its instants gives these efforts.
    let simulated = path(folder.path(), "simulation.json");
    let question =
        ["simulate", "five-bar", "--time", "0.01", "--efforts", "q11=0.1,q21=-0.05", "--json", "-o", &simulated];
    let (_, err, status) = run(&question);
    assert_eq!(status, 0, "{err}");
    let (answer, status) = document(&["idm", "five-bar", "--states", &simulated, "--json"]);
    let states = answer["states"].as_array().unwrap();
    assert!(status == 0 && states.len() > 1);
    for efforts in states.iter().map(|s| numbers(&s["efforts"])) {
        assert!((efforts[0] - 0.1).abs() < 1e-9 && (efforts[1] + 0.05).abs() < 1e-9, "{efforts:?}");
    }
}

#[test]
fn every_command_for_states_gives_tables() {
    let folder = tempfile::tempdir().unwrap();
    let states = file(folder.path(), "in.csv", "x,y,xd,yd\n0.05,0.25,0.3,-0.2\n0,0.3,0.1,0\n");
    let (out, err, status) = run(&["kinematics", "five-bar", "--states", &states, "--columns", "active.q,pose"]);
    assert_eq!(status, 0, "{err}");
    let (head, table) = csv(&out);
    assert!(head.starts_with("q11,q21,x,y"), "{head}");
    let wanted = json(&["kinematics", "five-bar", "--states", &states, "--json"]);
    let q = numbers(&wanted["states"][0]["active"]["q"]);
    assert!(table.len() == 2 && (0..2).all(|k| table[0][k] == Some(q[k])), "{table:?} {q:?}");
    let states = file(folder.path(), "in.csv", "x,y,xd,yd,tau_11,tau_21\n0.05,0.25,0.3,-0.2,1,2\n0,0.3,0.1,0,0,1\n");
    let (out, err, status) = run(&["ddm", "five-bar", "--states", &states, "--columns", "acceleration"]);
    assert_eq!(status, 0, "{err}");
    let (head, table) = csv(&out);
    let wanted = json(&["ddm", "five-bar", "--states", &states, "--json"]);
    let a = numbers(&wanted["states"][1]["acceleration"]);
    // The table asks for accelerations alone and the document for matrices too: two roads, one number up to rounding.
    let near = |k: usize| table[1][k].is_some_and(|x| (x - a[k]).abs() < 1e-13 * a[k].abs());
    assert!(table.len() == 2 && (0..2).all(near), "{head} {table:?} {a:?}");
}

/// Joints `1` and `1d`: column `q1d` would mean two things, whether it is read or written.
#[test]
fn a_joint_that_is_called_as_the_rate_of_another_has_no_column() {
    let folder = tempfile::tempdir().unwrap();
    let text = gough::robots::text("five-bar").unwrap();
    let renamed = text.replace("name = \"21\"", "name = \"11d\"").replace("on = \"21\"", "on = \"11d\"");
    assert_ne!(text, renamed);
    let [robot, states, motion, out] = ["r.toml", "s.csv", "m.csv", "o.csv"].map(|name| path(folder.path(), name));
    std::fs::write(&robot, renamed).unwrap();
    std::fs::write(&states, "x,y\n0.02,0.3\n").unwrap();
    std::fs::write(&motion, "t,q11,q11d\n0,2,1\n1,2,1\n").unwrap();
    for (question, says) in [
        (vec!["idm", &robot, "--states", &states, "--columns", "active.q"], "--columns"),
        (vec!["idm", &robot, "--trajectory", &motion], "m.csv"),
        (vec!["simulate", &robot, "--time", "0.01", "--csv", &out], "--csv"),
        (vec!["plan", &robot, "--to", "x=0.02,y=0.3", "--time", "1", "--csv", &out], "--csv"),
    ] {
        let (_, told, code) = run(&question);
        assert_eq!(code, 2, "{question:?}: {told}");
        let wanted = "column `q11d` is joint `11d` as well as a rate or acceleration of joint `11`";
        assert!(told.contains(wanted) && told.contains(says), "{question:?}: {told}");
    }
    assert!(!Path::new(&out).exists());
    let (_, told, code) = run(&["idm", &robot, "--states", &states, "--columns", "efforts"]);
    assert_eq!(code, 0, "{told}");
}
