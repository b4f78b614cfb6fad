//! The AArch64 table: every instruction of Advanced SIMD that `aarch64-neon` may emit.
//!
//! Names and semantics follow the Arm Architecture Reference Manual (DDI 0487, section C7.2). Costs are reciprocal
//! throughput and latency in hundredths of a cycle, from the Neoverse N1 software optimization guide (sections 3.9 to 3.21).

use super::bits::{self, Bits, ZERO};
use super::{Form, Idioms, ImmMap, Kind, MachInfo, MachOp, Mem, RegisterIdioms, Semantics, Slot, View, machine_table};

const fn row(
    name: &'static str,
    mnemonic: &'static str,
    kind: Kind,
    dst: Option<View>,
    slots: &'static [Slot],
    cost: (u16, u16),
    eval: Semantics,
) -> MachInfo {
    MachInfo::new(name, [mnemonic, "", ""], kind, dst, slots, cost, eval)
}

const fn slot(view: View, mem: Mem) -> Slot {
    Slot { view, mem, opmask: false }
}

/// A rack in a register.
const R: Slot = slot(View::Rack, Mem::No);
/// A general register.
const G: Slot = slot(View::Word, Mem::No);
/// A literal, which stands after the function's code.
const L: Slot = slot(View::Rack, Mem::Rack);

const RACK: Option<View> = Some(View::Rack);
const WORD: Option<View> = Some(View::Word);

const fn commuted(op: A64) -> Form {
    Form { op: MachOp::A64(op), from: [1, 0, 2, 3], imm: ImmMap::Same }
}

use Kind::{Arith, Const, Control, Move};

type A<'a> = &'a [Bits];

machine_table! {
    /// An AArch64 machine operation: an index into [`TABLE`].
    A64 {
        // Floating point.
        Fadd = row("fadd", "fadd", Arith, RACK, &[R, R], (50, 200), |c, a: A| bits::map2(c, &a[0], &a[1], |x, y| bits::float2(x, y, |x, y| x + y))).forms(&[commuted(A64::Fadd)]).raises();

        // Constants and copies.
        Ldr = row("ldr", "ldr", Const, RACK, &[L], (50, 500), |_, a: A| a[0]);
        Zero = row("movi_zero", "movi", Const, RACK, &[], (50, 200), |_, _: A| ZERO);
        Mov = row("mov", "mov", Move, RACK, &[R], (50, 200), |_, a: A| a[0]);
        MovWord = row("mov_word", "mov", Move, WORD, &[G], (33, 100), |_, a: A| a[0]);
        Ret = row("ret", "ret", Control, None, &[], (100, 100), |_, _: A| ZERO);
    }
}

/// What allocation and constants need.
pub const IDIOMS: Idioms = Idioms {
    load: MachOp::A64(A64::Ldr),
    constant: |lanes| match lanes {
        [0] => Some((MachOp::A64(A64::Zero), None)),
        _ => None,
    },
    masks: None,
    registers: Some(RegisterIdioms {
        load_splat: None,
        copy_rack: MachOp::A64(A64::Mov),
        copy_word: MachOp::A64(A64::MovWord),
        leave_racks: None,
        ret: MachOp::A64(A64::Ret),
    }),
};
