//! Which table's address a general register holds, as the allocated program has it: an entry names its table again, though
//! no byte of the instruction does.

use rake_ir::machine::{Class, Inst, LiteralId, Mem, PhysReg, View};
use std::collections::BTreeMap;

/// The tables by the registers that hold their addresses.
#[derive(Clone, Debug, Default)]
pub struct Tables(BTreeMap<PhysReg, LiteralId>);

impl Tables {
    /// Follows an instruction.
    ///
    /// # Errors
    /// That it reads an entry of another table than the one at its address.
    pub fn follow(&mut self, inst: &Inst<PhysReg>) -> Result<(), String> {
        let slots = inst.op.info().slots;
        let table = slots.iter().position(|slot| slot.mem == Mem::Table).and_then(|at| inst.args.get(at)?.literal());
        let address = inst
            .args
            .first()
            .and_then(|arg| arg.reg())
            .filter(|_| slots.first().is_some_and(|slot| slot.view == View::Address));
        if let (Some(table), Some(address)) = (table, address)
            && self.0.get(&address) != Some(&table)
        {
            return Err(format!("{address} does not hold the table's address"));
        }
        if let Some(dst) = inst.dst.filter(|dst| dst.class == Class::G) {
            match table.filter(|_| address.is_none()) {
                Some(table) => self.0.insert(dst, table),
                None => self.0.remove(&dst),
            };
        }
        Ok(())
    }
}
