//! Select, schedule and allocate together, on every profile with machine registers: every pass is evaluated against the one
//! before.

mod masks;
pub(crate) mod random;
mod table;

use rake_ir::machine::bits::Bits;
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};
use rake_ir::value::{Lanes, lanes_of};
use rake_ir::{allocated, fused, selected};
use rake_passes::{allocate, schedule, select};

/// The profiles whose functions have machine registers.
const PROFILES: [Profile; 4] = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512, Profile::Aarch64Neon];

/// A `fused` dump of these lines for a profile.
pub(crate) fn dump(profile: Profile, text: &str) -> fused::Program {
    let text = format!("rake fused 1\nprofile {profile}\nfuse full\n{text}");
    let program = fused::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    fused::check(&program).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    program
}

/// Everything up to registers, each IR checked and read back.
pub(crate) fn compile(
    program: &fused::Program,
) -> Result<(selected::Program, allocated::Program), Vec<rake_ir::diag::Diagnostic>> {
    let chosen = select::run(program, crate::target(program.profile))?;
    selected::check(&chosen).unwrap_or_else(|e| panic!("{}\n{e:?}", selected::print(&chosen)));
    let text = selected::print(&chosen);
    let again = selected::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    assert_eq!(selected::print(&again), text);
    selected::check(&again).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
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
        Ty::Uniform(Elem::Bool) => bits[0] = 0xabcd_0102 & !1 | value.bits()[0] as u32,
        Ty::Uniform(_) => {
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

/// Runs the function `f` of all three IRs and compares.
pub(crate) fn agree(
    program: &fused::Program,
    ordered: &selected::Program,
    placed: &allocated::Program,
    args: &[Lanes],
) {
    let profile = program.profile;
    let (source, chosen, done) = (&program.functions[0], &ordered.functions[0], &placed.functions[0]);
    let ty = chosen.result_ty;
    let expected = fused::eval(program, &source.name, args).unwrap();
    let inputs: Vec<Bits> = args.iter().zip(&source.params).map(|(a, p)| enter(a, p.ty)).collect();
    for (ir, bits) in
        [("selected", selected::eval(chosen, profile, &inputs)), ("allocated", allocated::eval(done, profile, &inputs))]
    {
        let result = leave(&bits.unwrap(), ty, profile);
        assert!(
            result.same(&expected, ty.elem()),
            "{ir} on {profile}: {} instead of {}\narguments {args:?}\n{}\n{}\n{}",
            result.show(ty),
            expected.show(ty),
            fused::print(program),
            selected::print(ordered),
            allocated::print(placed),
        );
    }
}
