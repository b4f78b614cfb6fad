// The vocabulary in hand-written AVX2 and FMA.
#include "peers.h"
typedef __m256 F;
typedef __m256i I;
#define FI _mm256_castps_si256
#define IF _mm256_castsi256_ps
#define LOW _mm256_castsi256_si128
#define WIDE _mm256_castsi128_si256
#define LANE0(a) _mm_cvtsi128_si32(LOW(a))
#define LANE0F _mm256_cvtss_f32
#define ENTER(k) WIDE(_mm_cvtsi32_si128(k))
#define BOTH(name) _mm256_##name##_epi32
#define SH(a, x, y, z, w) _mm256_shuffle_epi32(a, _MM_SHUFFLE(w, z, y, x))
#define SHF(a, x, y, z, w) _mm256_permute_ps(a, _MM_SHUFFLE(w, z, y, x))
#define SH2(a, b, x, y, z, w) FI(_mm256_shuffle_ps(IF(a), IF(b), _MM_SHUFFLE(w, z, y, x)))
#define QUADS(a, x, y, z, w) _mm256_permute4x64_epi64(a, _MM_SHUFFLE(w, z, y, x))
#define HALVES(a, b, n) _mm256_permute2x128_si256(a, b, n)
#define HIGH(a) _mm256_extracti128_si256(a, 1)
#define f(name) (*(const F *)&name)

KONST(ones, 0xffffffff)
KONST(sign, 0x80000000)
KONST(magnitude, 0x7fffffff)
KONST(zero, 0)
KONST(one, 1)
KONST(two_31, 0x4f000000)
KONST(two_23, 0x4b000000)
KONST(two_39, 0x53000000)
KONST(two_39_23, 0x53000080)
KONST(least_but_one, 0x80000001)
KONST(canonical, 0x7fc00000)
KONST4(thirty_one, 31, 0, 0, 0)
KONST(every_bit, 255)
KONST8(numbers, 0, 1, 2, 3, 4, 5, 6, 7)
KONST8(crossing, 2, 7, 4, 1, 6, 3, 0, 5)

// Arithmetic.
I i32_negate(I a) { return _mm256_sign_epi32(a, ones); }
F f32_negate(F a) { return _mm256_xor_ps(a, f(sign)); }
F f32_magnitude(F a) { return _mm256_and_ps(a, f(magnitude)); }
I i32_magnitude(I a) { return _mm256_abs_epi32(a); }
S I lane_numbers(I a) { return _mm256_add_epi32(a, numbers); }
INTS1(lane_numbers)
F f32_root(F a) { return _mm256_sqrt_ps(a); }
F f32_add(F a, F b) { return _mm256_add_ps(a, b); }
F f32_subtract(F a, F b) { return _mm256_sub_ps(a, b); }
F f32_multiply(F a, F b) { return _mm256_mul_ps(a, b); }
F f32_divide(F a, F b) { return _mm256_div_ps(a, b); }
F plain(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
S I add(I a, I b) { return _mm256_add_epi32(a, b); }
S I subtract(I a, I b) { return _mm256_sub_epi32(a, b); }
S I multiply(I a, I b) { return _mm256_mullo_epi32(a, b); }
S I bits_and(I a, I b) { return _mm256_and_si256(a, b); }
S I bits_or(I a, I b) { return _mm256_or_si256(a, b); }
S I bits_xor(I a, I b) { return _mm256_xor_si256(a, b); }
S I bits_andnot(I a, I b) { return _mm256_andnot_si256(b, a); }
INTS2(add)
INTS2(subtract)
INTS2(multiply)
INTS2(bits_and)
INTS2(bits_or)
INTS2(bits_xor)
INTS2(bits_andnot)

// Extrema, as on SSE2.
S F least_f(F a, F b) { return _mm256_or_ps(_mm256_min_ps(a, b), _mm256_min_ps(b, a)); }
S F most_of(F x, F y) {
    F d = _mm256_xor_ps(x, y);
    return _mm256_sub_ps(_mm256_or_ps(x, d), d);
}
F f32_least(F a, F b) { return least_f(a, b); }
F f32_most(F a, F b) { return most_of(_mm256_max_ps(a, b), _mm256_max_ps(b, a)); }
I i32_least(I a, I b) { return _mm256_min_epi32(a, b); }
I i32_most(I a, I b) { return _mm256_max_epi32(a, b); }
I u32_least(I a, I b) { return _mm256_min_epu32(a, b); }
I u32_most(I a, I b) { return _mm256_max_epu32(a, b); }

F f32_to_nearest(F x) { return _mm256_round_ps(x, 8); }
F f32_down(F x) { return _mm256_round_ps(x, 9); }
F f32_upward(F x) { return _mm256_round_ps(x, 10); }
F f32_toward_zero(F x) { return _mm256_round_ps(x, 11); }

// Comparisons.
F f32_eq(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
F f32_ne(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_NEQ_OQ); }
F f32_lt(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_LT_OS); }
F f32_le(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_LE_OS); }
F f32_gt(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_GT_OS); }
F f32_ge(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_GE_OS); }
S I eq(I a, I b) { return _mm256_cmpeq_epi32(a, b); }
S I ne(I a, I b) { return _mm256_xor_si256(_mm256_cmpeq_epi32(a, b), ones); }
INTS2(eq)
INTS2(ne)
I i32_lt(I a, I b) { return _mm256_cmpgt_epi32(b, a); }
I i32_gt(I a, I b) { return _mm256_cmpgt_epi32(a, b); }
I i32_le(I a, I b) { return _mm256_cmpeq_epi32(_mm256_min_epi32(a, b), a); }
I i32_ge(I a, I b) { return _mm256_cmpeq_epi32(_mm256_max_epi32(a, b), a); }
I u32_le(I a, I b) { return _mm256_cmpeq_epi32(_mm256_min_epu32(a, b), a); }
I u32_ge(I a, I b) { return _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a); }
I u32_lt(I a, I b) { return _mm256_xor_si256(u32_ge(a, b), ones); }
I u32_gt(I a, I b) { return _mm256_xor_si256(u32_le(a, b), ones); }

