//! `stackify` (selected → stacked): values are computed where they are consumed.
//!
//! Outside runs ([`bodies`]) nothing has side effects, so an operand may be computed right where its reader takes it from the stack. What is read
//! once is; what is read more often is computed at its first reader and kept in a local. That is the fewest gets, sets and
//! tees that the graph allows. A constant of a few bytes is computed again for each reader. A region's instructions follow
//! each other: what it reads of others stands on the stack before it starts or, where the operands' order does not allow
//! that, in a local. Then values whose lives do not overlap share locals, those of parameters too ([`locals`]).
//!
//! ```text
//! %2 : v = v128_const literal 0          local.get 1
//! region {                               region {
//!   %3 : v = f32x4_mul %1, %2              v128_const literal 0
//!   %4 : v = f32x4_add %0, %3      =>      f32x4_mul
//! }                                        local.get 0
//! return %4                                f32x4_add
//!                                        }
//! ```

mod bodies;
mod locals;
mod regions;

use rake_ir::machine::{Class, Inst, Kind, Operand};
use rake_ir::selected::{self, Outcome, Reg};
use rake_ir::stacked::{Code, Function, Inst as Stacked, Program};
use regions::Regions;

/// Stackifies every function of a program.
pub fn run(program: &selected::Program) -> Program {
    let functions = program.functions.iter().map(function).collect();
    Program { profile: program.profile, fuse: program.fuse, functions }
}

/// Stackifies one function.
pub fn function(f: &selected::Function) -> Function {
    let (code, locals, literals) = match f.result {
        Some(_) => {
            let mut emitter = Emitter::new(f);
            emitter.emit();
            let mut code = emitter.code;
            locals::drop_unread(&mut code, &|_| false);
            regions::widen(&mut code);
            let locals = locals::assign(f, &mut code);
            (code, locals, f.literals.clone())
        }
        None => {
            let mut linear = bodies::Linear::new(f);
            linear.emit();
            let (mut code, variables) = (linear.code, linear.variables);
            locals::drop_unread(&mut code, &|reg| variables[reg as usize]);
            regions::widen(&mut code);
            let classes = bodies::assign(f, &mut code);
            let locals = locals::in_order(f.params.len(), classes, &mut code);
            (code, locals, linear.literals)
        }
    };
    Function {
        name: f.name.clone(),
        span: f.span,
        params: f.params.clone(),
        locals,
        literals,
        code,
        result: f.result.map(Outcome::returned),
    }
}

/// The registers that an instruction takes from the stack, in order.
fn taken(inst: &Inst<Reg>) -> impl Iterator<Item = Reg> {
    inst.regs()
}

/// The graph of a function: who defines and who reads each register.
struct Graph<'a> {
    f: &'a selected::Function,
    /// The instruction that defines each register; none for parameters.
    definitions: Vec<Option<u32>>,
    /// How often each register is read by what is needed.
    reads: Vec<u32>,
}

impl<'a> Graph<'a> {
    fn new(f: &'a selected::Function) -> Graph<'a> {
        let mut definitions = vec![None; f.regs.len()];
        for (at, inst) in f.insts.iter().enumerate() {
            if let Some(dst) = inst.dst {
                definitions[dst.0 as usize] = Some(at as u32);
            }
        }
        let mut reads = vec![0; f.regs.len()];
        f.result.into_iter().for_each(|result| reads[result.reg.0 as usize] += 1);
        for inst in f.insts.iter().rev() {
            if inst.dst.is_some_and(|dst| reads[dst.0 as usize] > 0) {
                taken(inst).for_each(|reg| reads[reg.0 as usize] += 1);
            }
        }
        Graph { f, definitions, reads }
    }

    fn definition(&self, reg: Reg) -> Option<&'a Inst<Reg>> {
        self.definitions[reg.0 as usize].map(|at| &self.f.insts[at as usize])
    }

    fn is_read(&self, reg: Reg) -> bool {
        self.reads[reg.0 as usize] > 0
    }

    /// Whether the value is computed again for each reader: a scalar constant, about as long as a get and its part of a tee.
    fn is_again(&self, reg: Reg) -> bool {
        self.definition(reg).is_some_and(|inst| inst.op.info().kind == Kind::Const) && self.f.class(reg) != Class::V
    }

