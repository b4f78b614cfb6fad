//! The lexer and the line grammar of every IR dump that reads back.
//!
//! A dump is a sequence of lines: three header lines (`rake tined 1`, `profile x86-avx2`, `fuse full`), then blocks that a
//! line ending in `{` opens and a line `}` closes. Indentation and blank lines mean nothing; `~~` starts a comment, which
//! on a value's line is the value's source name. A reader takes [`Lines`] one by one and each [`Line`] token by token:
//!
//! ```text
//! %3 : f32s = fma %0, %1, %2 if %7      ~~ moved
//! ```

use crate::diag::{Code, Diagnostic};
use crate::lane::FuseLevel;
use crate::profile::Profile;
use crate::span::{FileId, Span};
use crate::types::{Elem, Ty};
use crate::value::parse_literal;

/// A failure to read, pointing into the dump.
pub type Result<T> = std::result::Result<T, Diagnostic>;

/// The version that the first line of each dump names.
pub const VERSION: u32 = 1;

/// The column, from 0, at which a line's trailing comment starts when the line is short enough.
const NOTE_COLUMN: usize = 41;

/// The three header lines of a dump.
pub fn header(ir: &str, profile: Profile, fuse: FuseLevel) -> String {
    format!("rake {ir} {VERSION}\nprofile {profile}\nfuse {}\n", fuse.name())
}

/// Ends the last line of `out` (which starts at byte `start`) with the comment, aligned where the line is short.
pub fn push_note(out: &mut String, start: usize, note: Option<&str>) {
    if let Some(note) = note {
        let width = out.len().saturating_sub(start);
        out.extend(std::iter::repeat_n(' ', NOTE_COLUMN.saturating_sub(width).max(1)));
        out.push_str("~~ ");
        out.push_str(note);
    }
    out.push('\n');
}

/// One token of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    /// A letter or `_`, then letters, digits, `_` and `.`.
    Word(&'a str),
    /// `%` and a decimal number.
    Value(u32),
    /// A digit, or `-` and a digit, then everything that belongs to a number.
    Number(&'a str),
    /// `->`, or one other character.
    Sign(&'a str),
    /// The end of the line.
    End,
}

/// The lines of a dump, blank and comment-only ones left out.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    text: &'a str,
    file: FileId,
    at: usize,
}

impl<'a> Lines<'a> {
    /// All lines of a dump.
    pub fn new(text: &'a str, file: FileId) -> Lines<'a> {
        Lines { text, file, at: 0 }
    }

    /// The next line without taking it.
    pub fn peek(&self) -> Option<Line<'a>> {
        self.clone().next()
    }

    /// The next line.
    ///
    /// # Errors
    /// When the dump ends, naming what should have come.
    pub fn expect(&mut self, what: &str) -> Result<Line<'a>> {
        let end = self.text.len() as u32;
        self.next().ok_or_else(|| malformed(Span::new(self.file, end, end), format!("the dump ends before {what}")))
    }

    /// Reads the three header lines of a dump of `ir`.
    ///
    /// # Errors
    /// When the dump is of another IR or version, or names no profile or freedom that exists.
    pub fn header(&mut self, ir: &str) -> Result<(Profile, FuseLevel)> {
        let mut line = self.expect("its header")?;
        let start = line.span();
        let good = line.keyword("rake") && line.keyword(ir) && line.number::<u32>() == Ok(VERSION) && line.at_end();
        if !good {
            return Err(Diagnostic::error(Code::WrongDump, start, format!("this is not a dump of `{ir}`"))
                .help(format!("its first line has to be `rake {ir} {VERSION}`")));
        }
        let mut line = self.expect("the line `profile`")?;
        line.expect_keyword("profile")?;
        let profile = line.dashed()?;
        let known = Profile::from_name(profile.1);
        let profile = known.ok_or_else(|| {
            let names: Vec<_> = Profile::all().map(Profile::name).collect();
            malformed(profile.0, format!("`{}` is no profile", profile.1)).help(format!("one of {}", names.join(", ")))
        })?;
        line.end()?;
        let mut line = self.expect("the line `fuse`")?;
        line.expect_keyword("fuse")?;
        let at = line.span();
        let level = FuseLevel::from_name(line.word("a level")?);
        let level = level.ok_or_else(|| malformed(at, "the freedom is `exact`, `contract` or `full`"))?;
        line.end()?;
        Ok((profile, level))
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        while self.at < self.text.len() {
            let start = self.at;
            let rest = &self.text[start..];
            let length = rest.find('\n').unwrap_or(rest.len());
            self.at = start + length + 1;
            let whole = &rest[..length];
            let (code, note) = match whole.find("~~") {
                Some(at) => (&whole[..at], Some(whole[at + 2..].trim())),
                None => (whole, None),
            };
            if !code.trim().is_empty() {
                let note = note.filter(|n| !n.is_empty());
                return Some(Line { code: code.trim_end(), note, file: self.file, start, at: 0 });
            }
        }
        None
    }
}

