#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#include "reader.h"
#include <string.h>

#define ROWS cjr_rows_avx2
// All planes of corners of up to five coefficients: 55 lanes.
#define PAIRED 4
typedef __m256i vector;
#include "sharing.h"

static inline vector share(int16_t value, const int16_t *lanes) {
    return _mm256_mulhrs_epi16(_mm256_set1_epi16(value), _mm256_load_si256((const __m256i *)lanes));
}

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

static inline __attribute__((always_inline)) void share_out(
    const vector *samples, const vector *means, int vectors, int count, int variance, uint16_t *shares) {
    vector mean = _mm256_broadcastw_epi16(_mm256_castsi256_si128(means[0]));
    vector darkness = _mm256_subs_epi16(_mm256_set1_epi16(CJR_WHITE), mean);
    darkness = _mm256_min_epi16(_mm256_max_epi16(darkness, _mm256_setzero_si256()), _mm256_set1_epi16(2 * CJR_WHITE));
    vector weights[CJR_SHARED], total = _mm256_setzero_si256();
    for (int i = 0; i < vectors; i++) {
        vector distance = _mm256_subs_epi16(samples[i], means[i]);
        distance = _mm256_max_epi16(_mm256_adds_epi16(distance, distance), _mm256_set1_epi16(-INT16_MAX));
        vector square = _mm256_mulhrs_epi16(distance, distance);
        weights[i] = _mm256_add_epi16(square, _mm256_sign_epi16(_mm256_mulhrs_epi16(square, darkness), distance));
        total = _mm256_add_epi32(total, _mm256_madd_epi16(square, _mm256_set1_epi16(1)));
    }
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(total), _mm256_extracti128_si256(total, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    int sum = _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 1))), even = even_weight(sum, count);
    __m256 unit = _mm256_set1_ps(share_of_weight(variance, sum, even, count));
    for (int i = 0; i < vectors; i++) {
        vector weight = _mm256_add_epi16(weights[i], _mm256_set1_epi16((int16_t)even));
        vector low = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(weight));
        vector high = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(weight, 1));
        low = _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(low), unit));
        high = _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(high), unit));
        vector all = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xD8);
        _mm256_storeu_si256((vector *)shares + i, _mm256_min_epi16(all, _mm256_set1_epi16(CJR_VARIANCE)));
    }
}

#include "row.h"

static inline uint64_t in_turn(uint64_t zeros) { return zeros; }

// Nothing is removed, because those that are left are counted.
static inline int pass(const uint64_t *turn, int steps, int left) {
    (void)steps;
    return (int)_lzcnt_u64(_pdep_u64(1ull << left, *turn));
}

static inline uint64_t deposit(uint64_t values, uint64_t bits, uint64_t wanted) {
    (void)wanted;
    return _pdep_u64(values, bits);
}

// The lowest bits as lanes of ones.
static inline __m128i as_lanes(uint64_t bits) {
    const __m128i each = _mm_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm_cmpeq_epi16(_mm_and_si128(_mm_set1_epi16((short)bits), each), each);
}

static inline void change(
    int16_t *values, int places, uint64_t mask, uint64_t corrected, uint64_t added, uint64_t negative, int16_t step) {
    const __m128i steps = _mm_set1_epi16(step);
    corrected = _pext_u64(corrected, mask);
    added = _pext_u64(added, mask);
    negative = _pext_u64(negative, mask);
    for (int i = 0; i * CJR_GROUP < places; i++, corrected >>= CJR_GROUP, added >>= CJR_GROUP, negative >>= CJR_GROUP) {
        __m128i *at = (__m128i *)values + i, old = _mm_loadu_si128(at), minus = as_lanes(negative);
        __m128i away = _mm_sign_epi16(_mm_and_si128(as_lanes(corrected), steps), old);
        __m128i new = _mm_sub_epi16(_mm_xor_si128(_mm_and_si128(as_lanes(added), steps), minus), minus);
        _mm_storeu_si128(at, _mm_add_epi16(_mm_add_epi16(old, away), new));
    }
}

#define SCAN_ROWS cjr_scan_rows_avx2
#include "scan.h"
#pragma clang attribute pop
#endif
