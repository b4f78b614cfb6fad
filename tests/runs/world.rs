//! What a caller passes to a run: stacks, views and numbers, made from the run's parameters for given counts.
//!
//! One description gives both the memory of the evaluator and a call of the machine code, and compares what they left.

use rake_ir::fused::{Function, Program};
use rake_ir::lane::{EvalError, eval_run};
use rake_ir::memory::Memory;
use rake_ir::ops::TrapReason;
use rake_ir::profile::{Family, Profile};
use rake_ir::types::{Elem, Pointee};
use rake_ir::value::Lanes;
use rake_testkit::special::Bits;
use rake_testkit::x86::runs::{Argument, Call, Object, Place};

/// What stands above the bits that a parameter uses.
const JUNK: u64 = 0xdead_0000_beef_a5a4;

/// Something in memory.
#[derive(Clone, Debug)]
pub struct Thing {
    /// Of a descriptor its count.
    pub bytes: Vec<u8>,
    /// Of a descriptor: the things of its columns, each `None` for a null pointer.
    pub columns: Option<Vec<Option<usize>>>,
    /// Of a column or view.
    pub elem: Elem,
    pub writable: bool,
}

/// What is passed.
#[derive(Clone, Copy, Debug)]
pub enum Passed {
    Thing(usize),
    Null,
    Number(Elem, u64),
}

/// All that a call is given.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub things: Vec<Thing>,
    pub passed: Vec<Passed>,
}

/// What the evaluator left.
pub struct Outcome {
    pub trapped: Option<TrapReason>,
    pub things: Vec<Vec<u8>>,
}

/// Values for elements, by parameter, column and record.
pub type Values<'a> = &'a mut dyn FnMut(Slot, Elem) -> u64;

/// Whose value is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// Parameter, column (0 of a view), record.
    Element(usize, usize, usize),
    /// A parameter that is a number.
    Number(usize),
}

impl World {
    /// Stacks and views of so many records, holding these values. Without records columns are null pointers.
    pub fn new(function: &Function, count: usize, values: Values) -> World {
        World::with_counts(function, &|_| count, values)
    }

    /// As [`World::new`], with as many records or elements as a parameter is said to have.
    pub fn with_counts(function: &Function, counts: &dyn Fn(usize) -> usize, values: Values) -> World {
        let mut world = World::default();
        let mut viewed = None;
        for (number, param) in function.params.iter().enumerate() {
            let count = counts(number);
            let mut elements = |column: usize, elem: Elem| -> Vec<u8> {
                let mut value = |record| values(Slot::Element(number, column, record), elem).to_le_bytes();
                (0..count).flat_map(|record| value(record)[..elem.bits() as usize / 8].to_vec()).collect()
            };
            match (&param.points_to, param.ty) {
                (Some(Pointee::Stack { columns, mutable, .. }), _) => {
                    let mut at = Vec::new();
                    for (column, (_, elem)) in columns.iter().enumerate() {
                        let thing =
                            Thing { bytes: elements(column, *elem), columns: None, elem: *elem, writable: *mutable };
                        at.push(world.add(thing));
                    }
                    let bytes = (count as u64).to_le_bytes().to_vec();
                    let descriptor = Thing { bytes, columns: Some(at), elem: Elem::U64, writable: *mutable };
                    world.pass(descriptor);
                }
                (Some(Pointee::View { elem, mutable }), _) => {
                    world.pass(Thing { bytes: elements(0, *elem), columns: None, elem: *elem, writable: *mutable });
                    viewed = Some(count);
                    continue;
                }
                (None, _) if viewed.is_some() => {
                    let count = viewed.unwrap_or(0);
                    world.passed.push(Passed::Number(Elem::I32, count as u64));
                }
                (None, ty) => {
                    let elem = ty.elem();
                    world.passed.push(Passed::Number(elem, values(Slot::Number(number), elem) & elem.lane_mask()));
                }
            }
            viewed = None;
        }
        world
    }

    /// As [`World::new`], with random values.
    pub fn random(function: &Function, count: usize, bits: &mut Bits) -> World {
        World::new(function, count, &mut |_, elem| random(elem, bits))
    }

    /// Adds something; an empty one has no address.
    fn add(&mut self, thing: Thing) -> Option<usize> {
        if thing.bytes.is_empty() {
            return None;
        }
        self.things.push(thing);
        Some(self.things.len() - 1)
    }

    fn pass(&mut self, thing: Thing) {
        let added = self.add(thing);
        self.passed.push(added.map_or(Passed::Null, Passed::Thing));
    }

    /// The descriptor that a parameter leads to.
    pub fn descriptor(&self, parameter: usize) -> usize {
        match self.passed[parameter] {
            Passed::Thing(thing) => thing,
            _ => panic!("parameter {parameter} is no stack"),
        }
    }

