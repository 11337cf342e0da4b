#include "crt/host_config.h"
