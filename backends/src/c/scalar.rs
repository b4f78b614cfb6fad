//! Scalar C: one statement for each selected instruction.
//!
//! A variable has the type that its row makes, `float` or `uint32_t`; where a row reads the other, the bits are taken as
//! that. Constants take the type that they are read as. What is set more than once is declared first.

use super::bodies::{self, condition, copies, field, kind_of, marker, number, place, variables};
use super::rows::{self, HELPERS, Kind, Text};
use super::{Lines, Options, declared_selected, internal, local, prototypes, remark, title, unread};
use crate::c_header::{Declaration, includes};
use rake_ir::diag::Diagnostic;
use rake_ir::machine::scalar::Scalar;
use rake_ir::machine::{Cond, Flow, Inst, Kind as MachKind, MachOp, Mem, Operand, View};
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
    out.push_str(includes(program.profile));
    if bodies.contains("rake_load_") || bodies.contains("rake_store_") {
        out.push_str("#include <string.h>\n");
    }
    out.push_str(GUARD);
    for (_, definition) in called(&bodies) {
        out.push('\n');
        out.push_str(definition);
    }
    out.push('\n');
    prototypes(&mut out, &declarations);
    out.push_str(&bodies);
    out.push_str(END);
    Ok(out)
}

/// Each operation rounds once, to `float`, and is what it says. GCC ignores the standard pragma, and contracts unless it is
/// told to conform to ISO C; what it compiles with other options it does not inline. A comparison of a value with itself
/// asks for a NaN.
const GUARD: &str = "#include <float.h>
#include <stdbool.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0) || \\
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error \"compile without -ffast-math and its parts\"
#endif
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error \"float is computed with excess precision; on 32-bit x86 compile with -msse -mfpmath=sse\"
#endif
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC push_options
#pragma GCC optimize (\"fp-contract=off\")
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \"-Wtautological-compare\"
#endif
";

const END: &str = "
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
";

/// The helpers that the text calls, or that those call.
pub(super) fn called(text: &str) -> Vec<rows::Helper> {
    let calls = |text: &str, name: &str| text.contains(&format!("{name}("));
    let mut found: Vec<rows::Helper> = Vec::new();
    for &(name, definition) in HELPERS.iter().rev() {
        if calls(text, name) || found.iter().any(|(_, other)| calls(other, name)) {
            found.push((name, definition));
        }
    }
    found.reverse();
    found
}

fn body(out: &mut String, function: &Function, declaration: &Declaration) -> Result<(), Diagnostic> {
    let _ = writeln!(out, "{}\n{{", declaration.head());
    unread(out, declaration, function);
    let (kinds, variables) = (kinds(function)?, variables(function));
    let names = Names { function, declaration, kinds, rounded: rounded(function), variables };
    for (reg, _) in names.variables.iter().enumerate().filter(|(_, variable)| **variable) {
        let _ = writeln!(out, "    {} {};", names.kinds[reg].ty(), local(declaration, reg as u32));
    }
    let (mut depth, mut compared) = (1, None);
    for inst in &function.insts {
        let Some(flow) = inst.op.flow() else {
            statement(out, inst, &names, depth)?;
            continue;
        };
        let compared_before = compared.take();
        let condition = |cond| compared_before.map(|inst| names.condition(inst, cond));
        bodies::write(out, &marker(inst, flow, &condition)?, flow, &mut depth);
        if flow == Flow::Compare {
            compared = Some(inst);
        }
    }
    let _ = match function.result {
        Some(result) => writeln!(out, "    return {};\n}}", names.result(result.reg)),
        None => writeln!(out, "}}"),
    };
    Ok(())
}

fn indent(depth: i32) -> String {
    "    ".repeat(depth.max(0) as usize)
}

