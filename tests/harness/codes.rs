//! Every code of the table is shown by a case, or by a test where a case cannot show it.

use super::{Case, root};
use rake_ir::diag::Code;

/// Codes that no case file can show: the test that shows them, and why no case does.
const ELSEWHERE: &[(Code, &str, &str)] = &[
    (Code::TooManyErrors, "passes/src/parse/tests/recovery.rs", "a case would have to expect all errors before it"),
    (Code::Internal, "tests/command.rs", "no input should give it: it is a fault of the compiler"),
    (Code::WidthMismatch, "tests/command.rs", "it is about an option and has no place in a file"),
    (Code::PassChangedResult, "rakec/pipeline/observe.rs", "it is a fault of the compiler"),
    (Code::Usage, "tests/command.rs", "it is about the command line"),
    (Code::MalformedDump, "ir/src/text.rs", "it is about dumps"),
    (Code::WrongDump, "ir/src/text.rs", "it is about dumps"),
    (Code::InvalidUtf8, "passes/src/parse/tests/lexical.rs", "a case file is text"),
    (Code::StrayCarriageReturn, "passes/src/parse/tests/lexical.rs", "tools that copy files change line ends"),
    (Code::ObjectMalformed, "verifier/tests/obligations.rs", "it is about objects"),
    (Code::ObjectDiffers, "verifier/tests/mutations.rs", "it is about objects"),
    (Code::ObligationBroken, "verifier/tests/obligations.rs", "it is about objects"),
];

/// Each code has a case or stands in the list above, not both, and the test named there names it.
pub fn check(cases: &[Case]) -> Result<(), String> {
    let shown = |code: Code| cases.iter().any(|case| case.directives.problems.iter().any(|p| p.code == code));
    let mut wrong = Vec::new();
    for &code in Code::ALL {
        match ELSEWHERE.iter().find(|(other, ..)| *other == code) {
            None if !shown(code) => wrong.push(format!("{code} ({}) has no case", code.title())),
            Some((_, _, reason)) if shown(code) => {
                wrong.push(format!("{code} has a case, so \"{reason}\" is not true"))
            }
            Some((_, path, _)) => {
                let text = std::fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))?;
                if !text.contains(code.as_str()) && !text.contains(&format!("Code::{}", code.name())) {
                    wrong.push(format!("{path} does not test {code}"));
                }
            }
            None => {}
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
