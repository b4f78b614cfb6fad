//! Calls with memory, on hand-assembled code; expected values are worked out by hand.

#![cfg(target_arch = "x86_64")]

mod common;

use rake_testkit::x86::runs::{Argument, Call, End, Job, Object, Out, Place, run};
use rake_testkit::x86::{Image, Isa, flag};

// *p0 = p1 + p2 + ... + p8 (integers) in 64 bits, with those that do not fit into registers.
kernel!(
    sum_words,
    "lea rax, [rsi + rdx]",
    "add rax, rcx",
    "add rax, r8",
    "add rax, r9",
    "add rax, [rsp + 8]",
    "add rax, [rsp + 16]",
    "add rax, [rsp + 24]",
    "mov [rdi], rax",
    "ret",
);
// *p0 = f0 + f7 + f8, floats; the last stands on the stack, and so would a word behind it.
kernel!(sum_floats, "addss xmm0, xmm7", "addss xmm0, [rsp + 8]", "movss [rdi], xmm0", "ret");
// The second column of a descriptor: its first element becomes the count.
kernel!(count_to_column, "mov rax, [rdi]", "mov rcx, [rdi + 16]", "mov [rcx], eax", "ret");
kernel!(load_rack, "movups xmm0, [rdi]", "ret");
kernel!(store_before, "mov byte ptr [rdi - 1], 7", "ret");
kernel!(store_first, "mov byte ptr [rdi], 7", "ret");
kernel!(trap_on_zero, "test esi, esi", "jne 2f", "nop", "ud2", "2: ret");
kernel!(follows_nothing, "mov rax, [0]", "ret");
kernel!(
    ruins,
    "xor ebx, ebx",
    "inc r15",
    "std",
    "stmxcsr [rsp - 8]",
    "or dword ptr [rsp - 8], 0x8000",
    "ldmxcsr [rsp - 8]",
    "vaddps ymm3, ymm3, ymm3",
    "ret"
);
kernel!(divides, "divss xmm0, xmm1", "movss [rdi], xmm0", "vzeroupper", "ret");

fn one(isa: Isa, image: &Image, objects: Vec<Object>, arguments: Vec<Argument>) -> Out {
    let calls = [Call { objects, arguments }];
    run(&[Job { isa, image, calls: &calls }]).unwrap().remove(0).remove(0)
}

#[test]
fn arguments_are_in_registers_and_on_the_stack() {
    let cell = || vec![Object::new(vec![0; 8], Place::BeforeGuard)];
    let words = |count: u64| {
        let mut all = vec![Argument::Object(0)];
        all.extend((0..count).map(|at| Argument::Word(10u64.pow(at as u32))));
        all
    };
    let out = one(Isa::Sse2, &sum_words(), cell(), words(8));
    assert_eq!(out.objects[0], 11_111_111_u64.to_le_bytes());
    assert_eq!((out.end, out.clobbered.len()), (End::Returned, 0));
    let mut floats = vec![Argument::Object(0)];
    floats.extend((0..9).map(|at| Argument::F32((at as f32).to_bits())));
    let out = one(Isa::Sse2, &sum_floats(), cell(), floats);
    assert_eq!(out.objects[0][..4], 15.0f32.to_le_bytes());
}

#[test]
fn pointers_lead_to_objects() {
    let column = Object::new(vec![1; 4], Place::Offset(3));
    let mut bytes = 5_i64.to_le_bytes().to_vec();
    bytes.extend([0; 16]);
    let stack = Object { pointers: vec![(16, 1)], writable: false, ..Object::new(bytes.clone(), Place::AfterGuard) };
    let out = one(Isa::Sse2, &count_to_column(), vec![stack, column], vec![Argument::Object(0)]);
    assert_eq!((&out.end, out.stray), (&End::Returned, None));
    assert_eq!(out.objects[1], [5, 0, 0, 0]);
    assert_eq!(out.objects[0][..16], bytes[..16]);
}

