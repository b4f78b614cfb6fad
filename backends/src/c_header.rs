//! `--emit-header`: the C (and C++) declarations of an object's functions.
//!
//! ```c
//! /* scratch advance(x: f32s, <dt: f32>) -> f32s */
//! __m256 advance(__m256 x, float dt) RAKE_ATTRIBUTES_HIDDEN;
//! ```
//!
//! A name that C or C++ reserves, or that a standard header may have declared already, is declared as `rake_NAME` with the
//! true symbol given by an assembler label, so any definition can be called. Masks are declared as integer racks: of each
//! lane only the sign bit is read, and all bits are alike in a result. What a run takes in memory is in [`stacks`].

mod reserved;
mod stacks;

use self::reserved::is_reserved;
use rake_ir::profile::{Family, Profile};
use rake_ir::selected::Param;
use rake_ir::types::{Elem, Pointee, Ty};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;

pub(crate) use self::stacks::{fields, structures};

/// What a function looks like from outside.
#[derive(Clone, PartialEq, Debug)]
pub struct Prototype<'a> {
    /// The symbol.
    pub name: &'a str,
    /// Its parameters.
    pub params: Vec<Parameter<'a>>,
    /// The result; a run returns nothing.
    pub result: Option<Ty>,
    /// Whether other shared objects may call it.
    pub exported: bool,
}

/// A parameter of a function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameter<'a> {
    /// Its name in source.
    pub name: &'a str,
    /// What C passes.
    pub ty: Ty,
    /// What it leads to, of an address.
    pub points_to: Option<&'a Pointee>,
}

impl<'a> From<&'a Param> for Parameter<'a> {
    fn from(param: &'a Param) -> Parameter<'a> {
        Parameter { name: &param.name, ty: param.ty, points_to: param.points_to.as_ref() }
    }
}

impl Prototype<'_> {
    /// Whether a caller needs the profile's vector types, or its instructions: of a run that takes no rack it does not.
    fn needs_profile(&self) -> bool {
        self.result.is_some() || self.params.iter().any(|param| matches!(param.ty, Ty::Rack(_) | Ty::Mask(_)))
    }
}

/// Writes the header for functions of one profile. `stem` is the file's name without its extension, for the include guard.
pub fn emit(profile: Profile, stem: &str, compiler: &str, functions: &[Prototype<'_>]) -> String {
    let guard = guard_name(stem);
    let mut out = String::with_capacity(1024 + functions.len() * 160);
    let _ = writeln!(out, "/* {} for {profile}, written by {compiler}. */", printable(stem));
    let _ = write!(out, "#ifndef {guard}\n#define {guard}\n\n");
    if functions.iter().all(|function| !function.needs_profile()) && !functions.is_empty() {
        out.push_str(includes(Profile::Scalar));
    } else {
        out.push_str(profile_guard(profile));
        out.push_str(includes(profile));
    }
    out.push_str(PREAMBLE);
    if functions.iter().any(|function| function.result.is_none()) {
        out.push_str(stacks::CONTRACT);
    }
    let declarations = declarations(profile, functions);
    out.push_str(&structures(&declarations));
    for function in declarations {
        let attributes = if function.exported { "RAKE_EXPORTED" } else { "RAKE_HIDDEN" };
        let _ = write!(out, "\n/* {} */\n{} {attributes};\n", function.source, function.declared());
    }
    let _ = write!(out, "\n#undef RAKE_HIDDEN\n#undef RAKE_EXPORTED\n{CLOSE}\n#endif /* {guard} */\n");
    out
}

const PREAMBLE: &str = "#ifndef __cplusplus
#include <stdbool.h>
#endif

#define RAKE_HIDDEN __attribute__((visibility(\"hidden\"), nothrow, leaf))
#define RAKE_EXPORTED __attribute__((visibility(\"default\"), nothrow, leaf))

#ifdef __cplusplus
extern \"C\" {
#endif
";

const CLOSE: &str = "
#ifdef __cplusplus
}
#endif
";

