//! What the obligations are checked against: the signature of each function and what its source selected.

use crate::shapes::{self, FmaSign};
use rake_ir::allocated::{Function, Program};
use rake_ir::machine::x86::Space;
use rake_ir::machine::{Class, Inst, Kind};
use rake_ir::profile::Profile;
use rake_ir::selected;
use rake_ir::span::Span;
use rake_ir::types::Ty;
use smol_str::SmolStr;
use std::collections::BTreeMap;

/// Facts of an object's functions.
#[derive(Clone, PartialEq, Debug)]
pub struct Metadata {
    /// The profile.
    pub profile: Profile,
    /// The functions in the order of the object.
    pub functions: Vec<FunctionFacts>,
}

/// Facts of one function.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionFacts {
    /// Its symbol.
    pub name: SmolStr,
    /// Its definition.
    pub span: Span,
    /// Whether other shared objects may call it.
    pub exported: bool,
    /// Its parameters.
    pub params: Vec<Ty>,
    /// Its result.
    pub result: Ty,
    /// The fused multiply-adds that were selected, by sign: `a*b+c`, `a*b-c`, `-(a*b)+c`, `-(a*b)-c`.
    pub multiply_adds: [u32; 4],
    /// The cross-lane instructions that were selected, by mnemonic.
    pub cross_lane: BTreeMap<SmolStr, u32>,
    /// The instructions that compute with a mask's bits in general registers, by mnemonic.
    pub words: BTreeMap<SmolStr, u32>,
    /// The fused regions in the order of their first instructions.
    pub regions: Vec<RegionFacts>,
}

/// What a fused region computes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RegionFacts {
    /// How often each instruction stands in it, copies and constants apart; fused multiply-adds by their sign.
    pub operations: BTreeMap<SmolStr, u32>,
}

impl Metadata {
    /// The facts of an allocated program, for a caller that has nothing earlier: allocation vouches for itself.
    pub fn of(program: &Program, exported: &dyn Fn(&str) -> bool) -> Metadata {
        let Some(space) = Space::of(program.profile) else {
            return Metadata { profile: program.profile, functions: Vec::new() };
        };
        let facts = program.functions.iter().map(|f| FunctionFacts::allocated(f, space, exported(&f.name)));
        Metadata { profile: program.profile, functions: facts.collect() }
    }

    /// The facts of a program as it was selected, so that no later pass vouches for itself; `program`, what was made of
    /// it, says only in which order the regions stand.
    pub fn selected(selected: &selected::Program, program: &Program, exported: &dyn Fn(&str) -> bool) -> Metadata {
        let Some(space) = Space::of(selected.profile) else {
            return Metadata { profile: selected.profile, functions: Vec::new() };
        };
        let facts = |(at, f): (usize, &selected::Function)| {
            let mut place: BTreeMap<u32, usize> = BTreeMap::new();
            for (at, inst) in program.functions.get(at).iter().flat_map(|f| f.insts.iter().enumerate()) {
                if let Some(region) = inst.region {
                    place.entry(region).or_insert(at);
                }
            }
            let (params, exported) = (f.params.iter().map(|p| p.ty).collect(), exported(&f.name));
            let facts = FunctionFacts::new(f.name.clone(), f.span, exported, params, f.result_ty);
            let facts = facts.count(&f.insts, space, &place);
            match program.functions.get(at) {
                Some(made) => facts.computed_again(&FunctionFacts::allocated(made, space, exported)),
                None => facts,
            }
        };
        Metadata { profile: selected.profile, functions: selected.functions.iter().enumerate().map(facts).collect() }
    }
}

impl FunctionFacts {
    fn new(name: SmolStr, span: Span, exported: bool, params: Vec<Ty>, result: Ty) -> FunctionFacts {
        let (multiply_adds, regions) = ([0; 4], Vec::new());
        let (cross_lane, words) = (BTreeMap::new(), BTreeMap::new());
        FunctionFacts { name, span, exported, params, result, multiply_adds, cross_lane, words, regions }
    }

    fn allocated(function: &Function, space: Space, exported: bool) -> FunctionFacts {
        let params = function.params.iter().map(|p| p.ty).collect();
        let facts = FunctionFacts::new(function.name.clone(), function.span, exported, params, function.result_ty);
        facts.count(&function.insts, space, &BTreeMap::new())
    }

    /// Allocation may compute a value again inside its region, but neither a fused multiply-add nor what moves lanes.
    fn computed_again(mut self, made: &FunctionFacts) -> Self {
        for (region, made) in self.regions.iter_mut().zip(&made.regions) {
            for (name, count) in &mut region.operations {
                if !shapes::is_counted(name) {
                    *count = (*count).max(made.operations.get(name).copied().unwrap_or(0));
                }
            }
        }
        self
    }

    /// Counts instructions; regions in the order of `place`, those that are not there by their first instructions.
    fn count<R: Copy + PartialEq>(mut self, insts: &[Inst<R>], space: Space, place: &BTreeMap<u32, usize>) -> Self {
        let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
        let mut regions: Vec<(usize, RegionFacts)> = Vec::new();
        let before = std::iter::once(None).chain(insts.iter().map(Some));
        for (inst, before) in insts.iter().zip(before) {
            let Some(mnemonic) = inst.op.info().mnemonics[space as usize] else { continue };
            if let Some(sign) = FmaSign::of(mnemonic) {
                self.multiply_adds[sign as usize] += 1;
            }
            let in_memory = inst.op.info().kind == Kind::Const;
            if shapes::is_cross_lane(mnemonic) && !in_memory {
                *self.cross_lane.entry(shapes::crossing_name(mnemonic)).or_default() += 1;
            }
            let info = inst.op.info();
            let general = info.dst.iter().chain(info.slots.iter().map(|s| &s.view)).any(|v| v.class() == Class::G);
            if info.kind == Kind::Word && general {
                *self.words.entry(SmolStr::new_static(mnemonic)).or_default() += 1;
            }
            let Some(region) = inst.region else { continue };
            let next = numbers.len();
            let index = *numbers.entry(region).or_insert(next);
            if regions.len() == index {
                regions.push((place.get(&region).copied().unwrap_or(usize::MAX), RegionFacts::default()));
            }
            if !is_neutral(inst, before, mnemonic) {
                *regions[index].1.operations.entry(shapes::region_name(mnemonic)).or_default() += 1;
            }
        }
        regions.sort_by_key(|region| region.0);
        self.regions = regions.into_iter().map(|region| region.1).collect();
        self
    }
}

/// Whether an instruction is a copy or a constant, as [`shapes::is_neutral`] sees it in the bytes: also one that makes a
/// constant of one value read twice, be it from a register or from the copy of it made just `before`.
fn is_neutral<R: Copy + PartialEq>(inst: &Inst<R>, before: Option<&Inst<R>>, mnemonic: &str) -> bool {
    let copy = matches!(inst.op.info().kind, Kind::Move | Kind::Const) || shapes::changes_file(mnemonic);
    let [first, second] = inst.args[..] else { return copy };
    let copied = before.filter(|copy| copy.op.info().kind == Kind::Move && copy.dst == first.reg());
    let same = first == second || copied.is_some_and(|copy| copy.args.first() == Some(&second));
    copy || first.reg().is_some() && same && shapes::is_idiom(mnemonic)
}
