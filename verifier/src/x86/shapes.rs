//! The profile's instruction list: which mnemonics, with which register classes, and what each kind is for.

use super::decode::{Class, Instruction, Operand};
use rake_ir::machine::x86::{ALL, ENTRY_BYTES, Space, X86};
use rake_ir::machine::{self, Idioms, Kind, MachOp, Mem, View};
use rake_ir::profile::Profile;
use std::collections::HashMap;

/// One accepted form of an instruction.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Register class of each operand, the destination first, an immediate or opmask apart.
    pub classes: Vec<Class>,
    /// The operand that must or may be in memory.
    memory: Vec<Mem>,
    opmask: bool,
    zeroing: bool,
    imm: Option<Option<u8>>,
    /// Whether the destination, named once, is read before it is written.
    pub reads_destination: bool,
    /// What it is for.
    pub kind: Kind,
    /// Whether it moves lanes to other lanes.
    pub crosses: bool,
    /// Whether it makes zeros or ones of equal sources.
    pub idiom: bool,
    /// Whether it copies or loads a constant, whatever its operands are.
    pub neutral: bool,
}

/// The forms of a profile, by mnemonic.
#[derive(Clone, Debug)]
pub struct Shapes {
    /// The profile.
    pub profile: Profile,
    space: Space,
    by_mnemonic: HashMap<&'static str, Vec<Shape>>,
}

/// The register class of a rack.
pub fn rack_class(space: Space) -> Class {
    match space {
        Space::Sse => Class::Xmm,
        Space::Vex => Class::Ymm,
        Space::Evex => Class::Zmm,
    }
}

/// The register class that a view names.
pub fn class_of(view: View, space: Space) -> Class {
    match view {
        View::Rack => rack_class(space),
        View::Low => Class::Xmm,
        View::Mask => Class::K,
        View::Word | View::Float | View::Long => Class::Gpr,
        View::Address => Class::Address,
        View::Half => match space {
            Space::Evex => Class::Ymm,
            _ => Class::Xmm,
        },
    }
}

/// How a row that names its destination as its only input stands in the bytes: how many more times the destination is
/// named, and the immediate that goes with it.
pub fn implied(op: X86, space: Space) -> (usize, Option<u8>) {
    match (op, space) {
        (X86::Zero | X86::Ones, Space::Sse) => (1, None),
        (X86::Ones, Space::Evex) => (2, Some(0xff)),
        (X86::Zero | X86::Ones | X86::Kzero | X86::Kones, _) => (2, None),
        (X86::Splatps, _) => (1, Some(0)),
        _ => (0, None),
    }
}

/// Whether a row moves lanes to other lanes: what is made for that, and what takes one lane to all, or one out of many,
/// on the way between register files. Copies of masks into racks, which allocation makes where masks run out, do not.
pub fn crosses(op: X86, profile: Profile) -> bool {
    let info = op.info();
    let racks = info.dst.iter().chain(info.slots.iter().map(|s| &s.view)).any(|v| v.class() == machine::Class::V);
    let spreads = info.dst == Some(View::Rack) || info.imm && racks;
    match info.kind {
        Kind::Cross => true,
        Kind::Boundary | Kind::Word => spreads && !changes_file(op, profile),
        _ => false,
    }
}

/// Whether a row copies a mask from one register file to the other, as allocation does where masks run out.
pub fn changes_file(op: X86, profile: Profile) -> bool {
    let masks = Idioms::of(profile).masks;
    masks.is_some_and(|masks| [masks.to_rack, masks.from_rack].contains(&MachOp::X86(op)))
}

impl Shapes {
    /// The forms of an x86 profile.
    pub fn of(profile: Profile) -> Option<Shapes> {
        let space = Space::of(profile)?;
        let mut by_mnemonic: HashMap<&'static str, Vec<Shape>> = HashMap::new();
        for &op in ALL.iter().filter(|op| !(X86::AddLong..=X86::Pop).contains(*op)) {
            if let Some(mnemonic) = op.info().mnemonics[space as usize] {
                by_mnemonic.entry(mnemonic).or_default().push(Shape::of(op, profile, space));
            }
        }
        Some(Shapes { profile, space, by_mnemonic })
    }

    /// The forms that a mnemonic has; empty when the profile lacks the instruction.
    pub fn named(&self, mnemonic: &str) -> &[Shape] {
        self.by_mnemonic.get(mnemonic).map_or(&[], Vec::as_slice)
    }

