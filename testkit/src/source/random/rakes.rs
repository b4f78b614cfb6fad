//! Rakes: tines, through blocks and a sweep that covers every lane and whose arms all have lanes.

use super::{Callee, Elem, Generator, Program, Ty};
use crate::special::Bits;
use std::fmt::Write;

/// A program of `functions` rakes named `f_0`, `f_1`, ...; the same for the same arguments, for ever.
pub fn rakes(seed: u64, functions: usize, fma: bool) -> Program {
    let mut generator = Generator { bits: Bits::new(seed), fma, names: Vec::new(), fresh: 0, callees: Vec::new() };
    let mut text = String::new();
    for index in 0..functions {
        generator.rake(&mut text, index);
    }
    Program::new(format!("random rakes {seed}"), text)
}

/// What a through block gives.
struct Block {
    name: String,
    ty: Ty,
    /// The tine under which alone it has a value.
    tine: Option<String>,
}

impl Generator {
    fn rake(&mut self, text: &mut String, index: usize) {
        let name = format!("f_{index}");
        let params = self.params();
        self.names = params.iter().map(|&ty| (String::new(), ty)).collect();
        let result = self.value_type();
        self.declare("rake", text, &name, &params, result);
        for _ in 0..self.bits.below(3) {
            self.statement(text);
        }
        let tines: Vec<String> = (0..1 + self.bits.below(3)).map(|_| self.tine(text)).collect();
        let blocks: Vec<Block> = (0..self.bits.below(3)).map(|_| self.through(text, &tines)).collect();
        let known = self.names.len();
        self.names.extend(blocks.iter().filter(|b| b.tine.is_none()).map(|b| (b.name.clone(), b.ty)));
        let _ = writeln!(text, "  sweep:");
        for tine in &tines {
            let places = self.names.len();
            let partial = blocks.iter().filter(|block| block.tine.as_ref() == Some(tine));
            self.names.extend(partial.map(|block| (block.name.clone(), block.ty)));
            let budget = self.bits.below(4);
            let value = self.expression(result, budget);
            self.names.truncate(places);
            let _ = writeln!(text, "    | #{tine} => {value}");
        }
        if self.chance(2) {
            let (predicate, value) = (self.atom(), self.expression(result, 1));
            let _ = writeln!(text, "    | {predicate} gaps => {value}");
        }
        let value = self.expression(result, 1);
        let _ = writeln!(text, "    | _ => {value}\n");
        self.names.truncate(known);
        if self.callees.len() < 3 {
            self.callees.push(Callee { name, params, result });
        }
    }

    /// A comparison that stands nowhere else, so that no other predicate decides it.
    fn atom(&mut self) -> String {
        let elem = self.elem();
        let rack = self.rackish(elem, 0);
        self.fresh += 1;
        let literal = match elem {
            Elem::F32 => format!("{}.5", 300 + self.fresh),
            _ => (300 + self.fresh).to_string(),
        };
        let sign = ["=", "!=", "<", "<=", ">", ">="][self.bits.below(6)];
        format!("({rack} {sign} {literal})")
    }

    fn tine(&mut self, text: &mut String) -> String {
        let name = self.fresh('t');
        let (a, b) = (self.atom(), self.atom());
        let predicate = match self.bits.below(5) {
            0 => a,
            1 => format!("not {a}"),
            2 => format!("{a} gaps"),
            3 => format!("{a} and {b}"),
            _ => format!("{a} or {b}"),
        };
        let _ = writeln!(text, "  tine #{name} means {predicate}");
        name
    }

    fn through(&mut self, text: &mut String, tines: &[String]) -> Block {
        let (name, elem) = (self.fresh('r'), self.elem());
        let tine = tines[self.bits.below(tines.len())].clone();
        let complete = self.chance(2);
        let otherwise = match complete {
            true => format!(" else {}", self.uniform(elem, 0)),
            false => String::new(),
        };
        let _ = writeln!(text, "  through #{tine}{otherwise} into {name}:");
        let known = self.names.len();
        let mut body = String::new();
        for _ in 0..self.bits.below(3) {
            match self.bits.below(3) {
                0 => self.region(&mut body),
                1 => self.repeat(&mut body),
                _ => {
                    let (local, value) = (self.fresh('v'), self.rackish(elem, 2));
                    let _ = writeln!(body, "  let {local} = {value}");
                    self.names.push((local, Ty::Rack(elem)));
                }
            }
        }
        let budget = 1 + self.bits.below(4);
        let value = self.rackish(elem, budget);
        self.names.truncate(known);
        for line in body.lines() {
            let _ = writeln!(text, "  {line}");
        }
        let _ = writeln!(text, "    {value}");
        Block { name, ty: Ty::Rack(elem), tine: (!complete).then_some(tine) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_rake_comes() {
        assert_eq!(rakes(1, 8, true), rakes(1, 8, true));
        let all: String = (0..200).map(|seed| rakes(seed, 3, false).text).collect();
        for form in ["rake f_0", "tine #", "gaps =>", "gaps\n", " else ", "sweep:", "    | _ =>", "    | s", "= f_0("] {
            assert!(all.contains(form), "{form}");
        }
    }
}
