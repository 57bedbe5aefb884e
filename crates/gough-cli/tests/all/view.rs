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

/// The five-bar with a limit of its drives, and a motion of 41 instants that needs more.
fn motion(folder: &Path) -> (String, String) {
    let text = std::fs::read_to_string(repository("robots/five-bar/robot.toml")).unwrap();
    assert!(text.contains("drive = {"));
    let robot = file(folder, "limited.toml", &text.replace("drive = {", "drive = { effort = 0.01,"));
    let row = |k: i32| {
        let t = f64::from(k) / 40.0;
        format!("{t},{},{}\n", 0.05 * (6.0 * t).sin(), 0.3 + 0.02 * (9.0 * t).cos())
    };
    let table: String = std::iter::once("t,x,y\n".to_owned()).chain((0..=40).map(row)).collect();
    (robot, file(folder, "motion.csv", &table))
}

#[test]
fn a_motion_in_the_page_is_that_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.html");
    let to = path.to_str().unwrap();
    let (robot, table) = motion(folder.path());
    let (out, err, status) = view(folder.path(), &["idm", &robot, "--trajectory", &table, "--json"]);
    assert_eq!((status, err.as_str()), (0, ""));
    let along: Value = serde_json::from_str(&out).unwrap();
    let violations = along["violations"].as_array().unwrap().len();
    assert!(violations > 0);
    for with_library in [true, false] {
        let module = if with_library { "id=\"module\">AAAA</script>" } else { "id=\"module\"></script>" };
        file(folder.path(), "page.html", &TEMPLATE.replace("id=\"module\"></script>", module));
        let (_, err, status) = view(folder.path(), &["view", &robot, "--trajectory", &table, "-o", to, "--no-open"]);
        assert_eq!((status, err.as_str()), (0, ""));
        let film = &given(&path)["motion"];
        let instants = film["t"].as_array().unwrap().len();
        assert_eq!(instants, 41);
        for (k, state) in along["states"].as_array().unwrap().iter().enumerate() {
            let (found, wanted) = (&film["efforts"][k], &state["efforts_with_friction"]);
            for i in 0..2 {
                let (a, b) = (found[i].as_f64().unwrap(), wanted[i].as_f64().unwrap());
                assert!((a - b).abs() <= 1e-6 * b.abs(), "{k}: {a} {b}");
            }
        }
        let marks = film["marks"].as_array().unwrap();
        assert_eq!(marks.iter().filter(|m| m["kind"] == "limit").count(), violations);
        let nodes = given(&path)["portrait"]["scene"]["nodes"].as_array().unwrap().len();
        let frames = film["frames"].as_array().map(Vec::len);
        assert_eq!(frames, if with_library { None } else { Some(instants) });
        assert!(with_library || film["frames"][7].as_array().unwrap().len() == 12 * nodes);
    }
    let (_, err, status) = view(folder.path(), &["view", &robot, "--trajectory", "nowhere.csv", "-o", to, "--no-open"]);
    assert!(status == 2 && err.contains("nowhere.csv"), "{err}");
    let (_, err, status) = view(folder.path(), &["view", &robot, "--trajectory", &table, "-o", &table, "--no-open"]);
    assert!(status == 2 && err.contains("the trajectory file"), "{err}");
}

#[test]
fn a_map_in_the_page_is_that_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "page.html", TEMPLATE);
    let path = folder.path().join("out.html");
    let to = path.to_str().unwrap();
    let spans = "x=-0.1:0.1:5,y=0.25:0.35:3";
    let (out, ..) =
        view(folder.path(), &["map", "five-bar", "--quantity", "conditioning", "--region", spans, "--json"]);
    let wanted: Value = serde_json::from_str(&out).unwrap();
    // The pose says where the platform stands; the map spans its coordinates all the same.
    let map = format!("conditioning,{spans}");
    let (_, err, status) =
        view(folder.path(), &["view", "five-bar", "--pose", "x=0.01,y=0.3", "--map", &map, "-o", to, "--no-open"]);
    assert_eq!((status, err.as_str()), (0, ""));
    let found = given(&path)["map"].clone();
    assert_eq!((&found["values"], &found["axes"]), (&wanted["values"], &wanted["axes"]));
    for (words, why) in [
        ("f1", "names no coordinates"),
        ("conditioning,x=0:1", "two coordinates"),
        ("conditoning,x=0:1,y=0:1", "did you mean `conditioning`"),
        ("f1,x=-0.1:0.1,y=0.25:0.35", "nothing can vibrate"),
    ] {
        std::fs::remove_file(&path).unwrap_or_default();
        let (_, err, status) = view(folder.path(), &["view", "five-bar", "--map", words, "-o", to, "--no-open"]);
        assert!(status != 0 && err.contains(why) && !path.exists(), "{words}: {status} {err}");
    }
}

#[test]
fn a_file_with_faults_opens_as_text_with_its_faults() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "page.html", TEMPLATE);
    let path = folder.path().join("out.html");
    let text = std::fs::read_to_string(repository("robots/five-bar/robot.toml")).unwrap();
    let text = text.replace("[platform]", "[plattform]\nx = \"</script>\"");
    let robot = file(folder.path(), "robot.toml", &text);
    let (_, err, status) = view(folder.path(), &["view", &robot, "-o", path.to_str().unwrap(), "--no-open"]);
    assert!(status == 2 && err.contains("plattform") && err.contains("shows the file with its faults"), "{err}");
    let given = given(&path);
    assert_eq!(given["source"]["text"], text.as_str());
    let (out, _, _) = view(folder.path(), &["check", &robot, "--json"]);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert!(given["faults"] == told["faults"] && told["faults"][1]["length"] == "plattform".len(), "{told}");
    let (_, err, status) = view(folder.path(), &["view", &robot, "-o", &robot, "--no-open"]);
    assert!(status == 2 && err.contains("would overwrite"), "{err}");
}
