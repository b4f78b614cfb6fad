// What the files of hand-written intrinsics share: types, opaque constants, and a function for each element.
//
// Each function is the shortest sequence its author found under the language's constraints:
//   * nothing is computed lane by lane with scalar instructions, and nothing goes through memory or a general register
//     but a scalar that crosses the boundary and a mask's bits as a number;
//   * no exception flag that the operation would not raise: no invalid, overflow or division by zero from a conversion or
//     sum that the operation does not make, and no comparison that signals on a quiet NaN where the operation does not;
//   * NaN, signed zero, saturation and lane order as the language reference has them.
// Where a constraint costs instructions, a remark says how many.
#pragma once
#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm__)
#include <wasm_simd128.h>
#else
#include <immintrin.h>
#endif

// A constant of the rack's width that the compiler cannot look into, so that it stays one memory operand.
#define KONST4(name, a, b, c, d)                                                                                       \
    asm(".pushsection .rodata.peers,\"a\",@progbits\n.balign 64\n" #name ":\n.rept 4\n.long " #a "," #b "," #c "," #d  \
        "\n.endr\n.popsection");                                                                                       \
    extern const I name __attribute__((visibility("hidden")));
#define KONST16(name, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                                  \
    asm(".pushsection .rodata.peers,\"a\",@progbits\n.balign 64\n" #name ":\n.long " #a "," #b "," #c "," #d "," #e    \
        "," #f "," #g "," #h "," #i "," #j "," #k "," #l "," #m "," #n "," #o "," #p "\n.popsection");                 \
    extern const I name __attribute__((visibility("hidden")));
#define KONST8(name, a, b, c, d, e, f, g, h) KONST16(name, a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h)
#define KONST(name, a) KONST4(name, a, a, a, a)

// The same bits for every element: what only moves lanes.
#define MOVES1(name)                                                                                                   \
    F f32_##name(F a) { return IF(name(FI(a))); }                                                                      \
    I i32_##name(I a) { return name(a); }                                                                              \
    I u32_##name(I a) { return name(a); }
#define MOVES2(name)                                                                                                   \
    F f32_##name(F a, F b) { return IF(name(FI(a), FI(b))); }                                                          \
    I i32_##name(I a, I b) { return name(a, b); }                                                                      \
    I u32_##name(I a, I b) { return name(a, b); }
#define MOVES3(name)                                                                                                   \
    F f32_##name(I m, F a, F b) { return IF(name(m, FI(a), FI(b))); }                                                  \
    I i32_##name(I m, I a, I b) { return name(m, a, b); }                                                              \
    I u32_##name(I m, I a, I b) { return name(m, a, b); }
#define INTS1(name)                                                                                                    \
    I i32_##name(I a) { return name(a); }                                                                              \
    I u32_##name(I a) { return name(a); }
#define INTS2(name)                                                                                                    \
    I i32_##name(I a, I b) { return name(a, b); }                                                                      \
    I u32_##name(I a, I b) { return name(a, b); }
// The spread of a reduction, and its lane 0 as the C result.
#define FOLD(elem, op, fn)                                                                                             \
    I elem##_##op##_spread(I a) { return fn(a); }                                                                      \
    int elem##_##op##_of(I a) { return LANE0(fn(a)); }
#define FOLDF(op, fn)                                                                                                  \
    F f32_##op##_spread(F a) { return fn(a); }                                                                         \
    float f32_##op##_of(F a) { return LANE0F(fn(a)); }
#define S static inline __attribute__((always_inline))
