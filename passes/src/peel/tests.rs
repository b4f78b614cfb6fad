use super::with_racks;
use crate::run_testing::Caller;
use crate::{sanitise, simplify};
use rake_ir::lane::eval_run;
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

/// What the program's run leaves of a stack of a column of floats and perhaps one of bytes: the floats, bytes and count.
fn left(program: &Program<fused::Region>, x: &[f32], k: Option<&[u8]>) -> (Vec<f32>, Vec<u8>, u64) {
    let mut caller = Caller::default();
    let columns: Vec<u64> = [caller.column(x, true)].into_iter().chain(k.map(|k| caller.column(k, true))).collect();
    let s = caller.stack(program.profile, x.len(), &columns, true);
    let done = eval_run(program, &program.functions[0].name, &caller.args, &mut caller.memory);
    done.unwrap_or_else(|e| panic!("{} records: {e}", x.len()));
    let bytes = columns.get(1).map_or_else(Vec::new, |&k| caller.bytes(k));
    (caller.f32s(columns[0]), bytes, caller.memory.count(s).unwrap())
}

/// The columns and the count after a run on records `x = at / 2`, `k = at % 3 + 1`.
fn outcome(program: &Program<fused::Region>, count: usize) -> (Vec<f32>, u64) {
    let x: Vec<f32> = (0..count).map(|at| at as f32 / 2.0).collect();
    let k: Vec<u8> = (0..count).map(|at| (at % 3 + 1) as u8).collect();
    let (x, _, count) = left(program, &x, Some(&k));
    (x, count)
}

/// With four racks in flight.
fn run(mut program: Program<fused::Region>) -> Program<fused::Region> {
    let profile = program.profile;
    program.functions.iter_mut().for_each(|f| with_racks(f, profile, 4));
    program
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

/// `compact s where x > 2` with a whole column of bytes beside.
fn keeping(profile: &str) -> Program<fused::Region> {
    let text = format!(
        "rake fused 1\nprofile {profile}\nfuse full\n\n\
run keep(s: address to mut stack P(x: f32, k: u8)) {{
  %0 : address = param 0
  %1 : <i64> = count %0
  %2 : address = column %0, 0
  %3 : address = column %0, 1
  %4 : <i64> = const 0
  traverse %5 up to %1 by 32 {{
    %6 : <i64> = carry %4
    %7 : f32s = load f32 %2, %5
    %8 : u32s = load u8 %3, %5
    %9 : f32s = const 2.0
    %10 : mask = gt %7, %9
    %11 : f32s = store_selected f32 %2, %6, %7, %10
    %12 : u32s = store_selected u8 %3, %6, %8, %10
    %13 : <i64> = count_true %10
    %14 : <i64> = add %6, %13
  }} with %6 = %14
  %15 : <i64> = set_count %0, %6
}}
"
    );
    fused::read(&text).unwrap_or_else(|e| panic!("{e:?}"))
}

#[test]
fn kept_records_follow_each_other() {
    for profile in ["x86-sse2", "x86-avx512", "scalar"] {
        let mut program = keeping(profile);
        let peeled = run(program.clone());
        for (pass, next) in [("peel", peeled.clone()), ("simplify", simplify::run(sanitise::run(peeled)))] {
            assert_eq!(fused::check(&next), Ok(()), "{pass} {}", fused::print(&next));
            program = next;
            for count in 0..60usize {
                let value = |at: usize| [3.0f32, 1.0, 5.0, 2.5, f32::NAN, 0.0, 7.0][at * 5 % 7] + at as f32 / 64.0;
                let (all, records): (Vec<f32>, Vec<u8>) = (0..count).map(|at| (value(at), at as u8)).unzip();
                let (x, k, length) = left(&program, &all, Some(&records));
                let kept: Vec<u8> = records.into_iter().filter(|&at| value(at.into()) > 2.0).collect();
                assert_eq!(length, kept.len() as u64, "{pass} on {profile}");
                assert_eq!(k[..kept.len()], kept, "{pass} on {profile}");
                let floats: Vec<f32> = kept.iter().map(|&at| value(at.into())).collect();
                assert_eq!(x[..kept.len()], floats, "{pass} on {profile}");
            }
        }
    }
}

