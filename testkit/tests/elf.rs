//! Objects that assemblers made, linked flat and run.

#![cfg(target_arch = "x86_64")]

use rake_testkit::x86::{Isa, Regs, run};
use rake_testkit::{aarch64, link_elf};
use std::io::Write;
use std::process::{Command, Stdio};

/// Assembles Intel syntax with `as`.
fn assemble(name: &str, text: &str) -> Vec<u8> {
    let mut gas = Command::new("as");
    gas.args(["--64", "-msyntax=intel", "-mnaked-reg"]);
    assemble_with(gas, name, text)
}

fn assemble_aarch64(name: &str, text: &str) -> Vec<u8> {
    assemble_with(Command::new("aarch64-linux-gnu-as"), name, text)
}

fn assemble_with(mut gas: Command, name: &str, text: &str) -> Vec<u8> {
    let object = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.o"));
    gas.arg("-o").arg(&object).arg("-");
    let mut child = gas.stdin(Stdio::piped()).spawn().expect("as (apt install binutils binutils-aarch64-linux-gnu)");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    std::fs::read(object).unwrap()
}

#[test]
fn code_reaches_its_constants_and_functions() {
    // A constant by section and addend, one by symbol, a call across sections, a tail jump.
    let object = assemble(
        "whole",
        r#"
        .text
        .globl first
    first:
        addps xmm0, [rip + .Lthird]
        call helper
        ret
        .globl second
    second:
        mulps xmm0, [rip + named]
        jmp helper@PLT
        .section .text.other, "ax", @progbits
        .globl helper
    helper:
        subps xmm0, xmm1
        ret
        .section .rodata.cst16, "aM", @progbits, 16
        .balign 16
        .zero 32
    .Lthird:
        .float 1.0, 2.0, 3.0, 4.0
        .section .rodata, "a", @progbits
        .balign 64
        .globl named
    named:
        .float 2.0, 4.0, 8.0, 16.0
        .section .note.GNU-stack, "", @progbits
        "#,
    );
    let linked = link_elf(&object).unwrap();
    assert_eq!(linked.symbols["named"] % 64, 0);
    let mut regs = Regs::default();
    regs.splat(0, 10.0_f32.to_bits()).splat(1, 1.0_f32.to_bits());
    for (symbol, expected) in [("first", [10.0_f32, 11.0, 12.0, 13.0]), ("second", [19.0, 39.0, 79.0, 159.0])] {
        let image = linked.image(symbol).unwrap();
        let outs = run(Isa::Sse2, &image, std::slice::from_ref(&regs)).unwrap();
        assert_eq!(outs[0].lanes(4), expected.map(f32::to_bits), "{symbol}");
        assert!(outs[0].callee_saved_ok);
    }
    assert!(linked.image("third").is_none());
}

