//! Names that mean something else to C and C++ already.

/// Whether C or C++ reserves the name, predefines it as a macro, or declares it in a standard header or as a builtin.
pub fn is_reserved(name: &str) -> bool {
    is_word(name) || name.starts_with("rake_") || FUNCTIONS.binary_search(&name).is_ok()
}

/// Whether even a field may not be called so.
pub fn is_word(name: &str) -> bool {
    name.starts_with('_') || WORDS.binary_search(&name).is_ok()
}

/// Keywords of C17, C23, C++20 and GNU C, types of standard headers and predefined macros; sorted.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "complex", "concept",
    "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete",
    "div_t", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for",
    "friend", "goto", "if", "import", "inline", "int", "int16_t", "int32_t", "int64_t", "int8_t", "linux", "long",
    "module", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "offsetof", "operator", "or",
    "or_eq", "private", "protected", "ptrdiff_t", "public", "register", "reinterpret_cast", "requires", "restrict",
    "return", "short", "signed", "size_t", "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
    "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof",
    "typeof_unqual", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "union", "unix", "unsigned", "using", "virtual",
    "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
];

/// Lowercase functions of the C17 library and GCC's library builtins; sorted.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "abort", "abs", "acos", "acosf", "acosh", "acoshf", "acoshl", "acosl", "aligned_alloc", "alloca", "asin", "asinf",
    "asinh", "asinhf", "asinhl", "asinl", "at_quick_exit", "atan", "atan2", "atan2f", "atan2l", "atanf", "atanh",
    "atanhf", "atanhl", "atanl", "atexit", "atof", "atoi", "atol", "atoll", "bcmp", "bcopy", "bsearch", "bzero",
    "cabs", "cabsf", "cacos", "calloc", "carg", "casin", "catan", "cbrt", "cbrtf", "cbrtl", "ccos", "ceil", "ceilf",
    "ceill", "cexp", "cimag", "clog", "conj", "copysign", "copysignf", "copysignl", "cos", "cosf", "cosh", "coshf",
    "coshl", "cosl", "cpow", "cproj", "creal", "csin", "csqrt", "ctan", "div", "drem", "erf", "erfc", "erfcf",
    "erfcl", "erff", "erfl", "execl", "execv", "exit", "exp", "exp10", "exp10f", "exp2", "exp2f", "exp2l", "expf",
    "expl", "expm1", "expm1f", "expm1l", "fabs", "fabsf", "fabsl", "fclose", "fdim", "fdimf", "fdiml",
    "feclearexcept", "ffs", "ffsl", "ffsll", "floor", "floorf", "floorl", "fma", "fmaf", "fmal", "fmax", "fmaxf",
    "fmaxl", "fmin", "fminf", "fminl", "fmod", "fmodf", "fmodl", "fopen", "fork", "fprintf", "fputc", "fputs", "free",
    "frexp", "frexpf", "frexpl", "fscanf", "fwrite", "gamma", "gammaf", "getenv", "gettext", "hypot", "hypotf",
    "hypotl", "ilogb", "ilogbf", "ilogbl", "imaxabs", "index", "isalnum", "isalpha", "isascii", "isblank", "iscntrl",
    "isdigit", "isgraph", "isinf", "islower", "isnan", "isprint", "ispunct", "isspace", "isupper", "iswalpha",
    "isxdigit", "j0", "j0f", "j1", "j1f", "jn", "jnf", "labs", "ldexp", "ldexpf", "ldexpl", "ldiv", "lgamma",
    "lgammaf", "lgammal", "llabs", "lldiv", "llrint", "llrintf", "llround", "llroundf", "log", "log10", "log10f",
    "log10l", "log1p", "log1pf", "log1pl", "log2", "log2f", "log2l", "logb", "logbf", "logbl", "logf", "logl",
    "lrint", "lrintf", "lround", "lroundf", "main", "malloc", "memchr", "memcmp", "memcpy", "memmove", "mempcpy",
    "memset", "modf", "modff", "modfl", "nan", "nanf", "nanl", "nearbyint", "nearbyintf", "nearbyintl", "nextafter",
    "nextafterf", "nexttoward", "posix_memalign", "pow", "pow10", "powf", "powl", "printf", "putchar", "puts",
    "qsort", "quick_exit", "rand", "random", "realloc", "remainder", "remainderf", "remquo", "remquof", "rindex",
    "rint", "rintf", "rintl", "round", "roundf", "roundl", "scalb", "scalbf", "scalbln", "scalbn", "scalbnf", "scanf",
    "select", "signbit", "significand", "sin", "sincos", "sincosf", "sinf", "sinh", "sinhf", "sinhl", "sinl",
    "snprintf", "sprintf", "sqrt", "sqrtf", "sqrtl", "srand", "sscanf", "stpcpy", "stpncpy", "strcasecmp", "strcat",
    "strchr", "strcmp", "strcpy", "strcspn", "strdup", "strfmon", "strftime", "strlen", "strncasecmp", "strncat",
    "strncmp", "strncpy", "strndup", "strnlen", "strpbrk", "strrchr", "strspn", "strstr", "strtod", "strtof",
    "strtol", "strtoul", "system", "tan", "tanf", "tanh", "tanhf", "tanhl", "tanl", "tgamma", "tgammaf", "tgammal",
    "toascii", "tolower", "toupper", "trunc", "truncf", "truncl", "vfprintf", "vprintf", "vscanf", "vsnprintf",
    "vsprintf", "y0", "y0f", "y1", "y1f", "yn", "ynf",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_so_that_searching_them_finds_every_name() {
        assert!(WORDS.is_sorted() && FUNCTIONS.is_sorted());
        assert!(is_reserved("while") && is_reserved("abs") && !is_reserved("advance"));
        assert!(is_word("while") && is_word("_x") && !is_word("abs"));
    }
}
