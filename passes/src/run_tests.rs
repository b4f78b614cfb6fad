//! Runs from source to `tined`: what they do to memory, by hand.

use crate::frontend_testing::{SSE2, checked, type_errors};
use crate::run_testing::{Caller, executed, tined};
use rake_ir::desugared;
use rake_ir::lane::EvalError;
use rake_ir::ops::TrapReason;
use rake_ir::profile::Profile;
use rake_ir::{tined, typed};

const SAMPLES: &str = "pack Samples { f32: value; u8: quality; }\n";

const PROFILES: [Profile; 4] = [SSE2, Profile::X86Avx512, Profile::WasmSimd128, Profile::Scalar];

fn samples(count: usize, profile: Profile) -> (Caller, u64, u64, u64) {
    let values: Vec<f32> = (0..count).map(|at| at as f32 - 1.5).collect();
    let qualities: Vec<u8> = (0..count).map(|at| (200 + 7 * at) as u8).collect();
    let mut caller = Caller::default();
    let (values, qualities) = (caller.column(&values[..], true), caller.column(&qualities[..], true));
    let stack = caller.stack(profile, count, &[values, qualities], true);
    (caller, stack, values, qualities)
}

#[test]
fn a_stack_run_replaces_a_column() {
    let text = format!(
        "{SAMPLES}run weigh(samples: stack Samples, <scale: f32>) -> stack Samples:\n  \
         let quality = to_f32(widen(samples.quality))\n  \
         samples with {{ value: samples.value * <scale> + quality }}\n"
    );
    for profile in PROFILES {
        for count in 0..37 {
            let (mut caller, _, values, qualities) = samples(count, profile);
            caller.uniform(0.5f32.to_bits().into());
            let before = caller.bytes(qualities);
            assert_eq!(executed(&text, "weigh", profile, &mut caller), Ok(()));
            let right: Vec<f32> =
                (0..count).map(|at| (at as f32 - 1.5) * 0.5 + f32::from((200 + 7 * at) as u8)).collect();
            assert_eq!(caller.f32s(values), right);
            assert_eq!(caller.bytes(qualities), before);
        }
    }
}

#[test]
fn no_record_touches_nothing() {
    let text = format!("{SAMPLES}run zero(s: stack Samples) -> stack Samples:\n  s with {{ value: <0.0> }}\n");
    let mut caller = Caller::default();
    caller.stack(SSE2, 0, &[0, 0], true);
    assert_eq!(executed(&text, "zero", SSE2, &mut caller), Ok(()));
}

#[test]
fn every_column_is_read_before_any_is_written() {
    let text = "pack P { i32: a, b; }\nrun swap(p: stack P) -> stack P:\n  p with { a: p.b, b: p.a + p.b }\n";
    let mut caller = Caller::default();
    let (a, b) = (caller.column(&[1, 2, 3, 4, 5][..], true), caller.column(&[10, 20, 30, 40, 50][..], true));
    caller.stack(SSE2, 5, &[a, b], true);
    assert_eq!(executed(text, "swap", SSE2, &mut caller), Ok(()));
    assert_eq!(caller.i32s(a), [10, 20, 30, 40, 50]);
    assert_eq!(caller.i32s(b), [11, 22, 33, 44, 55]);
}

#[test]
fn narrow_columns_keep_the_low_bits_of_the_working_rack() {
    let text = "pack P { u8: k; i16: h; }\nrun wrap(p: stack P) -> stack P:\n  \
                p with { k: widen(p.k) * <3>, h: widen(p.h) - <1> }\n";
    let mut caller = Caller::default();
    let k = caller.column(&[0u8, 1, 100, 255, 86][..], true);
    let h = caller.column(&[0i16, -32768, 32767, -1, 7][..], true);
    caller.stack(SSE2, 5, &[k, h], true);
    assert_eq!(executed(text, "wrap", SSE2, &mut caller), Ok(()));
    assert_eq!(caller.bytes(k), [0, 3, 44, 253, 2]);
    let right: Vec<u8> = [-1i16, 32767, 32766, -2, 6].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(caller.bytes(h), right);
}

