//! What the bytes of a run may hold, each promise broken once. The bytes are those of programs that no pass would make.

#[path = "../../backends/tests/common/samples.rs"]
#[allow(dead_code)]
mod samples;

use rake_backends::{Options, x86};
use rake_ir::allocated::Function;
use rake_ir::machine::abi::SYSTEM_V;
use rake_ir::machine::x86::X86;
use rake_ir::machine::{Address, Inst, Operand, PhysReg};
use rake_ir::profile::Profile::{self, X86Avx2, X86Avx512, X86Sse2};
use rake_ir::selected::Param;
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};
use rake_verifier::{Metadata, Obligation, obligations};
use samples::{inst, program};

const OPTIONS: Options<'static> = Options { exported: &|_| false, compiler: "rakec 0.1.0" };

/// `f(address, address, i64, i64, i64, i64, address, i64)` with this body, then `vzeroupper` where there is one, and `ret`.
fn check(profile: Profile, body: &[Inst<PhysReg>]) -> Vec<String> {
    check_edited(profile, body, |_| {})
}

/// As [`check`], the object's bytes edited.
fn check_edited(profile: Profile, body: &[Inst<PhysReg>], edit: impl Fn(&mut [u8])) -> Vec<String> {
    let long = Ty::Uniform(Elem::I64);
    let tys = [Ty::Address, Ty::Address, long, long, long, long, Ty::Address, long];
    let places = SYSTEM_V.places(tys.into_iter());
    let param = |(ty, place): (Ty, Option<PhysReg>)| Param {
        name: "p".into(),
        ty,
        points_to: None,
        place: place.unwrap(),
        span: Span::default(),
    };
    let leave = (profile != X86Sse2 && !body.iter().any(|i| i.op.name() == "vzeroupper"))
        .then(|| inst(X86::Vzeroupper, None, &[], None));
    let ends = body.last().is_some_and(|i| i.op.name() == "ret");
    let ret = (!ends).then(|| inst(X86::Ret, None, &[], None));
    let leave = leave.filter(|_| !ends);
    let insts = body.iter().cloned().chain(leave).chain(ret).collect();
    let params = tys.into_iter().zip(places).map(param).collect();
    let f = Function { name: "f".into(), span: Span::default(), params, literals: vec![], insts, result: None };
    let program = program(profile, vec![f]);
    let mut object = x86::elf::emit(&program, &OPTIONS).unwrap();
    edit(&mut object);
    let metadata = Metadata::of(&program, OPTIONS.exported);
    obligations(&object, &metadata).err().into_iter().flatten().map(|diagnostic| diagnostic.message).collect()
}

fn holds(profile: Profile, body: &[Inst<PhysReg>]) {
    assert_eq!(check(profile, body), [""; 0]);
}

/// The body breaks this promise.
fn breaks(obligation: Obligation, profile: Profile, body: &[Inst<PhysReg>]) {
    let found = check(profile, body);
    assert!(found.iter().any(|text| text.contains(obligation.words())), "{obligation:?} is not in {found:?}");
}

const A: PhysReg = PhysReg::g(7);
const N: PhysReg = PhysReg::g(2);

fn reg(r: PhysReg) -> Operand<PhysReg> {
    Operand::Reg(r)
}

fn at(base: PhysReg, index: Option<PhysReg>) -> Operand<PhysReg> {
    Operand::Memory(Address { base, index, scale: 0, disp: 0 })
}

fn load(base: PhysReg, index: Option<PhysReg>) -> Inst<PhysReg> {
    inst(X86::RackLoad, Some(PhysReg::v(0)), &[at(base, index)], None)
}

fn marker(op: X86, imm: Option<u8>) -> Inst<PhysReg> {
    inst(op, None, &[], imm)
}

fn compare() -> Inst<PhysReg> {
    inst(X86::CompareLong, None, &[reg(N), Operand::Number(3)], None)
}

