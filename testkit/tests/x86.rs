//! The trampoline and both engines on hand-assembled code; expected values are worked out by hand.

#![cfg(target_arch = "x86_64")]

mod common;

use rake_testkit::x86::{Engine, Image, Isa, Job, MXCSR_DEFAULT, Out, Regs, flag, run, run_many, run_on};

kernel!(add_sse2, "addps xmm0, xmm1", "ret");
kernel!(add_avx2, "vaddps ymm0, ymm0, ymm1", "ret");
kernel!(add_avx512, "vaddps zmm0, zmm0, zmm1", "ret");
kernel!(mul_add_sse2, "mulps xmm0, xmm1", "addps xmm0, xmm7", "ret");
kernel!(mul_add_avx2, "vfmadd213ps ymm0, ymm1, ymm7", "ret");
kernel!(mul_add_avx512, "vfmadd213ps zmm0, zmm1, zmm7", "ret");
kernel!(div_sqrt_sse2, "divps xmm0, xmm1", "sqrtps xmm0, xmm0", "ret");
kernel!(div_sqrt_avx2, "vdivps ymm0, ymm0, ymm1", "vsqrtps ymm0, ymm0", "ret");
kernel!(div_sqrt_avx512, "vdivps zmm0, zmm0, zmm1", "vsqrtps zmm0, zmm0", "ret");
// Adds a literal to the lanes below another literal.
kernel!(
    masked_broadcast,
    "vcmpltps k1, zmm0, dword ptr [rip + 2f]{{1to16}}",
    "vaddps zmm0 {{k1}}, zmm0, dword ptr [rip + 3f]{{1to16}}",
    "ret",
    ".balign 4",
    "2: .float 8.0",
    "3: .float 100.0",
);
// One instruction of each of F, BW, CD, DQ and VL (the last on registers that only EVEX names).
kernel!(
    every_extension,
    "vpabsb zmm0, zmm0",
    "vplzcntd zmm0, zmm0",
    "vpmullq zmm0, zmm0, zmm1",
    "vmovdqa32 ymm20, ymm0",
    "vpaddd ymm20, ymm20, dword ptr [rip + 2f]{{1to8}}",
    "vmovdqa32 ymm0, ymm20",
    "ret",
    ".balign 4",
    "2: .long 5",
);
kernel!(
    sum_of_registers,
    "lea rax, [rdi + rsi*2]",
    "lea rax, [rax + rdx*4]",
    "lea rax, [rax + rcx*8]",
    "lea r8, [r8 + r9*2]",
    "shl r8, 4",
    "add rax, r8",
    "ret",
);
kernel!(keeps, "push rbx", "push r12", "xor ebx, ebx", "xor r12d, r12d", "pop r12", "pop rbx", "ret");
kernel!(ruins_some, "xor ebx, ebx", "inc r13", "std", "ret");
kernel!(ruins_rest, "inc rbp", "inc r12", "inc r14", "inc r15", "ret");
kernel!(ruins_stack, "pop rax", "push rax", "push rax", "ret");
kernel!(stack_is_aligned, "lea rax, [rsp + 8]", "and eax, 15", "ret");
kernel!(illegal, "test edi, edi", "je 2f", "ud2", "2: ret");
kernel!(misaligned, "movaps xmm0, [rip + 2f]", "ret", ".balign 16", "nop", "2: .zero 16");
kernel!(writes_literal, "mov dword ptr [rip + 2f], eax", "ret", "2: .long 0");
kernel!(falls_out, "nop");
kernel!(reads_garbage, "mov rax, r11", "paddd xmm0, xmm15", "ret");
kernel!(needs_vzeroupper, "vpcmpeqd ymm0, ymm0, ymm0", "vzeroupper", "ret");

const ENGINES: [Engine; 2] = [Engine::Auto, Engine::Emulator];

