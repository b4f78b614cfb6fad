//! Obligations: what the words of a vector function may hold, whatever the allocated program says.

use super::bounds::Bounds;
use super::decode::{Instruction, What};
use super::encoding::Fields;
use super::runs;
use super::{Forms, RACK_BYTES, TABLE_BYTES, read_size};
use crate::facts::{Counted, FunctionFacts};
use crate::image::Image;
use crate::obligations::{Obligation, Say, check_counts};
use rake_ir::machine::aarch64::A64;
use rake_ir::machine::abi::AAPCS64;
use rake_ir::machine::{Class, PhysReg, View};
use std::collections::BTreeSet;
use std::ops::Range;

/// Checks all obligations of one function, which starts at `start` in `.text` and whose literals may stand at `pool`.
pub fn check(
    forms: &Forms,
    image: &Image<'_>,
    (start, pool): (u32, &Range<usize>),
    facts: &FunctionFacts,
    insts: &[Instruction],
    say: &mut Say<'_>,
) {
    let run = facts.result.is_none();
    let saved = if run { runs::saved(insts) } else { Vec::new() };
    for inst in insts {
        check_registers(inst, &saved, say);
        check_load(pool, inst, say);
    }
    if run {
        runs::check(&runs::Code { image, start, insts }, facts, &saved, say);
    } else {
        check_reads(facts, insts, say);
        check_tables(image, insts, say);
        check_ends(insts, say);
    }
    let counted: Vec<(u32, Counted)> =
        insts.iter().filter_map(|inst| Some((inst.offset, forms.counted(inst.op()?)))).collect();
    check_counts(facts, &counted, say);
}

/// The registers that an instruction reads, and the one that it writes.
pub(super) fn registers(fields: &Fields) -> (Vec<PhysReg>, Option<PhysReg>) {
    let info = fields.op.info();
    let register = |number: Option<u8>, view: View| number.map(|number| PhysReg { class: view.class(), number });
    let read = fields.args.iter().zip(info.slots).filter_map(|(&number, slot)| register(number, slot.view));
    let place = fields.place.into_iter().flat_map(|at| [Some(at.base), at.index]);
    let read = read.chain(place.flatten().map(PhysReg::g));
    (read.collect(), info.dst.and_then(|view| register(fields.dst, view)))
}

fn check_registers(inst: &Instruction, saved: &[u8], say: &mut Say<'_>) {
    let Some(fields) = inst.fields() else { return };
    let (read, written) = registers(fields);
    for register in read.into_iter().chain(written) {
        let usable = match register.class {
            Class::V => AAPCS64.rack_registers.contains(&register.number),
            _ => AAPCS64.word_registers.contains(&register.number) || saved.contains(&register.number),
        };
        if usable {
            continue;
        }
        // `x29` to `x31` are the frame, the return address, and the stack pointer or zero.
        let stack = register.class == Class::G && register.number >= 29;
        let obligation = if stack { Obligation::NoStack } else { Obligation::AllowedRegisters };
        say(inst.offset, obligation, format!("`{}` uses {register}", fields.op.info().name));
    }
}

fn check_load(pool: &Range<usize>, inst: &Instruction, say: &mut Say<'_>) {
    let (Some(op), Some(target)) = (inst.op(), inst.target) else { return };
    let inside = usize::try_from(target).is_ok_and(|start| pool.start <= start && start + read_size(op) <= pool.end);
    if !inside {
        say(inst.offset, Obligation::ConstantLoads, "an address leads to no literal of the function".into());
    } else if !target.unsigned_abs().is_multiple_of(RACK_BYTES as u64) {
        say(inst.offset, Obligation::ConstantLoads, "a literal is not aligned".into());
    }
}

/// Nothing that the caller left in a register reaches the result, except through the arguments.
fn check_reads(facts: &FunctionFacts, insts: &[Instruction], say: &mut Say<'_>) {
    let places = AAPCS64.places(facts.params.iter().copied());
    let mut known: BTreeSet<PhysReg> = places.iter().flatten().copied().collect();
    for inst in insts {
        let Some(fields) = inst.fields() else { continue };
        let (read, written) = registers(fields);
        for register in read {
            if !known.contains(&register) {
                let text = format!("`{}` reads {register}, which nothing wrote", fields.op.info().name);
                say(inst.offset, Obligation::DefinedReads, text);
            }
        }
        known.extend(written);
    }
    if let Some(result) = facts.result.map(|ty| AAPCS64.result(ty))
        && !known.contains(&result)
    {
        let at = insts.last().map_or(0, |inst| inst.offset);
        say(at, Obligation::DefinedReads, format!("nothing writes the result's register {result}"));
    }
}

/// An entry is read at the address of a table, by a number that is no greater than its entries; addresses are for
/// nothing else.
fn check_tables(image: &Image<'_>, insts: &[Instruction], say: &mut Say<'_>) {
    let mut bounds = Bounds::default();
    let mut tables: BTreeSet<u8> = BTreeSet::new();
    for inst in insts {
        let Some(fields) = inst.fields() else { continue };
        let name = fields.op.info().name;
        let entry = fields.op == A64::LdrEntry;
        for (at, (number, slot)) in fields.args.iter().zip(fields.op.info().slots).enumerate() {
            let Some(number) = number.filter(|_| slot.view.class() == Class::G) else { continue };
            if tables.contains(&number) != (entry && at == 0) {
                let text = format!("`{name}` takes general register {number}, an address, for a number or the reverse");
                say(inst.offset, Obligation::ConstantLoads, text);
            }
            if entry && at == 1 && bounds.word(number) as usize >= TABLE_BYTES / RACK_BYTES {
                let text = format!("`{name}` may read outside its table: general register {number} is not bounded");
                say(inst.offset, Obligation::ConstantLoads, text);
            }
        }
        let literal = inst.target.and_then(|at| usize::try_from(at).ok());
        bounds.follow(fields, literal.and_then(|at| image.text.get(at..at + RACK_BYTES)));
        if let (Some(dst), Some(view)) = (fields.dst, fields.op.info().dst)
            && view.class() == Class::G
        {
            match fields.op {
                A64::Adr => tables.insert(dst),
                _ => tables.remove(&dst),
            };
        }
    }
}

fn check_ends(insts: &[Instruction], say: &mut Say<'_>) {
    let last = insts.len().saturating_sub(1);
    for (index, inst) in insts.iter().enumerate() {
        if (inst.what == What::Landing) != (index == 0) {
            say(inst.offset, Obligation::Landing, "`bti c` is missing or in the middle".into());
        }
        if (inst.op() == Some(A64::Ret)) != (index == last) {
            say(inst.offset, Obligation::Ending, "`ret` is missing or in the middle".into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rake_ir::machine::Kind;
    use rake_ir::machine::aarch64::ALL;

    #[test]
    fn only_some_rows_touch_general_registers() {
        for &op in ALL {
            let info = op.info();
            let general = info.dst.iter().chain(info.slots.iter().map(|s| &s.view)).any(|v| v.class() == Class::G);
            let runs = (A64::AddLong..=A64::Pop).contains(&op);
            let may = matches!(info.kind, Kind::Boundary | Kind::Word) || matches!(op, A64::MovWord | A64::Adr) || runs;
            assert!(!general || may, "{op:?}");
        }
    }
}
