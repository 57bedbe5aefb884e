//! `cargo xtask wasm` and `cargo xtask viewer`: the library as a module for browsers, and the page that holds it.

use crate::run::{cargo, program, root};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TARGET: &str = "wasm32-unknown-unknown";

/// What can be done where the compiler cannot make modules.
const NO_COMPILER: &str = "the compiler makes no WebAssembly here: `rustup target add wasm32-unknown-unknown` where rustup has it; on Debian \
                           `cargo xtask wasm` unpacks the packages of rustc-web below target/ by itself, which needs apt-get, dpkg and a network";

/// Build the module; where it is.
pub fn wasm() -> Result<PathBuf, String> {
    let folder = text(&root().join("target/wasm"))?;
    let mut words = vec!["build", "--profile", "wasm", "--target", TARGET, "-p", "gough-wasm", "--target-dir", &folder];
    if has_target() {
        cargo(&words)?;
    } else {
        let debian = debian()?;
        words.push("-Zbuild-std=std,panic_abort");
        let environment: Vec<(&str, &str)> = debian.iter().map(|(k, v)| (*k, v.as_str())).collect();
        program("cargo", &words, &environment)?;
    }
    let module = root().join("target/wasm").join(TARGET).join("wasm/gough_wasm.wasm");
    if module.exists() { Ok(module) } else { Err(format!("{} was not made", module.display())) }
}

/// Whether the installed compiler has the library of the target.
fn has_target() -> bool {
    let found = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    found.is_ok_and(|f| f.status.success() && Path::new(String::from_utf8_lossy(&f.stdout).trim()).exists())
}

/// The environment of Debian's compiler for browsers, unpacked below target/ without being installed.
fn debian() -> Result<Vec<(&'static str, String)>, String> {
    let folder = root().join("target/rustc-web");
    let rustc = folder.join("usr/bin/rustc");
    if !rustc.exists() {
        unpack(&folder)?;
    }
    let llvm = newest(
        &std::fs::read_dir(folder.join("usr/lib"))
            .map_err(|e| e.to_string())?
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok())
            .filter(|n| n.starts_with("llvm-"))
            .collect::<Vec<_>>(),
    )
    .ok_or("the unpacked packages have no linker")?;
    let linker = text(&folder.join("usr/lib").join(llvm).join("bin/wasm-ld"))?;
    Ok(vec![
        (
            "LD_LIBRARY_PATH",
            format!("{}:{}", text(&folder.join("usr/lib/x86_64-linux-gnu"))?, text(&folder.join("usr/lib"))?),
        ),
        ("RUSTC", text(&rustc)?),
        ("RUSTC_BOOTSTRAP", "1".to_owned()),
        ("RUSTFLAGS", format!("-C linker={linker}")),
    ])
}

fn unpack(folder: &Path) -> Result<(), String> {
    let packages = folder.join("packages");
    std::fs::create_dir_all(&packages).map_err(|e| e.to_string())?;
    // Lists as old as the machine name a compiler that is too old; where they cannot be renewed, what they name is tried.
    let _ = Command::new("apt-get").arg("update").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let mut names = vec!["rustc-web".to_owned(), "rust-web-src".to_owned(), "libstd-rust-web-dev".to_owned()];
    for pattern in ["^libstd-rust-web-[0-9]", "^libllvm[0-9]+$", "^lld-[0-9]+$"] {
        let found =
            Command::new("apt-cache").args(["search", "--names-only", pattern]).output().map_err(|_| NO_COMPILER)?;
        let list: Vec<String> = String::from_utf8_lossy(&found.stdout)
            .lines()
            .filter_map(|l| Some(l.split_whitespace().next()?.to_owned()))
            .collect();
        names.push(newest(&list).ok_or(NO_COMPILER)?);
    }
    let done = Command::new("apt-get").arg("download").args(&names).current_dir(&packages).status();
    if !done.is_ok_and(|s| s.success()) {
        return Err(NO_COMPILER.to_owned());
    }
    for entry in std::fs::read_dir(&packages).map_err(|e| e.to_string())?.flatten() {
        program("dpkg", &["-x", &text(&entry.path())?, &text(folder)?], &[])?;
    }
    Ok(())
}

