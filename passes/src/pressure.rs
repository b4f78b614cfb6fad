//! How many registers an order of instructions needs: what `schedule` and `allocate` share.
//!
//! Constants are not in the order. A reader takes one from memory where some form of the instruction can ([`Body::folds`]);
//! where none can, the constant needs a register at that reader at least.

use rake_ir::machine::abi::Abi;
use rake_ir::machine::{Class, Flow, Form, ImmMap, Inst, Kind, Mem, Operand};
use rake_ir::profile::Profile;
use rake_ir::selected::{Function, Reg};
use smallvec::SmallVec;

/// A function's instructions without its constant loads.
pub(crate) struct Body<'a> {
    pub f: &'a Function,
    pub profile: Profile,
    /// The constant load of each register that is a constant.
    pub constant: Vec<Option<&'a Inst<Reg>>>,
    /// For each instruction of the function, the operand that is a constant read from memory unless it has a register.
    pub folds: Vec<Option<u8>>,
    /// The function's order: indices of its instructions that are no constant loads.
    pub source: Vec<u32>,
    /// What bodies that are executed again or not at all ask for; such a function keeps its order.
    pub bodies: Option<Bodies>,
}

/// The bodies of a function, by places of its own order.
pub(crate) struct Bodies {
    /// The places of each loop's markers; a loop stands behind those inside it.
    pub loops: Vec<(u32, u32)>,
    /// The registers that are set more than once.
    pub variables: Vec<bool>,
    /// For each register the variable that it is at the end of the trip, and the place where that is set.
    pub next: Vec<Option<(Reg, u32)>>,
    /// The places that read or set each variable, in order.
    pub uses: Vec<Vec<u32>>,
    /// The place at which each register is defined first.
    pub first: Vec<u32>,
}

/// What one instruction of an order needs, per register file.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Need {
    pub registers: [u32; FILES],
}

impl<'a> Body<'a> {
    pub fn new(f: &'a Function, profile: Profile) -> Body<'a> {
        let mut constant = vec![None; f.regs.len()];
        let mut uses = vec![0u32; f.regs.len()];
        let mut source = Vec::with_capacity(f.insts.len());
        for (at, inst) in f.insts.iter().enumerate() {
            match inst.dst {
                Some(dst) if inst.op.info().kind == Kind::Const => constant[dst.0 as usize] = Some(inst),
                _ => source.push(at as u32),
            }
            for reg in inst.regs() {
                uses[reg.0 as usize] += 1;
            }
        }
        let bodies = Bodies::of(f, &source);
        let mut body = Body { f, profile, constant, folds: vec![None; f.insts.len()], source, bodies };
        for at in body.source.clone() {
            body.folds[at as usize] = body.fold(&f.insts[at as usize], &uses);
        }
        body
    }

    /// The constant that a register is.
    pub fn constant(&self, reg: Reg) -> Option<&'a Inst<Reg>> {
        self.constant[reg.0 as usize]
    }

