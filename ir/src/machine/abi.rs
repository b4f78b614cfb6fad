//! Calling conventions as data beside the profile.

use super::{Class, PhysReg};
use crate::profile::{Family, Profile};
use crate::selected::{Param, Returned};
use crate::types::{Elem, Ty};

/// Where a C function finds its arguments and leaves its result.
#[derive(Clone, Copy, Debug)]
pub struct Abi {
    /// Its name.
    pub name: &'static str,
    /// The class in which floats cross the boundary.
    pub floats: Class,
    /// The class in which integers of 64 bits cross it.
    pub longs: Class,
    /// Where arguments are found.
    pub arguments: Arguments,
    /// The rack register of a rack, mask or float result.
    pub vector_result: u8,
    /// The general register of an integer or `bool` result.
    pub word_result: u8,
    /// Rack registers that a function may use, in the order in which they are taken; a profile may have fewer.
    pub rack_registers: &'static [u8],
    /// Mask registers that a function may use.
    pub mask_registers: &'static [u8],
    /// General registers that a function may use: those that the caller expects to be lost.
    pub word_registers: &'static [u8],
    /// General registers that a function may use once it has saved them, in the order in which they are taken.
    pub kept_words: &'static [u8],
}

/// How arguments are passed.
#[derive(Clone, Copy, Debug)]
pub enum Arguments {
    /// In registers.
    Registers {
        /// Rack registers for racks, masks and floats, in order.
        vectors: &'static [u8],
        /// General registers for integers and `bool`, in order.
        words: &'static [u8],
        /// The words of the caller's frame that may hold further ones, in source order; never racks and masks, and runs
        /// alone have such arguments.
        frame: &'static [u8],
    },
    /// By position among all arguments: the machine is virtual, or a C compiler decides.
    Positions,
}

/// `0, 1, 2, ...`.
const NUMBERS: [u8; 32] = {
    let mut numbers = [0; 32];
    let mut at = 0;
    while at < 32 {
        numbers[at] = at as u8;
        at += 1;
    }
    numbers
};

/// System V on x86-64; general registers by hardware number (`edi esi edx ecx r8d r9d`).
pub const SYSTEM_V: Abi = Abi {
    name: "System V x86-64",
    floats: Class::V,
    longs: Class::G,
    arguments: Arguments::Registers { vectors: NUMBERS.split_at(8).0, words: &[7, 6, 2, 1, 8, 9], frame: &NUMBERS },
    vector_result: 0,
    word_result: 0,
    rack_registers: &NUMBERS,
    mask_registers: &[1, 2, 3, 4, 5, 6, 7],
    word_registers: &[0, 1, 2, 6, 7, 8, 9, 10, 11],
    kept_words: &[3, 5, 12, 13, 14, 15],
};

/// The procedure call standard of AArch64: a function keeps the low halves of `v8`-`v15`, so none of those is used; `x16`
/// and up are the linker's, the platform's and the caller's.
pub const AAPCS64: Abi = Abi {
    name: "AAPCS64",
    floats: Class::V,
    longs: Class::G,
    arguments: Arguments::Registers { vectors: NUMBERS.split_at(8).0, words: NUMBERS.split_at(8).0, frame: &NUMBERS },
    vector_result: 0,
    word_result: 0,
    rack_registers: &[0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31],
    mask_registers: &[],
    word_registers: NUMBERS.split_at(16).0,
    kept_words: &[19, 20, 21, 22, 23, 24, 25, 26, 27, 28],
};

/// WebAssembly's functions, and C functions of scalars.
const fn by_position(name: &'static str, longs: Class) -> Abi {
    Abi {
        name,
        floats: Class::F,
        longs,
        arguments: Arguments::Positions,
        vector_result: 0,
        word_result: 0,
        rack_registers: &[],
        mask_registers: &[],
        word_registers: &[],
        kept_words: &[],
    }
}

/// WebAssembly: parameters are the first locals, the result is left on the stack.
pub const WEBASSEMBLY: Abi = by_position("WebAssembly", Class::L);

/// A C compiler's own convention.
pub const C: Abi = by_position("C", Class::G);

