//! Calls of functions that work on the module's memory.

use super::module::{FUEL, check, exported, raw, text};
use super::node::{ADVICE, node};
use super::{Module, Value, types};
use crate::scratch::Folder;
use wasmtime::{Trap, ValRaw};

/// What one call finds in memory, and what it is passed.
#[derive(Clone, Debug, Default)]
pub struct OnMemory {
    /// The whole memory: some pages of 65536 bytes.
    pub memory: Vec<u8>,
    /// The arguments.
    pub arguments: Vec<Value>,
}

/// How a call ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// It returned.
    Returned,
    /// By `unreachable`.
    Unreachable,
    /// By something else, an access outside of the memory for example.
    Other(String),
}

/// What a call left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// How it ended.
    pub end: End,
    /// The memory.
    pub memory: Vec<u8>,
}

impl Module {
    /// Calls an export that returns nothing, once for each memory, which is as large as the call's.
    ///
    /// # Errors
    ///
    /// There is no such export, it has another type than the arguments, or no memory, or not one of that size.
    pub fn run_on_memory(&self, name: &str, calls: &[OnMemory]) -> Result<Vec<Left>, String> {
        let (mut store, instance) = self.start()?;
        let (function, result) = exported(&mut store, &instance, name)?;
        if result.is_some() {
            return Err(format!("`{name}` has a result"));
        }
        let arguments: Vec<Vec<Value>> = calls.iter().map(|call| call.arguments.clone()).collect();
        check(&mut store, name, function, &types(&arguments)?, calls.is_empty())?;
        let memory = instance.get_memory(&mut store, "memory").ok_or("the module exports no `memory`")?;
        let mut left = Vec::with_capacity(calls.len());
        for call in calls {
            let missing = (call.memory.len() as u64).div_ceil(1 << 16).saturating_sub(memory.size(&store));
            memory.grow(&mut store, missing).map_err(text)?;
            if memory.data_size(&store) != call.memory.len() {
                return Err(format!("the memory has {} bytes, not {}", memory.data_size(&store), call.memory.len()));
            }
            memory.data_mut(&mut store).copy_from_slice(&call.memory);
            store.set_fuel(FUEL).map_err(text)?;
            let mut slots: Vec<ValRaw> = call.arguments.iter().map(|&value| raw(value)).collect();
            // SAFETY: the function's type was checked against the arguments; there is a slot for each, and no result.
            let done = unsafe { function.call_unchecked(&mut store, &raw mut slots[..]) };
            let end = match done {
                Ok(()) => End::Returned,
                Err(error) => match error.downcast_ref::<Trap>() {
                    Some(Trap::UnreachableCodeReached) => End::Unreachable,
                    _ => End::Other(text(error)),
                },
            };
            left.push(Left { end, memory: memory.data(&store).to_vec() });
        }
        Ok(left)
    }
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/wasm/memory.js");

/// As [`Module::run_on_memory`], in Node.
///
/// # Errors
///
/// As there, or Node is missing (the message tells what to install).
pub fn run_on_memory_in_node(module: &[u8], name: &str, calls: &[OnMemory]) -> Result<Vec<Left>, String> {
    let folder = Folder::new()?;
    let mut input = (calls.len() as u32).to_le_bytes().to_vec();
    for call in calls {
        let mut words = vec![call.memory.len() as u32, call.arguments.len() as u32];
        for value in &call.arguments {
            let (ty, bits) = match *value {
                Value::I32(bits) => (0, u64::from(bits)),
                Value::F32(bits) => (1, u64::from(bits)),
                Value::I64(bits) => (2, bits),
                Value::V128(_) => return Err(format!("`{name}` takes a rack, which JavaScript cannot pass")),
            };
            words.extend([ty, bits as u32, (bits >> 32) as u32]);
        }
        input.extend(words.into_iter().flat_map(u32::to_le_bytes));
        input.extend(&call.memory);
    }
    let (module, input) = (folder.write("module.wasm", module)?, folder.write("input", input)?);
    let mut node = node();
    node.arg(SCRIPT).arg(module).arg(name).arg(input).arg(folder.file("output"));
    let output = node.output().map_err(|e| format!("starting Node: {e}\nIt runs WebAssembly. {ADVICE}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let output = folder.read("output")?;
    let mut rest = &output[..];
    let mut left = Vec::with_capacity(calls.len());
    for call in calls {
        let (one, after) = rest.split_at_checked(4 + call.memory.len()).ok_or("Node gave too few results")?;
        rest = after;
        let end = match one[0] {
            0 => End::Returned,
            1 => End::Unreachable,
            _ => End::Other("another trap".to_owned()),
        };
        left.push(Left { end, memory: one[4..].to_vec() });
    }
    Ok(left)
}
