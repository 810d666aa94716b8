#include "CImagingKernels.h"
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

// Sixteen samples of two rows at a time, interleaved, so that one instruction multiplies and adds both.
__attribute__((target("avx2"), always_inline)) static inline void sum16(
    const int16_t *const *rows, const int16_t *weights, int taps, int x, __m256i *low, __m256i *high) {
    __m256i a = _mm256_setzero_si256(), b = a;
    for (int t = 0; t < taps; t += 2) {
        int32_t pair;
        memcpy(&pair, weights + t, sizeof pair);
        __m256i w = _mm256_set1_epi32(pair);
        __m256i upper = _mm256_loadu_si256((const __m256i *)(rows[t] + x));
        __m256i lower = _mm256_loadu_si256((const __m256i *)(rows[t + 1] + x));
        a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_unpacklo_epi16(upper, lower), w));
        b = _mm256_add_epi32(b, _mm256_madd_epi16(_mm256_unpackhi_epi16(upper, lower), w));
    }
    *low = a;
    *high = b;
}

// The place of the next sixteen samples: the last ones may be made twice.
static int next16(int x, int width) { return x + 16 < width && x + 32 > width ? width - 16 : x + 16; }

__attribute__((target("avx2"))) static void down_u8_avx2(
    const int16_t *const *rows, const int16_t *weights, int taps, uint8_t *to, int width) {
    const __m256i half = _mm256_set1_epi32(1 << (CK_WEIGHT_BITS + CK_FRACTION - 1));
    for (int x = 0; x < width; x = next16(x, width)) {
        __m256i a, b;
        sum16(rows, weights, taps, x, &a, &b);
        a = _mm256_srai_epi32(_mm256_add_epi32(a, half), CK_WEIGHT_BITS + CK_FRACTION);
        b = _mm256_srai_epi32(_mm256_add_epi32(b, half), CK_WEIGHT_BITS + CK_FRACTION);
        __m256i words = _mm256_packs_epi32(a, b);
        __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        _mm_storeu_si128((__m128i *)(to + x), bytes);
    }
}

__attribute__((target("avx2"))) static void down_i16_avx2(
    const int16_t *const *rows, const int16_t *weights, int taps, int16_t *to, int width) {
    const __m256i half = _mm256_set1_epi32(1 << (CK_WEIGHT_BITS - 1));
    for (int x = 0; x < width; x = next16(x, width)) {
        __m256i a, b;
        sum16(rows, weights, taps, x, &a, &b);
        a = _mm256_srai_epi32(_mm256_add_epi32(a, half), CK_WEIGHT_BITS);
        b = _mm256_srai_epi32(_mm256_add_epi32(b, half), CK_WEIGHT_BITS);
        _mm256_storeu_si256((__m256i *)(to + x), _mm256_packs_epi32(a, b));
    }
}
#endif

// In blocks, row by row within a block: a loop that compilers vectorise on any machine.
#define BLOCK 64

static void sum_block(const int16_t *const *rows, const int16_t *weights, int taps, int x, int count, int32_t *sums) {
    for (int i = 0; i < count; i++) sums[i] = 0;
    for (int t = 0; t < taps; t++) {
        const int16_t *row = rows[t] + x;
        int32_t w = weights[t];
        for (int i = 0; i < count; i++) sums[i] += w * row[i];
    }
}

void ck_down_u8(const int16_t *const *rows, const int16_t *weights, int taps, uint8_t *to, int width) {
    int32_t sums[BLOCK];
#if defined(__x86_64__)
    if (width >= 16 && __builtin_cpu_supports("avx2")) {
        down_u8_avx2(rows, weights, taps, to, width);
        return;
    }
#endif
    for (int x = 0; x < width; x += BLOCK) {
        int count = width - x < BLOCK ? width - x : BLOCK;
        sum_block(rows, weights, taps, x, count, sums);
        for (int i = 0; i < count; i++) {
            int32_t value = (sums[i] + (1 << (CK_WEIGHT_BITS + CK_FRACTION - 1))) >> (CK_WEIGHT_BITS + CK_FRACTION);
            to[x + i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
    }
}

void ck_down_i16(const int16_t *const *rows, const int16_t *weights, int taps, int16_t *to, int width) {
    int32_t sums[BLOCK];
#if defined(__x86_64__)
    if (width >= 16 && __builtin_cpu_supports("avx2")) {
        down_i16_avx2(rows, weights, taps, to, width);
        return;
    }
#endif
    for (int x = 0; x < width; x += BLOCK) {
        int count = width - x < BLOCK ? width - x : BLOCK;
        sum_block(rows, weights, taps, x, count, sums);
        for (int i = 0; i < count; i++) {
            int32_t value = (sums[i] + (1 << (CK_WEIGHT_BITS - 1))) >> CK_WEIGHT_BITS;
            to[x + i] = (int16_t)(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
        }
    }
}

void ck_add(const int16_t *restrict row, int32_t *restrict sums, int width) {
    for (int i = 0; i < width; i++) sums[i] += row[i];
}

void ck_average(int32_t *restrict sums, int16_t *restrict to, int count, int width) {
    for (int i = 0; i < width; i++) {
        to[i] = (int16_t)((sums[i] + (sums[i] < 0 ? -count / 2 : count / 2)) / count);
        sums[i] = 0;
    }
}
