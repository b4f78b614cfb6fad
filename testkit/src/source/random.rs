//! Seeded programs: scratches, rakes and runs of mixed types with regions, `if`, `select`, uniforms, repeats and calls.

mod general;
mod rakes;
mod stacks;

pub use general::general;
pub use rakes::rakes;
pub use stacks::stacks;

use super::{Elem, Program};
use crate::special::Bits;
use std::fmt::Write;

/// What a name or expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ty {
    Rack(Elem),
    Mask,
    Uniform(Elem),
    Flag,
}

impl Ty {
    fn name(self) -> &'static str {
        match self {
            Ty::Rack(elem) => elem.rack(),
            Ty::Mask => "mask",
            Ty::Uniform(elem) => elem.name(),
            Ty::Flag => "bool",
        }
    }

    fn is_marked(self) -> bool {
        matches!(self, Ty::Uniform(_) | Ty::Flag)
    }
}

/// A scratch written so far, to be called.
#[derive(Clone, Debug)]
struct Callee {
    name: String,
    params: Vec<Ty>,
    result: Ty,
}

/// A generator of programs.
#[derive(Debug)]
struct Generator {
    bits: Bits,
    /// Whether explicit `fma` may stand.
    fma: bool,
    names: Vec<(String, Ty)>,
    fresh: usize,
    callees: Vec<Callee>,
}

/// A program of `functions` scratches named `f_0`, `f_1`, ...; the same for the same arguments, for ever.
pub fn program(seed: u64, functions: usize, fma: bool) -> Program {
    let mut generator = Generator { bits: Bits::new(seed), fma, names: Vec::new(), fresh: 0, callees: Vec::new() };
    let mut text = String::new();
    for index in 0..functions {
        generator.function(&mut text, index);
    }
    Program::new(format!("random program {seed}"), text)
}

/// Scratches `g_0`, `g_1`, ... whose whole arithmetic stands in the branch of an `if` over the mask `m`, their first
/// parameter: with `m` false everywhere they are their second parameter and raise no flag.
pub fn guarded(seed: u64, functions: usize, fma: bool) -> Program {
    let mut generator = Generator { bits: Bits::new(seed), fma, names: Vec::new(), fresh: 0, callees: Vec::new() };
    let mut text = String::new();
    for index in 0..functions {
        generator.guarded_function(&mut text, index);
    }
    Program::new(format!("guarded program {seed}"), text)
}

impl Generator {
    fn chance(&mut self, one_in: usize) -> bool {
        self.bits.below(one_in) == 0
    }

    fn fresh(&mut self, letter: char) -> String {
        self.fresh += 1;
        format!("{letter}{}", self.fresh)
    }

    /// An element of which there is a rack, or any when there is none yet.
    fn elem(&mut self) -> Elem {
        // Floats are where the compiler has most to do.
        let all = [Elem::F32, Elem::F32, Elem::I32, Elem::U32];
        let known = all.into_iter().filter(|&elem| self.names.iter().any(|name| name.1 == Ty::Rack(elem)));
        let known: Vec<Elem> = known.collect();
        let choice = if known.is_empty() { &all[..] } else { &known };
        choice[self.bits.below(choice.len())]
    }

    fn value_type(&mut self) -> Ty {
        if self.chance(6) { Ty::Mask } else { Ty::Rack(self.elem()) }
    }

    fn params(&mut self) -> Vec<Ty> {
        self.names.clear();
        let mut params: Vec<Ty> = (0..1 + self.bits.below(3)).map(|_| Ty::Rack(self.elem())).collect();
        if self.chance(3) {
            params.push(Ty::Mask);
        }
        for _ in 0..self.bits.below(3) {
            let uniform = if self.chance(3) { Ty::Flag } else { Ty::Uniform(self.elem()) };
            let place = self.bits.below(params.len() + 1);
            params.insert(place, uniform);
        }
        params
    }

    fn declare(&mut self, word: &str, text: &mut String, name: &str, params: &[Ty], result: Ty) {
        self.names.clear();
        self.fresh = 0;
        let mut declared = Vec::new();
        for (index, &ty) in params.iter().enumerate() {
            let param = format!("p{index}");
            let form =
                if ty.is_marked() { format!("<{param}: {}>", ty.name()) } else { format!("{param}: {}", ty.name()) };
            declared.push(form);
            self.names.push((param, ty));
        }
        let _ = writeln!(text, "{word} {name}({}) -> {}:", declared.join(", "), result.name());
    }

