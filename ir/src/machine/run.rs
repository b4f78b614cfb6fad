//! Executes flat lists of machine instructions over registers of any kind and the memory that a caller passed.
//!
//! A general register's 64 bits are lanes 0 and 1. Machine code may read whole racks beside what exists: bytes that do not
//! exist are zero when read and dropped when written. Whether the code faults is for the machine to say.
//!
//! ```text
//! %3 : v = rack_load [%0 + %1*4 + 16]     =>     bytes %0 + %1*4 + 16 and on, as the lanes of %3
//! ```

use super::bits::{self, Bits, ZERO, long};
use super::flow::partners;
use super::{Address, Ctx, Flow, Inst, Mem, Operand};
use crate::memory::Memory;
use crate::profile::Profile;

/// Instructions after which an evaluation is given up; no test's run takes nearly as many.
const MOST_STEPS: u64 = 1 << 28;

/// Why an evaluation ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// A check did not hold.
    Trap,
    /// The code reads what nothing defines, names what it does not have, or does not end; the checks find most of that.
    Broken,
}

/// A function's registers.
pub(crate) trait Registers<R> {
    /// What a register holds; `None` when nothing does.
    fn get(&self, register: R) -> Option<Bits>;
    /// Sets a register; `None` when there is none.
    fn set(&mut self, register: R, bits: Bits) -> Option<()>;
}

/// What instructions work on.
pub(crate) struct Machine<'a, F> {
    pub profile: Profile,
    pub literals: &'a [Vec<u8>],
    pub registers: F,
    pub memory: &'a mut Memory,
}

