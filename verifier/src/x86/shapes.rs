//! The profile's instruction list: which mnemonics, with which register classes, and what each kind is for.
//!
//! Runs have a list of their own: that of all other functions, and what touches memory, general registers of 64 bits and
//! the order of execution.

use super::decode::{Class, Instruction, Operand, Place, STACK};
use rake_ir::machine::x86::{ALL, ENTRY_BYTES, Space, X86};
use rake_ir::machine::{self, Flow, Idioms, Kind, MachOp, Mem, VARIANTS, View};
use rake_ir::profile::Profile;
use std::collections::HashMap;

/// One accepted form of an instruction.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The row.
    pub op: X86,
    /// Register class of each operand, the destination first, an immediate or opmask apart.
    pub classes: Vec<Class>,
    /// The operand that must or may be in memory.
    memory: Vec<Mem>,
    opmask: bool,
    zeroing: bool,
    imm: Option<Option<u8>>,
    /// Whether the destination, named once, is read before it is written.
    pub reads_destination: bool,
    /// Whether it moves lanes to other lanes.
    pub crosses: bool,
    /// Whether it makes zeros or ones of equal sources.
    pub idiom: bool,
    /// Whether it copies or loads a constant, whatever its operands are.
    pub neutral: bool,
    /// Whether it is a form of runs, in which what may be a literal may be a place.
    runs: bool,
}

/// The forms of a profile, by mnemonic.
#[derive(Clone, Debug)]
pub struct Shapes {
    /// The profile.
    pub profile: Profile,
    /// Whether they are those of runs.
    pub runs: bool,
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
        View::Word | View::Wide | View::Float => Class::Gpr,
        View::Address | View::Long | View::Frame => Class::Address,
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
        (X86::LongZero, _) => (1, None),
        (X86::Splatps, _) => (1, Some(0)),
        _ => (0, None),
    }
}

/// The register class of a row's destination; a number decides that of a constant of 64 bits.
pub fn destination(op: X86, space: Space, number: Option<i32>) -> Option<Class> {
    let view = op.info().dst?;
    Some(match op {
        X86::LongZero | X86::ZeroExtend => Class::Gpr,
        X86::LongConst if number.is_none_or(|number| number >= 0) => Class::Gpr,
        _ => class_of(view, space),
    })
}

/// The register class of a row's operand.
pub fn operand(op: X86, view: View, space: Space) -> Class {
    match op {
        X86::StoreByte => Class::Byte,
        X86::StoreHalf => Class::Half,
        _ => class_of(view, space),
    }
}

/// Whether only runs have a row: it touches memory, general registers of 64 bits, or the order of execution.
pub fn is_of_runs(op: X86) -> bool {
    let info = op.info();
    let of_runs = |slot: &machine::Slot| {
        slot.view == View::Long || slot.mem.is_address() || matches!(slot.mem, Mem::Number | Mem::Constant)
    };
    let ends = matches!(op, X86::Ret | X86::Vzeroupper);
    info.kind == Kind::Transfer
        || info.kind == Kind::Control && !ends
        || info.dst == Some(View::Long)
        || info.slots.iter().any(|slot| slot.view == View::Frame)
        || info.slots.iter().any(of_runs)
}

/// Whether a row reads eight bytes at an address and widens them as both an entry of a table and a column are read.
const fn reads_like_entry(op: X86, space: Space) -> bool {
    matches!((op, space), (X86::PmovzxbdLoad, Space::Vex))
}

/// Whether a row moves lanes to other lanes: what is made for that, and what takes one lane to all, or one out of many,
/// on the way between register files. Copies of masks into racks, which allocation makes where masks run out, do not.
pub fn crosses(op: X86, profile: Profile) -> bool {
    let info = op.info();
    let racks = info.dst.iter().chain(info.slots.iter().map(|s| &s.view)).any(|v| v.class() == machine::Class::V);
    let spreads = info.dst == Some(View::Rack) || info.imm && racks;
    match info.kind {
        Kind::Cross => true,
        Kind::Transfer => Space::of(profile).is_some_and(|space| reads_like_entry(op, space)),
        Kind::Boundary | Kind::Word => spreads && !changes_file(op, profile),
        _ => false,
    }
}

/// Whether a row counts as computing with general registers.
pub fn is_word(op: X86, space: Space) -> bool {
    // A word that is widened is copied like any other.
    op.info().kind == Kind::Word && op != X86::ZeroExtend || reads_like_entry(op, space)
}

/// Whether a row copies or makes a constant, which may stand anywhere, `runs` among the rows of runs.
pub fn is_neutral(op: X86, profile: Profile, runs: bool) -> bool {
    // Where there are constants of 64 bits, those of words look the same.
    let word = runs && matches!(op, X86::WordConst | X86::ZeroExtend);
    word || matches!(op.info().kind, Kind::Move | Kind::Const) || changes_file(op, profile)
}

