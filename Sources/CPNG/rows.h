#pragma once

#include "reader.h"

void fast_rows_free(cpng_reader *reader);

// The samples of a row in the file.
typedef struct {
    size_t width;
    int color_type, depth, channels;
    bool has_key;     // whether one colour is transparent
    uint16_t key[3];  // as many as there are channels
} row_samples;

// Whether rows are delivered as they are in the file.
bool samples_are_plain(const row_samples *samples);
// The bytes of a row for samples_convert.
size_t samples_size(const row_samples *samples);
// Converts a row as libpng does: indices to one byte each, other samples to 8 bits, the colour that is transparent to alpha.
void samples_convert(const row_samples *samples, const uint8_t *row, uint8_t *out);