    fn function(&mut self, text: &mut String, index: usize) {
        let name = format!("f_{index}");
        let params = self.params();
        self.names = params.iter().map(|&ty| (String::new(), ty)).collect();
        let result = match self.bits.below(10) {
            0 => Ty::Uniform(self.elem()),
            1 => Ty::Flag,
            _ => self.value_type(),
        };
        self.declare("scratch", text, &name, &params, result);
        let statements = if result.is_marked() { self.bits.below(2) } else { self.bits.below(4) };
        for _ in 0..statements {
            self.statement(text);
        }
        let budget = self.bits.below(6);
        let result_text = self.expression(result, budget);
        let _ = writeln!(text, "  {result_text}\n");
        if self.callees.len() < 3 {
            self.callees.push(Callee { name, params, result });
        }
    }

    fn guarded_function(&mut self, text: &mut String, index: usize) {
        self.names.clear();
        let elem = self.elem();
        let params = [Ty::Mask, Ty::Rack(elem), Ty::Rack(Elem::F32), Ty::Rack(Elem::F32), Ty::Rack(self.elem())];
        self.declare("scratch", text, &format!("g_{index}"), &params, Ty::Rack(elem));
        // The mask is the guard's alone.
        self.names.remove(0);
        let budget = 2 + self.bits.below(6);
        let inner = self.rackish(elem, budget);
        let guarded = match self.bits.below(3) {
            0 => format!("if p0 then {inner} else p1"),
            1 => format!("if not p0 then p1 else {inner}"),
            _ => {
                let other = self.rackish(elem, 2);
                format!("if p0 then (if p2 < p3 then {inner} else {other}) else p1")
            }
        };
        if self.chance(2) {
            let _ = writeln!(text, "  | r <| {guarded}\n  r\n");
        } else {
            let _ = writeln!(text, "  {guarded}\n");
        }
    }

    fn statement(&mut self, text: &mut String) {
        match self.bits.below(8) {
            0..=2 => self.region(text),
            3 => self.repeat(text),
            4 => {
                let elem = self.elem();
                let (name, value) = (self.fresh('k'), self.expression(Ty::Uniform(elem), 2));
                let _ = writeln!(text, "  let <{name}: {}> = {value}", elem.name());
                self.names.push((name, Ty::Uniform(elem)));
            }
            5 if !self.callees.is_empty() => self.call(text),
            _ => {
                let ty = self.value_type();
                let (name, value) = (self.fresh('v'), self.expression(ty, 3));
                let note = if self.chance(2) { format!(": {}", ty.name()) } else { String::new() };
                let _ = writeln!(text, "  let {name}{note} = {value}");
                self.names.push((name, ty));
            }
        }
    }

    fn region(&mut self, text: &mut String) {
        // Longer sums and products of floats, where fusion has something to find.
        for _ in 0..1 + self.bits.below(4) {
            let floats = self.names.iter().any(|name| name.1 == Ty::Rack(Elem::F32));
            let ty = if !floats || self.chance(4) { self.value_type() } else { Ty::Rack(Elem::F32) };
            let budget = 1 + self.bits.below(5);
            let (name, value) = (self.fresh('s'), self.expression(ty, budget));
            let note = if self.chance(3) { format!(": {}", ty.name()) } else { String::new() };
            let _ = writeln!(text, "  | {name}{note} <| {value}");
            self.names.push((name, ty));
        }
    }

    fn repeat(&mut self, text: &mut String) {
        let elem = self.elem();
        let (name, index, first) = (self.fresh('w'), self.fresh('n'), self.rackish(elem, 1));
        let (from, trips) = (self.bits.below(3), self.bits.below(4));
        let _ = writeln!(text, "  {name} := {first}");
        let _ = writeln!(text, "  repeat <{index}: i32> from <{from}> up to <{}>:", from + trips);
        self.names.push((name.clone(), Ty::Rack(elem)));
        self.names.push((index, Ty::Uniform(Elem::I32)));
        let next = self.rackish(elem, 2);
        let _ = writeln!(text, "    {name} <- {next}");
        self.names.pop();
    }

