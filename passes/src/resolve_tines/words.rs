//! Masks and assignments in the words of the source, for messages and for the comments of dumps.

use super::bdd::{FALSE, Formula, TRUE, TooComplex};
use super::{Builder, logic};
use rake_ir::lane::{Value, ValueId};
use rake_ir::ops::{Imm, Op, Syntax};
use rake_ir::types::Ty;
use rake_ir::value::literal;
use std::collections::{HashMap, HashSet};

/// The longest text of an expression in a message.
const LONGEST: usize = 60;

/// How deep an expression is written out.
const DEEPEST: u32 = 4;

/// The most truths that one witness is made from.
const MOST: usize = 64;

/// A truth that a person names: a tine, or a comparison as it is written.
struct Leaf {
    value: ValueId,
    formula: Formula,
}

/// Words that complete "no arm applies": an assignment under which `formula`, which can hold, does. It is made of the
/// tines and comparisons in `values`, as few as suffice; " in any lane" when none is needed.
pub fn witness(out: &mut Builder, formula: Formula, values: &[ValueId]) -> String {
    let Some(path) = out.logic.bdd.witness(formula) else { return " in no lane".into() };
    if formula == TRUE {
        return " in any lane".into();
    }
    let holds = |atom: u32| path.binary_search_by_key(&atom, |&(atom, _)| atom).is_ok_and(|at| path[at].1);
    let leaves = leaves(out, values);
    let truths: Vec<bool> = leaves.iter().map(|leaf| out.logic.bdd.holds(leaf.formula, holds)).collect();
    let needed = needed(out, formula, &leaves, &truths).unwrap_or_else(|_| vec![true; leaves.len()]);
    let each = leaves.iter().zip(&truths).zip(needed).filter(|(_, needed)| *needed);
    let each: Vec<String> = each.map(|((leaf, truth), _)| format!("{} is {truth}", mask(out, leaf.value))).collect();
    match each.split_last() {
        None => String::new(),
        Some((last, [])) => format!(" where {last}"),
        Some((last, others)) => format!(" where {} and {last}", others.join(", ")),
    }
}

/// Which truths suffice for `formula` to hold.
fn needed(out: &mut Builder, formula: Formula, leaves: &[Leaf], truths: &[bool]) -> Result<Vec<bool>, TooComplex> {
    let bdd = &mut out.logic.bdd;
    let mut literals = Vec::with_capacity(leaves.len());
    for (leaf, &truth) in leaves.iter().zip(truths) {
        literals.push(if truth { leaf.formula } else { bdd.not(leaf.formula)? });
    }
    let mut before = vec![TRUE];
    for &literal in &literals {
        let last = before.last().copied().unwrap_or(TRUE);
        before.push(bdd.and(last, literal)?);
    }
    let mut kept = TRUE;
    let mut needed = vec![false; leaves.len()];
    for (at, &literal) in literals.iter().enumerate().rev() {
        let others = bdd.and(before[at], kept)?;
        if bdd.and_not(others, formula)? != FALSE {
            needed[at] = true;
            kept = bdd.and(kept, literal)?;
        }
    }
    Ok(needed)
}

/// The tines and comparisons that masks are made of, each function of the lanes once.
fn leaves(out: &mut Builder, values: &[ValueId]) -> Vec<Leaf> {
    let mut found: Vec<Leaf> = Vec::new();
    let (mut seen, mut formulas) = (HashSet::new(), HashSet::new());
    let mut stack: Vec<ValueId> = values.iter().rev().copied().collect();
    while let Some(id) = stack.pop() {
        if found.len() == MOST || !seen.insert(id) {
            continue;
        }
        let value = &out.values[id];
        let operands = logic::operands(&out.values, value);
        if !operands.is_empty() && !out.tines.contains_key(&id) {
            stack.extend(operands.iter().rev());
        } else if value.op != Op::Const
            && let Ok(formula) = out.formula(id)
            && let Ok(not) = out.logic.bdd.not(formula)
            && formulas.insert(formula)
            && formulas.insert(not)
        {
            found.push(Leaf { value: id, formula });
        }
    }
    found
}

