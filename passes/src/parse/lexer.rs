//! The lexer: bytes to tokens and comments. Layout is not its concern, but it notes each line's indentation.
//!
//! Tokens are greedy (`<-` is one token); the parser splits a `>=` that closes a uniform mark and reads `<-1.0>` as a
//! mark where an expression may start.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::span::{FileId, Source, Span};
use rake_ir::surface::Comment;

use super::sink::Sink;
use super::token::{Keyword, Sign, TokenKind, primitive};

/// Block comments nest at most this deep.
pub const MAX_COMMENT_NESTING: usize = 256;

/// A token before layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawToken {
    /// What it is.
    pub kind: TokenKind,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset after its last byte.
    pub end: u32,
    /// The line's indentation in columns, for the first token of a line.
    pub indentation: Option<u32>,
    /// Whether an error about it has been reported.
    pub silent: bool,
}

/// What the lexer found.
#[derive(Default, Debug)]
pub struct Lexed {
    /// The tokens.
    pub tokens: Vec<RawToken>,
    /// The comments.
    pub comments: Vec<Comment>,
    /// Whether a string or comment is not closed, so that missing brackets are no news.
    pub unclosed: bool,
    /// Whether the file's end is inside a comment, so that nothing missing there is news.
    pub open_at_end: bool,
}

/// Splits a source into tokens and comments.
pub fn lex(source: &Source, sink: &mut Sink) -> Lexed {
    let mut lexer = Lexer::new(source, sink);
    // Nothing is reported any more once the sink is full, so nothing needs reading.
    while lexer.at < lexer.bytes.len() && !lexer.sink.is_full() {
        lexer.step();
    }
    lexer.out
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line_start: usize,
    /// Whether the current line began inside a block comment.
    line_in_comment: bool,
    /// Whether the current line has a token already.
    line_has_token: bool,
    seen_carriage_return: bool,
    seen_tab: bool,
    sink: &'a mut Sink,
    out: Lexed,
}

impl<'a> Lexer<'a> {
    fn new(source: &'a Source, sink: &'a mut Sink) -> Lexer<'a> {
        let text = source.text();
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Lexer {
            file: source.id(),
            text,
            bytes: text.as_bytes(),
            at,
            line_start: at,
            line_in_comment: false,
            line_has_token: false,
            seen_carriage_return: false,
            seen_tab: false,
            sink,
            out: Lexed::default(),
        }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    fn error(&mut self, code: Code, start: usize, end: usize, message: impl Into<String>) {
        self.error_with(code, start, end, message, None);
    }

    fn error_with(&mut self, code: Code, start: usize, end: usize, message: impl Into<String>, help: Option<&str>) {
        let mut diagnostic = Diagnostic::error(code, self.span(start, end), message);
        diagnostic.help = help.map(String::from);
        self.sink.report(diagnostic);
    }

