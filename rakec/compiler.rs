//! The compiler as a library: source and options in; objects, reports, dumps and diagnostics out.

use crate::backend::{self, Selected};
use crate::explain::Explainer;
use crate::pipeline::dump::{Dump, Recorder};
use crate::pipeline::observe::Agreement;
use crate::pipeline::{Context, Drive, Ir, Kind, Observer, Range, Timing};
use crate::report::runs::Runs;
use crate::report::{Kernel, kernels};
use rake_ir::diag::{Code, Diagnostic, Severity};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::span::SourceMap;
use rake_ir::types::Elem;
use rake_passes::fuse::prove_program;
use rake_passes::parse::MAX_ERRORS;
use std::path::Path;

/// Where the compiler reads files from.
pub trait Files {
    /// All bytes of a file.
    ///
    /// # Errors
    /// What the file system says.
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>>;
}

/// What is asked of one compilation.
#[derive(Clone, Debug)]
pub struct Options {
    /// The profile to compile for.
    pub profile: Profile,
    /// The freedom of fused regions.
    pub fuse: FuseLevel,
    /// The number of f32 lanes the profile must have.
    pub width: Option<usize>,
    /// Start from a dump of this IR, or from the IR after this pass.
    pub from: Option<String>,
    /// Stop at this IR, or after this pass.
    pub to: Option<String>,
    /// Passes and IRs to dump, or `all`.
    pub dumps: Vec<String>,
    /// Whether fused regions keep the rewrites between source and chosen graph.
    pub explain: bool,
    /// Whether each pass is timed.
    pub timings: bool,
    /// Whether each pass's result is checked against its IR's invariants.
    pub check_irs: bool,
    /// Whether the program is evaluated before and after each pass.
    pub check_passes: bool,
    /// Which warnings are errors.
    pub deny: Deny,
    /// What to make of the allocated program.
    pub emit: Emit,
    /// Whether the object's functions are visible outside a shared library.
    pub export: bool,
    /// Whether the tokens are written out.
    pub tokens: bool,
}

impl Options {
    /// The defaults for a profile: everything up to `allocated` is checked, nothing is emitted.
    pub fn new(profile: Profile) -> Options {
        Options {
            profile,
            fuse: FuseLevel::default(),
            width: None,
            from: None,
            to: None,
            dumps: Vec::new(),
            explain: false,
            timings: false,
            check_irs: cfg!(debug_assertions),
            check_passes: false,
            deny: Deny::default(),
            emit: Emit::default(),
            export: false,
            tokens: false,
        }
    }
}

/// Warnings that reject the program.
#[derive(Clone, Debug, Default)]
pub struct Deny {
    /// All of them.
    pub all: bool,
    /// These.
    pub codes: Vec<Code>,
}

impl Deny {
    /// From the words of the command line.
    ///
    /// # Errors
    /// The first word that is neither a code nor `all`.
    pub fn parse(words: &[String]) -> Result<Deny, String> {
        let mut deny = Deny::default();
        for word in words.iter().flat_map(|words| words.split(',')) {
            match Code::parse(word) {
                Some(code) => deny.codes.push(code),
                None if word == "all" => deny.all = true,
                None => return Err(format!("`{word}` is neither a code such as R0001 nor `all`")),
            }
        }
        Ok(deny)
    }

    fn apply(&self, diagnostic: &mut Diagnostic) {
        if diagnostic.severity == Severity::Warning && (self.all || self.codes.contains(&diagnostic.code)) {
            diagnostic.severity = Severity::Error;
        }
    }
}

/// What to make of the allocated program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Emit {
    /// An object file.
    pub object: bool,
    /// Assembly text.
    pub assembly: bool,
    /// A C header.
    pub header: bool,
    /// C text.
    pub c: bool,
    /// A WebAssembly module.
    pub module: bool,
    /// Verify the object, or module, from its bytes.
    pub verify: bool,
}

