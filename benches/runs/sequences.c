/* The kernels of columns.rk that exp and log dominate, by hand: the language's sequences step by step (see
 * ir/src/sequences), so that the results are those of the runs, bit for bit. Racks take turns: `RACKS` of them wait for
 * each other's steps together. Compile without contraction; where a kernel fuses, it says so.
 *
 *   x * 1.44269504f + OFFSET    =>    near[k] = ADD(MUL(x[k], SPLAT(LOG2_E)), SPLAT(OFFSET)) for each rack k
 */
#include <immintrin.h>
#include <stdint.h>

#if defined __AVX512F__
#define LANES 16
typedef __m512 F;
typedef __m512i I;
#define PS(name) _mm512_##name##_ps
#define PI(name) _mm512_##name##_epi32
#define AS_F _mm512_castsi512_ps
#define AS_I _mm512_castps_si512
#define AND_I _mm512_and_si512
#define OR_I _mm512_or_si512
#define TO_F _mm512_cvtepi32_ps
static inline F if_below(I a, I b, F then, F other) { return _mm512_mask_blend_ps(_mm512_cmplt_epi32_mask(a, b), other, then); }
static inline I keep_below(I a, I b, I kept) { return _mm512_maskz_mov_epi32(_mm512_cmplt_epi32_mask(a, b), kept); }
static inline F if_equal(F a, F b, F then, F other) { return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ), other, then); }
static inline F if_at_least(F a, F b, F then, F other) { return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GE_OS), other, then); }
#elif defined __AVX2__
#define LANES 8
typedef __m256 F;
typedef __m256i I;
#define PS(name) _mm256_##name##_ps
#define PI(name) _mm256_##name##_epi32
#define AS_F _mm256_castsi256_ps
#define AS_I _mm256_castps_si256
#define AND_I _mm256_and_si256
#define OR_I _mm256_or_si256
#define TO_F _mm256_cvtepi32_ps
static inline F if_below(I a, I b, F then, F other) { return _mm256_blendv_ps(other, then, AS_F(_mm256_cmpgt_epi32(b, a))); }
static inline I keep_below(I a, I b, I kept) { return AND_I(_mm256_cmpgt_epi32(b, a), kept); }
static inline F if_equal(F a, F b, F then, F other) { return _mm256_blendv_ps(other, then, _mm256_cmp_ps(a, b, _CMP_EQ_OQ)); }
static inline F if_at_least(F a, F b, F then, F other) { return _mm256_blendv_ps(other, then, _mm256_cmp_ps(a, b, _CMP_GE_OS)); }
#else
#define LANES 4
typedef __m128 F;
typedef __m128i I;
#define PS(name) _mm_##name##_ps
#define PI(name) _mm_##name##_epi32
#define AS_F _mm_castsi128_ps
#define AS_I _mm_castps_si128
#define AND_I _mm_and_si128
#define OR_I _mm_or_si128
#define TO_F _mm_cvtepi32_ps
static inline F pick(F mask, F then, F other) { return _mm_or_ps(_mm_and_ps(mask, then), _mm_andnot_ps(mask, other)); }
static inline F if_below(I a, I b, F then, F other) { return pick(AS_F(_mm_cmplt_epi32(a, b)), then, other); }
static inline I keep_below(I a, I b, I kept) { return AND_I(_mm_cmplt_epi32(a, b), kept); }
static inline F if_equal(F a, F b, F then, F other) { return pick(_mm_cmpeq_ps(a, b), then, other); }
static inline F if_at_least(F a, F b, F then, F other) { return pick(_mm_cmpge_ps(a, b), then, other); }
#endif

/* Racks in flight. */
#ifndef RACKS
#define RACKS 2
#endif
#define EACH for (int k = 0; k < RACKS; k++)

#define SPLAT PS(set1)
#define BITS(bits) PI(set1)((int)(bits))
#define ADD PS(add)
#define SUB PS(sub)
#define MUL PS(mul)
#define DIV PS(div)
/* As the language fuses the polynomial of normal_cdf. */
#ifdef __FMA__
#define FUSED PS(fmadd)
#else
static inline F FUSED(F a, F b, F c) { return ADD(MUL(a, b), c); }
#endif

static inline F magnitude(F x) { return AS_F(AND_I(AS_I(x), BITS(0x7fffffff))); }
static inline F negative(F x) { return AS_F(OR_I(AS_I(x), BITS(0x80000000))); }

#define HIGH (355.0f / 512.0f)
#define LOW -2.1219444e-4f
#define MAGIC (12582912.0f + 254.0f)

