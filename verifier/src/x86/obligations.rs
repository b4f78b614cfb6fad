//! Obligations: what the bytes of a vector function may hold, whatever the allocated program says.

use super::counted::{is_constant, of_decoded};
use super::decode::{Class, Instruction, Operand, STACK};
use super::runs;
use super::shapes::{Shapes, rack_class};
use crate::facts::{Counted, FunctionFacts};
use crate::image::{Image, Symbol};
use crate::obligations::{Obligation, Say, check_counts};
use rake_ir::machine::abi::SYSTEM_V;
use rake_ir::machine::x86::{ENTRY_BYTES, Space, table_bytes};
use rake_ir::machine::{Class as File, PhysReg};
use rake_ir::types::Ty;
use std::collections::{BTreeMap, BTreeSet};

/// A memory operand and where it leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load {
    /// Which instruction.
    pub index: usize,
    /// Bytes read, or of an entry where a table's address is taken.
    pub size: u8,
    /// Offset in `.rodata`; `None` when no relocation leads there, or outside.
    pub literal: Option<u32>,
}

/// Every memory operand of a function.
pub fn loads(image: &Image<'_>, symbol: &Symbol<'_>, insts: &[Instruction], space: Space) -> Vec<Load> {
    let mut out = Vec::new();
    for (index, inst) in insts.iter().enumerate() {
        for operand in inst.operands() {
            let &Operand::Memory { size, displacement } = operand else { continue };
            let table = inst.mnemonic == "lea";
            let bytes = if table { table_bytes(space) } else { usize::from(size) };
            let align = if table { ENTRY_BYTES as u8 } else { size };
            let literal = inst.displacement_at.and_then(|at| {
                let at = inst.offset + u32::from(at);
                let place = symbol.start + at;
                let [relocation] = image.relocations_in(place, place + 4) else { return None };
                let start = relocation.addend.checked_add(i64::from(inst.end() - at))?;
                let start = u32::try_from(start).ok()?;
                let inside = image.rodata.len() >= start as usize + bytes;
                (relocation.at == place && displacement == 0 && inside).then_some(start)
            });
            out.push(Load { index, size: align, literal });
        }
    }
    let strays = image.relocations_in(symbol.start, symbol.start + symbol.len).len();
    if strays != out.len() {
        out.push(Load { index: insts.len().saturating_sub(1), size: 0, literal: None });
    }
    out
}

/// Checks all obligations of one function.
pub fn check(
    shapes: &Shapes,
    loads: &[Load],
    rodata_align: u64,
    facts: &FunctionFacts,
    insts: &[Instruction],
    say: &mut Say<'_>,
) {
    for inst in insts {
        check_instruction(shapes, inst, say);
    }
    check_loads(loads, rodata_align, insts, say);
    if shapes.runs {
        runs::check(shapes, facts, insts, say);
    } else {
        check_boundary(shapes, facts, insts, say);
        check_reads(shapes, facts, insts, say);
        check_ends(shapes.space(), facts, insts, say);
    }
    let before = std::iter::once(None).chain(insts.iter().map(Some));
    let counted: Vec<(u32, Counted)> =
        insts.iter().zip(before).map(|(inst, before)| (inst.offset, of_decoded(shapes, inst, before))).collect();
    check_counts(facts, &counted, say);
}

