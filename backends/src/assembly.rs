//! What the GNU assembly of every family has in common.

use rake_ir::allocated::Function;
use std::fmt::Write;

/// How a family's assembler spells what all have.
pub(crate) struct Dialect {
    /// Begins a comment.
    pub comment: &'static str,
    /// Begins the type of a symbol or section.
    pub at: char,
    /// What stands between functions, and where indirect calls land.
    pub padding: u8,
    #[allow(missing_docs)]
    pub landing: &'static str,
    /// The program property of branch protection: its type and its bits.
    pub property: (u32, u32),
}

/// The text up to the first function.
pub(crate) fn begin(dialect: &Dialect, stamp: &str) -> String {
    format!("{} {}\n\t.text\n", dialect.comment, one_line(stamp))
}

/// Begins a function, up to its landing.
pub(crate) fn begin_function(
    out: &mut String,
    dialect: &Dialect,
    function: &Function,
    (align, exported): (usize, bool),
) {
    let (name, Dialect { comment, at, padding, landing, .. }) = (&function.name, dialect);
    let _ = write!(out, "\n\t.p2align {}, {padding:#x}\n\t.globl {name}\n", align.trailing_zeros());
    if !exported {
        let _ = writeln!(out, "\t.hidden {name}");
    }
    let _ = writeln!(out, "\t.type {name}, {at}function");
    let params: Vec<String> = function.params.iter().map(|p| format!("{}: {} in {}", p.name, p.ty, p.place)).collect();
    let result = function.result.map_or_else(String::new, |result| format!(" -> {} in {}", result.ty, result.place));
    let _ = writeln!(out, "{comment} {name}({}){result}", params.join(", "));
    let _ = write!(out, "{name}:\n\t.cfi_startproc\n\t{landing}\n");
}

/// Ends a function's code.
pub(crate) fn end_function(out: &mut String, name: &str) {
    let _ = write!(out, "\t.cfi_endproc\n\t.size {name}, .-{name}\n");
}

/// Ends a text: the stamp, no executable stack, and the property of branch protection.
pub(crate) fn end(out: &mut String, dialect: &Dialect, stamp: &str) {
    let (Dialect { at, property: (kind, bits), .. }, stamp) = (dialect, one_line(stamp).replace(['"', '\\'], "?"));
    let _ = write!(
        out,
        "\t.ident\t\"{stamp}\"
\t.section .note.GNU-stack,\"\",{at}progbits
\t.section .note.gnu.property,\"a\",{at}note
\t.p2align 3
\t.long 4, 16, 5
\t.string \"GNU\"
\t.long {kind:#x}, 4, {bits}, 0
"
    );
}

/// Writes a comment that says where the next instructions come from, where that is known.
pub(crate) fn remark(out: &mut String, dialect: &Dialect, place: &Option<(String, u32)>, region: Option<u32>) {
    let place = place.as_ref().map(|(file, line)| format!("{}:{line}", one_line(file)));
    let region = region.map(|r| format!("region {r}"));
    let words: Vec<String> = place.into_iter().chain(region).collect();
    if !words.is_empty() {
        let _ = writeln!(out, "{} {}", dialect.comment, words.join(", "));
    }
}

/// Bytes as 32-bit words of assembly.
pub(crate) fn words(bytes: &[u8]) -> String {
    let words = bytes.chunks(4).map(|word| {
        let bytes: Vec<String> = word.iter().rev().map(|b| format!("{b:02x}")).collect();
        format!("0x{}", bytes.concat())
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Text that stays inside its comment or string.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
