//! The kernel report: for each function its instructions by class, its registers, its fused multiply-adds and its cost; of
//! runs what they do to memory ([`runs`]), and what a trip of each innermost loop costs.

pub mod runs;

use crate::pipeline::Ir;
use rake_ir::allocated::{Function, Program, registers};
use rake_ir::lane::FuseLevel;
use rake_ir::machine::flow::partners;
use rake_ir::machine::{Class, Flow, Kind, MachOp, Mem, PhysReg};
use rake_ir::profile::Profile;
use rake_ir::stacked::{self, Code};
use runs::Run;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What is said of one function.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The profile it was compiled for.
    pub profile: Profile,
    /// The freedom its regions had.
    pub fuse: FuseLevel,
    /// Instructions by class, the classes of [`class_name`].
    pub instructions: BTreeMap<&'static str, usize>,
    /// Rack registers used, and those there are; locals used, and 0, where the machine is virtual.
    pub racks: (usize, usize),
    /// Mask registers used, and those there are.
    pub masks: (usize, usize),
    /// Fused multiply-adds.
    pub multiply_adds: usize,
    /// Sum of reciprocal throughputs, and the longest path of latencies, in cycles by the profile's cost table.
    pub cycles: (f64, f64),
    /// Bytes of literals in memory, or in instructions.
    pub literal_bytes: usize,
    /// Each innermost loop's instructions, and the sum of their reciprocal throughputs in cycles.
    pub loops: Vec<(usize, f64)>,
    /// What it does to memory, when it is a run.
    pub run: Option<Run>,
}

/// What a class of instructions is called.
pub const fn class_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Arith => "arith",
        Kind::Logic => "logic",
        Kind::Compare => "compare",
        Kind::Choose => "choose",
        Kind::Cross => "cross",
        Kind::Move => "move",
        Kind::Const => "const",
        Kind::Boundary => "boundary",
        Kind::Word => "word",
        Kind::Transfer => "transfer",
        Kind::Control => "control",
    }
}

/// Whether it is a multiply-add of any sign and form that rounds once, or may.
pub fn is_multiply_add(op: MachOp) -> bool {
    op.info().contracts
}

/// The report on each function of a program in the last IR of its profile, with what is known of its runs.
pub fn kernels(ir: &Ir, runs: Vec<Run>) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = match ir {
        Ir::Allocated(program) => program.functions.iter().map(|function| kernel(function, program)).collect(),
        Ir::Stacked(program) => program.functions.iter().map(|function| stacked_kernel(function, program)).collect(),
        _ => Vec::new(),
    };
    for run in runs {
        if let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.name == run.name) {
            kernel.run = Some(run);
        }
    }
    kernels
}

/// Each innermost loop's instructions, and the sum of their reciprocal throughputs in cycles.
fn loops(function: &Function, profile: Profile) -> Vec<(usize, f64)> {
    let partners = partners(&function.insts).unwrap_or_default();
    let closes = partners.iter().enumerate().filter_map(|(close, open)| {
        let again = function.insts[close].op.flow() == Some(Flow::Again);
        Some((open.filter(|_| again)? as usize, close))
    });
    let innermost = |(open, close): &(usize, usize)| {
        !function.insts[open + 1..*close].iter().any(|inst| inst.op.flow() == Some(Flow::Loop))
    };
    let cost = |(open, close): (usize, usize)| {
        let trip = &function.insts[open + 1..=close];
        let throughput: u32 = trip.iter().map(|inst| u32::from(inst.op.cost(profile).throughput)).sum();
        (trip.iter().filter(|inst| inst.op.flow() != Some(Flow::End)).count(), f64::from(throughput) / 100.0)
    };
    closes.filter(innermost).map(cost).collect()
}

fn stacked_kernel(function: &stacked::Function, program: &stacked::Program) -> Kernel {
    let profile = program.profile;
    let throughput: u32 = function.ops().map(|op| u32::from(op.cost(profile).throughput)).sum();
    let literals = function.code.iter().filter_map(|inst| match &inst.code {
        Code::Op { op, literals, .. } => Some((op, literals)),
        _ => None,
    });
    let long = literals.flat_map(|(op, literals)| literals.iter().map(move |literal| (op, literal.0 as usize)));
    let bytes = |(op, literal): (&MachOp, usize)| match op.info().slots.iter().any(|slot| slot.mem == Mem::Rack) {
        true => profile.rack_bytes(),
        false => function.literals.get(literal).map_or(0, Vec::len),
    };
    Kernel {
        name: function.name.to_string(),
        profile,
        fuse: program.fuse,
        instructions: by_class(function.ops()),
        racks: (function.params.len() + function.locals.len(), 0),
        masks: (0, 0),
        multiply_adds: function.ops().filter(|&op| is_multiply_add(op)).count(),
        cycles: (f64::from(throughput) / 100.0, f64::from(stacked_latency(function, profile)) / 100.0),
        literal_bytes: long.map(bytes).sum(),
        loops: Vec::new(),
        run: None,
    }
}

