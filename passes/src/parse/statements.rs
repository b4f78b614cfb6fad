//! Bodies and statements.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::surface::{Arm, Block, ExprId, ExprKind, FieldInit, Loop, Stage, Stmt, StmtId, StmtKind};

use super::cursor::{MAX_NESTING, Parser};
use super::token::{Keyword, Sign, TokenKind};

impl Parser<'_> {
    /// `:` and the body that it opens.
    pub fn body(&mut self) -> Block {
        if !self.open_body() {
            return Block { span: self.span(self.peek()).at_start(), stmts: Vec::new() };
        }
        let (block, _) = self.block();
        self.close_body();
        block
    }

    /// Takes the `:` and the `Indent` behind it. After an error in the header it is looked for on the line.
    fn open_body(&mut self) -> bool {
        let colon = self.peek();
        if !self.at_sign(Sign::Colon) {
            self.expected(Code::UnexpectedToken, "`:` before the body");
            self.skip_header();
        }
        let found = self.eat_sign(Sign::Colon);
        if self.kind() != TokenKind::Indent {
            if found {
                let token = self.peek();
                self.failed |= token.silent;
                let message = "a body is missing after this `:`";
                let help = "the body stands on the following lines, indented more than this one";
                self.report(Diagnostic::error(Code::ExpectedBody, self.span(colon), message).help(help));
            }
            return false;
        }
        if self.body_depth == MAX_NESTING {
            return self.too_deep("bodies", "move inner parts to definitions of their own");
        }
        self.bump();
        self.body_depth += 1;
        self.failed = false;
        true
    }

    fn close_body(&mut self) {
        self.body_depth -= 1;
        self.failed = false;
        if self.kind() == TokenKind::Dedent {
            self.bump();
        } else if !self.abandoned {
            // A closer that belongs to nothing: what is left of the body is skipped.
            self.skip_body_rest();
        }
    }

    /// Moves to the `:` before an `Indent` on this line, or to the line's end.
    fn skip_header(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.kind() {
                TokenKind::Eof | TokenKind::Dedent | TokenKind::Indent => return,
                TokenKind::Newline if depth == 0 => return,
                TokenKind::Sign(Sign::Colon) if self.nth(1).kind == TokenKind::Indent && depth == 0 => return,
                TokenKind::Sign(sign) if sign.closer().is_some() => depth += 1,
                TokenKind::Sign(sign) if sign.is_closer() && depth == 0 => return,
                TokenKind::Sign(sign) if sign.is_closer() => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn skip_body_rest(&mut self) {
        while !matches!(self.kind(), TokenKind::Dedent | TokenKind::Eof | TokenKind::Sign(Sign::RBrace)) {
            let before = self.at;
            self.skip_statement();
            self.at += usize::from(self.at == before);
        }
        if self.kind() == TokenKind::Dedent {
            self.at += 1;
        }
    }

    /// Statements up to the body's end; tells whether a `;` ended the last one.
    pub fn block(&mut self) -> (Block, bool) {
        let mut block = Block { span: self.span(self.peek()).at_start(), stmts: Vec::new() };
        let start = self.peek().start;
        let mut semicolon = false;
        loop {
            match self.kind() {
                TokenKind::Newline => {
                    self.bump();
                }
                TokenKind::Dedent | TokenKind::Eof | TokenKind::Sign(Sign::RBrace) => break,
                _ => {
                    let before = self.at;
                    self.failed = false;
                    let stmt = self.statement();
                    block.stmts.push(stmt);
                    block.span = self.span_from(start);
                    semicolon = self.end_statement(before);
                    if self.at == before && !self.abandoned {
                        self.at += 1;
                    }
                }
            }
        }
        (block, semicolon)
    }

    /// Takes the end of the statement whose first token is `start`, after an error also what stands before it. Tells
    /// whether it was a `;`.
    pub fn end_statement(&mut self, start: usize) -> bool {
        let after_body = self.at > start && self.tokens[self.at - 1].kind == TokenKind::Dedent;
        if after_body || self.abandoned {
            return false;
        }
        if !self.at_statement_end() {
            let help = self.end_help();
            self.expected_with(Code::UnexpectedToken, "the end of the line", help);
            self.skip_statement();
        }
        match self.kind() {
            TokenKind::Newline => {
                self.bump();
                false
            }
            TokenKind::Sign(Sign::Semicolon) => {
                self.bump();
                true
            }
            _ => false,
        }
    }

    fn at_statement_end(&self) -> bool {
        match self.kind() {
            TokenKind::Newline | TokenKind::Dedent | TokenKind::Eof => true,
            TokenKind::Sign(Sign::Semicolon | Sign::RBrace) => self.slow_depth > 0,
            _ => false,
        }
    }

    fn end_help(&self) -> Option<&'static str> {
        match self.kind() {
            TokenKind::Sign(Sign::Semicolon) => {
                Some("each statement has its own line; `;` separates them only in `slow { }`")
            }
            TokenKind::Sign(Sign::LParen) => Some("only names are called; bind the function to a name first"),
            TokenKind::Sign(Sign::Becomes) => Some("a new location is `name := e` or `name: T := e`"),
            TokenKind::Keyword(Keyword::Else) => Some("`else` belongs to an `if`: `if c then a else b`"),
            _ => None,
        }
    }

    fn statement(&mut self) -> StmtId {
        let start = self.peek();
        let kind = match start.kind {
            TokenKind::Keyword(Keyword::Let) => self.let_statement(),
            TokenKind::Sign(Sign::Bar) => self.region(),
            TokenKind::Keyword(Keyword::TineWord) => {
                self.bump();
                let name = self.tine_name();
                self.expect_keyword(Keyword::Means, "before the tine's predicate");
                StmtKind::Tine { name, predicate: self.expr() }
            }
            TokenKind::Keyword(Keyword::Through) => self.through(),
            TokenKind::Keyword(Keyword::Sweep) => self.sweep(),
            TokenKind::Keyword(Keyword::Repeat) => StmtKind::Repeat(self.counted_loop(false)),
            TokenKind::Keyword(Keyword::For) => StmtKind::For(self.counted_loop(true)),
            TokenKind::Keyword(Keyword::If) => self.if_statement(),
            TokenKind::Keyword(Keyword::While) => {
                self.bump();
                let condition = self.expr();
                StmtKind::While { condition, body: self.body() }
            }
            TokenKind::Keyword(Keyword::Return) => {
                self.bump();
                let ends = self.at_statement_end();
                StmtKind::Return(if ends { None } else { Some(self.expr()) })
            }
            TokenKind::Keyword(Keyword::Break) => {
                self.bump();
                StmtKind::Break
            }
            TokenKind::Keyword(Keyword::Continue) => {
                self.bump();
                StmtKind::Continue
            }
            TokenKind::Ident => self.named_statement(),
            _ => self.place_or_expression(),
        };
        let span = self.span_from(start.start);
        self.file.stmts.alloc(Stmt { span, kind })
    }

    /// `let name [: T] = e`, `let <name [: T]> = e`.
    fn let_statement(&mut self) -> StmtKind {
        self.bump();
        let uniform = self.eat_sign(Sign::Lt);
        let name = self.name("a value's name");
        let ty = self.annotation();
        if uniform {
            self.close_mark();
        }
        if self.at_sign(Sign::Becomes) {
            let help = "`let name = e` binds a value; a mutable location is `name := e` without `let`";
            self.expected_with(Code::UnexpectedToken, "`=`", Some(help));
        }
        self.expect_sign(Sign::Eq, "before the value");
        StmtKind::Let { name, uniform, ty, value: self.expr() }
    }

    /// Consecutive fused bindings. The last one's end is left to the caller.
    fn region(&mut self) -> StmtKind {
        let mut stages = vec![self.stage()];
        while self.at_statement_end() && self.nth(1).kind == TokenKind::Sign(Sign::Bar) && !self.abandoned {
            if !matches!(self.kind(), TokenKind::Newline | TokenKind::Sign(Sign::Semicolon)) {
                break;
            }
            self.bump();
            self.failed = false;
            stages.push(self.stage());
            if self.failed && !self.at_statement_end() {
                self.skip_statement();
            }
        }
        StmtKind::Region(stages)
    }

    /// `| name [: T] <| e`.
    fn stage(&mut self) -> Stage {
        let start = self.bump().start;
        let name = self.name("a stage's name");
        let ty = self.annotation();
        if self.at_sign(Sign::FatArrow) {
            let help = "a fused binding is `| name <| e`; arms `| P => e` stand in the body of `sweep:`";
            self.expected_with(Code::UnexpectedToken, "`<|`", Some(help));
        }
        self.expect_sign(Sign::FlowsInto, "before the stage's expression");
        let value = self.expr();
        Stage { span: self.span_from(start), name, ty, value }
    }

    /// `through P [else u] into name:`.
    fn through(&mut self) -> StmtKind {
        self.bump();
        let predicate = self.expr();
        let otherwise = self.eat_keyword(Keyword::Else).then(|| self.expr());
        self.expect_keyword(Keyword::Into, "before the name of the result");
        let name = self.name("a value's name");
        StmtKind::Through { predicate, otherwise, name, body: self.body() }
    }

    /// `sweep:` and its arms.
    fn sweep(&mut self) -> StmtKind {
        self.bump();
        let mut arms = Vec::new();
        if !self.open_body() {
            return StmtKind::Sweep(arms);
        }
        while !matches!(self.kind(), TokenKind::Dedent | TokenKind::Eof | TokenKind::Sign(Sign::RBrace)) {
            let before = self.at;
            if self.kind() == TokenKind::Newline {
                self.bump();
                continue;
            }
            self.failed = false;
            arms.push(self.arm());
            self.end_statement(before);
            if self.at == before && !self.abandoned {
                self.at += 1;
            }
        }
        self.close_body();
        StmtKind::Sweep(arms)
    }

    fn arm(&mut self) -> Arm {
        let start = self.peek().start;
        let help = "an arm is `| P => e`, the last one may be `| _ => e`";
        if !self.eat_sign(Sign::Bar) {
            self.expected_with(Code::UnexpectedToken, "an arm of the sweep", Some(help));
        }
        let default = self.kind() == TokenKind::Underscore;
        let predicate = if default {
            self.bump();
            None
        } else {
            Some(self.expr())
        };
        if self.at_sign(Sign::FlowsInto) {
            self.expected_with(Code::UnexpectedToken, "`=>`", Some(help));
        }
        self.expect_sign(Sign::FatArrow, "before the arm's value");
        let value = self.expr();
        Arm { span: self.span_from(start), predicate, value }
    }

    /// `repeat` or `for`, a counter, `from a up to b [by s]` and the body.
    fn counted_loop(&mut self, steps: bool) -> Loop {
        self.bump();
        let uniform = self.eat_sign(Sign::Lt);
        let index = self.name("the index's name");
        let ty = self.annotation();
        if uniform {
            self.close_mark();
        }
        self.expect_keyword(Keyword::From, "before the first index");
        let from = self.expr();
        self.expect_keyword(Keyword::Up, "before `to` and the bound");
        self.expect_keyword(Keyword::To, "before the bound");
        let to = self.expr();
        if self.at_keyword(Keyword::By) && !steps {
            let help = "`repeat` counts by one; a step stands only in `for`";
            self.expected_with(Code::UnexpectedToken, "`:`", Some(help));
        }
        let step = (steps && self.eat_keyword(Keyword::By)).then(|| self.expr());
        Loop { index, uniform, ty, from, to, step, body: self.body() }
    }

    /// A statement `if`, or an expression `if … then … else …` that stands as a statement.
    fn if_statement(&mut self) -> StmtKind {
        let start = self.bump().start;
        let condition = self.expr();
        if self.at_keyword(Keyword::Then) {
            let expr = self.deeper(|parser| parser.if_after_condition(start, condition));
            return StmtKind::Expr(expr);
        }
        let mut arms = vec![(condition, self.body())];
        let mut otherwise = None;
        while self.follows_body() && self.eat_keyword(Keyword::Else) {
            if self.eat_keyword(Keyword::If) {
                let condition = self.expr();
                arms.push((condition, self.body()));
            } else {
                otherwise = Some(self.body());
                break;
            }
        }
        StmtKind::If { arms, otherwise }
    }

    /// Whether a body has just ended, so that an `else` belongs to it.
    fn follows_body(&self) -> bool {
        self.at > 0 && !self.abandoned && self.tokens[self.at - 1].kind == TokenKind::Dedent
    }

    /// A statement that starts with a name: a location, a stack's result forms, an assignment or an expression.
    fn named_statement(&mut self) -> StmtKind {
        let next = self.nth(1).kind;
        match next {
            TokenKind::Sign(Sign::Becomes | Sign::Colon) => {
                let name = self.take_name();
                let ty = self.annotation();
                self.expect_sign(Sign::Becomes, "before the location's first value");
                StmtKind::Location { name, ty, value: self.expr() }
            }
            TokenKind::Ident if self.nth_is_word(0, "compact") => self.compact(),
            TokenKind::Ident if self.nth_is_word(1, "with") => {
                let stack = self.take_name();
                self.bump();
                let fields = self.field_inits();
                let predicate = self.eat_word("where").then(|| self.expr());
                StmtKind::With { stack, fields, predicate }
            }
            _ => self.place_or_expression(),
        }
    }

    /// `compact s [with { ... }] where p`.
    fn compact(&mut self) -> StmtKind {
        self.bump();
        let stack = self.take_name();
        let fields = if self.eat_word("with") { self.field_inits() } else { Vec::new() };
        if !self.eat_word("where") {
            self.expected(Code::UnexpectedToken, "`where` and the records to keep");
        }
        StmtKind::Compact { stack, fields, predicate: self.expr() }
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.nth_is_word(0, word);
        if found {
            self.bump();
        }
        found
    }

    /// `{ field: e, ... }`.
    pub fn field_inits(&mut self) -> Vec<FieldInit> {
        let mut fields = Vec::new();
        if !self.expect_sign(Sign::LBrace, "before the fields") {
            return fields;
        }
        while !self.failed && !self.at_sign(Sign::RBrace) {
            let name = self.member("a field's name");
            self.expect_sign(Sign::Colon, "between the field's name and its value");
            let value = self.expr();
            fields.push(FieldInit { name, value });
            if !self.eat_sign(Sign::Comma) {
                break;
            }
            if self.at_sign(Sign::RBrace) {
                self.expected_with(Code::UnexpectedToken, "another field", Some("remove the last `,`"));
            }
        }
        self.close_list(Sign::RBrace, "or `,` after a field's value");
        fields
    }

    /// `place <- e` or an expression.
    fn place_or_expression(&mut self) -> StmtKind {
        let start = self.peek().start;
        // A mark cannot be assigned to, but is tried often enough to be told so.
        let starts_place = matches!(self.kind(), TokenKind::Ident | TokenKind::Sign(Sign::Lt));
        if !starts_place {
            return StmtKind::Expr(self.expr());
        }
        let operand = self.deeper(Self::postfix);
        if self.at_sign(Sign::Assign) {
            self.check_place(operand);
            self.bump();
            return StmtKind::Assign { place: operand, value: self.expr() };
        }
        StmtKind::Expr(self.deeper(|parser| parser.binary_from(start, operand, 1)))
    }

    fn check_place(&mut self, place: ExprId) {
        if !matches!(self.file.exprs[place].kind, ExprKind::Name(_) | ExprKind::Field { .. } | ExprKind::Index { .. }) {
            let span = self.file.exprs[place].span;
            let marked = matches!(self.file.exprs[place].kind, ExprKind::Mark(_));
            let help = if marked {
                "a location stands without a mark on the left of `<-`"
            } else {
                "on the left of `<-` stands a name, a field or an element"
            };
            let diagnostic = Diagnostic::error(Code::InvalidPlace, span, "this cannot be assigned to");
            self.report(diagnostic.help(help));
        }
    }
}
