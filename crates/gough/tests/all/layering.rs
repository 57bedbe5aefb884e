//! A stage uses the ground floor and the stages below it, never those above.

use std::path::{Path, PathBuf};

const FLOORS: [(&str, u8); 19] = [
    ("scalar", 0),
    ("spatial", 1),
    ("linalg", 1),
    ("description", 2),
    ("model", 3),
    ("kinematics", 4),
    ("compile", 5),
    ("dynamics", 5),
    ("elastodynamics", 6),
    ("codegen", 7),
    ("program", 8),
    ("batch", 9),
    ("trajectory", 9),
    ("analysis", 10),
    ("crossing", 11),
    ("identification", 11),
    ("simulation", 12),
    ("question", 13),
    ("view", 14),
];

/// Files beside the folders: a robot ready to be asked needs all stages up to the compiler.
const FILES: [(&str, u8); 3] = [("Robot", 5), ("robot", 5), ("robots", 5)];

fn floor(module: &str) -> Option<u8> {
    FLOORS.iter().chain(&FILES).find(|(n, _)| *n == module).map(|f| f.1)
}

pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    entries.flat_map(|p| if p.is_dir() { files(&p) } else { vec![p] }).collect()
}

#[test]
fn no_stage_uses_one_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut checked = 0;
    for (stage, own) in FLOORS {
        for path in files(&source.join(stage)) {
            let text = std::fs::read_to_string(&path).unwrap();
            for used in text.split("crate::").skip(1) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if name == stage {
                    continue;
                }
                let below = floor(&name).unwrap_or_else(|| panic!("{}: unknown module {name}", path.display()));
                assert!(below < own, "{} uses {name}, which is not below {stage}", path.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "only {checked} uses seen");
}

#[test]
fn every_folder_is_a_stage() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in std::fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            let name = entry.file_name().into_string().unwrap();
            assert!(floor(&name).is_some(), "{name} has no place in the order of stages");
        }
    }
}
