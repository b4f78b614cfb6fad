//! The SSA core that `tined` and `fused` share: straight-line lane operations over one arena of values per function.
//!
//! The two IRs differ only in what a fused region holds, so the core takes the region as a parameter. The control flow of
//! runs is structured and stays in the list: [`Stmt::Open`] and [`Stmt::Close`] stand around a body.
//!
//! ```text
//! traverse %3 up to %2 by 32 {             ~~ the records of a stack, a rack of 32-bit lanes at a time
//!   %4 : f32s = load f32 %1, %3
//!   ...
//! }
//! if %5 {
//!   loop {
//!     %6 : <i64> = carry %0
//!     %7 : <i64> = add %6, %1
//!     %8 : <bool> = lt %7, %2
//!   } again %8 with %6 = %7
//! } else {
//! }
//! %9 : <i64> = merge %6, %0
//! ```
//!
//! In a traverse's last rack the lanes from the count on are inactive, though values there name no mask.
//!
//! Invariants: a value's operands stand before it in program order; `mask`, when present, is a truth of the value's
//! lane width that stands before it; a fact of inactive lanes follows from those of the operands ([`fact`]); every
//! operation's types follow [`Op::infer`](crate::ops::Op::infer); what a body computes is read in that body only, but for
//! its carries, which keep their last values, and for what `merge` takes from the two bodies of an `if`.

mod benign;
mod check;
mod control;
mod eval;
mod execute;
mod facts;
mod text;

pub use benign::{benign_bits, needs_benign, raises_nothing};
pub use check::{Checker, check, check_sanitised};
pub use control::{Extent, extents};
pub(crate) use eval::MOST_TRIPS;
pub use eval::{EvalError, Evaluation, eval, eval_function, eval_run};
pub use facts::{completes, excludes, fact, implies, known};
pub(crate) use text::read_pointee;
pub use text::{FunctionPrinter, FunctionReader, number, print, read};

use crate::ops::{Imm, Op};
use crate::span::Span;
use crate::types::{Pointee, Ty};
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
    /// What an address leads to.
    pub points_to: Option<Pointee>,
    /// Its declaration.
    pub span: Span,
}

impl<R: Region> Function<R> {
    /// Its result's type; `None` of a run.
    pub fn result_type(&self) -> Option<Ty> {
        self.result.map(|result| self.values[result].ty)
    }

    /// The values that the function computes, regions included, in program order. Values that stand for a proof only
    /// are not among them.
    pub fn order(&self) -> impl Iterator<Item = ValueId> {
        self.body
            .iter()
            .flat_map(|stmt| match stmt {
                Stmt::Value(id) | Stmt::Open(Open::Traverse { index: id, .. }) => std::slice::from_ref(id),
                Stmt::Region(region) => region.computed(),
                Stmt::Open(_) | Stmt::Else | Stmt::Close(_) => &[],
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
    /// Begin a body.
    Open(Open),
    /// End the first body of an `if` and begin the second.
    Else,
    /// End a body.
    Close(Close),
}

impl<R> Stmt<R> {
    /// What a marker reads, in order.
    pub fn marker_reads(&self) -> SmallVec<[ValueId; 4]> {
        match self {
            Stmt::Open(Open::Traverse { count: read, .. } | Open::If(read)) => SmallVec::from_slice(&[*read]),
            Stmt::Close(close) => close.again.into_iter().chain(close.next.iter().map(|next| next.1)).collect(),
            Stmt::Open(Open::Loop) | Stmt::Else | Stmt::Value(_) | Stmt::Region(_) => SmallVec::new(),
        }
    }

    /// A marker in another list, the values that it names exchanged; `None` for other statements.
    pub fn renamed<S>(&self, mut new: impl FnMut(ValueId) -> ValueId) -> Option<Stmt<S>> {
        Some(match self {
            Stmt::Value(_) | Stmt::Region(_) => return None,
            Stmt::Open(Open::Traverse { index, count, bits }) => {
                Stmt::Open(Open::Traverse { index: new(*index), count: new(*count), bits: *bits })
            }
            Stmt::Open(Open::Loop) => Stmt::Open(Open::Loop),
            Stmt::Open(Open::If(condition)) => Stmt::Open(Open::If(new(*condition))),
            Stmt::Else => Stmt::Else,
            Stmt::Close(close) => Stmt::Close(Close {
                again: close.again.map(&mut new),
                next: close.next.iter().map(|&(carry, next)| (new(carry), new(next))).collect(),
            }),
        })
    }
}

/// What a body is executed for.
#[derive(Clone, PartialEq, Debug)]
pub enum Open {
    /// The records of a stack, one rack of `bits`-wide lanes at a time. In the last rack the lanes from the count on are
    /// inactive. Only `tined` and the first passes on `fused` have it.
    Traverse {
        /// The number of the rack's first record, of the operation `index`.
        index: ValueId,
        /// How many records there are.
        count: ValueId,
        /// Width of a lane.
        bits: u32,
    },
    /// Once, and again while [`Close::again`] holds.
    Loop,
    /// Once if this `<bool>` holds.
    If(ValueId),
}

/// The end of a body.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Close {
    /// The `<bool>` while which a loop goes on.
    pub again: Option<ValueId>,
    /// What the carries of a traverse or loop become, all at once.
    pub next: Vec<(ValueId, ValueId)>,
}

/// A scratch, rake or run.
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
    /// The result; its type is the function's. Runs have none.
    pub result: Option<ValueId>,
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
