//! What the words of a run of AArch64 may hold, each promise broken once and alone. The words are those of programs that no
//! pass would make.

#[path = "../../backends/tests/common/a64_samples.rs"]
#[allow(dead_code)]
mod a64_samples;

use a64_samples::{OPTIONS, inst, literals, program};
use object::{Endianness, Object, ObjectSection};
use rake_backends::aarch64;
use rake_ir::allocated::Function;
use rake_ir::machine::aarch64::A64;
use rake_ir::machine::abi::AAPCS64;
use rake_ir::machine::{Address, Inst, LiteralId, Operand, PhysReg};
use rake_ir::selected::Param;
use rake_ir::span::Span;
use rake_ir::types::Ty;
use rake_verifier::{Metadata, Obligation, obligations};
use std::ops::Range;

const LANDING: u32 = 0xd503_245f; // bti c
const RET: u32 = 0xd65f_03c0;
const NOP: u32 = 0xd503_201f;

/// `f(address, address, i64 six times, address, i64)` with this body and `ret`, if that does not end it.
fn check(body: &[Inst<PhysReg>]) -> Vec<String> {
    check_edited(body, &[])
}

/// As [`check`]; then words of the object's code are replaced, each the first of its kind.
fn check_edited(body: &[Inst<PhysReg>], edits: &[(u32, u32)]) -> Vec<String> {
    let (mut object, metadata) = emit(body);
    let code = code(&object);
    for (from, to) in edits {
        let found = object[code.clone()].chunks(4).position(|word| word == from.to_le_bytes());
        let at = code.start + 4 * found.expect("the word to edit");
        object[at..at + 4].copy_from_slice(&to.to_le_bytes());
    }
    obligations(&object, &metadata).err().into_iter().flatten().map(|diagnostic| diagnostic.message).collect()
}

/// Where an object has its code.
fn code(object: &[u8]) -> Range<usize> {
    let file = object::read::elf::ElfFile64::<Endianness>::parse(object).expect("an object");
    let (start, len) = file.section_by_name(".text").and_then(|text| text.file_range()).expect("code");
    start as usize..(start + len) as usize
}

fn emit(body: &[Inst<PhysReg>]) -> (Vec<u8>, Metadata) {
    let (address, long) = (Ty::Address, Ty::LONG);
    let tys = [address, address, long, long, long, long, long, long, address, long];
    let param = |(ty, place): (Ty, Option<PhysReg>)| Param {
        name: "p".into(),
        ty,
        points_to: None,
        place: place.expect("a place for each"),
        span: Span::default(),
    };
    let params = tys.into_iter().zip(AAPCS64.places(tys.into_iter())).map(param).collect();
    let ends = body.last().is_some_and(|i| i.op.name() == "ret");
    let ret = (!ends).then(|| inst(A64::Ret, None, &[], None));
    let insts = body.iter().cloned().chain(ret).collect();
    let f = Function { name: "f".into(), span: Span::default(), params, literals: literals(1), insts, result: None };
    let program = program(vec![f]);
    let object = aarch64::elf::emit(&program, &OPTIONS).expect("it can be encoded");
    (object, Metadata::of(&program, OPTIONS.exported))
}

fn holds(body: &[Inst<PhysReg>]) {
    assert_eq!(check(body), [""; 0]);
}

/// The body breaks this promise and no other.
fn breaks(obligation: Obligation, body: &[Inst<PhysReg>]) {
    breaks_edited(obligation, body, &[]);
}

fn breaks_edited(obligation: Obligation, body: &[Inst<PhysReg>], edits: &[(u32, u32)]) {
    let found = check_edited(body, edits);
    let alone = !found.is_empty() && found.iter().all(|text| text.contains(obligation.words()));
    assert!(alone, "{obligation:?} is not what is broken in {found:?}");
}

/// An address of the caller's, a number of the caller's, and a register that holds what the caller left.
const A: PhysReg = PhysReg::g(0);
const N: PhysReg = PhysReg::g(2);
const LEFT: PhysReg = PhysReg::g(10);
const FREE: PhysReg = PhysReg::g(9);

fn reg(r: PhysReg) -> Operand<PhysReg> {
    Operand::Reg(r)
}

