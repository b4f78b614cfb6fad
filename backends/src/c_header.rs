//! `--emit-header`: the C (and C++) declarations of an object's functions.
//!
//! ```c
//! /* scratch advance(x: f32s, <dt: f32>) -> f32s */
//! __m256 advance(__m256 x, float dt) RAKE_ATTRIBUTES_HIDDEN;
//! ```
//!
//! A name that C or C++ reserves, or that a standard header may have declared already, is declared as `rake_NAME` with the
//! true symbol given by an assembler label, so any definition can be called. Masks are declared as integer racks: of each
//! lane only the sign bit is read, and all bits are alike in a result.

use rake_ir::profile::{Family, Profile};
use rake_ir::types::{Elem, Ty};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What a function looks like from outside.
#[derive(Clone, PartialEq, Debug)]
pub struct Prototype<'a> {
    /// The symbol.
    pub name: &'a str,
    /// Each parameter's source name and type.
    pub params: Vec<(&'a str, Ty)>,
    /// The result; a run returns nothing.
    pub result: Option<Ty>,
    /// Whether other shared objects may call it.
    pub exported: bool,
}

/// Writes the header for functions of one profile. `stem` is the file's name without its extension, for the include guard.
pub fn emit(profile: Profile, stem: &str, compiler: &str, functions: &[Prototype<'_>]) -> String {
    let guard = guard_name(stem);
    let mut out = String::with_capacity(1024 + functions.len() * 160);
    let _ = writeln!(out, "/* {} for {profile}, written by {compiler}. */", printable(stem));
    let _ = write!(out, "#ifndef {guard}\n#define {guard}\n\n");
    out.push_str(profile_guard(profile));
    out.push_str(includes(profile));
    out.push_str(PREAMBLE);
    for function in declarations(profile, functions) {
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
    pub params: Vec<(&'static str, String)>,
    /// Its result's C type.
    pub result: &'static str,
    /// Whether other shared objects may call it.
    pub exported: bool,
}

impl Declaration {
    /// Result, name and parameters.
    pub fn head(&self) -> String {
        let params: Vec<String> = self.params.iter().map(|(ty, name)| format!("{ty} {name}")).collect();
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
    let params: Vec<String> = function.params.iter().map(|(name, ty)| source_param(name, *ty)).collect();
    let mut name = function.name.to_owned();
    if is_reserved(&name) {
        name = format!("rake_{name}");
        while !taken.insert(name.clone()) {
            name.push('_');
        }
    }
    let mut names = BTreeSet::new();
    Declaration {
        source: match function.result {
            Some(result) => format!("{}({}) -> {result}", function.name, params.join(", ")),
            None => format!("{}({})", function.name, params.join(", ")),
        },
        symbol: (name != function.name).then(|| function.name.to_owned()),
        name,
        params: function.params.iter().map(|(name, ty)| (c_type(profile, *ty), c_param(name, &mut names))).collect(),
        result: function.result.map_or("void", |result| c_type(profile, result)),
        exported: function.exported,
    }
}

fn source_param(name: &str, ty: Ty) -> String {
    match ty {
        Ty::Uniform(elem) => format!("<{name}: {elem}>"),
        _ => format!("{name}: {ty}"),
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

/// Whether C or C++ reserves the name, predefines it as a macro, or declares it in a standard header or as a builtin.
fn is_reserved(name: &str) -> bool {
    name.starts_with('_') || name.starts_with("rake_") || RESERVED.binary_search(&name).is_ok()
}

/// Keywords of C17, C23, C++20 and GNU C, predefined macros, and lowercase functions of the C17 library and GCC's
/// library builtins; sorted.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "abort", "abs", "acos", "acosf", "acosh", "acoshf", "acoshl", "acosl", "alignas", "aligned_alloc", "alignof",
    "alloca", "and", "and_eq", "asin", "asinf", "asinh", "asinhf", "asinhl", "asinl", "asm", "at_quick_exit", "atan",
    "atan2", "atan2f", "atan2l", "atanf", "atanh", "atanhf", "atanhl", "atanl", "atexit", "atof", "atoi", "atol",
    "atoll", "auto", "bcmp", "bcopy", "bitand", "bitor", "bool", "break", "bsearch", "bzero", "cabs", "cabsf",
    "cacos", "calloc", "carg", "case", "casin", "catan", "catch", "cbrt", "cbrtf", "cbrtl", "ccos", "ceil", "ceilf",
    "ceill", "cexp", "char", "char16_t", "char32_t", "char8_t", "cimag", "class", "clog", "co_await", "co_return",
    "co_yield", "compl", "complex", "concept", "conj", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "copysign", "copysignf", "copysignl", "cos", "cosf", "cosh", "coshf", "coshl", "cosl", "cpow",
    "cproj", "creal", "csin", "csqrt", "ctan", "decltype", "default", "delete", "div", "div_t", "do", "double",
    "drem", "dynamic_cast", "else", "enum", "erf", "erfc", "erfcf", "erfcl", "erff", "erfl", "execl", "execv", "exit",
    "exp", "exp10", "exp10f", "exp2", "exp2f", "exp2l", "expf", "expl", "explicit", "expm1", "expm1f", "expm1l",
    "export", "extern", "fabs", "fabsf", "fabsl", "false", "fclose", "fdim", "fdimf", "fdiml", "feclearexcept", "ffs",
    "ffsl", "ffsll", "float", "floor", "floorf", "floorl", "fma", "fmaf", "fmal", "fmax", "fmaxf", "fmaxl", "fmin",
    "fminf", "fminl", "fmod", "fmodf", "fmodl", "fopen", "for", "fork", "fprintf", "fputc", "fputs", "free", "frexp",
    "frexpf", "frexpl", "friend", "fscanf", "fwrite", "gamma", "gammaf", "getenv", "gettext", "goto", "hypot",
    "hypotf", "hypotl", "if", "ilogb", "ilogbf", "ilogbl", "imaxabs", "import", "index", "inline", "int", "int16_t",
    "int32_t", "int64_t", "int8_t", "isalnum", "isalpha", "isascii", "isblank", "iscntrl", "isdigit", "isgraph",
    "isinf", "islower", "isnan", "isprint", "ispunct", "isspace", "isupper", "iswalpha", "isxdigit", "j0", "j0f",
    "j1", "j1f", "jn", "jnf", "labs", "ldexp", "ldexpf", "ldexpl", "ldiv", "lgamma", "lgammaf", "lgammal", "linux",
    "llabs", "lldiv", "llrint", "llrintf", "llround", "llroundf", "log", "log10", "log10f", "log10l", "log1p",
    "log1pf", "log1pl", "log2", "log2f", "log2l", "logb", "logbf", "logbl", "logf", "logl", "long", "lrint", "lrintf",
    "lround", "lroundf", "main", "malloc", "memchr", "memcmp", "memcpy", "memmove", "mempcpy", "memset", "modf",
    "modff", "modfl", "module", "mutable", "namespace", "nan", "nanf", "nanl", "nearbyint", "nearbyintf",
    "nearbyintl", "new", "nextafter", "nextafterf", "nexttoward", "noexcept", "not", "not_eq", "nullptr", "offsetof",
    "operator", "or", "or_eq", "posix_memalign", "pow", "pow10", "powf", "powl", "printf", "private", "protected",
    "ptrdiff_t", "public", "putchar", "puts", "qsort", "quick_exit", "rand", "random", "realloc", "register",
    "reinterpret_cast", "remainder", "remainderf", "remquo", "remquof", "requires", "restrict", "return", "rindex",
    "rint", "rintf", "rintl", "round", "roundf", "roundl", "scalb", "scalbf", "scalbln", "scalbn", "scalbnf", "scanf",
    "select", "short", "signbit", "signed", "significand", "sin", "sincos", "sincosf", "sinf", "sinh", "sinhf",
    "sinhl", "sinl", "size_t", "sizeof", "snprintf", "sprintf", "sqrt", "sqrtf", "sqrtl", "srand", "sscanf", "static",
    "static_assert", "static_cast", "stpcpy", "stpncpy", "strcasecmp", "strcat", "strchr", "strcmp", "strcpy",
    "strcspn", "strdup", "strfmon", "strftime", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strndup",
    "strnlen", "strpbrk", "strrchr", "strspn", "strstr", "strtod", "strtof", "strtol", "strtoul", "struct", "switch",
    "system", "tan", "tanf", "tanh", "tanhf", "tanhl", "tanl", "template", "tgamma", "tgammaf", "tgammal", "this",
    "thread_local", "throw", "toascii", "tolower", "toupper", "true", "trunc", "truncf", "truncl", "try", "typedef",
    "typeid", "typename", "typeof", "typeof_unqual", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "union", "unix",
    "unsigned", "using", "vfprintf", "virtual", "void", "volatile", "vprintf", "vscanf", "vsnprintf", "vsprintf",
    "wchar_t", "while", "xor", "xor_eq", "y0", "y0f", "y1", "y1f", "yn", "ynf",
];

#[cfg(test)]
mod tests;
