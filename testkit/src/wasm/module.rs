//! Runs a module's exports in wasmtime.

use super::{Type, Value, types, wrapper};
use std::fmt::Display;
use wasmtime::{Config, Engine, Extern, Func, Instance, Memory, OptLevel, Store, ValRaw, ValType};

/// Units of fuel (about one for each instruction) after which a call is taken for an endless loop.
pub(super) const FUEL: u64 = 50_000_000;

/// A validated and compiled module.
#[derive(Debug)]
pub struct Module {
    module: wasmtime::Module,
}

impl Module {
    /// Validates and compiles a module that imports nothing. Relaxed instructions do what the CPU
    /// does best.
    ///
    /// # Errors
    ///
    /// It is invalid; the message tells where.
    pub fn new(bytes: &[u8]) -> Result<Module, String> {
        Module::compile(bytes, false)
    }

    /// As [`Module::new`], with relaxed instructions as in the standard's deterministic profile.
    ///
    /// # Errors
    ///
    /// As [`Module::new`].
    pub fn deterministic(bytes: &[u8]) -> Result<Module, String> {
        Module::compile(bytes, true)
    }

    fn compile(bytes: &[u8], deterministic: bool) -> Result<Module, String> {
        let mut config = Config::new();
        config.wasm_simd(true).wasm_relaxed_simd(true).relaxed_simd_deterministic(deterministic);
        config.cranelift_opt_level(OptLevel::None).consume_fuel(true);
        let engine = Engine::new(&config).map_err(|e| format!("starting wasmtime: {e:#}"))?;
        let module = wasmtime::Module::new(&engine, bytes).map_err(|e| format!("{e:#}"))?;
        Ok(Module { module })
    }

    /// The names of the exported functions, in the module's order.
    pub fn functions(&self) -> Vec<&str> {
        let functions = self.module.exports().filter(|export| export.ty().func().is_some());
        functions.map(|export| export.name()).collect()
    }

    /// Calls an export of one result once for each list of arguments.
    ///
    /// # Errors
    ///
    /// There is no such export, it has another type than the arguments, or a call trapped or did
    /// not end (the message tells its record).
    pub fn run(&self, name: &str, calls: &[Vec<Value>]) -> Result<Vec<Value>, String> {
        let (mut store, instance) = self.start()?;
        let (function, result) = exported(&mut store, &instance, name)?;
        let result = result.ok_or_else(|| format!("`{name}` has no result"))?;
        check(&mut store, name, function, &types(calls)?, calls.is_empty())?;
        let mut slots = Vec::new();
        let mut outs = Vec::with_capacity(calls.len());
        for (record, call) in calls.iter().enumerate() {
            slots.clear();
            slots.extend(call.iter().map(|&value| raw(value)));
            let out = invoke(&mut store, function, &mut slots).map_err(|e| format!("record {record}: {e}"))?;
            outs.push(cooked(result, out));
        }
        Ok(outs)
    }

    /// Calls an export's memory wrapper once for each list of the export's arguments.
    ///
    /// # Errors
    ///
    /// As [`Module::run`]; there is no memory, or none left for the racks.
    pub fn run_wrapper(&self, name: &str, result: Type, calls: &[Vec<Value>]) -> Result<Vec<Value>, String> {
        let name = &wrapper(name);
        let (mut store, instance) = self.start()?;
        let (function, returned) = exported(&mut store, &instance, name)?;
        let params = types(calls)?;
        let stored = result == Type::V128;
        let mut passed: Vec<Type> = params.iter().map(|ty| if *ty == Type::V128 { Type::I32 } else { *ty }).collect();
        if stored {
            passed.insert(0, Type::I32);
        }
        if returned != (!stored).then_some(result) {
            return Err(format!("`{name}` returns {returned:?}, and must give a {result:?}"));
        }
        check(&mut store, name, function, &passed, calls.is_empty())?;
        let memory = instance.get_memory(&mut store, "memory").ok_or("the module exports no `memory`")?;
        let racks = passed.len().min(1 + params.len()) * 16;
        let base = memory.data_size(&store).checked_sub(racks).ok_or("the memory is too small for the racks")?;
        let mut outs = Vec::with_capacity(calls.len());
        for (record, call) in calls.iter().enumerate() {
            let out = wrapped(&mut store, function, memory, base, result, call);
            outs.push(out.map_err(|e| format!("record {record}: {e}"))?);
        }
        Ok(outs)
    }

