// The vocabulary in hand-written WebAssembly SIMD, as few bytes as its author found. No memory, no globals, no calls:
// locals, constants and register SIMD. There are no exception flags, so what they forbid elsewhere is allowed here.
//
// What costs bytes: a `v128.const` and an `i8x16.shuffle` take 18, `i32.const` and `splat` of a small number 4, a
// lane's `extract_lane` and `splat` 5. Of opcodes those below 0x80 (comparisons, bitwise operations, `popcnt`,
// `swizzle`, bytes, `ceil` to `nearest`) take 2, the others 3.
#include "peers.h"
typedef v128_t F;
typedef v128_t I;
#define FI
#define IF
#define LANE0(a) wasm_i32x4_extract_lane(a, 0)
#define LANE0F(a) wasm_f32x4_extract_lane(a, 0)
#define ENTER wasm_i32x4_splat
#define SH wasm_i32x4_shuffle

// A scalar that clang cannot look into; else it makes a shuffle of a lane's spread and a literal rack of a literal's,
// which are longer though this takes a local.
#define OPAQUE(name, type)                                                                                             \
    S type name(type k) {                                                                                              \
        asm("" : "+r"(k));                                                                                             \
        return k;                                                                                                      \
    }
OPAQUE(opaque, int)
OPAQUE(opaque_f, float)
OPAQUE(opaque_l, long long)
// A function by hand, where clang would leave racks for scalars: its name, type, and code.
#define KERNEL(name, type, code)                                                                                       \
    asm(".section .text." #name ",\"\",@\n.globl " #name "\n.type " #name ",@function\n" #name ":\n.functype " #name " " \
        type "\n" code "\nend_function\n");
#define ALL(k) wasm_i32x4_splat(opaque(k))
#define SPREAD(a, n) wasm_i32x4_splat(opaque(wasm_i32x4_extract_lane(a, n)))
#define SPREADF(a, n) wasm_f32x4_splat(opaque_f(wasm_f32x4_extract_lane(a, n)))
#define UPPER(a) wasm_i64x2_splat(opaque_l(wasm_i64x2_extract_lane(a, 1)))

// Arithmetic.
I i32_negate(I a) { return wasm_i32x4_neg(a); }
F f32_negate(F a) { return wasm_f32x4_neg(a); }
F f32_magnitude(F a) { return wasm_f32x4_abs(a); }
I i32_magnitude(I a) { return wasm_i32x4_abs(a); }
S I lane_numbers(I a) { return wasm_i32x4_add(a, wasm_i32x4_const(0, 1, 2, 3)); }
INTS1(lane_numbers)
F f32_root(F a) { return wasm_f32x4_sqrt(a); }
F f32_add(F a, F b) { return wasm_f32x4_add(a, b); }
F f32_subtract(F a, F b) { return wasm_f32x4_sub(a, b); }
F f32_multiply(F a, F b) { return wasm_f32x4_mul(a, b); }
F f32_divide(F a, F b) { return wasm_f32x4_div(a, b); }
S I add(I a, I b) { return wasm_i32x4_add(a, b); }
S I subtract(I a, I b) { return wasm_i32x4_sub(a, b); }
S I multiply(I a, I b) { return wasm_i32x4_mul(a, b); }
S I bits_and(I a, I b) { return wasm_v128_and(a, b); }
S I bits_or(I a, I b) { return wasm_v128_or(a, b); }
S I bits_xor(I a, I b) { return wasm_v128_xor(a, b); }
S I bits_andnot(I a, I b) { return wasm_v128_andnot(a, b); }
INTS2(add)
INTS2(subtract)
INTS2(multiply)
INTS2(bits_and)
INTS2(bits_or)
INTS2(bits_xor)
INTS2(bits_andnot)

