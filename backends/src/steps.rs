//! What every selection table is written with: names of operands, and sequences of steps.
//!
//! `A B C D` are the operation's operands, `S0 S1 ...` the results of earlier steps; a sequence's last step is its result.

use rake_passes::select::rule::Src;

macro_rules! sources {
    ($($name:ident = $src:expr;)*) => { $(pub(crate) const $name: Src = $src;)* };
}

sources! {
    A = Src::Arg(0);
    B = Src::Arg(1);
    C = Src::Arg(2);
    D = Src::Arg(3);
    S0 = Src::Step(0);
    S1 = Src::Step(1);
    S2 = Src::Step(2);
    S3 = Src::Step(3);
    S4 = Src::Step(4);
    S5 = Src::Step(5);
    S6 = Src::Step(6);
    S7 = Src::Step(7);
    S8 = Src::Step(8);
    S9 = Src::Step(9);
    S10 = Src::Step(10);
    S11 = Src::Step(11);
    S12 = Src::Step(12);
    S13 = Src::Step(13);
    S14 = Src::Step(14);
    S15 = Src::Step(15);
    S16 = Src::Step(16);
}

/// In every lane: zero, all bits, and as an integer one.
pub(crate) const ZERO: Src = Src::Lanes(&[0]);
pub(crate) const ONES: Src = Src::Lanes(&[u32::MAX]);
pub(crate) const ONE: Src = Src::Lanes(&[1]);
/// Of an `f32`: the sign's bit, the others, and the canonical NaN.
pub(crate) const SIGN: Src = Src::Lanes(&[0x8000_0000]);
pub(crate) const MAGNITUDE: Src = Src::Lanes(&[0x7fff_ffff]);
pub(crate) const NAN: Src = Src::Lanes(&[0x7fc0_0000]);

/// `steps![Family; Op(operands) #imm, ...]`: steps of a family's operations; `#n` is the operation's own number, a shift
/// count or a lane.
macro_rules! steps {
    ($family:ident; $($op:ident($($arg:expr),*) $(#$imm:tt)?),* $(,)?) => {
        &[$(rake_passes::select::rule::Step {
            op: rake_ir::machine::MachOp::$family($family::$op),
            args: &[$($arg),*],
            imm: $crate::steps::steps!(@imm $($imm)?),
        }),*]
    };
    (@imm) => { rake_passes::select::rule::StepImm::None };
    (@imm n) => { rake_passes::select::rule::StepImm::Count };
    (@imm $imm:literal) => { rake_passes::select::rule::StepImm::Fixed($imm) };
}
pub(crate) use steps;
