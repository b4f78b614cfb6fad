//! Selecting a run: bodies become markers in the list, and what they change becomes registers that are set at their ends.
//!
//! ```text
//! loop {                               %4 : g = move_long %1
//!   %4 : <i64> = carry %1              loop
//!   ...                         =>       ...
//! } again %8 with %4 = %7                %4 : g = move_long %7
//!                                        compare_long %7, %2
//!                                      again less
//! ```

use super::build::{Builder, Site};
use super::demand::{Demand, How, joins};
use super::rule::Target;
use super::words::{Compared, Done, Word};
use super::{index, parameters};
use rake_ir::diag::{Code, Diagnostic};
use rake_ir::fused::{self, Region};
use rake_ir::lane::{Close, Extent, Open, Stmt, ValueId, extents};
use rake_ir::machine::abi::Abi;
use rake_ir::machine::{Class, Idioms, MachOp, Operand};
use rake_ir::ops::Op;
use rake_ir::profile::Profile;
use rake_ir::selected::{Function, Reg, RegInfo};
use rake_ir::types::Ty;

/// Selects a run.
///
/// # Errors
/// What the profile has no instructions for.
pub(super) fn function(
    f: &fused::Function,
    profile: Profile,
    target: &dyn Target,
) -> Result<Function, Vec<Diagnostic>> {
    if Idioms::of(profile).control.is_none() {
        let message = format!("runs are not available yet on {profile}");
        let help = "`--print-capabilities` lists what each profile compiles";
        return Err(vec![Diagnostic::error(Code::NotAvailableYet, f.span, message).help(help)]);
    }
    let demand = Demand::of(f, profile, target);
    let params = parameters(f, profile).map_err(|d| vec![d])?;
    let mut builder = Builder::new(f, profile, target, params, vec![false; f.values.len()], false)?;
    let extents =
        extents(&f.body).map_err(|_| vec![Diagnostic::error(Code::Internal, f.span, "bodies do not nest")])?;
    let mut run = Run { builder: &mut builder, f, demand: &demand, merges: Vec::new(), regions: 0 };
    let mut errors = Vec::new();
    for (at, stmt) in f.body.iter().enumerate() {
        match run.statement(at, stmt, extents[at]) {
            // What reads a value that was refused only follows.
            Err(error) if error.code != Code::Internal || errors.is_empty() => errors.push(error),
            _ => {}
        }
    }
    if errors.is_empty() { builder.finish().map_err(|d| vec![d]) } else { Err(errors) }
}

/// A register that both bodies of an `if` set, with what this one sets it to and what the other.
type Merge = (Reg, ValueId, ValueId);

struct Run<'b, 'a> {
    builder: &'b mut Builder<'a>,
    f: &'a fused::Function,
    demand: &'b Demand,
    /// For each open body what it sets at its end, when it is an `if`.
    merges: Vec<Vec<Merge>>,
    regions: u32,
}

