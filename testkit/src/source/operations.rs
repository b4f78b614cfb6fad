//! Every operation over every element.

use super::{Elem, Program, both, scratch};

/// Literals of an element that a constant's encoding may get wrong: zeros of both signs, all ones, single bits, the ends
/// of the range.
pub fn literals(elem: Elem) -> &'static [&'static str] {
    match elem {
        Elem::F32 => &[
            "0.0",
            "-0.0",
            "1.0",
            "-1.0",
            "0.1",
            "3.4028235e38",
            "-3.4028235e38",
            "1e-45",
            "1.17549435e-38",
            "4194304.5",
        ],
        Elem::I32 => &["0", "-1", "1", "-2147483648", "2147483647", "65536", "-2", "255"],
        Elem::U32 => &["0", "1", "4294967295", "2147483648", "2147483647", "4294967294", "255"],
    }
}

/// One function for each operation of the vocabulary on each element, and for each literal that it may take: what the
/// matrix of special values is run over. `lanes` is the profile's count of 32-bit lanes.
pub fn vocabulary(lanes: usize) -> Vec<Program> {
    let mut programs = Vec::new();
    for elem in Elem::ALL {
        let name = elem.name();
        let (mut out, rack) = (String::new(), elem.rack());
        let (one, two) = (format!("a: {rack}"), format!("a: {rack}, b: {rack}"));
        for (op, expression) in unary(elem) {
            scratch(&mut out, op, &one, rack, &[expression]);
        }
        for (op, expression) in binary(elem) {
            scratch(&mut out, op, &two, rack, &[expression]);
        }
        for (op, sign) in COMPARISONS {
            scratch(&mut out, op, &two, "mask", &[&format!("a {sign} b")]);
        }
        let choice = format!("m: mask, {two}");
        scratch(&mut out, "pick", &choice, rack, &["select(m, a, b)"]);
        scratch(&mut out, "branch", &choice, rack, &["if m then a else b"]);
        programs.push(Program::new(format!("vocabulary {name}"), out));
        programs.push(Program::new(format!("conversions {name}"), conversions(elem)));
        programs.push(Program::new(format!("lane moves {name}"), lane_moves(elem, lanes)));
        programs.push(Program::new(format!("folds {name}"), folds(elem)));
        if elem != Elem::F32 {
            programs.push(Program::new(format!("shifts {name}"), shifts(elem)));
        }
    }
    let mut fused = String::new();
    scratch(&mut fused, "plain", "a: f32s, b: f32s, c: f32s", "f32s", &["fma(a, b, c)"]);
    programs.push(Program::new("vocabulary fma", fused));
    programs.push(Program::new("vocabulary masks", masks()));
    programs.push(Program::new("words of masks", words_of_masks()));
    programs.push(Program::new("narrow lanes", narrow_lanes()));
    programs
}

