// The compiler may turn loops and assignments into calls of memcpy and its like. Inside the library these must not
// reach the interposed ones, which record. Included by the build into every source file (-include) but the one that
// interposes them.
#pragma once

#ifndef SOOTH_INTERPOSES_MEMORY_FUNCTIONS
asm(".set memcpy, sooth_rt_memcpy\n"
    ".set memmove, sooth_rt_memmove\n"
    ".set memset, sooth_rt_memset\n"
    ".set memcmp, sooth_rt_memcmp");
#endif
