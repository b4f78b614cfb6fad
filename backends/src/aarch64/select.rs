//! The AArch64 selection table: operation and element to machine operations.
//!
//! `A B C` are the operation's operands, `S0 S1 ...` the results of earlier steps; a sequence's last step is its result.

use rake_ir::machine::MachOp;
use rake_ir::machine::aarch64::A64;
use rake_ir::ops::Op;
use rake_ir::profile::Profile;
use rake_ir::types::Elem;
use rake_passes::select::rule::{Key, Rule, Src, Step, StepImm, Target};

/// The selection table.
#[derive(Clone, Copy, Debug, Default)]
pub struct A64Target;

impl Target for A64Target {
    fn rule(&self, key: Key, elem: Elem, _: Profile) -> Rule {
        match (key, elem) {
            (Key::Op(Op::Param | Op::Splat | Op::Unsplat | Op::Bitcast), _) => Rule::Free(0),
            (Key::Op(Op::Const | Op::LaneIndex), _) => {
                Rule::Steps(&[Step { op: MachOp::A64(A64::Ldr), args: &[], imm: StepImm::None }])
            }
            (Key::Op(Op::Add), Elem::F32) => {
                Rule::Steps(&[Step { op: MachOp::A64(A64::Fadd), args: &[A, B], imm: StepImm::None }])
            }
            _ => Rule::Unsupported("it is not available on aarch64-neon yet"),
        }
    }
}

const A: Src = Src::Arg(0);
const B: Src = Src::Arg(1);
