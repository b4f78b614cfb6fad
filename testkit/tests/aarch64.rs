//! The AArch64 engine on hand-assembled code; expected values are worked out by hand.

use rake_testkit::aarch64::{Image, Job, Out, Regs, flag, run, run_many};

const RET: u32 = 0xd65f_03c0;
const FADD: u32 = 0x4e21_d400; // fadd v0.4s, v0.4s, v1.4s
const FDIV: u32 = 0x6e21_fc00; // fdiv v0.4s, v0.4s, v1.4s
const UDF: u32 = 0;

fn image(words: &[u32]) -> Image {
    Image { bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(), entry: 0 }
}

/// v0 and v1, all lanes of each alike.
fn splats(a: f32, b: f32) -> Regs {
    let mut regs = Regs::default();
    regs.splat(0, a.to_bits()).splat(1, b.to_bits());
    regs
}

fn one(words: &[u32], regs: &Regs) -> Result<Out, String> {
    let mut outs = run(&image(words), std::slice::from_ref(regs))?;
    outs.pop().ok_or_else(|| "no result".to_owned())
}

#[test]
fn whole_racks_go_in_and_out() {
    let mut regs = splats(0.0, 0.5);
    regs.set_lanes(0, &[1.0_f32, 2.0, 3.0, 4.0].map(f32::to_bits));
    let out = one(&[FADD, RET], &regs).unwrap();
    assert_eq!(out.lanes(), [1.5_f32, 2.5, 3.5, 4.5].map(f32::to_bits));
    assert_eq!((out.fpsr, out.callee_saved_ok, out.clobbered), (0, true, vec![]));
    // fmla v7.4s, v0.4s, v1.4s; mov v0.16b, v7.16b: the seventh is an argument too, and the product is not rounded.
    // (1 + e)^2 - (1 + 2e) with e = 2^-23 is e^2 = 2^-46.
    let next = f32::from_bits(0x3f80_0001);
    let mut regs = splats(next, next);
    regs.splat(7, (-f32::from_bits(0x3f80_0002)).to_bits());
    let out = one(&[0x4e21_cc07, 0x4ea7_1ce0, RET], &regs).unwrap();
    assert_eq!((out.lanes(), out.flags()), ([0x2880_0000; 4], 0));
}

#[test]
fn exception_flags_are_seen() {
    let inf = f32::INFINITY.to_bits();
    let cases = [
        (1.0, 3.0, 0x3eaa_aaab, flag::IXC),
        (1.0, 0.0, inf, flag::DZC),
        (0.0, 0.0, 0x7fc0_0000, flag::IOC),
        (18.0, 2.0, 9.0_f32.to_bits(), 0),
        (f32::from_bits(1), f32::from_bits(1), 1.0_f32.to_bits(), 0),
        (f32::MAX, 0.5, inf, flag::OFC | flag::IXC),
        // 2^-126 / 3 is 2796202.67 times the least subnormal number.
        (f32::MIN_POSITIVE, 3.0, 2_796_203, flag::UFC | flag::IXC),
        (f32::from_bits(0x7f80_0001), 1.0, 0x7fc0_0001, flag::IOC),
    ];
    let regs = cases.map(|(a, b, ..)| splats(a, b));
    let outs = run(&image(&[FDIV, RET]), &regs).unwrap();
    assert_eq!(outs.len(), cases.len());
    for (out, (a, b, bits, flags)) in outs.iter().zip(cases) {
        assert_eq!((out.lanes(), out.fpsr), ([bits; 4], flags), "{a} / {b}");
    }
    // uqadd v0.4s, v0.4s, v1.4s saturates.
    let mut regs = Regs::default();
    regs.splat(0, !0).splat(1, 1);
    let out = one(&[0x6ea1_0c00, RET], &regs).unwrap();
    assert_eq!((out.lanes(), out.fpsr, out.flags()), ([!0; 4], flag::QC, 0));
}

#[test]
fn fpcr_and_fpsr_come_from_the_record() {
    const TOWARDS_MINUS: u32 = 2 << 22;
    const FLUSH: u32 = 1 << 24;
    let mut records = [splats(1.0, 3.0), splats(f32::from_bits(1), f32::from_bits(1)), splats(1.0, 1.0)];
    records[0].fpcr = TOWARDS_MINUS;
    records[1].fpcr = FLUSH; // 0 / 0
    records[2].fpsr = flag::UFC | flag::QC;
    let outs = run(&image(&[FDIV, RET]), &records).unwrap();
    assert_eq!((outs[0].lanes(), outs[0].fpsr), ([0x3eaa_aaaa; 4], flag::IXC));
    assert_eq!((outs[1].lanes(), outs[1].fpsr), ([0x7fc0_0000; 4], flag::IDC | flag::IOC));
    assert_eq!((outs[2].lanes(), outs[2].fpsr), ([0x3f80_0000; 4], flag::UFC | flag::QC));
    assert!(outs.iter().all(|out| out.callee_saved_ok));
}

#[test]
fn general_registers_go_in_and_out() {
    // add x0, x0, x1, lsl #1; add x0, x0, x2, lsl #2; add x0, x0, x3, lsl #3; add x0, x0, x7, lsl #4
    let sum = [0x8b01_0400, 0x8b02_0800, 0x8b03_0c00, 0x8b07_1000, RET];
    let regs = Regs { x: [1, 2, 3, 4, 0, 0, 0, 1 << 40], ..Regs::default() };
    assert_eq!(one(&sum, &regs).unwrap().x0, 1 + 4 + 12 + 32 + (1 << 44));
}

