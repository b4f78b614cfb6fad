//! A program's runs: the chosen graphs, which the evaluator executes, and the code of the verified object, or what two C
//! compilers make of the C.

use crate::support::{self, built, ir_at, plain};
use crate::world::{Outcome, World};
use rake_ir::fused::{Function, Program};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::{Family, Profile};
use rake_testkit::c::{Compiler, Source, compile};
use rake_testkit::link_elf;
use rake_testkit::x86::runs::{Call, End, Job, Out, Place, run};
use rake_testkit::x86::{Image, Isa, cpu_has};
use rakec::pipeline::Ir;

/// A compiled program.
pub struct Built {
    pub text: String,
    pub fused: Program,
    /// The runs' code, of each compiler where several make some.
    images: Vec<Vec<Image>>,
    isa: Isa,
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
            Ok(support::Built::Bytes(object)) => vec![object],
            Ok(support::Built::C(c)) => compiled(&c).unwrap_or_else(|e| refused("C compilers", e)),
            Err(problems) => refused("refused", plain(&problems)),
        };
        let images = |object: &Vec<u8>| {
            let linked = link_elf(object).unwrap_or_else(|e| refused("does not link", e));
            let image = |function: &Function| linked.image(&function.name).expect("a symbol for each run");
            fused.functions.iter().map(image).collect()
        };
        let images = objects.iter().map(images).collect();
        let isa = match profile {
            Profile::X86Avx2 => Isa::Avx2,
            Profile::X86Avx512 => Isa::Avx512,
            _ => Isa::Sse2,
        };
        Built { text: text.to_owned(), fused, images, isa }
    }

    /// The run with this number.
    pub fn function(&self, number: usize) -> &Function {
        &self.fused.functions[number]
    }

    /// Calls a run, of each compiler; nothing is checked. Nothing at all where this CPU has no such instructions.
    pub fn call(&self, number: usize, calls: &[Call]) -> Vec<Vec<Out>> {
        if !cpu_has(self.isa) {
            return vec![Vec::new(); self.images.len()];
        }
        let job = |images: &'_ Vec<Image>| {
            let jobs = [Job { isa: self.isa, image: &images[number], calls }];
            let mut outs = run(&jobs).unwrap_or_else(|e| panic!("{}: {e}\n{}", self.function(number).name, self.text));
            outs.remove(0)
        };
        self.images.iter().map(job).collect()
    }

    /// Calls a run in each world in each layout, and holds the memory afterwards against the evaluator's; gives the
    /// results in order, of the first compiler before those of the next.
    pub fn agrees(&self, number: usize, worlds: &[(World, Vec<Layout>)]) -> Vec<Out> {
        let function = self.function(number);
        let through_c = self.fused.profile.info().family == Family::Scalar;
        let calls =
            worlds.iter().flat_map(|(world, layouts)| layouts.iter().map(|layout| world.call(layout, through_c)));
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
fn check(world: &World, expected: &Outcome, out: &Out) -> Result<(), String> {
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
