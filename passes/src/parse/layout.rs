//! Layout: turns indentation into `Newline`, `Indent` and `Dedent`, and balances the brackets.
//!
//! ```text
//! scratch f(x: f32s) -> f32s:      scratch f ( x : f32s ) -> f32s : Indent
//!   let y = (x                     let y = ( x
//!     + x)                         + x ) Newline
//!   y                              y Newline Dedent Eof
//! ```
//!
//! Inside brackets a line break is a space; `slow {` restores layout up to its `}`. After this stage brackets are always
//! balanced: a closer without partner is dropped, a missing one is put in silently, each reported once. A bracket is
//! taken to be missing where a definition starts at the left margin.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::span::{FileId, Span};

use super::lexer::{Lexed, RawToken};
use super::sink::Sink;
use super::token::{Keyword, Sign, Token, TokenKind};

/// Inserts the layout tokens; the last token is `Eof`.
pub fn layout(file: FileId, end: u32, lexed: &Lexed, sink: &mut Sink) -> Vec<Token> {
    let tokens = Vec::with_capacity(lexed.tokens.len() + lexed.tokens.len() / 4 + 2);
    let mut layout = Layout {
        file,
        lexed,
        sink,
        tokens,
        contexts: Vec::new(),
        indents: vec![Indent::margin()],
        line: (0, 0),
        header: false,
    };
    for index in 0..lexed.tokens.len() {
        if layout.sink.is_full() {
            break;
        }
        layout.step(index);
    }
    layout.finish(end);
    layout.tokens
}

const ALIGNS_WITH_NOTHING: &str = "this line aligns with no open body";

/// An open bracket.
struct Context {
    open: Token,
    closer: Sign,
    /// For `slow {`: how many indents were open outside. Others have no layout.
    slow: Option<usize>,
    /// How many tokens stood before the first line break in it.
    first_line: Option<usize>,
}

/// The indentation of an open body.
#[derive(Clone, Copy)]
struct Indent {
    column: u32,
    /// Whether it has an `Indent` token; one that a misplaced line made has none.
    real: bool,
}

impl Indent {
    fn margin() -> Indent {
        Indent { column: 0, real: false }
    }
}

struct Layout<'a> {
    file: FileId,
    lexed: &'a Lexed,
    sink: &'a mut Sink,
    tokens: Vec<Token>,
    contexts: Vec<Context>,
    /// The open bodies of all contexts, the first of each being its margin.
    indents: Vec<Indent>,
    /// The current line's first token: its offset and its indentation.
    line: (u32, u32),
    /// Whether the current logical line is a header that must end in `:`.
    header: bool,
}

