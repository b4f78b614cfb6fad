//! Seeded stack runs: packs of columns of every width, other stacks, `where` and `compact`.

use super::{Generator, Ty};
use crate::source::{Elem, Program};
use crate::special::Bits;
use std::fmt::Write;

/// The elements of columns, each with the rack that it is worked on as.
const COLUMNS: [(&str, Elem); 8] = [
    ("f32", Elem::F32),
    ("f32", Elem::F32),
    ("i32", Elem::I32),
    ("u32", Elem::U32),
    ("u8", Elem::U32),
    ("u16", Elem::U32),
    ("i8", Elem::I32),
    ("i16", Elem::I32),
];

/// A column: its name, its element's, its rack's.
type Column = (String, &'static str, Elem);

/// A program of `runs` stack runs named `r_0`, `r_1`, ...; the same for the same arguments, for ever.
pub fn stacks(seed: u64, runs: usize, fma: bool) -> Program {
    let mut generator = Generator { bits: Bits::new(seed), fma, names: Vec::new(), fresh: 0, callees: Vec::new() };
    let mut text = String::new();
    for index in 0..runs {
        generator.run(&mut text, index);
    }
    Program::new(format!("random stack runs {seed}"), text)
}

impl Generator {
    fn pack(&mut self, text: &mut String, name: &str, most: usize) -> Vec<Column> {
        let count = 1 + self.bits.below(most);
        let column = |at: usize, bits: &mut Bits| {
            let (elem, rack) = COLUMNS[bits.below(COLUMNS.len())];
            (format!("c{at}"), elem, rack)
        };
        let columns: Vec<Column> = (0..count).map(|at| column(at, &mut self.bits)).collect();
        let fields: Vec<String> = columns.iter().map(|(name, elem, _)| format!("{elem}: {name};")).collect();
        let _ = writeln!(text, "pack {name} {{ {} }}", fields.join(" "));
        columns
    }

    /// What a column's rack is called: a narrow one is widened wherever it is read.
    fn read(&mut self, stack: &str, columns: &[Column]) {
        for (name, elem, rack) in columns {
            let column = format!("{stack}.{name}");
            let text = if matches!(*elem, "f32" | "i32" | "u32") { column } else { format!("widen({column})") };
            self.names.push((text, Ty::Rack(*rack)));
        }
    }

    fn run(&mut self, text: &mut String, index: usize) {
        (self.fresh, self.names) = (0, Vec::new());
        let own = self.pack(text, &format!("P{index}"), 5);
        let mut params = vec![format!("s: stack P{index}")];
        self.read("s", &own);
        if self.chance(3) {
            let other = self.pack(text, &format!("Q{index}"), 3);
            params.push(format!("q: stack Q{index}"));
            self.read("q", &other);
        } else if self.chance(4) {
            params.push(format!("q: stack P{index}"));
            self.read("q", &own);
        }
        for uniform in 0..self.bits.below(4) {
            let ty = if self.chance(4) { Ty::Flag } else { Ty::Uniform(self.elem()) };
            params.push(format!("<u{uniform}: {}>", ty.name()));
            self.names.push((format!("u{uniform}"), ty));
        }
        let _ = writeln!(text, "\nrun r_{index}({}) -> stack P{index}:", params.join(", "));
        for _ in 0..self.bits.below(3) {
            self.statement(text);
        }
        let with = self.replaced(&own);
        let result = match self.bits.below(3) {
            0 => format!("s{with}"),
            1 => format!("s{with} where {}", self.mask(2)),
            _ => {
                let with = if self.chance(2) { with } else { String::new() };
                format!("compact s{with} where {}", self.mask(2))
            }
        };
        let _ = writeln!(text, "  {result}\n");
    }

    /// ` with { ... }` for some columns.
    fn replaced(&mut self, columns: &[Column]) -> String {
        let first = self.bits.below(columns.len());
        let mut fields = Vec::new();
        for (at, (name, _, rack)) in columns.iter().enumerate() {
            if at != first && self.chance(2) {
                continue;
            }
            let known = self.names.iter().any(|name| name.1 == Ty::Rack(*rack));
            let budget = self.bits.below(4);
            let value = if known { self.rackish(*rack, budget) } else { self.uniform(*rack, 1) };
            fields.push(format!("{name}: {value}"));
        }
        format!(" with {{ {} }}", fields.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_comes() {
        assert_eq!(stacks(1, 4, true), stacks(1, 4, true));
        let all: String = (0..100).map(|seed| stacks(seed, 3, true).text).collect();
        for form in ["compact s where", "} where", "compact s with", "widen(s.", "q.c", "q: stack Q", "<u1", "i16: "] {
            assert!(all.contains(form), "{form}");
        }
    }
}
