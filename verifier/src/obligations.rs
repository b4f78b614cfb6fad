//! Obligations: what the bytes of a vector function may hold, whatever the program that they were written from says.
//! Here stands what is the same for every machine: the list, the counts and the regions.

use crate::facts::{Counted, FunctionFacts, RegionFacts};
use smol_str::SmolStr;
use std::collections::BTreeMap;

/// What is promised of vector code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Obligation {
    ProfileInstructions,
    NoEstimates,
    NoCalls,
    NoBranches,
    NoStack,
    BoundaryRegisters,
    WholeRacks,
    AllowedRegisters,
    ConstantLoads,
    DefinedReads,
    CrossLane,
    MultiplyAdds,
    Regions,
    UpperHalves,
    Landing,
    Ending,
    NoSharedState,
    Relaxed,
    Wrappers,
    NothingElse,
    Jumps,
    Saves,
    Transfers,
    Padding,
}

impl Obligation {
    /// The promise in words.
    pub fn words(self) -> &'static str {
        match self {
            Obligation::ProfileInstructions => "only the profile's instructions",
            Obligation::NoEstimates => "no estimate instructions",
            Obligation::NoCalls => "no calls",
            Obligation::NoBranches => "no branches",
            Obligation::NoStack => "no stack",
            Obligation::BoundaryRegisters => {
                "general registers only where scalars cross the boundary and for masks as numbers"
            }
            Obligation::WholeRacks => "every rack in one whole register",
            Obligation::AllowedRegisters => "only registers that a function may use",
            Obligation::ConstantLoads => "memory operands only as constant loads",
            Obligation::DefinedReads => "every register written before it is read",
            Obligation::CrossLane => "cross-lane instructions only where they were selected",
            Obligation::MultiplyAdds => "exactly the selected fused multiply-adds",
            Obligation::Regions => "regions are contiguous",
            Obligation::UpperHalves => "`vzeroupper` before returning no rack, and only then",
            Obligation::Landing => "the landing pad of an indirect call first and only there",
            Obligation::Ending => "the return last and only there",
            Obligation::NoSharedState => "no globals, tables or references",
            Obligation::Relaxed => "relaxed operations exactly as they were selected",
            Obligation::Wrappers => "wrappers load, call their kernel and store",
            Obligation::Jumps => "jumps only inside a run, on conditions that were compared right before",
            Obligation::Saves => "the stack only for arguments and what a run saves of the caller's registers",
            Obligation::Transfers => "memory only at addresses that the caller passed",
            Obligation::Padding => "padding only before loops, up to a multiple of 32 bytes",
            Obligation::NothingElse => "the module has kernels, their wrappers and one memory",
        }
    }

    /// The promise that an instruction breaks which was refused while decoding.
    pub fn of_refusal(refusal: Refusal) -> Obligation {
        match refusal {
            Refusal::Call => Obligation::NoCalls,
            Refusal::Branch => Obligation::NoBranches,
            Refusal::Stack => Obligation::NoStack,
            Refusal::Memory => Obligation::ConstantLoads,
            Refusal::Estimate => Obligation::NoEstimates,
            Refusal::Part => Obligation::WholeRacks,
            Refusal::Shared => Obligation::NoSharedState,
            Refusal::Other => Obligation::ProfileInstructions,
        }
    }
}

/// What kind of instruction was refused already while decoding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Refusal {
    /// A call or system call.
    Call,
    /// A jump.
    Branch,
    /// The stack pointer or the frame pointer is used.
    Stack,
    /// A memory operand that leads to no constant.
    Memory,
    /// An estimate of a quotient or root.
    Estimate,
    /// An instruction of the profile on a part of a register, or on elements of other widths.
    Part,
    /// A global, table or reference.
    Shared,
    /// Anything else.
    Other,
}

/// Why bytes are not an instruction that vector code may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undecodable {
    /// Offset from the start of the bytes.
    pub offset: u32,
    /// The kind.
    pub refusal: Refusal,
    /// Why.
    pub reason: String,
}

/// Says of each broken obligation where and what.
pub type Say<'a> = dyn FnMut(u32, Obligation, String) + 'a;

