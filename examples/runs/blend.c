/* Blends all pairs of channels under all alphas from C, and compares with the rounded quotient. */
#include <stdio.h>
#include <stdlib.h>

#include "blend.h"

int main(void) {
  int64_t count = 256 * 256;
  uint8_t *data = malloc((size_t)count * 8), *column[8];
  if (!data) return 1;
  for (int i = 0; i < 8; i++) column[i] = data + i * count;
  struct rake_stack_Pixels_v2 under = {count, column[0], column[1], column[2], column[3]};
  struct rake_stack_Pixels_v2 over = {count, column[4], column[5], column[6], column[7]};
  for (int alpha = 0; alpha < 256; alpha += 15) {
    for (int64_t i = 0; i < count; i++) {
      under.red[i] = under.green[i] = under.blue[i] = (uint8_t)i;
      over.red[i] = over.green[i] = over.blue[i] = (uint8_t)(i >> 8);
      over.alpha[i] = (uint8_t)alpha;
      under.alpha[i] = 7;
    }
    blend(&under, &over);
    for (int64_t i = 0; i < count; i++) {
      int64_t sum = (i >> 8) * alpha + (i & 255) * (255 - alpha);
      uint8_t right = (uint8_t)((sum + 127) / 255);
      if (under.red[i] != right || under.blue[i] != right || under.alpha[i] != 7) return 1;
    }
  }
  printf("%d blends of %ld pixels are exact\n", 18, (long)count);
  free(data);
  return 0;
}