    /// The instruction at a place of an order.
    pub fn inst(&self, at: u32) -> &'a Inst<Reg> {
        &self.f.insts[at as usize]
    }

    /// The least used constant operand that some form can read from memory.
    fn fold(&self, inst: &Inst<Reg>, uses: &[u32]) -> Option<u8> {
        let mut best: Option<(u32, u8)> = None;
        // One operand in memory is the most.
        if inst.args.iter().any(|arg| arg.address().is_some()) {
            return None;
        }
        for (slot, arg) in inst.args.iter().enumerate() {
            let Some(reg) = arg.reg() else { continue };
            if self.constant(reg).is_none() || !forms(inst, self.profile).any(|form| self.takes(inst, &form, slot)) {
                continue;
            }
            // Two readings by one instruction cannot both come from memory.
            if inst.args.iter().filter(|a| a.reg() == Some(reg)).count() > 1 {
                continue;
            }
            let candidate = (uses[reg.0 as usize], slot as u8);
            if best.is_none_or(|b| candidate.0 < b.0) {
                best = Some(candidate);
            }
        }
        best.map(|b| b.1)
    }

    /// Whether this form can read the constant operand `slot` of the original instruction from memory.
    pub fn takes(&self, inst: &Inst<Reg>, form: &Form, slot: usize) -> bool {
        let arity = inst.args.len();
        let there = form.from[..arity].iter().position(|&from| usize::from(from) == slot);
        there.is_some_and(|at| {
            let mem = form.op.info().slots[at].mem;
            matches!(mem, Mem::May { .. })
                && (form.op.takes_rack_literal(at, self.profile) || form.op.takes_broadcast(at, self.profile))
        })
    }

    /// The distinct constants that an instruction must have in registers whatever happens.
    pub fn held_constants(&self, at: u32) -> SmallVec<[Reg; 3]> {
        let inst = self.inst(at);
        let mut held = SmallVec::new();
        let fold = self.folds[at as usize].map(usize::from);
        for (_, arg) in inst.args.iter().enumerate().filter(|(slot, _)| fold != Some(*slot)) {
            held.extend(arg.regs().filter(|&reg| self.constant(reg).is_some()));
        }
        held.sort();
        held.dedup();
        held
    }

    /// The last place of an order at which each register is read; the result lives past the end.
    pub fn last_uses(&self, order: &[u32]) -> Vec<u32> {
        let mut last = vec![0; self.f.regs.len()];
        for (place, &at) in order.iter().enumerate() {
            for reg in self.inst(at).regs() {
                last[reg.0 as usize] = place as u32;
            }
        }
        self.f.result.into_iter().for_each(|result| last[result.reg.0 as usize] = order.len() as u32);
        if let Some(bodies) = &self.bodies {
            bodies.outlive(&mut last);
        }
        last
    }

    /// Whether an instruction sets a register that is defined before.
    pub fn sets_again(&self, inst: &Inst<Reg>, place: u32) -> bool {
        let first = |dst: Reg| self.bodies.as_ref().is_some_and(|bodies| bodies.first[dst.0 as usize] < place);
        inst.dst.is_some_and(first)
    }

    /// The registers of each file that the function may use.
    pub fn available(&self) -> [u32; FILES] {
        let mut available = available(self.profile);
        if self.bodies.is_some() {
            available[file(Class::G)] += Abi::of(self.profile).kept_words.len() as u32;
        }
        available
    }

    /// Whether needs are met.
    pub fn fits(&self, peak: [u32; FILES]) -> bool {
        peak.iter().zip(self.available()).all(|(&need, there)| need <= there)
    }

    /// What each place of an order needs.
    pub fn needs(&self, order: &[u32]) -> Vec<Need> {
        let last = self.last_uses(order);
        let mut live = [0u32; FILES];
        let read = self.read_params(order);
        for (param, _) in self.f.params.iter().zip(&read).filter(|(_, read)| **read) {
            live[file(param.place.class)] += 1;
        }
        let mut needs = Vec::with_capacity(order.len());
        let ending = self.ending(order, &last);
        for (place, &at) in order.iter().enumerate() {
            needs.push(self.need(at, place as u32, &last, &mut live));
            for reg in ending.get(place).into_iter().flatten() {
                live[file(self.f.class(*reg))] -= 1;
            }
        }
        needs
    }

    /// For each place the registers that live to it without being read there: to the end of a loop.
    pub fn ending(&self, order: &[u32], last: &[u32]) -> Vec<Vec<Reg>> {
        let Some(bodies) = &self.bodies else { return Vec::new() };
        let mut ending = vec![Vec::new(); order.len()];
        for (reg, &place) in last.iter().enumerate() {
            let reg = Reg(reg as u32);
            let at = place as usize;
            let defined = bodies.first[reg.0 as usize] <= place || (reg.0 as usize) < self.f.params.len();
            let read = |inst: &Inst<Reg>| inst.regs().any(|r| r == reg) || inst.dst == Some(reg);
            // Nothing ends where nothing was read yet.
            if at > 0 && self.constant(reg).is_none() && defined && order.get(at).is_some_and(|&i| !read(self.inst(i)))
            {
                ending[at].push(reg);
            }
        }
        ending
    }

    /// Which parameters an order reads.
    pub fn read_params(&self, order: &[u32]) -> Vec<bool> {
        let count = self.f.params.len();
        let mut read = vec![false; count];
        let args = order.iter().flat_map(|&at| self.inst(at).regs());
        for reg in args.chain(self.f.result.map(|result| result.reg)) {
            if let Some(read) = read.get_mut(reg.0 as usize) {
                *read = true;
            }
        }
        read
    }

    fn need(&self, at: u32, place: u32, last: &[u32], live: &mut [u32; FILES]) -> Need {
        let inst = self.inst(at);
        let mut need = Need { registers: *live };
        for reg in self.held_constants(at) {
            need.registers[file(self.f.class(reg))] += 1;
        }
        let mut seen: SmallVec<[Reg; 3]> = SmallVec::new();
        for reg in inst.regs() {
            if self.constant(reg).is_none() && last[reg.0 as usize] == place && !seen.contains(&reg) {
                seen.push(reg);
                live[file(self.f.class(reg))] -= 1;
            }
        }
        if self.sets_again(inst, place) {
            if let Some(dst) = inst.dst.filter(|dst| last[dst.0 as usize] == place) {
                live[file(self.f.class(dst))] -= 1;
            }
        } else if let Some(class) = inst.dst.map(|dst| file(self.f.class(dst))) {
            let dies = |reg: Reg| match self.constant(reg) {
                Some(_) => true,
                None => last[reg.0 as usize] == place,
            };
            if !self.may_overwrite(inst, self.folds[at as usize], dies) {
                need.registers[class] += 1;
            }
            live[class] += 1;
            need.registers[class] = need.registers[class].max(live[class]);
            // A result that nothing reads (a check would find it) is gone at once.
            if inst.dst.is_some_and(|dst| last[dst.0 as usize] <= place) {
                live[class] -= 1;
            }
        }
        need
    }

    /// Whether some form writes over an operand that dies, or over none.
    fn may_overwrite(&self, inst: &Inst<Reg>, fold: Option<u8>, dies: impl Fn(Reg) -> bool) -> bool {
        forms(inst, self.profile).any(|form| {
            if fold.is_some_and(|slot| !self.takes(inst, &form, usize::from(slot))) {
                return false;
            }
            match form.op.tied(self.profile) {
                None => true,
                Some(tied) => inst.args[usize::from(form.from[tied])].reg().is_some_and(&dies),
            }
        })
    }
}