fn floats(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// Vector arguments 0, 1 and 7, all lanes of each alike.
fn splats(a: f32, b: f32, c: f32) -> Regs {
    let mut regs = Regs::default();
    regs.splat(0, a.to_bits()).splat(1, b.to_bits()).splat(7, c.to_bits());
    regs
}

fn one(engine: Engine, isa: Isa, image: &Image, regs: &Regs) -> Result<Out, String> {
    let mut outs = run_on(engine, &[Job { isa, image, regs: std::slice::from_ref(regs) }])?;
    outs.pop().and_then(|mut outs| outs.pop()).ok_or_else(|| "no result".to_owned())
}

#[test]
fn whole_registers_go_in_and_out() {
    let lanes: Vec<f32> = (0..16).map(|i| i as f32).collect();
    let sums: Vec<f32> = (0..16).map(|i| i as f32 + 0.5).collect();
    let mut regs = splats(0.0, 0.5, 0.0);
    regs.set_lanes(0, &floats(&lanes));
    let images = [add_sse2(), add_avx2(), add_avx512()];
    let jobs = Isa::ALL.map(|isa| Job { isa, image: &images[isa as usize], regs: std::slice::from_ref(&regs) });
    for engine in ENGINES {
        let outs = run_on(engine, &jobs).unwrap();
        for (isa, outs) in Isa::ALL.into_iter().zip(outs) {
            assert_eq!(outs.len(), 1);
            let out = &outs[0];
            assert_eq!(out.lanes(isa.lanes()), floats(&sums[..isa.lanes()]), "{engine:?} {isa:?}");
            assert!(out.vec0[isa.width()..].iter().all(|&byte| byte == 0));
            assert_eq!((out.mxcsr, out.callee_saved_ok), (MXCSR_DEFAULT, true));
        }
    }
}

#[test]
fn multiply_add_rounds_once_or_twice() {
    // (1 + e)^2 - (1 + 2e) with e = 2^-23 is e^2 = 2^-46, lost when the product is rounded first.
    let next = f32::from_bits(0x3f80_0001);
    let regs = [splats(next, next, -f32::from_bits(0x3f80_0002)), splats(3.0, 5.0, 7.0)];
    let images = [mul_add_sse2(), mul_add_avx2(), mul_add_avx512()];
    let jobs = Isa::ALL.map(|isa| Job { isa, image: &images[isa as usize], regs: &regs });
    let first = [0.0, f32::from_bits(0x2880_0000), f32::from_bits(0x2880_0000)];
    let flags = [flag::PE, 0, 0];
    for engine in ENGINES {
        let outs = run_on(engine, &jobs).unwrap();
        for isa in Isa::ALL {
            let (i, n) = (isa as usize, isa.lanes());
            assert_eq!(outs[i][0].lanes(n), vec![first[i].to_bits(); n], "{engine:?} {isa:?}");
            assert_eq!(outs[i][0].flags(), flags[i]);
            assert_eq!(outs[i][1].lanes(n), floats(&vec![22.0; n]));
            assert_eq!(outs[i][1].flags(), 0, "MXCSR is set anew for each record");
        }
    }
}

#[test]
fn exception_flags_are_seen() {
    let inf = f32::INFINITY.to_bits();
    let cases = [
        (1.0, 0.0, inf, flag::ZE),
        (-4.0, 1.0, 0xffc0_0000, flag::IE),
        (18.0, 2.0, 3.0_f32.to_bits(), 0),
        (f32::from_bits(1), f32::from_bits(1), 1.0_f32.to_bits(), flag::DE),
        (2.0, 1.0, 0x3fb5_04f3, flag::PE),
        (f32::MAX, 0.5, inf, flag::OE | flag::PE),
        (f32::from_bits(0x7f80_0001), 1.0, 0x7fc0_0001, flag::IE),
    ];
    let regs = cases.map(|(a, b, ..)| splats(a, b, 0.0));
    let images = [div_sqrt_sse2(), div_sqrt_avx2(), div_sqrt_avx512()];
    let jobs = Isa::ALL.map(|isa| Job { isa, image: &images[isa as usize], regs: &regs });
    for engine in ENGINES {
        let outs = run_on(engine, &jobs).unwrap();
        for isa in Isa::ALL {
            for (out, (a, b, bits, flags)) in outs[isa as usize].iter().zip(cases) {
                assert_eq!(out.lanes(1), [bits], "{engine:?} {isa:?} sqrt({a} / {b})");
                assert_eq!(out.flags(), flags, "{engine:?} {isa:?} sqrt({a} / {b})");
            }
        }
    }
}

#[test]
fn mxcsr_comes_from_the_record() {
    const DAZ: u32 = 1 << 6;
    const UP: u32 = 2 << 13;
    let half = f32::from_bits(0x3300_0000); // 2^-25, less than half of 1's last place
    let mut up = splats(1.0, half, 0.0);
    up.mxcsr = MXCSR_DEFAULT | UP;
    let mut flushed = splats(f32::from_bits(1), 0.0, 0.0);
    flushed.mxcsr = MXCSR_DEFAULT | DAZ | flag::ZE;
    let regs = [splats(1.0, half, 0.0), up, flushed];
    let images = [add_sse2(), add_avx2(), add_avx512()];
    let jobs = Isa::ALL.map(|isa| Job { isa, image: &images[isa as usize], regs: &regs });
    for engine in ENGINES {
        for outs in run_on(engine, &jobs).unwrap() {
            let lanes: Vec<u32> = outs.iter().flat_map(|out| out.lanes(1)).collect();
            assert_eq!(lanes, [0x3f80_0000, 0x3f80_0001, 0]);
            let controls: Vec<u32> = outs.iter().map(|out| out.mxcsr).collect();
            let expected = [MXCSR_DEFAULT | flag::PE, MXCSR_DEFAULT | UP | flag::PE, MXCSR_DEFAULT | DAZ | flag::ZE];
            assert_eq!(controls, expected);
        }
    }
}

#[test]
fn opmasks_and_broadcasts() {
    let mut regs = Regs::default();
    let lanes: Vec<f32> = (0..16).map(|i| i as f32).collect();
    regs.set_lanes(0, &floats(&lanes));
    let sums: Vec<f32> = (0..16).map(|i| i as f32 + if i < 8 { 100.0 } else { 0.0 }).collect();
    for engine in ENGINES {
        let out = one(engine, Isa::Avx512, &masked_broadcast(), &regs).unwrap();
        assert_eq!(out.lanes(16), floats(&sums), "{engine:?}");
    }
}

#[test]
fn every_avx512_extension_executes() {
    // Lanes ff fe fd fc (bytes -1 -2 -3 -4) become 01 02 03 04: seven leading zeros in 0x01020304
    // read from the top; as a 64-bit lane 7 * 2^32 + 7; times 3 is 21 in each half; plus 5.
    let mut regs = Regs::default();
    regs.splat(0, 0xfffe_fdfc);
    regs.set_lanes(1, &[3, 0].repeat(8));
    for engine in ENGINES {
        let out = one(engine, Isa::Avx512, &every_extension(), &regs).unwrap();
        assert_eq!(out.lanes(8), [26; 8], "{engine:?}");
        assert_eq!(out.lanes(16)[8..], [0; 8], "a move to a ymm register clears the rest");
    }
}

#[test]
fn general_registers_are_whole() {
    let gpr = [0xdead_beef_0000_0001, 1 << 63, 3, u64::MAX, 0x1234_5678_9abc_def0, 6];
    let expected = gpr.iter().zip([1u64, 2, 4, 8, 16, 32]);
    let expected = expected.fold(0u64, |sum, (r, weight)| sum.wrapping_add(r.wrapping_mul(weight)));
    let regs = Regs { gpr, ..Regs::default() };
    for engine in ENGINES {
        for isa in Isa::ALL {
            let out = one(engine, isa, &sum_of_registers(), &regs).unwrap();
            assert_eq!(out.rax, expected, "{engine:?} {isa:?}");
        }
    }
}

#[test]
fn ruined_registers_are_named() {
    let images = [keeps(), ruins_some(), ruins_rest(), ruins_stack(), stack_is_aligned()];
    let expected: [&[&str]; 5] = [&[], &["rbx", "r13", "DF"], &["rbp", "r12", "r14", "r15"], &["rsp"], &[]];
    let regs = [Regs::default(), Regs::default()];
    for isa in Isa::ALL {
        let jobs: Vec<Job> = images.iter().map(|image| Job { isa, image, regs: &regs }).collect();
        for engine in ENGINES {
            let outs = run_on(engine, &jobs).unwrap();
            for (outs, names) in outs.iter().zip(expected) {
                for out in outs {
                    assert_eq!(out.clobbered, names, "{engine:?} {isa:?}");
                    assert_eq!(out.callee_saved_ok, names.is_empty());
                }
            }
            assert_eq!(outs[4][0].rax, 0, "{engine:?} {isa:?}: the stack at a call");
        }
    }
}

#[test]
fn what_may_not_be_relied_on_is_poisoned() {
    for engine in ENGINES {
        let out = one(engine, Isa::Sse2, &reads_garbage(), &Regs::default()).unwrap();
        assert_eq!(out.lanes(4), [u32::MAX; 4]);
        assert_ne!(out.rax, 0);
        let out = one(engine, Isa::Avx2, &needs_vzeroupper(), &Regs::default()).unwrap();
        assert_eq!(out.lanes(8), [u32::MAX, u32::MAX, u32::MAX, u32::MAX, 0, 0, 0, 0]);
    }
}

#[test]
fn faults_are_errors_that_tell_the_place() {
    let fine = Regs::default();
    let bad = Regs { gpr: [1, 0, 0, 0, 0, 0], ..Regs::default() };
    let (harmless, illegal) = (keeps(), illegal());
    let records = [fine.clone(), fine.clone(), bad];
    let jobs = [
        Job { isa: Isa::Sse2, image: &harmless, regs: &records },
        Job { isa: Isa::Sse2, image: &illegal, regs: &records },
    ];
    let error = run_on(Engine::Native, &jobs).unwrap_err();
    assert!(error.starts_with("job 1, record 2: ") && error.contains("SIGILL"), "{error}");
    let error = run_on(Engine::Emulator, &jobs).unwrap_err();
    assert!(error.starts_with("job 1, record 2: #UD") && error.contains("ends at entry+0x6"), "{error}");

    let cases =
        [(misaligned(), "SIGSEGV", "#GP"), (writes_literal(), "SIGSEGV", "#PF"), (falls_out(), "SIGTRAP", "#BP")];
    for (image, signal, exception) in cases {
        let error = one(Engine::Native, Isa::Sse2, &image, &fine).unwrap_err();
        assert!(error.contains(signal) && error.contains(exception), "{error}");
        let error = one(Engine::Emulator, Isa::Sse2, &image, &fine).unwrap_err();
        assert!(error.contains(exception), "{error}");
    }
}

#[test]
fn the_emulator_keeps_to_the_instruction_set() {
    for (isa, image) in [(Isa::Sse2, add_avx2()), (Isa::Sse2, add_avx512()), (Isa::Avx2, add_avx512())] {
        let error = one(Engine::Emulator, isa, &image, &Regs::default()).unwrap_err();
        assert!(error.contains("#UD"), "{error}");
    }
}

#[test]
fn odd_requests() {
    assert_eq!(run_many(&[]).unwrap(), Vec::<Vec<Out>>::new());
    let empty = Image::default();
    assert!(run(Isa::Sse2, &empty, &[Regs::default()]).unwrap_err().contains("outside the image"));
    for engine in ENGINES {
        let image = keeps();
        let outs = run_on(engine, &[Job { isa: Isa::Avx512, image: &image, regs: &[] }]).unwrap();
        assert_eq!(outs, [vec![]]);
    }
}
