//! unroll: `typed` → `typed`. Each repeat becomes its trips, the index a constant in each.
//!
//! ```text
//! repeat k: <i32> from 0 up to 2:          acc[<0>] <- acc[<0>] + x
//!   acc[<k>] <- acc[<k>] + x         →     acc[<1>] <- acc[<1>] + x
//! ```
//!
//! Locations stay locations (`desugar` makes values of them). Every name bound in the body is bound anew in each trip, and
//! a region of the body is a region of its own in each. Inner repeats go first. A body's expressions are copied as a set,
//! without recursion.

use la_arena::{ArenaMap, Idx, RawIdx};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::limits;
use rake_ir::typed::{Event, Expr, ExprId, ExprKind, Function, LocalId, Program, Renumber, Repeat, Stmt};

/// Replaces every repeat.
///
/// # Errors
/// Repeats and definitions that would grow beyond the limits.
pub fn run(mut program: Program) -> Result<Program, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    for function in &mut program.functions {
        unroll(function, &mut errors);
    }
    if errors.is_empty() { Ok(program) } else { Err(errors) }
}

fn unroll(function: &mut Function, errors: &mut Vec<Diagnostic>) {
    let (mut blocks, mut repeats) = (Vec::new(), false);
    function.walk(|event| match event {
        Event::Block(id) => blocks.push(id),
        Event::RepeatStart(_) => repeats = true,
        _ => {}
    });
    if !repeats {
        return;
    }
    // Blocks in the order they start: reversed, inner ones come before those around them.
    for id in blocks.into_iter().rev() {
        let ExprKind::Block { body, .. } = &mut function.exprs[id].kind else { continue };
        let body = std::mem::take(body);
        let flat = flatten_checked(function, body, errors);
        if let ExprKind::Block { body, .. } = &mut function.exprs[id].kind {
            *body = flat;
        }
    }
    let body = std::mem::take(&mut function.body);
    function.body = flatten_checked(function, body, errors);
}

fn flatten_checked(function: &mut Function, stmts: Vec<Stmt>, errors: &mut Vec<Diagnostic>) -> Vec<Stmt> {
    let before = errors.len();
    statements(&stmts, errors);
    if errors.len() > before { Vec::new() } else { flatten(function, stmts, errors) }
}

/// The statements once unrolled; reports the innermost repeats that exceed the limit.
fn statements(stmts: &[Stmt], errors: &mut Vec<Diagnostic>) -> u64 {
    let mut sum = 0u64;
    for stmt in stmts {
        sum = sum.saturating_add(match stmt {
            Stmt::Region(stages) => stages.len() as u64,
            Stmt::Repeat(repeat) => {
                let before = errors.len();
                let count = statements(&repeat.body, errors).max(1).saturating_mul(repeat.trips());
                if count > limits::UNROLLED_STATEMENTS && errors.len() == before {
                    errors.push(too_long(repeat, count));
                }
                count
            }
            Stmt::Through(through) => statements(&through.body, errors).saturating_add(2),
            Stmt::Traverse(traverse) => statements(&traverse.body, errors).saturating_add(1),
            Stmt::For(looped) => statements(&looped.body, errors).saturating_add(1),
            Stmt::If(choice) => {
                let then = statements(&choice.then, errors);
                then.saturating_add(statements(&choice.otherwise, errors)).saturating_add(1)
            }
            _ => 1,
        });
    }
    sum
}

fn too_long(repeat: &Repeat, count: u64) -> Diagnostic {
    let most = limits::UNROLLED_STATEMENTS;
    let message = format!("this repeat unrolls to {count} statements, more than {most}");
    Diagnostic::error(Code::LimitExceeded, repeat.span, message)
        .help("trips times statements, inner repeats included, is bounded")
}

fn flatten(function: &mut Function, stmts: Vec<Stmt>, errors: &mut Vec<Diagnostic>) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        let mut repeat = match stmt {
            Stmt::Repeat(repeat) => repeat,
            Stmt::Through(mut through) => {
                through.body = flatten(function, through.body, errors);
                out.push(Stmt::Through(through));
                continue;
            }
            Stmt::Traverse(mut traverse) => {
                traverse.body = flatten(function, traverse.body, errors);
                out.push(Stmt::Traverse(traverse));
                continue;
            }
            Stmt::For(mut looped) => {
                looped.body = flatten(function, looped.body, errors);
                out.push(Stmt::For(looped));
                continue;
            }
            Stmt::If(mut choice) => {
                choice.then = flatten(function, choice.then, errors);
                choice.otherwise = flatten(function, choice.otherwise, errors);
                out.push(Stmt::If(choice));
                continue;
            }
            stmt => {
                out.push(stmt);
                continue;
            }
        };
        repeat.body = flatten(function, repeat.body, errors);
        let body = Body::of(function, &repeat);
        let size = (body.exprs.len() as u64).saturating_mul(repeat.trips());
        if size.saturating_add(function.exprs.len() as u64) > limits::EXPRESSIONS {
            let message =
                format!("`{}` has more than {} expressions once unrolled", function.name, limits::EXPRESSIONS);
            errors.push(Diagnostic::error(Code::LimitExceeded, repeat.span, message));
            continue;
        }
        for trip in repeat.from..repeat.to {
            body.trip(function, &repeat, trip, &mut out);
        }
    }
    out
}

