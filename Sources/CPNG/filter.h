#pragma once

#include <stddef.h>
#include <stdint.h>

// Writes the filter and the filtered row to `out`, choosing the filter whose outcome, taken as signed numbers, is smallest in sum
// (PNG, W3C third edition, §12.7). `row` and `above` have `pixel` bytes of 0 before them. `trial` has room for `size` bytes.
void filter_adaptively(const uint8_t *row, const uint8_t *above, size_t size, int pixel, uint8_t *out, uint8_t *trial);

// Writes filter 1 (Sub) and the row.
void filter_by_left(const uint8_t *row, size_t size, int pixel, uint8_t *out);
