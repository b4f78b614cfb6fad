//! Runs functions of objects on many arguments and compares with the evaluator.

use crate::arguments::{Arguments, Effort, calls, lanes_of_words};
use crate::engine::{self, Code, Outcome, Run, Signature, isa};
use crate::support::{self, ir_at, plain};
use rake_ir::diag::Diagnostic;
use rake_ir::fused;
use rake_ir::lane::{self, FuseLevel, eval_function};
use rake_ir::ops::{FpClass, Op};
use rake_ir::profile::Profile;
use rake_ir::reference::Reference;
use rake_ir::types::{Elem, Ty};
use rake_ir::value::Lanes;
use rake_testkit::Image;
use rakec::pipeline::Ir;
use std::collections::BTreeMap;

/// Calls that the emulator or CPU is given at once: each costs memory while it runs.
const BATCH: usize = 150_000;

/// Failures to tell of.
const TOLD: usize = 5;

/// A function to run.
struct Task {
    /// Program and function, and the program's text.
    what: String,
    profile: Profile,
    /// Its code, for each engine that runs it.
    codes: Vec<Code>,
    signature: Signature,
    /// Whether NaNs must agree bit for bit too.
    exact: bool,
    /// Whether it must clear the upper halves before it returns no rack.
    clears: bool,
    arguments: Vec<Arguments>,
    expected: Vec<Lanes>,
}

/// Functions waiting to run, and what was found.
#[derive(Default)]
pub struct Bench {
    tasks: Vec<Task>,
    waiting: usize,
    calls: usize,
    functions: usize,
    /// How often each reason rejected a program that may be rejected.
    pub rejected: BTreeMap<&'static str, usize>,
    failures: Vec<String>,
}

impl Bench {
    /// Compiles a program and lines up its functions on arguments for this effort. The expected results are the
    /// evaluator's: of the chosen graphs, or with `FuseLevel::Exact` of the program before fusion. Gives the
    /// diagnostics of a rejected program.
    pub fn add(
        &mut self,
        what: &str,
        text: &str,
        profile: Profile,
        fuse: FuseLevel,
        effort: Effort,
    ) -> Result<(), Vec<Diagnostic>> {
        let built = support::built(text, profile, fuse)?;
        self.add_with(what, text, profile, fuse, effort, |functions| engine::codes_of(profile, &built, functions))
    }

    /// As [`Bench::add`], with code that was made of the program in another way: for each function that of each engine.
    pub fn add_with(
        &mut self,
        what: &str,
        text: &str,
        profile: Profile,
        fuse: FuseLevel,
        effort: Effort,
        codes: impl FnOnce(&[(&str, Signature)]) -> Result<Vec<Vec<Code>>, String>,
    ) -> Result<(), Vec<Diagnostic>> {
        let what = |function: &str| format!("{what}, `{function}` on {profile} --fuse {}", fuse.name());
        let stage = if fuse == FuseLevel::Exact { "tined" } else { "fuse" };
        match ir_at(text, profile, fuse, stage)? {
            Ir::Tined(program) => self.line_up_all(&what, text, profile, &program.functions, codes, effort),
            Ir::Fused(program) => self.line_up_all(&what, text, profile, &program.functions, codes, effort),
            other => panic!("the pass `{stage}` gives {:?}", other.kind()),
        }
        if self.waiting > BATCH {
            self.run();
        }
        Ok(())
    }

    /// Lines code from elsewhere up: the functions of a program that it has an image of. The expected results are the
    /// evaluator's of the program before fusion. Gives the diagnostics of a rejected program.
    #[allow(dead_code)] // Not every test target that shares this file has such code.
    pub fn add_images(
        &mut self,
        what: &str,
        text: &str,
        profile: Profile,
        effort: Effort,
        image: impl Fn(&str) -> Option<Image>,
    ) -> Result<(), Vec<Diagnostic>> {
        let code = |name: &str, _: &Signature| image(name).map(|image| vec![Code::X86(isa(profile), image)]);
        self.add_codes(what, text, profile, effort, code)
    }