/// Checks what the decoded instructions of a function, each at its offset, count as against what was selected.
pub fn check_counts(facts: &FunctionFacts, insts: &[(u32, Counted)], say: &mut Say<'_>) {
    let mut fused = [0u32; 4];
    let mut crossing: BTreeMap<SmolStr, u32> = BTreeMap::new();
    let (mut words, mut relaxed): (BTreeMap<SmolStr, u32>, BTreeMap<SmolStr, u32>) = Default::default();
    for (_, counted) in insts {
        if let Some(sign) = counted.multiply_add {
            fused[sign as usize] += 1;
        }
        if let Some(name) = &counted.cross_lane {
            *crossing.entry(name.clone()).or_default() += 1;
        }
        if let Some(name) = &counted.word {
            *words.entry(name.clone()).or_default() += 1;
        }
        if let Some(name) = &counted.relaxed {
            *relaxed.entry(name.clone()).or_default() += 1;
        }
    }
    if fused != facts.multiply_adds {
        let text = format!("{fused:?} found (by sign), {:?} selected", facts.multiply_adds);
        say(0, Obligation::MultiplyAdds, text);
    }
    if crossing != facts.cross_lane {
        say(0, Obligation::CrossLane, format!("{crossing:?} found, {:?} selected", facts.cross_lane));
    }
    if words != facts.words {
        say(0, Obligation::BoundaryRegisters, format!("{words:?} found, {:?} selected", facts.words));
    }
    if relaxed != facts.relaxed {
        say(0, Obligation::Relaxed, format!("{relaxed:?} found, {:?} selected", facts.relaxed));
    }
    check_regions(&facts.regions, insts, say);
}

/// Finds each region as one run of the function's instructions, copies and constants apart, without overlap.
fn check_regions(regions: &[RegionFacts], insts: &[(u32, Counted)], say: &mut Say<'_>) {
    if regions.is_empty() {
        return;
    }
    let run = insts.iter().filter_map(|(at, counted)| Some((*at, counted.operation.as_deref()?)));
    let run: Vec<(u32, &str)> = run.collect();
    let mut from = 0;
    let mut taken = vec![false; run.len()];
    for region in regions {
        let wanted: usize = region.operations.values().map(|&n| n as usize).sum();
        if wanted == 0 {
            continue;
        }
        let found = find(region, wanted, &run, &taken, from).or_else(|| find(region, wanted, &run, &taken, 0));
        match found {
            Some(at) => {
                taken[at..at + wanted].fill(true);
                from = at + wanted;
            }
            None => {
                let at = run.get(from).map_or(0, |r| r.0);
                say(at, Obligation::Regions, format!("no contiguous run of {:?}", region.operations));
            }
        }
    }
}

/// The first run from `from` on that holds exactly the region's operations and nothing taken.
fn find(region: &RegionFacts, wanted: usize, run: &[(u32, &str)], taken: &[bool], from: usize) -> Option<usize> {
    let mut missing: BTreeMap<&str, i64> = region.operations.iter().map(|(n, &c)| (n.as_str(), i64::from(c))).collect();
    let mut open = missing.len();
    // Counts in a window whose start trails its end by `wanted`; `open` names differ from what is wanted.
    let mut shift = |name: &'_ str, by: i64| -> usize {
        if let Some((name, _)) = region.operations.get_key_value(name) {
            let count = missing.entry(name.as_str()).or_default();
            let before = *count == 0;
            *count -= by;
            match (before, *count == 0) {
                (true, false) => open += 1,
                (false, true) => open -= 1,
                _ => {}
            }
        }
        open
    };
    let mut blocked = 0usize;
    let foreign = |i: usize| taken[i] || !region.operations.contains_key(run[i].1);
    for end in from..run.len() {
        blocked += usize::from(foreign(end));
        let mut left = shift(run[end].1, 1);
        if end >= from + wanted {
            blocked -= usize::from(foreign(end - wanted));
            left = shift(run[end - wanted].1, -1);
        }
        if end + 1 >= from + wanted && blocked == 0 && left == 0 {
            return Some(end + 1 - wanted);
        }
    }
    None
}
