//! Operators by name, and what stands in them.

use crate::obligations::Refusal;
use rake_ir::machine::wasm::Wasm;
use rake_ir::profile::Profile;
use wasmparser::Operator;

macro_rules! names {
    ($(@$proposal:ident $op:ident $({ $($arg:ident: $argty:ty),* })? => $visit:ident ($($ann:tt)*))*) => {
        /// The name of an operator as its visitor has it, and whether something stands in it.
        fn described(operator: &Operator<'_>) -> (&'static str, bool) {
            match operator {
                $(Operator::$op { .. } => (stringify!($visit), false $($(|| !stringify!($arg).is_empty())*)?),)*
                _ => ("", true),
            }
        }
    };
}
wasmparser::for_each_operator!(names);

/// The name of an operator, which is that of the text format with `_` for `.`.
pub fn name(operator: &Operator<'_>) -> &'static str {
    let name = described(operator).0;
    name.strip_prefix("visit_").unwrap_or(name)
}

/// What stands in an operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Payload {
    /// Nothing.
    Nothing,
    /// A lane.
    Lane(u8),
    /// The bytes of a constant, or of the numbers of bytes.
    Bytes(Vec<u8>),
    /// What is added to an address, and the lane where one is transferred.
    Place(u64, Option<u8>),
}

/// What stands in an operation on values; `None` of what is none.
pub fn payload(operator: &Operator<'_>) -> Option<Payload> {
    Some(match operator {
        Operator::F32x4ExtractLane { lane }
        | Operator::F32x4ReplaceLane { lane }
        | Operator::I32x4ExtractLane { lane }
        | Operator::I32x4ReplaceLane { lane }
        | Operator::I64x2ExtractLane { lane }
        | Operator::I64x2ReplaceLane { lane } => Payload::Lane(*lane),
        Operator::V128Const { value } => Payload::Bytes(value.bytes().to_vec()),
        Operator::I32Const { value } => Payload::Bytes(value.to_le_bytes().to_vec()),
        Operator::I64Const { value } => Payload::Bytes(value.to_le_bytes().to_vec()),
        Operator::F32Const { value } => Payload::Bytes(value.bits().to_le_bytes().to_vec()),
        Operator::I8x16Shuffle { lanes } => Payload::Bytes(lanes.to_vec()),
        other if !described(other).1 => Payload::Nothing,
        other => return place(other),
    })
}

/// What stands in a transfer of the one memory that promises no alignment; `None` of another one.
fn place(operator: &Operator<'_>) -> Option<Payload> {
    let (memarg, lane) = match operator {
        Operator::V128Load { memarg }
        | Operator::V128Load32Splat { memarg }
        | Operator::V128Load32Zero { memarg }
        | Operator::V128Load16x4S { memarg }
        | Operator::V128Load16x4U { memarg }
        | Operator::V128Store { memarg }
        | Operator::I32Load { memarg }
        | Operator::I32Load16S { memarg }
        | Operator::I32Load16U { memarg }
        | Operator::I32Load8S { memarg }
        | Operator::I32Load8U { memarg }
        | Operator::I64Load { memarg }
        | Operator::I64Store { memarg } => (memarg, None),
        Operator::V128Store64Lane { memarg, lane }
        | Operator::V128Store32Lane { memarg, lane }
        | Operator::V128Store16Lane { memarg, lane }
        | Operator::V128Store8Lane { memarg, lane } => (memarg, Some(*lane)),
        _ => return None,
    };
    (memarg.memory == 0 && memarg.align == 0).then_some(Payload::Place(memarg.offset, lane))
}

/// The row that an operator is, where the profile has it.
pub fn row(operator: &Operator<'_>, profile: Profile) -> Option<Wasm> {
    let row = Wasm::from_name(name(operator)).filter(|row| row.is_instruction())?;
    row.info().mnemonics[profile.variant()].and(payload(operator)).map(|_| row)
}

/// What an operator is that kernels do not hold.
pub fn refusal(operator: &Operator<'_>) -> Refusal {
    let name = name(operator);
    let starts = |stems: &[&str]| stems.iter().any(|stem| name.starts_with(stem));
    match () {
        () if starts(&["call", "return_call"]) => Refusal::Call,
        () if starts(&["block", "loop", "if", "else", "br", "return", "unreachable", "try", "throw", "end"]) => {
            Refusal::Branch
        }
        () if starts(&["global", "table", "ref", "elem"]) => Refusal::Shared,
        () if starts(&["memory", "data"]) || name.contains("load") || name.contains("store") => Refusal::Memory,
        () => Refusal::Other,
    }
}