    /// As [`Bench::add_images`], of code for any engine.
    #[allow(dead_code)]
    pub fn add_codes(
        &mut self,
        what: &str,
        text: &str,
        profile: Profile,
        effort: Effort,
        codes: impl Fn(&str, &Signature) -> Option<Vec<Code>>,
    ) -> Result<(), Vec<Diagnostic>> {
        // Before selection a program is the same for every profile; one without code of ours yet has its evaluator.
        let typed_for = if profile.info().available { profile } else { Profile::X86Sse2 };
        if let Ir::Tined(program) = ir_at(text, typed_for, FuseLevel::Exact, "tined")? {
            for function in &program.functions {
                if let Some(codes) = codes(&function.name, &signature(function)) {
                    let what = format!("{what}, `{}` on {profile}", function.name);
                    self.line_up(what, text, profile, function, codes, effort);
                    // Other compilers leave that to callers that pass whole registers.
                    self.tasks.iter_mut().rev().take(1).for_each(|task| task.clears = false);
                }
            }
        }
        if self.waiting > BATCH {
            self.run();
        }
        Ok(())
    }

    /// Lines up all functions of a program that was built.
    fn line_up_all<R: lane::Region>(
        &mut self,
        what: &dyn Fn(&str) -> String,
        text: &str,
        profile: Profile,
        functions: &[lane::Function<R>],
        codes: impl FnOnce(&[(&str, Signature)]) -> Result<Vec<Vec<Code>>, String>,
        effort: Effort,
    ) {
        let signatures: Vec<_> = functions.iter().map(|f| (f.name.as_str(), signature(f))).collect();
        let codes = codes(&signatures).unwrap_or_else(|error| panic!("{}: {error}\n{text}", what("")));
        for (function, codes) in functions.iter().zip(codes) {
            self.line_up(what(&function.name), text, profile, function, codes, effort);
        }
    }

    fn line_up<R: lane::Region>(
        &mut self,
        what: String,
        text: &str,
        profile: Profile,
        function: &lane::Function<R>,
        codes: Vec<Code>,
        effort: Effort,
    ) {
        // What an engine may choose has no one value to compare with; `relaxed.rs` holds it against all that are allowed.
        let chosen = |op: Op| op.info().fp != FpClass::None && matches!(op.info().reference, Reference::None);
        if function.order().any(|id| chosen(function.values[id].op)) {
            return;
        }
        let signature = signature(function);
        let arguments = calls(&signature.params, profile, effort, self.functions as u64);
        let mut expected = Vec::with_capacity(arguments.len());
        for call in &arguments {
            match eval_function(function, profile, &call.values).and_then(|run| run.result()) {
                Ok(result) => expected.push(result),
                Err(error) => return self.failures.push(format!("{what}: the evaluator: {error}\n{text}")),
            }
        }
        self.functions += 1;
        self.waiting += arguments.len();
        let exact = moves_bits(function);
        let what = format!("{what}\n{}", definition(text, &function.name));
        let clears = true;
        self.tasks.push(Task { what, profile, codes, signature, exact, clears, arguments, expected });
    }

    /// Runs what waits.
    fn run(&mut self) {
        let tasks = std::mem::take(&mut self.tasks);
        self.waiting = 0;
        let of = |task: &Task, number| (0..task.codes.len()).map(move |code| (number, code)).collect::<Vec<_>>();
        let places: Vec<(usize, usize)> = tasks.iter().enumerate().flat_map(|(n, task)| of(task, n)).collect();
        let run = |&(number, code): &(usize, usize)| {
            let task: &Task = &tasks[number];
            Run { code: &task.codes[code], signature: &task.signature, arguments: &task.arguments }
        };
        let outs = match engine::run(&places.iter().map(run).collect::<Vec<_>>()) {
            Ok(outs) => outs,
            Err(failure) => {
                let place = failure.run.and_then(|run| places.get(run));
                let what = place.map_or("", |&(number, _)| &tasks[number].what);
                return self.failures.push(format!("{}\n{what}", failure.message));
            }
        };
        for (&(number, code), outs) in places.iter().zip(&outs) {
            self.judge(&tasks[number], &tasks[number].codes[code], outs);
        }
    }

