//! Instruction sequences, written down by hand.

use super::{PROFILES, compile, dump};
use rake_ir::diag::Code;
use rake_ir::profile::Profile;
use std::fmt::Write as _;

/// The instructions of a function of this text, one per line, without spaces around.
fn code(profile: Profile, text: &str) -> Vec<String> {
    let (_, placed) = compile(&dump(profile, text)).unwrap();
    let dump = rake_ir::allocated::print(&placed);
    let lines = dump.lines().skip_while(|l| !l.starts_with("scratch")).skip(1).map(|l| l.trim().to_string());
    lines.filter(|l| !l.starts_with("literal") && !l.ends_with('{') && l != "}").collect()
}

const ADVANCE: &str = "scratch advance(x: f32s, v: f32s) -> f32s {
%0 : f32s = param 0
%1 : f32s = param 1
region {
%2 : f32s = const 0.5
%3 : f32s = mul_add %1, %2, %0
}
return %3
}";

#[test]
fn advance_is_one_instruction() {
    assert_eq!(code(Profile::X86Avx2, ADVANCE), ["v0 = fmadd231ps v0, v1, literal 0", "ret"]);
    assert_eq!(code(Profile::X86Avx512, ADVANCE), ["v0 = fmadd231ps v0, v1, broadcast 0", "ret"]);
    let split = ADVANCE.replace("%3 : f32s = mul_add %1, %2, %0", "%4 : f32s = mul %1, %2\n%3 : f32s = add %0, %4");
    assert_eq!(code(Profile::X86Sse2, &split), ["v1 = mulps v1, literal 0", "v0 = addps v0, v1", "ret"]);
}
