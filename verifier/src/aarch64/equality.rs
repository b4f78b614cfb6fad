//! Equality: what the words say is what the allocated program says.

use super::decode::{Instruction, What};
use super::encoding;
use crate::Difference;
use crate::flow::Flows;
use crate::image::{Image, Symbol};
use crate::tables::Tables;
use rake_ir::allocated::{Function, saved};
use rake_ir::machine::aarch64::A64;
use rake_ir::machine::{Address, Class, Cond, Inst, LiteralId, MachOp, Mem, Operand, PhysReg, View};

/// Compares a function's decoded instructions and literals with its allocated form.
///
/// # Errors
/// The first difference.
pub fn compare(
    image: &Image<'_>,
    symbol: &Symbol<'_>,
    insts: &[Instruction],
    function: &Function,
) -> Result<(), Difference> {
    let Some((landing, body)) = insts.split_first() else { return Err((0, None, "no instruction".into())) };
    if landing.what != What::Landing {
        return Err((0, None, "`bti c` is missing".into()));
    }
    let mut tables = Tables::default();
    let offsets: Vec<u32> = body.iter().map(|inst| inst.offset).collect();
    let flow = Flows::of(function, &offsets, symbol.len).map_err(|text| (0, None, text))?;
    for &(at, place) in &flow.pairs {
        let (Some(decoded), inst) = (body.get(place), &function.insts[at]) else { continue };
        let same = tables.follow(inst).and_then(|()| match flow.jump(&function.insts, at)? {
            Some(expected) => jump(decoded, expected, symbol.start),
            None => instruction(image, decoded, inst, function),
        });
        same.map_err(|text| {
            let found = decoded.name();
            let what = format!("instruction {at} (`{found}` decoded, `{}` allocated): {text}", inst.op.name());
            (decoded.offset, Some(inst.span), what)
        })?;
    }
    let expected = flow.pairs.len() + usize::from(flow.traps);
    if body.len() != expected {
        let at = body.get(expected).map_or(symbol.len, |i| i.offset);
        return Err((at, None, format!("{} instructions decoded, {expected} allocated", body.len())));
    }
    match body.get(flow.pairs.len()) {
        Some(other) if other.what != What::Trap => {
            Err((other.offset, None, format!("`{}` stands where the trap is expected", other.name())))
        }
        _ => Ok(()),
    }
}

/// The number of a condition (DDI 0487, section C1.2.4).
const fn number(cond: Cond) -> u8 {
    match cond {
        Cond::Equal => 0,
        Cond::NotEqual => 1,
        Cond::AboveEqual => 2,
        Cond::Below => 3,
        Cond::Above => 8,
        Cond::BelowEqual => 9,
        Cond::GreaterEqual => 10,
        Cond::Less => 11,
        Cond::Greater => 12,
        Cond::LessEqual => 13,
    }
}

/// Compares a jump of a function that starts at `start`.
fn jump(decoded: &Instruction, (cond, target): (Option<Cond>, i64), start: u32) -> Result<(), String> {
    if decoded.what != What::Jump(cond.map(number)) {
        return Err(format!("a jump on {cond:?} expected"));
    }
    let found = decoded.target.map(|found| found - i64::from(start));
    if found == Some(target) { Ok(()) } else { Err(format!("to {found:?} decoded, {target:#x} expected")) }
}

/// The operation of a row as its word reads: two rows that are one word for the same operands are one operation.
pub fn canonical<R: Copy + PartialEq>(op: A64, args: &[Operand<R>], imm: Option<u8>) -> (A64, usize, Option<u8>) {
    match (op, imm) {
        (A64::Orr, _) if args.len() == 2 && args[0] == args[1] => (A64::Mov, 1, imm),
        (A64::MoviMask, Some(0)) => (A64::Zero, 0, None),
        _ => (op, args.len(), imm),
    }
}

