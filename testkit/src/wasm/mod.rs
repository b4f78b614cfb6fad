//! Runs WebAssembly modules for real, in two engines that share nothing with ours or each other.
//!
//! * [`Module`] is a module in wasmtime (Cranelift): [`Module::run`] calls an export over racks and
//!   scalars, [`Module::run_wrapper`] its memory wrapper, [`Module::run_on_memory`] a function that
//!   works on the memory.
//! * [`run_in_node`] calls the memory wrappers of many exports of many modules in one start of
//!   Node (V8).
//!
//! JavaScript cannot pass a `v128`. So a module has, beside each export such as
//! `f(a: v128, n: i32, x: f32) -> v128`, a memory `memory` and a wrapper
//! `f.memory(out: i32, a: i32, n: i32, x: f32)`: a rack is passed as the address of its 16 bytes,
//! a scalar as itself; a rack result is stored at `out`, the first parameter, and a scalar result
//! is returned, in which case there is no `out`. The callers here put racks at the end of the
//! memory, which thus must be free there.
//!
//! SIMD and relaxed SIMD are on. wasmtime executes a relaxed instruction as the CPU does it best
//! ([`Module::new`]) or as the standard's deterministic profile says ([`Module::deterministic`]);
//! `relaxed_madd` rounds once in both, and in Node where the CPU has a fused multiply-add.
//!
//! wasmtime is built without optimisation, which takes the least time in all: compiling takes it
//! about 5 milliseconds for each function, then it makes about two million calls a second. Node
//! makes some 200 000, and takes a tenth of a second to start.
//!
//! ```
//! use rake_testkit::wasm::{Module, Value};
//! // (module (func (export "add") (param v128 v128) (result v128)
//! //   local.get 0  local.get 1  f32x4.add))
//! let mut bytes = b"\0asm\x01\0\0\0".to_vec();
//! bytes.extend([1, 7, 1, 0x60, 2, 0x7b, 0x7b, 1, 0x7b]); // types
//! bytes.extend([3, 2, 1, 0]); // functions
//! bytes.extend([7, 7, 1, 3, b'a', b'd', b'd', 0, 0]); // exports
//! bytes.extend([10, 11, 1, 9, 0, 0x20, 0, 0x20, 1, 0xfd, 0xe4, 0x01, 0x0b]); // code
//! let module = Module::new(&bytes)?;
//! let racks = [[1.0_f32, 2.0, 3.0, 4.0], [0.5; 4]].map(|rack| Value::from_lanes(rack.map(f32::to_bits)));
//! let sums = module.run("add", &[racks.to_vec()])?;
//! assert_eq!(sums, [Value::from_lanes([1.5_f32, 2.5, 3.5, 4.5].map(f32::to_bits))]);
//! # Ok::<(), String>(())
//! ```

mod module;
mod node;
mod runs;

pub use module::Module;
pub use node::{check_node, run_in_node};
pub use runs::{End, Left, OnMemory, run_on_memory_in_node};

/// The type of a parameter or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A 32-bit integer.
    I32,
    /// A 64-bit integer; of runs alone.
    I64,
    /// A 32-bit float.
    F32,
    /// A rack of 16 bytes.
    V128,
}

/// An argument or a result, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A 32-bit integer.
    I32(u32),
    /// A 64-bit integer.
    I64(u64),
    /// A 32-bit float.
    F32(u32),
    /// A rack, its lowest byte first.
    V128([u8; 16]),
}

impl Value {
    /// Its type.
    pub fn ty(self) -> Type {
        match self {
            Value::I32(_) => Type::I32,
            Value::I64(_) => Type::I64,
            Value::F32(_) => Type::F32,
            Value::V128(_) => Type::V128,
        }
    }

    /// A rack of four 32-bit lanes.
    pub fn from_lanes(lanes: [u32; 4]) -> Value {
        let bytes = lanes.map(u32::to_le_bytes);
        Value::V128(std::array::from_fn(|i| bytes[i / 4][i % 4]))
    }

    /// Its 32-bit words: four of a rack, two of a 64-bit integer, one of another scalar.
    pub fn words(self) -> Vec<u32> {
        match self {
            Value::I32(bits) | Value::F32(bits) => vec![bits],
            Value::I64(bits) => vec![bits as u32, (bits >> 32) as u32],
            Value::V128(bytes) => bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect(),
        }
    }

    /// A value of a type from its words.
    fn from_words(ty: Type, words: &[u32]) -> Option<Value> {
        match (ty, words) {
            (Type::I32, &[bits]) => Some(Value::I32(bits)),
            (Type::F32, &[bits]) => Some(Value::F32(bits)),
            (Type::V128, &[a, b, c, d]) => Some(Value::from_lanes([a, b, c, d])),
            _ => None,
        }
    }
}

/// The calls to make of one export's memory wrapper.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The module's bytes.
    pub module: &'a [u8],
    /// The export, without the wrapper's `.memory`.
    pub name: &'a str,
    /// What the export gives.
    pub result: Type,
    /// The arguments of each call, of the same types in all.
    pub calls: &'a [Vec<Value>],
}

/// The wrapper's name.
fn wrapper(name: &str) -> String {
    format!("{name}.memory")
}

/// The types of all calls' arguments.
///
/// # Errors
///
/// They differ.
fn types(calls: &[Vec<Value>]) -> Result<Vec<Type>, String> {
    let of = |call: &[Value]| call.iter().map(|value| value.ty()).collect::<Vec<_>>();
    let first = calls.first().map(|call| of(call)).unwrap_or_default();
    match calls.iter().position(|call| of(call) != first) {
        None => Ok(first),
        Some(record) => Err(format!("record {record} has arguments {:?}, record 0 {first:?}", of(&calls[record]))),
    }
}
