// Compiles a plain loop twice and lets the loader choose.
#pragma once
#if defined(__x86_64__) && defined(__linux__)
#define CK_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CK_CLONES
#endif
