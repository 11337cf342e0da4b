/* What this header has is in texture_types.h. */
#include "texture_types.h"