    /// Compares the outcomes of one code with what is expected; notes the first difference.
    fn judge(&mut self, task: &Task, code: &Code, outs: &[Option<Outcome>]) {
        for (index, out) in outs.iter().enumerate() {
            let Some(out) = out else { continue };
            self.calls += 1;
            // JavaScript's numbers keep that a float is a NaN, not which.
            let number = matches!(code, Code::Node(..)) && task.signature.result == Ty::Uniform(Elem::F32);
            if let Err(difference) = compare(task, out, &task.expected[index], task.exact && !number) {
                let shown = |(ty, value): (&Ty, &Lanes)| format!("  {ty}: {} {:x?}", value.show(*ty), value.bits());
                let values = task.signature.params.iter().zip(&task.arguments[index].values);
                let args: Vec<String> = values.map(shown).collect();
                let (what, engine) = (&task.what, code.engine());
                self.failures.push(format!("{what} {engine}: {difference}, on\n{}", args.join("\n")));
                break;
            }
        }
    }

    /// Runs what waits, fails the test on any difference, and tells how many functions and calls there were.
    pub fn finish(mut self) -> (usize, usize) {
        self.run();
        let told = self.failures.iter().take(TOLD).cloned().collect::<Vec<_>>().join("\n\n");
        assert!(self.failures.is_empty(), "{} functions are wrong, among them:\n{told}", self.failures.len());
        println!("{} functions, {} calls; rejected: {:?}", self.functions, self.calls, self.rejected);
        (self.functions, self.calls)
    }

    /// Notes a failure that is not one of execution.
    pub fn fail(&mut self, what: impl Into<String>, diagnostics: &[Diagnostic]) {
        self.failures.push(format!("{}\n{}", what.into(), plain(diagnostics)));
    }
}

/// What crosses a function's boundary.
fn signature<R: lane::Region>(function: &lane::Function<R>) -> Signature {
    Signature {
        params: function.params.iter().map(|p| p.ty).collect(),
        result: function.result_type().expect("a result"),
    }
}

/// Whether a function only moves, picks and compares bits, so that even NaNs come out as they went in.
pub fn moves_bits<R: lane::Region>(function: &lane::Function<R>) -> bool {
    function.order().all(|id| match function.values[id].op {
        Op::Neg => true,
        Op::Min | Op::Max => false,
        op => matches!(op.info().fp, FpClass::Exact | FpClass::None) || !function.values[id].ty.elem().is_float(),
    })
}

fn compare(task: &Task, out: &Outcome, expected: &Lanes, exact: bool) -> Result<(), String> {
    if let Some(wrong) = &out.wrong {
        return Err(wrong.clone());
    }
    let result = task.signature.result;
    let got = match result {
        Ty::Mask(_) => {
            if out.words.iter().any(|&lane| lane != 0 && lane != u32::MAX) {
                return Err(format!("a mask has lanes that are neither all ones nor zero: {:x?}", out.words));
            }
            Lanes::new(out.words.iter().map(|&lane| u64::from(lane & 1)))
        }
        Ty::Rack(elem) => lanes_of_words(elem, &out.words),
        Ty::Uniform(_) | Ty::Address => Lanes::uniform(u64::from(out.words[0])),
    };
    if task.clears && result.is_uniform() && task.profile != Profile::X86Sse2 && !out.cleared {
        return Err("the upper halves of the registers are not cleared before it returns".into());
    }
    let same = if exact { got == *expected } else { got.same(expected, result.elem()) };
    if same {
        return Ok(());
    }
    let show = |value: &Lanes| format!("{} {:x?}", value.show(result), value.bits());
    Err(format!("it gives\n  {}, not\n  {}", show(&got), show(expected)))
}

/// The text of one definition; scratches end at a blank line or the next one.
fn definition(text: &str, name: &str) -> String {
    let Some(start) = text.find(&format!("scratch {name}(")) else { return text.to_owned() };
    let rest = &text[start..];
    let end = rest[1..].find("\nscratch").map_or(rest.len(), |end| end + 1);
    rest[..end].trim_end().to_owned()
}

/// The chosen graphs of a program that must compile.
pub fn chosen(text: &str, profile: Profile) -> fused::Program {
    match ir_at(text, profile, FuseLevel::Full, "fuse") {
        Ok(Ir::Fused(program)) => program,
        Ok(other) => panic!("`fuse` gives {:?}", other.kind()),
        Err(diagnostics) => panic!("{}\n{text}", plain(&diagnostics)),
    }
}