/// What a repeat's body holds.
struct Body {
    exprs: Vec<ExprId>,
    locals: Vec<LocalId>,
    /// The position of each in its list.
    expr_rank: ArenaMap<ExprId, u32>,
    local_rank: ArenaMap<LocalId, u32>,
}

impl Body {
    fn of(function: &Function, repeat: &Repeat) -> Body {
        let (mut exprs, mut locals) = (Vec::new(), Vec::new());
        gather(&repeat.body, &mut exprs, &mut locals);
        let mut next = 0;
        while let Some(&id) = exprs.get(next) {
            next += 1;
            match &function.exprs[id].kind {
                ExprKind::Const(_) | ExprKind::Read(_) | ExprKind::Column { .. } => {}
                ExprKind::Load(access) => exprs.extend([access.index].into_iter().chain(access.bound)),
                ExprKind::Element { index, .. } => exprs.push(*index),
                ExprKind::Op { args, .. } | ExprKind::Call { args, .. } => exprs.extend(args.iter().copied()),
                ExprKind::If { condition, then, otherwise } => exprs.extend([*condition, *then, *otherwise]),
                ExprKind::Sweep { arms } => {
                    exprs.extend(arms.iter().flat_map(|arm| arm.predicate.into_iter().chain([arm.value])));
                }
                ExprKind::Block { body, result } => {
                    gather(body, &mut exprs, &mut locals);
                    exprs.push(*result);
                }
            }
        }
        let mut body = Body { exprs, locals, expr_rank: ArenaMap::default(), local_rank: ArenaMap::default() };
        for (rank, &id) in body.exprs.iter().enumerate() {
            body.expr_rank.insert(id, rank as u32);
        }
        for (rank, &id) in body.locals.iter().enumerate() {
            body.local_rank.insert(id, rank as u32);
        }
        body
    }

    /// Appends one trip's statements to `out` and what they hold to the arenas.
    fn trip(&self, function: &mut Function, repeat: &Repeat, index: i64, out: &mut Vec<Stmt>) {
        let (exprs, locals) = (function.exprs.len() as u32, function.locals.len() as u32);
        let renumber = Renumber {
            expr: |id: ExprId| match self.expr_rank.get(id) {
                Some(rank) => Idx::from_raw(RawIdx::from(exprs + rank)),
                None => id,
            },
            local: |id: LocalId| match self.local_rank.get(id) {
                Some(rank) => Idx::from_raw(RawIdx::from(locals + rank)),
                None => id,
            },
        };
        for &local in &self.locals {
            let local = function.locals[local].clone();
            function.locals.alloc(local);
        }
        for &id in &self.exprs {
            let expr = &function.exprs[id];
            let copy = match expr.kind {
                ExprKind::Read(local) if local == repeat.index => {
                    Expr { kind: ExprKind::Const(index as u64 & expr.ty.elem().lane_mask()), ..*expr }
                }
                _ => renumber.expr(expr),
            };
            function.exprs.alloc(copy);
        }
        out.extend(renumber.stmts(&repeat.body));
    }
}

/// The expressions and names directly in statements.
fn gather(stmts: &[Stmt], exprs: &mut Vec<ExprId>, locals: &mut Vec<LocalId>) {
    for stmt in stmts {
        match stmt {
            Stmt::Let(binding) | Stmt::Location(binding) => {
                locals.push(binding.local);
                exprs.push(binding.value);
            }
            Stmt::Region(stages) => {
                locals.extend(stages.iter().map(|stage| stage.local));
                exprs.extend(stages.iter().map(|stage| stage.value));
            }
            Stmt::Assign { element, value, .. } => {
                exprs.extend(*element);
                exprs.push(*value);
            }
            Stmt::Repeat(repeat) => {
                locals.push(repeat.index);
                gather(&repeat.body, exprs, locals);
            }
            Stmt::Through(through) => {
                locals.push(through.local);
                exprs.push(through.predicate);
                exprs.extend(through.otherwise);
                gather(&through.body, exprs, locals);
                exprs.push(through.result);
            }
            Stmt::Store { access, value } => {
                exprs.extend([access.index, *value].into_iter().chain(access.bound));
            }
            Stmt::For(looped) => {
                locals.push(looped.index);
                exprs.extend([looped.from, looped.to, looped.step]);
                gather(&looped.body, exprs, locals);
            }
            Stmt::If(choice) => {
                exprs.push(choice.condition);
                gather(&choice.then, exprs, locals);
                gather(&choice.otherwise, exprs, locals);
            }
            Stmt::Traverse(traverse) => {
                gather(&traverse.body, exprs, locals);
                exprs.extend(traverse.predicate.into_iter().chain(traverse.columns.iter().map(|column| column.1)));
            }
        }
    }
}

#[cfg(test)]
#[path = "unroll_tests.rs"]
mod tests;
