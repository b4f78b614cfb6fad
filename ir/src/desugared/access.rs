//! What the evaluators of `typed` and `desugared` read and write in memory.
//!
//! ```text
//! x[<2>] of four lanes in a view of five    =>    trap: index out of bounds, before anything is touched
//! x[<2> up to <5>]                          =>    elements 2, 3 and 4, then a zero
//! ```

use crate::lane::EvalError;
use crate::memory::Memory;
use crate::ops::TrapReason;
use crate::profile::Profile;
use crate::types::{Elem, Pointee, Ty};
use crate::value::{Lanes, lanes_of, to_i128};

/// Which elements an access names.
pub(crate) enum Elements {
    /// One.
    One(i64),
    /// Consecutive ones, from the first on, those below the second if there is one.
    Rack(i64, Option<i64>),
    /// One for each lane.
    Indices(Elem, Lanes),
}

/// A place in memory.
pub(crate) struct Place {
    /// The first element of the view or column.
    pub base: u64,
    /// How memory holds an element.
    pub elem: Elem,
    pub elements: Elements,
}

fn malformed(text: &str) -> EvalError {
    EvalError::Malformed(text.into())
}

/// The one lane of a uniform.
pub(crate) fn scalar(value: &Lanes) -> Result<u64, EvalError> {
    value.get(0).ok_or_else(|| malformed("a uniform has no value"))
}

impl Elements {
    /// From the values of an index and of a bound; `ty` is the type of what is read or written.
    pub fn new(ty: Ty, (index_ty, index): (Ty, &Lanes), bound: Option<&Lanes>) -> Result<Elements, EvalError> {
        match (ty, index_ty) {
            (_, Ty::Rack(elem)) => Ok(Elements::Indices(elem, index.clone())),
            (Ty::Uniform(_), _) => Ok(Elements::One(scalar(index)? as i64)),
            _ => {
                let bound = bound.map(scalar).transpose()?;
                Ok(Elements::Rack(scalar(index)? as i64, bound.map(|bound| bound as i64)))
            }
        }
    }

    /// The element that a lane names; `None` when it names none.
    fn element(&self, lane: usize) -> Result<Option<i64>, EvalError> {
        Ok(match self {
            Elements::One(index) => (lane == 0).then_some(*index),
            Elements::Rack(index, bound) => {
                let element = index.wrapping_add(lane as i64);
                bound.is_none_or(|bound| element < bound).then_some(element)
            }
            Elements::Indices(elem, indices) => {
                let index = indices.get(lane).ok_or_else(|| malformed("an active lane has no index"))?;
                Some(to_i128(*elem, index) as i64)
            }
        })
    }

    /// Stops the program unless every active lane's element is one of the view's.
    pub fn check(&self, count: i64, lanes: usize, active: u64) -> Result<(), EvalError> {
        for lane in (0..lanes).filter(|lane| active >> lane & 1 == 1) {
            if self.element(lane)?.is_some_and(|element| !(0..count).contains(&element)) {
                return Err(EvalError::Trap(TrapReason::Bounds));
            }
        }
        Ok(())
    }

    /// Stops the program when two active lanes name one element.
    pub fn unique(&self, lanes: usize, active: u64) -> Result<(), EvalError> {
        let active = (0..lanes).filter(|lane| active >> lane & 1 == 1);
        let mut named = active.map(|lane| self.element(lane)).collect::<Result<Vec<_>, _>>()?;
        named.sort_unstable();
        match named.windows(2).any(|pair| pair[0] == pair[1]) {
            true => Err(EvalError::Trap(TrapReason::Conflict)),
            false => Ok(()),
        }
    }
}

impl Place {
    fn address(&self, element: i64) -> u64 {
        self.base.wrapping_add((element as u64).wrapping_mul(u64::from(self.elem.bits() / 8)))
    }

    /// A value of type `ty`: inactive lanes have none, and those that name no element are zero.
    pub fn read(&self, ty: Ty, profile: Profile, active: u64, memory: &Memory) -> Result<Lanes, EvalError> {
        let lanes = lanes_of(ty, profile);
        let mut value = Lanes::poison(lanes);
        for lane in (0..lanes).filter(|lane| active >> lane & 1 == 1) {
            let bits = match self.elements.element(lane)? {
                Some(element) => {
                    let bits = memory.read(self.address(element), self.elem.bits() as usize / 8);
                    let bits = bits.map_err(EvalError::Memory)?;
                    if self.elem == ty.elem() { bits } else { to_i128(self.elem, bits) as u64 & ty.elem().lane_mask() }
                }
                None => 0,
            };
            value.set(lane, Some(bits));
        }
        Ok(value)
    }

