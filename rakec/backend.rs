//! From the allocated program to bytes and text, and the verification of those bytes.

use crate::compiler::{Options, Outputs};
use crate::pipeline::{Ir, Observer, Pass, Timing};
use rake_backends::c_header::{self, Prototype};
use rake_backends::{aarch64, c, wasm, x86};
use rake_ir::allocated::Program;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::profile::{Family, Profile};
use rake_ir::span::{SourceMap, Span};
use rake_ir::types::Ty;
use rake_ir::{selected, stacked};
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

/// Emits what the options ask for, and verifies it before anybody gets it; against `selected` where it is known.
pub fn emit(path: &Path, options: &Options, selected: &Selected, outputs: &mut Outputs) {
    let Some(ir) = &outputs.ir else { return };
    let mut maker = Maker { path, options, selected, sources: &outputs.sources, timings: Vec::new() };
    let made = maker.make(ir);
    outputs.timings.extend(maker.timings);
    match made {
        Ok(made) => {
            (outputs.object, outputs.module, outputs.assembly) = (made.object, made.module, made.assembly);
            (outputs.header, outputs.c) = (made.header, made.c);
        }
        Err(problems) => outputs.diagnostics.extend(problems),
    }
}

#[derive(Default)]
struct Made {
    object: Option<Vec<u8>>,
    module: Option<Vec<u8>>,
    assembly: Option<String>,
    header: Option<String>,
    c: Option<String>,
}

struct Maker<'a> {
    path: &'a Path,
    options: &'a Options,
    selected: &'a Selected,
    sources: &'a SourceMap,
    timings: Vec<Timing>,
}

