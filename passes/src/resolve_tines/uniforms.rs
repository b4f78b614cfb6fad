//! Uniforms inside a branch over lanes: computed as racks under its mask, so that they raise no flag when the branch
//! takes no lane.

use super::Lowering;
use rake_ir::desugared::Expr;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::{Args, Value, ValueId, needs_benign};
use rake_ir::ops::{Imm, LaneRule, Op};
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};

impl Lowering<'_> {
    /// The lane width at which an operation on uniforms is computed as a rack: inside a branch over lanes, when it might
    /// raise a flag there or reads what is a rack already.
    pub fn raised_width(&self, op: Op, args: &[ValueId], expr: &Expr) -> Option<u32> {
        let types = || args.iter().map(|&arg| self.out.values[arg].ty);
        let width = self.masks.lane_width(&self.out)?;
        let fits = |ty: Ty| ty.is_truth() || ty.elem().bits() == width;
        let lane_wise = matches!(op.info().lane, LaneRule::Total | LaneRule::Sanitise(_)) && op != Op::Splat;
        if op == Op::If && !types().next()?.is_uniform() && expr.ty.is_uniform() {
            return Some(width);
        }
        let shifted = args.len() == 2 && matches!(op.info().types, rake_ir::ops::TypeRule::Shift);
        if !expr.ty.is_uniform() || !lane_wise || shifted || !fits(expr.ty) || !types().all(fits) {
            return None;
        }
        let raises = types().next().is_some_and(|ty| needs_benign(op, ty.elem(), expr.ty.elem()).is_some());
        (raises || types().any(|ty| !ty.is_uniform())).then_some(width)
    }

    pub fn as_rack(&mut self, id: ValueId, width: u32, span: Span) -> ValueId {
        let value = &self.out.values[id];
        let ty = match value.ty {
            Ty::Uniform(_) if value.ty.is_truth() => Ty::Mask(width),
            Ty::Uniform(elem) => Ty::Rack(elem),
            _ => return id,
        };
        let mask = if value.mask.is_some() { self.masks.of(ty, &mut self.out, span) } else { None };
        self.out.push(Op::Splat, Imm::None, &[id], ty, mask, span)
    }

    /// The uniform that a raised rack stands for, computed again in every lane: for the few operations that take a
    /// uniform beside a rack, such as a shift's count. What may raise a flag is refused, since no lane may ask for it.
    pub fn as_uniform(&mut self, id: ValueId, span: Span) -> ValueId {
        let mut done: std::collections::HashMap<ValueId, ValueId> = std::collections::HashMap::new();
        let mut stack = vec![(id, false)];
        while let Some((id, visited)) = stack.pop() {
            if done.contains_key(&id) {
                continue;
            }
            let value = self.out.values[id].clone();
            if value.ty.is_uniform() {
                done.insert(id, id);
            } else if value.op == Op::Splat {
                done.insert(id, value.args[0]);
            } else if visited {
                let args: Args = value.args.iter().filter_map(|arg| done.get(arg).copied()).collect();
                self.refuse_raising(&value, &args);
                let ty = Ty::Uniform(value.ty.elem());
                done.insert(id, self.out.push(value.op, value.imm, &args, ty, None, span));
            } else {
                stack.push((id, true));
                stack.extend(value.args.iter().map(|&arg| (arg, false)));
            }
        }
        done.get(&id).copied().unwrap_or(id)
    }

    fn refuse_raising(&mut self, value: &Value, args: &[ValueId]) {
        let operand = args.first().map_or(Elem::Bool, |&arg| self.out.values[arg].ty.elem());
        if needs_benign(value.op, operand, value.ty.elem()).is_some() {
            let message = format!("`{}` of uniforms cannot stand here", value.op.name());
            let fault = Diagnostic::error(Code::UnderMask, value.span, message)
                .at("it may raise an exception, and perhaps no lane is computed");
            self.faults.push(fault.help("bind it with `let` where every lane is computed"));
        }
    }
}
