//! The backends: selection tables, encoders, object and assembly writers, and the C header.

pub mod aarch64;
pub(crate) mod assembly;
pub mod c;
pub mod c_header;
pub mod elf;
pub(crate) mod jumps;
mod picture;
pub mod scalar;
mod steps;
#[cfg(test)]
mod testing;
pub(crate) mod unwind;
pub mod wasm;
pub mod x86;

use rake_ir::lane::FuseLevel;
use rake_ir::profile::{Family, Profile};
use rake_passes::select::rule::Target;

/// The selection table of a profile.
pub fn target(profile: Profile) -> &'static dyn Target {
    match profile.info().family {
        Family::X86 => &x86::select::X86Target,
        Family::Aarch64 => &aarch64::select::A64Target,
        Family::Wasm => &wasm::select::WasmTarget,
        Family::Scalar => &scalar::select::ScalarTarget,
    }
}

/// What the caller decides about an object, a module or C text.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Whether a function may be called from other shared objects.
    pub exported: &'a dyn Fn(&str) -> bool,
    /// The compiler's name and version, stamped into the object.
    pub compiler: &'a str,
}

impl Options<'_> {
    /// The stamp: compiler, profile and fuse level.
    pub(crate) fn stamp(&self, profile: Profile, fuse: FuseLevel) -> String {
        format!("{} {profile} --fuse {}", self.compiler, fuse.name())
    }
}
