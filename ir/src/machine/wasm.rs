//! The WebAssembly table: every instruction that the two WebAssembly profiles may emit, but for locals.
//!
//! Names and semantics follow the WebAssembly specification 2.0 (section 4.3) and the relaxed SIMD proposal. Mnemonics are
//! those of the text format, for `wasm-simd128` and `wasm-simd128-relaxed`. Costs are those of the SSE and NEON
//! instructions that engines emit.

use super::bits::{self, Bits};
use super::{Form, Idioms, ImmMap, Kind, MachInfo, MachOp, Mem, Semantics, Slot, View, machine_table};

/// A row of both profiles.
const fn row(
    name: &'static str,
    mnemonic: &'static str,
    kind: Kind,
    dst: Option<View>,
    slots: &'static [Slot],
    cost: (u16, u16),
    eval: Semantics,
) -> MachInfo {
    MachInfo::new(name, [mnemonic, mnemonic, ""], kind, dst, slots, cost, eval)
}

const fn slot(view: View, mem: Mem) -> Slot {
    Slot { view, mem, opmask: false }
}

/// A `v128`.
const R: Slot = slot(View::Rack, Mem::No);
/// Sixteen bytes in the instruction itself.
const L: Slot = slot(View::Rack, Mem::Rack);

const RACK: Option<View> = Some(View::Rack);

const fn commuted(op: Wasm) -> Form {
    Form { op: MachOp::Wasm(op), from: [1, 0, 2, 3], imm: ImmMap::Same }
}

use Kind::{Arith, Const};

type A<'a> = &'a [Bits];

machine_table! {
    /// A WebAssembly machine operation: an index into [`TABLE`].
    Wasm {
        F32x4Add = row("f32x4_add", "f32x4.add", Arith, RACK, &[R, R], (50, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, |x, y| x + y))).forms(&[commuted(Wasm::F32x4Add)]);
        V128Const = row("v128_const", "v128.const", Const, RACK, &[L], (50, 100), |_, a: A| a[0]);
    }
}

/// What constants need.
pub const IDIOMS: Idioms =
    Idioms { load: MachOp::Wasm(Wasm::V128Const), constant: |_| None, masks: None, registers: None };