fn statement(out: &mut String, inst: &Inst<Reg>, names: &Names<'_>, depth: i32) -> Result<(), Diagnostic> {
    let (op, text) = text(inst)?;
    let kind = inst.dst.map_or(text.result, |dst| names.kind(dst));
    let mut expression = text.expression.replace("$n", &inst.imm.unwrap_or(0).to_string());
    let copy = inst.dst.is_some_and(|dst| names.variables[dst.0 as usize]);
    for (at, (arg, &operand)) in inst.args.iter().zip(text.operands).enumerate() {
        let operand = if copy { kind } else { operand };
        let read = match arg {
            Operand::Literal(id) => {
                let literal =
                    names.function.literals.get(id.0 as usize).and_then(|bytes| bytes.get(..4)?.try_into().ok());
                constant(u32::from_le_bytes(literal.ok_or_else(|| internal("a constant without its literal"))?), kind)
            }
            Operand::Reg(reg) => names.read(*reg, operand),
            Operand::Number(n) => number(*n, operand),
            Operand::Memory(address) => match (op, field(names.function, address)) {
                (Scalar::LoadLong, Some(field)) => {
                    expression = names.field(address.base, &field);
                    continue;
                }
                (Scalar::StoreLong, Some(field)) => {
                    let name = names.parameter(address.base).unwrap_or_default();
                    expression = format!("{name}->{field} = rake_i64($1)");
                    continue;
                }
                _ => {
                    let lanes = op.info().slots[at].mem == Mem::Places;
                    place(address, lanes, &|reg, kind| names.read(reg, kind))
                }
            },
            _ => return Err(internal("an operand that is no value")),
        };
        expression = expression.replace(&format!("${at}"), &read);
    }
    let (indent, Some(dst)) = (indent(depth), inst.dst) else {
        let _ = writeln!(out, "{}{expression};", self::indent(depth));
        return Ok(());
    };
    let (name, ty) = (local(names.declaration, dst.0), kind.ty());
    let _ = if copy {
        writeln!(out, "{indent}{name} = {expression};")
    } else if op == Scalar::MulF32 && names.rounded[dst.0 as usize] {
        writeln!(out, "{indent}{ty} {name} = {expression};\n{indent}RAKE_ROUND({name});")
    } else {
        writeln!(out, "{indent}const {ty} {name} = {expression};")
    };
    Ok(())
}

fn text(inst: &Inst<Reg>) -> Result<(Scalar, Text), Diagnostic> {
    match inst.op {
        MachOp::Scalar(op) => Ok((op, rows::of(op))),
        op => Err(internal(format!("{} is no operation of scalar", op.name()))),
    }
}

/// The kind of each value: that of its parameter or row, of a constant that of its readers.
fn kinds(function: &Function) -> Result<Vec<Kind>, Diagnostic> {
    let mut kinds = vec![Kind::U; function.regs.len()];
    let mut whole = vec![false; function.regs.len()];
    let index = |reg: Reg| reg.0 as usize;
    for (kind, param) in kinds.iter_mut().zip(&function.params) {
        *kind = kind_of(param.ty);
    }
    let mut constants = Vec::new();
    for inst in &function.insts {
        let text = text(inst)?.1;
        for (arg, &kind) in inst.args.iter().zip(text.operands) {
            if let (Operand::Reg(reg), Kind::U) = (arg, kind) {
                whole[index(*reg)] = true;
            }
        }
        if let Some(dst) = inst.dst {
            kinds[index(dst)] = text.result;
            if inst.args.iter().any(|arg| arg.literal().is_some()) {
                constants.push(dst);
            }
        }
    }
    if let Some(result) = function.result {
        whole[index(result.reg)] |= kind_of(result.ty) == Kind::U;
    }
    for constant in constants {
        kinds[index(constant)] = if whole[index(constant)] { Kind::U } else { Kind::F };
    }
    // A variable is what its copies are, or a float where those are constants that may be either.
    let variables = variables(function);
    let copies: Vec<(Reg, Reg)> = copies(function).filter(|(to, _)| variables[index(*to)]).collect();
    for _ in 0..2 {
        for (to, from) in &copies {
            kinds[index(*to)] = kinds[index(*from)];
        }
    }
    Ok(kinds)
}

/// Of each value whether something reads it that a compiler might compute together with it, rounding once: all but
/// comparisons and what multiplies and divides.
fn rounded(function: &Function) -> Vec<bool> {
    let apart = |op: MachOp| {
        let factor = matches!(op, MachOp::Scalar(Scalar::MulF32 | Scalar::DivF32 | Scalar::SqrtF32));
        factor || op.info().kind == MachKind::Compare
    };
    let mut rounded = vec![false; function.regs.len()];
    for inst in function.insts.iter().filter(|inst| !apart(inst.op)) {
        inst.regs().for_each(|reg| rounded[reg.0 as usize] = true);
    }
    function.result.into_iter().for_each(|result| rounded[result.reg.0 as usize] = true);
    rounded
}

/// What the values of a function are called, and how they are read.
struct Names<'a> {
    function: &'a Function,
    declaration: &'a Declaration,
    kinds: Vec<Kind>,
    /// Which products are to be rounded before anything else happens to them.
    rounded: Vec<bool>,
    /// Which values are set more than once.
    variables: Vec<bool>,
}

