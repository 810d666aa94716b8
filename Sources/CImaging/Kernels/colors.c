#include "CImagingKernels.h"
#include "clones.h"

static inline uint8_t clamped(int value) { return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value); }

// Factors of ITU-T T.871 section 7, times 65,536.
CK_CLONES void ck_rgb_from_ycbcr(
    const uint8_t *restrict y, const uint8_t *restrict cb, const uint8_t *restrict cr, uint8_t *restrict to, int width) {
    for (int i = 0; i < width; i++) {
        int luma = (y[i] << 16) + 32768, blue = cb[i] - 128, red = cr[i] - 128;
        to[3 * i] = clamped((luma + 91881 * red) >> 16);
        to[3 * i + 1] = clamped((luma - 22554 * blue - 46802 * red) >> 16);
        to[3 * i + 2] = clamped((luma + 116130 * blue) >> 16);
    }
}

CK_CLONES void ck_ycbcr_from_rgb(
    const uint8_t *restrict from, uint8_t *restrict y, uint8_t *restrict cb, uint8_t *restrict cr, int width) {
    for (int i = 0; i < width; i++) {
        int r = from[3 * i], g = from[3 * i + 1], b = from[3 * i + 2];
        y[i] = clamped((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
        cb[i] = clamped((-11059 * r - 21709 * g + 32768 * b + (128 << 16) + 32767) >> 16);
        cr[i] = clamped((32768 * r - 27439 * g - 5329 * b + (128 << 16) + 32767) >> 16);
    }
}

CK_CLONES void ck_rgb_from_cmyk(const uint8_t *restrict from, uint8_t *restrict to, int width) {
    for (int i = 0; i < width; i++) {
        int light = 255 - from[4 * i + 3];
        for (int c = 0; c < 3; c++) {
            int product = (255 - from[4 * i + c]) * light + 128;
            to[3 * i + c] = (uint8_t)((product + (product >> 8)) >> 8);
        }
    }
}
