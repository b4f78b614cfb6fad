//! `desugared`: one spelling per meaning. Broadcasts are explicit, repeats and calls are gone, every name is one value.
//!
//! Since `typed`: a uniform that meets a rack stands in a `splat`; each scratch call became a [`ExprKind::Block`] where the
//! call stood, so that an enclosing `if` arm still covers it; global tines are gone, and an inlined rake's block ends in its
//! sweep; each repeat became its trips and each version of a mutable
//! location a local of its own; a literal beside a rack is a constant rack. A location that a loop or a statement `if`
//! changes has a name for what it holds there: [`For::carries`](crate::typed::bodies::For::carries),
//! [`If::merges`](crate::typed::bodies::If::merges).
//!
//! Invariants: each expression has exactly one user (trees, no sharing); an operation's types follow
//! [`Op::infer`](crate::ops::Op::infer); a local is bound once, before its reads, and read only inside the block that
//! binds it; a block never stands inside a region. Left operands may form a chain of any length and inlined blocks nest
//! deeply, so consumers use [`Function::walk`], which needs no recursion.

pub(crate) mod access;
pub(crate) mod check;
pub(crate) mod eval;
mod execute;
mod print;
pub(crate) mod text;
mod walk;

pub use crate::typed::FunctionKind;
pub use check::check;
pub use eval::{eval, eval_run};
pub use print::print;
pub use walk::Event;

use crate::ops::{Imm, Op};
use crate::span::Span;
use crate::types::{Pointee, Ty};
use la_arena::{Arena, ArenaMap, Idx};
use smallvec::SmallVec;
use smol_str::SmolStr;

/// An expression's id.
pub type ExprId = Idx<Expr>;
/// A local's id.
pub type LocalId = Idx<Local>;
/// Operands of one operation.
pub type Args = SmallVec<[ExprId; 3]>;

/// A program of `desugared`.
pub type Program = crate::program::Program<Function>;

/// A scratch, rake or run with everything it calls inside it.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// What it is in source; never a tine.
    pub kind: FunctionKind,
    /// Its name, which is its C symbol.
    pub name: SmolStr,
    /// Its definition's name in source.
    pub span: Span,
    /// Its parameters, in order.
    pub params: Vec<LocalId>,
    /// What the parameters that are addresses lead to.
    pub pointees: ArenaMap<LocalId, Pointee>,
    /// Its parameters and every name bound in its body.
    pub locals: Arena<Local>,
    /// All its expressions.
    pub exprs: Arena<Expr>,
    /// What it computes, in order.
    pub body: Vec<Stmt>,
    /// The result; its type is the function's. Runs have none.
    pub result: Option<ExprId>,
}

/// A name for one value.
#[derive(Clone, PartialEq, Debug)]
pub struct Local {
    /// The source name. Inlining and unrolling repeat names; ids tell them apart.
    pub name: SmolStr,
    /// Its type; a mask for a tine.
    pub ty: Ty,
    /// Whether it is a tine, `#name`.
    pub tine: bool,
    /// Where it is bound.
    pub span: Span,
}

/// One step of a body or block.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// `let name = value`.
    Let(Binding),
    /// Consecutive fused bindings; regions never merge.
    Region(Vec<Binding>),
    /// A block computed under a mask.
    Through(Through),
    /// The body of a stack run.
    Traverse(Traverse),
    /// Writes a rack to a view.
    Store {
        /// Where.
        access: Access,
        /// What.
        value: ExprId,
    },
    /// A counted loop.
    For(For),
    /// A choice between two bodies.
    If(If),
}

/// The body of a stack run.
pub type Traverse = crate::typed::bodies::Traverse<LocalId, ExprId, Stmt>;

/// A place in a view.
pub type Access = crate::typed::bodies::Access<LocalId, ExprId>;

/// A counted loop.
pub type For = crate::typed::bodies::For<LocalId, ExprId, Stmt>;

/// A choice between two bodies.
pub type If = crate::typed::bodies::If<LocalId, ExprId, Stmt>;

/// A block computed under a mask, and the name of its result.
pub type Through = crate::typed::bodies::Through<LocalId, ExprId, Stmt>;

/// One arm of a sweep.
pub type Arm = crate::typed::bodies::Arm<ExprId>;

/// A name and its value.
pub type Binding = crate::typed::bodies::Binding<LocalId, ExprId>;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Ty,
    /// Where the source asks for it.
    pub span: Span,
}

/// What an expression computes.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// The element's bits, in every lane when the type is a rack or mask (a Boolean is 0 or 1).
    Const(u64),
    /// A parameter's or name's value.
    Read(LocalId),
    /// A column's current rack, in lanes of the domain's width: narrower elements are widened.
    Column {
        /// The stack, a parameter.
        stack: LocalId,
        /// The column's position.
        column: u32,
    },
    /// What a view holds: a uniform is one element, a rack consecutive elements or those at indices.
    Load(Access),
    /// An operation of the table, never `Param`, `Const` or `If`.
    Op {
        /// The operation.
        op: Op,
        /// Its immediate.
        imm: Imm,
        /// Its operands.
        args: Args,
    },
    /// A conditional. A mask chooses per lane, each branch computed in its own lanes only; a `<bool>` picks one branch
    /// whole, the other computed in no lane.
    If {
        /// A mask or `<bool>`.
        condition: ExprId,
        /// Where it holds.
        then: ExprId,
        /// Elsewhere.
        otherwise: ExprId,
    },
    /// A rake's result: in each lane the value of the first arm whose predicate holds. A rack or mask; only the last arm
    /// may be `_`.
    Sweep {
        /// In priority order, at least one.
        arms: Vec<Arm>,
    },
    /// The body of an inlined call, then its result.
    Block {
        /// What it computes first.
        body: Vec<Stmt>,
        /// Its value.
        result: ExprId,
    },
}
