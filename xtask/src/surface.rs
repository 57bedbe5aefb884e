//! The public surface of the library, as rustdoc sees it, held equal to a list in the repository.
//!
//! One line per module, type, trait, function, method and constant that a user can name. Fields and variants belong to their
//! type. `GOUGH_WRITE_SURFACE=1 cargo xtask surface` writes the list again.

use crate::run::{program, root};
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};

/// More than that nobody reads in one go.
const MOST: usize = 350;
/// The format of rustdoc's documents that is read here; it changes with the compiler.
const FORMAT: u64 = 57;
const LIST: &str = "crates/gough/surface.txt";

pub fn run() -> Result<(), String> {
    let wrapper = root().join("target/rustdoc-of-the-surface");
    if !write_wrapper(&wrapper) {
        println!("the surface is looked at on Unix only");
        return Ok(());
    }
    let wrapper = wrapper.to_str().ok_or("the path of the repository is not UTF-8")?.to_owned();
    let json =
        ["rustdoc", "--quiet", "-p", "gough", "--lib", "--", "-Z", "unstable-options", "--document-hidden-items"];
    let json = [&json[..], &["--output-format", "json"]].concat();
    program("cargo", &json, &[("RUSTDOC", &wrapper)])?;
    let text = std::fs::read_to_string(root().join("target/doc/gough.json")).map_err(|e| e.to_string())?;
    let document: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    if document["format_version"] != FORMAT {
        println!(
            "the surface is not compared: this rustdoc writes format {}, not {FORMAT}",
            document["format_version"]
        );
        return Ok(());
    }
    let found = Surface::of(&document);
    compare(&found)
}

/// A rustdoc that may print JSON. Only documentation is made with it, so that nothing else is compiled again.
fn write_wrapper(path: &std::path::Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let text = "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n";
        let written = std::fs::write(path, text);
        written.and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))).is_ok()
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

fn compare(found: &BTreeSet<String>) -> Result<(), String> {
    let path = root().join(LIST);
    let text: String = found.iter().map(|line| format!("{line}\n")).collect();
    if std::env::var_os("GOUGH_WRITE_SURFACE").is_some() {
        std::fs::write(&path, &text).map_err(|e| e.to_string())?;
    }
    println!("{} public items", found.len());
    if found.len() >= MOST {
        return Err(format!("{} public items; a surface has fewer than {MOST}", found.len()));
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let kept: BTreeSet<String> = kept.lines().map(str::to_owned).collect();
    let list = |what: &str, a: &BTreeSet<String>, b: &BTreeSet<String>| -> String {
        a.difference(b).map(|line| format!("{what} {line}\n")).collect()
    };
    let change = list("+", found, &kept) + &list("-", &kept, found);
    if change.is_empty() {
        return Ok(());
    }
    Err(format!("the public surface changed:\n{change}GOUGH_WRITE_SURFACE=1 cargo xtask surface writes {LIST} again"))
}

/// Hidden items belong to the project; what is re-exported from a hidden module belongs to everybody.
fn is_hidden(item: &Value) -> bool {
    item["attrs"].to_string().contains("hidden")
}

/// Items of a rustdoc document, by path.
struct Surface<'d> {
    index: &'d Value,
    found: BTreeSet<String>,
    seen: HashSet<String>,
}

impl<'d> Surface<'d> {
    fn of(document: &'d Value) -> BTreeSet<String> {
        let mut all = Self { index: &document["index"], found: BTreeSet::new(), seen: HashSet::new() };
        all.item(&document["root"], "");
        all.found
    }

    fn item(&mut self, id: &Value, path: &str) {
        let item = &self.index[&id.to_string()];
        let Some((kind, inner)) = item["inner"].as_object().and_then(|o| o.iter().next()) else { return };
        if is_hidden(item) || item["visibility"] != "public" && kind != "impl" {
            return;
        }
        let name = item["name"].as_str().unwrap_or_default();
        let own = if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") };
        match kind.as_str() {
            "use" => {
                let target = &inner["id"];
                let into = if inner["is_glob"] == true { return } else { inner["name"].as_str().unwrap_or_default() };
                self.renamed(target, path, into);
            }
            "module" => {
                self.found.insert(format!("mod {own}"));
                inner["items"].as_array().into_iter().flatten().for_each(|i| self.item(i, &own));
            }
            _ => self.named(id, &own),
        }
    }

    fn renamed(&mut self, id: &Value, path: &str, name: &str) {
        self.named(id, &format!("{path}::{name}"));
    }

    fn named(&mut self, id: &Value, own: &str) {
        let item = &self.index[&id.to_string()];
        let Some((kind, inner)) = item["inner"].as_object().and_then(|o| o.iter().next()) else { return };
        let word = match kind.as_str() {
            "function" => "fn",
            "struct" | "enum" | "trait" | "union" => kind.as_str(),
            "constant" | "static" => "const",
            "type_alias" => "type",
            "macro" | "proc_macro" => "macro",
            _ => return,
        };
        self.found.insert(format!("{word} {own}"));
        // Methods are told once, under the first name of their type.
        if !self.seen.insert(id.to_string()) {
            return;
        }
        for list in [&inner["impls"], &inner["items"]] {
            for part in list.as_array().into_iter().flatten() {
                self.methods(part, own);
            }
        }
    }

    fn methods(&mut self, id: &Value, own: &str) {
        let item = &self.index[&id.to_string()];
        let inner = &item["inner"];
        if let Some(implementation) = inner.get("impl") {
            if implementation["trait"].is_null() {
                implementation["items"].as_array().into_iter().flatten().for_each(|i| self.methods(i, own));
            }
            return;
        }
        if is_hidden(item) {
            return;
        }
        let shown = item["visibility"] == "public" || item["visibility"] == "default";
        let word = if inner.get("function").is_some() { "fn" } else { "const" };
        let is_member = inner.get("function").is_some() || inner.get("assoc_const").is_some();
        if shown && is_member {
            self.found.insert(format!("{word} {own}::{}", item["name"].as_str().unwrap_or_default()));
        }
    }
}
