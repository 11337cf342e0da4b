/* What this header has is in nvtx3/nvToolsExt.h. */
#include "nvtx3/nvToolsExt.h"
