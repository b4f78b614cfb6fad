//! Select, schedule and allocate together: sequences checked by hand, and the selection table.

mod sequences;
mod table;

use super::select::X86Target;
use crate::testing::{agree, compile, dump, random};
use rake_ir::profile::Profile;

const PROFILES: [Profile; 3] = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512];