    fn step(&mut self) {
        match self.bytes[self.at] {
            b' ' | b'\t' => self.at += 1,
            b'\n' => self.line_break(),
            b'\r' => self.carriage_return(),
            b'~' if self.byte(1) == b'~' => self.line_comment(),
            b'(' if self.byte(1) == b'*' => self.block_comment(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            b'#' => self.tine(),
            _ => self.sign(),
        }
    }

    fn push(&mut self, kind: TokenKind, start: usize, silent: bool) {
        let indentation = if self.line_has_token { None } else { Some(self.indentation(start)) };
        self.line_has_token = true;
        let (start, end) = (start as u32, self.at as u32);
        self.out.tokens.push(RawToken { kind, start, end, indentation, silent });
    }

    /// The current line's indentation: its leading spaces, or the first token's column when the line's start is inside a
    /// comment.
    fn indentation(&mut self, token: usize) -> u32 {
        let line = &self.text[self.line_start..token];
        if self.line_in_comment {
            return line.chars().count() as u32;
        }
        let spaces = line.bytes().take_while(|&byte| byte == b' ').count();
        if line.as_bytes().get(spaces) == Some(&b'\t') && !self.seen_tab {
            self.seen_tab = true;
            let at = self.line_start + spaces;
            let help = "indent with spaces";
            self.error_with(Code::TabInIndentation, at, at + 1, "a tab in the indentation", Some(help));
        }
        line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count() as u32
    }

    fn line_break(&mut self) {
        self.at += 1;
        self.line_start = self.at;
        self.line_in_comment = false;
        self.line_has_token = false;
    }

    /// Reports a carriage return that no line feed follows, once, and takes it for a line's end.
    fn carriage_return(&mut self) {
        if self.byte(1) == b'\n' {
            self.at += 1;
            return;
        }
        self.lone_carriage_return(self.at);
        self.line_break();
    }

    fn lone_carriage_return(&mut self, at: usize) {
        if !self.seen_carriage_return {
            self.seen_carriage_return = true;
            let message = "a carriage return without a line feed";
            let help = "end lines with LF or CRLF";
            self.error_with(Code::StrayCarriageReturn, at, at + 1, message, Some(help));
        }
    }

    /// The end of the last token, if it stands on the current line.
    fn follows(&self) -> Option<u32> {
        self.out.tokens.last().filter(|_| self.line_has_token).map(|token| token.end)
    }

    fn push_comment(&mut self, start: usize, follows: Option<u32>) {
        let text = self.text[start..self.at].into();
        let span = self.span(start, self.at);
        self.out.comments.push(Comment { span, text, follows });
    }

    fn line_comment(&mut self) {
        let start = self.at;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\n' | b'\r' => break,
                0 => self.nul(),
                _ => self.at += 1,
            }
        }
        let follows = self.follows();
        self.push_comment(start, follows);
    }

    fn nul(&mut self) {
        self.error(Code::InvalidCharacter, self.at, self.at + 1, "a NUL byte cannot stand in a source file");
        self.at += 1;
    }

    fn block_comment(&mut self) {
        let (start, follows) = (self.at, self.follows());
        let mut depth = 0usize;
        while self.at < self.bytes.len() {
            match (self.bytes[self.at], self.byte(1)) {
                (b'(', b'*') => {
                    depth += 1;
                    if depth == MAX_COMMENT_NESTING + 1 {
                        let message = format!("block comments nest more than {MAX_COMMENT_NESTING} deep");
                        self.error(Code::NestedTooDeeply, self.at, self.at + 2, message);
                    }
                    self.at += 2;
                }
                (b'*', b')') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        self.push_comment(start, follows);
                        return;
                    }
                }
                (b'\n', _) => self.comment_line_break(),
                (b'\r', next) => {
                    if next == b'\n' {
                        self.at += 1;
                    } else {
                        self.lone_carriage_return(self.at);
                        self.comment_line_break();
                    }
                }
                (0, _) => self.nul(),
                _ => self.at += 1,
            }
        }
        self.push_comment(start, follows);
        self.out.unclosed = true;
        self.out.open_at_end = true;
        let help = "close it with `*)`; block comments nest";
        self.error_with(Code::UnclosedComment, start, start + 2, "this block comment is not closed", Some(help));
    }

    fn comment_line_break(&mut self) {
        self.line_break();
        self.line_in_comment = true;
    }

    /// Moves past letters, digits and `_`.
    fn skip_word(&mut self) {
        while matches!(self.byte(0), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_') {
            self.at += 1;
        }
    }

    fn word(&mut self) {
        let start = self.at;
        self.skip_word();
        let text = &self.text[start..self.at];
        let kind = if text == "_" {
            TokenKind::Underscore
        } else if let Some(word) = Keyword::from_text(text) {
            TokenKind::Keyword(word)
        } else if let Some((scalar, plural)) = primitive(text) {
            TokenKind::Primitive(scalar, plural)
        } else if text.as_bytes()[0].is_ascii_uppercase() {
            TokenKind::TypeName
        } else {
            TokenKind::Ident
        };
        self.push(kind, start, false);
    }

    fn tine(&mut self) {
        let start = self.at;
        self.at += 1;
        let first = self.byte(0);
        self.skip_word();
        let name = &self.text[start + 1..self.at];
        if Keyword::from_text(name).is_some() || primitive(name).is_some() {
            let message = format!("`{name}` is a reserved word and cannot name a tine");
            self.error(Code::ReservedWord, start, self.at, message);
            self.push(TokenKind::Tine, start, true);
        } else if name != "_" && (first.is_ascii_lowercase() || first == b'_') {
            self.push(TokenKind::Tine, start, false);
        } else {
            let help = "a tine is `#` and a name that starts with a lowercase letter";
            self.error_with(Code::InvalidName, start, self.at, "a tine's name is expected after `#`", Some(help));
            self.push(TokenKind::Error, start, true);
        }
    }

    fn skip_digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn number(&mut self) {
        let start = self.at;
        let problem = if self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X') {
            self.hexadecimal().map(|()| false)
        } else {
            self.decimal()
        };
        let tail = self.at;
        self.skip_word();
        let problem = problem.and_then(|float| if tail == self.at { Ok(float) } else { Err("a letter follows it") });
        match problem {
            Err(reason) => {
                let message = format!("malformed number: {reason}");
                let help = "write `42`, `0x2a`, `1.5` or `1e-3`";
                self.error_with(Code::MalformedNumber, start, self.at, message, Some(help));
                self.push(TokenKind::Error, start, true);
            }
            Ok(true) => self.push(TokenKind::Float, start, false),
            Ok(false) if fits_u64(&self.text[start..self.at]) => self.push(TokenKind::Int, start, false),
            Ok(false) => {
                let message = "this integer exceeds 2^64-1, the largest that any type holds";
                self.error(Code::IntegerTooLarge, start, self.at, message);
                self.push(TokenKind::Error, start, true);
            }
        }
    }

    fn hexadecimal(&mut self) -> Result<(), &'static str> {
        let capital = self.byte(1) == b'X';
        self.at += 2;
        let start = self.at;
        while self.byte(0).is_ascii_hexdigit() {
            self.at += 1;
        }
        if capital {
            return Err("hexadecimal numbers start with a lowercase `0x`");
        }
        if self.byte(0) == b'.' {
            self.at += 1;
            return Err("hexadecimal numbers are integers");
        }
        if self.at == start { Err("a digit is expected after `0x`") } else { Ok(()) }
    }

    /// Reads a decimal number; the result tells whether it is a float.
    fn decimal(&mut self) -> Result<bool, &'static str> {
        self.skip_digits();
        let mut float = false;
        if self.byte(0) == b'.' {
            float = true;
            self.at += 1;
            self.skip_digits();
        }
        if matches!(self.byte(0), b'e' | b'E') {
            float = true;
            self.at += 1;
            if matches!(self.byte(0), b'+' | b'-') {
                self.at += 1;
            }
            if !self.byte(0).is_ascii_digit() {
                return Err("a digit is expected in the exponent");
            }
            self.skip_digits();
        }
        Ok(float)
    }

    fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    self.push(TokenKind::Str, start, false);
                    return;
                }
                b'\n' | b'\r' => break,
                b'\\' if !matches!(self.byte(1), b'\n' | b'\r' | 0) => self.at += 2,
                b'\\' | b'\t' | 0x80.. => self.at += 1,
                byte if byte < b' ' || byte == 0x7f => {
                    let message = "a control character cannot stand in a string";
                    self.error(Code::InvalidCharacter, self.at, self.at + 1, message);
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        self.out.unclosed = true;
        let help = "close it with `\"` on the same line";
        self.error_with(Code::UnclosedString, start, start + 1, "this string is not closed", Some(help));
        self.push(TokenKind::Str, start, true);
    }

    fn sign(&mut self) {
        let start = self.at;
        let two = [self.byte(0), self.byte(1)];
        if let Some(sign) = std::str::from_utf8(&two).ok().and_then(Sign::from_text) {
            self.at += 2;
            self.push(TokenKind::Sign(sign), start, false);
            return;
        }
        if let Some(sign) = std::str::from_utf8(&two[..1]).ok().and_then(Sign::from_text) {
            self.at += 1;
            self.push(TokenKind::Sign(sign), start, false);
            return;
        }
        self.unreadable();
    }

    /// Reports a run of characters that cannot stand outside comments and strings.
    fn unreadable(&mut self) {
        let start = self.at;
        let first = self.text[start..].chars().next().unwrap_or('\0');
        let (message, help) = match first {
            '!' => ("`!` cannot stand here".to_string(), Some("write `not` for negation and `!=` for inequality")),
            '&' => ("`&` cannot stand here".to_string(), Some("write `and`, or `bit_and(a, b)` for bits")),
            '^' => ("`^` cannot stand here".to_string(), Some("write `bit_xor(a, b)`")),
            '~' => ("`~` cannot stand here".to_string(), Some("comments start with `~~`")),
            '\'' => ("`'` cannot stand here".to_string(), Some("strings stand in double quotes")),
            '\0' => ("a NUL byte cannot stand in a source file".to_string(), None),
            '\u{feff}' => ("a byte-order mark can only start a file".to_string(), None),
            other if other.is_ascii_graphic() => (format!("`{other}` cannot stand here"), None),
            other if other.is_ascii() => {
                (format!("the control character U+{:04X} cannot stand here", other as u32), None)
            }
            other => (
                format!("`{}` (U+{:04X}) cannot stand here", other.escape_debug(), other as u32),
                Some("outside comments and strings only ASCII may stand"),
            ),
        };
        self.at += first.len_utf8();
        while let Some(next) = self.text[self.at..].chars().next().filter(|&next| !next.is_ascii() || next == first) {
            self.at += next.len_utf8();
        }
        self.error_with(Code::InvalidCharacter, start, start + first.len_utf8(), message, help);
        self.push(TokenKind::Error, start, true);
    }
}

/// Whether an integer's spelling denotes at most 2^64-1. Looks at no more than 20 significant digits.
fn fits_u64(text: &str) -> bool {
    let (digits, radix, most) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16, 16),
        None => (text, 10, 20),
    };
    let digits = digits.trim_start_matches('0');
    digits.len() <= most && (digits.is_empty() || u64::from_str_radix(digits, radix).is_ok())
}