/// Whether a row copies a mask from one register file to the other, as allocation does where masks run out.
pub fn changes_file(op: X86, profile: Profile) -> bool {
    let masks = Idioms::of(profile).masks;
    masks.is_some_and(|masks| [masks.to_rack, masks.from_rack].contains(&MachOp::X86(op)))
}

impl Shapes {
    /// The forms of an x86 profile: those of runs, or of everything else.
    pub fn of(profile: Profile, runs: bool) -> Option<Shapes> {
        let space = Space::of(profile)?;
        let mut by_mnemonic: HashMap<&'static str, Vec<Shape>> = HashMap::new();
        for &op in ALL.iter().filter(|&&op| runs || !is_of_runs(op)) {
            let jumps = matches!(op.info().flow, Some(flow) if !matches!(flow, Flow::Compare | Flow::Push | Flow::Pop | Flow::Return));
            if let Some(mnemonic) = op.info().mnemonics[space as usize].filter(|_| !jumps) {
                let shapes = by_mnemonic.entry(mnemonic).or_default();
                let whole = [Some(1), Some(-1)].into_iter().take(if op == X86::LongConst { 2 } else { 1 });
                shapes.extend(whole.map(|number| Shape::of(op, profile, space, runs, number)));
            }
        }
        Some(Shapes { profile, runs, space, by_mnemonic })
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
    fn of(op: X86, profile: Profile, space: Space, runs: bool, number: Option<i32>) -> Shape {
        let info = op.info();
        let (again, implied_imm) = implied(op, space);
        let dst = destination(op, space, number);
        let mut classes: Vec<Class> = dst.into_iter().collect();
        let mut memory = vec![Mem::No; classes.len() + again];
        for _ in 0..again {
            classes.extend(dst);
        }
        let tied = info.tied[space as usize].map(usize::from);
        for (index, slot) in info.slots.iter().enumerate() {
            // What it reads at an address is one operand with the address.
            let address = info.slots[..index].iter().any(|s| s.view == View::Address);
            if !slot.opmask && tied != Some(index) && !address {
                classes.push(operand(op, slot.view, space));
                memory.push(match slot.mem {
                    Mem::May { rack, element } if (rack | element) >> space as u8 & 1 == 0 => Mem::No,
                    _ if slot.view == View::Address => Mem::Table,
                    _ if slot.view == View::Frame => Mem::Place([8; VARIANTS]),
                    mem => mem,
                });
            }
        }
        let imm = if info.imm { Some(None) } else { implied_imm.map(Some) };
        let opmask = info.slots.iter().any(|s| s.opmask);
        let (reads_destination, kind) = (tied.is_some(), info.kind);
        let (crosses, idiom) = (crosses(op, profile), kind == Kind::Const && again > 0);
        let neutral = !idiom && is_neutral(op, profile, runs);
        let zeroing = info.zeroing;
        Shape { op, classes, memory, opmask, zeroing, imm, reads_destination, crosses, idiom, neutral, runs }
    }

    /// Whether its first operand is a register that it writes.
    pub fn writes_register(&self) -> bool {
        self.op.info().dst.is_some()
    }

    /// Whether an instruction has this form.
    pub fn fits(&self, inst: &Instruction, space: Space) -> bool {
        let operands = inst.operands();
        let last = self.memory.last();
        let (operands, imm) = match operands {
            all if matches!(last, Some(Mem::Number | Mem::Constant)) => (all, None),
            [rest @ .., Operand::Immediate(imm)] => (rest, Some(*imm)),
            [rest @ .., Operand::Number(number @ 0..=255)] if self.op == X86::WordConst => (rest, Some(*number as u8)),
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
                Operand::Register(found, _) => {
                    found == *class && !mem.is_literal() && !mem.is_address() && *mem != Mem::Constant
                }
                Operand::Memory { size, .. } => memory_fits(*mem, size, inst.broadcast, space),
                Operand::Place(place) => self.place_fits(*mem, *class, place, inst.broadcast, space),
                Operand::Immediate(_) => *mem == Mem::Number,
                Operand::Number(_) => matches!(mem, Mem::Number | Mem::Constant),
                Operand::Target(_) => false,
            })
    }

    fn place_fits(&self, mem: Mem, class: Class, place: Place, broadcast: bool, space: Space) -> bool {
        let entry = ENTRY_BYTES as u8;
        let general = place.index.is_none_or(|index| index.class == Class::Address);
        // One row alone reads the caller's frame.
        if (place.base == STACK) != (self.op == X86::TakeArgument) {
            return false;
        }
        match mem {
            Mem::Table => {
                let scale = place.index.map(|index| index.scale);
                let plain = class == Class::Address && general && place.displacement == 0 && !broadcast;
                plain && (place.size, scale) == (entry, Some(entry))
            }
            Mem::Place(bytes) => place.size == bytes[space as usize] && general && !broadcast,
            Mem::Places => place.index.is_some_and(|index| index.class == rack_class(space)) && !broadcast,
            Mem::Sum => general && !broadcast,
            Mem::May { .. } => {
                self.runs && space != Space::Sse && general && memory_fits(mem, place.size, broadcast, space)
            }
            _ => false,
        }
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
