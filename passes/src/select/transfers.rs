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
use super::index;
use super::rule::{Key, Rule};
use super::words::Word;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::{Param, ValueId};
use rake_ir::machine::{Address, Class, Cond, Operand};
use rake_ir::ops::{Imm, Op};
use rake_ir::selected::{Reg, RegInfo};
use rake_ir::span::Span;
use rake_ir::types::{Elem, Pointee, Ty};
use smallvec::SmallVec;

type Done<T> = Result<T, Diagnostic>;

impl Builder<'_> {
    fn memory(&self, id: ValueId) -> Done<Elem> {
        match self.source.values[id].imm {
            Imm::Memory(elem) => Ok(elem),
            _ => Err(Diagnostic::error(Code::Internal, self.source.values[id].span, "a transfer without an element")),
        }
    }

    fn has(&self, key: Key, elem: Elem) -> bool {
        !matches!(self.target.rule(key, elem, self.profile), Rule::Unsupported(_))
    }

    /// A load or gather into a rack, or one element into every lane.
    pub(super) fn load(&mut self, id: ValueId, site: &Site) -> Done<Reg> {
        let value = &self.source.values[id];
        let (memory, elem) = (self.memory(id)?, value.ty.elem());
        if value.op == Op::Gather {
            return self.gather(id, memory, site);
        }
        let place = self.place(value.args[0], value.args[1], memory, site)?;
        let at = Site { place: Some(place), mask: None, ..site.clone() };
        let Some(mask) = value.mask else {
            let key = if value.op == Op::Load { Key::Load(memory) } else { Key::LoadSplat(memory) };
            return self.by_rule(key, elem, &[], &at);
        };
        if self.has(Key::LoadWhere(memory), elem) {
            let mask = self.operand(Some(mask), site.span)?;
            return self.by_rule(Key::LoadWhere(memory), elem, &[mask], &at);
        }
        let rest = self.rest(mask).ok_or_else(|| self.lacks(site.span, "a load under a mask"))?;
        self.load_some(memory, elem, place, rest, site)
    }

    fn gather(&mut self, id: ValueId, memory: Elem, site: &Site) -> Done<Reg> {
        let value = &self.source.values[id];
        let base = self.reg_of(self.word(value.args[0])?, site)?;
        let indices = self.operand(Some(value.args[1]), site.span)?;
        let place = Address { base, index: Some(indices), scale: 2, disp: 0 };
        let at = Site { place: Some(place), mask: None, ..site.clone() };
        let elem = value.ty.elem();
        let key = if value.mask.is_some() { Key::GatherWhere(memory) } else { Key::Gather(memory) };
        if !self.has(key, elem) {
            return Err(self.lacks(site.span, "a gather"));
        }
        match value.mask {
            None => self.by_rule(Key::Gather(memory), elem, &[], &at),
            Some(mask) => {
                let mask = self.operand(Some(mask), site.span)?;
                self.by_rule(Key::GatherWhere(memory), elem, &[mask], &at)
            }
        }
    }

    /// The lanes below a count.
    pub(super) fn in_range(&mut self, id: ValueId, site: &Site) -> Done<Reg> {
        let count = self.word(self.source.values[id].args[0])?;
        let count = self.reg_of(count, site)?;
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
        let place = self.place(value.args[0], value.args[1], memory, &site)?;
        let at = Site { place: Some(place), ..site.clone() };
        let Some(mask) = value.mask else {
            return self.by_rule(Key::Store(memory), elem, &[rack], &at).map(|_| ());
        };
        let choice = self.operand(Some(mask), site.span)?;
        if self.has(Key::StoreWhere(memory), elem) {
            return self.by_rule(Key::StoreWhere(memory), elem, &[choice, rack], &at).map(|_| ());
        }
        // The others get what they have.
        let rest = self.rest(mask);
        let whole = rest.is_some() && self.source.values[mask].op == Op::InRange;
        let chosen = match (whole, rest) {
            (true, _) => rack,
            (false, rest) => {
                let old = match rest {
                    None => self.by_rule(Key::Load(memory), elem, &[], &at)?,
                    Some(rest) => self.load_some(memory, elem, place, rest, &site)?,
                };
                self.by_rule(Key::Op(Op::Select), elem, &[choice, rack, old], &site)?
            }
        };
        match rest {
            None => self.by_rule(Key::Store(memory), elem, &[chosen], &at).map(|_| ()),
            Some(rest) => self.store_some(memory, elem, chosen, place, rest, &site),
        }
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

    fn guard(&mut self, count: Reg, above: usize, site: &Site) -> Done<()> {
        let control = self.control(site.span)?;
        let compare = control.compare_long.ok_or_else(|| self.lacks(site.span, "the last records of a stack"))?;
        self.simple(compare, &[Operand::Reg(count), Operand::Number(above as i32)], site);
        self.emit(control.open_if, SmallVec::new(), Some(Cond::Greater as u8), None, site);
        self.scopes.push(Vec::new());
        Ok(())
    }

    fn end_guard(&mut self, site: &Site) -> Done<()> {
        let end = self.control(site.span)?.end;
        self.emit(end, SmallVec::new(), None, None, site);
        for key in self.scopes.pop().into_iter().flatten() {
            self.done.remove(&key);
        }
        Ok(())
    }

    pub(super) fn count_reg(&mut self, count: ValueId, site: &Site) -> Done<Reg> {
        let word = self.word(count)?;
        self.reg_of(word, site)
    }

    /// The elements below a count. In a loop most racks are whole: those are loaded as such.
    fn load_some(&mut self, memory: Elem, elem: Elem, place: Address<Reg>, rest: ValueId, site: &Site) -> Done<Reg> {
        if self.loops == 0 {
            return self.load_rest(memory, elem, place, rest, site);
        }
        let info = RegInfo { class: Class::V, name: site.name.clone(), span: site.span };
        let (found, copy) = (self.out.new_reg(info), self.copy_rack(site.span)?);
        let count = self.count_reg(rest, site)?;
        self.guard(count, self.profile.lanes(elem) - 1, site)?;
        let at = Site { place: Some(place), mask: None, ..site.clone() };
        let whole = self.by_rule(Key::Load(memory), elem, &[], &at)?;
        self.set(copy, found, whole, site);
        self.otherwise(site)?;
        let some = self.load_rest(memory, elem, place, rest, site)?;
        self.set(copy, found, some, site);
        self.end_guard(site)?;
        Ok(found)
    }

    /// The same of a store.
    fn store_some(
        &mut self,
        memory: Elem,
        elem: Elem,
        rack: Reg,
        place: Address<Reg>,
        rest: ValueId,
        site: &Site,
    ) -> Done<()> {
        if self.loops == 0 {
            return self.store_rest(memory, elem, rack, place, rest, site);
        }
        let count = self.count_reg(rest, site)?;
        self.guard(count, self.profile.lanes(elem) - 1, site)?;
        let at = Site { place: Some(place), mask: None, ..site.clone() };
        self.by_rule(Key::Store(memory), elem, &[rack], &at)?;
        self.otherwise(site)?;
        self.store_rest(memory, elem, rack, place, rest, site)?;
        self.end_guard(site)
    }

    fn otherwise(&mut self, site: &Site) -> Done<()> {
        let marker = self.control(site.span)?.otherwise;
        self.emit(marker, SmallVec::new(), None, None, site);
        for key in self.scopes.pop().into_iter().flatten() {
            self.done.remove(&key);
        }
        self.scopes.push(Vec::new());
        Ok(())
    }

    /// The elements below a count, from the last to the first: each moves those behind it away from the front.
    fn load_rest(&mut self, memory: Elem, elem: Elem, place: Address<Reg>, rest: ValueId, site: &Site) -> Done<Reg> {
        let count = self.count_reg(rest, site)?;
        let lanes = self.profile.lanes(elem);
        // The rest of a stack is entered when there is a record; a tail form of a general run may have no element.
        let is_stack = |param: &Param| matches!(param.points_to, Some(Pointee::Stack { .. }));
        let rest_has_records = self.source.params.iter().any(is_stack);
        let bytes = memory.bits() as i32 / 8;
        let info = RegInfo { class: Class::V, name: site.name.clone(), span: site.span };
        let packed = self.out.new_reg(info);
        let zero = self.lanes(&[0], site);
        let copy = self.copy_rack(site.span)?;
        self.set(copy, packed, zero, site);
        for lane in (0..lanes).rev() {
            let element = Address { disp: place.disp + lane as i32 * bytes, ..place };
            let at = Site { place: Some(element), mask: None, ..site.clone() };
            let guarded = lane > 0 || !rest_has_records;
            if guarded {
                self.guard(count, lane, site)?;
            }
            let first = self.by_rule(Key::LoadFirst(memory), elem, &[], &at)?;
            let next = match lane + 1 == lanes {
                true => first,
                false => {
                    let moved = self.by_rule(Key::MoveUp(memory), elem, &[packed], site)?;
                    self.by_rule(Key::Op(Op::BitOr), Elem::I32, &[moved, first], site)?
                }
            };
            if !guarded {
                return self.unpacked(memory, elem, next, site);
            }
            self.set(copy, packed, next, site);
            self.end_guard(site)?;
        }
        self.unpacked(memory, elem, packed, site)
    }

    fn unpacked(&mut self, memory: Elem, elem: Elem, packed: Reg, site: &Site) -> Done<Reg> {
        if memory.bits() == elem.bits() {
            return Ok(packed);
        }
        self.by_rule(Key::Unpack(memory), elem, &[packed], site)
    }

    /// The elements below a count.
    fn store_rest(
        &mut self,
        memory: Elem,
        elem: Elem,
        rack: Reg,
        place: Address<Reg>,
        rest: ValueId,
        site: &Site,
    ) -> Done<()> {
        let count = self.count_reg(rest, site)?;
        let mut packed = rack;
        if memory.bits() != elem.bits() {
            packed = self.by_rule(Key::Pack(memory), elem, &[rack], site)?;
        }
        let bytes = memory.bits() as i32 / 8;
        let mut open = 0;
        for lane in 0..self.profile.lanes(elem) {
            let element = Address { disp: place.disp + lane as i32 * bytes, ..place };
            let at = Site { place: Some(element), mask: None, ..site.clone() };
            // Who has no element before has none here.
            self.guard(count, lane, site)?;
            open += 1;
            if lane > 0 {
                packed = self.by_rule(Key::MoveDown(memory), elem, &[packed], site)?;
            }
            self.by_rule(Key::StoreFirst(memory), elem, &[packed], &at)?;
        }
        (0..open).try_for_each(|_| self.end_guard(site))
    }

    fn copy_rack(&self, span: Span) -> Done<rake_ir::machine::MachOp> {
        self.idioms.copy(Class::V).ok_or_else(|| self.lacks(span, "the last records of a stack"))
    }

    /// Sets a register that may have been set before.
    pub(super) fn set(&mut self, copy: rake_ir::machine::MachOp, to: Reg, from: Reg, site: &Site) {
        let args = [Operand::Reg(from)].into_iter().collect();
        let inst = rake_ir::machine::Inst { op: copy, dst: Some(to), args, imm: None, region: None, span: site.span };
        self.out.insts.push(inst);
    }

    /// Has the words of a condition written in front of what is set before it is compared.
    pub(super) fn prepare(&mut self, condition: ValueId) -> Done<()> {
        let site = self.at(condition);
        for word in super::demand::comparison(self.source, condition).into_iter().flatten() {
            if let Word::Sum(..) = self.word(word)? {
                let reg = self.reg_of(self.word(word)?, &site)?;
                self.words[index(word)] = Some(Word::Reg(reg));
            }
        }
        Ok(())
    }
}
