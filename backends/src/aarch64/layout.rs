//! Where everything of an object stands: functions in `.text`, each with its literals after it.

use super::encode::{Encoded, Pool, encode};
use crate::elf::{FUNCTION_ALIGN, Placed};
use rake_ir::allocated::Program;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::profile::Family;

/// What stands before functions and literals: `udf #0`.
pub const PADDING: u8 = 0;

/// An object before it is written.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The bytes of `.text`.
    pub text: Vec<u8>,
    /// The functions, in the program's order.
    pub functions: Vec<Placed>,
    /// The literals of each function.
    pub pools: Vec<Pool>,
    /// Where in `.text` code begins (`true`) and where data begins, by turns.
    pub turns: Vec<(u32, bool)>,
}

/// Encodes and lays out a program.
///
/// # Errors
/// A profile without AArch64 encodings, a function too long to reach its literals, or a fault of an earlier pass.
pub fn lay_out(program: &Program) -> Result<Layout, Diagnostic> {
    if program.profile.info().family != Family::Aarch64 {
        let message = format!("{} is not an AArch64 profile", program.profile);
        return Err(Diagnostic::spanless(Code::NotOnProfile, message));
    }
    let mut out = Layout::default();
    for function in &program.functions {
        let Encoded { code, pool, starts, unwind } = encode(function)?;
        // Padding is code, so a text that has both turns to code where the literals end.
        if out.turns.last().is_none_or(|&(_, code)| !code) {
            out.turns.push((out.text.len() as u32, true));
        }
        out.text.resize(out.text.len().next_multiple_of(FUNCTION_ALIGN), PADDING);
        let (start, len) = (out.text.len(), code.len() as u32);
        out.text.extend_from_slice(&code);
        if let Some(first) = pool.first() {
            out.turns.push((start as u32 + first, false));
        }
        for &(literal, at) in &pool.places {
            out.text.resize(start + at as usize, PADDING);
            out.text.extend(function.literals.get(literal as usize).into_iter().flatten());
        }
        out.functions.push(Placed { name: function.name.clone(), start: start as u32, len, insts: starts, unwind });
        out.pools.push(pool);
    }
    Ok(out)
}