/// `compact s with { x: x / 2 } where not (x <= 2)`, the selection computed in a region.
const HALVED: &str = "\
run halve(s: address to mut stack P(x: f32)) {
  %0 : address = param 0
  %1 : <i64> = count %0
  %2 : address = column %0, 0
  %3 : <i64> = const 0
  traverse %4 up to %1 by 32 {
    %5 : <i64> = carry %3
    %6 : f32s = load f32 %2, %4
    %7 : f32s = const 2.0
    %8 : mask = le %6, %7
    region {
      %9 : mask = not %8
      %10 : f32s = div %6, %7 if %9
    }
    %11 : f32s = store_selected f32 %2, %5, %10, %9
    %12 : <i64> = count_true %9
    %13 : <i64> = add %5, %12
  } with %5 = %13
  %14 : <i64> = set_count %0, %5
}
";

#[test]
fn replaced_records_are_kept_by_selections_of_regions() {
    for profile in ["x86-sse2", "x86-avx512", "scalar"] {
        let program = fused::read(&format!("rake fused 1\nprofile {profile}\nfuse full\n\n{HALVED}")).unwrap();
        let program = run(program);
        assert_eq!(fused::check(&program), Ok(()), "{}", fused::print(&program));
        let program = simplify::run(sanitise::run(program));
        assert_eq!(fused::check_sanitised(&program), Ok(()), "{}", fused::print(&program));
        for count in 0..40usize {
            let all: Vec<f32> = (0..count).map(|at| (at * 5 % 7) as f32).collect();
            let (x, _, length) = left(&program, &all, None);
            let kept: Vec<f32> = all.into_iter().filter(|&x| x > 2.0).map(|x| x / 2.0).collect();
            assert_eq!((length, &x[..kept.len()]), (kept.len() as u64, &kept[..]), "{profile}");
        }
    }
}

/// Copies `x` to `y` one rack of eight on, counts by lanes what is above zero, sums in order, and leaves the index.
const LOOP: &str = "rake fused 1
profile x86-avx2
fuse full

run shift(x: address to []f32, x_count: <i32>, y: address to mut []f32, y_count: <i32>, n: <i32>, last: address to mut []i32, l_count: <i32>) {
  %0 : address = param 0
  %1 : <i32> = param 1
  %2 : address = param 2
  %3 : <i32> = param 3
  %4 : <i32> = param 4
  %5 : address = param 5
  %6 : <i64> = const 0
  %7 : <i64> = const 8
  %8 : <i64> = to_i64 %4
  %9 : i32s = const 0
  %10 : f32s = const 0.0
  %11 : <bool> = lt %6, %8
  if %11 {
    loop {
      %12 : <i64> = carry %6
      %13 : i32s = carry %9
      %14 : f32s = carry %10
      %15 : <i64> = to_i64 %4
      %16 : <i64> = sub %15, %12
      %17 : mask = in_range %16
      %18 : f32s = load f32 %0, %12 if %17
      %19 : f32s = if %17, %18, %10
      %20 : mask = gt %19, %10
      %21 : i32s = const 1
      %22 : i32s = select %20, %21, %9
      %23 : i32s = add %22, %13
      %24 : f32s = add %14, %19
      %25 : <i64> = const 1
      %26 : <i64> = add %25, %12
      %27 : <i64> = sub %8, %26
      %28 : mask = in_range %27
      %29 : f32s = store f32 %2, %26, %24 if %28
      %30 : <i64> = add %12, %7
      %31 : <bool> = lt %30, %8
    } again %31 with %12 = %30, %13 = %23, %14 = %24
  } else {
  }
  %32 : i32s = merge %13, %9
  %33 : <i64> = merge %12, %6
  %34 : i32s = store i32 %5, %6, %32
}
";

