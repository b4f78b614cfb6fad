//! What an unwinder has to be told of a function, read from its bytes alone.
//!
//! ```text
//! bti c; str x19, [sp, #-16]!; ...; ldr x19, [sp], #16; ret
//!                                        =>      after 8 bytes: CFA = sp + 16, x19 at CFA - 16
//!                                                before ret:    x19 as it was, CFA = sp
//! ```

/// Bytes of an instruction, which is also the code alignment of the common entry.
const WORD: usize = 4;
/// STR and LDR that move the stack pointer by sixteen bytes, before and after; the register apart.
const PUSH: u32 = 0xf81f_0fe0;
const POP: u32 = 0xf841_07e0;
const RET: u32 = 0xd65f_03c0;
/// Bytes of the stack that a register takes.
const SLOT: usize = 16;
/// More than a function could save.
const MOST: usize = 32;

/// The instructions of the frame's description (DWARF 5, section 6.4.2); none of a function that saves nothing.
pub fn unwinding(code: &[u8]) -> Vec<u8> {
    let words: Vec<u32> = code.chunks_exact(WORD).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let register = |base: u32| move |word: &u32| (word & !31 == base).then_some((word & 31) as u8);
    // Behind the landing.
    let saved: Vec<u8> = words.iter().skip(1).map_while(register(PUSH)).take(MOST).collect();
    let restores = saved.iter().rev().map(|&number| POP | u32::from(number));
    let tail: Vec<u32> = restores.chain([RET]).collect();
    let body = words.split_last().filter(|(trap, body)| **trap == super::encoding::TRAP && body.ends_with(&tail));
    let traps = body.is_some();
    let mut out = Rules::default();
    if saved.is_empty() {
        return Vec::new();
    }
    for (at, &register) in saved.iter().enumerate() {
        out.offset(2 + at, SLOT * (1 + at));
        out.bytes.extend([0x80 | register, (SLOT * (1 + at) / 8) as u8]);
    }
    let end = body.map_or(words.len(), |(_, body)| body.len());
    let first = end.saturating_sub(tail.len());
    if traps {
        out.advance(first);
        out.bytes.push(0x0a);
    }
    for (at, &register) in saved.iter().rev().enumerate() {
        out.advance(first + at + 1);
        out.bytes.push(0xc0 | register);
        out.offset(first + at + 1, SLOT * (saved.len() - at - 1));
    }
    if traps {
        out.advance(end);
        out.bytes.push(0x0b);
    }
    out.bytes
}

#[derive(Default)]
struct Rules {
    bytes: Vec<u8>,
    /// The instruction before which the last one is said.
    at: usize,
}

impl Rules {
    fn advance(&mut self, to: usize) {
        let by = to.saturating_sub(self.at);
        self.at = to;
        match by {
            0 => {}
            1..=0x3f => self.bytes.push(0x40 | by as u8),
            0x40..=0xff => self.bytes.extend([2, by as u8]),
            0x100..=0xffff => self.bytes.extend([3, by as u8, (by >> 8) as u8]),
            _ => {
                self.bytes.push(4);
                self.bytes.extend((by as u32).to_le_bytes());
            }
        }
    }

    /// The frame's address is so far above the stack's top: seven bits of the number at a time.
    fn offset(&mut self, at: usize, frame: usize) {
        self.advance(at);
        self.bytes.push(0x0e);
        if frame >> 7 == 0 {
            self.bytes.push(frame as u8);
        } else {
            self.bytes.extend([0x80 | (frame & 0x7f) as u8, (frame >> 7) as u8]);
        }
    }
}