// Extrema and rounding: the machine's are the language's.
F f32_least(F a, F b) { return wasm_f32x4_min(a, b); }
F f32_most(F a, F b) { return wasm_f32x4_max(a, b); }
I i32_least(I a, I b) { return wasm_i32x4_min(a, b); }
I i32_most(I a, I b) { return wasm_i32x4_max(a, b); }
I u32_least(I a, I b) { return wasm_u32x4_min(a, b); }
I u32_most(I a, I b) { return wasm_u32x4_max(a, b); }
F f32_to_nearest(F x) { return wasm_f32x4_nearest(x); }
F f32_toward_zero(F x) { return wasm_f32x4_trunc(x); }
F f32_down(F x) { return wasm_f32x4_floor(x); }
F f32_upward(F x) { return wasm_f32x4_ceil(x); }

// Comparisons. The machine's `ne` is true of a NaN.
I f32_eq(F a, F b) { return wasm_f32x4_eq(a, b); }
I f32_ne(F a, F b) { return wasm_v128_or(wasm_f32x4_lt(a, b), wasm_f32x4_gt(a, b)); }
I f32_lt(F a, F b) { return wasm_f32x4_lt(a, b); }
I f32_le(F a, F b) { return wasm_f32x4_le(a, b); }
I f32_gt(F a, F b) { return wasm_f32x4_gt(a, b); }
I f32_ge(F a, F b) { return wasm_f32x4_ge(a, b); }
S I eq(I a, I b) { return wasm_i32x4_eq(a, b); }
S I ne(I a, I b) { return wasm_i32x4_ne(a, b); }
INTS2(eq)
INTS2(ne)
I i32_lt(I a, I b) { return wasm_i32x4_lt(a, b); }
I i32_gt(I a, I b) { return wasm_i32x4_gt(a, b); }
I i32_le(I a, I b) { return wasm_i32x4_le(a, b); }
I i32_ge(I a, I b) { return wasm_i32x4_ge(a, b); }
I u32_lt(I a, I b) { return wasm_u32x4_lt(a, b); }
I u32_gt(I a, I b) { return wasm_u32x4_gt(a, b); }
I u32_le(I a, I b) { return wasm_u32x4_le(a, b); }
I u32_ge(I a, I b) { return wasm_u32x4_ge(a, b); }

// Masks and choices. The complement of `spread` would be the shorter `unset`; clang makes a comparison with a literal
// of it.
S I spread(I m) { return wasm_i32x4_shr(m, 31); }
S I unset(I m) { return wasm_i32x4_gt(m, ALL(-1)); }
S I pick(I m, I a, I b) { return wasm_v128_bitselect(a, b, spread(m)); }
S I branch(I m, I a, I b) { return pick(m, a, b); }
MOVES3(pick)
MOVES3(branch)
I conjunction(I p, I q) { return spread(wasm_v128_and(p, q)); }
I disjunction(I p, I q) { return spread(wasm_v128_or(p, q)); }
I complement(I p, I q) { return unset(p); }
I neither(I p, I q) { return unset(wasm_v128_or(p, q)); }
I without(I p, I q) { return spread(wasm_v128_andnot(p, q)); }
I not_both(I p, I q) { return unset(wasm_v128_and(p, q)); }
I same(I p, I q) { return spread(p); }
I other(I p, I q) { return spread(q); }
// In scalars (`i32.shl`, 1 byte) these would be 2 to 4 bytes shorter, and `not_flag` 6.
#define OF_FLAG "i32x4.splat\ni32.const 31\ni32x4.shl\n"
#define SPREAD_SIGNS "i32.const 31\ni32x4.shr_s\n"
KERNEL(with_flag, "(v128, i32) -> (v128)", "local.get 1\n" OF_FLAG "local.get 0\nv128.and\n" SPREAD_SIGNS)
KERNEL(or_flag, "(v128, i32) -> (v128)", "local.get 1\n" OF_FLAG "local.get 0\nv128.or\n" SPREAD_SIGNS)
KERNEL(flag_rack, "(i32) -> (v128)", "local.get 0\n" OF_FLAG SPREAD_SIGNS)
KERNEL(not_flag, "(i32) -> (i32)", "i32.const 1\ni32x4.splat\nlocal.get 0\ni32x4.splat\nv128.andnot\ni32x4.extract_lane 0")
I all_lanes(void) { return ALL(-1); }
I no_lanes(void) { return ALL(0); }
int flag(int c) { return c & 1; }
int truth(void) { return 1; }