impl Maker<'_> {
    /// What is made of the last IR of a profile's pipeline.
    fn make(&mut self, ir: &Ir) -> Result<Made, Vec<Diagnostic>> {
        match ir {
            Ir::Allocated(program) => self.native(program),
            Ir::Stacked(program) => self.module(program),
            Ir::Selected(program) if program.profile.info().family == Family::Scalar => self.c_only(program),
            _ => Ok(Made::default()),
        }
    }

    /// Objects and assembly, and C around it.
    fn native(&mut self, program: &Program) -> Result<Made, Vec<Diagnostic>> {
        let (profile, emit) = (program.profile, self.options.emit);
        if emit.module {
            return Err(impossible("a WebAssembly module", profile, "give --target wasm-simd128"));
        }
        let exported = |_: &str| self.options.export;
        let settings = rake_backends::Options { exported: &exported, compiler: COMPILER };
        let sources = self.sources;
        let line = |span| line_of(sources, span);
        let mut made = Made::default();
        if emit.object || emit.verify {
            let start = Instant::now();
            let object = match profile.info().family {
                Family::X86 => x86::elf::emit(program, &settings),
                Family::Aarch64 => aarch64::elf::emit(program, &settings),
                _ => Err(not_available(profile)),
            };
            let object = object.map_err(|problem| vec![problem])?;
            let nodes = program.functions.iter().map(|function| function.insts.len()).sum();
            self.timed("emit", start, nodes);
            if emit.verify {
                let start = Instant::now();
                verify(&object, program, self.selected, &exported)?;
                self.timed("verify", start, nodes);
            }
            made.object = emit.object.then_some(object);
        }
        if emit.assembly {
            let text = match profile.info().family {
                Family::X86 => x86::asm::emit(program, &settings, &line),
                Family::Aarch64 => aarch64::asm::emit(program, &settings, &line),
                _ => Err(not_available(profile)),
            };
            made.assembly = Some(text.map_err(|problem| vec![problem])?);
        }
        let signatures =
            program.functions.iter().map(|f| Signature::new(&f.name, &f.params, f.result.map(|result| result.ty)));
        made.header = emit.header.then(|| self.header(profile, signatures));
        if emit.c {
            made.c = Some(self.c(c::Source::Native(program))?);
        }
        Ok(made)
    }

    /// A WebAssembly module, and C with intrinsics.
    fn module(&mut self, program: &stacked::Program) -> Result<Made, Vec<Diagnostic>> {
        let (profile, emit) = (program.profile, self.options.emit);
        if emit.object || emit.assembly {
            let what = if emit.assembly { "assembly" } else { "an object" };
            return Err(impossible(what, profile, "write a module with --emit-wasm, or C with --emit-c"));
        }
        let mut made = Made::default();
        if emit.module || emit.verify {
            let exported = |_: &str| self.options.export;
            let settings = rake_backends::Options { exported: &exported, compiler: COMPILER };
            let start = Instant::now();
            let module = wasm::module::emit(program, &settings).map_err(|problem| vec![problem])?;
            let nodes = program.functions.iter().map(|function| function.code.len()).sum();
            self.timed("emit", start, nodes);
            if emit.verify {
                let start = Instant::now();
                rake_verifier::wasm::verify(&module, program, self.selected.0.as_ref())?;
                self.timed("verify", start, nodes);
            }
            made.module = emit.module.then_some(module);
        }
        let signatures =
            program.functions.iter().map(|f| Signature::new(&f.name, &f.params, f.result.map(|result| result.ty)));
        made.header = emit.header.then(|| self.header(profile, signatures));
        if emit.c {
            made.c = match &self.selected.0 {
                Some(selected) => Some(self.c(c::Source::Selected(selected))?),
                None => return Err(impossible("C", profile, "start from the source, or from a dump of `selected`")),
            };
        }
        Ok(made)
    }

    /// C for a profile that nothing else is made for.
    fn c_only(&mut self, program: &selected::Program) -> Result<Made, Vec<Diagnostic>> {
        let (profile, emit) = (program.profile, self.options.emit);
        if emit.object || emit.verify || emit.assembly || emit.module {
            let what = if emit.assembly { "assembly" } else { "an object" };
            return Err(impossible(what, profile, "write C with --emit-c, or give another --target"));
        }
        let signatures =
            program.functions.iter().map(|f| Signature::new(&f.name, &f.params, f.result.map(|result| result.ty)));
        let header = emit.header.then(|| self.header(profile, signatures));
        let c = if emit.c { Some(self.c(c::Source::Selected(program))?) } else { None };
        Ok(Made { header, c, ..Made::default() })
    }

    fn c(&self, source: c::Source<'_>) -> Result<String, Vec<Diagnostic>> {
        let exported = |_: &str| self.options.export;
        let settings = rake_backends::Options { exported: &exported, compiler: COMPILER };
        let line = |span| line_of(self.sources, span);
        c::emit(source, &settings, &self.stem(), &line).map_err(|problem| vec![problem])
    }

    fn timed(&mut self, pass: &'static str, start: Instant, nodes: usize) {
        if self.options.timings {
            self.timings.push(Timing { pass, time: start.elapsed(), nodes: (nodes, nodes) });
        }
    }

    fn header<'a>(&self, profile: Profile, signatures: impl Iterator<Item = Signature<'a>>) -> String {
        let prototypes = signatures.map(|signature| Prototype {
            name: signature.name,
            params: signature.params.iter().map(Into::into).collect(),
            result: signature.result,
            exported: self.options.export,
        });
        c_header::emit(profile, &self.stem(), COMPILER, &prototypes.collect::<Vec<_>>())
    }

    fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// What a header says of a function.
struct Signature<'a> {
    name: &'a str,
    params: &'a [selected::Param],
    result: Option<Ty>,
}

impl<'a> Signature<'a> {
    fn new(name: &'a str, params: &'a [selected::Param], result: Option<Ty>) -> Signature<'a> {
        Signature { name, params, result }
    }
}

fn not_available(profile: Profile) -> Diagnostic {
    Diagnostic::spanless(Code::NotAvailableYet, format!("not available yet: code for {profile}"))
}

/// A profile that something cannot be written for.
fn impossible(what: &str, profile: Profile, help: &str) -> Vec<Diagnostic> {
    let message = format!("{what} cannot be written for {profile}");
    vec![Diagnostic::spanless(Code::NotOnProfile, message).help(help)]
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
