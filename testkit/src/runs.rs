//! Calls of runs - functions that work on their caller's memory - and what they leave, whatever machine makes them.

/// Where an object stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Its last byte is the last before a page that cannot be touched.
    BeforeGuard,
    /// Its first byte is the first after such a page.
    AfterGuard,
    /// So many bytes after a multiple of 64, with other bytes around it.
    Offset(usize),
}

/// Something in memory that the caller passes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// What it holds before the call.
    pub bytes: Vec<u8>,
    /// Offsets of pointers in it, and the numbers of the objects that they lead to.
    pub pointers: Vec<(usize, usize)>,
    /// Where it stands.
    pub place: Place,
    /// Whether the call may write it.
    pub writable: bool,
}

impl Object {
    /// One that may be written and holds no pointers.
    pub fn new(bytes: Vec<u8>, place: Place) -> Object {
        Object { bytes, pointers: Vec::new(), place, writable: true }
    }
}

/// An argument, in the order of the C prototype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The address of the object with this number.
    Object(usize),
    /// An integer or `bool`, all 64 bits of its register or stack slot: put garbage above what the parameter uses.
    Word(u64),
    /// An integer of 64 bits, where those are passed apart from others.
    Long(u64),
    /// A float, by its bits.
    F32(u32),
    /// A double, by its bits.
    F64(u64),
}

/// One call of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Call {
    /// What is in memory.
    pub objects: Vec<Object>,
    /// What is passed.
    pub arguments: Vec<Argument>,
}

/// How a call ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// By its `ret`.
    Returned,
    /// By `ud2` or `brk`, at this offset of the image.
    Trap(usize),
    /// By an access to what it may not touch.
    Fault {
        /// The object in whose slot or next to which that is, and the distance from its first byte.
        object: Option<(usize, i64)>,
        /// The address; 0 also for an access that is misaligned.
        address: u64,
        /// The instruction's offset in the image.
        at: usize,
    },
    /// By something else, in words.
    Other(String),
}

/// What a call left behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Out {
    /// How it ended.
    pub end: End,
    /// MXCSR afterwards; what it was before the call if that did not return. Of AArch64 the flags of FPSR, as MXCSR has them.
    pub mxcsr: u32,
    /// What it owes its caller and did not keep: registers, x86's direction flag, upper halves that are not cleared.
    pub clobbered: Vec<&'static str>,
    /// A byte that changed although it belongs to no object: the object in whose slot it is, the distance from its first
    /// byte.
    pub stray: Option<(usize, i64)>,
    /// The bytes of each object.
    pub objects: Vec<Vec<u8>>,
}

impl Out {
    /// The exception flags of MXCSR, as in [`flag`](crate::x86::flag).
    pub fn flags(&self) -> u32 {
        self.mxcsr & crate::x86::flag::ALL
    }
}

/// Where objects stand: slots of memory between pages that nobody can touch.
///
/// ```text
/// guard | data of slot 0 | guard | data of slot 1 | guard ...
/// ```
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    /// Bytes of data of one slot.
    pub data: usize,
    /// How many there are.
    pub count: usize,
}

/// Bytes of a guard: an access that strays this far still faults.
pub(crate) const GUARD: usize = 16 * PAGE;
const PAGE: usize = 4096;
/// Bytes before an object at [`Place::Offset`] 0.
const MARGIN: usize = 64;

impl Slots {
    /// Slots for the objects of any one of these calls.
    pub fn of<'a>(calls: impl Iterator<Item = &'a [Object]> + Clone) -> Slots {
        let count = calls.clone().map(<[Object]>::len).max().unwrap_or(0);
        let need = |object: &Object| match object.place {
            Place::Offset(offset) => object.bytes.len() + offset + 2 * MARGIN,
            Place::BeforeGuard | Place::AfterGuard => object.bytes.len() + MARGIN,
        };
        let data = calls.flatten().map(need).max().unwrap_or(0).next_multiple_of(PAGE);
        Slots { data, count }
    }

    /// Bytes of all of them and their guards.
    pub fn len(&self) -> usize {
        GUARD + self.count * (self.data + GUARD)
    }

    /// Offsets of the guards.
    pub fn guards(&self) -> impl Iterator<Item = usize> {
        let stride = self.data + GUARD;
        (0..=self.count).map(move |slot| slot * stride)
    }

    /// Offset of a slot's data.
    pub fn slot(&self, slot: usize) -> usize {
        GUARD + slot * (self.data + GUARD)
    }

    /// Offset of an object in its slot's data.
    pub fn start(&self, object: &Object) -> usize {
        match object.place {
            Place::BeforeGuard => self.data - object.bytes.len(),
            Place::AfterGuard => 0,
            Place::Offset(offset) => MARGIN + offset,
        }
    }

    /// The slot that an offset is in or next to, and the distance from its data's start.
    pub fn find(&self, offset: usize) -> (usize, i64) {
        // The nearer half of a guard belongs to the slot before it.
        let slot = offset.saturating_sub(GUARD / 2) / (self.data + GUARD);
        (slot, offset as i64 - self.slot(slot) as i64)
    }
}