#[test]
fn addresses_come_from_the_caller() {
    let sum = inst(X86::Sum, Some(PhysReg::g(0)), &[at(A, Some(N))], None);
    let column = inst(X86::LoadLong, Some(PhysReg::g(0)), &[at(A, None)], None);
    let moved = inst(X86::AddLong, Some(A), &[reg(A), Operand::Number(64)], None);
    holds(X86Avx2, &[load(A, Some(N)), sum, load(PhysReg::g(0), None), column, load(PhysReg::g(0), Some(N))]);
    holds(X86Sse2, &[moved, load(A, None)]);
    breaks(Obligation::Transfers, X86Avx2, &[load(N, None)]);
    breaks(Obligation::Transfers, X86Avx2, &[load(PhysReg::g(10), None)]);
    breaks(Obligation::Transfers, X86Avx2, &[load(A, Some(PhysReg::g(6)))]);
    let constant = inst(X86::LongConst, Some(PhysReg::g(0)), &[Operand::Number(4096)], None);
    breaks(Obligation::Transfers, X86Avx512, &[constant, load(PhysReg::g(0), None)]);
    // On one path it is an address, on the other a number.
    let copy = inst(X86::MoveLong, Some(A), &[reg(N)], None);
    let body = [compare(), marker(X86::If, Some(0)), copy, marker(X86::End, None), load(A, None)];
    breaks(Obligation::Transfers, X86Avx2, &body);
    // In a loop that changes it behind the access.
    let copy = inst(X86::MoveLong, Some(A), &[reg(N)], None);
    let body = [marker(X86::Loop, None), load(A, None), copy, compare(), marker(X86::Again, Some(1))];
    breaks(Obligation::Transfers, X86Avx2, &body);
}

#[test]
fn registers_are_written_before_they_are_read() {
    let store = inst(X86::RackStore, None, &[at(A, None), reg(PhysReg::v(3))], None);
    let zero = inst(X86::Zero, Some(PhysReg::v(3)), &[], None);
    holds(X86Avx2, &[zero.clone(), store.clone()]);
    breaks(Obligation::DefinedReads, X86Avx2, std::slice::from_ref(&store));
    let body = [compare(), marker(X86::If, Some(0)), zero.clone(), marker(X86::End, None), store.clone()];
    breaks(Obligation::DefinedReads, X86Avx2, &body);
    let both = [marker(X86::Else, None), zero.clone(), marker(X86::End, None), store];
    holds(X86Avx2, &[&body[..3], &both].concat());
    // A gather leaves nothing in its mask.
    let index = PhysReg::v(4);
    let ones = inst(X86::Ones, Some(PhysReg::v(5)), &[], None);
    let place = Operand::Memory(Address { base: A, index: Some(index), scale: 2, disp: 0 });
    let gather = inst(X86::Gather, Some(PhysReg::v(3)), &[reg(PhysReg::v(3)), place, reg(PhysReg::v(5))], None);
    let start = [zero, inst(X86::Zero, Some(index), &[], None), ones];
    holds(X86Avx2, &[&start[..], std::slice::from_ref(&gather)].concat());
    breaks(Obligation::DefinedReads, X86Avx2, &[&start[..], &[gather.clone(), gather]].concat());
    // Nor does a scatter, whose racks may be one register.
    let mask = PhysReg::k(1);
    let ones = inst(X86::Kones, Some(mask), &[], None);
    let scatter = |place, rack| inst(X86::ScatterK, None, &[reg(mask), place, reg(rack)], None);
    let zero = inst(X86::Zero, Some(index), &[], None);
    let once = [zero.clone(), ones.clone(), scatter(place, index)];
    holds(X86Avx512, &once);
    breaks(Obligation::DefinedReads, X86Avx512, &[&once[..], &[scatter(place, index)]].concat());
    breaks(Obligation::DefinedReads, X86Avx512, &[zero.clone(), scatter(place, index)]);
    breaks(Obligation::DefinedReads, X86Avx512, &[zero.clone(), ones.clone(), scatter(place, PhysReg::v(6))]);
    breaks(Obligation::Transfers, X86Avx512, &[ones.clone(), scatter(place, PhysReg::v(0))]);
    let number = Operand::Memory(Address { base: N, index: Some(index), scale: 2, disp: 0 });
    breaks(Obligation::Transfers, X86Avx512, &[zero, ones, scatter(number, index)]);
}

