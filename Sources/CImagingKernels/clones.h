// Compiles a plain loop twice and lets the loader choose; once under ThreadSanitizer, whose runtime is not there yet when it does.
#pragma once
#if defined(__x86_64__) && defined(__linux__) && !__has_feature(thread_sanitizer)
#define CK_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CK_CLONES
#endif
