//! Seeded general runs: views and elements, nested loops, uniform `if`, locations and arrays of racks across loops.
//!
//! ```text
//! run r(x0: []f32, x1: mut []i32, <n: i32>, <s: i32>, <k: i32>):
//!   w1 := x0[<0> up to <n>]
//!   for <j2: i32> from <0> up to <n> by <lanes>:
//!     let v3 = x1[unchecked <j2> up to <n>]
//!     if <x1[j2]> > <k>:
//!       w1 <- w1 + x0[bit_and(v3, 7)]
//!     x1[<j2> up to <n>] <- v3 * <2>
//! ```
//!
//! What a caller owes such a run: few trips, so `n` is at most a few racks and `s` and `k` are a handful. Where an
//! access is `unchecked`, every view has at least `n` and at least sixteen elements.

use super::{Generator, Ty};
use crate::source::{Elem, Program};
use crate::special::Bits;
use std::fmt::Write;

/// Loops within each other.
const DEEPEST: usize = 3;
/// Statements of a run, so that it compiles at once.
const MOST: usize = 24;

/// What a general run works on.
#[derive(Debug, Default)]
struct Places {
    views: Vec<(String, Elem)>,
    /// How many of the views are written; they come last.
    written: usize,
    /// Rack locations, and arrays of so many racks.
    locations: Vec<(String, Elem, Option<usize>)>,
    /// The indices of the loops around, each with its type and whether it is never below zero.
    indices: Vec<(String, Elem, bool)>,
    statements: usize,
    /// Whether racks may be written to elements at indices.
    scatters: bool,
}

/// A program whose last definition is a general run named `r`; the same for the same arguments, for ever.
pub fn general(seed: u64, fma: bool, scatters: bool) -> Program {
    let mut generator = Generator { bits: Bits::new(seed), fma, names: Vec::new(), fresh: 0, callees: Vec::new() };
    let mut text = String::new();
    if generator.chance(3) {
        generator.function(&mut text, 0);
    }
    generator.general_run(&mut text, scatters);
    Program::new(format!("random general run {seed}"), text)
}

impl Generator {
    fn general_run(&mut self, text: &mut String, scatters: bool) {
        (self.fresh, self.names) = (0, Vec::new());
        let mut places = Places { written: 1 + self.bits.below(2), scatters, ..Places::default() };
        let views = places.written + 1 + self.bits.below(2);
        let mut params = Vec::new();
        for view in 0..views {
            let elem = [Elem::F32, Elem::F32, Elem::I32, Elem::U32][self.bits.below(4)];
            let mutable = if view + places.written >= views { "mut " } else { "" };
            params.push(format!("x{view}: {mutable}[]{}", elem.name()));
            places.views.push((format!("x{view}"), elem));
        }
        for name in ["n", "s", "k"] {
            params.push(format!("<{name}: i32>"));
        }
        self.names.push(("k".to_owned(), Ty::Uniform(Elem::I32)));
        for uniform in 0..self.bits.below(3) {
            let elem = Elem::ALL[self.bits.below(3)];
            let ty = if self.chance(4) { Ty::Flag } else { Ty::Uniform(elem) };
            params.push(format!("<u{uniform}: {}>", ty.name()));
            self.names.push((format!("u{uniform}"), ty));
        }
        let _ = writeln!(text, "run r({}):", params.join(", "));
        let (name, first) = (self.fresh('v'), places.views[0].clone());
        let _ = writeln!(text, "  let {name} = {}[<0> up to <n>]", first.0);
        self.names.push((name, Ty::Rack(first.1)));
        self.locations(text, &mut places);
        for _ in 0..1 + self.bits.below(2) {
            self.general_statement(text, &mut places);
        }
        self.counted(text, &mut places);
        self.general_statement(text, &mut places);
        self.store(text, &places);
    }

    /// A body one step further in; what is bound there is not known outside.
    fn body(&mut self, text: &mut String, places: &mut Places, statements: usize) {
        let (names, locations) = (self.names.len(), places.locations.len());
        let mut inner = String::new();
        for _ in 0..statements {
            self.general_statement(&mut inner, places);
        }
        self.store_or_update(&mut inner, places);
        for line in inner.lines() {
            let _ = writeln!(text, "  {line}");
        }
        self.names.truncate(names);
        places.locations.truncate(locations);
    }

    fn general_statement(&mut self, text: &mut String, places: &mut Places) {
        places.statements += 1;
        let large = places.statements < MOST;
        match self.bits.below(12) {
            0 | 1 if large && places.indices.len() < DEEPEST => self.counted(text, places),
            2 if large => self.choice(text, places),
            3 | 4 => self.bind_read(text, places),
            5 => self.bind_element(text, places),
            6 => self.cross(text),
            7 | 8 => self.store_or_update(text, places),
            9 if large && places.locations.len() < 3 => self.locations(text, places),
            _ => self.statement(text),
        }
    }