impl Layout<'_> {
    fn step(&mut self, index: usize) {
        let raw = self.lexed.tokens[index];
        let token = Token { kind: raw.kind, start: raw.start, end: raw.end, silent: raw.silent };
        if let Some(indentation) = raw.indentation {
            self.line = (raw.start, indentation);
            let tokens = self.tokens.len();
            if let Some(context) = self.contexts.last_mut() {
                context.first_line.get_or_insert(tokens);
            }
        }
        let before = self.tokens.len();
        let abandoned =
            raw.indentation == Some(0) && !self.contexts.is_empty() && starts_definition(&self.lexed.tokens, index);
        if abandoned {
            self.close_all(raw.start);
        }
        self.open_slow_margin(&raw);
        if let (Some(column), true) = (raw.indentation, self.has_layout()) {
            self.line_start(column, &token);
            self.header = opens_header(&self.lexed.tokens, index);
        }
        self.header &= raw.kind != TokenKind::Keyword(Keyword::Then);
        if abandoned {
            self.tokens[before..].iter_mut().for_each(|token| token.silent = true);
        }
        match raw.kind {
            TokenKind::Sign(sign) if sign.closer().is_some() => self.open(sign, token),
            TokenKind::Sign(sign) if sign.is_closer() => self.close(sign, token),
            _ => self.tokens.push(token),
        }
    }

    fn has_layout(&self) -> bool {
        self.contexts.last().is_none_or(|context| context.slow.is_some())
    }

    /// The index of the innermost context's margin in `indents`.
    fn margin(&self) -> usize {
        self.contexts.last().and_then(|context| context.slow).unwrap_or(0)
    }

    /// The first token in the braces of a slow block sets their margin.
    fn open_slow_margin(&mut self, raw: &RawToken) {
        let fresh = self.contexts.last().and_then(|context| context.slow) == Some(self.indents.len());
        if !fresh {
            return;
        }
        let column = self.line.1 + (raw.start - self.line.0);
        self.indents.push(Indent { column, real: false });
    }

    fn line_start(&mut self, column: u32, token: &Token) {
        let Some(&previous) = self.tokens.last() else {
            if column > 0 {
                self.misplaced(column, token, "the first definition is indented");
            }
            return;
        };
        let top = self.top();
        let first_in_slow = self.indents.len() - 1 == self.margin() && self.follows_slow_brace(&previous);
        if first_in_slow || (matches!(token.kind, TokenKind::Sign(Sign::RBrace)) && self.in_slow()) {
            return;
        }
        if self.header && column > top && previous.kind != TokenKind::Sign(Sign::Colon) {
            self.missing_colon(&previous);
        }
        if self.tokens.last().is_some_and(|last| last.kind == TokenKind::Sign(Sign::Colon)) && column > top {
            self.put(TokenKind::Indent, token.start);
            self.indents.push(Indent { column, real: true });
            return;
        }
        self.put(TokenKind::Newline, previous.end);
        if column > top {
            self.misplaced(column, token, "this line is indented more than the one before, which opens no body");
        } else if column < top {
            self.dedent(column, token);
        }
    }

    /// Reports and puts in the `:` of a header before an indented line.
    fn missing_colon(&mut self, previous: &Token) {
        let span = Span::new(self.file, previous.end, previous.end);
        let message = "expected `:` at the end of this line, before the body";
        self.sink.report(Diagnostic::error(Code::UnexpectedToken, span, message));
        let kind = TokenKind::Sign(Sign::Colon);
        self.tokens.push(Token { kind, start: previous.end, end: previous.end, silent: true });
    }

    fn in_slow(&self) -> bool {
        self.contexts.last().is_some_and(|context| context.slow.is_some())
    }

    fn follows_slow_brace(&self, previous: &Token) -> bool {
        self.contexts.last().is_some_and(|context| context.slow.is_some() && context.open.start == previous.start)
    }

    fn top(&self) -> u32 {
        self.indents.last().map_or(0, |indent| indent.column)
    }

    fn dedent(&mut self, column: u32, token: &Token) {
        while self.indents.len() - 1 > self.margin() && self.top() > column {
            let outer = self.indents[self.indents.len() - 2].column;
            if outer < column {
                // Between two bodies: taken for a line of the inner one, from which the next lines follow.
                self.misplaced(column, token, ALIGNS_WITH_NOTHING);
                return;
            }
            self.pop_indent(token.start);
        }
        if self.top() != column {
            self.misplaced(column, token, ALIGNS_WITH_NOTHING);
        }
    }

    fn pop_indent(&mut self, at: u32) {
        if self.indents.pop().is_some_and(|indent| indent.real) {
            self.put(TokenKind::Dedent, at);
        }
    }

    /// Reports a line's indentation and takes it as it is.
    fn misplaced(&mut self, column: u32, token: &Token, message: &str) {
        if self.top() > column {
            if let Some(top) = self.indents.last_mut() {
                top.column = column;
            }
        } else {
            self.indents.push(Indent { column, real: false });
        }
        let help = "indent all lines of a body equally, and more than the line ending in `:` that opens it";
        let diagnostic = Diagnostic::error(Code::UnexpectedIndentation, token.span(self.file), message).help(help);
        self.sink.report(diagnostic);
    }

    fn open(&mut self, sign: Sign, token: Token) {
        let after_slow = self.tokens.last().is_some_and(|last| last.kind == TokenKind::Keyword(Keyword::Slow));
        let slow = (sign == Sign::LBrace && after_slow).then_some(self.indents.len());
        let closer = sign.closer().unwrap_or(sign);
        self.tokens.push(token);
        self.contexts.push(Context { open: token, closer, slow, first_line: None });
    }

    fn close(&mut self, sign: Sign, token: Token) {
        match self.contexts.last() {
            Some(context) if context.closer == sign => self.pop_context(token),
            Some(context) if self.contexts.iter().rev().take(64).any(|outer| outer.closer == sign) => {
                let open = context.open;
                self.unclosed(open);
                while self.contexts.last().is_some_and(|context| context.closer != sign) {
                    self.close_missing(token.start);
                }
                self.pop_context(token);
            }
            _ => {
                let message = format!("this `{}` closes nothing", sign.as_str());
                let diagnostic = Diagnostic::error(Code::UnmatchedBracket, token.span(self.file), message);
                self.sink.report(diagnostic);
                self.tokens.push(Token { kind: TokenKind::Error, silent: true, ..token });
            }
        }
    }

    /// Ends the innermost context with its closer.
    fn pop_context(&mut self, closer: Token) {
        let Some(context) = self.contexts.pop() else { return };
        if let Some(outer) = context.slow {
            let nested = self.indents.len() > outer + 1;
            if nested && !self.tokens.last().is_some_and(|last| last.kind == TokenKind::Newline) {
                self.put(TokenKind::Newline, closer.start);
            }
            while self.indents.len() > outer {
                self.pop_indent(closer.start);
            }
        }
        self.tokens.push(closer);
    }

    /// Puts in the innermost context's missing closer.
    fn close_missing(&mut self, at: u32) {
        if let Some(context) = self.contexts.last() {
            let kind = TokenKind::Sign(context.closer);
            self.pop_context(Token { kind, start: at, end: at, silent: true });
        }
    }

    /// Reports the innermost open bracket, unless an open string or comment explains it, and closes them all.
    fn close_all(&mut self, at: u32) {
        if let Some(context) = self.contexts.last() {
            let (open, rest) = (context.open, context.first_line.unwrap_or(self.tokens.len()));
            self.unclosed(open);
            // The lines behind it were not meant to continue it, so what does not fit there is no news.
            self.tokens[rest..].iter_mut().for_each(|token| token.silent = true);
        }
        while !self.contexts.is_empty() {
            self.close_missing(at);
        }
    }

    fn unclosed(&mut self, open: Token) {
        if self.lexed.unclosed {
            return;
        }
        let TokenKind::Sign(sign) = open.kind else { return };
        let closer = sign.closer().unwrap_or(sign).as_str();
        let message = format!("this `{}` is not closed", sign.as_str());
        let span = Span::new(self.file, open.start, open.end);
        let help = format!("close it with `{closer}`");
        self.sink.report(Diagnostic::error(Code::UnclosedBracket, span, message).help(help));
    }

    fn put(&mut self, kind: TokenKind, at: u32) {
        self.tokens.push(Token { kind, start: at, end: at, silent: false });
    }

    fn finish(&mut self, end: u32) {
        let silent = self.lexed.open_at_end || !self.contexts.is_empty();
        let first = self.tokens.len();
        self.close_all(end);
        if let Some(last) = self.tokens.last() {
            let at = last.end;
            self.put(TokenKind::Newline, at);
        }
        while !self.indents.is_empty() {
            self.pop_indent(end);
        }
        self.put(TokenKind::Eof, end);
        for token in &mut self.tokens[first..] {
            token.silent |= silent;
        }
    }
}

