//! Scalar C runs and gives the evaluator's bits, whatever the compiler and its options.

use crate::arguments::{Arguments, Effort, calls};
use crate::build::{WARNINGS, c_of};
use crate::machine::moves_bits;
use crate::run_programs::{self, GATHERS, LOOPS, NUMBERS, PART};
use crate::support::{files, from_environment, ir_at, plain};
use rake_ir::lane::{self, FuseLevel, eval_function};
use rake_ir::machine::scalar::ALL;
use rake_ir::profile::Profile;
use rake_ir::selected;
use rake_ir::types::{Elem, Ty};
use rake_ir::value::Lanes;
use rake_testkit::c::{Compiler, Source, compile};
use rake_testkit::link_elf;
use rake_testkit::source::{operations, random, regions};
use rake_testkit::special::Bits;
use rake_testkit::x86::{Image, Isa, Out, Regs, run};
use rakec::pipeline::Ir;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const SCALAR: Profile = Profile::Scalar;

/// How C is compiled: without optimisation, with it, and for the host's own instructions, among them fused multiply-adds.
const BUILDS: [(Compiler, &[&str]); 6] = [
    (Compiler::Gcc, &["-std=c11", "-O0"]),
    (Compiler::Gcc, &["-std=gnu11", "-O2"]),
    (Compiler::Gcc, &["-std=gnu11", "-O3", "-march=native"]),
    (Compiler::Clang, &["-std=c11", "-O0"]),
    (Compiler::Clang, &["-std=c11", "-O2"]),
    (Compiler::Clang, &["-std=gnu11", "-O3", "-march=native"]),
];

/// The arguments in the registers of System V: floats in `xmm`, everything else in general registers, `bool`s and narrow
/// integers extended. Nothing when they do not suffice.
fn registers(params: &[Ty], values: &[Lanes], bits: &mut Bits) -> Option<Regs> {
    let mut regs = Regs::default();
    let (mut vector, mut general) = (0, 0);
    for (ty, value) in params.iter().zip(values) {
        let word = *value.bits().first()? as u32;
        let elem = ty.elem();
        if elem == Elem::F32 {
            regs.set_lanes((vector < 8).then_some(vector)?, &[word, bits.u32(), bits.u32(), bits.u32()]);
            vector += 1;
            continue;
        }
        // Of a mask the sign bit counts.
        *regs.gpr.get_mut(general)? = match ty {
            Ty::Mask(_) => bits.u64() << 32 | u64::from(word << 31 | bits.u32() >> 1),
            Ty::Uniform(Elem::Bool) => u64::from(word),
            _ if elem.bits() < 32 => {
                let unused = 32 - elem.bits();
                let signed = matches!(elem, Elem::I8 | Elem::I16);
                u64::from(if signed { ((word << unused) as i32 >> unused) as u32 } else { word })
            }
            _ => bits.u64() << 32 | u64::from(word),
        };
        general += 1;
    }
    Some(regs)
}

fn result(out: &Out, ty: Ty) -> Result<Lanes, String> {
    let word = out.rax as u32;
    Ok(Lanes::uniform(match ty {
        Ty::Mask(_) if word != 0 && word != u32::MAX => return Err(format!("a mask is {word:#x}")),
        Ty::Mask(_) => u64::from(word & 1),
        Ty::Rack(Elem::F32) | Ty::Uniform(Elem::F32) => u64::from(out.lanes(1)[0]),
        Ty::Uniform(Elem::Bool) => u64::from(word & 0xff),
        _ => u64::from(word) & ty.elem().lane_mask(),
    }))
}

/// What a function gives as it was selected.
fn selected_result(program: &selected::Program, name: &str, values: &[Lanes]) -> Option<u32> {
    let function = program.functions.iter().find(|f| f.name == name)?;
    let enter = |(ty, value): (Ty, &Lanes)| {
        let word = *value.bits().first().unwrap_or(&0) as u32;
        let word = if matches!(ty, Ty::Mask(_)) { word << 31 | 0x1234_5678 } else { word };
        std::array::from_fn(|lane| if lane == 0 { word } else { 0xdead_beef })
    };
    let args: Vec<_> = function.params.iter().map(|param| param.ty).zip(values).map(enter).collect();
    Some(selected::eval(function, SCALAR, &args)?[0])
}

