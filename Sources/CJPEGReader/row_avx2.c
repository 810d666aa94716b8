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

static inline void store(vector samples, uint8_t *rows, size_t stride, int corner) {
    samples = _mm256_adds_epi16(samples, _mm256_set1_epi16(1 << (CJR_SAMPLE_BITS - 1)));
    samples = _mm256_add_epi16(_mm256_srai_epi16(samples, CJR_SAMPLE_BITS), _mm256_set1_epi16(128));
    __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(samples), _mm256_extracti128_si256(samples, 1));
    uint32_t first = (uint32_t)_mm_cvtsi128_si32(bytes);
    if (corner == 1) {
        rows[0] = (uint8_t)first;
        return;
    }
    uint32_t second = (uint32_t)_mm_extract_epi32(bytes, 1);
    memcpy(rows, &first, 4);
    memcpy(rows + stride, &second, 4);
    if (corner == 2) return;
    uint32_t third = (uint32_t)_mm_extract_epi32(bytes, 2), fourth = (uint32_t)_mm_extract_epi32(bytes, 3);
    memcpy(rows + 2 * stride, &third, 4);
    if (corner == 4) memcpy(rows + 3 * stride, &fourth, 4);
}

#include "row.h"

static inline int set_bit(uint64_t bits, int skip) { return (int)_tzcnt_u64(_pdep_u64(1ull << skip, bits)); }

#define SCAN_ROWS cjr_scan_rows_avx2
#include "scan.h"
#pragma clang attribute pop
#endif
