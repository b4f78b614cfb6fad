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
use super::index;
use super::rule::{Key, WordKey};
use super::shape::Kept;
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::lane::ValueId;
use rake_ir::machine::{Address, Cond, ControlIdioms, MachOp, Mem, Operand};
use rake_ir::ops::{Imm, Op};
use rake_ir::selected::Reg;
use rake_ir::span::Span;
use rake_ir::types::{Elem, ElemClass, Ty};
use rake_ir::value::to_i128;
use smallvec::SmallVec;

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
                let long = ty == Ty::Address && self.profile.pointer_bytes() == 8;
                let elem = if ty == Ty::Address { Elem::U32 } else { ty.elem() };
                match self.word(arg)? {
                    word if long => word,
                    Word::Number(number) => Word::Number(number),
                    word => {
                        let reg = self.reg_of(word, &site)?;
                        let row = self.row(WordKey::Extend(elem), site.span)?;
                        Word::Reg(self.simple(row, &[Operand::Reg(reg)], &site))
                    }
                }
            }
            (Op::Column, Imm::Int(column)) => {
                let offset = self.profile.column_offset(*column);
                self.descriptor(value.args[0], offset as i32, &site)?
            }
            (Op::Count, _) => self.descriptor(value.args[0], 0, &site)?,
            (Op::LoadUniform, Imm::Memory(elem)) => {
                let (elem, place) = (*elem, self.place(value.args[0], value.args[1], *elem, &site)?);
                let row = self.row(WordKey::Load(elem), site.span)?;
                Word::Reg(self.simple(row, &[Operand::Memory(place)], &site))
            }
            (Op::CountTrue, _) => {
                let mask = self.operand(Some(value.args[0]), site.span)?;
                Word::Reg(self.by_rule(Key::Op(Op::CountTrue), Elem::Bool, &[mask], &site)?)
            }
            (op, _) => self.combined(op, [value.args[0], value.args[1]], &site)?,
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
                let reg = self.reg_of(word, &site)?;
                self.by_rule(Key::EnterUniform, elem, &[reg], &site)?
            }
        };
        self.map[index(id)] = Some(rack);
        Ok(())
    }

    /// What stands at this offset of a stack's descriptor.
    fn descriptor(&mut self, address: ValueId, disp: i32, site: &Site) -> Done<Word> {
        let base = self.reg_of(self.word(address)?, site)?;
        let row = self.row(WordKey::Load(Elem::I64), site.span)?;
        let place = Address { disp, ..Address::at(base) };
        Ok(Word::Reg(self.simple(row, &[Operand::Memory(place)], site)))
    }

    /// Gives a stack another count.
    pub(super) fn set_count(&mut self, id: ValueId) -> Done<()> {
        let (site, value) = (self.at(id), &self.source.values[id]);
        let base = self.reg_of(self.word(value.args[0])?, &site)?;
        let count = self.number_or_reg(self.word(value.args[1])?, &site)?;
        let row = self.row(WordKey::StoreLong, site.span)?;
        self.simple(row, &[Operand::Memory(Address::at(base)), count], &site);
        Ok(())
    }

    fn combined(&mut self, op: Op, [a, b]: [ValueId; 2], site: &Site) -> Done<Word> {
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
        let (a, b) = (self.reg_of(a, site)?, self.number_or_reg(b, site)?);
        let row = self.row(WordKey::Op(op), site.span)?;
        // Some rows take no number.
        let b = match (b, row.info().slots.get(1).map(|slot| slot.mem)) {
            (Operand::Number(n), Some(Mem::No)) => Operand::Reg(self.number(n.into(), site)?),
            (b, _) => b,
        };
        Ok(Word::Reg(self.simple(row, &[Operand::Reg(a), b], site)))
    }

    /// The register of a word.
    pub(super) fn reg_of(&mut self, word: Word, site: &Site) -> Done<Reg> {
        match word {
            Word::Reg(reg) => Ok(reg),
            Word::Sum(reg, n) => {
                let row = self.row(WordKey::Op(Op::Add), site.span)?;
                Ok(self.simple(row, &[Operand::Reg(reg), Operand::Number(n)], site))
            }
            Word::Number(number) => self.number(number, site),
        }
    }

    fn number(&mut self, number: i64, site: &Site) -> Done<Reg> {
        if number == 0
            && let Some(zero) = self.target.word(WordKey::Zero, self.profile)
        {
            return Ok(self.simple(zero, &[], site));
        }
        let row = self.row(WordKey::Constant, site.span)?;
        let small = i32::try_from(number).map_err(|_| self.lacks(site.span, "an integer of more than 32 bits"))?;
        Ok(self.simple(row, &[Operand::Number(small)], site))
    }

    fn number_or_reg(&mut self, word: Word, site: &Site) -> Done<Operand<Reg>> {
        match word {
            Word::Number(number) if i32::try_from(number).is_ok() => Ok(Operand::Number(number as i32)),
            word => Ok(Operand::Reg(self.reg_of(word, site)?)),
        }
    }

    /// Where an element stands.
    pub(super) fn place(&mut self, address: ValueId, at: ValueId, elem: Elem, site: &Site) -> Done<Address<Reg>> {
        let base = self.reg_of(self.word(address)?, site)?;
        let scale = (elem.bits() / 8).trailing_zeros();
        let shifted = |n: i64| i32::try_from(n.checked_shl(scale).filter(|s| s >> scale == n)?).ok();
        let word = match self.word(at)? {
            word @ Word::Sum(_, n) if shifted(n.into()).is_none() => Word::Reg(self.reg_of(word, site)?),
            word @ Word::Number(n) if shifted(n).is_none() => Word::Reg(self.reg_of(word, site)?),
            word => word,
        };
        let (index, disp) = match word {
            Word::Number(n) => (None, shifted(n).unwrap_or_default()),
            Word::Reg(reg) => (Some(reg), 0),
            Word::Sum(reg, n) => (Some(reg), shifted(n.into()).unwrap_or_default()),
        };
        Ok(Address { base, index, scale: if index.is_some() { scale as u8 } else { 0 }, disp })
    }

    /// What is compared for a condition that joins no others, its operands computed.
    pub(super) fn compared(&mut self, id: ValueId) -> Done<Compared> {
        let site = self.at(id);
        let control = self.control(site.span)?;
        let Some([a, b]) = comparison(self.source, id) else {
            let reg = self.reg_of(self.word(id)?, &site)?;
            return self.holds(reg, &site);
        };
        let elem = self.source.values[a].ty.elem();
        let mut cond = cond(self.source.values[id].op, elem);
        let (mut a, mut b) = (self.word(a)?, self.word(b)?);
        if matches!(a, Word::Number(_)) && !matches!(b, Word::Number(_)) {
            (a, b, cond) = (b, a, cond.swapped());
        }
        let args = [Operand::Reg(self.reg_of(a, &site)?), self.number_or_reg(b, &site)?];
        let row = if elem.bits() == 64 { control.compare_long } else { control.compare_word };
        let row = row.ok_or_else(|| self.lacks(site.span, "a comparison"))?;
        Ok(Compared { row, args, cond })
    }

    /// Whether a word is a truth that holds.
    pub(super) fn holds(&mut self, word: Reg, site: &Site) -> Done<Compared> {
        let row = self.control(site.span)?.compare_word.ok_or_else(|| self.lacks(site.span, "a comparison"))?;
        Ok(Compared { row, args: [Operand::Reg(word), Operand::Number(0)], cond: Cond::NotEqual })
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
