//! How long regions take; run by hand: `cargo test --release -p rake-passes timing -- --ignored --nocapture`.

use super::super::{Options, run};
use super::{count, region};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use std::time::Instant;

fn wide(terms: usize, term: impl Fn(usize) -> String) -> String {
    let terms: Vec<String> = (0..terms).map(term).collect();
    format!("r = {}", terms.join(" + "))
}

#[test]
#[ignore = "prints times"]
fn times() {
    let cases: Vec<(String, String)> = vec![
        ("two madds".into(), "p = x + u*t; q = y + v*t".into()),
        ("madd and root".into(), "p = x*x + y*y; q = sqrt(p)*z + w".into()),
        ("degree 6".into(), super::table::FLOATS[1].0.into()),
        ("abcd".into(), super::table::FLOATS[2].0.into()),
        ("sphere".into(), super::table::FLOATS[3].0.into()),
        ("bilinear".into(), super::table::FLOATS[14].0.into()),
        ("degree 12".into(), { wide(13, |n| format!("{}.5{}", n + 1, "*x".repeat(n))) }),
        ("100 products".into(), wide(100, |n| format!("a{n}*b{n}"))),
        ("67 a*b*x".into(), wide(67, |n| format!("a{}*b{}*c{}", n % 7, n % 5, n % 11))),
        ("polys".into(), {
            let polys: Vec<String> =
                (0..16).map(|n| format!("p{n} = 1.0 + x{n}*2.0 + x{n}*x{n}*3.0 + x{n}*x{n}*x{n}*{n}.5")).collect();
            polys.join("; ")
        }),
        ("chain".into(), {
            let mut text = "s0 = x*y + z".to_owned();
            for n in 1..100 {
                text += &format!("; s{n} = s{}*x + y{}", n - 1, n % 9);
            }
            text
        }),
        ("roots".into(), {
            let mut text = "s0 = sqrt(x)*y + z".to_owned();
            for n in 1..60 {
                text += &format!("; s{n} = sqrt(s{}*x + y{})*s{} + x", n - 1, n % 9, n - 1);
            }
            text
        }),
    ];
    for (name, text) in &cases {
        for profile in [Profile::X86Avx2, Profile::X86Sse2] {
            let mut best = f64::MAX;
            let mut found = String::new();
            for _ in 0..5 {
                let program = region::program(text, Elem::F32, profile, FuseLevel::Full);
                let start = Instant::now();
                let fused = run(program, &Options::default()).expect("fuses");
                best = best.min(start.elapsed().as_secs_f64());
                let proof = super::only_region(&fused).proof.clone().expect("a proof");
                found = format!(
                    "{} operations, {:?} -> {:?}, {:?}",
                    count(&fused),
                    proof.cost.0.throughput,
                    proof.cost.1.throughput,
                    proof.stop
                );
            }
            println!("{name:14} {profile}: {:9.1} us, {found}", best * 1e6);
        }
    }
}
