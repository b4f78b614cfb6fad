//! `expand`: fused to fused. Replaces an operation that a profile has no instruction for by the sequence of operations
//! that is published for it. All profiles that use a sequence compute the same bits.
//!
//! ```text
//! %1 : f32s = nearest %0 if %9  =>    %1 : f32s = const 0.0
//!                                     %2 : f32s = if %9, %0, %1 if %9
//!                                     %3 : i32s = bitcast %2 if %9
//!                                     ...
//! ```
//!
//! Each step stands under the operation's mask and inside its region, which loses its proof. Under a mask the operand
//! becomes the operation's benign number in inactive lanes, at the sequence's start: every step is quiet on what the steps
//! before make of that number, so `sanitise` has nothing left to substitute. Where instructions take masks no operand
//! changes. The last step keeps the operation's place
//! and name. [`SEQUENCES`] is the table: adding a sequence is one row and one case.
//!
//! In runs, the steps of racks in flight take turns where registers reach ([`turns`]).

mod emit;
mod folds;
#[cfg(test)]
mod tests;
pub(crate) mod turns;

use crate::select::rule::{Key, Rule, Target};
use emit::Steps;
use rake_ir::fused::{Function, Program};
use rake_ir::lane::{Stmt, Value, ValueId};
use rake_ir::ops::Op;
use rake_ir::profile::Profile;
use rake_ir::sequences as lane_wise;
use rake_ir::sequences::Float;
use rake_ir::types::{Elem, Ty};

/// A published sequence.
pub struct Sequence {
    /// The operation that it replaces.
    pub op: Op,
    /// The elements of the operation's first operand.
    pub elems: &'static [Elem],
    /// Whether a profile needs it, unless its selection table has a rule for the operation.
    pub needed: fn(Profile) -> bool,
    /// Writes the steps over the operand and gives the last.
    build: for<'a> fn(&'a Steps<'a>, ValueId) -> ValueId,
    /// One line for the reference.
    pub doc: &'static str,
}

impl Sequence {
    /// The profiles of more than one lane that need it, by their selection tables.
    pub fn profiles<'a>(&self, target: impl Fn(Profile) -> &'a dyn Target) -> impl Iterator<Item = Profile> {
        let elem = self.elems[0];
        let needs = move |&profile: &Profile| {
            let own = sequence(self.op, elem, profile, target(profile));
            profile.lanes(elem) > 1 && own.is_some_and(|own| std::ptr::eq(own, self))
        };
        Profile::all().filter(needs)
    }
}

/// A row for an operation of one `f32`, by its sequence.
macro_rules! float {
    ($op:ident $name:ident $needed:expr, $doc:literal) => {
        Sequence {
            op: Op::$op,
            elems: &[Elem::F32],
            needed: $needed,
            build: |steps, x| lane_wise::$name(Float::new(steps, x)).value(),
            doc: $doc,
        }
    };
}

/// A row for a reduction or scan.
macro_rules! fold {
    ($op:ident $elems:ident $needed:ident, $build:expr, $doc:ident) => {
        Sequence { op: Op::$op, elems: $elems, needed: $needed, build: $build, doc: $doc }
    };
}

/// Where rounding to integral values has no instruction.
const NO_ROUNDING: fn(Profile) -> bool = |profile| !profile.info().rounds;
const EVERYWHERE: fn(Profile) -> bool = |_| true;
/// Where instructions take masks.
const MASKS: fn(Profile) -> bool = Profile::native_masks;
const NO_MASKS: fn(Profile) -> bool = |profile| !MASKS(profile);
/// Where the products of all prefixes of integers are not a sequence of the machine's own.
const NO_PRODUCTS: fn(Profile) -> bool = EXTREMA;
/// Where integers have no minimum and maximum in one instruction.
const NO_EXTREMA: fn(Profile) -> bool = |profile| !profile.info().whole_integers;
/// Where lanes of 32 bits are multiplied in one instruction; elsewhere the reduction has a sequence of its own.
const LANE_PRODUCTS: fn(Profile) -> bool = EXTREMA;
const EXTREMA: fn(Profile) -> bool = |profile| profile.info().whole_integers;
/// Where floats have no strict minimum and maximum in one instruction either.
const INTEGER_EXTREMA: fn(Profile) -> bool =
    |profile| EXTREMA(profile) && NO_MASKS(profile) && !STRICT_EXTREMA(profile);
/// Where floats have.
const STRICT_EXTREMA: fn(Profile) -> bool = |profile| profile.info().strict_extrema;
const NO_STRICT_EXTREMA: fn(Profile) -> bool = |profile| EXTREMA(profile) && !STRICT_EXTREMA(profile);
const FLOAT: &[Elem] = &[Elem::F32];
const SIGNED: &[Elem] = &[Elem::I32];
const UNSIGNED: &[Elem] = &[Elem::U32];
const INTS: &[Elem] = &[Elem::I32, Elem::U32];