impl Bodies {
    /// The bodies of a function in its own order; `None` when it has none and is no run.
    fn of(f: &Function, source: &[u32]) -> Option<Bodies> {
        let count = f.regs.len();
        let flow = |at: u32| f.insts[at as usize].op.flow();
        if f.result.is_some() && !source.iter().any(|&at| matches!(flow(at), Some(Flow::Loop | Flow::If))) {
            return None;
        }
        let (mut loops, mut open) = (Vec::new(), Vec::new());
        let mut first = vec![u32::MAX; count];
        first[..f.params.len()].fill(0);
        let mut variables = vec![false; count];
        let mut sets = Vec::new();
        for (place, &at) in source.iter().enumerate() {
            let place = place as u32;
            match flow(at) {
                Some(Flow::Loop) => open.push(place),
                Some(Flow::Again) => loops.extend(open.pop().map(|start| (start, place))),
                _ => {}
            }
            if let Some(dst) = f.insts[at as usize].dst {
                let slot = &mut first[dst.0 as usize];
                if *slot == u32::MAX {
                    *slot = place;
                } else {
                    variables[dst.0 as usize] = true;
                    sets.push((dst, place, f.insts[at as usize].args.first().and_then(|arg| arg.reg())));
                }
            }
        }
        let mut uses = vec![Vec::new(); count];
        for (place, &at) in source.iter().enumerate() {
            let inst = &f.insts[at as usize];
            for reg in inst.regs().chain(inst.dst).filter(|reg| variables[reg.0 as usize]) {
                uses[reg.0 as usize].push(place as u32);
            }
        }
        let mut next = vec![None; count];
        for (variable, place, from) in sets {
            if let Some(from) = from.filter(|from| !variables[from.0 as usize]) {
                next[from.0 as usize] = Some((variable, place));
            }
        }
        Some(Bodies { loops, variables, next, uses, first })
    }

