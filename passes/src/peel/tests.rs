use super::run;
use crate::{sanitise, simplify};
use rake_ir::lane::eval_run;
use rake_ir::memory::Memory;
use rake_ir::value::Lanes;
use rake_ir::{fused, lane::Program};

/// `x <- x / k` where `x` is above one, in a region, and as the count how many such there are.
fn text(profile: &str) -> String {
    format!(
        "rake fused 1\nprofile {profile}\nfuse full\n\n\
run divide(s: address to mut stack P(x: f32, k: u8)) {{
  %0 : address = param 0
  %1 : <i64> = count %0
  %2 : address = column %0, 0
  %3 : address = column %0, 1
  %4 : <i64> = const 0
  traverse %5 up to %1 by 32 {{
    %6 : <i64> = carry %4
    %7 : f32s = load f32 %2, %5
    %8 : u32s = load u8 %3, %5
    %9 : f32s = const 1.0
    %10 : mask = gt %7, %9
    region {{
      %11 : f32s = to_f32 %8
      %12 : f32s = div %7, %11 if %10
    }}
    %13 : f32s = store f32 %2, %5, %12 if %10
    %14 : <i64> = count_true %10
    %15 : <i64> = add %6, %14
  }} with %6 = %15
  %16 : <i64> = set_count %0, %6
}}
"
    )
}

fn program(profile: &str) -> Program<fused::Region> {
    let text = text(profile);
    let program = fused::read(&text).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(fused::check(&program), Ok(()));
    program
}

/// The columns and the count after a run on records `x = at / 2`, `k = at % 3 + 1`.
fn outcome(program: &Program<fused::Region>, count: usize) -> (Vec<f32>, u64) {
    let mut memory = Memory::default();
    let x = (0..count).flat_map(|at| (at as f32 / 2.0).to_le_bytes()).collect();
    let x = memory.add(x, true).unwrap();
    let k = memory.add((0..count).map(|at| (at % 3 + 1) as u8).collect(), false).unwrap();
    let descriptor = [count as u64, x, k].into_iter().flat_map(u64::to_le_bytes).collect();
    let s = memory.add(descriptor, true).unwrap();
    eval_run(program, "divide", &[Lanes::uniform(s)], &mut memory).unwrap_or_else(|e| panic!("{count}: {e}"));
    let floats = memory.block(x).unwrap().chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    (floats, memory.read(s, 8).unwrap())
}

#[test]
fn whole_racks_and_the_rest_do_what_the_traverse_does() {
    for profile in ["x86-sse2", "x86-avx2", "x86-avx512", "scalar"] {
        let before = program(profile);
        let mut after = run(before.clone());
        assert_eq!(fused::check(&after), Ok(()), "{}", fused::print(&after));
        let text = fused::print(&after);
        assert!(!text.contains("traverse") && text.contains("in_range") == (profile != "scalar"), "{text}");
        assert_eq!(fused::print(&fused::read(&text).unwrap()), text);
        let expected = |count: usize| -> (Vec<f32>, u64) {
            let x: Vec<f32> = (0..count).map(|at| at as f32 / 2.0).collect();
            let divided = x.iter().enumerate().map(|(at, &x)| if x > 1.0 { x / (at % 3 + 1) as f32 } else { x });
            (divided.collect(), x.iter().filter(|&&x| x > 1.0).count() as u64)
        };
        for count in 0..70 {
            assert_eq!(outcome(&before, count), expected(count));
            assert_eq!(outcome(&after, count), expected(count), "{count} on {profile}");
        }
        after = sanitise::run(after);
        assert_eq!(fused::check_sanitised(&after), Ok(()), "{}", fused::print(&after));
        after = simplify::run(after);
        assert_eq!(fused::check_sanitised(&after), Ok(()), "{}", fused::print(&after));
        for count in 0..70 {
            assert_eq!(outcome(&after, count), expected(count), "{count} on {profile}");
        }
    }
}

#[test]
fn racks_in_flight_take_turns() {
    let text = "rake fused 1\nprofile x86-avx2\nfuse full\n\n\
run twice(s: address to mut stack P(x: f32)) {
  %0 : address = param 0
  %1 : <i64> = count %0
  %2 : address = column %0, 0
  traverse %3 up to %1 by 32 {
    %4 : f32s = load f32 %2, %3
    region {
      %5 : f32s = add %4, %4
    }
    %6 : f32s = store f32 %2, %3, %5
  }
}
";
    let after = fused::print(&run(fused::read(text).unwrap()));
    let kinds: Vec<&str> = ["load", "add %", "store"].into_iter().flat_map(|kind| after.matches(kind)).collect();
    // Four racks in flight, one alone, the rest; adds also step three indices in flight and each loop.
    assert_eq!(kinds.iter().filter(|&&kind| kind == "load").count(), 6, "{after}");
    let regions: Vec<&str> = after.split("region {").skip(1).map(|r| r.split('}').next().unwrap()).collect();
    assert_eq!(regions.iter().map(|r| r.matches("add").count()).collect::<Vec<_>>(), [4, 1, 1], "{after}");
}
