//! Checks of lanes that stand together become one: they ask whether some lane of any of them fails.
//!
//! ```text
//! %4 : <i64> = count_true %2
//! %5 : <i64> = count_true %3
//! %6 : <bool> = eq %4, %1
//! %7 : <bool> = eq %5, %1              %4 : mask = or %2, %3
//! %8 : <bool> = check %6, bounds       %5 : <i64> = count_true %4
//! %9 : <bool> = check %7, bounds   =>  %6 : <bool> = eq %5, %1
//!                                      %7 : <bool> = check %6, bounds
//! ```
//!
//! The first waits for the last, so nothing between them touches memory. Of two that hold indices against the same bound, the
//! greater ones are held against it where that is cheaper.

use la_arena::Arena;
use rake_ir::cost;
use rake_ir::fused::Function;
use rake_ir::lane::{Args, Stmt, Value, ValueId};
use rake_ir::ops::{Imm, Op};
use rake_ir::profile::Profile;
use rake_ir::types::Ty;

/// Joins the checks of a function.
pub(super) fn join(function: &mut Function, profile: Profile) {
    let checks = |stmt: &Stmt<_>| matches!(stmt, Stmt::Value(id) if function.values[*id].op == Op::Check);
    if function.body.iter().filter(|stmt| checks(stmt)).count() < 2 {
        return;
    }
    let values = &mut function.values;
    let mut body: Vec<Stmt<_>> = Vec::with_capacity(function.body.len());
    // Where the last check of lanes stands, behind which nothing touched memory.
    let mut open: Option<usize> = None;
    for stmt in std::mem::take(&mut function.body) {
        let found = match &stmt {
            Stmt::Value(id) => failing(values, *id).map(|mask| (*id, mask)),
            _ => None,
        };
        if let Some((id, mask)) = found {
            if let Some((at, other)) = open.and_then(|at| Some((at, together(values, &body[at], (id, mask))?))) {
                body.remove(at);
                body.extend(joined(values, id, [other, mask], profile).map(Stmt::Value));
            }
            open = Some(body.len());
        } else if !matches!(&stmt, Stmt::Value(id) if !values[*id].op.depends_on_place())
            && !matches!(stmt, Stmt::Region(_))
        {
            open = None;
        }
        body.push(stmt);
    }
    function.body = body;
}

/// The mask of which a check wants that no lane holds.
fn failing(values: &Arena<Value>, check: ValueId) -> Option<ValueId> {
    let value = &values[check];
    let equal = &values[*value.args.first().filter(|_| value.op == Op::Check)?];
    let &[count, zero] = &equal.args[..] else { return None };
    let none = equal.op == Op::Eq && values[zero].op == Op::Const && values[zero].imm == Imm::Bits(0);
    let counted = &values[count];
    let mask = *counted.args.first().filter(|_| none && counted.op == Op::CountTrue)?;
    let everywhere = [value, equal, counted, &values[mask]].into_iter().all(|value| value.mask.is_none());
    everywhere.then_some(mask)
}

/// The mask of an earlier check, if one check can ask for both.
fn together<R>(values: &Arena<Value>, earlier: &Stmt<R>, (id, mask): (ValueId, ValueId)) -> Option<ValueId> {
    let Stmt::Value(earlier) = earlier else { return None };
    let other = failing(values, *earlier)?;
    (values[*earlier].imm == values[id].imm && values[other].ty == values[mask].ty).then_some(other)
}

/// Lets a check ask for the lanes of both masks; what it then reads that is new.
fn joined(
    values: &mut Arena<Value>,
    check: ValueId,
    masks: [ValueId; 2],
    profile: Profile,
) -> impl Iterator<Item = ValueId> {
    let mut made = Vec::new();
    let mut push = |values: &mut Arena<Value>, op: Op, ty: Ty, args: &[ValueId]| {
        let (imm, args) = (Imm::None, Args::from_slice(args));
        let id = values.alloc(Value { op, imm, args, ty, name: None, ..values[check].clone() });
        made.push(id);
        id
    };
    let zero = values[values[check].args[0]].args[1];
    let any = match beyond_one_bound(values, masks, profile) {
        Some((indices, bound)) => {
            let greater = push(values, Op::Max, values[bound].ty, &indices);
            push(values, Op::Ge, values[masks[1]].ty, &[greater, bound])
        }
        None => push(values, Op::Or, values[masks[1]].ty, &masks),
    };
    let count = push(values, Op::CountTrue, Ty::LONG, &[any]);
    values[check].args[0] = push(values, Op::Eq, Ty::TRUTH, &[count, zero]);
    made.into_iter()
}

