//! What the obligations are checked against: the signature of each function and what its source selected.

use crate::shapes::{self, FmaSign};
use rake_ir::allocated::{Function, Program};
use rake_ir::machine::{Inst, Kind, PhysReg, Space};
use rake_ir::profile::Profile;
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
    /// The facts of an allocated program.
    pub fn of(program: &Program, exported: &dyn Fn(&str) -> bool) -> Metadata {
        let functions = match Space::of(program.profile) {
            Some(space) => program.functions.iter().map(|f| FunctionFacts::of(f, space, exported(&f.name))).collect(),
            None => Vec::new(),
        };
        Metadata { profile: program.profile, functions }
    }
}

impl FunctionFacts {
    fn of(function: &Function, space: Space, exported: bool) -> FunctionFacts {
        let mut out = FunctionFacts {
            name: function.name.clone(),
            span: function.span,
            exported,
            params: function.params.iter().map(|p| p.ty).collect(),
            result: function.result_ty,
            multiply_adds: [0; 4],
            cross_lane: BTreeMap::new(),
            regions: Vec::new(),
        };
        let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
        for inst in &function.insts {
            let Some(mnemonic) = inst.op.info().mnemonics[space as usize] else { continue };
            if let Some(sign) = FmaSign::of(mnemonic) {
                out.multiply_adds[sign as usize] += 1;
            }
            let in_memory = inst.op.info().kind == Kind::Const;
            if shapes::is_cross_lane(mnemonic) && !in_memory {
                *out.cross_lane.entry(SmolStr::new_static(mnemonic)).or_default() += 1;
            }
            let Some(region) = inst.region else { continue };
            let next = numbers.len();
            let region = *numbers.entry(region).or_insert(next);
            if out.regions.len() == region {
                out.regions.push(RegionFacts::default());
            }
            if !is_neutral(inst, mnemonic) {
                *out.regions[region].operations.entry(shapes::region_name(mnemonic)).or_default() += 1;
            }
        }
        out
    }
}

/// Whether an instruction is a copy or a constant, as [`shapes::is_neutral`] sees it in the bytes.
fn is_neutral(inst: &Inst<PhysReg>, mnemonic: &str) -> bool {
    let same = inst.args.len() == 2 && inst.args[0].reg().is_some() && inst.args[0] == inst.args[1];
    matches!(inst.op.info().kind, Kind::Move | Kind::Const) || same && shapes::is_idiom(mnemonic)
}
