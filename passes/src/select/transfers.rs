//! Loads and stores. In the lanes of a mask by the machine's masked transfers where it has them; elsewhere the rest of a
//! column, of which a count is known, goes element by element, each guarded by the count, and a mask within whole racks
//! becomes a choice between new and old.
//!
//! ```text
//! %7 : f32s = load f32 %1, %2 if %6          %8 : v = zero
//!       where %6 is `in_range %5`            compare_long %5, 2
//!                                            if greater
//!                                              %9 : v = movss_load [%1 + %2*4 + 8]
//!                                     =>       %8 : v = copy %9
//!                                            end
//!                                            ...
//! ```

use super::build::{Builder, Site};
use super::rule::{Instance, Key, Rule, WordKey};
use super::words::{Compared, Done, Word};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::fused::Region;
use rake_ir::lane::{Stmt, Value, ValueId};
use rake_ir::machine::{Address, Class, Cond, Inst, MachOp, Operand};
use rake_ir::ops::{Imm, Op};
use rake_ir::selected::{Reg, RegInfo};
use rake_ir::span::Span;
use rake_ir::types::{Elem, Ty};
use smallvec::SmallVec;

/// The first elements of a rack in memory.
#[derive(Clone, Copy)]
struct Part {
    /// The element as memory holds it, and as a lane does.
    memory: Elem,
    elem: Elem,
    /// Where the rack begins.
    place: Address<Reg>,
    /// How many of its elements exist; more than a rack has counts as all, below zero as none.
    count: Reg,
}

impl Part {
    /// The place of one element.
    fn element(&self, lane: usize, site: &Site) -> Site {
        let disp = self.place.disp + lane as i32 * (self.memory.bits() as i32 / 8);
        Site { place: Some(Address { disp, ..self.place }), mask: None, ..site.clone() }
    }
}

