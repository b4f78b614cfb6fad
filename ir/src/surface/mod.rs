//! `surface`: the program as written, every node with a span and nothing resolved.
//!
//! Adds, over text: structure. Nodes live in one arena per kind and file, so that dropping a deep tree is not
//! recursive. Parentheses are not kept; the printer puts them back where precedence asks for them.
//!
//! Invariants: nesting is at most 256 deep, except that the left operands of binary operators may form a chain of any
//! length, which consumers walk with a loop ([`File::left_spine`]); a minus directly before a number belongs to it;
//! `else if` is one [`StmtKind::If`] with several arms; consecutive fused bindings at one level are one
//! [`StmtKind::Region`].

mod dump;
mod print;
mod walk;

pub use dump::dump;
pub use print::{print, print_expr, print_type};
pub use walk::Node;

use la_arena::{Arena, Idx};
use smol_str::SmolStr;

use crate::span::{FileId, Span};
use crate::types::Elem;

/// An expression's id.
pub type ExprId = Idx<Expr>;
/// A statement's id.
pub type StmtId = Idx<Stmt>;
/// A type's id.
pub type TypeId = Idx<Type>;

/// One source file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The file.
    pub id: FileId,
    /// The definitions in source order.
    pub defs: Vec<Def>,
    /// All expressions.
    pub exprs: Arena<Expr>,
    /// All statements.
    pub stmts: Arena<Stmt>,
    /// All types as written.
    pub types: Arena<Type>,
    /// The comments in source order.
    pub comments: Vec<Comment>,
}

/// A comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comment {
    /// Its place, delimiters included.
    pub span: Span,
    /// Its text, delimiters included.
    pub text: SmolStr,
    /// The end of the token that it follows on its line; `None` when it comes first.
    pub follows: Option<u32>,
}

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Name {
    /// The spelling, without a tine's `#`.
    pub text: SmolStr,
    /// Its place (with a tine's `#`).
    pub span: Span,
}

/// A string in the source.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Str {
    /// What stands between the quotes, escapes as written.
    pub raw: SmolStr,
    /// Its place, quotes included.
    pub span: Span,
}

/// A definition.
#[derive(Clone, Debug)]
pub struct Def {
    /// The whole definition, body included.
    pub span: Span,
    /// The name it defines.
    pub name: Name,
    /// What it is.
    pub kind: DefKind,
}

/// The forms of definitions.
#[derive(Clone, Debug)]
pub enum DefKind {
    /// `scratch name(params) -> T:`; its result is the body's last statement, an expression.
    Scratch(Function),
    /// `rake name(params) -> T:`; its result is the body's `sweep`.
    Rake(Function),
    /// `run name(params) [-> stack S]:`
    Run(Function),
    /// `slow name(params) [-> T]:`
    Slow(Function),
    /// `extern slow name(params) [-> T] from "header.h"`
    ExternSlow {
        /// The parameters.
        params: Vec<Param>,
        /// The result, if any.
        result: Option<TypeId>,
        /// The C header.
        header: Str,
    },
    /// `tine #name(params) means predicate`
    Tine {
        /// The parameters.
        params: Vec<Param>,
        /// The predicate.
        predicate: ExprId,
    },
    /// `pack Name { T: field, field; ... }`
    Pack {
        /// The field groups.
        groups: Vec<FieldGroup>,
    },
    /// `record Name { ... }` or `record Name from "h" { ... }`
    Record {
        /// The C header, if the layout is C's.
        header: Option<Str>,
        /// The field groups.
        groups: Vec<FieldGroup>,
    },
    /// `union Name from "h" { ... }`
    Union {
        /// The C header (its absence is an error of the checker).
        header: Option<Str>,
        /// The field groups.
        groups: Vec<FieldGroup>,
    },
    /// `state name: T [:= constant]`
    State {
        /// The type.
        ty: TypeId,
        /// The initial value; zero without one.
        value: Option<ExprId>,
    },
    /// `embed name from "file"`
    Embed {
        /// The file's path as written.
        path: Str,
    },
    /// `const name: T = value`
    Const {
        /// The type.
        ty: TypeId,
        /// The value.
        value: ExprId,
    },
}

