//! Calling conventions as data beside the profile.

use super::{Class, PhysReg};
use crate::profile::{Family, Profile};
use crate::selected::Param;
use crate::types::{Elem, Ty};

/// Where a C function finds its arguments and leaves its result.
#[derive(Clone, Copy, Debug)]
pub struct Abi {
    /// Its name.
    pub name: &'static str,
    /// Rack registers for racks, masks and floats, in order.
    pub vector_args: &'static [u8],
    /// General registers for integers and `bool`, in order.
    pub word_args: &'static [u8],
    /// The rack register of a rack, mask or float result.
    pub vector_result: u8,
    /// The general register of an integer or `bool` result.
    pub word_result: u8,
    /// Mask registers that a function may use.
    pub mask_registers: &'static [u8],
    /// General registers that a function may use: those that the caller expects to be lost.
    pub word_registers: &'static [u8],
}

/// System V on x86-64; general registers by hardware number (`edi esi edx ecx r8d r9d`).
pub const SYSTEM_V: Abi = Abi {
    name: "System V x86-64",
    vector_args: &[0, 1, 2, 3, 4, 5, 6, 7],
    word_args: &[7, 6, 2, 1, 8, 9],
    vector_result: 0,
    word_result: 0,
    mask_registers: &[1, 2, 3, 4, 5, 6, 7],
    word_registers: &[0, 1, 2, 6, 7, 8, 9, 10, 11],
};

impl Abi {
    /// The convention of a profile; `None` where functions have no machine registers.
    pub const fn of(profile: Profile) -> Option<&'static Abi> {
        match profile.info().family {
            Family::X86 => Some(&SYSTEM_V),
            _ => None,
        }
    }

    /// The class in which a value of this type crosses the boundary.
    pub const fn class_of(ty: Ty) -> Class {
        match ty {
            Ty::Rack(_) | Ty::Mask(_) | Ty::Uniform(Elem::F32 | Elem::F64) => Class::V,
            Ty::Uniform(_) => Class::G,
        }
    }

    /// The registers of these parameters, in order; `None` for one that the convention would pass in memory.
    pub fn places(&self, params: impl Iterator<Item = Ty>) -> Vec<Option<PhysReg>> {
        let (mut vectors, mut words) = (self.vector_args.iter(), self.word_args.iter());
        params
            .map(|ty| match Abi::class_of(ty) {
                Class::G => words.next().map(|&n| PhysReg::g(n)),
                _ => vectors.next().map(|&n| PhysReg::v(n)),
            })
            .collect()
    }

    /// Where a result of this type is left.
    pub const fn result(&self, ty: Ty) -> PhysReg {
        match Abi::class_of(ty) {
            Class::G => PhysReg::g(self.word_result),
            _ => PhysReg::v(self.vector_result),
        }
    }
}

/// Says of each parameter, and of the result, when it stands elsewhere than the profile's convention puts it.
pub(crate) fn check_places(profile: Profile, params: &[Param], result: (Ty, PhysReg), say: &mut impl FnMut(String)) {
    let Some(abi) = Abi::of(profile) else { return };
    for (param, place) in params.iter().zip(abi.places(params.iter().map(|param| param.ty))) {
        match place {
            Some(place) if place == param.place => {}
            Some(place) => say(format!("`{}` stands in {}, not in {place}", param.name, param.place)),
            None => say(format!("there is no register for `{}`", param.name)),
        }
    }
    let place = abi.result(result.0);
    if place != result.1 {
        say(format!("the result is left in {}, not in {place}", result.1));
    }
}
