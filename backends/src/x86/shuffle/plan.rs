//! A plan: moves over racks, what it costs, and its steps.

use super::moves::{Control, Move, Pick};
use crate::picture::{ANY, Picture, Symbol, ZERO};
use rake_ir::machine::MachOp;
use rake_ir::machine::x86::Space;
use rake_ir::machine::x86::X86;
use rake_passes::select::rule::{PlannedSrc, PlannedStep};
use std::rc::Rc;

/// The options of a move's fields.
pub(super) type Options = [u8; 16];

/// A rack and how to come by it.
#[derive(Clone)]
pub(super) enum Rack {
    /// An operand of the operation.
    Given(usize),
    /// Zeros.
    Zero,
    /// The result of a move.
    Made(Rc<Made>),
}

/// One move of a plan.
pub(super) struct Made {
    pub by: &'static Move,
    pub options: Options,
    pub args: Vec<Rack>,
}

/// What plans are compared by: instructions (with copies and loads of what cannot stay in memory), then latency from the
/// operands and reciprocal throughput, both in hundredths of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Cost {
    pub instructions: u32,
    pub latency: u32,
    pub throughput: u32,
}

/// What a machine and an element make of a plan.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub space: Space,
    /// Whether the element is an integer, which has instructions of its own.
    pub integer: bool,
}

impl Form {
    /// The row of a move.
    pub fn row(self, by: &Move) -> X86 {
        by.ops[usize::from(self.integer)]
    }

    fn cost_of(self, op: X86) -> (u32, u32) {
        let cost = op.info().cost[self.space as usize];
        (cost.throughput.into(), cost.latency.into())
    }

    /// What a plan costs that ends in this move over plans of these costs, copies apart, and as if no two were alike.
    pub fn cost(self, by: &Move, args: &[Cost]) -> Cost {
        let (throughput, latency) = self.cost_of(self.row(by));
        let mut total = Cost { instructions: 1, latency: 0, throughput };
        if matches!(by.control, Control::Literal { memory: false, .. }) {
            total.instructions += 1;
            total.throughput += self.cost_of(X86::Load).0;
        }
        for arg in args {
            total.instructions += arg.instructions;
            total.throughput += arg.throughput;
            total.latency = total.latency.max(arg.latency);
        }
        total.latency += latency;
        total
    }

    /// The cost of a rack of zeros, which waits for nothing.
    pub fn zero(self) -> Cost {
        Cost { instructions: 1, latency: 0, throughput: self.cost_of(X86::Zero).0 }
    }
}

/// What a rack holds after a move over racks that hold `args`.
pub(super) fn apply(by: &Move, options: &Options, n: usize, args: &[Picture]) -> Picture {
    Picture::of(n, |l| taken((by.pick)(n, l, options[(by.field)(l)].into()), args))
}

/// What a pick takes.
pub(super) fn taken(pick: Pick, args: &[Picture]) -> Symbol {
    match pick {
        Pick::From(operand, lane) => args.get(operand).map_or(ANY, |a| a.lanes[lane]),
        Pick::Zero => ZERO,
    }
}

/// A plan as steps, each distinct one once; its result is the last one, or the returned operand where there is none.
pub(super) fn steps(form: Form, n: usize, rack: &Rack) -> (Vec<PlannedStep>, PlannedSrc) {
    let mut steps = Vec::new();
    let last = lower(form, n, rack, &mut steps);
    (steps, last)
}

/// Plans are at most three moves deep.
fn lower(form: Form, n: usize, rack: &Rack, steps: &mut Vec<PlannedStep>) -> PlannedSrc {
    let made = match rack {
        Rack::Given(operand) => return PlannedSrc::Arg(*operand as u8),
        Rack::Zero => return PlannedSrc::Lanes(vec![0]),
        Rack::Made(made) => made,
    };
    let mut args: smallvec::SmallVec<[PlannedSrc; 3]> =
        made.args.iter().map(|arg| lower(form, n, arg, steps)).collect();
    let mut imm = None;
    match made.by.control {
        Control::Fixed => {}
        Control::Immediate(width, code) => {
            let fields = (made.by.fields)(n);
            let all = (0..fields).fold(0, |all, f| all | code(made.options[f].into()) << (f as u32 * width));
            imm = Some(all as u8);
        }
        Control::Literal { at, value, imm: fixed, .. } => {
            imm = fixed;
            let lanes = (0..n).map(|l| value(made.options[l].into())).collect();
            args.insert(at, PlannedSrc::Lanes(lanes));
        }
    }
    let step = PlannedStep { op: MachOp::X86(form.row(made.by)), args, imm };
    let at = steps.iter().position(|s| *s == step).unwrap_or_else(|| {
        steps.push(step);
        steps.len() - 1
    });
    PlannedSrc::Step(at as u8)
}

/// Copies that a sequence needs where an instruction overwrites an operand that is read again.
pub(super) fn copies(space: Space, steps: &[PlannedStep]) -> u32 {
    let overwrites = |step: &PlannedStep| {
        let tied = step.op.info().tied[space as usize]?;
        step.args.get(usize::from(tied)).cloned()
    };
    let lost = |(at, step): (usize, &PlannedStep)| {
        overwrites(step).is_some_and(|src| steps[at + 1..].iter().any(|later| later.args.contains(&src)))
    };
    steps.iter().enumerate().filter(|&s| lost(s)).count() as u32
}
