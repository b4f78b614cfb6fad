//! Each row of the machine table as the writer's instruction.

use rake_ir::machine::wasm::Wasm;
use walrus::MemoryId;
use walrus::ir::{BinaryOp as B, Instr, TernaryOp as T, UnaryOp as U, Value};
use walrus::ir::{Binop, Const, I8x16Shuffle, I8x16Swizzle, Select, TernOp, Unop, V128Bitselect};
use walrus::ir::{ExtendedLoad, Load, LoadKind, LoadSimd, LoadSimdKind, MemArg, Store, StoreKind};

/// What an operation is written as. `None` when the literal is not as long as the operation's.
pub(super) fn instruction(op: Wasm, imm: Option<u8>, literal: &[u8]) -> Option<Instr> {
    let lane = imm.unwrap_or(0);
    let value = |value| Some(Instr::Const(Const { value }));
    match op {
        Wasm::V128Const => value(Value::V128(u128::from_le_bytes(whole(literal)?))),
        Wasm::I32Const => value(Value::I32(i32::from_le_bytes(literal.try_into().ok()?))),
        Wasm::I64Const => value(Value::I64(i64::from_le_bytes(literal.try_into().ok()?))),
        Wasm::F32Const => value(Value::F32(f32::from_le_bytes(literal.try_into().ok()?))),
        Wasm::I8x16Shuffle => Some(Instr::I8x16Shuffle(I8x16Shuffle { indices: whole(literal)? })),
        Wasm::I8x16Swizzle => Some(Instr::I8x16Swizzle(I8x16Swizzle {})),
        Wasm::V128Bitselect => Some(Instr::V128Bitselect(V128Bitselect {})),
        Wasm::Select => Some(Instr::Select(Select { ty: None })),
        Wasm::F32x4RelaxedMadd => Some(Instr::TernOp(TernOp { op: T::F32x4RelaxedMadd })),
        Wasm::F32x4RelaxedNmadd => Some(Instr::TernOp(TernOp { op: T::F32x4RelaxedNmadd })),
        _ => match (unary(op, lane), binary(op, lane)) {
            (Some(op), _) => Some(Instr::Unop(Unop { op })),
            (_, Some(op)) => Some(Instr::Binop(Binop { op })),
            (None, None) => None,
        },
    }
}

/// What a transfer is written as.
pub(super) fn transfer(op: Wasm, imm: Option<u8>, arg: MemArg, memory: MemoryId) -> Option<Instr> {
    use ExtendedLoad::{SignExtend, ZeroExtend};
    let lane = imm.unwrap_or(0);
    let load = |kind| Some(Load { memory, kind, arg }.into());
    let store = |kind| Some(Store { memory, kind, arg }.into());
    let simd = |kind| Some(LoadSimd { memory, kind, arg }.into());
    match op {
        Wasm::V128Load => load(LoadKind::V128),
        Wasm::I32Load => load(LoadKind::I32 { atomic: false }),
        Wasm::I32Load16S => load(LoadKind::I32_16 { kind: SignExtend }),
        Wasm::I32Load16U => load(LoadKind::I32_16 { kind: ZeroExtend }),
        Wasm::I32Load8S => load(LoadKind::I32_8 { kind: SignExtend }),
        Wasm::I32Load8U => load(LoadKind::I32_8 { kind: ZeroExtend }),
        Wasm::I64Load => load(LoadKind::I64 { atomic: false }),
        Wasm::V128Store => store(StoreKind::V128),
        Wasm::I64Store => store(StoreKind::I64 { atomic: false }),
        Wasm::V128Load32Splat => simd(LoadSimdKind::Splat32),
        Wasm::V128Load32Zero => simd(LoadSimdKind::V128Load32Zero),
        Wasm::V128Load16x4S => simd(LoadSimdKind::V128Load16x4S),
        Wasm::V128Load16x4U => simd(LoadSimdKind::V128Load16x4U),
        Wasm::V128Store64Lane => simd(LoadSimdKind::V128Store64Lane(lane)),
        Wasm::V128Store32Lane => simd(LoadSimdKind::V128Store32Lane(lane)),
        Wasm::V128Store16Lane => simd(LoadSimdKind::V128Store16Lane(lane)),
        Wasm::V128Store8Lane => simd(LoadSimdKind::V128Store8Lane(lane)),
        _ => None,
    }
}

/// Sixteen bytes of a literal that repeats.
fn whole(literal: &[u8]) -> Option<[u8; 16]> {
    let period = literal.len();
    [4, 8, 16].contains(&period).then(|| std::array::from_fn(|at| literal[at % period]))
}

