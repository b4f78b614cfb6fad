//! Equality: what the bytes decode to is what the allocated program says.

use super::decode::{Instruction, Operand as Decoded};
use super::shapes::{Shapes, class_of, implied};
use crate::Difference;
use crate::image::{Image, Relocation, Symbol};
use crate::tables::Tables;
use rake_ir::allocated::Function;
use rake_ir::machine::x86::{ENTRY_BYTES, Space, TABLE_BYTES};
use rake_ir::machine::{Inst, MachOp, Mem, Operand, PhysReg, Slot, View};

/// Compares a function's decoded instructions, relocations and literals with its allocated form.
///
/// # Errors
/// The first difference.
pub fn compare(
    image: &Image<'_>,
    shapes: &Shapes,
    symbol: &Symbol<'_>,
    insts: &[Instruction],
    function: &Function,
) -> Result<(), Difference> {
    let space = shapes.space();
    let Some((landing, body)) = insts.split_first() else { return Err((0, None, "no instruction".into())) };
    if landing.mnemonic != "endbr64" {
        return Err((0, None, format!("`{}` stands where `endbr64` is expected", landing.mnemonic)));
    }
    let mut relocations = image.relocations_in(symbol.start, symbol.start + symbol.len).iter();
    let mut tables = Tables::default();
    for (at, (decoded, inst)) in body.iter().zip(&function.insts).enumerate() {
        let context = Context { image, symbol, space, function };
        let same = tables.follow(inst).and_then(|()| context.instruction(decoded, inst, &mut relocations));
        same.map_err(|text| {
            let what =
                format!("instruction {at} (`{}` decoded, `{}` allocated): {text}", decoded.mnemonic, inst.op.name());
            (decoded.offset, Some(inst.span), what)
        })?;
    }
    if body.len() != function.insts.len() {
        let at = body.get(function.insts.len()).map_or(symbol.len, |i| i.offset);
        return Err((at, None, format!("{} instructions decoded, {} allocated", body.len(), function.insts.len())));
    }
    match relocations.next() {
        Some(extra) => Err((extra.at - symbol.start, None, "a relocation that no operand asks for".into())),
        None => Ok(()),
    }
}

struct Context<'a> {
    image: &'a Image<'a>,
    symbol: &'a Symbol<'a>,
    space: Space,
    function: &'a Function,
}

impl Context<'_> {
    fn instruction<'r>(
        &self,
        decoded: &Instruction,
        inst: &Inst<PhysReg>,
        relocations: &mut impl Iterator<Item = &'r Relocation>,
    ) -> Result<(), String> {
        let MachOp::X86(op) = inst.op else { return Err("not an instruction of x86".into()) };
        let info = op.info();
        let mnemonic = info.mnemonics[self.space as usize].ok_or("the profile has no such instruction")?;
        if decoded.mnemonic != mnemonic {
            return Err(format!("`{mnemonic}` expected"));
        }
        if inst.args.len() != info.slots.len() || inst.dst.is_some() != info.dst.is_some() {
            return Err("the allocated operands do not fit the row".into());
        }
        let mut found = decoded.operands().iter().copied();
        let (again, implied_imm) = implied(op, self.space);
        if let (Some(dst), Some(view)) = (inst.dst, info.dst) {
            let expected = self.register(dst, view)?;
            for _ in 0..=again {
                expect(found.next(), expected)?;
            }
        }
        let tied = info.tied[self.space as usize].map(usize::from);
        let mut mask = None;
        let mut broadcast = false;
        let mut entry: Vec<u8> = Vec::new();
        for (index, (arg, slot)) in inst.args.iter().zip(info.slots).enumerate() {
            if tied == Some(index) {
                if arg.reg() != inst.dst {
                    return Err("the tied operand is not the destination".into());
                }
                continue;
            }
            if slot.view == View::Address {
                entry.push(arg.reg().ok_or("an address that is no register")?.number);
                continue;
            }
            match *arg {
                Operand::Literal(_) if slot.mem == Mem::Table && index > 0 => {
                    let [base, number] = entry[..] else { return Err("an entry without address and number".into()) };
                    let scale = ENTRY_BYTES as u8;
                    expect(found.next(), Decoded::Entry { size: scale, base, index: number, scale })?;
                }
                Operand::Reg(r) => match (slot.opmask, self.register(r, slot.view)?) {
                    (true, _) => mask = Some((r.number, info.zeroing)),
                    (false, expected) => expect(found.next(), expected)?,
                },
                Operand::Literal(id) | Operand::Broadcast(id) => {
                    let element = matches!(arg, Operand::Broadcast(_));
                    broadcast = element && slot.mem != Mem::Element;
                    let literal = self.function.literals.get(id.0 as usize).ok_or("a literal that is not there")?;
                    self.literal(decoded, found.next(), slot, literal, element, relocations.next())?;
                }
                _ => return Err("an operand that no row has".into()),
            }
        }
        if let Some(imm) = inst.imm.or(implied_imm) {
            expect(found.next(), Decoded::Immediate(imm))?;
        }
        if let Some(extra) = found.next() {
            return Err(format!("one operand too many: {extra:?}"));
        }
        if decoded.mask != mask {
            return Err(format!("opmask {:?} decoded, {mask:?} expected", decoded.mask));
        }
        if decoded.broadcast != broadcast {
            return Err("broadcast in one and not in the other".into());
        }
        Ok(())
    }

    fn register(&self, r: PhysReg, view: View) -> Result<Decoded, String> {
        if r.class == view.class() {
            Ok(Decoded::Register(class_of(view, self.space), r.number))
        } else {
            Err(format!("{r} is of another class than the row's operand"))
        }
    }

    fn literal(
        &self,
        decoded: &Instruction,
        operand: Option<Decoded>,
        slot: &Slot,
        literal: &[u8],
        element: bool,
        relocation: Option<&Relocation>,
    ) -> Result<(), String> {
        let table = slot.mem == Mem::Table;
        let size = match element {
            true => 4,
            false if table => TABLE_BYTES,
            false => 16 << self.space as u8,
        };
        if literal.len() != size || (slot.mem == Mem::Element) && !element {
            return Err(format!("a literal of {} bytes where {size} are read", literal.len()));
        }
        match operand {
            // Nothing is read where an address is taken.
            Some(Decoded::Memory { displacement: 0, .. }) if table => {}
            found => expect(found, Decoded::Memory { size: size as u8, displacement: 0 })?,
        }
        let at = decoded.offset + u32::from(decoded.displacement_at.ok_or("no displacement")?);
        let place = relocation.filter(|r| r.at == self.symbol.start + at).ok_or("no relocation at the displacement")?;
        let start = place.addend.checked_add(i64::from(decoded.end() - at)).unwrap_or(-1);
        let start = usize::try_from(start).map_err(|_| "the literal lies before `.rodata`")?;
        let bytes =
            self.image.rodata.get(start..).and_then(|b| b.get(..size)).ok_or("the literal lies outside `.rodata`")?;
        if bytes != literal {
            return Err(format!("the literal is {} instead of {}", hex(bytes), hex(literal)));
        }
        let align = if table { ENTRY_BYTES } else { size };
        if start % align != 0 || !self.image.rodata_align.is_multiple_of(align as u64) {
            return Err("the literal is not aligned".into());
        }
        Ok(())
    }
}

fn expect(found: Option<Decoded>, expected: Decoded) -> Result<(), String> {
    match found {
        Some(found) if found == expected => Ok(()),
        Some(found) => Err(format!("{found:?} decoded, {expected:?} expected")),
        None => Err(format!("no operand decoded, {expected:?} expected")),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
