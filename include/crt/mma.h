/* What this header has is in mma.h. */
#include "../mma.h"
