//! A program's runs: the chosen graphs, which the evaluator executes, and the code of the verified object.

use crate::support::{ir_at, object, plain};
use crate::world::{Outcome, World};
use rake_ir::fused::{Function, Program};
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_testkit::link_elf;
use rake_testkit::x86::runs::{Call, End, Job, Out, Place, run};
use rake_testkit::x86::{Image, Isa, cpu_has};
use rakec::pipeline::Ir;

/// A compiled program.
pub struct Built {
    pub text: String,
    pub fused: Program,
    images: Vec<Image>,
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
        let bytes = object(text, profile, FuseLevel::default());
        let bytes = bytes.unwrap_or_else(|problems| refused("refused", plain(&problems)));
        let linked = link_elf(&bytes).unwrap_or_else(|e| refused("does not link", e));
        let image = |function: &Function| linked.image(&function.name).expect("a symbol for each run");
        let images = fused.functions.iter().map(image).collect();
        let isa = match profile {
            Profile::X86Sse2 => Isa::Sse2,
            Profile::X86Avx2 => Isa::Avx2,
            _ => Isa::Avx512,
        };
        Built { text: text.to_owned(), fused, images, isa }
    }

    /// The run with this number.
    pub fn function(&self, number: usize) -> &Function {
        &self.fused.functions[number]
    }

    /// Calls a run; nothing is checked. Nothing at all where this CPU has no such instructions.
    pub fn call(&self, number: usize, calls: &[Call]) -> Vec<Out> {
        if !cpu_has(self.isa) {
            return Vec::new();
        }
        let jobs = [Job { isa: self.isa, image: &self.images[number], calls }];
        let mut outs = run(&jobs).unwrap_or_else(|e| panic!("{}: {e}\n{}", self.function(number).name, self.text));
        outs.remove(0)
    }

    /// Calls a run in each world in each layout, and holds the memory afterwards against the evaluator's; gives the
    /// results in order.
    pub fn agrees(&self, number: usize, worlds: &[(World, Vec<Layout>)]) -> Vec<Out> {
        let function = self.function(number);
        let calls = worlds.iter().flat_map(|(world, layouts)| layouts.iter().map(|layout| world.call(layout)));
        let calls: Vec<Call> = calls.collect();
        let outs = self.call(number, &calls);
        let mut results = outs.iter().zip(&calls);
        for (world, layouts) in worlds {
            let expected = world.evaluated(&self.fused, &function.name);
            for (out, call) in results.by_ref().take(layouts.len()) {
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
        outs
    }
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
