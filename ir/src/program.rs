//! A program: functions for one profile. Every IR that is made of functions has it.

use crate::lane::FuseLevel;
use crate::profile::Profile;

/// Functions `F` for one profile.
#[derive(Clone, PartialEq, Debug)]
pub struct Program<F> {
    /// The profile that it was checked, and later selected, for.
    pub profile: Profile,
    /// The freedom that its fused regions have, or had.
    pub fuse: FuseLevel,
    /// Its functions, in source order.
    pub functions: Vec<F>,
}

impl<F> Program<F> {
    /// At most `parts` programs whose functions follow each other.
    pub fn split(self, parts: usize) -> Vec<Program<F>> {
        let size = self.functions.len().div_ceil(parts.max(1)).max(1);
        let mut split = Vec::with_capacity(parts);
        let mut rest = self.functions.into_iter();
        while rest.len() > 0 {
            split.push(Program {
                profile: self.profile,
                fuse: self.fuse,
                functions: rest.by_ref().take(size).collect(),
            });
        }
        split
    }
}