impl Abi {
    /// The convention of a profile.
    pub const fn of(profile: Profile) -> &'static Abi {
        match profile.info().family {
            Family::X86 => &SYSTEM_V,
            Family::Aarch64 => &AAPCS64,
            Family::Wasm => &WEBASSEMBLY,
            Family::Scalar => &C,
        }
    }

    /// The class in which a value of this type crosses the boundary.
    pub const fn class_of(&self, ty: Ty) -> Class {
        match ty {
            Ty::Rack(_) | Ty::Mask(_) => Class::V,
            Ty::Uniform(Elem::F32 | Elem::F64) => self.floats,
            Ty::Uniform(Elem::I64 | Elem::U64) => self.longs,
            Ty::Uniform(_) | Ty::Address => Class::G,
        }
    }

    /// The places of these parameters, in order; `None` for one that has none.
    pub fn places(&self, params: impl Iterator<Item = Ty>) -> Vec<Option<PhysReg>> {
        match self.arguments {
            Arguments::Registers { vectors, words, frame } => {
                let (mut vectors, mut words, mut frame) = (vectors.iter(), words.iter(), frame.iter());
                let place = |ty: Ty| {
                    let register = match self.class_of(ty) {
                        Class::G => words.next().map(|&n| PhysReg::g(n)),
                        _ => vectors.next().map(|&n| PhysReg::v(n)),
                    };
                    let in_frame = matches!(ty, Ty::Uniform(_) | Ty::Address);
                    register.or_else(|| frame.next().filter(|_| in_frame).map(|&n| PhysReg::s(n)))
                };
                params.map(place).collect()
            }
            Arguments::Positions => {
                let place = |(at, ty)| Some(PhysReg { class: self.class_of(ty), number: u8::try_from(at).ok()? });
                params.enumerate().map(place).collect()
            }
        }
    }

    /// The words of the caller's frame that may hold arguments.
    pub const fn frame(&self) -> &'static [u8] {
        match self.arguments {
            Arguments::Registers { frame, .. } => frame,
            Arguments::Positions => &[],
        }
    }

    /// How many arguments of a class can be passed, and in words what those are.
    pub fn most(&self, class: Class) -> (usize, &'static str) {
        match (self.arguments, class) {
            (Arguments::Registers { words, .. }, Class::G) => (words.len(), "integers and `bool`s"),
            (Arguments::Registers { vectors, .. }, _) => (vectors.len(), "racks, masks and floats"),
            (Arguments::Positions, _) => (1 << u8::BITS, "arguments"),
        }
    }

    /// Where a result of this type is left.
    pub const fn result(&self, ty: Ty) -> PhysReg {
        match self.class_of(ty) {
            Class::G => PhysReg::g(self.word_result),
            class => PhysReg { class, number: self.vector_result },
        }
    }
}

/// Says of each parameter, and of the result, when it stands elsewhere than the profile's convention puts it.
pub(crate) fn check_places(profile: Profile, params: &[Param], result: Option<Returned>, say: &mut impl FnMut(String)) {
    let abi = Abi::of(profile);
    for (param, place) in params.iter().zip(abi.places(params.iter().map(|param| param.ty))) {
        match place {
            Some(place) if place == param.place => {}
            Some(place) => say(format!("`{}` stands in {}, not in {place}", param.name, param.place)),
            None => say(format!("there is no register for `{}`", param.name)),
        }
    }
    if let Some(Returned { ty, place: left }) = result
        && left != abi.result(ty)
    {
        say(format!("the result is left in {left}, not in {}", abi.result(ty)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_register_carries_stands_in_the_frame_in_source_order() {
        let (float, int, truth) = (Ty::Uniform(Elem::F32), Ty::Uniform(Elem::I32), Ty::TRUTH);
        let mut params = vec![Ty::Address];
        params.extend([float; 8]);
        params.extend([int, int, float, int, int, int, truth, int, float, int]);
        let at =
            |abi: &Abi| abi.places(params.iter().copied()).iter().map(|p| p.unwrap().to_string()).collect::<Vec<_>>();
        let floats = ["v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"];
        let x86 = [&["g7"], &floats[..], &["g6", "g2", "s0", "g1", "g8", "g9", "s1", "s2", "s3", "s4"]].concat();
        assert_eq!(at(&SYSTEM_V), x86);
        let arm = [&["g0"], &floats[..], &["g1", "g2", "s0", "g3", "g4", "g5", "g6", "g7", "s1", "s2"]].concat();
        assert_eq!(at(&AAPCS64), arm);
        let racks = [Ty::Rack(Elem::F32); 9];
        assert_eq!(SYSTEM_V.places(racks.into_iter())[8], None);
    }
}
