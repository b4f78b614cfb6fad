//! Runs executed on memory in every IR up to `tined`, for tests.

use crate::frontend_testing::checked;
use crate::{desugar, inline, resolve_tines, unroll};
use rake_ir::lane::{self, EvalError};
use rake_ir::memory::Memory;
use rake_ir::profile::Profile;
use rake_ir::value::Lanes;
use rake_ir::{desugared, tined, typed};

/// What a caller passes: memory, and one value per parameter as C has them.
#[derive(Clone, Default)]
pub struct Caller {
    pub memory: Memory,
    pub args: Vec<Lanes>,
}

/// The bytes of a column or view.
pub trait Elements {
    fn bytes(&self) -> Vec<u8>;
    fn count(&self) -> usize;
}

macro_rules! elements {
    ($($ty:ty),*) => {
        $(impl Elements for &[$ty] {
            fn bytes(&self) -> Vec<u8> {
                self.iter().flat_map(|value| value.to_le_bytes()).collect()
            }

            fn count(&self) -> usize {
                self.len()
            }
        })*
    };
}

elements!(f32, i32, u32, i8, u8, i16, u16);

impl Caller {
    /// A column of a stack; its address.
    pub fn column(&mut self, elements: impl Elements, mutable: bool) -> u64 {
        self.memory.add(elements.bytes(), mutable).expect("memory")
    }

    /// Passes a stack of so many records with columns at these addresses; its descriptor's address.
    pub fn stack(&mut self, profile: Profile, count: usize, columns: &[u64], mutable: bool) -> u64 {
        let address = self.memory.add_stack(profile, count as u64, columns, mutable).expect("memory");
        self.args.push(Lanes::uniform(address));
        address
    }

    /// Passes a view; its address.
    pub fn view(&mut self, elements: impl Elements, mutable: bool) -> u64 {
        let count = elements.count();
        let address = self.column(elements, mutable);
        self.args.extend([Lanes::uniform(address), Lanes::uniform(count as u64)]);
        address
    }

    /// Passes a uniform.
    pub fn uniform(&mut self, bits: u64) {
        self.args.push(Lanes::uniform(bits));
    }

    pub fn f32s(&self, address: u64) -> Vec<f32> {
        self.words(address).into_iter().map(f32::from_bits).collect()
    }

    pub fn i32s(&self, address: u64) -> Vec<i32> {
        self.words(address).into_iter().map(|word| word as i32).collect()
    }

    pub fn bytes(&self, address: u64) -> Vec<u8> {
        self.memory.block(address).unwrap_or_default().to_vec()
    }

    pub fn words(&self, address: u64) -> Vec<u32> {
        self.bytes(address).chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap_or_default())).collect()
    }
}

/// The run through `resolve-tines`.
pub fn tined(text: &str, profile: Profile) -> tined::Program {
    let program = inline::run(checked(text, profile)).and_then(unroll::run).expect("unroll");
    let program = resolve_tines::run(&desugar::run(program).expect("desugar")).unwrap_or_else(|e| panic!("{e:#?}"));
    assert_eq!(tined::check(&program), Ok(()), "{}", tined::print(&program));
    assert_eq!(tined::read(&tined::print(&program)).map(|read| tined::print(&read)), Ok(tined::print(&program)));
    program
}

/// Executes a run in every IR, on the same memory; they must leave the same memory or trap alike.
pub fn executed(text: &str, name: &str, profile: Profile, caller: &mut Caller) -> Result<(), EvalError> {
    let (args, memory) = (caller.args.clone(), caller.memory.clone());
    let program = checked(text, profile);
    let expected = typed::eval_run(&program, name, &args, &mut caller.memory);
    let same = |stage: &str, done: Result<(), EvalError>, left: &Memory| {
        assert_eq!(done, expected, "{stage}");
        assert!(*left == caller.memory, "{stage} leaves other memory");
    };
    let program = inline::run(program).expect("inline");
    let program = unroll::run(program).expect("unroll");
    assert_eq!(typed::check(&program), Ok(()), "{}", typed::print(&program));
    let mut left = memory.clone();
    same("unroll", typed::eval_run(&program, name, &args, &mut left), &left);
    let program = desugar::run(program).expect("desugar");
    assert_eq!(desugared::check(&program), Ok(()), "{}", desugared::print(&program));
    let mut left = memory.clone();
    same("desugar", desugared::eval_run(&program, name, &args, &mut left), &left);
    let program = tined(text, profile);
    let mut left = memory;
    same("resolve-tines", lane::eval_run(&program, name, &args, &mut left), &left);
    expected
}
