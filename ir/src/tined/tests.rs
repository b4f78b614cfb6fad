use super::*;
use crate::types::{Elem, Ty};

const ADVANCE: &str = "\
rake tined 1
profile x86-avx2
fuse full

scratch advance(positions: f32s, velocities: f32s) -> f32s {
  %0 : f32s = param 0                    ~~ positions
  %1 : f32s = param 1                    ~~ velocities
  region {
    %2 : f32s = const 0.5
    %3 : f32s = mul %1, %2               ~~ scaled
    %4 : f32s = add %0, %3               ~~ moved
    stage scaled %3
    stage moved %4
  }
  return %4
}
";

/// A square root where x > 0, else -1, and most of the grammar.
const GUARDED: &str = "\
rake tined 1
profile x86-sse2
fuse exact

scratch guarded(x: f32s, n: <u32>) -> f32s {
  %0 : f32s = param 0
  %1 : <u32> = param 1
  %2 : f32s = const 0.0
  %3 : mask = gt %0, %2
  %4 : f32s = sqrt %0 if %3              ~~ root
  %5 : f32s = const -1.0
  %6 : f32s = if %3, %4, %5
  return %6
}

scratch region() -> u32s {
  %0 : u32s = lane_index
  %1 : u32s = shift_bits_left %0, 3
  %2 : u32s = shuffle %0, %1, [7, 0, 4, 3]
  %3 : f32s = const 0x7fc00000
  %4 : <bool> = const true
  %5 : mask = const false
  %6 : u32s = select %4, %2, %1
  return %6
}
";

