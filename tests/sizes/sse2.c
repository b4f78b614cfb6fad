// The vocabulary in hand-written SSE2.
#include "peers.h"
typedef __m128 F;
typedef __m128i I;
#define FI _mm_castps_si128
#define IF _mm_castsi128_ps
#define LANE0 _mm_cvtsi128_si32
#define LANE0F _mm_cvtss_f32
#define ENTER _mm_cvtsi32_si128
#define SH(a, x, y, z, w) _mm_shuffle_epi32(a, _MM_SHUFFLE(w, z, y, x))
#define SHF(a, x, y, z, w) IF(SH(FI(a), x, y, z, w))
#define SH2(a, b, x, y, z, w) FI(_mm_shuffle_ps(IF(a), IF(b), _MM_SHUFFLE(w, z, y, x)))
#define f(name) (*(const F *)&name)

KONST(ones, 0xffffffff)
KONST(sign, 0x80000000)
KONST(magnitude, 0x7fffffff)
KONST(zero, 0)
KONST(one, 1)
KONST(one_f, 0x3f800000)
KONST(low_half, 0xffff)
KONST(two_23, 0x4b000000)
KONST(two_31, 0x4f000000)
KONST(two_39, 0x53000000)
KONST(two_39_23, 0x53000080)
KONST(canonical, 0x7fc00000)
KONST(thirty_one, 31)
KONST(fifteen, 15)
KONST4(numbers, 0, 1, 2, 3)

// Arithmetic.
I i32_negate(I a) { return _mm_sub_epi32(_mm_xor_si128(a, ones), ones); }
F f32_negate(F a) { return _mm_xor_ps(a, f(sign)); }
F f32_magnitude(F a) { return _mm_and_ps(a, f(magnitude)); }
I i32_magnitude(I a) {
    I s = _mm_srai_epi32(a, 31);
    return _mm_sub_epi32(_mm_xor_si128(a, s), s);
}
S I lane_numbers(I a) { return _mm_add_epi32(a, numbers); }
INTS1(lane_numbers)
F f32_root(F a) { return _mm_sqrt_ps(a); }
F f32_add(F a, F b) { return _mm_add_ps(a, b); }
F f32_subtract(F a, F b) { return _mm_sub_ps(a, b); }
F f32_multiply(F a, F b) { return _mm_mul_ps(a, b); }
F f32_divide(F a, F b) { return _mm_div_ps(a, b); }
S I add(I a, I b) { return _mm_add_epi32(a, b); }
S I subtract(I a, I b) { return _mm_sub_epi32(a, b); }
// Even and odd products; their low halves are gathered by one two-source shuffle and put in order by another.
S I multiply(I a, I b) {
    I even = _mm_mul_epu32(a, b), odd = _mm_mul_epu32(SH(a, 1, 1, 3, 3), SH(b, 1, 1, 3, 3));
    return SH(SH2(even, odd, 0, 2, 0, 2), 0, 2, 1, 3);
}
S I bits_and(I a, I b) { return _mm_and_si128(a, b); }
S I bits_or(I a, I b) { return _mm_or_si128(a, b); }
S I bits_xor(I a, I b) { return _mm_xor_si128(a, b); }
S I bits_andnot(I a, I b) { return _mm_andnot_si128(b, a); }
INTS2(add)
INTS2(subtract)
INTS2(multiply)
INTS2(bits_and)
INTS2(bits_or)
INTS2(bits_xor)
INTS2(bits_andnot)

// Extrema. A minimum of either order is right but for zeros and NaNs, where each gives its second operand: their union
// has every set sign and stays a NaN.
S F least_f(F a, F b) { return _mm_or_ps(_mm_min_ps(a, b), _mm_min_ps(b, a)); }
// Where the orders differ the difference clears the sign of zero, and the union keeps the NaN.
S F most_of(F x, F y) {
    F d = _mm_xor_ps(x, y);
    return _mm_sub_ps(_mm_or_ps(x, d), d);
}
S F most_f(F a, F b) { return most_of(_mm_max_ps(a, b), _mm_max_ps(b, a)); }
// The register that each step overwrites is chosen by hand: gcc's choice takes a copy more. Where the mask is needed again
// or the first choice stays where it was, the result takes the place of `a`, else of the mask.
S I pick_a(I m, I a, I b) {
    asm("pand %1, %0\n\tpandn %2, %1\n\tpor %1, %0" : "+x"(a), "+x"(m) : "x"(b));
    return a;
}
S I pick(I m, I a, I b) {
    asm("pand %1, %0\n\tpandn %2, %1\n\tpor %0, %1" : "+x"(a), "+x"(m) : "x"(b));
    return m;
}
S I least_i(I a, I b) { return pick_a(_mm_cmpgt_epi32(b, a), a, b); }
S I most_i(I a, I b) { return pick_a(_mm_cmpgt_epi32(a, b), a, b); }
S I flip(I a) { return _mm_xor_si128(a, sign); }
F f32_least(F a, F b) { return least_f(a, b); }
F f32_most(F a, F b) { return most_f(a, b); }
I i32_least(I a, I b) { return least_i(a, b); }
I i32_most(I a, I b) { return most_i(a, b); }
I u32_least(I a, I b) { return flip(least_i(flip(a), flip(b))); }
I u32_most(I a, I b) { return flip(most_i(flip(a), flip(b))); }

