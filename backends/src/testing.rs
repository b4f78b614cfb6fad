//! All passes from `select` on together, on every vector profile: every pass is evaluated against the one before.

mod masks;
pub(crate) mod random;
mod runs;
mod table;

use rake_ir::machine::bits::Bits;
use rake_ir::profile::{Family, Profile};
use rake_ir::types::Ty;
use rake_ir::value::{Lanes, lanes_of};
use rake_ir::{allocated, fused, selected, stacked};
use rake_passes::{allocate, schedule, select, stackify};

/// The profiles whose instructions are selected from tables of vector instructions.
const PROFILES: [Profile; 6] = [
    Profile::X86Sse2,
    Profile::X86Avx2,
    Profile::X86Avx512,
    Profile::Aarch64Neon,
    Profile::WasmSimd128,
    Profile::WasmSimd128Relaxed,
];

/// The last IR of a profile.
pub(crate) trait Last {
    /// Its name.
    const NAME: &'static str;
    /// Runs the function `f`.
    fn run(&self, args: &[Bits]) -> Option<Bits>;
    /// Its dump.
    fn dump(&self) -> String;
    /// The vector arithmetic instructions of the function.
    fn arithmetic(&self) -> usize;
}

impl Last for allocated::Program {
    const NAME: &'static str = "allocated";

    fn run(&self, args: &[Bits]) -> Option<Bits> {
        allocated::eval(&self.functions[0], self.profile, args)
    }

    fn dump(&self) -> String {
        allocated::print(self)
    }

    fn arithmetic(&self) -> usize {
        self.functions[0].arithmetic()
    }
}

/// A program in the last IR of its profile.
pub(crate) enum Done {
    Allocated(allocated::Program),
    Stacked(stacked::Program),
}

impl Last for Done {
    const NAME: &'static str = "the last IR";

    fn run(&self, args: &[Bits]) -> Option<Bits> {
        match self {
            Done::Allocated(program) => program.run(args),
            Done::Stacked(program) => stacked::eval(&program.functions[0], program.profile, args),
        }
    }

    fn dump(&self) -> String {
        match self {
            Done::Allocated(program) => program.dump(),
            Done::Stacked(program) => stacked::print(program),
        }
    }

    fn arithmetic(&self) -> usize {
        match self {
            Done::Allocated(program) => program.arithmetic(),
            Done::Stacked(program) => program.functions[0].arithmetic(),
        }
    }
}

/// A `fused` dump of these lines for a profile.
pub(crate) fn dump(profile: Profile, text: &str) -> fused::Program {
    let text = format!("rake fused 1\nprofile {profile}\nfuse full\n{text}");
    let program = fused::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    fused::check(&program).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    program
}

type Compiled<T> = Result<(selected::Program, T), Vec<rake_ir::diag::Diagnostic>>;

/// Selects, checks and reads back.
fn chosen(program: &fused::Program) -> Result<selected::Program, Vec<rake_ir::diag::Diagnostic>> {
    let chosen = select::run(program, crate::target(program.profile))?;
    selected::check(&chosen).unwrap_or_else(|e| panic!("{}\n{e:?}", selected::print(&chosen)));
    let text = selected::print(&chosen);
    let again = selected::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    assert_eq!(selected::print(&again), text);
    selected::check(&again).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    Ok(chosen)
}

/// Everything up to the profile's last IR, each IR checked and read back.
pub(crate) fn finish(program: &fused::Program) -> Compiled<Done> {
    if program.profile.info().family != Family::Wasm {
        return compile(program).map(|(ordered, placed)| (ordered, Done::Allocated(placed)));
    }
    let chosen = chosen(program)?;
    let done = stackify::run(&chosen);
    let text = stacked::print(&done);
    stacked::check(&done).unwrap_or_else(|e| panic!("{}\n{text}\n{e:?}", selected::print(&chosen)));
    let again = stacked::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    assert_eq!(stacked::print(&again), text);
    stacked::check(&again).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    let options = crate::Options { exported: &|_| true, compiler: "tests" };
    let module = crate::wasm::module::emit(&done, &options).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    let valid = wasmparser::Validator::new_with_features(wasmparser::WasmFeatures::all()).validate_all(&module);
    valid.unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    Ok((chosen, Done::Stacked(done)))
}

