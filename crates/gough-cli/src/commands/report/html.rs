//! A page of text, tables and figures. Whatever comes from a file is escaped: nothing of it is markup.

use base64::Engine as _;
use std::fmt::Write as _;

/// A page that grows.
#[derive(Default)]
pub struct Html {
    text: String,
}

/// Text without markup.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A number with six digits, as everywhere in the report.
pub fn number(x: f64) -> String {
    if !x.is_finite() {
        return "-".to_owned();
    }
    if x != 0.0 && !(1e-4..1e7).contains(&x.abs()) {
        return format!("{x:.5e}");
    }
    let digits = if x == 0.0 { 0 } else { (5.0 - x.abs().log10().floor()).clamp(0.0, 9.0) as usize };
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

impl Html {
    /// A heading that can be linked to.
    pub fn heading(&mut self, title: &str) {
        let id: String =
            title.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let _ = writeln!(self.text, "<h2 id=\"{id}\">{}</h2>", escape(title));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.text, "<p>{}</p>", escape(text));
    }

    /// The command that gives what stands above.
    pub fn command(&mut self, command: &str) {
        let _ = writeln!(self.text, "<p class=\"command\"><code>{}</code></p>", escape(command));
    }

    /// A table. `name` says to programs what it holds.
    pub fn table(&mut self, name: &str, head: &[&str], rows: &[Vec<String>]) {
        let row = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
            let cells: String = cells.map(|c| format!("<{tag}>{}</{tag}>", escape(c))).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let body: String = rows.iter().map(|r| row("td", &mut r.iter().map(String::as_str))).collect();
        let head = row("th", &mut head.iter().copied());
        let _ =
            write!(self.text, "<table id=\"{name}\">\n<thead>\n{head}</thead>\n<tbody>\n{body}</tbody>\n</table>\n");
    }

    /// A picture that travels in the page.
    pub fn figure(&mut self, svg: &[u8], caption: &str) {
        let data = base64::engine::general_purpose::STANDARD.encode(svg);
        let caption = escape(caption);
        let _ = writeln!(
            self.text,
            "<figure><img alt=\"{caption}\" src=\"data:image/svg+xml;base64,{data}\"><figcaption>{caption}</figcaption></figure>"
        );
    }

    /// Another page inside this one, alive where the browser allows it.
    pub fn frame(&mut self, page: &str, title: &str) {
        let _ = writeln!(
            self.text,
            "<iframe title=\"{}\" sandbox=\"allow-scripts allow-downloads\" srcdoc=\"{}\"></iframe>",
            escape(title),
            page.replace('&', "&amp;").replace('"', "&quot;")
        );
    }

    /// What follows goes below.
    pub fn push(&mut self, other: &Html) {
        self.text += &other.text;
    }

    /// The page.
    pub fn page(&self, title: &str, summary: &str) -> String {
        let (title, summary) = (escape(title), escape(summary));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <h1>{title}</h1>\n<p class=\"summary\">{summary}</p>\n{}</body>\n</html>\n",
            self.text
        )
    }
}

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\
h1{margin-bottom:0}.summary{color:GrayText;margin-top:.2em}\
h2{border-bottom:1px solid GrayText;padding-bottom:.15em;margin-top:1.6em;break-after:avoid}\
table{border-collapse:collapse;margin:.6em 0;font-variant-numeric:tabular-nums}\
th,td{text-align:left;padding:.1em .8em .1em 0;vertical-align:top;overflow-wrap:anywhere}\
th{border-bottom:1px solid GrayText;font-weight:600}\
td+td,th+th{text-align:right;overflow-wrap:break-word}#robot td+td,#refused td+td,#legs td+td{overflow-wrap:anywhere}\
#robot td+td,#refused td+td,#legs td+td,#robot th+th,#refused th+th,#legs th+th{text-align:left}\
figure{margin:1em 0;break-inside:avoid}img{max-width:100%;background:#fff;border-radius:4px}figcaption{color:GrayText}\
.command code{display:block;overflow-x:auto;background:color-mix(in srgb,CanvasText 7%,Canvas);padding:.3em .6em;border-radius:4px}\
iframe{width:100%;height:34em;border:1px solid GrayText;border-radius:4px}\
@media print{body{max-width:none;margin:0}iframe{display:none}}";
