//! Names and texts of a robot file on their way into source code: one function for each place where they stand, so that none
//! ends its comment or string and goes on as code.

/// Whether a character only shows itself: no control character, no line separator, nothing that turns the direction of
/// writing or hides other characters.
pub fn is_plain(c: char) -> bool {
    !(c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'))
}

/// A text on one line: what is not plain is shown by its number.
pub fn line(text: &str) -> String {
    let one = |c: char| if is_plain(c) { c.to_string() } else { format!("U+{:04X}", u32::from(c)) };
    text.chars().map(one).collect()
}

/// Inside `/* .. */` of C and CUDA: neither end nor beginning of a comment.
pub fn c_comment(text: &str) -> String {
    line(text).replace("*/", "* /").replace("/*", "/ *")
}

/// After `#` of Python; no declaration of an encoding.
pub fn python_comment(text: &str) -> String {
    line(text).replace("coding:", "coding :").replace("coding=", "coding =")
}

/// Inside `"""` of Python.
pub fn python_string(text: &str) -> String {
    line(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// After `//!` and `///` of Rust, whose text is Markdown of which code is compiled and run, and brackets are links.
pub fn rust_comment(text: &str) -> String {
    line(text).replace('`', "'").replace("~~~", "~ ~ ~").replace('<', "&lt;").replace('[', "\\[").replace(']', "\\]")
}

/// After `%` of MATLAB and Octave; no block of comments begins or ends.
pub fn matlab_comment(text: &str) -> String {
    line(text).replace("%{", "% {").replace("%}", "% }").replace("#{", "# {").replace("#}", "# }")
}
