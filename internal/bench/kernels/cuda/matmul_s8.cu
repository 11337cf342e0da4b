#include "shim.h"
#include "mma.h"
MATMUL(matmul_s8, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", int, "r", 1)
