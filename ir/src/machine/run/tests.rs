//! Runs at the machine level, by hand.

use super::Halt;
use crate::allocated;
use crate::machine::bits::{Bits, of_long};
use crate::memory::Memory;
use crate::selected::{self, Program};

fn program(profile: &str, body: &str) -> Program {
    let text = format!("rake selected 1\nprofile {profile}\nfuse full\n\n{body}");
    let program = selected::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    assert_eq!(selected::print(&program), text);
    program
}

fn good(profile: &str, body: &str) -> Program {
    let program = program(profile, body);
    assert_eq!(selected::check(&program), Ok(()));
    program
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn call(program: &Program, args: &[u64], memory: &mut Memory) -> Result<Option<Bits>, Halt> {
    let args: Vec<Bits> = args.iter().map(|&arg| of_long(arg)).collect();
    selected::run(&program.functions[0], program.profile, &args, memory)
}

const ADD: &str =
    "run add(a: address to []u32 = g7, b: address to []u32 = g6, out: address to mut []u32 = g2, n: <i64> = g1) {
  %4 : g = long_zero
  %5 : g = move_long %4
  loop
    %6 : v = rack_load [%0 + %5*4]
    %7 : v = paddd %6, [%1 + %5*4]
    rack_store [%2 + %5*4], %7
    %8 : g = add_long %5, 8
    %5 = move_long %8
    compare_long %8, %3
  again 2
}
";

#[test]
fn a_loop_adds_two_columns() {
    let program = good("x86-avx2", ADD);
    let mut memory = Memory::default();
    let a: Vec<u32> = (0..16).collect();
    let b: Vec<u32> = (0..16).map(|x| 100 * x).collect();
    let args = [words(&a), words(&b)].map(|bytes| memory.add(bytes, false).unwrap());
    let out = memory.add(vec![0; 4 * 16 + 4], true).unwrap();
    assert_eq!(call(&program, &[args[0], args[1], out, 16], &mut memory), Ok(None));
    let sums: Vec<u32> = (0..16).map(|x| 101 * x).chain([0]).collect();
    assert_eq!(memory.block(out), Some(&words(&sums)[..]));
}

#[test]
fn the_same_runs_in_registers() {
    let text = "rake allocated 1
profile x86-avx2
fuse full

run add(a: address to []u32 = g7, b: address to []u32 = g6, out: address to mut []u32 = g2, n: <i64> = g1) {
  push g3
  g3 = long_zero
  loop
    v0 = rack_load [g7 + g3*4]
    v0 = paddd v0, [g6 + g3*4]
    rack_store [g2 + g3*4], v0
    g3 = add_long g3, 8
    compare_long g3, g1
  again 2
  vzeroupper
  g3 = pop
  ret
}
";
    let program = allocated::read(text).unwrap();
    assert_eq!(allocated::print(&program), text);
    assert_eq!(allocated::check(&program), Ok(()));
    let mut memory = Memory::default();
    let one = memory.add(words(&[1; 8]), false).unwrap();
    let out = memory.add(words(&[0; 8]), true).unwrap();
    let args = [one, one, out, 8].map(of_long);
    assert_eq!(allocated::run(&program.functions[0], program.profile, &args, &mut memory), Ok(None));
    assert_eq!(memory.block(out), Some(&words(&[2; 8])[..]));
    let found = |from: &str, to: &str, what: &str| {
        let changed = allocated::read(&text.replacen(from, to, 1)).unwrap();
        let errors = allocated::check(&changed).unwrap_err();
        assert!(errors.iter().any(|e| e.contains(what)), "{what}: {errors:?}");
    };
    found("  push g3\n", "", "g3 is not a register to write");
    found("  g3 = pop\n", "", "not brought back");
    found("[g6 + g3*4]", "[g6 + g8*4]", "g8 is read before it is written");
    found("[g6 + g3*4]", "[v0 + g3*4]", "v0 is of another class");
}

#[test]
fn a_masked_rest_touches_its_lanes_alone() {
    // Three lanes of sixteen: bzhi of all ones by 3 is 0b111.
    let body = "run double(a: address to []u32 = g7, out: address to mut []u32 = g6, n: <i64> = g2) {
  %3 : g = long_const -1
  %4 : g = bzhi %3, %2
  %5 : k = word_mask %4
  %6 : v = rack_load_z %5, [%0]
  %7 : v = paddd %6, %6
  rack_store_k %5, [%1 + 4], %7
}
";
    let program = good("x86-avx512", body);
    let mut memory = Memory::default();
    let a = memory.add(words(&[5, 6, 7, 8]), false).unwrap();
    let out = memory.add(words(&[1; 20]), true).unwrap();
    assert_eq!(call(&program, &[a, out, 3], &mut memory), Ok(None));
    let expected: Vec<u32> = [1, 10, 12, 14].into_iter().chain([1; 16]).collect();
    assert_eq!(memory.block(out), Some(&words(&expected)[..]));
}

const BRANCH: &str = "scratch pick(a: f32s = v0, b: f32s = v1, n: <i32> = g7) -> f32s = v0 {
  compare_word %2, -1
  if 4
    %3 : v = mov %0
  else
    %3 = mov %1
  end
  return %3
}
";