fn check_instruction(shapes: &Shapes, inst: &Instruction, say: &mut Say<'_>) {
    let name = inst.mnemonic.as_str();
    let jump = matches!(inst.operands(), [Operand::Target(_)]);
    if name == "endbr64" || shapes.runs && (jump || name == "ud2") {
        return;
    }
    let forms = shapes.named(name);
    if forms.is_empty() {
        let plain = name.strip_prefix('v').unwrap_or(name);
        let estimate = plain.starts_with("rcp") || plain.starts_with("rsqrt");
        let obligation = match name {
            _ if jump => Obligation::NoBranches,
            "push" | "pop" => Obligation::NoStack,
            _ if estimate => Obligation::NoEstimates,
            _ => Obligation::ProfileInstructions,
        };
        return say(inst.offset, obligation, format!("`{name}` is not in the list of {}", shapes.profile));
    }
    let registers =
        || inst.operands().iter().filter_map(|o| if let Operand::Register(c, n) = o { Some((*c, *n)) } else { None });
    if inst.mask.is_some_and(|(k, _)| k == 0) || registers().any(|r| r == (Class::K, 0)) {
        say(inst.offset, Obligation::AllowedRegisters, format!("`{name}` uses k0"));
    }
    if shapes.of_decoded(inst).next().is_none() {
        let rack = rack_class(shapes.space());
        let part = registers().any(|(c, _)| c.length().is_some() && c != rack);
        let place = |o: &Operand| matches!(o, Operand::Place(_));
        let stack = |o: &Operand| matches!(o, Operand::Place(place) if place.base == STACK);
        let obligation = match inst.operands().first() {
            _ if inst.operands().iter().any(stack) => Obligation::NoStack,
            Some(Operand::Memory { .. }) => Obligation::ConstantLoads,
            _ if inst.operands().iter().any(place) => Obligation::ConstantLoads,
            _ if part => Obligation::WholeRacks,
            _ => Obligation::ProfileInstructions,
        };
        say(inst.offset, obligation, format!("`{name}` in a form that {} code does not have", shapes.profile));
    }
}

fn check_loads(loads: &[Load], rodata_align: u64, insts: &[Instruction], say: &mut Say<'_>) {
    for load in loads {
        let at = insts.get(load.index).map_or(0, |i| i.offset);
        let mut bad = |text: &str| say(at, Obligation::ConstantLoads, text.into());
        match load.literal {
            _ if load.size == 0 => bad("relocations and memory operands do not match"),
            None => bad("a memory operand does not lead to a literal"),
            Some(start) if !start.is_multiple_of(load.size.into()) => bad("a literal is not aligned"),
            Some(_) if !rodata_align.is_multiple_of(load.size.into()) => {
                bad("`.rodata` is less aligned than a literal")
            }
            Some(_) => {}
        }
    }
}

/// Where a general register's value comes from.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    /// The caller, or an instruction.
    Value,
    /// The bits of a mask: a number below the entries of a table.
    MaskBits,
    /// The address of a table.
    Table,
}

fn check_boundary(shapes: &Shapes, facts: &FunctionFacts, insts: &[Instruction], say: &mut Say<'_>) {
    let places = SYSTEM_V.places(facts.params.iter().copied());
    let words = places.iter().flatten().filter(|r| r.class == File::G);
    let mut written: BTreeMap<u8, Source> = words.map(|r| (r.number, Source::Value)).collect();
    let word_result = facts.result.is_some_and(|ty| SYSTEM_V.class_of(ty) == File::G);
    // What saves registers has no form here and is refused for that.
    let stack = |inst: &Instruction| matches!(inst.mnemonic.as_str(), "push" | "pop");
    for (index, inst) in insts.iter().enumerate().filter(|(_, inst)| !stack(inst)) {
        let name = inst.mnemonic.as_str();
        let mut broken: Vec<(Obligation, String)> = Vec::new();
        let mut bad = |number: u8, what: &str| {
            broken.push((Obligation::BoundaryRegisters, format!("`{name}` {what} general register {number}")));
        };
        let mut stray = false;
        let overwritten = shapes.of_decoded(inst).any(|form| form.reads_destination);
        for (position, operand) in inst.operands().iter().enumerate() {
            match *operand {
                Operand::Register(Class::Gpr | Class::Address, number) if position == 0 => {
                    // What crosses the boundary does so last.
                    let crossing = matches!(name, "movd" | "vmovd" | "pextrd" | "vpextrd");
                    let leaving =
                        insts[index + 1..].iter().all(|i| matches!(i.mnemonic.as_str(), "vzeroupper" | "ret"));
                    let result = word_result && number == SYSTEM_V.word_result;
                    if crossing && !(leaving && result) || !SYSTEM_V.word_registers.contains(&number) {
                        bad(number, "writes");
                    }
                    if overwritten && !written.contains_key(&number) {
                        bad(number, "reads");
                    }
                    let source = match name {
                        "lea" => Source::Table,
                        "movmskps" | "vmovmskps" => Source::MaskBits,
                        "mov" => match inst.operands().get(1) {
                            Some(Operand::Register(_, from)) => written.get(from).copied().unwrap_or(Source::Value),
                            _ => Source::Value,
                        },
                        _ => Source::Value,
                    };
                    written.insert(number, source);
                }
                Operand::Register(Class::Gpr | Class::Address, number) => match written.get(&number) {
                    Some(Source::Table) => bad(number, "computes with the address in"),
                    Some(_) => {}
                    None => bad(number, "reads"),
                },
                Operand::Place(place) if place.base == STACK => {}
                Operand::Place(place) => {
                    let number = place.index.map_or(u8::MAX, |index| index.number);
                    let (table, bits) = (written.get(&place.base), written.get(&number));
                    stray |= (table, bits) != (Some(&Source::Table), Some(&Source::MaskBits));
                }
                _ => {}
            }
        }
        if stray {
            let text = format!("`{name}` reads no entry of a table by the bits of a mask");
            broken.push((Obligation::ConstantLoads, text));
        }
        broken.into_iter().for_each(|(obligation, text)| say(inst.offset, obligation, text));
    }
}

