#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#include "reader.h"
#include <string.h>

#define ROWS cjr_rows_avx2
typedef __m256i vector;

// The value with saturation to 16 bits, times each lane, shifted by 15 bits with rounding.
static inline vector product(int32_t value, const int16_t *lanes) {
    __m128i wide = _mm_cvtsi32_si128(value);
    return _mm256_mulhrs_epi16(_mm256_broadcastw_epi16(_mm_packs_epi32(wide, wide)), _mm256_load_si256((const __m256i *)lanes));
}

static inline vector sum(vector a, vector b) { return _mm256_adds_epi16(a, b); }

// Rounds sums to samples from 0 to 255.
static inline vector rounded(vector samples) {
    samples = _mm256_adds_epi16(samples, _mm256_set1_epi16(1 << (CJR_SAMPLE_BITS - 1)));
    return _mm256_add_epi16(_mm256_srai_epi16(samples, CJR_SAMPLE_BITS), _mm256_set1_epi16(128));
}

static inline __attribute__((always_inline)) void narrow(const vector *samples, int count, uint8_t *bytes) {
    for (int i = 0; i < count; i++) {
        vector all = rounded(samples[i]);
        __m128i narrowed = _mm_packus_epi16(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
        _mm_storeu_si128((__m128i *)(bytes + i * CJR_LANES), narrowed);
    }
}

#include "row.h"

static inline int set_bit(uint64_t bits, int skip) { return (int)_tzcnt_u64(_pdep_u64(1ull << skip, bits)); }

#define SCAN_ROWS cjr_scan_rows_avx2
#include "scan.h"
#pragma clang attribute pop
#endif
