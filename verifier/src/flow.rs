//! Where the markers of an allocated function stand in its bytes, and where its jumps have to lead.

use rake_ir::allocated::Function;
use rake_ir::machine::flow::partners;
use rake_ir::machine::{Cond, Flow, Inst, PhysReg};

/// The order of execution of an allocated function, as its bytes have to say it.
pub struct Flows {
    /// Each instruction that has bytes, and its number among the decoded ones.
    pub pairs: Vec<(usize, usize)>,
    /// Where each instruction starts, and where they end.
    starts: Vec<i64>,
    partners: Vec<Option<u32>>,
    /// Whether a trap stands behind the last instruction.
    pub traps: bool,
}

impl Flows {
    /// Of a function whose instructions, the landing apart, were decoded at these places of `len` bytes.
    ///
    /// # Errors
    /// When its markers do not nest.
    pub fn of(function: &Function, offsets: &[u32], len: u32) -> Result<Flows, String> {
        let partners = partners(&function.insts)?;
        let is_label = |inst: &Inst<PhysReg>| matches!(inst.op.flow(), Some(Flow::Loop | Flow::End));
        let traps = function.insts.iter().any(|inst| inst.op.flow() == Some(Flow::TrapUnless));
        let (mut pairs, mut starts) = (Vec::new(), Vec::new());
        for (at, inst) in function.insts.iter().enumerate() {
            starts.push(offsets.get(pairs.len()).copied().unwrap_or(len).into());
            if !is_label(inst) {
                pairs.push((at, pairs.len()));
            }
        }
        starts.push(offsets.get(pairs.len()).copied().unwrap_or(len).into());
        Ok(Flows { pairs, starts, partners, traps })
    }

    /// The jump that an instruction has to be, its condition if it has one and its target; `None` when it is none.
    ///
    /// # Errors
    /// When it is a marker without partner or condition.
    pub fn jump(&self, insts: &[Inst<PhysReg>], at: usize) -> Result<Option<(Option<Cond>, i64)>, String> {
        let inst = &insts[at];
        let cond = || inst.cond().ok_or("a marker without a condition");
        let partner = || self.partners[at].map(|at| at as usize).ok_or("a marker without its partner");
        Ok(Some(match inst.op.flow() {
            Some(Flow::Again) => (Some(cond()?), self.starts[partner()?]),
            Some(Flow::If) => {
                let closer = partner()?;
                let two = insts.get(closer).is_some_and(|inst| inst.op.flow() == Some(Flow::Else));
                (Some(cond()?.negated()), self.starts[closer + usize::from(two)])
            }
            Some(Flow::Else) => (None, self.starts[partner()?]),
            Some(Flow::TrapUnless) => (Some(cond()?.negated()), self.starts[insts.len()]),
            _ => return Ok(None),
        }))
    }
}
