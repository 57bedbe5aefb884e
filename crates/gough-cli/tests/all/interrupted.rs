//! Processes that are ended, disks that are full, folders that cannot be written, readers that go away: nothing is half
//! written, and the exit status says it.
#![cfg(unix)]

use crate::common::{document, file, run};
use serde_json::Value;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Files under their temporary names.
fn parts(folder: &Path) -> usize {
    let is_part = |e: &std::fs::DirEntry| e.path().extension().is_some_and(|x| x == "part");
    std::fs::read_dir(folder).unwrap().flatten().filter(is_part).count()
}

fn begun(arguments: &[&str]) -> Child {
    let path = assert_cmd::cargo::cargo_bin("gough");
    Command::new(path).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_mins(2), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_interrupted_batch_keeps_whole_states_and_says_how_many_of_how_many() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..1_000_000).map(|i| format!("{:.6},0.25\n", 0.04 + 2e-8 * f64::from(i))).collect();
    let states = file(folder.path(), "s.csv", &format!("x,y\n{lines}"));
    // A signal that whoever started the tests wants ignored (`nohup`, jobs in the background) is ignored by the program too.
    let signals = [("-INT", 2, 130), ("-TERM", 15, 143)].into_iter().filter(|(_, number, _)| !is_ignored(*number));
    let mut heard = 0;
    for (signal, _, status) in signals {
        heard += 1;
        let answer = folder.path().join("answer.json");
        let mut child = begun(&["idm", "five-bar", "--states", &states, "--json", "-o", answer.to_str().unwrap()]);
        let written = || {
            let sizes = std::fs::read_dir(folder.path()).unwrap().flatten();
            sizes.filter(|e| e.path().extension().is_some_and(|x| x == "part")).any(|e| e.metadata().unwrap().len() > 0)
        };
        wait_until("something is written", written);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(status), "{signal}");
        assert_eq!(parts(folder.path()), 0, "{signal}");
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(&answer).unwrap()).unwrap();
        assert_eq!(kept["complete"], false);
        assert_eq!(kept["count"]["done"], kept["states"].as_array().unwrap().len());
        assert_eq!(kept["count"]["of"], 1_000_000);
        std::fs::remove_file(&answer).unwrap();
    }
    assert!(heard > 0, "all signals are ignored");
}

/// Whether processes started from here ignore a signal.
fn is_ignored(number: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

/// Every command that writes, with one option that names a file.
fn writers(path: &str) -> Vec<Vec<String>> {
    let words = |text: &str| text.split_whitespace().map(|w| w.replace("FILE", path)).collect();
    [
        "check five-bar -o FILE",
        "robots -o FILE",
        "schema -o FILE",
        "kinematics five-bar --pose x=0.05,y=0.25 -o FILE",
        "idm five-bar --pose x=0.05,y=0.25 --json -o FILE",
        "ddm five-bar --pose x=0.05,y=0.25 -o FILE",
        "singularities five-bar --pose x=0.05,y=0.25 -o FILE",
        "map five-bar --quantity reachable --region x=0:0.1:3 --csv FILE",
        "simulate five-bar --time 0.01 --csv FILE",
        "frequencies five-bar-flexible --count 1 -o FILE",
    ]
    .map(words)
    .to_vec()
}

#[test]
fn a_full_disk_or_a_folder_that_cannot_be_written_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["/dev/full", "/dev/null/answer", "/proc/answer"] {
        for arguments in writers(path) {
            let (_, err, status) = run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(status == 2 && err.contains("cannot write"), "{arguments:?}: {status} {err}");
        }
    }
    let code = format!("{}/file/out", folder.path().display());
    file(folder.path(), "file", "no folder");
    let (_, err, status) = run(&["codegen", "five-bar", "--model", "igm", "-o", &code]);
    assert!(status == 2 && err.contains("cannot make the folder"), "{err}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn of_several_files_all_are_written_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let motion = file(folder.path(), "m.csv", "t,x,y\n0,0.05,0.25\n0.5,0.06,0.25\n1,0.05,0.25\n");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let map = ["map", "five-bar", "--quantity", "reachable", "--region", "x=0:0.1:3"];
    let idm = ["idm", "five-bar", "--trajectory", &motion];
    let simulate = ["simulate", "five-bar", "--time", "0.01"];
    for command in [&map[..], &idm, &simulate] {
        let (_, err, status) = run(&[command, &["--csv", &at("a"), "--plot", "/dev/null/b.svg"]].concat());
        assert!(status == 2 && err.contains("/dev/null/b.svg"), "{err}");
        let (_, err, status) = run(&[command, &["--csv", &at("a"), "-o", "/dev/null/c"]].concat());
        assert!(status == 2 && err.contains("/dev/null/c"), "{err}");
        let (_, err, status) = run(&[command, &["--csv", &at("a"), "-o", &at("./a")]].concat());
        assert!(status == 2 && err.contains("--csv and -o are both"), "{err}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{command:?}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_answer_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..20_000).map(|i| format!("{:.6},0.25\n", 0.04 + 1e-7 * f64::from(i))).collect();
    let states = file(folder.path(), "s.csv", &format!("x,y\n{lines}"));
    let path = assert_cmd::cargo::cargo_bin("gough");
    let mut child = Command::new(path)
        .args(["kinematics", "five-bar", "--states", &states])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 64];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap(); // and closed here
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), String::from_utf8_lossy(&out.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn numbers_that_are_not_finite_are_refused_not_printed() {
    let (answer, status) =
        document(&["ddm", "five-bar", "--pose", "x=0.05,y=0.25", "--efforts", "q11=6.31e306,q21=6.31e306", "--json"]);
    assert_eq!(status, 2);
    assert!(answer["error"]["message"].as_str().unwrap().contains("not finite"), "{answer}");
}
