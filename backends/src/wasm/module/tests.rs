//! Modules are valid and hold the program's code as it is.

use super::emit;
use crate::Options;
use rake_ir::stacked::{self, Code, Program};
use wasmparser::{ExternalKind, Name, Operator, Parser, Payload, Validator, WasmFeatures};

const PROGRAM: &str = "rake stacked 1
profile wasm-simd128-relaxed
fuse full

scratch both(a: f32s = v0, n: <f32> = f1) -> f32s = v0 {
  locals f v
  literal 0 = 0x0000803f
  literal 1 = 0x0c0d0e0f08090a0b0405060700010203
  local.get 1
  local.tee 2
  f32x4_splat
  local.set 3
  local.get 0
  local.get 3
  i8x16_shuffle literal 1
  v128_const literal 0
  local.get 2
  f32x4_splat
  f32x4_relaxed_madd
}

scratch lane(a: u32s = v0) -> <u32> = g0 {
  literal 0 = 0x07000000
  local.get 0
  i32x4_extract_lane 3
  i32_const literal 0
  i32_and
}
";

fn program() -> Program {
    let program = stacked::read(PROGRAM).unwrap();
    stacked::check(&program).unwrap();
    program
}

fn module() -> Vec<u8> {
    emit(&program(), &Options { exported: &|_| false, compiler: "rakec 0.1.0" }).unwrap()
}

#[test]
fn a_module_is_valid_and_always_the_same() {
    let bytes = module();
    Validator::new_with_features(WasmFeatures::all()).validate_all(&bytes).unwrap();
    assert_eq!(bytes, module());
}

/// Locals in our order, instructions one to one.
#[test]
fn code_is_written_as_it_stands() {
    let bytes = module();
    let mut bodies = Vec::new();
    for payload in Parser::new(0).parse_all(&bytes) {
        if let Payload::CodeSectionEntry(body) = payload.unwrap() {
            let locals: Vec<_> = body.get_locals_reader().unwrap().into_iter().map(Result::unwrap).collect();
            let ops: Vec<_> = body.get_operators_reader().unwrap().into_iter().map(Result::unwrap).collect();
            bodies.push((locals, ops));
        }
    }
    assert_eq!(bodies.len(), 4);
    let both = program().functions.remove(0);
    let (locals, ops) = bodies.iter().find(|(locals, _)| locals.len() == 2).unwrap();
    assert_eq!(locals[..], [(1, wasmparser::ValType::F32), (1, wasmparser::ValType::V128)]);
    assert_eq!(ops.len(), both.code.len() + 1);
    for (op, inst) in ops.iter().zip(&both.code) {
        match (op, &inst.code) {
            (Operator::LocalGet { local_index }, Code::Get(local)) => assert_eq!(local_index, local),
            (Operator::LocalSet { local_index }, Code::Set(local)) => assert_eq!(local_index, local),
            (Operator::LocalTee { local_index }, Code::Tee(local)) => assert_eq!(local_index, local),
            (Operator::I8x16Shuffle { lanes }, Code::Op { .. }) => {
                assert_eq!(lanes, &[12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3]);
            }
            (Operator::V128Const { value }, Code::Op { .. }) => {
                assert_eq!(
                    value.bytes().chunks(4).map(|c| c.to_vec()).collect::<Vec<_>>(),
                    vec![vec![0, 0, 0x80, 0x3f]; 4]
                );
            }
            (Operator::F32x4Splat, Code::Op { op, .. }) => assert_eq!(op.name(), "f32x4_splat"),
            (Operator::F32x4RelaxedMadd, Code::Op { op, .. }) => assert_eq!(op.name(), "f32x4_relaxed_madd"),
            _ => panic!("{op:?} for {inst:?}"),
        }
    }
    assert!(matches!(ops.last(), Some(Operator::End)));
}

#[test]
fn exports_names_and_stamp() {
    let bytes = module();
    let (mut exports, mut functions, mut producers) = (Vec::new(), Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(&bytes) {
        match payload.unwrap() {
            Payload::ExportSection(reader) => {
                exports
                    .extend(reader.into_iter().map(Result::unwrap).map(|export| (export.name.to_owned(), export.kind)));
            }
            Payload::CustomSection(section) => match section.as_known() {
                wasmparser::KnownCustom::Name(names) => {
                    for name in names {
                        if let Name::Function(map) = name.unwrap() {
                            functions.extend(map.into_iter().map(|naming| naming.unwrap().name.to_owned()));
                        }
                    }
                }
                wasmparser::KnownCustom::Producers(fields) => {
                    for field in fields {
                        let values = field.unwrap().values.into_iter().map(Result::unwrap);
                        producers.extend(values.map(|value| format!("{} {}", value.name, value.version)));
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    let names: Vec<&str> = exports.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["memory", "both", "both.memory", "lane", "lane.memory"]);
    assert_eq!(exports[0].1, ExternalKind::Memory);
    functions.sort_unstable();
    assert_eq!(functions, ["both", "both.memory", "lane", "lane.memory"]);
    assert_eq!(producers, ["rakec 0.1.0 wasm-simd128-relaxed --fuse full"]);
}
