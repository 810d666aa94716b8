#pragma once

#include <stdint.h>
#include <string.h>

// At most 256 colours with their indices, in a hash table with open addressing.
typedef struct {
    uint32_t colors[1024];
    int16_t indices[1024];  // -1: free
} color_table;

static inline void color_table_clear(color_table *table) { memset(table->indices, 0xff, sizeof table->indices); }

// The slot of `color`, or a free one.
static inline unsigned color_table_find(const color_table *table, uint32_t color) {
    unsigned place = (color * 0x9e3779b1u) >> 22;
    while (table->indices[place] >= 0 && table->colors[place] != color) place = (place + 1) & 1023;
    return place;
}

static inline void color_table_set(color_table *table, unsigned place, uint32_t color, int index) {
    table->colors[place] = color;
    table->indices[place] = (int16_t)index;
}

// A pixel of 1 to 4 channels as R G B A in memory order.
static inline uint32_t as_rgba(const uint8_t *pixel, int channels) {
    uint8_t rgba[4];
    rgba[0] = pixel[0];
    rgba[1] = channels >= 3 ? pixel[1] : pixel[0];
    rgba[2] = channels >= 3 ? pixel[2] : pixel[0];
    rgba[3] = channels == 4 ? pixel[3] : channels == 2 ? pixel[1] : 255;
    uint32_t color;
    memcpy(&color, rgba, 4);
    return color;
}