/// Every sequence, in the order of the operation table.
pub static SEQUENCES: &[Sequence] = &[
    float!(Nearest nearest NO_ROUNDING, "The magnitude plus 2^23 minus 2^23; then the sign."),
    float!(Exp exp EVERYWHERE, "2^n e^r with n the integer nearest to x / ln 2; the power of two is multiplied in by halves. After Cephes."),
    float!(Log log EVERYWHERE, "n ln 2 + log(1 + f) with x = 2^n (1 + f). After Cephes."),
    float!(Log2 log2 EVERYWHERE, "n + log2(1 + f) with x = 2^n (1 + f). After Cephes."),
    float!(Tanh tanh EVERYWHERE, "1 - 2 / (e^2|x| + 1) with the sign of x, a polynomial below 0.625. After Cephes."),
    fold!(Sum FLOAT NO_MASKS, |s, x| folds::chain(s, x, Op::Add), ORDERED),
    fold!(Sum FLOAT MASKS, |s, x| folds::chain_in_lane_0(s, x, Op::Add), IN_LANE_0),
    fold!(Sum INTS EVERYWHERE, |s, x| folds::tree(s, x, Op::Add), TREE),
    fold!(Product FLOAT NO_MASKS, |s, x| folds::chain(s, x, Op::Mul), ORDERED),
    fold!(Product FLOAT MASKS, |s, x| folds::chain_in_lane_0(s, x, Op::Mul), IN_LANE_0),
    fold!(Product INTS LANE_PRODUCTS, |s, x| folds::tree(s, x, Op::Mul), TREE),
    fold!(Minimum FLOAT NO_EXTREMA, folds::minimum_joined, JOINED),
    fold!(Minimum FLOAT INTEGER_EXTREMA, |s, x| folds::extremum(s, x, Op::Min), STRICT),
    fold!(Minimum UNSIGNED NO_EXTREMA, |s, x| folds::tree_flipped(s, x, Op::Min), FLIPPED),
    fold!(Minimum SIGNED NO_EXTREMA, |s, x| folds::tree(s, x, Op::Min), TREE),
    fold!(Minimum INTS EXTREMA, |s, x| folds::tree(s, x, Op::Min), TREE),
    fold!(Maximum FLOAT NO_EXTREMA, folds::maximum_negated, NEGATED),
    fold!(Maximum FLOAT INTEGER_EXTREMA, folds::maximum, AS_INTEGERS),
    fold!(Maximum UNSIGNED NO_EXTREMA, |s, x| folds::tree_flipped(s, x, Op::Max), FLIPPED),
    fold!(Maximum SIGNED NO_EXTREMA, |s, x| folds::tree(s, x, Op::Max), TREE),
    fold!(Maximum INTS EXTREMA, |s, x| folds::tree(s, x, Op::Max), TREE),
    fold!(ScanSum FLOAT NO_MASKS, |s, x| folds::prefixes(s, x, Op::Add), PREFIXES),
    fold!(ScanSum FLOAT MASKS, |s, x| folds::prefixes_in_lane_0(s, x, Op::Add), TURNING),
    fold!(ScanSum INTS EVERYWHERE, |s, x| folds::scan(s, x, Op::Add, 0), DOUBLING),
    fold!(ScanProduct FLOAT NO_MASKS, |s, x| folds::prefixes(s, x, Op::Mul), PREFIXES),
    fold!(ScanProduct FLOAT MASKS, |s, x| folds::prefixes_in_lane_0(s, x, Op::Mul), TURNING),
    fold!(ScanProduct INTS NO_PRODUCTS, |s, x| folds::scan(s, x, Op::Mul, 1), DOUBLING),
    fold!(ScanMinimum FLOAT NO_MASKS, |s, x| folds::scan_extremum(s, x, Op::Min), STRICT_SCAN),
    fold!(ScanMinimum FLOAT MASKS, folds::scan_minimum_ordered, LOWEST),
    fold!(ScanMinimum UNSIGNED NO_EXTREMA, |s, x| folds::flipped(s, x, |s, x| folds::scan_same(s, x, Op::Min)), FLIPPED),
    fold!(ScanMinimum SIGNED NO_EXTREMA, |s, x| folds::scan_same(s, x, Op::Min), DOUBLING),
    fold!(ScanMinimum INTS EXTREMA, |s, x| folds::scan_same(s, x, Op::Min), DOUBLING),
    fold!(ScanMaximum FLOAT NO_EXTREMA, folds::scan_maximum_negated, NEGATED),
    fold!(ScanMaximum FLOAT STRICT_EXTREMA, |s, x| folds::scan_extremum(s, x, Op::Max), STRICT_SCAN),
    fold!(ScanMaximum FLOAT NO_STRICT_EXTREMA, folds::scan_maximum, AS_INTEGERS),
    fold!(ScanMaximum UNSIGNED NO_EXTREMA, |s, x| folds::flipped(s, x, |s, x| folds::scan_same(s, x, Op::Max)), FLIPPED),
    fold!(ScanMaximum SIGNED NO_EXTREMA, |s, x| folds::scan_same(s, x, Op::Max), DOUBLING),
    fold!(ScanMaximum INTS EXTREMA, |s, x| folds::scan_same(s, x, Op::Max), DOUBLING),
];