/// Everything up to registers, each IR checked and read back.
pub(crate) fn compile(program: &fused::Program) -> Compiled<allocated::Program> {
    let chosen = chosen(program)?;
    let ordered = schedule::run(&chosen);
    selected::check(&ordered).unwrap_or_else(|e| panic!("{}\n{e:?}", selected::print(&ordered)));
    let placed = allocate::run(&ordered)?;
    let text = allocated::print(&placed);
    allocated::check(&placed).unwrap_or_else(|e| panic!("{}\n{text}\n{e:?}", selected::print(&ordered)));
    let again = allocated::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    assert_eq!(allocated::print(&again), text);
    allocated::check(&again).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    Ok((ordered, placed))
}

/// A value as the calling convention delivers it, with junk wherever the convention leaves bits open.
pub(crate) fn enter(value: &Lanes, ty: Ty) -> Bits {
    let mut bits = [0; 16];
    match ty {
        Ty::Rack(elem) if elem.bits() < 32 => {
            let per_word = 32 / elem.bits() as usize;
            for (at, &value) in value.bits().iter().enumerate() {
                bits[at / per_word] |= (value as u32) << (at % per_word * elem.bits() as usize);
            }
        }
        Ty::Rack(_) => bits.iter_mut().zip(value.bits()).for_each(|(b, &v)| *b = v as u32),
        Ty::Mask(_) => bits.iter_mut().zip(value.bits()).enumerate().for_each(|(lane, (b, &v))| {
            *b = (v as u32) << 31 | (0x0101_0101 * lane as u32) & 0x7fff_ffff;
        }),
        Ty::TRUTH => bits[0] = 0xabcd_0102 & !1 | value.bits()[0] as u32,
        Ty::Uniform(_) | Ty::Address => {
            bits = [0x7fa1_2345; 16];
            bits[0] = value.bits()[0] as u32;
        }
    }
    bits
}

pub(crate) fn leave(bits: &Bits, ty: Ty, profile: Profile) -> Lanes {
    let lanes = lanes_of(ty, profile);
    match ty {
        Ty::Mask(_) => Lanes::new(bits[..lanes].iter().map(|&b| {
            assert!(b == 0 || b == u32::MAX, "a mask lane is {b:#x}");
            u64::from(b & 1)
        })),
        Ty::Rack(elem) if elem.bits() < 32 => {
            let per_word = 32 / elem.bits() as usize;
            let lane = |at: usize| bits[at / per_word] >> (at % per_word * elem.bits() as usize);
            Lanes::new((0..lanes).map(|at| u64::from(lane(at)) & elem.lane_mask()))
        }
        _ => Lanes::new(bits[..lanes].iter().map(|&b| u64::from(b))),
    }
}

fn name_of<L: Last>(_: &L) -> &'static str {
    L::NAME
}

/// Runs the function `f` of all three IRs and compares.
pub(crate) fn agree(program: &fused::Program, ordered: &selected::Program, placed: &impl Last, args: &[Lanes]) {
    let profile = program.profile;
    let (source, chosen) = (&program.functions[0], &ordered.functions[0]);
    let ty = chosen.result.unwrap().ty;
    let expected = fused::eval(program, &source.name, args).unwrap();
    let inputs: Vec<Bits> = args.iter().zip(&source.params).map(|(a, p)| enter(a, p.ty)).collect();
    for (ir, bits) in [("selected", selected::eval(chosen, profile, &inputs)), (name_of(placed), placed.run(&inputs))] {
        let result = leave(&bits.unwrap(), ty, profile);
        assert!(
            result.same(&expected, ty.elem()),
            "{ir} on {profile}: {} instead of {}\narguments {args:?}\n{}\n{}\n{}",
            result.show(ty),
            expected.show(ty),
            fused::print(program),
            selected::print(ordered),
            placed.dump(),
        );
    }
}