/// A function as C declares it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Declaration {
    /// The signature in source.
    pub source: String,
    /// Its name in C.
    pub name: String,
    /// The symbol, where that is another.
    symbol: Option<String>,
    /// Its parameters' C types and names.
    pub params: Vec<(Cow<'static, str>, String)>,
    /// Its result's C type.
    pub result: &'static str,
    /// Whether other shared objects may call it.
    pub exported: bool,
    /// The structures of its stacks.
    stacks: Vec<stacks::Structure>,
}

impl Declaration {
    /// Result, name and parameters.
    pub fn head(&self) -> String {
        let param = |(ty, name): &(Cow<'static, str>, String)| {
            let space = if ty.ends_with('*') { "" } else { " " };
            format!("{ty}{space}{name}")
        };
        let params: Vec<String> = self.params.iter().map(param).collect();
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        format!("{} {}({params})", self.result, self.name)
    }

    /// The same with the symbol, without attributes.
    pub fn declared(&self) -> String {
        let label = self.symbol.as_ref().map_or_else(String::new, |symbol| format!(" __asm__(\"{symbol}\")"));
        self.head() + &label
    }
}

/// The functions' declarations, no two with the same name.
pub(crate) fn declarations(profile: Profile, functions: &[Prototype<'_>]) -> Vec<Declaration> {
    let mut taken: BTreeSet<String> = functions.iter().map(|f| f.name.to_owned()).collect();
    functions.iter().map(|function| declare(profile, function, &mut taken)).collect()
}

fn declare(profile: Profile, function: &Prototype<'_>, taken: &mut BTreeSet<String>) -> Declaration {
    let mut name = function.name.to_owned();
    if is_reserved(&name) {
        name = format!("rake_{name}");
        while !taken.insert(name.clone()) {
            name.push('_');
        }
    }
    let mut names = BTreeSet::new();
    Declaration {
        source: source(function),
        symbol: (name != function.name).then(|| function.name.to_owned()),
        name,
        params: {
            let param = |param: &Parameter| (parameter_type(profile, param), c_param(param.name, &mut names));
            function.params.iter().map(param).collect()
        },
        result: function.result.map_or("void", |result| c_type(profile, result)),
        exported: function.exported,
        stacks: function.params.iter().filter_map(|param| stacks::structure(param.points_to?)).collect(),
    }
}

/// The signature as source has it.
fn source(function: &Prototype<'_>) -> String {
    let mut params = Vec::new();
    let mut result = function.result.map(|result| result.to_string());
    let mut given = function.params.iter();
    while let Some(&Parameter { name, ty, points_to }) = given.next() {
        params.push(match (points_to, ty) {
            (Some(Pointee::Stack { pack, mutable, .. }), _) => {
                if *mutable {
                    result = Some(format!("stack {pack}"));
                }
                format!("{name}: stack {pack}")
            }
            (Some(view), _) => {
                // Its length is no parameter of its own there.
                given.next();
                format!("{name}: {view}")
            }
            (None, Ty::Uniform(elem)) => format!("<{name}: {elem}>"),
            (None, _) => format!("{name}: {ty}"),
        });
    }
    let result = result.map_or_else(String::new, |result| format!(" -> {result}"));
    let run = if function.result.is_none() { "run " } else { "" };
    format!("{run}{}({}){result}", function.name, params.join(", "))
}

fn parameter_type(profile: Profile, param: &Parameter<'_>) -> Cow<'static, str> {
    match param.points_to {
        Some(pointee) => stacks::pointer(pointee).into(),
        None => c_type(profile, param.ty).into(),
    }
}

fn c_param(name: &str, names: &mut BTreeSet<String>) -> String {
    let mut c_name = if is_reserved(name) { format!("rake_{name}") } else { name.to_owned() };
    while !names.insert(c_name.clone()) {
        c_name.push('_');
    }
    c_name
}

/// The C type of a value on a profile's machine.
pub fn c_type(profile: Profile, ty: Ty) -> &'static str {
    match (profile.info().family, ty) {
        (_, Ty::Uniform(elem)) => scalar_type(elem),
        (_, Ty::Address) => "void *",
        (Family::X86, Ty::Rack(elem)) => x86_type(profile.info().rack_bits, elem),
        (Family::X86, Ty::Mask(_)) => x86_type(profile.info().rack_bits, Elem::I32),
        (Family::Aarch64, Ty::Rack(elem)) => neon_type(elem),
        (Family::Aarch64, Ty::Mask(_)) => neon_type(Elem::U32),
        (Family::Wasm, _) => "v128_t",
        (Family::Scalar, Ty::Rack(elem)) => scalar_type(elem),
        (Family::Scalar, Ty::Mask(_)) => scalar_type(Elem::U32),
    }
}

const fn scalar_type(elem: Elem) -> &'static str {
    match elem {
        Elem::Bool => "bool",
        Elem::I8 => "int8_t",
        Elem::I16 => "int16_t",
        Elem::I32 => "int32_t",
        Elem::I64 => "int64_t",
        Elem::U8 => "uint8_t",
        Elem::U16 => "uint16_t",
        Elem::U32 => "uint32_t",
        Elem::U64 => "uint64_t",
        Elem::F32 => "float",
        Elem::F64 => "double",
    }
}

