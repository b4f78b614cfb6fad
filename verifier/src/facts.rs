//! What the obligations are checked against: the signature of each function and what its source selected.

use crate::Machine;
use rake_ir::allocated::{Function, Program};
use rake_ir::machine::Inst;
use rake_ir::profile::Profile;
use rake_ir::selected;
use rake_ir::span::Span;
use rake_ir::stacked;
use rake_ir::types::Ty;
use smallvec::SmallVec;
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
    /// Its result; a run has none.
    pub result: Option<Ty>,
    /// The fused multiply-adds that were selected, by sign: `a*b+c`, `a*b-c`, `-(a*b)+c`, `-(a*b)-c`.
    pub multiply_adds: [u32; 4],
    /// The cross-lane instructions that were selected, by mnemonic.
    pub cross_lane: BTreeMap<SmolStr, u32>,
    /// The instructions that compute with a mask's bits in general registers, by mnemonic.
    pub words: BTreeMap<SmolStr, u32>,
    /// The relaxed operations that were selected, by name: those whose result an engine may choose.
    pub relaxed: BTreeMap<SmolStr, u32>,
    /// The fused regions in the order of their first instructions.
    pub regions: Vec<RegionFacts>,
}

/// What a fused region computes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RegionFacts {
    /// How often each instruction stands in it, copies and constants apart; fused multiply-adds by their sign.
    pub operations: BTreeMap<SmolStr, u32>,
}

/// The sign of a fused multiply-add.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FmaSign {
    /// `a*b + c`.
    Add,
    /// `a*b - c`.
    Sub,
    /// `-(a*b) + c`.
    NegAdd,
    /// `-(a*b) - c`.
    NegSub,
}

/// What one instruction counts as, be it a row of the machine table or decoded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    /// A fused multiply-add.
    pub multiply_add: Option<FmaSign>,
    /// The name under which it is counted as moving lanes.
    pub cross_lane: Option<SmolStr>,
    /// The name under which it is counted as computing with a mask's bits.
    pub word: Option<SmolStr>,
    /// The name under which it is counted as relaxed.
    pub relaxed: Option<SmolStr>,
    /// The name under which it is counted in a region; `None` of copies and constants, which may stand in any region.
    pub operation: Option<SmolStr>,
}

impl Metadata {
    /// The facts of an allocated program, for a caller that has nothing earlier: allocation vouches for itself.
    pub fn of(program: &Program, exported: &dyn Fn(&str) -> bool) -> Metadata {
        let profile = program.profile;
        let Some(machine) = Machine::of(profile) else { return Metadata { profile, functions: Vec::new() } };
        let facts = program.functions.iter().map(|f| FunctionFacts::allocated(f, &machine, exported(&f.name)));
        Metadata { profile, functions: facts.collect() }
    }

    /// The facts of a program as it was selected, so that no later pass vouches for itself; `program`, what was made of
    /// it, says only in which order the regions stand.
    pub fn selected(selected: &selected::Program, program: &Program, exported: &dyn Fn(&str) -> bool) -> Metadata {
        let profile = selected.profile;
        let Some(machine) = Machine::of(profile) else { return Metadata { profile, functions: Vec::new() } };
        let facts = |(at, f): (usize, &selected::Function)| {
            let made = program.functions.get(at);
            let order = made.iter().flat_map(|f| &f.insts).map(|inst| inst.region);
            let exported = exported(&f.name);
            let facts = FunctionFacts::selected(f, &machine, exported, order);
            match made {
                Some(made) => facts.computed_again(&FunctionFacts::allocated(made, &machine, exported)),
                None => facts,
            }
        };
        Metadata { profile, functions: selected.functions.iter().enumerate().map(facts).collect() }
    }
}

impl FunctionFacts {
    fn new(name: SmolStr, span: Span, exported: bool, params: Vec<Ty>, result: Option<Ty>) -> FunctionFacts {
        let (multiply_adds, regions) = ([0; 4], Vec::new());
        let (cross_lane, words, relaxed) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        FunctionFacts { name, span, exported, params, result, multiply_adds, cross_lane, words, relaxed, regions }
    }

    fn allocated(function: &Function, machine: &Machine, exported: bool) -> FunctionFacts {
        let params = function.params.iter().map(|p| p.ty).collect();
        let result = function.result.map(|result| result.ty);
        let facts = FunctionFacts::new(function.name.clone(), function.span, exported, params, result);
        facts.count(&function.insts, &[], machine, &BTreeMap::new())
    }

