//! Compiles each run by `rakec` (or what `RAKEC` names) for this machine, and links its object.

use std::env;
use std::path::Path;
use std::process::Command;

const RUNS: [&str; 5] = ["particles", "spheres", "blend", "lookup", "sums"];

fn main() {
    let out = env::var("OUT_DIR").expect("cargo says where outputs go");
    let rakec = env::var("RAKEC").unwrap_or_else(|_| "rakec".into());
    println!("cargo::rerun-if-env-changed=RAKEC");
    for run in RUNS {
        let source = Path::new("..").join(run).with_extension("rk");
        let object = Path::new(&out).join(run).with_extension("o");
        println!("cargo::rerun-if-changed={}", source.display());
        let mut command = Command::new(&rakec);
        command.args(["--emit-obj", "--no-report", "-o"]).arg(&object).arg(&source);
        let status = command.status().unwrap_or_else(|error| panic!("{rakec}: {error}"));
        assert!(status.success(), "{rakec} rejects {}", source.display());
        println!("cargo::rustc-link-arg-bin={run}={}", object.display());
    }
}
