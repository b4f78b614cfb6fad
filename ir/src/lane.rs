//! The SSA core that `tined` and `fused` share: straight-line lane operations over one arena of values per function.
//!
//! The two IRs differ only in what a fused region holds, so the core takes the region as a parameter. Control flow that
//! runs bring later (counted loops, uniform branches) becomes further [`Stmt`]s; no general CFG is needed anywhere.
//!
//! Invariants: a value's operands stand before it in program order; `mask`, when present, is a truth of the value's
//! lane width that stands before it; a fact of inactive lanes follows from those of the operands ([`fact`]); every
//! operation's types follow [`Op::infer`](crate::ops::Op::infer).

mod benign;
mod check;
mod eval;
mod facts;
mod text;

pub use benign::{benign_bits, needs_benign, raises_nothing};
pub use check::{Checker, check, check_sanitised};
pub use eval::{EvalError, Evaluation, eval, eval_function};
pub use facts::{completes, excludes, fact, implies, known};
pub use text::{FunctionPrinter, FunctionReader, number, print, read};

use crate::ops::{Imm, Op};
use crate::span::Span;
use crate::types::Ty;
use la_arena::{Arena, Idx};
use smallvec::SmallVec;
use smol_str::SmolStr;

/// A value; `%3` in dumps, numbered in program order per function.
pub type ValueId = Idx<Value>;

/// Operands of one value.
pub type Args = SmallVec<[ValueId; 3]>;

/// One lane operation and its result.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// What it computes.
    pub op: Op,
    /// Its immediate.
    pub imm: Imm,
    /// Its operands.
    pub args: Args,
    /// Its type.
    pub ty: Ty,
    /// The lanes in which it is computed; `None` is all of them. Outside those lanes it has no value.
    pub mask: Option<ValueId>,
    /// What it is known to hold in every lane outside its mask: a fact for the machine, which computes whole racks. Nobody
    /// reads those lanes.
    pub inactive: Option<u64>,
    /// Where the source asks for it.
    pub span: Span,
    /// The source name it was bound to, for people; never meaning.
    pub name: Option<SmolStr>,
}

/// A parameter; `Op::Param` values read it by position.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// Its source name.
    pub name: SmolStr,
    /// Its type.
    pub ty: Ty,
    /// Its declaration.
    pub span: Span,
}

impl<R: Region> Function<R> {
    /// Its result's type.
    pub fn result_type(&self) -> Ty {
        self.values[self.result].ty
    }

    /// The values that the function computes, regions included, in program order. Values that stand for a proof only
    /// are not among them.
    pub fn order(&self) -> impl Iterator<Item = ValueId> {
        self.body
            .iter()
            .flat_map(|stmt| match stmt {
                Stmt::Value(id) => std::slice::from_ref(id),
                Stmt::Region(region) => region.computed(),
            })
            .copied()
    }

    /// The types of a value's operands.
    pub fn operand_types(&self, value: &Value) -> SmallVec<[Ty; 3]> {
        value.args.iter().map(|&arg| self.values[arg].ty).collect()
    }
}

/// What the two IRs say about their fused regions.
pub trait Region: Sized + Clone + PartialEq + std::fmt::Debug {
    /// The IR's name, which the first line of its dump holds.
    const IR: &'static str;
    /// Whether `select` reads only the arm that it picks, as the instruction does; the language's reads both.
    const PICKS: bool;
    /// Whether contracted operations may stand in a region.
    const CONTRACTED: bool;

    /// The values it computes, in program order.
    fn computed(&self) -> &[ValueId];
    /// The values that stand in it for a proof only, in program order.
    fn hidden(&self) -> &[ValueId];
    /// The computed values that later code may read; `None` when any.
    fn outputs(&self) -> Option<Vec<ValueId>>;
    /// Whether only what a stage may hold may stand in it; no longer once a pass went below the vocabulary.
    fn only_stages(&self) -> bool;
    /// Prints the lines between `region {` and `}`.
    fn print(&self, printer: &mut FunctionPrinter);
    /// Reads the lines after `region {` up to `}`.
    ///
    /// # Errors
    /// The first line that cannot be read.
    fn read(reader: &mut FunctionReader) -> crate::text::Result<Self>;
    /// Checks what is particular to it, after its values and before code that follows.
    fn check(&self, checker: &mut Checker);
}

/// One step of a body.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt<R> {
    /// Compute a value.
    Value(ValueId),
    /// Compute a fused region.
    Region(R),
}

/// A scratch or rake.
#[derive(Clone, PartialEq, Debug)]
pub struct Function<R> {
    /// Its name, which is its C symbol.
    pub name: SmolStr,
    /// Its definition's name in source.
    pub span: Span,
    /// Its parameters.
    pub params: Vec<Param>,
    /// All its values.
    pub values: Arena<Value>,
    /// The order of computation.
    pub body: Vec<Stmt<R>>,
    /// The result; its type is the function's.
    pub result: ValueId,
}

/// A program of such functions.
pub type Program<R> = crate::program::Program<Function<R>>;

/// How far the graph of a region may be rewritten (`--fuse`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum FuseLevel {
    /// Bit-identical rewrites only.
    Exact,
    /// Those and contraction.
    Contract,
    /// Everything equal over the reals.
    #[default]
    Full,
}

impl FuseLevel {
    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            FuseLevel::Exact => "exact",
            FuseLevel::Contract => "contract",
            FuseLevel::Full => "full",
        }
    }

    /// The level with this name.
    pub fn from_name(name: &str) -> Option<FuseLevel> {
        [FuseLevel::Exact, FuseLevel::Contract, FuseLevel::Full].into_iter().find(|l| l.name() == name)
    }
}
