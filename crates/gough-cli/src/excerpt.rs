//! Faults with the lines they point at.
//!
//! ```text
//! unknown-key
//!
//!   × unknown key `nam` in [robot]
//!    ╭─[file.toml:3:1]
//!  2 │ [robot]
//!  3 │ nam = "broken"
//!    · ─┬─
//!    ·  ╰── here
//!    ╰────
//!   help: did you mean `name`?
//! ```

use crate::encode::{is_plain, terminal};
use gough::description::{Diagnostic, Span, line_column};
use std::fmt::Write as _;
use std::io::IsTerminal;
use unicode_width::UnicodeWidthStr;

/// Columns between tab stops.
const TAB: usize = 4;
/// Unmarked lines between marked ones, up to which they are shown.
const SHORT_GAP: usize = 5;
/// Colours of marks, in turn: magenta, yellow, green.
const MARKS: [&str; 3] = ["35;1", "33;1", "32;1"];

/// Whether what goes to a stream may be coloured.
pub fn in_colour(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|x| x.is_empty())
}

/// Faults, one below the other, with the lines they point at.
pub fn render(name: &str, text: &str, faults: &[Diagnostic], colour: bool) -> String {
    let page =
        SourceText { name, text, lines: text.split('\n').map(|l| l.strip_suffix('\r').unwrap_or(l)).collect(), colour };
    let mut out = String::new();
    faults.iter().for_each(|fault| page.fault(fault, &mut out));
    out
}

struct SourceText<'a> {
    name: &'a str,
    text: &'a str,
    lines: Vec<&'a str>,
    colour: bool,
}

/// A stretch of a line to mark: line from 0, columns on the screen, words, colour.
struct Mark<'a> {
    line: usize,
    from: usize,
    to: usize,
    words: &'a str,
    colour: &'static str,
}

impl Mark<'_> {
    /// Column from which the words hang.
    fn stem(&self) -> usize {
        self.from + (self.to - self.from) / 2
    }
}

