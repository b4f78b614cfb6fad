//! Types.

use rake_ir::diag::{Code, Diagnostic};
use rake_ir::surface::{Type, TypeId, TypeKind};

use super::cursor::Parser;
use super::token::{Keyword, Plural, Sign, TokenKind};

impl Parser<'_> {
    /// A type. `()` is taken only where [`Parser::pointer_target`] or a callback's result asks for it.
    pub fn ty(&mut self) -> TypeId {
        self.ty_or_unit(false)
    }

    fn ty_or_unit(&mut self, unit: bool) -> TypeId {
        let start = self.peek().start;
        let kind = if self.fits(1) {
            self.expr_depth += 1;
            let kind = self.type_kind(unit);
            self.expr_depth -= 1;
            kind
        } else {
            TypeKind::Error
        };
        let span =
            if matches!(kind, TypeKind::Error) { self.span(self.peek()).at_start() } else { self.span_from(start) };
        self.file.types.alloc(Type { span, kind })
    }

    fn type_kind(&mut self, unit: bool) -> TypeKind {
        match self.kind() {
            TokenKind::Primitive(elem, plural) => {
                self.bump();
                match plural {
                    Plural::Scalar => TypeKind::Scalar(elem),
                    Plural::Rack => TypeKind::Rack(elem),
                }
            }
            TokenKind::Keyword(Keyword::Mask) => {
                self.bump();
                TypeKind::Mask
            }
            TokenKind::Keyword(Keyword::Stack) => {
                self.bump();
                TypeKind::Stack(self.type_name("a pack's name"))
            }
            TokenKind::Keyword(Keyword::Ptr) => {
                self.bump();
                let read_only = self.eat_keyword(Keyword::Const);
                TypeKind::Ptr { read_only, target: self.ty_or_unit(true) }
            }
            TokenKind::Keyword(Keyword::Slow) => self.function_type(),
            TokenKind::Sign(Sign::LBracket) => self.view_or_array(),
            TokenKind::Sign(Sign::LParen) if unit && self.nth(1).kind == TokenKind::Sign(Sign::RParen) => {
                self.bump();
                self.bump();
                TypeKind::Unit
            }
            TokenKind::TypeName | TokenKind::Ident => TypeKind::Named(self.take_name()),
            TokenKind::Keyword(Keyword::Mut) => {
                let help = "`mut` marks a whole parameter: `name: mut []T`";
                self.expected_with(Code::ExpectedType, "a type", Some(help));
                TypeKind::Error
            }
            _ => {
                self.expected(Code::ExpectedType, "a type");
                TypeKind::Error
            }
        }
    }

    fn function_type(&mut self) -> TypeKind {
        self.bump();
        let mut params = Vec::new();
        self.expect_sign(Sign::LParen, "before a callback's parameter types");
        while !self.failed && !self.at_sign(Sign::RParen) {
            params.push(self.ty());
            if !self.eat_sign(Sign::Comma) {
                break;
            }
        }
        self.close_list(Sign::RParen, "after a callback's parameter types");
        self.expect_sign(Sign::Arrow, "before a callback's result; `-> ()` for none");
        TypeKind::Function { params, result: self.ty_or_unit(true) }
    }

    fn view_or_array(&mut self) -> TypeKind {
        self.bump();
        if self.eat_sign(Sign::RBracket) {
            return TypeKind::View(self.ty());
        }
        let count = self.expr();
        self.close_list(Sign::RBracket, "after an array's count");
        TypeKind::Array { count, element: self.ty() }
    }

    /// `-> T`, if it is there.
    pub fn result_type(&mut self) -> Option<TypeId> {
        self.eat_sign(Sign::Arrow).then(|| self.ty())
    }

    /// `: T`, if it is there.
    pub fn annotation(&mut self) -> Option<TypeId> {
        self.eat_sign(Sign::Colon).then(|| self.ty())
    }

    /// Reports a pack's or record's own layout under a lowercase name.
    pub fn require_uppercase(&mut self, name: &rake_ir::surface::Name, what: &str) {
        if name.text.starts_with(|first: char| first.is_ascii_lowercase() || first == '_') {
            let message = format!("the name of {what} starts with an uppercase letter");
            let help = "only records and unions declared `from \"header.h\"` keep a lowercase C name";
            self.report(Diagnostic::error(Code::InvalidName, name.span, message).help(help));
        }
    }
}
