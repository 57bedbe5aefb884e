//! Hostile names and summaries of a robot: the code that comes of them is that of a harmless name, apart from comments, and
//! nothing in tables, pictures and texts is an order.

use super::Session;
use super::program::{Program, pick};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

const PIECES: [&str; 30] = [
    "\n",
    "\r",
    "*/",
    "/*",
    "\"\"\"",
    "\\",
    "'",
    "\"",
    "`",
    "```",
    "#",
    "%",
    "%{",
    "//",
    "coding: utf-7",
    "+AAo-",
    "\u{1b}[31m",
    "\u{9b}2J",
    "\u{202e}",
    "\u{2028}",
    "<script>",
    "&",
    "]]>",
    "=cmd()",
    "@",
    "${x}",
    "import os",
    "\u{0}",
    "  ",
    "é",
];

/// Languages, and how their comments and strings are cut out.
const LANGUAGES: [&str; 6] = ["c", "c4", "rust", "python", "matlab", "cuda"];

pub fn run(session: &mut Session) -> Result<(), String> {
    let program = Program::new(session)?;
    let mut random = Pcg64Mcg::seed_from_u64(session.seed);
    let text = gough::robots::text("five-bar").ok_or("the five-bar is shipped")?;
    let mut count = 0_u64;
    while session.goes_on() {
        let name: String = (0..random.random_range(1..9)).map(|_| pick(&PIECES, &mut random)).collect();
        let summary: String = (0..random.random_range(0..9)).map(|_| pick(&PIECES, &mut random)).collect();
        let hostile = with_name(text, &format!("r{name}"), &summary);
        let kept = |why: String| session.keep(&hostile, &why);
        let language = pick(&LANGUAGES, &mut random);
        let model = pick(&["igm", "jacobian", "idm", "ddm"], &mut random);
        let bad = code(&program, &hostile, model, language).map_err(kept)?;
        let good = code(&program, &with_name(text, "r", ""), model, language)?;
        if bad != good {
            return Err(session.keep(&hostile, &format!("a name changes {language} code\n--- {bad}\n--- {good}")));
        }
        let robot = program.file("hostile.toml", hostile.as_bytes())?;
        for words in [
            vec!["check"],
            vec!["check", "--json"],
            vec![
                "map",
                "--quantity",
                "reachable",
                "--region",
                "x=-0.1:0.1:3,y=0.2:0.3:3",
                "--plot",
                "p.svg",
                "--csv",
                "t.csv",
            ],
        ] {
            let (command, rest) = (words[0].to_owned(), words[1..].iter().map(|w| (*w).to_owned()));
            program.ask(&[command, robot.clone()].into_iter().chain(rest).collect::<Vec<_>>()).map_err(kept)?;
        }
        let svg = std::fs::read_to_string(program.folder.join("p.svg")).unwrap_or_default();
        if svg.contains("<script") || svg.chars().any(|c| c.is_control() && c != '\n') {
            return Err(session.keep(&hostile, "a picture with an order in it"));
        }
        count += 1;
    }
    println!("{count} names: none became code, and none an order");
    Ok(())
}

/// The robot file under another name.
fn with_name(text: &str, name: &str, summary: &str) -> String {
    let own = |l: &&str| !(l.starts_with("name = \"five-bar\"") || l.starts_with("summary ="));
    let rest: Vec<&str> = text.lines().filter(own).collect();
    let quoted = |t: &str| serde_json::Value::from(t).to_string();
    let head = format!("[robot]\nname = {}\nsummary = {}", quoted(name), quoted(summary));
    rest.join("\n").replacen("[robot]", &head, 1)
}

/// Generated code without its comments, and with the name of the function replaced.
fn code(program: &Program, robot: &str, model: &str, language: &str) -> Result<String, String> {
    let folder = program.folder.join("code");
    let _ = std::fs::remove_dir_all(&folder);
    let path = program.file("named.toml", robot.as_bytes())?;
    let words = ["codegen", &path, "--model", model, "--lang", language, "-o", "code"];
    let outcome = program.ask(&words.map(str::to_owned))?;
    if outcome.status != Some(0) {
        return Err(format!("no code: {}", outcome.err));
    }
    let main = std::fs::read_dir(&folder).map_err(|e| e.to_string())?.flatten().map(|e| e.path());
    let source = |p: &std::path::PathBuf| {
        let name = p.file_name().unwrap_or_default().to_string_lossy().into_owned();
        !name.contains("_test")
            && !name.starts_with("test_")
            && name.strip_suffix(".h").is_none()
            && p.is_file()
            && name != "Cargo.toml"
    };
    let path =
        if language == "rust" { folder.join("src/lib.rs") } else { main.into_iter().find(source).ok_or("no file")? };
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(bare(&text, language).replace(&stem, "F").replace(&function(&text, model), "F"))
}

/// The name of the function in Rust, whose file is called otherwise.
fn function(text: &str, model: &str) -> String {
    let end = format!("_{model}(");
    let word =
        |l: &str| l.split_whitespace().find(|w| w.contains(&end)).map(|w| w.split('(').next().unwrap_or(w).to_owned());
    text.lines()
        .find_map(|l| l.starts_with("pub fn").then(|| word(l)).flatten())
        .unwrap_or_else(|| "no such name".to_owned())
}

/// A source text without comments and documentation.
fn bare(text: &str, language: &str) -> String {
    let cut = |text: &str, open: &str, close: &str| {
        let Some((before, rest)) = text.split_once(open) else { return text.to_owned() };
        format!("{before}{}", rest.split_once(close).map_or("", |(_, after)| after))
    };
    let without = |mark: &str| text.lines().filter(|l| !l.starts_with(mark)).collect::<Vec<_>>().join("\n");
    match language {
        "python" => cut(&without("#"), "\"\"\"", ".\n\n"),
        "matlab" => without("%"),
        "rust" => without("//"),
        _ => cut(text, "/*", "*/"),
    }
}
