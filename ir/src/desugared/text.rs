//! How `typed` and `desugared` write constants, immediates and precedence.

use crate::ops::{Imm, Op, Syntax};
use crate::types::{Elem, ElemClass, Ty};

/// A constant of this element as IR dumps write it: decimal where that reads back to the same bits, else hexadecimal bits.
pub fn constant(bits: u64, elem: Elem) -> String {
    match elem {
        Elem::Bool => (bits & 1 == 1).to_string(),
        Elem::F32 => float(f64::from(f32::from_bits(bits as u32)), &format!("{:?}", f32::from_bits(bits as u32)), bits),
        Elem::F64 => float(f64::from_bits(bits), &format!("{:?}", f64::from_bits(bits)), bits),
        _ if elem.class() == ElemClass::Signed => {
            let unused = 64 - elem.bits();
            ((bits << unused) as i64 >> unused).to_string()
        }
        _ => (bits & elem.lane_mask()).to_string(),
    }
}

fn float(value: f64, decimal: &str, bits: u64) -> String {
    if value.is_finite() { decimal.to_owned() } else { format!("bits {bits:#x}") }
}

/// The text of an immediate, with a comma before it when it follows operands.
pub(crate) fn immediate(imm: &Imm) -> Option<String> {
    match imm {
        Imm::None => None,
        Imm::Bits(bits) => Some(format!("{bits:#x}")),
        Imm::Int(value) => Some(value.to_string()),
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
