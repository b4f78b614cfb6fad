/* Running sums from C. */
#include <stdio.h>

#include "sums.h"

enum { COUNT = 1234 };
static float x[COUNT], sums[COUNT];

int main(void) {
  for (int i = 0; i < COUNT; i++) x[i] = (float)(i % 5 - 1);
  running_sums(x, COUNT, sums, COUNT, COUNT);
  float right = 0;
  /* Small integers, so that every order of adding gives the same. */
  for (int i = 0; i < COUNT; i++) {
    right += x[i];
    if (sums[i] != right) return 1;
  }
  printf("the last of %d sums is %g\n", COUNT, (double)sums[COUNT - 1]);
  return 0;
}