/// When the result is ready, as [`latency`].
fn stacked_latency(function: &stacked::Function, profile: Profile) -> u32 {
    let (mut locals, mut stack) = (BTreeMap::<u32, u32>::new(), Vec::<u32>::new());
    for inst in &function.code {
        match &inst.code {
            Code::Get(local) => stack.push(locals.get(local).copied().unwrap_or(0)),
            Code::Set(local) => {
                locals.insert(*local, stack.pop().unwrap_or(0));
            }
            Code::Tee(local) => {
                locals.insert(*local, stack.last().copied().unwrap_or(0));
            }
            Code::Op { op, .. } => {
                let operands = op.info().slots.iter().filter(|slot| !slot.mem.is_literal()).count();
                let taken = stack.split_off(stack.len().saturating_sub(operands));
                stack.push(taken.into_iter().max().unwrap_or(0) + u32::from(op.cost(profile).latency));
            }
            // Of runs no path is told.
            _ => return 0,
        }
    }
    stack.pop().unwrap_or(0)
}

fn kernel(function: &Function, program: &Program) -> Kernel {
    let profile = program.profile;
    let used = |class| (function.registers_used(class), registers(profile, class).len());
    let throughput: u32 = function.insts.iter().map(|inst| u32::from(inst.op.cost(profile).throughput)).sum();
    Kernel {
        name: function.name.to_string(),
        profile,
        fuse: program.fuse,
        instructions: by_class(function.insts.iter().map(|inst| inst.op)),
        racks: used(Class::V),
        masks: used(Class::K),
        multiply_adds: function.insts.iter().filter(|inst| is_multiply_add(inst.op)).count(),
        cycles: (f64::from(throughput) / 100.0, f64::from(latency(function, profile)) / 100.0),
        literal_bytes: function.literals.iter().map(Vec::len).sum(),
        loops: loops(function, profile),
        run: None,
    }
}

/// Instructions by class.
pub fn by_class(ops: impl IntoIterator<Item = MachOp>) -> BTreeMap<&'static str, usize> {
    let mut classes = BTreeMap::new();
    for op in ops {
        *classes.entry(class_name(op.info().kind)).or_insert(0) += 1;
    }
    classes
}

/// When the result is ready, in hundredths of a cycle after the arguments are.
fn latency(function: &Function, profile: Profile) -> u32 {
    let mut ready: BTreeMap<PhysReg, u32> = BTreeMap::new();
    for inst in &function.insts {
        let start = inst.regs().filter_map(|register| ready.get(&register)).max().copied().unwrap_or(0);
        if let Some(register) = inst.dst {
            ready.insert(register, start + u32::from(inst.op.cost(profile).latency));
        }
    }
    function.result.and_then(|result| ready.get(&result.place)).copied().unwrap_or(0)
}

/// The report for people, one paragraph a function.
pub fn text(kernels: &[Kernel]) -> String {
    let mut text = String::new();
    for kernel in kernels {
        let (used, available) = kernel.racks;
        let masks = match kernel.masks {
            (_, 0) => String::new(),
            (used, available) => format!(", {used} of {available} mask registers"),
        };
        let (throughput, latency) = kernel.cycles;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} on {} (fuse {})", kernel.name, kernel.profile, kernel.fuse.name());
        kernel.run.iter().for_each(|run| runs::text(run, &mut text));
        let _ = writeln!(text, "  instructions  {}", classes(&kernel.instructions));
        let _ = match available {
            0 => writeln!(text, "  locals        {used}"),
            _ => writeln!(text, "  registers     {used} of {available} racks{masks}"),
        };
        let _ = writeln!(text, "  multiply-adds {}", kernel.multiply_adds);
        for (instructions, cycles) in &kernel.loops {
            let _ = writeln!(text, "  loop          {instructions} instructions, {cycles:.2} cycles throughput a trip");
        }
        if kernel.run.is_none() {
            let _ = writeln!(text, "  estimate      {throughput:.2} cycles throughput, {latency:.2} cycles latency");
        }
        let _ = writeln!(text, "  literals      {} bytes", kernel.literal_bytes);
    }
    text
}

fn classes(instructions: &BTreeMap<&'static str, usize>) -> String {
    let parts = instructions.iter().map(|(class, count)| format!("{count} {class}"));
    parts.collect::<Vec<_>>().join(", ")
}

/// The report for programs, one JSON object a line.
pub fn json(kernels: &[Kernel]) -> String {
    let line = |kernel: &Kernel| {
        let mut object = json!({
            "kernel": kernel.name, "profile": kernel.profile.name(), "fuse": kernel.fuse.name(),
            "instructions": kernel.instructions,
            "racks_used": kernel.racks.0, "racks_available": kernel.racks.1,
            "masks_used": kernel.masks.0, "masks_available": kernel.masks.1,
            "fused_multiply_adds": kernel.multiply_adds,
            "throughput_cycles": kernel.cycles.0, "latency_cycles": kernel.cycles.1,
            "literal_bytes": kernel.literal_bytes,
        });
        if let (Some(run), Some(members)) = (&kernel.run, object.as_object_mut()) {
            let trip = |(instructions, cycles): &(usize, f64)| json!({"instructions": instructions, "throughput_cycles": cycles});
            members.insert("run".to_owned(), runs::json(run));
            members.insert("loops".to_owned(), kernel.loops.iter().map(trip).collect());
        }
        format!("{object}\n")
    };
    kernels.iter().map(line).collect()
}
