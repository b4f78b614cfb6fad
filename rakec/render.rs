//! Rendering of diagnostics: the one place where they become text, for people or as one JSON object a line.
//!
//! Excerpts are cut from the source around each label before they are laid out, so that a line of ten megabytes costs
//! no more than a short one.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use rake_ir::diag::{Diagnostic, Label, Severity};
use rake_ir::span::{Source, SourceMap, Span};
use serde_json::json;
use std::borrow::Cow;
use std::ops::Range;

/// A line longer than this many bytes is shown as a window around the label.
const LONGEST_LINE: usize = 160;
/// Bytes kept on each side of a label in such a window.
const WINDOW: usize = 60;
/// Labels whose lines lie within this many lines share one excerpt.
const SHARED_LINES: u32 = 200;

/// Texts longer than this many bytes are cut; a name may be as long as the file.
const LONGEST_TEXT: usize = 600;

/// How diagnostics are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// For people, without colour.
    #[default]
    Plain,
    /// For people, with terminal colours.
    Coloured,
    /// One JSON object a line.
    Json,
}

/// All diagnostics as text, each ending in a line break.
pub fn render(diagnostics: &[Diagnostic], sources: &SourceMap, format: Format) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        match format {
            Format::Json => text.push_str(&json_line(diagnostic, sources)),
            Format::Plain => text.push_str(&human(diagnostic, sources, &Renderer::plain())),
            Format::Coloured => text.push_str(&human(diagnostic, sources, &Renderer::styled())),
        }
        text.push('\n');
        if format != Format::Json {
            text.push('\n');
        }
    }
    text
}

/// The text, cut when it is too long to read.
fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().find(|(at, _)| *at >= LONGEST_TEXT) {
        Some((at, _)) => Cow::Owned(format!("{}...", &text[..at])),
        None => Cow::Borrowed(text),
    }
}

fn human(diagnostic: &Diagnostic, sources: &SourceMap, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(short(&diagnostic.message)).id(diagnostic.code.as_str());
    let mut group = Group::with_title(title);
    let mut places = Vec::new();
    for excerpt in excerpts(diagnostic, sources) {
        group = group.element(excerpt.snippet);
        places.extend(excerpt.misplaced);
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(short(note)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(short(help)));
    }
    group = group.element(Level::NOTE.with_name("stage").message(diagnostic.code.stage()));
    let mut text = renderer.render(&[group]);
    for (shown, right) in places {
        text = text.replacen(&shown, &right, 1);
    }
    text
}

/// A piece of source text.
struct Excerpt<'a> {
    /// The place as the renderer writes it and as it is, where the excerpt was cut out of a long line.
    misplaced: Option<(String, String)>,
    snippet: Snippet<'a, annotate_snippets::Annotation<'a>>,
}

fn excerpts<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Excerpt<'a>> {
    let mut found = Vec::new();
    let mut rest: Vec<&Label> = diagnostic.labels.iter().collect();
    while let Some(&first) = rest.first() {
        let Some(source) = sources.get(first.span.file) else {
            rest.remove(0);
            continue;
        };
        let together: Vec<&Label> = rest.iter().copied().filter(|label| shares(source, first, label)).collect();
        let labels = if together.is_empty() { vec![first] } else { together };
        rest.retain(|label| !labels.iter().any(|taken| std::ptr::eq(*taken, *label)));
        found.push(excerpt(source, &labels));
    }
    found
}

/// Whether `label` is shown in the same excerpt as `first`: same file, near, and no line that must be cut.
fn shares(source: &Source, first: &Label, label: &Label) -> bool {
    let line = |label: &Label| source.line_column(label.span.start).line;
    label.span.file == first.span.file
        && line(first).abs_diff(line(label)) <= SHARED_LINES
        && [first, label].iter().all(|l| source.line_span(line(l)).len() as usize <= LONGEST_LINE)
}

