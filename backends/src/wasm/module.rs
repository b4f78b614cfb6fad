//! The WebAssembly module of a stacked program.
//!
//! Each function is exported under its name and takes and gives what the language says: `v128`, `f32` and `i32`. For
//! callers that have no `v128`, JavaScript above all, each is exported as `NAME.memory` too, which takes addresses in the
//! module's memory instead, exported as `memory`:
//!
//! ```text
//! advance(x: v128, v: v128) -> v128            advance.memory(out: i32, x: i32, v: i32)
//! total(x: v128, scale: f32) -> f32            total.memory(x: i32, scale: f32) -> f32
//! ```
//!
//! An address is that of sixteen bytes, aligned or not. The result's comes first, where the result is a `v128`. Of a `bool`
//! argument bit 0 counts, a `bool` result is 0 or 1; of a mask argument the lanes' sign bits count. The memory holds
//! nothing and belongs to the caller.
//!
//! A run works on that memory: a stack is the address of its descriptor (a count of 64 bits, then an address of 32 bits for
//! each column), a view the address of its first element and its number of elements. It is exported under its name alone.

use super::instructions::{instruction, transfer};
use crate::Options;
use rake_ir::diag::{Code as Error, Diagnostic};
use rake_ir::lane::FuseLevel;
use rake_ir::machine::{Class, MachOp};
use rake_ir::profile::Profile;
use rake_ir::stacked::{Code, Function, Program};
use walrus::ir::{BrIf, Call, IfElse, Instr, InstrSeqId, Load, LoadKind, LocalGet, LocalSet, LocalTee, Loop, MemArg};
use walrus::ir::{Store, StoreKind, Unreachable};
use walrus::{FunctionBuilder, FunctionId, LocalId, MemoryId, Module, ModuleConfig, ValType};

/// The export of the memory.
pub const MEMORY: &str = "memory";

/// The export of a function's wrapper.
pub fn wrapper(name: &str) -> String {
    format!("{name}.{MEMORY}")
}

/// Writes the module. The same program gives the same bytes.
///
/// # Errors
/// When the program is not one of WebAssembly, which its check finds.
pub fn emit(program: &Program, options: &Options) -> Result<Vec<u8>, Diagnostic> {
    let mut config = ModuleConfig::new();
    config.generate_name_section(true).generate_producers_section(true).generate_dwarf(false);
    let mut module = Module::with_config(config);
    let (tool, version) = stamp(options, program.profile, program.fuse);
    module.producers.clear();
    module.producers.add_processed_by(&tool, &version);
    let memory = module.memories.add_local(false, false, 1, None, None);
    module.exports.add(MEMORY, memory);
    for function in &program.functions {
        let id = kernel(&mut module, function, memory)?;
        module.exports.add(&function.name, id);
        if function.result.is_none() {
            continue;
        }
        let wrapped = wrap(&mut module, function, id, memory);
        module.exports.add(&wrapper(&function.name), wrapped);
    }
    Ok(module.emit_wasm())
}

/// The compiler's name, and its version with what else decides the code.
fn stamp(options: &Options, profile: Profile, fuse: FuseLevel) -> (String, String) {
    let whole = options.stamp(profile, fuse);
    let (tool, version) = whole.split_once(' ').unwrap_or((&whole, ""));
    (tool.into(), version.into())
}

fn type_of(class: Class) -> ValType {
    match class {
        Class::G | Class::S => ValType::I32,
        Class::L => ValType::I64,
        Class::F => ValType::F32,
        Class::V | Class::K => ValType::V128,
    }
}

/// New locals of these types for a function's parameters, with their names.
fn parameters(module: &mut Module, params: impl Iterator<Item = (ValType, String)>) -> Vec<LocalId> {
    let add = |(ty, name)| {
        let local = module.locals.add(ty);
        module.locals.get_mut(local).name = Some(name);
        local
    };
    params.map(add).collect()
}