// Words of masks; a whole rack is chosen by `select`.
S int bits(I m) { return wasm_i32x4_bitmask(m); }
int bitmask_of(I m) { return bits(m); }
int all_of(I m) { return bits(m) == 15; }
int any_of(I m) { return bits(m) != 0; }
int bitmask_compared(F a, F b) { return bits(f32_lt(a, b)); }
int all_compared(F a, F b) { return wasm_i32x4_all_true(f32_lt(a, b)); }
int any_compared(F a, F b) { return wasm_v128_any_true(f32_lt(a, b)); }
I bitmask_spread(I m, F a, F b) { return wasm_i32x4_splat(bits(m)); }
F all_spread(I m, F a, F b) { return bits(m) == 15 ? a : b; }
F any_spread(I m, F a, F b) { return bits(m) ? a : b; }

// Conversions saturate and make 0 of a NaN by themselves.
S I to_i32(F a) { return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(a)); }
S I to_u32(F a) { return wasm_u32x4_trunc_sat_f32x4(wasm_f32x4_nearest(a)); }
I f32_to_i32_rack(F a) { return to_i32(a); }
I f32_to_u32_rack(F a) { return to_u32(a); }
F i32_to_f32_rack(I a) { return wasm_f32x4_convert_i32x4(a); }
F u32_to_f32_rack(I a) { return wasm_f32x4_convert_u32x4(a); }
int f32_to_i32_one(float k) { return LANE0(to_i32(wasm_f32x4_splat(k))); }
int f32_to_u32_one(float k) { return LANE0(to_u32(wasm_f32x4_splat(k))); }
// A scalar conversion would be 7 bytes shorter.
#define OF_ONE(sign) "local.get 0\ni32x4.splat\nf32x4.convert_i32x4_" sign "\nf32x4.extract_lane 0"
KERNEL(i32_to_f32_one, "(i32) -> (f32)", OF_ONE("s"))
KERNEL(u32_to_f32_one, "(i32) -> (f32)", OF_ONE("u"))
// Casts.
I bytes_of(I a) { return a; }
F words_of(I a) { return a; }
S I bits_as_f32(I a) { return a; }
S I bits_as_i32(I a) { return a; }
S I bits_as_u32(I a) { return a; }
MOVES1(bits_as_f32)
MOVES1(bits_as_i32)
MOVES1(bits_as_u32)
float f32_bits_of_one_as_f32(float k) { return k; }
int f32_bits_of_one_as_i32(float k) { return __builtin_bit_cast(int, k); }
int f32_bits_of_one_as_u32(float k) { return __builtin_bit_cast(int, k); }
float i32_bits_of_one_as_f32(int k) { return __builtin_bit_cast(float, k); }
int i32_bits_of_one_as_i32(int k) { return k; }
int i32_bits_of_one_as_u32(int k) { return k; }
float u32_bits_of_one_as_f32(int k) { return __builtin_bit_cast(float, k); }
int u32_bits_of_one_as_i32(int k) { return k; }
int u32_bits_of_one_as_u32(int k) { return k; }