/// Whether the token at the left margin can only start a definition, even where a bracket is open.
fn starts_definition(tokens: &[RawToken], index: usize) -> bool {
    let TokenKind::Keyword(word) = tokens[index].kind else { return false };
    let next = tokens.get(index + 1).map(|token| token.kind);
    let previous = index.checked_sub(1).map(|index| tokens[index].kind);
    match word {
        Keyword::Extern => next == Some(TokenKind::Keyword(Keyword::Slow)),
        Keyword::TineWord => next == Some(TokenKind::Tine),
        // `ptr const T` over two lines.
        Keyword::Const if previous == Some(TokenKind::Keyword(Keyword::Ptr)) => false,
        word => word.starts_definition() && matches!(next, Some(TokenKind::Ident | TokenKind::TypeName)),
    }
}

/// Whether the token at a line's start begins a header that ends in `:`.
fn opens_header(tokens: &[RawToken], index: usize) -> bool {
    use Keyword::*;
    let next = tokens.get(index + 1).map(|token| token.kind);
    match tokens[index].kind {
        TokenKind::Keyword(Slow) => next == Some(TokenKind::Ident),
        TokenKind::Keyword(word) => {
            matches!(word, Scratch | Rake | Run | If | Else | While | For | Repeat | Through | Sweep)
        }
        _ => false,
    }
}
