#pragma once

#include <stddef.h>
#include <stdint.h>

// Writes the filter and the filtered row to `out`. Chooses the filter with the least sum of absolute values (PNG, W3C third
// edition, §12.7), up to a limit for each. `row` and `above` have `pixel` zero bytes before them. `trial` has room for `size` bytes.
void filter_adaptively(const uint8_t *row, const uint8_t *above, size_t size, int pixel, uint8_t *out, uint8_t *trial);

// Writes filter 1 (Sub) and the row.
void filter_by_left(const uint8_t *row, size_t size, int pixel, uint8_t *out);
