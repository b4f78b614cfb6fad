//! Runs functions of objects on many arguments and compares with the evaluator.

use crate::arguments::{Arguments, Effort, calls, lanes_of_words};
use crate::support::{self, ir_at, plain};
use rake_ir::diag::Diagnostic;
use rake_ir::fused;
use rake_ir::lane::{self, FuseLevel, eval_function};
use rake_ir::ops::{FpClass, Op};
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};
use rake_ir::value::Lanes;
use rake_testkit::link_elf;
use rake_testkit::x86::{Image, Isa, Job, MXCSR_DEFAULT, Out, flag, run_many};
use rakec::pipeline::Ir;
use std::collections::BTreeMap;

/// Calls that the emulator or CPU is given at once: each costs memory while it runs.
const BATCH: usize = 150_000;

/// Failures to tell of.
const TOLD: usize = 5;

/// The instruction set of a profile.
pub fn isa(profile: Profile) -> Isa {
    match profile {
        Profile::X86Sse2 => Isa::Sse2,
        Profile::X86Avx2 => Isa::Avx2,
        _ => Isa::Avx512,
    }
}

/// A function to run.
struct Task {
    /// Program and function, and the program's text.
    what: String,
    profile: Profile,
    image: Image,
    params: Vec<Ty>,
    result: Ty,
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
        let object = support::object(text, profile, fuse)?;
        let linked = link_elf(&object).unwrap_or_else(|error| panic!("{what} on {profile}: {error}\n{text}"));
        let what = |function: &str| format!("{what}, `{function}` on {profile} --fuse {}", fuse.name());
        let stage = if fuse == FuseLevel::Exact { "tined" } else { "fuse" };
        match ir_at(text, profile, fuse, stage)? {
            Ir::Tined(program) => program.functions.iter().for_each(|f| {
                self.line_up(what(&f.name), text, profile, f, linked.image(&f.name), effort);
            }),
            Ir::Fused(program) => program.functions.iter().for_each(|f| {
                self.line_up(what(&f.name), text, profile, f, linked.image(&f.name), effort);
            }),
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
        if let Ir::Tined(program) = ir_at(text, profile, FuseLevel::Exact, "tined")? {
            for function in &program.functions {
                if let Some(image) = image(&function.name) {
                    let what = format!("{what}, `{}` on {profile}", function.name);
                    self.line_up(what, text, profile, function, Some(image), effort);
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

    fn line_up<R: lane::Region>(
        &mut self,
        what: String,
        text: &str,
        profile: Profile,
        function: &lane::Function<R>,
        image: Option<Image>,
        effort: Effort,
    ) {
        let Some(image) = image else { panic!("{what}: the object has no such symbol") };
        let params: Vec<Ty> = function.params.iter().map(|p| p.ty).collect();
        let arguments = calls(&params, profile, effort, self.functions as u64);
        let mut expected = Vec::with_capacity(arguments.len());
        for call in &arguments {
            match eval_function(function, profile, &call.values).and_then(|run| run.result()) {
                Ok(result) => expected.push(result),
                Err(error) => return self.failures.push(format!("{what}: the evaluator: {error}\n{text}")),
            }
        }
        self.functions += 1;
        self.waiting += arguments.len();
        let (result, exact) = (function.result_type(), moves_bits(function));
        let what = format!("{what}\n{}", definition(text, &function.name));
        let clears = true;
        self.tasks.push(Task { what, profile, image, params, result, exact, clears, arguments, expected });
    }

    /// Runs what waits.
    fn run(&mut self) {
        let tasks = std::mem::take(&mut self.tasks);
        self.waiting = 0;
        let regs: Vec<Vec<_>> = tasks.iter().map(|t| t.arguments.iter().map(|a| a.regs.clone()).collect()).collect();
        let jobs = tasks.iter().zip(&regs).map(|(t, regs)| Job { isa: isa(t.profile), image: &t.image, regs });
        let outs = match run_many(&jobs.collect::<Vec<_>>()) {
            Ok(outs) => outs,
            Err(error) => {
                let job = error.strip_prefix("job ").and_then(|rest| rest.split(',').next()?.parse::<usize>().ok());
                let what = job.and_then(|job| tasks.get(job)).map_or("", |task| &task.what);
                return self.failures.push(format!("{error}\n{what}"));
            }
        };
        for (task, outs) in tasks.iter().zip(&outs) {
            for (index, out) in outs.iter().enumerate() {
                self.calls += 1;
                if let Err(difference) = compare(task, out, &task.expected[index]) {
                    let shown = |(ty, value): (&Ty, &Lanes)| format!("  {ty}: {} {:x?}", value.show(*ty), value.bits());
                    let args: Vec<String> = task.params.iter().zip(&task.arguments[index].values).map(shown).collect();
                    self.failures.push(format!("{}: {difference}, on\n{}", task.what, args.join("\n")));
                    break;
                }
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

/// Whether a function only moves, picks and compares bits, so that even NaNs come out as they went in.
pub fn moves_bits<R: lane::Region>(function: &lane::Function<R>) -> bool {
    function.order().all(|id| match function.values[id].op {
        Op::Neg => true,
        Op::Min | Op::Max => false,
        op => matches!(op.info().fp, FpClass::Exact | FpClass::None) || !function.values[id].ty.elem().is_float(),
    })
}

fn compare(task: &Task, out: &Out, expected: &Lanes) -> Result<(), String> {
    if !out.callee_saved_ok {
        return Err(format!("it clobbers {:?}", out.clobbered));
    }
    if (out.mxcsr ^ MXCSR_DEFAULT) & !flag::ALL != 0 {
        return Err(format!("it changes MXCSR to {:#x}", out.mxcsr));
    }
    let lanes = task.profile.lanes_of_bits(32);
    let got = match task.result {
        Ty::Mask(_) => {
            let raw = out.lanes(lanes);
            if raw.iter().any(|&lane| lane != 0 && lane != u32::MAX) {
                return Err(format!("a mask has lanes that are neither all ones nor zero: {raw:x?}"));
            }
            Lanes::new(raw.iter().map(|&lane| u64::from(lane & 1)))
        }
        Ty::Rack(elem) => lanes_of_words(elem, &out.lanes(lanes)),
        Ty::Uniform(Elem::F32) => Lanes::uniform(u64::from(out.lanes(1)[0])),
        Ty::Uniform(_) => Lanes::uniform(out.rax & 0xffff_ffff),
    };
    if task.clears
        && task.result.is_uniform()
        && task.profile != Profile::X86Sse2
        && out.vec0[16..].iter().any(|&byte| byte != 0)
    {
        return Err("the upper halves of the registers are not cleared before it returns".into());
    }
    let same = if task.exact { got == *expected } else { got.same(expected, task.result.elem()) };
    if same {
        return Ok(());
    }
    let show = |value: &Lanes| format!("{} {:x?}", value.show(task.result), value.bits());
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
