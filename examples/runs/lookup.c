/* Looks values up in a table from C. */
#include <stdio.h>

#include "lookup.h"

enum { COUNT = 1000, TABLE = 61 };
static int32_t index_of[COUNT];
static float value[COUNT], table[TABLE];

int main(void) {
  for (int i = 0; i < TABLE; i++) table[i] = (float)(i * i);
  for (int i = 0; i < COUNT; i++) index_of[i] = i * 7 % TABLE;
  struct rake_stack_Samples_v2 samples = {COUNT, index_of, value};
  look_up(&samples, table, TABLE, 0.5f);
  for (int i = 0; i < COUNT; i++) {
    int at = i * 7 % TABLE;
    if (value[i] != (float)(at * at) / 2) return 1;
  }
  printf("%d values were found\n", COUNT);
  return 0;
}