/// The register that is named, whatever part of it.
fn whole(class: Class, number: u8) -> PhysReg {
    let class = match class {
        Class::Byte | Class::Half | Class::Gpr | Class::Address => File::G,
        Class::K => File::K,
        Class::Xmm | Class::Ymm | Class::Zmm => File::V,
    };
    PhysReg { class, number }
}

/// Nothing that the caller left in a register reaches the result, except through the arguments.
fn check_reads(shapes: &Shapes, facts: &FunctionFacts, insts: &[Instruction], say: &mut Say<'_>) {
    let places = SYSTEM_V.places(facts.params.iter().copied());
    let mut written: BTreeSet<PhysReg> = places.iter().flatten().copied().collect();
    for inst in insts {
        let named = |operand: &Operand| match *operand {
            Operand::Register(class, number) => Some(whole(class, number)),
            _ => None,
        };
        let mut forms = shapes.of_decoded(inst).peekable();
        // What has no form is refused for that, and nothing is known of what it reads.
        if forms.peek().is_some() && !is_constant(shapes, inst) {
            let skipped = usize::from(!forms.any(|form| form.reads_destination));
            let sources = inst.operands().iter().skip(skipped).filter_map(named);
            for register in sources.chain(inst.mask.map(|(number, _)| PhysReg::k(number))) {
                // General registers have an obligation of their own.
                if register.class != File::G && !written.contains(&register) {
                    let text = format!("`{}` reads {register}, which nothing wrote", inst.mnemonic);
                    say(inst.offset, Obligation::DefinedReads, text);
                }
            }
        }
        written.extend(inst.operands().first().and_then(named));
    }
    if let Some(result) = facts.result.map(|ty| SYSTEM_V.result(ty))
        && !written.contains(&result)
    {
        let at = insts.last().map_or(0, |inst| inst.offset);
        say(at, Obligation::DefinedReads, format!("nothing writes the result's register {result}"));
    }
}

fn check_ends(space: Space, facts: &FunctionFacts, insts: &[Instruction], say: &mut Say<'_>) {
    let is = |inst: &Instruction, name: &str| inst.mnemonic == name;
    let last = insts.len().saturating_sub(1);
    for (index, inst) in insts.iter().enumerate() {
        if is(inst, "endbr64") != (index == 0) {
            say(inst.offset, Obligation::Landing, "`endbr64` is missing or in the middle".into());
        }
        if is(inst, "ret") != (index == last) {
            say(inst.offset, Obligation::Ending, "`ret` is missing or in the middle".into());
        }
    }
    let due = space != Space::Sse && matches!(facts.result, None | Some(Ty::Uniform(_)));
    let zeroed: Vec<usize> = (0..insts.len()).filter(|&i| is(&insts[i], "vzeroupper")).collect();
    let only_words_after = |at: usize| {
        insts[at + 1..].iter().all(|i| {
            let has = |wanted: &[Class]| {
                i.operands().iter().any(|o| matches!(o, Operand::Register(class, _) if wanted.contains(class)))
            };
            is(i, "ret") || has(&[Class::Gpr]) && !has(&[Class::Ymm, Class::Zmm])
        })
    };
    let right = match zeroed[..] {
        [] => !due,
        [at] => due && only_words_after(at),
        _ => false,
    };
    if !right {
        let at = zeroed.first().map_or(last, |&i| i);
        say(
            insts.get(at).map_or(0, |i| i.offset),
            Obligation::UpperHalves,
            "`vzeroupper` is missing or misplaced".into(),
        );
    }
}
