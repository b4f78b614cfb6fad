//! Regions of many kinds against counts derived by hand.

mod bound;
mod region;
mod table;

use super::{Options, run};
use rake_ir::fused;
use rake_ir::lane::{FuseLevel, Stmt};
use rake_ir::ops::Op;
use rake_ir::profile::Profile;
use rake_ir::tined;
use rake_ir::types::Elem;

/// Fuses a region, holding what every region has to hold.
fn fuse(text: &str, elem: Elem, profile: Profile, level: FuseLevel) -> fused::Program {
    let program = region::program(text, elem, profile, level);
    assert_eq!(tined::check(&program), Ok(()), "{text}");
    let fused = run(program, &Options::default()).expect("fuses");
    assert_eq!(fused::check(&fused), Ok(()), "{text}\n{}", fused::print(&fused));
    assert_eq!(super::prove_program(&fused), Ok(()), "{text}\n{}", fused::print(&fused));
    let proof = only_region(&fused).proof.as_ref().expect("a proof");
    assert!(proof.cost.1 <= proof.cost.0, "{text}: worse than its source");
    fused
}

fn only_region(program: &fused::Program) -> &fused::Region {
    let region = program.functions[0].body.iter().find_map(|stmt| match stmt {
        Stmt::Region(region) => Some(region),
        _ => None,
    });
    region.expect("a region")
}

/// Arithmetic operations of the chosen graph.
fn count(program: &fused::Program) -> usize {
    let values = &program.functions[0].values;
    only_region(program).values.iter().filter(|&&id| !matches!(values[id].op, Op::Const | Op::Splat)).count()
}

#[test]
fn explaining_changes_nothing_and_gives_the_chain() {
    let mut unexplained = 0;
    for (text, _, _) in table::FLOATS.iter().take(40) {
        let program = || region::program(text, Elem::F32, Profile::X86Avx2, FuseLevel::Full);
        let plain = run(program(), &Options::default()).expect("fuses");
        let told = run(program(), &Options { explain: true }).expect("fuses");
        assert_eq!(only_region(&plain).values, only_region(&told).values, "{text}");
        let chain = only_region(&told).proof.as_ref().and_then(|p| p.chain.clone()).expect("a chain");
        let changed = only_region(&told).proof.as_ref().is_some_and(|p| p.cost.0 != p.cost.1);
        assert!(!changed || !chain.is_empty(), "{text}");
        unexplained += usize::from(chain.iter().any(|step| step.rule == "equal-by-proof"));
        let read = fused::read(&fused::print(&told)).expect("reads back");
        assert_eq!(super::prove_program(&read), Ok(()), "{text}");
    }
    assert!(unexplained <= 2, "{unexplained} choices without a chain");
}

#[test]
fn the_report_is_readable() {
    let program = region::program("moved = p + v*t", Elem::F32, Profile::X86Avx2, FuseLevel::Full);
    let fused = run(program, &Options { explain: true }).expect("fuses");
    let expected = "\
region moved of `f`
  source: 2 operations, 1.00 cycles throughput, 8.00 latency, 3 racks live
    moved = p + v * t
  chosen: 1 operations, 0.50 cycles throughput, 4.00 latency, 3 racks live
    moved = mul_add(v, t, p)
  stopped by: no graph that reads these values can take fewer operations
";
    let report = super::explain_fusion(&fused.functions[0], only_region(&fused));
    assert!(report.starts_with(expected), "{report}");
    let chain = only_region(&fused).proof.as_ref().and_then(|p| p.chain.as_ref()).expect("a chain");
    let last = chain.last().expect("a step");
    assert_eq!(last.term, "mul_add(v, t, p)", "{report}");
    assert!(chain.iter().any(|step| step.rule == "contract-add"), "{report}");
}

/// The operations of the chosen graph, by name.
fn names(program: &fused::Program) -> Vec<&'static str> {
    let values = &program.functions[0].values;
    only_region(program).values.iter().map(|&id| values[id].op.name()).collect()
}

#[test]
fn what_must_stay_stays() {
    let kept = [
        "r = x*0.0",
        "r = x - x",
        "r = x/x",
        "r = (x*y)/y",
        "r = x + 0.0",
        "r = x - (x + y) + y",
        "r = x/3.0",
        "r = x/y + z/y",
        "r = sqrt(abs(x*x))",
        "r = fma(x, y, z) + w",
        "r = min(x, x + 1.0)",
        "r = a + b",
        "r = (a + b) + c",
        "r = x*2.0 - x*2.0 + y",
        "r = (x + y) - (x + y)",
    ];
    for profile in [Profile::X86Avx2, Profile::X86Avx512] {
        for text in kept {
            let fused = fuse(text, Elem::F32, profile, FuseLevel::Full);
            let proof = only_region(&fused).proof.as_ref().expect("a proof");
            let values = &fused.functions[0].values;
            let mut reads = vec!["x", "y", "z", "w", "a", "b", "c"];
            reads.retain(|name| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == *name));
            let read: Vec<_> = only_region(&fused).values.iter().flat_map(|&id| values[id].args.to_vec()).collect();
            for name in reads {
                let is = |id: &rake_ir::lane::ValueId| {
                    values[*id].name.as_deref() == Some(name) && values[*id].op == Op::Param
                };
                assert!(read.iter().any(is), "{text}: `{name}` is gone\n{}", fused::print(&fused));
            }
            assert!(proof.cost.1 <= proof.cost.0);
        }
    }
    for text in ["r = x*0.0", "r = x - x", "r = x/x", "r = x + 0.0", "r = (x + y) - (x + y)"] {
        let fused = fuse(text, Elem::F32, Profile::X86Sse2, FuseLevel::Full);
        let source = only_region(&fused).proof.as_ref().map(|p| p.cost.0.throughput);
        let shared = if text.contains("(x + y) - ") { 100 } else { source.unwrap_or(0) };
        assert_eq!(only_region(&fused).proof.as_ref().map(|p| p.cost.1.throughput), Some(shared), "{text}");
    }
}

