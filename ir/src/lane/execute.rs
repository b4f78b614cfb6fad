//! Executing the bodies of runs, and what touches memory.
//!
//! ```text
//! loop {
//!   %6 : <i64> = carry %0       first %0, then what %7 was at the end of the trip before
//!   ...
//! } again %8 with %6 = %7
//! ```

use super::control::{Extent, extents};
use super::eval::{EvalError, Evaluation};
use super::{Close, Open, Region, Stmt, Value, ValueId};
use crate::memory::Memory;
use crate::ops::{Imm, Op};
use crate::types::Elem;
use crate::value::{Lanes, to_i128};

/// A body's list with where its bodies begin and end.
struct List<'a, R> {
    stmts: &'a [Stmt<R>],
    extents: Vec<Option<Extent>>,
}

impl<R: Region> Evaluation<'_, R> {
    /// Executes the function.
    pub(super) fn execute(&mut self, memory: &mut Memory) -> Result<(), EvalError> {
        let stmts = &self.function.body;
        let extents = extents(stmts).map_err(|at| EvalError::Malformed(format!("statement {at} has no other end")))?;
        let list = List { stmts, extents };
        self.block(&list, 0, list.stmts.len(), memory)
    }

    fn block(&mut self, list: &List<R>, mut at: usize, end: usize, memory: &mut Memory) -> Result<(), EvalError> {
        while at < end {
            match &list.stmts[at] {
                Stmt::Value(id) if self.function.values[*id].op == Op::Merge => self.merge(*id)?,
                Stmt::Value(id) => self.compute_on(*id, memory)?,
                Stmt::Region(region) => region.computed().iter().try_for_each(|&id| self.compute_on(id, memory))?,
                Stmt::Open(open) => {
                    let extent = list.extents[at].unwrap_or_default();
                    self.enter(list, open, extent, memory)?;
                    at = extent.close;
                }
                Stmt::Else | Stmt::Close(_) => {}
            }
            at += 1;
        }
        Ok(())
    }

    fn enter(&mut self, list: &List<R>, open: &Open, extent: Extent, memory: &mut Memory) -> Result<(), EvalError> {
        let Stmt::Close(close) = &list.stmts[extent.close] else { return Ok(()) };
        let mut start = extent.open + 1;
        match *open {
            Open::If(condition) => {
                let holds = self.lane(condition, condition, 0)? & 1 == 1;
                let (start, end) = match (holds, extent.otherwise) {
                    (true, otherwise) => (start, otherwise.unwrap_or(extent.close)),
                    (false, Some(otherwise)) => (otherwise + 1, extent.close),
                    (false, None) => (extent.close, extent.close),
                };
                self.block(list, start, end, memory)?;
                self.took = holds;
            }
            Open::Loop => {
                self.first(list, &mut start, memory)?;
                loop {
                    self.trip(list, start, extent, memory)?;
                    let again = close.again.ok_or_else(|| EvalError::Malformed("a loop without `again`".into()))?;
                    let again = self.lane(again, again, 0)? & 1 == 1;
                    self.assign(close)?;
                    if !again {
                        break;
                    }
                }
            }
            Open::Traverse { index, count, bits } => {
                self.first(list, &mut start, memory)?;
                let count = self.lane(index, count, 0)?;
                let lanes = self.profile.lanes_of_bits(bits) as u64;
                let mut record = 0;
                while (record as i64) < count as i64 {
                    self.values[index.into_raw().into_u32() as usize] = Some(Lanes::uniform(record));
                    let left = (count - record).min(lanes);
                    self.existing = Some((bits, u64::MAX >> (64 - left)));
                    self.trip(list, start, extent, memory)?;
                    self.assign(close)?;
                    record += lanes;
                }
                self.existing = None;
            }
        }
        Ok(())
    }

    /// Computes the carries that a body begins with, and moves `start` behind them.
    fn first(&mut self, list: &List<R>, start: &mut usize, memory: &mut Memory) -> Result<(), EvalError> {
        while let Some(Stmt::Value(id)) = list.stmts.get(*start)
            && self.function.values[*id].op == Op::Carry
        {
            self.compute_on(*id, memory)?;
            *start += 1;
        }
        Ok(())
    }

    fn trip(&mut self, list: &List<R>, start: usize, extent: Extent, memory: &mut Memory) -> Result<(), EvalError> {
        self.trips = self.trips.checked_sub(1).ok_or(EvalError::Endless)?;
        self.block(list, start, extent.close, memory)
    }

    /// Gives the carries their next values.
    fn assign(&mut self, close: &Close) -> Result<(), EvalError> {
        let next = close.next.iter().map(|(_, next)| self.read(*next).cloned());
        let next: Vec<Lanes> = next.collect::<Result<_, _>>()?;
        for ((carry, _), value) in close.next.iter().zip(next) {
            self.values[carry.into_raw().into_u32() as usize] = Some(value);
        }
        Ok(())
    }

    fn merge(&mut self, id: ValueId) -> Result<(), EvalError> {
        let [then, otherwise] = self.function.values[id].args[..] else {
            return Err(EvalError::Malformed(format!("{} needs two operands", self.show(id))));
        };
        let value = self.read(if self.took { then } else { otherwise })?.clone();
        self.values[id.into_raw().into_u32() as usize] = Some(value);
        Ok(())
    }

    /// What reads or writes memory; only the active lanes do.
    pub(super) fn transfer(
        &self,
        id: ValueId,
        value: &Value,
        args: &[ValueId],
        lanes: usize,
        active: u64,
        memory: &mut Memory,
    ) -> Result<Lanes, EvalError> {
        let missing = || EvalError::Malformed(format!("{} lacks operands", self.show(id)));
        let scalar = |at: usize| args.get(at).ok_or_else(missing).and_then(|&arg| self.lane(id, arg, 0));
        let base = scalar(0)?;
        match (value.op, &value.imm) {
            (Op::Column, Imm::Int(column)) => {
                let address = memory.column(self.profile, base, *column);
                return address.map(Lanes::uniform).map_err(EvalError::Memory);
            }
            (Op::Count, _) => return memory.count(base).map(Lanes::uniform).map_err(EvalError::Memory),
            (Op::SetCount, _) => {
                let count = scalar(1)?;
                memory.write(base, 8, count).map_err(EvalError::Memory)?;
                return Ok(Lanes::uniform(count));
            }
            _ => {}
        }
        let Imm::Memory(elem) = value.imm else { return Err(missing()) };
        let bytes = elem.bits() as usize / 8;
        let mut result = Lanes::splat(0, lanes);
        let mut packed = 0u64;
        for lane in (0..lanes).filter(|lane| active >> lane & 1 == 1) {
            let second = *args.get(1).ok_or_else(missing)?;
            let element = match value.op {
                Op::Gather | Op::Scatter => {
                    let elem = self.function.values[second].ty.elem();
                    to_i128(elem, self.lane(id, second, lane)?) as u64
                }
                Op::StoreSelected => {
                    let selection = *args.get(3).ok_or_else(missing)?;
                    if self.lane(id, selection, lane)? & 1 == 0 {
                        continue;
                    }
                    packed += 1;
                    self.lane(id, second, 0)?.wrapping_add(packed - 1)
                }
                _ => self.lane(id, second, 0)?.wrapping_add(lane as u64),
            };
            let place = base.wrapping_add(element.wrapping_mul(bytes as u64));
            if matches!(value.op, Op::Load | Op::LoadUniform | Op::Gather) {
                let found = memory.read(place, bytes).map_err(EvalError::Memory)?;
                result.set(lane, Some(widened(elem, value.ty.elem(), found)));
            } else {
                let bits = self.lane(id, *args.get(2).ok_or_else(missing)?, lane)?;
                memory.write(place, bytes, bits).map_err(EvalError::Memory)?;
                result.set(lane, Some(bits));
            }
        }
        Ok(result)
    }
}

