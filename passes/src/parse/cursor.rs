//! The parser's state: the place in the tokens, the tree so far, recovery and the nesting bounds.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::span::{Source, Span};
use rake_ir::surface::{Expr, ExprId, ExprKind, File, Name};

use super::sink::Sink;
use super::token::{Keyword, Plural, Sign, Token, TokenKind};

/// Expressions nest at most this deep, and so do bodies.
pub const MAX_NESTING: usize = 256;

/// A parser of one file.
///
/// Its functions always return a node. After an error `failed` is set: nothing more is reported until the statement is
/// left. After too deep nesting `abandoned` is set: the rest of the definition reads as the file's end.
pub struct Parser<'a> {
    pub source: &'a Source,
    pub tokens: Vec<Token>,
    pub at: usize,
    /// The end of the last token taken, layout aside.
    pub last_end: u32,
    pub file: File,
    pub sink: Sink,
    pub failed: bool,
    pub abandoned: bool,
    pub expr_depth: usize,
    pub body_depth: usize,
    /// How many slow blocks are open: `;` separates statements in them.
    pub slow_depth: usize,
    /// The expression that was last parsed in parentheses.
    pub parenthesised: Option<ExprId>,
}

impl<'a> Parser<'a> {
    /// A parser at the first token. The last token must be `Eof`.
    pub fn new(source: &'a Source, tokens: Vec<Token>, sink: Sink) -> Parser<'a> {
        let file = File { id: source.id(), ..File::default() };
        Parser {
            source,
            tokens,
            at: 0,
            last_end: 0,
            file,
            sink,
            failed: false,
            abandoned: false,
            expr_depth: 0,
            body_depth: 0,
            slow_depth: 0,
            parenthesised: None,
        }
    }

    /// The token `ahead` places on.
    pub fn nth(&self, ahead: usize) -> Token {
        let end = self.source.text().len() as u32;
        let eof = Token { kind: TokenKind::Eof, start: end, end, silent: true };
        if self.abandoned {
            return eof;
        }
        self.tokens.get(self.at + ahead).or(self.tokens.last()).copied().unwrap_or(eof)
    }

    /// The next token.
    pub fn peek(&self) -> Token {
        self.nth(0)
    }

    /// The next token's kind.
    pub fn kind(&self) -> TokenKind {
        self.nth(0).kind
    }

    /// Takes the next token. Stays at the file's end.
    pub fn bump(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::Eof {
            self.at += 1;
        }
        if !token.kind.is_layout() {
            self.last_end = token.end;
        }
        self.failed |= token.silent;
        token
    }

    /// A token's text.
    pub fn text(&self, token: Token) -> &'a str {
        self.source.slice(self.span(token))
    }

    /// A token's place.
    pub fn span(&self, token: Token) -> Span {
        token.span(self.file.id)
    }

    /// From the token that starts at `start` to the last token taken.
    pub fn span_from(&self, start: u32) -> Span {
        Span::new(self.file.id, start, self.last_end)
    }

    pub fn at_sign(&self, sign: Sign) -> bool {
        self.kind() == TokenKind::Sign(sign)
    }

    pub fn at_keyword(&self, word: Keyword) -> bool {
        self.kind() == TokenKind::Keyword(word)
    }

    /// Whether the token `ahead` places on is a name spelled `text`.
    pub fn nth_is_word(&self, ahead: usize, text: &str) -> bool {
        let token = self.nth(ahead);
        token.kind == TokenKind::Ident && self.text(token) == text
    }

    pub fn eat_sign(&mut self, sign: Sign) -> bool {
        let found = self.at_sign(sign);
        if found {
            self.bump();
        }
        found
    }

    pub fn eat_keyword(&mut self, word: Keyword) -> bool {
        let found = self.at_keyword(word);
        if found {
            self.bump();
        }
        found
    }

    pub fn expect_sign(&mut self, sign: Sign, place: &str) -> bool {
        self.eat_sign(sign) || self.expected(Code::UnexpectedToken, &format!("`{}` {place}", sign.as_str()))
    }

    pub fn expect_keyword(&mut self, word: Keyword, place: &str) -> bool {
        self.eat_keyword(word) || self.expected(Code::UnexpectedToken, &format!("`{}` {place}", word.as_str()))
    }