const ORDERED: &str = "Each lane in every lane of a rack, combined in order: no lane computes what the fold does not.";
const IN_LANE_0: &str = "Lane 0 alone takes in one lane after the other: no lane computes what the fold does not.";
const TURNING: &str = "The rack turns, and lane 0 alone takes in what comes to it.";
const LOWEST: &str = "As integers in the order of floats, NaNs below all; then any NaN is made the canonical one.";
const TREE: &str =
    "The rack combined with itself, lanes exchanged at ever smaller distances; the order does not matter.";
const STRICT: &str = "A tree, since the order does not matter; then any NaN is made the canonical one.";
const JOINED: &str = "A tree of minima that do not order zeros and lose NaNs in one of two lanes, each joined with that of the other; then any NaN is made the canonical one.";
const NEGATED: &str =
    "The negated minimum of the negated lanes, which takes fewer steps; then any NaN is made the canonical one.";
const AS_INTEGERS: &str = "The canonical NaN for any, which is above all as an integer; below zero the magnitude's bits are flipped, and integers order as floats.";
const FLIPPED: &str = "With their top bits flipped, unsigned integers order as signed ones.";
const PREFIXES: &str = "The prefixes of the ordered fold, each in every lane of a rack, put together.";
const DOUBLING: &str = "The rack combined with itself moved by ever greater distances.";
const STRICT_SCAN: &str =
    "By ever greater distances, since the order does not matter; then any NaN is made the canonical one.";

/// The sequence for an operation on a profile, if it needs one: the selection table has no rule for it.
pub fn sequence(op: Op, elem: Elem, profile: Profile, target: &dyn Target) -> Option<&'static Sequence> {
    let found = SEQUENCES.iter().find(|s| s.op == op && s.elems.contains(&elem) && (s.needed)(profile))?;
    matches!(target.rule(Key::Op(op), elem, profile), Rule::Unsupported(_)).then_some(found)
}

/// Expands every function.
pub fn run(mut program: Program, target: &dyn Target) -> Program {
    for f in &mut program.functions {
        *f = turns::most(f, program.profile, target).unwrap_or_else(|| {
            let mut apart = f.clone();
            function(&mut apart, program.profile, target, 1);
            apart
        });
    }
    program
}

/// Expands one function; steps of up to so many racks in flight take turns. Says whether any do.
pub fn function(function: &mut Function, profile: Profile, target: &dyn Target, turns: usize) -> bool {
    let found = |id: ValueId| needed(function, &function.values[id], profile, target).is_some();
    if !function.order().any(found) {
        return false;
    }
    let mut took_turns = false;
    let stmts = std::mem::take(&mut function.body);
    let mut rest = stmts.as_slice();
    while let Some((stmt, after)) = rest.split_first() {
        rest = after;
        match stmt {
            Stmt::Value(id) => {
                let sequence = needed(function, &function.values[*id], profile, target).is_some();
                let most = if sequence { turns } else { 1 };
                let twins = turns::twins(&function.values, *id, after, most);
                rest = &after[twins.len()..];
                took_turns |= !twins.is_empty();
                let all = std::iter::once(*id).chain(twins);
                let steps = all.map(|id| expanded(function, id, profile, target)).collect();
                function.body.extend(turns::taken(steps).map(Stmt::Value));
            }
            Stmt::Region(region) => {
                let mut region = region.clone();
                let steps = region.values.iter().flat_map(|&id| expanded(function, id, profile, target));
                let steps: Vec<ValueId> = steps.collect();
                if steps.len() != region.values.len() {
                    region.proof = None;
                }
                region.values = steps;
                function.body.push(Stmt::Region(region));
            }
            marker => function.body.push(marker.clone()),
        }
    }
    took_turns
}

fn needed(function: &Function, value: &Value, profile: Profile, target: &dyn Target) -> Option<&'static Sequence> {
    let elem = value.args.first().map(|&arg| function.values[arg].ty.elem())?;
    sequence(value.op, elem, profile, target)
}

/// The steps that compute a value: itself when it needs no sequence.
fn expanded(function: &mut Function, id: ValueId, profile: Profile, target: &dyn Target) -> Vec<ValueId> {
    let value = &function.values[id];
    let (Some(found), Some(&x)) = (needed(function, value, profile, target), value.args.first()) else {
        return vec![id];
    };
    let steps = Steps::new(function, id, profile);
    let x = steps.quiet(x);
    let last = (found.build)(&steps, x);
    steps.finish(last).place(function, id)
}

/// The type with another element of the same width: a rack's or a uniform's.
fn with_elem(ty: Ty, elem: Elem) -> Ty {
    match (ty, elem) {
        (_, Elem::Bool) => ty.truth(),
        (Ty::Uniform(_), _) => Ty::Uniform(elem),
        _ => Ty::Rack(elem),
    }
}
