//! C for WebAssembly: one intrinsic of `wasm_simd128.h` for each selected instruction.
//!
//! ```c
//! const v128_t v4 = wasm_f32x4_mul(v, v3);
//! const v128_t v5 = wasm_f32x4_add(x, v4);
//! ```
//!
//! Intrinsics have the names of the instructions, but for unsigned lanes (`i32x4.min_u` is `wasm_u32x4_min`). Words are
//! `uint32_t`, which every conversion to and from `int32_t` keeps on Clang, the only compiler that has the header.

use super::rows::{HELPERS, Helper};
use super::scalar::literal;
use super::{Lines, Options, declared_selected, internal, local, prototypes, remark, title, unread};
use crate::c_header::{Declaration, includes};
use rake_ir::diag::Diagnostic;
use rake_ir::machine::{Inst, Operand, View};
use rake_ir::profile::Profile;
use rake_ir::selected::{Function, Program, Reg};
use std::fmt::Write;

/// Writes a program.
pub fn emit(program: &Program, options: &Options<'_>, stem: &str, line: Lines<'_>) -> Result<String, Diagnostic> {
    let declarations = declared_selected(program, options);
    let mut bodies = String::new();
    for (function, declaration) in program.functions.iter().zip(&declarations) {
        let spans = std::iter::once(function.span).chain(function.insts.iter().map(|inst| inst.span));
        bodies.push('\n');
        bodies.push_str(&remark(declaration, spans, line));
        body(&mut bodies, function, declaration)?;
    }
    let mut out = title(stem, options, program.profile, program.fuse);
    out.push_str(if program.profile == Profile::WasmSimd128 { GUARD } else { GUARD_RELAXED });
    out.push_str("#pragma STDC FP_CONTRACT OFF\n");
    out.push_str(includes(program.profile));
    out.push_str("#include <stdbool.h>\n");
    let used = |(name, _): &&Helper| bodies.contains(&format!("{name}("));
    for (_, definition) in HELPERS.iter().filter(|(name, _)| ["rake_f32", "rake_u32"].contains(name)).filter(used) {
        out.push('\n');
        out.push_str(definition);
    }
    out.push('\n');
    prototypes(&mut out, &declarations);
    out.push_str(&bodies);
    Ok(out)
}

const GUARD: &str = "#if !defined(__wasm_simd128__) || !defined(__clang__)
#error \"compile for WebAssembly with clang -msimd128\"
#endif
#if defined(__FAST_MATH__)
#error \"compile without -ffast-math\"
#endif
";

/// Clang 18 is the first whose header has the relaxed instructions as they were standardised.
const GUARD_RELAXED: &str = "#if !defined(__wasm_relaxed_simd__) || !defined(__clang__) || __clang_major__ < 18
#error \"compile for WebAssembly with clang -msimd128 -mrelaxed-simd, of version 18 or later\"
#endif
#if defined(__FAST_MATH__)
#error \"compile without -ffast-math\"
#endif
";

fn body(out: &mut String, function: &Function, declaration: &Declaration) -> Result<(), Diagnostic> {
    let _ = writeln!(out, "{}\n{{", declaration.head());
    unread(out, declaration, function);
    for inst in &function.insts {
        let dst = inst.dst.ok_or_else(|| internal(format!("{} without a result", inst.op.name())))?;
        let ty = match inst.op.info().dst {
            Some(View::Float) => "float",
            Some(View::Word) => "uint32_t",
            Some(View::Long) => "uint64_t",
            _ => "v128_t",
        };
        let expression = expression(inst, function, declaration)?;
        let _ = writeln!(out, "    const {ty} {} = {expression};", local(declaration, dst.0));
    }
    let result = function.result.map(|result| read(declaration, result.reg)).unwrap_or_default();
    let _ = match declaration.result {
        "void" => writeln!(out, "}}"),
        "bool" => writeln!(out, "    return {result} != 0;\n}}"),
        "int32_t" if !result.starts_with("(uint32_t)") => writeln!(out, "    return (int32_t){result};\n}}"),
        _ => writeln!(out, "    return {};\n}}", result.trim_start_matches("(uint32_t)")),
    };
    Ok(())
}

/// A value; integer parameters as words.
fn read(declaration: &Declaration, reg: Reg) -> String {
    match declaration.params.get(reg.0 as usize) {
        Some((ty, name)) if matches!(&**ty, "v128_t" | "float" | "uint32_t") => name.clone(),
        Some((_, name)) => format!("(uint32_t){name}"),
        None => local(declaration, reg.0),
    }
}

