// The vocabulary in hand-written NEON.
#include "peers.h"
typedef float32x4_t F;
typedef int32x4_t I;
typedef uint32x4_t U;
#define FI vreinterpretq_s32_f32
#define IF vreinterpretq_f32_s32
#define UI vreinterpretq_s32_u32
#define IU vreinterpretq_u32_s32
#define UF vreinterpretq_f32_u32
#define FU vreinterpretq_u32_f32
#define LANE0(a) vgetq_lane_s32(a, 0)
#define LANE0F(a) vgetq_lane_f32(a, 0)
#define ENTER(k) vsetq_lane_s32(k, vdupq_n_s32(0), 0)
// The compiler may not look through: it would move a rack's work to a general register, or lanes' stores to the end.
#define OPAQUE(v) asm("" : "+w"(v))
#define ROT(a, n) vextq_s32(a, a, n)
#define UPPER_HALF(a, b)                                                                                               \
    vreinterpretq_s32_s64(vcopyq_laneq_s64(vreinterpretq_s64_s32(a), 1, vreinterpretq_s64_s32(b), 1))

// Arithmetic.
I i32_negate(I a) { return vnegq_s32(a); }
F f32_negate(F a) { return vnegq_f32(a); }
F f32_magnitude(F a) { return vabsq_f32(a); }
I i32_magnitude(I a) { return vabsq_s32(a); }
S I lane_numbers(I a) { return vaddq_s32(a, (I){0, 1, 2, 3}); }
INTS1(lane_numbers)
F f32_root(F a) { return vsqrtq_f32(a); }
F f32_add(F a, F b) { return vaddq_f32(a, b); }
F f32_subtract(F a, F b) { return vsubq_f32(a, b); }
F f32_multiply(F a, F b) { return vmulq_f32(a, b); }
F f32_divide(F a, F b) { return vdivq_f32(a, b); }
F plain(F a, F b, F c) { return vfmaq_f32(c, a, b); }
S I add(I a, I b) { return vaddq_s32(a, b); }
S I subtract(I a, I b) { return vsubq_s32(a, b); }
S I multiply(I a, I b) { return vmulq_s32(a, b); }
S I bits_and(I a, I b) { return vandq_s32(a, b); }
S I bits_or(I a, I b) { return vorrq_s32(a, b); }
S I bits_xor(I a, I b) { return veorq_s32(a, b); }
S I bits_andnot(I a, I b) { return vbicq_s32(a, b); }
INTS2(add)
INTS2(subtract)
INTS2(multiply)
INTS2(bits_and)
INTS2(bits_or)
INTS2(bits_xor)
INTS2(bits_andnot)

// Extrema and rounding: the machine's are the language's.
F f32_least(F a, F b) { return vminq_f32(a, b); }
F f32_most(F a, F b) { return vmaxq_f32(a, b); }
I i32_least(I a, I b) { return vminq_s32(a, b); }
I i32_most(I a, I b) { return vmaxq_s32(a, b); }
I u32_least(I a, I b) { return UI(vminq_u32(IU(a), IU(b))); }
I u32_most(I a, I b) { return UI(vmaxq_u32(IU(a), IU(b))); }
F f32_to_nearest(F x) { return vrndnq_f32(x); }
F f32_toward_zero(F x) { return vrndq_f32(x); }
F f32_down(F x) { return vrndmq_f32(x); }
F f32_upward(F x) { return vrndpq_f32(x); }