    /// The bits in memory of a lane's element.
    pub fn lane(&self, lane: usize, memory: &Memory) -> Result<Option<u64>, EvalError> {
        let Some(element) = self.elements.element(lane)? else { return Ok(None) };
        memory.read(self.address(element), self.elem.bits() as usize / 8).map(Some).map_err(EvalError::Memory)
    }

    /// Writes the active lanes that name an element, wrapped to what memory holds.
    pub fn write(&self, value: &Lanes, active: u64, memory: &mut Memory) -> Result<(), EvalError> {
        for lane in (0..value.len()).filter(|lane| active >> lane & 1 == 1) {
            if let Some(element) = self.elements.element(lane)? {
                let bits = value.get(lane).ok_or_else(|| malformed("a lane that is written has no value"))?;
                let bytes = self.elem.bits() as usize / 8;
                memory.write(self.address(element), bytes, bits).map_err(EvalError::Memory)?;
            }
        }
        Ok(())
    }
}

/// The rack of a stack that a traverse visits.
#[derive(Clone, Copy)]
pub(crate) struct Visit {
    /// The number of its first record.
    pub record: u64,
    /// How many records there are.
    pub count: u64,
    /// How many were kept so far.
    pub kept: u64,
    /// Which lanes exist.
    pub existing: u64,
}

impl Visit {
    /// The first rack of a stack whose descriptor stands at an address.
    pub fn first(descriptor: u64, memory: &Memory) -> Result<Visit, EvalError> {
        let count = memory.count(descriptor).map_err(EvalError::Memory)?;
        Ok(Visit { record: 0, count, kept: 0, existing: 0 })
    }

    /// Marks the lanes that exist; false when there is no record left.
    pub fn enter(&mut self, lanes: usize) -> bool {
        let left = (self.count as i64).saturating_sub(self.record as i64);
        if left > 0 {
            self.existing = u64::MAX >> (64 - (left as u64).min(lanes as u64));
        }
        left > 0
    }

    /// The place of this rack in a column.
    pub fn column(
        &self,
        (descriptor, pointee): (u64, &Pointee),
        column: u32,
        profile: Profile,
        memory: &Memory,
    ) -> Result<Place, EvalError> {
        let elem = pointee.column(column).ok_or_else(|| malformed("a column that does not exist"))?;
        let base = memory.column(profile, descriptor, column).map_err(EvalError::Memory)?;
        Ok(Place { base, elem, elements: Elements::Rack(self.record as i64, None) })
    }
}

/// What becomes of one rack of a stack: the places of its columns and what they are to hold, and the lanes that are
/// replaced or kept.
pub(crate) struct Rack {
    pub columns: Vec<(Place, Lanes)>,
    pub active: u64,
    pub compact: bool,
}

impl Rack {
    /// Writes it. All columns have been read.
    pub fn write(self, visit: &mut Visit, memory: &mut Memory) -> Result<(), EvalError> {
        for (place, value) in self.columns {
            if !self.compact {
                place.write(&value, self.active, memory)?;
                continue;
            }
            let kept = (0..value.len()).filter(|lane| self.active >> lane & 1 == 1);
            let packed: Vec<u64> = kept.map(|lane| value.get(lane).unwrap_or(0)).collect();
            let elements = Elements::Rack(visit.kept as i64, None);
            Place { elements, ..place }.write(&Lanes::new(packed), u64::MAX, memory)?;
        }
        visit.kept += u64::from(self.active.count_ones());
        Ok(())
    }
}

/// The lanes, a bit each, in which a mask holds.
pub(crate) fn holding(mask: &Lanes) -> u64 {
    (0..mask.len()).filter(|&lane| mask.get(lane).is_some_and(|bits| bits & 1 == 1)).fold(0, |bits, at| bits | 1 << at)
}

/// The trips of a counted loop: its first index, and by how much to go on up to where.
#[derive(Clone, Copy)]
pub(crate) struct Trips {
    pub index: i128,
    pub to: i128,
    pub step: i128,
}

impl Trips {
    /// From the values of the bounds and the step, which are of this element.
    pub fn new(elem: Elem, from: &Lanes, to: &Lanes, step: &Lanes) -> Result<Trips, EvalError> {
        let number = |value: &Lanes| scalar(value).map(|bits| to_i128(elem, bits));
        let trips = Trips { index: number(from)?, to: number(to)?, step: number(step)? };
        if trips.step <= 0 { Err(EvalError::Trap(TrapReason::Step)) } else { Ok(trips) }
    }

    /// The index of the last trip; `None` when there is no trip.
    pub fn last(&self) -> Option<i128> {
        (self.index < self.to).then(|| self.index + (self.to - 1 - self.index) / self.step * self.step)
    }
}
