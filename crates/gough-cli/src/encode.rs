//! Text from files on its way to a reader: one function for each, so that no name, summary or cell of a file is taken for
//! an order.

pub use gough::codegen::encode::is_plain;

/// For terminals: characters that move the cursor, change colours or turn the direction of writing are shown, not obeyed.
pub fn terminal(text: &str) -> String {
    let one =
        |c: char| if is_plain(c) || matches!(c, '\n' | '\t') { c.to_string() } else { c.escape_unicode().to_string() };
    text.chars().map(one).collect()
}

/// The text of a JSON document: what a terminal would obey is escaped, which changes no value.
pub fn json(text: &str) -> String {
    let one = |c: char| match c {
        '\n' | '\t' => c.to_string(),
        c if is_plain(c) => c.to_string(),
        c => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    text.chars().map(one).collect()
}

/// A cell of a CSV file. Spreadsheets take what begins with `=`, `+`, `-` or `@` for a formula: an apostrophe stops them.
pub fn csv_cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = format!("{}{}", if formula { "'" } else { "" }, terminal(text));
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// A text in a picture: what XML does not allow, and what turns the direction of writing, becomes a space. The drawing escapes
/// `<`, `>`, `&` and quotes.
pub fn svg(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) && !matches!(c, '\u{fffe}' | '\u{ffff}') { c } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\r\u{2028}\u{feff}é";

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let obeyed = |text: &str| text.chars().any(|c| !is_plain(c) && c != '\n' && c != '\t');
        assert!(!obeyed(&terminal(HOSTILE)) && terminal(HOSTILE).contains("\\u{1b}]0;x"));
        assert!(!obeyed(&json(HOSTILE)) && !obeyed(&svg(HOSTILE)));
    }

    #[test]
    fn escaped_documents_mean_what_they_meant() {
        let value = serde_json::json!({ HOSTILE: [HOSTILE, 1.5] });
        let text = json(&format!("{value:#}"));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn cells_are_no_formulas() {
        assert_eq!(csv_cell("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(csv_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(csv_cell("q11"), "q11");
    }
}