// Comparisons.
I f32_eq(F a, F b) { return UI(vceqq_f32(a, b)); }
// The greater of two is a NaN where either is. Less or greater would save 1 and signal on a quiet NaN.
I f32_ne(F a, F b) {
    F t = vmaxq_f32(a, b);
    return UI(vbicq_u32(vceqq_f32(t, t), vceqq_f32(a, b)));
}
I f32_lt(F a, F b) { return UI(vcltq_f32(a, b)); }
I f32_le(F a, F b) { return UI(vcleq_f32(a, b)); }
I f32_gt(F a, F b) { return UI(vcgtq_f32(a, b)); }
I f32_ge(F a, F b) { return UI(vcgeq_f32(a, b)); }
S I eq(I a, I b) { return UI(vceqq_s32(a, b)); }
S I ne(I a, I b) { return vmvnq_s32(eq(a, b)); }
INTS2(eq)
INTS2(ne)
I i32_lt(I a, I b) { return UI(vcltq_s32(a, b)); }
I i32_gt(I a, I b) { return UI(vcgtq_s32(a, b)); }
I i32_le(I a, I b) { return UI(vcleq_s32(a, b)); }
I i32_ge(I a, I b) { return UI(vcgeq_s32(a, b)); }
I u32_lt(I a, I b) { return UI(vcltq_u32(IU(a), IU(b))); }
I u32_gt(I a, I b) { return UI(vcgtq_u32(IU(a), IU(b))); }
I u32_le(I a, I b) { return UI(vcleq_u32(IU(a), IU(b))); }
I u32_ge(I a, I b) { return UI(vcgeq_u32(IU(a), IU(b))); }

// Masks and choices.
S I spread(I m) { return vshrq_n_s32(m, 31); }
S I unset(I m) { return UI(vcgezq_s32(m)); }
S I pick(I m, I a, I b) { return vbslq_s32(IU(spread(m)), a, b); }
S I branch(I m, I a, I b) { return pick(m, a, b); }
MOVES3(pick)
MOVES3(branch)
I conjunction(I p, I q) { return spread(vandq_s32(p, q)); }
I disjunction(I p, I q) { return spread(vorrq_s32(p, q)); }
I complement(I p, I q) { return unset(p); }
I neither(I p, I q) { return unset(vorrq_s32(p, q)); }
I without(I p, I q) { return spread(vbicq_s32(p, q)); }
I not_both(I p, I q) { return unset(vandq_s32(p, q)); }
I same(I p, I q) { return spread(p); }
I other(I p, I q) { return spread(q); }
// In the general register (sbfx) a flag alone would be one shorter.
S I all_of_flag(int c) {
    I v = vdupq_n_s32(c);
    OPAQUE(v);
    return vshlq_n_s32(v, 31);
}
I with_flag(I p, int c) { return spread(vandq_s32(all_of_flag(c), p)); }
I or_flag(I p, int c) { return spread(vorrq_s32(all_of_flag(c), p)); }
I flag_rack(int c) { return spread(all_of_flag(c)); }
I all_lanes(void) { return vdupq_n_s32(-1); }
I no_lanes(void) { return vdupq_n_s32(0); }
int flag(int c) { return c & 1; }
// In the general register it would be two shorter.
int not_flag(int c) {
    I v = vdupq_n_s32(c);
    OPAQUE(v);
    return LANE0(vbicq_s32(vdupq_n_s32(1), v));
}
int truth(void) { return 1; }

// Words of masks. A sign is set in all lanes if it is in the greatest as a signed number, in any if in the least.
int all_of(I m) { return (unsigned)vmaxvq_s32(m) >> 31; }
int any_of(I m) { return (unsigned)vminvq_s32(m) >> 31; }
// Signs to bit 0; a shift of double lanes that accumulates gives bits 0 and 1 of each half; the halves are joined
// alike.
S I bits(I m) {
    uint64x2_t b = vreinterpretq_u64_u32(vshrq_n_u32(IU(m), 31));
    I w = vreinterpretq_s32_u64(vsraq_n_u64(b, b, 31));
    return vsliq_n_s32(w, ROT(w, 2), 2);
}
int bitmask_of(I m) { return LANE0(bits(m)); }
int bitmask_compared(F a, F b) { return LANE0(bits(f32_lt(a, b))); }
int all_compared(F a, F b) { return all_of(f32_lt(a, b)); }
int any_compared(F a, F b) { return any_of(f32_lt(a, b)); }
I bitmask_spread(I m, F a, F b) { return vdupq_laneq_s32(bits(m), 0); }
I all_spread(I m, I a, I b) { return pick(vdupq_n_s32(vmaxvq_s32(m)), a, b); }
I any_spread(I m, I a, I b) { return pick(vdupq_n_s32(vminvq_s32(m)), a, b); }

