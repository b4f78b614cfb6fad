//! What a run in a module may hold, each promise broken once. The modules are those of programs that no pass would make.

use rake_backends::{Options, wasm::module};
use rake_ir::stacked;
use rake_verifier::Obligation;
use rake_verifier::wasm::{metadata, obligations};

const OPTIONS: Options<'static> = Options { exported: &|_| true, compiler: "rakec 0.1.0" };

/// `f(x: address, x_count: i32)` with two more `i32`s and this body; what is said of its module.
fn check(body: &str) -> Vec<String> {
    let text = format!(
        "rake stacked 1\nprofile wasm-simd128\nfuse full\n\nrun f(x: address to mut []f32 = g0, x_count: <i32> = g1) {{\n  \
         locals g g v\n  literal 0 = 0x04000000\n{}\n}}\n",
        body.split("; ").map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    );
    let program = stacked::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    let module = module::emit(&program, &OPTIONS).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    let found = obligations(&module, &metadata(&program, None));
    found.err().into_iter().flatten().map(|diagnostic| diagnostic.message).collect()
}

fn holds(body: &str) {
    assert_eq!(check(body), [""; 0], "{body}");
}

fn breaks(obligation: Obligation, body: &str) {
    let found = check(body);
    assert!(found.iter().any(|text| text.contains(obligation.words())), "{obligation:?} is not in {found:?}\n{body}");
}

const COUNT: &str = "local.get 1; if";

#[test]
fn addresses_come_from_the_caller() {
    holds("local.get 0; local.get 0; v128_load; v128_store offset 16");
    holds("local.get 0; local.get 1; i32_add; local.tee 2; local.get 2; v128_load; v128_store");
    // A column's address stands in a descriptor.
    holds("local.get 0; i32_load offset 8; local.get 0; v128_load; v128_store");
    breaks(Obligation::Transfers, "local.get 1; local.get 0; v128_load; v128_store");
    breaks(Obligation::Transfers, "local.get 0; local.get 1; v128_load; v128_store");
    breaks(Obligation::Transfers, "i32_const literal 0; local.get 0; v128_load; v128_store");
    breaks(Obligation::Transfers, "local.get 0; local.get 1; i32_sub; local.get 0; v128_load; v128_store");
    // An address on one path, a number on the other.
    let one = "local.get 0; local.set 2";
    let other = "local.get 1; local.set 2";
    let access = "local.get 2; local.get 0; v128_load; v128_store";
    holds(&format!("{COUNT}; {one}; else; {one}; end; {access}"));
    breaks(Obligation::Transfers, &format!("{COUNT}; {one}; else; {other}; end; {access}"));
    // In a loop that changes it behind the access.
    let again = "local.get 1; br_if; end";
    holds(&format!("{one}; loop; {access}; {one}; {again}"));
    breaks(Obligation::Transfers, &format!("{one}; loop; {access}; {other}; {again}"));
}

#[test]
fn locals_are_written_before_they_are_read() {
    breaks(Obligation::DefinedReads, "local.get 0; local.get 4; v128_store");
    let set = "local.get 0; v128_load; local.set 4";
    let read = "local.get 0; local.get 4; v128_store";
    holds(&format!("{set}; {read}"));
    holds(&format!("{COUNT}; {set}; else; {set}; end; {read}"));
    breaks(Obligation::DefinedReads, &format!("{COUNT}; {set}; else; end; {read}"));
    // A loop's body is executed at least once, but its first trip comes before its end.
    holds(&format!("loop; {set}; local.get 1; br_if; end; {read}"));
    breaks(Obligation::DefinedReads, &format!("loop; {read}; {set}; local.get 1; br_if; end"));
}

#[test]
fn jumps_go_back_at_the_end_and_traps_stand_behind_checks() {
    holds("loop; local.get 1; br_if; end");
    holds("local.get 1; if; unreachable; else; end");
    breaks(Obligation::Jumps, "loop; local.get 1; br_if; local.get 1; br_if; end");
    breaks(Obligation::Jumps, "loop; end");
    breaks(Obligation::Jumps, "unreachable");
    breaks(Obligation::Jumps, "local.get 1; if; else; unreachable; end");
}
