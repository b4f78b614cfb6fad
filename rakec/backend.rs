//! From the allocated program to bytes and text, and the verification of those bytes.

use crate::compiler::{Options, Outputs};
use crate::pipeline::{Ir, Observer, Pass, Timing};
use rake_backends::c_header::{self, Prototype};
use rake_backends::x86;
use rake_ir::allocated::Program;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::profile::Family;
use rake_ir::selected;
use rake_ir::span::{SourceMap, Span};
use rake_verifier::{Metadata, Prepared};
use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;

/// What objects and headers say they were made by.
const COMPILER: &str = concat!("rakec ", env!("CARGO_PKG_VERSION"));

/// As many functions are verified in parallel; fewer are done before another thread has started.
const PARALLEL_FROM: usize = 16;

/// Keeps the program as it was selected: what is verified must not rest on what later passes say of themselves.
#[derive(Default)]
pub struct Selected(pub Option<selected::Program>);

impl Selected {
    /// Keeps `ir` when it is the first that is selected.
    pub fn see(&mut self, ir: &Ir) {
        if let (None, Ir::Selected(program)) = (&self.0, ir) {
            self.0 = Some(program.clone());
        }
    }
}

impl Observer for Selected {
    fn wants_before(&self, _: usize, _: &Pass) -> bool {
        false
    }

    fn after(&mut self, _: usize, _: &Pass, _: Option<&Ir>, after: &Ir) -> Result<(), Diagnostic> {
        self.see(after);
        Ok(())
    }
}

/// Emits what the options ask for, and verifies the object before anybody gets it; against `selected` where it is known.
pub fn emit(path: &Path, options: &Options, selected: &Selected, outputs: &mut Outputs) {
    let Some(Ir::Allocated(program)) = &outputs.ir else { return };
    let mut timings = Vec::new();
    let made = make(program, path, options, selected, &outputs.sources, &mut timings);
    outputs.timings.extend(timings);
    match made {
        Ok(made) => (outputs.object, outputs.assembly, outputs.header) = made,
        Err(problems) => outputs.diagnostics.extend(problems),
    }
}

type Made = (Option<Vec<u8>>, Option<String>, Option<String>);

fn make(
    program: &Program,
    path: &Path,
    options: &Options,
    selected: &Selected,
    sources: &SourceMap,
    timings: &mut Vec<Timing>,
) -> Result<Made, Vec<Diagnostic>> {
    let family = program.profile.info().family;
    if family != Family::X86 {
        let message = format!("not available yet: code for {}", program.profile);
        return Err(vec![Diagnostic::spanless(Code::NotAvailableYet, message)]);
    }
    let settings = x86::Options { exported: &|_| options.export, compiler: COMPILER };
    let nodes = program.functions.iter().map(|function| function.insts.len()).sum();
    let mut timed = |pass: &'static str, start: Instant| {
        if options.timings {
            timings.push(Timing { pass, time: start.elapsed(), nodes: (nodes, nodes) });
        }
    };
    let mut made = Made::default();
    if options.emit.object || options.emit.verify {
        let start = Instant::now();
        let object = x86::elf::emit(program, &settings).map_err(|problem| vec![problem])?;
        timed("emit", start);
        if options.emit.verify {
            let start = Instant::now();
            verify(&object, program, selected, settings.exported)?;
            timed("verify", start);
        }
        made.0 = options.emit.object.then_some(object);
    }
    if options.emit.assembly {
        let line = |span| line_of(sources, span);
        made.1 = Some(x86::asm::emit(program, &settings, &line).map_err(|problem| vec![problem])?);
    }
    if options.emit.header {
        made.2 = Some(header(program, path, options.export));
    }
    Ok(made)
}

/// Checks every function of an object; many of them in parallel.
fn verify(
    object: &[u8],
    program: &Program,
    selected: &Selected,
    exported: &dyn Fn(&str) -> bool,
) -> Result<(), Vec<Diagnostic>> {
    let metadata = match &selected.0 {
        Some(selected) => Metadata::selected(selected, program, exported),
        None => Metadata::of(program, exported),
    };
    let prepared = Prepared::new(object, &metadata, Some(program))?;
    let verify = |index| prepared.function(index).err().unwrap_or_default();
    let wrong: Vec<Diagnostic> = if prepared.len() < PARALLEL_FROM {
        (0..prepared.len()).flat_map(verify).collect()
    } else {
        let each: Vec<Vec<Diagnostic>> = (0..prepared.len()).into_par_iter().map(verify).collect();
        each.into_iter().flatten().collect()
    };
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn line_of(sources: &SourceMap, span: Span) -> Option<(String, u32)> {
    let source = sources.get(span.file).filter(|_| span != Span::default())?;
    Some((source.path().to_string_lossy().into_owned(), source.line_column(span.start).line))
}

fn header(program: &Program, path: &Path, exported: bool) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let prototypes = program.functions.iter().map(|function| Prototype {
        name: &function.name,
        params: function.params.iter().map(|param| (param.name.as_str(), param.ty)).collect(),
        result: function.result_ty,
        exported,
    });
    c_header::emit(program.profile, &stem, COMPILER, &prototypes.collect::<Vec<_>>())
}