// Conversions saturate and make 0 of a NaN by themselves.
S I to_i32(F a) { return vcvtnq_s32_f32(a); }
S I to_u32(F a) { return UI(vcvtnq_u32_f32(a)); }
S F of_u32(I a) { return vcvtq_f32_u32(IU(a)); }
I f32_to_i32_rack(F a) { return to_i32(a); }
I f32_to_u32_rack(F a) { return to_u32(a); }
F i32_to_f32_rack(I a) { return vcvtq_f32_s32(a); }
F u32_to_f32_rack(I a) { return of_u32(a); }
// The other lanes hold anything, so lane 0 is spread first. A scalar conversion would do with one instruction.
S F first(F k) { return vdupq_laneq_f32(k, 0); }
int f32_to_i32_one(F k) { return LANE0(to_i32(first(k))); }
int f32_to_u32_one(F k) { return LANE0(to_u32(first(k))); }
float i32_to_f32_one(int k) { return LANE0F(vcvtq_f32_s32(vdupq_n_s32(k))); }
float u32_to_f32_one(int k) { return LANE0F(of_u32(vdupq_n_s32(k))); }
#include "casts.h"

// Shifts.
#define SHIFTS(n)                                                                                                      \
    S I left##n(I a) { return vshlq_n_s32(a, n); }                                                                     \
    S I right##n(I a) { return UI(vshrq_n_u32(IU(a), n)); }                                                            \
    S I right_signed##n(I a) { return vshrq_n_s32(a, n); }                                                             \
    INTS1(left##n) INTS1(right##n) INTS1(right_signed##n)
S I left0(I a) { return a; }
S I right0(I a) { return a; }
S I right_signed0(I a) { return a; }
INTS1(left0)
INTS1(right0)
INTS1(right_signed0)
SHIFTS(1)
SHIFTS(7)
SHIFTS(31)
// Only a lane's lowest byte counts, so clearing its upper three bits, which an immediate can, is the modulus.
S I count(int n) {
    I v = vdupq_n_s32(n);
    OPAQUE(v);
    return vandq_s32(v, vdupq_n_s32(~0xe0));
}
S I left_by(I a, int n) { return vshlq_s32(a, count(n)); }
S I right_by(I a, int n) { return UI(vshlq_u32(IU(a), vnegq_s32(count(n)))); }
S I right_signed_by(I a, int n) { return vshlq_s32(a, vnegq_s32(count(n))); }
#define BY(name)                                                                                                       \
    I i32_##name(I a, int n) { return name(a, n); }                                                                    \
    I u32_##name(I a, int n) { return name(a, n); }
BY(left_by)
BY(right_by)
BY(right_signed_by)

// Lane moves.
S I halves_swapped(I a) { return ROT(a, 2); }
S I pairs_swapped(I a) { return vrev64q_s32(a); }
S I reversed(I a) { return ROT(vrev64q_s32(a), 2); }
S I first_everywhere(I a) { return vdupq_laneq_s32(a, 0); }
S I last_everywhere(I a) { return vdupq_laneq_s32(a, 3); }
S I scattered(I a) { return reversed(a); }
S I twice_each(I a) { return vzip1q_s32(a, a); }
MOVES1(reversed)
MOVES1(halves_swapped)
MOVES1(pairs_swapped)
MOVES1(first_everywhere)
MOVES1(last_everywhere)
MOVES1(scattered)
MOVES1(twice_each)
S I blended(I a, I b) { return vtrn1q_s32(a, vrev64q_s32(b)); }
S I interleaved(I a, I b) { return vzip1q_s32(a, b); }
S I joined(I a, I b) { return vextq_s32(a, b, 2); }
S I crossed(I a, I b) { return vtrn1q_s32(vextq_s32(a, b, 2), vextq_s32(b, a, 3)); }
S I second_reversed(I a, I b) { return reversed(b); }
S I one_from_second(I a, I b) { return vcopyq_laneq_s32(a, 2, b, 1); }
S I zip_lows(I a, I b) { return vzip1q_s32(a, b); }
S I zip_highs(I a, I b) { return vzip2q_s32(a, b); }
S I unzip_evens(I a, I b) { return vuzp1q_s32(a, b); }
S I unzip_odds(I a, I b) { return vuzp2q_s32(a, b); }
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
// A move of one lane or half to the front clears what is above it.
S I shift_left_0(I a) { return a; }
S I shift_left_1(I a) { return vextq_s32(a, vdupq_n_s32(0), 1); }
S I shift_left_2(I a) {
    asm("mov %d0, %0.d[1]" : "+w"(a));
    return a;
}
S I shift_left_3(I a) {
    asm("mov %s0, %0.s[3]" : "+w"(a));
    return a;
}
S I shift_right_0(I a) { return a; }
S I shift_right_1(I a) { return vextq_s32(vdupq_n_s32(0), a, 3); }
S I shift_right_2(I a) { return vextq_s32(vdupq_n_s32(0), a, 2); }
S I shift_right_3(I a) { return vextq_s32(vdupq_n_s32(0), a, 1); }
#define LANE_MOVES(n)                                                                                                  \
    S I rotate_left_##n(I a) { return ROT(a, n); }                                                                     \
    S I rotate_right_##n(I a) { return ROT(a, (4 - n) & 3); }                                                          \
    S I spread_##n(I a) { return vdupq_laneq_s32(a, n); }                                                              \
    MOVES1(shift_left_##n)                                                                                             \
    MOVES1(shift_right_##n)                                                                                            \
    MOVES1(rotate_left_##n)                                                                                            \
    MOVES1(rotate_right_##n)                                                                                           \
    MOVES1(spread_##n)                                                                                                 \
    float f32_extract_##n(F a) { return vgetq_lane_f32(a, n); }                                                        \
    int i32_extract_##n(I a) { return vgetq_lane_s32(a, n); }                                                          \
    int u32_extract_##n(I a) { return vgetq_lane_s32(a, n); }                                                          \
    F f32_insert_##n(F a, F k) { return vcopyq_laneq_f32(a, n, k, 0); }                                                \
    I i32_insert_##n(I a, int k) { return vsetq_lane_s32(k, a, n); }                                                   \
    I u32_insert_##n(I a, int k) { return vsetq_lane_s32(k, a, n); }
LANE_MOVES(0)
LANE_MOVES(1)
LANE_MOVES(2)
LANE_MOVES(3)

// Ordered folds: every lane alike, so that none adds what the fold does not. Products take each lane by element; so do
// sums, by a fused multiply-add with 1, which rounds as the addition does. Scalar additions would save 1 (`faddp`).
S F sum_f(F a) {
    F one = vdupq_n_f32(1), s = vdupq_laneq_f32(a, 0);
    s = vfmaq_laneq_f32(s, one, a, 1);
    s = vfmaq_laneq_f32(s, one, a, 2);
    return vfmaq_laneq_f32(s, one, a, 3);
}
S F product_f(F a) {
    F s = vmulq_laneq_f32(vdupq_laneq_f32(a, 0), a, 1);
    s = vmulq_laneq_f32(s, a, 2);
    return vmulq_laneq_f32(s, a, 3);
}
FOLDF(sum, sum_f)
FOLDF(product, product_f)
// Each prefix takes its lane's place as soon as the lane has been read.
#define PLACE(n)                                                                                                       \
    a = vcopyq_laneq_f32(a, n, s, 0);                                                                                  \
    asm("" : "+w"(a), "+w"(s));
F f32_scan_sum_of(F a) {
    F one = vdupq_n_f32(1), s = vfmaq_laneq_f32(vdupq_laneq_f32(a, 0), one, a, 1);
    PLACE(1)
    s = vfmaq_laneq_f32(s, one, a, 2);
    PLACE(2)
    s = vfmaq_laneq_f32(s, one, a, 3);
    return vcopyq_laneq_f32(a, 3, s, 0);
}
F f32_scan_product_of(F a) {
    F s = vmulq_laneq_f32(vdupq_laneq_f32(a, 0), a, 1);
    PLACE(1)
    s = vmulq_laneq_f32(s, a, 2);
    PLACE(2)
    s = vmulq_laneq_f32(s, a, 3);
    return vcopyq_laneq_f32(a, 3, s, 0);
}

// Integers, and strict extrema of floats, across lanes.
S I sum_i(I a) { return vdupq_n_s32(vaddvq_s32(a)); }
S I minimum_i(I a) { return vdupq_n_s32(vminvq_s32(a)); }
S I maximum_i(I a) { return vdupq_n_s32(vmaxvq_s32(a)); }
S I minimum_u(I a) { return UI(vdupq_n_u32(vminvq_u32(IU(a)))); }
S I maximum_u(I a) { return UI(vdupq_n_u32(vmaxvq_u32(IU(a)))); }
FOLD(i32, sum, sum_i)
FOLD(u32, sum, sum_i)
FOLD(i32, minimum, minimum_i)
FOLD(i32, maximum, maximum_i)
FOLD(u32, minimum, minimum_u)
FOLD(u32, maximum, maximum_u)
S I product_i(I a) {
    I t = vmulq_s32(a, ROT(a, 2));
    return vmulq_laneq_s32(t, t, 1);
}
S I product_spread(I a) {
    I t = vmulq_s32(a, ROT(a, 2));
    return vmulq_s32(t, vrev64q_s32(t));
}
INTS1(product_spread)
int i32_product_of(I a) { return LANE0(product_i(a)); }
int u32_product_of(I a) { return LANE0(product_i(a)); }
S F canon(F r) { return vbslq_f32(vceqq_f32(r, r), r, UF(vdupq_n_u32(0x7fc00000))); }
// The rack that holds a scalar in lane 0: no instruction.
S F rack(float s) {
    F r;
    asm("" : "=w"(r) : "0"(s));
    return r;
}
F f32_minimum_spread(F a) { return canon(vdupq_n_f32(vminvq_f32(a))); }
F f32_maximum_spread(F a) { return canon(vdupq_n_f32(vmaxvq_f32(a))); }
float f32_minimum_of(F a) { return LANE0F(canon(rack(vminvq_f32(a)))); }
float f32_maximum_of(F a) { return LANE0F(canon(rack(vmaxvq_f32(a)))); }

// Scans: prefixes within pairs by the partner of each, then lane 1 over the upper half. What is taken twice does not
// matter to an extremum: [0 0 2 2] and [0 0 1 1] need no neutral lanes.
#define PREFIXES(fn, step, trn, zip, type)                                                                             \
    S type fn(type a) {                                                                                                \
        a = step(a, trn(a, a));                                                                                        \
        return step(a, zip(a, a));                                                                                     \
    }
PREFIXES(least_s, vminq_s32, vtrn1q_s32, vzip1q_s32, I)
PREFIXES(most_s, vmaxq_s32, vtrn1q_s32, vzip1q_s32, I)
PREFIXES(least_u, vminq_u32, vtrn1q_u32, vzip1q_u32, U)
PREFIXES(most_u, vmaxq_u32, vtrn1q_u32, vzip1q_u32, U)
PREFIXES(least_f, vminq_f32, vtrn1q_f32, vzip1q_f32, F)
PREFIXES(most_f, vmaxq_f32, vtrn1q_f32, vzip1q_f32, F)
I i32_scan_minimum_of(I a) { return least_s(a); }
I i32_scan_maximum_of(I a) { return most_s(a); }
I u32_scan_minimum_of(I a) { return UI(least_u(IU(a))); }
I u32_scan_maximum_of(I a) { return UI(most_u(IU(a))); }
F f32_scan_minimum_of(F a) { return canon(least_f(a)); }
F f32_scan_maximum_of(F a) { return canon(most_f(a)); }
S I scan_sum_of(I a) {
    I zero = vdupq_n_s32(0);
    a = vaddq_s32(a, vextq_s32(zero, a, 3));
    return vaddq_s32(a, vextq_s32(zero, a, 2));
}
INTS1(scan_sum_of)
// The products of lanes 0 and 1 and of 2 and 3, then the former times lane 2 and times the latter.
S I scan_product_of(I a) {
    I t = vmulq_s32(a, vrev64q_s32(a)), u = vtrn1q_s32(a, t);
    return UPPER_HALF(u, vmulq_laneq_s32(u, t, 0));
}
INTS1(scan_product_of)

// A table of sixteen permutations of bytes, indexed by the mask's bits: what moves selected lanes to the front, with
// zeros after them, and what moves lanes to where they are selected, out of range where they are not.
#define WORD(n) 4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3
#define NONE 255, 255, 255, 255
static const unsigned char fronts[16][16] __attribute__((aligned(16), used)) = {
    {NONE, NONE, NONE, NONE},          {WORD(0), NONE, NONE, NONE},       {WORD(1), NONE, NONE, NONE},
    {WORD(0), WORD(1), NONE, NONE},    {WORD(2), NONE, NONE, NONE},       {WORD(0), WORD(2), NONE, NONE},
    {WORD(1), WORD(2), NONE, NONE},    {WORD(0), WORD(1), WORD(2), NONE}, {WORD(3), NONE, NONE, NONE},
    {WORD(0), WORD(3), NONE, NONE},    {WORD(1), WORD(3), NONE, NONE},    {WORD(0), WORD(1), WORD(3), NONE},
    {WORD(2), WORD(3), NONE, NONE},    {WORD(0), WORD(2), WORD(3), NONE}, {WORD(1), WORD(2), WORD(3), NONE},
    {WORD(0), WORD(1), WORD(2), WORD(3)}};
static const unsigned char places[16][16] __attribute__((aligned(16), used)) = {
    {NONE, NONE, NONE, NONE},          {WORD(0), NONE, NONE, NONE},       {NONE, WORD(0), NONE, NONE},
    {WORD(0), WORD(1), NONE, NONE},    {NONE, NONE, WORD(0), NONE},       {WORD(0), NONE, WORD(1), NONE},
    {NONE, WORD(0), WORD(1), NONE},    {WORD(0), WORD(1), WORD(2), NONE}, {NONE, NONE, NONE, WORD(0)},
    {WORD(0), NONE, NONE, WORD(1)},    {NONE, WORD(0), NONE, WORD(1)},    {WORD(0), WORD(1), NONE, WORD(2)},
    {NONE, NONE, WORD(0), WORD(1)},    {WORD(0), NONE, WORD(1), WORD(2)}, {NONE, WORD(0), WORD(1), WORD(2)},
    {WORD(0), WORD(1), WORD(2), WORD(3)}};
#define BYTES vreinterpretq_u8_s32
// By hand, since gcc does not scale an index by sixteen in an address.
S uint8x16_t row(const unsigned char (*table)[16], I m) {
    uint8x16_t r;
    asm("ldr %q0, [%1, %w2, uxtw #4]" : "=w"(r) : "r"(table), "r"(LANE0(bits(m))));
    return r;
}
S I compressed(I m, I x, I b) { return vreinterpretq_s32_u8(vqtbl1q_u8(BYTES(x), row(fronts, m))); }
S I expanded(I m, I x, I p) { return vreinterpretq_s32_u8(vqtbx1q_u8(BYTES(p), BYTES(x), row(places, m))); }
MOVES3(compressed)
MOVES3(expanded)

// Narrow lanes.
S I pairs_of(int16x8_t a, int16x8_t b) {
    return vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
}
#define HALF vreinterpretq_s16_s32
I pairs(I a, I b) { return pairs_of(HALF(a), HALF(b)); }
int16x8_t halved(I a, I b) { return vqmovn_high_s32(vqmovn_s32(a), b); }
uint16x8_t low(I a) { return vmovl_u8(vget_low_u8(BYTES(a))); }
uint16x8_t high(I a) { return vmovl_high_u8(BYTES(a)); }
I weighed(I a, I b) { return pairs_of(vreinterpretq_s16_u16(low(a)), HALF(b)); }
