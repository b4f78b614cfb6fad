//! Machine code of one function: rows of the machine table to 32-bit words, and where its literals go.
//!
//! ```text
//!  0  bti c
//!  4  ldr q1, 0x10     the literal's distance is part of the word
//!  8  fadd v0.4s, v0.4s, v1.4s
//!  c  ret
//! 10  the literal
//! ```
//!
//! Behind `ret` stands the trap that checks jump to, when there are any.

use super::codes::{Code, Field, encoding, immediate, number, place};
use super::jumps::{TRAP, word};
use super::unwind::{SLOT, STACK};
use crate::jumps::{Jump, Target, is_label, jumps, traps};
use crate::unwind;
use rake_ir::allocated::{Function, saved};
use rake_ir::diag::{self, Diagnostic};
use rake_ir::limits::LITERAL_DISTANCE;
use rake_ir::machine::{Inst, LiteralId, MachOp, Operand, PhysReg};

/// `bti c` (DDI 0487, section C6.2): where indirect calls land under branch target identification.
pub const LANDING: u32 = 0xd503_245f;
/// Bytes of an instruction.
const WORD: u32 = 4;
/// The greatest alignment of a literal: that of a whole rack.
const LITERAL_ALIGN: u32 = 16;

/// A function's machine code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Encoded {
    /// The bytes, `bti c` first.
    pub code: Vec<u8>,
    /// The literals.
    pub pool: Pool,
    /// Where each instruction of the function starts.
    pub starts: Vec<u32>,
    /// What an unwinder is told of it.
    pub unwind: Vec<u8>,
}

/// The literals that a function reads, after its code: those of the greatest alignment first, each kind in the order of
/// first use, so that nothing stands between them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pool {
    /// Each literal's number, and where it stands from the function's start.
    pub places: Vec<(u32, u32)>,
    /// The alignment of the first.
    pub align: u32,
}

impl Pool {
    /// The literals of a function whose code has so many bytes.
    fn of(function: &Function, code: u32) -> Option<Pool> {
        let mut used: Vec<(u32, u32, u32)> = Vec::new();
        let mut seen = vec![false; function.literals.len()];
        for literal in function.insts.iter().flat_map(|inst| &inst.args).filter_map(|arg| arg.literal()) {
            let len = u32::try_from(function.literals.get(literal.0 as usize)?.len()).ok()?;
            if !std::mem::replace(&mut seen[literal.0 as usize], true) {
                used.push((literal.0, len, len.next_power_of_two().clamp(WORD, LITERAL_ALIGN)));
            }
        }
        used.sort_by_key(|&(.., align)| std::cmp::Reverse(align));
        let align = used.first().map_or(WORD, |&(.., align)| align);
        let mut at = code;
        let mut places = Vec::with_capacity(used.len());
        for (literal, len, align) in used {
            at = at.next_multiple_of(align);
            places.push((literal, at));
            at = at.checked_add(len)?;
        }
        Some(Pool { places, align })
    }

    /// Where the first literal stands.
    pub fn first(&self) -> Option<u32> {
        self.places.first().map(|&(_, at)| at)
    }

    /// By the literal's number, its place in the pool.
    pub fn numbered(&self, literals: usize) -> Vec<Option<usize>> {
        let mut out = vec![None; literals];
        for (place, &(literal, _)) in self.places.iter().enumerate() {
            out[literal as usize] = Some(place);
        }
        out
    }
}

/// Encodes a function. Each begins with `bti c`, so that indirect calls reach it under branch protection.
///
/// # Errors
/// A function too long to reach its literals or its bodies' ends, or an operation without an encoding, which is a fault of
/// the compiler.
pub fn encode(function: &Function) -> Result<Encoded, Diagnostic> {
    let missing = || {
        let message = format!("`{}` names a missing literal", function.name);
        Diagnostic::error(diag::Code::Internal, function.span, message)
    };
    let (jumps, frame) = (jumps(function), frame(function));
    let starts = starts(function);
    let end = starts.last().copied().unwrap_or(WORD);
    let code_end = end + if traps(&jumps) { WORD } else { 0 };
    let pool = Pool::of(function, code_end).ok_or_else(missing)?;
    let numbered = pool.numbered(function.literals.len());
    let offset = |literal: LiteralId| Some(pool.places[(*numbered.get(literal.0 as usize)?)?].1);
    let mut out = Encoded::default();
    out.code.reserve(code_end as usize);
    out.code.extend_from_slice(&LANDING.to_le_bytes());
    for ((inst, jump), &at) in function.insts.iter().zip(&jumps).zip(&starts) {
        if is_label(inst.op.flow()) {
            continue;
        }
        let literal = inst.args.iter().find_map(|arg| arg.literal());
        let distance = match literal {
            Some(literal) => offset(literal).ok_or_else(missing)? - at,
            None => 0,
        };
        if distance > LITERAL_DISTANCE {
            return Err(too_long(function, inst, distance));
        }
        let word = match jump {
            Some(jump) => word(*jump, distance_of(*jump, at, &starts)).ok_or_else(|| too_far(function, inst))?,
            None => instruction(inst, distance, frame).ok_or_else(|| unsupported(function, inst))?,
        };
        out.code.extend_from_slice(&word.to_le_bytes());
    }
    let traps = traps(&jumps);
    if traps {
        out.code.extend_from_slice(&TRAP.to_le_bytes());
    }
    let places: Vec<usize> = starts.iter().map(|&start| start as usize).collect();
    out.unwind = unwind::bytes(&STACK, &unwind::rules(&STACK, function, traps), &places);
    out.starts = starts;
    out.starts.pop();
    out.pool = pool;
    Ok(out)
}

