//! The backends: selection tables, encoders, object and assembly writers, and the C header.

pub mod aarch64;
pub mod c_header;
pub mod scalar;
pub mod wasm;
pub mod x86;

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