fn excerpt<'a>(source: &'a Source, labels: &[&'a Label]) -> Excerpt<'a> {
    let path = source.path().to_string_lossy();
    let (text, start, shift) = excerpt_text(source, labels);
    let primary = labels.iter().find(|label| label.primary).unwrap_or(&labels[0]);
    let place = source.line_column(clip(source, primary.span).start as u32);
    let cut = shift(clip(source, primary.span)).start;
    let column = text.get(..cut).filter(|before| !before.contains('\n')).map(|before| before.chars().count() + 1);
    let misplaced = column.filter(|column| *column != place.column as usize).map(|column| {
        let line = place.line;
        (format!("{path}:{line}:{column}"), format!("{path}:{line}:{}", place.column))
    });
    let annotations = labels.iter().map(|label| {
        let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let range = shift(clip(source, label.span));
        let label = (!label.text.is_empty()).then(|| short(&label.text));
        kind.span(range).label(label)
    });
    let annotations: Vec<_> = annotations.collect();
    let snippet = Snippet::source(text).path(path).line_start(start as usize).fold(true).annotations(annotations);
    Excerpt { misplaced, snippet }
}

/// A label's bytes, kept on its first line: a whole body underlined helps nobody.
fn clip(source: &Source, span: Span) -> Range<usize> {
    let line = source.line_span(source.line_column(span.start).line);
    let text = source.text();
    let mut start = (span.start as usize).max(line.start as usize).min(line.end as usize);
    let mut end = (span.end as usize).min(line.end as usize).max(start);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

type Shift = Box<dyn Fn(Range<usize>) -> Range<usize>>;

/// The excerpt's text, its first line's number, and the map from bytes of the file to bytes of the excerpt.
fn excerpt_text(source: &Source, labels: &[&Label]) -> (String, u32, Shift) {
    let lines = labels.iter().map(|label| source.line_column(label.span.start).line);
    let (first, last) = lines.fold((u32::MAX, 0), |(low, high), line| (low.min(line), high.max(line)));
    let (start, end) = (source.line_span(first).start as usize, source.line_span(last).end as usize);
    if first != last || end - start <= LONGEST_LINE {
        let text = source.text().get(start..end).unwrap_or("").to_string();
        return (text, first, Box::new(move |range| range.start - start..range.end - start));
    }
    let text = source.text();
    let at = clip(source, labels[0].span);
    let mut low = at.start.saturating_sub(WINDOW).max(start);
    let mut high = (at.start + WINDOW).max(at.end.min(at.start + WINDOW)).min(end);
    while low > start && !text.is_char_boundary(low) {
        low -= 1;
    }
    while high < end && !text.is_char_boundary(high) {
        high += 1;
    }
    let (before, after) = (if low > start { "..." } else { "" }, if high < end { "..." } else { "" });
    let window = format!("{before}{}{after}", &text[low..high]);
    let offset = before.len();
    let shift = move |range: Range<usize>| {
        let inside = |at: usize| at.clamp(low, high) - low + offset;
        inside(range.start)..inside(range.end)
    };
    (window, first, Box::new(shift))
}

fn json_line(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let severity = if diagnostic.is_error() { "error" } else { "warning" };
    let labels: Vec<_> = diagnostic.labels.iter().map(|label| json_label(label, sources)).collect();
    let notes: Vec<_> = diagnostic.notes.iter().map(|note| short(note)).collect();
    let place = diagnostic.span().and_then(|span| place(span, sources));
    let (file, line, column) = match place {
        Some((file, line, column, ..)) => (json!(file), json!(line), json!(column)),
        None => (json!(null), json!(null), json!(null)),
    };
    json!({
        "code": diagnostic.code.as_str(), "severity": severity, "stage": diagnostic.code.stage(),
        "message": short(&diagnostic.message), "file": file, "line": line, "column": column,
        "labels": labels, "notes": notes, "help": diagnostic.help.as_deref().map(short),
    })
    .to_string()
}

fn json_label(label: &Label, sources: &SourceMap) -> serde_json::Value {
    match place(label.span, sources) {
        Some((file, line, column, end_line, end_column)) => json!({
            "file": file, "line": line, "column": column, "end_line": end_line, "end_column": end_column,
            "start_byte": label.span.start, "end_byte": label.span.end,
            "primary": label.primary, "text": short(&label.text),
        }),
        None => json!({ "primary": label.primary, "text": short(&label.text) }),
    }
}

/// File, line, column, end line and end column of a span.
fn place(span: Span, sources: &SourceMap) -> Option<(String, u32, u32, u32, u32)> {
    let source = sources.get(span.file)?;
    let (start, end) = (source.line_column(span.start), source.line_column(span.end));
    Some((source.path().to_string_lossy().into_owned(), start.line, start.column, end.line, end.column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rake_ir::diag::Code;

    fn shown(text: &str, start: u32, end: u32) -> String {
        let mut sources = SourceMap::default();
        let file = sources.add("a.rk", text.as_bytes().to_vec());
        let diagnostic = Diagnostic::error(Code::UnexpectedToken, Span::new(file, start, end), "a word was expected")
            .at("here")
            .help("write a word");
        render(&[diagnostic], &sources, Format::Plain)
    }

    #[test]
    fn people_see_place_caret_stage_and_help() {
        let text = shown("one\ntwo three\n", 8, 13);
        for part in [
            "error[R0113]: a word was expected",
            "--> a.rk:2:5",
            "two three",
            "^^^^^ here",
            "help: write a word",
            "stage: syntax",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn a_line_of_ten_megabytes_is_cut_around_the_label_but_keeps_its_column() {
        let line = "x".repeat(10 << 20);
        let text = shown(&line, 5 << 20, (5 << 20) + 3);
        assert!(text.contains(&format!("a.rk:1:{}", (5 << 20) + 1)), "{}", &text[..200.min(text.len())]);
        assert!(text.contains("^^^ here"));
        assert!(text.len() < 1000);
    }

    #[test]
    fn a_label_past_the_end_and_between_two_bytes_of_a_character_is_shown() {
        assert!(shown("ab", 90, 95).contains("a.rk:1:3"));
        let wide = "é".repeat(400);
        assert!(shown(&wide, 301, 302).contains("a.rk:1:"));
    }

    #[test]
    fn a_message_as_long_as_the_file_is_cut() {
        let diagnostic = Diagnostic::spanless(Code::UndefinedName, "é".repeat(1 << 20));
        for format in [Format::Plain, Format::Coloured, Format::Json] {
            assert!(render(std::slice::from_ref(&diagnostic), &SourceMap::default(), format).len() < 4 * LONGEST_TEXT);
        }
    }

    #[test]
    fn json_is_one_object_a_line() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.rk", b"one\ntwo".to_vec());
        let diagnostic = Diagnostic::error(Code::UnexpectedToken, Span::new(file, 4, 7), "a \"word\"\nwas expected");
        let text = render(&[diagnostic.clone(), diagnostic], &sources, Format::Json);
        assert_eq!(text.lines().count(), 2);
        let object: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(object["line"], 2);
        assert_eq!(object["column"], 1);
        assert_eq!(object["stage"], "syntax");
        assert_eq!(object["labels"][0]["end_column"], 4);
    }
}
