#include "CPNG.h"
#include "colors.h"

static inline __attribute__((always_inline)) void count_colors(
    const uint8_t *rows, size_t stride, size_t width, size_t height, int channels, cpng_survey *survey, color_table *table) {
    uint32_t last = 0;
    bool any = false;
    for (size_t y = 0; y < height; y++) {
        const uint8_t *row = rows + y * stride;
        for (size_t x = 0; x < width; x++) {
            uint32_t color = as_rgba(row + x * channels, channels);
            if (any && color == last) continue;
            last = color, any = true;
            unsigned place = color_table_find(table, color);
            if (table->indices[place] >= 0) continue;
            if (survey->colors == 256) {
                survey->colors = 257;
                return;
            }
            color_table_set(table, place, color, survey->colors);
            survey->palette[survey->colors++] = color;
        }
    }
}

static bool is_gray(const uint8_t *rows, size_t stride, size_t width, size_t height, int channels) {
    if (channels < 3) return true;
    for (size_t y = 0; y < height; y++) {
        const uint8_t *row = rows + y * stride;
        uint8_t difference = 0;
        for (size_t x = 0; x < width; x++) {
            const uint8_t *pixel = row + x * channels;
            difference |= (pixel[0] ^ pixel[1]) | (pixel[0] ^ pixel[2]);
        }
        if (difference != 0) return false;
    }
    return true;
}

static bool is_opaque(const uint8_t *rows, size_t stride, size_t width, size_t height, int channels) {
    if (channels % 2 == 1) return true;
    for (size_t y = 0; y < height; y++) {
        const uint8_t *row = rows + y * stride;
        uint8_t all = 255;
        for (size_t x = 0; x < width; x++) all &= row[x * channels + channels - 1];
        if (all != 255) return false;
    }
    return true;
}

// The bits that represent every gray of the palette exactly.
static uint8_t gray_depth(const cpng_survey *survey) {
    uint8_t depth = 1;
    for (uint32_t i = 0; i < survey->colors; i++) {
        uint8_t gray;
        memcpy(&gray, &survey->palette[i], 1);
        uint8_t needed = gray % 255 == 0 ? 1 : gray % 85 == 0 ? 2 : gray % 17 == 0 ? 4 : 8;
        depth = needed > depth ? needed : depth;
    }
    return depth;
}

// Moves opaque colours to the end, so that tRNS can omit them.
static void sort_palette(cpng_survey *survey) {
    uint32_t sorted[256], count = 0;
    for (int opaque = 0; opaque < 2; opaque++)
        for (uint32_t i = 0; i < survey->colors; i++) {
            uint8_t rgba[4];
            memcpy(rgba, &survey->palette[i], 4);
            if ((rgba[3] == 255) == opaque) sorted[count++] = survey->palette[i];
        }
    memcpy(survey->palette, sorted, count * sizeof *sorted);
}

void cpng_look(const uint8_t *rows, size_t stride, size_t width, size_t height, int channels, cpng_survey *survey) {
    color_table table;
    color_table_clear(&table);
    *survey = (cpng_survey){.gray_depth = 8};
    switch (channels) {
    case 1: count_colors(rows, stride, width, height, 1, survey, &table); break;
    case 2: count_colors(rows, stride, width, height, 2, survey, &table); break;
    case 3: count_colors(rows, stride, width, height, 3, survey, &table); break;
    default: count_colors(rows, stride, width, height, 4, survey, &table); break;
    }
    survey->is_gray = is_gray(rows, stride, width, height, channels);
    survey->is_opaque = is_opaque(rows, stride, width, height, channels);
    if (survey->colors > 256) return;
    if (survey->is_gray && survey->is_opaque) survey->gray_depth = gray_depth(survey);
    sort_palette(survey);
}
