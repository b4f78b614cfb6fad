//! Every counted limit, in one place. Exceeding one is a clean error with one code, never a hang.

/// Bytes of one source file or dump.
pub const INPUT_BYTES: u64 = 64 << 20;

/// Definitions in one file.
pub const DEFINITIONS: usize = 65_536;

/// Statements of one repeat once unrolled: trips times statements, inner repeats multiplied in.
pub const UNROLLED_STATEMENTS: u64 = 4096;

/// Statements of one definition once its calls are inlined.
pub const INLINED_STATEMENTS: u64 = 65_536;

/// Expressions of one definition once its calls are inlined and its repeats unrolled.
pub const EXPRESSIONS: u64 = 2_000_000;

/// Definitions in a chain of calls below the first.
pub const CALL_DEPTH: usize = 32;

/// Rack, mask and float arguments of a scratch or rake: what registers alone can carry.
pub const VECTOR_ARGUMENTS: usize = 8;

/// Integer and `bool` arguments of a scratch or rake: what registers alone can carry.
pub const INTEGER_ARGUMENTS: usize = 6;

/// Elements of an array of racks.
pub const ARRAY_ELEMENTS: u64 = 4096;

/// Steps that decide the masks of one definition: each makes at most one node of a decision diagram.
pub const MASK_STEPS: usize = 500_000;

/// Times that masks of one definition are parked in racks or values computed again, before it is rejected for want of
/// registers.
pub const RELIEFS: usize = 512;

/// Bytes between an AArch64 instruction and the constant that it reads after the function's code: what `ldr` and `adr`
/// reach.
pub const LITERAL_DISTANCE: u32 = (1 << 20) - 4;