    /// What is defined before a loop and read in it lives to the loop's end.
    fn outlive(&self, last: &mut [u32]) {
        for (reg, uses) in self.uses.iter().enumerate() {
            if let Some(&end) = uses.last() {
                last[reg] = last[reg].max(end);
            }
        }
        for &(start, end) in &self.loops {
            for (reg, last) in last.iter_mut().enumerate() {
                if self.first[reg] < start && *last > start && *last < end {
                    *last = end;
                }
            }
        }
    }

    /// Whether a variable keeps its value unread between a place and the place where it is set.
    pub fn unread(&self, variable: Reg, place: u32, set: u32) -> bool {
        self.uses[variable.0 as usize].iter().all(|&used| used <= place || used >= set) && place < set
    }
}

/// The number of register files.
pub(crate) const FILES: usize = Class::ALL.len();

/// The place of a register file in arrays over them.
pub(crate) fn file(class: Class) -> usize {
    class as usize
}

/// The instruction as it is, then its other forms on this profile.
pub(crate) fn forms(inst: &Inst<Reg>, profile: Profile) -> impl Iterator<Item = Form> {
    let same = Form { op: inst.op, from: [0, 1, 2, 3], imm: ImmMap::Same };
    let (op, imm) = (inst.op, inst.imm);
    let others = op.info().forms.iter().copied();
    // An operand at an address stays where the row takes one.
    let addressed: SmallVec<[u8; 1]> =
        (0..inst.args.len() as u8).filter(|&at| inst.args[usize::from(at)].address().is_some()).collect();
    let takes = move |form: &Form| {
        addressed.iter().all(|at| {
            let slot = form.from.iter().position(|from| from == at);
            slot.is_some_and(|slot| form.op.takes_address(slot, profile))
        })
    };
    [same].into_iter().chain(others.filter(move |form| form.imm(op, imm, profile).is_some() && takes(form)))
}

/// The instruction with the operand at an address, in the first form that takes it there.
pub(crate) fn with_address(inst: &Inst<Reg>, reg: Reg, address: Operand<Reg>, profile: Profile) -> Option<Inst<Reg>> {
    let twice = inst.args.iter().filter(|&&arg| arg == Operand::Reg(reg)).count() > 1;
    if twice || inst.args.iter().any(|arg| arg.address().is_some() || arg.literal().is_some()) {
        return None;
    }
    for form in forms(inst, profile) {
        let imm = form.imm(inst.op, inst.imm, profile)?;
        let args: SmallVec<[Operand<Reg>; 3]> =
            form.from[..inst.args.len()].iter().map(|&from| inst.args[usize::from(from)]).collect();
        let slot = args.iter().position(|&arg| arg == Operand::Reg(reg))?;
        if form.op.takes_address(slot, profile) {
            let mut args = args;
            args[slot] = address;
            return Some(Inst { op: form.op, args, imm, ..inst.clone() });
        }
    }
    None
}

/// The largest need of each file.
pub(crate) fn peak(needs: &[Need]) -> [u32; FILES] {
    needs.iter().fold([0; FILES], |peak, need| std::array::from_fn(|c| peak[c].max(need.registers[c])))
}

/// The registers of each file.
pub(crate) fn available(profile: Profile) -> [u32; FILES] {
    Class::ALL.map(|class| rake_ir::allocated::registers(profile, class).len() as u32)
}

/// How far an order is from fitting, to compare orders: registers lacking, then registers needed.
pub(crate) fn excess(peak: [u32; FILES], profile: Profile) -> (u32, [u32; FILES]) {
    let available = available(profile);
    let lacking = (0..FILES).map(|c| peak[c].saturating_sub(available[c])).sum();
    (lacking, peak)
}

/// Whether an order's needs are met.
pub(crate) fn fits(peak: [u32; FILES], profile: Profile) -> bool {
    peak.iter().zip(available(profile)).all(|(&need, there)| need <= there)
}

/// Whether an operand is a register.
pub(crate) fn registers_of(inst: &Inst<Reg>) -> impl Iterator<Item = Reg> + '_ {
    inst.regs()
}
