/* What this header has is in surface_types.h. */
#include "surface_types.h"
