//! Runs through every pass on memory: each IR changes it as the one before did.

use rake_ir::machine::bits::Bits;
use rake_ir::memory::Memory;
use rake_ir::profile::Profile;
use rake_ir::value::Lanes;
use rake_ir::{allocated, fused, lane, selected};
use rake_passes::{allocate, expand, peel, sanitise, schedule, select, simplify, transpose};

/// A column: bytes of an element, and the elements.
struct Column {
    bytes: usize,
    data: Vec<u64>,
}

/// A caller's stack in memory; the addresses of its descriptor and columns.
fn stack(memory: &mut Memory, count: usize, columns: &[Column], profile: Profile) -> (u64, Vec<u64>) {
    let mut addresses = Vec::new();
    for column in columns {
        let bytes = column.data.iter().take(count).flat_map(|bits| bits.to_le_bytes()[..column.bytes].to_vec());
        addresses.push(memory.add(bytes.collect(), true).unwrap());
    }
    (memory.add_stack(profile, count as u64, &addresses, true).unwrap(), addresses)
}

fn register(value: u64) -> Bits {
    let mut bits = [0; 16];
    (bits[0], bits[1]) = (value as u32, (value >> 32) as u32);
    bits
}

/// The memory after the run, at each stage.
fn stages(program: &fused::Program, name: &str, memory: &Memory, args: &[u64]) -> Vec<(&'static str, Memory)> {
    let values: Vec<Lanes> = args.iter().map(|&arg| Lanes::uniform(arg)).collect();
    let bits: Vec<Bits> = args.iter().map(|&arg| register(arg)).collect();
    let mut out = Vec::new();
    let mut lanes = |stage, program: &fused::Program| {
        let mut memory = memory.clone();
        fused::check(program).unwrap_or_else(|e| panic!("{stage}: {}\n{e:?}", fused::print(program)));
        let done = lane::eval_run(program, name, &values, &mut memory);
        done.unwrap_or_else(|e| panic!("{stage}: {e}\n{}", fused::print(program)));
        out.push((stage, memory));
    };
    lanes("fused", program);
    let target = crate::target(program.profile);
    let program = peel::run(program.clone(), target);
    lanes("peel", &program);
    let program = simplify::run(sanitise::run(expand::run(transpose::run(program), target)));
    lanes("simplify", &program);
    let chosen = select::run(&program, target).unwrap_or_else(|e| panic!("{}\n{e:?}", fused::print(&program)));
    selected::check(&chosen).unwrap_or_else(|e| panic!("{}\n{e:?}", selected::print(&chosen)));
    let text = selected::print(&chosen);
    assert_eq!(selected::print(&selected::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"))), text);
    let mut after = memory.clone();
    let done = selected::run(&chosen.functions[0], chosen.profile, &bits, &mut after);
    assert_eq!(done.map(|_| ()), Ok(()), "{text}");
    out.push(("select", after));
    let ordered = schedule::run(&chosen);
    let placed = allocate::run(&ordered).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    let text = allocated::print(&placed);
    allocated::check(&placed).unwrap_or_else(|e| panic!("{}\n{text}\n{e:?}", selected::print(&ordered)));
    assert_eq!(allocated::print(&allocated::read(&text).unwrap_or_else(|e| panic!("{text}\n{e:?}"))), text);
    let mut after = memory.clone();
    let done = allocated::run(&placed.functions[0], placed.profile, &bits, &mut after);
    assert_eq!(done.map(|_| ()), Ok(()), "{text}");
    out.push(("allocate", after));
    out
}

/// The profiles that are allocated registers.
const NATIVE: [Profile; 4] = [Profile::X86Sse2, Profile::X86Avx2, Profile::X86Avx512, Profile::Aarch64Neon];

/// `x <- x * <k> + to_f32(k)`, in place, with a narrow column that wraps.
const SCALE: &str = "
run scale(s: address to mut stack P(x: f32, k: u8), by: <f32>) {
  %0 : address = param 0
  %1 : <f32> = param 1
  %2 : <i64> = count %0
  %3 : address = column %0, 0
  %4 : address = column %0, 1
  %5 : f32s = splat %1
  traverse %6 up to %2 by 32 {
    %7 : f32s = load f32 %3, %6
    %8 : u32s = load u8 %4, %6
    region {
      %9 : f32s = mul %7, %5
      %10 : f32s = to_f32 %8
      %11 : f32s = add %9, %10
    }
    %12 : u32s = const 7
    %13 : u32s = add %8, %12
    %14 : f32s = store f32 %3, %6, %11
    %15 : u32s = store u8 %4, %6, %13
  }
}
";

fn program(profile: Profile, text: &str) -> fused::Program {
    super::dump(profile, text)
}

#[test]
fn columns_are_replaced_in_place() {
    for profile in NATIVE {
        let program = program(profile, SCALE);
        for count in (0..=4 * profile.lanes_of_bits(32) + 3).chain([100]) {
            let x: Vec<f32> = (0..count).map(|at| at as f32 * 0.75 - 3.0).collect();
            let k: Vec<u64> = (0..count).map(|at| (at as u64 * 37 + 250) % 256).collect();
            let mut memory = Memory::default();
            let bits = x.iter().map(|x| u64::from(x.to_bits())).collect();
            let columns = [Column { bytes: 4, data: bits }, Column { bytes: 1, data: k.clone() }];
            let (s, at) = stack(&mut memory, count, &columns, profile);
            for (stage, after) in stages(&program, "scale", &memory, &[s, u64::from(2.5f32.to_bits())]) {
                for record in 0..count {
                    let right = x[record].mul_add(2.5, k[record] as f32);
                    let got = f32::from_bits(after.read(at[0] + 4 * record as u64, 4).unwrap() as u32);
                    assert_eq!(got, right, "{stage} on {profile}: record {record} of {count}");
                    let got = after.read(at[1] + record as u64, 1);
                    assert_eq!(got, Ok((k[record] + 7) % 256), "{stage} on {profile}: record {record} of {count}");
                }
            }
        }
    }
}