// Masks and choices.
S I spread(I m) { return _mm256_srai_epi32(m, 31); }
S I unset(I m) { return _mm256_cmpgt_epi32(m, ones); }
S I pick(I m, I a, I b) { return FI(_mm256_blendv_ps(IF(b), IF(a), IF(m))); }
S I branch(I m, I a, I b) { return pick(m, a, b); }
MOVES3(pick)
MOVES3(branch)

I conjunction(I p, I q) { return spread(_mm256_and_si256(p, q)); }
I disjunction(I p, I q) { return spread(_mm256_or_si256(p, q)); }
I complement(I p, I q) { return unset(p); }
I neither(I p, I q) { return unset(_mm256_or_si256(p, q)); }
I without(I p, I q) { return spread(_mm256_andnot_si256(q, p)); }
I not_both(I p, I q) { return unset(_mm256_and_si256(p, q)); }
I same(I p, I q) { return spread(p); }
I other(I p, I q) { return spread(q); }
S I all_of_flag(int c) { return _mm256_slli_epi32(_mm256_broadcastd_epi32(_mm_cvtsi32_si128(c)), 31); }
I with_flag(I p, int c) { return spread(_mm256_and_si256(all_of_flag(c), p)); }
I or_flag(I p, int c) { return spread(_mm256_or_si256(all_of_flag(c), p)); }
I flag_rack(int c) { return spread(all_of_flag(c)); }
I all_lanes(void) { return _mm256_set1_epi32(-1); }
I no_lanes(void) { return _mm256_setzero_si256(); }
int flag(int c) { return c & 1; }
// In the general register it would be one shorter.
int not_flag(int c) { return LANE0(_mm256_andnot_si256(ENTER(c), one)); }
int truth(void) { return 1; }

// Words of masks.
S int bits(F m) { return _mm256_movemask_ps(m); }
int bitmask_of(F m) { return bits(m); }
int all_of(F m) { return (unsigned)(bits(m) + 1) >> 8; }
int any_of(F m) { return (unsigned)(bits(m) + 255) >> 8; }
S F less(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_LT_OS); }
int bitmask_compared(F a, F b) { return bits(less(a, b)); }
int all_compared(F a, F b) { return all_of(less(a, b)); }
int any_compared(F a, F b) { return any_of(less(a, b)); }
S I word(F m) { return _mm256_broadcastd_epi32(_mm_cvtsi32_si128(bits(m))); }
I bitmask_spread(F m, F a, F b) { return word(m); }
F all_spread(F m, F a, F b) { return IF(pick(_mm256_cmpeq_epi32(word(m), every_bit), FI(a), FI(b))); }
F any_spread(F m, F a, F b) { return IF(pick(_mm256_cmpeq_epi32(word(m), zero), FI(b), FI(a))); }