    /// Reports, unless the statement has an error already or the place's error is known.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if !self.failed {
            self.sink.report(diagnostic);
        }
        self.failed = true;
        if self.sink.is_full() {
            self.abandoned = true;
        }
    }

    /// Reports that `what` should stand where the next token stands. Always false, for use behind `||`.
    pub fn expected(&mut self, code: Code, what: &str) -> bool {
        self.expected_with(code, what, None)
    }

    /// The same with a help.
    pub fn expected_with(&mut self, code: Code, what: &str, help: Option<&str>) -> bool {
        let token = self.peek();
        self.failed |= token.silent;
        let message = format!("expected {what}, found {}", self.describe(token));
        let mut diagnostic = Diagnostic::error(code, self.span(token), message);
        diagnostic.help = help.map(String::from);
        self.report(diagnostic);
        false
    }

    /// How messages name a token: by its text where it has a short one.
    pub fn describe(&self, token: Token) -> String {
        let text = self.text(token);
        let shown = matches!(
            token.kind,
            TokenKind::Ident | TokenKind::TypeName | TokenKind::Tine | TokenKind::Int | TokenKind::Float
        );
        if shown && text.len() <= 40 { format!("`{text}`") } else { token.kind.to_string() }
    }

    /// A name of a value, function or location. `what` says of what.
    pub fn name(&mut self, what: &str) -> Name {
        let token = self.peek();
        match token.kind {
            TokenKind::Ident => return self.take_name(),
            TokenKind::Keyword(_) | TokenKind::Primitive(..) => {
                self.failed |= token.silent;
                let message = format!("`{}` is a reserved word and cannot be {what}", self.text(token));
                self.report(
                    Diagnostic::error(Code::ReservedWord, self.span(token), message).help("choose another name"),
                );
                return self.take_name();
            }
            TokenKind::TypeName => {
                self.failed |= token.silent;
                let message = format!("`{}` cannot be {what}: it starts with an uppercase letter", self.text(token));
                let help = "uppercase names are types; start this one with a lowercase letter or `_`";
                self.report(Diagnostic::error(Code::InvalidName, self.span(token), message).help(help));
                return self.take_name();
            }
            TokenKind::Underscore => {
                let message = format!("`_` cannot be {what}: it is only the default arm of a sweep");
                self.report(Diagnostic::error(Code::InvalidName, self.span(token), message));
                return self.take_name();
            }
            _ => self.expected(Code::InvalidName, what),
        };
        Name { text: "".into(), span: self.span(self.peek()).at_start() }
    }

    /// The next token as a name, whatever it is.
    pub fn take_name(&mut self) -> Name {
        let token = self.bump();
        Name { text: self.text(token).into(), span: self.span(token) }
    }

    /// A member's name, which may be spelled like a primitive type.
    pub fn member(&mut self, what: &str) -> Name {
        match self.kind() {
            TokenKind::Primitive(_, Plural::Scalar | Plural::Rack) => self.take_name(),
            _ => self.name(what),
        }
    }

    /// The name of a pack, record or union; C's may be lowercase.
    pub fn type_name(&mut self, what: &str) -> Name {
        match self.kind() {
            TokenKind::TypeName | TokenKind::Ident => self.take_name(),
            _ => self.name(what),
        }
    }

    pub fn expr_node(&mut self, span: Span, kind: ExprKind) -> ExprId {
        self.file.exprs.alloc(Expr { span, kind })
    }

    /// A node for an expression that is missing at the next token.
    pub fn error_expr(&mut self) -> ExprId {
        let span = self.span(self.peek()).at_start();
        self.expr_node(span, ExprKind::Error)
    }

    /// Whether `more` levels of expressions fit below the current one; reports when not.
    pub fn fits(&mut self, more: usize) -> bool {
        self.expr_depth + more <= MAX_NESTING || self.too_deep("expressions", "bind inner parts with `let`")
    }

    /// Reports too deep nesting at the next token and abandons the definition. Always false.
    pub fn too_deep(&mut self, what: &str, help: &str) -> bool {
        if !self.abandoned {
            self.failed = self.peek().silent;
            let message = format!("nested too deeply: {what} nest at most {MAX_NESTING} deep");
            let span = self.span(self.peek());
            self.report(Diagnostic::error(Code::NestedTooDeeply, span, message).help(help));
            self.abandoned = true;
        }
        false
    }

    /// Runs `parse` one expression level deeper.
    pub fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> ExprId) -> ExprId {
        if !self.fits(1) {
            return self.error_expr();
        }
        self.expr_depth += 1;
        let expr = parse(self);
        self.expr_depth -= 1;
        expr
    }

    /// Moves to the end of the statement that contains the next token: before its line's end, or after its body.
    pub fn skip_statement(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.kind() {
                TokenKind::Eof => return,
                TokenKind::Newline if depth == 0 => return,
                TokenKind::Sign(Sign::Semicolon) if depth == 0 && self.slow_depth > 0 => return,
                TokenKind::Indent => depth += 1,
                TokenKind::Sign(sign) if sign.closer().is_some() => depth += 1,
                TokenKind::Sign(Sign::RBrace) if depth == 0 && self.slow_depth > 0 => return,
                TokenKind::Dedent if depth == 0 => return,
                TokenKind::Sign(sign) if sign.is_closer() => depth = depth.saturating_sub(1),
                TokenKind::Dedent => {
                    depth -= 1;
                    if depth == 0 && self.nth(1).kind != TokenKind::Keyword(Keyword::Else) {
                        self.at += 1;
                        return;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}