/// The name with the largest number at its end.
fn newest(names: &[String]) -> Option<String> {
    let number = |n: &String| {
        n.rsplit(|c: char| !c.is_ascii_digit()).find(|p| !p.is_empty()).and_then(|p| p.parse::<u32>().ok())
    };
    names.iter().max_by_key(|n| number(n)).cloned()
}

/// Build the page with the module in it, or without where that cannot be built.
pub fn page() -> Result<(), String> {
    for tool in ["node", "npm"] {
        if !answers(tool) {
            return Err(format!(
                "the page is built by {tool}, which is not there; install Node.js 20 or newer and run this again"
            ));
        }
    }
    let module = wasm().map(Some).or_else(|why| {
        eprintln!("WITHOUT THE LIBRARY: {why}\nThe page will show what the command line puts into it.");
        Ok::<_, String>(None)
    })?;
    packages()?;
    let folder = root().join("viewer");
    inside(&folder, "node_modules/.bin/tsc", &["--noEmit"])?;
    let out = text(&root().join("target/viewer"))?;
    let module = module.map(|m| text(&m)).transpose()?;
    inside(&folder, "node", &[vec!["build.mjs", &out], module.iter().map(String::as_str).collect()].concat())
}

/// What the page is built with.
fn packages() -> Result<(), String> {
    let folder = root().join("viewer");
    if folder.join("node_modules/three").exists() {
        Ok(())
    } else {
        inside(&folder, "npm", &["ci", "--no-audit", "--no-fund"])
    }
}

/// Tests of page and module; what was left out, and why.
pub fn test() -> Result<Option<String>, String> {
    if !answers("node") || !answers("npm") {
        return Ok(Some("THE VIEWER WAS NOT TESTED: there is no Node.js; install one and run this again".to_owned()));
    }
    if packages().is_err() {
        return Ok(Some("THE VIEWER WAS NOT TESTED: npm could not fetch its packages".to_owned()));
    }
    page()?;
    let module = root().join("target/wasm").join(TARGET).join("wasm/gough_wasm.wasm");
    if !module.exists() {
        return Ok(Some(format!("THE MODULE WAS NOT TESTED: {NO_COMPILER}")));
    }
    // As the other tests are built, so that nothing is built twice.
    cargo(&[
        "build",
        "--profile",
        "test",
        "--workspace",
        "--features",
        "gough-cli/png",
        "--bin",
        "gough",
        "--example",
        "answers",
    ])?;
    let (folder, built) = (root().join("viewer"), root().join("target/debug"));
    inside(&folder, "node", &["test/answers.mjs", &text(&module)?, &text(&built.join("examples/answers"))?])?;
    let pictures = text(&root().join("target/viewer/test"))?;
    let words = ["test/page.mjs", &text(&built.join("gough"))?, &pictures];
    let done = Command::new("node").args(words).current_dir(&folder).status().map_err(|e| e.to_string())?;
    match done.code() {
        Some(0) => Ok(None),
        Some(3) => Ok(Some("THE PAGE WAS NOT TESTED: there is no Chromium; install one (Debian's package is `chromium`) and run this again".to_owned())),
        _ => Err("the page fails its tests".to_owned()),
    }
}

/// How fast the page is, for every shipped robot: from opening to the first picture, from input to the finished frame, what a picture
/// of something that moves allocates, and how large it is.
pub fn bench(robots: &[&str]) -> Result<(), String> {
    page()?;
    cargo(&["build", "--release", "-p", "gough-cli"])?;
    let pages = text(&root().join("target/viewer/bench"))?;
    let gough = text(&root().join("target/release/gough"))?;
    inside(&root().join("viewer"), "node", &[&["test/pace.mjs", &gough, &pages], robots].concat())
}

fn answers(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|done| done.status.success())
}

fn inside(folder: &Path, name: &str, words: &[&str]) -> Result<(), String> {
    println!("\n== {name} {}", words.join(" "));
    let path = if name.contains('/') { folder.join(name) } else { PathBuf::from(name) };
    let done = Command::new(path).args(words).current_dir(folder).status().map_err(|e| format!("{name}: {e}"))?;
    if done.success() { Ok(()) } else { Err(format!("{name} {} failed", words.join(" "))) }
}

fn text(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| "the path of the repository is not UTF-8".to_owned())
}