    /// Whether the value is a constant, or a scalar constant in every lane: it may stand in anybody's region.
    fn is_constant(&self, reg: Reg) -> bool {
        let of = |inst: &Inst<Reg>| inst.op.info().kind == Kind::Const;
        let spread = |inst: &Inst<Reg>| {
            let mut operands = taken(inst);
            let first = operands.next().and_then(|operand| self.definition(operand));
            inst.op.info().kind == Kind::Boundary && operands.next().is_none() && first.is_some_and(of)
        };
        self.definition(reg).is_some_and(|inst| of(inst) || spread(inst))
    }
}

/// What is still to be done, the last first.
enum Task {
    /// Put this register's value on the stack.
    Value(Reg),
    /// Compute this register's value for later, unless that is done.
    Hold(Reg),
    /// Take it into its local.
    Keep(Reg),
    /// The instruction that defines this register: its operands are on the stack.
    Compute(Reg),
}

/// Writes code whose locals are still registers.
struct Emitter<'a> {
    graph: Graph<'a>,
    regions: Regions,
    /// Which registers have their values in locals.
    kept: Vec<bool>,
    code: Vec<Stacked>,
}

impl<'a> Emitter<'a> {
    fn new(f: &'a selected::Function) -> Emitter<'a> {
        let graph = Graph::new(f);
        let kept = (0..f.regs.len()).map(|reg| reg < f.params.len()).collect();
        let regions = Regions::new(&graph);
        Emitter { graph, regions, kept, code: Vec::with_capacity(2 * f.insts.len() + 1) }
    }

    fn emit(&mut self) {
        let mut tasks: Vec<Task> = self.graph.f.result.into_iter().map(|result| Task::Value(result.reg)).collect();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Hold(reg) if self.kept[reg.0 as usize] => {}
                Task::Hold(reg) => tasks.extend([Task::Keep(reg), Task::Value(reg)]),
                Task::Keep(reg) => self.keep(reg),
                Task::Compute(reg) => self.compute(reg),
                Task::Value(reg) if self.kept[reg.0 as usize] => self.local(Code::Get(reg.0), reg),
                Task::Value(reg) => {
                    let Some(inst) = self.graph.definition(reg) else { continue };
                    if let Some(before) = self.regions.enter(&self.graph, reg, &self.kept) {
                        // The region's other work comes first; then the value, which may be kept by then.
                        tasks.push(Task::Value(reg));
                        tasks.extend(before.into_iter().rev().map(Task::Hold));
                        continue;
                    }
                    tasks.push(Task::Compute(reg));
                    tasks.extend(self.regions.operands(&self.graph, inst).into_iter().rev().map(Task::Value));
                }
            }
        }
    }

    fn compute(&mut self, reg: Reg) {
        let Some(inst) = self.graph.definition(reg) else { return };
        let literals = inst.args.iter().filter_map(|arg: &Operand<Reg>| arg.literal()).collect();
        let code = Code::Op { op: inst.op, literals, imm: inst.imm, offset: 0 };
        let note = self.graph.f.regs[reg.0 as usize].name.clone();
        let region = inst.region.filter(|_| !self.graph.is_constant(reg));
        self.code.push(Stacked { code, region, note, span: inst.span });
        if self.graph.reads[reg.0 as usize] > 1 && !self.graph.is_again(reg) {
            self.local(Code::Tee(reg.0), reg);
            self.kept[reg.0 as usize] = true;
        }
    }

    /// Takes the top of the stack into the register's local, where it may be already.
    fn keep(&mut self, reg: Reg) {
        match self.code.last_mut() {
            Some(last) if last.code == Code::Tee(reg.0) => last.code = Code::Set(reg.0),
            Some(last) if last.code == Code::Get(reg.0) => {
                self.code.pop();
            }
            _ => self.local(Code::Set(reg.0), reg),
        }
        self.kept[reg.0 as usize] = true;
    }

    fn local(&mut self, code: Code, reg: Reg) {
        let info = &self.graph.f.regs[reg.0 as usize];
        self.code.push(Stacked { code, region: None, note: info.name.clone(), span: info.span });
    }
}

#[cfg(test)]
mod tests;
