//! Masks as formulas: which comparisons are one atom, and what each mask says of them.
//!
//! Equal pure expressions have one number, wherever they are written, racks and uniforms alike; outside the lanes in
//! which one is computed nobody reads it, so masks do not tell numbers apart. A comparison is an atom of its operands'
//! numbers: `a < b` and `b > a` are one. On integers `a >= b` is `not (a < b)`, `a <= b` is `not (b < a)` and `a != b` is
//! `not (a = b)`; on floats no two different comparisons are complements, since a NaN is in neither. `and`, `or`, `not`
//! and choices between masks are formulas; every other truth is an atom by its number. Atoms are numbered in the order of
//! their first use.

use super::bdd::{Bdd, Decided, FALSE, Formula, TRUE};
use la_arena::{Arena, RawIdx};
use rake_ir::lane::{Value, ValueId};
use rake_ir::limits::MASK_STEPS;
use rake_ir::ops::{Imm, Op};
use rake_ir::types::{Elem, Ty};
use smallvec::SmallVec;
use std::collections::HashMap;

/// What makes two expressions equal.
type Key = (Op, Imm, SmallVec<[u32; 3]>, Elem);

/// What a formula is made of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Atom {
    /// A comparison of two numbered values.
    Compare(Op, u32, u32),
    /// Any other truth.
    Opaque(u32),
}

/// What is known of a function's masks.
pub struct Logic {
    /// Whether the function asks for proofs; without them nothing here is computed.
    pub on: bool,
    /// The diagrams.
    pub bdd: Bdd,
    numbers: Vec<u32>,
    /// How many numbers there are.
    next: u32,
    keys: HashMap<Key, u32>,
    atoms: HashMap<Atom, u32>,
    formulas: HashMap<ValueId, Formula>,
    known: HashMap<(Ty, Formula), ValueId>,
}

impl Default for Logic {
    fn default() -> Logic {
        Logic {
            on: false,
            bdd: Bdd::new(MASK_STEPS),
            numbers: Vec::new(),
            next: 0,
            keys: HashMap::new(),
            atoms: HashMap::new(),
            formulas: HashMap::new(),
            known: HashMap::new(),
        }
    }
}

impl Logic {
    /// The formula of a truth.
    ///
    /// # Errors
    /// The counted limit was met.
    pub fn formula(&mut self, values: &Arena<Value>, id: ValueId) -> Decided {
        let mut stack = vec![id];
        while let Some(&id) = stack.last() {
            if self.formulas.contains_key(&id) {
                stack.pop();
                continue;
            }
            let value = &values[id];
            let operands = operands(values, value);
            let before = stack.len();
            stack.extend(operands.iter().rev().filter(|arg| !self.formulas.contains_key(arg)));
            if stack.len() > before {
                continue;
            }
            let parts: SmallVec<[Formula; 3]> = operands.iter().map(|arg| self.formulas[arg]).collect();
            let formula = match (value.op, &parts[..]) {
                (Op::Not, &[f]) => self.bdd.not(f)?,
                (Op::And, &[f, g]) => self.bdd.and(f, g)?,
                (Op::Or, &[f, g]) => self.bdd.or(f, g)?,
                (Op::If | Op::Select, &[f, g, h]) => self.bdd.ite(f, g, h)?,
                (Op::Splat, &[f]) => f,
                _ => self.atom(values, id)?,
            };
            self.formulas.insert(id, formula);
        }
        Ok(self.formulas[&id])
    }

