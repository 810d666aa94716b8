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

void ck_open(const uint8_t *from, int16_t *const *to, int channels, int has_alpha, const int16_t *curve, int width) {
    if (!curve) {
        open_stored(from, to, channels, has_alpha, width);
        return;
    }
    int colors = has_alpha ? channels - 1 : channels;
    for (int i = 0; i < width; i++) {
        const uint8_t *pixel = from + (size_t)i * channels;
        int alpha = has_alpha ? pixel[colors] : 255;
        for (int c = 0; c < colors; c++) to[c][i] = (int16_t)((curve[pixel[c]] * alpha + 127) / 255);
        if (has_alpha) to[colors][i] = (int16_t)(alpha << CK_FRACTION);
    }
}

CK_CLONES void ck_halve(const uint8_t *restrict upper, const uint8_t *restrict lower, int16_t *restrict to, int width) {
    for (int i = 0; i < width / 2; i++)
        to[i] = (int16_t)((upper[2 * i] + upper[2 * i + 1] + lower[2 * i] + lower[2 * i + 1]) << (CK_FRACTION - 2));
    if (width & 1) to[width / 2] = (int16_t)((upper[width - 1] + lower[width - 1]) << (CK_FRACTION - 1));
}

void ck_close(const int16_t *const *from, uint8_t *to, int channels, int has_alpha, const uint8_t *curve, int width) {
    int colors = has_alpha ? channels - 1 : channels;
    for (int i = 0; i < width; i++) {
        uint8_t *pixel = to + (size_t)i * channels;
        int alpha = FULL;
        if (has_alpha) {
            // Divide by the actual alpha, also beyond its range: colours and alpha overshoot together.
            alpha = from[colors][i] < 0 ? 0 : from[colors][i];
            int stored = (alpha + (1 << (CK_FRACTION - 1))) >> CK_FRACTION;
            pixel[colors] = (uint8_t)(stored > 255 ? 255 : stored);
        }
        for (int c = 0; c < colors; c++) {
            int value = from[c][i];
            if (alpha == 0) value = 0;
            else if (alpha != FULL) value = (value * FULL + alpha / 2) / alpha;
            pixel[c] = curve[value < 0 ? 0 : value > FULL ? FULL : value];
        }
    }
}
