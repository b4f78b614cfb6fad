//! Answers to questions that need no program; the generated pages of the documentation are made from the same text.

use super::arguments::Lists;
use crate::pipeline::{PASSES, Work};
use rake_ir::diag::Code;
use rake_ir::profile::{PROFILES, Profile};
use rake_ir::types::Elem;
use std::fmt::Write as _;

/// The answer, when a question was asked.
///
/// # Errors
/// An unknown code.
pub fn answer(lists: &Lists) -> Result<Option<String>, String> {
    Ok(if lists.list_passes {
        Some(passes())
    } else if lists.print_targets {
        Some(targets())
    } else if lists.print_capabilities {
        Some(rake_ir::capabilities::print(&Profile::all().collect::<Vec<_>>()))
    } else if let Some(code) = &lists.explain {
        Some(explain(code)?)
    } else {
        None
    })
}

/// The passes, in order.
pub fn passes() -> String {
    let mut text =
        format!("{:>2}  {:<14} {:<10}    {:<10} {:<11}  {}\n", "", "pass", "from", "to", "profiles", "what it does");
    for (index, pass) in PASSES.iter().enumerate() {
        let (from, to) = (pass.from.name(), pass.to.name());
        let profiles = pass.profiles.to_string();
        let _ =
            writeln!(text, "{:>2}  {:<14} {from:<10} -> {to:<10} {profiles:<11}  {}", index + 1, pass.name, pass.doc);
        for (earlier, reason) in pass.after {
            let _ = writeln!(text, "{:>19} after {earlier}: {reason}", "");
        }
    }
    let alone = PASSES.iter().filter(|pass| pass.work == Work::Function).map(|pass| pass.name);
    let _ = writeln!(text, "\nSeveral functions at a time: {}", alone.collect::<Vec<_>>().join(" "));
    text
}

/// The profiles: their racks, what executes them and what tests them. Code for any of them is made on any host.
pub fn targets() -> String {
    let mut text = format!("{:<20} {:>9} {:>9}  {}\n", "profile", "rack bits", "f32 lanes", "instruction set");
    for row in PROFILES {
        let lanes = row.profile.lanes(Elem::F32);
        let later = if row.available { "" } else { "; not available yet" };
        let bits = if row.rack_bits == 0 { "element".to_owned() } else { row.rack_bits.to_string() };
        let _ = writeln!(text, "{:<20} {bits:>9} {lanes:>9}  {}{later}", row.name, row.instruction_set);
        let _ = writeln!(text, "{:<20} runs on: {}", "", row.runs_on);
        let _ = writeln!(text, "{:<20} tested with: {}", "", row.tested_with);
    }
    text
}

fn explain(word: &str) -> Result<String, String> {
    let code = Code::parse(word).ok_or_else(|| {
        let known = Code::ALL.iter().map(|code| format!("\n  {code}  {}", code.title()));
        format!("there is no code `{word}`; the codes are{}", known.collect::<String>())
    })?;
    Ok(format!("{code}: {} ({})\n\n{}\n", code.title(), code.stage(), wrap(code.explanation(), 100)))
}

/// Words filled into lines of at most `width`.
fn wrap(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + word.len() < width => *line += &format!(" {word}"),
            _ => lines.push(word.to_string()),
        }
    }
    lines.join("\n")
}