    fn call(&mut self, text: &mut String) {
        let which = self.bits.below(self.callees.len());
        let callee = self.callees[which].clone();
        let lacks = |ty: &Ty| matches!(ty, Ty::Rack(_)) && !self.names.iter().any(|name| name.1 == *ty);
        if callee.params.iter().any(lacks) {
            return;
        }
        let args: Vec<String> = callee.params.iter().map(|&ty| self.expression(ty, 1)).collect();
        let (name, args) = (self.fresh('v'), args.join(", "));
        if callee.result.is_marked() {
            let _ = writeln!(text, "  let <{name}: {}> = {}({args})", callee.result.name(), callee.name);
        } else {
            let _ = writeln!(text, "  let {name} = {}({args})", callee.name);
        }
        self.names.push((name, callee.result));
    }

    /// A name of the type, marked if it is a uniform.
    fn name(&mut self, ty: Ty) -> Option<String> {
        let fitting: Vec<usize> = (0..self.names.len()).filter(|&i| self.names[i].1 == ty).collect();
        let &place = fitting.get(self.bits.below(fitting.len()))?;
        let name = &self.names[place].0;
        Some(if ty.is_marked() { format!("<{name}>") } else { name.clone() })
    }

    fn literal(&mut self, elem: Elem) -> String {
        let bits = &mut self.bits;
        match elem {
            Elem::F32 => match bits.below(4) {
                0 => ["0.0", "1.0", "-1.0", "2.0", "0.5", "-0.0"][bits.below(6)].to_owned(),
                1 => format!("{}.0", bits.below(16)),
                _ => format!("{}.{}", bits.below(8), bits.below(1000)),
            },
            Elem::I32 => match bits.below(3) {
                0 => ["-2147483648", "2147483647", "-1", "0", "1"][bits.below(5)].to_owned(),
                _ => (bits.below(200) as i32 - 100).to_string(),
            },
            Elem::U32 => match bits.below(3) {
                0 => ["4294967295", "2147483648", "0", "1"][bits.below(4)].to_owned(),
                _ => bits.below(200).to_string(),
            },
        }
    }

    /// An expression whose type is the rack itself: never only of uniforms or literals, so that every operation on it
    /// is an operation on racks.
    fn rackish(&mut self, elem: Elem, budget: usize) -> String {
        if budget == 0 {
            // Callers ask for elements of which there is a rack.
            return self.name(Ty::Rack(elem)).unwrap_or_default();
        }
        let left = self.bits.below(budget);
        let (left, right) = (left, budget - 1 - left);
        match self.bits.below(12) {
            0 if elem != Elem::U32 => format!("-{}", self.operand(elem, budget - 1)),
            1 if elem != Elem::U32 => format!("abs({})", self.rackish(elem, budget - 1)),
            2 if elem == Elem::F32 => format!("sqrt({})", self.rackish(elem, budget - 1)),
            3 if elem == Elem::F32 => format!("({} / {})", self.rackish(elem, left), self.any(elem, right)),
            4 if elem == Elem::F32 && self.fma => {
                let (a, b, c) = (self.rackish(elem, left), self.any(elem, 0), self.any(elem, right));
                format!("fma({a}, {b}, {c})")
            }
            2 | 3 if elem != Elem::F32 => {
                let op = ["bit_and", "bit_or", "bit_xor", "bit_andnot"][self.bits.below(4)];
                format!("{op}({}, {})", self.rackish(elem, left), self.any(elem, right))
            }
            4 if elem != Elem::F32 => {
                let way = ["left", "right", "right_signed"][self.bits.below(3)];
                format!("shift_bits_{way}({}, {})", self.rackish(elem, budget - 1), self.bits.below(32))
            }
            5 => format!("select({}, {}, {})", self.mask(left), self.rackish(elem, right), self.any(elem, 0)),
            6 => {
                let condition = if self.chance(3) { self.expression(Ty::Flag, 1) } else { self.mask(left) };
                format!("(if {condition} then {} else {})", self.rackish(elem, right), self.any(elem, left))
            }
            n => {
                let sign = ["+", "-", "*"][n % 3];
                let (a, b) = (self.rackish(elem, left), self.any(elem, right));
                let swapped = self.chance(2);
                if swapped { format!("({b} {sign} {a})") } else { format!("({a} {sign} {b})") }
            }
        }
    }