// Shifts: the machine's count is modulo the width.
#define SHIFTS(n)                                                                                                      \
    S I left##n(I a) { return wasm_i32x4_shl(a, n); }                                                                  \
    S I right##n(I a) { return wasm_u32x4_shr(a, n); }                                                                 \
    S I right_signed##n(I a) { return wasm_i32x4_shr(a, n); }                                                          \
    INTS1(left##n) INTS1(right##n) INTS1(right_signed##n)
SHIFTS(0)
SHIFTS(1)
SHIFTS(7)
SHIFTS(31)
#define BY(name, shift)                                                                                                \
    I i32_##name(I a, int n) { return shift(a, n); }                                                                   \
    I u32_##name(I a, int n) { return shift(a, n); }
BY(left_by, wasm_i32x4_shl)
BY(right_by, wasm_u32x4_shr)
BY(right_signed_by, wasm_i32x4_shr)

// Lane moves. A shuffle of one rack takes it twice, so a `swizzle` by a literal rack is as long and brings zeros
// besides. Without the locals that keep clang from a shuffle, halves are swapped in 17 bytes by extracting, spreading
// and replacing them, pairs in 18 by two shifts of double lanes, and lanes moved beyond the half among zeros in 16.
S I reversed(I a) { return SH(a, a, 3, 2, 1, 0); }
S I halves_swapped(I a) { return SH(a, a, 2, 3, 0, 1); }
S I pairs_swapped(I a) { return SH(a, a, 1, 0, 3, 2); }
S I first_everywhere(I a) { return SPREAD(a, 0); }
S I last_everywhere(I a) { return SPREAD(a, 3); }
S I scattered(I a) { return reversed(a); }
S I twice_each(I a) { return SH(a, a, 0, 0, 1, 1); }
MOVES1(reversed)
MOVES1(halves_swapped)
MOVES1(pairs_swapped)
MOVES1(first_everywhere)
MOVES1(last_everywhere)
MOVES1(scattered)
MOVES1(twice_each)
S I blended(I a, I b) { return SH(a, b, 0, 5, 2, 7); }
S I interleaved(I a, I b) { return SH(a, b, 0, 4, 1, 5); }
S I joined(I a, I b) { return SH(a, b, 2, 3, 4, 5); }
S I crossed(I a, I b) { return SH(a, b, 2, 7, 4, 1); }
S I second_reversed(I a, I b) { return reversed(b); }
S I one_from_second(I a, I b) { return wasm_i32x4_replace_lane(a, 2, opaque(wasm_i32x4_extract_lane(b, 1))); }
S I zip_lows(I a, I b) { return SH(a, b, 0, 4, 1, 5); }
S I zip_highs(I a, I b) { return SH(a, b, 2, 6, 3, 7); }
S I unzip_evens(I a, I b) { return SH(a, b, 0, 2, 4, 6); }
S I unzip_odds(I a, I b) { return SH(a, b, 1, 3, 5, 7); }
MOVES2(blended)
MOVES2(interleaved)
MOVES2(joined)
MOVES2(crossed)
MOVES2(second_reversed)
MOVES2(one_from_second)
MOVES2(zip_lows)
MOVES2(zip_highs)
MOVES2(unzip_evens)
MOVES2(unzip_odds)
#define WORD(n) 4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3
#define NONE -1, -1, -1, -1
#define SW(a, ...) wasm_i8x16_swizzle(a, wasm_i8x16_const(__VA_ARGS__))
S I shift_left_0(I a) { return a; }
S I shift_left_1(I a) { return SW(a, WORD(1), WORD(2), WORD(3), NONE); }
S I shift_left_2(I a) { return SW(a, WORD(2), WORD(3), NONE, NONE); }
S I shift_left_3(I a) { return SW(a, WORD(3), NONE, NONE, NONE); }
S I shift_right_0(I a) { return a; }
S I shift_right_1(I a) { return SW(a, NONE, WORD(0), WORD(1), WORD(2)); }
S I shift_right_2(I a) { return SW(a, NONE, NONE, WORD(0), WORD(1)); }
S I shift_right_3(I a) { return SW(a, NONE, NONE, NONE, WORD(0)); }
#define ROTATE(a, n) SH(a, a, n & 3, (n + 1) & 3, (n + 2) & 3, (n + 3) & 3)
S I rotate_left_0(I a) { return a; }
S I rotate_left_1(I a) { return ROTATE(a, 1); }
S I rotate_left_2(I a) { return halves_swapped(a); }
S I rotate_left_3(I a) { return ROTATE(a, 3); }
S I rotate_right_0(I a) { return a; }
S I rotate_right_1(I a) { return ROTATE(a, 3); }
S I rotate_right_2(I a) { return halves_swapped(a); }
S I rotate_right_3(I a) { return ROTATE(a, 1); }
#define LANE_MOVES(n)                                                                                                  \
    S I spread_##n(I a) { return SPREAD(a, n); }                                                                       \
    MOVES1(shift_left_##n)                                                                                             \
    MOVES1(shift_right_##n)                                                                                            \
    MOVES1(rotate_left_##n)                                                                                            \
    MOVES1(rotate_right_##n)                                                                                           \
    MOVES1(spread_##n)                                                                                                 \
    float f32_extract_##n(F a) { return wasm_f32x4_extract_lane(a, n); }                                               \
    int i32_extract_##n(I a) { return wasm_i32x4_extract_lane(a, n); }                                                 \
    int u32_extract_##n(I a) { return wasm_i32x4_extract_lane(a, n); }                                                 \
    F f32_insert_##n(F a, float k) { return wasm_f32x4_replace_lane(a, n, k); }                                        \
    I i32_insert_##n(I a, int k) { return wasm_i32x4_replace_lane(a, n, k); }                                          \
    I u32_insert_##n(I a, int k) { return wasm_i32x4_replace_lane(a, n, k); }
LANE_MOVES(0)
LANE_MOVES(1)
LANE_MOVES(2)
LANE_MOVES(3)

// Ordered folds: each lane spread, then whole racks (39 bytes, 42 for a scalar); clang makes additions of scalars of
// them, whose locals are no shorter.
#define ORDERED(op, step)                                                                                              \
    S F op##_f(F a) { return step(step(step(SPREADF(a, 0), SPREADF(a, 1)), SPREADF(a, 2)), SPREADF(a, 3)); }           \
    FOLDF(op, op##_f)                                                                                                  \
    F f32_scan_##op##_of(F a) {                                                                                        \
        F s1 = step(SPREADF(a, 0), SPREADF(a, 1)), s2 = step(s1, SPREADF(a, 2)), s3 = step(s2, SPREADF(a, 3));         \
        a = wasm_f32x4_replace_lane(a, 1, opaque_f(LANE0F(s1)));                                                       \
        a = wasm_f32x4_replace_lane(a, 2, opaque_f(LANE0F(s2)));                                                       \
        return wasm_f32x4_replace_lane(a, 3, opaque_f(LANE0F(s3)));                                                    \
    }
ORDERED(sum, wasm_f32x4_add)
ORDERED(product, wasm_f32x4_mul)

// Integers, and strict extrema of floats, by halves: the upper half spread, then a shift of double lanes, both without
// a literal rack or shuffle. What the other lanes hold does not matter.
#define TREE(fn, step)                                                                                                 \
    S I fn(I a) {                                                                                                      \
        a = step(a, UPPER(a));                                                                                         \
        return step(a, wasm_u64x2_shr(a, opaque(32)));                                                                 \
    }
#define FOLD_LANE0(elem, op, fn)                                                                                       \
    I elem##_##op##_spread(I a) { return SPREAD(fn(a), 0); }                                                           \
    int elem##_##op##_of(I a) { return LANE0(fn(a)); }
TREE(sum_i, wasm_i32x4_add)
TREE(product_i, wasm_i32x4_mul)
TREE(minimum_i, wasm_i32x4_min)
TREE(maximum_i, wasm_i32x4_max)
TREE(minimum_u, wasm_u32x4_min)
TREE(maximum_u, wasm_u32x4_max)
TREE(minimum_f, wasm_f32x4_min)
TREE(maximum_f, wasm_f32x4_max)
FOLD_LANE0(i32, sum, sum_i)
FOLD_LANE0(u32, sum, sum_i)
FOLD_LANE0(i32, minimum, minimum_i)
FOLD_LANE0(i32, maximum, maximum_i)
FOLD_LANE0(u32, minimum, minimum_u)
FOLD_LANE0(u32, maximum, maximum_u)
I i32_product_spread(I a) { return SPREAD(product_i(a), 0); }
I u32_product_spread(I a) { return SPREAD(product_i(a), 0); }
int i32_product_of(I a) { return LANE0(product_i(a)); }
int u32_product_of(I a) { return LANE0(product_i(a)); }
S F canon(F r) { return wasm_v128_bitselect(r, ALL(0x7fc00000), wasm_f32x4_eq(r, r)); }
F f32_minimum_spread(F a) { return SPREADF(canon(minimum_f(a)), 0); }
F f32_maximum_spread(F a) { return SPREADF(canon(maximum_f(a)), 0); }
float f32_minimum_of(F a) { return LANE0F(canon(minimum_f(a))); }
float f32_maximum_of(F a) { return LANE0F(canon(maximum_f(a))); }

// Scans: prefixes within pairs, by a shift of double lanes, then lane 1 over the upper half, spread with the lower half
// replaced by the neutral element. What is taken twice does not matter to an extremum.
S I scan_sum_of(I a) {
    a = wasm_i32x4_add(a, wasm_i64x2_shl(a, opaque(32)));
    return wasm_i32x4_add(a, wasm_i64x2_replace_lane(SPREAD(a, 1), 0, 0));
}
INTS1(scan_sum_of)
// One shuffle each: [0 0 2 2] and then [0 0 1 1].
#define PREFIXES(name, step, end)                                                                                      \
    I name(I a) {                                                                                                      \
        a = step(a, SH(a, a, 0, 0, 2, 2));                                                                             \
        return end(step(a, SH(a, a, 0, 0, 1, 1)));                                                                     \
    }
PREFIXES(i32_scan_minimum_of, wasm_i32x4_min, )
PREFIXES(i32_scan_maximum_of, wasm_i32x4_max, )
PREFIXES(u32_scan_minimum_of, wasm_u32x4_min, )
PREFIXES(u32_scan_maximum_of, wasm_u32x4_max, )
PREFIXES(f32_scan_minimum_of, wasm_f32x4_min, canon)
PREFIXES(f32_scan_maximum_of, wasm_f32x4_max, canon)
S I scan_product_of(I a) {
    a = wasm_i32x4_mul(a, wasm_v128_or(wasm_i64x2_shl(a, opaque(32)), wasm_i64x2_splat(opaque_l(1))));
    return wasm_i32x4_mul(a, wasm_i64x2_replace_lane(SPREAD(a, 1), 0, 0x100000001));
}
INTS1(scan_product_of)

// How many lanes are selected up to each is the population count of the mask's bits up to it, in every byte alike. A
// lane of the result comes from after as many lanes as have counts not above its own number: the comparison gives -1
// for each, pairwise additions their sum, and what is out of range is zero.
S I counts_of(I m, int upto) { return wasm_i8x16_popcnt(wasm_v128_and(wasm_i8x16_splat(bits(m)), ALL(upto))); }
S I compressed(I m, I x, I b) {
    I before = wasm_i8x16_le(counts_of(m, 0x0f070301), wasm_i32x4_const(0, 0x01010101, 0x02020202, 0x03030303));
    I n = wasm_i32x4_extadd_pairwise_i16x8(wasm_i16x8_extadd_pairwise_i8x16(before));
    return wasm_i8x16_swizzle(x, wasm_i32x4_add(wasm_i32x4_mul(n, ALL(-0x04040404)), ALL(0x03020100)));
}
// A lane comes from after as many lanes as are selected before it.
S I expanded(I m, I x, I p) {
    I upto = wasm_i32x4_const(0, 0x01010101, 0x03030303, 0x07070707);
    I n = wasm_i8x16_popcnt(wasm_v128_and(wasm_i8x16_splat(bits(m)), upto));
    return pick(m, wasm_i8x16_swizzle(x, wasm_v128_or(wasm_i32x4_shl(n, 2), ALL(0x03020100))), p);
}
MOVES3(compressed)
MOVES3(expanded)

// Narrow lanes.
I pairs(I a, I b) { return wasm_i32x4_dot_i16x8(a, b); }
I halved(I a, I b) { return wasm_i16x8_narrow_i32x4(a, b); }
I low(I a) { return wasm_u16x8_extend_low_u8x16(a); }
I high(I a) { return wasm_u16x8_extend_high_u8x16(a); }
I weighed(I a, I b) { return wasm_i32x4_dot_i16x8(low(a), b); }