static inline __attribute__((always_inline)) void exps(F x[RACKS]) {
  F near[RACKS], n[RACKS], r[RACKS], p[RACKS];
  EACH x[k] = PS(max)(SPLAT(-104.0f), x[k]);
  EACH near[k] = ADD(MUL(x[k], SPLAT(1.44269504088896341f)), SPLAT(MAGIC));
  EACH near[k] = PS(min)(near[k], SPLAT(MAGIC + 128.0f));
  EACH n[k] = SUB(near[k], SPLAT(MAGIC));
  EACH r[k] = SUB(x[k], MUL(n[k], SPLAT(HIGH)));
  EACH r[k] = SUB(r[k], MUL(n[k], SPLAT(LOW)));
  EACH p[k] = ADD(MUL(r[k], SPLAT(1.9875691500e-4f)), SPLAT(1.3981999507e-3f));
  EACH p[k] = ADD(MUL(p[k], r[k]), SPLAT(8.3334519073e-3f));
  EACH p[k] = ADD(MUL(p[k], r[k]), SPLAT(4.1665795894e-2f));
  EACH p[k] = ADD(MUL(p[k], r[k]), SPLAT(1.6666665459e-1f));
  EACH p[k] = ADD(MUL(p[k], r[k]), SPLAT(5.0000001201e-1f));
  EACH p[k] = ADD(ADD(MUL(p[k], MUL(r[k], r[k])), r[k]), SPLAT(1.0f));
  EACH {
    I biased = AS_I(near[k]);
    I half = PI(slli)(PI(srai)(biased, 1), 23);
    x[k] = MUL(MUL(p[k], AS_F(half)), AS_F(PI(sub)(PI(slli)(biased, 23), half)));
  }
}

static inline __attribute__((always_inline)) void logs(F x[RACKS]) {
  F n[RACKS], f[RACKS], p[RACKS], square[RACKS];
  EACH {
    I raise = keep_below(AS_I(x[k]), BITS(0x00800000), BITS(23 * 0x00800000));
    I above = PI(sub)(AS_I(MUL(x[k], AS_F(PI(add)(raise, BITS(0x3f800000))))), BITS(0x3f3504f4));
    n[k] = TO_F(PI(srai)(PI(sub)(above, raise), 23));
    f[k] = SUB(AS_F(PI(add)(AND_I(above, BITS(0x007fffff)), BITS(0x3f3504f4))), SPLAT(1.0f));
  }
  EACH square[k] = MUL(f[k], f[k]);
  EACH p[k] = ADD(MUL(f[k], SPLAT(7.0376836292e-2f)), SPLAT(-1.1514610310e-1f));
  EACH p[k] = ADD(MUL(p[k], f[k]), SPLAT(1.1676998740e-1f));
  EACH p[k] = ADD(MUL(p[k], f[k]), SPLAT(-1.2420140846e-1f));
  EACH p[k] = ADD(MUL(p[k], f[k]), SPLAT(1.4249322787e-1f));
  EACH p[k] = ADD(MUL(p[k], f[k]), SPLAT(-1.6668057665e-1f));
  EACH p[k] = ADD(MUL(p[k], f[k]), SPLAT(2.0000714765e-1f));
  EACH p[k] = ADD(MUL(p[k], f[k]), SPLAT(-2.4999993993e-1f));
  EACH p[k] = ADD(MUL(p[k], f[k]), SPLAT(3.3333331174e-1f));
  EACH p[k] = MUL(MUL(p[k], f[k]), square[k]);
  EACH p[k] = SUB(ADD(p[k], MUL(n[k], SPLAT(LOW))), MUL(square[k], SPLAT(0.5f)));
  EACH p[k] = ADD(ADD(f[k], p[k]), MUL(n[k], SPLAT(HIGH)));
  EACH {
    F result = AS_F(OR_I(AS_I(p[k]), PI(srai)(AS_I(x[k]), 31)));
    result = if_below(BITS(0x7f7fffff), AS_I(x[k]), x[k], result);
    x[k] = if_equal(x[k], SPLAT(0.0f), SPLAT(-__builtin_inff()), result);
  }
}

static inline __attribute__((always_inline)) void normal_cdfs(const F d[RACKS], F cdf[RACKS]) {
  F r[RACKS], tail[RACKS];
  EACH r[k] = DIV(SPLAT(1.0f), ADD(SPLAT(1.0f), MUL(SPLAT(0.2316419f), magnitude(d[k]))));
  EACH tail[k] = FUSED(r[k], SPLAT(1.330274429f), SPLAT(-1.821255978f));
  EACH tail[k] = FUSED(r[k], tail[k], SPLAT(1.781477937f));
  EACH tail[k] = FUSED(r[k], tail[k], SPLAT(-0.356563782f));
  EACH tail[k] = FUSED(r[k], tail[k], SPLAT(0.319381530f));
  EACH tail[k] = MUL(r[k], tail[k]);
  EACH cdf[k] = MUL(MUL(SPLAT(-0.5f), d[k]), d[k]);
  exps(cdf);
  EACH {
    F t = MUL(MUL(SPLAT(0.39894228f), cdf[k]), tail[k]);
    cdf[k] = if_at_least(d[k], SPLAT(0.0f), SUB(SPLAT(1.0f), t), t);
  }
}