#[test]
fn levels_bound_the_freedom() {
    let horner = "r = 1.0 + 2.0*x + 3.0*x*x";
    let exact = fuse(horner, Elem::F32, Profile::X86Avx2, FuseLevel::Exact);
    assert!(!names(&exact).iter().any(|name| name.contains("mul_")), "{:?}", names(&exact));
    let contract = fuse(horner, Elem::F32, Profile::X86Avx2, FuseLevel::Contract);
    assert_eq!(names(&contract).iter().filter(|name| **name == "mul_add").count(), 2);
    assert_eq!(count(&contract), 3);
    assert_eq!(count(&fuse("r = x*y + y*x", Elem::F32, Profile::X86Avx2, FuseLevel::Exact)), 2);
}

#[test]
fn masks_follow_demand() {
    let text = "r = if x > 0.0 then sqrt(x)*a + sqrt(x)*b else x";
    let fused = fuse(text, Elem::F32, Profile::X86Avx2, FuseLevel::Full);
    let values = &fused.functions[0].values;
    let root = only_region(&fused).values.iter().find(|&&id| values[id].op == Op::Sqrt).expect("a root");
    assert!(values[*root].mask.is_some(), "{}", fused::print(&fused));
    let text = "s = sqrt(x); r = if x > 0.0 then sqrt(x)*a else x; out = r + s";
    let fused = fuse(text, Elem::F32, Profile::X86Avx2, FuseLevel::Full);
    let values = &fused.functions[0].values;
    let roots: Vec<_> = only_region(&fused).values.iter().filter(|&&id| values[id].op == Op::Sqrt).collect();
    assert_eq!(roots.len(), 1);
    assert!(values[*roots[0]].mask.is_none(), "the source computes it in every lane");
}

#[test]
fn regions_stay_apart() {
    let program = region::program("p = a*b", Elem::F32, Profile::X86Avx2, FuseLevel::Full);
    let fused = run(program, &Options::default()).expect("fuses");
    assert_eq!(names(&fused), ["mul"]);
}

#[test]
fn a_wrong_graph_is_found() {
    let program = fuse("r = a*b + a*c", Elem::F32, Profile::X86Avx2, FuseLevel::Full);
    let text = fused::print(&program);
    let wrong = text.replacen("= mul_add %0, %2, %3", "= mul_sub %0, %2, %3", 1);
    assert_ne!(text, wrong, "{text}");
    let read = fused::read(&wrong).expect("reads");
    assert!(super::prove_program(&read).is_err());
}

#[test]
fn the_exact_level_keeps_every_bit() {
    use rake_ir::value::Lanes;
    let special = [0x7fc0_0000_u64, 0x7f80_0000, 0xff80_0000, 0, 0x8000_0000, 1, 0x3f80_0000, 0xbf80_0000, 0x7f7f_ffff];
    let mut state = 0x1234_5678_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 32
    };
    let extra = [
        "r = x/4.0 - y*2.0",
        "r = -(-x) + (-y)",
        "r = abs(-x)*abs(y)",
        "r = min(-x, -y)",
        "r = select(x > y, x*1.0, y + y)",
    ];
    for text in table::FLOATS.iter().map(|row| row.0).chain(extra) {
        let program = region::program(text, Elem::F32, Profile::X86Avx2, FuseLevel::Exact);
        let fused = run(program.clone(), &Options::default()).expect("fuses");
        for round in 0..24 {
            let mut lane = || if round % 2 == 0 { special[draw() as usize % special.len()] } else { draw() };
            let args: Vec<Lanes> =
                program.functions[0].params.iter().map(|_| Lanes::new((0..8).map(|_| lane()))).collect();
            let before = tined::eval(&program, "f", &args).expect("evaluates");
            let after = fused::eval(&fused, "f", &args).expect("evaluates");
            assert!(before.same(&after, Elem::F32), "{text}\n{}", fused::print(&fused));
        }
    }
}

#[test]
fn a_graph_that_is_an_input_explains_itself() {
    let program = region::program("r = x*1.0", Elem::F32, Profile::X86Avx2, FuseLevel::Exact);
    let fused = run(program, &Options { explain: true }).expect("fuses");
    let report = super::explain_fusion(&fused.functions[0], only_region(&fused));
    assert!(report.contains("chosen: 0 operations"), "{report}");
}

/// Every subset of fifty factors is a way to split their product; the search may not try them all.
#[test]
fn products_of_many_sums_end() {
    let names: Vec<String> = (0..50).map(|n| format!("(a{n} + b{n})")).collect();
    for profile in [Profile::X86Sse2, Profile::X86Avx2] {
        let fused = fuse(&format!("r = {}", names.join("*")), Elem::F32, profile, FuseLevel::Full);
        assert_eq!(count(&fused), 99);
    }
}

#[test]
fn large_regions_contract() {
    let terms: Vec<String> = (0..700).map(|n| format!("s{n} = sqrt(x{n})*y + z")).collect();
    let fused = fuse(&terms.join("; "), Elem::F32, Profile::X86Avx2, FuseLevel::Full);
    assert_eq!(count(&fused), 1400);
}
