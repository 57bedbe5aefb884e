//! Names of a robot file reach code, tables, pictures and terminals; none becomes an order there.

use crate::common::{file, json, run};
use std::path::Path;

const HOSTILE: &str =
    "r\nprint(\"RUN\")\n#*/ int x; /*\"\"\"\\`~~~%{ coding: utf-7 \u{1b}[2J\u{9b}31m\u{202e}\u{2028}<script>";

/// The five-bar under another name.
fn named(folder: &Path, name: &str) -> String {
    let (text, _, _) = run(&["robots", "--show", "five-bar"]);
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let head = format!("name = {}\nsummary = {}", quoted(name), quoted(name));
    let rest: Vec<&str> = text.lines().filter(|l| !l.starts_with("summary =")).collect();
    let text = rest.join("\n").replacen("name = \"five-bar\"", &head, 1);
    assert!(text.contains(&head), "{text}");
    file(folder, "named.toml", &text)
}

/// All generated files, the function under one name, without what stands in comments and documentation.
fn code(name: &str, language: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let robot = named(folder.path(), name);
    let out = folder.path().join("out").display().to_string();
    let answer = json(&["codegen", &robot, "--model", "idm", "--lang", language, "-o", &out, "--json"]);
    let function = answer["function"].as_str().unwrap();
    let files = answer["files"].as_array().unwrap();
    let text = |f: &serde_json::Value| std::fs::read_to_string(f.as_str().unwrap()).unwrap();
    let upper = function.to_uppercase();
    files.iter().map(|f| bare(&text(f), language).replace(function, "F").replace(&upper, "F")).collect()
}

fn bare(text: &str, language: &str) -> String {
    let without = |mark: &str| text.lines().filter(|l| !l.starts_with(mark)).collect::<Vec<_>>().join("\n");
    match language {
        "python" => {
            let rest = without("#");
            let Some((before, after)) = rest.split_once("\"\"\"") else { return rest };
            // The first line of the documentation is the title.
            format!("{before}{}", after.split_once('\n').map_or("", |(_, rest)| rest))
        }
        "matlab" => without("%"),
        "rust" => without("//"),
        _ => text.split_once("*/").map_or_else(|| text.to_owned(), |(_, rest)| rest.to_owned()),
    }
}

#[test]
fn the_code_of_a_hostile_name_is_that_of_a_plain_one() {
    for language in ["c", "c4", "rust", "python", "matlab", "cuda"] {
        let (hostile, plain) = (code(HOSTILE, language), code("plain", language));
        assert_eq!(hostile, plain, "{language}");
        assert!(hostile.iter().all(|text| !text.contains("RUN")), "{language}");
    }
}

#[test]
fn the_first_lines_of_a_python_file_declare_no_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let robot = named(folder.path(), "coding: utf-7");
    let out = folder.path().join("out").display().to_string();
    let answer = json(&["codegen", &robot, "--model", "igm", "--lang", "python", "-o", &out, "--json"]);
    let text = std::fs::read_to_string(answer["files"][0].as_str().unwrap()).unwrap();
    let first: String = text.lines().take(2).collect(); // where Python looks for one
    assert!(!first.contains("coding:") && !first.contains("coding="), "{text}");
}

#[test]
fn terminals_and_pictures_get_no_orders() {
    let folder = tempfile::tempdir().unwrap();
    let robot = named(folder.path(), HOSTILE);
    let plot = folder.path().join("p.svg").display().to_string();
    let region = ["--quantity", "reachable", "--region", "x=-0.1:0.1:3,y=0.2:0.3:3", "--plot", &plot];
    let obeyed = |c: char| c != '\n' && c != '\t' && (c.is_control() || ('\u{2028}'..='\u{202e}').contains(&c));
    for question in [
        vec!["check", &robot],
        vec!["check", &robot, "--json"],
        vec!["kinematics", &robot, "--pose", "x=9,y=9"],
        vec!["kinematics", &robot, "--pose", "x=9,y=9", "--json"],
        vec!["check", &robot, "--set", "\u{1b}[2J=1"],
        [&["map", &robot][..], &region].concat(),
    ] {
        let (out, err, _) = run(&question);
        assert!(!out.contains(obeyed) && !err.contains(obeyed), "{question:?}: {out:?} {err:?}");
    }
    let svg = std::fs::read_to_string(&plot).unwrap();
    assert!(!svg.contains("<script") && !svg.contains(obeyed), "{svg}");
    assert_eq!(json(&["check", &robot, "--json"])["robot"], HOSTILE, "JSON keeps the name");
}
