//! inline: `typed` → `typed`. Each call of a scratch, rake or tine becomes a block where it stands.
//!
//! ```text
//! scratch sq(x: f32s) -> f32s:             scratch f(m: mask, a: f32s) -> f32s:
//!   x * x                            →       if m then do
//! scratch f(m: mask, a: f32s) -> f32s:           let x: f32s = a
//!   if m then sq(a) else a                       in x * x
//!                                              end else a
//! ```
//!
//! The block stays inside an `if` arm, so the arm's mask still covers it, and its regions stay regions of their own.
//! Callees come first, so each body is copied once per call, already complete, by appending its arenas: nothing here
//! recurses. The size that results is computed before anything is copied, since 32 levels of two calls would be 2^32
//! bodies. Every scratch and rake stays in the program, because each is a C function too; tines go.

use la_arena::{Idx, RawIdx};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::limits;
use rake_ir::typed::{Binding, ExprKind, Function, FunctionKind, Program, Renumber, Stmt};

/// Replaces every call.
///
/// # Errors
/// Definitions that would grow beyond the limits.
pub fn run(mut program: Program) -> Result<Program, Vec<Diagnostic>> {
    let callees: Vec<Vec<usize>> = program.functions.iter().map(callees).collect();
    let Some(order) = order(&callees) else {
        return Err(vec![Diagnostic::spanless(Code::Internal, "calls that recurse reached `inline`")]);
    };
    check_sizes(&program, &callees, &order)?;
    for index in order {
        if callees[index].is_empty() {
            continue;
        }
        let mut function = program.functions[index].clone();
        for id in 0..function.exprs.len() as u32 {
            inline_call(&mut function, Idx::from_raw(RawIdx::from(id)), &program.functions);
        }
        program.functions[index] = function;
    }
    program.functions.retain(|function| function.kind != FunctionKind::Tine);
    Ok(program)
}

fn callees(function: &Function) -> Vec<usize> {
    let calls = function.exprs.values().filter_map(|expr| match expr.kind {
        ExprKind::Call { callee, .. } => Some(callee.0 as usize),
        _ => None,
    });
    calls.collect()
}

/// Callees before their callers; `None` when they recurse.
fn order(callees: &[Vec<usize>]) -> Option<Vec<usize>> {
    let (mut order, mut open, mut done) = (Vec::new(), vec![false; callees.len()], vec![false; callees.len()]);
    for root in 0..callees.len() {
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.pop() {
            if done[node] {
                continue;
            }
            open[node] = true;
            match callees[node].get(next) {
                Some(&callee) => {
                    path.push((node, next + 1));
                    if !*done.get(callee)? {
                        if open[callee] {
                            return None;
                        }
                        path.push((callee, 0));
                    }
                }
                None => {
                    done[node] = true;
                    order.push(node);
                }
            }
        }
    }
    Some(order)
}

fn statements(stmts: &[Stmt]) -> u64 {
    let count = |stmt: &Stmt| match stmt {
        Stmt::Region(stages) => stages.len() as u64,
        Stmt::Repeat(repeat) => 1 + statements(&repeat.body),
        Stmt::Through(through) => 2 + statements(&through.body),
        Stmt::Traverse(traverse) => 1 + statements(&traverse.body),
        Stmt::For(looped) => 1 + statements(&looped.body),
        Stmt::If(choice) => 1 + statements(&choice.then) + statements(&choice.otherwise),
        _ => 1,
    };
    stmts.iter().map(count).sum()
}

fn check_sizes(program: &Program, callees: &[Vec<usize>], order: &[usize]) -> Result<(), Vec<Diagnostic>> {
    let mut sizes = vec![(0u64, 0u64); callees.len()];
    let mut errors = Vec::new();
    for &index in order {
        let function = &program.functions[index];
        let own = (statements(&function.body) + 1, function.exprs.len() as u64);
        let (stmts, exprs) = callees[index].iter().fold(own, |(stmts, exprs), &callee| {
            let params = program.functions[callee].params.len() as u64;
            (stmts.saturating_add(sizes[callee].0).saturating_add(params), exprs.saturating_add(sizes[callee].1))
        });
        let within = stmts <= limits::INLINED_STATEMENTS && exprs <= limits::EXPRESSIONS;
        if !within {
            let most = limits::INLINED_STATEMENTS;
            let message = format!("`{}` has more than {most} statements once its calls are inlined", function.name);
            let error = Diagnostic::error(Code::LimitExceeded, function.span, message);
            errors.push(error.help("calls are inlined; call fewer scratches that call others"));
        }
        // A caller of what is reported already is not reported again.
        sizes[index] = if within { (stmts, exprs) } else { (0, 0) };
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn inline_call(function: &mut Function, call: Idx<rake_ir::typed::Expr>, functions: &[Function]) {
    let ExprKind::Call { callee, args } = &function.exprs[call].kind else { return };
    let (callee, args) = (&functions[callee.0 as usize], args.clone());
    let (exprs, locals) = (function.exprs.len() as u32, function.locals.len() as u32);
    let renumber = Renumber {
        expr: |id: Idx<_>| Idx::from_raw(RawIdx::from(id.into_raw().into_u32() + exprs)),
        local: |id: Idx<_>| Idx::from_raw(RawIdx::from(id.into_raw().into_u32() + locals)),
    };
    for local in callee.locals.values() {
        function.locals.alloc(local.clone());
    }
    for expr in callee.exprs.values() {
        function.exprs.alloc(renumber.expr(expr));
    }
    let params = callee.params.iter().zip(args);
    let mut body: Vec<Stmt> =
        params.map(|(&param, value)| Stmt::Let(Binding { local: (renumber.local)(param), value })).collect();
    body.extend(renumber.stmts(&callee.body));
    if let Some(result) = callee.result {
        function.exprs[call].kind = ExprKind::Block { body, result: (renumber.expr)(result) };
    }
}

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;