impl<'a> Run<'_, 'a> {
    fn statement(&mut self, at: usize, stmt: &Stmt<Region>, extent: Option<Extent>) -> Done<()> {
        match stmt {
            Stmt::Value(id) if matches!(self.f.values[*id].op, Op::Carry | Op::Merge) => self.spread(*id),
            Stmt::Value(id) => self.value(*id, None),
            Stmt::Region(region) => {
                self.regions += 1;
                region.values.iter().try_for_each(|&id| self.value(id, Some(self.regions - 1)))
            }
            Stmt::Open(Open::Loop) => self.open_loop(at),
            Stmt::Open(Open::If(condition)) => self.open_if(*condition, extent.unwrap_or_default()),
            Stmt::Open(Open::Traverse { index, .. }) => {
                let span = self.f.values[*index].span;
                Err(Diagnostic::error(Code::Internal, span, "a traverse was not peeled"))
            }
            Stmt::Else => self.otherwise(),
            Stmt::Close(close) if close.again.is_some() => self.again(close),
            Stmt::Close(_) => self.end(),
        }
    }

    fn value(&mut self, id: ValueId, region: Option<u32>) -> Done<()> {
        let op = self.f.values[id].op;
        let how = self.demand.words[index(id)];
        match how {
            Some(How::Words) if matches!(op, Op::If | Op::Select) => self.choice(id)?,
            Some(How::Words) => self.builder.compute_word(id)?,
            Some(How::Conditions) => self.builder.words[index(id)] = Some(Word::Reg(self.truth(id)?)),
            Some(How::Racks) | None => {}
        }
        if let Some(shape) = &self.demand.shapes[index(id)] {
            match how {
                Some(How::Words | How::Conditions) if !matches!(op, Op::Param | Op::Const) => {
                    self.builder.spread(id)?;
                }
                _ => self.builder.value(id, shape, region)?,
            }
        }
        if how == Some(How::Racks) {
            self.builder.bring_over(id)?;
        }
        match op {
            Op::Store => self.builder.store(id),
            Op::StoreSelected => self.builder.store_selected(id),
            Op::SetCount => self.builder.set_count(id),
            Op::Check => self.check(self.f.values[id].args[0], id),
            Op::Scatter => self.builder.scatter(id),
            _ => Ok(()),
        }
    }

    /// Traps unless a condition holds.
    fn check(&mut self, condition: ValueId, id: ValueId) -> Done<()> {
        let value = &self.f.values[condition];
        match (value.op, &value.args[..]) {
            (Op::And, &[a, b]) if joins(self.f, condition) => {
                self.check(a, id)?;
                self.check(b, id)
            }
            (Op::Or, &[a, b]) if joins(self.f, condition) => self.when(a, false, &mut |run| run.check(b, id)),
            _ => {
                let site = self.builder.at(id);
                let compared = self.condition(condition)?;
                let trap = self.builder.control(site.span)?.trap_unless;
                self.builder.marker(trap, Some(compared), &site);
                Ok(())
            }
        }
    }

    /// What is compared for a condition; one that joins others is a word first.
    fn condition(&mut self, id: ValueId) -> Done<Compared> {
        if self.f.values[id].op == Op::Not && joins(self.f, id) {
            let compared = self.condition(self.f.values[id].args[0])?;
            return Ok(Compared { cond: compared.cond.negated(), ..compared });
        }
        if !joins(self.f, id) || self.builder.words[index(id)].is_some() {
            return self.builder.compared(id);
        }
        let truth = self.truth(id)?;
        self.builder.holds(truth, &self.builder.at(id))
    }

    /// A truth as a word: 1 where it holds.
    fn truth(&mut self, id: ValueId) -> Done<Reg> {
        let site = self.builder.at(id);
        let info = RegInfo { class: Class::G, name: site.name.clone(), span: site.span };
        let reg = self.builder.out.new_reg(info);
        let zero = self.builder.reg_of(Word::Number(0), Ty::TRUTH, &site)?;
        self.set(&[(reg, zero)], &site)?;
        self.when(id, true, &mut |run| {
            let one = run.builder.reg_of(Word::Number(1), Ty::TRUTH, &site)?;
            run.set(&[(reg, one)], &site)
        })?;
        Ok(reg)
    }

    /// One of two words.
    fn choice(&mut self, id: ValueId) -> Done<()> {
        let &[condition, then, otherwise] = &self.f.values[id].args[..] else {
            return Err(Diagnostic::error(Code::Internal, self.f.values[id].span, "a choice without its parts"));
        };
        let Some(variable) = self.variable(id) else { return Ok(()) };
        let site = self.builder.at(id);
        let [then, otherwise] = [self.source(variable, then)?, self.source(variable, otherwise)?];
        self.set(&[(variable, otherwise)], &site)?;
        self.when(condition, true, &mut |run| run.set(&[(variable, then)], &site))
    }

    /// Writes a body that is executed, maybe twice, where a condition holds or does not.
    fn when(&mut self, id: ValueId, holds: bool, body: &mut dyn FnMut(&mut Self) -> Done<()>) -> Done<()> {
        let value = &self.f.values[id];
        let both = if holds { Op::And } else { Op::Or };
        match (value.op, &value.args[..]) {
            (Op::Not, &[a]) if joins(self.f, id) => self.when(a, !holds, body),
            (op, &[a, b]) if joins(self.f, id) && op == both => {
                self.when(a, holds, &mut |run| run.when(b, holds, body))
            }
            (_, &[a, b]) if joins(self.f, id) => {
                self.when(a, holds, body)?;
                self.when(b, holds, body)
            }
            _ => {
                let site = self.builder.at(id);
                let mut compared = self.builder.compared(id)?;
                if !holds {
                    compared.cond = compared.cond.negated();
                }
                let control = self.builder.control(site.span)?;
                self.builder.open(control.open_if, Some(compared), &site);
                body(self)?;
                self.builder.close(control.end, None, &site);
                Ok(())
            }
        }
    }

    /// A changed word that lanes are computed with too.
    fn spread(&mut self, id: ValueId) -> Done<()> {
        let racks = self.demand.shapes[index(id)].is_some();
        if racks && self.demand.words[index(id)].is_some() { self.builder.spread(id) } else { Ok(()) }
    }

    /// A register for a value that is set more than once; `None` when nobody needs it.
    fn variable(&mut self, id: ValueId) -> Option<Reg> {
        let value = &self.f.values[id];
        let (word, rack) = (self.demand.words[index(id)].is_some(), self.demand.shapes[index(id)].is_some());
        if !word && !rack {
            return None;
        }
        let class = match value.ty {
            _ if word => Abi::of(self.builder.profile).class_of(value.ty),
            Ty::Mask(_) if self.builder.profile.native_masks() => Class::K,
            _ => Class::V,
        };
        let reg = self.builder.out.new_reg(RegInfo { class, name: value.name.clone(), span: value.span });
        if word {
            self.builder.words[index(id)] = Some(Word::Reg(reg));
        } else {
            self.builder.map[index(id)] = Some(reg);
        }
        Some(reg)
    }

    /// The register of what a variable is set to.
    fn source(&mut self, variable: Reg, id: ValueId) -> Done<Reg> {
        let site = self.builder.at(id);
        match self.builder.out.class(variable) {
            Class::G | Class::L => {
                let word = self.builder.word(id)?;
                self.builder.reg_of(word, self.f.values[id].ty, &site)
            }
            _ => self.builder.operand(Some(id), site.span),
        }
    }

    fn copies(&self, class: Class, site: &Site) -> Done<MachOp> {
        let copy = self.builder.idioms.copy_whole(class);
        copy.ok_or_else(|| self.builder.lacks(site.span, "a value that a loop changes"))
    }

    /// Sets variables, all at once: one that is set before another reads it is copied first.
    fn set(&mut self, sets: &[(Reg, Reg)], site: &Site) -> Done<()> {
        let mut sets: Vec<(Reg, Reg)> = sets.iter().copied().filter(|(to, from)| to != from).collect();
        for at in 0..sets.len() {
            let from = sets[at].1;
            if sets[..at].iter().any(|&(to, _)| to == from) {
                let class = self.builder.out.class(from);
                let copy = self.copies(class, site)?;
                sets[at].1 = self.builder.simple(copy, &[Operand::Reg(from)], site);
            }
        }
        for (to, from) in sets {
            let copy = self.copies(self.builder.out.class(to), site)?;
            self.builder.set(copy, to, from, site);
        }
        Ok(())
    }

    fn open_loop(&mut self, at: usize) -> Done<()> {
        let carries = self.f.body[at + 1..].iter().map_while(|stmt| match stmt {
            Stmt::Value(id) if self.f.values[*id].op == Op::Carry => Some(*id),
            _ => None,
        });
        let carries: Vec<ValueId> = carries.collect();
        let mut sets = Vec::new();
        for &carry in &carries {
            let first = self.f.values[carry].args[0];
            if let Some(variable) = self.variable(carry) {
                sets.push((variable, self.source(variable, first)?));
            }
        }
        let site = carries.first().map_or_else(|| self.nowhere(), |&carry| self.builder.at(carry));
        self.set(&sets, &site)?;
        let open = self.builder.control(site.span)?.open_loop;
        self.builder.open(open, None, &site);
        self.builder.loops += 1;
        self.merges.push(Vec::new());
        Ok(())
    }

    fn nowhere(&self) -> Site {
        let (span, kept) = (self.f.span, super::shape::Kept::Any);
        Site { region: None, span, name: None, mask: None, kept, place: None }
    }

    fn again(&mut self, close: &Close) -> Done<()> {
        let Some(condition) = close.again else { return Ok(()) };
        let site = self.builder.at(condition);
        let mut sets = Vec::new();
        for &(carry, next) in &close.next {
            let variable = match self.builder.words[index(carry)] {
                Some(Word::Reg(reg)) => Some(reg),
                _ => self.builder.map[index(carry)],
            };
            if let Some(variable) = variable {
                sets.push((variable, self.source(variable, next)?));
            }
        }
        // What is compared is computed before anything is set, and kept where that changes it.
        let mut compared = self.condition(condition)?;
        for arg in &mut compared.args {
            if let Some(reg) = arg.reg().filter(|&reg| sets.iter().any(|&(to, from)| to == reg && from != reg)) {
                let copy = self.copies(self.builder.out.class(reg), &site)?;
                *arg = Operand::Reg(self.builder.simple(copy, &[Operand::Reg(reg)], &site));
            }
        }
        self.set(&sets, &site)?;
        let again = self.builder.control(site.span)?.again;
        self.builder.close(again, Some(compared), &site);
        self.builder.loops -= 1;
        self.merges.pop();
        Ok(())
    }

    fn open_if(&mut self, condition: ValueId, extent: Extent) -> Done<()> {
        let merges = self.f.body[extent.close + 1..].iter().map_while(|stmt| match stmt {
            Stmt::Value(id) if self.f.values[*id].op == Op::Merge => Some(*id),
            _ => None,
        });
        let merges: Vec<ValueId> = merges.collect();
        let site = self.builder.at(condition);
        let mut own = Vec::new();
        let mut before = Vec::new();
        for merge in merges {
            let [then, otherwise] = self.f.values[merge].args[..] else { continue };
            let Some(variable) = self.variable(merge) else { continue };
            if extent.otherwise.is_none() {
                before.push((variable, self.source(variable, otherwise)?));
            }
            own.push((variable, then, otherwise));
        }
        self.set(&before, &site)?;
        let compared = self.condition(condition)?;
        let open = self.builder.control(site.span)?.open_if;
        self.builder.open(open, Some(compared), &site);
        self.merges.push(own);
        Ok(())
    }

    /// Sets what the body that ends here gives.
    fn merge(&mut self) -> Done<()> {
        let merges = self.merges.last().cloned().unwrap_or_default();
        let mut sets = Vec::new();
        for (variable, value, _) in merges {
            sets.push((variable, self.source(variable, value)?));
        }
        self.set(&sets, &self.nowhere())
    }

    fn otherwise(&mut self) -> Done<()> {
        self.merge()?;
        let site = self.nowhere();
        let marker = self.builder.control(site.span)?.otherwise;
        self.builder.close(marker, None, &site);
        self.builder.scopes.push(Vec::new());
        // The second body has begun.
        self.merges.last_mut().into_iter().flatten().for_each(|merge| merge.1 = merge.2);
        Ok(())
    }

    fn end(&mut self) -> Done<()> {
        self.merge()?;
        let site = self.nowhere();
        let marker = self.builder.control(site.span)?.end;
        self.builder.close(marker, None, &site);
        self.merges.pop();
        Ok(())
    }
}
