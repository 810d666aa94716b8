#include "reader.h"

#include <string.h>

// PNG (W3C, third edition) §9: filters. Pixels of 3 and 4 bytes are processed as compiler vectors with one lane per channel. Each
// pixel depends on the previous one, so pixels cannot be processed in parallel.

typedef uint8_t bytes4 __attribute__((vector_size(4)));
typedef int16_t lanes __attribute__((vector_size(8)));

static inline bytes4 load(const uint8_t *from) {
    bytes4 pixel;
    memcpy(&pixel, from, 4);
    return pixel;
}

// Writes 4 bytes. For pixels of 3 bytes, the last one is written back unchanged.
static inline void store(uint8_t *to, bytes4 pixel, int size) { memcpy(to, &pixel, size); }

static inline lanes widen(bytes4 pixel) { return __builtin_convertvector(pixel, lanes); }
static inline bytes4 narrow(lanes values) { return __builtin_convertvector(values, bytes4); }

static void up(uint8_t *restrict row, const uint8_t *restrict above, size_t size) {
    for (size_t i = 0; i < size; i++) row[i] += above[i];
}

static inline __attribute__((always_inline)) void sub_pixels(uint8_t *row, size_t size, int pixel) {
    bytes4 left = {0};
    for (size_t i = 0; i < size; i += pixel) {
        left += load(row + i);
        store(row + i, left, pixel);
    }
}

static inline __attribute__((always_inline)) void average_pixels(uint8_t *row, const uint8_t *above, size_t size, int pixel) {
    lanes left = {0};
    for (size_t i = 0; i < size; i += pixel) {
        lanes sum = left + widen(load(above + i));
        left = (widen(load(row + i)) + (sum >> 1)) & 255;
        store(row + i, narrow(left), pixel);
    }
}

static inline __attribute__((always_inline)) void paeth_pixels(uint8_t *row, const uint8_t *above, size_t size, int pixel) {
    lanes a = {0}, c = {0};
    for (size_t i = 0; i < size; i += pixel) {
        lanes b = widen(load(above + i));
        lanes from_a = b - c, from_b = a - c, from_c = from_a + from_b;
        from_a = __builtin_elementwise_abs(from_a);
        from_b = __builtin_elementwise_abs(from_b);
        from_c = __builtin_elementwise_abs(from_c);
        lanes nearest = __builtin_elementwise_min(from_c, __builtin_elementwise_min(from_a, from_b));
        lanes takes_a = nearest == from_a, takes_b = nearest == from_b;
        lanes predicted = (takes_a & a) | (~takes_a & ((takes_b & b) | (~takes_b & c)));
        a = (widen(load(row + i)) + predicted) & 255;
        c = b;
        store(row + i, narrow(a), pixel);
    }
}

static uint8_t paeth(int a, int b, int c) {
    int from_a = b - c, from_b = a - c, from_c = from_a + from_b;
    from_a = from_a < 0 ? -from_a : from_a;
    from_b = from_b < 0 ? -from_b : from_b;
    from_c = from_c < 0 ? -from_c : from_c;
    return from_a <= from_b && from_a <= from_c ? a : from_b <= from_c ? b : c;
}

static void unfilter_bytes(int filter, uint8_t *row, const uint8_t *above, size_t size, int pixel) {
    for (size_t i = 0; i < size; i++) {
        bool first = i < (size_t)pixel;
        int a = first ? 0 : row[i - pixel], b = above != NULL ? above[i] : 0, c = first || above == NULL ? 0 : above[i - pixel];
        row[i] += filter == 1 ? a : filter == 2 ? b : filter == 3 ? (a + b) / 2 : paeth(a, b, c);
    }
}

void cpng_unfilter(int filter, uint8_t *row, const uint8_t *above, size_t size, int pixel) {
    if (filter == 0) return;
    if (above == NULL && (filter == 2 || filter == 4)) {
        // Above the first row all values are 0: Up adds nothing, and Paeth equals Sub.
        if (filter == 2) return;
        filter = 1;
    }
    if (filter == 2) {
        up(row, above, size);
    } else if (pixel < 3 || (filter == 3 && above == NULL)) {
        unfilter_bytes(filter, row, above, size, pixel);
    } else if (filter == 1) {
        pixel == 3 ? sub_pixels(row, size, 3) : sub_pixels(row, size, 4);
    } else if (filter == 3) {
        pixel == 3 ? average_pixels(row, above, size, 3) : average_pixels(row, above, size, 4);
    } else {
        pixel == 3 ? paeth_pixels(row, above, size, 3) : paeth_pixels(row, above, size, 4);
    }
}

void cpng_expand(const cpng_reader *reader, const uint8_t *indices, size_t width, uint8_t *pixels, int channels) {
    if (channels == 4)
        for (size_t x = 0; x < width; x++) memcpy(pixels + 4 * x, &reader->palette[indices[x]], 4);
    else
        for (size_t x = 0; x < width; x++) memcpy(pixels + 3 * x, &reader->palette[indices[x]], 4);
}