fn instruction(
    image: &Image<'_>,
    decoded: &Instruction,
    inst: &Inst<PhysReg>,
    function: &Function,
) -> Result<(), String> {
    let fields = decoded.fields().ok_or("no instruction of the table")?;
    let MachOp::A64(row) = inst.op else { return Err("not an instruction of AArch64".into()) };
    let info = row.info();
    if inst.args.len() != info.slots.len() || inst.dst.is_some() != info.dst.is_some() || inst.imm.is_some() != info.imm
    {
        return Err("the allocated operands do not fit the row".into());
    }
    let (op, count, imm) = canonical(row, &inst.args, inst.imm);
    if fields.op != op {
        return Err("another operation".into());
    }
    if fields.imm != imm {
        return Err(format!("immediate {:?} decoded, {imm:?} expected", fields.imm));
    }
    let number = |register: PhysReg, view: View| match register.class == view.class() {
        true => Ok(register.number),
        false => Err(format!("{register} is of another class than the row's operand")),
    };
    let dst = inst.dst.zip(info.dst).map(|(register, view)| number(register, view)).transpose()?;
    if fields.dst != dst {
        return Err(format!("destination {:?} decoded, {dst:?} expected", fields.dst));
    }
    let (mut literal, mut place, mut found_number) = (None, None, None);
    for (at, (arg, slot)) in inst.args.iter().zip(info.slots).enumerate().take(count) {
        let found = fields.args.get(at).copied().flatten();
        match *arg {
            Operand::Reg(register) if slot.mem.is_literal() || slot.mem.is_address() => {
                return Err(format!("{register} is no literal and no place"));
            }
            Operand::Reg(word) if slot.view == View::Frame && word.class == Class::S => {
                found_number = Some(16 * saved(function).count() as i32 + 8 * i32::from(word.number));
            }
            Operand::Reg(register) => {
                let expected = number(register, slot.view)?;
                if found != Some(expected) {
                    return Err(format!("operand {at}: register {found:?} decoded, {expected} expected"));
                }
                let tied = info.tied[0] == Some(at as u8);
                if tied && inst.dst != Some(register) {
                    return Err("the tied operand is not the destination".into());
                }
            }
            Operand::Literal(id) if slot.mem.is_literal() => literal = Some(id),
            Operand::Literal(_) | Operand::Broadcast(_) => return Err("a literal where none can stand".into()),
            Operand::Memory(address) if slot.mem.is_address() => place = Some(address),
            Operand::Number(number) if slot.mem == Mem::Constant => found_number = Some(number),
            _ => return Err("an operand that no row has".into()),
        }
    }
    if fields.number != found_number {
        return Err(format!("number {:?} decoded, {found_number:?} expected", fields.number));
    }
    same_place(fields.place, place)?;
    compare_literal(image, decoded.target, inst, literal, function)
}

/// Whether an address is the one that is expected.
fn same_place(found: Option<encoding::Address>, expected: Option<Address<PhysReg>>) -> Result<(), String> {
    let general = |register: PhysReg| Some(register.number).filter(|_| register.class == Class::G);
    let said = found.map(|at| (Some(at.base), at.index, at.scale, at.disp));
    let wanted = expected.map(|at| (general(at.base), at.index.and_then(general), at.scale, at.disp));
    let indexed = expected.is_none_or(|at| at.index.is_none_or(|index| index.class == Class::G));
    if said == wanted && indexed { Ok(()) } else { Err(format!("{found:?} decoded, {expected:?} expected")) }
}

/// Whether the bytes at the address that an instruction names are its literal.
fn compare_literal(
    image: &Image<'_>,
    target: Option<i64>,
    inst: &Inst<PhysReg>,
    literal: Option<LiteralId>,
    function: &Function,
) -> Result<(), String> {
    let info = inst.op.info();
    let size = if inst.op == MachOp::A64(A64::Adr) { super::TABLE_BYTES } else { super::RACK_BYTES };
    let reads_at_address = info.slots.iter().any(|slot| slot.view == View::Address);
    let bytes = match literal {
        Some(id) => Some(function.literals.get(id.0 as usize).ok_or("a literal that is not there")?),
        None => None,
    };
    match (bytes, target) {
        (None, None) => Ok(()),
        // The address names the table.
        (Some(_), None) if reads_at_address => Ok(()),
        (Some(bytes), Some(target)) => {
            let start = usize::try_from(target).map_err(|_| "the literal lies before `.text`")?;
            if bytes.len() != size {
                return Err(format!("a literal of {} bytes where {size} are read", bytes.len()));
            }
            match image.text.get(start..start + size) {
                Some(found) if found == &bytes[..] => Ok(()),
                Some(found) => Err(format!("the literal is {} instead of {}", hex(found), hex(bytes))),
                None => Err("the literal lies outside `.text`".into()),
            }
        }
        _ => Err("an address in one and not in the other".into()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
