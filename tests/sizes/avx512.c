// The vocabulary in hand-written AVX-512 (F, BW, CD, DQ, VL).
#include "peers.h"
typedef __m512 F;
typedef __m512i I;
typedef __mmask16 K;
#define FI _mm512_castps_si512
#define IF _mm512_castsi512_ps
#define LOW _mm512_castsi512_si128
#define WIDE _mm512_castsi128_si512
#define LANE0(a) _mm_cvtsi128_si32(LOW(a))
#define LANE0F _mm512_cvtss_f32
#define ENTER(k) WIDE(_mm_cvtsi32_si128(k))
#define SH(a, x, y, z, w) _mm512_shuffle_epi32(a, (_MM_PERM_ENUM)_MM_SHUFFLE(w, z, y, x))
#define SHF(a, x, y, z, w) _mm512_permute_ps(a, _MM_SHUFFLE(w, z, y, x))
#define QUARTERS(a, b, x, y, z, w) _mm512_shuffle_i32x4(a, b, _MM_SHUFFLE(w, z, y, x))
#define ALIGN _mm512_alignr_epi32
#define TERN _mm512_ternarylogic_epi32
#define f(name) (*(const F *)&name)

KONST(ones, 0xffffffff)
KONST(sign, 0x80000000)
KONST(magnitude, 0x7fffffff)
KONST(zero, 0)
KONST(one, 1)
KONST(two_31, 0x4f000000)
KONST(canonical, 0x7fc00000)
KONST(every_bit, 0xffff)
KONST4(thirty_one, 31, 0, 0, 0)
KONST16(numbers, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
KONST16(backward, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
KONST16(by_seven, 3, 10, 1, 8, 15, 6, 13, 4, 11, 2, 9, 0, 7, 14, 5, 12)
KONST16(by_five, 2, 7, 12, 17, 22, 27, 0, 5, 10, 15, 20, 25, 30, 3, 8, 13)
KONST16(odd_lanes, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1)
KONST16(second_of_two, 0, 1, 17, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
KONST16(zip_low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
KONST16(zip_high, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
KONST16(even, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
KONST16(odd, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
KONST16(halves_in_turn, 0, 0, 2, 0, 4, 0, 6, 0, 1, 0, 3, 0, 5, 0, 7, 0)

// Arithmetic. Multiplying by -1 would negate integers in one, but ten cycles.
I i32_negate(I a) { return _mm512_sub_epi32(_mm512_setzero_si512(), a); }
F f32_negate(F a) { return _mm512_xor_ps(a, f(sign)); }
F f32_magnitude(F a) { return _mm512_and_ps(a, f(magnitude)); }
I i32_magnitude(I a) { return _mm512_abs_epi32(a); }
S I lane_numbers(I a) { return _mm512_add_epi32(a, numbers); }
INTS1(lane_numbers)
F f32_root(F a) { return _mm512_sqrt_ps(a); }
F f32_add(F a, F b) { return _mm512_add_ps(a, b); }
F f32_subtract(F a, F b) { return _mm512_sub_ps(a, b); }
F f32_multiply(F a, F b) { return _mm512_mul_ps(a, b); }
F f32_divide(F a, F b) { return _mm512_div_ps(a, b); }
F plain(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
S I add(I a, I b) { return _mm512_add_epi32(a, b); }
S I subtract(I a, I b) { return _mm512_sub_epi32(a, b); }
S I multiply(I a, I b) { return _mm512_mullo_epi32(a, b); }
S I bits_and(I a, I b) { return _mm512_and_si512(a, b); }
S I bits_or(I a, I b) { return _mm512_or_si512(a, b); }
S I bits_xor(I a, I b) { return _mm512_xor_si512(a, b); }
S I bits_andnot(I a, I b) { return _mm512_andnot_si512(b, a); }
INTS2(add)
INTS2(subtract)
INTS2(multiply)
INTS2(bits_and)
INTS2(bits_or)
INTS2(bits_xor)
INTS2(bits_andnot)

// Extrema. vrangeps orders zeros but prefers numbers to NaNs, which a sum under a mask brings back.
S F least_f(F a, F b) { return _mm512_or_ps(_mm512_min_ps(a, b), _mm512_min_ps(b, a)); }
F f32_least(F a, F b) { return least_f(a, b); }
F f32_most(F a, F b) {
    return _mm512_mask_add_ps(_mm512_range_ps(a, b, 5), _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), a, b);
}
I i32_least(I a, I b) { return _mm512_min_epi32(a, b); }
I i32_most(I a, I b) { return _mm512_max_epi32(a, b); }
I u32_least(I a, I b) { return _mm512_min_epu32(a, b); }
I u32_most(I a, I b) { return _mm512_max_epu32(a, b); }

F f32_to_nearest(F x) { return _mm512_roundscale_ps(x, 8); }
F f32_down(F x) { return _mm512_roundscale_ps(x, 9); }
F f32_upward(F x) { return _mm512_roundscale_ps(x, 10); }
F f32_toward_zero(F x) { return _mm512_roundscale_ps(x, 11); }

// Comparisons, written out as a rack at the boundary.
S I rack(K k) { return _mm512_movm_epi32(k); }
I f32_eq(F a, F b) { return rack(_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)); }
I f32_ne(F a, F b) { return rack(_mm512_cmp_ps_mask(a, b, _CMP_NEQ_OQ)); }
I f32_lt(F a, F b) { return rack(_mm512_cmp_ps_mask(a, b, _CMP_LT_OS)); }
I f32_le(F a, F b) { return rack(_mm512_cmp_ps_mask(a, b, _CMP_LE_OS)); }
I f32_gt(F a, F b) { return rack(_mm512_cmp_ps_mask(a, b, _CMP_GT_OS)); }
I f32_ge(F a, F b) { return rack(_mm512_cmp_ps_mask(a, b, _CMP_GE_OS)); }
#define COMPARISON(op, intrinsic)                                                                                      \
    I i32_##op(I a, I b) { return rack(_mm512_##intrinsic##_epi32_mask(a, b)); }                                       \
    I u32_##op(I a, I b) { return rack(_mm512_##intrinsic##_epu32_mask(a, b)); }
COMPARISON(eq, cmpeq)
COMPARISON(ne, cmpneq)
COMPARISON(lt, cmplt)
COMPARISON(le, cmple)
COMPARISON(gt, cmpgt)
COMPARISON(ge, cmpge)

// Masks and choices. Two registers of a mask are combined before their signs spread.
S K mask(I m) { return _mm512_movepi32_mask(m); }
S I spread(I m) { return _mm512_srai_epi32(m, 31); }
S I pick(I m, I a, I b) { return _mm512_mask_blend_epi32(mask(m), b, a); }
S I branch(I m, I a, I b) { return pick(m, a, b); }
MOVES3(pick)
MOVES3(branch)
I conjunction(I p, I q) { return spread(_mm512_and_si512(p, q)); }
I disjunction(I p, I q) { return spread(_mm512_or_si512(p, q)); }
I complement(I p, I q) { return rack(_mm512_testn_epi32_mask(p, sign)); }
I neither(I p, I q) { return spread(TERN(p, q, q, 0x03)); }
I without(I p, I q) { return spread(_mm512_andnot_si512(q, p)); }
I not_both(I p, I q) { return spread(TERN(p, q, q, 0x3f)); }
I same(I p, I q) { return spread(p); }
I other(I p, I q) { return spread(q); }
S I all_of_flag(int c) { return _mm512_slli_epi32(_mm512_set1_epi32(c), 31); }
I with_flag(I p, int c) { return spread(_mm512_and_si512(all_of_flag(c), p)); }
I or_flag(I p, int c) { return spread(_mm512_or_si512(all_of_flag(c), p)); }
I flag_rack(int c) { return spread(all_of_flag(c)); }
I all_lanes(void) { return _mm512_set1_epi32(-1); }
I no_lanes(void) { return _mm512_setzero_si512(); }
int flag(int c) { return c & 1; }
// In the general register it would be one shorter.
int not_flag(int c) { return LANE0(_mm512_andnot_si512(ENTER(c), one)); }
int truth(void) { return 1; }

// Words of masks.
S int bits(I m) { return _cvtmask16_u32(mask(m)); }
int bitmask_of(I m) { return bits(m); }
int all_of(I m) { return (unsigned)(bits(m) + 1) >> 16; }
int any_of(I m) { return (unsigned)(bits(m) + 65535) >> 16; }
S K less(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OS); }
int bitmask_compared(F a, F b) { return _cvtmask16_u32(less(a, b)); }
int all_compared(F a, F b) { return (unsigned)(_cvtmask16_u32(less(a, b)) + 1) >> 16; }
int any_compared(F a, F b) { return (unsigned)(_cvtmask16_u32(less(a, b)) + 65535) >> 16; }
S I word(K k) { return _mm512_broadcastmw_epi32(k); }
I bitmask_spread(I m, F a, F b) { return word(mask(m)); }
F all_spread(I m, F a, F b) { return _mm512_mask_blend_ps(_mm512_cmpeq_epi32_mask(word(mask(m)), every_bit), b, a); }
F any_spread(I m, F a, F b) { return _mm512_mask_blend_ps(_mm512_test_epi32_mask(word(mask(m)), word(mask(m))), b, a); }

// Conversions. Unsigned ones saturate, and the greater of anything and zero is zero for a NaN.
S I to_i32(F a) {
    K ordered = _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), great = _mm512_cmp_ps_mask(a, f(two_31), _CMP_GE_OQ);
    return _mm512_mask_mov_epi32(_mm512_maskz_cvtps_epi32(ordered, a), great, magnitude);
}
S I to_u32(F a) { return _mm512_cvtps_epu32(_mm512_max_ps(a, f(zero))); }
I f32_to_i32_rack(F a) { return to_i32(a); }
I f32_to_u32_rack(F a) { return to_u32(a); }
F i32_to_f32_rack(I a) { return _mm512_cvtepi32_ps(a); }
F u32_to_f32_rack(I a) { return _mm512_cvtepu32_ps(a); }
S F first(F k) { return _mm512_broadcastss_ps(_mm512_castps512_ps128(k)); }
int f32_to_i32_one(F k) { return LANE0(to_i32(first(k))); }
int f32_to_u32_one(F k) { return LANE0(to_u32(first(k))); }
float i32_to_f32_one(int k) { return LANE0F(_mm512_cvtepi32_ps(ENTER(k))); }
float u32_to_f32_one(int k) { return LANE0F(_mm512_cvtepu32_ps(ENTER(k))); }
#include "casts.h"

// Shifts.
#define SHIFTS(n)                                                                                                      \
    S I left##n(I a) { return _mm512_slli_epi32(a, n); }                                                               \
    S I right##n(I a) { return _mm512_srli_epi32(a, n); }                                                              \
    S I right_signed##n(I a) { return _mm512_srai_epi32(a, n); }                                                       \
    INTS1(left##n) INTS1(right##n) INTS1(right_signed##n)
SHIFTS(1)
SHIFTS(7)
SHIFTS(31)
S __m128i count(int n) { return _mm_and_si128(_mm_cvtsi32_si128(n), *(const __m128i *)&thirty_one); }
S I left_by(I a, int n) { return _mm512_sll_epi32(a, count(n)); }
S I right_by(I a, int n) { return _mm512_srl_epi32(a, count(n)); }
S I right_signed_by(I a, int n) { return _mm512_sra_epi32(a, count(n)); }
#define BY(name)                                                                                                       \
    I i32_##name(I a, int n) { return name(a, n); }                                                                    \
    I u32_##name(I a, int n) { return name(a, n); }
BY(left_by)
BY(right_by)
BY(right_signed_by)

// Lane moves: an index is a load and a permutation.
#define AT(a, index) _mm512_permutexvar_epi32(index, a)
#define AT2(a, b, index) _mm512_permutex2var_epi32(a, index, b)
S I reversed(I a) { return AT(a, backward); }
S I halves_swapped(I a) { return QUARTERS(a, a, 2, 3, 0, 1); }
S I pairs_swapped(I a) { return SH(a, 1, 0, 3, 2); }
S I first_everywhere(I a) { return _mm512_broadcastd_epi32(LOW(a)); }
S I last_everywhere(I a) { return first_everywhere(ALIGN(a, a, 15)); }
S I scattered(I a) { return AT(a, by_seven); }
KONST16(doubled, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)
S I twice_each(I a) { return AT(a, doubled); }
MOVES1(reversed)
MOVES1(halves_swapped)
MOVES1(pairs_swapped)
MOVES1(first_everywhere)
MOVES1(last_everywhere)
MOVES1(scattered)
MOVES1(twice_each)
S I blended(I a, I b) { return TERN(a, b, odd_lanes, 0xd8); }
S I interleaved(I a, I b) { return AT2(a, b, zip_low); }
S I joined(I a, I b) { return ALIGN(b, a, 8); }
S I crossed(I a, I b) { return AT2(a, b, by_five); }
S I second_reversed(I a, I b) { return AT(b, backward); }
S I one_from_second(I a, I b) { return AT2(a, b, second_of_two); }
S I zip_lows(I a, I b) { return AT2(a, b, zip_low); }
S I zip_highs(I a, I b) { return AT2(a, b, zip_high); }
S I unzip_evens(I a, I b) { return AT2(a, b, even); }
S I unzip_odds(I a, I b) { return AT2(a, b, odd); }
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
    KONST16(lane_mask_##n, (n == 0), (n == 1), (n == 2), (n == 3), (n == 4), (n == 5), (n == 6), (n == 7),      \
            (n == 8), (n == 9), (n == 10), (n == 11), (n == 12), (n == 13), (n == 14), (n == 15))              \
    S I shift_left_##n(I a) { return n ? ALIGN(_mm512_setzero_si512(), a, n) : a; }                                    \
    S I shift_right_##n(I a) { return n ? ALIGN(a, _mm512_setzero_si512(), (16 - n) & 15) : a; }                       \
    S I rotate_left_##n(I a) { return n ? ALIGN(a, a, n) : a; }                                                        \
    S I rotate_right_##n(I a) { return n ? ALIGN(a, a, (16 - n) & 15) : a; }                                           \
    S I to_front_##n(I a) { return n ? ALIGN(a, a, n) : a; }                                                           \
    S I spread_##n(I a) { return first_everywhere(to_front_##n(a)); }                                                  \
    MOVES1(shift_left_##n)                                                                                             \
    MOVES1(shift_right_##n)                                                                                            \
    MOVES1(rotate_left_##n)                                                                                            \
    MOVES1(rotate_right_##n)                                                                                           \
    MOVES1(spread_##n)                                                                                                 \
    float f32_extract_##n(F a) { return LANE0F(IF(to_front_##n(FI(a)))); }                                             \
    S int extract_##n(I a) {                                                                                           \
        return n && n < 4 ? _mm_extract_epi32(LOW(a), n & 3) : LANE0(to_front_##n(a));                                 \
    }                                                                                                                  \
    int i32_extract_##n(I a) { return extract_##n(a); }                                                                \
    int u32_extract_##n(I a) { return extract_##n(a); }                                                                \
    F f32_insert_##n(F a, F k) { return IF(TERN(FI(a), FI(n ? first(k) : k), lane_mask_##n, 0xd8)); }                  \
    S I insert_##n(I a, int k) { return TERN(a, n ? _mm512_set1_epi32(k) : ENTER(k), lane_mask_##n, 0xd8); }           \
    I i32_insert_##n(I a, int k) { return insert_##n(a, k); }                                                          \
    I u32_insert_##n(I a, int k) { return insert_##n(a, k); }
LANE_MOVES(0)
LANE_MOVES(1)
LANE_MOVES(3)
LANE_MOVES(4)
LANE_MOVES(6)
LANE_MOVES(8)
LANE_MOVES(11)
LANE_MOVES(12)
LANE_MOVES(15)

// Ordered folds: the rack turns, and only lane 0 adds what it held before to what it holds now.
// Written as assembly, since gcc copies the turned rack before it merges into it.
#define TURN(name)                                                                                                     \
    asm("valignd $1, %1, %1, %0\n\t" #name " %1, %0, %0%{%2%}" : "=&v"(t) : "v"(v), "Yk"(k));                            \
    v = t;
#define ORDERED(op, name)                                                                                              \
    S F op##_f(F v) {                                                                                                  \
        F t;K k = 1;                                                                                                        \
        TURN(name) TURN(name) TURN(name) TURN(name) TURN(name)                                                         \
        TURN(name) TURN(name) TURN(name) TURN(name) TURN(name)                                                         \
        TURN(name) TURN(name) TURN(name) TURN(name) TURN(name)                                                         \
        return v;                                                                                                      \
    }                                                                                                                  \
    float f32_##op##_of(F a) { return LANE0F(op##_f(a)); }                                                             \
    F f32_##op##_spread(F a) { return first(op##_f(a)); }                                                              \
    F f32_scan_##op##_of(F a) {                                                                                        \
        F v = op##_f(a);                                                                                               \
        return IF(ALIGN(FI(v), FI(v), 1));                                                                             \
    }
ORDERED(sum, vaddps)
ORDERED(product, vmulps)

// Trees.
#define TREE(fn, step)                                                                                                 \
    S I fn(I v) {                                                                                                      \
        v = step(v, QUARTERS(v, v, 2, 3, 0, 1));                                                                       \
        v = step(v, QUARTERS(v, v, 1, 0, 3, 2));                                                                       \
        v = step(v, SH(v, 2, 3, 0, 1));                                                                                \
        return step(v, SH(v, 1, 0, 3, 2));                                                                             \
    }
TREE(sum_i, _mm512_add_epi32)
TREE(product_i, _mm512_mullo_epi32)
TREE(minimum_i, _mm512_min_epi32)
TREE(maximum_i, _mm512_max_epi32)
TREE(minimum_u, _mm512_min_epu32)
TREE(maximum_u, _mm512_max_epu32)
FOLD(i32, sum, sum_i)
FOLD(u32, sum, sum_i)
FOLD(i32, product, product_i)
FOLD(u32, product, product_i)
FOLD(i32, minimum, minimum_i)
FOLD(i32, maximum, maximum_i)
FOLD(u32, minimum, minimum_u)
FOLD(u32, maximum, maximum_u)
// vrangeps over numbers; any NaN in the beginning replaces the result.
#define LESSER(a, b) FI(_mm512_range_ps(IF(a), IF(b), 4))
#define GREATER(a, b) FI(_mm512_range_ps(IF(a), IF(b), 5))
TREE(minimum_r, LESSER)
TREE(maximum_r, GREATER)
S F or_nan(F r, F a) {
    I k = word(_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q));
    return _mm512_mask_mov_ps(r, _mm512_test_epi32_mask(k, k), f(canonical));
}
S F minimum_f(F a) { return or_nan(IF(minimum_r(FI(a))), a); }
S F maximum_f(F a) { return or_nan(IF(maximum_r(FI(a))), a); }
FOLDF(minimum, minimum_f)
FOLDF(maximum, maximum_f)

// Scans: what comes in at the front is an identity, or lane 0 again for extrema.
#define PREFIXES(fn, step, in)                                                                                         \
    S I fn(I a) {                                                                                                      \
        I z = in;                                                                                                      \
        a = step(a, ALIGN(a, z, 15));                                                                                  \
        a = step(a, ALIGN(a, z, 14));                                                                                  \
        a = step(a, ALIGN(a, z, 12));                                                                                  \
        return step(a, ALIGN(a, z, 8));                                                                                \
    }
PREFIXES(scan_sum_of, _mm512_add_epi32, _mm512_setzero_si512())
PREFIXES(scan_product_of, _mm512_mullo_epi32, one)
INTS1(scan_sum_of)
INTS1(scan_product_of)
PREFIXES(least_i, _mm512_min_epi32, first_everywhere(a))
PREFIXES(most_i, _mm512_max_epi32, first_everywhere(a))
PREFIXES(least_u, _mm512_min_epu32, first_everywhere(a))
PREFIXES(most_u, _mm512_max_epu32, first_everywhere(a))
I i32_scan_minimum_of(I a) { return least_i(a); }
I i32_scan_maximum_of(I a) { return most_i(a); }
I u32_scan_minimum_of(I a) { return least_u(a); }
I u32_scan_maximum_of(I a) { return most_u(a); }
// As integers, which order floats once a set sign reverses the other bits.
S I key(I a) { return TERN(a, spread(a), magnitude, 0x78); }
S F nans(F a, I to) { return _mm512_mask_mov_ps(a, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), IF(to)); }
F f32_scan_minimum_of(F a) { return nans(IF(key(least_i(key(FI(nans(a, ones)))))), canonical); }
F f32_scan_maximum_of(F a) { return IF(key(most_i(key(FI(nans(a, canonical)))))); }

S I compressed(I m, I x, I b) { return _mm512_maskz_compress_epi32(mask(m), x); }
S I expanded(I m, I x, I p) { return _mm512_mask_expand_epi32(p, mask(m), x); }
MOVES3(compressed)
MOVES3(expanded)

// Narrow lanes.
I pairs(I a, I b) { return _mm512_madd_epi16(a, b); }
I halved(I a, I b) { return _mm512_permutexvar_epi64(halves_in_turn, _mm512_packs_epi32(a, b)); }
I low(I a) { return _mm512_cvtepu8_epi16(_mm512_castsi512_si256(a)); }
I high(I a) { return _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(a, 1)); }
I weighed(I a, I b) { return _mm512_madd_epi16(low(a), b); }