#[test]
fn counted_loops_do_what_they_did() {
    let before = fused::read(LOOP).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(fused::check(&before), Ok(()));
    for racks in [0, 1, 2, 4] {
        let mut program = before.clone();
        program.functions.iter_mut().for_each(|f| with_racks(f, before.profile, racks));
        let text = fused::print(&program);
        assert_eq!(fused::check(&program), Ok(()), "{text}");
        assert_eq!(text.matches("in_range").count(), 2, "only what is left is masked: {text}");
        let loads = [1, 2, 4, 6][[0, 1, 2, 4].iter().position(|&n| n == racks).unwrap()];
        assert_eq!(text.matches("load").count(), loads, "{text}");
        for count in 0..70 {
            let x: Vec<f32> = (0..count).map(|at| if at % 3 == 0 { at as f32 } else { -0.5 }).collect();
            let mut caller = Caller::default();
            caller.view(&x[..], false);
            let y = caller.column(&vec![7.0f32; count][..], true);
            caller.args.extend([y, count as u64].map(Lanes::uniform));
            caller.uniform(count as u64);
            let counts = caller.column(&[-1i32; 8][..], true);
            caller.args.extend([counts, 8].map(Lanes::uniform));
            let done = eval_run(&program, "shift", &caller.args, &mut caller.memory);
            done.unwrap_or_else(|e| panic!("{count} elements: {e}"));
            // Element `at + 1` is the sum of the elements of `at`'s lane up to it; the first is not written.
            let sum = |at: usize| x[at % 8..=at].iter().step_by(8).sum::<f32>();
            let written = |at: usize| if at == 0 { 7.0 } else { sum(at - 1) };
            assert_eq!(caller.f32s(y), (0..count).map(written).collect::<Vec<_>>(), "{count} elements, {racks} racks");
            let above = |lane: usize| x.iter().skip(lane).step_by(8).filter(|&&x| x > 0.0).count() as i32;
            assert_eq!(caller.i32s(counts), (0..8).map(above).collect::<Vec<_>>(), "{count} elements, {racks} racks");
        }
    }
}

/// The prefixes of each rack of `x` in `y`.
const SCANS: &str = "rake fused 1
profile x86-avx2
fuse full

run scans(x: address to []f32, x_count: <i32>, y: address to mut []f32, y_count: <i32>, n: <i32>) {
  %0 : address = param 0
  %1 : <i32> = param 1
  %2 : address = param 2
  %3 : <i32> = param 3
  %4 : <i32> = param 4
  %5 : <i64> = const 0
  %6 : <i64> = const 8
  %7 : <i64> = to_i64 %4
  %8 : f32s = const 0.0
  %9 : <i32> = const 3
  %10 : <bool> = lt %5, %7
  if %10 {
    loop {
      %11 : <i64> = carry %5
      %12 : <i32> = carry %9
      %13 : <i64> = sub %7, %11
      %14 : mask = in_range %13
      %15 : f32s = load f32 %0, %11 if %14
      %16 : f32s = if %14, %15, %8
      %17 : f32s = scan_sum %16
      %18 : f32s = store f32 %2, %11, %17 if %14
      %19 : <i64> = add %11, %6
      %20 : <i32> = add %12, %9
      %21 : <bool> = lt %19, %7
    } again %21 with %11 = %19, %12 = %20
  }
}
";

#[test]
fn trips_are_side_by_side_where_views_are_apart() {
    let before = fused::read(SCANS).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(fused::check(&before), Ok(()));
    let mut program = before.clone();
    program.functions.iter_mut().for_each(|f| with_racks(f, before.profile, 8));
    let text = fused::print(&program);
    assert_eq!(fused::check(&program), Ok(()), "{text}");
    let scans: Vec<_> = text.lines().map(|line| line.contains("scan_sum")).collect();
    assert!(scans.windows(8).any(|lines| lines.iter().all(|scan| *scan)), "{text}");
    let after = crate::transpose::run(program);
    assert_eq!(fused::check(&after), Ok(()), "{}", fused::print(&after));
    // `y` begins so many elements behind `x`, or before it: over it, partly over it, apart from it.
    const COUNT: usize = 150;
    for offset in (-160..=160).step_by(5).chain(-9..9) {
        let (x, y) = (200usize, (200 + offset) as usize);
        let mut expected: Vec<f32> = (0..600).map(|at| (at * 7 % 16) as f32).collect();
        let mut caller = Caller::default();
        let block = caller.column(&expected[..], true);
        for start in [x, y] {
            caller.args.extend([block + 4 * start as u64, COUNT as u64].map(Lanes::uniform));
        }
        caller.uniform(COUNT as u64);
        for rack in (0..COUNT).step_by(8) {
            let end = COUNT.min(rack + 8);
            let lanes = expected[x + rack..x + end].to_vec();
            (rack..end).for_each(|at| expected[y + at] = lanes[..=at - rack].iter().sum());
        }
        let done = eval_run(&after, "scans", &caller.args, &mut caller.memory);
        done.unwrap_or_else(|e| panic!("{offset}: {e}"));
        assert!(caller.f32s(block) == expected, "offset {offset}");
    }
}