/// What scratches, rakes, runs and slow functions share.
#[derive(Clone, Debug)]
pub struct Function {
    /// The parameters.
    pub params: Vec<Param>,
    /// The result's type, if one is written.
    pub result: Option<TypeId>,
    /// The body.
    pub body: Block,
}

/// A parameter: `name: T`, `<name: T>` or `name: mut T`.
#[derive(Clone, Debug)]
pub struct Param {
    /// The parameter with its mark.
    pub span: Span,
    /// Its name.
    pub name: Name,
    /// Whether it is marked uniform.
    pub uniform: bool,
    /// Whether the callee writes it.
    pub mutable: bool,
    /// Its type, without `mut`.
    pub ty: TypeId,
}

/// `T: field, field;`
#[derive(Clone, Debug)]
pub struct FieldGroup {
    /// The group without its `;`.
    pub span: Span,
    /// The fields' type.
    pub ty: TypeId,
    /// The fields.
    pub names: Vec<Name>,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its place.
    pub span: Span,
    /// Its form.
    pub kind: TypeKind,
}

/// The forms of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `f32`, `bool`, ...
    Scalar(Elem),
    /// `f32s`, `bools`, ...
    Rack(Elem),
    /// `mask`
    Mask,
    /// A pack's, record's or union's name.
    Named(Name),
    /// `stack Name`
    Stack(Name),
    /// `[]T`
    View(TypeId),
    /// `[N]T`
    Array {
        /// The count: an integer or a constant's name.
        count: ExprId,
        /// The elements' type.
        element: TypeId,
    },
    /// `ptr T` and `ptr const T`
    Ptr {
        /// Whether the pointed-to object is read-only.
        read_only: bool,
        /// What it points to; [`TypeKind::Unit`] for `ptr ()`.
        target: TypeId,
    },
    /// `slow(T, ...) -> U`
    Function {
        /// The parameters.
        params: Vec<TypeId>,
        /// The result; [`TypeKind::Unit`] for `-> ()`.
        result: TypeId,
    },
    /// `()`, only behind `ptr` and as a callback's result.
    Unit,
    /// Not a type; an error has been reported.
    Error,
}

/// Statements in a body or in the braces of a slow block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// From the first statement to the last; empty at the opener when there is none.
    pub span: Span,
    /// The statements. In scratches, runs and `through` bodies the last one is the result.
    pub stmts: Vec<StmtId>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The statement, its body included.
    pub span: Span,
    /// Its form.
    pub kind: StmtKind,
}