// Conversions.
S I to_i32(F a) {
    I c = _mm256_xor_si256(_mm256_cvtps_epi32(a), FI(_mm256_cmp_ps(a, f(two_31), _CMP_GE_OQ)));
    return _mm256_and_si256(FI(_mm256_cmp_ps(a, a, _CMP_ORD_Q)), c);
}
// The negative converts, which saturates one beyond the greatest. Shifting the mantissa of numbers from 2^31 on in place
// would save 1 and raise invalid on them.
S I to_u32(F a) {
    F m = _mm256_max_ps(a, f(zero)), g = _mm256_cmp_ps(m, f(two_31), _CMP_GE_OQ);
    I n = _mm256_cvtps_epi32(_mm256_sub_ps(_mm256_and_ps(g, f(two_31)), m));
    return _mm256_sub_epi32(_mm256_slli_epi32(FI(g), 31), _mm256_max_epi32(n, least_but_one));
}
S F of_u32(I a) {
    I high = _mm256_blend_epi16(_mm256_srli_epi32(a, 16), two_39, 0xaa), low = _mm256_blend_epi16(a, two_23, 0xaa);
    return _mm256_add_ps(IF(low), _mm256_sub_ps(IF(high), f(two_39_23)));
}
I f32_to_i32_rack(F a) { return to_i32(a); }
I f32_to_u32_rack(F a) { return to_u32(a); }
F i32_to_f32_rack(I a) { return _mm256_cvtepi32_ps(a); }
F u32_to_f32_rack(I a) { return of_u32(a); }
S F first(F k) { return _mm256_broadcastss_ps(_mm256_castps256_ps128(k)); }
int f32_to_i32_one(F k) { return LANE0(to_i32(first(k))); }
int f32_to_u32_one(F k) { return LANE0(to_u32(first(k))); }
float i32_to_f32_one(int k) { return LANE0F(_mm256_cvtepi32_ps(ENTER(k))); }
float u32_to_f32_one(int k) { return LANE0F(of_u32(ENTER(k))); }
#include "casts.h"

