//! C for WebAssembly: one intrinsic of `wasm_simd128.h` for each selected instruction.
//!
//! ```c
//! const v128_t v4 = wasm_f32x4_mul(v, v3);
//! const v128_t v5 = wasm_f32x4_add(x, v4);
//! ```
//!
//! Intrinsics have the names of the instructions, but for unsigned lanes (`i32x4.min_u` is `wasm_u32x4_min`). Words are
//! `uint32_t`, which every conversion to and from `int32_t` keeps on Clang, the only compiler that has the header.

use super::bodies::{self, condition, marker, number, place, variables};
use super::rows::Kind;
use super::scalar::{called, literal};
use super::{Lines, Options, declared_selected, internal, local, prototypes, remark, title, unread};
use crate::c_header::{Declaration, includes};
use rake_ir::diag::Diagnostic;
use rake_ir::machine::{Class, Cond, Flow, Inst, Operand, View};
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
    for (_, definition) in called(&bodies) {
        out.push('\n');
        // Without a C library there is no <string.h>.
        out.push_str(&definition.replace(" memcpy(", " __builtin_memcpy("));
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
    let variables = variables(function);
    for (reg, _) in variables.iter().enumerate().filter(|(_, variable)| **variable) {
        let _ = writeln!(out, "    {} {};", type_of(function.class(Reg(reg as u32))), local(declaration, reg as u32));
    }
    let (mut depth, mut compared) = (1, None);
    for inst in &function.insts {
        let Some(flow) = inst.op.flow() else {
            let (indent, expression) = ("    ".repeat(depth.max(0) as usize), expression(inst, function, declaration)?);
            let _ = match inst.dst {
                None => writeln!(out, "{indent}{expression};"),
                Some(dst) if variables[dst.0 as usize] => {
                    writeln!(out, "{indent}{} = {expression};", local(declaration, dst.0))
                }
                Some(dst) => {
                    let ty = type_of(function.class(dst));
                    writeln!(out, "{indent}const {ty} {} = {expression};", local(declaration, dst.0))
                }
            };
            continue;
        };
        let before: Option<&Inst<Reg>> = compared.take();
        let on = |cond| before.and_then(|inst| condition_of(inst, cond, declaration));
        bodies::write(out, &marker(inst, flow, &on)?, flow, &mut depth);
        if flow == Flow::Compare {
            compared = Some(inst);
        }
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

const fn type_of(class: Class) -> &'static str {
    match class {
        Class::F => "float",
        Class::G => "uint32_t",
        Class::L => "uint64_t",
        Class::V | Class::K | Class::S => "v128_t",
    }
}

/// A condition on what a comparison compares.
fn condition_of(compared: &Inst<Reg>, cond: Cond, declaration: &Declaration) -> Option<String> {
    let wide = compared.op.info().slots.first().is_some_and(|slot| slot.view == View::Wide);
    let kind = if wide { Kind::W } else { Kind::U };
    match &compared.args[..] {
        [a, b] => Some(condition(cond, kind, [a, b], &|reg| read(declaration, reg))),
        _ => None,
    }
}

/// A value; integer parameters as words.
fn read(declaration: &Declaration, reg: Reg) -> String {
    match declaration.params.get(reg.0 as usize) {
        Some((ty, name)) if matches!(&**ty, "v128_t" | "float" | "uint32_t" | "uint64_t") => name.clone(),
        Some((ty, name)) if ty.ends_with('*') => format!("(uint32_t)(uintptr_t){name}"),
        Some((ty, name)) if ty == "int64_t" => format!("(uint64_t){name}"),
        Some((_, name)) => format!("(uint32_t){name}"),
        None => local(declaration, reg.0),
    }
}

fn expression(inst: &Inst<Reg>, function: &Function, declaration: &Declaration) -> Result<String, Diagnostic> {
    let mut args = Vec::with_capacity(inst.args.len());
    let mut bytes: &[u8] = &[];
    for (arg, slot) in inst.args.iter().zip(inst.op.info().slots) {
        match *arg {
            Operand::Reg(reg) => args.push(read(declaration, reg)),
            Operand::Number(n) => args.push(number(n, if slot.view == View::Wide { Kind::W } else { Kind::U })),
            Operand::Memory(address) => args.push(place(&address, false, &|reg, _| read(declaration, reg))),
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
    if let Some(text) = integer(inst.op.name(), &args).or_else(|| transfer(inst.op.name(), &args, imm)) {
        return Ok(text);
    }
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

/// What computes a word, or copies.
fn integer(name: &str, args: &[String]) -> Option<String> {
    Some(match (name, args) {
        ("copy_word" | "copy_long" | "copy_rack", [a]) => a.clone(),
        ("i32_popcnt", [a]) => format!("(uint32_t)__builtin_popcount({a})"),
        ("i32_wrap_i64", [a]) => format!("(uint32_t){a}"),
        ("i64_extend_i32_s", [a]) => format!("(uint64_t)(int64_t)(int32_t){a}"),
        ("i64_extend_i32_u", [a]) => format!("(uint64_t){a}"),
        ("i64_shr_u", [a, b]) => format!("{a} >> ({b} & 63)"),
        ("i64_shr_s", [a, b]) => format!("(uint64_t)((int64_t){a} >> ({b} & 63))"),
        (_, [a, b]) => {
            let symbol = match name.strip_prefix("i32_").or(name.strip_prefix("i64_"))? {
                "add" => "+",
                "sub" => "-",
                "mul" => "*",
                "and" => "&",
                "or" => "|",
                "xor" => "^",
                _ => return None,
            };
            format!("{a} {symbol} {b}")
        }
        _ => return None,
    })
}

/// What moves something between memory and a value.
fn transfer(name: &str, args: &[String], imm: u8) -> Option<String> {
    let [address, rest @ ..] = args else { return None };
    let pointer = |qualifier: &str| format!("({qualifier}void *)(uintptr_t)({address})");
    Some(match (name, rest) {
        ("v128_load" | "v128_load32_splat" | "v128_load32_zero", []) => format!("wasm_{name}({})", pointer("const ")),
        ("v128_load16x4_s", []) => format!("wasm_i32x4_load16x4({})", pointer("const ")),
        ("v128_load16x4_u", []) => format!("wasm_u32x4_load16x4({})", pointer("const ")),
        ("v128_store", [value]) => format!("wasm_v128_store({}, {value})", pointer("")),
        (lane, [value]) if lane.starts_with("v128_store") => format!("wasm_{lane}({}, {value}, {imm})", pointer("")),
        ("i32_load", []) => format!("rake_load_u32({address})"),
        ("i32_load16_s", []) => format!("rake_load_i16({address})"),
        ("i32_load16_u", []) => format!("rake_load_u16({address})"),
        ("i32_load8_s", []) => format!("rake_load_i8({address})"),
        ("i32_load8_u", []) => format!("rake_load_u8({address})"),
        ("i64_load", []) => format!("rake_load_u64({address})"),
        ("i64_store", [value]) => format!("rake_store_u64({address}, {value})"),
        _ => return None,
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
