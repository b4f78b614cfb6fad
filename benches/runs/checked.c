/* The peers' interface to gather_checked: like gather_table, which no peer checks. */
#include <stdint.h>

#include "gather.h"

void rake_gather_table(int64_t n, const int32_t *restrict index, const float *restrict table,
                       float *restrict out) {
  struct rake_stack_Out_v2 o = {n, out};
  struct rake_stack_Index_v2 s = {n, (int32_t *)index};
  gather_checked(&o, &s, table, 1024);
}
