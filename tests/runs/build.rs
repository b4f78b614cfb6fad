//! A program's runs: the chosen graphs, which the evaluator executes, and the code of the verified object or module, or what two
//! C compilers make of the C.

use crate::modules;
use crate::support::{self, built, ir_at, plain};
use crate::world::{Outcome, World};
use rake_ir::fused::{Function, Program};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::{Family, Profile};
use rake_ir::types::Ty;
use rake_testkit::aarch64::runs as neon;
use rake_testkit::c::{Compiler, Source, compile, compile_wasm};
use rake_testkit::link_elf;
use rake_testkit::wasm::Module;
use rake_testkit::x86::runs::{Argument, Call, End, Job, Out, Place, run};
use rake_testkit::x86::{Image, Isa, cpu_has};
use rakec::pipeline::Ir;
use rakec::{Emit, Options};

/// A compiled program.
pub struct Built {
    pub text: String,
    pub fused: Program,
    /// Our module, where that is the code.
    pub module: Option<Vec<u8>>,
    code: Code,
}

/// What is executed.
enum Code {
    /// Machine code of an instruction set, of each run; by each compiler where several make some.
    Native(Isa, Vec<Vec<Image>>),
    /// The same of AArch64, in qemu.
    Neon(Vec<Image>),
    /// Our module, and the one that clang makes of our C.
    Modules([Module; 2]),
}

/// How a world is laid out for a call.
pub type Layout<'a> = &'a dyn Fn(usize) -> Place;

impl Built {
    /// Compiles a program and verifies its object.
    pub fn new(text: &str, profile: Profile) -> Built {
        let refused = |what: &str, said: String| -> ! { panic!("{what} on {profile}: {said}\n{text}") };
        let fused = match ir_at(text, profile, FuseLevel::default(), "fuse") {
            Ok(Ir::Fused(program)) => program,
            Ok(_) => refused("another IR", String::new()),
            Err(problems) => refused("refused", plain(&problems)),
        };
        let objects = match built(text, profile, FuseLevel::default()) {
            Ok(support::Built::Bytes(module)) if profile.info().family == Family::Wasm => {
                let names: Vec<&str> = fused.functions.iter().map(|function| function.name.as_str()).collect();
                let both = modules_of(text, profile, &names).and_then(|other| Ok([Module::new(&module)?, other]));
                let code = Code::Modules(both.unwrap_or_else(|e| refused("does not load", e)));
                return Built { text: text.to_owned(), fused, module: Some(module), code };
            }
            Ok(support::Built::Bytes(object)) => vec![object],
            Ok(support::Built::C(c)) => compiled(&c).unwrap_or_else(|e| refused("C compilers", e)),
            Err(problems) => refused("refused", plain(&problems)),
        };
        let images = |object: &Vec<u8>| {
            let linked = link_elf(object).unwrap_or_else(|e| refused("does not link", e));
            let image = |function: &Function| linked.image(&function.name).expect("a symbol for each run");
            fused.functions.iter().map(image).collect()
        };
        let mut images: Vec<Vec<Image>> = objects.iter().map(images).collect();
        if profile.info().family == Family::Aarch64 {
            let code = Code::Neon(images.remove(0));
            return Built { text: text.to_owned(), fused, module: None, code };
        }
        let isa = match profile {
            Profile::X86Avx2 => Isa::Avx2,
            Profile::X86Avx512 => Isa::Avx512,
            _ => Isa::Sse2,
        };
        Built { text: text.to_owned(), fused, module: None, code: Code::Native(isa, images) }
    }

    /// The run with this number.
    pub fn function(&self, number: usize) -> &Function {
        &self.fused.functions[number]
    }