impl<F> Machine<'_, F> {
    /// Executes instructions up to `ret` or the end.
    ///
    /// # Errors
    /// When a check does not hold, or the code is broken.
    pub fn run<R: Copy>(&mut self, insts: &[Inst<R>]) -> Result<(), Halt>
    where
        F: Registers<R>,
    {
        let partners = partners(insts).map_err(|_| Halt::Broken)?;
        let (mut at, mut flags, mut stack, mut steps) = (0, (0, 0), Vec::new(), 0u64);
        while let Some(inst) = insts.get(at) {
            steps += 1;
            if steps > MOST_STEPS {
                return Err(Halt::Broken);
            }
            let flow = inst.op.flow();
            let partner = partners[at].map(|partner| partner as usize);
            at += 1;
            match flow {
                None => self.step(inst).map(drop).ok_or(Halt::Broken)?,
                Some(Flow::Return) => return Ok(()),
                Some(Flow::Loop | Flow::End) => {}
                Some(Flow::Compare) => {
                    let both = self.step(inst).ok_or(Halt::Broken)?;
                    flags = (long(&both), u64::from(both[2]) | u64::from(both[3]) << 32);
                }
                Some(Flow::Push) => stack.push(self.step(inst).ok_or(Halt::Broken)?),
                Some(Flow::Pop) => {
                    let (bits, dst) = (stack.pop().ok_or(Halt::Broken)?, inst.dst.ok_or(Halt::Broken)?);
                    self.registers.set(dst, bits).ok_or(Halt::Broken)?;
                }
                Some(Flow::Else) => at = partner.ok_or(Halt::Broken)? + 1,
                Some(Flow::Again | Flow::If | Flow::TrapUnless) => {
                    let holds = self.holds(inst, flags).ok_or(Halt::Broken)?;
                    match (flow, holds) {
                        (Some(Flow::TrapUnless), false) => return Err(Halt::Trap),
                        (Some(Flow::Again), true) | (Some(Flow::If), false) => at = partner.ok_or(Halt::Broken)? + 1,
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a marker's condition holds: that of the flags, or of its word.
    fn holds<R: Copy>(&self, inst: &Inst<R>, flags: (u64, u64)) -> Option<bool>
    where
        F: Registers<R>,
    {
        match inst.args.first() {
            Some(word) => Some(self.registers.get(word.reg()?)?[0] != 0),
            None => Some(inst.cond()?.holds(flags.0, flags.1)),
        }
    }

    /// Computes one instruction, writes its register or its place, and returns what it computed.
    fn step<R: Copy>(&mut self, inst: &Inst<R>) -> Option<Bits>
    where
        F: Registers<R>,
    {
        let row = inst.op.info();
        let lanes = self.profile.lanes_of_bits(32);
        let mut operands = [ZERO; 4];
        for (at, arg) in inst.args.iter().enumerate() {
            let picked = at.checked_sub(1).map_or(ZERO, |before| operands[before]);
            *operands.get_mut(at)? = self.operand(inst, at, *arg, &picked)?;
        }
        let ctx = Ctx { lanes, imm: inst.imm.unwrap_or(0) };
        let result = (row.eval)(ctx, &operands[..inst.args.len()]);
        if let Some(dst) = inst.dst {
            self.registers.set(dst, result)?;
        }
        if row.writes {
            self.write(inst, &result, &operands)?;
        }
        Some(result)
    }

    fn operand<R: Copy>(&self, inst: &Inst<R>, at: usize, arg: Operand<R>, picked: &Bits) -> Option<Bits>
    where
        F: Registers<R>,
    {
        let mem = inst.op.info().slots.get(at)?.mem;
        let lanes = self.profile.lanes_of_bits(32);
        let literal = |number: u32| self.literals.get(number as usize);
        Some(match arg {
            Operand::Reg(r) => self.registers.get(r)?,
            Operand::Literal(l) if mem == Mem::Table => bits::entry(literal(l.0)?, picked),
            Operand::Literal(l) | Operand::Broadcast(l) => bits::repeat(literal(l.0)?, lanes),
            Operand::Number(number) => bits::of_long(i64::from(number) as u64),
            Operand::Memory(address) if mem == Mem::Sum => bits::of_long(self.address(address, None)?),
            Operand::Memory(address) if mem == Mem::Places => {
                let mut out = ZERO;
                for (lane, word) in out.iter_mut().enumerate().take(lanes) {
                    *word = self.bytes(self.address(address, Some(lane))?, 4)[0];
                }
                out
            }
            Operand::Memory(address) => self.bytes(self.address(address, None)?, inst.op.place_bytes(at, self.profile)),
            Operand::MemoryElement(address) => {
                let element = self.bytes(self.address(address, None)?, 4);
                bits::map1(Ctx { lanes, imm: 0 }, &ZERO, |_| element[0])
            }
        })
    }

    /// Where an address leads; for a rack of indices, where this lane's does.
    fn address<R: Copy>(&self, address: Address<R>, lane: Option<usize>) -> Option<u64>
    where
        F: Registers<R>,
    {
        let base = long(&self.registers.get(address.base)?);
        let index = match (address.index, lane) {
            (None, _) => 0,
            (Some(index), None) => long(&self.registers.get(index)?),
            (Some(index), Some(lane)) => i64::from(self.registers.get(index)?[lane] as i32) as u64,
        };
        Some(base.wrapping_add(index << address.scale).wrapping_add(i64::from(address.disp) as u64))
    }

    /// `count` bytes at an address.
    fn bytes(&self, address: u64, count: usize) -> Bits {
        let mut out = ZERO;
        for at in 0..count.min(64) {
            out[at / 4] |= u32::from(self.memory.byte(address.wrapping_add(at as u64))) << (8 * (at % 4));
        }
        out
    }

    fn write<R: Copy>(&mut self, inst: &Inst<R>, result: &Bits, operands: &[Bits]) -> Option<()>
    where
        F: Registers<R>,
    {
        let at = inst.op.info().address_slot()?;
        let (address, bytes) = (inst.args.get(at)?.address()?, inst.op.place_bytes(at, self.profile));
        if inst.op.info().slots[at].mem != Mem::Places {
            let start = self.address(address, None)?;
            self.put(start, bytes, result);
            return Some(());
        }
        // Lanes in order, those of the mask alone: the last of several lanes with one place wins.
        for lane in (0..self.profile.lanes_of_bits(32)).filter(|lane| operands[0][0] >> lane & 1 == 1) {
            let start = self.address(address, Some(lane))?;
            self.put(start, 4, &[result[lane]; 16]);
        }
        Some(())
    }

    /// Writes bytes; those that do not exist are dropped.
    fn put(&mut self, start: u64, count: usize, bits: &Bits) {
        for at in 0..count.min(64) {
            let byte = u64::from(bits[at / 4] >> (8 * (at % 4)) & 0xff);
            let _ = self.memory.write(start.wrapping_add(at as u64), 1, byte);
        }
    }
}

#[cfg(test)]
mod tests;
