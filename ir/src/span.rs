//! Source files and positions in them.
//!
//! A [`Span`] is a pair of byte offsets into one file; everything a person reads (line, column, the line's text) is
//! looked up in the [`Source`] when a diagnostic is rendered. A leading byte-order mark is part of the offsets but not
//! of the columns.

use std::path::{Path, PathBuf};

use la_arena::{Arena, Idx};

/// The largest source file that is read, in bytes. Offsets are 32 bits wide, and nobody writes a gigabyte by hand.
pub const MAX_SOURCE_BYTES: usize = 1 << 30;

/// Which file of a [`SourceMap`] a span points into.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FileId(pub u32);

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` up to `end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end: end.max(start) }
    }

    /// The smallest span that covers both; `self` when they are in different files.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span at the start of `self`.
    pub fn at_start(self) -> Span {
        Span { end: self.start, ..self }
    }

    /// The empty span just after `self`.
    pub fn at_end(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// The number of bytes covered.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether no byte is covered.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The same bytes as a range for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One call that was inlined: where it stands, and the inlined call that contains it, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InlinedCall {
    /// The call expression.
    pub call: Span,
    /// The next call outwards.
    pub outer: Option<InlinedCallId>,
}

/// A link of a chain of inlined calls.
pub type InlinedCallId = Idx<InlinedCall>;

/// The chains of inlined calls of one compilation.
#[derive(Clone, Debug, Default)]
pub struct InlinedCalls {
    calls: Arena<InlinedCall>,
}

impl InlinedCalls {
    /// Records a call inlined inside `outer`.
    pub fn push(&mut self, call: Span, outer: Option<InlinedCallId>) -> InlinedCallId {
        self.calls.alloc(InlinedCall { call, outer })
    }

    /// The call spans from the innermost outwards.
    pub fn chain(&self, origin: Origin) -> impl Iterator<Item = Span> + '_ {
        let mut next = origin.inlined;
        std::iter::from_fn(move || {
            let call = self.calls[next?];
            next = call.outer;
            Some(call.call)
        })
    }
}

/// Where an IR node comes from: its place in the source, and the calls through which it was inlined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Origin {
    /// The construct as written.
    pub span: Span,
    /// The innermost inlined call, `None` when the construct stands in the definition itself.
    pub inlined: Option<InlinedCallId>,
}

impl From<Span> for Origin {
    fn from(span: Span) -> Origin {
        Origin { span, inlined: None }
    }
}

/// A line and a column as people count them: both from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// One source file: where it came from and its text.
///
/// The text has the length of the bytes read: bytes that are not UTF-8 stand in it as `?`, one for one, so that spans
/// are offsets into both; [`Source::invalid_at`] holds the first such byte for the parser to report.
#[derive(Clone, Debug)]
pub struct Source {
    id: FileId,
    path: PathBuf,
    text: String,
    invalid_at: Option<u32>,
    oversize: Option<usize>,
    line_starts: Vec<u32>,
}