#[test]
fn where_leaves_the_other_records() {
    let text = "pack P { f32: x; }\ntine #big(x: f32s, <k: f32>) means x > <k>\n\
                run root(p: stack P) -> stack P:\n  tine #positive means p.x >= <0.0> and not #big(p.x, <9.5>)\n  \
                p with { x: sqrt(p.x) } where #positive\n";
    let mut caller = Caller::default();
    let x = caller.column(&[4.0f32, -4.0, 9.0, 16.0, 1.0, -1.0][..], true);
    caller.stack(SSE2, 6, &[x], true);
    assert_eq!(executed(text, "root", SSE2, &mut caller), Ok(()));
    assert_eq!(caller.f32s(x), [2.0, -4.0, 3.0, 16.0, 1.0, -1.0]);
}

#[test]
fn compact_keeps_the_selected_records_in_order() {
    let text = format!(
        "{SAMPLES}run keep(s: stack Samples) -> stack Samples:\n  compact s where s.value != <0.0>\n\
         run halve(s: stack Samples) -> stack Samples:\n  \
         compact s with {{ value: s.value * <0.5> }} where s.value > <0.0>\n"
    );
    for profile in PROFILES {
        for data in [vec![1.0f32; 5], vec![0.0; 5], vec![5.0, 0.0, 7.0, 0.0, 9.0, 0.0, 11.0], Vec::new()] {
            for (name, factor) in [("keep", 1.0), ("halve", 0.5)] {
                let mut caller = Caller::default();
                let numbers: Vec<u8> = (0..data.len() as u8).collect();
                let (value, quality) = (caller.column(&data[..], true), caller.column(&numbers[..], true));
                let stack = caller.stack(profile, data.len(), &[value, quality], true);
                assert_eq!(executed(&text, name, profile, &mut caller), Ok(()));
                let kept: Vec<usize> = (0..data.len()).filter(|&at| data[at] != 0.0).collect();
                assert_eq!(caller.memory.read(stack, 8), Ok(kept.len() as u64));
                let values: Vec<f32> = kept.iter().map(|&at| data[at] * factor).collect();
                assert_eq!(caller.f32s(value)[..kept.len()], values);
                let numbers: Vec<u8> = kept.iter().map(|&at| at as u8).collect();
                assert_eq!(caller.bytes(quality)[..kept.len()], numbers);
            }
        }
    }
}

#[test]
fn other_stacks_are_read_and_regions_and_locations_stand() {
    let text = "pack P { f32: x; }\npack V { f32: dx; u16: times; }\n\
                scratch step(x: f32s, d: f32s) -> f32s:\n  | s <| x + d\n  s\n\
                run move(p: stack P, v: stack V, <k: f32>) -> stack P:\n  \
                | a <| v.dx * <k>\n  | b <| a + p.x\n  \
                let <twice: f32> = <k> + <k>\n  \
                x := b\n  repeat <i: i32> from <0> up to <3>:\n    x <- step(x, <twice>)\n  \
                p with { x: if widen(v.times) > <2> then x else b }\n";
    let mut caller = Caller::default();
    let x = caller.column(&[1.0f32, 2.0, 3.0, 4.0, 5.0][..], true);
    let dx = caller.column(&[10.0f32, 20.0, 30.0, 40.0, 50.0][..], false);
    let times = caller.column(&[0u16, 3, 0, 1, 500][..], false);
    caller.stack(SSE2, 5, &[x], true);
    caller.stack(SSE2, 5, &[dx, times], false);
    caller.uniform(0.5f32.to_bits().into());
    assert_eq!(executed(text, "move", SSE2, &mut caller), Ok(()));
    // b = x + dx / 2; three steps of 1.0 where times > 2.
    assert_eq!(caller.f32s(x), [6.0, 15.0, 18.0, 24.0, 33.0]);
}