    /// As [`Generator::rackish`], in parentheses where a sign before it would not be one of a negation.
    fn operand(&mut self, elem: Elem, budget: usize) -> String {
        format!("({})", self.rackish(elem, budget))
    }

    /// A rack, a uniform or a literal: whatever may stand beside a rack.
    fn any(&mut self, elem: Elem, budget: usize) -> String {
        match self.bits.below(8) {
            0 | 1 => self.literal(elem),
            2 => self.expression(Ty::Uniform(elem), budget.min(2)),
            _ => self.rackish(elem, budget),
        }
    }

    fn mask(&mut self, budget: usize) -> String {
        if budget == 0 {
            if self.chance(2)
                && let Some(name) = self.name(Ty::Mask)
            {
                return name;
            }
            let elem = self.elem();
            return self.comparison(elem, 0);
        }
        let left = self.bits.below(budget);
        let right = budget - 1 - left;
        match self.bits.below(8) {
            0 => format!("(not {})", self.mask(budget - 1)),
            1 | 2 => format!("({} and {})", self.mask(left), self.mask(right)),
            3 => format!("({} or {})", self.mask(left), self.mask(right)),
            4 if self.names.iter().any(|n| n.1 == Ty::Flag) => {
                format!("({} and {})", self.mask(budget - 1), self.expression(Ty::Flag, 0))
            }
            _ => {
                let elem = self.elem();
                self.comparison(elem, budget)
            }
        }
    }

    fn comparison(&mut self, elem: Elem, budget: usize) -> String {
        let sign = ["=", "!=", "<", "<=", ">", ">="][self.bits.below(6)];
        let (a, b) = (self.rackish(elem, budget / 2), self.any(elem, budget / 2));
        format!("({a} {sign} {b})")
    }

    fn expression(&mut self, ty: Ty, budget: usize) -> String {
        match ty {
            Ty::Rack(elem) => self.rackish(elem, budget),
            Ty::Mask => self.mask(budget),
            Ty::Uniform(elem) => self.uniform(elem, budget),
            Ty::Flag => {
                if budget == 0 || self.chance(3) {
                    return match self.name(Ty::Flag) {
                        Some(name) => name,
                        None => ["<true>", "<false>"][self.bits.below(2)].to_owned(),
                    };
                }
                match self.bits.below(4) {
                    0 => format!("(not {})", self.expression(Ty::Flag, 0)),
                    1 => format!("({} and {})", self.expression(Ty::Flag, 0), self.expression(Ty::Flag, 0)),
                    _ => {
                        // Beside a name a literal has the name's element, and alone its own.
                        let mut known =
                            Elem::ALL.into_iter().filter(|&e| self.names.iter().any(|n| n.1 == Ty::Uniform(e)));
                        let elem = known.next_back().unwrap_or(Elem::F32);
                        let sign = ["=", "!=", "<", "<=", ">", ">="][self.bits.below(6)];
                        format!("({} {sign} {})", self.uniform(elem, 0), self.uniform(elem, 0))
                    }
                }
            }
        }
    }

    fn uniform(&mut self, elem: Elem, budget: usize) -> String {
        if budget == 0 {
            return match self.name(Ty::Uniform(elem)) {
                Some(name) => name,
                None => format!("<{}>", self.literal(elem)),
            };
        }
        let sign = ["+", "-", "*"][self.bits.below(3)];
        format!("({} {sign} {})", self.uniform(elem, budget - 1), self.uniform(elem, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_program_and_another_seed_another() {
        assert_eq!(program(1, 8, true), program(1, 8, true));
        assert_ne!(program(1, 8, true), program(2, 8, true));
        assert!((0..50).all(|seed| !program(seed, 4, false).fma));
        assert!((0..50).any(|seed| program(seed, 4, true).fma));
    }

    #[test]
    fn every_form_comes() {
        let all: String = (0..200).map(|seed| program(seed, 3, true).text).collect();
        for form in ["  | ", "repeat", "select(", "if ", "sqrt(", "shift_bits_right_signed(", "fma(", "= f_0(", "let <"]
        {
            assert!(all.contains(form), "{form}");
        }
    }
}
