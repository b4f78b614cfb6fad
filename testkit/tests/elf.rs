//! Objects that the platform's assembler made, linked flat and run.

#![cfg(target_arch = "x86_64")]

use rake_testkit::link_elf;
use rake_testkit::x86::{Isa, Regs, run};
use std::io::Write;
use std::process::{Command, Stdio};

/// Assembles Intel syntax with `as`.
fn assemble(name: &str, text: &str) -> Vec<u8> {
    let object = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.o"));
    let mut gas = Command::new("as");
    gas.args(["--64", "-msyntax=intel", "-mnaked-reg", "-o"]).arg(&object).arg("-");
    let mut child = gas.stdin(Stdio::piped()).spawn().expect("as (apt install binutils)");
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
    assert!(link_elf(b"no object").unwrap_err().contains("not an ELF object"));
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    assert!(link_elf(&program).unwrap_err().contains("not a relocatable x86-64 object"));
}

#[test]
fn no_cut_or_changed_object_panics() {
    let object = assemble("small", ".text\nf: addps xmm0, [rip + 1f]\nret\n.section .rodata\n1: .float 1.0\n");
    for end in 0..object.len() {
        let _ = link_elf(&object[..end]);
    }
    for at in 0..object.len() {
        for (value, count) in [(0, 1), (0x7f, 1), (0xff, 1), (0xff, 8)] {
            let mut changed = object.clone();
            changed[at..].iter_mut().take(count).for_each(|byte| *byte = value);
            let _ = link_elf(&changed);
        }
    }
}
