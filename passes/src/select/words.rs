//! Words: addresses, counts, indices and conditions, in general registers.
//!
//! ```text
//! %6 : <i64> = add %5, %4          [%1 + %5*4 + 64]      where %4 is 16: no instruction
//! %7 : f32s = load f32 %1, %6
//! %8 : <bool> = lt %6, %2          compare_long %6, %2
//! if %8 {                          if less
//! ```

use super::build::{Builder, Site};
use super::demand::comparison;
use super::rule::{Key, Rule, WordKey};
use super::shape::Kept;
use super::{constant_bits, index};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::ValueId;
use rake_ir::machine::{Address, Cond, ControlIdioms, MachOp, Operand};
use rake_ir::ops::{Imm, Op};
use rake_ir::selected::Reg;
use rake_ir::span::Span;
use rake_ir::types::{Elem, ElemClass, Ty};
use rake_ir::value::to_i128;
use smallvec::SmallVec;

/// How far an index is followed to where it begins.
const MOST_STEPS_BACK: u32 = 12;

/// A word, as far as it has been computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    /// In a register.
    Reg(Reg),
    /// A register's and a number: what an address can say by itself.
    Sum(Reg, i32),
    /// A number.
    Number(i64),
}

/// What stands in front of a marker, and the marker's condition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    pub row: MachOp,
    pub args: [Operand<Reg>; 2],
    pub cond: Cond,
}

pub(super) type Done<T> = Result<T, Diagnostic>;

