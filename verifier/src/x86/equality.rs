//! Equality: what the bytes decode to is what the allocated program says.

use super::decode::{Class, Index, Instruction, Operand as Decoded, Place, STACK};
use super::shapes::{Shapes, class_of, destination, implied, operand};
use crate::Difference;
use crate::flow::Flows;
use crate::image::{Image, Relocation, Symbol};
use crate::tables::Tables;
use rake_ir::allocated::{Function, saved};
use rake_ir::machine::x86::{ENTRY_BYTES, Space, X86, table_bytes};
use rake_ir::machine::{Address, Cond, Inst, MachOp, Mem, Operand, PhysReg, Slot, View};

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
    let offsets: Vec<u32> = body.iter().map(|inst| inst.offset).collect();
    let flow = Flows::of(function, &offsets, symbol.len).map_err(|text| (0, None, text))?;
    for &(at, decoded) in &flow.pairs {
        let (Some(decoded), inst) = (body.get(decoded), &function.insts[at]) else { continue };
        let context = Context { image, symbol, space, function };
        let same = tables.follow(inst).and_then(|()| match flow.jump(&function.insts, at)? {
            Some(expected) => jump(decoded, expected),
            None => context.instruction(decoded, inst, &mut relocations),
        });
        same.map_err(|text| {
            let what =
                format!("instruction {at} (`{}` decoded, `{}` allocated): {text}", decoded.mnemonic, inst.op.name());
            (decoded.offset, Some(inst.span), what)
        })?;
    }
    let (trap, rest) = body
        .get(flow.pairs.len()..)
        .unwrap_or(&[])
        .split_at(usize::from(flow.traps).min(body.len().saturating_sub(flow.pairs.len())));
    if body.len() < flow.pairs.len() || !rest.is_empty() || trap.len() != usize::from(flow.traps) {
        let at = body.get(flow.pairs.len()).map_or(symbol.len, |i| i.offset);
        let expected = flow.pairs.len() + usize::from(flow.traps);
        return Err((at, None, format!("{} instructions decoded, {expected} allocated", body.len())));
    }
    if let Some(other) = trap.iter().find(|inst| inst.mnemonic != "ud2") {
        return Err((other.offset, None, format!("`{}` stands where the trap is expected", other.mnemonic)));
    }
    match relocations.next() {
        Some(extra) => Err((extra.at - symbol.start, None, "a relocation that no operand asks for".into())),
        None => Ok(()),
    }
}

/// Compares a jump.
fn jump(decoded: &Instruction, (cond, target): (Option<Cond>, i64)) -> Result<(), String> {
    let mnemonic = cond.map_or("jmp", mnemonic);
    if decoded.mnemonic != mnemonic {
        return Err(format!("`{mnemonic}` expected"));
    }
    match *decoded.operands() {
        [Decoded::Target(found)] if found == target => Ok(()),
        _ => Err(format!("{:?} decoded, a jump to {target:#x} expected", decoded.operands())),
    }
}

