//! Dumps of `selected` and `allocated`: one instruction a line, `%3 : v = addps %0, %1`.

use super::{Inst, Operand};
use crate::allocated;
use crate::lane::FuseLevel;
use crate::profile::Profile;
use crate::selected::{self, Param, Reg};
use std::fmt::{self, Write as _};

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl<R: fmt::Display> fmt::Display for Operand<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Reg(r) => write!(f, "{r}"),
            Operand::Literal(l) => write!(f, "literal {}", l.0),
            Operand::Broadcast(l) => write!(f, "broadcast {}", l.0),
        }
    }
}

fn header(out: &mut String, ir: &str, profile: Profile, fuse: FuseLevel) {
    let _ = write!(out, "rake {ir} 1\nprofile {profile}\nfuse {}\n", fuse.name());
}

fn literals(out: &mut String, literals: &[Vec<u8>]) {
    for (number, bytes) in literals.iter().enumerate() {
        let _ = write!(out, "  literal {number} = ");
        for byte in bytes {
            let _ = write!(out, "{byte:02x}");
        }
        out.push('\n');
    }
}

fn params(out: &mut String, params: &[Param]) {
    for (number, param) in params.iter().enumerate() {
        let _ = writeln!(out, "  param %{number} {} : {} = {}", param.name, param.ty, param.place);
    }
}

/// `op a, b, imm` and the region; what stands right of the destination.
fn body<R: fmt::Display>(out: &mut String, inst: &Inst<R>) {
    out.push_str(inst.op.name());
    for (at, arg) in inst.args.iter().enumerate() {
        let _ = write!(out, "{} {arg}", if at == 0 { "" } else { "," });
    }
    if let Some(imm) = inst.imm {
        let _ = write!(out, "{} #{imm}", if inst.args.is_empty() { "" } else { "," });
    }
    if let Some(region) = inst.region {
        let _ = write!(out, " in region {region}");
    }
}

/// The dump of a `selected` program.
pub fn print_selected(program: &selected::Program) -> String {
    let mut out = String::new();
    header(&mut out, "selected", program.profile, program.fuse);
    for f in &program.functions {
        let _ = writeln!(out, "\nfunction {} -> {} = {}", f.name, f.result_ty, f.result_place);
        params(&mut out, &f.params);
        literals(&mut out, &f.literals);
        for inst in &f.insts {
            out.push_str("  ");
            if let Some(dst) = inst.dst {
                let _ = write!(out, "{dst} : {} = ", f.class(dst).letter());
            }
            body(&mut out, inst);
            if let Some(name) = inst.dst.and_then(|dst| f.regs[dst.0 as usize].name.as_ref()) {
                let _ = write!(out, " as {name}");
            }
            out.push('\n');
        }
        let _ = writeln!(out, "  result {}", f.result);
    }
    out
}

/// The dump of an `allocated` program.
pub fn print_allocated(program: &allocated::Program) -> String {
    let mut out = String::new();
    header(&mut out, "allocated", program.profile, program.fuse);
    for f in &program.functions {
        let _ = writeln!(out, "\nfunction {} -> {} = {}", f.name, f.result_ty, f.result_place);
        params(&mut out, &f.params);
        literals(&mut out, &f.literals);
        for inst in &f.insts {
            out.push_str("  ");
            if let Some(dst) = inst.dst {
                let _ = write!(out, "{dst} = ");
            }
            body(&mut out, inst);
            out.push('\n');
        }
    }
    out
}

/// Placeholder-free signature kept with the printers: see `read`.
pub fn read_selected(_text: &str) -> Result<selected::Program, Vec<crate::diag::Diagnostic>> {
    Err(vec![crate::diag::Diagnostic::spanless(crate::diag::Code::NotAvailableYet, "reading `selected` dumps")])
}

/// As [`read_selected`].
pub fn read_allocated(_text: &str) -> Result<allocated::Program, Vec<crate::diag::Diagnostic>> {
    Err(vec![crate::diag::Diagnostic::spanless(crate::diag::Code::NotAvailableYet, "reading `allocated` dumps")])
}
