#include "shim.h"
#include "mma.h"
MATMUL(matmul_f16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", float, "f", 2)