    /// The forms that a decoded instruction may be.
    pub fn of_decoded<'a>(&'a self, inst: &'a Instruction) -> impl Iterator<Item = &'a Shape> {
        self.named(&inst.mnemonic).iter().filter(|form| form.fits(inst, self.space))
    }

    /// Whether an instruction with equal sources makes a constant.
    pub fn is_idiom(&self, mnemonic: &str) -> bool {
        self.named(mnemonic).iter().any(|form| form.idiom)
    }

    /// The encoding space.
    pub fn space(&self) -> Space {
        self.space
    }
}

impl Shape {
    fn of(op: X86, profile: Profile, space: Space) -> Shape {
        let info = op.info();
        let (again, implied_imm) = implied(op, space);
        let mut classes: Vec<Class> = info.dst.iter().map(|&v| class_of(v, space)).collect();
        let mut memory = vec![Mem::No; classes.len() + again];
        for _ in 0..again {
            classes.extend(info.dst.map(|v| class_of(v, space)));
        }
        let tied = info.tied[space as usize].map(usize::from);
        for (index, slot) in info.slots.iter().enumerate() {
            // What it reads at an address is one operand with the address.
            let address = info.slots[..index].iter().any(|s| s.view == View::Address);
            if !slot.opmask && tied != Some(index) && !address {
                classes.push(class_of(slot.view, space));
                memory.push(match slot.mem {
                    Mem::May { rack, element } if (rack | element) >> space as u8 & 1 == 0 => Mem::No,
                    _ if slot.view == View::Address => Mem::Table,
                    mem => mem,
                });
            }
        }
        let imm = if info.imm { Some(None) } else { implied_imm.map(Some) };
        let opmask = info.slots.iter().any(|s| s.opmask);
        let (reads_destination, kind) = (tied.is_some(), info.kind);
        let (crosses, idiom) = (crosses(op, profile), kind == Kind::Const && again > 0);
        let neutral = !idiom && (matches!(kind, Kind::Move | Kind::Const) || changes_file(op, profile));
        let zeroing = info.zeroing;
        Shape { classes, memory, opmask, zeroing, imm, reads_destination, kind, crosses, idiom, neutral }
    }

    /// Whether an instruction has this form.
    pub fn fits(&self, inst: &Instruction, space: Space) -> bool {
        let operands = inst.operands();
        let (operands, imm) = match operands {
            [rest @ .., Operand::Immediate(imm)] => (rest, Some(*imm)),
            all => (all, None),
        };
        let imm_fits = match (self.imm, imm) {
            (None, None) | (Some(None), Some(_)) => true,
            (Some(Some(wanted)), Some(found)) => wanted == found,
            _ => false,
        };
        let mask_fits = match inst.mask {
            None => !self.opmask,
            Some((_, zeroing)) => self.opmask && zeroing == self.zeroing,
        };
        imm_fits
            && mask_fits
            && operands.len() == self.classes.len()
            && operands.iter().zip(&self.classes).zip(&self.memory).all(|((operand, class), mem)| match *operand {
                Operand::Register(found, _) => found == *class && !matches!(mem, Mem::Rack | Mem::Element | Mem::Table),
                Operand::Memory { size, .. } => memory_fits(*mem, size, inst.broadcast, space),
                Operand::Entry { size, scale, .. } => {
                    *mem == Mem::Table
                        && *class == Class::Address
                        && (size, scale) == (ENTRY_BYTES as u8, ENTRY_BYTES as u8)
                }
                Operand::Immediate(_) => false,
            })
    }
}

fn memory_fits(mem: Mem, size: u8, broadcast: bool, space: Space) -> bool {
    let rack = [16, 32, 64][space as usize];
    match mem {
        Mem::No | Mem::Place(_) | Mem::Places | Mem::Sum | Mem::Number | Mem::Constant => false,
        Mem::Rack => size == rack && !broadcast,
        Mem::Element => size == 4 && !broadcast,
        // The address of a table is taken, not its bytes.
        Mem::Table => !broadcast,
        Mem::May { element, .. } if broadcast => size == 4 && element >> space as u8 & 1 == 1,
        Mem::May { rack: racks, .. } => size == rack && racks >> space as u8 & 1 == 1,
    }
}