/// Runs a function, as it was selected and as it was compiled, on many arguments; gives how many.
fn agrees<R: lane::Region>(
    what: &str,
    function: &lane::Function<R>,
    selected: &selected::Program,
    image: &Image,
    effort: Effort,
) -> usize {
    let params: Vec<Ty> = function.params.iter().map(|p| p.ty).collect();
    // Runs are called in `tests/runs`.
    let Some(ty) = function.result_type() else { return 0 };
    let exact = moves_bits(function);
    let mut arguments: Vec<Arguments> = calls(&params, SCALAR, effort, 1);
    // A narrow rack is one element too.
    for value in arguments.iter_mut().flat_map(|call| &mut call.values) {
        *value = Lanes::uniform(value.bits()[0]);
    }
    let junk = &mut Bits::new(2);
    let Some(regs) = arguments.iter().map(|call| registers(&params, &call.values, junk)).collect::<Option<Vec<_>>>()
    else {
        return 0;
    };
    let outs = run(Isa::Avx2, image, &regs).unwrap_or_else(|error| panic!("{what}: {error}"));
    for (call, out) in arguments.iter().zip(&outs) {
        let expected = eval_function(function, SCALAR, &call.values).and_then(|run| run.result());
        let expected = expected.unwrap_or_else(|error| panic!("{what}: {error}"));
        let evaluated = selected_result(selected, &function.name, &call.values).unwrap();
        let evaluated = Lanes::uniform(u64::from(evaluated) & if ty.is_truth() { 1 } else { ty.elem().lane_mask() });
        assert!(evaluated.same(&expected, ty.elem()), "{what}: as selected {:x?}", evaluated.bits());
        let got = result(out, ty).unwrap_or_else(|error| panic!("{what}: {error}"));
        let same = if exact { got == expected } else { got.same(&expected, ty.elem()) };
        let (got, expected) = (got.bits(), expected.bits());
        assert!(same && out.callee_saved_ok, "{what}: {got:x?}, not {expected:x?}, on {:x?}", call.values);
    }
    arguments.len()
}

fn selected(name: &str, text: &str, fuse: FuseLevel) -> selected::Program {
    match ir_at(text, SCALAR, fuse, "select") {
        Ok(Ir::Selected(program)) => program,
        Ok(other) => panic!("{name}: `select` gives {:?}", other.kind()),
        Err(e) => panic!("{name}: {}", plain(&e)),
    }
}

/// Compiles and runs a program's functions; gives functions and calls.
fn check(name: &str, text: &str, fuse: FuseLevel, builds: &[(Compiler, &[&str])], effort: Effort) -> (usize, usize) {
    let c = c_of(text, SCALAR, fuse).unwrap_or_else(|e| panic!("{name}: {}\n{text}", plain(&e)));
    let stage = if fuse == FuseLevel::Exact { "tined" } else { "fuse" };
    let ir = ir_at(text, SCALAR, fuse, stage).unwrap_or_else(|e| panic!("{name}: {}", plain(&e)));
    let selected = selected(name, text, fuse);
    let (mut functions, mut done) = (0, 0);
    for (compiler, flags) in builds {
        let object = compile(*compiler, Source::Text(&c), &[flags, &WARNINGS[..]].concat());
        let object = object.unwrap_or_else(|e| panic!("{name}: {e}\n{c}"));
        let linked = link_elf(&object).unwrap_or_else(|e| panic!("{name} by {compiler:?} {flags:?}: {e}\n{c}"));
        let what = |function: &str| format!("{name}, `{function}` by {compiler:?} {flags:?}\n{text}\n{c}");
        let image = |function: &str| linked.image(function).unwrap_or_else(|| panic!("{}: missing", what(function)));
        let counts: Vec<usize> = match &ir {
            Ir::Tined(p) => {
                p.functions.iter().map(|f| agrees(&what(&f.name), f, &selected, &image(&f.name), effort)).collect()
            }
            Ir::Fused(p) => {
                p.functions.iter().map(|f| agrees(&what(&f.name), f, &selected, &image(&f.name), effort)).collect()
            }
            other => panic!("`{stage}` gives {:?}", other.kind()),
        };
        functions += counts.iter().filter(|&&count| count > 0).count();
        done += counts.iter().sum::<usize>();
    }
    (functions, done)
}