#[test]
fn a_column_is_loaded_once_and_before_any_store() {
    let text = "pack P { f32: x, y; }\nrun f(p: stack P) -> stack P:\n  \
                p with { x: p.x + p.x * p.y, y: p.y * p.x } where p.x > p.y\n";
    let printed = tined::print(&tined(text, SSE2));
    assert_eq!(printed.matches(" load ").count(), 2, "{printed}");
    assert!(printed.rfind(" load ") < printed.find(" store "), "{printed}");
}

const MASKED: &str = "\
rake tined 1
profile x86-sse2
fuse full

run f(p: address to mut stack P(x: f32), k: <f32>) {
  %0 : address = param 0                 ~~ p
  %1 : <f32> = param 1                   ~~ k
  %2 : <i64> = count %0                  ~~ count
  %3 : address = column %0, 0            ~~ p.x
  traverse %4 up to %2 by 32 {
    %5 : f32s = load f32 %3, %4          ~~ p.x
    %6 : f32s = splat %1
    %7 : mask = gt %5, %6
    %8 : f32s = sqrt %5 if %7
    %9 : f32s = store f32 %3, %4, %8 if %7 ~~ p.x
  }
}
";

#[test]
fn a_traverse_prints_as_others_expect_it() {
    let text = "pack P { f32: x; }\nrun f(p: stack P, <k: f32>) -> stack P:\n  \
                p with { x: sqrt(p.x) } where p.x > <k>\n";
    assert_eq!(tined::print(&tined(text, SSE2)), MASKED);
    let typed = typed::print(&checked(text, SSE2));
    assert!(typed.ends_with(
        "run f(p: address to mut stack P(x: f32), k: <f32>):\n  traverse p by 32:\n    \
         replace { x: sqrt(p.x) } where p.x > <k>\n"
    ));
}

fn one(text: &str) -> String {
    let errors = type_errors(text, SSE2);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.into_iter().next().unwrap_or_default()
}

#[test]
fn stack_runs_refuse_with_reasons() {
    let run = |body: &str| {
        one(&format!(
            "pack P {{ f32: x; u8: k; }}\npack Q {{ f32: z; }}\n\
             run f(s: stack P, q: stack Q, <u: f32>, v: []f32) -> stack P:\n{body}"
        ))
    };
    assert!(run("  s with { y: s.x }\n").starts_with("UndefinedName | y | the pack `P` has no field `y`"));
    assert!(run("  s with { x: s.xx }\n").contains("it has x, k"));
    assert!(run("  s with { x: s.x, x: <u> }\n").starts_with("BoundTwice | x | the field `x` is given twice"));
    assert!(run("  q with { z: s.x }\n").contains("the run gives a stack of `P`, and `q` is one of `Q`"));
    assert!(run("  v with { x: s.x }\n").contains("`v` is no stack"));
    assert!(run("  s with { x: s.x } where s.x\n").contains("the predicate of `where` is a mask, found f32s"));
    assert!(run("  s with { x: s.k }\n").contains("the column `k` is u8 and has no rack in a run over 32-bit lanes"));
    assert!(run("  s with { x: widen(s.k) }\n").contains("expected f32s for the column `x`, found u32s"));
    assert!(run("  s with { k: s.x }\n").contains("for the column `k` of u8, which keeps its low 8 bits, found f32s"));
    assert!(run("  s with { x: v[<0>] }\n").contains("a stack run reads views by racks of indices only"));
    assert!(run("  s with { x: s }\n").contains("`s` is a stack and no rack"));
    assert!(
        run("  for <i: i32> from <0> up to <4>:\n    let a = s.x\n  s with { x: s.x }\n")
            .contains("`for` stands in a general run")
    );
    assert!(run("  let a = s.x\n").contains("`f` has no result"));
}

