//! `typed`: names are ids, every expression has a type and is rack, mask or uniform, literals are bits of their element.
//!
//! Since `surface`: definitions that the profile compiles only; constants replaced by their values; a literal has the
//! type it takes where it stands. Broadcasts are still implicit: a uniform may stand where a rack is required (the rule
//! is [`lift`]), because its marks have been checked. A global tine is a function of its own ([`FunctionKind::Tine`]) that
//! rakes call; a local tine is a `let` whose local is a mask marked as one. A run takes what C passes: a view is an
//! address and an `<i32>` count, a stack the address of its descriptor ([`Function::pointees`]); the indices of its accesses
//! are exact `<i64>`s. What a stack run does is one [`Stmt::Traverse`].
//!
//! Invariants: locals are bound once, before their reads; an expression has one user; an operation's types, once lifted,
//! follow [`Op::infer`](crate::ops::Op::infer). `inline` removes [`ExprKind::Call`] and the tines' functions, `unroll`
//! removes [`Stmt::Repeat`].

pub mod bodies;
mod check;
mod eval;
mod execute;
mod fold;
mod lift;
mod print;
mod renumber;
mod walk;

pub use check::check;
pub use eval::{eval, eval_run};
pub use fold::{fold_int, integer};
pub use lift::{broadcasts, lift};
pub use print::print;
pub use renumber::Renumber;
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
/// Operands of one operation or call.
pub type Args = SmallVec<[ExprId; 3]>;

/// A function's position in [`Program::functions`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FunctionId(pub u32);

/// A program of `typed`.
pub type Program = crate::program::Program<Function>;

/// What a function is in source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FunctionKind {
    /// `scratch`: a C function.
    Scratch,
    /// `rake`: a C function whose result is a sweep.
    Rake,
    /// `tine #name(...)`: a predicate, only ever inlined.
    Tine,
    /// `run`: a C function without a result that reads and writes memory.
    Run,
}

impl FunctionKind {
    /// The word that defines one.
    pub const fn word(self) -> &'static str {
        match self {
            FunctionKind::Scratch => "scratch",
            FunctionKind::Rake => "rake",
            FunctionKind::Tine => "tine",
            FunctionKind::Run => "run",
        }
    }
}

/// A scratch, rake, tine or run.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// What it is.
    pub kind: FunctionKind,
    /// Its name; a tine's with its `#`, since tines have names of their own.
    pub name: SmolStr,
    /// Its name in source.
    pub span: Span,
    /// Its parameters, in order.
    pub params: Vec<LocalId>,
    /// What the parameters that are addresses lead to.
    pub pointees: ArenaMap<LocalId, Pointee>,
    /// Its parameters and every name bound in its body.
    pub locals: Arena<Local>,
    /// All its expressions.
    pub exprs: Arena<Expr>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// The last statement's expression; in a rake the sweep, in a tine the predicate, in a run nothing.
    pub result: Option<ExprId>,
    /// The declared type of the result.
    pub ty: Option<Ty>,
}

/// A name.
#[derive(Clone, PartialEq, Debug)]
pub struct Local {
    /// Its spelling.
    pub name: SmolStr,
    /// The type of its value; of one element for an array.
    pub ty: Ty,
    /// What it names.
    pub kind: LocalKind,
    /// Where it is bound.
    pub span: Span,
}

/// What a name names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LocalKind {
    /// A parameter, a `let`, a stage or the result of a through block.
    Value,
    /// A local tine, which is a mask.
    Tine,
    /// The index of a repeat, known when compiled.
    Index,
    /// A mutable location.
    Location,
    /// A mutable array of this many locations.
    Array(u32),
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// `let name = value`, `tine #name means value`.
    Let(Binding),
    /// Consecutive fused bindings.
    Region(Vec<Binding>),
    /// `name := value`; in an array, every element's first value.
    Location(Binding),
    /// `name <- value`, `name[element] <- value`.
    Assign {
        /// The location.
        local: LocalId,
        /// Which element of an array; a uniform integer of constants and repeat indices.
        element: Option<ExprId>,
        /// The new value.
        value: ExprId,
    },
    /// `repeat <index> from <from> up to <to>:`
    Repeat(Repeat),
    /// `through P [else u] into name:`
    Through(Through),
    /// The body of a stack run.
    Traverse(Traverse),
    /// `view[index] <- value`
    Store {
        /// Where.
        access: Access,
        /// What, a rack.
        value: ExprId,
    },
    /// `for <index> from a up to b by s:`
    For(For),
    /// `if c: ... else: ...`
    If(If),
}

/// The body of a stack run.
pub type Traverse = bodies::Traverse<LocalId, ExprId, Stmt>;

/// A place in a view.
pub type Access = bodies::Access<LocalId, ExprId>;

/// A counted loop; its carries are empty.
pub type For = bodies::For<LocalId, ExprId, Stmt>;

/// A choice between two bodies; its merges are empty.
pub type If = bodies::If<LocalId, ExprId, Stmt>;

/// A block computed under a mask.
pub type Through = bodies::Through<LocalId, ExprId, Stmt>;

/// One arm of a sweep.
pub type Arm = bodies::Arm<ExprId>;

/// A name and its value.
pub type Binding = bodies::Binding<LocalId, ExprId>;

/// A repeat with its constant bounds.
#[derive(Clone, PartialEq, Debug)]
pub struct Repeat {
    /// The index.
    pub index: LocalId,
    /// Its first value.
    pub from: i64,
    /// The bound, not reached.
    pub to: i64,
    /// What each trip does.
    pub body: Vec<Stmt>,
    /// The header in source.
    pub span: Span,
}

impl Repeat {
    /// How often the body runs.
    pub fn trips(&self) -> u64 {
        u64::try_from(i128::from(self.to) - i128::from(self.from)).unwrap_or(0)
    }
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Ty,
    /// Where it stands in source.
    pub span: Span,
}

/// What an expression computes.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// The element's bits, in every lane when the type is a rack or mask (a Boolean is 0 or 1).
    Const(u64),
    /// The current value of a name that is no array.
    Read(LocalId),
    /// The current value of an array's element.
    Element {
        /// The array.
        array: LocalId,
        /// Which element, as in [`Stmt::Assign`].
        index: ExprId,
    },
    /// A column's current rack, in lanes of the domain's width: narrower elements are widened.
    Column {
        /// The stack, a parameter.
        stack: LocalId,
        /// The column's position.
        column: u32,
    },
    /// What a view holds: a uniform of type `<T>` is one element, a rack consecutive elements or those at indices.
    Load(Access),
    /// An operation of the table, never `Param`, `Const`, `Splat` or `If`.
    Op {
        /// The operation.
        op: Op,
        /// Its immediate.
        imm: Imm,
        /// Its operands.
        args: Args,
    },
    /// A conditional; each branch is computed only in the lanes that take it.
    If {
        /// A mask or `<bool>`.
        condition: ExprId,
        /// Where it holds.
        then: ExprId,
        /// Elsewhere.
        otherwise: ExprId,
    },
    /// A call of a scratch, rake or tine; a uniform may stand for a rack parameter.
    Call {
        /// Who is called.
        callee: FunctionId,
        /// One argument per parameter.
        args: Args,
    },
    /// A rake's result: in each lane the value of the first arm whose predicate holds. A rack or mask; only the last arm
    /// may be `_`.
    Sweep {
        /// In priority order, at least one.
        arms: Vec<Arm>,
    },
    /// An inlined call: statements, then the value. A uniform result is broadcast to the block's type.
    Block {
        /// What it computes first.
        body: Vec<Stmt>,
        /// Its value.
        result: ExprId,
    },
}