const fn neon_type(elem: Elem) -> &'static str {
    match elem {
        Elem::I8 => "int8x16_t",
        Elem::I16 => "int16x8_t",
        Elem::I32 => "int32x4_t",
        Elem::I64 => "int64x2_t",
        Elem::U8 => "uint8x16_t",
        Elem::U16 => "uint16x8_t",
        Elem::U32 | Elem::Bool => "uint32x4_t",
        Elem::U64 => "uint64x2_t",
        Elem::F32 => "float32x4_t",
        Elem::F64 => "float64x2_t",
    }
}

const fn x86_type(bits: u32, elem: Elem) -> &'static str {
    let row = match bits {
        128 => ["__m128", "__m128d", "__m128i"],
        256 => ["__m256", "__m256d", "__m256i"],
        _ => ["__m512", "__m512d", "__m512i"],
    };
    match elem {
        Elem::F32 => row[0],
        Elem::F64 => row[1],
        _ => row[2],
    }
}

/// The headers that declare a profile's types.
pub(crate) const fn includes(profile: Profile) -> &'static str {
    match profile.info().family {
        Family::X86 => "#include <stdint.h>\n#include <immintrin.h>\n",
        Family::Aarch64 => "#include <stdint.h>\n#include <arm_neon.h>\n",
        Family::Wasm => "#include <stdint.h>\n#include <wasm_simd128.h>\n",
        Family::Scalar => "#include <stdint.h>\n",
    }
}

const fn profile_guard(profile: Profile) -> &'static str {
    match profile {
        Profile::X86Sse2 => "#if !defined(__SSE2__)\n#error \"compile with -msse2\"\n#endif\n\n",
        Profile::X86Avx2 => {
            "#if !defined(__AVX2__) || !defined(__FMA__)\n#error \"compile with -mavx2 -mfma or -march=x86-64-v3\"\n#endif\n\n"
        }
        Profile::X86Avx512 => {
            "#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512CD__) || \\\n    \
             !defined(__AVX512DQ__) || !defined(__AVX512VL__)\n#error \"compile with -march=x86-64-v4\"\n#endif\n\n"
        }
        Profile::Aarch64Neon => {
            "#if !defined(__aarch64__) || !defined(__ARM_NEON)\n#error \"compile for AArch64\"\n#endif\n\n"
        }
        Profile::WasmSimd128 => {
            "#if !defined(__wasm_simd128__)\n#error \"compile for WebAssembly with -msimd128\"\n#endif\n\n"
        }
        Profile::WasmSimd128Relaxed => {
            "#if !defined(__wasm_relaxed_simd__)\n#error \"compile for WebAssembly with -mrelaxed-simd\"\n#endif\n\n"
        }
        Profile::Scalar => "",
    }
}

/// Letters, digits and `_` of a file's stem, upper case, with a prefix that no other header uses.
fn guard_name(stem: &str) -> String {
    let clean = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    format!("RAKE_{}_H", clean.collect::<String>())
}

/// A stem as it may stand in a comment.
pub(crate) fn printable(stem: &str) -> String {
    stem.chars().map(|c| if c.is_ascii_alphanumeric() || "._- ".contains(c) { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests;