/// The indices that two masks hold against the same bound, if the greater ones are found for less than the second comparison.
fn beyond_one_bound(values: &Arena<Value>, masks: [ValueId; 2], profile: Profile) -> Option<([ValueId; 2], ValueId)> {
    let [Some((a, bound)), Some((b, other))] = masks.map(|mask| match (values[mask].op, &values[mask].args[..]) {
        (Op::Ge, &[index, bound]) => Some((index, bound)),
        _ => None,
    }) else {
        return None;
    };
    let (of, mask) = (values[bound].ty, values[masks[0]].ty);
    let throughput = |op: Op, of: Ty| cost::cost(op, of, profile).throughput;
    let cheaper = throughput(Op::Max, of) < throughput(Op::Ge, of) + throughput(Op::Or, mask);
    let integers = of.elem().is_int() && [a, b].iter().all(|&index| values[index].mask.is_none());
    (bound == other && integers && cheaper).then_some(([a, b], bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rake_ir::fused;

    /// Two racks of indices below a count, with `between` between their checks; the operations that remain.
    fn ops(profile: Profile, between: &str, second: &str) -> Vec<Op> {
        let text = format!(
            "rake fused 1\nprofile {profile}\nfuse full\n\nrun f(p: address to mut []f32, n: <i32>) {{\n\
             %0 : address = param 0\n%1 : <i32> = param 1\n%2 : <u32> = bitcast %1\n%3 : u32s = splat %2\n\
             %4 : <i64> = const 0\n%5 : i32s = lane_index\n%6 : u32s = bitcast %5\n%7 : u32s = add %6, %3\n\
             %8 : mask = ge %6, %3\n%9 : mask = {second}\n%10 : <i64> = count_true %8\n%11 : <i64> = count_true %9\n\
             %12 : <bool> = eq %10, %4\n%13 : <bool> = eq %11, %4\n%14 : <bool> = check %12, bounds\n{between}\
             %20 : <bool> = check %13, bounds\n%21 : f32s = load f32 %0, %4\n%22 : f32s = store f32 %0, %4, %21\n}}\n"
        );
        let mut program = fused::read(&text).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}"));
        super::super::function(&mut program.functions[0], profile);
        assert_eq!(fused::check(&program), Ok(()));
        let f = &program.functions[0];
        f.order().map(|id| f.values[id].op).collect()
    }

    fn count(ops: &[Op], op: Op) -> usize {
        ops.iter().filter(|&&other| other == op).count()
    }

    #[test]
    fn one_check_asks_for_both() {
        let ops = ops(Profile::X86Sse2, "", "lt %7, %3");
        assert_eq!((count(&ops, Op::Check), count(&ops, Op::CountTrue), count(&ops, Op::Or)), (1, 1, 1), "{ops:?}");
    }

    #[test]
    fn the_greater_indices_are_held_against_one_bound_where_maxima_are_cheap() {
        let wide = ops(Profile::X86Avx2, "", "ge %7, %3");
        assert_eq!((count(&wide, Op::Check), count(&wide, Op::Max), count(&wide, Op::Ge)), (1, 1, 1), "{wide:?}");
        // SSE2 has no maximum of unsigned lanes.
        let narrow = ops(Profile::X86Sse2, "", "ge %7, %3");
        assert_eq!(
            (count(&narrow, Op::Check), count(&narrow, Op::Max), count(&narrow, Op::Or)),
            (1, 0, 1),
            "{narrow:?}"
        );
    }

    #[test]
    fn none_waits_across_memory() {
        let ops =
            ops(Profile::X86Avx2, "%15 : f32s = load f32 %0, %4\n%16 : f32s = store f32 %0, %4, %15\n", "lt %7, %3");
        assert_eq!((count(&ops, Op::Check), count(&ops, Op::CountTrue)), (2, 2), "{ops:?}");
    }
}
