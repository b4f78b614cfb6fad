//! Definitions, parameters and fields.

use rake_ir::diag::Code;
use rake_ir::surface::{Def, DefKind, FieldGroup, Function, Name, Param, Str};

use super::cursor::Parser;
use super::token::{Keyword, Sign, TokenKind};

impl Parser<'_> {
    /// All definitions of the file.
    pub fn definitions(&mut self) {
        while self.kind() != TokenKind::Eof {
            if matches!(self.kind(), TokenKind::Newline | TokenKind::Dedent) {
                self.at += 1;
                continue;
            }
            let start = self.at;
            self.failed = false;
            self.definition();
            if self.abandoned && !self.sink.is_full() {
                self.abandoned = false;
                self.at = start;
                self.skip_statement();
            }
            // Whatever happens, a token is taken.
            self.at = self.at.max(start + 1).min(self.tokens.len() - 1);
        }
    }

    fn definition(&mut self) {
        let (start, first) = (self.peek(), self.at);
        let TokenKind::Keyword(word) = start.kind else { return self.no_definition() };
        if !word.starts_definition() {
            return self.no_definition();
        }
        self.bump();
        let (name, kind) = self.definition_after(word);
        let span = self.span_from(start.start);
        self.file.defs.push(Def { span, name, kind });
        self.end_statement(first);
    }

    fn no_definition(&mut self) {
        let help = match self.kind() {
            TokenKind::Keyword(Keyword::Let) => "a constant of the whole file is `const name: T = value`",
            _ => {
                "definitions start with `scratch`, `rake`, `tine`, `run`, `pack`, `slow`, `extern slow`, `record`, \
                  `union`, `state`, `embed` or `const`"
            }
        };
        self.expected_with(Code::ExpectedDefinition, "a definition", Some(help));
        self.skip_statement();
    }

    fn definition_after(&mut self, word: Keyword) -> (Name, DefKind) {
        match word {
            Keyword::Scratch => self.function("a scratch's name", DefKind::Scratch),
            Keyword::Rake => self.function("a rake's name", DefKind::Rake),
            Keyword::Run => self.function("a run's name", DefKind::Run),
            Keyword::Slow => self.function("a slow function's name", DefKind::Slow),
            Keyword::Extern => self.extern_slow(),
            Keyword::TineWord => self.global_tine(),
            Keyword::Pack => self.pack(),
            Keyword::Record => self.aggregate(false),
            Keyword::Union => self.aggregate(true),
            Keyword::State => self.state(),
            Keyword::Embed => {
                let name = self.name("the embedded file's name");
                self.expect_keyword(Keyword::From, "before the embedded file's path");
                (name, DefKind::Embed { path: self.string("the file's path in quotes") })
            }
            _ => {
                let name = self.name("a constant's name");
                self.expect_sign(Sign::Colon, "and the constant's type");
                let ty = self.ty();
                self.expect_sign(Sign::Eq, "before the constant's value");
                (name, DefKind::Const { ty, value: self.expr() })
            }
        }
    }

    fn function(&mut self, what: &str, kind: fn(Function) -> DefKind) -> (Name, DefKind) {
        let name = self.name(what);
        let params = self.params();
        let result = self.result_type();
        let body = self.body();
        (name, kind(Function { params, result, body }))
    }

    fn extern_slow(&mut self) -> (Name, DefKind) {
        self.expect_keyword(Keyword::Slow, "after `extern`");
        let name = self.name("a C function's name");
        let params = self.params();
        let result = self.result_type();
        self.expect_keyword(Keyword::From, "before the C header");
        let header = self.string("the C header in quotes");
        (name, DefKind::ExternSlow { params, result, header })
    }

    fn global_tine(&mut self) -> (Name, DefKind) {
        let name = self.tine_name();
        let params = self.params();
        self.expect_keyword(Keyword::Means, "before the tine's predicate");
        (name, DefKind::Tine { params, predicate: self.expr() })
    }

    /// `#name`.
    pub fn tine_name(&mut self) -> Name {
        let token = self.peek();
        if token.kind == TokenKind::Tine {
            self.bump();
            let text = self.text(token).trim_start_matches('#').into();
            return Name { text, span: self.span(token) };
        }
        self.expected(Code::InvalidName, "a tine's name, `#name`");
        Name { text: "".into(), span: self.span(token).at_start() }
    }

    fn pack(&mut self) -> (Name, DefKind) {
        let name = self.type_name("a pack's name");
        self.require_uppercase(&name, "a pack");
        (name, DefKind::Pack { groups: self.field_groups() })
    }

    fn aggregate(&mut self, union: bool) -> (Name, DefKind) {
        let name = self.type_name(if union { "a union's name" } else { "a record's name" });
        let header = self.eat_keyword(Keyword::From).then(|| self.string("the C header in quotes"));
        if header.is_none() && !self.failed {
            self.require_uppercase(&name, if union { "a union" } else { "a record" });
        }
        let groups = self.field_groups();
        let kind = if union { DefKind::Union { header, groups } } else { DefKind::Record { header, groups } };
        (name, kind)
    }

    fn state(&mut self) -> (Name, DefKind) {
        let name = self.name("a state's name");
        self.expect_sign(Sign::Colon, "and the state's type");
        let ty = self.ty();
        let value = self.eat_sign(Sign::Becomes).then(|| self.expr());
        (name, DefKind::State { ty, value })
    }

    fn string(&mut self, what: &str) -> Str {
        let token = self.peek();
        if token.kind != TokenKind::Str {
            self.expected(Code::UnexpectedToken, what);
            return Str { raw: "".into(), span: self.span(token).at_start() };
        }
        self.take_string()
    }

    /// The next token as a string.
    pub fn take_string(&mut self) -> Str {
        let token = self.bump();
        let text = self.text(token);
        let text = text.strip_prefix('"').unwrap_or(text);
        // A string that is not closed has no second quote to take off.
        let raw = if token.silent { text } else { text.strip_suffix('"').unwrap_or(text) };
        Str { raw: raw.into(), span: self.span(token) }
    }

    /// `{ T: field, field; ... }`; the last `;` may be left out.
    fn field_groups(&mut self) -> Vec<FieldGroup> {
        let mut groups = Vec::new();
        if !self.expect_sign(Sign::LBrace, "before the fields") {
            return groups;
        }
        while !self.failed && !self.at_sign(Sign::RBrace) {
            let start = self.peek().start;
            let ty = self.ty();
            self.expect_sign(Sign::Colon, "between the fields' type and their names");
            let mut names = vec![self.member("a field's name")];
            while self.eat_sign(Sign::Comma) {
                names.push(self.member("a field's name"));
            }
            groups.push(FieldGroup { span: self.span_from(start), ty, names });
            if !self.eat_sign(Sign::Semicolon) {
                break;
            }
        }
        self.close_list(Sign::RBrace, "or `;` after the fields");
        groups
    }

    /// `(param, ...)`.
    fn params(&mut self) -> Vec<Param> {
        let mut params = Vec::new();
        if !self.expect_sign(Sign::LParen, "before the parameters") {
            return params;
        }
        while !self.failed && !self.at_sign(Sign::RParen) {
            params.push(self.param());
            if !self.eat_sign(Sign::Comma) {
                break;
            }
        }
        self.close_list(Sign::RParen, "or `,` after a parameter");
        params
    }

    fn param(&mut self) -> Param {
        let start = self.peek().start;
        let uniform = self.eat_sign(Sign::Lt);
        let name = self.name("a parameter's name");
        self.expect_sign(Sign::Colon, "and the parameter's type");
        let mutable = self.eat_keyword(Keyword::Mut);
        let ty = self.ty();
        if uniform {
            self.close_mark();
        }
        Param { span: self.span_from(start), name, uniform, mutable, ty }
    }
}