/// The forms of statements, of all kinds of bodies.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `let name [: T] = e`, `let <name [: T]> = e`
    Let {
        /// The name.
        name: Name,
        /// Whether it is marked uniform.
        uniform: bool,
        /// The type, if written.
        ty: Option<TypeId>,
        /// The value.
        value: ExprId,
    },
    /// Consecutive `| name [: T] <| e`; never empty.
    Region(Vec<Stage>),
    /// `name [: T] := e`: a new mutable location.
    Location {
        /// The name.
        name: Name,
        /// The type, if written.
        ty: Option<TypeId>,
        /// The first value.
        value: ExprId,
    },
    /// `place <- e`
    Assign {
        /// A name, field or element.
        place: ExprId,
        /// The new value.
        value: ExprId,
    },
    /// `tine #name means predicate`
    Tine {
        /// The tine's name.
        name: Name,
        /// The predicate.
        predicate: ExprId,
    },
    /// `through P [else u] into name:`
    Through {
        /// The mask.
        predicate: ExprId,
        /// The value of the other lanes.
        otherwise: Option<ExprId>,
        /// The name the result is bound to.
        name: Name,
        /// The body.
        body: Block,
    },
    /// `sweep:` with its arms.
    Sweep(Vec<Arm>),
    /// `repeat <i: T> from a up to b:`
    Repeat(Loop),
    /// `for i [: T] from a up to b [by s]:`
    For(Loop),
    /// `while c:`
    While {
        /// The condition.
        condition: ExprId,
        /// The body.
        body: Block,
    },
    /// `if c: … else if c: … else: …`
    If {
        /// Conditions and their bodies in order; never empty.
        arms: Vec<(ExprId, Block)>,
        /// The last `else`.
        otherwise: Option<Block>,
    },
    /// `return [e]`
    Return(Option<ExprId>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `s with { f: e, ... } [where p]`
    With {
        /// The stack.
        stack: Name,
        /// The replaced columns.
        fields: Vec<FieldInit>,
        /// Which records.
        predicate: Option<ExprId>,
    },
    /// `compact s [with { f: e, ... }] where p`
    Compact {
        /// The stack.
        stack: Name,
        /// The replaced columns, if any.
        fields: Vec<FieldInit>,
        /// Which records are kept.
        predicate: ExprId,
    },
    /// An expression: the result when last, else evaluated for its effect.
    Expr(ExprId),
    /// Not a statement; an error has been reported.
    Error,
}

/// `| name [: T] <| e`
#[derive(Clone, Debug)]
pub struct Stage {
    /// From the bar to the expression's end.
    pub span: Span,
    /// The stage's name.
    pub name: Name,
    /// The type, if written.
    pub ty: Option<TypeId>,
    /// The expression.
    pub value: ExprId,
}

/// `| P => e`
#[derive(Clone, Debug)]
pub struct Arm {
    /// From the bar to the expression's end.
    pub span: Span,
    /// The predicate; `None` is `_`.
    pub predicate: Option<ExprId>,
    /// The lanes' value.
    pub value: ExprId,
}

/// The header and body of a counted loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The index's name.
    pub index: Name,
    /// Whether it is marked uniform.
    pub uniform: bool,
    /// Its type, if written.
    pub ty: Option<TypeId>,
    /// The first index.
    pub from: ExprId,
    /// The bound, not reached.
    pub to: ExprId,
    /// The step, if written.
    pub step: Option<ExprId>,
    /// The body.
    pub body: Block,
}