#[test]
fn what_a_function_must_keep_is_watched() {
    const CLEAR_V8: u32 = 0x4f00_e408; // movi v8.16b, #0
    const SAVE: u32 = 0x6dbf_27e8; // stp d8, d9, [sp, #-16]!
    const RESTORE: u32 = 0x6cc1_27e8; // ldp d8, d9, [sp], #16
    let cases: [(&[u32], &[&str]); 6] = [
        (&[CLEAR_V8, RET], &["d8"]),
        // movi v9.4s, #0; mov x19, #0; add x29, x29, #1
        (&[0x4f00_0409, 0xd280_0013, 0x9100_07bd, RET], &["d9", "x19", "x29"]),
        (&[0xd100_43ff, RET], &["sp"]),   // sub sp, sp, #16
        (&[0xd51b_4400, RET], &["FPCR"]), // msr fpcr, x0
        (&[SAVE, CLEAR_V8, RESTORE, RET], &[]),
        (&[RET], &[]),
    ];
    let images = cases.map(|(words, _)| image(words));
    let regs = [Regs { x: [1 << 22; 8], ..Regs::default() }];
    let jobs: Vec<Job> = images.iter().map(|image| Job { image, regs: &regs }).collect();
    let outs = run_many(&jobs).unwrap();
    for (outs, (words, clobbered)) in outs.iter().zip(cases) {
        assert_eq!(outs[0].clobbered, clobbered, "{words:x?}");
        assert_eq!(outs[0].callee_saved_ok, clobbered.is_empty());
    }
}

#[test]
fn what_a_function_may_not_rely_on_is_poisoned() {
    // mov x0, x9; mov v0.16b, v31.16b
    let out = one(&[0xaa09_03e0, 0x4ebf_1fe0, RET], &Regs::default()).unwrap();
    assert_eq!((out.x0, out.v0), (0xdead_dead_dead_dead, [0xff; 16]));
    // cset x0, cs; mov v0.16b, v8.16b
    let out = one(&[0x9a9f_37e0, 0x4ea8_1d00, RET], &Regs::default()).unwrap();
    assert_eq!((out.x0, out.v0), (1, [0xd8; 16]));
    // mov x0, sp; and x0, x0, #15
    assert_eq!(one(&[0x9100_03e0, 0x9240_0c00, RET], &Regs::default()).unwrap().x0, 0);
}

#[test]
fn literals_are_read_and_not_written() {
    // ldr q0, .+16; ret; nop; nop; the literal
    let literal = [0x9c00_0080, RET, 0xd503_201f, 0xd503_201f, 1, 2, 3, 4];
    assert_eq!(one(&literal, &Regs::default()).unwrap().lanes(), [1, 2, 3, 4]);
    // adr x1, .; str w0, [x1]
    let error = one(&[0x1000_0001, 0xb900_0020, RET], &Regs::default()).unwrap_err();
    assert!(error.contains("SIGSEGV (a wrong address, 0x") && error.ends_with("at its image's byte 0x4"), "{error}");
}

#[test]
fn faults_name_job_record_and_place() {
    // cbz w0, .+8; an instruction that faults
    let fails = |instruction| image(&[0x3400_0040, instruction, RET]);
    let wrong = Regs { x: [1, 0x1234_5678_9ab0, 0, 0, 0, 0, 0, 0], ..Regs::default() };
    let regs = [Regs::default(), Regs::default(), wrong];
    let cases = [
        (0xd420_0000, "SIGTRAP (it ran into a brk), at its image's byte 0x4"),
        (
            UDF,
            "SIGILL (an illegal instruction, one that Armv8.0-A lacks, or it ran out of its image), at its image's byte 0x4",
        ),
        (0xf940_0020, "SIGSEGV (a wrong address, 0x123456789ab0), at its image's byte 0x4"), // ldr x0, [x1]
        (0x6e81_8400, "SIGILL (an illegal instruction, one that Armv8.0-A lacks"),           // sqrdmlah, of Armv8.1-A
        (0xd61f_0020, "SIGSEGV (a wrong address, 0x123456789ab0), outside of its image"),    // br x1
    ];
    let fine = image(&[RET]);
    for (instruction, message) in cases {
        let bad = fails(instruction);
        let error = run_many(&[Job { image: &fine, regs: &regs }, Job { image: &bad, regs: &regs }]).unwrap_err();
        let expected = format!("job 1, record 2: the code under test ended by {message}");
        assert!(error.starts_with(&expected), "{error}\n{expected}");
    }
    let falls_out = one(&[FADD], &Regs::default()).unwrap_err();
    assert!(falls_out.contains("ran out of its image), at its image's byte 0x4"), "{falls_out}");
    let outside = Image { bytes: vec![0; 4], entry: 4 };
    let error = run(&outside, &[]).unwrap_err();
    assert_eq!(error, "job 0, record 0: the entry 4 is outside the image of 4 bytes");
}

#[test]
fn many_jobs_of_many_calls_are_one_run() {
    let (add, divide) = (image(&[FADD, RET]), image(&[FDIV, RET]));
    let regs: Vec<Regs> = (0..50_000_u16).map(|i| splats(f32::from(i), 2.0)).collect();
    let jobs = [Job { image: &add, regs: &regs }, Job { image: &add, regs: &[] }, Job { image: &divide, regs: &regs }];
    let outs = run_many(&jobs).unwrap();
    assert_eq!(outs.iter().map(Vec::len).collect::<Vec<_>>(), [50_000, 0, 50_000]);
    for i in 0..50_000_u16 {
        let (sum, quotient) = (f32::from(i) + 2.0, f32::from(i) / 2.0);
        assert_eq!(outs[0][usize::from(i)].lanes(), [sum.to_bits(); 4]);
        assert_eq!(outs[2][usize::from(i)].lanes(), [quotient.to_bits(); 4]);
    }
    assert_eq!(run_many(&[]).unwrap(), Vec::<Vec<Out>>::new());
}
