//! Tests of the table.

use super::*;
use crate::machine::tables;

const fn ctx(imm: u8) -> Ctx {
    Ctx { lanes: 4, imm }
}

#[test]
fn names_are_unique_and_find_their_rows() {
    for &op in ALL {
        assert_eq!(A64::from_name(op.info().name), Some(op));
    }
}

#[test]
fn what_raises_says_so() {
    // Of floats, only moves, sign changes and constants raise nothing.
    for &op in ALL {
        let row = op.info();
        let mnemonic = row.mnemonics[0].unwrap_or_default();
        let quiet = ["fneg", "fabs", "fmov"].contains(&mnemonic);
        let floats = mnemonic.starts_with('f') || mnemonic.ends_with("cvtf");
        assert_eq!(row.raises, floats && !quiet, "{}", row.name);
    }
}

#[test]
fn operands_are_written_where_they_are_read() {
    // A marker is written as the jump that it is.
    let marker = |op: &&A64| op.info().slots.is_empty() && op.info().flow.is_some_and(|flow| flow != Flow::Pop);
    for &op in ALL.iter().filter(|op| !marker(op)) {
        let (row, syntax) = (op.info(), op.syntax());
        for at in 0..row.slots.len() {
            let tied = row.tied[0] == Some(at as u8);
            let entry = row.slots[at].mem == Mem::Table && at > 0;
            assert_eq!(syntax.contains(&format!("{{{at}}}")), !tied && !entry, "{}", row.name);
        }
        assert_eq!(syntax.contains("{d}"), row.dst.is_some(), "{}", row.name);
        let immediate = ["{i}", "{l}", "{f}", "{m}"].iter().any(|hole| syntax.contains(hole));
        assert_eq!(immediate, row.imm, "{}", row.name);
    }
}

#[test]
fn every_form_means_the_same() {
    let words = [0x3f80_0000, 0xc048_f5c3, 0x0000_0001, 0x7f80_0000, 0x8000_0000, 0x4b80_0001, 7, u32::MAX];
    let operand =
        |seed: usize| lanes::of([0, 1, 2, 3].map(|lane| words[(seed * 3 + lane * 5 + seed * lane) % words.len()]));
    for &op in ALL {
        let row = op.info();
        for form in row.forms {
            let other = form.op.info();
            assert_eq!(other.slots.len(), row.slots.len());
            for seed in 0..8 {
                let args: Vec<Bits> = (0..row.slots.len()).map(|at| operand(seed + at)).collect();
                let moved: Vec<Bits> = (0..args.len()).map(|at| args[usize::from(form.from[at])]).collect();
                assert_eq!((row.eval)(ctx(0), &args), (other.eval)(ctx(0), &moved), "{}", row.name);
            }
        }
    }
}

#[test]
fn constants_have_their_shortest_form() {
    let made = |lanes: &[u32]| constant(lanes).map(|(op, imm)| (op.name(), imm));
    assert_eq!(made(&[0]), Some(("zero", None)));
    assert_eq!(made(&[0, 0, 0, 0]), Some(("zero", None)));
    for (lane, name, imm) in [
        (31, "movi", 31),
        (0x8000_0000, "movi_lsl24", 0x80),
        (0x7fff_ffff, "mvni_lsl24", 0x80),
        (u32::MAX, "mvni", 0),
        (0x0001_ffff, "movi_msl16", 1),
        (0xffff_ffe0, "mvni", 31),
        (0x4b00_0000, "movi_lsl24", 0x4b),
        (0x2a2a_2a2a, "movi_16b", 0x2a),
        (0x00ff_00ff, "movi_8h", 0xff),
        (0x1200_1200, "movi_8h_lsl8", 0x12),
        (0xff00_ffff, "mvni_lsl16", 0xff),
        (0xff00_00ff, "movi_2d", 0b1001_1001),
        (1.0f32.to_bits(), "fmov", 0x70),
        ((-1.0f32).to_bits(), "fmov", 0xf0),
    ] {
        assert_eq!(made(&[lane]), Some((name, Some(imm))), "{lane:#x}");
    }
    assert_eq!(made(&[u32::MAX, 0]), Some(("movi_2d", Some(0x0f))));
    assert_eq!(made(&[0x1234_5678]), None);
    assert_eq!(made(&[0, 1, 2, 3]), None);
    assert_eq!(made(&[f32::NAN.to_bits()]), None);
}

#[test]
fn a_choice_has_three_forms() {
    let (mask, then, otherwise) = (lanes::of([u32::MAX, 0, 0xff, 0]), lanes::all(0x1111), lanes::all(0x2222));
    let chosen = lanes::of([0x1111, 0x2222, 0x2211, 0x2222]);
    for (op, args) in
        [(A64::Bsl, [mask, then, otherwise]), (A64::Bit, [otherwise, then, mask]), (A64::Bif, [then, otherwise, mask])]
    {
        assert_eq!((op.info().eval)(ctx(0), &args), chosen);
    }
}

#[test]
fn tables_have_entries_of_a_rack() {
    for table in tables::TABLES.iter().filter(|table| table.name.ends_with("_bytes")) {
        assert_eq!((table.entry, table.bytes.len()), (16, 256));
    }
}
