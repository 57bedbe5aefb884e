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

/// The command that stands below a table.
fn command_below(page: &str, table: &str) -> Vec<String> {
    let (_, rest) = page.split_once(&format!("<table id=\"{table}\">")).unwrap_or_else(|| panic!("no table {table}"));
    let (_, rest) = rest.split_once("<code>gough ").unwrap();
    let words = rest.split_once("</code>").unwrap().0.split(' ').map(str::to_owned);
    words.collect()
}

/// What that command answers; its picture left out.
fn answer_below(page: &str, table: &str) -> Value {
    let mut words = command_below(page, table);
    if let Some(k) = words.iter().position(|w| w == "--plot") {
        words.truncate(k);
    }
    words.push("--json".to_owned());
    json(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Numbers of nested lists.
fn numbers(list: &Value) -> Vec<f64> {
    match list {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        other => other.as_f64().into_iter().collect(),
    }
}

#[test]
fn every_table_is_what_the_command_below_it_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    json(&["report", "five-bar-flexible", "-o", path.to_str().unwrap(), "--no-view", "--json"]);
    let page = std::fs::read_to_string(&path).unwrap();
    let cell = |row: &[String], k: usize, x: &Value| assert!(shows(&row[k], x.as_f64().unwrap()), "{row:?} {x}");

    let check = answer_below(&page, "robot");
    let robot = rows(&page, "robot");
    let of = |name: &str| robot.iter().find(|r| r[0].starts_with(name)).unwrap()[1].clone();
    assert_eq!(of("degrees of freedom"), check["mobility"].to_string());
    assert_eq!(of("over-constraint"), check["overconstraint"].to_string());

    let loci = answer_below(&page, "aspects");
    let areas = rows(&page, "aspects");
    cell(&areas[0], 1, &loci["reachable_area"]);
    let aspects = loci["aspects"].as_array().unwrap();
    assert_eq!(areas.len(), 1 + aspects.len().min(8));
    areas[1..].iter().zip(aspects).for_each(|(row, a)| cell(row, 1, &a["area"]));

    for quantity in ["conditioning", "amplification", "f1"] {
        let values = numbers(&answer_below(&page, quantity)["values"]);
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let table = rows(&page, quantity);
        for (row, (name, x)) in table.iter().zip([("lowest", low), ("highest", high), ("mean", mean)]) {
            assert!(row[0] == name && shows(&row[1], x), "{quantity}: {row:?} {x}");
        }
        assert!(table[3][1].starts_with(&format!("{} of ", values.len())), "{:?}", table[3]);
    }

    let plan = answer_below(&page, "drives");
    for (row, drive) in rows(&page, "drives").iter().zip(plan["drives"].as_array().unwrap()) {
        [(1, "peak"), (2, "rms"), (4, "largest_speed")].iter().for_each(|(k, key)| cell(row, *k, &drive[key]));
    }

    let modes = answer_below(&page, "frequencies");
    let shown = rows(&page, "frequencies");
    assert_eq!(shown.len(), modes["modes"].as_array().unwrap().len());
    shown.iter().zip(numbers(&modes["frequencies_hz"])).for_each(|(row, f)| cell(row, 1, &f.into()));
    let changes = answer_below(&page, "sensitivities");
    for (row, s) in rows(&page, "sensitivities").iter().zip(changes["sensitivities"].as_array().unwrap()) {
        assert_eq!(row[0], s["parameter"].as_str().unwrap());
        cell(row, 1, &s["value"]);
        (0..3).for_each(|k| cell(row, 2 + k, &s["percent_per_percent"][k]));
    }
}
