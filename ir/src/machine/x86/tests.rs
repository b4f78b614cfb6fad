use super::*;

#[test]
fn names_are_unique_and_find_their_rows() {
    for &op in ALL {
        assert_eq!(X86::from_name(op.info().name), Some(op));
    }
}

#[test]
fn what_raises_says_so_and_has_a_masked_row() {
    const STEMS: &[&str] = &[
        "add", "sub", "mul", "div", "sqrt", "min", "max", "cmp", "fmadd", "fmsub", "fnmadd", "fnmsub", "cvt", "round",
        "rndscale", "range", "reduce", "getexp", "getmant", "scalef", "fixupimm",
    ];
    for &op in ALL {
        let row = op.info();
        for mnemonic in row.mnemonics.iter().flatten() {
            let plain = mnemonic.strip_prefix('v').unwrap_or(mnemonic);
            let floats = plain.ends_with("ps") || plain.ends_with("ss") || plain.starts_with("cvt");
            let stem = STEMS.iter().any(|stem| plain.starts_with(stem));
            assert_eq!(row.raises, floats && stem, "{mnemonic}");
        }
        if row.raises && row.mnemonics[2].is_some() && op.plain() == op {
            assert!(op.zeroed().is_some(), "{} has no masked row", row.name);
        }
    }
}

#[test]
fn masked_rows_compute_under_their_masks() {
    let ctx = Ctx { lanes: 4, imm: 1 };
    let lanes = |words: [f32; 4]| {
        let mut bits = ZERO;
        (0..4).for_each(|lane| bits[lane] = words[lane].to_bits());
        bits
    };
    let mut mask = ZERO;
    mask[0] = 0b0101;
    let (a, b, c) = (lanes([1.0, 2.0, 3.0, 4.0]), lanes([5.0, 6.0, 7.0, 8.0]), lanes([0.5, 0.25, 9.0, 10.0]));
    let run = |op: X86, args: &[Bits]| (op.info().eval)(ctx, args);
    assert_eq!(run(X86::AddpsZ, &[mask, a, b]), lanes([6.0, 0.0, 10.0, 0.0]));
    assert_eq!(run(X86::AddpsM, &[mask, c, a, b]), lanes([6.0, 0.25, 10.0, 10.0]));
    // fmadd213 is op1*op0 + op2 and keeps op0; fmadd231 is op1*op2 + op0.
    assert_eq!(run(X86::Fmadd213psM, &[mask, a, b, c]), lanes([5.5, 2.0, 30.0, 4.0]));
    assert_eq!(run(X86::Fmadd231psM, &[mask, c, a, b]), lanes([5.5, 0.25, 30.0, 10.0]));
    // 1 < 5 and 3 < 7 in the mask's lanes.
    assert_eq!(run(X86::CmppsKZ, &[mask, a, b])[0], 0b0101);
    assert_eq!(run(X86::CmppsKZ, &[mask, b, a])[0], 0);
    let merged = X86::Fmadd213psM.info();
    assert_eq!((merged.name, merged.tied[2], merged.slots.len()), ("fmadd213ps_m", Some(1), 4));
    let kept: Vec<MachOp> = merged.forms.iter().map(|form| form.op).collect();
    assert_eq!(kept, [MachOp::X86(X86::Fmadd132psM)]);
}

#[test]
fn every_form_means_the_same() {
    let ctx = |imm| Ctx { lanes: 4, imm };
    let words = [0x3f80_0000, 0xc048_f5c3, 0x0000_0001, 0x7f80_0000, 0x8000_0000, 0x4b80_0001, 7, u32::MAX];
    let operand = |seed: usize| {
        let mut bits = ZERO;
        for (lane, word) in bits.iter_mut().enumerate().take(4) {
            *word = words[(seed * 3 + lane * 5 + seed * lane) % words.len()];
        }
        bits
    };
    for &op in ALL {
        let row = op.info();
        for form in row.forms {
            let MachOp::X86(other) = form.op else { panic!("a form of another family") };
            let arity = row.slots.len();
            assert_eq!(other.info().slots.len(), arity);
            for seed in 0..8 {
                let args: Vec<Bits> = (0..arity).map(|i| operand(seed + i)).collect();
                let moved: Vec<Bits> = (0..arity).map(|i| args[usize::from(form.from[i])]).collect();
                for imm in 0..if row.imm { 16 } else { 1 } {
                    let imm_there = match form.imm {
                        ImmMap::Same => Some(imm),
                        ImmMap::Mirror => mirror(op, imm, false),
                    };
                    let Some(imm_there) = imm_there else { continue };
                    let (here, there) = ((row.eval)(ctx(imm), &args), (other.info().eval)(ctx(imm_there), &moved));
                    for lane in 0..4 {
                        let nan = |x: u32| f32::from_bits(x).is_nan() && x != u32::MAX;
                        assert!(here[lane] == there[lane] || nan(here[lane]) && nan(there[lane]), "{}", row.name);
                    }
                }
            }
        }
    }
}