    /// Calls a run, of each compiler; nothing is checked. Nothing at all where this CPU has no such instructions.
    pub fn call(&self, number: usize, calls: &[Call]) -> Vec<Vec<Out>> {
        let name = &self.function(number).name;
        let failed = |problem: String| -> ! { panic!("{name}: {problem}\n{}", self.text) };
        match &self.code {
            Code::Native(isa, images) if !cpu_has(*isa) => vec![Vec::new(); images.len()],
            Code::Native(isa, images) => {
                let job = |images: &Vec<Image>| {
                    let jobs = [Job { isa: *isa, image: &images[number], calls }];
                    run(&jobs).unwrap_or_else(|e| failed(e)).remove(0)
                };
                images.iter().map(job).collect()
            }
            Code::Neon(images) => {
                let jobs = [neon::Job { image: &images[number], calls }];
                vec![neon::run(&jobs).unwrap_or_else(|e| failed(e)).remove(0)]
            }
            Code::Modules([ours, clangs]) => {
                // What a C compiler compiled is owed `bool`s that are 0 or 1.
                let mut owed = calls.to_vec();
                let params = self.function(number).params.iter().enumerate();
                for (at, _) in params.filter(|(_, param)| param.ty == Ty::TRUTH) {
                    for call in &mut owed {
                        if let Argument::Word(bits) = &mut call.arguments[at] {
                            *bits &= 1;
                        }
                    }
                }
                let all = [(ours, calls), (clangs, &owed[..])];
                all.map(|(module, calls)| modules::call(module, name, calls).unwrap_or_else(|e| failed(e))).into()
            }
        }
    }

    /// Calls a run in each world in each layout, and holds the memory afterwards against the evaluator's; gives the
    /// results in order, of the first compiler before those of the next.
    pub fn agrees(&self, number: usize, worlds: &[(World, Vec<Layout>)]) -> Vec<Out> {
        let function = self.function(number);
        let profile = self.fused.profile;
        let calls = worlds.iter().flat_map(|(world, layouts)| layouts.iter().map(|layout| world.call(layout, profile)));
        let calls: Vec<Call> = calls.collect();
        let outs = self.call(number, &calls);
        let mut results: Vec<_> = outs.iter().map(|outs| outs.iter().zip(&calls)).collect();
        for (world, layouts) in worlds {
            let expected = world.evaluated(&self.fused, &function.name);
            for (out, call) in results.iter_mut().flat_map(|results| results.by_ref().take(layouts.len())) {
                if let Err(problem) = check(world, &expected, out) {
                    let places: Vec<Place> = call.objects.iter().map(|object| object.place).collect();
                    panic!(
                        "{} on {}: {problem}\nplaces {places:?}\n{world:?}\n{}\n{}",
                        function.name,
                        self.fused.profile,
                        self.text,
                        rake_ir::fused::print(&self.fused)
                    );
                }
            }
        }
        outs.concat()
    }
}

/// What clang makes of the C for WebAssembly, without a warning.
fn modules_of(text: &str, profile: Profile, names: &[&str]) -> Result<Module, String> {
    let emit = Emit { c: true, ..Emit::default() };
    let outputs = support::compile(text.as_bytes(), Options { emit, ..Options::new(profile) });
    let c = outputs.c.ok_or_else(|| plain(&outputs.diagnostics))?;
    let relaxed = if profile == Profile::WasmSimd128Relaxed { &["-mrelaxed-simd"][..] } else { &[] };
    let flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion"];
    let module = compile_wasm(Source::Text(&c), &[&flags, relaxed].concat(), names);
    Module::new(&module.map_err(|e| format!("{e}\n{c}"))?)
}

/// What the C compilers make of it, at levels that rearrange it, without a warning.
fn compiled(c: &str) -> Result<Vec<Vec<u8>>, String> {
    let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"];
    let level = |compiler| if compiler == Compiler::Gcc { "-O2" } else { "-O3" };
    let one = |compiler| {
        let made = compile(compiler, Source::Text(c), &[&flags[..], &[level(compiler)]].concat());
        made.map_err(|e| format!("{e}\n{c}"))
    };
    Compiler::X86.into_iter().map(one).collect()
}

/// Whether a call ended and left memory as the evaluator says.
pub fn check(world: &World, expected: &Outcome, out: &Out) -> Result<(), String> {
    match (&expected.trapped, &out.end) {
        (None, End::Returned) => {}
        // What was written before is not compared: racks in flight take turns.
        (Some(_), End::Trap(_)) => return Ok(()),
        (expected, got) => return Err(format!("it ended by {got:x?}, expected {expected:?}")),
    }
    if !out.clobbered.is_empty() {
        return Err(format!("it clobbers {:?}", out.clobbered));
    }
    if let Some((object, at)) = out.stray {
        return Err(format!("it writes byte {at} of object {object}"));
    }
    world.compare(expected, &out.objects)
}