    /// The evaluator's memory after the run.
    pub fn evaluated(&self, program: &Program, name: &str) -> Outcome {
        let mut memory = Memory::default();
        // Blocks have addresses by their number.
        let address = |thing: usize| (thing as u64 + 1) << 20;
        for thing in &self.things {
            match &thing.columns {
                None => memory.add(thing.bytes.clone(), thing.writable),
                Some(columns) => {
                    let columns: Vec<u64> = columns.iter().map(|to| to.map_or(0, address)).collect();
                    memory.add_stack(program.profile, word(&thing.bytes), &columns, thing.writable)
                }
            }
            .expect("small blocks");
        }
        let args = self.passed.iter().map(|passed| match *passed {
            Passed::Thing(thing) => Lanes::uniform(address(thing)),
            Passed::Null => Lanes::uniform(0),
            Passed::Number(_, bits) => Lanes::uniform(bits),
        });
        let done = eval_run(program, name, &args.collect::<Vec<_>>(), &mut memory);
        let trapped = match done {
            Ok(()) => None,
            Err(EvalError::Trap(reason)) => Some(reason),
            Err(error) => panic!("{name}: {error}\n{self:?}\n{}", rake_ir::fused::print(program)),
        };
        let things = (0..self.things.len()).map(|at| memory.block(address(at)).unwrap_or_default().to_vec());
        Outcome { trapped, things: things.collect() }
    }

    /// A call of the machine code, each thing at its place. What a C compiler compiled is owed a `bool` of eight bits.
    pub fn call(&self, place: &dyn Fn(usize) -> Place, profile: Profile) -> Call {
        let through_c = profile.info().family == Family::Scalar;
        let object = |(number, thing): (usize, &Thing)| {
            let columns = thing.columns.iter().flatten().enumerate();
            let offset = |column: usize| profile.column_offset(column as u32);
            let pointers = columns.filter_map(|(column, to)| Some((offset(column), (*to)?))).collect();
            let mut bytes = thing.bytes.clone();
            if let Some(columns) = &thing.columns {
                bytes.resize(offset(columns.len()), 0);
            }
            Object { bytes, pointers, place: place(number), writable: thing.writable }
        };
        let argument = |passed: &Passed| match *passed {
            Passed::Thing(thing) => Argument::Object(thing),
            Passed::Null => Argument::Word(0),
            Passed::Number(Elem::F32, bits) => Argument::F32(bits as u32),
            Passed::Number(Elem::F64, bits) => Argument::F64(bits),
            Passed::Number(Elem::I64 | Elem::U64, bits) => Argument::Long(bits),
            Passed::Number(Elem::Bool, bits) if through_c => Argument::Word(bits | JUNK & !0xff),
            Passed::Number(elem, bits) => Argument::Word(bits | JUNK & !elem.lane_mask()),
        };
        Call {
            objects: self.things.iter().enumerate().map(object).collect(),
            arguments: self.passed.iter().map(argument).collect(),
        }
    }

    /// Holds what the machine code left against what the evaluator left. Records past a new count are nobody's.
    pub fn compare(&self, expected: &Outcome, got: &[Vec<u8>]) -> Result<(), String> {
        let mut counted: Vec<Option<u64>> = vec![None; self.things.len()];
        for (descriptor, thing) in self.things.iter().enumerate() {
            let Some(columns) = &thing.columns else { continue };
            let (right, left) = (word(&expected.things[descriptor]), word(&got[descriptor]));
            if right != left {
                return Err(format!("thing {descriptor} has {left} records, not {right}"));
            }
            columns.iter().flatten().for_each(|&column| counted[column] = Some(right));
        }
        for (number, thing) in self.things.iter().enumerate() {
            if thing.columns.is_some() {
                continue;
            }
            let size = thing.elem.bits() as usize / 8;
            let elements = expected.things[number].chunks(size).zip(got[number].chunks(size));
            let counted = counted[number].map_or(usize::MAX, |count| count as usize);
            for (record, (right, left)) in elements.take(counted).enumerate() {
                if right != left && !(thing.elem == Elem::F32 && is_nan(right) && is_nan(left)) {
                    return Err(format!("record {record} of thing {number} is {left:02x?}, not {right:02x?}"));
                }
            }
        }
        Ok(())
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes[..8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

fn is_nan(bytes: &[u8]) -> bool {
    f32::from_bits(u32::from_le_bytes(bytes.try_into().unwrap_or_default())).is_nan()
}

/// A value of an element: special ones among others.
pub fn random(elem: Elem, bits: &mut Bits) -> u64 {
    match elem {
        Elem::F32 => u64::from(bits.f32()),
        Elem::Bool => bits.u64() & 1,
        Elem::I64 | Elem::U64 | Elem::F64 => bits.u64(),
        Elem::I8 | Elem::U8 | Elem::I16 | Elem::U16 if bits.below(4) == 0 => {
            let edges = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff];
            edges[bits.below(edges.len())] & elem.lane_mask()
        }
        _ => u64::from(bits.i32()) & elem.lane_mask(),
    }
}
