use crate::frontend_testing::resolve_errors;

fn one(text: &str) -> String {
    let errors = resolve_errors(text);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.into_iter().next().unwrap_or_default()
}

#[test]
fn sound_names_pass() {
    let text = "\
const half: f32 = 0.5
scratch f(x: f32s, <k: f32>) -> f32s:
  | a <| x * <k>
  | b <| a + half
  acc: f32s := b
  repeat <i: i32> from <0> up to <2>:
    let t = acc * x
    acc <- t
  repeat <i: i32> from <0> up to <2>:
    let t = acc + x
    acc <- t
  g(acc)
scratch g(x: f32s) -> f32s:
  sqrt(x)
";
    assert_eq!(resolve_errors(text), Vec::<String>::new());
}

#[test]
fn names_are_bound_once_and_shadow_nothing() {
    let twice = one("scratch f(x: f32s) -> f32s:\n  let y = x\n  let y = x\n  y\n");
    assert!(twice.starts_with("BoundTwice | y | `y` is bound twice"), "{twice}");
    let param = one("scratch f(x: f32s) -> f32s:\n  | x <| x * x\n  x\n");
    assert!(param.starts_with("BoundTwice | x |"), "{param}");
    let inner = one("scratch f(x: f32s) -> f32s:\n  repeat <i: i32> from <0> up to <2>:\n    let x = @\n  x\n");
    assert!(inner.starts_with("Shadowed | x |"), "{inner}");
    let definition = one("scratch g(x: f32s) -> f32s:\n  x\nscratch f(g: f32s) -> f32s:\n  g\n");
    assert!(definition.starts_with("Shadowed | g | `g` hides a scratch"), "{definition}");
    let definitions = one("scratch g(x: f32s) -> f32s:\n  x\nscratch g(y: f32s) -> f32s:\n  y\n");
    assert!(definitions.starts_with("BoundTwice | g | `g` is defined twice"), "{definitions}");
}

#[test]
fn undefined_names_get_the_nearest_spelling() {
    let name = one("scratch f(velocity: f32s) -> f32s:\n  velocty\n");
    assert_eq!(name, "UndefinedName | velocty | nothing here is named `velocty` | did you mean `velocity`?");
    let call = one("scratch f(x: f32s) -> f32s:\n  sqtr(x)\n");
    assert_eq!(call, "UndefinedName | sqtr | there is no operation or definition `sqtr` | did you mean `sqrt`?");
    let far = one("scratch f(x: f32s) -> f32s:\n  nonsense\n");
    assert!(far.ends_with("| -"), "{far}");
    let later = one("scratch f(x: f32s) -> f32s:\n  let a = bb\n  let bb = x\n  a\n");
    assert!(later.starts_with("UndefinedName | bb |"), "{later}");
}

#[test]
fn definitions_are_not_values_and_values_are_not_called() {
    let value = one("scratch g(x: f32s) -> f32s:\n  x\nscratch f(x: f32s) -> f32s:\n  x + g\n");
    assert_eq!(value, "WrongKind | g | `g` is a scratch and not a value | call it: `g(...)`");
    let call = one("scratch f(x: f32s) -> f32s:\n  x(x)\n");
    assert!(call.starts_with("WrongKind | x | `x` is a value and cannot be called"), "{call}");
}

#[test]
fn recursion_is_refused_with_its_cycle() {
    let direct = one("scratch f(x: f32s) -> f32s:\n  f(x)\n");
    assert!(direct.starts_with("Recursion | f | `f` is recursive"), "{direct}");
    let mutual = one("scratch f(x: f32s) -> f32s:\n  g(x)\nscratch g(x: f32s) -> f32s:\n  f(x)\n");
    assert!(mutual.starts_with("Recursion | f |"), "{mutual}");
}

#[test]
fn a_definition_named_like_an_operation_means_it_in_its_own_body() {
    assert_eq!(resolve_errors("scratch abs(x: i32s) -> i32s:\n  abs(x)\n"), Vec::<String>::new());
}

fn chain(calls: usize) -> String {
    let link = |n: usize| format!("scratch step{n}(x: f32s) -> f32s:\n  step{}(x)\n", n + 1);
    let links: String = (0..calls).map(link).collect();
    format!("{links}scratch step{calls}(x: f32s) -> f32s:\n  x\n")
}

#[test]
fn chains_of_calls_are_at_most_32_deep() {
    assert_eq!(resolve_errors(&chain(32)), Vec::<String>::new());
    let deep = one(&chain(33));
    assert!(deep.starts_with("CallsTooDeep | step1 | `step0` starts a chain"), "{deep}");
    assert_eq!(resolve_errors(&chain(1000)).len(), 1);
}

#[test]
fn a_binding_written_with_equals_is_one_error() {
    let text = one("scratch f(x: f32s) -> f32s:\n  y = x * x\n  y + y\n");
    assert!(text.starts_with("UndefinedName | y |") && text.contains("`let y = ...`"), "{text}");
}

#[test]
fn c_keywords_name_no_function() {
    let keyword = one("scratch double(x: f32s) -> f32s:\n  x + x\n");
    assert!(keyword.starts_with("CKeyword | double |"), "{keyword}");
}

#[test]
fn a_long_chain_of_terms_needs_no_stack() {
    let sum = vec!["x"; 100_000].join(" + ");
    assert_eq!(resolve_errors(&format!("scratch f(x: f32s) -> f32s:\n  {sum}\n")), Vec::<String>::new());
}