/// `field: e` in a literal or a `with`.
#[derive(Clone, Debug)]
pub struct FieldInit {
    /// The field's name.
    pub name: Name,
    /// Its value.
    pub value: ExprId,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The expression, without parentheses around it.
    pub span: Span,
    /// Its form.
    pub kind: ExprKind,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer or float literal.
    Number(Number),
    /// `true`, `false`
    Bool(bool),
    /// `"text"`
    Str(Str),
    /// A name.
    Name(SmolStr),
    /// `<e>`: a uniform mark.
    Mark(ExprId),
    /// `#name` or `#name(args)`
    Tine {
        /// The tine.
        name: Name,
        /// The arguments of a global tine; `None` without parentheses.
        args: Option<Vec<ExprId>>,
    },
    /// `lanes` or `lanes(T)`
    Lanes(Option<TypeId>),
    /// `@`
    LaneIndex,
    /// A prefix operator.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: ExprId,
    },
    /// An infix operator. Chains lean left and may be very long.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Where the operator stands.
        op_span: Span,
        /// The left operand.
        left: ExprId,
        /// The right operand.
        right: ExprId,
    },
    /// `if c then a else b`
    If {
        /// The condition.
        condition: ExprId,
        /// The value where it holds.
        then: ExprId,
        /// The value elsewhere.
        otherwise: ExprId,
    },
    /// `base.field`
    Field {
        /// The record, stack or pointer.
        base: ExprId,
        /// The field.
        field: Name,
    },
    /// `base[index]`, `base[unchecked index]`, `base[index up to bound]`
    Index {
        /// The view, array or pointer.
        base: ExprId,
        /// The index.
        index: ExprId,
        /// Whether the check is dropped.
        unchecked: bool,
        /// The bound of the tail form.
        bound: Option<ExprId>,
    },
    /// `e gaps`: the complement.
    Gaps(ExprId),
    /// `name(args)`, `bitcast(T, e)`, `wrap(T, e)`: a definition, a binding or an operation of the vocabulary.
    Call {
        /// Who is called.
        callee: Name,
        /// The type argument of `bitcast` and `wrap`.
        ty: Option<TypeId>,
        /// The arguments.
        args: Vec<ExprId>,
    },
    /// `T(args)`: a checked conversion to a scalar type (one argument, else the checker complains).
    Convert {
        /// The type.
        ty: TypeId,
        /// The arguments.
        args: Vec<ExprId>,
    },
    /// `Name { field: e, ... }`
    Record {
        /// The record's, union's or pack's name.
        name: Name,
        /// The fields.
        fields: Vec<FieldInit>,
    },
    /// `stack Name { field: e, ... }`
    Stack {
        /// The pack's name.
        name: Name,
        /// The columns.
        fields: Vec<FieldInit>,
    },
    /// `[a, b, c]`
    Array(Vec<ExprId>),
    /// `[e; n]`
    ArrayFill {
        /// Every element.
        value: ExprId,
        /// How many.
        count: ExprId,
    },
    /// `slow { ... }`
    Slow {
        /// The statements.
        body: Block,
        /// Whether the last statement's value is the block's: an expression without a `;` after it.
        has_value: bool,
    },
    /// Not an expression; an error has been reported.
    Error,
}

/// A number as written.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Number {
    /// The spelling without a sign: decimal, `0x…`, or a float's.
    pub text: SmolStr,
    /// Whether it has a `.` or an exponent.
    pub float: bool,
    /// Whether a minus belongs to it.
    pub negative: bool,
}

impl Number {
    /// An integer's value without its sign; `None` for floats and for what exceeds 64 bits.
    pub fn magnitude(&self) -> Option<u64> {
        if self.float {
            return None;
        }
        match self.text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => self.text.parse().ok(),
        }
    }
}

/// Prefix operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Neg,
    Not,
}

impl UnaryOp {
    /// The spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Not => "not",
        }
    }
}

/// Infix operators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl BinaryOp {
    /// The spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            BinaryOp::Or => "or",
            BinaryOp::And => "and",
            BinaryOp::Eq => "=",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
        }
    }

    /// How tightly it binds: 1 (`or`) to 5 (`*`).
    pub fn precedence(self) -> u8 {
        match self {
            BinaryOp::Or => 1,
            BinaryOp::And => 2,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => 3,
            BinaryOp::Add | BinaryOp::Sub => 4,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 5,
        }
    }

    /// Whether it is one of the six comparisons.
    pub fn is_comparison(self) -> bool {
        self.precedence() == 3
    }
}

/// One infix step of a [`File::left_spine`].
#[derive(Clone, Copy, Debug)]
pub struct SpineStep {
    /// The binary expression.
    pub expr: ExprId,
    /// Its operator.
    pub op: BinaryOp,
    /// Its right operand.
    pub right: ExprId,
}

impl File {
    /// The chain of binary operators that starts at `expr`: its innermost left operand, and the steps from the
    /// innermost outwards. Without one, `expr` itself and no steps. Recursing only into the first and the right operands
    /// keeps a consumer's stack bounded.
    pub fn left_spine(&self, expr: ExprId) -> (ExprId, Vec<SpineStep>) {
        let mut steps = Vec::new();
        let mut at = expr;
        while let ExprKind::Binary { op, left, right, .. } = self.exprs[at].kind {
            steps.push(SpineStep { expr: at, op, right });
            at = left;
        }
        steps.reverse();
        (at, steps)
    }
}
