//! What an x86 instruction counts as: of the machine table, and decoded.

use super::decode::{Instruction, Operand};
use super::shapes::{self, Shape, Shapes};
use crate::facts::{Counted, FmaSign};
use rake_ir::machine::{Class, Flow, Inst, Kind, MachOp};
use smol_str::SmolStr;

/// The sign that a mnemonic has, if it is a fused multiply-add of packed single precision.
fn sign(mnemonic: &str) -> Option<FmaSign> {
    [("vfmadd", FmaSign::Add), ("vfmsub", FmaSign::Sub), ("vfnmadd", FmaSign::NegAdd), ("vfnmsub", FmaSign::NegSub)]
        .into_iter()
        .find(|(stem, _)| mnemonic.strip_prefix(stem).is_some_and(|rest| rest.starts_with(['1', '2'])))
        .map(|(_, sign)| sign)
}

/// The name under which an instruction is counted: which operand a permutation of two racks overwrites, the indices or
/// the first rack, and the order of a fused multiply-add's operands are the allocator's choice.
fn name(mnemonic: &str) -> SmolStr {
    if let Some(sign) = sign(mnemonic) {
        return SmolStr::new_static(sign.name());
    }
    match mnemonic.strip_prefix("vpermi2") {
        Some(elem) => SmolStr::new(format!("vpermt2{elem}")),
        None => SmolStr::new(mnemonic),
    }
}

/// What a row counts as; `before` stands before it. `None` where the profile lacks it.
pub fn of_machine<R: Copy + PartialEq>(shapes: &Shapes, inst: &Inst<R>, before: Option<&Inst<R>>) -> Option<Counted> {
    let MachOp::X86(op) = inst.op else { return None };
    let (mnemonic, info) = (inst.op.mnemonic(shapes.profile)?, op.info());
    let general = info.dst.iter().chain(info.slots.iter().map(|s| &s.view)).any(|v| v.class() == Class::G);
    if !matches!(info.flow, None | Some(Flow::Compare)) {
        return Some(Counted::default());
    }
    let copy = shapes::is_neutral(op, shapes.profile, shapes.runs);
    // What makes a constant of one value read twice, be it from a register or from the copy of it made just before.
    let constant = match inst.args[..] {
        [first, second] => {
            let copied = before.filter(|copy| copy.op.info().kind == Kind::Move && copy.dst == first.reg());
            let same = first == second || copied.is_some_and(|copy| copy.args.first() == Some(&second));
            first.reg().is_some() && same && shapes.is_idiom(mnemonic)
        }
        _ => false,
    };
    Some(Counted {
        multiply_add: sign(mnemonic),
        cross_lane: shapes::crosses(op, shapes.profile).then(|| name(mnemonic)),
        relaxed: None,
        word: (shapes::is_word(op, shapes.space()) && (general || info.kind == Kind::Transfer))
            .then(|| SmolStr::new_static(mnemonic)),
        operation: (!copy && !constant).then(|| name(mnemonic)),
    })
}

/// What a decoded instruction counts as; `before` stands before it.
pub fn of_decoded(shapes: &Shapes, inst: &Instruction, before: Option<&Instruction>) -> Counted {
    let mnemonic = inst.mnemonic.as_str();
    if matches!(inst.operands(), [Operand::Target(_)]) || matches!(mnemonic, "push" | "pop" | "ud2" | "ret") {
        return Counted::default();
    }
    let general = |o: &Operand| match o {
        Operand::Register(class, _) => class.is_general(),
        Operand::Place(_) => true,
        _ => false,
    };
    // What has no form is refused for that; it counts as what its mnemonic says.
    let known = shapes.of_decoded(inst).next().is_some();
    let any = |has: &dyn Fn(&Shape) -> bool| match known {
        true => shapes.of_decoded(inst).any(has),
        false => shapes.named(mnemonic).iter().any(has),
    };
    // What overwrites a copy of its own operand reads one value twice, like `xorps %xmm0, %xmm0`.
    let copied = before.filter(|i| i.mnemonic == "movaps" && i.operands() == inst.operands());
    let copy = known && any(&|form| form.neutral);
    let constant = is_constant(shapes, inst) || copied.is_some() && shapes.is_idiom(mnemonic);
    Counted {
        multiply_add: sign(mnemonic),
        cross_lane: any(&|form| form.crosses).then(|| name(mnemonic)),
        relaxed: None,
        word: (any(&|form| shapes::is_word(form.op, shapes.space())) && !copy && inst.operands().iter().any(general))
            .then(|| SmolStr::new(mnemonic)),
        operation: (!copy && !constant).then(|| name(mnemonic)),
    }
}

/// Whether what an instruction writes does not depend on what its registers hold: zeros or ones of equal sources.
pub fn is_constant(shapes: &Shapes, inst: &Instruction) -> bool {
    let (operands, imm) = match inst.operands() {
        [rest @ .., Operand::Immediate(imm)] => (rest, Some(*imm)),
        all => (all, None),
    };
    // A ternary function of three registers reads its destination too, unless its truth table is all ones.
    let sources = if operands.len() == 2 { operands } else { operands.get(1..).unwrap_or(&[]) };
    let alike = matches!(sources, [Operand::Register(..), ..]) && sources.iter().all(|s| *s == sources[0]);
    shapes.is_idiom(&inst.mnemonic) && alike && inst.mask.is_none() && imm.is_none_or(|imm| imm == 0xff)
}
