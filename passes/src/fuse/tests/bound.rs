//! The bound on small regions against what the search finds without it.

use super::super::bound::lower;
use super::super::graph::{Term, import};
use super::super::{search, yields};
use super::region;
use rake_ir::fused::Stop;
use rake_ir::lane::{FuseLevel, Stmt};
use rake_ir::profile::Profile;
use rake_ir::types::Elem;

fn term(text: &str, profile: Profile) -> Term {
    let program = region::program(text, Elem::F32, profile, FuseLevel::Full);
    let function = &program.functions[0];
    let region = function.body.iter().find_map(|stmt| match stmt {
        Stmt::Region(region) => Some(region),
        _ => None,
    });
    import(&function.values, &region.expect("a region").values, &yields(function)[0]).term
}

/// Sums and products of a few names and literals, in one or two stages.
struct Writer(u64);

impl Writer {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn expr(&mut self, operations: usize) -> String {
        if operations == 0 {
            let leaves = ["a", "b", "c", "x", "x", "y", "2.0", "0.75", "1.296", "4.0"];
            return leaves[self.below(leaves.len())].to_owned();
        }
        let left = self.below(operations);
        let sign = ["+", "*", "-", "*", "+"][self.below(5)];
        let (left, right) = (self.expr(left), self.expr(operations - 1 - left));
        format!("({left} {sign} {right})")
    }

    fn region(&mut self) -> String {
        let operations = 1 + self.below(4);
        let first = self.expr(operations);
        match self.below(4) {
            0 => format!("p = {first}; q = p*{} + {}; r = p - {}", self.expr(0), self.expr(0), self.expr(1)),
            1 => {
                let opaque = ["sqrt", "exp", "floor", "tanh"][self.below(4)];
                format!("p = {first}; out = {opaque}(p)*{} + p", self.expr(0))
            }
            2 => format!("p = {first}; q = {}", self.expr(2)),
            _ => format!("r = {first}"),
        }
    }
}

#[test]
fn nothing_is_cheaper_than_the_bound() {
    let mut writer = Writer(7);
    let mut answered = 0;
    for round in 0..360 {
        let text = writer.region();
        let profile = [Profile::X86Avx2, Profile::X86Sse2, Profile::X86Avx512][round % 3];
        let term = term(&text, profile);
        let setting = search::setting(profile, FuseLevel::Full);
        let Some(bound) = lower(&term, setting) else { continue };
        let (_, searched) = search::choose_within(&term, setting, None).cost;
        let chosen = search::choose(&term, setting);
        let found = (searched.throughput, searched.latency);
        assert!(searched.throughput >= bound.throughput, "{text} on {profile}: {bound:?}, found {found:?}");
        assert!(searched.latency >= bound.latency, "{text} on {profile}: {bound:?}, found {found:?}");
        let quick = (chosen.cost.1.throughput, chosen.cost.1.latency);
        assert!(quick <= found, "{text} on {profile}: {quick:?}, found {found:?}");
        answered += usize::from(chosen.stop == Stop::Optimal);
    }
    assert!(answered >= 150, "only {answered} of 360 regions meet the bound");
}

#[test]
fn small_kernels_meet_the_bound() {
    let kernels = [
        "r = (a*b + 1.296)*c + 7.642",
        "p = a*b + 1.296; out = p*c + 7.642",
        "p = x + u*t; q = y + v*t",
        "r = (x*3.0 + 2.0)*x + 1.0",
        "r = x*x + y*y + z",
        "r = a*(1.0 - t) + b*t",
        "r = x*4.0 + x*8.0",
        "p = a*b + c; q = p*d + e; outp = p",
        "r = sqrt(x*x + y)*z + w",
        "r = exp(x*x + y)*z + w",
        "r = log2(x*y)*z",
    ];
    for text in kernels {
        let setting = search::setting(Profile::X86Avx2, FuseLevel::Full);
        let chosen = search::choose(&term(text, Profile::X86Avx2), setting);
        assert_eq!(chosen.stop, Stop::Optimal, "{text}: {:?}", chosen.cost);
    }
}

#[test]
fn a_graph_that_comes_again_gets_the_same_choice() {
    let setting = search::setting(Profile::X86Avx2, FuseLevel::Full);
    let mut choices = search::Choices::new(setting);
    let first = term("r = a*b + a", Profile::X86Avx2);
    let other = term("r = a*b - a", Profile::X86Avx2);
    let chosen = choices.choose(&first);
    assert!(std::rc::Rc::ptr_eq(&chosen, &choices.choose(&first.clone())));
    assert_eq!(chosen.term, search::choose(&first, setting).term);
    assert_ne!(choices.choose(&other).term, chosen.term);
}