impl Builder<'_> {
    pub(super) fn at(&self, id: ValueId) -> Site {
        let value = &self.source.values[id];
        let (span, name) = (value.span, value.name.clone());
        Site { region: None, span, name, mask: None, kept: Kept::Any, place: None }
    }

    pub(super) fn lacks(&self, span: Span, what: &str) -> Diagnostic {
        let message = format!("{what} is not available on {} yet", self.profile);
        Diagnostic::error(Code::NotAvailableYet, span, message)
    }

    pub(super) fn control(&self, span: Span) -> Done<ControlIdioms> {
        self.idioms.control.ok_or_else(|| self.lacks(span, "a run"))
    }

    /// Writes a marker behind its comparison.
    pub(super) fn marker(&mut self, marker: MachOp, compared: Option<Compared>, site: &Site) {
        if let Some(Compared { row, args, .. }) = compared {
            self.simple(row, &args, site);
        }
        self.emit(marker, SmallVec::new(), compared.map(|compared| compared.cond as u8), None, site);
    }

    /// Opens a body: what is computed in it is there up to its end.
    pub(super) fn open(&mut self, marker: MachOp, compared: Option<Compared>, site: &Site) {
        self.marker(marker, compared, site);
        self.scopes.push(Vec::new());
    }

    /// Closes a body.
    pub(super) fn close(&mut self, marker: MachOp, compared: Option<Compared>, site: &Site) {
        self.marker(marker, compared, site);
        for key in self.scopes.pop().into_iter().flatten() {
            self.done.remove(&key);
        }
    }

    fn row(&self, key: WordKey, span: Span) -> Done<MachOp> {
        self.target.word(key, self.profile).ok_or_else(|| self.lacks(span, "an operation on integers"))
    }

    /// The word of a value that has been computed.
    pub(super) fn word(&self, id: ValueId) -> Done<Word> {
        let span = self.source.values[id].span;
        let missing = || Diagnostic::error(Code::Internal, span, "a word was not selected before its reader");
        self.words[index(id)].ok_or_else(missing)
    }

    /// Computes a value as a word, in general registers.
    pub(super) fn compute_word(&mut self, id: ValueId) -> Done<()> {
        let value = &self.source.values[id];
        let site = self.at(id);
        let word = match (value.op, &value.imm) {
            (Op::Const, Imm::Bits(bits)) => Word::Number(to_i128(value.ty.elem(), *bits) as i64),
            (Op::Param, Imm::Int(position)) => match value.ty.elem() {
                // Of a `bool` only the lowest bit counts.
                Elem::Bool => {
                    let argument = self.argument(*position);
                    Word::Reg(self.by_rule(Key::Leave(Op::Param), Elem::Bool, &[argument], &site)?)
                }
                _ => Word::Reg(self.argument(*position)),
            },
            (Op::ToI64, _) => {
                let (arg, ty) = (value.args[0], self.source.values[value.args[0]].ty);
                let elem = self.word_elem(ty);
                match self.word(arg)? {
                    word if elem.bits() == 64 => word,
                    Word::Number(number) => Word::Number(number),
                    word => {
                        let reg = self.reg_of(word, ty, &site)?;
                        let row = self.row(WordKey::Extend(elem), site.span)?;
                        Word::Reg(self.simple(row, &[Operand::Reg(reg)], &site))
                    }
                }
            }
            (Op::Column, Imm::Int(column)) => {
                let offset = self.profile.column_offset(*column);
                self.descriptor(value.args[0], offset as i32, Ty::Address, &site)?
            }
            (Op::Count, _) => self.descriptor(value.args[0], 0, Ty::LONG, &site)?,
            (Op::LoadUniform, Imm::Memory(elem)) => {
                let (elem, place) = (*elem, self.place((value.args[0], value.args[1]), *elem, true, &site)?);
                let row = self.row(WordKey::Load(elem), site.span)?;
                Word::Reg(self.simple(row, &[Operand::Memory(place)], &site))
            }
            (Op::CountTrue, _) => {
                let mask = self.operand(Some(value.args[0]), site.span)?;
                Word::Reg(self.by_rule(Key::Op(Op::CountTrue), Elem::Bool, &[mask], &site)?)
            }
            (Op::ShiftBitsRight, Imm::Int(count)) => self.shifted(value.args[0], *count, &site)?,
            (op, _) => match value.args[..] {
                [a, b] => self.combined(op, [a, b], &site)?,
                _ => return Err(self.lacks(site.span, "an operation on integers")),
            },
        };
        self.words[index(id)] = Some(word);
        Ok(())
    }

    /// Brings a uniform over that racks compute.
    pub(super) fn bring_over(&mut self, id: ValueId) -> Done<()> {
        let site = self.at(id);
        let rack = self.operand(Some(id), site.span)?;
        let elem = self.source.values[id].ty.elem();
        self.words[index(id)] = Some(Word::Reg(self.by_rule(Key::LeaveUniform, elem, &[rack], &site)?));
        Ok(())
    }

    /// A word in every lane.
    pub(super) fn spread(&mut self, id: ValueId) -> Done<()> {
        let (site, elem) = (self.at(id), self.source.values[id].ty.elem());
        let rack = match self.word(id)? {
            Word::Number(number) => self.constant(self.source.values[id].ty, number as u64 & elem.lane_mask(), &site),
            word => {
                let reg = self.reg_of(word, self.source.values[id].ty, &site)?;
                self.by_rule(Key::EnterUniform, elem, &[reg], &site)?
            }
        };
        self.map[index(id)] = Some(rack);
        Ok(())
    }

    /// What stands at this offset of a stack's descriptor.
    fn descriptor(&mut self, address: ValueId, disp: i32, ty: Ty, site: &Site) -> Done<Word> {
        let base = self.reg_of(self.word(address)?, Ty::Address, site)?;
        let row = self.row(WordKey::Load(self.word_elem(ty)), site.span)?;
        let place = Address { disp, ..Address::at(base) };
        Ok(Word::Reg(self.simple(row, &[Operand::Memory(place)], site)))
    }

    /// Gives a stack another count.
    pub(super) fn set_count(&mut self, id: ValueId) -> Done<()> {
        let (site, value) = (self.at(id), &self.source.values[id]);
        let base = self.reg_of(self.word(value.args[0])?, Ty::Address, &site)?;
        let row = self.row(WordKey::StoreLong, site.span)?;
        let (row, count) = self.number_or_reg(self.word(value.args[1])?, Ty::LONG, row, &site)?;
        self.simple(row, &[Operand::Memory(Address::at(base)), count], &site);
        Ok(())
    }

    /// A word moved toward its lowest bit, by the row's immediate or a number.
    fn shifted(&mut self, of: ValueId, count: u32, site: &Site) -> Done<Word> {
        let ty = self.source.values[of].ty;
        let row = self.row(WordKey::Op(Op::ShiftBitsRight, self.word_elem(ty)), site.span)?;
        let from = Operand::Reg(self.reg_of(self.word(of)?, ty, site)?);
        if row.info().imm {
            return Ok(Word::Reg(self.emit(row, [from].into_iter().collect(), Some(count as u8), None, site)));
        }
        let (row, count) = self.number_or_reg(Word::Number(count.into()), ty, row, site)?;
        Ok(Word::Reg(self.simple(row, &[from, count], site)))
    }

    /// How a word of this type is held.
    fn word_elem(&self, ty: Ty) -> Elem {
        match ty {
            Ty::Address if self.profile.pointer_bytes() == 4 => Elem::U32,
            ty => ty.elem(),
        }
    }

    fn combined(&mut self, op: Op, [a, b]: [ValueId; 2], site: &Site) -> Done<Word> {
        let ty = self.source.values[a].ty;
        let (a, b) = (self.word(a)?, self.word(b)?);
        let sum = |a: i64, b: i64| i32::try_from(a.checked_add(b)?).ok();
        match (op, a, b) {
            (Op::Add, Word::Number(a), Word::Number(b)) => return Ok(Word::Number(a.wrapping_add(b))),
            (Op::Add, Word::Reg(reg), Word::Number(n)) | (Op::Add, Word::Number(n), Word::Reg(reg)) => {
                if let Some(n) = sum(0, n) {
                    return Ok(Word::Sum(reg, n));
                }
            }
            (Op::Add, Word::Sum(reg, m), Word::Number(n)) | (Op::Add, Word::Number(n), Word::Sum(reg, m)) => {
                if let Some(n) = sum(m.into(), n) {
                    return Ok(Word::Sum(reg, n));
                }
            }
            _ => {}
        }
        let commutes = matches!(op, Op::Add | Op::Mul | Op::BitAnd | Op::BitOr | Op::BitXor);
        let (a, b) = if commutes && matches!(a, Word::Number(_)) { (b, a) } else { (a, b) };
        let row = self.row(WordKey::Op(op, self.word_elem(ty)), site.span)?;
        let a = self.reg_of(a, ty, site)?;
        let (row, b) = self.number_or_reg(b, ty, row, site)?;
        Ok(Word::Reg(self.simple(row, &[Operand::Reg(a), b], site)))
    }

    /// The register of a word of this type.
    pub(super) fn reg_of(&mut self, word: Word, ty: Ty, site: &Site) -> Done<Reg> {
        match word {
            Word::Reg(reg) => Ok(reg),
            Word::Sum(reg, n) => {
                let row = self.row(WordKey::Op(Op::Add, self.word_elem(ty)), site.span)?;
                let (row, n) = self.number_or_reg(Word::Number(n.into()), ty, row, site)?;
                Ok(self.simple(row, &[Operand::Reg(reg), n], site))
            }
            Word::Number(number) => self.number(number, ty, site),
        }
    }

    fn number(&mut self, number: i64, ty: Ty, site: &Site) -> Done<Reg> {
        if number == 0
            && let Some(zero) = self.target.word(WordKey::Zero, self.profile)
        {
            return Ok(self.simple(zero, &[], site));
        }
        let elem = self.word_elem(ty);
        let row = self.row(WordKey::Constant(elem), site.span)?;
        if let Some((row, small)) = row.with_number(number) {
            return Ok(self.simple(row, &[Operand::Number(small)], site));
        }
        if row.info().slots.first().is_some_and(|slot| slot.mem.is_literal()) {
            let bytes = number.to_le_bytes()[..elem.bits().max(32) as usize / 8].to_vec();
            let literal = Operand::Literal(self.literal(bytes));
            return Ok(self.simple(row, &[literal], site));
        }
        if elem.bits() < 64 {
            return Err(self.lacks(site.span, "an integer of this size"));
        }
        self.long_number(number, ty, site)
    }

    /// A number that no row takes, made of parts that rows take: `high * 2^30 + low`.
    fn long_number(&mut self, number: i64, ty: Ty, site: &Site) -> Done<Reg> {
        const PART: i64 = 1 << 30;
        let elem = self.word_elem(ty);
        let mut made = self.number(number.div_euclid(PART), ty, site)?;
        for (op, part) in [(Op::Mul, PART), (Op::Add, number.rem_euclid(PART))] {
            let row = self.row(WordKey::Op(op, elem), site.span)?;
            let (row, part) = self.number_or_reg(Word::Number(part), ty, row, site)?;
            made = self.simple(row, &[Operand::Reg(made), part], site);
        }
        Ok(made)
    }

    /// A row with its second operand: a number where there is one that takes it.
    pub(super) fn number_or_reg(
        &mut self,
        word: Word,
        ty: Ty,
        row: MachOp,
        site: &Site,
    ) -> Done<(MachOp, Operand<Reg>)> {
        let number = if let Word::Number(number) = word { row.with_number(number) } else { None };
        match number {
            Some((row, number)) => Ok((row, Operand::Number(number))),
            None => Ok((row, Operand::Reg(self.reg_of(word, ty, site)?))),
        }
    }

    /// Where an element stands; `one` if it is accessed alone.
    pub(super) fn place(
        &mut self,
        (address, at): (ValueId, ValueId),
        elem: Elem,
        one: bool,
        site: &Site,
    ) -> Done<Address<Reg>> {
        let base = self.reg_of(self.word(address)?, Ty::Address, site)?;
        let (word, upward) = (self.word(at)?, self.is_upward(at, MOST_STEPS_BACK));
        self.place_of(base, (word, upward), elem, one, site)
    }

    /// The same at an index that is a word; `upward` if it is never below zero.
    pub(super) fn place_of(
        &mut self,
        base: Reg,
        (at, upward): (Word, bool),
        elem: Elem,
        one: bool,
        site: &Site,
    ) -> Done<Address<Reg>> {
        let scale = (elem.bits() / 8).trailing_zeros();
        let shifted = |n: i64| i32::try_from(n.checked_shl(scale).filter(|s| s >> scale == n)?).ok();
        let word = match at {
            word @ Word::Sum(_, n) if shifted(n.into()).is_none() => Word::Reg(self.reg_of(word, Ty::LONG, site)?),
            word @ Word::Number(n) if shifted(n).is_none() => Word::Reg(self.reg_of(word, Ty::LONG, site)?),
            word => word,
        };
        if let Word::Reg(index) = word
            && one
            && self.control(site.span)?.indexed_element
        {
            return Ok(Address { base, index: Some(index), scale: scale as u8, disp: 0 });
        }
        if let Some(located) = self.located(base, (word, upward), elem, site)? {
            return Ok(located);
        }
        let (index, disp) = match word {
            Word::Number(n) => (None, shifted(n).unwrap_or_default()),
            Word::Reg(reg) => (Some(reg), 0),
            Word::Sum(reg, n) => (Some(reg), shifted(n.into()).unwrap_or_default()),
        };
        Ok(Address { base, index, scale: if index.is_some() { scale as u8 } else { 0 }, disp })
    }

    /// The same where addresses of transfers are no more than a base and what is added to it, as far as that reaches. Where
    /// addresses do not wrap as indices do, only of one that goes upward from zero the number in a sum is added so.
    fn located(
        &mut self,
        base: Reg,
        (at, upward): (Word, bool),
        elem: Elem,
        site: &Site,
    ) -> Done<Option<Address<Reg>>> {
        let key = Key::Locate(elem);
        if matches!(self.target.rule(key, elem, self.profile), Rule::Unsupported(_)) {
            return Ok(None);
        }
        let bytes = elem.bits() / 8;
        let control = self.control(site.span)?;
        let reaches = |n: i64| (control.reaches)(n * i64::from(bytes), bytes);
        let upward = upward || self.profile.pointer_bytes() == 8;
        let (at, disp) = match at {
            Word::Number(n) if reaches(n) => {
                return Ok(Some(Address { disp: n as i32 * bytes as i32, ..Address::at(base) }));
            }
            Word::Sum(reg, n) if upward && reaches(n.into()) => (Word::Reg(reg), n * bytes as i32),
            at => (at, 0),
        };
        let index = self.reg_of(at, Ty::LONG, site)?;
        Ok(Some(Address { disp, ..Address::at(self.by_rule(key, elem, &[base, index], site)?) }))
    }

    /// Whether an index is never below zero: a count, or what begins there. What loops carry in 64 bits only grows.
    fn is_upward(&self, id: ValueId, steps: u32) -> bool {
        let value = &self.source.values[id];
        let Some(steps) = steps.checked_sub(1) else { return false };
        match (value.op, &value.args[..]) {
            (Op::Const, _) => matches!(value.imm, Imm::Bits(bits) if bits as i64 >= 0),
            (Op::Count | Op::CountTrue, _) => true,
            (Op::Carry, &[first]) => self.is_upward(first, steps),
            (Op::BitAnd, &[a, b]) => self.is_upward(a, steps) || self.is_upward(b, steps),
            (Op::Add | Op::Merge, &[a, b]) => self.is_upward(a, steps) && self.is_upward(b, steps),
            _ => false,
        }
    }

    /// What is compared for a condition that joins no others, its operands computed.
    pub(super) fn compared(&mut self, id: ValueId) -> Done<Compared> {
        let site = self.at(id);
        let control = self.control(site.span)?;
        let Some([a, b]) = comparison(self.source, id) else {
            let reg = self.reg_of(self.word(id)?, Ty::TRUTH, &site)?;
            return self.holds(reg, &site);
        };
        let ty = self.source.values[a].ty;
        let elem = ty.elem();
        let mut cond = cond(self.source.values[id].op, elem);
        if let Some(compared) = self.counted_none(a, b, cond, &site)? {
            return Ok(compared);
        }
        let (mut a, mut b) = (self.word(a)?, self.word(b)?);
        if matches!(a, Word::Number(_)) && !matches!(b, Word::Number(_)) {
            (a, b, cond) = (b, a, cond.swapped());
        }
        let row = if elem.bits() == 64 { control.compare_long } else { control.compare_word };
        let row = row.ok_or_else(|| self.lacks(site.span, "a comparison"))?;
        let a = Operand::Reg(self.reg_of(a, ty, &site)?);
        let (row, b) = self.number_or_reg(b, ty, row, &site)?;
        Ok(Compared { row, args: [a, b], cond })
    }

    /// What is compared where a count of lanes is held against zero.
    fn counted_none(&mut self, count: ValueId, zero: ValueId, cond: Cond, site: &Site) -> Done<Option<Compared>> {
        let counted = &self.source.values[count];
        let there = !matches!(self.target.rule(Key::SomeLane, Elem::Bool, self.profile), Rule::Unsupported(_));
        let none = matches!(cond, Cond::Equal | Cond::NotEqual) && constant_bits(self.source, zero) == Some(0);
        if counted.op != Op::CountTrue || !none || !there {
            return Ok(None);
        }
        let mask = self.operand(Some(counted.args[0]), site.span)?;
        self.some_lane(mask, cond, site).map(Some)
    }

    /// What is compared for whether a lane of a mask holds (not equal), or none does (equal).
    pub(super) fn some_lane(&mut self, mask: Reg, cond: Cond, site: &Site) -> Done<Compared> {
        if !self.has(Key::SomeLane, Elem::Bool) {
            let any = self.by_rule(Key::Leave(Op::Any), Elem::Bool, &[mask], site)?;
            return Ok(Compared { cond, ..self.holds(any, site)? });
        }
        let word = self.by_rule(Key::SomeLane, Elem::Bool, &[mask], site)?;
        let row = self.control(site.span)?.compare_word.ok_or_else(|| self.lacks(site.span, "a comparison"))?;
        let (row, zero) = self.number_or_reg(Word::Number(0), Ty::TRUTH, row, site)?;
        Ok(Compared { row, args: [Operand::Reg(word), zero], cond })
    }

    /// Whether a word is a truth that holds.
    pub(super) fn holds(&mut self, word: Reg, site: &Site) -> Done<Compared> {
        let row = self.control(site.span)?.compare_word.ok_or_else(|| self.lacks(site.span, "a comparison"))?;
        let (row, zero) = self.number_or_reg(Word::Number(0), Ty::TRUTH, row, site)?;
        Ok(Compared { row, args: [Operand::Reg(word), zero], cond: Cond::NotEqual })
    }

    /// One row.
    pub(super) fn simple(&mut self, row: MachOp, args: &[Operand<Reg>], site: &Site) -> Reg {
        self.emit(row, args.iter().copied().collect(), None, None, site)
    }

    pub(super) fn by_rule(&mut self, key: Key, elem: Elem, args: &[Reg], site: &Site) -> Done<Reg> {
        let rule = self.target.rule(key, elem, self.profile);
        self.sequence(rule, args, None, site).map_err(|why| {
            let message = format!("this has no instructions on {} for {elem}", self.profile);
            Diagnostic::error(Code::NotOnProfile, site.span, message).note(why)
        })
    }
}

fn cond(op: Op, elem: Elem) -> Cond {
    let unsigned = elem.class() == ElemClass::Unsigned;
    match (op, unsigned) {
        (Op::Eq, _) => Cond::Equal,
        (Op::Ne, _) => Cond::NotEqual,
        (Op::Lt, false) => Cond::Less,
        (Op::Lt, true) => Cond::Below,
        (Op::Le, false) => Cond::LessEqual,
        (Op::Le, true) => Cond::BelowEqual,
        (Op::Gt, false) => Cond::Greater,
        (Op::Gt, true) => Cond::Above,
        (_, false) => Cond::GreaterEqual,
        (_, true) => Cond::AboveEqual,
    }
}