    /// The formula of a truth that is no combination of others.
    fn atom(&mut self, values: &Arena<Value>, id: ValueId) -> Decided {
        let value = &values[id];
        if let (Op::Const, Imm::Bits(bits)) = (value.op, &value.imm) {
            return Ok(if bits & 1 == 1 { TRUE } else { FALSE });
        }
        let own = self.number(values, id);
        let (op, &[a, b]) = (value.op, &value.args[..]) else { return Ok(self.numbered(Atom::Opaque(own))) };
        let integers = values[a].ty.elem().is_int();
        let (a, b) = (self.number(values, a), self.number(values, b));
        let unordered = |op| Atom::Compare(op, a.min(b), a.max(b));
        let (atom, complement) = match op {
            Op::Lt => (Atom::Compare(Op::Lt, a, b), false),
            Op::Gt => (Atom::Compare(Op::Lt, b, a), false),
            Op::Ge if integers => (Atom::Compare(Op::Lt, a, b), true),
            Op::Le if integers => (Atom::Compare(Op::Lt, b, a), true),
            Op::Le => (Atom::Compare(Op::Le, a, b), false),
            Op::Ge => (Atom::Compare(Op::Le, b, a), false),
            Op::Eq => (unordered(Op::Eq), false),
            Op::Ne if integers => (unordered(Op::Eq), true),
            Op::Ne => (unordered(Op::Ne), false),
            _ => (Atom::Opaque(own), false),
        };
        let formula = self.numbered(atom);
        if complement { self.bdd.not(formula) } else { Ok(formula) }
    }

    fn numbered(&mut self, atom: Atom) -> Formula {
        let next = self.atoms.len() as u32;
        let atom = *self.atoms.entry(atom).or_insert(next);
        self.bdd.atom(atom)
    }

    /// The number that a value shares with every equal one. Operands stand before their users in the arena.
    fn number(&mut self, values: &Arena<Value>, id: ValueId) -> u32 {
        let index = id.into_raw().into_u32();
        for at in self.numbers.len() as u32..=index {
            let value = &values[ValueId::from_raw(RawIdx::from_u32(at))];
            let args: SmallVec<[u32; 3]> = value.args.iter().map(|arg| self.numbers[super::index(*arg)]).collect();
            let number = match value.op {
                // In each lane a broadcast is its uniform.
                Op::Splat => args[0],
                op => {
                    let op = if op == Op::Select { Op::If } else { op };
                    let fresh = self.next;
                    let number = match op.depends_on_place() {
                        true => fresh,
                        false => *self.keys.entry((op, value.imm.clone(), args, value.ty.elem())).or_insert(fresh),
                    };
                    self.next += u32::from(number == fresh);
                    number
                }
            };
            self.numbers.push(number);
        }
        self.numbers[index as usize]
    }

    /// The numbers of two operands, the lesser first, once they have been asked for.
    pub fn pair(&self, value: &Value) -> Option<(u32, u32)> {
        let &[a, b] = &value.args[..] else { return None };
        let (a, b) = (self.numbers.get(super::index(a))?, self.numbers.get(super::index(b))?);
        Some((*a.min(b), *a.max(b)))
    }

    /// A value that stands for `id` from here on: the first of its type that is the same mask in every lane. `id`
    /// becomes that value when there is none and it may be read anywhere.
    pub fn canonical(&mut self, values: &Arena<Value>, id: ValueId, in_region: bool) -> ValueId {
        let ty = values[id].ty;
        match self.formula(values, id) {
            Ok(formula) => self.known(ty, formula).unwrap_or_else(|| {
                if !in_region && values[id].mask.is_none() {
                    self.known.insert((ty, formula), id);
                }
                id
            }),
            Err(_) => id,
        }
    }

    /// Forgets the masks made from this number on: the body that computes them ends.
    pub fn forget(&mut self, before: usize) {
        self.known.retain(|_, id| super::index(*id) < before);
    }

    /// A value of type `ty` that is this mask in every lane, computed outside regions.
    pub fn known(&self, ty: Ty, formula: Formula) -> Option<ValueId> {
        self.known.get(&(ty, formula)).copied()
    }
}

/// The truths that a truth combines; none when it is an atom.
pub fn operands<'a>(values: &Arena<Value>, value: &'a Value) -> &'a [ValueId] {
    match value.op {
        Op::Not | Op::And | Op::Or | Op::Splat | Op::If | Op::Select
            if value.ty.is_truth() && value.args.iter().all(|&arg| values[arg].ty.is_truth()) =>
        {
            &value.args
        }
        _ => &[],
    }
}