    /// Facts of a selected function, its regions in the `order` in which their instructions stand in the end.
    pub(crate) fn selected(
        function: &selected::Function,
        machine: &Machine,
        exported: bool,
        order: impl Iterator<Item = Option<u32>>,
    ) -> FunctionFacts {
        let mut place: BTreeMap<u32, usize> = BTreeMap::new();
        for (at, region) in order.enumerate().filter_map(|(at, region)| Some((at, region?))) {
            place.entry(region).or_insert(at);
        }
        let params = function.params.iter().map(|p| p.ty).collect();
        let result = function.result.map(|result| result.ty);
        let facts = FunctionFacts::new(function.name.clone(), function.span, exported, params, result);
        facts.count(&function.insts, &[], machine, &place)
    }

    /// Facts of a stacked function, for a caller that has nothing earlier.
    pub(crate) fn stacked(function: &stacked::Function, machine: &Machine) -> FunctionFacts {
        let params = function.params.iter().map(|p| p.ty).collect();
        let result = function.result.map(|result| result.ty);
        let facts = FunctionFacts::new(function.name.clone(), function.span, true, params, result);
        let (mut insts, mut apart) = (Vec::new(), Vec::new());
        for inst in &function.code {
            let (dst, args, imm) = (None, SmallVec::new(), None);
            match inst.op() {
                Some(op) => insts.push(Inst::<u32> { op, dst, args, imm, region: inst.region, span: inst.span }),
                None => apart.push(insts.len()),
            }
        }
        facts.count(&insts, &apart, machine, &BTreeMap::new())
    }

    /// Allocation may compute a value again inside its region, but neither a fused multiply-add nor what moves lanes.
    fn computed_again(mut self, made: &FunctionFacts) -> Self {
        for (region, made) in self.regions.iter_mut().zip(&made.regions) {
            for (name, count) in &mut region.operations {
                if !is_multiply_add(name) && !self.cross_lane.contains_key(name) {
                    *count = (*count).max(made.operations.get(name).copied().unwrap_or(0));
                }
            }
        }
        self
    }

    /// Counts instructions; regions in the order of `place`, those that are not there by their first instructions. The
    /// instructions at the numbers `apart` do not follow what stands before them.
    fn count<R: Copy + PartialEq>(
        mut self,
        insts: &[Inst<R>],
        apart: &[usize],
        machine: &Machine,
        place: &BTreeMap<u32, usize>,
    ) -> Self {
        let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
        let mut regions: Vec<(usize, RegionFacts)> = Vec::new();
        let before = std::iter::once(None).chain(insts.iter().map(Some));
        for (at, (inst, before)) in insts.iter().zip(before).enumerate() {
            let before = before.filter(|_| apart.binary_search(&at).is_err());
            let Some(counted) = machine.counted(self.result.is_none(), inst, before, insts) else { continue };
            if let Some(sign) = counted.multiply_add {
                self.multiply_adds[sign as usize] += 1;
            }
            if let Some(name) = counted.cross_lane {
                *self.cross_lane.entry(name).or_default() += 1;
            }
            if let Some(name) = counted.word {
                *self.words.entry(name).or_default() += 1;
            }
            if let Some(name) = counted.relaxed {
                *self.relaxed.entry(name).or_default() += 1;
            }
            let Some(region) = inst.region else { continue };
            let next = numbers.len();
            let index = *numbers.entry(region).or_insert(next);
            if regions.len() == index {
                regions.push((place.get(&region).copied().unwrap_or(usize::MAX), RegionFacts::default()));
            }
            if let Some(name) = counted.operation {
                *regions[index].1.operations.entry(name).or_default() += 1;
            }
        }
        regions.sort_by_key(|region| region.0);
        self.regions = regions.into_iter().map(|region| region.1).collect();
        self
    }
}

impl FmaSign {
    /// The name under which a region's fused multiply-adds of this sign are counted, on every machine.
    pub fn name(self) -> &'static str {
        FMA_NAMES[self as usize]
    }
}

const FMA_NAMES: [&str; 4] = ["a*b+c", "a*b-c", "-(a*b)+c", "-(a*b)-c"];

fn is_multiply_add(name: &str) -> bool {
    FMA_NAMES.contains(&name)
}