static inline __attribute__((always_inline)) void softpluses(const F v[RACKS], F out[RACKS]) {
  F log[RACKS];
  EACH log[k] = negative(v[k]);
  exps(log);
  EACH log[k] = ADD(SPLAT(1.0f), log[k]);
  logs(log);
  EACH out[k] = ADD(PS(max)(v[k], SPLAT(0.0f)), log[k]);
}

static inline __attribute__((always_inline)) void logistics(const F v[RACKS], F out[RACKS]) {
  F e[RACKS];
  EACH e[k] = AS_F(PI(add)(AS_I(v[k]), BITS(0x80000000)));
  exps(e);
  EACH out[k] = DIV(SPLAT(1.0f), ADD(SPLAT(1.0f), e[k]));
}

static inline __attribute__((always_inline)) void prices(const F spot[RACKS], const F strike[RACKS], const F years[RACKS], F out[RACKS], F minus_rate,
                          F volatility, F drift) {
  F deviation[RACKS], d1[RACKS], d2[RACKS], first[RACKS], second[RACKS], discounted[RACKS];
  EACH deviation[k] = MUL(volatility, PS(sqrt)(years[k]));
  EACH d1[k] = DIV(spot[k], strike[k]);
  logs(d1);
  EACH d1[k] = DIV(ADD(d1[k], MUL(drift, years[k])), deviation[k]);
  EACH d2[k] = SUB(d1[k], deviation[k]);
  EACH discounted[k] = MUL(minus_rate, years[k]);
  exps(discounted);
  normal_cdfs(d1, first);
  EACH first[k] = MUL(spot[k], first[k]);
  normal_cdfs(d2, second);
  EACH out[k] = SUB(first[k], MUL(MUL(strike[k], discounted[k]), second[k]));
}

/* A column's racks at `i`; past `n` those of 1, so that the rest needs no other code. */
static inline __attribute__((always_inline)) void load(const float *from, F to[RACKS]) { EACH to[k] = PS(loadu)(from + k * LANES); }
static inline __attribute__((always_inline)) void store(const F from[RACKS], float *to) { EACH PS(storeu)(to + k * LANES, from[k]); }
enum { BLOCK = RACKS * LANES };
static inline const float *padded(const float *from, int64_t count, float block[BLOCK]) {
  for (int64_t i = 0; i < BLOCK; i++) block[i] = i < count ? from[i] : 1.0f;
  return block;
}
static inline void cut(const float block[BLOCK], int64_t count, float *to) {
  for (int64_t i = 0; i < count; i++) to[i] = block[i];
}

#define OF const float *restrict
#define TO float *restrict

#define OF_ONE(name, body)                                     \
  void rake_##name(int64_t n, OF x, TO out) {                  \
    F v[RACKS], result[RACKS];                                 \
    int64_t i = 0;                                             \
    for (; i + BLOCK <= n; i += BLOCK) {                       \
      load(x + i, v);                                          \
      body(v, result);                                         \
      store(result, out + i);                                  \
    }                                                          \
    if (i < n) {                                               \
      float block[BLOCK];                                      \
      load(padded(x + i, n - i, block), v);                    \
      body(v, result);                                         \
      store(result, block);                                    \
      cut(block, n - i, out + i);                              \
    }                                                          \
  }
OF_ONE(softplus, softpluses)
OF_ONE(logistic, logistics)

void rake_black_scholes(int64_t n, OF spot, OF strike, OF years, TO out, float rate, float volatility) {
  F s[RACKS], k[RACKS], t[RACKS], result[RACKS];
  F of = SPLAT(volatility), minus_rate = SPLAT(-rate), drift = SPLAT(rate + 0.5f * volatility * volatility);
  int64_t i = 0;
  for (; i + BLOCK <= n; i += BLOCK) {
    load(spot + i, s), load(strike + i, k), load(years + i, t);
    prices(s, k, t, result, minus_rate, of, drift);
    store(result, out + i);
  }
  if (i < n) {
    float block[BLOCK];
    load(padded(spot + i, n - i, block), s);
    load(padded(strike + i, n - i, block), k);
    load(padded(years + i, n - i, block), t);
    prices(s, k, t, result, minus_rate, of, drift);
    store(result, block);
    cut(block, n - i, out + i);
  }
}