/// Where each instruction starts, and where the last one ends.
fn starts(function: &Function) -> Vec<u32> {
    let mut starts = vec![WORD];
    for (at, inst) in function.insts.iter().enumerate() {
        starts.push(starts[at] + if is_label(inst.op.flow()) { 0 } else { WORD });
    }
    starts
}

/// How far a jump leads from where it stands.
fn distance_of(jump: Jump, at: u32, starts: &[u32]) -> i64 {
    let end = starts.last().copied().unwrap_or(at);
    let to = match jump.to {
        Target::Inst(inst) => starts.get(inst as usize).copied().unwrap_or(end),
        Target::Trap => end,
    };
    i64::from(to) - i64::from(at)
}

/// How far the arguments in the caller's frame are from the stack's top: what is saved lies between.
pub(super) fn frame(function: &Function) -> u32 {
    u32::from(SLOT) * saved(function).count() as u32
}

fn too_far(function: &Function, inst: &Inst<PhysReg>) -> Diagnostic {
    let message = format!("`{}` is too long: AArch64 jumps over a mebibyte at most", function.name);
    Diagnostic::error(diag::Code::LimitExceeded, inst.span, message).help("split it into several definitions")
}

fn too_long(function: &Function, inst: &Inst<PhysReg>, distance: u32) -> Diagnostic {
    let message = format!(
        "`{}` is too long: its constants follow its code, {distance} bytes from where one is read, and AArch64 reads \
         over {LITERAL_DISTANCE} at most",
        function.name
    );
    Diagnostic::error(diag::Code::LimitExceeded, inst.span, message).help("split it into several definitions")
}

fn unsupported(function: &Function, inst: &Inst<PhysReg>) -> Diagnostic {
    let message = format!("`{}` has no encoding for {} with these operands", function.name, inst.op.name());
    Diagnostic::error(diag::Code::Internal, inst.span, message)
}

/// The word of one instruction whose literal, if it reads one, stands `distance` bytes further on, and above whose stack's
/// top `frame` bytes are saved. `None` when an operand does not fit.
pub(super) fn instruction(inst: &Inst<PhysReg>, distance: u32, frame: u32) -> Option<u32> {
    let MachOp::A64(op) = inst.op else { return None };
    let info = op.info();
    if inst.args.len() != info.slots.len() || inst.imm.is_some() != info.imm {
        return None;
    }
    let Code { word, fields } = encoding(op);
    if word == 0 {
        return None;
    }
    fields.iter().try_fold(word, |word, field| {
        let bits = match *field {
            Field::Dst(at) => register(inst.dst?)? << at,
            Field::Arg(slot, at) => register(inst.args.get(usize::from(slot))?.reg()?)? << at,
            // LDR (literal): the distance in words.
            Field::Near => distance.is_multiple_of(WORD).then_some((distance / WORD) << 5)?,
            // ADR: the distance in bytes, its lowest two bits apart.
            Field::Address => (distance & 3) << 29 | distance >> 2 << 5,
            Field::Imm(kind) => immediate(kind, u32::from(inst.imm?))?,
            Field::Place(slot, bytes) => place(&inst.args.get(usize::from(slot))?.address()?, bytes)?,
            Field::Number(slot, kind) => match inst.args.get(usize::from(slot))? {
                Operand::Number(n) => number(kind, *n)?,
                _ => return None,
            },
            Field::Frame(slot) => (above(inst.args.get(usize::from(slot))?.reg()?, frame) / 8) << 10,
        };
        (word & bits == 0).then_some(word | bits)
    })
}

/// How far above the stack's top a word of the caller's frame is.
pub(super) fn above(word: PhysReg, frame: u32) -> u32 {
    frame + 8 * u32::from(word.number)
}

fn register(register: PhysReg) -> Option<u32> {
    (register.number < 32).then_some(register.number.into())
}
