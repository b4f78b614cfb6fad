//! Obligations of runs: control that nests and goes back to loops alone, traps behind checks, locals written on every path
//! before they are read, and transfers at addresses that come from the caller.
//!
//! ```text
//! loop ... br_if 0 end        the jump back stands last in its loop
//! if unreachable else end     nothing else traps
//! local.get 0, i32.load       the result is an address, since local 0 is one
//! ```
//!
//! An address is a parameter that is one, what is loaded from an address as an `i32`, and the sum of an address and anything.

use super::module::Body;
use super::operators;
use crate::facts::FunctionFacts;
use crate::obligations::{Obligation, Say};
use rake_ir::machine::wasm::Wasm;
use rake_ir::types::Ty;
use std::collections::BTreeMap;
use wasmparser::{BlockType, Operator, ValType};

/// Whether an operator decides what is executed next, as runs may.
pub fn is_control(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::Loop { blockty: BlockType::Empty }
            | Operator::If { blockty: BlockType::Empty }
            | Operator::Else
            | Operator::End
            | Operator::BrIf { relative_depth: 0 }
            | Operator::Unreachable
    )
}

/// What a local holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Holds {
    /// Nothing on some path.
    Nothing,
    /// A value.
    Value,
    /// An address that comes from the caller.
    Address,
}

impl Holds {
    /// What is known where either may be.
    fn or(self, other: Holds) -> Holds {
        match (self, other) {
            (Holds::Nothing, _) | (_, Holds::Nothing) => Holds::Nothing,
            (Holds::Address, Holds::Address) => Holds::Address,
            _ => Holds::Value,
        }
    }
}

type Locals = Vec<Holds>;

fn meet(here: &mut Locals, other: &Locals) {
    here.iter_mut().zip(other).for_each(|(here, other)| *here = here.or(*other));
}

/// An open body.
enum Open {
    /// A loop that begins with this operator.
    Loop(usize),
    /// The first body of a choice, and what was known before it.
    Then(Locals),
    /// The second, and what is known after the first.
    Else(Locals),
}

/// Checks a run's body.
pub fn check(facts: &FunctionFacts, params: &[ValType], body: &Body<'_>, say: &mut Say<'_>) {
    shapes(body, say);
    let mut first: Locals =
        facts.params.iter().map(|ty| if *ty == Ty::Address { Holds::Address } else { Holds::Value }).collect();
    // Locals that nothing wrote hold zero, which no code of ours reads.
    first.resize(params.len() + body.locals.len(), Holds::Nothing);
    // What is known where a loop begins, less with each round until nothing changes.
    let mut entries: BTreeMap<usize, Locals> = BTreeMap::new();
    loop {
        let known = entries.clone();
        let mut silent = |_: u32, _: Obligation, _: String| {};
        walk(body, first.clone(), &mut entries, &mut silent);
        if entries == known {
            break;
        }
    }
    walk(body, first, &mut entries, say);
}

/// That jumps back stand last in their loops, and traps alone behind a check.
fn shapes(body: &Body<'_>, say: &mut Say<'_>) {
    let mut open: Vec<bool> = Vec::new();
    let is = |at: Option<usize>, wanted: fn(&Operator<'_>) -> bool| {
        at.and_then(|at| body.code.get(at)).is_some_and(|(operator, _)| wanted(operator))
    };
    for (at, (operator, place)) in body.code.iter().enumerate() {
        let right = match operator {
            Operator::Loop { .. } | Operator::If { .. } => {
                open.push(matches!(operator, Operator::Loop { .. }));
                true
            }
            Operator::End => {
                let looped = open.pop() == Some(true);
                !looped || is(at.checked_sub(1), |operator| matches!(operator, Operator::BrIf { .. }))
            }
            Operator::BrIf { .. } => {
                open.last() == Some(&true) && is(Some(at + 1), |operator| matches!(operator, Operator::End))
            }
            Operator::Unreachable => {
                is(at.checked_sub(1), |operator| matches!(operator, Operator::If { .. }))
                    && is(Some(at + 1), |operator| matches!(operator, Operator::Else))
            }
            _ => true,
        };
        if !right {
            let text = format!("`{}` stands where none may", operators::name(operator));
            say((place - body.range.start) as u32, Obligation::Jumps, text);
        }
    }
}

/// Follows the operand stack and the locals through the body once.
fn walk(body: &Body<'_>, first: Locals, entries: &mut BTreeMap<usize, Locals>, say: &mut Say<'_>) {
    let (mut locals, mut stack, mut open) = (first, Vec::<Holds>::new(), Vec::new());
    for (at, (operator, place)) in body.code.iter().enumerate() {
        let place = (place - body.range.start) as u32;
        match operator {
            Operator::LocalGet { local_index } => {
                let holds = locals.get(*local_index as usize).copied().unwrap_or(Holds::Nothing);
                if holds == Holds::Nothing {
                    say(place, Obligation::DefinedReads, format!("local {local_index}, which nothing wrote, is read"));
                }
                stack.push(holds);
            }
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                let top = stack.pop().unwrap_or(Holds::Value);
                if let Some(local) = locals.get_mut(*local_index as usize) {
                    *local = top;
                }
                if let Operator::LocalTee { .. } = operator {
                    stack.push(top);
                }
            }
            Operator::Loop { .. } => {
                meet(entries.entry(at).or_insert_with(|| locals.clone()), &locals);
                locals.clone_from(&entries[&at]);
                open.push(Open::Loop(at));
            }
            Operator::If { .. } => {
                stack.pop();
                open.push(Open::Then(locals.clone()));
            }
            Operator::Else => {
                if let Some(Open::Then(before)) = open.pop() {
                    open.push(Open::Else(std::mem::replace(&mut locals, before)));
                }
            }
            Operator::End => match open.pop() {
                Some(Open::Then(other) | Open::Else(other)) => meet(&mut locals, &other),
                Some(Open::Loop(_)) | None => {}
            },
            Operator::BrIf { .. } => {
                stack.pop();
                if let Some(Open::Loop(from)) = open.last()
                    && let Some(entry) = entries.get_mut(from)
                {
                    meet(entry, &locals);
                }
            }
            Operator::Unreachable => {}
            operator => operation(operator, place, &mut stack, say),
        }
    }
}

/// Takes an operation's operands from the stack and leaves what it gives.
fn operation(operator: &Operator<'_>, place: u32, stack: &mut Vec<Holds>, say: &mut Say<'_>) {
    let Some(op) = Wasm::from_name(operators::name(operator)) else { return };
    let taken = op.info().slots.iter().filter(|slot| !slot.mem.is_literal()).count();
    let operands = stack.split_off(stack.len().saturating_sub(taken));
    if let Some(slot) = op.info().address_slot()
        && operands.get(slot) != Some(&Holds::Address)
    {
        let text = format!("`{}` at what is no address of the caller's", operators::name(operator));
        say(place, Obligation::Transfers, text);
    }
    let address = match op {
        Wasm::I32Load => true,
        Wasm::I32Add => operands.contains(&Holds::Address),
        _ => false,
    };
    if op.info().dst.is_some() {
        stack.push(if address { Holds::Address } else { Holds::Value });
    }
}
