//! Control in flat lists of instructions: which markers belong together, and what is defined on every path.
//!
//! ```text
//! loop                 opens
//!   compare %0, %1
//!   if 2               opens, where the comparison's condition holds
//!   else               closes the one body, opens the other
//!   end                closes
//!   compare %2, 64
//! again 2              closes the loop
//! ```

use super::Inst;
use std::collections::BTreeSet;

/// What a row of [`Kind::Control`] does to what is executed next.
///
/// Bodies are flat: `loop` and `if` open one, `again` and `end` close it, `else` does both. Conditions are those of the
/// comparison directly before the marker (its immediate is a [`Cond`]) or, where comparisons give words, an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flow {
    /// Opens a body that is executed once or more.
    Loop,
    /// Closes a loop's body, which is executed again where the condition holds.
    Again,
    /// Opens a body that is executed where the condition holds.
    If,
    /// The body of an `if` whose condition holds ends, the other one's begins.
    Else,
    /// Closes the body of an `if` or `else`.
    End,
    /// Traps unless the condition holds.
    TrapUnless,
    /// Sets the flags that the marker behind it reads.
    Compare,
    /// Saves a register of the caller's on the stack.
    Push,
    /// Brings the register back that was saved last.
    Pop,
    /// Returns.
    Return,
}

/// A condition on the operands of a comparison, in the order `first ? second`. Its number is the marker's immediate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Cond {
    /// They are equal.
    Equal,
    /// They differ.
    NotEqual,
    /// As signed numbers.
    Less,
    /// As signed numbers.
    LessEqual,
    /// As signed numbers.
    Greater,
    /// As signed numbers.
    GreaterEqual,
    /// As unsigned numbers.
    Below,
    /// As unsigned numbers.
    BelowEqual,
    /// As unsigned numbers.
    Above,
    /// As unsigned numbers.
    AboveEqual,
}

impl Cond {
    /// Every condition, each at its number.
    pub const ALL: [Cond; 10] = [
        Cond::Equal,
        Cond::NotEqual,
        Cond::Less,
        Cond::LessEqual,
        Cond::Greater,
        Cond::GreaterEqual,
        Cond::Below,
        Cond::BelowEqual,
        Cond::Above,
        Cond::AboveEqual,
    ];

    /// The condition with this number.
    pub fn from_imm(imm: u8) -> Option<Cond> {
        Cond::ALL.get(usize::from(imm)).copied()
    }

    /// The one that holds exactly where this one does not.
    pub const fn negated(self) -> Cond {
        match self {
            Cond::Equal => Cond::NotEqual,
            Cond::NotEqual => Cond::Equal,
            Cond::Less => Cond::GreaterEqual,
            Cond::LessEqual => Cond::Greater,
            Cond::Greater => Cond::LessEqual,
            Cond::GreaterEqual => Cond::Less,
            Cond::Below => Cond::AboveEqual,
            Cond::BelowEqual => Cond::Above,
            Cond::Above => Cond::BelowEqual,
            Cond::AboveEqual => Cond::Below,
        }
    }

    /// The one that says the same of the operands the other way round.
    pub const fn swapped(self) -> Cond {
        match self {
            Cond::Equal | Cond::NotEqual => self,
            Cond::Less => Cond::Greater,
            Cond::LessEqual => Cond::GreaterEqual,
            Cond::Greater => Cond::Less,
            Cond::GreaterEqual => Cond::LessEqual,
            Cond::Below => Cond::Above,
            Cond::BelowEqual => Cond::AboveEqual,
            Cond::Above => Cond::Below,
            Cond::AboveEqual => Cond::BelowEqual,
        }
    }

    /// Whether it holds of two numbers of 64 bits.
    pub const fn holds(self, first: u64, second: u64) -> bool {
        let (signed, other) = (first as i64, second as i64);
        match self {
            Cond::Equal => first == second,
            Cond::NotEqual => first != second,
            Cond::Less => signed < other,
            Cond::LessEqual => signed <= other,
            Cond::Greater => signed > other,
            Cond::GreaterEqual => signed >= other,
            Cond::Below => first < second,
            Cond::BelowEqual => first <= second,
            Cond::Above => first > second,
            Cond::AboveEqual => first >= second,
        }
    }
}

