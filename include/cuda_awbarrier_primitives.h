/* The barrier primitives are declared with the pipeline's. */
#include "cuda_pipeline_primitives.h"
