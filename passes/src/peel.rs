//! `peel` (fused → fused): a traverse becomes a loop over whole racks, several in flight where that pays, and one rest
//! under a mask.
//!
//! ```text
//! traverse %3 up to %2 by 32 {            %8 : <i64> = bit_and %2, %7         ~~ the whole racks' records
//!   %4 : f32s = load f32 %1, %3           ...
//!   %5 : f32s = sqrt %4                   if %9 {
//!   %6 : f32s = store f32 %1, %3, %5        loop {
//! }                                           %10 : <i64> = carry %5
//!                                 =>          %11 : f32s = load f32 %1, %10
//!                                             ...
//!                                           } again %15 with %10 = %14
//!                                         }
//!                                         if %16 {
//!                                           %18 : mask = in_range %17
//!                                           %19 : f32s = load f32 %1, %8 if %18 else 0.0
//!                                           %20 : f32s = sqrt %19 if %18
//!                                           %21 : f32s = store f32 %1, %8, %20 if %18
//!                                         }
//! ```
//!
//! The rest's mask makes `sanitise` protect its inactive lanes; whole racks need no protection. What no record changes is
//! computed once, before. Racks in flight take turns statement by statement, a region with its twins, unless what one rack
//! gives the next needs it done: then they follow each other.
//!
//! A counted loop is treated alike where its accesses stop at a bound, and has several trips in flight (`counted`).
//!
//! Selected lanes are moved to the front of a rack and the whole rack is stored: behind them it touches only records that were
//! read before, for no more are kept than were visited. In the rest only as many lanes are stored as were selected.

mod apart;
mod copy;
mod counted;
mod flight;
#[cfg(test)]
mod tests;
mod turns;

use crate::select::rule::Target;
use copy::{Copier, Rest};
use la_arena::Arena;
use rake_ir::fused::{Function, Program, Region};
use rake_ir::lane::{Args, Close, Open, Param, Stmt, Value, ValueId, extents};
use rake_ir::ops::{Imm, LaneRule, Op};
use rake_ir::profile::Profile;
use rake_ir::span::Span;
use rake_ir::types::Ty;
use std::collections::{BTreeSet, HashMap};

type Stmts = Vec<Stmt<Region>>;

/// Peels in every function.
pub fn run(mut program: Program, target: &dyn Target) -> Program {
    for f in &mut program.functions {
        function(f, program.profile, target);
    }
    program
}

/// Peels the traverses and loops of one function, with as many racks in flight as are of use and find registers.
pub fn function(f: &mut Function, profile: Profile, target: &dyn Target) {
    let has = |wanted: fn(&Open) -> bool| f.body.iter().any(|stmt| matches!(stmt, Stmt::Open(open) if wanted(open)));
    let traverses = has(|open| matches!(open, Open::Traverse { .. }));
    let loops = has(|open| *open == Open::Loop);
    if !traverses && !loops {
        return;
    }
    let mut racks = wanted(f, profile);
    while racks > 1 && !flight::fits(f, profile, target, racks) {
        racks = flight::fewer(racks);
    }
    // What a loop's whole racks need beside its last one may be a register too many.
    if racks == 1 && loops && !flight::fits(f, profile, target, racks) {
        racks = 0;
    }
    with_racks(f, profile, racks);
}

/// The racks in flight that the traverses and innermost loops of a function would like.
fn wanted(f: &Function, profile: Profile) -> usize {
    let Ok(extents) = extents(&f.body) else { return 1 };
    let wanted = f.body.iter().zip(extents).filter_map(|(stmt, extent)| {
        let (Stmt::Open(open), Some(extent)) = (stmt, extent) else { return None };
        let inside = &f.body[extent.open + 1..extent.close];
        let innermost = || !inside.iter().any(|stmt| matches!(stmt, Stmt::Open(Open::Loop)));
        match open {
            Open::Traverse { .. } => {}
            Open::Loop if innermost() => {}
            _ => return None,
        }
        let stmts: Vec<&Stmt<Region>> = inside.iter().collect();
        let across = flight::across(&f.values, &stmts, profile).unwrap_or(1);
        Some(flight::wanted(&f.values, &stmts, profile).max(across))
    });
    wanted.max().unwrap_or(1)
}

/// Peels with so many racks in flight; with none, loops stay as they are.
fn with_racks(f: &mut Function, profile: Profile, racks: usize) {
    let stmts = std::mem::take(&mut f.body);
    if extents(&stmts).is_err() {
        f.body = stmts;
        return;
    }
    let mut peel = Peel {
        params: &f.params,
        values: &mut f.values,
        out: Vec::with_capacity(stmts.len()),
        profile,
        racks: racks.max(1),
        loops: racks > 0,
        last: HashMap::new(),
        holds: Vec::new(),
    };
    peel.stmts(&stmts);
    f.result = f.result.map(|result| peel.now(result));
    f.body = peel.out;
}