impl Names<'_> {
    fn kind(&self, reg: Reg) -> Kind {
        self.kinds.get(reg.0 as usize).copied().unwrap_or(Kind::U)
    }

    /// A parameter's name.
    fn parameter(&self, reg: Reg) -> Option<&str> {
        self.declaration.params.get(reg.0 as usize).map(|(_, name)| name.as_str())
    }

    /// A value as this kind has it.
    fn read(&self, reg: Reg, kind: Kind) -> String {
        let own = self.kind(reg);
        let name = match self.declaration.params.get(reg.0 as usize) {
            Some((ty, name)) if matches!(&**ty, "float" | "uint32_t" | "uint64_t") => name.clone(),
            Some((ty, name)) if ty.ends_with('*') => format!("(uint64_t)(uintptr_t){name}"),
            Some((_, name)) => format!("({}){name}", own.ty()),
            None => local(self.declaration, reg.0),
        };
        match (own, kind) {
            (Kind::U, Kind::F) => format!("rake_f32({name})"),
            (Kind::F, Kind::U) => format!("rake_u32({name})"),
            (Kind::W, Kind::U) => format!("(uint32_t){name}"),
            _ => name,
        }
    }

    /// A field of a stack's descriptor, as an integer.
    fn field(&self, base: Reg, field: &str) -> String {
        let name = self.parameter(base).unwrap_or_default();
        let pointer = if field == "count" { "" } else { "(uintptr_t)" };
        format!("(uint64_t){pointer}{name}->{field}")
    }

    /// A condition on what a comparison compares.
    fn condition(&self, compared: &Inst<Reg>, cond: Cond) -> String {
        let kind = compared.op.info().slots.first().map_or(Kind::U, |slot| match slot.view {
            View::Long => Kind::W,
            _ => Kind::U,
        });
        match &compared.args[..] {
            [a, b] => condition(cond, kind, [a, b], &|reg| self.read(reg, kind)),
            _ => String::new(),
        }
    }

    /// The result as the function's type.
    fn result(&self, reg: Reg) -> String {
        let ty = self.declaration.result;
        if let Some((_, name)) = self.declaration.params.get(reg.0 as usize).filter(|(own, _)| own == ty) {
            return name.clone();
        }
        match ty {
            "float" => self.read(reg, Kind::F),
            "uint32_t" => self.read(reg, Kind::U),
            "int32_t" => format!("rake_i32({})", self.read(reg, Kind::U)),
            "bool" => format!("{} != 0", self.read(reg, Kind::U)),
            narrow => format!("({narrow}){}", self.read(reg, Kind::U)),
        }
    }
}

/// A literal of 32 bits as a `float` or a `uint32_t`.
pub fn literal(bits: u32, float: bool) -> String {
    constant(bits, if float { Kind::F } else { Kind::U })
}

/// A constant, exactly.
fn constant(bits: u32, kind: Kind) -> String {
    let plain = if bits < 256 { format!("UINT32_C({bits})") } else { format!("UINT32_C({bits:#010x})") };
    let (sign, exponent, fraction) = (if bits >> 31 == 1 { "-" } else { "" }, bits >> 23 & 0xff, bits << 9 >> 8);
    let digits = format!("{fraction:06x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    match (kind, exponent, fraction) {
        (Kind::U | Kind::W, ..) => plain,
        (Kind::F, 0xff, _) => format!("rake_f32({plain})"),
        (Kind::F, 0, 0) => format!("{sign}0.0f"),
        (Kind::F, 0, _) => format!("{sign}0x0{point}{digits}p-126f"),
        (Kind::F, ..) => format!("{sign}0x1{point}{digits}p{}f", exponent as i32 - 127),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_exact() {
        let float = |x: f32| constant(x.to_bits(), Kind::F);
        assert_eq!((float(1.0), float(-0.5), float(3.0)), ("0x1p0f".into(), "-0x1p-1f".into(), "0x1.8p1f".into()));
        assert_eq!(
            (float(0.0), float(-0.0), float(f32::MAX)),
            ("0.0f".into(), "-0.0f".into(), "0x1.fffffep127f".into())
        );
        // The least and the greatest subnormal: 2^-149 and 2^-126 - 2^-149.
        assert_eq!(
            (constant(1, Kind::F), constant(0x7f_ffff, Kind::F)),
            ("0x0.000002p-126f".into(), "0x0.fffffep-126f".into())
        );
        assert_eq!(
            (constant(0x7fc0_0000, Kind::F), constant(31, Kind::U)),
            ("rake_f32(UINT32_C(0x7fc00000))".into(), "UINT32_C(31)".into())
        );
    }

    #[test]
    fn helpers_come_after_those_that_they_call() {
        let names: Vec<&str> = called("rake_to_u32(x)").iter().map(|helper| helper.0).collect();
        assert_eq!(names, ["rake_f32", "rake_u32", "rake_signed", "rake_fractional", "rake_nearest", "rake_to_u32"]);
        for (at, (_, definition)) in HELPERS.iter().enumerate() {
            assert!(
                HELPERS[at + 1..].iter().all(|(name, _)| !definition.contains(&format!("{name}("))),
                "{definition}"
            );
        }
    }
}