fn unary(op: Wasm, idx: u8) -> Option<U> {
    Some(match op {
        Wasm::F32x4Sqrt => U::F32x4Sqrt,
        Wasm::F32x4Abs => U::F32x4Abs,
        Wasm::F32x4Neg => U::F32x4Neg,
        Wasm::F32x4Ceil => U::F32x4Ceil,
        Wasm::F32x4Floor => U::F32x4Floor,
        Wasm::F32x4Trunc => U::F32x4Trunc,
        Wasm::F32x4Nearest => U::F32x4Nearest,
        Wasm::F32x4FromSigned => U::F32x4ConvertI32x4S,
        Wasm::F32x4FromUnsigned => U::F32x4ConvertI32x4U,
        Wasm::I32x4Neg => U::I32x4Neg,
        Wasm::I32x4Abs => U::I32x4Abs,
        Wasm::I32x4TruncS => U::I32x4TruncSatF32x4S,
        Wasm::I32x4TruncU => U::I32x4TruncSatF32x4U,
        Wasm::I16x8ExtendLow => U::I16x8WidenLowI8x16U,
        Wasm::I16x8ExtendHigh => U::I16x8WidenHighI8x16U,
        Wasm::I8x16Splat => U::I8x16Splat,
        Wasm::I8x16Popcnt => U::I8x16Popcnt,
        Wasm::I16x8Pairs => U::I16x8ExtAddPairwiseI8x16S,
        Wasm::I32x4Pairs => U::I32x4ExtAddPairwiseI16x8S,
        Wasm::V128Not => U::V128Not,
        Wasm::F32x4Splat => U::F32x4Splat,
        Wasm::F32x4ExtractLane => U::F32x4ExtractLane { idx },
        Wasm::I32x4Splat => U::I32x4Splat,
        Wasm::I32x4ExtractLane => U::I32x4ExtractLane { idx },
        Wasm::I64x2Splat => U::I64x2Splat,
        Wasm::V128AnyTrue => U::V128AnyTrue,
        Wasm::I32x4AllTrue => U::I32x4AllTrue,
        Wasm::I32x4Bitmask => U::I32x4Bitmask,
        Wasm::I32FromBits => U::I32ReinterpretF32,
        Wasm::F32FromBits => U::F32ReinterpretI32,
        Wasm::I32Eqz => U::I32Eqz,
        Wasm::I32Popcnt => U::I32Popcnt,
        Wasm::I32Wrap => U::I32WrapI64,
        Wasm::I64ExtendS => U::I64ExtendSI32,
        Wasm::I64ExtendU => U::I64ExtendUI32,
        Wasm::I32x4ExtendLowS => U::I32x4WidenLowI16x8S,
        Wasm::I32x4ExtendLowU => U::I32x4WidenLowI16x8U,
        Wasm::I16x8ExtendLowS => U::I16x8WidenLowI8x16S,
        _ => return None,
    })
}

fn binary(op: Wasm, idx: u8) -> Option<B> {
    Some(match op {
        Wasm::F32x4Add => B::F32x4Add,
        Wasm::F32x4Sub => B::F32x4Sub,
        Wasm::F32x4Mul => B::F32x4Mul,
        Wasm::F32x4Div => B::F32x4Div,
        Wasm::F32x4Min => B::F32x4Min,
        Wasm::F32x4Max => B::F32x4Max,
        Wasm::F32x4Pmin => B::F32x4PMin,
        Wasm::F32x4Pmax => B::F32x4PMax,
        Wasm::F32x4Eq => B::F32x4Eq,
        Wasm::F32x4Ne => B::F32x4Ne,
        Wasm::F32x4Lt => B::F32x4Lt,
        Wasm::F32x4Gt => B::F32x4Gt,
        Wasm::F32x4Le => B::F32x4Le,
        Wasm::F32x4Ge => B::F32x4Ge,
        Wasm::I32x4Add => B::I32x4Add,
        Wasm::I32x4Sub => B::I32x4Sub,
        Wasm::I32x4Mul => B::I32x4Mul,
        Wasm::I32x4MinS => B::I32x4MinS,
        Wasm::I32x4MinU => B::I32x4MinU,
        Wasm::I32x4MaxS => B::I32x4MaxS,
        Wasm::I32x4MaxU => B::I32x4MaxU,
        Wasm::I32x4Eq => B::I32x4Eq,
        Wasm::I32x4Ne => B::I32x4Ne,
        Wasm::I32x4LtS => B::I32x4LtS,
        Wasm::I32x4LtU => B::I32x4LtU,
        Wasm::I32x4GtS => B::I32x4GtS,
        Wasm::I32x4GtU => B::I32x4GtU,
        Wasm::I32x4LeS => B::I32x4LeS,
        Wasm::I32x4LeU => B::I32x4LeU,
        Wasm::I32x4GeS => B::I32x4GeS,
        Wasm::I32x4GeU => B::I32x4GeU,
        Wasm::I32x4Shl => B::I32x4Shl,
        Wasm::I32x4ShrS => B::I32x4ShrS,
        Wasm::I32x4ShrU => B::I32x4ShrU,
        Wasm::I64x2Shl => B::I64x2Shl,
        Wasm::I64x2ShrU => B::I64x2ShrU,
        Wasm::I32x4Dot => B::I32x4DotI16x8S,
        Wasm::I16x8Narrow => B::I16x8NarrowI32x4S,
        Wasm::I8x16LeS => B::I8x16LeS,
        Wasm::V128And => B::V128And,
        Wasm::V128AndNot => B::V128AndNot,
        Wasm::V128Or => B::V128Or,
        Wasm::V128Xor => B::V128Xor,
        Wasm::F32x4ReplaceLane => B::F32x4ReplaceLane { idx },
        Wasm::I32x4ReplaceLane => B::I32x4ReplaceLane { idx },
        Wasm::I64x2ReplaceLane => B::I64x2ReplaceLane { idx },
        Wasm::F32x4RelaxedMin => B::F32x4RelaxedMin,
        Wasm::F32x4RelaxedMax => B::F32x4RelaxedMax,
        op => return integer(op),
    })
}

