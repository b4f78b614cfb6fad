//! Regions of many kinds against counts derived by hand.

mod region;
mod table;
mod timing;

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
        Stmt::Value(_) => None,
    });
    region.expect("a region")
}

/// Arithmetic operations of the chosen graph.
fn count(program: &fused::Program) -> usize {
    let values = &program.functions[0].values;
    only_region(program).values.iter().filter(|&&id| !matches!(values[id].op, Op::Const | Op::Splat)).count()
}