/// Every relocation that is known: pages and places in them by size of access, literals, calls, jumps, branches.
const REACHES: &str = r#"
        .text
        .globl by_page
    by_page:
        adrp x9, third
        ldr q1, [x9, :lo12:third]
        fadd v0.4s, v0.4s, v1.4s
        str x30, [sp, #-16]!
        bl helper
        ldr x30, [sp], #16
        ret
        .globl by_distance
    by_distance:
        ldr q1, named
        fmul v0.4s, v0.4s, v1.4s
        b helper
        .globl by_size
    by_size:
        adrp x9, sizes
        add x10, x9, :lo12:sizes
        ldrb w0, [x10]
        ldrb w1, [x9, :lo12:sizes + 1]
        add x0, x0, x1
        ldrh w1, [x9, :lo12:sizes + 2]
        add x0, x0, x1
        ldr w1, [x9, :lo12:sizes + 4]
        add x0, x0, x1
        ldr x1, [x9, :lo12:sizes + 8]
        add x0, x0, x1
        adr x1, sizes + 16
        ldrsw x2, [x1]
        add x1, x1, x2
        ldr w1, [x1]
        add x0, x0, x1
        cbz xzr, more
        brk #0
        .section .text.other, "ax", @progbits
        .globl helper
    helper:
        fsub v0.4s, v0.4s, v2.4s
        ret
    more:
        tbz xzr, #5, least
        brk #1
        .section .text.third, "ax", @progbits
    least:
        ret
        .section .rodata, "a", @progbits
        .balign 64
        .zero 4080
    third:
        .float 1.0, 2.0, 3.0, 4.0
        .globl named
    named:
        .float 2.0, 4.0, 8.0, 16.0
    sizes:
        .byte 1, 2
        .hword 30
        .word 400
        .quad 5000
        .word many - .
        .section .rodata.other, "a", @progbits
    many:
        .word 60000
        "#;

#[test]
fn aarch64_code_reaches_its_constants_and_functions() {
    let object = assemble_aarch64("whole64", REACHES);
    let linked = link_elf(&object).unwrap();
    assert!(linked.symbols.keys().all(|name| !name.starts_with('$')), "{:?}", linked.symbols);
    let mut regs = aarch64::Regs::default();
    regs.splat(0, 10.0_f32.to_bits()).splat(2, 1.0_f32.to_bits());
    for (symbol, expected) in [("by_page", [10.0_f32, 11.0, 12.0, 13.0]), ("by_distance", [19.0, 39.0, 79.0, 159.0])] {
        let outs = aarch64::run(&linked.image(symbol).unwrap(), std::slice::from_ref(&regs)).unwrap();
        assert_eq!((outs[0].lanes(), outs[0].callee_saved_ok), (expected.map(f32::to_bits), true), "{symbol}");
    }
    let outs = aarch64::run(&linked.image("by_size").unwrap(), &[regs]).unwrap();
    assert_eq!(outs[0].x0, 1 + 2 + 30 + 400 + 5000 + 60000);
}

#[test]
fn what_cannot_run_anywhere_is_refused() {
    let cases = [
        ("undefined", ".text\nf: call elsewhere\nret\n", "`elsewhere` is not defined"),
        ("absolute", ".text\nf: ret\n.section .rodata\n.quad f\n", "relocation of type 1;"),
        ("writable", ".text\nf: ret\n.data\n.long 1\n", "section .data is writable data"),
        ("aligned", ".section .rodata\n.balign 4096\n.long 1\n", "aligned to 4096"),
    ];
    for (name, text, message) in cases {
        let error = link_elf(&assemble(name, text)).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let cases = [
        ("undefined64", ".text\nf: bl elsewhere\nret\n", "`elsewhere` is not defined"),
        ("absolute64", ".text\nf: ret\n.section .rodata\n.quad f\n", "relocation of type 257;"),
        ("uneven64", ".text\nf: ldr q0, 2f\n.section .rodata\n.byte 0\n2: .byte 0\n", "no multiple of 4"),
        ("far64", ".text\nf: tbz x0, #0, 2f\n.section .text.far, \"ax\"\n.zero 40000\n2: ret\n", "out of range"),
    ];
    for (name, text, message) in cases {
        let error = link_elf(&assemble_aarch64(name, text)).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    assert!(link_elf(b"no object").unwrap_err().contains("not an ELF object"));
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    assert!(link_elf(&program).unwrap_err().contains("not a relocatable object, but Dynamic"));
}

#[test]
fn no_cut_or_changed_object_panics() {
    let literal = ".section .rodata\n1: .float 1.0\n";
    let x86 = assemble("small", &format!(".text\nf: addps xmm0, [rip + 1f]\nret\n{literal}"));
    let aarch64 = assemble_aarch64("small64", &format!(".text\nf: adrp x0, 1f\nldr q0, 1f\nret\n{literal}"));
    for object in [x86, aarch64] {
        change(&object);
    }
}

fn change(object: &[u8]) {
    for end in 0..object.len() {
        let _ = link_elf(&object[..end]);
    }
    for at in 0..object.len() {
        for (value, count) in [(0, 1), (0x7f, 1), (0xff, 1), (0xff, 8)] {
            let mut changed = object.to_vec();
            changed[at..].iter_mut().take(count).for_each(|byte| *byte = value);
            let _ = link_elf(&changed);
        }
    }
}
