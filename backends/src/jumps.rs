//! Where the markers of bodies lead.
//!
//! ```text
//!   compare g1, g2
//!   if 2                jumps behind `end` where the condition does not hold
//!   ...
//!   end
//! ```

use rake_ir::allocated::Function;
use rake_ir::machine::{Cond, Flow};

/// Where a jump leads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Target {
    /// To the place of this instruction.
    Inst(u32),
    /// To the trap behind the function's end.
    Trap,
}

/// A jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Jump {
    /// Its condition; `None` when it always jumps.
    pub cond: Option<Cond>,
    /// Where it leads.
    pub to: Target,
}

/// The jump that each instruction of a function is; `None` for the others. Markers that have no partner jump nowhere. Jumps
/// lead behind labels, and behind the padding of the loop that may open there.
pub fn jumps(function: &Function) -> Vec<Option<Jump>> {
    let partners = rake_ir::machine::flow::partners(&function.insts).unwrap_or_default();
    let insts = &function.insts;
    let behind = |at: u32| {
        let labels = insts.iter().skip(at as usize).take_while(|inst| is_label(inst.op.flow()));
        Target::Inst(at + labels.count() as u32)
    };
    let jump = |at: usize| {
        let partner = partners.get(at).copied().flatten();
        let cond = insts[at].cond();
        Some(match insts[at].op.flow()? {
            Flow::Again => Jump { cond: Some(cond?), to: behind(partner?) },
            Flow::If => {
                // Behind the jump that closes the first body, when there are two.
                let two = insts.get(partner? as usize)?.op.flow() == Some(Flow::Else);
                Jump { cond: Some(cond?.negated()), to: behind(partner? + u32::from(two)) }
            }
            Flow::Else => Jump { cond: None, to: behind(partner?) },
            Flow::TrapUnless => Jump { cond: Some(cond?.negated()), to: Target::Trap },
            _ => return None,
        })
    };
    (0..insts.len()).map(jump).collect()
}

/// Whether an instruction has no bytes of its own.
pub fn is_label(flow: Option<Flow>) -> bool {
    matches!(flow, Some(Flow::Loop | Flow::End))
}

/// Whether some jump leads to the trap behind the end.
pub fn traps(jumps: &[Option<Jump>]) -> bool {
    jumps.iter().flatten().any(|jump| jump.to == Target::Trap)
}