impl Source {
    /// A source from the bytes of a file. Never fails: what is wrong with them is reported by the parser.
    pub fn new(id: FileId, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> Source {
        let bytes = bytes.into();
        let oversize = (bytes.len() > MAX_SOURCE_BYTES).then_some(bytes.len());
        let bytes = if oversize.is_some() { Vec::new() } else { bytes };
        let (text, invalid_at) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let at = error.utf8_error().valid_up_to() as u32;
                (patch_invalid(error.as_bytes()), Some(at))
            }
        };
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts = std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect();
        Source { id, path: path.into(), text, invalid_at, oversize, line_starts }
    }

    /// The file's id.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// The path as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text, byte-order mark included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The offset of the first byte that is not UTF-8.
    pub fn invalid_at(&self) -> Option<u32> {
        self.invalid_at
    }

    /// The size of a file that exceeds [`MAX_SOURCE_BYTES`]; its text is then empty.
    pub fn oversize(&self) -> Option<usize> {
        self.oversize
    }

    /// The text that `span` covers; empty when the span does not fit this text.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The whole file.
    pub fn whole(&self) -> Span {
        Span::new(self.id, 0, self.text.len() as u32)
    }

    /// The number of lines, counting a last one without a line break and an empty one after the last break.
    pub fn line_count(&self) -> u32 {
        self.line_starts.len() as u32
    }

    /// The line and column of a byte offset. Offsets past the end mean the end.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let offset = (offset as usize).min(self.text.len());
        let line = self.line_starts.partition_point(|&start| start as usize <= offset).max(1);
        let start = self.line_start(line);
        let characters = self.text.as_bytes()[start.min(offset)..offset].iter().filter(|&&byte| byte & 0xc0 != 0x80);
        LineColumn { line: line as u32, column: characters.count() as u32 + 1 }
    }

    /// The span of a line's text (from 1), without its line break and a byte-order mark.
    pub fn line_span(&self, line: u32) -> Span {
        let line = (line as usize).clamp(1, self.line_starts.len());
        let start = self.line_start(line);
        let end = self.line_starts.get(line).map_or(self.text.len(), |&next| next as usize);
        let text = &self.text.as_bytes()[start.min(end)..end];
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        Span::new(self.id, start as u32, (start + text.len()) as u32)
    }

    /// Where a line's text starts: after the byte-order mark in the first.
    fn line_start(&self, line: usize) -> usize {
        let start = self.line_starts[line - 1] as usize;
        if start == 0 && self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { start }
    }
}

/// Replaces each byte that is not part of valid UTF-8 with one `?`.
fn patch_invalid(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

/// The files of one compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Source>,
}

impl SourceMap {
    /// Adds a file and returns its id.
    pub fn add(&mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> FileId {
        let id = FileId(self.sources.len() as u32);
        self.sources.push(Source::new(id, path, bytes));
        id
    }

    /// The file with an id from this map.
    pub fn get(&self, id: FileId) -> Option<&Source> {
        self.sources.get(id.0 as usize)
    }

    /// All files, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, offset: u32) -> (u32, u32) {
        let at = Source::new(FileId(0), "a.rk", text).line_column(offset);
        (at.line, at.column)
    }

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        assert_eq!(place("ab\ncd", 0), (1, 1));
        assert_eq!(place("ab\ncd", 2), (1, 3));
        assert_eq!(place("ab\ncd", 4), (2, 2));
        assert_eq!(place("é\u{1f600}x", 6), (1, 3));
        assert_eq!(place("ab", 99), (1, 3));
        assert_eq!(place("", 0), (1, 1));
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        assert_eq!(place("\u{feff}ab", 0), (1, 1));
        assert_eq!(place("\u{feff}ab", 3), (1, 1));
        assert_eq!(place("\u{feff}ab\r\ncd", 7), (2, 1));
    }

    #[test]
    fn line_spans_drop_both_kinds_of_break() {
        let source = Source::new(FileId(0), "a.rk", "ab\r\ncd\n");
        assert_eq!(source.slice(source.line_span(1)), "ab");
        assert_eq!(source.slice(source.line_span(2)), "cd");
        assert_eq!(source.slice(source.line_span(3)), "");
        assert_eq!(source.line_count(), 3);
    }

    #[test]
    fn invalid_bytes_keep_the_offsets() {
        let source = Source::new(FileId(0), "a.rk", b"a\xff\xfeb\xc3".to_vec());
        assert_eq!(source.text(), "a??b?");
        assert_eq!(source.invalid_at(), Some(1));
    }

    #[test]
    fn call_chains_run_from_the_inside_out() {
        let mut calls = InlinedCalls::default();
        let spans = [Span::new(FileId(0), 1, 2), Span::new(FileId(0), 3, 4)];
        let outer = calls.push(spans[0], None);
        let inner = calls.push(spans[1], Some(outer));
        let origin = Origin { span: Span::default(), inlined: Some(inner) };
        assert_eq!(calls.chain(origin).collect::<Vec<_>>(), [spans[1], spans[0]]);
    }
}