// Rounding. `m` is where the magnitude is below 2^23, compared as integers so that no NaN signals.
F f32_to_nearest(F x) {
    F s = _mm_and_ps(x, f(sign)), t = _mm_xor_ps(x, s);
    F c = IF(_mm_and_si128(_mm_cmpgt_epi32(two_23, FI(t)), two_23));
    return _mm_or_ps(_mm_sub_ps(_mm_add_ps(t, c), c), s);
}
// Converting without the mask would save 3 and raise invalid on large numbers.
F f32_toward_zero(F x) {
    I t = _mm_and_si128(FI(x), magnitude), k = _mm_srli_epi32(_mm_cmpgt_epi32(two_23, t), 1);
    F v = _mm_cvtepi32_ps(_mm_cvttps_epi32(IF(_mm_and_si128(t, k))));
    return _mm_or_ps(v, IF(_mm_andnot_si128(k, FI(x))));
}
// `_mm_cmplt_ps` on the unmasked operand would save 1 and signal on a quiet NaN.
F f32_down(F x) {
    I t = _mm_and_si128(FI(x), magnitude), m = _mm_cmpgt_epi32(two_23, t);
    F y = IF(_mm_and_si128(m, FI(x))), rest = IF(_mm_andnot_si128(_mm_srli_epi32(m, 1), FI(x)));
    I i = _mm_cvttps_epi32(y);
    i = _mm_add_epi32(i, FI(_mm_cmplt_ps(y, _mm_cvtepi32_ps(i))));
    return _mm_or_ps(_mm_cvtepi32_ps(i), rest);
}
F f32_upward(F x) {
    I t = _mm_and_si128(FI(x), magnitude), m = _mm_cmpgt_epi32(two_23, t);
    F y = IF(_mm_and_si128(m, FI(x))), rest = IF(_mm_andnot_si128(_mm_srli_epi32(m, 1), FI(x)));
    I i = _mm_cvttps_epi32(y);
    i = _mm_sub_epi32(i, FI(_mm_cmplt_ps(_mm_cvtepi32_ps(i), y)));
    return _mm_or_ps(_mm_cvtepi32_ps(i), rest);
}

// Comparisons.
F f32_eq(F a, F b) { return _mm_cmpeq_ps(a, b); }
F f32_ne(F a, F b) { return _mm_and_ps(_mm_cmpneq_ps(a, b), _mm_cmpord_ps(a, b)); }
F f32_lt(F a, F b) { return _mm_cmplt_ps(a, b); }
F f32_le(F a, F b) { return _mm_cmple_ps(a, b); }
F f32_gt(F a, F b) { return _mm_cmplt_ps(b, a); }
F f32_ge(F a, F b) { return _mm_cmple_ps(b, a); }
S I eq(I a, I b) { return _mm_cmpeq_epi32(a, b); }
S I ne(I a, I b) { return _mm_xor_si128(_mm_cmpeq_epi32(a, b), ones); }
INTS2(eq)
INTS2(ne)
I i32_lt(I a, I b) { return _mm_cmpgt_epi32(b, a); }
I i32_gt(I a, I b) { return _mm_cmpgt_epi32(a, b); }
I i32_le(I a, I b) { return _mm_xor_si128(_mm_cmpgt_epi32(a, b), ones); }
I i32_ge(I a, I b) { return _mm_xor_si128(_mm_cmpgt_epi32(b, a), ones); }
// Flipping the sign gives signed order; flipping all other bits gives it reversed, with the result in the first register.
I u32_gt(I a, I b) { return _mm_cmpgt_epi32(flip(a), flip(b)); }
I u32_lt(I a, I b) { return _mm_cmpgt_epi32(_mm_xor_si128(a, magnitude), _mm_xor_si128(b, magnitude)); }
I u32_le(I a, I b) { return _mm_xor_si128(u32_gt(a, b), ones); }
I u32_ge(I a, I b) { return _mm_xor_si128(u32_lt(a, b), ones); }