struct Peel<'a> {
    params: &'a [Param],
    values: &'a mut Arena<Value>,
    out: Stmts,
    profile: Profile,
    /// Racks in flight.
    racks: usize,
    /// Whether loops are peeled too.
    loops: bool,
    /// What a traverse's carries are after it.
    last: HashMap<ValueId, ValueId>,
    /// For each body that is open the condition that holds there.
    holds: Vec<Option<ValueId>>,
}

struct Traverse {
    index: ValueId,
    count: ValueId,
    bits: u32,
}

/// A traverse's body, apart from what no record changes.
struct Body<'s> {
    carries: Vec<ValueId>,
    stmts: Vec<&'s Stmt<Region>>,
    next: HashMap<ValueId, ValueId>,
    /// What may differ from rack to rack.
    changing: BTreeSet<ValueId>,
}

impl Peel<'_> {
    /// Peels in a list of statements.
    fn stmts(&mut self, stmts: &[Stmt<Region>]) {
        let extents = extents(stmts).unwrap_or_default();
        let mut at = 0;
        while let (Some(stmt), Some(extent)) = (stmts.get(at), extents.get(at)) {
            let inside =
                extent.map(|extent| (&stmts[extent.open + 1..extent.close], &stmts[extent.close], extent.close));
            match (stmt, inside) {
                (Stmt::Open(Open::Traverse { index, count, bits }), Some((inside, Stmt::Close(close), end))) => {
                    let traverse = Traverse { index: *index, count: self.now(*count), bits: *bits };
                    self.traverse(&traverse, inside, close);
                    at = end;
                }
                (Stmt::Open(Open::Loop), Some((inside, close, end))) if self.loops => {
                    self.counted(inside, close);
                    at = end;
                }
                _ => {
                    self.keep(stmt);
                    self.pass(stmt);
                }
            }
            at += 1;
        }
    }

    /// Passes a marker: another condition holds.
    fn pass(&mut self, stmt: &Stmt<Region>) {
        match stmt {
            Stmt::Open(Open::If(condition)) => self.holds.push(Some(self.now(*condition))),
            Stmt::Open(_) => self.holds.push(None),
            Stmt::Else => {
                self.holds.pop();
                self.holds.push(None);
            }
            Stmt::Close(_) => drop(self.holds.pop()),
            Stmt::Value(_) | Stmt::Region(_) => {}
        }
    }

    fn now(&self, id: ValueId) -> ValueId {
        self.last.get(&id).copied().unwrap_or(id)
    }

    /// A statement outside traverses.
    fn keep(&mut self, stmt: &Stmt<Region>) {
        let ids: &[ValueId] = match stmt {
            Stmt::Value(id) => std::slice::from_ref(id),
            Stmt::Region(region) => &region.values,
            _ => &[],
        };
        for &id in ids {
            let last = &self.last;
            let value = &mut self.values[id];
            value.args.iter_mut().chain(&mut value.mask).for_each(|arg| *arg = *last.get(arg).unwrap_or(arg));
        }
        self.out.push(stmt.renamed(|id| self.now(id)).unwrap_or_else(|| stmt.clone()));
    }

    fn push(&mut self, op: Op, imm: Imm, args: &[ValueId], ty: Ty) -> ValueId {
        let span = args.first().map_or(Span::default(), |&arg| self.values[arg].span);
        let args = Args::from_slice(args);
        let id = self.values.alloc(Value { op, imm, args, ty, mask: None, inactive: None, span, name: None });
        self.out.push(Stmt::Value(id));
        id
    }

    fn number(&mut self, number: i64) -> ValueId {
        self.push(Op::Const, Imm::Bits(number as u64), &[], Ty::LONG)
    }

    fn traverse(&mut self, traverse: &Traverse, stmts: &[Stmt<Region>], close: &Close) {
        let body = self.body(Some(traverse.index), stmts, close);
        let lanes = self.profile.lanes_of_bits(traverse.bits) as i64;
        let racks = self.racks as i64;
        let zero = self.number(0);
        let mut done = zero;
        let mut carries: Vec<ValueId> = body.carries.iter().map(|&carry| self.values[carry].args[0]).collect();
        // First as many at once as are in flight, then one by one.
        let mut steps = vec![racks * lanes, lanes];
        steps.dedup();
        for step in steps {
            // Where whole trips end is known at once when a trip's records are a power of two.
            let known = step & (step - 1) == 0;
            let upto = match step {
                1 => traverse.count,
                _ if known => {
                    let whole = self.number(-step);
                    self.push(Op::BitAnd, Imm::None, &[traverse.count, whole], Ty::LONG)
                }
                _ => {
                    let last = self.number(step - 1);
                    self.push(Op::Sub, Imm::None, &[traverse.count, last], Ty::LONG)
                }
            };
            let enough = self.push(Op::Lt, Imm::None, &[done, upto], Ty::TRUTH);
            self.out.push(Stmt::Open(Open::If(enough)));
            let (index, after) = self.whole(traverse, &body, (done, upto), step / lanes, &carries);
            self.out.push(Stmt::Close(Close::default()));
            done = if known { upto } else { self.merged(&[index], &[done])[0] };
            carries = self.merged(&after, &carries);
        }
        if lanes > 1 {
            let left = self.push(Op::Lt, Imm::None, &[done, traverse.count], Ty::TRUTH);
            self.out.push(Stmt::Open(Open::If(left)));
            let rest = self.push(Op::Sub, Imm::None, &[traverse.count, done], Ty::LONG);
            let mask = self.push(Op::InRange, Imm::None, &[rest], Ty::Mask(traverse.bits));
            let rest = Some(Rest { mask, bits: traverse.bits });
            let mut copier = Copier::new(traverse.index, done, &body.carries, &carries, rest);
            body.stmts.iter().for_each(|stmt| copier.stmts(self.values, stmt, &mut self.out));
            let after = copier.next(&body.carries, &body.next);
            self.out.push(Stmt::Close(Close::default()));
            carries = self.merged(&after, &carries);
        }
        self.last.extend(body.carries.iter().copied().zip(carries));
    }

    /// A loop over whole racks; the index of what is left after it, and what the carries are.
    fn whole(
        &mut self,
        traverse: &Traverse,
        body: &Body,
        (from, upto): (ValueId, ValueId),
        racks: i64,
        carries: &[ValueId],
    ) -> (ValueId, Vec<ValueId>) {
        self.out.push(Stmt::Open(Open::Loop));
        let index = self.push(Op::Carry, Imm::None, &[from], Ty::LONG);
        let own: Vec<ValueId> = carries.iter().map(|&first| self.carry(first)).collect();
        let lanes = self.profile.lanes_of_bits(traverse.bits) as i64;
        let mut copiers = Vec::new();
        for rack in 0..racks {
            let first = match rack {
                0 => index,
                _ => {
                    let offset = self.number(rack * lanes);
                    self.push(Op::Add, Imm::None, &[index, offset], Ty::LONG)
                }
            };
            copiers.push(Copier::new(traverse.index, first, &body.carries, &own, None));
        }
        let mut next = own.clone();
        if body.carries.is_empty() {
            turns::copy(&mut copiers, self.values, &body.stmts, &mut self.out);
        } else {
            for mut copier in copiers {
                copier.replace(&body.carries, &next);
                body.stmts.iter().for_each(|stmt| copier.stmts(self.values, stmt, &mut self.out));
                next = copier.next(&body.carries, &body.next);
            }
        }
        let step = self.number(racks * lanes);
        let then = self.push(Op::Add, Imm::None, &[index, step], Ty::LONG);
        let again = self.push(Op::Lt, Imm::None, &[then, upto], Ty::TRUTH);
        let next = [(index, then)].into_iter().chain(own.iter().copied().zip(next)).collect();
        self.out.push(Stmt::Close(Close { again: Some(again), next }));
        (index, own)
    }

    fn carry(&mut self, first: ValueId) -> ValueId {
        let ty = self.values[first].ty;
        self.push(Op::Carry, Imm::None, &[first], ty)
    }

    fn merged(&mut self, after: &[ValueId], before: &[ValueId]) -> Vec<ValueId> {
        let pairs: Vec<_> = after.iter().copied().zip(before.iter().copied()).collect();
        pairs.into_iter().map(|(a, b)| self.push(Op::Merge, Imm::None, &[a, b], self.values[a].ty)).collect()
    }

    /// Takes a body apart; writes what no record changes.
    fn body<'s>(&mut self, index: Option<ValueId>, stmts: &'s [Stmt<Region>], close: &Close) -> Body<'s> {
        let (carries, next) = (Vec::new(), close.next.iter().copied().collect());
        let mut body = Body { carries, stmts: Vec::new(), next, changing: index.into_iter().collect() };
        let changing = &mut body.changing;
        let mut nested = 0;
        for stmt in stmts {
            match stmt {
                Stmt::Value(id) if self.values[*id].op == Op::Carry && nested == 0 => {
                    body.carries.push(*id);
                    changing.insert(*id);
                    continue;
                }
                Stmt::Value(id) => {
                    let value = &self.values[*id];
                    let pure = !value.op.depends_on_place() && !matches!(value.op.info().lane, LaneRule::Sanitise(_));
                    let still = value.mask.is_none() && value.args.iter().all(|arg| !changing.contains(arg));
                    if nested == 0 && pure && still {
                        self.keep(stmt);
                        continue;
                    }
                    changing.insert(*id);
                }
                Stmt::Region(region) => changing.extend(&region.values),
                Stmt::Open(_) => nested += 1,
                Stmt::Close(_) => nested -= 1,
                Stmt::Else => {}
            }
            body.stmts.push(stmt);
        }
        body
    }
}
