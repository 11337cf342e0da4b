#include "shim.h"
#include "mma.h"
MATMUL(matmul_bf16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", float, "f", 2)
