#include "rows.h"

#define INLINE static inline __attribute__((always_inline))

bool samples_are_plain(const row_samples *samples) {
    return samples->depth == 8 && (samples->color_type == CPNG_PALETTE || !samples->has_key);
}

static int delivered(const row_samples *samples) { return samples->channels + (samples->has_key ? 1 : 0); }

size_t samples_size(const row_samples *samples) { return samples->width * (size_t)delivered(samples); }

// The nearest of 256 values: libpng rounds the same way.
INLINE uint8_t eight_bits(unsigned sample) { return (uint8_t)((sample * 255 + 32895) >> 16); }

// Gray and indices of fewer than 8 bits, the first one highest.
INLINE void unpack(const row_samples *samples, const uint8_t *row, uint8_t *out, int depth) {
    unsigned largest = (1u << depth) - 1;
    uint8_t factor = samples->color_type == CPNG_PALETTE ? 1 : (uint8_t)(255 / largest);
    unsigned key = samples->key[0] & largest;
    for (size_t x = 0; x < samples->width; x++) {
        size_t bit = x * depth;
        unsigned sample = row[bit / 8] >> (8 - depth - bit % 8) & largest;
        *out++ = (uint8_t)(sample * factor);
        if (samples->has_key) *out++ = sample == key ? 0 : 255;
    }
}

INLINE void add_alpha(const row_samples *samples, const uint8_t *row, uint8_t *out, int channels) {
    for (size_t x = 0; x < samples->width; x++, row += channels, out += channels + 1) {
        bool is_key = true;
        for (int channel = 0; channel < channels; channel++) {
            out[channel] = row[channel];
            is_key &= row[channel] == (samples->key[channel] & 255);
        }
        out[channels] = is_key ? 0 : 255;
    }
}

INLINE unsigned sixteen(const uint8_t *row) { return (unsigned)row[0] << 8 | row[1]; }

INLINE void shorten(const row_samples *samples, const uint8_t *row, uint8_t *out, int channels) {
    for (size_t x = 0; x < samples->width; x++, row += 2 * channels, out += channels + 1) {
        bool is_key = true;
        for (int channel = 0; channel < channels; channel++) {
            unsigned sample = sixteen(row + 2 * channel);
            out[channel] = eight_bits(sample);
            is_key &= sample == samples->key[channel];
        }
        out[channels] = is_key ? 0 : 255;
    }
}

void samples_convert(const row_samples *samples, const uint8_t *row, uint8_t *out) {
    switch (samples->depth) {
    case 1: return unpack(samples, row, out, 1);
    case 2: return unpack(samples, row, out, 2);
    case 4: return unpack(samples, row, out, 4);
    case 8: return samples->channels == 1 ? add_alpha(samples, row, out, 1) : add_alpha(samples, row, out, 3);
    default: break;
    }
    if (samples->has_key) return samples->channels == 1 ? shorten(samples, row, out, 1) : shorten(samples, row, out, 3);
    size_t count = samples->width * (size_t)samples->channels;
    for (size_t i = 0; i < count; i++) out[i] = eight_bits(sixteen(row + 2 * i));
}
