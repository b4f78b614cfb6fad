//! What the speed of the compiler is measured on: Rake source and the C that gcc compiles to the same work.
//!
//! The C uses gcc's vector extensions and builtins and includes nothing, so that its compiler does not pay for reading
//! headers.

use crate::special::Bits;
use std::fmt::Write;

/// One program in both languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Rake.
    pub rake: String,
    /// C for `gcc -mavx2 -mfma`.
    pub c: String,
}

const PRELUDE: &str = "\
typedef float f32s __attribute__((vector_size(32)));
typedef int i32s __attribute__((vector_size(32)));
#define splat(k) ((f32s){k, k, k, k, k, k, k, k})
#define root(x) __builtin_ia32_sqrtps256(x)
#define pick(m, a, b) __builtin_ia32_blendvps256(b, a, (f32s)(m))
#define absolute(x) ((f32s)((i32s)(x) & 0x7fffffff))

";

/// The scratch of the reference's example.
pub fn advance() -> Pair {
    Pair {
        rake: "scratch advance(positions: f32s, velocities: f32s) -> f32s:\n  | scaled: f32s <| velocities * <0.5>\n  \
               | moved: f32s  <| positions + scaled\n  moved\n"
            .to_owned(),
        c: format!(
            "{PRELUDE}f32s advance(f32s positions, f32s velocities) {{\n  return positions + velocities * 0.5f;\n}}\n"
        ),
    }
}

/// `count` scratches of eight operations each: two multiply-adds in a region, a magnitude, a square root, a comparison
/// and a select. Constants, signs, operands and the order of the choice differ, so that no two are alike but for names.
pub fn functions(count: usize) -> Pair {
    let mut bits = Bits::new(8);
    let mut pair = Pair { rake: String::new(), c: PRELUDE.to_owned() };
    for index in 0..count {
        let names = permuted(["x", "y", "z"], &mut bits);
        let [a, b, c] = names;
        let signs = [["+", "-"][bits.below(2)], ["+", "-"][bits.below(2)]];
        let compare = ["<", "<=", ">", ">="][bits.below(4)];
        let (factor, term, limit) = (constant(index, 0), constant(index, 1), constant(index, 2));
        let (s, t) = (signs[0], signs[1]);
        let first = if bits.below(2) == 0 { format!("{a} * {b} {s} {c}") } else { format!("{c} {s} {b} * {a}") };
        let by_uniform = bits.below(2) == 0;
        let swap = bits.below(2) == 0;
        let (yes, no) = if swap { ("r", "q") } else { ("q", a) };
        let rake_factor = if by_uniform { "<k>".to_owned() } else { factor.clone() };
        let _ = write!(
            pair.rake,
            "scratch kernel{index}(x: f32s, y: f32s, z: f32s, <k: f32>) -> f32s:\n  | p <| {first}\n  \
             | q <| p * {rake_factor} {t} {term}\n  let r = sqrt(abs(q))\n  select(r {compare} {limit}, {yes}, {no})\n\n"
        );
        let c_factor = if by_uniform { "k".to_owned() } else { format!("{factor}f") };
        let _ = write!(
            pair.c,
            "f32s kernel{index}(f32s x, f32s y, f32s z, float k) {{\n  f32s p = {first};\n  \
             f32s q = p * {c_factor} {t} {term}f;\n  f32s r = root(absolute(q));\n  \
             return pick(r {compare} splat({limit}f), {yes}, {no});\n}}\n\n"
        );
    }
    pair
}

/// A literal that no other place has.
fn constant(index: usize, place: usize) -> String {
    format!("{}.{:05}", 1 + place * 3 + index % 3, index * 4 + place + 1)
}

fn permuted<T: Copy>(mut names: [T; 3], bits: &mut Bits) -> [T; 3] {
    names.swap(0, bits.below(3));
    names.swap(1, 1 + bits.below(2));
    names
}

/// One region of `operations` operations over six racks, in stages of four.
pub fn region(operations: usize) -> Pair {
    let mut bits = Bits::new(200);
    let params = ["a", "b", "c", "d", "e", "f"];
    let mut names: Vec<String> = params.map(str::to_owned).to_vec();
    let declared = params.map(|p| format!("{p}: f32s")).join(", ");
    let c_declared = params.map(|p| format!("f32s {p}")).join(", ");
    let mut rake = format!("scratch wide({declared}) -> f32s:\n");
    let mut c = format!("{PRELUDE}f32s wide({c_declared}) {{\n");
    let mut last = String::new();
    for stage in 0..operations.div_ceil(4) {
        let mut pick = || names[bits.below(names.len())].clone();
        // The stage before is always read, so nothing is dead, and old names drop out, so registers suffice.
        let (x, y, z) = (pick(), pick(), pick());
        let from = if last.is_empty() { x.clone() } else { last.clone() };
        let name = format!("s{stage}");
        let value = match bits.below(4) {
            0 => format!("{from} * {x} + {y} * {z} - {y}"),
            1 => format!("({from} + {x}) * {y} - {z} * {x}"),
            2 => format!("{from} * {y} + {from} * {z} + {x}"),
            _ => format!("({from} - {y}) * ({x} + {z}) + {y}"),
        };
        let _ = writeln!(rake, "  | {name} <| {value}");
        let _ = writeln!(c, "  f32s {name} = {value};");
        let place = 3 + bits.below(3);
        names[place].clone_from(&name);
        last = name;
    }
    let _ = writeln!(rake, "  {last}");
    let _ = writeln!(c, "  return {last};\n}}");
    Pair { rake, c }
}

/// A rake of `count` tines over two comparisons each, whose arms overlap; no C.
pub fn tines(count: usize) -> Pair {
    let mut rake = String::from("rake choose(x: f32s, y: f32s, m: mask) -> f32s:\n");
    for tine in 0..count {
        let _ = writeln!(rake, "  tine #t{tine} means x < <{tine}.0> and not (y > <{tine}.5> or m)");
    }
    rake.push_str("  sweep:\n");
    for tine in 0..count {
        let _ = writeln!(rake, "    | #t{tine} => <{tine}.25>");
    }
    rake.push_str("    | _ => y\n");
    Pair { rake, c: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_functions_are_alike_but_for_their_names() {
        let pair = functions(5000);
        let bodies: Vec<&str> = pair.rake.split("\n\n").filter_map(|f| Some(f.split_once('\n')?.1)).collect();
        assert_eq!(bodies.len(), 5000);
        assert_eq!(bodies.iter().collect::<BTreeSet<_>>().len(), 5000);
    }

    #[test]
    fn a_region_has_the_operations_asked_for() {
        let rake = region(200).rake;
        let signs: usize = [" + ", " - ", " * "].iter().map(|sign| rake.matches(sign).count()).sum();
        assert_eq!(signs, 200);
    }
}