/// What a compilation gave. Without errors everything asked for is there.
#[derive(Default)]
pub struct Outputs {
    /// The files that diagnostics point into.
    pub sources: SourceMap,
    /// The IR where the run ended.
    pub ir: Option<Ir>,
    /// The object file.
    pub object: Option<Vec<u8>>,
    /// The assembly text.
    pub assembly: Option<String>,
    /// The C header.
    pub header: Option<String>,
    /// The C text.
    pub c: Option<String>,
    /// The WebAssembly module.
    pub module: Option<Vec<u8>>,
    /// The tokens, when they were asked for.
    pub tokens: String,
    /// What is said of each function once it is allocated.
    pub report: Vec<Kernel>,
    /// The explanation of fused regions, when it was asked for.
    pub explanation: String,
    /// The dumps asked for, up to the pass that rejected the program.
    pub dumps: Vec<Dump>,
    /// Times and node counts of the passes.
    pub timings: Vec<Timing>,
    /// Errors and warnings, in the order of the passes.
    pub diagnostics: Vec<Diagnostic>,
}

impl Outputs {
    /// Whether nothing rejected the program.
    pub fn succeeded(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// A compiler for one set of options.
pub struct Compiler<'a> {
    options: Options,
    range: Range,
    recorder: Vec<String>,
    files: &'a dyn Files,
}

impl<'a> Compiler<'a> {
    /// A compiler that reads through `files`.
    ///
    /// # Errors
    /// Names of passes or IRs that do not exist, or do not stand in this order; the message lists what does.
    pub fn new(options: Options, files: &'a dyn Files) -> Result<Compiler<'a>, String> {
        let range = Range::new(options.from.as_deref(), options.to.as_deref())?;
        if !matches!(range.start(), Kind::Text) && !range.start().reads_back() {
            return Err(format!("`{}` is only printed and does not read back", range.start().name()));
        }
        Recorder::new(&options.dumps)?;
        let recorder = options.dumps.clone();
        Ok(Compiler { options, range, recorder, files })
    }

    /// Compiles the file at `path`.
    ///
    /// # Errors
    /// What the file system says when the file cannot be read.
    pub fn compile(&self, path: &Path) -> std::io::Result<Outputs> {
        Ok(self.compile_bytes(path, self.files.read(path)?))
    }

    /// Compiles these bytes as the file `path`.
    pub fn compile_bytes(&self, path: &Path, bytes: Vec<u8>) -> Outputs {
        let mut outputs = Outputs::default();
        let file = outputs.sources.add(path, bytes);
        if let (true, Some(source)) = (self.options.tokens, outputs.sources.get(file)) {
            outputs.tokens = rake_passes::parse::print_tokens(source, &rake_passes::parse::tokens(source).0);
        }
        let kind = self.range.start();
        let text = outputs.sources.get(file).map_or("", |source| source.text());
        let start = match kind {
            Kind::Text => Ok(Ir::Text(file)),
            kind => self.read_dump(kind, text),
        };
        match start {
            Ok(ir) => match self.check_width(ir.made_for().map_or(self.options.profile, |(profile, _)| profile)) {
                Ok(()) => {
                    let selected = self.drive(ir, &mut outputs);
                    backend::emit(path, &self.options, &selected, &mut outputs);
                }
                Err(problem) => outputs.diagnostics.push(problem),
            },
            Err(problems) => outputs.diagnostics.extend(problems),
        }
        limit(&mut outputs.diagnostics);
        outputs.diagnostics.iter_mut().for_each(|diagnostic| self.options.deny.apply(diagnostic));
        outputs
    }

    /// Reads a dump and trusts nothing in it: passes rely on what is checked here, whoever wrote it.
    fn read_dump(&self, kind: Kind, text: &str) -> Result<Ir, Vec<Diagnostic>> {
        let ir = Ir::read(kind, text)?;
        let profile = ir.made_for().map_or(self.options.profile, |(profile, _)| profile);
        if !profile.info().available {
            let message = format!("not available yet: code for {profile}");
            let help = "--print-targets lists the profiles that this compiler generates code for";
            return Err(vec![Diagnostic::spanless(Code::NotAvailableYet, message).help(help)]);
        }
        let refuse = |faults: Vec<String>, help: &str| -> Vec<Diagnostic> {
            let refused = |fault| Diagnostic::spanless(Code::MalformedDump, format!("in the dump, {fault}")).help(help);
            faults.into_iter().map(refused).collect()
        };
        let valid =
            format!("a dump of `{}` has to keep what passes rely on; write it again with --dump-pass", kind.name());
        self.range.check_start(&ir).map_err(|faults| refuse(faults, &valid))?;
        if let Ir::Fused(program) = &ir {
            let equal =
                "the graph of a region has to compute what its source graph does; without `proof` none is claimed";
            prove_program(program).map_err(|faults| refuse(faults, equal))?;
        }
        Ok(ir)
    }

    fn check_width(&self, profile: Profile) -> Result<(), Diagnostic> {
        let lanes = profile.lanes(Elem::F32);
        match self.options.width {
            Some(width) if width != lanes => {
                let message = format!("a rack of f32 has {lanes} lanes on {profile}, not {width}");
                let help = "give --target a profile of that width; --print-targets lists them";
                Err(Diagnostic::spanless(Code::WidthMismatch, message).help(help))
            }
            _ => Ok(()),
        }
    }

    fn drive(&self, ir: Ir, outputs: &mut Outputs) -> Selected {
        let options = &self.options;
        // A dump says what it was made for, and that is what the rest is compiled for.
        let (profile, fuse) = ir.made_for().unwrap_or((options.profile, options.fuse));
        let context = Context { sources: &outputs.sources, profile, fuse, explain: options.explain };
        let timings = options.timings.then(Vec::new);
        let check = options.check_irs || options.check_passes;
        let mut drive = Drive { context, range: self.range, check, timings };
        let mut recorder = Recorder::new(&self.recorder).unwrap_or_default();
        let mut agreement = Agreement;
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        if !recorder.is_idle() {
            observers.push(&mut recorder);
        }
        let mut explainer = Explainer::default();
        if options.explain {
            observers.push(&mut explainer);
        }
        if options.check_passes {
            observers.push(&mut agreement);
        }
        let mut selected = Selected::default();
        if options.emit.verify || options.emit.c {
            selected.see(&ir);
            observers.push(&mut selected);
        }
        let mut runs = Runs::default();
        runs.see(&ir);
        observers.push(&mut runs);
        let outcome = drive.run(ir, &mut observers);
        outputs.timings = drive.timings.unwrap_or_default();
        outputs.dumps = recorder.dumps;
        outputs.explanation = explainer.text;
        outputs.diagnostics.extend(outcome.diagnostics);
        outputs.ir = outcome.ir;
        outputs.report = outputs.ir.as_ref().map(|ir| kernels(ir, runs.0.unwrap_or_default())).unwrap_or_default();
        selected
    }
}

/// Keeps as many diagnostics as anybody reads, and says that there were more.
fn limit(diagnostics: &mut Vec<Diagnostic>) {
    let rejected = diagnostics.iter().any(Diagnostic::is_error);
    if rejected && diagnostics.len() > MAX_ERRORS + 1 {
        diagnostics.truncate(MAX_ERRORS);
        let message = format!("more than {MAX_ERRORS} errors; the rest are not shown");
        diagnostics.push(Diagnostic::spanless(Code::TooManyErrors, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_errors_are_cut_and_said_to_be() {
        let mut diagnostics = vec![Diagnostic::spanless(Code::UndefinedName, "x"); 1000];
        limit(&mut diagnostics);
        assert_eq!(diagnostics.len(), MAX_ERRORS + 1);
        assert_eq!(diagnostics.last().map(|last| last.code), Some(Code::TooManyErrors));
    }

    #[test]
    fn deny_takes_codes_and_all() {
        assert!(Deny::parse(&["all".into()]).unwrap().all);
        assert_eq!(Deny::parse(&["r0001".into()]).unwrap().codes, [Code::NotAvailableYet]);
        assert!(Deny::parse(&["R9999".into()]).is_err());
    }
}