fn kernel(module: &mut Module, f: &Function, memory: MemoryId) -> Result<FunctionId, Diagnostic> {
    let types: Vec<ValType> = f.params.iter().map(|param| type_of(param.place.class)).collect();
    let results: Vec<ValType> = f.result.iter().map(|result| type_of(result.place.class)).collect();
    let names = f.params.iter().map(|param| param.name.to_string());
    let params = parameters(module, types.iter().copied().zip(names));
    let mut locals = params.clone();
    locals.extend(f.locals.iter().map(|class| module.locals.add(type_of(*class))));
    let mut builder = FunctionBuilder::new(&mut module.types, &types, &results);
    builder.name(f.name.to_string());
    // The sequence that is written, and those around it.
    let mut open: Vec<Open> = Vec::new();
    let mut here = builder.func_body_id();
    for inst in &f.code {
        let problem = || {
            Diagnostic::error(Error::Internal, inst.span, format!("`{}` cannot be written in WebAssembly", inst.name()))
        };
        match &inst.code {
            Code::Loop => {
                open.push(Open::Loop { around: here });
                here = builder.dangling_instr_seq(None).id();
            }
            Code::If => {
                open.push(Open::If { around: here, then: None });
                here = builder.dangling_instr_seq(None).id();
            }
            Code::Else => {
                let Some(Open::If { then, .. }) = open.last_mut() else { return Err(problem()) };
                *then = Some(here);
                here = builder.dangling_instr_seq(None).id();
            }
            Code::End => {
                let (around, instruction): (InstrSeqId, Instr) = match open.pop().ok_or_else(problem)? {
                    Open::Loop { around } => (around, Loop { seq: here }.into()),
                    Open::If { around, then: Some(consequent) } => {
                        (around, IfElse { consequent, alternative: here }.into())
                    }
                    // The writer gives every `if` an `else`, and so does the program.
                    Open::If { then: None, .. } => return Err(problem()),
                };
                builder.instr_seq(around).instr(instruction);
                here = around;
            }
            Code::Again => {
                builder.instr_seq(here).instr(BrIf { block: here });
            }
            Code::Trap => {
                builder.instr_seq(here).instr(Unreachable {});
            }
            code => {
                let written = written(f, code, &locals, memory);
                builder.instr_seq(here).instr(written.ok_or_else(problem)?);
            }
        }
    }
    Ok(builder.finish(params, &mut module.funcs))
}

/// A body that is open, and the sequence around it.
enum Open {
    Loop {
        around: InstrSeqId,
    },
    If {
        around: InstrSeqId,
        /// The first body, once the second is written.
        then: Option<InstrSeqId>,
    },
}

fn written(f: &Function, code: &Code, locals: &[LocalId], memory: MemoryId) -> Option<Instr> {
    let local = |local: &u32| locals.get(*local as usize).copied();
    Some(match code {
        Code::Get(number) => Instr::LocalGet(LocalGet { local: local(number)? }),
        Code::Set(number) => Instr::LocalSet(LocalSet { local: local(number)? }),
        Code::Tee(number) => Instr::LocalTee(LocalTee { local: local(number)? }),
        Code::Op { op: MachOp::Wasm(op), imm, offset, .. } if op.info().address_slot().is_some() => {
            transfer(*op, *imm, MemArg { align: 1, offset: u64::from(*offset) }, memory)?
        }
        Code::Op { op: MachOp::Wasm(op), literals, imm, .. } => {
            let literal = match literals[..] {
                [literal] => f.literals.get(literal.0 as usize)?,
                _ => &[][..],
            };
            instruction(*op, *imm, literal)?
        }
        _ => return None,
    })
}

/// The wrapper of a function that takes racks by their addresses.
fn wrap(module: &mut Module, f: &Function, func: FunctionId, memory: MemoryId) -> FunctionId {
    let by_address = |class: Class| if class == Class::V { ValType::I32 } else { type_of(class) };
    let results: Vec<Class> = f.result.iter().map(|result| result.place.class).collect();
    let stores = results == [Class::V];
    let out = stores.then(|| (ValType::I32, "out".to_string()));
    let params = f.params.iter().map(|param| (by_address(param.place.class), param.name.to_string()));
    let params: Vec<(ValType, String)> = out.into_iter().chain(params).collect();
    let types: Vec<ValType> = params.iter().map(|(ty, _)| *ty).collect();
    let results: Vec<ValType> = results.into_iter().filter(|_| !stores).map(type_of).collect();
    let locals = parameters(module, params.into_iter());
    let mut builder = FunctionBuilder::new(&mut module.types, &types, &results);
    builder.name(wrapper(&f.name));
    let mut body = builder.func_body();
    let arg = MemArg { align: 1, offset: 0 };
    let (out, given) = locals.split_at(usize::from(stores));
    out.iter().for_each(|&local| {
        body.instr(LocalGet { local });
    });
    for (&local, param) in given.iter().zip(&f.params) {
        body.instr(LocalGet { local });
        if param.place.class == Class::V {
            body.instr(Load { memory, kind: LoadKind::V128, arg });
        }
    }
    body.instr(Call { func });
    if stores {
        body.instr(Store { memory, kind: StoreKind::V128, arg });
    }
    builder.finish(locals, &mut module.funcs)
}

#[cfg(test)]
mod tests;