fn program(body: &str) -> Program {
    let text = format!("rake tined 1\nprofile x86-sse2\nfuse full\n{body}");
    read(&text).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

/// The check's lines for a function body over parameters `x`, `y: f32s`, `m: mask`, which are %0, %1, %2.
fn faults(body: &str) -> Vec<String> {
    let text = format!(
        "scratch f(x: f32s, y: f32s, m: mask) -> f32s {{\n%0 : f32s = param 0\n%1 : f32s = param 1\n%2 : mask = param 2\n{body}\nreturn %0\n}}\n"
    );
    check(&program(&text)).err().unwrap_or_default()
}

#[test]
fn dumps_read_back() {
    for text in [ADVANCE, GUARDED] {
        let program = read(text).unwrap_or_else(|faults| panic!("{faults:#?}"));
        assert_eq!(check(&program), Ok(()));
        assert_eq!(print(&program), text);
    }
}

#[test]
fn values_are_renumbered_in_program_order() {
    let read = program("scratch f(x: f32s) -> f32s {\n%70 : f32s = param 0 ~~\n  %3:f32s=neg %70\nreturn %3\n}");
    assert!(print(&read).ends_with("{\n  %0 : f32s = param 0\n  %1 : f32s = neg %0\n  return %1\n}\n"));
}

#[test]
fn faults_name_the_place() {
    let cases = [
        ("scratch f() -> f32s {\n%0 : f32s = const 1.0\nreturn %1\n}", "%1", "`%1` is not defined before this line"),
        ("scratch f() -> f32s {\n%0 : f32s = cosnt 1.0\nreturn %0\n}", "cosnt", "expected an operation, found `cosnt`"),
        ("scratch f() -> i32s {\n%0 : i32s = const 1.5\nreturn %0\n}", "1.5", "`1.5` is no literal of `i32`"),
        ("scratch f() -> i32s {\n%0 : f32s = const 1.5\nreturn %0\n}", "i32s", "the result's type is f32s, not i32s"),
        ("scratch f() -> u9s {\n", "u9s", "expected a type, found `u9s`"),
        ("scratch f() -> f32s {\n%0 : f32s = const 1.0\n%0 : f32s = const 1.0\n", "%0", "`%0` is defined twice"),
        ("scratch f() -> f32s {\n%0 : f32s = const 1.0\n", "", "the dump ends before `return`"),
        ("rake f() -> f32s {\n", "rake", "expected `scratch`, found `rake`"),
    ];
    for (body, place, message) in cases {
        let text = format!("rake tined 1\nprofile x86-sse2\nfuse full\n{body}");
        let faults = read(&text).expect_err(body);
        let fault = &faults[0];
        assert_eq!(fault.message, message);
        let span = fault.span().expect("a place");
        assert_eq!(&text[span.range()], place, "{message}");
    }
}

#[test]
fn each_function_reports_its_first_fault() {
    let bad = "scratch f() -> f32s {\n%0 : f32s = nonsense\nreturn %9\n}\n";
    let text = format!("rake tined 1\nprofile x86-sse2\nfuse full\n{bad}{bad}");
    assert_eq!(read(&text).map_err(|faults| faults.len()), Err(2));
}

#[test]
fn the_check_finds_each_kind_of_violation() {
    assert_eq!(faults(""), Vec::<String>::new());
    let cases = [
        ("%3 : f32s = add %0, %2", "f: %3: `add` needs operands of one type"),
        ("%3 : i32s = add %0, %1", "f: %3: `add` gives f32s, not i32s"),
        ("%3 : f32s = param 3", "f: %3: `param` 3 does not exist"),
        ("%3 : f32s = param 2", "f: %3: `param` 2 is of type mask"),
        (
            "%3 : u32s = lane_index\n%4 : u32s = shift_bits_left %3, 32",
            "f: %4: `shift_bits_left` has the count 32, not below the width",
        ),
        ("%3 : f32s = shuffle %0, [0, 1, 2, 4]", "f: %3: `shuffle` picks 4 lanes, each below 4"),
        ("%3 : f32s = shuffle %0, [0, 1, 2]", "f: %3: `shuffle` picks 4 lanes, each below 4"),
        ("%3 : <f32> = extract %0, 4", "f: %3: `extract` has the lane 4"),
        ("%3 : f32s = rotate_left %0, 5", "f: %3: `rotate_left` has the lane 5"),
        ("%3 : f32s = lane_index", "f: %3: `lane_index` is a rack of integers"),
        ("%3 : f32s = neg %0 if %1", "f: %3 of type f32s is computed under a f32s, not a mask"),
        ("%3 : <f32> = sum %0 if %2", "f: %3 of type <f32> is computed under a mask, not a <bool>"),
        ("%3 : f32s = mul_add %0, %0, %0", "f: %3 is contracted outside a region"),
        (
            "%3 : f32s = neg %0 if %2\n%4 : f32s = rotate_left %3, 1",
            "f: %4: `rotate_left` reads lanes that have no value",
        ),
        ("region {\n%3 : <f32> = sum %0\nstage s %3\n}", "f: %3: `sum` cannot stand in a region"),
        ("region {\n%3 : f32s = mul_add %0, %0, %0\nstage s %3\n}", "f: %3: `mul_add` cannot stand here"),
        (
            "region {\n%3 : f32s = neg %0\n%4 : f32s = neg %3\nstage s %4\n}\n%5 : f32s = abs %3",
            "f: %5 reads %3 which is no result of its region",
        ),
    ];
    for (body, expected) in cases {
        assert!(faults(body).iter().any(|fault| fault == expected), "{body}: {:#?}", faults(body));
    }
}

#[test]
fn values_are_computed_in_order_and_once() {
    let mut program = read(ADVANCE).unwrap();
    let function = &mut program.functions[0];
    function.body.swap(1, 2);
    let faults = check(&program).unwrap_err();
    assert!(faults.iter().any(|f| f.contains("before it is computed")), "{faults:#?}");
    let mut program = read(ADVANCE).unwrap();
    let again = program.functions[0].body[0].clone();
    program.functions[0].body.push(again);
    let faults = check(&program).unwrap_err();
    assert!(faults.iter().any(|f| f.ends_with("is computed twice")), "{faults:#?}");
}

#[test]
fn racks_evaluate_lane_by_lane() {
    let program = read(ADVANCE).unwrap();
    let positions = Lanes::f32s(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -0.0]);
    let velocities = Lanes::f32s(&[2.0, 4.0, -2.0, 1.0, 0.0, 1e38, f32::INFINITY, -0.0]);
    let expected = Lanes::f32s(&[1.0, 3.0, 1.0, 3.5, 4.0, 5e37, f32::INFINITY, -0.0]);
    assert_eq!(eval(&program, "advance", &[positions.clone(), velocities]), Ok(expected));
    assert!(matches!(eval(&program, "nothing", &[]), Err(EvalError::NoFunction(_))));
    assert!(matches!(eval(&program, "advance", &[]), Err(EvalError::Arguments(_))));
    assert!(matches!(eval(&program, "advance", &[positions, Lanes::f32s(&[1.0])]), Err(EvalError::Arguments(_))));
}

