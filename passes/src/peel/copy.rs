//! Copies of a traverse's body: for a whole rack, or for the rest under its mask.
//!
//! ```text
//! %6 : f32s = sqrt %5          =>     %19 : f32s = sqrt %18 if %17
//! ```

use super::Stmts;
use la_arena::Arena;
use rake_ir::fused::Region;
use rake_ir::lane::{Args, Stmt, Value, ValueId};
use rake_ir::ops::{Imm, Op};
use rake_ir::types::Ty;
use std::collections::{BTreeMap, HashMap};

/// The lanes of a partial rack.
#[derive(Clone, Copy)]
pub(super) struct Rest {
    /// Those that exist.
    pub mask: ValueId,
    /// How wide they are.
    pub bits: u32,
}

/// What a body's values are in one copy of it.
pub(super) struct Copier {
    map: HashMap<ValueId, ValueId>,
    rest: Option<Rest>,
    /// The masks that hold in every lane; nothing but masks and choices between racks reads them.
    all: Vec<ValueId>,
    /// The masks that were narrowed to the rest's lanes.
    narrowed: BTreeMap<ValueId, ValueId>,
}

impl Copier {
    /// A copy in which the index and the carries are these.
    pub fn new(index: ValueId, first: ValueId, carries: &[ValueId], are: &[ValueId], rest: Option<Rest>) -> Copier {
        let mut copier = Copier { map: HashMap::new(), rest, all: Vec::new(), narrowed: BTreeMap::new() };
        copier.replace(carries, are);
        copier.map.insert(index, first);
        copier
    }

    /// A copy for lanes that all exist.
    pub fn whole(mut self, all: &[ValueId]) -> Copier {
        self.all.extend(all);
        self
    }

    /// Gives the carries other values.
    pub fn replace(&mut self, carries: &[ValueId], are: &[ValueId]) {
        self.map.extend(carries.iter().copied().zip(are.iter().copied()));
    }

    /// What the carries are behind the copy.
    pub fn next(&self, carries: &[ValueId], next: &HashMap<ValueId, ValueId>) -> Vec<ValueId> {
        carries.iter().map(|carry| self.now(*next.get(carry).unwrap_or(carry))).collect()
    }

    /// What a value is in the copy.
    pub fn now(&self, id: ValueId) -> ValueId {
        self.map.get(&id).copied().unwrap_or(id)
    }

    /// Copies a statement to the end of a list.
    pub fn stmts(&mut self, values: &mut Arena<Value>, stmt: &Stmt<Region>, out: &mut Stmts) {
        match stmt {
            Stmt::Value(id) if self.all.contains(id) => {}
            Stmt::Value(id) if values[*id].op == Op::If && self.all.contains(&values[*id].args[0]) => {
                self.map.insert(*id, self.now(values[*id].args[1]));
            }
            Stmt::Value(id) => {
                self.selections(values, *id, out);
                self.narrow(values, *id, out);
                match values[*id].op {
                    Op::StoreSelected => self.store_selected(values, *id, out),
                    _ => out.push(Stmt::Value(self.value(values, *id))),
                }
            }
            Stmt::Region(region) => {
                let mut copies = Vec::with_capacity(region.values.len());
                for &id in &region.values {
                    // A mask that the region computes is narrowed behind it.
                    if values[id].mask.is_some_and(|mask| region.values.contains(&mask)) {
                        let mut narrowed = Stmts::new();
                        self.narrow(values, id, &mut narrowed);
                        copies.extend(narrowed.iter().filter_map(|stmt| match stmt {
                            Stmt::Value(id) => Some(*id),
                            _ => None,
                        }));
                    } else {
                        self.narrow(values, id, out);
                    }
                    copies.push(self.value(values, id));
                }
                out.push(Stmt::Region(self.region(region, copies)));
            }
            marker => out.extend(marker.renamed(|id| self.now(id))),
        }
    }

    fn region(&self, region: &Region, values: Vec<ValueId>) -> Region {
        let exact = region.exact.iter().map(|(id, number)| (self.now(*id), number.clone())).collect();
        Region { values, exact, proof: None }
    }

    /// What a selection says of lanes that do not exist is nothing.
    fn selections(&mut self, values: &mut Arena<Value>, id: ValueId, out: &mut Stmts) {
        let operand = match values[id].op {
            Op::StoreSelected => 3,
            Op::CountTrue => 0,
            _ => return,
        };
        let (Some(rest), Some(&selection)) = (self.rest, values[id].args.get(operand)) else { return };
        if values[selection].ty == Ty::Mask(rest.bits) && self.now(selection) != rest.mask {
            let narrowed = self.both(values, self.now(selection), rest, out);
            self.map.insert(selection, narrowed);
        }
    }

