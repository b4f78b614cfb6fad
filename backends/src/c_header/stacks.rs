//! What a run takes in memory, as C declares it.
//!
//! ```c
//! struct rake_stack_Samples_v2 {
//!     int64_t count;
//!     float *value;
//!     uint8_t *quality;
//! };
//!
//! /* run weigh(s: stack Samples, table: []f32) -> stack Samples */
//! void weigh(struct rake_stack_Samples_v2 *s, const float *table, int32_t table_count);
//! ```

use super::reserved::is_word;
use super::{Declaration, scalar_type};
use rake_ir::types::{Elem, Pointee};
use smol_str::SmolStr;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What callers owe runs and may rely on.
pub const CONTRACT: &str = "
/* Runs work on their caller's memory.

   A stack is a count of records and a column for each field. The stacks of one call have the same count, which is not
   negative, and each column has as many elements. A view is a pointer to its first element and its number of elements,
   which is not negative.

   A run touches no element past a count; where a count is 0 the pointers are not followed and may be null. It writes
   only through parameters that are not const. What it writes stands in another argument at exactly the same address, or
   shares no memory with it: a column may be its own input, or that of another stack, but may not overlap it shifted.
   Elements are aligned as their type asks, no more.

   A run that keeps some of the records leaves their number in the count; elements past it then hold anything. A run
   whose accesses are checked stops the program by an illegal instruction before one that is out of bounds.

   The floating-point environment is the caller's: rounding to nearest, subnormals kept. */
";

/// A structure in C.
#[derive(Clone, PartialEq, Debug)]
pub struct Structure {
    /// Its tag.
    tag: String,
    /// Its definition.
    text: String,
}

/// The structure of a stack; none of a view.
pub fn structure(pointee: &Pointee) -> Option<Structure> {
    let Pointee::Stack { pack, columns, .. } = pointee else { return None };
    let tag = tag(pack);
    let mut text = format!("struct {tag} {{\n    int64_t count;\n");
    for (field, (_, elem)) in fields(pointee).iter().zip(columns) {
        let _ = writeln!(text, "    {} *{field};", scalar_type(*elem));
    }
    text.push_str("};\n");
    Some(Structure { tag, text })
}

/// What the columns of a stack are called in C, in order.
pub fn fields(pointee: &Pointee) -> Vec<String> {
    let mut names = BTreeSet::from(["count".to_owned()]);
    let unique = |(name, _): &(SmolStr, Elem)| {
        let mut field = if is_word(name) { format!("rake_{name}") } else { name.to_string() };
        while !names.insert(field.clone()) {
            field.push('_');
        }
        field
    };
    pointee.columns().iter().map(unique).collect()
}

fn tag(pack: &str) -> String {
    format!("rake_stack_{pack}_v2")
}

/// The type of a parameter that leads to this.
pub fn pointer(pointee: &Pointee) -> String {
    let (of, mutable) = match pointee {
        Pointee::View { elem, mutable } => (scalar_type(*elem).to_owned(), *mutable),
        Pointee::Stack { pack, mutable, .. } => (format!("struct {}", tag(pack)), *mutable),
    };
    format!("{}{of} *", if mutable { "" } else { "const " })
}

/// The structures that functions need, each once. Headers for several programs may define the same.
pub fn structures(declarations: &[Declaration]) -> String {
    let mut out = String::new();
    let mut written = BTreeSet::new();
    for structure in declarations.iter().flat_map(|declaration| &declaration.stacks) {
        if written.insert(&structure.tag) {
            let Structure { tag, text } = structure;
            let _ = write!(out, "\n#ifndef RAKE_HAS_{tag}\n#define RAKE_HAS_{tag}\n{text}#endif\n");
        }
    }
    out
}
