//! `gough view`: the robot goes into the page as text, whatever it is called.
use crate::common::{file, repository};
use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

/// A page as small as one can be.
const TEMPLATE: &str =
    "<script type=\"application/json\" id=\"given\">/*GIVEN*/</script><script id=\"module\"></script>";

fn view(viewer: &Path, arguments: &[&str]) -> (String, String, i32) {
    let mut command = Command::cargo_bin("gough").unwrap();
    let out = command.args(arguments).env("GOUGH_VIEWER", viewer).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let out = out.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(out.stdout), text(out.stderr), out.status.code().unwrap())
}

/// What the page was given.
fn given(path: &Path) -> Value {
    let page = std::fs::read_to_string(path).unwrap();
    let (_, rest) = page.split_once("id=\"given\">").unwrap();
    let (document, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(document).unwrap()
}

#[test]
fn the_page_holds_source_portrait_and_postures() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "page.html", TEMPLATE);
    let path = folder.path().join("out.html");
    let to = path.to_str().unwrap();
    let words = [
        "view",
        "five-bar",
        "--set",
        "d13=0.2",
        "--pose",
        "x=0.05,y=0.25",
        "--mode=++",
        "-o",
        to,
        "--no-open",
        "--json",
    ];
    let (out, err, status) = view(folder.path(), &words);
    assert_eq!((status, err.as_str()), (0, ""));
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&told["robot"], &told["library"]), (&"five-bar".into(), &false.into()));
    let given = given(&path);
    assert_eq!(given["at"], serde_json::json!([0.05, 0.25]));
    assert_eq!(given["mode"], "++");
    assert_eq!(given["source"]["set"], serde_json::json!([["d13", "0.2"]]));
    let postures = given["postures"].as_array().unwrap();
    assert_eq!((postures.len(), &postures[0]["standing"]["working_mode"]), (2, &"++".into()));
    let nodes = given["portrait"]["scene"]["nodes"].as_array().unwrap().len();
    assert_eq!(postures[0]["frames"].as_array().unwrap().len(), 12 * nodes);
}

#[test]
fn the_drives_that_work_and_files_from_elsewhere_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "page.html", TEMPLATE);
    let path = folder.path().join("out.html");
    let robot = repository("robots/gough-stewart-flexible/robot.toml");
    let to = path.to_str().unwrap();
    let (_, err, status) = view(folder.path(), &["view", &robot, "--allow-outside", "-o", to, "--no-open"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(given(&path)["source"]["files"].as_object().unwrap().len() == 1);
    let (_, err, status) = view(folder.path(), &["view", "five-bar", "--actuation", "none", "-o", to, "--no-open"]);
    assert!(status == 2 && err.contains("none"), "{err}");
}

#[test]
fn nothing_of_a_file_becomes_markup() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "page.html", TEMPLATE);
    let text = std::fs::read_to_string(repository("robots/five-bar/robot.toml")).unwrap();
    let hostile = "</script><script>alert(1)</script><!--";
    let line = text.lines().find(|l| l.starts_with("summary")).unwrap();
    let robot = file(folder.path(), "robot.toml", &text.replace(line, &format!("summary = \"{hostile}\"")));
    let path = folder.path().join("out.html");
    let (_, err, status) = view(folder.path(), &["view", &robot, "-o", path.to_str().unwrap(), "--no-open"]);
    assert_eq!((status, err.as_str()), (0, ""));
    let page = std::fs::read_to_string(&path).unwrap();
    assert_eq!(page.matches("</script>").count(), TEMPLATE.matches("</script>").count());
    assert_eq!(given(&path)["portrait"]["summary"], hostile);
}

#[test]
fn a_page_that_is_not_built_a_pose_out_of_reach_and_no_browser_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (_, err, status) = view(folder.path(), &["view", "five-bar", "--no-open"]);
    assert!(status == 2 && err.contains("cargo xtask viewer"), "{err}");
    file(folder.path(), "page.html", TEMPLATE);
    let path = folder.path().join("out.html");
    let to = path.to_str().unwrap();
    let (_, err, status) = view(folder.path(), &["view", "five-bar", "--pose", "x=3", "-o", to, "--no-open"]);
    assert!(status == 1 && err.starts_with("no: ") && !path.exists(), "{err}");
    let (_, err, status) = view(folder.path(), &["view", "five-bar", "-o", to]);
    assert!(status == 0 && err.contains("open ") && path.exists(), "{err}");
}
