#include "CImagingKernels.h"
#include "clones.h"

CK_CLONES void ck_cells(
    const uint8_t *a, size_t a_stride, const uint8_t *b, size_t b_stride, ck_cell *restrict to, int count) {
    for (int i = 0; i < count; i++) {
        uint32_t sum_a = 0, sum_b = 0, squares = 0, products = 0;
        for (int y = 0; y < 4; y++) {
            for (int x = 0; x < 4; x++) {
                uint32_t p = a[(size_t)y * a_stride + 4 * (size_t)i + (size_t)x];
                uint32_t q = b[(size_t)y * b_stride + 4 * (size_t)i + (size_t)x];
                sum_a += p;
                sum_b += q;
                squares += p * p + q * q;
                products += p * q;
            }
        }
        to[i] = (ck_cell){sum_a, sum_b, squares, products};
    }
}

// SSIM's constants for 8 bits, (0.01 * 255)^2 and (0.03 * 255)^2, times the squared number of samples.
#define SAMPLES 64
#define MEANS 26634
#define DEVIATIONS 239708

// The products stay below 2^62, because a sum is at most 64 * 255, and the total of a row of 262,144 samples below 2^64.
uint64_t ck_dissimilarity(const ck_cell *upper, const ck_cell *lower, int count) {
    uint64_t total = 0;
    for (int i = 0; i < count; i++) {
        const ck_cell *c[4] = {upper + i, upper + i + 1, lower + i, lower + i + 1};
        int64_t a = 0, b = 0, squares = 0, products = 0;
        for (int k = 0; k < 4; k++) {
            a += c[k]->a;
            b += c[k]->b;
            squares += c[k]->squares;
            products += c[k]->products;
        }
        int64_t similarity = (2 * a * b + MEANS) * (2 * (SAMPLES * products - a * b) + DEVIATIONS);
        int64_t most = (a * a + b * b + MEANS) * (SAMPLES * squares - a * a - b * b + DEVIATIONS);
        int64_t difference = (most - similarity) / (most >> 16);
        uint64_t clamped = difference < 0 ? 0 : difference > 65535 ? 65535 : (uint64_t)difference;
        uint64_t square = clamped * clamped >> 8;
        total += square * square;
    }
    return total;
}
