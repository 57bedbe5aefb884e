//! `gough report`: numbers in the page are those of the commands, and nothing of a file becomes markup.
use crate::common::{file, json, run};
use serde_json::Value;
use std::path::Path;

/// Rows of a table of the page, by its name.
fn rows(page: &str, name: &str) -> Vec<Vec<String>> {
    let (_, rest) = page.split_once(&format!("<table id=\"{name}\">")).unwrap_or_else(|| panic!("no table {name}"));
    let (table, _) = rest.split_once("</table>").unwrap();
    let (_, body) = table.split_once("<tbody>").unwrap();
    let cell = |c: &str| c.split_once("</td>").unwrap().0.to_owned();
    body.split("<tr>").skip(1).map(|row| row.split("<td>").skip(1).map(cell).collect()).collect()
}

fn shows(cell: &str, x: f64) -> bool {
    cell.parse::<f64>().is_ok_and(|shown| (shown - x).abs() <= 1e-5 * x.abs())
}

#[test]
fn numbers_of_the_report_are_those_of_the_commands_and_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    let to = path.to_str().unwrap();
    let told = json(&["report", "five-bar", "-o", to, "--no-view", "--json"]);
    assert_eq!(told["parts"].as_array().unwrap().len(), 7);
    assert_eq!(told["refused"][0]["part"], "Natural frequencies");
    let page = std::fs::read_to_string(&path).unwrap();
    let found = json(&["singularities", "five-bar", "--pose=x=0,y=0.338175", "--json"]);
    let own = rows(&page, "singularities");
    let list = found["singularities"].as_array().unwrap();
    assert_eq!(own.len(), list.len());
    for (row, s) in own.iter().zip(list) {
        assert!(shows(&row[2], s["sigma"].as_f64().unwrap()), "{row:?} {s}");
        assert_eq!(row[3] == "-", s["distance"].is_null(), "{row:?} {s}");
    }
    for row in rows(&page, "published-efforts") {
        assert!(row[4].parse::<f64>().unwrap() < 1e-9, "{row:?}");
    }
    let counted = rows(&page, "counts");
    let code = json(&["codegen", "five-bar", "--model", "idm", "--json", "-o", folder.path().to_str().unwrap()]);
    let idm = counted.iter().find(|r| r[0] == "idm").unwrap();
    assert_eq!([&idm[1], &idm[2]].map(|n| n.parse().ok()), ["add", "mul"].map(|k| code["operations"][k].as_u64()));
    let (_, _, status) = run(&["report", "five-bar", "-o", to, "--no-view"]);
    assert_eq!(status, 0);
    assert!(page == std::fs::read_to_string(&path).unwrap(), "the same question gives another page");
}

/// A robot of one coordinate, whose report is short.
fn short(folder: &Path, summary: &str) -> String {
    let text = format!(
        "[robot]\nname = \"short\"\nsummary = {summary:?}\nhome = {{ x = 0.1 }}\n\n[parameters]\nload = 2\n\n\
         [platform]\ncoordinates = [\"x\"]\nmass = \"load\"\n\n\
         [[body]]\nname = \"s\"\non = \"base\"\njoint = \"P\"\nframe = {{ rpy = [0, \"pi/2\", 0] }}\nmass = 1\ndrive = {{}}\n\n\
         [[closure]]\njoint = \"fixed\"\na = {{ body = \"s\" }}\nb = {{ body = \"platform\", frame = {{ rpy = [0, \"pi/2\", 0] }} }}\n"
    );
    file(folder, "short.toml", &text)
}

#[test]
fn what_is_refused_is_told_and_no_name_becomes_markup() {
    let folder = tempfile::tempdir().unwrap();
    let robot = short(folder.path(), "<img src=x onerror=alert(1)>");
    let path = folder.path().join("report.html");
    let to = path.to_str().unwrap();
    let words = ["report", &robot, "--set", "load=3", "--allow-outside", "-o", to, "--no-view", "--json"];
    let told = json(&words);
    let refused: Vec<&Value> = told["refused"].as_array().unwrap().iter().map(|r| &r["part"]).collect();
    assert!(refused.contains(&&Value::from("Conditioning")), "{refused:?}");
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("&lt;img src=x") && !page.contains("<img src=x"));
    assert!(page.contains("--set load=3 --allow-outside"));
    assert_eq!(rows(&page, "parameters"), [["load", "3"]]);
    let (_, err, status) = run(&["report", &robot, "--actuation", "none", "-o", to]);
    assert!(status == 2 && err.contains("none"), "{err}");
    let (_, err, status) = run(&["report", &robot, "-o", &robot]);
    assert!(status == 2 && err.contains("would overwrite"), "{err}");
}