#[test]
fn inactive_lanes_have_no_value() {
    let program = read(GUARDED).unwrap();
    let x = Lanes::f32s(&[4.0, -4.0, f32::NAN, 9.0]);
    let args = [x, Lanes::uniform(7)];
    assert_eq!(eval(&program, "guarded", &args), Ok(Lanes::f32s(&[2.0, -1.0, -1.0, 3.0])));
    let function = &program.functions[0];
    let run = lane::eval_function(function, program.profile, &args).unwrap();
    let root = function.order().nth(4).unwrap();
    assert_eq!(run.get(root).unwrap().show(Ty::Rack(Elem::F32)), "[2.0, _, _, 3.0]");
}

#[test]
fn reading_a_lane_without_a_value_is_named() {
    let text = GUARDED.replace("%6 : f32s = if ", "%6 : f32s = select ");
    let program = read(&text).unwrap();
    let args = [Lanes::f32s(&[4.0, 1.0, 0.0, 1.0]), Lanes::uniform(0)];
    let fault = eval(&program, "guarded", &args).unwrap_err();
    assert_eq!(fault.to_string(), "%6 (select) reads lane 2 of %4 (sqrt), which has no value there");
}

#[test]
fn a_false_side_decides_a_conjunction() {
    let program = program(
        "scratch f(x: f32s, m: mask) -> mask {\n%0 : f32s = param 0\n%1 : mask = param 1\n\
         %2 : mask = lt %0, %0 if %1\n%3 : mask = not %2 if %1\n%4 : mask = and %1, %3\nreturn %4\n}",
    );
    let args = [Lanes::f32s(&[1.0; 4]), Lanes::truths(&[true, false, true, false])];
    assert_eq!(eval(&program, "f", &args), Ok(Lanes::truths(&[true, false, true, false])));
}

#[test]
fn a_uniform_serves_every_lane() {
    let program = program(
        "scratch f(x: u32s, n: <u32>, c: <bool>) -> u32s {\n%0 : u32s = param 0\n%1 : <u32> = param 1\n%2 : <bool> = param 2\n\
         %3 : u32s = shift_bits_left %0, %1\n%4 : u32s = splat %1\n%5 : u32s = if %2, %3, %4\nreturn %5\n}",
    );
    assert_eq!(check(&program), Ok(()));
    let x = Lanes::new([1, 2, 3, 0x8000_0000]);
    let run = |n, c| eval(&program, "f", &[x.clone(), Lanes::uniform(n), Lanes::truths(&[c])]);
    assert_eq!(run(33, true), Ok(Lanes::new([2, 4, 6, 0])));
    assert_eq!(run(33, false), Ok(Lanes::new([33; 4])));
}

/// A small generator of numbers; the same numbers each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

#[test]
fn mutated_dumps_never_panic() {
    let pieces =
        ["%", "%0", "%99999999999", "{", "}", "\n", "~~", "[", "-", "<", "if", "region {", "é", "0x", "scratch", ","];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut accepted, mut rejected) = (0, 0);
    for round in 0..6000 {
        let mut text = if round % 2 == 0 { ADVANCE } else { GUARDED }.to_owned();
        for _ in 0..=random.below(3) {
            let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let from = boundaries[random.below(boundaries.len())];
            let length = random.below(6);
            let to =
                (from..text.len()).find(|&at| at >= from + length && text.is_char_boundary(at)).unwrap_or(text.len());
            let piece = pieces[random.below(pieces.len())];
            text.replace_range(from..to, if random.below(2) == 0 { "" } else { piece });
        }
        let Ok(program) = read(&text) else {
            rejected += 1;
            continue;
        };
        accepted += 1;
        let printed = print(&program);
        assert_eq!(print(&read(&printed).unwrap()), printed);
        if check(&program).is_ok() {
            for function in &program.functions {
                let args: Vec<Lanes> = function
                    .params
                    .iter()
                    .map(|p| Lanes::splat(1, crate::value::lanes_of(p.ty, program.profile)))
                    .collect();
                let _ = eval(&program, &function.name, &args);
            }
        }
    }
    assert!(accepted > 100 && rejected > 100, "{accepted} accepted, {rejected} rejected");
}
