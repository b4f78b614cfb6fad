//! What an unwinder has to be told of a function, read from its bytes alone.
//!
//! ```text
//! endbr64; push rbx; ...; pop rbx; ret      =>      after 5 bytes: CFA = rsp + 16, rbx at CFA - 16
//!                                                   before ret:    CFA = rsp + 8
//! ```

/// Bytes of `endbr64`.
const LANDING: usize = 4;

/// The instructions of the frame's description (DWARF 5, section 6.4.2); none of a function that saves nothing.
pub fn unwinding(code: &[u8]) -> Vec<u8> {
    let saved = saved(code);
    let restores: Vec<u8> = saved.iter().rev().flat_map(|&register| pop(register)).collect();
    let tail = [&restores[..], &[0xc3]].concat();
    let body = code.strip_suffix(&[0x0f, 0x0b]).filter(|body| body.ends_with(&tail));
    let traps = body.is_some();
    let mut out = Rules::default();
    let (mut at, mut frame) = (LANDING, 8u8);
    for &register in &saved {
        at += pop(register).len();
        frame += 8;
        out.offset(at, frame);
        out.bytes.extend([0x80 | column(register), frame / 8]);
    }
    if saved.is_empty() {
        return out.bytes;
    }
    let end = body.unwrap_or(code).len();
    let mut at = end.saturating_sub(tail.len());
    if traps {
        out.advance(at);
        out.bytes.push(0x0a);
    }
    for &register in saved.iter().rev() {
        at += pop(register).len();
        frame -= 8;
        out.offset(at, frame);
    }
    if traps {
        out.advance(end);
        out.bytes.push(0x0b);
    }
    out.bytes
}

/// The registers that the bytes behind the landing push.
fn saved(code: &[u8]) -> Vec<u8> {
    let (mut rest, mut saved) = (code.get(LANDING..).unwrap_or(&[]), Vec::new());
    loop {
        match *rest {
            [opcode @ 0x50..=0x57, ..] => {
                saved.push(opcode & 7);
                rest = &rest[1..];
            }
            [0x41, opcode @ 0x50..=0x57, ..] => {
                saved.push(opcode & 7 | 8);
                rest = &rest[2..];
            }
            // More than there are registers: the obligations refuse it.
            _ => return saved.into_iter().take(16).collect(),
        }
    }
}

/// The bytes of `pop`, which are as many as those of `push`.
fn pop(register: u8) -> Vec<u8> {
    if register < 8 { vec![0x58 | register] } else { vec![0x41, 0x58 | register & 7] }
}

/// A register's column (System V x86-64 psABI, figure 3.36).
const fn column(register: u8) -> u8 {
    [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15][(register & 15) as usize]
}

#[derive(Default)]
struct Rules {
    bytes: Vec<u8>,
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

    fn offset(&mut self, at: usize, frame: u8) {
        self.advance(at);
        self.bytes.extend([0x0e, frame]);
    }
}