#[test]
fn accesses_beyond_objects_are_noticed() {
    let at = |place: Place, writable: bool| vec![Object { writable, ..Object::new(vec![1; 16], place) }];
    let call = |image: &Image, objects: Vec<Object>| one(Isa::Sse2, image, objects, vec![Argument::Object(0)]);
    for place in [Place::BeforeGuard, Place::AfterGuard, Place::Offset(5)] {
        assert_eq!(call(&load_rack(), at(place, false)).end, End::Returned);
        let out = call(&store_first(), at(place, true));
        assert_eq!((&out.end, out.stray, &out.objects[0][..2]), (&End::Returned, None, &[7, 1][..]));
        let fault = call(&store_first(), at(place, false)).end;
        assert!(matches!(fault, End::Fault { object: Some((0, 0)), at: 0, .. }), "{fault:?}");
    }
    let short = |place| vec![Object::new(vec![1; 15], place)];
    let fault = call(&load_rack(), short(Place::BeforeGuard)).end;
    assert!(matches!(fault, End::Fault { object: Some((0, 15)), at: 0, .. }), "{fault:?}");
    assert_eq!(call(&load_rack(), short(Place::AfterGuard)).end, End::Returned);
    let fault = call(&store_before(), at(Place::AfterGuard, true)).end;
    assert!(matches!(fault, End::Fault { object: Some((0, -1)), .. }), "{fault:?}");
    assert_eq!(call(&store_before(), at(Place::Offset(0), true)).stray, Some((0, -1)));
    assert_eq!(call(&store_before(), at(Place::BeforeGuard, true)).stray, Some((0, -1)));
    let fault = one(Isa::Sse2, &follows_nothing(), vec![], vec![]).end;
    assert_eq!(fault, End::Fault { object: None, address: 0, at: 0 });
}

#[test]
fn one_child_makes_many_calls_and_survives_their_faults() {
    let image = trap_on_zero();
    let cell = || Object::new(vec![0; 3], Place::BeforeGuard);
    let call = |word: u64| Call { objects: vec![cell()], arguments: vec![Argument::Object(0), Argument::Word(word)] };
    let calls: Vec<Call> = (0..20_000).map(|at| call(at % 3)).collect();
    let load = load_rack();
    let jobs = [
        Job { isa: Isa::Sse2, image: &image, calls: &calls },
        Job { isa: Isa::Sse2, image: &load, calls: &calls[..5] },
        Job { isa: Isa::Sse2, image: &image, calls: &[] },
    ];
    let outs = run(&jobs).unwrap();
    assert_eq!(outs.iter().map(Vec::len).collect::<Vec<_>>(), [20_000, 5, 0]);
    for (at, out) in outs[0].iter().enumerate() {
        // test (2 bytes), jne (2), nop (1), then ud2.
        assert_eq!(out.end, if at % 3 == 0 { End::Trap(5) } else { End::Returned });
    }
    assert!(outs[1].iter().all(|out| matches!(out.end, End::Fault { object: Some((0, 3)), .. })));
}

#[test]
fn what_is_owed_to_the_caller_is_looked_at() {
    let isa = if rake_testkit::x86::cpu_has(Isa::Avx2) { Isa::Avx2 } else { return };
    let out = one(isa, &ruins(), vec![], vec![]);
    assert_eq!(out.clobbered, ["rbx", "r15", "DF", "MXCSR", "upper halves of vector registers"]);
    let cell = vec![Object::new(vec![0; 4], Place::AfterGuard)];
    let floats = [1.0f32, 0.0].map(|x| Argument::F32(x.to_bits()));
    let out = one(isa, &divides(), cell, vec![Argument::Object(0), floats[0], floats[1]]);
    assert_eq!((out.clobbered.len(), out.flags()), (0, flag::ZE));
    assert_eq!(out.objects[0], f32::INFINITY.to_le_bytes());
}
