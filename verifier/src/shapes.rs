//! The profile's instruction list: which mnemonics, with which register classes, and what each kind is for.

use crate::decode::{Class, Instruction, Operand};
use rake_ir::machine::x86::{ALL, X86};
use rake_ir::machine::x86::{ENTRY_BYTES, Space};
use rake_ir::machine::{Mem, View};
use rake_ir::profile::Profile;
use smol_str::SmolStr;
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
        View::Word | View::Float => Class::Gpr,
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

impl Shapes {
    /// The forms of an x86 profile.
    pub fn of(profile: Profile) -> Option<Shapes> {
        let space = Space::of(profile)?;
        let mut by_mnemonic: HashMap<&'static str, Vec<Shape>> = HashMap::new();
        for &op in ALL {
            if let Some(mnemonic) = op.info().mnemonics[space as usize] {
                by_mnemonic.entry(mnemonic).or_default().push(Shape::of(op, space));
            }
        }
        Some(Shapes { profile, space, by_mnemonic })
    }

    /// The forms that a mnemonic has; empty when the profile lacks the instruction.
    pub fn named(&self, mnemonic: &str) -> &[Shape] {
        self.by_mnemonic.get(mnemonic).map_or(&[], Vec::as_slice)
    }

    /// The encoding space.
    pub fn space(&self) -> Space {
        self.space
    }
}

impl Shape {
    fn of(op: X86, space: Space) -> Shape {
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
        Shape { classes, memory, opmask, zeroing: info.zeroing, imm, reads_destination: tied.is_some() }
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
        Mem::No => false,
        Mem::Rack => size == rack && !broadcast,
        Mem::Element => size == 4 && !broadcast,
        // The address of a table is taken, not its bytes.
        Mem::Table => !broadcast,
        Mem::May { element, .. } if broadcast => size == 4 && element >> space as u8 & 1 == 1,
        Mem::May { rack: racks, .. } => size == rack && racks >> space as u8 & 1 == 1,
    }
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

impl FmaSign {
    /// The sign that a mnemonic has, if it is a fused multiply-add of packed single precision.
    pub fn of(mnemonic: &str) -> Option<FmaSign> {
        [("vfmadd", FmaSign::Add), ("vfmsub", FmaSign::Sub), ("vfnmadd", FmaSign::NegAdd), ("vfnmsub", FmaSign::NegSub)]
            .into_iter()
            .find(|(stem, _)| mnemonic.strip_prefix(stem).is_some_and(|rest| rest.starts_with(['1', '2'])))
            .map(|(_, sign)| sign)
    }
}

/// The name of an operation in a region: the order of a fused multiply-add's operands is the allocator's choice.
pub fn region_name(mnemonic: &str) -> SmolStr {
    let stem = mnemonic.trim_end_matches("ps").trim_end_matches(['1', '2', '3']);
    if FmaSign::of(mnemonic).is_some() { SmolStr::new(stem) } else { crossing_name(mnemonic) }
}

/// Whether an operation of a region, by its [`region_name`], stands there exactly as often as it was selected.
pub fn is_counted(name: &str) -> bool {
    ["vfmadd", "vfmsub", "vfnmadd", "vfnmsub"].contains(&name) || is_cross_lane(name)
}

/// The name under which cross-lane instructions are counted: which operand a permutation of two racks overwrites, the
/// indices or the first rack, is the allocator's choice.
pub fn crossing_name(mnemonic: &str) -> SmolStr {
    match mnemonic.strip_prefix("vpermi2") {
        Some(elem) => SmolStr::new(format!("vpermt2{elem}")),
        None => SmolStr::new(mnemonic),
    }
}

/// Whether an instruction with this mnemonic moves lanes to other lanes (unless it reads memory).
pub fn is_cross_lane(mnemonic: &str) -> bool {
    let plain = mnemonic.strip_prefix('v').unwrap_or(mnemonic);
    const STEMS: &[&str] = &[
        "shuf",
        "pshuf",
        "perm",
        "unpck",
        "punpck",
        "pack",
        "broadcast",
        "pbroadcast",
        "align",
        "palign",
        "extract",
        "pextr",
        "insert",
        "pinsr",
        "movhl",
        "movlh",
        "movsh",
        "movsl",
        "movdd",
        "pslldq",
        "psrldq",
        "compress",
        "pcompress",
        "expand",
        "pexpand",
        "hadd",
        "phadd",
        "hsub",
        "phsub",
        "pmovsx",
        "pmovzx",
        "dpp",
    ];
    STEMS.iter().any(|stem| plain.starts_with(stem))
}

/// Whether an instruction works in general registers, or with what they hold, beyond bringing scalars across the boundary,
/// copying and taking a table's address.
pub fn is_word_work(mnemonic: &str, operands: &[Operand]) -> bool {
    let general = |o: &Operand| matches!(o, Operand::Register(Class::Gpr, _) | Operand::Entry { .. });
    let crossing = matches!(mnemonic, "movd" | "vmovd" | "vpbroadcastd" | "pextrd" | "vpextrd" | "vpinsrd" | "mov");
    !crossing && operands.iter().any(general)
}

/// Whether an instruction with equal sources makes a constant: zeros or ones.
pub fn is_idiom(mnemonic: &str) -> bool {
    matches!(mnemonic, "xorps" | "vxorps" | "vpxord" | "pcmpeqd" | "vpcmpeqd" | "vpternlogd" | "kxorw" | "kxnorw")
}

/// Whether an instruction copies a mask from one register file to the other, as allocation does where masks run out.
pub fn changes_file(mnemonic: &str) -> bool {
    matches!(mnemonic, "vpmovm2d" | "vpmovd2m")
}

/// Whether an instruction is a copy or a constant, which may stand in any region.
pub fn is_neutral(inst: &Instruction) -> bool {
    let operands = match inst.operands() {
        [rest @ .., Operand::Immediate(_)] => rest,
        all => all,
    };
    let mnemonic = inst.mnemonic.as_str();
    if matches!(mnemonic, "movaps" | "vmovaps") {
        return inst.mask.is_none();
    }
    // Any other function than "always" depends on what it reads.
    if mnemonic == "vpternlogd" && !inst.operands().ends_with(&[Operand::Immediate(0xff)]) {
        return false;
    }
    if mnemonic == "kmovw" {
        return !operands.iter().any(|o| matches!(o, Operand::Register(Class::Gpr, _)));
    }
    if matches!(mnemonic, "mov" | "lea") {
        return true;
    }
    if changes_file(mnemonic) {
        return true;
    }
    if mnemonic == "vbroadcastss" {
        return matches!(operands, [_, Operand::Memory { .. }]);
    }
    let sources = if operands.len() == 2 { operands } else { operands.get(1..).unwrap_or(&[]) };
    is_idiom(mnemonic) && matches!(sources, [Operand::Register(..), ..]) && sources.iter().all(|s| *s == sources[0])
}

/// Whether what an instruction writes does not depend on what its registers hold: zeros or ones.
pub fn is_constant(inst: &Instruction) -> bool {
    let (operands, imm) = match inst.operands() {
        [rest @ .., Operand::Immediate(imm)] => (rest, Some(*imm)),
        all => (all, None),
    };
    // A ternary function of three registers reads its destination too, unless its truth table is all ones.
    let sources = if operands.len() == 2 { operands } else { operands.get(1..).unwrap_or(&[]) };
    let alike = matches!(sources, [Operand::Register(..), ..]) && sources.iter().all(|s| *s == sources[0]);
    is_idiom(&inst.mnemonic) && alike && inst.mask.is_none() && imm.is_none_or(|imm| imm == 0xff)
}