    pub(super) fn start(&self) -> Result<(Store<()>, Instance), String> {
        let mut store = Store::new(self.module.engine(), ());
        store.set_fuel(FUEL).map_err(text)?;
        let instance = Instance::new(&mut store, &self.module, &[]).map_err(text)?;
        Ok((store, instance))
    }
}

/// One call of a wrapper: racks go to the end of the memory and come from there.
fn wrapped(
    store: &mut Store<()>,
    function: Func,
    memory: Memory,
    base: usize,
    result: Type,
    call: &[Value],
) -> Result<Value, String> {
    let mut at = base;
    let mut slots = Vec::new();
    if result == Type::V128 {
        memory.write(&mut *store, at, &[0xa5; 16]).map_err(text)?;
        slots.push(ValRaw::i32(at as i32));
        at += 16;
    }
    for &value in call {
        if let Value::V128(bytes) = value {
            memory.write(&mut *store, at, &bytes).map_err(text)?;
            slots.push(ValRaw::i32(at as i32));
            at += 16;
        } else {
            slots.push(raw(value));
        }
    }
    let out = invoke(store, function, &mut slots)?;
    if result != Type::V128 {
        return Ok(cooked(result, out));
    }
    let mut bytes = [0; 16];
    memory.read(&*store, base, &mut bytes).map_err(text)?;
    Ok(Value::V128(bytes))
}

pub(super) fn text(error: impl Display) -> String {
    format!("{error:#}")
}

/// An exported function and what it returns.
pub(super) fn exported(store: &mut Store<()>, instance: &Instance, name: &str) -> Result<(Func, Option<Type>), String> {
    let Some(Extern::Func(function)) = instance.get_export(&mut *store, name) else {
        return Err(format!("the module exports no function `{name}`"));
    };
    let mut results = function.ty(&*store).results().map(|ty| type_of(&ty)).collect::<Result<Vec<_>, _>>()?;
    let result = results.pop();
    if results.is_empty() { Ok((function, result)) } else { Err(format!("`{name}` has several results")) }
}

/// Checks that the arguments are what the function takes, if there are calls.
pub(super) fn check(
    store: &mut Store<()>,
    name: &str,
    function: Func,
    given: &[Type],
    none: bool,
) -> Result<(), String> {
    let params = function.ty(&*store).params().map(|ty| type_of(&ty)).collect::<Result<Vec<_>, _>>()?;
    if none || params == given { Ok(()) } else { Err(format!("`{name}` takes {params:?}, not {given:?}")) }
}

fn type_of(ty: &ValType) -> Result<Type, String> {
    match ty {
        ValType::I32 => Ok(Type::I32),
        ValType::I64 => Ok(Type::I64),
        ValType::F32 => Ok(Type::F32),
        ValType::V128 => Ok(Type::V128),
        other => Err(format!("a value of type {other}, which no kernel has")),
    }
}

/// Calls a function with arguments of its types in `slots`; gives its result, if it has one.
fn invoke(store: &mut Store<()>, function: Func, slots: &mut Vec<ValRaw>) -> Result<ValRaw, String> {
    if slots.is_empty() {
        slots.push(ValRaw::i32(0));
    }
    store.set_fuel(FUEL).map_err(text)?;
    // SAFETY: the callers checked the function's type against the arguments; there is a slot for
    // the one result, if there is one, and no value is a reference.
    unsafe { function.call_unchecked(&mut *store, &raw mut slots[..]) }.map_err(text)?;
    Ok(slots[0])
}

pub(super) fn raw(value: Value) -> ValRaw {
    match value {
        Value::I32(bits) => ValRaw::i32(bits as i32),
        Value::I64(bits) => ValRaw::i64(bits as i64),
        Value::F32(bits) => ValRaw::f32(bits),
        Value::V128(bytes) => ValRaw::v128(u128::from_le_bytes(bytes)),
    }
}

fn cooked(ty: Type, slot: ValRaw) -> Value {
    match ty {
        Type::I32 => Value::I32(slot.get_i32() as u32),
        Type::I64 => Value::I64(slot.get_i64() as u64),
        Type::F32 => Value::F32(slot.get_f32()),
        Type::V128 => Value::V128(slot.get_v128().to_le_bytes()),
    }
}