impl Builder<'_> {
    fn memory(&self, id: ValueId) -> Done<Elem> {
        match self.source.values[id].imm {
            Imm::Memory(elem) => Ok(elem),
            _ => Err(Diagnostic::error(Code::Internal, self.source.values[id].span, "a transfer without an element")),
        }
    }

    pub(super) fn has(&self, key: Key, elem: Elem) -> bool {
        !matches!(self.target.rule(key, elem, self.profile), Rule::Unsupported(_))
    }

    /// A load or gather into a rack, or one element into every lane.
    pub(super) fn load(&mut self, id: ValueId, site: &Site) -> Done<Reg> {
        let value = &self.source.values[id];
        let (memory, elem) = (self.memory(id)?, value.ty.elem());
        if value.op == Op::Gather {
            return self.gather(id, memory, site);
        }
        let one = value.op == Op::LoadUniform;
        let place = self.place((value.args[0], value.args[1]), memory, one, site)?;
        let at = Site { place: Some(place), mask: None, ..site.clone() };
        let Some(mask) = value.mask else {
            let key = if value.op == Op::Load { Key::Load(memory) } else { Key::LoadSplat(memory) };
            if value.op == Op::Load && memory.bits() < elem.bits() {
                self.load_packed(id, memory, &at)?;
            }
            return self.by_rule(key, elem, &[], &at);
        };
        if self.has(Key::LoadWhere(memory), elem) {
            let mask = self.operand(Some(mask), site.span)?;
            return self.by_rule(Key::LoadWhere(memory), elem, &[mask], &at);
        }
        let count = self.rest(mask).ok_or_else(|| self.lacks(site.span, "a load under a mask"))?;
        let part = Part { memory, elem, place, count: self.count_reg(count, site)? };
        self.load_some(part, site)
    }

    /// The base of an access by indices, the indices, and the site of its transfer.
    fn indexed(&mut self, id: ValueId, site: &Site) -> Done<(Reg, Reg, Site)> {
        let value = &self.source.values[id];
        let base = self.reg_of(self.word(value.args[0])?, Ty::Address, site)?;
        let indices = self.operand(Some(value.args[1]), site.span)?;
        let place = Address { base, index: Some(indices), scale: 2, disp: 0 };
        Ok((base, indices, Site { place: Some(place), mask: None, ..site.clone() }))
    }

    /// A store of a rack's lanes to elements at indices.
    pub(super) fn scatter(&mut self, id: ValueId) -> Done<()> {
        let (site, value) = (self.at(id), &self.source.values[id]);
        let (memory, elem) = (self.memory(id)?, value.ty.elem());
        if value.mask.is_some() {
            return Err(self.lacks(site.span, "a scatter under a mask"));
        }
        let rack = self.operand(Some(value.args[2]), site.span)?;
        let (_, _, at) = self.indexed(id, &site)?;
        self.by_rule(Key::Scatter(memory), elem, &[rack], &at).map(|_| ())
    }

    fn gather(&mut self, id: ValueId, memory: Elem, site: &Site) -> Done<Reg> {
        let value = &self.source.values[id];
        let (base, indices, at) = self.indexed(id, site)?;
        let elem = value.ty.elem();
        let key = if value.mask.is_some() { Key::GatherWhere(memory) } else { Key::Gather(memory) };
        let mask = value.mask.map(|mask| self.operand(Some(mask), site.span)).transpose()?;
        if self.has(key, elem) {
            return self.by_rule(key, elem, mask.as_slice(), &at);
        }
        let site = Site { mask: None, ..site.clone() };
        match mask {
            _ if !self.has(Key::IndexLane(0), Elem::I32) => Err(self.lacks(site.span, "a gather")),
            None => {
                let column = self.column_of_indices(id, &site)?;
                self.gather_lanes(base, indices, (memory, elem), column, &site)
            }
            Some(mask) => self.gather_some(base, indices, mask, (memory, elem), &site),
        }
    }

    /// Where the indices of a gather stand in memory too, if that is so and one instruction makes a lane of them a word:
    /// they are a rack of a column, behind whose load nothing was stored and no body began or ended.
    fn column_of_indices(&mut self, gather: ValueId, site: &Site) -> Done<Option<Address<Reg>>> {
        let indices = self.source.values[gather].args[1];
        let value = &self.source.values[indices];
        let signed = value.ty == Ty::Rack(Elem::I32) && value.imm == Imm::Memory(Elem::I32);
        let one = self.target.word(WordKey::LoadIndex(Elem::I32), self.profile).is_some();
        if value.op != Op::Load || value.mask.is_some() || !signed || !one {
            return Ok(None);
        }
        let body = self.source.body.iter();
        let mut since = body.rev().skip_while(|stmt| !matches!(stmt, Stmt::Value(id) if *id == gather));
        let keeps = |op: Op| !op.has_effect() || op == Op::Check;
        let steady = |stmt: &&Stmt<Region>| match stmt {
            Stmt::Value(id) => *id != indices && keeps(self.source.values[*id].op),
            Stmt::Region(_) => true,
            _ => false,
        };
        let begins = since.find(|stmt| !steady(stmt));
        if !matches!(begins, Some(Stmt::Value(id)) if *id == indices) {
            return Ok(None);
        }
        self.place((value.args[0], value.args[1]), Elem::I32, true, site).map(Some)
    }

    /// A gather by a load for each lane; of indices that stand in memory too, each is loaded where it is needed.
    fn gather_lanes(
        &mut self,
        base: Reg,
        indices: Reg,
        (memory, elem): (Elem, Elem),
        column: Option<Address<Reg>>,
        site: &Site,
    ) -> Done<Reg> {
        let lanes = self.profile.lanes(elem);
        let joined = self.has(Key::FirstLanes, elem);
        let mut found: SmallVec<[Reg; 4]> = SmallVec::new();
        for lane in 0..lanes {
            let index = match (column, self.target.word(WordKey::LoadIndex(Elem::I32), self.profile)) {
                (Some(place), Some(row)) => {
                    let place = Address { disp: place.disp + lane as i32 * 4, ..place };
                    self.simple(row, &[Operand::Memory(place)], site)
                }
                _ => self.by_rule(Key::IndexLane(lane as u8), Elem::I32, &[indices], site)?,
            };
            let place = self.place_of(base, (Word::Reg(index), false), memory, true, site)?;
            let at = Site { place: Some(place), ..site.clone() };
            // What inserts a lane reads it in lane 0 or, where a machine has nothing shorter, in every lane.
            let first = joined || lane == 0 || {
                let imm = Imm::Int(lane as u32);
                self.target.reads_part(Key::Op(Op::Insert), &imm, self.profile, 1)
            };
            let key = if first { Key::LoadFirst(memory) } else { Key::LoadSplat(memory) };
            let one = self.by_rule(key, elem, &[], &at)?;
            match found.last_mut() {
                Some(others) if !joined => *others = self.insert(*others, one, (lane, lanes), elem, site)?,
                _ => found.push(one),
            }
        }
        match found[..] {
            [rack] => Ok(rack),
            _ => self.by_rule(Key::FirstLanes, elem, &found, site),
        }
    }

    /// The same in the lanes of a mask, zero elsewhere: the others load the first element, which is there if any is.
    fn gather_some(
        &mut self,
        base: Reg,
        indices: Reg,
        mask: Reg,
        (memory, elem): (Elem, Elem),
        site: &Site,
    ) -> Done<Reg> {
        let info = RegInfo { class: Class::V, name: site.name.clone(), span: site.span };
        let (found, copy) = (self.out.new_reg(info), self.copy_rack(site.span)?);
        let zero = self.lanes(&[0], site);
        self.set(copy, found, zero, site);
        let (compared, control) = (self.some_lane(mask, Cond::NotEqual, site)?, self.control(site.span)?);
        self.open(control.open_if, Some(compared), site);
        let safe = self.by_rule(Key::KeepWhere, Elem::I32, &[mask, indices], site)?;
        let all = self.gather_lanes(base, safe, (memory, elem), None, site)?;
        let some = self.by_rule(Key::KeepWhere, elem, &[mask, all], site)?;
        self.set(copy, found, some, site);
        self.end_guard(site)?;
        Ok(found)
    }

    /// A rack with lane 0 of another one in the place of one of its lanes.
    fn insert(&mut self, rack: Reg, one: Reg, (lane, lanes): (usize, usize), elem: Elem, site: &Site) -> Done<Reg> {
        let imm = Imm::Int(lane as u32);
        let instance = Instance { op: Op::Insert, imm: &imm, operands: 2, zeros: 0, lanes, profile: self.profile };
        let rule = self.target.rule(Key::Op(Op::Insert), elem, self.profile);
        self.sequence(rule, &[rack, one], Some(&instance), site)
            .map_err(|why| Diagnostic::error(Code::NotOnProfile, site.span, "a lane cannot be set").note(why))
    }

    /// The lanes below a count.
    pub(super) fn in_range(&mut self, id: ValueId, site: &Site) -> Done<Reg> {
        let count = self.word(self.source.values[id].args[0])?;
        let count = self.reg_of(count, Ty::LONG, site)?;
        let elem = match self.source.values[id].ty {
            Ty::Mask(32) => Elem::I32,
            _ => return Err(self.lacks(site.span, "a stack of other than 32-bit lanes")),
        };
        self.by_rule(Key::Op(Op::InRange), elem, &[count], site)
    }

    /// A store of a rack.
    pub(super) fn store(&mut self, id: ValueId) -> Done<()> {
        let (site, value) = (self.at(id), &self.source.values[id]);
        let (memory, elem) = (self.memory(id)?, value.ty.elem());
        let rack = self.operand(Some(value.args[2]), site.span)?;
        let place = self.place((value.args[0], value.args[1]), memory, false, &site)?;
        let at = Site { place: Some(place), ..site.clone() };
        let Some(mask) = value.mask else {
            return self.by_rule(Key::Store(memory), elem, &[rack], &at).map(|_| ());
        };
        let choice = self.operand(Some(mask), site.span)?;
        if self.has(Key::StoreWhere(memory), elem) {
            return self.by_rule(Key::StoreWhere(memory), elem, &[choice, rack], &at).map(|_| ());
        }
        // The others get what they have.
        let exact = self.source.values[mask].op == Op::InRange;
        let part = match self.rest(mask) {
            Some(count) => Some(Part { memory, elem, place, count: self.count_reg(count, &site)? }),
            None => None,
        };
        let mut chosen = rack;
        if !exact {
            let old = match part {
                None => self.by_rule(Key::Load(memory), elem, &[], &at)?,
                Some(part) => self.load_some(part, &site)?,
            };
            chosen = self.by_rule(Key::Op(Op::Select), elem, &[choice, rack, old], &site)?;
        }
        match part {
            None => self.by_rule(Key::Store(memory), elem, &[chosen], &at).map(|_| ()),
            Some(part) => self.store_some(part, chosen, &site),
        }
    }

    /// A store of selected lanes. A narrow column that is kept as it was moves as it stands in memory.
    pub(super) fn store_selected(&mut self, id: ValueId) -> Done<()> {
        let (site, value) = (self.at(id), &self.source.values[id]);
        let (memory, elem) = (self.memory(id)?, value.ty.elem());
        let place = self.place((value.args[0], value.args[1]), memory, false, &site)?;
        let at = Site { place: Some(place), ..site.clone() };
        let selection = self.operand(Some(value.args[3]), site.span)?;
        if let Some(&packed) = self.packed.get(&value.args[2]) {
            return self.by_rule(Key::StorePackedSelected(memory), elem, &[selection, packed], &at).map(|_| ());
        }
        let rack = self.operand(Some(value.args[2]), site.span)?;
        if self.has(Key::StoreSelected(memory), elem) {
            return self.by_rule(Key::StoreSelected(memory), elem, &[selection, rack], &at).map(|_| ());
        }
        let front = self.by_rule(Key::Op(Op::Compress), elem, &[selection, rack], &site)?;
        self.by_rule(Key::Store(memory), elem, &[front], &at).map(|_| ())
    }

    /// Loads a column as it stands in memory, where it is stored so too.
    fn load_packed(&mut self, id: ValueId, memory: Elem, at: &Site) -> Done<()> {
        let values = &self.source.values;
        let elem = values[id].ty.elem();
        let kept =
            |value: &Value| value.op == Op::StoreSelected && value.args[2] == id && value.imm == Imm::Memory(memory);
        let moves = self.has(Key::LoadPacked(memory), elem) && self.has(Key::StorePackedSelected(memory), elem);
        if moves && values.iter().any(|(_, value)| kept(value)) {
            let packed = self.by_rule(Key::LoadPacked(memory), elem, &[], at)?;
            self.packed.insert(id, packed);
        }
        Ok(())
    }

    /// The count below which the lanes of a mask are at most; the mask may hold in fewer.
    fn rest(&self, mask: ValueId) -> Option<ValueId> {
        let value = &self.source.values[mask];
        match value.op {
            Op::InRange => Some(value.args[0]),
            Op::And => value.args.iter().find_map(|&part| self.rest(part)),
            _ => None,
        }
    }

    /// Opens a body for counts above a number.
    fn guard(&mut self, count: Reg, above: usize, site: &Site) -> Done<()> {
        let control = self.control(site.span)?;
        let row = control.compare_long.ok_or_else(|| self.lacks(site.span, "a partial rack"))?;
        let (row, above) = self.number_or_reg(Word::Number(above as i64), Ty::LONG, row, site)?;
        let args = [Operand::Reg(count), above];
        self.open(control.open_if, Some(Compared { row, args, cond: Cond::Greater }), site);
        Ok(())
    }

    fn end_guard(&mut self, site: &Site) -> Done<()> {
        let end = self.control(site.span)?.end;
        self.close(end, None, site);
        Ok(())
    }

    fn otherwise(&mut self, site: &Site) -> Done<()> {
        let marker = self.control(site.span)?.otherwise;
        self.close(marker, None, site);
        self.scopes.push(Vec::new());
        Ok(())
    }

    fn count_reg(&mut self, count: ValueId, site: &Site) -> Done<Reg> {
        let word = self.word(count)?;
        self.reg_of(word, Ty::LONG, site)
    }

    /// Some elements of a rack. In a loop most racks are whole: those are loaded as such.
    fn load_some(&mut self, part: Part, site: &Site) -> Done<Reg> {
        if self.loops == 0 {
            return self.load_rest(part, site);
        }
        let info = RegInfo { class: Class::V, name: site.name.clone(), span: site.span };
        let (found, copy) = (self.out.new_reg(info), self.copy_rack(site.span)?);
        self.guard(part.count, self.profile.lanes(part.elem) - 1, site)?;
        let at = Site { place: Some(part.place), mask: None, ..site.clone() };
        let whole = self.by_rule(Key::Load(part.memory), part.elem, &[], &at)?;
        self.set(copy, found, whole, site);
        self.otherwise(site)?;
        let some = self.load_rest(part, site)?;
        self.set(copy, found, some, site);
        self.end_guard(site)?;
        Ok(found)
    }

    /// The same of a store.
    fn store_some(&mut self, part: Part, rack: Reg, site: &Site) -> Done<()> {
        if self.loops == 0 {
            return self.store_rest(part, rack, site);
        }
        self.guard(part.count, self.profile.lanes(part.elem) - 1, site)?;
        let at = Site { place: Some(part.place), mask: None, ..site.clone() };
        self.by_rule(Key::Store(part.memory), part.elem, &[rack], &at)?;
        self.otherwise(site)?;
        self.store_rest(part, rack, site)?;
        self.end_guard(site)
    }

    /// The elements below the count, from the last to the first: each moves those behind it away from the front.
    fn load_rest(&mut self, part: Part, site: &Site) -> Done<Reg> {
        let Part { memory, elem, .. } = part;
        let info = RegInfo { class: Class::V, name: site.name.clone(), span: site.span };
        let (packed, copy) = (self.out.new_reg(info), self.copy_rack(site.span)?);
        let zero = self.lanes(&[0], site);
        self.set(copy, packed, zero, site);
        let lanes = self.profile.lanes(elem);
        for lane in (0..lanes).rev() {
            self.guard(part.count, lane, site)?;
            let first = self.by_rule(Key::LoadFirst(memory), elem, &[], &part.element(lane, site))?;
            let next = match lane + 1 == lanes {
                true => first,
                false => {
                    let moved = self.by_rule(Key::MoveUp(memory), elem, &[packed], site)?;
                    self.by_rule(Key::Op(Op::BitOr), Elem::I32, &[moved, first], site)?
                }
            };
            self.set(copy, packed, next, site);
            self.end_guard(site)?;
        }
        match memory.bits() == elem.bits() {
            true => Ok(packed),
            false => self.by_rule(Key::Unpack(memory), elem, &[packed], site),
        }
    }

    /// The elements below the count.
    fn store_rest(&mut self, part: Part, rack: Reg, site: &Site) -> Done<()> {
        let Part { memory, elem, .. } = part;
        let mut packed = rack;
        if memory.bits() != elem.bits() {
            packed = self.by_rule(Key::Pack(memory), elem, &[rack], site)?;
        }
        let lanes = self.profile.lanes(elem);
        for lane in 0..lanes {
            // Who has no element before has none here.
            self.guard(part.count, lane, site)?;
            if lane > 0 {
                packed = self.by_rule(Key::MoveDown(memory), elem, &[packed], site)?;
            }
            self.by_rule(Key::StoreFirst(memory), elem, &[packed], &part.element(lane, site))?;
        }
        (0..lanes).try_for_each(|_| self.end_guard(site))
    }

    fn copy_rack(&self, span: Span) -> Done<MachOp> {
        self.idioms.copy(Class::V).ok_or_else(|| self.lacks(span, "the last records of a stack"))
    }

    /// Sets a register that may have been set before.
    pub(super) fn set(&mut self, copy: MachOp, to: Reg, from: Reg, site: &Site) {
        let args = [Operand::Reg(from)].into_iter().collect();
        let inst = Inst { op: copy, dst: Some(to), args, imm: None, region: None, span: site.span };
        self.out.insts.push(inst);
    }
}
