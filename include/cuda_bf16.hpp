/* What this header has is in cuda_bf16.h. */
#include "cuda_bf16.h"