fn expression(inst: &Inst<Reg>, function: &Function, declaration: &Declaration) -> Result<String, Diagnostic> {
    let mut args = Vec::with_capacity(inst.args.len());
    let mut bytes: &[u8] = &[];
    for arg in &inst.args {
        match *arg {
            Operand::Reg(reg) => args.push(read(declaration, reg)),
            Operand::Literal(id) | Operand::Broadcast(id) => {
                bytes = function.literals.get(id.0 as usize).ok_or_else(|| internal("a literal that is not there"))?;
            }
            _ => return Err(internal("an operand that C cannot name")),
        }
    }
    let byte = |at: usize| bytes.get(at % bytes.len().max(1)).copied().unwrap_or(0);
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|k| byte(4 * at + k)));
    let arg = |at: usize| args.get(at).cloned().unwrap_or_default();
    let imm = inst.imm.unwrap_or(0);
    Ok(match inst.op.name() {
        "v128_const" => {
            let words: Vec<String> = (0..4).map(|at| format!("{:#010x}", word(at))).collect();
            format!("wasm_u32x4_const({})", words.join(", "))
        }
        "i32_const" => literal(word(0), false),
        "f32_const" => literal(word(0), true),
        "i64_const" => format!("{:#x}u", u64::from(word(0)) | u64::from(word(1)) << 32),
        "i64x2_splat" => format!("wasm_i64x2_splat((int64_t){})", arg(0)),
        "i64x2_replace_lane" => format!("wasm_i64x2_replace_lane({}, {imm}, (int64_t){})", arg(0), arg(1)),
        "i8x16_splat" => format!("wasm_i8x16_splat((int8_t){})", arg(0)),
        "i8x16_shuffle" => {
            let picks: Vec<String> = (0..16).map(|at| byte(at).to_string()).collect();
            format!("wasm_i8x16_shuffle({}, {}, {})", arg(0), arg(1), picks.join(", "))
        }
        "f32x4_extract_lane" => format!("wasm_f32x4_extract_lane({}, {imm})", arg(0)),
        "i32x4_extract_lane" => format!("(uint32_t)wasm_i32x4_extract_lane({}, {imm})", arg(0)),
        "f32x4_replace_lane" => format!("wasm_f32x4_replace_lane({}, {imm}, {})", arg(0), arg(1)),
        "i32x4_replace_lane" => format!("wasm_i32x4_replace_lane({}, {imm}, (int32_t){})", arg(0), arg(1)),
        "i32x4_splat" => format!("wasm_i32x4_splat((int32_t){})", arg(0)),
        "select" => format!("{} ? {} : {}", arg(2), arg(0), arg(1)),
        "i32_and" => format!("{} & {}", arg(0), arg(1)),
        "i32_sub" => format!("{} - {}", arg(0), arg(1)),
        "i32_shl" => format!("{} << ({} & 31)", arg(0), arg(1)),
        "i32_shr_u" => format!("{} >> ({} & 31)", arg(0), arg(1)),
        "i32_eq" => format!("(uint32_t)({} == {})", arg(0), arg(1)),
        "i32_ne" => format!("(uint32_t)({} != {})", arg(0), arg(1)),
        "i32_eqz" => format!("(uint32_t)({} == 0)", arg(0)),
        "i32_reinterpret_f32" => format!("rake_u32({})", arg(0)),
        "f32_reinterpret_i32" => format!("rake_f32({})", arg(0)),
        name => {
            let call = format!("{}({})", intrinsic(name), args.join(", "));
            if inst.op.info().dst == Some(View::Word) { format!("(uint32_t){call}") } else { call }
        }
    })
}

/// The intrinsic of a row of this name.
fn intrinsic(name: &str) -> String {
    match name.strip_suffix("_u") {
        Some(unsigned) => {
            format!(
                "wasm_{}",
                unsigned
                    .replace("i64x2", "u64x2")
                    .replace("i32x4", "u32x4")
                    .replace("i16x8", "u16x8")
                    .replace("i8x16", "u8x16")
            )
        }
        None => format!("wasm_{}", name.strip_suffix("_s").unwrap_or(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in Clang's `wasm_simd128.h`.
    #[test]
    fn intrinsics_are_those_of_the_header() {
        for (row, name) in [
            ("f32x4_add", "wasm_f32x4_add"),
            ("i32x4_min_s", "wasm_i32x4_min"),
            ("i32x4_min_u", "wasm_u32x4_min"),
            ("f32x4_convert_i32x4_u", "wasm_f32x4_convert_u32x4"),
            ("i32x4_trunc_sat_f32x4_u", "wasm_u32x4_trunc_sat_f32x4"),
            ("i32x4_dot_i16x8_s", "wasm_i32x4_dot_i16x8"),
            ("i16x8_narrow_i32x4_s", "wasm_i16x8_narrow_i32x4"),
            ("i16x8_extend_low_i8x16_u", "wasm_u16x8_extend_low_u8x16"),
            ("f32x4_relaxed_nmadd", "wasm_f32x4_relaxed_nmadd"),
            ("v128_any_true", "wasm_v128_any_true"),
        ] {
            assert_eq!(intrinsic(row), name);
        }
    }
}