impl SourceText<'_> {
    fn paint(&self, style: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn fault(&self, fault: &Diagnostic, out: &mut String) {
        let (style, sign) = if fault.what.is_warning() { ("33", "⚠") } else { ("31", "×") };
        let message = terminal(&fault.what.to_string());
        let _ = writeln!(out, "{}\n\n  {} {message}", self.paint(style, fault.what.code()), self.paint(style, sign));
        // What stands in a file that is extended is beyond the text.
        if (fault.at.end > fault.at.start || fault.at.start > 0) && fault.at.start < self.text.len() {
            self.excerpt(fault, out);
        }
        if let Some(help) = fault.what.help() {
            let _ = writeln!(out, "{}{}", self.paint("36", "  help: "), terminal(&help));
        }
        out.push('\n');
    }

    fn excerpt(&self, fault: &Diagnostic, out: &mut String) {
        let places = std::iter::once((fault.at, "here"))
            .chain(fault.related.iter().copied().filter(|(s, _)| s.start < self.text.len()));
        let mut marks: Vec<Mark<'_>> = places.map(|(span, words)| self.mark(span, words)).collect();
        marks.sort_by_key(|m| (m.line, m.from));
        marks.iter_mut().zip(MARKS.iter().cycle()).for_each(|(mark, colour)| mark.colour = colour);
        let shown_lines = self.lines_around(&marks);
        let width = shown_lines.last().map_or(1, |n| (n + 1).to_string().len());
        let gutter = " ".repeat(width);
        let (line, column) = line_column(self.text, fault.at.start);
        let place = self.paint("36;1;4", &format!("{}:{line}:{column}", terminal(self.name)));
        let _ = writeln!(out, " {gutter} ╭─[{place}]");
        let mut before = None;
        for n in shown_lines {
            if before.is_some_and(|b| b + 1 < n) {
                let _ = writeln!(out, " {gutter} ⋮");
            }
            before = Some(n);
            let number = self.paint("2", &format!("{:>width$}", n + 1));
            let _ = writeln!(out, " {number} │ {}", shown(self.lines[n]));
            let here: Vec<&Mark<'_>> = marks.iter().filter(|m| m.line == n).collect();
            self.hang(&here).into_iter().for_each(|row| {
                let _ = writeln!(out, " {gutter} · {row}");
            });
        }
        let _ = writeln!(out, " {gutter} ╰────");
    }

    /// Marked lines with one around them; short gaps between them are filled.
    fn lines_around(&self, marks: &[Mark<'_>]) -> Vec<usize> {
        let last = self.lines.len() - 1;
        let ends_empty = last > 0 && self.lines[last].is_empty() && marks.iter().all(|m| m.line < last);
        let last = last - usize::from(ends_empty);
        let mut lines: Vec<usize> = Vec::new();
        for mark in marks {
            let from = match lines.last() {
                Some(&shown) if mark.line <= shown + SHORT_GAP + 1 => shown + 1,
                _ => mark.line.saturating_sub(1),
            };
            lines.extend(from..=(mark.line + 1).min(last));
        }
        lines
    }

    /// What of a span lies on its first line, on the screen.
    fn mark<'w>(&self, span: Span, words: &'w str) -> Mark<'w> {
        let whole =
            |at: usize| (0..=at.min(self.text.len())).rev().find(|i| self.text.is_char_boundary(*i)).unwrap_or(0);
        let start = whole(span.start);
        let before = &self.text[..start];
        let line = before.matches('\n').count();
        let begin = before.rfind('\n').map_or(0, |i| i + 1);
        let end = whole(span.end).clamp(start, begin + self.lines[line].len().max(start - begin));
        let from = columns(&self.text[begin..start]);
        let to = columns(&self.text[begin..end]).max(from + 1);
        Mark { line, from, to, words, colour: MARKS[0] }
    }

    /// Rows below a line: the marks, then their words, the last first, so that no stem is crossed.
    fn hang(&self, marks: &[&Mark<'_>]) -> Vec<String> {
        if marks.is_empty() {
            return Vec::new();
        }
        let mut rows = vec![self.row(marks.iter().map(|m| {
            let line = (m.from..m.to).map(|x| if x == m.stem() { '┬' } else { '─' }).collect();
            (m.from, line, m.colour)
        }))];
        for (k, mark) in marks.iter().enumerate().rev() {
            let stems = marks[..k].iter().map(|m| (m.stem(), "│".to_owned(), m.colour));
            rows.push(self.row(stems.chain([(mark.stem(), format!("╰── {}", mark.words), mark.colour)])));
        }
        rows
    }

    /// Pieces of text at their columns; what would overlap what is there begins after it.
    fn row(&self, pieces: impl Iterator<Item = (usize, String, &'static str)>) -> String {
        let (mut row, mut at) = (String::new(), 0_usize);
        for (column, piece, colour) in pieces {
            let piece: String = piece.chars().skip(at.saturating_sub(column)).collect();
            row.push_str(&" ".repeat(column.saturating_sub(at)));
            at = at.max(column) + piece.chars().count();
            row.push_str(&self.paint(colour, &piece));
        }
        row
    }
}

/// A line as it may go to a screen: tabs to the next stop, what a terminal would obey as a sign that something is there.
fn shown(text: &str) -> String {
    let mut out = String::new();
    for piece in text.split_inclusive('\t') {
        out.extend(piece.trim_end_matches('\t').chars().map(|c| if is_plain(c) { c } else { '\u{fffd}' }));
        if piece.ends_with('\t') {
            out.push_str(&" ".repeat(TAB - out.width() % TAB));
        }
    }
    out
}

/// Columns that a text takes on the screen.
fn columns(text: &str) -> usize {
    shown(text).width()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gough::description::Fault;

    fn at(text: &str, part: &str, last: bool) -> Span {
        let start = if last { text.rfind(part) } else { text.find(part) }.unwrap();
        Span { start, end: start + part.len() }
    }

    fn fault(text: &str, parts: &[(&str, bool)]) -> Diagnostic {
        let what = Fault::UnknownKey { key: "k".to_owned(), table: "[t]".to_owned(), nearest: None };
        let one = Diagnostic::new(what, at(text, parts[0].0, parts[0].1));
        parts[1..].iter().fold(one, |d, (part, last)| d.and(at(text, part, *last), "there"))
    }

    fn excerpt(text: &str, parts: &[(&str, bool)]) -> String {
        let all = render("f", text, &[fault(text, parts)], false);
        all.lines().filter(|l| l.contains(['│', '·', '╭', '╰', '⋮'])).map(|l| format!("{l}\n")).collect()
    }

    #[test]
    fn wide_characters_and_tabs_take_their_columns() {
        let text = "機械 = 3\n\tä\tb = 🤖x\n";
        assert_eq!(
            excerpt(text, &[("x", true)]),
            "   ╭─[f:2:9]\n 1 │ 機械 = 3\n 2 │     ä   b = 🤖x\n   ·               ┬\n   ·               ╰── here\n   ╰────\n"
        );
        assert!(excerpt(text, &[("機械", true)]).contains("   · ──┬─\n   ·   ╰── here\n"));
    }

    #[test]
    fn two_places_on_a_line_hang_below_each_other() {
        let text = "a = 1, a = 2";
        let expected =
            "   ╭─[f:1:8]\n 1 │ a = 1, a = 2\n   · ┬      ┬\n   · │      ╰── here\n   · ╰── there\n   ╰────\n";
        assert_eq!(excerpt(text, &[("a", true), ("a", false)]), expected);
    }

    #[test]
    fn long_gaps_are_left_out_and_the_fault_itself_is_named_in_the_head() {
        let text = format!("one\n{}two\n", "\n".repeat(20));
        let shown = excerpt(&text, &[("two", true), ("one", false)]);
        assert!(shown.starts_with("    ╭─[f:22:1]\n  1 │ one\n"), "{shown}");
        assert!(shown.contains("  2 │ \n    ⋮\n 21 │ \n 22 │ two\n"), "{shown}");
        assert_eq!(shown.lines().count(), 11, "{shown}");
    }

    #[test]
    fn spans_inside_a_character_are_drawn_and_those_of_another_file_are_told_without_a_line() {
        for (start, end) in [(0, 99), (99, 99), (1, 2), (3, 1), (4, 5)] {
            let d = Diagnostic::new(fault("x", &[("x", true)]).what, Span { start, end });
            for text in ["機械\r\n", "", "\n", "a\tb"] {
                let shown = render("f", text, std::slice::from_ref(&d), false);
                assert_eq!(shown.contains("╰── here"), start < text.len(), "{start}..{end}: {shown}");
                assert!(shown.contains("unknown key"), "{shown}");
            }
        }
    }

    #[test]
    fn a_file_cannot_send_orders_to_the_terminal() {
        let text = "a\x1b[31m = 1";
        assert!(!render("f\x1b", text, &[fault(text, &[("a", false), ("1", true)])], false).contains('\x1b'));
        assert!(render("f", text, &[fault(text, &[("1", true)])], true).contains("\x1b[31m×\x1b[0m unknown"));
    }
}
