//! Expressions: `if`, the binary operators by precedence, prefixes, postfixes and primaries.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::surface::{BinaryOp, ExprId, ExprKind, Number, UnaryOp};

use super::cursor::{MAX_NESTING, Parser};
use super::token::{Keyword, Sign, TokenKind};

impl Parser<'_> {
    /// An expression.
    pub fn expr(&mut self) -> ExprId {
        self.deeper(|parser| {
            if parser.at_keyword(Keyword::If) {
                return parser.if_expr();
            }
            let start = parser.peek().start;
            let left = parser.unary();
            parser.binary_from(start, left, 1)
        })
    }

    /// `if c then a else b`.
    fn if_expr(&mut self) -> ExprId {
        let start = self.bump().start;
        let condition = self.expr();
        self.if_after_condition(start, condition)
    }

    /// The rest of an `if` expression from its `then` on.
    pub fn if_after_condition(&mut self, start: u32, condition: ExprId) -> ExprId {
        self.expect_keyword(Keyword::Then, "before the value where the condition holds");
        let then = self.expr();
        if !self.at_keyword(Keyword::Else) {
            let help = "an `if` expression always has both: `if c then a else b`";
            self.expected_with(Code::UnexpectedToken, "`else`", Some(help));
        }
        self.eat_keyword(Keyword::Else);
        let otherwise = self.expr();
        let span = self.span_from(start);
        self.expr_node(span, ExprKind::If { condition, then, otherwise })
    }

    /// Binary operators that bind at least as tightly as `least` (see [`BinaryOp::precedence`]) after a left operand. A
    /// loop, so that a chain may have any length.
    pub fn binary_from(&mut self, start: u32, mut left: ExprId, least: u8) -> ExprId {
        loop {
            if self.at_sign(Sign::Assign) && !self.failed {
                self.arrow_in_expression();
            }
            let Some(op) = self.binary_op().filter(|op| op.precedence() >= least) else { return left };
            if op.is_comparison() {
                self.check_not_operand(left);
            }
            let op_token = self.bump();
            let op_span = self.span(op_token);
            self.check_doubled_sign(op);
            let right_start = self.peek().start;
            let right = self.unary();
            let right = self.binary_from(right_start, right, op.precedence() + 1);
            let span = self.span_from(start);
            left = self.expr_node(span, ExprKind::Binary { op, op_span, left, right });
            if op.is_comparison() && self.binary_op().is_some_and(BinaryOp::is_comparison) {
                let help = "join two comparisons with `and`: `a < b and b < c`";
                let span = self.span(self.peek());
                self.report(Diagnostic::error(Code::ChainedComparison, span, "comparisons do not chain").help(help));
            }
        }
    }

    /// The next token as a binary operator.
    fn binary_op(&self) -> Option<BinaryOp> {
        Some(match self.kind() {
            TokenKind::Keyword(Keyword::Or) => BinaryOp::Or,
            TokenKind::Keyword(Keyword::And) => BinaryOp::And,
            TokenKind::Sign(Sign::Eq) => BinaryOp::Eq,
            TokenKind::Sign(Sign::Ne) => BinaryOp::Ne,
            TokenKind::Sign(Sign::Lt) => BinaryOp::Lt,
            TokenKind::Sign(Sign::Le) => BinaryOp::Le,
            TokenKind::Sign(Sign::Gt) => BinaryOp::Gt,
            TokenKind::Sign(Sign::Ge) => BinaryOp::Ge,
            TokenKind::Sign(Sign::Plus) => BinaryOp::Add,
            TokenKind::Sign(Sign::Minus) => BinaryOp::Sub,
            TokenKind::Sign(Sign::Star) => BinaryOp::Mul,
            TokenKind::Sign(Sign::Slash) => BinaryOp::Div,
            TokenKind::Sign(Sign::Percent) => BinaryOp::Rem,
            _ => return None,
        })
    }

    /// Reports `not a < b`.
    fn check_not_operand(&mut self, left: ExprId) {
        let node = &self.file.exprs[left];
        let is_not = matches!(node.kind, ExprKind::Unary { op: UnaryOp::Not, .. });
        if is_not && self.parenthesised != Some(left) {
            let span = node.span;
            let message = "`not` binds tighter than the comparison after it";
            let help = "write `not (a < b)`, or `(not a) = b` to compare a negation";
            self.report(Diagnostic::error(Code::NotOfComparison, span, message).help(help));
        }
    }

    /// Reports and takes the second `=` of `==`.
    fn check_doubled_sign(&mut self, op: BinaryOp) {
        if op == BinaryOp::Eq && self.at_sign(Sign::Eq) {
            self.expected_with(Code::ExpectedExpression, "an expression", Some("equality is a single `=`"));
            self.bump();
        }
    }

    /// Prefix operators and what they apply to.
    pub fn unary(&mut self) -> ExprId {
        let token = self.peek();
        let op = match token.kind {
            TokenKind::Sign(Sign::Minus) if matches!(self.nth(1).kind, TokenKind::Int | TokenKind::Float) => {
                return self.postfix();
            }
            TokenKind::Sign(Sign::Minus) => UnaryOp::Neg,
            TokenKind::Keyword(Keyword::Not) => UnaryOp::Not,
            _ => return self.postfix(),
        };
        self.deeper(|parser| {
            parser.bump();
            let operand = parser.unary();
            let span = parser.span_from(token.start);
            parser.expr_node(span, ExprKind::Unary { op, operand })
        })
    }

    /// A primary and the fields, elements and complements behind it.
    pub fn postfix(&mut self) -> ExprId {
        let start = self.peek().start;
        let mut base = self.primary();
        let mut length = 0;
        loop {
            let kind = match self.kind() {
                TokenKind::Sign(Sign::Dot) => {
                    self.bump();
                    ExprKind::Field { base, field: self.member("a field's name") }
                }
                TokenKind::Sign(Sign::LBracket) => self.index(base),
                TokenKind::Keyword(Keyword::Gaps) => {
                    self.bump();
                    ExprKind::Gaps(base)
                }
                _ => return base,
            };
            let span = self.span_from(start);
            base = self.expr_node(span, kind);
            length += 1;
            if !self.fits(length) {
                return base;
            }
        }
    }

    /// `[i]`, `[unchecked i]`, `[i up to n]`.
    fn index(&mut self, base: ExprId) -> ExprKind {
        self.bump();
        let unchecked = self.eat_keyword(Keyword::Unchecked);
        let index = self.expr();
        let bound = if self.eat_keyword(Keyword::Up) {
            self.expect_keyword(Keyword::To, "before the bound");
            Some(self.expr())
        } else {
            None
        };
        self.close_list(Sign::RBracket, "after the index");
        ExprKind::Index { base, index, unchecked, bound }
    }

    fn primary(&mut self) -> ExprId {
        let token = self.peek();
        let kind = match token.kind {
            TokenKind::Int | TokenKind::Float => return self.number(token.start, false),
            TokenKind::Sign(Sign::Minus) => {
                self.bump();
                return self.number_after_minus(token.start);
            }
            TokenKind::Str => ExprKind::Str(self.take_string()),
            TokenKind::Keyword(Keyword::True | Keyword::False) => {
                self.bump();
                ExprKind::Bool(token.kind == TokenKind::Keyword(Keyword::True))
            }
            TokenKind::Sign(Sign::At) => {
                self.bump();
                ExprKind::LaneIndex
            }
            TokenKind::Keyword(Keyword::Lanes) => return self.lanes(),
            TokenKind::Tine => {
                let name = self.tine_name();
                let args = self.at_sign(Sign::LParen).then(|| self.args());
                ExprKind::Tine { name, args }
            }
            TokenKind::Ident => self.named(),
            TokenKind::TypeName => self.record(),
            TokenKind::Primitive(..) => self.conversion(),
            TokenKind::Keyword(word) if word.is_operation() => {
                let callee = self.take_name();
                if !self.at_sign(Sign::LParen) {
                    self.expected(Code::UnexpectedToken, "`(` and the operation's arguments");
                }
                let args = self.args();
                ExprKind::Call { callee, ty: None, args }
            }
            TokenKind::Keyword(Keyword::Stack) => {
                self.bump();
                let name = self.type_name("a pack's name");
                ExprKind::Stack { name, fields: self.deep_fields() }
            }
            TokenKind::Keyword(Keyword::Slow) => self.slow_block(),
            TokenKind::Sign(Sign::LParen) => return self.parentheses(),
            TokenKind::Sign(Sign::LBracket) => self.array(),
            TokenKind::Sign(Sign::Lt) => return self.mark(),
            TokenKind::Sign(Sign::Assign) if matches!(self.nth(1).kind, TokenKind::Int | TokenKind::Float) => {
                return self.mark();
            }
            _ => return self.no_expression(),
        };
        let span = self.span_from(token.start);
        self.expr_node(span, kind)
    }

    fn no_expression(&mut self) -> ExprId {
        let token = self.peek();
        let help = match token.kind {
            TokenKind::Error => {
                self.bump();
                return self.error_expr();
            }
            TokenKind::Keyword(Keyword::If) => Some("put the inner `if` in parentheses"),
            TokenKind::Keyword(word) if word.starts_definition() => Some("definitions start at the left margin"),
            TokenKind::Sign(Sign::Dot) => Some("a float starts with a digit: `0.5`"),
            TokenKind::Sign(Sign::Eq | Sign::Lt | Sign::Gt) => {
                Some("the comparisons are `=`, `!=`, `<`, `<=`, `>` and `>=`")
            }
            TokenKind::Sign(Sign::Le) => Some("`<` opens a mark here; `<=` compares, between two operands"),
            TokenKind::Underscore => Some("`_` is only the default arm of a sweep"),
            _ => None,
        };
        self.expected_with(Code::ExpectedExpression, "an expression", help);
        let expr = self.error_expr();
        if token.kind == TokenKind::Keyword(Keyword::If) {
            return self.expr();
        }
        expr
    }

    /// The next token as a number.
    pub fn number(&mut self, start: u32, negative: bool) -> ExprId {
        let token = self.bump();
        let number = Number { text: self.text(token).into(), float: token.kind == TokenKind::Float, negative };
        let span = self.span_from(start);
        self.expr_node(span, ExprKind::Number(number))
    }

    /// The number to which a minus at `start`, already taken, belongs.
    pub fn number_after_minus(&mut self, start: u32) -> ExprId {
        self.number(start, true)
    }

    /// `lanes` or `lanes(T)`.
    pub fn lanes(&mut self) -> ExprId {
        let start = self.bump().start;
        let ty = self.eat_sign(Sign::LParen).then(|| {
            let ty = self.ty();
            self.close_list(Sign::RParen, "after the rack type");
            ty
        });
        let span = self.span_from(start);
        self.expr_node(span, ExprKind::Lanes(ty))
    }

    /// A lowercase name: a call, a C record's literal, or a value.
    fn named(&mut self) -> ExprKind {
        let typed = self.nth_is_word(0, "bitcast") || self.nth_is_word(0, "wrap");
        let name = self.take_name();
        match self.kind() {
            TokenKind::Sign(Sign::LParen) if typed => self.typed_call(name),
            TokenKind::Sign(Sign::LParen) => ExprKind::Call { callee: name, ty: None, args: self.args() },
            TokenKind::Sign(Sign::LBrace) => ExprKind::Record { name, fields: self.deep_fields() },
            _ => ExprKind::Name(name.text),
        }
    }

    /// `bitcast(T, e)`, `wrap(T, e)` from the parenthesis on.
    fn typed_call(&mut self, callee: rake_ir::surface::Name) -> ExprKind {
        self.bump();
        let ty = Some(self.ty());
        self.expect_sign(Sign::Comma, "after the type");
        let value = self.expr();
        self.close_list(Sign::RParen, "after the value");
        ExprKind::Call { callee, ty, args: vec![value] }
    }

    fn record(&mut self) -> ExprKind {
        let name = self.take_name();
        if !self.at_sign(Sign::LBrace) {
            let message = format!("the type `{}` is not a value", name.text);
            let help = format!("a record is written `{} {{ field: e, ... }}`", name.text);
            self.report(Diagnostic::error(Code::ExpectedExpression, name.span, message).help(help));
            return ExprKind::Error;
        }
        ExprKind::Record { name, fields: self.deep_fields() }
    }

    fn deep_fields(&mut self) -> Vec<rake_ir::surface::FieldInit> {
        if !self.fits(1) {
            return Vec::new();
        }
        self.expr_depth += 1;
        let fields = self.field_inits();
        self.expr_depth -= 1;
        fields
    }

    /// `T(e)`.
    fn conversion(&mut self) -> ExprKind {
        let token = self.peek();
        if self.nth(1).kind != TokenKind::Sign(Sign::LParen) {
            self.failed |= token.silent;
            let spelling = self.text(token);
            let message = format!("the type `{spelling}` is not a value");
            let help = format!("a conversion is written `{spelling}(e)`");
            self.report(Diagnostic::error(Code::ExpectedExpression, self.span(token), message).help(help));
            self.bump();
            return ExprKind::Error;
        }
        let ty = self.ty();
        ExprKind::Convert { ty, args: self.args() }
    }

    /// `(e, ...)`.
    fn args(&mut self) -> Vec<ExprId> {
        let mut args = Vec::new();
        if !self.eat_sign(Sign::LParen) {
            return args;
        }
        if !self.at_sign(Sign::RParen) {
            args = self.list(Sign::RParen);
        }
        self.close_list(Sign::RParen, "or `,` after an argument");
        args
    }

    /// Expressions with commas between them, up to a closer that is left.
    fn list(&mut self, closer: Sign) -> Vec<ExprId> {
        let mut list = Vec::new();
        loop {
            list.push(self.expr());
            if self.failed || !self.eat_sign(Sign::Comma) {
                return list;
            }
            if self.at_sign(closer) {
                self.expected_with(Code::ExpectedExpression, "an expression", Some("remove the last `,`"));
                return list;
            }
        }
    }

    /// Takes a list's closer. After an error, moves to it: brackets are always balanced.
    pub fn close_list(&mut self, closer: Sign, place: &str) {
        if !self.expect_sign(closer, place) {
            let mut depth = 0usize;
            loop {
                match self.kind() {
                    TokenKind::Eof => return,
                    TokenKind::Sign(sign) if sign.closer().is_some() => depth += 1,
                    TokenKind::Sign(sign) if sign.is_closer() && depth > 0 => depth -= 1,
                    TokenKind::Sign(sign) if sign.is_closer() => {
                        self.eat_sign(closer);
                        return;
                    }
                    TokenKind::Newline | TokenKind::Dedent if depth == 0 => return,
                    _ => {}
                }
                self.at += 1;
            }
        }
    }

    fn parentheses(&mut self) -> ExprId {
        self.bump();
        let expr = self.expr();
        self.close_list(Sign::RParen, "after the expression");
        self.parenthesised = Some(expr);
        expr
    }

    /// `[a, b]` or `[e; n]`.
    fn array(&mut self) -> ExprKind {
        self.bump();
        if self.eat_sign(Sign::RBracket) {
            return ExprKind::Array(Vec::new());
        }
        let mut list = self.list(Sign::RBracket);
        if list.len() == 1 && self.eat_sign(Sign::Semicolon) {
            let count = self.expr();
            self.close_list(Sign::RBracket, "after the array's count");
            return match list.pop() {
                Some(value) => ExprKind::ArrayFill { value, count },
                None => ExprKind::Error,
            };
        }
        self.close_list(Sign::RBracket, "or `,` after an element");
        ExprKind::Array(list)
    }

    /// `slow { ... }`.
    fn slow_block(&mut self) -> ExprKind {
        if self.nth(1).kind != TokenKind::Sign(Sign::LBrace) {
            self.bump();
            self.expected(Code::UnexpectedToken, "`{` and a slow block");
            return ExprKind::Error;
        }
        if self.body_depth == MAX_NESTING {
            self.too_deep("bodies", "move inner parts to definitions of their own");
            return ExprKind::Error;
        }
        self.bump();
        self.bump();
        let outer = std::mem::replace(&mut self.failed, false);
        self.body_depth += 1;
        self.slow_depth += 1;
        let (body, semicolon) = self.block();
        self.body_depth -= 1;
        self.slow_depth -= 1;
        self.failed = outer;
        self.close_list(Sign::RBrace, "at the end of the slow block");
        let last = body.stmts.last().map(|&stmt| &self.file.stmts[stmt].kind);
        let has_value = !semicolon && matches!(last, Some(rake_ir::surface::StmtKind::Expr(_)));
        ExprKind::Slow { body, has_value }
    }
}
