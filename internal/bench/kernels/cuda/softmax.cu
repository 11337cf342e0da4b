#include "shim.h"
#include "rows.h"
/* A row of 1,024 a block. */
KERNEL softmax(float *__restrict__ out, const float *__restrict__ in) {
  u64 row = (u64)bid_x * 1024 + tid_x;
  float x[4], m, s = 0;
  for (int i = 0; i < 4; i++) x[i] = in[row + i * 256];
  m = over_block(__nvvm_fmax_f(__nvvm_fmax_f(x[0], x[1]), __nvvm_fmax_f(x[2], x[3])), Max());
  for (int i = 0; i < 4; i++) s += x[i] = expf_(x[i] - m);
  s = 1.0f / over_block(s, Add());
  for (int i = 0; i < 4; i++) out[row + i * 256] = x[i] * s;
}
