//! Damaged and meaningless text.

use crate::special::Bits;

/// Pieces of source, of dumps, and of nothing.
const PIECES: &[&str] = &[
    "scratch",
    "rake",
    "tine",
    "run",
    "slow",
    "pack",
    "let",
    "if",
    "then",
    "else",
    "repeat",
    "from",
    "up",
    "to",
    "sweep:",
    "through",
    "into",
    "means",
    "select(",
    "sqrt(",
    "abs(",
    "fma(",
    "bit_and(",
    "shift_bits_left(",
    "sum(",
    "f32s",
    "i32s",
    "u32s",
    "mask",
    "f32",
    "bool",
    "and",
    "or",
    "not",
    "true",
    "false",
    "extern",
    "record",
    "embed",
    "state",
    "const",
    "x",
    "y",
    "f",
    "#t",
    "@",
    "lanes",
    "_",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "<|",
    "|",
    "=>",
    "->",
    "<-",
    ":=",
    "<=",
    ">=",
    "!=",
    "=",
    "+",
    "-",
    "*",
    "/",
    "%",
    ",",
    ";",
    ":",
    ".",
    "0",
    "1",
    "-1",
    "0x",
    "0xffffffff",
    "4294967296",
    "1.0",
    "1e39",
    "1e-999999999",
    "99999999999999999999",
    "2.",
    ".5",
    "1e",
    "\"",
    "\"s\"",
    "~~ note",
    "(*",
    "*)",
    "\n",
    "\n  ",
    "\n    ",
    "\t",
    "\r\n",
    "\r",
    "\0",
    "\u{feff}",
    "é",
    "\u{1f600}",
    "%0",
    "%1",
    "%99999",
    "v0",
    "ymm0",
    "region {",
    "k1",
    "scratch f(x: f32s) -> f32s:\n  ",
    "| r <| ",
    "<x>",
    "<-1.0>",
    "x <-1.0",
    "<x: f32>",
    "x: f32s",
];

/// The text with one to eight edits: bytes flipped, pieces put in, parts cut, doubled, swapped or moved.
pub fn mutate(text: &[u8], bits: &mut Bits) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..1 + bits.below(8) {
        edit(&mut text, bits);
    }
    text
}

/// A stretch of the text, mostly short.
fn stretch(text: &[u8], bits: &mut Bits) -> (usize, usize) {
    let longest = if bits.below(8) == 0 { text.len() } else { text.len().min(24) };
    let start = bits.below(text.len() + 1);
    (start, (start + bits.below(longest + 1)).min(text.len()))
}

fn edit(text: &mut Vec<u8>, bits: &mut Bits) {
    let (start, end) = stretch(text, bits);
    match bits.below(10) {
        0 if start < text.len() => text[start] ^= 1 << bits.below(8),
        1 if start < text.len() => text[start] = bits.below(256) as u8,
        2 => drop(text.drain(start..end)),
        3 => {
            let copy = text[start..end].to_vec();
            let at = bits.below(text.len() + 1);
            drop(text.splice(at..at, copy));
        }
        4 => text.truncate(start),
        5 => swap_lines(text, bits),
        6 => drop(text.splice(start..end, PIECES[bits.below(PIECES.len())].bytes())),
        7 => change_number(text, start, bits),
        _ => drop(text.splice(start..start, PIECES[bits.below(PIECES.len())].bytes())),
    }
}

fn swap_lines(text: &mut Vec<u8>, bits: &mut Bits) {
    let mut lines: Vec<Vec<u8>> = text.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    let (a, b) = (bits.below(lines.len()), bits.below(lines.len()));
    lines.swap(a, b);
    *text = lines.join(&b'\n');
}

/// Changes a digit of the first number from `start` on, so that ids and counts in dumps go astray.
fn change_number(text: &mut [u8], start: usize, bits: &mut Bits) {
    if let Some(digit) = text[start..].iter_mut().find(|byte| byte.is_ascii_digit()) {
        *digit = b'0' + bits.below(10) as u8;
    }
}

/// Random pieces with random space between them.
pub fn soup(pieces: usize, bits: &mut Bits) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..pieces {
        text.extend_from_slice(PIECES[bits.below(PIECES.len())].as_bytes());
        if bits.below(4) != 0 {
            text.push(b' ');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_repeat_and_every_text_can_be_damaged() {
        let damaged = |seed| mutate(b"scratch f(x: f32s) -> f32s:\n  x\n", &mut Bits::new(seed));
        assert_eq!(damaged(3), damaged(3));
        assert!((0..100).filter(|&seed| damaged(seed) != damaged(seed + 1)).count() > 90);
        for seed in 0..200 {
            mutate(b"", &mut Bits::new(seed));
        }
        assert_ne!(soup(20, &mut Bits::new(1)), soup(20, &mut Bits::new(2)));
    }
}
