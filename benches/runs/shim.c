/* The peers' interface to the runs of columns.rk. */
#include <stdint.h>

#include "columns.h"
#include "gather.h"

#define OF(T) const T *restrict
#define TO(T) T *restrict

void rake_advance(int64_t n, OF(float) pos, OF(float) vel, TO(float) out, float dt) {
  struct rake_stack_Out_v2 o = {n, out};
  struct rake_stack_Motion_v2 s = {n, (float *)pos, (float *)vel};
  advance(&o, &s, dt);
}

#define OF_ONE(name)                                               \
  void rake_##name(int64_t n, OF(float) x, TO(float) out) {        \
    struct rake_stack_Out_v2 o = {n, out};                         \
    struct rake_stack_One_v2 s = {n, (float *)x};                  \
    name(&o, &s);                                                  \
  }
OF_ONE(horner8)
OF_ONE(expanded_poly)
OF_ONE(safe_root)
OF_ONE(srgb_to_linear)
OF_ONE(softplus)
OF_ONE(logistic)

void rake_distribute(int64_t n, OF(float) a, OF(float) b, OF(float) c, OF(float) d, OF(float) e,
                     TO(float) out) {
  struct rake_stack_Out_v2 o = {n, out};
  struct rake_stack_Five_v2 s = {n, (float *)a, (float *)b, (float *)c, (float *)d, (float *)e};
  distribute(&o, &s);
}

void rake_ray_sphere(int64_t n, OF(float) ox, OF(float) oy, OF(float) oz, OF(float) dx, OF(float) dy,
                     OF(float) dz, TO(float) out, float cx, float cy, float cz, float radius) {
  struct rake_stack_Out_v2 o = {n, out};
  struct rake_stack_Ray_v2 r = {n,           (float *)ox, (float *)oy, (float *)oz,
                                (float *)dx, (float *)dy, (float *)dz};
  ray_sphere(&o, &r, cx, cy, cz, radius);
}

void rake_mandelbrot16(int64_t n, OF(float) cr, OF(float) ci, TO(float) out) {
  struct rake_stack_Out_v2 o = {n, out};
  struct rake_stack_Point_v2 p = {n, (float *)cr, (float *)ci};
  mandelbrot16(&o, &p);
}

void rake_lerp_clamp(int64_t n, OF(float) a, OF(float) b, OF(float) t, TO(float) out) {
  struct rake_stack_Out_v2 o = {n, out};
  struct rake_stack_Mix_v2 s = {n, (float *)a, (float *)b, (float *)t};
  lerp_clamp(&o, &s);
}

void rake_black_scholes(int64_t n, OF(float) spot, OF(float) strike, OF(float) years, TO(float) out,
                        float rate, float volatility) {
  struct rake_stack_Out_v2 o = {n, out};
  struct rake_stack_Option_v2 s = {n, (float *)spot, (float *)strike, (float *)years};
  black_scholes(&o, &s, rate, volatility);
}

void rake_normalize3(int64_t n, OF(float) x, OF(float) y, OF(float) z, TO(float) ox, TO(float) oy,
                     TO(float) oz) {
  struct rake_stack_Direction_v2 o = {n, ox, oy, oz};
  struct rake_stack_Vector_v2 s = {n, (float *)x, (float *)y, (float *)z};
  normalize3(&o, &s);
}

void rake_weighted_u8(int64_t n, OF(float) value, OF(uint8_t) quality, TO(float) out, float scale) {
  struct rake_stack_Out_v2 o = {n, out};
  struct rake_stack_Weighted_v2 s = {n, (float *)value, (uint8_t *)quality};
  weighted_u8(&o, &s, scale);
}

int64_t rake_compact_alive(int64_t n, TO(float) x, TO(float) y, TO(float) z, TO(float) w, TO(uint8_t) dead) {
  struct rake_stack_Row_v2 s = {n, x, y, z, w, dead};
  compact_alive(&s);
  return s.count;
}

void rake_gather_table(int64_t n, OF(int32_t) index, OF(float) table, TO(float) out) {
  struct rake_stack_Out_v2 o = {n, out};
  struct rake_stack_Index_v2 s = {n, (int32_t *)index};
  gather_table(&o, &s, table, 1024);
}

void rake_hash_mix(int64_t n, OF(int32_t) x, TO(int32_t) out, int32_t seed) {
  struct rake_stack_Hashed_v2 o = {n, out};
  struct rake_stack_Hash_v2 s = {n, (int32_t *)x};
  hash_mix(&o, &s, seed);
}

/* The peers' prefix sums restart after 4, 8 or 16 elements: a run's after a rack. */
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
void JOIN(rake_prefix_sum, LANES)(int64_t n, OF(float) x, TO(float) out) {
  prefix_sum(x, (int32_t)n, out, (int32_t)n, (int32_t)n);
}

int64_t rake_count_positive(int64_t n, OF(float) x) {
  int32_t counts[LANES] = {0};
  int64_t count = 0;
  count_positive(x, (int32_t)n, counts, LANES, (int32_t)n);
  for (int lane = 0; lane < LANES; lane++) count += counts[lane];
  return count;
}