#[test]
fn signatures_of_runs_are_checked() {
    let pack = "pack P { f32: x; }\n";
    let f = |rest: &str| one(&format!("{pack}{rest}"));
    assert!(f("run f(s: stack P):\n  s with { x: s.x }\n").contains("`f` gives a stack, and does not name its type"));
    assert!(f("run f(s: stack R) -> stack P:\n  s with { x: <1.0> }\n").contains("there is no pack `R`"));
    assert!(f("run f(s: mut stack P) -> stack P:\n  s with { x: s.x }\n").contains("not marked `mut`"));
    assert!(f("run f(s: stack P, x: f32s) -> stack P:\n  s with { x: s.x }\n").contains("a stack run does not take"));
    assert!(f("scratch f(s: stack P) -> f32s:\n  <1.0>\n").contains("a stack is a parameter of a stack run"));
    assert!(one("pack P { f32: x; bool: b; }\n").contains("a column of a pack holds numbers"));
    assert!(one("pack P { f32: x, x; }\n").contains("the pack has two fields `x`"));
}

#[test]
fn the_widest_element_decides_the_lanes() {
    let errors = |body: &str| {
        let text = format!("pack P {{ f32: x; f64: d; i32: n; u8: k; }}\nrun f(s: stack P) -> stack P:\n  {body}\n");
        type_errors(&text, SSE2)
    };
    // What is not touched does not count.
    assert_eq!(errors("s with { x: s.x + <1.0> }"), [] as [&str; 0]);
    let wide = errors("s with { x: s.x + <1.0>, d: s.d }");
    let named = "the column `x` is f32 and has no rack in a run over 64-bit lanes";
    assert!(wide.iter().any(|error| error.contains(named)), "{wide:?}");
    assert!(wide.iter().any(|error| error.contains("racks of 64-bit elements are not available yet")), "{wide:?}");
    // A compaction writes every column.
    let moved = errors("compact s where s.x > <0.0>");
    assert!(moved.iter().any(|error| error.contains(named)), "{moved:?}");
    let widened = errors("s with { n: widen(s.n) }");
    assert!(widened.iter().any(|error| error.contains("racks of 64-bit elements")), "{widened:?}");
    // Nor does one that is moved only.
    let by_flag = "pack P { f32: x; f64: d; }\nrun f(s: stack P, <b: bool>) -> stack P:\n  compact s where <b>\n";
    assert!(one(by_flag).contains(named));
    let narrow = "pack P { u8: k; }\nrun f(s: stack P, <b: bool>) -> stack P:\n  compact s where <b>\n";
    assert!(one(narrow).contains("compaction in 8-bit lanes is not available yet"));
    let byte = errors("s with { k: s.k }");
    assert!(byte.is_empty(), "{byte:?}");
}