fn at(base: PhysReg, index: Option<PhysReg>) -> Operand<PhysReg> {
    Operand::Memory(Address { base, index, scale: 0, disp: 0 })
}

fn load(base: PhysReg, index: Option<PhysReg>) -> Inst<PhysReg> {
    inst(A64::LdrRack, Some(PhysReg::v(0)), &[at(base, index)], None)
}

fn marker(op: A64, imm: Option<u8>) -> Inst<PhysReg> {
    inst(op, None, &[], imm)
}

fn compare() -> Inst<PhysReg> {
    inst(A64::CompareLongNumber, None, &[reg(N), Operand::Number(3)], None)
}

fn count() -> Inst<PhysReg> {
    inst(A64::AddNumber, Some(N), &[reg(N), Operand::Number(1)], None)
}

fn copy(to: PhysReg, from: PhysReg) -> Inst<PhysReg> {
    inst(A64::MovLong, Some(to), &[reg(from)], None)
}

#[test]
fn addresses_come_from_the_caller() {
    let sum = inst(A64::AddLong, Some(FREE), &[reg(A), reg(N)], None);
    let column = inst(A64::LdrLong, Some(FREE), &[at(A, None)], None);
    let moved = inst(A64::AddNumber, Some(A), &[reg(A), Operand::Number(64)], None);
    holds(&[load(A, Some(N)), sum, load(FREE, None), column, load(FREE, Some(N))]);
    holds(&[moved, load(A, None)]);
    // At a number, by an address for an index, at a number that was made.
    breaks(Obligation::Transfers, &[load(N, None)]);
    breaks(Obligation::Transfers, &[load(A, Some(PhysReg::g(1)))]);
    let constant = inst(A64::MovNumber, Some(FREE), &[Operand::Number(4096)], None);
    breaks(Obligation::Transfers, &[constant, load(FREE, None)]);
    // An address less an address is none.
    let apart = inst(A64::SubLong, Some(FREE), &[reg(A), reg(PhysReg::g(1))], None);
    breaks(Obligation::Transfers, &[apart, load(FREE, None)]);
    // On one path it is an address, on the other a number.
    breaks(
        Obligation::Transfers,
        &[compare(), marker(A64::If, Some(0)), copy(A, N), marker(A64::End, None), load(A, None)],
    );
    // In a loop that changes it behind the access.
    breaks(
        Obligation::Transfers,
        &[marker(A64::Loop, None), load(A, None), copy(A, N), compare(), marker(A64::Again, Some(1))],
    );
}

#[test]
fn registers_are_written_before_they_are_read() {
    let store = inst(A64::StrRack, None, &[at(A, None), reg(PhysReg::v(3))], None);
    let zero = inst(A64::Zero, Some(PhysReg::v(3)), &[], None);
    holds(&[zero.clone(), store.clone()]);
    breaks(Obligation::DefinedReads, std::slice::from_ref(&store));
    breaks(Obligation::DefinedReads, &[inst(A64::StrLong, None, &[at(A, None), reg(LEFT)], None)]);
    let body = [compare(), marker(A64::If, Some(0)), zero.clone(), marker(A64::End, None), store.clone()];
    breaks(Obligation::DefinedReads, &body);
    let both = [marker(A64::Else, None), zero, marker(A64::End, None), store];
    holds(&[&body[..3], &both].concat());
}

#[test]
fn the_stack_holds_saved_registers_alone() {
    let push = |register: PhysReg| inst(A64::Push, None, &[reg(register)], None);
    let pop = |register: PhysReg| inst(A64::Pop, Some(register), &[], None);
    let (kept, other) = (PhysReg::g(19), PhysReg::g(20));
    holds(&[push(kept), copy(kept, N), pop(kept)]);
    holds(&[push(kept), push(other), copy(kept, N), pop(other), pop(kept)]);
    breaks(Obligation::Saves, &[push(kept), copy(kept, N)]);
    breaks(Obligation::Saves, &[push(kept), push(other), copy(kept, N), pop(kept), pop(other)]);
    breaks(Obligation::Saves, &[push(kept), push(kept), copy(kept, N), pop(kept), pop(kept)]);
    breaks(Obligation::Saves, &[push(N), pop(N)]);
    // What the caller keeps there is neither saved nor free; nor are vector registers, whose low halves are the caller's.
    breaks(Obligation::AllowedRegisters, &[copy(kept, N)]);
    breaks(Obligation::AllowedRegisters, &[inst(A64::Zero, Some(PhysReg::v(8)), &[], None)]);
}

