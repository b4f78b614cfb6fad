//! Bodies of runs in C: loops, choices, checks, and the places that are accessed.
//!
//! ```c
//! for (;;) {                                       /* loop */
//!     ...
//!     if (rake_i64(v26) >= rake_i64(v8)) break;    /* compare_long, again: less */
//! }
//! ```

use super::internal;
use super::rows::Kind;
use crate::c_header::fields;
use rake_ir::diag::Diagnostic;
use rake_ir::machine::{Address, Cond, Flow, Inst, Operand};
use rake_ir::selected::{Function, Reg};
use rake_ir::types::{Pointee, Ty};

/// The lines of a marker behind its comparison, with how much further in what follows stands, and how much the first.
pub struct Marked {
    /// The text; none of a comparison.
    pub lines: Vec<String>,
    /// The first line's indentation, and that of what follows, against what stood before.
    pub indent: (i32, i32),
}

/// What a marker is in C; `on` writes a condition on what was compared before it.
///
/// # Errors
/// A marker without its condition, which is a fault of an earlier pass.
pub fn marker(inst: &Inst<Reg>, flow: Flow, on: &dyn Fn(Cond) -> Option<String>) -> Result<Marked, Diagnostic> {
    let condition = |negated: bool| {
        let cond = inst.cond().ok_or_else(|| internal("a marker without a condition"))?;
        on(if negated { cond.negated() } else { cond }).ok_or_else(|| internal("a condition without a comparison"))
    };
    let (lines, indent) = match flow {
        Flow::Loop => (vec!["for (;;) {".to_owned()], (0, 1)),
        Flow::Again => (vec![format!("if ({}) break;", condition(true)?), "}".to_owned()], (0, -1)),
        Flow::If => (vec![format!("if ({}) {{", condition(false)?)], (0, 1)),
        Flow::Else => (vec!["} else {".to_owned()], (-1, 0)),
        Flow::End => (vec!["}".to_owned()], (-1, -1)),
        Flow::TrapUnless => (vec![format!("if ({}) RAKE_TRAP();", condition(true)?)], (0, 0)),
        Flow::Compare | Flow::Return | Flow::Push | Flow::Pop => (Vec::new(), (0, 0)),
    };
    Ok(Marked { lines, indent })
}

/// Writes a marker's lines where it stands, and goes on at the depth that follows.
pub fn write(out: &mut String, marked: &Marked, flow: Flow, depth: &mut i32) {
    for (at, line) in marked.lines.iter().enumerate() {
        let last = at + 1 == marked.lines.len() && flow == Flow::Again;
        let by = if last { -1 } else { marked.indent.0 };
        out.push_str(&"    ".repeat((*depth + by).max(0) as usize));
        out.push_str(line);
        out.push('\n');
    }
    *depth += marked.indent.1;
}

/// A condition on two operands, of 64 bits or of 32.
pub fn condition(cond: Cond, kind: Kind, operands: [&Operand<Reg>; 2], read: &dyn Fn(Reg) -> String) -> String {
    let (signed, symbol) = match cond {
        Cond::Equal => (false, "=="),
        Cond::NotEqual => (false, "!="),
        Cond::Less => (true, "<"),
        Cond::LessEqual => (true, "<="),
        Cond::Greater => (true, ">"),
        Cond::GreaterEqual => (true, ">="),
        Cond::Below => (false, "<"),
        Cond::BelowEqual => (false, "<="),
        Cond::Above => (false, ">"),
        Cond::AboveEqual => (false, ">="),
    };
    let sign = if kind == Kind::W { "rake_i64" } else { "rake_i32" };
    let [a, b] = operands.map(|operand| match operand {
        Operand::Reg(reg) if signed => format!("{sign}({})", read(*reg)),
        Operand::Reg(reg) => read(*reg),
        Operand::Number(n) if signed => n.to_string(),
        Operand::Number(n) => number(*n, kind),
        _ => String::new(),
    });
    format!("{a} {symbol} {b}")
}

/// A number of 64 bits or of 32.
pub fn number(number: i32, kind: Kind) -> String {
    match kind {
        Kind::W if number < 0 => format!("UINT64_C({:#x})", i64::from(number)),
        Kind::W => format!("UINT64_C({number})"),
        _ if number < 0 => format!("UINT32_C({number:#x})"),
        _ => format!("UINT32_C({number})"),
    }
}

/// Where an element stands, as an integer; `read` gives registers, an index that is a lane's in 32 bits.
pub fn place(address: &Address<Reg>, lanes: bool, read: &dyn Fn(Reg, Kind) -> String) -> String {
    let mut out = read(address.base, Kind::W);
    if let Some(index) = address.index {
        let index = match lanes {
            true => format!("(uint64_t)(int64_t)rake_i32({})", read(index, Kind::U)),
            false => read(index, Kind::W),
        };
        out += &format!(" + {index}");
        if address.scale > 0 {
            out += &format!(" * {}", 1u32 << address.scale);
        }
    }
    match address.disp {
        0 => {}
        disp if disp < 0 => out += &format!(" - {}", -i64::from(disp)),
        disp => out += &format!(" + {disp}"),
    }
    out
}

/// The field of a stack's descriptor that an address leads to: the count or a column.
pub fn field(function: &Function, address: &Address<Reg>) -> Option<String> {
    let pointee = function.params.get(address.base.0 as usize)?.points_to.as_ref()?;
    let (Pointee::Stack { .. }, None, Ok(disp)) = (pointee, address.index, usize::try_from(address.disp)) else {
        return None;
    };
    match disp {
        0 => Some("count".to_owned()),
        _ if disp % 8 == 0 => fields(pointee).get(disp / 8 - 1).cloned(),
        _ => None,
    }
}

/// How C sees a type.
pub const fn kind_of(ty: Ty) -> Kind {
    use rake_ir::types::Elem;
    match ty {
        Ty::Rack(Elem::F32) | Ty::Uniform(Elem::F32) => Kind::F,
        Ty::Uniform(Elem::I64 | Elem::U64) | Ty::Address => Kind::W,
        _ => Kind::U,
    }
}

/// For each register whether it is set more than once: such ones are variables.
pub fn variables(function: &Function) -> Vec<bool> {
    let mut sets = vec![0; function.regs.len()];
    function.insts.iter().filter_map(|inst| inst.dst).for_each(|dst| sets[dst.0 as usize] += 1);
    sets.into_iter().map(|sets| sets > 1).collect()
}

/// What copies give variables.
pub fn copies(function: &Function) -> impl Iterator<Item = (Reg, Reg)> {
    function.insts.iter().filter_map(|inst| match inst.args[..] {
        [Operand::Reg(from)] => Some((inst.dst?, from)),
        _ => None,
    })
}
