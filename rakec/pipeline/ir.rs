//! The program between two passes: one variant per IR, and what the driver asks of all of them.

use rake_ir::diag::Diagnostic;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::span::FileId;
use rake_ir::{allocated, desugared, fused, selected, stacked, surface, tined, typed};

/// Which IR.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Text,
    Surface,
    Typed,
    Desugared,
    Tined,
    Fused,
    Selected,
    Allocated,
    Stacked,
}

/// A program in one of the IRs.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Ir {
    /// A source file that was not read yet.
    Text(FileId),
    Surface(surface::File),
    Typed(typed::Program),
    Desugared(desugared::Program),
    Tined(tined::Program),
    Fused(fused::Program),
    Selected(selected::Program),
    Allocated(allocated::Program),
    Stacked(stacked::Program),
}

/// One expression over the program, whichever of the IRs made of functions it is in.
macro_rules! of_functions {
    ($ir:expr, $program:ident => $body:expr, else $other:expr) => {
        match $ir {
            Ir::Text(_) | Ir::Surface(_) => $other,
            Ir::Typed($program) => $body,
            Ir::Desugared($program) => $body,
            Ir::Tined($program) => $body,
            Ir::Fused($program) => $body,
            Ir::Selected($program) => $body,
            Ir::Allocated($program) => $body,
            Ir::Stacked($program) => $body,
        }
    };
}

macro_rules! conversions {
    ($($variant:ident: $program:ty;)*) => {
        $(
            impl From<$program> for Ir {
                fn from(program: $program) -> Ir {
                    Ir::$variant(program)
                }
            }
        )*
    };
}

conversions! {
    Surface: surface::File;
    Typed: typed::Program;
    Desugared: desugared::Program;
    Tined: tined::Program;
    Fused: fused::Program;
    Selected: selected::Program;
    Allocated: allocated::Program;
    Stacked: stacked::Program;
}

impl Kind {
    /// Every IR, in the order of the pipeline: the last two are different families' last.
    pub const ALL: [Kind; 9] = [
        Kind::Text,
        Kind::Surface,
        Kind::Typed,
        Kind::Desugared,
        Kind::Tined,
        Kind::Fused,
        Kind::Selected,
        Kind::Allocated,
        Kind::Stacked,
    ];

    /// Its name: of its file, on the command line, and in the first line of its dumps.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Surface => "surface",
            Kind::Typed => "typed",
            Kind::Desugared => "desugared",
            Kind::Tined => "tined",
            Kind::Fused => "fused",
            Kind::Selected => "selected",
            Kind::Allocated => "allocated",
            Kind::Stacked => "stacked",
        }
    }

    /// Whether its dumps can be read again.
    pub fn reads_back(self) -> bool {
        self >= Kind::Tined
    }
}

impl Ir {
    /// Which IR it is in.
    pub fn kind(&self) -> Kind {
        match self {
            Ir::Text(_) => Kind::Text,
            Ir::Surface(_) => Kind::Surface,
            Ir::Typed(_) => Kind::Typed,
            Ir::Desugared(_) => Kind::Desugared,
            Ir::Tined(_) => Kind::Tined,
            Ir::Fused(_) => Kind::Fused,
            Ir::Selected(_) => Kind::Selected,
            Ir::Allocated(_) => Kind::Allocated,
            Ir::Stacked(_) => Kind::Stacked,
        }
    }

    /// Its text; empty for a file that was not read yet.
    pub fn print(&self) -> String {
        match self {
            Ir::Text(_) => String::new(),
            Ir::Surface(file) => surface::print(file),
            Ir::Typed(program) => typed::print(program),
            Ir::Desugared(program) => desugared::print(program),
            Ir::Tined(program) => tined::print(program),
            Ir::Fused(program) => fused::print(program),
            Ir::Selected(program) => selected::print(program),
            Ir::Allocated(program) => allocated::print(program),
            Ir::Stacked(program) => stacked::print(program),
        }
    }

    /// Reads a dump of an IR that reads back.
    ///
    /// # Errors
    /// What is wrong with the text, or that the IR is only printed.
    pub fn read(kind: Kind, text: &str) -> Result<Ir, Vec<Diagnostic>> {
        Ok(match kind {
            Kind::Tined => tined::read(text)?.into(),
            Kind::Fused => fused::read(text)?.into(),
            Kind::Selected => selected::read(text)?.into(),
            Kind::Allocated => allocated::read(text)?.into(),
            Kind::Stacked => stacked::read(text)?.into(),
            Kind::Text | Kind::Surface | Kind::Typed | Kind::Desugared => {
                let message = format!("`{}` is only printed and does not read back", kind.name());
                return Err(vec![Diagnostic::spanless(rake_ir::diag::Code::MalformedDump, message)]);
            }
        })
    }

