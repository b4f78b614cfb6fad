//! AArch64 machine code to instructions: by their bits, held against what capstone says.

use super::encoding::{Encodings, Fields, LANDING, TRAP, jump};
use super::text;
use crate::obligations::{Refusal, Undecodable};
use capstone::Capstone;
use capstone::arch::BuildsCapstone;
use capstone::arch::arm64::ArchMode;
use rake_ir::machine::aarch64::A64;

/// What stands at a place of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// `bti c`.
    Landing,
    /// An instruction of the table.
    Op(Fields),
    /// A jump, with the number of its condition if it has one.
    Jump(Option<u8>),
    /// `brk #1`.
    Trap,
}

/// One decoded instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Offset from the start of the function.
    pub offset: u32,
    /// What it is.
    pub what: What,
    /// The address that it names, or jumps to, in the section.
    pub target: Option<i64>,
}

impl Instruction {
    /// Its fields, where it is one of the table.
    pub fn fields(&self) -> Option<&Fields> {
        match &self.what {
            What::Landing | What::Jump(_) | What::Trap => None,
            What::Op(fields) => Some(fields),
        }
    }

    /// What a message calls it.
    pub fn name(&self) -> &'static str {
        match &self.what {
            What::Landing => "bti c",
            What::Op(fields) => fields.op.info().name,
            What::Jump(Some(_)) => "b.cond",
            What::Jump(None) => "b",
            What::Trap => "brk",
        }
    }

    /// Its operation, where it is one of the table.
    pub fn op(&self) -> Option<A64> {
        self.fields().map(|fields| fields.op)
    }
}

/// A decoder. Making one costs far more than decoding a function: keep one per thread.
pub struct Decoder(Capstone);

/// Bytes of an instruction.
const WORD: usize = 4;

impl Decoder {
    /// A decoder of AArch64.
    ///
    /// # Errors
    /// What capstone said, when it has no AArch64 or no memory.
    pub fn new() -> Result<Decoder, String> {
        Capstone::new().arm64().mode(ArchMode::Arm).build().map(Decoder).map_err(|e| e.to_string())
    }

    /// Decodes all of `code`, which stands at `start` of its section; `run` if it may jump and trap.
    ///
    /// # Errors
    /// The first word that is no instruction of vector code.
    pub fn decode(
        &self,
        encodings: &Encodings,
        run: bool,
        code: &[u8],
        start: u32,
    ) -> Result<Vec<Instruction>, Undecodable> {
        let mut out = Vec::with_capacity(code.len() / WORD);
        let fail =
            |offset: usize, reason: String| Undecodable { offset: offset as u32, refusal: Refusal::Other, reason };
        let mut found = self.0.disasm_iter(code, u64::from(start)).map_err(|e| fail(0, e.to_string()))?;
        while let Some(decoded) = found.next() {
            let offset = out.len() * WORD;
            let (mnemonic, operands) = (decoded.mnemonic().unwrap_or(""), decoded.op_str().unwrap_or(""));
            let said = format!("{mnemonic} {operands}");
            let Ok(word) = <[u8; WORD]>::try_from(decoded.bytes()).map(u32::from_le_bytes) else {
                return Err(fail(offset, format!("`{said}` is not of four bytes")));
            };
            let at = i64::from(start) + offset as i64;
            let one = read(encodings, run, word, at, &said)
                .map_err(|(refusal, reason)| Undecodable { refusal, ..fail(offset, reason) })?;
            out.push(Instruction { offset: offset as u32, ..one });
        }
        let end = out.len() * WORD;
        if end == code.len() { Ok(out) } else { Err(fail(end, "no instruction of AArch64 starts here".into())) }
    }
}

/// The instruction of a word at an address of its section, of which a disassembler `said` this.
fn read(encodings: &Encodings, run: bool, word: u32, at: i64, said: &str) -> Result<Instruction, (Refusal, String)> {
    if word == LANDING {
        return match said.trim() {
            "bti c" | "hint #0x22" => Ok(Instruction { offset: 0, what: What::Landing, target: None }),
            _ => Err((Refusal::Other, format!("decoded as `{said}`"))),
        };
    }
    let same = |what: What, target: Option<i64>, wanted: &str| match text::plain(said) == text::plain(wanted) {
        true => Ok(Instruction { offset: 0, what, target }),
        false => Err((Refusal::Other, format!("decoded as `{said}` where the bits say `{wanted}`"))),
    };
    if let Some((cond, distance)) = jump(word).filter(|_| run) {
        let target = at + i64::from(distance);
        return same(What::Jump(cond), Some(target), &text::jump(cond, target));
    }
    if run && word == TRAP {
        return same(What::Trap, None, "brk 1");
    }
    let Some(fields) = encodings.read(word) else {
        return Err((refusal(word, said), format!("`{said}` is not an instruction of vector code")));
    };
    let target = fields.distance.map(|distance| at + i64::from(distance));
    same(What::Op(fields), target, &text::written(&fields, target))
}

/// What a refused word is (DDI 0487, section C4.1: the main groups by bits 25 to 28).
fn refusal(word: u32, said: &str) -> Refusal {
    let (mnemonic, operands) = said.split_once(' ').unwrap_or((said, ""));
    let names = |register: &str| operands.split(|c: char| !c.is_alphanumeric()).any(|name| name == register);
    let group = word >> 25 & 0xf;
    // Hints, barriers and system registers are in the same group as branches.
    if group & 0b1110 == 0b1010 && word >> 24 != 0xd5 {
        // BL, BLR, and exceptions such as SVC.
        let call = mnemonic.starts_with("bl") || word >> 24 == 0xd4;
        return if call { Refusal::Call } else { Refusal::Branch };
    }
    if ["sp", "wsp", "x29", "x30", "w29", "w30", "fp", "lr"].into_iter().any(names) {
        return Refusal::Stack;
    }
    if group & 0b0101 == 0b0100 {
        return Refusal::Memory;
    }
    let stem = mnemonic.trim_start_matches(['u', 'f']);
    if stem.starts_with("recp") || stem.starts_with("rsqrt") {
        return Refusal::Estimate;
    }
    if text::is_part(mnemonic, operands) { Refusal::Part } else { Refusal::Other }
}
