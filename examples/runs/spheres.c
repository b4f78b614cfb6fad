/* Traces rays from C. */
#include <stdio.h>

#include "spheres.h"

enum { COUNT = 77 };
static float zero[COUNT], x[COUNT], z[COUNT], forward[COUNT], distance[COUNT];

int main(void) {
  for (int i = 0; i < COUNT; i++) {
    x[i] = (float)i / 8;
    z[i] = -10;
    forward[i] = 1;
  }
  struct rake_stack_Rays_v2 rays = {COUNT, x, zero, z, zero, zero, forward, distance};
  trace(&rays, 5.0f);
  int hits = 0;
  for (int i = 0; i < COUNT; i++) {
    /* A ray at a distance of up to 5 from the axis meets the sphere of radius 5. */
    int meets = x[i] <= 5;
    if (meets ? distance[i] < 5 || distance[i] > 10 : distance[i] != -1) return 1;
    hits += meets;
  }
  printf("%d of %d rays hit\n", hits, COUNT);
  return distance[0] != 5 || distance[40] != 10;
}
