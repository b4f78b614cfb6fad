//! Calling a function of the program, whichever IR it is in, on values of the language.

use super::Ir;
use rake_ir::machine::bits::Bits;
use rake_ir::profile::Profile;
use rake_ir::types::{Elem, Ty};
use rake_ir::value::{Lanes, lanes_of};
use rake_ir::{allocated, desugared, fused, selected, stacked, tined, typed};

/// What unspecified bits of registers hold in evaluations: nobody may depend on them.
const JUNK: u32 = 0xabcd_ef00;

impl Ir {
    /// The types of a function's parameters and of its result; `None` where there is no such function, and of a run.
    pub fn signature(&self, name: &str) -> Option<(Vec<Ty>, Ty)> {
        macro_rules! named {
            ($program:expr) => {
                $program.functions.iter().find(|function| function.name == name)?
            };
        }
        match self {
            Ir::Text(_) | Ir::Surface(_) => None,
            Ir::Typed(program) => {
                let function = named!(program);
                Some((function.params.iter().map(|p| function.locals[*p].ty).collect(), function.ty?))
            }
            Ir::Desugared(program) => {
                let function = named!(program);
                let params = function.params.iter().map(|p| function.locals[*p].ty);
                Some((params.collect(), function.exprs[function.result?].ty))
            }
            Ir::Tined(program) => {
                let function = named!(program);
                Some((function.params.iter().map(|p| p.ty).collect(), function.result_type()?))
            }
            Ir::Fused(program) => {
                let function = named!(program);
                Some((function.params.iter().map(|p| p.ty).collect(), function.result_type()?))
            }
            Ir::Selected(program) => {
                let function = named!(program);
                Some((function.params.iter().map(|p| p.ty).collect(), function.result?.ty))
            }
            Ir::Allocated(program) => {
                let function = named!(program);
                Some((function.params.iter().map(|p| p.ty).collect(), function.result?.ty))
            }
            Ir::Stacked(program) => {
                let function = named!(program);
                Some((function.params.iter().map(|p| p.ty).collect(), function.result?.ty))
            }
        }
    }

    /// Calls a function.
    ///
    /// # Errors
    /// Why there is no result, in words.
    pub fn eval(&self, name: &str, arguments: &[Lanes]) -> Result<Lanes, String> {
        let words = |error: &dyn std::fmt::Display| error.to_string();
        match self {
            Ir::Text(_) | Ir::Surface(_) => Err("the program has no types yet".into()),
            Ir::Typed(program) => typed::eval(program, name, arguments).map_err(|e| words(&e)),
            Ir::Desugared(program) => desugared::eval(program, name, arguments).map_err(|e| words(&e)),
            Ir::Tined(program) => tined::eval(program, name, arguments).map_err(|e| words(&e)),
            Ir::Fused(program) => fused::eval(program, name, arguments).map_err(|e| words(&e)),
            Ir::Selected(program) => self.call(name, program.profile, arguments, |arguments| {
                let function = program.functions.iter().find(|function| function.name == name)?;
                selected::eval(function, program.profile, arguments)
            }),
            Ir::Allocated(program) => self.call(name, program.profile, arguments, |arguments| {
                let function = program.functions.iter().find(|function| function.name == name)?;
                allocated::eval(function, program.profile, arguments)
            }),
            Ir::Stacked(program) => self.call(name, program.profile, arguments, |arguments| {
                let function = program.functions.iter().find(|function| function.name == name)?;
                stacked::eval(function, program.profile, arguments)
            }),
        }
    }

    /// Calls machine code as C would.
    fn call(
        &self,
        name: &str,
        profile: Profile,
        arguments: &[Lanes],
        run: impl FnOnce(&[Bits]) -> Option<Bits>,
    ) -> Result<Lanes, String> {
        let (params, result) = self.signature(name).ok_or_else(|| format!("there is no function `{name}`"))?;
        if params.len() != arguments.len() {
            return Err(format!("{name} takes {} arguments", params.len()));
        }
        let registers: Vec<Bits> = params.iter().zip(arguments).map(|(ty, value)| register(*ty, value)).collect();
        let bits = run(&registers).ok_or_else(|| format!("{name} reads what nothing defines"))?;
        Ok(value(result, profile, &bits))
    }
}

