//! Instructions as a disassembler writes them, so that what the bits say can be compared with what it says.

use super::encoding::{Address, Fields};
use rake_ir::machine::aarch64::ALL;
use std::collections::BTreeSet;

/// An instruction in the table's syntax, filled in; `target` is the address that it names.
pub fn written(fields: &Fields, target: Option<i64>) -> String {
    let mut rest = fields.op.syntax();
    let mut out = format!("{} ", mnemonic(fields));
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let hole = after.split_once('}').and_then(|(name, after)| Some((value(fields, target, name)?, after)));
        match hole {
            Some((text, after)) => {
                out.push_str(&text);
                rest = after;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out + rest
}

/// The mnemonic: what takes a displacement of any number of bytes has one of its own, as `ldur` beside `ldr`.
fn mnemonic(fields: &Fields) -> String {
    let name = fields.op.info().mnemonics[0].unwrap_or_default();
    match (fields.place, name.get(..2), name.get(2..)) {
        (Some(Address { unscaled: true, .. }), Some(stem), Some(rest)) => format!("{stem}u{rest}"),
        _ => name.into(),
    }
}

/// A jump with this number of a condition, if any (DDI 0487, section C1.2.4), to this address.
pub fn jump(cond: Option<u8>, target: i64) -> String {
    const NAMES: [&str; 16] =
        ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"];
    match cond {
        Some(cond) => format!("b.{} {target}", NAMES[usize::from(cond & 15)]),
        None => format!("b {target}"),
    }
}

/// An address.
fn address(at: &Address) -> String {
    let (base, scale) = (at.base, at.scale);
    match at.index {
        None if at.disp == 0 => format!("[x{base}]"),
        None => format!("[x{base}, {}]", at.disp),
        Some(index) if scale == 0 => format!("[x{base}, x{index}]"),
        Some(index) => format!("[x{base}, x{index}, lsl {scale}]"),
    }
}

/// A number as disassemblers write it.
fn number(fields: &Fields, number: i32) -> String {
    use super::encoding::{Field, Number, encoding};
    let is = |kind: Number| encoding(fields.op).1.contains(&Field::Number(kind));
    match number {
        _ if is(Number::Ones) => (i64::from(number) as u64).to_string(),
        0 if is(Number::Frame) => "[sp]".into(),
        _ if is(Number::Frame) => format!("[sp, {number}]"),
        0x1000.. if is(Number::Sum) => format!("{}, lsl 12", number >> 12),
        _ => number.to_string(),
    }
}

/// What goes into a hole of the syntax; `None` when it is none.
fn value(fields: &Fields, target: Option<i64>, hole: &str) -> Option<String> {
    if let Ok(slot) = hole.parse::<usize>() {
        let register = fields.args.get(slot).copied().flatten();
        let other = || match (target, fields.place, fields.number) {
            (Some(at), ..) => Some(at.to_string()),
            (_, Some(at), _) => Some(address(&at)),
            (.., Some(found)) => Some(number(fields, found)),
            _ => None,
        };
        return register.map(|number| number.to_string()).or_else(other);
    }
    let imm = fields.imm;
    Some(match hole {
        "d" => fields.dst?.to_string(),
        "i" => imm?.to_string(),
        "l" => (imm? & 15).to_string(),
        "h" => (imm? >> 4).to_string(),
        // Each bit of the immediate is a byte.
        "m" => {
            let imm = imm?;
            let bytes = (0..8).map(|bit| if imm >> bit & 1 == 1 { 0xffu64 << (8 * bit) } else { 0 });
            bytes.sum::<u64>().to_string()
        }
        "f" => format!("{:?}", float(imm?)),
        _ => return None,
    })
}

/// The number of a modified immediate: sign, three bits of exponent, four of fraction (DDI 0487, `VFPExpandImm`).
fn float(imm: u8) -> f32 {
    let imm = u32::from(imm);
    let (sign, high, low) = (imm >> 7, imm >> 6 & 1, imm >> 4 & 3);
    let exponent = ((1 - high) << 7) | (high * 0x7c) | low;
    f32::from_bits(sign << 31 | exponent << 23 | (imm & 15) << 19)
}

/// The words of an instruction's text: numbers in one form, however they were written, and nothing between them.
pub fn plain(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let flush = |word: &mut String, out: &mut Vec<String>| {
        if !word.is_empty() {
            out.push(normal(word).unwrap_or_else(|| word.clone()));
            word.clear();
        }
    };
    for c in text.chars() {
        match c {
            ' ' | '\t' | '#' => flush(&mut word, &mut out),
            ',' | '[' | ']' | '{' | '}' => {
                flush(&mut word, &mut out);
                out.push(c.to_string());
            }
            c => word.push(c.to_ascii_lowercase()),
        }
    }
    flush(&mut word, &mut out);
    out
}

/// A number: in decimal, in hexadecimal, or as a float, which is told apart.
fn normal(word: &str) -> Option<String> {
    let (sign, digits) = word.strip_prefix('-').map_or(("", word), |digits| ("-", digits));
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(hex) = digits.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(|n| format!("{sign}{n}"));
    }
    if let Ok(n) = digits.parse::<u64>() {
        return Some(format!("{sign}{n}"));
    }
    word.parse::<f64>().ok().map(|x| format!("float {:x}", x.to_bits()))
}

/// Whether an instruction is one of the table's, but on another part of a register or on elements of other widths.
pub fn is_part(mnemonic: &str, operands: &str) -> bool {
    let found = parts(operands);
    let rows = || ALL.iter().filter(|op| op.info().mnemonics[0] == Some(mnemonic));
    rows().next().is_some() && !found.is_empty() && rows().all(|op| parts(op.syntax()) != found)
}

/// The parts of vector registers that operands name: arrangements such as `4s`, and the letters of scalars.
fn parts(operands: &str) -> BTreeSet<String> {
    let part = |word: &str| {
        let word = word.trim_start_matches('{');
        let (name, arrangement) = word.split_once('.').unwrap_or((word, ""));
        let numbered = name.chars().nth(1).is_some_and(|c| c.is_ascii_digit() || c == '{');
        match name.chars().next().filter(|_| numbered) {
            Some('v') => Some(arrangement.trim_end_matches('}').to_string()),
            Some(letter @ ('s' | 'd' | 'h' | 'b' | 'q')) => Some(letter.to_string()),
            _ => None,
        }
    };
    operands.split([',', ' ', '[', ']']).filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_one_way() {
        let same = |a, b| assert_eq!(plain(a), plain(b));
        same("ushr v0.4s, v1.4s, #0x10", "ushr  v0.4s,v1.4s,#16");
        same("fmov v0.4s, #1.00000000", "fmov v0.4s, #1.0");
        same("movi v0.2d, #0000000000000000", "movi v0.2d, #0");
        same("tbl v0.16b, {v1.16b}, v2.16b", "tbl v0.16b, { v1.16b }, v2.16b");
        assert_ne!(plain("fcmeq v0.4s, v1.4s, #0.0"), plain("fcmeq v0.4s, v1.4s, #0"));
        assert_ne!(plain("mov v1.16b, v2.16b"), plain("mov v1.16b, v3.16b"));
    }

    #[test]
    fn floats_of_immediates() {
        // DDI 0487, table C2-1: 0x00 is 2.0, 0x70 1.0, 0x78 1.5, 0xe0 -0.5, 0x3f 31.0, 0x40 0.125.
        let numbers = [(0x00, 2.0), (0x70, 1.0), (0x78, 1.5), (0xe0, -0.5), (0x3f, 31.0), (0x40, 0.125)];
        for (imm, value) in numbers {
            assert_eq!(float(imm), value, "{imm:#x}");
        }
    }
}