fn integer(op: Wasm) -> Option<B> {
    Some(match op {
        Wasm::I32And => B::I32And,
        Wasm::I32Sub => B::I32Sub,
        Wasm::I32Shl => B::I32Shl,
        Wasm::I32ShrU => B::I32ShrU,
        Wasm::I32Eq => B::I32Eq,
        Wasm::I32Ne => B::I32Ne,
        Wasm::I32Add => B::I32Add,
        Wasm::I32Mul => B::I32Mul,
        Wasm::I32Or => B::I32Or,
        Wasm::I32Xor => B::I32Xor,
        Wasm::I64Add => B::I64Add,
        Wasm::I64Sub => B::I64Sub,
        Wasm::I64Mul => B::I64Mul,
        Wasm::I64And => B::I64And,
        Wasm::I64Or => B::I64Or,
        Wasm::I64Xor => B::I64Xor,
        Wasm::I64ShrS => B::I64ShrS,
        Wasm::I64ShrU => B::I64ShrU,
        Wasm::I64Eq => B::I64Eq,
        Wasm::I64Ne => B::I64Ne,
        Wasm::I64LtS => B::I64LtS,
        Wasm::I64LeS => B::I64LeS,
        Wasm::I64GtS => B::I64GtS,
        Wasm::I64GeS => B::I64GeS,
        Wasm::I64LtU => B::I64LtU,
        Wasm::I64LeU => B::I64LeU,
        Wasm::I64GtU => B::I64GtU,
        Wasm::I64GeU => B::I64GeU,
        Wasm::I32LtS => B::I32LtS,
        Wasm::I32LeS => B::I32LeS,
        Wasm::I32GtS => B::I32GtS,
        Wasm::I32GeS => B::I32GeS,
        Wasm::I32LtU => B::I32LtU,
        Wasm::I32LeU => B::I32LeU,
        Wasm::I32GtU => B::I32GtU,
        Wasm::I32GeU => B::I32GeU,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rake_ir::machine::wasm::ALL;
    use walrus::Module;

    #[test]
    fn every_row_is_written_by_one_instruction_of_as_many_operands() {
        for &op in ALL.iter().filter(|op| op.is_instruction()) {
            let row = op.info();
            let literal = match row.slots.iter().any(|slot| slot.mem.is_literal()) {
                true if op == Wasm::I64Const => &[0u8; 8][..],
                true => &[0; 4],
                false => &[],
            };
            if row.address_slot().is_some() {
                let mut module = Module::default();
                let memory = module.memories.add_local(false, false, 1, None, None);
                let written = transfer(op, row.imm.then_some(0), MemArg { align: 1, offset: 0 }, memory);
                assert!(written.is_some() && instruction(op, None, &[]).is_none(), "{}", row.name);
                continue;
            }
            assert!(instruction(op, row.imm.then_some(0), literal).is_some(), "{}", row.name);
            let operands = row.slots.len();
            assert!(unary(op, 0).is_none() || operands == 1, "{}", row.name);
            assert!(binary(op, 0).is_none() || operands == 2, "{}", row.name);
        }
    }
}
