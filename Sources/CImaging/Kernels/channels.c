#include "CImagingKernels.h"
#include "clones.h"
#include <string.h>

#define FULL (255 << CK_FRACTION)

CK_CLONES void ck_split(const uint8_t *restrict from, uint8_t *const *to, int channels, int width) {
    uint8_t *restrict a = to[0], *restrict b = to[1];
    if (channels == 2) {
        for (int i = 0; i < width; i++) a[i] = from[2 * i], b[i] = from[2 * i + 1];
        return;
    }
    uint8_t *restrict c = to[2];
    if (channels == 3) {
        for (int i = 0; i < width; i++) a[i] = from[3 * i], b[i] = from[3 * i + 1], c[i] = from[3 * i + 2];
        return;
    }
    uint8_t *restrict d = to[3];
    for (int i = 0; i < width; i++) a[i] = from[4 * i], b[i] = from[4 * i + 1], c[i] = from[4 * i + 2], d[i] = from[4 * i + 3];
}

CK_CLONES void ck_join(const uint8_t *const *from, uint8_t *restrict to, int channels, int width) {
    const uint8_t *restrict a = from[0], *restrict b = from[1];
    if (channels == 2) {
        for (int i = 0; i < width; i++) to[2 * i] = a[i], to[2 * i + 1] = b[i];
        return;
    }
    const uint8_t *restrict c = from[2];
    if (channels == 3) {
        for (int i = 0; i < width; i++) to[3 * i] = a[i], to[3 * i + 1] = b[i], to[3 * i + 2] = c[i];
        return;
    }
    const uint8_t *restrict d = from[3];
    for (int i = 0; i < width; i++) to[4 * i] = a[i], to[4 * i + 1] = b[i], to[4 * i + 2] = c[i], to[4 * i + 3] = d[i];
}

// The pixels in one batch, so that their planes stay in the L1 cache.
#define OPENED 256

CK_CLONES static void premultiply(const uint8_t *restrict from, const uint8_t *restrict alpha, int16_t *restrict to, int count) {
    // 16,448 / 65,536 approximates 64 / 255 with sufficient precision.
    for (int i = 0; i < count; i++) to[i] = (int16_t)(((uint32_t)(from[i] * alpha[i]) * 16448u + 32768u) >> 16);
}

CK_CLONES static void widen(const uint8_t *restrict from, int16_t *restrict to, int count) {
    for (int i = 0; i < count; i++) to[i] = (int16_t)(from[i] << CK_FRACTION);
}

static void open_stored(const uint8_t *from, int16_t *const *to, int channels, int has_alpha, int width) {
    uint8_t parts[4][OPENED], *planes[4] = {parts[0], parts[1], parts[2], parts[3]};
    for (int x = 0; x < width; x += OPENED) {
        int count = width - x < OPENED ? width - x : OPENED;
        if (channels > 1) ck_split(from + (size_t)x * channels, planes, channels, count);
        else memcpy(parts[0], from + x, (size_t)count);
        for (int c = 0; c < channels; c++) {
            if (has_alpha && c < channels - 1) premultiply(parts[c], parts[channels - 1], to[c] + x, count);
            else widen(parts[c], to[c] + x, count);
        }
    }
}

