//! Fused regions and the number of vector arithmetic instructions (moves and loads of constants not counted) that the
//! best graph known by hand has.

use super::Program;
use std::fmt::Write;

/// A region of `f32s` over the names in it.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// The scratch's name.
    pub name: &'static str,
    /// Its parameters, all `f32s`.
    pub params: &'static str,
    /// Its stages, the last of which is the result.
    pub stages: &'static [&'static str],
    /// Instructions on profiles with a fused multiply-add.
    pub fma: u32,
    /// Instructions without.
    pub plain: u32,
}

macro_rules! regions {
    ($($name:ident($params:literal): $fma:literal $plain:literal [$($stage:literal),+];)+) => {
        /// The regions.
        pub const REGIONS: &[Region] = &[$(Region {
            name: stringify!($name), params: $params, stages: &[$($stage),+], fma: $fma, plain: $plain,
        }),+];
    };
}

regions! {
    degree4("a0 a1 a2 a3 a4 x"): 4 8 ["a0 + a1*x + a2*x*x + a3*x*x*x + a4*x*x*x*x"];
    degree4_stages("a0 a1 a2 a3 a4 x"): 4 8 ["x*x", "s0*x", "a0 + a1*x + a2*s0 + a3*s1 + a4*s0*s0"];
    degree6("a0 a1 a2 a3 a4 a5 a6 x"): 6 12
        ["a0 + a1*x + a2*x*x + a3*x*x*x + a4*x*x*x*x + a5*x*x*x*x*x + a6*x*x*x*x*x*x"];
    common_factor("a b c d"): 4 6 ["a*b + a*c + a*d - b*c*2.0"];
    discriminant("ox oy oz dx dy dz r"): 8 14
        ["(ox*dx+oy*dy+oz*dz)*(ox*dx+oy*dy+oz*dz) - (ox*ox+oy*oy+oz*oz - r*r)"];
    discriminant_stages("ox oy oz dx dy dz r"): 8 14
        ["ox*dx+oy*dy+oz*dz", "ox*ox+oy*oy+oz*oz", "s1 - r*r", "s0*s0 - s2"];
    distributed("a b c d"): 3 3 ["(a+b)*c + (a+b)*d"];
    lerp("a b t"): 2 3 ["a*(1.0-t) + b*t"];
    distance("x1 y1 z1 x2 y2 z2"): 6 8 ["(x1-x2)*(x1-x2) + (y1-y2)*(y1-y2) + (z1-z2)*(z1-z2)"];
    negated("x y z"): 1 3 ["-(x*y) - z"];
    constants("x"): 1 1 ["x*4.0 + x*8.0"];
}

impl Region {
    /// Its source.
    pub fn text(&self) -> String {
        let params: Vec<String> = self.params.split(' ').map(|name| format!("{name}: f32s")).collect();
        let mut text = format!("scratch {}({}) -> f32s:\n", self.name, params.join(", "));
        for (index, stage) in self.stages.iter().enumerate() {
            let _ = writeln!(text, "  | s{index} <| {stage}");
        }
        let _ = writeln!(text, "  s{}", self.stages.len().saturating_sub(1));
        text
    }
}

/// All regions, and one of wrapping integers, as one program.
pub fn program() -> Program {
    let mut text = String::new();
    for region in REGIONS {
        text.push_str(&region.text());
        text.push('\n');
    }
    for rack in ["i32s", "u32s"] {
        let _ = writeln!(text, "scratch wrapping_{rack}(a: {rack}, b: {rack}, c: {rack}) -> {rack}:");
        text.push_str("  | s <| a*b + a*c\n  s\n\n");
    }
    Program::new("regions", text)
}