    /// Locations of racks, and now and then an array of them.
    fn locations(&mut self, text: &mut String, places: &mut Places) {
        for _ in 0..1 + self.bits.below(2) {
            let (name, elem) = (self.fresh('w'), self.elem());
            if self.chance(3) {
                let size = 1 + self.bits.below(3);
                let first = self.uniform(elem, 0);
                let _ = writeln!(text, "  {name}: [{size}]{} := {first}", elem.rack());
                places.locations.push((name, elem, Some(size)));
            } else {
                let first = self.rackish(elem, 1);
                let _ = writeln!(text, "  {name} := {first}");
                self.names.push((name.clone(), Ty::Rack(elem)));
                places.locations.push((name, elem, None));
            }
        }
    }

    fn counted(&mut self, text: &mut String, places: &mut Places) {
        let elem = if self.chance(5) { Elem::U32 } else { Elem::I32 };
        let name = self.fresh('j');
        let from = self.bits.below(4) as i64 - if elem == Elem::I32 { 1 } else { 0 };
        let outermost = places.indices.is_empty();
        let to = match self.bits.below(4) {
            _ if elem == Elem::U32 => format!("<{}>", 1 + self.bits.below(9)),
            0 if !outermost => "<k>".to_owned(),
            1 if outermost => "<n> - <1>".to_owned(),
            _ if outermost => "<n>".to_owned(),
            _ => format!("<{}>", 1 + self.bits.below(5)),
        };
        let by = match self.bits.below(5) {
            0 if elem == Elem::I32 => " by <s>".to_owned(),
            1 => String::new(),
            2 => format!(" by <{}>", 1 + self.bits.below(7)),
            _ if elem == Elem::I32 => " by lanes(f32s)".to_owned(),
            _ => " by <2>".to_owned(),
        };
        let _ = writeln!(text, "  for <{name}: {}> from <{from}> up to {to}{by}:", elem.name());
        places.indices.push((name.clone(), elem, from >= 0));
        self.names.push((name, Ty::Uniform(elem)));
        let statements = 1 + self.bits.below(4);
        self.body(text, places, statements);
        places.indices.pop();
        self.names.pop();
    }

    fn choice(&mut self, text: &mut String, places: &mut Places) {
        let condition = self.expression(Ty::Flag, 1);
        let _ = writeln!(text, "  if {condition}:");
        let arms = self.bits.below(3);
        let statements = self.bits.below(3);
        self.body(text, places, statements);
        for arm in 0..arms {
            if arm == 0 && arms == 2 {
                let condition = self.expression(Ty::Flag, 1);
                let _ = writeln!(text, "  else if {condition}:");
            } else {
                let _ = writeln!(text, "  else:");
            }
            let statements = self.bits.below(3);
            self.body(text, places, statements);
        }
    }

    /// A uniform index, and whether it is never below zero.
    fn index(&mut self, places: &Places) -> (String, bool) {
        let least = self.bits.below(3);
        let Some(innermost) = places.indices.len().checked_sub(1) else {
            return match self.bits.below(4) {
                0 => ("<k>".to_owned(), false),
                1 => (format!("<n> - <{}>", 1 + least), false),
                _ => (format!("<{least}>"), true),
            };
        };
        let at = if self.chance(4) { self.bits.below(innermost + 1) } else { innermost };
        let (name, elem, natural) = places.indices[at].clone();
        let other = places.indices[self.bits.below(innermost + 1)].clone();
        match self.bits.below(8) {
            0 | 1 => (format!("<{name}> + <{least}>"), natural),
            2 => (format!("<{name}> - <{least}>"), false),
            3 if other.1 == elem => (format!("<{name}> + <{}>", other.0), natural && other.2),
            4 => (format!("<{name}> * <2>"), natural),
            5 if elem == Elem::I32 => (format!("<{name}> + <k>"), false),
            _ => (format!("<{name}>"), natural),
        }
    }

    /// What stands in the brackets of consecutive elements.
    fn consecutive(&mut self, places: &Places) -> String {
        let (index, natural) = self.index(places);
        let bound = ["<n>", "<n>", "<n> - <1>", "<5>"][self.bits.below(4)];
        match self.bits.below(6) {
            0 | 1 => index,
            2 if natural && bound != "<5>" => format!("unchecked {index} up to {bound}"),
            _ => format!("{index} up to {bound}"),
        }
    }

    /// A rack from memory.
    fn loaded(&mut self, places: &Places) -> (String, Elem) {
        let (view, elem) = places.views[self.bits.below(places.views.len())].clone();
        let known = [Elem::I32, Elem::U32].into_iter().find(|&e| self.names.iter().any(|name| name.1 == Ty::Rack(e)));
        let place = match known {
            Some(by) if self.chance(3) => {
                let indices = self.rackish(by, 1);
                match self.bits.below(6) {
                    0 => indices,
                    1 => format!("unchecked bit_and({indices}, 7)"),
                    _ => format!("bit_and({indices}, 7)"),
                }
            }
            _ => self.consecutive(places),
        };
        (format!("{view}[{place}]"), elem)
    }

