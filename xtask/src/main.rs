//! The project's chores, `cargo xtask CHORE`.
//!
//! `test` is the whole test command: it installs what the tests need where it can, then checks formatting, lints, every
//! test and the snapshots, and says in a closing summary what held.

mod install;
mod steps;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE
  test      everything: tools, formatting, lints, tests, snapshots
  tools     only install what the tests need
  docs      write the generated pages of docs/ anew
  exhaustive OP...  unary operations over all 2^32 inputs (`all` of them), with the errors of exp, log, log2 and tanh
  fuzz      feed mutated programs to the compiler (more rounds: RAKE_TEST_FUZZ=100000)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let passed = match words.as_slice() {
        ["test"] => steps::test(),
        ["tools"] => install::tools(),
        ["docs"] => steps::docs(),
        ["fuzz"] => steps::fuzz(),
        ["exhaustive", operations @ ..] => steps::exhaustive(operations),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            true
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