// Masks and choices.
S I spread(I m) { return _mm_srai_epi32(m, 31); }
S I unset(I m) { return _mm_cmpgt_epi32(m, ones); }
S I choose(I m, I a, I b) { return pick(spread(m), a, b); }
S I branch(I m, I a, I b) { return choose(m, a, b); }
#define pick choose
MOVES3(pick)
#undef pick
MOVES3(branch)
I conjunction(I p, I q) { return spread(_mm_and_si128(p, q)); }
I disjunction(I p, I q) { return spread(_mm_or_si128(p, q)); }
I complement(I p, I q) { return unset(p); }
I neither(I p, I q) { return unset(_mm_or_si128(p, q)); }
I without(I p, I q) { return spread(_mm_andnot_si128(q, p)); }
I not_both(I p, I q) { return unset(_mm_and_si128(p, q)); }
I same(I p, I q) { return spread(p); }
I other(I p, I q) { return spread(q); }
S I all_of_flag(int c) { return _mm_slli_epi32(SH(_mm_cvtsi32_si128(c), 0, 0, 0, 0), 31); }
I with_flag(I p, int c) { return spread(_mm_and_si128(all_of_flag(c), p)); }
I or_flag(I p, int c) { return spread(_mm_or_si128(all_of_flag(c), p)); }
I flag_rack(int c) { return spread(all_of_flag(c)); }
I all_lanes(void) { return _mm_set1_epi32(-1); }
I no_lanes(void) { return _mm_setzero_si128(); }
int flag(int c) { return c & 1; }
// In the general register it would be one shorter.
int not_flag(int c) { return LANE0(_mm_andnot_si128(_mm_cvtsi32_si128(c), one)); }
int truth(void) { return 1; }

// Words of masks.
S int bits(F m) { return _mm_movemask_ps(m); }
int bitmask_of(F m) { return bits(m); }
int all_of(F m) { return (unsigned)(bits(m) + 1) >> 4; }
int any_of(F m) { return (unsigned)(bits(m) + 15) >> 4; }
int bitmask_compared(F a, F b) { return bits(_mm_cmplt_ps(a, b)); }
int all_compared(F a, F b) { return all_of(_mm_cmplt_ps(a, b)); }
int any_compared(F a, F b) { return any_of(_mm_cmplt_ps(a, b)); }
S I word(F m) { return SH(_mm_cvtsi32_si128(bits(m)), 0, 0, 0, 0); }
I bitmask_spread(F m, F a, F b) { return word(m); }
F all_spread(F m, F a, F b) { return IF(pick(_mm_cmpeq_epi32(word(m), fifteen), FI(a), FI(b))); }
F any_spread(F m, F a, F b) { return IF(pick(_mm_cmpeq_epi32(word(m), zero), FI(b), FI(a))); }

// Conversions. Out of range gives 0x80000000; all ones where the number is too large make it the greatest integer.
S I to_i32(F a) {
    I c = _mm_xor_si128(_mm_cvtps_epi32(a), FI(_mm_cmple_ps(f(two_31), a)));
    return _mm_and_si128(FI(_mm_cmpord_ps(a, a)), c);
}
// 2^31 is taken off before the conversion, so that invalid is raised where it is due only; without that 2 less.
S I to_u32(F a) {
    F m = _mm_max_ps(a, f(zero)), g = _mm_cmple_ps(f(two_31), m);
    I c = _mm_cvtps_epi32(_mm_sub_ps(m, _mm_and_ps(f(two_31), g)));
    return _mm_or_si128(_mm_or_si128(_mm_srai_epi32(c, 31), c), _mm_slli_epi32(FI(g), 31));
}
S F of_u32(I a) {
    I high = _mm_or_si128(_mm_srli_epi32(a, 16), two_39), low = _mm_or_si128(_mm_and_si128(a, low_half), two_23);
    return _mm_add_ps(IF(low), _mm_sub_ps(IF(high), f(two_39_23)));
}
I f32_to_i32_rack(F a) { return to_i32(a); }
I f32_to_u32_rack(F a) { return to_u32(a); }
F i32_to_f32_rack(I a) { return _mm_cvtepi32_ps(a); }
F u32_to_f32_rack(I a) { return of_u32(a); }
// The other lanes hold anything, so lane 0 is spread first. A scalar conversion would do with one instruction.
S F first(F k) { return SHF(k, 0, 0, 0, 0); }
int f32_to_i32_one(F k) { return LANE0(to_i32(first(k))); }
int f32_to_u32_one(F k) { return LANE0(to_u32(first(k))); }
float i32_to_f32_one(int k) { return LANE0F(_mm_cvtepi32_ps(_mm_cvtsi32_si128(k))); }
float u32_to_f32_one(int k) { return LANE0F(of_u32(_mm_cvtsi32_si128(k))); }
#include "casts.h"