#[test]
fn arguments_stand_in_the_frame_up_to_the_last() {
    let take = |word: u8| inst(A64::TakeArgument, Some(FREE), &[reg(PhysReg::s(word))], None);
    holds(&[take(0), load(FREE, None), take(1)]);
    breaks(Obligation::Transfers, &[take(1), load(FREE, None)]);
    breaks(Obligation::Saves, &[take(2)]);
    // Behind what is saved they stand sixteen bytes further on.
    let (push, pop) =
        (inst(A64::Push, None, &[reg(PhysReg::g(19))], None), inst(A64::Pop, Some(PhysReg::g(19)), &[], None));
    holds(&[push.clone(), take(0), copy(PhysReg::g(19), FREE), load(PhysReg::g(19), None), pop.clone()]);
    // ldr x9, [sp, #16]; ldr x9, [sp], which is the saved register
    breaks_edited(Obligation::Saves, &[push, take(0), pop], &[(0xf940_0be9, 0xf940_03e9)]);
}

#[test]
fn conditions_are_compared_and_ends_are_ends() {
    let trap = marker(A64::TrapUnless, Some(2));
    holds(&[compare(), trap.clone(), count()]);
    breaks(Obligation::Jumps, &[count(), trap.clone()]);
    breaks(Obligation::Jumps, &[compare(), count()]);
    let ret = inst(A64::Ret, None, &[], None);
    breaks(Obligation::Ending, &[compare(), marker(A64::If, Some(0)), ret, marker(A64::End, None), count()]);
    // mov x9, x2 is another landing, or the end. A nop would be padding, of which AArch64's runs have none.
    const MOVE: u32 = 0xaa02_03e9;
    let body = [copy(FREE, N)];
    breaks_edited(Obligation::Landing, &body, &[(MOVE, LANDING)]);
    breaks_edited(Obligation::Ending, &body, &[(RET, MOVE)]);
    breaks_edited(Obligation::ProfileInstructions, &body, &[(MOVE, NOP)]);
}

#[test]
fn jumps_lead_to_instructions_of_the_run() {
    // bti c; add x2, x2, #1; cmp x2, #3; b.COND two words back
    let looped = [marker(A64::Loop, None), count(), compare(), marker(A64::Again, Some(1))];
    holds(&looped);
    let (object, _) = emit(&looped);
    let jump = u32::from_le_bytes(object[code(&object)][12..16].try_into().expect("four bytes"));
    let to = |words: i32| jump & 0xff00_001f | (words as u32 & 0x7_ffff) << 5;
    assert_eq!(jump, to(-2));
    // To the landing, and far behind the end. What would stand before the section is no address at all.
    breaks_edited(Obligation::Jumps, &looped, &[(jump, to(-3))]);
    breaks_edited(Obligation::Jumps, &looped, &[(jump, to(1000))]);
    breaks_edited(Obligation::ProfileInstructions, &looped, &[(jump, to(-4))]);
    // Over what nothing else leads to: b two words on, in the place of mov x9, x2.
    breaks_edited(Obligation::Jumps, &[copy(FREE, N), copy(A, N)], &[(0xaa02_03e9, 0x1400_0002)]);
    // To the comparison's condition: it is set on one path only.
    breaks_edited(Obligation::Jumps, &looped, &[(jump, to(0))]);
}

#[test]
fn tables_are_read_below_their_ends() {
    let table = PhysReg::g(11);
    let literal = Operand::Literal(LiteralId(3));
    let address = inst(A64::Adr, Some(table), &[literal], None);
    let entry = inst(A64::LdrEntry, Some(PhysReg::v(0)), &[reg(table), reg(N), literal], None);
    breaks(Obligation::ConstantLoads, &[address.clone(), entry]);
    // Its address is neither a number nor the caller's.
    let sum = inst(A64::AddLong, Some(FREE), &[reg(table), reg(N)], None);
    breaks(Obligation::BoundaryRegisters, &[address.clone(), sum]);
    breaks(Obligation::Transfers, &[address, load(table, None)]);
}