/// What selection sees several operations in.
fn shapes() -> String {
    let mut text = String::new();
    let mut add = |name: &str, params: &str, result: &str, body: &str| {
        let _ = write!(text, "scratch {name}({params}) -> {result}:\n  {body}\n\n");
    };
    for (name, sign) in [("eq", "="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")] {
        add(&format!("not_{name}"), "a: f32s, b: f32s", "mask", &format!("not (a {sign} b)"));
    }
    add("neither", "p: mask, q: mask", "mask", "not (p or q)");
    add("not_both", "p: mask, q: mask", "mask", "not (p and q)");
    add("but_not", "p: mask, q: mask", "mask", "p and not q");
    add("number_or", "a: f32s, b: f32s", "f32s", "if a = a then a else b");
    add("positive", "a: f32s", "f32s", "max(a, 0.0)");
    for elem in ["f32", "i32", "u32"] {
        let (two, rack) = (format!("a: {elem}s, b: {elem}s"), format!("{elem}s"));
        let zero = if elem == "f32" { "0.0" } else { "0" };
        add(&format!("lesser_{elem}"), &two, &rack, "if a < b then a else b");
        add(&format!("greater_{elem}"), &two, &rack, "if a > b then a else b");
        add(&format!("kept_{elem}"), &format!("m: mask, a: {rack}"), &rack, &format!("if m then a else {zero}"));
        add(&format!("cleared_{elem}"), &format!("m: mask, a: {rack}"), &rack, &format!("if m then {zero} else a"));
        add(&format!("second_{elem}"), &two, &rack, "unzip_odd(a, b)");
        add(&format!("same_{elem}"), &format!("a: {rack}"), &rack, "unzip_odd(a, a)");
        add(&format!("stays_{elem}"), &format!("a: {rack}"), &rack, "shift_left(a, 0)");
        add(&format!("gone_{elem}"), &format!("a: {rack}"), &rack, "shift_right(a, 1)");
        add(&format!("put_{elem}"), &format!("a: {rack}, <k: {elem}>"), &rack, "insert(a, 0, <k>)");
    }
    for op in ["left", "right", "right_signed"] {
        let body = format!("shift_bits_{op}(x, <n>)");
        add(&format!("by_{op}"), "x: u32s, <n: u32>", "u32s", &body);
    }
    add("copied", "a: i16s", "i16s", "a");
    add("recast", "a: i16s", "u16s", "bitcast(u16s, a)");
    text
}

/// Every row of the table has its C. Rows of memory and of words stand in runs, which `tests/runs` executes.
#[test]
fn every_row_is_run() {
    let effort = Effort { tuples: 4000, random: 100, uniforms: 64, calls: 4100 };
    check("shapes", &shapes(), FuseLevel::Full, &BUILDS, effort);
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let programs = operations::vocabulary(1).into_iter().filter(|p| !p.fma && p.name != "narrow lanes");
    let files = files().into_iter().map(|(_, text)| text).filter(|text| c_of(text, SCALAR, FuseLevel::Full).is_ok());
    let runs = run_programs::ALL.iter().chain(&[LOOPS, NUMBERS, PART, GATHERS]).map(|text| text.to_string());
    for text in programs.map(|program| program.text).chain(files).chain(runs).chain([shapes()]) {
        let program = selected("rows", &text, FuseLevel::Full);
        used.extend(program.functions.iter().flat_map(|f| f.insts.iter().map(|inst| inst.op.name())));
    }
    let unused: Vec<&str> = ALL.iter().map(|op| op.info().name).filter(|name| !used.contains(name)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn the_vocabulary_gives_the_evaluators_bits() {
    let effort = Effort { tuples: 4000, random: 500, uniforms: 64, calls: 4500 };
    let (mut functions, mut done) = (0, 0);
    for program in operations::vocabulary(1) {
        if program.fma || program.name == "narrow lanes" {
            let why = if program.fma { "no fused multiply-add" } else { "a rack of one element has no pairs of lanes" };
            let said = plain(&c_of(&program.text, SCALAR, FuseLevel::Full).unwrap_err());
            assert!(said.contains(why), "{}: {said}", program.name);
            continue;
        }
        let counts = check(&program.name, &program.text, FuseLevel::Full, &BUILDS, effort);
        (functions, done) = (functions + counts.0, done + counts.1);
    }
    assert!(functions > 1000 && done > 1_000_000, "only {functions} functions and {done} calls");
}

#[test]
fn regions_examples_and_cases_give_the_evaluators_bits() {
    let effort = Effort { tuples: 300, random: 100, uniforms: 8, calls: 300 };
    for fuse in [FuseLevel::Full, FuseLevel::Contract, FuseLevel::Exact] {
        check("regions", &regions::program().text, fuse, &BUILDS[2..], effort);
    }
    let mut compiled = 0;
    for (at, (path, text)) in files().into_iter().enumerate() {
        if c_of(&text, SCALAR, FuseLevel::Full).is_ok() {
            let build = &BUILDS[at % BUILDS.len()..][..1];
            check(&path.display().to_string(), &text, FuseLevel::Full, build, effort);
            compiled += 1;
        }
    }
    assert!(compiled > 60, "only {compiled} programs");
}

#[test]
fn random_programs_give_the_evaluators_bits() {
    let effort = Effort { tuples: 300, random: 200, uniforms: 8, calls: 500 };
    let first = from_environment("RAKE_TEST_SEED", 1);
    let count = from_environment("RAKE_TEST_PROGRAMS", 120) / 2;
    let mut done = 0;
    for seed in first..first + count {
        let at = seed as usize;
        let fuse = [FuseLevel::Full, FuseLevel::Contract, FuseLevel::Exact][at % 3];
        let program = if seed % 2 == 0 { random::program(seed, 4, false) } else { random::rakes(seed, 3, false) };
        done += check(&program.name, &program.text, fuse, &BUILDS[at / 2 % BUILDS.len()..][..1], effort).0;
    }
    assert!(done as u64 >= count, "only {done} functions ran");
}

/// (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24, which rounds to 1 + 2^-11: the difference is 0, and 2^-24 if nothing rounds between.
#[test]
fn nothing_is_contracted() {
    let (x, y) = (0x3f80_0800, 0x3f80_1000u32);
    let difference = |compiler, c: &str, name: &str, flags: &[&str]| {
        let object = compile(compiler, Source::Text(c), flags).unwrap();
        let mut regs = Regs::default();
        regs.set_lanes(0, &[x]).set_lanes(1, &[x]).set_lanes(2, &[y ^ 0x8000_0000]);
        run(Isa::Avx2, &link_elf(&object).unwrap().image(name).unwrap(), &[regs]).unwrap()[0].lanes(1)[0]
    };
    let fast: &[&str] = &["-O3", "-march=x86-64-v3", "-std=gnu11", "-ffp-contract=fast"];
    let ours = c_of("scratch f(a: f32s, b: f32s, c: f32s) -> f32s:\n  a * b + c\n", SCALAR, FuseLevel::Full).unwrap();
    // Nor when another function in the same file takes the code in.
    let caller = "float g(float a, float b, float c);\nfloat g(float a, float b, float c) { return f(a, b, c); }\n";
    let inlined = format!("{ours}{caller}");
    for compiler in Compiler::X86 {
        let plain = "float f(float a, float b, float c) { return a * b + c; }\n";
        assert_eq!(difference(compiler, plain, "f", fast), 0x3380_0000, "{compiler:?} does not contract at all");
        let native: &[&str] = &["-O3", "-march=native", "-std=gnu11"];
        for flags in [native, &fast[..3], fast] {
            assert_eq!(difference(compiler, &ours, "f", flags), 0, "{compiler:?} {flags:?}");
            assert_eq!(difference(compiler, &inlined, "g", flags), 0, "{compiler:?} {flags:?}");
        }
    }
}
