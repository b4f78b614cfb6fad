//! Equality: what the module's functions hold is what the stacked program says.

use super::module::{Body, Module};
use super::operators::{self, Payload};
use super::{Pair, type_of};
use crate::Difference;
use rake_ir::machine::{LiteralId, MachOp};
use rake_ir::stacked::{Code, Function, Inst, Program};
use std::collections::BTreeMap;
use wasmparser::{BlockType, Operator};

/// Compares a kernel with its stacked form.
///
/// # Errors
/// The first difference.
pub fn compare(body: &Body<'_>, function: &Function) -> Result<(), Difference> {
    if !body.locals.iter().copied().eq(function.locals.iter().map(|&class| type_of(class))) {
        return Err((0, None, "other locals than the program's".into()));
    }
    let place = |at: usize| (at - body.range.start) as u32;
    let mut found = body.code.iter();
    for (at, inst) in function.code.iter().enumerate() {
        let Some((operator, offset)) = found.next() else {
            return Err((0, Some(inst.span), format!("{} instructions instead of {}", at, function.code.len())));
        };
        instruction(function, operator, inst).map_err(|text| {
            let found = operators::name(operator);
            (place(*offset), Some(inst.span), format!("instruction {at} (`{found}`, `{}`): {text}", inst.name()))
        })?;
    }
    match (found.next(), found.next()) {
        (Some((Operator::End, _)), None) => Ok(()),
        (Some((operator, at)), _) => {
            Err((place(*at), None, format!("`{}` where the code ends", operators::name(operator))))
        }
        (None, _) => Err((0, None, "code without an end".into())),
    }
}

fn instruction(function: &Function, operator: &Operator<'_>, inst: &Inst) -> Result<(), String> {
    match (&inst.code, operator) {
        (Code::Get(local), Operator::LocalGet { local_index })
        | (Code::Set(local), Operator::LocalSet { local_index })
        | (Code::Tee(local), Operator::LocalTee { local_index }) => {
            if local == local_index {
                return Ok(());
            }
            Err(format!("local {local_index} instead of {local}"))
        }
        (Code::Loop, Operator::Loop { blockty: BlockType::Empty })
        | (Code::If, Operator::If { blockty: BlockType::Empty })
        | (Code::Else, Operator::Else)
        | (Code::End, Operator::End)
        | (Code::Again, Operator::BrIf { relative_depth: 0 })
        | (Code::Trap, Operator::Unreachable) => Ok(()),
        (Code::Op { op: MachOp::Wasm(op), literals, imm, offset }, _) => {
            if operators::name(operator) != op.info().name || !op.is_instruction() {
                return Err("another operation".into());
            }
            let expected = match op.info().address_slot() {
                Some(_) => Payload::Place((*offset).into(), *imm),
                None => payload(function, literals, *imm, operator)?,
            };
            match operators::payload(operator) {
                Some(found) if found == expected => Ok(()),
                found => Err(format!("{found:?} stands in it instead of {expected:?}")),
            }
        }
        _ => Err("another instruction".into()),
    }
}

/// What the program says to stand in an operator.
fn payload(
    function: &Function,
    literals: &[LiteralId],
    imm: Option<u8>,
    operator: &Operator<'_>,
) -> Result<Payload, String> {
    match (literals, imm) {
        ([], None) => Ok(Payload::Nothing),
        ([], Some(lane)) => Ok(Payload::Lane(lane)),
        ([literal], None) => {
            let literal = function.literals.get(literal.0 as usize).ok_or("a literal that is not there")?;
            let size = match operator {
                Operator::V128Const { .. } | Operator::I8x16Shuffle { .. } => 16,
                Operator::I64Const { .. } => 8,
                _ => 4,
            };
            if literal.is_empty() || size % literal.len() != 0 {
                return Err(format!("a literal of {} bytes", literal.len()));
            }
            Ok(Payload::Bytes(literal.repeat(size / literal.len())))
        }
        _ => Err("more than stands in an instruction".into()),
    }
}

/// Checks the custom sections: names of functions and parameters, and the stamp.
///
/// # Errors
/// What they say else.
pub fn check_custom(module: &Module<'_>, program: &Program, pairs: &[Pair]) -> Result<(), String> {
    let mut functions: BTreeMap<u32, String> = BTreeMap::new();
    let mut locals: BTreeMap<(u32, u32), &str> = BTreeMap::new();
    for (pair, function) in pairs.iter().zip(&program.functions) {
        functions.insert(pair.kernel, function.name.to_string());
        if let Some(wrapper) = pair.wrapper {
            functions.insert(wrapper, super::wrapper_name(&function.name));
        }
        let stores = function.result.is_some_and(|result| type_of(result.place.class) == wasmparser::ValType::V128);
        let out = u32::from(stores);
        if let (Some(wrapper), 1) = (pair.wrapper, out) {
            locals.insert((wrapper, 0), "out");
        }
        for (at, param) in function.params.iter().enumerate() {
            locals.insert((pair.kernel, at as u32), &param.name);
            if let Some(wrapper) = pair.wrapper {
                locals.insert((wrapper, at as u32 + out), &param.name);
            }
        }
    }
    if !module.function_names.iter().copied().eq(functions.iter().map(|(&at, name)| (at, name.as_str()))) {
        return Err("the names of functions are not those of the program".into());
    }
    let place = |&(function, local, _): &(u32, u32, &str)| (function, local);
    if !module.local_names.is_sorted_by(|one, other| place(one) < place(other)) {
        return Err("the names of locals do not stand in order, each once".into());
    }
    // A local that no instruction names may have no name.
    let mut named = module.local_names.iter();
    if !named.all(|&(function, local, name)| locals.get(&(function, local)) == Some(&name)) {
        return Err("a local has another name than its parameter".into());
    }
    let made_for = format!(" {} --fuse {}", program.profile, program.fuse.name());
    match module.producers[..] {
        [("processed-by", _, version)] if version.ends_with(&made_for) => Ok(()),
        _ => Err(format!("the producers are not one whose version ends in `{}`", made_for.trim_start())),
    }
}