// Shifts.
#define SHIFTS(n)                                                                                                      \
    S I left##n(I a) { return _mm_slli_epi32(a, n); }                                                                  \
    S I right##n(I a) { return _mm_srli_epi32(a, n); }                                                                 \
    S I right_signed##n(I a) { return _mm_srai_epi32(a, n); }                                                          \
    INTS1(left##n) INTS1(right##n) INTS1(right_signed##n)
SHIFTS(0)
SHIFTS(1)
SHIFTS(7)
SHIFTS(31)
S I count(int n) { return _mm_and_si128(_mm_cvtsi32_si128(n), thirty_one); }
S I left_by(I a, int n) { return _mm_sll_epi32(a, count(n)); }
S I right_by(I a, int n) { return _mm_srl_epi32(a, count(n)); }
S I right_signed_by(I a, int n) { return _mm_sra_epi32(a, count(n)); }
#define BY(name)                                                                                                       \
    I i32_##name(I a, int n) { return name(a, n); }                                                                    \
    I u32_##name(I a, int n) { return name(a, n); }
BY(left_by)
BY(right_by)
BY(right_signed_by)

// Lane moves.
S I reversed(I a) { return SH(a, 3, 2, 1, 0); }
S I halves_swapped(I a) { return SH(a, 2, 3, 0, 1); }
S I pairs_swapped(I a) { return SH(a, 1, 0, 3, 2); }
S I first_everywhere(I a) { return SH(a, 0, 0, 0, 0); }
S I last_everywhere(I a) { return SH(a, 3, 3, 3, 3); }
S I scattered(I a) { return SH(a, 3, 2, 1, 0); }
S I twice_each(I a) { return SH(a, 0, 0, 1, 1); }
MOVES1(reversed)
MOVES1(halves_swapped)
MOVES1(pairs_swapped)
MOVES1(first_everywhere)
MOVES1(last_everywhere)
MOVES1(scattered)
MOVES1(twice_each)
S I blended(I a, I b) { return SH(SH2(a, b, 0, 2, 1, 3), 0, 2, 1, 3); }
S I interleaved(I a, I b) { return _mm_unpacklo_epi32(a, b); }
S I joined(I a, I b) { return SH2(a, b, 2, 3, 0, 1); }
S I crossed(I a, I b) { return SH(SH2(a, b, 2, 1, 3, 0), 0, 2, 3, 1); }
S I second_reversed(I a, I b) { return SH(b, 3, 2, 1, 0); }
S I one_from_second(I a, I b) { return SH2(a, SH2(b, a, 1, 1, 3, 3), 0, 1, 0, 2); }
S I zip_lows(I a, I b) { return _mm_unpacklo_epi32(a, b); }
S I zip_highs(I a, I b) { return _mm_unpackhi_epi32(a, b); }
S I unzip_evens(I a, I b) { return SH2(a, b, 0, 2, 0, 2); }
S I unzip_odds(I a, I b) { return SH2(a, b, 1, 3, 1, 3); }
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
#define LANE_MOVES(n)                                                                                                  \
    S I shift_left_##n(I a) { return _mm_srli_si128(a, 4 * n); }                                                       \
    S I shift_right_##n(I a) { return _mm_slli_si128(a, 4 * n); }                                                      \
    S I rotate_left_##n(I a) { return n ? SH(a, n & 3, (n + 1) & 3, (n + 2) & 3, (n + 3) & 3) : a; }                   \
    S I rotate_right_##n(I a) { return n ? SH(a, (4 - n) & 3, (5 - n) & 3, (6 - n) & 3, (7 - n) & 3) : a; }            \
    S I spread_##n(I a) { return SH(a, n, n, n, n); }                                                                  \
    S I lane_##n(I a) { return n ? SH(a, n, n, n, n) : a; }                                                            \
    MOVES1(shift_left_##n)                                                                                             \
    MOVES1(shift_right_##n)                                                                                            \
    MOVES1(rotate_left_##n)                                                                                            \
    MOVES1(rotate_right_##n)                                                                                           \
    MOVES1(spread_##n)                                                                                                 \
    float f32_extract_##n(F a) { return LANE0F(IF(lane_##n(FI(a)))); }                                                 \
    int i32_extract_##n(I a) { return LANE0(lane_##n(a)); }                                                            \
    int u32_extract_##n(I a) { return LANE0(lane_##n(a)); }                                                            \
    F f32_insert_##n(F a, F k) { return IF(insert_##n(FI(a), FI(k))); }                                                \
    I i32_insert_##n(I a, int k) { return insert_##n(a, _mm_cvtsi32_si128(k)); }                                       \
    I u32_insert_##n(I a, int k) { return insert_##n(a, _mm_cvtsi32_si128(k)); }
S I insert_0(I a, I k) { return FI(_mm_move_ss(IF(a), IF(k))); }
S I insert_1(I a, I k) {
    F t = _mm_move_ss(IF(_mm_slli_si128(k, 4)), IF(a));
    return _mm_castpd_si128(_mm_move_sd(_mm_castsi128_pd(a), _mm_castps_pd(t)));
}
S I insert_2(I a, I k) { return SH2(a, SH2(k, a, 0, 0, 3, 3), 0, 1, 0, 2); }
S I insert_3(I a, I k) { return SH2(a, SH2(k, a, 0, 0, 2, 2), 0, 1, 2, 0); }
LANE_MOVES(0)
LANE_MOVES(1)
LANE_MOVES(2)
LANE_MOVES(3)

// Ordered folds: every lane alike, so that none adds what the fold does not. Scalar additions would save the spreading
// of lane 0.
#define ORDERED(op, step)                                                                                              \
    S F op##_f(F a) {                                                                                                  \
        F s = step(SHF(a, 1, 1, 1, 1), SHF(a, 0, 0, 0, 0));                                                            \
        s = step(SHF(a, 2, 2, 2, 2), s);                                                                               \
        return step(SHF(a, 3, 3, 3, 3), s);                                                                            \
    }                                                                                                                  \
    FOLDF(op, op##_f)                                                                                                  \
    F f32_scan_##op##_of(F a) {                                                                                        \
        F s1 = step(SHF(a, 1, 1, 1, 1), SHF(a, 0, 0, 0, 0));                                                           \
        F s2 = step(SHF(a, 2, 2, 2, 2), s1), s3 = step(SHF(a, 3, 3, 3, 3), s2);                                        \
        return _mm_movelh_ps(_mm_unpacklo_ps(a, s1), _mm_unpacklo_ps(s2, s3));                                         \
    }
ORDERED(sum, _mm_add_ps)
ORDERED(product, _mm_mul_ps)

// Integers, and strict extrema of floats, whose order cannot be seen, by trees.
#define TREE(fn, step, a)                                                                                              \
    S a fn(a v) {                                                                                                      \
        v = step(v, SH(v, 2, 3, 0, 1));                                                                                \
        return step(v, SH(v, 1, 0, 3, 2));                                                                             \
    }
TREE(sum_i, add, I)
TREE(minimum_i, least_i, I)
TREE(maximum_i, most_i, I)
S I minimum_u(I a) { return flip(minimum_i(flip(a))); }
S I maximum_u(I a) { return flip(maximum_i(flip(a))); }
S I product_i(I a) {
    I p = _mm_mul_epu32(a, SH(a, 1, 1, 3, 3));
    return _mm_mul_epu32(p, SH(p, 2, 3, 2, 3));
}
FOLD(i32, sum, sum_i)
FOLD(u32, sum, sum_i)
FOLD(i32, minimum, minimum_i)
FOLD(i32, maximum, maximum_i)
FOLD(u32, minimum, minimum_u)
FOLD(u32, maximum, maximum_u)
S I product_spread(I a) { return SH(product_i(a), 0, 0, 0, 0); }
INTS1(product_spread)
int i32_product_of(I a) { return LANE0(product_i(a)); }
int u32_product_of(I a) { return LANE0(product_i(a)); }
S F canon(F r) {
    F m = _mm_cmpord_ps(r, r);
    return _mm_or_ps(_mm_and_ps(r, m), _mm_andnot_ps(m, f(canonical)));
}
// The other order of a swap's minimum is the swap of the minimum.
S F minimum_f(F a) {
    F u = _mm_min_ps(a, SHF(a, 2, 3, 0, 1));
    u = _mm_or_ps(u, SHF(u, 2, 3, 0, 1));
    u = _mm_min_ps(u, SHF(u, 1, 0, 3, 2));
    return canon(_mm_or_ps(u, SHF(u, 1, 0, 3, 2)));
}
S F maximum_f(F a) {
    F u = _mm_max_ps(a, SHF(a, 2, 3, 0, 1));
    u = most_of(u, SHF(u, 2, 3, 0, 1));
    u = _mm_max_ps(u, SHF(u, 1, 0, 3, 2));
    return canon(most_of(u, SHF(u, 1, 0, 3, 2)));
}
FOLDF(minimum, minimum_f)
FOLDF(maximum, maximum_f)

// Scans. What is taken twice does not matter to an extremum.
S I scan_sum_of(I a) {
    a = _mm_add_epi32(a, _mm_slli_si128(a, 4));
    return _mm_add_epi32(a, _mm_slli_si128(a, 8));
}
INTS1(scan_sum_of)
// The products of lanes 0 and 1 and of 2 and 3, then the former times lane 2 and times the latter.
S I scan_product_of(I a) {
    I t = _mm_mul_epu32(a, SH(a, 1, 1, 3, 3));
    I r = _mm_mul_epu32(SH2(a, t, 2, 2, 2, 2), SH(t, 0, 0, 0, 0));
    return SH2(_mm_unpacklo_epi32(a, t), r, 0, 1, 0, 2);
}
INTS1(scan_product_of)
#define PREFIXES(fn, step)                                                                                             \
    S I fn(I a) {                                                                                                      \
        a = step(a, SH(a, 0, 0, 1, 2));                                                                                \
        return step(a, SH(a, 0, 0, 0, 1));                                                                             \
    }
PREFIXES(prefix_least, least_i)
PREFIXES(prefix_most, most_i)
I i32_scan_minimum_of(I a) { return prefix_least(a); }
I i32_scan_maximum_of(I a) { return prefix_most(a); }
I u32_scan_minimum_of(I a) { return flip(prefix_least(flip(a))); }
I u32_scan_maximum_of(I a) { return flip(prefix_most(flip(a))); }
F f32_scan_minimum_of(F a) {
    a = least_f(a, SHF(a, 0, 0, 1, 2));
    return canon(least_f(a, SHF(a, 0, 0, 0, 1)));
}
F f32_scan_maximum_of(F a) {
    a = most_f(a, SHF(a, 0, 0, 1, 2));
    return canon(most_f(a, SHF(a, 0, 0, 0, 1)));
}

// Lanes not selected become zero; from the back, the lanes behind each that is not selected close up.
S I compressed(I m, I x, I b) {
    m = spread(m);
    x = _mm_and_si128(x, m);
    x = pick_a(SH(m, 2, 2, 2, 2), x, SH(x, 0, 1, 3, 2));
    x = pick_a(SH(m, 1, 1, 1, 1), x, SH(x, 0, 2, 3, 1));
    return pick(SH(m, 0, 0, 0, 0), x, SH(x, 1, 2, 3, 0));
}
// From the front, the lanes from each that is not selected on make room.
S I expanded(I m, I x, I p) {
    m = spread(m);
    x = pick_a(SH(m, 0, 0, 0, 0), x, SH(x, 0, 0, 1, 2));
    x = pick_a(SH(m, 1, 1, 1, 1), x, SH(x, 0, 1, 1, 2));
    x = pick_a(SH(m, 2, 2, 2, 2), x, SH(x, 0, 1, 2, 2));
    return pick(m, x, p);
}
MOVES3(compressed)
MOVES3(expanded)

// Narrow lanes.
I pairs(I a, I b) { return _mm_madd_epi16(a, b); }
I halved(I a, I b) { return _mm_packs_epi32(a, b); }
I low(I a) { return _mm_unpacklo_epi8(a, zero); }
I high(I a) { return _mm_unpackhi_epi8(a, zero); }
I weighed(I a, I b) { return _mm_madd_epi16(low(a), b); }
