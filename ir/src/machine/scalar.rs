//! The table of `scalar`: operations on one 32-bit element, each an expression of C11.
//!
//! A rack is one element (`float`, `int32_t` or `uint32_t` in C; here 32 bits in class `v`), a mask a `uint32_t` of all ones
//! or zero. Mnemonics are the rows' names; the backend's table has the C text. Costs only rank.

use super::bits::{self, Bits};
use super::{Form, Idioms, ImmMap, Kind, MachInfo, MachOp, Mem, Semantics, Slot, View, machine_table};

const fn row(
    name: &'static str,
    kind: Kind,
    dst: Option<View>,
    slots: &'static [Slot],
    cost: (u16, u16),
    eval: Semantics,
) -> MachInfo {
    MachInfo::new(name, [name, "", ""], kind, dst, slots, cost, eval)
}

const fn slot(view: View, mem: Mem) -> Slot {
    Slot { view, mem, opmask: false }
}

/// An element.
const R: Slot = slot(View::Rack, Mem::No);
/// A constant.
const L: Slot = slot(View::Rack, Mem::Rack);

const RACK: Option<View> = Some(View::Rack);

const fn commuted(op: Scalar) -> Form {
    Form { op: MachOp::Scalar(op), from: [1, 0, 2, 3], imm: ImmMap::Same }
}

use Kind::{Arith, Const};

type A<'a> = &'a [Bits];

machine_table! {
    /// A scalar operation: an index into [`TABLE`].
    Scalar {
        AddF32 = row("add_f32", Arith, RACK, &[R, R], (100, 400), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, |x, y| x + y))).forms(&[commuted(Scalar::AddF32)]).raises();
        Const32 = row("const", Const, RACK, &[L], (50, 100), |_, a: A| a[0]);
    }
}

/// What constants need.
pub const IDIOMS: Idioms =
    Idioms { load: MachOp::Scalar(Scalar::Const32), constant: |_| None, masks: None, registers: None };