    /// Whole racks may be stored behind what was kept. Of the rest: the selected lanes at the front of a rack, of which
    /// only those are stored.
    fn store_selected(&mut self, values: &mut Arena<Value>, id: ValueId, out: &mut Stmts) {
        let value = values[id].clone();
        let args: Vec<ValueId> = value.args.iter().map(|&arg| self.now(arg)).collect();
        let [address, index, rack, selection] = args[..] else { return };
        let Some(rest) = self.rest else {
            let stored = values.alloc(Value { args: Args::from_slice(&args), ..value });
            self.map.insert(id, stored);
            out.push(Stmt::Value(stored));
            return;
        };
        let computed = values[rack].mask.unwrap_or(rest.mask);
        let like = |op: Op, imm: Imm, args: &[ValueId], ty: Ty, mask: Option<ValueId>| {
            let (args, span, name) = (Args::from_slice(args), value.span, None);
            Value { op, imm, args, ty, mask, inactive: None, span, name }
        };
        let mut push = |value: Value| {
            let id = values.alloc(value);
            out.push(Stmt::Value(id));
            id
        };
        // Moving lanes reads all of them; a replaced column has a value where it is selected.
        let zero = push(like(Op::Const, Imm::Bits(0), &[], value.ty, None));
        let rack = push(like(Op::Select, Imm::None, &[computed, rack, zero], value.ty, None));
        let packed = push(like(Op::Compress, Imm::None, &[selection, rack], value.ty, None));
        let count = push(like(Op::CountTrue, Imm::None, &[selection], Ty::LONG, None));
        let mask = push(like(Op::InRange, Imm::None, &[count], value.ty.truth(), None));
        let stored = push(like(Op::Store, value.imm.clone(), &[address, index, packed], value.ty, Some(mask)));
        self.map.insert(id, stored);
    }

    /// Has the conjunction of a value's own mask and the rest's written.
    fn narrow(&mut self, values: &mut Arena<Value>, id: ValueId, out: &mut Stmts) {
        if let (Some(rest), Some(mask)) = (self.rest, values[id].mask) {
            self.both(values, self.now(mask), rest, out);
        }
    }

    fn both(&mut self, values: &mut Arena<Value>, mask: ValueId, rest: Rest, out: &mut Stmts) -> ValueId {
        if let Some(&made) = self.narrowed.get(&mask) {
            return made;
        }
        if self.narrowed.values().any(|&made| made == mask) || values[mask].ty != Ty::Mask(rest.bits) {
            return mask;
        }
        let (span, ty) = (values[mask].span, values[mask].ty);
        let args = Args::from_slice(&[mask, rest.mask]);
        let (imm, name) = (Imm::None, None);
        let made = values.alloc(Value { op: Op::And, imm, args, ty, mask: None, inactive: None, span, name });
        out.push(Stmt::Value(made));
        self.narrowed.insert(mask, made);
        made
    }

    fn value(&mut self, values: &mut Arena<Value>, id: ValueId) -> ValueId {
        let mut value = values[id].clone();
        value.args.iter_mut().for_each(|arg| *arg = self.now(*arg));
        if value.mask.is_some_and(|mask| self.all.contains(&mask)) {
            (value.mask, value.inactive) = (None, None);
        }
        value.mask = value.mask.map(|mask| self.now(mask));
        if let Some(rest) = self.rest
            && value.ty.lane_bits() == Some(rest.bits)
        {
            value.mask = Some(match value.mask {
                None => rest.mask,
                Some(mask) => self.narrowed.get(&mask).copied().unwrap_or(mask),
            });
            if matches!(value.op, Op::Load | Op::Gather) {
                value.inactive = Some(0);
            }
        }
        let copy = values.alloc(value);
        self.map.insert(id, copy);
        copy
    }
}

/// Copies a statement once for each rack in flight; a region's twins stand in one.
pub(super) fn together(copiers: &mut [Copier], values: &mut Arena<Value>, stmt: &Stmt<Region>, out: &mut Stmts) {
    let Stmt::Region(region) = stmt else {
        copiers.iter_mut().for_each(|copier| copier.stmts(values, stmt, out));
        return;
    };
    let mut merged = Region { values: Vec::new(), exact: Vec::new(), proof: None };
    for &id in &region.values {
        merged.values.extend(copiers.iter_mut().map(|copier| copier.value(values, id)));
    }
    for copier in copiers {
        merged.exact.extend(region.exact.iter().map(|(id, number)| (copier.now(*id), number.clone())));
    }
    out.push(Stmt::Region(merged));
}
