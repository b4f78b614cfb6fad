//! What the tests of the passes up to `desugar` share.

use crate::{desugar, inline, parse, resolve, typecheck, unroll};
use rake_ir::diag::Diagnostic;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::span::{FileId, Source};
use rake_ir::surface::File;
use rake_ir::value::Lanes;
use rake_ir::{desugared, typed};

/// The profile of most tests: four lanes of 32 bits.
pub const SSE2: Profile = Profile::X86Sse2;

/// The source and its tree; fails the test when it does not parse.
pub fn parsed(text: &str) -> (Source, File) {
    let source = Source::new(FileId(0), "test.rk", text);
    let (file, errors) = parse::parse(&source);
    assert!(errors.is_empty(), "{errors:#?}");
    (source, file)
}

/// Each diagnostic as `code | text under the caret | message | help`.
pub fn lines(source: &Source, diagnostics: &[Diagnostic]) -> Vec<String> {
    let line = |d: &Diagnostic| {
        let at = d.span().map_or("", |span| source.slice(span));
        format!("{:?} | {at} | {} | {}", d.code, d.message, d.help.as_deref().unwrap_or("-"))
    };
    diagnostics.iter().map(line).collect()
}

/// What `resolve` reports.
pub fn resolve_errors(text: &str) -> Vec<String> {
    let (source, file) = parsed(text);
    lines(&source, &resolve::run(&file))
}

/// What `typecheck` reports.
pub fn type_errors(text: &str, profile: Profile) -> Vec<String> {
    let (source, file) = parsed(text);
    lines(&source, &typecheck::run(&file, profile, FuseLevel::Full).1)
}

/// The checked program; fails the test on any error or violated invariant.
pub fn checked(text: &str, profile: Profile) -> typed::Program {
    let (source, file) = parsed(text);
    let mut errors = resolve::run(&file);
    let (program, more) = typecheck::run(&file, profile, FuseLevel::Full);
    errors.extend(more);
    assert!(errors.is_empty(), "{:#?}", lines(&source, &errors));
    assert_eq!(typed::check(&program), Ok(()));
    program
}

/// The program through `inline` and `unroll`.
pub fn unrolled(text: &str, profile: Profile) -> typed::Program {
    let program = unroll::run(inline::run(checked(text, profile)).expect("inline")).expect("unroll");
    assert_eq!(typed::check(&program), Ok(()));
    program
}

/// The desugared program.
pub fn lowered(text: &str, profile: Profile) -> desugared::Program {
    let program = desugar::run(unrolled(text, profile)).expect("desugar");
    assert_eq!(desugared::check(&program), Ok(()));
    program
}

/// The result of a function, which every stage from `typecheck` to `desugar` must agree on.
pub fn evaluated(text: &str, name: &str, args: &[Lanes], profile: Profile) -> Lanes {
    let program = checked(text, profile);
    let expected = typed::eval(&program, name, args).expect("typed");
    let program = inline::run(program).expect("inline");
    assert_eq!(typed::eval(&program, name, args).as_ref(), Ok(&expected), "inline");
    let program = unroll::run(program).expect("unroll");
    assert_eq!(typed::eval(&program, name, args).as_ref(), Ok(&expected), "unroll");
    let program = desugar::run(program).expect("desugar");
    assert_eq!(desugared::check(&program), Ok(()));
    assert_eq!(desugared::eval(&program, name, args).as_ref(), Ok(&expected), "desugar");
    expected
}