/// A line being read, token by token.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    code: &'a str,
    note: Option<&'a str>,
    file: FileId,
    start: usize,
    at: usize,
}

impl<'a> Line<'a> {
    /// The comment at its end, trimmed; `None` when empty.
    pub fn note(&self) -> Option<&'a str> {
        self.note
    }

    /// The next token without taking it.
    pub fn peek(&self) -> Token<'a> {
        self.scan().0
    }

    /// Takes the next token.
    pub fn bump(&mut self) -> Token<'a> {
        let (token, end) = self.scan();
        self.at = end;
        token
    }

    /// Where the next token stands.
    pub fn span(&self) -> Span {
        let (_, end) = self.scan();
        let start = self.at + (self.code[self.at..].len() - self.code[self.at..].trim_start().len());
        Span::new(self.file, (self.start + start) as u32, (self.start + end) as u32)
    }

    /// The whole line without indentation and comment.
    pub fn whole(&self) -> Span {
        let indent = self.code.len() - self.code.trim_start().len();
        Span::new(self.file, (self.start + indent) as u32, (self.start + self.code.len()) as u32)
    }

    /// The next token, which ends at the second value's byte.
    fn scan(&self) -> (Token<'a>, usize) {
        let rest = &self.code[self.at..];
        let text = rest.trim_start();
        let base = self.at + rest.len() - text.len();
        let bytes = text.as_bytes();
        let span_of = |keep: &dyn Fn(usize, u8) -> bool| {
            bytes.iter().enumerate().find(|&(i, &b)| !keep(i, b)).map_or(bytes.len(), |(i, _)| i)
        };
        let digit_at = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
        let (token, length) = match bytes.first() {
            None => (Token::End, 0),
            Some(b) if b.is_ascii_alphabetic() || *b == b'_' => {
                let length = span_of(&|_, b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
                (Token::Word(&text[..length]), length)
            }
            Some(b'%') if digit_at(1) => {
                let length = 1 + bytes[1..].iter().take_while(|b| b.is_ascii_digit()).count();
                match text[1..length].parse() {
                    Ok(number) => (Token::Value(number), length),
                    Err(_) => (Token::Sign("%"), 1),
                }
            }
            Some(b) if b.is_ascii_digit() || *b == b'-' && digit_at(1) => {
                let hex = text.starts_with("0x");
                let exponent = |i: usize| !hex && i > 0 && matches!(bytes[i - 1], b'e' | b'E');
                let length = span_of(&|i, b| match b {
                    b'-' | b'+' => i == 0 || exponent(i),
                    _ => b.is_ascii_alphanumeric() || b == b'.',
                });
                (Token::Number(&text[..length]), length)
            }
            Some(_) => {
                let length = if text.starts_with("->") { 2 } else { text.chars().next().map_or(0, char::len_utf8) };
                (Token::Sign(&text[..length]), length)
            }
        };
        (token, base + length)
    }

    /// A diagnostic at the next token.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        malformed(self.span(), message)
    }

    /// "expected `what`", naming what stands there instead.
    pub fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.peek() {
            Token::Word(text) | Token::Number(text) | Token::Sign(text) => format!("`{text}`"),
            Token::Value(number) => format!("`%{number}`"),
            Token::End => "the end of the line".into(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// Whether nothing is left.
    pub fn at_end(&self) -> bool {
        self.peek() == Token::End
    }

    /// Takes the end of the line.
    ///
    /// # Errors
    /// When something is left.
    pub fn end(&self) -> Result<()> {
        if self.at_end() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// Takes this sign if it stands next.
    pub fn sign(&mut self, sign: &str) -> bool {
        self.take_if(self.peek() == Token::Sign(sign))
    }

    /// Takes this word if it stands next.
    pub fn keyword(&mut self, word: &str) -> bool {
        self.take_if(self.peek() == Token::Word(word))
    }

    fn take_if(&mut self, holds: bool) -> bool {
        if holds {
            self.bump();
        }
        holds
    }

    /// Takes this sign.
    ///
    /// # Errors
    /// When it does not stand next.
    pub fn expect(&mut self, sign: &str) -> Result<()> {
        if self.sign(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// Takes this word.
    ///
    /// # Errors
    /// When it does not stand next.
    pub fn expect_keyword(&mut self, word: &str) -> Result<()> {
        if self.keyword(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// Takes any word.
    ///
    /// # Errors
    /// When no word stands next, saying `what` it would have been.
    pub fn word(&mut self, what: &str) -> Result<&'a str> {
        match self.peek() {
            Token::Word(text) => {
                self.bump();
                Ok(text)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Takes words, numbers and `-` that touch each other, `x86-avx2`; with where they stand.
    fn dashed(&mut self) -> Result<(Span, &'a str)> {
        let mut span = self.span();
        self.word("a profile")?;
        let start = span.start as usize - self.start;
        let more = self.code[self.at..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
        self.at += more;
        span.end += more as u32;
        Ok((span, &self.code[start..self.at]))
    }

    /// Takes a value's number, `%3`.
    ///
    /// # Errors
    /// When none stands next.
    pub fn value(&mut self) -> Result<u32> {
        match self.peek() {
            Token::Value(number) => {
                self.bump();
                Ok(number)
            }
            _ => Err(self.expected("a value such as `%0`")),
        }
    }

    /// Takes a decimal number of this type.
    ///
    /// # Errors
    /// When none stands next or it does not fit.
    pub fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        match self.peek() {
            Token::Number(text) => {
                let number = text.parse().map_err(|_| self.error(format!("`{text}` does not fit here")))?;
                self.bump();
                Ok(number)
            }
            _ => Err(self.expected("a number")),
        }
    }

    /// Takes a literal of an element and gives its bits.
    ///
    /// # Errors
    /// When none stands next or the element does not hold it.
    pub fn literal(&mut self, elem: Elem) -> Result<u64> {
        match self.peek() {
            Token::Number(text) | Token::Word(text) => {
                let bits = parse_literal(elem, text);
                let bits = bits.ok_or_else(|| self.error(format!("`{text}` is no literal of `{elem}`")))?;
                self.bump();
                Ok(bits)
            }
            _ => Err(self.expected("a literal")),
        }
    }

    /// Takes a type: `f32s`, `mask`, `<i32>`.
    ///
    /// # Errors
    /// When none stands next.
    pub fn ty(&mut self) -> Result<Ty> {
        let wrong = self.expected("a type");
        let uniform = self.sign("<");
        let word = self.word("a type")?;
        let ty = if uniform {
            self.expect(">")?;
            Elem::from_name(word).map(Ty::Uniform)
        } else {
            Ty::from_name(word)
        };
        ty.ok_or(wrong)
    }

    /// Takes everything up to the next space.
    ///
    /// # Errors
    /// When nothing is left, saying `what` it would have been.
    pub fn until_space(&mut self, what: &str) -> Result<&'a str> {
        let missing = self.expected(what);
        let rest = &self.code[self.at..];
        let text = rest.trim_start();
        let length = text.find(char::is_whitespace).unwrap_or(text.len());
        self.at += rest.len() - text.len() + length;
        if length == 0 { Err(missing) } else { Ok(&text[..length]) }
    }

    /// Takes everything that is left, trimmed.
    pub fn rest(&mut self) -> &'a str {
        let rest = self.code[self.at..].trim();
        self.at = self.code.len();
        rest
    }
}

/// A diagnostic on a dump that cannot be read.
pub fn malformed(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::MalformedDump, span, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line<'_> {
        Lines::new(text, FileId(0)).next().unwrap()
    }

    #[test]
    fn a_line_splits_into_tokens() {
        let mut line = line("  %3 : <f32> = fma %0, -1.5e-3, [0x7f, 2] -> {k1.x}  ~~ a name ");
        use Token::{End, Number, Sign, Value, Word};
        let expected = [
            Value(3),
            Sign(":"),
            Sign("<"),
            Word("f32"),
            Sign(">"),
            Sign("="),
            Word("fma"),
            Value(0),
            Sign(","),
            Number("-1.5e-3"),
            Sign(","),
            Sign("["),
            Number("0x7f"),
            Sign(","),
            Number("2"),
            Sign("]"),
            Sign("->"),
            Sign("{"),
            Word("k1.x"),
            Sign("}"),
            End,
            End,
        ];
        assert_eq!(line.note(), Some("a name"));
        assert_eq!(expected.map(|_| line.bump()), expected);
    }

    #[test]
    fn spans_point_at_tokens() {
        let mut line = Lines::new("\n~~ x\n  ab  cd", FileId(0)).next().unwrap();
        assert_eq!((line.span().start, line.span().end), (8, 10));
        line.bump();
        assert_eq!((line.span().start, line.span().end), (12, 14));
        assert_eq!((line.whole().start, line.whole().end), (8, 14));
        line.bump();
        assert!(line.at_end());
    }

    #[test]
    fn headers_are_checked() {
        let good = "rake tined 1\nprofile x86-avx2\nfuse full\n";
        let read = Lines::new(good, FileId(0)).header("tined");
        assert_eq!(read, Ok((Profile::X86Avx2, FuseLevel::Full)));
        assert_eq!(header("tined", Profile::X86Avx2, FuseLevel::Full), good);
        let code = |text: &str| Lines::new(text, FileId(0)).header("tined").unwrap_err().code;
        assert_eq!(code("rake fused 1\nprofile x86-avx2\nfuse full\n"), Code::WrongDump);
        assert_eq!(code("rake tined 2\nprofile x86-avx2\nfuse full\n"), Code::WrongDump);
        assert_eq!(code("rake tined 1\nprofile x86-avx3\nfuse full\n"), Code::MalformedDump);
        assert_eq!(code("rake tined 1\nprofile x86-avx2 7\nfuse full\n"), Code::MalformedDump);
        assert_eq!(code("rake tined 1\nprofile x86-avx2\n"), Code::MalformedDump);
        assert_eq!(code(""), Code::MalformedDump);
    }

    #[test]
    fn odd_bytes_are_signs() {
        let mut odd = line("é%99999999999 -");
        assert_eq!(odd.bump(), Token::Sign("é"));
        assert_eq!(odd.bump(), Token::Sign("%"));
        assert_eq!(odd.bump(), Token::Number("99999999999"));
        assert_eq!(odd.bump(), Token::Sign("-"));
        assert!(line("<f32").ty().is_err());
        assert!(line("bools").ty().is_err());
        assert_eq!(line("<bool>").ty(), Ok(Ty::TRUTH));
        assert_eq!(line("0x80000000").literal(Elem::F32), Ok(0x8000_0000));
    }
}