    fn bind_read(&mut self, text: &mut String, places: &Places) {
        let arrays: Vec<_> =
            places.locations.iter().filter_map(|(name, elem, size)| Some((name, *elem, (*size)?))).collect();
        let (value, elem) = if !arrays.is_empty() && self.chance(3) {
            let (array, elem, size) = arrays[self.bits.below(arrays.len())];
            (format!("{array}[<{}>]", self.bits.below(size)), elem)
        } else {
            let (value, elem) = self.loaded(places);
            let known = self.names.iter().any(|name| name.1 == Ty::Rack(elem));
            if known && self.chance(3) { (format!("{value} + {}", self.rackish(elem, 1)), elem) } else { (value, elem) }
        };
        let name = self.fresh('v');
        let _ = writeln!(text, "  let {name} = {value}");
        self.names.push((name, Ty::Rack(elem)));
    }

    fn bind_element(&mut self, text: &mut String, places: &Places) {
        let (view, elem) = places.views[self.bits.below(places.views.len())].clone();
        let more = self.bits.below(3);
        let index = match places.indices.last() {
            Some((index, ..)) if self.chance(2) => format!("{index} + {more}"),
            Some((index, ..)) => index.clone(),
            None if self.chance(2) => "n - 1".to_owned(),
            None => more.to_string(),
        };
        let name = self.fresh('e');
        let _ = writeln!(text, "  let <{name}: {}> = <{view}[{index}]>", elem.name());
        self.names.push((name, Ty::Uniform(elem)));
    }

    /// A reduction or a scan, or what asks all lanes.
    fn cross(&mut self, text: &mut String) {
        let elem = self.elem();
        let fold = ["sum", "product", "minimum", "maximum"][self.bits.below(4)];
        match self.bits.below(6) {
            0 | 1 => {
                let (name, value) = (self.fresh('t'), self.rackish(elem, 1));
                let _ = writeln!(text, "  let <{name}: {}> = {fold}({value})", elem.name());
                self.names.push((name, Ty::Uniform(elem)));
            }
            2 | 3 => {
                let (name, value) = (self.fresh('t'), self.mask(1));
                let what = ["any", "all"][self.bits.below(2)];
                let _ = writeln!(text, "  let <{name}: bool> = {what}({value})");
                self.names.push((name, Ty::Flag));
            }
            4 => {
                let (name, value) = (self.fresh('t'), self.rackish(elem, 1));
                let _ = writeln!(text, "  let <{name}: {}> = extract({value}, 0)", elem.name());
                self.names.push((name, Ty::Uniform(elem)));
            }
            _ => {
                let (name, value) = (self.fresh('v'), self.rackish(elem, 1));
                let _ = writeln!(text, "  let {name} = scan_{fold}({value})");
                self.names.push((name, Ty::Rack(elem)));
            }
        }
    }

    /// A value for a place: a rack where one of the element is known.
    fn stored(&mut self, elem: Elem) -> String {
        let budget = self.bits.below(3);
        let known = self.names.iter().any(|name| name.1 == Ty::Rack(elem));
        if known { self.rackish(elem, budget) } else { self.uniform(elem, 1) }
    }

    fn store(&mut self, text: &mut String, places: &Places) {
        let first = places.views.len() - places.written;
        let (view, elem) = places.views[first + self.bits.below(places.written)].clone();
        let place = if places.scatters && self.chance(3) { self.scattered() } else { self.consecutive(places) };
        let value = self.stored(elem);
        let _ = writeln!(text, "  {view}[{place}] <- {value}");
    }

    /// Indices to write to: equal ones unless nothing checks them, now and then where something does.
    fn scattered(&mut self) -> String {
        let known = [Elem::I32, Elem::U32].into_iter().find(|&e| self.names.iter().any(|name| name.1 == Ty::Rack(e)));
        match (known, self.bits.below(8)) {
            (Some(elem), 0) => format!("bit_and({}, 15)", self.rackish(elem, 1)),
            (Some(elem), 1..4) => format!("unchecked bit_and({}, 15)", self.rackish(elem, 1)),
            (_, way) => format!("bit_xor(@, {})", 2 * way + 1),
        }
    }

    fn store_or_update(&mut self, text: &mut String, places: &Places) {
        if places.locations.is_empty() || self.chance(2) {
            return self.store(text, places);
        }
        let (name, elem, size) = places.locations[self.bits.below(places.locations.len())].clone();
        let value = self.stored(elem);
        let element = size.map_or(String::new(), |size| format!("[<{}>]", self.bits.below(size)));
        let _ = writeln!(text, "  {name}{element} <- {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_comes() {
        assert_eq!(general(1, true, true), general(1, true, true));
        let all: String = (0..200).map(|seed| general(seed, true, true).text).collect();
        let forms = [
            "  for <j",
            "      for <j",
            "by lanes",
            "by <s>",
            ": u32> from",
            "  if ",
            "else if ",
            "  else:",
            "unchecked <j",
            "unchecked bit_and(",
            "[bit_and(",
            "[bit_xor(@, ",
            "[unchecked bit_and(",
            "[<0> up to <n>]",
            "] <- ",
            ": [2]",
            "= sum(",
            "scan_",
            "= any(",
            " - <1>] <- ",
            "scratch f_0",
            "= f_0(",
        ];
        for form in forms {
            assert!(all.contains(form), "{form}");
        }
    }
}