// Shifts.
#define SHIFTS(n)                                                                                                      \
    S I left##n(I a) { return _mm256_slli_epi32(a, n); }                                                               \
    S I right##n(I a) { return _mm256_srli_epi32(a, n); }                                                              \
    S I right_signed##n(I a) { return _mm256_srai_epi32(a, n); }                                                       \
    INTS1(left##n) INTS1(right##n) INTS1(right_signed##n)
SHIFTS(0)
SHIFTS(1)
SHIFTS(7)
SHIFTS(31)
S __m128i count(int n) { return _mm_and_si128(_mm_cvtsi32_si128(n), *(const __m128i *)&thirty_one); }
S I left_by(I a, int n) { return _mm256_sll_epi32(a, count(n)); }
S I right_by(I a, int n) { return _mm256_srl_epi32(a, count(n)); }
S I right_signed_by(I a, int n) { return _mm256_sra_epi32(a, count(n)); }
#define BY(name)                                                                                                       \
    I i32_##name(I a, int n) { return name(a, n); }                                                                    \
    I u32_##name(I a, int n) { return name(a, n); }
BY(left_by)
BY(right_by)
BY(right_signed_by)

// Lane moves. Where one shuffle within halves and one across do, no index is loaded.
S I reversed(I a) { return QUADS(SH(a, 3, 2, 1, 0), 2, 3, 0, 1); }
S I halves_swapped(I a) { return QUADS(a, 2, 3, 0, 1); }
S I pairs_swapped(I a) { return SH(a, 1, 0, 3, 2); }
S I first_everywhere(I a) { return _mm256_broadcastd_epi32(LOW(a)); }
S I last_everywhere(I a) { return SH(QUADS(a, 3, 3, 3, 3), 1, 1, 1, 1); }
S I scattered(I a) { return SH(a, 3, 2, 1, 0); }
S I twice_each(I a) { return SH(QUADS(a, 0, 0, 1, 1), 0, 0, 3, 3); }
MOVES1(reversed)
MOVES1(halves_swapped)
MOVES1(pairs_swapped)
MOVES1(first_everywhere)
MOVES1(last_everywhere)
MOVES1(scattered)
MOVES1(twice_each)
S I zip_lows(I a, I b) { return HALVES(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b), 0x20); }
S I zip_highs(I a, I b) { return HALVES(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b), 0x31); }
S I unzip_evens(I a, I b) { return QUADS(SH2(a, b, 0, 2, 0, 2), 0, 2, 1, 3); }
S I unzip_odds(I a, I b) { return QUADS(SH2(a, b, 1, 3, 1, 3), 0, 2, 1, 3); }
S I blended(I a, I b) { return _mm256_blend_epi32(a, b, 0xaa); }
S I interleaved(I a, I b) { return zip_lows(a, b); }
S I joined(I a, I b) { return HALVES(a, b, 0x21); }
S I crossed(I a, I b) { return _mm256_permutevar8x32_epi32(_mm256_blend_epi32(a, b, 0x18), crossing); }
S I second_reversed(I a, I b) { return reversed(b); }
S I one_from_second(I a, I b) { return _mm256_blend_epi32(a, SH(b, 1, 1, 1, 1), 4); }
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
S I shift_left(I a, const int n) {
    if (n == 4) return HALVES(a, a, 0x81);
    return n < 4 ? _mm256_alignr_epi8(HALVES(a, a, 0x81), a, 4 * (n & 3)) : _mm256_srli_si256(HALVES(a, a, 0x81), 4 * (n & 3));
}
S I shift_right(I a, const int n) {
    if (n == 4) return HALVES(a, a, 0x08);
    return n < 4 ? _mm256_alignr_epi8(a, HALVES(a, a, 0x08), 16 - 4 * (n & 3))
                 : _mm256_slli_si256(HALVES(a, a, 0x08), 4 * (n & 3));
}
S I rotate(I a, const int n) {
    if (n == 0) return a;
    if (n == 2) return QUADS(a, 1, 2, 3, 0);
    if (n == 4) return QUADS(a, 2, 3, 0, 1);
    if (n == 6) return QUADS(a, 3, 0, 1, 2);
    I t = QUADS(a, 2, 3, 0, 1);
    return n < 4 ? _mm256_alignr_epi8(t, a, 4 * (n & 3)) : _mm256_alignr_epi8(a, t, 4 * (n & 3));
}
S I everywhere(I a, const int n) {
    if (n == 0) return first_everywhere(a);
    I t = n < 2 ? QUADS(a, 0, 0, 0, 0) : n < 4 ? QUADS(a, 1, 1, 1, 1) : n < 6 ? QUADS(a, 2, 2, 2, 2) : QUADS(a, 3, 3, 3, 3);
    return n & 1 ? SH(t, 1, 1, 1, 1) : SH(t, 0, 0, 0, 0);
}
S float lane_f(F a, const int n) {
    __m128 t = n < 4 ? _mm256_castps256_ps128(a) : _mm256_extractf128_ps(a, 1);
    return _mm_cvtss_f32(n & 3 ? _mm_permute_ps(t, n & 3) : t);
}
S int lane_i(I a, const int n) {
    __m128i t = n < 4 ? LOW(a) : HIGH(a);
    return n & 3 ? _mm_extract_epi32(t, n & 3) : _mm_cvtsi128_si32(t);
}
S F insert_f(F a, F k, const int n) { return _mm256_blend_ps(a, n ? first(k) : k, 1 << n); }
S I insert_i(I a, int k, const int n) {
    if (n == 0) return _mm256_blend_epi32(a, ENTER(k), 1);
    if (n < 4) return _mm256_blend_epi32(a, WIDE(_mm_insert_epi32(LOW(a), k, n & 3)), 15);
    return _mm256_blend_epi32(a, _mm256_broadcastd_epi32(_mm_cvtsi32_si128(k)), 1 << n);
}
#define LANE_MOVES(n)                                                                                                  \
    S I shift_left_##n(I a) { return n ? shift_left(a, n) : a; }                                                       \
    S I shift_right_##n(I a) { return n ? shift_right(a, n) : a; }                                                     \
    S I rotate_left_##n(I a) { return rotate(a, n); }                                                                  \
    S I rotate_right_##n(I a) { return rotate(a, (8 - n) & 7); }                                                       \
    S I spread_##n(I a) { return everywhere(a, n); }                                                                   \
    MOVES1(shift_left_##n)                                                                                             \
    MOVES1(shift_right_##n)                                                                                            \
    MOVES1(rotate_left_##n)                                                                                            \
    MOVES1(rotate_right_##n)                                                                                           \
    MOVES1(spread_##n)                                                                                                 \
    float f32_extract_##n(F a) { return lane_f(a, n); }                                                                \
    int i32_extract_##n(I a) { return lane_i(a, n); }                                                                  \
    int u32_extract_##n(I a) { return lane_i(a, n); }                                                                  \
    F f32_insert_##n(F a, F k) { return insert_f(a, k, n); }                                                           \
    I i32_insert_##n(I a, int k) { return insert_i(a, k, n); }                                                         \
    I u32_insert_##n(I a, int k) { return insert_i(a, k, n); }
LANE_MOVES(0)
LANE_MOVES(1)
LANE_MOVES(2)
LANE_MOVES(3)
LANE_MOVES(4)
LANE_MOVES(5)
LANE_MOVES(6)
LANE_MOVES(7)

// Ordered folds: every lane alike. On the low half alone they would be one shorter, with a narrowed rack.
#define EACH_LANE(a, s0, s1, s2, s3, s4, s5, s6, s7, step)                                                             \
    F low = IF(HALVES(FI(a), FI(a), 0x00)), high = IF(HALVES(FI(a), FI(a), 0x11));                                     \
    F s0 = SHF(low, 0, 0, 0, 0), s1 = step(s0, SHF(low, 1, 1, 1, 1)), s2 = step(s1, SHF(low, 2, 2, 2, 2)),             \
      s3 = step(s2, SHF(low, 3, 3, 3, 3)), s4 = step(s3, SHF(high, 0, 0, 0, 0)), s5 = step(s4, SHF(high, 1, 1, 1, 1)), \
      s6 = step(s5, SHF(high, 2, 2, 2, 2)), s7 = step(s6, SHF(high, 3, 3, 3, 3));
#define ORDERED(op, step)                                                                                              \
    S F op##_f(F a) {                                                                                                  \
        EACH_LANE(a, s0, s1, s2, s3, s4, s5, s6, s7, step)                                                             \
        return s7;                                                                                                     \
    }                                                                                                                  \
    FOLDF(op, op##_f)                                                                                                  \
    F f32_scan_##op##_of(F a) {                                                                                        \
        EACH_LANE(a, s0, s1, s2, s3, s4, s5, s6, s7, step)                                                             \
        F r = _mm256_blend_ps(_mm256_blend_ps(a, s1, 2), s2, 4);                                                       \
        r = _mm256_blend_ps(_mm256_blend_ps(r, s3, 8), s4, 16);                                                        \
        r = _mm256_blend_ps(_mm256_blend_ps(r, s5, 32), s6, 64);                                                       \
        return _mm256_blend_ps(r, s7, 128);                                                                            \
    }
ORDERED(sum, _mm256_add_ps)
ORDERED(product, _mm256_mul_ps)

// Trees.
#define TREE(fn, step)                                                                                                 \
    S I fn(I v) {                                                                                                      \
        v = step(v, QUADS(v, 2, 3, 0, 1));                                                                             \
        v = step(v, SH(v, 2, 3, 0, 1));                                                                                \
        return step(v, SH(v, 1, 0, 3, 2));                                                                             \
    }
TREE(sum_i, _mm256_add_epi32)
TREE(product_i, _mm256_mullo_epi32)
TREE(minimum_i, _mm256_min_epi32)
TREE(maximum_i, _mm256_max_epi32)
TREE(minimum_u, _mm256_min_epu32)
TREE(maximum_u, _mm256_max_epu32)
FOLD(i32, sum, sum_i)
FOLD(u32, sum, sum_i)
FOLD(i32, product, product_i)
FOLD(u32, product, product_i)
FOLD(i32, minimum, minimum_i)
FOLD(i32, maximum, maximum_i)
FOLD(u32, minimum, minimum_u)
FOLD(u32, maximum, maximum_u)
S F canon(F r) { return _mm256_blendv_ps(r, f(canonical), _mm256_cmp_ps(r, r, _CMP_UNORD_Q)); }
S F minimum_f(F u) {
    u = least_f(u, IF(QUADS(FI(u), 2, 3, 0, 1)));
    u = least_f(u, SHF(u, 2, 3, 0, 1));
    return canon(least_f(u, SHF(u, 1, 0, 3, 2)));
}
// As integers, which order floats once a set sign reverses the other bits; canonical NaNs come out on top.
S I key(I a) { return _mm256_xor_si256(a, _mm256_srli_epi32(_mm256_srai_epi32(a, 31), 1)); }
S F maximum_f(F a) { return IF(key(maximum_i(key(FI(canon(a)))))); }
FOLDF(minimum, minimum_f)
FOLDF(maximum, maximum_f)

// Scans: within halves, then the low half's last lane onto the high half.
#define HALF_UP(a, low, n) HALVES(SH(a, 3, 3, 3, 3), low, n)
S I scan_sum_of(I a) {
    a = _mm256_add_epi32(a, _mm256_slli_si256(a, 4));
    a = _mm256_add_epi32(a, _mm256_slli_si256(a, 8));
    return _mm256_add_epi32(a, HALF_UP(a, a, 0x08));
}
S I scan_product_of(I a) {
    a = _mm256_mullo_epi32(a, _mm256_alignr_epi8(a, one, 12));
    a = _mm256_mullo_epi32(a, _mm256_alignr_epi8(a, one, 8));
    return _mm256_mullo_epi32(a, HALF_UP(a, one, 0x02));
}
INTS1(scan_sum_of)
INTS1(scan_product_of)
#define PREFIXES(fn, step)                                                                                             \
    S I fn(I a) {                                                                                                      \
        a = step(a, SH(a, 0, 0, 1, 2));                                                                                \
        a = step(a, SH(a, 0, 0, 0, 1));                                                                                \
        return step(a, HALF_UP(a, a, 0x02));                                                                           \
    }
PREFIXES(i32_scan_minimum, _mm256_min_epi32)
PREFIXES(i32_scan_maximum, _mm256_max_epi32)
PREFIXES(u32_scan_minimum, _mm256_min_epu32)
PREFIXES(u32_scan_maximum, _mm256_max_epu32)
I i32_scan_minimum_of(I a) { return i32_scan_minimum(a); }
I i32_scan_maximum_of(I a) { return i32_scan_maximum(a); }
I u32_scan_minimum_of(I a) { return u32_scan_minimum(a); }
I u32_scan_maximum_of(I a) { return u32_scan_maximum(a); }
F f32_scan_minimum_of(F a) {
    a = least_f(a, SHF(a, 0, 0, 1, 2));
    a = least_f(a, SHF(a, 0, 0, 0, 1));
    return canon(least_f(a, IF(HALF_UP(FI(a), FI(a), 0x02))));
}
F f32_scan_maximum_of(F a) { return IF(key(i32_scan_maximum(key(FI(canon(a)))))); }

// Within halves a table of sixteen permutations, packed in bytes and indexed by the mask's bits, moves selected lanes to
// the front; the negative count beside the bits then moves the high half down. By general registers (pdep, pext) it would
// be shorter.
KONST4(weights, -255, -254, -252, -248)
KONST4(fronts, 0xe4e1e4e4, 0xe4c9d8d2, 0xb48d9c93, 0xe439784e)
KONST4(fields, 0, 2, 4, 6)
S I compressed(I m, I x, I b) {
    m = spread(m);
    x = _mm256_and_si256(x, m);
    I w = _mm256_and_si256(m, weights);
    w = _mm256_hadd_epi32(w, w);
    w = _mm256_hadd_epi32(w, w);
    I p = _mm256_srlv_epi32(_mm256_shuffle_epi8(fronts, w), fields);
    x = FI(_mm256_permutevar_ps(IF(x), p));
    I n = _mm256_srai_epi32(_mm256_broadcastd_epi32(LOW(w)), 8);
    I up = _mm256_permutevar8x32_epi32(HALVES(x, x, 0x81), _mm256_add_epi32(n, numbers));
    return _mm256_or_si256(_mm256_blend_epi32(x, zero, 0xf0), up);
}
// Each lane's index is the number of selected lanes before it.
S I expanded(I m, I x, I p) {
    I n = scan_sum_of(spread(m));
    return pick(m, _mm256_permutevar8x32_epi32(x, _mm256_xor_si256(n, ones)), p);
}
MOVES3(compressed)
MOVES3(expanded)

// Narrow lanes.
I pairs(I a, I b) { return _mm256_madd_epi16(a, b); }
I halved(I a, I b) { return QUADS(_mm256_packs_epi32(a, b), 0, 2, 1, 3); }
I low(I a) { return _mm256_cvtepu8_epi16(LOW(a)); }
I high(I a) { return _mm256_cvtepu8_epi16(HIGH(a)); }
I weighed(I a, I b) { return _mm256_madd_epi16(low(a), b); }
