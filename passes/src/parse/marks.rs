//! Uniform marks, `<x>`: what may stand in one, and the tokens that must be split to open or close it.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::surface::{BinaryOp, ExprId, ExprKind};

use super::cursor::Parser;
use super::token::{Keyword, Sign, Token, TokenKind};

impl Parser<'_> {
    /// A mark that the next token opens: `<`, or a `<-` before a number.
    pub fn mark(&mut self) -> ExprId {
        let open = self.bump();
        let content = if open.kind == TokenKind::Sign(Sign::Assign) {
            self.number_after_minus(open.start + 1)
        } else {
            self.deeper(Self::mark_content)
        };
        self.close_mark();
        let span = self.span_from(open.start);
        self.expr_node(span, ExprKind::Mark(content))
    }

    fn mark_content(&mut self) -> ExprId {
        let token = self.peek();
        match token.kind {
            TokenKind::Int | TokenKind::Float => self.number(token.start, false),
            TokenKind::Sign(Sign::Minus) if matches!(self.nth(1).kind, TokenKind::Int | TokenKind::Float) => {
                self.bump();
                self.number_after_minus(token.start)
            }
            TokenKind::Keyword(Keyword::True | Keyword::False) => {
                self.bump();
                self.expr_node(self.span(token), ExprKind::Bool(token.kind == TokenKind::Keyword(Keyword::True)))
            }
            TokenKind::Keyword(Keyword::Lanes) => self.lanes(),
            TokenKind::Ident => {
                let base = self.take_name();
                let base = self.expr_node(base.span, ExprKind::Name(base.text));
                self.mark_path(token.start, base)
            }
            TokenKind::Error => {
                self.bump();
                self.error_expr()
            }
            _ => {
                self.invalid_mark();
                self.error_expr()
            }
        }
    }

    /// The fields and elements after a marked name.
    fn mark_path(&mut self, start: u32, mut base: ExprId) -> ExprId {
        let mut length = 0;
        loop {
            length += 1;
            if self.eat_sign(Sign::Dot) {
                let field = self.member("a field's name");
                let span = self.span_from(start);
                base = self.expr_node(span, ExprKind::Field { base, field });
            } else if self.eat_sign(Sign::LBracket) {
                let unchecked = self.eat_keyword(Keyword::Unchecked);
                let index = self.mark_index();
                self.close_list(
                    Sign::RBracket,
                    "after the index; names and integers joined by `+` and `-` stand in it",
                );
                let span = self.span_from(start);
                base = self.expr_node(span, ExprKind::Index { base, index, unchecked, bound: None });
            } else {
                return base;
            }
            if self.failed || !self.fits(length) {
                return base;
            }
        }
    }

    /// Names and integers joined by `+` and `-`.
    fn mark_index(&mut self) -> ExprId {
        let start = self.peek().start;
        let mut left = self.mark_index_term();
        loop {
            let op = match self.kind() {
                TokenKind::Sign(Sign::Plus) => BinaryOp::Add,
                TokenKind::Sign(Sign::Minus) => BinaryOp::Sub,
                _ => return left,
            };
            let op_token = self.bump();
            let op_span = self.span(op_token);
            let right = self.mark_index_term();
            let span = self.span_from(start);
            left = self.expr_node(span, ExprKind::Binary { op, op_span, left, right });
        }
    }

    fn mark_index_term(&mut self) -> ExprId {
        let token = self.peek();
        match token.kind {
            TokenKind::Int => self.number(token.start, false),
            TokenKind::Sign(Sign::Minus) if self.nth(1).kind == TokenKind::Int => {
                self.bump();
                self.number_after_minus(token.start)
            }
            TokenKind::Ident => {
                let name = self.take_name();
                self.expr_node(name.span, ExprKind::Name(name.text))
            }
            _ => {
                let help = "inside a mark's index stand names and integers joined by `+` and `-`, without inner marks";
                self.expected_with(Code::InvalidMark, "a name or an integer", Some(help));
                self.error_expr()
            }
        }
    }

    /// Takes the `>` that closes a mark, also off a `>=`.
    pub fn close_mark(&mut self) {
        match self.kind() {
            TokenKind::Sign(Sign::Gt) => {
                self.bump();
            }
            TokenKind::Sign(Sign::Ge) => self.split_ge(),
            _ => self.invalid_mark(),
        }
    }

    /// Takes the `>` off a `>=` and leaves the `=`, or the `=>` that it makes with a `>` behind it.
    fn split_ge(&mut self) {
        let ge = self.peek();
        self.last_end = ge.start + 1;
        let mut rest = Token { kind: TokenKind::Sign(Sign::Eq), start: ge.start + 1, ..ge };
        let next = self.nth(1);
        if next.kind == TokenKind::Sign(Sign::Gt) && next.start == ge.end {
            rest = Token { kind: TokenKind::Sign(Sign::FatArrow), end: next.end, ..rest };
            self.at += 1;
        }
        self.tokens[self.at] = rest;
    }

    /// Reports the next token in a mark and moves past the mark's end, if it stands on the line.
    fn invalid_mark(&mut self) {
        let first = !self.failed;
        let help = "a mark holds a literal, a name, a field path or an element; bind anything else with \
                    `let <name: T> = ...` and write `<name>`";
        self.expected_with(Code::InvalidMark, "the end of a uniform mark, `>`", Some(help));
        if !first || self.abandoned {
            return;
        }
        let mut depth = 0usize;
        for ahead in 0.. {
            match self.nth(ahead).kind {
                TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent | TokenKind::Eof => return,
                TokenKind::Sign(sign) if sign.closer().is_some() => depth += 1,
                TokenKind::Sign(sign) if sign.is_closer() && depth == 0 => return,
                TokenKind::Sign(sign) if sign.is_closer() => depth -= 1,
                TokenKind::Sign(Sign::Comma | Sign::Semicolon) if depth == 0 => return,
                TokenKind::Sign(Sign::Gt) if depth == 0 => {
                    self.at += ahead + 1;
                    return;
                }
                _ => {}
            }
        }
    }

    /// Reports a `<-` that stands where an operator may.
    pub fn arrow_in_expression(&mut self) {
        let arrow = self.peek();
        let number = matches!(self.nth(1).kind, TokenKind::Int | TokenKind::Float);
        let help = if number {
            let number = self.text(self.nth(1));
            let number = if number.len() <= 40 { number } else { "1.0" };
            format!("to compare with a negative number, put a space between: `< -{number}`")
        } else {
            "`<-` assigns to a location and stands only after one, at a statement's start".to_string()
        };
        let message = "`<-` cannot stand in an expression";
        self.report(Diagnostic::error(Code::ArrowInExpression, self.span(arrow), message).help(help));
    }
}
