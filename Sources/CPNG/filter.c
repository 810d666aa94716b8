#include "filter.h"

#include <string.h>

// Written for vectorisation by the compiler. Compiled twice, and the loader chooses; once under ThreadSanitizer, whose runtime is not
// ready at that time.
#if defined(__x86_64__) && defined(__linux__) && !__has_feature(thread_sanitizer)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

// The sum of absolute values, of which none counts for more than 16: a code for a large one is hardly longer than for a larger one.
CLONES static uint32_t weight(const uint8_t *restrict row, size_t size) {
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        uint8_t negative = (uint8_t)-row[i];
        uint8_t value = row[i] < negative ? row[i] : negative;
        sum += value < 16 ? value : 16;
    }
    return sum;
}

CLONES static void subtract(const uint8_t *restrict row, const uint8_t *restrict other, size_t size, uint8_t *restrict out) {
    for (size_t i = 0; i < size; i++) out[i] = row[i] - other[i];
}

CLONES static void average(
    const uint8_t *restrict row, const uint8_t *restrict left, const uint8_t *restrict above, size_t size, uint8_t *restrict out) {
    for (size_t i = 0; i < size; i++) out[i] = row[i] - (uint8_t)(((uint16_t)left[i] + above[i]) >> 1);
}

CLONES static void paeth(
    const uint8_t *restrict row, const uint8_t *restrict left, const uint8_t *restrict above, const uint8_t *restrict corner,
    size_t size, uint8_t *restrict out) {
    for (size_t i = 0; i < size; i++) {
        int16_t a = left[i], b = above[i], c = corner[i];
        int16_t from_a = b - c, from_b = a - c, from_c = from_a + from_b;
        from_a = from_a < 0 ? -from_a : from_a;
        from_b = from_b < 0 ? -from_b : from_b;
        from_c = from_c < 0 ? -from_c : from_c;
        int16_t best = from_b <= from_c ? b : c;
        int16_t nearest = from_b <= from_c ? from_b : from_c;
        best = from_a <= nearest ? a : best;
        out[i] = row[i] - (uint8_t)best;
    }
}

void filter_by_left(const uint8_t *row, size_t size, int pixel, uint8_t *out) {
    out[0] = 1;
    subtract(row, row - pixel, size, out + 1);
}

void filter_adaptively(const uint8_t *row, const uint8_t *above, size_t size, int pixel, uint8_t *out, uint8_t *trial) {
    uint32_t best = weight(row, size);
    out[0] = 0;
    memcpy(out + 1, row, size);
    for (int filter = 1; filter <= 4; filter++) {
        switch (filter) {
        case 1: subtract(row, row - pixel, size, trial); break;
        case 2: subtract(row, above, size, trial); break;
        case 3: average(row, row - pixel, above, size, trial); break;
        default: paeth(row, row - pixel, above, above - pixel, size, trial); break;
        }
        uint32_t sum = weight(trial, size);
        if (sum >= best) continue;
        best = sum;
        out[0] = (uint8_t)filter;
        memcpy(out + 1, trial, size);
    }
}
