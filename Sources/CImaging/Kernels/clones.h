// Compiles a plain loop twice and lets the loader choose. Compiles it once under ThreadSanitizer, whose runtime is not ready at
// that time.
#pragma once
#if defined(__x86_64__) && defined(__linux__) && !__has_feature(thread_sanitizer)
#define CK_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CK_CLONES
#endif
