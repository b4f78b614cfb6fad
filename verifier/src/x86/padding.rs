//! Padding before loops: `nop`s up to a multiple of 32, and nowhere else.
//!
//! ```text
//! 1b: 66 0f 1f 84 ..  nop      is taken out
//! 24: ...                      no padding ends here, or where no later jump leads back to
//! ```
//!
//! What is left is as if no padding had been there; offsets stay what they are.

use super::decode::{Instruction, Operand};
use crate::image::{Image, Symbol};

/// Loops begin at multiples of this where they are padded.
const ALIGN: u32 = 32;

/// The one-instruction paddings of one to nine bytes (Intel SDM, volume 2, "NOP", table 4-12).
const FORMS: [&[u8]; 9] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

/// The mnemonic of padding.
pub const NAME: &str = "nop";

/// Whether these bytes are padding in one instruction.
pub fn is_padding(bytes: &[u8]) -> bool {
    FORMS.contains(&bytes)
}

/// The instructions without the padding, and the offset of padding that must not be.
pub fn take_out(image: &Image<'_>, symbol: &Symbol<'_>, insts: Vec<Instruction>) -> (Vec<Instruction>, Option<u32>) {
    let mut wrong = None;
    for group in insts.chunk_by(|a, b| (a.mnemonic == NAME) == (b.mnemonic == NAME)) {
        let [first, ..] = group else { continue };
        if first.mnemonic == NAME && !may_stand(image, symbol, &insts, group) {
            wrong = wrong.or(Some(first.offset));
        }
    }
    let kept = insts.into_iter().filter(|inst| inst.mnemonic != NAME).collect();
    (kept, wrong)
}

/// Whether padding leads to a multiple, by the fewest bytes and instructions, and a jump behind it leads back to its end.
fn may_stand(image: &Image<'_>, symbol: &Symbol<'_>, insts: &[Instruction], padding: &[Instruction]) -> bool {
    let [.., last] = padding else { return false };
    let longest = FORMS.len();
    let (bytes, end) = (last.end() - padding[0].offset, last.end());
    let few = padding.iter().rev().skip(1).all(|inst| usize::from(inst.len) == longest);
    let aligned = image.text_align.is_multiple_of(ALIGN.into()) && (symbol.start + end).is_multiple_of(ALIGN);
    let back = |inst: &Instruction| inst.offset >= end && inst.operands() == [Operand::Target(end.into())];
    bytes < ALIGN && few && aligned && insts.iter().any(back)
}
