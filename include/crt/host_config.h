/* nvcc checks the host compiler here; clang compiles both sides, so there is nothing to check. */
#ifndef __HOST_CONFIG_H__
#define __HOST_CONFIG_H__
#endif
