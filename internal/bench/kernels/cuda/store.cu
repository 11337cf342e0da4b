#include "shim.h"
KERNEL store(u32 *out, u32 v) {
  if (tid_x == 0) out[bid_x] = v + bid_x;
}
