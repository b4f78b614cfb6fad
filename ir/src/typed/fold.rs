//! The value of uniform integer expressions that are known when compiled: repeat bounds, indices of arrays.

use super::{Expr, ExprId, ExprKind, LocalId};
use crate::ops::Op;
use crate::types::{Elem, ElemClass, Ty};
use la_arena::Arena;

/// The number that these bits are in this integer element.
pub fn integer(bits: u64, elem: Elem) -> i128 {
    let unused = 64 - elem.bits();
    match elem.class() {
        ElemClass::Signed => i128::from((bits << unused) as i64 >> unused),
        _ => i128::from(bits & elem.lane_mask()),
    }
}

/// The wrapped bits of a uniform integer made of constants, `+ - *`, negation and the names that `index` knows. `None`
/// when it holds anything else. Left operands may form a chain of any length.
pub fn fold_int(exprs: &Arena<Expr>, expr: ExprId, index: &impl Fn(LocalId) -> Option<u64>) -> Option<u64> {
    let Ty::Uniform(elem) = exprs[expr].ty else { return None };
    if !elem.is_int() {
        return None;
    }
    let mut pending = Vec::new();
    let mut at = expr;
    let mut value = loop {
        match &exprs[at].kind {
            ExprKind::Const(bits) => break *bits,
            ExprKind::Read(local) => break index(*local)?,
            ExprKind::Op { op: op @ Op::Neg, args, .. } => {
                pending.push((*op, None));
                at = args[0];
            }
            ExprKind::Op { op: op @ (Op::Add | Op::Sub | Op::Mul), args, .. } => {
                pending.push((*op, Some(args[1])));
                at = args[0];
            }
            _ => return None,
        }
    };
    for (op, right) in pending.into_iter().rev() {
        let right = right.map_or(Some(0), |right| fold_int(exprs, right, index))?;
        value = match op {
            Op::Add => value.wrapping_add(right),
            Op::Sub => value.wrapping_sub(right),
            Op::Mul => value.wrapping_mul(right),
            _ => value.wrapping_neg(),
        };
    }
    Some(value & elem.lane_mask())
}