#[test]
fn a_branch_chooses() {
    let program = good("x86-sse2", BRANCH);
    // -1 < n: the first; the condition is `greater`.
    let run = |n: i32| {
        let args = [[1; 16], [2; 16], of_long(u64::from(n as u32))];
        selected::eval(&program.functions[0], program.profile, &args).map(|bits| bits[0])
    };
    assert_eq!((run(0), run(-1), run(-2)), (Some(1), Some(2), Some(2)));
}

#[test]
fn a_check_traps() {
    let body = "run check(n: <i64> = g7, m: <i64> = g6) {
  compare_long %0, %1
  trap_unless 7
}
";
    let program = good("x86-sse2", body);
    let mut memory = Memory::default();
    // Unsigned: n <= m.
    assert_eq!(call(&program, &[3, 3], &mut memory), Ok(None));
    assert_eq!(call(&program, &[3, u64::MAX], &mut memory), Ok(None));
    assert_eq!(call(&program, &[4, 3], &mut memory), Err(Halt::Trap));
}

#[test]
fn gathers_and_scatters_follow_their_masks() {
    let body = "run spread(a: address to []u32 = g7, out: address to mut []u32 = g6) {
  literal 0 = 0x03000000020000000100000000000000
  %2 : v = load literal 0
  %3 : g = long_const 7
  %4 : k = word_mask %3
  %5 : v = zero
  %6 : v = gather_k %4, %5, [%0 + %2*4]
  %7 : k = word_mask %3
  scatter_k %7, [%1 + %2*4 + 4], %6
}
";
    let program = good("x86-avx512", body);
    let mut memory = Memory::default();
    let a = memory.add(words(&[10, 11, 12, 13]), false).unwrap();
    let out = memory.add(words(&[0; 6]), true).unwrap();
    assert_eq!(call(&program, &[a, out], &mut memory), Ok(None));
    // Lanes 0 to 2 take elements 3, 2, 1 and put them back one place further.
    assert_eq!(memory.block(out), Some(&words(&[0, 0, 11, 12, 13, 0])[..]));
}

#[test]
fn each_violation_is_found() {
    let found = |body: &str, from: &str, to: &str, what: &str| {
        let text = body.replacen(from, to, 1);
        assert_ne!(text, body);
        let profile = if body == BRANCH { "x86-sse2" } else { "x86-avx2" };
        let errors = selected::check(&program(profile, &text)).unwrap_err();
        assert!(errors.iter().any(|e| e.contains(what)), "{what}: {errors:?}");
    };
    found(
        ADD,
        "    %5 = move_long %8\n    compare_long %8, %3\n",
        "    compare_long %8, %3\n    %5 = move_long %8\n",
        "compares for nothing",
    );
    found(ADD, "    %5 = move_long %8\n", "    %5 = add_long %5, 8\n", "%5 is defined twice");
    found(
        ADD,
        "    %8 : g = add_long %5, 8\n    %5 = move_long %8\n",
        "    %5 = move_long %4\n    %8 : g = add_long %5, 8\n",
        "%5 is defined twice",
    );
    found(ADD, "again 2", "again 12", "no such condition");
    found(ADD, "rack_load [%0 + %5*4]", "rack_load %0", "takes no register");
    found(ADD, "paddd %6, [%1 + %5*4]", "paddd %6, 7", "cannot stand in memory or be a number");
    found(BRANCH, "    %3 = mov %1\n", "    %4 : v = mov %1\n", "the result is not defined");
    found(BRANCH, "    %3 = mov %1\n", "    %3 = mov %1\n    %4 : v = sqrtps %1\n", "%3 is defined twice");
}

#[test]
fn markers_that_do_not_nest_are_found() {
    for (from, to) in [("  again 2\n", ""), ("  loop\n", ""), ("  again 2\n", "  end\n")] {
        let text = format!("rake selected 1\nprofile x86-avx2\nfuse full\n\n{}", ADD.replacen(from, to, 1));
        let errors = selected::check(&selected::read(&text).unwrap()).unwrap_err();
        assert!(errors.iter().any(|e| e.contains("closes no body") || e.contains("nothing closes")), "{errors:?}");
    }
}

#[test]
fn arguments_beyond_the_registers_stand_in_the_callers_frame() {
    let params = "b: <i64> = g6, c: <i64> = g2, d: <i64> = g1, e: <i64> = g8, f: <i64> = g9";
    let body = format!(
        "run seventh(a: address to mut []i64 = g7, {params}, g: <i64> = s0) {{
  %7 : g = take_argument %6
  store_long [%0], %7
}}
"
    );
    let program = good("x86-sse2", &body);
    let mut memory = Memory::default();
    let out = memory.add(vec![0; 8], true).unwrap();
    assert_eq!(call(&program, &[out, 0, 0, 0, 0, 0, 0x1_0000_0007], &mut memory), Ok(None));
    assert_eq!(memory.read(out, 8), Ok(0x1_0000_0007));
    let errors = selected::check(&self::program("x86-sse2", &body.replace("= s0", "= s1"))).unwrap_err();
    assert!(errors[0].contains("`g` stands in s1, not in s0"), "{errors:?}");
}