/// Whether two different comparisons of the same floats stand in these masks.
pub fn nan(out: &Builder, values: &[ValueId]) -> bool {
    let mut compared: HashMap<(u32, u32), Op> = HashMap::new();
    let mut seen = HashSet::new();
    let mut stack = values.to_vec();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let value = &out.values[id];
        stack.extend(logic::operands(&out.values, value));
        let float = value.args.first().is_some_and(|&arg| out.values[arg].ty.elem().is_float());
        if let Some(pair) = out.logic.pair(value).filter(|_| float && value.ty.is_truth())
            && *compared.entry(pair).or_insert(value.op) != value.op
        {
            return true;
        }
    }
    false
}

/// A mask as the source names it: `#name`, or its expression in backticks.
pub fn mask(out: &Builder, id: ValueId) -> String {
    out.tines.get(&id).map_or_else(|| format!("`{}`", text(out, id)), ToString::to_string)
}

/// The short comment for a mask in a dump.
pub fn comment(out: &Builder, id: ValueId) -> String {
    out.tines.get(&id).map_or_else(|| text(out, id), ToString::to_string)
}

/// An expression as source; inner parts are dots where it is long.
fn text(out: &Builder, id: ValueId) -> String {
    let mut text = String::new();
    for depth in (1..=DEEPEST).rev() {
        text.clear();
        write(out, id, depth, true, &mut text);
        if text.len() <= LONGEST {
            break;
        }
    }
    text
}

/// Writes a value; its expression when `depth` allows and it has no name.
fn write(out: &Builder, id: ValueId, depth: u32, outermost: bool, text: &mut String) {
    let value = &out.values[id];
    let uniform = matches!(value.ty, Ty::Uniform(_));
    match (value.op, &value.imm, &value.args[..]) {
        (Op::Const, Imm::Bits(bits), _) if value.ty.is_truth() && value.name.is_none() => {
            text.push_str(&literal(value.ty.elem(), *bits))
        }
        (Op::Const, Imm::Bits(bits), _) if value.name.is_none() => {
            text.push_str(&format!("<{}>", literal(value.ty.elem(), *bits)));
        }
        (Op::Splat, _, &[arg]) if !out.tines.contains_key(&id) => write(out, arg, depth, outermost, text),
        _ => match out.tines.get(&id).or(value.name.as_ref()) {
            Some(name) if uniform => text.push_str(&format!("<{name}>")),
            Some(name) => text.push_str(name),
            None if depth == 0 => text.push_str("..."),
            None => expression(out, value, depth - 1, outermost, text),
        },
    }
}

fn expression(out: &Builder, value: &Value, depth: u32, outermost: bool, text: &mut String) {
    let row = value.op.info();
    match (row.syntax, &value.args[..]) {
        (Syntax::Infix, &[a, b]) => {
            text.push_str(if outermost { "" } else { "(" });
            write(out, a, depth, false, text);
            text.push_str(&format!(" {} ", row.spelling));
            write(out, b, depth, false, text);
            text.push_str(if outermost { "" } else { ")" });
        }
        (Syntax::Prefix, &[a]) => {
            text.push_str(if row.spelling == "-" { "-" } else { "not " });
            write(out, a, depth, false, text);
        }
        (Syntax::Call, args) => {
            text.push_str(&format!("{}(", row.spelling));
            for (at, &arg) in args.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                write(out, arg, depth, true, text);
            }
            text.push_str(&match value.imm {
                Imm::None => ")".into(),
                Imm::Int(number) => format!(", {number})"),
                _ => ", ...)".to_owned(),
            });
        }
        (Syntax::Form, []) => text.push_str(row.spelling),
        _ => text.push_str("..."),
    }
}