/// The register in which a caller passes a value: what the convention leaves open is junk.
pub(super) fn register(ty: Ty, value: &Lanes) -> Bits {
    let mut register = [JUNK; 16];
    let lane = |lane: usize| value.get(lane).unwrap_or(0) as u32;
    if let Ty::Rack(elem) = ty
        && elem.bits() < 32
    {
        let per_slot = 32 / elem.bits() as usize;
        for (slot, bits) in register.iter_mut().enumerate().take(value.len() / per_slot) {
            *bits = (0..per_slot).fold(0, |bits, at| bits | lane(slot * per_slot + at) << (at * elem.bits() as usize));
        }
        return register;
    }
    if ty.is_uniform() && ty.elem().bits() == 64 {
        let bits = value.get(0).unwrap_or(0);
        (register[0], register[1]) = (bits as u32, (bits >> 32) as u32);
        return register;
    }
    for (index, slot) in register.iter_mut().enumerate().take(value.len()) {
        *slot = match ty {
            Ty::Mask(_) => (lane(index) & 1) << 31 | JUNK >> 1,
            Ty::TRUTH => JUNK | lane(index) & 1,
            _ => lane(index),
        };
    }
    register
}

/// The value that a caller reads from the result's register.
fn value(ty: Ty, profile: Profile, register: &Bits) -> Lanes {
    if let Ty::Rack(elem) = ty
        && elem.bits() < 32
    {
        let per_slot = 32 / elem.bits() as usize;
        let lane = |lane: usize| register[lane / per_slot] >> (lane % per_slot * elem.bits() as usize);
        return Lanes::new((0..lanes_of(ty, profile)).map(|at| u64::from(lane(at)) & elem.lane_mask()));
    }
    let lanes = register.iter().take(lanes_of(ty, profile)).map(|lane| match ty {
        Ty::Mask(_) => u64::from(lane >> 31),
        _ => u64::from(*lane),
    });
    Lanes::new(lanes)
}

/// Arguments for checks: special values against each other, then random bits; the same on every run.
pub fn arguments(params: &[Ty], profile: Profile, round: usize) -> Vec<Lanes> {
    let argument = |(index, ty): (usize, &Ty)| {
        let bits = (0..lanes_of(*ty, profile)).map(|lane| {
            let step = round * 64 + lane;
            // Strides without a common factor meet every pair of special values over the rounds.
            special(ty.elem(), step * (2 * index + 1) + index * (step / 23)).unwrap_or_else(|| {
                random((round as u64) << 32 | (index as u64) << 16 | lane as u64) & ty.elem().lane_mask()
            })
        });
        Lanes::new(bits)
    };
    params.iter().enumerate().map(argument).collect()
}

const FLOATS: [u32; 23] = [
    0x0000_0000,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_1234,
    0x7f80_0001,
    0x0000_0001,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x3f00_0000,
    0x4000_0000,
    0x4b00_0001,
    0xcb00_0001,
    0x4f00_0000,
    0xcf00_0000,
    0x3eaa_aaab,
    0x4048_f5c3,
];

const INTEGERS: [u32; 12] = [0, 1, 2, 3, 5, 31, 32, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe, 0xffff_ffff];

/// A special value; after half of the steps none, so that random bits come too.
fn special(elem: Elem, step: usize) -> Option<u64> {
    match elem {
        Elem::Bool => Some(random(step as u64) & 1),
        Elem::F32 if step % 64 < 40 => Some(u64::from(FLOATS[step % FLOATS.len()])),
        Elem::I32 | Elem::U32 if step % 64 < 40 => Some(u64::from(INTEGERS[step % INTEGERS.len()])),
        _ => None,
    }
}

/// The generator SplitMix64, one step from `seed`.
pub(super) fn random(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use rake_ir::machine::bits::ZERO;

    #[test]
    fn junk_is_where_the_convention_leaves_bits_open() {
        let on = Lanes::truths(&[true, false]);
        assert_eq!(register(Ty::Mask(32), &on)[..2], [0x8000_0000 | JUNK >> 1, JUNK >> 1]);
        assert_eq!(register(Ty::TRUTH, &Lanes::uniform(1))[0], JUNK | 1);
        let single = register(Ty::Uniform(Elem::F32), &Lanes::f32s(&[1.0]));
        assert_eq!(single[..2], [0x3f80_0000, JUNK]);
        let mut bits = ZERO;
        bits[1] = 0x8000_0001;
        assert_eq!(value(Ty::Mask(32), Profile::X86Sse2, &bits), Lanes::truths(&[false, true, false, false]));
        assert_eq!(value(Ty::Rack(Elem::U32), Profile::X86Sse2, &bits).get(1), Some(0x8000_0001));
    }

    #[test]
    fn arguments_hold_special_pairs_and_random_bits() {
        let ty = Ty::Rack(Elem::F32);
        let mut pairs = std::collections::BTreeSet::new();
        for round in 0..32 {
            let both = arguments(&[ty, ty], Profile::X86Avx512, round);
            pairs.extend((0..16).map(|lane| (both[0].get(lane), both[1].get(lane))));
        }
        assert!(pairs.contains(&(Some(0), Some(0x8000_0000))) || pairs.contains(&(Some(0x8000_0000), Some(0))));
        assert!(pairs.len() > 300, "{}", pairs.len());
    }
}