/// An element of memory as a lane that may be wider.
fn widened(from: Elem, to: Elem, bits: u64) -> u64 {
    if from == to { bits } else { to_i128(from, bits) as u64 & to.lane_mask() }
}

#[cfg(test)]
mod tests {
    use crate::lane::{EvalError, eval_run};
    use crate::memory::Memory;
    use crate::ops::TrapReason;
    use crate::tined::{check, print, read};
    use crate::value::Lanes;

    const HEAD: &str = "rake tined 1\nprofile x86-sse2\nfuse full\n\n";

    /// `x <- x + k` over a stack of `f32` and `u8` columns.
    const ADD: &str = "\
run add(s: address to mut stack P(x: f32, k: u8)) {
  %0 : address = param 0
  %1 : <i64> = count %0
  %2 : address = column %0, 0
  %3 : address = column %0, 1
  traverse %4 up to %1 by 32 {
    %5 : f32s = load f32 %2, %4
    %6 : u32s = load u8 %3, %4
    %7 : f32s = to_f32 %6
    %8 : f32s = add %5, %7
    %9 : f32s = store f32 %2, %4, %8
    %10 : u32s = store u8 %3, %4, %6
  }
}
";

    /// Keeps the elements above zero of a view, counts by a loop over racks, and stops at an index that is out of bounds.
    const KEEP: &str = "\
run keep(v: address to mut []i32, v_count: <i32>, out: address to mut []i64) {
  %0 : address = param 0
  %1 : <i32> = param 1
  %2 : address = param 2
  %3 : <i64> = to_i64 %1
  %4 : <i64> = const 0
  %5 : <bool> = lt %4, %3
  if %5 {
    loop {
      %6 : <i64> = carry %4
      %7 : <i64> = carry %4
      %8 : <i64> = const 4
      %9 : <i64> = add %6, %8
      %10 : <bool> = le %9, %3
      %11 : <bool> = check %10, bounds
      %12 : i32s = load i32 %0, %6
      %13 : i32s = const 0
      %14 : mask = gt %12, %13
      %15 : i32s = store_selected i32 %0, %7, %12, %14
      %16 : <i64> = count_true %14
      %17 : <i64> = add %7, %16
      %18 : <bool> = lt %9, %3
    } again %18 with %6 = %9, %7 = %17
  } else {
    %19 : <i64> = const -1
  }
  %20 : <i64> = merge %7, %19
}
";

    fn program(text: &str) -> crate::tined::Program {
        let text = format!("{HEAD}{text}");
        let program = read(&text).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(print(&program), text);
        assert_eq!(check(&program), Ok(()));
        program
    }

    fn words(bytes: &[u8]) -> Vec<u32> {
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    #[test]
    fn a_traverse_touches_existing_records_only() {
        let program = program(ADD);
        for count in 0..10usize {
            let mut memory = Memory::default();
            let x: Vec<u8> = (0..count).flat_map(|at| (at as f32 + 0.5).to_le_bytes()).collect();
            let k: Vec<u8> = (0..count).map(|at| (250 + at) as u8).collect();
            let (x, k) = (memory.add(x, true).unwrap(), memory.add(k.clone(), true).unwrap());
            let descriptor = [count as u64, x, k].into_iter().flat_map(u64::to_le_bytes).collect();
            let s = memory.add(descriptor, true).unwrap();
            eval_run(&program, "add", &[Lanes::uniform(s)], &mut memory).unwrap();
            let right: Vec<u32> =
                (0..count).map(|at| (at as f32 + 0.5 + f32::from((250 + at) as u8)).to_bits()).collect();
            assert_eq!(words(memory.block(x).unwrap()), right);
        }
    }

    #[test]
    fn loops_carry_and_checks_stop() {
        let program = program(KEEP);
        let keep = |elements: &[i32]| {
            let mut memory = Memory::default();
            let v = memory.add(elements.iter().flat_map(|e| e.to_le_bytes()).collect(), true).unwrap();
            let args = [Lanes::uniform(v), Lanes::uniform(elements.len() as u64), Lanes::uniform(0)];
            let done = eval_run(&program, "keep", &args, &mut memory);
            (done, words(memory.block(v).unwrap()))
        };
        let (done, left) = keep(&[5, -1, 6, 0, -2, 7, 8, 9]);
        assert_eq!((done, &left[..5]), (Ok(()), &[5, 6, 7, 8, 9][..]));
        assert_eq!(keep(&[]).0, Ok(()));
        assert_eq!(keep(&[1, 2, 3, 4, 5]).0, Err(EvalError::Trap(TrapReason::Bounds)));
    }

    #[test]
    fn misplaced_markers_are_found() {
        for (from, to, said) in [
            ("\n    } again %18 with %6 = %9, %7 = %17", "\n    } again %18 with %6 = %9", "not its carries"),
            ("again %18", "again %9", "needs a <bool>"),
            ("} again %18 with", "} with", "ends in `again`"),
            ("merge %7, %19", "merge %7, %17", "before it is computed"),
            ("%20 : <i64> = merge %7, %19", "%20 : <i64> = add %17, %4", "before it is computed"),
            ("%9 : <i64> = add %6, %8", "%9 : <i64> = carry %6", "does not stand first"),
            ("check %10", "check %9", "needs <bool>"),
            ("load i32 %0, %6", "load f32 %0, %6", "of f32 in memory is no i32s"),
        ] {
            let text = KEEP.replacen(from, to, 1);
            assert_ne!(text, KEEP);
            let errors = check(&read(&format!("{HEAD}{text}")).unwrap()).unwrap_err();
            assert!(errors.iter().any(|e| e.contains(said)), "{said}: {errors:?}");
        }
    }
}
