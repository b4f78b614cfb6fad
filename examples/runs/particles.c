/* Moves particles from C: a stack is a count and a pointer to each column. */
#include <stdio.h>

#include "particles.h"

enum { COUNT = 1003 };
static float x[COUNT], y[COUNT], vx[COUNT], vy[COUNT];

int main(void) {
  for (int i = 0; i < COUNT; i++) {
    y[i] = (float)(i % 7);
    vx[i] = 1;
    vy[i] = 2;
  }
  struct rake_stack_Particles_v2 particles = {COUNT, x, y, vx, vy};
  /* All of it is exact in binary: gravity takes 1 from each vy, and half of what is left is added to each y. */
  step(&particles, 0.5f, 2.0f);
  keep_above(&particles, 3.0f);
  int kept = 0;
  for (int i = 0; i < COUNT; i++) {
    float height = (float)(i % 7) + 0.5f;
    if (height < 3) continue;
    if (x[kept] != 0.5f || y[kept] != height || vy[kept] != 1) return 1;
    kept++;
  }
  printf("%d of %d particles are above the floor\n", kept, COUNT);
  return particles.count != kept;
}