/// For each instruction the marker that it may lead to: for `again` its `loop`, for `if` its `else` or `end`, for `else`
/// its `end`; `None` for everything else.
///
/// # Errors
/// The first marker that belongs to none.
pub fn partners<R>(insts: &[Inst<R>]) -> Result<Vec<Option<u32>>, String> {
    let mut partners = vec![None; insts.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, inst) in insts.iter().enumerate() {
        let flow = inst.op.flow();
        let opener = open.last().map(|&opener| (opener, insts[opener].op.flow()));
        match (flow, opener) {
            (Some(Flow::Loop | Flow::If), _) => open.push(at),
            (Some(Flow::Again), Some((opener, Some(Flow::Loop)))) => {
                partners[at] = Some(opener as u32);
                open.pop();
            }
            (Some(Flow::Else), Some((opener, Some(Flow::If)))) => {
                partners[opener] = Some(at as u32);
                open.pop();
                open.push(at);
            }
            (Some(Flow::End), Some((opener, Some(Flow::If | Flow::Else)))) => {
                partners[opener] = Some(at as u32);
                open.pop();
            }
            (Some(Flow::Again | Flow::Else | Flow::End), _) => {
                return Err(format!("instruction {at} ({}) closes no body of its kind", inst.op.name()));
            }
            _ => {}
        }
    }
    match open.last() {
        Some(&at) => Err(format!("instruction {at} ({}) opens a body that nothing closes", insts[at].op.name())),
        None => Ok(partners),
    }
}

/// The deepest nesting of bodies at each instruction; the markers of a body stand outside it.
pub fn depths<R>(insts: &[Inst<R>]) -> Vec<u32> {
    let mut depth = 0u32;
    let each = |inst: &Inst<R>| {
        let flow = inst.op.flow();
        if matches!(flow, Some(Flow::Again | Flow::Else | Flow::End)) {
            depth = depth.saturating_sub(1);
        }
        let here = depth;
        if matches!(flow, Some(Flow::Loop | Flow::If | Flow::Else)) {
            depth += 1;
        }
        here
    };
    insts.iter().map(each).collect()
}

/// What is known at a place, and what is known wherever two paths meet.
pub(crate) trait Known: Clone {
    /// Keeps what is known on the other path too.
    fn meet(&mut self, other: &Self);
}

impl Known for Vec<bool> {
    fn meet(&mut self, other: &Self) {
        self.iter_mut().zip(other).for_each(|(here, there)| *here &= there);
    }
}

impl<T: Ord + Clone> Known for BTreeSet<T> {
    fn meet(&mut self, other: &Self) {
        self.retain(|known| other.contains(known));
    }
}

/// What is known along a flat list of instructions, each loop's body seen once.
pub(crate) struct Paths<K> {
    /// What is known here.
    pub here: K,
    /// For each body that is open what was known elsewhere: before an `if`, and after it where its `else` begins.
    open: Vec<Option<K>>,
}

impl<K: Known> Paths<K> {
    pub fn new(here: K) -> Paths<K> {
        Paths { here, open: Vec::new() }
    }

    /// Passes a marker.
    pub fn pass(&mut self, flow: Option<Flow>) {
        match flow {
            Some(Flow::Loop) => self.open.push(None),
            Some(Flow::If) => self.open.push(Some(self.here.clone())),
            Some(Flow::Else) => {
                if let Some(before) = self.open.last_mut().and_then(Option::as_mut) {
                    std::mem::swap(before, &mut self.here);
                }
            }
            Some(Flow::End) => {
                if let Some(other) = self.open.pop().flatten() {
                    self.here.meet(&other);
                }
            }
            Some(Flow::Again) => {
                self.open.pop();
            }
            _ => {}
        }
    }
}

/// Says where markers do not nest, where a condition does not stand directly behind its comparison, and where there is no
/// such condition.
pub(crate) fn check_flow<R: Copy>(insts: &[Inst<R>], say: &mut impl FnMut(String)) {
    if let Err(text) = partners(insts) {
        say(text);
    }
    let by_flags = |inst: &Inst<R>| {
        matches!(inst.op.flow(), Some(Flow::Again | Flow::If | Flow::TrapUnless)) && inst.op.info().slots.is_empty()
    };
    for (at, inst) in insts.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| insts[before].op.flow());
        if by_flags(inst) && before != Some(Flow::Compare) {
            say(format!("instruction {at} ({}) does not stand directly behind a comparison", inst.op.name()));
        }
        if by_flags(inst) && inst.cond().is_none() {
            say(format!("instruction {at} ({}) has no such condition", inst.op.name()));
        }
        if inst.op.flow() == Some(Flow::Compare) && !insts.get(at + 1).is_some_and(by_flags) {
            say(format!("instruction {at} ({}) compares for nothing", inst.op.name()));
        }
    }
}
