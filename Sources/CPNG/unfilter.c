#include "reader.h"

#include <string.h>

// PNG (W3C, third edition) §9: filters. A pixel depends on the previous one, so what counts is how long that takes. Pixels are compiler
// vectors with one lane per byte: of 4 bytes, or of 8 for pixels of 6 and 8.

typedef uint8_t bytes4 __attribute__((vector_size(4)));
typedef uint8_t bytes8 __attribute__((vector_size(8)));
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint16_t wide4 __attribute__((vector_size(8)));
typedef uint16_t wide8 __attribute__((vector_size(16)));
typedef int16_t lanes4 __attribute__((vector_size(8)));
typedef int16_t lanes8 __attribute__((vector_size(16)));

#define INLINE static inline __attribute__((always_inline))

// Pixels of 3 and 6 bytes are written with what follows, which the next pixel overwrites: one store instead of two.
INLINE size_t stored(int step) { return step == 3 ? 4 : step == 6 ? 8 : (size_t)step; }

// The filters for one size of vectors. `step` is the bytes of a pixel. Vectors may reach beyond a row: see CPNG.h.
#define FILTERS(bytes, wide, lanes, interleaved)                                                                               \
    INLINE bytes load_##bytes(const uint8_t *from) {                                                                           \
        bytes pixel;                                                                                                           \
        memcpy(&pixel, from, sizeof pixel);                                                                                    \
        return pixel;                                                                                                          \
    }                                                                                                                          \
                                                                                                                               \
    INLINE void sub_##bytes(const uint8_t *from, uint8_t *to, size_t size, int step) {                                         \
        bytes left = {0};                                                                                                      \
        for (size_t i = 0; i < size; i += step) {                                                                              \
            left += load_##bytes(from + i);                                                                                    \
            memcpy(to + i, &left, stored(step));                                                                                      \
        }                                                                                                                      \
    }                                                                                                                          \
                                                                                                                               \
    /* Processors have a mean that is rounded up. For ~x it is ~ of the mean that is rounded down: two steps for a pixel. */   \
    INLINE void average_##bytes(const uint8_t *from, const uint8_t *above, uint8_t *to, size_t size, int step) {               \
        bytes inverse = ~(bytes){0};                                                                                           \
        for (size_t i = 0; i < size; i += step) {                                                                              \
            wide sum = __builtin_convertvector(inverse, wide) + __builtin_convertvector(~load_##bytes(above + i), wide) + 1;   \
            inverse = __builtin_convertvector(sum >> 1, bytes) - load_##bytes(from + i);                                       \
            bytes pixel = ~inverse;                                                                                            \
            memcpy(to + i, &pixel, stored(step));                                                                                      \
        }                                                                                                                      \
    }                                                                                                                          \
                                                                                                                               \
    /* The same choice as in the specification: of the lower and the higher one of left and above, the one that is nearer to   \
       left + above - corner, or the corner, if it lies between them and is nearest. */                                        \
    INLINE void paeth_##bytes(const uint8_t *from, const uint8_t *above, uint8_t *to, size_t size, int step) {                 \
        lanes left = {0}, corner = {0};                                                                                        \
        for (size_t i = 0; i < size; i += step) {                                                                              \
            lanes up = __builtin_convertvector(load_##bytes(above + i), lanes);                                                \
            lanes row = __builtin_convertvector(load_##bytes(from + i), lanes);                                                \
            lanes limit = corner * 3 - up - left;                                                                              \
            lanes low = __builtin_elementwise_min(left, up), high = __builtin_elementwise_max(left, up);                       \
            lanes is_low = high <= limit, is_high = limit <= low;                                                              \
            lanes nearest = (is_low & low) | (~is_low & corner);                                                               \
            nearest = (is_high & high) | (~is_high & nearest);                                                                 \
            left = (lanes)((interleaved)nearest + (interleaved)row);                                                           \
            corner = up;                                                                                                       \
            bytes pixel = __builtin_convertvector(left, bytes);                                                                \
            memcpy(to + i, &pixel, stored(step));                                                                                      \
        }                                                                                                                      \
    }

FILTERS(bytes4, wide4, lanes4, bytes8)
FILTERS(bytes8, wide8, lanes8, bytes16)

static void up(const uint8_t *restrict from, const uint8_t *restrict above, uint8_t *restrict to, size_t size) {
    for (size_t i = 0; i < size; i++) to[i] = from[i] + above[i];
}

INLINE void unfilter(int filter, const uint8_t *from, const uint8_t *above, uint8_t *to, size_t size, int step) {
    if (step <= 4) {
        if (filter == 1) return sub_bytes4(from, to, size, step);
        return filter == 3 ? average_bytes4(from, above, to, size, step) : paeth_bytes4(from, above, to, size, step);
    }
    if (filter == 1) return sub_bytes8(from, to, size, step);
    return filter == 3 ? average_bytes8(from, above, to, size, step) : paeth_bytes8(from, above, to, size, step);
}

INLINE void unfilter_any(int filter, const uint8_t *from, const uint8_t *above, uint8_t *to, size_t size, int step) {
    switch (step) {
    case 1: return unfilter(filter, from, above, to, size, 1);
    case 2: return unfilter(filter, from, above, to, size, 2);
    case 3: return unfilter(filter, from, above, to, size, 3);
    case 4: return unfilter(filter, from, above, to, size, 4);
    case 6: return unfilter(filter, from, above, to, size, 6);
    default: return unfilter(filter, from, above, to, size, 8);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void unfilter_avx2(
    int filter, const uint8_t *from, const uint8_t *above, uint8_t *to, size_t size, int step) {
    unfilter_any(filter, from, above, to, size, step);
}
#endif

void cpng_unfilter(int filter, const uint8_t *from, const uint8_t *above, uint8_t *to, size_t size, int step) {
    if (filter == 0) {
        memcpy(to, from, size);
        return;
    }
    if (filter == 2) return up(from, above, to, size);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return unfilter_avx2(filter, from, above, to, size, step);
#endif
    unfilter_any(filter, from, above, to, size, step);
}

void cpng_expand(const cpng_reader *reader, const uint8_t *indices, size_t width, uint8_t *pixels, int channels) {
    if (channels == 4)
        for (size_t x = 0; x < width; x++) memcpy(pixels + 4 * x, &reader->palette[indices[x]], 4);
    else
        for (size_t x = 0; x < width; x++) memcpy(pixels + 3 * x, &reader->palette[indices[x]], 4);
}
