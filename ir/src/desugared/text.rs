//! How `typed` and `desugared` write constants, immediates and precedence.

use crate::ops::{Imm, Op, Syntax};
use crate::types::Ty;

/// The text of an immediate, with a comma before it when it follows operands.
pub(crate) fn immediate(imm: &Imm) -> Option<String> {
    match imm {
        Imm::None => None,
        Imm::Bits(bits) => Some(format!("{bits:#x}")),
        Imm::Int(value) => Some(value.to_string()),
        Imm::Memory(elem) => Some(elem.to_string()),
        Imm::Reason(reason) => Some(reason.name().into()),
        Imm::Lanes(lanes) => {
            let lanes: Vec<String> = lanes.iter().map(u16::to_string).collect();
            Some(format!("[{}]", lanes.join(", ")))
        }
    }
}

/// How tightly an infix operation binds, from 1; 6 for prefix operations.
pub(crate) fn precedence(op: Op) -> Option<u8> {
    Some(match op {
        Op::Or => 1,
        Op::And => 2,
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => 3,
        Op::Add | Op::Sub => 4,
        Op::Mul | Op::Div => 5,
        _ if op.info().syntax == Syntax::Prefix => 6,
        _ => return None,
    })
}

/// A uniform's text in its mark.
pub(crate) fn marked(text: &str, ty: Ty) -> String {
    if ty.is_uniform() { format!("<{text}>") } else { text.to_owned() }
}
