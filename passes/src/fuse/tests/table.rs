//! Operations of the chosen graphs, with and without a fused multiply-add.

use super::{count, fuse};
use rake_ir::fused;
use rake_ir::lane::FuseLevel;
use rake_ir::profile::Profile;
use rake_ir::types::Elem;

/// (region, operations with a fused multiply-add, without). By hand: Horner's form takes one multiply-add a degree, a
/// common factor one product, a square one product, and so on.
pub const FLOATS: &[(&str, usize, usize)] = &[
    ("r = a0 + a1*x + a2*x*x + a3*x*x*x + a4*x*x*x*x", 4, 8),
    ("r = a0 + a1*x + a2*x*x + a3*x*x*x + a4*x*x*x*x + a5*x*x*x*x*x + a6*x*x*x*x*x*x", 6, 12),
    ("r = a*b + a*c + a*d - b*c*2.0", 4, 6),
    ("r = (ox*dx+oy*dy+oz*dz)*(ox*dx+oy*dy+oz*dz) - (ox*ox+oy*oy+oz*oz - r0*r0)", 8, 14),
    ("r = (a+b)*c + (a+b)*d", 3, 3),
    ("r = a*(1.0-t) + b*t", 2, 3),
    ("r = (x1-x2)*(x1-x2) + (y1-y2)*(y1-y2) + (z1-z2)*(z1-z2)", 6, 8),
    ("r = -(x*y) - z", 1, 3),
    ("r = x*4.0 + x*8.0", 1, 1),
    // Complex multiplication.
    ("re = a*c - b*d; im = a*d + b*c", 4, 6),
    // Cross product.
    ("u = ay*bz - az*by; v = az*bx - ax*bz; w = ax*by - ay*bx", 6, 9),
    ("r = ax*bx + ay*by + az*bz", 3, 5),
    // Matrix-vector rows.
    ("u = m0*x + m1*y + m2*z + m3; v = m4*x + m5*y + m6*z + m7", 6, 12),
    // Quadratic form: x(ax + by) + cyy.
    ("r = a*x*x + b*x*y + c*y*y", 5, 7),
    // Bilinear interpolation, three lerps.
    ("u = a*(1.0-s) + b*s; v = c*(1.0-s) + d*s; r = u*(1.0-t) + v*t", 6, 9),
    ("u = a + s*(b-a); v = c + s*(d-c); r = u + t*(v-u)", 6, 9),
    // Smoothstep.
    ("r = x*x*(3.0 - 2.0*x)", 3, 4),
    ("r = 3.0*x*x - 2.0*x*x*x", 3, 4),
    // Polynomials with literals, shuffled, with gaps, already in Horner's form.
    ("r = 1.0 + 2.0*x + 3.0*x*x", 2, 4),
    ("r = 5.0*x*x*x + 1.0 + 3.0*x*x + 2.0*x", 3, 6),
    ("r = 1.0 + 3.0*x*x + 5.0*x*x*x*x", 3, 5),
    ("r = 1.0 + 3.0*x*x*x*x", 3, 4),
    ("r = ((3.0*x + 2.0)*x + 1.0)*x + 0.5", 3, 6),
    ("r = 0.1*x*x + 0.3*x", 2, 3),
    ("r = x + x*x*x*0.5 + x*x*x*x*x*0.25", 4, 6),
    // A cancelling constant stays: 1 - (1-x)(1-y).
    ("r = 1.0 - (1.0-x)*(1.0-y)", 3, 4),
    // The same term again.
    ("r = x + x + x", 1, 1),
    ("r = x*3.0 + y + x*5.0", 1, 2),
    ("r = a*b*c + a*b*d", 3, 3),
    ("r = x*x*x*x", 2, 2),
    ("r = x*x*x*x*x*x*x*x", 3, 3),
    ("r = x*x*x*x*x*x", 3, 3),
    ("r = a*a + 2.0*a*b + b*b", 2, 2),
    ("r = a*a - 2.0*a*b + b*b", 2, 2),
    ("r = a*a + 2.0*a*b + b*b + c", 2, 3),
    ("r = a*c + a*d + b*c + b*d", 3, 3),
    ("r = a*c + a*d + b*c + b*d + e", 3, 4),
    ("r = x/4.0 + y/4.0", 2, 2),
    ("r = x/2.0 + y", 1, 2),
    ("r = x*2.0*3.0", 1, 1),
    ("r = x + 1.0 + 2.0", 1, 1),
    ("r = 2.0*a + 2.0*b + 2.0*c", 3, 3),
    // Pieces that two results share.
    ("u = a + b + c; v = b + c + d", 3, 3),
    ("u = x*x + y*y; v = (x*x + y*y)*z; outw = u + v", 3, 5),
    ("p = a*b + a*c; q = b + c", 2, 2),
    // With other operations between.
    ("r = sqrt(x*x + y*y + z*z)", 4, 6),
    ("d = x*x + y*y; r = min(sqrt(d), a*b + a*c)", 6, 7),
    ("m = a*b + c; r = select(m < 0.0, a*b + c, x*y + x*z)", 5, 6),
    ("r = (a + b)*(a + b)*(a + b)", 3, 3),
    ("r = (x - y)*(x + y)", 3, 3),
    ("r = x*x*a + y*y*a", 3, 4),
    ("r = (a*x + b)*x + (c*x + d)*x", 4, 5),
    ("r = -a - b", 1, 2),
    ("r = (-a)*b + c", 1, 2),
    ("r = c + (-a)*(-b)", 1, 2),
    ("r = a*b - c*d + e*f - g*h", 4, 7),
];

/// Integers have no multiply-add; every profile takes the same graph.
const INTS: &[(&str, usize)] = &[
    ("r = a*b + a*c", 2),
    ("r = (a+b)*c + (a+b)*d", 3),
    ("r = a*b*c + a*b*d", 3),
    ("r = a0 + a1*x + a2*x*x + a3*x*x*x", 6),
    ("r = a*a + 2*a*b + b*b", 2),
    ("r = a*c - b*c", 2),
    ("r = x*x*x*x", 2),
];

fn check(text: &str, elem: Elem, profile: Profile, expected: usize, wrong: &mut Vec<String>) {
    let fused = fuse(text, elem, profile, FuseLevel::Full);
    let found = count(&fused);
    if found != expected {
        wrong.push(format!("{text} on {profile}: {found}, not {expected}\n{}", fused::print(&fused)));
    }
}

#[test]
fn float_regions() {
    let mut wrong = Vec::new();
    for &(text, fma, plain) in FLOATS {
        check(text, Elem::F32, Profile::X86Avx2, fma, &mut wrong);
        check(text, Elem::F32, Profile::X86Avx512, fma, &mut wrong);
        check(text, Elem::F32, Profile::X86Sse2, plain, &mut wrong);
        check(text, Elem::F64, Profile::X86Avx2, fma, &mut wrong);
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn int_regions() {
    let mut wrong = Vec::new();
    for &(text, operations) in INTS {
        for profile in [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512] {
            check(text, Elem::I32, profile, operations, &mut wrong);
            check(text, Elem::U32, profile, operations, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