#[test]
fn lanes_neither_move_nor_fold_in_a_stack_run() {
    let errors = |value: &str| {
        let text = format!(
            "pack P {{ f32: x; }}\nscratch total(x: f32s) -> f32s:\n  let <t: f32> = sum(x)\n  x + <t>\n\
             run f(s: stack P) -> stack P:\n  s with {{ x: {value} }}\n"
        );
        let program = crate::frontend_testing::lowered(&text, SSE2);
        assert_eq!(desugared::check(&program), Ok(()));
        let faults = crate::resolve_tines::run(&program).expect_err("refused");
        faults.iter().map(|fault| fault.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(errors("total(s.x)"), ["`sum` cannot stand in a stack run"]);
    assert_eq!(errors("scan_sum(s.x)"), ["`scan_sum` cannot stand in a stack run"]);
    assert_eq!(errors("shuffle(s.x, [3, 2, 1, 0])"), ["`shuffle` cannot stand in a stack run"]);
}

const SUMS: &str = "\
run running_sum(x: []f32, out: mut []f32, <n: i32>):
  total := <0.0>
  for <i: i32> from <0> up to <n> by <lanes>:
    total <- total + x[<i> up to <n>]
    out[<i> up to <n>] <- total
    if <n> > <3>:
      out[<i> up to <i> + <1>] <- total * <x[i]>
";

#[test]
fn a_general_run_goes_round_and_chooses() {
    for profile in PROFILES {
        let lanes = profile.lanes(rake_ir::types::Elem::F32);
        for n in 0..2 * lanes + 3 {
            let x: Vec<f32> = (0..n).map(|at| at as f32 + 1.0).collect();
            let mut caller = Caller::default();
            caller.view(&x[..], false);
            let out = caller.view(&vec![-1.0f32; n][..], true);
            caller.uniform(n as u64);
            assert_eq!(executed(SUMS, "running_sum", profile, &mut caller), Ok(()), "{n}");
            let mut totals = vec![0.0f32; lanes];
            let mut right = Vec::new();
            for at in 0..n {
                totals[at % lanes] += x[at];
                let total = totals[at % lanes];
                right.push(if n > 3 && at % lanes == 0 { total * x[at] } else { total });
            }
            assert_eq!(caller.f32s(out), right, "{n}");
        }
    }
}

#[test]
fn accesses_stop_before_they_touch_memory() {
    let text = "run copy(x: []i32, out: mut []i32, <first: i32>, <n: i32>):\n  \
                for <i: i32> from <first> up to <n> by <4>:\n    out[<i>] <- x[<i> + <1>]\n\
                run here(x: []i32, out: mut []i32, <k: i32>, <n: i32>):\n  \
                for <i: i32> from <0> up to <n> by <4>:\n    if <i> > <k>:\n      out[<i>] <- x[<i>]\n    else:\n      \
                out[<i>] <- <-7>\n\
                run free(x: []i32, out: mut []i32, <k: i32>, <n: i32>):\n  \
                out[<0>] <- x[unchecked <k>] + <x[n-1]>\n";
    let call = |name: &str, (x, out): (usize, usize), (a, b): (i32, i32)| {
        let mut caller = Caller::default();
        let elements: Vec<i32> = (0..x as i32).collect();
        caller.view(&elements[..], false);
        let out = caller.view(&vec![-1i32; out][..], true);
        caller.uniform(a as u32 as u64);
        caller.uniform(b as u32 as u64);
        let done = executed(text, name, SSE2, &mut caller);
        (done, caller.i32s(out))
    };
    let trap = Err(EvalError::Trap(TrapReason::Bounds));
    assert_eq!(call("copy", (9, 8), (0, 8)), (Ok(()), vec![1, 2, 3, 4, 5, 6, 7, 8]));
    // The last trip is out of bounds: nothing is written by the first.
    assert_eq!(call("copy", (8, 8), (0, 8)), (trap.clone(), vec![-1; 8]));
    assert_eq!(call("copy", (9, 7), (0, 8)), (trap.clone(), vec![-1; 7]));
    assert_eq!(call("copy", (9, 8), (-4, 8)), (trap.clone(), vec![-1; 8]));
    // No trip, no check.
    assert_eq!(call("copy", (0, 0), (8, 8)), (Ok(()), vec![]));
    assert_eq!(call("copy", (0, 0), (9, 8)), (Ok(()), vec![]));
    // Under `if` the first trip is done before the second stops.
    assert_eq!(call("here", (7, 8), (0, 8)), (trap.clone(), vec![-7, -7, -7, -7, -1, -1, -1, -1]));
    assert_eq!(call("here", (8, 8), (0, 8)), (Ok(()), vec![-7, -7, -7, -7, 4, 5, 6, 7]));
    assert_eq!(call("free", (8, 4), (4, 3)), (Ok(()), vec![6, 7, 8, 9]));
    assert_eq!(call("free", (8, 4), (4, 9)), (trap.clone(), vec![-1; 4]));
    assert_eq!(call("free", (8, 4), (4, 0)).0, trap);
    assert!(matches!(call("free", (8, 4), (6, 1)).0, Err(EvalError::Memory(_))));
}

#[test]
fn the_last_trip_of_any_step_is_the_right_one() {
    for step in [1, 2, 3, 4, 5, 7, 8, 12, 100] {
        let text = format!(
            "run mark(out: mut []i32, <first: i32>, <n: i32>):\n  \
             for <i: i32> from <first> up to <n> by <{step}>:\n    out[<i> up to <i> + <1>] <- <i>\n\
             run last(x: []i32, out: mut []i32, <first: i32>, <n: i32>):\n  \
             for <i: i32> from <first> up to <n> by <{step}>:\n    \
             out[unchecked <i> up to <i> + <1>] <- <x[i]>\n"
        );
        for (from, n) in [(0, 0), (0, 1), (1, 14), (3, 40), (2, 30), (0, 39)] {
            let trips: Vec<i32> = (from..n).step_by(step as usize).collect();
            let most = trips.last().map_or(0, |last| last + 1);
            for count in [most, most - 1] {
                if count < 0 {
                    continue;
                }
                let mut caller = Caller::default();
                let elements: Vec<i32> = (0..count).collect();
                caller.view(&elements[..], false);
                let out = caller.view(&vec![-1i32; 40][..], true);
                caller.uniform(from as u64);
                caller.uniform(n as u64);
                let done = executed(&text, "last", SSE2, &mut caller);
                let fits = trips.is_empty() || count == most;
                assert_eq!(done.is_ok(), fits, "{step} {from} {n} {count}");
                let right: Vec<i32> = (0..40).map(|at| if fits && trips.contains(&at) { at } else { -1 }).collect();
                assert_eq!(caller.i32s(out), right);
            }
        }
    }
}

#[test]
fn a_step_that_is_not_above_zero_stops() {
    let text = "run f(out: mut []i32, <n: i32>, <s: i32>):\n  for <i: i32> from <0> up to <n> by <s>:\n    \
                out[<i>] <- <i>\n";
    for (n, step, right) in [
        (8, 4, Ok(())),
        (8, 0, Err(EvalError::Trap(TrapReason::Step))),
        (0, -1, Err(EvalError::Trap(TrapReason::Step))),
        (4, i32::MAX, Ok(())),
        (8, 3, Err(EvalError::Trap(TrapReason::Bounds))),
    ] {
        let mut caller = Caller::default();
        caller.view(&[0i32; 8][..], true);
        caller.uniform(n);
        caller.uniform(step as u32 as u64);
        assert_eq!(executed(text, "f", SSE2, &mut caller), right, "{n} by {step}");
    }
}

#[test]
fn a_loop_ends_at_the_greatest_bound() {
    let text = "run f(out: mut []i32, <first: i32>):\n  count := <0>\n  \
                for <i: i32> from <first> up to <2147483647> by <3>:\n    count <- count + <1>\n  out[<0>] <- count\n";
    let mut caller = Caller::default();
    let out = caller.view(&[0i32; 4][..], true);
    caller.uniform((i32::MAX - 7) as u64);
    assert_eq!(executed(text, "f", SSE2, &mut caller), Ok(()));
    assert_eq!(caller.i32s(out), [3, 3, 3, 3]);
}

#[test]
fn locations_and_arrays_live_across_loops() {
    let text = "run f(x: []i32, out: mut []i32, <n: i32>, <flag: bool>):\n  \
                acc: [2]i32s := <0>\n  last := <-1>\n  \
                for <i: i32> from <0> up to <n> by <4>:\n    \
                acc[<1>] <- acc[<1>] + x[<i>]\n    \
                for <j: i32> from <0> up to <2>:\n      acc[<0>] <- acc[<0>] + acc[<1>] + <j>\n    \
                if <flag>:\n      last <- x[<i>]\n    else if <i> > <0>:\n      last <- last + <1>\n  \
                out[<0>] <- acc[<0>]\n  out[<4>] <- acc[<1>]\n  out[<8>] <- last\n  \
                let <total: i32> = sum(acc[<1>])\n  out[<12> up to <13>] <- <total>\n";
    let call = |n: usize, flag: bool| {
        let mut caller = Caller::default();
        let x: Vec<i32> = (1..=n as i32).collect();
        caller.view(&x[..], false);
        let out = caller.view(&[0i32; 13][..], true);
        caller.uniform(n as u64);
        caller.uniform(flag.into());
        assert_eq!(executed(text, "f", SSE2, &mut caller), Ok(()));
        caller.i32s(out)
    };
    assert_eq!(call(0, true), [0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, 0]);
    // One trip: acc1 = x, acc0 = 2x + 1. Two: acc1 = x + y, acc0 = 4x + 2y + 2.
    assert_eq!(call(8, true), [16, 22, 28, 34, 6, 8, 10, 12, 5, 6, 7, 8, 36]);
    assert_eq!(call(8, false)[8..], [0, 0, 0, 0, 36]);
}

#[test]
fn gathers_check_active_lanes_only() {
    let text = "pack P { i32: at; f32: x; }\n\
                run look(p: stack P, table: []f32) -> stack P:\n  p with { x: table[p.at] } where p.at != <99>\n\
                run all(p: stack P, table: []f32) -> stack P:\n  let t = table[p.at]\n  p with { x: t + <table[0]> }\n";
    let call = |name: &str, at: &[i32]| {
        let mut caller = Caller::default();
        let (index, x) = (caller.column(at, true), caller.column(&vec![-1.0f32; at.len()][..], true));
        caller.stack(SSE2, at.len(), &[index, x], true);
        caller.view(&[10.0f32, 11.0, 12.0, 13.0, 14.0, 15.0][..], false);
        let done = executed(text, name, SSE2, &mut caller);
        (done, caller.f32s(x))
    };
    let trap = Err(EvalError::Trap(TrapReason::Bounds));
    assert_eq!(call("look", &[5, 0]), (Ok(()), vec![15.0, 10.0]));
    assert_eq!(call("look", &[5, 99, 3, 99, 99, 1]), (Ok(()), vec![15.0, -1.0, 13.0, -1.0, -1.0, 11.0]));
    assert_eq!(call("look", &[5, 0, 1_000_000_000, 1]), (trap.clone(), vec![-1.0; 4]));
    assert_eq!(call("look", &[5, -1, 2, 1]), (trap.clone(), vec![-1.0; 4]));
    assert_eq!(call("all", &[1, 2, 3, 4, 5]), (Ok(()), vec![21.0, 22.0, 23.0, 24.0, 25.0]));
    assert_eq!(call("all", &[1, 2, 3, 4, 6]), (trap, vec![21.0, 22.0, 23.0, 24.0, -1.0]));
    assert_eq!(call("all", &[]), (Ok(()), vec![]));
}

#[test]
fn scatters_need_avx512_and_elements_of_their_own() {
    let text = "run f(at: []i32, out: mut []i32):\n  out[at[<0>]] <- @ + <100>\n";
    let refused = type_errors(text, SSE2);
    assert!(refused[0].contains("a scatter cannot be compiled on x86-sse2"), "{refused:?}");
    let call = |at: [i32; 16]| {
        let mut caller = Caller::default();
        caller.view(&at[..], false);
        let out = caller.view(&[-1i32; 20][..], true);
        (executed(text, "f", Profile::X86Avx512, &mut caller), caller.i32s(out))
    };
    let mut at: [i32; 16] = std::array::from_fn(|lane| 19 - lane as i32);
    let right: Vec<i32> = (0..20).map(|k| if k < 4 { -1 } else { 100 + 19 - k }).collect();
    assert_eq!(call(at), (Ok(()), right));
    at[9] = at[2];
    assert_eq!(call(at), (Err(EvalError::Trap(TrapReason::Conflict)), vec![-1; 20]));
    at[9] = 20;
    assert_eq!(call(at), (Err(EvalError::Trap(TrapReason::Bounds)), vec![-1; 20]));
}

#[test]
fn long_repeats_of_runs_stay_loops() {
    let text = "run f(x: []i32, out: mut []i32):\n  total := <0>\n  \
                repeat <i: i32> from <0> up to <5000>:\n    let a = x[<i>]\n    total <- total + a\n  \
                out[<0>] <- total\n";
    let printed = tined::print(&tined(text, SSE2));
    assert_eq!(printed.matches(" load ").count(), 1, "{printed}");
    let mut caller = Caller::default();
    let x: Vec<i32> = (0..5003).collect();
    caller.view(&x[..], false);
    let out = caller.view(&[0i32; 4][..], true);
    assert_eq!(executed(text, "f", SSE2, &mut caller), Ok(()));
    let sum = |lane: i32| (0..5000).map(|i| i + lane).sum::<i32>();
    assert_eq!(caller.i32s(out), [sum(0), sum(1), sum(2), sum(3)]);
    let array = "run f(out: mut []i32):\n  acc: [4096]i32s := <0>\n  \
                 repeat <i: i32> from <0> up to <4096>:\n    acc[<i>] <- <1>\n    acc[<i>] <- <2>\n  out[<0>] <- acc[<0>]\n";
    assert!(one(array).contains("must be known when compiled, and `i` is not"));
}

#[test]
fn repeats_in_loops_are_checked_at_the_loop_s_entry() {
    let text = "run f(x: []i32, out: mut []i32, <n: i32>):\n  for <i: i32> from <0> up to <n> by <4>:\n    \
                total := <0>\n    repeat <k: i32> from <0> up to <3>:\n      total <- total + x[<i> + <2> * <k>]\n    \
                out[<i>] <- total\n";
    let call = |count: i32| {
        let mut caller = Caller::default();
        let x: Vec<i32> = (0..count).collect();
        caller.view(&x[..], false);
        let out = caller.view(&[-1i32; 8][..], true);
        caller.uniform(8);
        (executed(text, "f", SSE2, &mut caller), caller.i32s(out))
    };
    assert_eq!(call(12), (Ok(()), (0..8).map(|i| 3 * i + 6).collect()));
    assert_eq!(call(11), (Err(EvalError::Trap(TrapReason::Bounds)), vec![-1; 8]));
}

#[test]
fn general_runs_refuse_with_reasons() {
    let run = |body: &str| one(&format!("run f(x: []f32, out: mut []f32, <n: i32>, m: mask):\n{body}"));
    assert!(run("  x[<0>] <- <1.0>\n").contains("the run does not write `x`"));
    assert!(
        run("  out[<0>] <- if m then x[<0>] else <0.0>\n").contains("a branch of a conditional cannot read memory")
    );
    assert!(run("  | a <| x[<0>] + <1.0>\n").contains("`a` cannot be fused: it touches memory"));
    assert!(run("  if m:\n    out[<0>] <- <1.0>\n").contains("asks for a uniform truth, found mask"));
    assert!(run("  for <i: i32> from <0> up to <n> by <0>:\n    out[<i>] <- <1.0>\n").contains("above zero"));
    assert!(run("  out[<n> * <n> * <n>] <- <1.0>\n").contains("64 bits may not hold this index exactly"));
    assert!(run("  out[x[<0>]] <- <1.0>\n").contains("an index is a uniform integer or a rack"));
    assert!(run("  let a = x + <1.0>\n").contains("`x` is a view and no rack"));
    assert!(run("  while <n> > <0>:\n    out[<0>] <- <1.0>\n").contains("vector code has no `while`"));
    assert!(one("run f(x: []f32) -> f32s:\n  let a = x[<0>]\n").contains("a run gives a stack or nothing"));
}
