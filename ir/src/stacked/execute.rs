//! Executes `stacked` on the memory that a caller passed.

use super::{Code, Function};
use crate::machine::bits::{self, Bits, ZERO};
use crate::machine::run::Halt;
use crate::machine::{Ctx, LiteralId, MachOp};
use crate::memory::Memory;
use crate::profile::Profile;

/// What locals hold before anything is written.
const JUNK: Bits = [0xdead_beef; 16];

/// Instructions after which an execution is given up; no test's run takes nearly as many.
const MOST_STEPS: u64 = 1 << 28;

/// Runs a function on the contents of its parameters; returns those of its result.
/// `None` when it takes what is not there ([`check`](super::check) finds that).
pub fn eval(function: &Function, profile: Profile, args: &[Bits]) -> Option<Bits> {
    run(function, profile, args, &mut Memory::default()).ok()?
}

/// The same on memory; a run returns nothing.
///
/// # Errors
/// When a check does not hold, or the code is broken.
pub fn run(function: &Function, profile: Profile, args: &[Bits], memory: &mut Memory) -> Result<Option<Bits>, Halt> {
    let partners = partners(function).ok_or(Halt::Broken)?;
    let mut locals = vec![JUNK; function.params.len() + function.locals.len()];
    locals.iter_mut().zip(args).for_each(|(local, arg)| *local = *arg);
    let mut machine = Machine { function, profile, locals, stack: Vec::new(), memory };
    let (mut at, mut steps) = (0, 0u64);
    while let Some(inst) = function.code.get(at) {
        steps += 1;
        if steps > MOST_STEPS {
            return Err(Halt::Broken);
        }
        let partner = partners[at];
        at += 1;
        match &inst.code {
            Code::Loop | Code::End => {}
            Code::Else => at = partner.ok_or(Halt::Broken)? + 1,
            Code::If | Code::Again => {
                let holds = machine.stack.pop().ok_or(Halt::Broken)?[0] != 0;
                if holds == (inst.code == Code::Again) {
                    at = partner.ok_or(Halt::Broken)? + 1;
                }
            }
            Code::Trap => return Err(Halt::Trap),
            code => machine.step(code).ok_or(Halt::Broken)?,
        }
    }
    match (machine.stack.pop(), machine.stack.is_empty()) {
        (result, true) if result.is_some() == function.result.is_some() => Ok(result),
        _ => Err(Halt::Broken),
    }
}

/// Where each marker may lead: `if` to its `else` or `end`, `else` to its `end`, a jump back to its `loop`.
fn partners(function: &Function) -> Option<Vec<Option<usize>>> {
    let mut partners = vec![None; function.code.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, inst) in function.code.iter().enumerate() {
        match inst.code {
            Code::Loop | Code::If => open.push(at),
            Code::Else => {
                partners[open.pop()?] = Some(at);
                open.push(at);
            }
            Code::End => partners[open.pop()?] = Some(at),
            Code::Again => partners[at] = Some(*open.last()?),
            _ => {}
        }
    }
    open.is_empty().then_some(partners)
}

struct Machine<'a> {
    function: &'a Function,
    profile: Profile,
    locals: Vec<Bits>,
    stack: Vec<Bits>,
    memory: &'a mut Memory,
}

impl Machine<'_> {
    fn step(&mut self, code: &Code) -> Option<()> {
        match code {
            Code::Get(local) => self.stack.push(*self.locals.get(*local as usize)?),
            Code::Set(local) => *self.locals.get_mut(*local as usize)? = self.stack.pop()?,
            Code::Tee(local) => *self.locals.get_mut(*local as usize)? = *self.stack.last()?,
            Code::Op { op, literals, imm, offset } => self.operation(*op, literals, imm.unwrap_or(0), *offset)?,
            _ => return None,
        }
        Some(())
    }

    fn operation(&mut self, op: MachOp, literals: &[LiteralId], imm: u8, offset: u32) -> Option<()> {
        let lanes = self.profile.lanes_of_bits(32);
        let slots = op.info().slots;
        let (mut operands, mut literals) = ([ZERO; 4], literals.iter().rev());
        let mut place = None;
        for (at, slot) in slots.iter().enumerate().rev() {
            *operands.get_mut(at)? = if slot.mem.is_literal() {
                bits::repeat(self.function.literals.get(literals.next()?.0 as usize)?, lanes)
            } else if slot.mem.is_address() {
                // Addresses have 32 bits, and do not wrap.
                let address = u64::from(self.stack.pop()?[0]) + u64::from(offset);
                let count = op.place_bytes(at, self.profile);
                place = Some((address, count));
                self.bytes(address, count)
            } else {
                self.stack.pop()?
            };
        }
        let result = (op.info().eval)(Ctx { lanes, imm }, operands.get(..slots.len())?);
        if op.info().writes {
            let (address, count) = place?;
            for at in 0..count {
                let byte = u64::from(result[at / 4] >> (8 * (at % 4)) & 0xff);
                let _ = self.memory.write(address + at as u64, 1, byte);
            }
        }
        if op.info().dst.is_some() {
            self.stack.push(result);
        }
        Some(())
    }

    /// Bytes at an address; those that do not exist are zero.
    fn bytes(&self, address: u64, count: usize) -> Bits {
        let mut out = ZERO;
        for at in 0..count.min(64) {
            out[at / 4] |= u32::from(self.memory.byte(address + at as u64)) << (8 * (at % 4));
        }
        out
    }
}