/// The jump on a condition (Intel SDM, volume 2, "Jcc").
const fn mnemonic(cond: Cond) -> &'static str {
    match cond {
        Cond::Equal => "je",
        Cond::NotEqual => "jne",
        Cond::Less => "jl",
        Cond::LessEqual => "jle",
        Cond::Greater => "jg",
        Cond::GreaterEqual => "jge",
        Cond::Below => "jb",
        Cond::BelowEqual => "jbe",
        Cond::Above => "ja",
        Cond::AboveEqual => "jae",
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
            self.register(dst, view)?;
            let number = inst.args.iter().find_map(|arg| if let Operand::Number(n) = arg { Some(*n) } else { None });
            let class = destination(op, self.space, number).ok_or("no destination")?;
            let expected = Decoded::Register(class, dst.number);
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
            if slot.view == View::Address && !slot.mem.is_address() {
                entry.push(arg.reg().ok_or("an address that is no register")?.number);
                continue;
            }
            broadcast |= matches!(arg, Operand::MemoryElement(_));
            let addressed = slot.mem.is_address() || slot.mem == Mem::Constant;
            match *arg {
                Operand::Literal(_) if slot.mem == Mem::Table && index > 0 => {
                    let [base, number] = entry[..] else { return Err("an entry without address and number".into()) };
                    let size = ENTRY_BYTES as u8;
                    let index = Some(Index { class: Class::Address, number, scale: size });
                    expect(found.next(), Decoded::Place(Place { size, base, index, displacement: 0 }))?;
                }
                Operand::Reg(r) if slot.opmask => {
                    self.register(r, slot.view)?;
                    mask = Some((r.number, info.zeroing));
                }
                Operand::Literal(id) | Operand::Broadcast(id) if !addressed => {
                    let element = matches!(arg, Operand::Broadcast(_));
                    broadcast = element && slot.mem != Mem::Element;
                    let literal = self.function.literals.get(id.0 as usize).ok_or("a literal that is not there")?;
                    self.literal(decoded, found.next(), slot, literal, element, relocations.next())?;
                }
                _ => expect(found.next(), self.operand(op, slot, *arg, decoded)?)?,
            }
        }
        if let Some(imm) = inst.imm.or(implied_imm) {
            let word = op == X86::WordConst;
            expect(found.next(), if word { Decoded::Number(imm.into()) } else { Decoded::Immediate(imm) })?;
        }
        ends(decoded, found.next(), mask, broadcast)
    }

    /// What a register, an address or a number has to be.
    fn operand(&self, op: X86, slot: &Slot, arg: Operand<PhysReg>, decoded: &Instruction) -> Result<Decoded, String> {
        let addressed = slot.mem.is_address() || slot.mem == Mem::Constant;
        Ok(match arg {
            Operand::Reg(r) if slot.view == View::Frame => {
                self.register(r, slot.view)?;
                let displacement = 8 * (1 + saved(self.function).count() as i32 + i32::from(r.number));
                Decoded::Place(Place { size: 8, base: STACK, index: None, displacement })
            }
            Operand::Reg(r) if !addressed => {
                self.register(r, slot.view)?;
                Decoded::Register(operand(op, slot.view, self.space), r.number)
            }
            Operand::Memory(address) => self.place(slot, address, false, decoded)?,
            Operand::MemoryElement(address) => self.place(slot, address, true, decoded)?,
            Operand::Number(number) if matches!(slot.mem, Mem::Number | Mem::Constant) => match i8::try_from(number) {
                // A number that fits a byte is one, but where there is no such form.
                Ok(byte) if !matches!(op, X86::LongConst | X86::StoreLong) => Decoded::Immediate(byte as u8),
                _ => Decoded::Number(number),
            },
            _ => return Err("an operand where none of its kind can stand".into()),
        })
    }

    /// The memory operand that an address has to be.
    fn place(
        &self,
        slot: &Slot,
        address: Address<PhysReg>,
        element: bool,
        decoded: &Instruction,
    ) -> Result<Decoded, String> {
        self.register(address.base, View::Address)?;
        let view = if slot.mem == Mem::Places { View::Rack } else { View::Address };
        let index = match address.index {
            Some(index) => match self.register(index, view)? {
                Decoded::Register(class, number) => Some(Index { class, number, scale: 1 << address.scale.min(3) }),
                _ => None,
            },
            None => None,
        };
        let rack = 16 << self.space as u8;
        let size = match slot.mem {
            Mem::Place(bytes) => bytes[self.space as usize],
            Mem::Places => 4,
            Mem::May { .. } if element => 4,
            Mem::May { .. } => rack,
            // Nothing is accessed.
            Mem::Sum => decoded
                .operands()
                .iter()
                .find_map(|o| if let Decoded::Place(p) = o { Some(p.size) } else { None })
                .unwrap_or(0),
            _ => return Err("an address where none can stand".into()),
        };
        Ok(Decoded::Place(Place { size, base: address.base.number, index, displacement: address.disp }))
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
            false if table => table_bytes(self.space),
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

/// What is left once the operands are compared.
fn ends(
    decoded: &Instruction,
    extra: Option<Decoded>,
    mask: Option<(u8, bool)>,
    broadcast: bool,
) -> Result<(), String> {
    if let Some(extra) = extra {
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
