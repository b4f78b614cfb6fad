//! What a WebAssembly module says, to tell changes of it from other bytes for the same.

use wasmparser::{KnownCustom, Parser, Payload};

/// All that a module says, but for what made it and how its numbers are written.
pub fn said(bytes: &[u8]) -> Option<Vec<String>> {
    let mut out = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.ok()? {
            Payload::TypeSection(reader) => {
                out.extend(reader.into_iter_err_on_gc_types().map(|ty| format!("{:?}", ty.ok())));
            }
            Payload::FunctionSection(reader) => out.extend(reader.into_iter().map(|ty| format!("{:?}", ty.ok()))),
            Payload::MemorySection(reader) => out.extend(reader.into_iter().map(|ty| format!("{:?}", ty.ok()))),
            Payload::ExportSection(reader) => out.extend(reader.into_iter().map(|export| format!("{:?}", export.ok()))),
            Payload::CodeSectionEntry(body) => {
                let locals = body.get_locals_reader().ok()?.into_iter().map(|group| format!("{:?}", group.ok()));
                out.extend(locals);
                out.extend(body.get_operators_reader().ok()?.into_iter().map(|op| format!("{:?}", op.ok())));
            }
            Payload::CustomSection(section) => {
                out.push(section.name().into());
                if let KnownCustom::Name(names) = section.as_known() {
                    for name in names {
                        match name.ok()? {
                            wasmparser::Name::Function(map) => {
                                out.extend(map.into_iter().map(|n| n.map_or(String::new(), |n| format!("{n:?}"))));
                            }
                            wasmparser::Name::Local(maps) => {
                                for map in maps {
                                    let map = map.ok()?;
                                    let names = map.names.into_iter();
                                    out.extend(names.map(|n| format!("{} {:?}", map.index, n.ok())));
                                }
                            }
                            _ => out.push("other names".into()),
                        }
                    }
                }
            }
            Payload::Version { .. } | Payload::CodeSectionStart { .. } | Payload::End(_) => {}
            other => out.push(format!("{other:?}")),
        }
    }
    Some(out)
}