#[test]
fn the_stack_holds_saved_registers_alone() {
    let kept = PhysReg::g(3);
    let push = inst(X86::Push, None, &[reg(kept)], None);
    let pop = inst(X86::Pop, Some(kept), &[], None);
    let zero = inst(X86::LongZero, Some(kept), &[], None);
    holds(X86Sse2, &[push.clone(), zero.clone(), pop.clone()]);
    breaks(Obligation::BoundaryRegisters, X86Sse2, std::slice::from_ref(&zero));
    breaks(Obligation::Saves, X86Sse2, &[push.clone(), zero.clone()]);
    breaks(Obligation::Saves, X86Sse2, &[zero, push.clone(), pop.clone()]);
    breaks(Obligation::Saves, X86Sse2, &[push.clone(), push, pop.clone(), pop]);
    let (push, pop) = (inst(X86::Push, None, &[reg(N)], None), inst(X86::Pop, Some(N), &[], None));
    breaks(Obligation::Saves, X86Sse2, &[push, pop]);
}

#[test]
fn arguments_stand_in_the_frame_up_to_the_last() {
    let take = |word: u8| inst(X86::TakeArgument, Some(PhysReg::g(0)), &[reg(PhysReg::s(word))], None);
    holds(X86Avx2, &[take(0), load(PhysReg::g(0), None), take(1)]);
    breaks(Obligation::Transfers, X86Avx2, &[take(1), load(PhysReg::g(0), None)]);
    breaks(Obligation::Saves, X86Avx2, &[take(2)]);
}

#[test]
fn conditions_are_compared_and_ends_are_ends() {
    let add = inst(X86::AddLong, Some(N), &[reg(N), Operand::Number(1)], None);
    let trap = marker(X86::TrapUnless, Some(2));
    holds(X86Avx2, &[compare(), trap.clone(), add.clone()]);
    breaks(Obligation::Jumps, X86Avx2, &[add.clone(), trap.clone()]);
    breaks(Obligation::Jumps, X86Avx2, &[compare(), add.clone(), trap]);
    breaks(Obligation::Jumps, X86Avx2, &[compare(), add.clone()]);
    let ret = inst(X86::Ret, None, &[], None);
    breaks(
        Obligation::Ending,
        X86Sse2,
        &[compare(), marker(X86::If, Some(0)), ret, marker(X86::End, None), add.clone()],
    );
    let leave = inst(X86::Vzeroupper, None, &[], None);
    breaks(Obligation::UpperHalves, X86Avx2, &[leave, add]);
}

#[test]
fn padding_stands_before_loops_alone() {
    let add = || inst(X86::AddLong, Some(N), &[reg(N), Operand::Number(1)], None);
    let again = || [compare(), marker(X86::Again, Some(1))];
    let replace = |from: &'static [u8], to: &'static [u8]| {
        move |object: &mut [u8]| {
            let at = object.windows(from.len()).position(|bytes| bytes == from).expect("the bytes to edit");
            object[at..at + from.len()].copy_from_slice(to);
        }
    };
    // `endbr64` and five additions of four bytes each: eight are missing to 32.
    let looped: Vec<_> = (0..5).map(|_| add()).chain([marker(X86::Loop, None), add()]).chain(again()).collect();
    const EIGHT: &[u8] = &[0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0];
    const ADD: &[u8] = &[0x48, 0x83, 0xc2, 0x01];
    assert_eq!(check_edited(X86Sse2, &looped, replace(EIGHT, EIGHT)), [""; 0]);
    let wrong = |body: &[Inst<PhysReg>], from, to| {
        let found = check_edited(X86Sse2, body, replace(from, to));
        assert!(found.iter().any(|text| text.contains(Obligation::Padding.words())), "{found:?}");
    };
    // In two instructions where one does; and where nothing leads back.
    wrong(&looped, EIGHT, &[0x0f, 0x1f, 0x40, 0, 0x0f, 0x1f, 0x40, 0]);
    wrong(&looped, ADD, &[0x0f, 0x1f, 0x40, 0]);
    wrong(&[add()], ADD, &[0x0f, 0x1f, 0x40, 0]);
    // Other bytes that do nothing are no padding.
    let found = check_edited(X86Sse2, &looped, replace(EIGHT, &[0x0f, 0x1f, 0x84, 1, 0, 0, 0, 0]));
    assert!(!found.is_empty());
}