    /// Checks the IR's invariants.
    ///
    /// # Errors
    /// Each violation as one line.
    pub fn check(&self) -> Result<(), Vec<String>> {
        match self {
            Ir::Text(_) | Ir::Surface(_) => Ok(()),
            Ir::Typed(program) => typed::check(program),
            Ir::Desugared(program) => desugared::check(program),
            Ir::Tined(program) => tined::check(program),
            Ir::Fused(program) => fused::check(program),
            Ir::Selected(program) => selected::check(program),
            Ir::Allocated(program) => allocated::check(program),
            Ir::Stacked(program) => stacked::check(program),
        }
    }

    /// As [`Ir::check`]; and no operation may raise a flag in a lane where it is inactive.
    ///
    /// # Errors
    /// Each violation as one line.
    pub fn check_sanitised(&self) -> Result<(), Vec<String>> {
        match self {
            Ir::Fused(program) => fused::check_sanitised(program),
            _ => self.check(),
        }
    }

    /// The profile and the freedom of regions that it was made for; `None` where those are still open.
    pub fn made_for(&self) -> Option<(Profile, FuseLevel)> {
        of_functions!(self, program => Some((program.profile, program.fuse)), else None)
    }

    /// The number of functions, 0 where the program is not made of them yet.
    pub fn functions(&self) -> usize {
        of_functions!(self, program => program.functions.len(), else 0)
    }

    /// The functions' names, in order.
    pub fn names(&self) -> Vec<&str> {
        of_functions!(self, program => program.functions.iter().map(|f| f.name.as_str()).collect(), else Vec::new())
    }

    /// The number of nodes: expressions, values or instructions.
    pub fn nodes(&self) -> usize {
        match self {
            Ir::Text(_) => 0,
            Ir::Surface(file) => file.exprs.len() + file.stmts.len(),
            Ir::Typed(program) => program.functions.iter().map(|f| f.exprs.len()).sum(),
            Ir::Desugared(program) => program.functions.iter().map(|f| f.exprs.len()).sum(),
            Ir::Tined(program) => program.functions.iter().map(|f| f.order().count()).sum(),
            Ir::Fused(program) => program.functions.iter().map(|f| f.order().count()).sum(),
            Ir::Selected(program) => program.functions.iter().map(|f| f.insts.len()).sum(),
            Ir::Allocated(program) => program.functions.iter().map(|f| f.insts.len()).sum(),
            Ir::Stacked(program) => program.functions.iter().map(|f| f.code.len()).sum(),
        }
    }

    /// Splits a program of functions into at most `parts` programs whose functions follow each other.
    pub fn split(self, parts: usize) -> Vec<Ir> {
        if matches!(self, Ir::Text(_) | Ir::Surface(_)) {
            return vec![self];
        }
        of_functions!(self, program => program.split(parts).into_iter().map(Ir::from).collect(), else Vec::new())
    }

    /// The program whose parts these are, in order; `None` when they are not all in one IR.
    pub fn join(parts: Vec<Ir>) -> Option<Ir> {
        let mut parts = parts.into_iter();
        let mut whole = parts.next()?;
        for part in parts {
            match (&mut whole, part) {
                (Ir::Typed(whole), Ir::Typed(part)) => whole.functions.extend(part.functions),
                (Ir::Desugared(whole), Ir::Desugared(part)) => whole.functions.extend(part.functions),
                (Ir::Tined(whole), Ir::Tined(part)) => whole.functions.extend(part.functions),
                (Ir::Fused(whole), Ir::Fused(part)) => whole.functions.extend(part.functions),
                (Ir::Selected(whole), Ir::Selected(part)) => whole.functions.extend(part.functions),
                (Ir::Allocated(whole), Ir::Allocated(part)) => whole.functions.extend(part.functions),
                (Ir::Stacked(whole), Ir::Stacked(part)) => whole.functions.extend(part.functions),
                _ => return None,
            }
        }
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rake_ir::types::Ty;

    #[test]
    fn splitting_and_joining_keep_the_order() {
        let function = |number: usize| allocated::Function {
            name: format!("f{number}").into(),
            span: Default::default(),
            params: Vec::new(),
            literals: Vec::new(),
            insts: Vec::new(),
            result: Some(allocated::Returned { ty: Ty::Mask(32), place: rake_ir::machine::PhysReg::v(0) }),
        };
        let functions: Vec<_> = (0..23).map(function).collect();
        let whole: Ir =
            allocated::Program { profile: Profile::X86Avx2, fuse: FuseLevel::Full, functions: functions.clone() }
                .into();
        for parts in [1, 2, 7, 23, 50] {
            let split = whole.clone().split(parts);
            assert!(split.len() <= parts);
            let Some(Ir::Allocated(joined)) = Ir::join(split) else { panic!("parts do not join") };
            assert_eq!(joined.functions, functions);
        }
    }
}
