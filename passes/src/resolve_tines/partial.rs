//! Values with lanes that nobody computed, and who may read them.
//!
//! The result of a through block without `else` is partial: it has a value in the block's lanes only. A name bound to it,
//! and an inlined call that returns it, are partial too; every other reader needs all its own lanes to be among these.

use super::bdd::{FALSE, Formula};
use super::{Lowering, words};
use rake_ir::desugared::{Event, ExprId, ExprKind, LocalId};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::ValueId;
use rake_ir::ops::{LaneRule, Op};
use rake_ir::span::Span;
use rake_ir::types::Ty;
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

/// A through block without `else`.
#[derive(Clone, Debug)]
pub struct Partial {
    /// The name it gives.
    name: SmolStr,
    /// Its header.
    span: Span,
    /// Its predicate.
    predicate: ValueId,
    /// The conditions around it and its predicate: where it has a value.
    lanes: Formula,
}

/// The partial values so far.
#[derive(Default)]
pub struct Partials {
    all: Vec<Partial>,
    locals: HashMap<LocalId, usize>,
    exprs: HashMap<ExprId, usize>,
    /// Expressions inside predicates, once needed.
    in_predicates: Option<HashSet<ExprId>>,
}

impl Partials {
    /// A through block's name is partial.
    pub fn add(&mut self, local: LocalId, partial: Partial) {
        self.locals.insert(local, self.all.len());
        self.all.push(partial);
    }

    /// A name is as partial as its value.
    pub fn bind(&mut self, local: LocalId, value: ExprId) {
        if let Some(&partial) = self.exprs.get(&value) {
            self.locals.insert(local, partial);
        }
    }

    /// An expression that only names another value is as partial as that.
    pub fn pass_on(&mut self, id: ExprId, kind: &ExprKind) {
        let partial = match kind {
            ExprKind::Read(local) => self.locals.get(local),
            ExprKind::Block { result, .. } => self.exprs.get(result),
            _ => None,
        };
        if let Some(&partial) = partial {
            self.exprs.insert(id, partial);
        }
    }
}

impl Lowering<'_> {
    /// The partial value that a through block without `else` is.
    pub fn partial(&mut self, name: SmolStr, span: Span, predicate: ValueId) -> Option<Partial> {
        let lanes = self.decide(span, |this| this.masks.effective(&mut this.out))?;
        Some(Partial { name, span, predicate, lanes })
    }

    /// Checks the read of an expression by something that uses its value here; by an operation that gives the type when
    /// `op` says so. Gives false when it is refused.
    pub fn reads(&mut self, id: ExprId, op: Option<(Op, Ty)>) -> bool {
        let Some(&partial) = self.partials.exprs.get(&id) else { return true };
        let partial = self.partials.all[partial].clone();
        let expr = &self.source.exprs[id];
        let span = expr.span;
        // The reader may know it by another name.
        let name = match expr.kind {
            ExprKind::Read(local) => self.source.locals[local].name.clone(),
            _ => partial.name.clone(),
        };
        let lane = op.map(|(op, ty)| op.lane_rule(&[expr.ty], ty));
        let fault = if let Some((op, _)) = op.filter(|_| matches!(lane, Some(LaneRule::CrossLane | LaneRule::Unmasked)))
        {
            let message = format!("`{}` reads all lanes of `{name}`, which has a value in some only", op.name());
            Diagnostic::error(Code::PartialLanes, span, message)
        } else if self.in_predicate(id) {
            let message = format!("a predicate reads `{name}`, which has a value in some lanes only");
            Diagnostic::error(Code::PartialPredicate, span, message)
        } else {
            let outside = self.decide(span, |this| {
                let reader = this.masks.effective(&mut this.out)?;
                this.out.logic.bdd.and_not(reader, partial.lanes)
            });
            match outside {
                Some(outside) if outside != FALSE => self.undefined(&partial, &name, span, outside),
                _ => return true,
            }
        };
        let predicate = words::mask(&self.out, partial.predicate);
        let fault = fault.label(partial.span, format!("`{}` has a value only where {predicate} is true", partial.name));
        self.faults.push(fault.help(self.mend(&partial)));
        false
    }

    fn undefined(&mut self, partial: &Partial, name: &str, span: Span, outside: Formula) -> Diagnostic {
        let mut values = self.masks.conditions();
        values.push(partial.predicate);
        let witness = words::witness(&mut self.out, outside, &values);
        let known_as = if name == partial.name { String::new() } else { format!(", which is `{}`,", partial.name) };
        let message = format!("`{name}`{known_as} is read in lanes where it has no value");
        Diagnostic::error(Code::UndefinedLanes, span, message)
            .at(format!("read{witness}"))
            .note(format!("`{name}` has no value{witness}, and is read there"))
    }

    fn mend(&self, partial: &Partial) -> String {
        let (name, mask) = (&partial.name, words::mask(&self.out, partial.predicate));
        let mask = mask.trim_matches('`');
        format!(
            "give the other lanes a value, `through {mask} else <...> into {name}:`, or read `{name}` only where it has one"
        )
    }

    fn in_predicate(&mut self, id: ExprId) -> bool {
        let source = self.source;
        let inside = self.partials.in_predicates.get_or_insert_with(|| {
            let mut roots = Vec::new();
            source.walk(|event| match event {
                Event::Let(binding) if source.locals[binding.local].tine => roots.push(binding.value),
                Event::Through(through) => roots.push(through.predicate),
                Event::Arm { sweep, index } => {
                    if let ExprKind::Sweep { arms } = &source.exprs[sweep].kind {
                        roots.extend(arms[index].predicate);
                    }
                }
                _ => {}
            });
            let mut inside = HashSet::new();
            // An outer predicate ends after those inside it, so that each expression is visited once.
            for &root in roots.iter().rev() {
                if !inside.contains(&root) {
                    source.walk_expr(root, |event| {
                        if let Event::Expr(id) = event {
                            inside.insert(id);
                        }
                    });
                }
            }
            inside
        });
        inside.contains(&id)
    }
}