const COMPARISONS: [(&str, &str); 6] =
    [("eq", "="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")];

fn unary(elem: Elem) -> Vec<(&'static str, &'static str)> {
    let mut unary = Vec::new();
    if elem != Elem::U32 {
        unary.extend([("negate", "-a"), ("magnitude", "abs(a)")]);
    }
    if elem == Elem::F32 {
        unary.extend([
            ("root", "sqrt(a)"),
            ("down", "floor(a)"),
            ("upward", "ceil(a)"),
            ("toward_zero", "trunc(a)"),
            ("to_nearest", "nearest(a)"),
            ("exponential", "exp(a)"),
            ("logarithm", "log(a)"),
            ("binary_logarithm", "log2(a)"),
            ("tangent", "tanh(a)"),
        ]);
    } else {
        unary.push(("lane_numbers", "a + @"));
    }
    unary
}

fn binary(elem: Elem) -> Vec<(&'static str, &'static str)> {
    let mut binary = vec![
        ("add", "a + b"),
        ("subtract", "a - b"),
        ("multiply", "a * b"),
        ("least", "min(a, b)"),
        ("most", "max(a, b)"),
    ];
    if elem == Elem::F32 {
        binary.push(("divide", "a / b"));
    } else {
        binary.extend([
            ("bits_and", "bit_and(a, b)"),
            ("bits_or", "bit_or(a, b)"),
            ("bits_xor", "bit_xor(a, b)"),
            ("bits_andnot", "bit_andnot(a, b)"),
        ]);
    }
    binary
}

/// To and from the other elements, of racks and of uniforms.
fn conversions(elem: Elem) -> String {
    let (mut out, rack, scalar) = (String::new(), elem.rack(), elem.name());
    let targets: &[(&str, &str, &str)] = match elem {
        Elem::F32 => &[("to_i32", "i32s", "i32"), ("to_u32", "u32s", "u32")],
        _ => &[("to_f32", "f32s", "f32")],
    };
    for (op, to, one) in targets {
        both(&mut out, &format!("{op}_rack"), &format!("a: {rack}"), to, &format!("{op}(a)"));
        scratch(&mut out, &format!("{op}_one"), &format!("<k: {scalar}>"), one, &[&format!("{op}(<k>)")]);
    }
    for other in Elem::ALL {
        let (to, one) = (other.rack(), other.name());
        scratch(&mut out, &format!("bits_as_{one}"), &format!("a: {rack}"), to, &[&format!("bitcast({to}, a)")]);
        let cast = format!("bitcast({one}, <k>)");
        scratch(&mut out, &format!("bits_of_one_as_{one}"), &format!("<k: {scalar}>"), one, &[&cast]);
    }
    out
}

/// Lanes that a shuffle picks: where each result lane comes from, by name.
fn pictures(lanes: usize) -> Vec<(&'static str, Vec<usize>)> {
    let picture = |pick: &dyn Fn(usize) -> usize| (0..lanes).map(pick).collect::<Vec<_>>();
    vec![
        ("reversed", picture(&|k| lanes - 1 - k)),
        ("halves_swapped", picture(&|k| (k + lanes / 2) % lanes)),
        ("pairs_swapped", picture(&|k| (k ^ 1) % lanes)),
        ("first_everywhere", picture(&|_| 0)),
        ("last_everywhere", picture(&|_| lanes - 1)),
        ("scattered", picture(&|k| (k * 7 + 3) % lanes)),
        ("twice_each", picture(&|k| k / 2)),
    ]
}

fn two_rack_pictures(lanes: usize) -> Vec<(&'static str, Vec<usize>)> {
    let picture = |pick: &dyn Fn(usize) -> usize| (0..lanes).map(pick).collect::<Vec<_>>();
    vec![
        ("blended", picture(&|k| k + lanes * (k % 2))),
        ("interleaved", picture(&|k| k / 2 + lanes * (k % 2))),
        ("joined", picture(&|k| k + lanes / 2)),
        ("crossed", picture(&|k| (k * 5 + 2) % (2 * lanes))),
        ("second_reversed", picture(&|k| 2 * lanes - 1 - k)),
        ("one_from_second", picture(&|k| if k == 2 { lanes + 1 } else { k })),
    ]
}

fn lane_moves(elem: Elem, lanes: usize) -> String {
    let (mut out, rack, scalar) = (String::new(), elem.rack(), elem.name());
    let (one, two) = (format!("a: {rack}"), format!("a: {rack}, b: {rack}"));
    for (name, picks) in pictures(lanes) {
        both(&mut out, name, &one, rack, &format!("shuffle(a, {picks:?})"));
    }
    for (name, picks) in two_rack_pictures(lanes) {
        both(&mut out, name, &two, rack, &format!("shuffle(a, b, {picks:?})"));
    }
    for op in ["zip_low", "zip_high", "unzip_even", "unzip_odd"] {
        both(&mut out, &format!("{op}s"), &two, rack, &format!("{op}(a, b)"));
    }
    for n in 0..lanes {
        for op in ["shift_left", "shift_right", "rotate_left", "rotate_right"] {
            scratch(&mut out, &format!("{op}_{n}"), &one, rack, &[&format!("{op}(a, {n})")]);
        }
        let bind = format!("let <k: {scalar}> = extract(a, {n})");
        scratch(&mut out, &format!("extract_{n}"), &one, scalar, &[&bind, "<k>"]);
        scratch(&mut out, &format!("spread_{n}"), &one, rack, &[&bind, "<k>"]);
        let params = format!("{one}, <k: {scalar}>");
        scratch(&mut out, &format!("insert_{n}"), &params, rack, &[&format!("insert(a, {n}, <k>)")]);
    }
    out
}

/// Reductions, left to the caller and spread over a rack, and scans.
fn folds(elem: Elem) -> String {
    let (mut out, rack, scalar) = (String::new(), elem.rack(), elem.name());
    let one = format!("a: {rack}");
    for op in ["sum", "product", "minimum", "maximum"] {
        let bind = format!("let <k: {scalar}> = {op}(a)");
        scratch(&mut out, &format!("{op}_of"), &one, scalar, &[&bind, "<k>"]);
        scratch(&mut out, &format!("{op}_spread"), &one, rack, &[&bind, "<k>"]);
        scratch(&mut out, &format!("scan_{op}_of"), &one, rack, &[&format!("scan_{op}(a)")]);
    }
    let params = format!("m: mask, a: {rack}, b: {rack}");
    scratch(&mut out, "compressed", &params, rack, &["compress(m, a)"]);
    scratch(&mut out, "expanded", &params, rack, &["expand(m, a, b)"]);
    out
}

fn words_of_masks() -> String {
    let mut out = String::new();
    let params = "m: mask, a: f32s, b: f32s";
    for (op, scalar) in [("bitmask", "u32"), ("all", "bool"), ("any", "bool")] {
        let bind = format!("let <k: {scalar}> = {op}(m)");
        scratch(&mut out, &format!("{op}_of"), "m: mask", scalar, &[&bind, "<k>"]);
        let compared = format!("let <k: {scalar}> = {op}(a < b)");
        scratch(&mut out, &format!("{op}_compared"), "a: f32s, b: f32s", scalar, &[&compared, "<k>"]);
        let (rack, value) = if scalar == "u32" { ("u32s", "<k>") } else { ("f32s", "if <k> then a else b") };
        scratch(&mut out, &format!("{op}_spread"), params, rack, &[&bind, value]);
    }
    out
}

fn narrow_lanes() -> String {
    let mut out = String::new();
    scratch(&mut out, "pairs", "a: i16s, b: i16s", "i32s", &["dot(a, b)"]);
    scratch(&mut out, "halved", "a: i32s, b: i32s", "i16s", &["narrow(a, b)"]);
    scratch(&mut out, "low", "a: u8s", "i16s", &["widen_low(a)"]);
    scratch(&mut out, "high", "a: u8s", "i16s", &["widen_high(a)"]);
    scratch(&mut out, "bytes_of", "a: i32s", "u8s", &["bitcast(u8s, a)"]);
    scratch(&mut out, "words_of", "a: i16s", "f32s", &["bitcast(f32s, a)"]);
    both(&mut out, "weighed", "a: u8s, b: i16s", "i32s", "dot(widen_low(a), b)");
    out
}

/// All programs, one for each subject.
pub fn all() -> Vec<Program> {
    let mut programs = Vec::new();
    for elem in Elem::ALL {
        let name = elem.name();
        programs.push(Program::new(format!("arithmetic {name}"), arithmetic(elem)));
        programs.push(Program::new(format!("comparisons {name}"), comparisons(elem)));
        programs.push(Program::new(format!("choices {name}"), choices(elem)));
        programs.push(Program::new(format!("constants {name}"), constants(elem)));
        programs.push(Program::new(format!("uniforms {name}"), uniforms(elem)));
        programs.push(Program::new(format!("boundary {name}"), boundary(elem)));
        if elem != Elem::F32 {
            programs.push(Program::new(format!("bits {name}"), bits(elem)));
            programs.push(Program::new(format!("shifts {name}"), shifts(elem)));
        }
    }
    programs.push(Program::new("fma", fma()));
    programs.push(Program::new("masks", masks()));
    programs.push(Program::new("mixed parameters", mixed_parameters()));
    programs
}

fn arithmetic(elem: Elem) -> String {
    let (mut out, rack) = (String::new(), elem.rack());
    let (one, two) = (format!("a: {rack}"), format!("a: {rack}, b: {rack}"));
    let mut binary = vec![("add", "a + b"), ("sub", "a - b"), ("mul", "a * b"), ("rsub", "b - a")];
    let mut unary = vec![("doubled", "a + a"), ("square", "a * a"), ("nothing", "a - a")];
    if elem == Elem::F32 {
        binary.extend([("div", "a / b"), ("rdiv", "b / a")]);
        unary.extend([("root", "sqrt(a)"), ("one", "a / a")]);
    }
    if elem != Elem::U32 {
        unary.extend([("neg", "-a"), ("magnitude", "abs(a)"), ("negabs", "-abs(a)"), ("negneg", "-(-a)")]);
    }
    for (name, expression) in unary {
        both(&mut out, name, &one, rack, expression);
    }
    for (name, expression) in binary {
        both(&mut out, name, &two, rack, expression);
    }
    out
}

fn comparisons(elem: Elem) -> String {
    let (mut out, rack, scalar) = (String::new(), elem.rack(), elem.name());
    for (name, sign) in [("eq", "="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")] {
        let two = format!("a: {rack}, b: {rack}");
        both(&mut out, name, &two, "mask", &format!("a {sign} b"));
        both(&mut out, &format!("{name}_not"), &two, "mask", &format!("not (a {sign} b)"));
        both(&mut out, &format!("{name}_pick"), &two, rack, &format!("select(a {sign} b, a, b)"));
        both(&mut out, &format!("{name}_if"), &two, rack, &format!("if a {sign} b then b else a"));
        let marked = format!("a: {rack}, <t: {scalar}>");
        both(&mut out, &format!("{name}_right"), &marked, "mask", &format!("a {sign} <t>"));
        both(&mut out, &format!("{name}_left"), &marked, "mask", &format!("<t> {sign} a"));
        let uniforms = format!("<a: {scalar}>, <b: {scalar}>");
        scratch(&mut out, &format!("{name}_bool"), &uniforms, "bool", &[&format!("<a> {sign} <b>")]);
        let three = format!("x: {rack}, y: {rack}, <a: {scalar}>, <b: {scalar}>");
        both(&mut out, &format!("{name}_branch"), &three, rack, &format!("if <a> {sign} <b> then x else y"));
    }
    out
}

fn choices(elem: Elem) -> String {
    let (mut out, rack) = (String::new(), elem.rack());
    let literal = literals(elem)[2];
    let params = format!("m: mask, a: {rack}, b: {rack}");
    for (name, expression) in [
        ("pick", "select(m, a, b)"),
        ("pick_other", "select(not m, a, b)"),
        ("branch", "if m then a else b"),
        ("branch_sum", "if m then a + b else a - b"),
        ("branch_nested", "if m then (if a < b then a * b else a) else (if a < b then b else a + a)"),
        ("pick_same", "select(m, a, a)"),
        ("chain", "if a < b then a else if m then b else a + b"),
    ] {
        both(&mut out, name, &params, rack, expression);
    }
    both(&mut out, "pick_literal", &params, rack, &format!("select(m, a, {literal})"));
    both(&mut out, "literal_pick", &params, rack, &format!("select(m, {literal}, b)"));
    both(&mut out, "pick_zero", &params, rack, &format!("select(m, a, {})", literals(elem)[0]));
    let params = format!("a: {rack}, b: {rack}, <c: bool>, <d: bool>");
    for (name, expression) in [
        ("flag", "if <c> then a else b"),
        ("flag_sum", "if <c> then a + b else a - b"),
        ("flag_both", "if <c> and not <d> then a else b"),
        ("flag_either", "if <c> or <d> then a * b else b"),
        ("flag_true", "if <true> then a else b"),
        ("flag_false", "if <false> then a else b"),
        ("flag_mask", "select((a < b) and <c>, a, b)"),
    ] {
        both(&mut out, name, &params, rack, expression);
    }
    out
}

fn constants(elem: Elem) -> String {
    let (mut out, rack, scalar) = (String::new(), elem.rack(), elem.name());
    let one = format!("a: {rack}");
    for (index, literal) in literals(elem).iter().enumerate() {
        both(&mut out, &format!("plus{index}"), &one, rack, &format!("a + {literal}"));
        both(&mut out, &format!("times{index}"), &one, rack, &format!("<{literal}> * a"));
        both(&mut out, &format!("minus{index}"), &one, rack, &format!("a - <{literal}>"));
        both(&mut out, &format!("from{index}"), &one, rack, &format!("{literal} - a"));
        scratch(&mut out, &format!("below{index}"), &one, "mask", &[&format!("a < {literal}")]);
        scratch(&mut out, &format!("constant{index}"), "", rack, &[&format!("<{literal}>")]);
        scratch(&mut out, &format!("scalar{index}"), "", scalar, &[&format!("<{literal}>")]);
        if elem == Elem::F32 {
            both(&mut out, &format!("over{index}"), &one, rack, &format!("a / {literal}"));
        } else {
            both(&mut out, &format!("xor{index}"), &one, rack, &format!("bit_xor(a, {literal})"));
            both(&mut out, &format!("and{index}"), &one, rack, &format!("bit_and(a, <{literal}>)"));
        }
    }
    out
}

fn uniforms(elem: Elem) -> String {
    let (mut out, rack, scalar) = (String::new(), elem.rack(), elem.name());
    let params = format!("a: {rack}, <k: {scalar}>");
    for (name, expression) in [("add", "a + <k>"), ("sub", "<k> - a"), ("mul", "a * <k>"), ("twice", "<k> * a + <k>")] {
        both(&mut out, name, &params, rack, expression);
    }
    scratch(&mut out, "broadcast", &format!("<k: {scalar}>"), rack, &["<k>"]);
    scratch(&mut out, "same", &format!("<k: {scalar}>"), scalar, &["<k>"]);
    let two = format!("<k: {scalar}>, <j: {scalar}>");
    scratch(&mut out, "second", &two, scalar, &["<j>"]);
    for (name, sign) in [("total", "+"), ("difference", "-"), ("multiple", "*")] {
        scratch(&mut out, name, &two, scalar, &[&format!("<k> {sign} <j>")]);
    }
    let body = ["let <s: T> = <k> + <j>".replace('T', scalar), "a * <s>".to_owned()];
    let both_params = format!("a: {rack}, <k: {scalar}>, <j: {scalar}>");
    scratch(&mut out, "bound", &both_params, rack, &[&body[0], &body[1]]);
    scratch(&mut out, "choose", &format!("{two}, <c: bool>"), scalar, &["if <c> then <k> else <j>"]);
    if elem == Elem::F32 {
        scratch(&mut out, "quotient", &two, scalar, &["<k> / <j>"]);
        scratch(&mut out, "root", &format!("<k: {scalar}>"), scalar, &["sqrt(<k>)"]);
    }
    out
}

/// Parameters in every place, moves between them, and results that are parameters.
fn boundary(elem: Elem) -> String {
    let (mut out, rack) = (String::new(), elem.rack());
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let params = names.map(|name| format!("{name}: {rack}")).join(", ");
    for name in names {
        scratch(&mut out, &format!("get_{name}"), &params, rack, &[name]);
    }
    scratch(&mut out, "forward", &params, rack, &["a - b - c - d - e - f - g - h"]);
    scratch(&mut out, "backward", &params, rack, &["h - g - f - e - d - c - b - a"]);
    let pair = format!("x: {rack}, y: {rack}");
    scratch(&mut out, "less", &pair, rack, &["x - y"]);
    scratch(&mut out, "swapped", &pair, rack, &["less(y, x)"]);
    scratch(&mut out, "nested", &pair, rack, &["less(less(y, x), less(x, y))"]);
    let body = ["w := x", "repeat <i: i32> from <0> up to <3>:", "  w <- w * y + x", "w"];
    scratch(&mut out, "repeated", &pair, rack, &body);
    out
}

fn bits(elem: Elem) -> String {
    let (mut out, rack) = (String::new(), elem.rack());
    let two = format!("a: {rack}, b: {rack}");
    for name in ["bit_and", "bit_or", "bit_xor", "bit_andnot"] {
        both(&mut out, &format!("{name}s"), &two, rack, &format!("{name}(a, b)"));
        both(&mut out, &format!("{name}s_back"), &two, rack, &format!("{name}(b, a)"));
    }
    let ones = if elem == Elem::I32 { "-1" } else { "4294967295" };
    both(&mut out, "clear", &two, rack, &format!("bit_and(bit_xor(a, {ones}), b)"));
    out
}

fn shifts(elem: Elem) -> String {
    let (mut out, rack) = (String::new(), elem.rack());
    for count in 0..32 {
        for name in ["left", "right", "right_signed"] {
            let expression = format!("shift_bits_{name}(a, {count})");
            scratch(&mut out, &format!("{name}{count}"), &format!("a: {rack}"), rack, &[&expression]);
        }
    }
    both(&mut out, "both_ways", &format!("a: {rack}"), rack, "bit_or(shift_bits_left(a, 7), shift_bits_right(a, 25))");
    out
}

fn fma() -> String {
    let mut out = String::new();
    let params = "a: f32s, b: f32s, c: f32s";
    for (name, expression) in [
        ("plain", "fma(a, b, c)"),
        ("minus", "fma(a, b, -c)"),
        ("negated", "fma(-a, b, c)"),
        ("both_signs", "fma(-a, b, -c)"),
        ("square", "fma(a, a, c)"),
        ("onto", "fma(b, c, a)"),
        ("reuse", "fma(a, b, c) - a * b"),
        ("constant", "fma(a, 2.5, c)"),
        ("branch", "if a < b then fma(a, b, c) else c"),
    ] {
        both(&mut out, name, params, "f32s", expression);
    }
    both(&mut out, "uniform", "a: f32s, c: f32s, <k: f32>", "f32s", "fma(a, <k>, c)");
    scratch(&mut out, "scalar", "<a: f32>, <b: f32>, <c: f32>", "f32", &["fma(<a>, <b>, <c>)"]);
    out
}

fn masks() -> String {
    let mut out = String::new();
    let params = "p: mask, q: mask";
    for (name, expression) in [
        ("conjunction", "p and q"),
        ("disjunction", "p or q"),
        ("complement", "not p"),
        ("neither", "not (p or q)"),
        ("without", "p and not q"),
        ("not_both", "not p or not q"),
        ("same", "p"),
        ("other", "q"),
    ] {
        both(&mut out, name, params, "mask", expression);
    }
    scratch(&mut out, "with_flag", "p: mask, <c: bool>", "mask", &["p and <c>"]);
    scratch(&mut out, "or_flag", "p: mask, <c: bool>", "mask", &["<c> or p"]);
    scratch(&mut out, "flag_rack", "<c: bool>", "mask", &["<c>"]);
    scratch(&mut out, "all_lanes", "", "mask", &["<true>"]);
    scratch(&mut out, "no_lanes", "", "mask", &["<false>"]);
    scratch(&mut out, "flag", "<c: bool>", "bool", &["<c>"]);
    scratch(&mut out, "not_flag", "<c: bool>", "bool", &["not <c>"]);
    scratch(&mut out, "flags", "<c: bool>, <d: bool>, <e: bool>", "bool", &["<c> and not <d> or <e>"]);
    scratch(&mut out, "truth", "", "bool", &["<true>"]);
    let mixed = "p: mask, a: f32s, b: i32s, c: u32s";
    scratch(&mut out, "kinds", mixed, "mask", &["p and a < 1.0 or b < 0 and not (c < 7)"]);
    out
}

fn mixed_parameters() -> String {
    let mut out = String::new();
    let params =
        "<i: i32>, a: f32s, <c: bool>, b: i32s, <u: u32>, <x: f32>, m: mask, n: u32s, <d: bool>, <j: i32>, <v: u32>";
    for (name, result, expression) in [
        ("floats", "f32s", "if m then a * <x> else a"),
        ("integers", "i32s", "if <c> then b + <i> else b * <j>"),
        ("naturals", "u32s", "if <d> then n + <u> else n * <v>"),
        ("lanes_below", "mask", "b < <j> and n < <v> or a < <x>"),
        ("first", "i32", "<i>"),
        ("last", "u32", "<v>"),
        ("third", "bool", "<d>"),
        ("scalar", "f32", "<x>"),
    ] {
        scratch(&mut out, name, params, result, &[expression]);
    }
    out
}
