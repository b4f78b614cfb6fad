//! The parts of a WebAssembly module, read strictly: what this compiler never writes is refused.

use crate::obligations::Obligation;
use std::ops::Range;
use wasmparser::{Encoding, ExternalKind, FuncType, KnownCustom, MemoryType, Name, Operator, Parser, Payload};
use wasmparser::{ProducersSectionReader, ValType, Validator, WasmFeatures};

/// Why a module is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It is not a valid module, or none as this compiler writes them.
    Malformed(String),
    /// It holds something that it must not.
    Broken(Obligation, String),
}

/// A function's code.
#[derive(Clone, Debug)]
pub struct Body<'a> {
    /// Where it stands in the module.
    pub range: Range<usize>,
    /// The types of its locals beyond the parameters.
    pub locals: Vec<ValType>,
    /// Its operators, each with its place in the module.
    pub code: Vec<(Operator<'a>, usize)>,
}

/// A read module.
#[derive(Clone, Debug, Default)]
pub struct Module<'a> {
    /// The types.
    types: Vec<FuncType>,
    /// The type of each function.
    functions: Vec<u32>,
    /// What it exports, in order: name, kind, number.
    pub exports: Vec<(&'a str, ExternalKind, u32)>,
    /// The code of each function.
    pub bodies: Vec<Body<'a>>,
    /// The memories.
    memories: Vec<MemoryType>,
    /// The names of functions, by number.
    pub function_names: Vec<(u32, &'a str)>,
    /// The names of locals, by the numbers of function and local.
    pub local_names: Vec<(u32, u32, &'a str)>,
    /// What made it: each field with a tool and its version.
    pub producers: Vec<(&'a str, &'a str, &'a str)>,
}

/// What a module may have, beside what vector code has anyway: so that what it must not have is named when it is found.
const FEATURES: WasmFeatures = WasmFeatures::WASM2.union(WasmFeatures::RELAXED_SIMD).union(WasmFeatures::TAIL_CALL);

fn bad(error: wasmparser::BinaryReaderError) -> Fault {
    Fault::Malformed(error.to_string())
}

fn else_than(what: &str) -> Fault {
    Fault::Broken(Obligation::NothingElse, format!("the module has {what}"))
}

impl<'a> Module<'a> {
    /// Reads a module.
    ///
    /// # Errors
    /// What makes it one that this compiler does not write.
    pub fn read(bytes: &'a [u8]) -> Result<Module<'a>, Fault> {
        Validator::new_with_features(FEATURES).validate_all(bytes).map_err(bad)?;
        let mut out = Module::default();
        let mut customs = Vec::new();
        for payload in Parser::new(0).parse_all(bytes) {
            out.payload(payload.map_err(bad)?, &mut customs)?;
        }
        let plain = MemoryType { memory64: false, shared: false, initial: 1, maximum: None, page_size_log2: None };
        if out.memories != [plain] {
            return Err(else_than("not one memory of one page"));
        }
        if (0..out.types.len()).any(|at| !out.functions.iter().any(|&ty| ty as usize == at)) {
            return Err(else_than("a type that no function has"));
        }
        if customs != ["name", "producers"] {
            return Err(else_than(&format!("the custom sections {customs:?}")));
        }
        Ok(out)
    }

    fn payload(&mut self, payload: Payload<'a>, customs: &mut Vec<&'a str>) -> Result<(), Fault> {
        match payload {
            Payload::Version { num: 1, encoding: Encoding::Module, .. } | Payload::End(_) => {}
            Payload::CodeSectionStart { .. } => {}
            Payload::TypeSection(reader) => {
                self.types = reader.into_iter_err_on_gc_types().collect::<Result<_, _>>().map_err(bad)?;
            }
            Payload::FunctionSection(reader) => {
                self.functions = reader.into_iter().collect::<Result<_, _>>().map_err(bad)?;
            }
            Payload::MemorySection(reader) => {
                self.memories = reader.into_iter().collect::<Result<_, _>>().map_err(bad)?;
            }
            Payload::ExportSection(reader) => {
                for export in reader {
                    let export = export.map_err(bad)?;
                    self.exports.push((export.name, export.kind, export.index));
                }
            }
            Payload::CodeSectionEntry(body) => {
                let mut locals = Vec::new();
                for group in body.get_locals_reader().map_err(bad)? {
                    let (count, ty) = group.map_err(bad)?;
                    // The validator has bounded the count.
                    locals.extend(std::iter::repeat_n(ty, count as usize));
                }
                let code = body.get_operators_reader().map_err(bad)?.into_iter_with_offsets();
                let code = code.collect::<Result<_, _>>().map_err(bad)?;
                self.bodies.push(Body { range: body.range(), locals, code });
            }
            Payload::CustomSection(section) if !self.bodies.is_empty() => {
                customs.push(section.name());
                match section.as_known() {
                    KnownCustom::Name(names) => {
                        for name in names {
                            self.name(name.map_err(bad)?)?;
                        }
                    }
                    KnownCustom::Producers(fields) => self.read_producers(fields)?,
                    _ => {}
                }
            }
            other => return Err(else_than(section_of(&other))),
        }
        Ok(())
    }

    fn name(&mut self, name: Name<'a>) -> Result<(), Fault> {
        match name {
            Name::Function(map) => {
                for naming in map {
                    let naming = naming.map_err(bad)?;
                    self.function_names.push((naming.index, naming.name));
                }
            }
            Name::Local(maps) => {
                for map in maps {
                    let map = map.map_err(bad)?;
                    for naming in map.names {
                        let naming = naming.map_err(bad)?;
                        self.local_names.push((map.index, naming.index, naming.name));
                    }
                }
            }
            _ => return Err(else_than("names of other things than functions and locals")),
        }
        Ok(())
    }

    fn read_producers(&mut self, fields: ProducersSectionReader<'a>) -> Result<(), Fault> {
        for field in fields {
            let field = field.map_err(bad)?;
            for value in field.values {
                let value = value.map_err(bad)?;
                self.producers.push((field.name, value.name, value.version));
            }
        }
        Ok(())
    }

    /// The type of a function.
    pub fn type_of(&self, function: u32) -> Option<&FuncType> {
        self.types.get(*self.functions.get(function as usize)? as usize)
    }
}

fn section_of(payload: &Payload<'_>) -> &'static str {
    match payload {
        Payload::ImportSection(_) => "imports",
        Payload::TableSection(_) => "tables",
        Payload::GlobalSection(_) => "globals",
        Payload::StartSection { .. } => "a start function",
        Payload::ElementSection(_) => "elements",
        Payload::DataCountSection { .. } | Payload::DataSection(_) => "data",
        Payload::CustomSection(_) => "a custom section before the code",
        _ => "a section of another kind",
    }
}