void ck_open(const uint8_t *from, int16_t *const *to, int channels, int has_alpha, const ck_light *curve, int width) {
    if (!curve) {
        open_stored(from, to, channels, has_alpha, width);
        return;
    }
    int colors = has_alpha ? channels - 1 : channels;
    for (int c = 0; c < colors; c++)
        for (int i = 0; i < width; i++) to[c][i] = curve[from[(size_t)i * channels + c]].light;
    for (int i = 0; i < width && has_alpha; i++) {
        int alpha = from[(size_t)i * channels + colors];
        to[colors][i] = (int16_t)(alpha << CK_FRACTION);
        // Most pixels are opaque.
        for (int c = 0; c < colors && alpha != 255; c++) to[c][i] = (int16_t)((to[c][i] * alpha + 127) / 255);
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

// Sixteen look-ups, and the arithmetic for all at once.
__attribute__((target("avx2"))) static int open_means_avx2(
    const uint8_t *from, const uint16_t *variances, int16_t *to, const ck_light *curve, int width) {
    const __m256i full = _mm256_set1_epi16(FULL), low = _mm256_set1_epi32(0xFFFF);
    int i = 0;
    for (; i + 16 <= width; i += 16) {
        int32_t values[16];
        for (int j = 0; j < 16; j++) memcpy(&values[j], &curve[from[i + j]], sizeof values[j]);
        __m256i a = _mm256_loadu_si256((const __m256i *)values), b = _mm256_loadu_si256((const __m256i *)(values + 8));
        __m256i light = _mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
        __m256i bend = _mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16));
        light = _mm256_permute4x64_epi64(light, 0xD8);
        bend = _mm256_permute4x64_epi64(bend, 0xD8);
        __m256i more = _mm256_mulhrs_epi16(bend, _mm256_loadu_si256((const __m256i *)(variances + i)));
        _mm256_storeu_si256((__m256i *)(to + i), _mm256_min_epi16(_mm256_adds_epi16(light, more), full));
    }
    return i;
}
#endif

// The mean of a smooth function over samples is about its value at their mean, and half of its second derivative times their variance.
void ck_open_means(const uint8_t *from, const uint16_t *variances, int16_t *to, const ck_light *curve, int width) {
    int i = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) i = open_means_avx2(from, variances, to, curve, width);
#endif
    for (; i < width; i++) {
        ck_light value = curve[from[i]];
        int light = value.light + ((value.bend * variances[i] + (1 << 14)) >> 15);
        to[i] = (int16_t)(light < FULL ? light : FULL);
    }
}

CK_CLONES void ck_halve(const uint8_t *restrict upper, const uint8_t *restrict lower, int16_t *restrict to, int width) {
    for (int i = 0; i < width / 2; i++)
        to[i] = (int16_t)((upper[2 * i] + upper[2 * i + 1] + lower[2 * i] + lower[2 * i + 1]) << (CK_FRACTION - 2));
    if (width & 1) to[width / 2] = (int16_t)((upper[width - 1] + lower[width - 1]) << (CK_FRACTION - 1));
}

CK_CLONES static void clamp(const int16_t *restrict from, int16_t *restrict to, int count) {
    for (int i = 0; i < count; i++) to[i] = from[i] < 0 ? 0 : from[i] > FULL ? FULL : from[i];
}

// The samples of one channel, `step` apart.
static void close_channel(const int16_t *from, uint8_t *to, int step, const uint8_t *curve, int width) {
    int16_t light[OPENED];
    for (int x = 0; x < width; x += OPENED) {
        int count = width - x < OPENED ? width - x : OPENED;
        clamp(from + x, light, count);
        for (int i = 0; i < count; i++, to += step) *to = curve[(uint16_t)light[i]];
    }
}

void ck_close(const int16_t *const *from, uint8_t *to, int channels, int has_alpha, const uint8_t *curve, int width) {
    int colors = has_alpha ? channels - 1 : channels;
    for (int c = 0; c < channels && !has_alpha; c++) close_channel(from[c], to + c, channels, curve, width);
    for (int i = 0; i < width && has_alpha; i++) {
        uint8_t *pixel = to + (size_t)i * channels;
        // Divide by the actual alpha, also beyond its range: colours and alpha overshoot together.
        int alpha = from[colors][i] < 0 ? 0 : from[colors][i];
        int stored = (alpha + (1 << (CK_FRACTION - 1))) >> CK_FRACTION;
        pixel[colors] = (uint8_t)(stored > 255 ? 255 : stored);
        for (int c = 0; c < colors; c++) {
            int value = from[c][i];
            if (alpha == 0) value = 0;
            else if (alpha != FULL) value = (value * FULL + alpha / 2) / alpha;
            pixel[c] = curve[value < 0 ? 0 : value > FULL ? FULL : value];
        }
    }
}
